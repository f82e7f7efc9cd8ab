#!/usr/bin/env python3
"""environment_words.py FILE...: every environment variable in documents and setup.py files is in core/data/variables.toml.

A document's variable is a word in capitals with an underscore; a setup.py's is what it asks the environment for. Words of documents
that are no variables stand below, each with what it is.
"""
import pathlib
import re
import sys
import tomllib

NO_VARIABLE = {
    "YOUR_USERNAME": "a gap to fill", "SM_100": "a GPU architecture", "SM_120": "a GPU architecture",
    "CI_WORKFLOW": "a document's name", "BUILD_MATRIX": "a document's name",
    "HAS_SM121": "a name inside setup.py", "SUPPORTED_ARCHS": "a name inside setup.py",
    "ENABLE_BF16": "a macro; every plugin that needs it defines it",
}
DOCUMENT = re.compile(r"(?<![A-Za-z0-9_])(?:-D)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![a-zA-Z0-9_])")
SETUP = re.compile(r"""(?:getenv\(|environ(?:\.get|\.setdefault|\.pop)?[\[(])\s*["'](\w+)["']|["'](\w+)["']\s+in\s+os\.environ""")


def main():
    table = pathlib.Path(__file__).parents[2] / "core/data/variables.toml"
    known = {name for row in tomllib.loads(table.read_text("utf-8"))["variable"] for name in row["names"]}
    missing, seen = {}, set()
    for file in sys.argv[1:]:
        text = pathlib.Path(file).read_text("utf-8", "replace")
        words = {a or b for a, b in SETUP.findall(text)} if file.endswith(".py") else set(DOCUMENT.findall(text)) - NO_VARIABLE.keys()
        seen |= words & known
        for word in words - known:
            missing.setdefault(word, file)
    for word, file in sorted(missing.items()):
        print(f"{word} of {file} is not in {table.name}")
    print(f"{len(seen)} variables of {len(sys.argv) - 1} files are in the table: {' '.join(sorted(seen))}")
    return 1 if missing or not sys.argv[1:] else 0


sys.exit(main())
