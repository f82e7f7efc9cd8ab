#pragma once
// Paths of a wheel's members: where an installer puts them, what Python calls them.

#include <string>
#include <string_view>

namespace sagekit {

/// What stands behind the last slash.
std::string_view base_name(std::string_view path);

/// Where an installer puts a member, below site-packages: itself, or its place in NAME.data's purelib or platlib; "" =
/// elsewhere (scripts, headers, data).
std::string installed_path(const std::string& archive_path);
/// An extension module or shared library of the wheel, as the dotted name Python would import it by once installed.
std::string module_name(std::string_view archive_path);
/// Is it a module that Python or ctypes loads: .so, .so.1, .pyd, .dll?
bool is_native(std::string_view archive_path);

}  // namespace sagekit
