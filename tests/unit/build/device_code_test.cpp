// GPU code made by itself: one architecture a step, for all CPUs, Pythons and architecture lists.
#include "fake_build.hpp"
#include "fatbin_source.hpp"

#include <set>

using namespace sagekit;
using namespace sagekit::test;

namespace {

std::string after(const std::vector<std::string>& argv, const std::string& flag) {
  const auto found = std::ranges::find(argv, flag);
  return found == argv.end() ? "" : *(found + 1);
}

bool has_word(const std::vector<std::string>& argv, const std::string& word) {
  return std::ranges::find(argv, word) != argv.end();
}

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

const std::string k_whole_stub =
    "static void __device_stub__Z1fi(int __par0){__cudaLaunchPrologue(1);__cudaSetupArgSimple(__par0, 0UL);}\n"
    "__cudaRegisterEntry(__T0, ((void (*)(int))f), _Z1fi, (-1));";
const std::string k_whole_ptx = ".visible .entry _Z1fi(\n\t.param .u32 _Z1fi_param_0\n)\n{\n}\n";

/// Answers as nvcc and its programs would; says what ran.
struct Halves : FakePackage {
  CountingRunner runner;
  /// "text 80", "cicc 80", "ptxas 80", "host sh": its code without the GPU's, "plain sh": with, "whole sh": by nvcc
  std::vector<std::string> log;
  std::vector<std::string> flags;  ///< of the host compiler
  std::string last_object;
  /// lists, mangles, tables: of the architectures, in namespaces of the host's text, in the assembly, in a list.
  bool odd_fatbin = false, names_folder = false, understood = true, lists = false, mangles = false, tables = false;
  int splits = 0;             ///< how often cudafe++ was run
  std::string device_header;  ///< below #ifdef __CUDA_ARCH__: the host's pass does not read it
  std::string ptx = k_whole_ptx, stub = k_whole_stub;
  std::string text = "text ", host_id = "_id_host";  ///< what the preprocessor gives, before the architecture
  std::string fails;                                 ///< a program that does
  std::string compiled_stub;
  std::mutex mutex;

  Halves() {
    plan.steps.clear();
    plan.modules.clear();
    Nvcc nvcc;
    nvcc.executable = "/opt/cuda/bin/nvcc";
    nvcc.root = "/opt/cuda";
    nvcc.include_dir = "/opt/cuda/include";
    nvcc.version = "13.0.88";
    nvcc.cuda = "13.0";
    nvcc.max_gcc = "15";
    nvcc.identity = "nvcc";
    nvcc.ready = true;
    environment.nvcc = {nvcc};
    auto cross = environment.host_compilers.front();
    cross.executable = "/usr/bin/aarch64-linux-gnu-g++";
    cross.target = "aarch64-linux-gnu";
    cross.identity = "cross";
    environment.host_compilers.push_back(cross);
    plan.cells.front().steps.clear();
    m_cell = plan.cells.front();
    options.jobs = 1;
    runner.instead = [this](const Command& command, const std::stop_token&) -> std::optional<Result<CommandResult>> {
      if (command.argv.front() == "git") return std::nullopt;
      const std::lock_guard lock(mutex);
      return answer(command);
    };
    steps({"80"}, {"x86_64"});
  }

  /// One compile step for each CPU, for these architectures.
  void steps(const std::vector<std::string>& archs, const std::vector<std::string>& cpus, bool shimmed = false) {
    plan.cells.clear();
    plan.steps.clear();
    for (const auto& cpu : cpus) {
      auto cell = m_cell;
      cell.id = "fake-" + cpu;
      cell.platform = "linux_" + cpu;
      cell.cuda = "13.0";
      std::string list = cpu;
      for (const auto& arch : archs) list += "-" + arch;
      const auto object = "{work}/obj/a-" + list;
      Step step;
      step.id = "compile-" + list;
      step.kind = StepKind::compile;
      step.module = "pkg._a";
      step.argv = {"{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_" + cpu + "}"};
      for (const auto& arch : archs) {
        step.argv.push_back("-gencode");
        step.argv.push_back("arch=compute_" + arch + ",code=sm_" + arch);
      }
      step.argv.insert(step.argv.end(), flags.begin(), flags.end());
      step.argv.insert(step.argv.end(), {"-c", "{source}/csrc/a.cu"});
      if (shimmed) step.device_argv = step.argv;
      if (shimmed) step.device_argv.push_back("-DSHIM");
      step.argv.insert(step.argv.end(), {"-o", object + ".o", "-MD", "-MF", object + ".d"});
      step.inputs = {"{source}/csrc/a.cu"};
      step.outputs = {object + ".o", object + ".d"};
      step.cells = {cell.id};
      step.cost.cpu_seconds = cpu == "aarch64" ? 100 : 1;
      cell.steps = {step.id};
      plan.steps.push_back(step);
      plan.cells.push_back(cell);
    }
  }

