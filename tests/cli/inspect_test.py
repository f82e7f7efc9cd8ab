#!/usr/bin/env python3
"""inspect and diff through the real binary, on wheels made here with the machine's own compiler."""
import base64
import hashlib
import io
import subprocess
import sys
import tarfile
import unittest
import zipfile

from harness import SOURCE_DIR, CommandLine, has_nvcc

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from gpu_wheels import fatbin  # noqa: E402


def record_of(files):
    rows = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
            for path, data in files.items()]
    return "\n".join(rows)


class Wheels(CommandLine):
    def module(self, name, source="int answer(void) { return 42; }"):
        path = self.folder / name
        (self.folder / "m.c").write_text(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-s", "-o", path, self.folder / "m.c"], check=True)
        return path.read_bytes()

    def wheel(self, version, files, metadata="", folder="."):
        info = f"demo-{version}.dist-info"
        files = dict(files)
        files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: demo\nVersion: {version}\n{metadata}\n".encode()
        files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n"
        files[f"{info}/RECORD"] = f"{record_of(files)}\n{info}/RECORD,,\n".encode()
        path = self.folder / folder / f"demo-{version}-cp312-cp312-linux_x86_64.whl"
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return path


class Inspect(Wheels):
    def test_a_wheel_in_text_and_in_json(self):
        path = self.wheel("1.0", {"demo/__init__.py": b"", "demo/_k.so": self.module("k.so")})
        done = self.run_sagekit("inspect", path)
        self.expect(done, 0)
        for words in ("demo 1.0", "demo/_k.so", "x86_64", "other files"):
            self.assertIn(words, done.out)
        hashed = self.run_sagekit("inspect", path, "--hashes")
        self.assertIn(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}\n", hashed.out)
        self.assertIn(f"{hashlib.sha256(b'').hexdigest()}  demo/__init__.py\n", hashed.out)
        document = self.run_sagekit("inspect", path, "--json").json()
        self.assertEqual(document["schema"], "sagekit.inspect/1")
        members = {member["path"]: member for member in document["files"][0]["members"]}
        self.assertEqual(members["demo/_k.so"]["elf"]["machine"], "x86_64")
        self.assertNotIn("sha256", members["demo/_k.so"])

    def test_ptx_says_since_when_its_form_is_known_not_who_made_it(self):
        path = self.folder / "ptx.fatbin"
        path.write_bytes(fatbin(("80",), isa=(8, 5)).replace(b".version 9.0", b".version 8.5"))
        self.assertIn(" CUDA 12.5 or newer: PTX compute_80\n", self.run_sagekit("inspect", path).out)
        if not has_nvcc():
            self.skipTest("no nvcc: no machine code that says who made it")
        (self.folder / "k.cu").write_text("__global__ void k(float *p) { *p = 1; }")
        subprocess.run(["nvcc", "-fatbin", "-gencode", "arch=compute_80,code=sm_80", "-o", "sass.fatbin", "k.cu"], cwd=self.folder, check=True)
        path.write_bytes((self.folder / "sass.fatbin").read_bytes() + path.read_bytes())
        done = self.run_sagekit("inspect", path)
        self.assertRegex(done.out, r" CUDA \d+\.\d+: ")
        self.assertNotIn("newer", done.out)

    def test_a_wheel_shows_what_its_plugin_needs_beside_it(self):
        made = {"demo/__init__.py": b"", "demo-1.0.dist-info/sagekit.json": b'{"schema": "sagekit.provenance/1", "plugin": {"name": "sm121"}}'}
        path = self.wheel("1.0", made)
        self.assertIn("triton is needed beside the wheel", self.run_sagekit("inspect", path).out)
        self.assertEqual(self.run_sagekit("inspect", path, "--json").json()["files"][0]["wheel"]["plugin"], "sm121")
        made["demo-1.0.dist-info/sagekit.json"] = b'{"schema": "sagekit.provenance/1", "plugin": ["sm121"]}'
        done = self.run_sagekit("inspect", self.wheel("1.0", made), "--json")
        self.assertNotIn("plugin", done.json()["files"][0]["wheel"])

    def test_hashes_on_request_find_a_changed_file(self):
        path = self.wheel("1.0", {"demo/a.py": b"right"})
        document = self.run_sagekit("inspect", path, "--json", "--hashes").json()
        members = {member["path"]: member for member in document["files"][0]["members"]}
        self.assertEqual(members["demo/a.py"]["sha256"], hashlib.sha256(b"right").hexdigest())
        with zipfile.ZipFile(path) as old:
            files = {name: old.read(name) for name in old.namelist()}
        files["demo/a.py"] = b"wrong"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        self.assertNotIn("INF016", self.run_sagekit("inspect", path).err)
        self.assertIn("INF016", self.run_sagekit("inspect", path, "--hashes").err)

    def test_little_memory_reads_the_same(self):
        path = self.wheel("1.0", {f"demo/{i}.py": bytes(200_000) for i in range(8)})
        self.assertEqual(self.run_sagekit("inspect", path, "--json", "--memory", "1M").out, self.run_sagekit("inspect", path, "--json").out)

    def test_without_libarchive_a_tarball_says_what_is_missing_and_a_wheel_is_read(self):
        (self.folder / "lib").mkdir()
        (self.folder / "lib/libarchive.so.13").write_bytes(b"")
        without = self.environment(LD_LIBRARY_PATH=str(self.folder / "lib"))
        with tarfile.open(self.folder / "a.tar.gz", "w:gz") as archive:
            archive.addfile(tarfile.TarInfo("x.py"), io.BytesIO())
        self.expect(self.run_sagekit("inspect", "a.tar.gz"), 0)
        self.expect(self.run_sagekit("inspect", "a.tar.gz", env=without), 3, "INS005", "libarchive.so.13", "apt-get install")
        self.expect(self.run_sagekit("inspect", self.wheel("1.0", {"demo/__init__.py": b""}), env=without), 0)


class Diff(Wheels):
    def test_two_wheels_by_member_metadata_and_symbol(self):
        before = self.wheel("1.0", {"demo/a.py": b"a", "demo/gone.py": b"g", "demo/_k.so": self.module("k.so")}, "Requires-Dist: torch==2.10.*\n")
        after = self.wheel("1.1", {"demo/a.py": b"a", "demo/new.py": b"n", "demo/_k.so": self.module("k.so", "int other(void) { return 1; }")},
                           "Requires-Dist: torch==2.11.*\n")
        done = self.run_sagekit("diff", before, after)
        self.expect(done, 0)
        for words in ("Version: 1.0 -> 1.1", "- torch==2.10.*", "+ torch==2.11.*", "- demo/gone.py", "+ demo/new.py", "~ demo/_k.so",
                      "- answer", "+ other"):
            self.assertIn(words, done.out)
        self.assertNotIn("demo/a.py", done.out)
        document = self.run_sagekit("diff", before, after, "--json").json()
        self.assertEqual(document["schema"], "sagekit.diff/1")
        changes = {member["path"]: member["change"] for member in document["members"]}
        self.assertEqual(changes["demo/_k.so"], "changed")
        self.assertEqual(changes["demo/gone.py"], "removed")
        self.assertFalse(document["identical"])

    def test_ptx_tells_the_first_toolkit_that_writes_it(self):
        for name, version in (("a.ptx", "8.5"), ("b.ptx", "8.7")):
            (self.folder / name).write_text(f".version {version}\n.target sm_80\n.address_size 64\n")
        self.assertIn("    compute_80 PTX toolkit: 12.5 or newer -> 12.8 or newer\n", self.run_sagekit("diff", "a.ptx", "b.ptx").out)
        change = self.run_sagekit("diff", "a.ptx", "b.ptx", "--json").json()["members"][0]["fields"][-1]
        self.assertEqual(change, {"field": "compute_80 PTX toolkit", "before": "12.5", "after": "12.8"})

    def test_a_cut_module_is_not_one_without_gpu_code(self):
        whole = self.module("k.so")
        good = self.wheel("1.0", {"demo/__init__.py": b"", "demo/_k.so": whole})
        cut = self.wheel("1.1", {"demo/__init__.py": b"", "demo/_k.so": whole[:len(whole) // 2]})
        for done, words in ((self.run_sagekit("inspect", cut), "1 module could not be read"),
                            (self.run_sagekit("verify", cut), "cannot be judged (INS022:")):
            self.assertIn(words, " ".join(done.out.split()))
            self.assertNotIn("no GPU code", done.out)
        done = self.run_sagekit("diff", good, cut)
        self.expect(done, 0, "INS022")
        self.assertIn("readable: yes -> no", done.out)

    def test_what_cannot_be_read_is_said_and_is_no_absence(self):
        good = self.wheel("1.0", {"demo/__init__.py": b"", "demo/_k.so": self.module("k.so")})
        content = bytearray(good.read_bytes())
        with zipfile.ZipFile(good) as archive:
            member = archive.getinfo("demo/_k.so")
        at = member.header_offset + 30 + len(member.filename) + member.compress_size // 2
        content[at] ^= 0xff
        bad = self.folder / "bad" / good.name
        bad.parent.mkdir()
        bad.write_bytes(content)
        seen = self.run_sagekit("inspect", bad)
        self.expect(seen, 0, "demo/_k.so")
        self.assertIn("1 module could not be read", seen.out)
        self.assertNotIn("no native module", seen.out)
        self.assertNotIn("no GPU code", seen.out)
        judged = self.run_sagekit("verify", bad)
        self.assertEqual(judged.code, 1)
        self.assertIn("not known: what is in it could not all be read", judged.out)
        self.assertNotIn("no GPU code", judged.out)
        self.assertIn("no GPU code", self.run_sagekit("verify", good).out)
        done = self.run_sagekit("diff", good, bad)
        self.expect(done, 0, "ZIP02", "demo/_k.so")
        self.assertIn("~ demo/_k.so", done.out)
        self.assertNotIn("- demo/_k.so", done.out)
        document = self.run_sagekit("diff", good, bad, "--json").json()
        self.assertEqual([one["change"] for one in document["members"]], ["changed"])
        self.assertEqual(document["before"]["damage"], [])
        self.assertIn("demo/_k.so", document["after"]["damage"][0]["where"])

    def test_verify_of_a_module_names_what_reads_it(self):
        self.module("k.so")
        done = self.run_sagekit("verify", self.folder / "k.so")
        self.assertEqual(done.code, 1)
        self.assertIn("INS057", done.out + done.err)
        self.assertIn("sagekit inspect reads a module", " ".join((done.out + done.err).split()))
        self.assertNotIn("download", done.out + done.err)

    def test_the_same_file_twice(self):
        path = self.wheel("1.0", {"demo/a.py": b"a"})
        done = self.run_sagekit("diff", path, path)
        self.expect(done, 0)
        self.assertIn("the same bytes", done.out)

    def test_a_file_that_is_not_there(self):
        path = self.wheel("1.0", {"demo/a.py": b"a"})
        self.expect(self.run_sagekit("diff", path, self.folder / "none.whl"), 2, "none.whl")


if __name__ == "__main__":
    unittest.main()
