// What a row says only by a message's form gives way to every row that knows more, and names have their meaning.
#include "causes/cause_data.hpp"
#include "causes/conditions.hpp"

#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

FoundCause first_of(std::string_view log) {
  auto causes = explain_log_text(log).causes;
  return causes.empty() ? FoundCause() : causes.front();
}

}  // namespace

TEST_CASE("the form of a message is the last resort: on one line, and of a whole log") {
  // Each line by itself is a compiler's error; the header says more.
  CHECK(first_of("a.cpp:1:2: error: no matching function for call to 'f(int)'").code == "WHY702");
  CHECK(first_of("a.cpp:1:2: fatal error: glm/glm.hpp: No such file or directory").code == "WHY225");
  CHECK(first_of("a.cpp:1:2: error: no matching function for call to 'f(int)'\n"
                 "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\n")
            .code == "WHY510");
  // Nor does it explain away what is known.
  CHECK(first_of("CMake Error at CMakeLists.txt:12 (message): no\nRuntimeError: CUDA error: invalid argument\n").code ==
        "WHY565");
}

TEST_CASE("a name says what it means, and another one says nothing") {
  CHECK(first_of("RuntimeError: CUDA error: named symbol not found").cause.find("code 500") != std::string::npos);
  // A package names its own file behind the words.
  CHECK(
      first_of("RuntimeError: CUDA error: named symbol not found (at C:\\src\\gemm.cuh:498)").cause.find("code 500") !=
      std::string::npos);
  CHECK(first_of("RuntimeError: CUDA error: something that is new").cause.find("returned this") != std::string::npos);
  const auto module = first_of("import cv2\nModuleNotFoundError: No module named 'cv2'\n");
  REQUIRE_FALSE(module.fix.empty());
  CHECK(module.fix.front().command == "python -m pip install opencv-python");
  const auto other = first_of("ModuleNotFoundError: No module named 'einops'\n");
  REQUIRE_FALSE(other.fix.empty());
  CHECK(other.fix.front().command == "python -m pip install einops");
}

TEST_CASE("the Triton that is advised is the one that the torch of the log requires") {
  const auto command = [](const std::string& torch) {
    const auto missing = first_of(torch + "ModuleNotFoundError: No module named 'triton'\n");
    CHECK(missing.code == "WHY416");
    REQUIRE_FALSE(missing.fix.empty());
    return missing.fix.back().command;  // the one for Linux
  };
  CHECK(command("pytorch version: 2.9.1+cu130\n") == "python -m pip install triton==3.5.1");
  CHECK(command("pytorch version: 2.14.0+cu130\n") == "python -m pip install triton~=3.8.0");
  CHECK(command("pytorch version: 9.9.9\n") == "python -m pip install triton");
  CHECK(command("") == "python -m pip install triton");
}

TEST_CASE("a variable of the shell in a command is the shell's") {
  const auto crashed = first_of("nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n");
  REQUIRE_FALSE(crashed.fix.empty());
  CHECK(crashed.fix.front().command.find("${TMPDIR:-/tmp}") != std::string::npos);
}

TEST_CASE("the disk that is full is the one of the log's path") {
  const auto command = [](const std::string& log) {
    const auto full = first_of(log + "\n");
    CHECK(full.code == "WHY220");
    REQUIRE_FALSE(full.fix.empty());
    return full.fix.front().command;
  };
  CHECK(command("fatal error: error writing to /tmp/ops.s: No space left on device") == "df -h /tmp");
  CHECK(command(
            "OSError: [Errno 28] No space left on device: '/data/venv/lib/python3.12/site-packages/torch/lib/a.so'") ==
        "df -h /data/venv/lib/python3.12/site-packages");
  CHECK(command("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device") ==
        "df -h -T");
  CHECK(command("cp: error writing '/data/models/a.bin': No space left on device") == "df -h /data/models");
  CHECK(command("OSError: [Errno 28] No space left on device: '/data/$(id)/a'") == "df -h -T");
}

