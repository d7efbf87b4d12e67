#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_plugin_tools.sh PLUGIN_DIR BIN_DIR MAKE_FILES: h5dump, h5ls, h5diff and h5repack of BIN_DIR, told to use the
# driver, do what they do with sec2, configuration string included; and they say what is wrong with a bad one.
# Whatever HDF5 the tools belong to: skipped where that cannot load drivers, or is of another version than the plugin's.
set -eu
plugins=$1 bin=$2 make=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export HDF5_PLUGIN_PATH="$plugins"
unset HDF5_DRIVER HDF5_DRIVER_CONFIG

tool() { # the tools are not built with our sanitizers
    name=$1
    shift
    env ${H5VEC_PRELOAD:+LD_PRELOAD="$H5VEC_PRELOAD"} "$bin/$name" "$@"
}
skip() { echo "skipped: $bin/h5dump: $*" && exit 77; }
fail() { echo "FAILED: $*" && exit 1; }

[ -x "$bin/h5dump" ] || skip "is not there"
version=$("$bin/h5dump" --version)
echo "$version"
"$bin/h5dump" --help | grep -q -e --vfd-name || skip "cannot load drivers ($version)"

"$make" chunks1 placed.h5 plain.h5
if ! tool h5dump --vfd-name h5vec --enable-error-stack=2 -H plain.h5 >out 2>&1; then
    reason=$(sed -n 's/.*\(this driver h5vec was built for .*\)/\1/p' out)
    [ -n "$reason" ] || { cat out && fail "h5dump --vfd-name h5vec"; }
    skip "refused, as it should be: $reason"
fi

# dump and list: the same text
tool h5dump --vfd-name sec2 -p placed.h5 >dump.sec2
tool h5ls --vfd-name=sec2 -rv placed.h5 | sed 1d >ls.sec2
for config in '' 'meta_block=64KiB; meta_cache=1MiB' 'image=always' 'image=never; meta_block=none'; do
    tool h5dump --vfd-name h5vec --vfd-info "$config" -p placed.h5 >dump.h5vec
    cmp dump.sec2 dump.h5vec
    tool h5dump --vfd-value 444 --vfd-info "$config" -p placed.h5 >dump.h5vec
    cmp dump.sec2 dump.h5vec
    tool h5ls --vfd-name=h5vec --vfd-info="$config" -rv placed.h5 >ls.h5vec
    grep -q '^Opened .* with unknown driver' ls.h5vec # h5ls names only those it was built with
    sed 1d ls.h5vec | cmp - ls.sec2
    HDF5_DRIVER=h5vec HDF5_DRIVER_CONFIG="$config" tool h5dump -p placed.h5 >dump.h5vec
    cmp dump.sec2 dump.h5vec
done

# repack: what the driver writes, any driver reads, and the other way round
for config in '' 'zone=1MiB; write_block=none' 'async=1; flush=disk'; do
    tool h5repack -f GZIP=1 --dst-vfd-name h5vec --dst-vfd-info "$config" placed.h5 written.h5
    tool h5repack -f GZIP=1 --src-vfd-name h5vec --src-vfd-info "$config" placed.h5 read.h5
    for file in written read; do
        tool h5diff -v placed.h5 $file.h5 >differences || { cat differences && fail "$file.h5 with '$config' is another file"; }
        grep -q '^0 differences found' differences
        grep -qi 'not comparable' differences && fail "h5diff did not compare"
        tool h5diff --vfd-name-1 h5vec --vfd-info-1 "$config" --vfd-name-2 h5vec --vfd-info-2 "$config" plain.h5 $file.h5
    done
done
tool h5repack -f GZIP=1 written.h5 other.h5
tool h5diff --vfd-name-1 h5vec --vfd-name-2 h5vec written.h5 "$dir/other.h5"

# what is wrong is said, and it is the driver that said it
for config in 'zone=x' 'metablock=1' 'async'; do
    if tool h5dump --vfd-name h5vec --vfd-info "$config" --enable-error-stack=2 -H placed.h5 >out 2>&1; then
        fail "'$config' was accepted"
    fi
    grep -q "h5vec: .*${config%%=*}" out || { cat out && fail "'$config': the message does not say it"; }
done
! tool h5dump --vfd-name h5vec --enable-error-stack=2 -H nothing.h5 >out 2>&1 || fail "opened what is not there"
grep -q "name = 'nothing.h5', errno = 2" out
echo "h5dump, h5ls, h5repack and h5diff load $plugins/libh5vec_vfd.so"
