# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that cannot be read are named: exit 1, nothing written; nothing is dropped silently."""
import os
import shutil

import h5py
import numpy as np

import geotree
import h5make
from h5model import describe
from h5vtest import RANKS, Skip, check, fails, main, merge, one_line, run, test, tool

I4 = h5make.of("<i4")


def good(folder, name="good", **options):
    path = f"{folder}/{name}.h5"
    with h5make.create(path, **options) as f:
        h5make.put(f, "common", I4, (5,))
    return path


@test
def test_nothing_is_dropped_silently(folder):
    """A named type, a bit field, a time: in the output, or refused by name; never left out of a success."""
    def named(f):
        f["g/odd"] = np.dtype("<f4")

    def bits(f):
        h5make.put(f, "g/odd", h5py.h5t.STD_B16LE.copy(), (4,))

    def time(f):
        h5make.put(f, "g/odd", h5py.h5t.UNIX_D32LE.copy(), (4,))
    wrong = []
    for make in (named, bits, time):
        odd, out = good(folder, "odd"), f"{folder}/out/o.h5"
        try:
            with h5py.File(odd, "r+") as f:
                make(f)
        except (TypeError, ValueError, AttributeError):
            continue  # this h5py cannot make it
        r = run(["-o", out, odd], 2)
        if r.code == 0:
            if "/g/odd" not in describe(out):
                wrong.append(f"{make.__name__}: dropped silently")
            os.remove(out)
        elif r.code != 1 or "/g/odd" not in r.err or "odd.h5" not in r.err:
            wrong.append(f"{make.__name__}: exit {r.code}: {r.err}")
    check(not wrong, "; ".join(wrong))


@test
def test_a_tree_of_boxes(folder):
    """A layer's index/rtree would be wrong in the output: it is refused, by the name of what is in it."""
    text, layer = f"{folder}/a.wkt", f"{folder}/a.h5"
    with open(text, "w", encoding="ascii") as f:
        f.write("POINT (1 2)\nPOINT (3 4)\n")
    merge([text], layer)
    with h5py.File(layer, "r+") as f:
        geotree.put(f["layer"])
    fails([layer], f"{folder}/out/o.h5", 1, "a.h5: /layer/index/rtree", "R-tree")


@test
def test_input_missing(folder):
    a = good(folder)
    fails([a, f"{folder}/none.h5"], f"{folder}/out/o.h5", 1, "none.h5", "No such file")
    fails([f"{folder}/none.h5"], f"{folder}/out/o.h5", 1, "none.h5", ranks=(1, 3))
    fails([f"{folder}/none.h5"] * 9, f"{folder}/out/o.h5", 1, "none.h5", ranks=(5,))


@test
def test_input_is_a_directory(folder):
    os.mkdir(f"{folder}/dir.h5")
    fails([good(folder), f"{folder}/dir.h5"], f"{folder}/out/o.h5", 1, "dir.h5", "directory")


@test
def test_input_is_not_hdf5(folder):
    with open(f"{folder}/odd.h5", "wb") as f:
        f.write(bytes(range(256)) * 40)
    fails([good(folder), f"{folder}/odd.h5"], f"{folder}/out/o.h5", 1, "odd.h5")
    with open(f"{folder}/empty.h5", "wb"):
        pass
    r = run(["-o", f"{folder}/out/o.h5", good(folder), f"{folder}/empty.h5"], 2)  # an empty file is WKT without rows
    check(r.code in (1, 3) and "empty.h5" in r.err, f"an empty file: exit {r.code} {r.err}")


@test
def test_input_is_truncated(folder):
    whole = f"{folder}/whole.h5"
    with h5make.create(whole) as f:
        h5make.put(f, "common", I4, (500, 50), chunk=(20, 50), filters=("deflate:6",))
        h5make.put(f, "later", I4, (500, 50))
    size = os.path.getsize(whole)
    for keep in (20, 96, size // 3, size - 1):
        with open(whole, "rb") as f, open(f"{folder}/odd.h5", "wb") as g:
            g.write(f.read(keep))
        fails([whole, f"{folder}/odd.h5"], f"{folder}/out/o.h5", 1, "odd.h5", ranks=(1, 3))


@test
def test_input_is_unreadable(folder):
    """root reads everything; without its two capabilities, root is a user like others."""
    a, odd = good(folder), good(folder, "odd")
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    os.chmod(odd, 0)
    if drop:
        os.chown(odd, 65534, 65534)
        if not shutil.which("setpriv") or tool(*drop, "true").code:
            raise Skip("setpriv cannot drop capabilities here")
    if tool(*drop, "cat", odd).code == 0:
        raise Skip("file modes do not bind here")
    fails([a, odd], f"{folder}/out/o.h5", 1, "odd.h5", "Permission denied", prefix=drop)


def corrupt(path, name, chunk):
    """Flip bytes in the middle of a stored chunk."""
    with h5py.File(path) as f:
        info = f[name].id.get_chunk_info(chunk)
        offset, size = info.byte_offset, info.size
    with open(path, "r+b") as f:
        f.seek(offset + size // 2)
        old = f.read(6)
        f.seek(offset + size // 2)
        f.write(bytes(b ^ 0xa5 for b in old))


@test
def test_corrupted_chunk(folder):
    """Random bytes deflated are stored blocks, whose check value finds the damage; fletcher32 finds it too."""
    for filters in (("shuffle", "deflate:6"), ("fletcher32",), ("deflate:1", "fletcher32")):
        a, odd = f"{folder}/a.h5", f"{folder}/odd.h5"
        for path in (a, odd):
            with h5make.create(path) as f:
                h5make.put(f, "fine", I4, (50,), chunk=(10,), filters=("deflate:6",))
                h5make.put(f, "grp/bad", I4, (4000, 3), chunk=(500, 3), filters=filters)
        corrupt(odd, "grp/bad", 5)
        for write in ("direct", "collective"):
            fails([a, odd], f"{folder}/out/o.h5", 1, "odd.h5", "/grp/bad", options=(f"--write={write}",),
                  ranks=RANKS if write == "direct" and len(filters) == 2 and filters[0] == "shuffle" else (1, 2))


@test
def test_corrupted_metadata(folder):
    """Every byte of the metadata of a small file flipped in turn somewhere: no crash, no hang, no broken output."""
    a = f"{folder}/a.h5"
    with h5make.create(a, libver=("v110", "v110")) as f:
        h5make.put(f, "d", I4, (50, 3), chunk=(10, 3), filters=("deflate:6",))
        f.attrs["t"] = np.arange(4)
    whole = open(a, "rb").read()
    for k, at in enumerate(range(8, len(whole), max(1, len(whole) // 24))):
        odd = f"{folder}/odd.h5"
        with open(odd, "wb") as f:
            f.write(whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:])
        out = f"{folder}/out/o.h5"
        r = run(["-o", out, a, odd], 1 + k % 2)
        check(r.code in (0, 1, 3), f"byte {at}: exit {r.code}: {r.err}")
        if r.code:
            one_line(r, "odd.h5")
            check(not os.listdir(f"{folder}/out"), f"byte {at}: left {os.listdir(f'{folder}/out')}")
        else:
            os.remove(out)


if __name__ == "__main__":
    main()
