#!/usr/bin/env python3
"""An index of wheels: the pages, the server, and the real pip and uv that install from it. uv is skipped where it is not."""
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import CommandLine, Done, tool
from wheels import Wheel

UV = tool("uv")


def tiny(version="1.0", project="tiny", tag="py3-none-any", answer=42, requires=">=3.8", size=0, zeros=0):
    wheel = Wheel(project, version, tag)
    wheel.files = {f"{project}/__init__.py": f"answer = {answer}\nversion = {version!r}\n".encode()}
    if zeros:  # a small file that is long in reading
        wheel.files[f"{project}/zeros.bin"] = bytes(zeros)
    if size:
        wheel.files[f"{project}/data.bin"] = os.urandom(size)
    wheel.metadata = wheel.metadata.replace("Summary:", f"Requires-Python: {requires}\nSummary:")
    return wheel


class Served:
    """`sagekit index DIR --serve=0`, ended with the test."""

    def __init__(self, test, *words):
        self.process = test.start_sagekit("index", *words, "--serve=0")
        test.addCleanup(self.end)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            self.process.wait(30)
            raise AssertionError(self.process.stderr.read().decode())
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()


class CuttingProxy:
    """Passes requests on; the first big answer is cut in the middle."""

    def __init__(self, port, after):
        self.after, self.to, self.cuts, self.ranges = after, port, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.to)) as server:
            request = b""
            while b"\r\n\r\n" not in request:
                part = client.recv(65536)
                if not part:
                    return
                request += part
            self.ranges += re.findall(rb"(?im)^range: *(.*)\r$", request)
            request = re.sub(rb"(?im)^connection:.*\r\n", b"", request).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
            server.sendall(request)
            sent = 0
            while part := server.recv(65536):
                if self.cuts == 0 and sent + len(part) > self.after:
                    self.cuts += 1
                    client.sendall(part[:self.after - sent])
                    return
                client.sendall(part)
                sent += len(part)

    def close(self):
        self.listener.close()