TEST_CASE("what a job system says of a kill follows from it, and its time limit does not") {
  const auto killed = explain_log_text(
                          "[1/9] nvcc -c a.cu -o a.o\nKilled\n"
                          "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0.\n")
                          .causes;
  REQUIRE(killed.size() == 1);
  CHECK(killed.front().code == "WHY210");
  REQUIRE_FALSE(killed.front().follows_from.empty());
  CHECK(killed.front().follows_from.front().code == "WHY592");
  CHECK(first_of("slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0.\n").code == "WHY592");
  CHECK(first_of("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-20T04:11:09 DUE TO TIME LIMIT ***\n").code ==
        "WHY604");
}

TEST_CASE("a quota that is used up is no full disk") {
  const auto quota = first_of("OSError: [Errno 122] Disk quota exceeded: '/home/me/venv/lib/a.so'\n");
  CHECK(quota.code == "WHY257");
  REQUIRE_FALSE(quota.fix.empty());
  CHECK(quota.fix.front().command.find("du -") != std::string::npos);
  CHECK(first_of("error: failed to write to file: Disk quota exceeded (os error 122)\n").code == "WHY257");
}

TEST_CASE("what a log says and a shell would run stands in no command") {
  const auto mend = [](const std::string& file) {
    const auto said = explain_log_text("fatal: Unable to create '" + file + "': File exists.\n");
    REQUIRE_FALSE(said.causes.empty());
    return said.causes.front().fix.front().command;
  };
  CHECK(mend("/srv/app/.git/index.lock") == "rm /srv/app/.git/index.lock");
  for (const char* hostile : {"/tmp/$(reboot).lock", "/tmp/a; reboot.lock", "/tmp/`reboot`.lock", "/home /x.lock"})
    CHECK(mend(hostile) == "rm .git/index.lock");
}

TEST_CASE("the words of a shell tell its system, unless the machine at hand is the one") {
  const std::string_view log = "'git' is not recognized as an internal or external command\n";
  CHECK(first_of(log).fix.front().command == "winget search git");
  const auto here = explain_log_text(log, {{"os", "linux"}}).causes;
  REQUIRE_FALSE(here.empty());
  CHECK(here.front().fix.front().command == "apt-get update && apt-get install -y git");
}

TEST_CASE("a build of our own is told our own flags") {
  const std::string_view log = "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n";
  CHECK(first_of(log).fix.front().command.find("MAX_JOBS") != std::string::npos);
  const auto ours = explain_log_text(log, {{"os", "linux"}, {"installer", "sagekit"}}).causes;
  REQUIRE_FALSE(ours.empty());
  CHECK(ours.front().fix.front().command.find("--memory") != std::string::npos);
}

TEST_CASE("what an installer says of a wheel's name and of a typed requirement, pip and uv") {
  const auto typed = first_of("ERROR: Invalid requirement: 'sageattention-2.2.0+cu128torch2.7.1'\n");
  CHECK(typed.code == "WHY349");
  REQUIRE_FALSE(typed.fix.empty());
  CHECK(typed.fix.front().command.find("pip<") == std::string::npos);
  CHECK(first_of("ERROR: Invalid requirement: 'sageattention=2.2': Expected end or semicolon (after name)\n"
                 "    sageattention=2.2\n")
            .code == "WHY349");
  CHECK(first_of("error: Failed to parse: `sageattention-2.2.0+cu128torch2.7.1`\n"
                 "  cause: Expected one of `@`, `(`, `<`, `=`, `>`, `~`, `!`, `;`, found `+`\n")
            .code == "WHY349");
  CHECK(first_of("pkg_resources.extern.packaging.requirements.InvalidRequirement: Invalid requirement: 'x>=1.0.*'\n")
            .code == "WHY142");
  CHECK(first_of("ERROR: t.whl is not a valid wheel filename.\n").code == "WHY316");
  CHECK(first_of("Using Python 3.11.7 environment at: /v\n"
                 "error: The wheel filename `tinysage-1.0 (1).whl` is invalid: Must have a Python tag\n")
            .code == "WHY316");
  CHECK(first_of("Resolved 1 package in 2ms\nerror: Failed to determine installation plan\n"
                 "  cause: A path (tiny-1.0+cu130-cp312-cp312-win_amd64.whl) dependency is incompatible with the "
                 "current platform\n")
            .code == "WHY301");
}

