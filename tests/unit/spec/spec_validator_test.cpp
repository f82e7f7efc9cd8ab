#include "spec/spec_validator.hpp"

#include "unit/spec/spec_samples.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

When when_torch(std::string_view range) {
  When when;
  when.torch = *parse_version_range(range);
  return when;
}

}  // namespace

TEST_CASE("each broken rule inside a GPU case has its code, place and words") {
  const SpecFault faults[] = {
      {"call = \"tiny:add\"", "call = \"tiny.add\"", "SPEC006", "\"tiny.add\" is not a function"},
      {"[[verify.gpu]]\nid = \"add\"", "[[verify.gpu]]", "SPEC003", "missing key \"id\""},
      {"arguments = [\"a\", \"b\",", "arguments = [\"a\", \"bb\",", "SPEC008", "there is no input or axis \"bb\""},
      {"\"scale=0.5\"", "\"scale=0.5x\"", "SPEC006", "neither a name nor a Python literal"},
      {"\"scale=0.5\", \"layout=layout\"", "\"scale=0.5\", \"layout\"", "SPEC013", "comes after one that has"},
      {"reference_arguments = [\"a\", \"b\"]", "reference_arguments = [\"a\", \"c\"]", "SPEC008",
       "input or axis \"c\""},
      {"reference = \"torch:add\"\nreference_arguments", "reference_arguments", "SPEC013", "need a reference"},
      {"cosine_min = 0.999", "cosine_min = 1.5", "SPEC012", "at most 1"},
      {"outputs = [\"sum\"]", "outputs = [\"some\"]", "SPEC008", "there is no input \"some\""},
      {"may_change = [\"b\"]", "may_change = [\"layout\"]", "SPEC008", "there is no input \"layout\""},
      {"repetitions = 4", "repetitions = 0", "SPEC012", "at least 1"},
      {"axis = \"layout\"", "axis = \"lay\"", "SPEC008", "there is no axis \"lay\""},
      {"value = \"NHD\"", "value = \"NDH\"", "SPEC008", "\"NDH\""},
      {"dims = [1, 2]", "dims = [1, 1]", "SPEC012", "two different whole numbers"},
      {"dims = [1, 2]", "dims = [1]", "SPEC012", "two different whole numbers"},
      {"name = \"length\"", "name = \"layout\"", "SPEC009", "the name of two axes or inputs"},
      {"values = [\"64\", \"1000\"]", "values = [\"64\", \"long\"]", "SPEC013", "\"long\" is not a size"},
      {"name = \"b\"\nshape = [\"2\", \"8\", \"length\"]", "name = \"b\"\nshape = [\"2\", \"8\", \"lenght\"]",
       "SPEC008", "\"lenght\""},
      {"dtype = \"float32\"", "dtype = \"float\"", "SPEC008", "it is not a dtype of torch"},
      {"distribution = \"uniform\"", "distribution = \"uniforn\"", "SPEC006", "is not a distribution"},
      {"capabilities = [\"9.0\"]\ncall", "capabilities = [\"8.9\"]\ncall", "SPEC008", "there is no [[arch]] \"8.9\""},
  };
  for (const auto& fault : faults) check_fault(fault);
}

TEST_CASE("a GPU case may not make more combinations than anyone waits for") {
  std::string many = "values = [\"64\"";
  for (int i = 1; i < 300; ++i) many += ", \"" + std::to_string(i + 64) + "\"";
  check_fault({"values = [\"64\", \"1000\"]", many + "]", "SPEC012", "more than 512 combinations"});
}

