#include "resolve/traits.hpp"

#include "inspect/provenance.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/platform_tag.hpp"
#include "pypa/requirement_reader.hpp"
#include "resolve/judge.hpp"
#include "spec/name_readings.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace {

using Kind = TorchTrait::Kind;

Kind kind_of(std::string_view version) { return std::ranges::count(version, '.') > 1 ? Kind::exact : Kind::minor; }

bool is_said(Kind kind) { return kind == Kind::exact || kind == Kind::minor; }

}  // namespace

void state_torch(Traits& traits, TorchTrait torch) {
  TorchTrait& known = traits.torch;
  if (torch.measured) {
    // Symbols tell the kind of use; which release's C++ that is, others say.
    if (torch.kind == Kind::none || torch.kind == Kind::at_least)
      known = std::move(torch);
    else
      known.measured = true, known.missing_symbol = std::move(torch.missing_symbol);
    if (known.kind == Kind::at_least && !known.measured) known.kind = Kind::unsaid;
    return;
  }
  if (torch.kind == Kind::unsaid || known.measured) return;
  if (is_said(known.kind) && is_said(torch.kind) && minor_of(known.version) != minor_of(torch.version) &&
      traits.contradiction.empty())
    traits.contradiction = fmt::format("it contradicts itself: {} says torch {}, {} says {}", known.from, known.version,
                                       torch.from, torch.version);
  if (known.kind == Kind::unsaid || (known.kind == Kind::minor && torch.kind == Kind::exact)) known = std::move(torch);
}

void state_cuda(Traits& traits, const std::string& cuda, const std::string& from) {
  if (cuda.empty()) return;
  if (!traits.cuda.empty() && leading_number(traits.cuda) != leading_number(cuda) && traits.contradiction.empty())
    traits.contradiction =
        fmt::format("it contradicts itself: {} says CUDA {}, {} says {}", traits.cuda_from, traits.cuda, from, cuda);
  if (!traits.cuda.empty() && (traits.cuda.find('.') != std::string::npos || cuda.find('.') == std::string::npos))
    return;
  traits.cuda = cuda;
  traits.cuda_from = from;
}

void state_runtimes(Traits& traits, const std::vector<std::string>& majors) {
  const auto said = std::to_string(leading_number(traits.cuda));
  if (majors.size() > 1 && traits.cuda.empty())
    traits.cuda_runtimes = majors;
  else if (!majors.empty() && !contains(majors, said))
    state_cuda(traits, majors.front(), "the CUDA runtime that it needs");
}

Result<Traits> traits_of(const Candidate& candidate) {
  Traits traits;
  TRY_ASSIGN(traits.name, parse_wheel_name(candidate.file));
  traits.native = !std::ranges::all_of(traits.name.platform, [](const std::string& tag) { return tag == "any"; });
  if (!traits.native) traits.torch = {Kind::none, {}, "its platform tag"};
  return traits;
}

void add_said(Traits& traits, const Candidate& candidate, const WheelNameReader& reader) {
  const auto readings = reader.read(traits.name);
  const auto said = agreed_reading(readings);
  const std::string from(k_said_by_name);
  if (readings.size() > 1)
    traits.notes = {"its name can be read in several ways: sagekit name " + traits.name.file_name()};
  if (traits.native) {
    if (!said.torch_min.empty()) state_torch(traits, {Kind::at_least, said.torch_min, from});
    if (!said.torch.empty()) state_torch(traits, {kind_of(said.torch), said.torch, from});
    state_cuda(traits, said.cuda, from);
    traits.cxx11_abi = said.cxx11_abi;
  }
  traits.arches = said.arches;
  traits.ptx_unsaid = said.ptx_unsaid;
  traits.arches_from = from;
  traits.date = said.date;
  traits.commit = said.revision;
  if (!candidate.manifest) return;
  const auto& manifest = *candidate.manifest;
  if (!manifest.torch.empty()) state_torch(traits, {kind_of(manifest.torch), manifest.torch, "the release manifest"});
  state_cuda(traits, manifest.cuda, "the release manifest");
  if (!manifest.commit.empty()) traits.commit = manifest.commit;
  if (!manifest.arches.empty()) {
    traits.arches = manifest.arches;
    traits.ptx_unsaid = false;
    traits.arches_from = "the release manifest";
  }
  if (!manifest.runs_on.empty()) {
    traits.runs_on = manifest.runs_on;
    traits.runs_on_from = "measured when it was published";
  }
}

void add_metadata(Traits& traits, std::string_view metadata, const std::string& from) {
  const auto headers = read_headers(metadata);
  const auto name = headers.one("Name"), version = headers.one("Version");
  if (!name || !version) {
    traits.damage = fmt::format("its METADATA ({}) has no Name or no Version", from);
    return;
  }
  const auto said = PythonRelease::parse(*version), named = PythonRelease::parse(traits.name.version);
  if (normalized_project(*name) != normalized_project(traits.name.distribution) || !said || said != named) {
    traits.contradiction = fmt::format("its name says {} {}, its METADATA {} {}", traits.name.distribution,
                                       traits.name.version, *name, *version);
    return;
  }
  traits.has_metadata = true;
  traits.requires_dist = headers.all("Requires-Dist");
  traits.requires_python = headers.one("Requires-Python").value_or("");
  // A pin is what its maker built for; a range is only a wish.
  if (const auto pin = pinned_release(traits.requires_dist, "torch"); traits.native && !pin.empty())
    state_torch(traits, {kind_of(pin), pin, "Requires-Dist"});
}

void add_record(Traits& traits, std::string_view provenance) {
  const auto claims = read_provenance(provenance);
  if (!claims) {
    traits.notes.push_back(claims.error().message);
    return;
  }
  if (!claims->torch.empty()) state_torch(traits, {kind_of(claims->torch), claims->torch, "sagekit.json"});
  if (!claims->torch_min.empty()) state_torch(traits, {Kind::at_least, claims->torch_min, "sagekit.json"});
  state_cuda(traits, claims->cuda, "sagekit.json");
  if (!claims->commit.empty()) traits.commit = claims->commit;
  traits.experimental = claims->experimental;
  if (claims->arches && !claims->arches->empty()) {
    traits.arches = *claims->arches;
    traits.ptx_unsaid = false;
    traits.arches_from = "sagekit.json";
  }
}

}  // namespace sagekit
