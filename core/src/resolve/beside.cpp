#include "resolve/beside.hpp"

#include "resolve/listing.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <sagekit/release.hpp>
#include <sagekit/yanked.hpp>

#include <map>
#include <string_view>

namespace sagekit {

namespace fs = std::filesystem;

Status hold_to_manifest(std::vector<Candidate>& wheels, const fs::path& folder) {
  const auto path = folder / k_manifest_file;
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  auto listed = wheels_listed_in(path.string());
  if (!listed) {
    if (listed.error().code == "RES004")
      listed.error().hint =
          "get it again from where it is published, or delete it: then nothing holds the wheels to what was published";
    return std::unexpected(std::move(listed).error());
  }
  std::map<std::string_view, const Candidate*> by_name;
  for (auto& row : *listed) {
    const auto [at, fresh] = by_name.emplace(row.file, &row);
    if (!fresh && at->second->sha256 != row.sha256)
      row.hash_fault = fmt::format("{} lists it twice, with two sha256", k_manifest_file), at->second = &row;
  }
  for (auto& wheel : wheels) {
    const auto found = by_name.find(wheel.file);
    if (found == by_name.end()) continue;
    const Candidate& row = *found->second;
    wheel.sha256 = row.sha256;
    wheel.sha256_from = k_manifest_file;
    wheel.hash_fault = row.hash_fault;
    wheel.manifest = row.manifest;
  }
  return {};
}

Status mark_yanked(std::vector<Candidate>& wheels, const fs::path& folder) {
  TRY_ASSIGN(const auto rows, read_yanked(folder));
  for (auto& wheel : wheels)
    if (const auto* row = yank_of(rows, wheel.file)) {
      wheel.yanked = true;
      wheel.yanked_reason = row->reason;
    }
  return {};
}

}  // namespace sagekit