TEST_CASE("each broken rule between rows has its code, place and words") {
  const SpecFault faults[] = {
      {"platform = \"win_amd64\"\ncommit = \"1", "platform = \"win_amd64\"\ncommit = \"7", "SPEC008",
       "there is no [[source.revision]] \"7111111111"},
      {"default = \"1111111111", "default = \"7111111111", "SPEC008", "there is no [[source.revision]]"},
      {"defects = [\"twice\"]", "defects = [\"twyce\"]", "SPEC008", "there is no [[source.defect]] \"twyce\""},
      {"edit = \"once\"", "edit = \"one\"", "SPEC008", "there is no [[source.edit]] \"one\""},
      {"source_shim = \"lean\"", "source_shim = \"clean\"", "SPEC008", "there is no [[build.shim]] \"clean\""},
      {"binding_shim = \"lean\"", "binding_shim = \"lin\"", "SPEC008", "there is no [[build.shim]] \"lin\""},
      {"capabilities = [\"8.0\", \"9.0\"]", "capabilities = [\"8.0\", \"8.9\"]", "SPEC008",
       "there is no [[arch]] \"8.9\""},
      {"capability = \"9.0\"\nmodules", "capability = \"9.9\"\nmodules", "SPEC008", "there is no [[arch]] \"9.9\""},
      {"modules = [\"tiny._add\"]", "modules = [\"tiny._sub\"]", "SPEC008", "there is no [[kernel]] \"tiny._sub\""},
      {"when = { features = [\"new-arch\"] }", "when = { features = [\"new_arch\"] }", "SPEC008", "source feature"},
      {"not_features = [\"old-setup\"]", "not_features = [\"old-stuff\"]", "SPEC008", "source feature \"old-stuff\""},
      {"revision = \"v2.2.0\"", "revision = \"v2.3.0\"", "SPEC008", "there is no [[source.revision]] \"v2.3.0\""},
      {"revision = \"v2.2.0\"", "revision = \"1111111\"", "SPEC008", "there is no [[source.revision]] \"1111111\""},
      {"default = \"dotted\"", "default = \"doted\"", "SPEC008", "there is no [[naming.scheme]] \"doted\""},
      {"commit = \"1111111333333333333333333333333333333333\"", "commit = \"1111111111111111111111111111111111111111\"",
       "SPEC009", "source.revision commit"},
      {"version = \"2.1.1\"\n", "version = \"2.1.1\"\nnames = [\"main\"]\n", "SPEC009", "\"main\" names two revisions"},
      {"[[source.vendored]]", "[[source.defect]]\nid = \"twice\"\nmessage = \"m\"\n[[source.vendored]]", "SPEC009",
       "source.defect id \"twice\" is there twice"},
      {"[[arch]]\ncapability = \"10.0\"", "[[arch]]\ncapability = \"9.0\"", "SPEC009",
       "arch capability \"9.0\" is there twice"},
      {"[[package_files]]", "[[dispatch]]\ncapability = \"10.0\"\n[[package_files]]", "SPEC009", "dispatch capability"},
      {"python = [\"3.12\", \"3.13\"]", "python = [\"3.12\", \"3.12\"]", "SPEC009", "is in the list twice"},
      {"capabilities = [\"8.0\", \"9.0\"]", "capabilities = [\"8.0\", \"8.0\"]", "SPEC009", "is in the list twice"},
      {"[naming]", "[[profile]]\nname = \"default\"\ncells = [\"*\"]\n[naming]", "SPEC009", "profile name \"default\""},
      {"name = \"dotted\"", "name = \"build-tag\"", "SPEC009", "\"build-tag\" is a built-in scheme"},
      {"[[kernel]]", "[[build.shim]]\nname = \"lean\"\nfile = \"torch/extension.h\"\ntext = \"x\"\n[[kernel]]",
       "SPEC009", "has \"torch/extension.h\" twice"},
      {"[[kernel]]", "[[build.shim]]\nname = \"glibc-floor\"\nfile = \"a.h\"\ntext = \"x\"\n[[kernel]]", "SPEC009",
       "is the name of sagekit's own headers"},
      {"excluded = \"no branch for it\"", "excluded = \"no\"\ngencode = [\"10.0a\"]", "SPEC013",
       "may not have gencode"},
      {"[[arch]]\ncapability = \"10.0\"\nexcluded = \"no branch for it\"", "[[arch]]\ncapability = \"10.0\"", "SPEC013",
       "an arch needs gencode"},
      {"gencode = [\"9.0a\", ", "gencode = [\"10.0a\", ", "SPEC013", "does not run on 9.0"},
      {"refused = \"raises ValueError\"", "refused = \"x\"\nmodules = [\"tiny._add\"]", "SPEC013", "calls no modules"},
      {"torch_free = true", "torch_free = true\ntorch_libraries = [\"c10\"]", "SPEC013", "torch_free kernel"},
      {"[[dispatch]]", "[[kernel]]\nmodule = \"tiny._none\"\ncapabilities = [\"8.0\"]\n[[dispatch]]", "SPEC013",
       "a kernel needs sources or bindings"},
      {"[[profile]]", "[[matrix.exclude]]\nreason = \"all\"\n[[profile]]", "SPEC013", "would exclude every cell"},
      {"stable_headers = \"2.11.0\"\n\n[[matrix.include]]\ntorch = [\"2.8.0\"]",
       "[[matrix.include]]\ntorch = [\">=2.9,stable\"]", "SPEC013", "needs [matrix] stable_headers"},
      {"stable_headers = \"2.11.0\"\n\n[[matrix.include]]\ntorch = [\"2.8.0\"]",
       "stable_headers = \"2.8.0\"\n\n[[matrix.include]]\ntorch = [\">=2.9,stable\"]", "SPEC013",
       "cannot be compiled with the headers of torch 2.8.0"},
      {"version = \"{version}+cu{cuda_digits}.torch{torch_minor}\"", "version = \"{version}-cu{cuda_digits}\"",
       "SPEC006", "makes no version in normal form"},
      {"build = \"{torch_digits}\"", "build = \"t{torch_digits}\"", "SPEC006", "makes no build tag"},
  };
  for (const SpecFault& fault : faults) check_fault(fault);
}

