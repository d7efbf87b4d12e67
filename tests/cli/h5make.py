# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of any type, layout, chunk, filter pipeline and fill value, made with HDF5's own calls and filled with
seeded random bytes, so that nothing is converted on the way."""
import ctypes
import zlib

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

LAYOUT = {"contiguous": h5d.CONTIGUOUS, "compact": h5d.COMPACT}
FILL_TIME = {"alloc": h5d.FILL_TIME_ALLOC, "never": h5d.FILL_TIME_NEVER, "ifset": h5d.FILL_TIME_IFSET}


def string(size, pad=h5t.STR_NULLPAD, cset=h5t.CSET_ASCII):
    t = h5t.C_S1.copy()
    t.set_size(size)
    t.set_strpad(pad)
    t.set_cset(cset)
    return t


def opaque(size, tag):
    t = h5t.create(h5t.OPAQUE, size)
    t.set_tag(tag)
    return t


def narrow(base, precision, offset):
    t = base.copy()
    t.set_precision(precision)
    t.set_offset(offset)
    return t


def of(dtype):
    return h5t.py_create(np.dtype(dtype), logical=True)


def types():
    """{name: type} of every class of fixed-size types."""
    table = {f"{o}{k}{n}": of(("<" if o == "le" else ">") + k + str(n))
             for o in ("le", "be") for k in "iu" for n in (1, 2, 4, 8)}
    table.update({f"{o}f{n}": of(("<" if o == "le" else ">") + f"f{n}") for o in ("le", "be") for n in (2, 4, 8)})
    colour = h5py.enum_dtype({"red": 0, "green": 1, "blue": -7}, "<i4")
    inner = np.dtype([("z", ">u2"), ("s", "S3")])
    table.update({
        "ldouble": h5t.NATIVE_LDOUBLE.copy(), "int12of16": narrow(h5t.STD_I16LE, 12, 2),
        "text_nullpad": string(5), "text_nullterm": string(6, h5t.STR_NULLTERM), "text_spacepad": string(7, h5t.STR_SPACEPAD),
        "text_utf8": string(9, h5t.STR_NULLPAD, h5t.CSET_UTF8), "text_long": string(300),
        "enum": of(colour), "enum_be": of(h5py.enum_dtype({"a": 1, "b": 300}, ">u2")), "bool": of("?"),
        "opaque": opaque(11, b"a tag"), "array": h5t.array_create(of(">i2"), (2, 3)), "complex": of("c8"),
        "compound": of(np.dtype([("a", "i1"), ("b", ">f8"), ("in", inner), ("e", colour), ("m", "<f4", (2, 2))])),
        "padded": of(np.dtype([("a", "i1"), ("b", "f8"), ("c", "u2")], align=True)),
        "array_of_compound": h5t.array_create(of(inner), (3,)),
    })
    return table


def add_filter(dcpl, name):
    kind, _, level = name.partition(":")
    if kind == "deflate":
        dcpl.set_deflate(int(level or 6))
    elif kind == "shuffle":
        dcpl.set_shuffle()
    else:
        dcpl.set_fletcher32()


def leave_partial_chunks(dcpl):
    """H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS), which h5py does not offer, in the HDF5 that it uses."""
    with open("/proc/self/maps") as maps:
        library = next(line.split()[-1] for line in maps if "/libhdf5" in line and "_hl" not in line)
    call = ctypes.CDLL(library).H5Pset_chunk_opts
    call.argtypes = (ctypes.c_int64, ctypes.c_uint)
    if call(dcpl.id, 2) < 0:
        raise AssertionError("H5Pset_chunk_opts failed")


def put(f, name, t, shape, layout="contiguous", chunk=None, filters=(), fill=None, fill_time=None, maxshape=None,
        data="random", lcpl=None):
    """Create dataset name of type t in f. chunk (cut to what fixed dimensions allow) or filters: chunked. data: "random" (seeded by the file's
    and the dataset's name), "small" (compressible), None (nothing is written) or an array. Returns the h5py
    dataset. A None in maxshape is unlimited."""
    dcpl = h5p.create(h5p.DATASET_CREATE)
    if chunk or filters:  # set_layout would forget the chunk
        room = [s if m is not None and s else c for s, m, c in zip(shape, maxshape or shape, chunk or shape)]
        dcpl.set_chunk(tuple(max(1, min(c, r)) for c, r in zip(chunk or shape, room)))
    else:
        dcpl.set_layout(LAYOUT[layout])
    for each in filters:
        add_filter(dcpl, each)
    if fill is not None:
        dcpl.set_fill_value(np.asarray(fill))
    if fill_time:
        dcpl.set_fill_time(FILL_TIME[fill_time])
    maxima = tuple(h5s.UNLIMITED if m is None else m for m in (maxshape or shape))
    links = h5p.create(h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    dset = h5py.Dataset(h5d.create(f.id, name.encode(), t, h5s.create_simple(shape, maxima), dcpl, lcpl=links))
    if isinstance(data, str):
        write_raw(dset, raw_bytes(f, name, t.get_size() * int(np.prod(shape)), data))
    elif data is not None:
        dset[...] = data
    return dset


def raw_bytes(f, name, size, kind):
    r = np.random.default_rng(zlib.crc32((f.filename.rpartition("/")[2] + ":" + name).encode()))
    return r.integers(0, 256 if kind == "random" else 4, size, dtype=np.uint8)


def write_raw(dset, data, start=None, count=None):
    """Write elements as stored bytes, all of them or a block."""
    if dset.size == 0:
        return
    fspace = dset.id.get_space()
    if start is not None:
        fspace.select_hyperslab(start, count)
    mspace = h5s.create_simple(count or dset.shape)
    dset.id.write(mspace, fspace, data, mtype=dset.id.get_type())


def create(path, **options):
    """A new file of this format era (h5py's libver)."""
    return h5py.File(path, "w", libver=options.pop("libver", ("earliest", "v110")), **options)
