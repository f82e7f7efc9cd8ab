#!/usr/bin/env python3
"""`sagekit verify` through its command line: exit codes, policies, waivers, formats, folders, installed packages."""
import hashlib
import json
import os
import pathlib
import sys
import unittest

from harness import SOURCE_DIR, CommandLine

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from wheels import MACHINE, SUFFIX, Wheel, compiler, module  # noqa: E402

FINDING_KEYS = {"code", "severity", "result", "message", "where", "hint"}


def renamed():
    """A wheel that somebody renamed: others warn of it, our own fail by it."""
    wheel = Wheel()
    wheel.tags = ["py2-none-any"]
    return wheel


class Verify(CommandLine):
    def verify(self, *words, **options):
        return self.run_sagekit("verify", *words, **options)

    def policy(self, text):
        path = self.folder / "wheels.toml"
        path.write_text("schema = 1\n" + text, encoding="utf-8")
        return path

    def reports(self, done):
        return json.loads(done.out)["wheels"]

    def findings(self, *words):
        (report,) = self.reports(self.verify("--json", *words))
        return {f["code"]: f for f in report["findings"]}


class ExitCodes(Verify):
    def test_a_right_wheel_passes(self):
        done = self.verify(Wheel().write(self.folder))
        self.expect(done, 0)
        self.assertRegex(done.out, r"pass: \d+ passed, 0 failed, \d+ warnings?, \d+ skipped \(policy others\)")

    def test_a_broken_wheel_fails_and_a_warning_does_not(self):
        wheel = Wheel()
        wheel.metadata = wheel.metadata.replace("Version: 1.0", "Version: 2.0")
        done = self.verify(wheel.write(self.folder))
        self.expect(done, 1)
        self.assertIn("INF006", done.out)
        self.expect(self.verify(renamed().write(self.folder / "b")), 0)

    def test_a_gpu_check_that_cannot_run_is_no_success(self):
        wheel = Wheel().write(self.folder)
        self.expect(self.verify(wheel), 0)
        done = self.verify("--gpu", wheel)
        self.expect(done, 3)
        self.assertIn("VFY020", done.err)
        self.assertIn("this machine cannot run its cases: no loaded plugin says what to call on a GPU", " ".join(done.err.split()))
        document = json.loads(self.verify("--gpu", "--json", wheel).out)
        self.assertEqual(["VFY020"], [error["code"] for error in document["errors"]])
        self.assertEqual("", document["wheels"][0]["gpu"])
        broken = Wheel("broken")
        broken.metadata = broken.metadata.replace("Version: 1.0", "Version: 2.0")
        self.expect(self.verify("--gpu", broken.write(self.folder)), 3)

    def test_python_and_platform_tags_are_said(self):
        wheel = Wheel().write(self.folder)
        self.assertIn("\n  for Python py3 (ABI none) on any\n", self.verify(wheel).out)
        (report,) = self.reports(self.verify("--json", wheel))
        self.assertEqual({"python": ["py3"], "abi": ["none"], "platform": ["any"]}, report["tags"])

    def test_several_wheels_are_all_judged_and_the_worst_decides(self):
        wrong = Wheel("wrong")
        wrong.metadata = "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n"
        right = Wheel().write(self.folder)
        done = self.verify(right, wrong.write(self.folder), self.folder / "nowhere.whl")
        self.expect(done, 2, "nowhere.whl")
        self.assertEqual(len(self.reports(self.verify("--json", right, self.folder / wrong.name))), 2)

    def test_what_is_no_wheel_is_named_in_a_sentence(self):
        for name, content in {"pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n",
                              "page": b"<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", "empty": b"", "cut": None}.items():
            path = self.folder / f"{name}-1.0-py3-none-any.whl"
            path.write_bytes(content if content is not None else Wheel().write(self.folder / "x").read_bytes()[:-30])
            with self.subTest(name):
                done = self.verify(path)
                self.expect(done, 1)
                self.assertRegex(done.out, r"fail [A-Z]{3}\d{3}  \S+ \S+")

    def test_what_is_wrong_with_the_command_is_said_once(self):
        paths = [Wheel(version=version).write(self.folder) for version in ("1.0", "2.0")]
        for words, code in ((("--require", "FOO"), "VFY003"), (("--sha256", "nosuch"), "FIL001")):
            done = self.verify(*words, *paths)
            self.expect(done, 2, f"error[{code}]")
            self.assertEqual((done.err.count(code), done.out), (1, ""))

    def test_a_wheel_that_is_named_twice_is_judged_once(self):
        path = Wheel().write(self.folder / "dist")
        self.assertEqual(len(self.verify("--json", path, self.folder / "dist", f"{self.folder}/./dist").json()["wheels"]), 1)

    def test_folders_below_that_were_not_named_are_said(self):
        for name in ("a", "b", "c"):
            Wheel(name).write(self.folder / "dist" / name)
        Wheel().write(self.folder / "dist")
        done = self.verify("dist", "dist/b")
        self.expect(done, 0, "wheels in folders below dist are not judged", "name those folders, too: dist/a dist/c")
        self.assertNotIn("not judged", self.verify("dist", "dist/a", "./dist/b/", *(self.folder / "dist/c").iterdir()).err)

    def test_an_unknown_policy_is_said_once(self):
        done = self.verify("--policy", "pipy", Wheel().write(self.folder), Wheel("other").write(self.folder))
        self.expect(done, 2, 'no policy "pipy"', 'one of: own, others, pypi')
        self.assertEqual(done.err.count("VFY001"), 1)

    def test_usage(self):
        wheel = Wheel().write(self.folder)
        self.expect(self.verify(), 2, "needs a wheel")
        self.expect(self.verify("--policy", "pipy", wheel), 2, "VFY001", "pypi")
        self.expect(self.verify("--policy", "./nowhere.toml", wheel), 2, "FIL001", "there is no such file", "built in are own, others and pypi")
        self.expect(self.verify("--require", "EFL", wheel), 2, "VFY003", "ELF")
        self.expect(self.verify("--format", "xml", wheel), 2, "CLI001")
        self.expect(self.verify("--memory", "lots", wheel), 2, "CLI002")
        self.expect(self.verify("--installed", "tiny"), 2, "--interpreter")
        self.expect(self.verify("--sha256", self.folder / "none", wheel), 2, "FIL001")

    def test_an_empty_value_does_not_swallow_the_wheel(self):
        self.expect(self.verify("--policy=", Wheel().write(self.folder)), 2, 'error[CLI001]: --policy: "" is empty')

    def test_one_form_for_stdout(self):
        path = Wheel().write(self.folder)
        self.expect(self.verify("--json", "--format", "sarif", path), 2, "--json and --format sarif both want stdout")
        self.expect(self.verify("--json", "--format", "json", path), 0)

    def test_a_fault_of_the_file_itself_names_it_once(self):
        path = self.folder / "half-1.0-py3-none-any.whl"
        path.write_bytes(Wheel().write(self.folder).read_bytes()[:200])
        done = self.verify("-q", path)
        self.expect(done, 1)
        self.assertIn(f"  --> {path}\n", done.err)

    def test_a_name_that_cannot_be_read_has_no_version_to_judge(self):
        path = Wheel().write(self.folder).rename(self.folder / "renamed.whl")
        done = self.verify(path)
        self.expect(done, 1)
        self.assertIn("NAM002", done.out)
        self.assertNotIn("NAM102", done.out)

    def test_a_wheel_under_another_name_is_told_its_own(self):
        wheel = Wheel()
        path = wheel.write(self.folder).rename(self.folder / "X.zip")
        done = self.verify(path, "--json")
        self.expect(done, 1)
        (named,) = [f for f in done.json()["wheels"][0]["findings"] if f["code"] == "NAM001"]
        self.assertIn("does not end in .whl", named["message"])
        self.assertEqual(named["hint"], f"by its METADATA and WHEEL it is {wheel.name}: rename it")

    def test_a_second_download_is_not_renamed_over_the_first(self):
        first = Wheel().write(self.folder / "dist")
        second = first.with_name(first.stem + " (1).whl")
        second.write_bytes(first.read_bytes())
        said = f"{first.name} is there: delete this second download if the first is whole"
        place = ("--for", "gpu=H100,python=3.12,driver=590,libc=glibc2.39")
        for words, code in ((("verify", second), 1), (("release", "dist"), 1), (("index", "dist"), 1), (("report", "dist"), 1), (("retag", "--build", "1", second), 1),
                            (("resolve", second, *place), 4), (("resolve", "--names-only", "--from", "dist", *place), 4)):
            with self.subTest(words):
                done = self.run_sagekit(*words)
                self.assertEqual(done.code, code, done.err)
                text = " ".join((done.out + done.err).split())
                self.assertIn(said, text)
                self.assertNotIn("rename it", text)
        # One with a name of its own, beside the right one; alone each is told its name.
        other = second.rename(second.with_name("new.whl"))
        self.assertIn(f"{first.name} is there: delete this one if that one is whole", " ".join(self.run_sagekit("release", "dist").err.split()))
        first.unlink()
        self.assertIn(f"it is {first.name}: rename it", self.run_sagekit("release", "dist").err)
        other.rename(second)
        for words in (("release", "dist"), ("verify", second)):
            done = self.run_sagekit(*words)
            self.assertIn(f"it is {first.name}: rename it", " ".join((done.out + done.err).split()))

    def test_memory_is_a_size(self):
        wheel = Wheel()
        wheel.files["tiny/data.bin"] = os.urandom(3_000_000)
        self.expect(self.verify("--memory", "1M", wheel.write(self.folder)), 0)

    def test_a_skipped_check_passes_nothing_and_fails_where_it_is_required(self):
        wheel = Wheel().write(self.folder)
        self.assertEqual(self.findings(wheel)["IMP001"]["result"], "skipped")
        self.expect(self.verify("--require", "IMP", wheel), 1)

    def test_the_help_has_examples(self):
        done = self.verify("--help")
        self.expect(done, 0)
        self.assertGreaterEqual(done.out.count("  sagekit verify "), 2)


