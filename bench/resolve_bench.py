#!/usr/bin/env python3
"""What choosing and installing cost, in one run.

    resolve_bench.py SAGEKIT            10,000 wheels of a release: seconds, and over reading the same file with Python's json
    resolve_bench.py SAGEKIT --install  `sagekit install` of a 43 MB wheel over `pip install` (and `uv pip install`) of the same file and an import, best of five
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from clock import best, cost  # noqa: E402

MACHINE = "gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580"


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
        *took, done = cost([sagekit, "resolve", "--json", "--from", path, "--for", MACHINE])
        times.append(took)
        begin = time.monotonic()
        json.loads(path.read_text())
        reading.append(time.monotonic() - begin)
    said = json.loads(done.stdout)
    print(f"{len(said['fits'])} fit, {len(said['unknown'])} unknown, {len(said['refused'])} refused of 10,000 ({path.stat().st_size / 1e6:.1f} MB)")
    wall, cpu = (min(one[at] for one in times) for at in (0, 1))
    print(f"resolve {wall:.3f} s, {cpu:.3f} CPU-s (promised 0.3); {wall / min(reading):.1f} x Python's json over the same file")


def installing(sagekit, folder):
    from gpu_wheels import gpu_wheel
    from wheels import Wheel
    digits = f"{sys.version_info[0]}{sys.version_info[1]}"
    wheel = gpu_wheel(folder / "build", digits)
    few_bits = bytes(value % 7 for value in range(256))  # deflates to a third, as GPU code does
    for number in range(4):
        wheel.files[f"tiny_kernels/kernels{number}.bin"] = os.urandom(32_000_000).translate(few_bits)
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
    for tool in ("pip", *(["uv"] if shutil.which("uv") else [])):
        own = [python, "-m", "pip", "install", "--force-reinstall"] if tool == "pip" else ["uv", "pip", "install", "--python", python, "--reinstall"]
        place = dict(env) if tool == "uv" else env | {"PATH": os.pathsep.join(p for p in env["PATH"].split(os.pathsep) if not (pathlib.Path(p) / "uv").exists())}
        alone, imports, ours = [], [], []
        for _ in range(5):  # in turns, so that what else the machine does meets all of them
            alone.append(cost([*own, "--no-deps", "--no-index", path], env=place)[:2])
            imports.append(cost([python, "-I", "-c", "import tiny_kernels._k"], env=place)[:2])
            ours.append(cost([sagekit, "install", "--from", path, "--interpreter", python, "--no-deps"], env=place)[:2])
        for what, at in (("wall", 0), ("CPU", 1)):
            a, i, o = (min(one[at] for one in list) for list in (alone, imports, ours))
            print(f"{what}: {tool} {a:.2f} s, importing once {i:.2f} s, sagekit install {o:.2f} s: {o / (a + i):.2f} x both, {o / a:.2f} x {tool} alone (promised 1.10)")
    print(f"a wheel of {path.stat().st_size / 1e6:.0f} MB, 128 MB inside; sagekit judges it, keeps the old one and imports each module by itself, too")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="sagekit-bench-") as name:
        (installing if "--install" in sys.argv else resolving)(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(name))
