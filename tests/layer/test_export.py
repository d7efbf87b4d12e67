# SPDX-License-Identifier: BSD-3-Clause
"""h5vinfo --export: what comes out by Python's own csv and json, and that it makes the same layer again, bit for bit."""
import csv
import io
import json
import os
import random
import subprocess
import sys

import h5py
import numpy as np

from layertest import H5VINFO, check, csv_text, geo, h5vinfo, make_layer, sample  # first: it says where the others are
import geotree
from h5vtest import SOURCE, Skip, main, test

GOLDEN = f"{SOURCE}/tests/golden"


def export(path, form, *options):
    p = subprocess.run([H5VINFO, f"--export={form}", *options, path], capture_output=True, timeout=60)
    check(p.returncode == 0 and not p.stderr, f"{form} {options}: exit {p.returncode} {p.stderr}")
    return p.stdout


def everything(path, name="layer", columns=True):
    """All datasets and attributes of a layer as bytes."""
    found = {}
    with h5py.File(path) as f:
        f[name].visititems(lambda n, o: found.__setitem__(n, (str(o.dtype), o.shape, o[()].tobytes())) if isinstance(o, h5py.Dataset) else None)
        found["attributes"] = {k: bytes(str(v), "utf-8") for k, v in f[name].attrs.items()}
        found["names"] = [f[name]["columns"][c].attrs.get("name", c) for c in f[name].get("columns", {})]
    return {k: v for k, v in found.items() if columns or not k.startswith(("columns", "valid", "names"))}


def same(path, again, what, columns=True):
    a, b = everything(path, columns=columns), everything(again, columns=columns)
    different = [k for k in a.keys() | b.keys() if a.get(k) != b.get(k)]
    check(not different, f"{what}: after the way through text, {sorted(different)} differ")


def round_trip(folder, path, wkt=True):
    """WKT holds neither columns nor null rows."""
    same(path, make_layer(folder, export(path, "csv").decode(), out="again.h5"), "csv")
    if wkt:
        same(path, make_layer(folder, export(path, "wkt").decode(), out="again.h5"), "wkt", columns=False)
    with h5py.File(path) as f:
        check(export(path, "wkb") == f["layer/geometry/wkb"][()].tobytes(), "wkb is not geometry/wkb")


@test
def test_random_layers_come_back(folder):
    for seed in range(4):
        rows, columns, rng = sample(300, seed)
        columns["empty"] = [rng.choice([None, b"@@", b'"', b",", b"\r\n", b" x ", b"'", b"\xc3\xa4"]) for _ in rows]
        columns["a,b\"c\nd"] = columns["id"]
        round_trip(folder, make_layer(folder, csv_text(rows, columns, rng).replace("@@", '""')), wkt=False)
        there = [r for r in rows if r is not None]
        round_trip(folder, make_layer(folder, csv_text(there, {}, rng)))
        round_trip(folder, make_layer(folder, csv_text(rows, {}, rng).replace("\r\n\r\n", '\r\n""\r\n')), wkt=False)


@test
def test_golden_files_come_back(folder):
    texts = []
    with open(f"{GOLDEN}/expected.tsv", encoding="utf-8") as f:
        for line in f:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("good/"):
                texts.append(fields[2])
    check(len(texts) > 10, "no golden files")
    round_trip(folder, make_layer(folder, "\n".join(texts)))
    for extreme in ("POINT (-0 5e-324)", "POINT (1.7976931348623157e308 0.1)", "LINESTRING (1 2)", "POLYGON ((0 0, 1 1))"):
        round_trip(folder, make_layer(folder, f"WKT\n\"SRID=4326;{extreme}\"\n"))


@test
def test_generated_kinds_come_back(folder):
    r = subprocess.run([sys.executable, f"{SOURCE}/tests/tools/gen_geo.py", "--out", folder, "--lakes", "300", "--roads", "500", "--points", "900",
                        "--lake-max", "3000"], capture_output=True, timeout=60)
    check(r.returncode == 0, r.stderr.decode())
    for kind in ("lakes", "roads", "points"):
        with open(f"{folder}/{kind}.wkt", encoding="utf-8") as f:
            path = make_layer(folder, f.read(), out=f"{kind}.h5")
        with open(f"{folder}/{kind}.wkb", "rb") as f:
            check(export(path, "wkb") == f.read(), f"{kind}: wkb is not the generator's")
        same(path, make_layer(folder, export(path, "wkt").decode(), out="again.h5"), kind, columns=False)
        got, again = everything(path), everything(make_layer(folder, export(path, "csv").decode(), out="again.h5"))
        check(got == again, f"{kind}: csv")


