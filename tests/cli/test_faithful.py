# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is changed silently: what text says is what the layer holds, to the bit, and what cannot be held is an error
that says so. Under a locale with decimal commas as well. Where GDAL's reader agrees with the right answer it is asked, too."""
import json
import math
import os
import shutil
import struct
import subprocess

import h5py

import geo
from geo import G, check_layer, write
from h5vtest import H5VCAT, H5VINFO, Skip, check, fails, main, merge, run, test

try:
    from osgeo import ogr
    ogr.UseExceptions()
except ImportError:
    ogr = None

LINE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
NESTED = G(1, 0, (1.0, 2.0))
for _ in range(128):
    NESTED = G(7, 0, [NESTED])

# (text, geometry, whether GDAL 3 reads it as that)
GOOD = [
    ("POINT M (1 2 3)", G(1, 2, (1.0, 2.0, 3.0)), True),
    ("POINTM(1 2 3)", G(1, 2, (1.0, 2.0, 3.0)), True),
    ("POINT ZM (1 2 3 4)", G(1, 3, (1.0, 2.0, 3.0, 4.0)), True),
    ("LINESTRING M (1 2 3,4 5 6)", G(2, 2, [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]), True),
    ("MULTIPOINT ZM ((1 2 3 4),(5 6 7 8))", G(4, 3, [(1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)]), True),
    ("LINESTRING (1 2 3,4 5 6)", G(2, 1, [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]), True),
    ("POINT (+1 -0)", G(1, 0, (1.0, -0.0)), False),
    ("POINT (.5 5.)", G(1, 0, (0.5, 5.0)), True),
    ("POINT (1E2 -1e-2)", G(1, 0, (100.0, -0.01)), True),
    ("POINT (0.1 0.30000000000000004)", G(1, 0, (0.1, 0.30000000000000004)), True),
    ("POINT (0.1000000000000000055511151231257827 9007199254740993)", G(1, 0, (0.1, 9007199254740992.0)), True),
    ("POINT (5e-324 1.7976931348623157e308)", G(1, 0, (5e-324, 1.7976931348623157e308)), True),
    ("POINT (2.2250738585072011e-308 1e-400)", G(1, 0, (2.2250738585072011e-308, 0.0)), True),
    ("  point  ( 1   2 )  ", G(1, 0, (1.0, 2.0)), True),
    ("POINT EMPTY", G(1, 0, None), True),
    ("POINT Z EMPTY", G(1, 1, None), True),
    ("POLYGON EMPTY", G(3, 0, []), True),
    ("MULTIPOINT (EMPTY,(1 2))", G(4, 0, [None, (1.0, 2.0)]), True),
    ("MULTILINESTRING ((1 2,3 4),EMPTY)", G(5, 0, [[(1.0, 2.0), (3.0, 4.0)], []]), True),
    ("GEOMETRYCOLLECTION (POINT EMPTY,LINESTRING EMPTY,POINT (1 2))",
     G(7, 0, [G(1, 0, None), G(2, 0, []), G(1, 0, (1.0, 2.0))]), True),
    ("GEOMETRYCOLLECTION (" * 128 + "POINT (1 2)" + ")" * 128, NESTED, False),
]
# Kept as they are, and counted.
INVALID = [
    ("POLYGON ((0 0,1 0,1 1,0 1))", G(3, 0, [LINE]), True),
    ("POLYGON ((0 0,1 0,0 0))", G(3, 0, [[(0.0, 0.0), (1.0, 0.0), (0.0, 0.0)]]), True),
    ("LINESTRING (1 1)", G(2, 0, [(1.0, 1.0)]), True),
    ("MULTIPOLYGON (((0 0,1 0,1 1,0 1)))", G(6, 0, [[LINE]]), True),
]
BAD = [
    ("LINESTRING (1 2,3 4 5)", "3 ordinates where points have 2"),
    ("POINT (1 2) POINT (3 4)", "text after the end of the geometry"),
    ("POINT (1 2))", "text after the end of the geometry"),
    ("POINT (0x10 2)", "not a decimal number"),
    ("POINT (1 0x1p3)", "not a decimal number"),
    ("POINT (1,5 2,5)", "decimal comma?"),
    ("LINESTRING (1,5 2,5)", "decimal comma?"),
    ("POINT (1e309 2)", "number out of a double's range"),
    ("POINT (nan 2)", "coordinate not finite: 'nan'"),
    ("POINT (1 -inf)", "coordinate not finite: '-inf'"),
    ("GEOMETRYCOLLECTION (" * 129 + "POINT (1 2)" + ")" * 129, "nested deeper than 128"),
    ("GEOMETRYCOLLECTION (" * 50000, "nested deeper than 128"),
    ("CIRCULARSTRING (0 0,1 1,2 0)", "geometry type not supported: CircularString"),
    ("CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,0 0))", "geometry type not supported: CurvePolygon"),
    ("TIN (((0 0,1 0,1 1,0 0)))", "geometry type not supported: TIN"),
    ("GEOMETRYCOLLECTION (COMPOUNDCURVE ((0 0,1 1)))", "geometry type not supported: CompoundCurve"),
]


