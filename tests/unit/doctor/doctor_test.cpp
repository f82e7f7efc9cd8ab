#include "support/file.hpp"

#include <sagekit/doctor.hpp>
#include <sagekit/provision.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

Spec spec_of(const char* plugin) {
  const auto text = read_file(fs::path(SAGEKIT_SOURCE_DIR) / plugin / "plugin.toml");
  REQUIRE(text);
  return parse_spec(*text, plugin).value();
}

Request request_for(const char* profile, std::vector<std::string> platforms = {}) {
  Request request;
  request.profile = profile;
  request.platforms = std::move(platforms);
  return request;
}

/// Starts nothing: a machine on which no program answers but a g++, where there is one.
struct NoPrograms : CommandRunner {
  Result<CommandResult> run(const Command& command, std::stop_token) override {
    if (command.argv.size() != 2 || command.argv[1] != "-v")
      return fail(ErrorKind::machine, "CMD001", "no such program");
    CommandResult said;
    said.output = "Target: " + this_platform().substr(6) + "-linux-gnu\ngcc version 12.2.0 (Debian)\n";
    return said;
  }
};

struct Listener : ProvisionObserver {
  std::string said;
  void on_transfer(const TransferState&) override {}
  void on_message(const std::string& text) override { said += text + "\n"; }
};

struct Bare {
  TemporaryFolder folder = TemporaryFolder::create(fs::temp_directory_path(), "doctor").value();
  NoPrograms runner;
  ToolchainOptions options;
  int index_asked = 0;

  Bare() {
    options.probe.root = folder.path() / "root";
    options.provision.store = folder.path() / "store";
    options.provision.sources = {ToolSource::wheels};
    options.provision.find_index = [this]() -> Result<IndexSettings> {
      ++index_asked;
      return fail(ErrorKind::failed, "IDX001", "no index in this test");
    };
  }
  /// What nothing fetches: a C++ compiler, and the headers of Python 3.12.
  void install_compilers() {
    const auto bin = options.probe.root / "usr/bin", headers = folder.path() / "headers";
    fs::create_directories(bin);
    fs::create_directories(headers);
    REQUIRE(write_file_atomic(bin / "g++", "#!/bin/sh\n"));
    fs::permissions(bin / "g++", fs::perms::owner_all);
    options.probe.path = {bin};
    REQUIRE(write_file_atomic(headers / "Python.h", ""));
    REQUIRE(write_file_atomic(headers / "patchlevel.h", "#define PY_VERSION \"3.12.1\"\n"));
    REQUIRE(
        write_file_atomic(headers / "pyconfig.h", this_platform() == "linux_x86_64"
                                                      ? "#define SIZEOF_VOID_P 8\n#define HAVE_GCC_ASM_FOR_X64 1\n"
                                                      : "#define SIZEOF_VOID_P 8\n#define HAVE_USABLE_WCHAR_T 1\n"));
    options.probe.python_headers = {headers};
  }
  PlannedMachine here(const Spec& spec, const Request& request = {}) {
    auto machine = plan_here(spec, request, {}, options, runner);
    REQUIRE(machine);
    return *machine;
  }
};

