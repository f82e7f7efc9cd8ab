#!/usr/bin/env python3
"""What `docker buildx bake --print` says of every group of a generated bake file, against the plan of its profile. Bake passes
unknown attributes in silence, so what it prints is compared whole. SAGEKIT: the program; BUILDX: docker-buildx (no daemon)."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SAGEKIT, BUILDX = os.environ["SAGEKIT"], os.environ["BUILDX"]


def out(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options).stdout


def plan(plugin, profile):
    return json.loads(out(SAGEKIT, "--plugin", plugin, "plan", "--profile", profile, "--json", "--offline"))


def expected(plugin, profile, cell):
    return {"context": ".", "dockerfile": "Dockerfile.sagekit", "output": ["type=local,dest=dist"],
            "args": {"PLUGIN": plugin, "PROFILE": profile, "CELL": re.sub(r"(-sm\d+[a-z]*)+$", "", cell["id"]) + "*", "PLATFORM": cell["platform"], "TORCH_CUDA_ARCH_LIST": ""}}


def stages(text):
    return set(re.findall(r"^FROM \S+ AS (\S+)$", text, re.M))


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    plugins = ("sage2", "sage2-stable", "sage3", "sm121")
    made = json.loads(out(SAGEKIT, *(word for name in plugins for word in ("--plugin", name)), "generate", "bake", "-o", folder, "--json"))
    left_out = set(re.findall(r"(\S+) \(", " ".join(made["notes"])))
    known = stages((folder / "Dockerfile.sagekit").read_text())
    compared = 0
    for plugin in plugins:
        shown = json.loads(out(SAGEKIT, "plugin", "show", plugin, "--json"))
        for profile in [row["name"] for row in shown["profiles"]]:
            group = profile if profile.startswith(plugin + "-") else f"{plugin}-{profile}"
            cells = [cell for cell in plan(plugin, profile)["cells"] if cell["id"] not in left_out]
            if not cells:
                assert f'group "{group}"' not in (folder / "docker-bake.hcl").read_text(), group
                continue
            printed = json.loads(out(BUILDX, "bake", "-f", folder / "docker-bake.hcl", "--print", group, cwd=folder))
            names = [re.sub(r"[^A-Za-z0-9_-]", "_", cell["id"]) for cell in cells]
            assert printed["group"][group]["targets"] == names, (group, printed["group"], names)
            assert sorted(printed["target"]) == sorted(names), group
            for name, cell in zip(names, cells):
                target = printed["target"][name]
                stage = target.pop("target")
                assert stage in known and (stage == "wheels" or stage.startswith("wheels-cu" + cell["cuda"].replace(".", ""))
                                           or int(cell["cuda"].split(".")[0]) >= 13), (name, stage)
                # The profile is the first that has the cell: it must plan the same cell.
                owner = target["args"]["PROFILE"]
                assert target == expected(plugin, owner, cell), (target, expected(plugin, owner, cell))
                assert owner == profile or cell in plan(plugin, owner)["cells"], (name, owner)
                compared += 1
    # The cache and the folder are variables.
    one = json.loads(out(BUILDX, "bake", "-f", folder / "docker-bake.hcl", "--print", "sage2-default", cwd=folder,
                         env=os.environ | {"CACHE_FROM": "type=local,src=c", "CACHE_TO": "type=local,dest=c", "DEST": "elsewhere",
                                           "TORCH_CUDA_ARCH_LIST": "8.6 9.0 12.0+PTX"}))
    target = next(iter(one["target"].values()))
    assert (target["cache-from"], target["cache-to"], target["output"]) == (["type=local,src=c"], ["type=local,dest=c"], ["type=local,dest=elsewhere"])
    assert target["args"]["TORCH_CUDA_ARCH_LIST"] == "8.6 9.0 12.0+PTX"
    print(f"{compared} targets are as the plans say")
    return 0 if compared > 20 else 1


if __name__ == "__main__":
    sys.exit(main())
