#!/usr/bin/env python3
"""An index of many wheels, cold and unchanged, in one run, beside reading the same bytes alone.

Usage: index_bench.py SAGEKIT [--wheels N]
Promised for 10,000 small wheels: 2 s cold, 0.2 s unchanged. Whole processes; the store is a folder of its own. What the two
do beyond reading: cold hashes every wheel, inflates every member, writes the metadata beside it and the pages; unchanged asks
the kernel for each file's state and compares the pages with those that are there.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from clock import best, cost
from wheels import Wheel

parser = argparse.ArgumentParser()
parser.add_argument("sagekit")
parser.add_argument("--wheels", type=int, default=10000)
asked = parser.parse_args()


with tempfile.TemporaryDirectory() as work:
    dist = pathlib.Path(work, "dist")
    for i in range(asked.wheels):
        Wheel("tiny", f"1.{i}+cu130.torch2.11", f"cp312-cp312-linux_x86_64").write(dist)
    begin = time.perf_counter()
    size = sum(len(path.read_bytes()) for path in dist.iterdir())
    alone = time.perf_counter() - begin
    print(f"{asked.wheels} wheels, {size / 1e6:.1f} MB, {os.cpu_count()} cores; read by Python alone: {alone:.2f} s")
    env = {"PATH": os.environ["PATH"], "SAGEKIT_STORE": str(pathlib.Path(work, "store"))}
    words = [asked.sagekit, "index", str(dist)]
    time.sleep(1.2)
    cold, cpu, done = cost(words, env=env)
    print(f"cold       {cold:6.2f} s, {cpu:.2f} CPU-s (promised 2.0)  {done.stderr.strip().splitlines()[-1]}")
    unchanged, cpu = best(5, words, env=env)
    print(f"unchanged  {unchanged:6.2f} s, {cpu:.2f} CPU-s (promised 0.2)")
    sys.exit(cold > 2.0 or unchanged > 0.2)
