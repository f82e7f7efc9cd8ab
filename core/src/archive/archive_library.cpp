#include "archive/archive_library.hpp"

#include "support/lazy_library.hpp"

namespace sagekit {

namespace {

Result<ArchiveLibrary> load_archive() {
  LazyLibrary library("libarchive.so.13");
  ArchiveLibrary functions;
  library.find(functions.read_new, "archive_read_new");
  library.find(functions.read_free, "archive_read_free");
  library.find(functions.support_filter_all, "archive_read_support_filter_all");
  library.find(functions.support_tar, "archive_read_support_format_tar");
  library.find(functions.support_ar, "archive_read_support_format_ar");
  library.find(functions.support_cpio, "archive_read_support_format_cpio");
  library.find(functions.support_zip, "archive_read_support_format_zip");
  library.find(functions.open_memory, "archive_read_open_memory");
  library.find(functions.open_filename, "archive_read_open_filename");
  library.find(functions.next_header, "archive_read_next_header");
  library.find(functions.read_data, "archive_read_data");
  library.find(functions.read_data_block, "archive_read_data_block");
  library.find(functions.error_string, "archive_error_string");
  library.find(functions.format, "archive_format");
  library.find(functions.entry_pathname, "archive_entry_pathname");
  library.find(functions.entry_filetype, "archive_entry_filetype");
  library.find(functions.entry_hardlink, "archive_entry_hardlink");
  library.find(functions.entry_symlink, "archive_entry_symlink");
  library.find(functions.entry_perm, "archive_entry_perm");
  if (!library.fault().empty())
    return fail(ErrorKind::machine, "INS005", library.fault(), "apt-get install libarchive13");
  return functions;
}

}  // namespace

Result<const ArchiveLibrary*> archive_library() {
  static const Result<ArchiveLibrary> k_library = load_archive();
  if (!k_library) return std::unexpected(k_library.error());
  return &*k_library;
}

}  // namespace sagekit
