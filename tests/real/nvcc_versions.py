#!/usr/bin/env python3
"""The example built by each of several nvcc, in halves and by one plain nvcc step: the same modules, byte for byte.

nvcc_versions.py SAGEKIT SAGEKIT-EXAMPLE.SO SOURCE TREE...

TREE: folders with bin/nvcc, from `sagekit toolchain fetch` say. Each is tried for one architecture, for two, and with PTX
besides; the whole way is had by an nvcc whose dry run names a tool that nobody knows."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

FORMS = ("9.0", "8.0 9.0", "8.0 9.0+PTX")


def with_unknown_tool(tree, at):
    """The same tree behind an nvcc that prints one line more."""
    at.mkdir()
    for part in tree.iterdir():
        if part.name != "bin":
            (at / part.name).symlink_to(part)
    shutil.copytree(tree / "bin", at / "bin", symlinks=True)
    nvcc = at / "bin" / "nvcc"
    nvcc.unlink()
    nvcc.write_text(f"#!/bin/sh\ncase \"$*\" in *--keep-dir*) echo '#$ newtool a b' >&2; esac\nexec '{tree}/bin/nvcc' \"$@\"\n")
    nvcc.chmod(0o755)
    return at


def plugin_for(plugin, tree, at):
    """The example knows CUDA 12.8 to 13.0; this one knows the tree's."""
    release = re.search(r"release ([0-9.]+)", subprocess.run([tree / "bin" / "nvcc", "--version"], capture_output=True, text=True, check=True).stdout)[1]
    known = b'"12.8", "12.9", "13.0"'
    content = plugin.read_bytes()
    if content.count(known) != 1:
        sys.exit(f"{plugin} is not the example")
    at.write_bytes(content.replace(known, f'"{release}"'.encode().ljust(len(known))))
    return at


def build(sagekit, plugin, source, tree, arches, folder):
    done = subprocess.run([sagekit, "--plugin", plugin_for(plugin, tree, folder / "sagekit-example.so"), "build", "--source", source,
                           "--python", "3.11", "--platform", "linux_x86_64", "--profile", "all", "--toolchain", f"folder:{tree}", "--arch", arches,
                           "--store", folder / "store", "-o", folder / "dist"],
                          capture_output=True, text=True, cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder), "CI": "1"})
    if done.returncode != 0:
        sys.exit(f"{tree}, {arches}: exit {done.returncode}\n{done.stderr}")
    with zipfile.ZipFile(next((folder / "dist").glob("*.whl"))) as wheel:
        return {n: wheel.read(n) for n in wheel.namelist() if n.endswith(".so")}, done.stderr.count("in one run")


def main():
    sagekit, plugin, source, *trees = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    wrong = 0
    for tree in trees:
        for arches in FORMS:
            with tempfile.TemporaryDirectory(prefix="nvcc-versions-") as name:
                folder = pathlib.Path(name)
                (folder / "a").mkdir()
                (folder / "b").mkdir()
                halves, plain = build(sagekit, plugin, source, tree, arches, folder / "a")
                whole, said = build(sagekit, plugin, source, with_unknown_tool(tree, folder / "tree"), arches, folder / "b")
                ok = halves == whole and plain == 0 and said == len(whole)
                wrong += not ok
                print(f"{tree.name:45} {arches:14} {len(whole)} modules {'identical' if halves == whole else 'DIFFER'}; in one run: {plain} and {said}",
                      flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
