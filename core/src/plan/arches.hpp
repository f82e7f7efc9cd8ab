#pragma once
// Which arches a cell is built for, and what that means for each module.

#include "plan/choice.hpp"

#include <sagekit/spec.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One arch that is built.
struct BuiltArch {
  ArchRequest shown;             ///< normal form: the suffix is that of the machine code
  std::vector<Gencode> gencode;  ///< the spec's, or that of the asked suffix
  bool plain_ptx = false;        ///< +PTX was asked for: compute_NN besides, for modules that take it
};

/// The arches of all cells of one torch and CUDA.
struct ArchSet {
  std::vector<BuiltArch> arches;   ///< sorted
  std::vector<std::string> notes;  ///< left out and why; warnings
  std::vector<std::string>
      names;                     ///< "sm80", "sm90aptx": what ids and wheel names say of a set that is not the default
  std::string excluded, source;  ///< not empty: such cells cannot be built, and why
};

/// Errors that no cell could mend (usage): PLN006 unknown to the spec or to this revision, PLN007 excluded by the spec,
/// PLN008 PTX that the spec does not allow.
/// `typed`: the list as it was asked for ("RTX 5090", "native"); "" = by a profile.
Status check_arches(const Spec& spec, const Choice& choice, std::string_view typed = {});

/// The set asked for, else the default one: every row that is not excluded, not on request, and holds here.
ArchSet choose_arches(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view cuda);

/// What the spec makes of arches that something was built for, whatever CUDA built it: for judging. One that no row of
/// this revision has is made into itself.
ArchSet claimed_arches(const Spec& spec, const Choice& choice, const std::vector<ArchRequest>& arches);

/// What a module is compiled for: its part of the set, sorted; PTX only where the module takes it.
std::vector<Gencode> module_gencode(const KernelSpec& kernel, const ArchSet& set);

}  // namespace sagekit
