#pragma once
// What a wheel's file name says of torch, CUDA, GPUs and source, in any of the schemes that are in circulation.

#include "resolve/traits.hpp"

namespace sagekit {

struct NameFacts {
  TorchTrait torch;
  std::string cuda;
  std::optional<bool> cxx11_abi;
  std::vector<ArchRequest> arches;
  bool ptx_unsaid = false;  ///< which of them carry PTX
  std::string date, commit;
  std::vector<std::string> notes;  ///< what it says twice and differently, in sentences
};

NameFacts name_facts(const WheelName& name, const WheelNameReader& reader);

}  // namespace sagekit
