#pragma once
// The texts of an index: pages of a project and of the root, as HTML (PEP 503) and JSON (PEP 691).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One file of a project as its page shows it.
struct IndexRow {
  std::string file = {}, url = {}, sha256 = {};
  std::uint64_t size_bytes = 0;
  std::string version = {}, requires_python = {};  ///< version "": it is no file of one version
  std::string metadata_sha256 = {};                ///< "" = no metadata file lies beside it
  bool yanked = false;
  std::string yanked_reason = {};
  std::string uploaded = {};
  std::string provenance = {};  ///< absolute or relative address; "" = none
};

/// In every HTML page that sagekit wrote.
inline constexpr std::string_view k_page_mark = "<meta name=\"generator\" content=\"sagekit\">";

std::string project_html(std::string_view project, const std::vector<IndexRow>& rows);
std::string project_json(std::string_view project, const std::vector<IndexRow>& rows);
std::string root_html(const std::vector<std::string>& projects);
std::string root_json(const std::vector<std::string>& projects);

/// `<`, `>`, `&` and quotes as entities.
std::string html_text(std::string_view text);
/// A path in an address: what RFC 3986 does not reserve, and "/"; `+` becomes %2B, for some servers read it as a blank.
std::string url_path(std::string_view path);

}  // namespace sagekit
