#!/usr/bin/env python3
"""How sagekit itself is packed (scripts/packaging): same tree, same bytes, wherever and whenever. The packages themselves are compared
in tests/real, for they take ten minutes of CPU time each."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(os.environ["SAGEKIT_SOURCE_DIR"])
TREE = {"bin/sagekit": b"\x7fELF program", "lib/libsagekit.so.0": b"\x7fELF library", "share/doc/sagekit/LICENSE": b"text",
        "share/doc/sagekit/licenses/curl": b"text of another", "lib/sagekit/plugins/sagekit-one.so": b"plugin", "include/sagekit/plan.hpp": b"//"}


class Packages(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="sagekit packages ")
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)

    def wheel(self, name, order, umask, moment, epoch="1700000000", zone="UTC"):
        """The wheel of the tree as another person has it: its folder, the order in which its files came, their times and modes."""
        prefix = self.folder / name / "prefix"
        for member in order:
            path = prefix / member
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(TREE[member])
            path.chmod(0o777 & ~umask)
            os.utime(path, (moment, moment))
        (prefix / "lib" / "libsagekit.so").symlink_to("libsagekit.so.0")
        subprocess.run([sys.executable, SOURCE / "scripts/packaging/make_wheel.py", prefix, "--python", SOURCE / "host/python/sagekit", "--readme",
                        SOURCE / "README.md", "--version", "1.2.3", "--tag", "manylinux_2_28_x86_64", "-o", self.folder / name / "dist"],
                       check=True, stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": epoch, "TZ": zone, "PYTHONHASHSEED": str(umask)})
        (wheel,) = (self.folder / name / "dist").iterdir()
        return wheel

    def test_the_wheel_has_the_same_bytes_wherever_and_whenever(self):
        one = self.wheel("one", list(TREE), 0o022, 1700000001)
        two = self.wheel("two/somewhere else", list(TREE)[::-1], 0o077, 1600000000, zone="Asia/Tokyo")
        self.assertEqual(one.name, two.name)
        self.assertEqual(one.read_bytes(), two.read_bytes())
        with zipfile.ZipFile(one) as archive:
            self.assertEqual(archive.infolist()[0].date_time, (2023, 11, 14, 22, 13, 20))
            program = archive.getinfo("sagekit-1.2.3.data/scripts/sagekit")
            self.assertEqual(program.external_attr >> 16, 0o100755)
        later = self.wheel("later", list(TREE), 0o022, 1700000001, epoch="1700000100")
        self.assertNotEqual(one.read_bytes(), later.read_bytes(), "the time is SOURCE_DATE_EPOCH's")

    def test_a_folder_of_the_build_in_a_package_is_found(self):
        check = SOURCE / "scripts/packaging/no_build_folders"
        prefix = self.folder / "prefix"
        prefix.mkdir()
        (prefix / "library.so").write_bytes(b"\x7fELF\0/home/me/sagekit-of-mine\0")
        clean = subprocess.run([check, prefix, "/home/me/sagekit", "/home/you"], capture_output=True, text=True)
        self.assertEqual((clean.returncode, clean.stderr), (0, ""))  # a neighbour's name that begins alike
        (prefix / "program").write_bytes(b"\x7fELF\0/home/me/sagekit/core/src/plan.cpp\0")
        found = subprocess.run([check, prefix, "/home/me/sagekit", "/home/you"], capture_output=True, text=True)
        self.assertEqual(found.returncode, 1)
        self.assertIn("program has /home/me/sagekit/core/src/plan.cpp", found.stderr)
        self.assertIn("-ffile-prefix-map", found.stderr)


if __name__ == "__main__":
    unittest.main()
