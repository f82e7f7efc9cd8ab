#include <sagekit/naming.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

const NamingValues k_values{.version = "2.2.0",
                            .torch = "2.11.0",
                            .cuda = "13.0",
                            .date = "20260117",
                            .commit = "d1a57a546c3d395b1ffcbeecc66d81db76f3b4b5",
                            .arches = {{{9, 0}, ArchSuffix::a}, {{12, 0}, ArchSuffix::a}}};

std::string code_of(std::string_view file_name) {
  const auto wheel = parse_wheel_name(file_name);
  return wheel ? "" : wheel.error().code;
}

/// "version|build" of a built-in scheme.
std::string named(std::string_view scheme, const NamingValues& values) {
  const auto& schemes = builtin_schemes();
  const auto row = std::ranges::find(schemes, scheme, &NamingScheme::name);
  REQUIRE(row != schemes.end());
  return expand_template(row->version, values).value() + "|" + expand_template(row->build, values).value();
}

}  // namespace

TEST_CASE("every published form of a wheel name reads and joins again") {
  for (const char* name : {
           "sageattention-2.2.0+cu128torch2.7.1-cp312-cp312-win_amd64.whl",
           "sageattention-2.2.0+cu128torch2.7.1.post3-cp39-abi3-win_amd64.whl",
           "sageattention-2.2.0+cu130torch2.10.0andhigher.post6-cp310-abi3-win_amd64.whl",
           "sageattention-2.2.0+cu128-cp312-cp312-linux_x86_64.whl",
           "sageattention-2.2.0+cu12-cp313-cp313-manylinux_2_34_x86_64.whl",
           "sageattention-2.2.0+cu.12.8.torch.2.10-cp310-cp310-manylinux_2_28_x86_64.whl",
           "sageattention-2.2.0+cu130.torch2.13.0.sm90-cp312-cp312-linux_x86_64.whl",
           "sageattention-2.2.0+torch2.10.0.cu128.sm90fix1-cp312-cp312-linux_x86_64.whl",
           "sageattention-2.2.0-290.128-cp312-cp312-linux_x86_64.whl",
           "sageattn3-1.0.0-280.129-cp312-cp312-linux_x86_64.whl",
           "sageattn3-1.0.0-cp313-cp313-linux_x86_64.whl",
           "sageattention-2.1.1-cp311-cp311-linux_x86_64.whl",
           "sageattention-2.2.0+cu128torch2.6.0-cp312-cp312-linux_x86_64.whl",
           "sageattention-2.2.0-cp312-cp312-linux_aarch64.whl",
           "torch-2.10.0-3-cp312-cp312-manylinux_2_28_x86_64.whl",
           "numpy-2.0.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
           "Zope.Interface-5.0-py2.py3-none-any.whl",
           "a-1.0+cxx11abiTRUE-py3-none-any.whl",
       }) {
    const auto wheel = parse_wheel_name(name);
    CHECK_MESSAGE(wheel.has_value(), name);
    if (wheel) CHECK(wheel->file_name() == name);
  }
}

TEST_CASE("a wheel name is split at its dashes") {
  const auto wheel = parse_wheel_name("sageattn3-1.0.0-280.129-cp312-cp312-win_amd64.whl").value();
  CHECK(wheel.distribution == "sageattn3");
  CHECK(wheel.version == "1.0.0");
  CHECK(wheel.build == "280.129");
  CHECK(wheel.tags() == std::vector<std::string>{"cp312-cp312-win_amd64"});
  const auto two = parse_wheel_name("a-1-py2.py3-none-any.whl").value();
  CHECK(two.tags() == std::vector<std::string>{"py2-none-any", "py3-none-any"});
}

TEST_CASE("every naming scheme in circulation can be read, variant labels too") {
  for (const char* const name :
       {"sageattention-2.2.0-280.129-cp312-cp312-linux_x86_64.whl",
        "sageattention-2.2.0+cu130torch2.9.0-cp39-abi3-win_amd64.whl",
        "sageattention-2.2.0+cu130.torch2.9.1-cp310-abi3-manylinux_2_28_aarch64.manylinux_2_39_aarch64.whl",
        "sageattention-2.2.0+cu128torch2.6.0.post3-cp312-cp312-win_amd64.whl",
        "SageAttention-2.1.1+cu126torch2.6.0-cp310-cp310-linux_x86_64.whl",
        "flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl",
        "torch-2.11.0-cp312-cp312-manylinux_2_28_x86_64-cu130.whl"})
    CHECK_MESSAGE(parse_wheel_name(name).value().file_name() == name, name);
  const auto variant = parse_wheel_name("a-1.0-7-cp310-abi3-linux_aarch64-cu130_sm121.whl").value();
  CHECK(variant.build == "7");
  CHECK(variant.variant == "cu130_sm121");
  CHECK(variant.tags() == std::vector<std::string>{"cp310-abi3-linux_aarch64"});
  CHECK(parse_wheel_name("a-1.0-py3-none-any.whl").value().variant.empty());
}

