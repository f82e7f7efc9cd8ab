#!/usr/bin/env python3
"""`sagekit resolve` through its command line: which wheel, why not the others, sets of every kind, bad servers."""
import hashlib
import http.server
import json
import os
import pathlib
import sys
import threading
import time
import unittest

from harness import SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from gpu_wheels import gpu_module, gpu_wheel, pe_module  # noqa: E402
from index_server import IndexServer, cut, no_ranges, portal, redirect  # noqa: E402
from wheels import MACHINE, Wheel, compiler  # noqa: E402

HERE = f"gpu=RTX 5090,torch=2.9.1+cu130,python=3.12,platform=linux_{MACHINE},libc=glibc2.39,driver=590"
NAMES = ["sageattention-2.2.0+cu130.torch2.13.0.sm120-cp312-cp312-manylinux_2_28_x86_64.whl",
         "sageattention-2.2.0+cu130.torch2.13.0.sm90-cp312-cp312-manylinux_2_28_x86_64.whl",
         "sageattention-2.2.0+cu130.torch2.13.0.sm90-cp311-cp311-manylinux_2_28_x86_64.whl"]
H100 = "gpu=H100,torch=2.13.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580"


class Resolve(CommandLine):
    def environment(self, **more):
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return super().environment() | {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1", "PIP_DEFAULT_TIMEOUT": "2",
                                        "no_proxy": "127.0.0.1,localhost"} | more

    def resolve(self, place, machine=HERE, *words, **options):
        return self.run_sagekit("resolve", "--json", "--from", place, "--for", machine, *words, **options)

    def answer(self, done, code):
        self.assertEqual(done.code, code, done.err + done.out)
        said = done.json()
        self.assertEqual(said["schema"], "sagekit.resolve/1")
        self.assertEqual(said["chosen"], said["fits"][0] if said["fits"] else None)
        return said

    def wheel(self, **changes):
        return gpu_wheel(self.folder / "build", "312", **changes)


