"""Faults of the file itself and of its framing, and the words in which all faults are written."""

import struct

from wheel_maker import STEM, SUFFIX, TAG, Entry

FAULTS = []  # (name, code, "fail", "warn" or "note" under others, change)
RIGHTS = []  # (name, change)


def on_wheel(name, code, weight, change):
    FAULTS.append((name, code, weight, change))


def on_zip(name, code, weight, change):
    def use(wheel):
        wheel.on_zip = change

    FAULTS.append((name, code, weight, use))


def on_bytes(name, code, change):
    def use(wheel):
        wheel.on_bytes = change

    FAULTS.append((name, code, "fail", use))


def right(name, change):
    RIGHTS.append((name, change))


def setting(**values):
    """Changes the first entry."""

    def change(archive):
        for key, value in values.items():
            setattr(archive.entries[0], key, value)

    return change


def both(**values):
    return lambda archive: archive.entries[0].set.update(values)


def local(**values):
    return lambda archive: archive.entries[0].local.update(values)


def whole(**values):
    def change(archive):
        for key, value in values.items():
            setattr(archive, key, value)

    return change


def adding(name, data=b"", **values):
    def change(archive):
        entry = Entry(name, data)
        for key, value in values.items():
            setattr(entry, key, value)
        archive.entries.insert(0, entry)

    return change


def field(identity, data):
    return struct.pack("<HH", identity, len(data)) + data


def meta(name, code, weight, old, new):
    on_wheel(name, code, weight, lambda w: w.swap("metadata", old, new))


def add_meta(name, code, weight, line):
    meta(name, code, weight, "Summary: A test.\n", f"Summary: A test.\n{line}\n")


def named(name, code, weight, file_name):
    """Another file name; the texts inside agree as far as they can."""

    def change(wheel):
        wheel.name = file_name

    on_wheel(name, code, weight, change)


def retagged(name, code, weight, tag):
    def change(wheel):
        wheel.name = f"{STEM}-{tag}.whl"
        python, abi, platform = tag.split("-")
        tags = "".join(f"Tag: {p}-{a}-{m}\n" for p in python.split(".") for a in abi.split(".") for m in platform.split("."))
        wheel.swap("wheel", f"Tag: {TAG}\n", tags)

    on_wheel(name, code, weight, change)


def holding(name, code, weight, path, data):
    on_wheel(name, code, weight, lambda w: w.files.update({path: data if isinstance(data, bytes) else data.encode()}))


def informing(name, code, weight, path, data):
    on_wheel(name, code, weight, lambda w: w.info.update({path: data}))


def module_is(name, code, data):
    holding(name, code, "fail", f"tiny_kernels/_k{SUFFIX}", data)


def other_name_field():
    return field(0x7075, struct.pack("<BI", 1, 0) + b"other.py")


