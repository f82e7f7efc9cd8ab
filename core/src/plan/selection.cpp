#include "plan/selection.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace sagekit {
namespace {

constexpr std::size_t k_nearest_ids = 3;

/// As the axis writes them: "cu128" -> "12.8". What is no version stays: it names nothing on the axis, and is quoted.
std::vector<std::string> versions(std::vector<std::string> words, Result<std::string> (*parse)(std::string_view)) {
  for (auto& word : words)
    if (auto version = parse(word)) word = std::move(*version);
  return words;
}

bool takes_everything(const std::vector<std::string>& globs) { return globs.size() == 1 && globs[0] == "*"; }

/// One narrowing flag over its axis.
class Narrowing {
 public:
  /// `typed`: none = everything. `words`: the same as the axis writes them.
  Narrowing(const char* name, const Axis& axis, std::uint16_t Point::* at, const std::vector<std::string>& typed,
            std::vector<std::string> words)
      : m_name(name),
        m_axis(axis),
        m_at(at),
        m_typed(typed),
        m_words(std::move(words)),
        m_in(axis.size(), typed.empty()) {
    for (const auto& word : m_words)
      for (std::size_t i = 0; i < axis.size(); ++i) m_in[i] = m_in[i] || names_value(word, axis, i);
  }

  bool lets_through(Point point) const { return m_in[point.*m_at]; }

  /// What names nothing on the axis, in a sentence; "" = each word names something. A word of several is never dropped.
  std::string off_axis() const {
    std::vector<std::string> off;
    for (std::size_t word = 0; word < m_words.size(); ++word) {
      bool known = false;
      for (std::size_t i = 0; i < m_axis.size(); ++i) known = known || names_value(m_words[word], m_axis, i);
      if (!known) off.push_back(m_typed[word]);
    }
    if (off.empty()) return {};
    // One empty word stands for an axis that the plugin does not have.
    if (std::ranges::all_of(m_axis.words, &std::string::empty))
      return fmt::format("this plugin's matrix has no {}: leave {} out", m_name, join(off, ", "));
    return fmt::format("the matrix has no {} {}; it has {}", m_name, join(off, ", "), join(m_axis.words, ", "));
  }

  /// The words that no selected cell has, "Python 3.13"; "" = none.
  std::string without_cell(const std::vector<SelectedCell>& selected) const {
    std::vector<std::string> none;
    for (std::size_t word = 0; word < m_words.size(); ++word)
      if (std::ranges::none_of(selected,
                               [&](const auto& cell) { return names_value(m_words[word], m_axis, cell.point.*m_at); }))
        none.push_back(m_typed[word]);
    return none.empty() ? std::string() : fmt::format("{} {}", m_name, join(none, ", "));
  }

 private:
  const char* m_name;
  const Axis& m_axis;
  std::uint16_t Point::* m_at;
  const std::vector<std::string>& m_typed;
  std::vector<std::string> m_words;
  std::vector<bool> m_in;
};

std::string in_profile(const Choice& choice) {
  return choice.profile ? fmt::format(" (profile \"{}\")", choice.profile->name) : "";
}

/// Of torch, CUDA, Python and, last, the platform.
using Narrowings = std::array<Narrowing, 4>;

Narrowings narrowings(const Matrix& matrix, const Request& request, const std::vector<std::string>& platforms) {
  return {
      Narrowing("torch", matrix.torch, &Point::torch, request.torches, versions(request.torches, parse_torch_version)),
      Narrowing("CUDA", matrix.cuda, &Point::cuda, request.cudas, versions(request.cudas, parse_cuda_version)),
      Narrowing("Python", matrix.python, &Point::python, request.pythons,
                versions(request.pythons, parse_python_version)),
      Narrowing("platform", matrix.platform, &Point::platform, platforms, platforms)};
}

bool lets_through(std::span<const Narrowing> flags, Point point) {
  return std::ranges::all_of(flags, [&](const Narrowing& flag) { return flag.lets_through(point); });
}

/// The flags with which the cell is selected, and how far they are from what was said: least for a profile alone, which
/// keeps its platforms.
std::pair<int, std::string> flags_for(const Spec& spec, const Matrix& matrix, Point point, const Request& request,
                                      const Choice& choice) {
  const auto base = base_id(spec.name, matrix, point);
  const auto& platform = matrix.platform.values[point.platform];
  const auto by_platform = " --platform " + platform;
  std::pair<int, std::string> nearest{3, "no profile"};
  for (const auto& profile : spec.profiles) {
    if (!profile.cells.empty() && !globs_select(profile.cells, base)) continue;
    if (!request.platforms.empty() || contains(platforms_of(&profile), platform))
      return {0, "--profile " + profile.name};
    if (nearest.first > 2) nearest = {2, "--profile " + profile.name + by_platform};
  }
  if (request.platforms.empty() && globs_select(choice.profile_globs, base)) return {1, by_platform.substr(1)};
  return nearest;
}

std::unexpected<Error> nothing_selected(const Spec& spec, const Matrix& matrix, const Request& request,
                                        const Choice& choice, const ArchSuffixOf& arch_suffix) {
  const auto profile = choice.profile ? choice.profile->name : std::string();
  auto message = fmt::format("the request selects no cell of plugin {}", spec.name);
  if (!profile.empty()) message += fmt::format(", profile \"{}\"", profile);
  const auto flags = narrowings(matrix, request, choice.platforms);
  for (const auto& flag : flags)
    if (auto hint = flag.off_axis(); !hint.empty()) return fail(ErrorKind::no_match, "PLN004", message, hint);

  std::vector<std::string> ids, own;
  std::size_t outside = 0;
  std::string nearest;
  std::pair<int, std::string> flags_of_nearest;
  for (const auto point : matrix.points) {
    const auto suffix = arch_suffix(point);
    const auto base = base_id(spec.name, matrix, point);
    auto id = base + matrix.platform.id_parts[point.platform];
    if (suffix) id += *suffix;
    // Platforms that nobody named are the profile's choice, too.
    const bool let_through = lets_through(std::span(flags).first(request.platforms.empty() ? 3 : 4), point);
    if (let_through && globs_select(choice.cell_globs, id)) {
      auto wanted = flags_for(spec, matrix, point, request, choice);
      if (outside++ == 0 || wanted.first < flags_of_nearest.first) {
        nearest = id;
        flags_of_nearest = std::move(wanted);
      }
    }
    if (let_through && flags.back().lets_through(point) && globs_select(choice.profile_globs, base)) own.push_back(id);
    ids.push_back(std::move(id));
  }
  if (outside > 0)
    return fail(ErrorKind::no_match, "PLN004", message,
                fmt::format("the matrix has {}{}; {} has it", nearest,
                            outside > 1 ? fmt::format(" and {} more", outside - 1) : "", flags_of_nearest.second));
  const auto word = request.cells.empty() ? spec.name : request.cells.front();
  // What the rest of the request selects is what was probably meant.
  auto& near = own.empty() ? ids : own;
  return fail(ErrorKind::no_match, "PLN004", message,
              "nearest ids: " + join(nearest_words(word, std::move(near), k_nearest_ids), ", "));
}

/// A slip in one of several globs is told: also in one that would take cells away.
void warn_of_idle(const std::string& glob, const std::vector<std::string>& ids, const Choice& choice,
                  Diagnostics& warnings) {
  const bool negative = glob.starts_with('!');
  const auto pattern = glob.substr(negative ? 1 : 0);
  if (std::ranges::any_of(ids, [&](const std::string& id) { return glob_match(pattern, id); })) return;
  warnings.push_back({Severity::warning,
                      "PLN015",
                      fmt::format("--cells {} {} nothing: no cell of the selection{} matches it", glob,
                                  negative ? "excludes" : "adds", in_profile(choice)),
                      {},
                      "nearest ids: " + join(nearest_words(pattern, ids, k_nearest_ids), ", ")});
}

}  // namespace

