#include "elf/elf_reader.hpp"
#include "inspect/module_reader.hpp"
#include "support/elf_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;
using test::ModuleBuilder;

namespace {

MemberFacts read_module_of(const std::string& bytes, std::string_view name = "_tiny.cpython-312-x86_64-linux-gnu.so") {
  const auto reading = read_module(name, Bytes(bytes), {}, 1);
  CHECK(reading.kind == "elf");
  return reading.facts;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the dynamic segment says what a module needs and offers") {
  const MemberFacts facts = read_module_of(ModuleBuilder().build());
  CHECK(facts.problems.empty());
  REQUIRE(facts.elf);
  CHECK(facts.elf->machine == "x86_64");
  CHECK(facts.elf->soname == "libtiny.so.1");
  CHECK(facts.elf->needed == Names{"libc.so.6"});
  CHECK(facts.elf->run_paths == Names{"$ORIGIN", "/opt/lib"});
  CHECK(facts.elf->exports == Names{"PyInit__tiny", "answer"});
  CHECK(facts.elf->undefined == Names{"__gmon_start__", "malloc"});
  CHECK(facts.elf->undefined_weak == Names{"__gmon_start__"});
  CHECK_FALSE(facts.elf->executable_stack);
  CHECK_FALSE(facts.elf->debug_info);
}

TEST_CASE("the highest wanted version of each family is compared by number") {
  const MemberFacts facts = read_module_of(ModuleBuilder().build());
  REQUIRE(facts.elf);
  CHECK(facts.elf->versions == std::map<std::string, std::string>{{"GLIBC", "2.17"}});
  CHECK(facts.elf->wanted_versions.size() == 4);
  CHECK(facts.elf->wanted_versions.back() == "libc.so.6:GLIBC_PRIVATE");
}

TEST_CASE("each wanted version knows the symbols that want it") {
  ModuleBuilder builder;
  builder.undefined = {"malloc", "memcpy", "own"};
  builder.symbol_versions = {{"malloc", "GLIBC_2.2.5"}, {"memcpy", "GLIBC_2.17"}, {"__gmon_start__", "GLIBC_2.17"}};
  const MemberFacts facts = read_module_of(builder.build());
  CHECK(facts.problems.empty());
  CHECK(facts.elf->wanted_by == std::map<std::string, Names>{{"libc.so.6:GLIBC_2.17", {"__gmon_start__", "memcpy"}},
                                                             {"libc.so.6:GLIBC_2.2.5", {"malloc"}}});
}

TEST_CASE("a version table that is cut off is a problem") {
  std::string bytes = ModuleBuilder().build();
  const std::string tag("\xf0\xff\xff\x6f\0\0\0\0", 8);  // DT_VERSYM
  const auto at = bytes.find(tag);
  REQUIRE(at != std::string::npos);
  bytes.replace(at + 8, 3, "\xff\xff\xff");
  const MemberFacts facts = read_module_of(bytes);
  CHECK(std::ranges::count(facts.problems, "INS026", &Diagnostic::code) == 1);
  CHECK(facts.elf->wanted_by.empty());
}

TEST_CASE("a module without a section table reads the same") {
  ModuleBuilder builder;
  builder.section_table = false;
  const MemberFacts facts = read_module_of(builder.build());
  CHECK(facts.problems.empty());
  CHECK(facts.elf->exports == Names{"PyInit__tiny", "answer"});
  CHECK(facts.elf->undefined.size() == 2);
}

TEST_CASE("the stack is executable when a segment says so, and on x86_64 when none speaks") {
  ModuleBuilder builder;
  builder.stack_flags = {7};
  CHECK(read_module_of(builder.build()).elf->executable_stack);
  builder.stack_flags = {};
  CHECK(read_module_of(builder.build()).elf->executable_stack);
  builder.machine = 183;
  const MemberFacts arm = read_module_of(builder.build());
  CHECK(arm.elf->machine == "aarch64");
  CHECK_FALSE(arm.elf->executable_stack);
}

TEST_CASE("debug sections are seen") {
  ModuleBuilder builder;
  builder.more.push_back({".debug_info", "x"});
  CHECK(read_module_of(builder.build()).elf->debug_info);
}

TEST_CASE("a module cut off anywhere is an error") {
  const std::string whole = ModuleBuilder().build();
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const MemberFacts facts = read_module_of(whole.substr(0, size));
    CAPTURE(size);
    CHECK_FALSE(facts.problems.empty());
  }
}

TEST_CASE("a 32-bit file is refused, not misread") {
  std::string bytes = ModuleBuilder().build();
  bytes[4] = 1;
  const MemberFacts facts = read_module_of(bytes);
  CHECK_FALSE(facts.elf);
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].code == "INS021");
}

TEST_CASE("a section table that hides symbols from the dynamic segment is an error") {
  ModuleBuilder builder;
  std::string bytes = builder.build();
  // The section header of .dynsym (the second real one) gets another address.
  const std::uint64_t table = Bytes(bytes).u64(40);
  bytes[static_cast<std::size_t>(table) + 2 * 64 + 16] ^= 8;
  const MemberFacts facts = read_module_of(bytes);
  REQUIRE_FALSE(facts.problems.empty());
  CHECK(facts.problems[0].code == "INS027");
}

