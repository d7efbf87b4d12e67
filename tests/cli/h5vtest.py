# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the commands share: running h5vcat under mpiexec with a hard timeout, what every success
and every failure must look like, scratch folders, and a small runner that counts what ran.

A test script decorates functions with @test and ends with main(). Exit 0: all passed; 1: something failed;
77: everything was skipped. Names given as arguments pick tests.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid
from typing import NamedTuple

import h5py

SOURCE = os.environ.get("H5VEC_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BIN = os.environ.get("H5VEC_BIN", os.path.join(SOURCE, "build/release/bin"))
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec")
HDF5_BIN = os.environ.get("H5VEC_HDF5_BIN", "")
H5VCAT = os.path.join(BIN, "h5vcat")
H5VINFO = os.path.join(BIN, "h5vinfo")
OPTIONS = os.environ.get("H5VTEST_OPTIONS", "").split()  # of every merge that must succeed
TIMEOUT = int(os.environ.get("H5VTEST_TIMEOUT", 60))  # of one run, in seconds
RANKS = (1, 2, 3, 5)  # what every error is tried with: alone, even, odd, more than cores
KiB, MiB = 1024, 1024 * 1024


class Skip(Exception):
    """This machine cannot run the test; the reason is shown."""


class Result(NamedTuple):
    code: int
    out: str
    err: str


def check(condition, message):
    if not condition:
        raise AssertionError(message)


# --- processes ---------------------------------------------------------------------------------------------

def tagged(tag):
    """Living processes whose environment carries the tag: mpiexec, its proxies and every rank. Their process
    groups and sessions differ (each is put into one of its own), so no group holds them all."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/stat", "rb") as stat:
                if tag.encode() in env.read() and stat.read().rpartition(b")")[2].split()[0] != b"Z":
                    found.append(int(pid))
    return found


def kill_tagged(tag, patience=10):
    end = time.monotonic() + patience
    while (pids := tagged(tag)) and time.monotonic() < end:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def leftovers(tag, patience=5):
    """Processes of a run that are still there after its mpiexec has returned."""
    end = time.monotonic() + patience
    while (pids := tagged(tag)) and time.monotonic() < end:
        time.sleep(0.05)
    return pids


def start(args, ranks=1, env=None, cwd=None, stdin=None, wrapper=(), command=H5VCAT, prefix=()):
    """Start a command (under mpiexec unless ranks is 0); returns the process and the tag of all its processes.
    prefix stands before mpiexec, wrapper before each rank's command."""
    tag = "H5VTEST_RUN=" + uuid.uuid4().hex
    launch = [MPIEXEC, "-n", str(ranks)] if ranks else []
    name, value = tag.split("=")
    process = subprocess.Popen(
        [*prefix, *launch, *wrapper, command, *map(str, args)], cwd=cwd, start_new_session=True,
        env={**os.environ, "LC_ALL": "C", **(env or {}), name: value},
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return process, tag


def run(args, ranks=1, timeout=TIMEOUT, stdin=None, **options):
    """Run to the end: (code, stdout, stderr). Past the timeout every process of it is killed: a hang fails."""
    process, tag = start(args, ranks, stdin=stdin, **options)
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        kill_tagged(tag)
        out, err = process.communicate()
        raise AssertionError(f"hang: {ranks} ranks, {timeout} s: {show(args)}\n{err.decode(errors='replace')}") from None
    left = leftovers(tag)
    if left:
        kill_tagged(tag)
        raise AssertionError(f"{ranks} ranks left processes behind: {show(args)}")
    return Result(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def show(args):
    text = " ".join(map(str, args))
    return text if len(text) < 600 else text[:600] + " ..."


# --- what a run of h5vcat must look like ----------------------------------------------------------------------

def merge(inputs, out, ranks=1, *options, **keywords):
    """A merge that must succeed: exit 0, silent stdout, nothing beside the output. Returns its stderr."""
    before = set(os.listdir(os.path.dirname(out)))
    args = ["-o", out, *OPTIONS, *options, *inputs]
    r = run(args, ranks, **keywords)
    check(r.code == 0, f"exit {r.code}, 0 expected, {ranks} ranks: h5vcat {show(args)}\n{r.err}")
    check(r.out == "", f"stdout is not empty: {r.out[:300]!r}")
    check(os.path.isfile(out), f"exit 0, but no output {out}")
    extra = set(os.listdir(os.path.dirname(out))) - before - {os.path.basename(out)}
    check(not extra, f"left beside the output: {sorted(extra)}")
    return r.err


def one_line(r, *words):
    """stderr must be one line, "h5vcat: ...", that holds each of the words (a tuple: any one of them)."""
    lines = r.err.splitlines()
    check(len(lines) == 1 and lines[0].startswith("h5vcat: "), f"stderr is not one line 'h5vcat: ...':\n{r.err}")
    for word in words:
        choices = word if isinstance(word, tuple) else (word,)
        check(any(c.lower() in lines[0].lower() for c in choices), f"{' or '.join(choices)!r} is not in: {lines[0]}")


def one_object(text):
    """The JSON object that is all of the text."""
    try:
        value = json.loads(text)
    except ValueError as e:
        raise AssertionError(f"not one JSON value ({e}): {text[:300]}") from None
    check(isinstance(value, dict), f"not an object: {text[:300]}")
    check("schema" in value and "version" in value, f"no schema or no version: {sorted(value)}")
    return value


def launcher_loses_codes():
    """Whether mpiexec is one that may exit with 0 when two ranks end by a signal or MPI_Abort at the same time: MPICH's
    issue 7057, in 4.2.1 as Debian 13 has it."""
    text = subprocess.run([MPIEXEC, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    found = re.search(r"HYDRA[^\0]*?Version:\s*(\d+)\.(\d+)", text)
    return bool(found) and (4, 1) <= (int(found[1]), int(found[2])) < (4, 3)


def fails(inputs, out, code, *words, ranks=RANKS, options=(), may_abort=False, **keywords):
    """A merge that must fail at every number of ranks: that exit code, that one line, nothing left behind. may_abort:
    MPI may add its own line, and mpiexec its own exit code, on MPI_Abort."""
    for n in ranks:
        before = sorted(os.listdir(os.path.dirname(out))) if os.path.isdir(os.path.dirname(out)) else None
        args = ["-o", out, *options, *inputs]
        r = run(args, n, **keywords)
        try:
            if may_abort and ("Abort(" in r.err or (r.code == 0 and launcher_loses_codes())):
                check(r.code != 0 or launcher_loses_codes(), "exit 0 after MPI_Abort")
                r = r._replace(code=code, out="", err=re.sub(r"^Abort\(\d+\) on node.*\n?", "", r.err, flags=re.M))
            check(r.code == code, f"exit {r.code}, {code} expected\n{r.err}")
            check(r.out == "", f"stdout is not empty: {r.out[:300]!r}")
            one_line(r, *words)
            if before is not None:
                after = sorted(os.listdir(os.path.dirname(out)))
                check(after == before, f"left behind: {sorted(set(after) ^ set(before))}")
        except AssertionError as e:
            raise AssertionError(f"{n} ranks: h5vcat {show(args)}: {e}") from None


def tool(name, *args, timeout=120):
    """Run a tool of HDF5; its result."""
    p = subprocess.run([name, *args], capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL)
    return Result(p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))


def hdf5_tool(name):
    """The tool of the HDF5 that the commands use, else the distribution's."""
    own = os.path.join(HDF5_BIN, name)
    found = own if HDF5_BIN and os.path.exists(own) else shutil.which(name)
    if not found:
        raise Skip(f"no {name}")
    return found


def h5diff(a, b):
    """A second opinion only: it also calls datasets equal that it could not compare. What it calls "empty" and
    leaves out must be without elements."""
    r = tool(hdf5_tool("h5diff"), "-c", a, b)
    excuses = re.findall(r"Not comparable: <(.*?)> or <.*?> is an empty dataset\n", r.out)
    rest = re.sub(r"Not comparable: <.*?> or <.*?> is an empty dataset\n", "", r.out)
    check(r.code == 0 and not rest.strip(), f"h5diff {a} {b}: {rest[:600]}{r.err[:300]}")
    with h5py.File(a, "r") as f, h5py.File(b, "r") as g:
        for name in excuses:
            check(not f[name].size and not g[name].size, f"h5diff did not compare {name}")


def h5dump_110(path):
    """HDF5 1.10 must read the whole file, where the distribution's h5dump is 1.10."""
    version = tool("/usr/bin/h5dump", "--version").out if os.path.exists("/usr/bin/h5dump") else ""
    if "Version 1.10" not in version:
        raise Skip("/usr/bin/h5dump is not HDF5 1.10's: " + (version.strip() or "none"))
    r = tool("/usr/bin/h5dump", path)
    check(r.code == 0 and not r.err, f"h5dump 1.10 exits {r.code}: {r.err[:400]}")


# --- the runner ----------------------------------------------------------------------------------------------

_tests = []


def test(function):
    """Register a test: it is called with a fresh scratch folder, holding an empty out/."""
    _tests.append(function)
    return function


@contextlib.contextmanager
def scratch():
    folder = tempfile.mkdtemp(prefix="h5vtest-")
    os.mkdir(os.path.join(folder, "out"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_one(function):
    """"ok", "skipped" or "FAILED", with the reason printed."""
    begin = time.monotonic()
    try:
        with scratch() as folder:
            function(folder)
        verdict, why = "ok", ""
    except Skip as e:
        verdict, why = "skipped", f": {e}"
    except AssertionError as e:
        frames = [f for f in traceback.extract_tb(e.__traceback__) if os.path.basename(f.filename) not in ("h5vtest.py",)]
        verdict, why = "FAILED", f" (line {frames[-1].lineno if frames else '?'}): {e}"
    except Exception:
        verdict, why = "FAILED", ":\n" + traceback.format_exc()
    print(f"{verdict:8}{function.__name__} [{time.monotonic() - begin:.1f} s]{why}", flush=True)
    return verdict


def main(needs=(H5VCAT,)):
    missing = [c for c in needs if not os.path.exists(c)]
    if missing:
        print(f"FAILED  not built: {', '.join(missing)}")
        sys.exit(1)
    names = sys.argv[1:]
    chosen = [t for t in _tests if not names or any(re.search(n, t.__name__) for n in names)]
    verdicts = [run_one(t) for t in chosen]
    failed, skipped = verdicts.count("FAILED"), verdicts.count("skipped")
    print(f"{len(verdicts)} tests, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not verdicts else 77 if skipped == len(verdicts) else 0)
