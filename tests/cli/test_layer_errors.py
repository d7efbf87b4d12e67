# SPDX-License-Identifier: BSD-3-Clause
"""Text that is malformed and layers that do not fit together."""
import h5py

from h5vtest import fails, main, merge, test

POINTS = "POINT (1 2)\nPOINT (3 4)\n"


def write(folder, name, text):
    path = f"{folder}/{name}"
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def layer(folder, name, text, *options):
    """A layer file made of this text."""
    merge([write(folder, "source.txt", text)], f"{folder}/{name}", 1, "--force", *options)
    return f"{folder}/{name}"


@test
def test_malformed_line(folder):
    good = write(folder, "good.wkt", POINTS)
    bad = write(folder, "bad.wkt", POINTS * 50 + "POINT (1 2\n" + POINTS)
    fails([good, bad], f"{folder}/out/o.h5", 1, "bad.wkt", "line 101")
    fails([bad], f"{folder}/out/o.h5", 1, "bad.wkt", "line 101", options=("--write=collective",), ranks=(2,))


@test
def test_malformed_in_many_ways(folder):
    for text in ("POINT (1)", "LINESTRING (1 2, 3 4 5)", "POINT (1 1e309)", "POINT (nan nan)", "POINT (0x10 2)",
                 "CIRCULARSTRING (0 0, 1 1, 2 0)", "POINT (1,5 2,5)", "POINT (1 2)) ", "GEOMETRYCOLLECTION Z (POINT (1 2))",
                 "POINT (1 2", "SRID=x;POINT (1 2)", "GEOMETRYCOLLECTION (" * 200 + "POINT EMPTY" + ")" * 200):
        bad = write(folder, "bad.wkt", POINTS + text + "\n")
        fails([bad], f"{folder}/out/o.h5", 1, "bad.wkt", "line 3", ranks=(2,))


@test
def test_malformed_csv(folder):
    head = "id,WKT,name\n1,POINT (1 2),a\n"
    for text, line in (("2,POINT (1 2\n", 3), ('2,"POINT (1 2),b\n', 3), ("2,POINT (1 2),b,extra\n", 3), ("2\n", 3)):
        bad = write(folder, "bad.csv", head + text)
        fails([bad], f"{folder}/out/o.h5", 1, "bad.csv", (f"line {line}", f"line {line + 1}"), ranks=(1, 3))


@test
def test_neither_text_nor_hdf5(folder):
    good = write(folder, "good.wkt", POINTS)
    fails([good, write(folder, "bad.txt", "hello, world\nthis is prose\n")], f"{folder}/out/o.h5", 1, "bad.txt")
    fails([good, write(folder, "bad.bin", bytes(range(256)) * 20)], f"{folder}/out/o.h5", 1, "bad.bin", ranks=(2,))


@test
def test_crs_differs(folder):
    a = write(folder, "first.wkt", "SRID=4326;POINT (1 2)\n")
    b = write(folder, "second.wkt", "SRID=3857;POINT (1 2)\n")
    fails([a, b], f"{folder}/out/o.h5", 3, "first.wkt", "second.wkt")
    la, lb = layer(folder, "first.h5", "SRID=4326;POINT (1 2)\n"), layer(folder, "second.h5", "SRID=3857;POINT (1 2)\n")
    fails([la, la, lb], f"{folder}/out/o.h5", 3, "second.h5", "first.h5")
    fails([la, b], f"{folder}/out/o.h5", 3, "first.h5", "second.wkt", ranks=(2,))


@test
def test_srid_differs_in_one_file(folder):
    bad = write(folder, "bad.wkt", "SRID=4326;POINT (1 2)\nSRID=3857;POINT (1 2)\n")
    fails([bad], f"{folder}/out/o.h5", 1, "bad.wkt", "line 2", ranks=(1, 2))


@test
def test_text_column_missing(folder):
    a = write(folder, "first.csv", "id,WKT,name\n1,POINT (1 2),x\n")
    b = write(folder, "second.csv", "id,WKT\n2,POINT (3 4)\n")
    fails([a, b], f"{folder}/out/o.h5", 3, "first.csv", "second.csv", "name")
    fails([b, a], f"{folder}/out/o.h5", 3, "first.csv", "second.csv", "name", ranks=(1, 3))
    fails([layer(folder, "first.h5", open(a).read()), layer(folder, "second.h5", open(b).read())], f"{folder}/out/o.h5", 3,
          "first.h5", "second.h5", "name", ranks=(2,))


@test
def test_layer_missing_in_one(folder):
    a = layer(folder, "first.h5", POINTS, "--layer=rivers")
    b = layer(folder, "second.h5", POINTS, "--layer=lakes")
    fails([a, b], f"{folder}/out/o.h5", 3, "first.h5", "second.h5", ranks=(1, 3))
    fails([a, write(folder, "text.wkt", POINTS)], f"{folder}/out/o.h5", 3, "first.h5", "text.wkt", ranks=(2,))


@test
def test_layer_of_an_unknown_version(folder):
    bad = layer(folder, "bad.h5", POINTS)
    with h5py.File(bad, "r+") as f:
        f["layer"].attrs.modify("h5vec_version", 2)
    fails([bad, bad], f"{folder}/out/o.h5", 1, "bad.h5", "layer", "version", ranks=(1, 2))


@test
def test_damaged_layer(folder):
    """Offsets that do not fit the bytes are found, not followed."""
    good = layer(folder, "good.h5", POINTS)
    for index, value in ((1, 10 ** 15), (1, -5), (2, 1), (0, 3)):
        bad = layer(folder, "bad.h5", POINTS)
        with h5py.File(bad, "r+") as f:
            f["layer/geometry/offsets"][index] = value
        fails([good, bad], f"{folder}/out/o.h5", 1, "bad.h5", "layer", ranks=(1, 2))


if __name__ == "__main__":
    main()
