#include "archive/zip_library.hpp"

namespace sagekit {

ZipLibrary::ZipLibrary() : library(SAGEKIT_LIBZIP) {}

Result<const ZipLibrary*> zip_library() { return load_once<ZipLibrary>("PKG002", "install libzip"); }

}  // namespace sagekit
