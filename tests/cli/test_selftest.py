# SPDX-License-Identifier: BSD-3-Clause
"""The oracle itself is tested: a merge made by h5py passes it, and every kind of planted difference fails it."""
import ctypes
import ctypes.util
import random
import time

import h5py
import numpy as np
from h5py import h5d, h5s

import geo
import h5vtest
from h5model import assert_model, assert_same, describe, differences
from h5oracle import concat
from h5vtest import Skip, check, main, test

PAIR = np.dtype([("a", "i1"), ("b", ">f8"), ("in", [("z", "u2"), ("s", "S3")])], align=True)


def sample(path, rows, seed):
    """A file with one of everything that the comparison must see."""
    r = np.random.default_rng(seed)
    with h5py.File(path, "w", libver=("earliest", "v110")) as f:
        f.attrs["title"] = "häuser"
        f.attrs["names"] = np.array(["x", "yy"], dtype=h5py.string_dtype())
        f.attrs["none"] = h5py.Empty("f4")
        f.attrs["pair"] = np.array([(1, 2.5, (3, b"ab"))], PAIR)
        g = f.create_group("g/deep")
        g.attrs["u"] = np.bytes_("cm")
        f.create_dataset("ints", data=r.integers(0, 9, (rows, 3)).astype(">i2"), maxshape=(None, 3), chunks=(4, 2),
                         compression=4, shuffle=True, fillvalue=7)
        f.create_dataset("g/floats", data=r.normal(size=rows).astype("f8"))
        f["g/floats"][: min(rows, 1)] = np.frombuffer(b"\x01\0\0\0\0\0\xf8\x7f")
        f.create_dataset("g/deep/pairs", data=np.zeros(rows, PAIR))
        f.create_dataset("text", data=np.array([b"abc"] * rows, "S5"))
        f.create_dataset("flag", data=r.random(rows) < 0.5)
        f.create_dataset("arrays", shape=(rows,), dtype=np.dtype([("m", "f4", (2, 3))]))
        f["scalar"] = 3.5
        f["null"] = h5py.Empty("i4")
        f.attrs["points_to"] = f["ints"].ref
        f["g/floats"].make_scale("s")
        f["text"].dims[0].attach_scale(f["g/floats"])


def copy_attributes(source, target, names=None):
    for name in source.attrs:
        if name not in ("points_to", "DIMENSION_LIST", "REFERENCE_LIST"):
            a = h5py.h5a.open(source.id, name.encode())
            b = h5py.h5a.create(target.id, name.encode(), a.get_type(), a.get_space())
            if source.attrs[name].__class__ is h5py.Empty:
                continue
            value = np.zeros(a.shape, a.dtype)
            a.read(value)
            b.write(value)


def h5py_merge(inputs, out):
    """A merge as short as h5py allows."""
    files = [h5py.File(p, "r") for p in inputs]
    with h5py.File(out, "w", libver=("v110", "v110")) as f:
        def add(name, obj):
            if isinstance(obj, h5py.Group):
                copy_attributes(obj, f.create_group(name))
                return
            dcpl, shape, parts = obj.id.get_create_plist(), obj.shape, [x[name] for x in files]
            space = obj.id.get_space()
            if shape:
                shape = (sum(p.shape[0] for p in parts), *shape[1:])
                if obj.chunks:
                    dcpl.set_chunk(shape)
                maxshape = [h5s.UNLIMITED if m is None else s for m, s in zip(obj.maxshape, shape)]
                space = h5s.create_simple(shape, tuple(maxshape))
            target = h5py.Dataset(h5d.create(f.id, name.encode(), obj.id.get_type(), space, dcpl))
            if shape:
                target[...] = np.concatenate([p[...] for p in parts])
            elif shape == ():
                target[...] = obj[()]
            copy_attributes(obj, target)
        files[0].visititems(add)
        copy_attributes(files[0], f)
        f.attrs["points_to"] = f["ints"].ref
        f["text"].dims[0].attach_scale(f["g/floats"])
    for x in files:
        x.close()


@test
def test_merge_by_h5py_passes(folder):
    paths = []
    for i, rows in enumerate((5, 0, 8)):
        paths.append(f"{folder}/{i}.h5")
        sample(paths[-1], rows, i)
    h5py_merge(paths, f"{folder}/out.h5")
    assert_model(concat(paths), f"{folder}/out.h5")
    assert_same(f"{folder}/out.h5", f"{folder}/out.h5")


