# cmake -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -DC=... -DCXX=... -P install_test.cmake

function(run what)
  cmake_parse_arguments(PARSE_ARGV 1 RUN "" "OUTPUT;EXPECT" "COMMAND")
  execute_process(COMMAND ${RUN_COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT RUN_EXPECT)
    set(RUN_EXPECT 0)
  endif()
  if(NOT status STREQUAL RUN_EXPECT)
    list(JOIN RUN_COMMAND " " line)
    message(FATAL_ERROR "${what}: exit code ${status}, not ${RUN_EXPECT}\n${line}\n${output}${errors}")
  endif()
  message(STATUS "${what}: as expected")
  if(RUN_OUTPUT)
    set(${RUN_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

function(must_contain what text)
  foreach(word IN LISTS ARGN)
    string(FIND "${text}" "${word}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${what} lacks \"${word}\":\n${text}")
    endif()
  endforeach()
endfunction()

# configure(NAME SOURCE_FOLDER): configures and builds against the prefix alone.
function(build_against_prefix name folder)
  set(flags "")
  if(SANITIZERS)
    set(flags "-fsanitize=${SANITIZERS}")
  endif()
  if(COVERAGE)
    string(APPEND flags " --coverage")
  endif()
  run("configuring ${name}" COMMAND "${CMAKE_COMMAND}" -S "${folder}" -B "${WORK}/${name}" -G "${GENERATOR}"
      "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_C_COMPILER=${C}" "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Release
      "-DCMAKE_CXX_FLAGS=${flags}" "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
  run("building ${name}" COMMAND "${CMAKE_COMMAND}" --build "${WORK}/${name}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
run("installing" COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

foreach(
  file
  bin/sagekit
  lib/libsagekit.so
  lib/sagekit/plugins/sagekit-sage2.so
  lib/sagekit/plugins/sagekit-sage3.so
  lib/sagekit/plugins/sagekit-sm121.so
  include/sagekit/plugin.hpp
  include/sagekit/version.hpp
  include/sagekit/plugin/abi.h
  include/sagekit/plugin/rules.hpp
  lib/cmake/sagekit/sagekitConfig.cmake
  lib/cmake/sagekit/sagekitConfigVersion.cmake
  lib/cmake/sagekit/sagekitTargets.cmake
  lib/cmake/sagekit/SagekitAddPlugin.cmake
  lib/cmake/sagekit/plugin_descriptor.c.in)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
file(GLOB_RECURSE files RELATIVE "${prefix}" "${prefix}/*")
foreach(file IN LISTS files)
  if(NOT file MATCHES "^(bin/sagekit$|lib/libsagekit\\.so|lib/sagekit/plugins/sagekit-[a-z0-9-]+\\.so$|include/sagekit/|lib/cmake/sagekit/|share/)")
    message(FATAL_ERROR "${file} was installed and should not be")
  endif()
endforeach()
# What is installed must not know where it was built.
file(GLOB texts "${prefix}/lib/cmake/sagekit/*")
foreach(text IN LISTS texts)
  file(READ "${text}" content)
  string(FIND "${content}" "${BUILD}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${text} names the build folder")
  endif()
endforeach()

set(sagekit "${prefix}/bin/sagekit")
run("its version" COMMAND "${sagekit}" --version)
run("its plugins" COMMAND "${sagekit}" plugin list --json OUTPUT plugins)
must_contain("plugin list" "${plugins}" "\"sage2\"" "\"sage2-stable\"" "\"sage3\"" "\"sm121\"" "${prefix}/lib/sagekit/plugins")
foreach(plugin sage2 sage2-stable sage3 sm121)
  run("checking ${plugin}" COMMAND "${sagekit}" plugin check "${prefix}/lib/sagekit/plugins/sagekit-${plugin}.so")
endforeach()

build_against_prefix(plugin "${SOURCE}/examples/plugin")
set(example "${WORK}/plugin/lib/sagekit/plugins/sagekit-example.so")
run("checking the example" COMMAND "${sagekit}" plugin check "${example}")
run("planning the example" COMMAND "${sagekit}" --plugin "${example}" plan --json OUTPUT plan)
must_contain("the example's plan" "${plan}" "example-cu130-python311" "sagekit_example-1.0.0+cu130-py3-none-linux_x86_64.whl")

# The loop of its author.
run("the author's check" COMMAND "${CMAKE_COMMAND}" --build "${WORK}/plugin" --target check-example OUTPUT checked)
must_contain("check-example" "${checked}" "sagekit-example.so" "example-cu130-python311")

# A plugin with rules, in a project that has no C compiler.
file(MAKE_DIRECTORY "${WORK}/rules source")
configure_file("${SOURCE}/tests/package/rules_plugin/CMakeLists.txt" "${WORK}/rules source/CMakeLists.txt" COPYONLY)
configure_file("${SOURCE}/tests/package/rules_plugin/rules.cpp" "${WORK}/rules source/rules.cpp" COPYONLY)
file(READ "${SOURCE}/examples/plugin/plugin.toml" spec)
string(REPLACE "name = \"example\"" "name = \"judged\"" spec "${spec}")
file(WRITE "${WORK}/rules source/plugin.toml" "${spec}")
build_against_prefix(rules "${WORK}/rules source")
run("testing the plugin with rules" COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/rules" --output-on-failure OUTPUT tests)
must_contain("the plugin's tests" "${tests}" "plugin.judged" "100% tests passed")

# The example with a judge, as docs/plugin-authors.md tells it.
file(COPY "${SOURCE}/examples/plugin/" DESTINATION "${WORK}/judge source")
file(READ "${SOURCE}/examples/plugin/CMakeLists.txt" lists)
string(REPLACE "SPEC plugin.toml)" "SPEC plugin.toml RULES rules.cpp)" lists "${lists}")
file(WRITE "${WORK}/judge source/CMakeLists.txt" "${lists}")
configure_file("${SOURCE}/tests/package/rules_plugin/rules.cpp" "${WORK}/judge source/rules.cpp" COPYONLY)
build_against_prefix(judge "${WORK}/judge source")
run("checking the example with a judge" COMMAND "${sagekit}" plugin check "${WORK}/judge/lib/sagekit/plugins/sagekit-example.so")

build_against_prefix(embed "${SOURCE}/examples/embed")
run("running embed" COMMAND "${WORK}/embed/embed" "${prefix}/lib/sagekit/plugins" "${prefix}/lib/libsagekit.so" OUTPUT embed)
must_contain("embed" "${embed}" "sage2 " "sage3 " "sm121 " "sagekit toolchain fetch --cuda" "elf")
