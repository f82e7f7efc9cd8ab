// The plugin.toml files of this repository: they parse, and their promises hold.
#include "spec/data.hpp"
#include "support/file.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/spec.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace sagekit;

namespace {

/// Of those whose cells are for one torch each; sage2-stable's are in unit/plan/stable_test.cpp.
const std::vector<std::string> k_plugins = {"sage2", "sage3", "sm121"};

Spec load(const std::string& name) {
  const auto path = std::string(SAGEKIT_SOURCE_DIR "/plugins/") + name + "/plugin.toml";
  auto spec = parse_spec(read_file(path).value(), path);
  if (!spec)
    for (const Diagnostic& problem : spec.error())
      FAIL_CHECK(path, ":", problem.where.line, ": ", problem.message, " (", problem.hint, ")");
  REQUIRE(spec);
  return *spec;
}

const Revision& revision(const Spec& spec, const char* word) {
  const Revision* found = find_revision(spec, word);
  REQUIRE_MESSAGE(found, word);
  return *found;
}

std::string gencode_for(const Spec& spec, const char* revision_word, const char* capability, const char* cuda) {
  std::string out;
  for (const ArchSpec& row : spec.arches)
    if (to_string(row.capability) == capability && holds(row.when, revision(spec, revision_word)) &&
        row.excluded.empty() && row.cuda.contains(parse_version_number(cuda).value()))
      for (const Gencode& gencode : row.gencode) out += to_string(gencode);
  return out;
}

/// "module,module | path | refusal" of the one row that applies.
std::string dispatch_for(const Spec& spec, const char* revision_word, const char* capability) {
  std::string out;
  for (const DispatchSpec& row : spec.dispatch)
    if (to_string(row.capability) == capability && holds(row.when, revision(spec, revision_word)))
      out += join(row.modules, ",") + "|" + row.path + "|" + row.refused;
  return out;
}

std::set<std::string> modules_for(const Spec& spec, const char* revision_word, const char* capability) {
  std::set<std::string> modules;
  for (const KernelSpec& kernel : spec.kernels)
    for (const Capability& c : kernel.capabilities)
      if (to_string(c) == capability && holds(kernel.when, revision(spec, revision_word)))
        modules.insert(kernel.module);
  return modules;
}

/// Cell ids without platform that the globs of a profile can mean.
std::set<std::string> cells_of(const Spec& spec, const char* profile_name) {
  const auto profile = std::ranges::find(spec.profiles, profile_name, &Profile::name);
  REQUIRE_MESSAGE(profile != spec.profiles.end(), profile_name);
  const auto digits = [](const std::string& text) { return replace_all(text, ".", ""); };
  std::set<std::string> ids;
  for (const MatrixRow& row : spec.matrix.include)
    for (const auto& torch : row.torch)
      for (const auto& cuda : row.cuda)
        for (const auto& python : row.python) {
          const auto minor = digits(torch.substr(0, torch.rfind('.')));
          const auto id = spec.name + "-pytorch" + minor + "-cu" + digits(cuda) + "-python" + digits(python);
          if (globs_select(profile->cells, id)) ids.insert(id);
        }
  return ids;
}

}  // namespace

TEST_CASE("the plugins of this repository parse") {
  for (const auto& name : k_plugins) CHECK(load(name).name == name);
}

TEST_CASE("every row of the plugins has a source") {
  for (const auto& name : k_plugins) {
    const Spec spec = load(name);
    const auto sourced = [&](const auto& rows) {
      return std::ranges::all_of(rows, [](const auto& row) { return !row.source.empty(); });
    };
    CHECK_MESSAGE(sourced(spec.source.revisions), name);
    CHECK_MESSAGE(sourced(spec.source.defects), name);
    CHECK_MESSAGE(sourced(spec.source.vendored), name);
    CHECK_MESSAGE(sourced(spec.source.edits), name);
    CHECK_MESSAGE(sourced(spec.source.fingerprints), name);
    CHECK_MESSAGE(sourced(spec.arches), name);
    CHECK_MESSAGE(sourced(spec.kernels), name);
    CHECK_MESSAGE(sourced(spec.dispatch), name);
    CHECK_MESSAGE(sourced(spec.matrix.include), name);
    CHECK_MESSAGE(sourced(spec.companions), name);
    CHECK_MESSAGE(sourced(spec.advice), name);
    for (const Revision& r : spec.source.revisions) CHECK_MESSAGE(!r.tree.empty(), r.commit);
  }
}

