# SPDX-License-Identifier: BSD-3-Clause
"""Peak resident memory of every rank stays under --buffer-size + 64 MiB on data several times that size."""
import glob
import os
import sys

import h5py
import numpy as np

import h5make
from h5vtest import MiB, check, main, merge, run, test

ROOM = 64 * MiB  # what HDF5, MPI and code may take beside the buffer


def measure():
    """As a wrapper of each rank: run the command, leave its peak in a file named by process."""
    target, command = sys.argv[2], sys.argv[3:]
    pid = os.fork()  # not subprocess: MPI's launcher has handed down a socket
    if pid == 0:
        os.execvp(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    with open(f"{target}/{pid}", "w") as f:
        f.write(str(usage.ru_maxrss * 1024))
    os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def peaks(folder, inputs, ranks, buffer, *options):
    target = f"{folder}/peaks{len(glob.glob(folder + '/peaks*'))}"
    os.mkdir(target)
    out = f"{folder}/out/o.h5"
    merge(inputs, out, ranks, f"--buffer-size={buffer}", "--force", *options, timeout=150,
          wrapper=(sys.executable, os.path.abspath(__file__), "--measure", target))
    found = [int(open(p).read()) for p in glob.glob(target + "/*")]
    check(len(found) == ranks, f"{len(found)} ranks measured, {ranks} expected")
    print(f"        {ranks} ranks, buffer {buffer // MiB} MiB: peak {max(found) / MiB:.0f} MiB {' '.join(options)}")
    return found


def within(folder, inputs, ranks, buffer, *options):
    worst = max(peaks(folder, inputs, ranks, buffer, *options))
    check(worst < buffer + ROOM, f"{ranks} ranks: peak {worst / MiB:.0f} MiB, {(buffer + ROOM) // MiB} allowed {options}")


def large(folder, files=3, mib=64):
    """A few large datasets: 192 MiB in all, kept chunks, new chunks and contiguous."""
    paths = [f"{folder}/in{i}.h5" for i in range(files)]
    block = np.tile(np.arange(MiB // 4, dtype="<u4") % 1000, mib // 4)  # a quarter of mib each
    for path in paths:
        with h5py.File(path, "w") as f:
            f.create_dataset("kept", data=block.reshape(-1, 4), chunks=(32768, 4), compression=1)
            f.create_dataset("column", data=block, chunks=(20000,), compression=1, maxshape=(None,))
            f.create_dataset("plain", data=block)
            f.create_dataset("wide", data=block.reshape(-1, 65536), chunks=(1, 65536), compression=1, shuffle=True)
    return paths


@test
def test_large_datasets(folder):
    inputs = large(folder)
    for ranks in (1, 2):
        within(folder, inputs, ranks, 32 * MiB)
    within(folder, inputs, 2, 32 * MiB, "--verify")
    within(folder, inputs, 2, 32 * MiB, "--compress=deflate:1", "--shuffle=on")


@test
def test_many_datasets_and_files(folder):
    """40 files of 1,500 datasets: no rank may hold files x datasets numbers in more than its buffer."""
    first = f"{folder}/first.h5"
    with h5py.File(first, "w", libver=("earliest", "v110")) as f:
        for k in range(1500):
            h5make.put(f, f"group{k % 30}/dataset{k}", h5make.of("<f4"), (20,), chunk=(20,), filters=("deflate:1",), data="small",
                       maxshape=(None,))
    within(folder, [first] * 40, 2, 16 * MiB)


@test
def test_an_unlimited_column_of_small_chunks(folder):
    """100,000 chunks in one input: their index must not be held whole beside the buffer."""
    path = f"{folder}/a.h5"
    with h5py.File(path, "w", libver=("v110", "v110")) as f:
        d = f.create_dataset("d", shape=(100000 * 16,), chunks=(16,), dtype="<u4", maxshape=(None,))
        d[...] = np.arange(100000 * 16, dtype="<u4")
    within(folder, [path, path], 2, 16 * MiB)


@test
def test_text(folder):
    """A text file several times the buffer."""
    path, other = f"{folder}/a.wkt", f"{folder}/b.wkt"
    line = "LINESTRING (" + ", ".join(f"{k}.125 {k}.375" for k in range(40)) + ")\n"
    with open(path, "w") as f:
        for _ in range(64 * MiB // len(line)):
            f.write(line)
    with open(other, "w") as f:
        f.write("POINT (1 2)\n" * 300000)
    within(folder, [path, other], 2, 16 * MiB, "--chunk-size=1MiB")
    within(folder, [path, other], 2, 16 * MiB, "--chunk-size=1MiB", "--codec=vector", "--verify")


@test
def test_the_measure_sees_memory(folder):
    """The wrapper itself: a program that takes 100 MiB is seen to take them, and its exit code passes."""
    os.mkdir(f"{folder}/m")
    r = run(["-c", "x = bytearray(100 << 20); raise SystemExit(3)"], 1, command=sys.executable,
            wrapper=(sys.executable, os.path.abspath(__file__), "--measure", f"{folder}/m"))
    check(r.code == 3, f"exit {r.code}")
    peak = int(open(glob.glob(f"{folder}/m/*")[0]).read())
    check(100 * MiB < peak < 160 * MiB, f"measured {peak / MiB:.0f} MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure()
    main()
