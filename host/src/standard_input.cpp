#include "standard_input.hpp"

#include "output_file.hpp"

#include <sagekit/inspect.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace sagekit::host {

namespace {

/// 0, or errno's value.
int write_fully(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes += written, count -= static_cast<std::size_t>(written);
  }
  return 0;
}

Error unreadable(const std::string& why, std::string_view verb) {
  return {ErrorKind::usage, "FIL001", "cannot read a file from stdin: " + why, "",
          fmt::format("send one: curl -sL URL | sagekit {} -", verb)};
}

}  // namespace

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!m_path.empty()) std::filesystem::remove(m_path, ignored);
}

Result<TemporaryFile> take_standard_input(std::string_view verb) {
  if (isatty(STDIN_FILENO) == 1) return std::unexpected(unreadable("it is a terminal", verb));
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  std::string name = (error ? std::filesystem::path("/tmp") : folder) / "sagekit-stdin-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return std::unexpected(write_error(name, errno));
  TemporaryFile taken{std::filesystem::path(name)};
  std::vector<char> buffer(std::size_t{1} << 16);
  std::size_t total = 0;
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int number = count < 0 ? errno : 0;
      ::close(file);
      if (number != 0) return std::unexpected(unreadable(std::strerror(number), verb));
      if (total == 0) return std::unexpected(unreadable("it is empty", verb));
      return taken;
    }
    if (const int number = write_fully(file, buffer.data(), static_cast<std::size_t>(count)); number != 0) {
      ::close(file);
      return std::unexpected(write_error(name, number));
    }
    total += static_cast<std::size_t>(count);
  }
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            std::initializer_list<std::string_view> endings) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); }))
      files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

std::string name_of(const std::filesystem::path& wheel) {
  const auto facts = inspect_file(wheel, {});
  return facts && facts->wheel ? name_by_content(*facts->wheel) : "";
}

}  // namespace sagekit::host
