// Libraries to link modules for Windows against, by what the real ones in the index's wheels export.
#include "elf/dll_exports.hpp"
#include "index/remote_exports.hpp"
#include "spec/symbol_lists.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/open_wheel.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/torch_stubs.hpp"
#include "toolchain/wheel_choice.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// C functions alone: what C++ exports begins with '?', and nothing on the stable interface asks for it.
DllExports c_functions(DllExports exports) {
  std::erase_if(exports.names, [](const std::string& name) { return name.starts_with('?'); });
  return exports;
}

Status stage_dll(Fetch& fetch, const std::string& file, const DllExports& exports, LockedTree& tree) {
  return stage_link_stub(fetch, file, export_text(exports), link_stub(exports), tree);
}

/// CUDA's runtime of the release that is needed, whatever torch's own wheel has.
Status stage_runtime(Fetch& fetch, LockedTree& tree) {
  TRY_ASSIGN(const auto cuda, parse_version_number(fetch.need.cuda));
  const auto& rows = recipes().windows.runtimes;
  const auto row = std::ranges::find(rows, cuda.major(), &WindowsWheels::Runtime::cuda_major);
  if (row == rows.end())
    return fail(ErrorKind::machine, "PRV002",
                fmt::format("no package is known of CUDA {} for Windows", fetch.need.cuda));
  TRY_ASSIGN(const auto page, project_page(fetch, row->project));
  TRY_ASSIGN(const auto* pin, fetch.pin(row->project));
  TRY_ASSIGN(const auto range, parse_version_range("==" + fetch.need.cuda + ".*"));
  const auto choices = wheels_for(page, fetch.need.platform, range);
  if (pin == nullptr && choices.empty())
    return fail(ErrorKind::machine, "PRV002",
                fmt::format("the package index has no {} {} for {}", row->project, range.text, fetch.need.platform));
  WheelChoice choice;
  if (pin == nullptr) {
    choice = choices.front();
  } else {
    TRY_ASSIGN(choice, pinned_wheel(page, *pin));
  }
  TRY_ASSIGN(auto opened, open_wheel(fetch, choice.file, row->project, choice.name.version, pin));
  const auto* library = opened.wheel.find(row->library);
  if (library == nullptr)
    return fail(ErrorKind::failed, "PRV008", fmt::format("{} has no {}", choice.file.name, row->library),
                "report it: this package is made otherwise than sagekit knows");
  TRY_ASSIGN(const auto exports, in_file(choice.file.name, read_dll_exports(opened.wheel, *library, fetch.stop)));
  tree.files.push_back(std::move(opened.made_of));
  return stage_dll(fetch, after_last(row->library, '/'), exports, tree);
}

}  // namespace

Status stage_windows_libraries(Fetch& fetch, RemoteWheel& torch, LockedTree& tree) {
  std::vector<std::string> known;
  for (const auto& library : recipes().windows.libraries) {
    const auto* member = torch.find("torch/lib/" + library);
    const bool first = library == recipes().windows.libraries.front();
    if (member == nullptr && first)
      return fail(ErrorKind::failed, "PRV008", fmt::format("{} has no torch/lib/{}", fetch.need.torch, library),
                  "report it: this torch is made otherwise than sagekit knows");
    DllExports exports{library, {}};
    if (member != nullptr) {
      TRY_ASSIGN(exports, read_dll_exports(torch, *member, fetch.stop));
      exports = c_functions(std::move(exports));
    } else {
      TRY_ASSIGN(const auto version, parse_version_number(fetch.need.torch));
      exports.names = torch_shims_until(version);
      std::erase_if(exports.names, [&](const auto& name) { return std::ranges::binary_search(known, name); });
    }
    if (first) known = exports.names;
    TRY(stage_dll(fetch, library, exports, tree));
  }
  return stage_runtime(fetch, tree);
}

}  // namespace sagekit
