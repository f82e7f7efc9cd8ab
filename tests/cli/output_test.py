#!/usr/bin/env python3
"""What reaches stdout and files: whole or said to be cut, for people printable, for programs with its errors."""
import json
import pathlib
import subprocess
import sys
import unittest

from harness import SAGEKIT, SOURCE_DIR, CommandLine, Done

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from wheels import Wheel  # noqa: E402


class LostOutput(CommandLine):
    def into_full_disk(self, *words):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([str(SAGEKIT), *map(str, words)], env=self.environment(), cwd=self.folder,
                                  stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=60)
        done.stdout = b""
        return Done(done)

    def test_help_and_version_say_that_their_output_is_lost(self):
        """As every verb does: every_verb_test.py."""
        for word in ("--help", "--version"):
            with self.subTest(word):
                self.expect(self.into_full_disk(word), 3, "error[FIL002]", "No space left on device")

    def test_a_closed_stdout_is_no_success(self):
        done = subprocess.run(["sh", "-c", '"$0" --version >&-', str(SAGEKIT)], env=self.environment(), capture_output=True)
        self.assertEqual(done.returncode, 2, done.stderr)


class OutputFiles(CommandLine):
    def test_a_cut_sarif_does_not_stand_under_its_name(self):
        wheel = Wheel().write(self.folder)
        sarif = self.folder / "findings.sarif"
        earlier = '{"$schema": "https://example.org/sarif-schema-2.1.0.json", "version": "2.1.0", "runs": []}'
        sarif.write_text(earlier)
        # 512 bytes at most: the write fails in the middle of the document.
        done = subprocess.run(["sh", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$0" verify --sarif "$1" "$2"', str(SAGEKIT), str(sarif), str(wheel)],
                              env=self.environment(), cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"error[FIL002]", done.stderr)
        self.assertEqual(sarif.read_text(), earlier)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("findings.sarif.")], [])

    def test_sarif_is_written_whole_and_a_link_stays_a_link(self):
        wheel = Wheel().write(self.folder)
        (self.folder / "link.sarif").symlink_to("real.sarif")
        (self.folder / "real.sarif").write_text("")
        self.expect(self.run_sagekit("verify", "--sarif", "link.sarif", wheel), 0)
        self.assertTrue((self.folder / "link.sarif").is_symlink())
        self.assertEqual(json.loads((self.folder / "real.sarif").read_text())["version"], "2.1.0")

    def test_sarif_to_a_dash_is_stdout(self):
        wheel = Wheel().write(self.folder)
        done = self.run_sagekit("verify", "--sarif", "-", wheel)
        self.expect(done, 0)
        self.assertEqual(done.json()["version"], "2.1.0")
        self.assertFalse((self.folder / "-").exists())
        self.expect(self.run_sagekit("verify", "--json", "--sarif", "-", wheel), 2, "--sarif -", "--json")


