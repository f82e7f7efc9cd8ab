#pragma once
// The source a plan builds: checked, with its vendored trees in place and its edits applied, kept read-only in the
// store.

#include "source/source.hpp"

#include <sagekit/build.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

struct PreparedSource {
  std::filesystem::path root;      ///< of the tree
  std::filesystem::path folder;    ///< root with the spec's subdir: what {source} means
  std::string key;                 ///< of its whole content
  std::string header_names;        ///< hash of the names of all headers in it: a new one may hide another
  std::vector<std::string> edits;  ///< ids of those applied
};

/// What a plan builds from, and a tree that goes into it.
PinnedTree pinned_source(const Spec& spec, const Plan& plan);
PinnedTree pinned_vendored(const Vendored& vendored);
/// What the user gave for a vendored tree; "" = nothing.
std::string given_for(const BuildOptions& options, const std::string& name);

/// The edits that a plan applies: those whose condition holds for its revision and backend. One that mends a defect
/// only where the revision has the defect and --allow-defect does not ask for it.
std::vector<const SourceEdit*> edits_for(const Spec& spec, const Plan& plan);

/// Replaces exactly `count` occurrences. SRC004 (usage) names file, text and counts.
Result<std::string> apply_edit(const SourceEdit& edit, std::string text);

/// Is what the user gave what the plan pins? Errors: those of check_given, SRC009.
Status check_given_trees(const Spec& spec, const Plan& plan, const BuildOptions& options, const SourceTools& tools);

/// The ready copy in the store, when there is one; what the user gave is checked either way. Fetches nothing. Errors:
/// those of check_given, SRC006, SRC009.
Result<std::optional<PreparedSource>> find_source(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                                  const SourceTools& tools);

/// What the user gave is checked each time; a ready copy is reused. Errors: those of export_tree, SRC004, SRC009 (a
/// vendored tree that the spec does not have).
Result<PreparedSource> prepare_source(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                      const SourceTools& tools);

}  // namespace sagekit