def retype(f, name, dtype, **options):
    value, attrs = f[name][()], dict(f[name].attrs)
    del f[name]
    f.create_dataset(name, data=np.asarray(value, dtype), **options)
    for k, v in attrs.items():
        f[name].attrs[k] = v


def poke(name, index, value):
    def change(f):
        d = f[name]
        d[index] = value
    return change


def nan_payload(f):
    bits = np.frombuffer(b"\x02\0\0\0\0\0\xf8\x7f")
    f["g/floats"][:1] = bits


def spoil_enum(f):
    value = f["flag"][()].astype("i1")
    del f["flag"]
    f.create_dataset("flag", data=value, dtype=h5py.enum_dtype({"FALSE": 0, "TRUE": 2}, "i1"))


PAD = h5py.h5t.C_S1.copy()
PAD.set_size(5)


def repad(f):
    """The same five bytes of text, NUL-terminated instead of NUL-padded."""
    n = f["text"].shape[0]
    attrs = list(f["text"].attrs)
    check("DIMENSION_LIST" in attrs, "sample has no DIMENSION_LIST")
    del f["text"]
    h5d.create(f.id, b"text", PAD, h5s.create_simple((n,)))


def reset(f, name, value):
    del f.attrs[name]
    f.attrs[name] = value


def unnull(f):
    del f["null"]
    f.create_dataset("null", shape=(0,), dtype="i4")


PLANTED = {
    "one value": (poke("ints", (3, 1), 100), "/ints: element [3, 1]"),
    "NaN payload": (nan_payload, "/g/floats: element [0]"),
    "member of a compound": (lambda f: f["g/deep/pairs"].write_direct(np.ones(5, PAIR)), "/g/deep/pairs: element"),
    "element of an array": (lambda f: f["arrays"].__setitem__(2, (np.ones((2, 3), "f4"),)), "/arrays: element [2]"),
    "scalar": (poke("scalar", (), 3.25), "/scalar: element []"),
    "byte order": (lambda f: retype(f, "ints", "<i2", maxshape=(None, 3), chunks=(4, 2), compression=4, shuffle=True,
                                    fillvalue=7), "/ints: type"),
    "size": (lambda f: retype(f, "g/floats", "f4"), "/g/floats: type"),
    "enum member": (spoil_enum, "/flag: type"),
    "string padding": (repad, "/text: type"),
    "rows": (lambda f: f["ints"].resize((6, 3)), "/ints: shape"),
    "maxshape": (lambda f: retype(f, "ints", ">i2", maxshape=(None, None), chunks=(4, 2), compression=4, shuffle=True,
                                  fillvalue=7), "/ints: maxshape"),
    "chunk": (lambda f: retype(f, "ints", ">i2", maxshape=(None, 3), chunks=(2, 2), compression=4, shuffle=True,
                               fillvalue=7), "/ints: chunk"),
    "deflate level": (lambda f: retype(f, "ints", ">i2", maxshape=(None, 3), chunks=(4, 2), compression=5,
                                       shuffle=True, fillvalue=7), "/ints: filters"),
    "shuffle": (lambda f: retype(f, "ints", ">i2", maxshape=(None, 3), chunks=(4, 2), compression=4, fillvalue=7),
                "/ints: filters"),
    "fill value": (lambda f: retype(f, "ints", ">i2", maxshape=(None, 3), chunks=(4, 2), compression=4, shuffle=True,
                                    fillvalue=8), "/ints: fill"),
    "layout": (lambda f: retype(f, "g/floats", "f8", chunks=(5,)), "/g/floats: layout"),
    "missing dataset": (lambda f: f.__delitem__("flag"), "/flag: missing"),
    "extra dataset": (lambda f: f.create_dataset("more", data=1), "/more: not expected"),
    "missing group": (lambda f: f.__delitem__("g/deep"), "/g/deep: missing"),
    "empty group": (lambda f: f.create_group("more"), "/more: not expected"),
    "root attribute": (lambda f: f.attrs.__delitem__("title"), "/@title: missing"),
    "attribute text": (lambda f: reset(f, "title", "hauser"), "/@title: value"),
    "attribute padding": (lambda f: f["g/deep"].attrs.create("u", b"cm", dtype="S9"), "/g/deep@u: type"),
    "attribute vlen": (lambda f: reset(f, "names", np.array(["x", "yz"], dtype=h5py.string_dtype())), "/@names: value"),
    "attribute shape": (lambda f: reset(f, "names", np.array([["x"], ["yy"]], dtype=h5py.string_dtype())),
                        "/@names: shape"),
    "attribute null": (lambda f: reset(f, "none", np.float32(0)), "/@none: shape"),
    "attribute type": (lambda f: reset(f, "none", h5py.Empty("f8")), "/@none: type"),
    "attribute compound": (lambda f: reset(f, "pair", np.array([(1, 2.5, (4, b"ab"))], PAIR)), "/@pair: value"),
    "reference": (lambda f: reset(f, "points_to", f["text"].ref), "/@points_to: value"),
    "null reference": (lambda f: f.attrs.modify("points_to", h5py.h5r.Reference()), "/@points_to: value"),
    "scale": (lambda f: f["text"].dims[0].detach_scale(f["g/floats"]), "/text@DIMENSION_LIST: missing"),
    "soft link": (lambda f: f.__setitem__("l", h5py.SoftLink("/ints")), "/l: not expected"),
    "hard link": (lambda f: f.__setitem__("z", f["text"]), "/z: not expected"),
    "null space": (unnull, "/null: shape"),
}


