// What a kept result depends on, and what it does not: each case expects the hit or the miss.
#include "build/step_key.hpp"

#include "fake_build.hpp"
#include "support/sha256.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// A FakePackage whose compile-a also reads `header`, as its compiler says.
struct Reading : FakePackage {
  CountingRunner runner;

  void reads(const std::string& header) {
    step("compile-a").argv[2] = k_compile + " && printf 'y.o: " + header + "\\n' >> \"$3\"";
  }
  std::uint64_t run() {
    const auto built = build(runner);
    REQUIRE_MESSAGE(built, built.error().message);
    REQUIRE(built->failed.empty());
    return built->steps_run;
  }
};

Python python_at(const fs::path& folder) {
  write(folder / "Python.h", "the header\n");
  Python python;
  python.version = "3.12.1";
  python.minor = "3.12";
  python.abi = "cp312";
  python.soabi = "cpython-312-x86_64-linux-gnu";
  python.executable = "/bin/sh";
  python.include_dirs = {folder};
  python.identity = "python 3.12.1";
  python.ready = true;
  return python;
}

}  // namespace

TEST_CASE("an object that needs no Python is a hit for another Python, whatever its fallback would read") {
  Reading package;
  package.environment.pythons = {python_at(package.folder.path() / "py312")};
  auto& step = package.step("compile-a");
  step.fallback_argv = step.argv;
  step.fallback_argv.push_back("{python-includes-3.12-linux_x86_64}");
  CHECK(package.run() == 4);
  package.environment.pythons[0].identity = "another 3.12";
  CHECK(package.run() == 0);
  package.step("compile-a").fallback_argv.clear();
  CHECK(package.run() == 0);

  SUBCASE("what the fallback made is kept under all that it may have read") {
    auto& again = package.step("compile-a");
    again.fallback_argv = again.argv;
    again.fallback_argv.push_back("{python-includes-3.12-linux_x86_64}");
    again.argv = {"{cxx-linux_x86_64}", "-c", "echo no such header; exit 1"};
    CHECK(package.run() == 1);  // the object is the same: the link is a hit
    CHECK(package.run() == 0);
    package.environment.pythons[0].identity = "a third 3.12";
    CHECK(package.run() == 1);
  }
}

TEST_CASE("another date is a hit, and a miss only for what names the time") {
  Reading package;
  write(package.source() / "csrc/common.h", "header 1, #define __TIMESIZE 64\n");
  package.pin();
  CHECK(package.run() == 4);
  package.plan.revision.date = "2026-02-17T17:43:28Z";
  CHECK(package.run() == 0);

  write(package.source() / "csrc/b.cu", "kernel b built on __DATE__\n");
  package.pin();
  CHECK(package.run() == 2);
  CHECK(package.run() == 0);
  package.plan.revision.date = "2026-03-17T17:43:28Z";
  CHECK(package.run() == 1);  // compiled again; the stand-in makes the same object
  package.plan.revision.date = "2026-02-17T17:43:28Z";
  CHECK(package.run() == 0);  // both dates are known
}

TEST_CASE("a compiler's own headers are known by what they are: moved is a hit, changed is a miss") {
  Reading package;
  const auto folder = package.folder.path();
  const auto compiler_at = [&](const std::string& place, const std::string& header) {
    fs::create_directories(folder / place / "bin");
    fs::remove(folder / place / "bin/g++");
    fs::copy_file("/bin/sh", folder / place / "bin/g++");
    write(folder / place / "include/vector", header);
    package.environment.host_compilers[0].executable = folder / place / "bin/g++";
  };
  // The stand-in says what it read by its own place, as gcc does: that place is in no argv.
  package.step("compile-a").argv[2] =
      k_compile +
      " && printf 'y.o: %s\\n' \"$(dirname \"$(dirname \"$(readlink /proc/$$/exe)\")\" | sed 's/ /\\\\ /g')"
      "/include/vector\" >> \"$3\"";
  compiler_at("one", "as it was\n");
  CHECK(package.run() == 4);
  CHECK(package.run() == 0);
  compiler_at("two", "as it was\n");
  CHECK(package.run() == 0);
  compiler_at("two", "edited\n");
  CHECK(package.run() == 1);
  compiler_at("three", "as it was\n");
  CHECK(package.run() == 0);
}

TEST_CASE("Python's headers are known by what they are: moved is a hit, changed is a miss") {
  Reading package;
  auto& step = package.step("compile-a");
  step.argv[2] = k_compile + " && printf 'y.o: %s/Python.h\\n' \"$(printf %s \"$5\" | sed 's/ /\\\\ /g')\" >> \"$3\"";
  step.argv.push_back("{python-includes-3.12-linux_x86_64}");
  const auto folder = package.folder.path();
  package.environment.pythons = {python_at(folder / "one")};
  CHECK(package.run() == 4);
  package.environment.pythons = {python_at(folder / "two")};
  CHECK(package.run() == 0);
  write(folder / "two/Python.h", "the handler\n");  // as long as before: no listing tells them apart
  CHECK(package.run() == 1);
}

