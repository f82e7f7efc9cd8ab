// File names read by the templates they are written by: a template is expanded with marks where its values would stand,
// and what lies between the marks is matched. So what writing leaves out, reading knows to be left out.
#include "pypa/release_text.hpp"
#include "spec/name_values.hpp"
#include "spec/naming_words.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace sagekit {

/// A literal, or a word of a template.
struct NameToken {
  std::string literal, word;
};
using NamePattern = std::vector<NameToken>;
/// One way in which a scheme's row names a wheel: with some of its words left out.
struct NameForm {
  std::string scheme;
  NamePattern version = {}, build = {}, folder = {};
  std::vector<std::string> needs = {};  ///< what a version must have behind its public part, in this order
  int cost = 0;                         ///< words left out that a name of the scheme normally has
  bool has_build = false, has_folder = false;
  bool says_other_arches = false;  ///< those that are not the default ones
};

namespace {

constexpr char k_mark = '\1';
constexpr std::size_t k_longest_value = 48;

using WordValues = std::map<std::string, std::string, std::less<>>;  ///< word -> what it stands for

/// Left out where there is nothing to say.
bool is_optional(std::string_view word) {
  static constexpr std::array<std::string_view, 4> k_optional = {"arches", "post", "fix", "cxx11_abi"};
  return std::ranges::find(k_optional, word) != k_optional.end();
}

std::vector<std::string> words_in(const NamingScheme& scheme) {
  std::vector<std::string> words;
  for (const auto& [word, value] : naming_words({}))
    for (const auto* text : {&scheme.version, &scheme.build, &scheme.folder})
      if (text->find('{' + word + '}') != std::string::npos && !contains(words, word)) words.push_back(word);
  return words;
}

Result<NamePattern> pattern_of(std::string_view text, const std::vector<std::string>& words) {
  NamingWords marks = naming_words({});
  for (std::size_t i = 0; i < marks.size(); ++i)
    marks[i].second = contains(words, marks[i].first) ? std::string{k_mark, static_cast<char>('a' + i)} : std::string();
  TRY_ASSIGN(const std::string marked, expand_words(text, marks));
  NamePattern pattern;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] == k_mark) {
      pattern.push_back({{}, marks[static_cast<std::size_t>(marked[++i] - 'a')].first});
    } else {
      if (pattern.empty() || pattern.back().literal.empty()) pattern.emplace_back();
      pattern.back().literal += lower(marked.substr(i, 1));
    }
  }
  return pattern;
}

/// The literals of a version's pattern, and the letters that some words begin with.
std::vector<std::string> needs_of(const NamePattern& pattern) {
  std::vector<std::string> needs;
  for (const auto& [literal, word] : pattern)
    if (const auto begins = word.empty() ? literal : first_letters(word); !begins.empty()) needs.emplace_back(begins);
  return needs;
}

/// Every form of a row. "and higher" means nothing without its torch. Words of a build tag and a folder all stand
/// there, but for those that may always be left out: a bare "12" is no CUDA.
Status add_forms(const NamingScheme& scheme, std::vector<NameForm>& forms) {
  const auto words = words_in(scheme);
  const auto stays = [&](const std::string& word) {
    const auto braced = '{' + word + '}';
    return word == "version" || word == "torch_min" ||
           (!is_optional(word) && (scheme.build + scheme.folder).find(braced) != std::string::npos);
  };
  std::vector<std::string> may_go;
  std::ranges::copy_if(words, std::back_inserter(may_go), [&](const auto& word) { return !stays(word); });
  if (may_go.size() > 10)
    return fail(ErrorKind::usage, "NAM010", fmt::format("the naming scheme {} has too many words", scheme.name));
  for (std::size_t gone = 0; gone < (std::size_t{1} << may_go.size()); ++gone) {
    NameForm form{.scheme = scheme.name,
                  .has_build = !scheme.build.empty(),
                  .has_folder = !scheme.folder.empty(),
                  .says_other_arches = contains(words, "arches")};
    auto left = words;
    for (std::size_t i = 0; i < may_go.size(); ++i)
      if ((gone >> i & 1U) != 0) {
        std::erase(left, may_go[i]);
        form.cost += is_optional(may_go[i]) ? 0 : 1;
      }
    if (form.cost > 0 && contains(left, "fix")) continue;  // any word alone would be read as one
    TRY_ASSIGN(form.version, pattern_of(scheme.version, left));
    form.needs = needs_of(form.version);
    TRY_ASSIGN(form.build, pattern_of(scheme.build, left));
    TRY_ASSIGN(form.folder, pattern_of(scheme.folder, left));
    forms.push_back(std::move(form));
  }
  return {};
}

