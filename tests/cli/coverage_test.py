#!/usr/bin/env python3
"""Planned minus published, from a manifest, a folder and an index; and the verbs that make only the rest."""
import json
import os
import pathlib
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import CommandLine
from index_server import IndexServer, no_ranges
from release_wheels import pass_all
from wheels import Wheel


def row(cell, commit, **more):
    return {"file": cell["wheel"], "size_bytes": 1, "sha256": "0" * 64, "cell": cell["id"], "python": cell["python"], "torch": cell["torch"], "cuda": cell["cuda"],
            "platform": cell["platform"], "arches": cell["arches"], "commit": commit, "verdict": "pass"} | more


def wheel_of(cell, commit, record=True, **said):
    """The cell's wheel, with its build's record of itself or without."""
    name = cell["wheel"].removesuffix(".whl").split("-")
    wheel = Wheel(name[0], name[1], "-".join(name[2:]))
    if record:
        about = {"schema": "sagekit.provenance/1", "cell": cell["id"], "python": cell["python"], "torch": cell["torch"], "cuda": cell["cuda"], "platform": cell["platform"], "arches": cell["arches"], "source": {"commit": commit}}
        wheel.files[f"{wheel.dist_info}/sagekit.json"] = json.dumps(about | said).encode()
    return wheel


