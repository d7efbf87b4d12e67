# SPDX-License-Identifier: BSD-3-Clause
"""Columns of texts: their types, inferred or given, the same at any number of ranks; types of several inputs; the columns
of the geometry; standard input."""
import h5py
import numpy as np

import geo
from geo import G, check_layer, write
from h5vtest import H5VCAT, H5VINFO, check, fails, main, merge, one_line, run, test

RANKS = (1, 2, 3, 5)


def point(i):
    return G(1, 0, (float(i), i / 8))


def checked(path):
    r = run(["--check", path], 0, command=H5VINFO)
    check(r.code == 0, r.out + r.err)


@test
def test_every_type(folder):
    """Values of each type, some missing; the ranks' borders fall anywhere."""
    n = 500
    at = np.datetime64("2024-02-28T23:59:59.999999", "us")
    none = lambda i, value: None if i % 7 == 3 else value
    columns = {"i": [none(i, i * 1000003 - 10**8) for i in range(n)], "f": [none(i, i / 7) for i in range(n)],
               "b": [none(i, i % 3 == 0) for i in range(n)], "s": [none(i, b"t%d" % i) for i in range(n)],
               "t": [none(i, at + np.timedelta64(i * 86399999999, "us")) for i in range(n)]}
    text = "i,f,b,x,s,t,y\n" + "".join(
        ",".join("" if v is None else v for v in (
            none(i, str(columns["i"][i])), none(i, repr(columns["f"][i])), none(i, str(columns["b"][i]).lower()), repr(float(i)),
            none(i, f"t{i}"), none(i, str(columns["t"][i]) + "Z"), repr(i / 8))) + "\n" for i in range(n))
    path = write(f"{folder}/a.csv", text)
    for ranks in RANKS:
        out = f"{folder}/out/{ranks}.h5"
        merge([path], out, ranks)
        check_layer(out, "layer", [point(i) for i in range(n)], columns)
    checked(out)
    with h5py.File(out) as f:
        check(f["layer/columns/b"].dtype == np.bool_, "booleans are no numpy bool")
    merge([out, path, out], f"{folder}/out/again.h5", 3)
    check_layer(f"{folder}/out/again.h5", "layer", [point(i) for _ in range(3) for i in range(n)],
                {k: v * 3 for k, v in columns.items()})
    checked(f"{folder}/out/again.h5")


@test
def test_beyond_the_sample(folder):
    """What does not fit behind the first MiB is an error with its place, the same at any number of ranks; --types reads it."""
    n = 200000
    lines = [f"{i},{i % 90},{i}\n" for i in range(n)]
    path = write(f"{folder}/a.csv", "x,y,v\n" + "".join(lines) + "1,2,12a\n")
    fails([path], f"{folder}/out/a.h5", 1, f"a.csv: line {n + 2}, column 5: column v: '12a' is not an integer", "--types 'v=text'")
    for ranks in (1, 3):
        out = f"{folder}/out/{ranks}.h5"
        merge([path], out, ranks, "--types", "v=text")
        with h5py.File(out) as f:
            data, offsets = f["layer/columns/v/data"][()].tobytes(), f["layer/columns/v/offsets"][()]
            check(len(offsets) == n + 2 and data == "".join(str(i) for i in range(n)).encode() + b"12a", "another text")
    r = run(["--on-bad=null", "-o", f"{folder}/out/null.h5", path], 3)
    check(r.code == 4, f"exit {r.code}: {r.err}")
    with h5py.File(f"{folder}/out/null.h5") as f:
        check(f["layer/valid/v"][()].tolist() == [1] * n + [0] and "valid" not in f["layer/geometry"], "another null")


