#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: packages
# The packages of fairmill.spec build from a release with the compiler's flags of Enterprise Linux,
# satisfy rpmlint, work once installed, keep what sites have written, and compute what this build does.
#
# What Debian's rpm does not know of Enterprise Linux is in rpm.macros.  Root installs them into a
# system of its own, see own_system.sh, with an rpm database of its own.  Where FAIRMILL_LONG is set the
# tests within the build run, and the linker optimizes.
. "$(dirname "$0")/../lib/own_system.sh"
build=${top_builddir:-$top/build}
# Debian 13's rpm builds in other folders, and makes users itself.
(. /etc/os-release 2>/dev/null && [ "${VERSION_CODENAME:-}" = bookworm ]) ||
    not_here "rpm.macros is for the rpm of Debian 12"
for program in rpmbuild rpmlint semodule_unpackage; do
    command -v $program >/dev/null || skip_all "$program is not there"
done
[ -e /usr/share/selinux/devel/Makefile ] || skip_all "SELinux's policy for developers is not there"
umask 022
forget_build
here=$top/t/install
spec=$top/fairmill.spec
export HOME=$scratch

# Enterprise Linux 10 has processors that can multiply and add at once, which would change numbers.
processor=x86-64-v2
! /lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | grep -q 'x86-64-v3 (supported' || processor=x86-64-v3

# ARGUMENT...: Debian's packages are none that rpm knows.
rpm_build() {
    rpmbuild --nodeps --load "$here/rpm.macros" --define "_topdir $scratch" \
        --define "processor $processor" "$@"
}

# ARGUMENT...: what the spec would make.
packages() {
    rpmspec --query --load "$here/rpm.macros" "$@" "$spec"
}


# ---- the spec ----

