#!/usr/bin/env python3
"""Loads the modules of one wheel in several torches and says which operators each registers. No GPU is needed.

Usage: stable_import.py WHEEL PYTHON...   (each PYTHON has a torch of its own; docs/stable-abi.md)

Exit 0 when every module loads in every one, by import and by torch.ops.load_library, and all register the same
operators; else 1.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

CHILD = r"""
import importlib.util, json, sys
import torch
from importlib.machinery import ExtensionFileLoader
how, paths = sys.argv[1], sys.argv[2:]
before = set(torch._C._dispatch_get_all_op_names())
for path in paths:
    if how == "load_library":
        torch.ops.load_library(path)
        continue
    name = path.rsplit("/", 1)[1].split(".")[0]
    loader = ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    loader.exec_module(importlib.util.module_from_spec(spec))
ops = sorted(set(torch._C._dispatch_get_all_op_names()) - before)
kernels = [op for op in ops if torch._C._dispatch_has_kernel_for_dispatch_key(op, "CUDA")]
print(json.dumps({"torch": torch.__version__, "python": sys.version.split()[0], "operators": ops, "cuda": kernels}))
"""


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wheel, pythons = sys.argv[1], sys.argv[2:]
    status, seen = 0, None
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        modules = sorted(str(path) for path in pathlib.Path(folder).rglob("*.abi3.so"))
        print("modules: " + " ".join(pathlib.Path(path).name for path in modules))
        for python in pythons:
            for how in ("import", "load_library"):
                done = subprocess.run([python, "-c", CHILD, how, *modules], capture_output=True, text=True)
                if done.returncode != 0:
                    print("%s, %s: FAILS: %s" % (python, how, done.stderr.strip().splitlines()[-1:]))
                    status = 1
                    continue
                said = json.loads(done.stdout.splitlines()[-1])
                operators = said["operators"]
                seen = seen or operators
                same = operators == seen and operators and said["cuda"] == operators
                status = status if same else 1
                print("torch %s, Python %s, %s: %d operators, %d with a CUDA kernel%s" % (
                    said["torch"], said["python"], how, len(operators), len(said["cuda"]), "" if same else ": DIFFERENT"))
    for operator in seen or []:
        print("  " + operator)
    return status if seen and modules else 1


if __name__ == "__main__":
    sys.exit(main())
