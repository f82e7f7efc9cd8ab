#!/usr/bin/env python3
"""Toolchains from an index through the command line: what is fetched, trust, lock, offline, two at once, kill -9."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, Done, has_nvcc, real_nvcc
from provisioning import SECRET, Provisioning, fake_packages, tree_files
from index_server import IndexServer, delay, no_ranges, redirect, slow

try:
    import tomllib
except ImportError:  # Python before 3.11: the lock is then only looked at as text
    tomllib = None

TORCH = ("--torch", "2.11.0", "--cuda", "13.0")
HEX64 = re.compile(r"\b[0-9a-f]{64}\b")


class WhatIsFetched(Provisioning):
    def test_an_nvcc_tree_is_whole_and_without_what_nobody_needs(self):
        (row,) = self.fetched()
        self.assertEqual((row["kind"], row["version"], row["cuda"], row["platform"], row["source"], row["fetched"]),
                         ("nvcc", "13.0.88", "13.0", "linux_x86_64", "wheels", True))
        tree = pathlib.Path(row["path"])
        self.assertEqual(tree, self.trees / row["id"])
        for program in ("bin/nvcc", "bin/ptxas", "bin/cudafe++", "bin/fatbinary", "nvvm/bin/cicc"):
            self.assertEqual((tree / program).stat().st_mode & 0o111, 0o111, f"{program} is for everybody to run")
        for file in ("bin/nvcc.profile", "nvvm/libdevice/libdevice.10.bc", "include/cuda_runtime.h", "include/cuda.h", "include/crt/host_config.h",
                     "include/cccl/thrust/complex.h", "include/cublas.h", "include/cusparse.h", "include/cusolver.h", "lib/libcudart.so.13"):
            self.assertTrue((tree / file).is_file(), file)
        self.assertEqual(os.readlink(tree / "lib" / "libcudart.so"), "libcudart.so.13")
        for absent in ("bin/nvlink", "bin/bin2c", "lib/libcublas.so.13", "nvvm/lib", "targets", "lib64"):
            self.assertFalse((tree / absent).exists(), absent)
        self.assertGreaterEqual(len([p for p in (tree / "licenses").rglob("*") if p.is_file()]), 5, "licence texts are kept beside it")
        expected = fake_packages.nvcc_tree()
        for path, (content, _) in expected.items():
            if path not in ("bin/nvlink", "bin/bin2c"):
                self.assertEqual((tree / path).read_bytes(), content, path)

    def test_only_what_is_needed_is_read(self):
        (row,) = self.fetched()
        moved = self.index.moved()
        whole = sum(len(self.index.content(n)) for n in self.index.names() if "torch" not in n)
        self.assertLess(moved, 0.45 * whole, "most of the big libraries stay where they are")
        self.assertEqual(row["requests"], len(self.index.log))
        self.assertEqual(row["bytes"], moved)

    def test_a_torch_tree_for_windows_has_the_stable_headers_and_names_of_functions(self):
        library = (pathlib.Path(__file__).parents[1] / "fuzz/corpus/exports/two_names.dll").read_bytes()
        self.index.add_all(fake_packages.windows_wheels(library))
        (row,) = self.fetched("--platform", "win_amd64", "--no-nvcc", what=TORCH)
        self.assertEqual((row["kind"], row["version"], row["cuda"], row["platform"]), ("torch", "2.11.0", "13.0", "win_amd64"))
        tree = pathlib.Path(row["path"])
        self.assertTrue((tree / "torch/include/torch/csrc/stable/library.h").is_file())
        self.assertFalse((tree / "torch/include/ATen").exists(), "of torch for Windows only its stable interface is kept")
        stubs = {path.name: path.read_bytes() for path in (tree / "torch/lib").iterdir()}
        self.assertEqual(sorted(stubs), ["cudart64_13.dll", "torch_cpu.dll", "torch_cuda.dll"])
        self.assertIn(b"\0aoti_torch_check\0", stubs["torch_cpu.dll"])
        self.assertIn(b"\0aoti_torch_get_current_cuda_stream\0", stubs["torch_cuda.dll"])
        self.assertNotIn(b"\0aoti_torch_check\0", stubs["torch_cuda.dll"], "what torch_cpu.dll has is taken from there")
        lock = self.lock.read_text()
        for name in (*stubs, "torch-2.11.0-cp312-cp312-win_amd64.whl", "nvidia_cuda_runtime-13.0.96-py3-none-win_amd64.whl"):
            self.assertIn(f'"{name}"', lock)

    def test_a_torch_tree_has_headers_and_stubs_and_no_library(self):
        row = self.fetched_torch()
        self.assertEqual((row["version"], row["cuda"], row["platform"], row["source"]), ("2.11.0", "13.0", "linux_x86_64", "wheels"))
        tree = pathlib.Path(row["path"])
        for file in ("torch/include/torch/extension.h", "torch/include/ATen/Config.h", "torch/share/cmake/Torch/TorchConfig.cmake", "torch/version.py"):
            self.assertTrue((tree / file).is_file(), file)
        for absent in ("torch/bin/protoc", "torch/_C.so", "torch/lib/libtorch_cuda_linalg.so", "torch/__init__.py"):
            self.assertFalse((tree / absent).exists(), absent)
        for name in fake_packages.LIBRARIES:
            word = name[3:-3]
            listed = subprocess.run(["nm", "-D", "--defined-only", tree / "torch/lib" / name], capture_output=True, text=True, check=True).stdout
            symbols = {line.split()[-1]: line.split()[-2] for line in listed.splitlines()}
            self.assertEqual(set(symbols), {f"{word}_function", f"{word}_object", f"{word}_weak"}, name)
            self.assertEqual(symbols[f"{word}_function"], "T")
            self.assertEqual(symbols[f"{word}_weak"], "W")
            self.assertIn(symbols[f"{word}_object"], "BDRG")
        self.assertTrue([p for p in (tree / "licenses").rglob("*") if p.is_file()])
        name = self.index.names("torch-*")[0]
        self.assertLess(self.index.moved(f"*{name}"), 0.4 * len(self.index.content(name)))

    def test_a_link_against_the_stubs_is_the_link_against_the_libraries(self):
        row = self.fetched_torch()
        stubs, real = pathlib.Path(row["path"]) / "torch/lib", self.folder / "real"
        real.mkdir()
        for name in fake_packages.LIBRARIES:
            (real / name).write_bytes(fake_packages.torch_library(name, "linux_x86_64"))
        source = "int c10_function(void); extern int torch_cpu_object; int f(void) { return c10_function() + torch_cpu_object; }\n"
        subprocess.run(["g++", "-x", "c", "-fPIC", "-c", "-o", self.folder / "a.o", "-"], input=source.encode(), check=True)
        for folder, out in ((stubs, "with-stubs.so"), (real, "with-real.so")):
            subprocess.run(["g++", "-shared", "-Wl,--as-needed", "-Wl,-z,defs", "-o", self.folder / out, self.folder / "a.o", f"-L{folder}",
                            "-lc10", "-ltorch_cpu", "-ltorch_cuda", "-ltorch"], check=True)
        self.assertEqual((self.folder / "with-stubs.so").read_bytes(), (self.folder / "with-real.so").read_bytes())

    def test_one_row_for_each_platform_and_tree(self):
        self.index.add_all([fake_packages.torch_wheel(platform="linux_aarch64")])
        rows = self.fetched("--platform", "linux_x86_64", "--platform", "linux_aarch64", what=TORCH)
        self.assertEqual([(r["kind"], r["platform"]) for r in rows],
                         [("nvcc", "linux_x86_64"), ("torch", "linux_x86_64"), ("torch", "linux_aarch64")])
        for row in rows:
            if row["kind"] == "torch":
                text = (pathlib.Path(row["path"]) / "torch/include/ATen/Config.h").read_text()
                self.assertIn(row["platform"], text)

    def test_folders_go_to_stdout_a_line_each_and_words_to_stderr(self):
        done = self.fetch()
        self.expect(done, 0, "13.0.88")
        lines = done.out.splitlines()
        self.assertEqual([pathlib.Path(p).name for p in lines], self.named_trees())
        self.assertEqual(len(lines), 1)

    def test_the_licence_is_named_once(self):
        done = self.fetch()
        self.assertEqual(len(re.findall(r"licen[cs]e", done.err, re.I)) > 0, True, done.err)
        self.assertEqual(len([line for line in done.err.splitlines() if re.search(r"NVIDIA.*licen[cs]e|licen[cs]e.*NVIDIA", line, re.I)]), 1, done.err)
        self.assertNotIn("licen", self.fetch().err.lower(), "not again when nothing is fetched")

    def test_the_page_may_be_html_or_json_and_the_trees_are_the_same(self):
        ids = []
        for forms in (("html",), ("json",)):
            self.index.forms = forms
            store = str(self.folder / forms[0])
            (row,) = self.fetched("--lock", f"{forms[0]}.lock", env=self.environment(SAGEKIT_STORE=store))
            ids.append(row["id"])
        self.assertEqual(ids[0], ids[1])

    def test_a_server_without_ranges_gives_whole_files_and_the_same_tree(self):
        (by_range,) = self.fetched()
        self.index.fault("*.whl", no_ranges())
        (whole,) = self.fetched("--lock", "other.lock", env=self.environment(SAGEKIT_STORE=str(self.folder / "other")))
        self.assertEqual(whole["id"], by_range["id"])
        self.assertEqual(tree_files(whole["path"]), tree_files(by_range["path"]))

    def test_yanked_and_free_threaded_wheels_are_not_taken_and_a_rebuild_is(self):
        for python in ("cp312", "cp313", "cp314t"):
            self.index.add_all([fake_packages.torch_wheel("2.12.0", python=python, mark=python.encode())])
        self.index.add(*fake_packages.torch_wheel("2.12.0", python="cp314", mark=b"cp314"), yanked="broken")
        self.index.add(*fake_packages.torch_wheel("2.12.0", python="cp313", build="3", mark=b"third build"))
        row = self.fetched_torch(version="2.12.0")
        self.assertIn("third build", (pathlib.Path(row["path"]) / "torch/include/torch/extension.h").read_text())

    def test_a_torch_of_another_cuda_is_said_by_its_own_version_file(self):
        self.index.add_all([fake_packages.torch_wheel("2.10.0", cuda="12.8"), fake_packages.torch_wheel("2.9.0", cuda="")])
        self.refused(self.fetch(what=("--torch", "2.10.0", "--cuda", "13.0")), 3, "2.10.0", "12.8", "13.0", left=["nvcc"])
        self.refused(self.fetch(what=("--torch", "2.9.0", "--cuda", "13.0")), 3, "2.9.0", left=["nvcc"])

    def test_the_newest_release_of_the_cuda_asked_for_decides(self):
        self.index.add_all(fake_packages.nvcc_wheels("13.0", "13.0.99", by_extra=True, patch="3"))
        self.index.add_all(fake_packages.nvcc_wheels("13.1", "13.1.80"))
        (row,) = self.fetched()
        self.assertEqual(row["version"], "13.0.99")

    def test_what_no_source_has_ends_3(self):
        self.refused(self.fetch(what=("--cuda", "13.7")), 3, "13.7")
        self.refused(self.fetch(what=("--cuda", "12.8")), 3, "12.8", "/redist/redistrib_12.8.1.json")
        self.refused(self.fetch("--toolchain", "wheels", what=("--cuda", "12.8")), 3, "12.8", "--toolchain")
        self.refused(self.fetch(what=("--torch", "2.99.0", "--cuda", "13.0")), 3, "2.99.0", left=["nvcc"])

    def test_packages_may_be_on_an_extra_index(self):
        with IndexServer() as second:
            second.projects, self.index.projects = self.index.projects, {}
            second.files = self.index.files
            self.fetched("--extra-index-url", second.url)

    def test_pips_own_configuration_is_heard(self):
        config = self.folder / "pip.conf"
        config.write_text(f"[global]\nindex-url = {self.index.url}\n")
        for more in ({"PIP_INDEX_URL": self.index.url}, {"PIP_CONFIG_FILE": str(config)}):
            done = self.run_sagekit("toolchain", "fetch", "--cuda", "13.0", env=self.environment(SAGEKIT_STORE=str(self.folder / str(len(more))), **more))
            self.expect(done, 0)
            shutil.rmtree(self.folder / str(len(more)))


class TrustAndLock(Provisioning):
    def test_trust_on_first_use_is_said_and_written(self):
        done = self.fetch()
        self.expect(done, 0, "sagekit.lock")
        self.assertRegex(done.err, r"(?i)trust|first use")
        text = self.lock.read_text()
        for name in self.index.names():
            self.assertEqual(name in text, "torch" not in name, name)
        self.assertGreaterEqual(len(set(HEX64.findall(text))), 3 * 8, "of each wheel: its own hash, RECORD's, the central directory's")
        if tomllib:
            tomllib.loads(text)

    def test_the_lock_of_a_torch_pins_its_symbol_lists(self):
        self.fetched_torch()
        for name in fake_packages.LIBRARIES:
            self.assertIn(name, self.lock.read_text())

    def test_the_second_use_asks_the_server_nothing(self):
        self.fetched_torch()
        before = self.lock.read_bytes()
        self.index.forget()
        for what in (("--cuda", "13.0"), TORCH):
            rows = self.fetched(what=what)
            self.assertTrue(all((r["fetched"], r["bytes"], r["requests"]) == (False, 0, 0) for r in rows), rows)
        self.assertEqual(self.index.log, [])
        self.assertEqual(self.lock.read_bytes(), before)

    def test_the_lock_alone_brings_the_same_tree_elsewhere(self):
        (first,) = self.fetched()
        before = self.lock.read_bytes()
        self.index.add_all(fake_packages.nvcc_wheels("13.0", "13.0.99", patch="3"))  # newer, and not what was locked
        (second,) = self.fetched("--locked", env=self.environment(SAGEKIT_STORE=str(self.folder / "other")))
        self.assertEqual((second["id"], second["fetched"]), (first["id"], True))
        self.assertEqual(self.lock.read_bytes(), before)

    def test_a_yanked_wheel_that_is_locked_is_still_taken(self):
        self.fetched()
        for files in self.index.projects.values():
            for file in files.values():
                file["yanked"] = "withdrawn"
        self.fetched("--locked", env=self.environment(SAGEKIT_STORE=str(self.folder / "other")))

    def test_locked_refuses_what_is_not_pinned(self):
        self.refused(self.fetch("--locked"), 2, "sagekit.lock", "13.0")
        self.assertFalse(self.lock.exists(), "--locked writes no lock")
        self.assertEqual(self.index.moved("*.whl"), 0)
        self.fetched()
        before = self.lock.read_bytes()
        self.refused(self.fetch("--locked", what=TORCH), 2, "sagekit.lock", "2.11.0", left=["nvcc"])
        self.assertEqual(self.lock.read_bytes(), before)

    def test_a_lock_that_is_none_is_refused_with_its_line(self):
        self.lock.write_text("version = 1\n[[tree]\n")
        self.refused(self.fetch(), 2, "sagekit.lock:2")
        self.lock.write_text("version = 99\n")
        self.refused(self.fetch(), 2, "sagekit.lock")
        self.lock.unlink()
        self.works_again()

    def test_offline_works_with_a_filled_store_and_without_a_lock_too(self):
        self.fetched_torch()
        self.index.close()
        for more in ((), ("--locked",)):
            rows = self.fetched("--offline", *more, what=TORCH)
            self.assertFalse([r for r in rows if r["fetched"]])
        self.lock.unlink()
        self.fetched("--offline")

    def test_what_is_no_release_or_platform_is_refused_and_nothing_is_asked(self):
        for what in (("--cuda", "13"), ("--cuda", "13.0.2"), ("--cuda", "13.0", "--torch", "2.11"),
                     ("--cuda", "13.0", "--torch", "2.11.0", "--platform", "windows")):
            done = self.fetch(what=what)
            self.refused(done, 2, "PRV001")
        self.assertIn("win_amd64", done.err)
        # Without a torch a platform was asked for that would not come.
        for platform in ("windows", "win_amd64"):
            self.expect(self.fetch(what=("--cuda", "13.0", "--platform", platform)), 2, "CLI006", platform, "--torch")
        for what, right in ((("--cuda", "abc"), "13.0"), (("--cuda", "13.0", "--torch", "abc"), "2.11.0")):
            done = self.fetch(what=what)
            self.expect(done, 2, "VER004", f"write it as {right}")
            self.assertNotRegex(done.err, r"or 13$|2\.11,|torch2\.11$")
        self.assertEqual(self.index.log, [])

    def test_offline_with_an_empty_store_asks_nobody_and_says_what_to_do(self):
        self.refused(self.fetch("--offline"), 3, "--offline", "13.0")
        self.assertEqual(self.index.log, [])
        self.works_again()

    def test_verbose_shows_every_request_with_its_answer(self):
        done = self.fetch("-v")
        self.expect(done, 0)
        shown = re.findall(r"^\d\d:\d\d:\d\d\.\d{3} info (GET|HEAD) (\S+?)( from \d+| last \d+ bytes)?: (\d+|no answer), (\d+) bytes so far$", done.err, re.M)
        asked = [(one.method, self.index.base + one.path, one.status) for one in self.index.log]
        self.assertTrue(asked)
        self.assertEqual(sorted((method, url, int(status)) for method, url, _, status, _ in shown), sorted(asked))
        self.assertIn(206, {status for _, _, status in asked})
        self.assertTrue(all(part for *_, part, status, _ in shown if status == "206"), shown)
        self.assertTrue(all(int(size) > 0 for method, *_, size in shown if method == "GET"), shown)
        self.assertNotIn("info GET", self.fetch("--store", "other").err)

    def test_credentials_go_to_their_host_and_into_no_text(self):
        self.index.credentials = f"user:{SECRET}"
        self.index.add_all(fake_packages.nvcc_wheels(), host=self.index.base)  # absolute addresses, without user, as many indexes have
        with IndexServer("127.0.0.2") as other:
            other.files = self.index.files
            self.index.fault("*nvidia_nvvm*.whl", redirect(other.base + "{path}"))
            done = self.fetch("-v")
            self.expect(done, 0)
            texts = [done.err, done.out, self.lock.read_text()] + [p.read_text("utf-8", "replace") for p in self.trees.rglob("*.toml")]
            for text in texts:
                self.assertNotIn(SECRET, text)
                self.assertNotIn("user:", text)
            self.assertTrue(other.log)
            self.assertEqual({a.authorization for a in other.log}, {""}, "credentials went to a host they are not for")
            self.assertTrue(all(a.authorization for a in self.index.log if a.status not in (0, 401)))
        self.index.credentials = "user:changed"
        refused = self.fetch(env=self.environment(SAGEKIT_STORE=str(self.folder / "other")), index=f"http://user:{SECRET}@{self.index.host}/simple")
        self.assertEqual(refused.code, 1, refused.err)
        self.assertIn("401", refused.err)
        self.assertNotIn(SECRET, refused.err + refused.out)

    def test_two_locks_written_at_once_keep_both_trees(self):
        self.index.add_all([fake_packages.torch_wheel("2.12.0")])
        self.fetched()
        self.index.fault("*.whl", delay(0.02))
        both = [self.start_fetch(what=("--torch", version, "--cuda", "13.0")) for version in ("2.11.0", "2.12.0")]
        for process in both:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.index.forget()
        for version in ("2.11.0", "2.12.0"):
            self.fetched_torch("--locked", version=version)
        self.assertEqual(self.index.log, [])


class Trees(Provisioning):
    def test_list_shows_them_with_their_source(self):
        self.assertEqual(self.provisioned(), [])
        self.fetched_torch()
        rows = {t["kind"]: t for t in self.provisioned()}
        self.assertEqual(sorted(rows), ["nvcc", "torch"])
        for row in rows.values():
            self.assertEqual((row["source"], row["cuda"], row["ready"], row["why_not"]), ("wheels", "13.0", True, None))
            self.assertTrue(str(row["path"]).startswith(str(self.trees)))

    def test_verify_names_an_altered_a_missing_and_a_foreign_file(self):
        (row,) = self.fetched()
        self.held_to_schema("fetch", {"schema": "sagekit.fetch/1", "trees": [row]})
        self.expect(self.run_sagekit("toolchain", "verify"), 0)
        tree = pathlib.Path(row["path"])
        header = tree / "include/cuda.h"
        for path in (header, header.parent, tree / "lib"):
            path.chmod(0o755)
        header.write_bytes(header.read_bytes().replace(b"1", b"2"))
        (tree / "include/cublas.h").unlink()
        (tree / "lib/extra.so").write_bytes(b"x")
        for which in ((), (row["id"],)):
            done = self.run_sagekit("toolchain", "verify", *which)
            self.held_to_schema("toolchain-verify", self.run_sagekit("toolchain", "verify", *which, "--json").json())
            self.expect(done, 1)
            for path in ("include/cuda.h", "include/cublas.h", "lib/extra.so"):
                self.assertEqual(len([line for line in (done.err + done.out).splitlines() if path in line]), 1, done.err + done.out)
        self.expect(self.run_sagekit("toolchain", "remove", row["id"]), 0)
        self.works_again()

    def test_a_half_copied_tree_is_named_removed_and_fetched_again(self):
        (row,) = self.fetched()
        pins = pathlib.Path(row["path"]) / "tree.toml"
        whole = pins.read_text()
        for left in (None, "", whole[:100]):
            pins.unlink() if left is None else pins.write_text(left)
            with self.subTest(left):
                for words in (("verify",), ("verify", row["id"])):
                    self.expect(self.run_sagekit("toolchain", *words), 1, "PRV004", row["id"], "tree.toml", "toolchain remove " + row["id"])
                checked = self.run_sagekit("toolchain", "verify", "--json").json()
                self.held_to_schema("toolchain-verify", checked)
                self.assertEqual([(tree["id"], tree["whole"]) for tree in checked["trees"]], [(row["id"], False)])
                self.assertEqual([again["fetched"] for again in self.works_again()], [True])
                pins.unlink() if left is None else pins.write_text(left)
                for words in ((row["id"],), ("--all",)):
                    self.expect(self.run_sagekit("toolchain", "remove", *words), 0, "removed", row["id"])
                    self.assertEqual(self.named_trees(), [])
                    self.works_again()
                    pins.unlink() if left is None else pins.write_text(left)
        self.works_again("--locked")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_lock_that_cannot_be_written_is_told_before_anything_is_fetched(self):
        self.folder.chmod(0o755)
        home = self.folder / "of nobody"
        home.mkdir()
        os.chown(home, 65534, 65534)

        def as_nobody(*more):
            return Done(subprocess.run([SAGEKIT, *self.words(*more)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                                       env=self.environment(SAGEKIT_STORE=str(home / "store")), user=65534, group=65534, extra_groups=[]))
        for lock in ("sagekit.lock", self.folder / "sagekit.lock", self.folder / "none" / "yet" / "sagekit.lock"):
            self.expect(as_nobody("--lock", lock), 2, "error[FIL002]", f"cannot write {lock}: Permission denied", "--lock FILE")
        self.assertEqual(self.index.log, [])
        self.expect(as_nobody("--lock", home / "new" / "sagekit.lock"), 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_tree_that_this_user_may_not_read_is_no_missing_one(self):
        (row,) = self.fetched()
        self.folder.chmod(0o755)

        def as_nobody(*words):
            return Done(subprocess.run([SAGEKIT, *words], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, env=self.environment(),
                                       user=65534, group=65534, extra_groups=[], timeout=300))
        for closed in (pathlib.Path(row["path"]), self.trees):
            with self.subTest(closed):
                closed.chmod(0o700)
                done = as_nobody("toolchain", "verify")
                self.assertIn(done.code, (1, 2), done.err)
                self.expect(done, done.code, str(closed), "Permission denied", "owner and permissions")
                self.assertNotIn("toolchain remove", done.err)
                self.expect(as_nobody("toolchain", "remove", "--all"), 2, str(closed), "Permission denied")
                closed.chmod(0o755)
        tree = pathlib.Path(row["path"])
        for name in ("include", "bin/ptxas", "SHA256SUMS"):
            with self.subTest(name):
                mode = (tree / name).stat().st_mode & 0o777
                (tree / name).chmod(0o600)
                done = as_nobody("toolchain", "verify")
                self.expect(done, 1, "PRV004", f"{name} cannot be read: Permission denied", "= check its owner and permissions")
                self.assertEqual(done.err.count("PRV004"), 1, done.err)
                self.assertNotIn("toolchain remove", done.err)
                (tree / name).chmod(mode)
        self.trees.parent.chmod(0o700)
        for words in (("cache", "stats"), ("cache", "verify"), ("toolchain", "verify")):
            self.expect(as_nobody(*words), 2, str(self.trees.parent), "Permission denied", "owner and permissions")
        self.trees.parent.chmod(0o755)
        self.whole()

    def test_a_program_that_nobody_may_run_any_more_is_not_used_quietly(self):
        (row,) = self.fetched()
        (pathlib.Path(row["path"]) / "bin/ptxas").chmod(0o644)
        self.assertEqual([t["ready"] for t in self.provisioned()], [False])

    def test_a_store_without_toolchains_says_so(self):
        self.expect(self.run_sagekit("toolchain", "verify"), 0, "no toolchain has been fetched")
        self.expect(self.run_sagekit("toolchain", "remove", "nvcc"), 4, "PRV012", "none has been fetched into this store")

    def test_remove_removes(self):
        rows = self.fetched(what=TORCH)
        self.expect(self.run_sagekit("toolchain", "remove", "nvcc-13.0.1-linux_x86_64-000000000000"), 4, "nvcc-13.0.1-linux_x86_64-000000000000")
        self.expect(self.run_sagekit("toolchain", "remove"), 2, "--all")
        self.assertEqual(len(self.named_trees()), 2)
        one = self.run_sagekit("toolchain", "remove", rows[0]["id"], "--json").json()
        self.held_to_schema("toolchain-remove", one)
        self.assertEqual((one["trees"], one["unfinished"]), ([{"id": rows[0]["id"], "path": rows[0]["path"]}], []))
        self.assertEqual(self.named_trees(), [rows[1]["id"]])
        self.works_again("--locked")
        (self.trees / ".partial/left").mkdir(parents=True)
        rest = self.run_sagekit("toolchain", "remove", "--all", "--json").json()
        self.held_to_schema("toolchain-remove", rest)
        self.assertEqual((len(rest["trees"]), rest["unfinished"]), (2, [str(self.trees / ".partial/left")]))
        self.assertEqual(self.provisioned(), [])
        self.assertFalse([p for p in self.trees.rglob("*") if p.is_file() and p.stat().st_size], "something stayed behind")

    def test_two_fetches_at_once_fetch_once(self):
        self.fetched("--lock", "alone.lock", env=self.environment(SAGEKIT_STORE=str(self.folder / "alone")))
        alone = self.index.moved("*.whl")
        self.index.forget()
        self.index.fault("*.whl", delay(0.02))
        processes = [self.start_fetch("--json") for _ in range(3)]
        rows = []
        for process in processes:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            rows += json.loads(out)["trees"]
        self.assertEqual(sorted(r["fetched"] for r in rows), [False, False, True])
        self.assertEqual(len({r["path"] for r in rows}), 1)
        self.assertEqual(self.index.moved("*.whl"), alone)

    def test_kill_9_at_any_moment_leaves_nothing_half_and_the_next_run_does_it(self):
        self.index.fault("*.whl", slow(2_000_000))
        began = time.monotonic()
        self.fetched("--lock", "timed.lock", env=self.environment(SAGEKIT_STORE=str(self.folder / "timed")))
        takes = time.monotonic() - began
        dice, killed = random.Random(4), 0
        for _ in range(24):
            process = self.start_fetch()
            time.sleep(dice.uniform(0.02, 1.02) * takes)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -9
            self.whole()
            if process.returncode == 0 or self.named_trees():  # it was done: start over
                self.run_sagekit("toolchain", "remove", "--all")
                self.lock.unlink(missing_ok=True)
        self.assertGreater(killed, 10)
        self.works_again()
        self.works_again("--locked")

    def test_ctrl_c_ends_130_and_keeps_what_came(self):
        self.index.fault("*nvidia_cusolver*.whl", delay(30))
        process = self.start_fetch()
        while not self.index.asked("*nvidia_cusolver*.whl"):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual(self.named_trees(), [])
        self.works_again()


class Builds(Provisioning):
    def build(self, verb, *words, **options):
        return self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", verb, *words, "--index-url", self.index.url, **options)

    def test_plan_says_which_tree_and_build_compiles_with_it(self):
        done = self.build("build", "--source", EXAMPLE_SOURCE, "--toolchain", "wheels")
        # The stand-in compiles to objects without GPU code, so the finished wheel is refused for that and for nothing else.
        self.expect(done, 1, "FAT103", "10 steps run")
        self.assertEqual(len(self.named_trees()), 1)
        self.assertTrue(self.lock.exists())
        self.index.forget()
        self.expect(self.build("build", "--source", EXAMPLE_SOURCE, "--toolchain", "wheels", "--offline", "--locked"), 1, "FAT103")
        self.assertEqual(self.index.log, [])

    def test_a_tree_that_is_there_is_used_only_as_the_lock_says(self):
        self.fetched()
        words = ("build", "--source", EXAMPLE_SOURCE, "--toolchain", "wheels", "--offline")
        pins = self.lock.read_text()
        self.lock.unlink()
        # Not pinned: --locked refuses it, although it is there; without, it is used and pinned.
        for more in ((), ("-n",)):
            self.refused(self.build(*words, "--locked", *more), 2, "sagekit.lock", "nvcc 13.0", left=["nvcc"])
        self.assertFalse(self.lock.exists())
        # Where it cannot be pinned a dry run says so, too.
        (self.folder / "file").write_text("x")
        for more in ((), ("-n",)):
            self.expect(self.build(*words, "--lock", "file/sagekit.lock", *more), 2, "error[FIL002]: cannot write file/sagekit.lock: ", "--lock FILE names another place")
        self.expect(self.build(*words), 1, "FAT103", "trusted on first use")
        self.assertEqual(self.lock.read_text(), pins)
        # Another one is pinned: what is there is not taken in its place.
        tree = self.named_trees()[0]
        self.lock.write_text(pins.replace(tree, tree[:-12] + "0" * 12))
        self.refused(self.build(*words), 3, "13.0", family="PRV|TCH", left=["nvcc"])

    def test_locked_and_offline_hold_for_builds(self):
        for more in ((), ("-n",), ("--offline",), ("-n", "--offline")):
            self.refused(self.build("build", *more, "--source", EXAMPLE_SOURCE, "--toolchain", "wheels", "--locked"), 2, "error[PRV009]: sagekit.lock does not pin nvcc 13.0")
        self.refused(self.build("build", "--source", EXAMPLE_SOURCE, "--toolchain", "wheels", "--offline"), 3, "13.0", family="PRV|TCH")
        # A source that is another one is told first.
        (self.folder / "other").mkdir()
        for more in ((), ("-n",)):
            self.refused(self.build("build", *more, "--source", "other", "--toolchain", "wheels", "--locked"), 2, "SRC003", family="SRC")
        self.assertEqual(self.index.moved("*.whl"), 0)

    def test_a_build_that_lacks_nvcc_and_torch_brings_both(self):
        minor = "{}.{}".format(*sys.version_info)
        # A source that is there and is another one: nothing is fetched for it.
        other = self.folder / "other source"
        other.mkdir()
        (other / "a.txt").write_text("a")
        words = ("--plugin", "sage2", "build", "--profile", "current", "--cells", f"sage2-pytorch211-cu130-python{minor.replace('.', '')}*",
                 "--arch", "9.0", "--toolchain", "wheels", "--index-url", self.index.url, "--source", other)
        dry = self.run_sagekit(*words[:-2], "-n")
        if "TCH004" in dry.err:
            self.skipTest(f"no Python {minor} with headers on PATH")
        # A dry run fetches nothing and ends as the build would begin.
        self.expect(dry, 0, "would fetch nvcc 13.0", "would fetch torch 2.11.0", "would run compile-")
        self.expect(self.run_sagekit(*words, "-n"), 2, "would fetch nvcc 13.0", "SRC003", "other source")
        self.assertEqual(self.named_trees(), [])
        self.assertEqual(self.index.moved("*.whl"), 0)
        for more in ((), ("-n",)):
            self.expect(self.run_sagekit(*words, "--offline", *more), 2, "SRC003")
            self.expect(self.run_sagekit(*words[:-2], "--offline", *more), 3, "TCH001")
        self.expect(self.run_sagekit(*words), 2, "SRC003", "other source")
        self.assertEqual(self.named_trees(), [])
        self.assertEqual(self.index.moved("*.whl"), 0)
        # What an address has is not known before.
        self.expect(self.run_sagekit(*words[:-1], other.as_uri()), 1, "SRC001")
        self.assertEqual([name.split("-")[0] for name in self.named_trees()], ["nvcc", "torch"])

    def test_a_torch_that_the_index_refused_is_not_advised_to_be_fetched_once_more(self):
        self.index.add_all(fake_packages.nvcc_wheels("13.2", "13.2.51"))
        self.index.add_all([fake_packages.torch_wheel("2.12.1", "13.0")])
        minor = "{}.{}".format(*sys.version_info)
        words = ("--plugin", "sage2", "build", "--profile", "current", "--torch", "2.12.1", "--cuda", "13.2", "--python", minor, "--arch", "9.0",
                 "--platform", "linux_x86_64", "--index-url", self.index.url)
        own = "https://download.pytorch.org/whl/cu132"
        for more, advice in (((), f"  = PyTorch's own index has more builds: --extra-index-url {own}; or unpack that wheel"),
                             (("--toolchain", "wheels"), f"where there is none, PyTorch's own index has more builds: --extra-index-url {own}; or unpack")):
            done = self.run_sagekit(*words, *more)
            if "TCH004" in done.err:
                self.skipTest(f"no Python {minor} with headers on PATH")
            self.expect(done, 3, "error[TCH005]", "the package index has torch 2.12.1 for linux_x86_64 built for CUDA 13.0, not for CUDA 13.2", advice)
            self.assertNotIn("toolchain fetch --torch", done.err)

    @unittest.skipUnless(has_nvcc(), "no nvcc on this machine that the stand-in could hand its work to")
    def test_a_wheel_built_with_a_fetched_tree_is_the_systems_wheel(self):
        for project, name, content in fake_packages.nvcc_wheels(proxy=str(real_nvcc())):
            self.index.add(project, name, content)
        done = self.build("build", "--source", EXAMPLE_SOURCE, "--toolchain", "wheels", "--json")
        self.expect(done, 0)
        (wheel,) = done.json()["wheels"]
        self.assertEqual(wheel["verdict"], "pass")
        # The tools are gone and the results are not, which nobody can see without the tools.
        for tree in self.named_trees():
            self.expect(self.run_sagekit("toolchain", "remove", tree), 0)
        words = ("build", "-n", "--source", EXAMPLE_SOURCE, "--toolchain", "wheels")
        self.expect(self.build(*words), 0, "would fetch nvcc 13.0", "steps would run, 0 in the store; whether the store has them is known when nvcc 13.0 is here")
        steps = self.build(*words, "--json").json()["steps"]
        self.assertEqual(steps["unknown"], steps["would_run"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
