#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: test_prefixes.sh PATTERN LIBRARY
#
# Every symbol that a library shares begins as its folder's do (docs/design.md). AddressSanitizer's marks are not ours.
symbols=$(nm -g --defined-only "$2" | sed -n 's/^[0-9a-f]* [A-Z] //p' | grep -v '^__odr_asan[.]' | sort -u)
[ -n "$symbols" ] || { echo "nm sees no symbol in $2"; exit 1; }
others=$(echo "$symbols" | grep -vE "^($1)")
[ -z "$others" ] || { echo "$2: not ours by name:"; echo "$others"; exit 1; }
