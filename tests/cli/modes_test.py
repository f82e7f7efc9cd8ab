#!/usr/bin/env python3
"""One wheel in every mode that the engine has: stopped and resumed, in parts by other machines, through a launcher, from a
server (nginx of Debian with WebDAV), built twice, after the clock went back. The bytes are those of a plain build."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from store_test import StoreCase

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")


class Modes(StoreCase):
    def test_stopped_and_resumed_in_another_folder(self):
        env = self.store_env("fresh")
        self.build("--stop-after", "0.001s", "-j", "1", env=env, code=75)
        self.expect_same(self.build("-j", "1", env=env, cwd=self.shared))

    def test_in_parts_through_a_launcher_and_joined_from_packs(self):
        launcher = self.folder / "launcher"
        launcher.write_text(f'#!/bin/sh\necho "${{1##*/}}" >>"{self.folder / "launched"}"\nexec "$@"\n')
        launcher.chmod(0o755)
        for i in (1, 2):
            env = self.store_env(f"shard {i}")
            self.build("--shard", f"{i}/2", "--launcher", launcher, env=env)
            self.expect(self.run_sagekit("cache", "export", "--since-run", f"{i}.tar", env=env), 0)
            self.expect(self.run_sagekit("cache", "import", f"{i}.tar"), 0)
        self.assertIn("cicc", (self.folder / "launched").read_text().split())
        self.expect_same(self.build("--require-hits", "--launcher", launcher))

    def test_built_twice(self):
        done = self.build("--check-reproducible", env=self.store_env("twice"), timeout=900)
        self.assertIn("the same bytes", done.err)
        self.expect_same(done)
        self.assertFalse((self.folder / "twice" / "second-build").exists())

    def test_after_the_clock_went_back(self):
        """What is kept is from the future then."""
        self.full_store()
        shutil.rmtree(self.store / "builds")
        future = time.time() + 400 * 86400
        for path in [self.store, *self.store.rglob("*")]:
            os.utime(path, (future, future), follow_symlinks=False)
        done = self.build()
        self.assertEqual(done.json()["steps"]["run"], 0)
        self.expect_same(done)
        removed = self.run_sagekit("cache", "trim", "--older-than", "1d", "--json").json()["removed"]
        self.assertEqual((removed["records"], removed["objects"]), (0, 0), removed)
        self.expect(self.run_sagekit("cache", "verify"), 0)

    @unittest.skipUnless(NGINX, "no nginx on this machine")
    def test_from_a_server_that_is_nginx(self):
        root = pathlib.Path(tempfile.mkdtemp(prefix="sagekit-nginx-"))
        self.addCleanup(shutil.rmtree, root, True)
        (root / "kept").mkdir()
        socket_of = self.free_port()
        (root / "nginx.conf").write_text(f"""
daemon off; error_log stderr; pid {root}/pid;
{"user root;" if os.geteuid() == 0 else ""}
events {{}}
http {{
  access_log off; client_max_body_size 0;
  client_body_temp_path {root}/body; proxy_temp_path {root}/proxy; fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;
  server {{ listen 127.0.0.1:{socket_of}; root {root}/kept; dav_methods PUT; create_full_put_path on; }}
}}
""")
        server = subprocess.Popen([NGINX, "-p", root, "-c", root / "nginx.conf"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait, 30)
        self.addCleanup(server.terminate)
        for _ in range(100):
            if (root / "pid").exists():
                break
            if server.poll() is not None:
                self.fail(server.stderr.read().decode())
            time.sleep(0.1)
        url = f"http://127.0.0.1:{socket_of}"
        self.full_store()
        shutil.rmtree(self.store / "actions")
        pushed = self.build("--store-from", url, "--store-push")
        self.expect_same(pushed)
        self.assertNotIn("nothing more is handed", pushed.err)
        self.assertTrue(list((root / "kept" / "ac").iterdir()))
        taken = self.build("--store-from", url, "--require-hits", env=self.store_env("two"))
        self.assertEqual(taken.json()["steps"]["failed"], 0)
        self.expect_same(taken)

    @staticmethod
    def free_port():
        import socket
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]


if __name__ == "__main__":
    unittest.main(verbosity=1)