TEST_CASE("a name that breaks a rule says which") {
  CHECK(code_of("a-1.0-py3-none-any.zip") == "NAM001");
  CHECK(code_of("dist/a-1.0-py3-none-any.whl") == "NAM001");
  CHECK(code_of("a-1.0-py3-none.whl") == "NAM002");
  CHECK(code_of("a-b-1.0-1-py3-none-any.whl") == "NAM002");
  CHECK(code_of(".whl") == "NAM002");
  CHECK(code_of("a__b-1.0-py3-none-any.whl") == "NAM003");
  CHECK(code_of("-1.0-py3-none-any.whl") == "NAM003");
  CHECK(code_of("a-1.0+cu130+torch2-py3-none-any.whl") == "NAM004");
  CHECK(code_of("a-1.0_1-py3-none-any.whl") == "NAM004");
  CHECK(code_of("a-x-py3-none-any.whl") == "NAM004");
  CHECK(code_of("a-1.0-cu128-py3-none-any.whl") == "NAM005");
  CHECK(code_of("a-1.0-py3..py2-none-any.whl") == "NAM006");
  CHECK(code_of("a-1.0-py3-none-linux x86.whl") == "NAM006");
  CHECK(code_of("a-1.0-py3-none-win_amd64-.whl") == "NAM006");  // a label has a letter at least
}

TEST_CASE("a browser's number behind a name is known") {
  CHECK(code_of("a-1.0-py3-none-any (1).whl") == "NAM006");
  CHECK(without_copy_number("a-1.0-py3-none-any (12).whl") == "a-1.0-py3-none-any.whl");
  for (const char* name : {"a-1.0-py3-none-any.whl", "a-1.0-py3-none-any (x).whl", "(1).whl", "a (1).zip", ".whl", ""})
    CHECK_MESSAGE(without_copy_number(name).empty(), name);
}

TEST_CASE("project names have one normal form") {
  CHECK(normalized_project("Sage_.Attention") == "sage-attention");
  CHECK(file_name_project("Sage-Attention.3") == "sage_attention_3");
}

TEST_CASE("PEP 440's normal form is told from its other spellings") {
  for (const char* text : {"2.2.0", "1!2.0", "1.0a1", "1.0rc2.post3.dev4", "2.2.0+cu130.torch2.11.20260117.gd1a57a5",
                           "0.1", "1.0+cu130torch2.10.0andhigher.post6", "1.0+0abc"})
    CHECK_MESSAGE(is_normal_version(text), text);
  for (const char* text : {"", "v1.0", "1.0-alpha1", "1.0.a1", "1.0a", "1.0+CU130", "1.0+cu_130", "1.0+01", "01.0",
                           "1.0-1", "1.0+", "1.0+a..b", "1.0.", "1.0 ", "1.0+cu130+x", "1.0.post", "0!1.0", "abc"})
    CHECK_MESSAGE(!is_normal_version(text), text);
}

TEST_CASE("the built-in schemes name wheels as their sources do") {
  NamingValues seed = k_values;
  seed.torch = "2.8.0";
  seed.cuda = "12.9";
  CHECK(named("build-tag", seed) == "2.2.0|280.129");
  CHECK(named("build-tag", k_values) == "2.2.0|2110.130");
  CHECK(named("local-version", seed) == "2.2.0+cu129torch2.8.0|");
  CHECK(named("plain", k_values) == "2.2.0|");
  CHECK(named("default", k_values) == "2.2.0+cu130.torch2.11.20260117.gd1a57a5|");
  seed.cuda = "12.8.1";
  CHECK(named("build-tag", seed) == "2.2.0|280.128");
}

TEST_CASE("every version a built-in scheme makes is in normal form") {
  for (const NamingScheme& scheme : builtin_schemes())
    CHECK_MESSAGE(is_normal_version(expand_template(scheme.version, k_values).value()), scheme.name);
}

TEST_CASE("a value that a variant does not have takes its segment along") {
  NamingValues bare = k_values;
  bare.torch.clear();
  CHECK(named("default", bare) == "2.2.0+cu130.20260117.gd1a57a5|");
  CHECK(named("local-version", bare) == "2.2.0+cu130|");
  CHECK(named("build-tag", bare) == "2.2.0|130");
  constexpr std::string_view k_spelled_out = "{version}+cu.{cuda}.torch.{torch_minor}";
  CHECK(expand_template(k_spelled_out, bare).value() == "2.2.0+cu.13.0");
  CHECK(expand_template("{version}+ours.{torch_minor}", bare).value() == "2.2.0+ours");
  bare.cuda.clear();
  CHECK(expand_template(k_spelled_out, bare).value() == "2.2.0");
  CHECK(named("default", bare) == "2.2.0+20260117.gd1a57a5|");
  CHECK(named("local-version", bare) == "2.2.0|");
  CHECK(named("build-tag", bare) == "2.2.0|");
}

TEST_CASE("a template's words are known, and its braces close") {
  CHECK(expand_template("{sms}", k_values).value() == "sm90a.sm120a");
  CHECK(expand_template("torch=={torch_minor}.*", k_values).value() == "torch==2.11.*");
  CHECK(expand_template("triton>=3.0; sys_platform == \"linux\"", k_values).value() ==
        "triton>=3.0; sys_platform == \"linux\"");
  const auto unknown = expand_template("{trch}", k_values);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == "NAM010");
  CHECK(unknown.error().hint.find("torch") != std::string::npos);
  CHECK_FALSE(expand_template("{version", k_values));
  CHECK_FALSE(expand_template("version}", k_values));
  CHECK(expand_template("{version}\n", k_values).error().code == "NAM010");
  // Reading marks words by a byte that no template may bring itself.
  CHECK_FALSE(WheelNameReader::make(std::vector<NamingScheme>{{"own", "{version}+\1\x7f"}}));
}
