#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""The completions of bash, zsh and fish offer what there is, where it fits."""

import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import TOP, Commands, read, write
from program import FAIRMILL, HAS_REPORT

ETC = f'{TOP}/etc/fairmill'

# Options that pages name by their short form only, and synonyms that they name.
SHARED = {'-u': '--users', '-A': '--accounts', '-M': '--clusters', '-v': '--verbose'}
SYNONYMS = {'history': {'--from', '--to'}, 'prio': {'--partition'}}

# COMP_WORDBREAKS has an = in it, so that it stands between two words.
BASH = r'''
    . "$1"
    COMP_WORDS=("${@:2}")
    COMP_CWORD=$(($# - 2))
    COMPREPLY=()
    compopt() { COMPREPLY=(files); }
    _fairmill "$2" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
'''
# zsh itself says what begins with the last word; here that is for the function's helpers.
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
# On a terminal, with the files where they are installed.
TERMINAL = r'''
    zmodload zsh/zpty
    zpty terminal zsh -f -i
    zpty -w terminal 'fpath=($FUNCTIONS $fpath); autoload -U compinit; compinit -D -u; echo rea""dy'
    zpty -r -m terminal got '*ready*'
    zpty -n -w terminal $'fairmill statu\t'
    zpty -r -m terminal got '*fairmill status*' && print -r -- "${(V)got}"
'''


def joined(words):
    """Where bash has --config = FILE, others have one word."""
    words = list(words)
    while '=' in words:
        at = words.index('=')
        words[at - 1:at + 2] = [''.join(words[at - 1:at + 2])]
    return words


class Shells(Commands):
    """Each is asked what Tab offers behind these words, sorted; the last one has just begun.  `files` where it
    completes a path."""

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
        """fish offers what has the word anywhere, where nothing begins with it."""
        words = joined(words)
        self.command('fish', '--no-config', '-c', 'source $argv[1]; complete -C "$argv[2]"', f'{ETC}.fish-completion',
                     ' '.join([FAIRMILL, *words]), cwd=self.path('paths'))
        offered = (re.sub(r'^(--config=)?a[.]conf$', 'files', line.partition('\t')[0]) for line in self.out.splitlines())
        return '\n'.join(one for one in offered if one == 'files' or re.match(re.escape(words[-1]) or '-*[a-zA-Z]', one))


def in_manual(command=None):
    """A command's actions and options; without one, the commands."""
    if not command:
        pages = glob.glob(f'{TOP}/man/fairmill-*.[18].pod')
        names = [os.path.basename(page).removeprefix('fairmill-').partition('.')[0] for page in pages]
        # The one that a build may be made without.
        return sorted([name for name in names if HAS_REPORT or name != 'report'] + ['help'])
    text = read(glob.glob(f'{TOP}/man/fairmill-{command}.[18].pod')[0])
    sections = '\n'.join(re.findall(r'^=head1 (?:OPTIONS|ACTIONS)\n(.*?)(?=^=head1)', text, re.M | re.S))
    items = '\n\n'.join(re.findall(r'^=item.*(?:\n.+)*', sections, re.M))
    found = set(re.findall('B<(--[A-Za-z-]*)>', items)) | set(re.findall('B<([a-z]*)>', items))
    # The paragraph that refers to fairmill-cli(7) names options described there.  Synonyms are not offered.
    rest = ''.join(part for part in sections.split('\n\n') if 'B<fairmill-cli>(7)' in part)
    found |= {name for option, name in SHARED.items() if f'B<{option}>' in rest}
    found |= {'--config', '--help', '--version'}
    if 'B<--json>' in sections:
        found |= {'--parsable', '--parsable-with-bar', '--csv', '--json', '--columns', '--noheader'}
    found -= SYNONYMS.get(command, set())
    return sorted(found)


# What is true, the words, and what is offered.
CASES = (
    ('letters narrow the commands down', ('statu',), ['status']),
    ('what no command begins with offers nothing', ('x',), []),
    ('a dash offers what may come before a command', ('-',), ['--config', '--help', '--version']),
    ('two dashes and a letter narrow that down', ('--v',), ['--version']),
    ('an action is followed by options', ('ledger', 'refund', '--wh'), ['--why']),
    ('and by no other action', ('ledger', 'list', 'u'), []),
    ('a command behind -c FILE is seen', ('-c', 'run', 'ch'), ['check']),
    ('a command behind --config=FILE is seen', ('--config', '=', 'a.conf', 'run', '--n'), ['--now']),
    ('-c is followed by a file', ('-c', ''), ['files']),
    ('--config is followed by a file', ('--config', 'a'), ['files']),
    ('--config= is followed by a file', ('--config', '='), ['files']),
    ('--config=a is followed by a file', ('--config', '=', 'a'), ['files']),
    ('an option with a value is followed by none of ours', ('run', '--cluster', ''), []),
    ('and so by its other spelling', ('run', '--clusters', ''), []),
    ('help is followed by commands', ('help', 'statu'), ['status']),
    ('-c may be behind the command too', ('show', '-c', ''), ['files']),
    ('the same by its letter', ('show', '-u', ''), []),
    ('a value is followed by options', ('run', '--cluster', 'alpha', '--rep'), ['--replace']),
    ('an option without a value is followed by options', ('run', '--dry-run', '--rep'), ['--replace']),
    ('an option is followed by a folder', ('import', 'pbs', '--accounting', ''), ['files']),
    ('a command is followed by a file', ('diff', ''), ['files']),
    ('and so is an action', ('ledger', 'import', ''), ['files']),
    ('another action is followed by options', ('ledger', 'undo', '--wh'), ['--why']),
    ('and the one before still by options', ('ledger', 'import', '--wh'), ['--why']),
    ('an unknown command offers --help alone', ('atlantis', ''), ['--help']),
)


def completes(place, shell):
    def offered(*words):
        return sorted(getattr(place, f'by_{shell}')(*words).split())
    commands = in_manual()
    tap.same(offered(''), commands, f'{shell}: the first word is a command of the manual')
    for command in commands:
        if command == 'help':
            continue
        tap.same(offered(command, '-' if command == 'diff' else ''), in_manual(command),
                 f'{shell}: {command} has the actions and options of the manual')
        unknown = []
        for option in offered(command, '-'):
            place.command(FAIRMILL, '-c', place.path('none'), command, option)
            unknown += [line for line in (place.out + place.err).splitlines() if 'unknown option' in line]
        tap.empty(unknown, f'{shell}: {command} knows all of them')
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
                tap.diag(f'{shell} is not there')
        installed(place)


tap.main(body)
