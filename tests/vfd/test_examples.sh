#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_examples.sh DIR EXAMPLE: an example of examples/ does what it says. DIR has the built ones; the plugin is in
# HDF5_PLUGIN_PATH. The Python one is skipped where h5py's HDF5 cannot load drivers.
set -eu
programs=$1 example=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
plain() { # a tool without the driver
    name=$1
    shift
    env -u HDF5_PLUGIN_PATH "$H5VEC_HDF5_BIN/$name" "$@"
}

"$programs/example_linked" steps.h5
case $example in
linked)
    [ "$(plain h5ls steps.h5 | grep -c 'Dataset {1000}')" = 100 ]
    plain h5dump -d /step042 -s 999 -c 1 steps.h5 | grep '(999): 42.999$'
    ;;
by_name)
    for settings in '' 'image=never; meta_block=4KiB'; do
        "$programs/example_by_name" steps.h5 "$settings" >out
        grep '^step099: 1000 values$' out
        grep '^100 datasets$' out
    done
    ! "$programs/example_by_name" steps.h5 'meta_block=a lot' 2>errors || exit 1
    grep 'meta_block=a lot is not possible' errors
    ;;
python)
    "$PYTHON" -c 'import sys, h5py; sys.exit(h5py.version.hdf5_version_tuple < (1, 14, 0))' ||
        { echo "skipped: no h5py whose HDF5 can load drivers" && exit 77; }
    "$PYTHON" "$H5VEC_SOURCE_DIR/examples/by_name.py" steps.h5 >out
    [ "$(grep -c '^step[0-9]*: 1000 values$' out)" = 100 ]
    ;;
layer)
    "$programs/example_layer" spiral.h5
    "$H5VEC_BIN/h5vinfo" --check spiral.h5
    plain h5dump -d /spiral/index/blocks spiral.h5 | grep -q '(64): {'
    ;;
in_front)
    "$programs/example_layer" spiral.h5
    # with all behind the first 64 KiB gone, what describes the data is still there
    plain h5ls -rv spiral.h5 >whole
    head -c 65536 spiral.h5 >front.h5
    truncate -r spiral.h5 front.h5
    plain h5ls -rv front.h5 | sed 's/front/spiral/' | diff whole -
    ;;
format)
    printf '#positions\nEver Given;Rotterdam;51.95;4.05\n# at sea\nNova;Bergen;60.39;-5.32\n' >ships.txt
    "$programs/example_format" ships.txt ships.h5
    plain h5dump -d /positions/geometry/bbox -w 200 -m %.17g ships.h5 | grep -o '[-.0-9]*,*$' | tr -d '\n' >out
    grep '^4.0499999999999998,51.950000000000003,4.0499999999999998,51.950000000000003,-5.3200000000000003,' out
    plain h5dump -d /positions/columns/port/offsets ships.h5 | grep '(0): 0, 9, 15$'
    "$H5VEC_BIN/h5vinfo" --check ships.h5
    printf '#positions\nNova;Bergen;60.39;east\n' >ships.txt
    ! "$programs/example_format" ships.txt ships.h5 2>errors || exit 1
    grep 'ships.txt.*is not HDF5 but positions: line 2, column 1: SHIP;PORT;LAT;LON is expected' errors
    printf '#positions\nNova;Bergen;60.39;1e999\n' >ships.txt
    ! "$programs/example_format" ships.txt ships.h5 2>errors || exit 1
    grep 'line 2, column 1: coordinate not finite' errors
    # what the documentation shows is this program
    # shellcheck disable=SC2016 # no expansion is meant
    sed -n '/^```c$/,/^```$/p' "$H5VEC_SOURCE_DIR/docs/adding-a-format.md" | sed '1d;$d' >shown
    sed -n '/^enum/,$p' "$H5VEC_SOURCE_DIR/examples/format.c" | diff shown -
    ;;
esac
