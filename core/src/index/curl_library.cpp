#include "index/curl_library.hpp"

#include <dlfcn.h>

#include <string>

namespace sagekit {

namespace {

std::unexpected<Error> missing(std::string why) {
  return fail(ErrorKind::machine, "IDX001", std::move(why), "apt-get install libcurl4");
}

}  // namespace

Result<CurlLibrary> load_curl(const char* name) {
  // Never closed: it keeps threads and exit handlers of its own.
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return missing(std::string(name) + " is not on this machine");
  CurlLibrary curl;
  const char* lacking = nullptr;
  const auto find = [&]<class Function>(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(::dlsym(library, symbol));
    if (function == nullptr) lacking = symbol;
  };
  find(curl.global_init, "curl_global_init");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_reset, "curl_easy_reset");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_perform, "curl_multi_perform");
  find(curl.multi_poll, "curl_multi_poll");
  find(curl.multi_wakeup, "curl_multi_wakeup");
  find(curl.multi_info_read, "curl_multi_info_read");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  if (lacking != nullptr) return missing(std::string(name) + " is too old: it has no " + lacking);
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return missing(std::string(name) + " does not start");
  return curl;
}

Result<const CurlLibrary*> curl_library() {
  static const Result<CurlLibrary> k_library = load_curl("libcurl.so.4");
  if (!k_library) return std::unexpected(k_library.error());
  return &*k_library;
}

}  // namespace sagekit
