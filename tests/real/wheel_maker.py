"""Makes small wheels in memory, right by default, wrong wherever a fault changes them; no packaging library is used."""

import base64
import hashlib
import pathlib
import struct
import subprocess
import zlib

STEM = "tiny_kernels-1.2.0"
TAG = "cp312-cp312-manylinux_2_17_x86_64"
SUFFIX = ".cpython-312-x86_64-linux-gnu.so"
SOURCE = 'void *PyLong_FromLong(long);\nvoid *PyInit__k(void) { return PyLong_FromLong(1); }\n'


def compile_module(folder: pathlib.Path) -> bytes:
    """A small extension module that needs no library, made by the C compiler."""
    source, out = folder / "k.c", folder / "k.so"
    source.write_text(SOURCE)
    command = ["cc", "-shared", "-fPIC", "-nostdlib", "-Wl,-z,relro,-z,now,-z,noexecstack,--build-id", "-o", out, source]
    subprocess.run([str(one) for one in command], check=True)
    return out.read_bytes()


class Entry:
    """One member of a zip archive; what is not set is right."""

    def __init__(self, name, data=b""):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.data = data if isinstance(data, bytes) else data.encode()
        self.method, self.flags, self.mode, self.date, self.time = 8, 0 if self.name.isascii() else 0x800, 0o100644, 0x21, 0
        self.local_extra = self.extra = self.comment = self.gap = b""
        self.descriptor = False
        self.local = {}  # name, method, flags, crc, size, packed: in the member's own header only
        self.set = {}  # the same in both headers; raw: the packed bytes; offset, disk

    def packed(self):
        if "raw" in self.set:
            return self.set["raw"]
        if self.method != 8:
            return self.data
        squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
        return squeeze.compress(self.data) + squeeze.flush()


class Zip:
    def __init__(self, entries):
        self.entries = entries
        self.prefix = self.suffix = self.comment = self.before_directory = b""
        self.count = self.offset = self.size = None
        self.disk = 0
        self.zip64 = None  # {} or {"length": 60, "entries": 9, "where": 7}

    def entry(self, end):
        return next(one for one in self.entries if one.name.endswith(end.encode()))

    def build(self) -> bytes:
        out, directory = bytearray(self.prefix), bytearray()
        for e in self.entries:
            packed = e.packed()
            value = {"name": e.name, "method": e.method, "flags": e.flags | (8 if e.descriptor else 0),
                     "crc": zlib.crc32(e.data), "size": len(e.data), "packed": len(packed), **e.set}
            local = {**value, **({"crc": 0, "size": 0, "packed": 0} if e.descriptor else {}), **e.local}
            out += e.gap
            offset = e.set.get("offset", len(out) - len(self.prefix))
            out += struct.pack("<IHHHHHIIIHH", e.local.get("signature", 0x04034B50), 20, local["flags"], local["method"], e.time,
                               e.date, local["crc"], local["packed"], local["size"], len(local["name"]), len(e.local_extra))
            out += local["name"] + e.local_extra + packed
            if e.descriptor:
                out += struct.pack("<IIII", 0x08074B50, value["crc"], value["packed"], value["size"])
            directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 0x0314, 20, value["flags"], value["method"], e.time,
                                     e.date, value["crc"], value["packed"], value["size"], len(value["name"]), len(e.extra),
                                     len(e.comment), e.set.get("disk", 0), 0, e.mode << 16, offset)
            directory += value["name"] + e.extra + e.comment
        out += self.before_directory
        at, count = len(out) - len(self.prefix), len(self.entries)
        out += directory
        if self.zip64 is not None:
            record, entries = len(out), self.zip64.get("entries", count)
            out += struct.pack("<IQHHIIQQQQ", 0x06064B50, self.zip64.get("length", 44), 45, 45, 0, 0, entries, entries,
                               len(directory), at)
            out += struct.pack("<IIQI", 0x07064B50, 0, self.zip64.get("where", record), 1)
        number = count if self.count is None else self.count
        out += struct.pack("<IHHHHIIH", 0x06054B50, self.disk, self.disk, number, number,
                           len(directory) if self.size is None else self.size, at if self.offset is None else self.offset,
                           len(self.comment))
        return bytes(out) + self.comment + self.suffix


def record_hash(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel:
    """A right wheel; a fault changes it, or the zip archive that is made of it."""

    def __init__(self, module: bytes):
        self.name = f"{STEM}-{TAG}.whl"
        self.folder = f"{STEM}.dist-info"
        self.files = {"tiny_kernels/__init__.py": b"answer = 42\n", f"tiny_kernels/_k{SUFFIX}": module}
        self.metadata = ("Metadata-Version: 2.4\nName: tiny-kernels\nVersion: 1.2.0\nSummary: A test.\n"
                         "License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.9\n"
                         "Requires-Dist: numpy\nDescription-Content-Type: text/markdown\n\n# A test\n")
        self.wheel = f"Wheel-Version: 1.0\nGenerator: test 1\nRoot-Is-Purelib: false\nTag: {TAG}\n"
        self.licence = "licenses/LICENSE"
        self.info = {}  # more files of dist-info
        self.without = set()
        self.record = lambda text: text
        self.on_zip = None
        self.on_bytes = lambda data: data

    def swap(self, text, old, new):
        before = getattr(self, text)
        assert old in before, (text, old)
        setattr(self, text, before.replace(old, new, 1))

    def build(self) -> bytes:
        all_files = dict(self.files)
        info = {self.licence: b"Do what you like.\n", "METADATA": self.metadata, "WHEEL": self.wheel, **self.info}
        for name, data in info.items():
            if name not in self.without:
                all_files[f"{self.folder}/{name}"] = data if isinstance(data, bytes) else data.encode()
        rows = "".join(f"{name},{record_hash(data)},{len(data)}\n" for name, data in all_files.items()
                       if not name.endswith("/"))
        record = self.record(rows + f"{self.folder}/RECORD,,\n")
        entries = [Entry(name, data) for name, data in all_files.items()]
        if "RECORD" not in self.without:
            entries.append(Entry(f"{self.folder}/RECORD", record))
        archive = Zip(entries)
        if self.on_zip:
            self.on_zip(archive)
        return self.on_bytes(archive.build())
