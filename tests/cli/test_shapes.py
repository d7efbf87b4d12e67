# SPDX-License-Identifier: BSD-3-Clause
"""Shapes, chunks and layouts: many dimensions, odd and partial chunks, zero rows, inputs stored differently, the
chunk rule at its real sizes."""
import h5py
import numpy as np

import h5make
from h5model import assert_model, describe
from h5oracle import concat
from h5vtest import KiB, MiB, check, main, merge, test

I4 = h5make.of("<i4")


def build(folder, name, *datasets):
    """A file of datasets, each (name, type, shape, options of h5make.put)."""
    path = f"{folder}/{name}.h5"
    with h5make.create(path) as f:
        for dataset, t, shape, how in datasets:
            h5make.put(f, dataset, h5make.of(t), shape, **how)
    return path


def both_ways(folder, inputs, ranks=(1, 2, 3), **oracle):
    """Direct at each number of ranks and collective on two hold what the oracle says; returns the last output."""
    expected = concat(inputs, **oracle)
    for n in ranks:
        out = f"{folder}/out/{n}.h5"
        merge(inputs, out, n)
        assert_model(expected, out)
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(expected, f"{folder}/out/c.h5")
    return f"{folder}/out/{ranks[-1]}.h5"


@test
def test_dimensions(folder):
    shapes = {1: (), 2: (6,), 3: (5, 4), 4: (3, 4, 2), 5: (3, 2, 4, 3)}
    def table(rows):
        for rank, tail in shapes.items():
            shape = (rows, *tail)
            odd = tuple(max(1, s - 1 if k else 3) for k, s in enumerate(shape))
            for label, how in (("contiguous", {}), ("compact", {"layout": "compact"}),
                               ("deflate", {"chunk": odd, "filters": ("shuffle", "deflate:6")}),
                               ("extendible", {"chunk": odd, "maxshape": (None, *tail), "filters": ("deflate:6",)}),
                               ("sum", {"chunk": tuple(1 for _ in shape), "filters": ("fletcher32",)})):
                yield f"d{rank}_{label}", ">i2", shape, how
    both_ways(folder, [build(folder, i, *table(rows)) for i, rows in enumerate((7, 4, 10))])


@test
def test_rank_32(folder):
    tail = (2, 1, 2) + (1,) * 27 + (2,)
    def table(rows):
        yield "contiguous", "<i4", (rows, *tail), {}
        yield "chunked", "<i4", (rows, *tail), {"chunk": (2, 1, 1, 2) + (1,) * 28, "filters": ("deflate:6",)}
        yield "all_unlimited", "<i4", (rows, *tail), {"chunk": (1, *tail), "maxshape": (None,) * 32}
    both_ways(folder, [build(folder, i, *table(rows)) for i, rows in enumerate((3, 4))], ranks=(1, 3))


@test
def test_trailing_chunks_smaller_than_the_dataset(folder):
    """Chunks of 256 KiB and more are kept, so rows of every input meet in chunks that are partial on each side."""
    how = {"chunk": (100, 700), "maxshape": (None, 1500), "filters": ("shuffle", "deflate:1"), "data": "small"}
    inputs = [build(folder, i, ("d", "<i4", (rows, 1500), how)) for i, rows in enumerate((130, 40, 261))]
    out = both_ways(folder, inputs)
    check(describe(out)["/d"].chunk == (100, 700), f"chunk not kept: {describe(out)['/d'].chunk}")


@test
def test_zero_rows(folder):
    """No rows in the first input, in the middle, in all, and in all but one."""
    stored = ({}, {"layout": "compact"}, {"chunk": (4, 3), "maxshape": (None, 3), "filters": ("shuffle", "deflate:6")},
              {"chunk": (4, 3), "filters": ("deflate:6",)})
    cases = {"first": (0, 5, 2), "middle": (5, 0, 3), "last": (1, 2, 0), "all": (0, 0, 0), "one": (0, 0, 3)}
    def table(i):
        for case, rows in cases.items():
            for k, how in enumerate(stored):
                how = dict(how)
                if rows[i] == 0 and k == 3:
                    how = {"layout": "compact"}
                yield f"{case}/{k}", "<f4", (rows[i], 3), how
    out = both_ways(folder, [build(folder, i, *table(i)) for i in range(3)], ranks=(1, 2, 3, 5))
    for path, obj in describe(out).items():
        if path.startswith("/all/"):
            check(obj.shape == (0, 3), f"{path}: {obj.shape}")


@test
def test_zero_width(folder):
    both_ways(folder, [build(folder, i, ("d", "<f4", (rows, 0), {}), ("e", "<f4", (rows, 2), {}))
                       for i, rows in enumerate((3, 4))], ranks=(2,))


@test
def test_inputs_stored_differently(folder):
    """Layouts, chunks and filters may differ: properties are the first input's that has rows."""
    ways = [{"layout": "compact"}, {"chunk": (5, 2), "filters": ("deflate:6",)}, {},
            {"chunk": (3, 4), "filters": ("shuffle", "deflate:2", "fletcher32"), "maxshape": (None, 4)}]
    def table(i):
        for first in range(4):
            rows = 0 if first == 3 and i == 0 else 6 + i
            yield f"from{first}", "<u4", (rows, 4), ways[(first + i) % 4]
        for first in range(3):  # without the extendible one
            yield f"fixed{first}", "<u4", (6 + i, 4), ways[(first + i) % 3]
    both_ways(folder, [build(folder, i, *table(i)) for i in range(4)])


