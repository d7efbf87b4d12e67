# SPDX-License-Identifier: BSD-3-Clause
"""The order of rows along the Hilbert curve and the tree of boxes, from docs/format.md sections 6 and 7 with numpy alone."""
import numpy as np

from h5vtest import check

RANK = np.array([[0, 1, 3, 2], [0, 3, 1, 2], [2, 3, 1, 0], [2, 1, 3, 0]], "u8")
NEXT = np.array([[1, 0, 3, 0], [0, 2, 1, 1], [2, 1, 2, 3], [3, 3, 0, 2]])


def cells(v, lo, hi):
    if not hi > lo:
        return np.zeros(len(v), "u8")
    return np.clip(np.floor((v - lo) / (hi - lo) * 2.0**32), 0, 2.0**32 - 1).astype("u8")


def keys(x, y, extent):
    cx, cy = cells(x, extent[0], extent[2]), cells(y, extent[1], extent[3])
    key, state = np.zeros(len(x), "u8"), np.zeros(len(x), int)
    for bit in range(31, -1, -1):
        q = (2 * (cx >> np.uint64(bit) & np.uint64(1)) + (cy >> np.uint64(bit) & np.uint64(1))).astype(int)
        key = key << np.uint64(2) | RANK[state, q]
        state = NEXT[state, q]
    return key


def order(boxes):
    """Rows in Hilbert order: those without a finite box last, equal ones as they are."""
    boxes = np.asarray(boxes, "f8").reshape(-1, 4)
    there = np.flatnonzero(np.isfinite(boxes).all(axis=1))
    rest = np.setdiff1d(np.arange(len(boxes)), there)
    if not len(there):
        return rest
    b = boxes[there]
    extent = [*b[:, :2].min(axis=0), *b[:, 2:].max(axis=0)]
    key = keys(b[:, 0] / 2 + b[:, 2] / 2, b[:, 1] / 2 + b[:, 3] / 2, extent)
    return np.concatenate([there[np.argsort(key, kind="stable")], rest])


def outward(boxes):
    with np.errstate(over="ignore"):
        near = boxes.astype("f4")
    low, high = near.copy(), near.copy()
    low[near > boxes] = np.nextafter(near[near > boxes], np.float32(-np.inf))
    high[near < boxes] = np.nextafter(near[near < boxes], np.float32(np.inf))
    return np.concatenate([low[:, :2], high[:, 2:]], axis=1)


def unions(boxes):
    """Of each 16 boxes."""
    starts = np.arange(0, len(boxes), 16)
    return np.concatenate([np.minimum.reduceat(boxes[:, :2], starts), np.maximum.reduceat(boxes[:, 2:], starts)], axis=1)


def tree(boxes, rows):
    """(nodes, levels) of the tree whose leaf k is row rows[k]."""
    leaves, levels, nodes = np.asarray(boxes, "f8").reshape(-1, 4)[rows], [0], []
    while len(leaves) > 1 or (len(leaves) == 1 and not nodes):
        leaves = unions(leaves)
        nodes.append(outward(leaves))
        levels.append(levels[-1] + len(leaves))
    return (np.concatenate(nodes) if nodes else np.zeros((0, 4), "f4")).astype("<f4"), np.array(levels, "<i8")


def put(layer, rows=None):
    """Give a layer a tree. rows: its leaves; None: the rows in order, and no index/rtree/rows."""
    boxes = layer["geometry/bbox"][()]
    nodes, levels = tree(boxes, np.arange(len(boxes)) if rows is None else rows)
    group = layer.require_group("index/rtree")
    group.create_dataset("nodes", data=nodes, maxshape=(None, 4), chunks=(max(len(nodes), 1), 4), compression="gzip")
    group.create_dataset("levels", data=levels)
    if rows is not None:
        group.create_dataset("rows", data=np.asarray(rows, "<i8"), maxshape=(None,), chunks=(1024,))


def check_tree(layer):
    """What h5vcat made must be the tree in Hilbert order, with rows only where they are not in that order."""
    boxes = layer["geometry/bbox"][()]
    group, rows = layer["index/rtree"], order(boxes)
    nodes, levels = tree(boxes, rows)
    for name, want in (("nodes", nodes), ("levels", levels)):
        got = group[name]
        check(got.dtype == want.dtype and got.shape == want.shape and got.maxshape[0] is None,
              f"index/rtree/{name}: {got.dtype} {got.shape} of {got.maxshape}, {want.dtype} {want.shape} expected")
        check((got[()] == want).all(), f"index/rtree/{name} differs at {np.argwhere(got[()] != want)[:3]}")
    sorted_rows = (rows == np.arange(len(rows))).all()
    check(("rows" in group) != sorted_rows, f"index/rtree/rows: sorted: {sorted_rows}, there: {'rows' in group}")
    if not sorted_rows:
        check(group["rows"].dtype == "<i8" and (group["rows"][()] == rows).all(), "index/rtree/rows: another order")


def touching(boxes, box):
    b = np.asarray(boxes)
    return np.flatnonzero((b[:, 0] <= box[2]) & (b[:, 2] >= box[0]) & (b[:, 1] <= box[3]) & (b[:, 3] >= box[1]))
