#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""The layout of two relations: which of their rows count, for whom, and what is odd about them."""

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


def site(place, usage, keys=None, clusters=('c',)):
    """usage: rows of (cluster, id, time_start, time_end, charge).  To this database `c` equals `C`."""
    place.ready(keys=dict(SETTINGS, **(keys or {})))
    os.unlink(place.path('a.db'))
    db = sqlite3.connect(place.path('a.db'))
    with db:
        db.execute('CREATE TABLE associations (cluster TEXT COLLATE NOCASE, id, parent_id, account, user_name, '
                   'partition_name, shares, deleted)')
        db.execute('CREATE TABLE usage (cluster TEXT COLLATE NOCASE, id, time_start, time_end, charge REAL)')
        for cluster in clusters:
            db.executemany(f"INSERT INTO associations VALUES ('{cluster}', ?, ?, ?, ?, '', ?, 0)", TREE)
        db.executemany('INSERT INTO usage VALUES (?, ?, ?, ?, ?)', usage)
    db.close()


def used(place, cluster='c'):
    return [place.value('usage_raw', name, cluster) for name in ('a.ann', 'a.bob')]


def findings(place):
    """Of an instant of the past this layout tells nothing of associations."""
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
             'a row is charged over its time, one that goes on up to now, and those of other clusters are not')
    tap.same((findings(place), place.query('SELECT kind, why, jobs_read FROM fairmill_run')),
             ({}, [('full', 'plain has no job keys', 7)]), 'every run reads all rows of the cluster that have begun')
    place.ends(0, 'so does check', 'check')


def zones(place):
    """Rows were purged, and a run is in another time zone."""
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


def odd(place):
    good = ('c', 4, NOW - 500, NOW - 490, 0.5)
    for row, kind, what in (
            (('c', 3, NOW - 10, NOW - 20, 5.0), 'job_ends_before_start', 'that ends before it starts'),
            (('c', 3, NOW - 10, NOW, -1.0), 'job_charge_too_large', 'whose charge is below 0'),
            (('c', 3, NOW - 10, NOW, 1e30), 'job_charge_too_large', 'whose charge is beyond the range'),
            (('c', 3, NOW - 10, NOW, float('inf')), 'job_charge_too_large', 'whose charge is infinite')):
        site(place, (row, good))
        place.ends(0, f'a row {what} does not stop a run', 'run', '--now', NOW)
        tap.same((used(place), place.query("SELECT kind, subject FROM fairmill_finding WHERE kind <> 'past_unknown'")), ([0.0, 5.0], [(kind, '3')]),
                 'it charges nothing, and is a finding about its association')
    clock = int(time.time())
    site(place, (('c', 3, clock - 100, clock + 4000, 2.0), good))
    place.succeed('run', '--now', clock)
    tap.same((used(place), findings(place)), ([200.0, 5.0], {'job_ends_in_future': 1}),
             'one whose end is yet to come goes on, and is a finding')


def ends(place):
    """How old the oldest row is, of all and not only of those that are read."""
    old = ('c', 3, NOW - 4 * HOUR, NOW - 3 * HOUR, 1.0)
    recent = ('c', 3, NOW - 2 * HOUR, NOW - HOUR, 1.0)
    none = (('C', 3, NOW - 9 * HOUR, NOW - 8 * HOUR, 1.0), ('d', 3, NOW - 9 * HOUR, NOW - 8 * HOUR, 1.0),
            ('c', 3, NOW - 8 * HOUR, None, 1.0), ('c', 3, NOW - HOUR, NOW - 9 * HOUR, 1.0),
            ('c', 3, 0, NOW - 9 * HOUR, 1.0), ('c', 3, NOW - 5 * HOUR, NOW + HOUR, 1.0))

    def bound(usage, **keys):
        site(place, usage, {'usage.half_life': '60', **{f'usage.{key}': value for key, value in keys.items()}})
        place.succeed('run', '--now', NOW)
        return place.query('SELECT truncation_bound FROM fairmill_run')[0][0]
    tap.same(bound((recent, old)), 1 / 8, 'what may be missing had ended before the oldest row')
    tap.same(bound((recent, old, *none), horizon='0-9'), 1 / 8,
             'whatever other clusters have, and rows that have not ended, or ended before they began')
    tap.same(bound((old, recent), horizon='0-2'), 1 / 4, 'with a horizon, before that')
    tap.same(bound((recent, *none), horizon='0-2'), 1 / 2, 'unless all that is there ended since')
    tap.same(bound(none, horizon='0-2'), None, 'without a row that has ended nobody knows')
    tap.same(bound((old, recent), reset_period='100', reset_anchor=str(NOW - 90 * 60)), 0.0,
             'what ended before a reset is no loss, and the old row tells that it is')
    tap.same(bound((recent,), reset_period='100', reset_anchor=str(NOW - 90 * 60)), 1 / 2, 'where none did it may be')


def names(place):
    """What is no ASCII the database is not asked for."""
    site(place, (('zü', 3, NOW - 10, NOW, 1.0), ('c', 3, NOW - 10, NOW, 2.0), ('zü ', 3, NOW - 10, NOW, 4.0),
                 ('zü', 4, NOW - 10, NOW - 20, 4.0)), {'usage.horizon': '0-2', 'usage.half_life': '60'}, ('c', 'zü'))
    place.succeed('run', '--now', NOW)
    ratio = place.value('usage_raw', 'a.ann', 'c') / place.value('usage_raw', 'a.ann', 'zü')
    tap.same((ratio, place.query('SELECT jobs_read, truncation_bound FROM fairmill_run ORDER BY cluster')),
             (2.0, [(1, 1.0), (2, 1.0)]), 'a cluster has its own rows, whatever letters its name has')


def relations(place):
    """A relation's name may have a schema; rows of no cluster are nobody's."""
    site(place, (('c', 3, NOW - 10, NOW, 2.0),), {'source.associations': 'main.associations', 'source.usage': 'main.usage'})
    for cluster in (None, ''):
        place.change("INSERT INTO associations VALUES (?, 1, NULL, 'root', '', '', 1, 0)", cluster)
    place.succeed('run', '--now', NOW)
    tap.same((used(place), place.query('SELECT cluster FROM fairmill_run')), ([20.0, 0.0], [('c',)]),
             'relations are found in their schema, and a row without a cluster makes none')
    place.change('UPDATE associations SET id = 5000000000 WHERE id = 3')
    place.ends(65, 'an id beyond the range is bad data', 'run', '--now', NOW + 1)
    tap.same(used(place), [20.0, 0.0], 'and old results stay')


def missing(place):
    for relation in ('usage', 'associations'):
        site(place, ())
        place.change(f'DROP TABLE {relation}')
        place.run('run', '--now', NOW)
        place.says(f"without the relation of {relation} it is named", f"cannot read '{relation}'")


def body():
    for part in (rows, zones, odd, ends, names, relations, missing):
        with Place() as place:
            part(place)


tap.main(body)
