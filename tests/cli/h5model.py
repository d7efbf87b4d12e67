# SPDX-License-Identifier: BSD-3-Clause
"""Everything that an HDF5 file holds, as plain Python values, and the comparison of two such descriptions,
object by object and bit by bit. Types are described member by member (HDF5's own equality calls variable-length
types of two files different, numpy's forgets padding and character sets); values are the stored bytes, never
converted, so that NaN payloads and byte order count."""
import dataclasses
import os
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5o, h5r, h5s, h5t

LAYOUTS = {h5d.COMPACT: "compact", h5d.CONTIGUOUS: "contiguous", h5d.CHUNKED: "chunked"}


@dataclasses.dataclass
class Attribute:
    type: tuple
    shape: Any  # None: null space
    value: Any


@dataclasses.dataclass
class Dataset:
    attrs: dict
    order: tuple
    type: tuple
    item: int  # bytes of an element of values, padding left out
    shape: Any  # None: null space, (): scalar
    maxshape: Any
    layout: Any
    chunk: Any
    filters: Any
    fill: tuple  # (how it is defined, its bytes)
    fill_time: int
    values: bytes
    chunks_stored: Any = None
    stored: int = 0


@dataclasses.dataclass
class Group:
    attrs: dict
    order: tuple
    members: list  # in creation order where that is tracked, else by name


@dataclasses.dataclass
class Other:
    """Anything else, in words: a link that is not hard, a second hard link, a named type."""
    what: tuple


# --- types ---------------------------------------------------------------------------------------------------

def type_desc(t):
    """A type as nested tuples, equal if and only if the types are the same on disk."""
    kind = t.get_class()
    if kind == h5t.INTEGER:
        return ("int", t.get_size(), t.get_order(), t.get_sign(), t.get_precision(), t.get_offset(), t.get_pad())
    if kind == h5t.FLOAT:
        return ("float", t.get_size(), t.get_order(), t.get_precision(), t.get_offset(), t.get_fields(),
                t.get_ebias(), t.get_norm(), t.get_inpad(), t.get_pad())
    if kind == h5t.STRING:
        size = "vlen" if t.is_variable_str() else t.get_size()
        return ("string", size, t.get_strpad(), t.get_cset())
    if kind == h5t.OPAQUE:
        return ("opaque", t.get_size(), t.get_tag())
    if kind == h5t.COMPOUND:
        return ("compound", t.get_size(), tuple(
            (t.get_member_name(i), t.get_member_offset(i), type_desc(t.get_member_type(i)))
            for i in range(t.get_nmembers())))
    if kind == h5t.ENUM:
        return ("enum", type_desc(t.get_super()), tuple(
            (t.get_member_name(i), t.get_member_value(i)) for i in range(t.get_nmembers())))
    if kind == h5t.ARRAY:
        return ("array", t.get_array_dims(), type_desc(t.get_super()))
    if kind == h5t.VLEN:
        return ("vlen", type_desc(t.get_super()))
    if kind == h5t.REFERENCE:
        return ("reference", "object" if t.equal(h5t.STD_REF_OBJ) else "region")
    return ("class", kind, t.get_size(), t.encode().hex())


def has_pointers(desc):
    """Whether stored bytes of the type are addresses (variable length, references), not values."""
    kind = desc[0]
    if kind == "compound":
        return any(has_pointers(member[2]) for member in desc[2])
    if kind == "array":
        return has_pointers(desc[2])
    return kind in ("vlen", "reference") or desc[:2] == ("string", "vlen")


# --- values --------------------------------------------------------------------------------------------------

def plain(file, value):
    """A value that holds strings, sequences or references, as comparable Python values; references by path."""
    if isinstance(value, h5r.RegionReference):
        return ("region", h5r.get_name(value, file.id)) if value else ("region", None)
    if isinstance(value, h5r.Reference):
        return ("ref", h5r.get_name(value, file.id)) if value else ("ref", None)
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, np.void) and value.dtype.names:
        return tuple((n, plain(file, value[n])) for n in value.dtype.names)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O" or value.dtype.names:
            return [value.shape, [plain(file, v) for v in value.ravel()]]
        return (value.shape, str(value.dtype), value.tobytes())
    if isinstance(value, h5py.Empty):
        return ("empty",)
    return (type(value).__name__, np.asarray(value).tobytes())


