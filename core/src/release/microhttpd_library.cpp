#include "release/microhttpd_library.hpp"

namespace sagekit {

Result<const MicrohttpdLibrary*> microhttpd_library() {
  return load_once<MicrohttpdLibrary>(
      "REL020",
      "apt-get install libmicrohttpd12, or let any web server serve the folder: the index "
      "is plain files");
}

}  // namespace sagekit
