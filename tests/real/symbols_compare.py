#!/usr/bin/env python3
"""Compares what sagekit reads and judges in the modules of real wheels with readelf, nm, auditwheel and abi3audit.

    symbols_compare.py --sagekit build/dev/bin/sagekit [--auditwheel PATH] [--abi3audit PATH] WHEEL...

Of each ELF member: needed libraries, SONAME, run paths, highest symbol versions, build id, interpreter, RELRO, executable stack and the numbers
of exported and undefined symbols equal those of readelf and nm. Of each wheel, where the tools are given: the manylinux tag that the symbols
allow equals auditwheel's, and what the stable ABI lacks equals abi3audit's. auditwheel also counts libraries of the machine it runs on; where
it names a version that no member wants, the difference is explained so. Exit status: 1 when a difference has no explanation.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

FAMILIES = ("GLIBC", "GLIBCXX", "CXXABI", "GCC", "LIBATOMIC", "ZLIB")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def number(version):
    return tuple(int(part) for part in version.split("."))


def highest(versions):
    """{"GLIBC": "2.17"} of ["libc.so.6:GLIBC_2.17", ...]; names that are no numbers are left out."""
    top = {}
    for one in versions:
        family, _, version = one.rpartition("_")
        if not re.fullmatch(r"\d+(\.\d+)*", version):
            continue
        if family not in top or number(top[family]) < number(version):
            top[family] = version
    return top


def names_of(path, *options):
    lines = run("nm", "-D", *options, path).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()}


def readelf_facts(path):
    dynamic = run("readelf", "-dW", path).stdout
    segments = run("readelf", "-lW", path).stdout
    notes = run("readelf", "-nW", path).stdout
    wanted = set()
    in_needs = False
    for line in run("readelf", "-VW", path).stdout.splitlines():
        if line.startswith("Version needs"):
            in_needs = True
        elif line and not line.startswith(" "):
            in_needs = False
        found = re.search(r"Name: (\S+)\s+Flags", line)
        if in_needs and found:
            wanted.add(found[1])
    paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
    stack = re.search(r"GNU_STACK.*", segments)
    build_id = re.search(r"Build ID: (\w+)", notes)
    interpreter = re.search(r"Requesting program interpreter: (.*)\]", segments)
    now = "BIND_NOW" in dynamic or re.search(r"Flags:.*\bNOW\b", dynamic)
    return {
        "needed": sorted(set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))),
        "soname": "".join(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)[:1]),
        "run_paths": [part for path in paths for part in path.split(":")],
        "versions": highest(wanted),
        "build_id": build_id[1] if build_id else "",
        "interpreter": interpreter[1] if interpreter else "",
        "relro": "none" if "GNU_RELRO" not in segments else "full" if now else "partial",
        "executable_stack": bool(re.search(r"\bR?W?E\b", stack[0].split("0x")[-2].split(" ", 1)[1])) if stack else None,
        "exports": len(names_of(path, "--defined-only")),
        "undefined": len(names_of(path, "--undefined-only")),
    }


class Comparison:
    def __init__(self):
        self.members = self.wheels = self.facts = self.tags = self.stable = 0
        self.explained, self.different = [], []

    def same(self, place, what, ours, theirs):
        self.facts += 1
        if ours != theirs:
            self.different.append(f"{place}: {what}: sagekit {ours}, they {theirs}")

    def member(self, wheel, path, elf, content):
        self.members += 1
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(content)
            file.flush()
            theirs = readelf_facts(file.name)
        for key, value in theirs.items():
            if value is not None:
                self.same(f"{wheel}:{path}", key, elf[key], value)

    def tag(self, wheel, report, shown, wanted, own):
        """LBC005 against auditwheel's sym_tag."""
        said = [f["message"] for f in report["findings"] if f["code"] == "LBC005"]
        found = re.search(r"(manylinux_\w+):", said[0]) if said else None
        if not found:
            if said:
                self.explained.append(f"{wheel}: {said[0]}; auditwheel says {shown['sym_tag']}")
            return
        self.tags += 1
        if found[1] == shown["sym_tag"]:
            return
        inside, foreign = set(), set()
        for library, versions in shown["versioned_symbols"].items():
            counted = {v for v in versions if v.split("_")[0] in FAMILIES}
            (inside if library in own else foreign).update(counted if library in own else counted - wanted)
        text = f"{wheel}: tag by symbols: sagekit {found[1]}, auditwheel {shown['sym_tag']}"
        if foreign:
            self.explained.append(f"{text}, because of {', '.join(sorted(foreign))} of a library of this machine")
        elif inside:
            self.explained.append(f"{text}, because of {', '.join(sorted(inside))} of a library that lies in the wheel")
        else:
            self.different.append(text)

    def stable_abi(self, wheel, report, audited):
        """PYA003 and PYA004 against abi3audit, by file name."""
        ours = {"PYA003": set(), "PYA004": set()}
        for finding in report["findings"]:
            if finding["code"] in ours and finding["result"] in ("fail", "warn"):
                ours[finding["code"]].add(os.path.basename(finding["where"]))
        for one in audited:
            self.stable += 1
            name, result = one["name"], one["result"]
            self.same(f"{wheel}:{name}", "outside the stable ABI", name in ours["PYA003"], bool(result["non_abi3_symbols"]))
            newer = bool(result["future_abi3_objects"])
            if (name in ours["PYA004"]) != newer:
                self.different.append(f"{wheel}:{name}: newer than the tag: {name in ours['PYA004']} and {newer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sagekit", required=True)
    parser.add_argument("--auditwheel")
    parser.add_argument("--abi3audit")
    parser.add_argument("wheels", nargs="+")
    args = parser.parse_args()
    comparison = Comparison()
    for wheel in args.wheels:
        name = os.path.basename(wheel)
        inspected = json.loads(run(args.sagekit, "inspect", "--json", wheel).stdout)
        members = [m for m in inspected["files"][0]["members"] if "elf" in m]
        verified = run(args.sagekit, "verify", "--json", "--all", "--policy", "others", wheel).stdout
        report = json.loads(verified)["wheels"][0] if verified.startswith("{") else {"findings": []}
        comparison.wheels += 1
        wanted = set()
        with zipfile.ZipFile(wheel) as archive:
            for member in members:
                content = archive.read(member["path"])
                comparison.member(name, member["path"], member["elf"], content)
                wanted |= {v for v in re.findall(rb"(?:%s)_[\w.]+" % "|".join(FAMILIES).encode(), content)}
        wanted = {v.decode() for v in wanted}
        if args.auditwheel and members:
            shown = run(args.auditwheel, "show", "--json", wheel)
            if shown.returncode == 0:
                own = {os.path.basename(member["path"]) for member in members}
                comparison.tag(name, report, json.loads(shown.stdout), wanted, own)
            else:
                comparison.explained.append(f"{name}: auditwheel refuses it: {shown.stderr.strip().splitlines()[-1]}")
        if args.abi3audit and "-abi3-" in name:
            audited = run(args.abi3audit, "--report", wheel).stdout
            found = audited[audited.find("{"):] if "{" in audited else ""
            if found:
                specs = json.loads(found)["specs"]
                comparison.stable_abi(name, report, [r for spec in specs.values() for r in spec["wheel"]])
    for line in comparison.explained:
        print("explained:", line)
    for line in comparison.different:
        print("DIFFERENT:", line)
    print(f"{comparison.wheels} wheels, {comparison.members} ELF modules, {comparison.facts} facts equal but for {len(comparison.different)};"
          f" {comparison.tags} tags, {comparison.stable} stable-ABI modules, {len(comparison.explained)} differences explained")
    return 1 if comparison.different else 0


if __name__ == "__main__":
    sys.exit(main())
