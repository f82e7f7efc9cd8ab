#include "toolchain/open_wheel.hpp"

#include "index/remote_file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_parallel = 4;  // requests at a time for one wheel

Status check_whole(const IndexFile& file, const std::string& sha256, const fs::path& whole) {
  if (file.sha256.empty() || file.sha256 == sha256) return {};
  std::error_code ignored;
  fs::remove(whole, ignored);
  return fail(ErrorKind::failed, "PRV007",
              fmt::format("{} has the sha256 {}, its index page says {}", file.name, sha256, file.sha256),
              "the download was altered on its way, or the index is wrong; nothing of it was used");
}

Result<std::unique_ptr<RandomAccess>> open_file(Fetch& fetch, const IndexFile& file, std::uint64_t size) {
  const fs::path whole = fetch.stage.scratch() / file.name;
  if (fetch.options.full) {
    if (file.sha256.empty())
      return fail(ErrorKind::failed, "PRV007", fmt::format("{}: its index page gives no sha256", file.name),
                  "leave --full out, or use an index that gives hashes");
    TRY_ASSIGN(const auto sha256, download_file(fetch.http, file.url, whole, size, {}, fetch.stop));
    TRY(check_whole(file, sha256, whole));
    return open_local_file(whole);
  }
  TRY_ASSIGN(auto opened, open_remote_file(fetch.http, file.url, size, whole, {}, 64 * 1024, fetch.stop));
  std::error_code error;
  if (fs::exists(whole, error)) {
    TRY_ASSIGN(const auto sha256, sha256_file(whole));
    TRY(check_whole(file, sha256, whole));
  }
  return opened;
}

Status check_pin(const LockedFile& pin, const LockedFile& found) {
  if (!pin.sha256.empty() && !found.sha256.empty() && pin.sha256 != found.sha256)
    return not_pinned(found.name, "the sha256 that the index gives");
  if (pin.size_bytes != found.size_bytes) return not_pinned(found.name, "its size");
  if (pin.directory_sha256 != found.directory_sha256) return not_pinned(found.name, "its central directory");
  if (pin.record_sha256 != found.record_sha256) return not_pinned(found.name, "its RECORD");
  return {};
}

}  // namespace

Result<std::vector<IndexFile>> project_page(Fetch& fetch, const std::string& project) {
  auto page = find_project(fetch.http, fetch.options.index, project, fetch.stop);
  if (page || page.error().code != "IDX013") return page;
  return fail(ErrorKind::machine, "PRV002", page.error().message, page.error().hint);
}

Result<OpenWheel> open_wheel(Fetch& fetch, const IndexFile& file, const std::string& project,
                             const std::string& version, const LockedFile* pin) {
  if (pin != nullptr && !pin->sha256.empty() && !file.sha256.empty() && pin->sha256 != file.sha256)
    return not_pinned(file.name, "the sha256 that the index gives");
  if (!file.hash_fault.empty())
    return fail(ErrorKind::failed, "PRV007",
                fmt::format("{}: its index page holds it to no hash: {}", file.name, file.hash_fault),
                "name another index with --index-url");
  TRY_ASSIGN(auto bytes, open_file(fetch, file, pin != nullptr ? pin->size_bytes : file.size));
  TRY_ASSIGN(auto wheel, in_file(file.name, RemoteWheel::open(std::move(bytes), fetch.stop)));
  LockedFile made_of{
      project, version, file.name, wheel.size(), file.sha256, wheel.record_sha256(), wheel.directory_sha256()};
  if (pin != nullptr) TRY(check_pin(*pin, made_of));
  return OpenWheel{std::move(wheel), std::move(made_of)};
}

Status stage_members(Fetch& fetch, RemoteWheel& wheel, const std::vector<const ZipMember*>& wanted, std::mutex& mutex,
                     const std::function<std::string(const ZipMember&)>& place) {
  std::vector<const ZipMember*> missing;
  std::uint64_t bytes = 0;
  for (const auto* member : wanted) {
    const auto recorded = wheel.recorded_sha256(member->name);
    const std::lock_guard lock(mutex);
    if (recorded && fetch.stage.has(place(*member), *recorded)) continue;
    missing.push_back(member);
    bytes += member->compressed_size;
  }
  fetch.meter.expect(bytes);
  const auto stage = [&](const ZipMember& member, const std::string& content) -> Status {
    const std::lock_guard lock(mutex);
    return fetch.stage.add(place(member), content, (member.mode & 0111) != 0);
  };
  return wheel.extract(missing, k_parallel, stage, fetch.stop);
}

bool is_license(const RemoteWheel& wheel, const ZipMember& member) {
  if (!member.name.starts_with(wheel.dist_info() + "/") || member.is_folder()) return false;
  const auto rest = lower(std::string_view(member.name).substr(wheel.dist_info().size() + 1));
  return rest.starts_with("licenses/") || rest.starts_with("license") || rest.starts_with("notice");
}

}  // namespace sagekit
