#!/usr/bin/env python3
"""Real wheels published as a release, one platform after the other, by the real gh against a GitHub on 127.0.0.1.

    github_release.py SAGEKIT TAG FOLDER... [--naming SCHEME] [--plugin NAME]

Each FOLDER holds one platform's wheels; without --naming its manifest is written there. Shows the commands as docs/publishing.md has them, what gh was told, the names and the
notes; fails when a file that arrived is not the one that was sent, `sha256sum -c` does not agree, the notes miss a wheel, or
a second run uploads anything."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from github_server import TOKEN, GithubServer  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("sagekit")
parser.add_argument("tag")
parser.add_argument("folders", nargs="+", type=pathlib.Path)
parser.add_argument("--naming")
parser.add_argument("--plugin")
asked = parser.parse_args()
plugin = ["--plugin", asked.plugin] if asked.plugin else []


def run(words, **options):
    print("$", " ".join(str(word) for word in words), flush=True)
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    print(done.stdout, flush=True)
    assert done.returncode == 0, done.returncode
    assert TOKEN not in done.stdout
    return done.stdout


run(["gh", "--version"])
with tempfile.TemporaryDirectory() as name, GithubServer(name) as github:
    work, sent = pathlib.Path(name), {}
    environment = os.environ | github.environment
    for number, folder in enumerate(asked.folders):
        release = work / f"release{number}" if asked.naming else folder
        named = ["--naming", asked.naming, "-o", release] if asked.naming else []
        run([asked.sagekit, *plugin, "release", folder, *named])
        publish = [asked.sagekit, *plugin, "publish", "github", release, "--repo", "o/r", "--tag", asked.tag]
        run(publish, env=environment)
        here = {path.name: path.read_bytes() for path in release.glob("*.whl")}
        sent |= here
        assert f"0 wheels uploaded, {len(here)} there already" in run(publish, env=environment)
    there, notes = github.assets(asked.tag), github.releases[asked.tag]["body"]
    assert {name: content for name, content in there.items() if name.endswith(".whl")} == sent
    arrived = work / "arrived"
    arrived.mkdir()
    for name, content in there.items():
        (arrived / name).write_bytes(content)
    run(["sha256sum", "-c", "SHA256SUMS"], cwd=arrived)
    rows = json.loads(there["sagekit.release.json"])["wheels"]
    assert [row["file"] for row in rows] == sorted(sent) and {row["verdict"] for row in rows} == {"pass"}
    for row in rows:
        assert f"{row['url']}#sha256={row['sha256']}" in notes, row["file"]
    print(notes)
    print(f"wheels: {len(sent)}, {sum(map(len, sent.values())) / 1e6:.1f} MB:", *sorted(sent), sep="\n  ")
