# SPDX-License-Identifier: BSD-3-Clause
"""GeoJSON and hexadecimal WKB through h5vcat on one and several ranks: every geometry and value compared with what was
written, as WKB made by the tests' own encoder, and, where GDAL is there, with what OGR reads from the same files."""
import json
import os
import random
import struct

import h5py

from h5vtest import Skip, check, main, merge, test

try:
    from osgeo import gdal, ogr
    ogr.UseExceptions()
    gdal.PushErrorHandler("CPLQuietErrorHandler")  # unclosed rings are meant
except ImportError:
    ogr = None

RS = "\x1e"


def wkb(geometry, dim=None):
    """ISO WKB of a GeoJSON geometry; None of a null."""
    if geometry is None:
        return None
    codes = {"Point": 1, "LineString": 2, "Polygon": 3, "MultiPoint": 4, "MultiLineString": 5, "MultiPolygon": 6,
             "GeometryCollection": 7}
    kind, parts = geometry["type"], geometry.get("coordinates")
    if dim is None:
        first = parts
        while first and isinstance(first[0], list):
            first = first[0]
        dim = len(first) if first else 2
    head = struct.pack("<BI", 1, codes[kind] + (1000 if dim == 3 else 0))

    def position(p):
        return struct.pack(f"<{dim}d", *p)

    def line(points):
        return struct.pack("<I", len(points)) + b"".join(map(position, points))

    if kind == "Point":
        return head + position(parts)
    if kind == "LineString":
        return head + line(parts)
    if kind == "Polygon":
        return head + struct.pack("<I", len(parts)) + b"".join(map(line, parts))
    members = geometry["geometries"] if kind == "GeometryCollection" else [
        {"type": kind[5:], "coordinates": p} for p in parts]
    return head + struct.pack("<I", len(members)) + b"".join(wkb(m, dim) for m in members)


def make(count, seed):
    """Features of every type, 2D and 3D, with sparse properties."""
    r = random.Random(seed)

    def point(dim):
        return [r.choice([round(r.uniform(-180, 180), 7), r.uniform(-1e6, 1e6), r.randint(-9, 9), -0.0, 5e-324])
                for _ in range(dim)]

    def geometry(dim, depth=0):
        kind = r.choice(["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
                         "GeometryCollection" if depth == 0 else "Point"])
        if kind == "GeometryCollection":
            return {"type": kind, "geometries": [geometry(dim, 1) for _ in range(r.randint(1, 3))]}
        level = {"Point": 0, "LineString": 1, "MultiPoint": 1, "Polygon": 2, "MultiLineString": 2, "MultiPolygon": 3}
        def nest(n):
            return point(dim) if n == 0 else [nest(n - 1) for _ in range(r.randint(1, 4))]
        shape = {"type": kind, "coordinates": nest(level[kind])}
        return shape if r.random() < .5 else dict(reversed(shape.items()))

    features = []
    for i in range(count):
        dim = r.choice([2, 3])
        g = geometry(dim) if r.random() < .95 else None
        features.append((dim, {"type": "Feature", "id": i, "geometry": g, "properties": {
            "name": r.choice(["a", "ü\n\"x\"", "", None, "\U0001F600"]), "n": r.choice([1, -2.5, True, [1, {"a": None}]]),
            **({f"extra{i % 7}": "y"} if i > count - 20 else {})}}))
    return features


def values(group, valid):
    if isinstance(group, h5py.Dataset):
        there = valid[()] if valid is not None else [1] * len(group)
        return [v if t else None for v, t in zip(group[()].tolist(), there)]
    data, offsets = group["data"][()].tobytes(), group["offsets"][()]
    there = valid[()] if valid is not None else [1] * (len(offsets) - 1)
    return [data[a:b] if v else None for a, b, v in zip(offsets, offsets[1:], there)]


def rows_of(path):
    with h5py.File(path, "r") as f:
        layer = f["layer"]
        wkb_data, offsets = layer["geometry/wkb"][()].tobytes(), layer["geometry/offsets"][()]
        valid = layer["geometry/valid"][()] if "valid" in layer["geometry"] else [1] * (len(offsets) - 1)
        columns = {n: values(c, layer[f"valid/{n}"] if f"valid/{n}" in layer else None)
                   for n, c in layer["columns"].items()} if "columns" in layer else {}
        return [wkb_data[a:b] if v else None for a, b, v in zip(offsets, offsets[1:], valid)], columns


