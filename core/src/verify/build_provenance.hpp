#pragma once
// What a build of ours says of itself: to its judge, and in the wheel.

#include "inspect/provenance.hpp"

#include <sagekit/build.hpp>
#include <sagekit/spec.hpp>

#include <string>
#include <string_view>

namespace sagekit {

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

}  // namespace sagekit