class Index(CommandLine):
    def setUp(self):
        super().setUp()
        self.dist = self.folder / "dist"
        self.dist.mkdir()

    def test_pages_and_json(self):
        tiny("1.0").write(self.dist)
        tiny("1.1", project="Other_Thing").write(self.dist)
        done = self.run_sagekit("index", "dist", "--json")
        self.expect(done, 0, "2 wheels of 2 projects")
        document = done.json()
        self.assertEqual(document["schema"], "sagekit.index/1")
        self.assertEqual((document["wheels"], document["projects"], document["refused"]), (2, 2, []))
        page = json.loads((self.dist / "simple/tiny/index.json").read_text())
        [row] = page["files"]
        wheel = self.dist / tiny().name
        self.assertEqual(row["hashes"]["sha256"], hashlib.sha256(wheel.read_bytes()).hexdigest())
        self.assertEqual(row["size"], wheel.stat().st_size)
        self.assertEqual(row["requires-python"], ">=3.8")
        self.assertRegex(row["upload-time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        metadata = wheel.with_name(wheel.name + ".metadata").read_bytes()
        self.assertEqual(row["core-metadata"]["sha256"], hashlib.sha256(metadata).hexdigest())
        self.assertNotIn("dist-info-metadata", row)  # PEP 714: pip 23.0, Debian 12's, takes it for a string and ends
        self.assertEqual(page["versions"], ["1.0"])
        self.assertTrue((self.dist / "simple/other-thing/index.html").exists())

    def test_yanked_and_manifest_addresses(self):
        tiny("1.0").write(self.dist)
        (self.dist / "yanked.toml").write_text('[[yanked]]\nfiles = "tiny-1.0-*"\nreason = "it <hurts>"\n')
        self.expect(self.run_sagekit("index", "dist", "--base-url", "https://example.org/w"), 0)
        html = (self.dist / "simple/tiny/index.html").read_text()
        self.assertIn('href="https://example.org/w/tiny-1.0-py3-none-any.whl#sha256=', html)
        self.assertIn('data-yanked="it &lt;hurts&gt;"', html)
        (self.dist / "yanked.toml").write_text('[[yanked]]\nfile = "x"\n')
        self.expect(self.run_sagekit("index", "dist"), 2, "REL00", "yanked.toml:2")

    def test_a_wheel_is_no_folder_of_wheels(self):
        self.expect(self.run_sagekit("index", Wheel("tiny", "1.0").write(self.dist)), 2, "is a wheel", "its folder")

    def test_refusals_write_nothing(self):
        done = self.run_sagekit("index", "dist")
        self.expect(done, 4, "REL016")
        tiny("1.0").write(self.dist)
        damaged = tiny("2.0").write(self.dist)
        damaged.write_bytes(damaged.read_bytes()[:-40])
        tiny("3.0").write(self.dist).rename(self.dist / "tiny-4.0-py3-none-any.whl")
        tiny("5.0").write(self.dist)
        tiny("5.0", answer=1).write(self.dist / "other")
        done = self.run_sagekit("index", "dist", "--json")
        self.expect(done, 1, "tiny-2.0", "REL011", "REL012", "no index was written", "give it back the version that METADATA says")
        self.assertEqual(len(done.json()["refused"]), 3)
        self.assertFalse((self.dist / "simple").exists())
        self.expect(self.run_sagekit("index", "nowhere"), 2, "FIL001")
        self.expect(self.run_sagekit("index", "dist", "-o", self.folder / "out", "--serve"), 2, "REL021")
        self.expect(self.run_sagekit("index", "--serve", "dist"), 2, "CLI002", "write the folder before --serve")

    def test_wheels_that_nothing_can_be_written_beside(self):
        wheel = tiny().write(self.dist)
        (self.dist / f".{wheel.name}.metadata.new").mkdir()  # nothing can be written, by root either
        done = self.run_sagekit("index", "dist", "-o", "site")
        self.expect(done, 2, "FIL002", f"cannot write dist/{wheel.name}.metadata: ", "copy the wheels")
        (self.dist / "simple" / ".sagekit.lock").mkdir(parents=True)
        done = self.run_sagekit("index", "dist")
        self.expect(done, 2, "FIL002", "copy the wheels")
        self.assertNotIn("-o DIR", done.err)

    def test_same_bytes_and_incremental(self):
        for i in range(5):
            tiny(f"1.{i}").write(self.dist)
        self.expect(self.run_sagekit("index", "dist"), 0, "5 read")

        def content():
            return {p.relative_to(self.dist): (p.read_bytes(), p.stat().st_mtime_ns) for p in self.dist.rglob("*") if p.is_file()}
        before = content()
        time.sleep(1.2)
        self.expect(self.run_sagekit("index", "dist"), 0, "0 pages written")
        done = self.run_sagekit("index", "dist")
        self.expect(done, 0, "0 read", "0 pages written")
        self.assertEqual(content(), before)
        (self.dist / "tiny-1.4-py3-none-any.whl").unlink()
        tiny("2.0").write(self.dist)
        self.expect(self.run_sagekit("index", "dist"), 0, "1 read")
        self.assertIn("tiny-2.0", (self.dist / "simple/tiny/index.html").read_text())
        self.assertNotIn("tiny-1.4", (self.dist / "simple/tiny/index.html").read_text())

    def test_killed_at_any_moment(self):
        for i in range(60):
            tiny(f"1.{i}", size=20000).write(self.dist)
        for wait in (0.0, 0.01, 0.02, 0.04, 0.06, 0.09):
            process = self.start_sagekit("index", "dist")
            time.sleep(wait)
            process.kill()
            process.communicate()
            for page in self.dist.rglob("index.*"):
                text = page.read_text()
                self.assertTrue(text.endswith("</html>\n") or json.loads(text), page)
        self.expect(self.run_sagekit("index", "dist"), 0)
        left = [p.name for p in self.dist.rglob(".*") if p.name not in (".sagekit-index",)]
        self.assertEqual([name for name in left if name.endswith(".new") and name[1:-4] not in os.listdir(self.dist)], [])
        self.assertEqual(len(json.loads((self.dist / "simple/tiny/index.json").read_text())["files"]), 60)

    def test_ctrl_c_ends_130_and_writes_nothing(self):
        for i in range(24):
            tiny(f"1.{i}", zeros=20_000_000).write(self.dist)
        # While wheels are read, and while they are judged: by then there are checksums, of a manifest that never comes.
        for verb, begun in (("index", "simple/.sagekit.lock"), ("release", ".sagekit.lock"), ("release", "SHA256SUMS")):
            process = self.start_sagekit(verb, "dist")
            deadline = time.monotonic() + 60
            while not (self.dist / begun).exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1].decode()
            self.assertEqual(process.returncode, 130, said)
            self.assertIn("BLD006", said)
            left = [path.name for path in self.dist.rglob("*") if path.is_file() and not path.name.startswith(".")]
            self.assertEqual([name for name in left if not name.endswith(".whl")], [])

    def test_server(self):
        wheel = tiny("1.0+cu130", size=100000).write(self.dist)
        content = wheel.read_bytes()
        (self.folder / "secret.txt").write_text("secret")
        (self.dist / "link.txt").symlink_to(self.folder / "secret.txt")
        (self.dist / ".hidden").write_text("hidden")
        served = Served(self, "dist")
        self.assertTrue(served.url.startswith("http://127.0.0.1:"))
        path = "/" + wheel.name.replace("+", "%2B")
        answer, body = served.get(path)
        self.assertEqual((answer.status, body), (200, content))
        tag = answer.headers["ETag"]
        answer, body = served.get(path, "HEAD")
        self.assertEqual((answer.status, answer.headers["Content-Length"], body), (200, str(len(content)), b""))
        answer, body = served.get(path, Range="bytes=10-19")
        self.assertEqual((answer.status, body), (206, content[10:20]))
        self.assertEqual(answer.headers["Content-Range"], f"bytes 10-19/{len(content)}")
        self.assertEqual(served.get(path, Range="bytes=-7")[1], content[-7:])
        self.assertEqual(served.get(path, Range="bytes=5-", If_Range=tag)[0].status, 206)
        self.assertEqual(served.get(path, Range="bytes=5-", If_Range='"other"')[0].status, 200)
        answer, _ = served.get(path, Range=f"bytes={len(content)}-")
        self.assertEqual((answer.status, answer.headers["Content-Range"]), (416, f"bytes */{len(content)}"))
        self.assertEqual(served.get(path, If_None_Match=tag)[0].status, 304)
        self.assertEqual(served.get("/simple/tiny/")[0].headers["Content-Type"], "text/html; charset=utf-8")
        json_type = "application/vnd.pypi.simple.v1+json"
        answer, body = served.get("/simple/tiny/", Accept=json_type)
        self.assertEqual((answer.headers["Content-Type"], json.loads(body)["name"]), (json_type, "tiny"))
        self.assertEqual(served.get("/simple/tiny")[0].headers["Location"], "/simple/tiny/")
        self.assertEqual(served.get("/simple/Tiny/")[0].headers["Location"], "/simple/tiny/")
        for outside in ("/../secret.txt", "/%2e%2e/secret.txt", "/simple/../../secret.txt", "/link.txt", "/.hidden", "//etc/passwd",
                        "/simple/..%2f..%2fsecret.txt", "/nothing"):
            answer, body = served.get(outside)
            self.assertEqual(answer.status, 404, outside)
            self.assertNotIn(b"secret", body)
        self.assertEqual(served.get("/simple/", Host="evil.example")[0].status, 403)
        self.assertEqual(served.get("/simple/", "POST")[0].status, 405)
        served.end()
        self.assertEqual(served.process.returncode, 0)

    def test_a_project_that_the_index_has_not_is_said(self):
        tiny("1.0").write(self.dist)
        served = Served(self, "dist")
        self.expect(self.run_sagekit("resolve", "--from", served.url, "--package", "nosuch", "--for", "gpu=H100"), 4, "RES005", "has no wheel of nosuch", "lists tiny")
        # The list of projects where a page of wheels was meant, as JSON and as HTML.
        root = served.url.rstrip("/") + "/"
        for place, words in ((served.url, ()), (root, ()), (root + "index.html", ())):
            self.expect(self.run_sagekit("resolve", "--from", place, "--for", "gpu=H100", *words), 2, "RES006", "root of a package index", "--package tiny")
        self.expect(self.run_sagekit("resolve", "--from", root + "index.html", "--package", "tiny", "--for", "gpu=H100"), 2, "RES006", f"--from {root} --package tiny")

    def test_taken_port(self):
        tiny().write(self.dist)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = self.run_sagekit("index", "dist", f"--serve={taken.getsockname()[1]}")
        self.expect(done, 3, "REL020")


class Installers(CommandLine):
    """Real pip, and real uv where it is."""

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="sagekit venv "))
        venv.create(cls.root / "venv", with_pip=True)
        cls.python = cls.root / "venv/bin/python"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.dist = self.folder / "dist"
        self.dist.mkdir()
        subprocess.run([self.python, "-m", "pip", "uninstall", "-qy", "tiny"], capture_output=True)

    def clean_environment(self):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return kept | {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_PROXY": "*"}

    def pip(self, url, *words, of=None):
        """`of`: the Python whose pip it is, the environment's own or another's."""
        pip = [of, "-m", "pip", "--python", self.python] if of else [self.python, "-m", "pip"]
        return Done(subprocess.run([*pip, "install", "--isolated", "--no-cache-dir", "--index-url", url, *map(str, words)],
                                   env=self.clean_environment(), capture_output=True, timeout=120))

    def uv(self, url, *words):
        if not UV:
            self.skipTest("uv is not here: scripts/test-tools brings it")
        return Done(subprocess.run([UV, "pip", "install", "--python", self.python, "--no-cache", "--no-config", "--default-index", url, *map(str, words)],
                                   env=self.clean_environment(), capture_output=True, timeout=120))

    def installed(self):
        return subprocess.run([self.python, "-c", "import tiny; print(tiny.version, tiny.answer)"], capture_output=True, text=True).stdout.strip()

    def mixed(self):
        """Right wheels and near misses: the local version decides, and Python and the platform exclude."""
        this = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        tiny("1.0+cu128.torch2.11", answer=128).write(self.dist)
        tiny("1.0+cu130.torch2.11", answer=130).write(self.dist)
        tiny("1.0", answer=0).write(self.dist)
        tiny("9.0", answer=9, requires=">=3.99").write(self.dist)
        tiny("8.0", tag=f"{this}-{this}-win_amd64").write(self.dist)
        tiny("7.0", tag="cp27-cp27m-linux_x86_64").write(self.dist)
        tiny("6.0", answer=6).write(self.dist)
        (self.dist / "yanked.toml").write_text('[[yanked]]\nfiles = "tiny-6.0-*"\nreason = "wrong results"\n')

    def choose(self, install):
        self.mixed()
        served = Served(self, "dist")
        self.assertEqual(install(served.url, "tiny").code, 0)
        self.assertEqual(self.installed(), "1.0+cu130.torch2.11 130")  # the highest local version, none of the near misses
        done = install(served.url, "tiny==1.0+cu128.torch2.11")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.installed(), "1.0+cu128.torch2.11 128")
        self.assertNotEqual(install(served.url, "tiny==8.0").code, 0)
        done = install(served.url, "tiny==6.0")
        self.assertIn("wrong results", done.err + done.out)
        self.assertEqual(self.installed(), "6.0 6")

    def test_pip_chooses(self):
        self.choose(self.pip)

    def test_uv_chooses(self):
        self.choose(self.uv)

    def hashes(self, install):
        wheel = tiny("1.0").write(self.dist)
        served = Served(self, "dist")
        right = self.folder / "right.txt"
        right.write_text(f"tiny==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
        wrong = self.folder / "wrong.txt"
        wrong.write_text(f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
        self.assertNotEqual(install(served.url, "--require-hashes", "-r", wrong).code, 0)
        self.assertEqual(self.installed(), "")
        done = install(served.url, "--require-hashes", "-r", right)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.installed(), "1.0 42")

    def test_pip_hashes(self):
        self.hashes(self.pip)

    def test_uv_hashes(self):
        self.hashes(self.uv)

    def test_swapped_wheel_is_noticed(self):
        """The page's own hash: what lies there now is not what was indexed."""
        wheel = tiny("1.0").write(self.dist)
        served = Served(self, "dist")
        wheel.write_bytes(tiny("1.0", answer=666).write(self.folder).read_bytes())
        done = self.pip(served.url, "tiny")
        self.assertNotEqual(done.code, 0)
        self.assertIn("HASHES", done.err + done.out)

    def test_an_index_without_any_of_the_wheels_is_none(self):
        wheels = {tiny("1.0").write(self.dist)}
        self.expect(self.run_sagekit("index", "dist", "--per", "torch"), 4, "REL016", "leave --per out")
        self.expect(self.run_sagekit("index", "dist", "--per", "cuda,torch"), 4, "REL016", "leave --per out")
        wheels.add(tiny("1.0+cu130").write(self.dist))
        for per in ("cuda,torch", "torch,cuda"):
            done = self.run_sagekit("index", "dist", "--per", per)
            self.expect(done, 4, "REL016", "none says both", "--per cuda\n")
        self.expect(self.run_sagekit("index", "dist", "--base-url", "example.org"), 2, "REL019")
        self.assertEqual(set(self.dist.iterdir()), wheels, "something was written")
        self.expect(self.run_sagekit("index", "dist", "--per", "cuda"), 0)

    def test_one_index_per_cuda(self):
        self.mixed()
        for version in ("9.0", "8.0", "7.0", "6.0"):
            for path in self.dist.glob(f"tiny-{version}-*"):
                path.unlink()
        (self.dist / "yanked.toml").unlink()
        self.run_sagekit("index", "dist", "--per", "cuda")
        served = Served(self, "dist", "--per", "cuda")
        done = self.pip(served.url.replace("cu130", "cu128"), "tiny")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.installed(), "1.0+cu128.torch2.11 128")

    def test_cut_download_is_resumed(self):
        wheel = tiny("1.0", size=3_000_000).write(self.dist)
        served = Served(self, "dist")
        proxy = CuttingProxy(served.port, 1_000_000)
        self.addCleanup(proxy.close)
        got = b""
        for _ in range(3):  # what curl -C - and installers that resume do
            connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
            connection.request("GET", "/" + wheel.name, headers={"Range": f"bytes={len(got)}-"} if got else {})
            answer = connection.getresponse()
            self.assertEqual(answer.status, 206 if got else 200)
            try:
                got += answer.read()
                break
            except http.client.IncompleteRead as cut:
                got += cut.partial
        self.assertEqual(proxy.cuts, 1)
        self.assertEqual(hashlib.sha256(got).hexdigest(), hashlib.sha256(wheel.read_bytes()).hexdigest())

    def test_pip_resumes(self):
        tools = pathlib.Path(os.environ.get("SAGEKIT_TEST_TOOLS", "/nowhere")) / "bin/python"
        newest = tools if tools.exists() else self.python
        said = subprocess.run([newest, "-m", "pip", "--version"], capture_output=True, text=True).stdout.split()[1]
        if tuple(map(int, said.split(".")[:2])) < (25, 1):
            self.skipTest(f"pip {said} begins a cut download again; from 25.1 on it resumes: scripts/test-tools brings one")
        tiny("1.0", size=3_000_000).write(self.dist)
        served = Served(self, "dist")
        proxy = CuttingProxy(served.port, 1_000_000)
        self.addCleanup(proxy.close)
        done = self.pip(served.url.replace(str(served.port), str(proxy.port)), "--resume-retries", "3", "tiny", of=newest)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(proxy.cuts, 1)
        self.assertTrue(any(one.startswith(b"bytes=9") for one in proxy.ranges), proxy.ranges)
        self.assertEqual(self.installed(), "1.0 42")


if __name__ == "__main__":
    unittest.main()
