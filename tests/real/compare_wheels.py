#!/usr/bin/env python3
"""What two wheels of one package have in common: Python files, modules' symbols, and GPU code image by image.

Usage: compare_wheels.py A.whl B.whl   (sagekit on PATH, or SAGEKIT=/path/to/sagekit; reads uncompressed cubins)
"""
import hashlib
import json
import os
import struct
import subprocess
import sys
import zipfile


def facts(path):
    sagekit = os.environ.get("SAGEKIT", "sagekit")
    text = subprocess.run([sagekit, "inspect", "--json", "--kernels", path], check=True, capture_output=True).stdout
    return {m["path"]: m for m in json.loads(text)["files"][0]["members"]}


def elf_sections(data):
    """(name, type, bytes) of each section of a little-endian ELF64."""
    offset, entry, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * entry) for i in range(count)]
    strings = data[headers[names][4]:headers[names][4] + headers[names][5]]
    for header in headers:
        name = strings[header[0]:strings.index(b"\0", header[0])].decode()
        yield name, header[1], b"" if header[1] == 8 else data[header[4]:header[4] + header[5]]


def cubins(elf):
    """Payloads of the cubins in .nv_fatbin, in order; None for a compressed one."""
    blob = next((s[2] for s in elf_sections(elf) if s[0] == ".nv_fatbin"), b"")
    at = 0
    while at + 16 <= len(blob):
        magic, _, header, size = struct.unpack_from("<IHHQ", blob, at)
        if magic != 0xBA55ED50:
            at += 8
            continue
        entry, end = at + header, at + header + size
        while entry + 64 <= end:
            kind, _, entry_header, payload, compressed = struct.unpack_from("<HHIQI", blob, entry)
            if kind == 2:
                yield None if compressed else blob[entry + entry_header:entry + entry_header + payload]
            entry += entry_header + payload
        at = end


def code_of(cubin):
    """Everything the GPU sees; notes (tool, options) and symbol tables aside."""
    return {name: hashlib.sha256(data).hexdigest() for name, _, data in elf_sections(cubin)
            if name.startswith((".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.info"))}


def compare_code(a, b):
    x, y = list(cubins(a)), list(cubins(b))
    if None in x + y:
        return "compressed cubins, not compared"
    if len(x) != len(y):
        return f"{len(x)} and {len(y)} cubins"
    if x == y:
        return f"{len(x)} cubins, bit-identical"
    # Objects are linked in another order: match by content.
    same = sum(1 for c in x if any(code_of(c) == code_of(d) for d in y))
    kernels = [sum(n.startswith(".text.") for c in side for n in code_of(c)) for side in (x, y)]
    machine = [{(n, h) for c in side for n, h in code_of(c).items() if n.startswith(".text.")} for side in (x, y)]
    return (f"{len(x)} cubins, {same} with the same code, constants and resource records; "
            f"machine code of {len(machine[0] & machine[1])} of {max(kernels)} kernels identical")


a, b = facts(sys.argv[1]), facts(sys.argv[2])
zips = [zipfile.ZipFile(path) for path in sys.argv[1:3]]
python = {True: 0, False: 0}
for path in sorted(set(a) | set(b)):
    if ".dist-info/" in path:
        continue
    if path not in a or path not in b:
        print(f"{path}: only in {'B' if path not in a else 'A'}")
        continue
    x, y = a[path], b[path]
    if "elf" not in x:
        python[zips[0].read(path) == zips[1].read(path)] += 1
        continue
    print(f"{path}: {x['size_bytes']} and {y['size_bytes']} bytes")
    names = [[(g["kind"], g["arch"], tuple(g["names"])) for g in m["gpu"]] for m in (x, y)]
    print(f"  GPU code: {compare_code(zips[0].read(path), zips[1].read(path))}; kernel names {'equal' if names[0] == names[1] else 'differ'}: "
          + ", ".join(f"{g['arch']} {g['kernels']} kernels" for g in x["gpu"]))
    print(f"  needed: A {' '.join(x['elf']['needed'])}\n          B {' '.join(y['elf']['needed'])}")
    print(f"  versions: A {x['elf']['versions']}\n            B {y['elf']['versions']}\n"
          f"  exports {x['elf']['exports']} and {y['elf']['exports']}, undefined {x['elf']['undefined']} and {y['elf']['undefined']}")
print(f"other files: {python[True]} identical, {python[False]} different")
