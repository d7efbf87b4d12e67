#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_plugin_symbols.sh PLUGIN: the loadable driver shows HDF5's two names and nothing else, has no undefined symbol
# of HDF5 or MPI, needs neither library, and neither prints (without stdout and stderr, fprintf is to memory) nor ends
# the process.
set -eu
undefined=$(nm -D --undefined-only "$1" | sed 's/^ *[Uw] //' | sort -u)
defined=$(nm -D --defined-only "$1" | sed 's/.* [A-Z] //' | sort -u | tr '\n' ' ')
needed=$(objdump -p "$1" | sed -n 's/^ *NEEDED *//p')
[ -n "$undefined" ] && [ -n "$needed" ]
[ "$defined" = "H5PLget_plugin_info H5PLget_plugin_type " ] || { echo "shows $defined" && exit 1; }
echo "$undefined" | grep '^H5\|^P\{0,1\}MPI' && echo "undefined symbols of HDF5 or MPI" && exit 1
echo "$needed" | grep -i 'hdf5\|mpi' && echo "is linked to HDF5 or MPI" && exit 1
echo "$undefined" | grep -w 'printf\|puts\|stderr\|stdout\|exit\|abort\|perror' && echo "prints or exits" && exit 1
exit 0