@test
def test_several_inputs(folder):
    """The first input's types hold; another is read as these where nothing is lost, else refused with what fits both."""
    texts = {"int": "1\n", "float": "1.5\n", "text": "a\n", "none": "\n", "time": "2024-01-01\n"}
    paths = {k: write(f"{folder}/{k}.csv", "WKT,v\nPOINT (1 2)," + v) for k, v in texts.items()}
    layers = {k: f"{folder}/{k}.h5" for k in texts}
    for k in texts:
        merge([paths[k]], layers[k], 1)
    rows = [G(1, 0, (1.0, 2.0))] * 2
    good = [("int", "none", [1, None]), ("float", "int", [1.5, 1.0]), ("text", "int", [b"a", b"1"]), ("text", "time", [b"a", b"2024-01-01"]),
            ("none", "float", [None, b"1.5"]), ("time", "none", [np.datetime64("2024-01-01", "us"), None])]
    for i, (a, b, values) in enumerate(good):
        for first in (paths[a], layers[a]):
            out = f"{folder}/out/{i}.h5"
            merge([first, paths[b]], out, 2, "-f")
            check_layer(out, "layer", rows, {"v": values})
    header = write(f"{folder}/header.csv", "WKT,v\n") # no row says what its column is
    merge([paths["int"], header, paths["int"]], f"{folder}/out/header.h5", 2)
    check_layer(f"{folder}/out/header.h5", "layer", rows, {"v": [1, 1]})
    merge([header, paths["int"], paths["float"]], f"{folder}/out/first.h5", 2)
    check_layer(f"{folder}/out/first.h5", "layer", rows, {"v": [b"1", b"1.5"]})
    for a, b, fit in (("int", "float", "float"), ("int", "text", "text"), ("float", "text", "text"), ("int", "time", "text")):
        for first in (paths[a], layers[a]):
            fails([first, paths[b]], f"{folder}/out/bad.h5", 3, f"{b}.csv: column v: ", first, f"--types 'v={fit}' fits both", ranks=(1, 2))
    merge([paths["int"], paths["float"]], f"{folder}/out/given.h5", 2, "--types=v=float")
    check_layer(f"{folder}/out/given.h5", "layer", rows, {"v": [1.0, 1.5]})
    fails([layers["int"], layers["time"]], f"{folder}/out/bad.h5", 3, "time.h5", "other units", layers["int"], ranks=(1, 2))
    big = write(f"{folder}/big.csv", "WKT,v\nPOINT (1 2),9007199254740993\n")
    fails([paths["float"], big], f"{folder}/out/bad.h5", 1, "big.csv: line 2, column 13: ", "is not a float", ranks=(1,))


@test
def test_geometry_columns(folder):
    path = write(f"{folder}/a.csv", "WKT,east,north,shape\nnone,1,2,POINT (3 4)\n")
    out = f"{folder}/out/o.h5"
    merge([path], out, 2, "--wkt-column=shape")
    check_layer(out, "layer", [G(1, 0, (3.0, 4.0))], {"WKT": [b"none"], "east": [1], "north": [2]})
    merge([path], out, 2, "-f", "--x=#2", "--y", "north", "--types", "*=text")
    check_layer(out, "layer", [G(1, 0, (1.0, 2.0))], {"WKT": [b"none"], "shape": [b"POINT (3 4)"]})
    bad = f"{folder}/out/bad.h5"
    fails(["--wkt-column=nope", path], bad, 1, "a.csv", "there is no column nope", ranks=(1, 3))
    fails(["--types=nope=text", path], bad, 1, "a.csv", "--types: there is no attribute column nope", ranks=(1, 3))
    for options in (["--x=east"], ["--x=east", "--y=north", "--wkt-column=shape"], ["--types=east"], ["--types=east=int"]):
        fails([*options, path], bad, 2, "try --help", ranks=(1, 2))


@test
def test_standard_input(folder):
    """- is standard input, once, text only, and nothing of its copy is left."""
    rows, rng = geo.some_rows(60, 4)
    path = geo.wkt_file(f"{folder}/a.wkt", rows, rng)
    with open(path, "rb") as f:
        text = f.read()
    for ranks in RANKS:
        out = f"{folder}/out/{ranks}.h5"
        merge(["-"], out, ranks, stdin=text)
        check_layer(out, "layer", rows)
    merge(["-"], f"{folder}/out/large.h5", 0, stdin=text * 50) # MPICH's mpiexec gives up where a pipe is full
    check_layer(f"{folder}/out/large.h5", "layer", rows * 50)
    merge([path, "-", path], f"{folder}/out/three.h5", 3, stdin=text)
    check_layer(f"{folder}/out/three.h5", "layer", rows * 3)
    merge(["-"], f"{folder}/out/empty.h5", 2, stdin=b"")
    bad = f"{folder}/out/bad.h5"
    for inputs, data, code, words in ((["-"], text + b"POINT (1\n", 1, "line 61, column 9: "), (["-", "-"], text, 2, "once only"),
                                      (["-i", "-", "-"], b"a.wkt\n", 2, "standard input is the list"),
                                      (["-i", "-"], b"-\n", 2, "standard input is the list"),
                                      (["-"], b"\x89HDF\r\n\x1a\n" + bytes(600), 1, "must be text")):
        fails(inputs, bad, code, words, ranks=(1, 3), stdin=data)
    with open(f"{folder}/list", "w", encoding="utf-8") as f:
        f.write(f"-\n{path}\n")
    merge(["-i", f"{folder}/list"], f"{folder}/out/list.h5", 2, stdin=text)
    check_layer(f"{folder}/out/list.h5", "layer", rows * 2)


if __name__ == "__main__":
    main(needs=(H5VCAT, H5VINFO))
