#pragma once
// What a plugin says, as values: the typed form of plugin.toml, schema 1 (docs/spec-reference.md has every key).
// Core knows no variant and no SM number; all of it is in here.

#include <sagekit/arch.hpp>
#include <sagekit/cost.hpp>
#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/version_number.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

inline constexpr int spec_schema = 1;

/// When a row applies. Every given part must hold; an empty condition always holds.
struct When {
  std::vector<std::string> features;      ///< the revision has all of these features
  std::vector<std::string> not_features;  ///< and none of these
  std::vector<std::string> backends;      ///< "direct", "setup-py"
  VersionRange torch, cuda;
  bool operator==(const When&) const = default;
};

/// A source state that sagekit knows: identity is the commit, never the version string.
struct Revision {
  std::string commit;              ///< 40 hex digits
  std::string tree;                ///< git tree id of that commit: checks the content of any copy, git or not
  std::string date;                ///< commit time, RFC 3339 UTC: SOURCE_DATE_EPOCH and the default version's date
  std::string version;             ///< what upstream's setup.py calls it
  std::vector<std::string> names;  ///< "v2.2.0", "main"
  std::vector<std::string> features;
  std::vector<std::string> defects;  ///< ids of `Defect`
  std::string source;                ///< where this is known from
  bool operator==(const Revision&) const = default;
};

/// A known fault of a revision.
struct Defect {
  std::string id;
  std::string message;                   ///< what goes wrong for the user of the wheel
  std::vector<Capability> capabilities;  ///< whom it hurts; empty = every GPU
  bool refuse = false;                   ///< plan refuses those capabilities unless allowed (--allow-defect) or edited
  std::string edit;                      ///< id of the SourceEdit that mends it; may be empty
  /// Static probe in built or foreign wheels: a Python file with two top-level `def`s of one name. Empty = none.
  std::string duplicate_def_file;
  std::string source;
  bool operator==(const Defect&) const = default;
};

/// A tree that upstream's build expects inside the source, pinned here (cutlass).
struct Vendored {
  std::string name;
  std::string path;  ///< below the source root
  std::string url;
  std::string commit;
  std::string tree;
  std::vector<std::string> include;  ///< globs of what is needed of it; empty = all
  std::string source;
  std::string license = {};  ///< SPDX expression, for the wheel's bill of materials
  bool operator==(const Vendored&) const = default;
};

/// An exact text replacement in a copy of the source. `count` occurrences must be there, or the build stops and says
/// so.
struct SourceEdit {
  std::string id;
  std::string file;
  std::string find;
  std::string replace;
  int count = 1;
  When when;
  std::string reason;
  std::string source;
  bool operator==(const SourceEdit&) const = default;
};

/// What a file of the package looks like in the revisions that `when` means. A wheel that does not say what it was
/// built from is recognised by it: rows about a revision hold for no other source.
struct SourceFingerprint {
  std::string file;  ///< in the wheel
  std::string text;
  int count = 1;  ///< how often the text is in it, no more and no less
  When when;
  std::string source;
  bool operator==(const SourceFingerprint&) const = default;
};

struct SourceSpec {
  std::string url;
  std::string subdir;                ///< "" or "sageattention3_blackwell": where setup.py is
  std::string default_commit;        ///< names a row of `revisions`
  std::vector<std::string> include;  ///< globs of what a build needs of it, below its root; empty = all
  std::vector<Revision> revisions;
  std::vector<Defect> defects;
  std::vector<Vendored> vendored;
  std::vector<SourceEdit> edits;
  std::vector<SourceFingerprint> fingerprints;  ///< none: a wheel is recognised by its version alone
  bool operator==(const SourceSpec&) const = default;
};

/// An arch the variant can be built for, or may not be.
struct ArchSpec {
  Capability capability;
  std::vector<Gencode> gencode;  ///< from TOML "9.0a" (compute_90a -> sm_90a)
  VersionRange cuda;             ///< nvcc that can
  When when;                     ///< revisions that can
  bool on_request = false;       ///< never in a default arch set; --arch brings it
  bool ptx_allowed = true;       ///< `+PTX` may be asked for
  std::string warning;           ///< shown when it is built
  std::string excluded;          ///< the reason it is never built; then gencode is empty
  std::string source;
  bool operator==(const ArchSpec&) const = default;
};

