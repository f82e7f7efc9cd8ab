#pragma once
// What an artifact says it was made for, and how we know. A claim is checked against what was measured, never believed.

#include "inspect/wheel_reader.hpp"

#include <sagekit/build.hpp>
#include <sagekit/error.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/spec.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct Provenance {
  std::string from;  ///< "the build record", "sagekit.json", "its name": for messages; "" = nothing is claimed
  std::string cell, plugin, commit;                ///< commit: whole or its first digits
  std::string python, torch, cuda, platform;       ///< "3.12" "2.11.0" "13.0" "linux_x86_64"; "" = not known
  std::optional<std::vector<ArchRequest>> arches;  ///< nothing = not known
  std::vector<std::string> requires_dist;
  std::string torch_min = {};     ///< "2.9": torch's stable interface from there on, in place of `torch`
  std::string experimental = {};  ///< "built, not run on Windows"; "" = not so, or not said
  WheelNameReading named = {};    ///< what its name says beside it, in all of its readings
};

Provenance provenance_of(const Spec& spec, const CellBuild& build);

/// The cell as its wheel says it. One whose tags name no Python ("py3-none") is the same file for each: it says none.
struct SaidCell {
  std::string id, python;
};
SaidCell said_cell(const Cell& cell);

/// What wheels for `platform` are called until a row of the spec ([[verify.ran]]) says that somebody ran some of that
/// commit there: "built, not run on Windows". "" where sagekit builds for what it can run itself.
std::string experimental_label(const Spec& spec, std::string_view commit, std::string_view platform);

/// The text of k_provenance_file. A function of the build alone: no time, no path of this machine.
std::string provenance_json(const Spec& spec, const Revision& revision, const CellBuild& build);
/// Reads it back. Errors: TRU003 (failed).
Result<Provenance> read_provenance(std::string_view text);

/// Of an artifact without a record.
Provenance provenance_of_name(WheelNameReading named);

}  // namespace sagekit
