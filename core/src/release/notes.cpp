#include "pypa/release_text.hpp"
#include "release/origin.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/publish.hpp>
#include <sagekit/version_number.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sagekit {

namespace {

std::string size_text(std::uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  return bytes < 100'000 ? fmt::format("{:.1f} kB", size / 1e3) : fmt::format("{:.1f} MB", size / 1e6);
}

/// Foreign text in a table's cell: nothing of it is Markdown or HTML.
std::string cell_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("|<>[]`*_\\").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out.empty() ? "any" : out;
}

/// "8.0, 9.0, 12.0 (PTX)": where it runs.
std::string gpus_of(const ReleasedWheel& wheel) {
  std::string text;
  for (const auto& row : wheel.runs_on)
    if (row.verdict == RunVerdict::yes || row.verdict == RunVerdict::jit)
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", to_string(row.capability),
                          row.verdict == RunVerdict::jit ? " (PTX)" : "");
  return text.empty() ? "not known" : text;
}

/// Lines of the build record that are about tools, each once.
std::set<std::string> tools_of(const Release& release) {
  std::set<std::string> tools;
  for (const auto& wheel : release.wheels)
    for (const auto& line : wheel.origin.tools)
      if (const auto at = line.find(" identity "); at != std::string::npos) tools.insert(line.substr(0, at));
  return tools;
}

/// What pip takes: the address with its hash, or the file beside the notes.
std::string install_word(const ReleasedWheel& wheel) {
  if (wheel.url.empty()) return "./" + (wheel.path.empty() ? wheel.file : wheel.path);
  return fmt::format("\"{}#sha256={}\"", wheel.url, wheel.sha256);
}

std::string python_word(const ReleasedWheel& wheel) {
  const auto python = served_pythons(wheel);
  return python.least.empty() ? cell_text(python.only) : cell_text(python.least) + " and newer";
}

/// Where nothing says it: "any" is a promise.
std::string unsaid(const ReleasedWheel& wheel) { return says_all(wheel) ? "any" : "not said"; }

std::string torch_word(const ReleasedWheel& wheel) {
  const auto& origin = wheel.origin;
  if (!origin.torch_min.empty()) return cell_text(origin.torch_min) + " and newer";
  const auto& torch = origin.torch.empty() ? origin.requires_torch : origin.torch;
  return torch.empty() ? unsaid(wheel) : cell_text(torch);
}

std::string cuda_word(const ReleasedWheel& wheel) {
  return wheel.origin.cuda.empty() ? unsaid(wheel) : cell_text(wheel.origin.cuda);
}

/// As people look for theirs: by torch, CUDA and Python, each as a version.
std::vector<const ReleasedWheel*> in_order(const Release& release) {
  std::vector<const ReleasedWheel*> wheels;
  for (const auto& wheel : release.wheels) wheels.push_back(&wheel);
  const auto words = [](const ReleasedWheel& wheel) {
    const auto& origin = wheel.origin;
    return std::array{origin.torch_min.empty() ? origin.torch : origin.torch_min, origin.cuda, python_word(wheel)};
  };
  std::ranges::stable_sort(wheels, [&](const ReleasedWheel* a, const ReleasedWheel* b) {
    return std::ranges::lexicographical_compare(words(*a), words(*b), version_less);
  });
  return wheels;
}

std::string public_version(const ReleasedWheel& wheel) { return wheel.version.substr(0, wheel.version.find('+')); }

}  // namespace

Status check_tag(const Release& release, const std::string& tag, const std::vector<std::string>& plugins) {
  std::set<std::string> versions;
  for (const auto& wheel : release.wheels) versions.insert(public_version(wheel));
  const std::string right = "v" + *versions.begin() + (release.plugin.empty() ? "" : "-" + release.plugin);
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::usage, "PUB003", fmt::format("the tag {} is not one for this release: {}", tag, why),
                fmt::format("for example --tag {}", right), tag);
  };
  if (versions.size() > 1) return refuse(fmt::format("its wheels have the versions {}", fmt::join(versions, ", ")));
  const std::string start = "v" + *versions.begin();
  const auto rest = tag.starts_with(start) ? std::string_view(tag).substr(start.size()) : std::string_view();
  if (!tag.starts_with(start) || (!rest.empty() && rest[0] != '-' && rest[0] != '+' && !rest.starts_with(".post")))
    return refuse(rest.empty() ? fmt::format("it does not begin with {}", start)
                               : fmt::format("{} makes it another version's than {}", rest, start));
  if (tag.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_") != std::string::npos)
    return refuse("it has characters that no tag should have");
  for (const auto& plugin : plugins)
    if (plugin != release.plugin && rest == "-" + plugin) return refuse(fmt::format("{} is another plugin's", rest));
  return {};
}

std::string release_notes(const Release& release) {
  std::string text =
      "Which wheel do I take? `torch`, CUDA, Python and the GPU must be yours. GPUs stand by their compute capability "
      "(`nvidia-smi --query-gpu=name,compute_cap --format=csv`); PTX: the driver compiles it at the first call.\n\n"
      "| torch | CUDA | Python | system | GPU | size | install |\n|---|---|---|---|---|---|---|\n";
  const auto out = std::back_inserter(text);
  for (const auto* one : in_order(release)) {
    const auto& wheel = *one;
    fmt::format_to(out, "| {} | {} | {} | {} | {} | {} | `pip install {}` |\n", torch_word(wheel), cuda_word(wheel),
                   python_word(wheel), cell_text(wheel.origin.platform), gpus_of(wheel), size_text(wheel.size_bytes),
                   install_word(wheel));
  }
  text += "\n`sagekit verify FILE.whl` says of each wheel where it runs, with reasons.\n\n### How it was built\n\n";
  std::map<std::string, std::set<std::string>> sources;  // with the commits of each
  std::set<std::string> edits;
  for (const auto& wheel : release.wheels) {
    const auto& url = wheel.origin.source_url.empty() ? release.source_url : wheel.origin.source_url;
    if (!wheel.origin.commit.empty()) sources[url].insert(wheel.origin.commit);
    edits.insert(wheel.origin.edits.begin(), wheel.origin.edits.end());
  }
  for (const auto& [url, commits] : sources)
    fmt::format_to(out, "- source {} at {}\n", url.empty() ? "not known" : cell_text(url), fmt::join(commits, ", "));
  if (!edits.empty()) fmt::format_to(out, "- edits to it: {}\n", fmt::join(edits, ", "));
  for (const auto& tool : tools_of(release)) fmt::format_to(out, "- {}\n", cell_text(tool));
  fmt::format_to(
      out,
      "- `{}` has all of this for programs, `{}` the checksums (`sha256sum -c`), `{}` an in-toto statement to "
      "sign{}\n",
      k_manifest_file, k_checksums_file, k_statement_file,
      // Only sagekit's own are known to have one.
      std::ranges::all_of(release.wheels, [](const ReleasedWheel& wheel) { return !wheel.origin.tools.empty(); })
          ? "; each wheel has its own bill of materials"
          : "");
  return text;
}

}  // namespace sagekit