@unittest.skipUnless(compiler(), "no C compiler")
class Files(Resolve):
    def test_one_file_answers_yes_or_no(self):
        path = self.wheel().write(self.folder)
        said = self.answer(self.resolve(path), 0)
        self.assertIn("measured in the file", said["chosen"]["reason"])
        self.assertEqual(said["machine"]["gpus"], [{"name": "RTX 5090", "capability": "12.0", "driver": "590"}])
        for machine, code in [(HERE.replace("5090", "2080"), "RES107"), (HERE.replace("2.9.1", "2.10.0"), "RES105"),
                              (HERE.replace("3.12", "3.13"), "RES101"), (HERE.replace("cu130", "cu128"), "RES106"),
                              (HERE.replace("driver=590", "driver=570"), "RES108")]:
            said = self.answer(self.resolve(path, machine), 4)
            self.assertEqual([one["code"] for one in said["refused"]], [code], machine)
            self.assertEqual(said["unknown"], [])
        # It names no C library, and its tag neither.
        (one,) = self.answer(self.resolve(path, HERE.replace("glibc2.39", "musl1.2")), 4)["unknown"]
        self.assertEqual((one["code"], one["would_tell"]), ("RES204", "import it and run it on that machine"))

    def test_a_name_that_cannot_say_ptx_does_not_rule_out_a_newer_gpu(self):
        path = self.wheel(version="1.0+cu130.torch2.9.1.sm80").write(self.folder)
        said = self.answer(self.resolve(path), 0)
        self.assertIn("PTX for RTX 5090 (12.0) (measured in the file)", said["chosen"]["reason"])
        self.assertEqual(self.answer(self.resolve(path, HERE, "--names-only"), 4)["refused"], [])

    def test_people_read_the_one_reason(self):
        path = self.wheel().write(self.folder)
        done = self.run_sagekit("resolve", "--from", path, "--for", HERE.replace("2.9.1", "2.10.0"))
        self.assertEqual(done.code, 4)
        self.assertIn("torch's C++ ABI changes with each minor release", " ".join(done.out.split()))
        self.assertIn("[RES105]", done.out)

    def test_a_folder_is_ranked_and_every_refusal_has_a_reason(self):
        place = self.folder / "dist"
        exact = self.wheel().write(place)
        minor = self.wheel(version="1.0+cu130torch2.9.0").write(place)
        self.wheel(version="1.0+cu130torch2.10.0").write(place)
        said = self.answer(self.resolve(place), 0)
        self.assertEqual([one["file"] for one in said["fits"]], [exact.name, minor.name])
        (no,) = said["refused"]
        self.assertEqual(no["code"], "RES105")
        self.assertTrue(no["reason"] and no["path"])

    def test_unknown_is_no_fit(self):
        path = self.wheel(version="1.0").write(self.folder)
        (one,) = self.answer(self.resolve(path, HERE + ""), 4)["unknown"]
        # No torch symbol is called, and nobody says for which CUDA it was made.
        self.assertEqual(one["code"], "RES206")
        self.assertIn("its code is of CUDA 13.0", one["reason"])
        self.assertEqual(one["would_tell"], "import it and run it on that machine")
        # Not looked into, it is not asked for a second time.
        (one,) = self.answer(self.resolve(path, HERE, "--names-only"), 4)["unknown"]
        self.assertEqual((one["code"], one["would_tell"]), ("RES204", "the file itself tells: leave out --names-only"))

    def test_a_damaged_wheel_is_refused(self):
        wheel = self.wheel()
        path = wheel.write(self.folder)
        wheel.metadata = wheel.metadata.replace("Version: 1.0", "Version: 3.0")
        (no,) = self.answer(self.resolve(wheel.write(self.folder)), 4)["refused"]
        self.assertIn(no["code"], ("RES113", "RES114"))
        path.write_bytes(path.read_bytes()[:-100])
        (no,) = self.answer(self.resolve(path), 4)["refused"]
        self.assertEqual(no["code"], "RES114")
        path.write_text("<!DOCTYPE html><html>Sign in</html>")
        (no,) = self.answer(self.resolve(path), 4)["refused"]
        self.assertEqual(no["code"], "RES114")

    def test_a_folder_is_held_to_what_lies_beside_its_wheels(self):
        place = self.folder / "dist"
        path = self.wheel().write(place)
        manifest, sums = place / "sagekit.release.json", place / "SHA256SUMS"

        def lists(sha256, **more):
            row = {"file": path.name, "sha256": sha256, "size_bytes": path.stat().st_size, "verdict": "pass"} | more
            manifest.write_text(json.dumps({"schema": "sagekit.release/1", "wheels": [row]}))

        def refused(*words):
            for given in (place, path):  # a wheel alone is held to the same
                (no,) = self.answer(self.resolve(given), 4)["refused"]
                self.assertEqual(no["code"], "RES114")
                for word in words:
                    self.assertIn(word, no["reason"])

        mine, other = hashlib.sha256(path.read_bytes()).hexdigest(), "0" * 64
        lists(mine)
        sums.write_text(f"{mine}  {path.name}\n")
        self.answer(self.resolve(place), 0)
        lists(other)
        refused(mine, f"sagekit.release.json says {other}")
        lists(mine, verdict="fail")
        refused("its release manifest says that verification failed it")
        manifest.unlink()
        sums.write_text(f"{other}  {path.name}\n")
        refused(mine, f"SHA256SUMS says {other}", "TRU004")
        # One that neither lists is as it was.
        sums.write_text(f"{other}  another-1.0-py3-none-any.whl\n")
        self.answer(self.resolve(place), 0)
        # What nobody can read holds nothing, and that is said.
        manifest.write_text('{"schema": "sagekit.release/1", "whe')
        for given in (place, path):
            self.expect(self.resolve(given), 1, "RES004", str(manifest), "get it again from where it is published, or delete it")

    def test_a_folder_s_yanked_toml_holds_as_an_index_s_word_does(self):
        place = self.folder / "dist"
        path = self.wheel().write(place)
        whole = self.wheel(version="0.9+cu130.torch2.9.1").write(place)
        (place / "yanked.toml").write_text('[[yanked]]\nfiles = "tiny_kernels-1.*"\nreason = "wrong results"\n')
        said = self.answer(self.resolve(place), 0)
        self.assertEqual([one["file"] for one in said["fits"]], [whole.name])
        self.assertEqual([(one["code"], one["reason"]) for one in said["refused"]], [("RES111", "it was yanked: wrong results")])
        # A manifest beside it lists the same wheels. Who names the file itself has it (PEP 592).
        row = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size_bytes": path.stat().st_size, "verdict": "pass"}
        (place / "sagekit.release.json").write_text(json.dumps({"schema": "sagekit.release/1", "wheels": [row]}))
        (no,) = self.answer(self.resolve(place / "sagekit.release.json"), 4)["refused"]
        self.assertEqual(no["code"], "RES111")
        self.answer(self.resolve(path), 0)
        (place / "yanked.toml").write_text('[[yanked]]\nfile = "x"\n')
        self.expect(self.resolve(place), 2, "REL004", "yanked.toml:2", 'did you mean "files"?')

    def test_what_is_no_wheel_is_named_before_its_name_is_judged(self):
        for name in ("sageattn3-1.0.0+cu128torch2.7.1-cp38-cp38-linux_x86_64.whl", "what.whl"):
            path = self.folder / name
            zipped = self.wheel().write(self.folder / "whole").read_bytes()
            for content, kind, mend in ((b"", "an empty file", "download it again"), (zipped[:-30], "cut off", "download it again"),
                                        (b"<!DOCTYPE html><html><head><title>404</title></head></html>", "a web page (HTML)", "download the file itself"),
                                        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer", "git lfs pull")):
                path.write_bytes(content)
                (no,) = self.answer(self.resolve(path), 4)["refused"]
                self.assertEqual(no["code"], "RES114")
                self.assertIn(kind, no["reason"])
                self.assertIn(mend, no["reason"])

    def test_a_machine_is_said_in_any_usual_spelling(self):
        path = self.wheel().write(self.folder)
        for gpu in ("RTX 5090", "5090", "12.0", "120", "sm_120"):
            said = self.answer(self.resolve(path, HERE.replace("RTX 5090", gpu).replace("torch=2", "torch=torch2").replace("3.12", "cp312")), 0)
            self.assertEqual(said["machine"]["gpus"][0]["capability"], "12.0")
            self.assertEqual((said["machine"]["torch"], said["machine"]["python"]), ("2.9.1", "3.12"))

    def test_a_package_that_is_not_there_gets_the_near_one(self):
        self.wheel().write(self.folder / "dist")
        self.expect(self.resolve(self.folder / "dist", HERE, "--package", "tiny-kernel"), 4, "RES005", "no wheel of tiny-kernel is there", 'did you mean "tiny-kernels"?')

    def test_a_machine_in_a_wrong_form_is_told_the_right_one(self):
        self.expect(self.resolve("x.whl", "RTX 4090"), 2, '"RTX 4090" stands without what it is', "gpu=RTX 4090")
        self.expect(self.resolve("x.whl", "gpu=RTX 4090 torch=2.11"), 2, "write commas")
        self.expect(self.run_sagekit("resolve", "sageattention"), 2, "RES003", "--package NAME")
        path = self.wheel().write(self.folder)
        self.expect(self.run_sagekit("resolve", str(path).replace("tiny", "tiyn")), 2, "RES003", f"did you mean \"{path}\"?")
        self.expect(self.resolve("x.whl", "gpu=RTX 4090,cuda=12.8"), 2, "torch says for which CUDA")

    def test_a_gpu_that_nobody_made_gets_near_names_or_none(self):
        done = self.resolve("x.whl", "gpu=rtx9999")
        self.expect(done, 2, 'no GPU is called "rtx9999"', "compute capability")
        self.assertNotIn("GTX", done.err)
        self.expect(self.resolve("x.whl", "gpu=rtx5900"), 2, "did you mean RTX 5", "RTX 5090", "compute capability")

    def test_a_file_that_stays_is_read_once(self):
        wheel = self.wheel().write(self.folder)
        store = self.folder / "störe"
        store.mkdir(exist_ok=True)
        words = ("resolve", wheel, "--for", HERE, "--json")
        first = self.run_sagekit(*words)
        self.expect(first, 0)
        [kept] = (store / "looks").glob("*.json")
        self.assertEqual(self.run_sagekit(*words).out, first.out)
        # That it is what answers: a word in it is what is said.
        document = json.loads(kept.read_text())
        kept.write_text(json.dumps(document | {"traits": document["traits"] | {"damage": "it was kept"}}))
        done = self.run_sagekit(*words)
        self.expect(done, 4)
        self.assertIn("it was kept", done.out)
        os.utime(wheel)
        self.assertEqual(self.run_sagekit(*words).out, first.out)
        # Nothing that anyone wrote into it is more than a reason to look again.
        for text in ("", "{}", "[]", json.dumps(json.loads(kept.read_text()) | {"traits": {"torch": 1}})):
            kept.write_text(text)
            self.assertEqual(self.run_sagekit(*words).out, first.out)
        # A store that is not there is not begun.
        self.expect(self.run_sagekit(*words, env=self.environment(SAGEKIT_STORE=str(self.folder / "none"))), 0)
        self.assertFalse((self.folder / "none").exists())

    def test_several_packages_are_asked_about(self):
        self.wheel().write(self.folder / "dist")
        self.wheel(project="other_kernels").write(self.folder / "dist")
        self.expect(self.resolve(self.folder / "dist"), 2, "RES006", "other-kernels, tiny-kernels", "--package")
        said = self.answer(self.resolve(self.folder / "dist", HERE, "--package", "tiny_kernels"), 0)
        self.assertEqual(said["package"], "tiny-kernels")


class Words(Resolve):
    def test_for_is_strict(self):
        for text, told in [("gpus=H100", 'did you mean "gpu"'), ("gpu", "KEY=VALUE"), ("gpu=RTX 9999", "RTX 9999"), ("torch=two", "no version of torch"),
                           ("torch=2.9.1+hip", "no CUDA"), ("python=2", "no version of Python"), ("platform=amiga", "no platform"), ("driver=old", "no driver"),
                           ("libc=uclibc1", "no C library"), ("gpu=H100,gpu=A100", "said twice"), ("wsl=maybe", "neither yes nor no")]:
            self.expect(self.resolve(self.folder, text), 2, "RES001", told)

    def test_another_platform_leaves_the_rest_unknown(self):
        (self.folder / "dist").mkdir()
        (self.folder / "dist" / NAMES[0].replace("manylinux_2_28_x86_64", "win_arm64")).write_bytes(b"x")
        said = self.answer(self.resolve(self.folder / "dist", "platform=win_arm64", "--names-only"), 4)
        machine = said["machine"]
        self.assertEqual((machine["platform"], machine["torch"], machine["gpus"], machine["python"]), ("win_arm64", None, None, None))
        self.assertIn("is not this machine's platform", machine["notes"][0])
        self.assertEqual(said["unknown"][0]["code"], "RES201")

    def test_this_machine_is_asked_for_what_is_not_said(self):
        (self.folder / "dist").mkdir()
        (self.folder / "dist" / NAMES[0]).write_bytes(b"x")
        said = self.run_sagekit("resolve", "--json", "--names-only", "--from", self.folder / "dist", "--interpreter", sys.executable).json()["machine"]
        self.assertEqual(said["python"], f"{sys.version_info[0]}.{sys.version_info[1]}")
        self.assertEqual(said["platform"], f"linux_{MACHINE}")
        self.assertTrue(said["libc"].startswith("glibc"))

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_words_as_people_type_them(self):
        path = self.wheel().write(self.folder / "dist")
        place = HERE.replace("gpu=RTX 5090", "gpu=5090")
        self.expect(self.run_sagekit("resolve", path, "--for", place), 0)
        self.expect(self.run_sagekit("resolve", path, "--from", self.folder, "--for", place), 2, "CLI001", "two places")
        # What is advised is added to what stands there: one machine.
        rest = HERE.replace("gpu=RTX 5090,", "").replace(",driver=590", "")
        said = self.answer(self.resolve(path, "gpu=5090,driver=580.95.05", "--for", rest), 0)
        self.assertEqual((said["machine"]["gpus"][0]["driver"], said["machine"]["torch"]), ("580.95.05", "2.9.1"))
        self.expect(self.resolve(path, HERE, "--for", "gpu=H100"), 2, "RES001", "gpu is said twice")
        copy = path.with_name(path.stem + " (1).whl")
        path.rename(copy)
        refused = self.run_sagekit("resolve", copy, "--for", place)
        self.expect(refused, 4)
        self.assertIn("[RES113]", refused.out)
        self.assertIn("a browser added a number", " ".join(refused.out.split()))
        # Its maker shortened the name of the file: what METADATA and WHEEL call it is the name that every verb takes.
        short = path.with_name(path.name.replace(path.name.split("-")[1], path.name.split("-")[1].split("+")[0]))
        self.assertNotEqual(short, path)
        renamed = short.with_name(short.stem + " (1).whl")
        copy.rename(renamed)
        self.assertIn(f"by its METADATA and WHEEL it is {path.name}: rename it", self.answer(self.resolve(renamed, place), 4)["refused"][0]["reason"])
        renamed.rename(short)
        self.assertEqual(self.answer(self.resolve(short, place), 4)["refused"][0]["code"], "RES113")
        short.rename(copy)
        self.expect(self.resolve(copy, "platform=windows"), 2, "RES001", "win_amd64")
        venv = self.folder / "own" / "bin"
        venv.mkdir(parents=True)
        (venv / "python").symlink_to(sys.executable)
        self.assertEqual(self.answer(self.resolve(copy, HERE, "--interpreter", self.folder / "own"), 4)["refused"][0]["code"], "RES113")

    def test_a_second_download_is_of_the_package_that_it_names(self):
        stick = self.folder / "stick"
        stick.mkdir()
        copy = NAMES[0].replace(".whl", " (1).whl")
        other = "xformers-0.0.33+cu130.torch2.13.0-cp39-abi3-manylinux_2_28_x86_64.whl"
        for name in (copy, other):
            (stick / name).write_bytes(b"x")

        def of(*words):
            return self.resolve(stick, H100, "--names-only", *words)

        said = self.answer(of("--package", "sageattention"), 4)
        self.assertEqual([(one["file"], one["code"]) for one in said["refused"]], [(copy, "RES113")])
        self.assertIn(f"rename it to {NAMES[0]}", said["refused"][0]["reason"])
        self.assertEqual(self.answer(of("--package", "xformers"), 4)["refused"], [])
        self.expect(of("--package", "triton"), 4, "RES005", "no wheel of triton is there")
        self.expect(of(), 2, "RES006", "sageattention, xformers")
        # Of which package a name is that nobody can read, nobody knows.
        (stick / "what (1).whl").write_bytes(b"x")
        self.assertEqual([one["file"] for one in self.answer(of("--package", "xformers"), 4)["refused"]], ["what (1).whl"])
        # Alone it says of which package the folder is.
        (stick / other).unlink()
        (stick / "what (1).whl").unlink()
        self.assertEqual(self.answer(of(), 4)["package"], "sageattention")

    def test_bad_places(self):
        self.expect(self.resolve(self.folder / "nowhere"), 2, "RES003")
        (self.folder / "empty").mkdir()
        self.expect(self.resolve(self.folder / "empty"), 4, "RES005")
        (self.folder / "x.json").write_text('{"schema": "other/1"}')
        self.expect(self.resolve(self.folder / "x.json"), 1, "RES004", "other/1")
        (self.folder / "x.json").write_text("[" * 100_000)
        self.expect(self.resolve(self.folder / "x.json"), 1, "RES004")
        (self.folder / "wheels.zip").write_bytes(b"PK\x03\x04" + bytes(60))
        self.expect(self.resolve(self.folder / "wheels.zip"), 1, "RES004", "wheels.zip is a zip archive", "unpack it")
        wheel = self.wheel().write(self.folder / "renamed")
        zipped = wheel.rename(wheel.with_suffix(".zip"))
        self.expect(self.resolve(zipped), 1, "RES004", "is a wheel under another name", f"rename it to {wheel.name}")
        (self.folder / "wheels.json").write_text("<!DOCTYPE html><html><body>Sign in</body></html>")
        self.expect(self.resolve(self.folder / "wheels.json"), 1, "RES004", "wheels.json lists no wheels", "read from its address")
        self.expect(self.run_sagekit("resolve"), 2, "CLI001")
        self.expect(self.resolve(self.folder, HERE, "--interpreter", "/no/python"), 2, "VFY019")


class Manifests(Resolve):
    def release(self, *wheels, **more):
        path = self.folder / "sagekit.release.json"
        path.write_text(json.dumps({"schema": "sagekit.release/1", "wheels": list(wheels)} | more))
        return path

    def row(self, name, **more):
        return {"file": name, "url": "https://example.org/" + name.replace("+", "%2B"), "sha256": hashlib.sha256(name.encode()).hexdigest(), "size_bytes": 7,
                "torch": "2.13.0", "cuda": "13.0", "arches": ["9.0a"], "verdict": "pass",
                "runs_on": [{"capability": "9.0", "verdict": "yes"}, {"capability": "8.0", "verdict": "no", "reason": "no code"}]} | more

    def test_our_manifest_says_what_was_measured(self):
        said = self.answer(self.resolve(self.release(self.row(NAMES[1]), self.row(NAMES[2])), H100), 0)
        self.assertEqual(said["chosen"]["file"], NAMES[1])
        self.assertIn("measured when it was published", said["chosen"]["reason"])
        self.assertEqual(said["refused"][0]["code"], "RES101")
        self.answer(self.resolve(self.release(self.row(NAMES[1])), H100.replace("H100", "A100")), 4)
        # What a wheel's tags rule out needs no other reason; else what it says twice and differently is one.
        for name, code in ((NAMES[2], "RES101"), (NAMES[1], "RES113")):
            self.assertEqual(self.answer(self.resolve(self.release(self.row(name, torch="1.9.0")), H100), 4)["refused"][0]["code"], code)
        self.answer(self.resolve(self.release(self.row(NAMES[1], verdict="fail")), H100), 4)

    def test_two_wheels_of_one_name(self):
        said = self.answer(self.resolve(self.release(self.row(NAMES[1]), self.row(NAMES[1], sha256="0" * 64)), H100), 4)
        self.assertEqual([one["code"] for one in said["refused"]], ["RES113", "RES113"])

    def test_a_manifest_that_is_none(self):
        for row in [{"file": "../../etc/passwd"}, {"file": NAMES[1] + "/../x.whl"}, self.row(NAMES[1], sha256="short"), {"file": 5}]:
            self.expect(self.resolve(self.release(row), H100), 1, "RES004")

    def test_what_githubs_interface_gives(self):
        assets = [{"name": name, "browser_download_url": "https://example.org/" + name, "digest": "sha256:" + "a" * 64, "size": 9} for name in NAMES]
        path = self.folder / "release.json"
        path.write_text(json.dumps({"tag_name": "v1", "assets": assets + [{"name": "SHA256SUMS"}]}))
        said = self.answer(self.resolve(path, H100, "--names-only"), 0)
        self.assertEqual(said["chosen"]["file"], NAMES[1])
        self.assertEqual(said["chosen"]["sha256"], "a" * 64)


@unittest.skipUnless(compiler(), "no C compiler")
class Servers(Resolve):
    def setUp(self):
        super().setUp()
        self.index = IndexServer()
        self.addCleanup(self.index.close)

    def add(self, wheel, **more):
        path = wheel.write(self.folder / "made")
        self.index.add("tiny-kernels", path.name, path.read_bytes(), **more)
        return path

    def ask(self, *words, machine=HERE):
        return self.resolve(self.index.url, machine, "--package", "tiny-kernels", *words)

    def test_a_wheel_is_read_by_ranges_and_never_whole(self):
        # Random bytes do not compress: the wheel is megabytes, and what decides is little of it.
        wheel = self.wheel(requires=["torch==2.9.*"])
        wheel.files["tiny_kernels/weights.bin"] = os.urandom(6_000_000)
        path = self.add(wheel)
        said = self.answer(self.ask(), 0)
        self.assertEqual(said["chosen"]["file"], path.name)
        self.assertIn("12.0", said["chosen"]["reason"])
        self.assertLess(self.index.moved("/files/*"), 400_000)

    def test_a_large_module_is_known_by_a_part_of_it(self):
        wheel = self.wheel()
        name = next(name for name in wheel.files if name.endswith(".so"))
        # Bytes that do not compress, where modules keep their data: behind the GPU code. The tables stand at the end.
        (self.folder / "noise.bin").write_bytes(os.urandom(8_000_000))
        # A stream is taken up at the beginning of a block, and noise has none: as in real modules, tables and names follow.
        (self.folder / "words.bin").write_bytes(b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() for n in range(20_000)))
        noise = f'__asm__(".section .data.noise,\\"aw\\"\\n.incbin \\"{self.folder}/noise.bin\\"\\n.incbin \\"{self.folder}/words.bin\\"\\n.previous");'
        wheel.files[name] = gpu_module(self.folder / "big", more=noise)
        self.assertGreater(len(wheel.files[name]), 8_000_000)
        self.add(wheel)
        said = self.answer(self.ask(), 0)
        self.assertIn("the first compiled file of each module", said["chosen"]["reason"])
        self.assertLess(self.index.moved("/files/*"), 3_000_000)

    def test_a_large_windows_module_is_known_by_a_part_of_it(self):
        wheel = Wheel("tiny_kernels", "1.0+cu130torch2.9.1", "cp312-cp312-win_amd64")
        module = pe_module(noise=os.urandom(8_000_000))
        wheel.files["tiny_kernels/_k.cp312-win_amd64.pyd"] = module
        self.add(wheel)
        there = "gpu={},torch=2.9.1+cu130,python=3.12,platform=win_amd64,driver=581"
        said = self.answer(self.ask(machine=there.format("RTX 5090")), 0)
        self.assertIn("the first compiled file of each module", said["chosen"]["reason"])
        self.assertLess(self.index.moved("/files/*"), 600_000)
        self.assertEqual(self.answer(self.ask(machine=there.format("T4")), 4)["refused"][0]["code"], "RES107")
        # Tables that lead nowhere make no facts: the wheel is not known to fit.
        for at, value in ((60, 0xFFFFFFF0), (64 + 6, 0xFFFF), (64 + 24 + 112 + 8, 0x2000), (0x400 + 12, 0x7FFFFFFF)):
            broken = bytearray(module)
            broken[at:at + 4] = value.to_bytes(4, "little")
            wheel.files["tiny_kernels/_k.cp312-win_amd64.pyd"] = bytes(broken)
            self.index.projects.clear()
            self.add(wheel)
            self.expect(self.ask(machine=there.format("RTX 5090")), 4)

    def test_metadata_beside_the_wheel_comes_first(self):
        wheel = self.wheel(requires=["torch==2.8.*"], version="1.0")
        path = self.add(wheel)
        metadata = wheel.metadata.encode()
        self.index.put(f"/files/{path.name}.metadata", metadata)
        row = self.index.projects["tiny-kernels"][path.name]
        page = {"meta": {"api-version": "1.1"}, "name": "tiny-kernels", "files": [
            {"filename": path.name, "url": f"{self.index.base}/files/{path.name}", "hashes": {"sha256": row["sha256"]}, "core-metadata": {"sha256": hashlib.sha256(metadata).hexdigest()}}]}
        self.index.put("/page/simple", json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")
        said = self.answer(self.resolve(f"{self.index.base}/page/simple", HERE), 4)
        self.assertEqual(said["refused"][0]["code"], "RES105")
        self.assertEqual([a.path for a in self.index.asked("/files/*")], [f"/files/{path.name}.metadata"])
        self.index.put(f"/files/{path.name}.metadata", metadata + b"x")
        self.assertEqual(self.answer(self.resolve(f"{self.index.base}/page/simple", HERE), 4)["refused"][0]["code"], "RES114")

    def test_wheels_that_metadata_refuses_take_no_place_among_those_looked_into(self):
        files = []

        def offer(wheel, body, metadata=True):
            self.index.put(f"/files/{wheel.name}", body)
            row = {"filename": wheel.name, "url": f"{self.index.base}/files/{wheel.name}", "hashes": {"sha256": hashlib.sha256(body).hexdigest()}}
            if metadata:
                self.index.put(f"/files/{wheel.name}.metadata", wheel.metadata.encode())
                row["core-metadata"] = {"sha256": hashlib.sha256(wheel.metadata.encode()).hexdigest()}
            files.append(row)

        # As on a project's page: many newer wheels for other releases of torch, and as many nightlies of which nothing is said.
        wheel = self.wheel(requires=["torch==2.9.*"], version="1.0+cu130")
        offer(wheel, wheel.write(self.folder / "made").read_bytes())
        other = self.wheel(requires=["torch==2.10.*"])
        for number in range(30):
            for version, metadata in ((f"2.{number}+cu130", True), (f"3.0.dev{number}+cu130", False)):
                other.version, other.metadata = version, wheel.metadata.replace("Version: 1.0+cu130", f"Version: {version}").replace("2.9.*", "2.10.*")
                offer(other, b"no wheel", metadata)
        page = {"meta": {"api-version": "1.1"}, "name": "tiny-kernels", "files": files}
        self.index.put("/page/simple", json.dumps(page).encode(), "application/vnd.pypi.simple.v1+json")
        said = self.answer(self.resolve(f"{self.index.base}/page/simple", HERE), 0)
        self.assertEqual(said["chosen"]["file"], wheel.name)
        # What was not looked into is said of each, and METADATA was asked for once.
        self.assertEqual(len({a.path for a in self.index.asked("/files/*.whl")}), 24)
        self.assertEqual([row["code"] for row in said["unknown"]].count("RES213"), 7)
        self.assertTrue(all(".dev" in row["file"] for row in said["unknown"]))
        self.assertEqual([row["code"] for row in said["refused"] if ".dev" not in row["file"]], ["RES105"] * 30)
        self.assertEqual(len(self.index.asked("/files/*.metadata")), 31)

    def test_a_page_of_somebody_else(self):
        self.add(self.wheel())
        self.index.fault("*.whl", portal())
        said = self.answer(self.ask(), 4)
        self.assertEqual(said["refused"][0]["code"], "RES114")
        self.assertIn("is a web page (HTML) instead of the file", said["refused"][0]["reason"])
        self.index.mend()
        self.index.fault("*.whl", redirect("file:///etc/passwd"))
        self.assertIn("no http address", self.answer(self.ask(), 4)["unknown"][0]["reason"])
        self.index.mend()
        self.index.fault("/simple/*", portal())
        self.expect(self.ask(), 1, "IDX011")

    def test_a_page_with_scripts_and_links_that_lead_elsewhere(self):
        path = self.add(self.wheel())
        row = self.index.projects["tiny-kernels"][path.name]
        good, better = path.name, path.name.replace("-1.0+", "-9.0+")
        page = f"""<!DOCTYPE html><html><head><title>Links for tiny-kernels</title><base href="/files/deep/">
            <script>document.write('<a href="{self.index.base}/evil/{better}">{better}</a>')</script><!-- <a href="{better}">{better}</a> --></head><body>
            <a href="file:///etc/{better}">{better}</a> <a href="javascript:alert(1)//{better}">{better}</a> <a href="data:text/html,{better}">{better}</a>
            <a href="../../../../..%2f..%2fetc/{better}%00.zip">x</a> <a href="//127.0.0.1:9/..%5c{better}.exe">{better}.exe</a>
            <a href="../{good}#sha256={row['sha256']}" onclick="steal()">{good}</a></body></html>"""
        self.index.put("/page/simple", page.encode(), "text/html")
        said = self.answer(self.resolve(f"{self.index.base}/page/simple", HERE), 0)
        self.assertEqual(said["chosen"]["file"], good)
        self.assertEqual([row["file"] for row in said["fits"] + said["unknown"] + said["refused"] if row["file"] != good], [])
        self.assertEqual({answer.path for answer in self.index.asked("*")}, {"/page/simple", f"/files/{good}"})
        # No hash, or one that is none: it is taken for what its bytes are, and a wrong one is another file.
        for hash, code in (("", 0), ("#sha256=" + "0" * 64, 0), ("#md5=" + "0" * 32, 0)):
            self.index.put("/page/simple", f'<!DOCTYPE html><title>Links for x</title><a href="../files/{good}{hash}">{good}</a>'.encode(), "text/html")
            self.expect(self.resolve(f"{self.index.base}/page/simple", HERE), code)
        # What holds it to nothing is no hash that was not given.
        self.index.put("/page/simple", f'<!DOCTYPE html><title>Links for x</title><a href="../files/{good}#sha256=abc">{good}</a>'.encode(), "text/html")
        (refused,) = self.answer(self.resolve(f"{self.index.base}/page/simple", HERE), 4)["refused"]
        self.assertEqual(refused["code"], "RES114")
        self.assertIn("\"sha256=abc\" is no sha256", refused["reason"])

    def test_a_page_of_a_hundred_thousand_links(self):
        path = self.add(self.wheel())
        links = "".join(f'<a href="/files/tiny_kernels-0.{n}+cu130torch2.8.0-cp312-cp312-linux_x86_64.whl">x</a>\n' for n in range(100_000))
        self.index.put("/page/simple", f'<!DOCTYPE html><title>Links for x</title>{links}<a href="/files/{path.name}">y</a>'.encode(), "text/html")
        begin = time.monotonic()
        said = self.answer(self.resolve(f"{self.index.base}/page/simple", HERE), 0)
        self.assertEqual((said["chosen"]["file"], len(said["refused"])), (path.name, 100_000))
        self.assertLess(time.monotonic() - begin, 60)

    def test_a_wheel_that_cannot_be_read_is_unknown(self):
        self.add(self.wheel())
        self.index.fault("*.whl", cut(after=10))
        said = self.answer(self.ask(), 4)
        self.assertEqual(said["unknown"][0]["code"], "RES211")

    def test_an_index_with_lying_sizes(self):
        self.add(self.wheel(), size=12345)
        self.assertEqual(self.answer(self.ask(), 4)["refused"][0]["code"], "RES114")

    def test_yanked_is_refused(self):
        self.add(self.wheel(), yanked="broken")
        self.assertEqual(self.answer(self.ask(), 4)["refused"][0]["code"], "RES111")

    def test_a_server_without_ranges(self):
        self.add(self.wheel())
        self.index.fault("*.whl", no_ranges())
        self.answer(self.ask(), 0)

    def test_a_redirect_to_another_host_keeps_its_hash(self):
        with IndexServer() as other:
            path = self.add(self.wheel())
            other.put(f"/files/{path.name}", path.read_bytes())
            self.index.fault("*.whl", redirect(other.base + "{path}"))
            self.answer(self.ask(), 0)

    def test_secrets_of_an_address_are_not_said(self):
        with IndexServer(credentials="user:geheim") as closed:
            path = self.wheel().write(self.folder / "made")
            closed.add("tiny-kernels", path.name, path.read_bytes())
            done = self.resolve(closed.url, HERE, "--package", "tiny-kernels")
            self.answer(done, 0)
            self.assertNotIn("geheim", done.out + done.err)

    def test_names_only_reads_no_file(self):
        self.add(self.wheel())
        self.ask("--names-only")
        self.assertEqual(self.index.asked("/files/*"), [])


if __name__ == "__main__":
    unittest.main()
