#!/bin/sh
# The numeric gate on a real GPU, with a wheel that is right and one that must be caught.
#
# Usage: gpu_gate.sh SAGEKIT GOOD_WHEEL BAD_WHEEL [PYTHON]   (python3: one with the torch that both wheels are for)
#
# Prints what RUN1 found of each. Exit 0 when GOOD has no finding of RUN1 that fails and at least one that passes, and
# BAD has one that fails; else 1. Plugins: SAGEKIT_PLUGIN_PATH, or those beside SAGEKIT.
set -u
if [ $# -lt 3 ]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
sagekit=$1 good=$2 bad=$3 python=${4:-python3}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

for word in good bad; do
  eval "wheel=\$$word"
  "$sagekit" verify --gpu --interpreter "$python" --policy others --json --all "$wheel" >"$folder/$word.json" 2>"$folder/$word.err"
  echo "$word: $wheel: exit $?"
  cat "$folder/$word.err" >&2
done

"$python" - "$folder/good.json" "$folder/bad.json" <<'END'
import json
import sys

results = {}
for path in sys.argv[1:]:
    word = "good" if path.endswith("good.json") else "bad"
    try:
        wheel = json.load(open(path))["wheels"][0]
    except (ValueError, KeyError, IndexError) as e:
        sys.exit("%s: no verdict (%s)" % (word, e))
    found = [f for f in wheel["findings"] if f["code"].startswith("RUN1")]
    print("\n%s: verdict %s" % (word, wheel["verdict"]))
    for f in found:
        print("  %-4s %s %s" % (f["result"], f["code"], f["message"]))
        if f.get("hint"):
            print("       = %s" % f["hint"])
    results[word] = {f["result"] for f in found if f["code"] != "RUN100" or f["result"] == "fail"}

good = "pass" in results["good"] and not results["good"] & {"fail", "skipped"}
bad = "fail" in results["bad"]
print("\nthe right wheel %s, the wrong one %s" % ("passes" if good else "DOES NOT PASS", "is caught" if bad else "IS NOT CAUGHT"))
sys.exit(0 if good and bad else 1)
END
