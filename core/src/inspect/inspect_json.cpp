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

Json elf_json(const ElfFacts& elf, const std::string& python_abi, bool symbols) {
  Json json;
  json["machine"] = elf.machine;
  json["soname"] = elf.soname;
  json["needed"] = elf.needed;
  json["run_paths"] = elf.run_paths;
  json["versions"] = elf.versions;
  json["python_abi"] = abi_word(python_abi);
  json["exports"] = symbols ? Json(elf.exports.size()) : Json(nullptr);
  json["undefined"] = symbols ? Json(elf.undefined.size()) : Json(nullptr);
  json["debug_info"] = elf.debug_info;
  json["executable_stack"] = elf.executable_stack;
  json["libc"] = elf.libc;
  json["build_id"] = elf.build_id;
  json["relro"] = elf.relro;
  json["interpreter"] = elf.interpreter;
  json["debug_bytes"] = elf.debug_bytes;
  json["text_relocations"] = elf.text_relocations;
  json["position_independent"] = elf.position_independent;
  json["writable_code"] = elf.writable_code;
  json["isa"] = elf.isa;
  return json;
}

Json pe_json(const PeFacts& pe, const std::string& python_abi) {
  Json json;
  json["machine"] = pe.machine;
  json["imports"] = pe.imports;
  json["imported"] = Json::object();
  for (const auto& [library, names] : pe.imported) json["imported"][library] = names.size();
  json["python_abi"] = abi_word(python_abi);
  json["exports"] = pe.exports.size();
  return json;
}

std::string_view body_word(KernelResources::Body body) {
  switch (body) {
    case KernelResources::Body::full: return "full";
    case KernelResources::Body::empty: return "empty";
    case KernelResources::Body::trap: return "trap";
  }
  return "full";
}

Json kernel_json(const KernelResources& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["registers"] = kernel.registers;
  json["shared_bytes"] = kernel.shared_bytes;
  json["stack_bytes"] = kernel.stack_bytes;
  json["constant_bytes"] = kernel.constant_bytes;
  json["code_bytes"] = kernel.code_bytes;
  // Where instructions are not decoded nobody counted: null, not 0.
  const auto counted = [&](std::uint64_t number) { return kernel.local_counted ? Json(number) : Json(nullptr); };
  json["instructions"] = counted(kernel.instructions);
  json["local_load_bytes"] = counted(kernel.local_load_bytes);
  json["local_store_bytes"] = counted(kernel.local_store_bytes);
  json["traps"] = counted(kernel.traps);
  json["mma_instructions"] = counted(kernel.mma_instructions);
  json["body"] = kernel.local_counted ? Json(body_word(kernel.body)) : Json(nullptr);
  return json;
}

/// The greatest needs of any kernel, and how many have no body.
void add_kernel_totals(Json& json, const std::vector<KernelResources>& kernels) {
  KernelResources most;
  std::uint64_t local = 0, without_body = 0;
  for (const KernelResources& kernel : kernels) {
    most.registers = std::max(most.registers, kernel.registers);
    most.shared_bytes = std::max(most.shared_bytes, kernel.shared_bytes);
    most.stack_bytes = std::max(most.stack_bytes, kernel.stack_bytes);
    local = std::max(local, kernel.local_load_bytes + kernel.local_store_bytes);
    if (kernel.body != KernelResources::Body::full) ++without_body;
  }
  json["max_registers"] = most.registers;
  json["max_shared_bytes"] = most.shared_bytes;
  json["max_stack_bytes"] = most.stack_bytes;
  json["max_local_bytes"] = local;
  json["hollow_kernels"] = without_body;
}

Json gpu_json(const GpuCode& code, const InspectOptions& options) {
  Json json;
  json["kind"] = code.lto ? "lto" : code.ptx ? "ptx" : "cubin";
  json["arch"] = sm_name(code.arch);
  json["count"] = code.count;
  // Without --kernels nobody counted: null, not 0.
  const bool kernels = options.kernels || options.resources;
  json["kernels"] = kernels && !code.lto ? Json(code.kernels) : Json(nullptr);
  json["bytes"] = code.bytes;
  json["toolkit"] = code.toolkit;
  json["loaded"] = code.loaded;
  if (code.compiled_from) json["compiled_from"] = to_string(*code.compiled_from);
  if (kernels) json["names"] = code.names;
  if (options.resources && !code.ptx && !code.lto) {
    add_kernel_totals(json, code.resources);
    json["resources"] = Json::array();
    for (const KernelResources& kernel : code.resources) json["resources"].push_back(kernel_json(kernel));
  }
  return json;
}

Json member_json(const MemberFacts& member, const InspectOptions& options) {
  Json json;
  json["path"] = member.path;
  json["size_bytes"] = member.size_bytes;
  if (!member.sha256.empty()) json["sha256"] = member.sha256;
  if (member.elf) json["elf"] = elf_json(*member.elf, member.python_abi, options.symbols);
  if (member.pe) json["pe"] = pe_json(*member.pe, member.python_abi);
  if (!member.gpu.empty()) {
    json["gpu"] = Json::array();
    for (const GpuCode& code : member.gpu) json["gpu"].push_back(gpu_json(code, options));
  }
  if (member.wiring) {
    json["wiring"] = {{"containers", member.wiring->containers}, {"wrappers", member.wiring->wrappers}};
    json["wiring"]["repeated"] = options.kernels || options.resources ? Json(member.wiring->repeated) : Json(nullptr);
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
  if (!wheel.plugin.empty()) json["plugin"] = wheel.plugin;
  json["problems"] = problems_json(wheel.problems);
  for (auto& one : problems_json(wheel.unchecked)) json["problems"].push_back(std::move(one));
  return json;
}

}  // namespace

std::string inspect_json(const std::vector<FileFacts>& files, const InspectOptions& options,
                         const std::vector<Error>& errors) {
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
  document["errors"] = Json::array();
  for (const auto& one : errors)
    document["errors"].push_back(
        {{"code", one.code}, {"message", one.message}, {"where", one.where}, {"hint", one.hint}});
  return json_text(document);
}

}  // namespace sagekit
