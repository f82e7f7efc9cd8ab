#include "package/sbom.hpp"

#include "support/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

Spec sbom_spec() {
  Spec spec;
  spec.metadata.name = "Tiny_Kernels";
  spec.metadata.license = "Apache-2.0";
  spec.source.url = "https://github.com/Owner/Tiny.git";
  spec.source.vendored = {{"cutlass",
                           "csrc/cutlass",
                           "https://git.example.org/x/cutlass",
                           std::string(40, 'f'),
                           std::string(40, 'e'),
                           {},
                           "",
                           "BSD-3-Clause"}};
  spec.source.edits.resize(1);
  spec.source.edits[0].id = "mend";
  spec.source.edits[0].reason = "it was broken";
  spec.kernels.resize(2);
  spec.kernels[0].module = "tiny._a";
  spec.kernels[1].module = "tiny._free";
  spec.kernels[1].torch_free = true;
  return spec;
}

Json sbom(const CellBuild& build) {
  Revision revision;
  revision.commit = std::string(40, 'a');
  revision.tree = std::string(40, 'b');
  revision.date = "2026-01-17T17:43:28Z";
  const auto text =
      sbom_json(sbom_spec(), revision, build, *parse_wheel_name("tiny_kernels-1.0+cu130-cp312-cp312-linux_x86_64.whl"));
  CHECK(text == sbom_json(sbom_spec(), revision, build,
                          *parse_wheel_name("tiny_kernels-1.0+cu130-cp312-cp312-linux_x86_64.whl")));
  return parse_json(text);
}

std::vector<std::string> names(const Json& json) {
  std::vector<std::string> list;
  for (const auto& component : json["components"]) list.push_back(component["name"]);
  return list;
}

}  // namespace

TEST_CASE("a wheel's bill has its source, the trees in it, and the CUDA runtime only where it is linked in") {
  CellBuild build;
  build.cell.version = "1.0+cu130";
  build.cell.cuda = "13.0";
  build.files = {{"tiny/_a.cpython-312-x86_64-linux-gnu.so", {}, "", 1}};
  auto json = sbom(build);
  CHECK(json["bomFormat"] == "CycloneDX");
  CHECK(json["specVersion"] == "1.6");
  CHECK(json["metadata"]["timestamp"] == "2026-01-17T17:43:28Z");
  CHECK(json["metadata"]["component"]["name"] == "Tiny_Kernels");
  CHECK(names(json) == std::vector<std::string>{"Tiny", "cutlass"});
  CHECK(json["components"][0]["purl"] == "pkg:github/owner/tiny@" + std::string(40, 'a'));
  CHECK_FALSE(json["components"][0].contains("pedigree"));
  CHECK(json["components"][1]["purl"].get<std::string>().starts_with("pkg:generic/cutlass@" + std::string(40, 'f')));
  CHECK(json["components"][1]["licenses"][0]["expression"] == "BSD-3-Clause");
  CHECK_FALSE(json["components"][0].contains("licenses"));
  CHECK(json["dependencies"][0]["dependsOn"].size() == 2);
  const std::string first = json["serialNumber"];
  CHECK(first.size() == std::string_view("urn:uuid:").size() + 36);

  build.files.push_back({"tiny/_free.so", {}, "", 1});
  build.provenance = {"sagekit 1", "edit mend"};
  json = sbom(build);
  CHECK(names(json) == std::vector<std::string>{"Tiny", "cutlass", "libcudart_static"});
  CHECK(json["components"][2]["version"] == "13.0");
  CHECK(json["components"][0]["pedigree"]["notes"] == "edited when built: mend (it was broken)");
  CHECK(json["serialNumber"] != first);
}
