#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the CSV files of this folder from a shapefile of countries: one file per continent, with a WKT column.

    apt-get download python3-geopandas && dpkg -x python3-geopandas_0.12*.deb x
    ./extract.py x/usr/lib/python3/dist-packages/geopandas/datasets/naturalearth_lowres/naturalearth_lowres.shp

Needs only Python: the shapefile's polygons and its dBASE table are read here (the format is ESRI's white paper of
1998). A part that runs clockwise is an outer ring, the others are holes of the outer ring before them that holds
their first point. Coordinates are written as the shortest digits that read back to the same double.
"""
import csv
import os
import struct
import sys

TEXTS = ["name", "iso_a3"]
NUMBERS = ["pop_est", "gdp_md_est"]


def shapes(path):
    """Yields each record of a polygon .shp as a list of rings, a ring being a list of points; None for a null."""
    data = open(path, "rb").read()
    at = 100
    while at < len(data):
        words, = struct.unpack_from(">i", data, at + 4)
        body, at = at + 8, at + 8 + 2 * words
        kind, = struct.unpack_from("<i", data, body)
        if kind == 0:
            yield None
            continue
        assert kind == 5, f"shape type {kind} is not polygon"
        parts, points = struct.unpack_from("<ii", data, body + 36)
        first = [*struct.unpack_from(f"<{parts}i", data, body + 44), points]
        flat = struct.unpack_from(f"<{2 * points}d", data, body + 44 + 4 * parts)
        yield [list(zip(flat[2 * a:2 * b:2], flat[2 * a + 1:2 * b:2])) for a, b in zip(first, first[1:])]


def table(path, encoding):
    """Yields each record of a .dbf as a dictionary of stripped texts."""
    data = open(path, "rb").read()
    rows, header, width = struct.unpack_from("<IHH", data, 4)
    fields = [(data[i:i + 11].split(b"\0")[0].decode("ascii"), data[i + 16])
              for i in range(32, header - 1, 32)]
    for row in range(rows):
        at = header + row * width + 1
        record = {}
        for name, size in fields:
            record[name] = data[at:at + size].decode(encoding).strip()
            at += size
        yield record


def twice_area(ring):
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(ring, ring[1:]))


def holds(ring, point):
    x, y = point
    inside = False
    for (x0, y0), (x1, y1) in zip(ring, ring[1:]):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
            inside = not inside
    return inside


def polygons(rings):
    """Groups rings into polygons: [outer, hole...]."""
    grouped = []
    for ring in rings:
        owner = None
        if twice_area(ring) > 0:  # anticlockwise: a hole
            owner = next((p for p in reversed(grouped) if holds(p[0], ring[0])), None)
        if owner is None:
            grouped.append([ring])
        else:
            owner.append(ring)
    return grouped


def number(value):
    return repr(int(value) if value == int(value) else value)


def wkt(rings):
    if rings is None:
        return ""
    texts = ["(" + ",".join("(" + ",".join(f"{number(x)} {number(y)}" for x, y in ring) + ")" for ring in polygon) + ")"
             for polygon in polygons(rings)]
    return "POLYGON " + texts[0] if len(texts) == 1 else "MULTIPOLYGON (" + ",".join(texts) + ")"


def main():
    base = os.path.splitext(sys.argv[1])[0]
    folder = os.path.dirname(os.path.abspath(__file__))
    encoding = open(base + ".cpg").read().strip()
    continents = {}
    for rings, record in zip(shapes(base + ".shp"), table(base + ".dbf", encoding), strict=True):
        row = [record[c] for c in TEXTS] + [number(float(record[c])) for c in NUMBERS] + [wkt(rings)]
        continents.setdefault(record["continent"], []).append(row)
    for continent, rows in sorted(continents.items()):
        name = continent.lower().replace(" (open ocean)", "").replace(" ", "_") + ".csv"
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(TEXTS + NUMBERS + ["WKT"])
            writer.writerows(sorted(rows))
        print(f"{name}: {len(rows)} countries")


if __name__ == "__main__":
    main()