class OtherFilesStay(CommandLine):
    """A forgotten file name makes a wheel, or what the command reads, the place of its result."""

    def refused(self, there, *words):
        before = there.read_bytes()
        self.expect(self.run_sagekit(*words), 2, "error[FIL002]", f"cannot write {words[words.index(there.name)]}", "name another file")
        self.assertEqual(there.read_bytes(), before)

    def test_a_wheel_stays(self):
        wheel = Wheel().write(self.folder)
        (self.folder / "others").mkdir()
        self.refused(wheel, "verify", "--sarif", wheel.name, Wheel().write(self.folder / "others"))
        self.refused(wheel, "verify", wheel.name, "--sarif", wheel.name)
        self.refused(wheel, "report", ".", "-o", wheel.name)
        self.refused(wheel, "--plugin", "sage2", "build", "-n", "--timeline", wheel.name)
        (self.folder / "copy").write_bytes(wheel.read_bytes())  # by what it is, too
        self.refused(self.folder / "copy", "verify", "--sarif", "copy", wheel.name)
        self.expect(self.run_sagekit("verify", "--sarif", "forgotten.whl", wheel), 2, "FIL002", "a wheel's name")
        self.assertFalse((self.folder / "forgotten.whl").exists())

    def test_what_the_command_reads_stays(self):
        wheel = Wheel().write(self.folder)
        (self.folder / "policy.toml").write_text('schema = 1\nbase = "others"\n')
        self.refused(self.folder / "policy.toml", "verify", "--policy", "./policy.toml", "--sarif", "policy.toml", wheel.name)
        self.run_sagekit("release", ".")
        self.refused(self.folder / "sagekit.release.json", "report", "./sagekit.release.json", "-o", "sagekit.release.json")

    def test_what_is_of_another_kind_stays(self):
        wheel = Wheel().write(self.folder / "dist")
        self.expect(self.run_sagekit("release", "dist"), 0)
        (self.folder / "policy.toml").write_text('schema = 1\nbase = "others"\n')
        (self.folder / "plan.json").write_bytes(self.run_sagekit("--plugin", "sage2", "plan", "--json").out.encode())
        (self.folder / "page.html").write_text("<!DOCTYPE html><h1>Quarter</h1>")
        (self.folder / "NOTES").write_text("n\n")
        self.expect(self.run_sagekit("index", "dist"), 0)
        made = {"report": ("report", "dist", "-o"), "verify": ("verify", wheel, "--sarif"), "build": ("--plugin", "sage2", "build", "-n", "--timeline")}
        others = ["policy.toml", "plan.json", "page.html", "NOTES", "dist/SHA256SUMS", "dist/NOTES.md", "dist/sagekit.release.json", "dist/sagekit.intoto.json", "dist/simple/index.html"]
        for verb, words in made.items():
            for other in others:
                with self.subTest(verb, other=other):
                    before = (self.folder / other).read_bytes()
                    self.expect(self.run_sagekit(*words, other), 2, "error[FIL002]", f"cannot write {other}: what is there is no ", ", and stays", "name another file")
                    self.assertEqual((self.folder / other).read_bytes(), before)
        (self.folder / "man").mkdir()
        (self.folder / "man" / "sagekit-plan.1").write_text("mine\n")
        self.expect(self.run_sagekit("man", "-o", "man"), 2, "FIL002", "no page of sagekit's manual")
        # Their own they replace, and what is empty.
        (self.folder / "man" / "sagekit-plan.1").unlink()
        for name, words in (("r.html", made["report"]), ("f.sarif", made["verify"])):
            (self.folder / name).touch()
            for _ in range(2):
                self.expect(self.run_sagekit(*words, name), 0)
        for _ in range(2):
            self.expect(self.run_sagekit("man", "-o", "man"), 0)
        self.expect(self.run_sagekit("report", "dist", "-o", "f.sarif"), 2, "no page of sagekit's about a release")
        self.expect(self.run_sagekit("verify", wheel, "--sarif", "r.html"), 2, "no SARIF")

    def test_a_folder_is_no_stdout(self):
        wheel = Wheel().write(self.folder / "dist")
        for words in (("index", "dist", "-o", "-"), ("retag", "--build", "1", wheel, "--output=-"), ("release", "dist", "--naming", "plain", "-o", "-"),
                      ("man", "-o", "-"), ("--plugin", "sage2", "build", "-n", "-o", "-"), ("-C", "-", "plugin", "list")):
            with self.subTest(words):
                self.expect(self.run_sagekit(*words), 2, "CLI001", "a folder is wanted, and - is stdout", "./-")
                self.assertFalse((self.folder / "-").exists())
        self.expect(self.run_sagekit("index", "dist", "-o", "./-"), 0)
        self.assertTrue((self.folder / "-" / "index.html").exists())

    def test_an_export_takes_no_other_files_place(self):
        (self.folder / "störe" / "objects").mkdir(parents=True)
        wheel = Wheel().write(self.folder)
        self.refused(wheel, "cache", "export", wheel.name)
        (self.folder / "source.tar").write_bytes(wheel.read_bytes())
        self.refused(self.folder / "source.tar", "cache", "export", "source.tar")
        for _ in range(2):  # its own it replaces
            self.expect(self.run_sagekit("cache", "export", "pack.tar"), 0)