def same(stored, value):
    """Whether a column has this JSON value: a number, or as text: a string as what it says, anything else as JSON."""
    if isinstance(stored, (int, float)):
        return type(stored) is type(value) and stored == value
    if value is None or isinstance(value, str):
        return stored == (value if value is None else value.encode())
    return json.dumps(json.loads(stored)) == json.dumps(value)


def compare(path, features):
    shapes, columns = rows_of(path)
    check(len(shapes) == len(features), f"{path}: {len(shapes)} rows, {len(features)} features")
    for i, (dim, f) in enumerate(features):
        check(shapes[i] == wkb(f["geometry"], dim), f"{path}: geometry {i}: {f['geometry']}")
        check(same(columns["id"][i], f["id"]), f"{path}: id {i}")
        rest = {}
        for name, value in f["properties"].items():
            if name in columns:
                check(same(columns[name][i], value), f"{path}: {name} {i}: {columns[name][i]} {value}")
            else:
                rest[name] = value
        other = columns["other"][i] if "other" in columns else None
        check((json.loads(other) if other else {}) == ({"properties": rest} if rest else {}), f"{path}: other {i}")


def write(path, features, form):
    lines = [json.dumps(f) for _, f in features]
    with open(path, "w", encoding="ascii") as out:
        if form == "lines":
            out.write("\n".join(lines))
        elif form == "sequence":
            out.write("".join(f"{RS}{line}\n" for line in lines))
        elif form == "pretty":
            out.write("".join(f"{RS}{json.dumps(f, indent=1)}\n" for _, f in features))
        else:
            out.write('{"type": "FeatureCollection", "features": [' + ",\n".join(lines) + "]}")


@test
def geojson(tmp):
    features = make(3500, 1)
    for form in ["lines", "sequence", "pretty", "collection"]:
        path = os.path.join(tmp, form)
        write(path, features, form)
        check(os.path.getsize(path) > 1 << 20, "the columns must not be those of the whole file")
        for ranks in [1, 3]:
            merge([path], f"{path}.h5", ranks, "--force")
            compare(f"{path}.h5", features)


@test
def hexadecimal(tmp):
    features = make(800, 2)
    path = os.path.join(tmp, "hex")
    with open(path, "w", encoding="ascii") as out:
        for i, (dim, f) in enumerate(features):
            out.write(f"{i}\t{(wkb(f['geometry'], dim) or b'').hex()}\n")
    with open(path + ".csv", "w", encoding="ascii") as out:
        out.write("column_1,geom\n")
        for i, (dim, f) in enumerate(features):
            out.write(f"{i},{(wkb(f['geometry'], dim) or b'').hex().upper()}\n")
    for name in [path, path + ".csv"]:
        for ranks in [1, 3]:
            merge([name], f"{path}.h5", ranks, "--force")
            shapes, columns = rows_of(f"{path}.h5")
            check(shapes == [wkb(f["geometry"], dim) for dim, f in features], f"{name}: geometries")
            check(columns["column_1"] == list(range(len(features))), f"{name}: column")


@test
def as_ogr_reads(tmp):
    if not ogr:
        raise Skip("no GDAL")
    features = [(dim, f) for dim, f in make(500, 3) if f["geometry"]]
    for form, driver in [("lines", "GeoJSONSeq"), ("sequence", "GeoJSONSeq"), ("collection", "GeoJSON")]:
        path = os.path.join(tmp, f"{form}.json")
        write(path, features, form)
        merge([path], f"{path}.h5", 1, "--force")
        shapes, _ = rows_of(f"{path}.h5")
        source = gdal.OpenEx(path, gdal.OF_VECTOR, allowed_drivers=[driver])
        theirs = [bytes(f.GetGeometryRef().ExportToIsoWkb(ogr.wkbNDR)) for f in source.GetLayer(0)]
        check(len(theirs) == len(shapes), f"{form}: {len(theirs)} and {len(shapes)} rows")
        for i, (a, b) in enumerate(zip(shapes, theirs)):
            check(a == b, f"{form}: geometry {i}: {a.hex()} {b.hex()}")


if __name__ == "__main__":
    main()
