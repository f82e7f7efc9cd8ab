#pragma once
// Sorted, and each value once.

#include <algorithm>
#include <vector>

namespace sagekit {

template <class Value>
void sort_once(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace sagekit
