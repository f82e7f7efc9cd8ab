#include "resolve/judge.hpp"

#include "pypa/requirement_reader.hpp"
#include "resolve/marker.hpp"
#include "resolve/rulings.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using Kind = TorchTrait::Kind;

std::string torch_text(const Target& target) {
  const std::string local = target.torch_cuda.empty()     ? ""
                            : target.torch_cuda == "none" ? "+cpu"
                                                          : "+cu" + without_dots(target.torch_cuda);
  return target.torch + (target.torch.find('+') == std::string::npos ? local : "");
}

/// A nightly's C++ ABI is that of its day.
bool is_nightly(std::string_view version) {
  const auto parsed = PythonRelease::parse(version);
  return parsed && parsed->dev >= 0;
}

Ruling judge_torch(const Traits& traits, const Target& target) {
  const TorchTrait& torch = traits.torch;
  if (torch.kind == Kind::none) return good("it uses no torch library");
  // Without a torch only a wheel that needs none runs, and a name seldom says that it does.
  if (target.has_torch == false && torch.kind == Kind::unsaid && !torch.measured)
    return unknown("RES205", "there is no torch, and nobody says whether it needs one", needs_file(traits));
  if (target.has_torch == false)
    return refused("RES115", fmt::format("there is no torch in {}",
                                         target.interpreter.empty() ? "that Python" : target.interpreter.string()));
  if (target.torch.empty())
    return unknown("RES205", "it is not known which torch the machine has", "--for torch=2.9.1+cu130");
  if (target.torch_cuda == "none")
    return refused("RES106", fmt::format("torch {} there is built without CUDA", target.torch));
  if (!torch.missing_symbol.empty())
    return refused("RES105",
                   fmt::format("torch {} lacks a function that it calls ({})", target.torch, torch.missing_symbol));
  const std::string have = minor_of(target.torch), want = minor_of(torch.version);
  switch (torch.kind) {
    case Kind::unsaid:
      return unknown(
          "RES205",
          torch.measured ? "it uses torch's C++, and nobody says of which torch"
                         : "nobody says for which torch it was built",
          torch.measured ? "its maker: a pin in Requires-Dist, or the torch in its name" : needs_file(traits));
    case Kind::none: break;
    case Kind::at_least: {
      const auto least = PythonRelease::parse(torch.version), here = PythonRelease::parse(target.torch);
      if (!least || !here)
        return unknown("RES205",
                       fmt::format("versions of torch cannot be compared: {} and {}", torch.version, target.torch),
                       "--for torch=2.9.1+cu130");
      if (*here >= *least)
        return good(fmt::format("torch's stable interface from {} on ({})", torch.version, torch.from));
      if (is_nightly(target.torch) && number(have) >= number(want))
        return unknown(
            "RES205",
            fmt::format("it needs torch {} or newer, and whether the nightly {} has all of that is not known",
                        torch.version, target.torch),
            "a release of torch");
      return refused("RES105", fmt::format("it needs torch {} or newer ({}), the machine has {}", torch.version,
                                           torch.from, target.torch));
    }
    case Kind::exact:
    case Kind::minor: {
      const bool nightly = is_nightly(target.torch) || is_nightly(torch.version);
      if (number(have) != number(want) || have.empty())
        return refused(
            "RES105",
            fmt::format(
                "it is built for torch {} ({}), the machine has {}: torch's C++ ABI changes with each minor release",
                torch.version, torch.from, target.torch));
      if (nightly && PythonRelease::parse(torch.version) !=
                         std::optional(PythonRelease::parse(target.torch).value_or(PythonRelease{}).without_local()))
        return unknown(
            "RES205",
            fmt::format("it is built for torch {} ({}), and whether the nightly {} has the same C++ ABI is not known",
                        torch.version, torch.from, target.torch),
            "a release of torch, or a wheel built for this very nightly (--or-build)");
      return good(fmt::format("for torch {} ({})", torch.version, torch.from));
    }
  }
  return good();
}

