#!/usr/bin/env python3
"""Builds a small module for Windows with `--toolchain folder:DIR`, where DIR has headers and libraries of this script's own in the layout
that Microsoft's have: the target, the registration of a kernel, sagekit's import libraries and the link by lld are real, Microsoft's text is not.

Usage: winsysroot.py SAGEKIT STORE   (STORE: one with torch 2.11.0 for win_amd64 and CUDA 13.0)

Needs clang-19, lld-19, nvcc 13.0, git. Exit 0 when the module imports cudaLaunchKernel from cudart64_13.dll and sagekit finds its kernel.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HEADERS = {
    "vc/vcruntime.h": "",
    "vc/cmath": "#include <math.h>\nnamespace std { using ::fabs; using ::sqrt; }",
    "vc/cstdlib": "#include <stdlib.h>\nnamespace std { using ::size_t; using ::abs; }",
    "vc/cstring": "#include <string.h>\nnamespace std { using ::memcpy; }",
    "vc/ctime": "#include <time.h>",
    "vc/limits": "namespace std { template <class T> struct numeric_limits {}; }",
    "vc/new": "#include <stddef.h>\ninline void* operator new(size_t, void* p) noexcept { return p; }",
    "vc/utility": "namespace std {\ntemplate <class T> struct remove_reference { using type = T; };\ntemplate <class T> struct remove_reference<T&> { using type = T; };\n"
                  "template <class T> constexpr T&& forward(typename remove_reference<T>::type& v) { return static_cast<T&&>(v); }\n}",
    "ucrt/stdlib.h": "#include <stddef.h>\nextern \"C\" { void* malloc(size_t); void free(void*); void abort(); int abs(int); long labs(long); long long llabs(long long);\n"
                     "unsigned short _byteswap_ushort(unsigned short); unsigned long _byteswap_ulong(unsigned long); unsigned long long _byteswap_uint64(unsigned long long); }",
    "ucrt/math.h": "extern \"C\" { double fabs(double); float fabsf(float); double sqrt(double); float sqrtf(float); double floor(double); float floorf(float);\n"
                   "double ceil(double); float ceilf(float); }",
    "ucrt/string.h": "#include <stddef.h>\nextern \"C\" { void* memcpy(void*, const void*, size_t); void* memset(void*, int, size_t); size_t strlen(const char*); }",
    "ucrt/time.h": "#include <stddef.h>\ntypedef long long time_t;\ntypedef long clock_t;\nextern \"C\" { clock_t clock(); }",
    "ucrt/ctype.h": "extern \"C\" { int isdigit(int); }",
    "shared/sdkddkver.h": "",
    "um/windows.h": "",
}
# What msvcrt.lib begins a DLL with, and what clang's registration asks of the C library.
RUNTIME = "extern \"C\" { int _fltused; int _DllMainCRTStartup(void*, unsigned long, void*) { return 1; } int atexit(void (*)()) { return 0; } }\n"
SOURCE = """#ifdef _WIN32
#define EXPORTED extern "C" __declspec(dllexport)
#else
#define EXPORTED extern "C"
#endif
__global__ void twin_add(float* x, const float* y, unsigned int n) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}
EXPORTED int twin_run(float* x, const float* y, unsigned int n) {
  twin_add<<<(n + 255) / 256, 256>>>(x, y, n);
  return static_cast<int>(cudaGetLastError());
}
"""
SPEC = """schema = 1
[plugin]
name = "twin"
version = "0.1.0"
description = "one kernel"
license = "0BSD"
[source]
url = "https://example.invalid/twin.git"
subdir = ""
default = "{commit}"
[[source.revision]]
commit = "{commit}"
tree = "{tree}"
date = "2026-01-01T00:00:00Z"
version = "1.0.0"
names = ["main"]
source = "this test"
[[arch]]
capability = "9.0"
gencode = ["9.0"]
cuda = ">=11.8"
source = "this test"
[build]
nvcc_flags = ["-O3"]
torch_libraries = ["torch_cpu", "torch_cuda"]
standards = [{{ standard = "c++17" }}]
link_cost = {{ cpu_seconds = 1, memory_mib = 60 }}
[[build.shim]]
name = "device"
file = "nothing.h"
text = "\\n"
[[kernel]]
module = "twin._add"
capabilities = ["9.0"]
sources = ["add.cu"]
python_free = true
plain_module = true
device_shim = "device"
source_cost = {{ cpu_seconds = 1, memory_mib = 200 }}
source = "this test"
[[package_files]]
from = "twin"
to = "twin"
include = ["**/*.py"]
[matrix]
stable_headers = "2.11.0"
[[matrix.include]]
torch = [">=2.9,stable"]
cuda = ["13.0"]
python = ["abi3>=3.10"]
platform = ["linux_x86_64", "win_amd64"]
source = "this test"
[[profile]]
name = "default"
description = "all"
cells = ["*"]
[naming]
default = "default"
[metadata]
name = "twin"
summary = "one kernel"
license = "0BSD"
requires_python = ">=3.10"
[verify]
size_mib = [0.001, 4]
"""

PLUGIN = """#include <sagekit/plugin/abi.h>
static const char text[] = {TEXT};
extern __attribute__((visibility("default"))) const sagekit_descriptor sagekit_plugin;
const sagekit_descriptor sagekit_plugin = {SAGEKIT_PLUGIN_ABI, sizeof(sagekit_descriptor), text, sizeof text, "plugin.toml", 0};
"""
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit("%s: %d\n%s%s" % (" ".join(map(str, command[:4])), done.returncode, done.stdout[-3000:], done.stderr[-6000:]))
    return done.stdout


def microsoft(folder):
    """The folder that --toolchain is given."""
    vc, kit = folder / "VC/Tools/MSVC/14.0.1", folder / "Windows Kits/10"
    places = {"vc": vc / "include"} | {name: kit / "Include/10.0.1.0" / name for name in ("ucrt", "shared", "um")}
    for name, text in HEADERS.items():
        place, file = name.split("/")
        places[place].mkdir(parents=True, exist_ok=True)
        (places[place] / file).write_text("#pragma once\n" + text + "\n")
    libraries = {"msvcrt": vc / "lib/x64", "vcruntime": vc / "lib/x64", "msvcprt": vc / "lib/x64", "oldnames": vc / "lib/x64",
                 "ucrt": kit / "Lib/10.0.1.0/ucrt/x64", "kernel32": kit / "Lib/10.0.1.0/um/x64"}
    (folder / "runtime.cpp").write_text(RUNTIME)
    (folder / "empty.cpp").write_text("")
    for name in ("runtime", "empty"):
        run("clang++-19", "--target=x86_64-pc-windows-msvc", "-c", folder / f"{name}.cpp", "-o", folder / f"{name}.obj")
    for name, place in libraries.items():
        place.mkdir(parents=True, exist_ok=True)
        run("/usr/lib/llvm-19/bin/lld-link", "/lib", f"/out:{place / name}.lib", folder / ("runtime.obj" if name == "msvcrt" else "empty.obj"))
    return folder


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    sagekit, store = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="sagekit-winsysroot-") as name:
        folder = pathlib.Path(name)
        source = folder / "source"
        (source / "twin").mkdir(parents=True)
        (source / "twin/__init__.py").write_text("")
        (source / "add.cu").write_text(SOURCE)
        git = ["git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        run(*git, "init", "-q")
        run(*git, "add", "-A")
        run(*git, "commit", "-q", "-m", "a")
        ids = {key: run(*git, "rev-parse", what).strip() for key, what in (("commit", "HEAD"), ("tree", "HEAD^{tree}"))}
        text = ",".join(str(byte) for byte in SPEC.format(**ids).encode())
        (folder / "plugin.c").write_text(PLUGIN.replace("TEXT", text))
        run("gcc", "-shared", "-fPIC", "-I", ROOT / "core/include", folder / "plugin.c", "-o", folder / "sagekit-twin.so")
        given = microsoft(folder / "splat")
        run(sagekit, "build", "--plugin", folder / "sagekit-twin.so", "--platform", "win_amd64", "--arch", "9.0", "--source", source, "--store", store, "--offline",
            "--toolchain", "auto", "--toolchain", f"folder:{given}", "-o", folder / "dist", cwd=folder, env=dict(os.environ))
        (wheel,) = (folder / "dist").glob("*.whl")
        (member,) = [one for one in json.loads(run(sagekit, "inspect", "--kernels", "--json", wheel))["files"][0]["members"] if one["path"].endswith((".pyd", ".dll"))]
        kernels = [name for code in member["gpu"] for name in code["names"]]
        imports = member["pe"]["imported"]
        print("built with headers of this script's own:", wheel.name, kernels, imports)
        return 0 if kernels == ["_Z8twin_addPfPKfj"] and "cudart64_13.dll" in imports and member["pe"]["exports"] == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
