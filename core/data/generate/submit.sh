#!/bin/sh
# Submits the array and the job that finishes; arguments go to both sbatch calls (--wait, --nice ...). Prints the last job's id.
set -eu
cd "$(dirname "$0")"
mkdir -p logs
build=$(sbatch --parsable "$@" build.sbatch)
build=${build%%;*}
finish=$(sbatch --parsable --dependency="afterany:$build" --kill-on-invalid-dep=yes "$@" finish.sbatch)
echo "${finish%%;*}"