Ruling judge_requirements(const Traits& traits, const Target& target) {
  for (const auto& line : traits.requires_dist) {
    if (requirement_name(line) != "torch" || target.torch.empty()) continue;
    if (marker_holds(line, target) != std::optional(true)) continue;
    const auto allowed = specifiers_allow(requirement_range(line), torch_text(target));
    if (!allowed)
      return unknown("RES209",
                     fmt::format("its Requires-Dist cannot be compared with torch {}: {}", torch_text(target), line),
                     "its maker");
    if (!*allowed)
      return refused("RES109",
                     fmt::format("its Requires-Dist is {}, the machine has torch {}: an installer would replace torch",
                                 line, torch_text(target)));
  }
  return good();
}

/// install takes no --for torch: where there is none, it is told what helps it, too.
Ruling unknown_cuda(const Target& target) {
  if (target.has_torch == false)
    return unknown("RES206", "there is no torch, so that it is not known which CUDA it would run beside",
                   "install torch there first");
  return unknown(
      "RES206", "it is not known which CUDA the machine's torch has",
      target.torch.empty() ? "--for torch=2.9.1+cu130" : fmt::format("torch={}+cu130 in --for", target.torch));
}

/// Of a wheel whose modules were read, and load no CUDA runtime of their own: what compiled them is no promise.
Ruling unsaid_cuda(const Traits& traits) {
  std::set<std::string> releases;
  for (const auto& row : traits.runs_on.value_or(std::vector<RunsOn>()))
    if (!row.toolkit.empty()) releases.insert(row.toolkit);
  return unknown(
      "RES206",
      "nobody says for which torch's CUDA it was built" +
          (releases.empty() ? "" : "; its code is of CUDA " + join({releases.begin(), releases.end()}, ", ")),
      what_shows(traits));
}

Ruling judge_cuda(const Traits& traits, const Target& target) {
  if (traits.cuda.empty() && traits.cuda_runtimes.empty()) {
    if (!traits.native || (traits.modules_read && traits.runs_on && traits.runs_on->empty())) return good();
    if (target.torch_cuda.empty()) return unknown_cuda(target);
    if (!traits.modules_read) return unknown("RES206", "nobody says for which CUDA it was built", needs_file(traits));
    return unsaid_cuda(traits);
  }
  if (target.torch_cuda.empty()) {
    if (traits.torch.kind == Kind::none && traits.cuda_runtimes.empty()) return good();
    return unknown_cuda(target);
  }
  if (!traits.cuda_runtimes.empty()) {
    const auto here = std::to_string(leading_number(target.torch_cuda));
    const auto has = fmt::format("it has modules for CUDA {}", join(traits.cuda_runtimes, ", "));
    if (!contains(traits.cuda_runtimes, here) && !contains(traits.cuda_runtimes, "others"))
      return refused("RES106", fmt::format("{}, the machine's torch is for CUDA {}", has, target.torch_cuda));
    return unknown("RES206",
                   fmt::format("{}, and which it loads beside torch for CUDA {} is not known", has, target.torch_cuda),
                   what_shows(traits));
  }
  if (leading_number(traits.cuda) != leading_number(target.torch_cuda))
    return refused("RES106", fmt::format("it is built for CUDA {} ({}), the machine's torch for CUDA {}", traits.cuda,
                                         traits.cuda_from, target.torch_cuda));
  return good(fmt::format("CUDA {} ({})", traits.cuda, traits.cuda_from));
}

std::string gpu_text(const Gpu& gpu) {
  return gpu.name.empty() ? to_string(gpu.capability) : fmt::format("{} ({})", gpu.name, to_string(gpu.capability));
}

/// Is a driver at least another? One that is said by its branch alone counts by that.
bool reaches(const std::string& driver, const std::string& least) {
  if (driver.find('.') == std::string::npos) return leading_number(driver) >= leading_number(least);
  return number(driver) >= number(least);
}

