#include "compile/kernel_interface.hpp"

#include "support/format.hpp"
#include "support/sort_once.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace sagekit {

namespace {

std::optional<std::uint64_t> read_size(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value > (std::uint64_t{1} << 32))
    return std::nullopt;
  return value;
}

/// Bytes of a scalar PTX type: ".u64" -> 8 (PTX ISA, fundamental types).
std::optional<std::uint64_t> type_bytes(std::string_view word) {
  if (word.size() < 3 || word.front() != '.' || std::string_view("usfb").find(word[1]) == std::string_view::npos)
    return std::nullopt;
  const auto bits = read_size(word.substr(2));
  if (!bits || *bits < 8 || *bits > 128 || *bits % 8 != 0) return std::nullopt;
  return *bits / 8;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view k_blanks = " \t\r";
  for (auto at = line.find_first_not_of(k_blanks); at != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(k_blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(k_blanks, end);
  }
  return words;
}

/// "	.param .align 8 .b8 k_param_1[160]," -> 160
std::optional<std::uint64_t> parameter_bytes(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 3 || words.front() != ".param") return std::nullopt;
  std::optional<std::uint64_t> one;
  for (const auto word : words)
    if (const auto bytes = type_bytes(word); bytes && !one) one = bytes;
  if (!one) return std::nullopt;
  auto name = words.back();
  if (name.ends_with(',')) name.remove_suffix(1);
  const auto bracket = name.find('[');
  if (bracket == std::string_view::npos) return one;
  if (!name.ends_with(']')) return std::nullopt;
  const auto count = read_size(name.substr(bracket + 1, name.size() - bracket - 2));
  if (!count) return std::nullopt;
  return *one * *count;
}

/// ".visible .const .align 4 .b8 table[16] = {..};" -> "table"; "" for a line that declares no variable of the module.
std::string_view variable_of(std::string_view line) {
  const auto words = words_of(line);
  bool space = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].front() != '.') return space ? words[i].substr(0, words[i].find_first_of("[=;")) : std::string_view{};
    space |= words[i] == ".global" || words[i] == ".const";
    if (words[i] == ".align" || words[i] == ".attribute") ++i;
  }
  return {};
}

/// The text from `at` up to the next of `ends`, trimmed; moves `at` behind it.
std::optional<std::string> up_to(std::string_view text, std::size_t& at, std::string_view ends) {
  const auto end = text.find_first_of(ends, at);
  if (end == std::string_view::npos) return std::nullopt;
  auto word = trim(text.substr(at, end - at));
  at = end + 1;
  return word;
}

}  // namespace

std::optional<KernelInterface> read_interface(std::string_view ptx) {
  KernelInterface found;
  bool in_parameters = false, in_body = false;
  for (std::size_t at = 0; at < ptx.size();) {
    const auto end = std::min(ptx.find('\n', at), ptx.size());
    const auto line = ptx.substr(at, end - at);
    at = end + 1;
    if (in_parameters) {
      if (line.starts_with(")")) {
        in_parameters = false;
      } else if (const auto bytes = parameter_bytes(line)) {
        found.entries.back().parameter_bytes.push_back(*bytes);
      } else {
        return std::nullopt;
      }
      continue;
    }
    if (line.starts_with("{")) in_body = true;
    if (line.starts_with("}")) in_body = false;
    if (in_body || !line.starts_with(".")) continue;
    constexpr std::string_view k_entry = ".entry ";
    if (const auto entry = line.find(k_entry); entry != std::string_view::npos) {
      const auto rest = line.substr(entry + k_entry.size());
      const auto open = rest.find('(');
      if (open == std::string_view::npos) return std::nullopt;
      found.entries.push_back({trim(rest.substr(0, open)), {}});
      in_parameters = rest.find(')', open) == std::string_view::npos;
      if (!in_parameters && !trim(rest.substr(open + 1, rest.find(')', open) - open - 1)).empty()) return std::nullopt;
    } else if (const auto name = variable_of(line); !name.empty()) {
      found.variables.emplace_back(name);
    }
  }
  if (in_parameters) return std::nullopt;
  std::ranges::sort(found.entries);
  sort_once(found.variables);
  return found;
}

std::string interface_text(const KernelInterface& interface) {
  std::string text = "sagekit kernels 1\n";
  for (const auto& entry : interface.entries) {
    text += "entry " + entry.name;
    for (const auto bytes : entry.parameter_bytes) text += fmt::format(" {}", bytes);
    text += '\n';
  }
  for (const auto& name : interface.variables) text += "variable " + name + "\n";
  return text;
}

