"""Wheels that say what they were built from, as sagekit's own do, and folders of them."""
import json
import pathlib

from wheels import Wheel

COMMIT = "d1a57a546c3d395b1ffcbeecc66d81db76f3b4b5"


def built(torch="2.11.0", cuda="13.0", python="3.12", commit=COMMIT, project="tiny", answer=42, edits=("edit mend-it",), platform="linux_x86_64"):
    """A wheel as sagekit's own builds are: with a sagekit.json."""
    tag = "cp" + python.replace(".", "")
    minor = ".".join(torch.split(".")[:2])
    wheel = Wheel(project, f"1.0+cu{cuda.replace('.', '')}.torch{minor}", f"{tag}-{tag}-{platform}")
    wheel.files = {f"{project}/__init__.py": f"answer = {answer}\n".encode()}
    wheel.metadata = wheel.metadata.replace("Summary:", "Requires-Python: >=3.9\nSummary:")
    said = {"schema": "sagekit.provenance/1", "sagekit": "0.1.0", "cell": f"{project}-pytorch{minor.replace('.', '')}-cu{cuda.replace('.', '')}-python{python.replace('.', '')}",
            "plugin": {"name": project, "version": "1"}, "source": {"url": "https://example.org/tiny.git", "commit": commit, "date": "2026-01-17T17:43:28Z"},
            "python": python, "torch": torch, "cuda": cuda, "platform": platform, "arches": ["9.0a"], "requires_dist": [],
            "tools": ["sagekit 0.1.0", *edits, "vendored cutlass https://example.org/cutlass commit " + "f" * 40 + " tree " + "e" * 40, "nvcc 13.0.88 identity " + "a" * 64]}
    wheel.files[f"{wheel.dist_info}/sagekit.json"] = json.dumps(said).encode()
    return wheel


def pass_all(folder):
    """Says in a folder's manifest that every wheel passes."""
    manifest = pathlib.Path(folder) / "sagekit.release.json"
    document = json.loads(manifest.read_text())
    for row in document["wheels"]:
        row["verdict"] = "pass"
    manifest.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
