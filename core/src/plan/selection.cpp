#include "plan/selection.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {
namespace {

constexpr std::size_t k_nearest_ids = 3;

/// By position on the axis: does a narrowing flag let it through?
std::vector<bool> narrowed(const Axis& axis, const std::vector<std::string>& words) {
  std::vector<bool> in;
  for (const auto& value : axis.values)
    in.push_back(words.empty() || std::ranges::any_of(words, [&](const auto& w) { return names_version(w, value); }));
  return in;
}

bool takes_everything(const std::vector<std::string>& globs) { return globs.size() == 1 && globs[0] == "*"; }

struct Narrowing {
  std::vector<bool> torch, cuda, python, platform;

  Narrowing(const Matrix& matrix, const Request& request, const std::vector<std::string>& platforms)
      : torch(narrowed(matrix.torch, request.torches)),
        cuda(narrowed(matrix.cuda, request.cudas)),
        python(narrowed(matrix.python, request.pythons)),
        platform(narrowed(matrix.platform, platforms)) {}
  bool lets_through(Point p) const {
    return torch[p.torch] && cuda[p.cuda] && python[p.python] && platform[p.platform];
  }
};

/// The flag whose words name nothing on their axis, in a sentence; "" = none.
std::string word_off_axis(const Matrix& matrix, const Request& request, const std::vector<std::string>& platforms) {
  const auto look = [](const char* name, const Axis& axis, const std::vector<std::string>& words) -> std::string {
    const auto in = narrowed(axis, words);
    if (std::ranges::count(in, true) > 0) return {};
    return fmt::format("the matrix has no {} {}; it has {}", name, join(words, ", "), join(axis.values, ", "));
  };
  for (auto text : {look("torch", matrix.torch, request.torches), look("CUDA", matrix.cuda, request.cudas),
                    look("Python", matrix.python, request.pythons), look("platform", matrix.platform, platforms)})
    if (!text.empty()) return text;
  return {};
}

std::unexpected<Error> nothing_selected(const Spec& spec, const Matrix& matrix, const Request& request,
                                        const Choice& choice, const ArchSuffixOf& arch_suffix) {
  const auto profile = choice.profile ? choice.profile->name : std::string();
  auto message = fmt::format("the request selects no cell of plugin {}", spec.name);
  if (!profile.empty()) message += fmt::format(", profile \"{}\"", profile);
  if (auto hint = word_off_axis(matrix, request, choice.platforms); !hint.empty())
    return fail(ErrorKind::no_match, "PLN004", message, hint);

  std::vector<std::string> ids, outside;
  const Narrowing narrowing(matrix, request, choice.platforms);
  for (const auto point : matrix.points) {
    const auto suffix = arch_suffix(point);
    auto id = base_id(spec.name, matrix, point);
    id += matrix.platform.id_parts[point.platform];
    if (suffix) id += *suffix;
    if (narrowing.lets_through(point) && globs_select(choice.cell_globs, id)) outside.push_back(id);
    ids.push_back(std::move(id));
  }
  if (!outside.empty())
    return fail(ErrorKind::no_match, "PLN004", message,
                fmt::format("the matrix has {}{}; choose a profile that has it", outside.front(),
                            outside.size() > 1 ? fmt::format(" and {} more", outside.size() - 1) : ""));
  const auto word = request.cells.empty() ? spec.name : request.cells.front();
  return fail(ErrorKind::no_match, "PLN004", message,
              "nearest ids: " + join(nearest_words(word, std::move(ids), k_nearest_ids), ", "));
}

}  // namespace

Result<std::vector<Candidate>> select_cells(const Spec& spec, const Matrix& matrix, const Request& request,
                                            const Choice& choice, const ArchSuffixOf& arch_suffix) {
  const Narrowing narrowing(matrix, request, choice.platforms);
  const auto whole_profile = takes_everything(choice.profile_globs);
  const auto whole_selection = takes_everything(choice.cell_globs);
  std::vector<Candidate> selected;
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
  std::ranges::sort(selected, {}, &Candidate::id);
  const auto twice = std::ranges::adjacent_find(selected, {}, &Candidate::id);
  if (twice != selected.end())
    return fail(ErrorKind::usage, "PLN009", fmt::format("two cells of plugin {} have the id {}", spec.name, twice->id),
                "write the versions of the matrix in one way");
  return selected;
}

}  // namespace sagekit
