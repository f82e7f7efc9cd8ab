#!/usr/bin/env bash
# generate_docker.sh BUILD WHEEL: a dockerd of its own and buildx, without a registry: `bake` of the example's target and `build --in docker`
# give the local build's bytes. The base image is made of Debian under the name that the files use.
#
#   BUILD: a build tree; WHEEL: sagekit's own wheel (scripts/packages)
#
# Needs root, mmdebstrap, nvcc, dockerd, docker and runc on PATH, BUILDX: docker-buildx (Debian 13 has them all), the network of the
# package index.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1") wheel=$(realpath "$2") buildx=$(realpath "${BUILDX:-/usr/libexec/docker/cli-plugins/docker-buildx}")
work=${WORK:-$(mktemp -d)}
mkdir -p "$work/config/cli-plugins"
cp "$buildx" "$work/config/cli-plugins/docker-buildx"
export DOCKER_HOST=unix://$work/docker.sock DOCKER_CONFIG=$work/config
# A machine that may not raise limits needs them said.
echo '{"default-ulimits":{"nofile":{"Name":"nofile","Soft":20000,"Hard":20000}}}' > "$work/daemon.json"
dockerd --config-file "$work/daemon.json" --storage-driver=overlay2 -H "$DOCKER_HOST" --data-root "$work/root" --exec-root "$work/exec" \
  --pidfile "$work/pid" > "$work/dockerd.log" 2>&1 &
daemon=$!
trap 'kill "$daemon" 2> /dev/null || true; wait' EXIT
until docker version > /dev/null 2>&1; do
  kill -0 "$daemon" 2> /dev/null || { echo "dockerd ended:"; tail -n 3 "$work/dockerd.log"; exit 1; }
  sleep 1
done
if ! docker image inspect debian:12-slim > /dev/null 2>&1; then
  [ -d "$work/debian" ] || mmdebstrap --variant=apt --include=ca-certificates,g++,git,python3,python3-venv bookworm "$work/debian"
  # The machine's own certificates and index.
  cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$work/debian/etc/"
  cp /etc/apt/sources.list.d/* "$work/debian/etc/apt/sources.list.d/" 2>/dev/null || true
  tar -C "$work/debian" -c . | docker import - debian:12-slim > /dev/null
fi
example=("$build/bin/sagekit" --plugin-dir "$build/tests/example" --plugin example)
source=$here/examples/plugin/source
sum() { sha256sum "$1"/*.whl | cut -d' ' -f1; }
rm -rf "$work/local" "$work/store-local" "$work/store" "$work/files" "$work/there"
"${example[@]}" build --source "$source" --store "$work/store-local" -o "$work/local" --json > "$work/local.json"

"${example[@]}" generate bake --sagekit "$wheel" --source source -o "$work/files"
cp -r "$source" "$work/files/source"
(cd "$work/files" && docker buildx bake --progress plain example-default > "$work/bake.log" 2>&1) || { tail -n 20 "$work/bake.log"; exit 1; }
[ "$(sum "$work/files/dist")" = "$(sum "$work/local")" ] || { echo "bake: other bytes than a local build"; exit 1; }
echo "bake: the local build's bytes"

"${example[@]}" build --in docker --sagekit "$wheel" --source "$source" --store "$work/store" -o "$work/there" --json > "$work/there.json"
[ "$(sum "$work/there")" = "$(sum "$work/local")" ] || { echo "build --in docker: other bytes than a local build"; exit 1; }
python3 - "$work/local.json" "$work/there.json" <<'PY'
import json, sys
local, there = (json.load(open(path)) for path in sys.argv[1:])
assert there["steps"] == local["steps"], (there["steps"], local["steps"])
print(f"build --in docker: the local build's bytes; CPU {there['cpu_seconds']:.1f} s, here {local['cpu_seconds']:.1f} s")
PY