TEST_CASE("an exception that no row knows is the cause only where nothing went on") {
  const std::string error = "ValueError: page 7 has no numbers\n";
  CHECK(first_of(error).code == "WHY731");
  CHECK(first_of(error).cause.find("other kind than expected") != std::string::npos);  // what the class means
  std::string after;
  for (int i = 0; i < 200; ++i) after += "request served\n";
  CHECK(first_of(error + after).code.empty());
  CHECK(first_of(error + "To see the GUI go to: http://127.0.0.1:8188\n").code.empty());
  // Behind it the log says more: the exception gives way, wherever it stands.
  CHECK(first_of(error + "RuntimeError: CUDA error: invalid argument\n").code == "WHY565");
  // One far above counts when those behind it follow from it.
  std::string chain = "ValueError: the first\n";
  for (int i = 0; i < 3; ++i) chain += after.substr(0, 100 * 15) + "ValueError: the next\n";
  CHECK(first_of(chain).where.line == 1);
  // A wrapper's line is the wrapper's.
  const std::string wrapper = "error: subprocess-exited-with-error\n";
  CHECK(first_of(wrapper).code.empty());
  CHECK(
      first_of(
          "      RuntimeError: Error when running CMake: Command '['/usr/bin/cmake', '-S', '/tmp/engine/common', '-B', "
          "'/tmp/engine/build/cmake']' returned non-zero exit status 1.\n")
          .code.empty());
  std::string wrapped;
  for (int i = 0; i < 40; ++i) wrapped += wrapper;
  CHECK(first_of(wrapped +
                 "ERROR: ERROR: Failed to build installable wheels for some pyproject.toml based projects (a)\n")
            .code.empty());
}

TEST_CASE("a line that calls itself information accuses nobody, and a failure may still be explained with it") {
  const std::string line = "INFO 11-22 10:11:12 [importing.py:45] No module named 'triton'\n";
  CHECK(first_of(line + "one\ntwo\nthree\nfour\nfive\n").code.empty());
  CHECK(first_of(line + "ERROR: it failed\n").code != "");
  CHECK(first_of("ERROR 11-22 10:11:12 [core.py:45] ModuleNotFoundError: No module named 'triton'\n").code == "WHY416");
}

