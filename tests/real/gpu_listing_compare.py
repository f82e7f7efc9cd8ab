#!/usr/bin/env python3
"""Holds sagekit's listing of GPU code against NVIDIA's own lister, on real wheels and modules.

    gpu_listing_compare.py --sagekit build/release/bin/sagekit --cuobjdump PATH [--cuobjdump OLDER]... FILE...

FILE is a wheel (its modules are unpacked to a temporary folder) or a module. Compared: images for each arch, PTX for
each arch, and for every kernel its registers, stack, shared memory and constant bank. Several --cuobjdump are asked in
turn until one can read the file: releases from 13 on refuse cubins of CUDA 12.0 to 12.2, older ones do not know newer
code. A module that none reads, and every Windows module (none says it holds device code: its section is carved out and
compared as a fatbin), is said so. Known differences, taken out before comparing:
  - up to 13.5 -lelf prints sm_100 for sm_100f; 12.4 does not know `a` in cubins of CUDA 13;
  - cuobjdump adds the 1 KiB of shared memory that the driver keeps from compute capability 9.0 on;
  - cuobjdump lists device functions of code from before the device link as well (they have no constant bank);
  - code outside the known sections (listed as not loaded) is invisible to it.
Exits 1 on any other difference. Needs no GPU.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

MODULE = re.compile(r"\.(so(\.[0-9.]+)?|pyd|dll)$")
RESERVED_FROM = 90


def run(argv):
    done = subprocess.run(argv, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def sm_number(arch):
    return int(re.search(r"\d+", arch).group())


def ours(sagekit, path):
    code, out, err = run([*sagekit, "inspect", "--resources", "--json", path])
    if code != 0 or not out:
        raise RuntimeError(f"sagekit inspect {path}: {err.strip()[:300]}")
    return json.loads(out)["files"][0]["members"][0]


def our_listing(member):
    """(kind, arch without suffix) -> images; (arch, kernel) -> multiset of resources. Only what lies in known sections."""
    images, kernels = collections.Counter(), collections.defaultdict(set)
    for code in member.get("gpu", []):
        if code["kind"] == "lto" or code.get("outside"):
            continue
        images[code["kind"], sm_number(code["arch"])] += code["count"]
        for kernel in code.get("resources", []):
            kernels[sm_number(code["arch"]), kernel["name"]].add(
                (kernel["registers"], kernel["stack_bytes"], kernel["shared_bytes"], kernel["constant_bytes"]))
    return images, kernels


def lists(tool, path):
    """The same from cuobjdump; None when it cannot read the file."""
    images, kernels = collections.Counter(), collections.defaultdict(set)
    for flag, kind, ending in (("-lelf", "cubin", "cubin"), ("-lptx", "ptx", "ptx")):
        code, out, err = run([tool, flag, "-all", path])
        if code != 0 and "does not contain device code" not in out + err:
            return None
        for match in re.finditer(r"\.sm_(\d+)[af]?\." + ending, out):
            images[kind, int(match.group(1))] += 1
    code, out, err = run([tool, "-res-usage", "-all", path])
    if code != 0 and "does not contain device code" not in out + err:
        return None
    arch = name = None
    for line in out.splitlines():
        if match := re.match(r"arch = sm_(\d+)", line):
            arch = int(match.group(1))
        elif match := re.match(r" Function (\S+):$", line):
            name = match.group(1)
        elif name and line.startswith("  REG:"):
            needs = {key: int(value) for key, value in re.findall(r"([A-Z]+(?:\[\d+\])?):(\d+)", line)}
            registers, stack, shared, constant = (needs.get(key, 0) for key in ("REG", "STACK", "SHARED", "CONSTANT[0]"))
            if arch >= RESERVED_FROM:
                shared = max(0, shared - 1024)
            if constant > 0:
                kernels[arch, name].add((registers, stack, shared, constant))
            name = None
    return images, kernels


def carve(path, folder):
    """The loaded fatbin section of a PE file as a file of its own, for tools that only read ELF."""
    with open(path, "rb") as file:
        data = file.read()
    at = int.from_bytes(data[0x3C:0x40], "little")
    count, optional = int.from_bytes(data[at + 6:at + 8], "little"), int.from_bytes(data[at + 20:at + 22], "little")
    written = []
    for i in range(count):
        row = data[at + 24 + optional + 40 * i:][:40]
        if row[:8].rstrip(b"\0") in (b".nv_fatb", b"__nv_rel"):
            size = min(int.from_bytes(row[8:12], "little"), int.from_bytes(row[16:20], "little"))
            start = int.from_bytes(row[20:24], "little")
            body, offset = data[start:start + size], 0
            while (offset := body.find(b"\x50\xed\x55\xba\x01\x00\x10\x00", offset)) >= 0:
                length = 16 + int.from_bytes(body[offset + 8:offset + 16], "little")
                if length > 16:
                    written.append(os.path.join(folder, f"carved{len(written)}.fatbin"))
                    with open(written[-1], "wb") as out:
                        out.write(body[offset:offset + length])
                offset += max(length, 16)
    return written


def theirs(tools, path):
    with open(path, "rb") as file:
        windows = file.read(2) == b"MZ"
    with tempfile.TemporaryDirectory() as folder:
        parts = carve(path, folder) if windows else [path]
        for tool in tools:
            images, kernels = collections.Counter(), collections.defaultdict(set)
            for part in parts:
                listing = lists(tool, part)
                if listing is None:
                    break
                images += listing[0]
                for key, values in listing[1].items():
                    kernels[key] |= values
            else:
                return images, kernels
    return None


def compare(sagekit, tools, path, label, sums):
    member = ours(sagekit, path)
    if not member.get("gpu"):
        return True
    images, kernels = our_listing(member)
    hidden = any(problem["code"] == "FAT010" for problem in member.get("problems", []))
    reference = theirs(tools, path)
    if reference is None:
        print(f"SKIPPED {label}: no given cuobjdump reads it (ours: {sum(images.values())} images, "
              f"{sum(map(len, kernels.values()))} kernels)")
        sums["skipped"] += 1
        return True
    good = True
    # What lies outside the sections is in our sums only.
    if hidden:
        print(f"        {label}: has code outside the sections, so ours may have more")
    for key in sorted(set(images) | set(reference[0])):
        if images[key] != reference[0][key] and not (hidden and images[key] > reference[0][key]):
            print(f"DIFFERS {label}: {key[0]} for sm_{key[1]}: ours {images[key]}, cuobjdump's {reference[0][key]}")
            good = False
    different = [key for key in set(kernels) | set(reference[1])
                 if kernels.get(key) != reference[1].get(key) and not (hidden and key not in reference[1])]
    for key in sorted(different)[:5]:
        print(f"DIFFERS {label}: sm_{key[0]} {key[1][:120]}: ours {sorted(kernels.get(key, []))}, "
              f"cuobjdump's {sorted(reference[1].get(key, []))} (registers, stack, shared, constant)")
    good = good and not different
    count = sum(map(len, kernels.values()))
    sums["modules"] += 1
    sums["images"] += sum(images.values())
    sums["kernels"] += count
    sums["different"] += len(different)
    print(f"{'same   ' if good else 'DIFFERS'} {label}: {sum(images.values())} images, {count} kernels, "
          f"{len(different)} different")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sagekit", default="sagekit", help="the program, or a command that ends in it")
    parser.add_argument("--cuobjdump", action="append", required=True)
    parser.add_argument("file", nargs="+")
    arguments = parser.parse_args()
    sagekit, sums, good = arguments.sagekit.split(), collections.Counter(), True
    for path in arguments.file:
        if not path.endswith(".whl"):
            good = compare(sagekit, arguments.cuobjdump, path, os.path.basename(path), sums) and good
            continue
        with zipfile.ZipFile(path) as wheel:
            for info in wheel.infolist():
                if not MODULE.search(info.filename):
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    wheel.extract(info, folder)
                    label = f"{os.path.basename(path).split('-')[0]}:{os.path.basename(info.filename)}"
                    good = compare(sagekit, arguments.cuobjdump, os.path.join(folder, info.filename), label,
                                   sums) and good
    print(f"{sums['modules']} modules, {sums['images']} images, {sums['kernels']} kernels compared, "
          f"{sums['different']} different; {sums['skipped']} modules skipped")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
