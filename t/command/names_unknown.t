#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that each command reports an unknown name with the same message and exit status."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
import terminal
from place import NOW, Place

DRAWING = """
cluster tiny
root/
  physics/ 60
    alice  10  use 300
  chemistry/ 40
    bob    10  use 50
"""
# The arguments that each command needs, except names.  The commands in COMMANDS read results.
BACKTEST = ('--half-life', '14-0', '--since', NOW - 3 * 86400, '--until', NOW)
COMMANDS = {'show': (), 'prio': (), 'explain': ('alice',), 'compare': (), 'history': ('alice',), 'statement': ('--since', '2000-01-01'),
            'budget': (), 'waits': ('--since', '2000-01-01'), 'forecast': ('alice', '--now', NOW), 'whatif': ('--shares', 'alice=7'), 'ledger': ('list',), 'report': ()}
NEEDED = COMMANDS | {'backtest': BACKTEST}
WITH_USERS = ('show', 'prio', 'ledger', 'statement', 'waits', 'backtest')
WITH_ACCOUNTS = ('show', 'ledger', 'statement', 'waits', 'backtest')
OPERANDS = (('explain', 'nosuch'), ('explain', 'alice', 'nosuch'), ('history', 'nosuch'), ('forecast', 'nosuch'),
            ('show', '--pbs', 'nosuch'), ('whatif', '--shares', 'nosuch=7'))


def before_any_run(place):
    for command, needed in COMMANDS.items():
        if command != 'ledger':
            place.ends(1, f'{command} fails before the first run', command, *needed, '-M', 'nosuch')
            place.says(f'the error of {command} says that there are no results', 'no results yet')


def refused(place, message, *command):
    place.ends(64, f"{' '.join(map(str, command))} is rejected", *command)
    tap.same(terminal.without_age(place.err).split(': ', 1)[-1].rstrip('\n'), message, f"the error is '{message}'")


def unknown(place):
    for command, needed in COMMANDS.items():
        refused(place, "there is no cluster 'nosuch'", command, *needed, '-M', 'nosuch')
        if command != 'whatif':
            refused(place, "there is no cluster 'nosuch'", command, *needed, '-M', 'tiny,nosuch')
        place.ends(0, f'{command} accepts an existing cluster', command, *needed, '-M', 'tiny')
    refused(place, "there is no cluster 'nosuch'", 'forget', '-M', 'nosuch', '--yes')
    for command in WITH_USERS:
        needed = NEEDED[command]
        refused(place, "there is no user 'nosuch'", command, *needed, '-u', 'nosuch')
        refused(place, "there is no user 'nosuch'", command, *needed, '-u', 'alice,nosuch')
        place.ends(0, f'{command} accepts an existing user', command, *needed, '-u', 'alice')
    for command in WITH_ACCOUNTS:
        needed = NEEDED[command]
        refused(place, "there is no account 'nosuch'", command, *needed, '-A', 'nosuch')
        refused(place, "there is no account 'alice'", command, *needed, '-A', 'alice')
        place.ends(0, f'{command} accepts an existing account', command, *needed, '-A', 'physics')
    for command in OPERANDS:
        place.ends(64, f"{' '.join(command)} is rejected", *command)
        place.says(f"{' '.join(command)} has the same message", "there is no user or account 'nosuch'")
    refused(place, "there is no user 'nosuch'", 'ledger', 'credit', '5', '-u', 'nosuch', '--why', 'test', '--yes')
    refused(place, "there is no account 'nosuch'", 'ledger', 'credit', '5', '-u', 'alice', '-A', 'nosuch', '--why', 'test', '--yes')
    refused(place, "there is no account 'nosuch'", 'ledger', 'reset', '-A', 'nosuch', '--why', 'test', '--yes')
    refused(place, 'none of the selected users is in a selected account', 'show', '-u', 'bob', '-A', 'physics')


def several(place):
    place.succeed('show', '--parsable', '-A', 'physics', '-A', 'chemistry')
    tap.same([line.split('|')[1:3] for line in place.out.splitlines()[1:]],
             [['chemistry', ''], ['chemistry', 'bob'], ['physics', ''], ['physics', 'alice']], 'show -A with two accounts shows both')
    place.succeed('ledger', 'credit', '5', '-u', 'alice', '--why', 'hers', '--yes')
    place.succeed('ledger', 'credit', '6', '-u', 'bob', '--why', 'his', '--yes')
    place.succeed('ledger', 'list', '-u', 'bob')
    tap.ok('his' in place.out and 'hers' not in place.out, 'ledger list -u selects entries of a user', place.out)
    place.succeed('ledger', 'list', '-A', 'physics')
    tap.ok('hers' in place.out and 'his' not in place.out.replace('history', ''), 'ledger list -A selects entries of an account',
           place.out)


def body():
    with Place() as place:
        place.ready(DRAWING, {'retention.history_days': 3650})
        before_any_run(place)
        place.succeed('run', '--now', NOW)
        unknown(place)
        several(place)


tap.main(body)
