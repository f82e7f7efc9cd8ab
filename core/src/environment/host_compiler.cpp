#include "environment/microsoft.hpp"
#include "environment/probes.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <charconv>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// Which C library it links unless told otherwise: by the last default that its _mingw.h gives __MSVCRT_VERSION__,
/// 0x700 for msvcrt.dll and 0xE00 for the Universal CRT (mingw-w64 10 to 12). Its name need not say it.
std::string runtime_of_mingw(const HostCompiler& compiler) {
  constexpr std::string_view k_default = "define __MSVCRT_VERSION__ 0x";
  constexpr unsigned k_universal = 0xE00;
  const auto header = read_file(compiler.executable.parent_path().parent_path() / compiler.target / "include/_mingw.h");
  const auto at = header ? header->rfind(k_default) : std::string::npos;
  if (at == std::string::npos) return compiler.target.ends_with("ucrt") ? "UCRT" : "";
  const auto digits = std::string_view(*header).substr(at + k_default.size());
  unsigned version = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), version, 16);
  return version >= k_universal ? "UCRT" : "msvcrt";
}

}  // namespace

HostCompiler probe_host_compiler(const Found& found, const ProbeContext& context) {
  if (is_folder(found.path)) return probe_microsoft(found);
  HostCompiler compiler;
  compiler.executable = found.path;
  compiler.source = found.source;
  // One start says all: "gcc version 12.2.0 (...)" or "... clang version 19.1.7 (...)", and "Target: ...".
  const auto output = context.output_of({found.path.string(), "-v"}, {{"LC_ALL", "C"}});
  if (!output) {
    compiler.why_not = output.error();
    return compiler;
  }
  std::string version_line;
  for (const auto& line : split(*output, '\n')) {
    for (const auto kind : {CompilerKind::gcc, CompilerKind::clang}) {
      const std::string key = fmt::format("{} version ", to_string(kind));
      const std::size_t at = line.find(key);
      if (at == std::string::npos || !version_line.empty()) continue;
      compiler.kind = kind;
      compiler.version = leading_version(std::string_view(line).substr(at + key.size()));
      version_line = line;
    }
    if (line.starts_with("Target: ")) compiler.target = trim(std::string_view(line).substr(8));
  }
  if (compiler.version.empty() || compiler.target.empty()) {
    compiler.why_not = "-v says no version or no target";
    return compiler;
  }
  if (compiler.target.find("-w64-mingw32") != std::string::npos) {
    // Where its libgcc is are its C++ headers, too; clang uses them.
    const auto libgcc = context.output_of({found.path.string(), "-print-libgcc-file-name"}, {{"LC_ALL", "C"}});
    compiler.library_dir = libgcc ? fs::path(trim(*libgcc)).parent_path() : fs::path();
    if (!is_file(compiler.library_dir / "include/c++/utility")) {
      compiler.why_not = "its C++ headers are missing";
      return compiler;
    }
    compiler.c_runtime = runtime_of_mingw(compiler);
  }
  Sha256 hash;
  hash.field(version_line);
  hash.field(compiler.target);
  add_program(hash, real_path(found.path));
  compiler.identity = hash.hex();
  compiler.ready = true;
  return compiler;
}

}  // namespace sagekit
