# SPDX-License-Identifier: BSD-3-Clause
"""Text becomes a layer, layers become one layer: geometry, boxes, validity, block index, columns and metadata are
compared with an encoder and a computation of the tests' own."""
import os
import random
import sys

import h5py
import numpy as np

import geo
from geo import G, check_layer, csv_file, some_rows, wkt_file, write
from h5model import assert_same
from h5vtest import H5VCAT, H5VINFO, SOURCE, check, fails, h5dump_110, main, merge, run, test

sys.path.insert(0, os.path.join(SOURCE, "tests", "vfd"))
import shapes  # noqa: E402


def checked(path, name="layer"):
    r = run(["--check", path], 0, command=H5VINFO)
    check(r.code == 0 and r.err == "", f"h5vinfo --check: exit {r.code}\n{r.out}{r.err}")
    r = run([f"{path}:/{name}"], 0, command=H5VINFO)
    check(r.code == 0 and name in r.out, f"h5vinfo {path}:/{name}: exit {r.code}\n{r.out}{r.err}")


def at_rank_counts(folder, inputs, verify, ranks=(1, 2, 3, 5), options=()):
    """Merge at each number of ranks; verify(path) each, all the same. Returns the first."""
    outs = [f"{folder}/out/{n}.h5" for n in ranks]
    for n, out in zip(ranks, outs):
        merge(inputs, out, n, "--force", *options)
        verify(out)
        checked(out)
        assert_same(outs[0], out)
    merge(inputs, f"{folder}/out/c.h5", 2, "--force", "--write=collective", *options)
    verify(f"{folder}/out/c.h5")
    checked(f"{folder}/out/c.h5")
    return outs[0]


@test
def test_one_wkt_file(folder):
    rows, rng = some_rows(400, 1)
    path = wkt_file(f"{folder}/a.wkt", rows, rng)
    at_rank_counts(folder, [path], lambda out: check_layer(out, "layer", rows))


@test
def test_readers_of_1_10(folder):
    rows, columns, rng = table(60, 9)
    merge([csv_file(f"{folder}/a.csv", rows, columns, rng)], f"{folder}/out/o.h5", 2)
    h5dump_110(f"{folder}/out/o.h5")


@test
def test_every_kind_in_every_dimension(folder):
    rng = random.Random(7)
    rows = [geo.random_geometry(rng, kind, dim) for kind in range(1, 8) for dim in range(4) for _ in range(6)]
    rows += [G(kind, dim, None if kind == 1 else []) for kind in range(1, 8) for dim in range(4)]
    rows += [G(4, 1, [None, (1.0, 2.0, 3.0)]), G(7, 0, [G(7, 0, [G(1, 0, None)]), G(2, 0, [])]), G(2, 0, [(1.0, 2.0)]),
             G(3, 0, [[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]]), G(1, 0, (-0.0, 5e-324)), G(1, 0, (1.7976931348623157e308, 0.1))]
    path = wkt_file(f"{folder}/a.wkt", rows, rng)
    at_rank_counts(folder, [path], lambda out: check_layer(out, "layer", rows), ranks=(1, 3))


@test
def test_several_inputs(folder):
    """Several files, more and fewer than ranks, one of them empty, one of blank lines; in the order given."""
    parts = [some_rows(n, seed, 0) for seed, n in enumerate((30, 1, 55, 200))]
    paths = [wkt_file(f"{folder}/{i}.wkt", rows, rng, end="\r\n" if i % 2 else "\n") for i, (rows, rng) in enumerate(parts)]
    paths.insert(1, write(f"{folder}/empty.wkt", ""))
    paths.insert(3, write(f"{folder}/blank.wkt", "\n  \n\r\n"))
    rows = [r for part, _ in parts for r in part]
    at_rank_counts(folder, paths, lambda out: check_layer(out, "layer", rows), options=("--verify",))


@test
def test_no_rows_at_all(folder):
    paths = [write(f"{folder}/{i}.wkt", "\n") for i in range(2)]
    at_rank_counts(folder, paths, lambda out: check_layer(out, "layer", []), ranks=(1, 3))


@test
def test_no_newline_at_the_end(folder):
    path = write(f"{folder}/a.wkt", "\ufeffPOINT (1 2)\nPOINT (3 4)")
    merge([path], f"{folder}/out/o.h5", 2)
    check_layer(f"{folder}/out/o.h5", "layer", [G(1, 0, (1.0, 2.0)), G(1, 0, (3.0, 4.0))])


