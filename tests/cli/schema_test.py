#!/usr/bin/env python3
"""Checks plugin.toml files with an independent JSON-Schema validator against the schema that sagekit prints.

usage: schema_test.py SAGEKIT|SCHEMA.json [plugin.toml ...]

SAGEKIT is the sagekit program (`sagekit schema plugin` is run), SCHEMA.json what it printed. Without files, every
plugins/*/plugin.toml and the good spec of the unit tests are checked. Needs Python >= 3.11 and the package jsonschema;
without them it says so and ends with 77 (skipped).
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

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
    return printed_schema(path, "plugin")


def printed_schema(sagekit, name):
    run = subprocess.run([str(sagekit), "schema", name], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


# A file of each kind that a reader takes, and changes that it refuses.
POLICY = """
schema = 1
base = "others"
require = ["FAT"]
[severity]
ELF003 = "error"
[options]
stale_waivers = "note"
[[waiver]]
code = "LBC003"
reason = "the cluster has it"
until = "2026-12-31"
"""
LOCK = """
version = 1
[[tree]]
kind = "nvcc"
version = "13.0.88"
cuda = "13.0"
platform = "linux_x86_64"
source = "wheels"
id = "nvcc-13.0.88-linux_x86_64-1f2e3d4c5b6a"
[[tree.file]]
project = "nvidia-cuda-nvcc"
version = "13.0.88"
name = "nvidia_cuda_nvcc-13.0.88-py3-none-any.whl"
sha256 = "%s"
""" % ("0" * 64)
CONFIG = """
plugin = "sage2"
python = ["3.12"]
arch = "9.0"
jobs = 4
offline = true
"""
REFUSED = {"config": [("python", "pyton"), ('["3.12"]', '"3.12"'), ('"9.0"', '" "'), ("= 4", "= 0"), ('"sage2"', '"./evil.so"')],
           "policy": [("schema = 1", "schema = 2"), ('"others"', '"other"'), ('"error"', '"fatal"'), ("until", "untill"),
                      ('"2026-12-31"', '"soon"'), ('reason = "the cluster has it"', "")],
           "lock": [('"nvcc"', '"gcc"'), ("0" * 64, "0" * 63), ("version = 1\n", "version = 2\n"), ("[[tree.file]]", "[[tree.files]]"),
                    ('id = "', 'id = "../')]}


def other_schemas(sagekit):
    """(what, whether it is as it should be) of files, and of what the verbs really print."""
    for name, text in (("config", CONFIG), ("policy", POLICY), ("lock", LOCK)):
        schema = printed_schema(sagekit, name)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        yield f"a {name}", not problems(validator, tomllib.loads(text))
        for was, becomes in REFUSED[name]:
            yield f"{name} with {becomes or 'nothing'} for {was}", bool(problems(validator, tomllib.loads(text.replace(was, becomes))))
    for name, code, document in documents(sagekit):
        schema = printed_schema(sagekit, name)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        found = problems(validator, document)
        if name in DESCRIBED:
            found += problems(jsonschema.Draft202012Validator(closed(schema)), document)
        yield f"{name}: {code}: {'; '.join(found[:3]) or 'as its schema says'}", not found
        # A schema that takes everything would be none.
        for key in document.keys() - OPTIONAL.get(name, set()):
            yield f"{name} without {key}", bool(problems(validator, {k: v for k, v in document.items() if k != key}))


OPTIONAL = {"plan": {"steps"}, "index": {"variants"}}  # with --steps, with --variants
NAME_KEYS = {"build", "local", "torch", "torch_min", "cuda", "cxx11_abi", "python", "abi", "platform", "arches", "revision", "date", "variant", "scheme", "unread",
             "package", "version"}
OPTIONAL["name"] = NAME_KEYS  # absent = the name does not say it
DESCRIBED = {"name", "retag", "index", "resolve", "install", "release", "coverage", "publish", "env", "plugin-show", "shards", "generate", "cache"}  # a key that is written is in the schema


def closed(schema):
    """The schema, with no key that it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("description", "") != "its variant.json (PEP 825, a draft)":
        made["additionalProperties"] = False
    return made


