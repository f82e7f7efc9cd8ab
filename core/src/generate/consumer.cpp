// What people write down who use a finished release: requirements with hashes, uv's sources, lines of a Dockerfile.
#include "generate/kinds.hpp"
#include "generate/quote.hpp"
#include "release/origin.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/release.hpp>
#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

/// "torch28-cu129": wheels of one of these differ only in what markers can say.
std::string group_of(const ReleasedWheel& wheel) {
  std::vector<std::string> parts;
  const auto& origin = wheel.origin;
  const auto torch = parse_version_number(origin.torch.empty() ? origin.torch_min : origin.torch);
  if (torch) parts.push_back(fmt::format("torch{}{}", torch->major(), torch->minor()));
  if (!origin.cuda.empty()) parts.push_back("cu" + without_dots(origin.cuda));
  return target_name(parts.empty() ? "any" : join(parts, "-"));
}

/// PEP 508 markers of the wheel's Python and platform; "" = it is for all.
std::string marker_of(const ReleasedWheel& wheel, char quote) {
  std::vector<std::string> terms;
  const auto term = [&](std::string_view name, std::string_view value) {
    terms.push_back(fmt::format("{0} == {2}{1}{2}", name, value, quote));
  };
  if (!wheel.origin.python.empty() && wheel.file.find("-py3-none-") == std::string::npos &&
      wheel.file.find("-abi3-") == std::string::npos)
    term("python_version", wheel.origin.python);
  const auto& platform = wheel.origin.platform;
  if (platform.starts_with("linux_")) term("sys_platform", "linux"), term("platform_machine", platform.substr(6));
  if (platform == "win_amd64") term("sys_platform", "win32");
  return join(terms, " and ");
}

using Wheels = std::vector<const ReleasedWheel*>;

/// Two of them for one marker, by name; "" = there are none.
std::string two_for_one_marker(const Wheels& wheels) {
  std::map<std::string, std::string> files;
  for (const auto* wheel : wheels)
    if (const auto [there, is_new] = files.emplace(marker_of(*wheel, '"'), wheel->file); !is_new)
      return fmt::format("{} and {}", there->second, wheel->file);
  return "";
}

/// "sm80-sm90a"
std::string arches_word(const ReleasedWheel& wheel) {
  std::vector<std::string> words;
  for (const auto& arch : wheel.origin.arches) words.push_back("sm" + without_dots(arch));
  return target_name(words.empty() ? "any" : join(words, "-"));
}

/// No marker can say a GPU: where two wheels differ in their arches alone, each arch set is a group.
Result<std::map<std::string, Wheels>> grouped(const Wheels& wheels, std::string_view origin) {
  std::map<std::string, Wheels> whole, groups;
  for (const auto* wheel : wheels) whole[group_of(*wheel)].push_back(wheel);
  for (const auto& [name, members] : whole) {
    const bool divided = !two_for_one_marker(members).empty();
    for (const auto* wheel : members)
      groups[divided ? fmt::format("{}-{}", name, arches_word(*wheel)) : name].push_back(wheel);
  }
  for (const auto& [name, members] : groups)
    if (const auto two = two_for_one_marker(members); !two.empty())
      return fail(ErrorKind::usage, "GEN008",
                  fmt::format("{} are for the same torch, CUDA, Python, system and GPUs: pip would refuse both", two),
                  "make a release of one of them", std::string(origin));
  return groups;
}

using ParseVersion = Result<std::string> (*)(std::string_view);

/// Is one of the words what `fits` takes? No words choose everything.
bool wants(const std::vector<std::string>& words, ParseVersion parse, const auto& fits) {
  return words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
           const auto version = parse(word);
           return fits(version ? *version : word);
         });
}

/// A word may say less than the wheel ("2.11" of "2.11.0"), and a wheel that does not say its Python or platform is for
/// any: as `coverage` has it.
bool selected(const Request& request, const ReleasedWheel& wheel) {
  const auto& origin = wheel.origin;
  const auto& torch = origin.torch.empty() ? origin.torch_min : origin.torch;
  return wants(request.torches, parse_torch_version,
               [&](const std::string& word) { return says_same(word, torch) || is_for_torch(origin, word); }) &&
         wants(request.cudas, parse_cuda_version,
               [&](const std::string& word) { return says_same(word, origin.cuda) || says_same(origin.cuda, word); }) &&
         wants(request.pythons, parse_python_version,
               [&](const std::string& word) { return is_for_python(wheel, word); }) &&
         (request.platforms.empty() || origin.platform.empty() ||
          std::ranges::count(request.platforms, origin.platform) > 0);
}

