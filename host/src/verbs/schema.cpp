#include "session.hpp"
#include "verb.hpp"

#include <sagekit/schema.hpp>

namespace sagekit::host {

namespace {

struct SchemaArguments {
  std::string name;
};

void declare(Flags& flags, SchemaArguments& arguments) {
  std::vector<std::string> names;
  for (const auto& schema : json_schemas()) names.push_back(schema.name);
  flags
      .argument("name", arguments.name,
                "plugin: plugin.toml; config: sagekit.toml; policy: --policy FILE; lock: sagekit.lock; the others: "
                "what a verb "
                "prints with --json")
      .choices = names;
}

int run(Session& session, const SchemaArguments& arguments) {
  session.console.document(json_schema(arguments.name));
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
