#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_plugin_h5py.py PLUGIN_DIR: this Python's h5py through the driver named in HDF5_DRIVER.

h5py loads its HDF5 locally, and turns "errno = N" in an error's text into FileNotFoundError and the like. Skipped
(77) where its HDF5 cannot load drivers or is not the one the plugin was built for.
"""
import os
import subprocess
import sys
import tempfile

CHILD = """
import os, sys, h5py, numpy
rows = numpy.arange(10000).reshape(100, 100)
with h5py.File("made.h5", "w") as f:
    f.create_dataset("plain", data=rows)
    f.create_dataset("packed", data=rows, chunks=(10, 100), compression="gzip")
    f.create_dataset("rows", (0, 3), maxshape=(None, 3), dtype="f8")
    f["group/text"] = ["one", "two"]
    f.attrs["answer"] = 42
with h5py.File("made.h5", "r+") as f:
    f["rows"].resize(7, axis=0)
    f["rows"][...] = 1.5
    del f["plain"]
with h5py.File("made.h5") as f:
    assert f["packed"][3:5, ::7].tolist() == rows[3:5, ::7].tolist()
    assert f["rows"].shape == (7, 3) and (f["rows"][...] == 1.5).all()
    assert f["group/text"][1] == b"two" and f.attrs["answer"] == 42 and "plain" not in f
    assert f.driver == "unknown", f.driver  # h5py knows HDF5's own drivers by name; sec2 would be one
for mode, error in (("r", FileNotFoundError), ("r+", FileNotFoundError)):
    try:
        h5py.File("nothing.h5", mode)
        raise SystemExit("opened what is not there")
    except error:
        pass
try:
    h5py.File("made.h5", "x")
    raise SystemExit("made what was there")
except FileExistsError:
    pass
"""
BAD = """
import h5py
try:
    h5py.File("made.h5")
except OSError as error:
    print(error)
"""
PLAIN = """
import h5py
with h5py.File("made.h5") as f:
    assert f.driver == "sec2" and f["packed"][99, 99] == 9999 and f["rows"][6, 2] == 1.5
"""


def run(program, plugins, driver=None, config=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HDF5_")}
    env["HDF5_PLUGIN_PATH"] = plugins
    if driver:
        env["HDF5_DRIVER"] = driver
    if config is not None:
        env["HDF5_DRIVER_CONFIG"] = config
    if env.get("H5VEC_PRELOAD"):
        env["LD_PRELOAD"] = env["H5VEC_PRELOAD"]
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)


def main():
    plugins = os.path.abspath(sys.argv[1])
    try:
        import h5py
    except ImportError:
        print("skipped: no h5py")
        return 77
    version = h5py.version.hdf5_version_tuple
    if version < (1, 14, 0):
        print("skipped: h5py's HDF5 is %d.%d.%d, which cannot load drivers" % version)
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        first = run("import h5py; print(h5py.h5.get_libversion())", plugins, "h5vec")
        if "was built for HDF5" in first.stderr:
            print("skipped: refused, as it should be:", first.stderr.strip().splitlines()[-1])
            return 77
        for config in (None, "", "zone=1MiB; meta_block=64KiB", "async=1; write_block=1MiB; image=never"):
            for program, driver in ((CHILD, "h5vec"), (PLAIN, None)):
                result = run(program, plugins, driver, config)
                if result.returncode != 0:
                    print("config %r, driver %s:\n%s%s" % (config, driver, result.stdout, result.stderr))
                    return 1
        result = run(BAD, plugins, "h5vec", "zone=x")
        if "zone=x is not possible" not in result.stdout:
            print("a bad setting is not told:", result.stdout, result.stderr)
            return 1
    print("h5py %s with HDF5 %d.%d.%d" % ((h5py.__version__,) + version))
    return 0


sys.exit(main())
