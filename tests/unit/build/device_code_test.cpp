// GPU code made by itself: one architecture a step, for all CPUs, Pythons and architecture lists.
#include "fake_halves.hpp"

#include <chrono>
#include <thread>

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("each architecture is compiled by itself and the host's half is put around all of them") {
  Halves fake;
  fake.steps({"80", "90a"}, {"x86_64"});
  auto log = fake.run();
  std::ranges::sort(log);
  CHECK(log == Log{"cicc 80", "cicc 90a", "host sh", "ptxas 80", "ptxas 90a", "text 80", "text 90a"});
  CHECK(fake.compiled_stub.find("static_assert(sizeof(__par0)==4,") != std::string::npos);
  CHECK(fake.run().empty());
}

TEST_CASE("the host's code waits for one architecture alone, and is compiled once") {
  Halves fake;
  fake.steps({"80", "90a"}, {"x86_64"});
  fake.options.jobs = 2;
  const auto answer = fake.runner.instead;
  const auto has_host = [&] {
    const std::lock_guard lock(fake.mutex);
    return std::ranges::count(fake.log, "host sh") == 1;
  };
  fake.runner.instead = [&](const Command& command, const std::stop_token& stop) {
    using namespace std::chrono_literals;
    if (has_word(command.argv, "-D__CUDA_ARCH__=800"))
      for (auto left = 20s / 10ms; left > 0 && !has_host(); --left) std::this_thread::sleep_for(10ms);
    return answer(command, stop);
  };
  CHECK(fake.run() == Log{"text 90a", "cicc 90a", "ptxas 90a", "host sh", "text 80", "cicc 80", "ptxas 80"});
  CHECK(fake.splits == 1);
  CHECK(fake.last_object.find("code 80;code 90a;") != std::string::npos);
}

TEST_CASE("host code that does not compile by itself is left to nvcc, and said once") {
  Halves fake;
  fake.fails = "host";
  fake.steps({"80", "90a"}, {"x86_64"});
  CHECK(fake.run().back() == "whole sh");
  CHECK(std::ranges::count_if(fake.watcher.events, [](const auto& e) { return e.starts_with("retried"); }) == 1);
  CHECK(fake.run().empty());
}

TEST_CASE("an architecture more compiles that one alone") {
  Halves fake;
  fake.steps({"80", "90a"}, {"x86_64"});
  fake.run();
  fake.steps({"80", "90a", "120"}, {"x86_64"});
  auto log = fake.run();
  std::ranges::sort(log);  // the others' text is made, because headers may ask for the list, and found again
  CHECK(log == Log{"cicc 120", "ptxas 120", "text 120", "text 80", "text 90a"});
  CHECK(fake.last_object.find("code 80;code 90a;code 120;") != std::string::npos);
  fake.text = "changed by the list ";
  fake.steps({"80", "90a", "120", "121a"}, {"x86_64"});
  CHECK(std::ranges::count(fake.run(), "cicc 80") == 1);
}

TEST_CASE("of a plan for two CPUs this machine's makes the GPU code and the other takes it") {
  Halves fake;
  fake.steps({"80"}, {"aarch64", "x86_64"});
  auto log = fake.run();
  std::ranges::sort(log);
  CHECK(log == Log{"cicc 80", "host aarch64-linux-gnu-g++", "host sh", "ptxas 80", "text 80"});
}

TEST_CASE(
    "GPU code of an earlier build serves another CPU's, of another source it does not, and never the other way round") {
  Halves fake;
  const Log cross{"text 80", "cicc 80", "ptxas 80", "host aarch64-linux-gnu-g++"};
  const auto only = [&](const std::string& cpu) {
    fake.steps({"80"}, {cpu});
    return fake.run();
  };
  CHECK(only("aarch64") == cross);
  fake.text = "of this machine's CPU ";
  CHECK(only("x86_64") == Log{"text 80", "cicc 80", "ptxas 80", "host sh"});
  write(fake.source() / "csrc/common.h", "header 2\n");
  fake.pin();
  CHECK(only("x86_64") == Log{"text 80", "host sh"});  // equal text is equal code
  CHECK(only("aarch64") == Log{"host aarch64-linux-gnu-g++"});
  CHECK(only("aarch64").empty());
}

