# SAGEKIT_PORTABLE: what is built needs nothing but a glibc of SAGEKIT_GLIBC_FLOOR and libgcc, and runs wherever it is copied to.
#
# Every third-party library is linked into libsagekit, hidden, and the C++ runtime into it and the program (docs/decisions/0025). The
# linker sees stubs of the C library that end at the floor (scripts/packaging).
option(SAGEKIT_PORTABLE "Link everything in; needs SAGEKIT_THIRD_PARTY, a folder that scripts/packaging/third_party made" OFF)
set(SAGEKIT_FMT fmt::fmt)
if(NOT SAGEKIT_PORTABLE)
  return()
endif()
set(SAGEKIT_GLIBC_FLOOR 2.28 CACHE STRING "The oldest glibc that what is built runs on")
set(SAGEKIT_THIRD_PARTY "" CACHE PATH "Static libraries made by scripts/packaging/third_party")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

list(PREPEND CMAKE_PREFIX_PATH "${SAGEKIT_THIRD_PARTY}")
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Boost_USE_STATIC_LIBS ON)
set(SAGEKIT_FMT fmt::fmt-header-only)  # Debian has no archive of it

# The stubs, and what answers for the little that is newer.
set(stubs "${PROJECT_BINARY_DIR}/glibc-${SAGEKIT_GLIBC_FLOOR}")
file(MAKE_DIRECTORY "${stubs}")
set(packaging "${PROJECT_SOURCE_DIR}/scripts/packaging")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${packaging}/glibc_compat.c" "${packaging}/link_stubs.py")
execute_process(COMMAND "${CMAKE_C_COMPILER}" -O2 -fPIC -Wall -Wextra -Werror -ffunction-sections -fdata-sections -c
                        "${packaging}/glibc_compat.c" -o "${stubs}/glibc_compat.o" COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE "${stubs}/libglibc_compat.a")
execute_process(COMMAND "${CMAKE_AR}" rcsD "${stubs}/libglibc_compat.a" "${stubs}/glibc_compat.o" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${Python3_EXECUTABLE}" "${packaging}/link_stubs.py" --compiler "${CMAKE_C_COMPILER}" --floor
                        "${SAGEKIT_GLIBC_FLOOR}" --compat "${stubs}/libglibc_compat.a" -o "${stubs}" COMMAND_ERROR_IS_FATAL ANY)

add_compile_options(-ffunction-sections -fdata-sections)
add_link_options("-L${stubs}" -static-libstdc++ "LINKER:--gc-sections" "LINKER:--as-needed" "LINKER:-z,relro,-z,now" "LINKER:-z,text"
                 "LINKER:-z,defs"
                 "LINKER:--strip-all" "LINKER:--wrap=__libc_start_main")
# libsagekit exports what is sagekit's and nothing that it is made of: a process may well have another libstdc++ or OpenSSL, and code
# that was compiled for programs may be part of a library only where nothing of it can be replaced.
set(SAGEKIT_EXPORTS "${stubs}/libsagekit.map")
file(CONFIGURE OUTPUT "${SAGEKIT_EXPORTS}" CONTENT "{\n  global:\n    extern \"C++\" {\n      sagekit::*;\n      typeinfo?for?sagekit::*;\n\
      typeinfo?name?for?sagekit::*;\n      vtable?for?sagekit::*;\n    };\n  local: *;\n};\n")

# sagekit_link_instead_of_loading(TARGET): the functions that the room's LazyLibrary is asked for are linked in. Their names are
# read out of the sources.
function(sagekit_link_instead_of_loading target)
  file(GLOB_RECURSE users CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/src/*_library.hpp")
  set(declarations "")
  set(rows "")
  foreach(file IN LISTS users)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "^  SAGEKIT_LAZY\\([a-z0-9_]+, [A-Za-z0-9_]+\\);$")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*, ([A-Za-z0-9_]+)\\);" "\\1" symbol "${line}")
      string(APPEND declarations "extern \"C\" char ${symbol}[];\n")
      string(APPEND rows "    {\"${symbol}\", ${symbol}},\n")
    endforeach()
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/linked_libraries.cpp.in" "${CMAKE_CURRENT_BINARY_DIR}/linked_libraries.cpp" @ONLY)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/core/src/support/lazy_library.cpp" PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties("${CMAKE_CURRENT_BINARY_DIR}/linked_libraries.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/linked_libraries.cpp")
  set(libraries "")
  foreach(library curl ssl crypto zip archive microhttpd bz2 lzma zstd lz4 nettle z)
    find_library(SAGEKIT_STATIC_${library} ${library} REQUIRED)
    list(APPEND libraries "${SAGEKIT_STATIC_${library}}")
  endforeach()
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
