#include "build/launcher.hpp"

#include "fake_build.hpp"

using namespace sagekit;

namespace {

struct Recorder : CommandRunner {
  std::vector<Command> seen;
  Result<CommandResult> run(const Command& command, std::stop_token) override {
    seen.push_back(command);
    return CommandResult{};
  }
};

}  // namespace

TEST_CASE("what compiles is started through the launcher, everything else as it is") {
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{"/cuda/bin/nvcc", "-O3", "-c", "a.cu", "-o", "a.o"},
        {"/cuda/nvvm/bin/cicc", "a.ii", "-o", "a.ptx"},
        {"ptxas", "-o", "a.cubin", "a.ptx"},
        {"/usr/bin/x86_64-linux-gnu-g++-12", "-c", "a.cpp", "-o", "a.o"},
        {"/usr/bin/g++", "-c", "-S", "-x", "c++", "a.ii", "-o", "a.s"}})
    CHECK(compiles(argv));
  for (const std::vector<std::string>& argv : {std::vector<std::string>{"nvcc", "--dryrun", "-c", "a.cu"},
                                               {"g++", "-E", "-c", "a.cpp"},
                                               {"g++", "-shared", "a.o", "-o", "a.so"},
                                               {"g++", "-c", "-x", "assembler", "a.s", "-o", "a.o"},
                                               {"cudafe++", "a.ii"},
                                               {"python3", "-c", "print()"},
                                               {"git", "-c", "a=b", "log"},
                                               {}})
    CHECK_FALSE(compiles(argv));

  Recorder real;
  LaunchingRunner launching("sccache", {{"SCCACHE_DIR", "/cache"}}, real);
  Command compile;
  compile.argv = {"g++", "-c", "a.cpp"};
  compile.environment = {{"PATH", "/bin"}};
  REQUIRE(launching.run(compile, {}));
  CHECK(real.seen.back().argv == std::vector<std::string>{"sccache", "g++", "-c", "a.cpp"});
  CHECK(real.seen.back().environment.at("SCCACHE_DIR") == "/cache");
  compile.argv = {"git", "log"};
  REQUIRE(launching.run(compile, {}));
  CHECK(real.seen.back().argv.front() == "git");
  CHECK_FALSE(real.seen.back().environment.contains("SCCACHE_DIR"));
  LaunchingRunner none("", {{"SCCACHE_DIR", "/cache"}}, real);
  compile.argv = {"g++", "-c", "a.cpp"};
  REQUIRE(none.run(compile, {}));
  CHECK(real.seen.back().argv.front() == "g++");
}
