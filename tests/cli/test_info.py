# SPDX-License-Identifier: BSD-3-Clause
"""h5vinfo: what it lists, and that --check finds every kind of damage, in layers that h5py wrote."""
import random

import h5py
import numpy as np

import geo
import h5make
from h5vtest import H5VINFO, check, main, one_object, run, test


def sample(count):
    rng = random.Random(count)
    rows = [None if k % 7 == 3 else geo.random_geometry(rng) for k in range(count)]
    return rows, {"name": [b"text %d" % k for k in range(count)]}


def info(*args):
    return run(args, 0, command=H5VINFO)


def accepted(path):
    r = info("--check", path)
    check(r.code == 0 and r.err == "", f"h5vinfo --check: exit {r.code}\n{r.out}{r.err}")


@test
def test_help(folder):
    r = info("--help")
    check(r.code == 0 and r.err == "" and "--check" in r.out and "--json" in r.out, str(r))
    for wrong in (["--no-such-option", "x.h5"], []):
        r = info(*wrong)
        check(r.code == 2 and r.out == "" and r.err.startswith("h5vinfo: ") and "--help" in r.err, str(r))


@test
def test_layer(folder):
    rows, columns = sample(60)
    path = f"{folder}/a.h5"
    geo.write_layer(path, rows, columns)
    with h5py.File(path, "r+") as f:
        f.copy("layer", "deep/other")
    accepted(path)
    for target in (path, path + ":/layer", path + ":/deep/other"):
        r = info(target)
        check(r.code == 0 and r.err == "" and "60" in r.out and "LineString" in r.out, f"{target}: {r}")
    union = geo.union_box(rows)
    shown = info(path + ":/layer").out
    check(all(repr(v) in shown for v in union), f"box {union} is not in:\n{shown}")
    one_object(info("--json", path).out)


@test
def test_datasets(folder):
    out = f"{folder}/a.h5"
    with h5make.create(out) as f:
        h5make.put(f, "d", h5make.of("<i4"), (33, 3), chunk=(4, 3), filters=("deflate:6",))
        h5make.put(f, "g/e", h5make.of("<f8"), (15,))
    r = info(out)
    check(r.code == 0 and r.err == "", f"h5vinfo: exit {r.code} {r.err}")
    for word in ("/d", "/g/e", "33", "15", "deflate"):
        check(word in r.out, f"h5vinfo does not say {word}:\n{r.out}")
    r = info(f"{folder}/missing.h5")
    check(r.code == 1 and r.err.startswith("h5vinfo: ") and "missing.h5" in r.err and len(r.err.splitlines()) == 1, str(r))


@test
def test_check_finds_damage(folder):
    """h5vinfo --check must be able to fail: exit 1 for each rule that is broken."""
    rows, columns = sample(50)
    good = f"{folder}/good.h5"
    geo.write_layer(good, rows, columns)

    def bump(dataset, index, value):
        def change(layer):
            layer[dataset][index] = value
        return change
    def truncate(dataset, count):
        return lambda layer: layer[dataset].resize(layer[dataset].shape[0] - count, axis=0)
    changes = {"offset": bump("geometry/offsets", 7, 10 ** 9), "last offset": truncate("geometry/offsets", 1),
               "wkb byte order": bump("geometry/wkb", 0, 7), "wkb cut": truncate("geometry/wkb", 3),
               "box": bump("geometry/bbox", (3, 0), 1e6), "boxes": truncate("geometry/bbox", 1),
               "validity": bump("geometry/valid", slice(0, 50), 0), "text offsets": bump("columns/name/offsets", 3, -1),
               "version": lambda layer: layer.attrs.modify("h5vec_version", 99),
               "geo": lambda layer: layer.attrs.modify("geo", np.bytes_("{")),
               "blocks": truncate("index/blocks", 1), "wkb gone": lambda layer: layer.__delitem__("geometry/wkb")}
    missed = []
    for name, change in changes.items():
        bad = f"{folder}/bad.h5"
        with open(good, "rb") as f, open(bad, "wb") as g:
            g.write(f.read())
        with h5py.File(bad, "r+") as f:
            change(f["layer"])
        r = info("--check", bad)
        if r.code != 1 or not r.err + r.out:
            missed.append(f"{name}: exit {r.code} {r.err.strip()}")
    check(not missed, "; ".join(missed))
    accepted(good)


if __name__ == "__main__":
    main(needs=(H5VINFO,))
