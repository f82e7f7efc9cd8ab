#!/usr/bin/env bash
# Upstream's own build of one package, timed: upstream_reference.sh SOURCE_DIR PYTHON CAPABILITY OUT
# SOURCE_DIR holds setup.py. sage3's setup.py asks the GPU for its capability: a sitecustomize answers with the given one.
set -euo pipefail
source=$1 python=$2 capability=$3 out=$4
mkdir -p "$out/site"
cat > "$out/site/sitecustomize.py" <<PY
import os
if os.environ.get("REFERENCE_CAPABILITY"):
    import torch
    answer = tuple(map(int, os.environ["REFERENCE_CAPABILITY"].split(".")))
    torch.cuda.get_device_capability = lambda *a, **k: answer
PY
cd "$source"
export TORCH_CUDA_ARCH_LIST=$capability PYTHONPATH="$out/site${PYTHONPATH:+:$PYTHONPATH}"
grep -q TORCH_CUDA_ARCH_LIST setup.py || export REFERENCE_CAPABILITY=$capability
export MAX_JOBS=${MAX_JOBS:-16}
"$python" - "$python" "$out" <<'PY'
import os, resource, subprocess, sys, time
start = time.time()
code = subprocess.run([sys.argv[1], "setup.py", "bdist_wheel", "-d", sys.argv[2]], stdout=open(sys.argv[2] + "/reference.log", "w"), stderr=subprocess.STDOUT).returncode
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"upstream: exit {code}, wall {time.time() - start:.1f} s, CPU {use.ru_utime + use.ru_stime:.1f} s, largest process {use.ru_maxrss / 1e6:.2f} GB")
sys.exit(code)
PY