@test
def test_compact_outgrown(folder):
    """Three compact inputs of 40 KB make more than a compact dataset can hold."""
    both_ways(folder, [build(folder, i, ("d", "<f8", (5000,), {"layout": "compact"}), ("e", "<f8", (50,), {"layout": "compact"}))
                       for i in range(3)], ranks=(2,))


@test
def test_unlimited_if_any_is(folder):
    inputs = [build(folder, 0, ("d", "<i4", (5, 3), {"chunk": (2, 3)}), ("e", "<i4", (5, 3), {})),
              build(folder, 1, ("d", "<i4", (4, 3), {"chunk": (2, 3), "maxshape": (None, 3)}),
                    ("e", "<i4", (5, 3), {"chunk": (2, 3), "maxshape": (None, 3)}))]
    out = both_ways(folder, inputs, ranks=(2,))
    check(describe(out)["/d"].maxshape == (None, 3) and describe(out)["/e"].maxshape == (None, 3), "not unlimited")


@test
def test_chunk_rule_at_size(folder):
    """Kept from 256 KiB on when all agree; else 1 MiB for columns and 4 MiB for wider rows."""
    k = 1024
    def table(i):
        rows = 700 * k + i
        yield "kept", "<u1", (rows, 1), {"chunk": (256 * k, 1), "data": "small"}
        yield "small", "<u1", (2 * rows, 1), {"chunk": (255 * k, 1), "data": "small", "filters": ("deflate:1",)}
        yield "differ", "<u1", (2 * rows,), {"chunk": (300 * k + i,), "data": "small", "filters": ("deflate:1",)}
        yield "wide", "<u1", (300 + i, 16 * k), {"chunk": (8, 16 * k), "data": "small", "filters": ("deflate:1",)}
        yield "empty_differs", "<u1", (rows if i else 0, 1), {"chunk": (300 * k if i else 10, 1), "data": "small",
                                                              "maxshape": (None, 1)}
    out = both_ways(folder, [build(folder, i, *table(i)) for i in range(2)], ranks=(1, 3))
    m = describe(out)
    check(m["/kept"].chunk == (256 * k, 1), f"kept: {m['/kept'].chunk}")
    check(m["/empty_differs"].chunk == (300 * k, 1), f"an input without rows has a say: {m['/empty_differs'].chunk}")
    check(m["/small"].chunk[0] <= MiB and m["/small"].chunk[0] > 512 * KiB, f"small: {m['/small'].chunk}")


@test
def test_chunk_larger_than_a_fixed_dimension(folder):
    """HDF5 accepts such a chunk only where the dimension can grow; inputs with and without room."""
    inputs = [build(folder, i, ("d", "<i4", (5, 3), {"chunk": (70000, 3), "maxshape": (None, 3), "filters": ("deflate:6",)}),
                    ("e", "<i4", (5, 3), {"chunk": (10, 100), "maxshape": (None, None), "filters": ("deflate:6",)}))
              for i in range(3)]
    both_ways(folder, inputs, ranks=(1, 2))


@test
def test_maxshape_with_room(folder):
    inputs = [build(folder, i, ("d", "<i4", (5, 3), {"chunk": (2, 3), "maxshape": (50, 3)}),
                    ("e", "<i4", (5, 3), {"chunk": (2, 3), "maxshape": (None, 9)})) for i in range(3)]
    both_ways(folder, inputs, ranks=(2,))


@test
def test_tree(folder):
    """Deep groups, empty groups, names of all sorts."""
    deep = "/".join(f"level{i}" for i in range(60))
    names = [deep, "with space", "ünï/cødé", "a.b-c:d", "quote'\"", "back\\slash", "tab\tname", "x" * 1000]
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            f.create_group("empty/very")
            for name in names:
                h5make.put(f, name + "/d", I4, (3 + i,))
    both_ways(folder, inputs, ranks=(1, 2))


@test
def test_no_objects_at_all(folder):
    for i in range(2):
        h5make.create(f"{folder}/{i}.h5").close()
    both_ways(folder, [f"{folder}/{i}.h5" for i in range(2)], ranks=(1, 2))


@test
def test_many_small_datasets(folder):
    """500 datasets of a few rows: they are batched, chunks dealt to ranks."""
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for k in range(500):
                h5make.put(f, f"g{k % 7}/d{k}", I4, (k % 5 * 10,), maxshape=(None,), chunk=(16,), filters=("shuffle", "deflate:6"))
    both_ways(folder, inputs)


@test
def test_the_same_file_twice(folder):
    a = build(folder, "a", ("d", "<i4", (50, 3), {"chunk": (7, 3), "filters": ("deflate:6",)}))
    both_ways(folder, [a, a, a], ranks=(1, 2))


@test
def test_huge_elements(folder):
    """Elements larger than 64 KiB and larger than the chunk that is aimed at."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            h5make.put(f, "opaque", h5make.opaque(200000, b"blob"), (5 + i,), chunk=(2,), filters=("deflate:1",), data="small")
            h5make.put(f, "array", h5py.h5t.array_create(I4, (400, 1000)), (2,), chunk=(1,), filters=("shuffle", "deflate:1"), data="small")
            h5make.put(f, "plain", h5make.string(100000), (3,))
    both_ways(folder, inputs, ranks=(1, 3))


@test
def test_creation_order(folder):
    """Where a group keeps the order of creation, its readers rely on it (netCDF-4 does)."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5py.File(inputs[-1], "w", track_order=True) as f:
            for name in ("zebra", "ant", "mole", "bee"):
                g = f.create_group(name, track_order=True)
                for k in ("z", "a", "m"):
                    g.create_dataset(k, data=np.arange(3 + i), track_order=True)
    both_ways(folder, inputs, ranks=(1, 2))


if __name__ == "__main__":
    main()