class Interpreters(Verify):
    def test_one_that_is_not_there_is_a_mistake_of_the_command(self):
        wheel = Wheel().write(self.folder)
        self.expect(self.verify("--interpreter", "nosuchpython", wheel), 2, "VFY019", "nosuchpython", "PATH")
        self.expect(self.verify("--interpreter", "./nosuchpython", wheel), 2, "VFY019", "./nosuchpython")

    def native(self, tag="cp312-cp312"):
        wheel = Wheel(tag=f"{tag}-linux_{MACHINE}")
        suffix = SUFFIX.replace("312", tag.split("-")[0][2:])
        wheel.files["tiny/_k" + suffix] = module(self.folder)
        return wheel.write(self.folder)

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_a_relative_path_and_a_bare_name_start_it(self):
        (self.folder / "venv").mkdir()
        (self.folder / "venv" / "python").symlink_to(sys.executable)
        tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        wheel = self.native(f"{tag}-{tag}")
        name = pathlib.Path(sys.executable).name
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        for word in ("venv/python", "./venv/python", name):
            with self.subTest(word):
                found = self.reports(self.verify("--json", "--all", "--interpreter", word, wheel, env=self.environment(PATH=path)))[0]["findings"]
                imported = [f for f in found if f["code"].startswith("IMP")]
                self.assertEqual([f["result"] for f in imported if f["code"] in ("IMP001", "IMP005")], ["fail", "pass"], imported)

    @unittest.skipUnless(compiler(), "no C compiler")
    def test_one_that_the_wheel_is_not_for_is_no_pass(self):
        wheel = self.native("cp399-cp399")
        done = self.verify("--interpreter", sys.executable, wheel)
        self.expect(done, 1)
        self.assertRegex(done.out, r"fail IMP005 .*it is Python 3\.\d+,\s+the\s+modules\s+are\s+for\s+3\.99")

    def test_a_wheel_without_modules_asks_the_interpreter_too(self):
        def made(tag, requires=""):
            wheel = Wheel("tiny", "1.0", tag)
            wheel.metadata = wheel.metadata.replace("Summary:", f"Requires-Python: {requires}\nSummary:") if requires else wheel.metadata
            return wheel.write(self.folder / tag / (requires.strip("<>=.0123456789") or "any"))

        for program, wheel, why in (("/bin/false", made("py3-none-any"), "no Python that starts"), (sys.executable, made("py2-none-any"), "the wheel is for py2"),
                                    (sys.executable, made("cp399-none-any"), "the wheel is for cp399"), (sys.executable, made("py399-none-any"), "the wheel is for py399"),
                                    (sys.executable, made("py3-none-any", "<3"), "Requires-Python says <3")):
            done = self.verify("--interpreter", program, wheel)
            self.expect(done, 1)
            self.assertIn("fail IMP005", done.out)
            self.assertIn(why, " ".join(done.out.split()))
        done = self.verify("--interpreter", sys.executable, "--all", made("py2.py3-none-any"))
        self.expect(done, 0)
        self.assertIn("pass IMP005", done.out)


