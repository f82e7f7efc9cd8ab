#include "archive/zip_library.hpp"

#include "support/lazy_library.hpp"

namespace sagekit {

namespace {

Result<ZipLibrary> load_zip() {
  LazyLibrary library(SAGEKIT_LIBZIP);
  ZipLibrary zip;
  library.find(zip.open, "zip_open");
  library.find(zip.discard, "zip_discard");
  library.find(zip.close, "zip_close");
  library.find(zip.strerror, "zip_strerror");
  library.find(zip.source_function, "zip_source_function");
  library.find(zip.source_free, "zip_source_free");
  library.find(zip.file_add, "zip_file_add");
  library.find(zip.set_file_compression, "zip_set_file_compression");
  library.find(zip.file_set_dostime, "zip_file_set_dostime");
  library.find(zip.file_set_external_attributes, "zip_file_set_external_attributes");
  library.find(zip.error_init_with_code, "zip_error_init_with_code");
  library.find(zip.error_strerror, "zip_error_strerror");
  library.find(zip.error_fini, "zip_error_fini");
  if (!library.fault().empty()) return fail(ErrorKind::machine, "PKG002", library.fault(), "install libzip");
  return zip;
}

}  // namespace

Result<const ZipLibrary*> zip_library() {
  static const Result<ZipLibrary> k_library = load_zip();
  if (!k_library) return std::unexpected(k_library.error());
  return &*k_library;
}

}  // namespace sagekit
