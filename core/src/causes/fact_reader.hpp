#pragma once
// What a piece of a log says of the machine: the fact rows of the data.

#include "causes/cause_data.hpp"
#include "causes/line_matcher.hpp"

#include <sagekit/causes.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

/// The rows, compiled. Made once, used for any number of texts.
class FactReader {
 public:
  explicit FactReader(const std::vector<FactRow>& rows);

  /// Adds those that `text` says and `facts` lacks.
  void read(std::string_view text, LogFacts& facts) const;

 private:
  std::vector<std::pair<const FactRow*, std::vector<Pattern>>> m_rows;
};

}  // namespace sagekit