/// Is it a commit where no g before it says so? Eight digits or more are a date or somebody's number, and "d20251029"
/// is the day of a tree that was changed.
bool is_bare_commit(std::string_view text) {
  const auto digits = text.starts_with('d') ? text.substr(1) : text;
  return !is_digits(digits) || digits.size() < 8;
}

/// Calls `found` with the values of each way to match `text` from token `at` on.
template <class Found>
void match(const NamePattern& pattern, std::size_t at, std::string_view text, WordValues& values, const Found& found) {
  if (at == pattern.size()) {
    if (text.empty()) found();
    return;
  }
  const auto& [literal, word] = pattern[at];
  if (word.empty()) {
    if (text.starts_with(literal)) match(pattern, at + 1, text.substr(literal.size()), values, found);
    return;
  }
  if (text.empty()) return;
  const bool is_version = word == "version";  // all before the +
  const bool is_bare = word == "commit7" && (at == 0 || !pattern[at - 1].literal.ends_with('g'));
  const auto longest = is_version ? longest_value(word, text) : std::min(longest_value(word, text), k_longest_value);
  // What follows the word is known: the end, or a literal. Most lengths are ruled out by that alone.
  const bool is_last = at + 1 == pattern.size();
  const auto may_end = [&](std::string_view rest) {
    return is_last ? rest.empty() : !pattern[at + 1].word.empty() || rest.starts_with(pattern[at + 1].literal);
  };
  for (std::size_t length = longest; length > 0; --length) {
    if (!may_end(text.substr(length))) {
      if (is_version) return;
      continue;
    }
    if (is_bare && !is_bare_commit(text.substr(0, length))) continue;
    for (auto& value : word_values(word, text.substr(0, length))) {
      const auto [bound, is_new] = values.emplace(word, value);
      if (is_new || bound->second == value) match(pattern, at + 1, text.substr(length), values, found);
      if (is_new) values.erase(bound);
    }
    if (is_version) return;
  }
}

/// The parts of a path or URL that say something.
struct NameParts {
  std::string folder, file;
};

/// "%2B" -> "+"; what is no escape of a printable character stays.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int byte = escaped_byte(text.substr(i));
    const bool printable = byte >= 0x20 && byte < 0x80;
    out += printable ? static_cast<char>(byte) : text[i];
    if (printable) i += 2;
  }
  return out;
}

NameParts parts_of(std::string_view file) {
  if (file.find("://") != std::string_view::npos) file = file.substr(0, file.find_first_of("?#"));
  const auto slash = file.find_last_of("/\\");
  if (slash == std::string_view::npos) return {{}, unescaped(file)};
  const auto above = file.substr(0, slash);
  const auto before = above.find_last_of("/\\");
  return {unescaped(before == std::string_view::npos ? above : above.substr(before + 1)),
          unescaped(file.substr(slash + 1))};
}

std::string python_digits(const std::string& tag) { return tag.starts_with("cp") ? tag.substr(2) : std::string(); }

/// The facts that the values are. Nothing when a folder names a Python that the tags do not.
bool take_values(const WordValues& values, const WheelName& name, WheelNameReading& reading) {
  for (const auto& [word, value] : values) {
    if (word == "torch" || word == "torch_minor" || word == "torch_digits" || word == "torch_minor_digits")
      reading.torch = value;
    if (word == "torch_min") reading.torch_min = value;
    if (word.starts_with("cuda")) reading.cuda = value;
    if (word == "cxx11_abi") reading.cxx11_abi = value == "true";
    if (word == "date") reading.date = value;
    if (word == "commit7" || word == "post" || word == "fix") reading.revision = value;
    // Where both stand, {arches} says more: PTX, too.
    if (word == "arches" || (word == "sms" && !values.contains("arches"))) {
      reading.arches = read_sms(value).value_or(std::vector<ArchRequest>{});
      reading.ptx_unsaid = word == "sms" && std::ranges::none_of(reading.arches, &ArchRequest::ptx);
    }
    if (word == "python" &&
        !std::ranges::any_of(name.python, [&](const auto& tag) { return python_digits(tag) == value; }))
      return false;
  }
  return true;
}

WheelNameReading tags_only(const WheelName& name) {
  WheelNameReading reading;
  const auto version = normal_version(name.version);
  const auto plus = version.find('+');
  reading.package = normalized_project(name.distribution);
  reading.version = version.substr(0, plus);
  if (plus != std::string::npos) reading.local = version.substr(plus + 1);
  reading.build = name.build;
  reading.python = join(name.python, ".");
  reading.abi = join(name.abi, ".");
  reading.platform = join(name.platform, ".");
  reading.variant = name.variant;
  return reading;
}

/// But for what one of two leaves open and the other does not.
bool same_facts(WheelNameReading one, const WheelNameReading& other) {
  one.scheme = other.scheme;
  one.ptx_unsaid = other.ptx_unsaid;
  one.default_arches = other.default_arches;
  return one == other;
}

