#include "resolve/name_facts.hpp"

#include "spec/agreed_reading.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

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
  const auto said = agreed_reading(readings);
  facts.torch = torch_of(said);
  facts.cuda = said.cuda;
  facts.cxx11_abi = said.cxx11_abi;
  facts.arches = said.arches;
  facts.ptx_unsaid = said.ptx_unsaid;
  facts.date = said.date;
  facts.commit = said.revision;
  if (readings.size() > 1)
    facts.notes.push_back("its name can be read in several ways: sagekit name " + name.file_name());
  return facts;
}

}  // namespace sagekit
