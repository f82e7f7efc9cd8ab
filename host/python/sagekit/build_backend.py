"""PEP 517 over the program: what `sagekit generate sdist` writes is built by pip, uv, build and cibuildwheel through this.

config-settings are sagekit's own flags: pip wheel x.tar.gz -C arch="8.9;12.0" -C torch=2.9 -C cuda=12.8. Without them the wheel
is for the Python that builds, the torch beside it and the GPUs of this machine. Its name is plain, for pip holds a wheel to the
version of the source distribution it came from; -C naming=default gives another.
"""

import gzip
import io
import json
import os
import platform
import subprocess
import sys
import tarfile

from . import find_program

DESCRIPTION = "sagekit.json"
# config-settings that are flags of `sagekit plan` and `build`, and of `build` alone.
PLAN_SETTINGS = ("profile", "arch", "torch", "cuda", "naming", "platform", "toolchain", "store", "lock", "index-url", "extra-index-url",
                 "allow-defect", "python-headers", "cert")
BUILD_SETTINGS = ("jobs", "memory", "launcher", "store-from")
NO_MATCH = 4  # exit code of sagekit: nothing was selected
SWITCHES = ("offline", "locked")
# `python setup.py bdist_wheel` options that frontends pass to every backend.
IGNORED = ("--global-option", "--build-option")

# Which torch does the environment have that this is built for? Asked in isolation from the frontend's build environment.
TORCH = "import importlib.metadata as m; print(m.version('torch'))"


class Failed(SystemExit):
    """Ends the hook with a sentence and without a traceback: frontends show both."""


def say(text):
    print(f"sagekit: {text}", file=sys.stderr, flush=True)


def words(settings, names):
    """The flags that config-settings ask for."""
    result = []
    for name, value in sorted((settings or {}).items()):
        key = name.lstrip("-").replace("_", "-")
        if name in IGNORED:
            continue
        if key not in PLAN_SETTINGS + BUILD_SETTINGS + SWITCHES:
            known = ", ".join(PLAN_SETTINGS + BUILD_SETTINGS + SWITCHES)
            raise Failed(f"config-setting {name} is not known; there are {known}")
        if key not in names:
            continue
        if key in SWITCHES:
            if str(value).lower() not in ("0", "false", "no"):
                result.append(f"--{key}")
            continue
        for one in value if isinstance(value, list) else [value]:
            result += [f"--{key}", str(one)]
    return result


