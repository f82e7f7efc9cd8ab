#!/usr/bin/env python3
"""`doctor`, and what must not touch the network: counted by an index that logs every request."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, Done
from provisioning import SECRET, Provisioning, can_mount, fake_packages


class Doctor(Provisioning):
    def doctor(self, *words):
        return self.run_sagekit("doctor", *words, "--index-url", self.index.url)

    def parts(self, *words):
        done = self.doctor("--json", *words)
        document = done.json()
        self.assertEqual(document["schema"], "sagekit.doctor/1")
        self.assertTrue(document["cells"], done.err)
        return done, document, [part for cell in document["cells"] for part in cell["parts"]]

    def test_windows_has_no_command_that_mends_it(self):
        done, _, parts = self.parts("--plugin", "sage2", "--profile", "legacy", "--platform", "win_amd64")
        self.assertEqual(done.code, 3)
        self.assertEqual({part["kind"] for part in parts}, {"platform"})
        shown = self.doctor("--plugin", "sage2", "--profile", "legacy", "--platform", "win_amd64")
        self.expect(shown, 3)
        for text in ("apt-get", "mend:", "toolchain fetch"):
            self.assertNotIn(text, done.out + shown.out)
        self.assertIn("MSVC", shown.out)

    def test_what_is_needed_beside_the_wheel_is_shown(self):
        _, document, _ = self.parts("--plugin", "sm121")
        self.assertEqual([c["name"] for c in document["companions"]], ["triton"])
        shown = self.doctor("--plugin", "sm121").out
        self.assertIn("4caa0328bf8df64896dd5f6fb9df41b0eb2e750a", shown)
        self.assertIn("not needed: Triton 3.6 and newer", shown)

    def test_offline_and_locked_promise_no_fetch(self):
        words = ("--plugin", "sm121", "--toolchain", "wheels")
        _, _, plain = self.parts(*words)
        self.assertIn("comes", {part["state"] for part in plain})
        for flag in ("--offline", "--locked"):
            done, _, parts = self.parts(*words, flag)
            self.assertEqual(done.code, 3)
            self.assertNotIn("comes", {part["state"] for part in parts if part["kind"] != "source" or flag == "--offline"}, flag)

    def test_an_nvcc_that_the_index_lacks_comes_from_nvidias_archive(self):
        words = ("--plugin-dir", EXAMPLES, "--plugin", "example", "--profile", "all", "--cuda", "12.8,13.0", "--platform", "linux_x86_64", "--toolchain")
        for source, places in (("redist", {"nvcc 12.8": "NVIDIA's archive", "nvcc 13.0": "NVIDIA's archive"}),
                               ("wheels,redist", {"nvcc 12.8": "NVIDIA's archive", "nvcc 13.0": "the package index"})):
            nvcc = {part["what"]: part["found"] for part in self.parts(*words, source)[2] if part["kind"] == "nvcc"}
            self.assertEqual(nvcc, {what: "not here; build fetches it from " + place for what, place in places.items()})
            self.assertEqual(self.index.log, [])

    def test_a_fetched_tree_that_is_damaged_does_not_come_by_another_fetch(self):
        (row,) = self.fetched()
        words = ("--plugin", "sm121", "--toolchain", "wheels")
        for name in ("cudafe++", "nvcc"):
            with self.subTest(name):
                (pathlib.Path(row["path"]) / "bin" / name).unlink()
                done, _, parts = self.parts(*words)
                self.assertEqual(done.code, 3)
                nvcc = [part for part in parts if part["what"] == "nvcc 13.0"]
                self.assertEqual({(part["state"], part["mend"]) for part in nvcc},
                                 {("lacking", f"sagekit toolchain remove {row['id']}; then sagekit toolchain fetch --cuda 13.0 brings it anew")})
                self.assertIn("the tree is incomplete", nvcc[0]["found"])
        self.expect(self.run_sagekit("toolchain", "remove", row["id"]), 0)
        self.assertIn("comes", {part["state"] for part in self.parts(*words)[2]})

    def test_a_fetched_torch_that_lost_headers_is_removed_and_fetched_anew(self):
        row = self.fetched_torch()
        words = ("--plugin", "sage2", "--profile", "current", "--torch", "2.11.0", "--cuda", "13.0", "--platform", "linux_x86_64")
        torch = lambda: next(part for part in self.parts(*words)[2] if part["kind"] == "torch")  # noqa: E731
        self.assertEqual(torch()["state"], "here")
        include = pathlib.Path(row["path"]) / "torch" / "include"
        for gone, why in ((include / "c10", "torch/include/c10 is missing: the tree is incomplete"),
                          (include / "ATen" / "Config.h", "1 of 1 files in torch/include/ATen are missing"), (include.parent, "torch is missing")):
            shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
            part = torch()
            self.assertEqual(part["state"], "lacking", part)
            self.assertIn("(PRV004)", part["found"])
            self.assertIn(why, part["found"])
            self.assertIn(f"sagekit toolchain remove {row['id']}; then sagekit toolchain fetch --torch 2.11.0 --cuda 13.0", part["mend"])
        self.assertIn("0 after fetching", self.run_sagekit("plan", *words).out)
        self.expect(self.run_sagekit("toolchain", "remove", row["id"]), 0)
        self.assertEqual(torch()["state"], "comes")

    def test_an_nvcc_tree_that_lost_headers_is_incomplete(self):
        (row,) = self.fetched()
        shutil.rmtree(pathlib.Path(row["path"]) / "include" / "cccl")
        nvcc = next(part for part in self.parts("--plugin", "sm121", "--toolchain", "wheels")[2] if part["what"] == "nvcc 13.0")
        self.assertIn("include/cccl is missing: the tree is incomplete (PRV004)", nvcc["found"])
        self.assertIn(f"sagekit toolchain remove {row['id']}; then", nvcc["mend"])

    def test_a_torch_that_only_pytorchs_index_has_does_not_come_from_the_usual_one(self):
        words = ("--plugin", "sage2", "--profile", "current", "--torch", "2.12.1", "--cuda", "13.2", "--platform", "linux_x86_64")
        flag = "--extra-index-url https://download.pytorch.org/whl/cu132"
        nobody = self.environment(HTTPS_PROXY="http://127.0.0.1:9", PIP_RETRIES="0")  # what asked the usual index would end with IDX002

        def torch(*more, **variables):
            done = self.run_sagekit("doctor", "--json", *words, *more, env=nobody | variables)
            return next(part for cell in done.json()["cells"] for part in cell["parts"] if part["kind"] == "torch")

        part = torch()
        self.assertEqual(part["state"], "lacking", part)
        self.assertIn("the package index has that torch for CUDA 13.0", part["found"])
        self.assertIn(f"sagekit toolchain fetch --torch 2.12.1 --cuda 13.2 {flag} brings it", part["mend"])
        self.assertIn(" 0 after fetching", self.run_sagekit("plan", *words, env=nobody).out)
        done = self.run_sagekit("build", *words, env=nobody)
        self.assertEqual(done.code, 3, done.err)
        self.assertNotIn("IDX002", done.err)
        # Another index may have it.
        self.assertEqual(torch(*flag.split())["state"], "comes")
        self.assertIn("from the package index, if that has it: the public one does not", torch(*flag.split())["found"])
        self.assertEqual(torch(PIP_EXTRA_INDEX_URL=self.index.url)["state"], "comes")
        self.assertEqual(torch(PIP_INDEX_URL=self.index.url)["state"], "comes")

    def test_locked_names_a_tree_that_is_here_and_not_pinned(self):
        (row,) = self.fetched()
        self.lock.unlink()
        _, _, parts = self.parts("--plugin", "sm121", "--toolchain", "wheels", "--locked")
        (nvcc,) = [part for part in parts if part["what"] == "nvcc 13.0"]
        self.assertEqual(nvcc["state"], "lacking")
        for text in (row["id"], "sagekit.lock does not pin it"):
            self.assertIn(text, nvcc["found"])
        # What it advises does it: the tree that is here is pinned.
        self.assertIn("sagekit toolchain fetch --cuda 13.0", nvcc["mend"])
        self.assertFalse(self.fetched()[0]["fetched"])
        _, _, parts = self.parts("--plugin", "sm121", "--toolchain", "wheels", "--locked")
        self.assertNotIn("does not pin it", str(parts))

    def test_locked_names_a_torch_that_is_here_and_not_pinned(self):
        self.index.add_all([fake_packages.torch_wheel(platform="linux_aarch64")])
        fetch = ("--torch", "2.11.0", "--cuda", "13.0", "--platform", "linux_aarch64", "--no-nvcc")
        (row,) = self.fetched(what=fetch)
        self.lock.unlink()
        for source in ((), ("--toolchain", "wheels")):
            done, _, parts = self.parts("--plugin", "sm121", *source, "--locked")
            self.assertEqual(done.code, 3)
            (torch,) = [part for part in parts if part["kind"] == "torch"]
            self.assertEqual(torch["state"], "lacking")
            self.assertIn(f"; {row['path']} cannot be used: sagekit.lock does not pin it, and --locked uses nothing else", torch["found"])
            self.assertIn("sagekit toolchain fetch --torch 2.11.0", torch["mend"])
        self.assertFalse(self.fetched(what=fetch)[0]["fetched"])
        self.assertNotIn("does not pin it", str(self.parts("--plugin", "sm121", "--locked")[2]))

    def rows(self, kind, *words, **more):
        done = self.run_sagekit("--plugin", "sm121", "doctor", "--json", *words, env=self.environment(**more))
        return done, [part for cell in done.json()["cells"] for part in cell["parts"] if part["kind"] == kind]

    def test_a_source_that_a_build_cannot_get_is_lacking(self):
        tools = self.folder / "tools"
        tools.mkdir()
        done, (row, *_) = self.rows("source")
        self.assertEqual((row["state"], row["mend"]), ("comes", ""))
        self.held_to_schema("doctor", done.json())
        for words, path, code in (((), str(tools), "git could not be started"), (("--offline",), None, "--offline allows no connection")):
            done, (row, *_) = self.rows("source", *words, **({"PATH": path} if path else {}))
            self.assertEqual((done.code, row["state"]), (3, "lacking"), row)
            self.assertIn(code, row["found"])
            self.assertIn("--source", row["mend"])
        given = [self.example("doctor", "--json", "--offline", *words).json()["cells"][0]["parts"] for words in ((), ("--source", EXAMPLE_SOURCE), ("--source", self.folder / "none"), ("--source", EXAMPLES))]
        rows = [next(part for part in parts if part["kind"] == "source") for parts in given]
        self.assertEqual([row["state"] for row in rows], ["lacking", "here", "lacking", "lacking"], rows)
        self.assertEqual(rows[1]["found"], str(EXAMPLE_SOURCE))
        self.assertFalse((self.folder / "störe").exists(), "doctor makes nothing")

    def test_a_store_that_a_build_cannot_use_is_lacking(self):
        file = self.folder / "file"
        file.write_text("x")
        for store, what in ((file, "Not a directory"), (self.folder / "a,b", "nvcc misreads the ,")):
            done, (row, *_) = self.rows("store", "--store", store)
            self.assertEqual((done.code, row["state"]), (3, "lacking"), row)
            self.assertIn(what, row["found"])
            self.assertTrue(row["mend"])
        self.assertEqual(self.rows("store")[1][0]["state"], "here")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_nothing_comes_into_a_store_whose_toolchains_this_user_may_not_read(self):
        toolchains = self.folder / "störe" / "toolchains"
        toolchains.mkdir(parents=True)
        for folder, mode in ((self.folder, 0o755), (toolchains.parent, 0o777), (toolchains, 0o700)):
            folder.chmod(mode)
        done = Done(subprocess.run([SAGEKIT, "--plugin", "sage2", "doctor", "--json", "--profile", "current", "--cuda", "13.2"], cwd="/",
                                   stdin=subprocess.DEVNULL, capture_output=True, env=self.environment(), user=65534, group=65534, extra_groups=[]))
        parts = [part for cell in done.json()["cells"] for part in cell["parts"] if part["kind"] in ("nvcc", "torch")]
        self.assertEqual({part["kind"] for part in parts}, {"nvcc", "torch"})
        for part in parts:
            self.assertEqual(part["state"], "lacking", part)
            self.assertIn(f"{toolchains} cannot be read: Permission denied", part["found"])
            self.assertIn("check its owner and permissions; then sagekit toolchain fetch", part["mend"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_toolchains_that_this_user_may_not_read_end_every_verb_alike(self):
        self.trees.mkdir(parents=True)
        for folder, mode in ((self.folder, 0o777), (self.trees.parent, 0o777), (self.trees, 0o700)):
            folder.chmod(mode)

        def ask(*words):
            return Done(subprocess.run([str(SAGEKIT), "--plugin-dir", str(EXAMPLES), "--plugin", "example", *map(str, words)], env=self.environment(), cwd=self.folder,
                                       stdin=subprocess.DEVNULL, capture_output=True, user=65534, group=65534, extra_groups=[]))

        closed = f"{self.trees} cannot be read: Permission denied"
        words = ("--toolchain", "wheels", "--index-url", self.index.url, "--source", EXAMPLE_SOURCE)
        would = ask("build", "-n", *words)
        self.expect(would, 3, "error[TCH001]", closed, "check its owner and permissions")
        does = ask("build", *words)
        self.expect(does, 3, f"whether nvcc 13.0 for linux_x86_64 is here is not known: {closed}")
        self.assertEqual(does.err[does.err.index("error["):], would.err[would.err.index("error["):])
        self.assertEqual(ask("doctor", *words).code, 3)
        fetch = ask(*self.words())
        self.refused(fetch, 3, "PRV010", closed, "check its owner and permissions")
        self.assertNotIn("--offline", fetch.err)
        self.assertEqual(self.index.log, [])

    @unittest.skipUnless(can_mount(), "needs root and mount namespaces for a small disk")
    def test_a_store_on_a_disk_that_is_too_small_is_lacking(self):
        disk = self.folder / "disk"
        disk.mkdir()
        for store in (disk, disk / "none" / "yet"):
            words = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=2m none "$0" && exec "$@"', disk, SAGEKIT, "--plugin", "sm121", "doctor", "--json", "--store", store)
            done = Done(subprocess.run(list(map(str, words)), env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True))
            row = next(part for part in done.json()["cells"][0]["parts"] if part["kind"] == "store")
            self.assertEqual((done.code, row["state"]), (3, "lacking"), row)
            self.assertRegex(row["found"], f"only [12] MiB are free at {store}, a build needs 1 GiB")
            self.assertIn("free some space", row["mend"])

    def test_advice_names_the_store_when_a_plain_command_would_take_another(self):
        words = ("--plugin", "sm121", "--toolchain", "wheels")
        other = self.folder / "other store"
        mend = lambda *more, **options: [part["mend"] for part in self.parts(*words, *more)[2] if part["what"] == "nvcc 13.0"][0]  # noqa: E731
        index = f" --index-url {self.index.url}"
        self.assertEqual(mend(), f"sagekit toolchain fetch --cuda 13.0{index} --toolchain wheels")
        self.assertEqual(mend("--store", other), f"sagekit toolchain fetch --cuda 13.0 --store '{other}'{index} --toolchain wheels")
        environment = {name: value for name, value in self.environment().items() if name != "SAGEKIT_STORE"}
        (self.folder / "sagekit.toml").write_text('store = "other store"\n')
        done = self.run_sagekit("doctor", "--json", *words, "--index-url", self.index.url, env=environment)
        self.assertIn(f"sagekit toolchain fetch --cuda 13.0 --store '{other}'", done.out)
        # Followed, it does not touch the same tree of another store.
        row = self.fetched()[0]
        self.run_sagekit("toolchain", "fetch", "--cuda", "13.0", "--store", other, "--index-url", self.index.url)
        (other / "toolchains" / row["id"] / "bin" / "ptxas").unlink()
        self.expect(self.run_sagekit("toolchain", "verify", "--store", other), 1, f"sagekit toolchain remove {row['id']} --store '{other}'")

    def test_advice_to_fetch_asks_whom_the_call_would_have_asked(self):
        words = ("--plugin", "sm121", "--toolchain", "redist", "--redist-url", f"{self.index.base}/redist", "--cert", "my certs.pem")
        mend = next(part["mend"] for part in self.parts(*words)[2] if part["what"] == "nvcc 13.0")
        self.assertIn(f" --redist-url {self.index.base}/redist --cert 'my certs.pem' --toolchain redist", mend)

    def test_advice_to_fetch_names_the_lock_and_the_index_that_it_is_for(self):
        lock = self.folder / "lk" / "ci.lock"
        lock.parent.mkdir()
        words = ("--plugin", "sm121", "--toolchain", "wheels", "--locked", "--lock", "lk/ci.lock", "--store", "k1")
        done = self.run_sagekit("doctor", "--json", *words, "--index-url", self.index.url)
        command = re.search(r"sagekit (toolchain fetch --cuda 13.0 .*?) brings it", done.out)[1]
        self.assertIn(f" --lock lk/ci.lock --index-url {self.index.url}", command)
        self.expect(self.run_sagekit(*shlex.split(command)), 0)
        self.assertTrue(lock.is_file())
        self.assertFalse(self.lock.exists())
        _, _, parts = self.parts(*words)
        self.assertEqual([part["state"] for part in parts if part["what"] == "nvcc 13.0"][0], "here")
        # A password goes into no text that is shown.
        done = self.run_sagekit("doctor", "--json", *words[:4], "--offline", "--index-url", f"http://me:{SECRET}@host/simple",
                                "--extra-index-url", f"https://{SECRET}@other/simple", "--store", "k2")
        self.assertIn(" --index-url http://host/simple --extra-index-url https://other/simple brings it", done.out)
        self.assertNotIn(SECRET, done.out + done.err)

    def test_a_tree_whose_modes_a_copy_lost_is_not_whole_and_is_mended_by_chmod(self):
        tree = pathlib.Path(self.fetched()[0]["path"])
        for program in (*tree.glob("bin/*"), *tree.glob("nvvm/bin/*")):
            if program.is_file():
                program.chmod(0o644)
        checked = self.run_sagekit("toolchain", "verify")
        self.expect(checked, 1, "bin/nvcc may not be executed", "chmod a+x")
        self.assertNotIn("toolchain remove", checked.err)
        (nvcc, *_) = [part for part in self.parts("--plugin", "sm121", "--toolchain", "wheels")[2] if part["what"] == "nvcc 13.0"]
        subprocess.run(["sh", "-c", nvcc["mend"]], check=True)
        self.expect(self.run_sagekit("toolchain", "verify"), 0)

    def test_what_this_user_may_not_read_is_not_said_to_be_absent(self):
        tree = pathlib.Path(self.fetched()[0]["path"])
        self.folder.chmod(0o755)
        other = {"user": 65534} if os.geteuid() == 0 else {}

        def ask(*words):
            return Done(subprocess.run([str(SAGEKIT), *map(str, words)], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, **other))

        for closed in (tree, self.trees):
            closed.chmod(0o000)
            with self.subTest(closed.name):
                self.assertIn(f"{closed} cannot be read: Permission denied", ask("toolchain", "list").out)
                fetch = ask(*self.words("--offline"))
                self.expect(fetch, 3, "PRV010", f"{closed} cannot be read: Permission denied", "check its owner and permissions")
                self.expect(ask("cache", "stats"), 2, "STO003", f"cannot read {closed}: Permission denied")
                doctor = ask("doctor", "--plugin", "sm121", "--toolchain", "wheels", "--json", "--offline")
                self.assertIn("cannot be read: Permission denied", doctor.out)
            closed.chmod(0o755)

    def test_doctor_and_what_is_offline_ask_nobody(self):
        for words in (("doctor", "--plugin", "sage2"), ("doctor", "--plugin", "sage2", "--offline"),
                      ("plan", "--plugin", "sage2", "--offline"), ("env",), ("toolchain", "list")):
            self.run_sagekit(*words, env=self.environment(PIP_INDEX_URL=self.index.url))
        refused = self.fetch("--offline")
        self.refused(refused, 3, "PRV010")
        self.assertEqual(self.index.log, [])

    def test_fetch_of_nothing_is_a_usage_error(self):
        done = self.fetch("--no-nvcc")
        self.expect(done, 2, "--no-nvcc without --torch leaves nothing to fetch")
        self.assertEqual(self.index.log, [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
