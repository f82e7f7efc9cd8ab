#include "unit/spec/spec_samples.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("a spec that uses every key is read into its values") {
  const auto parsed = parse_spec(good_spec(), "good.toml");
  REQUIRE(parsed);
  const Spec& spec = *parsed;
  CHECK(spec.name == "tiny");
  CHECK(spec.source.subdir == "python/tiny");
  REQUIRE(spec.source.revisions.size() == 2);
  CHECK(spec.source.revisions[0].names == std::vector<std::string>{"v2.2.0", "main"});
  CHECK(spec.source.revisions[1].tree.empty());
  CHECK(spec.source.defects[0].refuse);
  CHECK(spec.source.defects[0].capabilities == std::vector<Capability>{{9, 0}});
  CHECK(spec.source.vendored[0].include[1] == "!include/old/**");
  CHECK(spec.source.edits[0].find == "def twice():\n");
  CHECK(spec.source.edits[0].count == 2);
  REQUIRE(spec.source.fingerprints.size() == 1);
  CHECK(spec.source.fingerprints[0].text == "arch == \"");
  CHECK(spec.source.fingerprints[0].count == 3);
  CHECK(spec.source.edits[0].when.cuda.text == ">=12.4,<14");
  REQUIRE(spec.arches.size() == 3);
  CHECK(spec.arches[0].gencode[1] == Gencode{{{8, 0}}, {{8, 0}}, true});
  CHECK(spec.arches[1].gencode[0] == Gencode{{{9, 0}, ArchSuffix::a}, {{9, 0}, ArchSuffix::a}, false});
  CHECK(spec.arches[1].gencode[1] == Gencode{{{8, 0}}, {{9, 0}}, false});
  CHECK(spec.arches[1].on_request);
  CHECK_FALSE(spec.arches[1].ptx_allowed);
  CHECK(spec.arches[2].excluded == "no branch for it");
  CHECK(spec.build.standards[1].standard == "c++20");
  CHECK_FALSE(spec.build.shim_fallback);
  CHECK(spec.build.link_cost.memory_bytes == 200u << 20);
  CHECK(spec.build.glibc_floor == "2.17");
  CHECK(spec.build.shims[0].text == "#pragma once\n");
  REQUIRE(spec.kernels.size() == 2);
  CHECK(spec.kernels[0].source_cost.cpu_seconds == 1.5);
  CHECK(spec.kernels[0].source_cost.memory_bytes == 512u << 10);
  CHECK(spec.kernels[0].source_cost.device_memory_bytes == 768u << 10);
  CHECK_FALSE(spec.kernels[0].ptx);
  CHECK(spec.kernels[1].ptx);
  CHECK(spec.kernels[1].torch_free);
  CHECK(spec.dispatch[1].refused == "raises ValueError");
  CHECK(spec.package_files[0].exclude[0] == "tests/**");
  CHECK(spec.matrix.include[0].python.size() == 2);
  CHECK(spec.matrix.exclude[0].reason == "never published");
  CHECK(spec.profiles[0].arches == "8.0;9.0a");
  CHECK(spec.default_scheme == "dotted");
  CHECK(spec.metadata.requires_dist[0] == "torch=={torch_minor}.*");
  CHECK(spec.verify.size_min_bytes == 1u << 20);
  CHECK(spec.verify.size_max_bytes == 60u << 20);
  REQUIRE(spec.verify.gpu.size() == 1);
  const GpuCase& gpu = spec.verify.gpu[0];
  CHECK(gpu.call == "tiny:add");
  CHECK(gpu.axes.size() == 2);
  CHECK(gpu.inputs[0].shape == std::vector<std::string>{"2", "8", "length"});
  CHECK(gpu.transposed.dims == std::vector<int>{1, 2});
  CHECK(gpu.repetitions == 4);
  CHECK_FALSE(gpu.deterministic);
  CHECK(spec.companions[0].requires_dist == "triton>=3.6");
  CHECK(spec.advice[0].capabilities[0] == Capability{9, 0});
}

