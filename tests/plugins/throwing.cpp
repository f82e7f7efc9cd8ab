// Its rule throws, and SAGEKIT_RULES turns that into a finding.
#include "descriptor.h"

#include <sagekit/plugin/rules.hpp>

#include <stdexcept>

namespace {
void judge(const sagekit::rules::Artifact&, const sagekit::rules::Reporter&) { throw std::runtime_error("thrown"); }
}  // namespace
SAGEKIT_RULES(judge)

extern "C" {
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("throwing"), sagekit_plugin_rules);
}
