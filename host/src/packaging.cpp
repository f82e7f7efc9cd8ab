#include "packaging.hpp"

#include "render/text.hpp"
#include "render/wheel_report.hpp"

#include <fmt/format.h>

namespace sagekit::host {

namespace {

constexpr std::string_view k_more = "sagekit verify --all";

}  // namespace

StepFailure not_packaged(const std::string& cell, const Error& error) {
  StepFailure failure;
  failure.cell = cell;
  failure.step = "package";
  failure.exit_code = exit_code(error.kind);
  failure.cause = error.message;
  return failure;
}

StepFailure taken_name(const Session& session, const std::string& cell, const Error& error) {
  session.console.show(error);
  auto failure = not_packaged(cell, error);
  failure.cause = fmt::format("{} {}", error.code, error.message);
  return failure;
}

Result<Packaging> package_cells(const Session& session, const Plugin& plugin, const std::vector<CellBuild>& builds,
                                const PackageOptions& options) {
  Packaging result;
  const Console& console = session.console;
  for (const auto& build : builds) {
    auto wheel = package_build(build, plugin, options, *session.runner);
    if (!wheel && wheel.error().code == "PKG001") {
      result.failed.push_back(taken_name(session, build.cell.id, wheel.error()));
      continue;
    }
    if (!wheel) return std::unexpected(wheel.error());
    if (!*wheel) {
      console.say(fmt::format("{} {}\n{}", console.red("refused"), build.cell.id,
                              wheel_report_text(console, wheel->error(), k_more, terminal_width())));
      result.refused.push_back({build.cell.id, wheel->error()});
      continue;
    }
    const PackagedWheel& made = **wheel;
    console.say(fmt::format("{} {} ({}{})\n{}", console.green("wheel"), made.path.string(),
                            human_bytes(made.size_bytes), made.unchanged ? ", was there already" : "",
                            wheel_report_text(console, made.report, k_more, terminal_width())));
    result.wheels.push_back(made);
  }
  return result;
}

}  // namespace sagekit::host
