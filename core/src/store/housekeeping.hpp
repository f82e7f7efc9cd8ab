#pragma once
// What dead processes left in a store.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sagekit {

/// Folders below work/ and tmp/, and locks, that nobody uses: of dead processes, and of ones nobody here can ask after
/// a week.
std::vector<std::filesystem::path> abandoned(const std::filesystem::path& store);

/// Does a living process build with this store?
bool in_use(const std::filesystem::path& store);

/// Removes what is abandoned; of a dead build the logs stay for a week.
void clean_up(const std::filesystem::path& store);

}  // namespace sagekit
