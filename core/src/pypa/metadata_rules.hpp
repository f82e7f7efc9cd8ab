#pragma once
// What single values of METADATA must look like: the core metadata specification up to 2.5, and what the public index
// adds to it. Each function that says a fault says it as the end of a sentence; "" = none.

#include <string>
#include <string_view>

namespace sagekit {

struct MetadataField {
  std::string_view name;   ///< as the specification writes it
  std::string_view since;  ///< the Metadata-Version that brought it
  bool many;               ///< may be there more than once
};

/// By its lower-case name; null for a field that no version has.
const MetadataField* find_metadata_field(std::string_view lower_name);
/// "1.0" to "2.5", without "2.0", which never was one. All have three characters: texts compare like numbers.
bool is_metadata_version(std::string_view version);

/// "a@b.org" of "A. B. <a@b.org>, ...": the only one that the public index looks at.
std::string first_address(std::string_view value);
bool is_email(std::string_view address);
bool is_web_address(std::string_view text);
/// A type of description that indexes know: text/plain, text/x-rst, text/markdown, in UTF-8.
std::string content_type_fault(std::string_view value);
/// SPDX expressions: their grammar, and that SPDX lists what they name (core/data/spdx_licenses.txt).
std::string licence_fault(std::string_view expression);
std::string licence_path_fault(std::string_view path);
/// "package.module" or "package.module; private".
bool is_import_name(std::string_view value);

}  // namespace sagekit
