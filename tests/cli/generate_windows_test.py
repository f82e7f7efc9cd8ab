#!/usr/bin/env python3
"""What the workflow for Windows runs there, run here: the exported script builds a small repository through setuptools, and the Linux
jobs name, judge and keep what came out."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import CommandLine

def makes_wheels():
    """setuptools has bdist_wheel since 70.1; before, the package wheel brings it."""
    try:
        return any(importlib.util.find_spec(name) for name in ("setuptools.command.bdist_wheel", "wheel"))
    except ModuleNotFoundError:
        return False


PYTHON = "{}.{}".format(*sys.version_info)
SETUP = 'import os\nfrom setuptools import setup\nsetup(name="tiny", version="1.0", packages=["tiny"], description=os.environ["TORCH_CUDA_ARCH_LIST"])\n'


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.org", *words], check=True, capture_output=True, text=True).stdout.strip()


class Exported(CommandLine):
    """The script of sage2, which has Windows cells, with the recipe of a repository that is here."""

    def setUp(self):
        super().setUp()
        self.expect(self.run_sagekit("--plugin", "sage2", "generate", "github"), 0)
        self.script = self.folder / ".github" / "sagekit-sage2" / "build_wheel.py"

    def recipe(self):
        line = next(line for line in self.script.read_text().splitlines() if line.startswith("RECIPE = "))
        names = {}
        exec("import json\n" + line, names)
        return names["RECIPE"]

    def run_script(self, *words):
        return subprocess.run([sys.executable, self.script, *map(str, words)], cwd=self.folder, capture_output=True, text=True)

    def repository(self):
        """A pinned tree in which an edit is due."""
        folder = self.folder / "repository"
        (folder / "sub" / "tiny").mkdir(parents=True)
        (folder / "sub" / "setup.py").write_text(SETUP)
        (folder / "sub" / "tiny" / "__init__.py").write_text("x = 'old'\n")
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "x")
        commit, tree = git(folder, "rev-parse", "HEAD"), git(folder, "rev-parse", "HEAD^{tree}")
        edit = {"id": "new", "file": "sub/tiny/__init__.py", "find": "'old'", "replace": "'new'", "count": 1}
        source = {"url": str(folder), "commit": commit, "tree": tree, "subdir": "sub", "epoch": 1, "edits": [edit], "vendored": []}
        return {"sources": {commit: source}, "cells": {"c": {"python": PYTHON, "commit": commit, "requirements": ["wheel"], "environment": ["TORCH_CUDA_ARCH_LIST=9.0;12.0a"]}}}

    def with_recipe(self, recipe):
        text = "".join(f"RECIPE = json.loads({json.dumps(json.dumps(recipe))})\n" if line.startswith("RECIPE = ") else line
                       for line in self.script.read_text().splitlines(keepends=True))
        self.script.write_text(text)

    def test_the_recipe_is_the_plan(self):
        recipe = self.recipe()
        plan = self.run_sagekit("--plugin", "sage2", "plan", "--profile", "legacy", "--platform", "win_amd64", "--backend", "setup-py", "--json").json()
        for cell in plan["cells"]:
            made = recipe["cells"][cell["id"]]
            self.assertEqual((made["python"], made["commit"]), (cell["python"], plan["source"]["commit"]))
            self.assertIn(f"torch=={cell['torch']}+cu{cell['cuda'].replace('.', '')}", made["requirements"])
            self.assertIn("TORCH_CUDA_ARCH_LIST=" + ";".join(cell["arches"]), made["environment"])
        self.assertEqual(recipe["sources"][plan["source"]["commit"]]["url"], plan["source"]["url"])

    @unittest.skipUnless(makes_wheels(), "this Python has no setuptools that makes wheels")
    def test_it_builds_the_edited_source(self):
        self.with_recipe(self.repository())
        done = self.run_script("c", "--out", "dist")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        [wheel] = (self.folder / "dist").glob("*.whl")
        said = self.run_sagekit("inspect", wheel, "--json").json()["files"][0]
        self.assertEqual(said["wheel"]["name"], "tiny")
        unpacked = subprocess.run([sys.executable, "-c", "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read('tiny/__init__.py').decode())", wheel],
                                  capture_output=True, text=True).stdout
        self.assertIn("'new'", unpacked)

    def test_another_source_edit_or_python_is_refused(self):
        for change, text in ((lambda r: next(iter(r["sources"].values())).update(tree=40 * "0"), "another content"),
                             (lambda r: next(iter(r["sources"].values()))["edits"][0].update(count=2), "expected 2"),
                             (lambda r: r["cells"]["c"].update(python="2.7"), "is for Python 2.7")):
            recipe = self.repository() if not (self.folder / "repository").exists() else recipe_kept
            recipe_kept = json.loads(json.dumps(recipe))
            change(recipe)
            self.with_recipe(recipe)
            done = self.run_script("c", "--out", "dist")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)
            self.assertEqual(list((self.folder / "dist").glob("*")) if (self.folder / "dist").exists() else [], [])


if __name__ == "__main__":
    unittest.main()
