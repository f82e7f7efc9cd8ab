#!/usr/bin/env bash
# A wheel by sagekit and by upstream's own setup.py, in one run: wall, CPU, largest process.
# build_against_upstream.sh SAGEKIT PLUGIN CAPABILITY SOURCE_DIR PYTHON [--vendored cutlass=DIR]
# SOURCE_DIR: a checked-out or pruned copy of the pinned source. PYTHON can import torch. About 20 CPU minutes each for sage2.
set -euo pipefail
sagekit=$1 plugin=$2 capability=$3 source=$4 python=$5; shift 5
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
minor=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$sagekit" --plugin "$plugin" build --profile current --python "$minor" --cuda "$("$python" -c 'import torch; print(torch.version.cuda)')" \
  --torch "$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')" --arch "$capability" --source "$source" "$@" \
  --store "$work/store" -o "$work/dist" --json -q |
  "$python" -c 'import json, sys; b = json.load(sys.stdin); print("sagekit:  wall %.1f s, CPU %.1f s, largest process %.2f GB" % (b["wall_seconds"], b["cpu_seconds"], b["peak_memory_bytes"] / 1e9))'
cp -r "$source" "$work/reference"
chmod -R u+w "$work/reference"
subdir=.; [ "$plugin" = sage3 ] && subdir=sageattention3_blackwell
for pair in "$@"; do case $pair in cutlass=*) mkdir -p "$work/reference/$subdir/csrc"; cp -r "${pair#*=}" "$work/reference/$subdir/csrc/cutlass";; esac; done
"$here/../tests/real/upstream_reference.sh" "$work/reference/$subdir" "$python" "$capability" "$work/upstream"
