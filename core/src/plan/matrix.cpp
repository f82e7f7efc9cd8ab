#include "plan/matrix.hpp"

#include "spec/abi_words.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <map>

namespace sagekit {
namespace {

const std::vector<std::string> k_unused{""};
const std::vector<std::string> k_default_platform{"linux_x86_64"};

const std::vector<std::string>& or_else(const std::vector<std::string>& words,
                                        const std::vector<std::string>& otherwise) {
  return words.empty() ? otherwise : words;
}

Axis make_axis(const std::vector<MatrixRow>& rows, std::vector<std::string> MatrixRow::* member,
               const std::vector<std::string>& otherwise) {
  Axis axis;
  for (const auto& row : rows) {
    const auto& words = or_else(row.*member, otherwise);
    axis.words.insert(axis.words.end(), words.begin(), words.end());
  }
  std::ranges::sort(axis.words, version_less);
  const auto rest = std::ranges::unique(axis.words);
  axis.words.erase(rest.begin(), rest.end());
  axis.values = axis.words;
  axis.least.resize(axis.words.size());
  return axis;
}

std::vector<std::uint16_t> positions(const Axis& axis, const std::vector<std::string>& words) {
  std::vector<std::uint16_t> found;
  for (const auto& word : words) {
    const auto at = std::ranges::lower_bound(axis.words, word, version_less);
    found.push_back(static_cast<std::uint16_t>(at - axis.words.begin()));
  }
  return found;
}

void name_torches(Axis& axis, const std::string& stable_headers) {
  std::map<std::string, int> releases;
  for (const auto& word : axis.words) ++releases[without_patch(word)];
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (const auto word = parse_torch_word(axis.words[i]); word && word->stable) {
      axis.values[i] = stable_headers;
      axis.least[i] = word->version;
      axis.id_parts.push_back("-pytorch" + without_dots(word->version) + "stable");
      continue;
    }
    const auto& value = axis.values[i];
    const auto minor = without_patch(value);
    axis.id_parts.push_back(value.empty() ? "" : "-pytorch" + (releases[minor] > 1 ? value : without_dots(minor)));
  }
}

void name_pythons(Axis& axis) {
  for (std::size_t i = 0; i < axis.size(); ++i) {
    const auto word = parse_python_word(axis.words[i]);
    const auto limited = word && word->limited;
    if (limited) axis.values[i] = axis.least[i] = word->version;
    axis.id_parts.push_back(
        axis.values[i].empty() ? "" : "-python" + without_dots(axis.values[i]) + (limited ? "abi3" : ""));
  }
}

}  // namespace

Matrix expand_matrix(const MatrixSpec& spec) {
  Matrix matrix;
  matrix.torch = make_axis(spec.include, &MatrixRow::torch, k_unused);
  matrix.cuda = make_axis(spec.include, &MatrixRow::cuda, k_unused);
  matrix.python = make_axis(spec.include, &MatrixRow::python, k_unused);
  matrix.platform = make_axis(spec.include, &MatrixRow::platform, k_default_platform);
  name_torches(matrix.torch, spec.stable_headers);
  for (const auto& v : matrix.cuda.values) matrix.cuda.id_parts.push_back(v.empty() ? "" : "-cu" + without_dots(v));
  name_pythons(matrix.python);
  for (const auto& v : matrix.platform.values)
    matrix.platform.id_parts.push_back(v == k_default_platform[0] ? "" : "-" + v);

  for (const auto& row : spec.include) {
    const auto torches = positions(matrix.torch, or_else(row.torch, k_unused));
    const auto cudas = positions(matrix.cuda, or_else(row.cuda, k_unused));
    const auto pythons = positions(matrix.python, or_else(row.python, k_unused));
    const auto platforms = positions(matrix.platform, or_else(row.platform, k_default_platform));
    for (auto torch : torches)
      for (auto cuda : cudas)
        for (auto platform : platforms)
          for (auto python : pythons) matrix.points.push_back({torch, cuda, platform, python});
  }
  std::ranges::sort(matrix.points);
  const auto rest = std::ranges::unique(matrix.points);
  matrix.points.erase(rest.begin(), rest.end());
  return matrix;
}

std::string base_id(std::string_view plugin, const Matrix& matrix, Point point) {
  const auto& torch = matrix.torch.id_parts[point.torch];
  const auto& cuda = matrix.cuda.id_parts[point.cuda];
  const auto& python = matrix.python.id_parts[point.python];
  std::string id;
  id.reserve(plugin.size() + torch.size() + cuda.size() + python.size() + 16);  // room for the suffixes
  return id.append(plugin).append(torch).append(cuda).append(python);
}

bool names_version(std::string_view written, std::string_view version) {
  return version.starts_with(written) && (version.size() == written.size() || version[written.size()] == '.');
}

bool names_value(std::string_view written, const Axis& axis, std::size_t at) {
  if (axis.least[at].empty()) return names_version(written, axis.values[at]);
  if (written == axis.words[at]) return true;
  const auto wanted = parse_version_number(written), least = parse_version_number(axis.least[at]);
  return wanted && least && (*wanted >= *least || names_version(written, axis.least[at]));
}

ExcludeRules::ExcludeRules(const MatrixSpec& spec, const Matrix& matrix) {
  const auto table = [](const std::vector<std::string>& words, const Axis& axis) {
    std::vector<bool> hit;
    for (std::size_t i = 0; i < axis.size(); ++i)
      hit.push_back(words.empty() || std::ranges::any_of(words, [&](const auto& w) {
                      return w == axis.words[i] || (axis.least[i].empty() && names_version(w, axis.values[i]));
                    }));
    return hit;
  };
  for (const auto& row : spec.exclude)
    m_rules.push_back({&row, table(row.torch, matrix.torch), table(row.cuda, matrix.cuda),
                       table(row.python, matrix.python), table(row.platform, matrix.platform)});
}

const MatrixExclude* ExcludeRules::find(Point p) const {
  for (const auto& rule : m_rules)
    if (rule.torch[p.torch] && rule.cuda[p.cuda] && rule.python[p.python] && rule.platform[p.platform]) return rule.row;
  return nullptr;
}

}  // namespace sagekit
