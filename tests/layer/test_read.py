# SPDX-License-Identifier: BSD-3-Clause
"""Layers written by the library, read by h5py: every byte against the tests' own encoder and computation."""
import random
import re
import sys

import h5py
import numpy as np

from layertest import MAKE_LAYER, H5VINFO, check, clean, command, csv_text, geo, h5vinfo, make_layer, sample
from h5vtest import SOURCE, h5dump_110, main, test


def wkt_text(rows, rng, prefix=""):
    return "".join(prefix + r.wkt(rng) + "\n" for r in rows)


@test
def test_any_chunk_and_batch(folder):
    rows, columns, rng = sample(500, 1)
    text = csv_text(rows, columns, rng)
    for chunk in (0, 40, 1000, 30000):
        for batch in (1, 1000, 1 << 20):
            for deflate in (0, 6):
                path = make_layer(folder, text, chunk=chunk, deflate=deflate, batch=batch)
                geo.check_layer(path, "layer", rows, columns)
                clean(path)


@test
def test_every_kind_in_every_dimension(folder):
    rng = random.Random(2)
    rows = [geo.random_geometry(rng, kind, dim) for kind in range(1, 8) for dim in range(4) for _ in range(5)]
    rows += [geo.G(kind, dim, None if kind == 1 else []) for kind in range(1, 8) for dim in range(4)]
    path = make_layer(folder, wkt_text(rows, rng), name="a/b")
    geo.check_layer(path, "a/b", rows)
    clean(path, "a/b")


@test
def test_blocks(folder):
    """Blocks cut by rows, by bytes, and rows wider than a block."""
    rng = random.Random(3)
    points = [geo.G(1, 0, (rng.random(), rng.random())) for _ in range(4000)]
    wide = [geo.G(2, 0, [(float(k), -float(k)) for k in range(9000)]), geo.G(1, 0, (1.0, 2.0))] * 3
    nulls = [None] * 140000
    rows = points + wide + nulls + points
    columns = {"id": [str(i).encode() for i in range(len(rows))]}
    path = make_layer(folder, csv_text(rows, columns, rng))
    geo.check_layer(path, "layer", rows, columns)
    clean(path)
    with h5py.File(path) as f:
        check(len(f["layer/index/blocks"]) > 8, f"{len(f['layer/index/blocks'])} blocks")


@test
def test_generated_map(folder):
    """Lakes, roads and points of tests/tools/gen_geo.py, which writes its own WKB and offsets beside the text."""
    r = command(sys.executable, f"{SOURCE}/tests/tools/gen_geo.py", "--out", folder, "--lakes", 2000, "--roads", 2000,
                "--points", 5000, "--csv")
    check(r.code == 0, r.err)
    for name in ("lakes", "roads", "points"):
        wkb = np.fromfile(f"{folder}/{name}.wkb", "u1")
        offsets = np.fromfile(f"{folder}/{name}.off", "<i8")
        for ending in ("wkt", "csv"):
            with open(f"{folder}/{name}.{ending}", encoding="utf-8", newline="") as f:
                path = make_layer(folder, f.read(), name=name)
            clean(path, name)
            with h5py.File(path) as f:
                check(np.array_equal(f[f"{name}/geometry/offsets"][()], offsets), f"{name}.{ending}: offsets")
                check(np.array_equal(f[f"{name}/geometry/wkb"][()], wkb), f"{name}.{ending}: wkb")


@test
def test_crs(folder):
    rows, _, rng = sample(20, 4)
    rows = [r for r in rows if r is not None]
    path = make_layer(folder, wkt_text(rows, rng, "SRID=4326;"))
    geo.check_layer(path, "layer", rows, crs=4326)
    clean(path)
    check("WGS 84 (EPSG:4326)" in h5vinfo(path).out, h5vinfo(path).out)


@test
def test_no_rows(folder):
    path = make_layer(folder, "")
    geo.check_layer(path, "layer", [])
    clean(path)


@test
def test_hdf5_110_reads_it(folder):
    rows, columns, rng = sample(300, 5)
    h5dump_110(make_layer(folder, csv_text(rows, columns, rng)))


@test
def test_types_on_disk(folder):
    """The types of docs/format.md, as h5py sees them."""
    rows, columns, rng = sample(50, 6)
    path = make_layer(folder, csv_text(rows, columns, rng))
    types = {"geometry/wkb": "|u1", "geometry/offsets": "<i8", "geometry/bbox": "<f8", "geometry/valid": "|u1",
             "columns/name/data": "|u1", "columns/name/offsets": "<i8", "valid/name": "|u1"}
    with h5py.File(path) as f:
        for name, want in types.items():
            check(f["layer"][name].dtype.str == want, f"{name}: {f['layer'][name].dtype.str}")
            check(f["layer"][name].maxshape[0] is None, f"{name} cannot grow")
        blocks = f["layer/index/blocks"].dtype
        check(blocks.names == ("first_row", "rows", "first_byte", "bytes", "vertices", "bbox") and blocks.itemsize == 72,
              str(blocks))
        check([blocks.fields[n][1] for n in blocks.names] == [0, 8, 16, 24, 32, 40], str(blocks))
        check(f["layer"].attrs.get_id("h5vec_version").dtype.str == "<i4", "h5vec_version is not int32")


@test
def test_example_of_the_specification(folder):
    """docs/format.md section 9: the file it shows is the file that is made, byte for byte."""
    with open(f"{SOURCE}/docs/format.md", encoding="utf-8") as f:
        section = f.read().split("## 9.")[1]
    text = "".join(line[4:] + "\n" for line in section.split("The CSV file\n\n")[1].split("\n\n")[0].splitlines())
    path = make_layer(folder, text, name="shore")
    clean(path, "shore")
    wkb = bytes.fromhex("".join(re.findall(r"^ +\d+  ((?:[0-9a-f]{2} )+)", section, re.M)))
    with h5py.File(path) as f:
        layer = f["shore"]
        check(layer["geometry/wkb"][()].tobytes() == wkb and len(wkb) == 62, wkb.hex(" "))
        for name in ("geometry/offsets", "geometry/valid", "columns/name/offsets", "valid/name"):
            values = f"DATA {{ (0): {', '.join(map(str, layer[name][()]))} }}"
            check(values in section, f"{name}: {values}")
        attribute = layer.attrs["geo"]
        attribute = attribute.decode() if isinstance(attribute, bytes) else str(attribute)
        attribute = re.sub(r'"crs":.*,"encoding"', '"crs":{...,"id":{"authority":"EPSG","code":4326},...},"encoding"',
                           attribute)
        check(attribute in section.replace("\n    ", ""), attribute)


if __name__ == "__main__":
    main(needs=(H5VINFO, MAKE_LAYER))
