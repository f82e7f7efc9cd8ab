#include "compile/windows_kernels.hpp"

#include "support/format.hpp"
#include "support/sort_once.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"
#include "support/try.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace sagekit {

extern const std::string_view k_kernel_types_toml;  // written at build time by cmake/EmbedText.cmake

namespace {

/// Name -> bytes: the language's own types that are the same on both, then core/data/windows/kernel_types.toml.
const std::map<std::string, std::uint64_t, std::less<>>& known_types() {
  static const auto k_types = [] {
    std::map<std::string, std::uint64_t, std::less<>> types{
        {"bool", 1},  {"char", 1},           {"signed char", 1}, {"unsigned char", 1},
        {"short", 2}, {"unsigned short", 2}, {"int", 4},         {"unsigned int", 4},
        {"float", 4}, {"double", 8},         {"long long", 8},   {"unsigned long long", 8}};
    const auto document = TomlDocument::parse(k_kernel_types_toml, "core/data/windows/kernel_types.toml", "SPEC");
    auto root = document.root();
    for (auto& row : root.tables("type"))
      types[row.required_string("name")] = static_cast<std::uint64_t>(row.integer("bytes").value_or(0));
    return types;
  }();
  return k_types;
}

std::optional<std::string> demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::optional<std::string>(text.get()) : std::nullopt;
}

/// Identifiers, numbers and words of a demangled name.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    if (at > begin) tokens.push_back(text.substr(begin, at - begin));
    at += at == begin ? 1 : 0;
  }
  return tokens;
}

/// The type, or number of a type, that is another one where long has 4 bytes; "" = none. It may stand anywhere: behind
/// a pointer the GPU code would read other bytes, in a template's argument the name is another one.
std::string_view foreign_type(std::string_view text) {
  const auto tokens = tokens_of(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto token = tokens[i];
    if (token == "wchar_t" || token == "__float128") return token;
    const bool number = std::isdigit(static_cast<unsigned char>(token.front())) != 0;
    if (number && token.ends_with('l') && !token.ends_with("ll")) return "long";
    if (token != "long") continue;
    if (i + 1 < tokens.size() && tokens[i + 1] == "double") return "long double";
    if (i + 1 < tokens.size() && tokens[i + 1] == "long")
      ++i;
    else
      return "long";
  }
  return {};
}

/// "void f<1, (Mode)2>(float*, g<int, int>)" -> {"float*", "g<int, int>"}. Nothing when it has no parameters.
std::optional<std::vector<std::string>> parameters_of(std::string_view text) {
  const auto end = text.rfind(')');
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t depth = 0, open = std::string_view::npos;
  for (std::size_t at = end + 1; at-- > 0 && open == std::string_view::npos;) {
    depth += text[at] == ')' ? 1 : 0;
    if (text[at] == '(' && --depth == 0) open = at;
  }
  if (open == std::string_view::npos) return std::nullopt;
  std::vector<std::string> parameters;
  const auto list = text.substr(open + 1, end - open - 1);
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (std::string_view("<([{").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(">)]}").find(c) != std::string_view::npos && depth > 0) --depth;
    if (c != ',' || (depth > 0 && at < list.size())) continue;
    if (auto word = trim(list.substr(begin, at - begin)); !word.empty()) parameters.push_back(std::move(word));
    begin = at + 1;
  }
  return parameters;
}

bool is_pointer(std::string_view type) {
  return type.ends_with('*') || type.ends_with('&') || type.ends_with("*const") || type.find("(*)") != type.npos;
}

std::unexpected<Error> refused(const std::string& kernel, const std::string& why, const std::string& hint) {
  return fail(ErrorKind::failed, "BLD013",
              fmt::format("the GPU code of kernel {} does not serve Windows: {}", kernel, why), hint);
}

const std::string k_other_type =
    "give it int, long long or a type of fixed meaning on both systems (uint32_t; unsigned long long, not uint64_t)";

