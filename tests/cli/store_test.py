#!/usr/bin/env python3
"""The store through the real binary and the real nvcc: its care, packs, second levels, shards, launchers, and every fault
that a machine has had: killed, full, read-only, someone else's, without locks, a flipped bit, eight builds at once.

SAGEKIT_SOAK=200 kills a build so many times (make soak), most of them with stand-ins for the compilers; without it a few
times. The moments come from a seed. With SAGEKIT_SOAK_SOURCE, a checkout of SageAttention, a module of sage2 is built and killed
20 times (SAGEKIT_SOAK_STORE: a store that has torch 2.11 for CUDA 13.0; SAGEKIT_SOAK_PYTHON: whose headers are here)."""
import hashlib
import http.server
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, SOURCE_DIR, WHOLE_NVCC, CommandLine, Done, has_nvcc, linked_toolkit
from make_plugin import make_plugin, one_kernel

KILLS = int(os.environ.get("SAGEKIT_SOAK", "4"))
SOAK_SOURCE = os.environ.get("SAGEKIT_SOAK_SOURCE")
TOKEN = "s3cret-t0ken"


class CacheServer(http.server.ThreadingHTTPServer):
    """/cas/SHA and /ac/KEY in memory. `mood` says how it misbehaves."""
    daemon_threads = True

    def __init__(self, mood="", elsewhere=""):
        self.files, self.mood, self.elsewhere, self.seen = {}, mood, elsewhere, []
        super().__init__(("127.0.0.1", 0), CacheAnswer)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A build that did not wait for the answer."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class CacheAnswer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        server = self.server
        server.seen.append((self.command, self.path, self.headers.get("Authorization")))
        if server.mood == "slow":
            time.sleep(60)
        if server.elsewhere:
            return self.answer(302, Location=server.elsewhere + self.path)
        if server.mood == "page":  # of a proxy that wants a login: it answers everything so, and says that all is well
            return self.answer(200, b"<html><title>Sign in</title></html>")
        if server.mood == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"sagekit.action/3\nmeasured 1 1 1 1\n")
            self.close_connection = True
            return None
        body = server.files.get(self.path)
        if body is None:
            return self.answer(404)
        if server.mood == "flipped" and self.path.startswith("/cas/"):
            body = body[:-1] + bytes([body[-1] ^ 1])
        self.answer(200, body)

    do_HEAD = do_GET

    def do_PUT(self):
        server = self.server
        server.seen.append((self.command, self.path, self.headers.get("Authorization")))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if server.mood == "full":
            return self.answer(507)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(403)
        server.files[self.path] = body
        self.answer(201)


def kill_tree(process):
    """SIGKILL to a process and all below it; it is stopped first, so that it starts no more."""
    os.kill(process.pid, signal.SIGSTOP)
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
            parents.setdefault(int(text.rsplit(")", 1)[1].split()[1]), []).append(int(stat.parent.name))
        except (OSError, IndexError):
            pass
    below, todo = [], [process.pid]
    while todo:
        below += parents.get(todo[-1], [])
        todo = todo[:-1] + parents.get(todo[-1], [])
    for pid in [*below, process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()


def begin_again(store):
    """Everything goes but the trees that were fetched."""
    for part in store.iterdir():
        if part.name not in ("toolchains", "specs"):
            shutil.rmtree(part)


def still_at_work(folder):
    """Processes whose words name it; what was killed is given a moment to be gone."""
    for _ in range(100):
        found = []
        for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found += [words] if str(folder) in words else []
        if not found:
            break
        time.sleep(0.1)
    return found


@unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
class StoreCase(CommandLine):
    @classmethod
    def setUpClass(cls):
        """One build, whose store the tests copy and whose wheel they expect."""
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="sagekit store "))
        cls.addClassCleanup(shutil.rmtree, cls.shared, True)
        env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"SAGEKIT_STORE": str(cls.shared / "store"), "CI": "1"}
        began = time.time()
        done = Done(subprocess.run([SAGEKIT, "--plugin-dir", EXAMPLES, "--plugin", "example", "build", "--source", EXAMPLE_SOURCE, "--json"],
                                   env=env, cwd=cls.shared, capture_output=True, stdin=subprocess.DEVNULL, timeout=900))
        cls.seconds = time.time() - began
        assert done.code == 0, done.err
        cls.steps = done.json()["steps"]["run"]
        cls.sha = [wheel["sha256"] for wheel in done.json()["wheels"]]

    def setUp(self):
        super().setUp()
        self.store = self.folder / "störe"

    def full_store(self):
        shutil.copytree(self.shared / "store", self.store)

    def words(self, *more):
        return ["--plugin-dir", EXAMPLES, "--plugin", "example", "build", "--source", EXAMPLE_SOURCE, *more]

    def build(self, *more, code=0, **options):
        done = self.run_sagekit(*self.words("--json", *more), **options)
        self.assertEqual(done.code, code, done.err + done.out)
        return done

    def expect_same(self, done):
        self.assertEqual([wheel["sha256"] for wheel in done.json()["wheels"]], self.sha)

    def store_env(self, name, **more):
        return self.environment(SAGEKIT_STORE=str(self.folder / name), **more)


