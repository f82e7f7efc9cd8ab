#pragma once
// The one place that makes VerifiedBuild and VerifiedWheel. Only the room verify includes it, after a report passed.

#include <sagekit/verify.hpp>

#include <utility>

namespace sagekit {

struct Verification {
  static VerifiedBuild build(CellBuild build, WheelReport report) { return {std::move(build), std::move(report)}; }
  static VerifiedWheel wheel(std::filesystem::path file, std::string name, WheelReport report) {
    return {std::move(file), std::move(name), std::move(report)};
  }
};

}  // namespace sagekit
