#pragma once
// libcurl, loaded when the first address is asked for: most commands need no network, and a machine without it can do
// them. Never linked; the one place in core that includes curl.

#include <sagekit/error.hpp>

// The type checks are macros around names that are pointers here.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

namespace sagekit {

/// The functions that are used, under their names without "curl_".
struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

/// Loads `name` and starts it. IDX001 (machine): it is not there, or lacks a function (before 7.68).
Result<CurlLibrary> load_curl(const char* name);

/// libcurl.so.4, loaded once for the process. Thread-safe.
Result<const CurlLibrary*> curl_library();

}  // namespace sagekit