TEST_CASE("no two dispatch rows answer for one device, and every GPU of a known arch has an answer") {
  for (const auto& name : k_plugins) {
    const Spec spec = load(name);
    for (const Revision& r : spec.source.revisions)
      for (const ArchSpec& arch : spec.arches) {
        const auto answers = std::ranges::count_if(spec.dispatch, [&](const DispatchSpec& row) {
          return row.capability == arch.capability && holds(row.when, r);
        });
        CHECK_MESSAGE(answers == 1, name, " ", r.commit, " ", to_string(arch.capability));
      }
  }
}

TEST_CASE("a module that a device's dispatch calls is compiled for that device") {
  for (const auto& name : k_plugins) {
    const Spec spec = load(name);
    for (const Revision& r : spec.source.revisions)
      for (const DispatchSpec& row : spec.dispatch)
        for (const auto& module : row.modules) {
          if (!holds(row.when, r)) continue;
          const auto compiled = modules_for(spec, r.commit.c_str(), to_string(row.capability).c_str());
          CHECK_MESSAGE(compiled.contains(module), name, " ", r.commit, " ", module, " ", to_string(row.capability));
        }
  }
}

TEST_CASE("nvcc of the asked range can compile every gencode") {
  for (const auto& name : k_plugins)
    for (const ArchSpec& row : load(name).arches)
      for (const Gencode& gencode : row.gencode) {
        const auto first = first_nvcc_for(gencode.code);
        REQUIRE_MESSAGE(first, to_string(gencode));
        CHECK_MESSAGE(*first <= row.cuda.terms.at(0).version, to_string(gencode));
      }
}

TEST_CASE("sage2 knows its sources, and which of them hurt") {
  const Spec spec = load("sage2");
  CHECK(spec.source.default_commit.starts_with("d1a57a5"));
  CHECK(revision(spec, "v2.2.0").commit.starts_with("eb615cf"));
  CHECK(revision(spec, "2.1.1").version == "2.1.1");
  CHECK(revision(spec, "main").defects.empty());
  for (const char* word : {"v2.2.0", "93b30a3"}) {
    const auto& defects = revision(spec, word).defects;
    CHECK_MESSAGE(std::ranges::count(defects, "sm90-uninitialised-output") == 1, word);
  }
  const auto& edits = spec.source.edits;
  const auto rename = std::ranges::find(edits, "sm90-fake-implementation-name", &SourceEdit::id);
  REQUIRE(rename != edits.end());
  CHECK(holds(rename->when, revision(spec, "v2.2.0")));
  CHECK(holds(rename->when, revision(spec, "93b30a3")));
  CHECK_FALSE(holds(rename->when, revision(spec, "main")));
  CHECK_FALSE(holds(rename->when, revision(spec, "2.1.1")));
  const auto detection = std::ranges::find(edits, "setup-py-reads-arch-list", &SourceEdit::id);
  REQUIRE(detection != edits.end());
  CHECK(holds(detection->when, revision(spec, "2.1.1"), "setup-py"));
  CHECK_FALSE(holds(detection->when, revision(spec, "2.1.1"), "direct"));
}

