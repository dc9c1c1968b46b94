#!/bin/bash
# SPDX-License-Identifier: MIT
# The bash completion offers what there is, where it fits.
. "$(dirname "$0")/../lib/tap.sh"
. "$top/etc/fairmill.bash-completion"

# WORD...: what Tab offers behind these words, sorted; the last one has just begun.  "files"
# where it leaves the word to bash.
offered() {
    COMP_WORDS=("$FAIRMILL" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    compopt() { COMPREPLY=(files); }
    _fairmill "$FAIRMILL" "${COMP_WORDS[$#]}" "${COMP_WORDS[$# - 1]}"
    printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd " " -
}

# COMMAND: its actions and options in the manual; without one, the commands.
in_manual() {
    if [ $# = 0 ]; then
        # The one that a build may be made without.
        sed -n '/^=head1 COMMANDS/,/^=head1 WHAT/s/^=head2 //p' "$top/man/fairmill.pod" |
            if "$FAIRMILL" report --help >/dev/null 2>&1; then cat; else grep -vx report; fi
        echo help
    else
        sed -n "/^=head2 $1\$/,/^=head[12]/p" "$top/man/fairmill.pod" |
            sed -n '/^=item/,/^$/s/B</\n&/gp' | sed -n 's/^B<\(--[A-Za-z-]*\)>.*/\1/p; s/^B<\([a-z]*\)>.*/\1/p'
        # Those of all commands have a section of their own, and so have those of tables.
        printf '%s\n' --config --help --version
        sed -n "/^=head2 $1\$/,/^=head[12]/p" "$top/man/fairmill.pod" | grep -q '^=item.*--parsable' &&
            printf '%s\n' --parsable --parsable-with-bar --csv --json --columns --noheader
    fi | sort -u | paste -sd " " -
}

commands=$(in_manual)
is "the first word is a command of the manual" "$(offered '')" "$commands"
is "letters narrow the commands down" "$(offered st)" "status"
is "what no command begins with offers nothing" "$(offered x)" ""
is "a dash offers what may come before a command" "$(offered -)" "--config --help --version"
is "two dashes and a letter narrow that down" "$(offered --v)" "--version"
for command in ${commands/help/}; do
    is "$command has the actions and options of the manual" "$(offered "$command" '')" "$(in_manual "$command")"
    for option in $(offered "$command" -); do
        "$FAIRMILL" -c "$scratch/none" "$command" "$option" 2>&1 </dev/null | grep 'unknown option'
    done >"$scratch/unknown"
    empty "$command knows all of them" "$scratch/unknown"
done
is "an action is followed by options" "$(offered ledger refund --wh)" "--why"
is "and by no other action" "$(offered ledger list u)" ""
is "a command behind -c FILE is seen" "$(offered -c run ch)" "check"
is "a command behind --config=FILE is seen" "$(offered --config = a.conf run --n)" "--now"
is "-c is followed by a file" "$(offered -c '')" "files"
is "--config is followed by a file" "$(offered --config a)" "files"
is "--config= is followed by a file" "$(offered --config =)" "files"
is "--config=a is followed by a file" "$(offered --config = a)" "files"
is "an option with a value is followed by none of ours" "$(offered run --cluster '')" ""
is "and so by its other spelling" "$(offered run --clusters '')" ""
is "help is followed by commands" "$(offered help st)" "status"
is "-c may be behind the command too" "$(offered show -c '')" "files"
is "the same by its letter" "$(offered show -u '')" ""
is "a value is followed by options" "$(offered run --cluster alpha --rep)" "--replace"
is "an option without a value is followed by options" "$(offered run --dry-run --rep)" "--replace"
is "an unknown command offers --help alone" "$(offered atlantis '')" "--help"
like "it completes the word fairmill" <(complete -p fairmill) '^complete -F _fairmill fairmill$'
done_testing