def release_documents(run, folder):
    """What the verbs about wheels and people print."""
    from release_wheels import built
    from wheels import Wheel
    strange = Wheel("strange", "1.0+cu128torch2.7.1.mengqin", "cp312-cp312-win_amd64").write(folder / "strange")
    for words in (("sageattention-2.2.0+cu130torch2.10.0andhigher.post6-cp310-abi3-win_amd64.whl",), (strange.name,),
                  ("flash_attn-2.8.3+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl",), ("sageattention-2.2.0+cu130.torch2.13.0.sm90-cp312-cp312-linux_x86_64.whl",)):
        yield run("name", "name", *words)
    yield run("name", "name", "sageattn3-1.0.0-2311.130-cp312-cp312-linux_x86_64.whl", expected=1)
    cell = run("name", "--plugin", "sage3", "name", "sage3-pytorch28-cu129-python312")
    assert any("why_not" in row for row in cell[2]["names"])
    yield cell
    dist = folder / "dist"
    dist.mkdir()
    for wheel in (built(), built(python="3.13"), built(platform="win_amd64")):
        wheel.write(dist)
    retagged = run("retag", "retag", "--build", "7", "-o", folder / "out", dist / built().name, strange, "nosuch.whl", expected=2)
    assert retagged[2]["errors"] and retagged[2]["wheels"][0]["changes"]
    yield retagged
    release = run("release", "release", dist, "--base-url", "https://example.org/v1", "--time", "2026-11-22T08:00:00Z")
    yield release
    yield run("release", "report", dist)
    yield run("index", "index", dist)
    (folder / "broken").mkdir()
    (folder / "broken" / "tiny-1.0-py3-none-any.whl").write_bytes(b"no zip")
    yield run("index", "index", folder / "broken", expected=1)
    machine = ("--for", "gpu=H100,torch=2.11.0+cu130,python=3.12,platform=linux_x86_64,libc=glibc2.35,driver=580")
    resolved = run("resolve", "resolve", "--from", dist, *machine, expected=4)
    assert resolved[2]["refused"]
    yield resolved
    unknown = run("resolve", "resolve", "--from", dist / "sagekit.release.json", "--names-only", "--for", "gpu=none,python=3.12,platform=win_amd64", expected=4)
    yield unknown
    (folder / "nothing").mkdir()
    yield run("coverage", "--plugin", "sage3", "coverage", folder / "nothing", "--offline", expected=1)
    manifest = dist / "sagekit.release.json"
    manifest.write_text(manifest.read_text().replace('"fail"', '"pass"'))
    yield run("publish", "publish", "github", dist, "--repo", "o/r", "--tag", "v1.0", "--dry-run")


