#include <sagekit/config.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace sagekit;

namespace {

using Words = std::vector<std::string>;

/// The only diagnostic of a text.
Diagnostic problem_of(std::string_view text) {
  const auto config = parse_config(text, "/repo/sagekit.toml");
  REQUIRE_FALSE(config);
  REQUIRE(config.error().size() == 1);
  return config.error().front();
}

Words words_of(const Config& config, std::string_view key) {
  for (const auto& value : config.values)
    if (value.key == key) return value.words;
  return {};
}

struct Tree {
  std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("sagekit-config-test-" + std::to_string(getpid()));
  Tree() { std::filesystem::create_directories(root); }
  ~Tree() { std::filesystem::remove_all(root); }
  void write(const char* name) const {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << "jobs = 1\n";
  }
};

}  // namespace

TEST_CASE("keys are the words that their flags would be given, with their place") {
  const auto config = parse_config(
      "profile = \"current\"\npython = [\"3.12\", \"cp313\"]\njobs = 4\noffline = true\n"
      "locked = false\n",
      "sagekit.toml");
  REQUIRE(config);
  CHECK(words_of(*config, "python") == Words{"3.12", "cp313"});
  CHECK(words_of(*config, "jobs") == Words{"4"});
  CHECK(words_of(*config, "offline") == Words{""});
  CHECK(words_of(*config, "locked").empty());
  CHECK(config->values.front().where.line == 1);
  CHECK(parse_config("", "sagekit.toml")->values.empty());
}

TEST_CASE("an arch list is a string, or a list of its parts") {
  CHECK(words_of(*parse_config("arch = \"8.0;9.0+PTX\"", "sagekit.toml"), "arch") == Words{"8.0;9.0+PTX"});
  CHECK(words_of(*parse_config("arch = [\"8.0\", \"RTX 5090\"]", "sagekit.toml"), "arch") == Words{"8.0;RTX 5090"});
  CHECK(problem_of("arch = [\"8.0\", \"\"]").code == "CFG006");
  CHECK(problem_of("arch = []").code == "CFG006");
  const auto config = parse_config("[[overrides]]\nselect = \"*\"\narch = [\"8.0\", \"9.0\"]\n", "sagekit.toml");
  REQUIRE(config);
  CHECK(config->overrides.front().arch.words == Words{"8.0;9.0"});
}

TEST_CASE("paths are relative to the file's folder") {
  const auto config = parse_config(
      "output = \"out\"\nstore = \"/var/store\"\npolicy = \"ci/strict.toml\"\n"
      "toolchain = [\"system\", \"folder:cuda\"]\n",
      "/repo/sagekit.toml");
  REQUIRE(config);
  CHECK(words_of(*config, "output") == Words{"/repo/out"});
  CHECK(words_of(*config, "store") == Words{"/var/store"});
  CHECK(words_of(*config, "policy") == Words{"/repo/ci/strict.toml"});
  CHECK(words_of(*config, "toolchain") == Words{"system", "folder:/repo/cuda"});
  CHECK(words_of(*parse_config("policy = \"pypi\"", "/repo/sagekit.toml"), "policy") == Words{"pypi"});
}

TEST_CASE("an unknown key has its place and the nearest one") {
  const auto problem = problem_of("jobs = 2\n  pyton = [\"3.12\"]\n");
  CHECK(problem.code == "CFG004");
  CHECK(problem.where.line == 2);
  CHECK(problem.where.column == 3);
  CHECK(problem.hint.find("python") != std::string::npos);
}

TEST_CASE("what cannot be is refused") {
  CHECK(problem_of("jobs = ").code == "CFG001");
  CHECK(problem_of("python = \"3.12\"").code == "CFG005");
  CHECK(problem_of("jobs = 0").code == "CFG006");
  CHECK(problem_of("arch = \" \"").code == "CFG006");
  CHECK(problem_of("cells = []").code == "CFG006");
  CHECK(problem_of("plugin = \"./evil.so\"").code == "CFG006");
}