std::optional<KernelInterface> parse_interface(std::string_view text) {
  KernelInterface found;
  bool first = true;
  for (const auto& line : split(text, '\n')) {
    if (std::exchange(first, false)) {
      if (line != "sagekit kernels 1") return std::nullopt;
      continue;
    }
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words.size() < 2) return std::nullopt;
    if (words[0] == "variable" && words.size() == 2) {
      found.variables.emplace_back(words[1]);
    } else if (words[0] == "entry") {
      KernelEntry entry{std::string(words[1]), {}};
      for (std::size_t i = 2; i < words.size(); ++i) {
        const auto bytes = read_size(words[i]);
        if (!bytes) return std::nullopt;
        entry.parameter_bytes.push_back(*bytes);
      }
      found.entries.push_back(std::move(entry));
    } else {
      return std::nullopt;
    }
  }
  return found;
}

std::optional<Registered> read_registered(std::string_view stub) {
  Registered found;
  // __cudaRegisterEntry(handle, ((void (*)(..))..), NAME, (-1)); a type's commas stand before the name. The last word
  // is the most threads of a block: that of __launch_bounds__, where a kernel has one.
  constexpr std::string_view k_entry = "__cudaRegisterEntry(";
  for (auto at = stub.find(k_entry); at != std::string_view::npos; at = stub.find(k_entry, at + 1)) {
    const auto end = stub.find(';', at);
    const auto limit = end == std::string_view::npos ? end : stub.rfind(',', end);
    const auto comma =
        limit == std::string_view::npos || limit <= at ? std::string_view::npos : stub.rfind(',', limit - 1);
    if (comma == std::string_view::npos || comma < at) return std::nullopt;
    found.entries.push_back(trim(stub.substr(comma + 1, limit - comma - 1)));
  }
  // __cudaRegisterVariable(handle, __shadow_var(NAME,::name), ...): so do managed ones, textures and surfaces.
  constexpr std::string_view k_register = "__cudaRegister", k_shadow = "__shadow_var(";
  for (auto at = stub.find(k_shadow); at != std::string_view::npos; at = stub.find(k_shadow, at + 1)) {
    auto from = at + k_shadow.size();
    auto name = up_to(stub, from, ",");
    const auto call = stub.rfind(k_register, at);
    if (!name || call == std::string_view::npos) return std::nullopt;
    found.variables.push_back(std::move(*name));
  }
  sort_once(found.entries);
  sort_once(found.variables);
  return found;
}

std::string stub_differs(const Registered& stub, const KernelInterface& kernels) {
  std::vector<std::string> names;
  for (const auto& entry : kernels.entries) names.push_back(entry.name);
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(stub.entries, names, std::back_inserter(differ));
  if (!differ.empty()) return "host and GPU code do not have the same kernels: " + differ.front();
  std::ranges::set_difference(stub.variables, kernels.variables, std::back_inserter(differ));
  if (!differ.empty()) return "the GPU code has no variable " + differ.front();
  return {};
}

std::optional<std::string> with_size_assertions(std::string_view stub, const KernelInterface& kernels) {
  constexpr std::string_view k_launch = "__cudaLaunchPrologue(", k_function = "__device_stub_";
  std::string text;
  std::size_t done = 0, launches = 0;
  for (auto at = stub.find(k_launch); at != std::string_view::npos; at = stub.find(k_launch, at + 1)) {
    auto after = at + k_launch.size();
    const auto count_text = up_to(stub, after, ")");
    const auto count = count_text ? read_size(*count_text) : std::nullopt;
    const auto function = stub.rfind(k_function, at);
    if (!count || function == std::string_view::npos || after >= stub.size() || stub[after] != ';') return std::nullopt;
    auto from = function + k_function.size();
    const auto name = up_to(stub, from, "(");
    // A C function's stub has one underscore more than a mangled name's.
    const auto is_it = [&](const KernelEntry& e) { return name && (e.name == *name || "_" + e.name == *name); };
    const auto entry = std::ranges::find_if(kernels.entries, is_it);
    if (entry == kernels.entries.end()) return std::nullopt;
    const auto parameters = entry->parameter_bytes.size();
    if (*count != parameters && !(*count == 1 && parameters == 0)) return std::nullopt;  // 1 is said of none, too (13.0)
    text.append(stub, done, after + 1 - done);
    done = after + 1;
    for (std::size_t i = 0; i < entry->parameter_bytes.size(); ++i)
      text += fmt::format("static_assert(sizeof(__par{})=={}, \"GPU code was made with another layout\");", i,
                          entry->parameter_bytes[i]);
    ++launches;
  }
  if (launches != kernels.entries.size()) return std::nullopt;
  text.append(stub, done, stub.size() - done);
  return text;
}

}  // namespace sagekit
