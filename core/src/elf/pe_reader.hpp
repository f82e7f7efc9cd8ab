#pragma once
// What the loader sees of a Windows module or program (PE32, PE32+): machine, imported DLLs, exported names, sections.
// Layout: Microsoft's "PE Format".

#include "support/bytes.hpp"
#include "support/problems.hpp"

#include <sagekit/inspect.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace sagekit {

struct PeSection {
  std::string_view name;  ///< at most 8 characters: ".nv_fatbin" is ".nv_fatb", "__nv_relfatbin" is "__nv_rel"
  std::uint32_t address = 0;
  Bytes content;  ///< bytes in the file
};

struct PeFile {
  PeFacts facts;
  std::vector<PeSection> sections;
};

/// Does it start with "MZ" and point at a "PE" header?
bool looks_like_pe(Bytes bytes);

/// Nothing (and a problem) when this is no PE. Damage further in is a problem and leaves what could be read.
std::optional<PeFile> read_pe(Bytes bytes, Problems& problems);

}  // namespace sagekit
