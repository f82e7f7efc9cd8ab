#pragma once
// The store of a build: with its second levels, and what takes its place when it cannot be written.

#include "store/store.hpp"

#include <sagekit/build.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace sagekit {

struct OpenedStore {
  Store store;
  std::shared_ptr<RunJournal> journal;
  std::shared_ptr<const void> place;     ///< a folder that goes with this; null = the store itself keeps what is made
  std::filesystem::path read_only = {};  ///< then the store that could not be written; "" = nothing there may be used
};

/// `what`: for the journal. Removes what dead processes left. Errors: FIL002, STO005 and STO008 (usage): something in
/// `store_from` is no store; STO009 (usage): nvcc cannot work below that path; IDX017.
Result<OpenedStore> open_store(const BuildOptions& options, const std::string& what, const Say& say);

/// Is there room for a build where the store is, or will be? STO002 (machine).
Status check_space(const std::filesystem::path& store);

}  // namespace sagekit
