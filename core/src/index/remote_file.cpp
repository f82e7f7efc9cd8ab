#include "index/remote_file.hpp"

#include "index/url.hpp"
#include "support/file.hpp"
#include "support/file_kind.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/index.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

std::unexpected<Error> replaced(const std::string& url, std::uint64_t found, std::uint64_t expected) {
  return fail(ErrorKind::failed, "IDX010",
              fmt::format("{} has {} bytes, {} were expected: it was replaced", printable_url(url), found, expected),
              "do not use it before you know why; a lock entry that is out of date can be removed");
}

// By ranges when the server knows them, else over the downloaded file.
class RemoteFile final : public RandomAccess {
 public:
  RemoteFile(HttpClient& http, std::string url, TransferProgress progress)
      : m_http(http), m_url(std::move(url)), m_progress(std::move(progress)) {}

  Status open(std::uint64_t expected_size, const fs::path& scratch, std::uint64_t tail, std::stop_token stop);

  std::uint64_t size() const override { return m_size; }
  Result<std::string> read(std::uint64_t offset, std::uint64_t length, std::stop_token stop) override;
  std::uint64_t bytes_read() const override { return m_bytes; }
  std::uint64_t requests() const override { return m_requests; }

 private:
  Result<HttpResponse> ask(HttpRequest request, std::stop_token stop);
  Result<HttpResponse> ask_for_end(std::uint64_t tail, std::stop_token stop);
  Status download(const fs::path& scratch, std::uint64_t expected_size, std::stop_token stop);

  HttpClient& m_http;
  const std::string m_url;
  const TransferProgress m_progress;
  std::uint64_t m_size = 0, m_tail_offset = 0;
  std::string m_tail;                     ///< the file from m_tail_offset on
  std::unique_ptr<RandomAccess> m_local;  ///< set when the server knows no ranges
  std::atomic<std::uint64_t> m_bytes = 0, m_requests = 0;
};

Result<HttpResponse> RemoteFile::ask(HttpRequest request, std::stop_token stop) {
  request.url = m_url;
  ++m_requests;
  TRY_ASSIGN(HttpResponse response, m_http.get(request, std::move(stop)));
  m_bytes += response.body.size();
  if (m_progress) m_progress(response.body.size());
  return response;
}

// Servers exist that know ranges, but not "the last N bytes": they are asked for the size first.
Result<HttpResponse> RemoteFile::ask_for_end(std::uint64_t tail, std::stop_token stop) {
  HttpRequest request;
  request.suffix = tail;
  request.max_bytes = tail;
  auto response = ask(request, stop);
  if (response || response.error().code != "IDX006") return response;
  request.suffix = 0;
  request.range = HttpRange{0, 1};
  TRY_ASSIGN(const HttpResponse first, ask(request, stop));
  if (first.status != 206 || first.total == 0) return first;
  const std::uint64_t length = std::min(tail, first.total);
  request.range = HttpRange{first.total - length, length};
  return ask(request, stop);
}

Status RemoteFile::download(const fs::path& scratch, std::uint64_t expected_size, std::stop_token stop) {
  std::error_code ignored;
  const std::string path = m_url.substr(0, m_url.find_first_of("?#"));
  const fs::path file = fs::is_directory(scratch, ignored) ? scratch / after_last(path, '/') : scratch;
  const auto count = [this](std::uint64_t bytes) {
    m_bytes += bytes;
    if (m_progress) m_progress(bytes);
  };
  ++m_requests;
  TRY(download_file(m_http, m_url, file, expected_size, count, std::move(stop)));
  TRY_ASSIGN(m_local, open_local_file(file));
  m_size = m_local->size();
  return {};
}

Status RemoteFile::open(std::uint64_t expected_size, const fs::path& scratch, std::uint64_t tail,
                        std::stop_token stop) {
  auto end = ask_for_end(std::max<std::uint64_t>(tail, 1), stop);
  // The answer to "more than the end was about to come" is the whole file, to disk.
  const bool too_much = !end && end.error().code == "IDX009";
  if (!end && (!too_much || scratch.empty())) return std::unexpected(std::move(end).error());
  const bool to_the_end = end && end->total > 0 && end->offset + end->body.size() == end->total;
  if (!to_the_end && scratch.empty())
    return fail(ErrorKind::failed, "IDX008", fmt::format("the server of {} knows no ranges", printable_url(m_url)),
                "download the whole file");
  if (!to_the_end) return download(scratch, expected_size, std::move(stop));
  // Of a zip archive who reads it says more.
  if (end->offset == 0 && !end->body.starts_with("PK"))
    if (const auto kind = other_kind(Bytes(std::string_view(end->body))))
      return fail(ErrorKind::failed, "IDX010", fmt::format("{} is {}", printable_url(m_url), kind->what),
                  "a proxy or a login page may have answered: open the address in a browser");
  if (expected_size != 0 && end->total != expected_size) return replaced(m_url, end->total, expected_size);
  m_size = end->total;
  m_tail_offset = end->offset;
  m_tail = std::move(end->body);
  return {};
}

Result<std::string> RemoteFile::read(std::uint64_t offset, std::uint64_t length, std::stop_token stop) {
  if (m_local) return m_local->read(offset, length, std::move(stop));
  if (offset > m_size || length > m_size - offset)
    return fail(
        ErrorKind::failed, "IDX018",
        fmt::format("{} has {} bytes, {} from {} on were asked for", printable_url(m_url), m_size, length, offset));
  if (length == 0) return std::string();
  if (offset >= m_tail_offset)
    return m_tail.substr(static_cast<std::size_t>(offset - m_tail_offset), static_cast<std::size_t>(length));
  HttpRequest request;
  request.range = HttpRange{offset, length};
  request.max_bytes = length;
  TRY_ASSIGN(HttpResponse response, ask(request, std::move(stop)));
  if (response.total != 0 && response.total != m_size) return replaced(m_url, response.total, m_size);
  if (response.offset != offset || response.body.size() != length)
    return fail(ErrorKind::failed, "IDX008",
                fmt::format("cannot read {}: {} bytes came where {} were asked for", printable_url(m_url),
                            response.body.size(), length),
                "a proxy may have answered: ask from another network or another index");
  return std::move(response.body);
}

}  // namespace

Result<std::unique_ptr<RandomAccess>> open_remote_file(HttpClient& http, std::string url, std::uint64_t expected_size,
                                                       fs::path scratch, TransferProgress progress, std::uint64_t tail,
                                                       std::stop_token stop) {
  auto file = std::make_unique<RemoteFile>(http, std::move(url), std::move(progress));
  TRY(file->open(expected_size, scratch, tail, std::move(stop)));
  return file;
}

}  // namespace sagekit
