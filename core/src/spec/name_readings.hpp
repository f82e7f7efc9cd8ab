#pragma once
// A name read by all rows that there are, and what its readings say all the same.

#include <sagekit/naming.hpp>

#include <span>
#include <vector>

namespace sagekit {

/// A name read by all rows that may have written it: `schemes`, which stand before others of their names, the specs',
/// the built-in and the published ones.
std::vector<WheelNameReading> name_readings(const WheelName& name, std::span<const NamingScheme> schemes,
                                            const std::vector<const Spec*>& specs);

/// Fact by fact what all of `readings`, one at least, say of one name: what two see differently it does not say.
WheelNameReading agreed_reading(std::span<const WheelNameReading> readings);

}  // namespace sagekit
