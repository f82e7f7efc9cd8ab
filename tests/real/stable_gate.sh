#!/bin/sh
# The numeric gate of one wheel in several torches: that of a wheel for every later torch (docs/stable-abi.md).
#
# Usage: stable_gate.sh SAGEKIT WHEEL PYTHON...   (each PYTHON has a torch of its own, and the GPU)
#
# Prints for each Python its torch and what RUN1 found. Exit 0 when in every one of them a finding of RUN1 passes and none
# fails or is skipped; 1 otherwise; 3 when it passed, but in one release of torch only, which proves nothing of others.
# Plugins: SAGEKIT_PLUGIN_PATH, or those beside SAGEKIT.
set -u
if [ $# -lt 3 ]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
sagekit=$1 wheel=$2
shift 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
status=0 torches=
for python in "$@"; do
  torch=$("$python" -c 'import torch, platform; print("%s, Python %s" % (torch.__version__, platform.python_version()))') || exit 2
  torches="$torches${torch%%,*}
"
  "$sagekit" verify --gpu --interpreter "$python" --policy others --json --all "$wheel" >"$folder/out.json" 2>"$folder/err"
  echo "torch $torch ($python): exit $?"
  cat "$folder/err" >&2
  "$python" - "$folder/out.json" <<'END' || status=1
import json
import sys

try:
    wheel = json.load(open(sys.argv[1]))["wheels"][0]
except (ValueError, KeyError, IndexError) as e:
    sys.exit("no verdict (%s)" % e)
found = [f for f in wheel["findings"] if f["code"].startswith(("RUN1", "IMP", "TAB", "ELF007"))]
for f in found:
    print("  %-7s %s %s" % (f["result"], f["code"], f["message"]))
    if f.get("hint"):
        print("          = %s" % f["hint"])
ran = {f["result"] for f in found if f["code"].startswith("RUN1") and (f["code"] != "RUN100" or f["result"] == "fail")}
sys.exit(0 if "pass" in ran and not ran & {"fail", "skipped"} else 1)
END
done
releases=$(printf '%s' "$torches" | cut -d. -f1,2 | sort -u | wc -l)
[ "$status" -eq 0 ] && [ "$releases" -lt 2 ] && { echo "it passed, in one release of torch only"; exit 3; }
[ "$status" -eq 0 ] && echo "it passed in $releases releases of torch"
exit "$status"
