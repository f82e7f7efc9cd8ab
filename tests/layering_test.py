#!/usr/bin/env python3
"""The house's own rules: include direction, one owner per third-party header, file lengths, no printing in core; the rooms as
ARCHITECTURE.md lists them; documents and sources that comments and links name are there; `make check` tests what is edited.

Usage: layering_test.py SOURCE_DIR
"""
import fnmatch
import io
import pathlib
import re
import subprocess
import sys
import tokenize
from collections import defaultdict

root = pathlib.Path(sys.argv[1])
core = root / "core" / "src"

# Room -> rooms it may include besides itself, as core/CMakeLists.txt links them. A new arrow is a design decision.
ROOMS = {}
for room, uses in re.findall(r"^sagekit_room\((\w+)(?: USES ([\w ]*?))?(?: LIBRARIES [^)]*)?\)", (root / "core/CMakeLists.txt").read_text(), re.M):
    ROOMS[room] = uses.split()
# Header prefix -> the only files that may include it.
OWNERS = {
    "toml": ["core/src/support/toml.cpp"],
    "fmt/": ["core/src/support/format.hpp"],
    "nlohmann/": ["core/src/support/json.hpp"],
    "nettle/": ["core/src/support/sha256.cpp"],
    "libdeflate": ["core/src/archive/inflate.cpp"],
    "zstd": ["core/src/support/zstd.cpp"],
    "lz4": ["core/src/gpu/image_codec.cpp"],
    "archive": ["core/src/archive/archive_library.hpp"],
    "curl/": ["core/src/index/curl_library.hpp"],
    "microhttpd": ["core/src/release/microhttpd_library.hpp"],
    "zlib": ["core/src/archive/deflate_parts.cpp", "core/src/archive/deflate_tail.cpp", "core/src/archive/gunzip.cpp"],
    "re2/": ["core/src/causes/line_matcher.cpp"],
    "zip.h": ["core/src/archive/zip_library.hpp"],
    "boost/": None,  # filled below: one room
}
problems = []


def report(path, line, text):
    problems.append(f"{path.relative_to(root)}:{line}: {text}")


TOKEN = re.compile(r'''R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\b\d(?:'?[\w.])*|'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/''', re.S)


def bare_code(text):
    """A C++ text without comments and strings, line for line."""
    return TOKEN.sub(lambda m: m.group() if m.group()[0].isdigit() else '""' + "\n" * m.group().count("\n"), text)


def comments(path, text):
    """Each line of a comment, or of a Python docstring, with its number."""
    if path.suffix in (".h", ".hpp", ".cpp", ".c", ".cu"):
        found = [(text.count("\n", 0, m.start()), m.group()) for m in TOKEN.finditer(text) if m.group()[:2] in ("//", "/*")]
    elif path.suffix == ".py" or re.match(r"#!.*python", text):
        found, before = [], tokenize.NEWLINE
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            statement = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            if token.type == tokenize.COMMENT or token.type == tokenize.STRING and statement:
                found.append((token.start[0] - 1, token.string))
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                before = token.type
    else:
        found = [(n, m.group()) for n, line in enumerate(text.splitlines()) if (m := re.search(r"^\s*#.*|\s# .*", line))]
    for first, comment in found:
        yield from enumerate(comment.splitlines(), first + 1)


for room, uses in ROOMS.items():
    above = list(ROOMS)[: list(ROOMS).index(room)]
    for used in uses:
        if used not in above:
            problems.append(f"core/CMakeLists.txt: room {room} uses {used}, which does not stand before it")
