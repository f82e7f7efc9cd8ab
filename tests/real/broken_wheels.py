#!/usr/bin/env python3
"""Wheels that are broken on purpose, one fault each, against sagekit and the tools people use today.

    broken_wheels.py SAGEKIT [--peers DIR] [--only TEXT] [--keep DIR]

SAGEKIT is the program. DIR holds the peers' programs (twine, check-wheel-contents, auditwheel, abi3audit, pydistcheck, wheel,
pip, uv; those that are missing are said). Every wheel is made in memory from a right one, without any packaging library. Each
fault must be named with its code; what breaks a wheel for its users must make `others` fail, what is careless must fail `own`;
right wheels must pass. Exit 1 when one of that does not hold.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from archive_faults import FAULTS, RIGHTS, archive_faults
from text_faults import content_faults, name_faults, rights
from wheel_maker import Wheel, compile_module

PEERS = {
    "twine": ["twine", "check", "{}"],
    "check-wheel-contents": ["check-wheel-contents", "{}"],
    "auditwheel": ["auditwheel", "show", "{}"],
    "abi3audit": ["abi3audit", "--strict", "{}"],
    "pydistcheck": ["pydistcheck", "{}"],
    "wheel unpack": ["wheel", "unpack", "-d", "{out}", "{}"],
    "pip": ["pip", "install", "--no-deps", "--no-index", "--no-compile", "--target", "{out}", "--python-version", "3.12",
            "--implementation", "cp", "--abi", "cp312", "--platform", "manylinux_2_17_x86_64", "--only-binary", ":all:", "{}"],
    "uv": ["uv", "pip", "install", "--no-deps", "--no-index", "--target", "{out}", "--python-version", "3.12",
           "--python-platform", "x86_64-manylinux_2_17", "{}"],
}


def ask_peer(program: pathlib.Path, arguments, wheel: pathlib.Path) -> str:
    with tempfile.TemporaryDirectory() as out:
        command = [str(program)] + [one.replace("{out}", out).replace("{}", str(wheel)) for one in arguments[1:]]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, cwd=out)
        except subprocess.TimeoutExpired:
            return "hung"
    if "Traceback (most recent call last)" in done.stderr + done.stdout:
        return "traceback"
    return "passed" if done.returncode == 0 else "stopped"


def ask_sagekit(program, wheels, policy):
    """path -> (verdict, {code: worst result}, crashed)."""
    answer = {}
    done = subprocess.run([program, "verify", "--json", "--all", "--policy", policy, *map(str, wheels)], capture_output=True,
                          text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    order = {"fail": 3, "warn": 2, "skipped": 1}
    for one in json.loads(done.stdout)["wheels"]:
        codes = {}
        for finding in one["findings"]:
            result = "note" if finding["result"] == "pass" else finding["result"]
            codes.setdefault(finding["code"], []).append((order.get(result, 0), result, finding["message"]))
        answer[one["path"]] = (one["verdict"], {code: max(found) for code, found in codes.items()})
    return answer


def named_in(codes, wanted, results):
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    return any(code.startswith(one) and found[1] in results for code, found in codes.items() for one in wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sagekit")
    parser.add_argument("--peers", type=pathlib.Path)
    parser.add_argument("--peer", action="append", help="only this one; may be given again")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if shutil.which("cc") is None:
        print("skipped: there is no C compiler to make the module with")
        return 0
    archive_faults()
    name_faults()
    content_faults()
    rights()
    work = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="broken wheels "))
    work.mkdir(parents=True, exist_ok=True)
    module = compile_module(work)
    cases = []
    for number, (name, code, weight, change) in enumerate(
            FAULTS + [(f"right: {name}", None, "pass", change) for name, change in RIGHTS]):
        if options.only not in name:
            continue
        wheel = Wheel(module)
        change(wheel)
        folder = work / f"{number:03}"
        folder.mkdir(exist_ok=True)
        path = folder / wheel.name
        path.write_bytes(wheel.build())
        cases.append((name, code, weight, path))

    peers = {}
    for name, arguments in PEERS.items():
        if options.peer and name not in options.peer:
            continue
        program = options.peers / arguments[0] if options.peers else None
        if program and program.exists():
            peers[name] = (program, arguments)
        elif options.peers:
            print(f"not asked: {name} (no {program})")

    paths = [path for *_, path in cases]
    judged = {policy: ask_sagekit(options.sagekit, paths, policy) for policy in ("others", "own", "pypi")}
    wrong, totals = [], {name: {} for name in peers}
    refused = told = 0
    print("\t".join(["fault", "code", "others", "own", "pypi", *peers]))
    for name, code, weight, path in cases:
        verdict, codes = judged["others"][str(path)]
        own_verdict, own_codes = judged["own"][str(path)]
        pypi_verdict, pypi_codes = judged["pypi"][str(path)]
        if code is None:
            failing = [c for c, found in codes.items() if found[1] == "fail"]
            if verdict != "pass":
                wrong.append(f"{name}: refused for {failing}")
            careless = [c for c, found in own_codes.items() if found[1] == "fail" and c not in ("INF103", "TRU002")]
            if careless:
                wrong.append(f"{name}: own refuses it for {careless} ({own_codes[careless[0]][2]})")
        else:
            needed = {"fail": ("fail",), "warn": ("warn",), "note": ("note", "warn")}[weight]
            if not named_in(codes, code, needed) and not (weight == "note" and named_in(own_codes, code, ("fail", "warn", "note"))):
                wrong.append(f"{name}: {code} is not said ({weight}); said: "
                             f"{[(c, f[1]) for c, f in codes.items() if f[1] in ('fail', 'warn')]}")
            if weight == "fail" and verdict != "fail":
                wrong.append(f"{name}: others passes it")
            refused += verdict == "fail"
            told += named_in(own_codes, code, ("fail", "warn", "note"))
        row = [name, str(code), verdict, own_verdict, pypi_verdict]
        for peer, (program, arguments) in peers.items():
            answer = ask_peer(program, arguments, path)
            kind = answer if code is not None else f"right {answer}"
            totals[peer][kind] = totals[peer].get(kind, 0) + 1
            row.append(answer)
        print("\t".join(row), flush=True)
    broken = sum(1 for _, code, *_ in cases if code is not None)
    print(f"\n{broken} broken wheels, {len(cases) - broken} right ones")
    print(f"sagekit: {told} named, {refused} refused by others, "
          f"{sum(1 for n, c, w, p in cases if c and judged['pypi'][str(p)][0] == 'fail')} by pypi")
    for peer, found in totals.items():
        print(f"{peer}: {found}")
    for one in wrong:
        print("WRONG", one)
    if not options.keep:
        shutil.rmtree(work)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
