#pragma once
// A package index: which files a project has. HTML pages (PEP 503) and JSON ones (PEP 691), several indexes in order.

#include "index/http.hpp"

#include <sagekit/index.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One file of a project's page.
struct IndexFile {
  std::string name;        ///< "torch-2.11.0-cp312-cp312-manylinux_2_28_x86_64.whl"
  std::string url;         ///< absolute, without fragment; may hold credentials: never print it
  std::string sha256;      ///< hex; "" = the page has none
  std::string other_hash;  ///< "sha512=<hex>", "sha384=<hex>"; "" = the page has none
  std::string hash_fault;  ///< what is wrong with a hash that the page has: the file is held to nothing; "" = nothing
  std::uint64_t size = 0;  ///< 0 = the page does not say (PEP 503 never does)
  bool yanked = false;
  std::string requires_python;
  std::string core_metadata;  ///< sha256 of METADATA beside it (PEP 658); "true" = there without a hash; "" = not there
  std::string index;          ///< the index it is from, credentials removed
};

/// Reads a project page. `base` is the page's own address, for relative links. Errors IDX011 (neither form: a proxy's
/// or a login page), IDX012 (a form of JSON that is not PEP 691's). Untrusted text: bounded, fuzzed.
Result<std::vector<IndexFile>> read_project_page(std::string_view body, std::string_view content_type,
                                                 std::string_view base);

/// The projects that an index's root page lists (PEP 503, PEP 691), as it writes them; empty = it is no such page.
/// `page` is its own address. Untrusted text, too.
std::vector<std::string> listed_projects(std::string_view body, std::string_view page);

/// All files of a project over all indexes of `settings`, the main index first; a file name that two indexes have is
/// listed once, from the first. IDX013 (no_match) when no index has the project; other failures of one index are
/// errors: an index that cannot be asked is not one without the project. IDX014 (usage) when no index is configured.
Result<std::vector<IndexFile>> find_project(HttpClient& http, const IndexSettings& settings, std::string_view project,
                                            std::stop_token stop = {});

}  // namespace sagekit