class Sources(Verify):
    """What a plugin knows of its revisions is said of no other source."""

    def sageattention(self, version, core):
        wheel = Wheel("sageattention", version)
        wheel.files = {"sageattention/__init__.py": b"from .core import sageattn\n", "sageattention/core.py": core.encode()}
        return wheel.write(self.folder)

    def core(self, *branches, call=""):
        return "".join(f'    {"el" if n else ""}if arch == "{arch}":\n        return f(x{call})\n' for n, arch in enumerate(branches))

    def test_a_package_of_triton_alone_is_none_of_the_revisions(self):
        wheel = self.sageattention("1.0.6", "import triton\n\ndef sageattn(q, k, v):\n    return q\n")
        done = self.verify(wheel)
        self.expect(done, 0)
        self.assertNotIn("would call", done.out)
        self.assertNotIn("refuses", done.out)
        findings = self.findings(wheel)
        for code in ("TRU001", "RUN001", "CNT002", "CNT004"):
            self.assertEqual(findings[code]["result"], "skipped", findings[code])
        self.assertIn("dispatch not known", findings["RUN001"]["message"])
        self.assertEqual(self.reports(self.verify("--json", wheel))[0]["runs_on"], [])

    def test_a_wheel_of_a_plugin_that_is_not_loaded_is_not_held_to_another(self):
        wheel = Wheel("sageattention", "2.2.0")
        wheel.generator = "sagekit 0.1.0"
        wheel.files = {"sageattention/core.py": self.core("sm80", "sm86", "sm89", "sm90", "sm120", "sm121").encode()}
        record = {"schema": "sagekit.provenance/1", "plugin": {"name": "sage2-fork"}, "source": {"commit": "f" * 40}, "arches": ["9.0a"]}
        for plugin, result in (("sage2-fork", "skipped"), ("sage2", "fail")):
            record["plugin"]["name"] = plugin
            wheel.files[f"{wheel.dist_info}/sagekit.json"] = json.dumps(record).encode()
            finding = self.findings("--policy", "own", wheel.write(self.folder))["TRU003"]
            self.assertEqual(finding["result"], result, finding)
            self.assertIn("made with the plugin sage2-fork, which is not loaded" if result == "skipped" else "knows no source", finding["message"])

    def test_names_are_read_by_the_rows_that_wrote_them(self):
        """[[scheme]] of sagekit.toml: a commit's digits behind a CUDA's are no part of it."""
        commit = "93b30a3b27652423508852e77de5f2afb9846b39"
        record = {"schema": "sagekit.provenance/1", "plugin": {"name": "sage2"}, "source": {"commit": commit}, "torch": "2.11.0", "cuda": "13.0", "arches": ["9.0a"]}
        configuration = self.folder / "sagekit.toml"
        for scheme, right, wrong in (("{version}+cu{cuda_digits}.{commit7}", "cu130.93b30a3", ("cu128.93b30a3", "CUDA 12.8")),
                                     ("{version}+cu{cuda_digits}.{commit7}", "cu130.93b30a3", ("cu130.6810e2f", "commit 6810e2f")),
                                     ("{version}+cu{cuda_digits}.{torch_digits}", "cu130.2110", ("cu130.2100", "torch 2.10.0"))):
            row = f'[[scheme]]\nname = "ours"\nversion = "{scheme}"\nsource = "us"\n'
            for local, lie in ((right, ""), wrong):
                wheel = Wheel("sageattention", f"2.2.0+{local}")
                wheel.files = {f"{wheel.dist_info}/sagekit.json": json.dumps(record).encode()}
                path = wheel.write(self.folder)
                for text in (row, ""):
                    configuration.write_text(text)
                    finding = self.findings("--policy", "own", "--all", path)["TRU003"]
                    # Without the row the name says nothing: nobody knows what the digits are.
                    self.assertEqual(finding["result"], "fail" if text and lie else "pass", finding)
                    if text and lie:
                        self.assertIn(f"the name says {lie}, the record ", finding["message"])

    def test_of_several_plugins_for_a_package_the_one_whose_source_it_shows_judges(self):
        wheel = Wheel("sageattention", "2.2.0+cu130torch2.9.0andhigher.post4")
        wheel.files = {"sageattention/__init__.py": b"", "sageattention/core.py": self.core("sm75", "sm89", "sm90").encode(),
                       "sageattention/quant.py": b"ops = torch.ops.sageattention_fused\n"}
        (report,) = self.reports(self.verify("--json", wheel.write(self.folder)))
        reasons = {row["capability"]: row["reason"] for row in report["runs_on"]}
        self.assertIn("it would call _qattn_sm89", reasons["12.0"])
        del wheel.files["sageattention/quant.py"]
        self.assertIn("dispatch not known", self.findings(wheel.write(self.folder))["RUN001"]["message"])

    def test_a_wrong_file_name_hides_nothing_of_what_the_wheel_says(self):
        wheel = self.sageattention("2.2.0", self.core("sm80", "sm86", "sm89", "sm90", "sm120", "sm121") + 3 * ', pv_accum_dtype="fp32+fp16")\n')
        (whole,) = self.reports(self.verify("--json", "--all", wheel))
        for name in ("sageattention.zip", f"{wheel.stem} (1).whl"):
            done = self.verify("--json", "--all", wheel.rename(self.folder / name))
            wheel = self.folder / name
            self.expect(done, 1)
            (report,) = self.reports(done)

            def said(one):
                return {(f["code"], f["result"], f["message"]) for f in one["findings"] if f["code"][:4] != "NAM0" and f["code"][:3] != "RUN"}

            self.assertEqual(said(report), said(whole))
            self.assertEqual(report["tags"], whole["tags"])
            self.assertTrue(report["unusable"].startswith("pip does not install it (NAM0"), report["unusable"])
            self.assertEqual({(row["verdict"], row["reason"]) for row in report["runs_on"]}, {("no", report["unusable"])})
            self.assertEqual([row["capability"] for row in report["runs_on"]], [row["capability"] for row in whole["runs_on"]])

    def test_wheels_of_other_makers_are_recognised_by_their_branches(self):
        old, new = ("sm80", "sm86", "sm89", "sm90", "sm120"), ("sm80", "sm86", "sm89", "sm90", "sm120", "sm121")
        fp16, fp32 = ', pv_accum_dtype="fp32+fp16")', 'return_lse=return_lse, pv_accum_dtype="fp32+fp32")'
        known = {"2.2.0": self.core(*new) + 3 * (fp16 + "\n"), "2.2.0+cu128torch2.8": self.core(*old) + 2 * (fp16 + "\n"),
                 "2.1.1": self.core(*old) + 2 * (fp32 + "\n")}
        for version, core in known.items():
            with self.subTest(version):
                (report,) = self.reports(self.verify("--json", self.sageattention(version, core)))
                reasons = {row["capability"]: row["reason"] for row in report["runs_on"]}
                self.assertIn("it would call _qattn_sm90", reasons["9.0"])
                self.assertEqual("sm121" in reasons["12.1"], version != "2.2.0", reasons)
        forks = {"2.2.0.post3": self.core(*old).replace('arch == "sm86"', 'arch in {"sm75", "sm86"}') + 2 * (fp16 + "\n"),
                 "2.2.0": self.core(*new, "sm100") + 3 * (fp16 + "\n")}
        for version, core in forks.items():
            with self.subTest(version):
                self.assertIn("dispatch not known", self.findings(self.sageattention(version, core))["RUN001"]["message"])


