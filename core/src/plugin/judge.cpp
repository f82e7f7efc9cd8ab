#include "plugin/judge.hpp"

#include "support/format.hpp"

#include <algorithm>
#include <exception>
#include <map>

namespace sagekit {

namespace {

sagekit_str view(const std::string& text) { return {text.data(), text.size()}; }

std::vector<sagekit_str> views(const std::vector<std::string>& texts) {
  std::vector<sagekit_str> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.push_back(view(text));
  return out;
}

sagekit_gpu_code as_c(const GpuCode& code) {
  sagekit_gpu_code out{};
  out.capability = static_cast<std::uint32_t>(10 * code.arch.capability.major + code.arch.capability.minor);
  out.suffix = static_cast<char>(code.arch.suffix);
  out.is_ptx = code.ptx ? 1 : 0;
  out.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(code.count, UINT32_MAX));
  out.bytes = code.bytes;
  return out;
}

/// The arrays that one sagekit_module points into.
struct ModuleArrays {
  explicit ModuleArrays(const JudgedModule& module)
      : needed(views(module.needed)), exports(views(module.exports)), undefined(views(module.undefined)) {
    std::ranges::transform(module.gpu, std::back_inserter(gpu), as_c);
  }
  sagekit_module as_c_module(const JudgedModule& module) const {
    return {sizeof(sagekit_module),
            0,
            view(module.name),
            view(module.path),
            needed.data(),
            needed.size(),
            exports.data(),
            exports.size(),
            undefined.data(),
            undefined.size(),
            gpu.data(),
            gpu.size()};
  }
  std::vector<sagekit_str> needed, exports, undefined;
  std::vector<sagekit_gpu_code> gpu;
};

/// Texts handed to the judge; they live as long as its call.
struct FileTexts {
  const JudgedArtifact& artifact;
  std::map<std::string, std::optional<std::string>, std::less<>> texts;

  // Called by the plugin: nothing may be thrown through its frames.
  static sagekit_str read(void* context, sagekit_str path) noexcept try {
    auto& self = *static_cast<FileTexts*>(context);
    if (path.data == nullptr || !self.artifact.read_file) return {nullptr, 0};
    const std::string name(path.data, path.size);
    auto found = self.texts.find(name);
    if (found == self.texts.end()) found = self.texts.emplace(name, self.artifact.read_file(name)).first;
    return found->second ? view(*found->second) : sagekit_str{nullptr, 0};
  } catch (...) {
    return {nullptr, 0};
  }
};

// Cut at a UTF-8 boundary; what a terminal could take for a command becomes a blank.
std::string bounded(sagekit_str text, std::size_t most) {
  if (text.data == nullptr) return {};
  std::size_t size = std::min(text.size, most);
  if (size < text.size) {
    while (size > 0 && (static_cast<unsigned char>(text.data[size]) & 0xC0) == 0x80) --size;
  }
  std::string out(text.data, size);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

struct Findings {
  std::vector<PluginFinding> list;
  bool flooded = false;

  static void add(void* context, std::int32_t severity, sagekit_str code, sagekit_str message,
                  sagekit_str where) noexcept try {
    auto& self = *static_cast<Findings*>(context);
    if (self.list.size() >= k_most_findings) {
      self.flooded = true;
      return;
    }
    const Severity level = severity == SAGEKIT_WARNING ? Severity::warning
                           : severity == SAGEKIT_NOTE  ? Severity::note
                                                       : Severity::error;
    self.list.push_back({level, bounded(code, k_most_code_bytes), bounded(message, k_most_text_bytes),
                         bounded(where, k_most_text_bytes)});
  } catch (...) {
    static_cast<Findings*>(context)->flooded = true;  // no memory: what is lost must not look like a pass
  }
};

}  // namespace

bool is_finding_code(std::string_view code) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto is_inner = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !code.empty() && code.size() <= k_most_code_bytes && is_letter(code.front()) &&
         std::ranges::all_of(code, is_inner);
}

std::vector<PluginFinding> run_judge(sagekit_verify_fn verify, const JudgedArtifact& artifact) {
  if (verify == nullptr) return {};
  const std::vector<ModuleArrays> arrays(artifact.modules.begin(), artifact.modules.end());
  std::vector<sagekit_module> modules;
  for (std::size_t i = 0; i < arrays.size(); ++i) modules.push_back(arrays[i].as_c_module(artifact.modules[i]));
  const std::vector<sagekit_str> files = views(artifact.files);
  FileTexts texts{artifact, {}};
  const sagekit_artifact facts{sizeof(sagekit_artifact),
                               0,
                               view(artifact.distribution),
                               view(artifact.version),
                               view(artifact.python),
                               view(artifact.torch),
                               view(artifact.cuda),
                               view(artifact.platform),
                               modules.data(),
                               modules.size(),
                               files.data(),
                               files.size(),
                               &FileTexts::read,
                               &texts};
  Findings findings;
  const sagekit_report report{sizeof(sagekit_report), 0, &findings, &Findings::add};

  std::string thrown;
  try {
    verify(&facts, &report);
  } catch (const std::exception& error) {
    thrown = fmt::format("the judge threw: {}", error.what());
  } catch (...) {
    thrown = "the judge threw something that is not a std::exception";
  }
  if (!thrown.empty()) findings.list.push_back({Severity::error, "rule-threw", std::move(thrown), ""});
  if (findings.flooded) {
    findings.list.push_back({Severity::error, "rule-floods",
                             fmt::format("the judge reported more than {} findings; the rest is lost", k_most_findings),
                             ""});
  }
  return std::move(findings.list);
}

std::vector<PluginFinding> run_judge(const Plugin& plugin, const JudgedArtifact& artifact) {
  return run_judge(plugin.descriptor().verify, artifact);
}

}  // namespace sagekit
