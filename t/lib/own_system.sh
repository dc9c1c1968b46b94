# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A system to install packages into: this one, seen through an overlay that forgets all that is done
# to it.  To be sourced in the place of tap.sh, before anything else, since the test begins again in
# a namespace of its own.
#
#   own_system          mounts it at $root; who is not root, or may not mount, ends the test with what
#                       it has tried so far, but where CI is `true` root who may not is a failure
#   inside COMMAND...   there, as root
#   as_user COMMAND...  there, as the package's user
#   of_few COMMAND...   builds a package here, of whose tests only the quick ones run, or with few cases each if
#                       FAIRMILL_LONG is set
#   demonstration       settings there, and the demonstration site, in SQLite
command -v unshare >/dev/null && [ "$(id -u)" = 0 ] && [ -z "${FAIRMILL_UNSHARED:-}" ] &&
    unshare --mount true 2>/dev/null && FAIRMILL_UNSHARED=1 exec unshare --mount "$0"

. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# Never a recursive rm where something may be mounted.
own_system_leave() {
    cd / || return
    umount -R "$system" 2>/dev/null
    rmdir "$system"
    rm -rf --one-file-system "$scratch"
}

# That a package's own tests run is the question; what others find is found elsewhere, but for what a
# package's flags and places do to them.
of_few() (
    # shellcheck disable=SC2016 # make knows the list
    [ -n "${FAIRMILL_LONG:-}" ] || export MAKEFLAGS='TESTS=$$(QUICK_TESTS)'
    unset FAIRMILL_LONG
    export FAIRMILL_PAIRS=4 FAIRMILL_SITES=1
    "$@"
)

# The few devices that packages use; the machine's own /dev stays out of reach.
own_system_devices() {
    mount -t tmpfs -o mode=755 tmpfs "$1" &&
        mknod -m 666 "$1/null" c 1 3 &&
        mknod -m 666 "$1/zero" c 1 5 &&
        mknod -m 666 "$1/full" c 1 7 &&
        mknod -m 666 "$1/random" c 1 8 &&
        mknod -m 666 "$1/urandom" c 1 9 &&
        mknod -m 666 "$1/tty" c 5 0 &&
        ln -s /proc/self/fd "$1/fd" &&
        mkdir -m 1777 "$1/shm"
}

own_system_mount() {
    if [ -z "${FAIRMILL_UNSHARED:-}" ]; then
        echo "unshare --mount is not permitted" >&2
        return 1
    fi
    mount --make-rprivate / &&
        mount -t tmpfs tmpfs "$system" &&
        mkdir "$system/upper" "$system/work" "$system/root" &&
        mount -t overlay -o "lowerdir=/,upperdir=$system/upper,workdir=$system/work" overlay "$system/root" &&
        mount -t proc proc "$system/root/proc" &&
        own_system_devices "$system/root/dev" &&
        mount -t tmpfs tmpfs "$system/root/run" &&
        mount -t tmpfs -o mode=1777 tmpfs "$system/root/tmp"
}

own_system() {
    system=$(mktemp -d /tmp/fm-system.XXXXXX) || exit 1
    root=$system/root
    trap own_system_leave EXIT
    own_system_mount 2>"$err" && return
    if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ]; then
        failed "root can mount an overlay to install it into" "$(cat "$err")"
    else
        diag "not installed, which takes root and an overlay" "$(cat "$err")"
    fi
    done_testing
}

inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

as_user() {
    inside setpriv --reuid fairmill --regid fairmill --init-groups env HOME=/var/lib/fairmill "$@"
}

# Settings that are there keep their owner and mode.
demonstration() {
    "$top/sql/demo/make-demo.py" "$scratch/accounting.db" >/dev/null
    install -m 644 "$scratch/accounting.db" "$root/var/lib/fairmill/accounting.db"
    cat >"$root/etc/fairmill/fairmill.conf" <<'SETTINGS'
[source]
driver = sqlite
database = /var/lib/fairmill/accounting.db
[results]
driver = sqlite
database = /var/lib/fairmill/results.db
SETTINGS
    inside chown -R fairmill: /var/lib/fairmill
}
