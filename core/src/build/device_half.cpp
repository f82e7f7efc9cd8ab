#include "build/device_half.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <optional>
#include <set>

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

class Reader {
 public:
  Status read(std::string_view line) {
    if (auto set = assignment(line)) {
      if (set->first == "_HERE_") m_bin = std::move(set->second);
      return {};
    }
    if (line.starts_with("-- Filter Dependencies --")) return {};
    const auto space = line.find(' ');
    const auto program = fs::path(replace_all(std::string(line.substr(0, space)), "\"", "")).filename();
    // Device code, and what only cleans up.
    if (program == "cicc" || program == "ptxas" || program == "rm") return {};
    TRY_ASSIGN(auto argv, split_command(line));
    if (program == "fatbinary") return take_fatbinary(argv);
    if (program == "cudafe++") return take_cudafe(std::move(argv));
    const auto output = word_after(argv, "-o");
    if (contains(argv, "-E") && output.ends_with(".cpp1.ii")) return {};
    if (contains(argv, "-E") && output.ends_with(".cpp4.ii")) return once(m_half.preprocess, std::move(argv));
    if (contains(argv, "-c") &&
        std::ranges::any_of(argv, [](const auto& word) { return word.ends_with(".cudafe1.cpp"); }))
      return once(m_half.compile, std::move(argv));
    return not_understood("an unknown command", line);
  }

  Result<HostHalf> result() {
    if (m_bin.empty()) return not_understood("it does not say where nvcc is");
    if (m_half.preprocess.empty() || m_half.split.empty() || m_half.compile.empty() || m_half.fatbin.empty())
      return not_understood("a part of the host's half is missing");
    m_half.split.front() = (m_bin / "cudafe++").string();
    // The stub's name is relative to the file that includes it.
    m_half.stub = fs::path(word_after(m_half.split, "--gen_c_file_name")).parent_path() / m_half.stub;
    if (m_half.stub.parent_path() != m_half.fatbin.parent_path())
      return not_understood("its files are not in one folder");
    return std::move(m_half);
  }

 private:
  static Status once(std::vector<std::string>& part, std::vector<std::string> argv) {
    if (!part.empty()) return not_understood("a part of the host's half is there twice", join(argv, " "));
    part = std::move(argv);
    return {};
  }

  Status take_cudafe(std::vector<std::string> argv) {
    m_half.stub = word_after(argv, "--stub_file_name");
    if (m_half.stub.empty() || m_half.stub.has_parent_path() || word_after(argv, "--gen_c_file_name").empty())
      return not_understood("cudafe++ without its output names", join(argv, " "));
    return once(m_half.split, std::move(argv));
  }

  Status take_fatbinary(const std::vector<std::string>& argv) {
    constexpr std::string_view k_output = "--embedded-fatbin=";
    for (const auto& word : argv)
      if (word.starts_with(k_output)) {
        if (!m_half.fatbin.empty()) return not_understood("two fatbins", join(argv, " "));
        m_half.fatbin = word.substr(k_output.size());
      }
    return {};
  }

  fs::path m_bin;
  HostHalf m_half;
};

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view line) {
  std::vector<std::string> words;
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

Result<HostHalf> read_dryrun(std::string_view text) {
  constexpr std::string_view k_mark = "#$ ";
  Reader reader;
  for (const auto& line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    if (!line.starts_with(k_mark)) return not_understood("it says something else", line);
    TRY(reader.read(trim(std::string_view(line).substr(k_mark.size()))));
  }
  return reader.result();
}

std::string word_after(const std::vector<std::string>& argv, std::string_view flag) {
  const auto found = std::ranges::find(argv, flag);
  return found == argv.end() || found + 1 == argv.end() ? std::string() : *(found + 1);
}

bool same_kernels(std::string_view stub, const std::vector<std::string>& ptx) {
  // __cudaRegisterEntry(handle, ((void (*)(..))..), NAME, (-1));
  std::set<std::string> registered;
  constexpr std::string_view k_register = "__cudaRegisterEntry(", k_end = ", (-1)";
  for (auto at = stub.find(k_register); at != std::string_view::npos; at = stub.find(k_register, at + 1)) {
    const auto end = stub.find(k_end, at);
    const auto comma = end == std::string_view::npos ? end : stub.rfind(',', end - 1);
    if (comma == std::string_view::npos || comma < at) return false;
    registered.insert(trim(stub.substr(comma + 1, end - comma - 1)));
  }
  constexpr std::string_view k_entry = ".entry ";
  return std::ranges::all_of(ptx, [&](const std::string& text) {
    std::set<std::string> entries;
    for (auto at = text.find(k_entry); at != std::string::npos; at = text.find(k_entry, at + 1)) {
      const auto name = at + k_entry.size();
      entries.insert(trim(std::string_view(text).substr(name, text.find_first_of("(\n ", name) - name)));
    }
    return entries == registered;
  });
}

}  // namespace sagekit
