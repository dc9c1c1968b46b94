# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a test is without what it needs, for scripts that start servers; to be sourced by bash.  A server's
# scripts source it themselves.
#
#   needs PROGRAM...        without one of them the script is skipped, or fails where CI is true
#   give_up TEXT            the script ends as one more failure, which the TEXT names; its further lines say
#                           why.  TAP's own word for that would end the other tests, too.

give_up() {
    local lines
    mapfile -t lines <<<"$*"
    if declare -F done_testing >/dev/null; then # tap.sh's, which has counted
        failed "${lines[@]}"
        done_testing
    fi
    echo "not ok 1 - ${lines[0]}"
    [ ${#lines[@]} = 1 ] || printf '# %s\n' "${lines[@]:1}"
    echo 1..1
    exit 1
}

needs() {
    local program
    for program; do
        if ! command -v "$program" >/dev/null; then
            [ "${CI:-}" != true ] || give_up "$program is not there"
            echo "1..0 # SKIP $program is not there"
            exit 0
        fi
    done
}
