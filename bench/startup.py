#!/usr/bin/env python3
"""Start-up as users feel it: `--version` and `plugin list` with the three in-tree plugins, against /bin/true in the same run.

Usage: startup.py SAGEKIT [RUNS]
"""
import statistics
import subprocess
import sys
import time

sagekit = sys.argv[1]
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
commands = {"/bin/true": ["/bin/true"], "--version": [sagekit, "--version"], "plugin list": [sagekit, "plugin", "list", "-q"]}
times = {name: [] for name in commands}
for _ in range(runs):
    for name, command in commands.items():
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times[name].append(1000 * (time.perf_counter() - start))
base = statistics.median(times["/bin/true"])
for name, values in times.items():
    median = statistics.median(values)
    print(f"{name:12} median {median:6.2f} ms  min {min(values):6.2f} ms  {median / base:5.2f} x /bin/true")
