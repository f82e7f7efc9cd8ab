#pragma once
// The kinds: each a function in a file of its own and a row of the table in generate.cpp.

#include <sagekit/generate.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A variant with what all kinds want to know of it.
struct PlannedVariant {
  const Spec* spec = nullptr;
  Request request;
  std::filesystem::path carried_plugin;
  Plan plan;  ///< of the request, with a cell at least; empty for kinds that plan themselves
};

using MakeFiles = Result<Generated> (*)(const std::vector<PlannedVariant>&, const GenerateOptions&);

Result<Generated> generate_dockerfile(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);

Result<Generated> generate_github(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);
Result<Generated> generate_slurm(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);
Result<Generated> generate_ansible(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);
Result<Generated> generate_cibuildwheel(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);
Result<Generated> generate_consumer(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);
Result<Generated> generate_bake(const std::vector<PlannedVariant>& variants, const GenerateOptions& options);

/// Cells of the plan that can be made in a Linux container or job of x86_64; a note says which are left out. GEN002
/// when none is left.
Result<std::vector<const Cell*>> linux_cells(const Plan& plan, std::vector<std::string>& notes);

/// Says which cells for another CPU have the CUDA runtime linked in: no toolkit that is fetched has that CPU's
/// (TCH007).
void note_cross_runtime(const std::vector<const Cell*>& cells, std::vector<std::string>& notes);

/// GEN003 for a path that would be meant from a folder of the machine where the files are used, which `why` says. An
/// address is none.
Status check_absolute(std::string_view flag, std::string_view path, std::string_view why);

/// What pip installs sagekit from: "sagekit==1.2.3", or the path of a wheel that is carried along.
struct SagekitSource {
  std::string requirement;  ///< "" = a wheel
  std::string wheel;        ///< its file name
};
/// GEN003 for what is neither.
Result<SagekitSource> sagekit_source(const GenerateOptions& options);

/// What is installed before the wheel, which then comes with --no-deps: neither may bring another torch.
std::vector<std::string> companion_requirements(const Spec& spec);
/// When a companion is needed beside the wheels, and when not.
void note_companions(const Spec& spec, std::vector<std::string>& notes);

/// The file name under which a plugin is carried: "sagekit-NAME.so".
std::string plugin_file(const Spec& spec);

inline constexpr std::string_view k_overrides_file = "overrides.sagekit.toml";

}  // namespace sagekit
