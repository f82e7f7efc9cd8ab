#!/usr/bin/env python3
"""`sagekit install` with real pip (and uv, where there is one) in virtual environments, offline, against a loopback index."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import EXAMPLES, EXAMPLE_SOURCE, SAGEKIT, SOURCE_DIR, CommandLine, has_nvcc, tool

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from gpu_wheels import gpu_wheel  # noqa: E402
from index_server import IndexServer, cut, portal  # noqa: E402
from make_plugin import make_plugin  # noqa: E402
from wheels import MACHINE, Wheel, compiler  # noqa: E402

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
DIGITS = VERSION.replace(".", "")
HAS_VENV = subprocess.run([sys.executable, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0


def make_venv(folder, *words):
    subprocess.run([sys.executable, "-m", "venv", *words, folder], check=True, capture_output=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    # What sagekit reads of a torch, and what pip lists of one.
    torch = Wheel("torch", "2.9.1+cu130", "py3-none-any")
    torch.files = {"torch/__init__.py": b"", "torch/version.py": b"__version__ = '2.9.1+cu130'\ncuda = '13.0'\n"}
    torch.install(site)
    return site


def other_python():
    """Of another minor version; it needs neither venv nor torch."""
    for name in ("python3.10", "python3.11", "python3.12", "python3.13"):
        found = shutil.which(name)
        if found and name != f"python{VERSION}" and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return pathlib.Path(found)
    for found in sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        if not found.parent.parent.name.startswith(VERSION + "."):
            return found
    return None


def snapshot(folder):
    """Every file with its bytes; what Python compiles for itself is no content, nor what a store keeps of what was read."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and not {"__pycache__", "specs", "looks"} & set(p.parts)}


