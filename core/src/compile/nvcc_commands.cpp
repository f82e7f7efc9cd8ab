#include "compile/nvcc_commands.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

std::unexpected<Error> not_understood(std::string_view what, std::string_view line = {}) {
  return fail(
      ErrorKind::failed, "BLD009",
      fmt::format("nvcc's dry run is not understood: {}{}{}", what, line.empty() ? "" : ": ", line.substr(0, 200)));
}

/// Does the line set a variable? "TOP=/usr/local/cuda/bin/.."
std::optional<std::pair<std::string, std::string>> assignment(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  const auto name = line.substr(0, equals);
  const auto fits = [](char c) { return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (!std::ranges::all_of(name, fits)) return std::nullopt;
  return std::pair(std::string(name), std::string(line.substr(equals + 1)));
}

/// The one word that ends so; "" = none, or several.
std::string word_with(const CommandLine& argv, std::string_view suffix) {
  std::string found;
  for (const auto& word : argv) {
    if (!word.ends_with(suffix)) continue;
    if (!found.empty()) return {};
    found = word;
  }
  return found;
}

/// `key` of "--image3=kind=elf,sm=90a,file=a.cubin". The file is last and may hold commas.
std::string image_value(std::string_view image, std::string_view key) {
  const auto at = image.find(key);
  if (at == std::string_view::npos) return {};
  const auto value = image.substr(at + key.size());
  return std::string(key == "file=" ? value : value.substr(0, value.find(',')));
}

class Reader {
 public:
  Status read(std::string_view line) {
    if (auto set = assignment(line)) {
      m_variables[set->first] = std::move(set->second);
      return {};
    }
    if (line.starts_with("-- Filter Dependencies --")) return {};
    // The one variable that nvcc leaves in a command.
    TRY_ASSIGN(auto argv, split_command(replace_all(std::string(line), "$CICC_PATH", m_variables["CICC_PATH"])));
    if (argv.empty()) return {};
    const auto program = fs::path(argv.front()).filename();
    if (program == "rm") return {};
    if (program == "cicc") return take_cicc(std::move(argv));
    if (program == "ptxas") return take_ptxas(std::move(argv));
    if (program == "fatbinary") return once(m_all.fatbinary, in_bin(std::move(argv)));
    if (program == "cudafe++") return once(m_all.split, in_bin(std::move(argv)));
    const auto output = word_after(argv, "-o");
    if (contains(argv, "-E") && output.ends_with(".cpp1.ii")) {
      if (!m_texts.emplace(output, argv).second) return not_understood("a part is there twice", line);
      return {};
    }
    if (contains(argv, "-E") && output.ends_with(".cpp4.ii")) return once(m_all.preprocess, std::move(argv));
    if (contains(argv, "-c") && !word_with(argv, ".cudafe1.cpp").empty()) return once(m_all.compile, std::move(argv));
    return not_understood("an unknown command", line);
  }

  Result<NvccCommands> result() {
    if (!m_variables.contains("_HERE_")) return not_understood("it does not say where nvcc is");
    if (m_all.preprocess.empty() || m_all.split.empty() || m_all.fatbinary.empty() || m_all.compile.empty())
      return not_understood("a part of the host's half is missing");
    TRY(finish_host());
    TRY(take_images());
    for (const auto& device : m_all.devices)
      if (device.images.empty()) return not_understood("GPU code that goes nowhere", device.ptx.string());
    if (m_all.devices.empty()) return not_understood("it makes no GPU code");
    // cicc finds libdevice by the last one.
    for (const auto name : {"TOP", "CICC_PATH", "NVVMIR_LIBRARY_DIR"})
      if (const auto found = m_variables.find(name); found != m_variables.end() && !found->second.empty())
        m_all.environment[name] = found->second;
    return std::move(m_all);
  }

 private:
  static Status once(CommandLine& part, CommandLine argv) {
    if (!part.empty()) return not_understood("a part is there twice", join(argv, " "));
    part = std::move(argv);
    return {};
  }

  /// Names without a folder are nvcc's own programs.
  CommandLine in_bin(CommandLine argv) const {
    const auto here = m_variables.find("_HERE_");
    if (here != m_variables.end() && !fs::path(argv.front()).has_parent_path())
      argv.front() = (fs::path(here->second) / argv.front()).string();
    return argv;
  }

  Status take_cicc(CommandLine argv) {
    DeviceCommands device;
    device.arch = word_after(argv, "-arch");
    device.ptx = word_after(argv, "-o");
    device.stub = word_after(argv, "--stub_file_name");
    device.text = word_with(argv, ".cpp1.ii");
    const auto text = m_texts.find(device.text.string());
    if (device.arch.empty() || device.ptx.empty() || device.stub.empty() || text == m_texts.end() ||
        std::ranges::count(m_all.devices, device.arch, &DeviceCommands::arch) != 0)
      return not_understood("cicc's input, output or architecture", join(argv, " "));
    device.preprocess = text->second;
    m_texts.erase(text);
    if (!fs::path(argv.front()).has_parent_path()) {
      const auto here = m_variables.find("_HERE_");
      if (here == m_variables.end()) return not_understood("it does not say where nvcc is");
      argv.front() = (fs::path(here->second) / "../nvvm/bin/cicc").string();
    }
    device.compile = std::move(argv);
    m_all.devices.push_back(std::move(device));
    return {};
  }

  Status take_ptxas(CommandLine argv) {
    const auto input = word_with(argv, ".ptx");
    const auto device =
        std::ranges::find_if(m_all.devices, [&](const auto& d) { return !input.empty() && d.ptx == input; });
    if (device == m_all.devices.end()) return not_understood("ptxas' input", join(argv, " "));
    device->assemble.push_back(in_bin(std::move(argv)));
    return {};
  }

  Status finish_host() {
    m_all.module_id = word_after(m_all.split, "--module_id_file_name");
    m_all.folder = m_all.module_id.parent_path();
    // The stub's name is relative to the file that includes it.
    const fs::path stub = word_after(m_all.split, "--stub_file_name"),
                   made = word_after(m_all.split, "--gen_c_file_name");
    if (m_all.folder.empty() || stub.empty() || stub.has_parent_path() || made.parent_path() != m_all.folder)
      return not_understood("cudafe++ without its output names", join(m_all.split, " "));
    m_all.stub = m_all.folder / stub;
    if (m_all.devices.empty() || m_all.stub != m_all.devices.back().stub)
      return not_understood("the stub is not the last architecture's", m_all.stub.string());
    if (!m_texts.empty()) return not_understood("a preprocessed text that nobody compiles", m_texts.begin()->first);
    return {};
  }

  Status take_images() {
    constexpr std::string_view k_output = "--embedded-fatbin=", k_image = "--image3=";
    for (const auto& word : m_all.fatbinary) {
      if (word.starts_with(k_output)) m_all.fatbin = word.substr(k_output.size());
      if (word.starts_with("--image") && !word.starts_with(k_image)) return not_understood("fatbinary's image", word);
      if (!word.starts_with(k_image)) continue;
      const auto kind = image_value(word, "kind="), sm = image_value(word, "sm="), file = image_value(word, "file=");
      const auto makes = [&](const DeviceCommands& device) {
        return kind == "ptx" ? device.ptx == file : std::ranges::any_of(device.assemble, [&](const CommandLine& argv) {
          return word_after(argv, "-o") == file;
        });
      };
      const auto maker = std::ranges::find_if(m_all.devices, makes);
      if ((kind != "elf" && kind != "ptx") || sm.empty() || maker == m_all.devices.end() ||
          fs::path(file).parent_path() != m_all.folder)
        return not_understood("fatbinary's image", word);
      maker->images.push_back({kind + "-" + sm, file});
    }
    if (m_all.fatbin.parent_path() != m_all.folder) return not_understood("its files are not in one folder");
    return {};
  }

  std::map<std::string, std::string> m_variables;
  std::map<std::string, CommandLine> m_texts;  ///< preprocessed text -> what makes it
  NvccCommands m_all;
};

}  // namespace

