#!/bin/sh
# Prints the `commit` and `tree` that plugin.toml pins: run it after a change in source/, copy both into
# [[source.revision]], and the commit into `default` of [source], too.
# The commit is made from the folder's content with a fixed author and date, so it is the same on every machine;
# `pin_source.sh DIR` keeps the git repository that holds it, in DIR/.git and without files: --source DIR/.git.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kept=${1:-}
repository=${kept:-$(mktemp -d)}
[ -n "$kept" ] || trap 'rm -rf "$repository"' EXIT
mkdir -p "$repository"

git_here() {
  env -u GIT_DIR -u GIT_INDEX_FILE GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
    git --git-dir="$repository/.git" --work-tree="$here/source" \
    -c core.autocrlf=false -c core.excludesFile=/dev/null -c core.fileMode=true "$@"
}
git_here init --quiet --initial-branch=main
# What Python leaves behind when the source is imported in place is no source.
git_here add --force --all -- . ':(exclude,glob)**/__pycache__/**'
tree=$(git_here write-tree)
export GIT_AUTHOR_NAME=example GIT_AUTHOR_EMAIL=example@example.invalid GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
export GIT_COMMITTER_NAME=example GIT_COMMITTER_EMAIL=example@example.invalid GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
commit=$(git_here commit-tree "$tree" -m "The example's source")
git_here update-ref refs/heads/main "$commit"
# Else a checkout in the repository would write over what was edited here since.
git_here config --unset core.worktree || true
echo "commit = \"$commit\""
echo "tree = \"$tree\""