/// The readings of the forms that leave out least.
class Readings {
 public:
  explicit Readings(const WheelName& name) : m_name(name), m_plain(tags_only(name)) {
    m_version = m_plain.version + (m_plain.local.empty() ? "" : '+' + m_plain.local);
  }

  void add(const NameForm& form, const std::string& folder, std::string_view unread) {
    const bool ignores_build = !m_name.build.empty() && !form.has_build;
    const int cost = form.cost + (ignores_build ? 5 : 0) - (form.has_folder ? 1 : 0);
    if (cost > m_best || (form.has_folder && folder.empty()) || (form.has_build && m_name.build.empty())) return;
    const auto version =
        std::string_view(m_version).substr(0, m_version.size() - (unread.empty() ? 0 : unread.size() + 1));
    if (!may_match(form, version)) return;
    WordValues values;
    match(form.version, 0, version, values, [&] {
      match(form.build, 0, form.has_build ? lower(m_name.build) : "", values, [&] {
        match(form.folder, 0, form.has_folder ? lower(folder) : "", values, [&] { keep(form, values, unread, cost); });
      });
    });
  }

  bool any() const { return !m_kept.empty(); }
  const WheelNameReading& plain() const { return m_plain; }
  std::vector<WheelNameReading> take() { return std::move(m_kept); }

 private:
  /// Most forms are ruled out by what does not stand there, which is much cheaper than matching.
  bool may_match(const NameForm& form, std::string_view version) const {
    if (form.version.empty() || form.version[0].word != "version") return true;
    std::size_t at = m_plain.version.size();
    if (form.version.size() == 1) return at == version.size();
    for (const auto& text : form.needs) {
      at = version.find(text, at);
      if (at == std::string_view::npos) return false;
      at += text.size();
    }
    return true;
  }

  void keep(const NameForm& form, const WordValues& values, std::string_view unread, int cost) {
    auto reading = m_plain;
    if (!take_values(values, m_name, reading)) return;
    if (!unread.empty() && reading.torch.empty() && reading.torch_min.empty() && reading.cuda.empty()) return;
    reading.scheme = form.scheme;
    reading.unread = unread;
    reading.default_arches = form.says_other_arches && reading.arches.empty() && unread.empty();
    if (cost < m_best) m_kept.clear();
    m_best = cost;
    const auto same = std::ranges::find_if(m_kept, [&](const auto& kept) { return same_facts(kept, reading); });
    if (same == m_kept.end())
      m_kept.push_back(std::move(reading));
    else {
      same->ptx_unsaid = same->ptx_unsaid || reading.ptx_unsaid;
      same->default_arches = same->default_arches && reading.default_arches;
    }
  }

  const WheelName& m_name;
  WheelNameReading m_plain;
  std::string m_version;  ///< the whole one, in normal form
  std::vector<WheelNameReading> m_kept;
  int m_best = 1000;
};

}  // namespace

struct WheelNameReader::Forms {
  std::vector<NameForm> all;
};

Result<WheelNameReader> WheelNameReader::make(std::span<const NamingScheme> schemes) {
  auto forms = std::make_shared<Forms>();
  for (const auto& scheme : schemes) TRY(add_forms(scheme, forms->all));
  // Those that leave out least first: once one matched, the others are not tried.
  std::ranges::stable_sort(forms->all, {}, [](const NameForm& form) { return form.cost; });
  return WheelNameReader(std::move(forms));
}

Result<std::vector<WheelNameReading>> WheelNameReader::read(std::string_view file) const {
  const auto parts = parts_of(file);
  TRY_ASSIGN(const WheelName name, parse_wheel_name(parts.file));
  return read(name, parts.folder);
}

std::vector<WheelNameReading> WheelNameReader::read(const WheelName& name, const std::string& folder) const {
  Readings readings(name);
  for (const auto& form : m_forms->all) readings.add(form, folder, {});
  // What no row knows is kept as unknown: words at the end. One that begins with a digit could belong to a number
  // before it.
  const std::string& local = readings.plain().local;
  for (auto dot = local.rfind('.'); !readings.any() && dot != std::string::npos && dot > 0;
       dot = local.rfind('.', dot - 1)) {
    const auto unread = std::string_view(local).substr(dot + 1);
    if (!is_digits(unread.substr(0, 1)))
      for (const auto& form : m_forms->all) readings.add(form, folder, unread);
  }
  if (readings.any()) return readings.take();
  auto plain = readings.plain();
  plain.unread = plain.local;
  return {std::move(plain)};
}

Result<std::vector<WheelNameReading>> read_wheel_name(std::string_view file, std::span<const NamingScheme> schemes) {
  TRY_ASSIGN(const auto reader, WheelNameReader::make(schemes));
  return reader.read(file);
}

}  // namespace sagekit
