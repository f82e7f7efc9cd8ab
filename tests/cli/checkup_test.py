#!/usr/bin/env python3
"""`sagekit doctor --interpreter`: environments made by hand, each with one thing wrong, and a GPU that a script tells of."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import EXAMPLES, SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from gpu_wheels import gpu_module  # noqa: E402
from wheels import MACHINE, Wheel, compiler  # noqa: E402

DIGITS = "%d%d" % sys.version_info[:2]
SUFFIX = f".cpython-{DIGITS}-{MACHINE}-linux-gnu.so"
HAS_VENV = subprocess.run([sys.executable, "-c", "import venv"], capture_output=True).returncode == 0

TORCH = """from . import version
__version__ = version.__version__
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    get_device_capability = staticmethod(lambda i: (9, 0))
"""
# What the plugin's fingerprints count in core.py: main of upstream, and its tag v2.2.0.
MAIN = ('arch == "sm' * 4 + '\nelif arch == "sm121":\n' + 'arch == "sm' + "\n" + 'pv_accum_dtype="fp32+fp16")\n' * 3).encode()
TAG = ('arch == "sm\n' * 5 + 'pv_accum_dtype="fp32+fp16")\n' * 2).encode()
FIXED = b"def op():\n  pass\ndef op_fake_impl():\n  pass\n"
DEFECTIVE = b"def op():\n  pass\ndef op():\n  pass\n"


@unittest.skipUnless(compiler() and HAS_VENV, "no C compiler, or a Python without venv")
class Doctor(CommandLine):
    @classmethod
    def setUpClass(cls):
        if not (compiler() and HAS_VENV):
            return
        cls.made = tempfile.TemporaryDirectory()
        cls.module = {name: gpu_module(pathlib.Path(cls.made.name) / name, name, ("90",)) for name in ("_qattn_sm90", "_fused")}
        cls.other = gpu_module(pathlib.Path(cls.made.name) / "other", "_qattn_sm90", ("120",))

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "made"):
            cls.made.cleanup()

    def setUp(self):
        super().setUp()
        self.home = self.folder / "home" / "ann"
        self.venv = self.home / "venv"
        self.home.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True, capture_output=True)
        self.site = next((self.venv / "lib").glob("python*")) / "site-packages"
        self.python = self.venv / "bin" / "python"
        self.work = self.folder / "work"
        self.work.mkdir()
        self.bin = self.folder / "bin"
        self.program("nvidia-smi", "echo 'NVIDIA H200, 9.0, 580.95.05'")
        self.torch()
        self.triton()

    def program(self, name, text, folder=None):
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def torch(self, version="2.11.0+cu130", cuda="'13.0'", requires="", init=TORCH):
        wheel = Wheel("torch", version)
        wheel.files = {"torch/__init__.py": init.encode(), "torch/version.py": f"__version__ = '{version}'\ncuda = {cuda}\n".encode()}
        wheel.metadata = wheel.metadata.replace("Summary:", requires + "Summary:")
        wheel.install(self.site)

    def triton(self, release="13.0", version="3.6.0"):
        wheel = Wheel("triton", version)
        wheel.files = {"triton/__init__.py": b""}
        wheel.install(self.site)
        self.program("ptxas", f"echo 'Cuda compilation tools, release {release}, V{release}.1'", self.site / "triton/backends/nvidia/bin")

    def sage(self, core=MAIN, sm90=FIXED, modules=None, version="2.2.0", site=None, init=b""):
        wheel = Wheel("sageattention", version, f"cp{DIGITS}-cp{DIGITS}-linux_{MACHINE}")
        modules = self.module if modules is None else modules
        wheel.files = {"sageattention/__init__.py": init, "sageattention/core.py": core, "sageattention/sm90_compile.py": sm90}
        wheel.files |= {f"sageattention/{name}{SUFFIX}": content for name, content in modules.items()}
        return wheel.install(site or self.site)

    def environment(self, **more):
        path = os.pathsep.join([str(self.bin), os.environ["PATH"]])
        return super().environment() | {"HOME": str(self.home), "PATH": path} | more

    def doctor(self, *words, **variables):
        return self.run_sagekit("doctor", "--interpreter", self.python, *words, env=self.environment(**variables), cwd=self.work)

    def rows(self, *words, **variables):
        """{about: [row]} of what is not good, but for what the machine of the test itself lacks; the exit code fits them."""
        done = self.doctor("--json", *words, **variables)
        document = done.json()
        self.assertEqual(document["schema"], "sagekit.doctor/1")
        wrong = [row for row in document["rows"] if row["state"] == "wrong"]
        self.assertEqual(done.code, 1 if wrong else 0, done.err)
        self.packages = document["packages"]
        self.every = document["rows"]
        here = ("python-headers", "memory", "disk", "container", "system", "path", "driver", "libcuda")
        found = {}
        for row in document["rows"]:
            if row["state"] != "good" and not (row["about"] in here and row["state"] != "wrong" and row["about"] != "path"):
                found.setdefault(row["about"], []).append(row)
        for about in ("python-headers", "driver", "libcuda"):
            found.pop(about, None)
        return found

    def wrong(self, rows, about):
        ones = [row for row in rows.get(about, []) if row["state"] == "wrong"]
        self.assertTrue(ones, f"nothing is wrong with {about}: {rows}")
        return ones[0]


class Tells(Doctor):
    def test_a_right_environment_has_nothing_wrong(self):
        self.sage()
        rows = self.rows()
        self.assertEqual({about for about, ones in rows.items() if any(one["state"] == "wrong" for one in ones)}, set(), rows)
        (package,) = self.packages
        self.assertEqual((package["name"], package["version"]), ("sageattention", "2.2.0"))
        (runs,) = package["runs_on"]
        self.assertEqual((runs["capability"], runs["verdict"]), ("9.0", "jit"))
        self.assertEqual([m.split(".")[-1] for m in runs["modules"]], ["_qattn_sm90", "_fused"])
        said = {row["what"]: row["found"] for row in self.every}
        self.assertIn("sageattn() calls _qattn_sm90, _fused", said["sageattention on NVIDIA H200 (9.0)"])
        self.assertIn("works, and so do 2 modules", said["import sageattention"])

    def test_the_hopper_defect_is_wrong_although_everything_imports(self):
        self.sage(TAG, DEFECTIVE)
        row = self.wrong(self.rows(), "runs")
        self.assertIn("sm90-uninitialised-output", row["found"])
        self.assertEqual((row["code"], row["mend"]), ("TRU001", f"sagekit --plugin sage2 install --or-build --interpreter '{self.python}'"))
        self.assertEqual(self.run_sagekit("explain", row["code"]).code, 0)

    def test_a_wheel_without_the_arch_is_told_by_its_module(self):
        self.sage(modules=self.module | {"_qattn_sm90": self.other})
        rows = self.rows()
        self.assertIn("_qattn_sm90", self.wrong(rows, "runs")["found"])
        self.assertIn("PTX 12.0, and none for 9.0", self.wrong(rows, "module")["found"])

    def test_a_module_that_is_not_there(self):
        self.sage(modules={"_fused": self.module["_fused"]})
        rows = self.rows()
        self.assertEqual(self.wrong(rows, "module")["found"], "is not in the package")
        self.assertEqual(self.packages[0]["runs_on"][0]["verdict"], "no")

    def test_another_gpu_can_be_asked_about(self):
        self.sage()
        row = self.wrong(self.rows("--for", "gpu=RTX 5090"), "runs")
        self.assertIn("sageattention on RTX 5090 (12.0)", row["what"])
        self.expect(self.doctor("--for", "torch=2.9"), 2, "CLI001")

    def test_a_gpu_that_no_plugin_makes_code_for_has_no_mend(self):
        self.sage()
        row = self.wrong(self.rows("--for", "gpu=7.5"), "runs")
        self.assertEqual(row["mend"], "")
        self.assertIn("no loaded plugin makes code for that GPU", row["why"])
        self.assertIn("sage2-stable", self.wrong(self.rows("--for", "gpu=10.0"), "runs")["mend"])
        (row,) = self.rows("--for", "gpu=GTX 1080")["runs"]
        self.assertEqual((row["state"], row["mend"], row["why"]), ("unknown", "", "no loaded plugin makes code for that GPU"))
        mend = self.wrong(self.rows("--for", "gpu=RTX 5090"), "runs")["mend"]
        self.assertIn("install --or-build", mend)
        self.assertIn("--for 'gpu=RTX 5090", mend)

    def test_no_torch_a_torch_for_cpus_and_one_that_does_not_import(self):
        self.sage()
        for name in ("torch", "torch-2.11.0+cu130.dist-info"):
            subprocess.run(["rm", "-r", self.site / name], check=True)
        self.assertIn("-m pip install torch", self.wrong(self.rows(), "torch")["mend"])
        self.torch("2.11.0+cpu", "None")
        self.assertIn("without CUDA", self.wrong(self.rows(), "torch")["found"])
        self.torch(init="raise ImportError('libcudart.so.12: cannot open shared object file: No such file or directory')\n")
        row = self.wrong(self.rows(), "torch")
        self.assertIn("libcudart.so.12", row["found"])

    def test_a_torch_that_sees_no_gpu(self):
        self.torch(init=TORCH.replace("lambda: True", "lambda: False") + "    @staticmethod\n    def init(): raise RuntimeError('CUDA driver initialization failed')\n")
        self.assertIn("CUDA driver initialization failed", self.wrong(self.rows(), "torch")["found"])
        # It is the variable's fault then, and said once.
        rows = self.rows(CUDA_VISIBLE_DEVICES="")
        self.assertNotIn("torch", rows)
        self.assertEqual(self.wrong(rows, "visible-devices")["mend"], "unset CUDA_VISIBLE_DEVICES")

    def test_a_driver_older_than_torchs_cuda(self):
        self.program("nvidia-smi", "echo 'NVIDIA H200, 9.0, 550.54.15'")
        done = self.doctor("--json")
        row = next(row for row in done.json()["rows"] if row["about"] == "driver" and row["state"] == "wrong")
        self.assertEqual((done.code, row["code"]), (1, "WHY529"))
        self.assertIn("needs 580", row["found"])

    def test_triton_its_ptxas_and_its_compiler(self):
        self.triton(release="12.4")
        self.assertNotIn("ptxas", self.rows())
        self.program("nvidia-smi", "echo 'NVIDIA GB10, 12.1, 580.95.05'")
        row = self.wrong(self.rows(PATH=f"{self.bin}:/usr/bin:/bin", CUDA_HOME=""), "ptxas")
        self.assertIn("12.1", row["why"])
        better = self.program("ptxas", "echo 'Cuda compilation tools, release 13.0, V13.0.88'")
        self.assertEqual(self.wrong(self.rows(), "ptxas")["mend"], f"export TRITON_PTXAS_PATH='{better}'")
        self.assertNotIn("ptxas", self.rows(TRITON_PTXAS_PATH=str(better)))
        # From 3.6 on Triton has a ptxas of its own for these, and another variable.
        self.program("ptxas-blackwell", "echo 'Cuda compilation tools, release 12.9, V12.9.86'", self.site / "triton/backends/nvidia/bin")
        self.assertNotIn("ptxas", self.rows(TRITON_PTXAS_PATH="/nonexistent"))
        self.assertEqual(self.wrong(self.rows(PATH=str(self.bin)), "c-compiler")["code"], "WHY518")
        self.assertEqual(self.wrong(self.rows(CC="/no/such/cc"), "c-compiler")["mend"], "unset CC")

    def test_triton_of_another_generation_than_torch(self):
        self.torch(requires="Requires-Dist: triton==3.7.0; platform_system == \"Linux\"\n")
        (row,) = self.rows()["triton"]
        self.assertEqual((row["state"], row["code"]), ("warning", "WHY527"))
        self.assertTrue(row["mend"].endswith("install triton==3.7.0"))

    def test_two_installs_and_a_source_tree_that_hides_them(self):
        self.sage()
        extra = self.folder / "extra"
        self.sage(version="1.0.6", site=extra)
        rows = self.rows(PYTHONPATH=str(extra))
        (two,) = [row for row in rows["shadow"] if row["what"] == "sageattention"]
        self.assertIn("2 times: 1.0.6 in", two["found"])
        self.assertEqual(self.packages[0]["version"], "1.0.6")
        (self.work / "sageattention").mkdir()
        (self.work / "sageattention/__init__.py").write_text("")
        row = self.wrong(self.rows(), "shadow")
        self.assertIn(f"not what is installed in {self.site}", row["found"])
        # A json.py beside it is not run by the question.
        (self.work / "json.py").write_text("raise SystemExit('ran')\n")
        self.assertEqual(self.wrong(self.rows(), "shadow")["mend"], "cd /")

    def test_a_stale_build_and_a_pythonpath_of_another_python(self):
        (self.work / "build" / "temp.linux-x86_64-cpython-312").mkdir(parents=True)
        rows = self.rows()
        self.assertIn("rm -rf build", rows["path"][0]["mend"])
        row = self.wrong(self.rows(PYTHONPATH="/opt/x/lib/python3.2/site-packages"), "path")
        self.assertIn("Python 3.2", row["why"])

    def test_a_package_that_was_asked_about_and_is_not_there(self):
        self.assertNotIn("wrong", [row["state"] for ones in self.rows().values() for row in ones])
        row = self.wrong(self.rows("--plugin", "sage2"), "package")
        self.assertIn("sagekit --plugin sage2 install", row["mend"])
        # Version 3 has nothing for this GPU: its build would be refused.
        row = self.wrong(self.rows("--plugin", "sage3"), "package")
        self.assertEqual(row["mend"], "")
        self.assertIn("no loaded plugin makes code for that GPU", row["why"])

    def test_a_module_for_another_torch_is_named_with_its_symbol(self):
        broken = self.module | {"_fused": gpu_module(pathlib.Path(self.made.name) / "abi", "_fused", ("90",),
                                                     more="extern void _ZN3c106detail14torchCheckFailEPKcS2_jS2_(); _ZN3c106detail14torchCheckFailEPKcS2_jS2_();")}
        self.sage(modules=broken)
        row = self.wrong(self.rows(), "import")
        self.assertIn("undefined symbol", row["found"])

    def test_text_and_report(self):
        self.sage(TAG, DEFECTIVE)
        shown = self.doctor()
        self.assertEqual(shown.code, 1)
        for text in ("wrong", "sm90-uninitialised-output", "mend sagekit --plugin sage2 install", "sagekit explain TRU001"):
            self.assertIn(text, shown.out)
        report = self.doctor("--report", PYTHONPATH="https://ann:secret@example.org", TORCH_CUDA_ARCH_LIST="9.0")
        self.assertEqual(report.code, 1)
        for private in (str(self.home), "ann", "secret"):
            self.assertNotIn(private, report.out)
        self.assertIn("~/venv", report.out)
        self.assertIn("TORCH_CUDA_ARCH_LIST=9.0", report.out)
        self.assertIn("[TRU001]", report.out)

    def test_the_active_environment_is_looked_at(self):
        done = self.run_sagekit("doctor", "--json", env=self.environment(VIRTUAL_ENV=str(self.venv)), cwd=self.work)
        self.assertEqual(done.json()["interpreter"], str(self.python))
        self.expect(self.run_sagekit("doctor", env=self.environment()), 2, "PLG012")

    def test_what_is_no_python(self):
        self.expect(self.run_sagekit("doctor", "--interpreter", "/nonexistent/python", env=self.environment()), 2, "VFY019")
        self.expect(self.run_sagekit("doctor", "--interpreter", "/bin/true", env=self.environment()), 2, "RES002")
        listing = self.run_sagekit("doctor", "--interpreter", "/bin/ls", env=self.environment())
        self.expect(listing, 2, "RES002", "does not run Python code")
        self.assertNotIn("import sys", listing.err)

    def test_a_mend_is_of_the_python_that_was_asked_about_and_can_be_run(self):
        self.sage(init=b"import triton.language\n")
        (self.site / "triton/__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'triton'\")\n")
        row = self.wrong(self.rows(), "import")
        self.assertEqual((row["code"], row["mend"]), ("WHY416", f"'{self.python}' -m pip install triton"))
        # Any newer one is none that this torch takes.
        self.torch(requires="Requires-Dist: triton==3.7.0; platform_system == \"Linux\"\n")
        self.assertEqual(self.wrong(self.rows(), "import")["mend"], f"'{self.python}' -m pip install triton==3.7.0")
        self.torch(init="raise ImportError('libcudart.so.13: cannot open shared object file: No such file or directory')\n")
        mend = self.wrong(self.rows(), "torch")["mend"]
        self.assertIn(str(self.python), mend)
        self.assertNotRegex(mend, r"\b(URL|PACKAGE|FOLDER)\b")

    def test_a_torch_whose_libraries_are_gone_is_put_back_as_it_was(self):
        self.torch(init="raise OSError('libcufile.so.0: cannot open shared object file: No such file or directory')\n")
        row = self.wrong(self.rows(PATH=f"{self.bin}:/usr/bin:/bin"), "torch")  # no uv of the test's user
        index = "https://download.pytorch.org/whl/cu130"
        self.assertEqual((row["code"], row["mend"]),
                         ("WHY434", f"'{self.python}' -m pip install --force-reinstall torch==2.11.0 --index-url {index}"))
        self.program("uv", "exit 1")
        row = self.wrong(self.rows(), "torch")
        self.assertEqual(row["mend"], f"uv pip install --python '{self.python}' --reinstall --torch-backend=cu130 torch==2.11.0")

    def test_a_torch_that_has_no_cell_is_promised_no_build(self):
        self.torch("2.10.0+cu128", "'12.8'")
        self.sage(modules={"_qattn_sm90": self.other, "_fused": self.module["_fused"]})
        row = self.wrong(self.rows(), "runs")
        self.assertEqual(row["mend"], "")
        self.assertIn("no loaded plugin has a wheel to build for torch 2.10.0, CUDA 12.8", row["why"])

    def test_a_package_without_torch_misses_none_and_a_plugin_may_be_named_by_any_path(self):
        for name in ("torch", "triton"):
            for folder in self.site.glob(f"{name}*"):
                shutil.rmtree(folder)
        wheel = Wheel("sagekit_example", "1.0.0", "py3-none-any")
        # For ctypes: nothing of it can be imported.
        wheel.files = {"sagekit_example/__init__.py": b""} | {f"sagekit_example/_{name}.so": gpu_module(self.folder / name, "plain", ("90",))
                                                              for name in ("scaled_add", "row_softmax")}
        wheel.install(self.site)
        plugin = os.path.relpath(pathlib.Path(EXAMPLES) / "sagekit-example.so", self.work)
        done = self.run_sagekit("--plugin", plugin, "doctor", "--interpreter", self.python, "--json", env=self.environment(), cwd=self.work)
        document = done.json()
        self.assertEqual([package["name"] for package in document["packages"]], ["sagekit-example"], done.out)
        states = {row["about"]: row["state"] for row in document["rows"]}
        self.assertEqual((states["torch"], states["import"]), ("note", "good"), done.out)
        self.assertNotIn("triton", states)


if __name__ == "__main__":
    unittest.main(verbosity=1)
