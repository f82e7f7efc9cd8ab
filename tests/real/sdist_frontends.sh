#!/usr/bin/env bash
# sdist_frontends.sh DIST: pip, build, uv and cibuildwheel make a wheel of a source distribution of the example through the wheel of
# sagekit in DIST (scripts/packages), in fresh environments and without an index. Needs nvcc, g++, cmake, ninja; pyproject-build, uv and
# cibuildwheel where they are on PATH.
set -euo pipefail
cd "$(dirname "$0")/../.."
dist=$(realpath -- "$1")
work=$(mktemp -d /var/tmp/sagekit-frontends.XXXXXX)
trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
export SAGEKIT_STORE=$work/store PIP_NO_INDEX=1 PIP_FIND_LINKS=$dist PIP_DISABLE_PIP_VERSION_CHECK=1
export UV_OFFLINE=1 UV_NO_INDEX=1 UV_FIND_LINKS=$dist UV_CACHE_DIR=$work/uv TORCH_CUDA_ARCH_LIST=9.0
failures=0
check() {  # check WHAT FILE COMMAND...: the command makes the file
  local what=$1 file=$2
  shift 2
  if "$@" > "$work/log" 2>&1 && ls $file > /dev/null; then echo "ok   $what"; else failures=$((failures + 1)); echo "FAIL $what"; tail -n 40 "$work/log"; fi
}

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q sagekit
sagekit=$work/venv/bin/sagekit
cmake -S examples/plugin -B "$work/plugin" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/venv" > "$work/log"
cmake --build "$work/plugin" >> "$work/log"
plugin=$work/plugin/lib/sagekit/plugins/sagekit-example.so
name=sagekit_example-1.0.0
check "sagekit generate sdist, from an installed wheel" "$work/$name.tar.gz" \
  "$sagekit" --plugin "$plugin" generate sdist --source examples/plugin/source -o "$work"
tar -C "$work" -xzf "$work/$name.tar.gz"

wheel="$name-py3-none-linux_$(uname -m).whl"
python3 -m venv "$work/fresh"
check "pip wheel" "$work/pip/$wheel" "$work/fresh/bin/pip" wheel -v --no-deps "$work/$name.tar.gz" -w "$work/pip" -C naming=plain
grep -q "building $wheel" "$work/log" && grep -qE "^ *\[[0-9]+/[0-9]+\]" "$work/log" && echo "ok   pip -v shows the progress" || { failures=$((failures + 1)); echo "FAIL pip -v shows no progress"; }
check "pip install" "$work/fresh/lib/python3*/site-packages/sagekit_example/__init__.py" "$work/fresh/bin/pip" install -q "$work/$name.tar.gz"
check "it imports" "$work/venv" "$work/fresh/bin/python" -c "import sagekit_example"
if command -v pyproject-build > /dev/null; then
  check "python -m build" "$work/build/$wheel" pyproject-build --wheel -C arch=9.0 -o "$work/build" "$work/$name"
  check "python -m build --sdist" "$work/build/$name.tar.gz" pyproject-build --sdist -o "$work/build" "$work/$name"
fi
if command -v uv > /dev/null; then
  check "uv build" "$work/uvout/$wheel" uv build --wheel -o "$work/uvout" "$work/$name.tar.gz"
  uv -q venv "$work/uvenv"
  check "uv pip install" "$work/uvenv/lib/python3*/site-packages/sagekit_example/__init__.py" \
    uv pip install --python "$work/uvenv/bin/python" "$work/$name.tar.gz"
fi
if command -v cibuildwheel > /dev/null; then
  check "cibuildwheel lists identifiers" "$work/venv" cibuildwheel --platform linux --archs x86_64 --print-build-identifiers "$work/$name"
  grep -q "^cp312-manylinux_x86_64" "$work/log" && ! grep -q "^cp38-" "$work/log" || { failures=$((failures + 1)); echo "FAIL not the identifiers of requires-python"; cat "$work/log"; }
fi
# All of them made the same bytes.
sha256sum "$work"/*/"$wheel" | awk '{print $1}' | sort -u | wc -l | grep -qx 1 && echo "ok   all wheels are the same" || { failures=$((failures + 1)); echo "FAIL the wheels differ"; }
echo "$failures failed"
[ "$failures" -eq 0 ]
