#pragma once
// What an index says of wheel variants (PEP 825, a draft): for each version one file of all its variants.

#include <sagekit/release.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

inline constexpr std::string_view k_variants_ending = "-variants.json";

struct VariantIndex {
  std::string project;  ///< normal form
  std::string file;     ///< "tiny_kernels-1.0-variants.json"
  std::string text;
};

/// A wheel's variant.json on one line. Error REL024 (failed): it is missing or says another label than the file name.
Result<std::string> variant_line(std::string_view variant_json, const std::string& label, const std::string& file);

/// A file for each version that has variants: the union of theirs, with the longest list of namespaces. Error REL025
/// (failed): two wheels of a version say different things, or one is of another format.
Result<std::vector<VariantIndex>> variant_indexes(const std::vector<const ReleasedWheel*>& wheels);

}  // namespace sagekit
