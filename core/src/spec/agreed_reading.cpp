#include "spec/agreed_reading.hpp"

namespace sagekit {

WheelNameReading agreed_reading(std::span<const WheelNameReading> readings) {
  auto said = readings.front();
  for (const auto& other : readings) {
    // 2.9 alone and 2.9 with all later ones are two things.
    if (other.torch != said.torch || other.torch_min != said.torch_min) said.torch.clear(), said.torch_min.clear();
    if (other.cuda != said.cuda) said.cuda.clear();
    if (other.cxx11_abi != said.cxx11_abi) said.cxx11_abi.reset();
    if (other.arches != said.arches) said.arches.clear();
    said.ptx_unsaid = said.ptx_unsaid || other.ptx_unsaid;
    if (other.revision != said.revision) said.revision.clear();
    if (other.date != said.date) said.date.clear();
    if (other.scheme != said.scheme) said.scheme.clear();
    if (other.unread != said.unread) said.unread.clear();
  }
  return said;
}

}  // namespace sagekit