TEST_CASE("sage2 makes of each capability what upstream makes of it") {
  const Spec spec = load("sage2");
  CHECK(gencode_for(spec, "main", "9.0", "13.0") == "arch=compute_90a,code=sm_90a");
  CHECK(gencode_for(spec, "main", "12.0", "13.0") == "arch=compute_120a,code=sm_120a");
  CHECK(gencode_for(spec, "v2.2.0", "12.0", "13.0") == "arch=compute_120,code=sm_120");
  CHECK(gencode_for(spec, "main", "12.1", "12.9") == "arch=compute_121a,code=sm_121a");
  CHECK(gencode_for(spec, "main", "12.1", "12.8").empty());
  CHECK(gencode_for(spec, "v2.2.0", "12.1", "13.0").empty());
  CHECK(gencode_for(spec, "main", "8.9", "12.6").empty());
  CHECK(gencode_for(spec, "2.1.1", "8.9", "12.6") == "arch=compute_89,code=sm_89");
  CHECK(gencode_for(spec, "main", "10.0", "13.0").empty());
}

TEST_CASE("sage2 for 9.0 is all four modules, and only 2.1.1 has three") {
  const Spec spec = load("sage2");
  const std::set<std::string> all = {"sageattention._fused", "sageattention._qattn_sm80", "sageattention._qattn_sm89",
                                     "sageattention._qattn_sm90"};
  CHECK(modules_for(spec, "main", "9.0") == all);
  CHECK(modules_for(spec, "v2.2.0", "9.0") == all);
  CHECK(modules_for(spec, "2.1.1", "9.0").count("sageattention._qattn_sm89") == 0);
  CHECK(modules_for(spec, "main", "12.0").count("sageattention._qattn_sm90") == 0);
  CHECK(modules_for(spec, "main", "8.0").size() == 2);
}

TEST_CASE("sage2's dispatch follows sageattn() of each revision") {
  const Spec spec = load("sage2");
  CHECK(dispatch_for(spec, "main", "8.6").starts_with("|INT8 QK, FP16 PV in Triton"));
  CHECK(dispatch_for(spec, "main", "8.9").find("fp32+fp16") != std::string::npos);
  CHECK(dispatch_for(spec, "2.1.1", "8.9").find("fp32+fp32") != std::string::npos);
  CHECK(dispatch_for(spec, "main", "9.0").starts_with("sageattention._qattn_sm90,"));
  CHECK(dispatch_for(spec, "main", "12.1").starts_with("sageattention._qattn_sm89,"));
  CHECK(dispatch_for(spec, "v2.2.0", "12.1").find("ValueError") != std::string::npos);
  CHECK(dispatch_for(spec, "main", "10.0").find("ValueError") != std::string::npos);
}

TEST_CASE("sage2's legacy profile is the six wheels of the fork, of which two have a torch") {
  const Spec spec = load("sage2");
  CHECK(cells_of(spec, "legacy").size() == 3);
  CHECK(std::ranges::find(spec.profiles, "legacy", &Profile::name)->platforms ==
        std::vector<std::string>{"linux_x86_64", "win_amd64"});
  for (const char* platform : {"linux_x86_64", "win_amd64"}) {
    CHECK(torch_absence("2.6.0", "12.8", platform, "3.12"));
    CHECK(torch_absence("2.7.0", "12.9", platform, "3.12"));
    CHECK_FALSE(torch_absence("2.8.0", "12.9", platform, "3.12"));
  }
  CHECK(cells_of(spec, "default") == std::set<std::string>{"sage2-pytorch211-cu130-python312"});
}

TEST_CASE("the guide for the RTX 5090 has a profile, and its cells have a torch") {
  CHECK(cells_of(load("sage2"), "rtx5090") ==
        std::set<std::string>{"sage2-pytorch28-cu128-python310", "sage2-pytorch28-cu128-python311"});
  for (const char* python : {"3.10", "3.11"}) CHECK_FALSE(torch_absence("2.8.0", "12.8", "linux_x86_64", python));
}

TEST_CASE("the cells of every current profile were published") {
  for (const auto& name : k_plugins) {
    const Spec spec = load(name);
    CHECK_MESSAGE(!cells_of(spec, "current").empty(), name);
    for (const MatrixRow& row : spec.matrix.include) {
      if (row.source.find("torch.toml") == std::string::npos) continue;
      for (const auto& torch : row.torch)
        for (const auto& cuda : row.cuda)
          for (const auto& python : row.python)
            for (const auto& platform : row.platform) {
              const auto absence = torch_absence(torch, cuda, platform, python);
              CHECK_MESSAGE(!absence, name, " ", absence ? absence->reason : "");
            }
    }
  }
}

