#include "build/cross_python.hpp"

#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

namespace sagekit {

extern const std::string_view k_windows_pyconfig_h;  // written at build time by cmake/EmbedText.cmake

namespace fs = std::filesystem;

namespace {

std::unexpected<Error> cannot(const std::string& why) {
  return fail(ErrorKind::machine, "BLD008", "cannot make Python headers for linux_aarch64: " + why,
              "give those of an aarch64 Python with --python-headers DIR");
}

struct Macro {
  std::string_view name, value;  ///< "" = not defined
};

/// What configure finds on 64-bit Arm: no x86 assembler, an unsigned wchar_t, a platform of support tier 2.
/// Source: CPython's configure.ac; Debian's libpython3.11-dev for amd64 and arm64 differ in these lines only.
constexpr std::array<Macro, 4> k_differ{{{"HAVE_GCC_ASM_FOR_X64", ""},
                                         {"HAVE_GCC_ASM_FOR_X87", ""},
                                         {"HAVE_USABLE_WCHAR_T", "1"},
                                         {"PY_SUPPORT_TIER", "2"}}};

/// The macro that a line defines or says to be undefined.
std::string_view macro_of(std::string_view line) {
  constexpr std::array<std::string_view, 2> k_forms{"#define ", "/* #undef "};
  for (const auto form : k_forms)
    if (line.starts_with(form)) {
      line.remove_prefix(form.size());
      return line.substr(0, line.find(' '));
    }
  return {};
}

/// "x86_64-linux-gnu" of "cpython-312-x86_64-linux-gnu".
std::string triplet_of(const Python& python) {
  const auto dash = python.soabi.find('-', python.soabi.find('-') + 1);
  return dash == std::string::npos ? "x86_64-linux-gnu" : python.soabi.substr(dash + 1);
}

/// The pyconfig.h with the macros; Debian's first one only forwards.
std::optional<std::string> own_pyconfig(const Python& python, const fs::path& headers, const std::string& triplet) {
  std::vector<fs::path> places{headers / "pyconfig.h"};
  places.push_back(headers.parent_path() / triplet / headers.filename() / "pyconfig.h");
  for (const auto& folder : python.include_dirs) places.push_back(folder / "pyconfig.h");
  for (const auto& place : places)
    if (auto text = read_file(place); text && text->find("SIZEOF_VOID_P") != std::string::npos) return *text;
  return std::nullopt;
}

/// One folder for all: Python.h includes "pyconfig.h" from beside itself, whatever comes first on the include path.
/// `write`: the pyconfig.h; `suffix` tells its folder from others of that Python.
Result<fs::path> gather(const Python& python, const Store& store, std::string_view suffix,
                        const std::function<Result<std::string>(const fs::path&)>& write) {
  const auto headers =
      std::ranges::find_if(python.include_dirs, [](const fs::path& folder) { return fs::exists(folder / "Python.h"); });
  if (headers == python.include_dirs.end()) return cannot("no Python.h");
  const fs::path folder =
      store.folder("stubs") / fmt::format("python{}-{}{}", python.minor, python.identity.substr(0, 32), suffix);
  std::error_code error;
  if (fs::exists(folder, error)) return folder;
  TRY_ASSIGN(const auto pyconfig, write(*headers));
  TRY_ASSIGN(const TemporaryFolder scratch, store.temporary());
  const fs::path made = scratch.path() / "headers";
  TRY(make_directories(made));
  TRY(copy_tree(*headers, made));
  TRY(write_file_atomic(made / "pyconfig.h", pyconfig));
  TRY(publish_folder(made, folder));
  return folder;
}

/// This machine's own.
Result<std::string> read_pyconfig(const Python& python, const fs::path& headers, const std::string& triplet) {
  auto text = own_pyconfig(python, headers, triplet);
  if (!text) return cannot(fmt::format("no pyconfig.h in {}", headers.string()));
  return std::move(*text);
}

}  // namespace

Result<std::string> aarch64_pyconfig(std::string text) {
  if (text.find("\n#define SIZEOF_VOID_P 8\n") == std::string::npos ||
      text.find("\n#define HAVE_GCC_ASM_FOR_X64 1\n") == std::string::npos)
    return cannot("this machine's pyconfig.h is not that of a Python for x86_64 Linux");
  auto lines = split(text, '\n');
  for (auto& line : lines) {
    const auto found = std::ranges::find(k_differ, macro_of(line), &Macro::name);
    if (found == k_differ.end()) continue;
    line = found->value.empty() ? fmt::format("/* #undef {} */", found->name)
                                : fmt::format("#define {} {}", found->name, found->value);
  }
  return join(lines, "\n");
}

Result<fs::path> make_cross_headers(const Python& python, const std::string& platform, const Store& store) {
  if (is_windows(platform))
    // Named by its content: another sagekit may have another one.
    return gather(python, store, "-win-" + sha256_hex(k_windows_pyconfig_h).substr(0, 8),
                  [](const fs::path&) { return Result<std::string>(std::string(k_windows_pyconfig_h)); });
  return gather(python, store, "-arm", [&](const fs::path& headers) -> Result<std::string> {
    TRY_ASSIGN(auto text, read_pyconfig(python, headers, "x86_64-linux-gnu"));
    return aarch64_pyconfig(std::move(text));
  });
}

Result<fs::path> make_own_headers(const Python& python, const Store& store) {
  return gather(python, store, "",
                [&](const fs::path& headers) { return read_pyconfig(python, headers, triplet_of(python)); });
}

}  // namespace sagekit
