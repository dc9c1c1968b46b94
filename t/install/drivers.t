#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: packages
# Whatever drivers it is built with, fairmill works, says which these are, and refuses others.
#
# Each driver by itself is built; with FAIRMILL_LONG every choice of them.
. "$(dirname "$0")/../lib/tap.sh"
forget_build
umask 022

read -ra drivers <<<"$("$FAIRMILL" --version | sed -n 's/.*(drivers: \(.*\))$/\1/p')"
[ ${#drivers[@]} -gt 1 ] || not_here "this build has no drivers to choose from"
[ ! -e "$top/config.status" ] || not_here "make distclean lets others build from these sources"
declare -A library=([mysql]='lib(mariadb|mysqlclient)' [pgsql]=libpq [sqlite]=libsqlite3)

# Few files know of drivers, so that ccache has seen what most of them are compiled to; with another
# folder's name in what debuggers read.  It knows sources by the names that check.sh's builds have for them.
mkdir "$scratch/tree"
ln -s "$top"/* "$scratch/tree"
export CCACHE_DIR=${CCACHE_DIR:-$scratch/objects} CCACHE_NOHASHDIR=1
cc=gcc
! command -v ccache >/dev/null || cc='ccache gcc'

# DRIVER...: those that are not among them.
without() {
    local driver
    for driver in "${drivers[@]}"; do
        [[ " $* " == *" $driver "* ]] || echo "$driver"
    done
}

# What this build does without need not be there; the first build does without it in any case.
report=()
"$FAIRMILL" report --help >"$out" 2>&1 || report=(--without-report)

# FOLDER DRIVER...
configure() (
    folder=$1
    shift
    mapfile -t absent < <(without "$@")
    mkdir "$folder" && cd "$folder" &&
        ../configure --enable-werror --cache-file="$scratch/config.${#options[@]}" CC="$cc" \
            --disable-server-tests "${options[@]}" "${absent[@]/#/--without-}" \
            >configure.log 2>&1
)

# SIDE DRIVER OTHER: settings with DRIVER on that side and OTHER on the other one.
settings() {
    local side
    for side in source results; do
        printf '[%s]\ndatabase = nothing\ndriver = ' "$side"
        if [ "$side" = "$1" ]; then echo "$2"; else echo "$3"; fi
    done >"$scratch/fairmill.conf"
}

# Units that know of settings or databases; the others are the same in every build.
mapfile -t units < <(cd "$top" && grep -lE '"(settings|db|results|compute)/' t/unit/*.c)
units=("${units[@]/%.c/.t}")

# FOLDER DRIVER...: tests of what is chosen by drivers.
check() {
    local folder=$1 tests=("${units[@]}")
    shift
    [[ " $* " != *' sqlite '* ]] ||
        tests+=(t/command/arguments.t t/command/databases.t t/db/port-sqlite.t)
    env -u FAIRMILL_LONG make -s -C "$folder" -j2 check TESTS="${tests[*]}" \
        check_PROGRAMS="${units[*]} t/db/port"
}

# DRIVER...: a build with these.
try() {
    local folder=$scratch/tree/some-drivers name="$*" absent driver side
    rm -rf "$folder"
    mapfile -t absent < <(without "$@")
    if ! ok "configure takes $name alone" configure "$folder" "$@"; then
        diag "$(tail -n 20 "$folder/configure.log")"
        return
    fi
    like "and says so ($name)" "$folder/configure.log" "drivers: $name\$"
    # A target by itself comes first: it must make what it includes.
    ok "make fairmill works in a fresh tree ($name)" make -s -C "$folder" -j2 fairmill
    ok "it builds without warnings ($name)" make -s -C "$folder" -j2
    ok "so do its tests ($name)" make -s -C "$folder" -j2 "${units[@]}" t/db/port
    [ -x "$folder/fairmill" ] || return
    is "--version names $name" "$("$folder/fairmill" --version)" \
        "$("$FAIRMILL" --version | sed 's/(.*//')(drivers: $name)"
    ldd "$folder/fairmill" >"$scratch/linked"
    for driver; do
        like "the library of $driver is linked ($name)" "$scratch/linked" "${library[$driver]}"
        settings source "$driver" "$1"
        status "settings may name $driver ($name)" 0 \
            "$folder/fairmill" -c "$scratch/fairmill.conf" init --print
        like "for which there are tables ($name)" "$out" 'CREATE TABLE.*"fairmill_run"'
    done
    for driver in "${absent[@]}"; do
        unlike "that of $driver is not ($name)" "$scratch/linked" "${library[$driver]}"
        for side in source results; do
            settings $side "$driver" "$1"
            status "settings may not name $driver as [$side] ($name)" 78 \
                "$folder/fairmill" -c "$scratch/fairmill.conf" check
            like "and it is said which ones they may ($name)" "$err" \
                "\\[$side\\] driver = '$driver': this build has '${name// /\', \'}'\$"
        done
    done
    if [[ " ${options[*]} " == *' --without-report '* ]]; then
        status "it has no command report ($name)" 64 "$folder/fairmill" report
        like "which it says ($name)" "$err" "unknown command 'report'"
    fi
    ok "the tests that it has pass ($name)" check "$folder" "$@"
}

# All of them together are what every other test tries.
options=(--without-report CHART_JS=none)
for ((choice = 1; choice < (1 << ${#drivers[@]}) - 1; choice++)); do
    chosen=()
    for i in "${!drivers[@]}"; do
        ((!(choice >> i & 1))) || chosen+=("${drivers[i]}")
    done
    [ ${#chosen[@]} -gt 1 ] && [ -z "${FAIRMILL_LONG:-}" ] || try "${chosen[@]}"
    options=("${report[@]}")
done

# Without libraries of charts, and without the command that needs them.
status "without Chart.js configure does not go on" 1 bash -c '
    mkdir "$2" && cd "$2" && "$1/configure" --cache-file=/dev/null CHART_JS=none >configure.log 2>&1' \
    - "$top" "$scratch/chartless"
like "and says what to install, and how to do without" "$scratch/chartless/configure.log" \
    'Debian: libjs-chart.js.*--without-report'

status "without any driver there is nothing to build" 1 configure "$scratch/tree/none"
like "and configure says so" "$scratch/tree/none/configure.log" 'at least one driver must be built in'
done_testing
