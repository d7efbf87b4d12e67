# SPDX-License-Identifier: BSD-3-Clause
"""The command line: help, versions, wrong usage, lists of inputs, outputs that exist, what goes to stdout and
stderr, --dry-run, --json, quiet and verbose runs."""
import os
import re

import h5py

import h5make
from h5model import assert_model, assert_same
from h5oracle import concat
from h5vtest import H5VCAT, H5VINFO, SOURCE, check, fails, main, merge, one_line, one_object, run, test

OPTIONS = ["-o", "-i", "--layer", "--on-bad", "--wkt-column", "--x", "--y", "--types", "--allow-nonfinite", "--force", "--buffer-size", "--chunk-size", "--write", "--compress", "--encoder", "--splice", "--shuffle",
           "--dry-run", "--verify", "--json", "--progress", "-q", "-v", "--help", "--version"]


def inputs_in(folder, count=3):
    paths = [f"{folder}/in{i}.h5" for i in range(count)]
    for i, path in enumerate(paths):
        with h5make.create(path) as f:
            h5make.put(f, "d", h5make.of("<i4"), (10 + i, 3), chunk=(4, 3), filters=("deflate:6",))
            h5make.put(f, "g/e", h5make.of("<f8"), (5,))
    return paths


@test
def test_help(folder):
    for ranks in (0, 1, 3):
        r = run(["--help"], ranks)
        check(r.code == 0 and r.err == "", f"--help: exit {r.code}, stderr {r.err!r}")
        missing = [o for o in OPTIONS if not re.search(r"(^|[\s,\[])" + re.escape(o) + r"\b", r.out)]
        check(not missing, f"--help does not list {missing}")
        check(r.out.count("--buffer-size") < 4 and len(r.out.splitlines()) < 120, "--help is printed by every rank")
    short = run(["-h"], 1)
    check(short.code == 0 and short.out and short.err == "", f"-h: exit {short.code}, stderr {short.err!r}")


@test
def test_manual_pages_have_every_option(folder):
    for command in (H5VCAT, H5VINFO):
        with open(f"{SOURCE}/man/{os.path.basename(command)}.1", encoding="utf-8") as f:
            page = f.read().replace("\\-", "-")
        options = re.findall(r"^ *(?:-\w, )?(--[\w-]+)", run(["--help"], 0, command=command).out, re.M)
        check(len(options) > 5, f"{command}: few options: {options}")
        missing = [o for o in options if not re.search(re.escape(o) + r"\b", page)]
        check(not missing, f"{command}: not in the manual page: {missing}")


@test
def test_version(folder):
    for command, ranks in ((H5VCAT, 0), (H5VCAT, 2), (H5VINFO, 0)):
        r = run(["--version"], ranks, command=command)
        check(r.code == 0 and r.err == "", f"exit {r.code}, stderr {r.err!r}")
        check(re.search(r"\b\d+\.\d+\.\d+\b", r.out) and len(r.out.splitlines()) < 6, f"version: {r.out!r}")


@test
def test_wrong_usage(folder):
    a, = inputs_in(folder, 1)
    out = f"{folder}/out/o.h5"
    cases = [[], [a], ["-o", out], ["-o"], ["--no-such-option", "-o", out, a], ["-o", out, "--write=sideways", a],
             ["-o", out, "--compress=zip", a], ["-o", out, "--compress=deflate:0", a], ["-o", out, "--compress=deflate:13", a],
             ["-o", out, "--compress=deflate:x", a], ["-o", out, "--write=collective", "--compress=deflate:10", a],
             ["-o", out, "--encoder=gzip", a], ["-o", out, "--write=collective", "--encoder=libdeflate", "--encoder=none", a],
             ["-o", out, "--shuffle=maybe", a], ["-o", out, "--splice=often", a], ["-o", out, "--buffer-size=lots", a], ["-o", out, "--buffer-size=-1", a],
             ["-o", out, "--buffer-size=64MiBs", a], ["-o", out, "--buffer-size=99999999999999999999", a],
             ["-o", out, "--chunk-size=0", a], ["-o", out, "--chunk-size=1.5.2", a], ["-o", out, "--chunk-size", a],
             ["-o", out, "--layer=", a], ["-o", out, "--layer=a//b", a], ["-o", out, "--force=yes", a]]
    accepted = []
    for args in cases:
        for ranks in (1, 3):
            r = run(args, ranks)
            try:
                check(r.code == 2 and r.out == "", f"exit {r.code}, stdout {r.out!r}")
                lines = r.err.splitlines()
                check(lines and lines[0].startswith("h5vcat: ") and len(lines) <= 2, f"stderr:\n{r.err}")
                check("--help" in r.err, f"no hint at --help:\n{r.err}")
            except AssertionError as e:
                accepted.append(f"{' '.join(args[2:] or args)} ({ranks} ranks): {e}")
            check(not os.listdir(f"{folder}/out"), f"{args}: something was written")
    check(not accepted, "\n    ".join([f"{len(accepted)} of {2 * len(cases)}:", *accepted]))


