#include "gpu/gpu_code.hpp"
#include "gpu/ptx_reader.hpp"
#include "inspect/module_reader.hpp"
#include "support/fatbin_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;
using test::CubinBuilder;
using test::FatbinBuilder;
using test::ModuleBuilder;

namespace {

using Names = std::vector<std::string>;

MemberFacts gpu_code_of(const std::string& bytes, bool kernels = false, bool whole_file = true) {
  InspectOptions options;
  options.kernels = kernels;
  options.whole_file = whole_file;
  return read_module("x", Bytes(bytes), options, 2).facts;
}

/// "cubin sm_90a x2 k1" for each entry, and "!CODE" for each problem that is not a note.
Names told(const MemberFacts& facts) {
  Names lines;
  for (const GpuCode& code : facts.gpu)
    lines.push_back(std::string(code.lto   ? "lto "
                                : code.ptx ? "ptx "
                                           : "cubin ") +
                    sm_name(code.arch) + " x" + std::to_string(code.count) +
                    (code.kernels != 0 ? " k" + std::to_string(code.kernels) : "") +
                    (code.toolkit.empty() ? "" : " " + code.toolkit) + (code.loaded ? "" : " not loaded"));
  for (const Diagnostic& one : facts.problems)
    if (one.severity != Severity::note) lines.push_back("!" + one.code);
  return lines;
}

std::string plain_cubin(unsigned sm) {
  CubinBuilder cubin;
  cubin.sm = sm;
  cubin.options = "";
  cubin.accelerated = false;
  return cubin.build();
}

std::string with_sections(std::vector<test::ElfBuilder::Section> more, bool table = true) {
  ModuleBuilder module;
  module.more = std::move(more);
  module.section_table = table;
  return module.build();
}

}  // namespace

TEST_CASE("headers tell arch, suffix, kind and PTX toolkit without decompressing") {
  FatbinBuilder fatbin;
  fatbin.cubin(80, 0, plain_cubin(80), 'z');
  fatbin.cubin(90, 'a', CubinBuilder().build(), 'l');
  fatbin.cubin(120, 'f', plain_cubin(120), 'z');
  fatbin.ptx(90, 0, test::sample_ptx(), 'z');
  fatbin.add({.kind = 8, .sm = 90, .image = "12345678"});
  const MemberFacts facts = gpu_code_of(fatbin.build());
  CHECK(told(facts) ==
        Names{"cubin sm_80 x1", "ptx sm_90 x1 13.0", "lto sm_90 x1", "cubin sm_90a x1", "cubin sm_120f x1"});
  CHECK(facts.gpu[0].zstd == 1);
  CHECK(facts.gpu[3].zstd == 0);
}

TEST_CASE("an entry reads the same whether it is stored raw, as LZ4 or as zstd") {
  for (const char compression : {'\0', 'l', 'z'}) {
    CAPTURE(compression);
    FatbinBuilder fatbin;
    fatbin.cubin(90, 'a', CubinBuilder().build(), compression);
    fatbin.ptx(90, 0, test::sample_ptx(), compression);
    const MemberFacts facts = gpu_code_of(fatbin.build(), true);
    CHECK(told(facts) == Names{"ptx sm_90 x1 k2 13.0", "cubin sm_90a x1 k1 13.0"});
    CHECK(facts.gpu[0].names == Names{"_Z5scalePf", "second"});
    CHECK(facts.gpu[1].names == Names{"_Z5scalePf"});
  }
}

TEST_CASE("a raw cubin tells its toolkit without reading kernels") {
  FatbinBuilder fatbin;
  fatbin.cubin(90, 'a', CubinBuilder().build());
  CHECK(told(gpu_code_of(fatbin.build())) == Names{"cubin sm_90a x1 13.0"});
}

TEST_CASE("images of several translation units are summed and their names kept once") {
  FatbinBuilder one;
  one.cubin(90, 'a', CubinBuilder().build());
  const MemberFacts facts =
      gpu_code_of(one.build() + std::string(8, '\0') + one.build() + FatbinBuilder().build(), true);
  CHECK(told(facts) == Names{"cubin sm_90a x2 k2 13.0"});
  CHECK(facts.gpu[0].names.size() == 1);
}

TEST_CASE("a longer entry header is skipped, not misread") {
  FatbinBuilder fatbin;
  fatbin.cubin(80, 0, plain_cubin(80)).header_size = 72;
  fatbin.cubin(86, 0, plain_cubin(86)).header_size = 144;
  CHECK(told(gpu_code_of(fatbin.build())) == Names{"cubin sm_80 x1 13.0", "cubin sm_86 x1 13.0"});
}

