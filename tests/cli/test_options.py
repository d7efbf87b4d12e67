# SPDX-License-Identifier: BSD-3-Clause
"""Options that change how the output is stored, never what it holds."""
import os
import re

import numpy as np

import h5make
from h5model import Dataset, assert_model, describe, differences
from h5oracle import concat
from h5vtest import KiB, MiB, check, main, merge, run, test

F4, DEFLATE, SHUFFLE, FLETCHER = h5make.of("<f4"), 1, 2, 3


def inputs_in(folder, rows=(5000, 0, 7000)):
    """Compressible columns and images, filtered in several ways."""
    paths = [f"{folder}/in{i}.h5" for i in range(len(rows))]
    for i, (path, n) in enumerate(zip(paths, rows)):
        r = np.random.default_rng(i)
        with h5make.create(path) as f:
            wave = np.round(np.cumsum(r.normal(size=(n, 1)), 0) * 16).astype("<f4") / 16
            image = (r.gamma(1, 9, (n // 10, 300)) * (r.random((n // 10, 300)) < 0.1)).astype("<f4")
            for label, filters in (("both", ("shuffle", "deflate:6")), ("deflate", ("deflate:4",)), ("sum", ("fletcher32",)),
                                   ("all", ("shuffle", "deflate:9", "fletcher32")), ("plain", ()), ("weak", ("deflate:1",))):
                for name, data in (("wave", wave), ("image", image)):
                    chunk = (min(3000, max(1, data.shape[0])), data.shape[1])
                    h5make.put(f, f"{name}/{label}", F4, data.shape, chunk=chunk if filters else None, filters=filters, data=data,
                               maxshape=(None, data.shape[1]) if filters else None)
            h5make.put(f, "tiny", F4, (3,), layout="compact")
    return paths


def same_content(inputs, out, *ignored):
    """As the oracle says in all but these properties of storage."""
    found = [d for d in differences(concat(inputs), describe(out)) if not any(f": {word}:" in d for word in ignored)]
    check(not found, "\n    ".join([f"{len(found)} differences:", *found[:10]]))


def datasets(path):
    return {p: d for p, d in describe(path).items() if isinstance(d, Dataset)}


def codes(dataset):
    return [f[0] for f in dataset.filters]


@test
def test_compress_none(folder):
    inputs = inputs_in(folder)
    for write in ("direct", "collective"):
        out = f"{folder}/out/{write}.h5"
        merge(inputs, out, 2, "--compress=none", f"--write={write}")
        same_content(inputs, out, "filters", "layout", "chunk")
        for path, d in datasets(out).items():
            check(DEFLATE not in codes(d), f"{path}: still deflated: {d.filters}")


@test
def test_compress_deflate(folder):
    """Every level; recorded as at most 9. Datasets without a filter get one too."""
    inputs = inputs_in(folder, (700, 900))
    for level in range(1, 13):
        out = f"{folder}/out/{level}.h5"
        merge(inputs, out, 1 + level % 2, f"--compress=deflate:{level}")
        same_content(inputs, out, "filters", "layout", "chunk")
        for path, d in datasets(out).items():
            if d.filters or path in ("/wave/plain", "/image/plain"):
                check(codes(d).count(DEFLATE) == 1, f"level {level}: {path}: {d.filters}")
                recorded = [f[2] for f in d.filters if f[0] == DEFLATE][0]
                check(recorded == (min(level, 9),), f"level {level}: {path} records {recorded}")
    for level in (1, 9):
        out = f"{folder}/out/c{level}.h5"
        merge(inputs, out, 2, f"--compress=deflate:{level}", "--write=collective")
        same_content(inputs, out, "filters", "layout", "chunk")
    check(os.path.getsize(f"{folder}/out/12.h5") < os.path.getsize(f"{folder}/out/1.h5"), "level 12 is no smaller than 1")


@test
def test_compress_keep_is_no_larger(folder):
    """The same filters, and in sum no more bytes than the inputs' filters made."""
    inputs = inputs_in(folder, (6000, 9000))
    before = sum(d.stored for p in inputs for d in datasets(p).values() if DEFLATE in codes(d))
    for how in ("--encoder=libdeflate", "--encoder=zlib"):
        out = f"{folder}/out/{how[10:]}.h5"
        merge(inputs, out, 2, "--compress=keep", how)
        assert_model(concat(inputs), out)
        after = sum(d.stored for d in datasets(out).values() if DEFLATE in codes(d))
        check(after <= before, f"{how}: {after} bytes stored, the inputs had {before}")


@test
def test_encoders_agree(folder):
    inputs = inputs_in(folder)
    for encoder in ("libdeflate", "zlib"):
        for ranks in (1, 3):
            out = f"{folder}/out/{encoder}{ranks}.h5"
            merge(inputs, out, ranks, f"--encoder={encoder}")
            assert_model(concat(inputs), out)
    out = f"{folder}/out/zlib12.h5"
    r = run(["-o", out, "--encoder=zlib", "--compress=deflate:12", *inputs], 1)
    check(r.code in (0, 2), f"zlib at level 12: exit {r.code} {r.err}")


@test
def test_shuffle(folder):
    inputs = inputs_in(folder, (700, 900))
    for write in ("direct", "collective"):
        for value in ("keep", "on", "off"):
            out = f"{folder}/out/{write}_{value}.h5"
            merge(inputs, out, 2, f"--shuffle={value}", f"--write={write}")
            same_content(inputs, out, *(("filters", "layout", "chunk") if value == "on" else ("filters",) if value == "off" else ()))
            for path, d in datasets(out).items():
                if value == "off":
                    check(SHUFFLE not in codes(d), f"{path}: {d.filters}")
                elif value == "on" and DEFLATE in codes(d):
                    check(codes(d).index(SHUFFLE) < codes(d).index(DEFLATE) if SHUFFLE in codes(d) else False,
                          f"{path}: {d.filters}")
    out = f"{folder}/out/plain.h5"
    merge(inputs, out, 2, "--compress=deflate:6", "--shuffle=on")
    check(codes(datasets(out)["/wave/plain"])[:2] == [SHUFFLE, DEFLATE], f"{datasets(out)['/wave/plain'].filters}")


@test
def test_chunk_size(folder):
    inputs = inputs_in(folder)
    for size in (16 * KiB, 64 * KiB, 8 * MiB):
        for write in ("direct", "collective"):
            out = f"{folder}/out/{write}{size}.h5"
            merge(inputs, out, 2, f"--chunk-size={size}", f"--write={write}")
            assert_model(concat(inputs, chunk_size=size), out)


def big(folder, files=2, rows=3 * MiB // 2):
    """12 MiB a file in chunks of 256 KiB that are kept, and a column that is chunked anew."""
    paths = [f"{folder}/big{i}.h5" for i in range(files)]
    for i, path in enumerate(paths):
        with h5make.create(path) as f:
            h5make.put(f, "kept", h5make.of("<u4"), (rows + 1000 * i, 2), chunk=(32 * KiB, 2), filters=("shuffle", "deflate:1"),
                       data="small", maxshape=(None, 2))
            h5make.put(f, "column", h5make.of("<u2"), (rows,), chunk=(1000,), filters=("deflate:1",), data="small")
            h5make.put(f, "plain", h5make.of("<u2"), (rows // 2,), data="small")
    return paths


@test
def test_small_buffers(folder):
    """Many rounds, the same content; a buffer that cannot hold one chunk is refused with the size that would do."""
    inputs = big(folder)
    expected = concat(inputs)
    out = f"{folder}/out/o.h5"
    size = "4MiB"
    r = run(["-o", out, "--buffer-size", size, *inputs], 2)
    if r.code == 2:
        named = re.findall(r"\b(\d+(?:\.\d+)? ?(?:[KMG]i?B|bytes))", r.err.replace(size, ""))
        check(named, f"refused, but no size named that would do: {r.err}")
        size = named[-1].replace(" ", "").replace("bytes", "")
    else:
        os.path.exists(out) and os.remove(out)
    for ranks in (1, 2, 3):
        merge(inputs, out, ranks, "--buffer-size", size)
        assert_model(expected, out)
        os.remove(out)
    r = run(["-o", out, "--buffer-size=16KiB", *inputs], 2)
    check(r.code == 2 and re.search(r"\d", r.err) and len(r.err.splitlines()) <= 2, f"16 KiB: exit {r.code}: {r.err}")
    check(not os.listdir(f"{folder}/out"), "a refused plan left something")


@test
def test_named_size_does(folder):
    """One chunk of 12 MiB: the refusal names a size, and that size works."""
    path, out = f"{folder}/a.h5", f"{folder}/out/o.h5"
    with h5make.create(path) as f:
        h5make.put(f, "wide", h5make.of("<u4"), (2, 3 * MiB), chunk=(1, 3 * MiB), filters=("deflate:1",), data="small",
                   maxshape=(None, 3 * MiB))
    r = run(["-o", out, "--buffer-size=8MiB", path, path], 2)
    check(r.code == 2 and "/wide" in r.err, f"exit {r.code}: {r.err}")
    named = re.findall(r"\b(\d+(?:\.\d+)?) ?((?:[KMG]iB?)|B|bytes)", r.err.replace("8MiB", "").replace("8 MiB", ""))
    check(named, f"no size named: {r.err}")
    sizes = sorted(float(n) * {"K": KiB, "M": MiB, "G": MiB * KiB}.get(u[0], 1) for n, u in named)
    merge([path, path], out, 2, f"--buffer-size={int(np.ceil(sizes[-1]))}")
    assert_model(concat([path, path]), out)


@test
def test_wide_rows_are_cut(folder):
    """A row of 24 MiB in one contiguous dataset fits a small buffer when a chunk of it does."""
    path, out = f"{folder}/a.h5", f"{folder}/out/o.h5"
    with h5make.create(path) as f:
        h5make.put(f, "wide", h5make.of("<u4"), (2, 6 * MiB), data="small")
    merge([path, path], out, 2, "--buffer-size=16MiB")
    assert_model(concat([path, path]), out)


if __name__ == "__main__":
    main()
