// Stands in for the host's `plugin check-one FILE TEST`.
#include <sagekit/plugin_conformance.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto result = sagekit::run_conformance_test(argv[3], argv[4]);
  if (!result) return 2;
  std::fputs(sagekit::conformance_line(*result).c_str(), stdout);
  return result->passed ? 0 : 1;
}
