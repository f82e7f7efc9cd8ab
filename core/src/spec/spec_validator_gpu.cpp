#include "spec/spec_schema_forms.hpp"
#include "spec/spec_validator.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sagekit {

namespace {

using Words = std::vector<std::string>;

constexpr std::uint64_t k_most_combinations = 512;  // of one row: each is some launches
constexpr std::array<std::string_view, 13> k_dtypes = {
    "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "int8",
    "int16",   "int32",    "int64",   "uint8",   "bool",          "complex64"};

bool is_size(std::string_view text) { return is_digits(text) && text.size() <= 9 && text.front() != '0'; }

bool is_dtype(std::string_view text) { return std::ranges::find(k_dtypes, text) != k_dtypes.end(); }

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
}

bool is_number(std::string_view text) {
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  return !digits.empty() && digits.find_first_not_of("0123456789.e+-") == text.npos &&
         digits.find_first_of("0123456789") == 0;
}

/// The names of one row, and what is wrong with those who use them.
class CaseValidator {
 public:
  CaseValidator(const GpuCase& row, std::string path, const TomlDocument& document)
      : m_row(row), m_path(std::move(path)), m_document(document) {
    for (const auto& axis : row.axes) m_axes.push_back(axis.name);
    for (const auto& input : row.inputs) m_inputs.push_back(input.name);
    m_names = m_inputs;
    m_names.insert(m_names.end(), m_axes.begin(), m_axes.end());
  }

  void run() {
    names();
    inputs();
    arguments("arguments", m_row.arguments);
    arguments("reference_arguments", m_row.reference_arguments);
    transposed();
    known_inputs("outputs", m_row.outputs);
    known_inputs("may_change", m_row.may_change);
    tolerances();
    combinations();
  }

 private:
  void error(const std::string& place, std::string code, std::string message, std::string hint = {}) {
    m_document.error(m_path + "." + place, std::move(code), std::move(message), std::move(hint));
  }

  /// A nameless row had an error of its own and may be the one that is meant.
  void unknown(const std::string& place, std::string_view what, std::string_view word, const Words& words) {
    if (!contains(words, ""))
      error(place, "SPEC008", fmt::format("there is no {} \"{}\"", what, word), suggestion(word, words));
  }

  const GpuAxis* axis(std::string_view name) const {
    const auto found = std::ranges::find(m_row.axes, name, &GpuAxis::name);
    return found == m_row.axes.end() ? nullptr : &*found;
  }

  void names() {
    Words seen;
    const auto one = [&](const std::string& place, const std::string& name) {
      if (!name.empty() && contains(seen, name))
        error(place, "SPEC009", fmt::format("\"{}\" is the name of two axes or inputs", name));
      seen.push_back(name);
    };
    for (std::size_t i = 0; i < m_axes.size(); ++i) one(fmt::format("axis[{}].name", i), m_axes[i]);
    for (std::size_t i = 0; i < m_inputs.size(); ++i) one(fmt::format("input[{}].name", i), m_inputs[i]);
  }

  void inputs() {
    for (std::size_t i = 0; i < m_row.inputs.size(); ++i) {
      const auto& input = m_row.inputs[i];
      for (std::size_t s = 0; s < input.shape.size(); ++s)
        drawn(fmt::format("input[{}].shape[{}]", i, s), input.shape[s], is_size, "a size");
      if (!input.dtype.empty()) drawn(fmt::format("input[{}].dtype", i), input.dtype, is_dtype, "a dtype of torch");
    }
  }

  /// A word that is good by itself, or an axis all of whose values are.
  template <class Good>
  void drawn(const std::string& place, const std::string& word, Good good, std::string_view what) {
    if (good(word)) return;
    const GpuAxis* from = axis(word);
    if (from == nullptr) return unknown(place, fmt::format("axis, and it is not {},", what), word, m_axes);
    for (std::size_t v = 0; v < from->values.size(); ++v) {
      const auto bad = fmt::format("axis[{}].values[{}]", from - m_row.axes.data(), v);
      if (good(from->values[v]) || contains(m_reported, bad)) continue;
      m_reported.push_back(bad);
      error(bad, "SPEC013", fmt::format("\"{}\" is not {}, which {} wants", from->values[v], what, place));
    }
  }

  void arguments(const std::string& key, const Words& list) {
    bool by_name = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto place = fmt::format("{}[{}]", key, i);
      std::string term = trim(list[i]);
      const auto equals = term.find('=');
      const bool named = equals != std::string::npos && !form_fault(Form::identifier, trim(term.substr(0, equals)));
      if (named) term = trim(term.substr(equals + 1));
      if (by_name && !named)
        error(place, "SPEC013", fmt::format("\"{}\" has no name and comes after one that has", term));
      by_name = by_name || named;
      if (is_quoted(term) || is_number(term) || term == "True" || term == "False" || term == "None") continue;
      if (form_fault(Form::identifier, term))
        error(place, "SPEC006", fmt::format("\"{}\" is neither a name nor a Python literal", term),
              "words are quoted: 'fp32'");
      else if (!contains(m_names, term))
        unknown(place, "input or axis", term, m_names);
    }
  }

  void transposed() {
    const auto& to = m_row.transposed;
    if (to.axis.empty()) return;
    if (const GpuAxis* from = axis(to.axis); from == nullptr)
      unknown("transposed.axis", "axis", to.axis, m_axes);
    else if (!to.value.empty() && !contains(from->values, to.value))
      unknown("transposed.value", fmt::format("value of axis \"{}\":", to.axis), to.value, from->values);
  }

  void known_inputs(const std::string& key, const Words& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!contains(m_inputs, list[i])) unknown(fmt::format("{}[{}]", key, i), "input", list[i], m_inputs);
  }

  void tolerances() {
    for (const auto& [key, value] :
         {std::pair{"cosine_min", m_row.cosine_min}, std::pair{"row_cosine_min", m_row.row_cosine_min}})
      if (value > 1) error(key, "SPEC012", fmt::format("\"{}\" must be at most 1", key));
    const bool judged =
        m_row.cosine_min > 0 || m_row.row_cosine_min > 0 || m_row.relative_l1_max > 0 || m_row.absolute_max > 0;
    if (m_row.reference.empty() && (judged || !m_row.reference_arguments.empty()))
      error("reference_arguments", "SPEC013", "tolerances and reference_arguments need a reference");
    if (!m_row.reference.empty() && (!judged || m_row.reference_arguments.empty()))
      error("reference", "SPEC013", "a reference needs reference_arguments and a tolerance",
            "such as cosine_min = 0.999");
  }

  void combinations() {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < m_row.axes.size(); ++i) {
      const auto& [name, values] = m_row.axes[i];
      for (const auto& value : values)
        if (std::ranges::count(values, value) > 1)
          return error(fmt::format("axis[{}].values", i), "SPEC009",
                       fmt::format("axis \"{}\" has \"{}\" twice", name, value));
      count *= std::max<std::uint64_t>(values.size(), 1);
      if (count > k_most_combinations)
        return error(fmt::format("axis[{}].values", i), "SPEC012",
                     fmt::format("the axes make more than {} combinations", k_most_combinations),
                     "fewer values, or a second row");
    }
  }

  const GpuCase& m_row;
  std::string m_path;
  const TomlDocument& m_document;
  Words m_axes, m_inputs, m_names, m_reported;
};

}  // namespace

void validate_gpu_case(const GpuCase& row, std::string path, const TomlDocument& document) {
  CaseValidator(row, std::move(path), document).run();
}

}  // namespace sagekit