@unittest.skipUnless(compiler() and HAS_VENV, "no C compiler, or a Python without venv")
class Install(CommandLine):
    """`self.venv` has pip, torch 2.9.1+cu130 and a GPU that nvidia-smi tells of."""
    words = ()

    places = {}  # venvs by the words they were made with: a venv with pip takes longer than most tests

    @classmethod
    def setUpClass(cls):
        if not (compiler() and HAS_VENV):
            return
        if cls.words not in cls.places:
            template = pathlib.Path(tempfile.mkdtemp(prefix="sagekit venv "))
            unittest.addModuleCleanup(shutil.rmtree, template, ignore_errors=True)
            site = make_venv(template / "venv", *cls.words)
            cls.places[cls.words] = template / "venv", site, snapshot(site)
        cls.venv, cls.site, cls.fresh = cls.places[cls.words]

    def setUp(self):
        super().setUp()
        # Every test finds the same environment, at the same place: what the one before left is taken out, by its bytes.
        for name, content in snapshot(self.site).items():
            if name not in self.fresh:
                (self.site / name).unlink()
            elif content != self.fresh[name]:
                (self.site / name).write_bytes(self.fresh[name])
        for folder in sorted((p for p in self.site.iterdir() if p.is_dir()), reverse=True):
            if not any(name.startswith(folder.name + "/") for name in self.fresh):
                shutil.rmtree(folder)
        self.assertEqual(snapshot(self.site), self.fresh)
        self.python = self.venv / "bin" / "python"
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.nvidia_smi()
        self.dist = self.folder / "dist"

    def nvidia_smi(self, text="NVIDIA GeForce RTX 5090, 12.0, 590.44.01"):
        program = self.bin / "nvidia-smi"
        program.write_text(f"#!/bin/sh\necho '{text}'\n")
        program.chmod(0o755)

    def environment(self, **more):
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = os.pathsep.join([str(self.bin), *(p for p in os.environ["PATH"].split(os.pathsep) if not (pathlib.Path(p) / "uv").exists())])
        return super().environment() | {"HOME": str(home), "PATH": path, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "3",
                                        "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "no_proxy": "127.0.0.1,localhost"} | more

    def wheel(self, **changes):
        return gpu_wheel(self.folder / "build", DIGITS, **changes)

    def install(self, *words, place=None, **options):
        return self.run_sagekit("install", "--from", place or self.dist, "--interpreter", self.python, *words, **options)

    def has(self, name="tiny_kernels"):
        said = subprocess.run([self.python, "-I", "-c", f"import importlib.metadata as m; print(m.version('{name}'))"], capture_output=True, text=True)
        return said.stdout.strip() or None


class Works(Install):
    def test_the_wheel_that_fits_is_installed_and_tried(self):
        self.wheel().write(self.dist)
        self.wheel(version="1.0+cu130torch2.10.0").write(self.dist)
        done = self.install("--json")
        self.expect(done, 0)
        said = done.json()
        self.assertEqual((said["schema"], said["package"], said["version"], said["installer"], said["replaced"]), ("sagekit.install/1", "tiny-kernels", "1.0+cu130torch2.9.1", "pip", None))
        self.held_to_schema("install", said)
        self.assertIn("IMP001", said["passed"])
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")
        self.assertEqual(list((self.folder / "störe").glob("installs/*/journal.json")), [])
        # A second time replaces it with itself.
        again = self.install("--json")
        self.expect(again, 0)
        self.assertEqual(again.json()["replaced"], "1.0+cu130torch2.9.1")

    def test_a_package_is_imported_once(self):
        # Each import may bring a torch, which takes seconds.
        log = self.folder / "imports"
        self.wheel(init=f"open({str(log)!r}, 'a').write('x')\n".encode()).write(self.dist)
        self.expect(self.install(), 0)
        self.assertEqual(log.read_text(), "x")
        self.assertEqual(list(self.site.rglob("tiny_kernels/__pycache__/_import*")), [])

    def test_a_folder_s_wheel_that_is_not_the_published_one_is_not_installed(self):
        path = self.wheel().write(self.folder / "dist")
        row = {"file": path.name, "sha256": "0" * 64, "size_bytes": path.stat().st_size, "verdict": "pass"}
        (self.folder / "dist" / "sagekit.release.json").write_text(json.dumps({"schema": "sagekit.release/1", "wheels": [row]}))
        self.expect(self.install(place=self.folder / "dist"), 4, "RES114", "RES007", "get it once more from where it is published")
        self.assertFalse(self.has())

    def test_a_file_at_hand_asks_the_system_nothing(self):
        """pip starts these to tell an index what machine it is on; no index is asked."""
        for name in ("lsb_release", "rustc", "uname"):
            (self.bin / name).write_text(f"#!/bin/sh\ntouch '{self.folder}/{name} ran'\n")
            (self.bin / name).chmod(0o755)
        self.wheel().write(self.dist)
        self.expect(self.install(), 0)
        self.assertEqual(list(self.folder.glob("* ran")), [])

    def test_another_version_is_replaced(self):
        self.wheel(version="0.9+cu130torch2.9.1").write(self.dist)
        self.expect(self.install(), 0)
        self.wheel().write(self.dist)
        done = self.install()
        self.expect(done, 0)
        self.assertIn("in place of 0.9+cu130torch2.9.1", done.out)
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")

    def test_what_it_requires_comes_with_it_and_torch_stays(self):
        with IndexServer() as index:
            dep = Wheel("tiny_dep", "3.0")
            path = dep.write(self.folder / "made")
            index.add("tiny-dep", path.name, path.read_bytes())
            self.wheel(requires=["torch==2.9.*", "tiny_dep>=2"]).write(self.dist)
            done = self.install("--json", env=self.environment(PIP_INDEX_URL=index.url))
            self.expect(done, 0)
            self.assertEqual(done.json()["added"], ["tiny-dep 3.0"])
            self.assertEqual((self.has("tiny_dep"), self.has("torch")), ("3.0", "2.9.1+cu130"))

    def test_what_another_python_requires_stays_where_it_is(self):
        """Markers are judged with the interpreter's own facts; one that sagekit cannot judge is the installer's."""
        Wheel("steady", "2.0").install(self.site)
        with IndexServer() as index:
            for one in (Wheel("tiny_dep", "3.0"), Wheel("other_dep", "1.0"), Wheel("steady", "1.0")):
                path = one.write(self.folder / "made")
                index.add(one.project.replace("_", "-"), path.name, path.read_bytes())
            never = ["python_version < '3'", "python_full_version < '3'", "implementation_version < '3'", "platform_python_implementation == 'PyPy'",
                     "platform_machine == 'pdp11'", "platform_release == 'none'", "platform_version == 'none'"]
            requires = [f"{name}; {marker}" for marker in never for name in ("other_dep", "steady<2")]
            self.wheel(requires=[*requires, "tiny_dep>=2; python_version >= '3' and platform_version != 'none'"]).write(self.dist)
            done = self.install("--json", env=self.environment(PIP_INDEX_URL=index.url))
            self.expect(done, 0)
            self.assertEqual((done.json()["added"], done.json()["changed"]), (["tiny-dep 3.0"], []))
            self.assertEqual((self.has("tiny_dep"), self.has("other_dep"), self.has("steady")), ("3.0", None, "2.0"))

    def test_no_deps_leaves_the_rest_alone(self):
        self.wheel(requires=["tiny_dep>=2"]).write(self.dist)
        self.expect(self.install("--no-deps"), 0)
        self.assertIsNone(self.has("tiny_dep"))

    def test_dry_run_prints_and_does_nothing(self):
        self.wheel().write(self.dist)
        before = snapshot(self.venv)
        done = self.install("--dry-run")
        self.expect(done, 0)
        self.assertIn("-m pip install", done.out)
        self.assertIn("verify --installed tiny_kernels", done.out)
        self.assertEqual(snapshot(self.venv), before)
        said = self.install("--dry-run", "--json").json()
        self.held_to_schema("install", said)
        self.assertTrue(said["commands"])

    def test_what_a_dry_run_prints_leaves_what_is_there_as_the_install_does(self):
        Wheel("steady", "1.0").install(self.site)
        with IndexServer() as index:
            newer = Wheel("tiny_dep", "3.0")
            newer.metadata = newer.metadata.replace("Summary:", "Requires-Dist: steady>=2\nSummary:")
            for one in (Wheel("tiny_dep", "2.0"), newer, Wheel("steady", "2.0")):
                path = one.write(self.folder / "made")
                index.add(one.project.replace("_", "-"), path.name, path.read_bytes())
            environment = self.environment(PIP_INDEX_URL=index.url)
            self.wheel(requires=["torch==2.9.*", "tiny_dep>=2"]).write(self.dist)
            with_requirements = self.install("--dry-run", env=environment).out
            self.wheel().write(self.dist)
            self.assertNotIn("--constraint", self.install("--dry-run", env=environment).out)
            self.wheel(requires=["torch==2.9.*", "tiny_dep>=2"]).write(self.dist)
            script = with_requirements[:with_requirements.index("sagekit verify")]
            ran = subprocess.run(["sh", "-ec", script], env=environment, cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual([self.has(name) for name in ("tiny_kernels", "tiny_dep", "steady", "torch")], ["1.0+cu130torch2.9.1", "2.0", "1.0", "2.9.1+cu130"])

    def test_dockerfile_lines_hold_a_local_wheel_to_its_hash(self):
        path = self.wheel().write(self.dist)
        done = self.install("--dockerfile")
        self.expect(done, 0)
        copied = pathlib.Path("/tmp", path.name)
        self.assertIn(f'COPY ["{path.name}", "{copied}"]', done.out)
        self.assertIn("#sha256=" + hashlib.sha256(path.read_bytes()).hexdigest(), done.out)
        # As an image's builder runs it, from a folder of this test's instead of /tmp.
        body = done.out[done.out.index("RUN ") + 4:].replace("\\\n", " ").replace("file:///tmp/", self.dist.as_uri() + "/")
        tools = {"PATH": f"{self.venv / 'bin'}:{os.environ['PATH']}"}
        run = lambda: subprocess.run(["sh", "-c", body], env=self.environment() | tools, capture_output=True, text=True)  # noqa: E731
        ran = run()
        self.assertEqual(ran.returncode, 0, ran.stderr + body)
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")
        subprocess.run([self.python, "-m", "pip", "uninstall", "-y", "-q", "tiny_kernels"], check=True, capture_output=True)
        self.wheel(init=b"other = 1\n").write(self.dist)
        self.assertNotEqual(run().returncode, 0)
        self.assertIsNone(self.has())

    def test_the_way_out_is_of_what_stood_in_the_way(self):
        (self.bin / "nvidia-smi").unlink()
        empty = self.folder / "empty.whl"
        empty.write_bytes(b"")
        done = self.run_sagekit("install", empty, "--interpreter", self.python)
        self.expect(done, 4, "RES007", "empty.whl is not known to fit", "get it once more")
        self.assertNotIn("--for", done.err)
        foreign = self.folder / "sageattention-2.2.0+cu128torch2.7.1-cp312-cp312-win_amd64.whl"
        foreign.write_bytes(self.wheel().write(self.dist).read_bytes())
        done = self.run_sagekit("install", foreign, "--interpreter", self.python)
        self.expect(done, 4, "RES007", "wanted is one for linux_", "--plugin sage2-stable install --or-build")  # sage2 has no cell for torch 2.9
        # What was said of machine and Python is said again.
        self.assertIn(f"install --or-build --interpreter '{self.python}' --for", " ".join(done.err.split()))
        done = self.run_sagekit("install", foreign, "--interpreter", self.python, "--for", "gpu=H100,driver=580")
        self.assertIn(f"install --or-build --interpreter '{self.python}' --for gpu=H100,driver=580 builds it", " ".join(done.err.split()))

    def test_a_wheel_without_gpu_code_is_refused_by_no_lack_of_a_gpu(self):
        Wheel("tiny_pure", "1.0").write(self.dist)
        advice = f"{self.python}' -m pip install"
        for lacks in (False, True):
            if lacks:
                (self.bin / "nvidia-smi").unlink()
            done = self.install("--json")
            self.expect(done, 4, "RES007", advice)
            (one,) = done.json()["unknown"]
            self.assertEqual(one["code"], "RES207")
            self.assertNotIn("--for", done.err)
        # What is advised works.
        words = shlex.split(next(line for line in done.err.splitlines() if advice in line).split("nothing to choose: ")[1])
        subprocess.run(words, check=True, capture_output=True, env=self.environment())
        self.assertEqual(self.has("tiny_pure"), "1.0")

    def test_a_torch_behind_a_pth_file_is_there(self):
        venv, elsewhere = self.folder / "other", self.folder / "elsewhere"
        site = make_venv(venv, "--without-pip")
        elsewhere.mkdir()
        for one in list(site.glob("torch*")):
            shutil.move(one, elsewhere / one.name)
        self.wheel().write(self.dist)
        resolve = lambda: self.run_sagekit("resolve", "--json", "--from", self.dist, "--interpreter", venv / "bin" / "python")  # noqa: E731
        self.assertEqual([one["code"] for one in resolve().json()["refused"]], ["RES115"])
        (site / "more.pth").write_text(f"{elsewhere}\n", encoding="utf-8")
        done = resolve()
        self.expect(done, 0)
        self.assertEqual(done.json()["machine"]["torch"], "2.9.1")

    def test_a_store_of_somebody_else_is_no_obstacle(self):
        self.wheel().write(self.dist)
        theirs = self.folder / "theirs"  # a file: not even root makes a folder below it
        theirs.write_text("")
        done = self.install("-v", env=self.environment(SAGEKIT_STORE=str(theirs / "store")))
        self.expect(done, 0)
        self.assertIn("cannot be written: " + str(self.folder / "home" / ".cache" / "sagekit") + " serves", done.err)
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")
        self.expect(self.install("--store", theirs / "store"), 2, "FIL002", "--store DIR")

    def test_a_named_gpu_serves_where_images_are_built(self):
        (self.bin / "nvidia-smi").unlink()
        self.wheel().write(self.dist)
        done = self.install()
        self.expect(done, 4, "RES007", "--for 'gpu=NAME,driver=VERSION'")
        self.assertNotIn("RTX", done.err.split("RES007")[1], "nobody said which GPU it is")
        self.expect(self.install("--for", "gpu=RTX 5090"), 0)
        self.expect(self.install("--for", "torch=2.10.0"), 2, "CLI001")


class Undone(Install):
    def refuses(self, wheel, code, *texts, exit_code=1, words=(), **options):
        shutil.rmtree(self.dist, ignore_errors=True)
        wheel.write(self.dist)
        before = snapshot(self.venv)
        done = self.install(*words, **options)
        self.expect(done, exit_code, code, *texts)
        self.assertEqual(snapshot(self.venv), before)
        return done

    def test_a_package_that_does_not_import_is_taken_out_again(self):
        self.refuses(self.wheel(init=b"raise RuntimeError('no luck')\n"), "IST008", "no luck", "it was taken out again")

    def test_why_it_does_not_import_is_told_with_the_mend(self):
        done = self.refuses(self.wheel(init=b"raise ImportError('/x/_k.so: undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKSs')\n"), "IST008")
        self.assertIn("sagekit explain WHY401", done.err)
        self.assertIn("mend: ", done.err)
        done = self.refuses(self.wheel(init=b"from json import no_such_name\n"), "IST008", "WHY430")
        self.assertIn(f"mend: {shlex.quote(str(self.python))} -m pip check", " ".join(done.err.split()))

    def test_the_mend_is_for_this_system(self):
        done = self.refuses(self.wheel(init=b"import triton\n"), "IST008", "WHY416")
        self.assertNotIn("triton-windows", done.err)
        self.assertIn(f"mend: {shlex.quote(str(self.python))} -m pip install ", " ".join(done.err.split()))
        with IndexServer() as index:
            done = self.refuses(self.wheel(requires=["triton"]), "IST007", "WHY303", env=self.environment(PIP_INDEX_URL=index.url))
        self.assertNotIn("triton-windows", done.err)

    def test_a_module_that_ends_the_interpreter_is_taken_out_again(self):
        self.refuses(self.wheel(more="__builtin_trap();"), "IST008", "IMP004")

    def test_what_was_there_is_back_byte_for_byte(self):
        self.wheel(version="0.9+cu130torch2.9.1").write(self.dist)
        self.expect(self.install(), 0)
        self.refuses(self.wheel(init=b"import nothing_here\n"), "IST008", "tiny-kernels 0.9+cu130torch2.9.1 is back")
        self.assertEqual(self.has(), "0.9+cu130torch2.9.1")

    def test_dependencies_that_came_with_it_go_with_it(self):
        with IndexServer() as index:
            path = Wheel("tiny_dep", "3.0").write(self.folder / "made")
            index.add("tiny-dep", path.name, path.read_bytes())
            self.wheel(requires=["tiny_dep>=2"], init=b"import tiny_dep\nraise RuntimeError('late')\n").write(self.dist)
            before = snapshot(self.venv)
            self.expect(self.install(env=self.environment(PIP_INDEX_URL=index.url)), 1, "IST008", "late")
            self.assertEqual(snapshot(self.venv), before)

    def test_a_requirement_that_nobody_has(self):
        done = self.refuses(self.wheel(requires=["nobody_has_this >= 2"]), "IST007")
        self.assertEqual(self.by_hand(done).returncode, 1)

    def by_hand(self, done):
        """What is said to be run by hand, typed."""
        line = done.err.split("run it by hand to see all of it: ")[1].splitlines()[0]
        ran = subprocess.run(["sh", "-c", line], env=self.environment(), capture_output=True, text=True)
        self.assertNotIn("No such file", ran.stderr)
        self.assertIn("ERROR: No matching distribution found for nobody_has_this>=2", ran.stderr)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir() if p.name.startswith("=")), [])
        return ran

    def test_other_packages_are_never_changed(self):
        Wheel("steady", "1.0").install(self.site)
        with IndexServer() as index:
            dep = Wheel("tiny_dep", "3.0")
            dep.metadata = dep.metadata.replace("Summary:", "Requires-Dist: steady>=2\nSummary:")
            for one in (dep, Wheel("steady", "2.0")):
                path = one.write(self.folder / "made")
                index.add(one.project.replace("_", "-"), path.name, path.read_bytes())
            self.wheel(requires=["tiny_dep>=2"]).write(self.dist)
            before = snapshot(self.venv)
            self.expect(self.install(env=self.environment(PIP_INDEX_URL=index.url)), 1, "IST007")
            self.assertEqual(snapshot(self.venv), before)

    def test_what_is_there_keeps_what_it_pins(self):
        """As a torch pins its triton: whether that is there in the version it wants, or is missing."""
        pinning = Wheel("steady", "1.0")
        pinning.metadata = pinning.metadata.replace("Summary:", "Requires-Dist: tiny_dep==2.0; sys_platform == 'linux'\nRequires-Dist: tiny_dep<1; extra == 'old'\nSummary:")
        pinning.install(self.site)
        with IndexServer() as index:
            for version in ("2.0", "3.0"):
                path = Wheel("tiny_dep", version).write(self.folder / "made")
                index.add("tiny-dep", path.name, path.read_bytes())
            asked = self.environment(PIP_INDEX_URL=index.url)
            self.wheel(requires=["tiny_dep"]).write(self.dist)
            self.expect(self.install(env=asked), 0)
            self.assertEqual(self.has("tiny_dep"), "2.0")
            self.wheel(requires=["tiny_dep>=3"]).write(self.dist)
            self.expect(self.install(env=asked), 1, "IST007")
            self.assertEqual(self.has("tiny_dep"), "2.0")

    def test_an_interrupted_trial_is_undone(self):
        self.wheel(version="0.9+cu130torch2.9.1").write(self.dist)
        self.expect(self.install(), 0)
        before = snapshot(self.venv)
        started = self.folder / "started"
        shutil.rmtree(self.dist)
        self.wheel(init=f"open({str(started)!r}, 'w').close()\nimport time\ntime.sleep(20)\n".encode()).write(self.dist)
        process = subprocess.Popen([str(SAGEKIT), "install", "--from", str(self.dist), "--interpreter", str(self.python)], env=self.environment(), cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
        deadline = time.monotonic() + 120
        while not started.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        self.assertTrue(started.exists())
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("tiny-kernels 0.9+cu130torch2.9.1 is back", said)
        self.assertEqual(snapshot(self.venv), before)

    def test_a_killed_install_is_put_back_by_the_next(self):
        self.wheel(version="0.9+cu130torch2.9.1").write(self.dist)
        self.expect(self.install(), 0)
        before = snapshot(self.venv)
        journals = lambda: list((self.folder / "störe").glob("installs/*/journal.json"))  # noqa: E731
        # As soon as there is something to put back; and after the installer, where an import that never ends holds it.
        for reached in (journals, lambda: self.has() == "1.0+cu130torch2.9.1"):
            shutil.rmtree(self.dist)
            self.wheel(init=b"import time\ntime.sleep(600)\n").write(self.dist)
            process = subprocess.Popen([str(SAGEKIT), "install", "--from", str(self.dist), "--interpreter", str(self.python)], env=self.environment(), cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            deadline = time.monotonic() + 120
            while not reached() and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.02)
            self.assertTrue(reached())
            # Two at once: the second leaves the environment to the first.
            self.expect(self.install(), 3, "IST005", "another sagekit is installing into")
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.assertEqual(len(journals()), 1)
            shutil.rmtree(self.dist)
            self.wheel(version="1.1+cu130torch2.9.1", init=b"raise RuntimeError('again')\n").write(self.dist)
            done = self.install()
            self.expect(done, 1, "an install here was cut", "IST008")
            self.assertEqual(snapshot(self.venv), before)

    def test_what_came_after_a_killed_install_stays(self):
        """Its journal may be weeks old: what it was not about to change is nobody's but the user's."""
        self.wheel(init=b"import time\ntime.sleep(600)\n").write(self.dist)
        (self.site / "gone-1.0.dist-info").mkdir()
        (self.site / "gone-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: gone\nVersion: 1.0\n")
        process = subprocess.Popen([str(SAGEKIT), "install", "--from", str(self.dist), "--interpreter", str(self.python)], env=self.environment(), cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 120
        while self.has() != "1.0+cu130torch2.9.1" and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        (self.site / "gone-1.0.dist-info").rename(self.site / "later-2.0.dist-info")
        later = self.site / "later-2.0.dist-info"
        (later / "METADATA").write_text("Metadata-Version: 2.1\nName: later\nVersion: 2.0\n")
        (later / "RECORD").write_text("later-2.0.dist-info/METADATA,,\nlater-2.0.dist-info/RECORD,,\n")
        shutil.rmtree(self.dist)
        self.wheel().write(self.dist)
        self.expect(self.install(), 0, "an install here was cut")
        self.assertTrue((later / "METADATA").exists(), "a package of the user was taken out")
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")


class OrBuild(Install):
    @unittest.skipUnless(has_nvcc(), "no nvcc: nothing is built")
    def test_where_nothing_fits_a_wheel_is_made_here_and_installed(self):
        """Without a GPU: the numeric gate is tried on machines that have one (tests/real/or_build.sh)."""
        self.wheel(version="1.0+cu130torch2.10.0").write(self.dist)
        words = ["--plugin-dir", EXAMPLES, "--plugin", "example", "install", "--from", self.dist, "--package", "sagekit-example", "--interpreter", self.python,
                 "--for", "gpu=H100,driver=580", "--source", EXAMPLE_SOURCE]
        self.expect(self.run_sagekit(*words), 4, "RES005", "one of: tiny-kernels", "--or-build")
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "sagekit-other.so").write_text("no plugin")
        printed = self.run_sagekit(*words, "--or-build", "--dry-run", "--plugin-dir", broken)
        self.expect(printed, 0)
        self.assertEqual(printed.err.count("plugin not loaded"), 1, printed.err)
        self.assertIn("--arch 9.0", printed.out)
        self.assertRegex(printed.out, r"sagekit install --from .*built.* --interpreter .*bin/python.* --for gpu=H100,driver=580")
        done = self.run_sagekit(*words, "--or-build")
        self.expect(done, 0, "building a wheel for this machine")
        self.assertIn("sagekit-example", done.out)
        said = subprocess.run([self.python, "-I", "-c", "import sagekit_example"], capture_output=True, text=True)
        self.assertTrue(said.returncode == 0 or "libcuda" in said.stderr, said.stderr)
        # The plugin's next edition gives another wheel the same name.
        text = (SOURCE_DIR / "examples/plugin/plugin.toml").read_text().replace("Two small CUDA kernels", "Two CUDA kernels")
        later = make_plugin(text, self.folder / "sagekit-example.so")
        self.expect(self.run_sagekit("--plugin", later, *words[4:], "--or-build"), 0, "building a wheel for this machine")

    def test_a_build_that_cannot_be_is_neither_printed_nor_advised(self):
        shutil.move(self.site / "torch", self.folder / "torch")
        self.addCleanup(shutil.move, self.folder / "torch", self.site / "torch")
        done = self.run_sagekit("--plugin", "sage2", "install", "--or-build", "--dry-run", "--interpreter", self.python, "--for", "gpu=H100,driver=580")
        self.expect(done, 3, "RES009", "no torch with CUDA", "install torch there first")
        self.assertEqual(done.out, "")
        self.assertNotIn("PYTHONPATH", done.err)
        elsewhere = self.environment(PYTHONPATH=str(self.folder))
        done = self.run_sagekit("--plugin", "sage2", "install", "--or-build", "--dry-run", "--interpreter", self.python, "--for", "gpu=H100,driver=580", env=elsewhere)
        self.expect(done, 3, "RES009", "PYTHONPATH is set")
        foreign = self.folder / "sageattention-2.2.0+cu128torch2.7.1-cp312-cp312-win_amd64.whl"
        foreign.write_bytes(self.wheel().write(self.dist).read_bytes())
        done = self.run_sagekit("install", foreign, "--interpreter", self.python)
        self.expect(done, 4, "RES007", "install torch there first")
        self.assertNotIn("--or-build", done.err)

    def test_a_torch_that_no_plugin_has_a_cell_for_is_promised_nothing(self):
        (self.site / "torch/version.py").write_text("__version__ = '2.10.0+cu128'\ncuda = '12.8'\n")
        words = ["--plugin", "sage2", "install", "--or-build", "--interpreter", self.python, "--for", "gpu=RTX 3060,driver=580"]
        for more in (["--dry-run"], []):
            done = self.run_sagekit(*words, *more)
            self.expect(done, 4, "PLN004", "has no wheel to build for torch 2.10, CUDA 12.8", "2.11.0")
            self.assertEqual(done.out, "")
            self.assertNotIn("building a wheel", done.err)
        self.dist.mkdir()
        done = self.run_sagekit("--plugin", "sage2", "install", "--from", self.dist, "--interpreter", self.python)
        self.assertEqual(done.code, 4, done.err)
        self.assertNotIn("--or-build", done.err)
        foreign = self.folder / "sageattention-2.2.0+cu128torch2.7.1-cp312-cp312-win_amd64.whl"
        foreign.write_bytes(self.wheel().write(self.dist).read_bytes())
        done = self.run_sagekit("--plugin", "sage2", "install", foreign, "--interpreter", self.python, "--for", "gpu=RTX 3060,driver=580")
        self.expect(done, 4, "RES007", "has no wheel to build for torch 2.10")
        self.assertNotIn("--or-build", done.err)

    def test_what_a_dry_run_prints_of_for_an_install_takes(self):
        done = self.run_sagekit("--plugin", "sage2", "install", "--or-build", "--dry-run", "--interpreter", self.python,
                                "--for", "gpu=RTX 3060, torch=2.11.0+cu130,python=3.12,driver=580")
        self.expect(done, 0)
        self.assertIn("--for 'gpu=RTX 3060,driver=580'", done.out.splitlines()[-1])
        self.assertIn("--torch 2.11", done.out)

    def test_what_is_no_python_says_nothing_of_how_it_was_asked(self):
        self.wheel().write(self.dist)
        done = self.run_sagekit("install", "--from", self.dist, "--interpreter", "/bin/ls")
        self.expect(done, 2, "RES002", "does not run Python code")
        self.assertNotIn("import json", done.err)

    def test_another_platform_is_no_missing_python(self):
        self.wheel().write(self.dist)
        done = self.install("--dry-run", "--for", "gpu=RTX 5090,platform=win_amd64,torch=2.9.1+cu130,python=3.12")
        self.expect(done, 2, "IST001", "win_amd64", "leave platform out of --for")
        self.assertNotIn("no Python was found", done.err)

    def test_the_environment_s_own_pip_knows_where_compilers_are(self):
        # A Debian without python3-pip: pip is in the environment alone.
        index = IndexServer()
        self.addCleanup(index.close)
        with (self.site / "pip/_internal/models/index.py").open("a") as pip:
            pip.write(f"\nPyPI.simple_url = {index.url!r}\n")
        (self.bin / "g++").symlink_to(shutil.which("g++"))
        environment = self.environment(PATH=str(self.bin), PIP_INDEX_URL="")
        # sage2 wants torch's headers, which this torch is without.
        (self.site / "torch/version.py").write_text("__version__ = '2.11.0+cu130'\ncuda = '13.0'\n")
        done = self.run_sagekit("--plugin", "sage2", "install", "--or-build", "--interpreter", self.python, "--for", "gpu=H100,driver=580", env=environment)
        self.expect(done, 3, "building a wheel for this machine", index.url)
        self.assertNotIn("IDX014", done.err)
        self.assertTrue(index.asked("/simple/*"))


IN_A_SMALL_DISK = r"""
import json, os, pathlib, shutil, subprocess, sys, tempfile
place, kilobytes, *words = sys.argv[1:]
place = pathlib.Path(place)
kept = pathlib.Path(tempfile.mkdtemp())
if place.exists(): shutil.copytree(place, kept, symlinks=True, dirs_exist_ok=True)
place.mkdir(parents=True, exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], check=True)
shutil.copytree(kept, place, symlinks=True, dirs_exist_ok=True)
shutil.rmtree(kept)
free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize - int(kilobytes) * 1024
(place / "others.bin").write_bytes(b"x" * max(free, 0))
def files(): return {str(p.relative_to(place)): 0 for p in place.rglob("*") if p.is_dir() and not {"__pycache__", "specs", "looks"} & set(p.parts)} | {str(p.relative_to(place)): hash(p.read_bytes()) for p in sorted(place.rglob("*")) if p.is_file() and not {"__pycache__", "specs", "looks"} & set(p.parts)}
before = files()
done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
print(json.dumps({"code": done.returncode, "out": done.stdout, "err": done.stderr, "same": files() == before, "more": sorted(files().keys() ^ before.keys())}))
"""
MOUNTS = ["unshare", "--mount", "--map-root-user"] if os.getuid() else ["unshare", "--mount"]
CAN_MOUNT = shutil.which("unshare") is not None and subprocess.run([*MOUNTS, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0


@unittest.skipUnless(CAN_MOUNT, "this user cannot mount a small disk in a namespace of its own")
class FullDisk(Install):
    def on_a_disk_of(self, place, kilobytes, *source):
        words = [*MOUNTS, sys.executable, "-c", IN_A_SMALL_DISK, place, kilobytes, SAGEKIT, "install", "--from", *(source or [self.dist]), "--interpreter", self.python]
        done = subprocess.run([str(word) for word in words], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def big(self, **changes):
        wheel = self.wheel(**changes)
        wheel.files["tiny_kernels/weights.bin"] = os.urandom(1_500_000)
        return wheel

    def test_of_the_environment(self):
        self.big().write(self.dist)
        said = self.on_a_disk_of(self.site, 600)
        self.assertEqual(said["code"], 1, said)
        self.assertIn("IST007", said["err"])
        self.assertIn("No space left on device", said["err"])
        self.assertIn("it was taken out again", said["err"])
        self.assertTrue(said["same"], said["more"])

    def test_of_the_environment_whose_folder_of_that_name_is_the_user_s(self):
        self.big().write(self.dist)
        (self.site / "tiny_kernels/kept").mkdir(parents=True)
        said = self.on_a_disk_of(self.site, 600)
        self.assertEqual(said["code"], 1, said)
        self.assertTrue(said["same"], said["more"])

    def test_of_the_environment_that_has_another_version(self):
        self.wheel(version="0.9+cu130torch2.9.1").write(self.dist)
        self.expect(self.install(), 0)
        self.big().write(self.dist)
        said = self.on_a_disk_of(self.site, 600)
        self.assertEqual(said["code"], 1, said)
        self.assertIn("tiny-kernels 0.9+cu130torch2.9.1 is back", said["err"])
        self.assertTrue(said["same"], said["more"])

    def test_of_the_store(self):
        self.big(version="0.9+cu130torch2.9.1").write(self.dist)
        self.expect(self.install(), 0)
        before = snapshot(self.venv)
        self.big().write(self.dist)
        said = self.on_a_disk_of(self.folder / "störe", 600)
        self.assertEqual(said["code"], 3, said)
        self.assertRegex(said["err"], "FIL002.*no space is left there")
        self.assertTrue(said["same"], said["more"])
        self.assertEqual(snapshot(self.venv), before)

    def test_of_the_store_while_downloading(self):
        path = self.big().write(self.folder / "made")
        before = snapshot(self.venv)
        with IndexServer() as index:
            index.add("tiny-kernels", path.name, path.read_bytes())
            said = self.on_a_disk_of(self.folder / "störe", 600, index.url, "--package", "tiny-kernels")
        self.assertEqual(said["code"], 3, said)
        self.assertIn("No space left on device", said["err"])
        self.assertIn("free some space", said["err"])
        self.assertEqual([name for name in said["more"] if name.endswith(".whl")], [])
        self.assertEqual(snapshot(self.venv), before)


class Refused(Install):
    def test_nothing_of_a_refused_wheel_is_run(self):
        marker = self.folder / "ran"
        self.wheel(version="1.0+cu130torch2.10.0", init=f"open({str(marker)!r}, 'w')\n".encode()).write(self.dist)
        before = snapshot(self.venv)
        done = self.install()
        self.expect(done, 4, "RES007", "RES105", "wanted is one for")
        for words in (("--json",), ("--json", "--dry-run")):
            said = self.install(*words).json()
            self.assertEqual((said["schema"], said["fits"], said["unknown"], [one["code"] for one in said["refused"]]), ("sagekit.install/1", [], [], ["RES105"]))
        self.assertFalse(marker.exists())
        self.assertEqual(snapshot(self.venv), before)

    def test_an_environment_of_the_system(self):
        system = pathlib.Path("/usr/bin/python3")
        marker = list(pathlib.Path("/usr/lib").glob("python3.*/EXTERNALLY-MANAGED"))
        if not (system.exists() and marker):
            self.skipTest("this system's Python is not externally managed")
        self.wheel().write(self.dist)
        self.python = system
        self.expect(self.install("--for", "gpu=RTX 5090"), 3, "IST002", "PEP 668")

    def test_an_environment_that_cannot_be_written(self):
        self.wheel().write(self.dist)
        words = [SAGEKIT, "install", "--from", self.dist, "--interpreter", self.python]
        if os.getuid():
            self.site.chmod(0o555)
            self.addCleanup(self.site.chmod, 0o755)
        elif CAN_MOUNT:  # root may write anywhere but on a read-only disk
            words = [*MOUNTS, "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', self.site, *words]
        else:
            self.skipTest("root, which cannot mount a read-only disk here")
        done = subprocess.run([str(word) for word in words], env=self.environment(), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("IST003", done.stderr)
        self.assertIn(f"{self.site} cannot be written", done.stderr)
        self.assertIn("python3 -m venv", done.stderr)

    @unittest.skipUnless(other_python(), "there is no other Python that works")
    def test_an_environment_of_another_python(self):
        """The wheel is for the Python that runs this test; the environment has another."""
        self.wheel().write(self.dist)
        self.python = other_python()
        done = self.install("--for", "gpu=RTX 5090", "--json")
        self.expect(done, 4, "RES007", "RES101")

    def test_words_that_do_not_fit(self):
        self.expect(self.run_sagekit("install"), 2, "CLI001", "--from")
        self.wheel().write(self.dist)
        self.expect(self.install("--fallback", "x==1"), 2, "CLI001", "--dockerfile")
        self.python = "/no/python"
        self.expect(self.install(), 2, "VFY019")


class Downloads(Install):
    def setUp(self):
        super().setUp()
        self.index = IndexServer()
        self.addCleanup(self.index.close)

    def add(self, wheel=None, **more):
        path = (wheel or self.wheel()).write(self.folder / "made")
        self.index.add("tiny-kernels", path.name, path.read_bytes(), **more)
        return path

    def fetch(self, *words, **options):
        return self.install("--package", "tiny-kernels", *words, place=self.index.url, **options)

    def test_a_wheel_of_an_index(self):
        self.add()
        self.expect(self.fetch(), 0)
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")

    def test_another_hash_than_published(self):
        self.add(sha256="0" * 64)
        before = snapshot(self.venv)
        self.expect(self.fetch(), 1, "IST006")
        self.assertEqual(snapshot(self.venv), before)
        self.assertEqual(list((self.folder / "störe").rglob("*.whl")), [])

    def test_a_page_with_another_hash_than_sha256(self):
        path = self.add()
        digest = hashlib.sha512(path.read_bytes()).hexdigest()
        page = f"{self.index.base}/page/simple"
        for hash, code, texts in (("0" * 128, 1, ("IST006", "sha512=" + digest)), (digest, 0, ())):
            self.index.put("/page/simple", f'<!DOCTYPE html><title>Links for x</title><a href="../files/{path.name}#sha512={hash}">x</a>'.encode(), "text/html")
            done = self.run_sagekit("install", page, "--interpreter", self.python)
            self.expect(done, code, *texts)
            self.assertNotIn("without a hash", done.err)
        self.assertIn("#sha512=" + digest, self.run_sagekit("install", page, "--interpreter", self.python, "--dockerfile").out)

    def test_no_hash_is_said(self):
        path = self.add()
        bare = self.index.url.rsplit("/simple", 1)[0] + "/files/" + path.name.replace("+", "%2B")
        done = self.run_sagekit("install", bare, "--interpreter", self.venv)
        self.expect(done, 0, "comes without a hash")
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        again = self.run_sagekit("install", f"{bare}#sha256={digest}", "--interpreter", self.python)
        self.expect(again, 0)
        self.assertNotIn("without a hash", again.err)
        self.expect(self.run_sagekit("install", f"{bare}#sha256={'0' * 64}", "--interpreter", self.python), 1, "IST006")

    def test_a_hash_is_checked_or_refused_wherever_it_stands(self):
        path = self.add()
        bare = self.index.url.rsplit("/simple", 1)[0] + "/files/" + path.name.replace("+", "%2B")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        for words in ("egg=tiny_kernels&sha256=", "sha256="):
            self.expect(self.run_sagekit("install", f"{bare}#{words}{'0' * 64}", "--interpreter", self.python), 1, "IST006")
        for words, why in (("sha256=" + digest[:6], "64 digits"), ("sha256=" + "Z" * 64, "64 digits"), ("egg=x&sha256=", "64 digits"), ("sha256", "64 digits"), ("sha512=00", "only sha256"), ("md5=" + "0" * 32, "only sha256"),
                           (f"sha256={digest}&sha256={'0' * 64}", "two sha256")):
            self.expect(self.run_sagekit("install", f"{bare}#{words}", "--interpreter", self.python), 2, "RES003", why)
        self.assertIsNone(self.has())
        done = self.run_sagekit("install", f"{bare}#egg=tiny_kernels&sha256={digest.upper()}", "--interpreter", self.python)
        self.expect(done, 0)
        self.assertNotIn("without a hash", done.err)

    def test_a_cut_download_goes_on(self):
        wheel = self.wheel()
        wheel.files["tiny_kernels/weights.bin"] = os.urandom(3_000_000)
        path = self.add(wheel)
        # The last request is the download itself; those before read ranges.
        self.index.fault("*.whl", lambda handler, file: handler.serve(file, stop_after=1_000_000) if not handler.headers.get("Range") else False, times=None)
        done = self.fetch()
        self.expect(done, 0)
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")
        self.assertLess(self.index.moved(f"/files/{path.name}"), 5_000_000)

    def test_a_page_instead_of_the_wheel(self):
        self.add()
        self.index.fault("*.whl", lambda handler, file: portal()(handler, file) if not handler.headers.get("Range") else False)
        before = snapshot(self.venv)
        done = self.fetch()
        self.assertEqual(done.code, 1, done.err)
        self.assertEqual(snapshot(self.venv), before)
        self.assertEqual(list((self.folder / "störe").rglob("*.whl")), [])

    def test_a_file_that_is_not_what_its_ranges_were(self):
        self.add()
        other = self.wheel(targets=("80",), requires=["torch==2.8.*"]).write(self.folder / "other").read_bytes()
        self.index.fault("*.whl", lambda handler, file: handler.answer(200, other, file.kind) if not handler.headers.get("Range") else False)
        self.assertEqual(self.fetch().code, 1)
        self.assertIsNone(self.has())

    def test_dockerfile_lines_run_and_fail_loudly(self):
        path = self.add()
        done = self.fetch("--dockerfile", "--fallback", "tiny_dep==3.0", "--for", "gpu=RTX 5090")
        self.expect(done, 0)
        self.assertIn("#sha256=", done.out)
        body = done.out[done.out.index("RUN ") + 4:].replace("\\\n", " ")
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "python3").symlink_to(self.python)
        env = self.environment() | {"PATH": f"{self.venv / 'bin'}:{os.environ['PATH']}"}
        ran = subprocess.run(["sh", "-c", body], env=env, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr + body)
        self.assertEqual(self.has(), "1.0+cu130torch2.9.1")
        subprocess.run([self.python, "-m", "pip", "uninstall", "-y", "-q", "tiny_kernels"], check=True, capture_output=True)
        self.index.swap(path.name, b"not the wheel")
        ran = subprocess.run(["sh", "-c", body], env=env, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn("ERROR:", ran.stderr)
        self.assertIn("--build-arg tiny_kernels_FALLBACK=yes", ran.stderr)
        dep = Wheel("tiny_dep", "3.0").write(self.folder / "made")
        self.index.add("tiny-dep", dep.name, dep.read_bytes())
        ran = subprocess.run(["sh", "-c", body], env=env | {"tiny_kernels_FALLBACK": "yes", "PIP_INDEX_URL": self.index.url}, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("WARNING:", ran.stderr)
        self.assertEqual(self.has("tiny_dep"), "3.0")


class WithoutPip(Install):
    words = ("--without-pip",)

    def test_neither_pip_nor_uv(self):
        self.wheel().write(self.dist)
        self.expect(self.install(), 3, "IST004", f"'{self.python}' -m ensurepip")

    def test_uv_serves_an_environment_without_pip(self):
        uv = tool("uv")
        if uv is None:
            self.skipTest("uv is not here: scripts/test-tools brings it")
        (self.bin / "uv").symlink_to(uv)
        with IndexServer() as index:
            path = Wheel("tiny_dep", "3.0").write(self.folder / "made")
            index.add("tiny-dep", path.name, path.read_bytes())
            self.wheel(version="0.9+cu130torch2.9.1", requires=["torch==2.9.*", "tiny_dep>=2"]).write(self.dist)
            done = self.install("--json", env=self.environment(UV_DEFAULT_INDEX=index.url))  # uv's own, not pip's
        self.expect(done, 0)
        self.assertEqual((done.json()["installer"], done.json()["added"]), ("uv", ["tiny-dep 3.0"]))
        before = snapshot(self.site)
        shutil.rmtree(self.dist)
        self.wheel(init=b"raise RuntimeError('no luck')\n").write(self.dist)
        self.expect(self.install(), 1, "IST008", "is back")
        self.assertEqual(snapshot(self.site), before)


if __name__ == "__main__":
    unittest.main()
