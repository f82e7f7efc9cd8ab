#pragma once
// libarchive, loaded when the first archive is opened: with what it needs itself it is a third of a start. Never
// linked; the one place in core that includes it.

#include "support/lazy_library.hpp"

#include <archive.h>
#include <archive_entry.h>

namespace sagekit {

/// The functions that are used, under their names without "archive_".
struct ArchiveLibrary {
  LazyLibrary library{"libarchive.so.13"};
  SAGEKIT_LAZY(read_new, archive_read_new);
  SAGEKIT_LAZY(read_free, archive_read_free);
  SAGEKIT_LAZY(support_filter_all, archive_read_support_filter_all);
  SAGEKIT_LAZY(support_tar, archive_read_support_format_tar);
  SAGEKIT_LAZY(support_ar, archive_read_support_format_ar);
  SAGEKIT_LAZY(support_cpio, archive_read_support_format_cpio);
  SAGEKIT_LAZY(support_zip, archive_read_support_format_zip);
  SAGEKIT_LAZY(open_memory, archive_read_open_memory);
  SAGEKIT_LAZY(open_filename, archive_read_open_filename);
  SAGEKIT_LAZY(next_header, archive_read_next_header);
  SAGEKIT_LAZY(read_data, archive_read_data);
  SAGEKIT_LAZY(read_data_block, archive_read_data_block);
  SAGEKIT_LAZY(error_string, archive_error_string);
  SAGEKIT_LAZY(format, archive_format);
  SAGEKIT_LAZY(entry_pathname, archive_entry_pathname);
  SAGEKIT_LAZY(entry_filetype, archive_entry_filetype);
  SAGEKIT_LAZY(entry_hardlink, archive_entry_hardlink);
  SAGEKIT_LAZY(entry_symlink, archive_entry_symlink);
  SAGEKIT_LAZY(entry_perm, archive_entry_perm);
};

/// libarchive.so.13, loaded once for the process. Thread-safe. INS005 (machine): it is not there.
Result<const ArchiveLibrary*> archive_library();

}  // namespace sagekit
