#!/bin/sh
# doctor on a real GPU, with three wheels: one that is right, one with the Hopper defect, one without this GPU's code.
#
# Usage: doctor_gate.sh SAGEKIT RIGHT DEFECTIVE OTHER_ARCH [PYTHON]   (python3: one with the torch that they are for)
#
# Each is installed into a throw-away environment that sees PYTHON's torch, doctor looks at it, and sageattn() is called
# to see whether doctor says the truth. Exit 0 when it does all three times; else 1. Needs no network. The wheels, with
# 9.0 for Hopper and PYTHON's own version:
#   sagekit --plugin sage2 build --arch 9.0 --python 3.12 -o right
#   sagekit --plugin sage2 build --arch 9.0 --python 3.12 -o defective --revision v2.2.0 --allow-defect sm90-uninitialised-output
#   sagekit --plugin sage2 build --arch 12.0 --python 3.12 -o other
set -u
if [ $# -lt 4 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
sagekit=$(realpath "$1") python=${5:-python3}
right=$(realpath "$2") defective=$(realpath "$3") other=$(realpath "$4")
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2

cat >"$folder/call.py" <<'END'
import sys

import torch

torch.manual_seed(1)
q, k, v = (torch.randn(1, 8, 1024, 128, dtype=torch.float16, device="cuda") for _ in range(3))
wanted = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())
# What an allocation that nobody writes to would hand back must not happen to be the answer.
trash = torch.full((64 << 20,), float("nan"), dtype=torch.float16, device="cuda")
del trash
from sageattention import sageattn

got = sageattn(q, k, v, tensor_layout="HND", is_causal=False).float()
same = torch.nn.functional.cosine_similarity(got.flatten(), wanted.flatten(), dim=0).item()
print("cosine similarity %.5f" % same)
sys.exit(0 if same > 0.99 else 1)
END

for word in right defective other; do
  eval "wheel=\$$word"
  "$python" -m venv --system-site-packages --without-pip "$folder/$word" || exit 2
  site=$("$folder/$word/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
  # PYTHON may be a virtual environment itself, whose packages --system-site-packages does not give.
  "$python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])' >"$site/base.pth"
  "$folder/$word/bin/python" -m pip install --quiet --no-index --no-deps --force-reinstall --target "$site" "$wheel" ||
    "$folder/$word/bin/python" -m zipfile -e "$wheel" "$site" || exit 2
  echo "==== $word: $(basename "$wheel")"
  "$sagekit" doctor --interpreter "$folder/$word/bin/python"
  "$sagekit" doctor --interpreter "$folder/$word/bin/python" --json >"$folder/$word.json"
  echo "$?" >"$folder/$word.exit"
  "$folder/$word/bin/python" "$folder/call.py" >"$folder/$word.call" 2>&1
  echo "$?" >>"$folder/$word.call"
  echo "sageattn() itself: $(tail -n 2 "$folder/$word.call" | tr '\n' ' ')"
done
echo "==== the block for a bug report"
"$sagekit" doctor --interpreter "$folder/defective/bin/python" --report

"$python" - "$folder" <<'END'
import json
import sys

folder, told = sys.argv[1], True


def check(what, true):
    global told
    told &= bool(true)
    print("%-4s %s" % ("ok" if true else "NO", what))


print("\n==== is it true?")
for word in ("right", "defective", "other"):
    said = json.load(open("%s/%s.json" % (folder, word)))
    exit_code = int(open("%s/%s.exit" % (folder, word)).read())
    works = open("%s/%s.call" % (folder, word)).read().split()[-1] == "0"
    rows = said["rows"]
    wrong = [row for row in rows if row["state"] == "wrong"]
    runs = [row for row in rows if row["about"] == "runs"]
    package = next(p for p in said["packages"] if p["name"] == "sageattention")
    check("%s: exit code %d fits its rows" % (word, exit_code), exit_code == (1 if wrong else 0))
    check("%s: torch and a GPU are seen" % word, {"torch", "gpu"} <= {row["about"] for row in rows if row["state"] == "good"})
    check("%s: it runs on this GPU: doctor says %s, the call says %s" % (word, package["runs_on"][0]["verdict"], works),
          (package["runs_on"][0]["verdict"] in ("yes", "jit")) == works)
    if word == "right":
        check("right: nothing about it is wrong", not [row for row in wrong if row["about"] in ("runs", "module", "import", "torch-abi", "defect")])
        check("right: its modules are named, and import", any(row["about"] == "import" and row["state"] == "good" for row in rows) and package["runs_on"][0]["modules"])
    if word == "defective":
        check("defective: the defect is named", any("sm90-uninitialised-output" in row["found"] and row["state"] == "wrong" for row in runs))
        check("defective: it imports all the same", any(row["about"] == "import" and row["state"] == "good" for row in rows))
    if word == "other":
        check("other: the module without code for this GPU is named", any(row["about"] == "module" and row["state"] == "wrong" for row in rows))
    if word != "right":
        check("%s: the mend is a command" % word, all(row["mend"].startswith("sagekit --plugin sage2 install") for row in runs))
report = json.load(open(folder + "/right.json"))
print("\nwhat else is wrong with this machine: %s" % ([row["what"] + ": " + row["found"] for row in report["rows"] if row["state"] == "wrong"] or "nothing"))
print("doctor says the true thing each time" if told else "DOCTOR IS WRONG SOMEWHERE")
sys.exit(0 if told else 1)
END
