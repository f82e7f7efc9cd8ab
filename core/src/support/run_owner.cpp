#include "support/run_owner.hpp"

#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// Files below /proc have no size, so they cannot be mapped.
std::string proc_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The boot and the process namespace: within both a process number means one thing.
std::string process_place() {
  const auto boot = proc_text("/proc/sys/kernel/random/boot_id").substr(0, 8);
  std::error_code error;
  const auto space = fs::read_symlink("/proc/self/ns/pid", error).string();  // "pid:[4026531836]"
  std::string digits;
  for (const char c : space)
    if (c >= '0' && c <= '9') digits += c;
  return (boot.empty() ? "0" : boot) + "." + (digits.empty() ? "0" : digits);
}

/// The 22nd field of proc_pid_stat(5); what stands before it may hold blanks, but ends in the last parenthesis. "" = no
/// such process, or it has ended and waits to be reaped.
std::string start_of(const std::string& pid) {
  const auto text = proc_text("/proc/" + pid + "/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = split_words(std::string_view(text).substr(name_end + 1));
  constexpr std::size_t k_state = 0, k_start = 19;
  if (fields.size() <= k_start || fields[k_state] == "Z" || fields[k_state] == "X") return {};
  return fields[k_start];
}

}  // namespace

std::string own_mark() {
  const auto pid = std::to_string(::getpid());
  return fmt::format("{}.{}.{}", process_place(), pid, start_of(pid));
}

Owner owner_of(std::string_view folder_name) {
  const auto sign = folder_name.rfind('@');
  if (sign == std::string_view::npos) return Owner::unknown;
  const auto mark = folder_name.substr(sign + 1);
  const auto parts = split(mark.substr(0, mark.find('-')), '.');
  if (parts.size() != 4 || parts[0] + "." + parts[1] != process_place() || !is_digits(parts[2])) return Owner::unknown;
  return start_of(parts[2]) == parts[3] ? Owner::alive : Owner::dead;
}

Result<TemporaryFolder> own_temporary(const std::filesystem::path& parent, std::string_view name) {
  const auto marked = std::string(name) + "@";
  for (const auto& other : entries_of(parent))
    if (const auto found = other.filename().string(); found.starts_with(marked) && owner_of(found) == Owner::dead)
      remove_quietly(other);
  return TemporaryFolder::create(parent, marked + own_mark());
}

}  // namespace sagekit