  std::string dry_run(const std::vector<std::string>& argv) const {
    const auto kept_in = after(argv, "--keep-dir"), cxx = after(argv, "-ccbin");
    std::vector<std::string> archs;
    for (std::size_t i = 0; i + 1 < argv.size(); ++i)
      if (argv[i] == "-gencode") archs.push_back(argv[i + 1].substr(13, argv[i + 1].find(',') - 13));
    const auto q = [&](const std::string& file) { return "\"" + kept_in + "/" + file + "\""; };
    std::string said = "#$ _HERE_=/opt/cuda/bin\n#$ CICC_PATH=/opt/cuda/nvvm/bin\n";
    const std::string shim = has_word(argv, "-DSHIM") ? " -DSHIM" : "";
    for (const auto& a : archs)
      said +=
          "#$ " + cxx + " -D__CUDA_ARCH__=" + a + "0 -E" + shim + " csrc/a.cu -o " + q("a." + a + ".cpp1.ii") + "\n";
    said += "#$ " + cxx + " -D__CUDA_ARCH_LIST__=" + join(archs, ",") + " -E csrc/a.cu -o " + q("a.cpp4.ii") +
            "\n#$ -- Filter Dependencies -- > x.d\n";
    said += "#$ cudafe++ --gen_c_file_name " + q("a.cudafe1.cpp") + " --stub_file_name \"a." + archs.back() +
            ".cudafe1.stub.c\" --module_id_file_name " + q("a.module_id") + " " + q("a.cpp4.ii") + "\n";
    std::string images;
    for (const auto& a : archs) {
      said += "#$ \"$CICC_PATH/cicc\" -arch compute_" + a + " --stub_file_name " + q("a." + a + ".cudafe1.stub.c") +
              " --module_id_file_name " + q("a.module_id") + " " + q("a." + a + ".cpp1.ii") + " -o " +
              q("a." + a + ".ptx") + "\n";
      said += "#$ ptxas -arch=sm_" + a + " " + q("a." + a + ".ptx") + " -o " + q("a." + a + ".cubin") + "\n";
      images += " \"--image3=kind=elf,sm=" + a + ",file=" + kept_in + "/a." + a + ".cubin\"";
    }
    said += "#$ fatbinary --create=" + q("a.fatbin") + images + " --embedded-fatbin=" + q("a.fatbin.c") + "\n";
    const std::string flag = has_word(argv, "-O1") ? " -O1" : "";
    said += "#$ " + cxx + " -c" + flag + " -x c++ " + q("a.cudafe1.cpp") + " -o \"" + after(argv, "-o") + "\"\n";
    return understood ? said : "#$ something new\n";
  }

  /// How often the host's code is compiled for a wheel of these.
  auto host_runs(const std::vector<std::string>& archs) {
    steps(archs, {"x86_64"});
    return std::ranges::count(run(), "host sh");
  }

