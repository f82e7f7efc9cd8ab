#!/usr/bin/env bash
# All modules of a wheel against a glibc floor, by binutils alone: glibc_floor.sh WHEEL [FLOOR=2.17]
# Prints each module's newest GLIBC, GLIBCXX and CXXABI; fails when a module needs a newer glibc, naming the symbols.
set -euo pipefail
wheel=$(realpath -- "$1") floor=${2:-2.17}
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
python3 -m zipfile -e "$wheel" "$folder"
newest() { { grep -oE "\($1_[0-9.]+\)" || true; } | tr -d '()' | sort -Vu | tail -n 1; }
modules=0 bad=0
while IFS= read -r -d '' module; do
  modules=$((modules + 1))
  symbols=$(objdump -T "$module")
  wanted=$(newest GLIBC <<< "$symbols")
  echo "${module#"$folder"/}: $wanted $(newest GLIBCXX <<< "$symbols") $(newest CXXABI <<< "$symbols")"
  if [ "$(printf '%s\n' "GLIBC_$floor" "$wanted" | sort -V | tail -n 1)" != "GLIBC_$floor" ]; then
    bad=$((bad + 1))
    awk -v floor="$floor" '
      function newer(a, b,  x, y) { split(a, x, "."); split(b, y, "."); return x[1] > y[1] || (x[1] == y[1] && x[2] > y[2]) }
      match($0, /\(GLIBC_[0-9.]+\)/) { v = substr($0, RSTART + 7, RLENGTH - 8); if (newer(v, floor)) print "  " $NF " needs glibc " v }
    ' <<< "$symbols"
  fi
done < <(find "$folder" -name '*.so*' -type f -print0 | sort -z)
[ "$modules" -gt 0 ] || { echo "no module in $wheel" >&2; exit 1; }
[ "$bad" -eq 0 ] || { echo "$bad of $modules modules need more than glibc $floor" >&2; exit 1; }
echo "$modules modules need no more than glibc $floor"