class Explain(Verify):
    def test_a_code_its_family_and_a_wrong_one(self):
        done = self.verify("--explain", "elf003")
        self.expect(done, 0)
        self.assertTrue(done.out.startswith("ELF003"), done.out)
        self.assertNotIn("**", done.out)
        family = self.verify("--explain", "TRU")
        self.assertIn("TRU001", family.out)
        self.assertIn("TRU006", family.out)
        self.expect(self.verify("--explain", "ELF999"), 2, "VFY009", "ELF0")
        self.expect(self.verify("--explain", "Does it run?"), 2, "no family Does it run?")
        self.expect(self.verify("--explain", "IDX003"), 0)
        for words in (("verify", "--explain", "rule-threw"), ("explain", "rule-threw"), ("explain", "rule-floods")):
            said = self.run_sagekit(*words)
            self.expect(said, 0)
            self.assertIn("The judge", said.out)
        pages = self.verify("--explain", "TRU001", "--json").json()
        self.assertEqual(pages["schema"], "sagekit.finding/1")
        self.assertEqual(set(pages["findings"][0]), {"code", "title", "weight", "text"})
        self.assertIn("**Why.**", pages["findings"][0]["text"])


class Policies(Verify):
    def test_the_three_policies(self):
        wheel = renamed().write(self.folder)
        for policy, code, severity in (("others", 0, "warning"), ("own", 1, "error")):
            done = self.verify("--json", "--policy", policy, wheel)
            self.expect(done, code)
            (report,) = self.reports(done)
            self.assertEqual(report["policy"], policy)
            self.assertEqual({f["code"]: f["severity"] for f in report["findings"]}["INF009"], severity)

    def test_a_policy_file_changes_weights(self):
        wheel = renamed().write(self.folder)
        self.expect(self.verify("--policy", self.policy('base = "others"\n[severity]\nINF009 = "error"\n'), wheel), 1)
        done = self.verify("--policy", self.policy('base = "own"\n[severity]\nINF = "off"\nTRU = "off"\n'), wheel)
        self.assertNotIn("INF009", done.out)
        self.expect(self.verify("--policy", self.policy('require = ["IMP"]\n'), wheel), 1)

    def test_a_wrong_policy_file_is_refused_with_line_and_nearest_word(self):
        done = self.verify("--policy", self.policy('[severity]\nELF03 = "error"\nELF003 = "eror"\n'), Wheel().write(self.folder))
        self.expect(done, 2, "VFY016", "wheels.toml:4:", "error")
        done = self.verify("--policy", self.policy('[[waiver]]\ncode = "ELF003"\n'), Wheel().write(self.folder))
        self.expect(done, 2, "VFY013", "reason", "until")

    def waiver(self, until, code="INF009", **more):
        keys = {"code": code, "reason": "renamed by hand, issue 12", "until": until} | more
        return "[[waiver]]\n" + "".join(f'{key} = "{value}"\n' for key, value in keys.items())

    def test_a_waiver_holds_until_its_day(self):
        wheel = renamed().write(self.folder)
        strict = '[severity]\nINF009 = "error"\n'
        done = self.verify("--json", "--policy", self.policy(strict + self.waiver("2999-12-31")), wheel)
        self.expect(done, 0)
        (report,) = self.reports(done)
        waived = [f for f in report["findings"] if f["result"] == "waived"]
        self.assertEqual([f["code"] for f in waived], ["INF009"])
        self.assertEqual(waived[0]["waived"], {"reason": "renamed by hand, issue 12", "until": "2999-12-31"})
        text = self.verify("--policy", self.policy(strict + self.waiver("2999-12-31")), wheel)
        self.assertIn("waived until 2999-12-31: renamed by hand", " ".join(text.out.split()))
        self.assertIn(", 1 waived", text.out)
        ended = self.verify("--policy", self.policy(strict + self.waiver("2020-01-01")), wheel)
        self.expect(ended, 1)
        self.assertIn("VFY101", ended.out)
        self.assertIn("ended on 2020-01-01", " ".join(ended.out.split()))  # lines are wrapped

    def test_a_waiver_that_nothing_needs_is_said_once_and_may_fail(self):
        wheels = [Wheel(name).write(self.folder) for name in ("a", "b")]
        done = self.verify("--policy", self.policy(self.waiver("2999-12-31")), *wheels)
        self.expect(done, 0, "VFY102", "wheels.toml:2")
        self.assertEqual(done.err.count("VFY102"), 1)
        self.assertEqual(self.verify("-q", "--policy", self.policy(self.waiver("2999-12-31")), *wheels).err, "", "-q says errors only")
        strict = self.policy('[options]\nstale_waivers = "error"\n' + self.waiver("2999-12-31"))
        self.expect(self.verify("--policy", strict, *wheels), 1)
        self.expect(self.verify("-q", "--policy", strict, *wheels), 1, "error[VFY102]")
        self.assertRegex(self.verify("--format", "github", "--policy", strict, *wheels).out, r"(?m)^::error file=.*wheels\.toml,line=4,title=VFY102::")
        stale = self.verify("--json", "--policy", strict, *wheels).json()["stale_waivers"]
        self.assertEqual([(s["code"], s["severity"]) for s in stale], [("VFY102", "error")])
        used = renamed()
        used.project, used.files = "a", {"a/__init__.py": b""}
        used.metadata = used.metadata.replace("tiny", "a")
        self.expect(self.verify("--policy", strict, used.write(self.folder / "used"), wheels[1]), 0)

    def test_no_policy_makes_a_wheel_of_what_is_none_and_its_waiver_is_no_stale_one(self):
        empty = self.folder / "tiny-1.0-py3-none-any.whl"
        empty.touch()
        policy = self.policy('require = ["FAT"]\n[options]\nstale_waivers = "error"\n[severity]\nINS = "off"\n' + self.waiver("2999-12-31", code="INS054"))
        done = self.verify("--json", "--policy", policy, empty)
        self.expect(done, 1)
        self.assertEqual(done.json()["stale_waivers"], [])
        (report,) = self.reports(done)
        self.assertEqual((report["verdict"], report["policy"]), ("fail", str(policy)))
        (finding,) = report["findings"]
        self.assertEqual((finding["code"], finding["result"]), ("INS054", "fail"))
        self.assertIn("no waiver makes a wheel", finding["hint"])

    def test_a_stale_waiver_is_in_sarif_in_its_line(self):
        policy = self.policy('[options]\nstale_waivers = "error"\n' + self.waiver("2999-12-31"))
        done = self.verify("--format", "sarif", "--policy", policy, Wheel().write(self.folder))
        self.expect(done, 1)
        (result,) = [one for one in done.json()["runs"][0]["results"] if one["ruleId"] == "VFY102"]
        self.assertEqual(result["level"], "error")
        (place,) = result["locations"]
        self.assertTrue(place["physicalLocation"]["artifactLocation"]["uri"].endswith("wheels.toml"))
        self.assertEqual(place["physicalLocation"]["region"], {"startLine": policy.read_text().splitlines().index("[[waiver]]") + 1})

    def test_a_waiver_is_for_its_wheel(self):
        wheel = renamed().write(self.folder)
        strict = '[severity]\nINF009 = "error"\n'
        self.expect(self.verify("--policy", self.policy(strict + self.waiver("2999-12-31", wheel="tiny-1.*")), wheel), 0)
        self.expect(self.verify("--policy", self.policy(strict + self.waiver("2999-12-31", wheel="tiny-2.*")), wheel), 1)


