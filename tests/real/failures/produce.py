#!/usr/bin/env python3
"""Makes failures happen on this machine and asks explain for their cause: compilers, linkers, loaders and pip say what they
say, nothing is imitated. Needs nvcc 13, g++, Python with headers and venv; no GPU, no torch, no network.

    tests/real/failures/produce.py SAGEKIT [compilers] [limits] [loaders] [packages] [refusals] [upstream SOURCE] [--keep]

limits needs root (a small tmpfs) and upstream a checkout of SageAttention, whose setup.py runs with a stand-in for torch:
what it says is its own. --keep writes the logs into tests/causes/logs.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import time

LOGS = pathlib.Path(os.environ.get("SAGEKIT_CAUSE_LOGS", pathlib.Path(__file__).resolve().parents[2] / "causes" / "logs"))
NVCC = next((p for p in ("/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc") if pathlib.Path(p).exists()), "nvcc")
SYMBOLS = {"M01": "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
           "M02": "_ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
           "M03": "_ZN3c105ErrorC2ENS_14SourceLocationESs", "M04": "_ZN3c104cuda9SetDeviceEa",
           "M05": "_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEE",
           "M06": "_ZN3c104impl3cow23materialize_cow_storageERNS_11StorageImplE",
           "M07": "_ZN4c10d8TCPStoreC1ESsRKNS_15TCPStoreOptionsE"}
MMA = (".reg .b32 a<4>, b<2>, s, t; .reg .f32 c<4>, d<4>; mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
       "{{d0, d1, d2, d3}}, {{a0, a1, a2, a3}}, {{b0, b1}}, {{c0, c1, c2, c3}}, s, {{0, 0}}, t, {{0, 0}};").replace("{{", "{").replace("}}", "}")
ASM = {"K05": ("wgmma.fence.sync.aligned;", "sm_120a"), "K08": ('.reg .b8 r; .reg .f32 a; mov.f32 a, 0f00000000; cvt.rn.satfinite.e2m1x2.f32 r, a, a;', "sm_120"),
       "K09": ("tcgen05.wait::st.sync.aligned;", "sm_120a"), "K06": (MMA, "sm_120"), "K07": (MMA.replace("kind::mxf4nvf4", "kind::mxf4").replace("4X", "2X").replace("ue4m3", "ue8m0"), "sm_120")}


class Workshop:
    def __init__(self, folder):
        self.folder = folder
        self.made = {}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, name, signatures, *words, env=None, cwd=None, head="", stage=""):
        done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd or self.folder,
                              env=os.environ | (env or {}), timeout=300)
        text = head + done.stdout.decode("utf-8", "replace")
        self.made[name] = (signatures, stage, text)
        return done.returncode

    def module(self, name, symbol=None, links=(), body=""):
        """An extension module that wants a symbol, or a library that will be gone."""
        call = f'extern "C" void wanted() __asm__("{symbol}");' if symbol else ""
        source = self.write(f"{name}.cpp", f"#include <Python.h>\n{call}\n{body}\nstatic PyModuleDef d = {{PyModuleDef_HEAD_INIT, \"{name}\"}};\n"
                            f"PyMODINIT_FUNC PyInit_{name}() {{ {'wanted();' if symbol else ''} return PyModule_Create(&d); }}\n")
        subprocess.run(["g++", "-shared", "-fPIC", "-z", "now", f"-I{sysconfig.get_paths()['include']}", str(source), "-o", str(self.folder / f"{name}.so"), *links],
                       check=True, cwd=self.folder, capture_output=True)


def compilers(shop):
    for arch in ("compute_52", "compute_101", "compute_125"):
        code = arch.replace("compute", "sm")
        shop.write("k.cu", "__global__ void k() {}\n")
        shop.run(f"real_nvcc_{arch}", ["K04"], NVCC, "-c", "k.cu", "-o", "k.o", "-gencode", f"arch={arch},code={code}", stage="compile")
    shop.run("real_nvcc_two_inputs", ["K03"], NVCC, "-c", "k.cu", "Program", "Files/k.cu", "-o", "k.o", stage="compile")
    shop.run("real_nvcc_host_too_new", ["K12"], NVCC, "-c", "k.cu", "-o", "k.o", "-Xcompiler", "-U__GNUC__,-D__GNUC__=99", stage="compile")
    for signature, (code, target) in ASM.items():  # ptxas says K06 and K07 of one instruction
        shop.write("asm.cu", f'__global__ void k() {{ asm volatile("{{ {code} }}"); }}\n')
        shop.run(f"real_ptxas_{signature.lower()}", ["K06", "K07"] if signature in ("K06", "K07") else [signature], NVCC, "-c", "asm.cu", "-o", "a.o", f"-arch={target}", stage="compile")
    includes = {"real_no_python_h": ("K18", "Python.h"), "real_no_cutlass": ("K19", "cute/tensor.hpp"), "real_no_cusparse": ("C23", "cusparse.h")}
    for name, (signature, header) in includes.items():
        shop.write("site-packages/torch/include/ATen/cuda/CUDAContext.h", f"#include <{header}>\n")
        shop.write("i.cpp", "#include <ATen/cuda/CUDAContext.h>\n")
        if shop.run(name, [signature], "g++", "-c", "i.cpp", "-Isite-packages/torch/include", "-o", "i.o", stage="compile") == 0:
            del shop.made[name]  # this machine has the header
    shop.write("l.cpp", "int main() {}\n")
    shop.run("real_no_lcuda", ["L02"], "g++", "l.cpp", "-lcuda", "-o", "l", stage="link")
    if "cannot find -lcuda" not in shop.made["real_no_lcuda"][2]:
        del shop.made["real_no_lcuda"]  # this machine has a driver, or its stub
    shop.write("big.cu", "template<int N> struct S { static __device__ float f(float x) { return S<N-1>::f(x) * S<N-2>::f(x + N); } };\n"
               "template<> struct S<0> { static __device__ float f(float x) { return x; } };\ntemplate<> struct S<1> { static __device__ float f(float x) { return x; } };\n"
               "__global__ void k(float* p) { p[0] = S<20>::f(p[1]); }\n")
    torch = next((pathlib.Path(p) for p in os.environ.get("TORCH_INCLUDE", "").split(":") if p), None)
    if torch:
        shop.write("old.cpp", "#include <c10/util/Exception.h>\n#include <torch/all.h>\nint main() {}\n")
        shop.run("real_torch_cxx14", ["K16"], "g++", "-std=c++14", "-fsyntax-only", f"-I{torch}", f"-I{torch}/torch/csrc/api/include", "old.cpp", stage="compile")
        shop.made["real_torch_cxx14"] = (*shop.made["real_torch_cxx14"][:2], shop.made["real_torch_cxx14"][2].replace(str(torch), "/venv/lib/python3.12/site-packages/torch/include"))
        shop.write("stable.cpp", "#define TORCH_STABLE_ONLY\n#include <torch/extension.h>\n")
        shop.run("real_torch_stable_with_pybind11", ["K17"], "g++", "-std=c++17", "-fsyntax-only", f"-I{torch}", f"-I{torch}/torch/csrc/api/include",
                 f"-I{sysconfig.get_paths()['include']}", "stable.cpp", stage="compile")
        made = shop.made["real_torch_stable_with_pybind11"]
        shop.made["real_torch_stable_with_pybind11"] = (*made[:2], made[2].replace(str(torch), "/venv/lib/python3.12/site-packages/torch/include"))
    killed(shop, "real_cicc_killed", "K10", 9)
    killed(shop, "real_cicc_crashed", "N33", 11)


def killed(shop, name, signature, signal):
    """cicc, killed while it works, as the kernel does it. nvcc 13 says nothing of its own: its shell does, and ninja shows both."""
    shop.write("build.ninja", f"rule cuda\n  command = {NVCC} -c $in -o $out -arch=sm_90\nbuild big.o: cuda big.cu\n")
    process = subprocess.Popen(["ninja", "big.o"], cwd=shop.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    was_killed = False
    while process.poll() is None:
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().decode("utf-8", "replace").split("\0")
                if words[0].endswith("cicc") and str(shop.folder / "big.cu") in words:
                    os.kill(int(entry.parent.name), signal)
                    was_killed = True
            except OSError:
                continue
        time.sleep(0.02)
    text = process.communicate()[0].decode()
    if was_killed:
        shop.made[name] = ([signature], "compile", text)


def loaders(shop):
    for signature, symbol in SYMBOLS.items():
        shop.module(f"_q{signature.lower()}", symbol)
        shop.run(f"real_symbol_{signature.lower()}", [signature], sys.executable, "-c", f"import _q{signature.lower()}")
    for signature, library in {"M08": "libc10.so", "M09": "libcudart.so.12", "M10": "libtorch_cuda_cu.so"}.items():
        shop.write("stub.c", "void stub_function(void) {}\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "stub.c", f"-Wl,-soname,{library}", "-o", library], cwd=shop.folder, check=True)
        shop.module(f"_l{signature.lower()}", "stub_function", links=[f"./{library}"])
        (shop.folder / library).unlink()
        shop.run(f"real_library_{signature.lower()}", [signature], sys.executable, "-c", f"import _l{signature.lower()}")
    for signature, library, node in (("M14", "libc.so.6", "GLIBC_2.99"), ("M15", "libstdc++.so.6", "GLIBCXX_3.4.99")):
        shop.write("v.map", f"{node} {{ global: stub_function; }};\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "stub.c", f"-Wl,-soname,{library}", "-Wl,--version-script=v.map", "-o", "stubbed.so"], cwd=shop.folder, check=True)
        shop.module(f"_v{signature.lower()}", "stub_function", links=["./stubbed.so"])
        shop.run(f"real_version_{signature.lower()}", [signature], sys.executable, "-c", f"import _v{signature.lower()}")


def packages(shop):
    subprocess.run([sys.executable, "-m", "venv", str(shop.folder / "venv")], check=True)
    python = shop.folder / "venv/bin/python"
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1", "PIP_NO_COLOR": "1", "PIP_CONFIG_FILE": os.devnull}

    def project(name, setup):
        shop.write(f"{name}/setup.py", setup)
        return shop.folder / name

    sage = project("SageAttention", "import torch\nfrom setuptools import setup\nsetup(name='sageattention', version='2.2.0')\n")
    for name, words in {"real_pip_no_torch": ["-m", "pip", "install", "--no-build-isolation", "."], "real_setup_py_no_torch": ["setup.py", "install"],
                        "real_pip_editable_no_torch": ["-m", "pip", "install", "-e", ".", "--no-build-isolation"]}.items():
        shop.run(name, ["C01"], python, *words, env=quiet, cwd=sage)
    flash = project("flash-attn", "from packaging.version import parse\nfrom setuptools import setup\nsetup(name='flash_attn', version='2.8.3')\n")
    shop.run("real_pip_no_packaging", ["C22"], python, "-m", "pip", "install", "--no-build-isolation", ".", env=quiet, cwd=flash)
    nvcc = project("cuda_home", "import subprocess\nCUDA_HOME = None\nsubprocess.check_output([CUDA_HOME + '/bin/nvcc', '-V'])\n")
    shop.run("real_setup_py_no_cuda_home", ["C18"], python, "setup.py", "install", cwd=nvcc)
    gone = project("cuda_gone", "import subprocess\nsubprocess.check_output(['/usr/local/cuda-11.8/bin/nvcc', '-V'])\n")
    shop.run("real_setup_py_no_nvcc", ["C02"], python, "setup.py", "install", cwd=gone)
    shop.run("real_pip_wrong_tag", ["I01"], python, "-m", "pip", "install", "sageattention-2.2.0-cp27-cp27mu-linux_x86_64.whl", env=quiet)
    shop.run("real_pip_no_triton", ["I03"], python, "-m", "pip", "install", "triton", env=quiet)
    wheel(shop, "sageattention", "1.0.6", "1.0.6")
    shop.run("real_pip_no_sage2", ["I07"], python, "-m", "pip", "install", "--find-links", "wheels", "sageattention==2.2.0", env=quiet)
    wheel(shop, "flash_attn", "2.0.9+cu121", "2.0.9")
    shop.run("real_pip_inconsistent", ["I06"], python, "-m", "pip", "install", "--no-cache-dir", "--find-links", "wheels", "flash_attn==2.0.9+cu121", env=quiet)
    shop.run("real_no_sageattention", ["M18"], python, "-c", "import sageattention")
    shop.run("real_clean_pip", [], python, "-m", "pip", "install", "-v", "--find-links", "wheels", "sageattention", env=quiet)
    shop.run("real_old_sage", ["M17"], python, "-c", "from sageattention import sageattn_qk_int8_pv_fp16_triton")
    shop.write("uses_triton.py", "import triton\n")
    shop.run("real_no_triton", ["M16"], python, "uses_triton.py", head="Can't import SageAttention: it needs more\n")
    fine = project("fine", "from setuptools import setup\nsetup(name='fine', version='1')\n")
    shop.run("real_clean_setup_py", [], python, "setup.py", "install", cwd=fine)
    # A venv of today has no `wheel`, which an older setuptools cannot build one without.
    if shop.run("real_clean_pip_build", [], python, "-m", "pip", "install", "--no-build-isolation", "-v", ".", env=quiet, cwd=fine) != 0:
        shop.made["real_pip_no_wheel_package"] = (["C22"], *shop.made.pop("real_clean_pip_build")[1:])


def limits(shop):
    """A full disk, and too little memory."""
    shop.write("k.cu", "__global__ void k() {}\n")
    shop.write("big.cpp", "#include <algorithm>\n#include <functional>\n#include <map>\n#include <regex>\n#include <string>\nint main() { std::map<std::string, std::regex> m; return m.size(); }\n")
    small = shop.folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True).returncode == 0:
        try:
            (small / "fill").write_bytes(bytes(240 << 10))
            shop.run("real_disk_full_nvcc", ["N06"], NVCC, "-c", "k.cu", "-o", "k.o", env={"TMPDIR": str(small)}, stage="compile")
            shop.run("real_disk_full_python", ["N06"], sys.executable, "-c", "open('small/torch.whl', 'wb').write(bytes(1 << 20))")
            shop.run("real_disk_full_zip", ["N06"], sys.executable, "-m", "zipfile", "-e", big_wheel(shop), "small")
        finally:
            subprocess.run(["umount", str(small)], check=True)
    shop.run("real_memory_limit_gxx", ["K10"], "prlimit", "--as=90000000", "g++", "-O2", "-c", "big.cpp", "-o", "big.o", stage="compile")
    if not any(word in shop.made["real_memory_limit_gxx"][2] for word in ("out of memory", "virtual memory exhausted")):
        del shop.made["real_memory_limit_gxx"]
    cgroup(shop)


def cgroup(shop):
    """cc1plus in a control group with 60 MB, as a container has it; the kernel kills it."""
    root = pathlib.Path("/sys/fs/cgroup")
    # Version 2 has one tree; where version 1 owns the memory controller, its tree is beside the others'.
    limits = {"memory.max": "60M\n", "memory.swap.max": "0\n"}
    if (root / "memory/memory.limit_in_bytes").exists():
        root /= "memory"
        limits = {"memory.limit_in_bytes": "60M\n"}
    group = root / f"sagekit-failures-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return
    try:
        for name, value in limits.items():
            if (group / name).exists() or name != "memory.swap.max":
                (group / name).write_text(value)
        shop.run("real_memory_cgroup", ["K10"], "sh", "-c", f"echo $$ > {group}/cgroup.procs && exec g++ -O2 -c big.cpp -o big.o", stage="compile")
        if "Killed" not in shop.made["real_memory_cgroup"][2]:
            print(f"no log of a control group: {shop.made.pop('real_memory_cgroup')[2][-300:]}")
    except OSError as error:
        print(f"no control group: {error}")
    finally:
        time.sleep(0.5)
        group.rmdir()


def refusals(shop):
    """What pip and the loader refuse."""
    subprocess.run([sys.executable, "-m", "venv", str(shop.folder / "venv")], check=True)
    python = shop.folder / "venv/bin/python"
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COLOR": "1", "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    pip = [python, "-m", "pip", "install"]
    wheel(shop, "sageattention", "2.2.0", "2.2.0")
    good = (shop.folder / "wheels/sageattention-2.2.0-py3-none-any.whl").read_bytes()

    def bad(folder, content, name="sageattention-2.2.0-py3-none-any.whl"):
        path = shop.folder / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    for name, content in {"cut": good[:len(good) // 2], "page": b"<!DOCTYPE html><html>Sign in</html>", "empty": b"",
                          "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9300000\n"}.items():
        shop.run(f"real_pip_wheel_{name}", ["N07"], *pip, bad(name, content), env=quiet)
    shop.run("real_zipfile_cut", ["N07"], sys.executable, "-m", "zipfile", "-e", bad("cut", good[:100]), "out")
    for name in ("sageattention-2.2.0.whl", "sageattention-2.2.0-py3-none-any (1).whl", "sageattention.whl"):
        shop.run(f"real_pip_name_{len(name)}", ["N13"], *pip, bad("names", good, name), env=quiet)
    shop.write("hashed.txt", "sageattention==2.2.0 --hash=sha256:" + "0" * 64 + "\n")
    shop.run("real_pip_hash", ["N09"], *pip, "--find-links", "wheels", "--require-hashes", "-r", "hashed.txt", env=quiet)
    wheel(shop, "sageattn3", "1.0", "1.0", "Requires-Python: >=3.99\n")
    shop.run("real_pip_python", ["N10"], *pip, "wheels/sageattn3-1.0-py3-none-any.whl", env=quiet)
    wheel(shop, "sageattention", "1.0.6", "1.0.6")
    for name, needs in (("needs_two", "sageattention==2.2.0"), ("needs_one", "sageattention==1.0.6")):
        wheel(shop, name, "1.0", "1.0", f"Requires-Dist: {needs}\n")
    shop.run("real_pip_conflict", ["N11"], *pip, "--find-links", "wheels", "needs_one", "needs_two", env=quiet)
    shop.run("real_pip_no_network", ["N14", "N39"], *pip, "einops", env=quiet | {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "2",
                                                                          "http_proxy": "", "https_proxy": ""})
    if pathlib.Path("/usr/bin/python3").exists():
        shop.run("real_pip_pep668", ["N08"], "/usr/bin/python3", "-m", "pip", "install", "--find-links", "wheels", "sageattention", env=quiet)
        if "externally-managed" not in shop.made["real_pip_pep668"][2]:
            del shop.made["real_pip_pep668"]
    readonly(shop, pip, quiet)
    modules(shop)
    uv(shop, bad, good)


def readonly(shop, pip, quiet):
    """A read-only file system; needs root."""
    site = next((shop.folder / "venv/lib").glob("python*/site-packages"))
    if subprocess.run(["mount", "--bind", str(site), str(site)], capture_output=True).returncode != 0:
        return
    try:
        if subprocess.run(["mount", "-o", "remount,bind,ro", str(site)], capture_output=True).returncode == 0:
            shop.run("real_pip_read_only", ["N12"], *pip, "--find-links", "wheels", "sageattention==2.2.0", env=quiet)
    finally:
        subprocess.run(["umount", str(site)], check=True)


def modules(shop):
    """Files that are no modules, or not those that were asked for."""
    shop.write("stub.c", "void stub_function(void) {}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "stub.c", "-o", "_noinit.so"], cwd=shop.folder, check=True)
    shop.run("real_module_no_init", ["N16"], sys.executable, "-c", "import _noinit")
    whole = (shop.folder / "_noinit.so").read_bytes()
    thirty_two = bytearray(whole)
    thirty_two[4] = 1  # ELFCLASS32
    for name, content in {"_empty": b"", "_short": whole[:40], "_text": b"version https://git-lfs.github.com/spec/v1\n" * 4, "_bits": bytes(thirty_two)}.items():
        (shop.folder / f"{name}.so").write_bytes(content)
        shop.run(f"real_module{name}", ["N15"], sys.executable, "-c", f"import {name}")
    # Two versions on the path: the tree that lies here comes before what is installed.
    shop.write("tree/sageattention/__init__.py", "from . import _fused\n")
    shop.run("real_tree_hides_install", ["N18"], sys.executable, "-c", "import sageattention", cwd=shop.folder / "tree")
    shop.write("absolute/sageattention/__init__.py", "import sageattention._fused\n")
    shop.run("real_tree_hides_install_absolute", ["N18"], sys.executable, "-c", "import sageattention", cwd=shop.folder / "absolute")
    shop.write("t.cpp", "int main() {}\n")
    for library in ("c10", "torch_cuda", "c10_cuda"):
        shop.run(f"real_no_l{library}", ["N17"], "g++", "t.cpp", f"-l{library}", "-o", "t", stage="link")


def uv(shop, bad, good):
    import shutil
    if not shutil.which("uv"):
        return
    words = ["uv", "pip", "install", "--offline", "--no-index", "--python", shop.folder / "venv/bin/python"]
    shop.run("real_uv_cut", ["N07"], *words, bad("cut", good[:len(good) // 2]))
    shop.run("real_uv_name", ["N13"], *words, bad("names", good, "sageattention-2.2.0.whl"))
    shop.run("real_uv_no_sage2", ["I07"], *words, "sageattention==2.2.0")


TORCH = """
import types, sys
__version__ = '2.11.0+cu130'
class version: cuda = '13.0'
class cuda:
    is_available = staticmethod(lambda: {gpus} > 0)
    device_count = staticmethod(lambda: {gpus})
    get_device_capability = staticmethod(lambda *a: {capability})
    get_device_properties = staticmethod(lambda *a: types.SimpleNamespace(major={capability}[0], minor={capability}[1]))
