// What a log says of the machine that it comes from.
#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace sagekit;

namespace {

std::string fact(const std::string& name, const std::string& log) {
  const auto facts = explain_log_text(log).facts;
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

const std::string k_failed = "ModuleNotFoundError: No module named 'triton'\n";

std::string system_of(std::string_view line) { return fact("os", std::string(line) + "\n" + k_failed); }

}  // namespace

TEST_CASE("what stands only in logs of Windows, or only in those of Linux, tells the system") {
  for (const std::string_view line :
       {"Python version: 3.12.10 (tags/v3.12.10:0cc8128, Apr  8 2025, 12:21:36) [MSC v.1943 64 bit (AMD64)]",
        "Python 3.11.9 (main, May  2 2024) [GCC 13.2.0 64 bit (AMD64)] on win32",
        "OS: Microsoft Windows 11 Pro (10.0.26100 64-bit)", "Python platform: Windows-10-10.0.22631-SP0",
        "D:/ComfyUI/venv/Lib/site-packages/torch/utils/cpp_extension.py:466: x", "  File \"c:\\ui\\main.py\", line 3",
        "-IC:\\AI\\python_embeded\\Include", "'C:\\\\Users\\\\me\\\\a.c'", "Looking in links: file:///E:/wheels",
        "sageattention\\_fused.pyd", "_fused.cp312-win_amd64.pyd", "venv\\Lib\\site-packages\\torch\\__init__.py",
        "ptxas.exe: x", "x.obj : error LNK2001: unresolved", "a.h(3): error C2872: 'std': ambiguous symbol",
        "PS C:\\AI> python main.py", "(venv) D:\\x>python main.py", ".\\python_embeded\\python.exe -s main.py"}) {
    INFO(line);
    CHECK(system_of(line) == "windows");
  }
  for (const std::string_view line :
       {"Python version: 3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0]", "[GCC 10.2.1 20210110] on linux",
        "OS: Ubuntu 24.04.2 LTS (x86_64)", "Python platform: Linux-6.8.0-60-generic-x86_64-with-glibc2.39",
        "_fused.cpython-312-x86_64-linux-gnu.so: x", "_C.cpython-311-aarch64-linux-gnu.so",
        "(venv) me@box:~/ComfyUI$ python main.py", "root@5f3a:/srv# python main.py",
        "/lib64/libm.so.6: version `GLIBC_2.38' not found", "/tmp/pip-req-build-1/setup.py: x",
        "Segmentation fault (core dumped)", "bash: nvcc: command not found"}) {
    INFO(line);
    CHECK(system_of(line) == "linux");
  }
  for (const std::string_view line :
       {"Ignoring colorama: markers 'sys_platform == \"win32\"' don't match your environment",
        "Python 3.12.4 (main, Jun  6 2024) [Clang 15.0.0 (clang-1500.3.9.4)]",
        "Downloading a-1.0-py3-none-manylinux_2_28_x86_64.whl", "see https://host/c:/x and s3:/bucket",
        "ratio 16:9/4:3"}) {
    INFO(line);
    CHECK(system_of(line).empty());
  }
}

TEST_CASE("what a log says of its own system wins over every hint, wherever that stands") {
  std::string long_run;
  for (int i = 0; i < 2000; ++i) long_run += "step " + std::to_string(i) + " of the run\n";
  const std::string windows = "Python version: 3.12.10 (x) [MSC v.1943 64 bit (AMD64)]\n";
  const std::string linux = "Python version: 3.12.3 (x) [GCC 13.3.0]\n";
  const std::string hint_of_linux = "/usr/local/cuda/lib64 is what the container shows\n";
  const std::string hint_of_windows = "tried x-win_amd64.whl\n";
  for (const auto& between : {std::string(), long_run}) {
    CHECK(fact("os", windows + between + hint_of_linux + k_failed) == "windows");
    CHECK(fact("os", linux + between + hint_of_windows + k_failed) == "linux");
  }
  CHECK(fact("os",
             "me@box:~$ pip install x-win_amd64.whl\nERROR: x-win_amd64.whl is not a supported wheel on this "
             "platform.\n") == "linux");
  // The machine at hand is the one that is asked about.
  CHECK(explain_log_text(windows + k_failed, {{"os", "linux"}}).facts.at("os") == "linux");
  CHECK(fact("machine", windows + k_failed) == "x86_64");
}
