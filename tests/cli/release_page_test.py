#!/usr/bin/env python3
"""The page of a release: what is in the file, and what a browser makes of it. Without chromium the second is skipped."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import CommandLine
from release_wheels import built

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><!-- & @DATA@"


def manifest_row(i, torch, python, **more):
    tag = "cp" + python.replace(".", "")
    verdicts = {"8.0": "yes", "9.0": "no" if i % 2 else "yes", "12.0": "jit"}
    return {"file": f"tiny-1.0+cu130.torch{torch}.n{i}-{tag}-{tag}-linux_x86_64.whl", "url": f"https://example.org/{i}.whl", "size_bytes": 40_000_000 + i, "sha256": f"{i:064x}",
            "python": python, "torch": torch + ".0", "cuda": "13.0", "platform": "linux_x86_64", "arches": ["8.0"], "commit": "a" * 40, "verdict": "pass",
            "runs_on": [{"capability": c, "verdict": v, "reason": f"because of {v}, which is said in a sentence of some length, as they are"} for c, v in verdicts.items()]} | more


class Page(CommandLine):
    def page(self, *rows, source="https://example.org/tiny"):
        manifest = self.folder / "sagekit.release.json"
        manifest.write_text(json.dumps({"schema": "sagekit.release/1", "plugin": {}, "source": {"url": source}, "wheels": list(rows)}))
        self.expect(self.run_sagekit("report", manifest, "-o", self.folder / "page.html"), 0)
        return self.folder / "page.html"

    def rendered(self, page, act="", width=1280):
        """The document after its script ran, and after `act`, as a reader's hand."""
        if act:
            text = page.read_text()
            page = self.folder / "acted.html"
            page.write_text(text.replace("</body>", f"<script>{act}</script></body>"))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/chromium", "--virtual-time-budget=3000", f"--window-size={width},1000",
                               "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
        self.assertIn("</html>", done.stdout, done.stderr)
        return done.stdout

    def title(self, *words):
        """What an act left there."""
        return re.search(r"<title>(.*?)</title>", self.rendered(*words))[1]

    def shown(self, document):
        """Names of wheels whose rows are not hidden, by the facts on their buttons."""
        bodies = re.findall(r'<tbody class="wheel[^"]*"( hidden="")?>(.*?)</tbody>', document, re.S)
        return [re.sub(r"<[^>]*>", " ", body.split("</button>")[0]).split() for hidden, body in bodies if not hidden]

    def test_of_a_folder(self):
        dist = self.folder / "dist"
        dist.mkdir()
        wheel = built().write(dist)
        self.expect(self.run_sagekit("report", "dist"), 0, "1 wheel,")
        text = (dist / "report.html").read_text()
        self.assertIn(wheel.name, text)
        # An earlier page is made anew; what somebody else called report.html is not lost.
        self.expect(self.run_sagekit("report", "dist"), 0)
        (dist / "report.html").write_text("<!DOCTYPE html><h1>Quarter</h1>")
        for words in ((), ("-o", "dist/report.html")):
            self.expect(self.run_sagekit("report", "dist", *words), 2, "FIL002", "dist/report.html: what is there is no page of sagekit's", "move that one away")
            self.assertEqual((dist / "report.html").read_text(), "<!DOCTYPE html><h1>Quarter</h1>")
        (dist / "report.html").unlink()
        self.assertIn("pip install ./" + wheel.name, text)
        self.expect(self.run_sagekit("report", "dist", "-o", "nowhere/page.html"), 2, "FIL002", "there is no such folder")
        page = self.run_sagekit("report", "dist", "-o", "-")
        self.expect(page, 0)
        self.assertTrue(page.out.startswith("<!") and page.out.rstrip().endswith("</html>"), "the page alone")
        self.assertFalse((self.folder / "-").exists())
        again = text
        self.run_sagekit("report", "dist")
        self.assertEqual((dist / "report.html").read_text(), again)
        self.expect(self.run_sagekit("report", "nowhere"), 2, "FIL001")

    def test_what_is_yanked_is_shown_so(self):
        rows = [manifest_row(0, "2.9", "3.12"), manifest_row(1, "2.11", "3.12")]
        (self.folder / "yanked.toml").write_text('[[yanked]]\nfiles = "*n1-cp312*"\nreason = "wrong </script> on 9.0"\n')
        page = self.page(*rows)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        self.assertEqual({wheel["torch"]: wheel["yanked"] for wheel in data["wheels"]}, {"2.9.0": None, "2.11.0": "wrong </script> on 9.0"})
        if CHROMIUM:
            choose = "const s=document.getElementById('filter-torch'); s.value='2.11'; s.dispatchEvent(new Event('change'));"
            document = self.rendered(page, choose)
            self.assertIn("yanked: wrong &lt;/script&gt; on 9.0", document)
            self.assertIn("1 wheel is yanked", document)
            self.assertIn("No wheel fits.", document)
        (self.folder / "yanked.toml").write_text('[[yanked]]\nfiles = 1\n')
        self.expect(self.run_sagekit("report", self.folder / "sagekit.release.json", "-o", self.folder / "page.html"), 2, "REL00", "yanked.toml:")

    def test_fetches_nothing_and_is_small(self):
        text = self.page(*[manifest_row(i, f"2.{9 + i % 3}", f"3.{10 + i % 4}") for i in range(50)]).read_text()
        self.assertLess(len(text.encode()), 200_000)
        self.assertEqual(re.findall(r"""(?:src|href)=|url\(|@import|fetch\(|XMLHttpRequest""", text), [])
        self.assertIn("default-src 'none'", text)

    def test_hostile_texts_stay_texts(self):
        page = self.page(manifest_row(0, "2.9", "3.12", url="https://example.org/" + HOSTILE, findings=[{"code": HOSTILE, "severity": "error", "message": HOSTILE}], edits=[HOSTILE]), source=HOSTILE)
        self.assertEqual(page.read_text().count("</script>"), 2)
        self.assertNotIn("<img", page.read_text())
        if CHROMIUM:
            document = self.rendered(page, "document.querySelector('.toggle').click()")
            self.assertNotIn("owned", re.search(r"<title>(.*?)</title>", document)[1])
            self.assertNotIn("<img", document)
            self.assertIn("&lt;img", document)

    def test_a_timeline_of_the_build(self):
        events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "sagekit build"}}]
        for number, (slot, begin, seconds, kind, outcome) in enumerate(((1, 0, 90, "device", "finished"), (2, 1, 20, "compile", "reused"), (2, 25, 30, "link", "failed"))):
            events.append({"ph": "X", "pid": 1, "tid": slot, "name": f"step {number} {HOSTILE}", "cat": kind, "ts": begin * 1e6, "dur": seconds * 1e6, "args": {"outcome": outcome}})
        trace = self.folder / "build.json"
        trace.write_text(json.dumps({"traceEvents": events}))
        self.page(manifest_row(0, "2.9", "3.12"))
        manifest = self.folder / "sagekit.release.json"
        self.expect(self.run_sagekit("report", manifest, "--timeline", trace, "-o", self.folder / "page.html"), 0)
        text = (self.folder / "page.html").read_text()
        self.assertNotIn("<img", text)
        if CHROMIUM:
            document = self.rendered(self.folder / "page.html")
            self.assertIn("The build took 90 s: 3 steps, 140 s of work", document)
            self.assertEqual(len(re.findall(r'class="lane"', document)), 2)
            self.assertEqual(re.findall(r'class="span( \w+)?"', document), ["", " reused", " failed"])
            self.assertNotIn("owned", re.search(r"<title>(.*?)</title>", document)[1])
        # Many steps leave the page small; what is no timeline is said.
        events += [events[1] | {"name": f"device sageattention._qattn_sm80 file{n}.cu compute_80"} for n in range(5000)]
        trace.write_text(json.dumps({"traceEvents": events}))
        self.expect(self.run_sagekit("report", manifest, "--timeline", trace, "-o", self.folder / "page.html"), 0)
        self.assertLess((self.folder / "page.html").stat().st_size, 100_000)
        for wrong in ("{}", "[]", "no", '{"traceEvents": []}', '{"traceEvents": [{"ph": "X", "tid": -1, "ts": 0, "dur": 1}]}', '{"traceEvents": [{"ph": "X", "tid": 1, "ts": "x", "dur": 1}]}'):
            trace.write_text(wrong)
            self.expect(self.run_sagekit("report", manifest, "--timeline", trace), 1, "REL026")

    @unittest.skipUnless(CHROMIUM, "chromium is not here: apt-get install chromium (300 MB)")
    def test_a_browser_shows_the_table_and_filters_it(self):
        page = self.page(manifest_row(0, "2.9", "3.12"), manifest_row(1, "2.11", "3.12"), manifest_row(2, "2.11", "3.13"))
        document = self.rendered(page)
        self.assertEqual(len(self.shown(document)), 3)
        self.assertEqual(self.shown(document)[0][:3], ["torch", "2.11.0", "CUDA"])  # the newest torch first
        self.assertEqual(re.findall(r'data-gpu="9.0" data-verdict="(\w+)"', document), ["no", "yes", "yes"])
        choose = "const s=document.getElementById('filter-{}'); s.value='{}'; s.dispatchEvent(new Event('change'));"
        document = self.rendered(page, choose.format("gpu", "9.0"))
        self.assertEqual([row[1] for row in self.shown(document)], ["2.11.0", "2.9.0"])
        self.assertIn("2 wheels fit.", document)
        document = self.rendered(page, "{" + choose.format("gpu", "9.0") + "}{" + choose.format("torch", "2.11") + "}")
        self.assertEqual(len(self.shown(document)), 1)
        answer = re.search(r'id="answer".*?</section>', document, re.S)[0]
        self.assertIn("This one fits.", answer)
        self.assertIn("https://example.org/2.whl#sha256=" + f"{2:064x}", answer)
        document = self.rendered(page, "{" + choose.format("python", "3.13") + "}{" + choose.format("torch", "2.9") + "}")
        self.assertEqual(self.shown(document), [])
        self.assertIn("No wheel fits.", document)
        document = self.rendered(page, "document.querySelector('.toggle').click()")
        self.assertIn("because of yes, which is said", document)
        # A wheel for a torch and every newer one is none for an older.
        newer = self.page(manifest_row(0, "2.8", "3.12"), manifest_row(1, "2.11", "3.12"), manifest_row(2, "2.9", "3.12") | {"torch": "", "torch_min": "2.9"})
        document = self.rendered(newer, choose.format("torch", "2.8"))
        self.assertEqual([row[1] for row in self.shown(document)], ["2.8.0"])
        document = self.rendered(newer, choose.format("torch", "2.11"))
        self.assertEqual([row[:4] for row in self.shown(document)], [["torch", "2.11.0", "CUDA", "13.0"], ["torch", "2.9", "and", "newer"]])
        # What nobody says fits none, but for a wheel that is known to use no torch.
        silent = {"torch": "", "cuda": ""}
        rest = self.page(manifest_row(0, "2.8", "3.12"), manifest_row(1, "2.11", "3.12", cuda="12.8"), manifest_row(2, "2.9", "3.12", **silent), manifest_row(3, "2.9", "3.13", cell="tiny", **silent),
                         manifest_row(4, "2.9", "3.11", requires_torch=">=2.10,<3", **silent))
        for key, value, pythons in (("torch", "2.8", {"3.12", "3.13"}), ("torch", "2.11", {"3.12", "3.13", "3.11"}), ("cuda", "13.0", {"3.12", "3.13"})):
            rows = self.shown(self.rendered(rest, choose.format(key, value)))
            self.assertEqual((len(rows), {row[row.index("Python") + 1] for row in rows}), (len(pythons), pythons), (key, value))
        # Nor is a wheel for a Python and every newer one, whichever it was built with; free-threaded ones have no stable ABI.
        stable = {"file": "tiny-1.0+cu130.torch2.11-cp310-abi3-linux_x86_64.whl"}
        newer = self.page(manifest_row(0, "2.11", "3.9"), manifest_row(1, "2.11", "3.13"), manifest_row(2, "2.11", "3.12") | stable, manifest_row(3, "2.11", "3.13t"))
        facts = {value: [row[4:8] for row in self.shown(self.rendered(newer, choose.format("python", value)))] for value in ("3.9", "3.13", "3.13t")}
        self.assertEqual([[row[1] for row in rows] for rows in facts.values()], [["3.9"], ["3.10", "3.13"], ["3.13t"]])
        self.assertEqual(facts["3.13"][0], ["Python", "3.10", "and", "newer"])
        # A long install line is scrolled by itself: the table and its GPUs stay where they are.
        long = self.page(manifest_row(0, "2.9", "3.12", url="https://example.org/" + "long" * 100 + ".whl"))
        measure = "const s = document.querySelector('.scroll'); document.querySelector('.toggle').click(); document.title = 'wider by ' + (s.scrollWidth - s.clientWidth)"
        self.assertIn("<title>wider by 0</title>", self.rendered(long, measure))

    @unittest.skipUnless(CHROMIUM, "chromium is not here: apt-get install chromium (300 MB)")
    def test_keys_screens_and_paper(self):
        gpus = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1")
        rows = [{"capability": gpu, "verdict": "yes", "reason": ""} for gpu in gpus]
        page = self.page(*[manifest_row(i, f"2.{9 + i}", "3.12", runs_on=rows) for i in range(3)])
        # Arrow keys go from wheel to wheel and stop at the last; what is hidden is passed over.
        hide = "const s = document.getElementById('filter-torch'); s.value = '{}'; s.dispatchEvent(new Event('change'));"
        keys = ("const all = [...document.querySelectorAll('.toggle')]; all[0].focus(); const at = [];"
                "for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) { document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));"
                " at.push(all.indexOf(document.activeElement)); } document.title = 'at ' + at;")
        self.assertEqual(self.title(page, keys), "at 1,2,2,1")
        self.assertEqual(self.title(page, hide.format("2.11") + keys), "at 0,0,0,0")
        document = self.rendered(page, "document.querySelectorAll('.toggle')[1].click()")
        self.assertEqual(re.findall(r'aria-expanded="(\w+)"', document), ["false", "true", "false"])
        self.assertIn('role="img" aria-label="runs"', document)
        # Nothing is wider than a phone, a screen, or A4 between margins, where the dark colours of a screen are none.
        measure = "data.wheels.forEach(wheel => wheel.open(true)); document.title = 'wider by ' + (document.documentElement.scrollWidth - document.documentElement.clientWidth);"
        for width in (500, 800, 1280):
            self.assertEqual(self.title(page, measure, width), "wider by 0", width)
        paper = page.read_text().replace("@media print", "@media all").replace("@media screen", "@media speech")
        page.write_text(paper)
        self.assertEqual(self.title(page, measure, 718), "wider by 0")
        self.assertIn("@media speech and (prefers-color-scheme: dark)", paper)


if __name__ == "__main__":
    unittest.main()
