#!/usr/bin/env python3
"""sagekit.toml: flag > environment > file > plugin, where it is found, and what is said of its mistakes."""
import unittest

from harness import EXAMPLES, CommandLine


class Config(CommandLine):
    def write(self, text, name="sagekit.toml"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def plan(self, *words, env=None, cwd=None):
        return self.run_sagekit("plan", "--json", "--offline", *words, env=self.environment(**(env or {})), cwd=cwd)

    def cells(self, *words, **options):
        done = self.plan(*words, **options)
        self.expect(done, 0)
        return done.json()["cells"]

    def test_a_flag_is_above_the_environment_above_the_file_above_the_plugin(self):
        default = self.cells("--plugin", "sage2")[0]["arches"]
        self.write('plugin = "sage2"\narch = "8.0"\n')
        self.assertNotEqual(default, ["8.0"])
        self.assertEqual(self.cells()[0]["arches"], ["8.0"])
        named = {"TORCH_CUDA_ARCH_LIST": "9.0"}
        self.assertEqual(self.cells(env=named)[0]["arches"], ["9.0a"])
        self.assertEqual(self.cells("--arch", "12.0", env=named)[0]["arches"], ["12.0a"])
        self.assertEqual(self.cells("--arch", "12.0")[0]["arches"], ["12.0a"])
        self.assertEqual(self.cells("--config", "/dev/null", "--plugin", "sage2")[0]["arches"], default)

    def test_an_unknown_key_has_its_place_and_the_nearest(self):
        self.write('plugin = "sage2"\npyton = ["3.12"]\n')
        self.expect(self.plan(), 2, "CFG004", "sagekit.toml:2:1", "python")

    def test_what_the_flag_refuses_is_said_of_the_key(self):
        self.write('plugin = "sage2"\nmemory = "12Q"\n')
        self.expect(self.run_sagekit("build", "-n", "--offline"), 2, "CFG006", "sagekit.toml:2:1", "12Q")
        self.expect(self.run_sagekit("build", "-n", "--config", "nosuch.toml"), 2, "CFG007", "nosuch.toml")

    def test_it_is_found_above_in_the_repository_only_and_after_the_change_of_folder(self):
        self.write('plugin = "sage2"\narch = "8.0"\n', "repo/sagekit.toml")
        (self.folder / "repo" / "deep").mkdir()
        self.expect(self.plan(cwd=self.folder / "repo" / "deep"), 2, "PLG012")
        (self.folder / "repo" / ".git").mkdir()
        self.assertEqual(self.cells(cwd=self.folder / "repo" / "deep")[0]["arches"], ["8.0"])
        self.assertEqual(self.cells("-C", "repo/deep")[0]["arches"], ["8.0"])
        self.assertEqual(self.cells("--config", "repo/sagekit.toml")[0]["arches"], ["8.0"])

    def torch(self, *words):
        """Whether the cell's torch would be fetched ("comes") or not ("lacking")."""
        cell = self.run_sagekit("doctor", "--json", *words).json()["cells"][0]
        return {part["kind"]: part["state"] for part in cell["parts"]}["torch"]

    def test_offline_and_locked_are_the_flags_and_false_is_what_holds_without_them(self):
        self.write('plugin = "sage2"\n')
        self.assertEqual(self.torch(), "comes")
        for key in ("offline", "locked"):
            self.write(f'plugin = "sage2"\n{key} = false\n')
            self.assertEqual(self.torch(), "comes")
            self.write(f'plugin = "sage2"\n{key} = true\n')
            self.assertEqual(self.torch(), "lacking")
            self.assertEqual(self.torch("--config", "/dev/null", "--plugin", "sage2"), "comes")
        self.write('plugin = "sage2"\noffline = "yes"\n')
        self.expect(self.plan(), 2, "error[CFG005]", "sagekit.toml:2")

    def test_the_store_is_the_files_unless_the_environment_names_one(self):
        self.write('plugin = "example"\nstore = "kept"\n')
        words = ("--plugin-dir", EXAMPLES, "build", "-n", "--offline")
        clean = self.environment()
        self.assertIn("sagekit.toml: plugin\n", self.run_sagekit(*words, env=clean).err)
        del clean["SAGEKIT_STORE"]
        self.assertIn("sagekit.toml: plugin, store\n", self.run_sagekit(*words, env=clean).err)
        self.assertNotIn("plugin, store", self.run_sagekit(*words, "--store", "other", env=clean).err)

    def test_verify_takes_its_policy_from_it(self):
        self.write('policy = "nosuch"\njobs = 2\n')
        self.expect(self.run_sagekit("verify", "no.whl"), 2, "nosuch")
        self.expect(self.run_sagekit("verify", "no.whl", "--policy", "pypi"), 2)
        self.write('policy = "pypi"\nplugin = "sage2"\nmemory = "8G"\n')
        self.expect(self.run_sagekit("verify", "no.whl"), 2, "sagekit.toml: policy\n")

    def test_overrides_hold_for_the_cells_they_select_below_flags_and_variables(self):
        self.write('plugin = "sage2"\nprofile = "current"\narch = "9.0"\n[[overrides]]\nselect = "*-python312"\narch = "8.0"\n'
                   'inherit.arch = "append"\nnaming = "build-tag"\n[[overrides]]\nselect = "*-cu99-*"\narch = "8.0"\n'
                   '[[overrides]]\nselect = "*-python313"\nrequires-dist = ["triton>=3.5"]\ninherit.requires-dist = "append"\n')
        done = self.plan("--python", "3.12,3.13", "--torch", "2.11", "--cuda", "13.0")
        self.expect(done, 0, "sagekit.toml: plugin, profile, arch, overrides", "warning[PLN013]", "*-cu99-*", "sagekit.toml:9")
        cells = {cell["python"]: cell for cell in done.json()["cells"]}
        self.assertEqual(cells["3.12"]["arches"], ["8.0", "9.0a"])
        self.assertTrue(cells["3.12"]["id"].endswith("-sm80-sm90a"))
        self.assertEqual(cells["3.13"]["arches"], ["9.0a"])
        self.assertNotEqual(cells["3.12"]["wheel"].split("-")[1], cells["3.13"]["wheel"].split("-")[1])
        self.assertIn("triton>=3.5", cells["3.13"]["requires_dist"])
        self.assertNotIn("triton>=3.5", cells["3.12"]["requires_dist"])
        words = ("--python", "3.12", "--torch", "2.11", "--cuda", "13.0")
        self.assertEqual(self.cells(*words, "--arch", "12.0")[0]["arches"], ["12.0a"])
        self.assertEqual(self.cells(*words, env={"TORCH_CUDA_ARCH_LIST": "12.0"})[0]["arches"], ["12.0a"])
        self.assertNotIn("PLN013", self.plan("-q", *words).err)

    def test_what_cannot_differ_between_cells_is_refused_with_the_reason(self):
        self.write('plugin = "sage2"\n[[overrides]]\nselect = "*"\njobs = 2\n')
        self.expect(self.plan(), 2, "error[CFG008]", "sagekit.toml:4:", "whole command")
        self.write('plugin = "sage2"\n[[overrides]]\nselect = "*"\nnaming = "plian"\n')
        self.expect(self.plan(), 2, "error[PLN003]", "sagekit.toml:2", "plain")
        self.write('plugin = "sage2"\n[[overrides]]\nselect = "*"\narch = 9.0\n')
        self.expect(self.plan(), 2, 'error[CFG005]: "arch" must be a string or a list of strings, not a number', "put it in quotes")

    def test_a_verb_that_reads_none_says_so(self):
        self.write("nonsense = 1\n")
        self.expect(self.run_sagekit("schema", "config"), 0)
        self.expect(self.run_sagekit("env", "--config", "sagekit.toml"), 2, "CLI001", "env reads no sagekit.toml")


if __name__ == "__main__":
    unittest.main()
