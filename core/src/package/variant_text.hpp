#pragma once
// The label and the variant.json of a wheel variant (PEP 825, a draft), of what was measured in the wheel.

#include <sagekit/error.hpp>
#include <sagekit/inspect.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/verify.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

inline constexpr std::string_view k_variant_file = "variant.json";

struct VariantMade {
  std::string label;               ///< "cu130_sm120"
  std::string text;                ///< variant.json
  std::vector<std::string> notes;  ///< which GPUs would choose it and cannot run it
};

/// Properties of the namespace nvidia as uv's provider and nvidia-variant-provider read them: the CUDA that the driver
/// must have at least, and each GPU on which `report` says that the wheel runs. `label` "" = one made of them.
/// Errors: RTG007 (usage) no label; RTG009 (failed) the GPU code tells no property.
Result<VariantMade> variant_of(const WheelReport& report, const std::vector<MemberFacts>& members, std::string label);

}  // namespace sagekit
