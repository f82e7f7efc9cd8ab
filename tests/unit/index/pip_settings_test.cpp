#include "support/file.hpp"

#include <sagekit/index.hpp>

#include <doctest/doctest.h>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

/// Answers as the interpreters of a machine do, and notes who was asked.
class Pips final : public CommandRunner {
 public:
  std::map<std::string, CommandResult> answers;
  std::vector<std::string> asked;

  Result<CommandResult> run(const Command& command, std::stop_token) override {
    asked.push_back(command.argv[0]);
    CHECK(command.timeout_seconds == 10);
    const auto found = answers.find(command.argv[0]);
    if (found == answers.end()) return fail(ErrorKind::machine, "CMD001", "cannot start");
    return found->second;
  }
};

CommandResult says(const std::string& output, int exit_code = 0) {
  CommandResult result;
  result.output = output;
  result.exit_code = exit_code;
  return result;
}

struct Places {
  TemporaryFolder folder = *TemporaryFolder::create(fs::temp_directory_path(), "pip places \xc3\xa9");
  PipPlaces places;
  Pips pips;

  Places() {
    places.root = folder.path();
    places.home = folder.path() / "home";
  }
  fs::path write(const std::string& name, const std::string& text) const {
    REQUIRE(write_file_atomic(folder.path() / name, text));
    return folder.path() / name;
  }
  IndexSettings read(const IndexSettings& flags = {}) {
    auto settings = read_pip_settings(places, flags, pips);
    REQUIRE_MESSAGE(settings, (settings ? "" : settings.error().message));
    return *settings;
  }
};

}  // namespace

TEST_CASE("the nearer configuration wins: machine, user, environment's folder, PIP_CONFIG_FILE, variables, flags") {
  Places p;
  const auto expect = [&](const std::string& url, const std::string& origin) {
    CHECK(p.read().index_url == url);
    CHECK(p.read().origin == origin);
  };
  p.write("etc/xdg/pip/pip.conf", "[global]\nindex-url = https://xdg/simple\n");
  expect("https://xdg/simple", (p.folder.path() / "etc/xdg/pip/pip.conf").string());
  const auto etc = p.write("etc/pip.conf", "[global]\nindex-url = https://etc/simple/\n");
  expect("https://etc/simple", etc.string());
  const auto legacy = p.write("home/.pip/pip.conf", "[global]\nindex-url = https://legacy/simple\n");
  expect("https://legacy/simple", legacy.string());
  const auto user = p.write("home/.config/pip/pip.conf", "[global]\nindex_url = https://user/simple\n");
  expect("https://user/simple", user.string());
  const auto venv = p.write("venv/pip.conf", "[global]\nindex-url = https://venv/simple\n");
  p.places.environment["VIRTUAL_ENV"] = (p.folder.path() / "venv").string();
  expect("https://venv/simple", venv.string());
  const auto given = p.write("given.conf", "[global]\nindex-url = https://given/simple\n");
  p.places.environment["PIP_CONFIG_FILE"] = given.string();
  expect("https://given/simple", given.string());
  p.places.environment["PIP_INDEX_URL"] = "https://variable/simple";
  expect("https://variable/simple", "PIP_INDEX_URL");
  IndexSettings flags;
  flags.index_url = "https://flag/simple/";
  CHECK(p.read(flags).index_url == "https://flag/simple");
  CHECK(p.read(flags).origin == "--index-url");
  CHECK(p.pips.asked.empty());
}

TEST_CASE("[download] stands over [global] whichever file it is in, and an existing PIP_CONFIG_FILE hides the user's") {
  Places p;
  p.write("etc/pip.conf",
          "[download]\nproxy = http://download:1\n[global]\nretries = 1\n[install]\nproxy = http://no:1\n");
  p.write("home/.config/pip/pip.conf", "[global]\nproxy = http://global:1\nretries = 2\n");
  CHECK(p.read().proxy == "http://download:1");
  CHECK(p.read().retries == 2);
  p.places.environment["PIP_CONFIG_FILE"] = p.write("given.conf", "[global]\n").string();
  CHECK(p.read().retries == 1);
  p.places.environment["PIP_CONFIG_FILE"] = "/dev/null";
  CHECK(p.read().retries == 5);
  CHECK(p.read().proxy.empty());
}