/// One extension module.
struct KernelSpec {
  std::string module;                    ///< "sageattention._qattn_sm80", dotted Python name
  std::vector<Capability> capabilities;  ///< compiled for these of the cell's arches; none in common = not built
  std::vector<std::string> sources;      ///< .cu, below the subdir
  std::vector<std::string> bindings;     ///< .cpp that need Python
  std::vector<std::string> nvcc_flags;   ///< besides [build]'s
  std::vector<std::string> cxx_flags;
  std::vector<std::string> libraries;        ///< "cuda" -> -lcuda
  std::vector<std::string> torch_libraries;  ///< linked torch libraries; the default is [build].torch_libraries
  bool python_free = false;                  ///< sources see no Python header; one object serves every Python
  bool torch_free = false;                   ///< needs no torch at all (sources and bindings)
  bool plain_module = false;                 ///< a shared library loaded by ctypes: no PyInit, named MODULE.so
  bool ptx = true;                           ///< +PTX is meant for this module too
  std::string source_shim, binding_shim;     ///< names of [[build.shim]]; "" = torch's own headers
  std::string device_shim;                   ///< the same where GPU code alone is made; "" = as for the host
  bool split_compile = false;                ///< ptxas's --split-compile was seen to make the same machine code
  Cost source_cost, binding_cost;            ///< one .cu for one arch, shimmed; one binding
  When when;
  std::string source;
  bool operator==(const KernelSpec&) const = default;
};

/// A header put first on the include path in place of torch's: lean headers (facts: half the CPU, same cubins).
struct Shim {
  std::string name;  ///< several rows with one name make one folder
  std::string file;  ///< "torch/extension.h"
  std::string text;
  bool operator==(const Shim&) const = default;
};

struct StandardRule {
  std::string standard;  ///< "c++17"
  VersionRange torch;
  bool operator==(const StandardRule&) const = default;
};

struct BuildSpec {
  std::vector<std::string> cxx_flags;  ///< bindings and host code of kernels as upstream, less -g
  std::vector<std::string> nvcc_flags;
  std::vector<std::string> link_flags;
  std::vector<std::string> include_dirs;     ///< below the source subdir
  std::vector<std::string> torch_libraries;  ///< "c10" "torch_cpu" ...
  std::vector<StandardRule> standards;       ///< first row whose torch range holds
  std::vector<Shim> shims;
  bool shim_fallback = true;  ///< a shimmed source that does not compile is retried with torch's own header
  std::vector<std::string> setup_py_environment;  ///< NAME=VALUE for --backend setup-py; {arch_list} is replaced
  Cost link_cost;
  /// "2.17": modules for linux need no newer glibc than this, or than the first of their machine. Headers of sagekit's
  /// own come first on every include path for it, and verify judges it. "" = whatever the build machine's headers ask
  std::string glibc_floor;
  bool operator==(const BuildSpec&) const = default;
};

/// What the package's entry function does on a device.
struct DispatchSpec {
  Capability capability;
  std::vector<std::string> modules;  ///< extension modules it calls there; empty = none (Triton only)
  std::string path;                  ///< "FP8 PV, fp32+fp16 accumulate": words for people
  std::string refused;               ///< reason the package itself refuses this device
  When when;
  std::string source;
  bool operator==(const DispatchSpec&) const = default;
};

/// Files copied into the wheel.
struct PackageFiles {
  std::string from;                  ///< folder below the subdir
  std::string to;                    ///< folder in the wheel; "" = its root
  std::vector<std::string> include;  ///< globs below `from`; `**` crosses folders
  std::vector<std::string> exclude;
  bool operator==(const PackageFiles&) const = default;
};

/// A product of the four axes. Versions as published ("2.8.0", "12.9", "3.12"); platforms as wheel tags. ">=2.9,stable"
/// is torch's stable C interface as 2.9 has it, "abi3>=3.10" Python's limited API: one wheel for every later release.
struct MatrixRow {
  std::vector<std::string> torch, cuda, python, platform;
  std::string source;
  bool operator==(const MatrixRow&) const = default;
};

