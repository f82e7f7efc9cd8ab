# sagekit_embed_text(TARGET SYMBOL FILE [NAMESPACE ns])
#
# Compiles the text of FILE into TARGET as `extern const std::string_view ns::SYMBOL` (namespace sagekit unless said
# otherwise). The file is read when it changes, at build time. Run as a script (cmake -P), this file writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" text)
  set(delimiter "sagekit_text")
  string(FIND "${text}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${INPUT} holds the end mark of its own raw string")
  endif()
  file(WRITE "${OUTPUT}" "// Written by EmbedText.cmake from ${NAME}.\n#include <string_view>\nnamespace ${NAMESPACE} {\n"
                         "extern const std::string_view ${SYMBOL};\nconst std::string_view ${SYMBOL} = R\"${delimiter}(${text})${delimiter}\";\n"
                         "}  // namespace ${NAMESPACE}\n")
  return()
endif()

set(SAGEKIT_EMBED_TEXT "${CMAKE_CURRENT_LIST_FILE}")

function(sagekit_embed_text target symbol file)
  cmake_parse_arguments(EMBED "" "NAMESPACE" "" ${ARGN})
  if(NOT EMBED_NAMESPACE)
    set(EMBED_NAMESPACE sagekit)
  endif()
  get_filename_component(input "${file}" ABSOLUTE)
  get_filename_component(name "${file}" NAME)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_${symbol}.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${input}" "-DOUTPUT=${output}" "-DNAME=${name}" "-DSYMBOL=${symbol}"
            "-DNAMESPACE=${EMBED_NAMESPACE}" -P "${SAGEKIT_EMBED_TEXT}"
    DEPENDS "${input}" "${SAGEKIT_EMBED_TEXT}"
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