/// What the driver must be, and whether the machine's is. Under WSL the driver is Windows'.
Ruling judge_driver(const Target& target, const Gpu& gpu, std::string least, const std::string& toolkit, bool ptx) {
  const bool windows = target.platform.starts_with("win") || target.wsl;
  const std::string first = first_driver_of(gpu.capability).on(windows);
  if (!gpu.driver.empty() && !first.empty() && !reaches(gpu.driver, first))
    return refused("RES108", fmt::format("{} needs driver {} or newer for any code, the machine has {}", gpu_text(gpu),
                                         first, gpu.driver));
  const auto need = [&](const std::string& cuda, bool compiles) {
    return driver_for(cuda.find('.') == std::string::npos ? cuda + ".0" : cuda, compiles).on(windows);
  };
  if (!toolkit.empty() && (least.empty() || target.wsl)) least = need(toolkit, ptx);
  const std::string what = toolkit.empty() ? "its code" : fmt::format("{} of CUDA {}", ptx ? "PTX" : "code", toolkit);
  if (least.empty()) {
    if (toolkit.empty()) return good();
    return unknown("RES208", fmt::format("which driver {} needs is not known", what), "a newer sagekit");
  }
  if (!gpu.driver.empty()) {
    if (reaches(gpu.driver, least)) return good();
    return refused("RES108", fmt::format("{} needs driver {} or newer, the machine has {}", what, least, gpu.driver));
  }
  // A torch that works there had machine code of its own CUDA loaded by that driver, which knows the GPU.
  const bool has_cuda = !target.torch_cuda.empty() && target.torch_cuda != "none";
  const std::string shown = has_cuda ? std::max(need(target.torch_cuda, false), first) : "";
  if (!shown.empty() && reaches(shown, least)) return good();
  return unknown("RES208", fmt::format("{} needs driver {} or newer, and the machine's is not known", what, least),
                 "--for driver=" + least);
}

/// A GPU of the past has a row only where code for it was found; what could not be read may hold some. Where the CUDA
/// of its system decides whether a GPU loads another's code, a row says so of code that was read.
bool lacks_old_code(const std::vector<RunsOn>& table, Capability gpu) {
  const auto& models = gpu_data().models;
  const auto known = std::ranges::find(models, gpu, &GpuModels::capability);
  const auto unread = [&models](const RunsOn& row) {
    const auto own = std::ranges::find(models, row.capability, &GpuModels::capability);
    return row.verdict == RunVerdict::unknown && (own == models.end() || own->shares_code_from.empty());
  };
  return known != models.end() && known->legacy && !table.empty() && std::ranges::none_of(table, unread);
}

Ruling judge_by_table(const Traits& traits, const Target& target, const Gpu& gpu) {
  const auto row = std::ranges::find(*traits.runs_on, gpu.capability, &RunsOn::capability);
  if (row == traits.runs_on->end() && lacks_old_code(*traits.runs_on, gpu.capability))
    return refused("RES107", fmt::format("it has no code for {} ({})", gpu_text(gpu), traits.runs_on_from));
  if (row == traits.runs_on->end())
    return unknown("RES207", fmt::format("what it does on {} is not known ({})", gpu_text(gpu), traits.runs_on_from),
                   traits.modules_read ? what_shows(traits) : needs_file(traits));
  if (row->verdict == RunVerdict::no)
    return refused("RES107", fmt::format("it does not run on {}{}{}", gpu_text(gpu), row->reason.empty() ? "" : ": ",
                                         row->reason));
  if (row->verdict != RunVerdict::yes && row->verdict != RunVerdict::jit)
    return unknown("RES207",
                   fmt::format("on {} it runs {}: {}", gpu_text(gpu),
                               row->verdict == RunVerdict::part ? "in part" : "perhaps", row->reason),
                   what_shows(traits));
  auto ruling = judge_driver(target, gpu, row->driver, row->toolkit.empty() ? traits.cuda : row->toolkit,
                             row->verdict == RunVerdict::jit);
  if (ruling.fit != Fit::fits) return ruling;
  // Where no module is called, as where Triton compiles at the first call, the row says what runs.
  const bool other = row->modules.empty() && !row->reason.empty();
  ruling.sass = row->verdict == RunVerdict::yes && !other;
  ruling.facts.push_back(
      other ? fmt::format("on {}: {}", gpu_text(gpu), row->reason)
            : fmt::format("{} for {} ({})", ruling.sass ? "machine code" : "PTX", gpu_text(gpu), traits.runs_on_from));
  return ruling;
}

