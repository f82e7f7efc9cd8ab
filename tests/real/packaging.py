#!/usr/bin/env python3
"""packaging.py WHEEL [VENDORED_NAME=COMMIT...]: what a wheel that was built from a real tree says of licences and of what is in it.

Each License-File of METADATA is there and has text, one of them is of each vendored tree (PEP 639); the bill of materials
(PEP 770) names the source and every vendored tree at its commit, with licences, and passes CycloneDX's own validator where
scripts/test-tools brought it. Without NAME=COMMIT: cutlass as the plugin sage3 pins it."""
import email
import json
import os
import pathlib
import subprocess
import sys
import zipfile

VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) and 1)
"""

wheel = zipfile.ZipFile(sys.argv[1])
vendored = dict(word.split("=") for word in sys.argv[2:]) or {"cutlass": "f3fde58372d33e9a5650ba7b80fc48b3b49d40c8"}
names = wheel.namelist()
[info] = {name.split("/")[0] for name in names if name.split("/")[0].endswith(".dist-info")}
metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
files = metadata.get_all("License-File", [])
print("License-Expression:", metadata["License-Expression"])
for file in files:
    text = wheel.read(f"{info}/licenses/{file}").decode()
    print(f"  {file}: {len(text)} bytes, {text.strip().splitlines()[0].strip()}")
    assert len(text) > 100, file
[bill] = [name for name in names if name.startswith(f"{info}/sboms/")]
document = json.loads(wheel.read(bill))
parts = {one["name"]: one for one in document["components"]}
for name, commit in vendored.items():
    assert any(name in file for file in files), f"no licence of {name} among {files}"
    part = parts[name]
    assert part["version"] == commit, part
    assert part["licenses"][0]["expression"] in metadata["License-Expression"], part
for name, part in parts.items():
    print(f"  {bill.split('/')[-1]}: {name} {part['version']} {[one.get('expression', one.get('license')) for one in part.get('licenses', [])]}")
tools = pathlib.Path(os.environ.get("SAGEKIT_TEST_TOOLS", "build/test-tools")) / "bin" / "python"
if tools.exists():
    subprocess.run([tools, "-c", VALIDATE], input=wheel.read(bill), check=True)
    print("  CycloneDX's validator finds nothing")
else:
    print("  not validated: scripts/test-tools build/test-tools brings CycloneDX's validator")
