#pragma once
// What a run made and took from the store, line by line as it happens: `cache stats` and `cache export --since-run`
// read it, whatever ended the run.

#include "support/descriptor.hpp"

#include <sagekit/error.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

class RunJournal {
 public:
  /// A new file below `folder`; the oldest ones go. Null when it cannot be written: a run works without.
  static std::shared_ptr<RunJournal> begin(const std::filesystem::path& folder, const std::string& what);

  ~RunJournal();  ///< one that was refused before it made anything leaves no file
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  void made(const std::string& record);  ///< path of a record below the store
  void ended(std::uint64_t run, std::uint64_t reused, std::uint64_t failed);

 private:
  RunJournal(std::filesystem::path path, Descriptor file) : m_path(std::move(path)), m_file(std::move(file)) {}
  void line(const std::string& text);
  std::mutex m_mutex;
  std::filesystem::path m_path;
  Descriptor m_file;
  bool m_counts = false;  ///< it made something, or came to its end
};

struct Run {
  std::string id, what, began;
  std::vector<std::string> made;
  bool ended = false;
  std::uint64_t steps_run = 0, steps_reused = 0, steps_failed = 0;
};

/// The youngest run; nothing when there is none. STO003 when this user may not read it.
Result<std::optional<Run>> last_run(const std::filesystem::path& folder);

}  // namespace sagekit