TEST_CASE("a header that only the device's passes read is an input of the object, another CPU's, too") {
  Halves fake;
  fake.device_header = "csrc/device.h";
  const auto compiled = [&](const std::string& header) {
    write(fake.source() / "csrc/device.h", header);
    fake.text = "text of " + header;
    fake.pin();
    auto log = fake.run();
    std::ranges::sort(log);
    return log;
  };
  const Log device{"cicc 80", "ptxas 80", "text 80"};  // the host's text is the old one
  for (const std::vector<std::string>& cpus :
       {std::vector<std::string>{"x86_64"}, {"aarch64"}, {"aarch64", "x86_64"}}) {
    CAPTURE(join(cpus, " "));
    fake.steps({"80"}, cpus);
    const auto number = std::to_string(cpus.size()) + cpus.front();
    CHECK_FALSE(compiled("device 1 " + number + "\n").empty());
    CHECK(compiled("device 1 " + number + "\n").empty());
    CHECK(compiled("device 2 " + number + "\n") == device);
    CHECK(compiled("device 1 " + number + "\n").empty());  // both are known
    CHECK(fake.last_object.starts_with("assembly of "));
  }
}

TEST_CASE("the host's code is compiled again for another text, flag or compiler, and not for other GPU code") {
  Halves fake;
  CHECK(fake.host_runs({"80"}) == 1);
  CHECK(fake.host_runs({"80", "90a"}) == 0);
  write(fake.source() / "csrc/common.h", "header 2\n");
  fake.pin();
  CHECK(fake.host_runs({"80"}) == 1);
  CHECK(fake.host_runs({"90a"}) == 0);
  fake.flags = {"-O1"};
  CHECK(fake.host_runs({"80"}) == 1);
  CHECK(fake.host_runs({"90a"}) == 0);
  fake.environment.host_compilers.front().identity = "another shell";
  CHECK(fake.host_runs({"80"}) == 1);
  CHECK(fake.host_runs({"90a"}) == 0);
}

TEST_CASE(
    "an architecture more reads the host's text and starts no cudafe++, unless the text or its words are others") {
  Halves fake;
  const auto splits_of = [&](const std::vector<std::string>& archs) {
    fake.splits = 0;
    fake.steps(archs, {"x86_64"});
    CHECK_FALSE(fake.run().empty());
    return fake.splits;
  };
  fake.lists = true;
  CHECK(splits_of({"80"}) == 1);
  const auto first = fake.last_object;
  CHECK(splits_of({"80", "90a"}) == 0);
  CHECK(fake.last_object.find("code 80;code 90a;") != std::string::npos);
  CHECK(fake.last_object.substr(0, 20) == first.substr(0, 20));
  fake.flags = {"-O1"};
  CHECK(splits_of({"90a"}) == 1);
  write(fake.source() / "csrc/common.h", "header 2\n");
  fake.pin();
  CHECK(splits_of({"80"}) == 1);
  CHECK(splits_of({"90a"}) == 0);
  fake.tables = true;  // the text itself has the list
  CHECK(splits_of({"80", "90a", "120"}) == 1);
}

TEST_CASE("namespaces named after all architectures make no other host code, unless names of them are in it") {
  Halves fake;
  fake.lists = true;
  CHECK(fake.host_runs({"80"}) == 1);
  CHECK(fake.host_runs({"80", "90a"}) == 0);
  for (bool Halves::* const matters : {&Halves::mangles, &Halves::tables}) {
    fake.*matters = true;
    write(fake.source() / "csrc/common.h", "header " + std::to_string(2 + fake.tables));
    fake.pin();
    CHECK(fake.host_runs({"80"}) == 1);
    CHECK(fake.host_runs({"80", "90a"}) == 1);
    fake.*matters = false;
  }
}

TEST_CASE("host code that names a folder of its run is nobody else's") {
  Halves fake;
  fake.names_folder = true;
  CHECK(std::ranges::count(fake.run(), "host sh") == 1);
  fake.steps({"80", "90a"}, {"x86_64"});
  CHECK(std::ranges::count(fake.run(), "host sh") == 1);
}

TEST_CASE("a fatbin that is not as nvcc writes it is compiled in, as nvcc would") {
  Halves fake;
  fake.odd_fatbin = true;
  CHECK(fake.run() == Log{"text 80", "cicc 80", "ptxas 80", "plain sh"});
  CHECK(std::ranges::count_if(fake.watcher.events, [](const auto& e) { return e.starts_with("retried"); }) == 0);
}

