#include "session.hpp"

#include <sagekit/spec.hpp>

namespace sagekit::host {

int run_verb(Session& session, const SchemaArguments&) {
  session.console.result(spec_json_schema());
  return 0;
}

}  // namespace sagekit::host
