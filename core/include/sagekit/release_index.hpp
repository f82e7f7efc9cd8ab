#pragma once
// A release as a package index that pip and uv install from: static files (PEP 503, 592, 658, 691, 700, 714, 740), and
// a server for this machine alone.

#include <sagekit/export.hpp>
#include <sagekit/log.hpp>
#include <sagekit/release.hpp>
#include <sagekit/yanked.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The format of wheel variants that is written: PEP 825's draft, which forbids 0.x in production.
inline constexpr std::string_view k_variants_format = "0.1.1";

struct IndexOptions {
  std::filesystem::path output = {};  ///< where the pages are written
  /// The folder that holds the wheels: links lead there, relative to the pages. Empty: each wheel's own `url`.
  std::filesystem::path wheels = {};
  std::string base_url = {};          ///< wheels are below this address instead; "" = not
  std::vector<std::string> per = {};  ///< "cuda", "torch": an index for each; none = one
  std::vector<YankedFiles> yanked = {};
  std::vector<MetadataBeside> metadata = {};  ///< of a scan: written before the pages that name them
  bool variants = false;  ///< list wheel variants (PEP 825, a draft), and the file that installers choose by
};

struct IndexReport {
  std::size_t wheels = 0, projects = 0, written = 0, unchanged = 0, removed = 0;  ///< the last three: pages
  std::vector<std::string> folders;   ///< of the indexes, below the output: "" of the only one, "cu130/torch2.11"
  std::vector<std::string> variants;  ///< files that list variants, below the output
  std::vector<std::string> warnings;
};

/// Writes an index's pages, HTML and JSON, all beside their places, then renamed; pages that an earlier run left and
/// nobody needs are removed. Bytes depend on the release and the options alone. A wheel that says no CUDA or torch is
/// left out of indexes per CUDA or torch, with a warning, unless it is for any; variants are left out, with a warning,
/// unless they are asked for. Errors: FIL002; REL017 (failed) pages are there that sagekit did not write; REL018
/// (usage) a wheel has no address; REL019 (usage) base_url is none; REL025 (failed) variants of a version disagree.
SAGEKIT_API Result<IndexReport> write_index(const Release& release, const IndexOptions& options);

/// "sagekit.index/1" (docs/json.md). With wheels refused nothing was written and `report` is empty.
SAGEKIT_API std::string index_json(const std::filesystem::path& output, const Scan& scan, const IndexReport& report);

struct ServeOptions {
  std::filesystem::path folder = {};
  std::uint16_t port = 0;  ///< 0 = a free one
  LogSink log = {};        ///< a line for each request; empty = none
};

/// Serves a folder's files on 127.0.0.1 until `stop`: GET and HEAD, ranges, ETags, and of a page that is there in both
/// forms the one that the client would rather have (PEP 691). Hidden files, links, and what lies outside are not there.
/// `ready` is told the port. Errors (machine): REL020 the library is not here, or the port is taken.
SAGEKIT_API Status serve_folder(const ServeOptions& options, const std::function<void(std::uint16_t)>& ready,
                                std::stop_token stop);

}  // namespace sagekit
