#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test_keys.sh: every key of the driver's settings is in docs/vfd.md and in its manual page, and no other is.
set -eu
cd "$H5VEC_SOURCE_DIR"
keys=$(sed -n 's/^    {"\([a-z_]*\)", AT(.*/\1/p' vfd/H5FDh5vec_config.c | sort)
[ "$(echo "$keys" | wc -l)" -ge 14 ] || { echo "found only: $keys" && exit 1; }
# shellcheck disable=SC2016 # Markdown's quotes
table=$(sed -n '/^## Keys/,/^## /s/^| `\([a-z_]*\)` |.*/\1/p' docs/vfd.md | sort)
manual=$(sed -n '/^\.SH SETTINGS/,/^\.SH ERRORS/p' man/h5vec-vfd.7 | sed -n '/^\.TP/{n;s/^\.B //p}' | sort)
[ "$keys" = "$table" ] || { echo "keys: $keys, docs/vfd.md: $table" && exit 1; }
[ "$keys" = "$manual" ] || { echo "keys: $keys, man/h5vec-vfd.7: $manual" && exit 1; }
