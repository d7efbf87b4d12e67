# SPDX-License-Identifier: BSD-3-Clause
"""Fill values, fill times and chunks that were never written."""
import itertools
import zlib

import h5py
import numpy as np

import h5make
from h5model import assert_model, describe
from h5oracle import concat
from h5vtest import check, main, merge, test

I4 = h5make.of("<i4")
ROWS, WIDTH = 24, 6


def sparse(f, name, holes, rows=ROWS, **how):
    """A dataset with all chunks written, or every second row of them, or none."""
    dset = h5make.put(f, name, I4, (rows, WIDTH), data=None, **how)
    step = how["chunk"][0]
    for k, start in enumerate(range(0, rows, step)):
        if holes == "none" or (holes == "some" and k % 2):
            count = min(step, rows - start)
            h5make.write_raw(dset, h5make.raw_bytes(f, f"{name}{k}", 4 * count * WIDTH, "random"), (start, 0), (count, WIDTH))


@test
def test_fill_values_and_holes(folder):
    """Set or default fill x holes x filters x extendible x chunks that do and do not divide the rows."""
    def make(path, rows):
        with h5make.create(path) as f:
            for fill, holes, filters, grows, step in itertools.product(
                    (None, np.int32(-5)), ("none", "some", "all"), ((), ("shuffle", "deflate:6")), (0, 1), (4, 5)):
                name = f"fill{fill}_{holes}_{len(filters)}_{grows}_{step}"
                sparse(f, name, holes, rows, chunk=(step, 4), filters=filters, fill=fill,
                       maxshape=(None, WIDTH) if grows else None)
        return path
    inputs = [make(f"{folder}/{i}.h5", rows) for i, rows in enumerate((ROWS, 7, ROWS))]
    expected = concat(inputs)
    for ranks in (1, 2, 3):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(expected, f"{folder}/out/{ranks}.h5")
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(expected, f"{folder}/out/c.h5")


@test
def test_fill_time_never(folder):
    """With NEVER, all written values are there and unwritten chunks promise nothing; the property is kept."""
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for fill, filters in itertools.product((None, np.int32(9)), ((), ("deflate:6",))):
                sparse(f, f"full{fill}_{len(filters)}", "none", 7, chunk=(4, 4), filters=filters, fill=fill, fill_time="never",
                       maxshape=(None, WIDTH))
            h5make.put(f, "contiguous", I4, (5, 2), fill=np.int32(3), fill_time="never")
            h5make.put(f, "alloc", I4, (5, 2), fill=np.int32(3), fill_time="alloc")
    for write in ("direct", "collective"):
        merge(inputs, f"{folder}/out/{write}.h5", 2, f"--write={write}")
        assert_model(concat(inputs), f"{folder}/out/{write}.h5")