class Coverage(CommandLine):
    def setUp(self):
        super().setUp()
        plan = self.example("plan", "--platform", "linux_x86_64,linux_aarch64", "--json").json()
        self.cells, self.commit = plan["cells"], plan["source"]["commit"]
        self.assertGreater(len(self.cells), 1)
        self.ids = [cell["id"] for cell in self.cells]

    def manifest(self, *rows):
        path = self.folder / "sagekit.release.json"
        path.write_text(json.dumps({"schema": "sagekit.release/1", "plugin": {}, "source": {}, "wheels": list(rows)}))
        return path

    def coverage(self, place, code):
        done = self.example("coverage", place, "--platform", "linux_x86_64,linux_aarch64", "--json")
        self.expect(done, code)
        return {cell["cell"]: cell["state"] for cell in done.json()["cells"]}

    def planned(self, *words):
        done = self.example("plan", "--platform", "linux_x86_64,linux_aarch64", "--json", *words)
        self.expect(done, 0)
        return [cell["id"] for cell in done.json()["cells"]]

    def test_the_plan_is_sagekit_toml_s(self):
        (self.folder / "sagekit.toml").write_text('[[overrides]]\nselect = "*"\narch = "9.0"\n')
        cells = self.example("plan", "--platform", "linux_x86_64,linux_aarch64", "--json").json()["cells"]
        self.assertEqual({tuple(cell["arches"]) for cell in cells}, {("9.0",)})
        states = self.coverage(self.manifest(*[row(cell, self.commit) for cell in cells]), 0)
        self.assertEqual(states, {cell["id"]: "published" for cell in cells})

    def test_states(self):
        first, rest = self.cells[0], self.ids[1:]
        place = self.manifest(row(first, self.commit))
        self.assertEqual(self.coverage(place, 1), {first["id"]: "published"} | dict.fromkeys(rest, "missing"))
        self.assertEqual(self.planned("--missing-from", place), rest)
        self.assertEqual(self.coverage(self.manifest(row(first, "f" * 40)), 1)[first["id"]], "stale")
        self.assertEqual(self.coverage(self.manifest(row(first, self.commit[:9])), 1)[first["id"]], "published")
        self.assertEqual(self.coverage(self.manifest(row(first, self.commit, verdict="fail")), 1)[first["id"]], "failing")
        # Another name, and what it says of itself is the cell's; then other arches, and no word about its source.
        other = {"file": "sagekit_example-9.9-py3-none-" + first["platform"] + ".whl"}
        self.assertEqual(self.coverage(self.manifest(row(first, self.commit, **other)), 1)[first["id"]], "published")
        self.assertEqual(self.coverage(self.manifest(row(first, self.commit, arches=["5.2"], **other)), 1)[first["id"]], "missing")
        near = self.example("coverage", self.manifest(row(first, self.commit, arches=["5.2"], **other)))
        self.assertIn(f"{other['file']} has code for 5.2, the plan's for", " ".join(near.out.split()))
        self.assertEqual(self.coverage(self.manifest(row(first, self.commit, cuda="", **other)), 1)[first["id"]], "missing")
        self.assertEqual(self.coverage(self.manifest(row(first, "", **other)), 1)[first["id"]], "stale")
        # Tags of several Pythons are those of each, and no others.
        tags = "-none-" + first["platform"] + ".whl"
        mine = "cp" + first["python"].replace(".", "")
        for tag, state in (("cp38.cp39", "missing"), ("cp38." + mine, "published")):
            several = row(first, self.commit, python="", file="sagekit_example-9.9-" + tag + tags)
            self.assertEqual(self.coverage(self.manifest(several), 1)[first["id"]], state)
        # Its very name, made with fewer arches.
        self.assertEqual(self.coverage(self.manifest(row(first, self.commit, arches=["5.2"])), 1)[first["id"]], "stale")
        # What installers leave alone is published to nobody.
        place = self.manifest(row(first, self.commit))
        (self.folder / "yanked.toml").write_text(f'[[yanked]]\nfiles = "{first["wheel"]}"\nreason = "wrong"\n')
        self.assertEqual(self.coverage(place, 1)[first["id"]], "missing")
        self.assertIn(f"{first['wheel']} was yanked", " ".join(self.example("coverage", place).out.split()))
        (self.folder / "yanked.toml").unlink()
        everything = self.manifest(*[row(cell, self.commit) for cell in self.cells])
        self.assertEqual(set(self.coverage(everything, 0).values()), {"published"})
        self.assertEqual(self.planned("--missing-from", everything), [])

    def test_a_wheel_of_the_limited_api_is_for_every_later_python(self):
        words = ("--profile", "all", "--cuda", "13.0", "--platform", "linux_x86_64", "--python", "3.10,3.11,3.12")
        cells = self.example("plan", *words, "--json").json()["cells"]
        self.assertEqual([cell["python"] for cell in cells], ["3.10", "3.11", "3.12"])
        for tags, made_with, missing in (("cp311-abi3", "3.11", ["3.10"]), ("cp310-abi3", "3.12", []), ("cp311-cp311", "3.11", ["3.10", "3.12"])):
            name = f"sagekit_example-9.9-{tags}-linux_x86_64.whl"
            place = self.manifest(row(cells[0], self.commit, file=name, python=made_with))
            with self.subTest(tags):
                done = self.example("plan", *words, "--json", "--missing-from", place)
                self.expect(done, 0)
                self.assertEqual([cell["python"] for cell in done.json()["cells"]], missing)

    def test_what_is_left_out_is_no_fault_of_the_request(self):
        words = ("plan", "--platform", "linux_x86_64,linux_aarch64", "--cuda", "13.0", "--missing-from")
        done = self.example(*words, self.manifest(row(self.cells[0], self.commit)))
        self.expect(done, 0, "1 of 2 cells")
        self.assertNotIn("PLN015", done.err)
        # A word that names no cell of the whole selection is told all the same.
        done = self.example("plan", "--cuda", "12.8,13.0", "--missing-from", self.manifest())
        self.expect(done, 0, "PLN015", "CUDA 12.8")

    def test_with_nothing_left_each_form_is_whole(self):
        everything = self.manifest(*[row(cell, self.commit) for cell in self.cells])
        words = ("plan", "--platform", "linux_x86_64,linux_aarch64", "--missing-from", everything)
        plan = self.example(*words, "--json", "--steps").json()
        self.assertEqual((plan["plugin"]["name"], plan["source"]["commit"]), ("example", self.commit))
        self.assertEqual((plan["cells"], plan["steps"]), ([], []))
        shards = self.example(*words, "--shards", "2", "--json").json()
        self.assertEqual(shards["schema"], "sagekit.shards/1")
        self.assertEqual([shard["steps"] for shard in shards["shards"]], [[], []])
        dot = self.example(*words, "--dot").out
        self.assertTrue(dot.startswith("digraph") and dot.endswith("}\n"), dot)
        self.assertNotIn("->", dot)
        self.expect(self.example(*words, "--shards", "2", "--shard", "3"), 2, "CLI006")

    def test_folder_and_index(self):
        first = self.cells[0]
        folder = self.folder / "wheels"
        folder.mkdir()
        self.assertEqual(set(self.coverage(folder, 1).values()), {"missing"})
        wheel = wheel_of(first, self.commit)
        path = wheel.write(folder)
        self.assertEqual(self.coverage(folder, 1)[first["id"]], "failing")  # it has none of the modules
        self.run_sagekit("release", "wheels")
        pass_all(folder)
        self.assertEqual(self.coverage(folder, 1)[first["id"]], "published")
        whole = path.read_bytes()
        path.write_bytes(whole + b"x")  # what follows the archive's end is an error of verify's
        self.assertEqual(self.coverage(folder, 1)[first["id"]], "failing")
        path.write_bytes(whole)
        with IndexServer() as index:
            self.assertEqual(set(self.coverage(index.url, 1).values()), {"missing"})
            index.add("sagekit-example", wheel.name, whole)
            self.assertEqual(self.coverage(index.url, 1)[first["id"]], "published")
            index.put("/r/sagekit.release.json", self.manifest(row(first, self.commit)).read_bytes())
            self.assertEqual(self.coverage(index.base + "/r/sagekit.release.json", 1)[first["id"]], "published")

    def test_a_planned_name_that_cannot_say_ptx_is_the_cell_s(self):
        words = ("--python", self.cells[0]["python"], "--platform", self.cells[0]["platform"], "--arch", "8.0+PTX", "--naming", "one-arch")
        (cell,) = self.example("plan", *words, "--json").json()["cells"]
        self.assertEqual((cell["arches"], cell["wheel"].split("-")[1]), (["8.0+PTX"], "1.0.0+cu130.sm80"))
        with IndexServer() as index:
            index.add("sagekit-example", cell["wheel"], b"x")
            self.expect(self.example("coverage", *words, index.url), 0)
            self.assertEqual(self.example("plan", *words, "--missing-from", index.url, "--json").json()["cells"], [])
        # What its own record says of it is another matter.
        self.expect(self.example("coverage", *words, self.manifest(row(cell, self.commit, arches=["8.0"]))), 1)

    def test_an_index_s_name_says_which_arch_set_a_wheel_has(self):
        words = ("--python", self.cells[0]["python"], "--platform", self.cells[0]["platform"])
        by_default = ("--naming", "default")
        usual, other = ((*words, "--arch", arches) for arches in ("8.0;9.0", "9.0"))  # the plugin's own, and another set
        names = [self.example("plan", *one, *by_default, "--json").json()["cells"][0]["wheel"] for one in (usual, other)]
        self.assertEqual([name.split("-")[1].partition(".g")[2][7:] for name in names], ["", ".sm90"])
        with IndexServer() as index:
            index.add("sagekit-example", names[0], b"x")
            # By which scheme the plan names wheels is another matter.
            for naming in (by_default, ("--naming", "cuda")):
                self.expect(self.example("coverage", *usual, *naming, index.url), 0)
                done = self.example("coverage", *other, *naming, index.url)
                self.expect(done, 1)
                self.assertIn(f"{names[0]} has code for the default architectures, the plan's for 9.0", " ".join(done.out.split()))
            self.assertEqual(len(self.example("plan", *other, *by_default, "--missing-from", index.url, "--json").json()["cells"]), 1)
            index.add("sagekit-example", names[1], b"x")
            self.expect(self.example("coverage", *other, *by_default, index.url), 0)
            self.assertEqual(index.asked("*.whl"), [])  # names say it all

    def test_what_an_index_s_name_does_not_say_its_record_does(self):
        words = ("--python", self.cells[0]["python"], "--platform", self.cells[0]["platform"], "--naming", "cuda")
        (cell,) = self.example("plan", *words, "--json").json()["cells"]

        def made(**said):
            wheel = wheel_of(cell, self.commit, **said)
            wheel.files["sagekit_example/big.bin"] = os.urandom(300_000)
            return wheel.write(self.folder / "made").read_bytes()

        def row(content, fault=None):
            with IndexServer() as index:
                index.add("sagekit-example", cell["wheel"], content)
                if fault:
                    index.fault("*.whl", fault)
                (row,) = self.example("coverage", *words, index.url, "--json").json()["cells"]
                if fault:  # it would send all of it
                    self.assertEqual(len(index.asked("*.whl")), 1)
                else:
                    self.assertLess(sum(asked.sent for asked in index.asked("*.whl")), 150_000)
                return row["state"], row["why"]

        unknown = ("stale", f"nothing that could be read of {cell['wheel']} says for which GPUs it has code; the plan's is for {' '.join(cell['arches'])}")
        self.assertEqual(row(made()), ("published", ""))
        self.assertEqual(row(made(arches=["5.2"])), ("stale", f"{cell['wheel']} has code for 5.2, the plan's for {' '.join(cell['arches'])}"))
        self.assertEqual(row(made(source={"commit": "f" * 40}))[0], "stale")
        self.assertEqual(row(made(record=False)), unknown)
        self.assertEqual(row(b"x"), unknown)
        self.assertEqual(row(made(), no_ranges()), unknown)
        # Of a folder no more is known.
        made(record=False)
        done = self.example("coverage", *words, "made", "--json")
        self.expect(done, 1)
        self.assertEqual(done.json()["cells"][0]["why"], unknown[1])

    def test_a_verdict_is_not_another_file_s(self):
        first = self.cells[0]
        folder = self.folder / "wheels"
        path = wheel_of(first, self.commit).write(folder)
        self.run_sagekit("release", "wheels")
        pass_all(folder)
        self.assertEqual(self.coverage(folder, 1)[first["id"]], "published")
        self.assertNotIn(first["id"], self.planned("--missing-from", folder))
        with zipfile.ZipFile(path, "a") as archive:  # a whole wheel still, and another one
            archive.comment = b"x"
        done = self.example("coverage", "wheels")
        self.expect(done, 1, "REL013")
        self.assertIn("fails its judgement", " ".join(done.out.split()))
        self.assertEqual(self.coverage(folder, 1)[first["id"]], "failing")
        self.assertIn(first["id"], self.planned("--missing-from", folder))

    def test_build_makes_only_the_rest(self):
        everything = self.manifest(*[row(cell, self.commit) for cell in self.cells])
        done = self.example("build", "--missing-from", everything, "--platform", "linux_x86_64,linux_aarch64", "--json")
        self.expect(done, 0, "0 of ")
        self.assertEqual(done.json()["wheels"], [])
        words = ("build", "--missing-from", everything, "--platform", "linux_x86_64,linux_aarch64")
        done = self.example(*words, "--jsonl", "--timeline", "trace.json")
        self.assertEqual([json.loads(line)["event"] for line in done.out.splitlines()], ["end"], done.err)
        self.assertTrue(json.loads((self.folder / "trace.json").read_text())["traceEvents"])
        self.expect(self.example("coverage", self.folder / "nowhere"), 2, "FIL001")


if __name__ == "__main__":
    unittest.main()
