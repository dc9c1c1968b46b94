#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs all checks: installs missing packages, builds, runs the linters and every test, and makes a
# release.  Each test runs once, in the build in which it finds most.  Tests without a server run with
# sanitizers, all others as fairmill is installed; the release runs the unit tests.  A failure does not
# stop the script unless later steps need the failed one.
#
#   check.sh           the checks that every change must pass
#   check.sh --long    the same with many more random cases, and every test on all systems
#   check.sh STEP...   only these steps, with the installed packages: build, compilers, program, embedded,
#                      slurm, mysql, libmariadb, mysql_all, all; t/systems/run uses this on other systems
#
# The builds and their logs are in build/ and build-sanitizers/.
set -uo pipefail
umask 022
cd "$(dirname "$0")" || exit 1
. build-aux/packages.sh

steps=()
case "$*" in
'') ;;
--long) export FAIRMILL_LONG=1 ;;
-*)
    echo "usage: check.sh [--long | STEP...]" >&2
    exit 64
    ;;
*) steps=("$@") ;;
esac

# Prefer the system's programs: the Python shim of a version manager starts ten times more slowly.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# Other builds share most of their objects with the first one (t/install/drivers.t).  They differ in -Werror
# and in the path of the build directory, which ccache ignores.
export CCACHE_DIR=$PWD/build/ccache CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS=-Werror

jobs=$(nproc)
# Tests wait half of their time.  Tests of --long compute, and a server that gets no processor counts as dead.
at_a_time=$((2 * jobs))
[ -z "${FAIRMILL_LONG:-}" ] || at_a_time=$((jobs + 1))
failures=0
servers=() # the program that starts the shared servers
summary=()
recap=()
not_tried=()

# counted FILE COMMAND...: run COMMAND and write the output of `times' to FILE.  A subshell does this, because
# lanes may end in the main shell meanwhile.
counted() (
    used=$1
    shift
    "$@"
    status=$?
    times >"$used"
    exit "$status"
)

# of_children FILE: print the CPU seconds of child processes from a file that counted() wrote.
of_children() {
    awk 'NR == 2 { split($0, of, /[ms ]+/); printf "%d", of[1] * 60 + of[2] + of[3] * 60 + of[4] }' "$1"
}

# step NAME COMMAND...: run COMMAND and add a line with its seconds and CPU seconds to the summary.  Failures are
# repeated at the end.
step() {
    local name=$1 begun=$SECONDS verdict=passed said used
    shift
    printf '\n==== %s\n' "$name"
    said=$(mktemp) used=$(mktemp)
    if ! counted "$used" "$@" 2>&1 | tee "$said"; then
        verdict=FAILED
        failures=$((failures + 1))
        recap+=("---- $name" "$(failures_in "$said")")
    fi
    summary+=("$(printf '%-7s %4d s %5d s  %s' "$verdict" $((SECONDS - begun)) "$(of_children "$used")" "$name")")
    rm -f "$said" "$used"
    [ "$verdict" = passed ]
}

