#include "support/json.hpp"

#include <sagekit/inspect.hpp>

#include <algorithm>

namespace sagekit {

namespace {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

Json problems_json(const Diagnostics& problems) {
  Json list = Json::array();
  for (const Diagnostic& one : problems)
    list.push_back({{"code", one.code},
                    {"severity", severity_name(one.severity)},
                    {"message", one.message},
                    {"where", one.where.file},
                    {"hint", one.hint}});
  return list;
}

/// What the file promises; a library without an entry point for Python promises nothing.
std::string abi_word(const std::string& abi) { return abi.empty() ? "none" : abi; }

Json elf_json(const ElfFacts& elf, const std::string& python_abi) {
  Json json;
  json["machine"] = elf.machine;
  json["soname"] = elf.soname;
  json["needed"] = elf.needed;
  json["run_paths"] = elf.run_paths;
  json["versions"] = elf.versions;
  json["python_abi"] = abi_word(python_abi);
  json["exports"] = elf.exports.size();
  json["undefined"] = elf.undefined.size();
  json["debug_info"] = elf.debug_info;
  json["executable_stack"] = elf.executable_stack;
  return json;
}

Json pe_json(const PeFacts& pe, const std::string& python_abi) {
  Json json;
  json["machine"] = pe.machine;
  json["imports"] = pe.imports;
  json["python_abi"] = abi_word(python_abi);
  json["exports"] = pe.exports.size();
  return json;
}

Json gpu_json(const GpuCode& code, const InspectOptions& options) {
  Json json;
  json["kind"] = code.lto ? "lto" : code.ptx ? "ptx" : "cubin";
  json["arch"] = sm_name(code.arch);
  json["count"] = code.count;
  // Without --kernels nobody counted: null, not 0.
  json["kernels"] = options.kernels && !code.lto ? Json(code.kernels) : Json(nullptr);
  json["bytes"] = code.bytes;
  json["toolkit"] = code.toolkit;
  json["loaded"] = code.loaded;
  if (options.kernels) json["names"] = code.names;
  return json;
}

Json member_json(const MemberFacts& member, const InspectOptions& options) {
  Json json;
  json["path"] = member.path;
  json["size_bytes"] = member.size_bytes;
  json["sha256"] = member.sha256;
  if (member.elf) json["elf"] = elf_json(*member.elf, member.python_abi);
  if (member.pe) json["pe"] = pe_json(*member.pe, member.python_abi);
  if (!member.gpu.empty()) {
    json["gpu"] = Json::array();
    for (const GpuCode& code : member.gpu) json["gpu"].push_back(gpu_json(code, options));
  }
  if (!member.problems.empty()) json["problems"] = problems_json(member.problems);
  return json;
}

Json wheel_json(const WheelFacts& wheel) {
  Json json;
  json["name"] = wheel.metadata_name.empty() ? wheel.name.distribution : wheel.metadata_name;
  json["version"] = wheel.metadata_version.empty() ? wheel.name.version : wheel.metadata_version;
  json["build"] = wheel.build;
  json["tags"] = wheel.wheel_tags;
  json["requires_dist"] = wheel.requires_dist;
  json["requires_python"] = wheel.requires_python;
  json["generator"] = wheel.generator;
  json["problems"] = problems_json(wheel.problems);
  return json;
}

}  // namespace

std::string inspect_json(const std::vector<FileFacts>& files, const InspectOptions& options) {
  Json document;
  document["schema"] = "sagekit.inspect/1";
  document["files"] = Json::array();
  for (const FileFacts& file : files) {
    Json json;
    json["path"] = file.path;
    json["kind"] = file.kind;
    json["sha256"] = file.sha256;
    json["size_bytes"] = file.size_bytes;
    if (file.wheel) json["wheel"] = wheel_json(*file.wheel);
    json["members"] = Json::array();
    for (const MemberFacts& member : file.members) json["members"].push_back(member_json(member, options));
    document["files"].push_back(std::move(json));
  }
  return json_text(document);
}

}  // namespace sagekit