@test
def test_srid(folder):
    parts = [some_rows(20, seed, 0) for seed in range(3)]
    paths = [wkt_file(f"{folder}/{i}.wkt", rows, rng, prefix="SRID=4326;") for i, (rows, rng) in enumerate(parts)]
    rows = [r for part, _ in parts for r in part]
    at_rank_counts(folder, paths, lambda out: check_layer(out, "layer", rows, crs=4326))


@test
def test_srid_with_ranks_and_files_without_rows(folder):
    """A rank without a file, or with one that has no rows, knows no CRS and must not decide it."""
    rows, rng = some_rows(5, 1, 0)
    known, empty = wkt_file(f"{folder}/a.wkt", rows, rng, prefix="SRID=4326;"), write(f"{folder}/empty.wkt", "")
    for inputs in ([known], [empty, known], [known, empty]):
        at_rank_counts(folder, inputs, lambda out: check_layer(out, "layer", rows, crs=4326), ranks=(1, 2, 3))


@test
def test_layer_name(folder):
    rows, rng = some_rows(5, 3)
    path = wkt_file(f"{folder}/a.wkt", rows, rng)
    merge([path], f"{folder}/out/o.h5", 2, "--layer", "rivers")
    check_layer(f"{folder}/out/o.h5", "rivers", rows)
    checked(f"{folder}/out/o.h5", "rivers")


def table(count, seed, nulls=True):
    rng = random.Random(seed)
    rows = [None if nulls and rng.random() < 0.2 else geo.random_geometry(rng) for _ in range(count)]
    texts = ["plain", "with, comma", 'with "quotes"', "two\nlines", "ünïcødé", " space ", "0"]
    columns = {"id": list(range(count)), "name": [rng.choice(texts).encode() for _ in range(count)]}
    return rows, columns, rng


def joined(parts):
    rows = [r for part in parts for r in part[0]]
    return rows, {name: [v for part in parts for v in part[1][name]] for name in parts[0][1]}


@test
def test_csv_with_nulls(folder):
    """Null geometries, cells with commas, quotes and newlines; nulls in the second file only."""
    parts = [table(40, 1, nulls=False), table(70, 2), table(3, 3, nulls=False)]
    paths = [csv_file(f"{folder}/{i}.csv", *part) for i, part in enumerate(parts)]
    rows, columns = joined(parts)
    check(None in rows, "no null in the sample")
    at_rank_counts(folder, paths, lambda out: check_layer(out, "layer", rows, columns))


@test
def test_example_of_the_specification(folder):
    path = write(f"{folder}/a.csv", 'name,WKT\nharbour,SRID=4326;POINT (10 54.3)\n,\n'
                                    '"pier, old","SRID=4326;LINESTRING (10 54.3, 10.001 54.301)"\n')
    rows = [G(1, 0, (10.0, 54.3)), None, G(2, 0, [(10.0, 54.3), (10.001, 54.301)])]
    columns = {"name": [b"harbour", None, b"pier, old"]}
    at_rank_counts(folder, [path], lambda out: check_layer(out, "layer", rows, columns, crs=4326), ranks=(1, 2))


@test
def test_csv_geometry_column_names(folder):
    rows, columns, rng = table(9, 4, nulls=False)
    for i, name in enumerate(("WKT", "wkt", "Geometry", "geom", "the_geom", "shape_as_text")):
        path = csv_file(f"{folder}/{i}.csv", rows, columns, rng, column=name, place=i % 3)
        merge([path], f"{folder}/out/{i}.h5", 1)
        check_layer(f"{folder}/out/{i}.h5", "layer", rows, columns)


@test
def test_csv_empty_cells(folder):
    """An empty cell is a missing value."""
    path = write(f"{folder}/a.csv", "id,WKT,note\n1,POINT (1 2),\n2,POINT (3 4),x\n,POINT (5 6),\n")
    out = f"{folder}/out/o.h5"
    merge([path], out, 2)
    checked(out)
    check_layer(out, "layer", [G(1, 0, (k, k + 1.0)) for k in (1.0, 3.0, 5.0)],
                {"id": [1, 2, None], "note": [None, b"x", None]})


