# SPDX-License-Identifier: BSD-3-Clause
"""h5vinfo --check: one defect planted with h5py for each rule of docs/format.md, and the one finding that must come of it."""
import json
import re
import shutil

import h5py
import numpy as np

from layertest import MAKE_LAYER, H5VINFO, check, clean, csv_text, geo, h5vinfo, make_layer
from h5vtest import main, test

POINT = 21  # bytes of a point's WKB


def good_layer(folder):
    """9,000 points and lines in several blocks, a null in row 5, an empty one in row 6, text and a fixed column."""
    rows = [geo.G(1, 0, (float(i), -float(i))) for i in range(8000)]
    rows += [geo.G(2, 0, [(0.0, float(i)), (1.0, 2.0)]) for i in range(1000)]
    rows[5], rows[6] = None, geo.G(1, 0, None)
    names = {"name": [None if i == 3 else f"n{i}".encode() for i in range(len(rows))]}
    import random
    path = make_layer(folder, csv_text(rows, names, random.Random(1)), out="good.h5")
    with h5py.File(path, "r+") as f:
        f["layer/columns"].create_dataset("pop", data=np.arange(len(rows), dtype="<i4"), maxshape=(None,), chunks=(1000,))
        f["layer/valid"].create_dataset("pop", data=np.ones(len(rows), "u1"), maxshape=(None,), chunks=(1000,))
    geo_text = rows
    clean(path)
    return path, geo_text


def put(dataset, index, value):
    def change(layer):
        layer[dataset][index] = value
    return change


def cut(dataset, count=1):
    return lambda layer: layer[dataset].resize(layer[dataset].shape[0] - count, axis=0)


def remove(name):
    def change(layer):
        del layer[name]
    return change


def replace(name, data):
    def change(layer):
        if name in layer:
            del layer[name]
        layer.create_dataset(name, data=data)
    return change


def attribute(name, value):
    def change(layer):
        if name in layer.attrs:
            del layer.attrs[name]
        if value is not None:
            layer.attrs.create(name, value)
    return change


def edit_geo(edit):
    """Change the JSON of attribute geo."""
    def change(layer):
        text = layer.attrs["geo"]
        value = json.loads(text)
        edit(value["columns"]["geometry"])
        fixed_text(layer, "geo", json.dumps(value))
    return change


def fixed_text(layer, name, text):
    if name in layer.attrs:
        del layer.attrs[name]
    data = text.encode()
    layer.attrs.create(name, np.array(data, f"S{len(data)}"), dtype=h5py.string_dtype("utf-8", len(data)))


def block(k, member, value):
    def change(layer):
        blocks = layer["index/blocks"][()]
        blocks[k][member] = value
        layer["index/blocks"][()] = blocks
    return change


def both(*changes):
    def change(layer):
        for one in changes:
            one(layer)
    return change


def swap_point_bytes(layer):
    """Row 2 in big endian: well formed, but not canonical."""
    wkb = layer["geometry/wkb"]
    begin = 2 * POINT
    wkb[begin:begin + POINT] = np.frombuffer(b"\x00\x00\x00\x00\x01" + np.array([2.0, -2.0], ">f8").tobytes(), "u1")


def make_null(layer):
    layer["geometry/valid"][7] = 0


def wild_text(layer):
    offsets = layer["columns/name/offsets"]
    layer["columns/name/data"][int(offsets[2])] = 0xFF


def type_byte(value):
    return put("geometry/wkb", 2 * POINT + 1, value)


