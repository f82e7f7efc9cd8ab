#include "spec/spec_validator.hpp"

#include <algorithm>
#include <limits>

namespace sagekit {

namespace {

bool share_a_word(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

/// Versions just below, at and just above every bound of a range: if two ranges meet, they meet at one of these.
void add_probes(const VersionRange& range, std::vector<VersionNumber>& probes) {
  constexpr int k_large = 1'000'000;
  for (const auto& term : range.terms) {
    VersionNumber above = term.version, below = term.version;
    above.parts.insert(above.parts.end(), {0, 0, 1});
    while (!below.parts.empty() && below.parts.back() == 0) below.parts.pop_back();
    if (!below.parts.empty()) {
      --below.parts.back();
      below.parts.push_back(k_large);
    }
    VersionNumber next = term.version;  // the first one after a prefix such as 2.9.*
    if (!next.parts.empty() && next.parts.back() < std::numeric_limits<int>::max()) ++next.parts.back();
    probes.insert(probes.end(), {term.version, above, below, next});
  }
}

bool ranges_meet(const VersionRange& a, const VersionRange& b) {
  if (a.terms.empty() || b.terms.empty()) return true;
  std::vector<VersionNumber> probes;
  add_probes(a, probes);
  add_probes(b, probes);
  return std::ranges::any_of(probes, [&](const VersionNumber& v) { return a.contains(v) && b.contains(v); });
}

}  // namespace

bool can_overlap(const When& a, const When& b) {
  if (share_a_word(a.features, b.not_features) || share_a_word(b.features, a.not_features)) return false;
  if (!a.backends.empty() && !b.backends.empty() && !share_a_word(a.backends, b.backends)) return false;
  return ranges_meet(a.torch, b.torch) && ranges_meet(a.cuda, b.cuda);
}

}  // namespace sagekit
