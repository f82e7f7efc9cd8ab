#!/usr/bin/env python3
"""Where the CPU time of one nvcc command goes: preprocessor, cicc, ptxas, cudafe++, host compiler; and the memory of each.

nvcc_parts.py NVCC WORDS...

Runs what `nvcc --dryrun --keep` prints, a program at a time, and adds user and system time up. -c and -o are given here."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def part_of(line):
    for name in ("cicc", "ptxas", "fatbinary", "cudafe++"):
        if re.match(rf'("?[^ "]*/)?{re.escape(name)}"? ', line):
            return name
    if ".cpp1.ii" in line:
        return "preprocess, device"
    if ".cpp4.ii" in line and " -E " in line:
        return "preprocess, host"
    return "host compiler" if ".cudafe1.cpp" in line else ""


def main():
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([*sys.argv[1:], "-c", "-o", f"{folder}/a.o", "--dryrun", "--keep", "--keep-dir", folder], capture_output=True, text=True)
        if said.returncode != 0:
            sys.exit(said.stderr)
        environment, sums, most = dict(os.environ), {}, {}
        for line in said.stderr.splitlines():
            line = line.removeprefix("#$ ")
            if found := re.fullmatch(r"([A-Z_]+)=(.*)", line):
                environment[found[1]] = found[2]
                continue
            part = part_of(line)
            if not part:
                continue
            process = subprocess.Popen(["/bin/sh", "-c", "exec " + line], env=environment)
            _, status, used = os.wait4(process.pid, 0)
            if status != 0:
                sys.exit(f"failed: {line}")
            sums[part] = sums.get(part, 0) + used.ru_utime + used.ru_stime
            most[part] = max(most.get(part, 0), used.ru_maxrss)
        whole = sum(sums.values())
        for part, seconds in sums.items():
            print(f"{part:20} {seconds:7.2f} CPU-s  {seconds / whole:5.1%}  {most[part] / 1e6:5.2f} GB")
        print(f"{'all':20} {whole:7.2f} CPU-s         object {pathlib.Path(folder, 'a.o').stat().st_size} bytes", flush=True)


if __name__ == "__main__":
    main()
