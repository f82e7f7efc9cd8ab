#!/usr/bin/env python3
"""name: file names read, cells named, through the real binary."""
import json
import pathlib
import shlex
import subprocess
import sys
import unittest

from harness import EXAMPLES, SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from wheels import MACHINE, SUFFIX, Wheel, compiler, module  # noqa: E402


class Name(CommandLine):
    def test_a_published_name_is_explained(self):
        name = "sageattention-2.2.0+cu130torch2.10.0andhigher.post6-cp310-abi3-win_amd64.whl"
        done = self.run_sagekit("name", name)
        self.expect(done, 0)
        for words in ("sageattention", "2.10.0 and higher", "13.0", "post6", "win_amd64"):
            self.assertIn(words, done.out)
        document = self.run_sagekit("name", name, "--json").json()
        self.assertEqual(document["schema"], "sagekit.name/1")
        said = {key: document[key] for key in ("package", "version", "torch_min", "cuda", "python", "abi", "platform", "revision")}
        self.assertEqual(said, {"package": "sageattention", "version": "2.2.0", "torch_min": "2.10.0", "cuda": "13.0",
                                "python": "cp310", "abi": "abi3", "platform": "win_amd64", "revision": "post6"})
        for absent in ("torch", "build", "cxx11_abi", "arches", "unread"):
            self.assertNotIn(absent, document)

    def test_a_url_is_a_name(self):
        document = self.run_sagekit("name", "--json", "https://host/a/sageattention-2.2.0%2Bcu128torch2.7.1-cp312-cp312-"
                                    "win_amd64.whl?download=true").json()
        self.assertEqual((document["torch"], document["cuda"]), ("2.7.1", "12.8"))

    def test_two_readings_are_both_shown_and_none_is_chosen(self):
        name = "sageattention-2.2.0-2311.130-cp312-cp312-linux_x86_64.whl"
        done = self.run_sagekit("name", name, "--json")
        self.expect(done, 1, "NAM012")
        document = done.json()
        self.assertEqual([reading["torch"] for reading in document["readings"]], ["2.3.11", "2.31.1"])
        self.assertNotIn("torch", document)
        self.assertEqual(document["cuda"], "13.0")

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_every_verb_hears_the_same_of_a_name(self):
        (self.folder / "libtorch_cpu.so").write_bytes(module(self.folder, flags=("-Wl,-soname,libtorch_cpu.so",)))
        linked = module(self.folder, "_a", flags=("-Wl,--no-as-needed", self.folder / "libtorch_cpu.so"))
        machine = f"gpu=H100,torch={{}},python=3.12,platform=linux_{MACHINE},libc=glibc2.39,driver=590"
        for version, build in (("1.0", "2110.130"), ("1.0+torch2110.cu130", ""), ("1.0+torch2110cu130", ""), ("1.0+cu130torch2.11.0", "")):
            wheel = Wheel("demo", version, f"cp312-cp312-linux_{MACHINE}", build)
            wheel.files[f"demo/_a{SUFFIX}"] = linked
            dist = self.folder / f"dist {version} {build}"
            path = wheel.write(dist)
            with self.subTest(wheel.name):
                said = self.run_sagekit("name", path.name, "--json").json()
                self.assertEqual((said.get("torch"), said.get("cuda")), ("2.11.0", "13.0"))
                (report,) = self.run_sagekit("verify", "--json", path).json()["wheels"]
                (symbols,) = [one["message"] for one in report["findings"] if one["code"] == "ELF007"]
                self.assertIn("no torch 2.11.0 for CUDA 13.0", symbols)
                for torch, code in (("2.11.0+cu130", []), ("2.9.1+cu130", ["RES105"]), ("2.11.0+cu128", ["RES106"])):
                    done = self.run_sagekit("resolve", "--names-only", "--json", "--from", dist, "--for", machine.format(torch))
                    self.assertEqual([row["code"] for row in done.json()["refused"]], code, torch)
                self.expect(self.run_sagekit("release", dist), 0)
                (row,) = json.loads((dist / "sagekit.release.json").read_text())["wheels"]
                self.assertEqual((row["torch"], row["cuda"]), ("2.11.0", "13.0"))

    def test_what_two_readings_agree_on_is_heard_by_every_verb(self):
        dist = self.folder / "dist"
        path = Wheel("demo", "1.0", f"cp312-cp312-linux_{MACHINE}", "2311.130").write(dist)  # torch 2.31.1 or 2.3.11
        self.run_sagekit("release", dist)
        (row,) = json.loads((dist / "sagekit.release.json").read_text())["wheels"]
        self.assertEqual((row["torch"], row["cuda"]), ("", "13.0"))
        machine = f"gpu=H100,torch=2.9.1+cu128,python=3.12,platform=linux_{MACHINE},libc=glibc2.39,driver=590"
        done = self.run_sagekit("resolve", "--names-only", "--json", "--from", path, "--for", machine)
        self.assertEqual([one["code"] for one in done.json()["refused"]], ["RES106"])
        self.expect(self.run_sagekit("retag", "--local", "cu128", "-o", self.folder / "out", path), 1, "RTG004", "and the name it has says 13.0")

    def test_a_record_that_cannot_be_read_is_believed_by_no_verb(self):
        wheel = Wheel("demo", "1.0+cu130torch2.11.0", f"cp312-cp312-linux_{MACHINE}")
        wheel.files[f"{wheel.dist_info}/sagekit.json"] = json.dumps({"cell": "c", "torch": "2.9.1", "cuda": "12.8", "source": {"commit": "a" * 40}}).encode()
        dist = self.folder / "dist"
        path = wheel.write(dist)
        (report,) = self.run_sagekit("verify", "--json", path).json()["wheels"]
        self.assertTrue(any("cannot be read" in one["message"] for one in report["findings"] if one["code"] == "TRU003"))
        done = self.run_sagekit("resolve", "--json", "--from", dist, "--for", f"gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_{MACHINE},libc=glibc2.39,driver=590")
        self.assertEqual([row["code"] for row in done.json()["refused"]], [])
        self.run_sagekit("release", dist)
        (row,) = json.loads((dist / "sagekit.release.json").read_text())["wheels"]
        self.assertEqual((row["torch"], row["cuda"]), ("2.11.0", "13.0"))
        done = self.run_sagekit("retag", "--naming", "build-tag", "-o", self.folder / "out", path, "--json")
        self.expect(done, 0)
        self.assertIn("-2110.130-", done.json()["wheels"][0]["path"])

    def test_what_is_no_wheel_name_is_refused(self):
        self.expect(self.run_sagekit("name", "sageattention-2.2.0+cu130torch2.9.0.whl"), 1, "NAM002")
        self.expect(self.run_sagekit("name", "tiny-1.0-py3-none-any (1).whl"), 1, "NAM006", "rename it to tiny-1.0-py3-none-any.whl")
        self.expect(self.run_sagekit("name", "sage2-stable-pytorch29-cu130-python310"), 2, "PLG012", "--plugin sage2-stable name sage2-stable-")
        self.expect(self.run_sagekit("name", "sageattention"), 2, "CLI001", "neither a wheel's file name nor a cell")
        self.expect(self.run_sagekit("name", "a.whl", "--naming", "build-tga"), 2, "PLN003", "build-tag")

    def test_a_cell_in_every_scheme_and_in_one(self):
        plan = self.example("plan", "--json").json()
        cell = plan["cells"][0]
        document = self.example("name", cell["id"], "--json").json()
        names = {row["scheme"]: row for row in document["names"]}
        self.assertEqual(len(names), len(document["names"]), "a scheme stands there twice")
        self.expect(self.example("name", cell["id"], "--naming", "and-higher"), 2, "NAM011", "--> " + cell["id"])
        self.assertEqual(document["cell"], cell["id"])
        self.assertIn(cell["wheel"], [row.get("wheel") for row in names.values()])
        self.assertIn("why_not", names["and-higher"])
        for row in names.values():
            if "wheel" in row:
                self.expect(self.run_sagekit("name", row["wheel"]), 0)
        done = self.example("name", cell["id"], "--naming", "plain")
        self.expect(done, 0)
        self.assertIn("plain", done.out)
        self.assertNotIn("build-tag", done.out)
        self.expect(self.example("name", "no-such-cell"), 4)

    def test_the_advice_of_a_scheme_that_cannot_name_a_cell_works_as_it_is_printed(self):
        for arches in ("8.0", "9.0+PTX", "8.0;9.0+PTX"):
            refused = self.example("plan", "--naming", "and-higher", "--arch", arches)
            self.expect(refused, 2, "NAM011", "another --naming; sagekit --plugin example name example-")
            words = shlex.split(refused.err.split("another --naming; sagekit ")[1].split(" shows what")[0])
            done = self.run_sagekit("--plugin-dir", EXAMPLES, *words, "--json")
            self.expect(done, 0)
            self.assertEqual(done.json()["cell"], words[-1])

    OURS = """
naming = "ours"
[[scheme]]
name = "ours"
version = "{version}+pt{torch_minor}.c{cuda_digits}.{arches}"
source = "our release script"
"""
    CELL = "sage2-pytorch211-cu130-python312"

    def test_a_project_adds_rows_that_write_and_read(self):
        """[[scheme]] of sagekit.toml, in every verb that has to do with names."""
        name = "sageattention-2.2.0+pt2.11.c130-cp312-cp312-linux_x86_64.whl"
        strange = self.run_sagekit("name", name, "--json").json()
        self.assertNotIn("torch", strange)
        (self.folder / "sagekit.toml").write_text(self.OURS)
        said = self.run_sagekit("name", name, "--json").json()
        self.assertEqual((said["scheme"], said["torch"], said["cuda"], said["version"]), ("ours", "2.11", "13.0", "2.2.0"))
        written = self.run_sagekit("--plugin", "sage2", "name", self.CELL, "--naming", "ours", "--json").json()["names"]
        self.assertEqual([row["wheel"] for row in written], [name])
        planned = self.run_sagekit("--plugin", "sage2", "plan", "--offline", "--torch", "2.11", "--cuda", "13.0", "--python", "3.12", "--json").json()["cells"]
        self.assertEqual([cell["wheel"] for cell in planned], [name])
        # resolve reads by it: torch and CUDA fit, and only the GPUs are not said.
        manifest = {"schema": "sagekit.release/1", "plugin": {}, "source": {}, "wheels": [
            {"file": name.replace("linux", "manylinux_2_28"), "url": "https://example.org/w.whl", "size_bytes": 1, "sha256": "0" * 64, "runs_on": [{"capability": "9.0", "verdict": "yes"}]}]}
        (self.folder / "sagekit.release.json").write_text(json.dumps(manifest))
        machine = "gpu=H100,torch={},python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580"
        words = ("resolve", "--from", "sagekit.release.json", "--names-only", "--json", "--for")
        self.expect(self.run_sagekit(*words, machine.format("2.11.0+cu130")), 0)
        done = self.run_sagekit(*words, machine.format("2.9.1+cu130"))
        self.assertEqual([row["code"] for row in done.json()["refused"]], ["RES105"])
        # retag writes by it, and an index for each torch reads by it.
        dist = self.folder / "dist"
        Wheel("tiny", "1.0+cu130torch2.11.0", "cp312-cp312-linux_x86_64").write(dist)
        done = self.run_sagekit("retag", "--naming", "ours", "-o", "out", next(dist.iterdir()), "--json")
        self.expect(done, 0)
        self.assertEqual(pathlib.Path(done.json()["wheels"][0]["path"]).name, "tiny-1.0+pt2.11.c130-cp312-cp312-linux_x86_64.whl")
        done = self.run_sagekit("index", "out", "--per", "cuda,torch", "--json")
        self.assertEqual(done.json()["indexes"], ["cu130/torch2.11"])

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_a_plugins_rows_are_read_by_every_verb_too(self):
        name = "tiny-1.0+pt2.11.c130-cp312-cp312-linux_x86_64.whl"
        self.assertNotIn("torch", self.run_sagekit("name", name, "--json").json())
        source, plugin = self.folder / "own.c", self.folder / "plugins" / "sagekit-own.so"
        plugin.parent.mkdir()
        row = json.dumps('[[naming.scheme]]\nname = "ours"\nversion = "{version}+pt{torch_minor}.c{cuda_digits}"\n')
        source.write_text(f'#include "descriptor.h"\nDESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("own") {row}, 0);\n')
        subprocess.run([compiler(), "-shared", "-fPIC", "-I", SOURCE_DIR / "tests/plugins", "-I", SOURCE_DIR / "core/include", "-o", plugin, source], check=True)
        own = ("--plugin-dir", plugin.parent)
        said = self.run_sagekit(*own, "name", name, "--json").json()
        self.assertEqual((said["scheme"], said["torch"], said["cuda"]), ("ours", "2.11", "13.0"))
        dist = self.folder / "dist"
        Wheel("tiny", "1.0+pt2.11.c130", "cp312-cp312-linux_x86_64").write(dist)
        self.assertEqual(self.run_sagekit(*own, "index", dist, "--per", "cuda,torch", "--json").json()["indexes"], ["cu130/torch2.11"])
        machine = "gpu=H100,torch=2.9.1+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580"
        done = self.run_sagekit(*own, "resolve", "--from", dist, "--names-only", "--json", "--for", machine)
        self.assertEqual([row["code"] for row in done.json()["refused"]], ["RES105"])

    def test_rows_that_are_none(self):
        for wrong, texts in ((self.OURS.replace("{cuda_digits}", "{cuda_digit}"), ("CFG006", "sagekit.toml:3:1", "cuda_digit")), (self.OURS.replace('name = "ours"', 'name = "plain"'), ("CFG006", "built-in")),
                             (self.OURS.replace("version =", "versoin ="), ("CFG004", "version")), (self.OURS + self.OURS.replace('naming = "ours"', ""), ("CFG006", "two schemes"))):
            (self.folder / "sagekit.toml").write_text(wrong)
            self.expect(self.run_sagekit("name", "a-1-py3-none-any.whl"), 2, *texts)


if __name__ == "__main__":
    unittest.main()