documented_rooms = re.findall(r"^\| `core/src/(\w+)` \|", (root / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.M)
if documented_rooms != list(ROOMS):
    problems.append(f"ARCHITECTURE.md lists the rooms {' '.join(documented_rooms)}; core/CMakeLists.txt has {' '.join(ROOMS)}")
folders = sorted(path.name for path in core.iterdir() if path.is_dir() and any(path.rglob("*.?pp")))
if folders != sorted(ROOMS):
    problems.append(f"core/src has the folders {' '.join(folders)}; core/CMakeLists.txt has {' '.join(sorted(ROOMS))}")

# What core would print, end, or ask the environment with. A child that exec did not replace may end.
WORLD = re.compile(r"(?<![\w.>])(?:std::|::|fmt::)?(?:v?f?printf|puts|putchar|perror|print|println|_exit|_Exit|exit|quick_exit|abort|"
                   r"(?:secure_)?getenv)\(|\bstd::(?:cout|cerr|clog)\b|\bSTD(?:OUT|ERR)_FILENO\b|(?<![\w.])std(?:out|err)\s*[,)]|\benviron\b")
AFTER_FORK = ("core/src/support/subprocess.cpp", "::_exit(")

includes = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
owners_seen = defaultdict(set)
for path in sorted((root / "core").rglob("*.[ch]*")):
    if path.suffix not in (".h", ".hpp", ".cpp") or (root / "core" / "data") in path.parents:  # data: texts for others' compilers
        continue
    relative = path.relative_to(root).as_posix()
    parts = path.relative_to(core).parts if core in path.parents else ()
    room = parts[0] if len(parts) > 1 else None
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(bare_code(text).splitlines() if core in path.parents else [], 1):
        for found in WORLD.finditer(line):
            if (relative, found.group()) != AFTER_FORK:
                report(path, number, "core prints nothing, reads no environment variable and never exits")
    for number, line in enumerate(text.splitlines(), 1):
        match = includes.match(line)
        if not match:
            continue
        quote, header = match.groups()
        if quote == '"' and room:
            target = header.split("/")[0]
            if target in ROOMS and target != room and target not in ROOMS[room]:
                report(path, number, f"room {room} may not include {header}")
        if quote == "<" and room is None and not header.startswith("sagekit/") and "/" in header and not header.startswith("sys/"):
            report(path, number, f"public headers use the standard library only, not {header}")
        for prefix, allowed in OWNERS.items():
            if quote == "<" and header.startswith(prefix):
                if allowed is None:
                    owners_seen[prefix].add(room)
                elif relative not in allowed:
                    report(path, number, f"{header} belongs to {', '.join(allowed)}")
for prefix, rooms in owners_seen.items():
    if len(rooms) > 1:
        problems.append(f"{prefix} is included by several rooms: {', '.join(sorted(map(str, rooms)))}")

for folder in ("core", "host", "plugins", "tests", "bench", "examples"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".h", ".hpp", ".cpp", ".cu"):
            continue
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > 400:
            report(path, lines, f"{lines} lines; 400 is the ceiling")
        if path.stem == "sagekit":
            report(path, 1, "no file is named after the project")
for path in sorted((root / "host").rglob("*.[ch]pp")):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if "<spdlog" in line and "#include" in line and path.name != "log_spdlog.cpp":
            report(path, number, "spdlog lives in log_spdlog.cpp")
        if "getenv" in line and path.name != "settings.cpp":
            report(path, number, "settings.cpp is the only reader of environment variables")
        if re.match(rf'\s*#\s*include\s+"({"|".join(ROOMS)})/', line):
            report(path, number, "the host uses public headers only")

# One name in one namespace is one type: of two the linker keeps one, destructor and all, and says nothing.
defined = defaultdict(list)
begin = re.compile(r"(?:struct|class|enum class) (?:SAGEKIT_API )?(\w+)(?: final)?(?: :[^:;{][^;{]*)? ?\{")
for path in sorted((root / "core").rglob("*.hpp")):
    scope = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("namespace "):
            scope = line.removeprefix("namespace ").rstrip(" {")
        if match := begin.match(line):
            defined[f"{scope}::{match.group(1)}"].append((path, number))
for name, places in defined.items():
    for path, number in places[1:]:
        report(path, number, f"{name} is defined in {places[0][0].relative_to(root)}, too")

# What each published code is, is documented: codes in the sources appear in docs/findings.
documented = "".join(p.read_text(encoding="utf-8") for p in [*(root / "docs" / "findings").glob("*.md"), root / "docs" / "troubleshooting.md"])
code = re.compile(r'"([A-Z]{3,4}[0-9]{3})"')
for folder in ("core/src", "host/src"):
    for path in sorted((root / folder).rglob("*.cpp")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for found in code.findall(line.split("//")[0]):
                if found not in documented:
                    report(path, number, f"{found} is not in docs/findings")

# A document or a source that a comment or a link names is in the repository: the reader has nothing else. FOREIGN are others'
# own, and what is made.
FOREIGN = {
    "lz4_Block_format.md", "_mingw.h", "math.h", "single_threaded.h", "sysexits.h", "zlib.h",
    "Python.h", "json.py", "legacy.py", "pyconfig.h", "setup.py", "x.fatbin.c",
    "cuda.h", "cuda_runtime.h", "fatbinary_section.h", "host_config.h", "host_runtime.h",  # CUDA's
    "TorchConfig.cmake", "cpp_extension.py", "extension.h", "shim.h", "version.h", "version.py", "build.py", "compiler.py",  # torch's, Triton's
    "api.cu", "core.py", "fused.cu",  # SageAttention's
    "toolchain.cmake",
}
FOLDERS = ("core", "host", "plugins", "tests", "bench", "examples", "cmake", "scripts")
texts = [p for p in root.rglob("*.md") if "build" not in p.relative_to(root).parts]
paths = {p.relative_to(root).as_posix() for p in texts}
names = {p.name for p in texts}
word = re.compile(r"[\w./-]*\b[\w-]+\.md\b")
SOURCES = (".h", ".hpp", ".cpp", ".c", ".cu", ".py", ".sh", ".cmake")
source_word = re.compile(r"(?<![\w./{}-])\w[\w./-]*\.(?:h|hpp|cpp|c|cu|py|sh|cmake)\b(?![\w({/-])")
source_paths = {"/" + p.relative_to(root).as_posix() for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in SOURCES}
source_ends = {path[at:] for path in source_paths for at, letter in enumerate(path) if letter == "/"}
link = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
for folder in FOLDERS:
    for path in sorted((root / folder).rglob("*")):
        if not path.is_file() or path.suffix not in (*SOURCES, ".toml", ".txt", ""):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == "" and not text.startswith("#!"):
            continue
        for number, comment in comments(path, text):
            for name in word.findall(comment):
                known = name in paths or (root / name).exists() if "/" in name else name in names
                if not known and name not in FOREIGN:
                    report(path, number, f"{name} is not in the repository")
            # Facts (.toml) are about others' sources.
            for name in source_word.findall(comment) if path.suffix not in (".toml", ".txt") else []:
                if "/" + name not in source_ends and name.rsplit("/", 1)[-1] not in FOREIGN:
                    report(path, number, f"{name} is not in the repository")
sources = [p.relative_to(core).as_posix() for p in core.rglob("*.cpp")]
for number, line in enumerate((root / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines(), 1):
    for name in re.findall(r"`([\w/*]+\.cpp)`", line):
        if not any(fnmatch.fnmatch("/" + source, "*/" + name) for source in sources):
            report(root / "ARCHITECTURE.md", number, f"core/src has no {name}")
for path in texts:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for target in link.findall(line):
            if not (path.parent / target).exists():
                report(path, number, f"the link to {target} leads nowhere")

# `make check` has an answer for what is compiled in or accepted: green without a test would be none.
files = [p.relative_to(root).as_posix() for folder in ("core/data", "core/schemas", "tests/golden", "tests/causes/logs")
         for p in sorted((root / folder).rglob("*")) if p.is_file()]
said = subprocess.run([root / "scripts/check", "-n", *files, "core/CMakeLists.txt", "core/src/schemas.cpp"], capture_output=True, text=True)
if said.returncode != 0 or not said.stdout.endswith("nothing runs for: \n"):
    problems.append(f"scripts/check: {said.stdout.rsplit(';', 1)[-1].strip()} {said.stderr.strip()}")

print("\n".join(problems) if problems else "the house is in order")
sys.exit(1 if problems else 0)