version=$(sed -n 's/^AC_INIT(\[fairmill\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
packages --qf '%{name}\n' --without report >"$scratch/packages"
unlike "without the command there is no package of its page" "$scratch/packages" '^fairmill-report$'
packages --qf '%{name}\n' --without selinux >"$scratch/packages"
unlike "without SELinux there are no contexts" "$scratch/packages" '^fairmill-selinux$'
for driver in mysql:mariadb-connector-c-devel pgsql:libpq-devel sqlite:sqlite-devel; do
    library=${driver#*:} driver=${driver%:*}
    packages --buildrequires >"$scratch/packages"
    like "the driver $driver is built with $library" "$scratch/packages" "^$library\$"
    packages --buildrequires --without "$driver" >"$scratch/packages"
    unlike "and is left out by --without $driver" "$scratch/packages" "^$library\$"
done
packages --buildrequires --with mysqlclient >"$scratch/packages"
like "Oracle's library may take the place of MariaDB's" "$scratch/packages" '^mysql-devel$'


# ---- build ----

quick=(--nocheck --without lto)
[ -z "${FAIRMILL_LONG:-}" ] || quick=()
chmod 755 "$scratch" # tests within the build change their user
ok "a release is made" make -s -C "$build" distdir distdir="$scratch/fairmill-$version"
ok "with the spec in it" test -s "$scratch/fairmill-$version/fairmill.spec"
(cd "$scratch" && tar -czf "fairmill-$version.tar.gz" "fairmill-$version")
rm -rf "$scratch/fairmill-$version"
ok "rpmbuild makes the packages" of_few rpm_build -ta "${quick[@]}" --noclean "$scratch/fairmill-$version.tar.gz"
mapfile -t made < <(find "$scratch/RPMS" -name '*.rpm' 2>/dev/null | sort)
is "there are four" "$(for package in "${made[@]}"; do rpm -qp --qf '%{name} %{arch}\n' "$package"; done)" \
    "fairmill-report noarch
fairmill-selinux noarch
fairmill-systemd noarch
fairmill $(uname -m)"
ok "rpmlint has nothing to say" rpmlint --strict --config "$here/rpmlint.toml" \
    "$spec" "${made[@]}" "$scratch"/SRPMS/*.rpm
[ ${#made[@]} = 4 ] || done_testing

mkdir "$scratch/context"
(cd "$scratch/context" && for package in "${made[@]}"; do rpm2cpio "$package" | cpio -id --quiet; done)
program=$scratch/context/usr/bin/fairmill
bunzip2 "$scratch/context/usr/share/selinux/packages/targeted/fairmill.pp.bz2"
ok "SELinux's module is one" semodule_unpackage \
    "$scratch/context/usr/share/selinux/packages/targeted/fairmill.pp" "$scratch/module" "$scratch/contexts"
is "and lets web servers read the page" "$(grep '^/' "$scratch/contexts" | tr -s '\t' ' ')" \
    '/var/lib/fairmill-report(/.*)? system_u:object_r:httpd_sys_content_t:s0'
readelf -dlW "$program" >"$scratch/elf"
like "the program lies at no fixed address" "$scratch/elf" '\(FLAGS_1\).*PIE'
like "and binds all names when it starts" "$scratch/elf" '\(FLAGS_1\).*NOW'


# ---- numbers ----

mkdir "$scratch/numbers"
"$top/sql/demo/make-demo.py" "$scratch/numbers/accounting.db" 1800000000 >/dev/null

# PROGRAM: every value of the demonstration site under each algorithm and conformance, as it prints it.
values() {
    local algorithm conformance
    for conformance in documents slurmctld; do
        for algorithm in fair_tree depth_oblivious classic linear pbs; do
            printf '[source]\ndriver = sqlite\ndatabase = %s\n[results]\ndriver = sqlite\ndatabase = %s\n' \
                "$scratch/numbers/accounting.db" "$scratch/values.db" >"$scratch/values.conf"
            printf '[fairshare]\nalgorithm = %s\nconformance = %s\n' $algorithm $conformance \
                >>"$scratch/values.conf"
            rm -f "$scratch/values.db"*
            "$1" -c "$scratch/values.conf" init &&
                "$1" -c "$scratch/values.conf" run --now 1800000000 || echo "failed: $1 $algorithm"
            echo "$conformance $algorithm"
            sqlite3 "$scratch/values.db" 'SELECT * FROM fairmill_sshare ORDER BY 1, 2;
                SELECT cluster, id_assoc, linear_factor, depth_oblivious_ratio, classic_factor, pbs_factor,
                    fair_tree_factor, level_fs, fairshare FROM fairmill_fairshare ORDER BY 1, 2;'
        done
    done
}
values "$FAIRMILL" >"$scratch/ours"
values "$program" >"$scratch/theirs"
ok "there are values" test "$(wc -l <"$scratch/ours")" -gt 500
ok "with these flags, for $processor, it computes what this build does to the last bit" \
    diff -u "$scratch/ours" "$scratch/theirs"


# ---- install ----

own_system

# ARGUMENT...: rpm there; Debian's wants to know that one means it.
rpm_there() {
    rpm --force-debian --root "$root" --dbpath /var/lib/rpm "$@"
}

# A machine that has fairmill already has none there.
inside dpkg --purge fairmill >/dev/null 2>&1
rm -rf "$root/etc/fairmill" "$root"/var/lib/fairmill* "$root/var/lib/rpm" "$root"/etc/systemd/system/*/fairmill*
inside userdel fairmill >/dev/null 2>&1
# Enterprise Linux enables nothing that one has not asked for.
mkdir -p "$root/etc/systemd/system-preset" "$root/var/lib/rpm"
echo 'disable *' >"$root/etc/systemd/system-preset/00-enterprise.preset"

# What the packages ask for and are not themselves: libraries that are there, and others.
for package in "${made[@]}"; do
    rpm -qp --requires "$package"
done | grep -vE '^(rpmlib|config|rtld)\(|^\(|^fairmill' | sort -u >"$scratch/needed"
grep -v '^lib.*\.so' "$scratch/needed" >"$scratch/others"
is "they ask for these packages, and for libraries" "$(tr '\n' ' ' <"$scratch/others")" \
    '/bin/sh httpd-filesystem policycoreutils selinux-policy shadow-utils systemd '
inside ldconfig -p | sed -n 's/^\t\([^ ]*\).*/\1/p' | sort -u >"$scratch/libraries"
grep -v -x -F -f "$scratch/others" "$scratch/needed" | sed 's/(.*//' | sort -u |
    comm -23 - "$scratch/libraries" >"$scratch/absent"
empty "whose libraries are all known by these names" "$scratch/absent"

# The system as a package, so that rpm knows what it has.
{
    printf 'Name: debian\nVersion: 1\nRelease: 1\nSummary: This system\nLicense: MIT\nBuildArch: noarch\n'
    sed 's/^/Provides: /' "$scratch/needed"
    printf 'Provides: rtld(GNU_HASH)\n%%description\nThis system.\n%%files\n'
} >"$scratch/debian.spec"
rpm_build -bb "$scratch/debian.spec" >/dev/null 2>&1
rpm_there --install "$scratch/RPMS/noarch/debian-1-1.noarch.rpm"

ok "rpm installs them" rpm_there --install "${made[@]}"
empty "and scripts have nothing to say" "$scratch/said"
rpm_there --verify --all --nodeps >"$scratch/verify" 2>&1
empty "each file has its owner and mode" "$scratch/verify"
is "there is a user without a shell" "$(inside getent passwd fairmill | cut -d: -f5-7)" \
    "fairshare values:/var/lib/fairmill:/sbin/nologin"
is "there is a folder for settings" "$(inside stat -c '%U:%G %a' /etc/fairmill)" "root:root 755"
ok "there are no settings yet" test ! -e "$root/etc/fairmill/fairmill.conf"
is "there is a folder for results in SQLite" "$(inside stat -c '%U:%G %a' /var/lib/fairmill)" \
    "fairmill:fairmill 750"
is "and one for the page, which others may read" "$(inside stat -c '%U:%G %a' /var/lib/fairmill-report)" \
    "fairmill:fairmill 755"
is "the user can run the program" "$(as_user fairmill --version)" \
    "fairmill $version (drivers: mysql pgsql sqlite)"
links() {
    (cd "$root/etc/systemd/system" && find . -name 'fairmill*' -type l | sort | tr '\n' ' ')
}
is "nothing is enabled" "$(links)" ""
if inside systemd-analyze --version >/dev/null 2>&1; then
    units=(/usr/lib/systemd/system/fairmill{.service,.timer,-report.service,.socket,-answer.service,-verify.service,-verify.timer})
    inside systemd-analyze verify --man=no --recursive-errors=no "${units[@]}" >"$scratch/verify" 2>&1
    empty "systemd-analyze verify finds nothing in the units" "$scratch/verify"
    ok "systemd-analyze security gives the page's service 1.2 of 10 or less" \
        inside systemd-analyze security --offline=true --threshold=12 "${units[2]}"
    inside systemctl enable fairmill.timer fairmill-report.service fairmill.socket >/dev/null 2>&1
    is "the timer can be enabled, the page after each run, and the socket" "$(links)" \
        "./fairmill.service.wants/fairmill-report.service ./sockets.target.wants/fairmill.socket ./timers.target.wants/fairmill.timer "
else
    diag "systemd-analyze is not there"
fi


# ---- run ----

# UNIT: what it starts.
started_by() {
    sed -n -e 's|%S|/var/lib|g' -e 's/^ExecStart=//p' "$root/usr/lib/systemd/system/$1"
}

shown() {
    as_user fairmill show --parsable 2>/dev/null | grep -c '|physics|'
}

demonstration
status "the user can make the tables" 0 as_user fairmill init
# shellcheck disable=SC2046 # words
status "the timer's service computes" 0 as_user $(started_by fairmill.service)
empty "and says nothing" "$err"
ok "and publishes" test "$(shown)" -gt 1
# shellcheck disable=SC2046 # words
status "the page's service writes the page" 0 as_user $(started_by fairmill-report.service)
is "which web servers may read" "$(inside stat -c '%U:%G %a' /var/lib/fairmill-report/index.html)" \
    "fairmill:fairmill 644"
like "and which names an account" "$root/var/lib/fairmill-report/index.html" physics


# ---- upgrade, and erase ----

# The next release has other defaults; it has been compiled already.
echo '# of the next release' >>"$scratch/BUILD/fairmill-$version/etc/fairmill.conf"
settings=$(cat "$root/etc/fairmill/fairmill.conf")
ok "there is a later release" rpm_build -bb --noprep --nocheck --define 'dist .el9.later' \
    --define 'configure true' --define 'make_build true' "$spec"
mapfile -t later < <(find "$scratch/RPMS" -name '*.later.*.rpm' | sort)
ok "rpm upgrades to it" rpm_there --upgrade "${later[@]}"
is "the settings are the site's" "$(cat "$root/etc/fairmill/fairmill.conf")" "$settings"
is "and no others lie beside them" "$(ls "$root/etc/fairmill")" fairmill.conf
ok "the results are still there" test "$(shown)" -gt 1
[ -z "${units:-}" ] ||
    is "what was enabled is still" "$(links)" \
        "./fairmill.service.wants/fairmill-report.service ./sockets.target.wants/fairmill.socket ./timers.target.wants/fairmill.timer "

ok "rpm erases them" rpm_there --erase fairmill{,-systemd,-report,-selinux}
is "the settings are kept" "$(cat "$root/etc/fairmill/fairmill.conf")" "$settings"
ok "the results are kept" test -s "$root/var/lib/fairmill/results.db"
is "nothing is enabled any more" "$(links)" ""
(cd "$root" && find etc usr var -xdev -name '*fairmill*' ! -path 'etc/fairmill*' ! -path 'var/lib/fairmill*' \
    ! -path '*/rpm/*' ! -path 'usr/local/*' ! -path 'usr/src/*' | sort) >"$scratch/left"
empty "and nothing else is left" "$scratch/left"
done_testing
