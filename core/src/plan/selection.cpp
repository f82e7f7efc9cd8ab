#include "plan/selection.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace sagekit {
namespace {

constexpr std::size_t k_nearest_ids = 3;

/// By position on the axis: does a narrowing flag let it through?
std::vector<bool> narrowed(const Axis& axis, const std::vector<std::string>& words) {
  std::vector<bool> in;
  for (std::size_t i = 0; i < axis.size(); ++i)
    in.push_back(words.empty() || std::ranges::any_of(words, [&](const auto& w) { return names_value(w, axis, i); }));
  return in;
}

/// As the axis writes them: "cu128" -> "12.8". What is no version stays: it names nothing on the axis, and is quoted.
std::vector<std::string> versions(std::vector<std::string> words, Result<std::string> (*parse)(std::string_view)) {
  for (auto& word : words)
    if (auto version = parse(word)) word = std::move(*version);
  return words;
}

bool takes_everything(const std::vector<std::string>& globs) { return globs.size() == 1 && globs[0] == "*"; }

struct Narrowing {
  std::vector<bool> torch, cuda, python, platform;

  Narrowing(const Matrix& matrix, const Request& request, const std::vector<std::string>& platforms)
      : torch(narrowed(matrix.torch, versions(request.torches, parse_torch_version))),
        cuda(narrowed(matrix.cuda, versions(request.cudas, parse_cuda_version))),
        python(narrowed(matrix.python, versions(request.pythons, parse_python_version))),
        platform(narrowed(matrix.platform, platforms)) {}
  bool lets_through(Point p) const {
    return torch[p.torch] && cuda[p.cuda] && python[p.python] && platform[p.platform];
  }
};

/// The flag whose words name nothing on their axis, in a sentence; "" = none.
std::string word_off_axis(const Matrix& matrix, const Narrowing& narrowing, const Request& request,
                          const std::vector<std::string>& platforms) {
  struct Flag {
    const char* name;
    const Axis& axis;
    const std::vector<bool>& in;
    const std::vector<std::string>& words;
  };
  for (const auto& [name, axis, in, words] : {Flag{"torch", matrix.torch, narrowing.torch, request.torches},
                                              Flag{"CUDA", matrix.cuda, narrowing.cuda, request.cudas},
                                              Flag{"Python", matrix.python, narrowing.python, request.pythons},
                                              Flag{"platform", matrix.platform, narrowing.platform, platforms}})
    if (std::ranges::count(in, true) == 0)
      return fmt::format("the matrix has no {} {}; it has {}", name, join(words, ", "), join(axis.words, ", "));
  return {};
}

/// A profile that has the cell; null = none.
const Profile* profile_with(const Spec& spec, const Matrix& matrix, Point point, const Request& request) {
  const auto base = base_id(spec.name, matrix, point);
  const auto found = std::ranges::find_if(spec.profiles, [&](const Profile& profile) {
    return (profile.cells.empty() || globs_select(profile.cells, base)) &&
           (!request.platforms.empty() || contains(platforms_of(&profile), matrix.platform.values[point.platform]));
  });
  return found == spec.profiles.end() ? nullptr : &*found;
}

std::unexpected<Error> nothing_selected(const Spec& spec, const Matrix& matrix, const Request& request,
                                        const Choice& choice, const ArchSuffixOf& arch_suffix) {
  const auto profile = choice.profile ? choice.profile->name : std::string();
  auto message = fmt::format("the request selects no cell of plugin {}", spec.name);
  if (!profile.empty()) message += fmt::format(", profile \"{}\"", profile);
  const Narrowing narrowing(matrix, request, choice.platforms);
  if (auto hint = word_off_axis(matrix, narrowing, request, choice.platforms); !hint.empty())
    return fail(ErrorKind::no_match, "PLN004", message, hint);

  std::vector<std::string> ids, own, outside;
  const Profile* other = nullptr;
  for (const auto point : matrix.points) {
    const auto suffix = arch_suffix(point);
    const auto base = base_id(spec.name, matrix, point);
    auto id = base + matrix.platform.id_parts[point.platform];
    if (suffix) id += *suffix;
    // Platforms that nobody named are the profile's choice, too.
    const bool let_through = narrowing.torch[point.torch] && narrowing.cuda[point.cuda] &&
                             narrowing.python[point.python] &&
                             (request.platforms.empty() || narrowing.platform[point.platform]);
    if (let_through && globs_select(choice.cell_globs, id)) {
      outside.push_back(id);
      if (!other) other = profile_with(spec, matrix, point, request);
    }
    if (let_through && narrowing.platform[point.platform] && globs_select(choice.profile_globs, base))
      own.push_back(id);
    ids.push_back(std::move(id));
  }
  if (!outside.empty())
    return fail(ErrorKind::no_match, "PLN004", message,
                fmt::format("the matrix has {}{}; {}", outside.front(),
                            outside.size() > 1 ? fmt::format(" and {} more", outside.size() - 1) : "",
                            other ? fmt::format("--profile {} has it", other->name) : "no profile has it"));
  const auto word = request.cells.empty() ? spec.name : request.cells.front();
  // What the rest of the request selects is what was probably meant.
  auto& near = own.empty() ? ids : own;
  return fail(ErrorKind::no_match, "PLN004", message,
              "nearest ids: " + join(nearest_words(word, std::move(near), k_nearest_ids), ", "));
}

}  // namespace

Result<std::vector<SelectedCell>> select_cells(const Spec& spec, const Matrix& matrix, const Request& request,
                                               const Choice& choice, const ArchSuffixOf& arch_suffix) {
  const Narrowing narrowing(matrix, request, choice.platforms);
  const auto whole_profile = takes_everything(choice.profile_globs);
  const auto whole_selection = takes_everything(choice.cell_globs);
  std::vector<SelectedCell> selected;
  for (const auto point : matrix.points) {
    if (!narrowing.lets_through(point)) continue;
    auto id = base_id(spec.name, matrix, point);
    if (!whole_profile && !globs_select(choice.profile_globs, id)) continue;
    TRY_ASSIGN(const auto suffix, arch_suffix(point));
    id += matrix.platform.id_parts[point.platform];
    id += suffix;
    if (!whole_selection && !globs_select(choice.cell_globs, id)) continue;
    selected.push_back({point, std::move(id)});
  }
  if (selected.empty()) return nothing_selected(spec, matrix, request, choice, arch_suffix);
  std::unordered_set<std::string_view> ids;
  ids.reserve(selected.size());
  for (const auto& candidate : selected)
    if (!ids.insert(candidate.id).second)
      return fail(ErrorKind::usage, "PLN009",
                  fmt::format("two cells of plugin {} have the id {}", spec.name, candidate.id),
                  "write the versions of the matrix in one way");
  // Positions on the axes are in the order of versions; this machine's kind of platform, which ids do not name, first.
  std::ranges::sort(selected, {}, [&](const SelectedCell& c) {
    const auto p = c.point;
    return std::tuple(p.torch, p.cuda, p.python, std::string_view(matrix.platform.id_parts[p.platform]));
  });
  return selected;
}

}  // namespace sagekit
