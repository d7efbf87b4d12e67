#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_files.sh CASE MAKE_FILES COMPARE_FILES [1.10]: a placed file is accepted by HDF5's tools and equal to the
# plain one. With 1.10 it is HDF5 1.10's tools in /usr/bin, and h5py; skipped where those are newer.
set -eu
case=$1 make=$2 compare=$3 old=${4-}
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

tool() { # a tool of the HDF5 under test
    name=$1
    shift
    if [ -n "$old" ]; then "/usr/bin/$name" "$@"; else "$H5VEC_HDF5_BIN/$name" "$@"; fi
}

if [ -n "$old" ]; then
    version=$(/usr/bin/h5dump --version 2>/dev/null || echo none)
    case $version in
    *"Version 1.10."*) ;;
    *) echo "skipped: /usr/bin/h5dump is not HDF5 1.10: $version" && exit 77 ;;
    esac
    "$PYTHON" -c 'import h5py' || { echo "skipped: no h5py" && exit 77; }
fi

if [ "$case" = killed ]; then
    "$make" killed "$dir/placed.h5" "$dir/plain.h5" && exit 1
    [ -s "$dir/placed.h5" ]
    ! tool h5dump -H "$dir/placed.h5" >"$dir/out" 2>&1 || { echo "h5dump opened an unfinished file" && exit 1; }
    grep -q "unable to open file" "$dir/out"
    exit 0
fi

"$make" "$case" "$dir/placed.h5" "$dir/plain.h5"
ls -l "$dir"
tool h5stat "$dir/placed.h5" >"$dir/stat"
tool h5ls -r "$dir/placed.h5" >"$dir/ls"
tool h5ls -r "$dir/plain.h5" >"$dir/ls-plain"
diff -q "$dir/ls" "$dir/ls-plain"
for file in placed plain; do # all but the file's name
    tool h5dump -p -H "$dir/$file.h5" | sed 1d | grep -v 'FILE_SPACE\|STRATEGY\|OFFSET' >"$dir/header-$file"
done
diff -q "$dir/header-placed" "$dir/header-plain"
if [ -n "$old" ]; then
    "$PYTHON" "$here/compare_files.py" "$dir/placed.h5" "$dir/plain.h5"
else
    "$compare" "$dir/placed.h5" "$dir/plain.h5"
    case $case in
    million*) ;; # half a minute
    *) tool h5repack "$dir/placed.h5" "$dir/repacked.h5" ;;
    esac
fi
