#pragma once
// libarchive, loaded when the first archive is opened: with what it needs itself it is a third of a start. Never
// linked; the one place in core that includes it.

#include <sagekit/error.hpp>

#include <archive.h>
#include <archive_entry.h>

namespace sagekit {

/// The functions that are used, under their names without "archive_".
struct ArchiveLibrary {
  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_read_support_filter_all) support_filter_all = nullptr;
  decltype(&::archive_read_support_format_tar) support_tar = nullptr;
  decltype(&::archive_read_support_format_ar) support_ar = nullptr;
  decltype(&::archive_read_support_format_cpio) support_cpio = nullptr;
  decltype(&::archive_read_support_format_zip) support_zip = nullptr;
  decltype(&::archive_read_open_memory) open_memory = nullptr;
  decltype(&::archive_read_open_filename) open_filename = nullptr;
  decltype(&::archive_read_next_header) next_header = nullptr;
  decltype(&::archive_read_data) read_data = nullptr;
  decltype(&::archive_read_data_block) read_data_block = nullptr;
  decltype(&::archive_error_string) error_string = nullptr;
  decltype(&::archive_format) format = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_hardlink) entry_hardlink = nullptr;
  decltype(&::archive_entry_symlink) entry_symlink = nullptr;
  decltype(&::archive_entry_perm) entry_perm = nullptr;
};

/// libarchive.so.13, loaded once for the process. Thread-safe. INS005 (machine): it is not there.
Result<const ArchiveLibrary*> archive_library();

}  // namespace sagekit
