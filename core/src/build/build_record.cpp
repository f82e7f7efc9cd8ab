#include "build/build_record.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_build_schema = "sagekit.build-record/1";
constexpr std::string_view k_name = "build.json";

Json arch_json(const ArchRequest& arch) {
  return {
      {"capability", to_string(arch.capability)},
      {"suffix", arch.has_suffix ? std::string(arch.suffix == ArchSuffix::none ? 0 : 1, static_cast<char>(arch.suffix))
                                 : std::string()},
      {"has_suffix", arch.has_suffix},
      {"ptx", arch.ptx}};
}

Json gencode_json(const Gencode& gencode) {
  return {{"compute", to_string(gencode.compute)}, {"code", to_string(gencode.code)}, {"ptx", gencode.ptx}};
}

Json cell_json(const Cell& cell) {
  Json json{{"id", cell.id},
            {"python", cell.python},
            {"torch", cell.torch},
            {"torch_min", cell.torch_min},
            {"abi3", cell.abi3},
            {"cuda", cell.cuda},
            {"platform", cell.platform},
            {"arch_set", cell.arch_set},
            {"wheel", cell.wheel},
            {"distribution", cell.distribution},
            {"version", cell.version},
            {"build_tag", cell.build_tag},
            {"tags", cell.tags},
            {"requires_dist", cell.requires_dist},
            {"steps", cell.steps},
            {"notes", cell.notes},
            {"arches", Json::array()},
            {"gencode", Json::array()}};
  for (const auto& arch : cell.arches) json["arches"].push_back(arch_json(arch));
  for (const auto& gencode : cell.gencode) json["gencode"].push_back(gencode_json(gencode));
  return json;
}

Json files_json(const std::vector<StagedFile>& files) {
  Json list = Json::array();
  for (const auto& file : files)
    list.push_back({{"path", file.archive_path}, {"sha256", file.sha256}, {"size_bytes", file.size_bytes}});
  return list;
}

template <class T>
T value_or_throw(const Result<T>& result) {
  if (!result) throw Json::other_error::create(501, result.error().message, nullptr);
  return *result;
}

ArchSuffix suffix_of(const std::string& text) {
  return text == "a" ? ArchSuffix::a : text == "f" ? ArchSuffix::f : ArchSuffix::none;
}

Cell read_cell(const Json& json) {
  Cell cell;
  const auto text = [&json](const char* key) { return json.at(key).get<std::string>(); };
  const auto list = [&json](const char* key) { return json.at(key).get<std::vector<std::string>>(); };
  cell.id = text("id");
  cell.python = text("python");
  cell.torch = text("torch");
  cell.torch_min = json.value("torch_min", "");  // records of older builds have neither
  cell.abi3 = json.value("abi3", false);
  cell.cuda = text("cuda");
  cell.platform = text("platform");
  cell.arch_set = json.value("arch_set", "");  // records of older builds have none
  cell.wheel = text("wheel");
  cell.distribution = text("distribution");
  cell.version = text("version");
  cell.build_tag = text("build_tag");
  cell.tags = list("tags");
  cell.requires_dist = list("requires_dist");
  cell.steps = list("steps");
  cell.notes = list("notes");
  for (const auto& arch : json.at("arches"))
    cell.arches.push_back({value_or_throw(parse_capability(arch.at("capability").get<std::string>())),
                           arch.at("has_suffix").get<bool>(), suffix_of(arch.at("suffix").get<std::string>()),
                           arch.at("ptx").get<bool>()});
  for (const auto& gencode : json.at("gencode"))
    cell.gencode.push_back({value_or_throw(parse_arch(gencode.at("compute").get<std::string>())),
                            value_or_throw(parse_arch(gencode.at("code").get<std::string>())),
                            gencode.at("ptx").get<bool>()});
  cell.buildable = true;
  return cell;
}

std::vector<StagedFile> read_files(const Json& json, const fs::path& folder) {
  std::vector<StagedFile> files;
  for (const auto& file : json) {
    const auto path = file.at("path").get<std::string>();
    files.push_back(
        {path, folder / path, file.at("sha256").get<std::string>(), file.at("size_bytes").get<std::uint64_t>()});
  }
  return files;
}

}  // namespace

std::string build_record_text(const CellBuild& build) {
  return json_text({{"schema", k_build_schema},
                    {"cell", cell_json(build.cell)},
                    {"commit", build.commit},
                    {"plugin", {{"path", build.plugin_path}, {"sha256", build.plugin_sha256}}},
                    {"provenance", build.provenance},
                    {"allowed_defects", build.allowed_defects},
                    {"readme", build.readme},
                    {"files", files_json(build.files)},
                    {"licenses", files_json(build.licenses)}});
}

Result<CellBuild> read_build_record(const fs::path& folder) {
  const auto refuse = [&folder](const std::string& why) {
    return fail(ErrorKind::usage, "STO004", fmt::format("{} is no build of sagekit: {}", folder.string(), why),
                "give a folder or build.json that `sagekit build` left in its store");
  };
  const auto text = read_file(folder / k_name);
  if (!text) return refuse(text.error().message);
  try {
    const Json json = parse_json(*text);
    if (!json.is_object()) return refuse("its build.json is damaged: it is no JSON object");
    if (json.at("schema").get<std::string>() != k_build_schema) return refuse("its build.json has another schema");
    CellBuild build;
    build.cell = read_cell(json.at("cell"));
    build.commit = json.at("commit").get<std::string>();
    build.plugin_path = json.at("plugin").at("path").get<std::string>();
    build.plugin_sha256 = json.at("plugin").at("sha256").get<std::string>();
    build.provenance = json.at("provenance").get<std::vector<std::string>>();
    build.allowed_defects = json.value("allowed_defects", std::vector<std::string>());  // younger than the record
    build.readme = json.at("readme").get<std::string>();
    build.files = read_files(json.at("files"), folder / "tree");
    build.licenses = read_files(json.at("licenses"), folder / "licenses");
    build.record = folder / k_name;
    return build;
  } catch (const Json::exception& error) {
    return refuse(std::string("its build.json is damaged: ") + error.what());
  }
}

Result<std::vector<CellBuild>> load_builds(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> folders;
  if (path.filename() == k_name) {
    folders.push_back(path.has_parent_path() ? path.parent_path() : fs::path("."));
  } else if (fs::exists(path / k_name, error)) {
    folders.push_back(path);
  } else {
    for (fs::directory_iterator walk(path, error), end; !error && walk != end; walk.increment(error)) {
      std::error_code ignored;
      if (fs::exists(walk->path() / k_name, ignored)) folders.push_back(walk->path());
    }
  }
  if (folders.empty())
    return fail(ErrorKind::usage, "STO004", fmt::format("there is no build in {}", path.string()),
                "give a folder or build.json that `sagekit build` left in its store");
  std::ranges::sort(folders);
  std::vector<CellBuild> builds;
  for (const auto& folder : folders) {
    TRY_ASSIGN(auto build, read_build_record(folder));
    builds.push_back(std::move(build));
  }
  return builds;
}

}  // namespace sagekit