@test
def test_planted_differences_fail(folder):
    missed = []
    for name, (change, reason) in PLANTED.items():
        sample(f"{folder}/a.h5", 5, 1)
        sample(f"{folder}/b.h5", 5, 1)
        with h5py.File(f"{folder}/b.h5", "r+") as f:
            change(f)
        found = differences(describe(f"{folder}/a.h5"), describe(f"{folder}/b.h5"))
        if not any(line.startswith(reason) for line in found):
            missed.append(f"{name}: {found}")
    check(not missed, "not seen: " + "\n".join(missed))
    sample(f"{folder}/b.h5", 5, 1)
    assert_same(f"{folder}/a.h5", f"{folder}/b.h5")


def chunk_verdict(folder, rows, chunks, merged, dtype="u1", width=1):
    """The chunk rule's word on a merge of inputs with these rows and chunks whose output has chunk merged."""
    for i, (n, c) in enumerate(zip(rows, chunks)):
        with h5py.File(f"{folder}/{i}.h5", "w") as f:
            f.create_dataset("d", shape=(n, width), dtype=dtype, chunks=c, maxshape=(None, width))
    model = concat([f"{folder}/{i}.h5" for i in range(len(rows))])
    return model["/d"].chunk(merged)


@test
def test_chunk_rule(folder):
    k = 1024
    good = [((600 * k, 900 * k), [(300 * k, 1)] * 2, (300 * k, 1)),           # agree, large enough: kept
            ((3000 * k, 900 * k), [(300 * k, 1), (200 * k, 1)], (1024 * k, 1)),  # differ: 1 MiB
            ((3000 * k, 9), [(100, 1)] * 2, (1000 * k, 1)),                   # too small: 1 MiB
            ((30, 0, 9), [(10, 1), (7, 1), (10, 1)], (39, 1))]                # no larger than the data
    bad = [((600 * k, 900 * k), [(300 * k, 1)] * 2, (1024 * k, 1)),
           ((3000 * k, 900 * k), [(300 * k, 1), (200 * k, 1)], (300 * k, 1)),
           ((3000 * k, 900 * k), [(300 * k, 1), (200 * k, 1)], (2048 * k, 1)),
           ((3000 * k, 9), [(100, 1)] * 2, (100, 1)),
           ((30, 9), [(10, 1), (10, 1)], (40, 1)), ((30, 9), [(10, 1), (10, 1)], (10, 1))]
    for rows, chunks, merged in good:
        why = chunk_verdict(folder, rows, chunks, merged)
        check(why is None, f"{rows} {chunks} -> {merged} refused: {why}")
    for rows, chunks, merged in bad:
        check(chunk_verdict(folder, rows, chunks, merged), f"{rows} {chunks} -> {merged} accepted")
    check(chunk_verdict(folder, (k, k), [(1, 16 * k)] * 2, (256, 16 * k), width=16 * k) is None, "4 MiB refused")
    check(chunk_verdict(folder, (k, k), [(1, 16 * k)] * 2, (64, 16 * k), width=16 * k), "1 MiB of wide rows accepted")


