"""Small wheels with GPU code that no GPU ever sees: modules whose fatbin has PTX and cubin headers, for tests of what decides."""
import pathlib
import struct
import subprocess

from wheels import MACHINE, Wheel, compiler


def ptx(target, isa):
    return (f".version {isa[0]}.{isa[1]}\n.target sm_{target}\n.address_size 64\n.visible .entry _Z5scalePf(\n.param .u64 p\n)\n{{\nret;\n}}\n").encode()


def fatbin(targets, isa=(9, 0)):
    """PTX for each target ("80", "120"), uncompressed. Layout: tests/support/fatbin_builder.hpp."""
    body = b""
    for target in targets:
        text = ptx(target, isa)
        padded = text + b"\0" * (-len(text) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", 1, 0x0101, 64, len(padded), 0, 0, isa[1], isa[0], int(target), 0, 0, 0x11, 0, 0) + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


MODULES = {}  # by everything that is in them: a compiler takes longer than most of what they are for


def gpu_module(folder, name="_k", targets=("80",), more="", bulk=0, isa=(9, 0)):
    """A shared library with PyInit_<name> and a fatbin, as bytes. `bulk`: so many bytes of other content."""
    known = (name, tuple(targets), more, bulk, isa)
    if known in MODULES:
        return MODULES[known]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fat.bin").write_bytes(fatbin(targets, isa))
    source, library = folder / "module.c", folder / "module.so"
    filler = f"const unsigned char filler[{bulk}] = {{1}};\n" if bulk else ""
    source.write_text(f'void *PyModule_Create2(void*, int);\n'
                      f'static struct {{ long refs; void *type; void *init; long index; void *copy; const char *name; const char *doc; long size;'
                      f' void *rest[5]; }} def = {{1, 0, 0, 0, 0, "{name}", 0, -1, {{0}}}};\n'
                      f'void *PyInit_{name}(void) {{ {more} return PyModule_Create2(&def, 1013); }}\n{filler}'
                      f'__asm__(".section .nv_fatbin,\\"a\\"\\n.balign 8\\n.incbin \\"{folder}/fat.bin\\"\\n.previous");\n')
    subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-Wl,-z,noexecstack", "-o", library, source], check=True)
    MODULES[known] = library.read_bytes()
    return MODULES[known]


def gpu_wheel(folder, python, project="tiny_kernels", version="1.0+cu130torch2.9.1", targets=("80",), requires=(), init=b"from . import _k\nanswer = 42\n", **more):
    """A wheel for `python` ("312") with one module."""
    wheel = Wheel(project, version, f"cp{python}-cp{python}-linux_{MACHINE}")
    suffix = f".cpython-{python}-{MACHINE}-linux-gnu.so"
    wheel.files = {f"{project}/__init__.py": init, f"{project}/_k{suffix}": gpu_module(folder, "_k", targets, **more)}
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    wheel.metadata = wheel.metadata.replace("Summary:", lines + "Summary:")
    return wheel


def pe_module(name="_k", targets=("80",), noise=b"", python="312"):
    """A Windows module as bytes: what the loader reads, then a GPU section with the fatbin and `noise` behind it. Layout: tests/support/pe_builder.hpp."""
    at, dll, function = 0x1000, f"python{python}.dll\0".encode(), b"\0\0PyModule_Create2\0"
    table = struct.pack("<5I", at + 40, 0, 0, at + 56, 0) + bytes(20) + struct.pack("<2Q", at + 56 + len(dll), 0) + dll + function
    table += bytes(-len(table) % 8)
    exports = at + len(table)
    data = table + struct.pack("<11I", 0, 0, 0, 0, 1, 1, 1, 0, exports + 40, 0, exports + 44) + f"PyInit_{name}\0".encode()
    data += bytes(-len(data) % 512)
    gpu = fatbin(targets) + noise
    out = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<2H3I2H", 0x8664, 2, 0, 0, 0, 112 + 16 * 8, 0x2022)
    out += struct.pack("<H", 0x20b) + bytes(106) + struct.pack("<5I", 16, exports, 40, at, 40) + bytes(14 * 8)
    for section, address, size, offset in ((b".rdata", at, len(data), 0x400), (b".nv_fatb", 0x10000, len(gpu), 0x400 + len(data))):
        out += section.ljust(8, b"\0") + struct.pack("<4I", size, address, (size + 511) & ~511, offset) + bytes(16)
    out = out.ljust(0x400, b"\0") + data + gpu
    return out + bytes(-len(out) % 512)


def sage3_wheel(folder, torch, cuda, python, platform):
    """A wheel as makers of SageAttention 3 publish them, with PTX for 12.0 in place of kernels; "2.7.0", "12.8", "3.12", "win_amd64"."""
    digits = python.replace(".", "")
    wheel = Wheel("sageattn3", f"1.0.0+cu{cuda.replace('.', '')}torch{torch}", f"cp{digits}-cp{digits}-{platform}")
    for name in ("fp4attn_cuda", "fp4quant_cuda"):
        if platform == "win_amd64":
            wheel.files[f"{name}.cp{digits}-win_amd64.pyd"] = pe_module(name, ("120",), python=digits)
        else:
            wheel.files[f"{name}.cpython-{digits}-{MACHINE}-linux-gnu.so"] = gpu_module(folder, name, ("120",))
    wheel.metadata = wheel.metadata.replace("Summary:", f"Requires-Dist: torch=={'.'.join(torch.split('.')[:2])}.*\nSummary:")
    return wheel