TEST_CASE("overrides have their cells, their values and how those meet the others") {
  const auto config = parse_config(
      "naming = \"plain\"\n[[overrides]]\nselect = \"*-cu128-*\"\narch = \"8.0;9.0\"\ninherit.arch = \"append\"\n"
      "[[overrides]]\nselect = [\"*\", \"!*-python39\"]\nnaming = \"build-tag\"\nrequires-dist = [\"triton>=3\", "
      "\"x\"]\n"
      "inherit = { requires-dist = \"prepend\", arch = \"none\" }\n",
      "/repo/sagekit.toml");
  REQUIRE(config);
  CHECK(config->values.size() == 1);
  REQUIRE(config->overrides.size() == 2);
  const auto& first = config->overrides[0];
  CHECK(first.select == Words{"*-cu128-*"});
  CHECK(first.arch.words == Words{"8.0;9.0"});
  CHECK(first.arch.merge == Merge::append);
  CHECK(first.naming.words.empty());
  CHECK(first.where.line == 2);
  const auto& second = config->overrides[1];
  CHECK(second.select == Words{"*", "!*-python39"});
  CHECK(second.naming.words == Words{"build-tag"});
  CHECK(second.requires_dist.words == Words{"triton>=3", "x"});
  CHECK(second.requires_dist.merge == Merge::prepend);
}

TEST_CASE("what an override cannot say is refused where it stands") {
  const auto in_override = [](std::string_view line) {
    return problem_of("[[overrides]]\nselect = \"*\"\n" + std::string(line));
  };
  for (const auto* line : {"jobs = 2", "toolchain = [\"wheels\"]", "revision = \"v2\"", "python = [\"3.12\"]",
                           "plugin = \"x\"", "policy = \"own\"", "store = \"s\"", "offline = true"}) {
    const auto problem = in_override(line);
    CHECK(problem.code == "CFG008");
    CHECK(problem.where.line == 3);
    CHECK(problem.message.find("cannot differ between cells: ") != std::string::npos);
  }
  CHECK(in_override("jobs = 2").message.ends_with("it holds for the whole command"));
  CHECK(in_override("toolchain = [\"wheels\"]").message.find("compiler") != std::string::npos);
  CHECK(in_override("nammig = \"plain\"").code == "CFG004");
  CHECK(in_override("requires-dist = \"triton\"").code == "CFG005");
  CHECK(in_override("arch = \"\"").code == "CFG006");
  CHECK(in_override("arch = \"8.0\"\ninherit.arch = \"apend\"").hint == "did you mean \"append\"?");
  CHECK(in_override("naming = \"plain\"\ninherit.naming = \"append\"").message.find("one word") != std::string::npos);
  CHECK(in_override("inherit.arch = \"append\"").code == "CFG006");
  CHECK(in_override("inherit.jobs = \"append\"").code == "CFG004");
  CHECK(problem_of("[[overrides]]\narch = \"8.0\"").code == "CFG003");
  CHECK(problem_of("[[overrides]]\nselect = []").code == "CFG006");
  CHECK(problem_of("[[overrides]]\nselect = 3").code == "CFG005");
  CHECK(problem_of("[overrides]\nselect = \"*\"").hint.find("[[overrides]]") != std::string::npos);
}

TEST_CASE("the file is that of the folder, or of one above it in its repository") {
  const Tree tree;
  tree.write("sagekit.toml");
  tree.write("repo/sagekit.toml");
  tree.write("repo/.git/HEAD");
  tree.write("repo/deep/own/sagekit.toml");
  tree.write("other/.git/HEAD");
  tree.write("plain/file");
  CHECK(find_config(tree.root / "repo") == tree.root / "repo/sagekit.toml");
  CHECK(find_config(tree.root / "repo/deep") == tree.root / "repo/sagekit.toml");
  CHECK(find_config(tree.root / "repo/deep/own") == tree.root / "repo/deep/own/sagekit.toml");
  CHECK(find_config(tree.root / "other").empty());
  CHECK(find_config(tree.root / "plain").empty());
  CHECK(find_config(tree.root) == tree.root / "sagekit.toml");
  std::filesystem::create_symlink("gone", tree.root / "plain/sagekit.toml");  // who reads it says that it leads nowhere
  CHECK(find_config(tree.root / "plain") == tree.root / "plain/sagekit.toml");
}
