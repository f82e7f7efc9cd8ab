#!/usr/bin/env python3
"""What shells and manuals read, and the verbs that scripts call: completion, man, explain, diff --exit-code, verify -, -v."""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from harness import SAGEKIT, SOURCE_DIR, CommandLine, Done

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from wheels import Wheel  # noqa: E402


class Completion(CommandLine):
    def complete(self, *words):
        """What bash offers for the last of the words."""
        script = self.folder / "completion.bash"
        script.write_text(self.run_sagekit("completion", "bash").out)
        line = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(["bash", "-c", f'. "$0"; COMP_WORDS=(sagekit {line}); COMP_CWORD={len(words)}; _sagekit; printf "%s\\n" "${{COMPREPLY[@]}}"',
                               str(script)], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes_verbs_flags_choices_and_files(self):
        self.assertEqual(self.complete("pla"), ["plan"])
        self.assertEqual(self.complete("toolchain", "fe"), ["fetch"])
        self.assertEqual(self.complete("--json", "plan", "--prof"), ["--profile"])
        self.assertEqual(self.complete("toolchain", "fetch", "--no-n"), ["--no-nvcc"])
        self.assertEqual(self.complete("plan", "--backend", ""), ["direct", "setup-py"])
        self.assertEqual(self.complete("plan", "--color", "al"), ["always"])
        self.assertEqual(self.complete("plan", "--torch", ""), [])
        (self.folder / "one.whl").touch()
        (self.folder / "inner").mkdir()
        self.assertIn("one.whl", self.complete("verify", "on"))
        self.assertEqual(self.complete("build", "-o", "in"), ["inner"])
        self.assertEqual(self.complete("schema", "pl"), ["plan", "plugin", "plugin-check", "plugin-show", "plugins"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("--color", "=", "al"), ["always"])
        self.assertNotIn("check-one", self.complete("plugin", ""))

    def test_each_shell_reads_its_script(self):
        for shell in ("bash", "zsh", "fish"):
            done = self.run_sagekit("completion", shell)
            self.expect(done, 0)
            self.assertIn("--exit-code" if shell != "fish" else "-l exit-code", done.out)
            self.assertRegex(done.out, r"'bash' 'zsh' 'fish'|bash zsh fish", "and of an argument")
            if shutil.which(shell):
                subprocess.run([shell, "-n", "/dev/stdin"], input=done.out.encode(), check=True)
        self.expect(self.run_sagekit("completion", "bsh"), 2, '"bsh" is none of', 'did you mean "bash"?')


class Manual(CommandLine):
    def test_every_verb_has_a_page_of_the_text_of_its_help(self):
        self.expect(self.run_sagekit("man", "-o", self.folder / "man1"), 0)
        pages = {page.stem: page.read_text() for page in (self.folder / "man1").iterdir()}
        self.assertIn("sagekit", pages)
        self.assertIn("sagekit-toolchain-fetch", pages)
        page = pages["sagekit-plan"]
        self.assertEqual(page, self.run_sagekit("man", "plan").out)
        for section in ("NAME", "SYNOPSIS", "FLAGS", "ENVIRONMENT", '"EXIT STATUS"', "EXAMPLES"):
            self.assertIn(f".SH {section}\n", page)
        self.assertIn("\\-\\-profile NAME", page)
        self.assertIn("TORCH_CUDA_ARCH_LIST", page)
        self.expect(self.run_sagekit("man", "plann"), 2, '"plann"')

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_has_nothing_to_say(self):
        for verb in ([], ["build"], ["toolchain", "fetch"]):
            page = self.run_sagekit("man", *verb).out
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page.encode(), capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))


