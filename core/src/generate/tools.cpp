#include "generate/tools.hpp"

#include "generate/quote.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"
#include "support/try.hpp"

#include <sagekit/nearest.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

extern const std::string_view k_generate_tools_toml;  // written at build time by cmake/EmbedText.cmake

namespace {

BaseImage read_image(TomlTable& row) {
  BaseImage image{row.required_string("family"), row.required_string("image"), {}, {}, false};
  if (const auto text = row.string("cuda")) {
    if (auto range = parse_version_range(*text))
      image.cuda = std::move(*range);
    else
      row.error("cuda", range.error().code, range.error().message);
  }
  image.python = row.string("python").value_or("");
  image.automatic = row.boolean("auto").value_or(false);
  row.finish_sourced();
  return image;
}

GenerateTools read_tools() {
  GenerateTools tools;
  const auto document = TomlDocument::parse(k_generate_tools_toml, "core/data/generate/tools.toml", "SPEC");
  auto root = document.root();
  for (auto& row : root.tables("image")) tools.images.push_back(read_image(row));
  if (auto table = root.table("python_headers")) {
    tools.header_image = table->required_string("image");
    tools.header_folder = table->required_string("folder");
    table->finish_sourced();
  }
  if (auto table = root.table("packages")) {
    tools.build_packages = table->required_strings("build");
    table->finish_sourced();
  }
  for (auto& row : root.tables("cross")) {
    tools.cross.push_back({row.required_string("platform"), row.required_strings("packages"),
                           row.boolean("static_runtime").value_or(false)});
    row.finish_sourced();
  }
  if (auto table = root.table("setup_py")) {
    tools.setup_py_requirements = table->required_strings("requirements");
    tools.setup_py_torch = table->required_string("torch");
    tools.toolkits = table->required_strings("toolkits");
    table->finish_sourced();
  }
  if (auto table = root.table("runners")) {
    tools.linux_runner = table->required_string("linux");
    tools.windows_runner = table->required_string("windows");
    table->finish_sourced();
  }
  for (auto& row : root.tables("action")) {
    const auto name = row.required_string("name");
    const auto uses = row.required_string("uses"), commit = row.required_string("commit");
    tools.actions[name] = fmt::format("{}@{} # {}", uses, commit, row.required_string("tag"));
    row.finish();
  }
  root.finish();
  tools.problems = document.diagnostics();
  return tools;
}

bool is_for(const BaseImage& image, const Cell& cell) {
  if (!image.python.empty() && image.python != cell.python) return false;
  const auto cuda = parse_version_number(cell.cuda);
  return image.cuda.terms.empty() || (cuda && image.cuda.contains(*cuda));
}

bool is_family(std::string_view base) {
  return base == "auto" ||
         std::ranges::any_of(generate_tools().images, [&](const BaseImage& image) { return image.family == base; });
}

}  // namespace

const GenerateTools& generate_tools() {
  static const GenerateTools k_tools = read_tools();
  return k_tools;
}

const CrossPlatform* cross_platform(std::string_view platform) {
  const auto& rows = generate_tools().cross;
  const auto found = std::ranges::find(rows, platform, &CrossPlatform::platform);
  return found == rows.end() ? nullptr : &*found;
}

Result<ImageChoice> ImageChoice::make(std::string_view base, const std::vector<std::string>& pins) {
  ImageChoice choice;
  choice.m_base = base;
  const bool word = base.find_first_of(":/.") == base.npos;
  const bool writable = std::ranges::all_of(base, [](char c) {
    return is_letter_or_digit(c) || std::string_view("._-/:@").find(c) != std::string_view::npos;
  });
  if (base.empty() || (word && !is_family(base)) || !writable) {
    std::set<std::string> families{"auto"};
    for (const auto& image : generate_tools().images) families.insert(image.family);
    return fail(ErrorKind::usage, "GEN006",
                fmt::format("--base {} is no image and no family of images", yaml_text(base)),
                fmt::format("{}; or an image with its tag: debian:12-slim",
                            suggestion(base, {families.begin(), families.end()})));
  }
  for (const auto& pin : pins) {
    const auto at = pin.rfind("@sha256:");
    const auto hex = at == pin.npos ? std::string_view{} : std::string_view(pin).substr(at + 8);
    if (at == 0 || !is_sha256(hex))
      return fail(ErrorKind::usage, "GEN006", fmt::format("--pin {} is not IMAGE@sha256:HEX", yaml_text(pin)),
                  "docker buildx imagetools inspect IMAGE prints the digest");
    choice.m_digests[pin.substr(0, at)] = pin.substr(at);
  }
  return choice;
}

Result<std::string> ImageChoice::for_cell(const Cell& cell) const {
  if (!is_family(m_base)) return pinned(m_base);
  std::vector<std::string> has;
  for (const auto& image : generate_tools().images) {
    if (m_base == "auto" ? !image.automatic : image.family != m_base) continue;
    if (is_for(image, cell)) return pinned(image.image);
    has.push_back(image.image);
  }
  return fail(
      ErrorKind::usage, "GEN006",
      fmt::format("--base {} has no image for {}: Python {}, CUDA {}", m_base, cell.id, cell.python, cell.cuda),
      fmt::format("it has {}; name one with --base IMAGE, or narrow with --cuda and --python", fmt::join(has, ", ")));
}

std::string ImageChoice::headers(std::string_view python) const {
  return pinned(replace_all(generate_tools().header_image, "{python}", python));
}

std::string ImageChoice::pinned(const std::string& image) const {
  const auto digest = m_digests.find(image);
  if (digest == m_digests.end()) return image;
  m_used[image] = true;
  return image + digest->second;
}

Status ImageChoice::all_pins_used() const {
  for (const auto& [image, digest] : m_digests)
    if (!m_used.contains(image))
      return fail(ErrorKind::usage, "GEN006", fmt::format("--pin {}{}: no file names that image", image, digest),
                  "run it without --pin to see the images");
  return {};
}

}  // namespace sagekit
