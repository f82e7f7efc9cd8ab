#pragma once
// What is needed beside a wheel, for people: plan and doctor say the same.

#include "console.hpp"

#include <sagekit/spec.hpp>

#include <string>

namespace sagekit::host {

std::string companion_text(const Console& console, const Companion& companion);

}  // namespace sagekit::host
