#!/usr/bin/env python3
"""Compare h5vcat's ways of writing: a few large datasets, 2,000 small ones, 2,000 of medium size.

Each run is a whole mpiexec; the ways take turns (A B C A B C ...), so that a machine that slows down slows all of them;
medians are reported, as JSON lines, with the ratios. Every output is compared value by value with the
concatenated inputs (h5py). Use an otherwise idle machine, and no more ranks than cores: MPI ranks that
wait spin.

  tuning/write_strategies.py [--bin build/release/bin] [--ranks 2] [--runs 3] [--keep DIR]

What the columns mean:
  collective       parallel HDF5: MPI-IO, collective creation and H5Dwrite, zlib
  direct_zlib      placement, zlib at the same level: what placement alone gives
  direct           placement, libdeflate, everything encoded anew
  spliced          the default: streams are joined where they can be
  collective_libdeflate   computed: collective, with its encoding time (taken from direct_zlib) replaced by libdeflate's
"""
import argparse, glob, json, os, platform, shutil, statistics, subprocess, sys, tempfile, time
import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "tools"))
import gen_nova

WAYS = {"collective": ["--write=collective"], "direct_zlib": ["--encoder=zlib", "--splice=never"],
        "direct": ["--splice=never"], "spliced": []}


def make_large(directory):
    """4 files of 4 datasets of four-byte columns like those of detector files; 64 MiB a dataset in all."""
    os.makedirs(directory)
    rows = 4 << 20
    for f in range(4):
        rng = np.random.default_rng(f)
        with h5py.File(os.path.join(directory, f"in{f:02d}.h5"), "w", libver=("v110", "v110")) as h:
            for kind in ("i4small", "f4q", "f4sent", "pdg"):
                h.create_dataset(kind, data=gen_nova.column(rng, kind, rows), chunks=(1 << 18,), maxshape=(None,),
                                 compression="gzip", compression_opts=6)


def make_small(directory):
    """4 files of 2,000 datasets of event numbers, as each group of a detector file has them; 64 KiB a dataset in all."""
    os.makedirs(directory)
    rows = 4 << 10
    for f in range(4):
        numbers = np.cumsum(np.random.default_rng(f).integers(1, 90, rows + 2000)).astype("u4")
        with h5py.File(os.path.join(directory, f"in{f:02d}.h5"), "w", libver=("v110", "v110")) as h:
            for d in range(2000):
                h.create_dataset(f"g{d // 16:03d}/evt{d:04d}", data=numbers[d:d + rows], chunks=(rows,), maxshape=(None,),
                                 compression="gzip", compression_opts=6)


def make_columns(directory):
    """8 files of 125 groups of 16 datasets, none empty, by gen_nova.py: about 60 KiB a dataset in all."""
    subprocess.run([sys.executable, gen_nova.__file__, "-o", directory, "--files", "8", "--groups", "125", "--dsets", "16",
                    "--zero", "0", "--wide", "0"], check=True, stderr=subprocess.DEVNULL)


def check(output, inputs):
    """The output equals the concatenated inputs, dataset by dataset."""
    ins = [h5py.File(f) for f in inputs]
    with h5py.File(output) as out:
        def visit(name, obj):
            if isinstance(obj, h5py.Dataset):
                expected = np.concatenate([i[name][...] for i in ins])
                if out[name].dtype != obj.dtype or not np.array_equal(expected, out[name][...]):
                    raise SystemExit(f"{output}: {name} is wrong")
        ins[0].visititems(visit)
    for i in ins:
        i.close()


def run(a, way, output, inputs):
    command = [a.mpiexec, "-n", str(a.ranks), os.path.join(a.bin, "h5vcat"), "-f", "-q", "--json", "-o", output]
    start = time.monotonic()
    done = subprocess.run(command + WAYS[way] + inputs, stdout=subprocess.PIPE, check=True)
    seconds = time.monotonic() - start
    report = json.loads(done.stdout)
    return {"seconds": seconds, "merge": report["seconds"], "encode": report["stages"]["encode"],
            "bytes": os.path.getsize(output)}


def compare(a, name, inputs, directory):
    runs = {w: [] for w in WAYS}
    for _ in range(a.runs):
        for way in WAYS:
            output = os.path.join(directory, way + ".h5")
            runs[way].append(run(a, way, output, inputs))
    for way in WAYS:
        check(os.path.join(directory, way + ".h5"), inputs)
    median = {w: {k: statistics.median(r[k] for r in runs[w]) for k in runs[w][0]} for w in WAYS}
    computed = median["collective"]["merge"] - median["direct_zlib"]["encode"] + median["direct"]["encode"]
    result = {"input": name, "ranks": a.ranks, "runs": a.runs, "machine": platform.machine(),
              "cores": os.cpu_count(), "h5py_hdf5": h5py.version.hdf5_version,
              "merge_seconds": {w: round(median[w]["merge"], 3) for w in WAYS} |
                               {"collective_libdeflate": round(computed, 3)},
              "spread": {w: [round(min(r["merge"] for r in runs[w]), 3), round(max(r["merge"] for r in runs[w]), 3)]
                         for w in WAYS},
              "encode_seconds": {w: round(median[w]["encode"], 3) for w in WAYS if w != "collective"},
              "input_bytes": sum(map(os.path.getsize, inputs)), "output_bytes": {w: median[w]["bytes"] for w in WAYS},
              "placement_alone": round(median["collective"]["merge"] / median["direct_zlib"]["merge"], 2),
              "in_all": round(median["collective"]["merge"] / median["direct"]["merge"], 2),
              "with_splicing": round(median["collective"]["merge"] / median["spliced"]["merge"], 2),
              "beyond_the_encoder": round(computed / median["direct"]["merge"], 2)}
    print(json.dumps(result), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", default=os.path.join(os.path.dirname(__file__), "..", "build", "release", "bin"))
    p.add_argument("--mpiexec", default="mpiexec")
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--only", help="this input only: large, small or columns")
    p.add_argument("--keep", help="work in this directory and leave it")
    a = p.parse_args()
    directory = a.keep or tempfile.mkdtemp(prefix="h5vec-tuning-")
    os.makedirs(directory, exist_ok=True)
    try:
        for name, make in (("large: 4 datasets of 64 MiB", make_large), ("small: 2000 datasets of 64 KiB", make_small),
                           ("columns: 2000 datasets of 60 KiB", make_columns)):
            if a.only and not name.startswith(a.only):
                continue
            place = os.path.join(directory, name.split(":")[0])
            if not os.path.isdir(place):
                make(place)
            inputs = sorted(f for f in glob.glob(os.path.join(place, "*.h5")) if os.path.basename(f)[:2] in ("in", "ne"))
            compare(a, name, inputs, directory)
    finally:
        if not a.keep:
            shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main())
