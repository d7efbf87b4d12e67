# SPDX-License-Identifier: BSD-3-Clause
"""What is not a dataset with rows of its own: links, committed datatypes, user blocks, data in other files; kept link by
link and value by value."""
import os

import h5py
import numpy as np
from h5py import h5d, h5o, h5p, h5s, h5t

import h5make
from h5model import assert_model, describe
from h5oracle import concat
from h5vtest import RANKS, check, fails, hdf5_tool, main, merge, test, tool

I4 = h5make.of("<i4")
BOTH = [("direct", n) for n in RANKS] + [("collective", n) for n in (1, 2, 3)]


def merges(folder, inputs, expected=None, writes=BOTH):
    """Every writer and number of ranks gives the expected model; yields the outputs."""
    for write, n in writes:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        assert_model(expected or concat(inputs), out)
        yield out


def files(folder, make, count=3, **options):
    inputs = [f"{folder}/{i}.h5" for i in range(count)]
    for i, path in enumerate(inputs):
        with h5make.create(path, **options) as f:
            h5make.put(f, "common", I4, (5 + i, 2))
            make(f, i)
    return inputs


@test
def test_soft_links(folder):
    def make(f, _):
        f["g/to"], f["g/rel"] = h5py.SoftLink("/common"), h5py.SoftLink("../common")
        f["dangling"], f["ünï"] = h5py.SoftLink("/nowhere/at all"), h5py.SoftLink("g/ö")
    for out in merges(folder, files(folder, make)):
        with h5py.File(out) as f:
            check((f["g/to"][()] == f["common"][()]).all(), "the link leads elsewhere")


@test
def test_external_links_from_another_folder(folder):
    """A relative name is valid from the output's place; an absolute one stays."""
    os.makedirs(f"{folder}/in/deep")
    os.makedirs(f"{folder}/out/far/off")
    with h5make.create(f"{folder}/in/other.h5") as f:
        f["x"] = np.arange(7)
    inputs = [f"{folder}/in/deep/{i}.h5" for i in range(2)]
    for path in inputs:
        with h5make.create(path) as f:
            h5make.put(f, "common", I4, (5,))
            f["g/ext"] = h5py.ExternalLink("../other.h5", "/x")
            f["abs"] = h5py.ExternalLink(f"{folder}/in/other.h5", "x")
            f["gone"] = h5py.ExternalLink("not there.h5", "/y")
    for where in ("out/far/off", "in", "in/deep"):
        for write, n in (("direct", 2), ("collective", 2)):
            out = f"{folder}/{where}/o{write}{n}.h5"
            merge(inputs, out, n, f"--write={write}")
            with h5py.File(out) as f:
                check(f["g/ext"][()].tolist() == list(range(7)), f"{where}: the link leads elsewhere")
                check(f["abs"][()].tolist() == list(range(7)), "an absolute name changed")
                gone = f.get("gone", getlink=True)
                check(os.path.realpath(f"{folder}/{where}/{gone.filename}") == os.path.realpath(f"{folder}/in/deep/not there.h5")
                      and gone.path == "/y", f"{where}: {gone.filename} {gone.path}")
                if where == "in/deep":
                    check(f.get("g/ext", getlink=True).filename == "../other.h5", "a name in the same folder changed")


@test
def test_links_that_differ(folder):
    for first, second in ((h5py.SoftLink("/common"), h5py.SoftLink("/g")), (h5py.SoftLink("/common"), h5py.ExternalLink("a.h5", "/common")),
                          (h5py.ExternalLink("a.h5", "/x"), h5py.ExternalLink("b.h5", "/x"))):
        inputs = files(folder, lambda f, i, a=first, b=second: f.__setitem__("g/link", b if i else a), 2)
        fails(inputs, f"{folder}/out/o.h5", 3, "0.h5", "1.h5", "/g/link", "link")
    inputs = files(folder, lambda f, i: f.__setitem__("g/link", h5py.SoftLink("/common")) if i else None, 2)
    fails(inputs, f"{folder}/out/o.h5", 3, "0.h5", "1.h5", "/g")
    os.makedirs(f"{folder}/b")  # equal words, other files
    for path in (f"{folder}/0.h5", f"{folder}/b/1.h5"):
        with h5make.create(path) as f:
            f["link"] = h5py.ExternalLink("x.h5", "/x")
    fails([f"{folder}/0.h5", f"{folder}/b/1.h5"], f"{folder}/out/o.h5", 3, "0.h5", "1.h5", "/link")