class OneDocument(CommandLine):
    def test_what_prints_another_text_is_no_json(self):
        wheel = Wheel().write(self.folder)
        for flag, words in (("--dockerfile", ("install", wheel, "--dockerfile")), ("--report", ("doctor", "--interpreter", sys.executable, "--report")),
                            ("--dot", ("--plugin", "sage2", "plan", "--dot"))):
            with self.subTest(flag):
                done = self.run_sagekit(*words, "--json")
                self.expect(done, 2, "CLI001", f"--json and {flag} both want stdout")
                self.assertEqual(done.out, "")


class Errors(CommandLine):
    def test_what_could_not_be_read_is_in_the_document(self):
        wheel = Wheel().write(self.folder)
        done = self.run_sagekit("verify", "--json", "nosuch.whl", wheel)
        self.expect(done, 2, "nosuch.whl")
        document = done.json()
        self.assertEqual(len(document["wheels"]), 1)
        (error,) = document["errors"]
        self.assertEqual(error["code"], "FIL001")
        self.assertIn("nosuch.whl", error["message"])
        self.assertEqual(self.run_sagekit("verify", "--json", wheel).json()["errors"], [])
        done = self.run_sagekit("inspect", "--json", "nosuch.whl")
        self.expect(done, 2)
        self.assertEqual(done.json()["errors"][0]["code"], "FIL001")

    def test_sarif_says_that_it_was_not_successful(self):
        wheel = Wheel().write(self.folder)
        (run,) = self.run_sagekit("verify", "--format", "sarif", "nosuch.whl", wheel).json()["runs"]
        (invocation,) = run["invocations"]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertTrue([n for n in invocation["toolExecutionNotifications"] if n["level"] == "error" and "nosuch" in n["message"]["text"]])
        (run,) = self.run_sagekit("verify", "--format", "sarif", wheel).json()["runs"]
        self.assertTrue(run["invocations"][0]["executionSuccessful"])


class Printable(CommandLine):
    def hostile(self):
        wheel = Wheel()
        wheel.metadata = wheel.metadata.replace("Summary:", "Requires-Dist: \x1b[31mred\x1b]0;title\x07 \u202egpj.exe\nSummary:")
        wheel.files["tiny/\x1b[2J.py"] = b""
        return wheel.write(self.folder)

    def test_control_characters_of_a_file_do_not_reach_the_terminal(self):
        wheel = self.hostile()
        for color in ("never", "always"):
            for verb in ("inspect", "verify", "diff"):
                words = [wheel, wheel] if verb == "diff" else [wheel]
                done = self.run_sagekit("--color", color, verb, *words)
                for text in (done.out, done.err):
                    self.assertNotIn("\x1b[31mred", text)
                    self.assertNotIn("\x1b]0", text)
                    self.assertNotIn("\x1b[2J", text)
                    self.assertNotIn("\u202e", text)
                    self.assertNotIn("\x07", text)
        self.assertIn("\\x1b[31mred", self.run_sagekit("inspect", wheel).out)
        self.assertIn("\\u202e", self.run_sagekit("inspect", wheel).out)

    def test_colours_of_ours_stay(self):
        out = self.run_sagekit("--color", "always", "inspect", self.hostile()).out
        self.assertIn("\x1b[1m", out)
        self.assertIn("\x1b[0m", out)
        self.assertNotRegex(out, r"\x1b\[[0-9;]*;[0-9]{3,}m")

    def test_what_is_typed_is_made_printable_too(self):
        done = self.run_sagekit("inspect", "no\x1b[31msuch")
        self.expect(done, 2, "no\\x1b[31msuch")

    def test_documents_keep_what_the_file_says(self):
        document = self.run_sagekit("inspect", "--json", self.hostile()).json()
        self.assertIn("\x1b[31mred", "".join(document["files"][0]["wheel"]["requires_dist"]))


class Quiet(CommandLine):
    def test_a_wheel_that_fails_says_by_what(self):
        wrong = Wheel()
        wrong.metadata = wrong.metadata.replace("Version: 1.0", "Version: 2.0")
        done = self.run_sagekit("-q", "verify", wrong.write(self.folder))
        self.expect(done, 1, "error[INF006]")
        self.assertEqual(done.out, "")

    def test_documents_are_written_all_the_same(self):
        self.assertEqual(self.run_sagekit("-q", "env", "--json").json()["schema"], "sagekit.env/1")


if __name__ == "__main__":
    unittest.main()
