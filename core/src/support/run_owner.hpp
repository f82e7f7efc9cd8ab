#pragma once
// Whose a folder is: the process that made it is part of its name, so what a killed one left can be told
// from what a living one uses, without a lock.

#include "support/file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace sagekit {

enum class Owner {
  alive,
  dead,
  unknown,  ///< of another boot, machine or container: nobody here can say
};

/// "BOOT.PIDNAMESPACE.PID.START" of this process; the start (clock ticks since boot) tells it from a later one with its
/// number. Letters, digits and points only.
std::string own_mark();

/// Who made NAME@MARK or NAME@MARK-XXXXXX; `unknown` also for a name without a mark.
Owner owner_of(std::string_view folder_name);

/// A folder NAME@MARK-XXXXXX outside of any store, which nobody cleans: those of that name that killed runs left go.
Result<TemporaryFolder> own_temporary(const std::filesystem::path& parent, std::string_view name);

}  // namespace sagekit
