#!/usr/bin/env python3
"""How long `generate` takes for 50 cells: python3 bench/generate_bench.py SAGEKIT. The goal is 50 ms for each kind; the plan of the same
cells is beside it, for that is where most of the time goes."""
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time

CELLS = ("--profile", "current", "--platform", "linux_x86_64", "--torch", "2.11,2.12,2.13,2.14,2.15", "--cuda", "12.8,12.9,13.0,13.2")


def taken(words, times=15):
    """Wall and CPU time in ms; the median of the latter is what a busy machine does not change."""
    wall, cpu = [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([*words, *(("-o", folder) if "generate" in words else ())], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
    return f"{min(wall):.0f} ms at best, {statistics.median(cpu):.0f} ms of CPU time"


def main(sagekit):
    base = [sagekit, "--plugin", "sage2"]
    plan = json.loads(subprocess.run([*base, "plan", *CELLS, "--json", "--offline"], check=True, capture_output=True).stdout)
    print(f"{len(plan['cells'])} cells; the program alone: {taken([sagekit, '--version'])}")
    for kind in ("dockerfile", "bake", "github", "slurm", "cibuildwheel"):
        print(f"{kind}: {taken([*base, 'generate', kind, *CELLS])}")


if __name__ == "__main__":
    main(sys.argv[1])
