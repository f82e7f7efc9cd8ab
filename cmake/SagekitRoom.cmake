# sagekit_room(NAME SOURCES a.cpp ... [USES rooms...] [LIBRARIES targets...])
#
# One room of core: a static library of its own, so that a room's tests link that room and what lies below it, and nothing
# else. Third-party libraries are PRIVATE: their headers do not leak into the rooms above.
function(sagekit_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_library(sagekit_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(sagekit_${name} PUBLIC "${PROJECT_SOURCE_DIR}/core/include" "${PROJECT_SOURCE_DIR}/core/src"
                                                    "${PROJECT_BINARY_DIR}/core/include")
  list(TRANSFORM ROOM_USES PREPEND sagekit_)
  target_link_libraries(sagekit_${name} PUBLIC ${ROOM_USES} PRIVATE sagekit_settings sagekit_warnings ${ROOM_LIBRARIES})
endfunction()
