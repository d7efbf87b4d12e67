# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
# Part of setup.sh: finds a parallel HDF5 >= 1.14 together with its MPI, or builds it.
#
# find_hdf5 sets hdf5_root (a prefix) or hdf5_pc (a pkg-config name), and hdf5_where, hdf5_version, mpicc, mpiexec,
# mpi (name-version). A candidate is taken only if a program that uses both compiles, links one MPI, and runs.

build_version=1.14.5
build_suite=trixie # the Debian release whose source package has that version

# wrapper FLAVOUR: Debian's mpicc.mpich or mpicc.openmpi, or the only mpicc there is.
wrapper() { command -v "mpicc.$1" || command -v mpicc; }

# use_wrapper MPICC: sets mpicc, and mpiexec and mpi that belong to it.
use_wrapper() {
  mpicc=$1
  mpiexec=$(dirname "$mpicc")/mpiexec
  case $mpicc in */mpicc.*) mpiexec=$mpiexec.${mpicc##*.} ;; esac
  [ -x "$mpiexec" ] || mpiexec=$(command -v mpiexec) || return 1
  mpi=$(printf '#include <mpi.h>\n#ifdef MPICH_VERSION\n=mpich- MPICH_VERSION\n#else\n=openmpi- %s\n#endif\n' \
    'OMPI_MAJOR_VERSION . OMPI_MINOR_VERSION . OMPI_RELEASE_VERSION' |
    "$mpicc" -E - 2>/dev/null | sed -n 's/^=//p' | tr -d ' "') || return 1
  [ -n "$mpi" ]
}

# works FLAGS...: does this HDF5 do, with $mpicc? Prints its version.
works() {
  cat >"$probe.c" <<'END'
#include <hdf5.h>
#if !defined(H5_HAVE_PARALLEL) || !H5_VERSION_GE(1, 14, 0)
#error "not parallel, or before 1.14"
#endif
#include <stdio.h>
int main(void)
{
    unsigned major, minor, release;
    int started; /* asks for the MPI library without starting it */
    if (MPI_Initialized(&started) != MPI_SUCCESS || H5get_libversion(&major, &minor, &release) < 0)
        return 1;
    printf("%u.%u.%u\n", major, minor, release);
    return 0;
}
END
  "$mpicc" "$probe.c" -o "$probe" "$@" >"$probe.log" 2>&1 || return 1
  [ "$(ldd "$probe" | grep -c '^[[:space:]]*libmpi\(ch\)\{0,1\}\.so')" = 1 ] || return 1
  "$probe" 2>>"$probe.log"
}

# works_root PREFIX
works_root() {
  lib=$1/lib
  [ -e "$lib/libhdf5.so" ] || lib=$1/lib64
  hdf5_version=$(works -I"$1/include" -L"$lib" -Wl,-rpath,"$lib" -lhdf5)
}

from_environment() {
  [ -n "${HDF5_ROOT:-}" ] || return 1
  for candidate in mpicc mpicc.mpich mpicc.openmpi; do
    if candidate=$(command -v "$candidate") && use_wrapper "$candidate" && works_root "$HDF5_ROOT"; then
      hdf5_root=$HDF5_ROOT
      hdf5_where="in $HDF5_ROOT (HDF5_ROOT)"
      return 0
    fi
  done
  die "HDF5_ROOT=$HDF5_ROOT is no parallel HDF5 >= 1.14 for an MPI that is here; unset it to have one found or built"
}

# works_pc NAME FLAVOUR: one that pkg-config knows, with the MPI of that flavour.
works_pc() {
  pkg-config --exists "$1 >= 1.14" 2>/dev/null && use_wrapper "$(wrapper "$2")" || return 1
  # shellcheck disable=SC2046 # a list of flags
  hdf5_version=$(works $(pkg-config --cflags --libs "$1")) || return 1
  hdf5_pc=$1
  hdf5_where="of pkg-config $1"
}

from_system() {
  works_pc hdf5-mpich mpich || works_pc hdf5 mpich || works_pc hdf5-openmpi openmpi && return 0
  # What the compiler wrapper finds by itself; CMake wants to know where that is.
  use_wrapper "$(wrapper mpich)" && works -lhdf5 >/dev/null || return 1
  prefix=$(ldd "$probe" | sed -n 's,.*=> \(/.*\)/lib[^/]*/libhdf5\.so.*,\1,p')
  works_root "$prefix" || return 1
  hdf5_root=$prefix
  hdf5_where="in $prefix (known to $mpicc)"
}