TEST_CASE("names with the module id in them are made with the one that the host has") {
  Halves fake;
  fake.ptx = replace_all(k_whole_ptx, "_Z1fi", "_Z1fMODULE_ID");
  fake.stub = replace_all(k_whole_stub, "_Z1fi", "_Z1fMODULE_ID");
  CHECK(fake.run() == Log{"text 80", "cicc 80", "cicc 80", "ptxas 80", "host sh"});
  CHECK(fake.compiled_stub.find("_Z1f_id_host") != std::string::npos);
  // An architecture more: the text is found again, and its module id is still the host's.
  fake.steps({"80", "90a"}, {"x86_64"});
  CHECK(std::ranges::count(fake.run(), "cicc 80") == 0);
  // Another host pass, the same text for the GPU: it is made anew.
  fake.steps({"80"}, {"x86_64"});
  fake.plan.steps.front().argv.push_back("-DOTHER");
  fake.plan.steps.front().device_argv = {};
  fake.host_id = "_id_other";
  CHECK(fake.run() == Log{"text 80", "cicc 80", "ptxas 80", "host sh"});
}

TEST_CASE("of a source that takes long the module id is asked for before, and only names that have it are tied to it") {
  for (const bool named : {true, false}) {
    CAPTURE(named);
    Halves fake;
    if (named) fake.ptx = replace_all(k_whole_ptx, "_Z1fi", "_Z1fMODULE_ID");
    if (named) fake.stub = replace_all(k_whole_stub, "_Z1fi", "_Z1fMODULE_ID");
    fake.plan.steps.front().cost.cpu_seconds = 1000;
    CHECK(fake.run() == Log{"text 80", "cicc 80", "ptxas 80", "host sh"});
    CHECK((fake.compiled_stub.find("_Z1f_id_host") != std::string::npos) == named);
    fake.plan.steps.front().argv.push_back("-DOTHER");
    fake.host_id = "_id_other";
    CHECK(std::ranges::count(fake.run(), "cicc 80") == (named ? 1 : 0));
  }
}

TEST_CASE(
    "a device-only header is used for GPU code alone; where it does not do nvcc runs as a whole, and says so once") {
  Halves fake;
  fake.steps({"80", "90a"}, {"x86_64"}, true);
  auto log = fake.run();
  CHECK(std::ranges::count(log, "host sh") == 1);
  Halves other;
  other.steps({"80", "90a"}, {"x86_64"}, true);
  other.fails = "shim";
  log = other.run();
  CHECK(log.back() == "whole sh");
  CHECK(std::ranges::count_if(other.watcher.events, [](const auto& e) { return e.starts_with("retried"); }) == 1);
}

TEST_CASE("where the halves do not come together nvcc runs as a whole") {
  for (const std::string how : {"dry run", "cicc", "host", "kernels", "variable", "parameters"}) {
    CAPTURE(how);
    Halves fake;
    if (how == "dry run") fake.understood = false;
    if (how == "cicc" || how == "host") fake.fails = how;
    if (how == "kernels") fake.ptx += ".visible .entry _Z1gv()\n{\n}\n";
    if (how == "variable") fake.stub += "__cudaRegisterVariable(__T0, __shadow_var(lost,::lost), 0, 4UL, 1, 0);";
    if (how == "parameters") fake.ptx = replace_all(k_whole_ptx, ".u32", ".odd");
    CHECK(fake.run().back() == "whole sh");
    CHECK(std::ranges::count_if(fake.watcher.events, [](const auto& e) { return e.starts_with("retried"); }) == 1);
    CHECK(fake.run().empty());
  }
}

TEST_CASE("what does not fit together is found before ptxas begins, and no other architecture is tried then") {
  for (const std::string how : {"kernels", "variable", "parameters", "launches"}) {
    CAPTURE(how);
    Halves fake;
    if (how == "kernels") fake.ptx += ".visible .entry _Z1gv()\n{\n}\n";
    if (how == "variable") fake.stub += "__cudaRegisterVariable(__T0, __shadow_var(lost,::lost), 0, 4UL, 1, 0);";
    if (how == "parameters") fake.ptx = replace_all(k_whole_ptx, ".u32", ".odd");
    if (how == "launches") fake.stub = replace_all(k_whole_stub, "__cudaLaunchPrologue(1)", "__cudaLaunchPrologue(2)");
    fake.steps({"80", "90a"}, {"x86_64"});
    CHECK(fake.run() == Log{"text 90a", "cicc 90a", "whole sh"});
    CHECK(std::ranges::count_if(fake.watcher.events, [](const auto& e) { return e.starts_with("retried"); }) == 1);
  }
}

