#!/usr/bin/env python3
"""What scripts/packaging/link_stubs.py makes: a program linked with it is the one that a link with the C library itself gives."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["SAGEKIT_SOURCE_DIR"]) / "scripts" / "packaging" / "link_stubs.py"
PROGRAM = """#include <stdio.h>
extern char** environ;
int main(void) {
  for (char** line = environ; line && *line; ++line) puts(*line);
  return 0;
}
"""


@unittest.skipUnless(sys.platform == "linux" and shutil.which("gcc") and shutil.which("ar"), "no gcc and ar on this machine")
class LinkStubs(unittest.TestCase):
    def test_a_program_hears_its_environment(self):
        # Data of two names in one place: moved into the program by one of them, it has to be moved for both. The packages once
        # heard no DOCKER_HOST and no SCCACHE_DIR.
        with tempfile.TemporaryDirectory(prefix="sagekit-stubs-") as name:
            folder = pathlib.Path(name)
            (folder / "nothing.c").write_text("int sagekit_nothing;\n")
            (folder / "heard.c").write_text(PROGRAM)

            def run(*words, **options):
                done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, **options)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            run("gcc", "-c", "nothing.c")
            run("ar", "rc", "compat.a", "nothing.o")
            run(sys.executable, SCRIPT, "--floor", "2.28", "--compat", "compat.a", "-o", "stubs")
            run("gcc", "-fPIE", "-pie", "heard.c", "-L", "stubs", "-o", "heard")
            self.assertEqual(run(folder / "heard", env={"DOCKER_HOST": "here"}), "DOCKER_HOST=here\n")


if __name__ == "__main__":
    unittest.main()