/// Cells that are not made. Empty axis = any.
struct MatrixExclude {
  std::vector<std::string> torch, cuda, python, platform;
  std::string reason;
  std::string source;
  bool operator==(const MatrixExclude&) const = default;
};

struct MatrixSpec {
  std::vector<MatrixRow> include;
  std::vector<MatrixExclude> exclude;
  std::string stable_headers;  ///< "2.11.0": whose headers cells of torch's stable interface are compiled with
  bool operator==(const MatrixSpec&) const = default;
};

/// A named selection. `cells` are globs over cell ids without their platform suffix; `!` excludes.
struct Profile {
  std::string name;
  std::string description;
  std::vector<std::string> cells;
  std::vector<std::string> platforms;  ///< unless --platform says otherwise; empty = {"linux_x86_64"}
  std::string revision;                ///< unless --revision says otherwise; "" = the default commit
  std::string arches;                  ///< arch list; "" = all of the spec that the cell's nvcc can
  bool operator==(const Profile&) const = default;
};

/// How a wheel is named: templates over the words of expand_template (docs/naming.md). Names are written by it and read
/// by it.
struct NamingScheme {
  std::string name;
  std::string version;      ///< template of the whole version
  std::string build = {};   ///< template of the build tag; "" = none
  std::string folder = {};  ///< template of the folder that a wheel lies in, when that says what the name does not
  std::string source = {};  ///< who names wheels so
  bool operator==(const NamingScheme&) const = default;
};

struct MetadataSpec {
  std::string name;  ///< distribution name as upstream writes it
  std::string summary;
  std::string license;  ///< SPDX expression
  std::vector<std::string> license_files;
  std::string readme;
  std::string requires_python;
  std::vector<std::string> requires_dist;  ///< templates: "torch=={torch_minor}.*"
  std::vector<std::string> classifiers;
  std::vector<std::string> urls;  ///< "Homepage, https://..."
  bool operator==(const MetadataSpec&) const = default;
};

/// One range of values that a GPU case goes through.
struct GpuAxis {
  std::string name;
  std::vector<std::string> values;  ///< Python literals or plain words: "HND", "64", "True"
  bool operator==(const GpuAxis&) const = default;
};

/// One tensor that a GPU case makes.
struct GpuInput {
  std::string name;
  std::vector<std::string> shape;  ///< numbers and names of axes
  std::string dtype;               ///< "float16", or the name of an axis
  std::string distribution;        ///< "normal", "uniform" (0 to 1), "zeros"; "" = normal
  bool operator==(const GpuInput&) const = default;
};

/// Where `axis` has `value`, the call takes tensors, and gives them, with two dimensions exchanged; the reference
/// never.
struct GpuTransposed {
  std::string axis, value;  ///< "" = none
  std::vector<int> dims;    ///< two, counted from 0
  bool operator==(const GpuTransposed&) const = default;
};

/// A function of the package that `verify --gpu` calls with every combination of its axes' values, and what must come
/// out. Tolerances of 0 are not judged.
struct GpuCase {
  std::string id;                        ///< for messages
  std::vector<Capability> capabilities;  ///< of the GPUs it is for; empty = all
  std::string call;                      ///< "package.module:function"
  std::vector<std::string> arguments;    ///< "q", "is_causal=causal", "scale=0.5": inputs, axes, Python literals
  std::string reference;                 ///< as `call`; gets copies in float32. "" = only what needs no reference
  std::vector<std::string> reference_arguments;
  std::vector<GpuAxis> axes;
  std::vector<GpuInput> inputs;
  GpuTransposed transposed;
  std::vector<std::string> outputs;     ///< inputs that are the results; empty = what the call returns
  std::vector<std::string> may_change;  ///< inputs that the call is known to write to
  double cosine_min = 0;                ///< of a whole result with the reference's
  double row_cosine_min = 0;            ///< of its worst row (last dimension)
  double relative_l1_max = 0;           ///< sum of |difference| / sum of |reference|
  double absolute_max = 0;              ///< largest |difference|
  int repetitions = 3;                  ///< each after other bytes were left in the GPU's free memory
  bool deterministic = true;            ///< repetitions give the same bits
  int seconds = 120;                    ///< for one combination
  When when;
  std::string source;
  bool operator==(const GpuCase&) const = default;
};