Result<CommandLine> split_command(std::string_view line) {
  CommandLine words;
  std::string word;
  bool in_word = false, quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') {
      quoted = !quoted;
      in_word = true;
    } else if (c == '\\' && at + 1 < line.size()) {
      const char next = line[at + 1];
      // Inside quotes a backslash escapes these only.
      if (quoted && std::string_view("\"\\$`").find(next) == std::string_view::npos) {
        word += c;
      } else {
        word += next;
        ++at;
      }
      in_word = true;
    } else if (c == '$' || c == '`' ||
               (!quoted && std::string_view("'|&;<>()*?[]#~\n").find(c) != std::string_view::npos)) {
      return not_understood("it uses a shell", line);
    } else if (!quoted && (c == ' ' || c == '\t')) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quoted) return not_understood("an open quote", line);
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<NvccCommands> read_dryrun(std::string_view text) {
  constexpr std::string_view k_mark = "#$ ";
  Reader reader;
  for (const auto& line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    if (!line.starts_with(k_mark)) return not_understood("it says something else", line);
    TRY(reader.read(trim(std::string_view(line).substr(k_mark.size()))));
  }
  return reader.result();
}

NvccCommands in_folder(const NvccCommands& commands, const fs::path& folder) {
  auto moved = commands;
  const auto from = commands.folder.string(), to = folder.string();
  const auto move_words = [&](CommandLine& argv) {
    for (auto& word : argv) word = replace_all(std::move(word), from, to);
  };
  const auto move_file = [&](fs::path& file) { file = replace_all(file.string(), from, to); };
  for (auto& device : moved.devices) {
    move_words(device.preprocess);
    move_words(device.compile);
    for (auto& argv : device.assemble) move_words(argv);
    for (auto* file : {&device.text, &device.ptx, &device.stub}) move_file(*file);
    for (auto& image : device.images) move_file(image.file);
  }
  for (auto* argv : {&moved.preprocess, &moved.split, &moved.fatbinary, &moved.compile}) move_words(*argv);
  for (auto* file : {&moved.folder, &moved.module_id, &moved.stub, &moved.fatbin}) move_file(*file);
  return moved;
}

std::string word_after(const CommandLine& argv, std::string_view flag) {
  const auto found = std::ranges::find(argv, flag);
  return found == argv.end() || found + 1 == argv.end() ? std::string() : *(found + 1);
}

}  // namespace sagekit
