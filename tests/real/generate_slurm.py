#!/usr/bin/env python3
"""The generated Slurm jobs on a real cluster of one machine: slurmctld and two slurmds of Debian on loopback. Both shards build into one
store, a node is lost in the middle and its task runs again, and the wheel has the bytes of a local build. Needs root, slurm-wlm and
munge, and nvcc. SAGEKIT: the program; SAGEKIT_EXAMPLES: folder with the example plugin. Words: the parts to run (as_it_is, lost,
nowhere, build_in, speed); without them all."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SAGEKIT, EXAMPLES = os.environ["SAGEKIT"], os.environ["SAGEKIT_EXAMPLES"]

CONF = """ClusterName=sage
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=@/state
SlurmdSpoolDir=@/spool-%n
SlurmctldPidFile=@/run/slurmctld.pid
SlurmdPidFile=@/run/slurmd-%n.pid
SlurmctldLogFile=@/log/slurmctld.log
SlurmdLogFile=@/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdTimeout=5
ReturnToService=2
MpiDefault=none
KillWait=2
MinJobAge=300
PropagateResourceLimits=NONE
NodeName=n[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    def __init__(self, folder):
        self.folder, self.running = folder, {}
        for name in ("state", "run", "log", "spool-n1", "spool-n2"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CONF.replace("@", str(folder)))
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        pathlib.Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        if not pathlib.Path("/run/munge/munge.socket.2").exists():
            self.start("munged", "runuser", "-u", "munge", "--", "/usr/sbin/munged", "--foreground", "--force")
            time.sleep(1)
        self.start("slurmctld", "slurmctld", "-D")
        self.start_node("n1")
        self.start_node("n2")
        self.until(lambda: self.out("sinfo", "-h", "-o", "%T").split() == ["idle"], "nodes that are idle")

    def start(self, name, *words):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def start_node(self, name):
        self.start(name, "slurmd", "-D", "-N", name)

    def out(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True).stdout

    def until(self, holds, what, seconds=180):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"no {what}: {self.out('sinfo')} {self.out('squeue')}")
            time.sleep(0.2)

    def jobs(self):
        return [line.split() for line in self.out("squeue", "-h", "-r", "-o", "%i %T %N").splitlines()]

    def end(self):
        self.out("scancel", "--user=root")
        for process in reversed(self.running.values()):
            try:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


