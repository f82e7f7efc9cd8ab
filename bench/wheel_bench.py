#!/usr/bin/env python3
"""A whole static judgement of CUDA wheels against the tools that people run today, and inspection against inflating alone.

Usage: wheel_bench.py verify SAGEKIT WHEEL [--tools BIN_DIR] [--cuobjdump PROGRAM] [--runs N]
       wheel_bench.py inspect SAGEKIT WHEEL [--floor INFLATE_FLOOR] [--runs N]
`verify`: BIN_DIR has auditwheel, check-wheel-contents, twine, abi3audit and pydistcheck (a venv's bin); beside them unzip, and
cuobjdump -lelf on each library (--cuobjdump; left out and said so when it is not given). Whole processes, medians, one run.
`inspect`: INFLATE_FLOOR is bench's program of that name. Memory is the largest resident set that the kernel saw, and the part
of it that is not the mapped file.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
import zipfile

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["verify", "inspect"])
parser.add_argument("sagekit")
parser.add_argument("wheel")
parser.add_argument("--tools")
parser.add_argument("--cuobjdump")
parser.add_argument("--floor")
parser.add_argument("--runs", type=int, default=5)
asked = parser.parse_args()
wheel = str(pathlib.Path(asked.wheel).resolve())


def timed(words, **more):
    """(seconds, peak resident bytes, exit code) of one whole process."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - begin, usage.ru_maxrss * 1024, process.returncode


def median_of(words, runs, **more):
    results = [timed(words, **more) for _ in range(runs)]
    return statistics.median(r[0] for r in results), max(r[1] for r in results), results[0][2]


size, raw = os.path.getsize(wheel), sum(m.file_size for m in zipfile.ZipFile(wheel).infolist())
print(f"{os.path.basename(wheel)}: {size / 1e6:.1f} MB, {raw / 1e6:.1f} MB raw, {os.cpu_count()} cores")

if asked.what == "verify":
    with tempfile.TemporaryDirectory() as work:
        commands = {}
        for name, words in {"auditwheel": ["show"], "check-wheel-contents": [], "twine": ["check"], "abi3audit": ["--strict"], "pydistcheck": []}.items():
            tool = pathlib.Path(asked.tools, name) if asked.tools else shutil.which(name)
            if tool and os.path.exists(tool):
                commands[name] = [str(tool), *words, wheel]
            else:
                print(f"{name}: not here, left out")
        if shutil.which("unzip"):
            commands["unzip"] = ["unzip", "-q", "-o", wheel, "-d", work]
        total = 0.0
        for name, words in commands.items():
            seconds, peak, code = median_of(words, max(1, asked.runs // 2))
            total += seconds
            print(f"  {name:22} {seconds:8.3f} s  {peak / 1e6:7.0f} MB  exit {code}")
        if asked.cuobjdump:
            zipfile.ZipFile(wheel).extractall(work)
            seconds = sum(timed([asked.cuobjdump, "-lelf", str(path)])[0] for path in sorted(pathlib.Path(work).rglob("*")) if path.suffix in (".so", ".pyd", ".dll"))
            total += seconds
            print(f"  {'cuobjdump -lelf':22} {seconds:8.3f} s")
        seconds, peak, code = median_of([asked.sagekit, "verify", "--json", wheel], asked.runs)
        print(f"  {'sagekit verify':22} {seconds:8.3f} s  {peak / 1e6:7.0f} MB  exit {code}")
        print(f"  all of them / sagekit: {total:.3f} / {seconds:.3f} s = {total / seconds:.1f}")
        largest = sorted((m.file_size for m in zipfile.ZipFile(wheel).infolist()), reverse=True)[: os.cpu_count()]
        print(f"  peak memory beyond the {len(largest)} largest members in flight: {(peak - sum(largest)) / 1e6:.0f} MB")
else:
    commands = {"inspect": ["inspect"], "inspect --json": ["inspect", "--json"]}  # the second hashes the file too
    floors, ours, peak = [], {name: [] for name in commands}, 0
    for _ in range(asked.runs):  # in turns, so that all see the same machine
        if asked.floor:
            floors.append(timed([asked.floor, wheel])[0])
        for name, words in commands.items():
            seconds, used, _ = timed([asked.sagekit, *words, wheel])
            ours[name].append(seconds)
            peak = max(peak, used)
    if floors:
        print(f"  {'inflating alone':15} median {statistics.median(floors):.3f} s")
    for name, times in ours.items():
        ratio = f"; ratio {statistics.median(times) / statistics.median(floors):.3f} (pair by pair {statistics.median(a / b for a, b in zip(times, floors)):.3f})" if floors else ""
        print(f"  {name:15} median {statistics.median(times):.3f} s{ratio}")
    print(f"  peak {peak / 1e6:.0f} MB")
