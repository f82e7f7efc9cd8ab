#!/usr/bin/env python3
"""Bad input gets: an index that misbehaves in every way, a full disk. Each time one sentence, nothing half under a tree's
final name, no wrong byte used; and when the fault is gone the same command works."""
import fcntl
import hashlib
import re
import resource
import subprocess
import unittest

from harness import SAGEKIT
from provisioning import Provisioning, can_mount, fake_packages, tree_files
from index_server import IndexServer, cut, hang_up, lying_range, other_bytes, portal, redirect, stall, status

TORCH = ("--torch", "2.11.0", "--cuda", "13.0")
PROFILE = "nvidia/cu13/bin/nvcc.profile"


def in_profile(name, data):
    return data + b"# evil\n" if name == PROFILE else data


class Content(Provisioning):
    """What is in the wheels is not what it should be."""

    def setUp(self):
        super().setUp()
        self.nvcc = self.index.names("nvidia_cuda_nvcc*")[0]

    def elsewhere(self):
        return self.environment(SAGEKIT_STORE=str(self.folder / "another störe"))

    def test_a_truncated_wheel(self):
        whole = self.index.content(self.nvcc)
        for left in (len(whole) // 2, len(whole) - 10, 30, 0):
            for size_in_json in (True, False):
                with self.subTest(f"{left} bytes of it, the page {'says' if size_in_json else 'does not say'} how many"):
                    self.index.size_in_json = size_in_json
                    self.index.swap(self.nvcc, whole[:left])
                    self.refused(self.fetch(), 1, self.nvcc)
        self.index.swap(self.nvcc, whole)
        self.works_again()

    def test_an_altered_member_is_caught_by_records_hash(self):
        """Its CRC in the archive was made right again, so only RECORD tells."""
        whole = self.index.content(self.nvcc)
        self.index.size_in_json = False
        self.index.swap(self.nvcc, fake_packages.edited(whole, in_profile, keep_record=True))
        self.refused(self.fetch(), 1, "nvcc.profile", self.nvcc)
        self.index.swap(self.nvcc, whole)
        self.works_again()

    def test_a_byte_altered_anywhere_is_never_used(self):
        """In compressed data, local headers, RECORD, the central directory, the end record: an error, or a byte that no file is made of."""
        whole = self.index.content(self.nvcc)
        (good,) = self.fetched(env=self.elsewhere(), what=("--cuda", "13.0", "--lock", "good.lock"))
        expected = tree_files(good["path"])
        directory = whole.rindex(b"PK\1\2", 0, whole.index(b"PK\1\2") + 4)
        places = {"data of nvcc.profile": whole.index(PROFILE.encode()) + len(PROFILE) + 9, "a local header": whole.index(PROFILE.encode()) - 12,
                  "a member's name": whole.index(PROFILE.encode()) + 5, "RECORD": directory - 60, "the central directory's first CRC": directory + 16,
                  "a size in it": directory + 24, "a name in it": directory + 60, "the end record": len(whole) - 8}
        for place, at in places.items():
            with self.subTest(place):
                changed = bytearray(whole)
                changed[at] ^= 0x40
                self.index.swap(self.nvcc, bytes(changed))
                done = self.fetch()
                if done.code != 0:
                    self.refused(done, 1, self.nvcc)
                    continue
                files = tree_files(done.out.strip())
                self.run_sagekit("toolchain", "remove", "--all")
                self.lock.unlink()
                differing = [path for path in sorted({*files, *expected} - {"tree.toml"}) if files.get(path) != expected.get(path)]
                self.assertEqual(differing, [], "it was accepted, and the tree is another")
        self.index.swap(self.nvcc, whole)
        self.works_again()

    def test_a_swapped_wheel_is_not_the_locked_one(self):
        """A whole, self-consistent other wheel under the same address: RECORD and directory differ from the lock's."""
        self.fetched(env=self.elsewhere())
        before = self.lock.read_bytes()
        whole = self.index.content(self.nvcc)
        self.index.swap(self.nvcc, fake_packages.edited(whole, in_profile))
        for more in ((), ("--locked",), ("--full",)):
            self.refused(self.fetch(*more), 1, self.nvcc)
            self.index.size_in_json = False
        self.assertEqual(self.lock.read_bytes(), before)
        self.index.swap(self.nvcc, whole)
        self.works_again("--locked")

    def test_a_swapped_wheel_without_a_lock_is_caught_by_full(self):
        self.index.size_in_json = False
        whole = self.index.content(self.nvcc)
        self.index.swap(self.nvcc, fake_packages.edited(whole, in_profile))
        self.refused(self.fetch("--full"), 1, self.nvcc, hashlib.sha256(whole).hexdigest()[:12])
        self.index.swap(self.nvcc, whole)
        self.index.forget()
        self.works_again("--full")
        self.assertGreaterEqual(self.index.moved("*nvidia_cuda_nvcc*.whl"), len(whole), "--full reads all of it")

    def test_a_reuploaded_wheel_is_not_the_locked_one(self):
        """The page gives it its own new hash and size: still not what the lock pins."""
        self.fetched(env=self.elsewhere())
        whole = self.index.content(self.nvcc)
        self.index.add("nvidia-cuda-nvcc", self.nvcc, fake_packages.edited(whole, in_profile))
        for more in ((), ("--locked",), ("--full",)):
            self.refused(self.fetch(*more), 1, self.nvcc, "lock")
        self.index.add("nvidia-cuda-nvcc", self.nvcc, whole)
        self.works_again("--locked")

    def test_a_locked_wheel_that_is_gone(self):
        self.fetched(env=self.elsewhere())
        kept = self.index.projects["nvidia-cuda-nvcc"].pop(self.nvcc)
        self.refused(self.fetch(), 1, self.nvcc)
        self.index.projects["nvidia-cuda-nvcc"][self.nvcc] = kept
        self.works_again()

    def test_another_export_list_than_the_locked_one(self):
        self.fetched(what=TORCH, env=self.elsewhere())
        text = self.lock.read_text()
        at = text.index("libc10.so")
        found = re.search(r"\b[0-9a-f]{64}\b", text[at:])
        self.lock.write_text(text[:at + found.start()] + "0" * 64 + text[at + found.end():])
        self.refused(self.fetch(what=TORCH), 1, "libc10.so", left=["nvcc"])
        self.lock.write_text(text)
        self.works_again("--locked", what=TORCH)

    def test_members_that_would_leave_the_tree(self):
        whole = self.index.content(self.nvcc)
        for evil in ("nvidia/cu13/bin/../../../../../evil", "/tmp/sagekit-evil", "nvidia/cu13/bin/a\\..\\..\\evil"):
            with self.subTest(evil):
                name, content = fake_packages.wheel("nvidia-cuda-nvcc", "13.0.88", "py3-none-any", {evil: b"evil", PROFILE: b"x"})
                self.index.swap(self.nvcc, content)
                self.index.size_in_json = False
                self.refused(self.fetch(), 1, self.nvcc)
        self.assertEqual(list(self.folder.rglob("*evil*")), [])
        self.index.swap(self.nvcc, whole)
        self.works_again()


class Transport(Provisioning):
    """What is between is not what it should be."""

    def each(self, pattern, actions, *texts, code=1, what=("--cuda", "13.0")):
        for name, action in actions.items():
            with self.subTest(name):
                self.index.fault(pattern, action)
                self.refused(self.fetch(what=what), code, *texts)
                self.index.mend()
        self.works_again(what=what)

    def test_a_lying_content_range(self):
        self.each("*nvidia_nvvm*.whl", {"another first byte": lying_range(shift=1), "another place": lying_range(shift=-4096), "another size": lying_range(total=777),
                                        "fewer bytes than it says": lying_range(length=-10)}, "nvidia_nvvm")

    def test_another_size_from_one_request_to_the_next(self):
        self.index.fault("*nvidia_nvvm*.whl", lying_range(total=777), skip=1)
        self.refused(self.fetch(), 1, "nvidia_nvvm")
        self.works_again()

    def test_ranges_of_other_bytes(self):
        """Right framing, wrong content, after the directory was read right."""
        self.index.fault("*nvidia_nvvm*.whl", other_bytes(lambda content: bytes(b ^ 1 for b in content)), skip=1)
        self.refused(self.fetch(), 1, "nvidia_nvvm")
        self.works_again()

    def test_a_proxys_login_page(self):
        self.each("*.whl", {"for wheels": portal()}, "127.0.0.1")
        self.run_sagekit("toolchain", "remove", "--all")
        self.each("/simple/*", {"for pages": portal()}, "127.0.0.1")

    def test_a_wheel_that_is_not_there(self):
        self.each("*nvidia_nvvm*.whl", {"404": status(404), "403": status(403), "410": status(410)}, "nvidia_nvvm", self.index.host)

    def test_one_project_that_is_not_there(self):
        kept = self.index.projects.pop("nvidia-nvvm")
        self.refused(self.fetch("--toolchain", "wheels"), 3, "nvidia-nvvm")
        both = self.fetch("--toolchain", "wheels,redist")
        self.refused(both, 3, "nvidia-nvvm", "/redist/redistrib_13.0.2.json")
        self.index.projects["nvidia-nvvm"] = kept
        self.works_again()

    def test_too_many_requests_for_good_and_once(self):
        self.index.fault("*nvidia_nvvm*.whl", status(429, Retry_After=0))
        self.refused(self.fetch(), 1, "nvidia_nvvm", "429")
        self.assertEqual(len(self.index.asked("*nvidia_nvvm*.whl")), 3, "PIP_RETRIES=2: three tries")
        self.index.mend()
        self.index.fault("*.whl", status(429, Retry_After=1), times=1)
        self.fetched()

    def test_server_errors_for_good_and_once(self):
        for code in (500, 502, 503):
            with self.subTest(code):
                self.index.fault("*nvidia_nvvm*.whl", status(code))
                self.refused(self.fetch(), 1, "nvidia_nvvm", str(code))
                self.index.mend()
        self.index.fault("*.whl", status(503), times=2)
        self.index.fault("/simple/*", status(500), times=1)
        self.fetched()

    def test_stalls(self):
        self.index.fault("*nvidia_nvvm*.whl", stall(after=100))
        self.refused(self.fetch(env=self.environment(PIP_RETRIES="1")), 1, "nvidia_nvvm")
        self.index.mend()
        self.index.fault("*nvidia_nvvm*.whl", stall(after=100), times=1)
        self.fetched()

    def test_a_server_that_never_answers_at_all(self):
        self.index.fault("/simple/cuda-toolkit/", stall())
        self.refused(self.fetch(env=self.environment(PIP_RETRIES="0")), 1, "cuda-toolkit")
        self.works_again()

    def test_cut_connections(self):
        self.each("*nvidia_nvvm*.whl", {"at byte 0": cut(0), "at byte 1": cut(1), "no answer at all": hang_up()}, "nvidia_nvvm")
        self.run_sagekit("toolchain", "remove", "--all")
        for after in (0, 1, 1000, 60_000):
            self.index.fault("*nvidia_nvvm*.whl", cut(after), times=1)
        self.fetched(env=self.environment(PIP_RETRIES="5"))

    def test_a_whole_download_that_is_cut_goes_on_where_it_was(self):
        name = self.index.names("nvidia_nvvm*")[0]
        size = len(self.index.content(name))
        self.index.fault("*nvidia_nvvm*.whl", cut(size // 2), times=1)
        self.fetched("--full")
        self.assertLess(self.index.moved("*nvidia_nvvm*.whl"), 1.2 * size)

    def test_nobody_listens(self):
        done = self.fetch(index="http://127.0.0.1:1/simple", env=self.environment(PIP_RETRIES="0"))
        self.refused(done, 1, "127.0.0.1:1")
        self.works_again()

    def test_redirects_in_a_circle_and_to_nobody(self):
        self.each("*nvidia_nvvm*.whl", {"circle": redirect("{path}")}, "nvidia_nvvm")
        self.run_sagekit("toolchain", "remove", "--all")
        self.index.fault("*nvidia_nvvm*.whl", redirect("http://127.0.0.2:1{path}"))
        self.refused(self.fetch(env=self.environment(PIP_RETRIES="0")), 1, "127.0.0.2:1")
        self.index.mend()
        self.index.fault("*nvidia_nvvm*.whl", redirect("file:///etc/passwd"))
        self.refused(self.fetch(), 1)
        self.works_again()

    def test_a_redirect_to_another_host_works(self):
        with IndexServer("127.0.0.2") as other:
            other.files = self.index.files
            self.index.fault("*.whl", redirect(other.base + "{path}"))
            self.fetched()
            self.assertTrue(other.moved("*.whl"))

    def test_no_index_at_all_is_said(self):
        done = self.run_sagekit("toolchain", "fetch", "--cuda", "13.0", "--index-url", "no address", env=self.environment())
        self.refused(done, 2, "no address", family="IDX|CLI|PRV")


class Disk(Provisioning):
    @unittest.skipUnless(can_mount(), "needs root and mount namespaces for a small file system")
    def test_a_full_disk(self):
        self.trees.mkdir(parents=True)
        command = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && "$@"; code=$?; ls -A "$0" >&2; exit $code', str(self.trees),
                   str(SAGEKIT), *self.words()]
        ended = subprocess.run(command, env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertEqual(ended.stderr.count("error["), 1, ended.stderr)
        self.assertRegex(ended.stderr, "(?i)no space|full")
        self.assertNotRegex(ended.stderr, r"(?m)^nvcc-")
        self.works_again()

    def test_a_file_that_may_not_grow(self):
        limit = 60_000  # less than the biggest wanted file; --full writes whole wheels
        done = subprocess.run([str(SAGEKIT), *self.words("--full")], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                              restore_signals=False)  # SIGXFSZ stays ignored: writes fail instead
        self.assertIn(done.returncode, (1, 2, 3), done.stderr)
        self.assertEqual(done.stderr.count("error["), 1, done.stderr)
        self.assertEqual(self.named_trees(), [])
        self.works_again("--full")

    def test_a_store_that_may_not_be_written(self):
        (self.folder / "störe").write_text("a file where the store should be")
        done = self.fetch()
        self.assertIn(done.code, (2, 3), done.err)
        self.assertEqual(done.err.count("error["), 1, done.err)
        self.assertIn("störe", done.err)

    def test_remove_all_removes_what_failed_fetches_left(self):
        partial = self.trees / ".partial"
        for key in ("nvcc-12.9-linux_x86_64", "nvcc-13.0-linux_x86_64"):
            (partial / key / "tree").mkdir(parents=True)
            (partial / key / "tree" / "cicc").write_bytes(b"x" * 1000)
        with open(partial / "nvcc-13.0-linux_x86_64.lock", "w") as held:  # as a fetch that lives holds it
            fcntl.flock(held, fcntl.LOCK_EX)
            self.expect(self.run_sagekit("toolchain", "remove", "--all"), 0, "removed", "nvcc-12.9-linux_x86_64")
            self.assertEqual([p.name for p in partial.iterdir() if p.is_dir()], ["nvcc-13.0-linux_x86_64"])
        self.expect(self.run_sagekit("toolchain", "remove", "--all"), 0)
        self.assertEqual(list(partial.iterdir()), [])
        self.works_again()


class Redist(Provisioning):
    """NVIDIA's archive manifests, in the documented layout, from a local server."""

    def setUp(self):
        super().setUp()
        self.serve()

    def serve(self, **more):
        for path, content in fake_packages.redist(**more).items():
            self.index.put("/redist/" + path, content)

    def words(self, *words, what=("--cuda", "12.8"), index=None):
        return super().words("--toolchain", "redist", *words, what=what, index=index)

    def fetch(self, *words, what=("--cuda", "12.8"), **options):
        return super().fetch(*words, what=what, **options)

    def archive_name(self, component):
        return next(p for p in self.index.files if p.startswith(f"/redist/{component}/linux") and p.endswith(".tar.xz"))

    def test_a_tree_of_12_8_from_archives(self):
        (row,) = self.fetched()
        self.assertEqual((row["kind"], row["version"], row["cuda"], row["source"]), ("nvcc", "12.8.93", "12.8", "redist"))
        files = tree_files(row["path"])
        for path in ("bin/nvcc", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc", "include/cuda_runtime.h", "include/crt/host_config.h", "include/thrust/complex.h",
                     "include/cublas.h", "lib/libcudart.so.12", "lib/libcudart.so"):
            self.assertIn(path, files)
        for absent in ("bin/nvlink", "bin/cuda-gdb", "lib/libcublas.so.12"):
            self.assertNotIn(absent, files)
        self.assertTrue([p for p in files if p.startswith("licenses/")])
        self.assertEqual(self.index.asked("*cuda_gdb*"), [])
        self.assertEqual([t["ready"] for t in self.provisioned()], [True])
        self.assertIn(hashlib.sha256(self.index.files[self.archive_name("cuda_nvcc")].content).hexdigest(), self.lock.read_text())
        self.index.forget()
        self.fetched("--locked")
        self.assertEqual(self.index.log, [])
        self.expect(self.run_sagekit("toolchain", "verify"), 0)

    def test_a_torch_of_12_8_comes_from_wheels_and_its_nvcc_from_archives(self):
        self.index.add_all([fake_packages.torch_wheel("2.8.0", cuda="12.8")])
        rows = self.fetched("--toolchain", "wheels,redist", what=("--torch", "2.8.0", "--cuda", "12.8"))
        self.assertEqual([(r["kind"], r["source"]) for r in rows], [("nvcc", "redist"), ("torch", "wheels")])

    def test_wrong_archives_and_manifests(self):
        archive = self.archive_name("cuda_cudart")
        manifest = "/redist/redistrib_12.8.1.json"
        for name, pattern, action, code in (("altered", archive, other_bytes(lambda c: c[:-30] + bytes([c[-30] ^ 1]) + c[-29:]), 1),
                                            ("truncated", archive, other_bytes(lambda c: c[:-100]), 1), ("404", archive, status(404), 1),
                                            ("portal", archive, portal(), 1), ("cut", archive, cut(100), 1), ("manifest: portal", manifest, portal(), 1),
                                            ("manifest: not JSON", manifest, status(200, b"{", "application/json"), 1),
                                            ("manifest: no components", manifest, status(200, b"{}", "application/json"), None),
                                            ("manifest: 404", manifest, status(404), 3)):
            with self.subTest(name):
                self.index.fault(pattern, action)
                done = self.fetch()
                self.refused(done, done.code if code is None else code, "cuda_cudart" if pattern == archive else "12.8")
                self.assertIn(done.code, (1, 3))
                self.index.mend()
        self.works_again()

    def test_an_archive_that_leaves_the_tree(self):
        for evil, value in (("../../../evil", b"evil"), ("bin/../../../evil", b"evil"), ("include/link", "/etc"), ("include/link", "../../..")):
            with self.subTest(evil + str(value)):
                def change(component, files, evil=evil, value=value):
                    if component == "cuda_nvcc":
                        files[evil] = value
                        if isinstance(value, str):
                            files[evil + "/evil"] = b"evil"
                self.serve(change=change)
                done = self.fetch()
                self.assertEqual(list(self.folder.parent.glob("evil")) + [p for p in self.folder.rglob("evil") if "include" not in str(p)], [])
                if done.code == 0:  # left out, or kept as a harmless file of its own
                    self.assertFalse((self.trees / self.named_trees()[0] / "include/link").is_symlink())
                    self.run_sagekit("toolchain", "remove", "--all")
                    self.lock.unlink()
                else:
                    self.refused(done, 1, "cuda_nvcc")
        self.serve()
        self.works_again()

    def test_a_changed_archive_is_not_the_locked_one(self):
        self.fetched(env=self.environment(SAGEKIT_STORE=str(self.folder / "other")))

        def change(component, files):
            if component == "cuda_cudart":
                files["include/cuda.h"] = b"#define CUDA_VERSION 666\n"
        self.serve(change=change)
        self.refused(self.fetch(), 1, "cuda_cudart")
        self.refused(self.fetch("--locked"), 1, "cuda_cudart")
        self.serve()
        self.works_again("--locked")


if __name__ == "__main__":
    unittest.main(verbosity=1)
