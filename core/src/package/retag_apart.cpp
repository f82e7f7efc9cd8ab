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

/// Where a wheel would get that name: two folders may have one each.
std::string place_of(const fs::path& wheel, const WheelName& name, const RetagOptions& options) {
  const auto folder = options.output_folder.empty() ? wheel.parent_path() : fs::path();
  return (folder / name.file_name()).string();
}

/// Does the request give every one of the wheels a name, each another and, unless it is `copied`, a new one? The same
/// wheel a second time may have the first one's.
bool tells_apart(const std::vector<fs::path>& wheels, const RetagRequest& request, const RetagOptions& options,
                 bool copied, CommandRunner& runner) {
  std::map<std::string, fs::path> first;
  for (const auto& wheel : wheels) {
    const auto name = retagged_name(wheel, request, options, runner);
    if (!name || (!copied && name->file_name() == wheel.filename().string())) return false;
    const auto [at, added] = first.try_emplace(place_of(wheel, *name, options), wheel);
    if (added) continue;
    const auto one = sha256_file(at->second), other = sha256_file(wheel);
    if (!one || !other || *one != *other) return false;
  }
  return true;
}

/// What helps all of them: a scheme that only two of them differ by is refused for the next two.
std::string way_apart(const std::vector<fs::path>& wheels, const RetagRequest& request, const RetagOptions& options,
                      bool copied, CommandRunner& runner) {
  constexpr std::size_t k_told = 3;
  std::vector<std::string> apart;
  if (request.naming)
    for (auto& scheme : naming_schemes(options.verify.schemes)) {
      RetagRequest other = request;
      other.naming = scheme;
      if (apart.size() < k_told && tells_apart(wheels, other, options, copied, runner)) apart.push_back(scheme.name);
    }
  return apart.empty() ? "give each a folder of its own with another -o, or leave one of them out"
                       : fmt::format("these tell them apart: --naming {}", fmt::join(apart, ", "));
}

Error fall_together(const fs::path& one, const fs::path& other, const std::string& name) {
  return {ErrorKind::failed, "PKG001",
          fmt::format("{} and {} are two different wheels and would both be named {}: nothing was written",
                      one.string(), other.string(), name),
          other.string(), ""};
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
      together.push_back(fall_together(at->second.first, wheel, made->name));
  }
  return {};
}

}  // namespace

std::vector<Error> check_names_apart(const std::vector<fs::path>& wheels, const RetagRequest& request,
                                     const RetagOptions& options, bool copied, CommandRunner& runner) {
  std::map<std::string, std::vector<fs::path>> alike;
  std::vector<fs::path> named;
  if (wheels.size() > 1)
    for (const auto& wheel : wheels)
      if (auto name = retagged_name(wheel, request, options, runner)) {
        named.push_back(wheel);
        // What the modules say is not known yet.
        if (request.platform == "auto") name->platform.clear();
        if (request.variant) name->variant.clear();
        alike[place_of(wheel, *name, options)].push_back(wheel);
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
  if (std::ranges::any_of(together, [](const Error& one) { return one.code == "PKG001"; })) {
    const auto way = way_apart(named, request, options, copied, runner);
    for (auto& one : together)
      if (one.code == "PKG001" && one.hint.empty()) one.hint = way;
  }
  return together;
}

}  // namespace sagekit
