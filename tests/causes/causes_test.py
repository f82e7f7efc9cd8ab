#!/usr/bin/env python3
"""explain on logs of real failures and on what carriers make of them. logs/index.json names the signature of each log, [] for
a clean one, and under "beside" the codes of what is a cause by itself in it, too: all else that it tells follows from the first.
A third of the names, by hash, is held out: no pattern is tuned to them. Prints both figures.

    SAGEKIT=build/dev/bin/sagekit tests/causes/causes_test.py [--all] [--show] [NAME...]
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import variants

HERE = pathlib.Path(__file__).parent
LOGS = pathlib.Path(os.environ.get("SAGEKIT_CAUSE_LOGS", HERE / "logs"))
BUILDING = ("configure", "compile", "link")
GOAL = 0.95
SAMPLE = 2  # variants of each log, unless --all


def digest(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def held_out(name):
    return digest(name) % 3 == 0


def explain(content):
    done = subprocess.run([os.environ["SAGEKIT"], "explain", "-", "--json"], input=content, capture_output=True, timeout=120)
    if done.returncode not in (0, 4):
        raise SystemExit(f"explain ended {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def cases(words):
    index = json.loads((LOGS / "index.json").read_text())
    for name, row in sorted(index.items()):
        if [w for w in words if not w.startswith("-")] and name not in words:
            continue
        text = (LOGS / name).read_text()
        made = list(variants.of_log(text, row.get("stage") in BUILDING))
        if "--all" not in words:
            made = [made[0]] + [made[1 + (digest(name) + 7 * i) % (len(made) - 1)] for i in range(SAMPLE)]
        for variant, content in made:
            yield name, variant, row, content


def judge(case):
    name, variant, row, content = case
    said, wanted = explain(content), row["signatures"]
    first = said["causes"][0] if said["causes"] else {"signatures": [], "code": "-", "where": {"line": 0, "text": ""}}
    right = not said["causes"] if not wanted else any(one in first["signatures"] for one in wanted)
    beside = sorted(one["code"] for one in said["causes"][1:])
    if variant != "plain" or LOGS != HERE / "logs" or beside == row.get("beside", []):
        beside = None
    return name, variant, wanted, right, first, beside


def main(words):
    totals = {}
    wrong, alone = [], []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, variant, wanted, right, first, beside in pool.map(judge, list(cases(words))):
            key = ("held out" if held_out(name) else "tuned", "top-1" if wanted else "clean")
            good, all_ = totals.get(key, (0, 0))
            totals[key] = good + right, all_ + 1
            if beside is not None:
                alone.append(f"{name}: beside {first['code']} by itself: {beside}")
            if not right:
                wrong.append((name, variant, wanted, first))
    for name, variant, wanted, first in wrong:
        if "--show" in words or not held_out(name):
            print(f"{name} [{variant}]: wanted {wanted}, got {first['code']} {first['signatures']} line {first['where']['line']}: {first['where']['text'][:110]}")
    for line in alone:
        print(line)
    failed = bool(alone)
    for (part, kind), (good, all_) in sorted(totals.items()):
        print(f"{part}, {kind}: {good} of {all_} ({100 * good / all_:.1f} %)")
        failed |= good < all_ if kind == "clean" else good / all_ < GOAL
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
