# SPDX-License-Identifier: BSD-3-Clause
"""Text and shapefiles through the loadable driver: h5repack makes a HDF5 file of them, h5vinfo checks it, h5py reads
it. What shapefiles hold is judged by GDAL where it is installed, and by files made byte by byte; text by the tests'
own encoder of WKB."""
import os
import random
import resource
import struct
import subprocess
import sys

import h5py

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import geo  # noqa: E402
import shapes as s  # noqa: E402
from h5vtest import H5VINFO, SOURCE, Skip, check, hdf5_tool, main, test  # noqa: E402

try:
    from osgeo import ogr, osr
    ogr.UseExceptions()
except ImportError:
    ogr = None

TRY_OPEN = os.environ.get("H5VEC_TRY_OPEN", "vfd_try_open")
MEMORY = 2 << 30  # of any tool's address space


def run(*args, env=None):
    """Exit code, and what was said."""
    p = subprocess.run([str(a) for a in args], capture_output=True, timeout=60, env={**os.environ, **(env or {})},
                       preexec_fn=None if os.environ.get("ASAN_OPTIONS") else
                       lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    return p.returncode, p.stdout.decode() + p.stderr.decode(errors="replace")


def convert(path, info=""):
    """The file as HDF5, checked; returns its path."""
    out = os.path.splitext(path)[0] + ".converted.h5"
    code, said = run(hdf5_tool("h5repack"), "--src-vfd-name", "h5vec", "--src-vfd-info", info, path, out)
    check(code == 0 and not said, f"h5repack {path}: exit {code} {said}")
    code, said = run(H5VINFO, "--check", out)
    check(code == 0 and ":/layer: ok" in said, f"h5vinfo {path}: exit {code} {said}")
    return out


def rows_of(path, info=""):
    """Each row's WKB, None for a null; columns by name; the attributes."""
    with h5py.File(convert(path, info), "r") as f:
        layer = f["layer"]

        def texts(data, offsets, valid):
            data, offsets = data[()].tobytes(), offsets[()]
            valid = valid[()] if valid is not None else [1] * (len(offsets) - 1)
            return [data[a:b] if v else None for a, b, v in zip(offsets, offsets[1:], valid)]

        geometry = layer["geometry"]
        def values(name, column):
            valid = layer[f"valid/{name}"] if f"valid/{name}" in layer else None
            if isinstance(column, h5py.Group):
                return texts(column["data"], column["offsets"], valid)
            valid = valid[()] if valid is not None else [1] * len(column)
            return [v.item() if there else None for v, there in zip(column[()], valid)]

        columns = {name: values(name, c) for name, c in layer.get("columns", {}).items()}
        return texts(geometry["wkb"], geometry["offsets"], geometry.get("valid")), columns, dict(layer.attrs)


def refused(path, *words, info=""):
    code, said = run(TRY_OPEN, path, info)
    check(code == 1, f"{path} {info}: exit {code} {said}")
    first = said.splitlines()[0]
    check(all(w in first for w in words), f"{words} not in: {first}")


def wkb(kind, *body, dim=0):
    """ISO WKB; body: bytes, or numbers (counts, or lists of points)."""
    out = struct.pack("<BI", 1, kind + 1000 * dim)
    for part in body:
        if isinstance(part, bytes):
            out += part
        elif isinstance(part, int):
            out += struct.pack("<I", part)
        else:
            out += struct.pack("<I", len(part)) + b"".join(struct.pack(f"<{len(p)}d", *p) for p in part)
    return out


def polygon(*rings):
    return wkb(3, len(rings), *rings)


# --- text --------------------------------------------------------------------------------------------------

@test
def test_random_text(folder):
    """WKT and CSV in every form of line end, against the tests' own encoder."""
    rng = random.Random(5)
    rows = [geo.random_geometry(rng) for _ in range(300)]
    for number, (begin, end, last) in enumerate([("", "\n", "\n"), ("\ufeff", "\r\n", ""), ("\n", "\n\n", "")]):
        path = f"{folder}/wkt{number}"
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(begin + end.join(r.wkt(rng) for r in rows) + last)
        geo.check_layer(convert(path), "layer", rows)
        path = f"{folder}/csv{number}"
        some = [None if i % 7 == 0 else r for i, r in enumerate(rows)]
        names = [None if i % 5 == 0 else f"{i}, \u00fc".encode() for i in range(len(rows))]
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(begin + "WKT,name" + end + end.join(
                f'"{r.wkt(rng) if r else ""}",' + (f'"{n.decode()}"' if n else "") for r, n in zip(some, names)) + last)
        geo.check_layer(convert(path), "layer", some, {"name": names})


@test
def test_coordinates(folder):
    rng = random.Random(6)
    points = [(rng.uniform(-180, 180), rng.uniform(-90, 90)) for _ in range(1000)]
    path = f"{folder}/points"
    with open(path, "w", encoding="utf-8") as f:
        f.write("id,LAT,Lon\n" + "".join(f"{i},{y!r},{x!r}\n" for i, (x, y) in enumerate(points)))
    geo.check_layer(convert(path), "layer", [geo.G(1, 0, p) for p in points],
                    {"id": list(range(1000))})


@test
def test_types(folder):
    """Columns are typed as their first values show; what does not fit later is an error, and types=text takes it."""
    path = f"{folder}/a.csv"
    with open(path, "w", encoding="utf-8") as f:
        f.write("x,y,i,f,b,t\n1,2,7,0.5,true,1970-01-01T00:00:01Z\n3,4,,,,\n")
    got, columns, _ = rows_of(path)
    check(columns == {"i": [7, None], "f": [0.5, None], "b": [True, None], "t": [1000000, None]}, columns)
    with open(path, "a", encoding="utf-8") as f:
        f.write("5,6,1,1,true,\n" * 120000 + "5,6,1x,1,true,\n")
    refused(path, "line 120004, column 5: column i: '1x' is not an integer")
    _, columns, _ = rows_of(path, "types=text")
    check(columns["i"][:3] == [b"7", None, b"1"] and columns["i"][-1] == b"1x" and columns["b"][0] == b"true", "as text")
    _, columns, attributes = rows_of(path, "bad=skip")
    check(attributes["h5vec_skipped"] == 1 and len(columns["i"]) == 120002, attributes)


@test
def test_examples(folder):
    """The files of examples/data, read with GDAL's reader of WKT."""
    if not ogr:
        raise Skip("GDAL's Python module is not installed")
    import csv
    for name in sorted(os.listdir(f"{SOURCE}/examples/data")):
        if name.endswith(".csv"):
            with open(f"{SOURCE}/examples/data/{name}", "rb") as f:
                text = f.read()
            with open(f"{folder}/{name}", "wb") as f:
                f.write(text)
            got, columns, _ = rows_of(f"{folder}/{name}")
            want = list(csv.DictReader(text.decode().splitlines()))
            check(got == [bytes(ogr.CreateGeometryFromWkt(r["WKT"]).ExportToIsoWkb()) for r in want], name)
            check(columns["name"] == [r["name"].encode() for r in want], name)


# --- shapefiles against GDAL -------------------------------------------------------------------------------

def make_with_gdal(path, kind, geometries, epsg=4326, encoding="UTF-8", name="K\u00fcste"):
    source = ogr.GetDriverByName("ESRI Shapefile").CreateDataSource(path)
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(epsg)
    layer = source.CreateLayer("x", crs, kind, options=["ENCODING=" + encoding])
    for column, of in (("name", ogr.OFTString), ("n", ogr.OFTInteger64), ("real", ogr.OFTReal)):
        layer.CreateField(ogr.FieldDefn(column, of))
    for i, geometry in enumerate(geometries):
        feature = ogr.Feature(layer.GetLayerDefn())
        if i % 5:
            feature["name"], feature["n"], feature["real"] = f"{name} {i}", i * 1000003 - 7, i / 7
        if geometry:
            feature.SetGeometry(geometry)
        layer.CreateFeature(feature)
    return path


def compare_with_gdal(path):
    got, columns, attributes = rows_of(path)
    layer = (source := ogr.Open(path)).GetLayer(0)
    check(layer.GetFeatureCount() == len(got), f"{path}: {len(got)} rows")
    for i, feature in enumerate(layer):
        shape = feature.GetGeometryRef()
        want = None if shape is None else bytes(shape.ExportToIsoWkb())
        check(got[i] == want, f"{path}: row {i}: {got[i] and ogr.CreateGeometryFromWkb(got[i]).ExportToIsoWkt()}, and GDAL "
              f"has {shape and shape.ExportToIsoWkt()}")
        for column in ("name", "n", "real"):
            value = columns[column][i]
            value = value.decode() if isinstance(value, bytes) else value
            check(value == feature[column] and type(value) is type(feature[column]),
                  f"{path}: row {i}: {column}: {value!r}, and GDAL has {feature[column]!r}")
    del source
    return attributes


def random_ring(rng, x, y, radius):
    """A ring around a place, counterclockwise."""
    import math
    n = rng.randint(3, 9)
    angles = sorted(rng.uniform(0, 6.28) for _ in range(n))
    ring = [f"{x + radius * math.cos(a)!r} {y + radius * math.sin(a)!r}" for a in angles]
    return "(" + ",".join(ring + ring[:1]) + ")"


def random_polygons(rng):
    """Some polygons in cells of their own, each with holes that may have islands."""
    out = []
    for cell in range(rng.randint(1, 5)):
        x = 100 * cell
        frame = f"({x} 0,{x + 90} 0,{x + 90} 90,{x} 90,{x} 0)"
        holes = [(x + 20 + 30 * k, 45, 12) for k in range(rng.randint(0, 2))]
        out.append("(" + ",".join([frame] + [random_ring(rng, *h) for h in holes]) + ")")
        if holes and rng.random() < 0.5:
            hx, hy, _ = holes[0]
            out.append(f"({random_ring(rng, hx, hy, 0.5)})") # small enough to be in the hole or not
    rng.shuffle(out)
    return "MULTIPOLYGON (" + ",".join(out) + ")"


@test
def test_gdal_polygons(folder):
    if not ogr:
        raise Skip("GDAL's Python module is not installed")
    rng = random.Random(8)
    many = [ogr.CreateGeometryFromWkt(random_polygons(rng)) for _ in range(200)] + [None]
    compare_with_gdal(make_with_gdal(f"{folder}/polygons.shp", ogr.wkbPolygon, many))


@test
def test_gdal_kinds(folder):
    """Every kind in every dimension."""
    if not ogr:
        raise Skip("GDAL's Python module is not installed")
    rng = random.Random(9)
    for tag, size in (("", 2), (" Z", 3), (" M", 3), (" ZM", 4)):
        def run_of(n):
            return "(" + ",".join(" ".join(repr(rng.uniform(-9, 9)) for _ in range(size)) for _ in range(n)) + ")"
        for kind, body in (("POINT", lambda: run_of(1)), ("LINESTRING", lambda: run_of(rng.randint(2, 9))),
                           ("MULTIPOINT", lambda: run_of(rng.randint(1, 9))),
                           ("MULTILINESTRING",
                            lambda: "(" + ",".join(run_of(rng.randint(2, 5)) for _ in range(rng.randint(1, 5))) + ")")):
            shapes = [ogr.CreateGeometryFromWkt(f"{kind}{tag} {body()}") for _ in range(40)]
            path = f"{folder}/{kind}{tag.strip()}.shp"
            compare_with_gdal(make_with_gdal(path, shapes[0].GetGeometryType(), shapes + [None]))


@test
def test_gdal_encodings_and_crs(folder):
    if not ogr:
        raise Skip("GDAL's Python module is not installed")
    here = [ogr.CreateGeometryFromWkt("POINT (1 2)")] * 7
    for encoding, epsg, name in (("UTF-8", 4326, "K\u00fcste \u20ac \U0001f600"), ("CP1252", 25832, "K\u00fcste \u20ac"),
                                 ("ISO-8859-1", 3857, "K\u00fcste"), ("CP1251", 2154, "\u0416"), ("CP932", 6677, "\u65e5")):
        path = make_with_gdal(f"{folder}/{encoding}.shp", ogr.wkbPoint, here, epsg, encoding, name)
        attributes = compare_with_gdal(path)
        check(f'"code":{epsg}'.encode() in attributes["geo"], f"{epsg}: {attributes['geo']}")
        with open(path[:-3] + "prj", "rb") as f:
            check(attributes["crs_source"] == f.read().strip(), f"{attributes['crs_source']}")


@test
def test_gdal_deleted(folder):
    """What is marked as deleted is no row, here as there."""
    if not ogr:
        raise Skip("GDAL's Python module is not installed")
    path = make_with_gdal(f"{folder}/a.shp", ogr.wkbPoint, [ogr.CreateGeometryFromWkt(f"POINT ({i} 0)") for i in range(9)])
    source = ogr.Open(path, 1)
    for number in (0, 4, 8):
        source.GetLayer(0).DeleteFeature(number)
    del source
    compare_with_gdal(path)


# --- shapefiles byte by byte -------------------------------------------------------------------------------

FIELDS = [(b"NAME", b"C", 10, 0), (b"N", b"N", 6, 0), (b"F", b"F", 8, 3), (b"DAY", b"D", 8, 0), (b"OK", b"L", 1, 0)]


@test
def test_values(folder):
    shp, shx = s.files(1, [s.point(1, 2), s.null(), s.point(3, 4), s.point(5, 6)])
    rows = [[b"one", b"-12", b"1.500", b"20240229", b"T"], [b"", b"", b"", b"", b""], [b"", b"******", b"*", b"00000000", b"?"],
            [b" two", b"7", b"1e3", b"19991231", b"n"]]
    path = s.write(f"{folder}/a", shp, shx, s.dbf(FIELDS, rows))
    got, columns, attributes = rows_of(path)
    check(got == [wkb(1, struct.pack("<2d", 1, 2)), None, wkb(1, struct.pack("<2d", 3, 4)), wkb(1, struct.pack("<2d", 5, 6))], got)
    check(columns == {"NAME": [b"one", None, None, b"two"], "N": [-12, None, None, 7],
                      "F": [1.5, None, None, 1000.0], "DAY": [1709164800000000, None, None, 946598400000000],
                      "OK": [True, None, None, False]}, columns)
    check("crs_source" not in attributes and b'"crs":null' in attributes["geo"], attributes)


@test
def test_numbers(folder):
    """Integers where 64 bits surely hold them; a field of more digits stays text; what is no number is an error."""
    shp, shx = s.files(1, [s.point(1, 2), s.point(3, 4)])
    fields = [(b"I", b"N", 18, 0), (b"W", b"N", 19, 0), (b"R", b"N", 19, 3), (b"F", b"F", 10, 0)]
    rows = [[b"999999999999999999", b"9223372036854775808", b"-0.125", b"7"], [b"-99999999999999999", b"007", b"5", b"1e2"]]
    _, columns, _ = rows_of(s.write(f"{folder}/a", shp, shx, s.dbf(fields, rows)))
    check(columns == {"I": [10**18 - 1, 1 - 10**17], "W": [b"9223372036854775808", b"007"], "R": [-0.125, 5.0], "F": [7.0, 100.0]}, columns)
    bad = s.write(f"{folder}/b", shp, shx, s.dbf(fields[:1], [[b"1"], [b"1.5"]]))
    refused(bad, "record 2: column I: '1.5' is not an integer")
    check(rows_of(bad, "types=text")[1] == {"I": [b"1", b"1.5"]}, "as text")
    check(rows_of(bad, "bad=skip")[1] == {"I": [1]}, "skipped")
    refused(s.write(f"{folder}/c", shp, shx, s.dbf([(b"D", b"D", 8, 0)], [[b"20240230"], [b""]])), "record 1: column D: '20240230' is not a time")


@test
def test_nesting(folder):
    """Rings in any order: holes go to the smallest ring that they lie in, islands in holes are polygons."""
    q, h = s.square, lambda *a: s.square(*a, clockwise=False)
    cases = [
        ([q(0, 0, 9), h(1, 1, 2)], polygon(q(0, 0, 9), h(1, 1, 2))),
        ([h(1, 1, 2), q(0, 0, 9)], polygon(q(0, 0, 9), h(1, 1, 2))),
        ([q(0, 0, 9), q(20, 0, 9)], wkb(6, 2, polygon(q(0, 0, 9)), polygon(q(20, 0, 9)))),
        ([q(0, 0, 90), h(10, 10, 50), q(20, 20, 20), h(25, 25, 5)],
         wkb(6, 2, polygon(q(0, 0, 90), h(10, 10, 50)), polygon(q(20, 20, 20), h(25, 25, 5)))),
        ([q(0, 0, 9), h(0, 0, 2)], polygon(q(0, 0, 9), h(0, 0, 2))),  # shares a corner
        ([q(0, 0, 9), q(9, 0, 9), h(9, 3, 2)], wkb(6, 2, polygon(q(0, 0, 9)), polygon(q(9, 0, 9), h(9, 3, 2)))),
        ([h(0, 0, 9)], polygon(h(0, 0, 9))),  # the wrong way round
        ([q(0, 0, 9), h(20, 0, 2)], wkb(6, 2, polygon(q(0, 0, 9)), polygon(h(20, 0, 2)))),  # a hole in nothing
        ([], wkb(3, 0)),
        # An L around a square that is in its box and not in it
        ([[(0, 0), (0, 9), (1, 9), (1, 1), (9, 1), (9, 0), (0, 0)], q(3, 3, 5), h(4, 4, 1)],
         wkb(6, 2, polygon([(0, 0), (0, 9), (1, 9), (1, 1), (9, 1), (9, 0), (0, 0)]), polygon(q(3, 3, 5), h(4, 4, 1)))),
        # far from the origin
        ([q(5e6, 5e6, 1e-3), h(5e6 + 1e-4, 5e6 + 1e-4, 1e-4)], polygon(q(5e6, 5e6, 1e-3), h(5e6 + 1e-4, 5e6 + 1e-4, 1e-4))),
    ]
    shp, shx = s.files(5, [s.parts(rings) for rings, _ in cases])
    got, _, _ = rows_of(s.write(f"{folder}/a", shp, shx))
    for i, (rings, want) in enumerate(cases):
        check(got[i] == want, f"case {i}: {rings}: {got[i].hex()} instead of {want.hex()}")


@test
def test_measures(folder):
    """M where something was measured; what was not is NaN among it."""
    nan, none = float("nan"), -1e39
    line = [(0, 0), (1, 1)]
    shp, _ = s.files(13, [s.parts([line], [5, 6], [7, 8], 13), s.parts([line], [5, 6], None, 13),
                          s.parts([line], [5, 6], [none, none], 13), s.parts([line], [5, 6], [7, none], 13)])
    z = wkb(2, [(0, 0, 5), (1, 1, 6)], dim=1)
    got, _, _ = rows_of(s.write(f"{folder}/a", shp))
    check(got == [wkb(2, [(0, 0, 5, 7), (1, 1, 6, 8)], dim=3), z, z, wkb(2, [(0, 0, 5, 7), (1, 1, 6, nan)], dim=3)], got)
    shp, _ = s.files(21, [s.point(1, 2, 3, kind=21), s.point(1, 2, none, kind=21)])
    got, _, _ = rows_of(s.write(f"{folder}/b", shp))
    check(got == [wkb(1, struct.pack("<3d", 1, 2, 3), dim=2), wkb(1, struct.pack("<2d", 1, 2))], got)
    shp, _ = s.files(28, [s.multipoint(line, None, [3, 4], 28), s.multipoint([], None, [], 28)])
    point = [wkb(1, struct.pack("<3d", *v), dim=2) for v in ((0, 0, 3), (1, 1, 4))]
    got, _, _ = rows_of(s.write(f"{folder}/c", shp))
    check(got == [wkb(4, 2, *point, dim=2), wkb(4, 0)], got)


@test
def test_encodings(folder):
    fields = [(b"NAME", b"C", 9, 0)]
    shp, shx = s.files(1, [s.point(1, 2)])
    for number, (text, language, cpg) in enumerate([
            ("\u00fc\u20ac", 0x57, None), ("\u00fc\u20ac", 3, None), ("\u00fc\u20ac", 0, b"1252"), ("\u00fc\u20ac", 0, b"ANSI 1252\r\n"),
            ("\u00fc", 0, b"ISO-8859-1\n"), ("\u00fc", 0, b"88591"), ("\u0416", 0x57, b"CP1251"), ("\u0416", 0xC9, None),
            ("\u00fc\u20ac", 0, None), ("\u00fc\u20ac", 0, b"UTF-8"), ("\u00fc\u20ac", 0x57, b"65001"), ("\u00fc", 1, None),
            ("\u00fc", 0, b"OEM 850")]):
        page = {0: "utf-8", 0x57: "cp1252", 3: "cp1252", 0xC9: "cp1251", 1: "cp437"}[language]
        page = {None: page, b"UTF-8": "utf-8", b"65001": "utf-8", b"CP1251": "cp1251", b"88591": "latin-1",
                b"ISO-8859-1\n": "latin-1", b"OEM 850": "cp850"}.get(cpg, "cp1252")
        path = s.write(f"{folder}/e{number}", shp, shx, s.dbf(fields, [[text.encode(page)]], language), cpg)
        _, columns, _ = rows_of(path)
        check(columns["NAME"] == [text.encode()], f"{number}: {columns}")
    path = s.write(f"{folder}/none", shp, shx, s.dbf(fields, [[b"\xfc"]]))
    refused(path, "record 1: column NAME: not UTF-8", "none.cpg")
    path = s.write(f"{folder}/unknown", shp, shx, s.dbf(fields, [[b"x"]]), b"klingon//IGNORE")
    refused(path, "encoding that is not known here, 'klingon//IGNORE'")
    path = s.write(f"{folder}/wrong", shp, shx, s.dbf(fields, [[b"\x81"]]), b"1252")
    refused(path, "record 1: column NAME: text that is not in the .dbf's encoding")


@test
def test_siblings(folder):
    """Any name, any case, and what may be missing."""
    shp, shx = s.files(1, [s.point(1, 2), s.point(3, 4)])
    table = s.dbf(FIELDS[:1], [[b"a"], [b"b"]])
    want = [wkb(1, struct.pack("<2d", 1, 2)), wkb(1, struct.pack("<2d", 3, 4))]
    os.mkdir(f"{folder}/a.b")
    for number, (name, options) in enumerate([(".shp", {}), (".dat", {}), ("", {"shx": None}), (".x", {"shx": None}),
                                              (".SHP", {"dbf": None}), (".shp", {"shx": None, "dbf": None})]):
        path = s.write(f"{folder}/a.b/n{number}", shp, name=name, **{"shx": shx, "dbf": table, **options})
        got, columns, _ = rows_of(path)
        check(got == want and columns == ({} if options.get("dbf", 1) is None else {"NAME": [b"a", b"b"]}), number)
    path = s.write(f"{folder}/upper", shp, name=".SHP")
    for extension, content in ((".SHX", shx), (".DBF", table)):
        with open(f"{folder}/upper{extension}", "wb") as f:
            f.write(content)
    check(rows_of(path)[1] == {"NAME": [b"a", b"b"]}, "upper case")
    refused(s.write(f"{folder}/index", shp, shx)[:-3] + "shx", "the index of a shapefile: open its .shp")
    os.mkdir(f"{folder}/odd.dbf")
    refused(s.write(f"{folder}/odd", shp, shx), "odd.dbf: it is not a regular file")
    # a .prj that is none
    got, _, attributes = rows_of(s.write(f"{folder}/prj", shp, shx, prj=b"my own CRS\n"))
    check(got == want and attributes["crs_source"] == b"my own CRS" and b'"crs":null' in attributes["geo"], attributes)


@test
def test_empty(folder):
    shp, shx = s.files(5, [])
    got, columns, attributes = rows_of(s.write(f"{folder}/a", shp, shx, s.dbf(FIELDS, [])))
    check(got == [] and list(columns) and b'"geometry_types":[]' in attributes["geo"], (got, columns))
    check(rows_of(s.write(f"{folder}/b", shp))[0] == [], "alone")


@test
def test_bad_records(folder):
    """An error with the record's number, or left out and counted."""
    good = s.point(1, 2)
    first = wkb(1, struct.pack("<2d", 1, 2))
    inf = float("inf")
    line = [(0, 0), (1, 1)]
    for number, (kind, record, words) in enumerate([
            (1, s.point(1, inf), "a coordinate that is not finite"),
            (1, s.point(float("nan"), 1), "a coordinate that is not finite"),
            (1, good[:12], "its shape is damaged"),
            (1, struct.pack("<i2d", 7, 1, 2), "type 7"),
            (3, struct.pack("<i4d2i", 3, 0, 0, 0, 0, 1, 1 << 30) + bytes(20), "its shape is damaged"),
            (3, struct.pack("<i4d2i", 3, 0, 0, 0, 0, 1 << 30, 1) + bytes(20), "its shape is damaged"),
            (3, struct.pack("<i4d2i", 3, 0, 0, 0, 0, -1, -1) + bytes(20), "its shape is damaged"),
            (8, struct.pack("<i4di", 8, 0, 0, 0, 0, 1 << 28) + bytes(16), "its shape is damaged"),
            (3, s.parts([line], kind=3).replace(struct.pack("<3i", 1, 2, 0), struct.pack("<3i", 1, 2, 1)),
             "vertices that belong to no part"),
            (3, s.parts([line, []], kind=3), "its shape is damaged"),
            (3, s.parts([line, line], kind=3)[:-16], "its shape is damaged"),
            (31, struct.pack("<i4d3i", 31, 0, 0, 0, 0, 1, 1, 0) + struct.pack("<i", 0) + bytes(16) + bytes(24), "")]):
        shp, shx = s.files(kind if kind != 31 else 5, [good, record, good])
        for index in (shx, None):
            path = s.write(f"{folder}/r{number}{'x' if index else ''}", shp, index)
            refused(path, "is not HDF5 but shapefile: record 2: ", words)
            got, _, attributes = rows_of(path, "bad=skip")
            check(got == [first, first] and attributes["h5vec_skipped"] == 1, f"{number}: {got} {attributes}")
    refused(s.write(f"{folder}/patch", *s.files(31, [])), "multipatches are not supported")


@test
def test_cut_short(folder):
    shp, shx = s.files(1, [s.point(i, 0) for i in range(5)])
    table = s.dbf(FIELDS[:1], [[b"a"]] * 5)
    path = s.write(f"{folder}/shp", shp[:-30], shx, table)
    refused(path, "record 4: ")
    got, _, attributes = rows_of(path, "bad=skip")
    check(len(got) == 3 and attributes["h5vec_skipped"] == 2, attributes)
    path = s.write(f"{folder}/noindex", shp[:-30], None, table)
    refused(path, "record 4: ")
    check(rows_of(path, "bad=skip")[2]["h5vec_skipped"] == 2, "without the index")
    refused(s.write(f"{folder}/shx", shp, shx[:-3], table), "shx.shx is damaged or cut short")
    refused(s.write(f"{folder}/shx2", shp, shx[:50], table), "shx2.shx is damaged or cut short")
    path = s.write(f"{folder}/dbf", shp, shx, table[:-15])
    refused(path, "record 4: the .dbf has no record for it")
    check(rows_of(path, "bad=skip")[2]["h5vec_skipped"] == 2, ".dbf")
    for size in (0, 10, 40, 64):
        refused(s.write(f"{folder}/head{size}", shp, shx, table[:size]), f"the header of {folder}/head{size}.dbf is damaged")
    refused(s.write(f"{folder}/long", *s.files(1, []), table), "record 1: the .shp has no record for it")
    for size in range(0, len(shp), 5):  # whatever it is, it is said
        path = s.write(f"{folder}/any", shp[:size], shx if size % 2 else None, table)
        code, said = run(TRY_OPEN, path)
        check(code == 1 and said, f"{size}: exit {code} {said}")


@test
def test_huge_claims(folder):
    """Counts that no file holds: refused, in the memory that a tool has."""
    shp, shx = s.files(1, [s.point(1, 2)])

    def claim(data, at, value, order=">"):
        return data[:at] + struct.pack(order + "I", value) + data[at + 4:]

    table = s.dbf(FIELDS, [[b"", b"", b"", b"", b""]])
    refused(s.write(f"{folder}/a", shp, claim(shx, 24, 0x7FFFFFFF)), "is damaged or cut short")
    refused(s.write(f"{folder}/b", shp, claim(shx, 104, 0x3FFFFFF0)), "record 1: ")
    refused(s.write(f"{folder}/c", shp, claim(shx, 100, 0x7FFFFFF0)), "")
    refused(s.write(f"{folder}/d", claim(shp, 104, 0xFFFFFFF0)), "record 1: its length is no length")
    refused(s.write(f"{folder}/e", shp, shx, s.dbf(FIELDS, [[b"", b"", b"", b"", b""]], count=0x7FFFFFFF)), "record 2: ")
    _, _, attributes = rows_of(f"{folder}/e.shp", "bad=skip")
    check(attributes["h5vec_skipped"] == 1, attributes)
    wide = [(b"A", b"C", 255, 0)] * 3
    refused(s.write(f"{folder}/f", shp, shx, s.dbf(wide, [[b"x"] * 3]).replace(struct.pack("<HH", 129, 766),
                                                                         struct.pack("<HH", 129, 100))), "header of")
    refused(s.write(f"{folder}/g", shp, shx, table[:8] + struct.pack("<HH", 193, 0) + table[12:]), "header of")
    refused(s.write(f"{folder}/h", shp, shx, s.dbf([(b"M", b"M", 10, 0)], [[b"1"]])), "type 'M'")


@test
def test_many_rings(folder):
    """Many holes in many rings take no long time; a ring for every hole."""
    side = 60
    rings = [s.square(4 * i, 4 * k, 3) for i in range(side) for k in range(side)]
    holes = [s.square(4 * i + 1, 4 * k + 1, 1, False) for i in range(side) for k in range(side)]
    shp, shx = s.files(5, [s.parts(holes + rings)])
    got, _, _ = rows_of(s.write(f"{folder}/a", shp, shx))
    check(got == [wkb(6, len(rings), *[polygon(r, h) for r, h in zip(rings, holes)])], "rings and holes")


@test
def test_memory(folder):
    shp, shx = s.files(8, [s.multipoint([(i, j) for j in range(100)]) for i in range(3000)])
    path = s.write(f"{folder}/a", shp, shx)  # 6 MB of WKB
    refused(path, "foreign_max is 3145728 bytes", "h5vcat", info="foreign_max=3MiB")
    check(len(rows_of(path, "foreign_max=64MiB")[0]) == 3000, "enough")
    path = s.write(f"{folder}/b", *s.files(8, [s.multipoint([(1, 2)] * 100000)]))
    refused(path, "record 1: the record is longer than 1048576 bytes", info="foreign_max=16MiB")
    check(len(rows_of(path, "foreign_max=32MiB")[0]) == 1, "enough for the record")


@test
def test_environment(folder):
    """HDF5_DRIVER names the driver for every file, but not for the one in memory; settings come as well."""
    path = f"{folder}/a"
    with open(path, "w", encoding="utf-8") as f:
        f.write("POINT (1 2)\nPOINT (x)\nPOINT (3 4)\n")
    code, said = run(hdf5_tool("h5dump"), "-A", path, env={"HDF5_DRIVER": "h5vec", "HDF5_DRIVER_CONFIG": "bad=skip"})
    check(code == 0 and 'GROUP "layer"' in said and "h5vec_skipped" in said, f"exit {code} {said}")
    code, said = run(hdf5_tool("h5dump"), "-A", path, env={"HDF5_DRIVER": "h5vec"})
    check(code != 0, f"exit {code} {said}")


@test
def test_h5py_reads_it(folder):
    """h5py through HDF5_DRIVER, where its HDF5 can load drivers."""
    if h5py.version.hdf5_version_tuple < (1, 14, 0):
        raise Skip(f"h5py has HDF5 {h5py.version.hdf5_version}, which does not load drivers")
    shp, shx = s.files(1, [s.point(1, 2), s.point(3, 4)])
    path = s.write(f"{folder}/a", shp, shx)
    code, said = run(sys.executable, "-c", f"import h5py; print(h5py.File('{path}')['layer/geometry/bbox'][1].tolist())",
                     env={"HDF5_DRIVER": "h5vec"})
    check(code == 0 and said.strip() == "[3.0, 4.0, 3.0, 4.0]", f"exit {code} {said}")


if __name__ == "__main__":
    main(needs=(H5VINFO, TRY_OPEN))
