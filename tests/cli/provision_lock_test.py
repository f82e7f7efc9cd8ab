#!/usr/bin/env python3
"""In the lock means exactly that, or an error: every word of an entry, whether the tree is in the store or comes."""
import re
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES
from provisioning import Provisioning

TORCH = ("--torch", "2.11.0", "--cuda", "13.0")


class Lock(Provisioning):
    def setUp(self):
        super().setUp()
        self.nvcc, self.torch = self.fetched(what=TORCH)
        self.good = self.lock.read_text()

    def empty(self):
        return self.environment(SAGEKIT_STORE=str(self.folder / "empty störe"))

    def edited(self, pattern, change, occurrence=0):
        """The lock with the value of one line changed; that line's number."""
        found = list(re.finditer(pattern, self.good, re.M))[occurrence]
        text = self.good[:found.start(1)] + change(found[1]) + self.good[found.end(1):]
        self.assertNotEqual(text, self.good)
        self.lock.write_text(text)
        return self.good.count("\n", 0, found.start()) + 1

    def test_every_word_of_an_entry_binds_the_store_and_the_index(self):
        other_hash = lambda value: ("1" if value[0] == "0" else "0") + value[1:]  # noqa: E731
        edits = [(r'^version = "(13\.0\.88)"$', lambda value: "13.0.90", 0, True)]  # of the tree
        edits += [(r'^version = "(.*)"$', lambda value: value + "9", n, True) for n in (1, -1)]  # of a file, nvcc's and torch's
        edits += [(r"^size_bytes = (\d+)$", lambda value: value + "1", n, False) for n in (0, -1)]
        edits += [(rf'^{key}sha256 = "(.*)"$', other_hash, n, False) for key in ("", "record_", "directory_") for n in (0, 3)]
        edits += [(r'^sha256 = "(.*)"$', other_hash, -1, False)]  # of a torch's symbols
        for pattern, change, occurrence, says_line in edits:
            with self.subTest(pattern, occurrence=occurrence):
                line = self.edited(pattern, change, occurrence)
                before = self.lock.read_text()
                for more in (("--locked",), ()):
                    self.refused(self.fetch(*more, what=TORCH), 1, "error[PRV006]", f"sagekit.lock:{line} pins ", left=["nvcc", "torch"])
                came = self.fetch("--locked", what=TORCH, env=self.empty())
                code = "IDX010" if "size_bytes" in pattern else "PRV006"  # no byte of a file of another size is read
                self.refused(came, 1, f"error[{code}]", *([f"sagekit.lock:{line} pins "] if says_line else []), left=["nvcc", "torch"])
                self.run_sagekit("toolchain", "remove", "--all", env=self.empty())
                self.assertEqual(self.lock.read_text(), before)
        self.lock.write_text(self.good)
        self.assertFalse([row for row in self.fetched("--locked", what=TORCH) if row["fetched"]])
        self.fetched("--locked", what=TORCH, env=self.empty())

    def test_a_row_that_is_lacking_or_one_too_many_is_a_difference(self):
        rows = re.findall(r"\n\[\[tree\.file\]\](?:\n.+)+\n", self.good)
        for text in (self.good.replace(rows[2], "", 1), self.good.replace(rows[2], rows[2] + rows[2].replace('project = "', 'project = "x-'), 1)):
            self.lock.write_text(text)
            for environment in (None, self.empty()):
                self.refused(self.fetch("--locked", env=environment), 1, "error[PRV006]", "sagekit.lock", left=["nvcc", "torch"])

    def test_a_build_uses_no_tree_that_the_lock_says_otherwise_of(self):
        line = self.edited(r'^record_sha256 = "(.*)"$', lambda value: "0" * 64)
        words = ("--source", EXAMPLE_SOURCE, "--toolchain", "wheels", "--index-url", self.index.url)
        for more in (("--locked",), ()):
            build = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", "build", *words, *more)
            self.refused(build, 1, "error[PRV006]", f"sagekit.lock:{line} pins ", left=["nvcc", "torch"])
            dry = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", "build", "-n", *words, *more)
            self.assertEqual((dry.code, dry.err), (build.code, build.err))
            doctor = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", "doctor", "--json", *words, *more)
            part = next(part for part in doctor.json()["cells"][0]["parts"] if part["kind"] == "nvcc")
            self.assertEqual((doctor.code, part["state"]), (3, "lacking"), part)
            self.assertIn(f"sagekit.lock:{line} pins ", part["found"])
        plan = self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", "plan", "--toolchain", "wheels")
        self.assertIn("0 can be built here now, 0 after fetching", plan.out)


if __name__ == "__main__":
    unittest.main(verbosity=1)
