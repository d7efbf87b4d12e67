# SPDX-License-Identifier: BSD-3-Clause
"""The tree of a layer: queries against a comparison of all boxes, and one planted defect for each rule. Trees are made
by tests/cli/geotree.py from docs/format.md."""
import os
import random
import shutil
import subprocess

import h5py
import numpy as np

from layertest import check, clean, csv_text, geo, h5vinfo, make_layer  # first: it says where the others are
import geotree
from h5vtest import main, test

QUERY_LAYER = os.environ.get("H5VEC_QUERY_LAYER", "query_layer")


def query(path, boxes, name="layer"):
    text = "".join(" ".join(map(repr, map(float, b))) + "\n" for b in boxes)
    p = subprocess.run([QUERY_LAYER, path, name], input=text, capture_output=True, timeout=60, text=True, check=True)
    return p.stdout.splitlines()


def points(n, seed):
    rng = random.Random(seed)
    rows = [geo.G(1, 0, (rng.uniform(-180, 180), rng.gauss(0, 30))) for _ in range(n)]
    for i in range(3, n, 17):
        rows[i] = rng.choice([None, geo.G(1, 0, None), geo.G(2, 0, [(0.0, 0.0), (0.1, 1e300)])])
    return rows


def layer_of(folder, n, leaves, seed=1, chunk=0):
    path = make_layer(folder, csv_text(points(n, seed), {}, random.Random(0)), chunk=chunk, out=f"{leaves}{n}.h5")
    with h5py.File(path, "r+") as f:
        boxes = f["layer/geometry/bbox"][()]
        rows = {"rows": None, "hilbert": geotree.order(boxes), "random": np.random.default_rng(2).permutation(n)}[leaves]
        geotree.put(f["layer"], rows)
    return path, boxes, rows


@test
def test_queries_find_what_touches(folder):
    rng = np.random.default_rng(3)
    for n in (0, 1, 15, 16, 17, 256, 257, 4097, 70000):
        for leaves in ("rows", "hilbert", "random"):
            path, boxes, rows = layer_of(folder, n, leaves, chunk=0 if n % 2 else 4096)
            if n < 5000:
                clean(path)
            low = rng.uniform(-200, 150, (12, 2))
            queries = [(*p, *(p + size)) for p, size in zip(low, [0, 1e-3, 1, 5, 20, 50, 100, 400, 1, 1, 1, 1])]
            queries += [tuple(boxes[i]) for i in range(0, min(n, 40), 7)]
            queries += [(-np.inf, -np.inf, np.inf, np.inf), (np.nan, 0, 1, 1), (5, 5, 4, 4), (0, 1e299, 1, np.inf)]
            for box, line in zip(queries, query(path, queries)):
                got, want = np.array(line.split(), int), geotree.touching(boxes, box) if n else []
                check(len(got) == len(want) and (np.sort(got) == want).all(), f"{n} {leaves} {box}: {len(got)} rows, {len(want)} expected")
                check(leaves != "rows" or (got == want).all(), f"{n} {box}: rows are not in order")


@test
def test_check_of_a_large_tree(folder):
    """More leaves than the check has in memory at a time."""
    rng = np.random.default_rng(4)
    text = "WKT\r\n" + "".join(f"POINT({x} {y})\r\n" for x, y in rng.uniform(-90, 90, (300000, 2)).round(3).tolist())
    path = make_layer(folder, text, deflate=1)
    with h5py.File(path, "r+") as f:
        geotree.put(f["layer"], geotree.order(f["layer/geometry/bbox"][()]))
    clean(path)
    with h5py.File(path, "r+") as f:
        f["layer/index/rtree/nodes"][18000, 0] -= 1
    r = h5vinfo("--check", path)
    check("index/rtree/nodes: node 18000: is not the box of its leaves" in r.out, r.out)


def put(name, index, value):
    def change(tree):
        tree[name][index] = value
    return change


def replace(name, data):
    def change(tree):
        del tree[name]
        if data is not None:
            tree[name] = data
    return change


