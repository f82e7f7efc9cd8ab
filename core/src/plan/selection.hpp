#pragma once
// Which points of the matrix a request selects.

#include "plan/choice.hpp"
#include "plan/matrix.hpp"

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/plan.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sagekit {

struct SelectedCell {
  Point point;
  std::string id;  ///< whole cell id
};

/// The id suffix that the arch set gives cells of this torch and CUDA.
using ArchSuffixOf = std::function<Result<std::string_view>(Point)>;

/// Sorted by id. Errors: PLN004 (no_match) with the nearest ids, or when one of several words names nothing on its
/// axis; PLN009 (usage) when two cells have one id. `warnings`: PLN015, words that no selected cell
/// has and globs that match none, before Request::only leaves cells out.
Result<std::vector<SelectedCell>> select_cells(const Spec& spec, const Matrix& matrix, const Request& request,
                                               const Choice& choice, const ArchSuffixOf& arch_suffix,
                                               Diagnostics& warnings);

}  // namespace sagekit
