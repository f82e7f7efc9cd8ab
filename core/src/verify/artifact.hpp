#pragma once
// What is judged: the files of a wheel or of a wheel to be, with what was measured in them, and what they claim.

#include "inspect/provenance.hpp"
#include "pypa/platform_tag.hpp"
#include "pypa/wheel_paths.hpp"

#include <sagekit/arch.hpp>
#include <sagekit/inspect.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/spec.hpp>
#include <sagekit/verify.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct Artifact {
  ArtifactKind kind = ArtifactKind::wheel;
  std::filesystem::path root;         ///< of the last three: the folder in which the members lie
  WheelName name;                     ///< without a file name, what dist-info says
  std::vector<MemberFacts> members;   ///< sorted by path
  const WheelFacts* wheel = nullptr;  ///< null: there is no dist-info
  std::uint64_t wheel_bytes = 0;      ///< 0 = not a wheel yet
  bool finished = true;               ///< false: it is being made here, with whatever Pythons there are
  Provenance provenance;
  const Spec* spec = nullptr;  ///< null: no plugin makes this package
  const Plugin* plugin = nullptr;
  /// The plugin that its record names, when that is not loaded: `spec` is then another's that makes this package, whose
  /// revisions are no facts about it unless the record names one of them.
  std::string missing_plugin;
  /// What it was built from: the spec's revision that its record names, else the one that its files look like. Null:
  /// not known, so that the spec's rows about dispatch, defects and sizes are no facts about it.
  const Revision* revision = nullptr;
  bool recorded = false;  ///< its record names `revision`
  std::function<Result<std::string>(const std::string& archive_path)> read;

  /// Is it in a folder, without an archive and a file name?
  bool in_folder() const {
    return kind == ArtifactKind::unpacked || kind == ArtifactKind::installed || kind == ArtifactKind::folder;
  }
  /// Is it known which kernels its package calls where, and which defects it has?
  bool is_recognised() const { return spec != nullptr && revision != nullptr; }
  /// "built, not run on Windows": what it was called when it was made, and no row of the spec says otherwise since.
  std::string experimental() const;
  const MemberFacts* find(std::string_view archive_path) const;
  /// The member that Python finds for a dotted module name; null when there is none.
  const MemberFacts* find_module(std::string_view dotted) const;
  /// The member that the loader takes for a shared library of this name; null when there is none.
  const MemberFacts* find_library(std::string_view library) const;
  /// Does it bring a Windows library of this name, in small letters?
  bool has_dll(std::string_view library) const;
  /// A .py file or package for a dotted name.
  bool has_python(std::string_view dotted) const;
  /// Dotted names of all native members, with them.
  std::vector<std::pair<std::string, const MemberFacts*>> modules() const;
};

struct ExpectedModule {
  const KernelSpec* kernel = nullptr;
  std::vector<Gencode> gencode;  ///< empty: the module is not built for this set
};

/// The rows of the spec's kernels that hold for the artifact's revision, torch and CUDA, in order of module name. Needs
/// a spec, a revision and claimed arches.
std::vector<ExpectedModule> expected_modules(const Artifact& artifact);
/// Of these the dotted names of those that are built for its arches and are not there. Needs the same.
std::vector<std::string> missing_modules(const Artifact& artifact);

/// Is this dotted name one of the spec's modules, in any revision?
const KernelSpec* known_kernel(const Spec& spec, std::string_view module);

/// The symbols that the interpreter must have: undefined Py* and _Py*, but for weak ones and those of libraries in the
/// wheel that the module needs. Of Windows modules what they import from Python's DLLs.
std::set<std::string> python_symbols(const Artifact& artifact, const MemberFacts& member);
/// No import finds a module in it, and it wants nothing of Python: libraries of torch's operators are built and named
/// as extension modules, and torch or ctypes loads them by their path. Never where a spec says what its modules are.
bool is_loaded_by_path(const Artifact& artifact, std::string_view name, const MemberFacts& member);

}  // namespace sagekit
