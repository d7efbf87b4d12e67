# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that do not fit together: exit 3, both files and the dataset named, nothing written."""
import h5py
import numpy as np
from h5py import h5s

import h5make
from h5vtest import fails, main, test


def pair(folder, first, second, between=0):
    """Two files (and some like the first between them) made by these functions of an open file."""
    paths = []
    for name, make in [("first", first)] + [(f"mid{i}", first) for i in range(between)] + [("second", second)]:
        paths.append(f"{folder}/{name}.h5")
        with h5make.create(paths[-1]) as f:
            h5make.put(f, "grp/common", h5make.of("<i4"), (5,))
            make(f)
    return paths


def dataset(t="<i4", shape=(6, 3), **how):
    return lambda f: h5make.put(f, "grp/odd", h5make.of(t) if isinstance(t, (str, np.dtype)) else t, shape, **how)


def nothing(f):
    pass


def misfit(folder, first, second, *words, **how):
    paths = pair(folder, first, second, **how)
    fails(paths, f"{folder}/out/o.h5", 3, "first.h5", "second.h5", *words)


@test
def test_dataset_missing(folder):
    misfit(folder, dataset(), nothing, "/grp/odd")


@test
def test_dataset_missing_in_the_last_of_many(folder):
    paths = pair(folder, dataset(), nothing, between=6)
    fails(paths, f"{folder}/out/o.h5", 3, "second.h5", "/grp/odd", (".h5",))


@test
def test_dataset_missing_without_rows(folder):
    """A dataset without rows may not be dropped either."""
    misfit(folder, dataset(shape=(0, 3)), nothing, "/grp/odd")


@test
def test_extra_dataset(folder):
    misfit(folder, nothing, dataset(), "/grp/odd")


@test
def test_extra_dataset_without_rows(folder):
    misfit(folder, nothing, dataset(shape=(0,)), "/grp/odd")


@test
def test_missing_and_extra_group(folder):
    """An empty group is content too: kept, or refused, not dropped."""
    misfit(folder, lambda f: f.create_group("lonely"), nothing, "/lonely")
    misfit(folder, nothing, lambda f: f.create_group("lonely"), "/lonely")


@test
def test_group_of_datasets_missing(folder):
    """The group or a dataset in it is named."""
    def deep(f):
        h5make.put(f, "top/sub/data", h5make.of("<i4"), (3,))
    misfit(folder, deep, nothing, "/top")
    misfit(folder, nothing, deep, "/top")


@test
def test_group_in_one_dataset_in_the_other(folder):
    misfit(folder, dataset(), lambda f: f.create_group("grp/odd"), "/grp/odd")


@test
def test_other_type(folder):
    for first, second in (("<i4", "<u4"), ("<i4", "<i8"), ("<i4", ">i4"), ("<i4", "<f4"), ("S4", "S5"), ("<f4", "<f2")):
        misfit(folder, dataset(first), dataset(second), "/grp/odd", "type")


@test
def test_other_type_in_detail(folder):
    misfit(folder, dataset(h5make.string(4)), dataset(h5make.string(4, h5py.h5t.STR_SPACEPAD)), "/grp/odd")
    misfit(folder, dataset(h5py.enum_dtype({"a": 0, "b": 1})), dataset(h5py.enum_dtype({"a": 1, "b": 0})), "/grp/odd")
    misfit(folder, dataset(np.dtype([("a", "<i4"), ("b", "<f4")])), dataset(np.dtype([("a", "<i4"), ("c", "<f4")])), "/grp/odd")
    misfit(folder, dataset(h5make.opaque(4, b"one")), dataset(h5make.opaque(4, b"two")), "/grp/odd")
    misfit(folder, dataset(h5py.h5t.array_create(h5make.of("<i4"), (2, 3))),
           dataset(h5py.h5t.array_create(h5make.of("<i4"), (3, 2))), "/grp/odd")


@test
def test_other_rank(folder):
    misfit(folder, dataset(shape=(6, 3)), dataset(shape=(6, 3, 1)), "/grp/odd")
    misfit(folder, dataset(shape=(6,)), dataset(shape=(6, 1)), "/grp/odd")


@test
def test_other_trailing_dimension(folder):
    misfit(folder, dataset(shape=(6, 3)), dataset(shape=(6, 4)), "/grp/odd")
    misfit(folder, dataset(shape=(6, 2, 3)), dataset(shape=(6, 3, 2)), "/grp/odd")


@test
def test_other_type_without_rows(folder):
    """Zero rows do not excuse another type or another width."""
    misfit(folder, dataset("<i4"), dataset("<i8", shape=(0, 3)), "/grp/odd")
    misfit(folder, dataset("<i4"), dataset("<i4", shape=(0, 4)), "/grp/odd")


@test
def test_scalar_differs(folder):
    def scalar(value):
        return lambda f: f.__setitem__("grp/odd", value)
    misfit(folder, scalar(1.5), scalar(1.25), "/grp/odd")
    misfit(folder, scalar(np.bytes_("abc")), scalar(np.bytes_("abd")), "/grp/odd")


@test
def test_space_differs(folder):
    def space(kind):
        return lambda f: h5py.h5d.create(f["grp"].id, b"odd", h5make.of("<f8"), kind)
    scalar, null, simple = h5s.create(h5s.SCALAR), h5s.create(h5s.NULL), h5s.create_simple((1,))
    misfit(folder, space(scalar), space(null), "/grp/odd")
    misfit(folder, space(scalar), space(simple), "/grp/odd")
    misfit(folder, space(simple), space(null), "/grp/odd")


@test
def test_null_type_differs(folder):
    def null(t):
        return lambda f: h5py.h5d.create(f["grp"].id, b"odd", h5make.of(t), h5s.create(h5s.NULL))
    misfit(folder, null("<f8"), null("<f4"), "/grp/odd")


if __name__ == "__main__":
    main()