# What is done to the layer, and the findings: each regular expression must match one line, and no line be left over.
DEFECTS = {
    "version unknown": (attribute("h5vec_version", np.int32(2)), [r"layer version 2; only 1 is known"]),
    "version no integer": (attribute("h5vec_version", 1.0), [r"attribute h5vec_version: not one integer"]),
    "geo missing": (attribute("geo", None), [r"attribute geo: missing"]),
    "geo variable-length": (attribute("geo", "{}"), [r"attribute geo: not one fixed-length string"]),
    "geo not JSON": (lambda g: fixed_text(g, "geo", "{"), [r"attribute geo: not JSON"]),
    "geo without crs": (edit_geo(lambda c: c.pop("crs")), [r"attribute geo: crs is neither"]),
    "geo types too many": (edit_geo(lambda c: c["geometry_types"].append("Polygon")), [r"geo: geometry_types are not those"]),
    "geo types too few": (edit_geo(lambda c: c["geometry_types"].pop()), [r"geo: geometry_types are not those"]),
    "geo bbox wrong": (edit_geo(lambda c: c["bbox"].__setitem__(0, -7)), [r"geo: bbox is not that of the rows"]),
    "geo bbox missing": (edit_geo(lambda c: c.pop("bbox")), [r"geo: bbox is not that of the rows"]),
    "wkb missing": (remove("geometry/wkb"), [r"geometry/wkb: missing"]),
    "offsets missing": (remove("geometry/offsets"), [r"geometry/offsets: missing"]),
    "bbox missing": (remove("geometry/bbox"), [r"geometry/bbox: missing"]),
    "blocks missing": (remove("index/blocks"), [r"index/blocks: missing"]),
    "wkb of another type": (replace("geometry/wkb", np.zeros(10, "i1")), [r"geometry/wkb: its type is not the format's"]),
    "offsets of another type": (replace("geometry/offsets", np.zeros(9001, "u8")), [r"geometry/offsets: its type"]),
    "bbox of another type": (replace("geometry/bbox", np.zeros((9000, 4), "f4")), [r"geometry/bbox: its type"]),
    "bbox of another shape": (replace("geometry/bbox", np.zeros((9000, 6))), [r"geometry/bbox: it has other dimensions"]),
    "wkb of two dimensions": (replace("geometry/wkb", np.zeros((10, 2), "u1")), [r"geometry/wkb: it has other dimensions"]),
    "blocks of another type": (replace("index/blocks", np.zeros(3, "u8")), [r"index/blocks: its type"]),
    "wkb is a group": (lambda g: (g.__delitem__("geometry/wkb"), g.create_group("geometry/wkb")),
                       [r"geometry/wkb: cannot be opened as a dataset"]),
    "no offset at all": (lambda g: g["geometry/offsets"].resize(0, axis=0), [r"geometry/offsets: empty"]),
    "fewer boxes": (cut("geometry/bbox"), [r"geometry/bbox: 8999 rows where 9000 are needed"]),
    "fewer validity": (cut("geometry/valid"), [r"geometry/valid: 8999 rows where 9000"]),
    "fewer values": (cut("columns/pop"), [r"columns/pop: 8999 rows where 9000"]),
    "fewer text offsets": (cut("columns/name/offsets"), [r"columns/name/offsets: 9000 rows where 9001"]),
    "fewer column validity": (cut("valid/name"), [r"valid/name: 8999 rows where 9000"]),
    "text data missing": (remove("columns/name/data"), [r"columns/name/data: missing"]),
    "validity of no column": (lambda g: g.create_dataset("valid/what", data=np.ones(9000, "u1")),
                              [r"valid/what: there is no such column"]),
    "variable-length column": (lambda g: g.create_dataset("columns/vl", (9000,), h5py.string_dtype()),
                               [r"columns/vl: its type is not of a fixed size"]),
    "column that is a type": (lambda g: g.__setitem__("columns/t", np.dtype("f8")), [r"columns/t: neither a dataset nor"]),
    "first offset": (put("geometry/offsets", 0, 1), [r"geometry/offsets: begins with 1, not 0"]),
    "offsets decrease": (put("geometry/offsets", 10, 3), [r"geometry/offsets: row 9: bytes 168 to 3 are not a range"]),
    "last offset": (put("geometry/offsets", 9000, 208978 + 40), [r"geometry/offsets: ends with 209018, but"]),
    "negative offsets": (put("geometry/offsets", 0, -1), [r"begins with -1, not 0", r"row 0: bytes -1 to 21"]),
    "bytes left over": (lambda g: g["geometry/wkb"].resize(g["geometry/wkb"].shape[0] + 1, axis=0),
                        [r"geometry/offsets: ends with \d+, but geometry/wkb has \d+ bytes"]),
    "wkb type": (type_byte(9), [r"geometry/wkb: row 2: byte \d+: "]),
    "wkb byte order": (put("geometry/wkb", 2 * POINT, 7), [r"geometry/wkb: row 2: byte \d+: "]),
    "wkb cut": (put("geometry/offsets", 3, 3 * POINT - 1), [r"geometry/wkb: row 2: byte \d+: ", r"geometry/wkb: row 3: "]),
    "wkb big endian": (swap_point_bytes, [r"geometry/wkb: row 2: not canonical"]),
    "box": (put("geometry/bbox", (7, 2), 7.5), [r"geometry/bbox: row 7: not the box of its WKB"]),
    "box is NaN": (put("geometry/bbox", (7, 0), np.nan), [r"geometry/bbox: row 7: not the box of its WKB"]),
    "box of a null": (put("geometry/bbox", 5, 0), [r"geometry/bbox: row 5: not the box of a null geometry"]),
    "box of an empty one": (put("geometry/bbox", 6, 0), [r"geometry/bbox: row 6: not the box of its WKB"]),
    "validity of 2": (put("geometry/valid", 8, 2), [r"geometry/valid: row 8: 2, not 0 or 1"]),
    "null with bytes": (put("geometry/valid", 7, 0), [r"geometry/valid: row 7: null, but has 21 bytes of WKB",
                                                      r"geometry/bbox: row 7: not the box of a null", r"block 0: wrong vertices"]),
    "valid without bytes": (put("geometry/valid", 5, 1), [r"geometry/wkb: row 5: byte 0: "]),
    "blocks fewer": (cut("index/blocks"), [r"index/blocks: 3 blocks where 4 are needed"]),
    "blocks more": (lambda g: g["index/blocks"].resize(5, axis=0), [r"index/blocks: 5 blocks where 4 are needed"]),
    "block first_row": (block(1, "first_row", 1), [r"index/blocks: block 1: wrong rows"]),
    "block rows": (block(0, "rows", 1), [r"index/blocks: block 0: wrong rows"]),
    "block first_byte": (block(2, "first_byte", 1), [r"index/blocks: block 2: wrong bytes"]),
    "block bytes": (block(2, "bytes", 1), [r"index/blocks: block 2: wrong bytes"]),
    "block vertices": (block(3, "vertices", 1), [r"index/blocks: block 3: wrong vertices"]),
    "block bbox": (block(1, "bbox", [0, 0, 0, 0]), [r"index/blocks: block 1: wrong bbox"]),
    "text offsets first": (put("columns/name/offsets", 0, 1), [r"columns/name/offsets: begins with 1"]),
    "text offsets decrease": (put("columns/name/offsets", 5, 0), [r"columns/name/offsets: row 4: bytes 6 to 0"]),
    "text offsets last": (put("columns/name/offsets", 9000, 10 ** 6), [r"columns/name/offsets: ends with 1000000"]),
    "text not UTF-8": (wild_text, [r"columns/name: row 2: byte 0 is not UTF-8"]),
    "text with NUL": (put("columns/name/data", 0, 0), [r"columns/name: row 0: byte 0 is not UTF-8"]),
    "character in two values": (both(put("columns/name/data", 1, 0xC3), put("columns/name/data", 2, 0xBC)),
                                [r"columns/name: row 0: byte 1 is not", r"columns/name: row 1: byte 0 is not"]),
    "column validity of 3": (put("valid/pop", 4, 3), [r"valid/pop: row 4: 3, not 0 or 1"]),
    "missing value with text": (put("valid/name", 4, 0), [r"valid/name: row 4: no value, but has 2 bytes of text"]),
    "name variable-length": (lambda g: g["columns/pop"].attrs.create("name", "x"), [r"attribute name: not one fixed-length"]),
}