class Formats(Verify):
    def test_json_has_the_promised_keys(self):
        done = self.verify("--json", renamed().write(self.folder))
        report = done.json()
        self.assertEqual(list(report)[0], "schema")
        self.assertEqual(report["schema"], "sagekit.verify/1")
        (wheel,) = report["wheels"]
        self.assertEqual(set(wheel), {"path", "sha256", "verdict", "policy", "kind", "tags", "gpu", "findings", "skipped", "runs_on", "unusable"})
        self.assertEqual(wheel["sha256"], hashlib.sha256((self.folder / Wheel().name).read_bytes()).hexdigest())
        self.assertEqual((wheel["verdict"], wheel["kind"]), ("pass", "wheel"))
        for finding in wheel["findings"]:
            self.assertEqual(set(finding), FINDING_KEYS)
            self.assertNotEqual(finding["result"], "pass")
        every = self.reports(self.verify("--json", "--all", self.folder / Wheel().name))[0]["findings"]
        self.assertIn("pass", {f["result"] for f in every})
        self.assertEqual(self.verify("--format", "json", self.folder / Wheel().name).out, done.out)

    def test_sarif(self):
        wheel = renamed()
        wheel.files["tiny/__pycache__/x.cpython-312.pyc"] = b"x"
        path = wheel.write(self.folder)
        target = self.folder / "found.sarif"
        self.expect(self.verify("--sarif", target, path), 0)
        printed = self.verify("--format", "sarif", path)
        sarif = json.loads(target.read_text())
        self.assertEqual(sarif, printed.json())
        (run,) = sarif["runs"]
        self.assertEqual(sarif["version"], "2.1.0")
        self.assertEqual(run["tool"]["driver"]["name"], "sagekit")
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        listed = {f["code"] for f in self.reports(self.verify("--json", path))[0]["findings"] if f["result"] in ("fail", "warn")}
        self.assertEqual({result["ruleId"] for result in run["results"]}, listed)
        self.assertIn("INF009", listed)
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            self.assertIn(result["level"], ("error", "warning"))
            self.assertTrue(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(".whl"))
            self.assertNotIn(" ", result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        self.expect(self.verify("--sarif", self.folder / "no" / "such" / "folder", path), 2, "FIL002")

    def test_annotations(self):
        path = renamed().write(self.folder)
        lines = self.verify("--format", "github", path).out.splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^::(error|warning) file=[^,:]*,title=[A-Z]{3}\d{3} in [^,:]*::\S")
        self.assertNotIn("::", self.verify(path).out)
        on_github = self.environment(GITHUB_ACTIONS="true")
        self.assertIn("\n::warning ", self.verify(path, env=on_github).out)
        in_json = self.verify("--json", path, env=on_github)
        self.assertIn("::warning ", in_json.err)
        in_json.json()
        self.assertNotIn("\n\n", in_json.err)
        self.assertNotIn("::warning", self.verify("-q", path, env=on_github).out, "-q says errors only")


class Published(Verify):
    def test_checksums_beside_the_wheel(self):
        path = Wheel().write(self.folder)
        right = hashlib.sha256(path.read_bytes()).hexdigest()
        self.assertNotIn("TRU004", self.verify("--all", path).out)
        (self.folder / "SHA256SUMS").write_text(f"{right}  {path.name}\n")
        self.assertEqual(self.findings("--all", path)["TRU004"]["result"], "pass")
        (self.folder / "SHA256SUMS").write_text(f"{'0' * 64}  {path.name}\n")
        self.expect(self.verify(path), 1)
        given = self.folder / "given.txt"
        given.write_text(f"{right} *{path.name}\n")
        self.expect(self.verify("--sha256", given, path), 0)
        given.write_text(f"{right}  other.whl\n")
        self.expect(self.verify("--sha256", given, path), 1)


@unittest.skipUnless(compiler(), "there is no C compiler to make a module with")
class Folders(Verify):
    def native(self, project="tiny", flags=()):
        wheel = Wheel(project, tag=f"cp312-cp312-linux_{MACHINE}")
        wheel.files[f"{project}/_k{SUFFIX}"] = module(self.folder, flags=flags)
        return wheel

    def test_of_a_folder_of_wheels_only_a_package_s_are_judged(self):
        Wheel().write(self.folder), Wheel("other").write(self.folder)
        done = self.verify("--package", "Other", "--json", self.folder)
        self.assertEqual([pathlib.Path(one["path"]).name.split("-")[0] for one in done.json()["wheels"]], ["other"])
        self.expect(self.verify("--package", "nosuch", self.folder), 4, "VFY004", "no wheel of nosuch is in", "is one that is there")

    def test_an_installed_package(self):
        site = self.folder / "venv" / "lib" / "python3.12" / "site-packages"
        info = self.native().install(site)
        Wheel("pure").install(site)
        for path in (site, info):
            with self.subTest(path.name):
                done = self.verify("--json", path)
                self.expect(done, 0)
                (report,) = self.reports(done)
                self.assertEqual((report["kind"], pathlib.Path(report["path"]).name), ("installed", "tiny-1.0.dist-info"))
                codes = {f["code"]: f["result"] for f in report["findings"]}
                self.assertEqual((codes["ZIP100"], codes["NAM101"]), ("skipped", "skipped"))
        self.expect(self.verify("--require", "ZIP", site), 1)
        self.expect(self.verify("--package", "pure", site), 0)
        self.expect(self.verify("--package", "tinny", site), 4, "VFY004", "tiny")

    def test_what_is_broken_in_an_installed_package_is_found(self):
        site = self.folder / "site"
        wheel = self.native()
        wheel.tags = [f"cp311-cp311-linux_{MACHINE}"]
        wheel.install(site)
        (site / "tiny" / "__init__.py").unlink()
        found = self.findings(site)
        self.assertEqual(found["PYA001"]["result"], "fail")
        self.assertEqual(found["INF014"]["result"], "fail")

    def test_the_packages_of_an_interpreter(self):
        python = self.folder / "python"
        site = self.folder / "site packages"
        self.native().install(site)
        python.write_text(f"#!/bin/sh\nprintf '%s\\n' /nowhere '{site}'\n")
        python.chmod(0o755)
        done = self.verify("--installed", "TINY", "--interpreter", python)
        self.assertIn("tiny-1.0.dist-info", done.out, done.err)
        self.expect(self.verify("--installed", "other", "--interpreter", python), 4, "VFY004")
        self.expect(self.verify("--installed", "tiny", "--interpreter", "/nowhere/python"), 2, "VFY019")
        self.expect(self.verify("--installed", "tiny", "--interpreter", "/bin/false"), 2, "VFY006")

    def test_an_unpacked_wheel_a_folder_of_modules_and_a_folder_of_wheels(self):
        wheel = self.native()
        site = self.folder / "unpacked"
        for name, content in wheel.contents().items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_bytes(content)
        (report,) = self.reports(self.verify("--json", site))
        self.assertEqual((report["kind"], report["verdict"]), ("unpacked", "pass"))
        (report,) = self.reports(self.verify("--json", site / "tiny"))
        self.assertEqual((report["kind"], report["verdict"]), ("folder", "pass"))
        outer = self.folder / "outer"  # as `wheel unpack` leaves it
        outer.mkdir()
        site.rename(outer / "tiny-1.0")
        (report,) = self.reports(self.verify("--json", outer))
        self.assertEqual((report["kind"], pathlib.Path(report["path"]).name), ("unpacked", "tiny-1.0"))
        dist = self.folder / "dist"
        Wheel("a").write(dist), Wheel("b").write(dist)
        self.assertEqual([r["kind"] for r in self.reports(self.verify("--json", dist))], ["wheel", "wheel"])
        (dist / "linux").mkdir()
        Wheel("c").write(dist / "linux")  # not judged, and said
        done = self.verify(dist)
        self.expect(done, done.code, f"wheels in folders below {dist} are not judged", f"name those folders, too: '{dist / 'linux'}'")
        (self.folder / "empty").mkdir()
        self.expect(self.verify(self.folder / "empty"), 1, "VFY005")

    def test_a_build_machines_run_path_is_found_in_wheel_and_folder(self):
        wheel = self.native(flags=["-Wl,-rpath,/build/lib"])
        for path in (wheel.write(self.folder / "dist"), wheel.install(self.folder / "site")):
            self.assertEqual(self.findings(path)["ELF003"]["result"], "warn")

    def test_a_link_out_of_the_folder_is_not_followed(self):
        site = self.folder / "site"
        wheel = self.native()
        wheel.install(site)
        library = site / "tiny" / f"_k{SUFFIX}"
        library.rename(self.folder / "elsewhere.so")
        library.symlink_to(self.folder / "elsewhere.so")
        self.assertEqual(self.findings(site)["VFY007"]["result"], "fail")


if __name__ == "__main__":
    unittest.main(verbosity=1)
