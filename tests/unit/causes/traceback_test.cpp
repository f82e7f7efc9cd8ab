#include "causes/traceback.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sagekit;

namespace {

std::string_view uncarried(std::string_view line) {
  if (line.starts_with("[rank0]:")) line.remove_prefix(8);
  const auto begin = line.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

LogFacts facts(std::string_view before, std::string_view behind = {}) {
  static const TracebackReader k_reader(cause_data().traceback);
  return k_reader.facts(before, behind, uncarried);
}

std::string frame(const std::string& file, int line = 7) {
  return "  File \"" + file + "\", line " + std::to_string(line) + ", in f\n    f(x)\n      ^^^^\n";
}

const std::string k_begin = "Traceback (most recent call last):\n";
const std::string k_torch = "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py";

}  // namespace

TEST_CASE("the innermost frame that does not merely pass on is the owner") {
  auto of = facts(k_begin + frame("/home/u/run.py") + frame("/venv/lib/python3.12/site-packages/diffusers/wan.py", 88) +
                  frame(k_torch));
  CHECK(of["frame"] == "package");
  CHECK(of["frame_owner"] == "diffusers");
  CHECK(of["frame_place"] == "wan.py line 88");
  CHECK(of["frame_words"] == "the package diffusers");
  CHECK(of["frame_node"] == "none");

  of = facts(k_begin + frame("/home/u/run.py", 3) + frame("/usr/lib/python3.12/contextlib.py") + frame(k_torch));
  CHECK(of["frame"] == "own");
  CHECK(of["frame_place"] == "run.py line 3");

  CHECK(facts(k_begin + frame(k_torch))["frame_owner"] == "torch");  // nobody else is there
  CHECK(facts(k_begin + frame("C:\\py\\Lib\\site-packages\\cv2\\__init__.py"))["frame_owner"] == "opencv-python");
}

TEST_CASE("a node of ComfyUI that was in the way is named, and is the owner of what ComfyUI did for it") {
  const auto node = frame("E:\\ComfyUI\\custom_nodes\\ComfyUI-GGUF\\nodes.py", 140);
  auto of = facts(k_begin + frame("E:\\ComfyUI\\execution.py") + node + frame("E:\\ComfyUI\\comfy\\sd.py"));
  CHECK(of["frame"] == "node");
  CHECK(of["frame_owner"] == "ComfyUI-GGUF");
  CHECK(of["frame_place"] == "nodes.py line 140");

  of = facts(k_begin + node + frame("E:\\py\\Lib\\site-packages\\transformers\\models\\t5.py"));
  CHECK(of["frame"] == "package");
  CHECK(of["frame_node"] == "ComfyUI-GGUF");

  of = facts(k_begin + frame("/srv/ComfyUI/execution.py") + frame("/srv/ComfyUI/comfy/sd.py"));
  CHECK(of["frame"] == "comfyui");
}

TEST_CASE("a traceback may follow its message, be carried, or be rich's") {
  const auto traceback = k_begin + frame("/ComfyUI/custom_nodes/n/a.py");
  CHECK(facts("got prompt\n", traceback)["frame_owner"] == "n");
  CHECK(facts("[rank0]:   File \"/home/u/a.py\", line 1, in <module>\n[rank0]:     main()\n")["frame"] == "own");
  CHECK(facts("/venv/lib/python3.11/site-packages/peft/load.py:42 in load\n\n 40 a\n 41 b\n 42 c\n 43 d\n 44 e\n")
            ["frame_owner"] == "peft");
}

TEST_CASE("what stands far away, or was of another exception, is none of it") {
  CHECK(facts("")["frame"] == "none");
  CHECK(facts(k_begin + frame("/home/u/run.py") + "ValueError: x\na\nb\nc\nd\ne\n")["frame"] == "none");
  const auto other = k_begin + frame("/ComfyUI/custom_nodes/n/a.py") + "KeyError: 1\n";
  CHECK(facts(other + k_begin + frame("/home/u/run.py"))["frame_node"] == "none");
}