@test
def test_each_defect(folder):
    good, _ = good_layer(folder)
    bad, failed = f"{folder}/bad.h5", []
    for name, (change, patterns) in DEFECTS.items():
        shutil.copy(good, bad)
        with h5py.File(bad, "r+") as f:
            change(f["layer"])
        r = h5vinfo("--check", bad)
        prefix = f"{bad}:/layer: "
        lines = [line[len(prefix):] for line in r.out.splitlines() if line.startswith(prefix)]
        count, lines = lines[-1:], lines[:-1]
        left = [line for line in lines if not any(re.search(p, line) for p in patterns)]
        missing = [p for p in patterns if not any(re.search(p, line) for line in lines)]
        plural = "" if len(patterns) == 1 else "s"
        if r.code != 1 or r.err or left or missing or count != [f"{len(patterns)} finding{plural}"]:
            failed.append(f"{name}: exit {r.code} {r.err} {r.out[:800]}")
    check(not failed, "\n".join(failed))


@test
def test_chunk_that_cannot_be_read(folder):
    """A damaged chunk is a finding, and the rest is still checked."""
    good, _ = good_layer(folder)
    for name in ("geometry/wkb", "geometry/offsets", "index/blocks", "columns/name/data", "valid/name"):
        bad = f"{folder}/bad.h5"
        shutil.copy(good, bad)
        with h5py.File(bad) as f:
            chunk = f["layer"][name].id.get_chunk_info(0)
        with open(bad, "r+b") as f:
            f.seek(chunk.byte_offset)
            f.write(b"\xFF" * min(64, chunk.size))
        r = h5vinfo("--check", bad)
        check(r.code == 1 and f"{name}: rows" in r.out and "cannot be read" in r.out, f"{name}: {r}")


