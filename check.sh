#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One command for every check: installs what is missing, builds, reads the code, runs every test, and
# makes a release.  Each test runs once, in the build that finds most by it: what needs no server with
# sanitizers, everything else as it is installed; the release runs its units.  A failure does not
# stop it, unless nothing can go on without what failed.
#
#   check.sh           what every change must pass
#   check.sh --long    the same, with as many cases as the figures in doc/ stand for, and every test on
#                      all systems
#   check.sh STEP...   these steps only, on what is installed: build, compilers, program, embedded, slurm, mysql,
#                      libmariadb, mysql_all, all; how t/systems/run runs them on other systems
#
# Builds are in build/ and build-sanitizers/, logs beside them.
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

# What the packages bring comes first: a manager's shim of Python takes ten times as long to start.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# For builds of other choices, which mostly compile the same (t/install/drivers.t).
# What compiles with -Werror, which comes first, compiles the same without.  Sources are named as seen from a
# folder beside them, as these builds have them.
export CCACHE_DIR=$PWD/build/ccache CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS=-Werror

jobs=$(nproc)
# Tests wait half of their time; those of --long compute, and servers that wait for the processor are called dead.
at_a_time=$((2 * jobs))
[ -z "${FAIRMILL_LONG:-}" ] || at_a_time=$((jobs + 1))
failures=0
servers=() # what starts the servers that tests share
summary=()
recap=()
not_tried=()

# FILE COMMAND...: what `times' prints of it is in the file then.  A shell of its own counts, which has no lanes
# that may end meanwhile.
counted() (
    used=$1
    shift
    "$@"
    status=$?
    times >"$used"
    exit "$status"
)

# FILE: what `times' printed there of children, in seconds of the processor.
of_children() {
    awk 'NR == 2 { split($0, of, /[ms ]+/); printf "%d", of[1] * 60 + of[2] + of[3] * 60 + of[4] }' "$1"
}

# NAME COMMAND...: one line of the summary, with its seconds and those of the processor; what failed is told
# again at the end.
step() {
    local name=$1 begun=$SECONDS verdict=passed said used
    shift
    printf '\n==== %s\n' "$name"
    said=$(mktemp) used=$(mktemp)
    if ! counted "$used" "$@" 2>&1 | tee "$said"; then
        verdict=FAILED
        failures=$((failures + 1))
        recap+=("---- $name" "$(what_failed "$said")")
    fi
    summary+=("$(printf '%-7s %4d s %5d s  %s' "$verdict" $((SECONDS - begun)) "$(of_children "$used")" "$name")")
    rm -f "$said" "$used"
    [ "$verdict" = passed ]
}

