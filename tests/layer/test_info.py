# SPDX-License-Identifier: BSD-3-Clause
"""h5vinfo from outside: what it prints, its JSON, its exit codes, its man page."""
import json
import os
import re
import shutil
import subprocess

import h5py
import numpy as np

from layertest import MAKE_LAYER, H5VINFO, check, csv_text, geo, h5vinfo, make_layer, sample
from h5vtest import SOURCE, Skip, main, test


def one_error(r, code, *words):
    check(r.code == code, f"exit {r.code}, {code} expected: {r}")
    check(len(r.err.splitlines()) == 1 and r.err.startswith("h5vinfo: "), r.err)
    for word in words:
        check(word in r.err, f"{word!r} is not in {r.err!r}")


def file_of_all(folder):
    rows, columns, rng = sample(200, 1)
    path = make_layer(folder, csv_text(rows, columns, rng), name="shapes/all")
    with h5py.File(path, "r+") as f:
        f.create_dataset("plain/cube", data=np.zeros((4, 3, 2), ">f4"))
        f.create_dataset("plain/packed", data=np.arange(1000, dtype="u2"), chunks=(100,), maxshape=(None,), compression=4,
                         shuffle=True, fletcher32=True)
        f.create_dataset("plain/text", data=np.array([b"abc", b"de"], "S3"))
        f.create_dataset("plain/words", data=["a", "b"], dtype=h5py.string_dtype())
        f.create_dataset("plain/scalar", data=np.int8(1))
        f.create_dataset("plain/empty", data=h5py.Empty("f8"))
        f.create_dataset("plain/pairs", data=np.zeros(3, [("a", "i4"), ("b", "f8", (2,))]))
        f.create_dataset("plain/names", data=np.array([0, 1], "i1"), dtype=h5py.enum_dtype({"no": 0, "yes": 1}, "i1"))
        f["plain/again"] = f["plain/cube"]
        f["plain/soft"] = h5py.SoftLink("/nowhere")
    return path, rows, columns


@test
def test_text(folder):
    path, rows, _ = file_of_all(folder)
    r = h5vinfo(path)
    check(r.code == 0 and not r.err, str(r))
    for line in (f"{path}: 1 layer, 18 datasets", "layer /shapes/all", "  rows      200, some geometries null",
                 "  crs       unknown", "  column    id: text", "  column    name: text, some values missing",
                 "dataset /plain/again  float32 big-endian [4 x 3 x 2]  contiguous  96 B stored, 96 B unpacked",
                 "dataset /plain/packed  uint16 [1000] of [unlimited]  chunked [100]  shuffle deflate:4 fletcher32  ",
                 "dataset /plain/text  string[3] [2]  contiguous", "dataset /plain/words  string [2]",
                 "dataset /plain/scalar  int8 []  contiguous  1 B stored, 1 B unpacked",
                 "dataset /plain/empty  float64 []  contiguous  0 B stored, 0 B unpacked",
                 "dataset /plain/pairs  compound[20] [3]", "dataset /plain/names  enum of int8 [2]"):
        check(line in r.out, f"{line!r} is not in\n{r.out}")
    types = re.search(r"^  types     (.*)$", r.out, re.M).group(1).split(", ")
    check(set(types) == {x.name() for x in rows if x is not None}, types)


@test
def test_json(folder):
    path, rows, columns = file_of_all(folder)
    r = h5vinfo("--json", path)
    check(r.code == 0 and not r.err, str(r))
    root = json.loads(r.out)
    check((root["schema"], root["version"], len(root["files"])) == ("h5vinfo", 1, 1), str(root)[:200])
    one = root["files"][0]
    check(one["file"] == path and one["group"] == "/", str(one)[:200])
    [layer] = one["layers"]
    check(layer["path"] == "/shapes/all" and layer["rows"] == 200 and layer["nulls"] is True, str(layer)[:300])
    there = [x.box() for x in rows if x is not None and x.points()]
    box = [min(b[0] for b in there), min(b[1] for b in there), max(b[2] for b in there), max(b[3] for b in there)]
    check(layer["bbox"] == box and layer["crs"] is None and layer["crs_source"] is None, str(layer["bbox"]))
    check(set(layer["geometry_types"]) == {x.name() for x in rows if x is not None}, str(layer["geometry_types"]))
    check([(c["name"], c["type"], c["nulls"]) for c in layer["columns"]] == [("id", "text", False), ("name", "text", True)],
          str(layer["columns"]))
    with h5py.File(path) as f:
        for d in one["datasets"]:
            h = f[d["path"]]
            shape = [] if h.shape is None else list(h.shape)
            check(d["dims"] == shape and d["bytes_stored"] == h.id.get_storage_size(), str(d))
            check(d["chunk"] == (list(h.chunks) if h.chunks else None), str(d))
            check(d["max_dims"] == ([] if h.shape is None else list(h.maxshape)), str(d))
            size = 0 if h.shape is None else h.id.get_type().get_size() * int(np.prod(h.shape))
            check(d["bytes_unpacked"] == size, str(d))
        inside = [d for d in one["datasets"] if d["path"].startswith("/shapes/all/")]
        check(layer["bytes_stored"] == sum(d["bytes_stored"] for d in inside), "the layer's bytes")
        packed = next(d for d in one["datasets"] if d["path"] == "/plain/packed")
        check(packed["filters"] == ["shuffle", "deflate:4", "fletcher32"], str(packed))
    r = h5vinfo("--json", "--check", path)
    check(r.code == 0 and json.loads(r.out)["files"][0]["layers"][0]["check"] == {"findings": 0, "lines": []}, str(r)[:300])
    with h5py.File(path, "r+") as f:
        f["shapes/all/geometry/bbox"][3] = 0
    r = h5vinfo("--json", "--check", path)
    found = json.loads(r.out)["files"][0]["layers"][0]["check"]
    check(r.code == 1 and found["findings"] == 1 and "row 3" in found["lines"][0], str(r)[:300])


