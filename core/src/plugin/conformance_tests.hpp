#pragma once
// The tests themselves: each looks at one plugin in this process.

#include <sagekit/plugin_conformance.hpp>

#include <filesystem>
#include <string>

namespace sagekit {

/// Passed with a remark, or failed with the reason.
struct ConformanceAnswer {
  bool passed = false;
  std::string message;
};

struct ConformanceRule {
  ConformanceTest test;
  ConformanceAnswer (*run)(const std::filesystem::path& file);
};

const std::vector<ConformanceRule>& conformance_rules();

}  // namespace sagekit