class Care(StoreCase):
    def test_stats_say_what_is_kept_and_what_the_last_run_reused(self):
        self.full_store()
        self.build()
        stats = self.run_sagekit("cache", "stats", "--json").json()
        self.assertEqual(stats["schema"], "sagekit.cache/1")
        reused = stats["last_run"]["steps"]["reused"]
        self.assertGreater(reused, 0)
        self.assertEqual(stats["last_run"]["steps"], {"run": 0, "reused": reused, "failed": 0})
        self.assertGreaterEqual(stats["kept"]["results"]["entries"], reused)
        self.assertEqual(stats["bytes"], sum(kind["bytes"] for kind in stats["kept"].values()))
        self.assertEqual(stats["kept"]["work"]["entries"], 0, "a finished build leaves no work folder")
        people = self.run_sagekit("cache", "stats")
        self.expect(people, 0)
        self.assertIn(f"0 steps run, {reused} kept from before", people.out)
        self.expect(self.run_sagekit("cache", "stats", "--store", self.folder / "none"), 2, "STO005", "there is no store yet")
        self.expect(self.run_sagekit("cache", "stats", "--store", self.folder), 2, "STO005", "is no store of sagekit")
        self.expect(self.run_sagekit("toolchain", "verify", "--store", self.folder / "none"), 2, "STO005", "there is no store: ")
        self.expect(self.run_sagekit("toolchain", "verify"), 0, "no toolchain has been fetched")
        self.expect(self.run_sagekit("plugin", "check", "missing.so"), 2, "PLG002", "= name the sagekit-NAME.so")
        # An install begins one, too.
        (self.folder / "installed" / "installs").mkdir(parents=True)
        self.expect(self.run_sagekit("cache", "stats", "--store", self.folder / "installed"), 0)
        (self.folder / "störe" / "toolchains" / "nvcc").mkdir(parents=True)
        (self.folder / "störe" / "toolchains" / ".partial" / "nvcc-12.9-linux_x86_64" / "tree").mkdir(parents=True)
        self.assertEqual(self.run_sagekit("cache", "stats", "--json").json()["kept"]["toolchains"]["entries"], 0, "neither an empty folder nor half a fetch is a toolchain")

    def test_trim_obeys_its_limit_and_the_next_build_makes_what_is_gone(self):
        self.full_store()
        before = self.run_sagekit("cache", "stats", "--json").json()["bytes"]
        dry = self.run_sagekit("cache", "trim", "--max-size", "1M", "--older-than", "0s", "--dry-run", "--json").json()
        self.assertEqual(dry["bytes_before"], before)
        self.assertEqual(self.run_sagekit("cache", "stats", "--json").json()["bytes"], before, "a dry run removed something")
        done = self.run_sagekit("cache", "trim", "--older-than", "0s", "--json").json()
        self.assertEqual(done["removed"], dry["removed"])
        self.assertEqual(done["bytes_after"], self.run_sagekit("cache", "stats", "--json").json()["bytes"])
        again = self.build()
        self.assertEqual(again.json()["steps"]["run"], self.steps)
        self.expect_same(again)
        for wrong in ("x", "5", "-3d", "3w", ""):
            self.expect(self.run_sagekit("cache", "trim", "--older-than", wrong), 2, f'--older-than: "{wrong}" is')

    def test_a_limit_holds_after_a_build(self):
        (self.folder / "sagekit.toml").write_text('store-max-size = "1M"\n')
        self.full_store()
        pad = self.store / "objects" / "aa"
        pad.mkdir(exist_ok=True)
        bulk = os.urandom(3_000_000)
        padding = pad / hashlib.sha256(bulk).hexdigest()
        padding.write_bytes(bulk)
        os.utime(padding, (1, 1))
        done = self.build()
        self.assertIn("the store was trimmed", done.err)
        self.assertLessEqual(self.run_sagekit("cache", "stats", "--json").json()["bytes"], 1 << 20)

    def test_advice_to_remove_toolchains_is_for_the_store_that_is_too_large(self):
        self.full_store()
        other = self.folder / "other store"
        shutil.copytree(self.store, other)
        tree = other / "toolchains" / "nvcc-13.0.88-linux_x86_64-0123456789ab"
        tree.mkdir(parents=True)
        (tree / "nvcc").write_bytes(bytes(3_000_000))
        advice = f"sagekit toolchain remove --all --store '{other}'"
        self.expect(self.run_sagekit("cache", "trim", "--max-size", "1M", "-n", "--store", other), 0, "that is more than asked for", advice)
        done = self.build("--store-max-size", "1M", "--store", other)
        self.assertIn("more than --store-max-size", done.err)
        self.assertIn(advice, done.err)
        own = self.store / "toolchains" / tree.name
        shutil.copytree(tree, own)
        self.assertIn("sagekit toolchain remove --all\n", self.run_sagekit("cache", "trim", "--max-size", "1M").err)

    def test_verify_finds_a_flipped_bit_and_the_next_build_repairs(self):
        self.full_store()
        self.assertIn("are whole", self.run_sagekit("cache", "verify").out)
        victim = max((p for p in (self.store / "objects").rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
        data = bytearray(victim.read_bytes())
        data[len(data) // 2] ^= 1
        victim.unlink()
        victim.write_bytes(data)
        done = self.run_sagekit("cache", "verify", "--json")
        self.expect(done, 1, "was damaged and is removed", "= it is made again when it is needed")
        self.assertEqual(done.json()["damaged"], [str(victim.relative_to(self.store))])
        self.expect(self.run_sagekit("cache", "verify"), 0)
        self.expect_same(self.build())

    def test_a_flipped_bit_that_a_build_meets_is_said_and_made_anew(self):
        self.full_store()
        shutil.rmtree(self.store / "builds")
        for victim in (p for p in (self.store / "objects").rglob("*") if p.is_file()):
            data = bytearray(victim.read_bytes())
            data[len(data) // 2] ^= 1
            victim.unlink()
            victim.write_bytes(data)
        done = self.build()
        self.assertIn("is damaged: it is discarded", done.err)
        self.expect_same(done)
        # One that was cut short, as by a full disk, is no miss that nobody hears of.
        shutil.rmtree(self.store / "builds")
        module = max((p for p in (self.store / "objects").rglob("*") if p.is_file() and not p.suffix), key=lambda p: p.stat().st_size)
        data = module.read_bytes()
        module.unlink()
        module.write_bytes(data[: len(data) // 2])
        done = self.build()
        self.assertIn(f"{module} is damaged: it is discarded", done.err)
        self.expect_same(done)

    def test_a_pack_carries_results_to_another_store(self):
        self.full_store()
        self.expect(self.run_sagekit("cache", "export", "all.tar"), 0, "records")
        self.expect(self.run_sagekit("cache", "import", "all.tar", "--store", self.folder / "two"), 0)
        done = self.build(env=self.store_env("two"))
        self.assertEqual(done.json()["steps"]["run"], 0)
        self.expect_same(done)
        # What a run made, and that is nothing.
        self.assertEqual(self.run_sagekit("cache", "export", "run.tar", "--since-run", "--store", self.folder / "two", "--json").json()["records"], 0)
        self.expect(self.run_sagekit("cache", "export", self.folder / "no" / "where.tar"), 2, "FIL002", "= name a file in a folder that is there")
        for folder in (".", self.folder):
            self.expect(self.run_sagekit("cache", "export", folder), 2, "FIL002", "it is a folder", "= name a file in it")
        self.expect(self.run_sagekit("cache", "export", "-"), 2, "FIL002", "not to stdout")
        pipe = self.folder / "pipe"  # as a device: a file that is renamed would take its place
        os.mkfifo(pipe)
        self.expect(self.run_sagekit("cache", "export", pipe), 2, "FIL002", "no regular file")
        self.assertTrue(pipe.is_fifo())

    def test_a_hostile_pack_is_refused_whole(self):
        self.full_store()
        self.expect(self.run_sagekit("cache", "export", "good.tar"), 0)
        with tarfile.open(self.folder / "good.tar") as good:
            members = [(m, good.extractfile(m).read()) for m in good]
        outside = self.folder / "outside"
        named = next(m.name for m, _ in members if m.name.startswith("objects/"))
        for name, content, kind in ((f"../../{outside.name}", b"x", tarfile.REGTYPE), (str(outside), b"x", tarfile.REGTYPE),
                                    (named, b"other content", tarfile.REGTYPE), ("objects/aa/" + "a" * 64, b"x", tarfile.REGTYPE),
                                    ("toolchains/nvcc/bin/nvcc", b"#!/bin/sh\n", tarfile.REGTYPE)):
            with self.subTest(name):
                with tarfile.open(self.folder / "bad.tar", "w") as bad:
                    for member, data in members:
                        bad.addfile(member, io.BytesIO(data))
                    info = tarfile.TarInfo(name)
                    info.size, info.type = len(content), kind
                    bad.addfile(info, io.BytesIO(content))
                fresh = self.folder / "fresh"
                self.expect(self.run_sagekit("cache", "import", "bad.tar", "--store", fresh), 1, "STO007")
                self.assertEqual([p for p in (fresh / "actions").rglob("*") if p.is_file()], [])
                self.assertFalse(outside.exists())
        (self.folder / "cut.tar").write_bytes((self.folder / "good.tar").read_bytes()[:-3000])
        self.expect(self.run_sagekit("cache", "import", "cut.tar", "--store", self.folder / "fresh"), 1, "STO007")


class SecondLevel(StoreCase):
    def test_a_read_only_folder(self):
        before = sorted((str(p), p.lstat().st_mtime_ns) for p in (self.shared / "store").rglob("*"))
        done = self.build("--store-from", self.shared / "store")
        self.assertEqual(done.json()["steps"]["run"], 0)
        self.expect_same(done)
        self.assertEqual(sorted((str(p), p.lstat().st_mtime_ns) for p in (self.shared / "store").rglob("*")), before)
        for folder in (self.folder, self.folder / "none"):
            refused = self.run_sagekit(*self.words("--store-from", folder))
            self.expect(refused, 2, "STO005", "--store-from: ", "--store-from names a store")
            self.assertNotIn("SAGEKIT_STORE", refused.err)

    def test_what_one_job_pushed_another_takes(self):
        server = CacheServer()
        self.full_store()
        shutil.rmtree(self.store / "actions")
        pushed = self.build("-vv", "--store-from", server.url, "--store-push", env=self.environment(SAGEKIT_STORE_TOKEN=TOKEN))
        self.expect_same(pushed)
        self.assertTrue(any(path.startswith("/ac/") for path in server.files))
        for path, body in server.files.items():
            if path.startswith("/cas/"):
                self.assertEqual(path[5:], hashlib.sha256(body).hexdigest())
        self.assertNotIn(TOKEN, pushed.err + pushed.out)
        for file in self.store.rglob("*"):
            if file.is_file():
                self.assertNotIn(TOKEN.encode(), file.read_bytes(), f"the token is in {file}")
        taken = self.build("--store-from", server.url + "/", env=self.store_env("two"))
        self.assertEqual(taken.json()["steps"]["run"], 0)
        self.expect_same(taken)
        # Nobody may push who has no token, and pushing wants a server.
        refused = self.build("--store-from", server.url, "--store-push", env=self.store_env("three"))
        self.expect(self.run_sagekit(*self.words("--store-push")), 2, "STO008")
        self.expect(self.run_sagekit(*self.words("--store-from", "ftp://host/x")), 2, "IDX017")
        self.expect_same(refused)
        server.mood = "flipped"
        done = self.build("--store-from", server.url, env=self.store_env("four"))
        self.assertIn("is damaged: it is discarded", done.err)
        self.assertGreater(done.json()["steps"]["run"] + done.json()["steps"]["reused"], 0)
        self.expect_same(done)

    def test_a_full_server_is_said_once(self):
        server = CacheServer("full")
        self.full_store()
        shutil.rmtree(self.store / "actions")
        done = self.build("--store-from", server.url, "--store-push", env=self.environment(SAGEKIT_STORE_TOKEN=TOKEN))
        self.expect_same(done)
        self.assertEqual(done.err.count("nothing more is handed to"), 1, done.err)
        self.assertIn("507", done.err)

    def test_a_server_that_is_gone_or_slow_does_not_keep_a_build(self):
        gone = CacheServer()
        gone.shutdown()
        gone.server_close()
        self.full_store()
        shutil.rmtree(self.store / "actions")
        done = self.build("--store-from", gone.url)
        self.expect_same(done)
        self.assertIn("the build goes on without", done.err)
        shutil.rmtree(self.store / "actions")
        began = time.time()
        done = self.build("--store-from", CacheServer("slow").url, "-j", "2")
        self.expect_same(done)
        self.assertIn("the build goes on without", done.err)
        self.assertLess(time.time() - began, 120)

    def test_a_server_that_answers_nonsense_changes_no_byte(self):
        """It breaks off, or shows a page to sign in at."""
        self.full_store()
        for mood in ("cut", "page"):
            with self.subTest(mood):
                server = CacheServer(mood)
                shutil.rmtree(self.store / "actions")
                shutil.rmtree(self.store / "builds")
                done = self.build("--store-from", server.url)
                self.assertTrue(server.seen, "it was not asked")
                self.expect_same(done)
                self.expect(self.run_sagekit("cache", "verify"), 0)

    def test_a_token_stays_with_its_server(self):
        other = CacheServer()
        server = CacheServer(elsewhere=other.url)
        self.full_store()
        shutil.rmtree(self.store / "actions")
        done = self.build("--store-from", server.url, "--store-push", env=self.environment(SAGEKIT_STORE_TOKEN=TOKEN))
        self.expect_same(done)
        self.assertTrue(all(token == f"Bearer {TOKEN}" for _, _, token in server.seen))
        self.assertTrue(other.seen, "no redirect was followed")
        self.assertEqual({token for _, _, token in other.seen}, {None})
        self.assertEqual(other.files, {}, "a put was sent on")


class ManyMachines(StoreCase):
    def test_a_shard_asks_for_no_name(self):
        self.expect(self.example("build", "--source", EXAMPLE_SOURCE, "--arch", "8.0"), 0)
        self.expect(self.example("build", "--source", EXAMPLE_SOURCE, "--arch", "9.0"), 1, "PKG001")
        self.expect(self.example("build", "--source", EXAMPLE_SOURCE, "--arch", "9.0", "--shard", "1/2"), 0)
        self.expect(self.example("plan", "--shards", "2", "--dot"), 2, "CLI001", "--dot")

    def test_shards_add_up_to_a_wheel(self):
        plan = self.example("plan", "--shards", "2", "--json")
        self.expect(plan, 0)
        shards = [shard["steps"] for shard in plan.json()["shards"]]
        self.assertEqual(len(shards), 2)
        self.assertTrue(all(shards))
        for number, steps in enumerate(shards, 1):
            dry = self.example("build", "-n", "--source", EXAMPLE_SOURCE, "--shard", f"{number}/2")
            self.assertEqual([line.split()[2].rstrip(":") for line in dry.err.splitlines() if line.startswith("would run ")], steps)
        self.assertFalse(set(shards[0]) & set(shards[1]))
        self.assertEqual(self.example("plan", "--shards", "2", "--shard", "2").out.split(), shards[1])
        self.expect(self.example("plan", "--shards", "2", "--shard", "3"), 2, "CLI006")
        packs = []
        for i in (1, 2):
            env = self.store_env(f"shard {i}")
            done = self.build("--shard", f"{i}/2", env=env)
            self.assertEqual(done.json()["wheels"], [])
            self.assertGreaterEqual(done.json()["steps"]["run"], len(shards[i - 1]))
            packs.append(self.folder / f"shard-{i}.tar")
            self.expect(self.run_sagekit("cache", "export", "--since-run", packs[-1], env=env), 0)
        self.expect(self.run_sagekit("cache", "import", packs[0]), 0)
        done = self.build("--require-hits", code=1)
        self.assertNotIn("rerun it with", done.err, "nothing was run")
        self.assertIn("sagekit cache import PACK", done.err)
        self.assertEqual(sorted({failure["step"] for failure in done.json()["failed"]}), shards[1])
        self.assertIn("in no store", done.json()["failed"][0]["cause"])
        self.expect(self.run_sagekit("cache", "import", packs[1]), 0)
        self.expect_same(self.build("--require-hits"))
        for wrong in ("0/2", "3/2", "2", "a/b"):
            self.expect(self.run_sagekit(*self.words("--shard", wrong)), 2, "CLI002")

    def test_a_launcher_starts_the_compilers_and_changes_no_byte(self):
        launcher = self.folder / "launcher"
        log = self.folder / "launched"
        launcher.write_text(f'#!/bin/sh\necho "$SCCACHE_DIR ${{1##*/}}" >>"{log}"\nexec "$@"\n')
        launcher.chmod(0o755)
        done = self.build("--launcher", launcher, env=self.environment(SCCACHE_DIR="/cache"))
        self.expect_same(done)
        launched = log.read_text().splitlines()
        self.assertTrue(launched)
        self.assertTrue(all(line.startswith("/cache ") for line in launched))
        self.assertTrue(any(line.endswith(("nvcc", "cicc")) for line in launched))

    def test_a_launcher_that_is_not_there_is_said_before_anything_runs(self):
        for more in ((), ("--dry-run",)):
            done = self.build("--launcher", "nosuchlauncher", *more, code=3)
            self.assertIn("cannot start nosuchlauncher: no such program on PATH", done.err)
            self.assertNotIn("compile", done.err)

    def test_the_timeline_and_the_events(self):
        done = self.run_sagekit(*self.words("--jsonl", "--timeline", "trace.json"))
        self.expect(done, 0)
        events = [json.loads(line) for line in done.out.splitlines()]
        (wheel,) = [event for event in events if event["event"] == "wheel"]
        self.assertEqual((wheel["sha256"], wheel["verdict"]), (self.sha[0], "pass"))
        self.assertEqual(events[-1]["event"], "end")
        self.assertEqual(events[-1]["steps"]["run"], self.steps)
        trace = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        spans = [event for event in trace if event["ph"] == "X"]
        self.assertEqual(len(spans), self.steps)
        for span in spans:
            self.assertGreater(span["dur"], 0)
            self.assertGreater(span["args"]["cpu_seconds"], 0)
            self.assertFalse(span["args"]["reused"])
        for one in spans:  # a slot does one thing at a time
            for other in spans:
                if one is not other and one["tid"] == other["tid"]:
                    self.assertTrue(one["ts"] + one["dur"] <= other["ts"] + 1 or other["ts"] + other["dur"] <= one["ts"] + 1)
        kept = (self.folder / "trace.json").read_bytes()
        self.expect(self.run_sagekit(*self.words("-n", "--timeline", "trace.json")), 0, "trace.json is left as it is")
        self.assertEqual((self.folder / "trace.json").read_bytes(), kept)
        full = self.run_sagekit(*self.words("--json", "--timeline", "/dev/full"))
        self.expect(full, 3, "FIL002")
        self.assertEqual(len(full.json()["wheels"]), 1)
        self.assertEqual([one["code"] for one in full.json()["errors"]], ["FIL002"])
        again = self.run_sagekit(*self.words("--timeline", "trace.json"), env=self.environment(GITHUB_ACTIONS="true"))
        self.expect(again, 0, "::group::", "::endgroup::\nwheel dist/")
        self.assertTrue(all(e["args"]["reused"] for e in json.loads((self.folder / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"))


class Faults(StoreCase):
    def kill_often(self, words, kills, latest, expected):
        """kill -9 of the whole tree, so many times; the next build goes on from what was reached. One that ends before its moment
        has made the same bytes, and the next begins with nothing but fetched trees."""
        seed = int(os.environ.get("SAGEKIT_SEED", "11"))
        moments, killed, ended = random.Random(seed), 0, 0
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="sagekit-killed-"))
        self.addCleanup(shutil.rmtree, scratch, True)
        env = self.environment(TMPDIR=str(scratch))

        def judge(code, out, err):
            self.assertEqual(code, 0, err)
            self.assertEqual([wheel["sha256"] for wheel in json.loads(out)["wheels"]], expected, f"other bytes after {killed} kills, seed {seed}")
        while killed < kills:
            process = self.start_sagekit(*words, "--json", env=env)
            try:
                out, err = process.communicate(timeout=moments.uniform(0.02, latest))
            except subprocess.TimeoutExpired:
                kill_tree(process)
                killed += 1
                print(f"kill {killed} of {kills}, {ended} builds ended between, seed {seed}", file=sys.stderr, flush=True) if kills > 9 else None
            else:
                judge(process.returncode, out, err.decode())
                ended += 1
                begin_again(self.store)
                shutil.rmtree(self.folder / "dist")
            self.assertEqual([p for p in (self.folder / "dist").glob("*.whl") if hashlib.sha256(p.read_bytes()).hexdigest() not in expected], [],
                             f"half a wheel after kill {killed}, seed {seed}")
            self.assertEqual(still_at_work(self.folder), [], f"a compiler works on after kill {killed}, seed {seed}")
            if (self.store / "objects").exists():
                self.expect(self.run_sagekit("cache", "verify"), 0)
        done = self.run_sagekit(*words, "--json", env=env, timeout=3000)
        judge(done.code, done.out, done.err)
        left = [p for p in (self.store / "work").glob("*/*") if p.name != "logs"] + list((self.store / "tmp").glob("*")) + list(scratch.glob("*"))
        self.assertEqual(left, [], "what killed builds left was not cleaned up")
        print(f"{kills} kills, {ended + 1} builds ended with the same bytes, nothing left", file=sys.stderr) if kills > 9 else None

    def test_killed_at_any_moment_then_resumed(self):
        # On a busy machine nothing would be finished in 4 seconds, and the same moments met again.
        self.kill_often(self.words(), max(4, KILLS // 10), max(4, self.seconds / 8), self.sha)

    @unittest.skipUnless(KILLS > 20, "make soak")
    def test_killed_often_with_stand_ins_for_the_compilers(self):
        """nvcc as a whole and the host compiler are run once; then a script that takes a moment copies what they made. So a
        build takes a second, and the moments are those between steps, in the store and in packaging."""
        tools, kept, launcher = self.folder / "tools", self.folder / "kept", self.folder / "launcher"
        linked_toolkit(tools, WHOLE_NVCC)
        kept.mkdir()
        launcher.write_text(f"""#!/bin/sh
for word; do case $before in -o) made=$word;; -MF) listed=$word;; esac; before=$word; done
kept='{kept}'/${{made##*/}}
if [ -e "$kept" ]; then
  sleep 0.$(($$ % 3))
  cp "$kept" "$made" && cp "$kept.d" "$listed"
else
  "$@" && cp "$listed" "$kept.d" && cp "$made" "$kept.new" && mv "$kept.new" "$kept"
fi
""")
        launcher.chmod(0o755)
        words = self.words("--toolchain", f"folder:{tools}", "--launcher", launcher)
        expected = [wheel["sha256"] for wheel in self.run_sagekit(*words, "--json", timeout=3000).json()["wheels"]]
        shutil.rmtree(self.store)
        began = time.time()
        self.expect(self.run_sagekit(*words, timeout=3000), 0)
        seconds = time.time() - began
        shutil.rmtree(self.store)
        self.kill_often(words, KILLS, seconds, expected)

    @unittest.skipUnless(SOAK_SOURCE, "make soak SOURCE=... (a checkout of SageAttention) STORE=... (with its torch)")
    def test_killed_during_a_build_of_sage2(self):
        """Its smallest module, two architectures, real compilers, torch's real headers: nothing stands in for anything."""
        plugin = make_plugin(one_kernel("sage2", "sageattention._fused"), self.folder / "sagekit-sage2.so")
        self.store.mkdir()
        for part in ("toolchains", "specs"):
            shutil.copytree(pathlib.Path(os.environ["SAGEKIT_SOAK_STORE"]) / part, self.store / part, copy_function=os.link, symlinks=True)
        words = ["--plugin", plugin, "build", "--source", SOAK_SOURCE, "--offline", "--arch", "8.0 8.9", "--profile", "current", "--cuda", "13.0",
                 "--torch", "2.11.0", "--python", os.environ.get("SAGEKIT_SOAK_PYTHON", "3.11"), "--platform", "linux_x86_64", *os.environ.get("SAGEKIT_SOAK_WORDS", "").split()]
        began = time.time()
        done = self.run_sagekit(*words, "--json", timeout=3000)
        self.expect(done, 0)
        seconds, steps = time.time() - began, done.json()["steps"]
        print(f"from cold: {seconds:.0f} s, {steps}", file=sys.stderr)
        begin_again(self.store)
        shutil.rmtree(self.folder / "dist")
        self.kill_often(words, min(KILLS, 20), seconds, [wheel["sha256"] for wheel in done.json()["wheels"]])

    def test_a_living_build_keeps_its_folder(self):
        """Its name says whose it is: the pid of this test, which lives."""
        self.full_store()
        stat = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
        place = f"{pathlib.Path('/proc/sys/kernel/random/boot_id').read_text()[:8]}.{''.join(c for c in os.readlink('/proc/self/ns/pid') if c.isdigit())}"
        living = self.store / "work" / f"aa@{place}.{os.getpid()}.{stat[19]}"
        dead = self.store / "work" / f"bb@{place}.{os.getpid()}.1"
        for work in (living, dead):
            (work / "obj").mkdir(parents=True)
        self.build()
        self.assertTrue((living / "obj").exists())
        self.assertFalse(dead.exists())

    def test_eight_builds_at_once_make_each_step_once(self):
        started = [self.start_sagekit(*self.words("--json", "-j", "2", "-o", f"out {i}")) for i in range(8)]
        results = []
        for process in started:
            out, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, err.decode())
            results.append(json.loads(out))
        self.assertEqual(sum(result["steps"]["run"] for result in results), self.steps)
        for result in results:
            self.assertEqual([wheel["sha256"] for wheel in result["wheels"]], self.sha)
        self.expect(self.run_sagekit("cache", "verify"), 0)

    def test_a_store_whose_path_nvcc_cannot_take_is_refused_before_anything_is_compiled(self):
        for letter in ',"$`':
            with self.subTest(letter):
                done = self.run_sagekit(*self.words("--store", self.folder / f"a{letter}b", "-o", "out"))
                self.expect(done, 2, "error[STO009]", f"a{letter}b", "--store DIR")
                self.assertNotIn("[1/", done.err)
        self.expect(self.run_sagekit(*self.words("--store", self.folder / "a'b (c) #&;=\\", "-o", "out")), 0)

    def built_by_nobody(self, *words):
        """By a user who may not write into the store, from a home of their own."""
        self.folder.chmod(0o755)
        home = self.folder / "home of nobody"
        home.mkdir(exist_ok=True)
        os.chown(home, 65534, 65534)
        done = Done(subprocess.run([SAGEKIT, *map(str, words), "-o", home / "dist"], cwd=home, stdin=subprocess.DEVNULL, capture_output=True,
                                   env=self.environment(HOME=str(home), TMPDIR=str(home)), user=65534, group=65534, extra_groups=[], timeout=300))
        self.assertEqual(done.code, 0, done.err)
        return done

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_store_of_someone_else_is_read_and_left_alone(self):
        self.full_store()
        before = sorted(str(p) for p in self.store.rglob("*"))
        done = self.built_by_nobody(*self.words("--json"))
        self.assertIn("this build keeps nothing", done.err)
        self.assertEqual(done.json()["steps"]["run"], 0, "what is in it was not used")
        self.expect_same(done)
        self.assertEqual(sorted(str(p) for p in self.store.rglob("*")), before)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_the_source_is_taken_from_a_store_of_someone_else(self):
        self.full_store()

        def built():
            done = self.built_by_nobody("--plugin-dir", EXAMPLES, "--plugin", "example", "build", "--json", "--offline")
            self.assertEqual(done.json()["steps"]["run"], 0)
            self.expect_same(done)

        built()
        # As after another revision was built: git has the commit, and no copy is ready.
        shutil.rmtree(self.store / "sources")
        cache = self.store / "git" / (hashlib.sha256(b"https://example.invalid/sagekit-example.git").hexdigest()[:16] + ".git")
        subprocess.run(["sh", SOURCE_DIR / "examples/plugin/pin_source.sh", self.folder / "repository"], check=True, capture_output=True)
        subprocess.run(["git", "clone", "--quiet", "--bare", self.folder / "repository", cache], check=True)
        built()
        self.assertFalse((self.store / "sources").exists())

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_cannot_be_removed_is_said_and_not_counted(self):
        self.full_store()
        self.folder.chmod(0o755)
        damaged = next(path for path in self.store.glob("objects/*/*.zst"))
        damaged.chmod(0o644)
        damaged.write_bytes(b"other")
        before = sorted(str(p) for p in self.store.rglob("*"))
        for words, removed in ((("trim", "--max-size", "1M", "--json"), "removed"), (("verify", "--json"), "damaged")):
            done = Done(subprocess.run([SAGEKIT, "cache", *words], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, env=self.environment(),
                                       user=65534, group=65534, extra_groups=[], timeout=300))
            self.expect(done, 2, "error[STO003]", "Permission denied")
            self.assertFalse(any(done.json()[removed].values()) if removed == "removed" else done.json()[removed])
        self.assertEqual(sorted(str(p) for p in self.store.rglob("*")), before)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_this_user_may_not_read_is_said_and_not_left_out(self):
        self.full_store()
        self.folder.chmod(0o755)
        out = self.folder / "of nobody"
        out.mkdir()
        out.chmod(0o777)

        def as_nobody(*words):
            return Done(subprocess.run([SAGEKIT, "cache", *words], cwd=out, stdin=subprocess.DEVNULL, capture_output=True, env=self.environment(),
                                       user=65534, group=65534, extra_groups=[], timeout=300))
        before = sorted(str(p) for p in self.store.rglob("*"))
        record = next(self.store.glob("actions/*/*/*.txt"))
        closed = [self.store / "objects", next(self.store.glob("objects/*")), self.store / "actions", record.parent, record]
        for path in closed:
            mode = path.stat().st_mode & 0o777
            path.chmod(0o700)
            for words in (("verify",), ("trim", "-n", "--json"), ("trim", "--max-size", "1M")):
                with self.subTest(words=words, closed=path):
                    self.expect(as_nobody(*words), 2, "error[STO003]", f"cannot read {path}: Permission denied", "owner and permissions")
            path.chmod(mode)
        for path in (*closed, next(self.store.glob("objects/*/*"))):
            mode = path.stat().st_mode & 0o777
            path.chmod(0o700)
            with self.subTest(words="export", closed=path):
                self.expect(as_nobody("export", "all.tar"), 2, "error[STO003]", f"cannot read {path}", "Permission denied", "owner and permissions")
                self.assertEqual(list(out.iterdir()), [])
            path.chmod(mode)
        for path in (self.store / "runs", max(self.store.glob("runs/*"))):
            mode = path.stat().st_mode & 0o777
            path.chmod(0o700)
            for words in (("export", "--since-run", "run.tar"), ("stats",)):
                with self.subTest(words=words, closed=path):
                    self.expect(as_nobody(*words), 2, "error[STO003]", f"cannot read {path}: Permission denied", "owner and permissions")
            self.assertEqual(list(out.iterdir()), [])
            path.chmod(mode)
        self.assertEqual(sorted(str(p) for p in self.store.rglob("*")), before)
        self.expect(as_nobody("export", "all.tar"), 0)
        self.expect(as_nobody("verify"), 0)
        self.expect(as_nobody("trim", "-n", "--json"), 0)

    def test_a_build_that_was_refused_is_no_run(self):
        self.full_store()
        last = json.loads(self.run_sagekit("cache", "stats", "--json").out)["last_run"]
        self.expect(self.example("build", "--source", self.folder), 2, "SRC003")
        self.assertEqual(json.loads(self.run_sagekit("cache", "stats", "--json").out)["last_run"], last)

    def mount(self, *words):
        if os.geteuid() != 0 or subprocess.run(["mount", *map(str, words)], capture_output=True).returncode != 0:
            self.skipTest("cannot mount here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(words[-1])], capture_output=True)

    def test_a_read_only_store(self):
        self.full_store()
        self.mount("--bind", self.store, self.store)
        self.mount("-o", "remount,bind,ro", self.store)
        done = self.build()
        self.assertIn("this build keeps nothing", done.err)
        self.assertEqual(done.json()["steps"]["run"], 0)
        self.expect_same(done)

    def test_the_disk_fills_in_the_middle(self):
        self.store.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=1100m", "tmpfs", self.store)
        process = self.start_sagekit(*self.words())
        while process.poll() is None and not list(self.store.glob("work/*/logs")):
            time.sleep(0.01)
        with open(self.store / "filler", "wb", buffering=0) as filler:
            with self.assertRaises(OSError):  # the build writes too, so the last pages are fought for
                while True:
                    free = os.statvfs(self.store)
                    os.posix_fallocate(filler.fileno(), filler.seek(0, os.SEEK_END), max(free.f_bavail // 2, 1) * free.f_frsize)
        _, err = process.communicate(timeout=300)
        self.assertIn(process.returncode, (1, 3), err.decode())
        self.assertIn("space", err.decode())
        self.assertEqual(list((self.folder / "dist").glob("*.whl")), [])
        (self.store / "filler").unlink()
        self.expect_same(self.build())
        self.expect(self.run_sagekit("cache", "verify"), 0)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_a_file_system_without_locks(self):
        shim = self.folder / "noflock.c"
        shim.write_text("#include <errno.h>\nint flock(int fd, int how) { (void)fd; (void)how; errno = ENOLCK; return -1; }\n")
        library = self.folder / "noflock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, shim], check=True)
        # LD_PRELOAD splits at blanks.
        plain = pathlib.Path(tempfile.mkdtemp(prefix="sagekit-noflock-"))
        self.addCleanup(shutil.rmtree, plain, True)
        shutil.copy(library, plain / "noflock.so")
        self.full_store()
        shutil.rmtree(self.store / "actions")
        done = self.build(env=self.environment(LD_PRELOAD=str(plain / "noflock.so")), timeout=120)
        self.expect_same(done)


if __name__ == "__main__":
    unittest.main(verbosity=1)
