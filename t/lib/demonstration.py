# SPDX-License-Identifier: MIT
"""The demonstration's site in a place, and what commands print of it."""

import os
import subprocess

import tap
from place import NOW
from program import TOP


def make(place):
    """Its accounting database, demo.db."""
    subprocess.run([os.path.join(TOP, 'sql', 'demo', 'make-demo.py'), place.path('demo.db'), str(NOW)],
                   check=True, stdout=subprocess.DEVNULL)


def publish(place):
    make(place)
    place.ready(keys={'usage.half_life': '7-0', 'usage.time_zone': 'UTC', 'source.database': place.path('demo.db')})
    place.succeed('run', '--now', NOW)


def is_as_known(place, folder, name, statement):
    """What was printed last is t/data/FOLDER/NAME.txt; with FAIRMILL_GOLDEN that is written first."""
    path = os.path.join(TOP, 't', 'data', folder, f'{name}.txt')
    if os.environ.get('FAIRMILL_GOLDEN'):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(place.out)
    with open(path, encoding='utf-8') as file:
        tap.same(place.out, file.read(), statement)


def is_in_questions(place):
    with open(os.path.join(TOP, 'doc', 'questions.md'), encoding='utf-8') as file:
        tap.ok(''.join('    ' * bool(line.strip()) + line for line in place.out.splitlines(True)) in file.read(),
               'and as doc/questions.md has it', place.out)