Result<std::vector<SelectedCell>> select_cells(const Spec& spec, const Matrix& matrix, const Request& request,
                                               const Choice& choice, const ArchSuffixOf& arch_suffix,
                                               Diagnostics& warnings) {
  const auto flags = narrowings(matrix, request, choice.platforms);
  const auto whole_profile = takes_everything(choice.profile_globs);
  const auto whole_selection = takes_everything(choice.cell_globs);
  std::vector<SelectedCell> selected;
  std::vector<std::string> before_globs;  // what --cells chooses among
  for (const auto point : matrix.points) {
    if (!lets_through(flags, point)) continue;
    auto id = base_id(spec.name, matrix, point);
    if (!whole_profile && !globs_select(choice.profile_globs, id)) continue;
    TRY_ASSIGN(const auto suffix, arch_suffix(point));
    id += matrix.platform.id_parts[point.platform];
    id += suffix;
    if (!whole_selection) before_globs.push_back(id);
    if (!whole_selection && !globs_select(choice.cell_globs, id)) continue;
    selected.push_back({point, std::move(id)});
  }
  if (selected.empty()) return nothing_selected(spec, matrix, request, choice, arch_suffix);
  for (const auto& flag : flags) {
    if (auto hint = flag.off_axis(); !hint.empty())
      return fail(ErrorKind::no_match, "PLN004",
                  fmt::format("the request names what plugin {} does not have", spec.name), std::move(hint));
    // Platforms that nobody named are the profile's choice.
    if (&flag == &flags.back() && request.platforms.empty()) continue;
    if (auto words = flag.without_cell(selected); !words.empty())
      warnings.push_back({Severity::warning,
                          "PLN015",
                          fmt::format("no cell of the selection has {}{}", words, in_profile(choice)),
                          {},
                          "another --profile, or --cells, may have it"});
  }
  if (!whole_selection)
    for (const auto& glob : choice.cell_globs) warn_of_idle(glob, before_globs, choice, warnings);
  std::unordered_set<std::string_view> ids;
  ids.reserve(selected.size());
  for (const auto& candidate : selected)
    if (!ids.insert(candidate.id).second)
      return fail(ErrorKind::usage, "PLN009",
                  fmt::format("two cells of plugin {} have the id {}", spec.name, candidate.id),
                  "write the versions of the matrix in one way");
  if (request.only)
    std::erase_if(selected, [&](const SelectedCell& cell) { return !contains(*request.only, cell.id); });
  // Positions on the axes are in the order of versions; this machine's kind of platform, which ids do not name, first.
  std::ranges::sort(selected, {}, [&](const SelectedCell& c) {
    const auto p = c.point;
    return std::tuple(p.torch, p.cuda, p.python, std::string_view(matrix.platform.id_parts[p.platform]));
  });
  return selected;
}

}  // namespace sagekit
