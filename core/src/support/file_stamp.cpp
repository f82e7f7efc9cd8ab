#include "support/file_stamp.hpp"

#include "support/format.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

namespace sagekit {

std::optional<FileStamp> stamp_of(const std::filesystem::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  const auto nanoseconds = [](const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return FileStamp{info.st_ino, static_cast<std::uint64_t>(info.st_size), nanoseconds(info.st_mtim),
                   nanoseconds(info.st_ctim)};
}

std::string to_string(const FileStamp& stamp) {
  return fmt::format("{}-{}-{}-{}", stamp.inode, stamp.size_bytes, stamp.modified_ns, stamp.changed_ns);
}

std::string own_stamp() {
  static const char place = 0;
  Dl_info info{};
  if (::dladdr(&place, &info) == 0 || info.dli_fname == nullptr) return {};
  const auto stamp = stamp_of(info.dli_fname);
  return stamp ? to_string(*stamp) : std::string();
}

}  // namespace sagekit