/// Only names: "sm120" does not tell whether sm_120a is meant, which no other GPU of its major runs.
Ruling judge_by_arches(const Traits& traits, const Target& target, const Gpu& gpu) {
  bool ptx = false, same_major = false;
  for (const auto& arch : traits.arches) {
    const Arch code{arch.capability, arch.suffix};
    if (arch.capability == gpu.capability || (arch.has_suffix && code_runs_on(code, gpu.capability))) {
      auto ruling = judge_driver(target, gpu, "", traits.cuda, false);
      if (ruling.fit == Fit::fits)
        ruling.facts.push_back(fmt::format("code for {} ({})", gpu_text(gpu), traits.arches_from));
      return ruling;
    }
    same_major |= !arch.has_suffix && code_runs_on({arch.capability, ArchSuffix::none}, gpu.capability);
    // +PTX is plain PTX, beside code with a suffix, too.
    ptx |= (arch.ptx || traits.ptx_unsaid) && ptx_reaches({arch.capability, ArchSuffix::none}, gpu.capability);
  }
  std::string list;
  for (const auto& arch : traits.arches) list += (list.empty() ? "" : ", ") + to_string(arch);
  if (!same_major && !ptx && std::ranges::count(traits.without_modules, gpu.capability) == 0)
    return refused("RES107", fmt::format("it has code for {} ({}), none of which runs on {}", list, traits.arches_from,
                                         gpu_text(gpu)));
  return unknown("RES207",
                 fmt::format("it has code for {} ({}), and whether that runs on {} its name does not tell", list,
                             traits.arches_from, gpu_text(gpu)),
                 needs_file(traits));
}

Ruling judge_gpu(const Traits& traits, const Target& target) {
  if (!target.gpus) return unknown("RES207", "it is not known which GPU the machine has", "--for gpu=\"RTX 5090\"");
  // One that compiles when it is called needs a GPU then, and others none at all.
  if (!traits.may_have_gpu_code())
    return unknown("RES207", "it holds no GPU code: what it compiles when it is called is not known",
                   what_shows(traits));
  if (target.gpus->empty()) return refused("RES107", "the machine has no NVIDIA GPU");
  Ruling all = good();
  Ruling doubt = good();
  for (const auto& gpu : *target.gpus) {
    Ruling one = traits.runs_on ? judge_by_table(traits, target, gpu)
                 : traits.arches.empty()
                     ? unknown("RES207", "nobody says for which GPUs it has code", needs_file(traits))
                     : judge_by_arches(traits, target, gpu);
    if (one.fit == Fit::refused) return one;
    if (one.fit == Fit::unknown && doubt.fit == Fit::fits) doubt = one;
    all.sass &= one.sass;
    all.facts.insert(all.facts.end(), one.facts.begin(), one.facts.end());
  }
  return doubt.fit == Fit::unknown ? doubt : all;
}

Ruling judge_cxx11(const Traits& traits, const Target& target) {
  if (!traits.cxx11_abi || traits.torch.kind == Kind::none || traits.torch.kind == Kind::at_least) return good();
  if (!target.cxx11_abi)
    return unknown("RES212", "which C++ string ABI the machine's torch has is not known", "--for torch=2.9.1+cu130");
  if (*traits.cxx11_abi == *target.cxx11_abi) return good();
  return refused("RES112", fmt::format("it is built with _GLIBCXX_USE_CXX11_ABI={}, the machine's torch with {}",
                                       int{*traits.cxx11_abi}, int{*target.cxx11_abi}));
}

