#pragma once
// A wheel's traits against a machine: fits, does not, or is not known. Pure.

#include "pypa/version_order.hpp"
#include "resolve/traits.hpp"

#include <compare>
#include <string>
#include <tuple>
#include <vector>

namespace sagekit {

enum class Fit { fits, unknown, refused };

struct Ruling {
  Fit fit = Fit::fits;
  std::string code;  ///< RES1nn refused, RES2nn unknown
  std::string reason, would_tell;
  std::vector<std::string> facts;
  bool sass = true;  ///< machine code; false: the driver compiles PTX at the first call
};

/// What decides before anybody reads on: the wheel itself, and its tags.
Ruling judge_tags(const Traits& traits, const Candidate& candidate, const Target& target);

/// The first refusal decides; without one, the first thing that is not known.
Ruling judge_wheel_for(const Traits& traits, const Candidate& candidate, const Target& target);

/// Larger is better.
class Rank {
 public:
  Rank(const Traits& traits, const Ruling& ruling, const Target& target);
  bool operator>(const Rank& other) const;

 private:
  bool m_final = true;
  int m_torch = 0, m_sass = 0, m_cuda = 0, m_python = 0;
  std::string m_date;
  std::optional<PythonRelease> m_version;
  std::string m_build, m_file;
};

/// "2.9" of "2.9.1"; the nightly's too.
std::string minor_of(std::string_view version);

}  // namespace sagekit
