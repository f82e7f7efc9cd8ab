#pragma once
// libcurl, loaded when the first address is asked for: most commands need no network, and a machine without it can do
// them. Never linked; the one place in core that includes curl.

#include "support/lazy_library.hpp"

// The type checks are macros around names that are pointers here.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

namespace sagekit {

/// The functions that are used, under their names without "curl_".
struct CurlLibrary {
  explicit CurlLibrary(const char* name) : library(name) {}

  LazyLibrary library;
  SAGEKIT_LAZY(global_init, curl_global_init);
  SAGEKIT_LAZY(version_info, curl_version_info);
  SAGEKIT_LAZY(easy_init, curl_easy_init);
  SAGEKIT_LAZY(easy_cleanup, curl_easy_cleanup);
  SAGEKIT_LAZY(easy_reset, curl_easy_reset);
  SAGEKIT_LAZY(easy_setopt, curl_easy_setopt);
  SAGEKIT_LAZY(easy_getinfo, curl_easy_getinfo);
  SAGEKIT_LAZY(easy_strerror, curl_easy_strerror);
  SAGEKIT_LAZY(multi_init, curl_multi_init);
  SAGEKIT_LAZY(multi_cleanup, curl_multi_cleanup);
  SAGEKIT_LAZY(multi_add_handle, curl_multi_add_handle);
  SAGEKIT_LAZY(multi_remove_handle, curl_multi_remove_handle);
  SAGEKIT_LAZY(multi_perform, curl_multi_perform);
  SAGEKIT_LAZY(multi_poll, curl_multi_poll);
  SAGEKIT_LAZY(multi_wakeup, curl_multi_wakeup);
  SAGEKIT_LAZY(multi_info_read, curl_multi_info_read);
  SAGEKIT_LAZY(slist_append, curl_slist_append);
  SAGEKIT_LAZY(slist_free_all, curl_slist_free_all);
};

/// Loads `name` and starts it. IDX001 (machine): it is not there, or lacks a function (before 7.68).
Result<CurlLibrary> load_curl(const char* name);

/// libcurl.so.4, loaded once for the process. Thread-safe.
Result<const CurlLibrary*> curl_library();

}  // namespace sagekit
