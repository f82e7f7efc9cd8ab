#pragma once
// The name of a wheel's file, and what to do with a file that has another one.

#include <sagekit/error.hpp>
#include <sagekit/naming.hpp>

#include <filesystem>
#include <string>

namespace sagekit {

/// What METADATA and WHEEL inside call a file, whatever it is named; "" = it is no wheel that can be read.
std::string name_in_wheel(const std::filesystem::path& file);

/// What to do with a file whose name is no wheel's ("" = there is no file). `own`: what METADATA and WHEEL call it, ""
/// = nobody looked, or they do not say; `otherwise`: where nothing better is known. A name that another file there has
/// is not advised.
std::string mend_of_name(const std::filesystem::path& file, const std::string& own, const std::string& otherwise);

/// parse_wheel_name of a file that is there, whose hint knows what is in it and beside it.
Result<WheelName> name_of_file(const std::filesystem::path& file);

}  // namespace sagekit
