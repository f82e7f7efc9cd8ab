#include "compile/host_commands.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sagekit {

namespace fs = std::filesystem;

bool is_for_preprocessor(std::string_view word, bool& separate) {
  constexpr std::array<std::string_view, 3> k_attached{"-D", "-U", "-I"};
  constexpr std::array<std::string_view, 5> k_separate{"-isystem", "-iquote", "-idirafter", "-include", "-imacros"};
  separate = std::ranges::count(k_attached, word) != 0 || std::ranges::count(k_separate, word) != 0;
  return separate || std::ranges::any_of(k_attached, [&](auto flag) { return word.starts_with(flag); });
}

NvccCommands with_host_names(NvccCommands commands) {
  const auto unit = word_after(commands.split, "--gen_c_file_name"), stub = commands.stub.filename().string();
  const auto own_unit = (commands.folder / k_host_unit).string();
  for (auto* argv : {&commands.split, &commands.compile})
    for (auto& word : *argv) {
      if (word == unit) word = own_unit;
      if (word == stub) word = k_host_stub;
    }
  commands.stub = commands.folder / k_host_stub;
  return commands;
}

std::optional<HostCommands> take_apart(const CommandLine& compile, const fs::path& folder) {
  const auto unit = (folder / k_host_unit).string(), output = word_after(compile, "-o");
  const std::string text(k_host_text), assembly(k_host_assembly);
  const auto once = [&](std::string_view word) { return std::ranges::count(compile, word) == 1; };
  if (!once("-c") || !once(unit) || !once("-o") || !once("-x") || word_after(compile, "-x") != "c++" || output.empty())
    return std::nullopt;
  HostCommands made;
  made.preprocess = compile;
  std::ranges::replace(made.preprocess, "-c", "-E");
  std::ranges::replace(made.preprocess, output, (folder / k_host_text).string());
  for (std::size_t i = 0; i < compile.size(); ++i) {
    const auto& word = compile[i];
    // Debug information names the files that were compiled, and more is made of it than an assembly.
    if (word.starts_with("-g") || word.starts_with("-save-temps") || word.starts_with("-M")) return std::nullopt;
    if (bool separate = false; is_for_preprocessor(word, separate)) {
      i += separate ? 1 : 0;
      continue;
    }
    made.compile.push_back(word == unit ? text : word == output ? assembly : word);
    // A launcher knows a compilation by the -c, so it stays; -S is the one that counts.
    if (word == "-c") made.compile.emplace_back("-S");
    made.assemble.push_back(word == unit ? assembly : word);
  }
  std::ranges::replace(made.assemble, "c++", "assembler");
  return made;
}

}  // namespace sagekit