def description():
    try:
        with open(DESCRIPTION, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise Failed(f"{os.path.abspath(DESCRIPTION)}: {error}; this backend builds what `sagekit generate sdist` wrote")


def base(about):
    plugin = about["plugin_file"] and os.path.abspath(about["plugin_file"]) or about["plugin"]
    return [find_program(), "--plugin", plugin]


def environment_torch():
    """"2.9.1+cu128" of the environment of this Python, or None."""
    found = subprocess.run([sys.executable, "-I", "-c", TORCH], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def plan(about, chosen):
    """The words and the answer: of the default profile, or of the first other one that has what was chosen."""

    def ask(*more):
        return subprocess.run([*base(about), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    first = ask("plan", "--json", *chosen)
    if first.returncode != NO_MATCH or "--profile" in chosen:
        return chosen, first
    for profile in about["profiles"]:
        words_with = ["--profile", profile, *chosen]
        planned = ask("plan", "--json", *words_with)
        if planned.returncode == 0 and json.loads(planned.stdout)["cells"]:
            return words_with, planned
    return chosen, first


def selection(about, settings):
    """The words that choose the cell, and the cell as the program plans it."""
    chosen = words(settings, PLAN_SETTINGS + SWITCHES)
    fixed = ["--revision", about["revision"], "--cells", "*", "--python", f"{sys.version_info[0]}.{sys.version_info[1]}"]
    if "--naming" not in chosen:
        fixed += ["--naming", "plain"]
    if "--platform" not in chosen:
        fixed += ["--platform", f"linux_{platform.machine()}"]
    torch = None if "--torch" in chosen else environment_torch()
    if torch and about["torch"]:
        version, _, local = torch.partition("+")
        fixed += ["--torch", ".".join(version.split(".")[:2])]
        if local.startswith("cu") and "--cuda" not in chosen:
            fixed += ["--cuda", f"{local[2:-1]}.{local[-1]}"]
    if "--arch" in chosen or os.environ.get("TORCH_CUDA_ARCH_LIST"):
        tried, planned = plan(about, fixed + chosen)
    else:
        tried, planned = plan(about, fixed + chosen + ["--arch", "native"])
        if "ARC003" in planned.stderr:
            say("no GPU here: built for the plugin's own list; -C arch=LIST chooses")
            tried, planned = plan(about, fixed + chosen)
    if planned.returncode != 0:  # what else it has to say, the build says again
        sys.stderr.write(planned.stderr)
        raise Failed(f"sagekit plan ended with {planned.returncode}")
    cells = json.loads(planned.stdout)["cells"]
    if not cells:
        raise Failed("no wheel is planned for this Python, torch and CUDA: sagekit plan --cells '*' shows what there is")

    def newest(cell):
        numbers = [[int(part) for part in text.split(".") if part.isdigit()] for text in (cell["torch"], cell["cuda"])]
        return (cell["buildable"], *numbers)

    best = max(cells, key=newest)
    if len(cells) > 1:
        say(f"{len(cells)} wheels would do; the newest is {best['id']}: -C torch=VERSION -C cuda=VERSION choose another")
    return tried, best


def metadata_of(cell):
    """METADATA as the wheel will have it, but for the licence files, which it brings itself."""
    with open("PKG-INFO", encoding="utf-8") as file:
        head, separator, body = file.read().partition("\n\n")
    lines = [line for line in head.split("\n") if not line.startswith(("Dynamic:", "Version:", "Requires-Dist:"))]
    version = cell["wheel"].split("-")[1]
    lines.insert(2, f"Version: {version}")
    lines += [f"Requires-Dist: {requirement}" for requirement in cell["requires_dist"]]
    return "\n".join(lines) + (separator + body if separator else "\n")


def get_requires_for_build_wheel(config_settings=None):
    """Nothing: compilers and torch's headers are read out of the index's wheels by the program itself."""
    words(config_settings, ())
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    about = description()
    _, cell = selection(about, config_settings)
    name, version = cell["wheel"].split("-")[:2]
    folder = os.path.join(metadata_directory, f"{name}-{version}.dist-info")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write(metadata_of(cell))
    tags = "-".join(cell["wheel"][:-len(".whl")].split("-")[-3:])
    with open(os.path.join(folder, "WHEEL"), "w", encoding="utf-8") as file:
        file.write(f"Wheel-Version: 1.0\nGenerator: sagekit\nRoot-Is-Purelib: false\nTag: {tags}\n")
    return os.path.basename(folder)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    about = description()
    chosen, cell = selection(about, config_settings)
    out = os.path.abspath(wheel_directory)
    command = [*base(about), "build", *[cell["id"] if word == "*" else word for word in chosen],
               *words(config_settings, BUILD_SETTINGS), "--source", about["source"], "-o", out]
    for name, folder in sorted(about["vendored"].items()):
        command += ["--vendored", f"{name}={folder}"]
    say(f"building {cell['wheel']}")
    # Its progress is this process's (pip -v shows it); its result is the path of the wheel.
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    made = [os.path.basename(line) for line in ended.stdout.split("\n") if line.endswith(".whl")]
    if ended.returncode != 0 or len(made) != 1:
        raise Failed(f"sagekit build ended with {ended.returncode}; what it said is above (pip shows it with -v)")
    return made[0]


def build_sdist(sdist_directory, config_settings=None):
    """The tree as it is, packed again: same tree, same bytes."""
    words(config_settings, ())
    about = description()
    name = about["sdist"]
    file = os.path.join(sdist_directory, f"{name}.tar.gz")

    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = about["time"]
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    members = []
    for folder, folders, files in os.walk("."):
        folders.sort()
        members += [os.path.normpath(os.path.join(folder, one)) for one in files]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in sorted(members):
            archive.add(member, f"{name}/{member}", recursive=False, filter=plain)
    with open(file, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as zipped:
        zipped.write(packed.getvalue())
    return os.path.basename(file)
