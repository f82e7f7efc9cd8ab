#pragma once
// Fatbins: NVIDIA's containers of machine code and PTX, as they lie in a module. Headers only; nothing is decompressed.
// The format has no public specification; every field used here was checked against files of CUDA 11.1 to 13.3
// (docs/findings/FAT.md).

#include "support/bytes.hpp"
#include "gpu/image_codec.hpp"
#include "support/problems.hpp"

#include <sagekit/arch.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

enum class ImageKind { ptx, cubin, lto };

/// One entry of a fatbin. Views into the bytes it was read from.
struct FatbinImage {
  ImageKind kind = ImageKind::cubin;
  Arch arch;
  Bytes stored;  ///< compressed or not; without padding when the header says how long it is
  ImageCompression compression = ImageCompression::none;
  std::uint64_t size = 0;                    ///< decompressed
  int version_major = 0, version_minor = 0;  ///< PTX: of the ISA
  bool readable = true;                      ///< false: listed, but its content is in no known form (LTO-IR, odd flags)
  std::size_t container = 0;                 ///< number of its container among those of the area
};

struct FatbinList {
  std::vector<FatbinImage> images;
  std::vector<std::uint64_t> containers;  ///< their offsets in the area, empty ones included
};

inline constexpr std::uint32_t k_fatbin_magic = 0xba55ed50;
inline constexpr std::uint64_t k_container_header = 16;

/// Do these bytes start with the header of a container, fitting or not?
bool looks_like_fatbin(Bytes bytes);
/// Bytes of the container that starts here, header included; nothing when it is no container or reaches too far.
std::optional<std::uint64_t> container_extent(Bytes bytes);

/// The images of all containers in one area: containers lie back to back, zero words between them are allowed.
/// Everything that does not fit is a problem, and reading goes on at the next container.
FatbinList read_fatbins(Bytes area, Problems& problems, const PassedBytes& passed = {});

/// The first CUDA toolkit whose ptxas knows this PTX ISA ("9.0" -> "13.0"); "" when it is not known.
std::string toolkit_of_ptx(int major, int minor);

}  // namespace sagekit
