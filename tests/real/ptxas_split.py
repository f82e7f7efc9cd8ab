#!/usr/bin/env python3
"""Of which architectures a row of plugins/sage2 may say split_compile: each kernel assembled by ptxas alone and with its threads.

ptxas_split.py SAGEKIT STORE SOURCE MODULE ARCHES [PYTHON]      e.g. ... sageattention._qattn_sm80 "8.0 8.9"

Builds that module's GPU code and no more; beside each ptxas that the build starts the other way is run, twice with threads, and the
machine code of all kernels compared. Says also whether the threads give the same file twice. Exit 1 when anything differs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from cubins import kernels  # noqa: E402
from make_plugin import make_plugin, one_kernel  # noqa: E402

THREADS = "--split-compile=8"


def seconds():
    used = os.times()
    return used.children_user + used.children_system


def assemble_both_ways(log, argv):
    output = pathlib.Path(argv[argv.index("-o") + 1])
    words = [word for word in argv if not word.startswith("--split-compile")]
    made, took = {}, {}
    for name, more in (("threads", [THREADS]), ("again", [THREADS]), ("alone", [])):
        began = seconds()
        subprocess.run([*words, *more], check=True)
        made[name], took[name] = output.read_bytes(), round(seconds() - began, 1)
    ours, plain = kernels(made["threads"]), kernels(made["alone"])
    differ = sorted(name for name in ours.keys() | plain.keys() if ours.get(name) != plain.get(name))
    with open(log, "a") as to:
        to.write(json.dumps({"arch": next((w for w in words if "arch" in w and "sm_" in w), words), "kernels": sum(n.startswith(".text.") for n in plain),
                             "differ": differ, "the same file twice": made["threads"] == made["again"], "cpu_seconds": took}) + "\n")


def launched(log, *argv):
    """The host's half is left out: it fails at once, and the build with it."""
    program = os.path.basename(argv[0])
    if program == "ptxas":
        return assemble_both_ways(log, list(argv))
    if program != "cicc" and "-E" not in argv:
        sys.exit(1)
    os.execv(argv[0], argv)


def main():
    sagekit, store, source, module, arches, *python = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="ptxas-split-") as name:
        folder = pathlib.Path(name)
        plugin = make_plugin(one_kernel("sage2", module), folder / "sagekit-sage2.so")
        log, launcher = folder / "log", folder / "launcher"
        log.touch()
        launcher.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{pathlib.Path(__file__).resolve()}' --launched '{log}' \"$@\"\n")
        launcher.chmod(0o755)
        done = subprocess.run([sagekit, "--plugin", plugin, "build", "--source", source, "--offline", "--arch", arches, "--profile", "current", "--cuda", "13.0",
                               "--torch", "2.11.0", "--python", (python or ["3.11"])[0], "--platform", "linux_x86_64", "--launcher", launcher, "--keep-going",
                               "--store", store, "-o", folder / "dist"], cwd=folder, capture_output=True, text=True)
        verdicts = [json.loads(line) for line in log.read_text().splitlines()]
    if not verdicts:
        sys.exit(done.stderr)
    for one in verdicts:
        print(json.dumps(one), flush=True)
    sys.exit(1 if any(one["differ"] or not one["the same file twice"] for one in verdicts) else 0)


if __name__ == "__main__":
    sys.exit(launched(*sys.argv[2:]) if sys.argv[1:2] == ["--launched"] else main())
