#include "verify/child/child_python.hpp"

#include "pypa/platform_tag.hpp"
#include "pypa/version_order.hpp"
#include "support/format.hpp"
#include "support/run_owner.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>

namespace sagekit {

extern const std::string_view k_child_prelude;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_longest_line = 400;
constexpr std::uint64_t k_room_to_leave = std::uint64_t{64} << 20;  // on the disk of the temporary folder

bool is_safe(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\\') != std::string_view::npos) return false;
  const auto parts = split(path, '/');
  return std::ranges::none_of(parts,
                              [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

Status write_files(const Artifact& artifact, const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& member : artifact.members) bytes += member.size_bytes;
  std::error_code error;
  const auto space = fs::space(folder, error);
  if (!error && space.available < bytes + k_room_to_leave)
    return fail(
        ErrorKind::failed, "IMP001",
        fmt::format("unpacked it has {} MiB, {} has {} MiB free", bytes >> 20, folder.string(), space.available >> 20),
        "point TMPDIR at a larger disk");
  for (const auto& member : artifact.members) {
    if (member.path.ends_with('/')) continue;
    if (!is_safe(member.path))
      return fail(ErrorKind::failed, "IMP001", fmt::format("{} would be written outside the folder", member.path));
    const auto path = installed_path(member.path);
    if (path.empty()) continue;
    const auto file = folder / path;
    TRY(make_directories(file.parent_path()));
    // What lies in a folder needs no second copy; on another disk it does.
    if (artifact.in_folder()) {
      fs::create_hard_link(artifact.root / member.path, file, error);
      if (!error) continue;
    }
    TRY_ASSIGN(const auto content, artifact.read(member.path));
    TRY(write_file(file, content));
  }
  return {};
}

std::string first_two(std::string_view version) {
  const auto parts = split(version.substr(0, version.find('+')), '.');
  return parts.size() < 2 ? std::string(version) : parts[0] + "." + parts[1];
}

/// "cp312" -> "3.12", "cp313t" -> "3.13t"; "" for other words.
std::string version_of(std::string_view tag) {
  if (!tag.starts_with("cp") || tag.size() < 4) return {};
  const bool threads = tag.ends_with('t');
  const auto digits = tag.substr(2, tag.size() - 2 - (threads ? 1 : 0));
  if (!is_digits(digits) || digits.size() < 2) return {};
  return fmt::format("{}.{}{}", digits.substr(0, 1), digits.substr(1), threads ? "t" : "");
}

/// Is the Python "3.12" at least the one of a tag such as "cp39"?
bool at_least(std::string_view python, std::string_view tag) {
  const auto have = parse_version_number(python.substr(0, python.find('t')));
  const auto need = parse_version_number(version_of(tag));
  return have && need && *have >= *need;
}

/// The Pythons that extension modules of the artifact are for: "3.12"; empty = its name and its files say none.
std::vector<std::string> pythons_of(const Artifact& artifact) {
  std::vector<std::string> found;
  const auto add = [&](std::string version) {
    if (!version.empty() && std::ranges::count(found, version) == 0) found.push_back(std::move(version));
  };
  for (const auto& abi : artifact.name.abi) add(version_of(abi));
  if (found.empty() && !artifact.provenance.python.empty()) add(artifact.provenance.python);
  if (found.empty())
    for (const auto& member : artifact.members) add(version_of(member.python_abi));
  return found;
}

/// Why the Python "3.12" is none that pip would install a wheel without modules of one Python into; "" = it is one.
std::string no_module_misfit(const Artifact& artifact, const std::string& python) {
  const auto version = python.substr(0, python.find('t'));
  const auto have = parse_version_number(version);
  const auto& tags = artifact.name.python;
  const auto takes = [&](const std::string& tag) {
    return takes_without_abi(read_python_tag(tag), have->major(), have->minor());
  };
  if (have && !tags.empty() && std::ranges::none_of(tags, takes))
    return fmt::format("it is Python {}, the wheel is for {}", python, join(tags, ", "));
  if (artifact.wheel != nullptr && !artifact.wheel->requires_python.empty() &&
      specifiers_allow_minor(artifact.wheel->requires_python, version) == std::optional(false))
    return fmt::format("it is Python {}, Requires-Python says {}", python, artifact.wheel->requires_python);
  return {};
}

/// Machines that the native files are for, in the words of uname.
std::vector<std::string> machines_of(const Artifact& artifact) {
  std::vector<std::string> found;
  for (const auto& member : artifact.members)
    if (is_native(member.path) && member.elf && std::ranges::count(found, member.elf->machine) == 0)
      found.push_back(member.elf->machine);
  return found;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line = join(split_words(text), " ");
  if (line.size() > k_longest_line) line = line.substr(0, k_longest_line) + "...";
  return line;
}

std::string ChildOutput::raw(std::string_view key) const {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (const auto found = line->find(key); found != line->end() && found->is_string())
      return found->get<std::string>();
  return {};
}

std::string ChildOutput::text(std::string_view key) const { return one_line(raw(key)); }

bool ChildOutput::truth(std::string_view key) const {
  return std::ranges::any_of(lines, [&](const Json& line) { return truth_at(line, key); });
}

ChildPythons::ChildPythons(TemporaryFolder folder, const VerifyOptions& options, CommandRunner& runner)
    : m_folder(std::move(folder)),
      m_tree(m_folder.path() / "tree"),
      m_home(m_folder.path() / "home"),
      m_options(&options),
      m_runner(&runner) {}

Result<ChildPythons> ChildPythons::unpack(const Artifact& artifact, const VerifyOptions& options,
                                          CommandRunner& runner) {
  const auto parent = options.child_environment.find("TMPDIR");
  TRY_ASSIGN(auto folder, own_temporary(parent == options.child_environment.end() ? "/tmp" : fs::path(parent->second),
                                        "sagekit-verify"));
  ChildPythons pythons(std::move(folder), options, runner);
  TRY(make_directories(pythons.m_home));
  if (options.trial) {
    pythons.m_tree = artifact.root;
    return pythons;
  }
  TRY(make_directories(pythons.m_tree));
  TRY(write_files(artifact, pythons.m_tree));
  return pythons;
}

Result<ChildOutput> ChildPythons::ask(const fs::path& python, std::string_view script, const Json& order,
                                      double seconds, const std::map<std::string, std::string>& environment) const {
  Command command;
  // It starts in a folder of its own: a relative path is the caller's.
  command.argv = {python.has_parent_path() ? fs::absolute(python).string() : python.string(),
                  "-I",
                  "-c",
                  std::string(k_child_prelude) + std::string(script),
                  m_tree.string(),
                  json_ascii(order)};
  command.environment = m_options->child_environment;
  for (const auto& [name, value] : environment) command.environment[name] = value;
  command.working_directory = m_home;
  command.timeout_seconds = seconds;
  command.separate_stderr = true;
  TRY_ASSIGN(auto result, m_runner->run(command));
  ChildOutput said;
  for (const auto& line : split(result.output, '\n'))
    if (auto object = parse_json(line); object.is_object()) said.lines.push_back(std::move(object));
  said.result = std::move(result);
  return said;
}

std::string python_misfit(const Artifact& artifact, const ChildOutput& said) {
  const auto python = said.text("python");
  if (python.empty()) return "it is no Python that starts";
  const bool windows = std::ranges::any_of(artifact.members, [](const MemberFacts& member) { return !!member.pe; });
  if (windows && said.text("system") != "win32") return "its modules are built for Windows";
  const auto machines = machines_of(artifact);
  const auto machine = said.text("machine");
  if (!machines.empty() && !machine.empty() && std::ranges::count(machines, machine) == 0)
    return fmt::format("it is for {}, the modules are for {}", machine, join(machines, " and "));
  const bool musl = std::ranges::any_of(
      artifact.members, [](const MemberFacts& member) { return member.elf && member.elf->libc == "musl"; });
  if (musl && said.text("libc").starts_with("glibc")) return "it uses glibc, the modules are for musl";
  const auto& abi = artifact.name.abi;
  if (std::ranges::count(abi, "abi3") > 0) {
    const auto& tags = artifact.name.python;
    if (std::ranges::any_of(tags, [&](const std::string& tag) { return at_least(python, tag); }))
      return python.ends_with('t') ? "it is free-threaded, which has no stable ABI" : "";
    return fmt::format("it is Python {}, the wheel is for {} and newer", python, join(tags, ", "));
  }
  const auto wanted = pythons_of(artifact);
  if (wanted.empty()) return no_module_misfit(artifact, python);
  if (std::ranges::count(wanted, python) > 0) return {};
  return fmt::format("it is Python {}, the modules are for {}", python, join(wanted, ", "));
}

std::string torch_misfit(const Artifact& artifact, const ChildOutput& said) {
  if (const auto why = said.text("no_torch"); !why.empty())
    return fmt::format("that Python cannot import torch ({})", why);
  const auto declared = declared_torch(artifact);
  const auto torch = said.text("torch"), cuda = said.text("torch_cuda");
  if (const auto least = promised_from(artifact); least && !torch.empty()) {
    const auto has = parse_version_number(first_two(torch));
    if (has && *has < *least)
      return fmt::format("that Python has torch {}, the wheel is for {} and newer", torch, to_string(*least));
    return {};
  }
  if (torch.empty() || !declared) return {};
  if (first_two(torch) != first_two(declared->version))
    return fmt::format("that Python has torch {}, {} says {}", torch, declared->from, declared->version);
  if (!declared->cuda.empty() && !cuda.empty() && first_two(cuda) != first_two(declared->cuda))
    return fmt::format("that Python's torch is for CUDA {}, {} says {}", cuda, declared->cuda_from, declared->cuda);
  return {};
}

bool holds_package(const Artifact& artifact, std::string_view dotted) {
  const auto package = std::string(dotted.substr(0, dotted.find('.')));
  return std::ranges::any_of(artifact.members, [&](const MemberFacts& member) {
    const auto path = installed_path(member.path);
    return path.starts_with(package + "/") || path.starts_with(package + ".");
  });
}

}  // namespace sagekit
