#include "elf/driver_stand_in.hpp"

#include "elf/elf_reader.hpp"
#include "support/real_python.hpp"
#include "support/scratch_files.hpp"

#include <sys/utsname.h>

using namespace sagekit;
using namespace sagekit::test;

namespace {

std::vector<MemberFacts> members_for(const std::string& machine) {
  MemberFacts member;
  member.path = "demo/_a.so";
  member.elf = ElfFacts{};
  member.elf->machine = machine;
  member.elf->needed = {"libc.so.6", "libcuda.so.1", "libnvidia-ml.so.1"};
  member.elf->undefined = {"cuInit", "cudaMalloc", "cublasCreate_v2", "malloc", "nvmlInit_v2"};
  return {member};
}

}  // namespace

TEST_CASE("the driver's libraries that files need are known by name") {
  const auto members = members_for("x86_64");
  CHECK(driver_libraries(members) == std::vector<std::string>{"libcuda.so.1", "libnvidia-ml.so.1"});
  CHECK_FALSE(is_driver_library("libcudart.so.13"));
}

TEST_CASE("a stand-in has the driver's symbols and no others, for the CPU of the modules") {
  for (const char* machine : {"x86_64", "aarch64"}) {
    const auto library = driver_stand_in(members_for(machine), "libcuda.so.1");
    Problems problems("libcuda.so.1");
    const auto file = ElfFile::read(Bytes(library), problems);
    REQUIRE(file);
    const auto facts = read_elf_facts(*file, true, problems);
    CHECK(facts.machine == machine);
    CHECK(facts.soname == "libcuda.so.1");
    CHECK(facts.exports == std::vector<std::string>{"cuInit"});
  }
  CHECK(driver_stand_in(members_for("em_243"), "libcuda.so.1").empty());
  CHECK(driver_stand_in(members_for("x86_64"), "libcudart.so.13").empty());
}

TEST_CASE("a stand-in is loaded, and its functions say that they are a stub") {
  const auto python = find_python();
  utsname names{};
  if (!python || uname(&names) != 0) return;
  const auto stand_in = driver_stand_in(members_for(names.machine), "libcuda.so.1");
  if (stand_in.empty()) {
    MESSAGE("skipped: no stand-in is made for this CPU");
    return;
  }
  const auto folder = temporary();
  const auto file = folder.path() / "libcuda.so.1";
  write(file, stand_in);
  Command command;
  command.argv = {python->path, "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cuInit(0))", file.string()};
  command.environment = python->environment;
  const auto said = make_local_runner()->run(command);
  REQUIRE(said);
  CHECK(said->output == "34\n");
}
