// A torch sysroot out of torch's wheel: headers as they are, libraries as link stubs made from what they export.
#include "environment/version_py.hpp"
#include "index/remote_exports.hpp"
#include "spec/data.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/open_wheel.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/torch_stubs.hpp"
#include "toolchain/wheel_choice.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

struct Opened {
  WheelChoice choice;
  OpenWheel open;
};

Result<Opened> open_pinned(Fetch& fetch, const std::vector<IndexFile>& page, const LockedFile& pin) {
  TRY_ASSIGN(auto choice, pinned_wheel(page, pin));
  TRY_ASSIGN(auto opened, open_wheel(fetch, choice.file, pin.project, fetch.need.torch, &pin));
  return Opened{std::move(choice), std::move(opened)};
}

/// The wheels of one release that could be for the asked CUDA: all Pythons of one index and local version are one
/// build.
std::vector<WheelChoice> one_of_each_build(const std::vector<WheelChoice>& choices, const TreeNeed& need) {
  std::vector<WheelChoice> builds;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& choice : choices) {
    if (!choice.local.empty() && choice.local != "cu" + without_dots(need.cuda)) continue;
    if (seen.emplace(choice.file.index, choice.local).second) builds.push_back(choice);
  }
  return builds;
}

/// Opens the wheel whose version.py says the CUDA that is needed. For Windows any build does: torch's stable interface
/// is the same for every CUDA, and the package index has one without.
Result<Opened> open_torch(Fetch& fetch) {
  const auto& need = fetch.need;
  const auto& project = recipes().torch.project;
  TRY_ASSIGN(const auto page, project_page(fetch, project));
  TRY_ASSIGN(const auto* pin, fetch.pin(project));
  if (pin != nullptr) return open_pinned(fetch, page, *pin);

  TRY_ASSIGN(const auto range, parse_version_range("==" + need.torch));
  std::vector<std::string> others;
  std::optional<Opened> any;
  for (auto& choice : one_of_each_build(wheels_for(page, need.platform, range), need)) {
    TRY_ASSIGN(auto opened, open_wheel(fetch, choice.file, project, need.torch, nullptr));
    TRY_ASSIGN(const auto text, in_file(choice.file.name, opened.wheel.read("torch/version.py", fetch.stop)));
    // Requires-Dist does not tell: torch's aarch64 CPU wheels up to 2.10 list CUDA packages.
    const auto cuda = python_string(text, "cuda");
    if (cuda == need.cuda) return Opened{std::move(choice), std::move(opened)};
    others.push_back(cuda.empty() ? "no CUDA" : "CUDA " + cuda);
    if (!any) any.emplace(Opened{std::move(choice), std::move(opened)});
  }
  if (any && is_windows(need.platform)) return std::move(*any);
  const std::string what = others.empty() ? fmt::format("no torch {} for {}", need.torch, need.platform)
                                          : fmt::format("torch {} for {} built for {}, not for CUDA {}", need.torch,
                                                        need.platform, join(others, ", "), need.cuda);
  const std::string unpack = "unpack that wheel and give its folder with --toolchain folder:DIR";
  const auto own = torch_index(need.cuda);
  const auto& index = fetch.options.index;
  const bool asked = index.index_url == own || std::ranges::count(index.extra_index_urls, own) > 0;
  return fail(
      ErrorKind::machine, "PRV002", "the package index has " + what,
      asked ? unpack : fmt::format("PyTorch's own index has more builds: --extra-index-url {}; or {}", own, unpack));
}

Status stage_headers(Fetch& fetch, RemoteWheel& wheel, const std::vector<std::string>& globs) {
  std::vector<const ZipMember*> wanted;
  for (const auto& member : wheel.members()) {
    if (member.is_folder()) continue;
    if (globs_select(globs, member.name, true) || is_license(wheel, member)) wanted.push_back(&member);
  }
  std::mutex mutex;
  return stage_members(fetch, wheel, wanted, mutex, [&](const ZipMember& member) {
    return is_license(wheel, member) ? license_path(recipes().torch.project, after_last(member.name, '/'))
                                     : member.name;
  });
}

/// Each library as a stub beside the headers, where a real torch has it.
Status stage_stubs(Fetch& fetch, RemoteWheel& wheel, LockedTree& tree) {
  for (const auto& library : recipes().torch.libraries) {
    const auto* member = wheel.find("torch/lib/" + library);
    if (member == nullptr)
      return fail(ErrorKind::failed, "PRV008", fmt::format("{} has no torch/lib/{}", fetch.need.torch, library),
                  "report it: this torch is made otherwise than sagekit knows");
    TRY_ASSIGN(const auto exports, read_exports(wheel, *member, fetch.stop));
    TRY(stage_link_stub(fetch, library, export_text(exports), link_stub(exports), tree));
  }
  return {};
}

}  // namespace

Status stage_link_stub(Fetch& fetch, const std::string& library, const std::string& names, const std::string& stub,
                       LockedTree& tree) {
  LockedExports row{library, sha256_hex(names)};
  if (fetch.pinned != nullptr) {
    const auto pin = std::ranges::find(fetch.pinned->exports, library, &LockedExports::library);
    if (pin == fetch.pinned->exports.end() || pin->sha256 != row.sha256)
      return not_pinned("torch/lib/" + library, "the list of its exported symbols");
  }
  TRY(fetch.stage.add("torch/lib/" + library, stub, false));
  tree.exports.push_back(std::move(row));
  return {};
}

Result<LockedTree> fetch_torch_from_wheels(Fetch& fetch) {
  TRY_ASSIGN(auto torch, open_torch(fetch));
  auto& wheel = torch.open.wheel;
  LockedTree tree;
  tree.kind = TreeKind::torch;
  tree.version = fetch.need.torch;
  tree.cuda = fetch.need.cuda;
  tree.platform = fetch.need.platform;
  tree.source = ToolSource::wheels;
  const auto& name = torch.open.made_of.name;
  const bool windows = is_windows(fetch.need.platform);
  TRY(in_file(name, stage_headers(fetch, wheel, windows ? recipes().windows.files : recipes().torch.files)));
  TRY(fetch.stage.add(wheel.dist_info() + "/RECORD", wheel.record(), false));
  if (windows)
    TRY(stage_windows_libraries(fetch, wheel, tree));
  else
    TRY(in_file(name, stage_stubs(fetch, wheel, tree)));
  tree.files.push_back(std::move(torch.open.made_of));
  return tree;
}

}  // namespace sagekit
