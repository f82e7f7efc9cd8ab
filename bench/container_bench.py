#!/usr/bin/env python3
"""What a build in a container costs over the same build here: container_bench.py SAGEKIT WHEEL ENGINE STORE PAIRS -- WORDS...

SAGEKIT is the program that was installed from WHEEL, so both builds run the same bytes; STORE has the toolchains in it (`sagekit
toolchain fetch --store STORE`), and nothing else of it is used. WORDS choose what is built: --plugin sage2 --arch 8.6 --source DIR.

PAIRS times it is built from an empty store, here and in ENGINE, both at the same time, a step at a time each: what else runs on the
machine makes CPU time dearer by a tenth and more, and so it does for both. (In turn, the same build here took 15.0 to 16.4 CPU-s, and
the ratio of two neighbours was anything from 0.90 to 1.12.) Counted is the CPU time of everything: the program, its compilers, docker's
daemon, the container's processes and what starts them, by cgroups. A daemon is counted when it was started from the one below:

  mkdir -p /sys/fs/cgroup/cpuacct/sagekit-bench-there; echo $$ > .../cgroup.procs; dockerd ... &

Layers of the image are there after a first build that is not counted, as for whoever builds twice. Root; Linux's cgroup v1 or v2.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path("/sys/fs/cgroup")
V1 = (ROOT / "cpuacct").is_dir()
BASE = ROOT / "cpuacct" if V1 else ROOT
# A container gets a share of the CPU by its own; so does the build here, or the others would push it about more.
SHARES = [ROOT / "cpu"] if V1 and not (ROOT / "cpu").samefile(BASE) else []
HERE, THERE = BASE / "sagekit-bench-here", BASE / "sagekit-bench-there"
GROUPS = {HERE: [HERE], THERE: [THERE, BASE / "docker", BASE / "libpod_parent"]}  # where docker and podman put their containers


def cpu_seconds(group):
    """Of all that ever ran in it, ended processes and removed groups below it included."""
    total = 0.0
    for one in GROUPS[group]:
        if V1 and one.exists():
            total += int((one / "cpuacct.usage").read_text()) / 1e9
        elif one.exists():
            total += int((one / "cpu.stat").read_text().split()[1]) / 1e6
    return total


def enter(group):
    for folder in [group, *(share / group.name for share in SHARES)]:
        (folder / "cgroup.procs").write_text(str(os.getpid()))


class Build:
    """One that runs, in a cgroup, from an empty store."""

    def __init__(self, group, words, template, folder):
        self.group, self.folder = group, folder / group.name
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "store").mkdir(parents=True)
        subprocess.run(["cp", "-al", template / "toolchains", self.folder / "store"], check=True)
        self.before = cpu_seconds(group)
        self.process = subprocess.Popen([*words, "--store", self.folder / "store", "-o", self.folder / "out", "--json"], text=True, cwd=self.folder,
                                        stdout=subprocess.PIPE, stderr=(self.folder / "log").open("w"),
                                        preexec_fn=lambda: enter(group))

    def end(self):
        """(CPU seconds of everything, those that sagekit counted of its steps, hashes of the wheels)"""
        said = self.process.communicate()[0]
        if self.process.returncode != 0:
            sys.exit(f"{self.group.name}: exit {self.process.returncode}\n{(self.folder / 'log').read_text()}")
        said = json.loads(said)
        return cpu_seconds(self.group) - self.before, said["cpu_seconds"], sorted(wheel["sha256"] for wheel in said["wheels"])


def main(arguments):
    at = arguments.index("--")
    sagekit, wheel, engine, template, pairs = arguments[:at]
    template, words = pathlib.Path(template).absolute(), arguments[at + 1:]
    build = [pathlib.Path(sagekit).absolute(), "build", *words, "--jobs", "1"]
    for folder in (HERE, THERE, *(share / group.name for share in SHARES for group in (HERE, THERE))):
        folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.environ.get("WORK")) as name:
        folder = pathlib.Path(name)

        def here():
            return Build(HERE, [*build, "--toolchain", "wheels"], template, folder)

        def there():
            return Build(THERE, [*build, "--in", engine, "--sagekit", pathlib.Path(wheel).absolute()], template, folder)

        there().end()  # the image's layers
        rows = []
        for number in range(int(pairs)):
            both = [start() for start in ((here, there) if number % 2 == 0 else (there, here))]
            results = {one.group: one.end() for one in both}
            (all_here, steps_here, wheels_here), (all_there, steps_there, wheels_there) = results[HERE], results[THERE]
            assert wheels_here == wheels_there, f"other bytes: {wheels_here} {wheels_there}"
            rows.append((all_there / all_here, steps_there / steps_here, (all_there - steps_there) - (all_here - steps_here)))
            print(f"pair {number + 1}: here {all_here:.2f} CPU-s (its steps {steps_here:.2f}), {engine} {all_there:.2f} ({steps_there:.2f}): "
                  f"{rows[-1][0]:.3f}", flush=True)
    ratios, steps, rest = zip(*rows)
    print(f"{engine} over here, same bytes: median {statistics.median(ratios):.3f} of {min(ratios):.3f} to {max(ratios):.3f}; "
          f"the steps alone {statistics.median(steps):.3f}; around them {statistics.median(rest):.2f} CPU-s more")


if __name__ == "__main__":
    main(sys.argv[1:])
