#!/usr/bin/env python3
"""Checks plugin.toml files with an independent JSON-Schema validator against the schema that sagekit prints.

usage: schema_test.py SAGEKIT|SCHEMA.json [plugin.toml ...]

SAGEKIT is the sagekit program (`sagekit schema plugin` is run), SCHEMA.json what it printed. Without files, every
plugins/*/plugin.toml and the good spec of the unit tests are checked. Needs Python >= 3.11 and the package jsonschema;
without them it says so and ends with 77 (skipped).
"""
import copy
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = ROOT / "tests/unit/spec/data/good.toml"
SKIPPED = 77

try:
    import tomllib

    import jsonschema
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)


def schema_from(source):
    path = pathlib.Path(source)
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    run = subprocess.run([str(path), "schema", "plugin"], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def problems(validator, document):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(document)]


def must_fail(good):
    """Documents that the schema has to refuse: (what, document)."""

    def changed(what, change):
        document = copy.deepcopy(good)
        change(document)
        return what, document

    yield changed("an unknown table", lambda d: d.update(kernals=[]))
    yield changed("an unknown key of a row", lambda d: d["kernel"][0].update(modul="x"))
    yield changed("an unknown key of an inline table", lambda d: d["source"]["edit"][0]["when"].update(torhc=""))
    yield changed("another schema", lambda d: d.update(schema=2))
    yield changed("a missing table", lambda d: d.pop("metadata"))
    yield changed("a missing key", lambda d: d["plugin"].pop("name"))
    yield changed("a number for a capability", lambda d: d["arch"][0].update(capability=8.0))
    yield changed("a short commit", lambda d: d["source"].update(default="1111111"))
    yield changed("a path that leaves", lambda d: d["package_files"][0].update({"from": "a/../../b"}))
    yield changed("an absolute path", lambda d: d["metadata"].update(license_files=["/etc/passwd"]))
    yield changed("an empty list of cells", lambda d: d["profile"][0].update(cells=[]))
    yield changed("a Python patch version", lambda d: d["matrix"]["include"][0].update(python=["3.12.1"]))
    yield changed("a line break in the summary", lambda d: d["metadata"].update(summary="a\nb"))


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    schema = schema_from(sys.argv[1])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = [pathlib.Path(name) for name in sys.argv[2:]] or [GOOD, *sorted(ROOT.glob("plugins/*/plugin.toml"))]
    failed = False
    for file in files:
        found = problems(validator, tomllib.loads(file.read_text(encoding="utf-8")))
        print(f"{'FAIL' if found else 'ok  '} {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}")
        for problem in found:
            print(f"     {problem}")
        failed = failed or bool(found)
    for what, document in must_fail(tomllib.loads(GOOD.read_text(encoding="utf-8"))):
        refused = bool(problems(validator, document))
        print(f"{'ok  ' if refused else 'FAIL'} refuses {what}")
        failed = failed or not refused
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
