"""Makes small wheels and installed packages: right by default, wrong where a test changes something."""
import base64
import hashlib
import pathlib
import platform
import shutil
import subprocess
import zipfile

MACHINE = platform.machine()
SUFFIX = f".cpython-312-{MACHINE}-linux-gnu.so"


def compiler():
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def module(folder, name="_k", flags=()):
    """A shared library with PyInit_<name>, as bytes."""
    source, library = pathlib.Path(folder) / "module.c", pathlib.Path(folder) / "module.so"
    source.write_text(f"void *PyInit_{name}(void) {{ return 0; }}\n")
    subprocess.run([compiler(), "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noexecstack", *flags, "-o", library, source], check=True)
    return library.read_bytes()


def row(path, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


class Wheel:
    def __init__(self, project="tiny", version="1.0", tag="py3-none-any", build=""):
        self.project, self.version, self.tag, self.build = project, version, tag, build
        self.files = {f"{project}/__init__.py": b"answer = 42\n"}
        self.metadata = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\nSummary: A test.\nDescription-Content-Type: text/plain\n\nA test.\n"
        self.generator, self.tags = "test", [tag]
        self.purelib = "true" if tag.endswith("-any") else "false"

    @property
    def name(self):
        return f"{self.project}-{self.version}{'-' * bool(self.build)}{self.build}-{self.tag}.whl"

    @property
    def dist_info(self):
        return f"{self.project}-{self.version}.dist-info"

    def contents(self):
        """Every file with its bytes, RECORD last."""
        tags = f"Build: {self.build}\n" * bool(self.build) + "".join(f"Tag: {tag}\n" for tag in self.tags)
        texts = {"METADATA": self.metadata,
                 "WHEEL": f"Wheel-Version: 1.0\nGenerator: {self.generator}\nRoot-Is-Purelib: {self.purelib}\n{tags}"}
        every = dict(self.files) | {f"{self.dist_info}/{name}": text.encode() for name, text in texts.items()}
        record = "".join(row(path, content) for path, content in every.items()) + f"{self.dist_info}/RECORD,,\n"
        return every | {f"{self.dist_info}/RECORD": record.encode()}

    def write(self, folder):
        path = pathlib.Path(folder) / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.contents().items():
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                info.external_attr, info.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
                archive.writestr(info, content)
        return path

    def install(self, site):
        """As an installer leaves it, with an INSTALLER and a row for a compiled file. Returns the dist-info folder."""
        site = pathlib.Path(site)
        contents = self.contents()
        record = contents.pop(f"{self.dist_info}/RECORD").decode()
        contents[f"{self.dist_info}/INSTALLER"] = b"pip\n"
        record += row(f"{self.dist_info}/INSTALLER", b"pip\n") + f"{self.project}/__pycache__/__init__.cpython-312.pyc,,\n"
        contents[f"{self.dist_info}/RECORD"] = record.encode()
        for name, content in contents.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_bytes(content)
        return site / self.dist_info
