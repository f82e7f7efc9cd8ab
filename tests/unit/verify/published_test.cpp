#include "unit/verify/fixture.hpp"
#include "verify/checks/checks.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_hash(64, 'a');
const std::string k_other(64, 'b');
const std::string k_name = "demo-1.0-py3-none-any.whl";

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string attestation(const std::string& name, const std::string& hash) {
  const auto statement = R"({"_type":"https://in-toto.io/Statement/v1","subject":[{"name":")" + name +
                         R"(","digest":{"sha256":")" + hash + R"("}}],"predicateType":"x","predicate":null})";
  return R"({"version":1,"verification_material":{},"envelope":{"statement":")" + base64(statement) +
         R"(","signature":""}})";
}

WheelReport judge_beside(const std::map<std::string, std::string>& beside, const std::string& list = "") {
  const auto folder = scratch();
  const auto wheel = folder.path() / k_name;
  for (const auto& [name, text] : beside) REQUIRE(write_file_atomic(folder.path() / name, text));
  FindingList findings(Policy::others, {});
  const auto done = check_published({wheel, k_hash}, list.empty() ? "" : folder.path() / list, findings);
  if (!done) FAIL(done.error().message);
  return std::move(findings).report("w", "s", {});
}

}  // namespace

TEST_CASE("checksums beside a wheel are held against it; without any nothing passes") {
  CHECK(judge_beside({}).findings.empty());
  CHECK(passed(judge_beside({{"SHA256SUMS", k_hash + "  " + k_name + "\n"}}), "TRU004"));
  CHECK(judge_beside({{"SHA256SUMS", k_hash + "  other.whl\n"}}).findings.empty());
  const auto wrong = judge_beside({{k_name + ".sha256", k_other + "  " + k_name + "\n"}});
  CHECK_FALSE(wrong.pass);
  CHECK(trouble(wrong, "TRU004")[0].message.find(k_other) != std::string::npos);
  const auto unlisted = judge_beside({{"sums", k_hash + "  other.whl\n"}}, "sums");
  CHECK(trouble(unlisted, "TRU004").size() == 1);
}

TEST_CASE("an attestation is about this very file, and that its signature was not verified is said") {
  const auto file = k_name + ".publish.attestation";
  const auto right = judge_beside({{file, attestation(k_name, k_hash)}});
  CHECK(right.pass);
  CHECK(passed(right, "TRU005"));
  CHECK(right.findings[0].message.find("not verified") != std::string::npos);
  for (const auto& text :
       {attestation(k_name, k_other), attestation("other-1.0-py3-none-any.whl", k_hash), std::string("{}"),
        std::string("not JSON"), std::string(R"({"envelope":{"statement":"!"}})")}) {
    CAPTURE(text);
    CHECK(trouble(judge_beside({{file, text}}), "TRU005").size() == 1);
  }
  const auto bundles = R"({"version":1,"attestation_bundles":[{"publisher":{},"attestations":[)" +
                       attestation(k_name, k_hash) + "," + attestation(k_name, k_other) + "]}]}";
  CHECK(trouble(judge_beside({{k_name + ".provenance", bundles}}), "TRU005").size() == 1);
}
