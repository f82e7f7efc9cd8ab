#!/usr/bin/env python3
"""`build --in` with a stand-in for docker that runs the build here: what it is asked, what comes back, and how it fails. Real engines
are in tests/real."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, CommandLine, has_nvcc

# `run` maps the container's folders back and starts the program that is tested.
DOCKER = f"""#!{sys.executable}
import json, os, pathlib, subprocess, sys
words, log = sys.argv[1:], pathlib.Path(sys.argv[0]).parent / "asked"
with open(log, "a") as file:
    file.write(json.dumps(words) + "\\n")
if os.environ.get("DOCKER_FAILS") == words[0]:
    sys.exit(os.environ.get("DOCKER_SAYS", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"))
if os.environ.get("DOCKER_SILENT") == words[0]:
    sys.exit(0)
if words[0] == "build":
    text = (pathlib.Path(words[-1]) / "Dockerfile").read_text()
    assert " AS builder" in text
    print("building")
if words[0] != "run":
    sys.exit(0)
folders, at = {{}}, 1
while words[at].startswith("-"):
    if words[at] == "-v":
        here, there = words[at + 1].split(":")[:2]
        folders[there] = os.environ.get("DOCKER_ELSEWHERE", here) if there == "/out" else here
    at += 1 if words[at] == "--rm" else 2
for number, word in enumerate(words):
    words[number] = folders.get(word, word)
command = [{str(SAGEKIT)!r}, "--plugin-dir", {str(EXAMPLES)!r}, "build", "-o", folders["/out"], "--store", folders["/cache"], *words[at + 1:]]
done = subprocess.run(command, stdout=subprocess.PIPE)
sys.stdout.buffer.write(done.stdout.replace(json.dumps(folders["/out"] + "/", ensure_ascii=False)[1:-1].encode(), b"/out/"))
sys.stdout.flush()
sys.exit(done.returncode)
"""


# sbatch runs each task of the array at once, as a node would, and says the job's number.
SBATCH = """#!/bin/bash
echo "$@" >> "$(dirname "$0")/submitted"
for script; do :; done
if [ "$script" = "$SBATCH_REFUSES" ]; then
  echo "sbatch: error: Batch job submission failed: Invalid partition name specified" >&2
  exit 1
fi
if [ "$script" = "$SBATCH_HANGS" ]; then
  echo 7
  touch "$(dirname "$0")/waits"
  exec sleep 60
fi
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for task in $(seq "${tasks:-1}"); do
  SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task bash "$script" >> "$(dirname "$0")/log" 2>&1 || code=$?
done
echo 7
exit "${code:-0}"
"""


class BuildIn(CommandLine):
    def setUp(self):
        super().setUp()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        docker = self.tools / "docker"
        docker.write_text(DOCKER)
        docker.chmod(0o755)

    def build(self, *words, **env):
        env = {"PATH": f"{self.tools}:{os.environ['PATH']}"} | env
        return self.example("build", "--in", "docker", "--source", EXAMPLE_SOURCE, *words, env=self.environment(**env))

    def asked(self):
        return [json.loads(line) for line in (self.tools / "asked").read_text().splitlines()]

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
    def test_the_store_of_a_flag_is_the_container_s(self):
        self.expect(self.build("--store", self.folder / "other", "-o", "there"), 0)
        self.assertIn(f"{self.folder}/other:/cache", " ".join(next(words for words in self.asked() if words[0] == "run")))
        self.assertTrue((self.folder / "other/actions").exists())

    def slurm(self, *words, **env):
        cancel = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/cancelled"\n'
        for name, text in (("sinfo", "#!/bin/sh\n"), ("sbatch", SBATCH), ("scancel", cancel)):
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        env = self.environment(PATH=f"{self.tools}:{os.environ['PATH']}", **env)
        return ("build", "--in", "slurm", "--source", EXAMPLE_SOURCE, "-o", "there", *words), env

    def left(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name != "störe")

    def test_slurm_without_the_partition_takes_no_job_and_leaves_nothing(self):
        words, env = self.slurm("--partition", "nosuch", SBATCH_REFUSES="build.sbatch")
        self.expect(self.example(*words, env=env), 3, "GEN011", "Slurm did not take the jobs", "Invalid partition name specified")
        self.assertEqual(self.left(), ["tools"])

    def test_an_array_that_nobody_would_finish_is_cancelled(self):
        words, env = self.slurm(SBATCH_REFUSES="finish.sbatch", SBATCH_HANGS="none")
        sbatch = self.tools / "sbatch"
        sbatch.write_text(sbatch.read_text().replace("for task in", "exec echo 7; for task in"))
        self.expect(self.example(*words, env=env), 3, "GEN011", "Slurm did not take the jobs")
        self.assertEqual((self.tools / "cancelled").read_text(), "7\n")
        self.assertEqual(self.left(), ["tools"])

    def test_a_last_job_that_fails_is_told_with_its_own_lines(self):
        words, env = self.slurm()
        sbatch = self.tools / "sbatch"
        sbatch.write_text('#!/bin/sh\nfor script; do :; done\necho 7\n[ "$script" = build.sbatch ] || { echo "sagekit: not found on node3" > logs/finish-7.log; exit 127; }\n')
        self.expect(self.example(*words, env=env), 3, "GEN011", "the last job ended without a result (logs in ", "sagekit: not found on node3", "the lines above")
        sbatch.write_text('#!/bin/sh\nfor script; do :; done\necho 7\n[ "$script" = build.sbatch ]\n')
        done = self.example(*words, env=env)
        self.expect(done, 3, "GEN011", "Slurm did not come to the last job's end (logs in ", "it said nothing")
        self.assertNotIn("lines above", done.err)

    def test_a_build_that_is_stopped_cancels_its_jobs(self):
        words, env = self.slurm(SBATCH_HANGS="finish.sbatch")
        sbatch = self.tools / "sbatch"
        sbatch.write_text(sbatch.read_text().replace("for task in", "exec echo 6; for task in"))
        process = subprocess.Popen([SAGEKIT, "--plugin-dir", EXAMPLES, "--plugin", "example", *map(str, words)], cwd=self.folder, env=env,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not (self.tools / "waits").exists() and process.poll() is None:
            time.sleep(0.02)
        while not any(path.read_text().split() == ["6", "7"] for path in self.folder.glob(".sagekit-in-*/jobs/logs/submitted")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual((self.tools / "cancelled").read_text(), "6 7\n")
        self.assertEqual(self.left(), ["tools"])

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
    def test_slurm_s_jobs_are_submitted_and_their_wheels_collected(self):
        words, env = self.slurm("--shards", "2", "--cpus", "1", "--store", self.folder / "other", "--json")
        done = self.example(*words, env=env)
        self.expect(done, 0, "submitted from")
        (wheel,) = done.json()["wheels"]
        self.assertTrue((self.folder / wheel["path"]).exists(), wheel)
        self.assertEqual(len((self.tools / "submitted").read_text().splitlines()), 2, "the array, and what finishes")
        self.assertEqual(self.left(), ["other", "there", "tools"])

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
    def test_wheels_document_and_code_are_a_local_build_s(self):
        there = self.build("--json", "-o", "there")
        self.expect(there, 0, "making the image", "_scaled_add")
        here = self.example("build", "--source", EXAMPLE_SOURCE, "--json", "-o", "here", "--store", "another")
        there, here = there.json(), here.json()
        self.assertEqual(there["schema"], "sagekit.build/1")
        self.assertEqual([w["path"] for w in there["wheels"]], [w["path"].replace("here/", "there/") for w in here["wheels"]])
        self.assertEqual([w["sha256"] for w in there["wheels"]], [w["sha256"] for w in here["wheels"]])
        self.assertTrue((self.folder / there["wheels"][0]["path"]).is_file())
        self.assertEqual([words[0] for words in self.asked()], ["version", "build", "run", "rmi"])
        self.assertIn("--no-prune", self.asked()[3], "podman's rmi takes the layers along, and the next image begins anew")
        run = self.asked()[2]
        self.assertIn(f"{os.getuid()}:{os.getgid()}", run)
        self.assertIn(f"{EXAMPLE_SOURCE}:/source:ro", run)
        # Again: the store is this machine's, so nothing is built.
        again = self.build("-o", "there")
        self.expect(again, 0, "(kept)")
        self.assertEqual(again.out, there["wheels"][0]["path"] + "\n")
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".sagekit")], [])

    def test_a_selection_that_matches_nothing_asks_nobody_to_build(self):
        self.expect(self.build("--cells", "nothing-*"), 4, "PLN004")
        self.assertEqual([words[0] for words in self.asked()], ["version"])

    def test_an_engine_that_is_missing_stopped_or_fails(self):
        done = self.example("build", "--in", "podman", env=self.environment(PATH=str(self.tools)))
        self.expect(done, 3, "GEN010", "podman is not on this machine")
        self.expect(self.build(DOCKER_FAILS="version"), 3, "GEN011", "does not answer", "Is the docker daemon running?", "DOCKER_HOST says where it is")
        self.expect(self.build(DOCKER_FAILS="build"), 3, "GEN011", "could not make the image", "Is the docker daemon running?")
        done = self.build(DOCKER_FAILS="version", DOCKER_SAYS="\r\n\nbad certificate\r\n\r\n")
        self.expect(done, 3, "does not answer:\nbad certificate\n")
        for said in ("permission denied while trying to connect to the Docker daemon socket", "no space left on device"):
            self.expect(self.build(DOCKER_FAILS="build" if "space" in said else "version", DOCKER_SAYS=said), 3, "GEN011", said)
        self.assertEqual(self.left(), ["tools"])

    def test_an_engine_that_ends_well_and_built_nothing_is_no_success(self):
        self.expect(self.build("-o", "there", DOCKER_SILENT="run"), 3, "GEN011", "could not run the image")
        self.assertEqual(self.left(), ["tools"])

    def test_what_is_in_the_way_is_found_before_the_engine_is_asked(self):
        (self.folder / "plain").write_text("")
        self.expect(self.build("-o", "plain"), 2, "FIL002", "cannot write to plain")
        self.expect(self.example("build", "--in", "docker", "--source", self.folder / "gone", env=self.environment(PATH=f"{self.tools}:{os.environ['PATH']}")),
                    2, "SRC006", "there is no such file or folder")
        self.assertFalse((self.tools / "asked").exists())
        self.assertEqual(self.left(), ["plain", "tools"])

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
    def test_a_source_that_moved_is_refused_there_as_here(self):
        moved = self.folder / "moved"
        shutil.copytree(EXAMPLE_SOURCE, moved)
        kernels = moved / "csrc/scaled_add.cu"
        kernels.write_text(kernels.read_text() + "// another\n")
        env = self.environment(PATH=f"{self.tools}:{os.environ['PATH']}")
        self.expect(self.example("build", "--in", "docker", "--source", moved, "-o", "there", env=env), 2, "SRC003", "is not the pinned one")
        self.assertEqual(self.left(), ["moved", "tools"])

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
    def test_wheels_on_a_daemon_s_own_machine_are_no_success(self):
        (self.folder / "remote").mkdir()
        for words in ((), ("--json",)):
            done = self.build("-o", "there", *words, DOCKER_ELSEWHERE=self.folder / "remote")
            self.expect(done, 3, "GEN011", "it is not here: its folders are another machine's", "DOCKER_HOST")
            self.assertEqual(done.out, "")
            self.assertEqual(self.left(), ["remote", "tools"])

    def test_flags_of_another_engine_are_refused(self):
        for engine, *flag in (("docker", "--partition", "gpu"), ("podman", "--shards", "4"), ("buildah", "--cpus", "2"),
                              ("slurm", "--base", "debian"), ("slurm", "--gpu-check"), ("slurm", "--sagekit", "sagekit>=0.1")):
            done = self.example("build", "--in", engine, *flag, env=self.environment(PATH=f"{self.tools}:{os.environ['PATH']}"))
            self.expect(done, 2, "CLI001", f"build --in {engine} makes nothing of {flag[0]}")
        path = self.environment(PATH=f"{self.tools}:{os.environ['PATH']}")
        self.expect(self.example("build", "--in", "docker", "--shards", "4", env=path), 2, "it is for --in slurm")
        self.expect(self.example("build", "--in", "slurm", "--base", "debian", env=path), 2, "it is for --in docker, podman and buildah")
        done = self.run_sagekit("--plugin", "sage2", "--plugin", "sage3", "build", "--in", "docker")
        self.expect(done, 2, "PLG010", "give --plugin once")
        self.assertFalse((self.tools / "asked").exists())

    def test_flags_of_an_engine_are_nothing_to_a_build_here(self):
        for flag, engine in ((("--shards", "4"), "slurm"), (("--cpus", "2"), "slurm"), (("--partition", "gpu"), "slurm"),
                             (("--base", "debian"), "docker, podman and buildah"), (("--gpu-check",), "docker, podman and buildah")):
            done = self.example("build", "--dry-run", "--source", EXAMPLE_SOURCE, *flag)
            self.expect(done, 2, "CLI001", f"a build on this machine makes nothing of {flag[0]}", f"it is for --in {engine}")

    def test_slurm_says_what_divides_and_bounds_its_tasks(self):
        for flag, *hint in (("--shard", "1/2", "--shards N says into how many tasks", "--cpus N"), ("--memory", "4G", "with fewer --cpus"),
                            ("--stop-after", "3m", "leave it out, or build here")):
            words, env = self.slurm(flag, hint.pop(0))
            self.expect(self.example(*words, env=env), 2, "CLI001", f"build --in slurm makes nothing of {flag}", *hint)
        words, env = self.slurm("--jobs", "1", "--cpus", "2")
        self.expect(self.example(*words, env=env), 2, "CLI001", "--jobs and --cpus say the same", "give one")
        self.assertFalse((self.tools / "submitted").exists())

    def test_what_the_project_s_file_says_is_refused_as_its_flag_is(self):
        config = self.folder / "sagekit.toml"
        for engine, key, value in (("docker", "offline", "true"), ("podman", "locked", "true"), ("slurm", "offline", "true"), ("slurm", "locked", "true"),
                                   ("slurm", "memory", '"4G"'), ("buildah", "toolchain", '["system"]')):
            config.write_text(f"# ours\n{key} = {value}\n")
            env = self.environment(PATH=f"{self.tools}:{os.environ['PATH']}")
            done = self.example("build", "--in", engine, "--source", EXAMPLE_SOURCE, env=env)
            self.expect(done, 2, "CLI001", f"build --in {engine} makes nothing of {key}", f"{config}:2", "--config FILE")
        self.assertFalse((self.tools / "asked").exists())
        config.write_text('offline = false\nmemory = "4G"\narch = "8.0"\njobs = 2\n')
        self.expect(self.build(DOCKER_FAILS="build"), 3, "GEN011")

    def test_a_shared_store_is_meant_from_where_it_was_typed(self):
        words, env = self.slurm("--shared-store", "geteilt ü")
        (self.tools / "sbatch").write_text('#!/bin/sh\nfor script; do :; done; cp "$script" "$(dirname "$0")/script"; exit 1\n')
        self.expect(self.example(*words, env=env), 3, "GEN011")
        self.assertIn(f" --store '{self.folder}/geteilt ü' ", (self.tools / "script").read_text())

    def test_steps_at_a_time_are_a_task_s_cpus(self):
        sbatch = 'for script; do :; done; cp "$script" "$(dirname "$0")/script"; exit 1\n'
        for flags, env, cpus in ((("--jobs", "2"), {}, "2"), ((), {"MAX_JOBS": "1"}, "1"), (("--cpus", "2"), {"MAX_JOBS": "1"}, "2")):
            words, env = self.slurm(*flags, **env)
            (self.tools / "sbatch").write_text("#!/bin/sh\n" + sbatch)
            done = self.example(*words, env=env)
            self.expect(done, 3, "GEN011")
            script = (self.tools / "script").read_text()
            self.assertIn(f"#SBATCH --cpus-per-task={cpus}\n", script)
            self.assertIn(f" --keep-going --jobs {cpus} ", script)
            self.assertEqual("from MAX_JOBS" in done.err, not flags, done.err)

    def test_an_engine_named_without_its_flag(self):
        for word in ("docker", "--docker", "podman", "--slurm"):
            self.expect(self.example("build", word), 2, "CLI001", f'did you mean "--in {word.strip("-")}"?')
        self.expect(self.example("build", "--engine", "docker"), 2, 'did you mean "--in"?')
        self.expect(self.example("build", "--in", "container"), 2, 'did you mean "docker"?')

    def test_what_an_engine_makes_nothing_of_is_refused(self):
        for flag in (("--prove", "all"), ("--dry-run",), ("--jsonl",), ("--missing-from", "x"), ("--timeline", "t")):
            self.expect(self.build(*flag), 2, "CLI001", flag[0])
        self.expect(self.example("build", "--in", "kubernetes"), 2, "CLI001")
        self.assertFalse((self.tools / "asked").exists())

    def test_cells_of_several_images_are_one_too_many(self):
        done = self.run_sagekit("--plugin", "sage3", "build", "--in", "docker", "--profile", "sage3-all",
                                env=self.environment(PATH=f"{self.tools}:{os.environ['PATH']}"))
        self.expect(done, 2, "GEN012", "--cuda")


if __name__ == "__main__":
    unittest.main()
