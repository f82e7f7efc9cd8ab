#pragma once
// Whether a published wheel has the GPU code that a cell's would have.

#include <sagekit/plan.hpp>
#include <sagekit/release.hpp>

#include <string>

namespace sagekit {

enum class ArchMatch { same, other, unsaid };

struct ArchAnswer {
  ArchMatch match = ArchMatch::same;
  std::string has;  ///< of another set: "9.0", "the default architectures"
  std::string wanted = {};
};

/// By what the wheel says itself, else by its name: one whose scheme would say other architectures than the default
/// ones, and that says none, has the default ones.
ArchAnswer compare_arches(const WheelOrigin& origin, const Cell& cell);

/// Is it for the cell's Python, platform, torch and CUDA, as pip would take it? Of a wheel for any platform none is
/// said.
bool is_for(const ReleasedWheel& wheel, const Cell& cell);
/// May it be, as far as is said?
bool may_be_for(const ReleasedWheel& wheel, const Cell& cell);

}  // namespace sagekit