class _C: _GLIBCXX_USE_CXX11_ABI = True
"""
EXTENSION = """
CUDA_HOME = {home!r}
class BuildExtension:
    @classmethod
    def with_options(cls, **words): return cls
def CUDAExtension(*a, **k): raise SystemExit('reached the compiler')
CppExtension = CUDAExtension
"""


def upstream(shop, source):
    """Upstream's own setup.py, with a stand-in for torch that says which GPU and toolkit are there."""

    def case(name, signatures, folder, gpus=0, capability=(9, 0), home="/usr/local/cuda", nvcc="13.0", arches=None):
        place = shop.folder / name
        shop.write(f"{name}/torch/__init__.py", TORCH.format(gpus=gpus, capability=capability))
        shop.write(f"{name}/torch/utils/__init__.py", "")
        # What setup.py imports, too, as pip brings it along.
        shop.write(f"{name}/packaging/__init__.py", "")
        shop.write(f"{name}/wheel/__init__.py", "")
        shop.write(f"{name}/wheel/bdist_wheel.py", "from setuptools import Command as bdist_wheel\n")
        shop.write(f"{name}/packaging/version.py", "from pip._vendor.packaging.version import *\n")
        if home:
            home = str(place / "cuda")
            program = shop.write(f"{name}/cuda/bin/nvcc", f"#!/bin/sh\necho 'Cuda compilation tools, release {nvcc}, V{nvcc}.1'\n")
            program.chmod(0o755)
        shop.write(f"{name}/torch/utils/cpp_extension.py", EXTENSION.format(home=home))
        env = {"PYTHONPATH": str(place)} | ({"TORCH_CUDA_ARCH_LIST": arches} if arches is not None else {})
        shop.run(name, signatures, sys.executable, "setup.py", "bdist_wheel", "-d", place, env=env, cwd=pathlib.Path(source).resolve() / folder, stage="configure")

    sage3 = "sageattention3_blackwell"
    case("real_sage2_no_cuda_home", ["C02"], ".", home=None, arches="9.0")
    case("real_sage2_no_arch", ["C07", "C06"], ".")
    case("real_sage2_spaces", ["C05"], ".", arches="8.0 8.6 8.9 9.0+PTX")
    case("real_sage2_old_nvcc", ["C04"], ".", nvcc="11.8", arches="8.0")
    for capability, nvcc in (("8.9", "12.0"), ("9.0", "12.0"), ("12.0", "12.4")):
        case(f"real_sage2_nvcc_for_{capability.replace('.', '')}", ["C03"], ".", nvcc=nvcc, arches=capability)
    case("real_sage2_old_gpu", ["C08", "C24", "C07"], ".", gpus=1, capability=(7, 5))
    case("real_sage2_unknown_arches", ["C24", "C07"], ".", arches="7.5;10.3")
    case("real_sage3_unsupported_gpu", ["C09"], sage3, gpus=1, capability=(8, 9))
    case("real_sage3_hopper", ["C09"], sage3, gpus=1, capability=(9, 0))
    case("real_sage3_old_nvcc", ["C10"], sage3, gpus=1, capability=(12, 0), nvcc="12.4")


