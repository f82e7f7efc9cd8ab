"""Environment variables, row by row of core/data/variables.toml: each has its effect, or one sentence that says why it has none
and what has. The table of docs/environment.md is that file; SAGEKIT_ACCEPT=1 writes it anew."""
import os
import sys
import tomllib
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import harness

ROWS = tomllib.loads((harness.SOURCE_DIR / "core/data/variables.toml").read_text("utf-8"))["variable"]
PAGE = harness.SOURCE_DIR / "docs/environment.md"
BEGIN, END = "<!-- core/data/variables.toml -->\n", "<!-- end -->\n"
WITHOUT = [(name, row) for row in ROWS if "why_not" in row for name in row["names"]]
WITH = [name for row in ROWS if "effect" in row for name in row["names"]]


def table():
    text = "| variable | what it does here | it does nothing to a wheel, because | use |\n|---|---|---|---|\n"
    for row in ROWS:
        names = ", ".join(f"`{name}`" for name in row["names"])
        text += f"| {names} | {row.get('effect', '')} | {row.get('why_not', '')} | {row.get('instead', '').replace('{value}', 'N')} |\n"
    return text


class Environment(harness.CommandLine):
    def plan(self, *words, **variables):
        return self.example("plan", "--json", *words, env=self.environment(**variables))

    def program(self, name, script):
        """A program of a folder of its own."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return folder

    def test_the_page_is_the_table(self):
        page = PAGE.read_text("utf-8")
        head, rest = page.split(BEGIN)
        tail = rest.split(END)[1]
        made = head + BEGIN + "\n" + table() + "\n" + END + tail
        if os.environ.get("SAGEKIT_ACCEPT"):
            PAGE.write_text(made, "utf-8")
        self.assertEqual(page, made, "SAGEKIT_ACCEPT=1 writes it")

    def test_each_without_effect_is_answered_once(self):
        everything = {name: "7" for name, _ in WITHOUT}
        plain, done = self.plan(), self.plan("-v", **everything)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.out, plain.out, "none of them changes a plan")
        for name, row in WITHOUT:
            with self.subTest(name):
                self.assertEqual(done.err.count(f"{name}=7 does nothing to a wheel: "), 1, done.err)
                self.assertIn(f"{row['why_not']}; use {row['instead'].replace('{value}', '7')}\n", done.err)
                self.assertNotIn(f"{name}=", plain.err)

    def test_what_images_set_is_answered_when_asked(self):
        self.assertNotIn("LIBRARY_PATH", self.plan(LIBRARY_PATH="/usr/local/cuda/lib64/stubs").err)

    def test_one_by_one_too(self):
        for name in ("FAHOPPER_FORCE_BUILD", "NVCC_APPEND_FLAGS"):
            done = self.plan(**{name: "1"})
            self.assertEqual(done.err.count("does nothing to a wheel"), 1, done.err)
        self.assertNotIn("FAHOPPER", self.plan("-q", FAHOPPER_FORCE_BUILD="1").err)
        self.assertNotIn("FAHOPPER", self.plan(FAHOPPER_FORCE_BUILD="").err, "empty is unset")

    def test_verbs_that_build_nothing_say_nothing(self):
        done = self.run_sagekit("name", "sageattn3-1.0.0-280.129-cp312-cp312-linux_x86_64.whl", env=self.environment(CFLAGS="-g"))
        self.assertNotIn("CFLAGS", done.err)
        done = self.example("doctor", env=self.environment(CFLAGS="-g", TRITON_PTXAS_PATH="/x/ptxas"))
        self.assertIn("CFLAGS=-g does nothing", done.err)
        self.assertNotIn("TRITON_PTXAS_PATH", done.err, "doctor hands it on")

    def test_no_word_of_a_plan_has_one(self):
        done = self.plan("--steps", **{name: "-DHOSTILE" for name, _ in WITHOUT})
        self.assertNotIn("HOSTILE", done.out)

    # Effects: one test a variable, by its name.

    def effect_TORCH_CUDA_ARCH_LIST(self):
        by_flag = self.plan("--arch", "8.0").json()["cells"]
        self.assertEqual(self.plan(TORCH_CUDA_ARCH_LIST="compute_80;sm_80").json()["cells"], by_flag)
        self.assertNotEqual(self.plan().json()["cells"], by_flag)
        self.expect(self.plan(TORCH_CUDA_ARCH_LIST="9,75"), 2)

    def effect_MAX_JOBS(self):
        build = ("build", "--dry-run", "--source", harness.EXAMPLE_SOURCE)
        self.assertIn("steps at a time from MAX_JOBS: 3", self.example(*build, env=self.environment(MAX_JOBS="3")).err)
        self.assertNotIn("MAX_JOBS", self.example(*build, "--jobs", "2", env=self.environment(MAX_JOBS="3")).err)
        self.expect(self.example(*build, env=self.environment(MAX_JOBS="many")), 2, 'MAX_JOBS: "many" is no number of 1 or more')
        (self.folder / "sagekit.toml").write_text("jobs = 5\n")
        done = self.example(*build, env=self.environment(MAX_JOBS="3"))
        self.assertIn("from MAX_JOBS: 3", done.err)

    def found_nvcc(self, variable):
        home = self.folder / f"cuda-{variable}"
        (home / "bin").mkdir(parents=True)
        done = self.run_sagekit("env", env=self.environment(**{variable: str(home)}))
        self.assertIn(f"CUDA_HOME or CUDA_PATH names {home}, which has no bin/nvcc", done.err + done.out)
        nvcc = home / "bin/nvcc"
        nvcc.write_text("#!/bin/sh\nexit 1\n")
        nvcc.chmod(0o755)
        self.assertIn(str(nvcc), self.run_sagekit("env", "--json", env=self.environment(**{variable: str(home)})).out)

    def effect_CUDA_HOME(self):
        self.found_nvcc("CUDA_HOME")

    def effect_CUDA_PATH(self):
        self.found_nvcc("CUDA_PATH")

    def effect_PATH(self):
        folder = self.program("g++-99", "exit 1")
        self.assertIn("g++-99", self.run_sagekit("env", "--json", env=self.environment(PATH=f"{folder}:/usr/bin:/bin")).out)

    def effect_LD_LIBRARY_PATH(self):
        seen = self.folder / "seen"
        folder = self.program("g++-98", f'printenv LD_LIBRARY_PATH > "{seen}"; exit 1')
        self.run_sagekit("env", env=self.environment(PATH=f"{folder}:/usr/bin:/bin", LD_LIBRARY_PATH="/of/mine"))
        self.assertEqual(seen.read_text(), "/of/mine\n")

    def tried_python_sees(self, variable):
        seen = self.folder / f"seen-{variable}"
        folder = self.program("python3", f'printenv {variable} >> "{seen}"; exec {sys.executable} "$@"')
        self.run_sagekit("doctor", "--interpreter", folder / "python3", env=self.environment(**{variable: "/of/mine"}))
        self.assertIn("/of/mine\n", seen.read_text() if seen.exists() else "")

    def effect_TRITON_PTXAS_PATH(self):
        self.tried_python_sees("TRITON_PTXAS_PATH")

    def effect_TRITON_PTXAS_BLACKWELL_PATH(self):
        self.tried_python_sees("TRITON_PTXAS_BLACKWELL_PATH")

    def test_each_with_effect_has_it(self):
        for name in WITH:
            with self.subTest(name):
                getattr(self, f"effect_{name}")()


if __name__ == "__main__":
    unittest.main()