@test
def test_many_findings_are_counted(folder):
    good, _ = good_layer(folder)
    with h5py.File(good, "r+") as f:
        f["layer/geometry/bbox"][()] = 0
    r = h5vinfo("--check", good)
    lines = r.out.splitlines()
    check(r.code == 1 and len(lines) == 12, r.out)
    check("a wrong box: 8989 more findings" in lines[10] and "8999 findings" in lines[11], r.out)  # row 0's box is 0


@test
def test_every_truncation_of_the_file(folder):
    """A file cut anywhere is an error in one line, never a crash or a pass."""
    path = make_layer(folder, "id,WKT\n1,POINT (1 2)\n2,\n")
    with open(path, "rb") as f:
        data = f.read()
    bad = f"{folder}/bad.h5"
    for n in range(0, len(data), max(1, len(data) // 150)):
        with open(bad, "wb") as f:
            f.write(data[:n])
        r = h5vinfo("--check", bad)
        check(r.code == 1, f"{n} of {len(data)} bytes: exit {r.code}")
        check(len(r.err.splitlines()) == 1 and r.err.startswith(f"h5vinfo: {bad}: "), f"{n} bytes: {r.err}")


@test
def test_flipped_bytes(folder):
    """Any byte of a small file may be anything: no crash, no hang."""
    path = make_layer(folder, "id,WKT\n1,POINT (1 2)\n2,\n3,\"LINESTRING (0 0,1 1)\"\n", deflate=0)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    bad = f"{folder}/bad.h5"
    for at in range(0, len(data), 23):
        changed = bytearray(data)
        changed[at] ^= 0xFF
        with open(bad, "wb") as f:
            f.write(changed)
        r = h5vinfo("--check", bad, timeout=20)
        check(r.code in (0, 1), f"byte {at}: exit {r.code}\n{r.err}")


if __name__ == "__main__":
    main(needs=(H5VINFO, MAKE_LAYER))
