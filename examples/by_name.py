#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""by_name.py FILE.h5: list a file's datasets with h5py through the driver h5vec.

HDF5_PLUGIN_PATH is the folder of libh5vec_vfd.so. HDF5 reads the names of driver and settings when it starts, so they
are set before h5py is imported; `HDF5_DRIVER=h5vec python3 any_program.py` does as well.
"""
import os
import sys

os.environ["HDF5_DRIVER"] = "h5vec"
os.environ["HDF5_DRIVER_CONFIG"] = "meta_cache=256MiB"
import h5py  # noqa: E402


def show(name, thing):
    if isinstance(thing, h5py.Dataset):
        print(f"{name}: {thing.size} values")


with h5py.File(sys.argv[1]) as file:
    file.visititems(show)
