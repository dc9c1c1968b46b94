#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests source type plain, which has two or three relations: the rows that count, and findings about
invalid ones."""

import math
import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

HOUR = 3600
TREE = ((1, None, 'root', None, 1), (2, 1, 'a', '', 1), (3, 2, 'a', 'ann', 1), (4, 2, 'a', 'bob', 1))
SETTINGS = {'source.layout': 'plain', 'fairshare.capacity': 1}


def site(place, usage, keys=None, clusters=('c',), tres=None):
    """Makes a site.  `usage` has rows of (cluster, id, time_start, time_end, charge), and `tres`
    has rows of (cluster, id, time_start, time_end, tres, amount).

    For this database `c` equals `C`."""
    place.ready(keys=dict(SETTINGS, **({} if tres is None else {'source.usage_tres': 'usage_tres'}), **(keys or {})))
    os.unlink(place.path('a.db'))
    db = sqlite3.connect(place.path('a.db'))
    with db:
        db.execute('CREATE TABLE associations (cluster TEXT COLLATE NOCASE, id, parent_id, account, user_name, '
                   'partition_name, shares, deleted)')
        db.execute('CREATE TABLE usage (cluster TEXT COLLATE NOCASE, id, time_start, time_end, charge REAL)')
        for cluster in clusters:
            db.executemany(f"INSERT INTO associations VALUES ('{cluster}', ?, ?, ?, ?, '', ?, 0)", TREE)
        db.executemany('INSERT INTO usage VALUES (?, ?, ?, ?, ?)', usage)
        if tres is not None:
            db.execute('CREATE TABLE usage_tres (cluster TEXT COLLATE NOCASE, id, time_start, time_end, tres, amount)')
            db.executemany('INSERT INTO usage_tres VALUES (?, ?, ?, ?, ?, ?)', tres)
    db.close()


def used(place, cluster='c'):
    return [place.value('usage_raw', name, cluster) for name in ('a.ann', 'a.bob')]


def findings(place):
    """Returns the findings except past_unknown.  This source type has no evidence about past
    associations."""
    return {kind: count for kind, count in place.findings().items() if kind != 'past_unknown'}


def rows(place):
    site(place, (('c', 3, NOW - 1000, NOW - 400, 2.0),
                 ('c', 3, NOW - 100, None, 30.0),
                 ('c', 3, NOW - 100, 0, 400.0),
                 ('c', 3, NOW - 50, NOW + 5000, 10000.0),
                 ('c', 3, 0, NOW - 5, 1e6),
                 ('c', 3, NOW + 50, NOW + 60, 1e6),
                 ('C', 3, NOW - 9000, NOW - 8000, 1e6),
                 ('d', 3, NOW - 9000, NOW - 8000, 1e6),
                 (None, 3, NOW - 9000, NOW - 8000, 1e6),
                 ('c', 4, NOW - 500, NOW - 490, 0.5),
                 ('c', 4, NOW - 500, NOW - 490, None)))
    place.succeed('run', '--now', NOW)
    tap.same(used(place), [2.0 * 600 + 30 * 100 + 400 * 100 + 10000 * 50, 5.0],
             "rows are charged for their time up to now, without other clusters' rows")
    tap.same((findings(place), place.query('SELECT kind, why, jobs_read FROM fairmill_run')),
             ({}, [('full', 'plain has no job keys', 7)]), 'a run reads all rows of the cluster that have begun')
    place.ends(0, 'check of the relations succeeds', 'check')


def zones(place):
    """Tests a run in another time zone, with and without purged rows."""
    day = 24 * HOUR
    start = NOW - NOW % day
    for purged in False, True:
        site(place, [('c', 3, start - back * day + 20 * HOUR, start - back * day + 26 * HOUR, 1.0) for back in range(20, 0, -1)],
             {'usage.time_zone': 'system'})
        place.succeed('run', '--now', NOW, env=os.environ | {'TZ': 'UTC'})
        before = place.query('SELECT sum(tres_seconds) FROM fairmill_usage_day')
        if purged:
            place.change('DELETE FROM usage WHERE time_end < ?', start - 10 * day)
        for step, zone in enumerate(('Asia/Tokyo', 'Asia/Tokyo', 'America/New_York', 'UTC')):
            place.succeed('run', '--now', NOW + step, env=os.environ | {'TZ': zone})
            tap.same(place.query('SELECT sum(tres_seconds) FROM fairmill_usage_day'), before,
                     f'in {zone} the usage of all days is the same{", also after a purge" if purged else ""}')


def invalid_rows(place):
    good = ('c', 4, NOW - 500, NOW - 490, 0.5)
    for row, kind, what in (
            (('c', 3, NOW - 10, NOW - 20, 5.0), 'job_ends_before_start', 'that ends before it starts'),
            (('c', 3, NOW - 10, NOW, -1.0), 'job_charge_too_large', 'with a negative charge'),
            (('c', 3, NOW - 10, NOW, 1e30), 'job_charge_too_large', 'with a charge above the range'),
            (('c', 3, NOW - 10, NOW, float('inf')), 'job_charge_too_large', 'with an infinite charge')):
        site(place, (row, good))
        place.ends(0, f'a row {what} does not stop a run', 'run', '--now', NOW)
        tap.same((used(place), place.query("SELECT kind, subject FROM fairmill_finding WHERE kind <> 'past_unknown'")), ([0.0, 5.0], [(kind, '3')]),
                 f'a row {what} is a finding without a charge')
    clock = int(time.time())
    site(place, (('c', 3, clock - 100, clock + 4000, 2.0), good))
    place.succeed('run', '--now', clock)
    tap.same((used(place), findings(place)), ([200.0, 5.0], {'job_ends_in_future': 1}),
             'a row with an end in the future runs on and is a finding')


def days_of(place):
    """Returns {(id, tres, day): seconds} of all days."""
    return {row[:3]: row[3] for row in place.query('SELECT id_assoc, tres, day, seconds FROM fairmill_tres_day')}


def by_tres(place):
    """Tests usage by TRES: each row adds its amount for each second until now, and no charge."""
    midnight = NOW - NOW % (24 * HOUR)
    site(place, (('c', 3, NOW - 1000, NOW - 400, 2.0),), {'usage.time_zone': 'UTC'}, tres=(
        ('c', 3, midnight - 100, midnight + 50, 'gpu', 2), ('c', 3, NOW - 100, None, 'GPU', 30), ('c', 3, NOW - 100, 0, 'mem', 400),
        ('c', 4, NOW - 50, NOW + 5000, 'mem', 10), ('c', 4, NOW - 500, NOW - 490, 'mem', None), ('c', 3, NOW - 5, NOW - 5, 'mem', 7),
        ('c', 3, 0, NOW - 5, 'mem', 10**6), ('c', 3, NOW + 50, NOW + 60, 'mem', 10**6), ('C', 3, NOW - 90, NOW - 80, 'other', 10**6),
        ('d', 3, NOW - 90, NOW - 80, 'mem', 10**6), (None, 3, NOW - 90, NOW - 80, 'mem', 10**6), ('c', 3, NOW - 90, NOW - 80, None, 10**6),
        ('c', 3, NOW - 90, NOW - 80, '', 10**6)))
    place.succeed('run', '--now', NOW)
    tap.same(place.query('SELECT number, tres FROM fairmill_tres_name ORDER BY number'), [(1, 'GPU'), (2, 'mem')],
             'auto keeps all TRES of the cluster in bytewise order, without regard to case')
    yesterday, today = midnight - 24 * HOUR, midnight
    tap.same(days_of(place), {(3, 'GPU', yesterday): 200, (3, 'GPU', today): 100 + 3000, (3, 'mem', today): 40000, (4, 'mem', today): 500},
             'each day has the TRES-seconds of its part of each row')
    tap.same(dict(place.query("SELECT id_assoc || tres, usage_raw FROM fairmill_tres WHERE usage_raw > 0")),
             {'1GPU': 3300.0, '1mem': 40500.0, '2GPU': 3300.0, '2mem': 40500.0, '3GPU': 3300.0, '3mem': 40000.0, '4mem': 500.0},
             'an account has the usage by TRES of everything below it')
    tap.same((used(place), findings(place)), ([1200.0, 0.0], {}), 'usage by TRES is not charged and is no finding')
    for command in ('verify', 'check', 'explain'):
        place.ends(0, f'{command} accepts usage by TRES', command, *(['--jobs', 'ann'] if command == 'explain' else []))
    place.settings(dict(SETTINGS, **{'source.usage_tres': 'usage_tres', 'usage.tres': 'none'}))
    place.change('DROP TABLE usage_tres')
    place.ends(0, 'with tres = none, usage_tres is not read', 'run', '--now', NOW + 1)
    site(place, (), {'usage.half_life': '60', 'usage.tres': 'gpu'}, tres=(('c', 3, NOW - HOUR, NOW, 'gpu', 4), ('c', 3, NOW - HOUR, NOW, 'mem', 4)))
    place.succeed('run', '--now', NOW)
    got = dict(place.query('SELECT tres, usage_raw FROM fairmill_tres WHERE id_assoc = 3'))
    tap.ok(set(got) == {'gpu'} and abs(got['gpu'] - 4 * HOUR / math.log(2) / 2) < 1e-6, 'usage by TRES decays like other usage', got)


def invalid_tres(place):
    good = ('c', 4, NOW - 500, NOW - 490, 'gpu', 3)
    for amount, what in ((-1, 'negative'), (1.5, 'fractional'), (1e30, 'too large'), (2.0**53, 'too large'), (float('inf'), 'infinite')):
        site(place, (('c', 3, NOW - 10, NOW, 2.0),), tres=(('c', 3, NOW - 10, NOW, 'gpu', amount), good))
        place.succeed('run', '--now', NOW)
        tap.same((used(place)[0], place.query('SELECT id_assoc, seconds FROM fairmill_tres_day'), findings(place)),
                 (20.0, [(4, 30)], {'job_charge_too_large': 1}), f'a {what} amount ({amount}) is a finding and does not count')
        tap.same(place.query("SELECT detail FROM fairmill_finding WHERE kind = 'job_charge_too_large'"), [(f"tres_alloc '1={amount:.17g}'",)],
                 f'the finding about {amount} shows the amount')
    for row, what, message in (
            (('c', 3, NOW - 10, NOW, 'gpu', 'many'), 'an amount that is not a number', "cannot read 'usage_tres'"),
            (('c', 3, NOW - 10, NOW, 'g' * 256, 1), 'a name of 256 characters', "cannot read 'usage_tres': the name of a TRES")):
        site(place, (), tres=(row, good))
        place.ends(65, f'{what} is invalid data', 'run', '--now', NOW)
        place.says(f'the error about {what} names the relation', message)
    site(place, (), tres=[('c', 3, NOW - 10, NOW, f'{name}{i}', 1) for i in range(64) for name in 'gG'])
    place.succeed('run', '--now', NOW)
    tap.same(place.query('SELECT DISTINCT tres FROM fairmill_tres_day ORDER BY 1'), [(name,) for name in sorted(f'G{i}' for i in range(64))[:16]],
             'auto keeps the first 16 of 64 TRES')
    place.change("INSERT INTO usage_tres VALUES ('c', 3, 1, 2, 'more', 1)")
    place.ends(65, 'a 65th TRES is invalid data', 'run', '--now', NOW + 1)
    place.says('the error names the relation and the limit', "cannot read 'usage_tres': more than 64 different TRES")


def ends(place):
    """Tests the end of the oldest row, among all rows and not only the rows that are read."""
    old = ('c', 3, NOW - 4 * HOUR, NOW - 3 * HOUR, 1.0)
    recent = ('c', 3, NOW - 2 * HOUR, NOW - HOUR, 1.0)
    none = (('C', 3, NOW - 9 * HOUR, NOW - 8 * HOUR, 1.0), ('d', 3, NOW - 9 * HOUR, NOW - 8 * HOUR, 1.0),
            ('c', 3, NOW - 8 * HOUR, None, 1.0), ('c', 3, NOW - HOUR, NOW - 9 * HOUR, 1.0),
            ('c', 3, 0, NOW - 9 * HOUR, 1.0), ('c', 3, NOW - 5 * HOUR, NOW + HOUR, 1.0))

    def bound(usage, **keys):
        site(place, usage, {'usage.half_life': '60', **{f'usage.{key}': value for key, value in keys.items()}})
        place.succeed('run', '--now', NOW)
        return place.query('SELECT truncation_bound FROM fairmill_run')[0][0]
    tap.same(bound((recent, old)), 1 / 8, 'missing usage ended before the oldest row')
    tap.same(bound((recent, old, *none), horizon='0-9'), 1 / 8,
             "other clusters' rows and invalid rows do not change the bound")
    tap.same(bound((old, recent), horizon='0-2'), 1 / 4, 'with a horizon, missing usage ended before the horizon')
    tap.same(bound((recent, *none), horizon='0-2'), 1 / 2, 'if all rows ended after the horizon, the oldest row decides')
    tap.same(bound(none, horizon='0-2'), None, 'without an ended row there is no bound')
    tap.same(bound((old, recent), reset_period='100', reset_anchor=str(NOW - 90 * 60)), 0.0,
             'with a reset after the oldest row the bound is 0')
    tap.same(bound((recent,), reset_period='100', reset_anchor=str(NOW - 90 * 60)), 1 / 2,
             'with a reset before the oldest row there is a bound')


def names(place):
    """The database is not searched for names with non-ASCII characters."""
    site(place, (('zü', 3, NOW - 10, NOW, 1.0), ('c', 3, NOW - 10, NOW, 2.0), ('zü ', 3, NOW - 10, NOW, 4.0),
                 ('zü', 4, NOW - 10, NOW - 20, 4.0)), {'usage.horizon': '0-2', 'usage.half_life': '60'}, ('c', 'zü'))
    place.succeed('run', '--now', NOW)
    ratio = place.value('usage_raw', 'a.ann', 'c') / place.value('usage_raw', 'a.ann', 'zü')
    tap.same((ratio, place.query('SELECT jobs_read, truncation_bound FROM fairmill_run ORDER BY cluster')),
             (2.0, [(1, 1.0), (2, 1.0)]), 'a cluster with a non-ASCII name has its own rows')


def relations(place):
    """The name of a relation may have a schema.  Rows without a cluster are ignored."""
    site(place, (('c', 3, NOW - 10, NOW, 2.0),), {'source.associations': 'main.associations', 'source.usage': 'main.usage'})
    for cluster in (None, ''):
        place.change("INSERT INTO associations VALUES (?, 1, NULL, 'root', '', '', 1, 0)", cluster)
    place.succeed('run', '--now', NOW)
    tap.same((used(place), place.query('SELECT cluster FROM fairmill_run')), ([20.0, 0.0], [('c',)]),
             'relations are found in their schema, without rows of no cluster')
    place.change('UPDATE associations SET id = 5000000000 WHERE id = 3')
    place.ends(65, 'an id above the range is invalid data', 'run', '--now', NOW + 1)
    tap.same(used(place), [20.0, 0.0], 'old results stay after the invalid id')


def missing(place):
    for relation in ('usage', 'associations', 'usage_tres'):
        site(place, (), tres=())
        place.change(f'DROP TABLE {relation}')
        place.run('run', '--now', NOW)
        place.says(f"the error names the missing relation '{relation}'", f"cannot read '{relation}'")


def body():
    for part in (rows, zones, invalid_rows, by_tres, invalid_tres, ends, names, relations, missing):
        with Place() as place:
            part(place)


tap.main(body)
