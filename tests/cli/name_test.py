#!/usr/bin/env python3
"""name: file names read, cells named, through the real binary."""
import unittest

from harness import CommandLine


class Name(CommandLine):
    def test_a_published_name_is_explained(self):
        name = "sageattention-2.2.0+cu130torch2.10.0andhigher.post6-cp310-abi3-win_amd64.whl"
        done = self.run_sagekit("name", name)
        self.expect(done, 0)
        for words in ("sageattention", "2.10.0 and higher", "13.0", "post6", "win_amd64"):
            self.assertIn(words, done.out)
        document = self.run_sagekit("name", name, "--json").json()
        self.assertEqual(document["schema"], "sagekit.name/1")
        said = {key: document[key] for key in ("package", "version", "torch_min", "cuda", "python", "abi", "platform", "revision")}
        self.assertEqual(said, {"package": "sageattention", "version": "2.2.0", "torch_min": "2.10.0", "cuda": "13.0",
                                "python": "cp310", "abi": "abi3", "platform": "win_amd64", "revision": "post6"})
        for absent in ("torch", "build", "cxx11_abi", "arches", "unread"):
            self.assertNotIn(absent, document)

    def test_a_url_is_a_name(self):
        document = self.run_sagekit("name", "--json", "https://host/a/sageattention-2.2.0%2Bcu128torch2.7.1-cp312-cp312-"
                                    "win_amd64.whl?download=true").json()
        self.assertEqual((document["torch"], document["cuda"]), ("2.7.1", "12.8"))

    def test_two_readings_are_both_shown_and_none_is_chosen(self):
        name = "sageattention-2.2.0-2311.130-cp312-cp312-linux_x86_64.whl"
        done = self.run_sagekit("name", name, "--json")
        self.expect(done, 1, "NAM012")
        document = done.json()
        self.assertEqual([reading["torch"] for reading in document["readings"]], ["2.3.11", "2.31.1"])
        self.assertNotIn("torch", document)
        self.assertEqual(document["cuda"], "13.0")

    def test_what_is_no_wheel_name_is_refused(self):
        self.expect(self.run_sagekit("name", "sageattention-2.2.0+cu130torch2.9.0.whl"), 1, "NAM002")
        self.expect(self.run_sagekit("name", "a.whl", "--naming", "build-tga"), 2, "PLN003", "build-tag")

    def test_a_cell_in_every_scheme_and_in_one(self):
        plan = self.example("plan", "--json").json()
        cell = plan["cells"][0]
        document = self.example("name", cell["id"], "--json").json()
        names = {row["scheme"]: row for row in document["names"]}
        self.assertEqual(document["cell"], cell["id"])
        self.assertIn(cell["wheel"], [row.get("wheel") for row in names.values()])
        self.assertIn("why_not", names["and-higher"])
        for row in names.values():
            if "wheel" in row:
                self.expect(self.run_sagekit("name", row["wheel"]), 0)
        done = self.example("name", cell["id"], "--naming", "plain")
        self.expect(done, 0)
        self.assertIn("plain", done.out)
        self.assertNotIn("build-tag", done.out)
        self.expect(self.example("name", "no-such-cell"), 4)


if __name__ == "__main__":
    unittest.main()
