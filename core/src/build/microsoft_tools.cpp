#include "build/microsoft_tools.hpp"

#include "build/cuda_stub.hpp"
#include "elf/import_library.hpp"
#include "environment/probe.hpp"
#include "spec/platform.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <map>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// Microsoft's linker wants "torch_cpu.lib" for "torch_cpu.dll".
Status add_import_library(const fs::path& dll, std::map<std::string, std::string>& libraries) {
  TRY_ASSIGN(const auto file, MappedFile::open(dll));
  const auto exports = read_dll_exports(file.bytes());
  if (!exports)
    return fail(ErrorKind::machine, "BLD005",
                fmt::format("no import library can be made of {}: {}", dll.string(), exports.error().message),
                "it is read for the names that it exports");
  libraries[dll.stem().string() + ".lib"] = import_library(*exports);
  return {};
}

}  // namespace

Result<fs::path> make_import_libraries(const Toolchain& tools, const std::string& python, const Store& store) {
  std::map<std::string, std::string> libraries;
  TRY_ASSIGN(const auto python_dll, make_python_stub(python, store));
  TRY_ASSIGN(const auto driver_dll, make_driver_stub(tools.nvcc, std::string(k_windows_platform), store));
  for (const auto& folder : {tools.torch.root / "lib", python_dll, driver_dll}) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (lower(at->path().extension().string()) == ".dll") TRY(add_import_library(at->path(), libraries));
  }
  Sha256 hash;
  hash.field("import libraries 1");
  for (const auto& [name, bytes] : libraries) {
    hash.field(name);
    hash.field(bytes);
  }
  const fs::path folder = store.folder("stubs") / hash.hex().substr(0, 32);
  std::error_code error;
  if (fs::exists(folder, error)) return folder;
  TRY_ASSIGN(const TemporaryFolder scratch, store.temporary());
  for (const auto& [name, bytes] : libraries) TRY(write_file_atomic(scratch.path() / "lib" / name, bytes));
  TRY(publish_folder(scratch.path() / "lib", folder));
  return folder;
}

std::string linker_identity(const fs::path& linker) {
  Sha256 hash;
  add_program(hash, linker);
  return hash.hex();
}

}  // namespace sagekit
