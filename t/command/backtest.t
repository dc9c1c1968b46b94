#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests backtests: history recomputed with other settings.

The values of each time must equal a run with such settings.  The summary is computed again here
from these values."""

import csv
import io
import json
import os
import sys
from collections import Counter, defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DAY = 86400
END = NOW - NOW % DAY
USERS = 'abcdefgh'
DRAWING = '''
cluster tiny
root/
  one/  60
''' + ''.join(f'    {user} {10 + 3 * k}  use 10\n' for k, user in enumerate(USERS[:5])) + '''
  two/  40
''' + ''.join(f'    {user} {5 + k}  use 10\n' for k, user in enumerate(USERS[5:]))
KEPT = {'usage.time_zone': 'UTC', 'usage.half_life': '7-0', 'retention.history_days': 3650}
SPAN = '--since', END - 30 * DAY, '--until', END, '--every', '2d'
INSTANTS = [at for at in range(END - 30 * DAY, END + 1, DAY) if at // DAY % 2 == 0]


def ready(place, **keys):
    place.ready(DRAWING, KEPT | {name.replace('__', '.'): value for name, value in keys.items()})
    for k, user in enumerate(USERS):
        begin = END - (40 - 4 * k) * DAY
        place.change('UPDATE tiny_job_table SET time_submit = ?, time_eligible = ?, time_start = ?, time_end = ?, timelimit = 0'
                     ' WHERE id_assoc = (SELECT id_assoc FROM tiny_assoc_table WHERE "user" = ?)',
                     *[begin] * 3, begin + (k * 37 % 11 + 1) * DAY // 2, user)


def rows(place, *arguments):
    place.succeed('backtest', *SPAN, *arguments, '--csv')
    return list(csv.DictReader(io.StringIO(place.out)))


def number(text):
    return None if text == '' else float(text)


def same_as_history(place):
    """Without other settings the points equal the points of backfill and of a run."""
    ready(place)
    got = rows(place, '--points')
    place.succeed('backfill', *SPAN)
    stored = place.query('SELECT as_of, id_assoc, fairshare, usage_raw, level_fs FROM fairmill_history ORDER BY 1, 2')
    mine = sorted((int(row['as_of']), int(row['id_assoc']), number(row['fairshare']), number(row['usage_raw']),
                   1e100 if row['level_fs'] == 'inf' else number(row['level_fs'])) for row in got)
    tap.same(len(stored), len(INSTANTS) * 11, 'history has a point for each time')
    tap.same([row[:3] + row[4:] for row in mine], [row[:3] + row[4:] for row in stored],
             'a backtest with the current settings equals history')
    tap.same([int(row[3]) for row in mine], [int(row[3]) for row in stored],
             'the usage in a backtest equals history, truncated to whole numbers')


def before_history_days(place):
    """Nothing is stored, so --since may be earlier than history_days; the default is not."""
    ready(place, retention__history_days='10')
    instants = {int(row['as_of']) for row in rows(place, '--points')}
    tap.same(sorted(instants), INSTANTS, 'a backtest computes requested times before history_days')
    os.environ['FAIRMILL_NOW'] = str(END)
    place.succeed('backtest', '--every', '2d', '--points', '--csv')
    del os.environ['FAIRMILL_NOW']
    instants = {int(row['as_of']) for row in csv.DictReader(io.StringIO(place.out))}
    tap.same(min(instants), min(at for at in INSTANTS if at >= END - 10 * DAY), 'without --since it begins history_days ago')


def same_as_runs(place):
    """With other settings the points equal the points of runs with these settings."""
    ready(place)
    choice = '--half-life', '14-0', '--algorithm', 'classic', '--conformance', 'slurmctld', '--dampening', '2'
    got = [row for row in rows(place, '--points', *choice) if row['settings'] != 'now']
    tap.same({row['settings'] for row in got}, {'14-0, classic, slurmctld, dampening 2'},
             'several settings with one value each are one variant')
    place.settings(KEPT | {'usage.half_life': '14-0', 'fairshare.algorithm': 'classic', 'fairshare.conformance': 'slurmctld',
                           'fairshare.dampening': 2})
    for at in INSTANTS[::5]:
        place.succeed('run', '--now', at, '--replace', '--full')
        tap.same({int(row['id_assoc']): number(row['fairshare']) for row in got if int(row['as_of']) == at},
                 dict(place.query('SELECT id_assoc, fairshare FROM fairmill_fairshare')), f'at {at} a backtest equals a run with these settings')


def places_of(factors):
    """Returns each user's place.  1 is next, and equal values share a place."""
    return {user: 1 + sum(other > factor for other in factors.values()) for user, factor in factors.items()}


