#include "index/curl_client.hpp"
#include "index/remote_file.hpp"
#include "install/installed_packages.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/install.hpp>
#include <sagekit/provision.hpp>
#include <sagekit/shell_word.hpp>

#include <unistd.h>

#include <algorithm>
#include <tuple>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

fs::path find_program(const std::vector<fs::path>& path, const char* name) {
  for (const auto& folder : path)
    if (!folder.empty() && ::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return {};
}

bool has_pip(const std::vector<fs::path>& folders) {
  std::error_code error;
  return std::ranges::any_of(folders, [&](const fs::path& one) { return fs::exists(one / "pip/__init__.py", error); });
}

std::unexpected<Error> other_file(const Candidate& wheel, const std::string& found) {
  return fail(ErrorKind::failed, "IST006",
              fmt::format("{} is another file than was published: its sha256 is {}, {} was said", wheel.place, found,
                          wheel.sha256),
              "do not install it before you know why", wheel.place);
}

/// Against a hash by another algorithm than sha256, where that is all that was published.
Status check_other_hash(const Candidate& wheel, const fs::path& file) {
  if (!wheel.sha256.empty() || wheel.other_hash.empty()) return {};
  TRY_ASSIGN(const auto content, MappedFile::open(file));
  const auto kind = wheel.other_hash.substr(0, wheel.other_hash.find('='));
  const auto found = fmt::format("{}={}", kind, hash_hex(kind, content.bytes()).value_or(""));
  if (found == wheel.other_hash) return {};
  return fail(ErrorKind::failed, "IST006",
              fmt::format("{} is another file than was published: it has {}, {} was said", wheel.place, found,
                          wheel.other_hash),
              "do not install it before you know why", wheel.place);
}

std::string shell_quoted(const std::string& text) { return "'" + replace_all(text, "'", "'\\''") + "'"; }

}  // namespace

Result<InstallPlace> find_install_place(const Target& target, const InstallOptions& options) {
  const auto& [interpreter, python] = std::tie(target.interpreter, target.place);
  if (!target.platform.empty() && target.platform != this_platform())
    return fail(ErrorKind::usage, "IST001",
                fmt::format("no Python for {} can be installed into here: this machine is {}", target.platform,
                            this_platform()),
                "leave platform out of --for; resolve answers for any machine, --dockerfile prints lines for an image");
  if (interpreter.empty())
    return fail(ErrorKind::usage, "IST001", "no Python was found to install into", "--interpreter .venv/bin/python");
  InstallPlace place{
      interpreter, python.prefix, python.site, python.folders, {}, {}, installed_versions(python.folders), target};
  const std::string own = "make one of your own: python3 -m venv .venv, then --interpreter .venv/bin/python";
  if (python.externally_managed)
    return fail(ErrorKind::machine, "IST002",
                fmt::format("{} is managed by the system's own packages (PEP 668), which an installer must leave alone",
                            python.prefix.string()),
                own, interpreter.string());
  if (!python.writable)
    return fail(ErrorKind::machine, "IST003",
                fmt::format("{} cannot be written: packages cannot be installed there", python.site.string()), own,
                python.site.string());
  if (const auto uv = find_program(options.path, "uv"); !uv.empty()) {
    place.tool = "uv";
    place.installer = {uv.string(), "pip"};
  } else if (has_pip(place.folders)) {
    place.tool = "pip";
    place.installer = {interpreter.string(), "-m", "pip"};
  } else {
    return fail(ErrorKind::machine, "IST004", fmt::format("{} has no pip, and there is no uv", interpreter.string()),
                fmt::format("{} -m ensurepip, or install uv", shell_word(interpreter.string())), interpreter.string());
  }
  return place;
}

Result<fs::path> fetch_wheel(const Candidate& wheel, const InstallOptions& options, std::stop_token stop) {
  if (!wheel.remote) {
    if (wheel.sha256.empty()) return fs::path(wheel.address);
    TRY_ASSIGN(const std::string found, sha256_file(wheel.address));
    if (found != wheel.sha256) return other_file(wheel, found);
    return fs::path(wheel.address);
  }
  // Two wheels of one name from two places are two files.
  const fs::path folder =
      options.store / "downloads" / sha256_hex(wheel.sha256.empty() ? wheel.place : wheel.sha256).substr(0, 16);
  const fs::path file = folder / wheel.file;
  std::error_code error;
  if (!wheel.sha256.empty() && fs::is_regular_file(file, error)) {
    const auto found = sha256_file(file);
    if (found && *found == wheel.sha256) return file;
    remove_quietly(file);
  }
  TRY(make_directories(folder));
  IndexSettings settings;
  if (options.resolving.find_index) {
    TRY_ASSIGN(settings, options.resolving.find_index());
  }
  TRY_ASSIGN(const auto http, make_http_client(settings));
  if (options.say) options.say("downloading " + wheel.place);
  TRY_ASSIGN(const std::string found, download_file(*http, wheel.address, file, wheel.size_bytes, {}, std::move(stop)));
  const Status other = check_other_hash(wheel, file);
  if (other && (wheel.sha256.empty() || found == wheel.sha256)) return file;
  remove_quietly(file);
  if (!other) return std::unexpected(other.error());
  return other_file(wheel, found);
}

