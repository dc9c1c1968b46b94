#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""--iso prints dates in place of epoch seconds in each column that is a time."""

import csv
import io
import os
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
from place import NOW, Place

ZONE = 'Europe/Berlin'
DAYS = {'day', 'from'}
TIMES = {'to', 'as_of', 'exhausted_at', 'time_start', 'time_end', 'instant', 'entered_at', 'compared_at', 'started_at',
         'eligible_at'}
COMMANDS = (('statement', {'from', 'to'}), ('history chidi', {'as_of'}), ('history chidi --tres cpu', {'day'}),
            ('waits --per month', {'from', 'to'}), ('forecast chidi', {'as_of'}),
            ('status', {'as_of', 'started_at', 'compared_at'}), ('ledger list', {'instant', 'entered_at'}),
            ('budget', {'exhausted_at'}), ('explain chidi --jobs', {'time_start', 'time_end'}),
            ('prio --columns jobid,eligible_at', {'eligible_at'}),
            ('backtest --half-life=1d --since 2025-06-18 --until 2025-06-20 --points', {'as_of'}), ('show', set()))


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline='')))


def date(column, seconds, command):
    """The date that a cell shows, or the text of a cell that has no time."""
    if not seconds.isdigit():
        return seconds
    is_day = column in DAYS or (column == 'to' and command.startswith('waits'))
    return datetime.fromtimestamp(int(seconds), ZoneInfo(ZONE)).strftime('%Y-%m-%d' if is_day else '%Y-%m-%dT%H:%M:%S')


def body():
    with Place() as place:
        os.environ['FAIRMILL_NOW'] = str(NOW)
        demonstration.publish(place, keys={'usage.time_zone': ZONE})
        for command, wanted in COMMANDS:
            place.succeed(*command.split(), '--csv')
            seconds, text = rows(place.out), place.out
            place.succeed(*command.split(), '--csv', '--iso')
            dates = rows(place.out)
            tap.ok(seconds and len(seconds) == len(dates), f'{command} has the same rows with --iso', text, place.out)
            times = (DAYS | TIMES) & set(seconds[0])
            tap.same(times, wanted, f'{command} has these times')
            tap.ok(not times or any(row[column] != seconds[i][column] for i, row in enumerate(dates) for column in times),
                   f'{command} --iso prints dates', place.out)
            tap.same(dates, [{column: date(column, cell, command) if column in times else cell for column, cell in row.items()}
                             for row in seconds], f'{command} --iso changes only times')
        place.succeed('statement', '-Po', 'account,from,to', '--iso')
        tap.like(place.out, r'(?m)^\S+\|2025-\d\d-\d\d\|2025-\d\d-\d\dT\d\d:\d\d:\d\d$', '--parsable prints dates with --iso')
        place.succeed('statement')
        text = place.out
        place.succeed('statement', '--iso')
        tap.same(place.out, text, 'text output is the same with --iso')
        for arguments in (('statement', '--json'), ('show', '--json=slurm')):
            place.ends(64, f'{" ".join(arguments)} rejects --iso', *arguments, '--iso')
            place.says(f'the error of {" ".join(arguments)} names both options',
                       f'{arguments[0]}: --iso and {arguments[1]} are mutually exclusive')


tap.main(body)
