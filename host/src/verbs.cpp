#include "verb.hpp"

#include <algorithm>
#include <iterator>

// The verbs, in the order of --help. A new one is its file in verbs/, which defines NAME_verbs(), and a line here.
// clang-format off
#define SAGEKIT_VERBS(line) \
  line(plan) \
  line(build) \
  line(verify) \
  line(inspect) \
  line(diff) \
  line(package) \
  line(name) \
  line(retag) \
  line(release) \
  line(index) \
  line(report) \
  line(resolve) \
  line(install) \
  line(coverage) \
  line(publish) \
  line(generate) \
  line(doctor) \
  line(env) \
  line(toolchain) \
  line(cache) \
  line(plugin) \
  line(explain) \
  line(schema) \
  line(completion) \
  line(man)
// clang-format on

namespace sagekit::host {

#define SAGEKIT_DECLARE(name) std::vector<Verb> name##_verbs();
SAGEKIT_VERBS(SAGEKIT_DECLARE)
#undef SAGEKIT_DECLARE

std::vector<Verb> all_verbs() {
  std::vector<Verb> all;
#define SAGEKIT_ADD(name) std::ranges::move(name##_verbs(), std::back_inserter(all));
  SAGEKIT_VERBS(SAGEKIT_ADD)
#undef SAGEKIT_ADD
  return all;
}

}  // namespace sagekit::host