def counted(place):
    ready(place)
    choice = '--half-life', '2-0', '--half-life', '30-0'
    points, got = rows(place, '--points', *choice), rows(place, *choice)
    tap.same({row['settings'] for row in got}, {'now', '2-0', '30-0'}, 'each value of a setting is a variant')
    values = defaultdict(dict)
    for row in points:
        if row['user_name']:
            values[row['settings'], int(row['as_of'])][row['user_name']] = float(row['fairshare'])
    turned, partners, places = defaultdict(Counter), defaultdict(Counter), defaultdict(list)
    for (settings, at), factors in values.items():
        before, after = places_of(values['now', at]), places_of(factors)
        for one in USERS:
            places[settings, one].append(after[one])
            for other in USERS:
                if (before[one] - before[other]) * (after[one] - after[other]) < 0:
                    turned[settings][one] += 1
                    partners[settings, one][other] += 1
    users = [row for row in got if row['user_name']]
    tap.same(len(users), 24, 'each user has a row for each variant')
    wrong = []
    for row in users:
        settings, user = row['settings'], row['user_name']
        wanted = turned[settings][user] / len(INSTANTS), sum(places[settings, user]) / len(INSTANTS)
        if abs(float(row['turned'] or 0) - wanted[0]) > 1e-9 or abs(float(row['place']) - wanted[1]) > 1e-9:
            wrong.append((settings, user, row, wanted))
        most = max(partners[settings, user].values(), default=0)
        partner = partners[settings, user][row['turned_with_user']]
        if settings != 'now' and (int(row['turned_with_points']), partner) != (most, most):
            wrong.append((settings, user, row, partners[settings, user]))
    tap.ok(not wrong, 'places and discordant users equal a count pair by pair', *wrong[:3])
    tap.ok(sum(map(sum, (counter.values() for counter in turned.values()))) > 50, 'more than 50 pairs are discordant')
    place.succeed('backtest', *SPAN, *choice, '--json')
    facts = json.loads(place.out)['clusters'][0]['settings']
    pairs = len(INSTANTS) * len(USERS) * (len(USERS) - 1) / 2
    for fact in facts[1:]:
        tap.ok(abs(fact['turned'] - sum(turned[fact['settings']].values()) / 2 / pairs) < 1e-12,
               f"{fact['settings']}: the share of discordant pairs is correct")
    place.succeed('backfill', *SPAN)
    means = dict(place.query('SELECT a.user_name, avg(h.usage_raw / r.usage_raw) FROM fairmill_history h JOIN fairmill_history r'
                             " USING (as_of) JOIN fairmill_association a ON a.id_assoc = h.id_assoc WHERE r.id_assoc = 1 AND a.user_name <> ''"
                             ' GROUP BY 1'))
    tap.ok(all(abs(float(row['use']) - means[row['user_name']]) < 1e-9 for row in users if row['settings'] == 'now'),
           'use is the mean usage fraction')


def forms(place):
    ready(place)
    got = rows(place, '--half-life', '2-0', '--half-life', '3-0', '--algorithm', 'classic', '--algorithm', 'fair_tree')
    tap.same(sorted({row['settings'] for row in got}), ['2-0, classic', '2-0, fair_tree', '3-0, classic', '3-0, fair_tree', 'now'],
             'all combinations of values are variants')
    got = rows(place, '--half-life', '2-0', '--top', 2)
    tap.same([row['settings'] for row in got], ['now', '2-0'] * 2, '--top limits the number of users')
    got = rows(place, '--accounts', 'two')
    tap.same({row['account'] for row in got}, {'two'}, '--accounts selects the users below an account')
    got = rows(place, '--users', 'a,f')
    tap.same({row['user_name'] for row in got}, {'a', 'f'}, '--users selects users')
    place.succeed('backtest', *SPAN, '--half-life', '14-0')
    tap.ok('Jobs are not scheduled again' in place.out and max(map(len, place.out.splitlines())) <= 80,
           'the text output says that nothing is scheduled, in 80 columns', place.out)
    place.ends(64, 'an invalid half-life is rejected', 'backtest', '--half-life', 'x')
    place.says('the error names half_life and its value', "half_life = 'x'")
    place.ends(64, 'too many variants are rejected', 'backtest', *sum((['--half-life', f'{n}-0'] for n in range(1, 18)), []))
    place.ends(0, 'a range without past times succeeds', 'backtest', '--since', 'now+1days')


def body():
    with Place() as place:
        for part in same_as_history, before_history_days, same_as_runs, counted, forms:
            part(place)


tap.main(body)
