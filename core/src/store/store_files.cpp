#include "store/store_files.hpp"

#include "support/format.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

Status each_file(const fs::path& folder, const std::function<void(const fs::path&)>& visit) {
  Status whole;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!fs::is_directory(at->symlink_status(ignored))) {
      visit(at->path());
      continue;
    }
    auto below = each_file(at->path(), visit);
    if (whole && !below) whole = std::move(below);
  }
  // One that is not there has no files; a trim may take it meanwhile.
  const bool gone = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (whole && error && !gone) whole = std::unexpected(store_problem("cannot read", folder, error));
  return whole;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  each_file(folder, [&](const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) bytes += size;
  });
  return bytes;
}

Status check_is_store(const fs::path& store) {
  std::error_code error;
  // A build begins with objects or toolchains, an install and an index with less.
  for (const auto* name : {"objects", "toolchains", "installs", "looks", "wheel-facts"}) {
    if (fs::is_directory(store / name, error)) return {};
    if (error == std::errc::permission_denied) return std::unexpected(store_problem("cannot read", store, error));
  }
  const bool there = fs::exists(store, error);
  if (error)
    return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: {}", store.string(), error.message()),
                "--store DIR or SAGEKIT_STORE name another");
  if (!there)
    return fail(ErrorKind::usage, "STO005", "there is no store yet: " + store.string(),
                "a build makes one; --store DIR or SAGEKIT_STORE name another");
  return fail(ErrorKind::usage, "STO005", store.string() + " is no store of sagekit",
              "name it with --store DIR or SAGEKIT_STORE; a build makes one");
}

std::optional<std::string> object_name(const fs::path& file) {
  auto name = file.filename().string();
  if (name.ends_with(".zst")) name.resize(name.size() - 4);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (name.size() != 64 || !std::ranges::all_of(name, is_hex)) return std::nullopt;
  return name;
}

namespace {

std::optional<struct ::stat> look_at(const fs::path& file) {
  struct ::stat info{};
  if (::lstat(file.c_str(), &info) != 0) return std::nullopt;
  return info;
}

}  // namespace

std::uint64_t DiskUse::add(const fs::path& file) {
  const auto info = look_at(file);
  if (!info) return 0;
  auto& content = m_contents[{info->st_dev, info->st_ino}];
  if (content.names++ > 0) return 0;
  content.size = static_cast<std::uint64_t>(info->st_size);
  m_bytes += content.size;
  return content.size;
}

std::uint64_t DiskUse::drop(const fs::path& file) {
  const auto info = look_at(file);
  const auto found = info ? m_contents.find({info->st_dev, info->st_ino}) : m_contents.end();
  if (found == m_contents.end() || --found->second.names > 0) return 0;
  const auto size = found->second.size;
  m_contents.erase(found);
  m_bytes -= size;
  return size;
}

Error store_problem(std::string_view what, const fs::path& path, const std::error_code& error) {
  return {ErrorKind::usage, "STO003", fmt::format("{} {}: {}", what, path.string(), error.message()), "",
          "check its owner and permissions: the store may be someone else's, or read-only"};
}

}  // namespace sagekit
