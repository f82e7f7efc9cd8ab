#include "verify/policy.hpp"

#include "support/enum_words.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"
#include "support/try.hpp"
#include "verify/finding_list.hpp"

#include <sagekit/finding.hpp>
#include <sagekit/verify.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

namespace sagekit {

namespace {

Status check_families(const std::vector<std::string>& words) {
  const auto families = judged_families();
  for (const auto& word : words)
    if (std::ranges::count(families, word) == 0)
      return fail(ErrorKind::usage, "VFY003", fmt::format("--require {}: there is no such family of checks", word),
                  suggestion(word, families));
  return {};
}

}  // namespace

Status check_options(const VerifyOptions& options) {
  if (!options.policy.empty()) TRY(check_policy_name(options.policy));
  TRY(check_families(options.require));
  if (!options.sha256_file.empty()) TRY(MappedFile::open(options.sha256_file));
  return {};
}

Weight EffectivePolicy::weight(std::string_view code, Weight usual) const {
  if (file == nullptr) return usual;
  if (const auto found = file->weight.find(std::string(code)); found != file->weight.end()) return found->second;
  const auto found = file->weight.find(std::string(family(code)));
  return found == file->weight.end() || usual == Weight::off ? usual : found->second;
}

std::string EffectivePolicy::name() const {
  if (file != nullptr) return file->origin;
  return base == Policy::own ? "own" : base == Policy::others ? "others" : "pypi";
}

Result<EffectivePolicy> effective_policy(const VerifyOptions& options, std::string_view generator, std::string wheel) {
  EffectivePolicy policy;
  policy.base = generator.starts_with("sagekit ") ? Policy::own : Policy::others;
  policy.today = options.today;
  policy.wheel = std::move(wheel);
  policy.require = options.require;
  std::string word = options.policy;
  if (options.policy_file) {
    policy.file = &*options.policy_file;
    word = policy.file->base;
    policy.require.insert(policy.require.end(), policy.file->require.begin(), policy.file->require.end());
  }
  if (!word.empty()) {
    TRY_ASSIGN(policy.base, parse_policy(word));
  }
  TRY(check_families(policy.require));
  return policy;
}

namespace {

const std::vector<std::string> k_weights{"error", "warning", "note", "off"};
const std::vector<std::string> k_bases{"own", "others", "pypi"};

/// Every code and family that a policy may name.
class Codes {
 public:
  Codes() {
    for (const auto& page : finding_pages()) {
      m_codes.push_back(page.code);
      m_families.emplace(family(page.code));
    }
  }

  /// Why nobody has this code or family; "" = it is there, or it may be a plugin's.
  std::string fault(const std::string& word) const {
    if (m_families.contains(word) || std::ranges::count(m_codes, word) > 0) return {};
    const auto letters = std::string(family(word));
    const auto digits = word.substr(letters.size());
    const bool ours = m_families.contains(letters) && is_digits(digits);
    // A plugin's codes are its own affair (docs/plugin-authors.md), but one that looks like ours and is not is a slip.
    std::vector<std::string> words = m_codes;
    words.insert(words.end(), m_families.begin(), m_families.end());
    const auto upper = std::ranges::all_of(letters, [](char c) { return c >= 'A' && c <= 'Z'; });
    const bool slip = upper && (digits.empty() || (digits.size() == 3 && is_digits(digits))) && near_family(letters);
    if (word.empty() || ours || slip) return suggestion(word, nearest_words(word, words, 3));
    return {};
  }

 private:
  /// Letters with two of them swapped, or one wrong: LEF, EFL, ELG.
  bool near_family(const std::string& letters) const {
    auto sorted = letters;
    std::ranges::sort(sorted);
    return std::ranges::any_of(m_families, [&](std::string other) {
      if (other.size() != letters.size()) return false;
      const auto wrong =
          std::ranges::count_if(other, [&, i = std::size_t{0}](char c) mutable { return c != letters[i++]; });
      std::ranges::sort(other);
      return other == sorted || wrong == 1;
    });
  }

  std::vector<std::string> m_codes;
  std::set<std::string> m_families;
};

/// "2026-12-31", a day that the calendar has.
bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t count) {
    int value = 0;
    for (const char c : text.substr(at, count))
      value = c >= '0' && c <= '9' && value >= 0 ? 10 * value + (c - '0') : -1;
    return value;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return false;
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
      .ok();
}

class Reader {
 public:
  explicit Reader(TomlDocument document) : m_document(std::move(document)) {}

