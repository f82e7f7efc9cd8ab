#!/usr/bin/env python3
"""What a release says in other people's formats, held to their own validators from the package index: CycloneDX 1.6, in-toto's
statement with SLSA's provenance, packaging's METADATA (PEP 639), and where installers look for a bill of materials (PEP 770).

Skipped where neither this Python nor what scripts/test-tools brought has cyclonedx-python-lib[json-validation],
in-toto-attestation and packaging."""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import EXAMPLE_SOURCE, CommandLine, has_nvcc
from release_wheels import built

PYTHON = pathlib.Path(os.environ.get("SAGEKIT_TEST_TOOLS", "/nowhere")) / "bin" / "python"
PYTHON = str(PYTHON) if PYTHON.exists() else sys.executable
NEEDS = "import cyclonedx.validation.json, jsonschema, packaging.metadata; from in_toto_attestation.v1 import statement; from in_toto_attestation.predicates.provenance.v1 import provenance_pb2"
HERE = subprocess.run([PYTHON, "-c", NEEDS], capture_output=True).returncode == 0

BILL = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
sys.exit(str(fault)[:300] if fault else 0)
"""
STATEMENT = """
import json, sys
from google.protobuf import json_format
from in_toto_attestation.v1 import statement, statement_pb2
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
text = sys.stdin.read()
read = statement.Statement.copy_from_pb(json_format.Parse(text, statement_pb2.Statement()))
read.validate()
assert read.pb.predicate_type == "https://slsa.dev/provenance/v1", read.pb.predicate_type
json_format.ParseDict(json.loads(text)["predicate"], provenance_pb2.Provenance())
"""
METADATA = """
import sys
from packaging.metadata import Metadata
read = Metadata.from_email(sys.stdin.buffer.read(), validate=True)
print(read.license_expression, *read.license_files or [], sep="\\n")
"""


@unittest.skipUnless(HERE, "the validators are not here: scripts/test-tools brings them")
class Formats(CommandLine):
    def judged(self, script, text):
        done = subprocess.run([PYTHON, "-c", script], input=text, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
        return done.stdout.decode()

    def refused(self, script, text):
        self.assertNotEqual(subprocess.run([PYTHON, "-c", script], input=text, capture_output=True).returncode, 0)

    def test_the_statement_of_a_release(self):
        dist = self.folder / "dist"
        for python in ("3.12", "3.13"):
            built(python=python).write(dist)
        self.run_sagekit("release", dist)
        statement = (dist / "sagekit.intoto.json").read_bytes()
        self.judged(STATEMENT, statement)
        wrong = json.loads(statement)
        del wrong["subject"][0]["digest"]
        self.refused(STATEMENT, json.dumps(wrong).encode())
        wrong = json.loads(statement)
        wrong["predicate"]["buildDefinition"]["nobody"] = 1
        self.refused(STATEMENT, json.dumps(wrong).encode())

    @unittest.skipUnless(has_nvcc(), "no nvcc: nothing is built")
    def test_a_wheel_that_was_built_here(self):
        self.expect(self.example("build", "--source", EXAMPLE_SOURCE, "-o", self.folder / "dist"), 0)
        [path] = (self.folder / "dist").glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            info = next(name for name in names if name.endswith(".dist-info/METADATA")).removesuffix("METADATA")
            bills = [name for name in names if name.startswith(info + "sboms/")]
            self.assertTrue(bills)
            for name in bills:
                self.judged(BILL, wheel.read(name))
            bill = json.loads(wheel.read(bills[0]))
            expression, *files = self.judged(METADATA, wheel.read(info + "METADATA")).strip().split("\n")
            for name in files:
                self.assertIn(info + "licenses/" + name, names)
        # Its kernels need no torch, so the CUDA runtime is in them, with a licence of its own.
        self.assertEqual(expression, "0BSD AND LicenseRef-NVIDIA-CUDA-EULA")
        self.assertEqual(files, ["LICENSE", "NVIDIA-CUDA-RUNTIME.txt"])
        runtime = next(one for one in bill["components"] if one["name"] == "libcudart_static")
        self.assertIn("NVIDIA", runtime["licenses"][0]["license"]["name"])
        bill["components"][0]["colour"] = "green"
        self.refused(BILL, json.dumps(bill).encode())


if __name__ == "__main__":
    unittest.main()