def typed_layer(folder):
    """Columns of every type that has a text."""
    path = make_layer(folder, "\n".join(f"POINT ({i} {-i})" for i in range(5)))
    with h5py.File(path, "r+") as f:
        group, valid = f["layer"].create_group("columns"), f["layer"].create_group("valid")
        for t in ("i1", "<i2", ">i4", "<i8", "u1", "<u2", ">u4", "<u8"):
            low, high = np.iinfo(t).min, np.iinfo(t).max
            group[f"n_{np.dtype(t).name}"] = np.array([low, high, 0, 1, 7], t)
        group["f4"] = np.array([0.1, -0.0, 1e30, 5, 1e-45], "<f4")
        group["f8"] = np.array([0.1, -0.0, 1e300, 5e-324, 17], ">f8")
        group["flag"] = np.array([True, False, True, True, False])
        times = ["1970-01-01", "1969-12-31T23:59:59.999999", "2024-02-29T12:34:56", "0000-01-01", "9999-12-31T23:59:59.5"]
        group["t"] = np.array(times, "M8[us]").astype("<i8")
        group["t"].attrs["units"] = np.bytes_(b"microseconds since 1970-01-01T00:00:00Z")
        group["s"] = np.array([b"ab", b"", b"c,d", b'"', b"abcde"], "S5")
        valid["f8"] = np.array([1, 1, 0, 1, 1], "u1")
        valid["s"] = np.array([1, 1, 1, 0, 1], "u1")
    return path


@test
def test_types(folder):
    path = typed_layer(folder)
    rows = list(csv.reader(io.StringIO(export(path, "csv").decode(), newline="")))
    features = [json.loads(part) for part in export(path, "geojsonseq").decode().split("\x1e")[1:]]
    with h5py.File(path) as f:
        check(rows[0] == ["WKT", *f["layer/columns"]], rows[0])
        for c, name in enumerate(f["layer/columns"], 1):
            values, valid = f["layer/columns"][name][()], f["layer/valid"][name][()] if name in f["layer/valid"] else np.ones(5)
            for i, v in enumerate(values):
                got, property_ = rows[1 + i][c], features[i]["properties"][name]
                if not valid[i]:
                    check(got == "" and property_ is None, f"{name} {i}: {got!r} {property_!r}")
                elif name == "t":
                    check(got == property_ and got[-1] == "Z" and np.datetime64(got[:-1], "us").astype("i8") == v, f"{name} {i}: {got!r} {property_!r}")
                elif values.dtype.kind == "S":
                    check(got == property_ == v.decode(), f"{name} {i}: {got!r} {property_!r}")
                elif values.dtype.kind == "b":
                    check(got == str(v).lower() and property_ is bool(v), f"{name} {i}: {got!r} {property_!r}")
                elif values.dtype.kind == "f":
                    check(np.float64(got).tobytes() == np.float64(property_).tobytes() == np.float64(v).tobytes(), f"{name} {i}: {got!r} {property_!r}")
                else:
                    check(int(got) == property_ == int(v), f"{name} {i}: {got!r} {property_!r}")
    check(b"\"\"" in export(path, "csv").splitlines()[2], "an empty text has no quotes")


def coordinates(g):
    """The geometry object of RFC 7946."""
    if g.kind == 7:
        return {"type": "GeometryCollection", "geometries": [coordinates(p) for p in g.body]}

    def lists(body):
        return [] if body is None else [lists(b) if isinstance(b, (list, tuple)) or b is None else b for b in body]
    return {"type": geo.KINDS[g.kind - 1], "coordinates": lists(g.body)}


@test
def test_geojsonseq(folder):
    rng = random.Random(5)
    rows = [None if rng.random() < 0.1 else geo.random_geometry(rng, dim=rng.randint(0, 1)) for _ in range(400)]
    names = {"na\"me": [rng.choice([None, b"@@", b'q"\\\n\x01', b"\xc3\xbc"]) for _ in rows]}
    path = make_layer(folder, csv_text(rows, names, rng).replace("@@", '""'))
    out = export(path, "geojsonseq")
    parts = out.split(b"\x1e")
    check(parts[0] == b"" and len(parts) == len(rows) + 1 and all(p.endswith(b"\n") and p.count(b"\n") == 1 for p in parts[1:]), "not RFC 8142")
    for row, name, part in zip(rows, names["na\"me"], parts[1:]):
        want = {"type": "Feature", "geometry": coordinates(row) if row else None, "properties": {"na\"me": None if name is None else name.decode().replace("@@", "")}}
        got = json.loads(part)
        check(got == want, f"{got} is not {want}")


