"""Small true copies of what the index and NVIDIA's archive manifests hold: real zip, RECORD, ELF and tar files, with
stand-ins for the programs (fake_toolchain/make.sh). Nothing here is random: the same call gives the same bytes."""
import base64
import functools
import hashlib
import io
import json
import pathlib
import random
import struct
import subprocess
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LICENSE = b"These are no programs. They stand in for NVIDIA's, whose licence would be here.\n" * 20
NVCC_PLATFORM = {"linux_x86_64": "manylinux2014_x86_64.manylinux_2_17_x86_64", "linux_aarch64": "manylinux2014_aarch64.manylinux_2_17_aarch64"}
TORCH_PLATFORM = {"linux_x86_64": "manylinux_2_28_x86_64", "linux_aarch64": "manylinux_2_28_aarch64"}


def filler(size, seed):
    """Bytes that do not compress: what is not wanted of a package must be big enough to be noticed when it is read."""
    return random.Random(seed).randbytes(size)


# ---- wheels

def record_row(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def zip_bytes(members):
    """[(name, content, mode)] -> a zip archive, in that order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name, (2025, 9, 2, 17, 44, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, content)
    return out.getvalue()


def wheel(project, version, tag, files, metadata="", build="", record_edit=None, licensed=True):
    """(file name, bytes). `files`: {path: content or (content, mode)}. `record_edit` changes RECORD's text."""
    stem = project.replace("-", "_")
    info = f"{stem}-{version}.dist-info"
    members = [(path, *(value if isinstance(value, tuple) else (value, 0o644))) for path, value in files.items()]
    if licensed:
        members.append((f"{info}/licenses/License.txt", LICENSE, 0o644))
    members.append((f"{info}/METADATA", f"Metadata-Version: 2.4\nName: {project}\nVersion: {version}\nSummary: a stand-in\n{metadata}".encode(), 0o644))
    members.append((f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644))
    record = "".join(record_row(name, content) for name, content, _ in members) + f"{info}/RECORD,,\n"
    members.append((f"{info}/RECORD", (record_edit(record) if record_edit else record).encode(), 0o664))
    return f"{stem}-{version}{'-' + build if build else ''}-{tag}.whl", zip_bytes(members)


# ---- libraries

@functools.cache
def library(soname, source, platform="linux_x86_64", needed=()):
    """A shared library out of C by the host compiler. For another CPU only the header's machine is changed: what is read
    of it, symbol tables, looks the same."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", "-O1", "-nostdlib", "-Wl,--hash-style=gnu", "-Wl,--build-id=none",
                        f"-Wl,-soname,{soname}", "-o", f"{folder}/lib.so", "-"], input=source.encode(), check=True)
        content = bytearray(pathlib.Path(folder, "lib.so").read_bytes())
    content[18:20] = struct.pack("<H", {"linux_x86_64": 62, "linux_aarch64": 183}[platform])
    return bytes(content)


def torch_library(name, platform):
    word = name.removeprefix("lib").removesuffix(".so")
    return library(name, f"int {word}_function(void) {{ return 1; }}\nint {word}_object = 2;\n"
                         f"__attribute__((weak)) int {word}_weak(void) {{ return 3; }}\n"
                         f"__attribute__((visibility(\"hidden\"))) int {word}_hidden(void) {{ return 4; }}\n", platform)


# ---- the compiler

@functools.cache
def nvcc_tree(version="13.0.88", proxy=None):
    """{path: (content, mode)} of a CUDA tree of stand-ins. `proxy`: a real nvcc that the stand-in hands its work to, so
    that what it compiles is real."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "cuda")
        subprocess.run([HERE / "fake_toolchain" / "make.sh", "nvcc", root, version], check=True)
        major = version.split(".")[0]
        (root / "lib" / f"libcudart.so.{major}").write_bytes(library(f"libcudart.so.{major}", "int cudaMalloc(void) { return 0; }\n"))
        for name in ("libcudart_static.a", "libcudadevrt.a"):  # programs of plain CUDA runtime use link these in
            real = next((p for p in pathlib.Path(proxy).parent.parent.glob(f"lib*/{name}")), None) if proxy else None
            (root / "lib" / name).write_bytes(real.read_bytes() if real else b"!<arch>\n")
        (root / "include" / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        (root / "include" / "cccl" / "thrust").mkdir()
        (root / "include" / "cccl" / "thrust" / "complex.h").write_text("// thrust\n")
        (root / "nvvm" / "libdevice" / "libdevice.10.bc").write_bytes(b"BC\xc0\xde a stand-in")
        if proxy:
            script = (root / "bin" / "nvcc").read_text()
            (root / "bin" / "nvcc").write_text(script.replace("out=$(word_after", f'exec "{proxy}" "$@"\nout=$(word_after', 1))
        files = {}
        for path in sorted(root.rglob("*")):
            if path.is_file():
                # The real wheels' modes: only the owner may execute.
                executable = path.stat().st_mode & 0o100
                files[str(path.relative_to(root))] = (path.read_bytes(), 0o744 if executable else 0o644)
        files["bin/nvlink"] = (filler(300_000, "nvlink"), 0o744)  # neither is wanted
        files["bin/bin2c"] = (filler(5_000, "bin2c"), 0o744)
        return files


def nvcc_wheels(cuda="13.0", version="13.0.88", platform="linux_x86_64", proxy=None, by_extra=False, patch="2"):
    """[(project, file name, bytes)] of a whole CUDA release: its metapackage and what it pins. `by_extra`: the parts of the
    compiler have extras of their own, as from 13.2 on; before, only `all` pins them."""
    major = cuda.split(".")[0]
    tree = nvcc_tree(version, proxy)
    versions = {"nvidia-cuda-nvcc": version, "nvidia-nvvm": version, "nvidia-cuda-crt": version, "nvidia-cuda-runtime": f"{cuda}.96",
                "nvidia-cuda-cccl": f"{cuda}.85", "nvidia-cublas": "13.1.0.3", "nvidia-cusparse": "12.6.3.3", "nvidia-cusolver": "12.0.4.66"}
    extras = {"nvidia-cuda-nvcc": "nvcc", "nvidia-cuda-runtime": "cudart", "nvidia-cuda-cccl": "cccl", "nvidia-cublas": "cublas",
              "nvidia-cusparse": "cusparse", "nvidia-cusolver": "cusolver"}
    if by_extra:
        extras |= {"nvidia-cuda-crt": "crt", "nvidia-nvvm": "nvvm"}
    owners = {"nvidia-cuda-nvcc": ("bin/",), "nvidia-nvvm": ("nvvm/",), "nvidia-cuda-crt": ("include/crt/",),
              "nvidia-cuda-runtime": ("include/cuda", "lib/libcudart", "lib/libcudadevrt"), "nvidia-cuda-cccl": ("include/cccl/",)}
    out = []
    for project, number in versions.items():
        if project in owners:
            files = {p: v for p, v in tree.items() if p.startswith(owners[project])}
        else:  # headers wanted, a big library not
            word = project.removeprefix("nvidia-")
            files = {f"include/{word}.h": f"// {word} {number}\n".encode(), f"lib/lib{word}.so.{major}": filler(400_000, word)}
        if project == "nvidia-nvvm":
            files["lib/libnvvm.so.4"] = filler(200_000, "libnvvm")
        files = {f"nvidia/cu{major}/{path}": value for path, value in files.items()}
        out.append((project, *wheel(project, number, f"py3-none-{NVCC_PLATFORM[platform]}", files)))
    marker = "(sys_platform == 'linux' or sys_platform == 'win32')"
    lines = ["Provides-Extra: all\n"] + [f"Requires-Dist: {p}=={versions[p]}.*; {marker} and extra == 'all'\n" for p in versions]
    for project, extra in extras.items():
        lines.append(f"Provides-Extra: {extra}\nRequires-Dist: {project}=={versions[project]}.*; {marker} and extra == '{extra}'\n")
    out.append(("cuda-toolkit", *wheel("cuda-toolkit", f"{cuda}.{patch}", "py2.py3-none-any", {}, "".join(lines), licensed=False)))
    return out


# ---- torch

LIBRARIES = ("libc10.so", "libc10_cuda.so", "libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so")


def torch_wheel(version="2.11.0", cuda="13.0", python="cp312", platform="linux_x86_64", build="", mark=b"", licensed=True):
    """("torch", file name, bytes). `cuda` "" is a CPU build; `mark` goes into one header, to tell two wheels apart."""
    local = "cu" + cuda.replace(".", "") if cuda else "cpu"
    said = f"cuda: Optional[str] = '{cuda}'" if cuda else "cuda: Optional[str] = None"
    files = {"torch/__init__.py": b"from .version import __version__\n", "torch/bin/protoc": (filler(200_000, "protoc"), 0o755),
             "torch/include/torch/extension.h": b"#pragma once\n" + mark, "torch/include/c10/macros/Macros.h": b"// macros\n",
             "torch/include/ATen/Config.h": f"// for {platform}\n".encode(), "torch/_C.so": filler(100_000, "_C")}
    for name in LIBRARIES:
        files[f"torch/lib/{name}"] = (torch_library(name, platform), 0o755)
    files["torch/lib/libtorch_cuda_linalg.so"] = filler(500_000, "linalg")
    files["torch/share/cmake/Torch/TorchConfig.cmake"] = b'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")\n'
    files["torch/version.py"] = (f"from typing import Optional\n\n__version__ = '{version}+{local}'\ndebug = False\n{said}\n"
                                 "hip: Optional[str] = None\n").encode()
    # Its METADATA lists CUDA packages even where it is built without: nobody may derive CUDA from it.
    metadata = "Requires-Dist: nvidia-cuda-runtime-cu12==12.8.90; platform_system == 'Linux'\n"
    base = python.removesuffix("t")
    name, content = wheel("torch", version, f"{base}-{python}-{TORCH_PLATFORM[platform]}", files, metadata, build, licensed=licensed)
    return "torch", name, content


def windows_wheels(library, version="2.11.0", cuda="13.0"):
    """torch for Windows without CUDA, as package indexes have it, and CUDA's runtime: rows of (project, file name, bytes).
    `library`: a DLL that stands for both libraries."""
    torch = {"torch/version.py": f"__version__ = '{version}+cpu'\ncuda: Optional[str] = None\n".encode(),
             "torch/include/torch/csrc/stable/library.h": b"#pragma once\n", "torch/include/ATen/Config.h": b"// all of torch\n",
             "torch/lib/torch_cpu.dll": library, "torch/lib/c10.dll": filler(50_000, "c10")}
    runtime = {f"nvidia/cu{cuda.split('.')[0]}/bin/x86_64/cudart64_{cuda.split('.')[0]}.dll": library}
    return [("torch", *wheel("torch", version, "cp312-cp312-win_amd64", torch)),
            ("nvidia-cuda-runtime", *wheel("nvidia-cuda-runtime", cuda + ".96", "py3-none-win_amd64", runtime))]


# ---- NVIDIA's archives

def archive(top, files):
    """.tar.xz with one top folder, as NVIDIA packs a component; a str value is a symbolic link's target."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz", preset=0) as tar:
        for path, value in files.items():
            info = tarfile.TarInfo(f"{top}/{path}" if top else path)
            info.mtime = 1_700_000_000
            if isinstance(value, str):
                info.type, info.linkname = tarfile.SYMTYPE, value
                tar.addfile(info)
                continue
            content, mode = value if isinstance(value, tuple) else (value, 0o644)
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def redist(release="12.8.1", version="12.8.93", change=None):
    """{path below the base: bytes} of one release: the manifest and its archives. `change(component, files)` edits one."""
    tree = nvcc_tree(version)
    major = release.split(".")[0]
    soname = f"libcudart.so.{major}"
    parts = {"cuda_nvcc": ("bin/", "nvvm/", "include/crt/"), "cuda_cudart": ("include/cuda", "lib/"), "cuda_cccl": ("include/cccl/",)}
    files = {name: {p: v for p, v in tree.items() if p.startswith(owned)} for name, owned in parts.items()}
    files["cuda_nvcc"]["bin/nvlink"] = (filler(50_000, "nvlink"), 0o755)
    library = files["cuda_cudart"].pop(f"lib/{soname}")
    files["cuda_cudart"] |= {f"lib/{soname}.8.90": library, f"lib/{soname}": f"{soname}.8.90", "lib/libcudart.so": soname}
    files["cuda_cccl"] = {p.replace("include/cccl/", "include/"): v for p, v in files["cuda_cccl"].items()}
    for name in ("libcublas", "libcusparse", "libcusolver"):
        files[name] = {f"include/{name.removeprefix('lib')}.h": f"// {name}\n".encode(), f"lib/{name}.so.{major}": filler(100_000, name)}
    files["cuda_gdb"] = {"bin/cuda-gdb": (filler(100_000, "gdb"), 0o755)}  # nobody asked for it
    manifest, out = {"release_date": "2025-03-05", "release_label": release, "release_product": "cuda"}, {}
    for name, content in files.items():
        content = dict(content)
        content["LICENSE"] = LICENSE
        if change:
            change(name, content)
        top = f"{name}-linux-x86_64-{version}-archive"
        path = f"{name}/linux-x86_64/{top}.tar.xz"
        out[path] = archive(top, content)
        manifest[name] = {"name": name, "license": "CUDA Toolkit", "license_path": f"{name}/LICENSE.txt", "version": version,
                          "linux-x86_64": {"relative_path": path, "sha256": hashlib.sha256(out[path]).hexdigest(),
                                           "md5": hashlib.md5(out[path]).hexdigest(), "size": str(len(out[path]))}}
        out[f"{name}/LICENSE.txt"] = LICENSE
    out[f"redistrib_{release}.json"] = json.dumps(manifest, indent=2).encode()
    return out


def edited(content, change, keep_record=False):
    """A wheel's bytes with `change(name, bytes) -> bytes` applied to every member but RECORD; RECORD follows, or keeps its
    old hashes. CRCs are right in both: only RECORD tells."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(i.filename, archive.read(i), i.external_attr >> 16 & 0o777) for i in archive.infolist()]
    record = next(name for name, _, _ in members if name.endswith(".dist-info/RECORD"))
    new = [(name, change(name, data), mode) for name, data, mode in members if name != record]
    text = "".join(record_row(name, data) for name, data, _ in new) + f"{record},,\n"
    old = next(data for name, data, _ in members if name == record)
    return zip_bytes([*new, (record, old if keep_record else text.encode(), 0o664)])
