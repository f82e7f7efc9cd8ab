#pragma once
// What a wheel says that it was made for, and who says it: its record (sagekit.json), its name, what it requires. A
// claim is checked against what was measured, never believed.

#include <sagekit/arch.hpp>
#include <sagekit/error.hpp>
#include <sagekit/naming.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The file in dist-info that says what a wheel was built from.
inline constexpr std::string_view k_provenance_file = "sagekit.json";
inline constexpr std::string_view k_provenance_schema = "sagekit.provenance/1";
inline constexpr std::string_view k_said_by_name = "its name";

struct Provenance {
  std::string from;                           ///< of the record: "the build record", "sagekit.json"; "" = there is none
  std::string cell, plugin, commit;           ///< commit: whole or its first digits
  std::string python, torch, cuda, platform;  ///< "3.12" "2.11.0" "13.0" "linux_x86_64"; "" = not known
  std::optional<std::vector<ArchRequest>> arches;  ///< nothing = not known
  std::vector<std::string> requires_dist;
  std::string torch_min = {};                         ///< "2.9": torch's stable interface from there on
  std::string experimental = {};                      ///< "built, not run on Windows"; "" = not said
  std::string plugin_version = {}, source_url = {};   ///< "0.1.0" "https://..."
  std::string source_version = {}, source_date = {};  ///< "2.2.0" "20260117"
  std::vector<std::string> tools = {};                ///< "nvcc 13.0.88 ...", "edit ID"
  WheelNameReading named = {};                        ///< what its name says beside it, in all readings
  std::string torch_from = {}, cuda_from = {};        ///< "sagekit.json", "its name", "Requires-Dist"; "" = not known

  bool is_recorded() const { return !from.empty(); }
  // What record or name claim, which METADATA's pin can contradict.
  const std::string& claimed_torch() const { return is_recorded() ? torch : named.torch; }
  const std::string& claimed_torch_min() const { return is_recorded() ? torch_min : named.torch_min; }
  std::string claimed_from() const { return is_recorded() ? from : std::string(k_said_by_name); }
};

/// The one reader of k_provenance_file: all of it, or an error. What is missing, or of another type, is not said.
/// Errors: TRU003 (failed).
Result<Provenance> read_provenance(std::string_view text);

/// What a wheel says, all in all. A record says everything, also what there is none of. Without one each fact is what
/// all readings of the name agree on, and torch what `requires_dist` pins where that says more or something else:
/// installers hold to a pin, so that a name cannot say another one. `name`: its readings; none = nobody read it.
Provenance provenance_of(std::optional<Provenance> record, std::span<const WheelNameReading> name,
                         const std::vector<std::string>& requires_dist);

}  // namespace sagekit
