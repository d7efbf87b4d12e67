# SPDX-License-Identifier: BSD-3-Clause
"""One text read by many ranks: whatever the ranks' borders fall on, the layer is the same, and so is the message."""
import json
import random

import geo
from geo import G, check_layer, csv_file, some_rows, wkt_file, write
from h5vtest import H5VCAT, H5VINFO, check, main, merge, run, test

RANKS = (1, 2, 5)


def everywhere(folder, path, rows, columns=None, ranks=RANKS, options=()):
    for n in ranks:
        out = f"{folder}/out/{n}.h5"
        merge([path], out, n, "--force", *options)
        check_layer(out, "layer", rows, columns)


def message(folder, path, ranks):
    r = run(["-o", f"{folder}/out/o.h5", path], ranks, command=H5VCAT)
    check(r.code == 1 and r.err.count("\n") == 1, f"{ranks} ranks: exit {r.code}\n{r.err}")
    return r.err


@test
def test_borders_on_every_kind_of_line(folder):
    rows, rng = some_rows(60, 1)
    for name, text in (("plain", "\n"), ("crlf", "\r\n"), ("blank lines", "\n\n \n")):
        everywhere(folder, wkt_file(f"{folder}/{name}.wkt", rows, rng, end=text), rows, ranks=(2, 5))
    for prefix in ("\ufeff", "\n\n\n", "\ufeff\r\n"):
        path = write(f"{folder}/prefix.wkt", prefix + "\n".join(r.wkt(rng) for r in rows))
        everywhere(folder, path, rows, ranks=(3, 8))


@test
def test_few_records_for_many_ranks(folder):
    for count in range(4):
        rows, rng = some_rows(count, count)
        for end in ("\n", ""):
            path = write(f"{folder}/a.wkt", "\n".join(r.wkt(rng) for r in rows) + (end if count else ""))
            everywhere(folder, path, rows, ranks=(8,))
        columns = {"a": [b"x"] * count, "b": [b"\n,\n"] * count}
        everywhere(folder, csv_file(f"{folder}/a.csv", rows, columns, rng), rows, columns, ranks=(8,))


@test
def test_newlines_and_quotes_in_cells(folder):
    """Cells that look like records, of every length: half of all newlines are inside quotes."""
    rng = random.Random(7)
    rows = [geo.random_geometry(rng) for _ in range(400)]
    parts = ["\n", '"', '""', ",", "POINT (1 2)", '1,"POINT (3 4)",x\n', "\r\n", "é", '\n"\n', " "]
    cells = ["".join(rng.choice(parts) for _ in range(rng.choice((1, 3, 20)))) for _ in rows]
    columns = {"id": list(range(400)), "text": [c.encode() for c in cells]}
    everywhere(folder, csv_file(f"{folder}/a.csv", rows, columns, rng), rows, columns)


@test
def test_records_longer_than_a_share(folder):
    """A geometry, and a cell of newlines and quotes, over several ranks' blocks."""
    rng = random.Random(3)
    line = G(2, 0, [(float(i), rng.random()) for i in range(20000)])
    rows = [G(1, 0, (1.0, 2.0)), line, G(1, 0, (3.0, 4.0)), line, G(1, 0, (5.0, 6.0))]
    everywhere(folder, wkt_file(f"{folder}/a.wkt", rows, rng), rows)
    cell = ('line\n"' * 50000).encode()
    columns = {"id": [b"a", b"b", b"c", b"d", b"e"], "text": [b"x", cell, b"\n", cell, b"y"]}
    everywhere(folder, csv_file(f"{folder}/a.csv", rows, columns, rng), rows, columns)


@test
def test_several_texts_and_a_small_buffer(folder):
    """Borders in different files; batches of a few records."""
    parts = [some_rows(n, n) for n in (300, 1, 200, 0, 500)]
    paths = [wkt_file(f"{folder}/{i}.wkt", rows, rng) for i, (rows, rng) in enumerate(parts)]
    rows = [r for part in parts for r in part[0]]
    for n in RANKS:
        merge(paths, f"{folder}/out/{n}.h5", n, "--buffer-size=8MiB", "--chunk-size=64KiB")
        check_layer(f"{folder}/out/{n}.h5", "layer", rows)


@test
def test_srids(folder):
    rows, rng = some_rows(50, 5)
    path = wkt_file(f"{folder}/a.wkt", rows, rng, prefix="SRID=4326;")
    for n in RANKS:
        merge([path], f"{folder}/out/{n}.h5", n)
        check_layer(f"{folder}/out/{n}.h5", "layer", rows, crs=4326)
    text = "".join(f"SRID={3857 if i == 77 else 4326};POINT ({i} 0)\n" for i in range(100))
    path = write(f"{folder}/bad.wkt", text)
    for n in RANKS:
        check("line 78" in message(folder, path, n), f"{n} ranks: {message(folder, path, n)}")


