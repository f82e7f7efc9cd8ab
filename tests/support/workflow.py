"""Runs the `run:` steps of a GitHub workflow here, job after job, with stand-ins for the actions it uses. Only what the generated
workflows have of GitHub's language is understood; anything else is an error, so that nothing is passed over.

    runner = Workflow(path, repository, folder, environment)
    runner.run("push", ref_type="tag", ref_name="v1.0.0-example")
"""
import fnmatch
import glob
import itertools
import json
import pathlib
import re
import shutil
import subprocess

import yaml


class StepFailed(Exception):
    pass


class Loader(yaml.SafeLoader):
    """`on` is a key, not a truth value."""


Loader.yaml_implicit_resolvers = {first: [(tag, regexp) for tag, regexp in rows if tag != "tag:yaml.org,2002:bool"]
                                  for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


class Value(dict):
    """A context: what is not in it is empty, as in GitHub's."""

    def __getattr__(self, name):
        found = self.get(name.replace("__", "-"), "")
        return Value(found) if isinstance(found, dict) else found


class Workflow:
    def __init__(self, path, repository, folder, environment):
        self.text = pathlib.Path(path).read_text(encoding="utf-8")
        self.document = yaml.load(self.text, Loader)
        self.repository, self.folder, self.environment = pathlib.Path(repository), pathlib.Path(folder), environment
        self.artifacts, self.caches = self.folder / "artifacts", self.folder / "caches"
        self.results, self.outputs, self.summaries, self.job_output, self.uses = {}, {}, {}, {}, []
        self.lost_jobs = ()  # whose steps fail at once
        self.runs = itertools.count(1)

    def run(self, event, inputs=None, **github):
        self.results, self.outputs, self.uses = {}, {}, []
        shutil.rmtree(self.artifacts, ignore_errors=True)
        self.context = Value(github=Value({"event_name": event, "ref_type": "branch", "ref_name": "main", "ref": "refs/heads/main", "token": "t",
                                           "run_id": str(next(self.runs)), "run_attempt": "1", "workflow": "w"} | github), inputs=Value(inputs or {}))
        for name, job in self.document["jobs"].items():
            needs = job.get("needs", [])
            needs = [needs] if isinstance(needs, str) else needs
            assert all(need in self.results for need in needs), "jobs stand in the order of their needs"
            known = Value({need: {"result": self.results[need], "outputs": self.outputs.get(need, {})} for need in needs})
            well = all(self.results[need] == "success" for need in needs)
            condition = job.get("if", "")
            if not (self.truth(condition, needs=known) and (well or "always()" in condition)):
                self.results[name] = "skipped"
                continue
            matrix = job.get("strategy", {}).get("matrix")
            rows = json.loads(self.text_of(matrix, needs=known))["include"] if matrix else [{}]
            ended = [self.run_job(name, job, known, Value(row)) for row in rows]
            self.results[name] = "success" if all(ended) else "failure"
        return self.results

    def run_job(self, name, job, needs, matrix):
        workspace = self.folder / "work" / f"{name}-{matrix.get('cell', '')}"
        shutil.rmtree(workspace, ignore_errors=True)
        workspace.mkdir(parents=True)
        steps, well = Value(), name not in self.lost_jobs
        for number, step in enumerate(job["steps"]):
            contexts = {"needs": needs, "matrix": matrix, "steps": steps}
            condition = step.get("if", "")
            if not self.truth(condition, **contexts) or not (well or "always()" in condition):
                continue
            outputs = workspace.parent / f"{name}-{number}.outputs"
            outputs.write_text("")
            try:
                if "uses" in step:
                    self.use(step["uses"], {key: self.text_of(value, **contexts) for key, value in step.get("with", {}).items()}, workspace)
                else:
                    environment = {key: self.text_of(value, **contexts) for part in (self.document.get("env", {}), job.get("env", {}), step.get("env", {})) for key, value in part.items()}
                    assert "${{" not in step["run"], "an expression would be put into the script as text"
                    self.script(name, step["run"], environment | {"GITHUB_OUTPUT": str(outputs)}, workspace)
            except StepFailed:
                if not step.get("continue-on-error"):
                    well = False
            if "id" in step:
                steps[step["id"]] = {"outputs": dict(line.split("=", 1) for line in outputs.read_text().splitlines())}
        self.outputs[name] = {key: self.text_of(value, steps=steps) for key, value in job.get("outputs", {}).items()}
        return well

    def script(self, job, text, environment, workspace):
        summary = self.folder / f"summary-{job}.md"
        summary.write_text("")
        done = subprocess.run(["bash", "-e", "-c", text], cwd=workspace, env=self.environment | environment | {"GITHUB_STEP_SUMMARY": str(summary), "CI": "true"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.summaries[job] = summary.read_text()
        self.last_output = self.job_output[job] = done.stdout + done.stderr
        if done.returncode:
            raise StepFailed(text + self.last_output)

    def use(self, action, given, workspace):
        name, commit = action.split("@")
        assert re.fullmatch("[0-9a-f]{40}", commit), action
        self.uses.append(name)
        if name == "actions/checkout":
            assert given["persist-credentials"] == "False", "a token would stay in the work tree"
            shutil.copytree(self.repository, workspace, dirs_exist_ok=True)
        elif name == "actions/upload-artifact":
            files = glob.glob(str(workspace / given["path"]))
            if not files:
                raise StepFailed("no files")
            target = self.artifacts / given["name"]
            assert not target.exists(), "an artifact is written once"
            target.mkdir(parents=True)
            for file in files:
                shutil.copy(file, target)
        elif name == "actions/download-artifact":
            (workspace / given["path"]).mkdir(parents=True, exist_ok=True)
            for folder in sorted(self.artifacts.glob("*")):
                if fnmatch.fnmatch(folder.name, given["pattern"]):
                    merged = given.get("merge-multiple") == "True"  # without it each has a folder of its name
                    shutil.copytree(folder, workspace / given["path"] / ("" if merged else folder.name), dirs_exist_ok=True)
        elif name == "actions/cache/restore":
            keys = [given["key"], *given["restore-keys"].split()]
            found = next((kept for key in keys for kept in sorted(self.caches.glob("*"), reverse=True) if kept.name.startswith(key)), None)
            if found:
                shutil.copytree(found, workspace / given["path"], symlinks=True)
        elif name == "actions/cache/save":
            if (workspace / given["path"]).exists() and not (self.caches / given["key"]).exists():
                shutil.copytree(workspace / given["path"], self.caches / given["key"], symlinks=True)
        elif name == "actions/attest-build-provenance":
            assert glob.glob(str(workspace / given["subject-path"])), "nothing to attest"
        elif name not in ("actions/setup-python", "Jimver/cuda-toolkit", "ilammy/msvc-dev-cmd"):
            raise AssertionError(f"no stand-in for {action}")

    def truth(self, condition, **contexts):
        return not condition or bool(self.value(condition, **contexts))

    def text_of(self, text, **contexts):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(self.value(found[1], **contexts)), str(text))

    def value(self, expression, **contexts):
        if expression.strip() == "'${{'":
            return "${{"
        expression = re.sub(r"(?<=[a-z])-(?=[a-z])", "__", expression.replace("&&", " and ").replace("||", " or "))
        literal = re.fullmatch(r"\s*fromJSON\((.*)\)\s*", expression)
        names = {"always": lambda: True, **self.context, **contexts}
        return eval(literal[1] if literal else expression, {"__builtins__": {}}, names)  # ours: written by the test's own program
