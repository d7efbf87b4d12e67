# SPDX-License-Identifier: BSD-3-Clause
"""The main job: 32 detector-like files of the generator become one, the same at any number of ranks."""
import os
import subprocess
import sys

from h5model import assert_model, describe
from h5oracle import concat
from h5vtest import SOURCE, check, h5diff, h5dump_110, main, merge, test

GENERATOR = os.path.join(SOURCE, "tests/tools/gen_nova.py")


def generate(folder, layout, files=32):
    subprocess.run([sys.executable, GENERATOR, "-o", folder, "--files", str(files), "--preset", "tiny", "--events", "40",
                    "--level", "1", "--wide", "3", "--layout", layout, "--attrs"], check=True, capture_output=True)
    with open(os.path.join(folder, "list.txt")) as lines:
        return lines.read().split()


def merge_at_every_rank_count(folder, layout):
    inputs = generate(f"{folder}/in", layout)
    check(len(inputs) == 32, f"{len(inputs)} files generated")
    expected = concat(inputs)
    check(len(expected["/"].attrs) == 6 and len(expected["/spill"].attrs) == 5, "the generator left no attributes")
    outs = []
    for ranks in (1, 2, 3, 5):
        outs.append(f"{folder}/out/{layout}{ranks}.h5")
        merge(inputs, outs[-1], ranks)
        assert_model(expected, outs[-1])
        h5diff(outs[0], outs[-1])
    collective = f"{folder}/out/{layout}_collective.h5"
    merge(inputs, collective, 2, "--write=collective")
    assert_model(expected, collective)
    empty = [p for p, d in describe(outs[0]).items() if getattr(d, "shape", None) and d.shape[0] == 0]
    check(len(empty) > 20, "the generator made no empty datasets")
    return inputs, outs[0]


@test
def test_rechunked(folder):
    merge_at_every_rank_count(folder, "rechunked")


@test
def test_raw(folder):
    merge_at_every_rank_count(folder, "raw")


@test
def test_readers_of_1_10(folder):
    merge(generate(f"{folder}/in", "raw", 4), f"{folder}/out/o.h5", 2)
    h5dump_110(f"{folder}/out/o.h5")


@test
def test_more_ranks_than_files(folder):
    inputs = generate(f"{folder}/in", "rechunked", 2)
    merge(inputs, f"{folder}/out/o.h5", 8)
    assert_model(concat(inputs), f"{folder}/out/o.h5")


if __name__ == "__main__":
    main()
