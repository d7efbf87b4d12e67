#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: test_filter_plugin.sh PLUGIN
#
# The filter's plugin serves any HDF5: it needs no symbol of one, is linked to none, and shows only what HDF5 asks for.
shown=$(nm -D --defined-only "$1" | sed 's/.* //' | grep -v '^__odr_asan' | sort | tr '\n' ' ')
[ "$shown" = "H5PLget_plugin_info H5PLget_plugin_type " ] || { echo "$1 shows: $shown"; exit 1; }
needed=$(nm -D --undefined-only "$1" | grep -E ' (H5|MPI)')
[ -z "$needed" ] || { echo "$1 needs:"; echo "$needed"; exit 1; }
linked=$(readelf -d "$1" | grep -E 'NEEDED.*(hdf5|mpi)')
[ -z "$linked" ] || { echo "$1 is linked to:"; echo "$linked"; exit 1; }
