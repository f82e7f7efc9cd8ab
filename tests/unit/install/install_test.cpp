#include <sagekit/install.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

Judged remote_wheel() {
  Judged wheel;
  wheel.candidate.file = "tiny-1.0+cu130-cp312-cp312-linux_x86_64.whl";
  wheel.candidate.address = "https://user:geheim@example.org/tiny-1.0%2Bcu130-cp312-cp312-linux_x86_64.whl";
  wheel.candidate.place = "https://example.org/tiny-1.0%2Bcu130-cp312-cp312-linux_x86_64.whl";
  wheel.candidate.remote = true;
  wheel.candidate.sha256 = std::string(64, 'a');
  wheel.reason = "for torch 2.9.1 (its name)";
  return wheel;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("lines for an image hold the wheel to its hash, and hide no error") {
  const auto plain = dockerfile_lines(remote_wheel(), "", true);
  CHECK(has(plain, "'tiny @ https://example.org/tiny-1.0%2Bcu130-cp312-cp312-linux_x86_64.whl#sha256=" +
                       std::string(64, 'a') + "'"));
  CHECK(has(plain, "--no-deps"));
  CHECK(has(plain, "&& python3 -c 'import tiny'"));
  CHECK_FALSE(has(plain, "geheim"));
  CHECK_FALSE(has(plain, "||"));
  const auto with = dockerfile_lines(remote_wheel(), "other==1.0.6", false);
  CHECK(has(with, "ARG tiny_FALLBACK=no"));
  CHECK(has(with, "exit 1"));
  CHECK(has(with, "'other==1.0.6'"));
  CHECK_FALSE(has(with, "||"));
  auto local = remote_wheel();
  local.candidate.remote = false;
  CHECK(has(dockerfile_lines(local, "", false), "COPY [\"tiny-1.0+cu130-cp312-cp312-linux_x86_64.whl\""));
  CHECK(has(dockerfile_lines(local, "", false), "file:///tmp/tiny-1.0%2Bcu130"));
}

TEST_CASE("the commands are what would be run") {
  InstallPlace place;
  place.interpreter = "/venv/bin/python";
  place.tool = "pip";
  place.installer = {"/venv/bin/python", "-m", "pip"};
  InstallOptions options;
  options.gpu = true;
  const auto commands = install_commands(place, remote_wheel(), options);
  REQUIRE(commands.size() == 6);
  CHECK(commands.front().front() == "curl");
  CHECK(commands.back().back() == "--gpu");
  // METADATA that was read says whether there is anything to ask an index for.
  auto known = remote_wheel();
  known.requires_dist = {"torch==2.9.*"};
  place.packages["torch"] = "2.9.1+cu130";
  CHECK(install_commands(place, known, options).size() == 4);
  known.requires_dist->emplace_back("tiny_dep>=2");
  CHECK(install_commands(place, known, options).size() == 6);
  options.no_deps = true;
  CHECK(install_commands(place, remote_wheel(), options).size() == 4);
}