TEST_CASE("a reference to a row whose name could not be read is not reported again") {
  std::string text = good_spec();
  text.replace(text.find("id = \"twice\""), 12, "id = \"tw ice\"");
  const auto spec = parse_spec(text, "x.toml");
  REQUIRE_FALSE(spec);
  REQUIRE(spec.error().size() == 1);
  CHECK(spec.error()[0].code == "SPEC006");
}

TEST_CASE("rows of one name may stand side by side when their conditions exclude one another") {
  const auto both = [](const When& a, const When& b) { return can_overlap(a, b) && can_overlap(b, a); };
  When with, without, other;
  with.features = {"x"};
  without.not_features = {"x"};
  other.features = {"y"};
  CHECK_FALSE(both(with, without));
  CHECK(both(with, other));
  CHECK(both(with, {}));
  When direct, setup_py;
  direct.backends = {"direct"};
  setup_py.backends = {"setup-py"};
  CHECK_FALSE(both(direct, setup_py));
  CHECK(both(direct, {}));
}

TEST_CASE("version ranges overlap when one version is in both") {
  const auto meet = [](std::string_view a, std::string_view b) { return can_overlap(when_torch(a), when_torch(b)); };
  CHECK_FALSE(meet("<2.13", ">=2.13"));
  CHECK(meet("<=2.13", ">=2.13"));
  CHECK(meet("<2.13", ">=2.12"));
  CHECK(meet(">2.12", "<2.13"));
  CHECK_FALSE(meet("==2.9.*", ">=2.10"));
  CHECK(meet("==2.9.*", ">2.9"));
  CHECK_FALSE(meet("==2.9.*", "!=2.9.*"));
  CHECK(meet("!=2.9", "!=2.10"));
  CHECK_FALSE(meet("==2.9", "!=2.9"));
}

TEST_CASE("a revision is found by commit, abbreviation and name, never by an abbreviation of two") {
  const Spec spec = *parse_spec(good_spec(), "good.toml");
  const auto& revisions = spec.source.revisions;
  CHECK(find_revision(spec, "1111111111111111111111111111111111111111") == &revisions[0]);
  CHECK(find_revision(spec, "v2.2.0") == &revisions[0]);
  CHECK(find_revision(spec, "11111113") == &revisions[1]);
  CHECK(find_revision(spec, "1111111") == nullptr);
  CHECK(find_revision(spec, "111111") == nullptr);
  CHECK(find_revision(spec, "") == nullptr);
  CHECK(find_revision(spec, "v2") == nullptr);
}

TEST_CASE("a condition holds when each given part does") {
  Revision revision;
  revision.features = {"x"};
  When when;
  CHECK(holds(when, revision));
  when.features = {"x"};
  when.not_features = {"y"};
  when.backends = {"direct"};
  when.torch = *parse_version_range(">=2.9");
  when.cuda = *parse_version_range("<13");
  CHECK(holds(when, revision));
  CHECK(holds(when, revision, "direct", "2.9.1+cu130", "12.9"));
  CHECK_FALSE(holds(when, revision, "setup-py"));
  CHECK_FALSE(holds(when, revision, "", "2.8.0"));
  CHECK_FALSE(holds(when, revision, "", "2.12", "13.0"));
  CHECK_FALSE(holds(when, revision, "", "main"));
  revision.features = {"x", "y"};
  CHECK_FALSE(holds(when, revision));
  revision.features = {};
  CHECK_FALSE(holds(when, revision));
}
