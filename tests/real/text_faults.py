"""Faults of the file name, of dist-info, of the content and of variants; and the right wheels."""

import json

from archive_faults import (add_meta, adding, holding, informing, meta, module_is, named, on_wheel, on_zip, retagged, right,
                            whole)
from wheel_maker import STEM, SUFFIX, TAG


def name_faults():
    # File name
    named("no tags", "NAM002", "fail", "tiny_kernels-1.2.0.whl")
    named("dash in the name", "NAM002", "fail", f"tiny-kernels-1.2.0-1-{TAG}.whl")
    named("two underscores", "NAM003", "fail", f"tiny__kernels-1.2.0-{TAG}.whl")
    named("no version", "NAM004", "fail", f"tiny_kernels-latest-{TAG}.whl")
    named("two plus signs", "NAM004", "fail", f"tiny_kernels-1.2.0+cu130+torch2-{TAG}.whl")
    named("build tag without a digit", "NAM005", "fail", f"{STEM}-cu130-{TAG}.whl")
    named("empty tag", "NAM006", "fail", f"{STEM}-cp312..cp313-cp312-manylinux_2_17_x86_64.whl")
    named("tag with a character", "NAM006", "fail", f"{STEM}-cp312-cp312-manylinux_2_17_x86+64.whl")
    retagged("Python tag without letters", "NAM106", "fail", "312-none-manylinux_2_17_x86_64")
    retagged("py3 with a CPython ABI", "NAM107", "fail", "py3-cp312-manylinux_2_17_x86_64")
    retagged("ABI of another Python", "NAM107", "fail", "cp312-cp311-manylinux_2_17_x86_64")
    retagged("abi3t before 3.15", "NAM107", "fail", "cp312-abi3t-manylinux_2_17_x86_64")
    retagged("abi3 of Python 2", "NAM107", "fail", "cp27-abi3-manylinux_2_17_x86_64")
    retagged("unsorted tags", "NAM103", "note", "cp312.cp311-cp312-manylinux_2_17_x86_64")

    def unnormal_version(wheel):
        wheel.name = f"tiny_kernels-1.2-RC1-{TAG}.whl".replace("-RC1", "RC1")
        wheel.folder = "tiny_kernels-1.2RC1.dist-info"
        wheel.swap("metadata", "Version: 1.2.0", "Version: 1.2RC1")

    on_wheel("version not in normal form", "NAM102", "warn", unnormal_version)

    def capital_name(wheel):
        wheel.name = f"Tiny_Kernels-1.2.0-{TAG}.whl"
        wheel.folder = "Tiny_Kernels-1.2.0.dist-info"

    on_wheel("name not in normal form", "NAM101", "warn", capital_name)

    # dist-info
    on_wheel("no dist-info", "INF001", "fail", lambda w: setattr(w, "folder", f"{STEM}.egg-info"))
    holding("two dist-info", "INF002", "fail", "other-1.dist-info/METADATA", "x")
    named("renamed to another version", "INF025", "fail", f"tiny_kernels-1.3.0-{TAG}.whl")
    named("renamed to another project", "INF025", "fail", f"huge_kernels-1.2.0-{TAG}.whl")
    on_wheel("dist-info spelled otherwise", "INF003", "warn", lambda w: setattr(w, "folder", "Tiny.Kernels-1.2.0.dist-info"))
    on_wheel("no METADATA", "INF004", "fail", lambda w: w.without.add("METADATA"))
    meta("METADATA without Version", "INF005", "fail", "Version: 1.2.0\n", "")
    meta("METADATA with two Names", "INF005", "fail", "Name: tiny-kernels\n", "Name: tiny-kernels\nName: x\n")
    meta("METADATA with a stray line", "INF005", "fail", "Summary: A test.\n", "Summary: A test.\ngarbage\n")
    meta("METADATA 3.0", "INF005", "fail", "Metadata-Version: 2.4", "Metadata-Version: 3.0")
    on_wheel("METADATA not UTF-8", "INF005", "fail", lambda w: setattr(w, "metadata", w.metadata.encode() + b"\xff\n"))
    meta("other name in METADATA", "INF006", "fail", "tiny-kernels", "huge-kernels")
    meta("other version in METADATA", "INF006", "fail", "Version: 1.2.0", "Version: 1.2.1")
    on_wheel("no WHEEL", "INF007", "fail", lambda w: w.without.add("WHEEL"))
    on_wheel("WHEEL 2.0", "INF008", "fail", lambda w: w.swap("wheel", "Wheel-Version: 1.0", "Wheel-Version: 2.0"))
    on_wheel("no Root-Is-Purelib", "INF008", "fail", lambda w: w.swap("wheel", "Root-Is-Purelib: false\n", ""))
    on_wheel("Root-Is-Purelib: maybe", "INF008", "fail", lambda w: w.swap("wheel", "false", "maybe"))
    on_wheel("no Tag", "INF008", "fail", lambda w: w.swap("wheel", f"Tag: {TAG}\n", ""))
    on_wheel("other tag in WHEEL", "INF009", "warn", lambda w: w.swap("wheel", "cp312-cp312", "cp311-cp311"))
    named("build tag only in the file name", "INF010", "warn", f"{STEM}-280.129-{TAG}.whl")
    on_wheel("build tag only in WHEEL", "INF010", "warn", lambda w: setattr(w, "wheel", w.wheel + "Build: 7\n"))
    on_wheel("no RECORD", "INF011", "fail", lambda w: w.without.add("RECORD"))
    for name, code, weight, change in (
        ("RECORD row of two fields", "INF012", "fail", lambda t: t + "a,b\n"),
        ("RECORD with an open quote", "INF012", "fail", lambda t: t + '"a,,\n'),
        ("RECORD lacks a file", "INF013", "fail", lambda t: t.split("\n", 1)[1]),
        ("RECORD lists a missing file", "INF014", "fail", lambda t: "gone.py,sha256=x,1\n" + t),
        ("RECORD lists a file twice", "INF015", "warn", lambda t: t.split("\n", 1)[0] + "\n" + t),
        ("wrong hash in RECORD", "INF016", "fail", lambda t: t.replace("sha256=", "sha256=AAAA", 1)),
        ("wrong size in RECORD", "INF017", "fail", lambda t: t.replace("\n", "0\n", 1)),
        ("no hash in RECORD", "INF018", "fail", lambda t: t.split(",", 1)[0] + ",," + "\n" + t.split("\n", 1)[1]),
        ("MD5 in RECORD", "INF018", "fail", lambda t: t.replace("sha256=", "md5=", 1)),
        ("SHA-1 in RECORD", "INF018", "fail", lambda t: t.replace("sha256=", "sha1=", 1)),
        ("RECORD without itself", "INF019", "fail", lambda t: t.rsplit("\n", 2)[0] + "\n"),
        ("RECORD hashes itself", "INF026", "warn", lambda t: t.replace("RECORD,,", "RECORD,sha256=x,1")),
        ("RECORD with backslashes", "INF014", "fail", lambda t: t.replace("tiny_kernels/", "tiny_kernels\\", 1)),
        ("RECORD with an absolute path", "INF014", "fail", lambda t: "/etc/passwd,,\n" + t),
    ):
        on_wheel(name, code, weight, lambda w, change=change: setattr(w, "record", change))
    on_zip("dist-info first", "INF020", "warn", lambda z: z.entries.reverse())
    holding("compiled Python", "INF022", "warn", "tiny_kernels/x.pyc", "x")
    informing("INSTALLER", "INF022", "warn", "INSTALLER", "pip\n")
    informing("direct_url.json", "INF022", "warn", "direct_url.json", "{}")
    informing("RECORD.jws", "INF027", "note", "RECORD.jws", "{}")
    on_wheel("licence file missing", "INF023", "warn", lambda w: setattr(w, "licence", "licenses/COPYING"))
    meta("License-File before its time", "INF024", "warn", "Metadata-Version: 2.4", "Metadata-Version: 2.1")


