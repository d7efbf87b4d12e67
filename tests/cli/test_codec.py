# SPDX-License-Identifier: BSD-3-Clause
"""--codec=vector: geometries transformed before they are compressed. The content stays what it is without; our commands
need no plugin; h5py, h5dump and h5repack read and write it through HDF5_PLUGIN_PATH."""
import os
import random
import subprocess
import sys

import h5py
import numpy as np

import geo
import vct
from h5vtest import BIN, H5VCAT, H5VINFO, Result, Skip, check, fails, hdf5_tool, main, merge, run, test

PLUGINS = os.path.join(os.path.dirname(BIN), "plugins")
PLUGIN = os.path.join(PLUGINS, "libh5vec_filter.so")
FILTER, DEFLATE, FLETCHER = 305, 1, 3
WKB = "/layer/geometry/wkb"


def program(*args, plugin=True):
    with open(PLUGIN, "rb") as f:
        if plugin and b"__asan_init" in f.read():
            raise Skip("a plugin built with AddressSanitizer is for programs that are")
    env = {k: v for k, v in os.environ.items() if k != "HDF5_PLUGIN_PATH"}
    env["HDF5_PLUGIN_PATH"] = PLUGINS if plugin else "/nonexistent"
    p = subprocess.run(args, capture_output=True, timeout=120, stdin=subprocess.DEVNULL, env=env)
    return Result(p.returncode, p.stdout, p.stderr.decode(errors="replace"))


def wkb_of(path, plugin=True):
    """The bytes of geometry/wkb as h5py reads them, in a process of its own; None if it cannot."""
    code = f"import h5py, sys; sys.stdout.buffer.write(h5py.File(sys.argv[1], 'r')['{WKB}'][()].tobytes())"
    r = program(sys.executable, "-c", code, path, plugin=plugin)
    return r.out if r.code == 0 else None


def filters(path, name=WKB):
    with h5py.File(path, "r") as f:
        dcpl = f[name].id.get_create_plist()
        return [dcpl.get_filter(i)[0] for i in range(dcpl.get_nfilters())]


def same(path, expected):
    check(wkb_of(path) == expected, f"{path}: other geometries")
    r = run(["--check", path], 0, command=H5VINFO)
    check(r.code == 0 and r.err == "", f"h5vinfo --check {path}: exit {r.code}\n{r.out}{r.err}")


def text_of(rows, path, rng):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(r.wkt(rng) + "\n" for r in rows))
    return path


def decimal_lines(path, seed, count=3000):
    """Lines of seven decimals: several chunks of 64 KiB."""
    rng = np.random.default_rng(seed)
    with open(path, "w", encoding="utf-8") as f:
        for n in rng.integers(2, 60, count):
            xy = np.round(rng.uniform(-80, 80, 2) + np.cumsum(rng.normal(0, 3e-4, (n, 2)), 0), 7)
            f.write("LINESTRING (" + ", ".join(f"{x:.7f} {y:.7f}" for x, y in xy) + ")\n")
    return path


@test
def test_content_at_any_rank_count(folder):
    rng = random.Random(3)
    rows = [geo.random_geometry(rng, kind, dim) for kind in range(1, 8) for dim in range(4) for _ in range(20)]
    inputs = [text_of(rows, f"{folder}/a.wkt", rng), decimal_lines(f"{folder}/b.wkt", 1)]
    merge(inputs, f"{folder}/out/plain.h5", 2)
    expected = wkb_of(f"{folder}/out/plain.h5", plugin=False)
    check(expected, "no geometries")
    for ranks in (1, 2, 3, 5):
        for write in ("direct", "collective"):
            out = f"{folder}/out/{write}{ranks}.h5"
            merge(inputs, out, ranks, "--codec=vector", "--chunk-size=64KiB", "--verify", f"--write={write}")
            same(out, expected)
            check(filters(out) == [FILTER, DEFLATE], f"{out}: {filters(out)}")
            with h5py.File(out, "r") as f:
                names = []
                f.visit(names.append)
                others = [n for n in names if isinstance(f[n], h5py.Dataset) and "/" + n != WKB and FILTER in filters(out, n)]
            check(not others, f"{out}: filtered as well: {others}")


