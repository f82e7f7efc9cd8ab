#include "index/ini_file.hpp"
#include "index/url.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/index.hpp>

#include <charconv>
#include <map>
#include <optional>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr double k_pip_answers_within = 10;

std::string variable(const PipPlaces& places, const std::string& name) {
  const auto found = places.environment.find(name);
  return found == places.environment.end() ? std::string{} : found->second;
}

fs::path expanded(const PipPlaces& places, const std::string& path) {
  if (path == "~") return places.home;
  return path.starts_with("~/") ? places.home / path.substr(2) : fs::path(path);
}

// Lowest precedence first.
std::vector<fs::path> configuration_files(const PipPlaces& places) {
  std::error_code ignored;
  const std::string given = variable(places, "PIP_CONFIG_FILE");
  if (given == "/dev/null") return {};
  std::vector<fs::path> files;
  const std::string shared = variable(places, "XDG_CONFIG_DIRS");
  if (shared.empty()) files.push_back(places.root / "etc/xdg/pip/pip.conf");
  for (const auto& folder : split_words(shared, ":")) files.push_back(fs::path(folder) / "pip/pip.conf");
  files.push_back(places.root / "etc/pip.conf");
  if ((given.empty() || !fs::exists(given, ignored)) && !places.home.empty()) {
    files.push_back(places.home / ".pip/pip.conf");
    const std::string own = variable(places, "XDG_CONFIG_HOME");
    files.push_back((own.empty() ? places.home / ".config" : fs::path(own)) / "pip/pip.conf");
  }
  if (const auto venv = variable(places, "VIRTUAL_ENV"); !venv.empty()) files.push_back(fs::path(venv) / "pip.conf");
  if (!given.empty()) files.emplace_back(given);
  return files;
}

struct Setting {
  std::string value, origin;
};

// pip has two names for one option.
std::string one_name(const std::string& key) { return key == "default-timeout" ? "timeout" : key; }

// Everything configured, by pip's precedence: files in order, [download] over [global] whatever the file, then PIP_*.
class Configured {
 public:
  static Result<Configured> read(const PipPlaces& places);

  std::optional<Setting> find(const std::string& key) const {
    for (const char* section : {"env/", "download/", "global/"})
      if (const auto found = m_settings.find(section + key); found != m_settings.end()) return found->second;
    return std::nullopt;
  }
  std::string text(const std::string& key) const {
    const auto setting = find(key);
    return setting ? setting->value : std::string{};
  }
  Result<std::optional<double>> number(const std::string& key) const;

 private:
  std::map<std::string, Setting> m_settings;
};

Result<Configured> Configured::read(const PipPlaces& places) {
  Configured configured;
  for (const auto& file : configuration_files(places)) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    const auto refuse = [&](const std::string& place, const std::string& why) {
      return fail(ErrorKind::usage, "IDX015", "cannot read pip's configuration " + place + ": " + why,
                  "mend it, or pass over all files with PIP_CONFIG_FILE=/dev/null", place);
    };
    const auto bytes = read_file(file);
    if (!bytes) return refuse(file.string(), bytes.error().message);
    const auto entries = read_ini(*bytes);
    if (!entries) return refuse(fmt::format("{}:{}", file.string(), entries.error().line), entries.error().why);
    for (const auto& entry : *entries)
      if (!entry.value.empty())
        configured.m_settings[entry.section + "/" + one_name(entry.key)] = {entry.value, file.string()};
  }
  for (const auto& [name, value] : places.environment)
    if (name.starts_with("PIP_") && !value.empty())
      configured.m_settings["env/" + one_name(replace_all(lower(name.substr(4)), "_", "-"))] = {value, name};
  return configured;
}

Result<std::optional<double>> Configured::number(const std::string& key) const {
  const auto setting = find(key);
  if (!setting) return std::nullopt;
  const std::string text = trim(setting->value);
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 0 && value < 1e6) return value;
  return fail(ErrorKind::usage, "IDX015",
              fmt::format("{} says {} = \"{}\", which is no number", setting->origin, key, text),
              "pip wants a number there, too", setting->origin);
}

