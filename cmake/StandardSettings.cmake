# INTERFACE target linked PRIVATE by every target of ours, never by third-party code.
add_library(sagekit_settings INTERFACE)
target_compile_features(sagekit_settings INTERFACE cxx_std_23)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Sources of a target are compiled as one: what they include and instantiate is most of the work. Names in anonymous
# namespaces are therefore unique within a room. OFF for tools that look at one source by itself (the preset tidy).
option(SAGEKIT_UNITY "Compile several sources as one" ON)
set(CMAKE_UNITY_BUILD ${SAGEKIT_UNITY})
set(SAGEKIT_UNITY_SOURCES 40 CACHE STRING "So many sources as one; fewer where an edit must be answered soon (the preset dev)")
set(CMAKE_UNITY_BUILD_BATCH_SIZE ${SAGEKIT_UNITY_SOURCES})

# GCC collects garbage before the first half gigabyte of a unit is there: an eighth of its time for memory that every machine has.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sagekit_settings INTERFACE "SHELL:--param ggc-min-heapsize=524288")
endif()

# ccache where there is one, unless a launcher is given.
find_program(SAGEKIT_CCACHE ccache)
if(SAGEKIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${SAGEKIT_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${SAGEKIT_CCACHE}")
endif()

# What a newcomer runs and what is installed lie in the same shape: bin/, lib/, lib/sagekit/plugins/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# Only the program looks beside itself; the library's own libraries are the system's. Set while building too: CMake's padding
# would leave empty run paths, which mean the current folder.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "")
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "" FORCE)

target_compile_options(sagekit_settings INTERFACE "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(SAGEKIT_SANITIZERS)
  target_compile_options(sagekit_settings INTERFACE "-fsanitize=${SAGEKIT_SANITIZERS}" -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer)
  target_link_options(sagekit_settings INTERFACE "-fsanitize=${SAGEKIT_SANITIZERS}")
endif()
if(SAGEKIT_COVERAGE)
  target_compile_options(sagekit_settings INTERFACE --coverage)
  target_link_options(sagekit_settings INTERFACE --coverage)
endif()
