#pragma once
// The flags and values of `generate`, which `build --in` shares.

#include "session.hpp"

#include <sagekit/generate.hpp>

#include <string>

namespace sagekit::host {

struct GenerateArguments {
  GenerateOptions options;
  std::string release;  ///< a sagekit.release.json
  std::vector<std::string> vendored;  ///< sdist: NAME=DIR
};

/// What `build --in` shares of them: the image, the cluster.
void declare_engine(Flags& flags, GenerateArguments& arguments);
/// Flags that only some kinds take.
void declare_generate(Flags& flags, GenerateArguments& arguments);

/// `sagekit generate sdist`, told by the words of the command line; the exit code.
int write_sdist_here(Session& session, const SelectionArguments& selection, const GenerateArguments& arguments,
                     const std::string& output);

/// The files of a kind for the plugins that were chosen. Errors: CLI001 a flag that the kind does not take; those of
/// generate().
Result<Generated> generate_files(Session& session, const std::string& kind, const SelectionArguments& selection,
                                 const GenerateArguments& arguments);

}  // namespace sagekit::host
