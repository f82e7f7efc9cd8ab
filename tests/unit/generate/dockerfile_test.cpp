#include <sagekit/generate.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

using namespace sagekit;

namespace {

Spec spec_of_plugin(const std::string& name) {
  std::ifstream file(std::string(SAGEKIT_SOURCE_DIR) + "/plugins/" + name + "/plugin.toml");
  auto spec = parse_spec(std::string{std::istreambuf_iterator<char>(file), {}}, "plugin.toml");
  REQUIRE(spec);
  return std::move(*spec);
}

std::string only_file(const Spec& spec, const Request& request, const GenerateOptions& options = {}) {
  const auto made = generate("dockerfile", {{&spec, request, {}}}, options);
  REQUIRE_MESSAGE(made, made.error().message);
  REQUIRE(made->files.size() == 1);
  return made->files.front().text;
}

bool has(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a hostile word changes nothing but itself") {
  auto spec = spec_of_plugin("sage2");
  const std::string hostile = "a'b \"$(touch x)`id` ${PATH} \\ #é";
  spec.profiles.push_back(spec.profiles.front());
  spec.profiles.back().name = hostile;
  Request plain, named;
  plain.profile = spec.profiles.front().name;
  named.profile = hostile;
  auto expected = only_file(spec, plain), text = only_file(spec, named);
  const auto put_back = [&](std::string written, const std::string& word) {
    const auto at = text.find(written);
    REQUIRE_MESSAGE(at != std::string::npos, written);
    text.replace(at, written.size(), word);
  };
  put_back(R"('a'\''b "$(touch x)`id` ${PATH} \ #é')", plain.profile);
  put_back(R"("a'b \"$(touch x)`id` ${PATH} \\ #é")", '"' + plain.profile + '"');
  // The digests differ, for the files do.
  const auto rest = [](const std::string& whole) { return whole.substr(whole.find('\n', whole.find("sha256: "))); };
  CHECK(rest(text) == rest(expected));
}

TEST_CASE("headers come only where a module needs Python") {
  auto spec = spec_of_plugin("sage2");
  CHECK(has(only_file(spec, {}), "COPY --from=python:3.12-slim-bookworm /usr/local/include/python3.12 "));
  for (auto& kernel : spec.kernels) kernel.python_free = true, kernel.bindings.clear();
  CHECK_FALSE(has(only_file(spec, {}), "COPY --from=python"));
}

TEST_CASE("what is installed is a requirement or a wheel that goes along") {
  const auto spec = spec_of_plugin("sage2");
  GenerateOptions options;
  CHECK(has(only_file(spec, {}, options), "pip install --no-cache-dir sagekit=="));
  options.sagekit = "sagekit @ https://example.org/x y.whl";
  CHECK(generate("dockerfile", {{&spec, {}, {}}}, options).error().code == "GEN003");
  options.sagekit = "dist/sagekit-1.0-py3-none-any.whl";
  const auto made = generate("dockerfile", {{&spec, {}, {}}}, options);
  REQUIRE(made);
  REQUIRE(made->carried.size() == 1);
  CHECK(made->carried[0].path == "sagekit-1.0-py3-none-any.whl");
  CHECK(has(made->files[0].text, "COPY sagekit-1.0-py3-none-any.whl /opt/\n"));
}

TEST_CASE("a plugin that goes along has a file's name, whatever the kind") {
  auto spec = spec_of_plugin("sm121");
  spec.name = "../../up";
  for (const auto* kind : {"dockerfile", "bake", "github", "slurm", "ansible"}) {
    CAPTURE(kind);
    const auto made = generate(kind, {{&spec, {}, "/tmp/sagekit-up.so"}}, {});
    REQUIRE_FALSE(made);
    CHECK(made.error().code == "GEN003");
  }
}

TEST_CASE("a role brings the plugin and the wheel that no index has") {
  const auto spec = spec_of_plugin("sm121");
  GenerateOptions options;
  options.sagekit = "dist/sagekit-9.0-py3-none-any.whl";
  const auto made = generate("ansible", {{&spec, {}, "/opt/sagekit-sm121.so"}}, options);
  REQUIRE(made);
  const auto& defaults = made->files.front().text;
  CHECK(has(defaults, "sage_bring: [\"sagekit-9.0-py3-none-any.whl\", \"sagekit-sm121.so\"]\n"));
  // Where the cache of a host lies is the host's: the name follows it.
  CHECK(has(defaults, "sage_sagekit: \"{{ sage_cache }}/sagekit-9.0-py3-none-any.whl\"\n"));
  REQUIRE(made->carried.size() == 2);
  CHECK(made->carried.back().path == "roles/sage_sm121/files/sagekit-sm121.so");
}

TEST_CASE("an excluded plan has its reasons") {
  auto spec = spec_of_plugin("sage2");
  MatrixExclude all;
  all.reason = "not today", all.source = "here";
  spec.matrix.exclude.push_back(all);
  const auto made = generate("dockerfile", {{&spec, {}, {}}}, {});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == "GEN002");
  CHECK(made.error().kind == ErrorKind::no_match);
  CHECK(has(made.error().message, "not today"));
}

TEST_CASE("a target of a bake file takes no other cell than its own") {
  auto spec = spec_of_plugin("sage2");
  for (auto& row : spec.matrix.include) row.python = {"3.12", "3.13", "3.13t"};
  spec.matrix.exclude.clear();
  for (const auto& pythons : {std::vector<std::string>{}, {"3.13"}}) {
    Request request;
    request.profile = "current";
    request.pythons = pythons;
    request.torches = {"2.11"};
    const auto made = generate("bake", {{&spec, request, {}}}, {});
    REQUIRE_MESSAGE(made, made.error().message);
    const auto& text = made->files.back().text;
    CHECK(has(text, "-python313\"\n    PLATFORM"));  // with a star it would be that of 3.13t, too
    CHECK_FALSE(has(text, "-python313*\""));
    CHECK(has(text, "-python313t*\"") == pythons.empty());
    CHECK(has(text, "-python312*\"") == pythons.empty());
  }
}
