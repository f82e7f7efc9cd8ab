#pragma once
// Opening a wheel for a tree, and holding it against the lock.

#include "index/package_index.hpp"
#include "index/remote_wheel.hpp"
#include "toolchain/fetch.hpp"

namespace sagekit {

struct OpenWheel {
  RemoteWheel wheel;
  LockedFile made_of;  ///< the row that the lock gets
};

/// find_project() for a tree: PRV002 (machine) when no index has the project, so that another source may be asked.
Result<std::vector<IndexFile>> project_page(Fetch& fetch, const std::string& project);

/// An error inside of a wheel, with the name of the wheel.
template <class R>
R in_file(const std::string& name, R result) {
  if (result || result.error().message.find(name) != std::string::npos) return result;
  auto& where = result.error().where;
  where = where.empty() ? name : name + ": " + where;
  return result;
}

/// Reads it by ranges, or whole with --full or where the server knows no ranges; a whole file is checked against the
/// index's sha256. With a pin everything that can be known of it must be as pinned (PRV006, PRV007).
Result<OpenWheel> open_wheel(Fetch& fetch, const IndexFile& file, const std::string& project,
                             const std::string& version, const LockedFile* pin);

/// Puts the wanted members into the stage, those that are not there yet: `place` names a member's path in the tree.
/// Safe for several wheels at a time with one `mutex`.
Status stage_members(Fetch& fetch, RemoteWheel& wheel, const std::vector<const ZipMember*>& wanted, std::mutex& mutex,
                     const std::function<std::string(const ZipMember&)>& place);

/// Licence texts of its dist-info, for stage_members.
bool is_license(const RemoteWheel& wheel, const ZipMember& member);

}  // namespace sagekit
