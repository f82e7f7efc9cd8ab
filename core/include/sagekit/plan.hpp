#pragma once
// Spec + request + environment -> plan. A pure function: same values, same bytes.

#include <sagekit/diagnostic.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/overrides.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/toolchain.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What compiles the modules.
enum class Backend {
  direct,    ///< steps of our own
  setup_py,  ///< upstream's build, "setup-py"
};
SAGEKIT_API std::string_view to_string(Backend backend);

/// What the user asked for.
struct Request {
  std::string profile;             ///< "" = "default"
  std::vector<std::string> cells;  ///< --cells globs over whole cell ids; `!` excludes
  /// Narrowing flags, in every spelling of parse_torch_version and the like; "2.11" matches "2.11.0".
  std::vector<std::string> pythons, torches, cudas, platforms;
  std::optional<std::vector<std::string>> only = {};  ///< of the selected cells those with these ids, maybe no one
  std::string arches;                                 ///< --arch list; "" = the profile's, else the spec's
  std::string revision;                               ///< --revision; "" = the profile's, else the default commit
  std::string naming;                                 ///< --naming; "" = the spec's default scheme
  std::vector<NamingScheme> schemes = {};             ///< a configuration's rows: they stand before all others
  Backend backend = Backend::direct;
  std::vector<std::string> allowed_defects;
  std::vector<CellOverride> overrides;  ///< stand above `arches` and `naming`, in this order
  /// false: Plan::steps, Plan::modules and Cell::steps stay empty; counts and estimates are the same (a plan that is
  /// only looked at needs no argv)
  bool with_steps = true;
};

/// What of a machine keeps a cell from being built: one word for each thing that would mend it.
enum class LackKind {
  platform,        ///< wheels for that platform cannot be made here at all (TCH006)
  nvcc,            ///< TCH001
  nvcc_arch,       ///< the nvcc that is here does not compile for an arch (TCH002)
  cuda_runtime,    ///< no libcudart_static.a for that CPU (TCH007)
  host_compiler,   ///< TCH003
  torch,           ///< TCH005
  interpreter,     ///< a Python that can import the cell's torch, for upstream's own build (PLN011)
  python_headers,  ///< TCH004
  given_tool,      ///< one that was given or fetched and cannot be used (TCH008): another is not taken for it
};

SAGEKIT_API std::string_view to_string(LackKind kind);  ///< "nvcc_arch"

struct Lack {
  LackKind kind = LackKind::platform;
  Error error;  ///< what `build` would end with
};

/// One wheel to make.
struct Cell {
  std::string id;                                ///< "sage3-pytorch28-cu129-python312[-win_amd64][-sm90a]"
  std::string python;                            ///< "3.12"
  std::string torch;                             ///< "2.8.0"; "" = the variant needs no torch
  std::string torch_min;                         ///< "2.9": torch's stable interface, for this torch and every newer
                                                 ///< one; `torch` is whose headers it is compiled with. "" = none
  bool abi3 = false;                             ///< the limited API, for `python` and every newer one with a GIL
  std::string cuda;                              ///< "12.9"
  std::string platform;                          ///< "linux_x86_64"
  std::vector<ArchRequest> arches;               ///< what is built, normal form
  std::string arch_set;                          ///< "sm80.sm90a" when it is not the spec's default set; "" = it is
  std::vector<Gencode> gencode;                  ///< of all modules together
  bool static_runtime = false;                   ///< a module has the CUDA runtime linked in
  std::string wheel;                             ///< file name
  bool name_says_arches = false;                 ///< its scheme has a word for them
  std::string distribution, version, build_tag;  ///< parts of it
  std::vector<std::string> tags;                 ///< "cp312-cp312-linux_x86_64"
  std::vector<std::string> requires_dist;
  std::vector<std::string> steps;  ///< ids of Plan::steps
  std::vector<std::string> notes;  ///< arches left out and why, warnings, advice
  std::vector<Lack> lacks;         ///< all that this machine lacks for it, in the order in which it would be needed
  bool buildable = false;          ///< nothing
  std::string why_not;             ///< the first lack in a sentence
  /// What the cell is built with; null when something is lacking. Of a part that no module of it needs: empty.
  std::shared_ptr<const Toolchain> toolchain;
};

struct ExcludedCell {
  std::string id, wheel, reason, source;
};

/// What a step makes. `device`: GPU code of one source for one architecture; `host`: the host's code of one source for
/// several. Neither is a step of a plan, the build makes them of `compile` steps.
enum class StepKind { compile, bind, link, setup_py, device, host };
SAGEKIT_API std::string_view to_string(StepKind kind);  ///< "setup_py"

