#!/usr/bin/env python3
"""What people see: the verdict first, folded rows, lines that fit, many wheels, GitHub's pages, a redrawn terminal."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import unittest

from harness import SAGEKIT, SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from gpu_wheels import gpu_wheel  # noqa: E402
from wheels import Wheel, compiler  # noqa: E402

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def warned(name="tiny"):
    wheel = Wheel(name)
    wheel.tags = ["py2-none-any"]
    return wheel


def broken(name="wrong"):
    wheel = Wheel(name)
    wheel.metadata = "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n"
    return wheel


class Report(CommandLine):
    def on_a_terminal(self, *words, columns=80, env=None):
        """What a terminal of that width is sent: both streams."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = env or {name: value for name, value in self.environment().items() if name != "CI"} | {"TERM": "xterm"}
        process = subprocess.Popen([str(SAGEKIT), *map(str, words)], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=follower, stderr=follower)
        os.close(follower)
        sent = b""
        while True:
            try:
                more = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            sent += more
        os.close(leader)
        return process.wait(), sent.decode().replace("\r\n", "\n")

    def github(self):
        return self.environment(GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(self.folder / "summary.md"))


class ManyWheels(Report):
    def test_what_is_waived_is_counted_in_each_line_and_told_once(self):
        wheels = [broken().write(self.folder / name) for name in "ab"]
        codes = {one["code"] for one in json.loads(self.run_sagekit("verify", "--json", wheels[0]).out)["wheels"][0]["findings"] if one["result"] in ("fail", "warn")}
        policy = self.folder / "waive.toml"
        policy.write_text("schema = 1\n" + "".join(f'[[waiver]]\ncode = "{code}"\nuntil = "2125-01-01"\nreason = "known since May"\n' for code in codes))
        done = self.run_sagekit("verify", "--policy", policy, *wheels, env=self.github())
        self.assertEqual(done.code, 0, done.out)
        self.assertEqual(len(re.findall(r"\d waived;", done.out)), 2)
        self.assertRegex(done.out, r"waived +\w+ until 2125-01-01: known since May \(2\s+wheels\)")
        self.assertRegex((self.folder / "summary.md").read_text(), r"\| 0 \| 0 \| [1-9]")

    def test_what_could_not_be_judged_stands_at_the_end_too(self):
        done = self.run_sagekit("verify", warned().write(self.folder), self.folder / "gone-1.0-py3-none-any.whl")
        self.assertEqual(done.code, 2)
        self.assertIn("not judged", done.out.splitlines()[-2] + done.out.splitlines()[-1])
        self.assertIn("FIL001", done.out)

    def test_a_summary_that_is_lost_is_an_error(self):
        done = self.run_sagekit("verify", warned().write(self.folder), env=self.environment(GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY="/dev/full"))
        self.expect(done, 3, "error[FIL002]: cannot write the job summary /dev/full")

    def test_a_reader_that_has_enough_costs_no_file(self):
        wheels = [warned().write(self.folder / str(n)) for n in range(8)]
        command = f"'{SAGEKIT}' verify --sarif out.sarif " + " ".join(f"'{wheel}'" for wheel in wheels) + " | head -n 1; exit ${PIPESTATUS[0]}"
        done = subprocess.run(["bash", "-c", "trap - PIPE; " + command], env=self.github(), cwd=self.folder, capture_output=True, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        self.assertIn(done.returncode, (0, 141), done.stderr)  # 0: the pipe held all of it
        self.assertEqual(done.stderr, "")
        self.assertEqual(json.loads((self.folder / "out.sarif").read_text())["version"], "2.1.0")
        self.assertIn("of 8 wheels", (self.folder / "summary.md").read_text())

    def test_an_annotation_drives_no_terminal(self):
        wheel = warned()
        wheel.metadata = wheel.metadata.replace("Summary:", "Requires-Dist: torch>=3\x1b[31m\nSummary:")
        for words, env in ((["--format", "github"], None), ([], self.github())):
            self.assertNotIn("\x1b", self.run_sagekit("verify", *words, wheel.write(self.folder), env=env).out)


class OneWheel(Report):
    def test_the_verdict_stands_before_everything_else(self):
        lines = self.run_sagekit("verify", broken().write(self.folder)).out.splitlines()
        self.assertTrue(lines[0].endswith(".whl"), lines)
        self.assertRegex(lines[1], r"^  fail: \d+ passed, [1-9]\d* failed, ")
        self.assertLess(next(i for i, line in enumerate(lines) if line.startswith("  fail ")),
                        next(i for i, line in enumerate(lines) if line.startswith("  skip ")))

    def test_a_wheel_without_gpu_code_says_so_and_what_is_no_wheel_does_not(self):
        self.assertIn("\n  runs on  no GPU code in it: ", self.run_sagekit("verify", warned().write(self.folder)).out)
        (self.folder / "page-1.0-py3-none-any.whl").write_text("<html>not found</html>")
        self.assertNotIn("runs on", self.run_sagekit("verify", self.folder / "page-1.0-py3-none-any.whl").out)

    def test_a_long_report_ends_with_the_verdict_too(self):
        lines = self.run_sagekit("verify", "--all", broken().write(self.folder)).out.splitlines()
        self.assertGreater(len(lines), 20)
        self.assertEqual(lines[-1], lines[1])

    def test_skipped_checks_are_one_line_and_all_lists_them(self):
        wheel = Wheel().write(self.folder)
        skips = [line for line in self.run_sagekit("verify", wheel).out.splitlines() if line.startswith("  skip ")]
        self.assertEqual(len(skips), 1, skips)
        self.assertRegex(skips[0], r"^  skip \d+ checks? could not be made \(--all says why\): [A-Z ]+$")
        self.assertRegex(self.run_sagekit("verify", "--all", wheel).out, r"skip IMP001 (IMP\d+ )+ no interpreter")

    def test_lines_fit_the_terminal(self):
        wheel = broken().write(self.folder)
        for words in (("verify", wheel.name), ("verify", "--all", wheel.name), ("inspect", wheel.name)):
            piped = self.run_sagekit(*words).out
            for line in piped.splitlines():
                self.assertLessEqual(len(line), 80, line)
            for columns in (60, 100, 200):
                _, sent = self.on_a_terminal(*words, columns=columns)
                for line in COLOUR.sub("", sent).splitlines():
                    if not line.startswith(("note", "warning", "error", "  -->", "  =", "sagekit verify --explain")):
                        self.assertLessEqual(len(line), columns, line)
        _, wide = self.on_a_terminal("verify", "--all", wheel.name, columns=200)
        self.assertGreater(max(map(len, COLOUR.sub("", wide).splitlines())), 100)

    def test_colour_is_for_terminals_that_want_it(self):
        wheel = Wheel().write(self.folder)
        self.assertRegex(self.on_a_terminal("verify", wheel)[1], COLOUR)
        plain = self.environment(NO_COLOR="1", TERM="xterm")
        self.assertNotRegex(self.on_a_terminal("verify", wheel, env=plain)[1], COLOUR)
        self.assertNotRegex(self.run_sagekit("verify", wheel).out, COLOUR)

    def test_foreign_names_cannot_command_the_terminal(self):
        wheel = Wheel()
        wheel.metadata = wheel.metadata.replace("Summary:", "Requires-Dist: evil\x1b[2Jname\x9b1m\nSummary:")
        wheel.generator = "gen\x1b]0;title\x07erator"
        path = wheel.write(self.folder)
        for verb in ("inspect", "verify"):
            done = self.run_sagekit(verb, path)
            self.assertNotRegex(done.out, r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]")
        self.assertIn("gen\\x1b]0;title\\x07erator", self.run_sagekit("inspect", path).out)


class ManyWheels(Report):
    def test_a_line_each_then_the_failed_ones_in_full_then_the_total(self):
        paths = [warned("a").write(self.folder), broken("b").write(self.folder), Wheel("c").write(self.folder)]
        done = self.run_sagekit("verify", *paths)
        self.expect(done, 1)
        self.assertEqual(re.findall(r"(?m)^(pass|fail)  .*/?([abc])-1\.0-py3-none-any\.whl", done.out.replace("\n      ", " ")),
                         [("pass", "a"), ("fail", "b"), ("pass", "c")])
        self.assertEqual(done.out.count("INF006"), 3, done.out)  # why it runs nowhere, in the report, and in the list at the end
        end = done.out[done.out.index("3 wheels: 2 pass, 1 fail"):].splitlines()
        self.assertEqual(len(end), 2, end)
        self.assertRegex(end[1], r"^  fail  .*b-1\.0-py3-none-any\.whl  .*INF006")

    def test_what_could_not_be_judged_is_in_the_total(self):
        done = self.run_sagekit("verify", Wheel("a").write(self.folder), self.folder / "nowhere.whl")
        self.expect(done, 2, "nowhere.whl")
        self.assertIn("2 wheels: 1 pass, 0 fail, 1 could not be judged", done.out)

    def test_progress_is_for_terminals_only(self):
        for name in "abc":
            Wheel(name).write(self.folder / "dist")
        _, sent = self.on_a_terminal("verify", "dist")
        self.assertIn("[2/3] b-1.0-py3-none-any.whl", sent)
        self.assertIn("\r\x1b[J", sent)
        done = self.run_sagekit("verify", "dist")
        self.assertNotIn("[2/3]", done.out + done.err)


class OnGitHub(Report):
    def test_where_the_rest_of_the_annotations_is_said_they_are(self):
        paths = [warned(f"w{number:02}").write(self.folder) for number in range(12)]
        last = self.run_sagekit("verify", *paths, env=self.github()).out.splitlines()[-1]
        self.assertRegex(last, "^::warning title=sagekit verify::and [0-9]+ more warnings: sagekit verify --all WHEEL shows ")
        self.assertIn("  warn ", self.run_sagekit("verify", paths[-1]).out)

    def test_the_jobs_page(self):
        paths = [warned("a").write(self.folder), broken("b").write(self.folder)]
        (self.folder / "summary.md").write_text("before\n")
        self.run_sagekit("verify", *paths, env=self.github())
        page = (self.folder / "summary.md").read_text()
        self.assertTrue(page.startswith("before\n### sagekit verify: 1 of 2 wheels pass\n"), page)
        self.assertRegex(page, r"(?m)^\| \*\*fail\*\* \| .*b-1.0-py3-none-any.whl \|")
        self.assertIn("- **INF006** ", page)
        self.run_sagekit("verify", *paths, env=self.environment(GITHUB_STEP_SUMMARY=str(self.folder / "other.md")))
        self.assertFalse((self.folder / "other.md").exists())

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_a_range_of_gpus_is_said_to_need_one_driver_alone(self):
        wheel = gpu_wheel(self.folder / "made", "312", isa=(8, 4))  # PTX, so what a GPU's first driver is decides
        done = self.run_sagekit("verify", "--json", wheel.write(self.folder), env=self.github())
        driver = {row["capability"]: row["driver"] for row in done.json()["wheels"][0]["runs_on"]}
        self.assertEqual([driver[gpu] for gpu in ("9.0", "10.0", "10.3", "11.0", "12.0", "12.1")], ["550", "570", "580", "580", "570", "580"])
        words = "Linux 550 or newer; 10.0, 12.0: 570 or newer; 10.3: 580 or newer"
        self.assertIn(f"| {words} |", (self.folder / "summary.md").read_text())
        self.assertIn(f"needs the NVIDIA driver for {words}\n", self.run_sagekit("verify", wheel.name, env=self.environment(COLUMNS="200")).out.replace("\n      ", " "))

    def test_the_jobs_page_says_nothing_of_a_file_that_is_no_wheel(self):
        (self.folder / "page-1.0-py3-none-any.whl").write_text("<html>not found</html>")
        self.run_sagekit("verify", self.folder / "page-1.0-py3-none-any.whl", warned("a").write(self.folder), env=self.github())
        page = (self.folder / "summary.md").read_text()
        self.assertRegex(page, r"(?m)^\| \*\*fail\*\* \| .*page-1.0-py3-none-any.whl \| not known \|")
        self.assertRegex(page, r"(?m)^\| pass \| .*a-1.0-.*whl \| no GPU code \|")

    def test_what_could_not_be_judged_is_on_the_page(self):
        path = warned("a").write(self.folder)
        self.expect(self.run_sagekit("verify", path, "missing.whl", env=self.github()), 2)
        page = (self.folder / "summary.md").read_text()
        self.assertTrue(page.startswith("### sagekit verify: 1 of 2 wheels pass, 1 could not be judged\n"), page)
        self.assertIn("| **not judged** | cannot read missing.whl: ", page)
        self.assertIn("- **FIL001** ", page)
        (self.folder / "summary.md").unlink()
        done = self.run_sagekit("verify", "--format", "github", "missing.whl", env=self.github())
        self.assertIn("0 of 1 wheel pass, 1 could not be judged", (self.folder / "summary.md").read_text())
        self.assertRegex(done.out, r"(?m)^::error title=FIL001%3A not judged::cannot read missing.whl")

    def test_at_most_ten_annotations_of_a_type(self):
        paths = [broken(f"w{i}").write(self.folder) for i in range(12)]
        out = self.run_sagekit("verify", *paths, env=self.github()).out
        errors = re.findall(r"(?m)^::error .*", out)
        self.assertEqual(len(errors), 10)
        self.assertRegex(errors[-1], r"::and \d+ more errors: ")
        self.assertIn("12 wheels: 0 pass, 12 fail", out)


class Plans(Report):
    def test_says_how_many_cells_can_be_built_and_fits(self):
        done = self.run_sagekit("--plugin-dir", os.environ["SAGEKIT_EXAMPLES"], "--plugin", "example", "plan")
        self.expect(done, 0)
        self.assertRegex(done.out, r"(?m)^\d+ cells?: \d+ can be built here now, \d+ after fetching, \d+ not$")
        for line in done.out.splitlines():
            if not line.endswith(".whl"):  # a name is never broken
                self.assertLessEqual(len(line), 80, line)


if __name__ == "__main__":
    unittest.main()
