#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# h5py_suite.sh PLUGIN_DIR [CONFIG]: h5py's own tests have the same outcome, test by test, with HDF5_DRIVER=h5vec as with
# sec2. What may differ is in h5py_suite.exceptions, with its cause. CONFIG is HDF5_DRIVER_CONFIG. Skipped where h5py's
# HDF5 has no loadable drivers, or pytest is missing.
set -eu
plugins=$1 config=${2-}
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
"$python" -c 'import pytest' 2>/dev/null || { echo "skipped: no pytest" && exit 77; }
"$python" -c 'import h5py, sys; sys.exit(h5py.version.hdf5_version_tuple < (1, 14, 0))' 2>/dev/null ||
    { echo "skipped: no h5py with HDF5 1.14 or later" && exit 77; }
[ -z "${H5VEC_PRELOAD-}" ] || { echo "skipped: a plugin with AddressSanitizer needs it in all of Python's libraries" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# outcomes DRIVER: a line "test outcome" for each.
outcomes() {
    (cd "$dir" && HDF5_DRIVER=$1 HDF5_DRIVER_CONFIG=$([ "$1" = sec2 ] || printf %s "$config") HDF5_PLUGIN_PATH=$plugins \
        "$python" -m pytest --pyargs h5py -rA -q --tb=short -p no:cacheprovider) >"$dir/$1.out" 2>&1 || true
    tail -n 1 "$dir/$1.out"
    # The same test may be told of more than once: under its name, and where it was set up.
    sed -n 's/^\(PASSED\|FAILED\|ERROR\|XFAIL\|XPASS\) \([^ ]*\).*/\2 \1/p; s/^\(SKIPPED\) \[.*\] \([^ ]*\).*/\2 \1/p' \
        "$dir/$1.out" | sort -u >"$dir/$1"
    [ "$(wc -l <"$dir/$1")" -gt 500 ] || { tail -n 30 "$dir/$1.out" && echo "h5py's tests did not run" && exit 1; }
}

# The driver is loaded and used at all: it must not be h5py's answer to a driver that is not there.
HDF5_DRIVER=h5vec HDF5_DRIVER_CONFIG=$config HDF5_PLUGIN_PATH=$plugins "$python" - "$dir/probe.h5" <<'END'
import sys, h5py
name = sys.argv[1].encode()
fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
assert fapl.get_driver() not in (h5py.h5fd.SEC2, h5py.h5fd.STDIO, h5py.h5fd.CORE), "another driver is the default"
h5py.h5f.create(name, fapl=fapl).close()
END
outcomes sec2
outcomes h5vec
diff "$dir/sec2" "$dir/h5vec" | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u >"$dir/differ"
bad=0
while read -r test; do
    cause=$(sed -n "s|^$test: ||p" "$here/h5py_suite.exceptions")
    if [ -n "$cause" ]; then
        echo "$test differs: $cause"
    else
        bad=$((bad + 1))
        echo "$test differs and is no known exception: sec2 $(grep -F "$test " "$dir/sec2"), h5vec $(grep -F "$test " "$dir/h5vec")"
    fi
done <"$dir/differ"
[ $bad -eq 0 ] || sed -n '/= FAILURES =/,/= warnings summary =/p' "$dir/h5vec.out"
echo "$(wc -l <"$dir/h5vec") tests, $(wc -l <"$dir/differ") differ, $bad of them unexpected"
[ $bad -eq 0 ]