@test
def test_rows_and_boxes(folder):
    rng = random.Random(6)
    rows = [rng.choice([None, geo.G(1, 0, None)]) if i % 50 == 7 else geo.G(1, 0, (rng.uniform(-180, 180), rng.uniform(-90, 90))) for i in range(9000)]
    path = make_layer(folder, csv_text(rows, {}, rng).replace("\r\n\r\n", '\r\n""\r\n'))
    with h5py.File(path) as f:
        boxes, offsets, wkb = f["layer/geometry/bbox"][()], f["layer/geometry/offsets"][()], f["layer/geometry/wkb"][()].tobytes()

    def bytes_of(numbers):
        return b"".join(wkb[offsets[i]:offsets[i + 1]] for i in numbers)

    def all_of_it():
        for first, end, text in ((0, 9000, None), (0, 1, "0:1"), (5, 5, "5:5"), (8990, 9000, "8990:"), (0, 4100, ":4100"), (100, 8001, "100:8001")):
            options = [] if text is None else [f"--rows={text}"]
            check(export(path, "wkb", *options) == bytes_of(range(first, end)), f"rows {text}")
            for box in ((-200, -100, 200, 100), (10, 10, 12, 30), (0, 0, 0, 0), (-180.5, -7e1, 1e1, .5), tuple(boxes[3])):
                numbers = [i for i in geotree.touching(boxes, box) if first <= i < end]
                got = export(path, "wkb", *options, "--bbox=" + ",".join(map(repr, map(float, box))))
                check(got == bytes_of(numbers), f"rows {text} in {box}: {len(got)} bytes, {len(numbers)} rows expected")
    all_of_it()
    for leaves in (None, geotree.order(boxes)):
        with h5py.File(path, "r+") as f:
            if "rtree" in f["layer/index"]:
                del f["layer/index/rtree"]
            geotree.put(f["layer"], leaves)
        all_of_it()
    with h5py.File(path, "r+") as f:
        del f["layer/index/rtree"]
        f["layer/index/blocks"][1, "rows"] = 2**63
    r = h5vinfo("--export=wkb", "--bbox=0,0,1,1", path)
    check(r.code == 1 and "index/blocks: block 1: there are no such rows" in r.err, str(r))


@test
def test_long_texts_in_little_memory(folder):
    """120 texts of 1 MB: batches are bounded by the column's bytes, too."""
    with open(H5VINFO, "rb") as f:
        if b"__asan_init" in f.read():
            raise Skip("AddressSanitizer takes memory of its own")
    path = make_layer(folder, "t,WKT\n" + "".join(f"{'x' * 1000000},POINT (1 {i})\n" for i in range(120)))
    p = subprocess.run(["/usr/bin/env", "python3", "-c", "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
                        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", H5VINFO, "--export=csv", path], capture_output=True, timeout=60)
    check(int(p.stdout) < 60 * 1024, f"{p.stdout} KiB {p.stderr}")


@test
def test_errors(folder):
    path = typed_layer(folder)
    for args, code, word in (
            (["--export=shp", path], 2, "--export"), (["--export=csv"], 2, "no FILE"), (["--export=csv", path, path], 2, "one FILE"),
            (["--rows=0:1", path], 2, "go with --export"), (["--bbox=0,0,1,1", path], 2, "go with --export"),
            (["--export=csv", "--check", path], 2, "--check"), (["--export=csv", "--json", path], 2, "--json"),
            (["--export=csv", "--rows=3", path], 2, "colon"), (["--export=csv", "--rows=3:2", path], 2, "ends before"),
            (["--export=csv", "--rows=0:6", path], 2, "5 rows"), (["--export=csv", "--rows=a:6", path], 2, "--rows"),
            (["--export=csv", "--bbox=1,2,3", path], 2, "four numbers"), (["--export=csv", "--bbox=1,2,3,4,5", path], 2, "four numbers"),
            (["--export=csv", "--bbox=1,2,0,4", path], 2, "lower side"), (["--export=csv", f"{path}:/nothing"], 1, "nothing"),
            (["--export=csv", f"{folder}/none.h5"], 1, "No such file")):
        r = h5vinfo(*args)
        check(r.code == code and len(r.err.splitlines()) == 1 and word in r.err and not r.out, f"{args}: {r}")
    with h5py.File(path, "r+") as f:
        f["layer/columns/pairs"] = np.zeros((5, 2))
        f.copy("layer", "second")
    for args, word in (([path], "2 layers; FILE:/GROUP"), ([f"{path}:/layer"], "column pairs: several values a row")):
        r = h5vinfo("--export=csv", *args)
        check(r.code in (1, 2) and word in r.err, str(r))
    check(export(f"{path}:/layer", "wkb", "--rows=1:2") == geo.G(1, 0, (1.0, -1.0)).wkb(), "wkb of a layer with such a column")
    for text, word in (("POINT M (1 2 3)", "row 1: M, which GeoJSON"), ("POINT ZM (1 2 3 4)", "row 1: M")):
        r = h5vinfo("--export=geojsonseq", make_layer(folder, f"POINT (0 0)\n{text}\n"))
        check(r.code == 1 and word in r.err, str(r))


@test
def test_output_that_cannot_be_written(folder):
    path = make_layer(folder, "\n".join(f"POINT ({i} {i})" for i in range(100000)))
    with open("/dev/full", "wb") as full:
        p = subprocess.run([H5VINFO, "--export=wkt", path], stdout=full, stderr=subprocess.PIPE, timeout=60)
    check(p.returncode == 1 and b"No space left" in p.stderr and p.stderr.count(b"\n") == 1, f"{p}")
    for ignore in (False, True):
        r, w = os.pipe()
        p = subprocess.Popen([H5VINFO, "--export=wkt", path], stdout=w, stderr=subprocess.PIPE, restore_signals=not ignore)
        os.close(w)
        check(os.read(r, 10) == b"POINT (0 0", "no output")
        os.close(r)
        _, err = p.communicate(timeout=60)
        check(p.returncode != 0 and err == b"", f"a closed pipe: exit {p.returncode} {err}")


main()
