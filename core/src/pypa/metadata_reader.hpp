#pragma once
// The text files of a dist-info folder: METADATA and WHEEL ("Name: value" headers) and RECORD (CSV).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Headers in file order, as the core metadata specification writes them (RFC 822 style, UTF-8).
struct HeaderText {
  struct Field {
    std::string name, value;  ///< continuation lines joined with a newline
  };
  std::vector<Field> fields;
  std::string body;                 ///< after the first empty line: the description
  std::vector<std::string> faults;  ///< lines that are no header, bytes that are not UTF-8

  /// Values of a header; names compare without case.
  std::vector<std::string> all(std::string_view name) const;
  /// The value when there is exactly one.
  std::optional<std::string> one(std::string_view name) const;
};

HeaderText read_headers(std::string_view text);

/// One row of RECORD ("Recording installed packages"): path, "sha256=..." or empty, size or empty.
struct RecordRow {
  std::string path, hash, size;
};

struct RecordText {
  std::vector<RecordRow> rows;
  std::vector<std::string> faults;  ///< rows without three fields, bad quotes, bytes that are not UTF-8
};

RecordText read_record(std::string_view text);

}  // namespace sagekit