def big_wheel(shop):
    import zipfile
    path = shop.folder / "big.whl"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("torch/lib/libtorch_cuda.so", bytes(1 << 20))
    return path


def wheel(shop, name, file_version, version, more=""):
    import zipfile
    path = shop.folder / "wheels" / f"{name}-{file_version}-py3-none-any.whl"
    path.parent.mkdir(exist_ok=True)
    info = f"{name}-{version if '+' not in file_version else file_version}.dist-info"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(f"{name}/__init__.py", "def sageattn(): pass\n")
        out.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}")
        out.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        out.writestr(f"{info}/RECORD", "")


def judged(shop, sagekit, keep, source=None, made="tests/real/failures/produce.py"):
    """Asks explain about each log; keeps them. 1 when one is not told."""
    wrong = 0
    index = json.loads((LOGS / "index.json").read_text())
    for log, (signatures, stage, text) in sorted(shop.made.items()):
        if source:
            text = text.replace(source, "/src/SageAttention")
        text = re.sub(re.escape(str(shop.folder)), "/src", text)
        text = text.replace(str(pathlib.Path.home()) + "/", "/home/user/")
        done = subprocess.run([sagekit, "explain", "-", "--json"], input=text.encode(), capture_output=True)
        causes = json.loads(done.stdout)["causes"]
        right = not causes if not signatures else bool(causes) and any(one in causes[0]["signatures"] for one in signatures)
        wrong += not right
        print(f"{'ok   ' if right else 'WRONG'} {log}: {signatures} -> {[c['code'] for c in causes]}")
        if not right:
            print(text[-1500:])
        if keep:
            (LOGS / f"{log}.log").write_text(text)
            index[f"{log}.log"] = {"signatures": signatures, "made": made} | ({"stage": stage} if stage else {})
    if keep:
        (LOGS / "index.json").write_text(json.dumps(dict(sorted(index.items())), indent=1, ensure_ascii=False) + "\n")
    print(f"{len(shop.made)} failures, {wrong} wrong")
    return 1 if wrong else 0


def main(words):
    with tempfile.TemporaryDirectory(prefix="sagekit-failures-") as name:
        shop = Workshop(pathlib.Path(name))
        every = (compilers, limits, loaders, packages, refusals)
        chosen = [make for make in every if make.__name__ in words]
        for make in chosen or (() if "upstream" in words else every):
            make(shop)
        source = None
        if "upstream" in words:
            upstream(shop, words[words.index("upstream") + 1])
            source = str(pathlib.Path(words[words.index("upstream") + 1]).resolve())
        return judged(shop, pathlib.Path(words[0]).resolve(), "--keep" in words, source)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
