#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare_files.py A B: equal value by value? Read with the HDF5 of h5py, mostly an older one than ours."""
import sys

import h5py
import numpy


def fail(name, what):
    sys.exit(f"compare_files.py: {name}: {what} differs")


def attributes(name, a, b):
    if sorted(a.attrs) != sorted(b.attrs):
        fail(name, "the list of attributes")
    for key in a.attrs:
        x, y = numpy.asarray(a.attrs[key]), numpy.asarray(b.attrs[key])
        if x.dtype != y.dtype or x.shape != y.shape or not (x == y).all():
            fail(name, key)


def main():
    with h5py.File(sys.argv[1], "r") as a, h5py.File(sys.argv[2], "r") as b:
        attributes("/", a, b)
        if sorted(a) != sorted(b):
            fail("/", "the list of datasets")
        total = 0
        for name in a:
            x, y = a[name], b[name]
            for what in ("dtype", "shape", "maxshape", "chunks", "compression", "compression_opts", "fillvalue"):
                if getattr(x, what) != getattr(y, what):
                    fail(name, what)
            if x.id.get_storage_size() != y.id.get_storage_size():
                fail(name, "storage")
            u, v = x[...], y[...]
            if not numpy.array_equal(u, v):
                fail(name, "values")
            attributes(name, x, y)
            total += u.size
    print(f"HDF5 {h5py.version.hdf5_version}: {len(sys.argv) - 1} files, {total} values equal")


main()
