#!/usr/bin/env python3
"""explain LOG: the first cause, its line, exit codes, forms of a log; explain CODE for causes."""
import gzip
import json
import subprocess
import sys
import unittest

from harness import SAGEKIT, SOURCE_DIR, CommandLine, Done

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from wheels import Wheel  # noqa: E402

LOG = """Collecting sageattention
  Getting requirements to build wheel: finished with status 'error'
  error: subprocess-exited-with-error
  × Getting requirements to build wheel did not run successfully.
  │ exit code: 1
  ╰─> [20 lines of output]
      Traceback (most recent call last):
        File "<string>", line 23, in <module>
      ModuleNotFoundError: No module named 'torch'
      [end of output]
  note: This error originates from a subprocess, and is likely not a problem with pip.
ERROR: Failed to build 'sageattention' when getting requirements to build wheel
"""


class Explain(CommandLine):
    def log(self, content, name="build.log"):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def explain(self, *words, stdin=None):
        return Done(subprocess.run([str(SAGEKIT), "explain", *map(str, words)], env=self.environment(), cwd=self.folder,
                                   input=stdin or b"", capture_output=True, timeout=60))

    def test_words_without_quotes_and_a_folder_are_understood(self):
        self.expect(self.explain("No", "module", "named", "'triton'"), 0)
        self.expect(self.explain("No", "module", "named", "sageattention"), 0)
        (self.folder / "logs").mkdir()
        self.expect(self.explain(self.folder / "logs"), 2, "FIL001")
        self.expect(self.run_sagekit("explain", "logs"), 2, "FIL001")

    def test_the_first_cause_its_line_and_what_follows(self):
        done = self.explain(self.log(LOG), "--json")
        self.expect(done, 0)
        said = done.json()
        self.assertEqual(said["schema"], "sagekit.explain/1")
        cause = said["causes"][0]
        self.assertEqual((cause["code"], cause["signatures"]), ("WHY101", ["C01"]))
        self.assertEqual(cause["where"], {"line": 9, "text": "ModuleNotFoundError: No module named 'torch'"})
        self.assertIn("--no-build-isolation", cause["fix"][0]["command"])
        self.assertIn("WHY901", [one["code"] for one in cause["follows_from"]])
        self.assertEqual((said["ending"], said["facts"]["package"], len(said["causes"])), ("failed", "sageattention", 1))
        text = self.explain("build.log")
        self.expect(text, 0)
        for word in ("WHY101", "line 9: ModuleNotFoundError", "--no-build-isolation", "Then"):
            self.assertIn(word, text.out)

    def test_every_form_of_the_same_log(self):
        forms = {"plain": LOG.encode(), "crlf": LOG.replace("\n", "\r\n").encode(), "bom": b"\xef\xbb\xbf" + LOG.encode(),
                 "utf-16": LOG.encode("utf-16"), "utf-16-be": LOG.encode("utf-16-be"), "gzip": gzip.compress(LOG.encode()),
                 "gzip of utf-16": gzip.compress(LOG.encode("utf-16")), "code page": LOG.replace("×", "é").replace("│", " ").replace("╰─>", " ").encode("cp1252"),
                 "colours": "".join(f"\x1b[31m{line}\x1b[0m\x1b]0;title\a\n" for line in LOG.splitlines()).encode(),
                 "actions": "".join(f"2026-11-22T08:34:07.1234567Z {line}\n" for line in LOG.splitlines()).encode(),
                 "docker": "".join(f"#12 34.56 {line}\n" for line in LOG.splitlines()).encode(),
                 "cut": LOG[:LOG.index("'torch'") + 7].encode()}
        for name, content in forms.items():
            with self.subTest(name):
                done = self.explain("-", "--json", stdin=content)
                self.expect(done, 0)
                cause = done.json()["causes"][0]
                self.assertEqual((cause["code"], cause["where"]["line"]), ("WHY101", 9))
                self.assertEqual(cause["where"]["text"], "ModuleNotFoundError: No module named 'torch'")

    def test_every_text_of_the_troubleshooting_documents(self):
        """What four documents list as problems, as one meets them, and what is true, also where their own answer is not."""
        table = (
            # Building version 3 for Blackwell.
            ("RuntimeError: Sage3 is only supported on CUDA 12.8 and above", "WHY110", "12.8"),
            ("RuntimeError: Unsupported GPU", "WHY109", "FAHOPPER_FORCE_BUILD changes nothing"),
            ('Error: "Unsupported GPU"', "WHY109", "A build for 10.0 passes here and its kernels refuse to run"),
            ("RuntimeError: only supports Blackwell GPUs or newer.", "WHY504", "version 3 does not run on them"),
            ("ModuleNotFoundError: No module named 'sageattn3'", "WHY418", "pip"),
            ("nvcc error   : 'cicc' died due to signal 9 (Kill signal)", "WHY210", "MAX_JOBS"),
            ("c++: fatal error: Killed signal terminated program cc1plus", "WHY210", "sagekit"),
            # Version 2 for the RTX 5090.
            ("CUDA extension not installed for sm_120", "WHY420", "_qattn_sm89"),
            ("fatal error: cuda_runtime.h: No such file or directory", "WHY123", "CUDA_HOME"),
            ("fatal error: cusparse.h: No such file or directory", "WHY123", "CUDA_HOME"),
            ("ImportError: cannot import name '_qattn_sm120' from 'sageattention'", "WHY420", "No version of SageAttention has a module of that name"),
            ("ModuleNotFoundError: No module named 'sageattention._qattn_sm120'", "WHY420", "patched by hand"),
            ("nvcc fatal   : Unsupported gpu architecture 'compute_120'", "WHY204", "12.8"),
            # The fork with six wheels.
            ("RuntimeError: CUDA not found", "WHY102", "CUDA_HOME"),
            ("OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.", "WHY102", "nvcc"),
            ("RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (13.0). Please make sure to use the same CUDA versions.", "WHY111", "13.0"),
            ("Error checking compiler version for cl: [WinError 2] The system cannot find the file specified", "WHY116", "cl.exe"),
            ("error: Microsoft Visual C++ 14.0 or greater is required.", "WHY117", "build tools"),
            ("fatal error C1060: compiler is out of heap space", "WHY210", "MAX_JOBS"),
            # DGX Spark.
            ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", "WHY510", "building Triton from source is not needed"),
            ("RuntimeError: missing sm121a", "WHY510", "TRITON_PTXAS_PATH"),
            ("ValueError: Unsupported CUDA architecture: sm121", "WHY503", "sm121"),
            # As the headings and lists of those documents have them.
            ('Error: "Sage3 is only supported on CUDA 12.8 and above"', "WHY110", "12.8"),
            ("Import Error: \"No module named 'sageattn3'\"", "WHY418", "pip"),
            ('1. **Issue: "CUDA extension not installed for sm_120"**', "WHY420", "_qattn_sm89"),
            ("3. **Issue: \"ImportError: cannot import name '_qattn_sm120'\"**", "WHY420", "patched by hand"),
            ("- `ptxas fatal: Value 'sm_121a' is not defined for option 'gpu-name'`", "WHY510", "TRITON_PTXAS_PATH"),
        )
        carried = (lambda line: line + "\r\n", lambda line: f"\x1b[1;31m{line}\x1b[0m\n", lambda line: f"2026-11-22T08:34:07.1234567Z {line}\n",
                   lambda line: f"#12 34.56 {line}\n", lambda line: f"[2026-11-22 08:34:07.123] {line}\r\n")
        for i, (phrase, code, truth) in enumerate(table):
            with self.subTest(phrase):
                done = self.explain("-", "--json", stdin=carried[i % len(carried)](phrase).encode())
                self.assertEqual([one["code"] for one in done.json()["causes"]][:1], [code], "as it was carried")
                done = self.explain("-", "--json", stdin=phrase.encode() + b"\n")
                causes = done.json()["causes"]
                self.assertEqual([one["code"] for one in causes][:1], [code])
                shown = self.explain("-", stdin=phrase.encode() + b"\n").out
                self.assertIn(truth, " ".join(shown.split()))

    def test_what_it_said_in_place_of_a_log(self):
        done = self.explain("ModuleNotFoundError: No module named 'triton'", "--json")
        self.expect(done, 0)
        self.assertEqual(done.json()["causes"][0]["code"], "WHY416")
        self.expect(self.explain("all went well here"), 4)
        # A name that is meant as a file's stays one.
        (self.folder / "fallback.log").write_text("x\n")
        self.expect(self.run_sagekit("explain", self.folder / "fallbak.log"), 2, "did you mean", "fallback.log")
        for name, word in (("my build.log", "cannot read the log"), (f"{self.folder}/no such one", "cannot read the log"), ("https://example.org/build.log", "curl -L")):
            done = self.explain(name)
            self.expect(done, 2)
            self.assertIn(word, done.err)

    def test_what_sagekit_itself_said_is_explained_by_its_code(self):
        for said, code in (("error[TCH001]: no nvcc 12.9 on this machine; there is 13.0 (/usr/local/cuda/bin/nvcc)", "TCH001"),
                           ("  error   FAT101  demo/_k.so has no code for 9.0", "FAT101")):
            done = self.explain(said, "--json")
            self.expect(done, 0)
            self.assertEqual([page["code"] for page in done.json()["findings"]], [code])
        # In a log the line is shown with what to do, unless something is known that it followed from.
        log = "error[TCH007]: no libcudart_static.a for linux_aarch64 in CUDA 13.0\n  = copy it\n"
        (cause,) = self.explain(self.log(log), "--json").json()["causes"]
        self.assertEqual((cause["code"], cause["where"]["line"], cause["fix"][0]["command"]), ("WHY905", 1, "sagekit explain TCH007"))
        said = self.explain(self.log('a.cu(12): error: identifier "foo" is undefined\n1 error detected in the compilation of "a.cu".\n' +
                                     "error[BLD001]: step compile-a of demo failed\n"), "--json").json()["causes"]
        self.assertEqual([one["code"] for one in said], ["WHY703"])
        # What it quotes is the cause, where that is known; and not every word in capitals is a code.
        self.assertIn("WHY416", self.explain("error[BLD001]: ModuleNotFoundError: No module named 'triton'").out)
        self.expect(self.explain("XYZ123 is no code of ours"), 4)

    def test_what_a_document_advises_in_vain_is_no_cause_and_is_told(self):
        done = self.explain("-", "--json", stdin=b'MAX_JOBS=2 FAHOPPER_FORCE_BUILD=1 TORCH_CUDA_ARCH_LIST="10.0a;12.0a" python3.13 setup.py bdist_wheel\n')
        self.assertEqual((done.code, done.json()["causes"], [one["code"] for one in done.json()["seen"]]), (4, [], ["WHY125"]))
        page = self.explain("WHY125").out
        for word in ("FlashAttention 3", "does not run on 10.0"):
            self.assertIn(word, page)

    def test_what_went_well_in_the_end_has_no_cause(self):
        done = self.explain(self.log(LOG + "Successfully built sageattention\nSuccessfully installed sageattention-2.2.0\n"), "--json")
        self.expect(done, 4)
        self.assertEqual((done.json()["causes"], done.json()["ending"]), ([], "well"))
        self.assertIn("ends well", self.explain("build.log").out)

    def test_a_good_end_hides_no_plugin_that_did_not_load(self):
        failed = "   0.1 seconds (IMPORT FAILED): /workspace/ComfyUI/custom_nodes/ComfyUI-Foo"
        log = self.log(f"Import times for custom nodes:\n{failed}\n\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n")
        said = self.explain(log, "--json").json()
        self.assertEqual((said["causes"], said["ending"], [one["code"] for one in said["seen"]]), ([], "well", ["WHY903"]))
        shown = self.explain(log)
        self.expect(shown, 4)
        self.assertNotIn("nothing in it failed", shown.out)
        for word in ("ends well", "WHY903", "line 2: 0.1 seconds (IMPORT FAILED): /workspace/ComfyUI/custom_nodes/ComfyUI-Foo"):
            self.assertIn(word, shown.out)

    def test_nothing_known_shows_the_likeliest_lines(self):
        log = self.log("one\ntwo\nwidget error: the flux capacitor is empty\nthree\n")
        done = self.explain(log, "--json")
        self.expect(done, 4)
        self.assertEqual([one["line"] for one in done.json()["likeliest"]], [3])
        self.assertIn("line 3: widget error: the flux capacitor", self.explain(log).out)
        self.expect(self.explain("-", stdin=b""), 4)

    def test_what_cannot_be_read(self):
        self.expect(self.explain("no such.log"), 2, "FIL001", "no such.log", "echo")
        self.expect(self.explain("no-such.log"), 2, "FIL001", "give a file, or -")
        self.expect(self.explain(self.folder), 2, "FIL001", "it is a folder")
        self.expect(self.explain("WHY999"), 2, "VFY009")
        self.expect(self.explain(), 2)

    def test_a_wheel_or_a_module_is_no_log(self):
        for name, first, verb in (("a.whl", b"PK\x03\x04", "sagekit verify"), ("_fused.so", b"\x7fELF", "sagekit inspect"), ("_fused.pyd", b"MZ\x90\0", "sagekit inspect")):
            (self.folder / name).write_bytes(first + bytes(100))
            self.expect(self.explain(name), 2, "FIL001", "this is no log", verb, name)

    def test_an_empty_log_tells_of_the_other_stream(self):
        done = self.explain("-", stdin=b"")
        self.expect(done, 4)
        self.assertIn("2>&1", done.out)

    def test_codes_of_causes_have_pages(self):
        done = self.explain("why101")
        self.expect(done, 0)
        for word in ("WHY101", "Why.", "Mend.", "Source."):
            self.assertIn(word, done.out)
        self.assertEqual(self.explain("WHY101", "--json").json()["findings"][0]["code"], "WHY101")
        self.assertGreater(len(self.explain("WHY", "--json").json()["findings"]), 50)
        self.assertEqual(self.explain("c01").out, done.out)

    def test_the_page_of_a_code_holds_each_case_that_is_told_under_it(self):
        done = self.explain("NAM006")
        self.expect(done, 0)
        text = " ".join(done.out.split())
        for words in ("a browser added a number", "(1)", "rename it", "delete it when the first download is there", "single dots between tags"):
            self.assertIn(words, text)

    def test_a_file_named_like_a_code_is_a_log(self):
        self.log(LOG, "FAT101")
        self.assertIn("WHY101", self.explain("FAT101").out)

    def test_the_mend_of_a_renamed_wheel_gives_its_name(self):
        right = Wheel("tiny", "1.0+cu130", "py3-none-any").write(self.folder / "dist")
        for name, said, told in (("tiny-1.0 (1).whl", "ERROR: {} is not a valid wheel filename.", right.name),
                                 ("tiny-2.0-py3-none-any.whl", "cause: Wheel version does not match filename (1.0+cu130 != 2.0), which indicates a malformed wheel.", "1.0+cu130")):
            file = self.folder / name
            file.write_bytes(right.read_bytes())
            mends = [fix["command"] for fix in self.explain(self.log(said.format(name)), "--json").json()["causes"][0]["fix"]]
            program, verb, _ = mends[0].split()
            self.assertEqual(program, "sagekit")
            done = self.run_sagekit(verb, file)
            self.expect(done, 0)
            self.assertIn(told, done.out + done.err)

    def test_the_system_of_a_log_is_read_from_what_is_its_own(self):
        no_module = "ModuleNotFoundError: No module named 'sageattention'"
        symbol = "ImportError: {}_qattn_sm80.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEa"
        for log, system in ((f"** Platform: Linux\n{no_module}\n", "linux"), (f"** Platform: Windows\n{no_module}\n", "windows"),
                            (f"Cannot import /workspace/ComfyUI/custom_nodes/Foo module for custom nodes: x\n{no_module}\n", "linux"),
                            (f'  File "/app/main.py", line 3, in <module>\n{no_module}\n', "linux"),
                            (symbol.format("/workspace/venv/lib/python3.12/site-packages/sageattention/") + "\n", "linux"), (symbol.format("") + "\n", "linux"),
                            # A Windows log that shows what a container and WSL write, and a Linux one that names a Windows wheel.
                            (f"C:\\ComfyUI> wsl ls /root/x /mnt/c/x\n{no_module}\n", "windows"),
                            (f"** Platform: Windows\n#12 34.5 /workspace/a.py\n" + "line\n" * 300 + f"{no_module}\n", "windows"),
                            (f"** Platform: Linux\ntried x-win_amd64.whl\n" + "line\n" * 300 + f"{no_module}\n", "linux")):
            with self.subTest(log[:70]):
                said = self.explain("-", "--json", stdin=log.encode()).json()
                self.assertEqual(said["facts"].get("os"), system)
                advised = "woct0rdho" in json.dumps(said["causes"][0]["fix"])
                self.assertEqual(advised, system == "windows")
        # What is no path of this machine says nothing of it.
        said = self.explain("-", "--json", stdin=f"GET https://host/workspace/root/ 200\n{no_module}\n".encode()).json()
        self.assertNotIn("os", said["facts"])

    def test_a_mend_of_one_system_says_so_where_the_system_is_not_known(self):
        said = "ModuleNotFoundError: No module named 'triton'"
        fixes = self.explain(said, "--json").json()["causes"][0]["fix"]
        self.assertEqual([fix["when"] for fix in fixes], ["on Windows", "on Linux"])
        shown = self.explain(said).out
        for word in ("Mend  on Windows: ", "or  on Linux: ", "pip install triton-windows"):
            self.assertIn(word, shown)
        here = self.explain(said, "--here")
        self.assertNotIn("on Linux: ", here.out)
        self.assertNotIn("triton-windows", here.out)

    def test_here_is_this_machine(self):
        done = self.explain(self.log(LOG + "C:\\Python312\\python.exe\n"), "--json")
        self.assertEqual(done.json()["facts"]["os"], "windows")
        self.assertEqual(self.explain("build.log", "--here", "--json").json()["facts"]["os"], "linux")


if __name__ == "__main__":
    unittest.main()
