# SPDX-License-Identifier: BSD-3-Clause
"""Shapefiles byte by byte, from ESRI's description: sound ones, and ones that no program would write."""
import struct


def header(kind, size):
    return struct.pack(">7i", 9994, 0, 0, 0, 0, 0, size // 2) + struct.pack("<2i8d", 1000, kind, *[0.0] * 8)


def files(kind, records):
    """.shp and .shx of records, which are bytes."""
    shp = shx = b""
    for number, record in enumerate(records, 1):
        shx += struct.pack(">2i", (100 + len(shp)) // 2, len(record) // 2)
        shp += struct.pack(">2i", number, len(record) // 2) + record
    return header(kind, 100 + len(shp)) + shp, header(kind, 100 + len(shx)) + shx


def null():
    return struct.pack("<i", 0)


def point(x, y, *more, kind=1):
    return struct.pack("<i2d", kind, x, y) + b"".join(struct.pack("<d", v) for v in more)


def extras(*lists):
    return b"".join(struct.pack("<2d", 0, 0) + struct.pack(f"<{len(v)}d", *v) for v in lists if v is not None)


def multipoint(points, z=None, m=None, kind=8):
    body = b"".join(struct.pack("<2d", *p) for p in points)
    return struct.pack("<i4di", kind, 0, 0, 0, 0, len(points)) + body + extras(z, m)


def parts(lists, z=None, m=None, kind=5):
    """A polyline (3) or polygon (5): lists of points."""
    starts = [sum(map(len, lists[:i])) for i in range(len(lists))]
    points = [p for part in lists for p in part]
    return (struct.pack("<i4d2i", kind, 0, 0, 0, 0, len(lists), len(points)) + struct.pack(f"<{len(starts)}i", *starts) +
            b"".join(struct.pack("<2d", *p) for p in points) + extras(z, m))


def dbf(fields, rows, language=0, count=None):
    """fields: (name, type, width, decimals); rows: lists of bytes, or None for a deleted record."""
    width = 1 + sum(f[2] for f in fields)
    head = struct.pack("<4BIHH", 3, 120, 1, 1, len(rows) if count is None else count, 33 + 32 * len(fields), width)
    head += bytes(17) + bytes([language]) + bytes(2)
    for name, kind, size, decimals in fields:
        head += struct.pack("<11sc4x2B14x", name, kind, size, decimals)
    body = b""
    for row in rows:
        body += b" " if row is not None else b"*"
        for (_, kind, size, _), value in zip(fields, row or [b""] * len(fields)):
            body += value.ljust(size) if kind == b"C" else value.rjust(size)
    return head + b"\r" + body + b"\x1a"


def square(x, y, size, clockwise=True):
    ring = [(x, y), (x, y + size), (x + size, y + size), (x + size, y), (x, y)]
    return ring if clockwise else ring[::-1]


def write(stem, shp, shx=None, dbf=None, cpg=None, prj=None, name=".shp"):
    for extension, content in ((name, shp), (".shx", shx), (".dbf", dbf), (".cpg", cpg), (".prj", prj)):
        if content is not None:
            with open(stem + extension, "wb") as f:
                f.write(content)
    return stem + name
