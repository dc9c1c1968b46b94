#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: packages
# The Debian package builds from what a release holds, satisfies lintian, works once installed,
# and leaves nothing behind when purged.
#
# Root installs it into a system of its own: this one, seen through an overlay that forgets all
# that is done to it.  Who is not root, or may not mount, builds and reads it only; but where CI
# is `true`, root who may not mount is a failure.  The tests within the build run where
# FAIRMILL_LONG is set.
. "$(dirname "$0")/../lib/own_system.sh"
build=${top_builddir:-$top/build}
# A release of Debian without the page's scripts cannot build the package.
"$FAIRMILL" report --help >/dev/null 2>&1 || not_here "built without the page, which the package has"
for program in dpkg-buildpackage dh lintian; do
    command -v $program >/dev/null || skip_all "$program is not there"
done
umask 022
forget_build


# ---- build ----

version=$(sed -n 's/^AC_INIT(\[fairmill\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
is "the package's version is that of configure.ac" \
    "$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)" "$version"

# Without optimization nothing is fortified.
options="parallel=2 nocheck noopt noautodbgsym" without=(--suppress-tags hardening-no-fortify-functions)
[ -z "${FAIRMILL_LONG:-}" ] || options="parallel=2" without=()
chmod 755 "$scratch" # tests within the build change their user
ok "a release is made" make -s -C "$build" distdir distdir="$scratch/fairmill-$version"
cd "$scratch/fairmill-$version" || exit 1
ok "dpkg-buildpackage makes the package" \
    of_few env DEB_BUILD_OPTIONS="$options" CC=gcc dpkg-buildpackage -us -uc
cd "$scratch" || exit 1
ok "lintian has nothing to say" lintian --allow-root "${without[@]}" --fail-on error,warning,info ./*.changes
package=$(ls fairmill_*.deb 2>/dev/null) || done_testing


# ---- a system to install it into ----

own_system

# What cron does with the line of the package's table, the user it names included.
cron() {
    local line=$root/etc/cron.d/fairmill user path
    path=$(sed -n 's/^PATH=//p' "$line")
    line=$(grep '^[*]' "$line")
    user=$(awk '{ print $6 }' <<<"$line")
    line=${line#*" $user "}
    inside setpriv --reuid "$user" --regid "$user" --init-groups env -i HOME=/ LOGNAME="$user" \
        SHELL=/bin/sh PATH="$path" /bin/sh -c "$line"
}

traces() {
    (cd "$root" && find etc usr lib var/lib -xdev -name '*fairmill*' ! -path '*/dpkg/*' | sort)
}

# A machine that has fairmill already has none there.
inside dpkg --purge fairmill >/dev/null 2>&1
rm -rf "$root/etc/fairmill" "$root/var/lib/fairmill"
inside userdel fairmill >/dev/null 2>&1
traces >"$scratch/before"


# ---- install ----

cp "$package" "$root/tmp/fairmill.deb"
ok "dpkg installs it" inside dpkg --install /tmp/fairmill.deb
is "there is a user without a shell" "$(inside getent passwd fairmill | cut -d: -f6,7)" \
    "/var/lib/fairmill:/usr/sbin/nologin"
is "there is a folder for results in SQLite" "$(inside stat -c '%U:%G %a' /var/lib/fairmill)" \
    "fairmill:fairmill 750"
is "there is a folder for settings" "$(inside stat -c '%U:%G %a' /etc/fairmill)" "root:root 755"
ok "there are no settings yet" test ! -e "$root/etc/fairmill/fairmill.conf"
is "the user can run the program" "$(as_user fairmill --version)" \
    "fairmill $version (drivers: mysql pgsql sqlite)"
for completion in bash-completion/completions/fairmill zsh/vendor-completions/_fairmill \
    fish/vendor_completions.d/fairmill.fish; do
    ok "completion is there: $completion" test -s "$root/usr/share/$completion"
done
ok "the timer is enabled" test -L "$root/etc/systemd/system/timers.target.wants/fairmill.timer"
ok "so is the one that verifies" test -L "$root/etc/systemd/system/timers.target.wants/fairmill-verify.timer"

unit=/lib/systemd/system/fairmill
[ -e "$root$unit.service" ] || unit=/usr$unit
if inside systemd-analyze --version >/dev/null 2>&1; then
    inside systemd-analyze verify --man=no --recursive-errors=no $unit.service $unit.timer $unit.socket \
        ${unit}-answer.service $unit-verify.service $unit-verify.timer \
        >"$scratch/verify" 2>&1
    empty "systemd-analyze verify finds nothing in the units" "$scratch/verify"
    ok "systemd-analyze security gives the service 1.2 of 10 or less" \
        inside systemd-analyze security --offline=true --threshold=12 $unit.service
    ok "and who answers 1.6" \
        inside systemd-analyze security --offline=true --threshold=16 ${unit}-answer.service
else
    diag "systemd-analyze is not there"
fi


# ---- run ----

status "without settings cron does nothing" 0 cron
empty "and says nothing" "$err"

demonstration

shown() {
    as_user fairmill show --parsable 2>/dev/null | grep -c '|physics|'
}

status "the user can make the tables" 0 as_user fairmill init
is "and then there is nothing in them" "$(shown)" 0
mkdir -p "$root/run/systemd/system"
status "where systemd runs, cron does nothing" 0 cron
is "and leaves the work to the timer" "$(shown)" 0
rmdir "$root/run/systemd/system"
status "where it does not, cron runs fairmill" 0 cron
empty "which says nothing" "$err"
ok "and publishes" test "$(shown)" -gt 1


# ---- upgrade ----

# No systemd runs there.  A program in its place keeps the names of active units in a file, so that
# the package's scripts act on it as they do on a machine.
active=$root/run/active-units
cat >"$root/usr/bin/deb-systemd-invoke" <<'INVOKE'
#!/bin/bash
action= units=()
for word; do
    case $word in
    -*) ;;
    start | stop | restart | try-restart | reload | try-reload-or-restart) action=$word ;;
    *) units+=("$word") ;;
    esac
done
touch /run/active-units
for unit in "${units[@]}"; do
    case $action in
    stop) sed -i "/^$unit\$/d" /run/active-units ;;
    start | restart) grep -qx "$unit" /run/active-units || echo "$unit" >>/run/active-units ;;
    esac
done
INVOKE
printf '#!/bin/sh\n' >"$root/usr/bin/systemctl"
chmod 755 "$root/usr/bin/deb-systemd-invoke" "$root/usr/bin/systemctl"
mkdir -p "$root/run/systemd/system"
units='fairmill-answer.service fairmill-report.timer fairmill-verify.timer fairmill.socket fairmill.timer'
for running in "$units" 'fairmill-verify.timer fairmill.timer'; do
    printf '%s\n' $running >"$active"
    ok "dpkg installs it over itself" inside dpkg --install /tmp/fairmill.deb
    is "of its units, the same are active as before" "$(sort "$active" | xargs)" "$running"
done
ok "and the results are still there" test "$(shown)" -gt 1


# ---- remove ----

printf '%s\n' $units >"$active"
ok "dpkg removes it" inside dpkg --remove fairmill
empty "and stops its units" "$active"
ok "the settings are still there" test -s "$root/etc/fairmill/fairmill.conf"
ok "the results are still there" test -s "$root/var/lib/fairmill/results.db"
status "what is left of it for cron does nothing" 0 cron
empty "nor does it say anything" "$err"
ok "dpkg purges it" inside dpkg --purge fairmill
traces >"$scratch/after"
is "nothing is left" "$(cat "$scratch/after")" "$(cat "$scratch/before")"
done_testing