def packed(t):
    """The type without padding between members: padding has no value."""
    t = t.copy()
    if t.get_class() == h5t.COMPOUND:
        t.pack()
    return t


def describe_attributes(file, obj):
    attrs = {}
    for i in range(h5a.get_num_attrs(obj.id)):
        a = h5a.open(obj.id, index=i)
        t, space = a.get_type(), a.get_space()
        desc = type_desc(t)
        null = space.get_simple_extent_type() == h5s.NULL
        name = a.name.decode("utf-8", "surrogateescape")
        if null:
            value = None
        elif has_pointers(desc):
            value = plain(file, obj.attrs[name])
        else:
            raw = packed(t)
            array = np.zeros(space.shape, dtype=f"V{raw.get_size()}")
            a.read(array, mtype=raw)
            value = array.tobytes()
        attrs[name] = Attribute(desc, None if null else space.shape, value)
    return attrs


def read_bytes(dset, desc):
    """All elements' stored bytes; elements of a chunk never written and never filled are zeros."""
    if has_pointers(desc) or not dset.shape and dset.shape != ():
        return 0, b""
    raw = packed(dset.id.get_type())
    size = raw.get_size()
    count = int(np.prod(dset.shape, dtype=np.int64))
    if count == 0:
        return size, b""
    buffer = np.zeros(count * size, np.uint8)
    space = h5s.create_simple(dset.shape) if dset.shape else h5s.create(h5s.SCALAR)
    dset.id.read(space, h5s.ALL, buffer, mtype=raw)
    return size, buffer.tobytes()


def fill_value(dset, dcpl):
    defined = dcpl.fill_value_defined()
    if defined != h5d.FILL_VALUE_USER_DEFINED:
        return (defined, b"")
    try:
        value = np.zeros((), dset.dtype)
        dcpl.get_fill_value(value)
        return (defined, value.tobytes())
    except (TypeError, ValueError, OSError, RuntimeError):
        return (defined, None)  # h5py cannot convert some; never-written elements still show it


def describe_dataset(file, dset):
    dcpl, space, t = dset.id.get_create_plist(), dset.id.get_space(), dset.id.get_type()
    desc = type_desc(t)
    null = space.get_simple_extent_type() == h5s.NULL
    layout = LAYOUTS.get(dcpl.get_layout(), "virtual" if dcpl.get_layout() == h5d.VIRTUAL else "?")
    if layout == "contiguous" and dcpl.get_external_count():
        layout = "external"
    chunked = layout == "chunked"
    item, values = (0, b"") if null else read_bytes(dset, desc)
    return Dataset(
        attrs=describe_attributes(file, dset), order=(dcpl.get_attr_creation_order(),),
        type=desc, item=item, shape=None if null else dset.shape,
        maxshape=None if null else tuple(None if m == h5s.UNLIMITED else m for m in space.get_simple_extent_dims(True)),
        layout=layout, chunk=dcpl.get_chunk() if chunked else None,
        filters=tuple(dcpl.get_filter(i)[:3] for i in range(dcpl.get_nfilters())),
        fill=fill_value(dset, dcpl), fill_time=dcpl.get_fill_time(), values=values,
        chunks_stored=dset.id.get_num_chunks() if chunked else None, stored=dset.id.get_storage_size())


def describe_group(file, path, model, seen):
    group = file[path]
    plist = group.id.get_create_plist()
    order = (plist.get_link_creation_order(), plist.get_attr_creation_order())
    index = h5py.h5.INDEX_CRT_ORDER if order[0] & h5py.h5p.CRT_ORDER_TRACKED else h5py.h5.INDEX_NAME
    names = []
    group.id.links.iterate(names.append, idx_type=index)
    names = [n.decode("utf-8", "surrogateescape") for n in names]
    model[path] = Group(describe_attributes(file, group), order, names)
    for name in names:
        full = path.rstrip("/") + "/" + name
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            model[full] = Other((type(link).__name__, link.path, getattr(link, "filename", None)))
            continue
        obj = group[name]
        address = h5o.get_info(obj.id).addr
        if address in seen:
            model[full] = Other(("second hard link", seen[address]))
            continue
        seen[address] = full
        if isinstance(obj, h5py.Group):
            describe_group(file, full, model, seen)
        elif isinstance(obj, h5py.Dataset):
            model[full] = describe_dataset(file, obj)
        else:
            model[full] = Other(("named type", type_desc(obj.id)))


