#!/usr/bin/env python3
"""Makes the wheel of sagekit from an installed tree: make_wheel.py PREFIX --python FOLDER --version V --tag TAG -o DIR

The program is a script of the wheel, the rest of the tree its data, so an environment it is installed into has the same shape as
any prefix: bin, lib, include, share. Same tree, same bytes: members are sorted, dated by SOURCE_DATE_EPOCH and have fixed modes.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import time
import zipfile

SUMMARY = "Turns a pinned SageAttention source into verified GPU wheels, and says which wheel runs on which machine and why"
# sagekit's own, then what is linked in; each has its text in dist-info/licenses.
LICENSE = ("Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 AND MIT AND Zlib AND bzip2-1.0.6 AND curl AND "
           "LGPL-2.1-or-later AND LGPL-3.0-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path, required=True)
    parser.add_argument("--readme", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--tag", required=True)
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    info, data = (f"sagekit-{arguments.version}.{kind}" for kind in ("dist-info", "data"))

    members = {}  # name: (bytes, executable)
    for file in sorted(arguments.prefix.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue  # libsagekit.so beside libsagekit.so.0: the CMake package names the file itself
        name = file.relative_to(arguments.prefix).as_posix()
        if name == "bin/sagekit":
            members[f"{data}/scripts/sagekit"] = (file.read_bytes(), True)
        elif name.startswith("share/doc/sagekit/"):
            members[f"{info}/licenses/{name.removeprefix('share/doc/sagekit/')}"] = (file.read_bytes(), False)
        else:
            members[f"{data}/data/{name}"] = (file.read_bytes(), False)
    for file in sorted(arguments.python.rglob("*.py")):
        members[f"sagekit/{file.relative_to(arguments.python).as_posix()}"] = (file.read_bytes(), False)

    licenses = [name.removeprefix(f"{info}/licenses/") for name in sorted(members) if name.startswith(f"{info}/licenses/")]
    metadata = ["Metadata-Version: 2.4", "Name: sagekit", f"Version: {arguments.version}", f"Summary: {SUMMARY}",
                f"License-Expression: {LICENSE}", *(f"License-File: {name}" for name in licenses), "Requires-Python: >=3.8",
                "Classifier: Environment :: Console", "Classifier: Operating System :: POSIX :: Linux",
                "Classifier: Programming Language :: C++", "Classifier: Topic :: Software Development :: Build Tools",
                "Description-Content-Type: text/markdown", "", arguments.readme.read_text(encoding="utf-8")]
    members[f"{info}/METADATA"] = ("\n".join(metadata).encode(), False)
    wheel = ["Wheel-Version: 1.0", f"Generator: sagekit-packages ({arguments.version})", "Root-Is-Purelib: false",
             f"Tag: py3-none-{arguments.tag}", ""]
    members[f"{info}/WHEEL"] = ("\n".join(wheel).encode(), False)
    rows = []
    for name, (content, _) in sorted(members.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    record = f"{info}/RECORD"
    members[record] = ("".join([*rows, f"{record},,\n"]).encode(), False)

    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / f"sagekit-{arguments.version}-py3-none-{arguments.tag}.whl"
    partial = file.with_suffix(".part")
    with zipfile.ZipFile(partial, "w") as archive:
        # dist-info last, as the format asks.
        for name in sorted(members, key=lambda name: (name.startswith(info), name == record, name)):
            content, executable = members[name]
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    partial.replace(file)
    print(file)


main()
