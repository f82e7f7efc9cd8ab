#pragma once
// The output of a program that writes into a file, shown while it runs.

#include "console.hpp"

#include <filesystem>
#include <string>
#include <thread>

namespace sagekit::host {

/// Reads what is appended and says it, without a `--json` document of a build that is in it.
class LogFollower {
 public:
  LogFollower(const Console& console, std::filesystem::path file, bool shown);
  ~LogFollower();  ///< after the last line
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

 private:
  void follow(const std::stop_token& stop);
  void show(std::string& rest) const;
  const Console& m_console;
  std::filesystem::path m_file;
  mutable bool m_in_document = false;
  std::jthread m_thread;
};

/// The document that `build --json` printed among other lines; "" = there is none.
std::string build_document(const std::string& log);

}  // namespace sagekit::host
