// cibuildwheel's configuration for the source distribution of `generate sdist`: a file for each torch and CUDA, for an
// identifier of cibuildwheel says Python and platform alone.
#include "generate/kinds.hpp"
#include "generate/quote.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

/// "cp312-manylinux_x86_64"; "" = it has none.
std::string identifier_of(const Cell& cell) {
  const auto python = "cp" + without_dots(cell.python);
  if (cell.platform == "linux_x86_64") return python + "-manylinux_x86_64";
  if (cell.platform == "linux_aarch64") return python + "-manylinux_aarch64";
  if (cell.platform == "win_amd64") return python + "-win_amd64";
  return "";
}

std::string file_of_group(const Cell& cell) {
  const auto torch = parse_version_number(cell.torch);
  const auto part = torch ? fmt::format("-torch{}{}", torch->major(), torch->minor()) : std::string();
  return fmt::format("cibuildwheel{}-cu{}.toml", part, without_dots(cell.cuda));
}

/// The plan's: a builder with a GPU would build for that one else.
std::string arches_of(const Cell& cell) {
  std::vector<std::string> words;
  for (const auto& arch : cell.arches) words.push_back(to_string(arch));
  return join(words, ";");
}

}  // namespace

Result<Generated> generate_cibuildwheel(const std::vector<PlannedVariant>& variants, const GenerateOptions&) {
  const auto& variant = variants.front();
  if (!variant.request.overrides.empty())
    return fail(ErrorKind::usage, "GEN003",
                "cibuildwheel's files cannot hold [[overrides]]: their settings are for all cells of a file",
                "give what all cells take with --arch and --naming, and --config a sagekit.toml without [[overrides]]");
  if (variant.request.backend != Backend::direct)
    return fail(
        ErrorKind::usage, "GEN003",
        fmt::format("cibuildwheel's files cannot hold --backend {}: a source distribution is built by sagekit's "
                    "own steps",
                    to_string(variant.request.backend)),
        "leave --backend out");
  const auto& naming = variant.request.naming;
  if (std::ranges::find(variant.request.schemes, naming, &NamingScheme::name) != variant.request.schemes.end())
    return fail(ErrorKind::usage, "GEN003",
                fmt::format("cibuildwheel's files cannot hold [[scheme]]: there is no \"{}\" where the source "
                            "distribution is built",
                            naming),
                "--naming with one of the plugin's or the built-in schemes; sagekit retag --naming renames the wheels");
  std::map<std::string, std::vector<const Cell*>> groups;
  for (const auto& cell : variant.plan.cells) groups[file_of_group(cell)].push_back(&cell);
  Generated made;
  for (const auto& [file, cells] : groups) {
    std::vector<std::string> identifiers, settings{"cuda=" + cells.front()->cuda};
    for (const auto* cell : cells)
      if (const auto identifier = identifier_of(*cell); !identifier.empty() && !contains(identifiers, identifier))
        identifiers.push_back(toml_text(identifier));
    if (!cells.front()->torch.empty()) settings.push_back("torch=" + cells.front()->torch);
    const auto& asked = variant.request.arches;
    if (const auto arches = asked.empty() ? arches_of(*cells.front()) : asked; !arches.empty())
      settings.push_back("arch=" + arches);
    if (!naming.empty()) settings.push_back("naming=" + naming);
    for (const auto& defect : variant.request.allowed_defects) settings.push_back("allow-defect=" + defect);
    std::vector<std::string> quoted;
    for (const auto& setting : settings) quoted.push_back(shell_text(setting));
    made.files.push_back(
        {file,
         fmt::format("# cibuildwheel --config-file {} {}-*.tar.gz   (the file that generate sdist makes)\n"
                     "[tool.cibuildwheel]\n"
                     "build = [{}]\n"
                     "build-frontend = \"build\"\n"
                     "config-settings = {}\n"
                     "manylinux-x86_64-image = \"manylinux_2_28\"\n"
                     "manylinux-aarch64-image = \"manylinux_2_28\"\n"
                     "# sagekit has judged the wheel; a repair would put torch's libraries into it.\n"
                     "repair-wheel-command = \"\"\n",
                     file, target_name(variant.spec->metadata.name), join(identifiers, ", "),
                     toml_text(join(quoted, " "))),
         false});
  }
  return made;
}

}  // namespace sagekit
