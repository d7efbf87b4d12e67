# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# What the scripts of this folder share. Each sources it from the repository's root, with `set -eu` in force.

LC_ALL=C.UTF-8
export LC_ALL

cache_dir="${XDG_CACHE_HOME:-$HOME/.cache}/h5vec"
# What setup decided, as CMake code: cmake/Dependencies.cmake reads it, and setup_value below.
setup_file=build/setup.cmake

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { say "$*" >&2; exit 1; }

# usage SCRIPT: the comment at a script's head, from its second paragraph line on, is its --help.
usage() { sed -n '/^# SPDX/d; /^#!/d; /^#/!q; s/^# \{0,1\}//p' "$1"; }

# setup_value NAME: the value of a variable in the setup file.
setup_value() { sed -n "s/^set($1 \"\(.*\)\" CACHE.*/\1/p" "$setup_file"; }

# configure PRESET [cmake options]: from scratch if it failed last time, or if setup has decided otherwise since.
configure() {
  preset=$1
  shift
  fresh=
  # shellcheck disable=SC3013 # dash and bash have -nt
  if [ ! -e "build/$preset/build.ninja" ] || [ "$setup_file" -nt "build/$preset/build.ninja" ]; then fresh=--fresh; fi
  # shellcheck disable=SC2086 # no word at all when it is empty
  cmake $fresh --preset "$preset" "$@"
}

# quietly LOG COMMAND...: run with all output in LOG; the end of it is shown if the command fails.
quietly() {
  log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null && return 0
  say "failed: $*; the end of $log:" >&2
  tail -n 30 "$log" >&2
  return 1
}

# debian_mirror CODENAME: the URI that this machine's apt uses for Debian itself, and the keyring named beside it
# (nothing if none is named), on two lines.
debian_mirror() {
  # shellcheck disable=SC2016 # the $(...) are apt's
  target=$(apt-get indextargets --format '$(REPO_URI) $(SOURCESENTRY)' \
    'Created-By: Packages' 'Origin: Debian' 'Component: main' "Codename: $1" | head -n 1)
  [ -n "$target" ] || return 1
  uri=${target%% *}
  entry=${target#* }
  printf '%s\n' "$uri"
  signed_by "${entry%:*}" "${uri%/}"
}

# signed_by FILE URI: the keyring file that an apt source FILE (.list or .sources) gives for URI.
signed_by() {
  case $1 in
    *.sources) awk -v uri="$2" 'BEGIN { RS = ""; FS = "\n" } index($0, uri) {
      for (i = 1; i <= NF; i++) if ($i ~ /^Signed-By:[ \t]*\//) { sub(/^Signed-By:[ \t]*/, "", $i); print $i; exit } }' "$1" ;;
    *) grep -F "$2" "$1" | sed -n 's/^deb[^#]*\[[^]]*signed-by=\([^] ,]*\).*/\1/p' | head -n 1 ;;
  esac
}