@test
def test_hard_links_and_loops(folder):
    """One object with several names stays one; groups may hold themselves."""
    def make(f, _):
        f["a/again"], f["z"] = f["common"], f["common"]
        h5make.put(f, "a/b/deep", I4, (3,))
        f["a/b/up"], f["a/b/top"], f["b"] = f["a"], f["/"], f["a/b"]
    for out in merges(folder, files(folder, make)):
        with h5py.File(out) as f:
            check(f["z"] == f["common"] and f["a/again"] == f["common"], "three datasets where one was")
            check(f["a/b/up/b/top/b"] == f["a/b"], "a loop does not close")
            check(h5o.get_info(f["common"].id).rc == 3, "link count")


@test
def test_many_hard_links(folder):
    def make(f, _):
        for k in range(2000):
            f[f"m/{k}"] = f.require_dataset(f"d{k % 40}", (3,), "<i2")
    for _ in merges(folder, files(folder, make, 2), writes=[("direct", 2)]):
        pass


@test
def test_order_of_links(folder):
    """In the order in which they were made where the group tracks that, whatever their kinds."""
    def make(f, _):
        g = f.create_group("g", track_order=True)
        for name, what in (("z", h5py.SoftLink("/common")), ("y", f["common"]), ("x", h5py.ExternalLink("q.h5", "/q"))):
            g[name] = what
        g["w"] = np.dtype("<f4")
        h5make.put(f, "g/v", I4, (4,))
        g["a"] = f["common"]
    inputs = files(folder, make, libver=("v110", "v110"), track_order=True)
    for write, n in BOTH:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        check(describe(out)["/g"].members == list("zyxwva"), f"order is {describe(out)['/g'].members}")


@test
def test_committed_datatypes(folder):
    """Datasets and attributes that use one use the output's, met before it or after it; its own attributes stay."""
    compound = np.dtype([("n", "<i4"), ("x", "<f8", (2,))])

    def make(f, i):
        f["zz/type"] = compound
        f["zz/type"].attrs["unit"] = "m"
        f["a_type"] = np.dtype("<f4")
        f["zz/alias"] = f["zz/type"]
        f.create_dataset("before", data=np.full(3 + i, 7, "<f4"), dtype=f["a_type"])
        f.create_dataset("at_type", data=np.zeros(2 + i, compound), dtype=f["zz/type"])
        f.create_dataset("scalar", data=np.float32(2), dtype=f["a_type"])
        f["common"].attrs.create("typed", np.zeros((), compound), dtype=f["zz/type"])
        f.attrs.create("same", np.float32(3), dtype=f["a_type"])
    for out in merges(folder, files(folder, make)):
        with h5py.File(out) as f:
            def same(t, name):
                return t.committed() and h5o.get_info(t).addr == h5o.get_info(f[name].id).addr
            check(same(f["before"].id.get_type(), "a_type"), "a dataset's type")
            check(same(f["at_type"].id.get_type(), "zz/type"), "a dataset's type made after it")
            check(same(f["scalar"].id.get_type(), "a_type"), "a scalar's type")
            check(same(f["common"].attrs.get_id("typed").get_type(), "zz/type"), "an attribute's type")
            check(same(f.attrs.get_id("same").get_type(), "a_type"), "the root's attribute's type")
            check(f["zz/type"].attrs["unit"] == "m", "the type's own attribute")
            check(h5o.get_info(f["a_type"].id).rc == 4 and h5o.get_info(f["zz/type"].id).rc == 4, "uses are not counted")


@test
def test_committed_datatype_without_a_name(folder):
    """It cannot be reached by a path: the dataset gets its type as it is."""
    def make(f, i):
        t = h5make.of("<i2")
        h5t.TypeID.commit(t, f.id, b"gone")
        d = h5d.create(f.id, b"d", t, h5s.create_simple((4 + i,)))
        d.write(h5s.ALL, h5s.ALL, np.arange(4 + i, dtype="<i2"))
        del f["gone"]
    for _ in merges(folder, files(folder, make, 2), writes=BOTH[:2] + BOTH[-1:]):
        pass


@test
def test_committed_datatypes_that_differ(folder):
    inputs = files(folder, lambda f, i: f.__setitem__("g/t", np.dtype("<i8" if i else "<i4")), 2)
    fails(inputs, f"{folder}/out/o.h5", 3, "0.h5", "1.h5", "/g/t", "type")
    inputs = files(folder, lambda f, i: f.__setitem__("g/t", h5py.SoftLink("/x") if i else np.dtype("<i4")), 2)
    fails(inputs, f"{folder}/out/o.h5", 3, "0.h5", "1.h5", "/g/t")


