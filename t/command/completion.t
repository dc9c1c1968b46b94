#!/bin/bash
# SPDX-License-Identifier: MIT
# The completions of bash, zsh and fish offer what there is, where it fits.
. "$(dirname "$0")/../lib/tap.sh"
. "$top/etc/fairmill.bash-completion"

# Each is asked what Tab offers behind these words, sorted; the last one has just begun.  "files" where it
# completes a path.

offered() {
    "offered_by_$shell" "$@" | sort | paste -sd " " -
}

# COMP_WORDBREAKS has an = in it, so that it stands between two words.
offered_by_bash() {
    COMP_WORDS=("$FAIRMILL" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    compopt() { COMPREPLY=(files); }
    _fairmill "$FAIRMILL" "${COMP_WORDS[$#]}" "${COMP_WORDS[$# - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
}

# zsh itself says what begins with the last word; here that is for the function's helpers.
cat >"$scratch/zsh" <<'ZSH'
compset() { [[ $words[CURRENT] == --config=* ]]; }
_files() { print files; }
_message() { :; }
_describe() { print -rl -- "${(@)${(P)@[-1]}%%:*}"; }
_arguments_of_test() {
    local -a words=("$@")
    integer CURRENT=$#
    local PREFIX=$words[CURRENT]
    . $completion
}
_arguments_of_test "$@" | while IFS= read -r one; do
    [[ -z $one || ($one != files && $one != ${(b)@[-1]}*) ]] || print -r -- $one
done
ZSH
offered_by_zsh() {
    joined "$@"
    completion=$top/etc/fairmill.zsh-completion zsh -f "$scratch/zsh" "$FAIRMILL" "${words[@]}"
}

# fish offers what has the word anywhere, where nothing begins with it.
offered_by_fish() {
    joined "$@"
    local line="$FAIRMILL" word
    for word in "${words[@]}"; do line+=" $word"; done
    mkdir -p "$scratch/paths"
    touch "$scratch/paths/a.conf"
    # shellcheck disable=SC2016 # for fish
    (cd "$scratch/paths" && fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' \
        "$top/etc/fairmill.fish-completion" "$line") | cut -f 1 |
        sed -E 's/^(--config=)?a[.]conf$/files/' | grep -e "^${word:--*[a-zA-Z]}" -e '^files$'
}

# WORD...: where bash has --config = FILE, others have one word.
joined() {
    words=()
    while [ $# -gt 0 ]; do
        if [ "${2-}" = = ]; then
            words+=("$1=${3-}")
            shift $(($# < 3 ? $# : 3))
        else
            words+=("$1")
            shift
        fi
    done
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

completes() {
    is "$shell: the first word is a command of the manual" "$(offered '')" "$commands"
    is "$shell: letters narrow the commands down" "$(offered statu)" "status"
    is "$shell: what no command begins with offers nothing" "$(offered x)" ""
    is "$shell: a dash offers what may come before a command" "$(offered -)" "--config --help --version"
    is "$shell: two dashes and a letter narrow that down" "$(offered --v)" "--version"
    for command in ${commands/help/}; do
        begun=
        [ "$command" != diff ] || begun=-
        is "$shell: $command has the actions and options of the manual" "$(offered "$command" "$begun")" "$(in_manual "$command")"
        for option in $(offered "$command" -); do
            "$FAIRMILL" -c "$scratch/none" "$command" "$option" 2>&1 </dev/null | grep 'unknown option'
        done >"$scratch/unknown"
        empty "$shell: $command knows all of them" "$scratch/unknown"
    done
    is "$shell: an action is followed by options" "$(offered ledger refund --wh)" "--why"
    is "$shell: and by no other action" "$(offered ledger list u)" ""
    is "$shell: a command behind -c FILE is seen" "$(offered -c run ch)" "check"
    is "$shell: a command behind --config=FILE is seen" "$(offered --config = a.conf run --n)" "--now"
    is "$shell: -c is followed by a file" "$(offered -c '')" "files"
    is "$shell: --config is followed by a file" "$(offered --config a)" "files"
    is "$shell: --config= is followed by a file" "$(offered --config =)" "files"
    is "$shell: --config=a is followed by a file" "$(offered --config = a)" "files"
    is "$shell: an option with a value is followed by none of ours" "$(offered run --cluster '')" ""
    is "$shell: and so by its other spelling" "$(offered run --clusters '')" ""
    is "$shell: help is followed by commands" "$(offered help statu)" "status"
    is "$shell: -c may be behind the command too" "$(offered show -c '')" "files"
    is "$shell: the same by its letter" "$(offered show -u '')" ""
    is "$shell: a value is followed by options" "$(offered run --cluster alpha --rep)" "--replace"
    is "$shell: an option without a value is followed by options" "$(offered run --dry-run --rep)" "--replace"
    is "$shell: an option is followed by a folder" "$(offered import pbs --accounting '')" "files"
    is "$shell: a command is followed by a file" "$(offered diff '')" "files"
    is "$shell: and so is an action" "$(offered ledger import '')" "files"
    is "$shell: another action is followed by options" "$(offered ledger undo --wh)" "--why"
    is "$shell: and the one before still by options" "$(offered ledger import --wh)" "--why"
    is "$shell: an unknown command offers --help alone" "$(offered atlantis '')" "--help"
}

for shell in bash zsh fish; do
    if command -v $shell >/dev/null; then
        completes
    else
        diag "$shell is not there"
    fi
done
like "bash completes the word fairmill" <(complete -p fairmill) '^complete -F _fairmill fairmill$'

# On a terminal, with the files where they are installed.
if command -v zsh >/dev/null; then
    mkdir "$scratch/site-functions"
    cp "$top/etc/fairmill.zsh-completion" "$scratch/site-functions/_fairmill"
    # shellcheck disable=SC2016 # for zsh
    FUNCTIONS=$scratch/site-functions PATH=$(dirname "$FAIRMILL"):$PATH zsh -f >"$scratch/typed" 2>&1 <<'ZSH'
        zmodload zsh/zpty
        zpty terminal zsh -f -i
        zpty -w terminal 'fpath=($FUNCTIONS $fpath); autoload -U compinit; compinit -D -u; echo rea""dy'
        zpty -r -m terminal got '*ready*'
        zpty -n -w terminal $'fairmill statu\t'
        zpty -r -m terminal got '*fairmill status*' && print -r -- "${(V)got}"
ZSH
    like "zsh completes the word fairmill on a terminal" "$scratch/typed" 'fairmill status'
fi
if command -v fish >/dev/null; then
    mkdir -p "$scratch/fish/vendor_completions.d"
    cp "$top/etc/fairmill.fish-completion" "$scratch/fish/vendor_completions.d/fairmill.fish"
    # shellcheck disable=SC2016 # for fish
    XDG_DATA_DIRS=$scratch HOME=$scratch PATH=$(dirname "$FAIRMILL"):$PATH \
        fish -c 'complete -C "fairmill statu"' >"$scratch/typed" 2>&1
    like "fish completes the word fairmill" "$scratch/typed" '^status'
fi
done_testing
