# sagekit_room(NAME [USES rooms...] [LIBRARIES targets...])
#
# One room of core: every source below core/src/NAME as a static library of its own, so that a room's tests link that room
# and what it uses, and nothing else. USES names every room that its sources may include, and tests/layering_test.py holds
# them to it. Third-party libraries are PRIVATE: their headers do not leak into the rooms above.
function(sagekit_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cpp")
  add_library(sagekit_${name} STATIC ${sources})
  target_include_directories(sagekit_${name} PUBLIC "${PROJECT_SOURCE_DIR}/core/include" "${PROJECT_SOURCE_DIR}/core/src"
                                                    "${PROJECT_BINARY_DIR}/core/include")
  list(TRANSFORM ROOM_USES PREPEND sagekit_)
  target_link_libraries(sagekit_${name} PUBLIC ${ROOM_USES} PRIVATE sagekit_settings sagekit_warnings ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY SAGEKIT_ROOMS ${name})
endfunction()
