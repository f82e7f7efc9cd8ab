#!/usr/bin/env bash
# The generated builder with real engines, without a registry: base images are made of Debian under the names that the files use. The
# example's wheel from `build --in` buildah and podman, and from a multi-stage build, has the bytes of a local build. Linters find
# nothing in what is generated (generate_lint.sh).
#
#   generate_containers.sh BUILD [WHEEL]     BUILD: a build tree; WHEEL: sagekit's own wheel, else one is made of the tree
#
# Needs root, mmdebstrap, buildah, podman, runc, the network of the package index.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1")
sagekit=$build/bin/sagekit
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
example=(--plugin-dir "$build/tests/example" --plugin example)

# crun takes no hybrid cgroups; a machine that may not raise limits needs them said.
cat > "$work/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
netns = "host"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
cat > "$work/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$work/graph"
runroot = "$work/run"
CONF
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=oci BUILDAH_RUNTIME=runc
export SAGEKIT_STORE=$work/store

if ! podman image exists docker.io/library/debian:12-slim; then
  [ -d "$work/debian" ] || mmdebstrap --variant=apt --include=ca-certificates,g++,git,python3,python3-venv,libfmt9,libboost-filesystem1.74.0,libdeflate0,libnettle8,libre2-9,libzstd1,liblz4-1,libcurl4,libzip4,libarchive13,libmicrohttpd12 bookworm "$work/debian"
  # The machine's own certificates and index.
  cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$work/debian/etc/"
  cp /etc/apt/sources.list.d/* "$work/debian/etc/apt/sources.list.d/" 2>/dev/null || true
  tar -C "$work/debian" -c . | podman import - docker.io/library/debian:12-slim
fi
if ! podman image exists docker.io/library/python:3.11-slim-bookworm; then
  mkdir -p "$work/python/usr/local/include"
  cp -r /usr/include/python3.11 "$work/python/usr/local/include/"
  cp /usr/include/x86_64-linux-gnu/python3.11/pyconfig.h "$work/python/usr/local/include/python3.11/"
  tar -C "$work/python" -c . | podman import - docker.io/library/python:3.11-slim-bookworm
fi
wheel=${2:-$(python3 "$here/tests/real/wheel_of_build.py" "$build" "$work")}

source=$here/examples/plugin/source
rm -rf "$work/store-local" "$work/local"
"$sagekit" "${example[@]}" build --source "$source" --store "$work/store-local" -o "$work/local" --json > "$work/local.json"
sum() { sha256sum "$1"/*.whl | cut -d' ' -f1; }
want=$(sum "$work/local")
for engine in buildah podman; do
  rm -rf "$work/store" "$work/dist-$engine"
  "$sagekit" "${example[@]}" build --in "$engine" --sagekit "$wheel" --source "$source" -o "$work/dist-$engine" --json > "$work/$engine.json" 2> "$work/$engine.log" || { tail -20 "$work/$engine.log"; exit 1; }
  [ "$(sum "$work/dist-$engine")" = "$want" ] || { echo "$engine: other bytes than a local build"; exit 1; }
  python3 - "$work/local.json" "$work/$engine.json" "$engine" <<'PY'
import json, sys
local, there = (json.load(open(path)) for path in sys.argv[1:3])
assert there["schema"] == "sagekit.build/1" and there["steps"] == local["steps"], (there, local)
assert [w["sha256"] for w in there["wheels"]] == [w["sha256"] for w in local["wheels"]]
print(f"{sys.argv[3]}: the local build's bytes; CPU {there['cpu_seconds']:.1f} s, here {local['cpu_seconds']:.1f} s: ratio {there['cpu_seconds'] / local['cpu_seconds']:.2f}")
PY
  # The next image is made of the layers of this one.
  "$sagekit" "${example[@]}" build -v --in "$engine" --sagekit "$wheel" --source "$source" -o "$work/dist-$engine" > "$work/$engine.again" 2>&1
  [ "$(grep -c "Using cache" "$work/$engine.again")" -ge "$(grep -c "STEP [0-9/]*: RUN" "$work/$engine.again")" ] ||
    { echo "$engine: the image was made anew"; tail -20 "$work/$engine.again"; exit 1; }
  # What fails there fails here, with the same code.
  code=0
  "$sagekit" "${example[@]}" build --in "$engine" --sagekit "$wheel" --source "$source" --cells 'nothing*' -o "$work/none" 2> "$work/none.log" || code=$?
  [ "$code" = 4 ] || { echo "$engine: exit $code and not 4"; exit 1; }
done

mkdir -p "$work/files/source"
"$sagekit" "${example[@]}" generate dockerfile --sagekit "$wheel" --source source -o "$work/files"
cp -r "$source/." "$work/files/source/"
buildah build --layers --target wheels --output "type=local,dest=$work/dist-stages" "$work/files" > "$work/stages.log" 2>&1 || { tail -20 "$work/stages.log"; exit 1; }
[ "$(sum "$work/dist-stages")" = "$want" ] || { echo "stages: other bytes than a local build"; exit 1; }
echo "stages: the local build's bytes"

"$here/tests/real/generate_lint.sh" "$sagekit"
