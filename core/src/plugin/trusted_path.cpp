#include "plugin/trusted_path.hpp"

#include "support/file.hpp"
#include "support/format.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

namespace sagekit {

namespace bfs = boost::filesystem;

namespace {

std::string quoted(const bfs::path& path) {
  std::string out = "'";
  for (const char c : path.string()) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// Distributions that give each user a group of the same name also set umask 002, so their home folders hold
// group-writable folders that only this user can write to (Debian's OpenSSH makes the same exception).
std::optional<gid_t> private_group_of(uid_t user) {
  std::array<char, 16384> user_text{}, group_text{};
  passwd user_row{}, *user_found = nullptr;
  group group_row{}, *group_found = nullptr;
  if (::getpwuid_r(user, &user_row, user_text.data(), user_text.size(), &user_found) != 0 || !user_found) return {};
  if (::getgrgid_r(user_row.pw_gid, &group_row, group_text.data(), group_text.size(), &group_found) != 0 ||
      !group_found) {
    return {};
  }
  const std::string name = user_row.pw_name;
  if (group_row.gr_name != name) return {};
  for (char** member = group_row.gr_mem; *member != nullptr; ++member) {
    if (*member != name) return {};
  }
  return user_row.pw_gid;
}

}  // namespace

TrustedUser current_user() {
  const uid_t id = ::geteuid();
  return {id, id == 0 ? std::nullopt : private_group_of(id)};
}

Status check_trusted(const bfs::path& file, const TrustedUser& user) {
  for (bfs::path at = file;; at = at.parent_path()) {
    const std::string what = at == file ? "it" : "its folder " + at.string();
    const auto refuse = [&](const std::string& why, std::string hint) {
      return fail(ErrorKind::usage, "PLG001", fmt::format("{} is not trusted: {} {}", file.string(), what, why),
                  std::move(hint));
    };
    struct stat info {};
    if (::lstat(at.c_str(), &info) != 0) return refuse("cannot be looked at: " + last_os_error(), "");
    if (info.st_uid != 0 && info.st_uid != user.id) {
      return refuse(fmt::format("belongs to another user (uid {})", info.st_uid),
                    fmt::format("if you know where it came from: chown {} {}", user.id, quoted(at)));
    }
    const bool sticky_above = at != file && at != file.parent_path() && (info.st_mode & S_ISVTX) != 0;
    const bool group_is_user = user.private_group == info.st_gid;
    const mode_t writable = info.st_mode & (group_is_user ? S_IWOTH : S_IWOTH | S_IWGRP);
    if (writable != 0 && !sticky_above) {
      return refuse((writable & S_IWOTH) != 0 ? "can be changed by everyone" : "can be changed by its group",
                    fmt::format("chmod go-w {}", quoted(at)));
    }
    if (at == at.root_path()) return {};
  }
}

}  // namespace sagekit
