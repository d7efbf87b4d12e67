#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: scripts/hdf5-tests.sh [--dir DIR] [--config STRING] [TEST...]
#
# HDF5's own C tests through the driver. Fetches HDF5's source as setup does, builds it serially with its tests into
# DIR (default: a folder of the cache; kept for the next time), and runs the tests that its CMake runs for each of its
# drivers (HDF5_TEST_VFD), each with HDF5_DRIVER=sec2 and with HDF5_DRIVER=h5vec, the plugin of build/release. Prints
# a line for each test whose outcome is not the same, and fails if tests/vfd/hdf5_suite.exceptions does not name it.
# STRING is HDF5_DRIVER_CONFIG. Takes an hour on two cores, the build
# included; names of tests run those alone.
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh
. scripts/hdf5.sh

dir=$cache_dir/hdf5-tests
config=
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage "$0"; exit 0 ;;
    --dir) dir=$2; shift 2 ;;
    --config) config=$2; shift 2 ;;
    *) break ;;
  esac
done
plugins=$PWD/build/release/plugins
exceptions=$PWD/tests/vfd/hdf5_suite.exceptions
[ -e "$plugins/libh5vec_vfd.so" ] || die "no plugin: cmake --preset release && cmake --build --preset release"
logs=$dir/logs
mkdir -p "$logs"

# HDF5's test library knows its own drivers by name, and says no to others: it shall leave the default. Some tests of
# mf look at HDF5's own aggregation of allocations, and are told by name which drivers have none (it crashes otherwise).
get_source() {
  mkdir -p "$dir/fetch"
  tarball=$(fetch_source "$dir/fetch") || die "cannot fetch HDF5's source package (see $logs)"
  mkdir -p "$dir/source"
  tar -xf "$tarball" -C "$dir/source" --strip-components=1
  sed -i '/\/\* Unknown driver \*\//{n;s/goto error;/goto done;/}' "$dir/source/test/h5test.c"
  sed -i 's/strcmp(driver_name, "split") != 0 &&/strcmp(driver_name, "h5vec") != 0 \&\& &/' "$dir/source/test/mf.c"
}

build() {
  cmake -G Ninja -S "$dir/source" -B "$dir/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON -DHDF5_TEST_VFD=ON \
    -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_BUILD_CPP_LIB=OFF \
    -DHDF5_BUILD_HL_LIB=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DBUILD_STATIC_LIBS=OFF &&
    cmake --build "$dir/build"
}

if [ ! -e "$dir/build/bin/testhdf5" ]; then
  [ -e "$dir/source/CMakeLists.txt" ] || get_source
  say "building HDF5 $build_version with its tests: five to fifteen minutes, once (log: $logs/build.log)"
  quietly "$logs/build.log" build || die "HDF5 did not build"
fi

# run DRIVER TEST: exit code, or 124 after twenty minutes. The tests of one driver share a folder, as HDF5's CMake has
# it (flush2 reads what flush1 left).
run() {
  (cd "$dir/run/$1" && srcdir=. HDF5_DRIVER=$1 HDF5_DRIVER_CONFIG=$([ "$1" = sec2 ] || printf %s "$config") \
    HDF5_PLUGIN_PATH=$plugins timeout 1200 "$dir/build/bin/$2" >"$2.out" 2>&1 </dev/null) && echo 0 || echo $?
}

rm -rf "$dir/run"
mkdir -p "$dir/run/sec2"
cp -r "$dir/build/test/sec2/testfiles" "$dir/run/sec2/"
cp -r "$dir/run/sec2" "$dir/run/h5vec"
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(ctest --test-dir "$dir/build" -N -R '^VFD-sec2-' | sed -n 's/.*: VFD-sec2-//p')
[ $# -gt 0 ] || die "HDF5's build has no tests"

same=0
bad=0
for test; do
  sec2=$(run sec2 "$test")
  h5vec=$(run h5vec "$test")
  if [ "$sec2" = "$h5vec" ]; then
    same=$((same + 1))
    ! grep -q "^$test:" "$exceptions" || say "$test: as with sec2, but named in $exceptions"
  elif grep -q "^$test:" "$exceptions"; then
    say "$test: $h5vec, sec2 $sec2 (known: $(sed -n "s/^$test: *//p" "$exceptions"))"
  else
    say "$test: $h5vec, sec2 $sec2: see $dir/run/h5vec/$test.out"
    bad=$((bad + 1))
  fi
done
say "$# tests: $same as with sec2, $bad unexpected"
[ $bad -eq 0 ]
