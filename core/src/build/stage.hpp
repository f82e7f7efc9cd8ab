#pragma once
// A cell's files, gathered into one finished folder of the store.

#include "build/executor.hpp"

#include <sagekit/build.hpp>

#include <functional>
#include <string>

namespace sagekit {

/// Where a stage takes from.
struct StageContext {
  const Spec& spec;
  const Plan& plan;
  const PreparedSource& source;
  const Store& store;
  std::function<Result<std::vector<RecordedOutput>>(const std::string& step)> outputs;  ///< of a step that is done
  std::function<Status(const std::string& step)> restore;  ///< makes again what the store lost of a step that is done
  std::function<std::string(const Cell&)> proof;           ///< a line of provenance; "" = none
};

/// Modules, package files and licences below builds/CELL-HASH, with the record build.json. Errors: SRC010 (usage) when
/// the source lacks a declared file, BLD004 (failed) when setup.py made something else than the plan says or two files
/// have one place, STO...
Result<CellBuild> stage_cell(const Cell& cell, const StageContext& context);

/// After a build: its files are known by what does not change with another link to them, of which a build makes and
/// removes some, so that the next one need not read them all to know them.
void settle_stamps(const CellBuild& build);

}  // namespace sagekit
