#!/usr/bin/env bash
# generate_lint.sh SAGEKIT: everything `generate` writes for its plugins, under each tool for it that is on PATH: hadolint, shellcheck (the
# workflows' run steps as well), GitHub's schema (check-jsonschema), zizmor, yamllint, ansible-playbook and ansible-lint, `docker buildx bake`.
# shellcheck disable=SC2046,SC2086
set -euo pipefail
sagekit=$(realpath "$1") work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
plugins="sage2 sage2-stable sage3 sm121"
cd "$work"
make() { "$sagekit" "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
for plugin in $plugins; do
  for kind in dockerfile github slurm ansible cibuildwheel; do make --plugin $plugin generate $kind -o $plugin/$kind; done
  make --plugin $plugin generate dockerfile --gpu-check -o $plugin/gpu
done
make --plugin sage2 generate dockerfile --profile current -o sage2/current
make --plugin sage2 generate slurm --profile current --partition gpu --account lab --shared-store '/shared/a b' -o sage2/partition
make --plugin sage3 generate dockerfile --profile sage3-all -o sage3/all
make --plugin sage3 generate dockerfile --profile sage3-all --python 3.10 --cuda 12.8 --base runpod -o sage3/runpod
make $(printf -- "--plugin %s " $plugins) generate bake -o bake

# Each `run:` of a workflow as a script of its own.
python3 - <<'PY'
import pathlib, re
for number, file in enumerate(sorted(pathlib.Path().rglob("*/workflows/*.yml"))):
    lines = file.read_text().splitlines()
    for at, line in enumerate(lines):
        if not (found := re.match(r"( *)(?:- )?run: (.*)", line)):
            continue
        depth, text = len(found[1]), [found[2]]
        if found[2].startswith("|"):
            text = []
            for more in lines[at + 1:]:
                if more.strip() and len(more) - len(more.lstrip()) <= depth:
                    break
                text.append(more)
            indent = min(len(more) - len(more.lstrip()) for more in text if more.strip())
            text = [more[indent:] for more in text]
        pathlib.Path("steps").mkdir(exist_ok=True)
        pathlib.Path(f"steps/{number}-{at + 1}.sh").write_text("#!/bin/bash\n" + "\n".join(text) + "\n")
PY
failed=0
lint() {  # lint WHAT GLOB COMMAND...: the files of that name, all at once
  local what=$1 files
  mapfile -t files < <(find . -path "$2" | sort)
  shift 2
  if ! command -v "$1" > /dev/null; then echo "skip $what: $1 is not on PATH"; return; fi
  if "$@" "${files[@]}" > log 2>&1; then echo "ok   $what: ${#files[@]} files"; else echo "FAIL $what"; cat log; failed=1; fi
}
lint Dockerfiles '*/Dockerfile*' hadolint
lint "Slurm's scripts" '*/s[lu]*/*.s*h' shellcheck
lint "Slurm's jobs" '*/*.sbatch' shellcheck
lint "steps of workflows" './steps/*.sh' shellcheck
lint "GitHub's schema" '*/workflows/*.yml' check-jsonschema --builtin-schema vendor.github-workflows
lint zizmor '*/workflows/*.yml' zizmor --offline --no-progress --persona auditor
lint YAML '*/*.yml' yamllint -d '{extends: default, rules: {line-length: disable, document-start: disable, truthy: disable, comments: disable, braces: disable, brackets: disable}}'
lint "the playbooks' syntax" '*/ansible/sage_*.yml' ansible-playbook -i localhost, --syntax-check
for plugin in $plugins; do
  cd "$work/$plugin/ansible"
  # The variables' prefix is sagekit's own, the same in every role.
  lint "$plugin's role" './sage_*.yml' ansible-lint --offline --profile production -x 'var-naming[no-role-prefix]'
done
exit $failed
