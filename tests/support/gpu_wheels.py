"""Small wheels with GPU code that no GPU ever sees: modules whose fatbin has PTX and cubin headers, for tests of what decides."""
import pathlib
import struct
import subprocess

from wheels import MACHINE, Wheel, compiler


def ptx(target):
    return (f".version 9.0\n.target sm_{target}\n.address_size 64\n.visible .entry _Z5scalePf(\n.param .u64 p\n)\n{{\nret;\n}}\n").encode()


def fatbin(targets, isa=(9, 0)):
    """PTX for each target ("80", "120"), uncompressed. Layout: tests/support/fatbin_builder.hpp."""
    body = b""
    for target in targets:
        text = ptx(target)
        padded = text + b"\0" * (-len(text) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", 1, 0x0101, 64, len(padded), 0, 0, isa[1], isa[0], int(target), 0, 0, 0x11, 0, 0) + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def gpu_module(folder, name="_k", targets=("80",), more="", bulk=0):
    """A shared library with PyInit_<name> and a fatbin, as bytes. `bulk`: so many bytes of other content."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fat.bin").write_bytes(fatbin(targets))
    source, library = folder / "module.c", folder / "module.so"
    filler = f"const unsigned char filler[{bulk}] = {{1}};\n" if bulk else ""
    source.write_text(f'void *PyModule_Create2(void*, int);\n'
                      f'static struct {{ long refs; void *type; void *init; long index; void *copy; const char *name; const char *doc; long size;'
                      f' void *rest[5]; }} def = {{1, 0, 0, 0, 0, "{name}", 0, -1, {{0}}}};\n'
                      f'void *PyInit_{name}(void) {{ {more} return PyModule_Create2(&def, 1013); }}\n{filler}'
                      f'__asm__(".section .nv_fatbin,\\"a\\"\\n.balign 8\\n.incbin \\"{folder}/fat.bin\\"\\n.previous");\n')
    subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-Wl,-z,noexecstack", "-o", library, source], check=True)
    return library.read_bytes()


def gpu_wheel(folder, python, project="tiny_kernels", version="1.0+cu130torch2.9.1", targets=("80",), requires=(), init=b"from . import _k\nanswer = 42\n", **more):
    """A wheel for `python` ("312") with one module."""
    wheel = Wheel(project, version, f"cp{python}-cp{python}-linux_{MACHINE}")
    suffix = f".cpython-{python}-{MACHINE}-linux-gnu.so"
    wheel.files = {f"{project}/__init__.py": init, f"{project}/_k{suffix}": gpu_module(folder, "_k", targets, **more)}
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    wheel.metadata = wheel.metadata.replace("Summary:", lines + "Summary:")
    return wheel
