#pragma once
// A line that may be the cause, and what two of them have to do with each other.

#include "causes/log_scan.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

constexpr std::size_t k_by_nothing = std::numeric_limits<std::size_t>::max();

struct CauseCandidate {
  const LineEvent* event = nullptr;
  LogFacts known;
  std::string about;      ///< the package that does not load; "" = not said, or it is about something else
  std::size_t start = 0;  ///< how often a program or an installer was started before it
  bool sure = true;       ///< every condition is known to hold
  std::size_t explained_by = k_by_nothing;
  std::vector<std::string> signatures;
  bool dropped = false;
  bool cleared = false;  ///< a warning before a success: explains, and is nothing by itself
  std::vector<const LineEvent*> followers;

  const CauseRow& row() const { return *event->row; }
  LineRole role() const { return event->role; }
  int generality() const { return row().last > 0 ? 3 : row().shape ? 2 : row().fallback ? 1 : 0; }
  bool free() const { return !dropped && explained_by == k_by_nothing; }
};

/// "flash_attn==2.8" and "flash-attn" are one.
std::string package_name(std::string_view text);

/// The package that a line is about, by the row or by what it says; "" = none is named.
std::string package_of(const LineEvent& event, const CauseData& data);

/// Does `then`, behind `first` in the log, follow from it? By the rows' `after`; as what `first` carries; because both
/// are one line; or because both are about one package that does not load.
bool explains(const CauseCandidate& first, const CauseCandidate& then);

/// Is `first` but what carries `then`, which stands behind it?
bool is_told_by(const CauseCandidate& then, const CauseCandidate& first);

}  // namespace sagekit
