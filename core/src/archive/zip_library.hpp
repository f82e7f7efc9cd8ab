#pragma once
// libzip, loaded when the first archive is written: it brings all of libcrypto, a millisecond of every start. Never
// linked; the one place in core that includes it.

#include "support/lazy_library.hpp"

#include <zip.h>

namespace sagekit {

/// The functions that are used, under their names without "zip_".
struct ZipLibrary {
  ZipLibrary();

  LazyLibrary library;
  SAGEKIT_LAZY(open, zip_open);
  SAGEKIT_LAZY(discard, zip_discard);
  SAGEKIT_LAZY(close, zip_close);
  SAGEKIT_LAZY(strerror, zip_strerror);
  SAGEKIT_LAZY(source_function, zip_source_function);
  SAGEKIT_LAZY(source_free, zip_source_free);
  SAGEKIT_LAZY(file_add, zip_file_add);
  SAGEKIT_LAZY(set_file_compression, zip_set_file_compression);
  SAGEKIT_LAZY(file_set_dostime, zip_file_set_dostime);
  SAGEKIT_LAZY(file_set_external_attributes, zip_file_set_external_attributes);
  SAGEKIT_LAZY(error_init_with_code, zip_error_init_with_code);
  SAGEKIT_LAZY(error_strerror, zip_error_strerror);
  SAGEKIT_LAZY(error_fini, zip_error_fini);
};

/// libzip, loaded once for the process. Thread-safe. PKG002 (machine): it is not there.
Result<const ZipLibrary*> zip_library();

}  // namespace sagekit