TEST_CASE("each fault of one key has its code, place and words") {
  const SpecFault faults[] = {
      {"name = \"tiny\"", "name = \"tiny", "SPEC001", "not valid TOML"},
      {"schema = 1", "schema = 2", "SPEC002", "schema 2 is not supported"},
      {"schema = 1", "schema = 0", "SPEC002", "this sagekit reads schema 1"},
      {"schema = 1", "schema = \"1\"", "SPEC005", "\"schema\" must be an integer"},
      {"[[advice]]", "[[advise]]", "SPEC004", "unknown key \"advise\""},
      {"module = \"tiny._add\"", "modul = \"tiny._add\"", "SPEC004", "unknown key \"modul\" in [kernel[0]]"},
      {"{ features = [\"new-arch\"], not", "{ feature = [\"new-arch\"], not", "SPEC004", "unknown key \"feature\""},
      {"[plugin]\nname = \"tiny\"", "[plugin]", "SPEC003", "missing key \"name\" in [plugin]"},
      {"count = 2", "count = \"2\"", "SPEC005", "\"count\" must be an integer, not a string"},
      {"count = 2", "count = 0", "SPEC012", "\"count\" must be at least 1"},
      {"count = 2", "count = 99999999999", "SPEC012", "\"count\""},
      {"refuse = true", "refuse = 1", "SPEC005", "\"refuse\" must be true or false"},
      {"[\"8.0\", \"9.0\"]", "[8.0, 9.0]", "SPEC005", "\"capabilities\" must be a list of strings only"},
      {"[naming]\n", "[[naming]]\n", "SPEC005", "\"naming\" must be a table"},
      {"date = \"2026-01-17T17:43:28Z\"", "date = 2026-01-17T17:43:28Z", "SPEC005", "not a date or time"},
      {"date = \"2026-01-17T17:43:28Z\"", "date = \"2026-02-30T17:43:28Z\"", "SPEC006", "is not a time in UTC"},
      {"date = \"2026-01-17T17:43:28Z\"", "date = \"2026-01-17 17:43:28\"", "SPEC006", "is not a time in UTC"},
      {"commit = \"1111111111111111111111111111111111111111\"", "commit = \"1111111\"", "SPEC006", "git object id"},
      {"tree = \"2222222222222222222222222222222222222222\"", "tree = \"222222222222222222222222222222222222222X\"",
       "SPEC006", "git object id"},
      {"url = \"https://example.org/tiny\"", "url = \"example.org/tiny\"", "SPEC006", "is not a URL"},
      {"name = \"tiny\"", "name = \"Tiny Plugin\"", "SPEC006", "is not a plugin name"},
      {"version = \"0.1.0\"", "version = \"one\"", "SPEC006", "is not a version in normal form"},
      {"capability = \"8.0\"", "capability = \"sm_80\"", "SPEC006", "is not a compute capability"},
      {"gencode = [\"9.0a\"", "gencode = [\"9.0x\"", "SPEC006", "is not an arch"},
      {"\"8.0>9.0\"", "\"9.0a>10.0\"", "SPEC006", "compute_90a cannot become code for sm_100"},
      {"cuda = \">=12.3\"", "cuda = \"12.3 or so\"", "SPEC006", "does not start with a comparison"},
      {"\"c++17\"", "\"C++17\"", "SPEC006", "is not a C++ standard"},
      {"\"tiny._add\"", "\"tiny-_add\"", "SPEC006", "is not a dotted Python name"},
      {"backends = [\"setup-py\"]", "backends = [\"setup_py\"]", "SPEC006", "is not a backend"},
      {"torch = [\"2.8.0\"]", "torch = [\"2.8.0+cu129\"]", "SPEC006", "is not a version number"},
      {"python = [\"3.12\"", "python = [\"3.12.1\"", "SPEC006", "is not a Python version"},
      {"python = [\"3.12\"", "python = [\"cp312\"", "SPEC006", "is not a Python version"},
      {"platform = [\"linux_x86_64\"", "platform = [\"linux-x86_64\"", "SPEC006", "is not a wheel platform"},
      {"arches = \"8.0;9.0a\"", "arches = \"8.0;ninety\"", "SPEC006", "is not an arch list"},
      {"urls = [\"Homepage, ", "urls = [\"", "SPEC006", "is not a labelled URL"},
      {"summary = \"adds\"", "summary = \"adds\\nRequires-Dist: evil\"", "SPEC006", "line break"},
      {"cxx_flags = [\"-O3\"]", "cxx_flags = [\"-O3\\u0000\"]", "SPEC006", "control character"},
      {"[\"TORCH_CUDA_ARCH_LIST={arch_list}\"]", "[\"TORCH CUDA\"]", "SPEC006", "is not an assignment"},
      {"[\"TORCH_CUDA_ARCH_LIST={arch_list}\"]", "[\"A={arches}\"]", "SPEC011", "not known here"},
      {"torch=={torch_minor}.*", "torch=={torch_mino}.*", "SPEC011", "torch_mino"},
      {"version = \"{version}+cu{cuda_digits}", "version = \"{version}+cu{cudadigits}", "SPEC011", "cudadigits"},
      {"from = \"tiny\"", "from = \"../tiny\"", "SPEC007", "leaves its folder"},
      {"from = \"tiny\"", "from = \"/tiny\"", "SPEC007", "it is absolute"},
      {"from = \"tiny\"", "from = \"a//tiny\"", "SPEC007", "an empty part"},
      {"from = \"tiny\"", "from = \"./tiny\"", "SPEC007", "a \".\" part"},
      {"from = \"tiny\"", "from = 'C:tiny'", "SPEC007", "names a drive"},
      {"subdir = \"python/tiny\"", "subdir = 'python\\tiny'", "SPEC007", "backslash"},
      {"sources = [\"csrc/add.cu\"]", "sources = [\"csrc/add.cu\",\n \"csrc/../../x.cu\"]", "SPEC007", "\"sources\""},
      {"include = [\"**/*.py\"]", "include = [\"../**/*.py\"]", "SPEC007", "leaves its folder"},
      {"license_files = [\"LICENSE\"]", "license_files = [\"/etc/passwd\"]", "SPEC007", "it is absolute"},
      {"cells = [\"tiny-*\", \"!*-python313\"]", "cells = []", "SPEC010", "\"cells\" may not be empty"},
      {"cells = [\"tiny-*\", ", "cells = [\"\", ", "SPEC010", "\"cells[0]\" may not be empty"},
      {"name = \"tiny\"", "name = \"\"", "SPEC010", "\"name\" may not be empty"},
      {"size_mib = [1, 60]", "size_mib = [60, 1]", "SPEC012", "the smaller first"},
      {"size_mib = [1, 60]", "size_mib = [1]", "SPEC012", "two numbers"},
      {"cpu_seconds = 1.5", "cpu_seconds = -1", "SPEC012", "between 0"},
      {"cpu_seconds = 1.5", "cpu_seconds = nan", "SPEC012", "between 0"},
      {"memory_mib = 0.5", "memory_mib = inf", "SPEC012", "between 0"},
  };
  for (const SpecFault& fault : faults) check_fault(fault);
}

