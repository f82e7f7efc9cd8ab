#include "index/system_certificates.hpp"

#include "support/file.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace sagekit {

TEST_CASE("system certificates: the place of the system that this is, a bundle before a folder") {
  const auto root = TemporaryFolder::create("/tmp", "sagekit certificates");
  REQUIRE(root);
  CHECK(system_certificates(root->path()).empty());
  const auto add = [&](const std::string& file) {
    std::filesystem::create_directories((root->path() / file).parent_path());
    std::ofstream(root->path() / file) << "PEM";
    return root->path() / file;
  };
  add("etc/ssl/certs/1234.0");
  CHECK(system_certificates(root->path()) == root->path() / "etc/ssl/certs");
  const auto rhel = add("etc/pki/tls/certs/ca-bundle.crt");
  CHECK(system_certificates(root->path()) == rhel);
  const auto debian = add("etc/ssl/certs/ca-certificates.crt");
  CHECK(system_certificates(root->path()) == debian);
}

}  // namespace sagekit
