#!/usr/bin/env python3
"""The licences of all that a portable build links in: licenses.py BUILD --third-party FOLDER [--sysroot FOLDER] --compiler g++ -o OUT

Which archives those are is read out of the build's own link lines; each is asked of dpkg. Headers without an archive are listed
here. Writes OUT/LICENSE (sagekit's own), OUT/licenses/PACKAGE and, for texts that those only name, OUT/licenses/common.
"""
import argparse
import pathlib
import re
import shutil
import subprocess

# Compiled in from headers alone.
HEADERS = ("/usr/include/fmt/core.h", "/usr/include/spdlog/spdlog.h", "/usr/include/CLI/CLI.hpp", "/usr/include/nlohmann/json.hpp",
           "/usr/include/toml.hpp", "/usr/include/boost/dll.hpp")
THIRD_PARTY = {"libcurl.a": "curl", "libzip.a": "libzip", "libmicrohttpd.a": "libmicrohttpd",
               "libre2.a": "re2", "libbz2.a": "bzip2"}
COMMON = pathlib.Path("/usr/share/common-licenses")


def sysroot_owner(file, sysroot):
    """The package whose copyright lies in the sysroot: the file's, by the list that was written when it was unpacked."""
    name = "./" + str(pathlib.Path(file).relative_to(sysroot))
    for line in (sysroot / "owners").read_text().splitlines():
        path, package = line.rsplit(" ", 1)
        if path in (name, name[1:]):
            return package
    raise SystemExit(f"no package of the sysroot has {file}")


def owner(file):
    out = subprocess.run(["dpkg", "-S", file], check=True, capture_output=True, text=True).stdout
    return out.splitlines()[0].split(":")[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--third-party", type=pathlib.Path, required=True)
    parser.add_argument("--sysroot", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    text = (arguments.build / "build.ninja").read_text()
    archives = sorted(set(re.findall(r"(?<![\w/.])(/\S+\.a)(?=[\s:|]|$)", text, re.M)))
    assert archives, "no archive is linked?"
    shutil.rmtree(arguments.out, ignore_errors=True)
    folder = arguments.out / "licenses"
    folder.mkdir(parents=True)
    texts = {}
    packages = set()
    for archive in map(pathlib.Path, archives):
        if arguments.third_party.resolve() in archive.resolve().parents:
            package = THIRD_PARTY[archive.name]
            texts[package] = (arguments.third_party / "copyright" / package).read_text()
        elif arguments.sysroot and arguments.sysroot.resolve() in archive.resolve().parents:
            package = sysroot_owner(archive.resolve(), arguments.sysroot.resolve())
            texts[package] = (arguments.sysroot / "usr/share/doc" / package / "copyright").read_text()
        elif arguments.build.resolve() not in archive.resolve().parents:
            packages.add(owner(archive))
    packages |= {owner(header) for header in HEADERS}
    for package in sorted(packages):
        texts[package] = pathlib.Path("/usr/share/doc", package, "copyright").read_text()
    # Debian keeps the runtime's under the compiler's base: libstdc++ and what libgcc gives to every program.
    runtime = subprocess.run([arguments.compiler, "-dumpversion"], check=True, capture_output=True, text=True).stdout.strip()
    texts["libstdc++"] = pathlib.Path(f"/usr/share/doc/gcc-{runtime}-base/copyright").read_text()
    written = set()
    for package, content in sorted(texts.items()):
        if content not in written:  # packages of one source share theirs
            (folder / package).write_text(content)
            written.add(content)
    named = set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])", "".join(texts.values())))
    for name in sorted(named):
        if (COMMON / name).is_file():
            (folder / "common").mkdir(exist_ok=True)
            shutil.copyfile((COMMON / name).resolve(), folder / "common" / name)
    shutil.copyfile(arguments.source / "LICENSE", arguments.out / "LICENSE")
    print(f"{len(texts)} licences: {' '.join(sorted(texts))}")


main()
