#include "index/system_certificates.hpp"

namespace sagekit {

std::filesystem::path system_certificates(const std::filesystem::path& root) {
  for (const char* const place : {"etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
                                  "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
                                  "etc/pki/tls/certs/ca-bundle.crt",                   // RHEL 7 and before
                                  "etc/ssl/ca-bundle.pem",                             // SUSE
                                  "etc/ssl/cert.pem",                                  // Alpine
                                  "etc/ssl/certs"}) {                                  // hashed names
    std::error_code error;
    if (auto path = root / place; std::filesystem::exists(path, error)) return path;
  }
  return {};
}

}  // namespace sagekit
