"""What the command-line tests share: the real binary in a clean environment."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SAGEKIT = pathlib.Path(os.environ["SAGEKIT"])
EXAMPLES = pathlib.Path(os.environ["SAGEKIT_EXAMPLES"])  # folder with the built example plugin
SOURCE_DIR = pathlib.Path(os.environ["SAGEKIT_SOURCE_DIR"])
EXAMPLE_SOURCE = SOURCE_DIR / "examples" / "plugin" / "source"

sys.path.insert(0, str(SOURCE_DIR / "tests" / "support"))
from toolkit import WHOLE_NVCC, has_nvcc, linked_toolkit, real_nvcc  # noqa: E402, F401


def tool(name):
    """A client program: PATH's, else one that scripts/test-tools brought. None: it is not here."""
    found = pathlib.Path(os.environ.get("SAGEKIT_TEST_TOOLS", "/nowhere")) / "bin" / name
    return shutil.which(name) or (str(found) if found.exists() else None)


class Done:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.out)


class CommandLine(unittest.TestCase):
    """A folder of its own with a space and a letter beyond ASCII in its name, and the binary."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sagekit tést "))
        self.addCleanup(self.clean)

    def clean(self):
        # The store's files are read-only; folders are not.
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, **more):
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LSAN_OPTIONS", "ASAN_OPTIONS") if name in os.environ}
        return keep | {"SAGEKIT_STORE": str(self.folder / "störe"), "CI": "1"} | more

    def run_sagekit(self, *words, env=None, cwd=None, timeout=300):
        return Done(subprocess.run([str(SAGEKIT), *map(str, words)], env=env or self.environment(), cwd=cwd or self.folder,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout))

    def start_sagekit(self, *words, env=None):
        return subprocess.Popen([str(SAGEKIT), *map(str, words)], env=env or self.environment(), cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def example(self, *words, **options):
        return self.run_sagekit("--plugin-dir", EXAMPLES, "--plugin", "example", *words, **options)

    def verbs(self, *group):
        """What --help lists, and what the groups among them list."""
        listed = self.run_sagekit(*group, "--help").out.split("Verbs:\n")
        for line in listed[1].split("\n\n")[0].splitlines() if len(listed) == 2 else []:
            if line[2] != " ":
                yield [*group, line.split()[0]]
                yield from self.verbs(*group, line.split()[0])

    def held_to_schema(self, name, document):
        """Debian's Python has the validator; without it the document is not looked at, and cli.schema says so."""
        schema = self.run_sagekit("schema", name).out
        script = ("import json, sys\ntry:\n import jsonschema\nexcept ImportError:\n sys.exit()\n"
                  "schema, document = json.load(sys.stdin)\njsonschema.Draft202012Validator(schema).validate(document)")
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
        done = subprocess.run([python, "-c", script], input=json.dumps([json.loads(schema), document]), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def expect(self, done, code, *texts):
        """The exit code, and each text in what people read; a result is never mixed into it."""
        self.assertEqual(done.code, code, done.err + done.out)
        for text in texts:
            self.assertIn(text, done.err)
