#!/usr/bin/env python3
"""Links objects against a real torch and against stubs of it, and compares the bytes.

Usage: link_stub_compare.py LINK_STUBS TORCH [options] NAME=OBJECT[,OBJECT...]...

LINK_STUBS  the program of that name (ninja link_stubs)
TORCH       folder of an installed torch (with lib/)
--wheel W   make the stubs from this wheel, read as if over ranges; they must equal those of TORCH's libraries
--library L another real library to stub and link against (libcudart.so.13)
--cxx C     compiler to link with (default g++); --linkers bfd,gold,lld: those to try (default bfd)
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

LIBRARIES = ["torch", "torch_cpu", "torch_cuda", "torch_python", "c10", "c10_cuda"]

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("tool")
parser.add_argument("torch", type=pathlib.Path)
parser.add_argument("--wheel")
parser.add_argument("--library", action="append", default=[], type=pathlib.Path)
parser.add_argument("--cxx", default="g++")
parser.add_argument("--linkers", default="bfd")
parser.add_argument("modules", nargs="*")
options = parser.parse_intermixed_args()
failures = 0


def stub_name(path):
    return path.name.split(".so")[0] + ".so"


def dynamic_part(path):
    """Needed libraries and dynamic symbols with types and versions, sorted."""
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", path], capture_output=True, text=True, check=True).stdout
    needed = subprocess.run(["readelf", "-W", "-d", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split()[2:6] + line.split()[7:8] for line in symbols.splitlines() if ":" in line]
    return sorted(map(str, rows)), [line for line in needed.splitlines() if "(NEEDED)" in line]


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    real, stubs, remote = scratch / "real", scratch / "stubs", scratch / "remote"
    for folder in (real, stubs, remote):
        folder.mkdir()
    paths = [options.torch / "lib" / f"lib{name}.so" for name in LIBRARIES] + options.library
    subprocess.run([options.tool, "stubs", stubs, *paths], check=True)
    for path in paths:
        (real / stub_name(path)).symlink_to(path.resolve())
        if path.name != stub_name(path):
            (stubs / path.name).rename(stubs / stub_name(path))
    if options.wheel:
        members = [f"torch/lib/lib{name}.so" for name in LIBRARIES]
        subprocess.run([options.tool, "wheel", options.wheel, remote, *members], check=True)
        for name in LIBRARIES:
            same = (stubs / f"lib{name}.so").read_bytes() == (remote / f"lib{name}.so").read_bytes()
            failures += not same
            print(f"lib{name}: stub from the wheel's ranges {'equals' if same else 'DIFFERS FROM'} the one from the library")
    words = [f"-l{stub_name(path)[3:-3]}" for path in paths]
    for module in options.modules:
        name, objects = module.split("=", 1)
        for linker in options.linkers.split(","):
            for needed in ("--as-needed", "--no-as-needed"):
                files = []
                for number, folder in enumerate((real, stubs)):
                    out = scratch / f"{name}-{number}.so"
                    command = [options.cxx, f"-fuse-ld={linker}", "-shared", *objects.split(","), f"-L{folder}"]
                    command += [f"-Wl,{needed}", "-Wl,-s", "-Wl,--build-id=sha1", f"-Wl,-soname,{name}.so", *words]
                    subprocess.run([*map(str, command), "-o", str(out)], check=True)
                    files.append(out)
                # gold numbers every name of every library, undefined ones too, and orders symbols by these numbers.
                form = "symbols" if linker == "gold" else "bytes"
                first, second = (dynamic_part(file) if linker == "gold" else file.read_bytes() for file in files)
                failures += first != second
                print(f"{name}, {linker}, {needed}: {'the same' if first == second else 'DIFFERENT'} {form}")
sys.exit(1 if failures else 0)
