"""What the provisioning tests share: fake packages on a local index, and what must hold after every failure."""
import os
import pathlib
import re
import subprocess
import sys

from harness import SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
import fake_packages  # noqa: E402
from index_server import IndexServer  # noqa: E402

SECRET = "geheim-5f1d"
TREE_NAME = re.compile(r"(nvcc|torch)-.+-[0-9a-f]{12}$")


class Provisioning(CommandLine):
    """`self.index` has CUDA 13.0 and torch 2.11.0+cu130 for x86_64."""
    forms = ("json", "html")

    def setUp(self):
        super().setUp()
        self.index = IndexServer(forms=self.forms)
        self.addCleanup(self.index.close)
        self.index.add_all(fake_packages.nvcc_wheels())
        self.index.add_all([fake_packages.torch_wheel()])
        self.lock = self.folder / "sagekit.lock"
        self.trees = self.folder / "störe" / "toolchains"

    def environment(self, **more):
        """No pip configuration of this machine is heard; short waits."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return super().environment() | {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, "PIP_TIMEOUT": "1", "PIP_DEFAULT_TIMEOUT": "1",
                                        "PIP_RETRIES": "2", "no_proxy": "127.0.0.1,127.0.0.2,localhost"} | more

    def words(self, *words, what=("--cuda", "13.0"), index=None):
        # Without a word about --redist-url a test could end up asking NVIDIA's own host.
        return ["toolchain", "fetch", *what, "--index-url", index or self.index.url, "--redist-url", f"{self.index.base}/redist", *words]

    def fetch(self, *words, what=("--cuda", "13.0"), index=None, **options):
        return self.run_sagekit(*self.words(*words, what=what, index=index), **options)

    def fetched(self, *words, **options):
        """A fetch that must work: its rows."""
        done = self.fetch("--json", *words, **options)
        self.expect(done, 0)
        return done.json()["trees"]

    def fetched_torch(self, *words, version="2.11.0", cuda="13.0", **options):
        """The torch's row; the nvcc of that CUDA comes first."""
        rows = self.fetched(*words, what=("--torch", version, "--cuda", cuda), **options)
        self.assertEqual([row["kind"] for row in rows], ["nvcc", "torch"])
        return rows[1]

    def named_trees(self):
        """Whatever lies under a tree's final name."""
        return sorted(p.name for p in self.trees.glob("*") if TREE_NAME.match(p.name))

    def refused(self, done, code, *texts, family=r"IDX|PRV", left=()):
        """One error with a code, one sentence that names what and where; no tree but of the kinds in `left`."""
        self.assertEqual(done.code, code, done.err + done.out)
        errors = re.findall(r"^error\[([A-Z]+)\d+\]: (.+)$", done.err, re.M)
        self.assertEqual(len(errors), 1, done.err)
        self.assertRegex(errors[0][0], f"^(?:{family})$", done.err)
        for text in texts:
            self.assertIn(text, done.err)
        self.assertEqual(done.out, "")
        self.assertEqual([name.split("-")[0] for name in self.named_trees()], list(left), "a tree under its final name after a failure")
        self.assertNotIn("Traceback", done.err)

    def works_again(self, *words, **options):
        """The fault is gone: the same command does it, and every byte is right."""
        self.index.mend()
        rows = self.fetched(*words, **options)
        self.expect(self.run_sagekit("toolchain", "verify"), 0)
        return rows

    def whole(self):
        """Every tree that is visible verifies."""
        if self.named_trees():
            self.expect(self.run_sagekit("toolchain", "verify"), 0)

    def provisioned(self):
        """Rows of `toolchain list` that come from the store."""
        listed = self.run_sagekit("toolchain", "list", "--json")
        self.expect(listed, 0)
        return [t for t in listed.json()["toolchains"] if t["source"] in ("wheels", "redist")]

    def start_fetch(self, *words, what=("--cuda", "13.0"), **environment):
        return self.start_sagekit(*self.words(*words, what=what), env=self.environment(**environment))


def can_mount():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0 if os.geteuid() == 0 else False


def tree_files(folder):
    """{path: content} below a tree."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in pathlib.Path(folder).rglob("*") if p.is_file()}
