#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: scripts/demo.sh [--keep]
#
# Sets everything up (scripts/setup.sh), then runs the main job on real input with four MPI ranks: the countries of
# each continent, as text, become layers; the layers become one; detector-like HDF5 files become one. Shows what came
# out. It works in a temporary directory, which --keep leaves there.
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh

keep=no
case ${1:-} in
  '') ;;
  --keep) keep=yes ;;
  --help | -h) usage "$0"; exit 0 ;;
  *) die "unknown argument '$1'; try --help" ;;
esac

scripts/setup.sh
repo=$PWD
mpiexec_found=$(setup_value MPIEXEC_EXECUTABLE)
hdf5_root=$(setup_value HDF5_ROOT)
PATH=$repo/build/release/bin:${hdf5_root:+$hdf5_root/bin:}/usr/bin:$PATH

# run LINE: shown as one would type it. The mpiexec is that of HDF5's MPI, whatever else is installed.
run() { printf '\n$ %s\n' "$1"; eval "$1" </dev/null; }
mpiexec() { "$mpiexec_found" "$@"; }
bytes() { cat "$@" | wc -c; }

work=$(mktemp -d)
if [ $keep = no ]; then trap 'rm -rf "$work"' EXIT; fi
trap 'exit 1' HUP INT TERM
cd "$work"
mkdir continents detector

echo
say "1. text to layers: one CSV file of countries per continent (Natural Earth, examples/data)"
set -- "$repo"/examples/data/*.csv
for table; do
  name=$(basename "$table" .csv)
  cp "$table" .
  run "mpiexec -n 4 h5vcat -o continents/$name.h5 --layer countries --types pop_est=float $name.csv"
done

echo
say "2. layers to one layer"
run 'mpiexec -n 4 h5vcat --verify -o world.h5 continents/*.h5'
run 'h5vinfo --check world.h5'
run 'h5vinfo world.h5'
run 'h5dump -H world.h5'

echo
say "3. HDF5 files to one HDF5 file (made by tests/tools/gen_nova.py: 8 files, 10 groups each)"
/usr/bin/python3 "$repo/tests/tools/gen_nova.py" -o detector --files 8 --preset tiny --layout raw --attrs --events 200
run 'mpiexec -n 4 h5vcat --verify -o run.h5 detector/*.h5'
run 'h5vinfo run.h5 | grep -e ^run.h5 -e /spill/'
run 'h5dump -H -d /spill/evt run.h5'

tables=$#
countries=$(cat ./*.csv | grep -c -v '^name,')
h5vinfo --check world.h5 | grep -q " $countries rows" || die "world.h5 does not have $countries rows"
set -- detector/*.h5
echo
say "4 MPI ranks made one layer of $countries countries from $tables text files ($(bytes ./*.csv) bytes, now" \
  "$(bytes world.h5)), and one HDF5 file from $# detector files ($(bytes "$@") bytes, now $(bytes run.h5))"
if [ $keep = yes ]; then say "kept in $work"; fi
