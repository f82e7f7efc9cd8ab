#!/usr/bin/env python3
"""One wheel for every torch and every Python: how a matrix says it, and what plan, name and explain make of it."""
import shutil
import unittest

from harness import CommandLine

CELL = "sage2-stable-pytorch29stable-cu130-python310abi3"


class Stable(CommandLine):
    def plan(self, *words):
        return self.run_sagekit("--plugin", "sage2-stable", "plan", *words)

    def cells(self, *words):
        done = self.plan(*words, "--json")
        self.expect(done, 0)
        return done.json()["cells"]

    def test_one_cell_stands_for_every_torch_and_python(self):
        (cell,) = self.cells()
        self.assertEqual(cell["id"], CELL)
        self.assertEqual((cell["torch_min"], cell["python"], cell["abi3"]), ("2.9", "3.10", True))
        self.assertRegex(cell["wheel"], r"^sageattention-2\.2\.0\+cu130\.torch2\.9andhigher\.20260717\.g93128b9-cp310-abi3-linux_x86_64\.whl$")
        self.assertIn("torch>=2.9", cell["requires_dist"])
        for words in (("--torch", "2.13"), ("--torch", "2.15.0"), ("--python", "3.14"), ("--torch", "2.9", "--python", "3.10")):
            self.assertEqual([found["id"] for found in self.cells(*words)], [CELL], words)

    def test_what_it_does_not_serve_selects_nothing(self):
        self.expect(self.plan("--torch", "2.8"), 4, "no torch 2.8; it has >=2.9,stable")
        self.expect(self.plan("--python", "3.13t"), 4, "no Python 3.13t; it has abi3>=3.10")

    def test_the_steps_name_the_least_torch_and_python(self):
        steps = self.plan("--json", "--steps").json()["steps"]
        for step in steps:
            if step["kind"] == "link":
                continue
            self.assertIn("-DTORCH_STABLE_ONLY", step["argv"])
            self.assertIn("-DTORCH_TARGET_VERSION=0x0209000000000000", step["argv"])
            self.assertEqual("-DPy_LIMITED_API=0x030A0000" in step["argv"], step["kind"] == "bind")

    def test_three_files_are_everywhere(self):
        plan = self.plan("--profile", "everywhere", "--json").json()
        platforms = sorted(cell["platform"] for cell in plan["cells"])
        self.assertEqual(platforms, ["linux_aarch64", "linux_x86_64", "win_amd64"])

    def test_everywhere_has_12_1_in_each_file(self):
        """DGX Spark's GPU: its code is in all three wheels, for the GPU code of one is that of all."""
        plan = self.plan("--profile", "everywhere", "--json", "--steps").json()
        for cell in plan["cells"]:
            self.assertEqual(cell["arches"], ["8.0", "8.6", "8.9", "9.0a", "12.0a", "12.1a"], cell["id"])
        coded = [step["id"] for step in plan["steps"] for word in step["argv"] if word.endswith("code=sm_121a")]
        self.assertEqual(len(coded), 2 * 8, "fused.cu and the seven of _qattn_sm89, for both CPUs of Linux")
        alone = self.cells("--profile", "everywhere", "--arch", "12.1")
        self.assertEqual([cell["gencode"] for cell in alone], 3 * [["arch=compute_121a,code=sm_121a"]])
        for cell in alone:
            self.assertIn(".sm121a-cp310-abi3-", cell["wheel"])

    def test_for_windows_the_gpu_code_is_that_of_linux(self):
        steps = self.plan("--profile", "everywhere", "--platform", "linux_x86_64", "--platform", "win_amd64", "--json", "--steps").json()["steps"]
        compiled = {}
        for step in steps:
            if step["kind"] == "compile":
                compiled.setdefault(step["argv"][0], []).append(step)
        self.assertEqual(sorted(compiled), ["{cxx-win_amd64}", "{nvcc-exe-13.0}"])
        windows, linux = compiled["{cxx-win_amd64}"], compiled["{nvcc-exe-13.0}"]
        self.assertEqual(len(windows), len(linux))
        for step in windows:
            self.assertIn("--cuda-host-only", step["argv"])
            self.assertIn("{shim-sagekit-windows}/torch_wall.h", step["argv"])
            self.assertTrue(step["outputs"][0].endswith(".o"))

    def test_doctor_names_what_is_missing_for_windows_and_the_line_that_brings_it(self):
        gcc = self.folder / "bin"
        gcc.mkdir()
        for name in ("g++", "python3"):
            (gcc / name).symlink_to(shutil.which(name))
        environment = self.environment(PATH=str(gcc))
        done = self.run_sagekit("--plugin", "sage2-stable", "doctor", "--platform", "win_amd64", "--json", env=environment)
        self.assertEqual(done.code, 3, done.err)
        (part,) = [part for part in done.json()["cells"][0]["parts"] if part["kind"] == "host-compiler"]
        self.assertEqual(part["state"], "lacking")
        self.assertIn("no clang++ 19 or newer and no mingw-w64", part["found"])
        self.assertEqual(part["mend"], "apt-get install clang-19 g++-mingw-w64-x86-64-posix")

    def test_its_name_is_read_as_it_is_written(self):
        (cell,) = self.cells()
        (reading,) = self.run_sagekit("name", cell["wheel"], "--json").json()["readings"]
        self.assertEqual(reading["torch_min"], "2.9")
        self.assertNotIn("torch", reading)
        self.assertEqual((reading["python"], reading["abi"]), ("cp310", "abi3"))


if __name__ == "__main__":
    unittest.main()