@test
def test_comments(folder):
    def make(f, i):
        f["t"] = np.dtype("<i4")
        for name in ("/", "common", "t"):
            h5o.set_comment(f[name].id, f"about {name} {i}".encode())
    for out in merges(folder, files(folder, make)):
        text = tool(hdf5_tool("h5dump"), "-H", out).out  # h5py 3.7's get_comment returns memory that is not set
        for name in ("/", "common"):  # nor does h5dump show a datatype's
            check(f'COMMENT "about {name} 0"' in text, f"comment of {name}: {text}")


@test
def test_user_block(folder):
    """The first input's is kept byte for byte; every reader finds the content behind it."""
    inputs = []
    for i, size in enumerate((1024, 512, 0)):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1], userblock_size=size) as f:
            h5make.put(f, "plain", I4, (50 + i, 2))
            h5make.put(f, "chunked", I4, (500 + i, 2), chunk=(70, 2), filters=("shuffle", "deflate:6"))
            h5make.put(f, "tiny", I4, (5,), chunk=(5,), filters=("deflate:6",))
            f["common"] = 5
            f.attrs["text"] = "vlen"
        if size:
            with open(inputs[-1], "r+b") as f:
                f.write(bytes([i + 1]) * size)
    for order in (inputs, inputs[::-1]):
        with h5py.File(order[0]) as f:
            size = f.userblock_size
        for out in merges(folder, order):
            with open(out, "rb") as f:
                check(f.read(size) == b"\x01" * size, "the user block's bytes")
                check(f.read(4) == b"\x89HDF", "no content behind the user block")
            os.remove(out)


def virtual(folder, i, gone=False):
    with h5make.create(f"{folder}/source{i}.h5", libver=("v110", "v110")) as f:
        h5make.put(f, "common", I4, (6, 3))
    layout = h5py.VirtualLayout(shape=(10 + i, 3), dtype="<i4", maxshape=(None, 3))
    layout[:6] = h5py.VirtualSource(f"source{i}.h5", "common", shape=(6, 3))
    with h5py.File(f"{folder}/{i}.h5", "w", libver=("v110", "v110")) as f:
        d = f.create_virtual_dataset("v", layout, fillvalue=-9)
        d.attrs["a"] = i
    if gone:
        os.remove(f"{folder}/source{i}.h5")
    return f"{folder}/{i}.h5"


@test
def test_virtual_datasets(folder):
    """Become data, read through HDF5; a source that is not there is an error, not fill values."""
    inputs = [virtual(folder, i) for i in range(3)]
    want = np.concatenate([h5py.File(p)["v"][()] for p in inputs])
    check((want == -9).any() and (want != -9).any(), "no fill values or no data")
    for write, n in BOTH:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        with h5py.File(out) as f:
            check(not f["v"].is_virtual and f["v"].fillvalue == -9 and f["v"].attrs["a"] == 0, "properties")
            check(f["v"].maxshape == (None, 3) and (f["v"][()] == want).all(), "values")
    virtual(folder, 1, gone=True)
    fails(inputs, f"{folder}/out/o.h5", 1, "/1.h5", "/v", "source1.h5")


@test
def test_external_storage(folder):
    inputs = []
    for i in range(2):
        raw = np.arange(10 + i, dtype="<i4") * (i + 3)
        raw.tofile(f"{folder}/raw{i}.bin")
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            f.create_dataset("e", raw.shape, "<i4", external=[(f"{folder}/raw{i}.bin", 0, raw.nbytes)])
    want = np.concatenate([h5py.File(p)["e"][()] for p in inputs])
    for write, n in BOTH:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        with h5py.File(out) as f:
            check(not f["e"].external and (f["e"][()] == want).all() and want[-1] == 40, "values")
    os.remove(f"{folder}/raw1.bin")
    fails(inputs, f"{folder}/out/o.h5", 1, "/1.h5", "/e")


@test
def test_unlimited_dimension_that_is_not_the_first(folder):
    """HDF5 1.14.5's H5Dchunk_iter says wrong coordinates for the index that such a dataset has in new files."""
    inputs = []
    for i in range(2):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1], libver=("v110", "v110")) as f:
            for filters in ((), ("deflate:4",)):
                name = f"d{len(filters)}"
                h5make.put(f, name, I4, (10 + i, 12, 5), chunk=(3, 4, 2), filters=filters, maxshape=(60, None, 5))
                h5make.put(f, name + "last", I4, (7, 9), chunk=(2, 2), filters=filters, maxshape=(9, None))
    for _ in merges(folder, inputs, writes=BOTH[1:3] + BOTH[-1:]):
        pass


