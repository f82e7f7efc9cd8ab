#include "environment/microsoft.hpp"

#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"

#include <sagekit/version_number.hpp>

#include <array>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// The newest folder of those that are named by a version; "" = there is none.
std::string newest_in(const fs::path& folder) {
  std::string newest;
  std::optional<VersionNumber> best;
  for (const auto& entry : entries_of(folder)) {
    const auto name = entry.filename().string();
    const auto version = parse_version_number(name);
    if (!version || !is_folder(entry) || (best && *version <= *best)) continue;
    best = *version;
    newest = name;
  }
  return newest;
}

}  // namespace

std::optional<MicrosoftFolders> microsoft_folders(const fs::path& root) {
  const fs::path tools = root / "VC/Tools/MSVC", kit = root / "Windows Kits/10";
  if (!is_folder(tools) || !is_folder(kit)) return std::nullopt;
  MicrosoftFolders found{newest_in(tools), newest_in(kit / "Include"), {}, {}};
  const auto own = tools / found.tools, include = kit / "Include" / found.sdk, lib = kit / "Lib" / found.sdk;
  found.includes = {own / "include", include / "ucrt", include / "shared", include / "um"};
  found.libraries = {own / "lib/x64", lib / "ucrt/x64", lib / "um/x64"};
  return found;
}

HostCompiler probe_microsoft(const Found& found) {
  HostCompiler compiler;
  compiler.executable = found.path;
  compiler.kind = CompilerKind::msvc;
  compiler.source = found.source;
  const auto folders = microsoft_folders(found.path).value_or(MicrosoftFolders());
  if (folders.tools.empty() || folders.sdk.empty()) {
    compiler.why_not = fmt::format("it has no version folder below {}",
                                   folders.tools.empty() ? "VC/Tools/MSVC" : "Windows Kits/10/Include");
    return compiler;
  }
  compiler.version = folders.tools;
  compiler.target = "x86_64-pc-windows-msvc";
  compiler.library_dir = folders.libraries.front();
  compiler.c_runtime = "UCRT";
  // A header or library of each folder. Linux tells small letters from capitals: Microsoft's own copies do not keep to
  // one.
  const std::array<fs::path, 6> wanted{folders.includes[0] / "vcruntime.h", folders.includes[1] / "stdlib.h",
                                       folders.includes[2] / "sdkddkver.h", folders.libraries[0] / "msvcrt.lib",
                                       folders.libraries[1] / "ucrt.lib",   folders.libraries[2] / "kernel32.lib"};
  Sha256 hash;
  for (const auto& text : {compiler.target, folders.tools, folders.sdk}) hash.field(text);
  for (const auto& file : wanted) {
    if (!is_file(file)) {
      compiler.why_not = fmt::format("{} is missing (names of libraries are in small letters here)", file.string());
      return compiler;
    }
    add_program(hash, file);
  }
  compiler.identity = hash.hex();
  compiler.ready = true;
  return compiler;
}

}  // namespace sagekit