std::string without_slash(std::string url) {
  url = trim(url);
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void add_all(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

// pip knows where it looks when nobody says; a distribution's pip may look elsewhere than others.
std::string ask_pip(const PipPlaces& places, CommandRunner& runner) {
  constexpr const char* k_question =
      "try:\n"
      "    from pip._internal.models.index import PyPI\n"
      "    print(PyPI.simple_url)\n"
      "except Exception:\n"
      "    from pip._internal.cli.cmdoptions import index_url\n"
      "    print(index_url().default)\n";
  for (const auto& python : places.python) {
    Command command;
    command.argv = {python.string(), "-I", "-c", k_question};
    command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", places.home.string()}};
    command.timeout_seconds = k_pip_answers_within;
    command.separate_stderr = true;
    const auto answer = runner.run(command);
    if (!answer || !answer->ok()) continue;
    const std::string url = without_slash(answer->output);
    if (url.find_first_of(" \t\r\n") == url.npos && parse_url(url)) return url;
  }
  return {};
}

}  // namespace

bool names_index(const PipPlaces& places, const IndexSettings& flags) {
  if (!flags.index_url.empty() || !flags.extra_index_urls.empty()) return true;
  const auto configured = Configured::read(places);
  return !configured || configured->find("index-url") || configured->find("extra-index-url");
}

Result<IndexSettings> read_pip_settings(const PipPlaces& places, const IndexSettings& flags, CommandRunner& runner) {
  TRY_ASSIGN(const Configured configured, Configured::read(places));
  const IndexSettings usual;
  IndexSettings settings;
  if (!flags.index_url.empty()) {
    settings.index_url = without_slash(flags.index_url);
    settings.origin = flags.origin.empty() ? "--index-url" : flags.origin;
  } else if (const auto index = configured.find("index-url")) {
    settings.index_url = without_slash(index->value);
    settings.origin = index->origin;
  }
  for (const auto& url : split_words(configured.text("extra-index-url")))
    settings.extra_index_urls.push_back(without_slash(url));
  add_all(settings.extra_index_urls, flags.extra_index_urls);
  settings.trusted_hosts = split_words(configured.text("trusted-host"));
  add_all(settings.trusted_hosts, flags.trusted_hosts);
  settings.proxy = flags.proxy.empty() ? trim(configured.text("proxy")) : flags.proxy;

  std::string bundle = configured.text("cert");
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (bundle.empty()) bundle = variable(places, name);
  settings.ca_bundle = flags.ca_bundle.empty() ? expanded(places, bundle) : flags.ca_bundle;
  settings.client_cert =
      flags.client_cert.empty() ? expanded(places, configured.text("client-cert")) : flags.client_cert;

  std::error_code ignored;
  const std::string named = variable(places, "NETRC");
  const fs::path netrc = named.empty() ? places.home / ".netrc" : expanded(places, named);
  if (!flags.netrc.empty()) {
    settings.netrc = flags.netrc;
  } else if (fs::exists(netrc, ignored)) {
    settings.netrc = netrc;
  }

  TRY_ASSIGN(const auto timeout, configured.number("timeout"));
  TRY_ASSIGN(const auto retries, configured.number("retries"));
  settings.timeout_seconds =
      flags.timeout_seconds != usual.timeout_seconds ? flags.timeout_seconds : timeout.value_or(usual.timeout_seconds);
  settings.retries = flags.retries != usual.retries ? flags.retries : static_cast<int>(retries.value_or(usual.retries));

  for (const auto& variables : {places.environment, flags.environment})
    for (const auto& [name, value] : variables)
      if (lower(name).ends_with("_proxy") && !name.starts_with("PIP_")) settings.environment[name] = value;
  if (settings.index_url.empty()) {
    settings.index_url = ask_pip(places, runner);
    if (!settings.index_url.empty()) settings.origin = "pip's default";
  }
  return settings;
}

}  // namespace sagekit
