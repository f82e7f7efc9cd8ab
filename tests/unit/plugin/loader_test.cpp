#include "support/file.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"

#include <sagekit/plugin.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

const fs::path k_built = SAGEKIT_TEST_PLUGINS;

/// A trusted folder with copies of some test plugins; the checkout itself may lie anywhere.
class PluginFolder {
 public:
  explicit PluginFolder(const std::vector<std::string>& names)
      : m_folder(TemporaryFolder::create("/tmp", "sagekit plugins \xc3\xa9").value()) {
    for (const std::string& name : names) add(name);
  }
  void add(const std::string& name) const {
    fs::copy_file(k_built / ("sagekit-" + name + ".so"), file(name));
    ::chmod(file(name).c_str(), 0755);
  }
  fs::path path() const { return fs::canonical(m_folder.path()); }
  fs::path file(const std::string& name) const { return path() / ("sagekit-" + name + ".so"); }

 private:
  TemporaryFolder m_folder;
};

Error refusal(const std::string& name) {
  const PluginFolder folder({name});
  const auto plugin = load_plugin(folder.file(name));
  REQUIRE_FALSE(plugin);
  CHECK(plugin.error().kind == ErrorKind::usage);
  CHECK(plugin.error().message.find(folder.file(name).string()) != std::string::npos);
  CHECK(plugin.error().message.find('\n') == std::string::npos);
  return plugin.error();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a good plugin is loaded with its spec, path and hash") {
  const PluginFolder folder({"good"});
  const auto plugin = load_plugin(folder.file("good"));
  REQUIRE_MESSAGE(plugin, plugin.error().message);
  CHECK(plugin->name() == "good");
  CHECK(plugin->spec().version == "1.0.0");
  CHECK(plugin->path() == folder.file("good"));
  CHECK(plugin->sha256() == sha256_file(k_built / "sagekit-good.so").value());
  CHECK(plugin->spec_text().starts_with("schema = 1\n"));
  CHECK_FALSE(plugin->has_judge());
}

TEST_CASE("PLG001: a plugin that others can change is refused before any of its code runs") {
  const PluginFolder folder({"good"});
  ::chmod(folder.file("good").c_str(), 0777);
  const auto error = load_plugin(folder.file("good")).error();
  CHECK(error.code == "PLG001");
  CHECK(error.message == folder.file("good").string() + " is not trusted: it can be changed by everyone");
}

TEST_CASE("PLG001: a link does not hide where the file lies") {
  const PluginFolder folder({"good"}), links({});
  fs::create_symlink(folder.file("good"), links.file("link"));
  CHECK(load_plugin(links.file("link")).value().path() == folder.file("good"));
  ::chmod(folder.path().c_str(), 0777);
  CHECK(load_plugin(links.file("link")).error().code == "PLG001");
}

TEST_CASE("PLG002: what cannot be opened says what the system said") {
  const auto error = refusal("cannot-open");
  CHECK(error.code == "PLG002");
  CHECK(has(error.message, "function_that_nobody_defines"));

  CHECK(load_plugin("").error().code == "PLG002");
  const auto missing = load_plugin("/nonexistent/sagekit-x.so").error();
  CHECK(missing.code == "PLG002");
  CHECK(missing.message == "cannot open plugin /nonexistent/sagekit-x.so: No such file or directory");
  CHECK(has(load_plugin("/").error().message, "not a regular file"));

  const PluginFolder folder({});
  REQUIRE(write_file_atomic(folder.file("text"), "this is no library"));
  CHECK(load_plugin(folder.file("text")).error().code == "PLG002");
  CHECK(has(load_plugin(folder.file("text")).error().message, "it is a text of 18 bytes"));
}

TEST_CASE("PLG003: a library that exports no descriptor is not a plugin") {
  const auto error = refusal("not-a-plugin");
  CHECK(error.code == "PLG003");
  CHECK(has(error.message, "exports no `sagekit_plugin`"));
  CHECK(has(error.hint, "sagekit_add_plugin"));
}

TEST_CASE("PLG004: both ABI numbers are named") {
  const auto error = refusal("newer-abi");
  CHECK(error.code == "PLG004");
  CHECK(has(error.message, "was built for plugin ABI 2, this sagekit speaks 1"));
}

TEST_CASE("PLG005: a descriptor that is too short or holds no spec is truncated") {
  CHECK(refusal("truncated").code == "PLG005");
  CHECK(has(refusal("truncated").message, "8 of 40 bytes"));
  CHECK(refusal("no-spec").code == "PLG005");
  CHECK(has(refusal("no-spec").message, "it holds no spec"));
}

TEST_CASE("PLG006: an invalid spec is named with file, line and column") {
  const auto key = refusal("unknown-key");
  CHECK(key.code == "PLG006");
  CHECK(has(key.message, "tests/plugins/plugin.toml:7:1: "));
  CHECK(has(key.message, "licence"));
  const auto toml = refusal("bad-toml");
  CHECK(toml.code == "PLG006");
  CHECK(has(toml.message, "tests/plugins/plugin.toml:"));
}

TEST_CASE("PLG007: a schema of the future is no mistake in the spec") {
  const auto error = refusal("newer-schema");
  CHECK(error.code == "PLG007");
  CHECK(has(error.hint, "schema 1"));
}

TEST_CASE("PLG008: two plugins of one name in one folder") {
  const PluginFolder folder({"good", "same-name"});
  const auto loaded = load_plugins({{}, {folder.path()}});
  REQUIRE(loaded.plugins.size() == 1);
  CHECK(loaded.plugins[0].path() == folder.file("good"));
  REQUIRE(loaded.rejected.size() == 1);
  CHECK(loaded.rejected[0].error.code == "PLG008");
  CHECK(has(loaded.rejected[0].error.message, folder.file("good").string()));
  CHECK(has(loaded.rejected[0].error.message, folder.file("same-name").string()));
}