/// One command. Everything that depends on the machine is a symbol in braces, so that equal argv means equal work on
/// any machine. A symbol stands alone or inside an item ("-L{torch-...}/lib"); the build room replaces these and no
/// other braces. P is the cell's platform ("linux_x86_64"), C its CUDA ("13.0"), T "2.11.0-cu130", Y its Python
/// ("3.12"):
/// - `{source}`: the source root with its subdir. It is the working directory of every step and is replaced by ".":
///   sources and source includes are relative, so no machine path gets into an object. In `inputs`: the folder itself.
/// - `{work}`: folder for outputs: {work}/obj/X.o, {work}/obj/X.d (the compiler's dependency file, an output too),
///   {work}/lib/X.so, {work}/wheels/CELL. X ends in a short hash of the argv without output names, so cells share what
///   is equal and no file is written twice.
/// - `{nvcc-exe-C}`: the nvcc program; `{nvcc-root-C}`: its root (CUDA_HOME)
/// - `{cuda-include-C}`: folder with cuda_runtime.h; `{cuda-lib-C-P}`: folder with libcudart.so and libcudart_static.a
/// - `{torch-T-P}`: folder that holds torch's include/ and lib/ (TorchSysroot::root)
/// - `{python-includes-Y-P}`: an item of its own, replaced by one "-isystem" "DIR" pair for each include folder
/// - `{python-exe-Y-P}`: an interpreter that can import the cell's torch (TorchSysroot::interpreter); setup_py only
/// - `{cxx-P}`: the host compiler for P
/// - `{shim-NAME}`: folder made from the [[build.shim]] rows NAME; `{shim-glibc-floor}`: core's own, for [build]
/// glibc_floor
/// - `{stub-cuda-P}`: folder with a libcuda.so to link against (a stub, SONAME libcuda.so.1, where there is none)
///
/// The prefix maps in argv (-ffile-prefix-map={torch-T-P}=torch, through nvcc as -Xcompiler=...) hold roots: a root
/// whose path has a blank, a comma or a quote must be handed over through a link whose path has none, because nvcc
/// splits -Xcompiler.
///
/// `fallback_argv` writes the same outputs. That of a source which every Python shares has the headers of one of them
/// (the first of its cells'): it uses no Python API, but the build's record should say that it was taken.
///
/// A `setup_py` step has the argv `{python-exe-Y-P} setup.py bdist_wheel --dist-dir {work}/wheels/CELL` and runs in a
/// copy of {source} of its own (setuptools writes into its tree). That folder is its one output; its modules are taken
/// out of the wheel found there, at their PlannedModule::archive_path.
struct Step {
  std::string id;  ///< "compile-_fused-fused.cu-1f2e3d4c": stable, unique
  StepKind kind = StepKind::compile;
  std::string module;  ///< dotted module name
  std::vector<std::string> argv;
  std::vector<std::string> fallback_argv;  ///< tried when argv fails (shim -> full header); empty = none
  std::vector<std::string>
      device_argv;                   ///< what GPU code may be made with instead: the spec's device_shim; empty = argv
  std::vector<std::string> inputs;   ///< symbolic paths
  std::vector<std::string> outputs;  ///< symbolic paths below {work}
  std::vector<std::string> depends;  ///< step ids
  std::vector<std::string> cells;    ///< cell ids that use it
  Cost cost;
  std::vector<std::string> environment;  ///< NAME=VALUE with symbols, besides the build's own; setup_py only
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
  Backend backend = Backend::direct;
  std::vector<std::string> allowed_defects;
  std::vector<Cell> cells;             ///< sorted by torch, CUDA and Python, as versions, then by platform
  std::vector<ExcludedCell> excluded;  ///< sorted likewise
  std::vector<Step> steps;             ///< unique; a step comes after what it depends on
  std::vector<PlannedModule> modules;
  std::vector<Companion> companions;    ///< the spec's: needed beside the wheels, and when not
  std::uint64_t step_uses = 0;          ///< steps counted once per cell
  std::uint64_t unique_steps = 0;       ///< == steps.size() when the steps were asked for
  Diagnostics diagnostics;              ///< warnings: overrides and words that match no cell (PLN013, PLN015)
  double cpu_seconds = 0;               ///< of unique steps
  std::uint64_t peak_memory_bytes = 0;  ///< largest single step
};

/// Where the spec came from, for provenance; all empty for a spec that was parsed by hand.
struct PlanOrigin {
  std::string plugin_path, plugin_sha256;
};

/// Errors: usage (unknown profile, arch, revision, scheme: with the nearest right word; two cells whose wheels would
/// have one name), no_match (nothing selected: with the nearest ids). What the machine lacks is never an error here:
/// the cell says `buildable = false` and why. A selection in which every cell is excluded is a plan with `cells` empty
/// and `excluded` filled, so that the reasons can be shown; whoever builds it ends with no_match.
SAGEKIT_API Result<Plan> make_plan(const Spec& spec, const Request& request, const Environment& environment,
                                   const PlanOrigin& origin = {});

/// What a naming template may use of a cell.
SAGEKIT_API NamingValues naming_values(const Cell& cell, const Revision& revision);
/// What a name could say of a cell's wheel.
SAGEKIT_API WheelNameReading name_facts(const Cell& cell, const Revision& revision);

SAGEKIT_API std::string plan_json(const Plan& plan, bool with_steps);  ///< docs/json.md
SAGEKIT_API std::string plan_dot(const Plan& plan);                    ///< Graphviz

}  // namespace sagekit
