#!/usr/bin/env python3
"""What the engine itself takes for a matrix: its compilers are stand-ins that cost next to nothing.

matrix_bench.py SAGEKIT OUT [--megabytes 1] -- BUILD FLAGS...

Run where a sagekit.toml or the flags choose a matrix (--store with provisioned torches, --offline, --source, --python-headers).
nvcc's and the host compiler's `-c` are answered with small objects for the asked architectures, made once by the real ones, and
with as much bulk a source as `--megabytes` says (of nvcc's own cicc: machine code, as GPU code compresses); links are real. Two figures:
CPU of sagekit itself for a build from nothing, and of a build that has nothing to do, the wheels in place."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from toolkit import WHOLE_NVCC, linked_toolkit  # noqa: E402

LAUNCHER = r'''#!{python}
import hashlib, os, pathlib, subprocess, sys
argv, cache, bulk = sys.argv[1:], pathlib.Path({cache!r}), {bulk!r}
after = lambda flag: argv[argv.index(flag) + 1] if flag in argv else ""
output, listed, program = after("-o"), after("-MF"), os.path.basename(argv[0])
if program == "nvcc":
    words = [w for i, w in enumerate(argv) if "-gencode" in (w, argv[i - 1])]
    stem = "".join(c if c.isalnum() else "_" for c in pathlib.Path(after("-c")).stem)
    text = 'namespace x {{ __global__ void k_' + stem + '(float* x) {{ x[threadIdx.x] *= 2; }} }}\n#ifndef __CUDA_ARCH__\nasm(".section .bulk,\\"a\\",@progbits\\n.incbin \\"%s\\"\\n.previous");\n#endif\n' % bulk
    command, name = ["{nvcc}", "-I{include}", "-ccbin", after("-ccbin"), *words, "-Xcompiler", "-fPIC"], "a.cu"
else:
    defined = [w.removeprefix("-D") for w in argv if "TORCH_EXTENSION_NAME=" in w]
    text = 'extern "C" __attribute__((visibility("default"))) void* PyInit_%s() {{ return nullptr; }}\n' % (defined or ["=x"])[0].split("=")[1]
    command, name = [argv[0], "-fPIC", "-O2"], "a.cpp"
made = cache / hashlib.sha256("\n".join([text, *command]).encode()).hexdigest()
if not made.exists():
    own = cache / ("%d" % os.getpid())
    own.mkdir()
    (own / name).write_text(text)
    subprocess.run([*command, "-c", own / name, "-o", own / "o"], check=True)
    os.rename(own / "o", made)
with open(output, "wb") as to, open(made, "rb") as source:
    while part := source.read(1 << 20):
        to.write(part)
if listed:
    source = next(w for w in reversed(argv) if w.endswith((".cu", ".cpp", ".cc")))
    headers = []
    for i, word in enumerate(argv):
        if argv[i - 1] == "-isystem" and word.endswith("/torch/include"):
            headers = sorted(map(str, pathlib.Path(word, "c10").rglob("*.h")))[:400]
    pathlib.Path(listed).write_text(output + ": " + " \\\n ".join([source, *headers]) + "\n")
'''


def timed(words, out, name):
    began, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(out / f"{name}.json", "wb") as stdout, open(out / f"{name}.err", "wb") as stderr:
        code = subprocess.run(words, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL).returncode
    wall, used = time.time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        sys.exit(f"{name}: exit {code}: see {out / name}.err")
    said = json.load(open(out / f"{name}.json"))
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return said, wall, cpu


def main():
    words = sys.argv[1:]
    flags = words[words.index("--") + 1:] if "--" in words else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sagekit")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=1)
    arguments = parser.parse_args(words[:words.index("--")] if "--" in words else words)
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "toolkit").exists():
        nvcc = linked_toolkit(out / "toolkit", WHOLE_NVCC)
        (out / "cache").mkdir()
        with open(nvcc.parent.parent / "nvvm" / "bin" / "cicc", "rb") as code:
            (out / "bulk").write_bytes(code.read(int(arguments.megabytes * 1e6)))
        launcher = out / "launcher"
        launcher.write_text(LAUNCHER.format(python=sys.executable, cache=str(out / "cache"), bulk=str(out / "bulk"), nvcc=nvcc, include=nvcc.parent.parent / "include"))
        launcher.chmod(0o755)
    build = [arguments.sagekit, "build", "--json", "--launcher", str(out / "launcher"), "--toolchain", f"folder:{out / 'toolkit'}",
             "-o", str(out / "dist"), *flags]
    said, wall, cpu = timed(build, out, "first")
    own = cpu - said["cpu_seconds"]
    wheels = len(said["wheels"])
    size = sum(wheel["size_bytes"] for wheel in said["wheels"]) / 1e6
    print(f"{wheels} wheels, {size:.0f} MB, {said['steps']['run']} steps run: wall {wall:.1f} s, sagekit's own {own:.2f} CPU-s, {own / max(wheels, 1):.3f} a wheel", flush=True)
    best = min((timed(build, out, "again") for _ in range(5)), key=lambda one: one[2])
    print(f"nothing to do, best of 5: wall {best[1]:.3f} s, {best[2]:.3f} CPU-s; {best[0]['steps']['run']} steps run; goal 0.5 s for 50 cells")


if __name__ == "__main__":
    main()
