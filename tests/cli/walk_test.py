#!/usr/bin/env python3
"""Three users' days, as they type them: walks/*.walk, each command in turn, in one folder, with the mistakes that people make.

A step of a walk is "$ LINE", run by bash; then "! N", the exit code where it is not 0; then what the answer must say, indented, and
"- TEXT" for what it must not. Answers are compared with their white space folded. All steps are run, and every one that differs is told.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, SOURCE_DIR
from install_test import DIGITS, make_venv
from provisioning import Provisioning

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from gpu_wheels import gpu_wheel, sage3_wheel  # noqa: E402
from wheels import MACHINE, Wheel, compiler  # noqa: E402

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
        return base | {"PATH": f"{SAGEKIT.parent}{os.pathsep}{base['PATH']}", "INDEX": self.index.url, "REDIST": f"{self.index.base}/redist",
                       "EXAMPLES": str(EXAMPLES), "SOURCE": str(self.source), "PYTHON": sys.executable, "SAGEKIT_PLUGIN_PATH": str(EXAMPLES)} | more

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

    def take(self, step):
        done = subprocess.run(["bash", "-c", step.line], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL,
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


class ReleaseEngineer(Walk):
    """A project with cells to build, twenty wheels to publish."""

    def test_walk(self):
        self.walk("release")


class LabAdmin(Walk):
    """Nothing of CUDA or torch here; an index that has them."""

    def test_walk(self):
        self.walk("lab")


if __name__ == "__main__":
    unittest.main()
