add_library(sagekit_warnings INTERFACE)
if(NOT SAGEKIT_DEVELOPER)  # who installs it can mend nothing, and looking for them is a fortieth of the work
  return()
endif()
target_compile_options(
  sagekit_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                             -Woverloaded-virtual -Wnull-dereference -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees null dereferences and dangling pointers inside libstdc++ and fmt at -O2 that are not there.
  target_compile_options(sagekit_warnings INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # std::ranges::stable_sort of libstdc++ 12 calls what libstdc++ 12 deprecates.
  target_compile_options(sagekit_warnings INTERFACE -Wno-deprecated-declarations)
endif()
