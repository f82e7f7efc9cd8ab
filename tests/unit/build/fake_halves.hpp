#pragma once
// nvcc and its programs as they would answer for one small source, and what of them was run.

#include "../compile/fatbin_source.hpp"
#include "fake_build.hpp"

#include <set>

namespace sagekit::test {

inline std::string after(const std::vector<std::string>& argv, const std::string& flag) {
  const auto found = std::ranges::find(argv, flag);
  return found == argv.end() ? "" : *(found + 1);
}

inline bool has_word(const std::vector<std::string>& argv, const std::string& word) {
  return std::ranges::find(argv, word) != argv.end();
}

inline std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

inline const std::string k_whole_stub =
    "static void __device_stub__Z1fi(int __par0){__cudaLaunchPrologue(1);__cudaSetupArgSimple(__par0, 0UL);}\n"
    "__cudaRegisterEntry(__T0, ((void (*)(int))f), _Z1fi, (-1));";
inline const std::string k_whole_ptx = ".visible .entry _Z1fi(\n\t.param .u32 _Z1fi_param_0\n)\n{\n}\n";

/// Answers as nvcc and its programs would; says what ran.
struct Halves : FakePackage {
  CountingRunner runner;
  /// "text 80", "cicc 80", "ptxas 80" (", 8 threads"), "host sh": its code without the GPU's, "plain sh": with, "whole
  /// sh": by nvcc
  std::vector<std::string> log;
  std::vector<std::string> flags;  ///< of the host compiler
  std::string last_object;
  /// lists, mangles, tables: of the architectures, in namespaces of the host's text, in the assembly, in a list.
  bool odd_fatbin = false, names_folder = false, understood = true, lists = false, mangles = false, tables = false;
  bool marks = false;         ///< the text of the GPU's pass has a line marker
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
      said += "#$ ptxas -arch=sm_" + a + (has_word(argv, "--split-compile=8") ? " --split-compile=8 " : " ") +
              q("a." + a + ".ptx") + " -o " + q("a." + a + ".cubin") + "\n";
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
      const auto at = command.working_directory.string();
      write(output, (marks ? "# 1 \"" + at + "/csrc/a.cu\"\n" : "") + text + arch);
      if (const auto listed = after(argv, "-MF"); !listed.empty())
        write(listed, "x.o: csrc/a.cu csrc/common.h " + device_header + "\n");
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
      write(output, replace_all(replace_all(ptx, "MODULE_ID", id), "FOLDER", command.working_directory.string()));
      write(after(argv, "--stub_file_name"), replace_all(stub, "MODULE_ID", id));
    } else if (program == "ptxas") {
      say("ptxas " + argv[1].substr(9) + (has_word(argv, "--split-compile=8") ? ", 8 threads" : ""));
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

}  // namespace sagekit::test