TEST_CASE("CUDA's headers are known by what they are: moved is a hit, changed is a miss") {
  Reading package;
  package.plan.cells[0].cuda = "13.0";
  auto& step = package.step("compile-a");
  step.argv[2] = k_compile + " && printf 'y.o: %s/cuda_fp8.h\\n' \"$(printf %s \"$4\" | sed 's/ /\\\\ /g')\" >> \"$3\"";
  step.argv.push_back("{cuda-include-13.0}");
  const auto cuda_at = [&](const std::string& place, const std::string& header) {
    write(package.folder.path() / place / "include/cuda_fp8.h", header);
    Nvcc nvcc;
    nvcc.root = package.folder.path() / place;
    nvcc.executable = nvcc.root / "bin/nvcc";
    nvcc.include_dir = nvcc.root / "include";
    nvcc.version = "13.0.88";
    nvcc.cuda = "13.0";
    nvcc.max_gcc = "15";
    nvcc.identity = "nvcc";
    nvcc.ready = true;
    package.environment.nvcc = {nvcc};
  };
  cuda_at("one", "e4m3\n");
  CHECK(package.run() == 4);
  cuda_at("two", "e4m3\n");
  CHECK(package.run() == 0);
  cuda_at("two", "e5m2\n");
  CHECK(package.run() == 1);
}

TEST_CASE("a system's header is known by its path and content: unchanged is a hit, changed or gone is a miss") {
  Reading package;
  const auto header = package.folder.path() / "system/usr/include/asm/types.h";
  write(header, "as it was\n");
  package.reads(replace_all(header.string(), " ", "\\\\ "));
  CHECK(package.run() == 4);
  CHECK(package.run() == 0);
  write(header, "as it is!\n");
  CHECK(package.run() == 1);
  write(header, "as it was\n");
  CHECK(package.run() == 0);  // both are known
  fs::remove(header);
  CHECK(package.run() == 1);
  CHECK(package.run() == 1);  // nobody can check next time what it read
}

TEST_CASE("headers below /usr are checked, too, although the compiler lies there") {
  const fs::path header = "/usr/include/limits.h";
  if (!fs::exists(header)) {
    MESSAGE("skipped: there are no headers of a C library");
    return;
  }
  Reading package;
  package.reads(header.string());
  CHECK(package.run() == 4);
  CHECK(package.run() == 0);
  // An update of the system, told from the other side: what was kept was made with another one.
  const auto now = sha256_file(header).value_or("");
  int records = 0;
  for (const auto& entry : fs::recursive_directory_iterator(package.options.store / "actions")) {
    if (!entry.is_regular_file()) continue;
    const auto record = text_of(entry.path());
    const auto at = record.find(now);
    if (record.find(header.string()) == std::string::npos || at == std::string::npos) continue;
    ++records;
    fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
    write(entry.path(), std::string(record).replace(at, now.size(), std::string(now.size(), '0')));
  }
  CHECK(records == 1);
  CHECK(package.run() == 1);
}

TEST_CASE("every hit and every miss is a log line, a miss with what differed") {
  Reading package;
  package.options.jobs = 1;
  std::vector<std::string> lines;
  std::mutex mutex;
  package.options.log = [&](LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::info) lines.emplace_back(line);
  };
  const auto said = [&](const std::string& line) {
    const bool found = std::ranges::find(lines, line) != lines.end();
    if (!found) MESSAGE(join(lines, "\n"));
    return found;
  };
  package.run();
  CHECK(said("compile-a: not in the store: it was never made before"));
  lines.clear();
  package.run();
  CHECK(said("compile-a: reused from the store"));
  CHECK(said("link-b: reused from the store"));

  lines.clear();
  write(package.source() / "csrc/common.h", "header 2\n");
  write(package.source() / "csrc/b.cu", "kernel b 2\n");
  package.pin();
  package.run();
  CHECK(said("compile-a: not in the store: header {source}/csrc/common.h"));
  CHECK(said("compile-b: not in the store: input {source}/csrc/b.cu"));
  CHECK(said("link-a: not in the store: input {work}/obj/a.o"));

  lines.clear();
  package.environment.host_compilers[0].identity = "another shell";
  package.run();
  CHECK(said("compile-a: not in the store: tool {cxx-linux_x86_64}"));
}

TEST_CASE("changed parts are those with another value, new ones and those that are gone") {
  const KeyParts before{{"argv", "a"}, {"input x", "1"}, {"input y", "1"}};
  CHECK(changed_parts(before, before).empty());
  CHECK(changed_parts(before, {{"argv", "a"}, {"input x", "2"}, {"input z", "1"}}) ==
        std::vector<std::string>{"input x", "input z", "input y"});
  CHECK(key_of(before) == key_of(before));
  CHECK(key_of(before) != key_of({{"argv", "a"}, {"input x", "1"}, {"input y", "2"}}));
}
