#include "spec/libc_floor.hpp"

#include "support/file.hpp"

#include <sagekit/command.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

VersionNumber number(const char* text) { return parse_version_number(text).value(); }

std::string level(const char* machine, const char* kind, const char* number) {
  const auto found = manylinux_level(machine, kind, ::number(number));
  return found ? to_string(*found) : "none";
}

std::string answer_of(const std::string& script) {
  Command command;
  command.argv = {"sh", "-c", script};
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  const auto result = make_local_runner()->run(command, {});
  REQUIRE(result);
  return result->output;
}

}  // namespace

TEST_CASE("a floor below 2.32 takes the header, one that has the symbol takes none") {
  for (const auto* floor : {"2.17", "2.28", "2.31"}) {
    CAPTURE(floor);
    CHECK(needs_floor_shim(floor));
    const auto shims = floor_shims(floor);
    REQUIRE(shims.size() == 1);
    CHECK(shims[0].name == k_floor_shim);
    CHECK(shims[0].file == "sys/single_threaded.h");
  }
  for (const auto* floor : {"", "2.32", "2.34"}) {
    CAPTURE(floor);
    CHECK_FALSE(needs_floor_shim(floor));
    CHECK(floor_shims(floor).empty());
  }
}

TEST_CASE("a floor below a machine's first glibc means that one") {
  CHECK(floor_on("aarch64", number("2.12")) == number("2.17"));
  CHECK(floor_on("aarch64", number("2.28")) == number("2.28"));
  CHECK(floor_on("x86_64", number("2.12")) == number("2.12"));
  CHECK(floor_on("riscv64", number("2.12")) == number("2.12"));
}

TEST_CASE("a symbol version has an oldest manylinux level") {
  CHECK(level("x86_64", "GLIBC", "2.2.5") == "2.5");
  CHECK(level("x86_64", "GLIBC", "2.14") == "2.17");
  CHECK(level("aarch64", "GLIBC", "2.17") == "2.17");
  CHECK(level("x86_64", "GLIBC", "2.32") == "2.34");
  CHECK(level("x86_64", "GLIBC", "2.77") == "2.77");  // PEP 600 needs no table for glibc
  CHECK(level("x86_64", "GLIBCXX", "3.4.19") == "2.17");
  CHECK(level("x86_64", "GLIBCXX", "3.4.21") == "2.24");
  CHECK(level("x86_64", "GLIBCXX", "3.4.24") == "2.27");
  CHECK(level("aarch64", "GLIBCXX", "3.4.24") == "2.26");
  CHECK(level("x86_64", "CXXABI", "1.3.9") == "2.24");
  CHECK(level("x86_64", "GCC", "3.0") == "2.5");
  CHECK(level("x86_64", "GLIBCXX", "3.4.99") == "none");
  CHECK(level("x86_64", "OMP", "1.0") == "none");
  CHECK(level("sparc", "GLIBC", "2.17") == "none");
}

TEST_CASE("levels only rise from tag to tag") {
  for (const auto& machine : libc_data().manylinux) {
    CAPTURE(machine.machine);
    const auto& levels = machine.levels;
    REQUIRE_FALSE(levels.empty());
    for (std::size_t i = 1; i < levels.size(); ++i) {
      CHECK(levels[i - 1].glibc < levels[i].glibc);
      CHECK(levels[i - 1].glibcxx <= levels[i].glibcxx);
      CHECK(levels[i - 1].cxxabi <= levels[i].cxxabi);
      CHECK(levels[i - 1].gcc <= levels[i].gcc);
    }
  }
}

TEST_CASE("the header keeps the symbol out of compiled code, without a warning") {
  if (answer_of("echo '#include <sys/single_threaded.h>' | g++ -x c++ -E - && echo compiles").find("compiles") ==
      std::string::npos) {
    MESSAGE("skipped: no g++, or a glibc before 2.32");
    return;
  }
  const auto folder = TemporaryFolder::create(std::filesystem::temp_directory_path(), "sagekit floor");
  REQUIRE(folder);
  const auto at = folder->path();
  for (const auto& shim : floor_shims("2.17")) REQUIRE(write_file_atomic(at / "shim" / shim.file, shim.text));
  REQUIRE(write_file_atomic(
      at / "a.cpp", "#include <memory>\nstd::shared_ptr<int> copy(const std::shared_ptr<int>& p) { return p; }\n"));
  REQUIRE(write_file_atomic(at / "b.c", "#include <sys/single_threaded.h>\nint answer(void) { return 42; }\n"));
  const auto compile = [&](const std::string& words) {
    return answer_of("cd '" + at.string() + "' && " + words +
                     " -fPIC -Wall -Wextra -Wunused -Werror -O2 -c -o x.o && nm x.o");
  };
  CHECK(compile("g++ a.cpp").find("U __libc_single_threaded") != std::string::npos);
  for (const auto* words : {"g++ -Ishim a.cpp", "CPATH=shim g++ a.cpp", "gcc -Ishim b.c"}) {
    const auto symbols = compile(words);
    CAPTURE(symbols);
    CHECK(symbols.find(" T ") != std::string::npos);
    CHECK(symbols.find("U __libc_single_threaded") == std::string::npos);
  }
}
