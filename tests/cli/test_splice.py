# SPDX-License-Identifier: BSD-3-Clause
"""Chunks joined from the inputs' deflate streams: the content is that of any other merge, every reader inflates them,
and the report says what was copied. Python's zlib inflates each chunk by hand."""
import os
import zlib

import h5py
import numpy as np

import h5make
from h5model import assert_model
from h5oracle import concat
from h5vtest import check, fails, h5dump_110, main, merge, one_object, run, test

I4 = h5make.of("<i4")
F8 = h5make.of("<f8")
SUMMED = ("deflate:6", "fletcher32")


def values(rows, width, seed):
    """Numbers that compress like measured ones: they wander, and repeat."""
    r = np.random.default_rng(seed)
    return np.cumsum(r.integers(-3, 4, (rows, width)), axis=0).astype("<i4") // 4


def make(path, rows, seed, level=6):
    """Every kind of dataset that can be spliced in part, in whole, or not at all."""
    with h5make.create(path, libver=("v110", "v110")) as f:
        how = {"filters": (f"deflate:{level}",), "maxshape": (None, 3)}
        data = values(rows, 3, seed)
        h5make.put(f, "plain", I4, (rows, 3), chunk=(5000, 3), data=data, **how)
        h5make.put(f, "small", I4, (rows, 3), chunk=(97 + seed, 3), data=data, **how)
        h5make.put(f, "tiles", I4, (rows, 3), chunk=(4000, 2), data=data, **how)
        h5make.put(f, "fills", I4, (rows, 3), chunk=(4000, 2), data=data, fill=np.int32(seed % 2), **how)
        h5make.put(f, "wide", F8, (rows // 40, 40, 6), chunk=(300, 40, 6), filters=how["filters"],
                   data=np.resize(data / 8, (rows // 40, 40, 6)))
        h5make.put(f, "summed", I4, (rows, 3), chunk=(9000, 3), filters=SUMMED, maxshape=(None, 3), data=data)
        h5make.put(f, "shuffled", I4, (rows, 3), chunk=(9000, 3), filters=("shuffle", "deflate:6"), data=data)
        h5make.put(f, "summed_first", I4, (rows, 3), chunk=(9000, 3), filters=("fletcher32", "deflate:6"), data=data)
        holes = h5make.put(f, "holes", I4, (rows, 3), chunk=(2000, 3), data=None, fill=np.int32(seed % 3), **how)
        for start in range(0, rows - 2000, 4000):
            holes[start:start + 1500] = data[:1500]
        skipped = h5make.put(f, "skipped", I4, (rows, 3), chunk=(2000, 3), data=data, **how)
        skipped.id.write_direct_chunk((2000, 0), data[:2000].tobytes(), 1)
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((1000, 3))
        dcpl.set_deflate(level)
        h5make.leave_partial_chunks(dcpl)
        h5py.Dataset(h5py.h5d.create(f.id, b"partial", I4, h5py.h5s.create_simple((rows, 3)), dcpl))[...] = data
    return path


def inputs_of(folder, sizes=(31000, 12345, 2600, 40001, 20000)):
    return [make(f"{folder}/{i}.h5", n, i, 1 + 2 * i % 9) for i, n in enumerate(sizes)]


def inflate_all(path, least):
    """Each chunk of deflate alone, or with a checksum behind it, by Python's zlib."""
    seen = 0
    with h5py.File(path, "r") as f:
        for d in f.values():
            if d.chunks is None or d.shuffle or d.id.get_create_plist().get_filter(0)[0] != 1:
                continue
            for k in range(d.id.get_num_chunks()):
                info = d.id.get_chunk_info(k)
                _, stored = d.id.read_direct_chunk(info.chunk_offset)
                z = zlib.decompressobj()
                raw = np.frombuffer(z.decompress(stored), d.dtype).reshape(d.chunks)
                check(z.eof and len(z.unused_data) == (4 if d.fletcher32 else 0), f"{d.name}: not one stream")
                part = d[tuple(slice(o, o + c) for o, c in zip(info.chunk_offset, d.chunks))]
                inside = raw[tuple(slice(0, n) for n in part.shape)]
                check((inside == part).all(), f"{d.name}: chunk at {info.chunk_offset} differs")
                outside = raw[part.shape[0]:]
                check((outside == d.fillvalue).all(), f"{d.name}: not padded with the fill value")
                seen += 1
    check(seen > least, f"{seen} chunks looked at")


def report(inputs, out, ranks, *options):
    r = run(["--json", "-o", out, *options, *inputs], ranks)
    check(r.code == 0, r.err)
    splice = one_object(r.out)["splice"]
    check(splice["encoded"] == sum(splice["encoded_why"].values()), f"reasons do not add up: {splice}")
    return splice


@test
def test_content(folder):
    """At any number of ranks, whatever --splice says, with and without a buffer that holds the rows."""
    inputs = inputs_of(folder)
    for size, runs in ((None, ((2,), (3, "--splice=always", "--verify"), (2, "--splice=never"))),
                       (65536, ((1,), (2, "--encoder=zlib"), (5, "--verify"), (3, "--buffer-size=12MiB", "--verify")))):
        expected = concat(inputs, size)
        for ranks, *options in runs:
            out = f"{folder}/out/{size}{ranks}{options[:1]}.h5"
            merge(inputs, out, ranks, *options, *([f"--chunk-size={size}"] if size else []))
            assert_model(expected, out)
            inflate_all(out, 100 if size else 8)
    h5dump_110(f"{folder}/out/655365['--verify'].h5")


@test
def test_report(folder):
    """Bytes copied, spliced and encoded, and why; the same bytes at any number of ranks."""
    inputs = inputs_of(folder)
    totals = set()
    for ranks in (1, 3):
        splice = report(inputs, f"{folder}/out/{ranks}.h5", ranks)
        check(splice["copied"] > 0 and splice["spliced"] > 0, f"{ranks} ranks: {splice}")
        why = splice["encoded_why"]
        check(why["filters"] > 0 and why["rims"] > 0 and why["off"] == why["values"] == 0, f"{ranks} ranks: {splice}")
        totals.add(splice["copied"] + splice["spliced"] + splice["encoded"])
    check(len(totals) == 1, f"bytes differ by ranks: {totals}")
    never = report(inputs, f"{folder}/out/never.h5", 2, "--splice=never")
    check(never["copied"] == never["spliced"] == 0 and never["encoded_why"]["off"] == totals.pop(), f"{never}")
    level = report(inputs, f"{folder}/out/level.h5", 2, "--compress=deflate:3")
    check(level["copied"] == level["spliced"] == 0, f"--compress=deflate:3 splices: {level}")
    level = report(inputs, f"{folder}/out/always.h5", 2, "--compress=deflate:3", "--shuffle=off", "--splice=always")
    check(level["copied"] > 0, f"--splice=always does not: {level}")
    none = report(inputs, f"{folder}/out/none.h5", 2, "--compress=none", "--splice=always")
    check(none["copied"] == 0, f"--compress=none splices: {none}")
    r = run(["-v", "-o", f"{folder}/out/v.h5", *inputs], 2)
    check("streams of" in r.err and "because of other filters" in r.err, r.err)


@test
def test_plan(folder):
    """Two inputs of two chunks of 4,000 rows and one that is half full, in output chunks of 8,000 rows."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            h5make.put(f, "d", I4, (10000, 1), chunk=(4000, 1), filters=("deflate:6",), data=values(10000, 1, i))
            h5make.put(f, "e", I4, (10000, 1), chunk=(4000, 1), filters=("shuffle",), data=values(10000, 1, i))
    for ranks in (1, 2):
        r = run(["-n", "-o", f"{folder}/o.h5", "--chunk-size=32000", *inputs], ranks)
        lines = {line.split(":")[0]: line for line in r.out.splitlines()}
        # whole: rows 0-4000, 4000-8000, 10000-14000; cut: 8000-10000, 14000-18000, 18000-20000
        check("spliced, 40.0 %" in lines["/d"] and "spliced" not in lines["/e"], r.out)


@test
def test_size(folder):
    """No larger than the inputs' chunks in sum plus 1 %: cuts cost little."""
    inputs, before = [], 0
    for i, rows in enumerate((400001, 333333, 512345, 100)):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            d = h5make.put(f, "d", I4, (rows, 1), chunk=(100000 + i, 1), filters=("deflate:9",), data=values(rows, 1, i))
            before += d.id.get_storage_size()
    for ranks in (1, 2, 3):
        out = f"{folder}/out/{ranks}.h5"
        splice = report(inputs, out, ranks)
        with h5py.File(out) as f:
            after = f["d"].id.get_storage_size()
        check(after < before * 1.01, f"{ranks} ranks: {after} bytes from {before}")
        check(splice["encoded"] < 0.25 * (splice["copied"] + splice["spliced"]), f"{splice}")


@test
def test_damage(folder):
    """As clear as elsewhere: the file, the dataset, the chunk and what is wrong."""
    data = values(8000, 1, 1)
    good = zlib.compress(data[:4000].tobytes(), 6)
    other = zlib.compressobj(6, zdict=b"0123456789")
    streams = {"checksum": (good[:-1] + bytes([good[-1] ^ 1]), "damaged"), "cut": (good[:-9], "cut off"),
               "short": (zlib.compress(data[:3999].tobytes()), "expected"), "noise": (b"\x78\x9c" + b"\xff" * 99, "damaged"),
               "dictionary": (other.compress(data[:4000].tobytes()) + other.flush(), "dictionary")}
    for name, (stream, word) in streams.items():
        path = f"{folder}/{name}.h5"
        with h5make.create(path) as f:
            d = h5make.put(f, "group/d", I4, (8000, 1), chunk=(4000, 1), filters=("deflate:6",), data=data)
            d.id.write_direct_chunk((4000, 0), stream)
        fails([path, path], f"{folder}/out/o.h5", 1, f"{name}.h5", "/group/d", "4000", word, ranks=(1, 3))


@test
def test_surplus(folder):
    """Bytes behind a stream, and a second stream, are dropped and counted."""
    data = values(4000, 1, 1)
    path = f"{folder}/a.h5"
    with h5make.create(path) as f:
        d = h5make.put(f, "d", I4, (8000, 1), chunk=(4000, 1), filters=("deflate:6",), data=None)
        d.id.write_direct_chunk((0, 0), zlib.compress(data.tobytes()) + b"trailing")
        d.id.write_direct_chunk((4000, 0), zlib.compress(data.tobytes()) + zlib.compress(b"second"))
    splice = report([path], f"{folder}/out/o.h5", 1)
    check(splice["surplus"] == 8 + len(zlib.compress(b"second")) and splice["copied"] == 32000, f"{splice}")
    assert_model(concat([path]), f"{folder}/out/o.h5")


@test
def test_layers(folder):
    """geometry/wkb is spliced, offsets are not: their values change."""
    layers = []
    for i in range(3):
        with open(f"{folder}/{i}.wkt", "w") as f:
            f.writelines(f"POINT ({k % 500} {k * i % 300})\n" for k in range(30000))
        layers.append(f"{folder}/{i}.h5")
        run(["-o", layers[-1], "--shuffle=off", f"{folder}/{i}.wkt"])
        check(os.path.exists(layers[-1]), "no layer made")
    one, two = f"{folder}/out/one.h5", f"{folder}/out/never.h5"
    splice = report(layers, one, 2, "--shuffle=off", "--verify")
    check(splice["copied"] + splice["spliced"] > 1000000 and splice["encoded_why"]["values"] > 0, f"{splice}")
    merge(layers, two, 2, "--shuffle=off", "--splice=never")
    with h5py.File(one) as a, h5py.File(two) as b:
        for name in ("wkb", "offsets", "bbox"):
            check((a[f"layer/geometry/{name}"][()] == b[f"layer/geometry/{name}"][()]).all(), f"{name} differs")


if __name__ == "__main__":
    main()
