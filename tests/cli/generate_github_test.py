#!/usr/bin/env python3
"""The generated workflows: their shape, and every `run:` step of the Linux jobs from an event to a release, with the example."""
import json
import os
import pathlib
import re
import shutil
import sys
import unittest
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import EXAMPLE_SOURCE, SAGEKIT, CommandLine, has_nvcc
from github_server import GithubServer

try:
    import yaml

    from workflow import Loader, Workflow
except ImportError:
    yaml = None

GH = shutil.which("gh")
WHEELS = os.environ.get("SAGEKIT_TEST_WHEELS")  # a folder with sagekit's own wheel: the steps install it


@unittest.skipUnless(yaml, "no PyYAML on this machine")
class Shape(CommandLine):
    def made(self, plugin, platform="linux"):
        self.expect(self.run_sagekit("--plugin", plugin, "generate", "github"), 0)
        text = (self.folder / ".github" / "workflows" / f"build-wheels-{plugin}-{platform}.yml").read_text()
        return text, yaml.load(text, Loader)

    def test_four_triggers_choose_their_profiles(self):
        text, document = self.made("sage3")
        self.assertEqual(set(document["on"]), {"pull_request", "push", "workflow_dispatch"})
        self.assertEqual(document["on"]["push"], {"branches": ["main"], "tags": ["v*-sage3"]})
        options = document["on"]["workflow_dispatch"]["inputs"]["profile"]["options"]
        self.assertEqual(options, [row["name"] for row in self.run_sagekit("plugin", "show", "sage3", "--json").json()["profiles"]])
        script = document["jobs"]["validate"]["steps"][0]["run"]
        for line in ("pull_request:*) profile=default ;;", "push:tag) profile=sage3-all release=true ;;", "push:branch) profile=stable ;;"):
            self.assertIn(line, script)

    def test_a_plugin_for_another_cpu_alone_plans_for_it_and_has_its_compiler(self):
        text, document = self.made("sm121")
        (words,) = {line.split("--platform ")[1].split()[0] for line in text.splitlines() if " plan --profile" in line}
        plan = self.run_sagekit("--plugin", "sm121", "plan", "--profile", "default", "--platform", words, "--json")
        self.expect(plan, 0)
        self.assertTrue(plan.json()["cells"])
        self.assertTrue(any("g++-aarch64-linux-gnu" in step.get("run", "") for step in document["jobs"]["build-wheels"]["steps"]))
        self.assertNotIn("aarch64", self.made("sage2")[0])

    def test_tags_are_a_release_s_by_the_patterns_that_were_given(self):
        made = ("--plugin", "sage2", "generate", "github", "--tag")
        self.expect(self.run_sagekit(*made, "v*", "--tag", "!v*-*"), 0)
        for platform in ("linux", "windows"):
            text = (self.folder / ".github" / "workflows" / f"build-wheels-sage2-{platform}.yml").read_text()
            self.assertEqual(yaml.load(text, Loader)["on"]["push"]["tags"], ["v*", "!v*-*"])
            self.assertIn("--tag 'v*' --tag '!v*-*'\n", text.splitlines(True)[0])
        for pattern, said in (("!v*", "none is left"), ("!", "no pattern"), ("v* ]", "no pattern"), ("${{ github.token }}", "no pattern"), ("v\n*", "no pattern")):
            self.expect(self.run_sagekit(*made, pattern, "-o", "other"), 2, "GEN003", said)
        self.assertFalse((self.folder / "other").exists())

    def test_a_job_builds_its_own_cell_alone(self):
        made = ("--plugin", "sage2", "generate", "github", "--cells", "*-cu130-*", "--python", "3.12")
        self.expect(self.run_sagekit(*made), 0)
        text = (self.folder / ".github" / "workflows" / "build-wheels-sage2-linux.yml").read_text()
        words = {verb: re.search(rf"sagekit --plugin \S+ {verb} .*", text)[0] for verb in ("plan", "build", "coverage")}
        self.assertIn('--cells "$CELL" --python 3.12', words["build"])
        self.assertNotIn("cu130", words["build"])  # two globs are a union
        for verb in ("plan", "coverage"):
            self.assertIn("--cells '*-cu130-*'", words[verb])

    def test_each_workflow_has_its_own_of_the_selected_platforms(self):
        def planned(*words):
            """Of each workflow that is written: what its plan is asked for."""
            done = self.run_sagekit("--plugin", "sage2", "generate", "github", "-o", "out", *words)
            self.expect(done, 0)
            asked = {path.stem.split("-")[-1]: set(re.findall(r" plan --profile .*--platform (\S+)", path.read_text()))
                     for path in (self.folder / "out" / ".github" / "workflows").iterdir()}
            self.assertEqual((self.folder / "out" / ".github" / "sagekit-sage2" / "build_wheel.py").exists(), "windows" in asked)
            shutil.rmtree(self.folder / "out")
            return asked, done.err

        for words in (("--platform", "linux_x86_64"), ("--platform", "linux_x86_64", "--profile", "current")):
            asked, said = planned(*words)
            self.assertEqual(asked, {"linux": {"linux_x86_64"}})
            self.assertIn("no workflow for Windows: the selected platforms are linux_x86_64", said)
        asked, said = planned("--platform", "win_amd64")
        self.assertEqual(asked, {"windows": {"win_amd64"}})
        self.assertIn("no workflow for Linux: the selected platforms are win_amd64", said)
        asked, said = planned("--platform", "linux_aarch64,win_amd64,linux_x86_64")
        self.assertEqual(asked, {"linux": {"linux_aarch64,linux_x86_64"}, "windows": {"win_amd64"}})
        asked, said = planned("--cells", "*-win_amd64")
        self.assertEqual(list(asked), ["windows"])
        self.assertIn("no workflow for Linux: no profile has a cell", said)
        (self.folder / "sagekit.toml").write_text('platform = ["linux_x86_64"]\n')
        self.assertEqual(planned()[0], {"linux": {"linux_x86_64"}})
        for words, code in ((("--platform", "linux_riscv"), 4), (("--platform", "linux_x86_64", "--profile", "none"), 2)):
            self.assertEqual(self.run_sagekit("--plugin", "sage2", "generate", "github", "-o", "out", *words).code, code)

    def test_an_event_whose_profile_has_no_cell_starts_nothing_and_is_said(self):
        """Each event that is left builds a profile with a cell; so does whatever is chosen by hand."""
        def made(*words):
            done = self.run_sagekit("--plugin", "sage2", "generate", "github", "-o", "out", "--platform", "linux_x86_64", *words)
            self.expect(done, 0)
            text = (self.folder / "out" / ".github" / "workflows" / "build-wheels-sage2-linux.yml").read_text()
            document = yaml.load(text, Loader)
            arms = dict(re.findall(r"^ *(\w+:\S+)\) profile=(\w+)", document["jobs"]["validate"]["steps"][0]["run"], re.M))
            by_hand = document["on"]["workflow_dispatch"]["inputs"]["profile"]
            self.assertIn(by_hand["default"], by_hand["options"])
            for profile in {*arms.values(), *by_hand["options"]}:
                self.expect(self.run_sagekit("--plugin", "sage2", "plan", "--profile", profile, "--platform", "linux_x86_64", *words[:2]), 0)
            return document["on"], arms, done.err

        selected = ("--python", "3.13")
        events, arms, said = made(*selected)
        self.assertEqual(set(events), {"push", "workflow_dispatch"})
        self.assertEqual(events["push"], {"tags": ["v*-sage2"]})
        self.assertEqual(arms, {"push:tag": "current"})
        self.assertIn("the workflow for Linux does not start at pull requests (profile default), pushes to main (profile default)", said)
        self.assertIn("--profile current", said)
        events, arms, said = made(*selected, "--profile", "current")
        self.assertEqual(set(events), {"pull_request", "push", "workflow_dispatch"})
        self.assertEqual(set(arms.values()), {"current"})
        self.assertNotIn("does not start", said)

    def test_least_rights_pinned_actions_and_ends(self):
        text, document = self.made("sage2")
        self.assertEqual(document["permissions"], {})
        self.assertEqual(list(document["jobs"]), ["validate", "generate-matrix", "build-wheels", "build-summary", "release"])
        for name, job in document["jobs"].items():
            self.assertIn("timeout-minutes", job)
            if name != "release":
                self.assertLessEqual(set(job.get("permissions", {}).items()), {("contents", "read")})
        self.assertEqual(document["jobs"]["release"]["permissions"], {"contents": "write", "id-token": "write", "attestations": "write"})
        for uses in re.findall(r"uses: (.*)", text):
            self.assertRegex(uses, r"^[\w./-]+@[0-9a-f]{40} # v\d")

    def test_nothing_of_an_event_stands_in_a_script(self):
        text, document = self.made("sage3")
        for job in document["jobs"].values():
            for step in job["steps"]:
                self.assertNotIn("${{", step.get("run", ""))

    def test_a_word_that_github_would_evaluate_is_refused(self):
        done = self.run_sagekit("--plugin", "sage3", "generate", "github", "--cells", "${{ secrets.X }}")
        self.expect(done, 2, "GEN003", "${{")
        self.assertEqual(list(self.folder.iterdir()), [])