def describe(path):
    """{path: Group | Dataset | Other} of all that is in the file."""
    with h5py.File(path, "r") as file:
        model = {}
        describe_group(file, "/", model, {h5o.get_info(file["/"].id).addr: "/"})
        if file.userblock_size:
            model["(user block)"] = Other((file.userblock_size,))
        return model


# --- comparison ----------------------------------------------------------------------------------------------

def matches(expected, actual):
    """None, or why not. An expectation may be a rule: a function that returns a reason or None."""
    if callable(expected):
        return expected(actual)
    return None if expected == actual else f"{short(expected)} expected, is {short(actual)}"


def short(value):
    text = repr(value)
    return text if len(text) <= 120 else text[:110] + f"... ({len(text)})"


def first_difference(want, got, item, shape):
    """Where two equally long byte strings differ, as an index of the array and both elements."""
    a, b = np.frombuffer(want, np.uint8), np.frombuffer(got, np.uint8)
    different = np.flatnonzero(a != b)
    i = int(different[0]) // item
    index = tuple(map(int, np.unravel_index(i, shape))) if shape else ()
    count = len(np.unique(different // item))
    return (f"element {list(index)}: {want[i * item:(i + 1) * item].hex()} expected, is "
            f"{got[i * item:(i + 1) * item].hex()} ({count} elements differ)")


def compare_attributes(where, want, got, out):
    for name in sorted(set(want) | set(got)):
        if name not in got or name not in want:
            out.append(f"{where}@{name}: {'missing' if name not in got else 'not expected'}")
            continue
        for field in ("type", "shape", "value"):
            w, g = getattr(want[name], field), getattr(got[name], field)
            if w != g:
                out.append(f"{where}@{name}: {field}: {short(w)} expected, is {short(g)}")
                break


def compare_dataset(where, want, got, out):
    fields = ["type", "shape", "maxshape", "layout", "chunk", "filters", "fill", "fill_time", "order"]
    for field in fields:
        why = matches(getattr(want, field), getattr(got, field))
        if why:
            out.append(f"{where}: {field}: {why}")
    if callable(want.chunks_stored):
        why = want.chunks_stored(got)
        if why:
            out.append(f"{where}: {why}")
    if want.type == got.type and want.shape == got.shape and want.values != got.values:
        out.append(f"{where}: {first_difference(want.values, got.values, want.item, want.shape)}")


def differences(want, got):
    """What is not as expected, one line each, in the order of paths."""
    out = []
    for path in sorted(set(want) | set(got)):
        if path not in got or path not in want:
            out.append(f"{path}: {'missing' if path not in got else 'not expected'}")
            continue
        w, g = want[path], got[path]
        if type(w) is not type(g):
            out.append(f"{path}: {short(w)} expected, is {short(g)}")
            continue
        if isinstance(w, Other):
            if w != g:
                out.append(f"{path}: {w.what} expected, is {g.what}")
            continue
        compare_attributes(path, w.attrs, g.attrs, out)
        if isinstance(w, Dataset):
            compare_dataset(path, w, g, out)
        elif (w.order, w.members) != (g.order, g.members):
            out.append(f"{path}: order of members: {short((w.order, w.members))} expected, is {short((g.order, g.members))}")
    return out


def assert_model(want, path):
    found = differences(want, describe(path))
    if found:
        raise AssertionError(f"{os.path.basename(path)}: {len(found)} differences:\n    " + "\n    ".join(found[:12]))


def assert_same(a, b):
    """File b holds what file a holds: objects, types, layouts, filters, attributes, every bit of every value."""
    assert_model(describe(a), b)
