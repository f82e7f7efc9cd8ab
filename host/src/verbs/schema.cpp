#include "schema_texts.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/config.hpp>
#include <sagekit/spec.hpp>

namespace sagekit::host {

namespace {

struct SchemaArguments {
  std::string name;
};

void declare(Flags& flags, SchemaArguments& arguments) {
  flags
      .argument(
          "name", arguments.name,
          "plugin: plugin.toml; config: sagekit.toml; policy: --policy FILE; lock: sagekit.lock; verify: verify --json")
      .choices = {"plugin", "config", "policy", "lock", "verify"};
}

int run(Session& session, const SchemaArguments& arguments) {
  const Console& console = session.console;
  if (arguments.name == "policy")
    console.document(policy_schema());
  else if (arguments.name == "lock")
    console.document(lock_schema());
  else if (arguments.name == "verify")
    console.document(verify_schema());
  else if (arguments.name == "config")
    console.document(config_json_schema());
  else
    console.document(spec_json_schema());
  return 0;
}

}  // namespace

std::vector<Verb> schema_verbs() {
  return {
      make_verb<SchemaArguments>({.name = "schema",
                                  .what = "JSON Schema of a file or a --json document",
                                  .examples = {"sagekit schema plugin > plugin.schema.json", "sagekit schema policy"}},
                                 declare, run)};
}

}  // namespace sagekit::host
