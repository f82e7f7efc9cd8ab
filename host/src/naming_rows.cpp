#include "naming_rows.hpp"

#include <sagekit/nearest.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

std::vector<NamingScheme> own_schemes(const Session& session, const std::vector<Plugin>& plugins) {
  std::vector<NamingScheme> own = session.schemes;
  for (const auto& plugin : plugins)
    for (const auto& scheme : plugin.spec().schemes)
      if (std::ranges::find(own, scheme.name, &NamingScheme::name) == own.end()) own.push_back(scheme);
  return own;
}

Result<std::vector<NamingScheme>> own_schemes(const Session& session) {
  const auto loaded = session.plugins();
  if (!loaded) return std::unexpected(loaded.error());
  return own_schemes(session, loaded->plugins);
}

Result<std::vector<NamingScheme>> known_schemes(const Session& session, const std::string& only) {
  const auto own = own_schemes(session);
  if (!own) return std::unexpected(own.error());
  auto all = naming_schemes(*own);
  if (only.empty()) return all;
  const auto found = std::ranges::find(all, only, &NamingScheme::name);
  if (found != all.end()) return std::vector{*found};
  std::vector<std::string> names;
  for (const auto& scheme : all) names.push_back(scheme.name);
  return fail(ErrorKind::usage, "PLN003", fmt::format("there is no naming scheme \"{}\"", only),
              suggestion(only, names));
}

}  // namespace sagekit::host
