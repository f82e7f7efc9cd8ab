#pragma once
// variant.json in dist-info: what a wheel variant says of itself (PEP 825 format 0.1, and the older 0.0.3 of the
// prototype that PyTorch's variant wheels use).

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct VariantText {
  using Properties = std::map<std::string, std::map<std::string, std::vector<std::string>>>;  ///< values as written

  std::string schema;                          ///< "$schema"
  std::string format;                          ///< "0.1.1", taken from the schema's address; "" = not known
  std::vector<std::string> namespaces;         ///< default-priorities, in order
  std::map<std::string, Properties> variants;  ///< by label
  std::vector<std::string> faults;             ///< no JSON object, keys that must be there and are not, wrong types
};

VariantText read_variant(std::string_view text);

/// Lower-case letters, digits, "_" and "."; at most 16 characters, as the installers that exist demand.
bool is_variant_label(std::string_view label);
/// Namespaces and features have no dots, values may.
bool is_variant_word(std::string_view word, bool value);

}  // namespace sagekit
