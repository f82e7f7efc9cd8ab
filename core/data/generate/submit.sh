#!/bin/sh
# Submits the array and the job that finishes, and prints the latter's id. Arguments go to that one: --wait waits for the wheels.
# What is for both is said by sbatch's own variables: SBATCH_PARTITION, SBATCH_ACCOUNT ...
set -eu
cd "$(dirname "$0")"
mkdir -p logs
build=$(sbatch --parsable build.sbatch)
finish=$(sbatch --parsable --dependency="afterany:${build%%;*}" --kill-on-invalid-dep=yes "$@" finish.sbatch)
echo "${finish%%;*}"
