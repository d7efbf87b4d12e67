#!/usr/bin/python3
"""read_compare.py - how the driver reads, against HDF5's sec2 and core: calls, bytes, time, memory.

  read_compare.py --build BUILD metadata FILE...    H5Ovisit reading every dataset's type and shape
  read_compare.py --build BUILD raw [FILE]          strided, many-chunk, row-by-row and small reads (FILE is made)

Every run's result is compared with sec2's. Calls and bytes are those of pread and preadv, counted by slow_reads.so
(LD_PRELOAD), which also makes each call take --delay microseconds longer for the column "slow": what storage with
that latency would do, without limiting bandwidth. Times are medians of --repeat runs, drivers in turn; cpu is user
and system time. Files are in the page cache.
"""
import argparse, json, os, resource, statistics, subprocess, sys, tempfile, time

METADATA = [("sec2", "sec2"), ("core", "core"), ("h5vec, default", "h5vec"),
            ("h5vec, image=never", "h5vec image=never"),
            ("h5vec, meta_gap=16KiB", "h5vec image=never meta_gap=16384"),
            ("h5vec, meta_gap=64KiB", "h5vec image=never meta_gap=65536"),
            ("h5vec, meta_block=16KiB", "h5vec image=never meta_block=16384"),
            ("h5vec, meta_block=64KiB", "h5vec image=never meta_block=65536"),
            ("h5vec, image=always", "h5vec image=always")]
RAW = ("every_2nd every_64th every_64th_row column half_rows row_by_row single_values all chunks_all "
       "chunks_every_2nd chunks_column chunks_diagonal chunks_by_64_rows small").split()

def run(args, command, delay=0, counted=True):
    """(the program's JSON, calls, bytes, cpu seconds)"""
    with tempfile.NamedTemporaryFile() as log:
        env = dict(os.environ)
        if counted:
            env.update(LD_PRELOAD=os.path.join(args.build, "tuning", "slow_reads.so"),
                       H5VEC_READ_LOG=log.name, H5VEC_READ_DELAY=str(delay))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        count = json.loads(open(log.name).readline()) if counted else dict(calls=0, bytes=0)
    return json.loads(done.stdout), count["calls"], count["bytes"], cpu

def same(found, sum_):
    if found["sum"] != sum_:
        sys.exit("the results differ")

def metadata(args):
    program = os.path.join(args.build, "tuning", "read_metadata")
    for path in args.files:
        size = os.path.getsize(path)
        print(f"\n{os.path.basename(path)}, {size} bytes\n\n| driver | calls | sec2 / calls | bytes, % of the file |"
              f" seconds | cpu | seconds, slow | peak MiB |\n|---|---|---|---|---|---|---|---|")
        commands = [(name, [program, rest.split()[0], path] + rest.split()[1:]) for name, rest in METADATA]
        plain, slow, calls, sums = {}, {}, {}, {}
        for _ in range(args.repeat):
            for name, command in commands:
                found, _, _, cpu = run(args, command, counted=False)
                plain.setdefault(name, []).append((found["seconds"], cpu, found["peak_kib"]))
                found, calls[name], sums[name], _ = run(args, command, args.delay)
                slow.setdefault(name, []).append(found["seconds"])
                base = found["sum"] if name == "sec2" else base
                same(found, base)
        for name, _ in commands:
            median = [statistics.median(column) for column in zip(*plain[name])]
            print(f"| {name} | {calls[name]} | {calls['sec2'] / calls[name]:.1f} | {100 * sums[name] / size:.1f} |"
                  f" {median[0]:.2f} | {median[1]:.2f} | {statistics.median(slow[name]):.2f} | {median[2] / 1024:.0f} |")

def raw(args):
    program = os.path.join(args.build, "tuning", "read_raw")
    path = args.files[0] if args.files else os.path.join(tempfile.mkdtemp(), "raw.h5")
    if not os.path.exists(path):
        subprocess.run([program, "make", path], check=True)
    print("| pattern | calls, sec2 | h5vec | MB, sec2 | h5vec | cpu ms, sec2 | h5vec | ratio | slow s, sec2 | h5vec |"
          "\n|---|---|---|---|---|---|---|---|---|---|")
    for pattern in RAW:
        best = {"sec2": [], "h5vec": []}
        count, slow = {}, {}
        for _ in range(args.repeat):
            for driver in best:
                found, _, _, _ = run(args, [program, driver, path, pattern, "5"], counted=False)
                best[driver].append(found["cpu"])
                base = found["sum"] if driver == "sec2" else base
                same(found, base)
        for driver in best:
            found, *count[driver], _ = run(args, [program, driver, path, pattern, "1"])
            same(found, base)
            # a million waits take too long: what was counted, times the delay
            few = count[driver][0] < 10000
            slow[driver] = run(args, [program, driver, path, pattern, "1"], args.delay)[0]["seconds"] if few else \
                found["seconds"] + count[driver][0] * args.delay / 1e6
        a, b = (min(best[d]) for d in ("sec2", "h5vec"))
        marks = {d: "" if count[d][0] < 10000 else "*" for d in best}
        print(f"| {pattern} | {count['sec2'][0]} | {count['h5vec'][0]} | {count['sec2'][1] / 1e6:.1f} |"
              f" {count['h5vec'][1] / 1e6:.1f} | {1000 * a:.1f} | {1000 * b:.1f} | {b / a:.2f} |"
              f" {slow['sec2']:.2f}{marks['sec2']} | {slow['h5vec']:.2f}{marks['h5vec']} |")
    if not args.files:
        os.remove(path)
        os.rmdir(os.path.dirname(path))
    print("\n* calls times delay, not run")

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, help="the build directory")
    p.add_argument("--delay", type=int, default=1000, help="microseconds (1000)")
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("what", choices=["metadata", "raw"])
    p.add_argument("files", nargs="*")
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    {"metadata": metadata, "raw": raw}[args.what](args)

if __name__ == "__main__":
    main()