Status check_kernel(const KernelEntry& kernel) {
  if (kernel.name.find("_GLOBAL__N_") != std::string::npos || kernel.name.find("_INTERNAL_") != std::string::npos)
    return refused(kernel.name, "it is in an unnamed namespace, and compilers name that differently",
                   "put it into a namespace with a name");
  const auto text = demangled(kernel.name);
  const auto parameters = text ? parameters_of(*text) : std::nullopt;
  if (!parameters)
    return refused(kernel.name, "its name does not say what it takes", "do not declare it extern \"C\" or static");
  if (const auto type = foreign_type(*text); !type.empty())
    return refused(*text, fmt::format("{} is another type on Windows", type), k_other_type);
  // A kernel without parameters is "f()".
  const auto expected = parameters->size() == 1 && parameters->front() == "void" ? 0 : parameters->size();
  if (expected != kernel.parameter_bytes.size())
    return refused(*text, fmt::format("it takes {} values, the GPU code {}", expected, kernel.parameter_bytes.size()),
                   "report it");
  for (std::size_t i = 0; i < expected; ++i) {
    const auto& type = (*parameters)[i];
    constexpr std::uint64_t k_pointer = 8;
    const auto known = known_types().find(type);
    if (!is_pointer(type) && known == known_types().end())
      return refused(*text, fmt::format("it takes {} by value, and nobody knows its layout on Windows", type),
                     "pass its members one by one, or by a pointer to GPU memory");
    const auto bytes = is_pointer(type) ? k_pointer : known->second;
    if (bytes != kernel.parameter_bytes[i])
      return refused(*text, fmt::format("{} has {} bytes, in the GPU code {}", type, bytes, kernel.parameter_bytes[i]),
                     "report it");
  }
  return {};
}

}  // namespace

Status check_kernels_for_windows(const KernelInterface& kernels, std::string_view module_id) {
  for (const auto& kernel : kernels.entries) TRY(check_kernel(kernel));
  if (!module_id.empty() && !kernels.entries.empty())
    return refused(kernels.entries.front().name, "it, or another of its source, is internal to it (static)",
                   "give it external linkage: neither static nor in an unnamed namespace");
  return {};
}

std::string size_assertions(const KernelInterface& kernels) {
  std::set<std::string> types;
  for (const auto& kernel : kernels.entries)
    if (const auto text = demangled(kernel.name))
      for (auto& type : parameters_of(*text).value_or(std::vector<std::string>()))
        if (!is_pointer(type) && known_types().contains(type)) types.insert(std::move(type));
  std::string text;
  for (const auto& type : types)
    text += fmt::format("static_assert(sizeof({}) == {}, \"GPU code was made with another layout\");\n", type,
                        known_types().find(type)->second);
  return text;
}

std::optional<Registered> read_registrations(std::string_view assembly) {
  std::map<std::string, std::string, std::less<>> texts;  // label -> string
  struct Call {
    std::string label;
    bool variable;
  };
  std::vector<Call> calls;
  std::string label, loaded;
  constexpr std::string_view k_text = ".asciz\t\"", k_load = "leaq\t", k_into = "(%rip), %r8",
                             k_function = "__cudaRegisterFunction", k_variable = "__cudaRegisterVar";
  for (std::size_t at = 0; at < assembly.size();) {
    const auto end = std::min(assembly.find('\n', at), assembly.size());
    auto line = assembly.substr(at, end - at);
    at = end + 1;
    if (const auto comment = line.find(" #"); comment != line.npos && line.find('"') == line.npos)
      line = line.substr(0, comment);
    const auto words = trim(line);
    if (words.ends_with(':')) {
      label = words.substr(0, words.size() - 1);
    } else if (words.starts_with(k_text) && words.ends_with('"')) {
      texts.emplace(label, words.substr(k_text.size(), words.size() - k_text.size() - 1));
      label.clear();
    } else if (words.starts_with(k_load) && words.ends_with(k_into)) {
      loaded = words.substr(k_load.size(), words.size() - k_load.size() - k_into.size());
    } else if (words.starts_with("callq")) {
      const bool variable = words.ends_with(k_variable);
      if (!variable && !words.ends_with(k_function)) continue;
      if (loaded.empty()) return std::nullopt;
      calls.push_back({std::move(loaded), variable});
      loaded.clear();
    }
  }
  Registered found;
  for (const auto& call : calls) {
    const auto text = texts.find(call.label);
    if (text == texts.end()) return std::nullopt;
    (call.variable ? found.variables : found.entries).push_back(text->second);
  }
  std::ranges::sort(found.entries);
  sort_once(found.variables);
  return found;
}

Status check_registrations(std::string_view assembly, const KernelInterface& kernels) {
  const auto registered = read_registrations(assembly);
  const auto why = registered ? stub_differs(*registered, kernels) : "its registrations are not understood";
  if (why.empty()) return {};
  return fail(ErrorKind::failed, "BLD014", "the host's code for Windows does not fit the GPU code: " + why,
              "a kernel whose types have other names on Windows (int64_t, size_t) is one; see docs/windows.md");
}

}  // namespace sagekit
