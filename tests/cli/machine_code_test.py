#!/usr/bin/env python3
"""Machine code of wheels against that of one plain nvcc, kernel by kernel, for every way in which a row of a spec can have GPU code made:
apart from the host's code, with a device-only header, with threads of ptxas; several architectures, PTX among them.

nvcc is given what the spec says, by this test and not by a plan, and what both made is read by a reader of the tests' own. That it would
see a compiler that makes other code is shown with one: cicc's own --split-compile, which was in use once (docs/measured.md)."""
import pathlib
import re
import subprocess
import tempfile
import unittest
import zipfile

from harness import SOURCE_DIR, CommandLine, has_nvcc, real_nvcc  # first: it says where the others are
import cubins
from make_plugin import make_plugin

ROOM = SOURCE_DIR / "tests" / "machine_code"
ARCHES = ("80", "120")


def without_module_id(name):
    """Names of what lies in an unnamed namespace have a hash of the unit in them, which is another where the path is."""
    return re.sub(r"_GLOBAL__N__[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}(_\d+)?", "UNNAMED", name)


def lines_of(ptx):
    """Without comments and blanks, which are not in a fatbin."""
    lines = (" ".join(line.split("//")[0].split()) for line in ptx.splitlines())
    return [line for line in lines if line]


@unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
class MachineCode(CommandLine):
    @classmethod
    def setUpClass(cls):
        """What nvcc makes by itself: a command an architecture, none of sagekit's words."""
        cls.nvcc = real_nvcc()
        said = subprocess.run([cls.nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        if "release 13.0," not in said:
            raise unittest.SkipTest("the machine's nvcc is not 13.0, the one that split_compile is for")
        cls.plain = {}
        with tempfile.TemporaryDirectory(prefix="sagekit-plain-") as name:
            for arch in ARCHES:
                for kind, what in ((cubins.ENTRY_CUBIN, "-cubin"),) + (((cubins.ENTRY_PTX, "-ptx"),) if arch == "120" else ()):
                    out = pathlib.Path(name, f"{arch}{what}")
                    subprocess.run([cls.nvcc, "-O3", "--use_fast_math", "-std=c++17", f"-arch=sm_{arch}" if what == "-cubin" else f"-arch=compute_{arch}",
                                    "-I", ROOM / "source" / "host", what, "-o", out, ROOM / "source" / "csrc" / "attention.cu"], check=True)
                    cls.plain[kind, arch] = out.read_bytes()

    def setUp(self):
        super().setUp()
        repository = self.folder / "source"
        subprocess.run(["cp", "-r", ROOM / "source", repository], check=True)
        git = ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "a"]):
            subprocess.run([*git, *words], check=True)
        commit, tree = subprocess.run([*git, "rev-parse", "HEAD", "HEAD^{tree}"], capture_output=True, text=True, check=True).stdout.split()
        spec = (ROOM / "plugin.toml").read_text().replace("COMMIT", commit).replace("TREE", tree)
        self.words = ["--plugin", make_plugin(spec, self.folder / "sagekit-guard.so"), "build", "--source", repository, "--json", "--python", "3.11"]

    def build(self, *more):
        """Module -> its images, and what the wheel says of itself."""
        done = self.run_sagekit(*self.words, *more, timeout=600)
        self.expect(done, 0)
        self.assertNotIn("in one run", done.err, "it was not made in halves, so nothing is compared")
        wheel, = done.json()["wheels"]
        with zipfile.ZipFile(self.folder / "dist" / pathlib.Path(wheel["path"]).name) as archive:
            modules = {name: cubins.images(archive.read(name)) for name in archive.namelist() if name.endswith(".so")}
            said = "".join(archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name)
        return modules, said

    def differences(self, module, arches=ARCHES):
        """(architecture, kernel) of which the machine code is another than nvcc's."""
        found = []
        for arch in arches:
            ours, plain = ({without_module_id(name): code for name, code in cubins.kernels(where[cubins.ENTRY_CUBIN, arch]).items()}
                           for where in (module, self.plain))
            self.assertGreater(sum(name.startswith(".text.") for name in plain), 8)
            found += [(arch, name) for name in sorted(ours.keys() | plain.keys()) if ours.get(name) != plain.get(name)]
        return found

    def test_every_way_makes_the_machine_code_of_one_plain_nvcc(self):
        modules, said = self.build("--prove", "sample")
        # The first architecture of the one, and both of the other, which has words that nvcc alone has not.
        self.assertIn("GPU code compared with nvcc's own by kernel: 3 of 4", said)
        self.assertEqual(sorted(modules), ["guard/_halves.so", "guard/_split.so"])
        for name, module in modules.items():
            with self.subTest(name):
                self.assertEqual(sorted(module), sorted(self.plain), "other images than were asked for")
                self.assertEqual(self.differences(module), [])
                ours, plain = (without_module_id(images[cubins.ENTRY_PTX, "120"].rstrip(b"\0").decode()) for images in (module, self.plain))
                self.assertEqual(lines_of(ours), lines_of(plain))
        # The threads were there: ptxas writes its words into a note.
        for arch in ARCHES:
            threads = {name: b"-split-compile 8" in cubins.sections(module[cubins.ENTRY_CUBIN, arch])[".note.nv.tkinfo"] for name, module in modules.items()}
            self.assertEqual(threads, {"guard/_halves.so": False, "guard/_split.so": True}, arch)

    def test_a_compiler_that_makes_other_code_is_seen(self):
        launcher = self.folder / "launcher"
        launcher.write_text("#!/bin/sh\ncase $1 in */cicc) exec \"$@\" -split-compile 8;; esac\nexec \"$@\"\n")
        launcher.chmod(0o755)
        modules, _ = self.build("--launcher", launcher, "--arch", "8.0")
        for name, module in modules.items():
            self.assertGreater(len(self.differences(module, ["80"])), 4, name)


if __name__ == "__main__":
    unittest.main(verbosity=1)
