#include "spec/kept_spec.hpp"
#include "spec/spec_schema_tables.hpp"
#include "spec/spec_validator.hpp"
#include "support/format.hpp"
#include "support/kept_toml.hpp"
#include "support/toml.hpp"

#include <sagekit/spec.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace sagekit {

namespace {

constexpr std::string_view k_prefix = "SPEC";
constexpr double k_mib = 1024.0 * 1024.0;
constexpr double k_max_number = 1e9;  ///< seconds, MiB: far above any truth, far below overflow

/// Fills one table's members from TOML (see spec_schema_tables.hpp for what a visitor is).
class SpecReader {
 public:
  explicit SpecReader(TomlTable table) : m_table(std::move(table)) {}

  template <class T>
  void read(T& row) {
    describe(*this, row);
    m_table.finish();
  }

  void operator()(const Key& key, std::string& member) {
    if (!required_there(key)) return;
    if (auto text = m_table.string(key.name); text && good(key, key.name, *text)) member = std::move(*text);
  }

  void operator()(const Key& key, bool& member) {
    if (required_there(key)) member = m_table.boolean(key.name).value_or(member);
  }

  void operator()(const Key& key, int& member) {
    const auto number = m_table.integer(key.name);
    if (!number) return;
    if (*number < 1 || *number > std::numeric_limits<int>::max()) return out_of_range(key, "at least 1");
    member = static_cast<int>(*number);
  }

  void operator()(const Key& key, double& member) {
    if (const auto number = amount(key)) member = *number;
  }

  void mib(const Key& key, std::uint64_t& bytes) {
    if (const auto number = amount(key)) bytes = static_cast<std::uint64_t>(std::llround(*number * k_mib));
  }

  void mib_pair(const Key& key, std::uint64_t& least, std::uint64_t& most) {
    const auto pair = m_table.numbers(key.name);
    if (!pair) return;
    if (pair->size() != 2 || !in_range((*pair)[0]) || !in_range((*pair)[1]) || (*pair)[0] > (*pair)[1]) {
      return out_of_range(key, "two numbers, the smaller first");
    }
    least = static_cast<std::uint64_t>(std::llround((*pair)[0] * k_mib));
    most = static_cast<std::uint64_t>(std::llround((*pair)[1] * k_mib));
  }

  void dimensions(const Key& key, std::vector<int>& member) {
    if (!required_there(key)) return;
    const auto pair = m_table.numbers(key.name);
    if (!pair) return;
    const auto is_dimension = [](double number) { return number == std::floor(number) && number >= 0 && number < 16; };
    if (pair->size() != 2 || !is_dimension((*pair)[0]) || !is_dimension((*pair)[1]) || (*pair)[0] == (*pair)[1]) {
      return out_of_range(key, "two different whole numbers from 0 on");
    }
    member = {static_cast<int>((*pair)[0]), static_cast<int>((*pair)[1])};
  }

  void operator()(Key key, Capability& member) { parsed(key, Form::capability, member, parse_capability); }
  void operator()(Key key, VersionRange& member) { parsed(key, Form::range, member, parse_version_range); }

  void operator()(const Key& key, std::vector<std::string>& member) {
    if (!required_there(key)) return;
    auto list = m_table.optional_strings(key.name);
    if (!list) return;
    if (list->empty() && key.need == Need::required) return empty(key, key.name);
    bool all_good = true;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string place = fmt::format("{}[{}]", key.name, i);
      if ((*list)[i].empty()) empty(key, place);
      all_good = !(*list)[i].empty() && good(key, place, (*list)[i]) && all_good;
    }
    if (all_good) member = std::move(*list);
  }

  void operator()(Key key, std::vector<Capability>& member) {
    parsed_list(key, Form::capability, member, parse_capability);
  }
  void operator()(Key key, std::vector<Gencode>& member) { parsed_list(key, Form::gencode, member, parse_gencode); }

  /// A nested table.
  template <class T>
  void operator()(const Key& key, T& member) {
    if (!required_there(key)) return;
    if (auto table = m_table.table(key.name)) SpecReader(std::move(*table)).read(member);
  }

  /// Nested tables. A row that has errors is kept, so that row N here is row N of the text.
  template <class T>
  void operator()(const Key& key, std::vector<T>& member) {
    if (!required_there(key)) return;
    auto tables = m_table.tables(key.name);
    if (tables.empty() && key.need == Need::required) return empty(key, key.name);
    for (TomlTable& table : tables) SpecReader(std::move(table)).read(member.emplace_back());
  }

 private:
  /// Is there something to read? Reports a required key that is missing.
  bool required_there(const Key& key) { return key.need == Need::optional || m_table.require(key.name); }

  void empty(const Key& key, std::string_view place) {
    m_table.error(place, "SPEC010", fmt::format("\"{}\" may not be empty", place), std::string(key.about));
  }

  void out_of_range(const Key& key, std::string_view wanted) {
    m_table.error(key.name, "SPEC012", fmt::format("\"{}\" must be {}", key.name, wanted), std::string(key.about));
  }

  static bool in_range(double number) { return number >= 0 && number <= k_max_number; }

  std::optional<double> amount(const Key& key) {
    const auto number = m_table.number(key.name);
    if (!number || in_range(*number)) return number;
    out_of_range(key, "between 0 and 1000000000");
    return std::nullopt;
  }

  bool good(const Key& key, std::string_view place, std::string_view text) {
    if (text.empty()) {
      if (key.need == Need::required) empty(key, place);
      return key.need != Need::required;
    }
    auto fault = form_fault(key.form, text);
    if (fault) m_table.error(place, fault->code, fmt::format("\"{}\": {}", key.name, fault->message), fault->hint);
    return !fault;
  }

  template <class T, class Parse>
  void parsed(Key& key, Form form, T& member, Parse parse) {
    key.form = form;
    std::string text;
    (*this)(key, text);
    if (text.empty()) return;
    if (auto value = parse(text)) member = std::move(*value);
  }

  template <class T, class Parse>
  void parsed_list(Key& key, Form form, std::vector<T>& member, Parse parse) {
    key.form = form;
    std::vector<std::string> list;
    (*this)(key, list);
    for (const std::string& text : list) {
      if (auto value = parse(text)) member.push_back(std::move(*value));
    }
  }

  TomlTable m_table;
};

/// SPEC002 stands alone: what another schema's keys mean is not known here.
bool known_schema(TomlTable& root) {
  if (!root.require("schema")) return true;
  const auto schema = root.integer("schema");
  if (!schema || *schema == spec_schema) return true;
  root.error("schema", "SPEC002",
             fmt::format("schema {} is not supported; this sagekit reads schema {}", *schema, spec_schema),
             *schema > spec_schema ? "use a newer sagekit" : fmt::format("write schema = {}", spec_schema));
  return false;
}

}  // namespace

std::expected<Spec, Diagnostics> parse_spec(std::string_view text, std::string_view origin) {
  return parse_spec(text, origin, {});
}

std::expected<Spec, Diagnostics> parse_spec(std::string_view text, std::string_view origin,
                                            const std::filesystem::path& folder) {
  const TomlDocument document = parse_toml(text, origin, k_prefix, folder);
  TomlTable root = document.root();
  if (!document.parsed() || !known_schema(root)) return std::unexpected(document.diagnostics());
  Spec spec;
  SpecReader(std::move(root)).read(spec);
  validate_spec(spec, document);
  if (auto diagnostics = document.diagnostics(); !diagnostics.empty()) return std::unexpected(std::move(diagnostics));
  return spec;
}

}  // namespace sagekit
