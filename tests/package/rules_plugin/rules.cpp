// The judge of docs/plugin-authors.md.
#include <sagekit/plugin/rules.hpp>

namespace {

void judge(const sagekit::rules::Artifact& wheel, const sagekit::rules::Reporter& report) {
  for (const auto module : wheel.modules()) {
    if (module.gpu().empty()) report.error("ACM001", "holds no GPU code", module.path());
  }
  const auto init = wheel.read_file("acme_attention/__init__.py");
  if (init && init->find("import triton") != std::string_view::npos) {
    report.warning("ACM002", "imports triton as soon as it is imported", "acme_attention/__init__.py");
  }
}

}  // namespace

SAGEKIT_RULES(judge)