def archive_faults():
    # The file itself
    on_bytes("Git LFS pointer", "INS050", lambda d: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    on_bytes("HTML page", "INS051", lambda d: b"<!DOCTYPE html>\n<html><title>404</title></html>\n")
    on_bytes("JSON error", "INS052", lambda d: b'{"message": "Not Found"}\n')
    on_bytes("XML error", "INS052", lambda d: b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')
    on_bytes("plain text", "INS053", lambda d: b"Not Found\n")
    on_bytes("empty file", "INS054", lambda d: b"")
    on_bytes("half a download", "INS055", lambda d: d[: len(d) // 2])
    on_bytes("without its last byte", "INS055", lambda d: d[:-1])
    on_bytes("gzip", "INS056", lambda d: b"\x1f\x8b\x08" + bytes(40))
    on_bytes("7z", "INS056", lambda d: b"7z\xbc\xaf\x27\x1c" + bytes(40))
    on_bytes("rar", "INS056", lambda d: b"Rar!\x1a\x07\x01\x00" + bytes(40))
    on_bytes("tar", "INS056", lambda d: bytes(257) + b"ustar\x0000" + bytes(300))
    on_bytes("PDF", "INS057", lambda d: b"%PDF-1.7\n\x80\x81")
    on_bytes("shortcut", "INS057", lambda d: b"L\0\0\0\x01\x14\x02\0" + bytes(60))
    on_bytes("zeros", "INS058", lambda d: bytes(5000))
    on_bytes("without its first half", ("INS059", "ZIP006", "ZIP002"), lambda d: d[len(d) // 2 :])

    # Framing
    on_zip("bytes before the archive", "ZIP002", "fail", whole(prefix=b"#!/bin/sh\n"))
    on_zip("bytes after the archive", "ZIP003", "fail", whole(suffix=b"more"))
    on_zip("end record in the comment", ("ZIP002", "ZIP003", "ZIP006"), "fail",
           whole(comment=b"x" * 4 + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0, 0, 0, 0, 0)))
    on_zip("archive comment", "ZIP030", "warn", whole(comment=b"hello"))
    on_zip("several disks", "ZIP004", "fail", whole(disk=1))
    on_zip("member on another disk", "ZIP004", "fail", both(disk=3))
    on_zip("zip64 record too long", "ZIP005", "fail", whole(zip64={"length": 60}))
    on_zip("zip64 record disagrees", "ZIP005", "fail", whole(zip64={"entries": 99}))
    on_zip("zip64 locator astray", "ZIP005", "fail", whole(zip64={"where": 1 << 40}))
    on_zip("zip64 announced, absent", "ZIP005", "fail", whole(count=0xFFFF))
    on_zip("too many members announced", "ZIP006", "fail", whole(count=99))
    on_zip("too few members announced", "ZIP006", "fail", whole(count=1))
    on_zip("directory elsewhere", ("ZIP002", "ZIP006"), "fail", whole(offset=7))
    on_zip("directory too large", "ZIP006", "fail", whole(size=0x7FFFFFFF))
    on_zip("bytes before the directory", "ZIP019", "fail", whole(before_directory=b"hidden"))
    on_zip("bytes between members", "ZIP019", "fail", lambda z: setattr(z.entries[1], "gap", b"hidden"))
    on_zip("member beyond the end", "ZIP008", "fail", both(offset=0x7FFFFFF0))
    on_zip("member header missing", "ZIP008", "fail", local(signature=7))
    on_zip("other name in the member's header", "ZIP009", "fail", local(name=b"tiny_kernels/__evil__.py"))
    on_zip("other size in the member's header", "ZIP009", "fail", local(size=1))
    on_zip("other packed size in the member's header", "ZIP009", "fail", local(packed=1))
    on_zip("other method in the member's header", "ZIP031", "fail", local(method=0))
    on_zip("other CRC in the member's header", "ZIP031", "fail", local(crc=1))
    on_zip("other flags in the member's header", "ZIP031", "fail", local(flags=2))
    on_zip("local name marked as UTF-8 only there", ("ZIP031", "ZIP013"), "fail",
           lambda z: (z.entries.insert(0, Entry("tiny_kernels/\xe9.txt")), z.entries[0].local.update(flags=0)))
    on_zip("one name twice", "ZIP010", "fail", adding("tiny_kernels/__init__.py", "answer = 43\n"))
    on_zip("names differ by case", "ZIP011", "warn", adding("tiny_kernels/__INIT__.py", ""))
    on_zip("names differ by accent form", "ZIP011", "warn",
           lambda z: z.entries.extend([Entry("tiny_kernels/\xe9.txt"), Entry("tiny_kernels/e\u0301.txt")]))
    on_zip("name with ..", "ZIP012", "fail", adding("tiny_kernels/../../evil.py"))
    on_zip("absolute name", "ZIP012", "fail", adding("/etc/evil"))
    on_zip("backslash", "ZIP012", "fail", adding("tiny_kernels\\evil.py"))
    on_zip("drive", "ZIP012", "fail", adding("C:/evil.py"))
    on_zip("empty part", "ZIP012", "fail", adding("tiny_kernels//evil.py"))
    on_zip("empty name", "ZIP012", "fail", adding(""))
    on_zip("NUL in a name", "ZIP032", "fail", adding(b"tiny.py\0.txt"))
    on_zip("line feed in a name", "ZIP032", "fail", adding("tiny\n.py"))
    on_zip("name not UTF-8", "ZIP013", "fail", adding(b"tiny\xff.py", flags=0x800))
    on_zip("name not marked as UTF-8", "ZIP013", "fail", adding("tiny\xe9.py", flags=0))
    on_zip("data descriptor", "ZIP014", "warn", setting(descriptor=True))
    on_zip("encrypted", "ZIP015", "fail", setting(flags=1))
    on_zip("bzip2", "ZIP016", "fail", setting(method=12))
    on_zip("LZMA", "ZIP016", "fail", setting(method=14))
    on_zip("zstd", "ZIP016", "fail", setting(method=93))
    on_zip("unknown flag", "ZIP033", "fail", setting(flags=0x20))
    on_zip("symbolic link", "ZIP017", "fail", setting(mode=0o120777))
    on_zip("device", "ZIP017", "fail", setting(mode=0o020644))
    on_zip("set-user-id", "ZIP034", "warn", setting(mode=0o104755))
    on_zip("members share bytes", "ZIP018", "fail",
           lambda z: (z.entries.insert(1, Entry("tiny_kernels/twin.py", z.entries[0].data)), z.entries[1].set.update(offset=0)))
    on_zip("member comment", "ZIP020", "warn", setting(comment=b"hello"))
    on_zip("extra field cut off", "ZIP021", "fail", setting(extra=b"\x01"))
    on_zip("two zip64 fields", "ZIP021", "fail", setting(extra=field(1, b"") * 2))
    on_zip("zip64 field of odd length", "ZIP021", "fail", setting(local_extra=field(1, b"12345")))
    on_zip("another name in an extra field", "ZIP035", "fail", setting(extra=other_name_field()))
    on_zip("damaged data", "ZIP022", "fail", both(raw=b"\x07garbage"))
    on_zip("bytes behind the packed data", "ZIP022", "fail", lambda z: z.entries[0].set.update(raw=z.entries[0].packed() + b"x"))
    on_zip("claims more than it holds", "ZIP022", "fail", both(size=500))
    on_zip("claims less than it holds", "ZIP022", "fail", both(size=2))
    on_zip("wrong CRC", "ZIP023", "fail", both(crc=1))
    on_zip("impossible ratio", "ZIP024", "fail", both(size=0x70000000))
    on_zip("bomb", "ZIP024", "fail", adding("tiny_kernels/zeros.bin", bytes(70 << 20)))
    on_zip("folder with data", "ZIP025", "fail", adding("tiny_kernels/sub/", "data", mode=0o040755))
    on_zip("file and folder of one name", "ZIP026", "fail", adding("tiny_kernels"))
    on_zip("endless name", "ZIP027", "fail", adding("x" * 2000))
    on_zip("tar as well", "ZIP028", "fail",
           adding("first.txt", b" " * (257 - 30 - 9) + b"ustar\x0000" + b" " * 300, method=0))
    on_zip("time zero", "ZIP036", "note", setting(date=0))
    on_zip("times differ", "ZIP037", "note", setting(date=0x22))
    on_zip("modes for the owner alone", "ZIP038", "note", setting(mode=0o100600))
    holding("path of 230 bytes", "ZIP102", "note", "tiny_kernels/" + "d" * 108 + "/" + "f" * 108, "x")
    holding("path not ASCII", "ZIP103", "note", "tiny_kernels/\xfc.txt", "x")
    holding("path with spaces", "ZIP104", "note", "tiny_kernels/a b.txt", "x")

    def device_name(wheel):
        wheel.name = f"{STEM}-py3-none-any.whl"
        wheel.swap("wheel", TAG, "py3-none-any")
        wheel.files = {"tiny_kernels/__init__.py": b"", "tiny_kernels/aux.py": b""}

    on_wheel("name of a Windows device", "ZIP101", "warn", device_name)
