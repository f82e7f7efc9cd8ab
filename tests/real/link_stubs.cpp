// Makes link stubs and export lists of real libraries, for link_stub_compare.py.
//
//   link_stubs stubs OUT LIBRARY...            a stub of each library into the folder OUT
//   link_stubs wheel WHEEL OUT MEMBER...       the same from members of a wheel, reading as little as possible
//   link_stubs list LIBRARY                    its exports as text
//   link_stubs whole WHEEL OUT MEMBER...       stubs of members that are read whole, and checked against RECORD
//
// WHEEL may be an address; SSL_CERT_FILE names the CA bundle and https_proxy the proxy, if there are any.
#include "index/curl_client.hpp"
#include "index/remote_exports.hpp"
#include "index/remote_file.hpp"
#include "support/file.hpp"

#include <sagekit/index.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

int report(const Error& error) {
  std::cerr << error.code << ": " << error.message << "\n";
  return 1;
}

int write_stub(const ExportList& exports, const fs::path& path) {
  const auto done = write_file_atomic(path, link_stub(exports));
  return done ? 0 : report(done.error());
}

int from_libraries(const fs::path& out, const std::vector<std::string>& libraries) {
  for (const auto& library : libraries) {
    const auto file = MappedFile::open(library);
    if (!file) return report(file.error());
    const auto exports = read_exports(file->bytes());
    if (!exports) return report(exports.error());
    if (write_stub(*exports, out / fs::path(library).filename()) != 0) return 1;
  }
  return 0;
}

Result<ExportList> read_whole(RemoteWheel& wheel, const std::string& name) {
  const auto content = wheel.read(name);
  if (!content) return std::unexpected(content.error());
  return read_exports(*content);
}

Result<std::unique_ptr<RandomAccess>> open_file(std::unique_ptr<HttpClient>& http, const std::string& path) {
  if (!path.starts_with("http")) return open_local_file(path);
  IndexSettings settings;
  if (const char* const bundle = std::getenv("SSL_CERT_FILE")) settings.ca_bundle = bundle;
  if (const char* const proxy = std::getenv("https_proxy")) settings.proxy = proxy;
  auto client = make_http_client(settings);
  if (!client) return std::unexpected(client.error());
  http = std::move(*client);
  return open_remote_file(*http, path, 0, fs::temp_directory_path() / "link_stubs_whole.whl");
}

int from_wheel(const std::string& path, const fs::path& out, const std::vector<std::string>& names, bool whole) {
  std::unique_ptr<HttpClient> http;
  auto file = open_file(http, path);
  if (!file) return report(file.error());
  auto wheel = RemoteWheel::open(std::move(*file));
  if (!wheel) return report(wheel.error());
  std::cout << "opened: " << wheel->bytes_read() << " bytes, " << wheel->requests() << " requests\n";
  for (const auto& name : names) {
    const ZipMember* const member = wheel->find(name);
    if (member == nullptr) return report({ErrorKind::no_match, "none", "no member " + name, {}, {}});
    const std::uint64_t bytes = wheel->bytes_read();
    const std::uint64_t requests = wheel->requests();
    const auto start = std::chrono::steady_clock::now();
    const auto exports = whole ? read_whole(*wheel, name) : read_exports(*wheel, *member);
    const auto spent = std::chrono::steady_clock::now() - start;
    if (!exports) return report(exports.error());
    std::cout << name << ": " << exports->symbols.size() << " symbols, " << wheel->bytes_read() - bytes << " bytes of "
              << member->compressed_size << ", " << wheel->requests() - requests << " requests, "
              << std::chrono::duration_cast<std::chrono::milliseconds>(spent).count() << " ms\n";
    if (write_stub(*exports, out / fs::path(name).filename()) != 0) return 1;
  }
  std::cout << "all: " << wheel->bytes_read() << " bytes, " << wheel->requests() << " requests\n";
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() >= 3 && arguments[0] == "stubs")
    return from_libraries(arguments[1], {arguments.begin() + 2, arguments.end()});
  if (arguments.size() >= 3 && (arguments[0] == "wheel" || arguments[0] == "whole"))
    return from_wheel(arguments[1], arguments[2], {arguments.begin() + 3, arguments.end()}, arguments[0] == "whole");
  if (arguments.size() == 2 && arguments[0] == "list") {
    const auto file = MappedFile::open(arguments[1]);
    if (!file) return report(file.error());
    const auto exports = read_exports(file->bytes());
    if (!exports) return report(exports.error());
    std::cout << export_text(*exports);
    return 0;
  }
  std::cerr << "usage: see the first lines of link_stubs.cpp\n";
  return 2;
}