@unittest.skipUnless(yaml and GH and has_nvcc(), "no PyYAML, gh or nvcc on this machine")
class Run(CommandLine):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        shutil.copytree(EXAMPLE_SOURCE, self.repository / "source")
        # CUDA 13 alone: for the others nvcc would be fetched.
        self.expect(self.example("generate", "github", "--source", "source", "--cuda", "13.0", "-o", "repository"), 0)
        self.tools = self.folder / "tools"
        path = self.environment()["PATH"]
        if WHEELS:
            venv.create(self.tools, with_pip=True)
            self.environment_here = self.environment(PATH=f"{self.tools}/bin:{path}", PIP_NO_INDEX="1", PIP_FIND_LINKS=WHEELS)
        else:
            # pip's stand-in notes what would be installed: the program is the one that is tested.
            self.tools.mkdir()
            python = self.tools / "python"
            python.write_text(f'#!/bin/sh\nif [ "$1 $2 $3" = "-m pip install" ]; then echo "$4" >> "{self.tools}/installed"; else exec {sys.executable} "$@"; fi\n')
            python.chmod(0o755)
            (self.tools / "sagekit").symlink_to(SAGEKIT)
            self.environment_here = self.environment(PATH=f"{self.tools}:{path}")
        del self.environment_here["SAGEKIT_STORE"]

    def workflow(self, **more):
        return Workflow(self.repository / ".github" / "workflows" / "build-wheels-example-linux.yml", self.repository, self.folder / "runner",
                        self.environment_here | more)

    def test_a_pull_request_builds_the_default_and_releases_nothing(self):
        runner = self.workflow()
        results = runner.run("pull_request")
        self.assertEqual(results, {"validate": "success", "generate-matrix": "success", "build-wheels": "success", "build-summary": "success",
                                   "release": "skipped"}, getattr(runner, "last_output", ""))
        self.assertEqual(len(list(runner.artifacts.glob("*/*.whl"))), 1)
        self.assertIn("| published |", runner.summaries["build-summary"])
        if WHEELS:
            self.assertTrue((self.tools / "bin" / "sagekit").is_file())
        else:
            self.assertEqual(set((self.tools / "installed").read_text().split()), {"sagekit==" + self.run_sagekit("--version").out.split()[1]})
        # The second run takes the first one's steps.
        self.assertEqual(runner.run("push")["build-wheels"], "success")
        self.assertIn("actions/cache/restore", runner.uses)
        self.assertRegex(runner.job_output["build-wheels"], "0 steps run, 4 kept from before")

    def test_a_tag_becomes_a_release_with_all_its_files(self):
        with GithubServer(self.folder) as github:
            runner = self.workflow(**github.environment)
            results = runner.run("push", ref_type="tag", ref_name="v1.0.0-example", ref="refs/tags/v1.0.0-example", repository=f"{github.host}/o/r")
            self.assertEqual(set(results.values()), {"success"}, (results, runner.last_output))
            self.assertNotIn("actions/cache/restore", runner.uses, "a release takes nothing of other runs")
            assets = set(github.assets("v1.0.0-example"))
        plan = self.example("plan", "--profile", "all", "--platform", "linux_x86_64", "--cuda", "13.0", "--json").json()
        self.assertEqual(assets, {cell["wheel"] for cell in plan["cells"]} | {"SHA256SUMS", "sagekit.release.json", "sagekit.intoto.json"})

    def test_a_failed_job_is_seen_and_stops_the_release(self):
        runner = self.workflow()
        runner.lost_jobs = ("build-wheels",)
        results = runner.run("push", ref_type="tag", ref_name="v1.0.0-example")
        self.assertEqual((results["build-summary"], results["release"]), ("failure", "skipped"))
        self.assertIn("| missing |", runner.summaries["build-summary"], runner.last_output)

    def test_events_and_profiles_nobody_planned_are_refused(self):
        runner = self.workflow()
        self.assertEqual(runner.run("schedule")["validate"], "failure")
        self.assertEqual(runner.run("workflow_dispatch", inputs={"profile": "x; touch pwned"})["validate"], "failure")
        self.assertIn("there is no profile", runner.last_output)
        self.assertEqual(list((self.folder / "runner").rglob("pwned")), [])


if __name__ == "__main__":
    unittest.main()
