#include "resolve/release_reader.hpp"

#include "support/json.hpp"

#include <array>

namespace sagekit {

namespace {

constexpr std::size_t k_most_wheels = 200'000;
constexpr std::size_t k_deepest = 32;  // the parser follows brackets however deep they go

/// nlohmann-json's SAX interface. A place in the document is the keys above it; "list" is `wheels` or `assets`.
class ReleaseReader {
 public:
  ListedRelease take() {
    const bool ours = m_read.schema == k_release_schema;
    m_read.form = ours                          ? ListedRelease::Form::manifest
                  : m_is_array || m_says_assets ? ListedRelease::Form::assets
                                                : ListedRelease::Form::none;
    m_read.has_list = ours ? m_wheels_are_list : m_every_release_has_assets;
    m_read.wheels = std::move(ours ? m_wheels : m_assets);
    return std::move(m_read);
  }
  bool stopped() const { return m_read.too_many; }

  bool null() { return plain(); }
  bool boolean(bool) { return plain(); }
  bool number_integer(std::int64_t) { return plain(); }
  bool number_float(double, const std::string&) { return plain(); }
  bool binary(Json::binary_t&) { return plain(); }
  bool number_unsigned(std::uint64_t number) {
    if (in_entry() && at(2).key == (m_list == &m_wheels ? "size_bytes" : "size")) m_list->back().size_bytes = number;
    return plain();
  }
  bool string(std::string& text) {
    if (m_depth == 1 && !m_is_array && at(0).key == "schema") {
      m_read.schema = std::move(text);
    } else if (in_entry() && m_list == &m_wheels && at(2).key == "verdict") {
      m_list->back().manifest.verdict = parse_wheel_verdict(text).value_or(WheelVerdict::unjudged);
    } else if (in_entry()) {
      if (auto* field = field_of(m_list->back(), at(2).key)) *field = std::move(text);
    } else if (in_list_of("arches", 4)) {
      // What is no arch says nothing.
      if (const auto arches = parse_arch_list(text))
        m_list->back().manifest.arches.insert(m_list->back().manifest.arches.end(), arches->begin(), arches->end());
    } else if (in_list_of("runs_on", 5) && !at(4).is_array) {
      take_row(at(4).key, text);
    }
    return plain();
  }

  bool start_object(std::size_t) { return open(false); }
  bool start_array(std::size_t) { return open(true); }
  bool key(std::string& text) {
    m_levels[m_depth - 1].key.swap(text);
    return true;
  }
  bool end_array() { return close(); }
  bool end_object() {
    if (m_is_array && m_depth == 2) m_every_release_has_assets &= m_release_has_assets;
    if (in_list_of("runs_on", 5) && !at(4).is_array) {
      auto& rows = m_list->back().manifest.runs_on;
      if (const auto capability = parse_capability(m_capability))
        rows.back().capability = *capability;
      else
        rows.pop_back();
    }
    return close();
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

 private:
  struct Level {
    bool is_array = false;
    std::string key;
  };

  /// The level, counted from a release's own object.
  const Level& at(std::size_t level) const { return m_levels[level + (m_is_array ? 1 : 0)]; }
  std::size_t depth() const { return m_depth - (m_is_array && m_depth > 0 ? 1 : 0); }
  bool in_entry() const { return m_list != nullptr && depth() == 3 && !at(2).is_array; }
  bool in_list_of(std::string_view key, std::size_t deep) const {
    return m_list == &m_wheels && depth() == deep && !at(2).is_array && at(2).key == key && at(3).is_array;
  }

  std::string* field_of(ListedWheel& wheel, std::string_view key) const {
    if (m_list == &m_assets)
      return key == "name"                   ? &wheel.file
             : key == "browser_download_url" ? &wheel.url
             : key == "digest"               ? &wheel.hash
                                             : nullptr;
    using Field = std::pair<std::string_view, std::string*>;
    for (const auto& [name, field] : std::array<Field, 6>{{{"file", &wheel.file},
                                                           {"url", &wheel.url},
                                                           {"sha256", &wheel.hash},
                                                           {"torch", &wheel.manifest.torch},
                                                           {"cuda", &wheel.manifest.cuda},
                                                           {"commit", &wheel.manifest.commit}}})
      if (name == key) return field;
    return nullptr;
  }

  void take_row(std::string_view key, std::string& text) {
    auto& row = m_list->back().manifest.runs_on.back();
    if (key == "capability") m_capability = std::move(text);
    if (key == "verdict") row.verdict = parse_run_verdict(text).value_or(RunVerdict::unknown);
    if (key == "reason") row.reason = std::move(text);
    if (key == "driver") row.driver = std::move(text);
    if (key == "toolkit") row.toolkit = std::move(text);
  }

  /// A value of any kind begins: an entry of a list is one whatever it is.
  bool begin() {
    if (m_list != nullptr && depth() == 2) {
      if (m_wheels.size() + m_assets.size() >= k_most_wheels) {
        m_read.too_many = true;
        return false;
      }
      m_list->emplace_back();
    }
    return true;
  }

  bool plain() {
    if (m_is_array && m_depth == 1) m_read.all_objects = false;
    if (m_depth == 1 && !m_is_array && at(0).key == "assets") m_says_assets = true, m_every_release_has_assets = false;
    return begin();
  }

  bool open(bool is_array) {
    if (m_depth == k_deepest || !begin()) return false;
    if (m_depth == 0) m_is_array = is_array;
    if (m_is_array && m_depth == 1) m_read.all_objects &= !is_array, m_release_has_assets = false;
    if (depth() == 1 && m_depth > 0 && !at(0).is_array) open_list(is_array);
    if (in_list_of("runs_on", 4) && !is_array) m_list->back().manifest.runs_on.emplace_back(), m_capability.clear();
    m_levels[m_depth].is_array = is_array;
    m_levels[m_depth++].key.clear();
    return true;
  }

  void open_list(bool is_array) {
    const std::string& key = at(0).key;
    if (key == "assets") {
      m_says_assets = true;
      m_release_has_assets = is_array;
      if (!m_is_array) m_every_release_has_assets = is_array;
    }
    if (!m_is_array && key == "wheels") {
      m_wheels_are_list = is_array;
      m_wheels.clear();
    }
    m_list = !is_array ? nullptr : key == "assets" ? &m_assets : !m_is_array && key == "wheels" ? &m_wheels : nullptr;
  }

  bool close() {
    --m_depth;
    if (m_depth > 0 && depth() == 1) m_list = nullptr;
    return true;
  }

  std::array<Level, k_deepest> m_levels;
  std::size_t m_depth = 0;
  bool m_is_array = false;  ///< the document: a list of releases
  bool m_wheels_are_list = false, m_says_assets = false;
  bool m_release_has_assets = false, m_every_release_has_assets = true;
  std::vector<ListedWheel>* m_list = nullptr;  ///< that is being read
  std::vector<ListedWheel> m_wheels, m_assets;
  std::string m_capability;  ///< of the row that is being read
  ListedRelease m_read;
};

}  // namespace

std::optional<ListedRelease> read_listed_release(std::string_view text) {
  ReleaseReader reader;
  if (!Json::sax_parse(text, &reader) && !reader.stopped()) return std::nullopt;
  return reader.take();
}

}  // namespace sagekit