  CommandResult answer(const Command& command) {
    const auto& argv = command.argv;
    const auto program = name_of(argv.front());
    CommandResult result;
    const auto say = [&](const std::string& what) { log.push_back(what); };
    const auto output = after(argv, "-o");
    const auto fail_if = [&](const std::string& what) {
      if (fails != what) return false;
      result.exit_code = 1;
      return true;
    };
    if (has_word(argv, "--dryrun")) {
      result.output = dry_run(argv);
    } else if (program == "nvcc") {
      say("whole " + name_of(after(argv, "-ccbin")));
      if (fail_if("nvcc")) return result;
      write(output, "whole object");
      write(after(argv, "-MF"), "x.o: csrc/a.cu csrc/common.h " + device_header + "\n");
    } else if (has_word(argv, "-E") && output.ends_with(".cpp1.ii")) {
      const auto arch = argv[1].substr(16, argv[1].size() - 17);
      say("text " + arch);
      if (has_word(argv, "-DSHIM") && fail_if("shim")) return result;
      write(output, text + arch);
      write(after(argv, "-MF"), "x.o: csrc/a.cu csrc/common.h " + device_header + "\n");
    } else if (output.ends_with("host.ii")) {
      write(output, text_of(after(argv, "c++")) + text_of(fs::path(output).parent_path() / "host.cudafe1.stub.c"));
    } else if (has_word(argv, "-E")) {
      if (const auto listed = after(argv, "-MF"); !listed.empty()) write(listed, "x.o: csrc/a.cu csrc/common.h\n");
      const auto list = replace_all(argv[1].substr(argv[1].find('=') + 1), ",", "_");
      write(output, "host text " + text_of(command.working_directory / "csrc/common.h") +
                        (lists ? " cub_SM_" + list + "_NS" : "") + (tables ? " int archs[] = {" + argv[1] : ""));
    } else if (program == "cudafe++") {
      ++splits;
      write(after(argv, "--module_id_file_name"), host_id);
      write(after(argv, "--gen_c_file_name"), text_of(argv.back()));
    } else if (program == "cicc") {
      const auto arch = after(argv, "-arch").substr(8), id = text_of(after(argv, "--module_id_file_name"));
      say("cicc " + arch);
      if (fail_if("cicc")) return result;
      write(output, replace_all(ptx, "MODULE_ID", id));
      write(after(argv, "--stub_file_name"), replace_all(stub, "MODULE_ID", id));
    } else if (program == "ptxas") {
      say("ptxas " + argv[1].substr(9));
      write(output, "code " + argv[1].substr(9));
    } else if (program == "fatbinary") {
      std::string all;
      for (const auto& word : argv)
        if (const auto at = word.find("file="); at != std::string::npos) all += text_of(word.substr(at + 5)) + ";";
      all.resize((all.size() + 7) / 8 * 8, ' ');
      write(argv[1].substr(argv[1].find('=') + 1), all);
      write(argv.back().substr(argv.back().find('=') + 1), odd_fatbin ? all : fatbin_source(all));
    } else if (has_word(argv, "-S")) {
      say("host " + program);
      if (fail_if("host")) return result;
      const auto& half = command.working_directory;
      compiled_stub = text_of(half / "host.cudafe1.stub.c");
      auto assembly = (names_folder ? half.string() : "") + "assembly of " + text_of(half / "host.ii");
      const auto names = assembly.find(" cub_SM_");
      if (names != std::string::npos && !mangles) assembly.erase(names);  // nothing of that namespace is used
      write(half / output, assembly);
    } else if (has_word(argv, "assembler")) {
      last_object = text_of(command.working_directory / after(argv, "assembler")) +
                    text_of(command.working_directory / "host.fatbin");
      write(output, last_object);
    } else if (has_word(argv, "-c")) {
      say("plain " + program);
      write(output, "object of " + text_of(fs::path(after(argv, "c++")).parent_path() / "a.fatbin.c"));
    }
    return result;
  }

  std::vector<std::string> run() {
    log.clear();
    watcher.events.clear();
    const auto built = build(runner);
    REQUIRE_MESSAGE(built, built.error().message);
    CHECK(built->failed.empty());
    return log;
  }
  using Log = std::vector<std::string>;
  Cell m_cell;
};

using Log = Halves::Log;

}  // namespace

TEST_CASE("each architecture is compiled by itself and the host's half is put around all of them") {
  Halves fake;
  fake.steps({"80", "90a"}, {"x86_64"});
  auto log = fake.run();
  std::ranges::sort(log);
  CHECK(log == Log{"cicc 80", "cicc 90a", "host sh", "ptxas 80", "ptxas 90a", "text 80", "text 90a"});
  CHECK(fake.compiled_stub.find("static_assert(sizeof(__par0)==4,") != std::string::npos);
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

TEST_CASE("a header that only the device's passes read is an input of the object") {
  Halves fake;
  fake.device_header = "csrc/device.h";
  write(fake.source() / "csrc/device.h", "device 1\n");
  fake.pin();
  CHECK_FALSE(fake.run().empty());
  write(fake.source() / "csrc/device.h", "device 2\n");
  fake.text = "changed ";
  fake.pin();
  CHECK(fake.run() == Log{"text 80", "cicc 80", "ptxas 80"});  // the host's text is the old one
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
  for (bool Halves::*const matters : {&Halves::mangles, &Halves::tables}) {
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