# failures_in FILE: print the lines that name a failure and its reason.
failures_in() {
    awk '/^not ok/ { left = 8 }
        /^not ok|^#/ && left-- > 0
        /^(ok|\[)/ { left = 0 }
        /Failed|failed|FAILED|found something|error:|Bail|No plan|Parse errors|Wstat/ && !/^(not ok|ok|PASS:|#)/' "$1" |
        cut -c 1-300 | tail -n 30
}

# quietly LOG COMMAND...: run COMMAND with its output in LOG; print the end of LOG if it fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        failures_in "$log"
        tail -n 40 "$log"
        echo "failed: $* (more in $log)"
        return 1
    fi
}

# lines TEXT...: print each TEXT on a line; print nothing without arguments.
lines() {
    [ $# = 0 ] || printf '%s\n' "$@"
}

declare -A lanes=()

# beside LANE COMMAND...: run COMMAND's steps in the background; join() prints their output.
beside() {
    local lane=$1
    shift
    rm -f "build/$lane".{summary,recap,not-tried}
    set -m # a group of its own, to end all of it
    (
        summary=() recap=() not_tried=() failures=0
        "$@"
        lines "${summary[@]}" >"build/$lane.summary"
        lines "${recap[@]}" >"build/$lane.recap"
        lines "${not_tried[@]}" >"build/$lane.not-tried"
        exit "$failures"
    ) >"build/$lane.log" 2>&1 </dev/null &
    lanes[$lane]=$!
    set +m
    trap end_lanes EXIT
}

# wait_for LANE: wait for another lane to end.
wait_for() {
    tail --pid="${lanes[$1]}" -f /dev/null
}

end_lanes() {
    local lane
    for lane in "${!lanes[@]}"; do
        kill -- "-${lanes[$lane]}" 2>/dev/null
    done
}

# join LANE: wait for its end, and print and count its results.
join() {
    wait "${lanes[$1]}"
    failures=$((failures + $?))
    unset "lanes[$1]"
    cat "build/$1.log"
    mapfile -t -O "${#summary[@]}" summary <"build/$1.summary"
    mapfile -t -O "${#recap[@]}" recap <"build/$1.recap"
    mapfile -t -O "${#not_tried[@]}" not_tried <"build/$1.not-tried"
}

finish() {
    [ ${#recap[@]} = 0 ] || lines '' '==== failures' "${recap[@]}"
    printf '\n==== check.sh: seconds, and seconds of the processor\n'
    printf '%s\n' "${summary[@]}"
    [ ${#not_tried[@]} = 0 ] || printf 'not tried: %s\n' "${not_tried[@]}"
    if [ "$failures" -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    [ ${#not_tried[@]} = 0 ] || echo "all other checks passed"
    [ ${#not_tried[@]} -gt 0 ] || echo "all passed"
    exit 0
}

packages() {
    packages_install "${packages_build[@]}" "${packages_sqlite[@]}" "${packages_mysql[@]}" \
        "${packages_pgsql[@]}" "${packages_demo[@]}" "${packages_test[@]}" &&
        packages_install_axe build/npm
}

# build DIRECTORY TARGETS CONFIGURE-OPTION...: also builds the test programs TARGETS.
build() {
    local folder=$1 programs=$2 compiler=gcc
    shift 2
    ! command -v ccache >/dev/null || compiler='ccache gcc'
    mkdir -p "$folder" &&
        (cd "$folder" && quietly configure.log ../configure CC="$compiler" "$@" &&
            quietly make.log make -j"$jobs" && quietly make.log make -j"$jobs" "$programs")
}

# build_here TARGETS CONFIGURE-OPTION...: build in build/, with -Werror.
build_here() {
    quietly autogen.log ./autogen.sh && build build "$1" --enable-werror "${@:2}"
}

# The build for sanitizers has no -Werror, because sanitizers cause false warnings.  Its tests start thousands
# of programs, so the start must be fast: the build has no client libraries of servers, and a fixed address,
# because relocating the sanitizers' tables takes most of a start.  Coverage is measured with --long only,
# because each program writes all counters when it ends.
build_sanitizers() {
    local flags='-O1 -g1 -fno-pie'
    local -x CCACHE_DEPEND=1 # no other build compiles the same
    [ -z "${FAIRMILL_LONG:-}" ] || flags+=" --coverage -fprofile-filter-files='src/(core|results|compute)/'"
    build build-sanitizers check-programs --enable-sanitizers --disable-server-tests --without-mysql --without-pgsql \
        CFLAGS="$flags" LDFLAGS='-no-pie -static-libasan -static-libubsan -Wl,-z,norelro'
}

# run_tests DIRECTORY JOBS [LIST...]: run these lists of tests, or all, in that build.  The longest tests come
# first, so that none is left alone at the end.
run_tests() {
    "${servers[@]}" make -s -C "$1" prove PROVE_FLAGS="-j$2 --timer --failures --comments" ${3:+TESTS="${*:3}"} </dev/null
}

# with_few_cases COMMAND...: without --long, run COMMAND with fewer random cases than `make prove' has.
with_few_cases() (
    [ -n "${FAIRMILL_LONG:-}" ] || export FAIRMILL_PAIRS="${FAIRMILL_PAIRS:-30}" FAIRMILL_SITES="${FAIRMILL_SITES:-4}"
    "$@"
)

# Leak detection doubles the time of most commands, so only --long has it; valgrind checks all commands for leaks.
# Stack traces of allocations cost a tenth of a start, and errors are found without them.  With --long this build
# runs as many random cases as `make prove', and the build without sanitizers runs the most.
run_sanitized() (
    find build-sanitizers -name '*.gcda' -delete
    long='t/slurm/history.t t/faults/mutation.t'
    few=with_few_cases
    if [ -n "${FAIRMILL_LONG:-}" ]; then
        few=
        unset FAIRMILL_LONG
    else
        export ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1
    fi
    # shellcheck disable=SC2016 # make knows the list
    $few run_tests build-sanitizers $at_a_time "$long" '$(filter-out '"$long"', $(EMBEDDED_TESTS))'
)

# Report the lines that the tests above ran.
coverage() {
    make -s -C build-sanitizers coverage
}

# with_servers COMMAND...: run COMMAND with one server of each kind for all tests that do not start their own.  The
# servers' files are in the directory of temporary files of tests.
with_servers() {
    local -x TMPDIR=${TMPDIR:-$(build-aux/scratch.sh)}
    local servers=(t/lib/share_servers)
    "$@"
}

# shellcheck disable=SC2016 # make knows the lists
run_other_tests() {
    local long='t/install/drivers.t t/slurm/slots.t t/slurm/sshare.t t/command/valgrind.t t/slurm/sacctmgr.t t/slurm/readded.t' elsewhere=''
    if [ -n "${FAIRMILL_LONG:-}" ]; then
        elsewhere=$every_step
    else
        local -x FAIRMILL_SITES=3 # of histories half as many as `make prove' has
    fi
    with_servers run_tests build $at_a_time "$long" '$(filter-out '"$long $elsewhere"',
        $(SERVER_TESTS) $(VALGRIND_TESTS) $(INSTALL_TESTS) $(STYLE_TESTS))'
}

# These tests take an hour with --long, and wait for half of it.
every_step='t/faults/pgsql.t t/faults/mysql.t'

run_every_step() {
    # shellcheck disable=SC2086 # a list
    with_servers run_tests build 2 $every_step
}

lint() {
    quietly build/lint.log make -C build lint
}

# The number of inputs is enough to find a change that breaks a reader, and the inputs are always the same.  --long
# searches for new ones.
fuzz() {
    local extent='--inputs 5000'
    [ -z "${FAIRMILL_LONG:-}" ] || extent=60
    quietly build/fuzz.log make -C build fuzz FUZZ="$extent"
}

containers() {
    prove t/systems/container </dev/null
}

# Print changes of the code that no test detects.  They do not fail the check.
mutants() {
    build-aux/mutants.py --count 4 --seconds 900
}

# Test big-endian byte order, and unsigned char.
processors() {
    quietly build/packages.log packages_install "${packages_processors[@]}" && t/systems/processors build
}

# The lists of files come from the files that exist (t/style/lists.t), so some tests suffice to test the release.
# shellcheck disable=SC2016 # make knows the lists
release() {
    local tests='$(UNIT_TESTS)'
    [ -z "${FAIRMILL_LONG:-}" ] || tests='$(QUICK_TESTS)'
    FAIRMILL_PAIRS=40 FAIRMILL_SITES=4 quietly build/distcheck.log make -C build -j"$jobs" distcheck \
        DISTCHECK_CONFIGURE_FLAGS='--enable-werror --disable-dependency-tracking CFLAGS=-O0' TESTS="$tests"
}

# ---- other systems ----

# The functions check_STEP run on other systems.

check_build() { build_here check-programs CFLAGS=-O2; }

# The default compiler builds the tested program; these are the other ones.
check_compilers() {
    local compiler failed=0
    quietly autogen.log ./autogen.sh || return
    for compiler in $(compgen -c | grep -xE 'gcc-[0-9]+|clang' | sort -uV); do
        if build "build-$compiler" check-programs --enable-werror CC="$compiler" CFLAGS=-O2; then
            echo "no warnings by $("$compiler" --version | head -n 1)"
        else
            echo "not ok $compiler"
            failed=1
        fi
    done
    return $failed
}

# All tests on SQLite but the unit tests.
check_program() { build_here t/db/port CFLAGS=-O0; }

# Without the longest tests that do not depend on the system; a full --long has them, too.
# shellcheck disable=SC2016 # make knows the list
check_embedded() {
    local without='t/faults/sqlite.t t/slurm/diff.t t/slurm/history.t' name
    for name in answer databases grammar history incremental kept ledger ledger_file verify; do
        without+=" t/command/$name.t"
    done
    with_few_cases run_tests build $((jobs + 1)) '$(filter-out '"$without"', $(EMBEDDED_TESTS))'
}

tests_of_slurm() { grep -l 'Slurmdbd()' t/*/*.t; }

# Tests with a real Slurm.
check_slurm() {
    local tests
    mapfile -t tests < <(tests_of_slurm)
    with_servers run_tests build $((jobs + 1)) "${tests[@]}"
}

check_mysql() {
    FAIRMILL_TEST_SERVER=mysql run_tests build $((jobs + 1)) t/faults/mysql.t t/db/roles-mysql.t t/db/port-mysql.t \
        t/install/production.t
}

# Tests that depend on the client library and the server.
check_libmariadb() {
    FAIRMILL_TEST_SERVER=mysql with_few_cases with_servers run_tests build $((jobs + 1)) t/faults/mysql.t \
        t/db/roles-mysql.t t/db/port-mysql.t t/db/tls.t t/db/secrets.t t/db/names.t t/db/upgrade.t
}

# All tests that MySQL's packages permit: they conflict with the packages of Slurm, of the Debian build and of a browser.
# shellcheck disable=SC2016 # make knows the lists
check_mysql_all() {
    local without
    without="t/install/debian.t $(tests_of_slurm | paste -sd' ')"
    FAIRMILL_TEST_SERVER=mysql with_few_cases with_servers run_tests build $((2 * jobs + 1)) \
        '$(filter-out '"$without"' $(BROWSER_TESTS),
            $(STYLE_TESTS) $(INSTALL_TESTS) $(EMBEDDED_TESTS) $(VALGRIND_TESTS) $(SERVER_TESTS))'
}

# Also runs valgrind, with MySQL's library.
# shellcheck disable=SC2016 # make knows the lists
check_all() {
    local without=''
    command -v chromium >/dev/null || without='$(BROWSER_TESTS)' # bullseye
    with_servers run_tests build $((2 * jobs + 1)) \
        '$(STYLE_TESTS) $(INSTALL_TESTS) $(EMBEDDED_TESTS) $(filter-out '"$without"', $(SERVER_TESTS))'
}

systems=(trixie-slurm unstable-mysql)
[ -z "${FAIRMILL_LONG:-}" ] || systems=(trixie-all unstable-all unstable-mysql bullseye-all unstable-libmariadb unstable-compilers)

# Make the systems in the background, while other checks run.  They are made one by one, so that the first is ready
# when it is needed.
make_systems() {
    local system status
    rm -f build/*.made
    for system in "${systems[@]}"; do
        status=0
        t/systems/run --make "$system" >"$system.log" 2>&1 </dev/null || status=$?
        echo $status >"build/$system.made"
    done &
}

# made SYSTEM: succeed if the system was made.
made() {
    until [ -s "build/$1.made" ]; do sleep 1; done
    [ "$(cat "build/$1.made")" = 0 ]
}

# no_root LOG: fail with the end of LOG.
no_root() {
    tail -n 60 "$1"
    return 1
}

# on_system SYSTEM STATEMENT STEP...: run the steps on the system, with few random cases, because only the system is
# new there.  If packages of unstable do not fit together, the steps are skipped, and only --long fails.
on_system() {
    local system=$1 statement="$1: $2" cases=(-u FAIRMILL_LONG FAIRMILL_PAIRS=10 FAIRMILL_SITES=2)
    [ -z "${FAIRMILL_LONG:-}" ] || cases[-1]=FAIRMILL_SITES=3
    shift 2
    if ! made "$system"; then
        case $system in
        unstable-*)
            not_tried+=("$statement ($(tail -n 1 "$system.log"))")
            [ -z "${FAIRMILL_LONG:-}" ] || failures=$((failures + 1))
            return
            ;;
        esac
        step "$statement" no_root "$system.log"
        return
    fi
    step "$statement" env "${cases[@]}" t/systems/run "$system" ./check.sh "$@"
}

other_systems() {
    make_systems
    if [ -z "${FAIRMILL_LONG:-}" ]; then
        on_system trixie-slurm "builds without warnings; units, most of SQLite and its Slurm pass" build embedded slurm
        on_system unstable-mysql "port, roles, faults and the production page pass with MySQL" program mysql
    else
        # Three lanes are enough for two processors.
        wait_for others
        on_system trixie-all "all tests pass" build all
        on_system unstable-all "all tests pass" build all
        on_system bullseye-all "all tests pass" build all
        step "containers build, and work together" containers
    fi
    step "fuzzers find nothing" fuzz # in this lane, which ends before the others
}

# Tests wait half of their time, so this runs in the first lane after its other work.
more_systems() {
    on_system unstable-mysql "all tests pass with MySQL" build mysql_all
    on_system unstable-libmariadb "databases' tests pass with MySQL and MariaDB's client library" program libmariadb
    on_system unstable-compilers "every gcc and clang builds without warnings" compilers
}

if [ ${#steps[@]} -gt 0 ]; then
    for name in "${steps[@]}"; do
        if ! declare -F "check_$name" >/dev/null; then
            echo "check.sh: there is no step '$name'" >&2
            exit 64
        fi
        step "$name" "check_$name" || [[ $name != build && $name != program ]] || finish
    done
    finish
fi

step "packages are there" packages || finish
step "builds without warnings" build_here check-programs || finish
beside others step "all other tests pass" run_other_tests
[ -z "${FAIRMILL_LONG:-}" ] || beside steps step "every step of a run may fail" run_every_step
beside systems other_systems
step "cppcheck, clang and shellcheck find nothing" lint
step "builds with sanitizers" build_sanitizers &&
    step "units and everything on SQLite pass with sanitizers" run_sanitized &&
    [ -n "${FAIRMILL_LONG:-}" ] && step "coverage" coverage
step "make distcheck passes" release
[ -z "${FAIRMILL_LONG:-}" ] || step "other processors compute the same bits" processors
[ -z "${FAIRMILL_LONG:-}" ] || step "tests kill random mutants" mutants
[ -z "${FAIRMILL_LONG:-}" ] || more_systems
join others
[ -z "${FAIRMILL_LONG:-}" ] || join steps
join systems
finish