class Verbs(CommandLine):
    def test_explain_is_what_verify_explains(self):
        self.assertEqual(self.run_sagekit("explain", "FAT101").out, self.run_sagekit("verify", "--explain", "FAT101").out)
        self.assertEqual(self.run_sagekit("explain", "FAT101", "--json").json()["schema"], "sagekit.finding/1")
        self.assertNotEqual(self.run_sagekit("explain", "FAT999").code, 0)
        page = self.run_sagekit("explain", "FAT109").out
        self.assertEqual(self.run_sagekit("explain", "fat 109").out, page)
        self.assertLessEqual(max(map(len, page.splitlines())), 80)

    def test_diff_can_end_as_a_test(self):
        one = Wheel().write(self.folder / "a")
        other = Wheel()
        other.files["tiny/more.py"] = b""
        other = other.write(self.folder / "b")
        self.expect(self.run_sagekit("diff", one, other), 0)
        self.expect(self.run_sagekit("diff", "--exit-code", one, other), 1)
        self.expect(self.run_sagekit("diff", "--exit-code", one, one), 0)

    def verify_stdin(self, content, *words):
        return Done(subprocess.run([str(SAGEKIT), "verify", "-", *words], env=self.environment(TMPDIR=str(self.folder)), cwd=self.folder,
                                   input=content, capture_output=True, timeout=60))

    def test_a_wheel_may_come_on_stdin(self):
        wheel = Wheel().write(self.folder / "a")
        done = self.verify_stdin(wheel.read_bytes(), "--json")
        self.expect(done, 0)
        (report,) = done.json()["wheels"]
        (same,) = self.run_sagekit("verify", "--json", wheel).json()["wheels"]
        self.assertEqual((report["path"], report["sha256"], report["findings"]), ("-", same["sha256"], same["findings"]))
        self.assertEqual([p for p in self.folder.iterdir() if p.name.startswith("sagekit-stdin")], [])
        wrong = Wheel()
        wrong.metadata = wrong.metadata.replace("Version: 1.0", "Version: 2.0")
        self.expect(self.verify_stdin(wrong.write(self.folder / "b").read_bytes()), 1)
        self.expect(self.verify_stdin(b""), 2, "error[FIL001]", "empty")


class Mistakes(CommandLine):
    def test_an_empty_value_is_no_wish_for_the_default(self):
        for value in ("", " ", ";"):
            self.expect(self.run_sagekit("--plugin", "sage2", "plan", "--arch", value), 2, f'--arch: "{value}" is empty')
        self.expect(self.run_sagekit("--plugin", "sage2", "plan", "--arch="), 2, "--arch: \"\" is empty")

    def test_numbers_and_sizes_that_nothing_can_be_done_with(self):
        for value in ("0", "-1", "x", "1.5", ""):
            self.expect(self.run_sagekit("--plugin", "sage2", "build", "-j", value), 2, f'"{value}"')
        self.expect(self.run_sagekit("--plugin", "sage2", "build", "--memory", "10"), 2, '"10" is 10 bytes', "10G")

    def test_what_contradicts_itself(self):
        self.expect(self.run_sagekit("--plugin", "sage2", "build", "--json", "--jsonl"), 2, "--json and --jsonl", "choose one")
        self.expect(self.run_sagekit("toolchain", "fetch", "--cuda", "13.0", "--no-nvcc"), 2, "--no-nvcc", "nothing to fetch")
        self.expect(self.run_sagekit("plan", "--profile", "a", "--profile", "b"), 2, "given 2 times: a, b")

    def test_a_folder_that_is_not_there_is_quoted(self):
        self.expect(self.run_sagekit("-C", "no where", "env"), 2, '"no where"', "No such file")


class Verbose(CommandLine):
    def test_programs_that_are_started_are_shown(self):
        done = self.run_sagekit("-v", "env")
        self.expect(done, 0)
        self.assertRegex(done.err, r"info run \S+.* \(in .*\): exit \d+, \d")
        self.assertNotIn("info run", self.run_sagekit("env").err)

    def test_twice_shows_what_the_programs_print(self):
        self.assertNotIn("debug", self.run_sagekit("-v", "env").err)
        self.assertRegex(self.run_sagekit("-vv", "env").err, r"debug   \S")

    def test_requests_are_shown_without_what_is_secret(self):
        words = ["toolchain", "fetch", "--cuda", "13.0", "--index-url", "http://user:secret@127.0.0.1:9/simple"]
        env = self.environment(PIP_RETRIES="0", PIP_TIMEOUT="2")
        done = self.run_sagekit("-v", *words, env=env)
        self.assertNotEqual(done.code, 0)
        self.assertRegex(done.err, r"info GET http://127\.0\.0\.1:9/simple/\S+: no answer")
        self.assertNotIn("secret", done.err)
        self.assertNotIn("info GET", self.run_sagekit(*words, env=env).err)


if __name__ == "__main__":
    unittest.main()
