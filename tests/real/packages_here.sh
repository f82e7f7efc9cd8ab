#!/usr/bin/env bash
# packages_here.sh DIST EXAMPLE SOURCE: what scripts/packages made, on this machine as it stands and without a network (packages.sh
# tries it in bare trees): the tarball, and the wheel by pip in a fresh environment of PYTHON (default python3): --version, plans,
# inspect, verify, and the example's build. EXAMPLE: sagekit-example.so, made with the package; SOURCE: examples/plugin/source.
# The build needs nvcc, g++ and Python's headers.
set -euo pipefail
dist=$(realpath -- "$1") example=$(realpath -- "$2") source=$(realpath -- "$3") python=${PYTHON:-python3}
wheel=$(echo "$dist"/sagekit-*.whl) tarball=$(echo "$dist"/sagekit-*.tar.gz)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

try() {  # try HOW PROGRAM: each step's words are printed, the first that fails ends it
  local sagekit=$2
  export SAGEKIT_STORE=$work/store-$1
  echo "== $1"
  "$sagekit" --version
  for plugin in sage2 sage2-stable sage3 sm121; do "$sagekit" --plugin $plugin plan > "$work/plan" && head -2 "$work/plan"; done
  "$sagekit" inspect --json "$wheel" | grep -o manylinux_2_28 | head -1
  "$sagekit" verify "$wheel"
  "$sagekit" --plugin "$example" build --offline --source "$source" -o "$work/$1"
  "$sagekit" verify "$work/$1"/*.whl
  (cd "$work/$1" && sha256sum ./*.whl)
}

mkdir "$work/it"
tar -C "$work/it" --strip-components=1 -xzf "$tarball"
try tarball "$work/it/bin/sagekit"
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q --no-index "$wheel"
try wheel "$work/venv/bin/sagekit"
"$work/venv/bin/python" -m sagekit --version
echo "all passed on $(. /etc/os-release && echo "$PRETTY_NAME"), $(getconf GNU_LIBC_VERSION)"