@test
def test_the_same_message_at_every_rank_count(folder):
    """A malformed record anywhere: file, line and column are the file's."""
    good = ["POINT (%d 7)" % i for i in range(200)]
    for at in (0, 1, 99, 100, 199):
        lines = list(good)
        lines[at] = "POINT (1 2, 3)" if at else "POINT (1 2) 3"
        path = write(f"{folder}/bad.wkt", "\n".join(lines) + "\n")
        texts = {message(folder, path, n) for n in (1, 3)}
        check(len(texts) == 1 and f"line {at + 1}, column" in min(texts), f"line {at + 1}: {texts}")
    for at in (0, 60, 133):
        cells = ['%d,"POINT (%d 7)","a\nb ""c"""' % (i, i) for i in range(134)]
        cells[at] = '%d,"POINT (1)",x' % at
        path = write(f"{folder}/bad.csv", "id,WKT,text\n" + "\n".join(cells) + "\n")
        texts = {message(folder, path, n) for n in (1, 3)}
        check(len(texts) == 1 and f"line {2 + 2 * at}, column" in min(texts), f"record {at}: {texts}")


@test
def test_a_quote_that_is_never_closed(folder):
    cells = ['%d,"POINT (%d 7)","a\nb"' % (i, i) for i in range(100)]
    for at in (5, 50, 99):
        broken = list(cells)
        broken[at] = '%d,"POINT (1 2)","a' % at
        path = write(f"{folder}/bad.csv", "id,WKT,text\n" + "\n".join(broken) + "\n")
        for n in RANKS:
            check("bad.csv" in message(folder, path, n), "the file is not named")


def bad_lines(folder):
    """WKT with malformed lines among good ones: (path, rows with None for bad ones, numbers of bad lines)."""
    rows, rng = some_rows(120, 9, dim=0)
    lines, kept, bad = [], [], []
    for i, r in enumerate(rows):
        if i % 7 == 0:  # the first line, too: every rank looks at it
            lines.append(("POINT (1", "POINT (1 2) x", "CIRCLE (1 2)", "POINT (1 2 3 4 5)", "SRID=1;POINT (1 2)")[i % 5])
            kept.append(None)
            bad.append(i + 1)
        else:
            lines.append(r.wkt(rng))
            kept.append(r)
    return write(f"{folder}/bad.wkt", "\n".join(lines) + "\n"), kept, bad


@test
def test_bad_records_skipped_or_null(folder):
    """--on-bad: the rows that are left, the count, the list with the file's line numbers, exit status 4."""
    path, rows, bad = bad_lines(folder)
    for how in ("skip", "null"):
        want = [r for r in rows if r is not None] if how == "skip" else rows
        for n in RANKS:
            out = f"{folder}/out/{how}{n}.h5"
            r = run(["--json", f"--on-bad={how}", "-o", out, path], n, command=H5VCAT)
            check(r.code == 4, f"{n} ranks: exit {r.code}\n{r.err}")
            check(r.err.count("\n") == 1 and f"{len(bad)} malformed records" in r.err, r.err)
            report = json.loads(r.out)
            check(report["left_out"] == len(bad), f"{report['left_out']} left out")
            for line, text in zip(bad, report["left_out_records"], strict=True):
                check(f"bad.wkt: line {line}, column" in text, f"line {line}: {text}")
            check_layer(out, "layer", want)
    r = run(["--on-bad=skip", "-v", "-o", f"{folder}/out/v.h5", path], 2, command=H5VCAT)
    check(r.code == 4 and all(f"line {line}," in r.err for line in bad), r.err)
    message(folder, path, 2)


@test
def test_bad_records_of_csv(folder):
    """Also where quotes are malformed; null keeps the columns that can be told apart."""
    text = 'id,WKT,name\n1,POINT (1 2),a\n2,POINT (1,b\n3,"POINT (5 6)","c\nd"\n4,POINT (7 8)\n5,POINT (1 2),x"y\n6,POINT (3 4),e\n'
    path = write(f"{folder}/bad.csv", text)
    point = lambda x, y: G(1, 0, (float(x), float(y)))
    skip = ([point(1, 2), point(5, 6), point(3, 4)], {"id": [1, 3, 6], "name": [b"a", b"c\nd", b"e"]})
    null = ([point(1, 2), None, point(5, 6), None, None, point(3, 4)],
            {"id": [1, 2, 3, None, None, 6], "name": [b"a", b"b", b"c\nd", None, None, b"e"]})
    for how, (rows, columns) in (("skip", skip), ("null", null)):
        for n in (1, 2, 5):
            out = f"{folder}/out/{how}{n}.h5"
            r = run(["--json", f"--on-bad={how}", "-o", out, path], n, command=H5VCAT)
            check(r.code == 4 and json.loads(r.out)["left_out"] == 3, f"{n} ranks: exit {r.code}\n{r.out}{r.err}")
            places = [t.split("line ")[1].split(",")[0] for t in json.loads(r.out)["left_out_records"]]
            check(places == ["3", "6", "7"], str(places))
            check_layer(out, "layer", rows, columns)


@test
def test_nothing_is_bad(folder):
    rows, rng = some_rows(30, 2)
    path = wkt_file(f"{folder}/a.wkt", rows, rng)
    for how in ("stop", "skip", "null"):
        merge([path], f"{folder}/out/{how}.h5", 3, f"--on-bad={how}")
        check_layer(f"{folder}/out/{how}.h5", "layer", rows)


if __name__ == "__main__":
    main(needs=(H5VCAT, H5VINFO))
