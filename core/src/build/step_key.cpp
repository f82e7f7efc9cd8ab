#include "build/step_key.hpp"

#include "compile/windows_host.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <map>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

std::string_view kind_name(StepKind kind) {
  switch (kind) {
    case StepKind::compile: return "compile";
    case StepKind::bind: return "bind";
    case StepKind::link: return "link";
    case StepKind::setup_py: return "setup-py";
    case StepKind::device: return "device";
    case StepKind::host: return "host";
  }
  return "";
}

/// One part, however many words: an argv reads as one line.
void add_words(KeyParts& parts, std::string_view name, const std::vector<std::string>& words) {
  if (!words.empty()) parts.emplace_back(name, join(words, "\n"));
}

}  // namespace

std::string key_of(const KeyParts& parts) {
  Sha256 hash;
  for (const auto& [name, value] : parts) {
    hash.field(name);
    hash.field(value);
  }
  return hash.hex();
}

std::vector<std::string> changed_parts(const KeyParts& before, const KeyParts& now) {
  const std::map<std::string, std::string> old(before.begin(), before.end()), fresh(now.begin(), now.end());
  std::vector<std::string> changed;
  for (const auto& [name, value] : fresh)
    if (const auto found = old.find(name); found == old.end() || found->second != value) changed.push_back(name);
  for (const auto& [name, value] : old)
    if (!fresh.contains(name)) changed.push_back(name);
  return changed;
}

Result<KeyParts> StepKeys::action(const Step& step, bool fallback) const {
  KeyParts parts{{"format", "sagekit action 2"}, {"kind", std::string(kind_name(step.kind))}};
  add_words(parts, "argv", step.argv);
  std::vector<std::string> words = step.argv;
  if (is_windows_host(step)) {  // its own argv names no architecture
    add_words(parts, "device argv", step.device_argv);
    words.insert(words.end(), step.device_argv.begin(), step.device_argv.end());
  }
  if (fallback) {
    add_words(parts, "fallback argv", step.fallback_argv);
    words.insert(words.end(), step.fallback_argv.begin(), step.fallback_argv.end());
  }
  add_words(parts, "environment", step.environment);
  words.insert(words.end(), step.environment.begin(), step.environment.end());
  words.insert(words.end(), step.inputs.begin(), step.inputs.end());
  for (auto& [name, identity] : m_symbols.identities(words))
    parts.emplace_back(fmt::format("tool {{{}}}", name), std::move(identity));
  if (step.kind == StepKind::compile || step.kind == StepKind::bind)
    parts.emplace_back("names of the source's headers", m_source.header_names);
  if (step.kind == StepKind::setup_py) {  // upstream's code may read all of it, and the clock
    parts.emplace_back("the source", m_source.key);
    parts.emplace_back("SOURCE_DATE_EPOCH", m_epoch);
  }
  TRY(add_inputs(parts, step));
  return parts;
}

Result<KeyParts> StepKeys::device(const DeviceAction& action, const std::string& own_platform) const {
  KeyParts parts{{"format", "sagekit device 3"}};
  add_words(parts, "argv", action.words);
  for (std::size_t i = 0; i + 1 < action.step.argv.size(); ++i)
    if (action.step.argv[i] == "-gencode") parts.emplace_back("gencode", action.step.argv[i + 1]);
  parts.emplace_back("architectures", action.arch_list);
  if (action.platform != own_platform) parts.emplace_back("platform", action.platform);
  for (auto& [name, identity] : m_symbols.device_identities(action.argv, action.platform))
    if (!name.starts_with("python-")) parts.emplace_back(fmt::format("tool {{{}}}", name), std::move(identity));
  parts.emplace_back("names of the source's headers", m_source.header_names);
  TRY(add_inputs(parts, action.step));
  return parts;
}

Status StepKeys::add_inputs(KeyParts& parts, const Step& step) const {
  for (const auto& input : step.inputs) {
    const auto name = "input " + input;
    if (auto made = m_made(input)) {
      parts.emplace_back(name, std::move(*made));
      continue;
    }
    const auto path = m_real_path(input);
    std::error_code error;
    // A whole tree: the source's key covers it. A tool or shim: its identity does.
    if (path.string().starts_with('{') || fs::is_directory(path, error)) {
      parts.emplace_back(name, "");
      continue;
    }
    const auto content = m_files.of(path);
    if (!content)
      return fail(ErrorKind::usage, "SRC008",
                  fmt::format("step {} needs {}, which the source does not have", step.id, input),
                  "check the kernel's sources in the plugin against this revision", step.id);
    parts.emplace_back(name, content->sha256);
  }
  return {};
}

}  // namespace sagekit
