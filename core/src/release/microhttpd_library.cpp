#include "release/microhttpd_library.hpp"

#include "support/lazy_library.hpp"

namespace sagekit {

namespace {

Result<MicrohttpdLibrary> load_microhttpd(const char* name) {
  LazyLibrary library(name);
  MicrohttpdLibrary http;
  library.find(http.start_daemon, "MHD_start_daemon");
  library.find(http.stop_daemon, "MHD_stop_daemon");
  library.find(http.get_daemon_info, "MHD_get_daemon_info");
  library.find(http.lookup_connection_value, "MHD_lookup_connection_value");
  library.find(http.create_response_from_buffer, "MHD_create_response_from_buffer");
  library.find(http.create_response_from_fd_at_offset64, "MHD_create_response_from_fd_at_offset64");
  library.find(http.add_response_header, "MHD_add_response_header");
  library.find(http.queue_response, "MHD_queue_response");
  library.find(http.destroy_response, "MHD_destroy_response");
  if (!library.fault().empty())
    return fail(ErrorKind::machine, "REL020", library.fault(),
                "apt-get install libmicrohttpd12, or let any web server serve the folder: the index is plain files");
  return http;
}

}  // namespace

Result<const MicrohttpdLibrary*> microhttpd_library() {
  static const Result<MicrohttpdLibrary> k_library = load_microhttpd("libmicrohttpd.so.12");
  if (!k_library) return std::unexpected(k_library.error());
  return &*k_library;
}

}  // namespace sagekit
