#include "gpu/sass.hpp"
#include "inspect/module_reader.hpp"
#include "support/fatbin_builder.hpp"

#include <sagekit/inspect.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;
using namespace sagekit::test;

namespace {

using Body = KernelResources::Body;
using Code = std::vector<sass::Instruction>;

std::string bytes_of(const Code& code) {
  ByteWriter out;
  for (const auto& [low, high] : code) out.u64(low).u64(high);
  return out.bytes();
}

SassFacts read(const Code& code, Capability capability = {9, 0}) {
  return read_sass(Bytes(bytes_of(code)), capability);
}

Body body(Code code, Capability capability = {9, 0}) {
  code.insert(code.end(), {sass::endless, sass::padding});
  return read(code, capability).body;
}

MemberFacts resources_of(const std::string& bytes, std::string_view name = "x") {
  InspectOptions options;
  options.resources = true;
  return read_module(name, Bytes(bytes), options, 2).facts;
}

std::string fatbin_of(const std::vector<std::string>& cubins, char compression = 0) {
  FatbinBuilder fatbin;
  for (const auto& cubin : cubins) fatbin.cubin(90, 'a', cubin, compression);
  return fatbin.build();
}

/// A module with these fatbins; each of `wired` is registered by a wrapper, with its address in place or in a
/// relocation.
std::string module_of(const std::vector<std::string>& fatbins, const std::vector<std::size_t>& wired, bool in_place) {
  ModuleBuilder plain;
  plain.more = {{".nv_fatbin", "", 1, 0}};
  std::string all;
  std::vector<std::uint64_t> offsets;
  for (const auto& one : fatbins) {
    offsets.push_back(all.size());
    all += one;
  }
  // Sections lie at file offset = address; what lies behind a section does not move it.
  const auto built = [&](std::uint64_t start) {
    ByteWriter wrappers, relocations;
    for (const auto i : wired) wrappers.u32(0x466243b1).u32(1).u64(in_place ? start + offsets[i] : 0).u64(0);
    ModuleBuilder module;
    module.more = {{".nv_fatbin", all, 1, 0}, {".nvFatBinSegment", wrappers.bytes(), 1, 0}};
    const std::string first = module.build();
    const auto segment = first.find(wrappers.bytes().substr(0, 8));
    if (!in_place)
      for (std::size_t i = 0; i < wired.size(); ++i)
        relocations.u64(segment + 24 * i + 8).u64(8).u64(start + offsets[wired[i]]);
    if (!in_place) module.more.push_back({".rela.dyn", relocations.bytes(), 4, 0});
    return module.build();
  };
  return built(built(0).find(all));
}

}  // namespace

TEST_CASE("a kernel that leaves at once is empty, one that stores is not") {
  CHECK(body({sass::set_stack, sass::exit}) == Body::empty);
  CHECK(body({sass::exit}) == Body::empty);
  CHECK(body({sass::padding, sass::exit}, {7, 0}) == Body::empty);
  CHECK(body({sass::set_stack, sass::store, sass::exit}) == Body::full);
  CHECK(body({sass::set_stack, sass::exit_if, sass::store, sass::exit}) == Body::full);
  CHECK(body({sass::set_stack, sass::multiply, sass::exit}) == Body::full);
  CHECK(body({}) == Body::full);
}

TEST_CASE("a kernel that can only trap is a trap, one that checks something is not") {
  CHECK(body({sass::set_stack, sass::trap}) == Body::trap);
  CHECK(body({sass::set_stack, sass::multiply, sass::exit_if, sass::trap}) == Body::trap);
  CHECK(body({sass::set_stack, sass::trap, sass::store, sass::exit}) == Body::trap);
  CHECK(body({sass::set_stack, sass::skip_one_if, sass::trap, sass::store, sass::exit}) == Body::full);
  CHECK(body({sass::set_stack, sass::old_skip_one_if, sass::trap, sass::store, sass::exit}, {8, 0}) == Body::full);
  CHECK(body({sass::set_stack, sass::store, sass::trap}) == Body::full);
  // Printing before the trap is no work; a function that comes back to an exit may have been.
  CHECK(body({sass::set_stack, sass::call, sass::trap}) == Body::trap);
  CHECK(body({sass::set_stack, sass::exit_if, sass::call, sass::trap}) == Body::trap);
  CHECK(body({sass::set_stack, sass::skip_one_if, sass::trap, sass::call, sass::exit}) == Body::full);
  CHECK(body({sass::set_stack, sass::jump_by_register, sass::trap}) == Body::full);
}

TEST_CASE("a kernel that shuffles, multiplies and traps before it stores is a trap: FP8 attention compiled for 8.0") {
  CHECK(body({sass::set_stack, sass::hmma, sass::shuffle, sass::trap, sass::trap, sass::store, sass::exit}, {8, 0}) ==
        Body::trap);
  CHECK(body({sass::set_stack, sass::hmma, sass::shuffle, sass::store, sass::trap, sass::exit}, {8, 0}) == Body::full);
  // ptxas also jumps by calls that never come back; where they lead counts.
  CHECK(body({sass::set_stack, sass::call_second_next, sass::trap, sass::store, sass::exit}, {8, 0}) == Body::full);
  CHECK(body({sass::set_stack, sass::call_second_next, sass::trap, sass::trap, sass::store, sass::exit}, {8, 0}) ==
        Body::trap);
  CHECK(body({sass::set_stack, sass::trap, sass::come_back}, {8, 0}) == Body::trap);
}

