#!/usr/bin/env python3
"""What is promised of every verb, asked of every verb: a right command of each that --help lists, and names with terminal
escapes for those that read what others wrote."""
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, SOURCE_DIR, CommandLine, Done, has_nvcc
from install_test import HAS_VENV, make_venv
from provisioning import Provisioning

from gpu_wheels import gpu_wheel
from make_plugin import make_plugin
from release_wheels import built, pass_all
from wheels import Wheel, compiler

EXAMPLE = ("--plugin-dir", EXAMPLES, "--plugin", "example")
SAGE2 = ("--plugin", "sage2")
PYTHON = "{}.{}".format(*sys.version_info[:2])
FOR = f'gpu="RTX 5090",driver=590,torch=2.9.1+cu130,python={PYTHON},libc=glibc2.36'
NEEDS_NVCC = {"build", "package", "doctor"}
DOCUMENTS = {"schema", "completion", "man"}  # for programs: their one form
SILENT = {"publish index", "toolchain remove", "toolchain verify", "cache trim", "cache export", "cache import"}  # what they say is no result


@functools.cache
def venv_python():
    """Of an environment that pip may change."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sagekit venv "))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    make_venv(folder / "venv")
    return folder / "venv/bin/python"


@unittest.skipUnless(compiler() and HAS_VENV, "no C compiler, or a Python without venv")
class EveryVerb(Provisioning):
    def setUp(self):
        super().setUp()
        self.calls = 0
        one = self.folder / "one"
        Wheel().write(one)
        Wheel("other").write(one)
        gpu_wheel(self.folder / "module", PYTHON.replace(".", "")).write(one / "gpu")
        built().write(one / "dist")
        self.run_sagekit("release", "dist", cwd=one)
        pass_all(one / "dist")
        (one / "build.log").write_text("g++: fatal error: Killed signal terminated program cc1plus\n")

    def folder_of_one(self):
        """What the commands below are about, in a folder where none was before."""
        self.calls += 1
        return shutil.copytree(self.folder / "one", self.folder / f"call {self.calls}")

    def prepare(self, verb, here):
        """What another verb makes."""
        if verb == "package":
            builds = self.folder / "störe" / "builds"
            if not builds.is_dir():
                self.expect(self.run_sagekit(*EXAMPLE, "build", "--source", EXAMPLE_SOURCE, "--arch", "8.0"), 0)
            (here / "kept").symlink_to(next(builds.iterdir()))
        if verb == "coverage":
            plan = self.run_sagekit(*SAGE2, "plan", "--json").json()
            rows = [{"file": cell["wheel"], "size_bytes": 1, "sha256": "0" * 64, "cell": cell["id"], "commit": plan["source"]["commit"], "verdict": "pass"} |
                    {key: cell[key] for key in ("python", "torch", "cuda", "platform", "arches")} for cell in plan["cells"]]
            (here / "all.json").write_text(json.dumps({"schema": "sagekit.release/1", "plugin": {}, "source": {}, "wheels": rows}))
        if verb == "cache import":
            self.expect(self.run_sagekit("cache", "export", here / "pack.tar"), 0)

    def commands(self):
        tiny, other = "tiny-1.0-py3-none-any.whl", "other-1.0-py3-none-any.whl"
        return {
            "plan": [*SAGE2, "plan"],
            "build": [*EXAMPLE, "build", "--source", EXAMPLE_SOURCE, "--arch", "8.0"],
            "verify": ["verify", tiny],
            "inspect": ["inspect", tiny],
            "diff": ["diff", tiny, other],
            "package": [*EXAMPLE, "package", "kept"],
            "name": ["name", tiny],
            "retag": ["retag", "--build", "7", "-o", "named", tiny],
            "release": ["release", "gpu"],
            "index": ["index", "dist"],
            "report": ["report", "dist"],
            "resolve": ["resolve", "--from", "gpu", "--for", FOR],
            "install": ["install", "--from", "gpu", "--for", FOR, "--interpreter", venv_python(), "-n"],
            "coverage": [*SAGE2, "coverage", "all.json"],
            "publish github": ["publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", "-n"],
            "publish huggingface": ["publish", "huggingface", "dist", "--repo", "o/r", "-n"],
            "publish index": ["publish", "index", "dist", "--repository-url", "https://example.org/", "-n"],
            "generate": [*SAGE2, "generate", "dockerfile"],
            "doctor": [*EXAMPLE, "doctor", "--source", EXAMPLE_SOURCE],
            "env": ["env"],
            "toolchain list": ["toolchain", "list"],
            "toolchain fetch": self.words(),
            "toolchain remove": ["toolchain", "remove", "--all"],
            "toolchain verify": ["toolchain", "verify"],
            "cache stats": ["cache", "stats"],
            "cache trim": ["cache", "trim", "--max-size", "1G"],
            "cache verify": ["cache", "verify"],
            "cache export": ["cache", "export", "pack.tar"],
            "cache import": ["cache", "import", "pack.tar"],
            "plugin list": ["plugin", "list"],
            "plugin show": ["plugin", "show", "sage2"],
            "plugin check": ["plugin", "check", EXAMPLES / "sagekit-example.so"],
            "explain": ["explain", "build.log"],
            "schema": ["schema", "plan"],
            "completion": ["completion", "bash"],
            "man": ["man"],
        }

    def call(self, verb, *more, stdout=subprocess.PIPE):
        here = self.folder_of_one()
        self.prepare(verb, here)
        done = subprocess.run([str(SAGEKIT), *map(str, self.commands()[verb]), *more], env=self.environment(), cwd=here,
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, timeout=300)
        done.stdout = done.stdout or b""
        return Done(done)

    def verbs_here(self):
        return [verb for verb in self.commands() if has_nvcc() or verb not in NEEDS_NVCC]

    def test_all_are_here(self):
        every = {" ".join(verb) for verb in self.verbs()}
        groups = {verb.rsplit(" ", 1)[0] for verb in every if " " in verb}
        self.assertEqual(set(self.commands()), every - groups)

    def test_a_result_that_is_lost_is_no_success(self):
        for verb in self.verbs_here():
            for more in ((), ("--json",)):
                with self.subTest(verb, more=more):
                    usual = self.call(verb, *more)
                    self.expect(usual, 0)
                    self.assertEqual(usual.out == "", verb in SILENT and not more, usual.out)
                    if usual.out:
                        with open("/dev/full", "wb") as full:
                            self.expect(self.call(verb, *more, stdout=full), 3, "error[FIL002]", "No space left on device")

    def test_quiet_is_silent_where_all_is_well(self):
        for verb in self.verbs_here():
            with self.subTest(verb):
                done = self.call(verb, "-q")
                self.expect(done, 0)
                self.assertEqual((done.out != "", done.err), (verb in DOCUMENTS, ""))
                if verb not in DOCUMENTS:  # who asks for the document gets it
                    self.assertIn("schema", self.call(verb, "-q", "--json").json())


EVIL = "\x1b[31mred\x1b]0;title\x07\u202e"


@unittest.skipUnless(compiler() and HAS_VENV, "no C compiler, or a Python without venv")
class ForeignNames(CommandLine):
    """Names and texts that others chose do not drive the terminal, in errors and in answers."""

    def setUp(self):
        super().setUp()
        self.odd, self.right = self.folder / f"odd {EVIL}", self.folder / f"right {EVIL}"
        wheel = gpu_wheel(self.folder / "module", PYTHON.replace(".", ""))
        wheel.generator = EVIL
        self.right_wheel = wheel.write(self.right)
        wheel.metadata = wheel.metadata.replace("Summary:", f"Requires-Dist: {EVIL}\nSummary:")
        wheel.files[f"tiny_kernels/{EVIL}.py"] = b""
        self.wheel = wheel.write(self.odd)
        self.other = Wheel("other").write(self.folder)
        shutil.copy(self.other, self.odd / f"other-1.0-py3-none-{EVIL}.whl")
        built(edits=(f"edit {EVIL}",)).write(self.folder / "said")
        self.run_sagekit("release", "said")
        pass_all(self.folder / "said")
        row = {"file": f"tiny-1.0+{EVIL}-py3-none-any.whl", "size_bytes": 1, "sha256": "0" * 64, "cell": EVIL, "python": EVIL, "torch": EVIL, "cuda": EVIL, "platform": EVIL,
               "arches": [EVIL], "commit": EVIL, "verdict": "pass", "edits": [EVIL]}
        document = {"schema": "sagekit.release/1", "plugin": {"name": EVIL, "version": EVIL}, "source": {"url": EVIL}, "wheels": [row]}
        (self.folder / "odd.json").write_text(json.dumps(document))
        (self.folder / "build.log").write_text(f"{EVIL}\nImportError: /site/{EVIL}.so: undefined symbol: _ZN3c105Error{EVIL}\n")
        spec = (SOURCE_DIR / "examples/plugin/plugin.toml").read_text().replace("Two small CUDA kernels", "two\u202e")
        self.plugin = make_plugin(spec, self.folder / "sagekit-example.so")

    def commands(self):
        machine = ("--for", FOR)
        yield from (["inspect", self.wheel], ["verify", "--all", self.wheel], ["diff", self.other, self.wheel], ["name", f"tiny-1.0+{EVIL}-py3-none-any.whl"],
                    ["explain", "build.log"], ["explain", f"nowhere/{EVIL}.log"], [*SAGE2, "coverage", "odd.json"], ["report", "odd.json"],
                    ["retag", "--build", "7", "-o", "named", self.wheel], ["retag", "--build", "7", "-o", f"named {EVIL}", self.right_wheel],
                    ["publish", "github", "said", "--repo", "o/r", "--tag", "v1.0", "-n"], ["publish", "github", self.odd, "--repo", "o/r", "--tag", "v1.0", "-n"],
                    ["--plugin", self.plugin, "plugin", "list"], ["--plugin", self.plugin, "plugin", "show", "example"])
        for place in (self.odd, self.right):
            yield from (["release", place], ["index", place], ["report", place])
        for place in (self.odd, self.right, "odd.json"):
            yield from (["resolve", "--from", place, *machine], ["install", "--from", place, *machine, "--interpreter", venv_python(), "-n"])

    def test_of_files_pages_logs_and_plugins(self):
        for words in self.commands():
            for color in ("never", "always"):
                with self.subTest([str(word) for word in words], color=color):
                    done = self.run_sagekit("--color", color, *words)
                    text = done.out + done.err
                    for raw in ("\x1b[31mred", "\x1b]0", "\x07", "\u202e"):
                        self.assertNotIn(raw, text)
                    self.assertIn("\\u202e", text)


if __name__ == "__main__":
    unittest.main()
