# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# TAP for tests in bash; to be sourced.  Each test is named by a statement that is true when it
# passes, and the statement comes first.
#
#   ok STATEMENT COMMAND [ARGUMENT]...      the command succeeds
#   is STATEMENT GOT EXPECTED               the texts are equal
#   like STATEMENT FILE PATTERN             a line of the file matches the extended pattern
#   unlike STATEMENT FILE PATTERN           no line does
#   empty STATEMENT FILE                    there is nothing in the file
#   status STATEMENT EXPECTED COMMAND...    the command ends with that status; what it wrote is
#                                           then in the files $out and $err
#   skip_all REASON                         end here: this machine lacks something; where CI is
#                                           `true` nothing is lacking and it is a failure
#   not_here REASON                         end here: the test has no meaning in this place
#   forget_build                            what a make, or a package's build, above us was told is not
#                                           for the builds of this test
#   diag LINE...                            something to read beside the results
#   done_testing                            the plan, and the exit status; the last line
#
# $scratch is a folder that goes when the test ends, $top where the sources are, $FAIRMILL the
# program.

set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
FAIRMILL=${FAIRMILL:-$top/build/fairmill}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/fm.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
out=$scratch/stdout
err=$scratch/stderr
tests=0
failures=0

diag() {
    printf '%s\n' "$@" | sed 's/^/# /'
}

pass() {
    tests=$((tests + 1))
    echo "ok $tests - $1"
}

# The statement, then lines that say why.
failed() {
    tests=$((tests + 1))
    failures=$((failures + 1))
    echo "not ok $tests - $1"
    shift
    [ $# = 0 ] || diag "$@"
    return 1
}

ok() {
    local statement=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        pass "$statement"
    else
        failed "$statement" "failed: $*" "$(cat "$scratch/said")"
    fi
}

is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        failed "$1" "got      $2" "expected $3"
    fi
}

like() {
    if grep -Eq -e "$3" "$2"; then
        pass "$1"
    else
        failed "$1" "nothing matches $3 in:" "$(cat "$2")"
    fi
}

unlike() {
    if [ -e "$2" ] && ! grep -Eq -e "$3" "$2"; then
        pass "$1"
    else
        failed "$1" "matches $3:" "$(grep -E -e "$3" "$2")"
    fi
}

empty() {
    if [ -e "$2" ] && [ ! -s "$2" ]; then
        pass "$1"
    else
        failed "$1" "$(head -n 40 "$2")"
    fi
}

status() {
    local statement=$1 expected=$2 got=0
    shift 2
    "$@" >"$out" 2>"$err" </dev/null || got=$?
    if [ "$got" = "$expected" ]; then
        pass "$statement"
    else
        failed "$statement" "$* ended with $got, expected $expected" "$(cat "$err")"
    fi
}

skip_all() {
    if [ "${CI:-}" = true ]; then
        failed "$1"
        done_testing
    fi
    not_here "$1"
}

not_here() {
    echo "1..0 # SKIP $1"
    exit 0
}

forget_build() {
    unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DESTDIR CONFIG_SITE FAIRMILL_CONF \
        CFLAGS CPPFLAGS LDFLAGS CHART_JS D3_HIERARCHY_JS
}

done_testing() {
    [ "$tests" -gt 0 ] || failed "at least one thing was tested"
    echo "1..$tests"
    [ "$failures" = 0 ]
    exit
}