TEST_CASE("old and new cubins tell their arch; the recorded option knows the suffix best") {
  CubinBuilder cubin;
  CHECK(told(gpu_code_of(cubin.build())) == Names{"cubin sm_90a x1 13.0"});
  cubin.options = "";
  CHECK(told(gpu_code_of(cubin.build())) == Names{"cubin sm_90a x1 13.0"});
  cubin.sm = 120;
  cubin.accelerated = false;
  cubin.options = "-arch sm_120f -m 64";
  CHECK(told(gpu_code_of(cubin.build())) == Names{"cubin sm_120f x1 13.0"});
  CubinBuilder old;
  old.new_abi = false;
  old.options = "";
  old.toolkit = 124;
  CHECK(told(gpu_code_of(old.build(), true)) == Names{"cubin sm_90a x1 k1 12.4"});
  old.sm = 60;  // the bit that means `a` from 9.0 on
  CHECK(told(gpu_code_of(old.build())) == Names{"cubin sm_60 x1 12.4"});
}

TEST_CASE("sections are told apart by what is loaded") {
  FatbinBuilder fatbin;
  fatbin.cubin(80, 0, plain_cubin(80));
  const std::string bytes = with_sections({{".nv_fatbin", fatbin.build()}, {"__nv_relfatbin", fatbin.build()}});
  CHECK(told(gpu_code_of(bytes)) == Names{"cubin sm_80 x1 13.0", "cubin sm_80 x1 13.0 not loaded"});
}

TEST_CASE("GPU code outside its sections is found, and only when the whole file is read") {
  FatbinBuilder fatbin;
  fatbin.cubin(80, 0, plain_cubin(80));
  const std::string bytes = with_sections({{".rodata", std::string(160, 'x') + fatbin.build() + std::string(64, 'y')},
                                           {".data", std::string(24, 'x') + CubinBuilder().build()}});
  const MemberFacts facts = gpu_code_of(bytes);
  CHECK(told(facts) == Names{"cubin sm_80 x1 13.0 not loaded", "cubin sm_90a x1 13.0 not loaded"});
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].code == "FAT010");
  CHECK(told(gpu_code_of(bytes, false, false)).empty());
}

TEST_CASE("a program that knows the first word of a fatbin has no fatbin") {
  // sagekit's own library, as GCC 12 made it: movabs $0x100001ba55ed50,%rsi; cmp %rsi,%r10; je; movabs $..., eight
  // bytes aligned.
  const std::string text = std::string(160, 'x') +
                           std::string("\x50\xed\x55\xba\x01\x00\x10\x00\x49\x39\xf2\x74\x20\x48\xb9\xff", 16) +
                           std::string(64, '\xff');
  const MemberFacts facts = gpu_code_of(with_sections({{".text", text}}));
  CHECK(told(facts).empty());
  CHECK(facts.problems.empty());
}

TEST_CASE("without a section table the code is found, and it is an error that nobody knows what is loaded") {
  FatbinBuilder fatbin;
  fatbin.cubin(80, 0, plain_cubin(80));
  CHECK(told(gpu_code_of(with_sections({{".nv_fatbin", fatbin.build()}}, false))) ==
        Names{"cubin sm_80 x1 13.0", "!FAT012"});
}

TEST_CASE("each fault of a fatbin is an error and what can be listed is listed") {
  struct Fault {
    const char* name;
    Names expected;
    void (*change)(FatbinBuilder&);
    bool kernels = false;
  };
  const Names good = {"cubin sm_80 x1 13.0", "cubin sm_90a x1 13.0"};
  const auto and_error = [&](const char* code, bool first = true) {
    Names lines = first ? good : Names{good[1]};
    lines.emplace_back(code);
    return lines;
  };
  const std::vector<Fault> faults = {
      {"container larger than the section", and_error("!FAT001"), [](FatbinBuilder& f) { f.size = 1 << 20; }},
      {"container of no bytes with entries behind it", {"!FAT001"}, [](FatbinBuilder& f) { f.size = 0; }},
      {"unknown container version", {"!FAT001"}, [](FatbinBuilder& f) { f.version = 2; }},
      {"unknown entry version", {"!FAT002"}, [](FatbinBuilder& f) { f.entries[0].version = 7; }},
      {"odd header size", {"!FAT002"}, [](FatbinBuilder& f) { f.entries[0].header_size = 67; }},
      {"payload beyond the container",
       {good[0], "!FAT002"},
       [](FatbinBuilder& f) { f.entries[1].payload_size = ~0ull - 8; }},
      {"unknown kind", and_error("!FAT003", false), [](FatbinBuilder& f) { f.entries[0].kind = 0x40; }},
      {"impossible SM", and_error("!FAT004", false), [](FatbinBuilder& f) { f.entries[0].sm = 70000; }},
      {"a and f at once", and_error("!FAT004"), [](FatbinBuilder& f) { f.entries[1].more_flags = 0x200000; }},
      {"compressed size without a method",
       {"cubin sm_80 x1", good[1], "!FAT005"},
       [](FatbinBuilder& f) { f.entries[0].compressed_size = 16; }},
      {"two methods at once",
       {"cubin sm_80 x1", good[1], "!FAT005"},
       [](FatbinBuilder& f) { f.entries[0].more_flags = 0xa000; }},
      {"the unread old method",
       {"cubin sm_80 x1", good[1], "!FAT005"},
       [](FatbinBuilder& f) { f.entries[0].more_flags = 0x1000; }},
      {"claims to grow without measure",
       {"cubin sm_80 x1", good[1], "!FAT006"},
       [](FatbinBuilder& f) {
         f.entries[0].compression = 'z';
         f.entries[0].decompressed_size = 1ull << 40;
       }},
      {"other size when decompressed",
       {"cubin sm_80 x1", "cubin sm_90a x1 k1 13.0", "!FAT005"},
       [](FatbinBuilder& f) {
         f.entries[0].compression = 'z';
         f.entries[0].decompressed_size = 100;
       },
       true},
      {"image that is no cubin",
       {"cubin sm_80 x1", good[1], "!FAT007"},
       [](FatbinBuilder& f) { f.entries[0].image = "nothing of the kind"; }},
      {"cubin cut off",
       {"cubin sm_80 x1", good[1], "!FAT007"},
       [](FatbinBuilder& f) { f.entries[0].image.resize(200); }},
      {"cubin of another arch", and_error("!FAT008"), [](FatbinBuilder& f) { f.entries[0].image = plain_cubin(86); }},
      {"cubin of another suffix",
       {good[0], "cubin sm_90 x1 13.0", "!FAT008"},
       [](FatbinBuilder& f) { f.entries[1].suffix = 0; }},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.name);
    FatbinBuilder fatbin;
    fatbin.cubin(80, 0, plain_cubin(80));
    fatbin.cubin(90, 'a', CubinBuilder().build());
    fault.change(fatbin);
    const MemberFacts facts = gpu_code_of(with_sections({{".nv_fatbin", fatbin.build()}}), fault.kernels, false);
    Names lines = told(facts);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    CHECK(lines == fault.expected);
  }
}

