#!/usr/bin/env python3
"""What sagekit fetches for a first build, and how long until the compiler starts, against `pip install` of torch and the
compiler's packages from the same index in the same run.

Usage: provision_bench.py SAGEKIT [--torch 2.11.0] [--cuda 13.0] [--source DIR] [--python PYTHON] [--skip-install]
SAGEKIT finds its plugins; --source is the upstream source of sage2 (without it `fetch` alone is timed, not the first
compile step). The index is the one that pip here is configured with; `pip install` goes into a new venv without a cache
(several GB). --skip-install asks pip only what it would install: it then downloads what it must read, and is not timed.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

arguments = argparse.ArgumentParser()
arguments.add_argument("sagekit")
arguments.add_argument("--torch", default="2.11.0")
arguments.add_argument("--cuda", default="13.0")
arguments.add_argument("--source")
arguments.add_argument("--python", default=sys.executable)
arguments.add_argument("--skip-install", action="store_true")
asked = arguments.parse_args()
sagekit = str(pathlib.Path(asked.sagekit).resolve())


def run(words, **more):
    return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, check=True, **more)


def with_sagekit(folder):
    """(rows of `fetch`, seconds)."""
    words = [sagekit, "toolchain", "fetch", "--torch", asked.torch, "--cuda", asked.cuda, "--toolchain", "wheels", "--json"]
    began = time.monotonic()
    done = run(words, cwd=folder, env=os.environ | {"SAGEKIT_STORE": str(folder / "store")}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["trees"], time.monotonic() - began


def second_use(folder, runs=20):
    return statistics.median(with_sagekit(folder)[1] for _ in range(runs))


def first_compile_step(folder):
    """Seconds from the start of `build` on an empty store to its first compile step; the build is then stopped."""
    words = [sagekit, "--plugin", "sage2", "build", "--arch", "9.0", "--toolchain", "wheels", "--source", str(pathlib.Path(asked.source).resolve())]
    began = time.monotonic()
    process = subprocess.Popen(words, cwd=folder, env=os.environ | {"SAGEKIT_STORE": str(folder / "store"), "CI": "1"}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    for line in process.stderr:
        said.append(line)
        if "] compile " in line:
            seconds = time.monotonic() - began
            process.send_signal(signal.SIGINT)
            process.stderr.read()
            process.wait()
            return seconds
    sys.exit("no compile step was started:\n" + "".join(said))


def with_pip(folder):
    """(bytes of the wheels that pip takes, how many, seconds or nothing)."""
    run([asked.python, "-m", "venv", folder / "venv"])
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check", "--report", folder / "report.json"]
    if asked.skip_install:
        pip += ["--dry-run", "--ignore-installed"]
    # The compiler's packages by name: up to 13.1 the metapackage's extra `nvcc` brings the driver program alone.
    release = asked.cuda + ".*"
    wanted = [f"torch=={asked.torch}", *(f"{p}=={release}" for p in ("nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-cccl"))]
    began = time.monotonic()
    run([*pip, *wanted])
    seconds = time.monotonic() - began
    sizes = []
    for item in json.loads((folder / "report.json").read_text())["install"]:
        url = item["download_info"]["url"]
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD")) as answer:
            sizes.append(int(answer.headers["Content-Length"]))
    return sum(sizes), len(sizes), None if asked.skip_install else seconds


work = pathlib.Path(tempfile.mkdtemp(prefix="provision-bench-"))
try:
    for name in ("fetch", "build", "pip"):
        (work / name).mkdir()
    rows, seconds = with_sagekit(work / "fetch")
    ours = sum(row["bytes"] for row in rows)
    for row in rows:
        print(f"{row['kind']:6} {row['version']:8} {row['bytes'] / 1e6:8.1f} MB  {row['requests']:4} requests  {row['seconds']:6.1f} s")
    print(f"{'fetch':15} {ours / 1e6:8.1f} MB  {'':13}  {seconds:6.1f} s")
    again = second_use(work / "fetch")
    step = first_compile_step(work / "build") if asked.source else None
    theirs, wheels, install = with_pip(work / "pip")
    print(f"{'pip install':15} {theirs / 1e6:8.1f} MB  {wheels:4} wheels    " + (f"  {install:6.1f} s" if install else "  not timed"))
    print(f"ratio bytes {ours / theirs:.4f} of pip's (promised 0.035)")
    if install:
        if step:
            print(f"ratio time to the first compile step {step / install:.3f} ({step:.1f} s; pip install alone {install:.1f} s)")
        else:
            print(f"ratio time of fetch {seconds / install:.3f}")
    print(f"second use {1000 * again:.0f} ms (promised 100 ms)")
finally:
    shutil.rmtree(work, ignore_errors=True)