TEST_CASE("an answer names the thing that the line names, and the command for that kind") {
  const auto mend = [](std::string_view log) {
    const auto cause = first_of(log);
    return cause.fix.empty() ? std::string() : cause.fix.front().command;
  };
  // Versions: as pip takes them.
  CHECK(mend("ImportError: tokenizers>=0.21,<0.22 is required for a normal functioning of this module, but found "
             "tokenizers==0.20.3.") == "python -m pip install \"tokenizers>=0.21,<0.22\"");
  CHECK(
      first_of(
          "ImportError: you need flash_attn package version to be greater or equal than 2.1.0. Detected version 2.0.4.")
          .cause.starts_with("2.1.0 is asked for"));
  // A package whose name on the index is somebody else's.
  CHECK(mend("ModuleNotFoundError: No module named 'nunchaku'").find("URL") != std::string::npos);
  CHECK(mend("ModuleNotFoundError: No module named 'causal_conv1d_cuda'").ends_with(" causal-conv1d"));
  // A library's package, and one that is not known.
  CHECK(
      mend("ImportError: libGL.so.1: cannot open shared object file: No such file or directory").ends_with(" libgl1"));
  CHECK(mend("ImportError: libodd.so.3: cannot open shared object file: No such file or directory")
            .ends_with("search libodd.so.3"));
  // git's kinds are mended by different commands.
  CHECK(mend("fatal: detected dubious ownership in repository at '/src'").find("safe.directory") != std::string::npos);
  CHECK(mend("fatal: destination path 'x' already exists and is not an empty directory.") == "git -C FOLDER pull");
  // A library of CUDA that a wheel lacks, and one that torch itself lacks.
  const std::string library = "OSError: libcudart.so.12: cannot open shared object file: No such file or directory\n";
  CHECK(first_of("  File \"/v/lib/python3.12/site-packages/k/__init__.py\", line 3, in <module>\n" + library).code ==
        "WHY409");
  CHECK(first_of("  File \"/v/lib/python3.12/site-packages/torch/__init__.py\", line 334, in _load_global_deps\n" +
                 library)
            .code == "WHY434");
  CHECK(first_of("ValueError: libcublas.so.*[0-9] not found in the system path ['', '/v']\n").code == "WHY434");
  // A part that its own package asks for, and one that another asks for.
  const auto lacking = [&](const std::string& folder) {
    return first_of("Traceback (most recent call last):\n  File \"/v/lib/python3.12/site-packages/" + folder +
                    "/__init__.py\", line 3, in <module>\n    from kay.part import one\n"
                    "ModuleNotFoundError: No module named 'kay.part'\n")
        .fix.front();
  };
  CHECK(lacking("kay").why.find("kay itself asks for it") != std::string::npos);
  CHECK(lacking("other").command == "python -m pip show kay");
  // xFormers: which of the two is wrong.
  const std::string built =
      "xFormers can't load C++/CUDA extensions. xFormers was built for:\n"
      "    PyTorch 2.1.2+cu121 with CUDA 1201 (you have 2.1.2+";
  const auto kind = [&](const std::string& has) { return first_of(built + has + ")\n").fix.at(1).command; };
  CHECK(kind("cpu").find(" torch ") != std::string::npos);
  CHECK(kind("cu118").find(" xformers ") != std::string::npos);
}

TEST_CASE("the capability is that of the GPU at hand, not of flags, advice or a module's name") {
  const auto capability = [](std::string_view log) {
    const auto facts = explain_log_text(log).facts;
    const auto found = facts.find("capability");
    return found == facts.end() ? std::string() : found->second;
  };
  const std::string no_kernel = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n";
  const std::string gpu = "Device: cuda:0 NVIDIA GeForce RTX 5090 : cudaMallocAsync\n";
  const std::string advice = "SM89 kernel is not available. make sure you GPUs with compute capability 8.9.\n";
  CHECK(capability("A GPU with CUDA capability sm_121 is not compatible with the current PyTorch installation.\n") ==
        "12.1");
  CHECK(capability("NVIDIA Thing with CUDA capability sm_120 is not compatible\n" + no_kernel) == "12.0");
  CHECK(capability("Found GPU0 NVIDIA GB10 which is of cuda capability 12.1.\n" + no_kernel) == "12.1");
  CHECK(capability("Found GPU0 Thing which is of cuda capability 12.1.\n" + no_kernel) == "12.1");
  CHECK(capability("Detect GPUs with compute capabilities: {'12.0'}\n" + no_kernel) == "12.0");
  CHECK(capability(gpu + "nvcc -c f.cu -gencode arch=compute_80,code=sm_80\n" + no_kernel) == "12.0");
  CHECK(capability(gpu + "Error running sage attention: " + advice + no_kernel) == "12.0");
  CHECK(capability(gpu + "AssertionError: " + advice) == "12.0");
  const auto made = first_of(gpu + "nvcc -c f.cu -gencode arch=compute_80,code=sm_80\n" + no_kernel);
  REQUIRE(made.code == "WHY501");
  CHECK(made.fix.at(2).command.starts_with("TORCH_CUDA_ARCH_LIST=12.0 "));
  // What a line says it is about stays its own.
  CHECK(capability(gpu + "RuntimeError: CUDA 12.4 or higher is required for compute capability 8.9.\n") == "8.9");
  const auto spark = first_of("A GPU with CUDA capability sm_121 is not here\nRuntimeError: Unsupported GPU\n");
  REQUIRE(spark.code == "WHY109");
  CHECK(spark.fix.front().command == "sagekit --plugin sage3 build --arch 12.1");
}

