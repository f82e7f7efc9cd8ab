#!/usr/bin/env python3
"""Start-up as users feel it: `--version` and `plugin list` with the three in-tree plugins, with their specs kept in a store and
with a store that keeps nothing, against /bin/true in the same run.

Usage: startup.py SAGEKIT [RUNS]
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sagekit = sys.argv[1]
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
plugin_list = [sagekit, "plugin", "list", "-q"]


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


with tempfile.TemporaryDirectory() as store:
    commands = {"/bin/true": (["/bin/true"], store), "--version": ([sagekit, "--version"], store),
                "plugin list": (plugin_list, store), "none kept": (plugin_list, "/proc/nowhere")}
    wall, cpu = {name: [] for name in commands}, {name: [] for name in commands}
    for _ in range(runs):
        for name, (command, place) in commands.items():
            start, used = time.perf_counter(), cpu_seconds()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=os.environ | {"SAGEKIT_STORE": place})
            wall[name].append(1000 * (time.perf_counter() - start))
            cpu[name].append(1000 * (cpu_seconds() - used))
for name in commands:
    print(f"{name:12} wall median {statistics.median(wall[name]):6.2f} ms  min {min(wall[name]):6.2f} ms   "
          f"CPU median {statistics.median(cpu[name]):6.2f} ms  min {min(cpu[name]):6.2f} ms")
