#pragma once
// Whose code may run in this process: the rule that ssh has for its keys.

#include <sagekit/error.hpp>

#include <boost/filesystem/path.hpp>
#include <sys/types.h>

#include <optional>

namespace sagekit {

/// Who may have written a plugin, beside root.
struct TrustedUser {
  uid_t id = 0;
  std::optional<gid_t> private_group;  ///< a group that has this user as its only member: its write bit harms nobody
};

/// The user of this process. Root has no private group: nobody's umask makes root's folders group-writable by chance.
TrustedUser current_user();

/// Is everything from `file` up to / owned by root or `user` and writable by nobody else? A sticky folder (/tmp) is
/// good enough above the file's own folder, because others cannot rename what they do not own there. `file` must be
/// canonical. Error PLG001 names the first component that is not, and the command that mends it.
Status check_trusted(const boost::filesystem::path& file, const TrustedUser& user);

}  // namespace sagekit
