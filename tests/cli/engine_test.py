#!/usr/bin/env python3
"""The compile engine by the real binary: what is shared, what is made again, and what happens when something goes wrong.

Compilers are the real nvcc's programs behind scripts that note what is run, wait, or misbehave."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import EXAMPLE_SOURCE, CommandLine, has_nvcc, real_nvcc


@unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
class Engine(CommandLine):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "ran.txt"
        self.tools = self.watched_tools()

    def watched_tools(self):
        """A toolkit whose cicc notes each architecture that it compiles."""
        real = real_nvcc()
        root = real.parent.parent
        folder = self.folder / "tools"
        (folder / "bin").mkdir(parents=True)
        for part in (root / "bin").iterdir():
            if part.name == "nvcc":  # it looks for its programs beside itself
                shutil.copy(part, folder / "bin" / "nvcc")
            else:
                (folder / "bin" / part.name).symlink_to(part)
        for part in ("include", "lib64", "lib", "targets"):
            if (root / part).exists():
                (folder / part).symlink_to(root / part)
        (folder / "nvvm").mkdir()
        for part in (root / "nvvm").iterdir():
            if part.name != "bin":
                (folder / "nvvm" / part.name).symlink_to(part)
        (folder / "nvvm" / "bin").mkdir()
        self.cicc = folder / "nvvm" / "bin" / "cicc"
        self.real_cicc = root / "nvvm" / "bin" / "cicc"
        self.write_cicc("")
        return folder

    def write_cicc(self, before):
        self.cicc.unlink(missing_ok=True)
        self.cicc.write_text("#!/bin/sh\nfor w in \"$@\"; do case $w in compute_*) echo $w >>'%s';; esac; done\n%s\nexec '%s' \"$@\"\n"
                             % (self.log, before, self.real_cicc))
        self.cicc.chmod(0o755)

    def words(self, *words):
        return ["--plugin-dir", os.environ["SAGEKIT_EXAMPLES"], "--plugin", "example", "build", "--source", EXAMPLE_SOURCE,
                "--toolchain", f"folder:{self.tools}", *words]

    def build(self, *words, **options):
        self.log.unlink(missing_ok=True)
        return self.run_sagekit(*self.words(*words), **options)

    def compiled(self):
        """Architectures that cicc was run for; for kernels of an unnamed namespace it is run twice (docs/engine.md)."""
        return sorted(set(self.log.read_text().split())) if self.log.exists() else []

    def wheel_bytes(self, folder="dist"):
        return {p.name: p.read_bytes() for p in (self.folder / folder).glob("*.whl")}

    def wait_for(self, what):
        for _ in range(600):
            if what():
                return
            time.sleep(0.05)
        self.fail("it never came to that")

    def test_an_architecture_more_compiles_that_one_alone_and_a_rerun_starts_no_compiler(self):
        done = self.build("--arch", "9.0", "-v")
        self.expect(done, 0)
        self.assertEqual(self.compiled(), ["compute_90"])
        self.assertEqual(self.host_code(done), ["not in the store"] * 2)
        self.expect(self.build("--arch", "9.0"), 0)
        self.assertEqual(self.compiled(), [])
        done = self.build("--arch", "8.0 9.0", "-o", "more", "-v")
        self.expect(done, 0)
        self.assertEqual(self.compiled(), ["compute_80"])
        self.assertEqual(self.host_code(done), ["reused from the store, by its source"] * 2, "its text has nothing of the architectures")
        self.assertNotIn("in one run", done.err)

    def test_a_store_that_was_carried_elsewhere_knows_gpu_and_host_code_by_their_text(self):
        self.expect(self.build("--arch", "9.0"), 0)
        self.expect(self.run_sagekit("cache", "export", "all.tar"), 0)
        env = self.environment(SAGEKIT_STORE=str(self.folder / "other"))
        self.expect(self.run_sagekit("cache", "import", "all.tar", env=env), 0)
        # Source, store and toolkit have other folders, and the architectures are others, so that only texts are the same.
        source, tools = self.folder / "another source", self.folder / "other-tools"
        shutil.copytree(EXAMPLE_SOURCE, source)
        self.tools = self.tools.rename(tools)
        self.cicc = tools / "nvvm" / "bin" / "cicc"
        self.log.unlink()
        done = self.run_sagekit(*[source if word == EXAMPLE_SOURCE else word for word in self.words("--arch", "8.0 9.0", "-v", "-o", "two")], env=env)
        self.expect(done, 0)
        self.assertEqual(self.compiled(), ["compute_80"])
        self.assertEqual(self.host_code(done), ["reused from the store, by its source"] * 2)
        self.expect(self.build("--arch", "8.0 9.0", "-o", "new", env=self.environment(SAGEKIT_STORE=str(self.folder / "fresh"))), 0)
        self.assertEqual(self.wheel_bytes("two"), self.wheel_bytes("new"))

    def damage(self, store):
        """Flips a bit in every object."""
        for victim in (p for p in (store / "objects").rglob("*") if p.is_file()):
            data = bytearray(victim.read_bytes())
            data[len(data) // 2] ^= 1
            victim.unlink()
            victim.write_bytes(data)

    def test_gpu_code_that_was_damaged_in_the_store_is_discarded_made_again_and_said(self):
        store, clean = self.folder / "störe", self.environment(SAGEKIT_STORE=str(self.folder / "other"))
        self.expect(self.build("--arch", "9.0"), 0)
        self.expect(self.build("--arch", "8.0 9.0", "-o", "clean", env=clean), 0)
        self.damage(store)
        # Its GPU code for 9.0 is found, and turns out to be damaged when it goes into the object.
        done = self.build("--arch", "8.0 9.0", "-o", "mended")
        self.expect(done, 0, "is damaged: it is discarded")
        self.assertEqual(self.compiled(), ["compute_80", "compute_90"])
        self.assertNotIn("in one run", done.err)
        self.assertEqual(self.wheel_bytes("mended"), self.wheel_bytes("clean"))
        # An object that was found, and with it all the GPU code behind it.
        self.damage(store)
        shutil.rmtree(store / "builds")
        done = self.build("--arch", "8.0 9.0", "-o", "again")
        self.expect(done, 0, "is damaged: it is discarded")
        self.assertEqual(self.compiled(), ["compute_80", "compute_90"])
        self.assertNotIn("in one run", done.err)
        self.assertEqual(self.wheel_bytes("again"), self.wheel_bytes("clean"))
        # What is only compared.
        self.damage(store)
        shutil.rmtree(store / "builds")
        self.expect(self.build("--arch", "8.0 9.0", "--prove", "all", "-o", "proved"), 0, "is damaged: it is discarded")

    @staticmethod
    def host_code(done):
        return re.findall(r"the host's code: ([a-z, ]+)", done.err)

    def test_halves_and_a_whole_nvcc_give_the_same_wheel(self):
        # The host's code is that of the first build, assembled around what the second has.
        self.expect(self.build("--arch", "9.0", "-o", "first"), 0)
        self.expect(self.build("--arch", "8.0 9.0"), 0)
        halves = self.wheel_bytes()
        # A tool that the dry run names and nobody knows: one plain nvcc step, said once.
        nvcc = self.tools / "bin" / "nvcc"
        real = nvcc.with_name("nvcc.real")
        nvcc.rename(real)
        nvcc.write_text(f"#!/bin/sh\ncase \"$*\" in *--keep-dir*) echo '#$ newtool a b' >&2; esac\nexec '{real_nvcc()}' \"$@\"\n")
        nvcc.chmod(0o755)
        fresh = self.environment(SAGEKIT_STORE=str(self.folder / "other"))
        done = self.build("--arch", "8.0 9.0", "-o", "whole", env=fresh)
        self.expect(done, 0, "in one run", "an unknown command")
        self.assertEqual(done.err.count("in one run"), 2, "once for each source")
        ours, whole = halves.popitem()[1], self.wheel_bytes("whole").popitem()[1]
        self.assertEqual(self.modules(ours), self.modules(whole))

    @staticmethod
    def modules(wheel):
        import io
        import zipfile
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name.endswith(".so")}

    def test_proved_code_is_that_of_nvcc_and_other_code_is_refused(self):
        done = self.build("--arch", "8.0", "--prove", "all")
        self.expect(done, 0)
        self.assertEqual(self.compiled(), ["compute_80"])
        import zipfile
        with zipfile.ZipFile(next((self.folder / "dist").glob("*.whl"))) as archive:
            said = "".join(archive.read(n).decode() for n in archive.namelist() if ".dist-info/" in n)
        self.assertIn("GPU code compared with nvcc's own by kernel: 2 of 2", said)
        self.expect(self.build("--arch", "8.0", "--prove", "all"), 0)
        self.assertEqual(self.compiled(), [], "what was proved once is not proved again")
        # A compiler that gives other code the second time.
        ptxas = self.tools / "bin" / "ptxas"
        real = ptxas.resolve()
        ptxas.unlink()
        ptxas.write_text(f"#!/bin/sh\ncase \"$*\" in *--version*) exec '{real}' \"$@\";; esac\n"
                         f"if [ -e '{self.folder}/once' ]; then exec '{real}' -O0 \"$@\"; fi; touch '{self.folder}/once'; exec '{real}' \"$@\"\n")
        ptxas.chmod(0o755)
        done = self.build("--arch", "9.0", "--prove", "all", "-o", "bad")
        self.expect(done, 1, "is not what nvcc makes")
        self.assertEqual(self.wheel_bytes("bad"), {})

    def test_compilers_end_with_a_killed_sagekit_and_the_next_build_gives_the_same_bytes(self):
        self.expect(self.build("--arch", "8.0 9.0"), 0)
        good = self.wheel_bytes()
        shutil.rmtree(self.folder / "dist")
        self.write_cicc(f"echo $$ >'{self.folder}/pid'; i=0; while [ $i -lt 600 ]; do i=$((i+1)); touch '{self.folder}/alive'; sleep 0.1; done")
        # Links to tools, whose paths have a blank in them here, lie outside of the store.
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="sagekit-links-"))
        self.addCleanup(shutil.rmtree, scratch, True)
        env = self.environment(SAGEKIT_STORE=str(self.folder / "other"), TMPDIR=str(scratch))
        process = self.start_sagekit(*map(str, self.words("--arch", "8.0 9.0", "--jobs", "1")), env=env)
        self.wait_for((self.folder / "pid").exists)
        self.assertNotEqual(list(scratch.iterdir()), [])
        process.kill()
        process.communicate(timeout=30)
        pid = int((self.folder / "pid").read_text())

        def ended():
            try:
                return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
            except FileNotFoundError:
                return True
        self.wait_for(ended)
        self.write_cicc("")
        self.expect(self.build("--arch", "8.0 9.0", env=env), 0)
        self.assertEqual(self.wheel_bytes(), good)
        self.assertEqual(list(scratch.iterdir()), [], "what the killed build left is there yet")

    def test_a_temporary_folder_with_a_blank_in_its_name(self):
        scratch = self.folder / "tmp"
        scratch.mkdir()
        self.expect(self.build("--arch", "8.0", env=self.environment(TMPDIR=str(scratch))), 0)
        self.assertEqual(list(scratch.iterdir()), [])

    def test_a_compiler_that_hangs_is_ended_and_its_step_has_failed(self):
        self.write_cicc("sleep 300")
        began = time.monotonic()
        self.expect(self.build("--arch", "8.0", "--step-timeout", "2.5s"), 1, "it took longer than 2.5 s")
        self.assertLess(time.monotonic() - began, 120)
        self.assertEqual(self.wheel_bytes(), {})
        self.write_cicc("")
        self.expect(self.build("--arch", "8.0"), 0)

    def test_of_what_failed_there_is_a_table_with_the_first_cause_of_each(self):
        self.write_cicc("case \"$*\" in *scaled_add*) echo 'scaled_add.cu(7): error: made up';; *) echo 'nothing to say';; esac; exit 3")
        done = self.build("--arch", "8.0", "--keep-going")
        self.expect(done, 1, "2 steps failed")
        table = " ".join(done.err[done.err.index("2 steps failed"):].split())
        self.assertIn("nvcc refuses scaled_add.cu(7): made up", table)
        self.assertIn("nothing to say", table)
        self.assertEqual(done.err.count("error[BLD001]"), 2)
        self.write_cicc("")
        done = self.build("--arch", "8.0", "--require-hits")
        self.expect(done, 1, "2 steps failed", "in no store")
        self.assertNotIn("rerun it with", done.err)

    def test_a_failed_step_can_be_run_again_by_hand_though_its_tools_lie_behind_a_blank(self):
        """The links that carry such places are gone with the build: what is shown names the places themselves."""
        self.write_cicc("echo 'made up' >&2; exit 3")
        done = self.build("--arch", "8.0")
        self.expect(done, 1, "rerun it with: cd ")
        self.assertNotIn("/sk@", done.err)
        self.write_cicc("")
        line = re.search("rerun it with: (cd .*)", done.err)[1]
        again = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=300)
        self.assertEqual(again.returncode, 0, line + again.stderr)

    def test_a_compiler_that_prints_megabytes_is_no_trouble(self):
        self.write_cicc("head -c 20000000 /dev/zero | tr '\\0' 'x'")
        self.expect(self.build("--arch", "8.0"), 0)

    def test_a_compiler_that_dies_by_a_signal_is_named_and_leaves_nothing(self):
        self.write_cicc("kill -SEGV $$")
        done = self.build("--arch", "8.0")
        self.expect(done, 1, "signal 11")
        self.assertEqual(self.wheel_bytes(), {})
        self.write_cicc("")
        # ptxas, which sagekit starts itself.
        ptxas = self.tools / "bin" / "ptxas"
        real = ptxas.resolve()
        ptxas.unlink()
        ptxas.write_text(f"#!/bin/sh\ncase \"$*\" in *--version*) exec '{real}' \"$@\";; esac\nkill -ABRT $$\n")
        ptxas.chmod(0o755)
        self.expect(self.build("--arch", "8.0", "-v"), 1, "signal 6")
        ptxas.unlink()
        ptxas.symlink_to(real)
        self.expect(self.build("--arch", "8.0"), 0)

    def test_gpu_code_whose_compiler_is_killed_twice_has_failed_however_the_build_ends(self):
        """By SIGKILL, as the kernel does when memory is short: once more, alone; then it is told, and the exit is 1."""
        tries = self.folder / "tries"
        self.write_cicc("case \"$*\" in *scaled_add*) echo x >>'%s'; kill -KILL $$;; esac" % tries)
        for words in ((), ("--keep-going",), ("--stop-after", "2h"), ("--shard", "1/1")):
            with self.subTest(words=words):
                tries.unlink(missing_ok=True)
                done = self.build("--arch", "8.0", "--jobs", "1", *words)
                self.expect(done, 1, "it is run again, alone", "scaled_add.cu compute_80 failed", "error[BLD001]: step device-", "signal 9",
                            "ran out of memory again when it ran alone", "rerun it with")
                self.assertEqual(tries.read_text().split(), ["x", "x"])
                self.assertNotIn("left: run it again", done.err)
                self.assertNotIn("in one run", done.err)
                self.assertEqual(self.wheel_bytes(), {})
        self.write_cicc("")
        self.expect(self.build("--arch", "8.0"), 0)

    def test_what_comes_out_otherwise_the_second_time_is_named_by_member_and_section(self):
        ptxas = self.tools / "bin" / "ptxas"
        real = ptxas.resolve()
        ptxas.unlink()
        # Two sources for one architecture: the third call is the second build's.
        ptxas.write_text(f"#!/bin/sh\ncase \"$*\" in *--version*) exec '{real}' \"$@\";; esac\necho x >>'{self.folder}/calls'\n"
                         f"[ $(wc -l <'{self.folder}/calls') -gt 2 ] && exec '{real}' -O0 \"$@\"\nexec '{real}' \"$@\"\n")
        ptxas.chmod(0o755)
        done = self.build("--arch", "8.0", "--check-reproducible", "--jobs", "1", timeout=900)
        self.expect(done, 1, "BLD012", "is not reproducible", ".so: section .")
        self.assertNotIn("build-id", done.err)

    def test_a_compiler_replaced_while_it_is_used_makes_nothing_that_is_kept(self):
        self.write_cicc(f"cp '{self.cicc}' '{self.cicc}.new' && mv '{self.cicc}.new' '{self.cicc}'")
        done = self.build("--arch", "8.0")
        self.expect(done, 1, "BLD011", "cicc was replaced while it was in use")
        self.assertEqual(self.wheel_bytes(), {})
        # A hard link of it, as perf makes them, is no other file.
        self.write_cicc(f"ln -f '{self.cicc}' '{self.folder}/kept'")
        self.expect(self.build("--arch", "8.0"), 0)

    def test_a_source_that_is_edited_while_it_builds_changes_nothing(self):
        self.expect(self.build("--arch", "8.0"), 0)
        good = self.wheel_bytes()
        shutil.rmtree(self.folder / "dist")
        copy = self.folder / "source"
        shutil.copytree(EXAMPLE_SOURCE, copy)
        cu = next(copy.rglob("*.cu"))
        self.write_cicc(f"echo 'not C++ any more' >>'{cu}'")
        env = self.environment(SAGEKIT_STORE=str(self.folder / "other"))
        words = [copy if word == EXAMPLE_SOURCE else word for word in self.words("--arch", "8.0")]
        self.expect(self.run_sagekit(*words, env=env), 0)
        self.assertIn("not C++ any more", cu.read_text())
        self.assertEqual(self.modules(self.wheel_bytes().popitem()[1]), self.modules(good.popitem()[1]))

    def test_a_full_disk_is_told_and_leaves_nothing_half_made(self):
        small = self.folder / "small"
        small.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1100m", "tmpfs", small], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            filler = small / "filler"
            self.write_cicc(f"head -c 2000000000 /dev/zero >'{filler}' 2>/dev/null")
            env = self.environment(SAGEKIT_STORE=str(small / "store"))
            done = self.build("--arch", "8.0", env=env)
            self.assertIn(done.code, (1, 3), done.err)
            self.assertIn("error[", done.err)
            self.assertEqual(self.wheel_bytes(), {})
            filler.unlink()
            self.write_cicc("")
            self.expect(self.build("--arch", "8.0", env=env), 0)
        finally:
            subprocess.run(["umount", small], check=False)

    def test_with_an_end_set_a_build_stops_between_steps_and_goes_on_later(self):
        self.expect(self.build("--arch", "8.0 9.0", "--stop-after", "0.001s"), 75, "steps left")
        self.assertEqual(self.compiled(), [])
        self.assertEqual(self.wheel_bytes(), {})
        self.expect(self.build("--arch", "8.0 9.0", "--stop-after", "2h"), 0)
        self.expect(self.build("--stop-after", "soon"), 2, '"soon" is no time')

    def test_umask_locale_jobs_and_priority_change_no_byte(self):
        self.expect(self.build("--arch", "8.0"), 0)
        good = self.wheel_bytes()
        env = self.environment(SAGEKIT_STORE=str(self.folder / "other"), LANG="tr_TR.UTF-8", LC_ALL="C.UTF-8", TZ="Asia/Tokyo", CPATH="/nowhere")
        before = os.umask(0o077)
        try:
            self.expect(self.build("--arch", "8.0", "--jobs", "1", "--nice", "5", "-o", "again", env=env), 0)
        finally:
            os.umask(before)
        self.assertEqual(self.wheel_bytes("again"), good)
        self.expect(self.build("--nice", "25"), 2, "--nice 25")

    def test_what_decides_when_all_ends_gets_the_processors_first(self):
        nices = self.folder / "nices"
        self.write_cicc("case \"$*\" in *scaled_add*) i=0; while [ $i -lt 1200000 ]; do i=$((i+1)); done;; esac")
        self.expect(self.build("--arch", "8.0"), 0)
        for folder in ("actions", "objects"):  # what is remembered of the time that steps took stays
            shutil.rmtree(self.folder / "störe" / folder)
        self.write_cicc("case \"$*\" in *scaled_add*) s=scaled_add;; *) s=row_softmax;; esac; echo $s $(nice) >>'%s'" % nices)
        self.expect(self.build("--arch", "8.0", "-o", "again"), 0)
        seen = dict(line.split() for line in nices.read_text().splitlines())
        self.assertEqual(int(seen["row_softmax"]), max(int(seen["scaled_add"]), 10), seen)
        # A build that yields to the rest of the machine does not yield twice.
        nices.unlink()
        for folder in ("actions", "objects"):
            shutil.rmtree(self.folder / "störe" / folder)
        self.expect(self.build("--arch", "8.0", "--nice", "14", "-o", "niced"), 0)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual({int(line.split()[1]) for line in nices.read_text().splitlines()}, {max(own, 14)})


if __name__ == "__main__":
    unittest.main(verbosity=1)
