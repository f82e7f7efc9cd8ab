#pragma once
// The checks, one function for each row of the table in judge.cpp. Each says what it saw to the findings and nothing
// else; what it does not speak of passes.

#include "verify/artifact.hpp"
#include "verify/finding_list.hpp"
#include "verify/runs_on.hpp"

#include <sagekit/command.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// NAM1..: the name's form, and what the index takes.
void check_name(const Artifact& artifact, FindingList& findings);
/// INF1..: METADATA, WHEEL and the name agree. Only for a wheel.
void check_dist_info(const Artifact& artifact, FindingList& findings);
/// INF1: METADATA field by field.
void check_metadata(const Artifact& artifact, FindingList& findings);
/// INF1: entry points, top_level.txt, SBOMs, the .data folder.
void check_package_files(const Artifact& artifact, FindingList& findings);
/// ZIP1: paths that some system cannot have. Only for an archive.
void check_paths(const Artifact& artifact, FindingList& findings);
/// VAR: label, variant.json and what they promise; only where there is one of them.
void check_variant(const Artifact& artifact, FindingList& findings);
/// CNT: where files lie, of any project.
void check_layout(const Artifact& artifact, FindingList& findings);
/// Is it one, by its name or its files? Needs dist-info.
bool is_variant(const Artifact& artifact);
/// CNT001: files that have no business in a wheel.
void check_leftovers(const Artifact& artifact, FindingList& findings);
/// CNT002, CNT006: the spec's modules, and no others.
void check_expected(const Artifact& artifact, FindingList& findings);
/// CNT003: the spec's Python files.
void check_python_files(const Artifact& artifact, FindingList& findings);
/// CNT004: the size that the spec expects.
void check_size(const Artifact& artifact, FindingList& findings);
/// CNT005: the spec's names at the top, and no others.
void check_own_names(const Artifact& artifact, FindingList& findings);
/// CNT008: what the public index takes.
void check_index_limit(const Artifact& artifact, FindingList& findings);
/// ELF: what the loader will find in each module.
void check_modules(const Artifact& artifact, FindingList& findings);
/// ELF002, ELF011, ELF012: the libraries that modules need.
void check_libraries(const Artifact& artifact, FindingList& findings);
/// PYA: the Python that modules are for.
void check_python_abi(const Artifact& artifact, FindingList& findings);
/// TAB: the torch that modules were linked with.
void check_torch_abi(const Artifact& artifact, FindingList& findings);
/// LBC: the C library that modules need. `torches`: to say what the torch itself needs.
void check_libc(const Artifact& artifact, const std::vector<TorchSysroot>& torches, FindingList& findings);
/// LBC002, LBC004: the C library that the spec allows.
void check_libc_limits(const Artifact& artifact, FindingList& findings);
/// ELF007: undefined symbols against the torch that is declared.
void check_symbols(const Artifact& artifact, const VerifyOptions& options, FindingList& findings);
/// WIN: what only Windows modules can get wrong.
void check_windows(const Artifact& artifact, FindingList& findings);
bool has_windows_modules(const Artifact& artifact);
/// WIN007: what Windows modules import against the DLLs of the torch that is declared.
void check_dll_exports(const Artifact& artifact, const VerifyOptions& options, FindingList& findings);
/// WIN008: was it ever run on Windows?
void check_was_run(const Artifact& artifact, FindingList& findings);
/// FAT1..: each module's GPU code against what its kernel rows say for the claimed arches; what is in the kernels, and
/// how they are linked.
void check_gpu_code(const Artifact& artifact, FindingList& findings);
/// TRU001: known defects of the source.
void check_defects(const Artifact& artifact, const VerifyOptions& options, FindingList& findings);
/// TRU002, TRU003: what the wheel says about itself.
void check_record(const Artifact& artifact, FindingList& findings);
struct PublishedFile {
  const std::filesystem::path& path;
  std::string_view sha256;  ///< lower-case hex
};

/// TRU004 against `checksums`, else against SHA256SUMS or NAME.sha256 beside the file; TRU005 against
/// NAME.publish.attestation and NAME.provenance there. Where nothing lies beside it, nothing is said. Error FIL001
/// (usage): `checksums` cannot be read.
Status check_published(const PublishedFile& file, const std::filesystem::path& checksums, FindingList& findings);

/// What the plugin's own judge finds.
void ask_plugin(const Artifact& artifact, FindingList& findings);
/// IMP: each module is loaded in a child process of its own. Errors: a temporary folder that cannot be made, an
/// interrupt.
Status check_imports(const Artifact& artifact, const VerifyOptions& options, CommandRunner& runner,
                     std::set<std::string>& imported, FindingList& findings);
/// RUN1: the spec's cases are called on this machine's GPU, in child processes; nothing when none could be. Errors: as
/// check_imports.
Result<std::optional<GpuGate>> check_gpu(const Artifact& artifact, const VerifyOptions& options, CommandRunner& runner,
                                         FindingList& findings);

/// "its source is none that the plugin sage2 knows": why what a spec says of its revisions is not judged.
std::string unrecognised(const Artifact& artifact);
/// Ids of the defects that are visible in the artifact's files.
std::vector<const Defect*> visible_defects(const Artifact& artifact);

/// "machine code for 8.0 and 9.0a"
std::string arch_list(const std::vector<Arch>& arches);
/// The arches of the GPU code that the CUDA runtime loads, sorted.
std::vector<Arch> loaded_arches(const MemberFacts& member, bool ptx);

/// RUN: the table, before `unusable` lowers all of it, against the arches that are claimed.
void check_runs_on(const Artifact& artifact, const std::vector<RunsOn>& table, const std::string& unusable,
                   FindingList& findings);

}  // namespace sagekit
