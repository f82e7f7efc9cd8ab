#pragma once
// Mangled C++ names for people.

#include <string>
#include <string_view>

namespace sagekit {

/// The words of a mangled name: "c10::detail::torchCheckFail" of _ZN3c106detail14torchCheckFailEPKcS2_jRKSs; the name
/// itself where there are none. Parameters stay out: a full demangler's output can be of any size, and these names come
/// out of anybody's wheels.
std::string readable_name(std::string_view symbol);

/// "c10::Error::what (_ZNK3c105Error4whatEv)", or the name alone.
std::string name_for_people(std::string_view symbol);

}  // namespace sagekit
