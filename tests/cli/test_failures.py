# SPDX-License-Identifier: BSD-3-Clause
"""When the machine fails: outputs that cannot be made, a full disk, a rank that is killed."""
import os
import shutil
import signal
import stat
import subprocess
import time

import h5py

import h5make
from h5vtest import (H5VCAT, H5VINFO, MiB, Skip, check, fails, kill_tagged, launcher_loses_codes, leftovers, main, run,
                     start, tagged, test, tool)


def inputs_in(folder, count=2, mib=2, filters=("deflate:1",), data="random"):
    paths = [f"{folder}/in{i}.h5" for i in range(count)]
    for path in paths:
        with h5make.create(path) as f:
            h5make.put(f, "d", h5make.of("<u4"), (mib * MiB // 8, 2), chunk=(32768, 2), filters=filters, data=data)
            h5make.put(f, "plain", h5make.of("<u4"), (mib * MiB // 8,), data=data)
    return paths


@test
def test_output_folder_missing(folder):
    inputs = inputs_in(folder, mib=1)
    for options in ((), ("--write=collective",)):
        fails(inputs, f"{folder}/nowhere/o.h5", 1, "nowhere", ("No such file", "does not exist"), options=options)


@test
def test_output_is_a_directory(folder):
    inputs = inputs_in(folder, mib=1)
    os.mkdir(f"{folder}/out/o.h5")
    fails(inputs, f"{folder}/out/o.h5", 2, "o.h5", ranks=(1, 3))
    fails(inputs, f"{folder}/out/o.h5", 1, "o.h5", ranks=(2,), options=("--force",))
    check(os.path.isdir(f"{folder}/out/o.h5"), "the directory is gone")


@test
def test_output_folder_not_writable(folder):
    """root writes everywhere; without its two capabilities, root is a user like others."""
    inputs, place = inputs_in(folder, mib=1), f"{folder}/locked"
    os.mkdir(place)
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if drop:
        os.chown(place, 65534, 65534)
        if not shutil.which("setpriv") or tool(*drop, "true").code:
            raise Skip("setpriv cannot drop capabilities here")
    os.chmod(place, 0o555)
    if tool(*drop, "touch", f"{place}/x").code == 0:
        raise Skip("file modes do not bind here")
    for options in ((), ("--write=collective",)):
        fails(inputs, f"{place}/o.h5", 1, "locked", ("Permission denied", "Access denied"), prefix=drop, options=options)


def disk_full(folder, write):
    """A file system of 3 MiB for 8 MiB of output: no hang, one line, nothing left on it."""
    small = f"{folder}/small"
    os.mkdir(small)
    if os.geteuid() or tool("mount", "-t", "tmpfs", "-o", "size=3m", "h5vtest", small).code:
        raise Skip("cannot mount a small file system (needs root)")
    try:
        for filters in (("deflate:1",), ()):
            fails(inputs_in(folder, filters=filters), f"{small}/o.h5", 1, "o.h5", ("No space left", "disk full", "write"),
                  options=(f"--write={write}",), ranks=(1, 2, 3) if filters else (2,), timeout=60,
                  # parallel HDF5 can leave the other ranks waiting inside it: then only MPI_Abort ends the job
                  may_abort=write == "collective")
    finally:
        subprocess.run(["umount", small], check=True)


@test
def test_disk_full_direct(folder):
    disk_full(folder, "direct")


@test
def test_disk_full_collective(folder):
    disk_full(folder, "collective")


def slow_inputs(folder):
    """Seconds of work for two ranks at level 12."""
    return inputs_in(folder, count=4, mib=12, data="small")


def wait_for_output(process, out, patience=30):
    """Wait until the temporary file is there; its name."""
    end = time.monotonic() + patience
    while time.monotonic() < end and process.poll() is None:
        begun = [n for n in os.listdir(os.path.dirname(out)) if n.startswith(os.path.basename(out) + ".tmp-")]
        if begun:
            return begun[0]
        time.sleep(0.01)
    raise AssertionError(f"no {out}.tmp-<id> appeared: exit {process.poll()}")


def ranks_of(tag):
    found = []
    for pid in tagged(tag):
        try:
            if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(H5VCAT):
                found.append(pid)
        except OSError:
            pass
    return sorted(found)


def first_rank(tag):
    """The process of rank 0, as MPI's launchers number them in the environment."""
    for pid in ranks_of(tag):
        with open(f"/proc/{pid}/environ", "rb") as f:
            if {b"PMI_RANK=0", b"OMPI_COMM_WORLD_RANK=0"} & set(f.read().split(b"\0")):
                return pid
    raise Skip("this launcher does not say which process is rank 0")


@test
def test_a_rank_is_killed(folder):
    """kill -9 of the first and of the last rank: no output, an exit code, no process left."""
    inputs = slow_inputs(folder)
    for write, level in (("direct", 12), ("collective", 9)):
        for which in (0, -1):
            out = f"{folder}/out/o.h5"
            process, tag = start(["-o", out, f"--write={write}", f"--compress=deflate:{level}", *inputs], 2)
            try:
                wait_for_output(process, out)
                ranks = ranks_of(tag)
                check(len(ranks) == 2, f"{len(ranks)} ranks running, 2 expected")
                os.kill(ranks[which], signal.SIGKILL)
                process.communicate(timeout=30)
                check(process.returncode != 0 or launcher_loses_codes(), f"{write}: exit 0 although a rank was killed")
                left = leftovers(tag, patience=10)
                check(not left, f"{write}: processes left: {left}")
            except subprocess.TimeoutExpired:
                raise AssertionError(f"{write}: hang after the kill") from None
            finally:
                kill_tagged(tag)
                process.communicate()
            check(not os.path.exists(out), f"{write}: an output after the kill")
            for name in os.listdir(f"{folder}/out"):  # the killed cannot clean up
                os.remove(f"{folder}/out/{name}")


@test
def test_an_unfinished_output_is_not_mistaken(folder):
    """What a killed run may leave under the temporary name does not open as HDF5."""
    inputs = slow_inputs(folder)
    out = f"{folder}/out/o.h5"
    process, tag = start(["-o", out, "--compress=deflate:12", *inputs], 2)
    try:
        name = wait_for_output(process, out)
        time.sleep(0.5)
        kill_tagged(tag)
    finally:
        kill_tagged(tag)
        process.communicate()
    check(not os.path.exists(out), "the run was over before the kill")
    left = f"{folder}/out/{name}"
    try:
        h5py.File(left).close()
    except OSError:  # not there any more, or not HDF5
        return
    raise AssertionError("an unfinished output opens as HDF5")


@test
def test_interrupt(folder):
    """Ctrl-C at mpiexec, whose own exit code is what it is: no output under its name, no process left."""
    inputs = slow_inputs(folder)
    out = f"{folder}/out/o.h5"
    process, tag = start(["-o", out, "--compress=deflate:12", *inputs], 2)
    try:
        wait_for_output(process, out)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        check(not leftovers(tag, patience=10), "processes left")
    finally:
        kill_tagged(tag)
        process.communicate()
    check(not os.path.exists(out), "an output after the interrupt")


@test
def test_job_is_cancelled(folder):
    """Asked to end, the first rank takes the temporary file with it (if the launcher lets it: it kills all ranks
    as soon as one is gone, so only the first is asked here)."""
    inputs = slow_inputs(folder)
    out = f"{folder}/out/o.h5"
    process, tag = start(["-o", out, "--compress=deflate:12", *inputs], 2)
    try:
        wait_for_output(process, out)
        os.kill(first_rank(tag), signal.SIGTERM)
        process.communicate(timeout=30)
        check(process.returncode != 0, "exit 0 although the job was cancelled")
        check(not leftovers(tag, patience=10), "processes left")
    finally:
        kill_tagged(tag)
        process.communicate()
    check(not os.listdir(f"{folder}/out"), f"left behind: {os.listdir(f'{folder}/out')}")


@test
def test_pipes_and_devices(folder):
    """Nobody waits for a pipe; what is not a file is not replaced."""
    good = f"{folder}/good.h5"
    with h5make.create(good) as f:
        h5make.put(f, "d", h5make.of("<i4"), (10,))
    pipe = f"{folder}/pipe"
    os.mkfifo(pipe)
    for ranks in (1, 2):
        fails([good, pipe], f"{folder}/out/o.h5", 1, "pipe", "not a regular file", ranks=(ranks,))
    r = run(["-f", "-o", pipe, good], 2, command=H5VCAT)
    check(r.code == 1 and "not a regular file" in r.err, f"exit {r.code}: {r.err}")
    check(stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe is gone")
    r = run([pipe], 0, command=H5VINFO)
    check(r.code == 1 and "not a regular file" in r.err, f"exit {r.code}: {r.err}")


if __name__ == "__main__":
    main()
