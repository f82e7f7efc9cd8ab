#!/usr/bin/env python3
"""Releases brought to where people find them: real gh and real twine against local fakes of the few calls they make. A client
program that is not here is said and skipped; hf is a stand-in that copies files, for its real server is too much to fake."""
import base64
import hashlib
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import stat
import sys
import threading
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import CommandLine
from github_server import TOKEN, GithubServer
from release_wheels import built, pass_all

GH = shutil.which("gh")
TWINE = shutil.which("twine") or os.environ.get("SAGEKIT_TEST_TWINE")


class Publishing(CommandLine):
    def setUp(self):
        super().setUp()
        self.dist = self.folder / "dist"
        self.dist.mkdir()

    def release(self, *wheels, folder=None):
        """A folder with a manifest in which every wheel passes: these have no GPU code to be judged by."""
        folder = folder or self.dist
        made = [wheel.write(folder) for wheel in wheels]
        self.run_sagekit("release", folder)
        pass_all(folder)
        return made

    def test_what_is_refused_before_anyone_is_asked(self):
        publish = ("publish", "github", "dist", "--repo", "o/r", "--tag")
        self.expect(self.run_sagekit(*publish, "v1.0"), 4, "REL016")
        wheel = built().write(self.dist)
        self.expect(self.run_sagekit(*publish, "v1.0"), 2, "PUB001")
        self.run_sagekit("release", "dist")
        manifest = self.dist / "sagekit.release.json"
        document = json.loads(manifest.read_text())
        document["wheels"][0]["verdict"] = "fail"
        manifest.write_text(json.dumps(document))
        self.expect(self.run_sagekit(*publish, "v1.0", "--dry-run"), 1, "PUB002", wheel.name)
        pass_all(self.dist)
        for tag in ("1.0", "v1", "v1.00", "v2.0", "v1.0-example"):
            self.expect(self.example(*publish, tag, "--dry-run"), 2, "PUB003")
        for tag in ("v1.0", "v1.0-tiny", "v1.0.post1"):
            self.expect(self.example(*publish, tag, "--dry-run"), 0)
        done = self.run_sagekit("publish", "index", "dist", "--repository-url", "https://me:secret@example.org/")
        self.expect(done, 2, "PUB007")
        self.assertNotIn("secret", done.err)
        built(python="3.13").write(self.dist)
        self.expect(self.run_sagekit(*publish, "v1.0", "--dry-run"), 2, "PUB001", "every wheel")

    def test_dry_run_shows_everything_and_runs_nothing(self):
        [wheel] = self.release(built())
        done = self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", "--dry-run", "--json",
                                env=self.environment(PATH="/nonexistent"))
        self.expect(done, 0, "would run: gh release create v1.0", "would run: gh release upload v1.0", "SHA256SUMS")
        document = done.json()
        self.assertEqual((document["schema"], document["dry_run"], document["uploaded"]), ("sagekit.publish/1", True, [wheel.name]))
        self.assertIn("pip install \"https://github.com/o/r/releases/download/v1.0/" + wheel.name.replace("+", "%2B"), document["notes"])
        self.assertIn(hashlib.sha256(wheel.read_bytes()).hexdigest(), document["notes"])
        self.expect(self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", env=self.environment(PATH="/nonexistent")), 3, "PUB005")

    @unittest.skipUnless(GH and shutil.which("openssl"), "gh or openssl is not here: apt-get install gh")
    def test_github(self):
        linux = self.release(built(), built(python="3.13"))
        windows_folder = self.folder / "windows"
        windows_folder.mkdir()
        windows = self.release(built(platform="win_amd64"), folder=windows_folder)
        words = ("--repo", "o/r", "--tag", "v1.0")
        with GithubServer(self.folder) as github:
            env = self.environment(**github.environment)

            def publish(folder):
                return self.run_sagekit("publish", "github", folder, *words, "-v", env=env)
            # Cut in the middle of the first wheel: the same command finishes it.
            github.cut_next_upload()
            done = publish("dist")
            self.expect(done, 1, "PUB006", "run the same command again")
            self.assertNotIn(TOKEN, done.err + done.out)
            done = publish("dist")
            self.expect(done, 0, "2 wheels uploaded, 0 were there already")
            self.assertNotIn(TOKEN, done.err + done.out)
            there = github.assets("v1.0")
            for wheel in linux:
                self.assertEqual(there[wheel.name], wheel.read_bytes())
            # Again: nothing is uploaded twice.
            uploads = len([one for one in github.log if "/assets?" in one[1] and ".whl" in one[1]])
            self.expect(publish("dist"), 0, "0 wheels uploaded, 2 were there already")
            self.assertEqual(len([one for one in github.log if "/assets?" in one[1] and ".whl" in one[1]]), uploads)
            # The other platform adds to it; manifest, checksums and notes are of all.
            self.expect(publish("windows"), 0, "1 wheels uploaded")
            there = github.assets("v1.0")
            manifest = json.loads(there["sagekit.release.json"])
            self.assertEqual([row["file"] for row in manifest["wheels"]], sorted(wheel.name for wheel in linux + windows))
            self.assertTrue(all(row["url"].endswith("/v1.0/" + row["file"].replace("+", "%2B")) for row in manifest["wheels"]))
            self.assertEqual(there["SHA256SUMS"].decode().count("\n"), 3)
            self.assertEqual(len(json.loads(there["sagekit.intoto.json"])["subject"]), 3)
            self.assertIn("win_amd64", github.releases["v1.0"]["body"])
            self.assertEqual(there.keys() - {wheel.name for wheel in linux + windows}, {"sagekit.release.json", "SHA256SUMS", "sagekit.intoto.json"})
            # Another wheel of a name that is there is refused, and nothing changes.
            before = github.assets("v1.0")
            built(answer=43).write(self.dist)
            self.dist.joinpath("sagekit.release.json").unlink()
            self.release()
            self.expect(publish("dist"), 1, "PUB004", linux[0].name)
            self.assertEqual(github.assets("v1.0"), before)
            for text in there.values():
                self.assertNotIn(TOKEN.encode(), text)

    @unittest.skipUnless(TWINE, "twine is not here: pip install twine, or SAGEKIT_TEST_TWINE")
    def test_index(self):
        [first, second] = self.release(built(), built(python="3.13"))
        with LegacyIndex() as index:
            env = self.environment(PATH=f"{pathlib.Path(TWINE).parent}:{os.environ['PATH']}", TWINE_USERNAME="me", TWINE_PASSWORD="very-secret-password", NO_PROXY="*")
            words = ("publish", "index", "dist", "--repository-url", index.url + "/legacy/", "--index-url", index.url + "/simple")
            index.broken_after = 1
            done = self.run_sagekit(*words, env=env)
            self.expect(done, 1, "PUB006")
            index.broken_after = None
            done = self.run_sagekit(*words, env=env)
            self.expect(done, 0, "1 wheels uploaded, 1 were there already")
            self.assertNotIn("very-secret-password", done.err + done.out)
            self.assertEqual(index.files, {first.name: first.read_bytes(), second.name: second.read_bytes()})
            self.assertIn("me:very-secret-password", index.credentials)
            built(answer=43).write(self.dist)
            self.dist.joinpath("sagekit.release.json").unlink()
            self.release()
            self.expect(self.run_sagekit(*words, env=env), 1, "PUB004")

    def test_huggingface(self):
        [wheel] = self.release(built())
        bin_folder, there = self.folder / "bin", self.folder / "hub"
        bin_folder.mkdir()
        there.mkdir()
        program = bin_folder / "hf"
        program.write_text(f"#!{sys.executable}\n" + STAND_IN_HF.format(there=str(there)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        env = self.environment(PATH=f"{bin_folder}:{os.environ['PATH']}", HF_TOKEN="hf_very_secret")
        words = ("publish", "huggingface", "dist", "--repo", "me/wheels", "--path", "v1")
        self.expect(self.run_sagekit(*words, env=env), 0, "1 wheels uploaded")
        self.assertEqual((there / "me/wheels/v1" / wheel.name).read_bytes(), wheel.read_bytes())
        manifest = json.loads((there / "me/wheels/v1/sagekit.release.json").read_text())
        self.assertEqual(manifest["wheels"][0]["url"], "https://huggingface.co/me/wheels/resolve/main/v1/" + wheel.name.replace("+", "%2B"))
        self.expect(self.run_sagekit(*words, env=env), 0, "0 wheels uploaded, 1 were there already")
        built(answer=43).write(self.dist)
        self.dist.joinpath("sagekit.release.json").unlink()
        self.release()
        done = self.run_sagekit(*words, env=env)
        self.expect(done, 1, "PUB004")
        self.assertNotIn("hf_very_secret", done.err + done.out)


STAND_IN_HF = """
import pathlib, shutil, sys
hub, words = pathlib.Path({there!r}), sys.argv[1:]
if words[0] == "upload":
    to = hub / words[1] / words[3]
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(words[2], to)
elif words[0] == "download":
    place = hub / words[1] / words[2]
    if not place.exists():
        sys.exit("404 Client Error: Entry Not Found")
    to = pathlib.Path(words[words.index("--local-dir") + 1]) / words[2]
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(place, to)
"""


class LegacyIndex:
    """The legacy upload API, and PEP 503 pages of what was uploaded."""

    def __init__(self):
        self.files, self.credentials, self.broken_after = {}, [], None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LegacyHandler)
        self.server.daemon_threads = True
        self.server.index = self
        self.url = "http://127.0.0.1:{}".format(self.server.server_address[1])
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class LegacyHandler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def say(self, code, text, kind="text/html"):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        index = self.server.index
        links = "".join(f'<a href="/files/{urllib.parse.quote(name)}#sha256={hashlib.sha256(content).hexdigest()}">{html.escape(name)}</a>'
                        for name, content in index.files.items())
        self.say(200 if links else 404, f"<!DOCTYPE html><html><body>{links}</body></html>".encode())

    def do_POST(self):
        index = self.server.index
        index.credentials.append(base64.b64decode(self.headers.get("Authorization", " ").split(" ")[1]).decode())
        body = self.rfile.read(int(self.headers["Content-Length"]))
        boundary = re.search("boundary=(.*)", self.headers["Content-Type"])[1].encode()
        for part in body.split(b"--" + boundary):
            head, _, content = part.partition(b"\r\n\r\n")
            if name := re.search(rb'name="content"; filename="([^"]+)"', head):
                if index.broken_after is not None and len(index.files) >= index.broken_after:
                    return self.say(400, b"full")
                index.files[name[1].decode()] = content[:-2]
        self.say(200, b"ok")


if __name__ == "__main__":
    unittest.main()
