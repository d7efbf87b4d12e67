# SPDX-License-Identifier: BSD-3-Clause
"""Geometries as plain Python, their WKT and ISO WKB by an encoder of its own, and what a layer of them must hold,
computed row by row from docs/format.md's rules."""
import csv
import io
import json
import math
import random
import struct

import h5py
import numpy as np

from h5vtest import check

KINDS = ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"]
TAGS = ["", " Z", " M", " ZM"]  # by dimension: 0 xy, 1 xyz, 2 xym, 3 xyzm
ORDINATES = [2, 3, 3, 4]
EMPTY_BOX = (math.inf, math.inf, -math.inf, -math.inf)
QUIET_NAN = struct.pack("<Q", 0x7ff8000000000000)
BLOCK = 65536
BLOCK_TYPE = np.dtype([("first_row", "<u8"), ("rows", "<u8"), ("first_byte", "<u8"), ("bytes", "<u8"), ("vertices", "<u8"),
                       ("bbox", "<f8", (4,))])


class G:
    """A geometry: kind 1..7, dimension 0..3 and a body: a tuple of ordinates or None (Point), or a list of points,
    of rings, of bodies of the parts, or (GeometryCollection) of G."""
    def __init__(self, kind, dim, body):
        self.kind, self.dim, self.body = kind, dim, body

    def name(self):
        return KINDS[self.kind - 1] + TAGS[self.dim]

    def points(self):
        def walk(body):
            if isinstance(body, G):
                yield from walk(body.body)
            elif isinstance(body, tuple):
                yield body
            elif body is not None:
                for part in body:
                    yield from walk(part)
        return list(walk(self.body))

    def box(self):
        points = self.points()
        if not points:
            return EMPTY_BOX
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return (min(xs), min(ys), max(xs), max(ys))

    def wkb(self):
        return struct.pack("<BI", 1, self.kind + 1000 * self.dim) + self.wkb_body()

    def wkb_body(self):
        def coordinates(points):
            return struct.pack("<I", len(points)) + b"".join(struct.pack(f"<{len(p)}d", *p) for p in points)
        if self.kind == 1:
            return QUIET_NAN * ORDINATES[self.dim] if self.body is None else struct.pack(f"<{len(self.body)}d", *self.body)
        if self.kind == 2:
            return coordinates(self.body)
        if self.kind == 3:
            return struct.pack("<I", len(self.body)) + b"".join(map(coordinates, self.body))
        parts = self.body if self.kind == 7 else [G(self.kind - 3, self.dim, b) for b in self.body]
        return struct.pack("<I", len(parts)) + b"".join(p.wkb() for p in parts)

    def wkt(self, rng=random):
        tag = TAGS[self.dim] if rng.random() < 0.7 else TAGS[self.dim].strip()
        word = KINDS[self.kind - 1].upper() + tag
        return rng.choice([word, word.lower(), word.title()]) + rng.choice(["", " ", "  "]) + self.wkt_body(rng)

    def wkt_body(self, rng):
        def point(p):
            return rng.choice([" ", "  "]).join(repr(v) for v in p)

        def seq(items):
            return "(" + rng.choice([",", ", "]).join(items) + ")" if items else " EMPTY"
        if self.kind == 1:
            return " EMPTY" if self.body is None else f"({point(self.body)})"
        if self.kind == 2:
            return seq([point(p) for p in self.body])
        if self.kind == 4 and rng.random() < 0.5 and None not in self.body:
            return seq([point(p) for p in self.body])
        if self.kind == 7:
            return seq([p.wkt(rng) for p in self.body])
        member = 2 if self.kind in (3, 5) else self.kind - 3
        return seq([G(member, self.dim, b).wkt_body(rng) for b in self.body])


def random_point(rng, dim):
    choose = rng.choice([lambda: rng.uniform(-180, 180), lambda: float(rng.randint(-90, 90)), lambda: rng.gauss(0, 1) * 1e-7])
    return tuple(choose() for _ in range(ORDINATES[dim]))


def random_geometry(rng, kind=None, dim=None, depth=0):
    kind = kind or rng.randint(1, 6 if depth else 7)
    dim = rng.randint(0, 3) if dim is None else dim

    def line():
        return [random_point(rng, dim) for _ in range(rng.randint(2, 6))]

    def polygon():
        rings = []
        for _ in range(rng.randint(1, 3)):
            ring = [random_point(rng, dim) for _ in range(rng.randint(3, 6))]
            rings.append(ring + ring[:1])
        return rings
    if rng.random() < 0.1:
        return G(kind, dim, None if kind == 1 else [])
    if kind == 1:
        return G(1, dim, random_point(rng, dim))
    if kind in (2, 3):
        return G(kind, dim, line() if kind == 2 else polygon())
    count = rng.randint(1, 4)
    if kind == 7:
        return G(7, dim, [random_geometry(rng, None, dim, depth + 1) for _ in range(count)])
    make = {4: lambda: random_point(rng, dim), 5: line, 6: polygon}[kind]
    return G(kind, dim, [make() for _ in range(count)])


