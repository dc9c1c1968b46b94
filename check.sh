#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One command for every check: installs what is missing, builds, runs all tests, once more with
# sanitizers, reads the code, and makes a release and tests that.  Goes on after a failure and
# tells at the end; only what nothing can go on without stops it.
#
#   check.sh           what every change must pass
#   check.sh --long    the same, with as many cases as the figures in doc/ stand for
#
# Builds are in build/ and build-sanitizers/, logs beside them.
set -uo pipefail
umask 022
cd "$(dirname "$0")" || exit 1
. build-aux/packages.sh

case "$*" in
'') ;;
--long) export FAIRMILL_LONG=1 ;;
*)
    echo "usage: check.sh [--long]" >&2
    exit 64
    ;;
esac

jobs=$(nproc)
failures=0
summary=()

# NAME COMMAND...: one line of the summary.
step() {
    local name=$1 begun=$SECONDS verdict=passed
    shift
    printf '\n==== %s\n' "$name"
    if ! "$@"; then
        verdict=FAILED
        failures=$((failures + 1))
    fi
    summary+=("$(printf '%-7s %4d s  %s' "$verdict" $((SECONDS - begun)) "$name")")
    [ "$verdict" = passed ]
}

# LOG COMMAND...: what it says is in the log, and its end is here if it fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 60 "$log"
        echo "failed: $* (more in $log)"
        return 1
    fi
}

finish() {
    printf '\n==== check.sh\n'
    printf '%s\n' "${summary[@]}"
    if [ "$failures" -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    echo "all passed"
    exit 0
}

packages() {
    packages_install "${packages_build[@]}" "${packages_sqlite[@]}" "${packages_mysql[@]}" \
        "${packages_pgsql[@]}" "${packages_demo[@]}" "${packages_test[@]}"
}

# FOLDER CONFIGURE-OPTION...
build() {
    local folder=$1
    shift
    mkdir -p "$folder" &&
        (cd "$folder" && quietly configure.log ../configure "$@" &&
            quietly make.log make -j"$jobs" && quietly make.log make -j"$jobs" check-programs)
}

build_here() {
    quietly autogen.log ./autogen.sh && build build --enable-werror
}

# Warnings are judged above: with sanitizers the compiler sees less and gives false ones.
build_sanitizers() {
    build build-sanitizers --enable-sanitizers --disable-server-tests CFLAGS='-O1 -g'
}

# FOLDER: the tests of that build, two at a time.
run_tests() {
    make -s -C "$1" prove PROVE_FLAGS='-j2 --timer' </dev/null
}

# What random tests find they find once, with neither sanitizers nor a release around them.
few() {
    FAIRMILL_PAIRS=${FAIRMILL_PAIRS:-60} FAIRMILL_SITES=${FAIRMILL_SITES:-6} "$@"
}

run_sanitized() {
    few run_tests build-sanitizers
}

# One server of each kind serves all tests that do not ask for their own.

# COMMAND...
with_mariadb() (
    if command -v mariadbd >/dev/null; then
        . t/lib/mariadb.sh
        mariadb_shared
        export FAIRMILL_TEST_MARIADB=$MARIADB_DIRECTORY
    fi
    "$@"
)

# COMMAND...
with_postgres() (
    . t/lib/postgres.sh
    postgres_find
    if command -v postgres >/dev/null; then
        postgres_shared
        export FAIRMILL_TEST_POSTGRES=$POSTGRES_DIRECTORY
    fi
    "$@"
)

run_all_tests() {
    with_mariadb with_postgres run_tests build
}

lint() {
    quietly build/lint.log make -C build lint
}

# So long that a change which breaks a reader is seen; --long looks for what nobody has seen yet.
fuzz() {
    local seconds=30
    [ -z "${FAIRMILL_LONG:-}" ] || seconds=600
    quietly build/fuzz.log make -C build fuzz FUZZ_SECONDS="$seconds"
}

release() {
    few quietly build/distcheck.log make -C build -j"$jobs" distcheck \
        DISTCHECK_CONFIGURE_FLAGS=--enable-werror
}

step "packages are there" packages || finish
step "builds without warnings" build_here || finish
step "cppcheck and shellcheck find nothing" lint
step "builds with sanitizers" build_sanitizers &&
    step "unit and SQLite tests pass with sanitizers" run_sanitized
step "fuzzers find nothing" fuzz
step "make distcheck passes" release
step "all tests pass" run_all_tests
finish
