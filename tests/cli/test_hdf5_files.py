# SPDX-License-Identifier: BSD-3-Clause
"""Every .h5 file of HDF5's own tests goes through `h5vcat -o out.h5 FILE`, and twice the same file: equal to the last
object, type, attribute and value, or refused for a reason that docs/coverage.md lists.

The files are those of HDF5's source package: H5VEC_HDF5_SOURCE names its folder (scripts/setup.sh unpacks one where it
builds HDF5). Without it the test is skipped."""
import ast
import collections
import contextlib
import os
import re

import h5py

from h5model import Dataset, Other, describe, differences, plain
from h5oracle import concat
from h5vtest import SOURCE, MiB, Skip, check, main, run, test

ROOT = os.environ.get("H5VEC_HDF5_SOURCE", "")
COVERAGE = os.path.join(SOURCE, "docs/coverage.md")


def files():
    if not os.path.isdir(ROOT):
        raise Skip("H5VEC_HDF5_SOURCE does not name HDF5's source")
    found = [os.path.join(d, f) for d, _, names in os.walk(ROOT) for f in names if f.endswith(".h5")]
    check(len(found) > 100, f"only {len(found)} files below {ROOT}")
    return sorted(found)


def listed():
    """The reasons of docs/coverage.md: what a message must hold."""
    with open(COVERAGE, encoding="utf-8") as f:
        table = f.read().partition("## Files of HDF5's own tests")[2]
    return re.findall(r"^\| `([^`]+)` \|", table, re.M)


def apart(function, *args):
    """Call it in a process of its own: this h5py's HDF5 1.10 crashes on some of the damaged files."""
    inward, outward = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(outward, repr(function(*args)).encode())
        os._exit(0)
    os.close(outward)
    with os.fdopen(inward, "rb") as f:
        answer = f.read()
    os.waitpid(pid, 0)
    return ast.literal_eval(answer.decode()) if answer else "unreadable: h5py crashed"


def rows(path, name):
    with h5py.File(path) as f:
        value = f[name][()]
        return [plain(f, v) for v in value] if f[name].shape else [plain(f, value)]


def resolved(model, path):
    """External links' files by their real paths: a relative name differs where the folder does."""
    for n, o in model.items():
        if isinstance(o, Other) and o.what[0] == "ExternalLink":
            model[n] = Other((*o.what[:2], os.path.realpath(os.path.join(os.path.dirname(path), o.what[2]))))
    return model


def difference(path, out, times):
    """None, or how the output differs from so many times the input, as far as this h5py reads the input."""
    try:
        expected = concat([path] * times)
        pointers = [n for n, o in expected.items() if isinstance(o, Dataset) and not o.item and o.shape]
        want = {n: rows(path, n) * times for n in pointers}
    except Exception as e:
        return f"unreadable: h5py: {type(e).__name__}: {e}"
    actual = describe(out)
    for n in expected:
        if isinstance(expected[n], Dataset):
            expected[n].filters = expected[n].chunk = expected[n].layout = lambda _: None
            expected[n].stored = expected[n].chunks_stored = lambda _: None
    found = differences(resolved(expected, path), resolved(actual, out))
    found += [f"{n}: values" for n in pointers if rows(out, n) != want[n]]
    return "; ".join(found[:3]) or None


def too_large(path):
    """Whether some dataset has more than 64 MiB of values, which take this test too long."""
    sizes = [0]
    with contextlib.suppress(Exception), h5py.File(path) as f:
        f.visititems(lambda _, o: sizes.append(int(o.size) * o.dtype.itemsize) if isinstance(o, h5py.Dataset) and o.shape else None)
    return max(sizes) > 64 * MiB


def judge(path, folder, times, counts):
    if apart(too_large, path) is True:
        counts["too large"] += 1
        return None
    out = os.path.join(folder, "out/o.h5")
    r = run(["-o", out, *[path] * times], 1)
    name = os.path.relpath(path, ROOT)
    if r.code in (1, 3):
        counts["refused"] += 1
        lines = r.err.splitlines()
        check(len(lines) == 1 and lines[0].startswith("h5vcat: ") and not os.path.exists(out), f"{name}: {r.err}")
        return (name, lines[0].replace(path, "FILE"))
    check(r.code == 0, f"{name}: exit {r.code}: {r.err}")
    why = apart(difference, path, out, times)
    os.remove(out)
    if why and why.startswith("unreadable"):
        counts["not compared"] += 1
        print(f"   {name}: {why[:150]}")
    elif why:
        return (name, "DIFFERS: " + why)
    else:
        counts["equal"] += 1
    return None


def each(folder, times):
    counts, wrong, used, reasons = collections.Counter(), [], set(), listed()
    for path in files():
        verdict = judge(path, folder, times, counts)
        found = [r for r in reasons if verdict and r in verdict[1]]
        used.update(found[:1])
        if verdict and (verdict[1].startswith("DIFFERS") or not found):
            wrong.append(f"{verdict[0]}: {verdict[1]}")
    print(f"   {times} x: {dict(counts)}")
    check(not wrong, f"{len(wrong)} files:\n" + "\n".join(wrong))
    check(times > 1 or used == set(reasons), f"reasons that no file has: {set(reasons) - used}")


@test
def test_each_file(folder):
    each(folder, 1)


@test
def test_each_file_twice(folder):
    each(folder, 2)


if __name__ == "__main__":
    main()
