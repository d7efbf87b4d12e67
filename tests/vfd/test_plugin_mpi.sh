#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_plugin_mpi.sh PLUGIN_DIR MAKE_FILES: an MPI program of the parallel HDF5, h5vcat, takes the same plugin. It is
# linked with the driver too, so both copies are in each process; its output is what it is without the plugin.
set -eu
plugins=$1 make=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$make" chunks1 placed.h5 a.h5
cp a.h5 b.h5
cat_with() { # DRIVER PLUGIN_PATH SETTINGS OPTIONS...
    driver=$1 path=$2 settings=$3
    shift 3
    HDF5_DRIVER=$driver HDF5_PLUGIN_PATH=$path HDF5_DRIVER_CONFIG=$settings "$MPIEXEC" -n 2 "$H5VEC_BIN/h5vcat" "$@" a.h5 b.h5
}

cat_with '' '' '' -o want.h5
for write in direct collective; do
    cat_with h5vec "$plugins" 'meta_block=64KiB; zone=1MiB' --write=$write -o $write.h5
    "$H5VEC_HDF5_BIN/h5diff" -v want.h5 $write.h5 >differences
    grep -q '^0 differences found' differences
done
# it was the plugin: without it nothing works
! cat_with h5vec /nonexistent '' -o none.h5 2>/dev/null || { echo "HDF5_DRIVER was not read" && exit 1; }
[ ! -e none.h5 ]