def parent(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def sha256(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.whl"))}


def words(*more):
    return [SAGEKIT, "--plugin-dir", EXAMPLES, "--plugin", "example", *more, "--source", SOURCE / "examples" / "plugin" / "source"]


def generate(folder, *more, cpus=1):
    folder.mkdir()
    subprocess.run(words("generate", "slurm", "--shards", "2", "--cpus", str(cpus), "-o", folder, *more), check=True)


def finished(cluster, job):
    said = cluster.out("scontrol", "show", "job", job)
    return "JobState=COMPLETED" in said and "JobState=FAILED" not in said


def submit(cluster, folder, **variables):
    environment = cluster.environment | {"SAGEKIT": SAGEKIT} | variables
    return subprocess.run([folder / "submit.sh"], env=environment, check=True, capture_output=True, text=True).stdout.strip()


def logs_of(folder):
    return "".join(path.read_text() for path in sorted((folder / "logs").glob("*")))


def as_it_is(cluster, folder, local):
    """Both shards, then the wheel."""
    generate(folder / "jobs")
    began = time.monotonic()
    job = submit(cluster, folder / "jobs")
    cluster.until(lambda: not cluster.jobs(), "end of the jobs")
    assert finished(cluster, job), logs_of(folder / "jobs")
    assert sha256(folder / "jobs" / "dist") == sha256(local), (sha256(folder / "jobs" / "dist"), sha256(local), logs_of(folder / "jobs"))
    print(f"two shards and the wheel: {time.monotonic() - began:.0f} s, the local build's bytes")


def lost(cluster, folder, local):
    """A node dies in the middle: Slurm requeues its task, which goes on from the store. The compiler's stand-in waits."""
    generate(folder / "lost")
    slow = folder / "slow"
    slow.write_text(f'#!/bin/sh\nif [ -e "{folder}/hold" ] && [ "$SLURM_ARRAY_TASK_ID" = 2 ]; then echo $$ > "{folder}/reached"; exec sleep 600; fi\nexec "{SAGEKIT}" "$@"\n')
    slow.chmod(0o755)
    (folder / "hold").touch()
    job = submit(cluster, folder / "lost", SAGEKIT=str(slow))
    cluster.until(lambda: (folder / "reached").exists() and (folder / "reached").read_text().strip(), "second task")
    node = next(row[2] for row in cluster.jobs() if row[0].endswith("_2"))
    # The whole node: its daemon, and what ran on it.
    os.killpg(cluster.running[node].pid, signal.SIGKILL)
    task = int((folder / "reached").read_text())
    script = parent(task)
    for process in (parent(script), script, task):  # slurmstepd first: nobody is to tell how the task ended
        os.kill(process, signal.SIGKILL)
    (folder / "hold").unlink()
    cluster.until(lambda: "down" in cluster.out("sinfo", "-h", "-N", "-o", "%N %T"), "node that is down")
    cluster.until(lambda: any(row[0].endswith("_2") and row[1] == "PENDING" for row in cluster.jobs()) or not cluster.jobs(), "task that waits again")
    cluster.start_node(node)
    cluster.until(lambda: not cluster.jobs(), "end of the jobs", 400)
    assert finished(cluster, job), logs_of(folder / "lost")
    assert sha256(folder / "lost" / "dist") == sha256(local), logs_of(folder / "lost")
    print(f"node {node} was killed while its task ran: it ran again, and the wheel has the local build's bytes")


def nowhere(cluster, folder, local):
    """A partition that is not there."""
    generate(folder / "nowhere", "--partition", "gone")
    done = subprocess.run([folder / "nowhere" / "submit.sh"], env=cluster.environment | {"SAGEKIT": SAGEKIT}, capture_output=True, text=True)
    assert done.returncode != 0 and "invalid partition" in done.stderr.lower(), done
    print("a partition that is not there: " + done.stderr.strip().splitlines()[-1])


def build_in(cluster, folder, local):
    """One command: generated, run and collected, with a local build's document; a second one runs no step."""
    work = folder / "in"
    work.mkdir()
    for _ in range(2):
        done = subprocess.run([*words("build", "--in", "slurm"), "--shards", "2", "--cpus", "1", "--store", folder / "store-in", "-o", work / "dist", "--json"],
                              env=cluster.environment, cwd=work, capture_output=True, text=True)
        assert done.returncode == 0, done
        said = json.loads(done.stdout)
        assert said["schema"] == "sagekit.build/1" and [pathlib.Path(w["path"]).name for w in said["wheels"]] == list(sha256(local)), done.stdout
        assert sha256(work / "dist") == sha256(local), done
    left = [path.name for path in work.iterdir() if path.name != "dist"]
    assert not left, left
    done = subprocess.run([*words("build", "--in", "slurm"), "--partition", "gone", "-o", work / "other"], env=cluster.environment, cwd=work, capture_output=True, text=True)
    assert done.returncode == 3 and "invalid partition" in done.stderr.lower() and not (work / "other").exists(), done
    print("build --in slurm: the local build's bytes and document, twice; a partition that is not there ends 3")


# Stands in for a shard's compilers: it waits as long as the plan says the shard takes (GPU code that its steps share is made once), much faster.
SIMULATED = """#!/usr/bin/env python3
import json, subprocess, sys, time
words = sys.argv[1:]
shard, jobs = (words[words.index(flag) + 1] for flag in ("--shard", "--jobs"))
mine = json.loads(subprocess.run([{sagekit!r}, "--plugin", "sage2", "plan", "--profile", "current", "--shards", shard.split("/")[1], "--shard",
                                  shard.split("/")[0], "--json", "--offline"], check=True, capture_output=True).stdout)["shards"][0]
assert mine["steps"]
time.sleep(mine["cpu_seconds_estimate"] / int(jobs) / {faster})
"""


def speed(cluster, folder, local):
    """sage2's fifty cells in eight shards, on two nodes and on one, with compilers that wait."""
    selection = [SAGEKIT, "--plugin", "sage2", "generate", "slurm", "--profile", "current", "--shards", "8", "--cpus", "2"]
    shards = json.loads(subprocess.run([SAGEKIT, "--plugin", "sage2", "plan", "--profile", "current", "--shards", "8", "--json", "--offline"], check=True, capture_output=True).stdout)["shards"]
    simulated = folder / "simulated"
    all_of_them = sum(shard["cpu_seconds_estimate"] for shard in shards)
    simulated.write_text(SIMULATED.format(sagekit=SAGEKIT, faster=all_of_them / 2 / 240))
    simulated.chmod(0o755)
    seconds = {}
    for nodes in (2, 1):
        if nodes == 1:
            cluster.out("scontrol", "update", "NodeName=n2", "State=drain", "Reason=one")
        jobs = folder / f"nodes{nodes}"
        subprocess.run([*selection, "-o", jobs], check=True)
        (jobs / "logs").mkdir()
        began = time.monotonic()
        array = subprocess.run(["sbatch", "--parsable", "build.sbatch"], cwd=jobs, env=cluster.environment | {"SAGEKIT": str(simulated)}, check=True, capture_output=True, text=True).stdout
        cluster.until(lambda: not cluster.jobs(), "end of the jobs", 900)
        seconds[nodes] = time.monotonic() - began
        assert finished(cluster, array.strip()), logs_of(jobs)
    cluster.out("scontrol", "update", "NodeName=n2", "State=resume")
    print(f"{sum(len(shard['steps']) for shard in shards)} compilations in 8 shards: one node {seconds[1]:.0f} s, two {seconds[2]:.0f} s: {seconds[1] / seconds[2]:.2f} times as fast")


PARTS = {part.__name__: part for part in (as_it_is, lost, nowhere, build_in, speed)}


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm"))
    local = folder / "local"
    if sys.argv[1:] != ["speed"]:
        subprocess.run([*words("build"), "--store", folder / "store-local", "-o", local], check=True, capture_output=True)
    cluster = Cluster(folder)
    try:
        for name in sys.argv[1:] or PARTS:
            PARTS[name](cluster, folder, local)
    finally:
        cluster.end()
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
