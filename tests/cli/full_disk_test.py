#!/usr/bin/env python3
"""No room left while a result is written: a sentence and an exit code, and what was there before stays. A limit on the size of
files stands for the disk: it needs no root, and fails in the middle of a write as a disk does."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, CommandLine, Done, has_nvcc
from release_wheels import built
from wheels import Wheel


class FullDisk(CommandLine):
    def with_room(self, limit, *words):
        def narrow():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return Done(subprocess.run([str(SAGEKIT), *map(str, words)], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                   timeout=300, preexec_fn=narrow, restore_signals=False))

    def files(self, folder):
        return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}

    def refused(self, done):
        """One error with its code; never a crash, never silence."""
        self.assertIn(done.code, (1, 3), done.err + done.out)
        self.assertRegex(done.err, r"error\[[A-Z]{3}[0-9]{3}\]")

    def dist(self, count):
        dist = self.folder / "dist"
        for number in range(count):
            Wheel("tiny", f"1.{number}").write(dist)
        return dist

    def test_index(self):
        dist = self.dist(40)
        before = self.files(dist)
        self.refused(self.with_room(4096, "index", dist))
        # No part of an index, which somebody would serve, and no page under another name.
        self.assertFalse((dist / "simple").exists(), list(dist.rglob("simple/**")))
        self.assertEqual({name for name in self.files(dist).keys() - before.keys() if not name.endswith(".metadata")}, set())
        # An index that is there stays as it was where it cannot be written anew.
        self.expect(self.run_sagekit("index", dist), 0)
        whole = self.files(dist / "simple")
        Wheel("tiny", "2.0").write(dist)
        Wheel("another", "1.0").write(dist)
        self.refused(self.with_room(4096, "index", dist))
        self.assertEqual(self.files(dist / "simple"), whole)
        self.expect(self.run_sagekit("index", dist), 0)
        self.assertEqual(len(json.loads((dist / "simple/tiny/index.json").read_text())["files"]), 41)

    def test_index_says_that_it_is_the_disk(self):
        dist = self.dist(1)
        self.expect(self.with_room(16, "index", dist), 3, "FIL002", ".whl.metadata: File too large", "free some space")
        self.assertEqual([path.suffix for path in dist.iterdir()], [".whl"])

    @unittest.skipUnless(has_nvcc(), "needs nvcc")
    def test_build_and_package_say_in_their_document_what_was_not_packaged(self):
        words = ("--plugin-dir", EXAMPLES, "--plugin", "example", "build", "--source", EXAMPLE_SOURCE, "--json", "-o")
        whole = self.run_sagekit(*words, "first")
        self.expect(whole, 0)
        (wheel,) = whole.json()["wheels"]
        (kept,) = (self.folder / "störe/builds").iterdir()
        package = ("--plugin-dir", EXAMPLES, "--plugin", "example", "package", kept, "--json", "-o")
        for verb, out in ((words, "second"), (package, "third")):
            done = self.with_room(100_000, *verb, out)
            self.refused(done)
            self.assertEqual(self.files(self.folder / out).keys() - {".sagekit.lock"}, set())
            document = done.json()
            self.held_to_schema("build", document)
            self.assertEqual(document["wheels"], [])
            (failed,) = document["failed"]
            self.assertEqual((failed["cell"], failed["step"], failed["exit_code"]), (wheel["cell"], "package", done.code))
            self.assertIn(failed["cause"], done.err)

    def test_retag(self):
        wheel = Wheel("tiny", "1.0", "cp312-cp312-linux_x86_64")
        wheel.files["tiny/data.bin"] = os.urandom(200_000)
        path = wheel.write(self.folder / "in")
        self.refused(self.with_room(65536, "retag", "--build", "7", "-o", "out", path))
        self.assertEqual([name for name in self.files(self.folder) if name.startswith("out/")], [])

    def test_release_and_report(self):
        dist = self.folder / "dist"
        for python in ("3.10", "3.11", "3.12", "3.13"):
            built(python=python).write(dist)
        self.run_sagekit("release", dist)
        before = self.files(dist)
        built(python="3.14").write(dist)
        self.refused(self.with_room(2048, "release", dist))
        after = self.files(dist)
        self.assertEqual({name: after[name] for name in before if name != "SHA256SUMS"}, {name: before[name] for name in before if name != "SHA256SUMS"})
        self.assertEqual([name for name in after.keys() - before.keys() if not name.endswith(".whl")], [])
        self.refused(self.with_room(2048, "report", dist / "sagekit.release.json", "-o", dist / "page.html"))
        self.assertFalse((dist / "page.html").exists())


if __name__ == "__main__":
    unittest.main()
