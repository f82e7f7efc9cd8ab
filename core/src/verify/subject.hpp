#pragma once
// What is judged: the files of a wheel or of a wheel to be, with what was measured in them, and what they claim.

#include "verify/claims/claims.hpp"

#include <sagekit/inspect.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/spec.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A wheel's platform tag, taken apart: "manylinux_2_28_x86_64".
struct PlatformTag {
  enum class System { linux, manylinux, musllinux, windows, macos, any, unknown };
  System system = System::unknown;
  std::string machine;  ///< "x86_64", "aarch64"; "" = any
  std::string libc;     ///< "2.28" of manylinux and musllinux
};

PlatformTag parse_platform_tag(std::string_view tag);

/// Where an installer puts a member, below site-packages: itself, or its place in NAME.data's purelib or platlib; "" =
/// elsewhere (scripts, headers, data).
std::string installed_path(const std::string& archive_path);
/// An extension module or shared library of the wheel, as the dotted name Python would import it by once installed.
std::string module_name(std::string_view archive_path);
/// Is it a module that Python or ctypes loads: .so, .so.1, .pyd, .dll?
bool is_native(std::string_view archive_path);

struct Subject {
  /// What is judged, which decides what can be: `wheel` an archive; `build` staged files of a planned name; `unpacked`
  /// and `installed` a package in a folder, with its dist-info; `folder` any other folder.
  enum class Kind { wheel, build, unpacked, installed, folder } kind = Kind::wheel;
  std::filesystem::path root;         ///< of the last three: the folder in which the members lie
  WheelName name;                     ///< without a file name, what dist-info says
  std::vector<MemberFacts> members;   ///< sorted by path
  const WheelFacts* wheel = nullptr;  ///< null: there is no dist-info
  std::uint64_t wheel_bytes = 0;      ///< 0 = not a wheel yet
  bool finished = true;               ///< false: it is being made here, with whatever Pythons there are
  Claims claims;
  const Spec* spec = nullptr;  ///< null: no plugin makes this package
  const Plugin* plugin = nullptr;
  /// What it was built from: the spec's revision that its record names, else the one that its files look like. Null:
  /// not known, so that the spec's rows about dispatch, defects and sizes are no facts about it.
  const Revision* revision = nullptr;
  bool recorded = false;  ///< its record names `revision`
  std::function<Result<std::string>(const std::string& archive_path)> read;

  /// Is it in a folder, without an archive and a file name?
  bool in_folder() const { return kind == Kind::unpacked || kind == Kind::installed || kind == Kind::folder; }
  /// Is it known which kernels its package calls where, and which defects it has?
  bool is_recognised() const { return spec != nullptr && revision != nullptr; }
  const MemberFacts* find(std::string_view archive_path) const;
  /// The member that Python finds for a dotted module name; null when there is none.
  const MemberFacts* find_module(std::string_view dotted) const;
  /// A .py file or package for a dotted name.
  bool has_python(std::string_view dotted) const;
  /// Dotted names of all native members, with them.
  std::vector<std::pair<std::string, const MemberFacts*>> modules() const;
};

/// "wheel", "build", "unpacked", "installed", "folder".
std::string_view to_string(Subject::Kind kind);

}  // namespace sagekit
