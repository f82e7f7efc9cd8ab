#!/usr/bin/env python3
"""What a wheel for Windows costs beside the Linux wheel whose GPU code it shares: both built in one run, the first from nothing.

windows_twin.py SAGEKIT WORDS...   (words of `sagekit build`: --plugin sage2-stable --source DIR --arch 9.0)

STORE=DIR: a store that has the toolchains (else they are fetched into the new one, before the clock runs). Prints CPU seconds (user
and system, of all that a build starts), the ratio, and the wheels' sizes."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time


def build(sagekit, words, platform, store, folder):
    """(CPU seconds, wall seconds, the build's JSON)"""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run([sagekit, "build", *words, "--platform", platform, "--store", store, "--json", "-o", folder / platform], stdout=subprocess.PIPE, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"the build for {platform} ended with {done.returncode}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.time() - begin, json.loads(done.stdout)


def main():
    sagekit, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="sagekit-bench-") as name:
        folder = pathlib.Path(name)
        store = folder / "store"
        store.mkdir()
        if given := os.environ.get("STORE"):
            shutil.copytree(pathlib.Path(given) / "toolchains", store / "toolchains", symlinks=True)
        for platform in ("linux_x86_64", "win_amd64"):  # what is fetched is not what is measured
            subprocess.run([sagekit, "build", *words, "--platform", platform, "--store", store, "--dry-run"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        seconds = {}
        for platform in ("linux_x86_64", "win_amd64"):
            seconds[platform], wall, said = build(sagekit, words, platform, store, folder)
            sizes = ", ".join(f"{wheel['size_bytes']:,} bytes" for wheel in said["wheels"])
            print(f"{platform:13} {seconds[platform]:7.1f} CPU-s {wall:7.1f} s wall   {said['steps']['run']} steps run, {said['steps']['reused']} kept   {sizes}", flush=True)
        print(f"Windows over Linux: {seconds['win_amd64'] / seconds['linux_x86_64']:.2f}")


if __name__ == "__main__":
    main()
