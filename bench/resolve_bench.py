#!/usr/bin/env python3
"""What choosing and installing cost, in one run.

    resolve_bench.py SAGEKIT            10,000 wheels of a release: seconds, and over reading the same file with Python's json
    resolve_bench.py SAGEKIT --install  `sagekit install` of a 40 MB wheel over `python -m pip install` of the same, best of three
"""
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
MACHINE = "gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580"


def seconds(*words, env=None):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, env=env)
    return time.monotonic() - begin, done


def release(folder, count=10_000):
    """Wheels as publishers name them: torch x CUDA x Python x platform x revision, each with its table of GPUs."""
    wheels = []
    for number in range(count):
        torch, cuda = f"2.{6 + number % 9}.{number // 9 % 2}", ("12.6", "12.8", "12.9", "13.0")[number // 18 % 4]
        python = ("39", "310", "311", "312", "313")[number // 72 % 5]
        machine = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "win_amd64")[number // 360 % 4]
        name = f"sageattention-2.2.0+cu{cuda.replace('.', '')}torch{torch}.post{number}-cp{python}-cp{python}-{machine}.whl"
        wheels.append({"file": name, "url": f"https://example.org/{name}", "sha256": hashlib.sha256(name.encode()).hexdigest(), "size_bytes": 43_000_000, "torch": torch,
                       "cuda": cuda, "commit": "d1a57a5", "arches": ["8.0", "9.0a"], "verdict": "pass",
                       "runs_on": [{"capability": c, "verdict": v} for c, v in (("8.0", "yes"), ("8.6", "yes"), ("9.0", "yes"), ("10.0", "no"), ("12.0", "no"))]})
    path = folder / "sagekit.release.json"
    path.write_text(json.dumps({"schema": "sagekit.release/1", "wheels": wheels}))
    return path


def resolving(sagekit, folder):
    path = release(folder)
    times, reading = [], []
    for _ in range(5):
        took, done = seconds(sagekit, "resolve", "--json", "--from", path, "--for", MACHINE)
        assert done.returncode == 0, done.stderr.decode()
        times.append(took)
        begin = time.monotonic()
        json.loads(path.read_text())
        reading.append(time.monotonic() - begin)
    said = json.loads(done.stdout)
    print(f"{len(said['fits'])} fit, {len(said['unknown'])} unknown, {len(said['refused'])} refused of 10,000 ({path.stat().st_size / 1e6:.1f} MB)")
    print(f"resolve {min(times):.3f} s (median {statistics.median(times):.3f}); {min(times) / min(reading):.1f} x Python's json over the same file")


def installing(sagekit, folder):
    from gpu_wheels import gpu_wheel
    from wheels import Wheel
    digits = f"{sys.version_info[0]}{sys.version_info[1]}"
    wheel = gpu_wheel(folder / "build", digits)
    for number in range(10):
        wheel.files[f"tiny_kernels/weights{number}.bin"] = os.urandom(4_000_000)
    path = wheel.write(folder / "dist")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    site = next((folder / "venv" / "lib").glob("python*")) / "site-packages"
    torch = Wheel("torch", "2.9.1+cu130", "py3-none-any")
    torch.files = {"torch/__init__.py": b"", "torch/version.py": b"__version__ = '2.9.1+cu130'\ncuda = '13.0'\n"}
    torch.install(site)
    (folder / "bin").mkdir()
    (folder / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 'NVIDIA GeForce RTX 5090, 12.0, 590.44.01'\n")
    (folder / "bin" / "nvidia-smi").chmod(0o755)
    python = folder / "venv" / "bin" / "python"
    env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "SAGEKIT_STORE": str(folder / "store"), "PIP_CONFIG_FILE": os.devnull}
    pip, ours = [], []
    for _ in range(3):
        took, done = seconds(python, "-m", "pip", "install", "--force-reinstall", "--no-deps", "--no-index", path, env=env)
        assert done.returncode == 0, done.stderr.decode()
        pip.append(took)
        took, done = seconds(sagekit, "install", "--from", path, "--interpreter", python, "--no-deps", env=env)
        assert done.returncode == 0, done.stderr.decode()
        ours.append(took)
    print(f"pip {min(pip):.2f} s, sagekit install {min(ours):.2f} s: {min(ours) / min(pip):.2f} x, judging, keeping the old one and importing included")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="sagekit-bench-") as name:
        (installing if "--install" in sys.argv else resolving)(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(name))