TEST_CASE("all faults are reported at once, in the order of the text") {
  std::string text = good_spec();
  text.replace(text.find("\"9.0a\""), 6, "\"9.0x\"");
  text.replace(text.find("[verify]"), 8, "[verifi]");
  text.replace(text.find("name = \"tiny\""), 13, "nome = \"tiny\"");
  const auto spec = parse_spec(text, "x.toml");
  REQUIRE_FALSE(spec);
  REQUIRE(spec.error().size() == 4);
  CHECK(spec.error()[0].code == "SPEC003");
  CHECK(spec.error()[1].code == "SPEC004");
  CHECK(spec.error()[2].code == "SPEC006");
  CHECK(spec.error()[3].code == "SPEC004");
}

TEST_CASE("the nearest right word is offered and the line is given for the caret") {
  std::string text = good_spec();
  text.replace(text.find("[[kernel]]"), 10, "[[kernals]]");
  const auto spec = parse_spec(text, "x.toml");
  REQUIRE_FALSE(spec);
  const auto& d = spec.error().front();
  CHECK(d.code == "SPEC004");
  CHECK(d.hint == "did you mean \"kernel\"?");
  CHECK(d.where.text == "[[kernals]]");
  CHECK(d.where.column == 1);
}

TEST_CASE("another schema is told alone, whatever else the text has") {
  const auto spec = parse_spec("schema = 9\n[something]\nnew = true\n", "x.toml");
  REQUIRE_FALSE(spec);
  REQUIRE(spec.error().size() == 1);
  CHECK(spec.error()[0].code == "SPEC002");
  CHECK(spec.error()[0].hint == "use a newer sagekit");
}

TEST_CASE("an empty text lacks every required table") {
  const auto spec = parse_spec("", "x.toml");
  REQUIRE_FALSE(spec);
  CHECK(spec.error().size() >= 5);
  for (const Diagnostic& d : spec.error()) CHECK(d.code == "SPEC003");
}

TEST_CASE("a missing key of a row is reported at that row") {
  std::string text = good_spec();
  const std::string_view gone = "replace = '''\ndef once():\n'''\n";
  text.erase(text.find(gone), gone.size());
  const auto spec = parse_spec(text, "x.toml");
  REQUIRE_FALSE(spec);
  REQUIRE(spec.error().size() == 1);
  CHECK(spec.error()[0].message == "missing key \"replace\" in [source.edit[0]]");
  CHECK(spec.error()[0].where.text == "[[source.edit]]");
}
