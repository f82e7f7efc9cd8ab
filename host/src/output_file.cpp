#include "output_file.hpp"

#include <sagekit/nearest.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace sagekit::host {

namespace fs = std::filesystem;

namespace {

/// 0, or errno's value.
int write_and_close(int file, std::string_view text) {
  int wrong = 0;
  while (wrong == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      wrong = errno;
  }
  // Some file systems say only here that there was no room.
  if (wrong == 0 && ::fsync(file) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) wrong = errno;
  if (::close(file) != 0 && wrong == 0) wrong = errno;
  return wrong;
}

std::string beginning_of(const fs::path& path) {
  std::string begin(4096, ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return begin;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whoever wrote it: its first "$schema" names the format.
bool has_schema_of_sarif(std::string_view text) {
  constexpr std::string_view k_schema = "\"$schema\"";
  const auto at = text.find(k_schema);
  const auto begin = at == std::string_view::npos ? at : text.find('"', at + k_schema.size());
  if (begin == std::string_view::npos) return false;
  return has(text.substr(begin, text.find('"', begin + 1) - begin), "sarif");
}

struct KnownKind {
  std::string_view what;
  bool (*is_one)(std::string_view begin);
};

const KnownKind& known_kind(OutputKind kind) {
  // An index's pages say who made them, too.
  static constexpr KnownKind k_page{"page of sagekit's about a release", [](std::string_view begin) {
                                      return has(begin, "<meta name=\"generator\" content=\"sagekit\">") &&
                                             !has(begin, "pypi:repository-version");
                                    }};
  static constexpr KnownKind k_findings{
      "SARIF", [](std::string_view begin) { return begin.starts_with('{') && has_schema_of_sarif(begin); }};
  static constexpr KnownKind k_timeline{"timeline of a build", [](std::string_view begin) {
                                          return begin.starts_with('{') && has(begin, "\"traceEvents\"");
                                        }};
  static constexpr KnownKind k_manual{"page of sagekit's manual",
                                      [](std::string_view begin) { return begin.starts_with(".TH SAGEKIT"); }};
  static constexpr KnownKind k_text{"text", [](std::string_view begin) { return !begin.contains('\0'); }};
  switch (kind) {
    case OutputKind::page: return k_page;
    case OutputKind::findings: return k_findings;
    case OutputKind::timeline: return k_timeline;
    case OutputKind::manual: return k_manual;
    case OutputKind::own_name: break;
  }
  return k_text;
}

}  // namespace

std::optional<std::string> file_text(const fs::path& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path, error)) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Error read_error(const fs::path& path, std::string code, std::string hint) {
  std::error_code error;
  const bool there = fs::exists(path, error) || error;
  if (const auto near = there ? std::string() : near_files(path); !near.empty()) hint = near + "; " + hint;
  return {ErrorKind::usage, std::move(code),
          fmt::format("cannot read {}: {}", path.string(), there ? "it is no readable file" : "there is no such file"),
          path.string(), std::move(hint)};
}

Error write_error(std::string_view what, int number, bool in_place) {
  if (number == ENOENT)
    return {ErrorKind::usage, "FIL002", fmt::format("cannot write {}: there is no such folder", what), "",
            "make the folder, or name another place"};
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  const bool begun = in_place && number != EACCES && number != EPERM && number != EROFS && number != ENOTDIR;
  return {full ? ErrorKind::machine : ErrorKind::usage, "FIL002",
          fmt::format("cannot write {}: {}{}", what, std::strerror(number), begun ? "; it is not whole" : ""), "",
          full ? "free some space, or write to another disk" : "check rights, or name another place"};
}

Status check_output(const fs::path& path, OutputKind kind, const std::vector<std::string>& inputs) {
  const auto stays = [&](std::string_view why) {
    return fail(ErrorKind::usage, "FIL002", fmt::format("cannot write {}: {}", path.string(), why),
                "name another file, or move that one away");
  };
  std::error_code error;
  if (path.extension() == ".whl") return stays("that is a wheel's name");
  for (const auto& input : inputs)
    if (fs::equivalent(path, input, error)) return stays("this command reads it");
  if (!fs::is_regular_file(path, error)) return {};
  const auto& [what, is_one] = known_kind(kind);
  const auto begin = beginning_of(path);
  if (begin.empty() || is_one(begin)) return {};
  return stays(fmt::format("what is there is no {}, and stays", what));
}

Status write_output(const fs::path& path, OutputKind kind, std::string_view text) {
  if (auto free = check_output(path, kind); !free) return free;
  return write_whole(path, text);
}

Status write_whole(const fs::path& path, std::string_view bytes) {
  if (path == "-")
    return fail(ErrorKind::usage, "FIL002", "cannot write -: what would be written there is a file, and not stdout",
                "name a file");
  struct stat status {};
  const bool in_place = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  std::string name = path.string();
  if (in_place) {
    const int file = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    const int wrong = file < 0 ? errno : write_and_close(file, bytes);
    if (wrong != 0) return std::unexpected(write_error(name, wrong));
    return {};
  }
  // Beside what a link names: the link stays.
  std::error_code error;
  if (const auto target = fs::canonical(path, error); !error) name = target.string();
  std::string temporary = name + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return std::unexpected(write_error(path.string(), errno));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = S_ISREG(status.st_mode) ? status.st_mode & 07777 : 0666 & ~mask;
  int wrong = ::fchmod(file, mode) == 0 ? 0 : errno;
  if (const int failed = write_and_close(file, bytes); wrong == 0) wrong = failed;
  if (wrong == 0 && ::rename(temporary.c_str(), name.c_str()) != 0) wrong = errno;
  if (wrong == 0) return {};
  ::unlink(temporary.c_str());
  return std::unexpected(write_error(path.string(), wrong, false));
}

}  // namespace sagekit::host
