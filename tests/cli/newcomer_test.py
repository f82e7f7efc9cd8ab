#!/usr/bin/env python3
"""A newcomer's machine: g++, Python and nothing of CUDA or torch. In a mount namespace every toolkit of this machine is
hidden; `build` with no word about toolchains must bring its own and make a wheel.

Against the local index always, with a stand-in compiler: everything but GPU code. Against the real index where pip here
reaches one: the real compiler, a real wheel, imported. What was left out is printed with its reason.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT
from provisioning import Provisioning, can_mount

INDEX_VARIABLES = ("PIP_", "SSL_", "http", "https", "HTTP", "HTTPS", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY")


def path_without_nvcc():
    return os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p and not os.access(os.path.join(p, "nvcc"), os.X_OK))


def folders_to_hide():
    """Real folders that hold a CUDA toolkit or a torch where sagekit looks."""
    found = set()
    for place in ("/usr/local", "/opt"):
        found |= {p.resolve() for p in pathlib.Path(place).glob("cuda*") if p.is_dir()}
    home = pathlib.Path(os.environ.get("HOME", "/"))
    for sites in [*home.glob(".pyenv/versions/*/lib/python3*/site-packages"), *home.glob(".local/lib/python3*/site-packages"),
                  *pathlib.Path("/usr/lib").glob("python3*/dist-packages"), *pathlib.Path("/usr/local/lib").glob("python3*/*-packages")]:
        found |= {p.resolve() for p in (sites / "nvidia", sites / "torch") if p.is_dir()}
    return sorted(found)


def hidden(words):
    """The command in a mount namespace where those folders are empty."""
    mounts = "".join(f"mount -t tmpfs -o size=4k none {shlex.quote(str(folder))} || exit 99\n" for folder in folders_to_hide())
    return ["unshare", "-m", "sh", "-c", mounts + 'exec "$@"', "sh", *map(str, words)]


def why_no_real_index():
    """"" when pip here reaches an index that has CUDA's metapackage (a few KB)."""
    if os.environ.get("SAGEKIT_TEST_NO_NETWORK"):
        return "SAGEKIT_TEST_NO_NETWORK is set"
    with tempfile.TemporaryDirectory() as folder:
        try:
            tried = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "--retries", "0", "-d", folder, "cuda-toolkit==13.0.2"],
                                   capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:
            return "pip reached no package index within 20 s"
    return "" if tried.returncode == 0 else "pip reached no package index that has cuda-toolkit"


@unittest.skipUnless(can_mount(), "needs root and mount namespaces to hide toolkits")
class Newcomer(Provisioning):
    def environment(self, **more):
        return super().environment() | {"PATH": path_without_nvcc()} | more

    def run_hidden(self, *words, env=None, timeout=120):
        return subprocess.run(hidden([SAGEKIT, "--plugin-dir", EXAMPLES, *words]), env=env or self.environment(), cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)

    def test_nothing_of_cuda_or_torch_is_seen(self):
        listed = self.run_hidden("toolchain", "list", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        kinds = [t["kind"] for t in json.loads(listed.stdout)["toolchains"]]
        self.assertNotIn("nvcc", kinds)
        self.assertNotIn("torch", kinds)
        self.assertIn("host-compiler", kinds)
        self.assertIn("python", kinds)

    def test_a_build_brings_its_own_compiler_and_says_so(self):
        done = self.run_hidden("--plugin", "example", "build", "--source", EXAMPLE_SOURCE, "--index-url", self.index.url)
        self.assertIn("10 steps run", done.stderr)
        self.assertRegex(done.stderr, r"(?i)nvcc.*13\.0\.88.*(wheels|index)|(wheels|index).*nvcc.*13\.0\.88")
        self.assertEqual(done.returncode, 1, "the stand-in makes no GPU code, and verify must say so: " + done.stderr)
        self.assertIn("FAT103", done.stderr)
        self.assertEqual(len(self.named_trees()), 1)
        self.index.forget()
        again = self.run_hidden("--plugin", "example", "build", "--source", EXAMPLE_SOURCE, "--index-url", self.index.url)
        self.assertIn("FAT103", again.stderr)
        self.assertEqual(self.index.log, [], "the second build asks nobody")

    def test_a_plan_fetches_nothing(self):
        done = self.run_hidden("--plugin", "example", "plan", "--json", "--index-url", self.index.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["cells"]), 1)
        self.assertEqual((self.index.log, self.named_trees()), ([], []))

    def test_doctor_names_one_command_for_what_is_missing(self):
        done = self.run_hidden("--plugin", "example", "doctor")
        self.assertIn("13.0", done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, r"sagekit toolchain fetch .*--cuda 13\.0")

    def test_the_real_compiler_from_the_real_index(self):
        if why := why_no_real_index():
            self.skipTest(why)
        network = {k: v for k, v in os.environ.items() if k.startswith(INDEX_VARIABLES)}
        env = self.environment(HOME=os.environ.get("HOME", "/")) | network
        for name in ("PIP_CONFIG_FILE", "PIP_TIMEOUT", "PIP_RETRIES"):
            if name not in os.environ:
                env.pop(name, None)
        done = self.run_hidden("--plugin", "example", "build", "--source", EXAMPLE_SOURCE, "--json", env=env, timeout=600)
        if "error[IDX00" in done.stderr:
            self.skipTest("the index could not be read to the end: " + done.stderr.split("error[IDX00")[1].splitlines()[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        (wheel,) = json.loads(done.stdout)["wheels"]
        self.assertEqual(wheel["verdict"], "pass")
        site = self.folder / "site"
        shutil.unpack_archive(str(self.folder / wheel["path"]), site, "zip")
        program = f"import sys; sys.path.insert(0, {str(site)!r}); import sagekit_example; print(sagekit_example.__file__)"
        imported = subprocess.run(hidden([sys.executable, "-I", "-c", program]), capture_output=True, text=True)
        self.assertEqual(imported.returncode, 0, imported.stderr)
        fetched = [line for line in done.stderr.splitlines() if "13.0" in line and "nvcc" in line]
        print("newcomer, real index:", *fetched[:2], sep="\n  ", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
