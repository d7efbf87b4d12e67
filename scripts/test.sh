#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: scripts/test.sh [quick | STAGE...]
#
# Sets everything up (scripts/setup.sh --tests) and runs the stages named, or all of them, in this order:
#
#   release     build with gcc as users do, run every test
#   gcc         build with -Werror at -O2; every tracked .c file must belong to some target
#   clang       build with clang and -Werror
#   asan        AddressSanitizer and UBSan: all tests but the largest and those of peak memory
#   valgrind    the serial tests under valgrind
#   format      clang-format (version 14 only)
#   tidy        clang-tidy (version 14 only)
#   shell       shellcheck on all shell scripts
#   man         the manual pages, through groff with all warnings
#
# quick is: release format shell man. The last line counts tests and gates: 'N passed, N failed, N skipped'.
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh

stages='release gcc clang asan valgrind format tidy shell man'
jobs=$(nproc)
logs=build/logs
passed=0
failed=0
skipped=0

# gate NAME COMMAND...: one check; status 77 is a skip, for which the command has said why.
gate() {
  name=$1
  shift
  say "$name"
  status=0
  "$@" </dev/null || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)); say "$name: skipped" ;;
    *) failed=$((failed + 1)); say "$name: FAILED" ;;
  esac
}

# build PRESET
build() {
  quietly "$logs/$1-configure.log" configure "$1" && quietly "$logs/$1-build.log" cmake --build --preset "$1" -j "$jobs"
}

# run_ctest PRESET [ctest options]: its tests are counted one by one. No test at all is a failure.
run_ctest() {
  preset=$1
  shift
  junit=$PWD/$logs/$preset-ctest.xml
  rm -f "$junit"
  status=0
  ctest --preset "$preset" -j "$jobs" --no-tests=error --output-junit "$junit" "$@" </dev/null || status=$?
  counts=$(sed -n '/<testsuite /,/>/p' "$junit" 2>/dev/null | tr '\n' ' ')
  all=$(count tests) bad=$(count failures) left=$(($(count skipped) + $(count disabled)))
  passed=$((passed + all - bad - left)) failed=$((failed + bad)) skipped=$((skipped + left))
  if [ "$all" = 0 ] || { [ $status != 0 ] && [ "$bad" = 0 ]; }; then
    failed=$((failed + 1))
    say "$preset: ctest FAILED, status $status"
  fi
}

# count NAME: an attribute of the test suite in $counts, 0 if it is not there.
count() {
  value=$(printf '%s' "$counts" | sed -n "s/.*[ \t]$1=\"\([0-9]*\)\".*/\1/p")
  printf '%s' "${value:-0}"
}

# build_and_test PRESET [ctest options]
build_and_test() {
  before=$failed
  gate "build $1" build "$1"
  if [ "$failed" = "$before" ]; then run_ctest "$@"; fi
}

# pinned TOOL: sets tool to version 14 of a clang tool, whose verdicts differ from version to version.
pinned() {
  for tool in "$1-14" "$1"; do
    "$tool" --version 2>/dev/null | grep -q 'version 14\.' && return 0
  done
  say "skip: $1 is not version 14 here"
  return 1
}

check_format() {
  pinned clang-format || return 77
  git ls-files -z '*.c' '*.h' | xargs -0 "$tool" --dry-run -Werror 2>"$logs/format.log" ||
    { sed -n 's/: error: code should be.*//p' "$logs/format.log" | sort -u -t: -k 1,1; return 1; }
}

check_tidy() {
  pinned clang-tidy || return 77
  quietly "$logs/tidy-configure.log" configure clang || return 1
  git ls-files -z '*.c' | xargs -0 -n 1 -P "$jobs" "$tool" --quiet --warnings-as-errors='*' -p build/clang \
    >"$logs/tidy.log" 2>&1 || { grep -E '(error|warning): ' "$logs/tidy.log" | sort -u; say "all of it: $logs/tidy.log"; return 1; }
}

# every tracked C file is compiled by somebody.
check_sources() {
  unlisted=$(git ls-files '*.c' | while read -r file; do
    grep -q "\"$PWD/$file\"" build/gcc/compile_commands.json || printf '%s ' "$file"
  done)
  [ -z "$unlisted" ] || { say "in no CMake target: $unlisted"; return 1; }
}

check_shell() {
  command -v shellcheck >/dev/null || { say "skip: no shellcheck"; return 77; }
  { git ls-files -z '*.sh' && printf '.ci/run\0'; } | xargs -0 shellcheck -x
}

check_man() {
  command -v groff >/dev/null || { say "skip: no groff"; return 77; }
  pages=$(git ls-files 'man/*.[17]')
  [ -n "$pages" ] || { say "skip: no manual pages yet"; return 77; }
  # shellcheck disable=SC2086 # a list of files
  warnings=$(groff -man -Tutf8 -ww -z $pages 2>&1) || warnings="groff failed: $warnings"
  [ -z "$warnings" ] || { printf '%s\n' "$warnings"; return 1; }
}

stage() {
  case $1 in
    release) build_and_test release ;;
    gcc) gate 'build gcc -Werror' build gcc; gate 'all sources are built' check_sources ;;
    clang) gate 'build clang -Werror' build clang ;;
    asan) # without the largest files, without what looks at other programs' reading of the same files, and without those
      # in which programs that know nothing of AddressSanitizer load the plugin in little address space
      export UBSAN_OPTIONS=print_stacktrace=1 CK_TIMEOUT_MULTIPLIER=5
      build_and_test asan -E '_million_|_datasets16000|_1[.]10$|cli_memory|vfd_foreign_files' ;;
    valgrind) # without the one that is all arithmetic, and long
      export CK_TIMEOUT_MULTIPLIER=20
      build_and_test valgrind -L unit -E test_codec_number ;;
    format) gate clang-format check_format ;;
    tidy) gate clang-tidy check_tidy ;;
    shell) gate shellcheck check_shell ;;
    man) gate 'manual pages' check_man ;;
    *) die "unknown stage '$1'; try --help" ;;
  esac
}

case ${1:-} in
  --help | -h) usage "$0"; exit 0 ;;
  quick) set -- release format shell man ;;
  '')
    # shellcheck disable=SC2086 # a list of words
    set -- $stages ;;
esac
for name; do
  case " $stages " in *" $name "*) ;; *) die "unknown stage '$name'; try --help" ;; esac
done

scripts/setup.sh --tests --no-build
for name; do stage "$name"; done
printf '%s passed, %s failed, %s skipped\n' $passed $failed $skipped
[ $failed = 0 ] && [ $passed -gt 0 ]
