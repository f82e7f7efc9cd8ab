#!/usr/bin/env python3
"""Wheel variants (PEP 825, a draft): a wheel with GPU code gets a label of what was measured in it, and the real uv chooses
by it for the GPU and driver that its own overrides name. Skipped where there is no uv that knows variants."""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import wheels
from harness import SAGEKIT, CommandLine

SEEDS = SAGEKIT.parent / "write_seeds"  # makes a fatbin: machine code for 9.0a and PTX of compute_90, CUDA 13.0


def uv_with_variants():
    """None: no uv, or one before 0.13."""
    uv = shutil.which("uv")
    if uv is None:
        return None
    version = subprocess.run([uv, "--version"], capture_output=True, text=True).stdout.split()[1].split(".")
    return uv if (int(version[0]), int(version[1])) >= (0, 13) else None


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipUnless(SEEDS.exists() and wheels.compiler(), "needs write_seeds and a C compiler")
class Variant(CommandLine):
    def gpu_wheel(self):
        subprocess.run([SEEDS, self.folder / "seeds"], check=True)
        source, library = self.folder / "gpu.c", self.folder / "gpu.so"
        fatbin = self.folder / "code.fatbin"
        fatbin.write_bytes((self.folder / "seeds" / "fatbin" / "l").read_bytes())
        source.write_text('''void *PyInit__k(void) { return 0; }
__asm__(".section .nv_fatbin,\\"a\\"\\n.balign 8\\nfat:\\n.incbin \\"code.fatbin\\"\\n.text\\n");
extern char fat;
struct wrapper { int magic, version; void *data, *file; };
__attribute__((section(".nvFatBinSegment"), used)) static struct wrapper one = {0x466243b1, 1, &fat, 0};
''')
        subprocess.run([wheels.compiler(), "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noexecstack", "-o", library, source],
                       check=True, cwd=self.folder)
        wheel = wheels.Wheel("tiny", "2.2.0", f"cp312-cp312-linux_{wheels.MACHINE}")
        wheel.files[f"tiny/_k{wheels.SUFFIX}"] = library.read_bytes()
        return wheel.write(self.folder / "files" / "tiny")

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

    @unittest.skipUnless(uv_with_variants(), "needs uv 0.13 or newer")
    def test_uv_chooses_by_gpu_and_driver_and_pip_takes_the_plain_one(self):
        path, said = self.variant(self.gpu_wheel())
        folder = path.parent
        (folder / "tiny-2.2.0-variants.json").write_text(json.dumps(said))
        (folder / "index.html").write_text("<!DOCTYPE html><html><body>" + "".join(
            f'<a href="{file.name}">{file.name}</a>' for file in sorted(folder.iterdir())) + "</body></html>")
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), lambda *all, **more: Quiet(*all, directory=str(folder.parent), **more))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        index = f"http://127.0.0.1:{server.server_port}/"

        def installed(command, **environment):
            target = self.folder / "target"
            shutil.rmtree(target, ignore_errors=True)
            done = subprocess.run([*command, "--no-deps", "--target", target, "--index-url", index, "--python-version", "3.12",
                                   "--only-binary", ":all:", "tiny"], env=os.environ | environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return "variant" if (target / "tiny-2.2.0.dist-info" / "variant.json").exists() else "plain"

        uv = [uv_with_variants(), "pip", "install", "--no-cache", "--preview-features", "wheel-variants"]
        for gpu, driver, wanted in (("9.0", "13.0", "variant"), ("9.0", "13.2", "variant"), ("9.0", "12.8", "plain"),
                                    ("8.9", "13.0", "plain"), ("12.0", "13.0", "plain")):
            chosen = installed(uv, NV_VARIANT_PROVIDER_FORCE_SM_ARCH=gpu, NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION=driver)
            self.assertEqual(chosen, wanted, (gpu, driver))
        self.assertEqual(installed([sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]), "plain")


if __name__ == "__main__":
    unittest.main()