@test
def test_run_sees_hangs_and_survivors(folder):
    begin = time.monotonic()
    try:
        h5vtest.run(["60"], ranks=2, timeout=1, command="sleep")
        raise RuntimeError("a hang passed")
    except AssertionError as e:
        check(str(e).startswith("hang"), str(e))
    check(time.monotonic() - begin < 20, "the hang was not ended")
    r = h5vtest.run(["-c", "echo out; echo h5vcat: no >&2; exit 3"], ranks=1, command="sh")
    check(r == (3, "out\n", "h5vcat: no\n"), str(r))
    h5vtest.one_line(r, "no")
    for err in ("", "h5vcat: a\nh5vcat: a\n", "a\n", "h5vcat: a\n\n"):
        try:
            h5vtest.one_line(h5vtest.Result(1, "", err), "a")
        except AssertionError:
            continue
        raise AssertionError(f"accepted as one line: {err!r}")


def geos_wkb(geos, wkts):
    """GEOS's ISO WKB of texts, the second opinion on the encoder in geo.py."""
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for name in ("GEOS_init_r", "GEOSWKTReader_create_r", "GEOSWKBWriter_create_r", "GEOSWKTReader_read_r", "GEOSWKBWriter_write_r"):
        getattr(geos, name).restype = pointer
    context = pointer(geos.GEOS_init_r())
    reader, writer = pointer(geos.GEOSWKTReader_create_r(context)), pointer(geos.GEOSWKBWriter_create_r(context))
    for setting, value in (("ByteOrder", 1), ("OutputDimension", 3), ("Flavor", 2)):
        getattr(geos, f"GEOSWKBWriter_set{setting}_r")(context, writer, value)
    for wkt in wkts:
        geometry, length = pointer(geos.GEOSWKTReader_read_r(context, reader, wkt.encode())), size()
        check(geometry.value, f"GEOS does not read {wkt}")
        buffer = pointer(geos.GEOSWKBWriter_write_r(context, writer, geometry, ctypes.byref(length)))
        yield ctypes.string_at(buffer, length.value)
        geos.GEOSFree_r(context, buffer)
        geos.GEOSGeom_destroy_r(context, geometry)


class Plain:
    """In place of random choices of spelling: GEOS does not read all that is legal ("PointZ" in a collection)."""
    random = staticmethod(lambda: 0.0)
    choice = staticmethod(lambda items: items[0])


def has_empty(g):
    return not g.body or any(has_empty(b) if isinstance(b, geo.G) else not b for b in g.body if not isinstance(b, float))


@test
def test_encoder_against_geos(folder):
    name = ctypes.util.find_library("geos_c")
    if not name:
        raise Skip("no libgeos_c")
    rng = random.Random(2)
    sample = [geo.random_geometry(rng, dim=k % 2) for k in range(400)]
    sample = [g for g in sample if not has_empty(g)]  # GEOS's empties lose their dimension
    check(len(sample) > 100 and {g.kind for g in sample} == set(range(1, 8)), f"a sample of {len(sample)}")
    for g, wkb in zip(sample, geos_wkb(ctypes.CDLL(name), [g.wkt(Plain) for g in sample])):
        check(wkb == g.wkb(), f"GEOS differs on {g.wkt(Plain)}: {wkb.hex()}, {g.wkb().hex()}")


@test
def test_layer_oracle(folder):
    rng = random.Random(8)
    rows = [None if k % 9 == 4 else geo.random_geometry(rng) for k in range(3000)]
    columns = {"id": [str(k).encode() for k in range(3000)]}
    path = f"{folder}/a.h5"

    def spoil(name, index, value):
        def change(layer):
            layer[name][index] = value
        return change
    geo.write_layer(path, rows, columns)
    geo.check_layer(path, "layer", rows, columns)
    changes = [spoil("geometry/wkb", 500, 255), spoil("geometry/offsets", 700, 3), spoil("geometry/bbox", (11, 2), 1000.0),
               spoil("geometry/valid", 4, 1), spoil("columns/id/data", 9, 0), spoil("columns/id/offsets", 9, 0),
               lambda layer: layer.__delitem__("geometry/valid"), lambda layer: layer["geometry/wkb"].resize((9,)),
               lambda layer: layer.attrs.modify("h5vec_version", 2), lambda layer: layer.create_group("columns/more"),
               lambda layer: spoil("index/blocks", 1, layer["index/blocks"][0])(layer)]
    for k, change in enumerate(changes):
        geo.write_layer(path, rows, columns)
        with h5py.File(path, "r+") as f:
            change(f["layer"])
        try:
            geo.check_layer(path, "layer", rows, columns)
        except AssertionError:
            continue
        raise AssertionError(f"change {k} to a layer is not seen")


if __name__ == "__main__":
    main(needs=())
