#pragma once
// The Dockerfile's text; bake makes another one of the same stages.

#include "generate/kinds.hpp"
#include "generate/tools.hpp"

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sagekit {

/// Cells that are built in one image.
struct BaseGroup {
  std::string image, suffix;  ///< of its stages' names: "-cu129"; "" = there is one image
  std::vector<std::string> cudas, pythons;
  std::set<std::string> cross_packages;  ///< compilers of platforms that are not the image's own
  bool by_python = false;
};
/// By CUDA. GEN006.
Result<std::vector<BaseGroup>> base_groups(const std::vector<const Cell*>& cells, const ImageChoice& images);

struct DockerParts {
  SagekitSource sagekit;
  std::string source, arches;
  std::vector<std::string> plugins;  ///< files that are carried along
  bool overrides = false, headers = false, gpu_check = false;
  bool builders = false;  ///< stages that build when they are run, and one of all wheels
  const ImageChoice* images = nullptr;
  std::vector<std::pair<std::string, std::string>> arguments;               ///< ARG of the building stages
  std::function<std::string(const BaseGroup&)> build_selection;             ///< as shell text, with a blank before
  std::function<std::vector<std::string>(const BaseGroup&)> run_selection;  ///< of the builders' CMD
};
std::string dockerfile_text_of(const std::vector<BaseGroup>& groups, const DockerParts& parts);

/// Fills in what goes into the build context. GEN003.
Status take_along(const std::vector<PlannedVariant>& variants, const GenerateOptions& options, DockerParts& parts,
                  Generated& made);

}  // namespace sagekit
