#include "store_flags.hpp"

#include <sagekit/cache.hpp>

#include <fmt/format.h>

namespace sagekit::host {

void declare_store_levels(Flags& flags, StoreArguments& arguments) {
  flags.list("--store-from", "DIR|URL", arguments.from,
             "Store that is only read, or server with /cas and /ac, asked for what the store lacks");
  flags.on("--store-push", arguments.push, "Hand what is made to the server of --store-from");
  flags.memory("--store-max-size", arguments.max_bytes, "Trim the store to this size after the build");
  flags.value("--shard", "I/N", arguments.shard, "Only this part of the compilations, and no wheel: 2/8");
  flags.on("--require-hits", arguments.require_hits, "Compile nothing: name what is in no store, end with 1");
  flags.value("--launcher", "PROGRAM", arguments.launcher, "Start compilers through it: sccache, ccache");
  flags.reads("SAGEKIT_STORE_TOKEN", "Bearer token for the servers of --store-from; never logged");
  flags.reads("SCCACHE_*, CCACHE_*, AWS_*", "Handed to the --launcher");
}

Status apply_store(const Session& session, const StoreArguments& arguments, const std::string& ca_bundle,
                   BuildOptions& options) {
  options.store_from = arguments.from;
  options.store_push = arguments.push;
  options.store_token = session.settings.store_token;
  options.connections.environment = session.settings.pip_environment;
  options.connections.ca_bundle = ca_bundle;
  options.connections.log = session.log;
  // Steps run in the source's folder: a path is meant from here.
  std::error_code error;
  options.launcher = arguments.launcher.find('/') == std::string::npos
                         ? arguments.launcher
                         : std::filesystem::absolute(arguments.launcher, error).string();
  if (!options.launcher.empty())
    if (auto may = check_program(options.launcher, session.settings.child_environment); !may) return may;
  options.launcher_environment = session.settings.launcher_environment;
  options.require_hits = arguments.require_hits;
  if (arguments.shard.empty()) return {};
  if (arguments.require_hits)
    return fail(ErrorKind::usage, "CLI006", "--shard compiles and --require-hits compiles nothing", "choose one");
  const auto shard = parse_shard(arguments.shard);
  if (!shard) return std::unexpected(shard.error());
  options.shard = *shard;
  return {};
}

void trim_to_limit(const Session& session, const StoreArguments& arguments, const std::filesystem::path& store) {
  if (arguments.max_bytes == 0) return;
  TrimOptions options;
  options.max_bytes = arguments.max_bytes;
  const auto trimmed = cache_trim(store, options);
  if (!trimmed) return session.console.warn(trimmed.error().message);
  if (trimmed->problem) return session.console.warn(trimmed->problem->message, trimmed->problem->hint);
  if (trimmed->bytes_after > arguments.max_bytes)
    session.console.warn(
        fmt::format("the store has {}, more than --store-max-size: {} of it are fetched toolchains and "
                    "git caches, which stay",
                    human_bytes(trimmed->bytes_after), human_bytes(trimmed->kept_bytes)),
        "sagekit toolchain remove --all" + session.store_words(store.string()));
  else if (trimmed->bytes_after < trimmed->bytes_before)
    session.console.say(fmt::format("the store was trimmed from {} to {}", human_bytes(trimmed->bytes_before),
                                    human_bytes(trimmed->bytes_after)));
}

}  // namespace sagekit::host
