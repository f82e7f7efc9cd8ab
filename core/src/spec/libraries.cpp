#include "spec/libraries.hpp"

#include "support/text.hpp"
#include "support/toml.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

extern const std::string_view k_libraries_toml;  // written at build time by cmake/EmbedText.cmake

namespace {

struct Row {
  std::vector<std::string> files;
  LibraryOrigin origin;
};

struct LoadedLibraries {
  std::vector<Row> rows;
  std::vector<std::string> windows;
  Diagnostics problems;
};

void read_cuda(TomlTable& table, LoadedLibraries& loaded) {
  const int major = static_cast<int>(table.integer("major").value_or(0));
  for (TomlTable& library : table.tables("library")) {
    auto files = library.required_strings("files");
    loaded.rows.push_back({std::move(files), {false, false, major, library.required_string("package")}});
    library.finish();
  }
}

LoadedLibraries load() {
  LoadedLibraries loaded;
  const TomlDocument document = TomlDocument::parse(k_libraries_toml, "core/data/libraries.toml", "DAT");
  TomlTable root = document.root();
  for (TomlTable& table : root.tables("driver")) {
    loaded.rows.push_back({table.required_strings("files"), {true, false, 0, {}}});
    table.finish_sourced();
  }
  for (TomlTable& table : root.tables("torch")) {
    loaded.rows.push_back({table.required_strings("files"), {false, true, 0, "torch"}});
    table.finish_sourced();
  }
  for (TomlTable& table : root.tables("windows")) {
    for (auto& file : table.required_strings("files")) loaded.windows.push_back(std::move(file));
    table.finish_sourced();
  }
  for (TomlTable& table : root.tables("cuda")) {
    read_cuda(table, loaded);
    table.finish_sourced();
  }
  root.finish();
  loaded.problems = document.diagnostics();
  return loaded;
}

const LoadedLibraries& data() {
  static const LoadedLibraries k_loaded = load();
  return k_loaded;
}

}  // namespace

std::vector<LibraryOrigin> library_origins(std::string_view file) {
  const std::string name = file.ends_with(".dll") || file.ends_with(".DLL") ? lower(file) : std::string(file);
  std::vector<LibraryOrigin> origins;
  for (const Row& row : data().rows)
    if (std::ranges::any_of(row.files, [&](const std::string& glob) { return glob_match(glob, name); }))
      origins.push_back(row.origin);
  return origins;
}

Diagnostics library_data_problems() { return data().problems; }

bool is_system_library(std::string_view name) {
  static constexpr std::array<std::string_view, 10> k_names{
      "libc.so.6",    "libm.so.6",     "libdl.so.2",     "libpthread.so.0", "librt.so.1",
      "libutil.so.1", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux*.so.*",  "linux-vdso.so.1"};
  return std::ranges::any_of(k_names, [&](std::string_view glob) { return glob_match(glob, name); });
}

bool is_windows_library(std::string_view name) {
  return std::ranges::any_of(data().windows, [&](const std::string& glob) { return glob_match(glob, name); });
}

bool is_torch_library(std::string_view name) { return name.starts_with("libtorch") || name.starts_with("libc10"); }

}  // namespace sagekit
