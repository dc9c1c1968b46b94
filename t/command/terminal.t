#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that colours are used only on a terminal, and that lines fit into its width."""

import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DRAWING = """
cluster tiny
root/
  physics/ 60
    alice      10  use 300
    bob        10  use 100
  chemistry/ 40
    carol      1   use 200
"""
BOLD, GREEN, RED = '\033[1m', '\033[32m', '\033[31m'
TABLES = (('show',), ('prio',), ('status',), ('explain', 'alice', 'bob'), ('explain', 'physics', '--jobs'), ('compare',),
          ('history', 'alice'), ('forecast', 'alice', '--now', str(NOW)), ('whatif', '--shares', 'alice=90'),
          ('run', '--dry-run', '--now', str(NOW)))
FOR_PROGRAMS = (('show', '--parsable'), ('show', '--csv'), ('show', '--json'), ('prio', '--parsable'), ('prio', '--json'),
                ('status', '--nagios'), ('explain', 'alice', '--json'), ('compare', '--csv'), ('compare', '--json'),
                ('history', 'alice', '--csv'), ('metrics',), ('whatif', '--json', '--shares', 'alice=90'))


def colours(place):
    for command in TABLES:
        name = ' '.join(command)
        # Wide enough for all columns of show.  A bar grows with the width.
        painted = place.on_terminal(*command, columns=80 if 'history' in command else 200)
        tap.ok(BOLD in painted, f'headings are bold on a terminal ({name})', painted)
        place.run(*command)
        plain = re.sub('\033\\[[0-9;]*m', '', painted)
        # On a terminal forecast also prints a plot.
        tap.same(plain[:len(place.out)], place.out, f'a pipe gets the same text without colours ({name})')
    for command in FOR_PROGRAMS:
        tap.ok('\033' not in place.on_terminal(*command), f"{' '.join(command)} has no colours on a terminal")
    for other in (dict(NO_COLOR='1'), dict(TERM='dumb'), dict(TERM='')):
        tap.ok('\033' not in place.on_terminal('show', **other), f'there are no colours with {other}')
    tap.ok('\033' in place.on_terminal('show', NO_COLOR=''), 'an empty NO_COLOR does not disable colours')


def judgements(place):
    tap.ok(f'{RED}tiny\033[0m' in place.on_terminal('status'), 'a cluster with stale results is red')
    place.succeed('run', '--now', int(time.time()))
    tap.ok(f'{GREEN}tiny\033[0m' in place.on_terminal('status'), 'a cluster whose run succeeded is green')
    place.succeed('run', '--now', NOW, '--replace')
    place.succeed('show', '--parsable')
    good = place.out
    for text, colour, words in ((good, GREEN, 'left unexplained: nothing'),
                                (good.replace('|300|', '|400|'), RED, 'left unexplained: ')):
        with open(place.path('print'), 'w', encoding='utf-8') as file:
            file.write(text)
        told = place.on_terminal('diff', '--at', str(NOW), place.path('print'))
        tap.ok(colour + words in told, f'diff shows the unexplained rest in a colour ({words})', told)
    place.settings({'usage.half_life': '0', 'usage.reset_period': 'none'})
    tap.ok(f'{RED}  warning: half_life' in place.on_terminal('check'), 'warnings of check are red')
    place.change("UPDATE tiny_assoc_table SET parent_acct = 'nobody', id_parent = 99 WHERE acct = 'physics'")
    place.run('run', '--now', NOW + 1)
    tap.ok(f'{RED}tiny\033[0m' in place.on_terminal('status'), 'a cluster whose run failed is red')


def widths(place):
    for columns in (60, 70, 80, 200):
        for command in (('explain', 'alice', 'carol'), ('explain', 'physics')):
            told = place.on_terminal(*command, columns=columns, NO_COLOR='1')
            tap.ok(max(map(len, told.splitlines())) <= min(columns, 80),
                   f"lines fit into {columns} columns ({' '.join(command)})",
                   told)


def parts(place):
    """A table that is too wide for the terminal is split into parts."""
    for columns in (30, 40, 60, 80):
        told = place.on_terminal('show', columns=columns, NO_COLOR='1')
        title, *lines = told.splitlines()
        tap.ok(max(map(len, lines)) <= columns, f'no line of show is longer than {columns} columns', told)
        tap.ok(all(word in told for word in ('RawShares', 'FairShare', 'LevelFS')),
               f'show has the essential columns within {columns} columns',
               told)
    told = place.on_terminal('show', '-o', 'account,user,rawusage%30,fairshare%30', columns=60, NO_COLOR='1')
    tap.same([line.split()[-1] for line in told.splitlines() if 'alice' in line], ['300', '0.333333'],
             'selected columns are not omitted')


def body():
    for part in (colours, widths, parts, judgements):
        with Place() as place:
            place.ready(DRAWING)
            place.succeed('run', '--now', NOW)
            part(place)


tap.main(body)