def content_faults():
    # METADATA, field by field
    add_meta("unknown field", "INF106", "note", "Colour: blue")
    add_meta("field of a later version", "INF106", "note", "Import-Name: tiny_kernels")
    add_meta("field twice", "INF106", "note", "Requires-Python: >=3.8")
    add_meta("Dynamic of the name", "INF106", "note", "Dynamic: Name")
    meta("endless summary", "INF107", "note", "A test.", "A test." * 100)
    meta("summary of two lines", "INF107", "note", "A test.\n", "A test.\n  More.\n")
    add_meta("e-mail without a domain", "INF108", "note", "Author-email: me@nowhere")
    add_meta("private classifier", "INF109", "note", "Classifier: Private :: Do Not Upload")
    add_meta("address without a label", "INF110", "note", "Project-URL: https://example.org")
    add_meta("address that is none", "INF110", "note", "Project-URL: Source, example")
    add_meta("requirement that is none", "INF111", "fail", "Requires-Dist: numpy 1.0")
    add_meta("requirement >=1.0.*", "INF111", "fail", "Requires-Dist: scipy>=1.0.*")
    add_meta("requirement with an unknown marker", "INF111", "fail", 'Requires-Dist: scipy; gpu == "yes"')
    add_meta("requirement at an address", "INF112", "note", "Requires-Dist: scipy @ https://example.org/scipy.whl")
    meta("Requires-Python that is none", "INF113", "warn", ">=3.9", "3.9+")
    add_meta("extra that is no name", "INF114", "warn", "Provides-Extra: -x-")
    add_meta("extra that nobody declares", "INF115", "note", 'Requires-Dist: scipy; extra == "all"')
    meta("description of an unknown type", "INF116", "note", "text/markdown", "text/html")
    meta("no description", "INF117", "note", "\n# A test\n", "\n")
    meta("licence that is no expression", "INF118", "note", "Apache-2.0", "Apache 2.0")
    add_meta("two statements of the licence", "INF119", "note", "License: MIT")
    add_meta("licence file outside", "INF120", "warn", "License-File: ../LICENSE")
    informing("entry points without a section", "INF122", "warn", "entry_points.txt", "x = tiny_kernels:main\n")
    informing("entry points without =", "INF122", "warn", "entry_points.txt", "[console_scripts]\nx: tiny_kernels:main\n")
    informing("command with a path", "INF123", "fail", "entry_points.txt", "[console_scripts]\n../x = tiny_kernels:main\n")
    informing("command of no module", "INF124", "warn", "entry_points.txt", "[console_scripts]\nx = tiny_kernels.cli:main\n")
    informing("top_level.txt names what is not there", "INF125", "note", "top_level.txt", "huge_kernels\n")
    informing("SBOM that is no JSON", "INF126", "warn", "sboms/a.cdx.json", "{")
    holding("unknown part of .data", "INF127", "fail", f"{STEM}.data/stuff/x", "x")
    holding(".data of another wheel", "INF127", "fail", "other-1.data/scripts/x", "x")
    holding("script of another Python", "INF128", "warn", f"{STEM}.data/scripts/x", "#!/usr/bin/python2\n")
    on_wheel("pure by its WHEEL", "INF129", "warn", lambda w: w.swap("wheel", "false", "true"))
    retagged("machine code for any platform", "INF104", "fail", "py3-none-any")

    # Content
    module_is("module is an LFS pointer", "CNT017", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    module_is("module is a web page", "CNT017", "<html></html>\n")
    module_is("module is empty", "CNT017", "")
    module_is("module is all zeros", "CNT017", bytes(9000))
    module_is("module is cut off", "INS", b"\x7fELF\x02\x01\x01" + bytes(13))
    module_is("module for Windows", ("ELF006", "INS"), b"MZ" + bytes(100))
    holding("tests at the top", "CNT012", "warn", "tests/__init__.py", "x = 1\n")
    holding("__init__.py at the top", "CNT013", "warn", "__init__.py", "x = 1\n")
    holding("README at the top", "CNT010", "note", "README.md", "x\n")
    holding("module that nobody can import", "CNT011", "note", "tiny_kernels/my-data/x.py", "x = 1\n")
    holding("folder without modules", "CNT016", "note", "share/x.txt", "x\n")
    holding("code at every start", "CNT020", "warn", "tiny.pth", "import os; os.getcwd()\n")
    holding("object file", "CNT001", "warn", "tiny_kernels/x.o", "x")
    holding("object file of the build", "CNT001", "warn", "tiny_kernels/x.o", "x")
    on_wheel("file twice", "CNT009", "note",
             lambda w: w.files.update({"tiny_kernels/a.py": b"#" * 60, "tiny_kernels/b.py": b"#" * 60}))
    on_wheel("nothing to install", "CNT014", "warn", empty_wheel)
    retagged("other Python than the module's", "PYA001", "fail", "cp311-cp311-manylinux_2_17_x86_64")
    retagged("other machine than the module's", "ELF001", "fail", "cp312-cp312-manylinux_2_17_aarch64")
    retagged("tag of another system", "ELF006", "fail", "cp312-cp312-win_amd64")
    on_wheel("module of another machine", "ELF001", "fail", other_machine)
    on_wheel("module without PyInit", "PYA002", "fail", other_init)

    # Variants
    informing("variant.json that is no JSON", "VAR100", "warn", "variant.json", "[")
    named("label without variant.json", "VAR102", "warn", f"{STEM}-{TAG}-cu130.whl")
    on_wheel("variant of another label", "VAR102", "warn", lambda w: variant(w, key="cu129"))
    on_wheel("property in capitals", "VAR103", "warn", lambda w: variant(w, feature="SM"))
    on_wheel("namespace without a priority", "VAR104", "warn", lambda w: variant(w, priority="amd"))
    on_wheel("values not sorted", "VAR105", "note", lambda w: variant(w, values=["13.1", "13.0"]))
    on_wheel("promise without code", "VAR106", "warn", lambda w: variant(w, feature="sm_arch", values=["121_real"]))


def empty_wheel(wheel):
    wheel.name = f"{STEM}-py3-none-any.whl"
    wheel.swap("wheel", TAG, "py3-none-any")
    wheel.files = {}


def other_machine(wheel):
    path = f"tiny_kernels/_k{SUFFIX}"
    module = bytearray(wheel.files[path])
    module[18] = 183  # e_machine: aarch64
    wheel.files[path] = bytes(module)


def other_init(wheel):
    path = f"tiny_kernels/_k{SUFFIX}"
    wheel.files[path] = wheel.files[path].replace(b"PyInit__k", b"PyInit__z")


def variant(wheel, key="cu130", feature="cuda_version_lower_bound", values=("13.0",), priority="nvidia"):
    wheel.name = f"{STEM}-{TAG}-cu130.whl"
    text = {"$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",
            "default-priorities": {"namespace": [priority]}, "variants": {key: {"nvidia": {feature: list(values)}}}}
    wheel.info["variant.json"] = json.dumps(text)


def rights():
    right("plain", lambda w: None)
    right("zip64", lambda w: setattr(w, "on_zip", whole(zip64={})))
    right("stored", lambda w: setattr(w, "on_zip", lambda z: [setattr(e, "method", 0) for e in z.entries]))
    right("folders", lambda w: setattr(w, "on_zip", adding("tiny_kernels/", mode=0o040755)))
    right("UTF-8 name", lambda w: w.files.update({"tiny_kernels/\xfc.txt": b"x"}))
    right("build tag", lambda w: (setattr(w, "name", f"{STEM}-7-{TAG}.whl"), setattr(w, "wheel", w.wheel + "Build: 7\n")))
    right("two platforms", lambda w: (
        setattr(w, "name", f"{STEM}-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"),
        setattr(w, "wheel", w.wheel + "Tag: cp312-cp312-manylinux2014_x86_64\n")))
    right("local version", lambda w: (
        setattr(w, "name", f"tiny_kernels-1.2.0+cu130.torch2.11-{TAG}.whl"),
        setattr(w, "folder", "tiny_kernels-1.2.0+cu130.torch2.11.dist-info"),
        w.swap("metadata", "Version: 1.2.0", "Version: 1.2.0+cu130.torch2.11")))
    right("all fields", lambda w: w.swap("metadata", "Summary: A test.\n",
          "Summary: A test.\nAuthor-email: A. B. <a@example.org>\nProject-URL: Source, https://example.org\n"
          "Keywords: a,b\nClassifier: Programming Language :: Python :: 3\nProvides-Extra: all\n"
          'Requires-Dist: scipy[x]<2,>=1.0; python_version < "3.13" and extra == "all"\nRequires-Dist: torch==2.11.*\n'))
    right("commands and data", lambda w: (
        w.info.update({"entry_points.txt": "[console_scripts]\ntiny = tiny_kernels:main\n", "top_level.txt": "tiny_kernels\n",
                       "sboms/a.cdx.json": '{"bomFormat": "CycloneDX"}'}),
        w.files.update({f"{STEM}.data/scripts/x": b"#!python\n", f"{STEM}.data/data/share/y": b"y"})))
    right("variant", variant)

    def pure(wheel):
        wheel.name = f"{STEM}-py3-none-any.whl"
        wheel.swap("wheel", TAG, "py3-none-any")
        wheel.swap("wheel", "false", "true")
        wheel.files = {"tiny_kernels/__init__.py": b""}

    right("pure Python", pure)
    right("METADATA 2.1", lambda w: setattr(w, "metadata", "Metadata-Version: 2.1\nName: tiny-kernels\nVersion: 1.2.0\n\nText\n"))
