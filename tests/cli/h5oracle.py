# SPDX-License-Identifier: BSD-3-Clause
"""What h5vcat must make of its inputs, computed with h5py and numpy from the documented rules alone: first
dimensions concatenated in order of the inputs, properties from the first input with rows, attributes from the
first input, the chunk rule, unlimited if any input is."""
import copy
import math

from h5model import Dataset, describe
from h5vtest import KiB, MiB

KEPT_CHUNK = 256 * KiB
COMPACT_LIMIT = 65520  # bytes of a compact dataset: its header message holds no more


def concat(paths, chunk_size=None):
    """The model (see h5model) of the merge of these files. chunk_size: --chunk-size, else the usual aims."""
    models = [describe(p) for p in paths]
    result = copy.copy(models[0])
    for path, obj in models[0].items():
        if isinstance(obj, Dataset):
            result[path] = concat_dataset([m[path] for m in models], chunk_size)
    return result


def concat_dataset(parts, chunk_size):
    if not parts[0].shape:  # scalar or null space: equal in all
        return parts[0]
    rows = sum(p.shape[0] for p in parts)
    filled = [p for p in parts if p.shape[0]] or parts[:1]
    first = filled[0]
    shape = (rows, *first.shape[1:])
    out = copy.copy(first)
    out.attrs, out.order, out.shape = parts[0].attrs, parts[0].order, shape
    out.values = b"".join(p.values for p in parts)
    out.maxshape = maxshape_rule(parts, shape)
    extendible = any(m != s for p in parts for m, s in zip(p.maxshape, p.shape))
    out.layout = layout_rule(first, rows, len(out.values), extendible)
    out.chunk = chunk_rule(filled, first, shape, chunk_size)
    out.chunks_stored = no_storage if rows == 0 else None
    return out


def maxshape_rule(parts, shape):
    def rule(actual):
        for k, size in enumerate(shape):
            maxima = {p.maxshape[k] for p in parts}
            if None in maxima:
                good = actual[k] is None
            elif all(p.maxshape[k] == p.shape[k] for p in parts):
                good = actual[k] == size
            else:
                good = actual[k] is None or actual[k] >= size
            if not good:
                return f"{actual} of shape {shape}, inputs {[p.maxshape for p in parts]}"
        return None
    return rule


def layout_rule(first, rows, size, extendible):
    if first.layout == "chunked" and rows:
        allowed = ["chunked"]
    elif extendible:
        allowed = ["chunked"]
    elif rows == 0:
        allowed = [first.layout, "contiguous", "compact"]
    elif first.layout == "compact":
        allowed = ["compact"] if size <= COMPACT_LIMIT else ["contiguous", "chunked"]
    else:
        allowed = [first.layout]
    return lambda actual: None if actual in allowed else f"{actual}, {' or '.join(allowed)} expected"


def chunk_rule(filled, first, shape, chunk_size):
    size, trailing = first.item, math.prod(shape[1:])
    size = first.type[1] if first.type[0] == "compound" else size
    aim = chunk_size or (MiB if trailing == 1 else 4 * MiB)
    agreed = {p.chunk for p in filled}
    kept = agreed.pop() if len(agreed) == 1 else None
    if kept and (math.prod(kept) * size < KEPT_CHUNK or chunk_size):
        kept = None

    def rule(actual):
        if actual is None or shape[0] == 0:
            return None
        if kept:
            clipped = tuple(min(c, max(1, s)) for c, s in zip(kept, shape))
            whole = tuple(c if m is None else k for c, m, k in zip(kept, first.maxshape, clipped))
            return None if actual in (kept, clipped, whole) else f"{actual}, {kept} kept expected"
        bytes_, data = math.prod(actual) * size, math.prod(shape) * size
        if any(a > max(1, s) for a, s in zip(actual, shape)):
            return f"{actual} is larger than the data {shape}"
        if bytes_ > aim and actual[0] > 1:
            return f"{actual}: {bytes_} bytes, aim {aim}"
        if bytes_ < min(aim, data) / 2 and actual[0] < shape[0]:
            return f"{actual}: {bytes_} bytes of {data}, aim {aim}"
        return None
    return rule


def no_storage(actual):
    return f"{actual.chunks_stored} chunks, {actual.stored} bytes stored for no rows" \
        if actual.chunks_stored or actual.stored else None
