#!/usr/bin/env python3
"""How long `generate` takes for 50 cells: python3 bench/generate_bench.py SAGEKIT. The goal is 50 ms for each kind; the plan of the same
cells is beside it, for that is where most of the time goes."""
import json
import statistics
import subprocess
import sys
import tempfile
import time

CELLS = ("--profile", "current", "--platform", "linux_x86_64", "--torch", "2.11,2.12,2.13,2.14", "--cuda", "12.8,12.9,13.0,13.2")


def milliseconds(words, times=15):
    taken = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            subprocess.run([*words, *(("-o", folder) if "generate" in words else ())], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def main(sagekit):
    base = [sagekit, "--plugin", "sage2"]
    plan = json.loads(subprocess.run([*base, "plan", *CELLS, "--json", "--offline"], check=True, capture_output=True).stdout)
    print(f"{len(plan['cells'])} cells; start of the program alone {milliseconds([sagekit, '--version']):.0f} ms")
    for kind in ("dockerfile", "bake", "github", "slurm", "cibuildwheel"):
        print(f"{kind}: {milliseconds([*base, 'generate', kind, *CELLS]):.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1])
