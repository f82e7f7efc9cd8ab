#pragma once
// libmicrohttpd, loaded when somebody serves an index: nothing else needs it. The one place in core that includes it.

#include "support/lazy_library.hpp"

#include <microhttpd.h>

namespace sagekit {

/// The functions that are used, under their names without "MHD_".
struct MicrohttpdLibrary {
  LazyLibrary library{"libmicrohttpd.so.12"};
  SAGEKIT_LAZY(start_daemon, MHD_start_daemon);
  SAGEKIT_LAZY(stop_daemon, MHD_stop_daemon);
  SAGEKIT_LAZY(get_daemon_info, MHD_get_daemon_info);
  SAGEKIT_LAZY(lookup_connection_value, MHD_lookup_connection_value);
  SAGEKIT_LAZY(create_response_from_buffer, MHD_create_response_from_buffer);
  SAGEKIT_LAZY(create_response_from_fd_at_offset64, MHD_create_response_from_fd_at_offset64);
  SAGEKIT_LAZY(add_response_header, MHD_add_response_header);
  SAGEKIT_LAZY(queue_response, MHD_queue_response);
  SAGEKIT_LAZY(destroy_response, MHD_destroy_response);
};

/// libmicrohttpd.so.12, loaded once for the process. REL020 (machine): it is not there. Thread-safe.
Result<const MicrohttpdLibrary*> microhttpd_library();

}  // namespace sagekit
