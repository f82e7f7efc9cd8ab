#!/usr/bin/env python3
"""What two wheels of one package have in common: modules, exported and undefined symbols, kernels by arch, Python files.

Usage: compare_wheels.py A.whl B.whl   (sagekit on PATH, or SAGEKIT=/path/to/sagekit)
"""
import json
import os
import subprocess
import sys
import tempfile
import zipfile

sagekit = os.environ.get("SAGEKIT", "sagekit")


def facts(path):
    text = subprocess.run([sagekit, "inspect", "--json", "--kernels", path], check=True, capture_output=True).stdout
    return {m["path"]: m for m in json.loads(text)["files"][0]["members"]}


def sections(path, member):
    """.nv_fatbin's bytes, by binutils: whether GPU code is bit-identical."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(path) as wheel:
            file = wheel.extract(member, folder)
        out = os.path.join(folder, "fatbin")
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", "--set-section-flags", ".nv_fatbin=alloc", file, out], check=False)
        with open(out, "rb") as stream:
            return stream.read()


a, b = facts(sys.argv[1]), facts(sys.argv[2])
for path in sorted(set(a) | set(b)):
    if ".dist-info/" in path:
        continue
    if path not in a or path not in b:
        print(f"{path}: only in {'B' if path not in a else 'A'}")
        continue
    x, y = a[path], b[path]
    if "elf" not in x:
        if x.get("sha256") != y.get("sha256"):
            print(f"{path}: differs")
        continue
    gpu = [[(g["kind"], g["arch"], g["count"], g.get("names")) for g in m["gpu"]] for m in (x, y)]
    fatbin = sections(sys.argv[1], path) == sections(sys.argv[2], path)
    print(f"{path}: {x['size_bytes']} and {y['size_bytes']} bytes")
    print(f"  GPU code: kernels {'the same' if gpu[0] == gpu[1] else 'differ'}; section bytes {'identical' if fatbin else 'differ'}; "
          + ", ".join(f"{g['arch']} {g['kernels']} kernels in {g['count']}" for g in x["gpu"]))
    print(f"  needed: A {x['elf']['needed']}\n          B {y['elf']['needed']}" if x["elf"]["needed"] != y["elf"]["needed"] else f"  needed: the same ({len(x['elf']['needed'])})")
    print(f"  versions: A {x['elf']['versions']} B {y['elf']['versions']}; exports {x['elf']['exports']} and {y['elf']['exports']}; "
          f"undefined {x['elf']['undefined']} and {y['elf']['undefined']}")
