#!/usr/bin/env python3
"""retag: names, texts and RECORD change together, nothing else does, and what would lie is refused."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import wheels
from harness import CommandLine, tool

TAG = f"cp312-cp312-linux_{wheels.MACHINE}"


def provenance(**more):
    return json.dumps({"schema": "sagekit.provenance/1", "sagekit": "0.1", "cell": "tiny-pytorch211-cu130-python312",
                       "plugin": {"name": "tiny", "version": "1"},
                       "source": {"url": "https://host/tiny", "commit": "d1a57a546c3d395b1ffcbeecc66d81db76f3b4b5",
                                  "date": "2026-01-17T17:43:28Z", "version": "2.2.0", "subdir": ""},
                       "python": "3.12", "torch": "2.11.0", "cuda": "13.0", "platform": f"linux_{wheels.MACHINE}",
                       "arches": ["9.0a"], "gencode": [], "requires_dist": [], "tools": {}} | more).encode()


def raw_streams(path):
    """Every member's stream, as it lies in the file."""
    data, streams = path.read_bytes(), {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            header = data[info.header_offset:info.header_offset + 30]
            begin = info.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
            streams[info.filename] = data[begin:begin + info.compress_size]
    return streams


class Retag(CommandLine):
    def wheel(self, version="2.2.0+cu130torch2.11.0", tag=TAG, flags=(), **files):
        wheel = wheels.Wheel("tiny", version, tag)
        wheel.files[f"tiny/_k{wheels.SUFFIX}"] = wheels.module(self.folder, flags=flags)
        wheel.files |= {name.replace("__", "/"): content for name, content in files.items()}
        return wheel

    def own(self, **more):
        wheel = self.wheel()
        wheel.files[f"{wheel.dist_info}/sagekit.json"] = provenance(**more)
        return wheel.write(self.folder / "in")

    def retag(self, path, *words, code=0, texts=()):
        done = self.run_sagekit("retag", "-o", self.folder / "out", *words, path, "--json")
        self.expect(done, code, *texts)
        return pathlib.Path(done.json()["wheels"][0]["path"]) if code == 0 else None

    def check_whole(self, path):
        """RECORD names every member with its hash; folder, METADATA, WHEEL and name agree; verify finds no error."""
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            folder = "-".join(path.name.split("-")[:2]) + ".dist-info"
            rows = {}
            for line in archive.read(f"{folder}/RECORD").decode().splitlines():
                name, digest, size = line.rsplit(",", 2)
                rows[name] = (digest, size)
            self.assertEqual(sorted(rows), sorted(names))
            for name in names:
                if name.endswith("/RECORD"):
                    continue
                content = archive.read(name)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual(rows[name], (f"sha256={digest}", str(len(content))), name)
            self.assertEqual({name.split("/")[0] for name in names if ".dist-info" in name}, {folder})
            self.assertIn(f"\nVersion: {path.name.split('-')[1]}\n", archive.read(f"{folder}/METADATA").decode())
        done = self.run_sagekit("verify", path, "--json")
        failed = [f for f in done.json()["wheels"][0]["findings"] if f["result"] == "fail"]
        self.assertEqual([f for f in failed if f["code"][:3] in ("NAM", "INF", "ZIP", "TAG", "LBC", "PYA")], [])
        return done.code

    def test_a_build_tag_changes_the_name_and_its_texts_and_no_other_byte(self):
        source = self.wheel(tiny__data=os.urandom(5000)).write(self.folder / "in")
        made = self.retag(source, "--build", "7")
        self.assertEqual(made.name, f"tiny-2.2.0+cu130torch2.11.0-7-{TAG}.whl")
        self.assertEqual(self.check_whole(made), 0)
        before, after = raw_streams(source), raw_streams(made)
        changed = {name for name in before if before[name] != after[name]}
        self.assertEqual({name.split("/")[-1] for name in changed}, {"WHEEL", "RECORD"})
        with zipfile.ZipFile(made) as archive:
            self.assertIn("Build: 7\n", archive.read("tiny-2.2.0+cu130torch2.11.0.dist-info/WHEEL").decode())
        gone = self.retag(made, "--build", "none")
        self.assertEqual(gone.name, source.name)
        with zipfile.ZipFile(gone) as new, zipfile.ZipFile(source) as old:
            self.assertEqual({n: new.read(n) for n in new.namelist()}, {n: old.read(n) for n in old.namelist()})

    def test_stored_members_stay_stored(self):
        source = self.wheel().write(self.folder / "in")
        plain = self.folder / "plain" / source.name
        plain.parent.mkdir()
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(plain, "w", zipfile.ZIP_STORED) as new:
            for info in old.infolist():
                new.writestr(zipfile.ZipInfo(info.filename, (2024, 5, 6, 7, 8, 10)), old.read(info.filename))
        made = self.retag(plain, "--build", "7")
        with zipfile.ZipFile(made) as archive:
            info = archive.getinfo(f"tiny/_k{wheels.SUFFIX}")
            self.assertEqual(info.compress_type, zipfile.ZIP_STORED)
            self.assertEqual(info.date_time, (2024, 5, 6, 7, 8, 10))

    def test_a_wheel_that_begins_with_its_texts(self):
        source = self.wheel(tiny__data=os.urandom(5000)).write(self.folder / "in")
        first = self.folder / "first" / source.name
        first.parent.mkdir()
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(first, "w", zipfile.ZIP_DEFLATED) as new:
            for info in sorted(old.infolist(), key=lambda info: ".dist-info" not in info.filename):
                new.writestr(info, old.read(info.filename))
        self.assertEqual(self.check_whole(self.retag(first, "--build", "7")), 0)

    def test_a_local_version_renames_folders_and_metadata(self):
        wheel = self.wheel("2.2.0")
        wheel.files[f"tiny-2.2.0.data/scripts/tiny"] = b"#!python\n"
        made = self.retag(wheel.write(self.folder / "in"), "--local", "cu130.mine")
        self.assertEqual(made.name, f"tiny-2.2.0+cu130.mine-{TAG}.whl")
        self.check_whole(made)
        with zipfile.ZipFile(made) as archive:
            self.assertIn("tiny-2.2.0+cu130.mine.data/scripts/tiny", archive.namelist())
        self.assertEqual(self.retag(made, "--local", "none").name, f"tiny-2.2.0-{TAG}.whl")

    def test_names_are_read_by_the_rows_of_sagekit_toml(self):
        (self.folder / "sagekit.toml").write_text('[[scheme]]\nname = "house"\nversion = "{version}+c{cuda_digits}t{torch_digits}"\n\n'
                                                  '[[scheme]]\nname = "ours"\nversion = "{version}+cu{cuda_digits}.{sms}{arches}"\n')
        house = self.wheel("2.2.0+c128t271").write(self.folder / "house")
        self.assertEqual(self.retag(house, "--naming", "local-version").name, f"tiny-2.2.0+cu128torch2.7.1-{TAG}.whl")
        self.expect(self.run_sagekit("release", "house", "--naming", "build-tag", "-o", "released"), 0)
        self.assertTrue((self.folder / "released" / f"tiny-2.2.0-271.128-{TAG}.whl").exists())
        mine = self.own()
        self.retag(mine, "--local", "c128t271", code=1, texts=("RTG004", "would say torch 2.7.1, and sagekit.json says 2.11.0"))
        self.retag(mine, "--local", "c130t2110")
        # One word for the arches, and one for those that were asked for: they are of one wheel.
        wheel = self.wheel("2.2.0+cu130.sm80.sm90sm80.sm90ptx")
        wheel.files[f"{wheel.dist_info}/sagekit.json"] = provenance(cell="tiny-pytorch211-cu130-python312-sm80.sm90ptx", arches=["8.0", "9.0+PTX"])
        self.assertIn("sm90ptx-42-", self.retag(wheel.write(self.folder / "ours"), "--build", "42").name)

    def test_schemes_name_what_the_provenance_says(self):
        source = self.own()
        for scheme, start in (("build-tag", "tiny-2.2.0-2110.130-"), ("plain", "tiny-2.2.0-cp"),
                              ("default", "tiny-2.2.0+cu130.torch2.11.20260117.gd1a57a5-"),
                              ("spelled-out", "tiny-2.2.0+cu.13.0.torch.2.11-")):
            made = self.retag(source, "--naming", scheme)
            self.assertTrue(made.name.startswith(start), made.name)
            self.check_whole(made)
            with zipfile.ZipFile(made) as archive:
                folder = "-".join(made.name.split("-")[:2]) + ".dist-info"
                said = json.loads(archive.read(f"{folder}/sagekit.json"))
            self.assertEqual(said["torch"], "2.11.0")
            self.assertEqual(said["retagged"][-1]["was"], source.name)
            self.assertIn("version", said["retagged"][-1]["changes"])
        (self.folder / "out" / f"tiny-2.2.0+cu130.torch2.11.20260117.gd1a57a5-{TAG}.whl").unlink()
        again = self.retag(made, "--naming", "default")  # from one scheme to the next, and what was is kept
        with zipfile.ZipFile(again) as archive:
            said = json.loads(archive.read("tiny-2.2.0+cu130.torch2.11.20260117.gd1a57a5.dist-info/sagekit.json"))
        self.assertEqual(len(said["retagged"]), 2)

    def test_a_wheel_for_torches_from_one_on_keeps_that_one(self):
        (self.folder / "stub.c").write_text("int aoti_torch_get_dim(void *tensor, long *dim) { return 0; }\n")
        subprocess.run([wheels.compiler(), "-shared", "-fPIC", "-nostdlib", "-o", self.folder / "libtorch_cpu.so",
                        self.folder / "stub.c"], check=True)
        (self.folder / "uses.c").write_text("int aoti_torch_get_dim(void *, long *);\nint uses(void) { return aoti_torch_get_dim(0, 0); }\n")
        wheel = self.wheel("2.2.0+cu130.torch2.9andhigher",
                           flags=(self.folder / "uses.c", "-L", self.folder, "-ltorch_cpu"))
        wheel.files[f"{wheel.dist_info}/sagekit.json"] = provenance(torch="", torch_min="2.9", requires_dist=["torch>=2.9"])
        wheel.metadata = wheel.metadata.replace("Summary", "Requires-Dist: torch>=2.9\nSummary")
        wheel.generator = "sagekit 0.1.0"
        source = wheel.write(self.folder / "in")
        self.retag(source, "--build", "7")
        self.retag(source, "--build", "270.130", code=1, texts=("RTG004", "2.9 and higher"))
        self.retag(source, "--requires", "torch>=2.8", code=1, texts=("RTG006", "INF101", "before 2.9"))
        self.retag(source, "--requires", "torch>=2.10")

    def test_a_refused_wheel_leaves_no_empty_folder(self):
        done = self.run_sagekit("retag", "-o", self.folder / "none", "--build", "abc", self.own())
        self.expect(done, 2, '"abc" is no build tag')
        self.assertFalse((self.folder / "none").exists())

    def test_a_python_is_named_in_any_spelling(self):
        for word in "3.12", "312", "cp312":
            made = self.retag(wheels.Wheel().write(self.folder / "in"), "--python", word)
            self.assertEqual(made.name, "tiny-1.0-cp312-none-any.whl")

    def test_a_name_that_would_lie_is_refused(self):
        source = self.own()
        self.retag(source, "--local", "cu130torch2.10.0", code=1, texts=("RTG004", "2.11.0"))
        self.retag(source, "--local", "cu128torch2.11.0", code=1, texts=("RTG004", "CUDA"))
        self.retag(source, "--local", "cu130torch2.11.0andhigher", code=1, texts=("RTG004", "higher"))
        self.retag(source, "--build", "2100.130", code=1, texts=("RTG004",))
        self.retag(source, "--local", "cu130.torch2.11.20260117.gabcdef1", code=1, texts=("RTG004", "commit"))
        self.retag(source, "--local", "cu130.torch2.11.0.sm120", code=1, texts=("RTG004", "arches"))
        self.retag(source, "--naming", "and-higher", code=2, texts=("NAM011", source.name))
        plain = self.wheel("2.2.0", tiny__other=b"").write(self.folder / "plain")
        self.retag(plain, "--naming", "local-version", code=2, texts=("RTG005", "says torch and CUDA, and nothing says which tiny-"))
        pinned = self.wheel("2.2.0")
        pinned.metadata = pinned.metadata.replace("Summary:", "Requires-Dist: torch==2.8.*\nSummary:")
        path = pinned.write(self.folder / "pinned")
        self.retag(path, "--naming", "local-version", code=2, texts=("RTG005", "local-version says CUDA, and nothing says which tiny-"))
        self.retag(path, "--local", "cu129torch2.9.0", code=1, texts=("RTG004", "Requires-Dist"))
        self.assertEqual(sorted((self.folder / "out").glob("*")), [])

    def test_tags_that_the_modules_contradict_are_refused(self):
        source = self.wheel().write(self.folder / "in")
        self.retag(source, "--python", "cp311", "--abi", "cp311", code=1, texts=("RTG006", "PYA001"))
        self.retag(source, "--abi", "abi3", code=1, texts=("RTG006",))
        self.retag(source, "--platform", "win_amd64", code=1, texts=("RTG006",))
        self.retag(source, "--platform", "linux_ppc64le", code=1, texts=("RTG006",))
        for platform in ("solaris_sparc", "manylinux_2_17", "manylinux_x86_64", "linux_"):
            self.retag(source, "--platform", platform, code=2, texts=("RTG007",))
        self.expect(self.run_sagekit("retag", source.parent, "--build", "1"), 2, "is a folder", f"its wheels: '{source.parent}'/*.whl")
        self.retag(source, "--build", "x1", code=2, texts=("RTG007",))
        self.retag(source, "--local", "a_b", code=2, texts=("RTG007",))
        self.retag(source, "--requires", "not a requirement ==", code=2, texts=("RTG007",))
        self.retag(source, "--build", "none", code=2, texts=("RTG001",))
        self.retag(source, "--naming", "pain", code=2, texts=("PLN003", "plain"))
        self.assertEqual(sorted((self.folder / "out").glob("*.whl")), [])

    def test_a_platform_tag_comes_from_the_symbols_and_is_never_more_than_true(self):
        code = self.folder / "uses.c"
        code.write_text("#include <math.h>\nvoid *PyInit__k(void) { static double x; x = exp(x); return &x; }\n")
        library = self.folder / "uses.so"
        subprocess.run([wheels.compiler(), "-shared", "-fPIC", "-fno-builtin", "-o", library, code, "-lm"], check=True)
        wheel = self.wheel("2.2.0")
        wheel.files[f"tiny/_k{wheels.SUFFIX}"] = library.read_bytes()
        source = wheel.write(self.folder / "uses")
        wanted = "2_29"  # exp@GLIBC_2.29
        made = self.retag(source, "--platform", "auto")
        self.assertEqual(made.name, f"tiny-2.2.0-cp312-cp312-manylinux_{wanted}_{wheels.MACHINE}.whl")
        self.check_whole(made)
        self.retag(source, "--platform", f"manylinux_2_28_{wheels.MACHINE}", code=1, texts=("RTG006", "LBC003", "2.29"))
        newer = self.retag(source, "--platform", f"manylinux_2_34_{wheels.MACHINE}")
        self.check_whole(newer)
        pure = wheels.Wheel("pure", "1.0").write(self.folder / "pure")
        self.retag(pure, "--platform", "auto", code=1, texts=("RTG008",))

    def test_each_of_several_wheels_is_told_of_by_its_path(self):
        source = self.wheel("2.2.0").write(self.folder / "in")
        pure = [wheels.Wheel(name, "1.0").write(self.folder / "pure") for name in ("one", "two")]
        done = self.run_sagekit("retag", "--platform", "auto", "--json", "-o", "out", *pure, source)
        self.expect(done, 1)
        self.assertEqual([(error["code"], error["where"]) for error in done.json()["errors"]], [("RTG008", str(path)) for path in pure])
        self.assertEqual(len(done.json()["wheels"]), 1)
        done = self.run_sagekit("retag", "--platform", "win_amd64", "--json", "-o", "out", source, *pure)
        self.assertEqual([(error["code"], error["where"]) for error in done.json()["errors"]], [("RTG006", str(source))])
        done = self.run_sagekit("retag", "--platform", "no", "--json", "-o", "out", source, source)
        self.assertEqual([error["code"] for error in done.json()["errors"]], ["RTG007"])  # the flag is wrong, said once
        done = self.run_sagekit("retag", "--build", "7", "-o", "out", source, pure[0])
        self.expect(done, 0, f"{source}: build: none -> 7", f"{pure[0]}: build: none -> 7")
        done = self.run_sagekit("retag", "--build", "8", "-o", "out", source)
        self.assertTrue(done.err.startswith("build: none -> 8"), done.err)

    def test_requirements_replace_those_on_their_project(self):
        wheel = self.wheel("2.2.0")
        wheel.metadata = wheel.metadata.replace("Summary:", "Requires-Dist: numpy\nRequires-Dist: triton>=3\nSummary:")
        made = self.retag(wheel.write(self.folder / "in"), "--requires", "numpy<3", "--requires", "!triton", "--requires", "torch==2.11.*")
        with zipfile.ZipFile(made) as archive:
            text = archive.read("tiny-2.2.0.dist-info/METADATA").decode()
        self.assertEqual([line for line in text.splitlines() if line.startswith("Requires-Dist")],
                         ["Requires-Dist: numpy<3", "Requires-Dist: torch==2.11.*"])
        self.assertTrue(text.endswith("\n\nA test.\n"))
        self.check_whole(made)

    def test_a_damaged_or_signed_wheel_is_left_alone(self):
        source = self.wheel().write(self.folder / "in")
        moved = source.rename(source.with_name(source.name.replace("2.11.0", "2.10.0")))
        self.retag(moved, "--build", "7", code=1, texts=("RTG002", "2.10.0"))
        signed = self.wheel("2.3.0")
        signed.files[f"{signed.dist_info}/RECORD.jws"] = b"{}"
        self.retag(signed.write(self.folder / "in"), "--build", "7", code=1, texts=("RTG003",))
        half = self.wheel("2.4.0").write(self.folder / "in")
        half.write_bytes(half.read_bytes()[:-40])
        self.retag(half, "--build", "7", code=1)
        self.retag(self.folder / "in" / "absent-1-py3-none-any.whl", "--build", "7", code=2, texts=("FIL001",))

    def test_a_name_that_is_taken_stays_whose_it_is(self):
        source = self.wheel().write(self.folder / "in")
        made = self.retag(source, "--build", "7")
        first = made.read_bytes()
        done = self.run_sagekit("retag", "--json", "-o", self.folder / "out", "--build", "7", source)
        self.assertTrue(done.json()["wheels"][0]["unchanged"])
        made.write_bytes(b"another file")
        self.retag(source, "--build", "7", code=1, texts=("PKG001",))
        self.assertEqual(made.read_bytes(), b"another file")
        self.assertNotEqual(first, b"another file")

    def test_names_that_fall_together_are_said_before_anything_is_written(self):
        first = self.wheel("2.2.0+cu130torch2.11.0").write(self.folder / "in")
        second = self.wheel("2.2.0+cu128torch2.9.1", tiny__other=b"").write(self.folder / "in")
        out = self.folder / "out"
        said = (str(first), str(second), "would both be named tiny-2.2.0-cp312", "nothing was written", "--naming ", "build-tag")
        done = self.run_sagekit("retag", "--naming", "plain", "-o", out, first, second, "--json")
        self.expect(done, 1, "PKG001", *said)
        self.assertEqual([error["code"] for error in done.json()["errors"]], ["PKG001"])
        self.assertFalse(out.exists())
        done = self.run_sagekit("release", "in", "--naming", "plain", "-o", out)
        self.expect(done, 1, "PKG001", *(text.removeprefix(f"{self.folder}/") for text in said), "no manifest was written")
        self.assertEqual([path.name for path in (out.iterdir() if out.exists() else ())], [])
        # One that has the name already is a wheel of it, too; the same wheel a second time is not.
        plain = self.wheel("2.2.0", tiny__other=b"").write(self.folder / "in")
        second.unlink()
        self.expect(self.run_sagekit("release", "in", "--naming", "plain", "-o", out), 1, "PKG001", first.name, plain.name)
        plain.unlink()
        self.expect(self.run_sagekit("retag", "--naming", "plain", first), 0)
        self.expect(self.run_sagekit("release", "in", "--naming", "plain", "-o", out), 0, "1 wheel")

    def test_the_schemes_that_are_advised_serve_all_of_the_wheels(self):
        # Two of three differ in their torch, two in their CUDA: no scheme that says one of them alone tells all apart.
        made = [self.wheel(version, tiny__other=version.encode()).write(self.folder / "in") for version in ("2.2.0+cu130torch2.11.0", "2.2.0+cu128torch2.11.0", "2.2.0+cu128torch2.9.1")]

        def advised(*words):
            done = self.run_sagekit("retag", "--naming", "plain", "-o", self.folder / "out", *words, "--json")
            self.expect(done, 1, "PKG001")
            hints = {error["hint"] for error in done.json()["errors"]}
            self.assertEqual(len(hints), 1, hints)
            (hint,) = hints
            return hint.partition("--naming ")[2].split(", ") if "--naming" in hint else hint

        schemes = advised(*made)
        self.assertEqual(len(schemes), 3)
        self.assertNotIn("local-version", schemes)  # those are the names that they have
        for scheme in schemes:
            self.expect(self.run_sagekit("retag", "--naming", scheme, "-o", self.folder / scheme, *made), 0)
            self.assertEqual(len(list((self.folder / scheme).glob("*.whl"))), 3)
        # What a release copies keeps its name.
        done = self.run_sagekit("release", "in", "--naming", "plain", "-o", self.folder / "released")
        self.expect(done, 1, "PKG001", "--naming build-tag, local-version, ")
        self.expect(self.run_sagekit("release", "in", "--naming", "local-version", "-o", self.folder / "released"), 0)
        # The same torch and CUDA in other words: no scheme tells the two apart.
        twin = self.wheel("2.2.0+cu130.torch2.11.0", tiny__other=b"twin").write(self.folder / "twin")
        self.assertEqual(advised(made[0], twin), "give each a folder of its own with another -o, or leave one of them out")

    def test_kill_leaves_nothing_half_written(self):
        source = self.wheel(tiny__big=os.urandom(20_000_000)).write(self.folder / "in")
        out = self.folder / "out"
        whole = self.retag(source, "--build", "7").read_bytes()
        for delay in (0.0, 0.01, 0.02, 0.04, 0.06, 0.1):
            shutil.rmtree(out, ignore_errors=True)
            child = self.start_sagekit("retag", "-o", out, "--build", "7", source)
            time.sleep(delay)
            child.send_signal(signal.SIGKILL)
            child.communicate()
            for path in out.glob("*.whl"):
                self.assertEqual(path.read_bytes(), whole)
        (out / ".sagekit@0.0.1.1-Ab12cd").mkdir(parents=True)  # of another machine, perhaps at work
        self.retag(source, "--build", "8")
        self.assertEqual([path.name for path in out.glob(".*")], [".sagekit@0.0.1.1-Ab12cd"])

    def test_ctrl_c_ends_130_and_leaves_nothing(self):
        big = os.urandom(20_000_000)
        sources = [self.wheel(f"2.2.{i}", tiny__big=big).write(self.folder / "in") for i in range(5)]
        out = self.folder / "out"
        child = self.start_sagekit("retag", "-o", out, "--build", "7", *sources)
        deadline = time.monotonic() + 60
        while not list(out.glob(".sagekit@*")) and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        said = child.communicate()[1].decode()
        self.assertEqual(child.returncode, 130, said)
        self.assertIn("BLD006", said)
        left = list(out.iterdir()) if out.exists() else []
        self.assertEqual([path.name for path in left if path.suffix != ".whl"], [])
        self.assertLess(len(left), 5)

    def test_installers_take_what_it_makes(self):
        pure = wheels.Wheel("tiny", "2.2.0").write(self.folder / "in")
        made = self.retag(pure, "--local", "cu130.mine", "--build", "3")
        python = self.folder / "venv" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", self.folder / "venv"], check=True)
        installers = [[python, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall", "--disable-pip-version-check"]]
        if uv := tool("uv"):
            installers.append([uv, "pip", "install", "--offline", "--no-index", "--no-deps", "--reinstall", "--python", python,
                               "--cache-dir", self.folder / "uv"])
        for installer in installers:
            subprocess.run([*installer, made], check=True, capture_output=True)
            said = subprocess.run([python, "-c", "import tiny, importlib.metadata as m; print(m.version('tiny'), tiny.answer)"],
                                  check=True, capture_output=True, text=True).stdout.split()
            self.assertEqual(said, ["2.2.0+cu130.mine", "42"])


if __name__ == "__main__":
    unittest.main()
