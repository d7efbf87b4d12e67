# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of every kind come from the first input, references among them point by path; scalar and null
datasets are kept."""
import h5py
import numpy as np
from h5py import h5s

import h5make
from h5model import assert_model, describe
from h5oracle import concat
from h5vtest import check, h5dump_110, main, merge, test

RAGGED = h5py.vlen_dtype(np.dtype("<i4"))
TEXT = h5py.string_dtype()


def raw_attribute(obj, name, t, shape=()):
    a = h5py.h5a.create(obj.id, name.encode(), t, h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR))
    size = t.get_size()
    a.write(np.frombuffer(bytes(i * 7 % 251 for i in range(size * int(np.prod(shape)))), f"V{size}").reshape(shape), mtype=t)


def every_kind(f, obj, seed):
    a = obj.attrs
    for name, t in h5make.types().items():
        raw_attribute(obj, f"t_{name}", t)
        raw_attribute(obj, f"t_{name}_2d", t, (2, 3))
    a["vlen_text"] = f"fünf {seed}"
    a["vlen_ascii"] = np.array("plain", dtype=h5py.string_dtype("ascii"))
    a["vlen_texts"] = np.array([["a", ""], ["ccc", "ü"]], dtype=TEXT)
    a["empty_text"] = ""
    ragged = np.empty(3, dtype=object)
    ragged[:] = [np.arange(seed, dtype="<i4"), np.zeros(0, "<i4"), np.array([7, 8], "<i4")]
    a.create("ragged", ragged, dtype=RAGGED)
    mixed = np.zeros(2, dtype=[("n", "<i4"), ("s", TEXT)])
    mixed[0], mixed[1] = (1, "one"), (2, "zwei")
    a.create("text_in_compound", mixed)
    a["null"] = h5py.Empty("<f8")
    a["null_text"] = h5py.Empty(TEXT)
    a.create("no_elements", np.zeros((0, 3), "<i2"))
    a["bool"] = True
    a.create("big", np.arange(25000 + seed, dtype="<i4"))  # over 64 KiB: dense storage
    a.create("ünïcode name / with slash", np.int8(1))


def make(path, seed, **options):
    with h5make.create(path, **options) as f:
        h5make.put(f, "d", h5make.of("<i4"), (4 + seed, 2), chunk=(3, 2), filters=("deflate:6",), maxshape=(None, 2))
        h5make.put(f, "g/none", h5make.of("<i4"), (0, 2))
        f["scalar"], f["null"] = 2.5, h5py.Empty("<u2")
        for path in ("/", "g", "d", "g/none", "scalar", "null"):
            every_kind(f, f[path], seed)
        for k in range(40):
            f["g"].attrs[f"many{k}"] = k * seed
    return f


@test
def test_every_kind_from_the_first(folder):
    inputs = [f"{folder}/{i}.h5" for i in range(3)]
    for i, path in enumerate(inputs):
        make(path, i + 1, libver=("v110", "v110"))
    for ranks in (1, 2, 3):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(concat(inputs), f"{folder}/out/c.h5")


@test
def test_readers_of_1_10(folder):
    make(f"{folder}/a.h5", 1, libver=("v110", "v110"))
    merge([f"{folder}/a.h5"] * 2, f"{folder}/out/o.h5", 2)
    h5dump_110(f"{folder}/out/o.h5")


def scales(path, seed, order):
    """Dimension scales and references to objects, created in another order in each file so that addresses differ."""
    with h5make.create(path) as f:
        for name in order:
            shape = {"data": (3, 4), "g/cube": (2, 4, 5), "time": (3,), "lat": (4,), "g/lon": (5,)}[name]
            h5make.put(f, name, h5make.of("<f4"), shape)
        for name in ("time", "lat", "g/lon"):
            f[name].make_scale(name + str(seed))
        f["data"].dims[0].attach_scale(f["time"])
        f["data"].dims[1].attach_scale(f["lat"])
        f["data"].dims[1].label = "degrees north"
        f["g/cube"].dims[1].attach_scale(f["lat"])
        f["g/cube"].dims[2].attach_scale(f["g/lon"])
        f.attrs["one"] = f["g/lon"].ref
        f["g"].attrs.create("some", np.array([[f["data"].ref, f["g"].ref], [f.ref, h5py.Reference()]], dtype=h5py.ref_dtype))
        lists = np.empty(2, dtype=object)
        lists[:] = [np.array([f["time"].ref, f["g/cube"].ref], dtype=h5py.ref_dtype), np.array([], dtype=h5py.ref_dtype)]
        f["g"].attrs.create("lists", lists, dtype=h5py.vlen_dtype(h5py.ref_dtype))
        pair = np.zeros(1, dtype=[("n", "<i4"), ("to", h5py.ref_dtype)])
        pair[0] = (5, f["lat"].ref)
        f["data"].attrs.create("in_compound", pair)


@test
def test_references_are_pointed_by_path(folder):
    orders = [["data", "g/cube", "time", "lat", "g/lon"], ["g/lon", "lat", "time", "g/cube", "data"]]
    inputs = [f"{folder}/{i}.h5" for i in range(2)]
    for i, path in enumerate(inputs):
        scales(path, i, orders[i])
    for ranks in (1, 3):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(concat(inputs), f"{folder}/out/c.h5")
    with h5py.File(f"{folder}/out/3.h5") as f:
        check(f["data"].dims[1][0].name == "/lat" and f["g/cube"].dims[2][0].name == "/g/lon", "scales do not follow")
        check(f[f.attrs["one"]].name == "/g/lon", "reference does not follow")


@test
def test_scalars_and_null_spaces(folder):
    """Kept when equal in all, of every type; attributes of the first."""
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for name, t in h5make.types().items():
                for label, space in (("scalar", h5s.create(h5s.SCALAR)), ("null", h5s.create(h5s.NULL))):
                    d = h5py.Dataset(h5py.h5d.create(f.id, f"{name}_{label}".encode(), t, space))
                    d.attrs["from"] = i
                    if label == "scalar":
                        data = np.frombuffer(bytes(k * 11 % 251 for k in range(t.get_size())), np.uint8)
                        d.id.write(h5s.create_simple((1,)), h5s.ALL, data, mtype=t)
            f["unwritten"] = np.float64(0)
    for ranks in (1, 2):
        merge(inputs, f"{folder}/out/{ranks}.h5", ranks)
        assert_model(concat(inputs), f"{folder}/out/{ranks}.h5")
    merge(inputs, f"{folder}/out/c.h5", 2, "--write=collective")
    assert_model(concat(inputs), f"{folder}/out/c.h5")


@test
def test_attributes_of_the_others_do_not_matter(folder):
    """Only the first input's attributes count: others may lack them, have more or have other types."""
    inputs = [f"{folder}/{i}.h5" for i in range(3)]
    for i, path in enumerate(inputs):
        with h5make.create(path) as f:
            d = h5make.put(f, "d", h5make.of("<i4"), (i, 2))  # the first has attributes, but no rows
            if i == 0:
                d.attrs["a"], f.attrs["r"] = "first", 1
            elif i == 1:
                d.attrs["a"], d.attrs["b"], f.attrs["r"] = 5, 6, "text"
    merge(inputs, f"{folder}/out/o.h5", 2)
    assert_model(concat(inputs), f"{folder}/out/o.h5")
    check(describe(f"{folder}/out/o.h5")["/d"].attrs["a"].value == "first", "not the first input's attribute")


if __name__ == "__main__":
    main()
