#pragma once
// The one place in core that includes libfmt.
#include <fmt/format.h>
#include <fmt/ranges.h>
