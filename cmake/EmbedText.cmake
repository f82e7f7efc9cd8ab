# sagekit_embed_text(ROOM SYMBOLS pattern FILES files... [TABLE function])
#
# Compiles texts into a room of core, each as `extern const std::string_view sagekit::SYMBOL`, where {} in the pattern is the
# file's name without its ending, and _ for what no name in C++ may have. With TABLE the room also gets `std::span<const EmbeddedText> sagekit::function()`, a row a
# file (support/embedded_text.hpp). Files are read when they change, at build time. Run as a script (cmake -P), this file
# writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${ARGUMENTS}" files)
  set(source "// Written by EmbedText.cmake.\n#include \"support/embedded_text.hpp\"\nnamespace sagekit {\n")
  set(rows "")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    get_filename_component(name "${file}" NAME_WE)
    string(FIND "${text}" ")sagekit_text\"" clash)
    if(NOT clash EQUAL -1)
      message(FATAL_ERROR "${file} holds the end mark of its own raw string")
    endif()
    string(REPLACE "{}" "${name}" symbol "${SYMBOLS}")
    string(MAKE_C_IDENTIFIER "${symbol}" symbol)
    string(APPEND source "extern const std::string_view ${symbol};\n"
                         "constinit const std::string_view ${symbol} = R\"sagekit_text(${text})sagekit_text\";\n")
    string(APPEND rows "      {\"${name}\", ${symbol}},\n")
  endforeach()
  if(TABLE)
    string(APPEND source "std::span<const EmbeddedText> ${TABLE}() {\n  // Here and not outside: filled when first asked for.\n"
                         "  static const EmbeddedText texts[] = {\n${rows}  };\n  return texts;\n}\n")
  endif()
  file(WRITE "${OUTPUT}" "${source}}  // namespace sagekit\n")
  return()
endif()

set(SAGEKIT_EMBED_TEXT "${CMAKE_CURRENT_LIST_FILE}")

function(sagekit_embed_text room)
  cmake_parse_arguments(PARSE_ARGV 1 EMBED "" "SYMBOLS;TABLE" "FILES")
  list(TRANSFORM EMBED_FILES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  string(MAKE_C_IDENTIFIER "${room}_${EMBED_SYMBOLS}" stem)
  set(arguments "${CMAKE_CURRENT_BINARY_DIR}/${stem}.txt")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${stem}.cpp")
  file(CONFIGURE OUTPUT "${arguments}" CONTENT "${EMBED_FILES}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DARGUMENTS=${arguments}" "-DOUTPUT=${output}" "-DSYMBOLS=${EMBED_SYMBOLS}" "-DTABLE=${EMBED_TABLE}"
            -P "${SAGEKIT_EMBED_TEXT}"
    DEPENDS ${EMBED_FILES} "${arguments}" "${SAGEKIT_EMBED_TEXT}"
    COMMENT "Embedding the texts of ${room}"
    VERBATIM)
  target_sources(sagekit_${room} PRIVATE "${output}")
endfunction()
