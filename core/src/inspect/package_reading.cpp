// What is in a package that lies in a folder.
#include "inspect/module_reader.hpp"
#include "inspect/package_folder.hpp"
#include "inspect/wheel_reader.hpp"
#include "pypa/metadata_reader.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_files = 500'000;

/// Written by Python when it imports, wherever it may.
bool is_compiled(std::string_view path) { return path.ends_with(".pyc") || path.ends_with(".pyo"); }

bool leaves(std::string_view path) {
  return path.starts_with('/') || path == ".." || path.starts_with("../") ||
         path.find("/../") != std::string_view::npos;
}

std::unexpected<Error> too_many(const fs::path& root) {
  return fail(ErrorKind::failed, "VFY008", fmt::format("{} holds more than {} files", root.string(), k_most_files),
              "name the package's own folder", root.string());
}

/// Every file below `root`, links as what they are.
Result<std::vector<std::string>> walk(const fs::path& root) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator at(root, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) continue;
    auto path = at->path().lexically_relative(root).generic_string();
    if (is_compiled(path)) continue;
    if (found.size() == k_most_files) return too_many(root);
    found.push_back(std::move(path));
  }
  if (error) return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: {}", root.string(), error.message()));
  return found;
}

MemberFacts unread(std::string path, std::string_view code, std::string message, std::string hint = {}) {
  MemberFacts facts;
  facts.path = path;
  facts.problems.push_back(
      {Severity::error, std::string(code), std::move(message), {std::move(path), 0, 0, {}}, std::move(hint)});
  return facts;
}

MemberFacts read_member(const fs::path& root, const fs::path& real_root, const std::string& path,
                        const InspectOptions& options) {
  std::error_code error;
  const auto real = fs::canonical(root / path, error);
  if (error) return unread(path, "VFY007", fmt::format("{} cannot be followed: {}", path, error.message()));
  const auto inside = real.lexically_relative(real_root).generic_string();
  if (inside.empty() || leaves(inside))
    return unread(path, "VFY007", fmt::format("{} is a link to {}, outside the folder", path, real.string()),
                  "what lies there was not judged: name that folder");
  if (!fs::is_regular_file(real, error)) return unread(path, "VFY007", path + " is no regular file");
  const auto file = MappedFile::open(real);
  if (!file) return unread(path, file.error().code, file.error().message);
  MemberFacts facts = read_module(path, Bytes(file->bytes()), options, 1).facts;
  facts.path = path;
  facts.size_bytes = file->bytes().size();
  if (options.member_hashes) facts.sha256 = sha256_hex(file->bytes());
  return facts;
}

std::vector<MemberFacts> read_members(const fs::path& root, const std::vector<std::string>& paths,
                                      const InspectOptions& options) {
  std::error_code error;
  const auto real_root = fs::canonical(root, error);
  std::vector<std::uint64_t> costs;
  for (const auto& path : paths) {
    const auto size = fs::file_size(root / path, error);
    costs.push_back(error ? 0 : size);  // for the order; mapped files need no memory of ours
  }
  std::vector<MemberFacts> members(paths.size());
  run_within_budget(costs, UINT64_MAX, available_threads(),
                    [&](std::size_t i) { members[i] = read_member(root, real_root, paths[i], options); });
  std::ranges::sort(members, {}, &MemberFacts::path);
  return members;
}

std::optional<std::string> text_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  auto text = read_file(file);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::string csv(const std::string& field) {
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  return "\"" + replace_all(field, "\"", "\"\"") + "\"";
}

