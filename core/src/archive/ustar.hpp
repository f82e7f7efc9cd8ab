#pragma once
// The header of a tar file's member: pax(1), "ustar Interchange Format".

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

constexpr std::size_t k_tar_block = 512;

/// A file, or a symbolic link where `link` says to what; of no owner.
struct UstarMember {
  std::string_view folder = {};  ///< at most 154 bytes; "" = none
  std::string_view name = {};    ///< at most 99
  std::uint64_t size = 0;
  bool executable = false;
  std::string_view link = {};  ///< at most 99
  std::uint64_t time = 0;      ///< seconds since 1970
};

/// A block; nothing when a field is too long.
std::optional<std::string> ustar_header(const UstarMember& member);

/// Header, bytes and padding of a file or link by its path: the folder is what fits. Nothing when it does not.
std::optional<std::string> ustar_member(std::string_view path, UstarMember member, std::string_view bytes);

/// What a tar file ends with.
std::string ustar_end();

}  // namespace sagekit
