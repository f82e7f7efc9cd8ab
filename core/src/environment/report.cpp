#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/environment.hpp>

#include <algorithm>
#include <array>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 5> k_sources{"folder", "system", "wheels", "redist", "derived"};

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json path_or_null(const fs::path& path) { return text_or_null(path.string()); }

// The same last keys for every tool.
template <class Tool>
Json finish(Json json, const Tool& tool) {
  json["source"] = to_string(tool.source);
  json["identity"] = text_or_null(tool.identity);
  json["ready"] = tool.ready;
  json["why_not"] = text_or_null(tool.why_not);
  return json;
}

Json to_json(const Nvcc& nvcc) {
  Json code = Json::array();
  for (const auto& arch : nvcc.code) code.push_back(sm_name(arch));
  return finish({{"path", nvcc.executable.string()},
                 {"version", text_or_null(nvcc.version)},
                 {"cuda", text_or_null(nvcc.cuda)},
                 {"root", path_or_null(nvcc.root)},
                 {"include", path_or_null(nvcc.include_dir)},
                 {"libraries", path_or_null(nvcc.library_dir)},
                 {"code", code},
                 {"gcc_newest", text_or_null(nvcc.max_gcc)},
                 {"clang_below", text_or_null(nvcc.max_clang)},
                 {"found_by", nvcc.found_by}},
                nvcc);
}

Json to_json(const HostCompiler& compiler) {
  return finish({{"path", compiler.executable.string()},
                 {"kind", text_or_null(std::string(to_string(compiler.kind)))},
                 {"version", text_or_null(compiler.version)},
                 {"target", text_or_null(compiler.target)},
                 {"c_runtime", text_or_null(compiler.c_runtime)}},
                compiler);
}

// Headers without an interpreter are where they lie.
fs::path place_of(const Python& python) {
  return python.executable.empty() && !python.include_dirs.empty() ? python.include_dirs.front() : python.executable;
}

// "cpython-313-aarch64-linux-gnu" is for "linux_aarch64"; one that names no CPU is the machine's own.
std::string python_platform(const Python& python, const Environment& environment) {
  const auto parts = split(python.soabi, '-');
  return parts.size() == 5 ? "linux_" + parts[2] : environment.platform;
}

Json to_json(const Python& python) {
  Json include = Json::array();
  for (const auto& folder : python.include_dirs) include.push_back(folder.string());
  return finish({{"path", place_of(python).string()},
                 {"version", text_or_null(python.version)},
                 {"abi", text_or_null(python.abi)},
                 {"soabi", text_or_null(python.soabi)},
                 {"include", include},
                 {"found_by", python.found_by}},
                python);
}

Json to_json(const TorchSysroot& torch) {
  return finish({{"path", torch.root.string()},
                 {"version", text_or_null(torch.version)},
                 {"local", text_or_null(torch.local)},
                 {"cuda", text_or_null(torch.cuda)},
                 {"platform", text_or_null(torch.platform)},
                 {"cxx11_abi", torch.cxx11_abi},
                 {"python", text_or_null(torch.python)},
                 {"interpreter", path_or_null(torch.interpreter)}},
                torch);
}

template <class Tool>
Json list_json(const std::vector<Tool>& tools) {
  Json list = Json::array();
  for (const auto& tool : tools) list.push_back(to_json(tool));
  return list;
}

template <class Tool>
Json row(const char* kind, const Tool& tool, const fs::path& path, const std::string& cuda,
         const std::string& platform) {
  return {{"kind", kind},
          {"version", text_or_null(tool.version)},
          {"cuda", text_or_null(cuda)},
          {"platform", text_or_null(platform)},
          {"source", to_string(tool.source)},
          {"path", path.string()},
          {"sha256", text_or_null(tool.identity)},
          {"ready", tool.ready},
          {"why_not", text_or_null(tool.why_not)}};
}

// "x86_64-pc-linux-gnu" makes code for "linux_x86_64".
std::string target_platform(const std::string& target) {
  return target.find("linux") == std::string::npos ? std::string{} : "linux_" + target.substr(0, target.find('-'));
}

}  // namespace

std::string_view to_string(CompilerKind kind) {
  switch (kind) {
    case CompilerKind::unknown: return "";
    case CompilerKind::gcc: return "gcc";
    case CompilerKind::clang: return "clang";
    case CompilerKind::msvc: return "msvc";
  }
  return "";
}

std::string_view to_string(ToolSource source) { return k_sources[static_cast<std::size_t>(source)]; }

std::optional<ToolSource> parse_tool_source(std::string_view text) {
  const auto found = std::ranges::find(k_sources, text);
  if (found == k_sources.end()) return {};
  return static_cast<ToolSource>(found - k_sources.begin());
}

std::string environment_json(const Environment& environment) {
  Json gpus = Json::array();
  for (const auto& gpu : environment.gpus)
    gpus.push_back({{"name", gpu.name}, {"capability", to_string(gpu.capability)}, {"driver", gpu.driver}});
  return json_text({{"schema", "sagekit.env/1"},
                    {"os", environment.os},
                    {"machine", environment.machine},
                    {"platform", environment.platform},
                    {"glibc", environment.glibc},
                    {"cpus", environment.cpus},
                    {"memory_bytes", environment.memory_bytes},
                    {"gpus", gpus},
                    {"nvcc", list_json(environment.nvcc)},
                    {"host_compilers", list_json(environment.host_compilers)},
                    {"pythons", list_json(environment.pythons)},
                    {"torches", list_json(environment.torches)},
                    {"notes", environment.notes}});
}

std::string toolchains_json(const Environment& environment) {
  Json list = Json::array();
  for (const auto& nvcc : environment.nvcc)
    list.push_back(row("nvcc", nvcc, nvcc.executable, nvcc.cuda, environment.platform));
  for (const auto& torch : environment.torches)
    list.push_back(row("torch", torch, torch.root, torch.cuda, torch.platform));
  for (const auto& python : environment.pythons)
    list.push_back(row("python", python, place_of(python), {}, python_platform(python, environment)));
  for (const auto& compiler : environment.host_compilers)
    list.push_back(row("host-compiler", compiler, compiler.executable, {}, target_platform(compiler.target)));
  return json_text({{"schema", "sagekit.toolchains/1"}, {"toolchains", list}});
}

}  // namespace sagekit
