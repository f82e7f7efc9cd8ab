#include "build/cuda_stub.hpp"

#include "elf/dll_exports.hpp"
#include "spec/platform.hpp"
#include "spec/symbol_lists.hpp"
#include "spec/windows_data.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint8_t k_function = 2;  // STT_FUNC

std::unexpected<Error> cannot(std::string_view what, const std::string& why, const std::string& hint) {
  return fail(ErrorKind::machine, "BLD005", fmt::format("cannot make a {} to link against: {}", what, why), hint);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_driver_function(std::string_view word) {
  return word.size() > 2 && word.starts_with("cu") && std::isupper(static_cast<unsigned char>(word[2])) != 0;
}

/// Every driver function that the header names.
std::set<std::string> driver_names(std::string_view header) {
  std::set<std::string> names;
  for (std::size_t at = 0; at < header.size();) {
    if (!is_word(header[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < header.size() && is_word(header[end])) ++end;
    if (const auto word = header.substr(at, end - at); is_driver_function(word)) names.emplace(word);
    at = end;
  }
  return names;
}

/// e_machine, as the ELF specification numbers CPUs.
Result<std::uint16_t> machine_of(std::string_view platform) {
  if (platform == "linux_x86_64") return std::uint16_t{62};
  if (platform == "linux_aarch64") return std::uint16_t{183};
  return fail(ErrorKind::bug, "BLD005", fmt::format("no stub is known for {}", platform));
}

/// Named by content, as everything in the store. `text`: what is in it.
Result<fs::path> publish_stub(const std::string& text, const std::string& stub, const std::string& name,
                              const Store& store) {
  const auto key = sha256_hex(fmt::format("stub 2 {} {}", name, text));
  const fs::path folder = store.folder("stubs") / key.substr(0, 32);
  std::error_code error;
  if (fs::exists(folder / name, error)) return folder;
  TRY_ASSIGN(const TemporaryFolder scratch, store.temporary());
  TRY(write_file_atomic(scratch.path() / "stub" / name, stub));
  TRY(publish_folder(scratch.path() / "stub", folder));
  return folder;
}

Result<fs::path> publish_stub(const ExportList& exports, const std::string& name, const Store& store) {
  return publish_stub(fmt::format("{}\n{}", exports.machine, export_text(exports)), link_stub(exports), name, store);
}

Result<fs::path> publish_stub(const DllExports& exports, const Store& store) {
  return publish_stub(export_text(exports), link_stub(exports), exports.name, store);
}

}  // namespace

Result<ExportList> driver_exports(std::string_view header, std::string_view platform) {
  ExportList exports;
  exports.soname = "libcuda.so.1";
  TRY_ASSIGN(exports.machine, machine_of(platform));
  for (const auto& name : driver_names(header)) {
    ExportedSymbol symbol;
    symbol.name = name;
    symbol.type = k_function;
    exports.symbols.push_back(std::move(symbol));
  }
  return exports;
}

Result<fs::path> make_driver_stub(const Nvcc& nvcc, const std::string& platform, const Store& store) {
  const auto header = read_file(nvcc.include_dir / "cuda.h");
  if (!header) return cannot("libcuda.so", header.error().message, "it needs include/cuda.h of the CUDA toolkit");
  if (is_windows(platform)) {
    DllExports exports{"nvcuda.dll", {}};
    for (auto& name : driver_names(*header)) exports.names.push_back(name);
    return publish_stub(exports, store);
  }
  TRY_ASSIGN(const auto exports, driver_exports(*header, platform));
  return publish_stub(exports, "libcuda.so", store);
}

Result<fs::path> make_python_stub(const std::string& python, const Store& store) {
  TRY_ASSIGN(const auto version, parse_version_number(python));
  DllExports exports{"python3.dll", stable_abi_until(version)};
  std::erase_if(exports.names, [&](const auto& name) { return absent_on_windows(exports.name, name); });
  return publish_stub(exports, store);
}

Result<fs::path> runtime_library(const Nvcc& nvcc) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator walk(nvcc.library_dir, error), end; !error && walk != end; walk.increment(error))
    if (walk->path().filename().string().starts_with("libcudart.so")) found.push_back(walk->path());
  std::ranges::sort(found);
  for (const auto& path : found)
    if (fs::is_regular_file(path, error)) return path;
  return cannot("libcudart.so", fmt::format("no libcudart.so* in {}", nvcc.library_dir.string()),
                "it needs the runtime library of the CUDA toolkit");
}

Result<fs::path> make_runtime_stub(const Nvcc& nvcc, const std::string& platform, const Store& store) {
  TRY_ASSIGN(const auto library, runtime_library(nvcc));
  TRY_ASSIGN(const auto file, MappedFile::open(library));
  auto exports = read_exports(file.bytes());
  if (!exports)
    return cannot("libcudart.so", fmt::format("{}: {}", library.string(), exports.error().message),
                  "it needs the runtime library of the CUDA toolkit");
  TRY_ASSIGN(exports->machine, machine_of(platform));
  return publish_stub(*exports, "libcudart.so", store);
}

}  // namespace sagekit
