#!/usr/bin/env bash
# The newcomer's real wheel: sage2 for one GPU with every CUDA toolkit and torch of this machine hidden.
#   provision_real.sh SAGEKIT --source DIR [--out DIR] [--arch 9.0] [WORDS FOR build...]
# DIR is the upstream source. Needs root (mount namespaces), g++, Python with headers, and the index that pip is configured
# with. Prints what was fetched, when the first compile step began, and the finished wheel's verdict.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,5p' "$0" >&2; exit 2; }
sagekit=$(realpath "$1")
shift
source='' out=$PWD/provision-real arch=9.0 more=()
while [ $# -gt 0 ]; do
  case $1 in
    --source) source=$(realpath "$2"); shift 2 ;;
    --out) out=$2; shift 2 ;;
    --arch) arch=$2; shift 2 ;;
    *) more+=("$1"); shift ;;
  esac
done
[ -n "$source" ] || { echo "provision_real.sh: --source DIR is missing" >&2; exit 2; }
mkdir -p "$out"
out=$(realpath "$out")

# Everything below runs where nothing of CUDA or torch is visible.
if [ -z "${PROVISION_REAL_INSIDE:-}" ]; then
  [ "$(id -u)" = 0 ] || { echo "skipped: mount namespaces need root"; exit 77; }
  PROVISION_REAL_INSIDE=1 exec unshare -m "$0" "$sagekit" --source "$source" --out "$out" --arch "$arch" "${more[@]}"
fi
shopt -s nullglob
for folder in /usr/local/cuda* /opt/cuda* ~/.pyenv/versions/*/lib/python3*/site-packages/{torch,nvidia} \
              /usr/l*/python3*/*-packages/{torch,nvidia} /usr/local/lib/python3*/*-packages/{torch,nvidia}; do
  if [ -d "$folder" ] && [ ! -L "$folder" ]; then mount -t tmpfs -o size=4k none "$folder"; echo "hidden: $folder"; fi
done
clean=
IFS=: read -ra places <<<"$PATH"
for place in "${places[@]}"; do [ -e "$place/nvcc" ] || clean+=${clean:+:}$place; done
export PATH=$clean SAGEKIT_STORE=$out/store CI=1
unset CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
if command -v nvcc; then echo "an nvcc is still visible" >&2; exit 1; fi
if "$sagekit" toolchain list --json | grep -qE '"kind": "(nvcc|torch)"'; then
  echo "a toolkit or torch is still visible, or the store in $out is not empty: its second use is what is measured"
fi

cd "$out"
began=$(date +%s.%N)
since() { awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }'; }
set +e
"$sagekit" --plugin sage2 build --arch "$arch" --source "$source" --json -o "$out/dist" "${more[@]}" 2> >(
  first=
  while IFS= read -r line; do
    printf '%8s s  %s\n' "$(since)" "$line"
    if [ -z "$first" ] && [[ $line == *'] compile '* ]]; then
      first=1
      printf '%8s s  ---- the first compile step; on disk: %s of toolchains\n' "$(since)" "$(du -sh "$SAGEKIT_STORE/toolchains" | cut -f1)"
    fi
  done
) >build.json
code=$?
set -e
wait
echo "exit $code after $(since) s"
[ "$code" = 0 ] || exit "$code"
cat build.json
"$sagekit" toolchain verify
echo "trees verified; lock:"
grep -cE '^sha256|record_sha256' sagekit.lock || true
"$sagekit" verify dist/*.whl | tail -3
