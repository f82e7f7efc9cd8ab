#include "spec/name_readings.hpp"

#include <algorithm>

namespace sagekit {

std::vector<WheelNameReading> name_readings(const WheelName& name, std::span<const NamingScheme> schemes,
                                            const std::vector<const Spec*>& specs) {
  std::vector<NamingScheme> rows(schemes.begin(), schemes.end());
  for (const auto* spec : specs)
    for (const auto& row : spec->schemes)
      if (std::ranges::find(rows, row.name, &NamingScheme::name) == rows.end()) rows.push_back(row);
  auto reader = WheelNameReader::make(naming_schemes(rows));
  if (!reader) reader = WheelNameReader::make(naming_schemes());  // what is no row was said where it was given
  return reader->read(name);
}

WheelNameReading agreed_reading(std::span<const WheelNameReading> readings) {
  auto said = readings.front();
  for (const auto& other : readings) {
    // 2.9 alone and 2.9 with all later ones are two things.
    if (other.torch != said.torch || other.torch_min != said.torch_min) said.torch.clear(), said.torch_min.clear();
    if (other.cuda != said.cuda) said.cuda.clear();
    if (other.cxx11_abi != said.cxx11_abi) said.cxx11_abi.reset();
    if (other.arches != said.arches) said.arches.clear();
    said.default_arches = said.default_arches && other.default_arches;
    said.ptx_unsaid = said.ptx_unsaid || other.ptx_unsaid;
    if (other.revision != said.revision) said.revision.clear();
    if (other.date != said.date) said.date.clear();
    if (other.scheme != said.scheme) said.scheme.clear();
    if (other.unread != said.unread) said.unread.clear();
  }
  return said;
}

}  // namespace sagekit