  PolicyFile read() {
    TomlTable root = m_document.root();
    if (root.require("schema"))
      if (const auto schema = root.integer("schema"); schema && *schema != 1)
        root.error("schema", "VFY010", fmt::format("schema {} is not read by this sagekit", *schema), "schema = 1");
    if (const auto base = root.string("base")) {
      m_policy.base = *base;
      one_of(root, "base", *base, k_bases);
    }
    m_policy.require = root.strings("require");
    for (std::size_t i = 0; i < m_policy.require.size(); ++i) {
      const auto families = judged_families();
      const auto& word = m_policy.require[i];
      if (std::ranges::count(families, word) == 0)
        root.error(fmt::format("require[{}]", i), "VFY017", fmt::format("there is no family of checks \"{}\"", word),
                   suggestion(word, families));
    }
    if (auto options = root.table("options")) {
      if (const auto word = options->string("stale_waivers")) {
        m_policy.stale_waivers =
            from_word(*word, std::array{Severity::error, Severity::warning, Severity::note}).value_or(Severity::error);
        one_of(*options, "stale_waivers", *word, {"error", "warning", "note"});
      }
      options->finish();
    }
    if (auto severity = root.table("severity")) read_weights(*severity);
    for (auto& waiver : root.tables("waiver")) read_waiver(waiver);
    root.finish();
    return std::move(m_policy);
  }

 private:
  void one_of(const TomlTable& table, std::string_view key, const std::string& word,
              const std::vector<std::string>& words) {
    if (std::ranges::count(words, word) == 0)
      table.error(key, "VFY016", fmt::format("\"{}\" cannot be \"{}\"", key, word), suggestion(word, words));
  }

  void check_code(const TomlTable& table, std::string_view key, const std::string& word) {
    if (const auto near = m_codes.fault(word); !near.empty())
      table.error(key, "VFY017", fmt::format("there is no code or family \"{}\"", word), near);
  }

  void read_weights(TomlTable& severity) {
    for (const auto& code : severity.keys()) {
      const auto word = severity.string(code);
      if (!word) continue;
      check_code(severity, code, code);
      one_of(severity, code, *word, k_weights);
      m_policy.weight[code] =
          from_word(*word, std::array{Weight::error, Weight::warning, Weight::note, Weight::off}).value_or(Weight::off);
    }
  }

  void read_waiver(TomlTable& table) {
    Waiver waiver;
    waiver.code = table.required_string("code");
    waiver.where = table.string("where").value_or("");
    waiver.wheel = table.string("wheel").value_or("");
    waiver.reason = table.required_string("reason");
    waiver.until = table.required_string("until");
    waiver.line = m_document.where(table.path()).line;
    if (table.has("code")) check_code(table, "code", waiver.code);
    if (table.has("reason") && trim(waiver.reason).empty())
      table.error("reason", "VFY016", "a waiver says why: \"reason\" is empty",
                  "name the issue or the plan to mend it");
    if (table.has("until") && !waiver.until.empty() && !is_day(waiver.until))
      table.error("until", "VFY016", fmt::format("\"{}\" is no day", waiver.until),
                  "the last day on which it holds, as \"2026-12-31\"");
    table.finish();
    for (const auto& other : m_policy.waivers)
      if (other.code == waiver.code && other.where == waiver.where && other.wheel == waiver.wheel)
        table.error("code", "VFY018",
                    fmt::format("{} is waived for the same place in line {} already", waiver.code, other.line),
                    "keep one of the two");
    m_policy.waivers.push_back(std::move(waiver));
  }

  TomlDocument m_document;
  PolicyFile m_policy;
  Codes m_codes;
};

}  // namespace

std::expected<PolicyFile, Diagnostics> parse_policy_file(std::string_view text, std::string_view origin) {
  const auto document = TomlDocument::parse(text, origin, "VFY");
  PolicyFile policy;
  if (document.parsed()) policy = Reader(document).read();
  policy.origin = origin;
  auto problems = document.diagnostics();
  if (problems.empty()) return policy;
  // The TOML reader numbers what it finds from 1 to 5, which in this family say something else.
  for (auto& one : problems) {
    if (one.code < "VFY010") one.code.replace(3, 2, "01");
    if (one.code == "VFY013" && one.hint.empty())
      one.hint =
          one.message.find("\"schema\"") != std::string::npos
              ? "begin the file with schema = 1"
              : "a waiver has code, reason and until: code = \"LBC003\", reason = \"why\", until = \"2026-12-31\"";
  }
  return std::unexpected(std::move(problems));
}

}  // namespace sagekit
