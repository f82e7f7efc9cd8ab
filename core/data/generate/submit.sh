#!/bin/sh
# Submits the array and the job that finishes, and prints the latter's id. Arguments go to that one: --wait waits for the wheels.
# What is for both is said by sbatch's own variables: SBATCH_PARTITION, SBATCH_ACCOUNT ... logs/submitted has the ids.
set -eu
cd "$(dirname "$0")"
mkdir -p logs
build=$(sbatch --parsable build.sbatch)
echo "${build%%;*}" > logs/submitted
# By the line: who ends the wait finds the id there.
stdbuf -oL sbatch --parsable --dependency="afterany:${build%%;*}" --kill-on-invalid-dep=yes "$@" finish.sbatch >> logs/submitted || {
  code=$?
  # Refused: then nobody would make wheels of what the array compiles.
  [ "$(wc -l < logs/submitted)" -gt 1 ] || scancel "${build%%;*}"
  exit "$code"
}
finish=$(tail -n 1 logs/submitted)
echo "${finish%%;*}"
