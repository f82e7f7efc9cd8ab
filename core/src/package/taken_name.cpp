// Before a build: is a wheel's name taken by a file that this build cannot make?
#include "archive/wheel_archive.hpp"
#include "spec/arch_names.hpp"
#include "support/format.hpp"
#include "verify/build_provenance.hpp"

#include <sagekit/package.hpp>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// What the wheel says that it was made from; nothing when it does not say.
std::optional<Provenance> said_by(const fs::path& wheel, const Cell& cell) {
  const auto archive = WheelArchive::open(wheel);
  if (!archive) return std::nullopt;
  const auto* member =
      archive->find(fmt::format("{}-{}.dist-info/{}", cell.distribution, cell.version, k_provenance_file));
  const auto text = member == nullptr ? Result<std::string>(std::string()) : archive->read(*member);
  if (!text) return std::nullopt;
  auto provenance = read_provenance(*text);
  if (!provenance) return std::nullopt;
  return std::move(*provenance);
}

/// What of the wheel that is there differs from what the cell would make; "" = nothing that is known before.
std::string difference(const Provenance& there, const Plan& plan, const Cell& cell) {
  const auto other = [](std::string_view what, const std::string& is, const std::string& wanted) {
    return is == wanted ? std::string()
                        : fmt::format("its {} is {}, not {}", what, is.empty() ? "not said" : is, wanted);
  };
  const auto said = said_cell(cell);
  for (const auto& text :
       {other("plugin", there.plugin, plan.plugin_name), other("source", there.commit, plan.commit),
        other("cell", there.cell, said.id), other("Python", there.python, said.python),
        // One for every later torch says its least, and nothing of whose headers it was compiled with.
        other("torch", cell.torch_min.empty() ? there.torch : there.torch_min,
              cell.torch_min.empty() ? cell.torch : cell.torch_min),
        other("CUDA", there.cuda, cell.cuda), other("platform", there.platform, cell.platform),
        other("arch list", arch_names(there.arches.value_or(std::vector<ArchRequest>()), " "),
              arch_names(cell.arches, " "))})
    if (!text.empty()) return text;
  return {};
}

}  // namespace

Status check_wheel_name(const Plan& plan, const Cell& cell, const fs::path& output_folder) {
  const auto path = output_folder / cell.wheel;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return {};
  const auto there = said_by(path, cell);
  const auto why = there ? difference(*there, plan, cell) : std::string("it does not say that sagekit made it");
  if (why.empty()) return {};
  return fail(
      ErrorKind::failed, "PKG001", fmt::format("{} is there already and is another wheel: {}", path.string(), why),
      "two different wheels must not have one name: move the old one away, or choose another -o or --naming", cell.id);
}

}  // namespace sagekit
