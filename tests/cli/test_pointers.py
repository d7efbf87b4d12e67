# SPDX-License-Identifier: BSD-3-Clause
"""Datasets whose elements are not their bytes: variable-length strings and sequences, object and region references, alone
and in compounds; value by value."""
import h5py
import numpy as np
from h5py import h5d, h5p, h5s

import h5make
from h5model import describe, plain
from h5oracle import concat
from h5vtest import RANKS, check, fails, h5dump_110, main, merge, test

I4 = h5make.of("<i4")
TEXT = h5py.string_dtype()
BOTH = [("direct", n) for n in RANKS] + [("collective", n) for n in (1, 3)]


def ragged(n, seed, dtype="<i4"):
    out = np.empty(n, dtype=object)
    for k in range(n):
        out[k] = (np.arange((k * 7 + seed) % 11) * (k + 1)).astype(dtype)
    return out


def texts(n, seed):
    return np.array([("ä" * (k % 5) + str(k * seed)) if k % 4 else "" for k in range(n)], dtype=object)


def fill_file(path, i, rows, tail=(), **options):
    """Every kind, in several storages."""
    with h5make.create(path, **options) as f:
        h5make.put(f, "plain", I4, (rows, 2), chunk=(4, 2), maxshape=(None, 2))
        f.create_dataset("text", data=texts(rows, i + 1), dtype=TEXT)
        f.create_dataset("ascii", data=np.array([b"x" * k for k in range(rows)], dtype=object), dtype=h5py.string_dtype("ascii"))
        f.create_dataset("text_chunked", data=texts(rows, i + 5), dtype=TEXT, chunks=(3,), compression="gzip", maxshape=(None,), shuffle=True)
        f.create_dataset("seq", data=ragged(rows, i), dtype=h5py.vlen_dtype("<i4"))
        f.create_dataset("seq_be", data=ragged(rows, i + 3, ">f8"), dtype=h5py.vlen_dtype(">f8"), chunks=(5,), maxshape=(None,))
        two = np.empty((rows, 2), dtype=object)
        two[:, 0], two[:, 1] = texts(rows, 3), texts(rows, 4 + i)
        f.create_dataset("g/two", data=two, dtype=TEXT)
        record = np.zeros(rows, dtype=[("n", "<i4"), ("s", TEXT), ("x", "<f8", (2,))])
        record["n"], record["s"] = np.arange(rows) + i, texts(rows, 9)
        f.create_dataset("record", data=record, chunks=(4,), maxshape=(None,))
        f["scalar"] = "the same in all: ü"
        f.create_dataset("none", (0,), dtype=TEXT, maxshape=(None,), chunks=(8,))
        f.create_dataset("null", data=h5py.Empty(TEXT))
        half = f.create_dataset("half", (rows,), dtype=TEXT, chunks=(2,), maxshape=(None,))
        half[: rows // 2] = texts(rows, 2)[: rows // 2]
        f["text"].attrs["about"] = f"the text of {i}"
    return path


def values(paths, name):
    parts = []
    for p in paths:
        with h5py.File(p) as f:
            parts += [plain(f, row) for row in f[name][()]]
    return parts


def same(paths, out, names=None):
    """Structure as the oracle says, and the values of what holds pointers."""
    expected, actual = concat(paths), describe(out)
    check(sorted(expected) == sorted(actual), f"objects: {sorted(set(expected) ^ set(actual))}")
    for path, obj in expected.items():
        got = actual[path]
        for what in ("attrs", "order", "type", "shape", "fill", "fill_time"):
            if hasattr(obj, what):
                check(getattr(obj, what) == getattr(got, what), f"{path}: {what}: {getattr(obj, what)} expected, is {getattr(got, what)}")
        if hasattr(obj, "maxshape") and obj.shape:
            check(obj.maxshape(got.maxshape) is None, f"{path}: {obj.maxshape(got.maxshape)}")
            check(values(paths, path) == values([out], path), f"{path}: values")


@test
def test_every_kind(folder):
    inputs = [fill_file(f"{folder}/{i}.h5", i, rows) for i, rows in enumerate((9, 1, 14))]
    for write, n in BOTH:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        same(inputs, out)
        with h5py.File(out) as f:
            check(f["scalar"][()].decode() == "the same in all: ü", "scalar")
    h5dump_110(f"{folder}/out/direct3.h5")


@test
def test_one_input_and_latest_format(folder):
    inputs = [fill_file(f"{folder}/{i}.h5", i, 12, libver=("v110", "v110")) for i in range(2)]
    merge(inputs[:1], f"{folder}/out/one.h5", 3)
    same(inputs[:1], f"{folder}/out/one.h5")
    merge(inputs, f"{folder}/out/two.h5", 2, "--compress=deflate:3")
    with h5py.File(f"{folder}/out/two.h5") as f:
        check(f["text"].compression == "gzip", "not compressed")
    same(inputs, f"{folder}/out/two.h5")


@test
def test_fill_values_of_variable_length(folder):
    """Kept, and used where rows are added later. HDF5 itself cannot read unwritten elements of such a dataset from a file
    that is open for reading ("no write intent on file"): that is an error here, too."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for name, chunk in (("chunked", (3,)), ("flat", None)):
                dcpl = h5p.create(h5p.DATASET_CREATE)
                if chunk:
                    dcpl.set_chunk(chunk)
                fill = np.array("nothing", dtype=TEXT)
                dcpl.set_fill_value(fill)
                space = h5s.create_simple((7,), (h5s.UNLIMITED if chunk else 7,))
                d = h5py.Dataset(h5d.create(f.id, name.encode(), h5make.h5t.py_create(TEXT, logical=True), space, dcpl))
                d[:] = texts(7, i + 1)
    for write, n in BOTH[1:3] + BOTH[-1:]:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        for name in ("chunked", "flat"):
            check(values(inputs, name) == values([out], name), f"{name}: {values([out], name)}")
        with h5py.File(out, "r+") as f:
            f["chunked"].resize((17,))
            check(f["chunked"][16] == b"nothing", "the fill value")
    with h5py.File(inputs[1], "r+") as f:
        f["chunked"].resize((17,))
    fails(inputs, f"{folder}/out/o.h5", 1, "1.h5", "/chunked", "read")


@test
def test_pieces_within_the_buffer(folder):
    """More data than the buffer goes in pieces; a row that cannot fit is an error that says so."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            f.create_dataset("t", data=np.array(["x" * (k % 50 * 4000) + str(k) for k in range(300)], dtype=object), dtype=TEXT)
    merge(inputs, f"{folder}/out/o.h5", 2, "--buffer-size=4MiB")
    check(values(inputs, "t") == values([f"{folder}/out/o.h5"], "t"), "values")
    with h5make.create(inputs[1]) as f:
        f.create_dataset("t", data=np.array(["y", "x" * 5000000], dtype=object), dtype=TEXT)
    for write in ("direct", "collective"):
        fails(inputs, f"{folder}/out/p.h5", 2, "1.h5", "/t", "row 1", "--buffer-size", options=("--buffer-size=4MiB", f"--write={write}"))


def references(path, i, rows):
    with h5make.create(path) as f:
        for name in (("a", "b", "g/c") if i % 2 else ("g/c", "b", "a")):
            h5make.put(f, name, I4, (rows, 3), chunk=(4, 3), maxshape=(None, 3))
        f["g/alias"] = f["a"]
        objects = np.array([f["a"].ref, f["g"].ref, f.ref, h5py.Reference(), f["g/c"].ref] * rows, dtype=h5py.ref_dtype)
        f.create_dataset("objects", data=objects, dtype=h5py.ref_dtype, chunks=(4,), maxshape=(None,))
        d = f.create_dataset("regions", (rows,), dtype=h5py.regionref_dtype)
        for k in range(rows - 1):  # the last is null
            d[k] = f["b"].regionref[k:k + 2, 1:3] if k % 3 else f["g/c"].regionref[...] if k else f["a"].regionref[[0, 2], 1]
        f["a"].attrs.create("where", f["b"].regionref[1:3, 0:2], dtype=h5py.regionref_dtype)
        pair = np.zeros(2, dtype=[("n", "<i4"), ("to", h5py.ref_dtype)])
        pair["to"] = [f["b"].ref, f["a"].ref]
        f.create_dataset("pairs", data=pair)
        lists = np.empty(2, dtype=object)
        lists[:] = [np.array([f["a"].ref, f["g"].ref], dtype=h5py.ref_dtype), np.array([], dtype=h5py.ref_dtype)]
        f.create_dataset("lists", data=lists, dtype=h5py.vlen_dtype(h5py.ref_dtype))
        f.create_dataset("one", data=f["b"].ref, dtype=h5py.ref_dtype)
    return path


def pointed(f, refs):
    """What references name; regions by the values that they select."""
    out = []
    for r in refs:
        if not r:
            out.append(None)
        elif isinstance(r, h5py.RegionReference):
            out.append((f[r].name, f[r][r].tolist()))
        else:
            out.append(f[r].name)
    return out


@test
def test_references(folder):
    """Objects by path; regions move with their rows, so that they select the same values."""
    sizes = (6, 4, 9)
    inputs = [references(f"{folder}/{i}.h5", i, rows) for i, rows in enumerate(sizes)]
    want = {}
    for p in inputs:
        with h5py.File(p) as f:
            for name in ("objects", "regions"):
                want.setdefault(name, []).extend(pointed(f, f[name][()]))
            want.setdefault("pairs", []).extend(pointed(f, f["pairs"]["to"]))
            want.setdefault("lists", []).extend(pointed(f, row) for row in f["lists"][()])
    for write, n in BOTH:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        with h5py.File(out) as f, h5py.File(inputs[0]) as g:
            for name in ("objects", "regions"):
                check(pointed(f, f[name][()]) == want[name], f"{name}: {pointed(f, f[name][()])}, {want[name]} expected")
            check(pointed(f, f["pairs"]["to"]) == want["pairs"], "in a compound")
            check([pointed(f, row) for row in f["lists"][()]] == want["lists"], "in sequences")
            check(f[f["one"][()]].name == "/b", "scalar")
            check(pointed(f, [f["a"].attrs["where"]]) == pointed(g, [g["a"].attrs["where"]]), "attribute")


@test
def test_scalars_that_differ(folder):
    for a, b in (("text", "other"), ("", "x")):
        inputs = []
        for i, text in enumerate((a, a, b)):
            inputs.append(f"{folder}/{i}.h5")
            with h5make.create(inputs[-1]) as f:
                f["s"] = text
        for write in ("direct", "collective"):
            fails(inputs, f"{folder}/out/o.h5", 3, "0.h5", "2.h5", "/s", "value", options=(f"--write={write}",), ranks=(1, 3))


@test
def test_types_that_differ(folder):
    kinds = [TEXT, h5py.string_dtype("ascii"), h5py.vlen_dtype("<i4"), h5py.vlen_dtype("<i8"), h5py.ref_dtype, np.dtype("S8")]
    for a, b in zip(kinds, kinds[1:] + kinds[:1]):
        inputs = [f"{folder}/{i}.h5" for i in range(2)]
        for path, kind in zip(inputs, (a, b)):
            with h5make.create(path) as f:
                f.create_dataset("g/d", (3,), dtype=kind)
        fails(inputs, f"{folder}/out/o.h5", 3, "0.h5", "1.h5", "/g/d", "type", ranks=(2,))


@test
def test_reference_without_a_path(folder):
    with h5make.create(f"{folder}/a.h5") as f:
        f["gone"] = 1
        f.create_dataset("r", data=[f["gone"].ref], dtype=h5py.ref_dtype)
        del f["gone"]
    for write in ("direct", "collective"):
        fails([f"{folder}/a.h5"], f"{folder}/out/o.h5", 1, "a.h5", "/r", "reference", options=(f"--write={write}",), ranks=(1, 3))


if __name__ == "__main__":
    main()
