#pragma once
// The checks, one function for each row of the table in judge.cpp. Each says what it saw to the judgement and nothing
// else; what it does not speak of passes.

#include "verify/judgement.hpp"
#include "verify/subject.hpp"

#include <sagekit/command.hpp>

#include <filesystem>
#include <string_view>
#include <vector>

namespace sagekit {

/// NAM1..: the name's form, and what the index takes.
void check_name(const Subject& subject, Judgement& judgement);
/// INF1..: METADATA, WHEEL and the name agree. Only for a wheel.
void check_dist_info(const Subject& subject, Judgement& judgement);
/// INF1: METADATA field by field.
void check_metadata(const Subject& subject, Judgement& judgement);
/// INF1: entry points, top_level.txt, SBOMs, the .data folder.
void check_package_files(const Subject& subject, Judgement& judgement);
/// ZIP1: paths that some system cannot have. Only for an archive.
void check_paths(const Subject& subject, Judgement& judgement);
/// VAR: label, variant.json and what they promise; only where there is one of them.
void check_variant(const Subject& subject, Judgement& judgement);
/// CNT: where files lie, of any project.
void check_layout(const Subject& subject, Judgement& judgement);
/// Is it one, by its name or its files? Needs dist-info.
bool is_variant(const Subject& subject);
/// CNT001: files that have no business in a wheel.
void check_leftovers(const Subject& subject, Judgement& judgement);
/// CNT002, CNT006: the spec's modules, and no others.
void check_expected(const Subject& subject, Judgement& judgement);
/// CNT003: the spec's Python files.
void check_python_files(const Subject& subject, Judgement& judgement);
/// CNT004: the size that the spec expects.
void check_size(const Subject& subject, Judgement& judgement);
/// CNT005: the spec's names at the top, and no others.
void check_own_names(const Subject& subject, Judgement& judgement);
/// CNT008: what the public index takes.
void check_index_limit(const Subject& subject, Judgement& judgement);
/// ELF: what the loader will find in each module.
void check_modules(const Subject& subject, Judgement& judgement);
/// ELF002, ELF011, ELF012: the libraries that modules need.
void check_libraries(const Subject& subject, Judgement& judgement);
/// PYA: the Python that modules are for.
void check_python_abi(const Subject& subject, Judgement& judgement);
/// TAB: the torch that modules were linked with.
void check_torch_abi(const Subject& subject, Judgement& judgement);
/// LBC: the C library that modules need. `torches`: to say what the torch itself needs.
void check_libc(const Subject& subject, const std::vector<TorchSysroot>& torches, Judgement& judgement);
/// LBC002, LBC004: the C library that the spec allows.
void check_libc_limits(const Subject& subject, Judgement& judgement);
/// ELF007: undefined symbols against the torch that is declared.
void check_symbols(const Subject& subject, const std::vector<TorchSysroot>& torches, Judgement& judgement);
/// FAT1..: each module's GPU code against what its kernel rows say for the claimed arches.
void check_gpu_code(const Subject& subject, Judgement& judgement);
/// FAT106..: what is in the kernels, and how they are linked. Part of check_gpu_code.
void check_kernels(const Subject& subject, Judgement& judgement);
/// TRU001: known defects of the source.
void check_defects(const Subject& subject, const VerifyOptions& options, Judgement& judgement);
/// TRU002, TRU003: what the wheel says about itself.
void check_record(const Subject& subject, Judgement& judgement);
/// What the plugin's own judge finds.
void ask_plugin(const Subject& subject, Judgement& judgement);
/// IMP: each module is loaded in a child process of its own. Errors: a temporary folder that cannot be made, an
/// interrupt.
Status check_imports(const Subject& subject, const VerifyOptions& options, CommandRunner& runner, Judgement& judgement);
/// RUN1: the spec's cases are called on this machine's GPU, in child processes. Errors: as
/// check_imports.
Status check_gpu(const Subject& subject, const VerifyOptions& options, CommandRunner& runner, Judgement& judgement);

/// "its source is none that the plugin sage2 knows": why what a spec says of its revisions is not judged.
std::string unrecognised(const Subject& subject);
/// Ids of the defects that are visible in the subject's files.
std::vector<const Defect*> visible_defects(const Subject& subject);

/// "machine code for 8.0 and 9.0a"
std::string arch_list(const std::vector<Arch>& arches);
/// The arches of the GPU code that the CUDA runtime loads, sorted.
std::vector<Arch> loaded_arches(const MemberFacts& member, bool ptx);

struct PublishedFile {
  const std::filesystem::path& path;
  std::string_view sha256;  ///< lower-case hex
};

/// TRU004 against `checksums`, else against SHA256SUMS or NAME.sha256 beside the file; TRU005 against
/// NAME.publish.attestation and NAME.provenance there. Where nothing lies beside it, nothing is said. Error FIL001
/// (usage): `checksums` cannot be read.
Status check_published(const PublishedFile& file, const std::filesystem::path& checksums, Judgement& judgement);

/// RUN: the table against the arches that are claimed.
void check_runs_on(const Subject& subject, const std::vector<RunsOn>& table, Judgement& judgement);

}  // namespace sagekit
