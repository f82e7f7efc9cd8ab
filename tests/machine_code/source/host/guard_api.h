// Much that only the host's code needs, as torch's headers are; the spec's device-only header stands in for it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace guard {

inline std::map<std::string, std::function<int(int)>>& hooks() {
  static std::map<std::string, std::function<int(int)>> all;
  return all;
}

}  // namespace guard
