#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: scripts/fresh-root.sh [--dir DIR] SUITE [COMMAND...]
#
# Runs COMMAND (by default scripts/demo.sh, then scripts/test.sh) in a clone of this repository's last commit, inside
# a minimal Debian root of SUITE (bookworm, trixie) made by debootstrap from this machine's own Debian mirror: the
# proof that a fresh machine with git and a shell is enough. Needs root and debootstrap. The mounts live in a
# namespace of their own and end with the command; the root is removed, too, unless DIR is given: then it is
# DIR/SUITE, and is taken again next time with what was installed into it.
set -eu
cd "$(dirname "$0")/.."
. scripts/common.sh

dir=
case ${1:-} in
  --help | -h) usage "$0"; exit 0 ;;
  --dir) dir=$2; shift 2 ;;
esac
[ $# -ge 1 ] || die "which suite? try --help"
suite=$1
shift
[ $# -gt 0 ] || set -- sh -c 'scripts/demo.sh && scripts/test.sh'
[ "$(id -u)" = 0 ] || die "needs root (chroot, mount)"
command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap"

if [ -z "$dir" ]; then
  dir=$(mktemp -d)
  trap 'rm -rf --one-file-system "$dir"' EXIT
  trap 'exit 1' HUP INT TERM
fi
root=$dir/$suite
if [ ! -e "$root/.complete" ]; then
  # shellcheck disable=SC1091
  mirror=$(. /etc/os-release && debian_mirror "$VERSION_CODENAME" | head -n 1)
  [ -n "$mirror" ] || die "apt here knows no Debian mirror"
  say "debootstrap $suite into $root"
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  quietly "$dir/$suite.log" debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$root" "$mirror"
  touch "$root/.complete"
fi
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf --one-file-system "$root/h5vec"
git clone -q --no-hardlinks . "$root/h5vec"

say "$suite: $*"
status=0
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --pid --fork --kill-child --propagation private sh -c '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin CI=true \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    sh -c "cd /h5vec && exec \"\$@\"" sh "$@"' sh "$root" "$@" </dev/null || status=$?
say "$suite: exit $status"
exit $status
