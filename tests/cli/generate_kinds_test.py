#!/usr/bin/env python3
"""What slurm, ansible, cibuildwheel and consumer write; the engines themselves are in tests/real."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import EXAMPLES, SOURCE_DIR, CommandLine
from release_wheels import built, pass_all
from wheels import Wheel


class Kinds(CommandLine):
    def made(self, plugin, kind, *words, code=0, texts=()):
        done = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", plugin, "generate", kind, "-o", "out", *words)
        self.expect(done, code, *texts)
        return {str(path.relative_to(self.folder / "out")): path for path in (self.folder / "out").rglob("*") if path.is_file()}

    def plan(self, plugin, *words):
        return self.run_sagekit("--plugin", plugin, "plan", "--json", *words).json()

    # Cells that need what no fetched toolkit has

    def test_cells_for_another_cpu_with_the_cuda_runtime_linked_in_are_said(self):
        platforms = ("--platform", "linux_x86_64,linux_aarch64", "--python", "3.11", "--cuda", "13.0")
        for kind in ("github", "bake", "dockerfile", "slurm"):
            for plugin, told in (("example", True), ("sage2", False)):
                words = () if told else ("--profile", "current", "--torch", "2.11")
                if kind == "bake":
                    words += ("--base", "debian:13-slim")
                done = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", plugin, "generate", kind, "-o", f"{kind}-{plugin}", *platforms, *words)
                self.expect(done, 0)
                with self.subTest(kind=kind, plugin=plugin):
                    self.assertEqual("TCH007" in done.err, told, done.err)
                    if told:
                        note = next(line for line in done.err.splitlines() if "TCH007" in line)
                        self.assertIn("example-cu130-python311-linux_aarch64", note)
                        self.assertNotIn("example-cu130-python311-sm", note)

    # Slurm

    def test_slurm_s_scripts_are_scripts_and_hold_the_plan(self):
        files = self.made("sage2", "slurm", "--profile", "current", "--shards", "8", "--cpus", "2", "--partition", "gpu", "--shared-store", "/shared/a b", "--arch", "8.0;9.0")
        self.assertEqual(sorted(files), ["build.sbatch", "finish.sbatch", "submit.sh"])
        for path in files.values():
            subprocess.run(["bash", "-n", path], check=True)
            self.assertTrue(path.stat().st_mode & 0o100)
        build = files["build.sbatch"].read_text()
        for text in ("#SBATCH --array=1-8\n", "#SBATCH --partition=gpu\n", "#SBATCH --requeue\n", "--store '/shared/a b'", "--arch '8.0;9.0'", '--shard "$SLURM_ARRAY_TASK_ID/8"'):
            self.assertIn(text, build)
        # What Slurm reads of a script ends at its first command.
        self.assertLess(build.rindex("\n#SBATCH"), build.index("\nset -u"))
        self.assertIn("--require-hits", files["finish.sbatch"].read_text())
        # The largest step as it was measured, 15 % more than that, and what sagekit takes; its steps may have the former two.
        memory, budget = (int(re.search(rf"--mem[a-z]*[= ](\d+)M{end}", build)[1]) for end in ("\n", " --stop"))
        peak = self.plan("sage2", "--profile", "current", "--arch", "8.0;9.0")["totals"]["peak_memory_bytes_estimate"]
        self.assertGreater(peak, 1.87e9)
        self.assertGreater(memory * 2**20, 1.15 * peak + 150e6)
        self.assertGreater(budget * 2**20, peak)
        self.assertGreater(memory * 2**20, 1.15 * budget * 2**20 + 150e6)

    def test_slurm_asks_for_no_more_tasks_than_there_is_work(self):
        build = self.made("sm121", "slurm", "--shards", "1000")["build.sbatch"].read_text()
        steps = self.plan("sm121", "--steps")["steps"]
        self.assertEqual(int(re.search(r"--array=1-(\d+)", build)[1]), sum(not step["depends"] for step in steps))

    def test_slurm_asks_for_no_more_cpus_than_there_is_work(self):
        build = self.made("sm121", "slurm", "--cpus", "999999", texts=("1 task of ",))["build.sbatch"].read_text()
        steps = self.plan("sm121", "--steps")["steps"]
        self.assertEqual(int(re.search(r"--cpus-per-task=(\d+)", build)[1]), len(steps))

    def test_slurm_refuses_names_that_it_does_not_have(self):
        self.made("sage2", "slurm", "--partition", "a b", code=2, texts=("GEN003", "--partition"))
        self.made("sage2", "slurm", "--account", "x\n#SBATCH --uid=0", code=2, texts=("GEN003",))
        self.assertFalse((self.folder / "out").exists())

    def test_a_hostile_path_changes_nothing_but_itself(self):
        for kind in ("slurm", "ansible"):
            texts = []
            for source in ("/benign", "/so\"ur$(touch pwned)`c'e\\ ; #{{ d }}"):
                files = self.made("example", kind, "--source", source, "--force")
                texts.append({name: path.read_text().splitlines() for name, path in files.items() if path.suffix != ".so"})
            self.assertEqual(texts[0].keys(), texts[1].keys())
            for name, lines in texts[0].items():
                self.assertEqual(len(lines), len(texts[1][name]), name)
                for benign, hostile in zip(lines, texts[1][name]):
                    self.assertTrue(benign == hostile or "benign" in benign or benign.startswith("# sagekit-sha256"), (name, benign, hostile))
            subprocess.run(["bash", "-n", *(path for path in files.values() if path.suffix in (".sh", ".sbatch"))], stdin=subprocess.DEVNULL, check=True)

    # Ansible

    def test_ansible_is_about_one_wheel(self):
        self.made("sage3", "ansible", "--profile", "stable", code=2, texts=("GEN009", "--cells"))
        files = self.made("sm121", "ansible", "--venv", "/opt/{{ evil }}/venv")
        self.assertEqual(sorted(files), ["roles/sage_sm121/defaults/main.yml", "roles/sage_sm121/tasks/main.yml", "sage_sm121.yml"])
        defaults = files["roles/sage_sm121/defaults/main.yml"].read_text()
        self.assertIn('sage_companions: ["triton>=3.6"]\n', defaults)
        self.assertIn('sage_venv: !unsafe "/opt/{{ evil }}/venv"\n', defaults)
        self.assertIn("sage_from: build\n", defaults)
        tasks = files["roles/sage_sm121/tasks/main.yml"].read_text()
        self.assertLess(tasks.index("Install companions first"), tasks.index("Install the wheel"))
        self.assertIn("--no-deps", tasks)

    def test_ansible_takes_the_wheel_that_coverage_takes(self):
        cell, commit = (plan := self.example("plan", "--json").json())["cells"][0], plan["source"]["commit"]
        row = {"file": "sagekit_example-9.9-py3-none-manylinux_2_28_x86_64.whl", "size_bytes": 1, "sha256": "a" * 64, "version": "9.9",
               "cell": "example-cu130", "cuda": cell["cuda"], "platform": cell["platform"], "arches": cell["arches"], "commit": commit, "verdict": "pass"}

        def manifest(*rows):
            (self.folder / "m.json").write_text(json.dumps({"schema": "sagekit.release/1", "plugin": {}, "source": {}, "wheels": rows}))
            return "--release", "m.json"
        url = "https://example.org/w/"
        words = manifest(row | {"url": url + "any.whl"})  # for any Python, and so of another cell's name
        files = self.made("example", "ansible", *words)
        self.assertIn(f'sage_wheel_url: "{url}any.whl"\n', files["roles/sage_example/defaults/main.yml"].read_text())
        for other in (row, row | {"url": url, "arches": ["5.2"]}, row | {"url": url, "cuda": "12.8"}, row | {"url": url, "cell": cell["id"], "file": "other-" + row["file"].partition("-")[2]}):
            self.made("example", "ansible", *manifest(other), code=4, texts=("GEN002", cell["id"]))
        # One from the plan's source stands above one from another.
        older = row | {"file": row["file"].replace("9.9", "9.8"), "url": url + "older.whl", "commit": "f" * 40}
        files = self.made("example", "ansible", "--force", *manifest(older, row | {"url": url + "any.whl"}))
        self.assertIn(f'sage_wheel_url: "{url}any.whl"\n', files["roles/sage_example/defaults/main.yml"].read_text())

    def test_companions_are_said_where_wheels_are_made(self):
        for words in (("sm121", "dockerfile"), ("sm121", "ansible")):
            self.made(*words, texts=("triton is needed beside the wheel with Triton 3.5", "not needed: Triton 3.6 and newer"))
        self.made("sage2", "dockerfile")

    # cibuildwheel

    def test_cibuildwheel_s_settings_are_those_of_the_backend(self):
        sys.path.insert(0, str(SOURCE_DIR / "host" / "python"))
        from sagekit import build_backend

        made = self.made("sage2", "cibuildwheel", "--profile", "current", "--arch", "8.0;9.0+PTX", "--naming", "build-tag")
        for path in made.values():
            line = next(line for line in path.read_text().splitlines() if line.startswith("config-settings = "))
            settings = dict(word.split("=", 1) for word in shlex.split(json.loads(line.partition(" = ")[2])))
            self.assertEqual(set(settings), {"arch", "cuda", "naming", "torch"})
            self.assertEqual((settings["arch"], settings["naming"]), ("8.0;9.0+PTX", "build-tag"))
            build_backend.words(settings, build_backend.PLAN_SETTINGS)  # ends the program with an unknown one

    def test_cibuildwheel_builds_what_the_plan_shows(self):
        # Also on a builder with a GPU, where the backend would build for that one alone.
        for path in self.made("sage2", "cibuildwheel", "--allow-defect", "sm90-uninitialised-output", "--revision", "v2.2.0").values():
            self.assertRegex(path.read_text(), r"arch=8\.0;8\.6;8\.9;9\.0.* allow-defect=sm90-uninitialised-output")
        done = self.run_sagekit("--plugin", "sage2", "generate", "cibuildwheel", "--backend", "setup-py", "-o", "none")
        self.expect(done, 2, "GEN003", "--backend setup-py")

    def test_a_scheme_of_sagekit_toml_goes_along_or_is_refused(self):
        (self.folder / "sagekit.toml").write_text('[[scheme]]\nname = "ours"\nversion = "{version}+cu{cuda_digits}.pt{torch_minor}"\n')
        for words in (("--naming", "ours"), ()):
            if not words:  # the file's own choice
                (self.folder / "sagekit.toml").write_text('naming = "ours"\n' + (self.folder / "sagekit.toml").read_text())
            # The source distribution is built where there is no such file.
            done = self.run_sagekit("--plugin", "sage2", "generate", "cibuildwheel", "--profile", "current", "-o", "none", *words)
            self.expect(done, 2, "GEN003", "[[scheme]]", '"ours"')
            self.assertFalse((self.folder / "none").exists())
        files = self.made("sage2", "github", "--profile", "current", "--naming", "ours", "--sagekit", "sagekit==1.0")
        config = next(path for name, path in files.items() if name.endswith("overrides.sagekit.toml"))
        plan = self.run_sagekit("--plugin", "sage2", "plan", "--profile", "current", "--naming", "ours", "--config", config, "--json")
        self.assertRegex(plan.json()["cells"][0]["wheel"], r"\+cu\d+\.pt2\.\d+-")

    def test_cibuildwheel_s_identifiers_are_the_cells(self):
        files = self.made("sage3", "cibuildwheel", "--profile", "sage3-all", "--platform", "linux_x86_64,win_amd64")
        cells = self.plan("sage3", "--profile", "sage3-all", "--platform", "linux_x86_64,win_amd64")["cells"]
        self.assertEqual(len(cells), 16)
        for torch, cuda in (("2.7.0", "12.8"), ("2.8.0", "12.9")):
            text = files[f"cibuildwheel-torch{torch[0]}{torch[2]}-cu{cuda.replace('.', '')}.toml"].read_text()
            identifiers = re.findall(r'"(cp\d+-[a-z0-9_]+)"', text)
            wanted = [f"cp{cell['python'].replace('.', '')}-{cell['platform'].replace('linux', 'manylinux')}" for cell in cells if cell["torch"] == torch]
            self.assertEqual(sorted(identifiers), sorted(wanted))
            arch = "arch=12.0a" if cuda == "12.8" else "'arch=12.0a;12.1a'"
            self.assertIn(f'config-settings = "cuda={cuda} torch={torch} {arch}"', text)

    def test_cibuildwheel_cannot_say_what_holds_for_some_cells(self):
        (self.folder / "sagekit.toml").write_text('[[overrides]]\nselect = "*-python312"\narch = "9.0"\n')
        self.made("sage2", "cibuildwheel", code=2, texts=("GEN003", "[[overrides]]", "--arch"))
        self.assertFalse((self.folder / "out").exists())

    # Consumer

    def release(self, *words):
        dist = self.folder / "dist"
        for python in ("3.12", "3.13"):
            for platform in ("linux_x86_64", "win_amd64"):
                built(python=python, platform=platform).write(dist)
        self.run_sagekit("release", dist, *words)
        pass_all(dist)
        return dist / "sagekit.release.json"

    def test_requirements_have_hashes_and_markers(self):
        manifest = self.release("--base-url", "https://example.org/w/")
        files = self.made("sage2", "consumer", "--release", manifest)
        self.assertEqual(sorted(files), ["Dockerfile.consumer", "requirements-torch211-cu130.txt", "uv-sources-torch211-cu130.toml"])
        lines = [line for line in files["requirements-torch211-cu130.txt"].read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertRegex(line, r'^tiny @ https://example\.org/w/\S+\.whl ; python_version == "3\.1[23]" and sys_platform == "(linux|win32)".* --hash=sha256:[0-9a-f]{64}$')
        self.made("sage2", "consumer", "--release", manifest.parent)  # the folder that `release` wrote it into
        self.assertEqual(len(self.made("sage2", "consumer", "--release", manifest, "--python", "3.12", "--force")), 3)
        narrowed = [line for line in files["requirements-torch211-cu130.txt"].read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(narrowed), 2)

    def test_a_wheel_for_many_is_found_by_each_of_them(self):
        def wheel(version, tag, **said):
            made = Wheel("tiny", version, tag)
            made.metadata = made.metadata.replace("Summary:", "Requires-Python: >=3.9\nSummary:")
            if said:
                made.files[f"{made.dist_info}/sagekit.json"] = json.dumps({"schema": "sagekit.provenance/1", "cuda": "13.0", "platform": "linux_x86_64", **said}).encode()
            made.write(self.folder / "dist")

        wheel("1.0+cu130", "py3-none-manylinux_2_28_x86_64")
        wheel("1.0+cu130.torch2.9andhigher", "cp310-abi3-manylinux_2_28_x86_64", python="3.10", torch_min="2.9.0")
        wheel("1.0+cu130.torch2.11", "cp312-cp312-manylinux_2_28_x86_64", python="3.12", torch="2.11.0")
        self.run_sagekit("release", "dist", "--base-url", "https://example.org/w/")
        pass_all(self.folder / "dist")
        for words, found in ((("--python", "3.9"), {"cu130"}),
                             (("--python", "3.14"), {"cu130", "torch29-cu130"}),
                             (("--python", "3.12"), {"cu130", "torch29-cu130", "torch211-cu130"}),
                             (("--torch", "2.10"), {"torch29-cu130"}),
                             (("--torch", "2.9"), {"torch29-cu130"}),
                             (("--torch", "2.11"), {"torch29-cu130", "torch211-cu130"}),
                             (("--torch", "2.11.0", "--python", "3.11"), {"torch29-cu130"}),
                             (("--cuda", "13", "--python", "3.13t"), {"cu130"})):
            out = f"out{'-'.join(words)}"
            self.expect(self.run_sagekit("--plugin", "sage2", "generate", "consumer", "--release", "dist", "-o", out, *words), 0)
            self.assertEqual({path.stem.removeprefix("requirements-") for path in (self.folder / out).glob("*.txt")}, found, words)
        for words in (("--torch", "2.8"), ("--cuda", "12.8"), ("--python", "3.8"), ("--platform", "win_amd64")):
            self.made("sage2", "consumer", "--release", "dist", *words, code=4, texts=("GEN002",))

    def test_each_arch_set_is_a_file_where_there_are_several(self):
        def with_arches(arches, suffix):
            wheel = built()
            before = wheel.dist_info
            wheel.version, wheel.metadata = wheel.version + suffix, wheel.metadata.replace(wheel.version, wheel.version + suffix)
            wheel.files[f"{wheel.dist_info}/sagekit.json"] = wheel.files.pop(f"{before}/sagekit.json").replace(b'["9.0a"]', json.dumps(arches).encode())
            wheel.write(self.folder / "dist")
        with_arches(["8.0"], ".sm80")
        self.release("--base-url", "https://example.org/w/")
        manifest = self.folder / "dist" / "sagekit.release.json"
        files = self.made("sage2", "consumer", "--release", manifest)
        self.assertEqual(sorted(name for name in files if name.endswith(".txt")), ["requirements-torch211-cu130-sm80.txt", "requirements-torch211-cu130-sm90a.txt"])
        for name, count in (("sm80", 1), ("sm90a", 4)):
            lines = [line for line in files[f"requirements-torch211-cu130-{name}.txt"].read_text().splitlines() if not line.startswith("#")]
            self.assertEqual(len(lines), count)
            self.assertEqual(len({line.split(" ; ")[1].split(" --hash")[0] for line in lines}), count)
        with_arches(["8.0"], ".other")
        self.release("--base-url", "https://example.org/w/")
        self.made("sage2", "consumer", "--release", manifest, code=2, texts=("GEN008", ".sm80-cp312", ".other-cp312"))

    def test_a_tag_of_one_python_without_its_abi_is_for_that_one(self):
        for python in ("310", "311"):
            Wheel("tiny", "1.0+cu130torch2.11.0", f"cp{python}-none-linux_x86_64").write(self.folder / "dist")
        self.run_sagekit("release", "dist", "--base-url", "https://example.org/w/")
        pass_all(self.folder / "dist")
        self.assertIn("| 3.10 | linux", (self.folder / "dist" / "NOTES.md").read_text())
        files = self.made("sage2", "consumer", "--release", self.folder / "dist")
        text = files["requirements-torch211-cu130.txt"].read_text()
        self.assertIn('python_version == "3.10" and', text)
        self.assertIn('python_version == "3.11" and', text)

    def test_a_release_that_cannot_be_written_down(self):
        self.made("sage2", "consumer", code=2, texts=("GEN008", "--release"))
        self.made("sage2", "consumer", "--release", self.release(), code=2, texts=("GEN008", "no address"))
        manifest = self.folder / "dist" / "sagekit.release.json"
        self.made("sage2", "consumer", "--release", "gone.json", code=2, texts=("FIL001",))
        self.assertEqual(self.release("--base-url", "https://example.org/"), manifest)
        manifest.write_text(manifest.read_text().replace("https://example.org/", "https://me:secret@example.org/"))
        done = self.run_sagekit("--plugin", "sage2", "generate", "consumer", "--release", manifest, "-o", "out")
        self.assertEqual(done.code, 2, done.err)
        self.assertNotIn("secret", done.err)
        self.made("sage2", "consumer", "--release", manifest, "--torch", "2.6", code=4, texts=("GEN002",))
        self.assertFalse((self.folder / "out").exists())

    def test_a_flag_of_another_kind_is_refused(self):
        self.made("sage2", "dockerfile", "--partition", "x", code=2, texts=("CLI001", "--partition"))
        self.made("sage2", "cibuildwheel", "--base", "debian", code=2, texts=("CLI001", "--base", "leave it out"))


if __name__ == "__main__":
    unittest.main()
