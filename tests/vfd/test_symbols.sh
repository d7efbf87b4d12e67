#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_symbols.sh LIBRARY: the driver needs no MPI and no I/O that prints or ends the process.
set -eu
undefined=$(nm -u "$1" | sed -n 's/^ *U //p' | sort -u)
[ -n "$undefined" ]
echo "$undefined" | grep '^P\{0,1\}MPI' && echo "undefined MPI symbols" && exit 1
echo "$undefined" | grep -w 'printf\|fprintf\|puts\|stderr\|stdout\|exit\|abort\|perror' && echo "prints or exits" && exit 1
exit 0