@test
def test_sizes_are_parsed(folder):
    a, b = inputs_in(folder, 2)
    for k, size in enumerate(("64MiB", "64M", "67108864", "65536KiB", "1GiB")):
        merge([a, b], f"{folder}/out/{k}.h5", 1, f"--buffer-size={size}", "--chunk-size", "1MiB")
        assert_same(f"{folder}/out/0.h5", f"{folder}/out/{k}.h5")


@test
def test_output_exists(folder):
    inputs = inputs_in(folder)
    out = f"{folder}/out/o.h5"
    with open(out, "w") as f:
        f.write("precious")
    fails(inputs, out, 2, out, "--force")
    check(open(out).read() == "precious", "the existing file was touched")
    merge(inputs, out, 2, "--force")
    assert_model(concat(inputs), out)
    fails(inputs, out, 2, out, ranks=(2,))
    with open(f"{folder}/bad.h5", "w") as f:
        f.write("not HDF5, not text either \x00\x01")
    fails([*inputs, f"{folder}/bad.h5"], out, 1, "bad.h5", options=("--force",), ranks=(2,))
    assert_model(concat(inputs), out)  # a failed run with --force leaves the old file


@test
def test_output_among_the_inputs(folder):
    """Merging a file into itself must not destroy it."""
    inputs = inputs_in(folder, 2)
    before = open(inputs[0], "rb").read()
    r = run(["-o", inputs[0], "--force", *inputs], 2)
    if r.code == 0:
        check(h5py.File(inputs[0])["d"].shape == (21, 3), "merged into itself, but wrong")
    else:
        one_line(r, "in0.h5")
        check(open(inputs[0], "rb").read() == before, "the input was damaged")


@test
def test_lists(folder):
    inputs = inputs_in(folder)
    expected = concat(inputs)
    text = "".join(p + "\n" for p in inputs)
    with open(f"{folder}/list", "w") as f:
        f.write(text)
    for ranks in (1, 3):
        merge([], f"{folder}/out/file{ranks}.h5", ranks, "-i", f"{folder}/list")
        assert_model(expected, f"{folder}/out/file{ranks}.h5")
        merge([], f"{folder}/out/stdin{ranks}.h5", ranks, "-i", "-", stdin=text.encode())
        assert_model(expected, f"{folder}/out/stdin{ranks}.h5")
    merge([], f"{folder}/out/crlf.h5", 1, "-i", "-", stdin=text.rstrip("\n").encode())  # no newline at the end
    assert_model(expected, f"{folder}/out/crlf.h5")
    r = run(["-o", f"{folder}/out/none.h5", "-i", f"{folder}/no-such-list"], 2)
    check(r.code in (1, 2), f"exit {r.code}")
    check("no-such-list" in r.err and r.err.startswith("h5vcat: "), r.err)
    r = run(["-o", f"{folder}/out/none.h5", "-i", "-"], 2, stdin=b"")
    check(r.code == 2 and r.err.startswith("h5vcat: "), f"an empty list: exit {r.code} {r.err}")
    check(not os.path.exists(f"{folder}/out/none.h5"), "output from no inputs")