const ToolchainPart* part_of(const CellDiagnosis& cell, PartKind kind) {
  const auto found = std::ranges::find(cell.parts, kind, &ToolchainPart::kind);
  return found == cell.parts.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("on a bare machine the compiler and torch are fetchable, the C++ compiler is lacking") {
  Bare bare;
  const auto spec = spec_of("plugins/sage2");
  const auto diagnosis = diagnose(spec, bare.here(spec, request_for("current")), bare.options);
  REQUIRE_FALSE(diagnosis.cells.empty());
  for (const auto& cell : diagnosis.cells) {
    REQUIRE(part_of(cell, PartKind::nvcc) != nullptr);
    // The index's packages of CUDA 12 hold no nvcc: that of "redist" must be named.
    const bool packaged = part_of(cell, PartKind::nvcc)->what.starts_with("nvcc 13");
    CHECK(part_of(cell, PartKind::nvcc)->state == (packaged ? PartState::fetchable : PartState::lacking));
    CHECK(part_of(cell, PartKind::nvcc)->mend.starts_with("sagekit toolchain fetch --cuda "));
    CHECK(part_of(cell, PartKind::torch)->state == PartState::fetchable);
    CHECK(part_of(cell, PartKind::host_compiler)->state == PartState::lacking);
    CHECK(part_of(cell, PartKind::python_headers)->state == PartState::lacking);
  }
  CHECK(diagnosis.lacking());
}

TEST_CASE("what can be fetched depends on the sources, the platform and the lock") {
  Bare bare;
  const TreeNeed old_nvcc{TreeKind::nvcc, "12.8", "", "linux_x86_64"}, nvcc{TreeKind::nvcc, "13.0", "", "linux_x86_64"};
  CHECK(can_fetch(nvcc, bare.options));
  CHECK_FALSE(can_fetch(old_nvcc, bare.options));
  CHECK(can_fetch({TreeKind::torch, "13.0", "2.11.0", "win_amd64"}, bare.options));
  CHECK_FALSE(can_fetch({TreeKind::nvcc, "13.0", "", "win_amd64"}, bare.options));
  bare.options.provision.sources = {ToolSource::redist};
  CHECK(can_fetch(old_nvcc, bare.options));
  CHECK_FALSE(can_fetch({TreeKind::torch, "13.0", "2.11.0", "linux_x86_64"}, bare.options));
}

TEST_CASE("offline, and locked without a pin, nothing comes") {
  Bare bare;
  const auto spec = spec_of("plugins/sage2");
  SUBCASE("offline") { bare.options.provision.offline = true; }
  SUBCASE("locked") { bare.options.provision.locked = true; }
  const auto diagnosis = diagnose(spec, bare.here(spec, request_for("current")), bare.options);
  REQUIRE_FALSE(diagnosis.cells.empty());
  CHECK(part_of(diagnosis.cells.back(), PartKind::nvcc)->what.starts_with("nvcc 13"));
  CHECK(part_of(diagnosis.cells.back(), PartKind::nvcc)->state == PartState::lacking);
  CHECK(part_of(diagnosis.cells.back(), PartKind::torch)->state == PartState::lacking);
}

TEST_CASE("for Windows no package is proposed: the platform itself is what is lacking") {
  Bare bare;
  const auto spec = spec_of("plugins/sage2");
  const auto machine = bare.here(spec, request_for("legacy", {"win_amd64"}));
  REQUIRE_FALSE(machine.plan.cells.empty());
  const auto diagnosis = diagnose(spec, machine, bare.options);
  for (const auto& cell : diagnosis.cells) {
    REQUIRE(cell.parts.size() == 1);
    CHECK(cell.parts.front().kind == PartKind::platform);
    CHECK(cell.parts.front().state == PartState::lacking);
    CHECK(cell.parts.front().mend.find("apt-get") == std::string::npos);
  }
  CHECK(diagnosis_json(diagnosis).find("apt-get") == std::string::npos);
}

TEST_CASE("a CUDA runtime for another CPU is lacking, whether an nvcc is here or would be fetched") {
  if (this_platform() != "linux_x86_64") return;  // nothing is cross-built elsewhere
  Bare bare;
  bare.install_compilers();
  const auto spec = spec_of("examples/plugin");
  auto machine = bare.here(spec, request_for("", {"linux_aarch64"}));
  const auto lacks_it = [&] {
    REQUIRE_FALSE(machine.plan.cells.empty());
    const auto diagnosis = diagnose(spec, machine, bare.options);
    for (const auto& cell : diagnosis.cells) {
      REQUIRE(part_of(cell, PartKind::nvcc) != nullptr);
      CHECK(part_of(cell, PartKind::nvcc)->state == PartState::lacking);
      CHECK(part_of(cell, PartKind::nvcc)->found.find("libcudart_static.a") != std::string::npos);
    }
  };
  lacks_it();
  Nvcc nvcc;
  nvcc.cuda = machine.plan.cells.front().cuda;
  nvcc.ready = true;
  for (const auto& gencode : machine.plan.cells.front().gencode)
    for (const auto& arch : {gencode.compute, gencode.code}) nvcc.code.push_back({arch.capability, ArchSuffix::none});
  machine.environment.nvcc = {nvcc};
  lacks_it();
}

TEST_CASE("what a spec needs beside the wheel is said") {
  Bare bare;
  const auto spec = spec_of("plugins/sm121");
  const auto diagnosis = diagnose(spec, bare.here(spec), bare.options);
  REQUIRE(diagnosis.companions.size() == 1);
  CHECK(diagnosis.companions.front().name == "triton");
  CHECK(diagnosis_json(diagnosis).find("\"requires_dist\": \"triton>=3.6\"") != std::string::npos);
}

TEST_CASE("make_ready asks for the index only when something must and may be fetched") {
  Bare bare;
  Listener listener;
  const auto spec = spec_of("plugins/sage2");
  const auto request = request_for("current");
  SUBCASE("without a C++ compiler an nvcc would be fetched in vain") {
    const auto ready = make_ready(spec, request, {}, bare.options, bare.runner, listener);
    REQUIRE(ready);
    CHECK_FALSE(ready->plan.cells.front().buildable);
    CHECK(listener.said.empty());
    CHECK(bare.index_asked == 0);
  }
  SUBCASE("offline: what is missing stays missing, and is said") {
    bare.install_compilers();
    bare.options.provision.offline = true;
    const auto ready = make_ready(spec, request, {}, bare.options, bare.runner, listener);
    REQUIRE(ready);
    CHECK_FALSE(ready->plan.cells.front().buildable);
    CHECK(listener.said.find("--offline fetches nothing") != std::string::npos);
    CHECK(bare.index_asked == 0);
  }
  SUBCASE("no source: nothing is even said") {
    bare.options.provision.sources.clear();
    REQUIRE(make_ready(spec, request, {}, bare.options, bare.runner, listener));
    CHECK(listener.said.empty());
    CHECK(bare.index_asked == 0);
  }
  SUBCASE("online: pip's settings that cannot be read end it") {
    bare.install_compilers();
    const auto ready = make_ready(spec, request, {}, bare.options, bare.runner, listener);
    REQUIRE_FALSE(ready);
    CHECK(ready.error().code == "IDX001");
    CHECK(bare.index_asked == 1);
  }
}
