#!/usr/bin/env bash
# `sagekit install --or-build` of sage2 with nothing in the store, to a numeric gate that passed; then upstream's own
# `pip install --no-build-isolation .` of the same source: wall and CPU of both. For the folder that or_build_carry.sh made.
#
# Usage: or_build.sh OUT [ours|upstream|both]   PYTHON=python3, the one with torch; it is installed into
#
# Needs a GPU, CUDA's toolkit, torch, g++ and Python's headers; no network. Exit 0 when the gate passed and upstream's
# package was installed. Upstream's variables (MAX_JOBS, EXT_PARALLEL, NVCC_APPEND_FLAGS) are taken from the environment;
# without them those of its README are used.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd) which=${2:-both}
python=$(command -v "${PYTHON:-python3}")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
tar -xJf "$here/all.tar.xz" -C "$work" || exit 2
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# timed NAME COMMAND...: runs it, its output to OUT/NAME.out and .err; prints and keeps wall and CPU, children included.
timed() {
  local name=$1
  shift
  "$python" - "$out/$name" "$@" <<'END'
import json, resource, subprocess, sys, time
name, command = sys.argv[1], sys.argv[2:]
begin = time.time()
with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err:
    code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err).returncode
use = resource.getrusage(resource.RUSAGE_CHILDREN)
row = {"exit": code, "wall_seconds": round(time.time() - begin, 1), "cpu_seconds": round(use.ru_utime + use.ru_stime, 1), "largest_process_gb": round(use.ru_maxrss / 1e6, 2)}
json.dump(row, open(name + ".time.json", "w"))
print(name.rsplit("/", 1)[1], row, flush=True)
sys.exit(min(code, 125) if code >= 0 else 125)
END
}

ours() {
  "$python" -m pip uninstall -y -q sageattention 2>/dev/null
  timed ours "$work/bin/sagekit" --plugin sage2 install --or-build --source "$work/source.tar" --store "$work/store" --interpreter "$python" --json
  local code=$?
  tail -5 "$out/ours.err"
  [ $code -eq 0 ] || return 1
  "$python" - "$out/ours.out" <<'END'
import json, sys
said = json.load(open(sys.argv[1]))
gate = [code for code in said["passed"] if code.startswith("RUN1")]
print(said["package"], said["version"], "installed by", said["installer"], "passed:", " ".join(said["passed"]), "not tried:", said["untried"])
sys.exit(0 if gate and not said["untried"] else 1)
END
}

upstream() {
  "$python" -m pip uninstall -y -q sageattention 2>/dev/null
  mkdir "$work/upstream"
  tar -xf "$work/source.tar" -C "$work/upstream"
  export EXT_PARALLEL=${EXT_PARALLEL:-4} NVCC_APPEND_FLAGS=${NVCC_APPEND_FLAGS:---threads 8} MAX_JOBS=${MAX_JOBS:-32}
  timed upstream "$python" -m pip install --no-build-isolation --no-deps "$work/upstream" || { tail -20 "$out/upstream.err" "$out/upstream.out"; return 1; }
  "$python" -c 'import sageattention._fused; print("upstream: imports")'
}

nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>/dev/null
nproc
code=0
if [ "$which" != upstream ]; then ours || { code=1; echo "ours: THE GATE DID NOT PASS"; }; fi
if [ "$which" != ours ]; then upstream || code=1; fi
exit $code
