#!/usr/bin/env python3
"""Makes torch, Triton and NumPy themselves fail, and the CUDA runtime: without a GPU, with versions that do not fit.

    tests/real/failures/produce_with_packages.py SAGEKIT [--python PYTHON3.10] [--wheels FOLDER] [--keep]

Fetches torch 1.12.1 (the last that brings its CUDA along), Triton 3.1 and 3.5, and NumPy 2 from the package index, 1.2 GB, or takes
them from FOLDER. Needs nvcc 13 and g++ for the programs of its own. --keep writes the logs into tests/causes/logs.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import produce

KERNEL = """
import triton, triton.language as tl
from triton.compiler import ASTSource
from triton.backends.compiler import GPUTarget

@triton.jit
def kernel(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    tl.store(y + at, {expression})

def source():
    types = {types!r}
    try:
        return ASTSource(fn=kernel, signature={{"x": types[0], "y": types[1], "N": "constexpr"}}, constexprs={{"N": 128}})
    except TypeError:
        return ASTSource(fn=kernel, signature={{0: types[0], 1: types[1]}}, constants={{2: 128}})

triton.compile(source(), target=GPUTarget("cuda", {capability}, 32))
"""
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name='sageattention', version='2.2.0', ext_modules=[CUDAExtension('sageattention._fused', ['fused.cu'])], cmdclass={'build_ext': BuildExtension})
"""
DEVICE = """
#include <cstdio>
#include <cuda_runtime.h>
int main() {
  void* p = nullptr;
  const cudaError_t error = cudaMalloc(&p, 256);
  if (error != cudaSuccess) std::fprintf(stderr, "RuntimeError: CUDA error: %s (%s)\\n", cudaGetErrorString(error), cudaGetErrorName(error));
  return error != cudaSuccess;
}
"""


def installed(shop, python, wheels, *packages):
    """A folder for PYTHONPATH."""
    folder = shop.folder / "-".join(packages).replace("=", "")
    where = ["--no-index", "--find-links", wheels] if wheels else []
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--disable-pip-version-check", *where, "--target", folder, *packages], check=True)
    return folder


def triton(shop, python, old, new, torch):
    def compiled(name, signatures, place, capability, expression="value", types=("*fp32", "*fp32"), env=None):
        shop.write(f"{name}.py", KERNEL.format(capability=capability, expression=expression, types=list(types)))
        shop.run(name, signatures, python, f"{name}.py", env={"PYTHONPATH": str(place), "TRITON_CACHE_DIR": str(shop.folder / "cache" / name)} | (env or {}))

    def said(name, signatures, place, code, env=None):
        shop.run(name, signatures, python, "-c", code, env={"PYTHONPATH": os.pathsep.join(map(str, place))} | (env or {}))

    compiled("real_triton_old_for_120", ["R10"], old, 120)
    compiled("real_triton_old_for_121", ["R10"], old, 121)
    compiled("real_triton_bf16_on_75", ["N23"], old, 75, "value + value", ("*bf16", "*bf16"))
    compiled("real_triton_fp8_on_80", ["R28"], old, 80, "value.to(tl.float8e4nv).to(tl.float32)")
    ptxas = old / "triton/backends/nvidia/bin/ptxas"
    ptxas.rename(ptxas.with_suffix(".away"))
    compiled("real_triton_no_ptxas", ["N24"], old, 90)
    ptxas.with_suffix(".away").rename(ptxas)
    shop.write("launcher.c", "int main(void) { return 0; }\n")
    build = "from triton.runtime.build import _build; _build('launcher', 'launcher.c', '.', [], [], [])"
    said("real_triton_no_compiler", ["R18"], [old], build, {"PATH": "/nonexistent", "CC": ""} if "CC" in os.environ else {"PATH": "/nonexistent"})
    said("real_triton_no_libcuda", ["N27"], [old], "from triton.backends.nvidia.driver import libcuda_dirs; libcuda_dirs()", {"LD_LIBRARY_PATH": ""})
    said("real_triton_no_driver", ["N25"], [old, torch], "from triton.runtime.driver import driver; driver.active.get_current_device()")
    said("real_triton_too_new_for_torch", ["R27"], [new], "from triton.compiler.compiler import AttrsDescriptor")


def torch_alone(shop, python, torch, numpy):
    env = {"PYTHONPATH": str(torch)}
    shop.run("real_torch_no_driver", ["N26"], python, "-c", "import torch; torch.zeros(1).cuda()", env=env)
    shop.run("real_torch_numpy_2", ["N20"], python, "-c", "import numpy, torch; torch.zeros(1).numpy()", env={"PYTHONPATH": f"{numpy}{os.pathsep}{torch}"})
    shop.write("project/setup.py", SETUP)
    shop.write("project/fused.cu", "int nothing;\n")
    build = [python, "setup.py", "build_ext", "--inplace"]

    def setup(name, signatures, nvcc, arches=None, gxx="8.0.0"):
        program = shop.write(f"{name}/cuda/bin/nvcc", f"#!/bin/sh\necho 'Cuda compilation tools, release {nvcc}, V{nvcc}.1'\n")
        program.chmod(0o755)
        more = {"TORCH_CUDA_ARCH_LIST": arches} if arches else {}
        if gxx:  # torch asks the compiler for its version before all else
            compiler = shop.write(f"{name}/g++", f"#!/bin/sh\necho {gxx}\n")
            compiler.chmod(0o755)
            more |= {"CXX": str(compiler)}
        shop.run(name, signatures, *build, env=env | more | {"CUDA_HOME": str(shop.folder / name / "cuda")}, cwd=shop.folder / "project", stage="configure")

    setup("real_torch_other_cuda", ["C11"], "13.0", "8.0")
    setup("real_torch_gxx_too_new", ["K12"], "10.2", "8.0", gxx=None)
    setup("real_torch_unknown_arch", ["C15"], "10.2", "12.1")
    setup("real_torch_arch_spelling", ["C15"], "10.2", "compute_80")
    setup("real_torch_no_gpu_no_list", ["C21"], "10.2")


def runtime(shop):
    """The CUDA runtime without a driver, and with the stub that is for linking only."""
    shop.write("device.cu", DEVICE)
    subprocess.run([produce.NVCC, "-cudart", "static", "device.cu", "-o", "device"], cwd=shop.folder, check=True, capture_output=True)
    if shop.run("real_cuda_no_driver", ["R29", "N26"], "./device") == 0:
        del shop.made["real_cuda_no_driver"]  # this machine has a driver
    stub = next(pathlib.Path("/usr/local/cuda").resolve().glob("**/stubs/libcuda.so"), None)
    if stub:
        (shop.folder / "stubs").mkdir()
        (shop.folder / "stubs/libcuda.so.1").write_bytes(stub.read_bytes())
        shop.run("real_cuda_stub_loaded", ["N34"], "./device", env={"LD_LIBRARY_PATH": str(shop.folder / "stubs")})


def main(words):
    value = lambda flag, other: words[words.index(flag) + 1] if flag in words else other
    python, wheels = value("--python", "python3.10"), value("--wheels", None)
    with tempfile.TemporaryDirectory(prefix="sagekit-failures-") as name:
        shop = produce.Workshop(pathlib.Path(name))
        torch = installed(shop, python, wheels, "torch==1.12.1", "typing_extensions")
        triton(shop, python, installed(shop, python, wheels, "triton==3.1.0"), installed(shop, python, wheels, "triton==3.5.0"), torch)
        torch_alone(shop, python, torch, installed(shop, python, wheels, "numpy==2.2.6"))
        runtime(shop)
        return produce.judged(shop, pathlib.Path(words[0]).resolve(), "--keep" in words, made="tests/real/failures/produce_with_packages.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
