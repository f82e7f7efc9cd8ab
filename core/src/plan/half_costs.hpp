#pragma once
// What a compile step is expected to take where its GPU code is made by itself, an architecture at a time.

#include <sagekit/spec.hpp>

#include <cstddef>

namespace sagekit {

/// What is left of a step for so many architectures when its GPU code is made: cudafe++ and the host compiler.
Cost host_cost(const Cost& compile, std::size_t archs);

/// GPU code of such a step for one of them; `shimmed`: with a device-only header.
Cost device_cost(const Cost& compile, std::size_t archs, bool shimmed);

}  // namespace sagekit