@test
def test_specification(folder):
    """Stored chunks, decoded by what docs/codec.md says alone: every type and dimension, odd values, any place to cut."""
    rng = random.Random(4)
    odd = [geo.G(1, 0, None), geo.G(1, 0, (-0.0, 5e-324)), geo.G(2, 3, [(1.5, -0.0, 3.0, 1e300)] * 3)]
    rows = [r for kind in range(1, 8) for dim in range(4) for r in [geo.random_geometry(rng, kind, dim) for _ in range(30)] + odd]
    inputs = [text_of(rows, f"{folder}/a.wkt", rng), decimal_lines(f"{folder}/b.wkt", 1, 300)]
    coded = 0
    for chunk in ("977", "5000", "64KiB"):
        out = f"{folder}/out/{chunk}.h5"
        merge(inputs, out, 2, "--codec=vector", "--compress=none", f"--chunk-size={chunk}")
        want = wkb_of(out)
        with h5py.File(out, "r") as f:
            data = f[WKB]
            for i in range(0, len(want), data.chunks[0]):
                stored = data.id.read_direct_chunk((i,))[1]
                coded += stored[4]
                got = vct.decode(stored)[:len(want) - i]
                check(got == want[i:i + data.chunks[0]], f"{chunk}: the chunk at {i}")
    check(coded > 50, f"only {coded} coded chunks")


@test
def test_smaller(folder):
    inputs = [decimal_lines(f"{folder}/a.wkt", 2, 20000)]
    sizes = []
    for codec in ("none", "vector"):
        merge(inputs, f"{folder}/out/{codec}.h5", 2, f"--codec={codec}")
        with h5py.File(f"{folder}/out/{codec}.h5", "r") as f:
            sizes.append(f[WKB].id.get_storage_size())
    check(sizes[1] * 2.5 < sizes[0], f"stored in {sizes[1]} bytes, without the codec in {sizes[0]}")


@test
def test_layers_with_and_without(folder):
    """Inputs with the filter and without become an output with it or without; nothing needs a plugin."""
    texts = [decimal_lines(f"{folder}/{i}.wkt", i) for i in range(3)]
    for i, codec in enumerate(("vector", "none", "vector")):
        merge([texts[i]], f"{folder}/{i}.h5", 1, f"--codec={codec}", "--chunk-size=64KiB")
    inputs = [f"{folder}/{i}.h5" for i in range(3)]
    expected = b"".join(wkb_of(p) for p in inputs)
    for order, codec, ranks in ((inputs, "vector", 3), (inputs, "none", 2), (inputs[1:] + inputs[:1], "vector", 2)):
        out = f"{folder}/out/{codec}{ranks}.h5"
        merge(order, out, ranks, f"--codec={codec}", "--verify", "--force")
        same(out, expected if order is inputs else b"".join(wkb_of(p) for p in order))
        check((FILTER in filters(out)) == (codec == "vector"), f"{codec}: {filters(out)}")
    check(wkb_of(f"{folder}/out/none2.h5", plugin=False) == expected, "the default needs a plugin")


@test
def test_one_input_as_a_repack(folder):
    """With no deflate in the input, keep gives the codec alone; none takes it off again; a checksum covers it."""
    text = decimal_lines(f"{folder}/a.wkt", 5)
    merge([text], f"{folder}/plain.h5", 1, "--compress=none")
    expected = wkb_of(f"{folder}/plain.h5", plugin=False)
    merge([f"{folder}/plain.h5"], f"{folder}/out/alone.h5", 2, "--codec=vector")
    check(filters(f"{folder}/out/alone.h5") == [FILTER], f"{filters(f'{folder}/out/alone.h5')}")
    same(f"{folder}/out/alone.h5", expected)
    merge([f"{folder}/out/alone.h5"], f"{folder}/out/both.h5", 2, "--codec=vector", "--compress=deflate:9")
    check(filters(f"{folder}/out/both.h5") == [FILTER, DEFLATE], f"{filters(f'{folder}/out/both.h5')}")
    same(f"{folder}/out/both.h5", expected)
    merge([f"{folder}/out/both.h5"], f"{folder}/out/again.h5", 2, "--compress=none")
    check(filters(f"{folder}/out/again.h5") == [], f"{filters(f'{folder}/out/again.h5')}")
    same(f"{folder}/out/again.h5", expected)


@test
def test_without_the_plugin(folder):
    """HDF5 says that it cannot; everything else in the file is read."""
    out = f"{folder}/out/o.h5"
    merge([decimal_lines(f"{folder}/a.wkt", 6)], out, 1, "--codec=vector")
    check(wkb_of(out, plugin=False) is None, "read without the filter")
    with h5py.File(out, "r") as f:
        check(f["layer/geometry/bbox"][()].shape == (3000, 4), "other datasets")


