#include "resolve/name_facts.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using Kind = TorchTrait::Kind;

TorchTrait torch_of(const WheelNameReading& reading) {
  if (!reading.torch_min.empty()) return {Kind::at_least, reading.torch_min, "its name"};
  if (reading.torch.empty()) return {};
  return {std::ranges::count(reading.torch, '.') > 1 ? Kind::exact : Kind::minor, reading.torch, "its name"};
}

}  // namespace

NameFacts name_facts(const WheelName& name, const WheelNameReader& reader) {
  NameFacts facts;
  const auto readings = reader.read(name);
  const WheelNameReading& first = readings.front();
  facts.torch = torch_of(first);
  facts.cuda = first.cuda;
  facts.cxx11_abi = first.cxx11_abi;
  facts.arches = first.arches;
  facts.ptx_unsaid = first.ptx_unsaid;
  facts.date = first.date;
  facts.commit = first.revision;
  // What two readings see differently the name does not say.
  for (const auto& other : readings) {
    const TorchTrait torch = torch_of(other);
    if (torch.kind != facts.torch.kind || torch.version != facts.torch.version) facts.torch = {};
    if (other.cuda != facts.cuda) facts.cuda.clear();
    if (other.cxx11_abi != facts.cxx11_abi) facts.cxx11_abi.reset();
    if (other.arches != facts.arches) facts.arches.clear();
    facts.ptx_unsaid = facts.ptx_unsaid || other.ptx_unsaid;
  }
  if (readings.size() > 1)
    facts.notes.push_back("its name can be read in several ways: sagekit name " + name.file_name());
  return facts;
}

}  // namespace sagekit
