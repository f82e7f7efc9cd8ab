// A failure that a log tells several times, as a wrapper, its reason and what follows from it, is one cause.
#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace sagekit;

namespace {

struct Told {
  std::string_view code;
  std::vector<std::string_view> then;
  std::string log;
};

/// Each log has the one cause, and the others follow from it.
void check_one(const std::vector<Told>& logs) {
  for (const auto& [code, then, log] : logs) {
    INFO(log);
    const auto causes = explain_log_text(log).causes;
    REQUIRE(causes.size() == 1);
    CHECK(causes.front().code == code);
    for (const auto one : then)
      CHECK_MESSAGE(std::ranges::any_of(causes.front().follows_from, [&](const auto& it) { return it.code == one; }),
                    one);
  }
}

const std::string k_fp8 = "ValueError(\"type fp8e4nv not supported in this architecture\")\n";
const std::string k_stopped = "triton.compiler.errors.CompilationError: at 1:0:\ndef kernel(in_ptr0):\n^\n";
const std::string k_ptxas = "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n";
const std::string k_no_symbol =
    "Traceback (most recent call last):\n"
    "  File \"/v/lib/python3.12/site-packages/flash_attn/__init__.py\", line 3, in <module>\n"
    "    import flash_attn_2_cuda\n"
    "ImportError: /v/lib/python3.12/site-packages/flash_attn_2_cuda.so: undefined symbol: "
    "_ZN3c105ErrorC2ENS_14SourceLocationESs\n";
const std::string k_xformers =
    "xFormers can't load C++/CUDA extensions. xFormers was built for:\n"
    "    PyTorch 2.8.0+cu128 with CUDA 1208 (you have 2.9.1+cu130)\n";

}  // namespace

TEST_CASE("a wrapper follows from what it carries, before it or behind") {
  check_one({
      {"WHY528", {"WHY571"}, k_fp8 + k_stopped},
      {"WHY528", {"WHY571"}, k_stopped + k_fp8},
      {"WHY528", {"WHY571"}, "!!! Exception during processing !!! at 1:0:\n" + k_fp8 + "\n" + k_stopped + k_fp8},
      {"WHY532",
       {"WHY571", "WHY704", "WHY569"},
       k_ptxas + "ptxas /tmp/t.ptx, line 4; error   : Feature '.bf16' requires .target sm_80 or higher\n" +
           "ptxas fatal   : Ptx assembly aborted due to errors\n\ntorch._inductor.exc.InductorError: PTXASError\n"},
      {"WHY218",
       {"WHY569"},
       "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
       "/tmp/x/main.c:5:10: fatal error: Python.h: No such file or directory\n"},
      {"WHY137",
       {"WHY715"},
       "CMake Error at cmake/FindCUDNN.cmake:12 (find_library):\n"
       "  Could not find CUDNN_LIB using the following names: cudnn\n"},
      {"WHY537",
       {"WHY734"},
       "docker: Error response from daemon: failed to create shim task: OCI runtime create failed\n"
       "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown\n"},
      // The reason is unknown by itself: its assembler's words say more than the wrapper.
      {"WHY704", {"WHY571"}, k_ptxas + "ptxas fatal   : Unresolved extern function 'foo'\n"},
  });
}

TEST_CASE("a wrapper far from what went wrong is a failure by itself, and so is one of another try") {
  std::string far;
  for (int i = 0; i < 200; ++i) far += "request served\n";
  CHECK(explain_log_text(k_fp8 + far + k_stopped).causes.size() == 2);
  CHECK(explain_log_text(k_fp8 + "$ python main.py --no-compile\n" + k_stopped).causes.size() == 2);
}

TEST_CASE("what a package says after it did not load follows from that, until it is started anew") {
  const std::string not_there =
      "ImportError: FlashAttention2 cannot be used: the package flash_attn seems to be not installed.\n";
  check_one({
      {"WHY403", {"WHY431"}, k_no_symbol + not_there},
      {"WHY403", {"WHY467"}, k_no_symbol + "ModuleNotFoundError: No module named 'flash_attn_2_cuda'\n"},
      {"WHY403",
       {"WHY430"},
       k_no_symbol + "ImportError: cannot import name 'flash_attn_func' from 'flash_attn' (/v/x.py)\n"},
      {"WHY419", {"WHY450"}, k_xformers + "xFormers wasn't build with CUDA support\n"},
      {"WHY419", {"WHY450"}, k_xformers + "got prompt\nxFormers wasn't build with CUDA support\n"},
      {"WHY419",
       {"WHY460"},
       k_xformers + "ModuleNotFoundError: xformers is not available. Make sure it is installed\n"},
      {"WHY462",
       {"WHY456"},
       "ComfyUI-nunchaku 1.0.0 is not compatible with nunchaku 0.3.2.\n"
       "ModuleNotFoundError: No module named 'nunchaku.caching.one'\n"},
      {"WHY412",
       {"WHY418"},
       "  File \"C:\\UI\\Lib\\site-packages\\sageattention\\quant.py\", line 20, in <module>\n    from . import "
       "_fused\n"
       "ImportError: DLL load failed while importing _fused: The specified module could not be found.\n"
       "the `sageattention` package must be installed first.\n"},
  });
  // Another package, and another start.
  CHECK(explain_log_text(k_no_symbol + "ModuleNotFoundError: No module named 'einops'\n").causes.size() == 2);
  CHECK(explain_log_text(k_no_symbol + "$ python main.py\n" + not_there).causes.size() == 2);
}

TEST_CASE("what the GPU, the driver, the network or the index did is told by several in turn") {
  check_one({
      {"WHY531",
       {"WHY505", "WHY545"},
       "RuntimeError: CUDA error: an illegal memory access was encountered\n"
       "RuntimeError: CUDA error: unspecified launch failure\n"
       "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n"},
      {"WHY529",
       {"WHY548", "WHY426", "WHY575"},
       "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).\n"
       "RuntimeError: No CUDA GPUs are available\n"
       "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.\n"
       "No accelerator found\n"},
      {"WHY320",
       {"WHY333"},
       "requests.exceptions.ConnectionError: Max retries exceeded with url: /x\n"
       "huggingface_hub.errors.LocalEntryNotFoundError: we cannot find the requested files in the local cache.\n"},
      {"WHY338",
       {"WHY153"},
       "ERROR: Could not find a version that satisfies the requirement sageattn3 (from versions: none)\n"
       "ERROR: No matching distribution found for sageattn3\n"},
      {"WHY321",
       {"WHY330"},
       "WARNING: Retrying (Retry(total=0)) after connection broken by 'SSLError(CERTIFICATE)': /simple/einops/\n"
       "SSLError(SSLCertVerificationError(1, 'certificate verify failed: unable to get local issuer certificate'))\n"},
      {"WHY425",
       {"WHY442"},
       "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.2.6 as it may crash.\n\n"
       "RuntimeError: Numpy is not available\n"},
  });
}

TEST_CASE("two rows of one line are one cause") {
  for (const std::string_view line :
       {"RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        "/bin/sh: 1: :/usr/local/cuda-12.8/bin/nvcc: not found",
        "/usr/bin/ld: cannot find crtbeginS.o: No such file or directory",
        "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading "
        "\"D:\\torch\\lib\\cudnn_adv64_9.dll\" or one of its dependencies."}) {
    INFO(line);
    const auto causes = explain_log_text(line).causes;
    REQUIRE(causes.size() == 1);
    CHECK(causes.front().follows_from.size() == 1);
  }
}
