# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests of layer/ share: layers made from text by make_layer, and h5vinfo. Runner, geometries and the
row-by-row check of a layer come from tests/cli."""
import csv
import io
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import geo  # noqa: E402
from h5vtest import H5VINFO, Result, check  # noqa: E402

MAKE_LAYER = os.environ.get("H5VEC_MAKE_LAYER", "make_layer")


def command(name, *args, timeout=120, **options):
    p = subprocess.run([name, *map(str, args)], capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, **options)
    return Result(p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))


def h5vinfo(*args, **options):
    return command(H5VINFO, *args, **options)


def make_layer(folder, text, name="layer", chunk=0, deflate=6, batch=1 << 20, out="out.h5"):
    """Text as a file with a layer; returns its path."""
    source, path = f"{folder}/text", f"{folder}/{out}"
    with open(source, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    r = command(MAKE_LAYER, source, path, name, chunk, deflate, batch)
    check(r.code == 0 and not r.err, f"make_layer: exit {r.code} {r.err}")
    return path


def csv_text(rows, columns, rng):
    """RFC 4180 with the geometry last; None is an empty field."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\r\n")
    out.writerow([*columns, "WKT"])
    for i, row in enumerate(rows):
        out.writerow([columns[c][i].decode() if columns[c][i] is not None else "" for c in columns] +
                     ["" if row is None else row.wkt(rng)])
    return text.getvalue()


def sample(count, seed):
    """Rows with nulls, and columns, one of them with missing values."""
    rng = random.Random(seed)
    rows = [None if rng.random() < 0.1 else geo.random_geometry(rng) for _ in range(count)]
    words = ["plain", "with, comma", 'with "quotes"', "two\nlines", "ünïcødé"]
    columns = {"id": [str(i).encode() for i in range(count)],
               "name": [None if rng.random() < 0.2 else rng.choice(words).encode() for _ in range(count)]}
    return rows, columns, rng


def clean(path, name="layer"):
    r = h5vinfo("--check", path)
    check(r.code == 0 and not r.err and f":/{name}: ok" in r.out, f"h5vinfo --check: exit {r.code}\n{r.out}{r.err}")
