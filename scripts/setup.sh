#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: scripts/setup.sh [--tests] [--no-build]
#
# Installs what h5vec needs from apt (as root, or with a sudo that asks nothing; otherwise it prints the command),
# finds or builds a parallel HDF5 >= 1.14, and leaves a release build in build/release. It can be run again at any
# time. HDF5 is looked for in this order: $HDF5_ROOT; pkg-config and the MPI compiler wrapper; an earlier build of
# this script's in ${XDG_CACHE_HOME:-~/.cache}/h5vec; apt's own if it is new enough; else 1.14.5 is built there from
# Debian 13's source package (three to seven minutes on two cores).
#
#   --tests     also install what only the tests need (valgrind, clang and its tools, shellcheck)
#   --no-build  stop before the release build
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh
. scripts/hdf5.sh

packages='gcc libc6-dev cmake ninja-build pkg-config zlib1g-dev libdeflate-dev libgeos-dev libxxhash-dev
  libjansson-dev libproj-dev libshp-dev check hdf5-tools python3-h5py python3-numpy python3-pytest'
mpi_packages='mpich libmpich-dev'
test_packages='valgrind clang clang-tidy clang-format shellcheck groff-base python3-gdal'

# missing PACKAGE...: those that are not installed.
missing() {
  for package; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# as_root COMMAND...: directly, or by a sudo that asks nothing; fails if there is neither.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# apt_update: once, and only if something is missing.
apt_updated=no
apt_update() {
  [ $apt_updated = no ] || return 0
  say "apt-get update"
  quietly "$logs/apt-update.log" as_root apt-get -o DPkg::Lock::Timeout=300 update || exit 1
  apt_updated=yes
}
# hdf5_too: apt's HDF5, when it will be wanted next: nobody should have to ask the administrator twice.
hdf5_too() {
  case $wanted in *$apt_hdf5*) return 0 ;; esac
  if [ -z "${HDF5_ROOT:-}" ] && apt_has_hdf5; then missing $apt_hdf5; fi
}

# apt_install PACKAGE...: install those that are missing
apt_install() {
  wanted=$(missing "$@")
  [ -n "$wanted" ] || return 0
  if ! as_root true; then
    say "these packages are missing, and installing them needs root; run this, then $0 again:" >&2
    printf '  apt-get install --no-install-recommends %s\n' "$wanted$(hdf5_too)" >&2
    exit 1
  fi
  apt_update
  say "apt-get install ${wanted% }"
  # shellcheck disable=SC2086 # a list of words
  quietly "$logs/apt-install.log" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $wanted || exit 1
}

# install_packages: everything but HDF5. Who brings an HDF5 of their own may bring its MPI as well.
install_packages() {
  if [ -z "${HDF5_ROOT:-}" ] || ! command -v mpicc >/dev/null; then packages="$packages $mpi_packages"; fi
  if [ "$tests" = yes ]; then packages="$packages $test_packages"; fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    # shellcheck disable=SC2086 # a list of words
    say "no apt here: these (Debian's names) must be there already:" && printf '  %s' $packages && echo
    return 0
  fi
  # shellcheck disable=SC2086 # a list of words
  apt_install $packages
}

# write_setup_file: rewritten only when it changes, since a newer one makes every build start afresh.
write_setup_file() {
  cat >"$setup_file.new" <<END
# Written by scripts/setup.sh, read by cmake/Dependencies.cmake.
set(HDF5_ROOT "$hdf5_root" CACHE PATH "Prefix of a parallel HDF5 >= 1.14")
set(H5VEC_HDF5_PC "$hdf5_pc" CACHE STRING "pkg-config's name of a parallel HDF5 >= 1.14")
set(MPI_C_COMPILER "$mpicc" CACHE FILEPATH "The MPI that HDF5 was built with")
set(MPIEXEC_EXECUTABLE "$mpiexec" CACHE FILEPATH "The MPI that HDF5 was built with")
END
  if cmp -s "$setup_file.new" "$setup_file"; then rm "$setup_file.new"; else mv "$setup_file.new" "$setup_file"; fi
}

release_build() {
  say "release build in build/release"
  quietly "$logs/configure.log" configure release
  quietly "$logs/build.log" cmake --build --preset release
}

tests=no
build=yes
for argument; do
  case $argument in
    --tests) tests=yes ;;
    --no-build) build=no ;;
    --help | -h) usage "$0"; exit 0 ;;
    *) die "unknown argument '$argument'; try --help" ;;
  esac
done

logs=build/logs
mkdir -p $logs
install_packages
find_hdf5
say "HDF5 $hdf5_version $hdf5_where, MPI $mpi ($mpicc)"
write_setup_file
if [ $build = yes ]; then release_build; fi
say "ready"
