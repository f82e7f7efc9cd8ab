#include "package/retag_names.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/run_owner.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

#include <sagekit/retag.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

struct NamedBytes {
  std::string name, sha256;
};

/// What would come of the wheel. Nothing: no file, and retag_wheel says why.
std::optional<NamedBytes> named_bytes(const fs::path& wheel, const RetagRequest& request, const RetagOptions& options,
                                      bool copied, CommandRunner& runner) {
  const auto made = retag_wheel(wheel, request, options, runner);
  if (!made && (!copied || made.error().code != "RTG001")) return {};
  const auto& file = made ? made->path : wheel;
  auto sha256 = sha256_file(file);
  if (!sha256) return {};
  return NamedBytes{file.filename().string(), std::move(*sha256)};
}

/// The schemes by which the two have names, and not the same one.
std::string schemes_apart(const fs::path& one, const fs::path& other, const RetagOptions& options,
                          CommandRunner& runner) {
  constexpr std::size_t k_told = 3;
  std::vector<std::string> apart;
  for (auto& scheme : naming_schemes(options.verify.schemes)) {
    const auto name = scheme.name;
    RetagRequest request;
    request.naming = std::move(scheme);
    const auto first = retagged_name(one, request, options, runner);
    const auto second = retagged_name(other, request, options, runner);
    if (first && second && first->file_name() != second->file_name() && apart.size() < k_told) apart.push_back(name);
  }
  return fmt::format("{}", fmt::join(apart, ", "));
}

Error fall_together(const fs::path& one, const fs::path& other, const std::string& name, const RetagRequest& request,
                    const RetagOptions& options, CommandRunner& runner) {
  std::string hint = "give each a folder of its own with -o, or leave one of them out";
  if (request.naming)
    if (const auto apart = schemes_apart(one, other, options, runner); !apart.empty())
      hint = "these tell them apart: --naming " + apart;
  return {ErrorKind::failed, "PKG001",
          fmt::format("{} and {} are two different wheels and would both be named {}: nothing was written",
                      one.string(), other.string(), name),
          other.string(), std::move(hint)};
}

/// Made in a folder that goes again, and compared: of those whose names may be one.
Status compare_made(const std::vector<fs::path>& wheels, const RetagRequest& request, const RetagOptions& options,
                    bool copied, CommandRunner& runner, std::vector<Error>& together) {
  const auto folder = options.output_folder.empty() ? wheels.front().parent_path() : options.output_folder;
  TRY_ASSIGN(const auto temporary, own_temporary(folder.empty() ? "." : folder, ".sagekit"));
  RetagOptions aside = options;
  aside.output_folder = temporary.path() / "wheels";
  std::map<std::string, std::pair<fs::path, std::string>> first;  // the wheel and its hash, by name
  for (const auto& wheel : wheels) {
    const auto made = named_bytes(wheel, request, aside, copied, runner);
    remove_quietly(aside.output_folder);
    if (!made) continue;
    const auto [at, added] = first.try_emplace(made->name, wheel, made->sha256);
    if (!added && at->second.second != made->sha256)
      together.push_back(fall_together(at->second.first, wheel, made->name, request, options, runner));
  }
  return {};
}

}  // namespace

std::vector<Error> check_names_apart(const std::vector<fs::path>& wheels, const RetagRequest& request,
                                     const RetagOptions& options, bool copied, CommandRunner& runner) {
  std::map<std::string, std::vector<fs::path>> alike;
  if (wheels.size() > 1)
    for (const auto& wheel : wheels)
      if (auto name = retagged_name(wheel, request, options, runner)) {
        // What the modules say is not known yet.
        if (request.platform == "auto") name->platform.clear();
        if (request.variant) name->variant.clear();
        const auto folder = options.output_folder.empty() ? wheel.parent_path() : fs::path();
        alike[(folder / name->file_name()).string()].push_back(wheel);
      }
  std::vector<Error> together;
  std::error_code error;
  const bool folder_was_there = options.output_folder.empty() || fs::exists(options.output_folder, error);
  for (const auto& [name, several] : alike) {
    if (several.size() < 2) continue;
    if (const auto compared = compare_made(several, request, options, copied, runner, together); !compared)
      together.push_back(compared.error());
  }
  if (!folder_was_there) fs::remove(options.output_folder, error);  // only when it is empty
  return together;
}

}  // namespace sagekit