TEST_CASE("sage3 has the cells and profiles of its build document") {
  const Spec spec = load("sage3");
  const std::pair<const char*, std::size_t> counts[] = {{"default", 1},   {"stable", 2},    {"pytorch27", 4},
                                                        {"pytorch28", 4}, {"python310", 2}, {"python311", 2},
                                                        {"python312", 2}, {"python313", 2}, {"sage3-all", 8}};
  for (const auto& [profile, count] : counts) CHECK_MESSAGE(cells_of(spec, profile).size() == count, profile);
  CHECK(cells_of(spec, "default") == std::set<std::string>{"sage3-pytorch28-cu129-python312"});
  CHECK(cells_of(spec, "stable") ==
        std::set<std::string>{"sage3-pytorch27-cu128-python313", "sage3-pytorch28-cu129-python313"});
  CHECK(cells_of(spec, "sage3-all").contains("sage3-pytorch27-cu128-python310"));
}

TEST_CASE("sage3's wheels are named as its build document names them") {
  const Spec spec = load("sage3");
  const auto& schemes = builtin_schemes();
  const auto scheme = std::ranges::find(schemes, "build-tag", &NamingScheme::name);
  const Revision& main = revision(spec, "main");
  WheelName wheel{file_name_project(spec.metadata.name), "", "", {"cp312"}, {"cp312"}, {"linux_x86_64"}};
  const auto name = [&](const char* torch, const char* cuda) {
    const NamingValues values{
        .version = main.version, .torch = torch, .cuda = cuda, .date = "", .commit = main.commit, .arches = {}};
    wheel.version = expand_template(scheme->version, values).value();
    wheel.build = expand_template(scheme->build, values).value();
    return wheel.file_name();
  };
  CHECK(name("2.7.0", "12.8") == "sageattn3-1.0.0-270.128-cp312-cp312-linux_x86_64.whl");
  CHECK(name("2.8.0", "12.9") == "sageattn3-1.0.0-280.129-cp312-cp312-linux_x86_64.whl");
}

TEST_CASE("sage3 is 12.0 by default, 12.1 where the source has it, 10.0 on request with a warning") {
  const Spec spec = load("sage3");
  CHECK(gencode_for(spec, "main", "12.0", "12.8") == "arch=compute_120a,code=sm_120a");
  CHECK(gencode_for(spec, "main", "12.1", "12.9") == "arch=compute_121a,code=sm_121a");
  CHECK(gencode_for(spec, "v2.2.0", "12.1", "13.0").empty());
  const auto row = std::ranges::find(spec.arches, Capability{10, 0}, &ArchSpec::capability);
  REQUIRE(row != spec.arches.end());
  CHECK(row->on_request);
  CHECK(row->warning.find("api.cu") != std::string::npos);
  CHECK(dispatch_for(spec, "main", "10.0").find("only supports Blackwell") != std::string::npos);
  CHECK(spec.source.vendored.at(0).commit == "f3fde58372d33e9a5650ba7b80fc48b3b49d40c8");
}

TEST_CASE("sm121 is the GB10 wheel of document 004") {
  const Spec spec = load("sm121");
  CHECK(spec.source.default_commit.starts_with("93b30a3"));
  CHECK(spec.metadata.name == "sageattention");
  CHECK(gencode_for(spec, "93b30a3", "12.1", "12.9") == "arch=compute_121a,code=sm_121a");
  CHECK(gencode_for(spec, "93b30a3", "12.1", "12.8").empty());
  CHECK(spec.companions.at(0).commit == "4caa0328bf8df64896dd5f6fb9df41b0eb2e750a");
  CHECK(spec.companions.at(0).requires_dist == "triton>=3.6");
  for (const MatrixRow& row : spec.matrix.include) CHECK(row.platform == std::vector<std::string>{"linux_aarch64"});
}
