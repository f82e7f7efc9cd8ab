#include "compile/nvcc_commands.hpp"

#include "support/file.hpp"
#include "support/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace sagekit;

namespace {

// What nvcc 13.0.88 printed for one source of sage2 and a cross compiler, paths shortened.
std::string recorded(const std::string& name) {
  const auto text = read_file(SAGEKIT_SOURCE_DIR "/tests/unit/compile/data/" + name);
  REQUIRE(text);
  return *text;
}

bool has(const std::vector<std::string>& argv, const std::string& word) {
  return std::ranges::find(argv, word) != argv.end();
}

}  // namespace

TEST_CASE("a recorded dry run gives the commands of both halves") {
  const auto read = read_dryrun(recorded("dryrun-13.0.txt"));
  REQUIRE_MESSAGE(read, read.error().message);
  CHECK(read->folder == "/build/half");
  CHECK(read->preprocess.front() == "/usr/bin/aarch64-linux-gnu-g++");
  CHECK(read->preprocess.back() == "/build/half/fused.cpp4.ii");
  CHECK(has(read->preprocess, "-I/store/shim"));
  CHECK(has(read->preprocess, "cuda_runtime.h"));
  CHECK(read->split.front() == "/opt/cuda/bin/cudafe++");
  CHECK(read->split.back() == "/build/half/fused.cpp4.ii");
  CHECK(has(read->split, "--arm_cross_compiler"));
  CHECK(read->fatbinary.front() == "/opt/cuda/bin/fatbinary");
  CHECK(read->compile.front() == "/usr/bin/aarch64-linux-gnu-g++");
  CHECK(read->compile.back() == "/build/c.o");
  CHECK(has(read->compile, "/build/half/fused.cudafe1.cpp"));
  CHECK(read->stub == "/build/half/fused.cudafe1.stub.c");
  CHECK(read->fatbin == "/build/half/fused.fatbin.c");
  CHECK(read->module_id == "/build/half/fused.module_id");
  REQUIRE(read->devices.size() == 1);
  const auto& device = read->devices.front();
  CHECK(device.preprocess.back() == "/build/half/fused.cpp1.ii");
  CHECK(device.compile.front() == "/opt/cuda/bin/../nvvm/bin/cicc");
  CHECK(device.text == "/build/half/fused.cpp1.ii");
  REQUIRE(device.assemble.size() == 1);
  CHECK(device.assemble.front().front() == "/opt/cuda/bin/ptxas");
  REQUIRE(device.images.size() == 1);
  CHECK(device.images.front().file == "/build/half/fused.cubin");
  CHECK(read->environment.at("NVVMIR_LIBRARY_DIR") == "/opt/cuda/bin/../nvvm/libdevice");
}

TEST_CASE("each architecture has its own commands, and the host takes the last one's stub") {
  const auto read = read_dryrun(recorded("dryrun-13.0-two-arches.txt"));
  REQUIRE_MESSAGE(read, read.error().message);
  CHECK(read->stub == "/build/half/fused.compute_121a.cudafe1.stub.c");
  CHECK(has(read->compile, "-D__CUDA_ARCH_LIST__=800,1210"));
  REQUIRE(read->devices.size() == 2);
  CHECK(read->devices[0].arch == "compute_80");
  CHECK(has(read->devices[0].preprocess, "-D__CUDA_ARCH__=800"));
  CHECK(read->devices[0].images.front().role == "elf-80");
  CHECK(read->devices[1].arch == "compute_121a");
  CHECK(has(read->devices[1].preprocess, "-D__CUDA_ARCH__=1210"));
  CHECK(read->devices[1].images.front().role == "elf-121a");
  CHECK(read->devices[1].ptx == "/build/half/fused.compute_121a.ptx");
}

TEST_CASE("machine code, PTX and both are told apart by what fatbinary takes") {
  const auto read = read_dryrun(recorded("dryrun-13.0-ptx.txt"));
  REQUIRE_MESSAGE(read, read.error().message);
  REQUIRE(read->devices.size() == 2);
  std::vector<std::string> roles;
  for (const auto& device : read->devices)
    for (const auto& image : device.images) roles.push_back(device.arch + " " + image.role);
  CHECK(roles == std::vector<std::string>{"compute_80 elf-86", "compute_80 elf-80", "compute_120 ptx-120"});
  CHECK(read->devices[0].assemble.size() == 2);
  CHECK(read->devices[1].assemble.size() == 1);  // nvcc has ptxas look at it, and keeps nothing
}

