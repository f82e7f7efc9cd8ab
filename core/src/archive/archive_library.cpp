#include "archive/archive_library.hpp"

namespace sagekit {

Result<const ArchiveLibrary*> archive_library() {
  return load_once<ArchiveLibrary>("INS005", "apt-get install libarchive13");
}

}  // namespace sagekit