@test
def test_column_names_that_hdf5_cannot_hold(folder):
    """A slash, a dot: percent-encoded, the original in attribute name."""
    path = write(f"{folder}/a.csv", "a/b,WKT,.\nx,POINT (1 2),y\n")
    out = f"{folder}/out/o.h5"
    merge([path], out, 1)
    checked(out)
    with h5py.File(out) as f:
        columns = f["layer/columns"]
        check(len(columns) == 2, f"columns: {list(columns)}")
        names = {c.attrs["name"].decode() if isinstance(c.attrs["name"], bytes) else str(c.attrs["name"])
                 for c in columns.values() if "name" in c.attrs}
        check(names == {"a/b", "."}, f"original names {names} of {list(columns)}")
        check(sorted(columns) == ["%2E", "a%2Fb"], f"columns: {list(columns)}")


@test
def test_tab_separated(folder):
    rows, rng = some_rows(12, 5)
    path = write(f"{folder}/a.wkt", "".join(f"{i}\t{r.wkt(rng)}\tnatural=water#{i}\n" for i, r in enumerate(rows)))
    out = f"{folder}/out/o.h5"
    merge([path], out, 2)
    checked(out)
    with h5py.File(out) as f:
        names = sorted(f["layer/columns"])
        check(len(names) == 2, f"columns {names}")
    check_layer(out, "layer", rows, {names[0]: list(range(12)),
                                     names[1]: [f"natural=water#{i}".encode() for i in range(12)]})


@test
def test_layers_of_layers(folder):
    """Layer files, and layer files with text, merge as layers: offsets rebased, blocks recomputed, validity filled in."""
    parts = [table(50, 11, nulls=False), table(30, 12), table(60, 13, nulls=False), table(8, 14)]
    texts = [csv_file(f"{folder}/{i}.csv", *part) for i, part in enumerate(parts)]
    layers = [f"{folder}/{i}.h5" for i in range(len(parts))]
    for text, layer in zip(texts, layers):
        merge([text], layer, 1)
    rows, columns = joined(parts)
    at_rank_counts(folder, layers, lambda out: check_layer(out, "layer", rows, columns))
    merge([layers[0], texts[1], layers[2], texts[3]], f"{folder}/out/mixed.h5", 3)
    check_layer(f"{folder}/out/mixed.h5", "layer", rows, columns)
    merge(layers[:2], f"{folder}/ab.h5", 2)
    merge([f"{folder}/ab.h5", *layers[2:]], f"{folder}/out/twice.h5", 2)
    check_layer(f"{folder}/out/twice.h5", "layer", rows, columns)
    merge(layers[:1], f"{folder}/out/alone.h5", 3)
    check_layer(f"{folder}/out/alone.h5", "layer", *joined(parts[:1]))


@test
def test_layers_that_h5py_wrote(folder):
    """A layer is a matter of the format, not of the writer: h5vinfo accepts h5py's, h5vcat merges them."""
    parts = [table(90, seed, nulls=seed == 62) for seed in (61, 62, 63)]
    layers = [f"{folder}/{i}.h5" for i in range(3)]
    for path, (rows, columns, _) in zip(layers, parts):
        geo.write_layer(path, rows, columns)
        checked(path)
    at_rank_counts(folder, layers, lambda out: check_layer(out, "layer", *joined(parts)), ranks=(1, 2))


@test
def test_layers_without_rows_among_layers(folder):
    rows, rng = some_rows(20, 21, 0)
    inputs = [f"{folder}/{i}.h5" for i in range(3)]
    for path, part in zip(inputs, ([], rows, [])):
        merge([wkt_file(f"{folder}/t.wkt", part, rng)], path, 1)
    at_rank_counts(folder, inputs, lambda out: check_layer(out, "layer", rows), ranks=(1, 2))


@test
def test_layer_beside_plain_datasets(folder):
    """A file may hold layers and anything else: two layers and a dataset of its own length."""
    parts = [some_rows(n, 30 + n, 0) for n in (10, 25)]
    inputs = [f"{folder}/{i}.h5" for i in range(2)]
    for i, (path, (rows, rng)) in enumerate(zip(inputs, parts)):
        merge([wkt_file(f"{folder}/t.wkt", rows, rng)], path, 1)
        merge([wkt_file(f"{folder}/t.wkt", rows[:4], rng)], f"{folder}/second.h5", 1, "--force", "--layer=other")
        with h5py.File(path, "r+") as f, h5py.File(f"{folder}/second.h5") as g:
            g.copy("other", f)
            f["table/values"] = np.arange(7 * (i + 1))
    rows = [r for part, _ in parts for r in part]

    def verify(out):
        check_layer(out, "layer", rows)
        check_layer(out, "other", parts[0][0][:4] + parts[1][0][:4])
        with h5py.File(out) as f:
            check(list(f["table/values"]) == list(range(7)) + list(range(14)), "the dataset beside the layers")
    at_rank_counts(folder, inputs, verify, ranks=(1, 3))


