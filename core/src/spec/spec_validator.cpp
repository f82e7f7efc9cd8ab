#include "spec/spec_validator.hpp"

#include "spec/abi_words.hpp"
#include "spec/libc_floor.hpp"
#include "spec/spec_schema_forms.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace sagekit {

namespace {

using Words = std::vector<std::string>;

/// One word of each row, in row order.
template <class Row, class Word>
Words words_of(const std::vector<Row>& rows, Word word) {
  Words words;
  for (const Row& row : rows) words.push_back(word(row));
  return words;
}

class Validator {
 public:
  Validator(const Spec& spec, const TomlDocument& document) : m_spec(spec), m_document(document) {}

  void run() {
    source();
    arches();
    kernels();
    dispatch();
    matrix();
    profiles();
    naming();
    gpu_cases();
    distinct("companion", "name", words_of(m_spec.companions, [](const Companion& c) { return c.name; }));
  }

 private:
  void error(std::string_view path, std::string_view code, std::string message, std::string hint = {}) {
    m_document.error(path, std::string(code), std::move(message), std::move(hint));
  }

  /// `words` are what the rows meant by `what` are called. A nameless row had an error: it may be the one that is
  /// meant.
  void known(const std::string& path, std::string_view what, std::string_view word, const Words& words) {
    if (word.empty() || contains(words, word) || contains(words, "")) return;
    error(path, "SPEC008", fmt::format("there is no {} \"{}\"", what, word), suggestion(word, words));
  }

  void all_known(const std::string& path, std::string_view what, const Words& used, const Words& words) {
    for (std::size_t i = 0; i < used.size(); ++i) known(fmt::format("{}[{}]", path, i), what, used[i], words);
  }

