"""One wheel by upstream's own setup.py, where sagekit itself does not build (Windows): the pinned source with its edits, the pinned
requirements, the cell's environment. Standard library only; git is needed.

    python build_wheel.py CELL --requirements > requirements.txt
    python build_wheel.py CELL --out dist [--source DIR|URL]
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

RECIPE = json.loads(@recipe@)


def run(words, **options):
    print("+", " ".join(map(str, words)), flush=True)
    return subprocess.run([str(word) for word in words], check=True, **options)


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), "-c", "core.autocrlf=false", *words], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def fetch(pinned, place, folder):
    """The pinned commit, and its tree's id where it is known: an address cannot give another content."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "fetch", "-q", "--depth", "1", place or pinned["url"], pinned["commit"])
    git(folder, "checkout", "-q", "--detach", "FETCH_HEAD")
    tree = git(folder, "rev-parse", "HEAD^{tree}")
    if git(folder, "rev-parse", "HEAD") != pinned["commit"] or (pinned["tree"] and tree != pinned["tree"]):
        sys.exit(f"{place or pinned['url']} gave another content than {pinned['commit']}: tree {tree}")
    shutil.rmtree(folder / ".git", onerror=lambda remove, path, _: (os.chmod(path, 0o700), remove(path)))


def edit(root, change):
    path = root / change["file"]
    text = path.read_bytes().decode("utf-8")
    found = text.count(change["find"])
    if found != change["count"]:
        sys.exit(f"edit {change['id']}: {change['file']} holds its text {found} times, expected {change['count']}")
    path.write_bytes(text.replace(change["find"], change["replace"]).encode("utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", choices=sorted(RECIPE["cells"]), metavar="CELL")
    parser.add_argument("--requirements", action="store_true", help="print what pip is to install first")
    parser.add_argument("--source", default="", help="a repository instead of the spec's")
    parser.add_argument("--out", default="dist", type=pathlib.Path)
    given = parser.parse_args()
    cell = RECIPE["cells"][given.cell]
    if given.requirements:
        print("\n".join(cell["requirements"]))
        return
    if sys.version.split(".")[:2] != cell["python"].split("."):
        sys.exit(f"{given.cell} is for Python {cell['python']}, and this is {sys.version.split()[0]}")
    source = RECIPE["sources"][cell["commit"]]
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        root = pathlib.Path(scratch) / "s"
        fetch(source, given.source, root)
        for change in source["edits"]:
            edit(root, change)
        for tree in source["vendored"]:
            shutil.rmtree(root / tree["path"], ignore_errors=True)
            fetch(tree, "", root / tree["path"])
        environment = dict(os.environ, SOURCE_DATE_EPOCH=str(source["epoch"]), DISTUTILS_USE_SDK="1")
        environment.update(line.split("=", 1) for line in cell["environment"])
        run([sys.executable, "setup.py", "bdist_wheel", "--dist-dir", given.out.resolve()], cwd=root / source["subdir"], env=environment)
    wheels = sorted(given.out.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{given.out} holds {len(wheels)} wheels and not one")
    print(wheels[0])


if __name__ == "__main__":
    main()
