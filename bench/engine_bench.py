#!/usr/bin/env python3
"""A wheel for several architectures, the same again, and with one architecture more: wall, CPU, memory.

engine_bench.py SAGEKIT SOURCE OUT [PLUGIN] [--arch "8.0 8.6 8.9 9.0 12.0"] [--more 12.1] [-- BUILD FLAGS...]

SOURCE: the pinned source, checked out or pruned. OUT: an empty folder for store, wheels and documents. Build flags narrow the
matrix to one cell: --profile current --python 3.12 --torch 2.11.0 --cuda 13.0 --offline --memory 16G. "At once" is the sum of
resident memory of all processes, looked at five times a second; ideal wall is CPU over cores."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(root):
    """Bytes of a process and all below it."""
    below, sizes = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                below.setdefault(int(open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
                sizes[int(entry)] = int(open(f"/proc/{entry}/statm").read().split()[1]) * PAGE
            except (OSError, IndexError):
                pass
    total, todo = 0, [root]
    while todo:
        process = todo.pop()
        total += sizes.get(process, 0)
        todo += below.get(process, [])
    return total


def build(arguments, name, arches, flags):
    out = pathlib.Path(arguments.out)
    command = [arguments.sagekit, "--plugin", arguments.plugin, "build", "--source", arguments.source, "--arch", arches, "--store",
               str(out / "store"), "-o", str(out / name), "--json", "--timeline", str(out / f"{name}.trace.json"), *flags]
    began, most = time.time(), 0
    with open(out / f"{name}.json", "wb") as stdout, open(out / f"{name}.err", "wb") as stderr:
        process = subprocess.Popen(command, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL)
        while process.poll() is None:
            most = max(most, resident(process.pid))
            time.sleep(0.2)
    wall = time.time() - began
    if process.returncode != 0:
        sys.exit(f"{name}: exit {process.returncode}: see {out / name}.err")
    said = json.load(open(out / f"{name}.json"))
    cpu, cores = said["cpu_seconds"], os.cpu_count() or 1
    whole = open(out / f"{name}.err", errors="replace").read().count("nvcc runs as a whole")
    print(f"{name:10} {arches:32} wall {wall:7.1f} s  CPU {cpu:8.1f} s  ideal {cpu / cores:6.1f} s  ratio {wall / max(cpu / cores, 0.01):5.2f}  "
          f"at once {most / 1e9:5.2f} GB  largest {said['peak_memory_bytes'] / 1e9:5.2f} GB  steps {said['steps']['run']} run, "
          f"{said['steps']['reused']} kept  whole {whole}", flush=True)
    return cpu


def own_device_half(arguments):
    """CPU seconds of the new architecture's GPU code, in the third build."""
    wanted = "compute_" + arguments.more.replace(".", "")
    steps = json.load(open(pathlib.Path(arguments.out) / "more.trace.json"))["traceEvents"]
    return sum(step["args"]["cpu_seconds"] for step in steps
               if step["ph"] == "X" and step["name"].startswith("device-") and wanted in step["name"])


def main():
    words = sys.argv[1:]
    flags = words[words.index("--") + 1:] if "--" in words else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sagekit", "source", "out"):
        parser.add_argument(name)
    parser.add_argument("plugin", nargs="?", default="sage2")
    parser.add_argument("--arch", default="8.0 8.6 8.9 9.0 12.0")
    parser.add_argument("--more", default="12.1")
    arguments = parser.parse_args(words[:words.index("--")] if "--" in words else words)
    first = build(arguments, "first", arguments.arch, flags)
    build(arguments, "again", arguments.arch, flags)
    more = build(arguments, "more", f"{arguments.arch} {arguments.more}", flags)
    own = own_device_half(arguments)
    print(f"one architecture more: {more / first:.2f} of the first build's CPU, {more / max(own, 0.01):.2f} of its own device half ({own:.1f} s); goal 1.10")


if __name__ == "__main__":
    main()
