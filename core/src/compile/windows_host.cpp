#include "compile/windows_host.hpp"

#include "plan/argv.hpp"
#include "support/bytes.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

// Written at build time by cmake/EmbedText.cmake.
extern const std::string_view k_windows_cuda_host_h;
extern const std::string_view k_windows_torch_wall_h;

namespace fs = std::filesystem;

std::vector<Shim> windows_shims() {
  const std::string name(k_windows_shim);
  return {{name, "cuda_host.h", std::string(k_windows_cuda_host_h)},
          {name, "torch_wall.h", std::string(k_windows_torch_wall_h)}};
}

bool is_windows_host(const Step& step) {
  return step.kind == StepKind::compile && !step.device_argv.empty() && !step.argv.empty() &&
         step.argv.front().starts_with("{cxx-win");
}

std::optional<HostCommands> take_apart_clang(const CommandLine& whole, const fs::path& folder) {
  const auto output = word_after(whole, "-o"), source = word_after(whole, "-c");
  if (output.empty() || source.empty() || word_after(whole, "-x") != "cuda") return std::nullopt;
  HostCommands made;
  made.preprocess = whole;
  std::ranges::replace(made.preprocess, "-c", "-E");
  std::ranges::replace(made.preprocess, output, (folder / k_host_text).string());
  made.preprocess.insert(made.preprocess.end(), {"-MT", output});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto& word = whole[i];
    if (word == "-MF") ++i;
    if (word == "-MF" || word == "-MD") continue;
    if (bool separate = false; is_for_preprocessor(word, separate)) {
      i += separate ? 1 : 0;
      continue;
    }
    made.compile.push_back(word == source   ? std::string(k_host_text)
                           : word == output ? std::string(k_host_assembly)
                           : word == "cuda" ? "cuda-cpp-output"
                                            : word);
    // A launcher knows a compilation by the -c, so it stays; -S is the one that counts.
    if (word == "-c") made.compile.emplace_back("-S");
  }
  made.compile.insert(made.compile.end(),
                      {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", std::string(k_fatbin_place_file)});
  // Of a text that is preprocessed the driver does not say whose names kernels have in GPU code: without it those of
  // Microsoft's host would be registered. mingw's are the same.
  if (std::ranges::any_of(whole, [](const std::string& word) { return word.ends_with("windows-msvc"); }))
    made.compile.insert(made.compile.end(), {"-Xclang", "-aux-triple", "-Xclang", "nvptx64-nvidia-cuda"});
  made.assemble = {whole.front()};
  std::ranges::copy_if(whole, std::back_inserter(made.assemble),
                       [](const std::string& word) { return word.starts_with("--target="); });
  made.assemble.insert(made.assemble.end(), {"-x", "assembler", "-c", std::string(k_host_assembly), "-o", output});
  return made;
}

std::optional<std::string> with_fatbin_file(std::string_view assembly, std::string_view file) {
  const auto place = fmt::format(".ascii\t\"{}\"", k_fatbin_place);
  if (count_of(assembly, place) != 1) return std::nullopt;
  return replace_all(std::string(assembly), place, fmt::format(".incbin\t\"{}\"", file));
}

std::optional<std::string> with_windows_host(std::string fatbin) {
  // Fields as gpu/fatbin_reader.cpp has them. 0x10 is a Linux host, 0x40 Windows: fatbinary of CUDA 13.0 on both, whose
  // files differ in these bits alone.
  constexpr std::uint64_t k_header = 16, k_entry = 64, k_flags_at = 0x28;
  constexpr std::uint32_t k_magic = 0xba55ed50;
  constexpr unsigned char k_linux = 0x10, k_windows_bit = 0x40, k_hosts = 0x70;
  const Bytes bytes(fatbin);
  const auto end = k_header + bytes.u64(8);
  if (bytes.u32(0) != k_magic || bytes.u16(6) != k_header || !bytes.holds(k_header, bytes.u64(8))) return std::nullopt;
  std::vector<std::uint64_t> places;
  for (auto at = k_header; at < end;) {
    const auto entry = bytes.slice(at, k_entry);
    if (!entry || entry->u32(4) < k_entry) return std::nullopt;
    const std::uint64_t size = std::uint64_t{entry->u32(4)} + entry->u64(8);
    if (entry->u64(8) > end || size > end - at || (entry->u8(k_flags_at) & k_hosts) != k_linux) return std::nullopt;
    places.push_back(at + k_flags_at);
    at += size;
  }
  for (const auto place : places) {
    auto& flags = fatbin[static_cast<std::size_t>(place)];
    flags = static_cast<char>((static_cast<unsigned char>(flags) & ~k_hosts) | k_windows_bit);
  }
  return fatbin;
}

}  // namespace sagekit
