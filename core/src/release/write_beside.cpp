#include "release/write_beside.hpp"

#include "support/file.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <cerrno>
#include <cstring>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

fs::path hidden(const fs::path& path) { return path.parent_path() / ("." + path.filename().string() + ".new"); }

}  // namespace

Status write_hidden(const fs::path& path, std::string_view bytes) {
  const auto temporary = hidden(path);
  auto written = write_file(temporary, bytes);
  if (written) return {};
  written.error().message = replace_all(written.error().message, temporary.string(), path.string());
  forget_hidden(path);
  return written;
}

Status show_hidden(const fs::path& path) {
  std::error_code error;
  fs::rename(hidden(path), path, error);
  if (!error) return {};
  const auto why = error.message();
  forget_hidden(path);
  return fail(ErrorKind::usage, "FIL002", "cannot write " + path.string() + ": " + why);
}

void forget_hidden(const fs::path& path) {
  std::error_code error;
  fs::remove(hidden(path), error);
}

Status write_beside(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (fs::is_regular_file(status) && fs::file_size(path, error) == bytes.size())
    if (const auto there = MappedFile::open(path); there && there->bytes() == bytes) return {};
  TRY(write_hidden(path, bytes));
  return show_hidden(path);
}

}  // namespace sagekit
