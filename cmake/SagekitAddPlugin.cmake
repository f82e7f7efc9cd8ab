# sagekit_add_plugin(NAME SPEC plugin.toml [RULES rules.cpp])
#
# Makes the plugin sagekit-NAME.so: the spec's bytes and, with RULES, the judge that SAGEKIT_RULES names. The target is
# sagekit-NAME; it goes to lib/sagekit/plugins below the build folder and below the install prefix. The same function
# builds sagekit's own plugins and, after find_package(sagekit), anyone's.
#
# The target check-NAME builds the plugin, runs the conformance kit on it and shows what it plans:
# `cmake --build build --target check-NAME`.
#
# sagekit_add_plugin_test(NAME): a ctest that runs the conformance kit on it.

# The program to check plugins with: what is being built, else what is installed, else "".
function(sagekit_program variable)
  foreach(program sagekit_host sagekit::sagekit)
    if(TARGET ${program})
      set(${variable} ${program} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${variable} "" PARENT_SCOPE)
endfunction()

function(sagekit_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 PLUGIN "" "SPEC;RULES" "")
  if(NOT name MATCHES "^[a-z][a-z0-9-]*$")
    message(FATAL_ERROR "sagekit_add_plugin: \"${name}\" is no plugin name: lower-case letters, digits and dashes")
  endif()
  if(NOT PLUGIN_SPEC OR PLUGIN_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sagekit_add_plugin(${name} SPEC plugin.toml [RULES rules.cpp]) was called with: ${ARGN}")
  endif()
  set(target "sagekit-${name}")

  # The spec is read while configuring: no Python, no tool that a plugin author might lack.
  get_filename_component(spec "${PLUGIN_SPEC}" ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${spec}")
  file(READ "${spec}" SPEC_BYTES HEX)
  if(SPEC_BYTES STREQUAL "")
    message(FATAL_ERROR "sagekit_add_plugin: ${spec} is empty")
  endif()
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," SPEC_BYTES "${SPEC_BYTES}")
  string(REGEX REPLACE "('[^,]+,'[^,]+,'[^,]+,'[^,]+,'[^,]+,'[^,]+,'[^,]+,'[^,]+,)" "\\1\n" SPEC_BYTES "${SPEC_BYTES}")

  # Diagnostics name the file as its author knows it; the path of the build machine stays out of the plugin.
  file(RELATIVE_PATH SPEC_NAME "${CMAKE_SOURCE_DIR}" "${spec}")
  if(SPEC_NAME MATCHES "^\\.\\./" OR SPEC_NAME MATCHES "[\"\\\\*?]")
    set(SPEC_NAME "plugin.toml")
  endif()

  # With rules the author has a C++ compiler, and maybe no C compiler.
  set(RULES_DECLARATION "")
  set(RULES_FUNCTION "NULL")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(extension "c")
  if(PLUGIN_RULES)
    if(NOT "CXX" IN_LIST languages)
      # CMake lets no function enable a language.
      message(FATAL_ERROR "sagekit_add_plugin(${name} ... RULES ${PLUGIN_RULES}): rules are C++, and this project has no C++ compiler; "
                          "write project(... LANGUAGES CXX)")
    endif()
    set(RULES_DECLARATION "void sagekit_plugin_rules(const sagekit_artifact* artifact, const sagekit_report* report);\n")
    set(RULES_FUNCTION "sagekit_plugin_rules")
  endif()
  if(PLUGIN_RULES OR NOT "C" IN_LIST languages)
    set(extension "cpp")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}-descriptor")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin_descriptor.c.in" "${folder}/descriptor.${extension}" @ONLY)
  # Hidden visibility is not enough: templates of std are exported all the same.
  file(CONFIGURE OUTPUT "${folder}/exports.map" CONTENT "{ global: sagekit_plugin; local: *; };\n")

  if(NOT SAGEKIT_PLUGIN_OUTPUT_DIRECTORY)
    set(SAGEKIT_PLUGIN_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/sagekit/plugins")
  endif()
  add_library(${target} MODULE "${folder}/descriptor.${extension}" ${PLUGIN_RULES})
  target_link_libraries(${target} PRIVATE sagekit::plugin)
  if(PLUGIN_RULES)
    target_compile_features(${target} PRIVATE cxx_std_17)
  endif()
  target_link_options(${target} PRIVATE "LINKER:--version-script=${folder}/exports.map" "LINKER:-z,relro,-z,now")
  set_target_properties(
    ${target}
    PROPERTIES PREFIX ""
               SUFFIX ".so"
               C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               LIBRARY_OUTPUT_DIRECTORY "${SAGEKIT_PLUGIN_OUTPUT_DIRECTORY}"
               LINK_DEPENDS "${folder}/exports.map")
  # A fixed place, whatever the distribution's libdir: sagekit looks in lib/sagekit/plugins beside its bin folder.
  install(TARGETS ${target} LIBRARY DESTINATION lib/sagekit/plugins)

  sagekit_program(sagekit)
  if(sagekit)
    add_custom_target(
      check-${name}
      COMMAND $<TARGET_FILE:${sagekit}> plugin check $<TARGET_FILE:${target}>
      COMMAND $<TARGET_FILE:${sagekit}> --plugin $<TARGET_FILE:${target}> plan
      DEPENDS ${target}
      USES_TERMINAL VERBATIM)
    if(sagekit STREQUAL "sagekit_host")
      add_dependencies(check-${name} sagekit_host)
    endif()
  endif()
endfunction()

function(sagekit_add_plugin_test name)
  sagekit_program(sagekit)
  if(NOT sagekit)
    message(WARNING "sagekit_add_plugin_test(${name}): no sagekit program to check it with, so it is not checked")
    return()
  endif()
  add_test(NAME plugin.${name} COMMAND $<TARGET_FILE:${sagekit}> plugin check $<TARGET_FILE:sagekit-${name}>)
  set_tests_properties(plugin.${name} PROPERTIES LABELS plugin TIMEOUT 120)
endfunction()
