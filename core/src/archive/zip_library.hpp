#pragma once
// libzip, loaded when the first archive is written: it brings all of libcrypto, a millisecond of every start. Never
// linked; the one place in core that includes it.

#include <sagekit/error.hpp>

#include <zip.h>

namespace sagekit {

/// The functions that are used, under their names without "zip_".
struct ZipLibrary {
  decltype(&::zip_open) open = nullptr;
  decltype(&::zip_discard) discard = nullptr;
  decltype(&::zip_close) close = nullptr;
  decltype(&::zip_strerror) strerror = nullptr;
  decltype(&::zip_source_function) source_function = nullptr;
  decltype(&::zip_source_free) source_free = nullptr;
  decltype(&::zip_file_add) file_add = nullptr;
  decltype(&::zip_set_file_compression) set_file_compression = nullptr;
  decltype(&::zip_file_set_dostime) file_set_dostime = nullptr;
  decltype(&::zip_file_set_external_attributes) file_set_external_attributes = nullptr;
  decltype(&::zip_error_init_with_code) error_init_with_code = nullptr;
  decltype(&::zip_error_strerror) error_strerror = nullptr;
  decltype(&::zip_error_fini) error_fini = nullptr;
};

/// libzip, loaded once for the process. Thread-safe. PKG002 (machine): it is not there.
Result<const ZipLibrary*> zip_library();

}  // namespace sagekit
