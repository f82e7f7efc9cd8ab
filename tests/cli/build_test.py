#!/usr/bin/env python3
"""The example variant built by the real binary with the real nvcc: the whole way, again, interrupted, refused."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import zipfile

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, SOURCE_DIR, CommandLine, Done, has_nvcc, linked_toolkit, tool


@unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
class Build(CommandLine):
    def build(self, *words, source=EXAMPLE_SOURCE, **options):
        return self.example("build", "--source", source, *words, **options)

    def wheels(self, folder="dist"):
        return sorted((self.folder / folder).glob("*"))

    def test_cells_that_cannot_be_made_here_say_why_beside_those_that_can(self):
        python = "{}.{}".format(*sys.version_info[:2])
        words = ("--profile", "all", "--cuda", "12.8,13.0", "--python", python, "--platform", f"linux_{os.uname().machine}", "--offline", "--json")
        # A dry run says and ends as the build will.
        self.expect(self.build("-n", *words), 3, "would not be built")
        dry = self.build("-n", "-q", *words)
        self.expect(dry, 3)
        done = self.build("-q", *words)
        self.expect(done, 3, "error[TCH001]: no nvcc 12.8", "--> example-cu128")
        self.assertEqual(len(done.json()["wheels"]), 1)
        self.assertEqual(dry.err, done.err)
        self.assertEqual(dry.json()["skipped"], done.json()["skipped"])

    def test_the_whole_way_and_again(self):
        first = self.build("--json")
        self.expect(first, 0)
        result = first.json()
        self.assertEqual(result["schema"], "sagekit.build/1")
        self.assertTrue(result["wheels"])
        self.assertGreater(result["steps"]["run"], 0)
        for wheel in result["wheels"]:
            self.assertEqual(wheel["verdict"], "pass")
            self.assertTrue((self.folder / wheel["path"]).is_file())
        self.assertEqual(len(self.wheels()), len(result["wheels"]), "nothing but wheels in the output folder")

        again = self.build("--json").json()
        self.assertEqual(again["steps"]["run"], 0)
        self.assertEqual([w["sha256"] for w in again["wheels"]], [w["sha256"] for w in result["wheels"]])

        # Another store, another folder, another time: the same bytes.
        other = self.build("--json", "-o", "other dist", env=self.environment(SAGEKIT_STORE=str(self.folder / "other"))).json()
        self.assertGreater(other["steps"]["run"], 0)
        self.assertEqual([w["sha256"] for w in other["wheels"]], [w["sha256"] for w in result["wheels"]])

        verdict = self.example("verify", *[w["path"] for w in result["wheels"]], "--json")
        self.expect(verdict, 0)
        rows = {row["capability"]: row["verdict"] for row in verdict.json()["wheels"][0]["runs_on"]}
        self.assertEqual((rows["8.0"], rows["9.0"], rows["12.0"], rows["7.5"]), ("yes", "yes", "jit", "no"))

        self.install(self.folder / result["wheels"][0]["path"], self.folder / "site")

    def test_a_missing_libzip_is_missed_before_anything_is_compiled(self):
        (self.folder / "lib").mkdir()
        (self.folder / "lib/libzip.so.4").write_bytes(b"")
        done = self.build("--json", env=self.environment(LD_LIBRARY_PATH=str(self.folder / "lib")))
        self.expect(done, 3, "PKG002", "libzip.so.4", "install libzip")
        self.assertNotIn("[1/", done.err)
        self.assertEqual(self.wheels(), [])
        self.expect(self.build("--json"), 0)

    def test_a_note_of_many_cells_is_said_once(self):
        done = self.run_sagekit("--plugin", "sage2", "build", "-n", "--arch", "8.6", "--profile", "current")
        notes = [line for line in done.err.splitlines() if line.startswith("note ")]
        self.assertTrue(notes, done.err)
        self.assertEqual(len(notes), len({line.partition(": ")[2] for line in notes}), done.err)

    def test_what_was_judged_is_not_judged_again(self):
        first = self.build("-v", "--arch", "8.0")
        self.expect(first, 0)
        imports = r" -I -c "  # a child Python that loads a module of the wheel
        self.assertRegex(first.err, imports)
        wheel = self.wheels()[0]
        content, text = wheel.read_bytes(), first.err[first.err.index("  pass:"):first.err.index("needs the NVIDIA")]

        again = self.build("-v", "--arch", "8.0")
        self.expect(again, 0, "was there already", text)
        self.assertNotRegex(again.err, imports)
        wheel.unlink()
        again = self.build("-v", "--arch", "8.0")
        self.expect(again, 0, text)
        self.assertNotRegex(again.err, imports, "the same bytes need no second verdict")
        self.assertEqual(wheel.read_bytes(), content)

        wheel.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        self.expect(self.build("--arch", "8.0"), 1, "PKG001")
        wheel.write_bytes(content)
        # A verdict is for the Pythons that it was given by.
        other = self.build("-v", "--arch", "8.0", "--interpreter", sys.executable)
        self.expect(other, 0)
        self.assertRegex(other.err, imports)
        # One that says something else, or was cut, counts for nothing.
        verdict, = (self.folder / "störe" / "builds").glob("*/verdict.json")
        verdict.write_text(verdict.read_text().replace('"verdict": "pass"', '"verdict": "fail"'))
        self.assertRegex(self.build("-v", "--arch", "8.0", "--interpreter", sys.executable).err, imports)
        verdict.write_text(verdict.read_text()[:700])
        self.assertRegex(self.build("-v", "--arch", "8.0", "--interpreter", sys.executable).err, imports)

    def test_a_failed_step_shows_its_cause_and_mend_before_its_log(self):
        tools = self.folder / "tools"
        tools.mkdir()
        real = shutil.which("g++")
        (tools / "g++").write_text(f"""#!/bin/sh