Status check_address(const ReleasedWheel& wheel, std::string_view origin) {
  TRY(check_word("the address", wheel.url));
  const bool web = wheel.url.starts_with("https://") || wheel.url.starts_with("http://");
  const auto host = wheel.url.substr(0, wheel.url.find('/', 8));
  if (web && host.find('@') == std::string::npos && wheel.url.find_first_of(" '\"\\`<>") == std::string::npos)
    return {};
  return fail(
      ErrorKind::usage, "GEN008",
      wheel.url.empty()
          ? fmt::format("{} says no address for {}", origin, wheel.file)
          : fmt::format("{} has an address for {} that cannot be written down for others", origin, wheel.file),
      "sagekit release DIR --base-url https://... writes them, without user names; for a wheel that lies beside "
      "the Dockerfile: sagekit install --from DIR --dockerfile",
      std::string(origin));
}

}  // namespace

Result<Generated> generate_consumer(const std::vector<PlannedVariant>& variants, const GenerateOptions& options) {
  const auto& variant = variants.front();
  if (options.release.empty())
    return fail(ErrorKind::usage, "GEN008", "consumer is about a finished release, and none was given",
                "--release sagekit.release.json");
  TRY_ASSIGN(const auto release, read_release(options.release, options.release_origin));
  Wheels chosen;
  for (const auto& wheel : release.wheels) {
    if (!selected(variant.request, wheel)) continue;
    if (wheel.verdict == WheelVerdict::fail) continue;
    TRY(check_address(wheel, options.release_origin));
    chosen.push_back(&wheel);
  }
  if (chosen.empty())
    return fail(ErrorKind::no_match, "GEN002",
                fmt::format("{} has no wheel of that selection that passes", options.release_origin),
                "sagekit report shows them");
  TRY_ASSIGN(const auto groups, grouped(chosen, options.release_origin));

  Generated made;
  for (const auto& [group, wheels] : groups) {
    std::string requirements = fmt::format(
        "# python -m pip install --no-deps --require-hashes -r requirements-{0}.txt\n"
        "# uv pip install --no-deps --require-hashes -r requirements-{0}.txt\n",
        group);
    std::string sources = "# For pyproject.toml.\n[tool.uv.sources]\n" + toml_text(wheels.front()->project) + " = [\n";
    for (const auto* wheel : wheels) {
      const auto marker = marker_of(*wheel, '"');
      requirements += fmt::format("{} @ {}{} --hash=sha256:{}\n", wheel->project, wheel->url,
                                  marker.empty() ? "" : " ; " + marker, wheel->sha256);
      sources += fmt::format("  {{ url = {}{} }},\n", toml_text(wheel->url),
                             marker.empty() ? "" : ", marker = " + toml_text(marker_of(*wheel, '\'')));
    }
    made.files.push_back({fmt::format("requirements-{}.txt", group), requirements, false});
    made.files.push_back({fmt::format("uv-sources-{}.toml", group), sources + "]\n", false});
  }
  const auto companions = companion_requirements(*variant.spec);
  std::string text =
      "# docker build -f Dockerfile.consumer --build-arg BASE=... --build-arg WHEELS=... .\n"
      "ARG BASE=python:3.12-slim-bookworm\nFROM ${BASE}\n";
  text += fmt::format("ARG WHEELS={}\n", dockerfile_text(groups.rbegin()->first));
  text += "COPY requirements-*.txt /tmp/\n";
  // Before the wheel, and the wheel without dependencies: neither may bring another torch than the image's.
  if (!companions.empty())
    text += fmt::format("RUN --mount=type=cache,target=/root/.cache/pip \\\n    python3 -m pip install --no-deps {}\n",
                        shell_line(companions));
  text +=
      "RUN --mount=type=cache,target=/root/.cache/pip \\\n"
      "    python3 -m pip install --no-deps --require-hashes -r \"/tmp/requirements-${WHEELS}.txt\"\n";
  made.files.push_back({"Dockerfile.consumer", text, false});
  note_companions(*variant.spec, made.notes);
  return made;
}

}  // namespace sagekit
