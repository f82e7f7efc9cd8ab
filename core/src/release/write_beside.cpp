#include "release/write_beside.hpp"

#include "support/file.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <cerrno>
#include <cstring>

namespace sagekit {

namespace fs = std::filesystem;

Status write_beside(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (fs::is_regular_file(status) && fs::file_size(path, error) == bytes.size())
    if (const auto there = MappedFile::open(path); there && there->bytes() == bytes) return {};
  const auto temporary = path.parent_path() / ("." + path.filename().string() + ".new");
  if (auto written = write_file(temporary, bytes); !written) {
    written.error().message = replace_all(written.error().message, temporary.string(), path.string());
    fs::remove(temporary, error);
    return written;
  }
  fs::rename(temporary, path, error);
  if (!error) return {};
  const auto why = error.message();
  fs::remove(temporary, error);
  return fail(ErrorKind::usage, "FIL002", "cannot write " + path.string() + ": " + why);
}

}  // namespace sagekit
