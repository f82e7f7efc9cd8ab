// What a row says only by a message's form gives way to every row that knows more, and names have their meaning.
#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

FoundCause first_of(std::string_view log) {
  auto causes = explain_log_text(log).causes;
  return causes.empty() ? FoundCause() : causes.front();
}

}  // namespace

TEST_CASE("the form of a message is the last resort: on one line, and of a whole log") {
  // Each line by itself is a compiler's error; the header says more.
  CHECK(first_of("a.cpp:1:2: error: no matching function for call to 'f(int)'").code == "WHY702");
  CHECK(first_of("a.cpp:1:2: fatal error: glm/glm.hpp: No such file or directory").code == "WHY225");
  CHECK(first_of("a.cpp:1:2: error: no matching function for call to 'f(int)'\n"
                 "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\n")
            .code == "WHY510");
  // Nor does it explain away what is known.
  CHECK(first_of("CMake Error at CMakeLists.txt:12 (message): no\nRuntimeError: CUDA error: invalid argument\n").code ==
        "WHY565");
}

TEST_CASE("a name says what it means, and another one says nothing") {
  CHECK(first_of("RuntimeError: CUDA error: named symbol not found").cause.find("code 500") != std::string::npos);
  CHECK(first_of("RuntimeError: CUDA error: something that is new").cause.find("returned this") != std::string::npos);
  const auto module = first_of("import cv2\nModuleNotFoundError: No module named 'cv2'\n");
  REQUIRE_FALSE(module.fix.empty());
  CHECK(module.fix.front().command == "python -m pip install opencv-python");
  const auto other = first_of("ModuleNotFoundError: No module named 'einops'\n");
  REQUIRE_FALSE(other.fix.empty());
  CHECK(other.fix.front().command == "python -m pip install einops");
}

TEST_CASE("the words of a shell tell its system, unless the machine at hand is the one") {
  const std::string_view log = "'git' is not recognized as an internal or external command\n";
  CHECK(first_of(log).fix.front().command == "winget search git");
  const auto here = explain_log_text(log, {{"os", "linux"}}).causes;
  REQUIRE_FALSE(here.empty());
  CHECK(here.front().fix.front().command == "apt-get update && apt-get install -y git");
}
