#include "spec/kept_spec.hpp"
#include "support/format.hpp"

#include <sagekit/plugin.hpp>

#include <algorithm>
#include <cstddef>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

// What ABI 1 had on its first day; a plugin built with newer headers has more, and that is fine.
constexpr std::size_t k_least_size = offsetof(sagekit_descriptor, verify) + sizeof(sagekit_descriptor::verify);
// A plugin.toml has some ten kilobytes; this bounds what a broken descriptor makes us read.
constexpr std::size_t k_most_spec_bytes = 16u << 20;

std::string place(const SourceLocation& where) { return fmt::format("{}:{}:{}", where.file, where.line, where.column); }

std::unexpected<Error> refuse_spec(const fs::path& path, const Diagnostics& problems) {
  const auto schema = std::ranges::find(problems, "SPEC002", &Diagnostic::code);
  if (schema != problems.end()) {
    return fail(ErrorKind::usage, "PLG007",
                fmt::format("{} has a spec that this sagekit cannot read: {}: {}", path.string(), place(schema->where),
                            schema->message),
                fmt::format("this sagekit reads schema {}; a newer one may read this plugin", spec_schema));
  }
  const Diagnostic& first = problems.front();
  const std::string more = problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "";
  return fail(ErrorKind::usage, "PLG006",
              fmt::format("{} has an invalid spec: {}: {} [{}]{}", path.string(), place(first.where), first.message,
                          first.code, more),
              first.hint);
}

}  // namespace

bool Plugin::has_judge() const { return m_descriptor->verify != nullptr; }

Result<Plugin> Plugin::from_descriptor(const sagekit_descriptor& descriptor, fs::path path, std::string sha256,
                                       Diagnostics* problems, const fs::path& kept_specs) {
  // `abi` and `struct_size` come first in every ABI; nothing else may be read before they are right.
  if (descriptor.abi != SAGEKIT_PLUGIN_ABI) {
    return fail(ErrorKind::usage, "PLG004",
                fmt::format("{} was built for plugin ABI {}, this sagekit speaks {}", path.string(), descriptor.abi,
                            SAGEKIT_PLUGIN_ABI),
                "rebuild the plugin with the headers of this sagekit");
  }
  const auto truncated = [&](const std::string& why) {
    return fail(ErrorKind::usage, "PLG005", fmt::format("{} has a truncated descriptor: {}", path.string(), why),
                "build the plugin with sagekit_add_plugin()");
  };
  if (descriptor.struct_size < k_least_size) {
    return truncated(fmt::format("{} of {} bytes", descriptor.struct_size, k_least_size));
  }
  if (descriptor.spec == nullptr || descriptor.spec_size == 0) return truncated("it holds no spec");
  if (descriptor.spec_size > k_most_spec_bytes) {
    return truncated(fmt::format("a spec of {} bytes cannot be", descriptor.spec_size));
  }

  Plugin plugin;
  plugin.m_spec_text.assign(descriptor.spec, descriptor.spec_size);
  const std::string origin = descriptor.spec_path != nullptr ? descriptor.spec_path : "plugin.toml";
  auto spec = parse_spec(plugin.m_spec_text, origin, kept_specs);
  if (!spec) {
    if (problems != nullptr) *problems = spec.error();
    return refuse_spec(path, spec.error());
  }
  plugin.m_spec = std::move(*spec);
  plugin.m_path = std::move(path);
  plugin.m_sha256 = std::move(sha256);
  plugin.m_descriptor = &descriptor;
  return plugin;
}

}  // namespace sagekit
