#!/usr/bin/env python3
"""The generated playbook, run by ansible-playbook: a wheel by its address, from an index, and built on the host; on this machine, and in
fresh containers where DOCKER is set. Each: --check changes nothing, the first run installs and imports, the second changes nothing.

  generate_ansible.py [url] [index] [build]

SAGEKIT, SAGEKIT_EXAMPLES, ANSIBLE (ansible-playbook), WHEEL (sagekit's own, for `build`); needs nvcc. DOCKER=IMAGE: an image with python3,
its venv and g++ (a daemon that `docker` reaches; the connection is community.docker's). The containers use this machine's network. MOUNT:
what of this machine they need besides to reach a package index, "/etc/pip.conf:/etc/ssl/certs": their nvcc is fetched."""
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import venv

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "plugin" / "source"
SAGEKIT, EXAMPLES, ANSIBLE = (os.environ[name] for name in ("SAGEKIT", "SAGEKIT_EXAMPLES", "ANSIBLE"))
IMAGE = os.environ.get("DOCKER")
# Where there is no GPU, `build` is told of one: what is tried is the role, not the wheel's numbers.
SMI = "#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 9.0, 580.65.06'\n"
VERSION = "import sagekit_example, importlib.metadata as m; print(m.version('sagekit-example'))"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Here:
    """This machine, and an environment of its own."""
    name = "localhost"
    words = ["-i", "localhost,", "-c", "local"]

    def __init__(self, folder):
        self.folder = folder
        self.python = sys.executable
        self.venv = folder / "venv"
        venv.create(self.venv, with_pip=True)
        self.environment = {}
        if not shutil.which("nvidia-smi"):
            (folder / "bin").mkdir()
            (folder / "bin/nvidia-smi").write_text(SMI)
            (folder / "bin/nvidia-smi").chmod(0o755)
            self.environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}

    def run(self, *words):
        return subprocess.run(list(map(str, words)), capture_output=True, text=True)

    def close(self):
        pass


class Container:
    """A fresh container; the source lies at the same place in it."""
    name = f"a container of {IMAGE}"

    def __init__(self, folder):
        self.folder = pathlib.Path("/work/tried")
        self.python = "/usr/bin/python3"
        self.venv = self.folder / "venv"
        mounts = [word for path in [str(SOURCE), *filter(None, os.environ.get("MOUNT", "").split(":"))] for word in ("-v", f"{path}:{path}:ro")]
        run = ["docker", "run", "-d", "--network", "host", *mounts, IMAGE, "sleep", "3600"]
        self.id = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
        self.words = ["-i", f"{self.id},", "-c", "community.docker.docker"]
        made = self.run("python3", "-m", "venv", self.venv)
        assert made.returncode == 0, made.stderr
        self.environment = {}
        self.run("sh", "-c", 'command -v nvidia-smi || { printf %s "$1" > /usr/local/bin/nvidia-smi; chmod +x /usr/local/bin/nvidia-smi; }', "sh", SMI)

    def run(self, *words):
        return subprocess.run(["docker", "exec", self.id, *map(str, words)], capture_output=True, text=True)

    def close(self):
        subprocess.run(["docker", "rm", "-f", self.id], capture_output=True)


def sagekit(*words):
    done = subprocess.run([SAGEKIT, "--plugin-dir", EXAMPLES, "--plugin", "example", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def play(host, folder, variables, *words):
    """What changed, and what was said."""
    env = os.environ | host.environment | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"), "ANSIBLE_HOME": str(folder / "home")}
    done = subprocess.run([ANSIBLE, *host.words, "sage_example.yml", "-e", json.dumps(variables), *words], cwd=folder, capture_output=True, text=True, env=env)
    recap = re.search(r"ok=(\d+)\s+changed=(\d+)\s+unreachable=0\s+failed=(\d+)", done.stdout)
    assert recap, done.stdout + done.stderr
    return int(recap[2]), int(recap[3]), done.stdout


def tried(host, folder, server, dist, way):
    cache = host.folder / "cache"
    words = ["--venv", host.venv, "-o", folder / "play"]
    if way == "build":
        words += ["--source", SOURCE, "--sagekit", os.environ["WHEEL"]]
    else:
        words += ["--release", dist / "sagekit.release.json"]
    sagekit("generate", "ansible", *words)
    variables = {"sage_from": way, "sage_cache": str(cache), "sage_python": host.python, "ansible_python_interpreter": host.python,
                 "sage_index_url": f"{server}/simple/"}
    changed, failed, text = play(host, folder / "play", variables, "--check")
    assert not failed and changed > 0, text
    assert host.run("ls", cache).returncode != 0, "--check made the cache"
    assert host.run(host.venv / "bin/python", "-c", VERSION).returncode != 0, "--check installed it"
    changed, failed, text = play(host, folder / "play", variables)
    assert not failed and changed > 0, text
    version = host.run(host.venv / "bin/python", "-c", VERSION)
    assert version.returncode == 0, version.stderr
    again, failed, text = play(host, folder / "play", variables)
    assert not failed and again == 0, text
    checked, failed, text = play(host, folder / "play", variables, "--check")
    assert not failed and checked == 0, text
    print(f"{host.name}, {way}: --check changed nothing; first: {changed} changed, {version.stdout.strip()} imports; second: 0 changed, nor by --check", flush=True)


def no_environment(host, folder):
    """A host without the environment: one sentence, and nothing is left there."""
    _, failed, text = play(host, folder / "play", {"sage_venv": "/nowhere", "sage_cache": str(host.folder / "other"),
                                                   "ansible_python_interpreter": host.python})
    assert failed == 1 and "/nowhere/bin/python is not on this host" in text, text
    assert host.run("ls", host.folder / "other").returncode != 0, "something was made"
    print(f"{host.name}: a host without the environment is told so", flush=True)


def main(ways):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ansible"))
    dist = folder / "dist"
    sagekit("build", "--source", SOURCE, "--store", folder / "store", "-o", dist)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=dist))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    sagekit("release", dist, "--base-url", address + "/")
    sagekit("index", dist)
    for kind in (Here, Container) if IMAGE else (Here,):
        for way in ways:
            place = folder / kind.__name__ / way
            place.mkdir(parents=True)
            host = kind(place)
            try:
                tried(host, place, address, dist, way)
                if way == ways[-1]:
                    no_environment(host, place)
            finally:
                host.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["url", "index"] + (["build"] if "WHEEL" in os.environ else [])))
