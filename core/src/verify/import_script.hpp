#pragma once
// The program that the import check runs in a child interpreter.

#include <string_view>

namespace sagekit {

/// python -I -c SCRIPT TREE TORCH MODULE...: TREE goes first on sys.path; TORCH is "1" when torch must be imported
/// before the modules. Writes one line a step, tab-separated, never more than one per step:
///   python MINOR            torch VERSION CUDA       (or "no-torch TYPE MESSAGE")
///   begin MODULE            ok MODULE                (or "error MODULE TYPE MISSING MESSAGE")
/// A module that crashes the interpreter leaves a "begin" without an end. `MISSING` is the module that was not found.
/// Modules must come from TREE: one that some installation shadows is an error. Works from Python 3.7 on.
inline constexpr std::string_view k_import_script = R"py(import sys
out = sys.stdout
sys.stdout = sys.stderr
def say(*words):
    out.write("\t".join(" ".join(str(w).split()) for w in words) + "\n")
    out.flush()
tree, with_torch, names = sys.argv[1], sys.argv[2] == "1", sys.argv[3:]
sys.dont_write_bytecode = True
sys.path.insert(0, tree)
say("python", "%d.%d" % sys.version_info[:2])
ready = True
if with_torch:
    try:
        import torch
        say("torch", torch.__version__, torch.version.cuda or "none")
    except BaseException as e:
        ready = False
        say("no-torch", type(e).__name__, e)
import importlib, os
for name in names if ready else []:
    say("begin", name)
    try:
        if name.endswith(".so"):
            import ctypes
            ctypes.CDLL(os.path.join(tree, name))
        else:
            module = importlib.import_module(name)
            place = os.path.realpath(getattr(module, "__file__", None) or "")
            if not place.startswith(os.path.realpath(tree) + os.sep):
                raise ImportError("it came from %s, not from the wheel" % place)
        say("ok", name)
    except BaseException as e:
        say("error", name, type(e).__name__, getattr(e, "name", None) or "", e)
)py";

}  // namespace sagekit
