#!/usr/bin/env python3
"""Wheel variants (PEP 825, a draft): a wheel with GPU code gets a label of what was measured in it, and the real uv chooses
by it for the GPU and driver that its own overrides name. Skipped where there is no uv that knows variants."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import wheels
from gpu_wheels import fatbin
from harness import SAGEKIT, CommandLine, tool
from index_test import Served

SEEDS = SAGEKIT.parent / "write_seeds"  # makes a fatbin: machine code for 9.0a and PTX of compute_90, CUDA 13.0


def uv_with_variants():
    """None: no uv, or one before 0.13."""
    uv = tool("uv")
    if uv is None:
        return None
    version = subprocess.run([uv, "--version"], capture_output=True, text=True).stdout.split()[1].split(".")
    return uv if (int(version[0]), int(version[1])) >= (0, 13) else None


@unittest.skipUnless(SEEDS.exists() and wheels.compiler(), "needs write_seeds and a C compiler")
class Variant(CommandLine):
    def gpu_wheel(self, code=None, folder="files", version="2.2.0"):
        """A wheel with one module that has this fatbin; without one that of write_seeds."""
        if code is None:
            subprocess.run([SEEDS, self.folder / "seeds"], check=True)
            code = (self.folder / "seeds" / "fatbin" / "l").read_bytes()
        source, library = self.folder / "gpu.c", self.folder / "gpu.so"
        (self.folder / "code.fatbin").write_bytes(code)
        source.write_text('''void *PyInit__k(void) { return 0; }
__asm__(".section .nv_fatbin,\\"a\\"\\n.balign 8\\nfat:\\n.incbin \\"code.fatbin\\"\\n.text\\n");
extern char fat;
struct wrapper { int magic, version; void *data, *file; };
__attribute__((section(".nvFatBinSegment"), used)) static struct wrapper one = {0x466243b1, 1, &fat, 0};
''')
        subprocess.run([wheels.compiler(), "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noexecstack", "-o", library, source],
                       check=True, cwd=self.folder)
        wheel = wheels.Wheel("tiny", version, f"cp312-cp312-linux_{wheels.MACHINE}")
        wheel.files[f"tiny/_k{wheels.SUFFIX}"] = library.read_bytes()
        return wheel.write(self.folder / folder)

    def variant(self, wheel):
        done = self.run_sagekit("retag", "--variant", "auto", wheel, "--json")
        self.expect(done, 0)
        path = pathlib.Path(done.json()["wheels"][0]["path"])
        with zipfile.ZipFile(path) as archive:
            return path, json.loads(archive.read("tiny-2.2.0.dist-info/variant.json"))

    def test_the_label_says_what_was_measured(self):
        wheel = self.gpu_wheel()
        path, said = self.variant(wheel)
        self.assertEqual(path.name, f"tiny-2.2.0-cp312-cp312-linux_{wheels.MACHINE}-cu130_sm90.whl")
        self.assertTrue(said["$schema"].endswith("/peps/825/v0.1.1.json"))
        self.assertEqual(said["variants"], {"cu130_sm90": {"nvidia": {"cuda_version_lower_bound": ["13.0"], "sm_arch": ["90_real"]}}})
        findings = {f["code"]: f for f in self.run_sagekit("verify", path, "--json", "--all").json()["wheels"][0]["findings"]}
        for code in ("VAR100", "VAR101", "VAR102", "VAR103", "VAR104", "VAR105", "VAR106"):
            self.assertEqual(findings[code]["result"], "pass", findings[code])
        self.assertEqual(self.run_sagekit("name", path.name, "--json").json()["variant"], "cu130_sm90")
        plain = wheels.Wheel("pure", "1.0").write(self.folder / "pure")
        self.expect(self.run_sagekit("retag", "--variant", "auto", plain), 1, "RTG009")
        self.expect(self.run_sagekit("retag", "--variant", "Upper", wheel), 2, "RTG007")

    def two_variants(self):
        """A folder with a plain wheel, its variant for 9.0, and another maker's for 12.0 (PTX alone, as gpu_wheels makes it)."""
        folder = self.variant(self.gpu_wheel())[0].parent
        other, said = self.variant(self.gpu_wheel(fatbin(("120",)), "other"))
        self.assertEqual(said["variants"], {"cu130_sm120": {"nvidia": {"cuda_version_lower_bound": ["13.0"], "sm_arch": ["120_virtual"]}}})
        shutil.copy(other, folder)
        return folder

    def test_an_index_lists_variants_when_it_is_asked_to(self):
        folder = self.two_variants()
        done = self.run_sagekit("index", folder)
        self.expect(done, 0, "2 wheel variants are left out", "--variants")
        page = json.loads((folder / "simple/tiny/index.json").read_text())
        self.assertEqual([file["filename"] for file in page["files"]], [f"tiny-2.2.0-cp312-cp312-linux_{wheels.MACHINE}.whl"])
        done = self.run_sagekit("index", folder, "--variants", "--json")
        self.expect(done, 0, "experimental", "0.1.1")
        self.assertEqual(done.json()["variants"], {"format": "0.1.1", "experimental": True, "files": ["tiny/tiny-2.2.0-variants.json"]})
        self.held_to_schema("index", done.json())
        page = json.loads((folder / "simple/tiny/index.json").read_text())
        self.assertEqual(len(page["files"]), 4)
        self.assertEqual(page["versions"], ["2.2.0"])
        listed = (folder / "simple/tiny/tiny-2.2.0-variants.json").read_bytes()
        self.assertEqual(sorted(json.loads(listed)["variants"]), ["cu130_sm120", "cu130_sm90"])
        self.assertIn(hashlib.sha256(listed).hexdigest(), (folder / "simple/tiny/index.html").read_text())
        # Of a manifest alone the same; and without the word the file is gone again.
        self.run_sagekit("release", folder, "--base-url", "https://example.org/v1")
        self.expect(self.run_sagekit("index", folder / "sagekit.release.json", "--variants", "-o", self.folder / "site"), 0)
        self.assertEqual((self.folder / "site/tiny/tiny-2.2.0-variants.json").read_bytes(), listed)
        self.expect(self.run_sagekit("index", folder), 0)
        self.assertFalse((folder / "simple/tiny/tiny-2.2.0-variants.json").exists())

    def test_variants_that_contradict_each_other_are_refused(self):
        folder = self.two_variants()
        # The same label for other properties: of a wheel with another build tag, which is another file of the version.
        again = self.gpu_wheel(fatbin(("90",)), "again")
        done = self.run_sagekit("retag", "--variant", "cu130_sm120", "--build", "1", again, "--json")
        self.expect(done, 0)
        path = shutil.copy(done.json()["wheels"][0]["path"], folder)
        self.expect(self.run_sagekit("index", folder, "--variants"), 1, "REL025", "the label cu130_sm120")
        self.assertEqual(list((folder / "simple").rglob("*.*ml")) + list((folder / "simple").rglob("*.json")), [])
        # A label that is not the one inside.
        renamed = pathlib.Path(str(path).replace("cu130_sm120", "cu130_sm80"))
        pathlib.Path(path).rename(renamed)
        self.expect(self.run_sagekit("index", folder, "--variants"), 1, "REL024", "cu130_sm80")

    @unittest.skipUnless(uv_with_variants(), "needs uv 0.13 or newer")
    def test_uv_chooses_by_gpu_and_driver_and_pip_takes_the_plain_one(self):
        served = Served(self, self.two_variants(), "--variants")
        def installed(command, **environment):
            target = self.folder / "target"
            shutil.rmtree(target, ignore_errors=True)
            done = subprocess.run([*command, "--no-deps", "--target", target, "--index-url", served.url, "--python-version", "3.12", "--only-binary", ":all:", "tiny"],
                                  env=os.environ | {"no_proxy": "127.0.0.1"} | environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = target / "tiny-2.2.0.dist-info" / "variant.json"
            return list(json.loads(said.read_text())["variants"])[0] if said.exists() else "plain"

        uv = [uv_with_variants(), "pip", "install", "--no-cache", "--no-config", "--preview-features", "wheel-variants"]
        for gpu, driver, wanted in (("9.0", "13.0", "cu130_sm90"), ("9.0", "13.2", "cu130_sm90"), ("9.0", "12.8", "plain"), ("8.9", "13.0", "plain"),
                                    ("12.0", "13.0", "cu130_sm120"), ("12.1", "13.1", "cu130_sm120"), ("12.0", "12.9", "plain")):
            chosen = installed(uv, NV_VARIANT_PROVIDER_FORCE_SM_ARCH=gpu, NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION=driver)
            self.assertEqual(chosen, wanted, (gpu, driver))
        self.assertEqual(installed([uv_with_variants(), "pip", "install", "--no-cache", "--no-config"]), "plain")
        self.assertEqual(installed([sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir"]), "plain")


if __name__ == "__main__":
    unittest.main()