def filtered(path, i, filters):
    """Datasets of each of these filters (dcpl setters by name), smooth data so that all of them do something."""
    with h5make.create(path) as f:
        for name, (dtype, setters) in filters.items():
            shape = (400 + 37 * i, 3)
            dcpl = h5p.create(h5p.DATASET_CREATE)
            dcpl.set_chunk((64, 3))
            for setter in setters:
                setter(dcpl)
            d = h5d.create(f.id, name.encode(), dtype, h5s.create_simple(shape, (h5s.UNLIMITED, 3)), dcpl)
            d.write(h5s.ALL, h5s.ALL, (np.arange(shape[0] * 3).reshape(shape) % 1000).astype("<i4"))
    return path


FOREIGN = {
    "nbit": (h5make.narrow(h5t.STD_I32LE, 21, 0), [lambda p: p.set_filter(5)]),
    "nbit_be": (h5make.narrow(h5t.STD_I32BE, 20, 3), [lambda p: p.set_filter(5)]),
    "scale": (h5make.of("<i4"), [lambda p: p.set_scaleoffset(h5py.h5z.SO_INT, 0)]),
    "scale_few_bits": (h5make.of("<i4"), [lambda p: p.set_scaleoffset(h5py.h5z.SO_INT, 9)]),  # loses values in larger chunks
    "many": (h5make.of("<u2"), [lambda p: p.set_scaleoffset(h5py.h5z.SO_INT, 0),
                                lambda p: p.set_deflate(5), lambda p: p.set_fletcher32()]),
}


@test
def test_filters_of_hdf5(folder):
    """nbit and scale-offset are kept with all their parameters: HDF5 encodes with them, on every rank."""
    inputs = [filtered(f"{folder}/{i}.h5", i, FOREIGN) for i in range(3)]
    expected = concat(inputs)
    for name in FOREIGN:
        expected[f"/{name}"].filters = lambda actual: None
    for out in merges(folder, inputs, expected):
        with h5py.File(out) as f, h5py.File(inputs[0]) as g:
            for name in FOREIGN:
                a, b = ([d.id.get_create_plist().get_filter(k) for k in range(d.id.get_create_plist().get_nfilters())]
                        for d in (f[name], g[name]))
                # but for the elements of a chunk, and scale-offset's bits: 0, as many as the values need
                a, b = ([(x[0], [v for k, v in enumerate(x[2]) if k not in (1, 2)]) for x in y] for y in (a, b))
                check(a == b, f"{name}: {a}, {b} expected")
                check(f[name].id.get_storage_size() <= f[name].size * f[name].dtype.itemsize * 0.9, f"{name} is not packed")


@test
def test_filters_of_hdf5_replaced(folder):
    inputs = [filtered(f"{folder}/{i}.h5", i, FOREIGN) for i in range(2)]
    for options, ids in ((("--compress=deflate:4",), {1}), (("--shuffle=on",), {2, 5, 6, 1, 3}), (("--chunk-size=4096", "--verify"), None)):
        out = f"{folder}/out/o.h5"
        merge(inputs, out, 3, *options)
        with h5py.File(out) as f:
            for name in FOREIGN:
                want = np.concatenate([h5py.File(p)[name][()] for p in inputs])
                check((f[name][()] == want).all(), f"{options}: values of {name}")
                got = {f[name].id.get_create_plist().get_filter(k)[0] for k in range(f[name].id.get_create_plist().get_nfilters())}
                check(ids is None or got - {2, 3} <= ids, f"{options}: filters {got} of {name}")
        os.remove(out)


@test
def test_rounding_is_not_repeated(folder):
    """Scale-offset of floats rounds again for every other chunk: shuffle and deflate take its place, the values stay."""
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for t in ("<f4", "<f8"):
                data = np.random.default_rng(i).normal(20, 40, (300, 2)).astype(t)
                f.create_dataset(t, data=data, chunks=(32, 2), scaleoffset=2)
    for write, n in BOTH[1:3] + BOTH[-1:]:
        out = f"{folder}/out/{write}{n}.h5"
        merge(inputs, out, n, f"--write={write}")
        with h5py.File(out) as f:
            for t in ("<f4", "<f8"):
                want = np.concatenate([h5py.File(p)[t][()] for p in inputs])
                check((f[t][()] == want).all(), f"{t}: values")
                check(f[t].shuffle and f[t].compression == "gzip" and f[t].scaleoffset is None, "filters")


@test
def test_filter_that_is_not_there(folder):
    """lzf is h5py's own: named with file and dataset unless a plugin is there."""
    def make(f, _):
        f.create_dataset("g/odd", data=np.arange(100, dtype="<i4"), chunks=(10,), compression="lzf")
    inputs = files(folder, make, 2)
    fails(inputs, f"{folder}/out/o.h5", 1, "0.h5", "/g/odd", "lzf", "32000")


if __name__ == "__main__":
    main()