Ruling judge_itself(const Traits& traits, const Candidate& candidate) {
  if (!traits.contradiction.empty()) return refused("RES113", traits.contradiction);
  if (!traits.damage.empty()) return refused("RES114", traits.damage);
  if (!candidate.hash_fault.empty())
    return refused("RES114",
                   fmt::format("nothing can show that it is the file that was published: {}", candidate.hash_fault));
  if (candidate.yanked)
    return refused("RES111", candidate.yanked_reason.empty() ? "it was yanked from the index"
                                                             : "it was yanked: " + candidate.yanked_reason);
  if (candidate.manifest && candidate.manifest->verdict == WheelVerdict::fail)
    return refused("RES114", "its release manifest says that verification failed it");
  return traits.experimental.empty() ? good() : good("experimental: " + traits.experimental);
}

}  // namespace

std::string minor_of(std::string_view version) {
  const auto parts = split(version, '.');
  if (parts.size() < 2 || !is_digits(parts[0])) return {};
  const auto digits = parts[1].substr(0, parts[1].find_first_not_of("0123456789"));
  return digits.empty() ? std::string() : parts[0] + "." + digits;
}

Ruling judge_tags(const Traits& traits, const Candidate& candidate, const Target& target) {
  Ruling ruling = judge_itself(traits, candidate);
  if (ruling.fit != Fit::refused) ruling = judge_platform(traits, target);
  if (ruling.fit != Fit::refused) ruling = judge_python(traits, candidate, target);
  return ruling;
}

Ruling judge_wheel_for(const Traits& traits, const Candidate& candidate, const Target& target) {
  Ruling sum;
  std::optional<Ruling> doubt;
  const auto with = [&](Ruling one) {
    if (one.fit == Fit::unknown && !doubt) doubt = one;
    if (one.fit == Fit::fits) sum.facts.insert(sum.facts.end(), one.facts.begin(), one.facts.end());
    sum.sass &= one.sass;
    if (one.fit == Fit::refused) sum = std::move(one);
    return sum.fit != Fit::refused;
  };
  const bool kept = with(judge_itself(traits, candidate)) && with(judge_platform(traits, target)) &&
                    with(judge_python(traits, candidate, target)) && with(judge_torch(traits, target)) &&
                    with(judge_cxx11(traits, target)) && with(judge_requirements(traits, target)) &&
                    with(judge_cuda(traits, target)) && with(judge_gpu(traits, target));
  if (!kept) return sum;
  if (!doubt) {
    sum.reason = join(sum.facts, "; ");
    return sum;
  }
  doubt->facts = std::move(sum.facts);
  doubt->sass = sum.sass;
  return *doubt;
}

Rank::Rank(const Traits& traits, const Ruling& ruling, const Target& target)
    : m_sass(ruling.sass),
      m_date(traits.date),
      m_version(PythonRelease::parse(traits.name.version)),
      m_build(traits.name.build),
      m_file(traits.name.file_name()) {
  const auto said = PythonRelease::parse(traits.torch.version), here = PythonRelease::parse(target.torch);
  const bool same = said && here && *said == here->without_local();
  m_torch = traits.torch.kind == Kind::exact      ? (same ? 4 : 3)
            : traits.torch.kind == Kind::minor    ? 3
            : traits.torch.kind == Kind::at_least ? 2
                                                  : 1;
  m_cuda = traits.cuda == target.torch_cuda ? 1 : 0;
  m_final = !m_version || !m_version->is_prerelease();
  m_python = std::ranges::any_of(traits.name.abi, [](const std::string& abi) { return abi.starts_with("cp"); });
}

bool Rank::operator>(const Rank& other) const {
  // As installers have it: a pre-release where no release serves.
  if (m_final != other.m_final) return m_final;
  if (m_torch != other.m_torch) return m_torch > other.m_torch;
  if (m_cuda != other.m_cuda) return m_cuda > other.m_cuda;
  if (m_sass != other.m_sass) return m_sass > other.m_sass;
  // A date is a truth about the source; the version number of upstream has named six of them.
  if (!m_date.empty() && !other.m_date.empty() && m_date != other.m_date) return m_date > other.m_date;
  if (m_version && other.m_version && *m_version != *other.m_version) return *m_version > *other.m_version;
  if (m_python != other.m_python) return m_python > other.m_python;
  if (m_build != other.m_build) return version_less(other.m_build, m_build);
  return m_file < other.m_file;
}

}  // namespace sagekit