def comma_locale(folder):
    """A locale of the system's, or made for the test, whose decimals have commas: the environment that has it."""
    if not shutil.which("localedef"):
        raise Skip("localedef is not installed")
    path = f"{folder}/locales"
    os.makedirs(path, exist_ok=True)
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{path}/de_DE.UTF-8"], capture_output=True, timeout=60)
    if made.returncode > 1 or not os.path.isdir(f"{path}/de_DE.UTF-8"):
        raise Skip("localedef has no source of de_DE: " + made.stderr.decode()[:100])
    env = {"LOCPATH": path, "LC_ALL": "de_DE.UTF-8"}
    said = subprocess.run(["/usr/bin/printf", "%.1f", "1,5"], env={**os.environ, **env}, capture_output=True, timeout=10)
    check(said.stdout == b"1,5", f"the locale has no decimal comma: {said}")
    return env


def keeps_all(folder, env):
    cases = GOOD + INVALID
    path = write(f"{folder}/all.wkt", "\ufeff" + "\r\n".join(text for text, _, _ in cases))
    out = f"{folder}/out/o.h5"
    for ranks in (1, 3):
        r = run(["--json", "-f", "-o", out, path], ranks, env=env)
        check(r.code == 0, f"{ranks} ranks: exit {r.code}: {r.err}")
        check(json.loads(r.out)["invalid_geometries"] == len(INVALID), f"{ranks} ranks: {r.out}")
        check_layer(out, "layer", [g for _, g, _ in cases])
        with h5py.File(out) as f:
            wkb, offsets = f["layer/geometry/wkb"][()].tobytes(), f["layer/geometry/offsets"][()]
        for (text, _, same), a, b in zip(cases, offsets, offsets[1:]):
            if ogr and same:
                want = bytes(ogr.CreateGeometryFromWkt(text).ExportToIsoWkb())
                check(wkb[a:b] == want, f"{text}: {wkb[a:b].hex()}, and GDAL has {want.hex()}")
    text = write(f"{folder}/points.csv", "x,y,v\n1.5,2.25,0.5\n-0,+3,1e3\n")
    merge([text], f"{folder}/out/points.h5", 2, env=env)
    check_layer(f"{folder}/out/points.h5", "layer", [G(1, 0, (1.5, 2.25)), G(1, 0, (-0.0, 3.0))], {"v": [0.5, 1000.0]})
    r = run([f"{folder}/out/points.h5"], 0, env=env, command=H5VINFO)
    check("0 2.25 1.5 3\n" in r.out, r.out)


@test
def test_what_is_kept(folder):
    keeps_all(folder, {})


@test
def test_what_is_kept_under_a_decimal_comma(folder):
    keeps_all(folder, comma_locale(folder))


def refuses_all(folder, cases, env, *options):
    for i, (text, words) in enumerate(cases):
        path = write(f"{folder}/{i}.wkt", "POINT (1 2)\n" + text + "\n")
        fails([*options, path], f"{folder}/out/bad.h5", 1, f"{i}.wkt", "line 2, column ", words, ranks=(1 + i % 2,), env=env)


@test
def test_what_is_refused(folder):
    refuses_all(folder, BAD, {})
    refuses_all(folder, [("SRID=4326;POINT (1 2)", "SRID 4326, but the rows before have 0")], {})


@test
def test_what_is_refused_under_a_decimal_comma(folder):
    refuses_all(folder, BAD[3:8], comma_locale(folder))


@test
def test_nonfinite(folder):
    """Only with --allow-nonfinite, and never a point that would read back as empty."""
    path = write(f"{folder}/a.wkt", "POINT (nan 1)\nLINESTRING (inf 1,2 -infinity)\nPOINT M (1 2 NaN)\n")
    merge([path], f"{folder}/out/o.h5", 2, "--allow-nonfinite")
    with h5py.File(f"{folder}/out/o.h5") as f:
        geometry = f["layer/geometry"]
        wkb, offsets = geometry["wkb"][()].tobytes(), geometry["offsets"][()]
        nan, inf = struct.unpack("<d", bytes.fromhex("000000000000f87f"))[0], math.inf
        want = [struct.pack("<BI2d", 1, 1, nan, 1), struct.pack("<BII4d", 1, 2, 2, inf, 1, 2, -inf),
                struct.pack("<BI3d", 1, 2001, 1, 2, nan)]
        check([wkb[a:b] for a, b in zip(offsets, offsets[1:])] == want, wkb.hex())
        check(geometry["bbox"][()].tolist() == [[inf, 1, -inf, 1], [2, -inf, inf, 1], [1, 2, 1, 2]], str(geometry["bbox"][()]))
        check("bbox" not in json.loads(f["layer"].attrs["geo"])["columns"]["geometry"], "a bbox that is not finite")
    refuses_all(folder, [("POINT (nan nan)", "a point of NaNs only: write POINT EMPTY")], {}, "--allow-nonfinite")
    text = write(f"{folder}/a.csv", "x,y\n1,2\nnan,nan\n")
    fails(["--allow-nonfinite", text], f"{folder}/out/c.h5", 1, "line 3, column 1: ", "read back as empty", ranks=(1,))


@test
def test_null_empty_and_absent(folder):
    """No geometry, a geometry without points, no value and an empty text are four things."""
    path = write(f"{folder}/a.csv", 'id,WKT,note\n1,,x\n2,POINT EMPTY,""\n3,POINT (1 2),\n,"",\n')
    rows = [None, G(1, 0, None), G(1, 0, (1.0, 2.0)), None]
    for ranks in (1, 2, 5):
        out = f"{folder}/out/{ranks}.h5"
        merge([path], out, ranks)
        check_layer(out, "layer", rows, {"id": [1, 2, 3, None], "note": [b"x", b"", None, None]})


if __name__ == "__main__":
    main(needs=(H5VCAT, H5VINFO))