TEST_CASE("GPU code is found by its text from whatever folder and store, unless it names the folder") {
  for (const bool names : {false, true}) {
    CAPTURE(names);
    Halves first, second;
    for (auto* fake : {&first, &second}) {
      fake->marks = true;
      if (names) fake->ptx = k_whole_ptx + "// FOLDER\n";
    }
    CHECK(first.run() == Log{"text 80", "cicc 80", "ptxas 80", "host sh"});
    // Another machine that was given what the first kept, and a header that no text has.
    fs::create_directories(second.options.store);
    for (const auto* part : {"actions", "objects"})
      fs::copy(first.options.store / part, second.options.store / part, fs::copy_options::recursive);
    write(second.source() / "csrc/common.h", "header 2\n");
    second.pin();
    CHECK(second.run() == (names ? Log{"text 80", "cicc 80", "ptxas 80", "host sh"} : Log{"text 80", "host sh"}));
    second.steps({"80", "90a"}, {"x86_64"});
    CHECK(std::ranges::count(second.run(), "cicc 80") == 0);
  }
}

TEST_CASE("a source that does not compile is told by nvcc itself") {
  Halves fake;
  fake.fails = "cicc";
  const auto whole = fake.runner.instead;
  fake.runner.instead = [&](const Command& command,
                            const std::stop_token& stop) -> std::optional<Result<CommandResult>> {
    if (name_of(command.argv.front()) != "nvcc" || has_word(command.argv, "--dryrun")) return whole(command, stop);
    CommandResult result;
    result.exit_code = 2;
    write(command.output_file, "a.cu(1): error\n");
    return result;
  };
  const auto built = fake.build(fake.runner);
  REQUIRE(built);
  REQUIRE(built->failed.size() == 1);
  CHECK(built->failed.front().cause == "a.cu(1): error");
}

TEST_CASE("GPU code whose compiler is killed for its memory twice has failed, however the build was to end") {
  for (const std::string how : {"at once", "keep going", "stop after", "shard"}) {
    CAPTURE(how);
    Halves fake;
    fake.steps({"80", "90a"}, {"x86_64"});
    fake.options.keep_going = how == "keep going";
    if (how == "stop after") fake.options.stop_after = std::chrono::steady_clock::now() + std::chrono::hours(1);
    if (how == "shard") fake.options.shard = Shard{1, 1};
    int kills = 0;
    const auto answer = fake.runner.instead;
    fake.runner.instead = [&](const Command& command,
                              const std::stop_token& stop) -> std::optional<Result<CommandResult>> {
      if (name_of(command.argv.front()) != "cicc" || after(command.argv, "-arch") != "compute_90a")
        return answer(command, stop);
      ++kills;
      CommandResult result;
      result.signal = 9;
      result.exit_code = 137;
      result.peak_memory_bytes = 1'820'000'000;
      return result;
    };
    const auto built = fake.build(fake.runner);
    REQUIRE(built);
    CHECK(kills == 2);
    CHECK(built->steps_failed == 1);
    CHECK(built->steps_left == 0);
    REQUIRE(built->failed.size() == 1);
    const auto& failure = built->failed.front();
    CHECK(failure.step.starts_with("device-_a-a.cu-compute_90a"));
    CHECK(failure.cell == "fake-x86_64");
    CHECK(failure.cause.find("signal 9") != std::string::npos);
    CHECK(failure.cause.find("ran alone: 1.82 GB were not enough") != std::string::npos);
    CHECK(name_of(failure.argv.front()) == "nvcc");  // what can be run again: the folder of cicc's files is gone
    CHECK(fake.watcher.saw("failed " + failure.step));
    CHECK_FALSE(fake.watcher.saw("finished " + failure.step));
    CHECK(std::ranges::count(fake.log, "whole sh") == 0);
    if (how == "keep going") CHECK(std::ranges::count(fake.log, "ptxas 80") == 1);
  }
}

TEST_CASE("of GPU code that is made anew it is said what differs, as of every step") {
  Halves fake;
  std::vector<std::string> said;
  fake.options.log = [&](LogLevel, std::string_view text) {
    const std::lock_guard lock(fake.mutex);
    const auto at = text.find(": not in the store: ");
    if (text.starts_with("device-") && at != text.npos) said.emplace_back(text.substr(at + 20));
  };
  const auto run = [&] {
    said.clear();
    fake.run();
    return said;
  };
  CHECK(run() == Log{"it was never made before"});
  CHECK(run().empty());
  write(fake.source() / "csrc/a.cu", "kernel a, mended\n");
  fake.pin();
  CHECK(run() == Log{"input {source}/csrc/a.cu"});
  write(fake.source() / "csrc/common.h", "header 2\n");
  fake.pin();
  CHECK(run() == Log{"header {source}/csrc/common.h"});
  fs::remove_all(fake.options.store / "actions");
  CHECK(run() == Log{"the store lost its record"});
  fs::remove_all(fake.options.store / "objects");
  CHECK(run() == Log{"the store lost what it made"});
}
