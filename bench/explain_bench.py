#!/usr/bin/env python3
"""explain on 100 MB and 200 MB of a build's output, plain and packed, and on 100 MB in which most lines are of failures (those of
tests/causes/logs, shuffled): seconds and memory, beside what was promised.

Usage: explain_bench.py SAGEKIT
"""
import gzip
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

LINES = [
    "[{}/900] /usr/local/cuda/bin/nvcc -I/opt/venv/lib/python3.12/site-packages/torch/include -c csrc/a{}.cu -o build/a{}.o -O3 -gencode arch=compute_90a,code=sm_90a",
    "ptxas info    : Used {} registers, used 1 barriers, {} bytes cmem[{}]",
    "ptxas info    : Compiling entry function '_Z{}kernelIN7cutlass{}4gemm{}EEvPT_' for 'sm_90a'",
    "/opt/venv/lib/python3.12/site-packages/torch/include/c10/util/irange.h({}): warning #186-D: pointless comparison of unsigned integer with zero {} {}",
    "copying sageattention/core{}.py -> build/lib.linux-x86_64-cpython-312/sageattention {} {}",
    "2026-11-22T08:00:01.1234567Z step {} loss 0.{} lr {}",
]
END = "nvcc fatal   : Unsupported gpu architecture 'compute_120'\nninja: build stopped: subcommand failed.\n"


def write(path, size):
    random.seed(1)
    written = 0
    with path.open("w") as file:
        while written < size:
            block = "".join(random.choice(LINES).format(*(random.randrange(1000) for _ in range(3))) + "\n" for _ in range(20000))
            for _ in range(8):
                written += file.write(block)
        file.write(END)


def write_dense(path, size, head="{line}"):
    logs = pathlib.Path(__file__).parent.parent / "tests/causes/logs"
    lines = [line for log in sorted(logs.glob("*.log")) for line in log.read_text(errors="replace").splitlines() if line.strip()]
    random.seed(1)
    written = number = 0
    with path.open("w") as file:
        while written < size:
            random.shuffle(lines)
            for line in lines:
                number += 1
                written += file.write(head.format(line=line, number=number) + "\n")
        file.write(END)


def measure(sagekit, path):
    start = time.perf_counter()
    process = subprocess.Popen([sagekit, "explain", str(path), "--json"], stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0 and b'"K04"' in out, out[:200]
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def show(one, wall, cpu, memory, promised):
    print(f"{one.name:10} {wall:6.2f} s wall {cpu:6.2f} s CPU {memory:5.0f} MB   promised: {promised}")


def main(sagekit):
    with tempfile.TemporaryDirectory() as folder:
        for size, promised in ((100, "1.5 s"), (200, "64 MB of memory")):
            path = pathlib.Path(folder) / f"{size}.log"
            write(path, size * 1_000_000)
            for one in (path, pathlib.Path(f"{path}.gz")):
                if one.suffix == ".gz":
                    with gzip.open(one, "wb", 1) as packed:
                        packed.write(path.read_bytes())
                wall, cpu, memory = min(measure(sagekit, one) for _ in range(3))
                show(one, wall, cpu, memory, promised)
        # Every line is of a failure; and so that none stands there twice, as a service's log has them.
        for name, head in (("dense", "{line}"), ("times", "2026-11-22T08:00:00.{number:08}Z {line}")):
            dense = pathlib.Path(folder) / f"{name}.log"
            write_dense(dense, 100_000_000, head)
            show(dense, *min(measure(sagekit, dense) for _ in range(3)), "1.5 s")


if __name__ == "__main__":
    main(sys.argv[1])
