#!/usr/bin/env python3
"""Link stubs of the C library of an older time: link_stubs.py --compiler gcc --floor 2.28 --compat FILE.a -o FOLDER

Reads the version tables of the compiler's own libc.so.6, libm.so.6, the loader and libgcc_s.so.1, and writes libraries that export the
same names, each at the newest version that the floor has. A link with -L FOLDER then cannot take a symbol that is newer: the
linker itself says which is missing. What glibc 2.34 moved into libc is put back into libpthread, libdl, librt and libutil, where a
glibc before it has it. FILE.a answers what is newer and trivial (glibc_compat.c); it is searched with libc.
"""
import argparse
import pathlib
import re
import subprocess

# Libraries that were merged into libc by 2.34 (its NEWS), by the names they had. What came from others (libresolv, libanl) is
# not offered.
MERGED = (("libdl.so.2", re.compile(r"dl[a-z]")),
          ("librt.so.1", re.compile(r"aio_|lio_|mq_|shm_|timer_|clock_")),
          ("libutil.so.1", re.compile(r"(forkpty|openpty|login|login_tty|logout|logwtmp)$")),
          ("libpthread.so.0", re.compile(r"(__)?pthread_|sem_|tss_|mtx_|cnd_|thrd_|call_once$")))
# The libgcc of GCC 7, what manylinux_2_28 has at least.
GCC_FLOOR = (7, 0, 0)


def numbers(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def exports(library):
    """{name: {version: (type, size, is default, binding, address)}} of the versions that have a number."""
    out = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in out.splitlines():
        words = line.split()
        if len(words) < 8 or words[4] not in ("GLOBAL", "WEAK") or words[6] == "UND" or "@" not in words[7]:
            continue
        name, mark, version = re.match(r"([^@]+)(@@?)(.+)", words[7]).groups()
        if not re.fullmatch(r"(GLIBC|GCC)_[0-9.]+", version):
            continue  # GLIBC_PRIVATE
        found.setdefault(name, {})[version] = (words[3], int(words[2], 0), mark == "@@", words[4], words[1])
    return found


def floor_of(version, floor):
    return floor if version.startswith("GLIBC_") else GCC_FLOOR


def of_the_floor(names, floor):
    """{name: (version, type, size, binding, address)}, and the names that were moved in from another library since."""
    kept, moved = {}, set()
    for name, versions in names.items():
        old = [version for version in versions if numbers(version) <= floor_of(version, floor)]
        if not old:
            continue
        newest = max(old, key=numbers)
        kind, size, default, binding, address = versions[newest]
        kept[name] = (newest, kind, size, binding, address)
        merged = [v for v in versions if v.startswith("GLIBC_") and (2, 32) <= numbers(v) <= (2, 34)]
        if not default and merged and not name.startswith("__libc_start"):
            moved.add(name)
    return kept, moved


def write(library, symbols, folder, compiler):
    """A library with these symbols and no code. Data of several names has one place, as in the real one: a program that uses
    `environ` moves it into itself, and its linker has to know that this is `__environ`, too, which the C library sets."""
    lines, nodes, places = [".section .note.GNU-stack,\"\",%progbits"], {}, {}
    for name, (version, kind, size, binding, address) in sorted(symbols.items()):
        places.setdefault((kind, size, address) if kind == "OBJECT" else name, []).append(name)
        nodes.setdefault(version, []).append(name)
    for names in places.values():
        _, kind, size, _, _ = symbols[names[0]]
        section, kind = {"OBJECT": (".data", "object"), "TLS": (".section .tdata,\"awT\",%progbits", "tls_object")}.get(
            kind, (".text", "function"))
        lines += [section, ".balign 32"]
        for name in names:
            word = "weak" if symbols[name][3] == "WEAK" and len(names) > 1 else "globl"
            lines += [f'.{word} "{name}"', f'.type "{name}",%{kind}', f'.size "{name}",{size}', f'"{name}":']
        lines.append(f".skip {max(size, 8)}")
    source, script = folder / f"{library}.s", folder / f"{library}.map"
    source.write_text("\n".join(lines) + "\n")
    text = ""
    for version in sorted(nodes, key=lambda v: (v.split("_")[0], numbers(v))):
        text += f"{version} {{ global: " + " ".join(f'"{name}";' for name in nodes[version]) + " };\n"
    script.write_text(text + "SAGEKIT_STUB { local: *; };\n")
    subprocess.run([compiler, "-shared", "-nostdlib", "-Wl,-soname," + library, f"-Wl,--version-script={script}", "-o",
                    folder / library, source], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--floor", required=True)
    parser.add_argument("--compat", required=True, type=pathlib.Path)
    parser.add_argument("-o", dest="folder", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    floor = numbers(arguments.floor)

    def real(name):
        found = subprocess.run([arguments.compiler, "-print-file-name=" + name], check=True, capture_output=True, text=True)
        return found.stdout.strip()

    script = pathlib.Path(real("libc.so")).read_text()
    loader = re.search(r"AS_NEEDED \( *(\S+) *\)", script).group(1)
    nonshared = re.search(r"\S*libc_nonshared\.a", script).group(0)
    nonshared = nonshared if pathlib.Path(nonshared).exists() else real("libc_nonshared.a")
    loader_name = pathlib.Path(loader).name

    libc, moved = of_the_floor(exports(real("libc.so.6")), floor)
    parts = {library: {} for library, _ in MERGED}
    for name in moved:
        symbol = libc.pop(name)
        for library in [library for library, pattern in MERGED if pattern.match(name)][:1]:
            parts[library][name] = symbol
    write("libc.so.6", libc, folder, arguments.compiler)
    for library, symbols in parts.items():
        write(library, symbols, folder, arguments.compiler)
    for library, source in (("libm.so.6", "libm.so.6"), (loader_name, loader_name), ("libgcc_s.so.1", "libgcc_s.so.1")):
        symbols, _ = of_the_floor(exports(real(source)), floor)
        write(library, symbols, folder, arguments.compiler)

    merged = " ".join(f"{folder}/{library}" for library, _ in MERGED)
    # What is in both libc and libpthread (pthread_mutex_lock, ...) comes from libc: it stands first.
    (folder / "libc.so").write_text(f"GROUP ( {folder}/libc.so.6 {arguments.compat.absolute()} {nonshared} "
                                    f"AS_NEEDED ( {merged} {folder}/{loader_name} ) )\n")
    (folder / "libm.so").write_text(f"GROUP ( {folder}/libm.so.6 )\n")
    (folder / "libgcc_s.so").write_text(f"GROUP ( {folder}/libgcc_s.so.1 -lgcc )\n")
    for name, library in (("libpthread.so", "libpthread.so.0"), ("libdl.so", "libdl.so.2"), ("librt.so", "librt.so.1")):
        (folder / name).write_text(f"GROUP ( AS_NEEDED ( {folder}/{library} ) )\n")


main()