TEST_CASE("the Python ABI comes from the file name, for a bare .so from its entry point") {
  CHECK(python_abi_of_name("a/_x.cpython-312-x86_64-linux-gnu.so") == "cp312");
  CHECK(python_abi_of_name("a/_x.cpython-313t-aarch64-linux-gnu.so") == "cp313t");
  CHECK(python_abi_of_name("a/_x.abi3.so") == "abi3");
  CHECK(python_abi_of_name("a/_x.abi3t.so") == "abi3t");
  CHECK(python_abi_of_name("a/_x.cp312-win_amd64.pyd") == "cp312");
  CHECK(python_abi_of_name("a/_x.pyd") == "none");
  CHECK(python_abi_of_name("a/libx.so") == "");
  CHECK(python_abi_of_name("a/libx.so.1") == "");
  CHECK(python_abi_of_name("a/x.py") == "");
  CHECK(read_module_of(ModuleBuilder().build(), "_tiny.so").python_abi == "none");
  ModuleBuilder library;
  library.exports = {"answer"};
  CHECK(read_module_of(library.build(), "libtiny.so").python_abi == "");
}

TEST_CASE("the gnu hash table gives the number of symbols when there is no section table") {
  ModuleBuilder builder;
  builder.section_table = false;
  builder.gnu_hash = true;
  const MemberFacts facts = read_module_of(builder.build());
  CHECK(facts.problems.empty());
  CHECK(facts.elf->exports == Names{"PyInit__tiny", "answer"});
  CHECK(facts.elf->undefined.size() == 2);
}

TEST_CASE("what the loader does to the process is read") {
  ModuleBuilder builder;
  auto facts = *read_module_of(builder.build()).elf;
  CHECK(facts.libc == "glibc");
  CHECK(facts.relro == "none");
  CHECK(facts.interpreter.empty());
  CHECK(facts.build_id.empty());
  CHECK(facts.position_independent);
  CHECK_FALSE(facts.text_relocations);
  CHECK_FALSE(facts.writable_code);

  builder.segments = {{0x6474e552, ".dynamic"}};
  CHECK(read_module_of(builder.build()).elf->relro == "partial");
  for (const auto& now : {std::pair{24, 0}, {30, 8}, {0x6ffffffb, 1}}) {  // BIND_NOW, FLAGS, FLAGS_1
    builder.tags = {{now.first, now.second}};
    CHECK(read_module_of(builder.build()).elf->relro == "full");
  }
  builder.tags = {{30, 4}};
  CHECK(read_module_of(builder.build()).elf->text_relocations);
  builder.tags = {{22, 0}};
  CHECK(read_module_of(builder.build()).elf->text_relocations);
  builder.load_flags = 7;
  CHECK(read_module_of(builder.build()).elf->writable_code);
  builder.type = 2;
  CHECK_FALSE(read_module_of(builder.build()).elf->position_independent);
}

TEST_CASE("a program names its interpreter, and that its C library") {
  ModuleBuilder builder;
  builder.needed.clear();
  builder.versions.clear();
  builder.more = {{".interp", std::string("/lib/ld-musl-x86_64.so.1\0", 25), 1, 0}};
  builder.segments = {{3, ".interp"}};
  const auto facts = *read_module_of(builder.build()).elf;
  CHECK(facts.interpreter == "/lib/ld-musl-x86_64.so.1");
  CHECK(facts.libc == "musl");
  builder.segments.clear();
  CHECK(read_module_of(builder.build()).elf->libc.empty());
  builder.needed = {"libc.musl-x86_64.so.1"};
  CHECK(read_module_of(builder.build()).elf->libc == "musl");
}

TEST_CASE("the notes tell the build id and the processor that is asked for") {
  const auto note = [](std::uint32_t type, const std::string& content) {
    ByteWriter out;
    return out.u32(4).u32(content.size()).u32(type).text(std::string("GNU\0", 4)).text(content).align(4).bytes();
  };
  const auto property = [](std::uint32_t type, std::uint32_t value) {
    ByteWriter out;
    return out.u32(type).u32(4).u32(value).u32(0).bytes();
  };
  ModuleBuilder builder;
  builder.segments = {{4, ".notes"}};
  const auto read_notes = [&](const std::string& notes) {
    builder.more = {{".notes", notes, 7, 0}};
    const MemberFacts facts = read_module_of(builder.build());
    CHECK(facts.problems.empty());
    return *facts.elf;
  };
  const auto facts = read_notes(note(1, "abcd") + note(3, std::string("\x01\xab\xff\x00", 4)) +
                                note(5, property(0xc0000002, 3) + property(0xc0008002, 7)));
  CHECK(facts.build_id == "01abff00");
  CHECK(facts.isa == "x86-64-v3");
  CHECK(read_notes(note(5, property(0xc0008002, 1))).isa.empty());  // the baseline
  CHECK(read_notes(note(3, "ab").substr(0, 17)).build_id.empty());  // cut off
  ByteWriter huge;
  huge.u32(0xfffffff0).u32(0xffffffff).u32(3).zeros(16);
  CHECK(read_notes(huge.bytes()).build_id.empty());
}

TEST_CASE("debug sections are measured") {
  ModuleBuilder builder;
  builder.more = {{".debug_info", std::string(100, 'x'), 1, 0}, {".zdebug_line", std::string(20, 'x'), 1, 0}};
  const auto facts = *read_module_of(builder.build()).elf;
  CHECK(facts.debug_info);
  CHECK(facts.debug_bytes == 120);
}
