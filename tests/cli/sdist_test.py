#!/usr/bin/env python3
"""`generate sdist`, and the PEP 517 hooks that a frontend would call on it: the backend's own code over the real binary."""
import email
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import unittest
import zipfile

from harness import EXAMPLE_SOURCE, SAGEKIT, SOURCE_DIR, CommandLine, Done, has_nvcc

# What pyproject_hooks does: one hook, in a process of its own, in the unpacked folder.
CALL = "import json, sys, sagekit.build_backend as b; print('RESULT', getattr(b, sys.argv[1])(*json.loads(sys.argv[2])))"


class Sdist(CommandLine):
    def setUp(self):
        super().setUp()
        done = self.example("generate", "sdist", "--source", EXAMPLE_SOURCE, "-o", "dist")
        self.expect(done, 0, "its source is built as it is")
        self.file = self.folder / "dist" / "sagekit_example-1.0.0.tar.gz"
        self.assertEqual(done.out, "dist/sagekit_example-1.0.0.tar.gz\n")
        with tarfile.open(self.file) as archive:
            archive.extractall(self.folder / "unpacked")
        self.tree = self.folder / "unpacked" / "sagekit_example-1.0.0"

    def hook(self, name, *arguments, **more):
        environment = self.environment(PYTHONPATH=str(SOURCE_DIR / "host" / "python"), **more)
        environment["PATH"] = f"{SAGEKIT.parent}:{environment['PATH']}"
        return Done(subprocess.run([sys.executable, "-c", CALL, name, json.dumps(arguments)], cwd=self.tree, env=environment,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=300))

    def result(self, done):
        self.assertEqual(done.code, 0, done.err)
        return [line for line in done.out.splitlines() if line.startswith("RESULT ")][0].removeprefix("RESULT ")

    def test_what_is_in_it(self):
        names = {path.relative_to(self.tree).as_posix() for path in self.tree.rglob("*") if path.is_file()}
        self.assertLessEqual({"PKG-INFO", "pyproject.toml", "sagekit.json", "source/csrc/scaled_add.cu",
                              "plugin/sagekit-example.so"}, names)
        self.held_to_schema("sdist", json.loads((self.tree / "sagekit.json").read_text()))
        project = (self.tree / "pyproject.toml").read_text()
        self.assertIn('build-backend = "sagekit.build_backend"', project)
        self.assertRegex(project, r'requires = \["sagekit>=[0-9.]+"\]')
        self.assertIn("# Made by: sagekit --plugin example generate sdist", project)
        info = email.message_from_string((self.tree / "PKG-INFO").read_text())
        self.assertEqual((info["Name"], info["Version"]), ("sagekit-example", "1.0.0"))

    def test_again_it_is_the_same_and_another_file_stays(self):
        first = hashlib.sha256(self.file.read_bytes()).hexdigest()
        again = self.example("generate", "sdist", "--source", EXAMPLE_SOURCE, "-o", "dist", "--json")
        self.expect(again, 0)
        self.assertEqual((again.json()["sha256"], again.json()["unchanged"]), (first, True))
        self.held_to_schema("sdist-made", again.json())
        self.file.write_text("mine")
        self.expect(self.example("generate", "sdist", "--source", EXAMPLE_SOURCE, "-o", "dist"), 1, "PKG001")
        self.assertEqual(self.file.read_text(), "mine")

    def test_bad_words(self):
        self.expect(self.example("generate", "sdist", "--source", "nowhere"), 2, "SRC006")
        self.expect(self.example("generate", "sdist", "--source", EXAMPLE_SOURCE, "--vendored", "x"), 2, "CLI006")
        self.expect(self.example("generate", "sdist", "--base", "debian"), 2, "CLI001")
        self.expect(self.example("generate", "sdist", "--check"), 2, "CLI001")
        for flag in (("--arch", "9.0"), ("--profile", "all"), ("--python", "3.12"), ("--naming", "plain")):
            self.expect(self.example("generate", "sdist", "--source", EXAMPLE_SOURCE, *flag), 2, "CLI001", f"makes nothing of {flag[0]}", "-C arch=")
        self.expect(self.example("generate", "bake", "--vendored", "a=b"), 2, "CLI001")

    def test_metadata_without_a_compiler(self):
        self.assertEqual(self.result(self.hook("get_requires_for_build_wheel", {})), "[]")
        out = self.folder / "metadata"
        name = self.result(self.hook("prepare_metadata_for_build_wheel", str(out), {"arch": "9.0"}))
        metadata = email.message_from_string((out / name / "METADATA").read_text())
        self.assertEqual((metadata["Name"], metadata["Version"]), ("sagekit-example", "1.0.0"))
        self.assertIsNone(metadata["Dynamic"])
        name = self.result(self.hook("prepare_metadata_for_build_wheel", str(out), {"arch": "9.0", "naming": "cuda", "cuda": "12.8"}))
        self.assertEqual(name, "sagekit_example-1.0.0+cu128.dist-info")

    def test_an_sdist_of_the_sdist(self):
        out = self.folder / "again"
        out.mkdir()
        self.result(self.hook("build_sdist", str(out), {}))
        with tarfile.open(self.file) as one, tarfile.open(out / self.file.name) as two:
            members = [[(m.name, m.mode, m.mtime, archive.extractfile(m).read()) for m in archive] for archive in (one, two)]
        self.assertEqual(sorted(members[0]), sorted(members[1]))

    def test_what_the_backend_refuses(self):
        done = self.hook("build_wheel", str(self.folder), {"archs": "9.0"})
        self.assertEqual(done.code, 1)
        self.assertIn("config-setting archs is not known; there are profile, arch,", done.err)
        self.assertNotIn("Traceback", done.err)
        done = self.hook("build_wheel", str(self.folder), {"arch": "3.5"})
        self.assertEqual(done.code, 1)
        self.assertIn("3.5", done.err)
        (self.tree / "source" / "csrc" / "scaled_add.cu").write_text("changed")
        done = self.hook("build_wheel", str(self.folder / "w"), {"arch": "9.0"})
        self.assertEqual(done.code, 1)
        self.assertIn("SRC003", done.err)

    def test_a_target_folder_that_pip_left_incomplete_is_said(self):
        shutil.copytree(SOURCE_DIR / "host/python/sagekit", self.folder / "target/sagekit")
        (self.folder / "target/bin").mkdir()
        (self.folder / "target/bin/sagekit").symlink_to("/bin/true")
        run = [sys.executable, "-m", "sagekit", "--version"]
        done = subprocess.run(run, env=self.environment(PYTHONPATH=str(self.folder / "target")), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("pip install --target, which leaves out the library", done.stderr)
        (self.folder / "target/lib").mkdir()
        self.assertEqual(subprocess.run(run, env=self.environment(PYTHONPATH=str(self.folder / "target")), cwd=self.folder).returncode, 0)

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
    def test_a_wheel(self):
        out = self.folder / "wheels"
        name = self.result(self.hook("build_wheel", str(out), {"arch": "9.0"}))
        self.assertEqual(name, "sagekit_example-1.0.0-py3-none-linux_x86_64.whl")
        with zipfile.ZipFile(out / name) as wheel:
            metadata = email.message_from_bytes(wheel.read("sagekit_example-1.0.0.dist-info/METADATA"))
        self.assertEqual(metadata["Version"], "1.0.0")
        self.expect(self.run_sagekit("verify", out / name), 0)
        # The same as sagekit by itself makes.
        direct = self.example("build", "--source", EXAMPLE_SOURCE, "--arch", "9.0", "--naming", "plain", "-o", "direct", "--json")
        self.expect(direct, 0)
        self.assertEqual(direct.json()["wheels"][0]["sha256"], hashlib.sha256((out / name).read_bytes()).hexdigest())


if __name__ == "__main__":
    unittest.main()