@test
def test_fill_time_never_with_holes(folder):
    """The values that were written survive beside holes."""
    inputs, want, known = [], [], []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            sparse(f, "d", "some", ROWS, chunk=(5, WIDTH), fill=np.int32(9), fill_time="never", filters=("deflate:6",))
        with h5py.File(inputs[-1]) as f:
            want.append(f["d"][()])
        known += [bool(r // 5 % 2) for r in range(ROWS)]
    merge(inputs, f"{folder}/out/o.h5", 2)
    with h5py.File(f"{folder}/out/o.h5") as f:
        got = f["d"][()]
    check((np.concatenate(want)[known] == got[known]).all(), "written values changed beside holes")


@test
def test_fill_values_differ(folder):
    """A chunk that is missing in an input is written with that input's fill value where the output's is another."""
    inputs = []
    for i, fill in enumerate((1, 2, None)):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for filters in ((), ("shuffle", "deflate:6")):
                sparse(f, f"d{len(filters)}", "some", 20, chunk=(5, 4), fill=None if fill is None else np.int32(fill), filters=filters)
    for ranks in (1, 2):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(concat(inputs), f"{folder}/out/c.h5")


@test
def test_missing_chunks_stay_missing(folder):
    """A large sparse dataset stays sparse: 3 chunks of 256 KiB written of 300 in each input."""
    side = 512 * 1024 // 4
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            dset = h5make.put(f, "d", I4, (300 * side,), chunk=(side,), filters=("deflate:1",), data=None, maxshape=(None,))
            for k in (1, 77, 299):
                dset[k * side:(k + 1) * side] = np.arange(side) % 7 + i
    out = f"{folder}/out/o.h5"
    merge(inputs, out, 2)
    with h5py.File(out) as f:
        d = f["d"]
        check(d.shape == (600 * side,) and d.chunks == (side,), f"{d.shape} {d.chunks}")
        check(d.id.get_num_chunks() == 6, f"{d.id.get_num_chunks()} chunks stored, 6 expected")
        for k in (1, 77, 299, 301, 377, 599):
            check((d[k * side:(k + 1) * side] == np.arange(side) % 7 + k // 300).all(), f"chunk {k}")


@test
def test_contiguous_never_written(folder):
    """A contiguous dataset without storage in one input: h5diff would call anything equal to it."""
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            h5make.put(f, "d", I4, (10, 2), fill=np.int32(7), data=None if i == 1 else "random")
            h5make.put(f, "none", I4, (10, 2), fill=np.int32(7), data=None)
            h5make.put(f, "zero", I4, (10, 2), data=None)
    for ranks in (1, 3):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(concat(inputs), f"{folder}/out/c.h5")
    check(describe(f"{folder}/out/1.h5")["/none"].values[:4] == np.int32(7).tobytes(), "the fill value does not show")


@test
def test_chunk_filter_masks(folder):
    """Chunks whose mask says that a filter was skipped are read as HDF5 reads them."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            dset = h5make.put(f, "d", I4, (40,), chunk=(10,), filters=("shuffle", "deflate:6"), maxshape=(None,))
            f.flush()
            raw = np.arange(10, dtype="<i4") + 100 * i
            dset.id.write_direct_chunk((10,), raw.tobytes(), filter_mask=3)
            shuffled = raw.view("u1").reshape(10, 4).T.copy()
            dset.id.write_direct_chunk((30,), shuffled.tobytes(), filter_mask=2)
        with h5py.File(inputs[-1]) as f:
            check((f["d"][10:20] == raw).all() and (f["d"][30:] == raw).all(), "the test's own chunks are wrong")
    for ranks in (1, 2):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")


@test
def test_one_chunk_of_every_kind(folder):
    """Datasets of a single stored chunk: exact, larger than the rows, with a mask, unfiltered at the edge, not there."""
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        rows = (10, 7, 4)[i]
        with h5make.create(inputs[-1], libver=(("earliest", "v110", "v110")[i], "v110")) as f:
            values = np.arange(rows, dtype="<i4") + 1000 * i
            for name, chunk, maxrows in (("exact", rows, None), ("larger", 64, None), ("fixed", rows, rows), ("holes", rows, None)):
                d = h5make.put(f, name, I4, (rows,), chunk=(chunk,), filters=("shuffle", "deflate:6"), data=None, maxshape=(maxrows,))
                if name != "holes" or i == 1:
                    d[...] = values
            d = h5make.put(f, "masked", I4, (rows,), chunk=(rows,), filters=("shuffle", "deflate:6"), data=None, maxshape=(None,))
            d.id.write_direct_chunk((0,), values.tobytes(), filter_mask=3)
            if i > 0:  # the option needs a file of the later format
                dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                dcpl.set_chunk((64,))
                dcpl.set_deflate(6)
                h5make.leave_partial_chunks(dcpl)
                space = h5py.h5s.create_simple((rows,), (h5py.h5s.UNLIMITED,))
                h5py.h5d.create(f.id, b"edge", h5py.h5t.STD_I32LE, space, dcpl)
                f["edge"][...] = values
            else:
                h5make.put(f, "edge", I4, (rows,), chunk=(64,), filters=("deflate:6",), data=None, maxshape=(None,))[...] = values
    for ranks in (1, 2, 3):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")
    with h5py.File(f"{folder}/out/1.h5") as f:
        want = np.concatenate([np.arange(r, dtype="<i4") + 1000 * i for i, r in enumerate((10, 7, 4))])
        for name in ("exact", "larger", "fixed", "masked", "edge"):
            check((f[name][...] == want).all(), name)


@test
def test_rows_beyond_32_bits(folder):
    """Five thousand million rows in each input, two chunks of them written."""
    rows, chunk = 5 * 10 ** 9 + 7, 4 * 1024 * 1024
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1], libver=("v110", "v110")) as f:
            d = h5make.put(f, "d", h5make.of("u1"), (rows,), chunk=(chunk,), filters=("deflate:1",), data=None, maxshape=(None,))
            d[3:6] = 10 + i
            d[rows - 2:] = 20 + i
    merge(inputs, f"{folder}/out/o.h5", 2, timeout=120)
    with h5py.File(f"{folder}/out/o.h5") as f:
        d = f["d"]
        check(d.shape == (2 * rows,), f"{d.shape}")
        for begin, want in ((0, [0, 0, 0, 10, 10, 10, 0]), (rows - 3, [0, 20, 20, 0, 0, 0, 11, 11, 11, 0]), (2 * rows - 3, [0, 21, 21])):
            got = list(d[begin:begin + len(want)])
            check(got == want, f"rows from {begin}: {got}, {want} expected")
        check(d.id.get_num_chunks() < 10, f"{d.id.get_num_chunks()} chunks stored of 4 written")


@test
def test_deflate_streams_of_other_writers(folder):
    """What HDF5 reads: stored blocks, many flushes, bytes after the end of the stream."""
    data = np.arange(4000, dtype="<i4")

    def flushed():
        z = zlib.compressobj(6)
        return b"".join(z.compress(data[k:k + 10].tobytes()) + z.flush(zlib.Z_FULL_FLUSH) for k in range(0, 4000, 10)) + z.flush()
    streams = [zlib.compress(data.tobytes(), 0), flushed(), zlib.compress(data.tobytes()) + b"trailing bytes",
               zlib.compress(data.tobytes(), 9)]
    path = f"{folder}/a.h5"
    with h5make.create(path) as f:
        d = h5make.put(f, "d", I4, (16000,), chunk=(4000,), filters=("deflate:6",), data=None, maxshape=(None,))
        for k, stream in enumerate(streams):
            d.id.write_direct_chunk((4000 * k,), stream)
    with h5py.File(path) as f:
        check((f["d"][()] == np.tile(data, 4)).all(), "HDF5 does not read the test's own chunks")
    for encoder in ("libdeflate", "zlib"):
        merge([path, path], f"{folder}/out/{encoder}.h5", 2, f"--encoder={encoder}")
        assert_model(concat([path, path]), f"{folder}/out/{encoder}.h5")


if __name__ == "__main__":
    main()
