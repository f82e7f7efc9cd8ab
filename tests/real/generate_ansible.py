#!/usr/bin/env python3
"""The generated playbook, run by ansible-core on this machine twice: a wheel by its address into a fresh environment, then nothing is
changed; before that --check, which changes nothing. SAGEKIT, SAGEKIT_EXAMPLES, ANSIBLE (ansible-playbook); needs nvcc."""
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import venv

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SAGEKIT, EXAMPLES, ANSIBLE = (os.environ[name] for name in ("SAGEKIT", "SAGEKIT_EXAMPLES", "ANSIBLE"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def sagekit(*words):
    return subprocess.run([SAGEKIT, "--plugin-dir", EXAMPLES, "--plugin", "example", *map(str, words)], check=True, capture_output=True, text=True).stdout


def play(folder, *words):
    done = subprocess.run([ANSIBLE, "-i", "localhost,", "-c", "local", "sage_example.yml", *words], cwd=folder, capture_output=True, text=True,
                          env=os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"), "ANSIBLE_HOME": str(folder / "home")})
    recap = re.search(r"ok=(\d+)\s+changed=(\d+)\s+unreachable=0\s+failed=(\d+)", done.stdout)
    assert recap, done.stdout + done.stderr
    assert recap[3] == "0", done.stdout
    return int(recap[2]), done.stdout


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ansible"))
    dist = folder / "dist"
    sagekit("build", "--source", SOURCE / "examples" / "plugin" / "source", "--store", folder / "store", "-o", dist)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=dist))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sagekit("release", dist, "--base-url", f"http://127.0.0.1:{server.server_address[1]}/")
    environment = folder / "venv"
    venv.create(environment, with_pip=True)
    sagekit("generate", "ansible", "--release", dist / "sagekit.release.json", "--venv", environment, "-o", folder / "play")
    words = ("-e", json.dumps({"sage_cache": str(folder / "cache"), "sage_python": sys.executable, "ansible_python_interpreter": sys.executable}))
    changed, _ = play(folder / "play", "--check", *words)
    assert not (folder / "cache").exists(), "--check changed something"
    print(f"--check: {changed} would change")
    changed, text = play(folder / "play", *words)
    assert changed > 0, text
    version = subprocess.run([environment / "bin" / "python", "-c", "import sagekit_example, importlib.metadata as m; print(m.version('sagekit-example'))"],
                             check=True, capture_output=True, text=True).stdout.strip()
    again, text = play(folder / "play", *words)
    assert again == 0, text
    print(f"first: {changed} changed, {version} imports; second: 0 changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