for word in "$@"; do
  case "$word" in -c|-E) echo "x.cpp:1: fatal error: error writing to /tmp/cc1.s: No space left on device" >&2; exit 1;; esac
done
exec {real} "$@"
""")
        (tools / "g++").chmod(0o755)
        env = self.environment(PATH=f"{tools}:{os.environ['PATH']}")
        done = self.build("--json", env=env)
        self.expect(done, 1, "WHY220", "the disk is full", "Mend", "df -h /tmp", "error[BLD001]")
        self.assertLess(done.err.index("WHY220"), done.err.index("error[BLD001]"))
        failed = done.json()["failed"]
        self.assertTrue(failed)
        for step in failed:
            self.assertEqual([cause["code"] for cause in step["causes"]], ["WHY220"], step)
            self.assertIn("No space left on device", step["causes"][0]["where"]["text"])
            self.assertTrue(step["causes"][0]["fix"])

    def test_package_names_a_kept_build_anew(self):
        self.expect(self.build(), 0)
        for scheme in ("plain", "build-tag", "local-version"):
            done = self.example("package", self.folder / "störe" / "builds", "--naming", scheme, "-o", "named")
            self.expect(done, 0)
            for path in done.out.split("\n")[:-1]:
                with zipfile.ZipFile(self.folder / path) as wheel:
                    self.assertIsNone(wheel.testzip())
                    self.assertTrue(wheel.namelist()[-1].endswith(".dist-info/RECORD"))
                self.install(self.folder / path, self.folder / scheme)

    def install(self, wheel, target):
        """By pip, and by uv where there is one."""
        installers = [[sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", target]]
        if uv := tool("uv"):
            installers.append([uv, "pip", "install", "-q", "--offline", "--no-deps", "--python", sys.executable, "--target", f"{target}-uv"])
        for installer in installers:
            subprocess.run([*installer, wheel], check=True, stdin=subprocess.DEVNULL)
            subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(installer[-1])!r}); import sagekit_example"], check=True)

    def test_a_taken_name_is_refused_before_anything_is_compiled_and_the_file_stays(self):
        done = self.build()
        self.expect(done, 0)
        wheel = self.folder / done.out.split("\n")[0]
        good = wheel.read_bytes()
        wheel.write_bytes(b"mine")
        fresh = self.environment(SAGEKIT_STORE=str(self.folder / "other"))
        done = self.build("--json", env=fresh)
        self.expect(done, 1, "PKG001", "is another wheel")
        self.assertEqual(wheel.read_bytes(), b"mine")
        result = done.json()
        self.assertEqual([(f["step"], f["exit_code"]) for f in result["failed"]], [("package", 1)])
        self.assertIn("PKG001", result["failed"][0]["cause"])
        self.assertEqual(result["steps"]["run"], 0)
        self.assertFalse((self.folder / "other" / "objects").exists(), "something was compiled")
        self.expect(self.build("-n", env=fresh), 1, "PKG001")
        # A wheel of the same cell for other GPUs is another wheel; one of the same may be the same.
        wheel.unlink()
        self.expect(self.build("--arch", "8.0", "--naming", "plain", "-o", "named"), 0)
        self.expect(self.build("--arch", "9.0", "--naming", "plain", "-o", "named", env=fresh), 1, "PKG001")
        self.assertFalse((self.folder / "other" / "objects").exists(), "something was compiled")
        wheel.write_bytes(good)
        self.expect(self.build(), 0, "was there already")

    def test_a_taken_name_hides_none_of_the_other_wheels(self):
        older = self.folder / "cuda-12.8"  # so that two cells have names of their own
        linked_toolkit(older, 'case "$*" in *--version*) echo "Cuda compilation tools, release 12.8, V12.8.93"; exit;; esac\nexec {real} "$@"')
        env = self.environment(CUDA_HOME=str(older))
        python = "{}.{}".format(*sys.version_info[:2])
        words = ("--profile", "all", "--cuda", "12.8,13.0", "--python", python, "--platform", f"linux_{os.uname().machine}", "--arch", "8.0", "--json")
        first = self.build(*words, env=env)
        self.expect(first, 0)
        made = {wheel["cell"]: self.folder / wheel["path"] for wheel in first.json()["wheels"]}
        self.assertEqual(len(set(made.values())), 2)
        (cell, taken), (other, free) = sorted(made.items())
        self.assertIn("cu128", cell)
        good, same = free.read_bytes(), bytearray(taken.read_bytes())
        same[len(same) // 2] ^= 1
        # One that is told before anything is compiled, and one that says of itself what the wheel would, until that is packaged.
        for bytes_there in (b"mine", bytes(same)):
            taken.write_bytes(bytes_there)
            free.unlink()
            done = self.build(*words, env=env)
            self.expect(done, 1, "error[PKG001]", taken.name)
            result = done.json()
            self.assertEqual([(wheel["cell"], wheel["verdict"]) for wheel in result["wheels"]], [(other, "pass")])
            self.assertEqual([(failed["cell"], failed["step"], failed["exit_code"]) for failed in result["failed"]], [(cell, "package", 1)])
            self.assertIn("PKG001", result["failed"][0]["cause"])
            self.assertEqual((taken.read_bytes(), free.read_bytes()), (bytes_there, good))

    def test_cells_of_a_wheel_for_any_python_share_it(self):
        words = ("--profile", "all", "--cuda", "13.0", "--arch", "8.0")
        done = self.build(*words, "--cells", "*-python31[01]*", "--json")
        self.expect(done, 0)
        wheels = done.json()["wheels"]
        self.assertEqual(len(wheels), 2)
        self.assertEqual(len({(wheel["path"], wheel["sha256"]) for wheel in wheels}), 1)
        # Whichever cell comes later, and in whatever call: the same file.
        self.expect(self.build(*words, "--cells", "*-python312*"), 0, "was there already")
        with zipfile.ZipFile(self.folder / wheels[0]["path"]) as archive:
            said = json.loads(archive.read(next(name for name in archive.namelist() if name.endswith("/sagekit.json"))))
        self.assertEqual((said["python"], "python" in said["cell"]), ("", False), said["cell"])
        # Its name says no Python, and so does it under another name: no cell is missing.
        self.expect(self.run_sagekit("retag", "--build", "7", "-o", "named", wheels[0]["path"]), 0)
        self.expect(self.example("coverage", "named", *words), 0, "6 of 6 cells are published")

    def test_a_dry_run_says_what_the_store_holds(self):
        words = ("-n",)
        before = self.build(*words)
        self.expect(before, 0, "would take the source", "would run compile-", "4 steps would run, 0 in the store")
        self.assertFalse((self.folder / "störe").exists())
        (self.folder / "empty").mkdir()
        self.expect(self.build(*words, env=self.environment(SAGEKIT_STORE=str(self.folder / "empty"))), 0)
        self.assertEqual([one.name for one in (self.folder / "empty").iterdir()], ["specs"])
        self.expect(self.build(), 0)
        after = self.build(*words)
        self.expect(after, 0, "would reuse compile-", "would reuse link-", "0 steps would run, 4 in the store")
        self.assertNotIn("would run compile-", after.err)
        steps = self.build("-n", "--json").json()["steps"]
        self.assertEqual(steps, {"run": 0, "reused": 4, "failed": 0, "would_run": 0})

    def test_folder_and_steps_at_a_time_are_the_files_unless_a_flag_says_them(self):
        (self.folder / "sagekit.toml").write_text('output = "made"\njobs = 1\n')
        done = self.build("--jsonl")
        self.expect(done, 0, "sagekit.toml: output, jobs\n")
        self.assertEqual(len(self.wheels("made")), 1)
        self.assertFalse((self.folder / "dist").exists())
        running = 0
        events = [json.loads(line) for line in done.out.splitlines()]
        for event in {event["event"]: event for event in events}.values():
            self.held_to_schema("build-events", event)
        with zipfile.ZipFile(self.wheels("made")[0]) as wheel:
            (provenance,) = (name for name in wheel.namelist() if name.endswith(".dist-info/sagekit.json"))
            self.held_to_schema("provenance", json.loads(wheel.read(provenance)))
        for event in events:
            running += {"started": 1, "finished": -1, "failed": -1}.get(event.get("outcome"), 0)
            self.assertLessEqual(running, 1)
        self.expect(self.build("-o", "other", "--jobs", "4"), 0)
        self.assertEqual(len(self.wheels("other")), 1)

    def test_every_event_is_json_whatever_the_folders_are_called(self):
        # On Linux a name is bytes: these are no UTF-8.
        source, output = os.fsdecode(b"s\xe9"), os.fsdecode(b"j\xe9")
        shutil.copytree(EXAMPLE_SOURCE, self.folder / source)
        done = subprocess.run([str(SAGEKIT), "--plugin-dir", str(EXAMPLES), "--plugin", "example", "build", "--jsonl", "--source", source, "-o", output],
                              env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line.decode("utf-8")) for line in done.stdout.splitlines()]
        self.assertEqual([event["path"].split("/")[0] for event in events if event["event"] == "wheel"], ["j\ufffd"])
        self.assertEqual(len(self.wheels(output)), 1)

    def test_its_report_names_the_verb_that_lists_the_rest(self):
        done = self.build()
        self.expect(done, 0, "could not be made (sagekit verify --all says why)")
        self.assertNotIn("(--all", done.err)

    def test_the_longest_chain_of_a_cold_build_begins_with_gpu_code(self):
        self.assertRegex(self.build("--arch", "8.0").err, "longest chain [^:]*: device-")

    def test_no_step_takes_longer_than_the_longest_chain(self):
        """Of two wheels the one that ends last need not be the one with the longest way."""
        (self.folder / "sagekit.toml").write_text('profile = "all"\ncuda = ["13.0"]\npython = ["3.11", "3.13"]\nplatform = ["linux_x86_64"]\narch = "8.0;9.0+PTX"\n'
                                                  '[[overrides]]\nselect = "*-python313"\narch = "8.0"\nnaming = "build-tag"\n')
        done = self.build("--jobs", "2", "--timeline", "trace.json")
        self.expect(done, 0)
        spans = [event for event in json.loads((self.folder / "trace.json").read_text())["traceEvents"] if event["ph"] == "X"]
        chain = float(re.search(r"longest chain ([0-9.]+) s", done.err)[1])
        self.assertGreaterEqual(chain + 0.05, max(span["dur"] for span in spans) / 1e6, done.err)

    def test_offline_needs_no_network_and_uses_none(self):
        done = self.example("build", "--offline")
        self.expect(done, 1, "SRC001", "--offline")
        self.expect(self.build("--offline"), 0)

    def test_offline_dry_runs_know_git_s_copy_as_builds_do(self):
        import hashlib
        store = self.folder / "störe"
        cache = store / "git" / (hashlib.sha256(b"https://example.invalid/sagekit-example.git").hexdigest()[:16] + ".git")
        subprocess.run(["sh", SOURCE_DIR / "examples/plugin/pin_source.sh", self.folder / "repository"], check=True, capture_output=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", self.folder / "repository", cache], check=True)
        before = sorted(store.rglob("*"))
        self.expect(self.example("build", "--dry-run", "--offline"), 0, f"would take the source from {cache}", "4 steps would run")
        self.assertEqual([path for path in sorted(store.rglob("*")) if path.is_relative_to(cache)], [path for path in before if path != cache.parent])
        self.expect(self.example("build", "--offline"), 0)

    def test_a_given_source_that_is_not_there_is_told_before_anything_is_fetched(self):
        for words in (["--source", "nowhere"], ["--source", EXAMPLE_SOURCE, "--vendored", "cutlass=x"]):
            done = self.example("build", "--toolchain", "wheels", "--index-url", "http://127.0.0.1:9/simple", *words)
            self.expect(done, 2, "error[SRC006]: the source at nowhere" if words[1] == "nowhere" else "error[SRC009]: --vendored cutlass=x")
            self.assertNotIn("IDX", done.err)
            self.assertFalse((self.folder / "störe").exists())

    def test_a_given_source_that_is_another_is_refused_before_anything_is_fetched(self):
        wrong = self.folder / "wrong"
        shutil.copytree(EXAMPLE_SOURCE, wrong)
        (wrong / "more.cu").write_text("// x")
        archive = shutil.make_archive(str(self.folder / "src"), "gztar", self.folder, "wrong")
        for source in (wrong, archive):
            done = self.example("build", "--toolchain", "wheels", "--index-url", "http://127.0.0.1:9/simple", "--source", source)
            self.expect(done, 2, "error[SRC003]")
            self.assertNotIn("IDX", done.err)
        # With the right one the index is asked.
        done = self.example("build", "--toolchain", "wheels", "--index-url", "http://127.0.0.1:9/simple", "--source", EXAMPLE_SOURCE)
        self.assertNotIn("SRC", done.err)
        self.assertNotEqual(done.code, 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_git_s_words_are_said_of_a_repository_that_another_user_owns(self):
        repository, home = self.folder / "repository", self.folder / "home"
        subprocess.run(["sh", SOURCE_DIR / "examples/plugin/pin_source.sh", repository], check=True, capture_output=True)
        self.folder.chmod(0o755)
        home.mkdir()
        os.chown(home, 65534, 65534)
        other = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": home, "stdin": subprocess.DEVNULL, "capture_output": True,
                 "env": self.environment(HOME=str(home), TMPDIR=str(home), SAGEKIT_STORE=str(home / "store"))}
        words = [SAGEKIT, "--plugin-dir", EXAMPLES, "--plugin", "example", "build", "--offline", "--dry-run", "--source", repository / ".git"]
        done = Done(subprocess.run(words, **other))
        self.expect(done, 2, "error[SRC006]: git does not read the source at", "detected dubious ownership", "git config --global --add safe.directory")
        self.assertNotIn("has no commit", done.err)
        subprocess.run(["git", "config", "--global", "--add", "safe.directory", repository / ".git"], check=True, **other)
        self.expect(Done(subprocess.run(words, **other)), 0)

    def test_verbose_says_every_hit_and_every_miss(self):
        self.expect(self.build("-v"), 0, "not in the store: it was never made before")
        self.expect(self.build("-v"), 0, ": reused from the store")

    def test_a_source_that_is_not_the_pinned_one_is_refused_with_both_hashes(self):
        copy = self.folder / "my source"
        shutil.copytree(EXAMPLE_SOURCE, copy)
        (copy / "extra.txt").write_text("x")
        done = self.build(source=copy)
        self.expect(done, 2, "error[SRC")
        import re
        self.assertGreaterEqual(len(set(re.findall(r"\b[0-9a-f]{40}\b", done.err))), 2, done.err)

    def test_a_dry_run_ends_as_the_build_where_output_or_store_cannot_be_written(self):
        file = self.folder / "file"
        file.write_text("x")
        (self.folder / "link").symlink_to("nowhere")
        for words, code in ((("-o", "file"), "FIL002"), (("-o", "file/dist"), "FIL002"), (("-o", "link"), "FIL002"), (("--store", file), "FIL002"),
                            (("--store", file / "store"), "FIL002"), (("--store", self.folder / "a,b"), "STO009")):
            for more in (("-n",), ()):
                with self.subTest(words=words, more=more):
                    self.expect(self.build(*words, *more), 2, f"error[{code}]", str(words[1]))
            self.assertFalse((self.folder / "dist").exists())

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_dry_run_ends_as_the_build_where_this_user_may_not_write(self):
        closed, own = self.folder / "closed", self.folder / "own"
        for folder, mode in ((self.folder, 0o755), (closed, 0o755), (own, 0o777)):
            folder.mkdir(exist_ok=True)
            folder.chmod(mode)
        for output, store in ((closed, own / "store"), (closed / "new" / "dist", own / "store"), (own / "dist", closed / "store")):
            for more in (("-n",), ()):
                with self.subTest(output=output, store=store, more=more):
                    words = ("--plugin-dir", EXAMPLES, "--plugin", "example", "build", "--source", EXAMPLE_SOURCE, "-o", output, "--store", store, *more)
                    done = Done(subprocess.run([SAGEKIT, *map(str, words)], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                                               env=self.environment(HOME=str(own)), user=65534, group=65534, extra_groups=[]))
                    self.expect(done, 2, "error[FIL002]", "Permission denied")

    def test_a_dry_run_refuses_the_source_that_the_build_would_refuse(self):
        wrong = self.folder / "wrong"
        shutil.copytree(EXAMPLE_SOURCE, wrong)
        (wrong / "more.cu").write_text("// x")
        for with_store in (False, True):
            self.expect(self.build("--dry-run", source=wrong), 2, "SRC003")
            self.assertEqual((self.folder / "störe" / "objects").exists(), with_store)
            (self.folder / "störe" / "objects").mkdir(parents=True, exist_ok=True)

    def test_an_archive_is_a_source_too(self):
        archive = shutil.make_archive(str(self.folder / "src"), "gztar", EXAMPLE_SOURCE.parent, EXAMPLE_SOURCE.name)
        self.expect(self.build(source=archive), 0)

    def test_a_missing_source_folder_ends_2(self):
        self.expect(self.build(source=self.folder / "none"), 2, "none")

    def slow_nvcc(self, when="true"):
        """A toolchain folder whose nvcc waits before it compiles: time to interrupt."""
        folder = self.folder / "slow"
        linked_toolkit(folder, f'case "$*" in *" -c "*) if {when}; then touch "{self.folder}/started"; sleep 60; fi;; esac\nexec {{real}} "$@"')
        return folder

    def interrupted(self, how, *more, when="true"):
        words = ["--plugin-dir", os.environ["SAGEKIT_EXAMPLES"], "--plugin", "example", "build", "--source", EXAMPLE_SOURCE,
                 "--toolchain", f"folder:{self.slow_nvcc(when)}", *more]
        process = self.start_sagekit(*words)
        for _ in range(4000):
            if (self.folder / "started").exists():
                break
            time.sleep(0.05)
        else:
            process.kill()
            self.fail("the build never started a step: " + process.communicate()[1].decode())
        process.send_signal(how)
        self.answer = process.communicate(timeout=30)[0]
        return process.returncode

    def test_ctrl_c_ends_steps_and_leaves_nothing_half_made(self):
        self.assertEqual(self.interrupted(signal.SIGINT, "--json"), 130)
        document = json.loads(self.answer)
        self.held_to_schema("build", document)
        self.assertEqual([error["code"] for error in document["errors"]], ["BLD006"])
        self.assertEqual((document["wheels"], len(document["skipped"])), ([], 1))
        self.assertEqual([p for p in self.wheels() if p.suffix == ".whl"], [])
        time.sleep(0.2)
        left = subprocess.run(["pgrep", "-f", str(self.folder / "slow")], capture_output=True, text=True).stdout
        self.assertEqual(left, "", "steps outlived the build")
        self.expect(self.build(), 0)

    def test_ctrl_c_in_the_second_build_names_the_wheel_of_the_first(self):
        second = self.folder / "störe" / "second-build"
        self.assertEqual(self.interrupted(signal.SIGINT, "--json", "--check-reproducible", when=f'[ -d "{second}" ]'), 130)
        document = json.loads(self.answer)
        self.assertEqual([error["code"] for error in document["errors"]], ["BLD006"])
        self.assertEqual([pathlib.Path(wheel["path"]).name for wheel in document["wheels"]], [path.name for path in self.wheels()])

    def test_kill_9_leaves_a_store_that_works(self):
        self.assertEqual(self.interrupted(signal.SIGKILL), -9)
        self.expect(self.build(), 0)
        subprocess.run(["pkill", "-f", str(self.folder / "slow")], check=False)

    def test_a_second_build_into_a_folder_waits_for_the_first_and_says_so(self):
        words = ["--plugin-dir", os.environ["SAGEKIT_EXAMPLES"], "--plugin", "example", "build", "--source", EXAMPLE_SOURCE]
        first = self.start_sagekit(*words, "--toolchain", f"folder:{self.slow_nvcc()}")
        while not (self.folder / "started").exists():
            self.assertIsNone(first.poll(), "the build ended before it started a step")
            time.sleep(0.05)
        second = self.start_sagekit(*words, env=self.environment(SAGEKIT_STORE=str(self.folder / "other")))
        seen = b""
        while b"waiting for it" not in seen:
            line = second.stderr.readline()
            self.assertTrue(line, "the second build did not wait: " + seen.decode())
            seen += line
        self.assertIn(b"another sagekit writes to dist", seen)
        self.assertIsNone(second.poll())
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)
        out, err = second.communicate(timeout=120)
        self.assertEqual(second.returncode, 0, err)
        self.assertEqual(len(self.wheels()), 1, "the wheel, and no lock beside it")
        # One that waits can be stopped.
        with open(self.folder / "dist" / ".sagekit.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            third = self.start_sagekit(*words)
            while b"waiting for it" not in third.stderr.readline():
                self.assertIsNone(third.poll())
            third.send_signal(signal.SIGINT)
            third.communicate(timeout=30)
        self.assertEqual(third.returncode, 130)

    def test_a_folder_that_was_made_for_nothing_goes_again(self):
        source = self.folder / "source"
        shutil.copytree(EXAMPLE_SOURCE, source)
        (source / "more.txt").write_text("not of the pinned revision\n")
        self.expect(self.build("-o", "new/dist", source=source), 2, "SRC003")
        self.assertFalse((self.folder / "new" / "dist").exists())
        (self.folder / "mine").mkdir()
        self.expect(self.build("-o", "mine", source=source), 2, "SRC003")
        self.assertEqual(list((self.folder / "mine").iterdir()), [])

    def test_a_failing_step_shows_its_last_lines_and_how_to_rerun_it(self):
        folder = self.slow_nvcc()
        script = folder / "bin" / "nvcc"
        script.write_text(script.read_text().replace("sleep 60;", "echo 'error: the kernel is on strike' >&2; exit 2;"))
        done = self.build("--toolchain", f"folder:{folder}")
        self.expect(done, 1, "the kernel is on strike", "rerun it with: cd ")
        self.assertEqual([p for p in self.wheels() if p.suffix == ".whl"], [])

    def test_a_given_compiler_that_cannot_be_used_is_not_quietly_replaced(self):
        folder = self.slow_nvcc()
        (folder / "bin" / "cudafe++").unlink()
        self.expect(self.build("--toolchain", f"folder:{folder}"), 3, "TCH008", "cudafe++ is missing")

    def test_a_tampered_wheel_is_caught(self):
        done = self.build()
        self.expect(done, 0)
        wheel = self.folder / done.out.split("\n")[0]
        renamed = wheel.with_name(wheel.name.replace("-py3-", "-py2-"))
        shutil.copy(wheel, renamed)
        self.expect(self.example("verify", renamed), 1)
        data = bytearray(wheel.read_bytes())
        data[len(data) // 2] ^= 0xFF
        wheel.write_bytes(data)
        self.expect(self.example("verify", wheel), 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
