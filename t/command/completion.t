#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Completion in bash, zsh and fish offers the commands, actions, options and files that fit."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import manual
import tap
from commands import TOP, Commands, write
from program import FAIRMILL

ETC = f'{TOP}/etc/fairmill'

# COMP_WORDBREAKS contains =, so bash passes it as a word of its own.
BASH = r'''
    . "$1"
    COMP_WORDS=("${@:2}")
    COMP_CWORD=$(($# - 2))
    COMPREPLY=()
    compopt() { COMPREPLY=(files); }
    _fairmill "$2" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
'''
# zsh itself keeps the words that begin with the last word; here the replaced functions do that.
ZSH = r'''
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
'''
# On a terminal, with the installed files.
TERMINAL = r'''
    zmodload zsh/zpty
    zpty terminal zsh -f -i
    zpty -w terminal 'fpath=($FUNCTIONS $fpath); autoload -U compinit; compinit -D -u; echo rea""dy'
    zpty -r -m terminal got '*ready*'
    zpty -n -w terminal $'fairmill statu\t'
    zpty -r -m terminal got '*fairmill status*' && print -r -- "${(V)got}"
'''


def joined(words):
    """bash has three words for --config=FILE; other shells have one."""
    words = list(words)
    while '=' in words:
        at = words.index('=')
        words[at - 1:at + 2] = [''.join(words[at - 1:at + 2])]
    return words


class Shells(Commands):
    """Each function returns the words that Tab offers for the last word, after the words before it.

    It returns `files` if the shell completes a path."""

    def __enter__(self):
        super().__enter__()
        write(self.path('zsh'), ZSH)
        os.mkdir(self.path('paths'))
        write(self.path('paths/a.conf'), '')
        return self

    def by_bash(self, *words):
        return self.printed('bash', '-c', BASH, 'bash', f'{ETC}.bash-completion', FAIRMILL, *words)

    def by_zsh(self, *words):
        return self.printed('zsh', '-f', self.path('zsh'), FAIRMILL, *joined(words),
                            env=dict(os.environ, completion=f'{ETC}.zsh-completion'))

    def by_fish(self, *words):
        """If no word begins with the last word, fish offers the words that contain it."""
        words = joined(words)
        self.command('fish', '--no-config', '-c', 'source $argv[1]; complete -C "$argv[2]"', f'{ETC}.fish-completion',
                     ' '.join([FAIRMILL, *words]), cwd=self.path('paths'))
        offered = (re.sub(r'^(--config=)?a[.]conf$', 'files', line.partition('\t')[0]) for line in self.out.splitlines())
        return '\n'.join(one for one in offered if one == 'files' or re.match(re.escape(words[-1]) or '-*[a-zA-Z]', one))


def first_spellings(item):
    """Returns the long options of an item.

    Synonyms, such as the singular, are left out because completion does not offer them."""
    found = {}
    for option in item:
        if option.startswith('--') and option not in ('--from', '--to'):
            found.setdefault(option.rstrip('s'), option)
    return found.values()


def in_manual(command):
    """Returns the actions and options of a command."""
    text = manual.options_section(TOP, command)
    own = {option for item in manual.items(text) for option in first_spellings(item)}
    # fairmill-cli(7) has the spelling of the help first.
    shared = {next(option for option in item if option.startswith('--')) for item in manual.shared_items(TOP, command)}
    actions = re.findall('^=item B<([a-z]+)>', manual.page(TOP, command), re.M) if command in ('ledger', 'shares') else []
    return sorted(own | shared | set(actions))