/// Somebody ran wheels of a source.revision's commit where sagekit builds without running them. `source`: the report.
struct RanReport {
  std::string platform, commit, gpu, torch, source;  ///< "win_amd64", ..., "GeForce RTX 4090", "2.11.0+cu130"
  bool operator==(const RanReport&) const = default;
};

struct VerifySpec {
  std::uint64_t size_min_bytes = 0,
                size_max_bytes = 0;         ///< of the wheel, per arch set as small as one arch; 0 = unknown
  std::vector<std::string> import_modules;  ///< imported one by one in a child process, after torch
  std::vector<std::string> needed_allowed;  ///< DT_NEEDED beside libc's own, as globs
  std::string glibc_max;                    ///< "2.34"; "" = not judged
  std::vector<GpuCase> gpu;                 ///< launched by `verify --gpu`
  std::vector<RanReport> ran;               ///< none for Windows: its wheels are called experimental
  int local_bytes_max = 0;  ///< bytes that local-memory instructions of one kernel may move; 0 = not judged
  bool operator==(const VerifySpec&) const = default;
};

/// Another package that is needed beside the wheel, and when it is not.
struct Companion {
  std::string name;
  std::string url;
  std::string commit;
  std::string needed;         ///< when, in words
  std::string not_needed;     ///< when not, in words: "Triton >= 3.6"
  std::string requires_dist;  ///< the requirement under which it is not needed: "triton>=3.6"
  std::string source;
  bool operator==(const Companion&) const = default;
};

/// A sentence for people, shown by `plan` and `doctor` when its capability is selected (empty = always).
struct Advice {
  std::vector<Capability> capabilities;
  std::string text;
  std::string source;
  bool operator==(const Advice&) const = default;
};

struct Spec {
  std::string name;     ///< plugin name, first part of every cell id
  std::string version;  ///< of the plugin
  std::string description;
  std::string license;
  SourceSpec source;
  std::vector<ArchSpec> arches;
  std::vector<KernelSpec> kernels;
  BuildSpec build;
  std::vector<DispatchSpec> dispatch;
  std::vector<PackageFiles> package_files;
  MatrixSpec matrix;
  std::vector<Profile> profiles;
  std::string default_scheme;  ///< "" = "default"
  std::vector<NamingScheme> schemes;
  MetadataSpec metadata;
  VerifySpec verify;
  std::vector<Companion> companions;
  std::vector<Advice> advice;
  bool operator==(const Spec&) const = default;
};

/// Parses and checks a plugin.toml. `origin` is the file name shown in diagnostics. Strict: unknown keys, wrong types,
/// dangling references and impossible values are all reported, each with line, column and the nearest right word.
/// On failure the list holds at least one error; on success there are none (warnings are dropped).
SAGEKIT_API std::expected<Spec, Diagnostics> parse_spec(std::string_view text, std::string_view origin);

/// Names the tables and keys that parse_spec accepts, as a JSON Schema (draft 2020-12) document.
SAGEKIT_API std::string spec_json_schema();

/// The revision a word means: full or abbreviated (>= 7 digits) commit, or one of its names.
SAGEKIT_API const Revision* find_revision(const Spec& spec, std::string_view word);

/// The naming scheme of that name: a row of `more`, else of the spec, else one that every spec has; "" = the spec's
/// default. PLN003 (usage).
SAGEKIT_API Result<const NamingScheme*> find_scheme(const Spec& spec, std::string_view name,
                                                    std::span<const NamingScheme> more = {});

/// Does a row with this condition apply? `backend`, `torch`, `cuda` empty = that part is not judged.
SAGEKIT_API bool holds(const When& when, const Revision& revision, std::string_view backend = {},
                       std::string_view torch = {}, std::string_view cuda = {});

}  // namespace sagekit
