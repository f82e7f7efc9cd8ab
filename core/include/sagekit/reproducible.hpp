#pragma once
// Built twice: is it the same?

#include <sagekit/build.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <string>

namespace sagekit {

/// The first file of a cell that is not the same in another build of it, and where: "pkg/_a.so: section .text differs from
/// byte 5 on". "" = every file is the same, and so is the wheel: it depends on nothing else.
SAGEKIT_API Result<std::string> first_difference(const CellBuild& one, const CellBuild& other);

}  // namespace sagekit