# FILE: the lines of it that say what failed, and why.
what_failed() {
    awk '/^not ok/ { left = 8 }
        /^not ok|^#/ && left-- > 0
        /^(ok|\[)/ { left = 0 }
        /Failed|failed|FAILED|found something|error:|Bail|No plan|Parse errors|Wstat/ && !/^(not ok|ok|PASS:|#)/' "$1" |
        cut -c 1-300 | tail -n 30
}

# LOG COMMAND...: what it says is in the log, and its end is here if it fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1 </dev/null; then
        what_failed "$log"
        tail -n 40 "$log"
        echo "failed: $* (more in $log)"
        return 1
    fi
}

# TEXT...: a line each, or nothing.
lines() {
    [ $# = 0 ] || printf '%s\n' "$@"
}

declare -A lanes=()

# LANE COMMAND...: its steps go on beside those that follow, until join() shows what they said.
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

# LANE: from another lane.
wait_for() {
    tail --pid="${lanes[$1]}" -f /dev/null
}

end_lanes() {
    local lane
    for lane in "${!lanes[@]}"; do
        kill -- "-${lanes[$lane]}" 2>/dev/null
    done
}

# LANE
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
    [ ${#recap[@]} = 0 ] || lines '' '==== what failed' "${recap[@]}"
    printf '\n==== check.sh: seconds, and seconds of the processor\n'
    printf '%s\n' "${summary[@]}"
    [ ${#not_tried[@]} = 0 ] || printf 'not tried: %s\n' "${not_tried[@]}"
    if [ "$failures" -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    [ ${#not_tried[@]} = 0 ] || echo "all else passed"
    [ ${#not_tried[@]} -gt 0 ] || echo "all passed"
    exit 0
}

packages() {
    packages_install "${packages_build[@]}" "${packages_sqlite[@]}" "${packages_mysql[@]}" \
        "${packages_pgsql[@]}" "${packages_demo[@]}" "${packages_test[@]}"
}

# FOLDER PROGRAMS CONFIGURE-OPTION...: with these programs of tests.
build() {
    local folder=$1 programs=$2 compiler=gcc
    shift 2
    ! command -v ccache >/dev/null || compiler='ccache gcc'
    mkdir -p "$folder" &&
        (cd "$folder" && quietly configure.log ../configure CC="$compiler" "$@" &&
            quietly make.log make -j"$jobs" && quietly make.log make -j"$jobs" "$programs")
}

# PROGRAMS CONFIGURE-OPTION...
build_here() {
    quietly autogen.log ./autogen.sh && build build "$1" --enable-werror "${@:2}"
}

# Warnings are judged above: with sanitizers the compiler sees less and gives false ones.  Its tests
# start thousands of programs, so a start must be short.  It does without the servers' libraries, which
# bring twenty others.  It has a fixed address: the sanitizers' tables are large, and to move them takes
# longer than all else.  It counts lines with --long only, and only of what coverage speaks of: each
# program writes all counts when it ends.
build_sanitizers() {
    local flags='-O1 -g1 -fno-pie'
    local -x CCACHE_DEPEND=1 # no other build compiles the same
    [ -z "${FAIRMILL_LONG:-}" ] || flags+=" --coverage -fprofile-filter-files='src/(core|results|compute)/'"
    build build-sanitizers check-programs --enable-sanitizers --disable-server-tests --without-mysql --without-pgsql \
        CFLAGS="$flags" LDFLAGS='-no-pie -static-libasan -static-libubsan -Wl,-z,norelro'
}

# FOLDER AT-A-TIME [LIST...]: these lists of tests, or all, in that build.  Those that last longest stand first, so that
# none is left at the end.
run_tests() {
    "${servers[@]}" make -s -C "$1" prove PROVE_FLAGS="-j$2 --timer --failures --comments" ${3:+TESTS="${*:3}"} </dev/null
}

# COMMAND...: of random cases fewer than `make prove' has, and --long the most.
with_few_cases() (
    [ -n "${FAIRMILL_LONG:-}" ] || export FAIRMILL_PAIRS="${FAIRMILL_PAIRS:-30}" FAIRMILL_SITES="${FAIRMILL_SITES:-4}"
    "$@"
)

# To look for leaks takes as long as most commands do; valgrind looks for them in all commands, and --long here, too.
# To keep where each piece of memory was asked for takes a tenth of a start; what is wrong with it is found without.
# Of random cases --long has as many as `make prove' here, and the most where no sanitizer watches: they would take both
# processors for half of an hour.
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

# Lines that the tests above ran.
coverage() {
    make -s -C build-sanitizers coverage
}

# COMMAND...: one server of each kind serves all tests that it runs and that do not ask for their own.  It makes its
# temporary files where tests make theirs.
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

# These take an hour of --long, half of it waiting.
every_step='t/faults/pgsql.t t/faults/mysql.t'

run_every_step() {
    # shellcheck disable=SC2086 # a list
    with_servers run_tests build 2 $every_step
}

lint() {
    quietly build/lint.log make -C build lint
}

# So many that a change which breaks a reader is seen, and the same ones each time; --long looks for
# what nobody has seen yet.
fuzz() {
    local extent='--inputs 5000'
    [ -z "${FAIRMILL_LONG:-}" ] || extent=60
    quietly build/fuzz.log make -C build fuzz FUZZ="$extent"
}

containers() {
    prove t/systems/container </dev/null
}

# Changes to the code that no test notices are printed, for people to judge.
mutants() {
    build-aux/mutants.py --count 4 --seconds 900
}

# Another order of bytes, and an unsigned char.
processors() {
    quietly build/packages.log packages_install "${packages_processors[@]}" && t/systems/processors build
}

# Its lists of files are made of what is there (t/style/lists.t), so that all tests are in it if some are.
# shellcheck disable=SC2016 # make knows the lists
release() {
    local tests='$(UNIT_TESTS)'
    [ -z "${FAIRMILL_LONG:-}" ] || tests='$(QUICK_TESTS)'
    FAIRMILL_PAIRS=40 FAIRMILL_SITES=4 quietly build/distcheck.log make -C build -j"$jobs" distcheck \
        DISTCHECK_CONFIGURE_FLAGS='--enable-werror --disable-dependency-tracking CFLAGS=-O0' TESTS="$tests"
}

# ---- other systems ----

# Of what check.sh does, by the names that it is called with there.

# Without the page where there is no Chart.js for it.
check_build() {
    local choices=(CFLAGS=-O2)
    [ -e /usr/share/javascript/chart.js ] || choices+=(--without-report)
    build_here check-programs "${choices[@]}"
}

# The suite's own compiler builds what is tested; these are the others.
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

# Without units.
check_program() { build_here t/db/port CFLAGS=-O0; }

# Without those that take longest and ask the system for nothing; a whole --long has them, too.
# shellcheck disable=SC2016 # make knows the list
check_embedded() {
    local without='t/faults/sqlite.t t/slurm/diff.t t/slurm/history.t' name
    for name in answer databases grammar history incremental kept ledger ledger_file verify; do
        without+=" t/command/$name.t"
    done
    with_few_cases run_tests build $((jobs + 1)) '$(filter-out '"$without"', $(EMBEDDED_TESTS))'
}

tests_of_slurm() { grep -l 'Slurmdbd()' t/*/*.t; }

# Tests of a real Slurm.
check_slurm() {
    local tests
    mapfile -t tests < <(tests_of_slurm)
    with_servers run_tests build $((jobs + 1)) "${tests[@]}"
}

check_mysql() {
    FAIRMILL_TEST_SERVER=mysql run_tests build $((jobs + 1)) t/faults/mysql.t t/db/roles-mysql.t t/db/port-mysql.t \
        t/install/production.t
}

# What a library says to a server, and what it makes of its answers.
check_libmariadb() {
    FAIRMILL_TEST_SERVER=mysql with_few_cases with_servers run_tests build $((jobs + 1)) t/faults/mysql.t \
        t/db/roles-mysql.t t/db/port-mysql.t t/db/tls.t t/db/secrets.t t/db/names.t t/db/upgrade.t
}

# All but what MySQL cannot be with, which are Slurm's packages and what Debian's package is made of, and a browser.
# shellcheck disable=SC2016 # make knows the lists
check_mysql_all() {
    local without
    without="t/install/debian.t $(tests_of_slurm | paste -sd' ')"
    FAIRMILL_TEST_SERVER=mysql with_few_cases with_servers run_tests build $((2 * jobs + 1)) \
        '$(filter-out '"$without"' $(BROWSER_TESTS),
            $(STYLE_TESTS) $(INSTALL_TESTS) $(EMBEDDED_TESTS) $(VALGRIND_TESTS) $(SERVER_TESTS))'
}

# valgrind watches here, and with MySQL's library.
# shellcheck disable=SC2016 # make knows the lists
check_all() {
    with_servers run_tests build $((2 * jobs + 1)) \
        '$(STYLE_TESTS) $(INSTALL_TESTS) $(EMBEDDED_TESTS) $(SERVER_TESTS)'
}

systems=(trixie-slurm unstable-mysql)
[ -z "${FAIRMILL_LONG:-}" ] || systems=(trixie-all unstable-all unstable-mysql bullseye-all unstable-libmariadb unstable-compilers)

# In the background: their packages are fetched while something else is checked.  One after the other, so
# that the first is there when its turn comes.
make_systems() {
    local system status
    rm -f build/*.made
    for system in "${systems[@]}"; do
        status=0
        t/systems/run --make "$system" >"$system.log" 2>&1 </dev/null || status=$?
        echo $status >"build/$system.made"
    done &
}

# SYSTEM: whether it could be made.
made() {
    until [ -s "build/$1.made" ]; do sleep 1; done
    [ "$(cat "build/$1.made")" = 0 ]
}

# LOG
no_root() {
    tail -n 60 "$1"
    return 1
}

# SYSTEM STATEMENT STEP...: these steps there, with fewer random cases than here: what is asked is what a system does to
# them.  That unstable's packages do not fit together is not ours to mend: then it is not tried, and
# only --long fails.
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
    step "fuzzers find nothing" fuzz # here, as this lane ends before the others
}

# In the first lane, when it has done all else: tests wait half of their time, so one lane leaves a processor idle.
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
