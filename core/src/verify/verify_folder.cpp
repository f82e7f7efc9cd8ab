#include "inspect/package_folder.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/judge.hpp"

#include <sagekit/verify.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr double k_worker_seconds = 60;

// Isolated, so that neither the current folder nor PYTHON* variables add places; the user's own comes last.
constexpr std::string_view k_places_script =
    "import site, sys\n"
    "for p in [*sys.path, site.getusersitepackages()]:\n"
    "    if p: sys.stdout.buffer.write(p.encode('utf-8', 'surrogateescape') + b'\\n')\n";

/// A direct_url.json (PEP 610) or a hook of setuptools says that the files lie elsewhere.
std::string work_tree(const Artifact& artifact) {
  const auto path = artifact.wheel->dist_info + "/direct_url.json";
  if (artifact.find(path) != nullptr) {
    const auto text = artifact.read(path);
    const Json json = parse_json(text ? *text : std::string());
    const auto info = json.is_object() ? json.find("dir_info") : json.end();
    if (json.is_object() && info != json.end() && info->is_object() && info->contains("editable") &&
        (*info)["editable"] == true)
      return json.contains("url") && json["url"].is_string() ? json["url"].get<std::string>() : "a work tree";
  }
  const auto hook = std::ranges::find_if(
      artifact.members, [](const MemberFacts& member) { return member.path.starts_with("__editable__"); });
  return hook == artifact.members.end() ? "" : hook->path;
}

void check_installed(const Artifact& artifact, FindingList& findings) {
  if (artifact.kind != ArtifactKind::installed) return;
  if (const auto tree = work_tree(artifact); !tree.empty())
    findings.broken("TRU006", fmt::format("it is an editable install: its files lie in {} and were not judged", tree),
                    {}, "judge the wheel that is made from that tree, or install it without -e");
  findings.done("TRU006");
}

/// A folder has no archive and no file name: what is about them is not judged, and so does not pass.
void skip_archive(const Artifact& artifact, FindingList& findings) {
  findings.skipped("ZIP100", "it is a folder, not an archive");
  if (artifact.wheel == nullptr) findings.skipped("INF100", "the folder has no dist-info");
}

ArtifactKind kind_of(const PackageFolder& package) {
  switch (package.kind) {
    case PackageFolder::Kind::unpacked: return ArtifactKind::unpacked;
    case PackageFolder::Kind::installed: return ArtifactKind::installed;
    case PackageFolder::Kind::plain: return ArtifactKind::folder;
  }
  return ArtifactKind::folder;
}

Result<WheelReport> judge_package(const PackageFolder& package, const std::vector<const Plugin*>& plugins,
                                  const VerifyOptions& options, CommandRunner& runner) {
  TRY_ASSIGN(auto reading, read_package(package, reading_options(options)));
  const bool whole = package.kind != PackageFolder::Kind::plain;
  const auto name = whole ? package.dist_info : package.root.filename().string();
  TRY_ASSIGN(auto policy, effective_policy(options, reading.wheel.generator, name));
  FindingList findings(std::move(policy));
  if (whole)
    findings.read_dist_info(reading.wheel, name);
  else
    findings.read_problems(reading.wheel.problems, name);

  Artifact artifact;
  artifact.kind = kind_of(package);
  artifact.root = package.root;
  artifact.name = reading.wheel.name;
  artifact.members = std::move(reading.members);
  if (whole) artifact.wheel = &reading.wheel;
  artifact.read = [&package](const std::string& path) { return read_file(package.root / path); };
  skip_archive(artifact, findings);
  prepare(artifact, plugins, nullptr, options.schemes, findings);
  check_installed(artifact, findings);
  const auto path = package.kind == PackageFolder::Kind::installed ? package.root / package.dist_info : package.root;
  return judge(artifact, std::move(findings), options, runner, path.string(), {});
}

}  // namespace

Result<std::vector<WheelReport>> verify_folder(const fs::path& folder, const FolderChoice& choice,
                                               const std::vector<const Plugin*>& plugins, const VerifyOptions& options,
                                               CommandRunner& runner) {
  return exceptions_as_errors(folder, [&]() -> Result<std::vector<WheelReport>> {
    TRY_ASSIGN(const auto packages, find_packages(folder, choice.packages));
    std::vector<WheelReport> reports;
    for (const auto& package : packages) {
      TRY_ASSIGN(auto report, judge_package(package, plugins, options, runner));
      reports.push_back(std::move(report));
    }
    return reports;
  });
}

Result<std::vector<fs::path>> package_folders(const fs::path& interpreter,
                                              const std::map<std::string, std::string>& environment,
                                              CommandRunner& runner) {
  Command command;
  command.argv = {interpreter.string(), "-I", "-c", std::string(k_places_script)};
  command.environment = environment;
  command.timeout_seconds = k_worker_seconds;
  command.separate_stderr = true;
  const auto said = runner.run(command);
  if (!said && said.error().kind == ErrorKind::interrupted) return std::unexpected(said.error());
  if (!said || !said->ok())
    return fail(ErrorKind::usage, "VFY006",
                fmt::format("{} does not say where its packages are{}", interpreter.string(),
                            said ? "" : ": " + said.error().message),
                "name a Python that starts", interpreter.string());
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& line : split(said->output, '\n'))
    if (!line.empty() && fs::is_directory(line, error) && std::ranges::count(folders, fs::path(line)) == 0)
      folders.emplace_back(line);
  return folders;
}

}  // namespace sagekit