TEST_CASE("traps and tensor-core instructions inside a body are counted") {
  const auto facts =
      read({sass::set_stack, sass::hmma, sass::store, sass::trap, sass::trap, sass::qmma, sass::exit, sass::endless},
           {8, 9});
  CHECK(facts.traps == 2);
  CHECK(facts.mma_instructions == 2);
  CHECK(facts.body == Body::full);
  sass::Instruction wgmma = sass::hmma, fp4 = wgmma, tcgen = wgmma, integer = wgmma;
  wgmma.first = 0x79f3;
  fp4.first = 0x747f;
  tcgen.first = 0x75ea;
  integer.first = 0x7237;
  CHECK(read({wgmma, fp4, tcgen, integer, sass::multiply, sass::exit}).mma_instructions == 4);
}

TEST_CASE("jumps out of the code and code without an end are no trap") {
  sass::Instruction far = sass::skip_one_if;
  far.first |= std::uint64_t{0x1000} << 34;
  CHECK(body({sass::set_stack, far, sass::trap}) == Body::full);
  CHECK(read({sass::skip_one_if, sass::trap}).body == Body::full);
  CHECK(read_sass(Bytes(bytes_of({sass::trap}).substr(0, 15)), {9, 0}).instructions == 0);
  CHECK(read_sass(Bytes(), {9, 0}).body == Body::full);
}

TEST_CASE("instructions and the local memory they move are counted") {
  const auto facts = read({sass::set_stack, sass::store_local_16, sass::load_local_4, sass::load_local_4, sass::exit,
                           sass::endless, sass::padding, sass::padding});
  CHECK(facts.instructions == 5);
  CHECK(facts.local_store_bytes == 16);
  CHECK(facts.local_load_bytes == 8);
  CHECK(sass_is_known({7, 0}));
  CHECK(sass_is_known({12, 1}));
  CHECK_FALSE(sass_is_known({6, 1}));
}

TEST_CASE("registers stand in the code section where CUDA 9 and before wrote no record of them") {
  CubinBuilder cubin;
  cubin.kernels.clear();
  cubin.bodies = {{.registers = 56, .registers_in_section = true}, {.name = "second", .registers = 255}};
  const auto facts = resources_of(fatbin_of({cubin.build()}, 0));
  REQUIRE(facts.gpu.size() == 1);
  REQUIRE(facts.gpu[0].resources.size() == 2);
  CHECK(facts.gpu[0].resources[0].registers == 56);
  CHECK(facts.gpu[0].resources[1].registers == 255);
}

TEST_CASE("each kernel's needs are read, and the driver's part of shared memory is not the kernel's") {
  CubinBuilder cubin;
  cubin.kernels.clear();
  cubin.bodies = {{.registers = 40, .stack = 8, .shared = 1024 + 4096, .constants = 0x230},
                  {.name = "second", .code = {sass::set_stack, sass::trap, sass::endless}}};
  for (const char compression : {char{0}, 'l', 'z'}) {
    const auto facts = resources_of(fatbin_of({cubin.build()}, compression));
    CHECK(facts.problems.empty());
    CHECK(facts.kernels_read);
    REQUIRE(facts.gpu.size() == 1);
    const auto& code = facts.gpu[0];
    CHECK(code.kernels == 2);
    CHECK(code.names == std::vector<std::string>{"_Z5scalePf", "second"});
    REQUIRE(code.resources.size() == 2);
    const auto& first = code.resources[0];
    CHECK(first.name == "_Z5scalePf");
    CHECK(first.registers == 40);
    CHECK(first.stack_bytes == 8);
    CHECK(first.shared_bytes == 4096);
    CHECK(first.constant_bytes == 0x230);
    CHECK(first.code_bytes == 80);
    CHECK(first.instructions == 3);
    CHECK(first.local_counted);
    CHECK(first.body == Body::full);
    CHECK(code.resources[1].body == Body::trap);
    CHECK(code.compiled_from == Capability{9, 0});
  }
}

TEST_CASE("below 9.0 all shared memory is the kernel's, and below 7.0 instructions are not counted") {
  CubinBuilder cubin;
  cubin.sm = 61;
  cubin.new_abi = cubin.accelerated = false;
  cubin.options = "";
  cubin.virtual_sm = 50;
  cubin.kernels.clear();
  cubin.bodies = {{.code = {sass::trap, sass::endless}, .shared = 2048}};
  FatbinBuilder fatbin;
  fatbin.cubin(61, 0, cubin.build());
  const auto facts = resources_of(fatbin.build());
  REQUIRE(facts.gpu.size() == 1);
  REQUIRE(facts.gpu[0].resources.size() == 1);
  const auto& kernel = facts.gpu[0].resources[0];
  CHECK(kernel.shared_bytes == 2048);
  CHECK_FALSE(kernel.local_counted);
  CHECK(kernel.instructions == 0);
  CHECK(kernel.body == Body::full);
  CHECK(facts.gpu[0].compiled_from == Capability{5, 0});
}

