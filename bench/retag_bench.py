#!/usr/bin/env python3
"""retag beside `wheel tags` and `cp`, on one wheel of about 43 MB: python3 bench/retag_bench.py SAGEKIT [WHEEL-PROGRAM]

The wheel is made here: random members, which nothing can compress (`--raw 1`), or such that deflate to a third, as GPU code
does (`--raw 3`: 129 MB inside, the shape of bitsandbytes 0.50.2). A file for each run, the best of --runs; every result is
removed before the next. `--store DIR` says on which file system. Prints what was promised beside what was measured."""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "support"))
import wheels  # noqa: E402
from clock import best  # noqa: E402

THREE_BITS = bytes(value % 7 for value in range(256))  # 2.8 bits a byte


def make(folder, raw):
    wheel = wheels.Wheel("tiny", "2.2.0+cu128torch2.7.1", "cp312-cp312-linux_x86_64")
    for number in range(4):
        content = os.urandom(43_000_000 * raw // 4)
        wheel.files[f"tiny/kernels{number}.bin"] = content if raw == 1 else content.translate(THREE_BITS)
    for number in range(40):
        wheel.files[f"tiny/part{number}.py"] = b"answer = 42\n" * 200
    return wheel.write(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sagekit")
    parser.add_argument("wheel", nargs="?", default="wheel")
    parser.add_argument("--raw", type=int, default=3, choices=[1, 3])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--store", default=None)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="retag-bench-", dir=arguments.store))
    try:
        source = make(folder, arguments.raw)
        out = folder / "out"
        out.mkdir()
        renamed = out / source.name.replace("-cp312-cp312", "-7-cp312-cp312")
        tagged = source.with_name(renamed.name)
        copied = out / "copy.whl"
        remove = lambda path: lambda: path.unlink(missing_ok=True)  # noqa: E731
        retag = best(arguments.runs, [arguments.sagekit, "retag", "--build", "7", "-o", out, source], remove(renamed))
        copy = best(arguments.runs, ["cp", source, copied], remove(copied))
        tags = best(1, [arguments.wheel, "tags", "--build", "7", source], remove(tagged))
        print(f"{source.stat().st_size / 1e6:.1f} MB, {arguments.raw} times that inside; best of {arguments.runs}, wheel tags once")
        for what, at in (("wall", 0), ("CPU", 1)):
            print(f"{what}: retag {retag[at] * 1e3:.1f} ms, cp {copy[at] * 1e3:.1f} ms, wheel tags {tags[at] * 1e3:.0f} ms;"
                  f" retag / wheel tags 1/{tags[at] / retag[at]:.0f} (promised 1/100), retag / cp {retag[at] / copy[at]:.2f} (promised 2)")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