  /// Rows called the same are an error where `may_share(first, second)` is false.
  template <class MayShare>
  void distinct(std::string_view table, std::string_view key, const Words& words, MayShare may_share) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t j = 0; j < i && !words[i].empty(); ++j) {
        if (words[j] != words[i] || may_share(j, i)) continue;
        const std::string first = fmt::format("{}[{}].{}", table, j, key);
        error(fmt::format("{}[{}].{}", table, i, key), "SPEC009",
              fmt::format("{} {} \"{}\" is there twice", table, key, words[i]),
              fmt::format("the first is in line {}", m_document.where(first).line));
        break;
      }
    }
  }

  void distinct(std::string_view table, std::string_view key, const Words& words) {
    distinct(table, key, words, [](std::size_t, std::size_t) { return false; });
  }

  template <class Row>
  void distinct_while_overlapping(std::string_view table, std::string_view key, const Words& words,
                                  const std::vector<Row>& rows) {
    distinct(table, key, words, [&](std::size_t i, std::size_t j) { return !can_overlap(rows[i].when, rows[j].when); });
  }

  void no_repeats(const std::string& path, const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i), words[i]) ==
          words.begin() + static_cast<std::ptrdiff_t>(i)) {
        continue;
      }
      error(fmt::format("{}[{}]", path, i), "SPEC009", fmt::format("\"{}\" is in the list twice", words[i]));
    }
  }

  void when(const std::string& row, const When& condition) {
    Words features;
    for (const Revision& revision : m_spec.source.revisions) {
      features.insert(features.end(), revision.features.begin(), revision.features.end());
    }
    std::ranges::sort(features);
    features.erase(std::unique(features.begin(), features.end()), features.end());
    all_known(row + ".when.features", "source feature", condition.features, features);
    all_known(row + ".when.not_features", "source feature", condition.not_features, features);
  }

  static Words names_of(const std::vector<Capability>& capabilities) {
    return words_of(capabilities, [](Capability c) { return to_string(c); });
  }

  /// "" for a row whose capability could not be read.
  template <class Row>
  static Words capabilities_of(const std::vector<Row>& rows) {
    return words_of(
        rows, [](const Row& r) { return r.capability == Capability{} ? std::string{} : to_string(r.capability); });
  }

  void source() {
    const SourceSpec& source = m_spec.source;
    const Words commits = words_of(source.revisions, [](const Revision& r) { return r.commit; });
    const Words defects = words_of(source.defects, [](const Defect& d) { return d.id; });
    const Words edits = words_of(source.edits, [](const SourceEdit& e) { return e.id; });
    if (!commits.empty()) known("source.default", "[[source.revision]]", source.default_commit, commits);
    distinct("source.revision", "commit", commits);
    distinct("source.defect", "id", defects);
    distinct_while_overlapping("source.edit", "id", edits, source.edits);
    distinct("source.vendored", "name", words_of(source.vendored, [](const Vendored& v) { return v.name; }));
    distinct("source.vendored", "path", words_of(source.vendored, [](const Vendored& v) { return v.path; }));
    Words names;
    for (std::size_t i = 0; i < source.revisions.size(); ++i) {
      const Revision& revision = source.revisions[i];
      const std::string row = fmt::format("source.revision[{}]", i);
      all_known(row + ".defects", "[[source.defect]]", revision.defects, defects);
      for (std::size_t n = 0; n < revision.names.size(); ++n) {
        if (contains(names, revision.names[n])) {
          error(fmt::format("{}.names[{}]", row, n), "SPEC009",
                fmt::format("\"{}\" names two revisions", revision.names[n]));
        }
        names.push_back(revision.names[n]);
      }
    }
    for (std::size_t i = 0; i < source.defects.size(); ++i) {
      known(fmt::format("source.defect[{}].edit", i), "[[source.edit]]", source.defects[i].edit, edits);
    }
    for (std::size_t i = 0; i < source.edits.size(); ++i) when(fmt::format("source.edit[{}]", i), source.edits[i].when);
    for (std::size_t i = 0; i < m_spec.verify.ran.size(); ++i)
      known(fmt::format("verify.ran[{}].commit", i), "[[source.revision]]", m_spec.verify.ran[i].commit, commits);
    for (std::size_t i = 0; i < source.fingerprints.size(); ++i)
      when(fmt::format("source.fingerprint[{}]", i), source.fingerprints[i].when);
  }

  void arches() {
    const auto& rows = m_spec.arches;
    distinct("arch", "capability", capabilities_of(rows), [&](std::size_t i, std::size_t j) {
      When a = rows[i].when, b = rows[j].when, a_nvcc, b_nvcc;
      a_nvcc.cuda = rows[i].cuda;
      b_nvcc.cuda = rows[j].cuda;
      return !can_overlap(a, b) || !can_overlap(a_nvcc, b_nvcc);
    });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string row = fmt::format("arch[{}]", i);
      when(row, rows[i].when);
      const bool excluded = m_document.filled(row + ".excluded"), gencode = m_document.filled(row + ".gencode");
      if (excluded && gencode) {
        error(row + ".excluded", "SPEC013", "an excluded arch may not have gencode", "remove one of the two");
      } else if (!excluded && !gencode) {
        error(row, "SPEC013", "an arch needs gencode, or excluded with the reason", "such as gencode = [\"9.0a\"]");
      }
      for (std::size_t g = 0; g < rows[i].gencode.size() && rows[i].capability != Capability{}; ++g) {
        const Gencode& code = rows[i].gencode[g];
        if (code.ptx ? ptx_reaches(code.compute, rows[i].capability) : code_runs_on(code.code, rows[i].capability))
          continue;
        error(fmt::format("{}.gencode[{}]", row, g), "SPEC013",
              fmt::format("{} does not run on {}", to_string(code), to_string(rows[i].capability)));
      }
    }
  }

  void kernels() {
    const auto& rows = m_spec.kernels;
    const Words arches = capabilities_of(m_spec.arches);
    const Words shims = words_of(m_spec.build.shims, [](const Shim& s) { return s.name; });
    distinct_while_overlapping("kernel", "module", words_of(rows, [](const KernelSpec& k) { return k.module; }), rows);
    for (std::size_t i = 0; i < m_spec.build.shims.size(); ++i) {
      if (shims[i] == k_floor_shim) {
        error(fmt::format("build.shim[{}].name", i), "SPEC009",
              fmt::format("\"{}\" is the name of sagekit's own headers", shims[i]), "choose another name");
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (shims[i].empty() || shims[i] != shims[j] || m_spec.build.shims[i].file != m_spec.build.shims[j].file)
          continue;
        error(fmt::format("build.shim[{}].file", i), "SPEC009",
              fmt::format("shim \"{}\" has \"{}\" twice", shims[i], m_spec.build.shims[i].file));
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string row = fmt::format("kernel[{}]", i);
      when(row, rows[i].when);
      no_repeats(row + ".capabilities", names_of(rows[i].capabilities));
      all_known(row + ".capabilities", "[[arch]]", names_of(rows[i].capabilities), arches);
      known(row + ".source_shim", "[[build.shim]]", rows[i].source_shim, shims);
      known(row + ".binding_shim", "[[build.shim]]", rows[i].binding_shim, shims);
      known(row + ".device_shim", "[[build.shim]]", rows[i].device_shim, shims);
      if (!m_document.filled(row + ".sources") && !m_document.filled(row + ".bindings")) {
        error(row, "SPEC013", "a kernel needs sources or bindings");
      }
      if (rows[i].torch_free && !rows[i].torch_libraries.empty()) {
        error(row + ".torch_libraries", "SPEC013", "a torch_free kernel may not have torch_libraries");
      }
    }
  }

  void dispatch() {
    const auto& rows = m_spec.dispatch;
    const Words arches = capabilities_of(m_spec.arches);
    const Words modules = words_of(m_spec.kernels, [](const KernelSpec& k) { return k.module; });
    const Words capabilities = capabilities_of(rows);
    distinct_while_overlapping("dispatch", "capability", capabilities, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string row = fmt::format("dispatch[{}]", i);
      when(row, rows[i].when);
      known(row + ".capability", "[[arch]]", capabilities[i], arches);
      all_known(row + ".modules", "[[kernel]]", rows[i].modules, modules);
      if (!rows[i].refused.empty() && !rows[i].modules.empty()) {
        error(row + ".refused", "SPEC013", "a refused device calls no modules", "remove one of the two");
      }
    }
  }

  template <class Row>
  void axes(const std::string& path, const Row& row) {
    no_repeats(path + ".torch", row.torch);
    no_repeats(path + ".cuda", row.cuda);
    no_repeats(path + ".python", row.python);
    no_repeats(path + ".platform", row.platform);
  }

  /// The headers must know the interface of the least torch that a row is for.
  void stable_words(const MatrixSpec& matrix) {
    const auto headers = parse_version_number(matrix.stable_headers);
    for (std::size_t i = 0; i < matrix.include.size(); ++i)
      for (const auto& text : matrix.include[i].torch) {
        const auto word = parse_torch_word(text);
        if (!word || !word->stable) continue;
        const auto least = parse_version_number(word->version);
        if (headers && least && *headers >= *least) continue;
        error(fmt::format("matrix.include[{}].torch", i), "SPEC013",
              headers
                  ? fmt::format("\"{}\" cannot be compiled with the headers of torch {}", text, matrix.stable_headers)
                  : fmt::format("\"{}\" needs [matrix] stable_headers", text),
              "stable_headers = \"2.11.0\": a torch from 2.10 on, whose headers know TORCH_TARGET_VERSION");
      }
  }

  void matrix() {
    const MatrixSpec& matrix = m_spec.matrix;
    for (std::size_t i = 0; i < matrix.include.size(); ++i)
      axes(fmt::format("matrix.include[{}]", i), matrix.include[i]);
    stable_words(matrix);
    for (std::size_t i = 0; i < matrix.exclude.size(); ++i) {
      const std::string row = fmt::format("matrix.exclude[{}]", i);
      axes(row, matrix.exclude[i]);
      const auto given = [&](std::string_view axis) { return m_document.filled(row + "." + std::string(axis)); };
      if (given("torch") || given("cuda") || given("python") || given("platform")) continue;
      error(row, "SPEC013", "an exclude without torch, cuda, python or platform would exclude every cell");
    }
  }

  void profiles() {
    distinct("profile", "name", words_of(m_spec.profiles, [](const Profile& p) { return p.name; }));
    for (std::size_t i = 0; i < m_spec.profiles.size(); ++i) {
      const std::string& revision = m_spec.profiles[i].revision;
      Words words;
      for (const Revision& r : m_spec.source.revisions) {
        words.push_back(r.commit);
        words.insert(words.end(), r.names.begin(), r.names.end());
      }
      if (find_revision(m_spec, revision) == nullptr) {
        known(fmt::format("profile[{}].revision", i), "[[source.revision]]", revision, words);
      }
    }
  }

  void naming() {
    Words schemes = words_of(m_spec.schemes, [](const NamingScheme& s) { return s.name; });
    distinct("naming.scheme", "name", schemes);
    const Words builtin = words_of(builtin_schemes(), [](const NamingScheme& s) { return s.name; });
    for (std::size_t i = 0; i < m_spec.schemes.size(); ++i) {
      const NamingScheme& scheme = m_spec.schemes[i];
      const std::string row = fmt::format("naming.scheme[{}]", i);
      if (contains(builtin, scheme.name)) {
        error(row + ".name", "SPEC009", fmt::format("\"{}\" is a built-in scheme", scheme.name), "choose another name");
      }
      if (const auto version = expand_with_samples(scheme.version);
          version && !scheme.version.empty() && !is_normal_version(*version)) {
        error(row + ".version", "SPEC006",
              fmt::format("\"{}\" makes no version in normal form: {}", scheme.version, *version),
              "PEP 440: public version, then + and dotted small letters and digits");
      }
      if (const auto build = expand_with_samples(scheme.build);
          build && !build->empty() && !is_digits(build->substr(0, 1))) {
        error(row + ".build", "SPEC006", fmt::format("\"{}\" makes no build tag: {}", scheme.build, *build),
              "a build tag starts with a digit (PEP 427)");
      }
    }
    schemes.insert(schemes.end(), builtin.begin(), builtin.end());
    known("naming.default", "[[naming.scheme]]", m_spec.default_scheme, schemes);
  }

  void gpu_cases() {
    const auto& rows = m_spec.verify.gpu;
    const Words arches = capabilities_of(m_spec.arches);
    distinct_while_overlapping("verify.gpu", "id", words_of(rows, [](const GpuCase& c) { return c.id; }), rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string row = fmt::format("verify.gpu[{}]", i);
      when(row, rows[i].when);
      no_repeats(row + ".capabilities", names_of(rows[i].capabilities));
      all_known(row + ".capabilities", "[[arch]]", names_of(rows[i].capabilities), arches);
      validate_gpu_case(rows[i], row, m_document);
    }
  }

  const Spec& m_spec;
  const TomlDocument& m_document;
};

}  // namespace

void validate_spec(const Spec& spec, const TomlDocument& document) { Validator(spec, document).run(); }

}  // namespace sagekit
