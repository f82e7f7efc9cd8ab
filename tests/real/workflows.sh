#!/usr/bin/env bash
# workflows.sh DIST [TREE]: every `run:` step of the generated workflows' Linux jobs, in order, in a Debian 12 where nothing of sagekit's
# is but the wheel that the steps install with pip: from a pull request, from a tag to a release, and the script that Windows runs.
# DIST: what scripts/packages made. TREE: kept for the next time. Needs root, mmdebstrap, cmake, ninja and a CUDA toolkit (CUDA, default
# /usr/local/cuda), which is mounted. Nothing in the tree reaches a network but its own loopback.
# shellcheck disable=SC2016
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
dist=$(realpath -- "$1") tree=$(realpath -m -- "${2:-/var/tmp/sagekit-trees/bookworm-workflows}")
cuda=$(realpath -- "${CUDA:-/usr/local/cuda}")
work=$(mktemp -d /var/tmp/sagekit-workflows.XXXXXX)
trap 'rm -rf -- "$work"' EXIT
if [ ! -d "$tree" ]; then
  mmdebstrap --variant=apt --include=python3-venv,python3-dev,python3-yaml,python3-setuptools,python3-wheel,g++,git,gh,openssl,iproute2 \
    bookworm "$tree.part" "${MIRROR:-http://deb.debian.org/debian}" > "$tree.log" 2>&1 || { tail "$tree.log" >&2; exit 1; }
  mv "$tree.part" "$tree"
fi
mkdir -p "$work/in" "$work/prefix" "$work/up" "$work/over" "$work/root"
cp "$dist"/sagekit-*.whl "$work/in/"
tar -C "$work/prefix" --strip-components=1 -xzf "$(echo "$dist"/sagekit-*.tar.gz)"
cmake -S "$source/examples/plugin" -B "$work/plugin" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/log"
cmake --build "$work/plugin" >> "$work/log"
cp "$work"/plugin/lib/sagekit/plugins/sagekit-example.so "$work/in/"
chmod -R go-w "$work/in"
unshare --mount --net --pid --fork -- bash -euc '
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/up,workdir=$2/over" "$2/root"
  root=$2/root
  mkdir -p "$root/in" "$root/source" "$root/usr/local/cuda"
  mount --bind "$2/in" "$root/in"; mount --bind -o ro "$3" "$root/source"; mount --bind "$4" "$root/usr/local/cuda"
  mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
  ip link set lo up
  exec env -i PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" /bin/bash -euc "$5"
' bash "$tree" "$work" "$source" "$cuda" '
  echo "127.0.0.1 localhost" > /etc/hosts
  python3 -m venv /venv; /venv/bin/pip install -q --no-index /in/sagekit-*.whl
  export SAGEKIT=/venv/bin/sagekit SAGEKIT_EXAMPLES=/in SAGEKIT_SOURCE_DIR=/source SAGEKIT_TEST_WHEELS=/in PYTHONDONTWRITEBYTECODE=1
  cd /tmp
  python3 /source/tests/cli/generate_github_test.py -v
  python3 /source/tests/cli/generate_windows_test.py -v'