# change, finding, whether a query (of everything) must refuse it, too
DEFECTS = {
    "no nodes": (replace("nodes", None), "index/rtree/nodes: missing", True),
    "no levels": (replace("levels", None), "index/rtree/levels: missing", True),
    "nodes of another type": (replace("nodes", np.zeros((281, 4), "f8")), "index/rtree/nodes: its type is not", True),
    "nodes of another shape": (replace("nodes", np.zeros((281, 3), "f4")), "index/rtree/nodes: it has other dimensions", True),
    "too few nodes": (replace("nodes", np.zeros((273, 4), "f4")), "index/rtree/nodes: 273 rows where 277 are needed", True),
    "levels of another type": (replace("levels", np.zeros(4, "i4")), "index/rtree/levels: its type", True),
    "too few levels": (replace("levels", np.array([0, 257, 274])), "index/rtree/levels: 3 rows where 5", True),
    "a wrong level": (put("levels", 1, 256), "index/rtree/levels: level 1 begins at 256, not 257", True),
    "a node too small": (put("nodes", (5, 2), -500), "index/rtree/nodes: node 5: is not the box of its leaves", False),
    "a node too large": (put("nodes", (5, 2), 500), "index/rtree/nodes: node 5: is not the box of its leaves", False),
    "a parent too small": (put("nodes", (258, 2), -500), "index/rtree/nodes: node 258: is not the box of its children", False),
    "the root": (put("nodes", (276, 0), -500), "index/rtree/nodes: node 276: is not the box of its children", False),
    "a node of NaN": (put("nodes", (6, 0), np.nan), "index/rtree/nodes: node 6: is not the box", True),
    "rows of another type": (replace("rows", np.zeros(4100, "u8")), "index/rtree/rows: its type", True),
    "too few rows": (replace("rows", np.zeros(4099, "i8")), "index/rtree/rows: 4099 rows where 4100", True),
    "a negative row": (put("rows", 9, -1), "index/rtree/rows: leaf 9: there is no row -1", True),
    "a row too high": (put("rows", 4099, 4100), "index/rtree/rows: leaf 4099: there is no row 4100", True),
    "nodes are a group": (lambda t: (t.__delitem__("nodes"), t.create_group("nodes")), "index/rtree/nodes: cannot be opened", True),
}


@test
def test_each_defect(folder):
    good, _, rows = layer_of(folder, 4100, "hilbert")
    clean(good)
    bad, failed = f"{folder}/bad.h5", []
    for name, (change, finding, refused) in DEFECTS.items():
        shutil.copy(good, bad)
        with h5py.File(bad, "r+") as f:
            change(f["layer/index/rtree"])
        r = h5vinfo("--check", bad)
        if r.code != 1 or finding not in r.out:
            failed.append(f"{name}: exit {r.code}: {r.out}{r.err}")
        line = query(bad, [(-np.inf, -np.inf, np.inf, np.inf)])[0]
        if (line.startswith("error: H5VEC_E_") and " index/rtree/" in line) != refused:
            failed.append(f"{name}: query: {line[:200]}")
    check(not failed, "\n".join(failed))


@test
def test_a_row_twice(folder):
    path, boxes, rows = layer_of(folder, 100, "hilbert")
    with h5py.File(path, "r+") as f:
        rows = rows.copy()
        rows[1] = rows[0]
        del f["layer/index/rtree"]
        geotree.put(f["layer"], rows)
    r = h5vinfo("--check", path)
    missing = geotree.order(boxes)[1]
    check(r.code == 1 and f"index/rtree/rows: row {missing} is missing" in r.out, r.out)


@test
def test_a_cut_chunk_is_an_error(folder):
    """A tree whose chunk is gone reads as zeros or fails, but never crashes."""
    path, _, _ = layer_of(folder, 4100, "hilbert")
    with open(path, "r+b") as f:
        f.seek(0, 2)
        f.truncate(f.tell() - 2000)
    line = query(path, [(0, 0, 1, 1)])[0]
    check(line.startswith("error: "), line[:200])


@test
def test_example_of_the_format(folder):
    text = 'name,WKT\r\nharbour,SRID=4326;POINT (10 54.3)\r\n,\r\n"pier, old","SRID=4326;LINESTRING (10 54.3, 10.001 54.301)"\r\n'
    path = make_layer(folder, text, out="three.h5")
    with h5py.File(path, "r+") as f:
        geotree.put(f["layer"], geotree.order(f["layer/geometry/bbox"][()]))
        tree = f["layer/index/rtree"]
        check(list(tree["rows"]) == [0, 2, 1] and list(tree["levels"]) == [0, 1], "rows or levels are not the example's")
        check(tree["nodes"][()].tobytes().hex() == "00002041333359421904204" + "13a345942", tree["nodes"][()].tobytes().hex())
    clean(path)
    check(query(path, [(10.0005, 54, 11, 55)]) == ["2 "], "the query finds another row")


main()