TEST_CASE("dry runs of three nvcc, for one architecture, several, machine code and PTX, and PTX alone") {
  // What nvcc 13.0.88, 13.2.86 and 13.5.37 printed for the example's scaled_add.cu, paths shortened.
  const std::map<std::string, std::vector<std::string>> wanted{
      {"one architecture", {"compute_90a elf-90a"}},
      {"several architectures", {"compute_80 elf-80", "compute_80 elf-86", "compute_120a elf-120a"}},
      {"machine code and PTX", {"compute_80 elf-80", "compute_90 elf-90", "compute_90 ptx-90"}},
      {"PTX alone", {"compute_90 ptx-90"}}};
  for (const std::string version : {"13.0", "13.2", "13.5"}) {
    std::size_t seen = 0;
    const auto text = recorded("dryruns-" + version + ".txt");
    for (auto at = text.find("== "); at != std::string::npos; at = text.find("\n== ", at + 1)) {
      const auto begin = text.find("== ", at) + 3, line = text.find('\n', begin);
      const auto form = text.substr(begin, line - begin),
                 section = text.substr(line + 1, text.find("\n== ", line) - line);
      CAPTURE(version);
      CAPTURE(form);
      const auto read = read_dryrun(section);
      REQUIRE_MESSAGE(read, read.error().message);
      std::vector<std::string> images;
      for (const auto& device : read->devices)
        for (const auto& image : device.images) images.push_back(device.arch + " " + image.role);
      std::ranges::sort(images);
      auto roles = wanted.at(form);
      std::ranges::sort(roles);
      CHECK(images == roles);
      CHECK(read->folder == "/build/half");
      CHECK(read->split.front() == "/opt/cuda/bin/cudafe++");
      CHECK(has(read->devices.back().compile, "-split-compile"));
      ++seen;
    }
    CHECK(seen == wanted.size());
  }
}

TEST_CASE("options that a newer nvcc puts anywhere change nothing") {
  auto text = recorded("dryrun-13.0-two-arches.txt");
  text = replace_all(text, "-m64 --no-version-ident", "--simt-only -m64 --no-version-ident");
  text = replace_all(text, "ptxas -arch", "ptxas --new-option -arch");
  text = replace_all(text, "fatbinary --create", "fatbinary --new-option --create");
  const auto read = read_dryrun(text);
  REQUIRE(read);
  CHECK(has(read->devices.back().compile, "--simt-only"));
}

TEST_CASE("files between can be put into another folder") {
  const auto read = read_dryrun(recorded("dryrun-13.0-two-arches.txt"));
  REQUIRE(read);
  const auto moved = in_folder(*read, "/tmp/a b");
  CHECK(moved.stub == "/tmp/a b/fused.compute_121a.cudafe1.stub.c");
  CHECK(moved.devices[0].preprocess.back() == "/tmp/a b/fused.compute_80.cpp1.ii");
  CHECK(moved.compile.back() == "/build/c.o");
  for (const auto* argv :
       {&moved.preprocess, &moved.split, &moved.fatbinary, &moved.compile, &moved.devices[1].compile})
    for (const auto& word : *argv) CHECK(word.find("/build/half") == std::string::npos);
}

TEST_CASE("a dry run with anything unknown, missing or doubled is not understood") {
  const auto text = recorded("dryrun-13.0.txt");
  const auto refused = [](const std::string& changed) {
    const auto read = read_dryrun(changed);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == "BLD009");
    return read.error().message;
  };
  refused("");
  CHECK(refused(text + "#$ newtool \"/build/half/fused.ptx\"\n").find("newtool") != std::string::npos);
  CHECK(refused("nvcc warning : something\n" + text).find("something else") != std::string::npos);
  for (const std::string key :
       {"cudafe++ ", "fatbinary ", "cudafe1.cpp\" -o", "-E -x c++ -D__CUDACC__", "ptxas ", "cicc\" ", "_HERE_="}) {
    CAPTURE(key);
    std::string without, twice;
    for (const auto& line : split(text, '\n')) {
      const bool it = (line + "\n").find(key) != std::string::npos;
      if (!it) without += line + "\n";
      twice += line + "\n";
      if (it && key != "_HERE_=") twice += line + "\n";
    }
    CHECK(without != text);
    refused(without);
    if (key != "_HERE_=" && key != "ptxas ") refused(twice);
  }
  refused(replace_all(text, "fused.cudafe1.cpp\" -o", "fused.cudafe1.cpp\" | tee -o"));
}

TEST_CASE("command lines are split as a shell splits them, and anything more of a shell is refused") {
  CHECK(split_command("\"/a b\"/g++ -D \"X=\\\"y\\\"\"  -I\"c\\d\" e\\ f \"\"").value() ==
        std::vector<std::string>{"/a b/g++", "-D", "X=\"y\"", "-Ic\\d", "e f", ""});
  CHECK(split_command("").value().empty());
  for (const std::string bad : {"a $B", "a \"$B\"", "a `b`", "a; b", "a > b", "a | b", "a & b", "'a'", "\"a", "a *"}) {
    CAPTURE(bad);
    CHECK_FALSE(split_command(bad));
  }
}
