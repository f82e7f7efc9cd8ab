#include "release/arch_match.hpp"

#include "release/origin.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <set>

namespace sagekit {

namespace {

bool is_for_system(const ReleasedWheel& wheel, const Cell& cell) {
  const auto& origin = wheel.origin;
  if (wheel.project != normalized_project(cell.distribution)) return false;
  return (origin.platform.empty() || origin.platform == cell.platform) && is_for_python(wheel, cell.python);
}

}  // namespace

ArchAnswer compare_arches(const WheelOrigin& origin, const Cell& cell) {
  std::vector<std::string> wanted;
  for (const auto& arch : cell.arches) wanted.push_back(to_string(arch));
  ArchAnswer answer{.match = ArchMatch::same, .has = join(origin.arches, " "), .wanted = join(wanted, " ")};
  const auto& has = origin.arches;
  if (std::set(has.begin(), has.end()) == std::set(wanted.begin(), wanted.end())) return answer;
  if (origin.default_arches) {
    answer.has = "the default architectures";
    answer.match = cell.arch_set.empty() ? ArchMatch::same : ArchMatch::other;
  } else if (has.empty()) {
    // Of its own record even that it names none is said.
    answer.has = "no GPU";
    answer.match = origin.cell.empty() ? ArchMatch::unsaid : ArchMatch::other;
  } else {
    answer.match = ArchMatch::other;
  }
  return answer;
}

bool is_for(const ReleasedWheel& wheel, const Cell& cell) {
  return is_for_system(wheel, cell) && is_for_torch(wheel.origin, cell.torch) &&
         says_same(wheel.origin.cuda, cell.cuda);
}

bool may_be_for(const ReleasedWheel& wheel, const Cell& cell) {
  const auto& origin = wheel.origin;
  const bool no_torch = origin.torch.empty() && origin.torch_min.empty();
  return is_for_system(wheel, cell) && (no_torch || is_for_torch(origin, cell.torch)) &&
         (origin.cuda.empty() || says_same(origin.cuda, cell.cuda));
}

}  // namespace sagekit