@test
def test_group(folder):
    path, _, _ = file_of_all(folder)
    r = h5vinfo(f"{path}:/shapes/all")
    check(r.code == 0 and "layer /shapes/all" in r.out and "/plain" not in r.out, r.out)
    check("dataset /shapes/all/geometry/wkb  uint8" in r.out, r.out)
    r = h5vinfo(f"{path}:/plain/")
    check(r.code == 0 and "layer" not in r.out.split("\n", 1)[1] and "dataset /plain/cube" not in r.out or "/plain/again" in r.out,
          r.out)
    one_error(h5vinfo(f"{path}:/missing"), 1, "/missing")
    one_error(h5vinfo(f"{path}:/plain/text"), 1, "/plain/text")
    odd = f"{folder}/odd:"
    os.mkdir(odd)
    shutil.copy(path, f"{odd}/file.h5")  # a name with ":/" in it
    check(h5vinfo(f"{odd}/file.h5").code == 0, "a file whose name has :/")


@test
def test_several_files(folder):
    path, _, _ = file_of_all(folder)
    r = h5vinfo(path, f"{folder}/missing.h5", path)
    one_error(r, 1, "missing.h5", "No such file")
    check(r.out.count("layer /shapes/all") == 2, "the others are still shown")
    r = h5vinfo("--json", path, path)
    check(len(json.loads(r.out)["files"]) == 2, r.out[:200])


@test
def test_failures(folder):
    path, _, _ = file_of_all(folder)
    one_error(h5vinfo(f"{folder}/missing.h5"), 1, "missing.h5: No such file or directory")
    one_error(h5vinfo(folder), 1, folder)
    text = f"{folder}/text"
    one_error(h5vinfo(text), 1, "not an HDF5 file")
    with open(path, "rb") as f, open(f"{folder}/half.h5", "wb") as g:
        data = f.read()
        g.write(data[:len(data) // 2])
    one_error(h5vinfo(f"{folder}/half.h5"), 1, "half.h5", "truncated")
    with h5py.File(f"{folder}/plain.h5", "w") as f:
        f["d"] = [1, 2]
    check(h5vinfo(f"{folder}/plain.h5").code == 0, "a file without layers")
    one_error(h5vinfo("--check", f"{folder}/plain.h5"), 1, "no layer to check")
    with h5py.File(path, "r+") as f:
        f["shapes/all"].attrs.modify("h5vec_version", np.int32(7))
    r = h5vinfo(path)
    check(r.code == 1 and "not valid" in r.out and "layer version 7" in r.out, str(r))


@test
def test_full_output(folder):
    path, _, _ = file_of_all(folder)
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full")
    with open("/dev/full", "w") as full:
        p = subprocess.run([H5VINFO, path], stdout=full, stderr=subprocess.PIPE)
    check(p.returncode == 1 and b"cannot be written" in p.stderr, str(p))


@test
def test_usage(folder):
    del folder
    one_error(h5vinfo(), 2, "try --help")
    one_error(h5vinfo("--nonsense", "x"), 2, "--nonsense", "try --help")
    one_error(h5vinfo("-x", "x"), 2, "-x", "try --help")
    one_error(h5vinfo("--json=yes", "x"), 2, "--json", "takes no value")
    one_error(h5vinfo("--", "--check"), 1, "--check")
    r = h5vinfo("--help")
    check(r.code == 0 and not r.err and r.out.startswith("Usage: h5vinfo"), str(r))
    short = h5vinfo("-h")
    check(short.code == 0 and len(short.out) < len(r.out), str(short))
    for flag in ("--version", "-V"):
        check(re.fullmatch(r"h5vinfo \d+\.\d+\.\d+\n", h5vinfo(flag).out), str(h5vinfo(flag)))


@test
def test_man_page(folder):
    """Each option of --help is in the man page, and the page is good troff."""
    del folder
    page = f"{SOURCE}/man/h5vinfo.1"
    with open(page, encoding="utf-8") as f:
        text = f.read().replace("\\-", "-")
    for option in re.findall(r"^\s+(?:(-\w),?)?\s+(--[a-z-]+)?", h5vinfo("--help").out.split("Exit codes")[0], re.M):
        for flag in filter(None, option):
            check(flag in text, f"{flag} is not in the man page")
    check("EXIT STATUS" in text, "no EXIT STATUS")
    if not shutil.which("groff"):
        raise Skip("no groff")
    p = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True)
    check(p.returncode == 0 and not p.stderr, p.stderr.decode())


@test
def test_valgrind(folder):
    if not shutil.which("valgrind"):
        raise Skip("no valgrind")
    with open(H5VINFO, "rb") as f:
        if b"__asan_init" in f.read():
            raise Skip("built with a sanitizer")
    path, _, _ = file_of_all(folder)
    with h5py.File(path, "r+") as f:
        f["shapes/all/geometry/bbox"][3] = 0
    for args, code in ((["--json", "--check"], 1), ([], 0)):
        p = subprocess.run(["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite",
                            H5VINFO, *args, path], capture_output=True)
        check(p.returncode == code, f"exit {p.returncode}\n{p.stderr.decode()[:2000]}")


if __name__ == "__main__":
    main(needs=(H5VINFO, MAKE_LAYER))
