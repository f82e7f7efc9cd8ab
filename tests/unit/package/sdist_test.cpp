#include "archive/archive.hpp"
#include "source/git_tree.hpp"
#include "unit/verify/fixture.hpp"

#include <sagekit/sdist.hpp>

#include <nlohmann/json.hpp>

using namespace sagekit;
using namespace sagekit::test;
namespace fs = std::filesystem;

namespace {

/// A source of three files, of which two are needed, pinned by its tree id.
struct SourceFolder {
  TemporaryFolder folder = *TemporaryFolder::create(fs::temp_directory_path(), "sdist \xc3\xa9");
  Spec spec = demo_spec();
  Plan plan;

  SourceFolder() {
    for (const auto& [name, text] : std::map<std::string, std::string>{
             {"demo/ops.py", "print(1)\n"}, {"README.md", "# Demo\n"}, {"assets/large.bin", "left out"}}) {
      fs::create_directories((source() / name).parent_path());
      REQUIRE(write_file_atomic(source() / name, text, name == "demo/ops.py"));
    }
    spec.source.include = {"demo/**", "README.md"};
    spec.source.edits = {{"mend", "demo/ops.py", "1", "2", 1, {}, "it was wrong", "a thread"}};
    spec.source.defects.clear();
    spec.source.vendored.clear();
    spec.metadata.readme = "README.md";
    plan.revision = spec.source.revisions[0];
    plan.revision.tree = tree_id(*list_folder(source()));
    plan.commit = plan.revision.commit;
  }
  fs::path source() const { return folder.path() / "source"; }
  Result<Sdist> write(const std::string& out, const fs::path& plugin = {}) const {
    SdistOptions options;
    options.output_folder = folder.path() / out;
    options.command = "sagekit --plugin demo generate sdist";
    options.carried_plugin = plugin;
    options.build.store = folder.path() / "store";
    options.build.source = source().string();
    options.say = [](const std::string&) {};
    ScriptedRunner runner;
    return write_sdist(spec, plan, options, runner);
  }
};

std::map<std::string, std::string> members(const fs::path& file) {
  std::map<std::string, std::string> found;
  const auto bytes = read_file(file);
  REQUIRE(bytes);
  REQUIRE(read_archive(*bytes, {}, [&](const std::string& path, std::string_view content) -> Status {
    found[path] = content;
    return {};
  }));
  return found;
}

}  // namespace

TEST_CASE("a source distribution holds the pinned source, what will be done to it, and how to build it") {
  const SourceFolder demo;
  const auto made = demo.write("out");
  if (!made) FAIL(made.error().message);
  CHECK(made->path.filename() == "demo-1.2.0.tar.gz");
  CHECK(made->edits == std::vector<std::string>{"mend"});
  auto files = members(made->path);
  // The source as it is pinned, and the list by which a part of it can be checked against the tree id.
  CHECK(files["demo-1.2.0/source/demo/ops.py"] == "print(1)\n");
  CHECK_FALSE(files.contains("demo-1.2.0/source/assets/large.bin"));
  CHECK(files["demo-1.2.0/source/.sagekit-tree"].find("assets/large.bin") != std::string::npos);
  CHECK(files["demo-1.2.0/pyproject.toml"].find("build-backend = \"sagekit.build_backend\"") != std::string::npos);
  const auto& info = files["demo-1.2.0/PKG-INFO"];
  CHECK(info.find("Version: 1.2.0\n") != std::string::npos);
  CHECK(info.find("Dynamic: Requires-Dist\n") != std::string::npos);
  CHECK(info.ends_with("\n\n# Demo\n"));
  const auto about = nlohmann::json::parse(files["demo-1.2.0/sagekit.json"]);
  CHECK(about["plugin"] == "demo");
  CHECK(about["plugin_file"].is_null());
  CHECK(about["edits"][0]["replace"] == "2");
}

TEST_CASE("equal inputs give an equal source distribution; another file of its name is left alone") {
  const SourceFolder demo;
  const auto one = demo.write("one"), two = demo.write("two");
  REQUIRE(one);
  REQUIRE(two);
  CHECK(read_file(one->path) == read_file(two->path));
  CHECK(demo.write("one")->unchanged);
  REQUIRE(write_file_atomic(two->path, "mine"));
  const auto refused = demo.write("two");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "PKG001");
  CHECK(read_file(two->path) == "mine");
}

TEST_CASE("a plugin that does not come with sagekit is taken along") {
  const SourceFolder demo;
  REQUIRE(write_file_atomic(demo.folder.path() / "p.so", "the plugin"));
  const auto made = demo.write("out", demo.folder.path() / "p.so");
  REQUIRE(made);
  CHECK(members(made->path)["demo-1.2.0/plugin/sagekit-demo.so"] == "the plugin");
}

TEST_CASE("a changed source makes no source distribution") {
  const SourceFolder demo;
  REQUIRE(write_file_atomic(demo.source() / "demo/ops.py", "print(3)\n", true));
  const auto made = demo.write("out");
  REQUIRE_FALSE(made);
  CHECK(made.error().code == "SRC003");
  CHECK_FALSE(fs::exists(demo.folder.path() / "out"));
}
