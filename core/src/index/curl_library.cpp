#include "index/curl_library.hpp"

#include <string>

namespace sagekit {

namespace {

std::unexpected<Error> missing(std::string why) {
  return fail(ErrorKind::machine, "IDX001", std::move(why), "apt-get install libcurl4");
}

}  // namespace

Result<CurlLibrary> load_curl(const char* name) {
  const CurlLibrary curl(name);
  if (!curl.library.fault().empty()) return missing(curl.library.fault());
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return missing(std::string(name) + " does not start");
  return curl;
}

Result<const CurlLibrary*> curl_library() {
  static const Result<CurlLibrary> k_library = load_curl("libcurl.so.4");
  if (!k_library) return std::unexpected(k_library.error());
  return &*k_library;
}

}  // namespace sagekit
