// A mend that installs again names what the log was installing, and never the folder that happens to be the current
// one.
#include "causes/cause_data.hpp"

#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace sagekit;

namespace {

const std::string k_no_torch =
    "  Getting requirements to build wheel: finished with status 'error'\n"
    "ModuleNotFoundError: No module named 'torch'\n";

/// What the first mend of the log installs.
std::string installed(const std::string& log) {
  const auto causes = explain_log_text(log).causes;
  REQUIRE_FALSE(causes.empty());
  REQUIRE(causes.front().code == "WHY101");
  const auto& command = causes.front().fix.front().command;
  return command.substr(command.find("isolation ") + 10);
}

}  // namespace

TEST_CASE("what is installed again is what the prompt says") {
  const auto of = [](const std::string& line) { return installed(line + "\n" + k_no_torch); };
  constexpr std::string_view git = "git+https://github.com/thu-ml/SageAttention.git";
  for (const std::string_view prompt :
       {"(venv) me@box:~/ComfyUI$ ", "$ ", "root@f00:/src# ", "C:\\AI>", "PS C:\\AI> ", "+ ", "Run ",
        "(venv) C:\\AI> .\\python_embeded\\python.exe -s -m ", "#12 [builder 5/6] RUN ", "$ MAX_JOBS=4 sudo ",
        "C:\\AI>\"C:\\Program Files\\Py\\python.exe\" -m "}) {
    INFO(prompt);
    CHECK(of(std::string(prompt) + "pip install " + std::string(git)) == git);
  }
  CHECK(of("$ pip install -v --no-cache-dir -i https://index.example.org/simple sageattention==2.2.0") ==
        "sageattention==2.2.0");
  CHECK(of("$ pip install \"flash-attn>=2.7\" --no-binary flash-attn 2>&1 | tee build.log") == "flash-attn");
  CHECK(of("$ uv pip install ./SageAttention-2.2.0.tar.gz") == "./SageAttention-2.2.0.tar.gz");
  CHECK(of("$ pip install .") == ".");
  CHECK(of("$ pip install -v -e .") == "--editable=.");
  CHECK(of("$ cd SageAttention && pip3 install --editable=./src") == "--editable=./src");
  CHECK(of("$ python setup.py bdist_wheel") == ".");
}

TEST_CASE("what is installed again is what pip or uv says it takes up") {
  const auto of = [](const std::string& log) { return installed(log + k_no_torch); };
  CHECK(of("Collecting git+https://github.com/thu-ml/SageAttention.git\n") ==
        "git+https://github.com/thu-ml/SageAttention.git");
  CHECK(of("Collecting flash-attn==2.7.4 (from -r requirements.txt (line 3))\n") == "flash-attn==2.7.4");
  CHECK(of("Collecting flash-attn>=2.7\n") == "flash-attn");
  CHECK(of("Processing ./SageAttention-2.2.0.tar.gz\n") == "./SageAttention-2.2.0.tar.gz");
  CHECK(of("Processing /src/SageAttention\n") == "/src/SageAttention");
  CHECK(of("Obtaining file:///src/SageAttention\n") == "--editable=file:///src/SageAttention");
  CHECK(of("  \xc3\x97 Failed to build `sageattention @ git+https://example.org/sage.git`\n") ==
        "git+https://example.org/sage.git");
  CHECK(of("  \xc3\x97 Failed to build `flash-attn==2.7.4.post1`\n") == "flash-attn==2.7.4.post1");
  // Of several the one that is taken up last; of wheels that are built the one that is named.
  CHECK(of("$ pip install -r requirements.txt\nCollecting einops\nCollecting flash-attn\n") == "flash-attn");
  CHECK(of("Collecting git+https://example.org/SageAttention.git\nCollecting numpy\n"
           "  Building wheel for sageattention (setup.py): started\n") == "git+https://example.org/SageAttention.git");
  CHECK(of("$ pip install git+https://example.org/flash-attention.git\nCollecting numpy\n"
           "  Building wheel for flash_attn (setup.py): started\n") == "git+https://example.org/flash-attention.git");
  CHECK(of("  Building wheel for flash_attn (setup.py): started\n") == "flash_attn");
  // Said behind it, when the log begins late; and what was installed well before is not it.
  CHECK(installed(k_no_torch + "ERROR: Failed building wheel for flash-attn\n") == "flash-attn");
  CHECK(of("$ pip install einops\nCollecting einops\nSuccessfully installed einops-0.8.1\n") == "PACKAGE");
  CHECK(of("$ pip install einops\nCollecting einops\n$ pip install a b\n") == "PACKAGE");
}

TEST_CASE("nothing is installed that the log does not say, or that a shell would take apart") {
  CHECK(installed(k_no_torch) == "PACKAGE");
  for (const std::string words : {"Please run: pip install triton", "$ pip install $(id)", "$ pip install a`id`",
                                  "$ pip install 'a b'", "Processing ./my folder", "Collecting git+https://x/$(id)"})
    CHECK(installed(words + "\n" + k_no_torch) == "PACKAGE");
}

TEST_CASE("no mend installs the current folder, unless it goes to the source before") {
  for (const auto& row : cause_data().rows)
    for (const auto& fix : row.fix) {
      const bool here = (fix.command + " ").find(" . ") != std::string::npos;
      if (!here || fix.command.find("pip install") == std::string::npos) continue;
      INFO(row.code);
      CHECK(fix.command.find("cd ") != std::string::npos);
    }
}
