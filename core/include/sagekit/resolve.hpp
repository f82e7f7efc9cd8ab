#pragma once
// Which published wheel runs on a machine, and why the others do not. "Unknown" is a class of its own, never "fits".

#include <sagekit/arch.hpp>
#include <sagekit/command.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/index.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/verify.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What is known of the machine that a wheel is to run on. Empty texts and absent values are not known.
struct Target {
  std::optional<std::vector<Gpu>> gpus;  ///< empty list: it has none; one whose driver is "": the driver is not known
  std::optional<bool> has_torch;         ///< false: there is no torch in that Python
  std::string torch;                     ///< "2.9.1", "2.10.0.dev20251101"
  std::string torch_cuda;                ///< "13.0"; "none": a torch without CUDA
  std::optional<bool> cxx11_abi;         ///< of that torch
  std::string python;                    ///< "3.12", "3.13t"
  std::string python_release;            ///< "3.12.1"
  std::string platform;                  ///< "linux_x86_64", "win_amd64"
  std::string libc;                      ///< "glibc2.36", "musl1.2"
  bool wsl = false;                      ///< Linux below Windows, whose driver it uses
  std::filesystem::path interpreter;     ///< that was asked; empty = none
  PythonPlace place;                     ///< of that interpreter
  std::vector<std::string> notes;        ///< where a fact is from, or why it is missing, in sentences
};

/// This machine as its interpreter sees it: `interpreter` empty = the first Python with a torch, else the first.
/// Facts that the probe cannot tell stay unknown and are noted. Error RES002 (usage): the interpreter does not start.
SAGEKIT_API Result<Target> this_target(const std::filesystem::path& interpreter, const ProbeOptions& options,
                                       CommandRunner& runner);

/// `gpu="RTX 5090",torch=2.9.1+cu130,python=3.12,platform=win_amd64,driver=570,libc=glibc2.35`; gpu also as a
/// capability, several with `/`, or none. What is not named comes from `here`, unless the platform differs: then it is
/// unknown, and noted. Error RES001 (usage) quotes what it does not understand, with the nearest right word.
SAGEKIT_API Result<Target> parse_target(std::string_view text, const Target& here);

/// One wheel of the set, and where it is.
struct Candidate {
  std::string file;     ///< file name
  std::string place;    ///< path or address without credentials, for people
  std::string address;  ///< path or whole address: never print it
  bool remote = false;
  std::string sha256;            ///< as published; "" = nobody says
  std::string sha256_from = {};  ///< the file beside it that says so; "" = the list that has it
  std::string other_hash;        ///< the same by another algorithm, "sha512=<hex>"
  std::string hash_fault;        ///< what is wrong with a hash that was published; "" = nothing
  std::uint64_t size_bytes = 0;
  std::string requires_python;  ///< of an index page
  bool yanked = false;
  std::string yanked_reason = {};    ///< "" = nobody says
  std::string core_metadata_sha256;  ///< of PEP 658; "true" = offered without a hash; "" = not offered
  /// Of our own release manifest: what was measured when it was published.
  struct Manifest {
    std::string torch, cuda, commit;
    std::vector<ArchRequest> arches;
    std::vector<RunsOn> runs_on;
    WheelVerdict verdict = WheelVerdict::unjudged;
  };
  std::optional<Manifest> manifest;
};

/// One wheel, judged. `code` RES1xx refuses, RES2xx is a thing not known (docs/findings/RES.md).
struct Judged {
  Candidate candidate;
  std::string code, reason;                                    ///< of a fit: what speaks for it
  std::string would_tell;                                      ///< of an unknown one: how to find out
  std::vector<std::string> facts;                              ///< what decided and who says so, in sentences
  std::string sha256 = {};                                     ///< of the file here that was judged; "" = none was read
  bool gpu_code = true;                                        ///< has GPU code, as far as is known
  std::optional<std::vector<std::string>> requires_dist = {};  ///< of its METADATA; nothing: it was not read
};

struct Resolution {
  Target target;
  std::string package;          ///< normalised; "" = there was no wheel
  std::vector<Judged> fits;     ///< best first
  std::vector<Judged> unknown;  ///< most promising first
  std::vector<Judged> refused;  ///< as the set has them, by file name
};

struct ResolveOptions {
  std::vector<std::string> packages;   ///< project names that count; empty = the one that is there
  std::vector<const Plugin*> plugins;  ///< that know how packages choose their kernels
  std::vector<NamingScheme> schemes;   ///< rows that names are read by before those that are always there
  std::map<std::string, std::string> child_environment;
  /// What was read of files here is kept below it while they stay; empty, or not there = nothing is.
  std::filesystem::path store;
  std::filesystem::path scratch;     ///< folder for files of servers that know no ranges
  bool read_files = true;            ///< look into files and their byte ranges; false: names and pages only
  std::size_t most_files = 24;       ///< of those that names and METADATA do not refuse, so many are looked into
  std::size_t most_metadata = 1000;  ///< where an index offers METADATA beside its wheels, so many are asked for
  std::function<Result<IndexSettings>()> find_index;  ///< pip's settings: proxies, trust, credentials
  std::function<void(const std::string&)> say;        ///< progress for people; empty = none
};

/// The wheels of a folder, a file, a release manifest (ours or what GitHub's API gives), or an index address. Errors:
/// RES003 (usage) there is nothing of that kind; RES004 (failed) it is none that is known; RES005 (no_match) no wheel
/// is in it; IDX (failed).
SAGEKIT_API Result<std::vector<Candidate>> find_wheels(const std::string& from, const ResolveOptions& options,
                                                       std::stop_token stop = {});

/// The wheels listed in a text: our manifest, GitHub's release, a page of an index. `base`: the address of the text,
/// or the folder in which relative files lie.
SAGEKIT_API Result<std::vector<Candidate>> read_listing(std::string_view text, std::string_view content_type,
                                                        const std::string& base);

/// Judges every candidate. Pure but for reading the files that names leave open. Errors: RES005 (no_match) wheels are
/// there, and none of the packages that were chosen; RES006 (usage) several packages are there and none is chosen;
/// NAM010 (usage) a row of `schemes` is none; interrupted.
SAGEKIT_API Result<Resolution> resolve(std::vector<Candidate> candidates, const Target& target,
                                       const ResolveOptions& options, CommandRunner& runner, std::stop_token stop = {});

/// {"schema":"sagekit.resolve/1", ...}: docs/json.md.
SAGEKIT_API std::string resolve_json(const Resolution& resolution);

}  // namespace sagekit