def documents(sagekit):
    """(schema, exit code, what the verb prints with --json) of real runs, with every part of a document filled at least once."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from wheels import Wheel
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def run(name, *words, expected=0, **variables):
            done = subprocess.run([str(sagekit), *map(str, words), "--json"], cwd=folder, capture_output=True,
                                  env=os.environ | {"SAGEKIT_STORE": str(folder / "store")} | variables)
            assert done.returncode == expected, (words, done.returncode, done.stderr.decode())
            return name, " ".join(map(str, words)), json.loads(done.stdout)

        (folder / "policy.toml").write_text(POLICY)
        right, wrong = Wheel(), Wheel("wrong")
        wrong.metadata = "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n"
        right, wrong = right.write(folder), wrong.write(folder)
        name, words, document = run("verify", "verify", "--all", "--policy", "policy.toml", right, wrong, "nosuch.whl", expected=2)
        assert len(document["wheels"]) == 2 and len(document["errors"]) == 1
        yield name, words, document
        yield run("inspect", "inspect", "--kernels", right, wrong, sagekit, "nosuch.whl", expected=2)
        yield run("diff", "diff", right, wrong)
        plan = run("plan", "--plugin", "sage2", "plan", "--profile", "legacy", "--steps", "--platform", "linux_x86_64,win_amd64")
        assert plan[2]["excluded"] and plan[2]["steps"] and plan[2]["cells"]
        yield plan
        yield run("plan", "--plugin", "sage3", "plan")
        yield run("doctor", "--plugin", "sage2", "doctor", "--offline", "--platform", "win_amd64", "--profile", "legacy", expected=3)
        sage = Wheel("sageattention", "2.2.0")
        sage.files["sageattention/core.py"] = b'arch == "sm\n' * 5 + b'pv_accum_dtype="fp32+fp16")\n' * 2  # as the plugin knows v2.2.0
        sage.metadata = sage.metadata.replace("Version: 2.2.0", "Version: 2.2.1")
        sage.install(folder / "site")
        checkup = run("doctor", "doctor", "--interpreter", sys.executable, "--for", "gpu=H200", expected=1, PYTHONPATH=str(folder / "site"))
        assert checkup[2]["packages"] and checkup[2]["packages"][0]["runs_on"] and checkup[2]["packages"][0]["findings"]
        yield checkup
        (folder / "build.log").write_text("error: subprocess-exited-with-error\nModuleNotFoundError: No module named 'torch'\n")
        (folder / "other.log").write_text("one\nFAILED: flux\n")
        explained = run("explain", "explain", "build.log")
        assert explained[2]["causes"] and explained[2]["causes"][0]["follows_from"] and explained[2]["facts"] is not None
        yield explained
        for stage, line in (("fetch", "Could not resolve host: github.com"), ("link", "/usr/bin/ld: cannot find -lcuda"),
                            ("install", "ERROR: a-1.0-cp312-cp312-win_amd64.whl is not a supported wheel on this platform.")):
            (folder / "stage.log").write_text(line + "\n")
            of_stage = run("explain", "explain", "stage.log")
            assert of_stage[2]["causes"][0]["stage"] == stage, of_stage[2]
            yield of_stage
        unknown = run("explain", "explain", "other.log", expected=4)
        assert unknown[2]["likeliest"]
        yield unknown
        (folder / "sagekit-none.so").write_bytes(b"none")
        plugins = run("plugins", "--plugin-dir", folder, "plugin", "list")
        assert plugins[2]["rejected"] and plugins[2]["plugins"]
        yield plugins
        yield run("toolchains", "toolchain", "list")
        yield run("env", "env")
        yield run("finding", "explain", "FAT")
        yield run("plugin-show", "plugin", "show", "sage2")
        shards = run("shards", "--plugin", "sage2", "plan", "--shards", "2")
        assert len(shards[2]["shards"]) == 2
        yield shards
        yield run("generate", "--plugin", "sage2", "generate", "github", "--check", expected=1)
        (folder / "store" / "toolchains").mkdir(parents=True, exist_ok=True)
        for words in (("stats",), ("trim", "--max-size", "1G"), ("verify",), ("export", folder / "pack.tar"), ("import", folder / "pack.tar")):
            yield run("cache", "cache", *words)
        yield from release_documents(run, folder)
        yield from build_document(sagekit, folder)


def build_document(sagekit, folder):
    """What a dry run says; nothing where no compiler is."""
    examples = os.environ.get("SAGEKIT_EXAMPLES", "")
    words = [str(sagekit), "--plugin-dir", examples, "--plugin", "example"]
    store = os.environ | {"SAGEKIT_STORE": str(folder / "store")}
    example = pathlib.Path(examples) / "sagekit-example.so"
    if example.exists():
        checked = subprocess.run([*words, "plugin", "check", str(example), "--json"], capture_output=True, env=store, check=True)
        yield "plugin-check", "plugin check", json.loads(checked.stdout)
    done = subprocess.run([*words, "build", "-n", "--json", "--source",
                           str(ROOT / "examples" / "plugin" / "source")], cwd=folder, capture_output=True, env=store)
    if done.returncode == 0:
        yield "build", "build -n", json.loads(done.stdout)


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
    if pathlib.Path(sys.argv[1]).suffix != ".json":
        for what, right in other_schemas(pathlib.Path(sys.argv[1]).resolve()):
            print(f"{'ok  ' if right else 'FAIL'} {what}")
            failed = failed or not right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
