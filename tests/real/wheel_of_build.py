#!/usr/bin/env python3
"""A wheel of a build tree, for the Debian that it was built on: wheel_of_build.py BUILD OUT. It stands in for sagekit's own wheel,
so that containers can be tried before that one is made. Prints its path."""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile


def main(build, out):
    source = pathlib.Path(__file__).resolve().parents[2]
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (source / "CMakeLists.txt").read_text())[1]
    tag = "py3-none-linux_x86_64"
    data = f"sagekit-{version}.data"
    files = {f"{data}/scripts/sagekit": (build / "bin" / "sagekit").read_bytes(),
             f"{data}/data/lib/libsagekit.so.0": (build / "lib" / "libsagekit.so.0").read_bytes()}
    for plugin in sorted((build / "lib" / "sagekit" / "plugins").glob("*.so")):
        files[f"{data}/data/lib/sagekit/plugins/{plugin.name}"] = plugin.read_bytes()
    info = f"sagekit-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: sagekit\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: wheel_of_build\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
    record = "".join(f"{name},sha256={digest(text)},{len(text)}\n" for name, text in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    path = out / f"sagekit-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name, text in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, text)
    print(path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
