#pragma once
// A name that can be read in several ways: what it says all the same.

#include <sagekit/naming.hpp>

#include <span>

namespace sagekit {

/// Fact by fact what all of `readings`, one at least, say of one name: what two see differently it does not say.
WheelNameReading agreed_reading(std::span<const WheelNameReading> readings);

}  // namespace sagekit
