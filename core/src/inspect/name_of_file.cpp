#include "inspect/name_of_file.hpp"

#include "archive/wheel_archive.hpp"
#include "inspect/wheel_reader.hpp"
#include "support/format.hpp"

namespace sagekit {

namespace fs = std::filesystem;

std::string name_in_wheel(const fs::path& file) {
  const auto archive = WheelArchive::open(file);
  const auto wheel = archive ? read_wheel(*archive, {.file_hash = false, .member_hashes = false}).wheel : std::nullopt;
  return wheel ? name_by_content(*wheel) : std::string();
}

std::string mend_of_name(const fs::path& file, const std::string& own, const std::string& otherwise) {
  const bool says = parse_wheel_name(own).has_value();
  const auto first = without_copy_number(file.filename().string());
  const auto& right = says ? own : first;
  std::error_code error;
  const auto there = file.parent_path() / right;
  if (!file.empty() && !right.empty() && fs::is_regular_file(there, error) && !fs::equivalent(there, file, error))
    return fmt::format("{} is there: delete this {} if {} is whole", right, first.empty() ? "one" : "second download",
                       first.empty() ? "that one" : "the first");
  return says ? fmt::format("by its METADATA and WHEEL it is {}: rename it", own) : otherwise;
}

Result<WheelName> name_of_file(const fs::path& file) {
  auto name = parse_wheel_name(file.filename().string());
  if (!name) name.error().hint = mend_of_name(file, name_in_wheel(file), name.error().hint);
  return name;
}

}  // namespace sagekit
