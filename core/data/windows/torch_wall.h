// No C++ exception of this module leaves it. torch's DLLs are Microsoft's compiler's, and this module is mingw's: each
// has its own exceptions, and one that reaches a frame of the other ends the process. What torch's dispatcher calls is
// what TORCH_BOX makes of a function. Here everything is caught inside, and torch is asked to raise the same words in
// its own way: the caller sees a RuntimeError, as on Linux.
//
// A function that is registered otherwise than by TORCH_BOX is not behind this wall.
#pragma once

#include <torch/csrc/stable/library.h>

#include <cstring>
#include <exception>
#include <type_traits>

namespace sagekit {

using BoxedFunction = void(StableIValue*, std::uint64_t, std::uint64_t);

/// False when the function threw; `words` then has what it said.
template <BoxedFunction* function, std::size_t size>
[[gnu::noinline]] bool runs_to_its_end(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs,
                                       char (&words)[size]) noexcept {
  const char* said = "an exception of unknown type";
  try {
    function(stack, inputs, outputs);
    return true;
  } catch (const std::exception& error) {
    std::strncpy(words, error.what(), size - 1);
    return false;
  } catch (...) {
    std::strncpy(words, said, size - 1);
  }
  return false;
}

/// Holds nothing that would have to be destroyed when torch's exception passes through.
template <BoxedFunction* function>
void walled(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs) {
  char words[2048] = {};
  if (!runs_to_its_end<function>(stack, inputs, outputs, words)) aoti_torch_check(false, "", "", 0, words);
}

}  // namespace sagekit

#undef TORCH_BOX
#define TORCH_BOX(function)                                                                                      \
  ::sagekit::walled<&::torch::stable::detail::boxer<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>, \
                                                    (function)>::boxed_fn>
