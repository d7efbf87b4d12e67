# SPDX-License-Identifier: BSD-3-Clause
"""Every class of fixed-size types in every layout and filter pipeline, merged and compared bit by bit."""
import h5py
import numpy as np

import h5make
from h5model import assert_model, assert_same
from h5oracle import concat
from h5vtest import check, h5diff, h5dump_110, main, merge, test

STORAGE = {
    "contiguous": {}, "compact": {"layout": "compact"}, "chunked": {"chunk": (7,)},
    "deflate": {"chunk": (7,), "filters": ("deflate:3",)}, "shuffle": {"chunk": (9,), "filters": ("shuffle",)},
    "fletcher32": {"chunk": (5,), "filters": ("fletcher32",)},
    "shuffle_deflate": {"chunk": (11,), "filters": ("shuffle", "deflate:6")},
    "all": {"chunk": (6,), "filters": ("shuffle", "deflate:9", "fletcher32"), "maxshape": (None,)},
    "backwards": {"chunk": (8,), "filters": ("fletcher32", "deflate:1", "shuffle")},
}


def make(path, rows, **options):
    with h5make.create(path, **options) as f:
        for name, t in h5make.types().items():
            for storage, how in STORAGE.items():
                h5make.put(f, f"{name}/{storage}", t, (rows,), **how)
    return path


@test
def test_every_type_in_every_storage(folder):
    inputs = [make(f"{folder}/{i}.h5", rows) for i, rows in enumerate((20, 3, 31))]
    expected = concat(inputs)
    for ranks in (1, 2, 3):
        out = f"{folder}/out/{ranks}.h5"
        merge(inputs, out, ranks)
        assert_model(expected, out)
    h5diff(f"{folder}/out/1.h5", f"{folder}/out/3.h5")
    out = f"{folder}/out/collective.h5"
    merge(inputs, out, 2, "--write=collective")
    assert_model(expected, out)


@test
def test_more_ranks_than_files(folder):
    inputs = [make(f"{folder}/{i}.h5", rows) for i, rows in enumerate((20, 13))]
    merge(inputs, f"{folder}/out/o.h5", 8)
    assert_model(concat(inputs), f"{folder}/out/o.h5")


@test
def test_one_input_by_three_ranks(folder):
    make(f"{folder}/a.h5", 40)
    for write in ("direct", "collective"):
        out = f"{folder}/out/{write}.h5"
        merge([f"{folder}/a.h5"], out, 3 if write == "direct" else 2, f"--write={write}")
        assert_model(concat([f"{folder}/a.h5"]), out)
        h5diff(f"{folder}/a.h5", out)


@test
def test_inputs_of_the_latest_format(folder):
    inputs = [make(f"{folder}/{i}.h5", rows, libver=("v110", "v110")) for i, rows in enumerate((12, 20))]
    merge(inputs, f"{folder}/out/o.h5", 2)
    assert_model(concat(inputs), f"{folder}/out/o.h5")


@test
def test_nan_payloads_and_signed_zero(folder):
    """Bits that arithmetic or a conversion would change."""
    doubles = np.array([0x7ff8000000000001, 0xfff0000000000001, 0x8000000000000000, 0x7ff4dead0000beef], "<u8")
    floats = np.array([0x7fc00001, 0xff800001, 0x80000000, 1], "<u4")
    inputs = []
    for i in range(3):
        inputs.append(f"{folder}/{i}.h5")
        with h5make.create(inputs[-1]) as f:
            for name, t, data in (("d", "<f8", doubles), ("s", "<f4", floats)):
                for filters in ((), ("shuffle", "deflate:6")):
                    dset = h5make.put(f, f"{name}{len(filters)}", h5make.of(t), (4,), filters=filters, data=None)
                    h5make.write_raw(dset, np.roll(data, i).view(np.uint8))
    for write in ("direct", "collective"):
        out = f"{folder}/out/{write}.h5"
        merge(inputs, out, 2, f"--write={write}")
        assert_model(concat(inputs), out)
        with h5py.File(out) as f:
            want = np.concatenate([np.roll(doubles, i) for i in range(3)])
            check((f["d2"][()].view("<u8") == want).all(), "NaN payloads changed")


@test
def test_readers_of_1_10(folder):
    inputs = [make(f"{folder}/{i}.h5", 9) for i in range(2)]
    merge(inputs, f"{folder}/out/o.h5", 2)
    h5dump_110(f"{folder}/out/o.h5")


@test
def test_merging_is_associative(folder):
    """A merge of merges holds what the merge of all holds."""
    inputs = [make(f"{folder}/{i}.h5", rows) for i, rows in enumerate((5, 8, 2))]
    merge(inputs[:2], f"{folder}/ab.h5", 2)
    merge([f"{folder}/ab.h5", inputs[2]], f"{folder}/out/ab_c.h5", 2)
    merge(inputs, f"{folder}/out/abc.h5", 1)
    assert_same(f"{folder}/out/abc.h5", f"{folder}/out/ab_c.h5")


if __name__ == "__main__":
    main()
