#pragma once
// libmicrohttpd, loaded when somebody serves an index: nothing else needs it. The one place in core that includes it.

#include <sagekit/error.hpp>

#include <microhttpd.h>

namespace sagekit {

/// The functions that are used, under their names without "MHD_".
struct MicrohttpdLibrary {
  decltype(&::MHD_start_daemon) start_daemon = nullptr;
  decltype(&::MHD_stop_daemon) stop_daemon = nullptr;
  decltype(&::MHD_get_daemon_info) get_daemon_info = nullptr;
  decltype(&::MHD_lookup_connection_value) lookup_connection_value = nullptr;
  decltype(&::MHD_create_response_from_buffer) create_response_from_buffer = nullptr;
  decltype(&::MHD_create_response_from_fd_at_offset64) create_response_from_fd_at_offset64 = nullptr;
  decltype(&::MHD_add_response_header) add_response_header = nullptr;
  decltype(&::MHD_queue_response) queue_response = nullptr;
  decltype(&::MHD_destroy_response) destroy_response = nullptr;
};

/// libmicrohttpd.so.12, loaded once for the process. REL020 (machine): it is not there. Thread-safe.
Result<const MicrohttpdLibrary*> microhttpd_library();

}  // namespace sagekit
