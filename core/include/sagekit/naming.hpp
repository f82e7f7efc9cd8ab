#pragma once
// Wheel file names (PEP 427, PEP 440, packaging's rules) and the schemes that fill them.

#include <sagekit/error.hpp>
#include <sagekit/spec.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// `{distribution}-{version}(-{build})?-{python}-{abi}-{platform}(-{variant})?.whl`, split.
struct WheelName {
  std::string distribution, version, build;
  std::vector<std::string> python, abi, platform;  ///< compressed tag sets, as written
  std::string variant = {};                        ///< label of a wheel variant (PEP 825); "" = none

  std::string file_name() const;          ///< joined again
  std::vector<std::string> tags() const;  ///< every element of the product, sorted
};

/// Reads any wheel file name; says which rule it breaks (code NAM...).
SAGEKIT_API Result<WheelName> parse_wheel_name(std::string_view file_name);

/// PEP 503 normal form ("Sage_Attention" -> "sage-attention") and the file-name form ("sage_attention").
SAGEKIT_API std::string normalized_project(std::string_view name);
SAGEKIT_API std::string file_name_project(std::string_view name);

/// Is it a PEP 440 version in normal form?
SAGEKIT_API bool is_normal_version(std::string_view version);

/// The values a naming template may use.
struct NamingValues {
  std::string version, torch, cuda, date, commit;  ///< "2.2.0" "2.11.0" "13.0" "20260117" 40 hex digits
  std::vector<Arch> arches;
  std::string arch_set = {};  ///< "sm90a.sm120ptx": an arch set that is not the spec's default one (Cell::arch_set)
};

/// Replaces {version} {torch} ("2.11.0") {torch_minor} ("2.11") {torch_digits} ("2110") {cuda} ("13.0")
/// {cuda_digits} ("130") {date} {commit7} {sms} ("sm90a.sm120a", always) {arches} ("sm90a", where the arch set is not
/// the default one). An unknown word is an error (NAM010). An empty value (a variant without torch has no {torch})
/// takes along the literal text directly before its word; of the pieces between `+` and `.` one that had words and lost
/// them all goes whole, with its separator:
/// "{version}+cu{cuda_digits}.torch{torch_minor}.{date}" is "2.2.0+cu130.20260117" without torch.
SAGEKIT_API Result<std::string> expand_template(std::string_view text, const NamingValues& values);

/// The schemes every spec has: build-tag, local-version, plain, default.
SAGEKIT_API const std::vector<NamingScheme>& builtin_schemes();

}  // namespace sagekit
