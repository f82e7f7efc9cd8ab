#include "store/action_record.hpp"
#include "store/store_files.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"
#include "support/zstd.hpp"

#include <sagekit/cache.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_largest_kept = std::uint64_t{4} << 30;

bool object_is_right(const fs::path& path) {
  const auto name = object_name(path);
  const auto file = name ? MappedFile::open(path) : Result<MappedFile>(fail(ErrorKind::failed, "STO001", ""));
  if (!file) return false;
  if (path.extension() != ".zst") return sha256_hex(file->bytes()) == *name;
  const auto content = zstd_content(file->bytes(), k_largest_kept);
  return content && sha256_hex(*content) == *name;
}

bool record_is_right(const fs::path& path) {
  const auto text = read_file(path);
  return text && parse_action(*text);
}

}  // namespace

Result<CacheCheck> cache_verify(const fs::path& store) {
  TRY(check_is_store(store));
  std::vector<fs::path> files;
  const auto listed = each_file(store / "objects", [&](const fs::path& file) { files.push_back(file); });
  const auto objects = files.size();
  // Another process's record has its name when it is whole, and another until then.
  const auto recorded = each_file(store / "actions", [&](const fs::path& file) {
    if (file.extension() == k_record_suffix) files.push_back(file);
  });
  CacheCheck check;
  for (const auto* walked : {&listed, &recorded})
    if (!*walked && !check.problem) check.problem = walked->error();
  std::mutex mutex;
  run_in_parallel(files.size(), available_threads(), [&](std::size_t i) {
    const bool right = i < objects ? object_is_right(files[i]) : record_is_right(files[i]);
    std::error_code error;
    const auto size = fs::file_size(files[i], error);
    const std::lock_guard lock(mutex);
    if (right) {
      ++(i < objects ? check.objects : check.records);
      check.bytes += error ? 0 : size;
      return;
    }
    // One that a trim or a repair took meanwhile is not damaged.
    if (error) return;
    const bool readable = ::access(files[i].c_str(), R_OK) == 0;
    if (!readable) error.assign(errno, std::generic_category());
    if (readable && fs::remove(files[i], error))
      check.damaged.push_back(files[i].lexically_relative(store).string());
    else if (error && !check.problem)
      check.problem = store_problem(readable ? "damaged, and cannot be removed:" : "cannot read", files[i], error);
  });
  std::ranges::sort(check.damaged);
  return check;
}

}  // namespace sagekit