TEST_CASE("PTX whose text disagrees with the header, or has no target, is an error") {
  FatbinBuilder fatbin;
  fatbin.ptx(90, 0, test::sample_ptx("sm_80"), 'l');
  CHECK(told(gpu_code_of(fatbin.build(), true)) == Names{"ptx sm_90 x1 k2 13.0", "!FAT008"});
  FatbinBuilder other;
  other.ptx(90, 0, "nothing of the kind");
  CHECK(told(gpu_code_of(other.build())) == Names{"ptx sm_90 x1 13.0", "!FAT009"});
}

TEST_CASE("a PTX file is read by content") {
  const auto reading =
      read_module("k.ptx", Bytes(std::string_view("// x\n.version 8.8\n.target sm_120f, debug\n")), {}, 1);
  CHECK(reading.kind == "ptx");
  CHECK(told(reading.facts) == Names{"ptx sm_120f x1 12.9"});
  // Found by the fuzzer: the suffix of a target that was refused stuck to the next one.
  const auto twice =
      read_module("k.ptx", Bytes(std::string_view(".version 8.8\n.target sm_a\n.target sm_\n.target sm_90\n")), {}, 1);
  CHECK(told(twice.facts) == Names{"ptx sm_90 x1 12.9"});
  CHECK(read_module("a.cpp", Bytes(std::string_view("// no ptx\nint x = a.version;\n")), {}, 1).kind == "");
}

TEST_CASE("sections that share bytes are refused") {
  FatbinBuilder fatbin;
  fatbin.cubin(80, 0, plain_cubin(80));
  std::string bytes = with_sections({{".nv_fatbin", fatbin.build()}, {"__nv_relfatbin", fatbin.build()}});
  // The second section's offset becomes the first's; they are the last two before the section names.
  const auto table = static_cast<std::size_t>(Bytes(bytes).u64(40));
  const std::size_t last = table + 64 * (Bytes(bytes).u16(60) - 2u);
  bytes.replace(last + 24, 8, bytes, last - 64 + 24, 8);
  CHECK(told(gpu_code_of(bytes)) == Names{"!FAT011"});
}

TEST_CASE("eight bytes of padding are those of toolkits before CUDA 10, more are damage") {
  std::string image = test::sample_ptx();
  while (test::lz4_literal_block(image).size() % 8 != 0) image += '\n';
  for (const std::size_t padding : {0, 8, 16}) {
    CAPTURE(padding);
    test::FatbinBuilder fatbin;
    fatbin.ptx(90, 0, image, 'l').more_padding = padding;
    const auto said = told(gpu_code_of(fatbin.build(), true));
    CHECK((padding < 16) == (said == Names{"ptx sm_90 x1 k2 13.0"}));
  }
}

TEST_CASE("the kernels of a PTX text are found wherever they stand, not in comments and quotes") {
  const std::string head = ".version 8.0\n.target sm_90\n";
  for (std::size_t shift = 0; shift < 70; ++shift) {
    CAPTURE(shift);
    const std::string text = head + std::string(shift, ' ') + ".visible .entry first(\n) { ret; }\n" +
                             "// .entry second(\n/* .entry third( */ .file 1 \".entry fourth(\"\n mad.end.entry %r1;" +
                             std::string(shift, '\n') + ".entry /* here */ fifth{}\n.entr .entryx sixth .entry";
    const auto facts = read_ptx(text, true);
    REQUIRE(facts);
    CHECK(facts->kernels == std::vector<std::string>{"first", "fifth", ""});
    CHECK(read_ptx(text, false)->kernels.empty());
  }
}
