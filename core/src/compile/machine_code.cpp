#include "compile/machine_code.hpp"

#include "elf/elf_file.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

namespace sagekit {

Result<std::map<std::string, std::string>> machine_code(const std::filesystem::path& cubin) {
  TRY_ASSIGN(const MappedFile file, MappedFile::open(cubin));
  Problems problems(cubin.string());
  const auto elf = ElfFile::read(Bytes(file.bytes()), problems);
  if (!elf || problems.has_errors())
    return fail(ErrorKind::failed, "BLD010", fmt::format("{} is no cubin", cubin.string()));
  constexpr std::string_view k_code = ".text.";
  std::map<std::string, std::string> code;
  for (const auto& section : elf->sections()) {
    const auto content = elf->content(section);
    if (!section.name.starts_with(k_code) || !content) continue;
    code[std::string(section.name.substr(k_code.size()))] = sha256_hex(content->view());
  }
  return code;
}

std::string first_difference(const std::map<std::string, std::string>& ours,
                             const std::map<std::string, std::string>& plain) {
  for (const auto& [name, hash] : plain) {
    const auto found = ours.find(name);
    if (found == ours.end()) return "there is no " + name;
    if (found->second != hash) return "other machine code in " + name;
  }
  for (const auto& [name, hash] : ours)
    if (!plain.contains(name)) return name + " is one too many";
  return {};
}

}  // namespace sagekit