/// Distribution, version and tags as the file name of the wheel would have had them.
WheelName name_from(const std::string& dist_info, const std::string& metadata, const std::string& wheel) {
  const auto about = read_headers(metadata);
  const auto project = about.one("Name").value_or("");
  const auto folder = dist_info.substr(0, dist_info.find('-'));
  WheelName name;
  // Older tools did not write the normal form, and the folder tells how they spelled it.
  name.distribution = normalized_project(folder) == normalized_project(project) ? folder : file_name_project(project);
  name.version = replace_all(about.one("Version").value_or(""), "-", "_");
  const auto texts = read_headers(wheel);
  name.build = texts.one("Build").value_or("");
  const auto add = [](std::vector<std::string>& set, const std::string& tag) {
    if (std::ranges::count(set, tag) == 0) set.push_back(tag);
  };
  for (const auto& tag : texts.all("Tag")) {
    const auto parts = split(tag, '-');
    if (parts.size() != 3) continue;
    add(name.python, parts[0]);
    add(name.abi, parts[1]);
    add(name.platform, parts[2]);
  }
  for (auto* set : {&name.python, &name.abi, &name.platform}) std::ranges::sort(*set);
  return name;
}

/// RECORD without what lies elsewhere or is Python's own; the paths that stay are put into `paths`.
std::string own_record(const std::string& text, std::vector<std::string>& paths, std::size_t& outside) {
  std::string kept;
  for (const auto& row : read_record(text).rows) {
    if (leaves(row.path)) {
      ++outside;
      continue;
    }
    if (is_compiled(row.path)) continue;
    kept += fmt::format("{},{},{}\n", csv(row.path), csv(row.hash), csv(row.size));
    paths.push_back(row.path);
  }
  return kept;
}

/// A folder of modules without dist-info says nothing of itself but by its modules' names.
WheelName name_of_modules(const std::vector<MemberFacts>& members) {
  std::set<std::string> abis;
  for (const auto& member : members)
    if (!member.python_abi.empty() && member.python_abi != "none") abis.insert(member.python_abi);
  if (abis.empty()) abis.insert("none");
  WheelName name;
  name.abi.assign(abis.begin(), abis.end());
  return name;
}

}  // namespace

Result<PackageReading> read_package(const PackageFolder& package, const InspectOptions& options) {
  PackageReading reading;
  if (package.kind == PackageFolder::Kind::plain) {
    TRY_ASSIGN(const auto paths, walk(package.root));
    reading.members = read_members(package.root, paths, options);
    reading.wheel.name = name_of_modules(reading.members);
    if (std::ranges::none_of(reading.members,
                             [](const MemberFacts& one) { return one.elf || one.pe || !one.gpu.empty(); }))
      return fail(ErrorKind::failed, "VFY005",
                  fmt::format("{} has no .dist-info folder and no modules of machine code", package.root.string()),
                  "name a wheel, a package's folder, or a site-packages", package.root.string());
    return reading;
  }
  const auto dist_info = package.root / package.dist_info;
  DistInfoTexts texts;
  texts.folder = package.dist_info;
  texts.folders = {package.dist_info};
  texts.metadata = text_of(dist_info / "METADATA");
  texts.wheel = text_of(dist_info / "WHEEL");
  texts.record = text_of(dist_info / "RECORD");
  std::vector<std::string> paths;
  if (texts.record) texts.record = own_record(*texts.record, paths, reading.outside);
  if (package.kind == PackageFolder::Kind::unpacked) {
    TRY_ASSIGN(paths, walk(package.root));
  }
  if (paths.size() > k_most_files) return too_many(package.root);
  std::ranges::sort(paths);
  const auto rest = std::ranges::unique(paths);
  paths.erase(rest.begin(), rest.end());
  std::erase_if(paths, [&](const std::string& path) {
    std::error_code error;  // what is not there is RECORD's fault, and said there
    return fs::symlink_status(package.root / path, error).type() == fs::file_type::not_found || path.ends_with('/');
  });
  reading.members = read_members(package.root, paths, options);
  const WheelName name = name_from(package.dist_info, texts.metadata.value_or(""), texts.wheel.value_or(""));
  if (options.member_hashes)
    texts.read = [&package](const std::string& path) { return read_file(package.root / path); };
  judge_dist_info(texts, name.file_name(), reading.members, reading.wheel);
  std::erase_if(reading.wheel.problems,
                [](const Diagnostic& one) { return one.code.starts_with("NAM"); });  // it has none
  for (auto& problem : reading.wheel.problems) problem.where.file = package.dist_info;
  reading.wheel.name = name;
  return reading;
}

}  // namespace sagekit
