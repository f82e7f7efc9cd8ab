#include "index/remote_file.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/index.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_bytes = std::uint64_t{64} << 30;

/// What a partial file is of; kept beside it as lines of text.
struct PartOf {
  std::string url;  ///< printable
  std::uint64_t total = 0;
  std::string etag;
  bool operator==(const PartOf&) const = default;
};

std::string part_text(const PartOf& part) { return fmt::format("{}\n{}\n{}\n", part.url, part.total, part.etag); }

class PartFile {
 public:
  explicit PartFile(fs::path path) : m_final(path), m_part(path += ".part"), m_note(m_part.string() + ".of") {}
  ~PartFile() {
    if (m_fd >= 0) ::close(m_fd);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  Status open();
  std::uint64_t size() const { return m_size; }
  std::string note() const { return read_file(m_note).value_or(""); }
  Status begin_anew(const PartOf& part);
  /// Keeps the first `size` bytes.
  Status cut(std::uint64_t size);
  Status append(std::string_view bytes);
  Result<std::string> publish();
  void discard() {
    remove_quietly(m_part);
    remove_quietly(m_note);
  }

 private:
  std::unexpected<Error> broken();

  const fs::path m_final, m_part, m_note;
  int m_fd = -1;
  std::uint64_t m_size = 0;
};

std::unexpected<Error> PartFile::broken() {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  std::string message = "cannot write " + m_final.string() + ": " + last_os_error();
  if (full) discard();
  return fail(full ? ErrorKind::machine : ErrorKind::usage, "FIL002", std::move(message),
              full ? "free some space, or point --store at another disk" : "");
}

Status PartFile::open() {
  m_fd = ::open(m_part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  struct stat info{};
  if (m_fd < 0 || ::fstat(m_fd, &info) != 0) return broken();
  m_size = static_cast<std::uint64_t>(std::max<off_t>(0, info.st_size));
  return {};
}

Status PartFile::cut(std::uint64_t size) {
  if (size < m_size && ::ftruncate(m_fd, static_cast<off_t>(size)) != 0) return broken();
  m_size = std::min(m_size, size);
  return {};
}

Status PartFile::begin_anew(const PartOf& part) {
  // First the bytes go, then the note says whose the next ones are: a kill between them leaves nothing wrong.
  TRY(cut(0));
  return write_file_atomic(m_note, part_text(part));
}

Status PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(m_fd, bytes.data(), bytes.size(), static_cast<off_t>(m_size));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return broken();
    m_size += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> PartFile::publish() {
  if (::fsync(m_fd) != 0) return broken();
  TRY_ASSIGN(std::string hash, sha256_file(m_part));
  if (::rename(m_part.c_str(), m_final.c_str()) != 0) return broken();
  remove_quietly(m_note);
  return hash;
}

Result<FileLock> lock_for(const fs::path& path, const fs::path& file, bool& waited, const std::stop_token& stop) {
  for (;;) {
    TRY_ASSIGN(auto lock, FileLock::acquire(file, false));
    if (lock) return std::move(*lock);
    if (stop.stop_requested())
      return fail(ErrorKind::interrupted, "IDX016", "cannot download to " + path.string() + ": it was stopped");
    waited = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Status check_size(const std::string& url, std::uint64_t found, std::uint64_t expected) {
  if (expected == 0 || found == 0 || found == expected) return {};
  return fail(ErrorKind::failed, "IDX010",
              fmt::format("{} has {} bytes, {} were expected: it was replaced", printable_url(url), found, expected),
              "do not use it before you know why; a lock entry that is out of date can be removed");
}

// One request: the rest of what the part holds, or all. `stale`: the part is of something else, and is empty now.
Status fetch_once(HttpClient& http, const std::string& url, PartFile& part, std::uint64_t expected_size,
                  const TransferProgress& progress, bool& stale, const std::stop_token& stop) {
  const auto lines = split(part.note(), '\n');
  const PartOf known = lines.size() < 3 || !is_digits(lines[1]) || lines[1].size() > 18
                           ? PartOf{}
                           : PartOf{lines[0], std::stoull(lines[1]), lines[2]};
  const std::string name = printable_url(url);
  if (known.url != name || known.total == 0 || part.size() == 0) TRY(part.cut(0));
  // A part that is already whole asks for its last byte, which shows that the server still has the same.
  if (part.size() > 0) TRY(part.cut(std::min(part.size(), known.total - 1)));
  HttpRequest request;
  request.url = url;
  request.max_bytes = expected_size > 0 ? expected_size : k_most_bytes;
  if (part.size() > 0) request.range = HttpRange{part.size(), known.total - part.size()};
  Status problem;
  request.on_answer = [&](const HttpResponse& answer) {
    problem = check_size(url, answer.total, expected_size);
    if (!problem) return false;
    const PartOf now{name, answer.total, answer.etag};
    if (answer.status == 206 && now == known) return true;
    stale = answer.status == 206;
    problem = part.begin_anew(now);
    return problem.has_value() && !stale;
  };
  request.sink = [&](std::string_view piece) {
    problem = part.append(piece);
    if (problem && progress) progress(piece.size());
    return problem.has_value();
  };
  const auto response = http.get(request, stop);
  TRY(problem);
  if (stale) return {};
  // Another resource under the same address may be shorter than what is asked for.
  if (!response && request.range && (response.error().code == "IDX006" || response.error().code == "IDX008")) {
    stale = true;
    return part.cut(0);
  }
  if (!response) return std::unexpected(response.error());
  return check_size(url, part.size(), expected_size);
}

}  // namespace

Result<std::string> download_file(HttpClient& http, const std::string& url, const fs::path& path,
                                  std::uint64_t expected_size, const TransferProgress& progress, std::stop_token stop) {
  if (path.has_parent_path()) TRY(make_directories(path.parent_path()));
  bool waited = false;
  const fs::path lock_file = path.string() + ".lock";
  TRY_ASSIGN(const FileLock lock, lock_for(path, lock_file, waited, stop));
  const struct Unlocked {  // its file goes before it does
    const fs::path& file;
    ~Unlocked() { remove_quietly(file); }
  } unlocked{lock_file};
  std::error_code missing;
  const std::uint64_t there = waited ? fs::file_size(path, missing) : 0;
  // Whoever was waited for has just fetched it.
  if (waited && !missing && (expected_size == 0 || there == expected_size)) return sha256_file(path);
  PartFile part(path);
  TRY(part.open());
  bool stale = false;
  TRY(fetch_once(http, url, part, expected_size, progress, stale, stop));
  if (stale) {
    stale = false;
    TRY(fetch_once(http, url, part, expected_size, progress, stale, stop));
    if (stale)
      return fail(ErrorKind::failed, "IDX008",
                  "cannot read " + printable_url(url) + ": it keeps changing on the server",
                  "ask from another network or another index");
  }
  return part.publish();
}

}  // namespace sagekit
