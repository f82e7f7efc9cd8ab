#pragma once
// One wheel into one Python's environment, through that environment's own installer; tried afterwards, and taken out
// again when it does not work: an environment is never left worse than it was.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/resolve.hpp>
#include <sagekit/verify.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

/// What would install into an environment, and what is there.
struct InstallPlace {
  std::filesystem::path interpreter;
  std::filesystem::path prefix;                 ///< sys.prefix
  std::filesystem::path site;                   ///< where wheels with machine code go
  std::vector<std::filesystem::path> folders;   ///< sys.path: where packages are looked for
  std::string tool;                             ///< "uv", "pip"
  std::vector<std::string> installer;           ///< `uv pip`, or `python -m pip`
  std::map<std::string, std::string> packages;  ///< normalised name -> version, of what is installed
  Target machine;                               ///< with that Python: which requirements hold there
};

struct InstallOptions {
  std::filesystem::path store;                     ///< downloads, locks and what is put back lie below it
  std::vector<std::filesystem::path> path;         ///< PATH: where uv is looked for
  std::map<std::string, std::string> environment;  ///< of the installer: PATH, HOME, PIP_*
  bool no_deps = false;                            ///< leave all other packages alone
  bool gpu = false;                                ///< run the numeric gate, too
  ResolveOptions resolving;                        ///< plugins, the way to an index
  std::function<void(const std::string&)> say;
};

/// Of the target's interpreter, which was asked. Errors: IST001 (usage) there is none; IST002 (machine) it is managed
/// by another packager (PEP 668); IST003 (machine) it cannot be written; IST004 (machine) neither uv nor pip is there.
SAGEKIT_API Result<InstallPlace> find_install_place(const Target& target, const InstallOptions& options);

/// The wheel's file here: a local one as it is, another one downloaded below the store, resumed when it was cut. Held
/// to the published hash and size: IST006 (failed) when it is another file, which is then removed.
SAGEKIT_API Result<std::filesystem::path> fetch_wheel(const Candidate& wheel, const InstallOptions& options,
                                                      std::stop_token stop = {});

/// The installer's own command for one file or address, without anything that sagekit would mind.
SAGEKIT_API std::vector<std::string> install_line(const InstallPlace& place, const std::string& wheel);

/// The commands that `install` will run, in order, as people would type them.
SAGEKIT_API std::vector<std::vector<std::string>> install_commands(const InstallPlace& place, const Judged& wheel,
                                                                   const InstallOptions& options);

struct Installed {
  InstallPlace place;
  std::string package, version, sha256;
  std::filesystem::path wheel;
  std::string replaced;                     ///< the version that was there before; "" = none
  std::vector<std::string> added, changed;  ///< other packages, "triton 3.5.0"
  WheelReport report;                       ///< of the installed files: imports, and the gate
  std::vector<std::string> untried;         ///< what could not be tried here and why, in sentences
};

/// Installs a wheel that is here and was found to fit. Errors: IST005 (machine) somebody else is installing there;
/// IST007 (failed) the installer refused it; IST008 (failed) it does not import; IST009 (failed) the numeric gate
/// failed it; each with what was done to put things back. IST010 (failed): they could not be put back, and where the
/// copy is. What a killed process left is put back first. `sha256`: of the file that was judged, which the installer is
/// held to; "" = it is what the file has now.
SAGEKIT_API Result<Installed> install_wheel(const std::filesystem::path& file, const std::string& sha256,
                                            const InstallPlace& place, const InstallOptions& options,
                                            CommandRunner& runner, std::stop_token stop = {});

/// RUN lines for a Dockerfile that install the wheel by its hash and import it. `fallback`: a requirement ("name==1.0")
/// that may be installed instead, only when the person who builds the image asks for it; "" = none. A local wheel is
/// copied from the build context.
SAGEKIT_API std::string dockerfile_lines(const Judged& wheel, const std::string& fallback, bool no_deps);

/// {"schema":"sagekit.install/1", ...}: docs/json.md. Of a dry run the commands alone.
SAGEKIT_API std::string install_json(const Installed& installed);
SAGEKIT_API std::string install_commands_json(const std::vector<std::vector<std::string>>& commands);
/// Where none of the wheels was taken: each with its reason, as resolve says them.
SAGEKIT_API std::string install_none_json(const Resolution& resolution);

}  // namespace sagekit