# from_cache: our own earlier build, for this MPI.
from_cache() {
  use_wrapper "$(wrapper mpich)" || die "no MPI compiler wrapper (mpicc) is here"
  built=$cache_dir/hdf5-$build_version-$mpi
  [ -d "$built" ] && works_root "$built" || return 1
  hdf5_root=$built
  hdf5_where="in $built"
}

# apt_candidate: the version of the distribution's parallel HDF5, if apt's lists are there.
apt_hdf5=libhdf5-mpich-dev
apt_candidate() { apt-cache policy $apt_hdf5 | sed -n '/(none)/d; s/^ *Candidate: //p'; }
apt_has_hdf5() { candidate=$(apt_candidate) && [ -n "$candidate" ] && dpkg --compare-versions "$candidate" ge 1.14; }

# from_apt: the distribution's, if it is new enough.
from_apt() {
  command -v apt-cache >/dev/null || return 1
  if [ -z "$(apt_candidate)" ] && as_root true; then apt_update; fi
  apt_has_hdf5 || return 1
  apt_install $apt_hdf5
  works_pc hdf5-mpich mpich
}

# fetch_source DIR: the upstream tarball of Debian's source package, through a source entry made from this machine's
# own, with apt's lists and archives kept in DIR: nothing of the machine's changes. Prints the file's path.
fetch_source() {
  # shellcheck disable=SC1091
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  mirror=$(debian_mirror "$codename") || return 1
  keyring=$(printf '%s\n' "$mirror" | sed -n 2p)
  printf 'deb-src %s %s %s main\n' "${keyring:+[signed-by=$keyring]}" "${mirror%%
*}" $build_suite >"$1/sources.list"
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/download"
  cat >"$1/apt.conf" <<END
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/nonexistent";
Dir::State::lists "$1/lists";
Dir::Cache "$1/cache";
APT::Sandbox::User "$(id -un)";
END
  quietly "$logs/hdf5-apt-update.log" env APT_CONFIG="$1/apt.conf" apt-get update || return 1
  (cd "$1/download" && APT_CONFIG="$1/apt.conf" apt-get source --download-only hdf5) \
    >"$logs/hdf5-apt-source.log" 2>&1 || return 1
  # apt may spell the name's '+' as %2b: look, do not spell.
  find "$1/download" -name "hdf5_$build_version*.orig.tar.*" ! -name '*.asc' | grep .
}

# compile_hdf5 SOURCE BUILD: as hdf5's own documents say; the distribution's patches are not needed.
compile_hdf5() {
  cmake -G Ninja -S "$1" -B "$2" -DCMAKE_C_COMPILER="$mpicc" -DCMAKE_BUILD_TYPE=Release \
    -DHDF5_ENABLE_PARALLEL=ON -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
    -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF -DHDF5_BUILD_JAVA=OFF -DHDF5_BUILD_EXAMPLES=OFF \
    -DBUILD_TESTING=OFF -DBUILD_STATIC_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$built" &&
    cmake --build "$2" &&
    DESTDIR="$work/install" cmake --install "$2"
}

# from_source: built beside its place and renamed into it, so that an interrupted build is never taken for one.
from_source() {
  command -v apt-get >/dev/null || die "no parallel HDF5 >= 1.14 found; set HDF5_ROOT to one"
  mkdir -p "$cache_dir"
  work=$(mktemp -d "$cache_dir/.building-XXXXXX")
  say "fetching the source of HDF5 $build_version (apt, 37 MB)"
  tarball=$(fetch_source "$work") ||
    die "cannot fetch HDF5's source package from this machine's Debian mirror (see $logs); set HDF5_ROOT to a parallel HDF5 >= 1.14"
  mkdir "$work/source"
  tar -xf "$tarball" -C "$work/source" --strip-components=1 || die "cannot unpack $tarball"
  say "building HDF5 $build_version for $mpi: three to seven minutes on two cores, once (log: $logs/hdf5.log)"
  quietly "$logs/hdf5.log" compile_hdf5 "$work/source" "$work/build" || die "HDF5 did not build"
  mv -T "$work/install$built" "$built" || [ -d "$built" ] # another setup may have been quicker
  rm -rf "$work"
  work=
  from_cache
}

find_hdf5() {
  hdf5_root=
  hdf5_pc=
  work=
  probe_dir=$(mktemp -d)
  probe=$probe_dir/probe
  trap 'rm -rf "$probe_dir" ${work:+"$work"}' EXIT
  trap 'exit 1' HUP INT TERM
  from_environment || from_system || from_cache || from_apt || from_source ||
    die "the HDF5 just installed cannot be used: $(tail -n 3 "$probe.log")"
}