TEST_CASE("a command calls the Python at hand: a portable edition's, or the one that was asked about") {
  const std::string_view log = "** Python executable: C:\\UI\\python_embeded\\python.exe\nNo module named 'triton'\n";
  CHECK(first_of(log).fix.front().command == "python_embeded\\python.exe -m pip install triton-windows");
  const auto here =
      explain_log_text("No module named 'triton'\n", {{"os", "linux"}, {"python_program", "/v/bin/python"}});
  REQUIRE_FALSE(here.causes.empty());
  CHECK(here.causes.front().fix.front().command == "/v/bin/python -m pip install triton");
}

TEST_CASE("under Windows nothing is offered that runs on Linux alone, and something is") {
  for (const auto& row : cause_data().rows) {
    bool ours = false, other = row.fix.empty();
    for (const auto& fix : row.fix) {
      if (all_hold(fix.conditions, {{"os", "windows"}}) == Holds::no) continue;
      other = true;
      for (const auto* verb : {" build", " install", " doctor", " plan", " resolve"})
        ours = ours || (fix.command.starts_with("sagekit") && fix.command.find(verb) != std::string::npos);
    }
    INFO(row.code);
    CHECK_FALSE(ours);
    if (row.code == "WHY305" || row.code == "WHY410") continue;  // names of modules and wheels for Linux
    const bool had = std::ranges::any_of(row.fix, [](const auto& fix) { return fix.command.starts_with("sagekit"); });
    CHECK((other || !had));
  }
}

TEST_CASE("no command asks for a torch only because a log has it: the matrix may not") {
  for (const auto& row : cause_data().rows)
    for (const auto& fix : row.fix) CHECK(fix.command.find("--torch {torch") == std::string::npos);
}

TEST_CASE("an xFormers without its extensions has no kernel: the earlier line is the cause") {
  const auto found = explain_log_text(
      "xFormers can't load C++/CUDA extensions. xFormers was built for:\n"
      "    PyTorch 2.8.0+cu128 with CUDA 1208 (you have 2.9.1+cu130)\n"
      "!!! Exception during processing !!! No operator found for `memory_efficient_attention_forward` with inputs:\n"
      "    operator wasn't built - see `python -m xformers.info` for more info\n");
  REQUIRE(found.causes.size() == 1);
  CHECK(found.causes.front().code == "WHY419");
  CHECK(std::ranges::any_of(found.causes.front().follows_from, [](const auto& one) { return one.code == "WHY546"; }));
}

TEST_CASE("what ComfyUI says again of a node that lacks a name is the same cause") {
  for (const std::string words : {"cannot import name 'NunchakuT5EncoderModel' from 'nunchaku' (/v/nunchaku/x.py)",
                                  "cannot import name 'FluxPipeline' from 'diffusers' (/v/diffusers/__init__.py)",
                                  "cannot import name 'new_name' from 'sageattention' (/v/sageattention/core.py)"}) {
    INFO(words);
    const auto again = "Cannot import /ui/custom_nodes/x module for custom nodes: " + words + "\n";
    CHECK(first_of(again).code == "WHY430");
    const auto found = explain_log_text("ImportError: " + words + "\n\n" + again);
    REQUIRE(found.causes.size() == 1);
    CHECK(found.causes.front().code == "WHY430");
    CHECK(found.causes.front().where.line == 1);
  }
  const std::string words = "module 'diffusers.models' has no attribute 'attention_flax'";
  CHECK(explain_log_text("AttributeError: " + words + "\nCannot import /x module for custom nodes: " + words + "\n")
            .causes.size() == 1);
}

TEST_CASE("what says for which torch a wheel was built is the verb that knows it") {
  const std::string_view line = "ImportError: undefined symbol: _ZN5other4nameEv\n";
  const auto on = [&](const char* system) { return explain_log_text(line, {{"os", system}}).causes.at(0); };
  CHECK(on("linux").code == "WHY407");
  CHECK(on("linux").fix.front().command == "sagekit resolve WHEEL --interpreter python");
  CHECK(on("windows").fix.front().command == "sagekit name WHEEL");
}
