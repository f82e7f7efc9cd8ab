#pragma once
// What a request means for each cell: the same for all, but where overrides match.

#include "plan/choice.hpp"
#include "plan/matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sagekit {

class CellChoices {
 public:
  /// Every override that matches a cell of the matrix, whatever is selected of it, must make sense: errors (usage) as
  /// resolve_request and check_arches have them, with the override's place.
  static Result<CellChoices> make(const Spec& spec, const Matrix& matrix, const Request& request,
                                  const Environment& environment, Choice whole);

  const Choice& whole() const { return m_choices.front(); }  ///< where no override matches
  std::size_t count() const { return m_choices.size(); }
  std::size_t index(Point point) const;  ///< cells that the same overrides match share one
  const Choice& at(std::size_t index) const { return m_choices[index]; }
  /// PLN013 (warning): overrides that match no cell of the whole matrix.
  const Diagnostics& unmatched() const { return m_unmatched; }

 private:
  std::vector<Choice> m_choices;
  std::map<Point, std::uint16_t> m_index;  ///< of the points that an override matches
  Diagnostics m_unmatched;
};

}  // namespace sagekit
