#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_no_mpi.sh FILE...: no library or program named may have an undefined symbol of MPI, and each must have some
# undefined symbols at all (else nm has looked at nothing).
set -u
failed=0
for file in "$@"; do
  symbols=$(nm -u "$file") || exit 1
  [ -n "$symbols" ] || { echo "$file: no symbols"; failed=1; }
  if printf '%s\n' "$symbols" | grep -E ' P?MPIX?_'; then
    echo "$file: calls MPI"
    failed=1
  fi
done
exit $failed
