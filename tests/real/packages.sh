#!/usr/bin/env bash
# packages.sh DIST [TREES]: what scripts/packages made, in Debian 11, 12 and 13 trees where nothing of sagekit's is: bare ones (no
# Python, no libcurl, no compiler, no apt) and ones with Python, its headers and g++. Needs root, mmdebstrap, cmake and ninja; for
# the example's build a CUDA toolkit (CUDA, default /usr/local/cuda) that is mounted into the trees; for `uv` the program on PATH.
# TREES keeps the trees for the next time. Nothing in a tree reaches a network.
# shellcheck disable=SC2016,SC2086
set -euo pipefail
cd "$(dirname "$0")/../.."
dist=$(realpath -- "$1") trees=$(realpath -m -- "${2:-/var/tmp/sagekit-trees}")
cuda=$(realpath -m -- "${CUDA:-/usr/local/cuda}")
mirror=${MIRROR:-http://deb.debian.org/debian}
wheel=$(echo "$dist"/sagekit-*.whl) tarball=$(echo "$dist"/sagekit-*.tar.gz) deb=$(echo "$dist"/sagekit_*.deb)
work=$(mktemp -d /var/tmp/sagekit-packages.XXXXXX)
trap 'rm -rf -- "$work"' EXIT
mkdir -p "$trees"
failures=0 checks=0
check() {  # check WHAT COMMAND...: runs, says, counts
  local what=$1
  shift
  checks=$((checks + 1))
  if "$@" > "$work/log" 2>&1; then echo "ok   $what"; else failures=$((failures + 1)); echo "FAIL $what"; tail -n 30 "$work/log"; fi
}

tree() {  # tree SUITE KIND: the folder of a tree, made when it is not there
  local folder=$trees/$1-$2 more=()
  [ "$2" = bare ] || more=("--include=python3-venv,python3-dev,g++")
  if [ ! -d "$folder" ]; then
    mmdebstrap --variant=essential "${more[@]}" "$1" "$folder.part" "$mirror" > "$folder.log" 2>&1 || { tail "$folder.log" >&2; return 1; }
    mv "$folder.part" "$folder"
  fi
  echo "$folder"
}

# inside TREE SCRIPT: runs it in a copy-on-write view of the tree, without network, with /in (what is tried) and /proc, /dev.
inside() {
  local over=$work/over
  rm -rf "$over"
  mkdir -p "$over/up" "$over/work" "$over/root"
  unshare --mount --net --pid --fork -- bash -euc '
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/up,workdir=$2/work" "$2/root"
    root=$2/root
    mkdir -p "$root/in" "$root/cuda"
    mount --bind "$3" "$root/in"
    [ ! -d "$4" ] || mount --bind "$4" "$root/cuda"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" /bin/bash -euc "$5"
  ' bash "$1" "$over" "$work/in" "$cuda" "$prelude$2"
}

# What is tried, and what it is tried on: sagekit's own wheel, and the example's as the package here builds it.
mkdir -p "$work/in" "$work/prefix"
cp "$wheel" "$tarball" "$deb" "$work/in/"
tar -C "$work/prefix" --strip-components=1 -xzf "$tarball"
cmake -S examples/plugin -B "$work/plugin" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/log"
cmake --build "$work/plugin" >> "$work/log"
cp "$work"/plugin/lib/sagekit/plugins/sagekit-example.so "$work/in/"
cp -r examples/plugin/source "$work/in/source"
chmod -R go-w "$work/in"
name=$(basename "$wheel")

# `! command` does not end a script under -e.
prelude='absent() { if "$@" > /dev/null 2>&1; then echo "should not be: $*"; exit 1; fi; }
'
# The same words for every way it was installed; $sagekit is the program.
try='
  "$sagekit" --version
  for plugin in sage2 sage3 sm121; do "$sagekit" plugin list | grep -q "$plugin"; "$sagekit" --plugin $plugin plan >/dev/null; done
  "$sagekit" inspect --json /in/'$name' | grep -q manylinux_2_28
  "$sagekit" verify /in/'$name'
  "$sagekit" name '$name' >/dev/null
  printf "#!/bin/sh\nset >/tmp/heard\nexit 1\n" >/usr/local/bin/docker; chmod +x /usr/local/bin/docker
  absent env DOCKER_HOST=tcp://there "$sagekit" --plugin sage2 build --in docker -o /tmp/none; grep -q "DOCKER_HOST=.tcp://there" /tmp/heard
'
for suite in bullseye bookworm trixie; do
  root=$(tree $suite bare)
  check "$suite, bare: the tarball" inside "$root" '
    absent command -v python3; absent command -v g++; absent ls /usr/lib/*/libcurl.so.4
    mkdir /opt/it && tar -C /opt/it --strip-components=1 -xzf /in/*.tar.gz; sagekit=/opt/it/bin/sagekit; '"$try"
  check "$suite, bare: the Debian package" inside "$root" 'dpkg --force-depends -i /in/*.deb; sagekit=/usr/bin/sagekit; '"$try"'
    dpkg -r sagekit; absent ls /usr/bin/sagekit'
  # A server that is not there is answered by the libcurl inside, not by one that is missing.
  check "$suite, bare: it can fetch" inside "$root" '
    mkdir /opt/it && tar -C /opt/it --strip-components=1 -xzf /in/*.tar.gz
    /opt/it/bin/sagekit resolve --from https://127.0.0.1:9/index/ --for gpu=H100 >/tmp/log 2>&1 || true
    cat /tmp/log; absent grep -q "not on this machine" /tmp/log; grep -qiE "connect|refused|reach" /tmp/log'
  root=$(tree $suite python)
  check "$suite: pip, from nothing to the first verify" inside "$root" '
    python3 -m venv /venv; start=$(date +%s.%N)
    /venv/bin/pip install -q --no-index /in/*.whl; /venv/bin/sagekit verify /in/'$name'
    echo "SECONDS $(date +%s.%N) $start" >> /in/seconds-'$suite'
    sagekit=/venv/bin/sagekit; '"$try"'
    /venv/bin/python -m sagekit --version
    ls /venv/include/sagekit/plugin.hpp /venv/lib/cmake/sagekit/sagekitConfig.cmake /venv/share/man/man1/sagekit.1
    /venv/bin/pip uninstall -q -y sagekit; absent ls /venv/bin/sagekit'
  [ ! -f "$work/in/seconds-$suite" ] || awk '{printf "     %.1f s from pip install to the end of verify\n", $2 - $3}' "$work/in/seconds-$suite"
  if [ -x "$cuda/bin/nvcc" ]; then
    check "$suite: the example is built" inside "$root" '
      python3 -m venv /venv; /venv/bin/pip install -q --no-index /in/*.whl
      export CUDA_HOME=/cuda
      /venv/bin/sagekit --plugin /in/sagekit-example.so build --offline --source /in/source -o /dist
      /venv/bin/sagekit verify /dist/*.whl'
  else
    echo "skip $suite: the example is built: no nvcc at $cuda"
  fi
done
if command -v uv > /dev/null; then
  cp "$(command -v uv)" "$work/in/uv"
  check "bookworm: uv tool install, uvx" inside "$(tree bookworm python)" '
    /in/uv --offline tool install -q --no-index /in/'$name'; /root/.local/bin/sagekit plugin list | grep -q sm121
    /in/uv --offline tool run --no-index --from /in/'$name' sagekit --version'
else
  echo "skip uv: it is not on PATH"
fi
echo "$((checks - failures)) of $checks checks passed"
[ "$failures" -eq 0 ]
