#!/bin/sh
# Four ranks on each of two hosts, by Hydra, the mpiexec of MPICH.
#
#   ./hydra.sh ./program
#
# Put the names of your hosts below. The program must lie at the same place on all of them, and ssh must work
# between them without a password. On Debian, mpiexec.hydra is in the package mpich.
set -eu
hosts=$(mktemp)
trap 'rm -f "$hosts"' EXIT
cat >"$hosts" <<HOSTS
node01:4
node02:4
HOSTS
mpiexec.hydra -f "$hosts" -n 8 "$@"