# --- a layer -----------------------------------------------------------------------------------------------------

def offsets_of(values):
    return np.concatenate([[0], np.cumsum([len(v) for v in values], dtype=np.int64)]).astype(np.int64)


def blocks_of(rows, offsets):
    """(first row, rows, first byte, bytes, vertices, box) of each block of the index."""
    blocks = []
    for i, row in enumerate(rows):
        if i == 0 or i % BLOCK == 0 or offsets[i] // BLOCK != offsets[i - 1] // BLOCK:
            blocks.append([i, 0, int(offsets[i]), 0, 0, EMPTY_BOX])
        block = blocks[-1]
        block[1] += 1
        block[3] = int(offsets[i + 1]) - block[2]
        if row is not None:
            block[4] += len(row.points())
            a, b = block[5], row.box()
            block[5] = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
    return [tuple(b) for b in blocks]


def same_bits(what, want, got):
    check(want.dtype == got.dtype, f"{what}: {want.dtype} expected, is {got.dtype}")
    check(want.shape == got.shape, f"{what}: shape {want.shape} expected, is {got.shape}")
    if want.tobytes() != got.tobytes():
        width = want.dtype.itemsize * int(np.prod(want.shape[1:]))
        a, b = (np.frombuffer(v.tobytes(), f"V{width}") for v in (want, got))
        row = next(i for i in range(len(a)) if a[i].tobytes() != b[i].tobytes())
        raise AssertionError(f"{what}: row {row}: {want[row]} expected, is {got[row]}")


def check_optional_validity(what, group, name, valid):
    """A dataset of ones and zeros, there only if there is a zero."""
    if all(valid):
        check(name not in group, f"{what}/{name} although nothing is null")
    else:
        check(name in group, f"{what}/{name} is missing although {valid.count(False)} rows are null")
        same_bits(f"{what}/{name}", np.array(valid, "u1"), group[name][()])


def check_text_column(layer, name, values):
    where = f"columns/{name}"
    check(where in layer, f"{where} is missing; there are {sorted(layer.get('columns', {}))}")
    data = [v or b"" for v in values]
    same_bits(where + "/offsets", offsets_of(data), layer[where + "/offsets"][()])
    check(layer[where + "/data"][()].tobytes() == b"".join(data), f"{where}/data differs")
    check_optional_validity("valid", layer.get("valid", {}), name, [v is not None for v in values])


TYPES = {int: "<i8", float: "<f8", bool: "?", np.datetime64: "<i8"}


def check_fixed_column(layer, name, values):
    """A column of int, float, bool or numpy's datetime64 in microseconds; None is a missing value, stored as 0."""
    where = f"columns/{name}"
    kind = next(type(v) for v in values if v is not None)
    column = layer.get(where)
    check(isinstance(column, h5py.Dataset), f"{where} is no dataset: {column}")
    plain = [0 if v is None else int(v.astype("i8")) if kind is np.datetime64 else v for v in values]
    same_bits(where, np.array(plain, TYPES[kind]), column[()])
    units = column.attrs.get("units")
    check((units == b"microseconds since 1970-01-01T00:00:00Z") == (kind is np.datetime64), f"{where}: units {units}")
    check_optional_validity("valid", layer.get("valid", {}), name, [v is not None for v in values])


def check_column(layer, name, values):
    text = all(v is None or isinstance(v, bytes) for v in values)
    (check_text_column if text else check_fixed_column)(layer, name, values)


def union_box(rows):
    boxes = [r.box() for r in rows if r is not None and r.points()]
    return [min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)] if boxes else None


def check_geo(layer, rows, crs):
    geo = json.loads(layer.attrs["geo"])
    check(layer.attrs["h5vec_version"] == 1, f"h5vec_version {layer.attrs['h5vec_version']}")
    column = geo["columns"][geo["primary_column"]]
    there = [r for r in rows if r is not None]
    check(column["encoding"] == "WKB", f"encoding {column['encoding']}")
    check(len(column["geometry_types"]) == len(set(column["geometry_types"])), f"repeated: {column['geometry_types']}")
    check(set(column["geometry_types"]) == {r.name() for r in there},
          f"geometry_types {sorted(column['geometry_types'])}, {sorted({r.name() for r in there})} expected")
    union = union_box(rows)
    if union is None:
        check("bbox" not in column, f"bbox {column.get('bbox')} of nothing")
    else:
        box = column["bbox"]
        half = len(box) // 2
        check([box[0], box[1], box[half], box[half + 1]] == union, f"bbox {box}, {union} expected")
    check("crs" in column, "no crs (null says unknown; leaving it out means OGC:CRS84)")
    if crs is None:
        check(column["crs"] is None, f"crs {str(column['crs'])[:80]}, null expected")
    else:
        check(column["crs"] and column["crs"].get("id") == {"authority": "EPSG", "code": crs}, f"crs {str(column['crs'])[:200]}")
        check("crs_source" in layer.attrs and str(crs) in str(layer.attrs["crs_source"]), "crs_source is missing or another")
    t = layer.attrs.get_id("geo").get_type()
    check(not t.is_variable_str() and t.get_cset() == h5py.h5t.CSET_UTF8, "geo is no fixed-length UTF-8 text")


