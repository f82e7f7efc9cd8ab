#pragma once
// How to reach a Python package index: what pip here would do.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/log.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sagekit {

/// Addresses may hold credentials: never print them whole.
struct IndexSettings {
  std::string index_url;  ///< ".../simple"; "" = none is configured
  std::vector<std::string> extra_index_urls;
  std::string proxy;                       ///< "" = what `environment` says (https_proxy, no_proxy ...)
  std::filesystem::path ca_bundle;         ///< PEM file; empty = the system's
  std::filesystem::path client_cert;       ///< PEM with key; empty = none
  std::filesystem::path netrc;             ///< empty = none
  std::vector<std::string> trusted_hosts;  ///< "host" or "host:port" whose TLS certificate is not checked
  double timeout_seconds = 15;             ///< to connect, and without a byte
  int retries = 5;
  std::map<std::string, std::string> environment;  ///< the proxy variables only
  LogSink log;                                     ///< a line for each request; empty = none
  std::string
      origin;  ///< where index_url is from, in words: "--index-url", "PIP_INDEX_URL", "/etc/pip.conf", "pip's default"
};

/// Where pip's configuration is; filled by the host (core reads no environment variable).
struct PipPlaces {
  std::map<std::string, std::string> environment;  ///< PIP_*, *_proxy, NETRC, SSL_CERT_FILE, XDG_CONFIG_*, VIRTUAL_ENV
  std::filesystem::path home;
  std::filesystem::path root = "/";  ///< prefix of /etc; tests point it elsewhere
  std::vector<std::filesystem::path>
      python;  ///< interpreters to ask for pip's default index, the first that knows wins
};

/// What `pip download` would use, by pip's own precedence: environment over PIP_CONFIG_FILE, over the virtual
/// environment's, over the user's (~/.config/pip/pip.conf, ~/.pip/pip.conf), over the machine's (XDG_CONFIG_DIRS,
/// /etc/pip.conf); sections [global], then [download] over it (pip documentation, "Configuration"). The default index
/// is asked of pip itself, so a distribution's or a company's pip is followed too; nobody is asked when one is
/// configured or `flags.index_url` is given. `flags`: what the command line says, over everything. Errors (usage):
/// IDX015 a configuration file that cannot be read, with file and line.
SAGEKIT_API Result<IndexSettings> read_pip_settings(const PipPlaces& places, const IndexSettings& flags,
                                                    CommandRunner& runner);

/// Does anybody say where packages are from: a flag, PIP_* variables, pip's files? One that cannot be read may.
SAGEKIT_API bool names_index(const PipPlaces& places, const IndexSettings& flags);

/// An address without user, password, query and fragment: what may be printed, logged, written to a lock.
SAGEKIT_API std::string printable_url(const std::string& url);

}  // namespace sagekit
