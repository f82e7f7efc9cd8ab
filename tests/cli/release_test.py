#!/usr/bin/env python3
"""What a folder of wheels is published as: manifest, checksums, provenance statement, and what is made of them."""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import CommandLine
from release_wheels import COMMIT, built
from wheels import Wheel

class Release(CommandLine):
    def setUp(self):
        super().setUp()
        self.dist = self.folder / "dist"
        self.dist.mkdir()

    def test_manifest_checksums_and_statement(self):
        wheels = [built().write(self.dist), built(python="3.13").write(self.dist / "from another machine")]
        done = self.run_sagekit("release", "dist", "--base-url", "https://example.org/v1", "--time", "2026-11-22T08:00:00Z")
        self.assertIn(done.code, (0, 1), done.err)  # these wheels have no code: what they weigh is verify's business
        manifest = json.loads((self.dist / "sagekit.release.json").read_text())
        self.assertEqual(list(manifest), ["schema", "plugin", "source", "wheels"])
        self.assertEqual((manifest["schema"], manifest["source"]), ("sagekit.release/1", {"url": "https://example.org/tiny.git"}))
        # The plugin that made them is named, although it is not here.
        self.assertEqual((manifest["plugin"]["name"], manifest["plugin"]["sha256"]), ("tiny", ""))
        row = manifest["wheels"][0]
        self.assertEqual(row["file"], wheels[0].name)
        self.assertEqual(row["sha256"], hashlib.sha256(wheels[0].read_bytes()).hexdigest())
        self.assertEqual(row["size_bytes"], wheels[0].stat().st_size)
        self.assertEqual(row["url"], "https://example.org/v1/" + wheels[0].name.replace("+", "%2B"))
        self.assertEqual((row["commit"], row["torch"], row["cuda"], row["python"], row["platform"]), (COMMIT, "2.11.0", "13.0", "3.12", "linux_x86_64"))
        self.assertEqual((row["arches"], row["edits"]), (["9.0a"], ["mend-it"]))
        self.assertEqual(row["uploaded"], "2026-11-22T08:00:00.000000Z")
        self.assertIn(row["verdict"], ("pass", "fail"))
        self.assertEqual({"file", "sha256"} - set(row), set())
        flat = self.folder / "flat"
        flat.mkdir()
        for path in wheels:
            shutil.copy(path, flat)
        shutil.copy(self.dist / "SHA256SUMS", flat)
        self.assertEqual(subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=flat, capture_output=True).returncode, 0)
        statement = json.loads((self.dist / "sagekit.intoto.json").read_text())
        self.assertEqual((statement["_type"], statement["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        self.assertEqual({s["name"]: s["digest"]["sha256"] for s in statement["subject"]}, {r["file"]: r["sha256"] for r in manifest["wheels"]})
        uris = [d.get("uri", d["name"]) for d in statement["predicate"]["buildDefinition"]["resolvedDependencies"]]
        self.assertEqual(uris, [f"git+https://example.org/tiny.git@{COMMIT}", "nvcc 13.0.88", "git+https://example.org/cutlass@" + "f" * 40])

    def test_the_plugin_that_made_them_is_named_not_the_one_that_is_here(self):
        here = json.loads(self.example("plugin", "list", "--json").out)["plugins"][0]
        for made, sha256 in (("0.0.7", ""), (here["version"], here["sha256"])):
            wheel = built(project="sagekit_example")
            said = f"{wheel.dist_info}/sagekit.json"
            wheel.files[said] = wheel.files[said].replace(b'{"name": "sagekit_example", "version": "1"}', json.dumps({"name": "example", "version": made}).encode())
            wheel.write(self.folder / made)
            self.example("release", made)
            manifest = json.loads((self.folder / made / "sagekit.release.json").read_text())
            self.assertEqual(manifest["plugin"], {"name": "example", "version": made, "sha256": sha256})

    def test_a_torch_that_only_metadata_pins_is_said(self):
        for version, line in (("0.30", "torch==2.7.0"), ("0.35+cu128torch2.10.0", "torch>=2.10"), ("0.36+cu128torch2.10.0", "torch==2.7.0")):
            wheel = Wheel("tiny", version, "cp312-cp312-win_amd64")
            wheel.metadata = wheel.metadata.replace("Summary:", f"Requires-Dist: {line}\nSummary:")
            wheel.write(self.dist)
        self.run_sagekit("release", "dist")
        rows = json.loads((self.dist / "sagekit.release.json").read_text())["wheels"]
        self.assertEqual([row["torch"] for row in rows], ["2.7.0", "2.10.0", "2.7.0"])
        # A name that contradicts the pin is said, although no module of the wheel is linked with torch.
        found = [one["message"] for one in rows[2]["findings"] if one["code"] == "INF101"]
        self.assertEqual(found, ['"torch==2.7.0" excludes torch 2.10.0, which its name says'])
        self.run_sagekit("report", "dist")
        self.assertEqual(re.findall(r'"torch":"([^"]*)"', (self.dist / "report.html").read_text()), ["2.7.0", "2.10.0", "2.7.0"])

    def test_same_bytes_and_kept_addresses(self):
        built().write(self.dist)
        self.run_sagekit("release", "dist", "--base-url", "https://example.org/v1/", "--time", "2026-11-22T08:00:00Z")
        names = ("sagekit.release.json", "SHA256SUMS", "sagekit.intoto.json")
        first = [(self.dist / name).read_bytes() for name in names]
        other = self.folder / "elsewhere"
        shutil.copytree(self.dist, other)
        for path in other.iterdir():
            path.touch()
        self.run_sagekit("release", other)
        self.assertEqual([(other / name).read_bytes() for name in names], first)
        # A wheel that comes later gets its own time; the first keeps its.
        built(python="3.13").write(self.dist)
        self.run_sagekit("release", "dist", "--time", "2026-12-01T00:00:00Z")
        rows = json.loads((self.dist / "sagekit.release.json").read_text())["wheels"]
        self.assertEqual([row["uploaded"][:10] for row in rows], ["2026-11-22", "2026-12-01"])

    def test_notes_name_each_source_with_its_commits(self):
        other = built(python="3.13", commit="b" * 40)
        said = f"{other.dist_info}/sagekit.json"
        other.files[said] = other.files[said].replace(b"example.org/tiny.git", b"example.org/fork.git")
        built().write(self.dist), other.write(self.dist)
        self.run_sagekit("release", "dist")
        lines = [line for line in (self.dist / "NOTES.md").read_text().splitlines() if line.startswith("- source ")]
        self.assertEqual(lines, [f"- source https://example.org/fork.git at {'b' * 40}", f"- source https://example.org/tiny.git at {COMMIT}"])

    def test_notes_promise_nothing_that_nobody_says(self):
        for version, tag, line in (("0.1", "py39-none-linux_x86_64", "torch>=2.10"), ("0.2", "cp312-cp312-linux_x86_64", "numpy"), ("0.3", "py3-none-any", "numpy"),
                                   ("0.4+cu128", "cp312-cp312-linux_x86_64", "torch==2.8.0")):
            wheel = Wheel("tiny", version, tag)
            wheel.metadata = wheel.metadata.replace("Summary:", f"Requires-Dist: {line}\nSummary:")
            wheel.write(self.dist)
        own = built(cuda="13.0", python="3.13")  # its record says all: there is no torch
        said = f"{own.dist_info}/sagekit.json"
        own.files[said] = own.files[said].replace(b'"torch": "2.11.0"', b'"torch": ""')
        own.write(self.dist)
        self.run_sagekit("release", "dist")
        rows = {line.split("/tiny-")[1].split("-")[0]: line.split(" | ")[:2] for line in (self.dist / "NOTES.md").read_text().splitlines() if "pip install" in line}
        self.assertEqual(rows, {"0.1": ["| \\>=2.10", "not said"], "0.2": ["| not said", "not said"], "0.3": ["| any", "any"], "0.4+cu128": ["| 2.8.0", "12.8"],
                                "1.0+cu130.torch2.11": ["| any", "13.0"]})
        # Those that are written again, of the manifest, say the same.
        again = json.loads((self.dist / "sagekit.release.json").read_text())["wheels"]
        self.assertEqual([row.get("requires_torch") for row in again], [">=2.10", None, None, None, None])

    def test_notes_have_versions_in_the_order_of_versions(self):
        for python in ("3.13", "3.9", "3.10"):
            built(python=python).write(self.dist)
        self.run_sagekit("release", "dist")
        rows = [line.split(" | ")[2] for line in (self.dist / "NOTES.md").read_text().splitlines() if "pip install" in line]
        self.assertEqual(rows, ["3.9", "3.10", "3.13"])

    def test_refusals(self):
        self.expect(self.run_sagekit("release", "dist"), 4, "REL016")
        built().write(self.dist)
        built(project="other").write(self.dist)
        self.expect(self.run_sagekit("release", "dist"), 2, "REL023")
        self.assertFalse((self.dist / "sagekit.release.json").exists())
        for time in ("now", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00"):
            self.expect(self.run_sagekit("release", "dist", "--time", time), 2, "CLI002")
        for url in ("ftp://h/x", "https://h/x?y=1", "https://me:very-secret@h/x/"):
            for verb in ("release", "index"):
                done = self.run_sagekit(verb, "dist", "--base-url", url)
                self.expect(done, 2, "REL019")
                self.assertNotIn("very-secret", done.err + done.out)
        self.expect(self.run_sagekit("release", "nowhere"), 2, "FIL001")
        (self.dist / ".sagekit.lock").mkdir()  # nothing can be written, by root either
        self.expect(self.run_sagekit("release", "dist"), 2, "FIL002", "--naming SCHEME -o DIR")

    def test_an_address_is_written_as_addresses_are(self):
        wheel = built().write(self.dist)
        for typed, written in (("http://host/Räder dist/", "http://host/R%C3%A4der%20dist/"), ("https://[::1]:8080/a%20b/100%/x+y", "https://[::1]:8080/a%20b/100%25/x+y/"),
                               ("https://host", "https://host/"), ('https://host/"<w>"', "https://host/%22%3Cw%3E%22/")):
            address = written + wheel.name.replace("+", "%2B")
            self.expect(self.run_sagekit("release", "dist", "--base-url", typed), 0)
            self.assertEqual(json.loads((self.dist / "sagekit.release.json").read_text())["wheels"][0]["url"], address)
            self.expect(self.run_sagekit("index", "dist", "--base-url", typed), 0)
            (page,) = (self.dist / "simple").glob("*/index.json")
            self.assertEqual([file["url"] for file in json.loads(page.read_text())["files"]], [address])

    def test_manifest_notices_a_changed_wheel(self):
        wheel = built().write(self.dist)
        self.run_sagekit("release", "dist")
        wheel.write_bytes(built(answer=43).write(self.folder).read_bytes())
        for verb in ("index", "release"):
            self.expect(self.run_sagekit(verb, "dist"), 1, "REL013", "delete dist/sagekit.release.json and make it again")
        self.assertEqual(list(self.dist.glob("*.metadata")), [])  # "nothing was written"
        self.expect(self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", "--dry-run"), 2, "REL013", "PUB001", "mend what is said")
        (self.dist / "sagekit.release.json").unlink()
        self.run_sagekit("release", "dist")
        self.expect(self.run_sagekit("index", "dist"), 0)

    def test_a_cut_manifest_is_made_anew_by_who_deletes_it(self):
        wheel = built().write(self.dist)
        self.expect(self.run_sagekit("release", "dist"), 0)
        manifest = self.dist / "sagekit.release.json"
        cut = manifest.read_text()[:200]
        manifest.write_text(cut)
        wheel.write_bytes(built(answer=43).write(self.folder).read_bytes())  # nothing else knows that it is another one
        for words in (("release", "dist"), ("index", "dist"), ("report", "dist")):
            done = self.run_sagekit(*words)
            self.expect(done, 1, "REL015", "get it again from where it is published", "delete it and make it again: sagekit release DIR")
            self.assertNotIn("makes a manifest anew", done.err)
            self.assertEqual(manifest.read_text(), cut)
        manifest.unlink()
        self.expect(self.run_sagekit("release", "dist"), 0)
        self.expect(self.run_sagekit("index", "dist"), 0)

    def test_index_of_a_manifest_alone(self):
        wheel = built().write(self.dist)
        self.run_sagekit("release", "dist", "--base-url", "https://example.org/v1/")
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy(self.dist / "sagekit.release.json", alone)
        self.expect(self.run_sagekit("index", alone / "sagekit.release.json", "-o", self.folder / "site"), 0)
        row = json.loads((self.folder / "site/tiny/index.json").read_text())["files"][0]
        self.assertEqual(row["url"], "https://example.org/v1/" + wheel.name.replace("+", "%2B"))
        self.assertEqual(row["requires-python"], ">=3.9")
        self.assertNotIn("core-metadata", row)
        # uv refuses a whole page for one time that there is not.
        manifest = json.loads((alone / "sagekit.release.json").read_text())
        manifest["wheels"][0]["uploaded"] = "2026-99-99T00:00:00.000000Z"
        (alone / "sagekit.release.json").write_text(json.dumps(manifest))
        self.expect(self.run_sagekit("index", alone / "sagekit.release.json"), 1, "REL015", "no time in UTC")
        (alone / "sagekit.release.json").write_text("{}")
        self.expect(self.run_sagekit("index", alone / "sagekit.release.json"), 1, "REL015")


if __name__ == "__main__":
    unittest.main()
