#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_symbols.sh LIBRARY: the driver needs no MPI and no I/O that prints or ends the process; its own symbols
# have its prefix.
set -eu
undefined=$(nm -u "$1" | sed -n 's/^ *U //p' | sort -u)
defined=$(nm -g --defined-only "$1" | sed -n 's/.* [A-Z] //p' | sort -u)
[ -n "$undefined" ] && [ -n "$defined" ]
echo "$undefined" | grep '^P\{0,1\}MPI' && echo "undefined MPI symbols" && exit 1
echo "$undefined" | grep -w 'printf\|fprintf\|puts\|stderr\|stdout\|exit\|abort\|perror' && echo "prints or exits" && exit 1
echo "$defined" | grep -v '^H5FD_h5vec_\|^H5P[sg]et_fapl_h5vec$' && echo "names outside the prefix" && exit 1
exit 0
