#include "index/curl_library.hpp"

#include "support/lazy_library.hpp"

#include <string>

namespace sagekit {

namespace {

std::unexpected<Error> missing(std::string why) {
  return fail(ErrorKind::machine, "IDX001", std::move(why), "apt-get install libcurl4");
}

}  // namespace

Result<CurlLibrary> load_curl(const char* name) {
  LazyLibrary library(name);
  CurlLibrary curl;
  library.find(curl.global_init, "curl_global_init");
  library.find(curl.version_info, "curl_version_info");
  library.find(curl.easy_init, "curl_easy_init");
  library.find(curl.easy_cleanup, "curl_easy_cleanup");
  library.find(curl.easy_reset, "curl_easy_reset");
  library.find(curl.easy_setopt, "curl_easy_setopt");
  library.find(curl.easy_getinfo, "curl_easy_getinfo");
  library.find(curl.easy_strerror, "curl_easy_strerror");
  library.find(curl.multi_init, "curl_multi_init");
  library.find(curl.multi_cleanup, "curl_multi_cleanup");
  library.find(curl.multi_add_handle, "curl_multi_add_handle");
  library.find(curl.multi_remove_handle, "curl_multi_remove_handle");
  library.find(curl.multi_perform, "curl_multi_perform");
  library.find(curl.multi_poll, "curl_multi_poll");
  library.find(curl.multi_wakeup, "curl_multi_wakeup");
  library.find(curl.multi_info_read, "curl_multi_info_read");
  library.find(curl.slist_append, "curl_slist_append");
  library.find(curl.slist_free_all, "curl_slist_free_all");
  if (!library.fault().empty()) return missing(library.fault());
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return missing(std::string(name) + " does not start");
  return curl;
}

Result<const CurlLibrary*> curl_library() {
  static const Result<CurlLibrary> k_library = load_curl("libcurl.so.4");
  if (!k_library) return std::unexpected(k_library.error());
  return &*k_library;
}

}  // namespace sagekit
