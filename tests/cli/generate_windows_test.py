#!/usr/bin/env python3
"""What the workflow for Windows runs there, run here: the exported script builds a small repository through setuptools, and the Linux
jobs name, judge and keep what came out."""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from github_server import GithubServer
from gpu_wheels import sage3_wheel
from harness import SAGEKIT, CommandLine

try:
    import yaml  # noqa: F401

    from workflow import Workflow
except ImportError:
    Workflow = None

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

    def test_it_knows_every_profile_s_cells_for_the_event_chooses_one(self):
        whole = set(self.recipe()["cells"])
        self.expect(self.run_sagekit("--plugin", "sage2", "generate", "github", "--profile", "current"), 0)
        self.assertEqual(set(self.recipe()["cells"]), whole)

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


@unittest.skipUnless(Workflow, "no PyYAML on this machine")
class Run(CommandLine):
    """The workflow of sage3 from a tag to a release. What MSVC would make is put there: wheels as upstream's setup.py names them. The Linux
    jobs, which plan, name, judge and release, run as they stand."""

    def setUp(self):
        super().setUp()
        self.repository, self.tools = self.folder / "repository", self.folder / "tools"
        self.expect(self.run_sagekit("--plugin", "sage3", "generate", "github", "--naming", "build-tag", "-o", "repository"), 0)
        self.plan = self.run_sagekit("--plugin", "sage3", "plan", "--profile", "sage3-all", "--platform", "win_amd64", "--naming", "build-tag", "--json").json()["cells"]
        for cell in self.plan:
            wheel = sage3_wheel(self.folder, cell["torch"], cell["cuda"], cell["python"], "win_amd64")
            wheel.version, wheel.metadata = "1.0.0", wheel.metadata.replace(wheel.version, "1.0.0")
            wheel.write(self.tools / "built" / cell["id"])
        python = self.tools / "python"
        python.write_text(f"""#!/bin/sh
case "$*" in
  "-m pip install "*) exit 0 ;;
  *build_wheel.py*--requirements) exec {sys.executable} "$@" ;;
  *build_wheel.py*--out*) mkdir -p dist && cp "{self.tools}/built/$2/"*.whl dist/ ;;
  *) exec {sys.executable} "$@" ;;
esac
""")
        python.chmod(0o755)
        (self.tools / "sagekit").symlink_to(SAGEKIT)

    def workflow(self, **more):
        environment = self.environment() | {"PATH": f"{self.tools}:{self.environment()['PATH']}"} | more
        del environment["SAGEKIT_STORE"]
        return Workflow(self.repository / ".github/workflows/build-wheels-sage3-windows.yml", self.repository, self.folder / "runner", environment)

    @unittest.skipUnless(shutil.which("gh"), "no gh on this machine")
    def test_a_tag_becomes_eight_wheels_of_the_document_s_names(self):
        with GithubServer(self.folder) as github:
            runner = self.workflow(**github.environment)
            results = runner.run("push", ref_type="tag", ref_name="v1.0.0-sage3", ref="refs/tags/v1.0.0-sage3", repository=f"{github.host}/o/r")
            self.assertEqual(set(results.values()), {"success"}, (results, runner.last_output))
            wheels = {name for name in github.assets("v1.0.0-sage3") if name.endswith(".whl")}
        self.assertEqual(wheels, {f"sageattn3-1.0.0-{tag}-cp3{minor}-cp3{minor}-win_amd64.whl" for tag in ("270.128", "280.129") for minor in (10, 11, 12, 13)})
        self.assertEqual(runner.summaries["build-summary"].count("| published |"), 8)

    def test_a_wheel_that_did_not_come_is_named_and_nothing_is_released(self):
        shutil.rmtree(self.tools / "built" / self.plan[0]["id"])
        runner = self.workflow()
        results = runner.run("push", ref_type="tag", ref_name="v1.0.0-sage3", ref="refs/tags/v1.0.0-sage3", repository="o/r")
        self.assertEqual((results["build-wheels"], results["build-summary"], results["release"]), ("failure", "failure", "skipped"), runner.last_output)
        self.assertIn(f"| {self.plan[0]['id']} | {self.plan[0]['wheel']} | missing |", runner.summaries["build-summary"])


if __name__ == "__main__":
    unittest.main()
