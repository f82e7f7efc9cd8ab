#pragma once
// The links of an HTML page, as forgiving as browsers are: what PEP 503 pages need and no more.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct HtmlLink {
  std::string href;  ///< as written, entities decoded
  std::string requires_python;
  bool yanked = false;
  std::string core_metadata;  ///< data-core-metadata, else data-dist-info-metadata (PEP 714), as written
};

struct HtmlLinks {
  std::vector<HtmlLink> links;
  std::string base;                ///< of <base href>; "" = none
  std::string repository_version;  ///< of <meta name="pypi:repository-version">; "" = none
};

/// Never fails: what is no tag is text.
HtmlLinks read_html_links(std::string_view page);

/// "&amp;" "&#43;" "&#x2b;" and the other entities that attributes of such pages hold; unknown ones stay.
std::string entities_decoded(std::string_view text);

}  // namespace sagekit
