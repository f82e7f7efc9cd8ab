#pragma once
// What compilers read, as records name it: by what it is and with its content, so that another machine can check it.

#include "build/file_hashes.hpp"
#include "build/step_context.hpp"

#include <filesystem>
#include <map>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace sagekit {

class ReadFiles {
 public:
  ReadFiles(const StepContext& context, FileHashes& hashes) : m_context(context), m_hashes(hashes) {}

  /// What a record was made with and is not so now: a header, the time. "" = nothing.
  std::string difference(const ActionRecord& record) const;

  /// What one or several passes read.
  struct List {
    std::map<std::string, std::string> headers;
    bool names_time = false;
  };
  /// Adds what a dependency file lists. False when there is no such file, or one that it lists is not there to be
  /// checked next time.
  bool add_listed(const std::filesystem::path& depfile, List& list) const;
  void add_record(const ActionRecord& record, List& list) const;
  void put_into(ActionRecord& record, const List& list) const;

 private:
  const StepContext& m_context;
  FileHashes& m_hashes;
  mutable std::shared_mutex m_mutex;
  mutable std::unordered_map<std::string, std::string> m_known;  ///< headers by their names in records; "" = not there
};

}  // namespace sagekit