def check_layer(path, name, rows, columns=None, crs=None):
    """The layer holds exactly these rows (G or None) and columns ({name: [bytes, int, ... or None]})."""
    with h5py.File(path, "r") as f:
        check(name in f, f"no layer {name}: {list(f)}")
        layer = f[name]
        wkb = [b"" if r is None else r.wkb() for r in rows]
        offsets = offsets_of(wkb)
        same_bits("offsets", offsets, layer["geometry/offsets"][()])
        same_bits("wkb", np.frombuffer(b"".join(wkb), "u1"), layer["geometry/wkb"][()])
        boxes = np.array([EMPTY_BOX if r is None else r.box() for r in rows], "f8").reshape(-1, 4)
        same_bits("bbox", boxes, layer["geometry/bbox"][()])
        check_optional_validity("geometry", layer["geometry"], "valid", [r is not None for r in rows])
        for dataset in ("wkb", "offsets", "bbox"):
            check(layer["geometry/" + dataset].maxshape[0] is None, f"{dataset} cannot grow")
        for column, values in (columns or {}).items():
            check_column(layer, column, values)
        check(set(layer.get("columns", {})) == set(columns or {}), f"columns {list(layer.get('columns', {}))}")
        check_geo(layer, rows, crs)
        check_blocks(layer, blocks_of(rows, offsets))


def check_blocks(layer, want):
    got = layer["index/blocks"][()]
    want = np.array(want, BLOCK_TYPE)
    check(got.dtype == want.dtype, f"blocks are {got.dtype}")
    check(len(got) == len(want), f"{len(got)} blocks, {len(want)} expected")
    for k in np.flatnonzero(got != want)[:1]:
        raise AssertionError(f"block {k}: {want[k]} expected, is {got[k]}")


def write_layer(path, rows, columns):
    """A layer as h5py writes it; columns: {name: [bytes or int]}."""
    wkb = [b"" if r is None else r.wkb() for r in rows]
    offsets = offsets_of(wkb)
    with h5py.File(path, "w") as f:
        layer = f.create_group("layer")
        layer.attrs["h5vec_version"] = np.int32(1)
        column = {"encoding": "WKB", "geometry_types": sorted({r.name() for r in rows if r}), "crs": None}
        boxes = np.array([EMPTY_BOX if r is None else r.box() for r in rows])
        column["bbox"] = [*boxes[:, :2].min(0), *boxes[:, 2:].max(0)]
        text = json.dumps({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}).encode()
        layer.attrs.create("geo", text, dtype=h5py.string_dtype("utf-8", len(text)))
        g = layer.create_group("geometry")
        parts = {"wkb": np.frombuffer(b"".join(wkb), "u1"), "offsets": offsets, "bbox": boxes}
        if None in rows:
            parts["valid"] = np.array([r is not None for r in rows], "u1")
        for name, data in parts.items():
            g.create_dataset(name, data=data, maxshape=(None, *data.shape[1:]))
        for name, values in columns.items():
            if isinstance(values[0], int):
                layer.create_dataset(f"columns/{name}", data=np.array(values, "<i8"), maxshape=(None,))
                continue
            for part, data in (("data", np.frombuffer(b"".join(values), "u1")), ("offsets", offsets_of(values))):
                layer.create_dataset(f"columns/{name}/{part}", data=data, maxshape=(None,))
        layer.create_dataset("index/blocks", data=np.array(blocks_of(rows, offsets), BLOCK_TYPE), maxshape=(None,))


# Files of text.

def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return path


def wkt_file(path, rows, rng, prefix="", end="\n"):
    return write(path, "".join(prefix + r.wkt(rng) + end for r in rows))


def csv_file(path, rows, columns, rng, column="WKT", place=1):
    """RFC 4180, the geometry in the middle; None is an empty cell."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\r\n")
    names = list(columns)
    out.writerow(names[:place] + [column] + names[place:])
    for i, r in enumerate(rows):
        values = [columns[n][i] for n in names]
        cells = ["" if v is None else v.decode() if isinstance(v, bytes) else str(v) for v in values]
        out.writerow(cells[:place] + ["" if r is None else r.wkt(rng)] + cells[place:])
    return write(path, text.getvalue())


def some_rows(count, seed, dim=None):
    rng = random.Random(seed)
    return [random_geometry(rng, dim=dim) for _ in range(count)], rng