@test
def test_relative_names(folder):
    inputs_in(folder, 2)
    r = run(["-o", "o.h5", "../in0.h5", "../in1.h5"], 2, cwd=f"{folder}/out")
    check(r.code == 0, r.err)
    check(os.listdir(f"{folder}/out") == ["o.h5"], f"{os.listdir(f'{folder}/out')}")
    assert_model(concat([f"{folder}/in0.h5", f"{folder}/in1.h5"]), f"{folder}/out/o.h5")
    os.rename(f"{folder}/in0.h5", f"{folder}/-o x.h5")  # only after --
    r = run(["-o", "p.h5", "--", "-o x.h5", "in1.h5"], 2, cwd=folder)
    check(r.code == 0, r.err)
    assert_same(f"{folder}/out/o.h5", f"{folder}/p.h5")


@test
def test_quiet_and_verbose(folder):
    inputs = inputs_in(folder)
    err = merge(inputs, f"{folder}/out/q.h5", 2, "-q")
    check(err == "", f"-q is not quiet: {err!r}")
    verbose = merge(inputs, f"{folder}/out/v.h5", 2, "-v")
    check(verbose, "-v says nothing")
    check("\r" not in merge(inputs, f"{folder}/out/n.h5", 2), "progress although stderr is no terminal")
    merge(inputs, f"{folder}/out/p.h5", 2, "--progress")
    fails([inputs[0], f"{folder}/missing.h5"], f"{folder}/out/f.h5", 1, "missing.h5", options=("-q",), ranks=(2,))


@test
def test_dry_run(folder):
    inputs = inputs_in(folder)
    out = f"{folder}/out/o.h5"
    for ranks in (1, 3):
        r = run(["--dry-run", "-o", out, *inputs], ranks)
        check(r.code == 0, f"exit {r.code}: {r.err}")
        check("/d" in r.out and "/g/e" in r.out and "33" in r.out, f"the plan does not name datasets and rows:\n{r.out}")
        check(os.listdir(f"{folder}/out") == [], f"--dry-run wrote {os.listdir(f'{folder}/out')}")
    r = run(["--dry-run", "--json", "-o", out, *inputs], 2)
    check(r.code == 0, r.err)
    one_object(r.out)
    check(os.listdir(f"{folder}/out") == [], "--dry-run --json wrote")
    with h5py.File(inputs[1], "r+") as f:
        del f["d"]
    r = run(["--dry-run", "-o", out, *inputs], 2)
    check(r.code == 3, f"a plan of inputs that do not fit: exit {r.code}")
    one_line(r, "in1.h5", "/d")


@test
def test_json(folder):
    inputs = inputs_in(folder)
    for ranks in (1, 3):
        out = f"{folder}/out/{ranks}.h5"
        r = run(["--json", "-o", out, *inputs], ranks)
        check(r.code == 0, f"exit {r.code}: {r.err}")
        one_object(r.out)
        assert_model(concat(inputs), out)
    r = run(["--json", "-o", f"{folder}/out/f.h5", *inputs, f"{folder}/missing.h5"], 2)
    check(r.code == 1, f"exit {r.code}")
    one_line(r, "missing.h5")


@test
def test_verify(folder):
    inputs = inputs_in(folder)
    for ranks in (1, 2, 3):
        for write in ("direct", "collective"):
            out = f"{folder}/out/{write}{ranks}.h5"
            merge(inputs, out, ranks, "--verify", f"--write={write}")
            assert_model(concat(inputs), out)


@test
def test_output_is_not_a_surprise(folder):
    """Mode as other programs make files; one file, no link back to the temporary name."""
    inputs = inputs_in(folder, 2)
    out = f"{folder}/out/o.h5"
    old = os.umask(0o022)
    try:
        merge(inputs, out, 2)
    finally:
        os.umask(old)
    info = os.stat(out)
    check(info.st_nlink == 1, f"{info.st_nlink} links")
    check(info.st_mode & 0o777 == 0o644, f"mode {info.st_mode & 0o777:o}")


if __name__ == "__main__":
    main(needs=(H5VCAT, H5VINFO))
