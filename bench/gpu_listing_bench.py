#!/usr/bin/env python3
"""Time and memory of listing a library's GPU code, against NVIDIA's cuobjdump: whole processes, medians, ratios of one run.

    gpu_listing_bench.py --sagekit build/release/bin/sagekit --cuobjdump PATH [--repeat 7] FILE_OR_FOLDER...

For each library: `inspect --quick` (headers only) against `cuobjdump --list-elf`, and `inspect --quick --kernels` (every image
decompressed and checked) against `cuobjdump --list-elf` and `-res-usage`, which is what shows kernel names. Each program's
runs follow one another; with --turns the programs take turns, so that a short run always comes after a large cuobjdump, which
leaves nothing in the processor's caches: the harder measure, by far. Peak memory is the kernel's ru_maxrss, mapped pages
included, by /usr/bin/time. A library that cuobjdump refuses has its row without ratios:
releases from 13 on do not read cubins of CUDA 12.0 to 12.2, which 12.4 does.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time


def once(argv):
    """Seconds, CPU seconds, whether it succeeded."""
    null = os.open(os.devnull, os.O_WRONLY)
    begin = time.perf_counter()
    process = os.posix_spawn(argv[0], argv, os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - begin
    os.close(null)
    return seconds, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status) == 0


def peak_memory(argv):
    """KiB. By time(1), which is small: a child starts out with the peak of whoever made it."""
    done = subprocess.run(["/usr/bin/time", "-f", "peak %M", *argv], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    return int(re.search(r"^peak (\d+)$", done.stderr, re.MULTILINE).group(1))


def libraries(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if ".so" in p.name and p.is_file())
        else:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sagekit", default="sagekit")
    parser.add_argument("--arches-flag", default="--quick")
    parser.add_argument("--kernels-flag", default="--quick --kernels")
    parser.add_argument("--cuobjdump", required=True)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("file", nargs="+")
    arguments = parser.parse_args()
    sagekit = arguments.sagekit.split()
    rows = {"arches": [*sagekit, "inspect", *arguments.arches_flag.split(), "--json"],
            "kernels": [*sagekit, "inspect", *arguments.kernels_flag.split(), "--json"],
            "list": [arguments.cuobjdump, "--list-elf"], "names": [arguments.cuobjdump, "-res-usage"]}
    speed, cpu, names_list, names_names, memory, memory_names = [], [], [], [], [], []
    print(f"{'library':42} {'MB':>5} | {'arches ms':>9} {'CPU ms':>7} {'MB':>4} | {'kernels ms':>10} {'MB':>4} | "
          f"{'-lelf ms':>8} {'CPU ms':>7} {'MB':>5} | {'-res-usage':>10} | {'arches':>7} {'CPU':>6} {'kernels':>8} "
          f"{'/res':>6} {'memory':>7}")
    for path in libraries(arguments.file):
        taken = {name: [] for name in rows}
        turns = [(turn, name) for turn in range(arguments.repeat + 1) for name in rows]
        for turn, name in turns if arguments.turns else sorted(turns, key=lambda one: list(rows).index(one[1])):
            if name == "names" and turn > 2:
                continue
            result = once([*rows[name], str(path)])
            if turn > 0:  # the first brings the file into memory
                taken[name].append(result)
        wall = {name: statistics.median(r[0] for r in runs) * 1e3 for name, runs in taken.items()}
        spent = {name: statistics.median(r[1] for r in runs) * 1e3 for name, runs in taken.items()}
        peak = {name: peak_memory([*argv, str(path)]) / 1024 for name, argv in rows.items()}
        good = {name: all(r[2] for r in runs) for name, runs in taken.items()}
        if not good["arches"] or not good["kernels"]:
            print(f"{path.name}: sagekit failed")
            continue
        text = (f"{path.name[:42]:42} {path.stat().st_size >> 20:5} | {wall['arches']:9.1f} {spent['arches']:7.1f} "
                f"{peak['arches']:4.0f} | {wall['kernels']:10.0f} {peak['kernels']:4.0f} | ")
        if not good["list"]:
            print(text + "refused")
            continue
        ratios = (wall["list"] / wall["arches"], spent["list"] / max(spent["arches"], 0.1),
                  wall["list"] / wall["kernels"], wall["names"] / wall["kernels"], peak["list"] / peak["arches"])
        print(text + f"{wall['list']:8.0f} {spent['list']:7.0f} {peak['list']:5.0f} | {wall['names']:10.0f} | "
              f"{ratios[0]:6.0f}x {ratios[1]:5.0f}x {ratios[2]:7.1f}x {ratios[3]:5.1f}x {ratios[4]:6.0f}x")
        for values, value in zip((speed, cpu, names_list, names_names, memory), ratios):
            values.append(value)
        memory_names.append(peak["names"] / peak["kernels"])
    if speed:
        print(f"medians: arches {statistics.median(speed):.0f}x (CPU {statistics.median(cpu):.0f}x) as fast as "
              f"--list-elf, at 1/{statistics.median(memory):.0f} of its memory; kernel names "
              f"{statistics.median(names_list):.1f}x --list-elf (least {min(names_list):.1f}x), "
              f"{statistics.median(names_names):.1f}x -res-usage (least {min(names_names):.1f}x) at "
              f"1/{statistics.median(memory_names):.0f} of its memory")
    return 0 if speed else 1


if __name__ == "__main__":
    sys.exit(main())