@test
def test_hdf5_tools(folder):
    """h5dump and h5repack of the commands' HDF5, and the distribution's h5dump."""
    plain, out = f"{folder}/out/plain.h5", f"{folder}/out/o.h5"
    inputs = [decimal_lines(f"{folder}/a.wkt", 7, 500)]
    merge(inputs, plain, 1)
    merge(inputs, out, 1, "--codec=vector")
    expected = wkb_of(plain)
    for h5dump in {hdf5_tool("h5dump"), "/usr/bin/h5dump"}:
        if not os.path.exists(h5dump):
            continue
        want, got = (program(h5dump, "-y", "-d", WKB, p).out.split(b"DATA {")[-1] for p in (plain, out))
        check(len(want) > len(expected) and want == got, f"{h5dump}: other values")
    h5repack = hdf5_tool("h5repack")
    for source, name, how in ((plain, "with", f"{WKB}:UD={FILTER},0,1,1"), (out, "without", f"{WKB}:NONE")):
        to = f"{folder}/out/{name}.h5"
        r = program(h5repack, "-f", how, source, to)
        check(r.code == 0, f"h5repack: {r.err}")
        check((FILTER in filters(to)) == (name == "with"), f"h5repack {how}: {filters(to)}")
        same(to, expected)


@test
def test_h5py_writes(folder):
    """The filter in a pipeline of h5py's making, any data: text, numbers, with a checksum behind it and in front."""
    code = f"""
import h5py, numpy as np, sys
rng = np.random.default_rng(1)
data = [np.frombuffer(b'some text' * 9000, 'u1'), rng.integers(0, 256, 70001).astype('u1'), rng.normal(size=20000), np.zeros(7001)]
with h5py.File(sys.argv[1], 'w') as f:
    for i, d in enumerate(data):
        for fletcher in (False, True):
            f.create_dataset(f'{{i}}{{fletcher}}', data=d, chunks=(7000,), compression={FILTER}, fletcher32=fletcher)
with h5py.File(sys.argv[1], 'r') as f:
    assert all((f[f'{{i}}{{k}}'][()] == d).all() for i, d in enumerate(data) for k in (False, True))
"""
    path, out = f"{folder}/a.h5", f"{folder}/out/o.h5"
    r = program(sys.executable, "-c", code, path)
    check(r.code == 0, f"h5py: {r.err}")
    merge([path], out, 2, "--verify")  # not a layer: a filter like any other
    check(FILTER in filters(out, "/0True"), f"{filters(out, '/0True')}")
    r = program(hdf5_tool("h5diff"), path, out)
    check(r.code == 0, f"h5diff: {r.out} {r.err}")


@test
def test_names(folder):
    out = f"{folder}/out/o.h5"
    text = decimal_lines(f"{folder}/a.wkt", 8, 100)
    r = run(["-o", out, "--codec=vector", "--dry-run", text])
    check(r.code == 0 and "vector+deflate" in r.out, f"--dry-run: {r.out}")
    merge([text], out, 1, "--codec=vector")
    r = run([out], 0, command=H5VINFO)
    check("vector deflate:6" in r.out, r.out)
    fails([text], f"{folder}/out/p.h5", 2, "--codec", "none", "vector", options=("--codec=zip",), ranks=(1, 2))


@test
def test_damage_is_found(folder):
    """Stored bytes of another version, and damaged ones: an error to h5vcat, h5vinfo and h5py. Outside a layer, where
    h5vcat decodes by itself, it says why."""
    good = f"{folder}/good.h5"
    merge([decimal_lines(f"{folder}/a.wkt", 9, 300)], good, 1, "--codec=vector", "--compress=none")
    copy = f"import h5py, sys; h5py.File(sys.argv[1], 'r').copy('{WKB}', h5py.File(sys.argv[2], 'w'), 'data')"
    r = program(sys.executable, "-c", copy, good, f"{folder}/data.h5")
    check(r.code == 0, r.err)
    for place, word in ((3, "version 3"), (0, "VCT"), (9, "expected"), (17, "header")):
        for source, where, reason in ((good, "geometry/wkb", "filter"), (f"{folder}/data.h5", "/data", word)):
            bad = f"{folder}/bad.h5"
            with open(source, "rb") as f:
                changed = bytearray(f.read())
            changed[changed.index(b"VCT\x01") + place] ^= 2
            with open(bad, "wb") as f:
                f.write(changed)
            fails([bad], f"{folder}/out/o.h5", 1, where, reason, ranks=(1, 2))
            if source is good:
                r = run(["--check", bad], 0, command=H5VINFO)
                check(r.code == 1, f"h5vinfo --check of a damaged chunk: exit {r.code}")
                check(wkb_of(bad) is None, "h5py reads a damaged chunk")


main((H5VCAT, H5VINFO, PLUGIN))
