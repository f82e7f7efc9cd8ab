#include "spec/windows_data.hpp"

#include "support/toml.hpp"

#include <map>
#include <set>

namespace sagekit {

extern const std::string_view k_cross_toml;  // written at build time by cmake/EmbedText.cmake

namespace {

struct LoadedWindows {
  WindowsData data;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> absent;
};

LoadedWindows load_windows() {
  LoadedWindows loaded;
  auto& data = loaded.data;
  const auto document = TomlDocument::parse(k_cross_toml, "core/data/windows/cross.toml", "DAT");
  auto root = document.root();
  if (auto clang = root.table("clang")) {
    data.least_clang = static_cast<int>(clang->integer("least").value_or(0));
    data.clang_package = clang->required_string("package");
    clang->finish_sourced();
  }
  if (auto linker = root.table("linker")) {
    data.linker = linker->required_string("program");
    data.linker_package = linker->required_string("package");
    linker->finish_sourced();
  }
  for (auto& row : root.tables("mingw")) {
    auto runtime = row.required_string("runtime");
    auto package = row.required_string("package");
    data.mingw.push_back({std::move(runtime), std::move(package), row.boolean("everywhere").value_or(false)});
    row.finish_sourced();
  }
  for (auto& row : root.tables("absent")) {
    auto& functions = loaded.absent[row.required_string("library")];
    for (auto& function : row.required_strings("functions")) functions.insert(std::move(function));
    row.finish_sourced();
  }
  root.finish();
  data.problems = document.diagnostics();
  return loaded;
}

const LoadedWindows& windows() {
  static const auto k_loaded = load_windows();
  return k_loaded;
}

}  // namespace

const WindowsData& windows_data() { return windows().data; }

bool absent_on_windows(std::string_view library, std::string_view function) {
  const auto found = windows().absent.find(library);
  return found != windows().absent.end() && found->second.contains(function);
}

}  // namespace sagekit