TEST_CASE("one bad plugin never hinders the others") {
  const PluginFolder folder({"bad-toml", "cannot-open", "good", "newer-abi", "newer-schema", "no-spec", "not-a-plugin",
                             "same-name", "throwing", "truncated", "unknown-key"});
  const auto loaded = load_plugins({{}, {folder.path()}});
  std::vector<std::string> names;
  for (const Plugin& plugin : loaded.plugins) names.push_back(plugin.name());
  CHECK(names == std::vector<std::string>{"good", "throwing"});
  std::map<std::string, std::string> codes;
  for (const RejectedPlugin& rejected : loaded.rejected) {
    codes[rejected.path.filename().string()] = rejected.error.code;
    CHECK_FALSE(rejected.asked_for);
    const bool about_spec = rejected.error.code == "PLG006" || rejected.error.code == "PLG007";
    CHECK(rejected.spec.empty() != about_spec);
  }
  CHECK(codes == std::map<std::string, std::string>{{"sagekit-bad-toml.so", "PLG006"},
                                                    {"sagekit-cannot-open.so", "PLG002"},
                                                    {"sagekit-newer-abi.so", "PLG004"},
                                                    {"sagekit-newer-schema.so", "PLG007"},
                                                    {"sagekit-no-spec.so", "PLG005"},
                                                    {"sagekit-not-a-plugin.so", "PLG003"},
                                                    {"sagekit-same-name.so", "PLG008"},
                                                    {"sagekit-truncated.so", "PLG005"},
                                                    {"sagekit-unknown-key.so", "PLG006"}});
}

TEST_CASE("an earlier place shadows a later one, and it shows") {
  const PluginFolder first({"good"}), second({"good", "throwing"});
  const auto loaded = load_plugins({{second.file("good")}, {first.path(), second.path()}});
  REQUIRE(loaded.plugins.size() == 2);
  CHECK(loaded.plugins[0].path() == second.file("good"));
  CHECK(loaded.plugins[1].name() == "throwing");
  REQUIRE(loaded.shadowed.size() == 1);
  CHECK(loaded.shadowed[0].first == first.file("good"));
  CHECK(loaded.shadowed[0].second == second.file("good"));
  CHECK(loaded.rejected.empty());
}

TEST_CASE("a file that was asked for and refused is marked, whatever its name") {
  const PluginFolder folder({"not-a-plugin"});
  fs::rename(folder.file("not-a-plugin"), folder.path() / "odd name");
  const auto loaded = load_plugins({{folder.path() / "odd name"}, {}});
  REQUIRE(loaded.rejected.size() == 1);
  CHECK(loaded.rejected[0].asked_for);
  CHECK(loaded.rejected[0].error.code == "PLG003");
}

TEST_CASE("only sagekit-*.so of the folder itself is looked at, never the current directory") {
  const PluginFolder folder({"good"});
  fs::create_directory(folder.path() / "deeper");
  fs::copy_file(k_built / "sagekit-throwing.so", folder.path() / "deeper" / "sagekit-throwing.so");
  REQUIRE(write_file_atomic(folder.path() / "other.so", "x"));
  REQUIRE(write_file_atomic(folder.path() / "sagekit-notes.txt", "x"));
  const auto loaded = load_plugins({{}, {folder.path(), ""}});
  CHECK(loaded.plugins.size() == 1);
  CHECK(loaded.rejected.empty());
}

TEST_CASE("a folder that cannot be read is named") {
  const auto loaded = load_plugins({{}, {"/nonexistent/plugins"}});
  REQUIRE(loaded.rejected.size() == 1);
  CHECK(loaded.rejected[0].error.message ==
        "cannot read plugin folder /nonexistent/plugins: No such file or directory");
}

TEST_CASE("the list is printed as promised") {
  const PluginFolder folder({"good", "same-name"}), later({"good"});
  const auto json = parse_json(plugins_json(load_plugins({{}, {folder.path(), later.path()}})));
  CHECK(json["schema"] == "sagekit.plugins/1");
  const auto& plugin = json["plugins"].at(0);
  CHECK(plugin["name"] == "good");
  CHECK(plugin["version"] == "1.0.0");
  CHECK(plugin["package"] == "tiny");
  CHECK(plugin["path"] == folder.file("good").string());
  CHECK(plugin["sha256"].get<std::string>().size() == 64);
  CHECK(plugin["abi"] == 1);
  CHECK(plugin["description"] == "a plugin of the tests");
  CHECK(json["rejected"].at(0)["code"] == "PLG008");
  CHECK(json["rejected"].at(0)["path"] == folder.file("same-name").string());
  CHECK(json["shadowed"].at(0)["path"] == later.file("good").string());
}

TEST_CASE("one plugin is printed with what its spec says") {
  const PluginFolder folder({"good"});
  const auto json = parse_json(plugin_json(load_plugin(folder.file("good")).value()));
  CHECK(json["schema"] == "sagekit.plugin/1");
  CHECK(json["name"] == "good");
  CHECK(json["judge"] == false);
  CHECK(json["source"]["revisions"].at(0)["commit"] == std::string(40, '1'));
  CHECK(json["arches"].at(0)["gencode"].at(0) == "arch=compute_90,code=sm_90");
  CHECK(json["modules"].at(0)["capabilities"].at(0) == "9.0");
}
