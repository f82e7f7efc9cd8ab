#include "environment/probes.hpp"
#include "environment/version_py.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

// Wheel platform by e_machine (ELF header, bytes 18 and 19, little endian); "" = not a 64-bit Linux library we know.
std::string elf_platform(const fs::path& library) {
  const auto file = MappedFile::open(library);
  if (!file || file->bytes().size() < 20 ||
      !file->bytes().starts_with("\x7f"
                                 "ELF"))
    return {};
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(file->bytes()[at]); };
  switch (byte(18) | byte(19) << 8) {
    case 62: return "linux_x86_64";
    case 183: return "linux_aarch64";
    default: return {};
  }
}

// torch 2.7 and newer are built with the new ABI only and need not say so in TorchConfig.cmake.
bool has_known_abi(TorchSysroot& torch) {
  const auto config = read_file(torch.root / "share/cmake/Torch/TorchConfig.cmake");
  const std::string key = "_GLIBCXX_USE_CXX11_ABI=";
  const std::size_t at = config ? config->find(key) : std::string::npos;
  if (at != std::string::npos && at + key.size() < config->size()) {
    torch.cxx11_abi = (*config)[at + key.size()] == '1';
    return true;
  }
  torch.cxx11_abi = version_numbers(torch.version) >= std::vector{2, 7};
  return torch.cxx11_abi;
}

// The wheel's own hashes of what a build sees of it. Rows that an installer adds or that differ between Pythons do not
// count: one torch for several Pythons, installed or unpacked, is one sysroot.
bool add_record(Sha256& hash, const fs::path& record) {
  const auto text = read_file(record);
  if (!text) return false;
  constexpr std::array<std::string_view, 4> seen{"torch/include/", "torch/version.py,", "torch/lib/libc10.so,",
                                                 "torch/lib/torch_cpu.dll,"};
  std::vector<std::string> rows;
  for (const auto& line : split(*text, '\n'))
    if (std::ranges::any_of(seen, [&](std::string_view start) { return line.starts_with(start); }))
      rows.push_back(trim(line));
  std::erase_if(rows, [](const std::string& row) { return row.find("__pycache__") != std::string::npos; });
  std::ranges::sort(rows);
  for (const auto& row : rows) hash.field(row);
  return !rows.empty();
}

std::string fingerprint(const TorchSysroot& torch, const std::string& version_text) {
  Sha256 hash;
  for (const auto& entry : entries_of(torch.root.parent_path())) {
    const std::string name = entry.filename().string();
    if (name.starts_with("torch-" + torch.version) && name.ends_with(".dist-info") &&
        add_record(hash, entry / "RECORD"))
      return hash.hex();
  }
  hash.field(version_text);
  hash.field(torch.platform);
  add_listing(hash, torch.root / "include");
  return hash.hex();
}

std::string examine(TorchSysroot& torch) {
  const auto text = read_file(torch.root / "version.py");
  if (!text) return text.error().message;
  const std::string full = python_string(*text, "__version__");
  const std::size_t plus = std::min(full.find('+'), full.size());
  torch.version = full.substr(0, plus);
  torch.local = full.substr(std::min(plus + 1, full.size()));
  torch.cuda = python_string(*text, "cuda");
  if (torch.version.empty()) return "its version.py says no __version__";
  if (is_file(torch.root / "lib/torch_cpu.dll")) {
    torch.platform = "win_amd64";
    if (!is_file(torch.root / "include/torch/csrc/stable/library.h"))
      return "no include/torch/csrc/stable/library.h: torch's stable interface, which modules for Windows use, is not "
             "there";
    torch.identity = fingerprint(torch, *text);
    return {};
  }
  if (!is_file(torch.root / "lib/libc10.so")) return "no lib/libc10.so: unpack the whole wheel, not its headers alone";
  torch.platform = elf_platform(torch.root / "lib/libc10.so");
  if (torch.platform.empty()) return "lib/libc10.so is not an x86_64 or aarch64 Linux library";
  if (!is_file(torch.root / "include/torch/extension.h"))
    return "no include/torch/extension.h: its headers are missing";
  if (!has_known_abi(torch)) return "share/cmake/Torch/TorchConfig.cmake does not say _GLIBCXX_USE_CXX11_ABI";
  torch.identity = fingerprint(torch, *text);
  return {};
}

}  // namespace

TorchSysroot read_torch(const Found& found) {
  TorchSysroot torch;
  torch.root = found.path;
  torch.source = found.source;
  torch.why_not = examine(torch);
  torch.ready = torch.why_not.empty();
  return torch;
}

}  // namespace sagekit
