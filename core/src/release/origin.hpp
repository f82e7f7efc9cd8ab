#pragma once
// What a wheel was made from, as it says itself.

#include "inspect/provenance.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release.hpp>

#include <string>
#include <vector>

namespace sagekit {

/// Those that the tags name one by one: "cp312" -> "3.12", "cp310.cp311-none" -> "3.10", "3.11". Of an abi3 wheel or
/// one for any Python none, for it is not made for some.
std::vector<std::string> named_pythons(const WheelName& name);

/// What a wheel says of itself, and its tags where it has no record. The range that it asks of torch is a wish, kept
/// beside where nothing says a torch.
WheelOrigin origin_of(const WheelName& name, const Provenance& said, const std::vector<std::string>& requires_dist);

/// The Pythons that a wheel is for. One that is for many was still made with some Python, which its record names.
struct ServedPythons {
  std::string only;   ///< "3.12", "3.13t", "3.10, 3.11"
  std::string least;  ///< "3.10": this one and every newer one; both "" = any
};
ServedPythons served_pythons(const ReleasedWheel& wheel);
bool is_for_python(const ReleasedWheel& wheel, const std::string& python);

/// "2.11" says of "2.11.0" what "13" says of "13.0": all that it says is the same. "" says nothing, which is the same
/// only as nothing.
bool says_same(const std::string& said, const std::string& wanted);

/// Does it use no torch and no CUDA where it says none? Its build's record says all, and a wheel for any system has no
/// machine code; of others nobody knows.
bool says_all(const ReleasedWheel& wheel);

/// One for every torch from some version on is for each of them.
bool is_for_torch(const WheelOrigin& origin, const std::string& torch);

}  // namespace sagekit
