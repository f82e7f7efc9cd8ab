#include "session.hpp"
#include "verb.hpp"

#include <sagekit/spec.hpp>

namespace sagekit::host {

namespace {

struct SchemaArguments {
  std::string name;
};

void declare(Flags& flags, SchemaArguments& arguments) {
  flags.argument("name", arguments.name, "The format").choices = {"plugin"};
}

int run(Session& session, const SchemaArguments&) {
  session.console.document(spec_json_schema());
  return 0;
}

}  // namespace

std::vector<Verb> schema_verbs() {
  return {
      make_verb<SchemaArguments>({.name = "schema",
                                  .what = "JSON Schema of a file format",
                                  .examples = {"sagekit schema plugin", "sagekit schema plugin > plugin.schema.json"}},
                                 declare, run)};
}

}  // namespace sagekit::host