std::string dockerfile_lines(const Judged& wheel, const std::string& fallback, bool no_deps) {
  const Candidate& candidate = wheel.candidate;
  const auto name = parse_wheel_name(candidate.file);
  const std::string project = name ? name->distribution : candidate.file;
  const std::string module = replace_all(lower(project), "-", "_");
  std::string text = fmt::format("# {}\n# {}\n", candidate.file, wheel.reason);
  std::string source = candidate.place;
  if (!candidate.remote) {
    text += fmt::format("COPY [\"{0}\", \"/tmp/{0}\"]\n", candidate.file);
    source = "file:///tmp/" + replace_all(candidate.file, "+", "%2B");
  }
  // pip holds what it downloads to the hash in the address, and ends when it is another.
  const std::string& sha256 = candidate.sha256.empty() ? wheel.sha256 : candidate.sha256;
  const std::string held = sha256.empty() ? candidate.other_hash : "sha256=" + sha256;
  const std::string requirement = fmt::format("{} @ {}{}", project, source, held.empty() ? "" : "#" + held);
  const std::string install =
      fmt::format("python3 -m pip install --no-cache-dir {}{}", no_deps ? "--no-deps " : "", shell_quoted(requirement));
  const std::string check = fmt::format("python3 -c 'import {}'", module);
  if (fallback.empty()) return text + fmt::format("RUN {} \\\n && {}\n", install, check);
  const std::string other = trim(fallback.substr(0, fallback.find_first_of("=<>!~ ;[")));
  text +=
      "# The fallback is another package or version, with another interface: it is taken only when whoever builds the\n"
      "# image asks for it, and says so. Otherwise a wheel that cannot be installed ends the build.\n";
  const std::string argument = replace_all(replace_all(project, "-", "_"), ".", "_") + "_FALLBACK";
  text += fmt::format("ARG {}=no\n", argument);
  text += fmt::format(
      "RUN if {}; then \\\n      {}; \\\n    elif [ \"${{{}}}\" = yes ]; then \\\n      echo \"WARNING: {} could not "
      "be installed, see above; falling back to {}\" >&2; \\\n"
      "      python3 -m pip install --no-cache-dir {} && python3 -c 'import {}'; \\\n    else \\\n"
      "      echo \"ERROR: {} could not be installed, see above; --build-arg {}=yes takes {} instead\" >&2; exit 1; "
      "\\\n    fi\n",
      install, check, argument, candidate.file, fallback, shell_quoted(fallback), replace_all(lower(other), "-", "_"),
      candidate.file, argument, fallback);
  return text;
}

std::string install_commands_json(const std::vector<std::vector<std::string>>& commands) {
  return json_text({{"schema", "sagekit.install/1"}, {"commands", commands}});
}

std::string install_none_json(const Resolution& resolution) {
  Json json = parse_json(resolve_json(resolution));
  json["schema"] = "sagekit.install/1";
  json.erase("chosen");
  return json_text(json);
}

std::string install_json(const Installed& installed) {
  Json json{{"schema", "sagekit.install/1"},
            {"package", installed.package},
            {"version", installed.version},
            {"wheel", installed.wheel.string()},
            {"sha256", installed.sha256},
            {"interpreter", installed.place.interpreter.string()},
            {"prefix", installed.place.prefix.string()},
            {"installer", installed.place.tool}};
  json["replaced"] = installed.replaced.empty() ? Json(nullptr) : Json(installed.replaced);
  json["added"] = installed.added;
  json["changed"] = installed.changed;
  json["untried"] = installed.untried;
  Json& passed = json["passed"] = Json::array();
  for (const auto& finding : installed.report.findings)
    if (finding.result == FindingResult::pass &&
        (finding.code.starts_with("IMP") || finding.code.starts_with("RUN1"))) {
      if (std::ranges::find(passed, Json(finding.code)) == passed.end()) passed.push_back(finding.code);
    }
  return json_text(json);
}

}  // namespace sagekit
