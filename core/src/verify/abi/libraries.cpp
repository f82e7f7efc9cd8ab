#include "verify/abi/libraries.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool is_system_library(std::string_view name) {
  static constexpr std::array<std::string_view, 10> k_names{
      "libc.so.6",    "libm.so.6",     "libdl.so.2",     "libpthread.so.0", "librt.so.1",
      "libutil.so.1", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux*.so.*",  "linux-vdso.so.1"};
  return std::ranges::any_of(k_names, [&](std::string_view glob) { return glob_match(glob, name); });
}

bool is_torch_library(std::string_view name) { return name.starts_with("libtorch") || name.starts_with("libc10"); }

const MemberFacts* library_of_wheel(const Subject& subject, std::string_view name) {
  const auto found = std::ranges::find_if(subject.members, [&](const MemberFacts& member) {
    return member.elf && (member.elf->soname == name || base_name(member.path) == name);
  });
  return found == subject.members.end() ? nullptr : &*found;
}

}  // namespace sagekit