# A statement, the words on the command line, and the words that are offered.
CASES = (
    ('the first letters of a command select it', ('statu',), ['status']),
    ('letters that no command begins with offer nothing', ('x',), []),
    ('a dash offers the options before a command', ('-',), ['--config', '--help', '--version']),
    ('two dashes and a letter select one of them', ('--v',), ['--version']),
    ('an action is followed by options', ('ledger', 'refund', '--wh'), ['--why']),
    ('an action is not followed by another action', ('ledger', 'list', 'u'), []),
    ('a command after -c FILE is seen', ('-c', 'run', 'ch'), ['check']),
    ('a command after --config=FILE is seen', ('--config', '=', 'a.conf', 'run', '--n'), ['--now']),
    ('-c is followed by a file', ('-c', ''), ['files']),
    ('--config is followed by a file', ('--config', 'a'), ['files']),
    ('--config= is followed by a file', ('--config', '='), ['files']),
    ('--config=a is followed by a file', ('--config', '=', 'a'), ['files']),
    ('an option with a value is not followed by a command or an option', ('run', '--cluster', ''), []),
    ('the plural of an option with a value is not followed by an option', ('run', '--clusters', ''), []),
    ('help is followed by commands', ('help', 'statu'), ['status']),
    ('-c after the command is followed by a file', ('show', '-c', ''), ['files']),
    ('a short option with a value is not followed by a command or an option', ('show', '-u', ''), []),
    ('a value is followed by options', ('run', '--cluster', 'alpha', '--rep'), ['--replace']),
    ('an option without a value is followed by options', ('run', '--dry-run', '--rep'), ['--replace']),
    ('--accounting is followed by a directory', ('import', 'pbs', '--accounting', ''), ['files']),
    ('a command with the operand FILE is followed by a file', ('diff', ''), ['files']),
    ('an action with the operand FILE is followed by a file', ('ledger', 'import', ''), ['files']),
    ('an action without FILE is followed by options', ('ledger', 'undo', '--wh'), ['--why']),
    ('an action with FILE is followed by options after a dash', ('ledger', 'import', '--wh'), ['--why']),
    ('an unknown command is followed by --help only', ('atlantis', ''), ['--help']),
)


def completes(place, shell):
    def offered(*words):
        return sorted(getattr(place, f'by_{shell}')(*words).split())
    # A build may lack `report`.
    commands = list(manual.commands(TOP))
    tap.same(offered(''), sorted(commands + ['help']), f'{shell}: the first word is a command of the manual')
    for command in commands:
        tap.same(offered(command, '-' if command == 'diff' else ''), in_manual(command),
                 f'{shell}: {command} is followed by the actions and options of the manual')
        unknown = []
        for option in offered(command, '-'):
            place.command(FAIRMILL, '-c', place.path('none'), command, option)
            unknown += [line for line in (place.out + place.err).splitlines() if 'unknown option' in line]
        tap.empty(unknown, f'{shell}: {command} accepts all of these options')
    for statement, words, expected in CASES:
        tap.same(offered(*words), expected, f'{shell}: {statement}')


def installed(place):
    path = f"{os.path.dirname(FAIRMILL)}:{os.environ['PATH']}"
    tap.like(place.printed('bash', '-c', '. "$1"; complete -p fairmill', 'bash', f'{ETC}.bash-completion'),
             '^complete -F _fairmill fairmill$', 'bash completes the word fairmill')
    if shutil.which('zsh'):
        os.mkdir(place.path('site-functions'))
        shutil.copy(f'{ETC}.zsh-completion', place.path('site-functions/_fairmill'))
        place.command('zsh', '-f', input=TERMINAL, env=dict(os.environ, FUNCTIONS=place.path('site-functions'), PATH=path))
        tap.like(place.out + place.err, 'fairmill status', 'zsh completes the word fairmill on a terminal')
    if shutil.which('fish'):
        os.makedirs(place.path('fish/vendor_completions.d'))
        shutil.copy(f'{ETC}.fish-completion', place.path('fish/vendor_completions.d/fairmill.fish'))
        place.command('fish', '-c', 'complete -C "fairmill statu"',
                      env=dict(os.environ, XDG_DATA_DIRS=place.folder, HOME=place.folder, PATH=path))
        tap.like(place.out + place.err, '^status', 'fish completes the word fairmill')


def body():
    with Shells() as place:
        for shell in ('bash', 'zsh', 'fish'):
            if shutil.which(shell):
                completes(place, shell)
            else:
                tap.diag(f'{shell} is not installed')
        installed(place)


tap.main(body)
