#!/usr/bin/env python3
"""What the spec's lean headers save: one planned step with its shim and with torch's own header, in one run.

Usage: shim_bench.py SAGEKIT SOURCE_DIR TORCH_FOLDER [STEP_GLOB]     (default: compile-_fused-*; SOURCE_DIR holds csrc/)
TORCH_FOLDER holds torch/ (an unpacked wheel). Prints CPU seconds, peak memory and whether the GPU code is bit-identical.
"""
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib

sagekit, source, torch = sys.argv[1:4]
wanted = sys.argv[4] if len(sys.argv) > 4 else "compile-_fused-*"


def ask(*words):
    return json.loads(subprocess.run([sagekit, "--plugin", "sage2", *words, "--json", "--toolchain", f"folder:{torch}"], check=True, capture_output=True).stdout)


plan = ask("plan", "--arch", "9.0", "--steps")
env = ask("env")
step = next(s for s in plan["steps"] if fnmatch.fnmatch(s["id"], wanted))
nvcc = next(n for n in env["nvcc"] if n["ready"])
python = next(p for p in env["pythons"] if p["ready"] and p["version"].rsplit(".", 1)[0] == plan["cells"][0]["python"])
shims = tomllib.load(open(os.path.join(os.path.dirname(__file__), "../plugins/sage2/plugin.toml"), "rb"))["build"]["shim"]

with tempfile.TemporaryDirectory() as work:
    for shim in shims:
        path = os.path.join(work, "shim-" + shim["name"], shim["file"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(shim["text"])
    os.makedirs(work + "/obj")
    roots = [(r"\{nvcc-exe-.*?\}", nvcc["path"]), (r"\{cuda-include-.*?\}", nvcc["include"]), (r"\{torch-.*?\}", os.path.join(torch, "torch")),
             (r"\{cxx-.*?\}", "g++"), (r"\{shim-(.*?)\}", work + r"/shim-\1"), (r"\{source\}", "."), (r"\{work\}", work)]

    def resolve(argv):
        for word in argv:
            if word.startswith("{python-includes-"):
                for folder in python["include"]:
                    yield from ("-isystem", folder)
                continue
            for pattern, value in roots:
                word = re.sub(pattern, value, word)
            yield word

    rows = {}
    for name, argv in (("shim", step["argv"]), ("torch's own header", step["fallback_argv"])):
        argv = list(resolve(argv))
        child = subprocess.Popen(argv, cwd=source)
        _, status, use = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"{name}: exit {status}")
        output = argv[argv.index("-o") + 1]
        fatbin = work + "/fatbin"
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", "--set-section-flags", ".nv_fatbin=alloc", output, fatbin], check=True)
        rows[name] = (use.ru_utime + use.ru_stime, use.ru_maxrss / 1e6, hashlib.sha256(open(fatbin, "rb").read()).hexdigest())
    for name, (cpu, memory, _) in rows.items():
        print(f"{step['id']}: {name:20} {cpu:6.1f} CPU-s  {memory:5.2f} GB")
    (a, b) = rows.values()
    print(f"ratio CPU {a[0] / b[0]:.2f}, memory {a[1] / b[1]:.2f}; GPU code {'bit-identical' if a[2] == b[2] else 'DIFFERS'}")
