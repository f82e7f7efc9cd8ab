#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/checks.hpp"
#include "verify/import_script.hpp"

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr double k_seconds = 300;  // torch alone can take a minute from a cold disk

bool is_safe(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\\') != std::string_view::npos) return false;
  const auto parts = split(path, '/');
  return std::ranges::none_of(parts,
                              [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

Status unpack(const Subject& subject, const fs::path& folder) {
  for (const auto& member : subject.members) {
    if (member.path.ends_with('/')) continue;
    if (!is_safe(member.path))
      return fail(ErrorKind::failed, "IMP001", fmt::format("{} would be written outside the folder", member.path));
    TRY_ASSIGN(const auto bytes, subject.read(member.path));
    const auto file = folder / member.path;
    TRY(make_directories(file.parent_path()));
    TRY(write_file_atomic(file, bytes));
  }
  return {};
}

bool needs_torch(const Spec& spec) {
  return std::ranges::any_of(spec.kernels, [](const KernelSpec& kernel) { return !kernel.torch_free; });
}

/// What the script said of one module.
struct Outcome {
  bool ended = false, ok = false;
  std::string type, missing, message;
};

struct Transcript {
  std::string python, torch, torch_cuda, torch_error;
  std::map<std::string, Outcome> modules;
  std::string running;  ///< begun and not ended
};

Transcript read_transcript(std::string_view output) {
  Transcript said;
  for (const auto& line : split(output, '\n')) {
    auto words = split(line, '\t');
    words.resize(std::max<std::size_t>(words.size(), 5));
    if (words[0] == "python") said.python = words[1];
    if (words[0] == "torch") said.torch = words[1], said.torch_cuda = words[2];
    if (words[0] == "no-torch") said.torch_error = words[1] + ": " + words[2];
    if (words[0] == "begin") said.running = words[1];
    if (words[0] != "ok" && words[0] != "error") continue;
    said.modules[words[1]] = {true, words[0] == "ok", words[2], words[3], words[4]};
    said.running.clear();
  }
  return said;
}

std::string first_two(std::string_view version) {
  const auto parts = split(version.substr(0, version.find('+')), '.');
  return parts.size() < 2 ? std::string(version) : parts[0] + "." + parts[1];
}

/// Why this machine, not the wheel, keeps a module from importing; "" = the wheel's fault.
std::string machine_lacks(const Subject& subject, const Outcome& outcome) {
  if (outcome.message.find("libcuda.so.1") != std::string::npos)
    return "this machine has no NVIDIA driver (libcuda.so.1)";
  if (outcome.type != "ModuleNotFoundError" || outcome.missing.empty()) return {};
  const auto package = outcome.missing.substr(0, outcome.missing.find('.'));
  const bool inside = std::ranges::any_of(subject.members, [&](const MemberFacts& member) {
    return member.path.starts_with(package + "/") || member.path.starts_with(package + ".");
  });
  return inside ? "" : fmt::format("that Python has no {}", package);
}

/// Why the interpreter is no judge of this wheel; "" = it is.
std::string unfit(const Subject& subject, const Transcript& said) {
  if (!said.torch_error.empty()) return fmt::format("that Python cannot import torch ({})", said.torch_error);
  const Claims& claims = subject.claims;
  if (said.torch.empty()) return {};
  if (!claims.torch.empty() && first_two(said.torch) != first_two(claims.torch))
    return fmt::format("that Python has torch {}, the wheel is for {}", said.torch, claims.torch);
  if (!claims.cuda.empty() && said.torch_cuda != "none" && first_two(said.torch_cuda) != first_two(claims.cuda))
    return fmt::format("that Python's torch is for CUDA {}, the wheel for {}", said.torch_cuda, claims.cuda);
  return {};
}

/// Dotted names as they are imported; a library for ctypes by its path.
std::string import_word(const Subject& subject, const std::string& name) {
  for (const auto& kernel : subject.spec->kernels)
    if (kernel.module == name && kernel.plain_module) {
      const MemberFacts* member = subject.find_module(name);
      return member == nullptr ? name : member->path;
    }
  return name;
}

void judge_modules(const Subject& subject, const fs::path& python, const Transcript& said, const CommandResult& result,
                   const std::vector<std::string>& words, Judgement& judgement) {
  for (const auto& word : words) {
    const auto found = said.modules.find(word);
    if (found != said.modules.end() && found->second.ok) {
      judgement.note("IMP001", fmt::format("{} imports in {}", word, python.string()), word);
    } else if (found != said.modules.end()) {
      const auto& outcome = found->second;
      if (const auto why = machine_lacks(subject, outcome); !why.empty())
        judgement.skipped("IMP001", fmt::format("{} in {}: {}", word, python.string(), why));
      else
        judgement.broken(
            "IMP001",
            fmt::format("{} does not import in {}: {}: {}", word, python.string(), outcome.type, outcome.message),
            word);
    } else if (said.running == word) {
      const auto how = result.timed_out ? fmt::format("does not come back within {} s", k_seconds)
                                        : fmt::format("ends the interpreter (exit {})", result.exit_code);
      judgement.broken("IMP001", fmt::format("importing {} in {} {}", word, python.string(), how), word);
    } else {
      judgement.skipped("IMP001", fmt::format("{} in {}: not reached", word, python.string()));
    }
  }
}

std::string expected_python(const Subject& subject) {
  if (!subject.claims.python.empty()) return subject.claims.python;
  for (const auto& tag : subject.name.python)
    if (tag.starts_with("cp") && tag.size() > 3 && is_digits(tag.substr(2)))
      return tag.substr(2, 1) + "." + tag.substr(3);
  return {};
}

Result<CommandResult> run_script(const fs::path& python, const std::vector<std::string>& arguments,
                                 const fs::path& folder, const VerifyOptions& options, CommandRunner& runner) {
  Command command;
  command.argv = {python.string(), "-I", "-c", std::string(k_import_script)};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = options.child_environment;
  command.working_directory = folder;
  command.timeout_seconds = k_seconds;
  command.separate_stderr = true;
  return runner.run(command);
}

}  // namespace

Status check_imports(const Subject& subject, const VerifyOptions& options, CommandRunner& runner,
                     Judgement& judgement) {
  const auto skip = [&](std::string reason, std::string hint = {}) {
    judgement.skipped("IMP001", std::move(reason), std::move(hint));
  };
  if (subject.spec == nullptr || subject.spec->verify.import_modules.empty())
    return skip("no loaded plugin says what to import"), Status();
  if (options.interpreters.empty())
    return skip("no interpreter was given or found to import with",
                "--interpreter PATH, a Python that has this wheel's torch"),
           Status();

  const auto parent = options.child_environment.find("TMPDIR");
  TRY_ASSIGN(const auto folder,
             TemporaryFolder::create(parent == options.child_environment.end() ? "/tmp" : fs::path(parent->second),
                                     "sagekit-import"));
  if (auto unpacked = unpack(subject, folder.path()); !unpacked) {
    if (unpacked.error().kind != ErrorKind::failed) return unpacked;
    return skip(unpacked.error().message), Status();
  }

  std::vector<std::string> words;
  for (const auto& name : subject.spec->verify.import_modules) {
    // A module that this arch set does not have is CNT002's affair.
    const bool kernel = std::ranges::count(subject.spec->kernels, name, &KernelSpec::module) > 0;
    if (!kernel || subject.find_module(name) != nullptr) words.push_back(import_word(subject, name));
  }
  std::vector<std::string> arguments{folder.path().string(), needs_torch(*subject.spec) ? "1" : "0"};
  arguments.insert(arguments.end(), words.begin(), words.end());

  const auto wanted = expected_python(subject);
  std::size_t asked = 0;
  for (const auto& python : options.interpreters) {
    auto version = run_script(python, {folder.path().string(), "0"}, folder.path(), options, runner);
    if (!version && version.error().kind == ErrorKind::interrupted) return std::unexpected(version.error());
    if (!version || !version->ok()) {
      skip(fmt::format("{} does not start", python.string()));
      continue;
    }
    const auto minor = read_transcript(version->output).python;
    if (!wanted.empty() && minor != wanted) continue;
    ++asked;
    TRY_ASSIGN(const auto result, run_script(python, arguments, folder.path(), options, runner));
    const auto said = read_transcript(result.output);
    if (const auto why = unfit(subject, said); !why.empty())
      skip(fmt::format("{}: {}", python.string(), why));
    else
      judge_modules(subject, python, said, result, words, judgement);
  }
  if (asked == 0 && !judgement.said("IMP001"))
    skip(fmt::format("none of the given interpreters is a Python {}", wanted));
  return {};
}

}  // namespace sagekit
