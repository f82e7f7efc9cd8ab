#!/usr/bin/env python3
"""Wrong input: what, where, why, what to do, and the promised exit code."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import unittest

from harness import EXAMPLES, SAGEKIT, SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from wheels import Wheel  # noqa: E402

BAD_PLUGINS = pathlib.Path(os.environ["SAGEKIT_BAD_PLUGINS"])


class Usage(CommandLine):
    def test_version_names_the_three_numbers(self):
        done = self.run_sagekit("--version")
        self.assertEqual(self.run_sagekit("-V").out, done.out)
        self.expect(self.run_sagekit("list"), 2, 'did you mean "plugin list"?')
        (self.folder / "inner").mkdir()
        self.expect(self.run_sagekit("verify", "sageattention"), 2, "--installed sageattention --interpreter PYTHON")
        self.expect(self.run_sagekit("diff", "inner", "inner"), 2, "it is a folder", "name a file in it")
        self.expect(done, 0)
        self.assertRegex(done.out, r"^sagekit \d+\.\d+\.\d+ \(plugin ABI \d+, spec schema \d+\)\n$")

    def test_every_verb_has_help_with_two_examples_its_variables_and_its_exit_codes(self):
        verbs = list(self.verbs())
        self.assertIn(["plan"], verbs)
        self.assertIn(["toolchain", "fetch"], verbs)
        for verb in verbs:
            done = self.run_sagekit(*verb, "--help")
            self.expect(done, 0)
            examples, rest = done.out.split("\nExamples:\n")[1].split("\nEnvironment:\n")
            self.assertGreaterEqual(examples.count("  sagekit "), 2, verb)
            variables, exits = rest.split("\nExit codes:\n")
            self.assertIn("  NO_COLOR ", variables)
            self.assertEqual([line.split()[0] for line in exits.splitlines() if line[2] != " "][0], "0", verb)
            self.assertIn(f"Usage: sagekit {' '.join(verb)} ", done.out)
            self.assertLessEqual(max(map(len, done.out.split("\nExamples:")[0].splitlines())), 80)
        self.assertIn("TORCH_CUDA_ARCH_LIST", self.run_sagekit("plan", "--help").out.split("\nEnvironment:\n")[1])

    def test_examples_of_plan_and_doctor_select_something(self):
        for verb in ("plan", "doctor"):
            help_text = self.run_sagekit(verb, "--help").out
            self.assertIn("after PATH and before /usr/local/cuda", " ".join(help_text.split()))
            examples = help_text.split("\nExamples:\n")[1].split("\nEnvironment:\n")[0]
            for line in examples.splitlines():
                words = shlex.split(line)
                if words[1:2] == ["--plugin"] and "--interpreter" not in words and "--missing-from" not in words:
                    self.assertIn(self.run_sagekit(*words[1:]).code, (0, 3), line)

    def test_a_code_is_explained_by_what_it_means_whatever_the_order_of_its_table(self):
        (page,) = self.run_sagekit("explain", "PLN004", "--json").json()["findings"]
        self.assertTrue(page["title"].startswith("profile, globs and narrowing flags together select no cell"), page)
        self.assertIn("**Exit.** 4", page["text"])

    def test_usage_names_the_program_once(self):
        self.assertIn("\nUsage: sagekit VERB [FLAGS]\n", self.run_sagekit("--help").out)

    def test_global_flags_stand_before_or_after_the_verb(self):
        before = self.run_sagekit("--json", "plugin", "list")
        after = self.run_sagekit("plugin", "list", "--json")
        self.expect(before, 0)
        self.assertEqual(before.out, after.out)

    def test_a_misspelled_flag_gets_the_nearest(self):
        self.expect(self.run_sagekit("--plugin", "sage2", "plan", "--profle", "current"), 2, "--profile")

    def test_a_misspelled_verb_gets_the_nearest(self):
        self.expect(self.run_sagekit("plann"), 2, '"plan"')

    def test_every_verb_suggests_its_near_flags_and_none_that_is_far(self):
        """A letter lost in the middle of a flag's name, and two that changed places in a verb's."""
        for verb in self.verbs():
            own = [word.rstrip(",") for line in self.run_sagekit(*verb, "--help").out.split("\nFlags of every verb:")[0].splitlines()
                   for word in line.split()[:2] if line.startswith("  -") and word.startswith("--")]
            flags = set(own) | {"--json", "--plugin"}
            for flag in flags:
                typed = flag[:-2] + flag[-1]
                if len(flag) > 5 and typed not in flags:
                    self.expect(self.run_sagekit(*verb, typed), 2, f'unknown flag "{typed}"', "did you mean")
            done = self.run_sagekit(*verb, "--xyzzy")
            self.expect(done, 2, 'unknown flag "--xyzzy"', f"see sagekit {' '.join(verb)} --help")
            self.assertNotIn("did you mean", done.err, verb)
            word = verb[-1]
            typed = word[0] + word[2] + word[1] + word[3:] if len(word) > 3 else word
            if typed != word:  # "toolchain"
                self.expect(self.run_sagekit(*verb[:-1], typed), 2, f'did you mean "{word}"?')

    def test_what_other_programs_call_it_is_understood(self):
        for words, meant in ((("install", "--pyton", "x", "y.whl"), "--interpreter"), (("resolve", "--python", "3.12"), "--interpreter"),
                             (("cache", "trim", "--keep", "5"), "--older-than"), (("build", "--outdir", "x"), "--output"),
                             (("chek", "x"), "verify"), (("show", "x"), "inspect"), (("clean",), "cache trim")):
            self.expect(self.run_sagekit(*words), 2, f'did you mean "{meant}"?')

    def test_a_flag_of_another_verb_names_that_verb(self):
        self.expect(self.run_sagekit("verify", "--arch", "9.0", "x.whl"), 2, 'unknown flag "--arch"', "it is a flag of plan, build")

    def test_a_build_command_made_a_plan_is_told_why_plan_takes_less(self):
        for flag in (("--source", "../SageAttention"), ("--vendored=cutlass=x",), ("--jobs", "4"), ("-o", "dist")):
            self.expect(self.run_sagekit("--plugin", "sage2", "plan", *flag), 2, f"plan has no {flag[0].split('=')[0]}", "leave it out", "build --dry-run")

    def test_several_profiles_are_told_from_a_misspelled_one(self):
        for word in ("current,sage3-all", "current;default", "current default"):
            self.expect(self.run_sagekit("--plugin", "sage3", "plan", "--profile", word), 2, "PLN001", "--profile takes one", "one call for each")

    def test_a_wheel_where_none_is_taken_gets_the_verbs_for_wheels(self):
        self.expect(self.run_sagekit("doctor", "X.whl"), 2, 'unexpected argument "X.whl"', "sagekit verify X.whl", "sagekit resolve X.whl")

    def test_one_too_many_is_told_what_is_taken(self):
        self.expect(self.run_sagekit("resolve", "a.whl", "b.whl"), 2, 'unexpected argument "b.whl"', "resolve takes PLACE")
        self.expect(self.run_sagekit("env", "x"), 2, 'unexpected argument "x"', "see sagekit env --help")

    def test_quiet_means_errors_only(self):
        wheel = Wheel()
        wheel.metadata = wheel.metadata.replace("Version: 1.0\n", "Version: 1.0\nLicense-File: LICENSE\n")
        path = wheel.write(self.folder).rename(self.folder / "short.whl")
        self.expect(self.run_sagekit("inspect", path), 0, "warning[INF", "error[NAM002]")
        done = self.run_sagekit("-q", "inspect", path)
        self.expect(done, 0, "error[NAM002]")
        self.assertNotRegex(done.err, r"warning\[|note\[")

    def test_a_cell_is_named_with_arches_whether_its_id_says_them_or_not(self):
        said = [self.run_sagekit("--plugin", "sage2", "name", "sage2-pytorch211-cu130-python312" + suffix, "--arch", "RTX 5090", "--json").json()
                for suffix in ("", "-sm120a")]
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0]["arches"], ["12.0a"])

    def test_a_priority_of_nought_is_one(self):
        self.expect(self.run_sagekit("build", "--nice", "0"), 2, "error[PLG012]")
        self.expect(self.run_sagekit("build", "--nice", "-1"), 2, '"-1" is no number of 0 or more')
        self.expect(self.run_sagekit("build", "--jobs", "0"), 2, '"0" is no number of 1 or more')

    def test_arguments_stand_where_they_are_typed(self):
        self.expect(self.run_sagekit("diff", "a"), 2, "diff needs SECOND", "SECOND: The newer one")
        self.expect(self.run_sagekit("diff", "no1", "no2"), 2, "cannot read no1", "cannot read no2")
        self.expect(self.run_sagekit("diff", "a", "b", "c"), 2, 'unexpected argument "c"')
        self.expect(self.run_sagekit("inspect", "--", "-no"), 2, "cannot read -no")
        self.expect(self.run_sagekit("plugin", "lst"), 2, 'unknown verb "lst"', '"list"')

    def test_help_is_a_word_too(self):
        self.assertEqual(self.run_sagekit("help", "verify").out, self.run_sagekit("verify", "--help").out)
        self.assertEqual(self.run_sagekit("help").out, self.run_sagekit("--help").out)
        self.assertIn("Usage: sagekit toolchain fetch", self.run_sagekit("help", "toolchain", "fetch").out)
        self.expect(self.run_sagekit("publish", "pypi"), 2, 'publish has no verb "pypi"', "one of: github, huggingface, index")
        self.expect(self.run_sagekit("cache"), 2, "cache needs one of its verbs", "one of: stats, trim")
        self.expect(self.run_sagekit("help", "verfy"), 2, 'unknown verb "verfy"', '"verify"')

    def test_a_file_where_the_verb_should_be_gets_the_verbs_for_files(self):
        self.expect(self.run_sagekit("dist/x.whl"), 2, '"dist/x.whl" is no verb', "sagekit verify dist/x.whl", "sagekit inspect dist/x.whl")

    def test_a_flag_before_its_verb_is_told_where_it_goes(self):
        self.expect(self.run_sagekit("--arch", "9.0", "--plugin", "sage2", "plan"), 2, "--arch stands before its verb", "sagekit plan --arch")
        self.expect(self.run_sagekit("-o", "dist", "build"), 2, "-o stands before its verb", "sagekit build -o")
        self.expect(self.run_sagekit("--naming", "plain"), 2, "--naming is a flag of plan, build", "sagekit plan --naming")

    def test_an_argument_that_is_missing_is_named_with_its_choices(self):
        self.expect(self.run_sagekit("completion"), 2, "completion needs SHELL", "bash, zsh, fish")
        self.expect(self.run_sagekit("schema"), 2, "schema needs NAME", "one of build, build-events, cache, config")
        self.expect(self.run_sagekit("explain"), 2, "explain needs LOG", "FAT101")
        self.expect(self.run_sagekit("inspect"), 2, "inspect needs FILE...")

    def test_an_argument_may_be_the_word_of_a_verb(self):
        for name in ("inspect", "verify", "diff", "plan", "env"):
            self.expect(self.run_sagekit("schema", name), 0)

    def test_a_code_may_be_two_words(self):
        self.assertEqual(self.run_sagekit("explain", "FAT", "101").out, self.run_sagekit("explain", "FAT101").out)
        self.expect(self.run_sagekit("explain", "FAT", "101"), 0)

    def test_two_codes_are_no_log(self):
        self.expect(self.run_sagekit("explain", "WHY411", "CNT001"), 2, "one code at a time")

    def test_quiet_and_verbose_exclude_each_other(self):
        self.expect(self.run_sagekit("-q", "-v", "plugin", "list"), 2, "-q and -v")

    def test_without_a_plugin_the_loaded_ones_are_named(self):
        self.expect(self.run_sagekit("plan"), 2, "sage2, sage2-stable, sage3, sm121", "--plugin")

    def test_the_example_of_a_plugin_is_for_the_verb_that_was_typed(self):
        self.expect(self.run_sagekit("doctor"), 2, "error[PLG012]", "sagekit --plugin sage2 doctor")
        self.expect(self.run_sagekit("build"), 2, "sagekit --plugin sage2 build")

    def test_a_package_given_for_a_plugin_names_the_plugins_that_make_it(self):
        self.expect(self.run_sagekit("--plugin", "SageAttn3", "plan"), 2, "error[PLG013]", "--plugin sage3 makes it")
        self.expect(self.run_sagekit("--plugin", "sageattention", "plan"), 2, "--plugin sage2 or --plugin sage2-stable or --plugin sm121 makes it")
        self.expect(self.run_sagekit("--plugin", "example", "plan"), 2, "error[PLG013]", "one of: sage2, sage2-stable, sage3, sm121; one that is not loaded by --plugin FILE")

    def test_a_plugin_folder_that_is_not_there_is_an_error(self):
        for words in (("plugin", "list"), ("--plugin", "sage2", "plan")):
            self.expect(self.run_sagekit("--plugin-dir", "nosuch", *words), 2, "error[PLG002]", "--plugin-dir nosuch")

    def test_nothing_is_fetched_for_a_cell_that_lacks_what_nothing_fetches(self):
        here = {(python["version"] or "").rsplit(".", 1)[0] for python in self.run_sagekit("env", "--json").json()["pythons"]}
        lacking = next(minor for minor in ("3.14", "3.13", "3.10", "3.11") if minor not in here)
        words = ("--plugin", "sage2", "build", "--profile", "current", "--python", lacking, "--toolchain", "wheels")
        for more in ((), ("-n",)):
            done = self.run_sagekit(*words, *more, env=self.environment(PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0"))
            self.expect(done, 3, f"no Python {lacking} with headers")
            self.assertNotIn("fetching", done.err)

    def test_a_misspelled_file_or_folder_gets_the_nearest(self):
        (self.folder / "dist").mkdir()
        (self.folder / "policy.toml").write_text("schema = 1\n")
        (self.folder / "sagekit.toml").write_text("")
        wheel = self.folder / "tiny-1.0-py3-none-any.whl"
        for words, meant in ((["release", "dits"], "dist"), (["report", "dits"], "dist"), (["verify", "--policy", "polici.toml", wheel], "policy.toml"),
                             (["--config", "sagekt.toml", "--plugin", "sage2", "plan"], "sagekit.toml"), (["man", "relase"], "release")):
            self.expect(self.run_sagekit(*words), 2, 'did you mean "', meant)
        (self.folder / "pypi").mkdir()  # no policy
        self.assertNotIn("no readable file", self.run_sagekit("verify", "--policy", "pypi", wheel).err)
        self.assertNotIn("did you mean", self.run_sagekit("build", "plan").err)
        wheel.write_bytes(b"PK\x03\x04")
        self.expect(self.run_sagekit("--plugin", wheel, "plan"), 2, "it is a wheel, not a plugin")

    def test_an_unknown_plugin_gets_the_nearest(self):
        self.expect(self.run_sagekit("--plugin", "sage22", "plan"), 2, 'did you mean "sage2"?')

    def test_a_plugin_given_as_a_file_is_shown_by_its_name_or_its_file(self):
        file = next(EXAMPLES.glob("sagekit-example*"))
        for words in (("--plugin", file, "plugin", "show", "example"), ("plugin", "show", file), ("--plugin", "sage2", "plugin", "show", "sage3")):
            self.expect(self.run_sagekit(*words), 0)

    def test_a_plugin_file_that_is_none_is_refused_and_nothing_goes_on(self):
        bad = self.folder / "sagekit-bad.so"
        bad.write_bytes(b"not a library")
        bad.chmod(0o644)
        self.folder.chmod(0o755)
        done = self.run_sagekit("--plugin", bad, "plan")
        self.expect(done, 2, "error[PLG")
        self.assertEqual(done.out, "")

    def test_a_spec_given_for_its_plugin_is_told_apart(self):
        spec = self.folder / "plugin.toml"
        spec.write_text("schema = 1\n")
        spec.chmod(0o644)
        self.folder.chmod(0o755)
        done = self.run_sagekit("--plugin", spec, "plan")
        self.expect(done, 2, "error[PLG002]", "it is the text of a plugin's spec", "sagekit-NAME.so")
        self.assertNotIn("boost", done.err)

    def test_sizes_are_read_strictly(self):
        self.expect(self.run_sagekit("--plugin", "sage2", "build", "--memory", "lots"), 2, "12G")

    def test_unknown_toolchain_source(self):
        self.expect(self.run_sagekit("--plugin", "sage2", "plan", "--toolchain", "conda"), 2, "folder:DIR")

    def test_of_a_cuda_that_nobody_has_nothing_is_advised_that_does_not_help(self):
        for words in (("11.8", "--offline"), ("11.8",), ("12.1", "--toolchain", "redist")):
            done = self.run_sagekit("toolchain", "fetch", "--cuda", *words)
            self.expect(done, 3, f"install CUDA toolkit {words[0]}, or give an unpacked one with --toolchain folder:DIR")
            self.assertNotRegex(done.err.split("\n  = ")[1], "offline|redist|wheels")

    def test_json_goes_to_stdout_alone(self):
        done = self.run_sagekit("env", "--json")
        self.expect(done, 0)
        self.assertEqual(list(done.json())[0], "schema")
        self.assertEqual(done.err, "")


class BadPlugins(CommandLine):
    """Each in a folder beside a good one: refused in one sentence, and the good one still works."""

    REASONS = {"cannot-open": "PLG002", "not-a-plugin": "PLG003", "newer-abi": "PLG004", "truncated": "PLG005",
               "unknown-key": "PLG006", "bad-toml": "PLG006", "newer-schema": "PLG007"}

    def folder_with(self, name):
        folder = self.folder / "plugins"
        folder.mkdir(mode=0o755)
        self.folder.chmod(0o755)
        for plugin in (name, "good"):
            shutil.copy(BAD_PLUGINS / f"sagekit-{plugin}.so", folder)
            (folder / f"sagekit-{plugin}.so").chmod(0o755)
        return folder

    def test_each_is_refused_and_the_others_stay_usable(self):
        for name, code in self.REASONS.items():
            with self.subTest(name):
                folder = self.folder_with(name)
                listed = self.run_sagekit("--plugin-dir", folder, "plugin", "list", "--json").json()
                refused = [r for r in listed["rejected"] if r["path"].endswith(f"sagekit-{name}.so")]
                self.assertEqual([r["code"] for r in refused], [code])
                self.assertNotIn("\n", refused[0]["reason"])
                self.assertTrue([p for p in listed["plugins"] if p["path"].endswith("sagekit-good.so")])
                self.expect(self.run_sagekit("--plugin", folder / f"sagekit-{name}.so", "plan"), 2, f"error[{code}]")
                shutil.rmtree(folder)

    def test_an_invalid_spec_is_shown_with_its_place_and_a_caret(self):
        folder = self.folder_with("unknown-key")
        self.expect(self.run_sagekit("--plugin", folder / "sagekit-unknown-key.so", "plan"), 2, "plugin.toml:7:1", "^", "did you mean")

    def test_what_is_kept_of_specs_never_answers_for_another_text_or_when_damaged(self):
        folder, specs = self.folder_with("same-name"), self.folder / "störe" / "specs"
        (folder / "sagekit-same-name.so").unlink()
        fresh = self.run_sagekit("--plugin-dir", folder, "plugin", "list", "--json").json()
        self.assertFalse(specs.parent.exists(), "a question begins no store")
        specs.parent.mkdir()
        self.assertEqual(self.run_sagekit("--plugin-dir", folder, "plugin", "list", "--json").json(), fresh)
        kept = {path: path.read_bytes() for path in specs.iterdir()}
        self.assertTrue(kept)
        for damage in (b"", b"{}", b"0" * 64 + b"{}"):
            for path in kept:
                path.write_bytes(damage)
            self.assertEqual(self.run_sagekit("--plugin-dir", folder, "plugin", "list", "--json").json(), fresh)
            self.assertEqual({path: path.read_bytes() for path in specs.iterdir()}, kept, "made again")
        library = folder / "sagekit-good.so"
        library.write_bytes(library.read_bytes().replace(b'"1.0.0"', b'"1.0.7"'))  # another text under the same name
        again = self.run_sagekit("--plugin-dir", folder, "plugin", "list", "--json").json()
        self.assertIn("1.0.7", [plugin["version"] for plugin in again["plugins"]])
        shutil.rmtree(specs)
        specs.write_text("nothing can be kept here")
        self.assertEqual(self.run_sagekit("--plugin-dir", folder, "plugin", "list", "--json").json(), again)

    def test_a_file_that_others_may_write_is_not_trusted(self):
        folder = self.folder_with("good")
        (folder / "sagekit-good.so").chmod(0o777)
        self.expect(self.run_sagekit("--plugin", folder / "sagekit-good.so", "plan"), 2, "error[PLG001]", "chmod")

    def test_a_judge_that_crashes_is_one_failed_test_of_the_kit(self):
        folder = self.folder_with("crashing")
        done = self.run_sagekit("plugin", "check", folder / "sagekit-crashing.so", "--json")
        self.expect(done, 1)
        tests = {t["id"]: t["passed"] for t in done.json()["plugins"][0]["tests"]}
        self.assertFalse(tests["judge-empty"])
        self.assertTrue(tests["load"])
        self.expect(self.run_sagekit("plugin", "check", folder / "sagekit-good.so"), 0)


class Plans(CommandLine):
    def plan(self, plugin, *words, **options):
        return self.run_sagekit("--plugin", plugin, "plan", "--json", *words, **options)

    def test_document_002_has_eight_cells_under_their_names(self):
        plan = self.plan("sage3", "--profile", "sage3-all").json()
        ids = [f"sage3-pytorch{t}-cu{c}-python{p}" for t, c in (("27", "128"), ("28", "129")) for p in ("310", "311", "312", "313")]
        self.assertEqual([cell["id"] for cell in plan["cells"]], ids)

    def test_document_002_profiles_select_as_many_as_it_says(self):
        counts = {"default": 1, "stable": 2, "pytorch27": 4, "pytorch28": 4, "python310": 2, "python311": 2, "python312": 2,
                  "python313": 2, "sage3-all": 8}
        for profile, count in counts.items():
            self.assertEqual(len(self.plan("sage3", "--profile", profile).json()["cells"]), count, profile)

    def test_document_002_wheel_names(self):
        plan = self.plan("sage3", "--profile", "sage3-all", "--naming", "build-tag", "--platform", "linux_x86_64,win_amd64").json()
        names = {cell["wheel"] for cell in plan["cells"]}
        self.assertEqual(len(names), 16)
        self.assertIn("sageattn3-1.0.0-280.129-cp312-cp312-linux_x86_64.whl", names)
        self.assertIn("sageattn3-1.0.0-270.128-cp313-cp313-win_amd64.whl", names)

    def test_document_003_has_six_cells_of_which_four_were_never_possible(self):
        plan = self.plan("sage2", "--profile", "legacy", "--naming", "local-version").json()
        self.assertEqual(len(plan["cells"]), 2)
        self.assertEqual(len(plan["excluded"]), 4)
        for cell in plan["excluded"]:
            self.assertTrue(cell["reason"] and cell["source"], cell)
        names = {cell["wheel"] for cell in plan["cells"] + plan["excluded"]}
        self.assertIn("sageattention-2.2.0+cu129torch2.8.0-cp312-cp312-linux_x86_64.whl", names)
        self.assertIn("sageattention-2.2.0+cu128torch2.6.0-cp312-cp312-win_amd64.whl", names)

    def test_document_004_is_one_arch_on_aarch64(self):
        plan = self.plan("sm121").json()
        self.assertTrue(plan["cells"])
        for cell in plan["cells"]:
            self.assertEqual((cell["platform"], cell["arches"]), ("linux_aarch64", ["12.1a"]))

    def test_every_spelling_of_an_arch_list_is_the_same_plan(self):
        spellings = ["8.0;9.0", "8.0 9.0", "8.0,9.0", "80 90", "sm_80;sm_90", "compute_80;sm_80;compute_90;sm_90", "9.0;8.0"]
        plans = [self.plan("sage2", "--arch", spelling) for spelling in spellings]
        for plan in plans:
            self.expect(plan, 0)
            self.assertEqual(plan.out, plans[0].out)

    def test_the_environment_variable_is_heard_and_echoed(self):
        flag = self.plan("sage2", "--arch", "9.0")
        variable = self.plan("sage2", env=self.environment(TORCH_CUDA_ARCH_LIST="9.0"))
        self.assertEqual(flag.out, variable.out)
        self.assertIn("TORCH_CUDA_ARCH_LIST", variable.err)

    def test_an_empty_variable_is_unset_and_a_blank_one_is_no_list(self):
        unset = self.plan("sage2")
        empty = self.plan("sage2", env=self.environment(TORCH_CUDA_ARCH_LIST=""))
        self.assertEqual((empty.code, empty.out, empty.err), (unset.code, unset.out, unset.err))
        self.assertNotIn("TORCH_CUDA_ARCH_LIST", empty.err)
        for blank in (" ", "\t\n", ";", " , "):
            with self.subTest(blank):
                done = self.plan("sage2", env=self.environment(TORCH_CUDA_ARCH_LIST=blank))
                self.expect(done, 2, "arch list from TORCH_CUDA_ARCH_LIST", "error[ARC001]: the arch list is empty")
                self.assertEqual(done.out, "")

    def test_what_cannot_be_honoured_is_an_error(self):
        self.expect(self.plan("sage2", "--arch", "8.0;Ampere"), 2, "Ampere")
        self.expect(self.plan("sage2", "--arch", "10.0"), 2, "10.0", "buildable: 8.0, 8.6, 8.9, 9.0, 12.0, 12.1")
        self.expect(self.plan("sage2", "--arch", "8.0+PTY"), 2, "8.0+PTY")

    def test_a_misspelled_profile_gets_the_nearest(self):
        self.expect(self.plan("sage3", "--profile", "curent"), 2, 'did you mean "current"?')

    def test_a_selection_of_nothing_names_the_nearest_cells(self):
        self.expect(self.plan("sage3", "--profile", "sage3-all", "--cells", "sage3-pytorch28-cu129-python399"), 4, "sage3-pytorch28-cu129-python3")

    def test_nearest_cells_are_those_of_the_profile_that_was_asked(self):
        done = self.plan("sage3", "--profile", "python310", "--cells", "*-python399")
        self.expect(done, 4, "nearest ids: ")
        near = done.err.split("nearest ids: ")[1].split("\n")[0].split(", ")
        self.assertTrue(near and all(cell.endswith("-python310") for cell in near), near)

    def test_a_cuda_version_is_no_arch(self):
        self.expect(self.plan("sage2", "--arch", "cu128"), 2, "that is a CUDA version: --cuda 12.8")
        self.expect(self.plan("sage2", "--arch", "9.0;cu130"), 2, "--cuda 13.0")

    def test_a_given_toolchain_that_is_broken_is_no_absent_one(self):
        nvcc = self.folder / "cuda" / "bin" / "nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text("no program")
        nvcc.chmod(0o755)
        cell = self.plan("sage2", "--toolchain", f"folder:{self.folder / 'cuda'}").json()["cells"][0]
        self.assertEqual((cell["lacks"][0]["kind"], cell["lacks"][0]["code"]), ("given_tool", "TCH008"))
        self.expect(self.run_sagekit("--plugin", "sage2", "build", "-n", "--toolchain", f"folder:{self.folder / 'cuda'}"), 3, "error[TCH008]", "given nvcc")
        self.expect(self.run_sagekit("--plugin", "sage2", "doctor", "--toolchain", f"folder:{self.folder / 'cuda'}", "--json"), 3)

    def test_a_dry_run_promises_nothing_that_offline_forbids(self):
        done = self.example("build", "-n", "--offline")
        self.expect(done, 1, "error[SRC001]", "--offline", "--source")
        self.assertNotIn("would take the source", done.err)

    def test_the_same_plan_twice_is_the_same_bytes(self):
        self.assertEqual(self.plan("sage2", "--profile", "current", "--steps").out, self.plan("sage2", "--profile", "current", "--steps").out)

    def test_a_cell_this_machine_cannot_build_ends_3_and_says_what_is_missing(self):
        done = self.run_sagekit("--plugin", "sage3", "build", "--profile", "default")
        self.expect(done, 3, "12.9", "--profile current")
        self.assertFalse(list(self.folder.glob("dist/*.whl")))

    def test_windows_cells_are_planned_and_their_build_ends_3(self):
        self.expect(self.run_sagekit("--plugin", "sage2", "build", "--profile", "legacy", "--platform", "win_amd64"), 3, "win_amd64")


class Files(CommandLine):
    def test_a_path_that_is_not_there_ends_2(self):
        for verb in ("verify", "inspect"):
            self.expect(self.run_sagekit(verb, "nowhere.whl"), 2, "nowhere.whl")

    def test_a_path_that_is_not_there_gets_the_nearest_file_of_its_folder(self):
        (self.folder / "dist").mkdir()
        for name in ("tiny-1.0-py3-none-any.whl", "tiny-1.1-py3-none-any.whl", "notes.txt"):
            (self.folder / "dist" / name).write_bytes(b"")
        for verb in ("verify", "inspect"):
            self.expect(self.run_sagekit(verb, "dist/tiny-1.0-py3-none-amy.whl"), 2, 'did you mean "dist/tiny-1.0-py3-none-any.whl"?')
            done = self.run_sagekit(verb, "dist/quite-something-else-2026.whl")
            self.expect(done, 2, "dist has tiny-1.")
            self.assertNotIn("notes.txt", done.err)
            self.expect(self.run_sagekit(verb, "dost/x.whl"), 2, "there is no folder dost")

    def test_a_text_is_no_answer_of_a_server_unless_it_was_downloaded(self):
        (self.folder / "notes.whl").write_text("buy milk\n")
        done = self.run_sagekit("inspect", "notes.whl")
        self.expect(done, 1, "error[INS053]", '"buy milk"', "give the wheel or module itself")
        self.assertNotIn("needs a login", done.err)

    def test_an_interpreter_that_nobody_may_execute_is_told_from_one_that_is_not_there(self):
        (self.folder / "passwd").write_text("x")
        (self.folder / "passwd").chmod(0o644)
        self.expect(self.run_sagekit("verify", "x.whl", "--interpreter", "./passwd"), 2, "error[VFY019]", "nobody may execute it", "python3.12")
        self.expect(self.run_sagekit("verify", "x.whl", "--interpreter", "./nosuch"), 2, "there is no such program")
        self.expect(self.run_sagekit("verify", "x.whl", "--interpreter", self.folder), 2, "a folder that has no bin/python")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "python").symlink_to("/removed/python3")
        self.expect(self.run_sagekit("verify", "x.whl", "--interpreter", self.folder), 2, "leads to a program that is not there")
        self.expect(self.run_sagekit("--plugin", "sage2", "build", "-n", "--interpreter", "nosuchpython"), 2, "error[VFY019]", "PATH has no such program")
        self.expect(self.run_sagekit("package", self.folder, "--interpreter", "nosuchpython"), 2, "error[VFY019]")

    def test_a_form_that_no_name_has_is_told_from_a_file_that_is_not_there(self):
        self.expect(self.run_sagekit("verify", "dist/*.whl"), 2, "error[FIL001]", "dist/*.whl", "nothing there has a name of that form")

    def test_doctor_without_a_variant_says_both_that_it_can(self):
        self.expect(self.run_sagekit("doctor"), 2, "error[PLG012]", "--plugin sage2 doctor", "doctor --interpreter .venv/bin/python")

    def test_inspect_takes_stdin_and_folders(self):
        wheel = Wheel().write(self.folder)
        for name in ("b", "a"):
            (self.folder / "dist" / name).mkdir(parents=True, exist_ok=True)
        folder = self.folder / "dist"
        for name in ("b-1.0-py3-none-any.whl", "a-1.0-py3-none-any.whl"):
            (folder / name).write_bytes(wheel.read_bytes())
        files = self.run_sagekit("inspect", "--json", folder).json()["files"]
        self.assertEqual([pathlib.Path(f["path"]).name for f in files], ["a-1.0-py3-none-any.whl", "b-1.0-py3-none-any.whl"])
        self.expect(self.run_sagekit("inspect", folder / "a"), 2, "it is a folder", "holds no wheel", "sagekit verify")
        piped = subprocess.run([SAGEKIT, "inspect", "--json", "-"], input=wheel.read_bytes(), capture_output=True, cwd=self.folder, check=True)
        one = json.loads(piped.stdout)["files"][0]
        self.assertEqual((one["path"], one["kind"], one["wheel"]["problems"]), ("-", "wheel", []))
        text = subprocess.run([SAGEKIT, "inspect", "-"], input=b"hello", capture_output=True, cwd=self.folder)
        self.assertEqual(text.returncode, 1)
        self.assertIn(b"stdin is a text", text.stderr)
        self.expect(self.run_sagekit("inspect", "-"), 2, "cannot read a file from stdin", "sagekit inspect -")

    def test_a_file_that_is_no_wheel_ends_1(self):
        (self.folder / "x.whl").write_bytes(b"hello")
        for verb in ("verify", "inspect"):
            self.expect(self.run_sagekit(verb, "x.whl"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