TEST_CASE("whether anybody names an index is read without asking pip") {
  Places p;
  CHECK_FALSE(names_index(p.places, {}));
  p.write("etc/pip.conf", "[global]\ntimeout = 3\n");
  CHECK_FALSE(names_index(p.places, {}));
  for (const char* name : {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"}) {
    p.places.environment = {{name, "https://one/simple"}};
    CHECK(names_index(p.places, {}));
  }
  p.places.environment.clear();
  IndexSettings flags;
  flags.extra_index_urls = {"https://two/simple"};
  CHECK(names_index(p.places, flags));
  p.write("etc/pip.conf", "[global]\nextra-index-url = https://three/simple\n");
  CHECK(names_index(p.places, {}));
  p.write("etc/pip.conf", "no ini file\n");
  CHECK(names_index(p.places, {}));
}

TEST_CASE("everything that reaches an index is taken over") {
  Places p;
  p.write("etc/pip.conf",
          "[global]\nextra-index-url =\n  https://one/simple/\n  https://two/simple\ntrusted-host = a b:8443\n"
          "cert = ~/ca bundle.pem\nclient-cert = /c.pem\ntimeout = 60.5\nretries = 3\nno-index = true\n");
  p.write("home/.netrc", "");
  p.places.environment = {{"https_proxy", "http://p:1"}, {"NO_PROXY", "x"}, {"PIP_PROXY", ""}, {"SSL_CERT_FILE", "/s"}};
  const auto settings = p.read();
  CHECK(settings.extra_index_urls == std::vector<std::string>{"https://one/simple", "https://two/simple"});
  CHECK(settings.trusted_hosts == std::vector<std::string>{"a", "b:8443"});
  CHECK(settings.ca_bundle == p.places.home / "ca bundle.pem");
  CHECK(settings.client_cert == "/c.pem");
  CHECK(settings.timeout_seconds == 60.5);
  CHECK(settings.retries == 3);
  CHECK(settings.netrc == p.places.home / ".netrc");
  CHECK(settings.environment == std::map<std::string, std::string>{{"https_proxy", "http://p:1"}, {"NO_PROXY", "x"}});
  p.places.environment["NETRC"] = p.write("other netrc", "").string();
  p.places.environment["PIP_EXTRA_INDEX_URL"] = "https://three/simple";
  p.places.environment["PIP_DEFAULT_TIMEOUT"] = "7";
  IndexSettings flags;
  flags.extra_index_urls = {"https://four/simple"};
  flags.retries = 0;
  flags.ca_bundle = "/flag.pem";
  const auto more = p.read(flags);
  CHECK(more.extra_index_urls == std::vector<std::string>{"https://three/simple", "https://four/simple"});
  CHECK(more.netrc == p.folder.path() / "other netrc");
  CHECK(more.timeout_seconds == 7);
  CHECK(more.retries == 0);
  CHECK(more.ca_bundle == "/flag.pem");
  Places bare;
  bare.places.environment = {{"SSL_CERT_FILE", "/s"}, {"PIP_DEFAULT_TIMEOUT", "7"}};
  CHECK(bare.read().ca_bundle == "/s");
  CHECK(bare.read().timeout_seconds == 7);
  CHECK(bare.read().netrc.empty());
}

TEST_CASE("pip is asked for its default only when nothing says where; the first that knows wins") {
  Places p;
  p.places.python = {"/missing", "/without-pip", "/odd", "/good", "/never"};
  p.pips.answers = {{"/without-pip", says("No module named pip\n", 1)},
                    {"/odd", says("WARNING: something\nhttps://odd/simple\n")},
                    {"/good", says("https://good.example/simple/\n")}};
  CHECK(p.read().index_url == "https://good.example/simple");
  CHECK(p.read().origin == "pip's default");
  CHECK(p.pips.asked.size() == 8);
  p.pips.answers.erase("/good");
  CHECK(p.read().index_url.empty());
  CHECK(p.read().origin.empty());
}

TEST_CASE("a configuration that cannot be read is named with file and line") {
  Places p;
  const auto file = p.write("etc/pip.conf", "[global]\nindex-url secret@host/simple\n");
  auto settings = read_pip_settings(p.places, {}, p.pips);
  REQUIRE_FALSE(settings);
  CHECK(settings.error().code == "IDX015");
  CHECK(settings.error().kind == ErrorKind::usage);
  CHECK(settings.error().where == file.string() + ":2");
  CHECK(settings.error().message.find("secret") == std::string::npos);
  p.write("etc/pip.conf", "[global]\ntimeout = soon\n");
  settings = read_pip_settings(p.places, {}, p.pips);
  REQUIRE_FALSE(settings);
  CHECK(settings.error().message.find("timeout = \"soon\"") != std::string::npos);
  fs::remove(file);
  fs::create_directory(file);
  settings = read_pip_settings(p.places, {}, p.pips);
  REQUIRE_FALSE(settings);
  CHECK(settings.error().message.find("it is a folder") != std::string::npos);
}