TEST_CASE("a cubin whose kernels share more code than there is is damaged") {
  CubinBuilder cubin;
  cubin.bodies = {{}};
  cubin.kernels.assign(2, "again");
  CHECK(resources_of(cubin.build()).problems.empty());
  // All of them point to the first section, which has their names and so grows with them.
  cubin.kernels.assign(40, std::string(4000, 'k'));
  CHECK(std::ranges::any_of(resources_of(cubin.build()).problems,
                            [](const Diagnostic& one) { return one.code == "FAT007"; }));
}

TEST_CASE("the JSON has each kernel's needs and the greatest of them") {
  CubinBuilder cubin;
  cubin.kernels.clear();
  cubin.bodies = {{.registers = 40}, {.name = "second", .code = {sass::exit}}};
  InspectOptions options;
  options.resources = true;
  FileFacts file;
  file.kind = "fatbin";
  file.members.push_back(resources_of(fatbin_of({cubin.build()})));
  const std::string json = inspect_json({file}, options);
  for (const auto part :
       {"\"traps\": 0", "\"mma_instructions\": 0", "\"max_registers\": 40", "\"hollow_kernels\": 1",
        "\"body\": \"empty\"", "\"compiled_from\": \"9.0\"", "\"constant_bytes\": 528", "\"local_store_bytes\": 0"}) {
    CAPTURE(part);
    CHECK(json.find(part) != std::string::npos);
  }
}

TEST_CASE("containers are matched with the wrappers that register them") {
  const std::string one = fatbin_of({CubinBuilder().build()});
  const auto wiring = [&](const std::vector<std::size_t>& wired, bool in_place) {
    return *resources_of(module_of({one, one}, wired, in_place)).wiring;
  };
  CHECK(wiring({0, 1}, true).containers == 2);
  CHECK(wiring({0, 1}, true).wrappers == 2);
  CHECK(wiring({1}, true).wrappers == 1);
  CHECK(wiring({1, 1}, true).wrappers == 1);
  CHECK(wiring({0, 1}, false).wrappers == 2);
  CHECK(wiring({0}, false).wrappers == 1);
  CHECK_FALSE(resources_of(one).wiring);
}

TEST_CASE("a kernel that two containers hold for one arch is counted, unless any file may bring it") {
  const auto repeated = [](std::uint8_t binding, const std::string& name = "_Z5scalePf") {
    CubinBuilder cubin;
    cubin.kernels.clear();
    cubin.bodies = {{.name = name, .binding = binding}};
    const std::string one = fatbin_of({cubin.build()});
    return resources_of(module_of({one, one}, {0, 1}, true)).wiring->repeated;
  };
  CHECK(repeated(1) == 1);
  CHECK(repeated(0) == 0);
  CHECK(repeated(2) == 0);
  CHECK(repeated(1, "plain_c") == 1);
  CHECK(repeated(1, "_ZN2at5scaleEPf") == 1);
  CHECK(repeated(1, "_ZN3cub11EmptyKernelIvEEvv") == 0);
  CHECK(repeated(1, "_Z5scaleIfEvPT_") == 0);
  CHECK(repeated(1, "_ZN12_GLOBAL__N_15scaleEPf") == 0);
}

TEST_CASE("without kernels the beginnings of compressed images are held against their headers") {
  CubinBuilder cubin;
  cubin.sm = 80;
  cubin.options = "";
  cubin.accelerated = false;
  for (const char compression : {'l', 'z'}) {
    FatbinBuilder fatbin;
    fatbin.cubin(86, 0, cubin.build(), compression);
    fatbin.ptx(90, 0, sample_ptx("sm_80"), compression);
    InspectOptions options;
    const auto facts = read_module("x", Bytes(fatbin.build()), options, 1).facts;
    REQUIRE(facts.problems.size() == 2);
    CHECK(facts.problems[0].code == "FAT008");
    CHECK(facts.problems[1].code == "FAT008");
    options.whole_file = false;
    CHECK(read_module("x", Bytes(fatbin.build()), options, 1).facts.problems.empty());
  }
}

TEST_CASE("code hidden anywhere in a large file is found, on every 8-byte boundary around a piece's end") {
  const std::string fatbin = fatbin_of({CubinBuilder().build()});
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{16}, std::size_t{24}}) {
    std::string data((std::size_t{4} << 20) - 16 + at, '\0');
    data += fatbin;
    const auto facts = resources_of([&] {
      ModuleBuilder module;
      module.more = {{".rodata", data, 1, 0}};
      return module.build();
    }());
    CAPTURE(at);
    CHECK(facts.gpu.size() == 1);
  }
}
