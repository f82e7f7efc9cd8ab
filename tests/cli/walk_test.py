#!/usr/bin/env python3
"""Three users' days, as they type them: walks/*.walk, each command in turn, in one folder, with the mistakes that people make.

A step of a walk is "$ LINE", run by bash; then "! N", the exit code where it is not 0; then what the answer must say, indented, and
"- TEXT" for what it must not. Answers are compared with their white space folded. All steps are run, and every one that differs is told.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, SOURCE_DIR, has_nvcc, real_nvcc
from install_test import DIGITS, make_venv
from newcomer_test import hidden, path_without_nvcc
from provisioning import Provisioning, can_mount

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
import fake_packages  # noqa: E402
from gpu_wheels import gpu_wheel, sage3_wheel  # noqa: E402
from index_server import IndexServer  # noqa: E402
from wheels import Wheel, compiler  # noqa: E402

WALKS = SOURCE_DIR / "tests" / "cli" / "walks"
LEAST = 40  # commands of sagekit in a walk


class Step:
    def __init__(self, line, number):
        self.line, self.number = line, number
        self.code, self.says, self.says_not = 0, [], []


def steps_of(text):
    """The steps of a walk; whatever is none of the four kinds of line, a heading or a remark is a fault of the walk."""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            steps.append(Step(line[2:], number))
        elif line.startswith("! "):
            steps[-1].code = int(line[2:])
        elif line.startswith("  "):
            steps[-1].says.append(folded(line))
        elif line.startswith("- "):
            steps[-1].says_not.append(folded(line[2:]))
        elif line and not line.startswith("#"):
            raise ValueError(f"line {number} is no part of a walk: {line}")
    return steps


def folded(text):
    return " ".join(text.split())


@unittest.skipUnless(compiler(), "no C compiler")
class Walk(Provisioning):
    """A user's folder, and PATH with sagekit first."""

    def environment(self, **more):
        base = super().environment()
        return base | {"PATH": f"{SAGEKIT.parent}{os.pathsep}{base['PATH']}", "SOURCE": str(self.source), "SAGEKIT_PLUGIN_PATH": str(EXAMPLES)} | more

    def setUp(self):
        super().setUp()
        self.source = self.folder / "source"
        shutil.copytree(EXAMPLE_SOURCE, self.source)

    def walk(self, name):
        steps = steps_of((WALKS / f"{name}.walk").read_text())
        self.assertGreaterEqual(sum(len(re.findall(r"\bsagekit ", step.line)) for step in steps), LEAST)
        for step in steps:
            with self.subTest(step=f"{name}.walk:{step.number}: {step.line}"):
                self.take(step)

    def started(self, line):
        return ["bash", "-c", line]

    def take(self, step):
        done = subprocess.run(self.started(step.line), env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        text = done.stdout.decode("utf-8", "replace")
        answer = folded(text)
        self.assertEqual(done.returncode, step.code, text)
        for words in step.says:
            self.assertIn(words, answer, text)
        for words in step.says_not:
            self.assertNotIn(words, answer, text)
        self.assertNotIn("Traceback", text)


class ComfyUi(Walk):
    """Wheels from the web, logs of what failed, an environment with torch."""

    def setUp(self):
        super().setUp()
        downloads = self.folder / "Downloads"
        Wheel("sageattention", "1.0.6").write(downloads)
        for platform in ("linux_x86_64", "win_amd64"):
            sage3_wheel(self.folder / "made", "2.7.0", "12.8", "3.12", platform).write(downloads)
        gpu_wheel(self.folder / "made", DIGITS, project="tiny_kernels", requires=["torch==2.9.*"]).write(self.folder / "fits")
        make_venv(self.folder / "venv")

    def environment(self, **more):
        return super().environment() | {"LOGS": str(SOURCE_DIR / "tests" / "causes" / "logs")} | more

    def test_walk(self):
        self.walk("comfyui")


@unittest.skipUnless(has_nvcc(), "needs nvcc")
class ReleaseEngineer(Walk):
    """A project with cells to build, twenty wheels to publish."""

    def test_walk(self):
        self.walk("release")


@unittest.skipUnless(can_mount() and has_nvcc(), "needs nvcc, root and mount namespaces to hide toolkits")
class LabAdmin(Walk):
    """No CUDA or torch where anybody looks for one; an index that has them, whose nvcc hands its work to a real one."""

    def setUp(self):
        super().setUp()
        self.real, self.moved = real_nvcc().parent.parent, self.folder / "elsewhere"
        self.moved.mkdir()
        (self.moved / "lib64").symlink_to(self.real / "lib64")  # what the index's wheels hold of it, too
        # The same files a second time would be other bytes under one name.
        self.index.close()
        self.index = IndexServer(forms=self.forms)
        self.addCleanup(self.index.close)
        self.index.add_all(fake_packages.nvcc_wheels(proxy=str(self.moved / "bin" / "nvcc")))
        self.index.add_all([fake_packages.torch_wheel()])

    def environment(self, **more):
        return super().environment() | {"PATH": f"{SAGEKIT.parent}{os.pathsep}{path_without_nvcc()}", "PIP_INDEX_URL": self.index.url} | more

    def started(self, line):
        mount = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', str(self.real), str(self.moved)]
        return mount + hidden(super().started(line))

    def test_walk(self):
        self.walk("lab")


if __name__ == "__main__":
    unittest.main()
