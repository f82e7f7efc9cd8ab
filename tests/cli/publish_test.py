#!/usr/bin/env python3
"""Releases brought to where people find them: real gh and real twine against local fakes of the few calls they make. A client
program that is not here is said and skipped; for hf a stand-in that copies files, too."""
import base64
import hashlib
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import SAGEKIT, CommandLine, tool
from github_server import TOKEN, GithubServer
from gpu_wheels import sage3_wheel
from hub_server import TOKEN as HUB_TOKEN
from hub_server import HubServer
from loopback_server import LoopbackServer
from release_wheels import built, pass_all
from wheels import MACHINE, compiler

GH = shutil.which("gh")
HF = tool("hf")
TWINE = tool("twine")


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
        for kind, repository in (("github", "alone"), ("github", "o/r/"), ("github", "https://github.com/o/r"), ("huggingface", "a/b/c")):
            words = ("--tag", "v1.0") if kind == "github" else ()
            self.expect(self.run_sagekit("publish", kind, "dist", "--repo", repository, *words, "--dry-run"), 2, "CLI001", "is no repository")
        for path in ("../x", "a/../b", ".", "a//b"):
            self.expect(self.run_sagekit("publish", "huggingface", "dist", "--repo", "o/r", "--path", path, "--dry-run"), 2, "CLI001", path)
        wheel = built().write(self.dist)
        self.expect(self.run_sagekit(*publish, "v1.0"), 2, "PUB001", "sagekit release dist\n")
        spaced = self.folder / "rel ö"
        built().write(spaced)
        self.expect(self.run_sagekit("publish", "github", spaced, "--repo", "o/r", "--tag", "v1.0"), 2, f"sagekit release '{spaced}'\n")
        self.run_sagekit("release", "dist")
        manifest = self.dist / "sagekit.release.json"
        document = json.loads(manifest.read_text())
        document["wheels"][0]["verdict"] = "fail"
        manifest.write_text(json.dumps(document))
        self.expect(self.run_sagekit(*publish, "v1.0", "--dry-run"), 1, "PUB002", wheel.name)
        self.expect(self.run_sagekit("publish", "github", manifest, "--repo", "o/r", "--tag", "v1.0"), 2, "PUB001",
                    f"{manifest} is a file: the wheels are wanted, too", f"the folder that has both: {self.dist}")
        pass_all(self.dist)
        for tag in ("1.0", "v1", "v1.00", "v2.0", "v1.0-example"):
            self.expect(self.example(*publish, tag, "--dry-run"), 2, "PUB003")
        self.expect(self.example(*publish, "v1.0rc1", "--dry-run"), 2, "PUB003", "rc1 makes it another version's than v1.0")
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

    def test_notes_say_of_each_wheel_which_gpus_it_is_for(self):
        wheels = self.release(built(), built(platform="win_amd64"))
        manifest = self.dist / "sagekit.release.json"
        document = json.loads(manifest.read_text())
        verdicts = {wheels[0].name: {"8.0": "yes", "9.0": "no", "12.0": "jit"}, wheels[1].name: {"8.0": "no", "9.0": "yes"}}
        for row in document["wheels"]:
            row["runs_on"] = [{"capability": gpu, "verdict": verdict, "reason": ""} for gpu, verdict in verdicts[row["file"]].items()]
        manifest.write_text(json.dumps(document))
        done = self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", "--dry-run", "--json")
        self.expect(done, 0)
        for wheel, gpus in zip(wheels, ("8.0, 12.0 (PTX)", "9.0")):
            [line] = [line for line in done.json()["notes"].splitlines() if wheel.name.replace("+", "%2B") in line]
            self.assertEqual(line.split(" | ")[4], gpus)

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
            self.expect(done, 0, "2 wheels uploaded, 0 there already")
            self.assertNotIn(TOKEN, done.err + done.out)
            there = github.assets("v1.0")
            for wheel in linux:
                self.assertEqual(there[wheel.name], wheel.read_bytes())
            # Again: nothing is uploaded twice.
            uploads = len([one for one in github.log if "/assets?" in one[1] and ".whl" in one[1]])
            self.expect(publish("dist"), 0, "0 wheels uploaded, 2 there already")
            self.assertEqual(len([one for one in github.log if "/assets?" in one[1] and ".whl" in one[1]]), uploads)
            # The other platform adds to it; manifest, checksums and notes are of all.
            self.expect(publish("windows"), 0, "1 wheel uploaded")
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

    @unittest.skipUnless(GH and shutil.which("openssl") and compiler(), "gh, openssl or a C compiler is not here: apt-get install gh")
    def test_the_sixteen_wheels_of_a_sage3_release(self):
        """Two platforms' wheels, judged by the sage3 plugin, under the build tags of the build document: Linux creates, Windows appends."""
        pairs, pythons, platforms = (("2.7.0", "12.8"), ("2.8.0", "12.9")), ("3.10", "3.11", "3.12", "3.13"), (f"linux_{MACHINE}", "win_amd64")
        wanted = [f"sageattn3-1.0.0-{torch.replace('.', '')}.{cuda.replace('.', '')}-cp{python.replace('.', '')}-cp{python.replace('.', '')}-{platform}.whl"
                  for platform in platforms for torch, cuda in pairs for python in pythons]
        self.assertEqual(wanted[0], f"sageattn3-1.0.0-270.128-cp310-cp310-linux_{MACHINE}.whl")
        self.assertEqual(wanted[15], "sageattn3-1.0.0-280.129-cp313-cp313-win_amd64.whl")
        made = {}
        for platform in platforms:
            for torch, cuda in pairs:
                for python in pythons:
                    sage3_wheel(self.folder / "made", torch, cuda, python, platform).write(self.folder / platform)
            done = self.run_sagekit("release", platform, "--naming", "build-tag", "-o", platform + " release", "--json")
            self.expect(done, 0)
            self.assertEqual({row["verdict"] for row in done.json()["wheels"]}, {"pass"})
            made |= {path.name: path.read_bytes() for path in (self.folder / (platform + " release")).glob("*.whl")}
            notes = (self.folder / (platform + " release") / "NOTES.md").read_text()
            self.assertEqual(notes.count("| `pip install ./sageattn3-1.0.0-2"), 8)
        self.assertEqual(sorted(made), sorted(wanted))
        with GithubServer(self.folder) as github:
            env = self.environment(**github.environment)
            for platform in platforms:
                self.expect(self.run_sagekit("publish", "github", platform + " release", "--repo", "o/r", "--tag", "v1.0.0-sage3", env=env), 0, "8 wheels uploaded")
            there, notes = github.assets("v1.0.0-sage3"), github.releases["v1.0.0-sage3"]["body"]
        self.assertEqual({name: content for name, content in there.items() if name.endswith(".whl")}, made)
        self.assertEqual(there["SHA256SUMS"].decode(), "".join(f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in sorted(wanted)))
        rows = json.loads(there["sagekit.release.json"])["wheels"]
        self.assertEqual([(row["file"], row["verdict"]) for row in rows], [(name, "pass") for name in sorted(wanted)])
        self.assertEqual(len(json.loads(there["sagekit.intoto.json"])["subject"]), 16)
        for name in wanted:
            self.assertIn(f"releases/download/v1.0.0-sage3/{name}#sha256={hashlib.sha256(made[name]).hexdigest()}", notes)
        self.assertIn("12.0", notes)

    @unittest.skipUnless(GH and shutil.which("openssl"), "gh or openssl is not here: apt-get install gh")
    def test_github_killed_at_any_upload(self):
        """kill -9 while a wheel, the manifest or the checksums are on their way: the same command ends it rightly."""
        linux = self.release(built(), built(python="3.13"))
        windows_folder = self.folder / "windows"
        windows_folder.mkdir()
        windows = self.release(built(platform="win_amd64"), folder=windows_folder)
        for pattern in ("*.whl", "sagekit.release.json", "SHA256SUMS"):
            with self.subTest(pattern), GithubServer(self.folder) as github:
                env = self.environment(**github.environment)
                words = ("publish", "github", "windows", "--repo", "o/r", "--tag", "v1.0")
                self.expect(self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", env=env), 0)
                github.hold_upload(pattern)
                process = subprocess.Popen([str(SAGEKIT), *words], env=env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, start_new_session=True)
                self.assertTrue(github.held.wait(60), "nothing was uploaded")
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                github.go.set()
                self.expect(self.run_sagekit(*words, env=env), 0)
                there = github.assets("v1.0")
                for wheel in linux + windows:
                    self.assertEqual(there[wheel.name], wheel.read_bytes())
                self.assertEqual({asset["state"] for asset in github.releases["v1.0"]["assets"]}, {"uploaded"})
                listed = {row["file"] for row in json.loads(there["sagekit.release.json"])["wheels"]}
                # The manifest itself was lost: what was published by others is said, and their command lists it again.
                if pattern == "sagekit.release.json":
                    self.assertEqual(listed, {wheel.name for wheel in windows})
                    done = self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", env=env)
                    self.expect(done, 0, "0 wheels uploaded, 2 there already")
                    listed = {row["file"] for row in json.loads(github.assets("v1.0")["sagekit.release.json"])["wheels"]}
                self.assertEqual(listed, {wheel.name for wheel in linux + windows})

    @unittest.skipUnless(GH and shutil.which("openssl") and compiler(), "gh, openssl or a C compiler is not here: apt-get install gh")
    def test_github_without_a_token_says_how_to_give_one(self):
        self.release(built())
        with GithubServer(self.folder) as github:
            env = {name: value for name, value in github.environment.items() if "TOKEN" not in name}
            done = self.run_sagekit("publish", "github", "dist", "--repo", "o/r", "--tag", "v1.0", env=self.environment(**env))
            self.assertIn(done.code, (1, 3), done.err)
            self.expect(done, done.code, "gh auth login")
            self.assertEqual(github.releases, {})

    @unittest.skipUnless(TWINE, "twine is not here: scripts/test-tools brings it")
    def test_index(self):
        [first, second] = self.release(built(), built(python="3.13"))
        with LegacyIndex() as index:
            env = self.environment(PATH=f"{pathlib.Path(TWINE).parent}:{os.environ['PATH']}", TWINE_USERNAME="me", TWINE_PASSWORD="very-secret-password", NO_PROXY="*")
            words = ("publish", "index", "dist", "--repository-url", index.url + "/legacy/", "--index-url", index.url + "/simple")
            index.broken_after = 0
            self.expect(self.run_sagekit(*words[:5], env=env), 1, "PUB006", "run it again with --index-url")
            index.broken_after = 1
            done = self.run_sagekit(*words, env=env)
            self.expect(done, 1, "PUB006")
            index.broken_after = None
            done = self.run_sagekit(*words, env=env)
            self.expect(done, 0, "1 wheel uploaded, 1 there already")
            self.assertNotIn("very-secret-password", done.err + done.out)
            self.assertEqual(index.files, {first.name: first.read_bytes(), second.name: second.read_bytes()})
            self.assertIn("me:very-secret-password", index.credentials)
            built(answer=43).write(self.dist)
            self.dist.joinpath("sagekit.release.json").unlink()
            self.release()
            self.expect(self.run_sagekit(*words, env=env), 1, "PUB004")

    @unittest.skipUnless(HF, "hf is not here: scripts/test-tools brings it")
    def test_huggingface_with_its_real_client(self):
        [linux] = self.release(built())
        windows_folder = self.folder / "windows"
        windows_folder.mkdir()
        [windows] = self.release(built(platform="win_amd64"), folder=windows_folder)
        with HubServer() as hub:
            env = self.environment(PATH=f"{pathlib.Path(HF).parent}:{os.environ['PATH']}", HOME=str(self.folder), **hub.environment)

            def publish(folder):
                return self.run_sagekit("publish", "huggingface", folder, "--repo", "me/wheels", "--path", "v1", env=env)
            hub.cut_next_upload()
            done = publish("dist")
            self.expect(done, 1, "PUB006")
            self.assertNotIn(HUB_TOKEN, done.err + done.out)
            self.assertEqual(hub.files, {})
            done = publish("dist")
            self.expect(done, 0, "1 wheel uploaded, 0 there already")
            self.assertNotIn(HUB_TOKEN, done.err + done.out)
            self.expect(publish("dist"), 0, "0 wheels uploaded, 1 there already")
            # Cut before its manifest: the wheel itself tells that it is there.
            del hub.files["v1/sagekit.release.json"]
            self.expect(publish("dist"), 0, "0 wheels uploaded, 1 there already")
            self.expect(publish("windows"), 0, "1 wheel uploaded")
            self.assertEqual({name: content for name, content in hub.files.items() if name.endswith(".whl")},
                             {f"v1/{wheel.name}": wheel.read_bytes() for wheel in (linux, windows)})
            manifest = json.loads(hub.files["v1/sagekit.release.json"])
            self.assertEqual([row["file"] for row in manifest["wheels"]], sorted((linux.name, windows.name)))
            self.assertEqual(hub.files["v1/SHA256SUMS"].decode().count("\n"), 2)
            before = dict(hub.files)
            built(answer=43).write(self.dist)
            self.dist.joinpath("sagekit.release.json").unlink()
            self.release()
            self.expect(publish("dist"), 1, "PUB004")
            del hub.files["v1/sagekit.release.json"]
            self.expect(publish("dist"), 1, "PUB004", linux.name)
            self.assertEqual(hub.files, {name: content for name, content in before.items() if name != "v1/sagekit.release.json"})
            for text in hub.files.values():
                self.assertNotIn(HUB_TOKEN.encode(), text)

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
        self.expect(self.run_sagekit(*words, "--dry-run", env=env), 0, "--commit-message 'Add tiny")  # can be pasted
        self.expect(self.run_sagekit(*words, env=env), 0, "1 wheel uploaded")
        first = wheel.read_bytes()
        self.assertEqual((there / "me/wheels/v1" / wheel.name).read_bytes(), first)
        manifest = json.loads((there / "me/wheels/v1/sagekit.release.json").read_text())
        self.assertEqual(manifest["wheels"][0]["url"], "https://huggingface.co/me/wheels/resolve/main/v1/" + wheel.name.replace("+", "%2B"))
        self.expect(self.run_sagekit(*words, env=env), 0, "0 wheels uploaded, 1 there already")
        built(answer=43).write(self.dist)
        self.dist.joinpath("sagekit.release.json").unlink()
        self.release()
        done = self.run_sagekit(*words, env=env)
        self.expect(done, 1, "PUB004")
        self.assertNotIn("hf_very_secret", done.err + done.out)
        # What hf says when the hub is not reached is no word of what is there.
        there.joinpath("unreachable").touch()
        there.joinpath("me/wheels/v1/sagekit.release.json").unlink()
        self.expect(self.run_sagekit(*words, env=env), 1, "PUB006", "Name or service not known")
        self.assertEqual((there / "me/wheels/v1" / wheel.name).read_bytes(), first)


STAND_IN_HF = """
import pathlib, shutil, sys
hub, words = pathlib.Path({there!r}), sys.argv[1:]
if words[0] == "upload":
    to = hub / words[1] / words[3]
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(words[2], to)
elif words[0] == "download":
    place = hub / words[1] / words[2]
    if (hub / "unreachable").exists():
        sys.exit("Error: Local entry not found. [Errno -2] Name or service not known")
    if not place.exists():
        sys.exit("404 Client Error: Entry Not Found")
    to = pathlib.Path(words[words.index("--local-dir") + 1]) / words[2]
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(place, to)
"""


class LegacyIndex(LoopbackServer):
    """The legacy upload API, and PEP 503 pages of what was uploaded."""

    def __init__(self):
        self.files, self.credentials, self.broken_after = {}, [], None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LegacyHandler)
        self.server.index = self
        self.url = "http://127.0.0.1:{}".format(self.server.server_address[1])
        self.serve(self.server)


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
