#pragma once
// Spec + request + environment -> plan. A pure function: same values, same bytes.

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/toolchain.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sagekit {

/// What the user asked for.
struct Request {
  std::string profile;                  ///< "" = "default"
  std::vector<std::string> cells;       ///< --cells globs over whole cell ids; `!` excludes
  std::vector<std::string> pythons, torches, cudas, platforms;  ///< narrowing flags; "2.11" matches "2.11.0"
  std::string arches;                   ///< --arch list; "" = the profile's, else the spec's
  std::string revision;                 ///< --revision; "" = the profile's, else the default commit
  std::string naming;                   ///< --naming; "" = the spec's default scheme
  std::string backend = "direct";       ///< or "setup-py"
  std::vector<std::string> allowed_defects;
};

/// One wheel to make.
struct Cell {
  std::string id;        ///< "sage3-pytorch28-cu129-python312[-win_amd64][-sm90a]"
  std::string python;    ///< "3.12"
  std::string torch;     ///< "2.8.0"; "" = the variant needs no torch
  std::string cuda;      ///< "12.9"
  std::string platform;  ///< "linux_x86_64"
  std::vector<ArchRequest> arches;  ///< what is built, normal form
  std::vector<Gencode> gencode;     ///< of all modules together
  std::string wheel;                ///< file name
  std::string distribution, version, build_tag;  ///< parts of it
  std::vector<std::string> tags;    ///< "cp312-cp312-linux_x86_64"
  std::vector<std::string> requires_dist;
  std::vector<std::string> steps;   ///< ids of Plan::steps
  std::vector<std::string> notes;   ///< arches left out and why, warnings, advice
  bool buildable = false;
  std::string why_not;              ///< what this machine lacks
  std::string missing_code, missing_hint;  ///< the error `build` would give (TCH...)
};

struct ExcludedCell {
  std::string id, wheel, reason, source;
};

/// What a step makes.
enum class StepKind { compile, bind, link, setup_py };

/// One command. Paths that depend on the machine are symbols, so that equal argv means equal work on any machine:
/// {source} {work} {nvcc-13.0} {torch-2.11.0-linux_x86_64} {python-3.12-linux_x86_64} {cxx} {shim-NAME} (docs/embedding.md).
struct Step {
  std::string id;                    ///< "compile-_fused-fused.cu-1f2e3d4c": stable, unique
  StepKind kind = StepKind::compile;
  std::string module;                ///< dotted module name
  std::vector<std::string> argv;
  std::vector<std::string> fallback_argv;  ///< tried when argv fails (shim -> full header); empty = none
  std::vector<std::string> inputs;   ///< symbolic paths
  std::vector<std::string> outputs;  ///< symbolic paths below {work}
  std::vector<std::string> depends;  ///< step ids
  std::vector<std::string> cells;    ///< cell ids that use it
  Cost cost;
};

/// A file of a wheel and where it comes from, symbolic: "{source}/sageattention/core.py" or a link step's output.
struct PlannedModule {
  std::string module;        ///< dotted
  std::string archive_path;  ///< "sageattention/_fused.cpython-312-x86_64-linux-gnu.so"
  std::string step;          ///< link step id
  std::vector<Gencode> gencode;
  std::string cell;
};

struct Plan {
  std::string plugin_name, plugin_version, plugin_path, plugin_sha256;
  std::string source_url, commit, subdir;
  Revision revision;
  std::string backend;
  std::vector<std::string> allowed_defects;
  std::vector<Cell> cells;             ///< sorted by id
  std::vector<ExcludedCell> excluded;  ///< sorted by id
  std::vector<Step> steps;             ///< unique; a step comes after what it depends on
  std::vector<PlannedModule> modules;
  std::uint64_t step_uses = 0;         ///< steps counted once per cell
  double cpu_seconds = 0;              ///< of unique steps
  std::uint64_t peak_memory_bytes = 0; ///< largest single step
};

/// Where the spec came from, for provenance; all empty for a spec that was parsed by hand.
struct PlanOrigin {
  std::string plugin_path, plugin_sha256;
};

/// Errors: usage (unknown profile, arch, revision, scheme: with the nearest right word), no_match (nothing selected:
/// with the nearest ids). What the machine lacks is never an error here: the cell says `buildable = false` and why.
SAGEKIT_API Result<Plan> make_plan(const Spec& spec, const Request& request, const Environment& environment,
                                   const PlanOrigin& origin = {});

SAGEKIT_API std::string plan_json(const Plan& plan, bool with_steps);  ///< cli.md section 4
SAGEKIT_API std::string plan_dot(const Plan& plan);                    ///< Graphviz

}  // namespace sagekit