@test
def test_crs_is_kept_through_layers(folder):
    rows, rng = some_rows(10, 41, 0)
    inputs = [f"{folder}/{i}.h5" for i in range(2)]
    for path, part in zip(inputs, (rows[:3], rows[3:])):
        merge([wkt_file(f"{folder}/t.wkt", part, rng, prefix="SRID=3857;")], path, 1)
    at_rank_counts(folder, inputs, lambda out: check_layer(out, "layer", rows, crs=3857), ranks=(1, 2))


@test
def test_blocks(folder):
    """More than 65,536 rows, blocks by bytes and by rows, and rows wider than a block; cut at no border of blocks."""
    rng = random.Random(5)
    empty = [G(4, 0, [])] * 70000  # 9 bytes each: 7,281 rows a block
    wide = [G(2, 0, [(float(k), -float(k)) for k in range(9000)]), G(1, 0, (1.0, 2.0))] * 3
    points = [G(1, 0, (rng.random(), rng.random())) for _ in range(9000)]
    parts = [points[:5000], empty, wide, points[5000:]]
    texts = [wkt_file(f"{folder}/{i}.wkt", part, rng) for i, part in enumerate(parts)]
    rows = [r for part in parts for r in part]
    at_rank_counts(folder, texts, lambda out: check_layer(out, "layer", rows), ranks=(1, 3))
    layers = [f"{folder}/{i}.h5" for i in range(4)]
    for text, layer in zip(texts, layers):
        merge([text], layer, 1)
    at_rank_counts(folder, layers, lambda out: check_layer(out, "layer", rows), ranks=(1, 3))


@test
def test_shapefiles_and_coordinates(folder):
    """A shapefile by its content, with its .dbf; CSV with two columns of coordinates: rows like any other text's."""
    points = [(i + 0.5, -i / 3) for i in range(200)]
    fields = [(b"id", b"N", 6, 0), (b"name", b"C", 8, 0)]
    table = shapes.dbf(fields, [[str(i).encode(), b"" if i % 3 else b"n%d" % i] for i in range(200)])
    shp, shx = shapes.files(1, [shapes.point(*p) if i % 7 else shapes.null() for i, p in enumerate(points)])
    shape = shapes.write(f"{folder}/shape", shp, shx, table, name=".dat")
    text = write(f"{folder}/b.csv", "id,Lon,name,LAT\n" + "".join(f"{i},{x!r},,{y!r}\n" for i, (x, y) in enumerate(points)))
    rows = [G(1, 0, p) if i % 7 else None for i, p in enumerate(points)] + [G(1, 0, p) for p in points]
    columns = {"id": list(range(200)) * 2,
               "name": [None if i % 3 else b"n%d" % i for i in range(200)] + [None] * 200}
    at_rank_counts(folder, [shape, text], lambda out: check_layer(out, "layer", rows, columns), ranks=(1, 3))


@test
def test_shapefiles_refused(folder):
    shp, shx = shapes.files(1, [shapes.point(1, 2)] * 3)
    out = f"{folder}/out/a.h5"
    fails([shapes.write(f"{folder}/short", shp[:-5], shx)], out, 1, "short.shp", "record 3: ", ranks=(1, 2))
    fails([shapes.write(f"{folder}/crs", shp, shx, prj=b"mine")], out, 1, "crs.shp", "'mine' is not a CRS", ranks=(1, 2))


@test
def test_blocks_of_nulls(folder):
    """Nulls take no bytes: only the count of rows cuts them."""
    count = 140000
    path = write(f"{folder}/a.csv", "id,WKT\n" + "".join(f"{i},\n" for i in range(count)) + "-1,POINT (1 2)\n")
    rows = [None] * count + [G(1, 0, (1.0, 2.0))]
    columns = {"id": list(range(count)) + [-1]}
    at_rank_counts(folder, [path], lambda out: check_layer(out, "layer", rows, columns), ranks=(2,))


if __name__ == "__main__":
    main(needs=(H5VCAT, H5VINFO))
