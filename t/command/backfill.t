#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill backfill`: the points that it makes, and the values that it must not change."""

import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DAY = 86400
HOUR = 3600
END = NOW - NOW % DAY  # midnight in UTC
DRAWING = '''
cluster tiny
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
  empty/     5
'''
KEPT = {'usage.time_zone': 'UTC', 'usage.half_life': '7-0', 'retention.history_days': 3650, 'retention.history_interval': '1h'}


def ready(place, **keys):
    place.ready(DRAWING, KEPT | {name.replace('__', '.'): value for name, value in keys.items()})
    for user, begin, end in ('alice', END - 10 * DAY, END - 4 * DAY - 600), ('bob', END - 3 * DAY, END - DAY), ('carol', END - 2 * DAY, 0):
        place.change('UPDATE tiny_job_table SET time_submit = ?, time_eligible = ?, time_start = ?, time_end = ?, timelimit = 0'
                     ' WHERE id_assoc = (SELECT id_assoc FROM tiny_assoc_table WHERE "user" = ?)', *[begin] * 3, end, user)


def points(place):
    return [at for (at,) in place.query('SELECT as_of FROM fairmill_history_point ORDER BY 1')]


def values(place, as_of):
    return place.query('SELECT id_assoc, fairshare, usage_raw, level_fs FROM fairmill_history WHERE as_of = ? ORDER BY 1', as_of)


def published(place):
    return place.query('SELECT id_assoc, fairshare, usage_raw, CASE level_fs_infinite WHEN 1 THEN 1e100 ELSE level_fs END'
                       ' FROM fairmill_fairshare ORDER BY 1')


def association_names(place, as_of):
    """Returns the account and user of each association at a history point."""
    return place.query(
        'SELECT a.id_assoc, a.account, a.user_name FROM fairmill_association a WHERE a.since = '
        '(SELECT max(since) FROM fairmill_association b WHERE b.id_assoc = a.id_assoc AND b.since <= ?) ORDER BY 1', as_of)


def equal_to_runs(place):
    ready(place)
    place.succeed('run', '--now', END + 9 * HOUR)
    before = place.state()
    place.ends(0, 'backfill makes points', 'backfill', '--since', END - 5 * DAY, '--until', END)
    days = [END - k * DAY for k in range(5, -1, -1)]
    tap.ok(place.out.startswith('tiny: 6 history points computed\n  from 2025-06-16T00:00:00 to 2025-06-21T00:00:00\n'),
           'the output has the number of points and their range', place.out)
    tap.same(points(place), days + [END + 9 * HOUR], 'the points are at midnight')
    tap.same(place.state(), before, 'backfill does not change published values')
    made = {at: values(place, at) for at in days}
    place.ends(0, 'a second backfill succeeds', 'backfill', '--since', END - 5 * DAY, '--until', END)
    tap.ok(place.out.startswith('tiny: 0 history points computed') and '6 already stored' in place.out,
           'a second backfill makes no points and says so',
           place.out)
    place.succeed('backfill', '--since', END - 2 * DAY, '--until', END - DAY, '--every', '6h', '--dry-run')
    tap.ok('3 history points to be computed' in place.out, '--dry-run prints the number of points', place.out)
    tap.same(points(place), days + [END + 9 * HOUR], '--dry-run makes no points')
    place.succeed('verify')
    for at in days:
        place.succeed('run', '--now', at, '--replace', '--full')
        tap.same(made[at], published(place), f'the point of {at} equals a run at that time')
    tap.ok(len({str(rows) for rows in made.values()}) == 6 and all(rows[0][2] > 0 for rows in made.values()),
           'all points differ from each other')


def continues_after_kill(place):
    """A backfill that is killed leaves only complete points.  The next one makes the others."""
    ready(place, retention__history_interval='60')
    place.succeed('run', '--now', END + 9 * HOUR)
    asked = 'backfill', '--since', END - 20 * DAY, '--until', END, '--every', '10m'
    process = place.start(*asked)
    tap.until(lambda: len(points(place)) > 20 or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = len(points(place)) - 1
    tap.ok(0 < there < 2880, f'backfill was killed after {there} points')
    sizes = place.query('SELECT count(*) FROM fairmill_history GROUP BY as_of')
    tap.same(set(sizes), {(7,)}, 'each point of a killed backfill is complete')
    place.succeed(*asked)
    tap.ok(f'{there} already stored' in place.out, 'the next backfill continues after the existing points', place.out)
    tap.same(len(points(place)), 2880 + 1 + 1, 'the next backfill makes the missing points')
    tap.same(set(place.query('SELECT count(*) FROM fairmill_history GROUP BY as_of')), {(7,)}, 'each point is complete after the next backfill')
    place.ends(0, 'verify finds no differences after a killed backfill', 'verify')


def one_point_per_interval(place):
    ready(place)
    asked = 'backfill', '--since', END - DAY, '--until', END - 1, '--every', '10m'
    place.succeed('run', '--now', END + 9 * HOUR)
    place.succeed(*asked, '--dry-run')
    tap.ok('24 history points to be computed' in place.out, '--dry-run plans one point for each history_interval', place.out)
    place.succeed(*asked)
    tap.ok(place.out.startswith('tiny: 24 history points') and len(points(place)) == 25,
           'backfill makes one point for each history_interval',
           place.out, points(place))


def of_an_older_release(place):
    """An older release stored no row hashes for history points."""
    ready(place, retention__history_interval='60')
    for at in (END - 9 * HOUR, END - 6 * HOUR):
        place.succeed('run', '--now', at)
    theirs = values(place, END - 9 * HOUR)
    place.query("DELETE FROM fairmill_kept WHERE table_name IN ('fairmill_history', 'fairmill_association')")
    place.succeed('run', '--now', END)
    place.ends(0, 'verify accepts points of an older release', 'verify')
    place.query('UPDATE fairmill_history SET usage_raw = usage_raw + 1 WHERE as_of = ?', END - 9 * HOUR)
    theirs = values(place, END - 9 * HOUR)
    place.succeed('backfill', '--since', END - 3 * DAY, '--until', END - 2 * DAY)
    place.ends(0, 'verify accepts old points after backfill has added earlier ones', 'verify')
    place.ends(0, 'verify --repair accepts points of an older release', 'verify', '--repair')
    tap.same(values(place, END - 9 * HOUR), theirs, 'verify --repair does not change points of an older release')
    place.query('UPDATE fairmill_history SET usage_raw = usage_raw + 1 WHERE as_of = ?', END - 9 * HOUR)
    place.ends(1, 'verify finds a later change to a point of an older release', 'verify')


def far_east(place):
    """Midnight in Auckland is 13 hours before midnight UTC in summer, and 12 in winter."""
    ready(place, usage__time_zone='Pacific/Auckland')
    place.succeed('run', '--now', END + 9 * HOUR)
    place.succeed('backfill', '--since', END - 300 * DAY, '--until', END, '--every', '7d')
    at = points(place)[:-1]
    tap.ok(len(at) >= 42 and {round((b - a) / DAY) for a, b in zip(at, at[1:])} == {7},
           'weekly points are a week apart in summer and winter',
           [(b - a) / DAY for a, b in zip(at, at[1:])])


def keeps_points_of_runs(place):
    """Backfill keeps a run's point and the names of its associations."""
    ready(place)
    ran = END - 2 * DAY + 600
    place.succeed('run', '--now', ran)
    mine, names = values(place, ran), association_names(place, ran)
    place.change("UPDATE tiny_assoc_table SET acct = 'chemistry', lineage = '/chemistry/0-bob/' WHERE \"user\" = 'bob'")
    place.change('UPDATE tiny_assoc_table SET creation_time = 1, mod_time = 1')
    place.succeed('run', '--now', END + 9 * HOUR)
    later = association_names(place, END + 9 * HOUR)
    place.succeed('backfill', '--since', END - 5 * DAY, '--until', END)
    tap.ok(END - 2 * DAY not in points(place), "backfill makes no point in an interval with a run's point")
    tap.same(values(place, ran), mine, "backfill does not change a run's point")
    tap.same(association_names(place, ran), names, "backfill does not change the names at a run's point")
    tap.same(association_names(place, END + 9 * HOUR), later, 'backfill does not change the names at a later point')
    tap.ok(('bob' in str(names)) and names != later, 'the names at the two points differ')


def not_too_old(place):
    ready(place, retention__history_days='10')
    now = int(time.time())
    place.change('UPDATE tiny_job_table SET time_submit = ?, time_eligible = ?, time_start = ?, time_end = ?',
                 *[now - 30 * DAY] * 3, now - 5 * DAY)
    place.change('UPDATE tiny_job_table SET time_end = ? WHERE id_assoc = (SELECT id_assoc FROM tiny_assoc_table WHERE "user" = ?)',
                 now - 29 * DAY, 'alice')
    place.succeed('run')
    place.succeed('check')
    tap.ok('next: run `fairmill backfill`' in place.out, 'check proposes backfill if jobs are older than history', place.out)
    place.succeed('backfill')
    made = points(place)
    place.succeed('check')
    tap.ok('`fairmill backfill`' not in place.out, 'check proposes no backfill after backfill', place.out)
    tap.ok(9 <= len(made) <= 12 and made[0] >= now - 10 * DAY, 'backfill makes no points older than history_days', made)
    place.settings(KEPT | {'retention.history_days': 0})
    place.ends(64, 'without history, backfill is rejected', 'backfill')
    place.says('the error names history_days', 'history_days')


def before_associations(place):
    """There are no points before the first association.  A point has only existing associations."""
    ready(place)
    place.change('UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ?', *[END - 3 * DAY] * 2)
    place.change("UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ? WHERE \"user\" = 'bob'", *[END - DAY - 60] * 2)
    place.ends(0, 'backfill before the cluster existed succeeds', 'backfill', '--since', END - 5 * DAY, '--until', END)
    tap.ok('skipped 2 times; the first: 2025-06-16T00:00:00: no associations existed' in place.out,
           'backfill says that no associations existed',
           place.out)
    tap.same([len(values(place, END - k * DAY)) for k in (3, 2, 1, 0)], [6, 6, 7, 7],
             'an association is in the points since its creation')
    tap.same(place.query('SELECT as_of, truncation_bound IS NOT NULL, in_doubt FROM fairmill_backfill ORDER BY 1'),
             [(END - k * DAY, 1, doubt) for k, doubt in ((3, 0), (2, 0), (1, 0), (0, 0))],
             'fairmill_backfill has the truncation bound and the number of uncertain associations')


def repairs(place):
    """verify --repair recomputes points that were changed."""
    ready(place)
    place.succeed('run', '--now', END + 9 * HOUR)
    place.succeed('backfill', '--since', END - 3 * DAY, '--until', END)
    def stored():
        return ([values(place, at) for at in points(place) if at <= END + 9 * HOUR],
                place.query('SELECT * FROM fairmill_association ORDER BY 1, 2, 3'))

    whole = stored()
    place.query('UPDATE fairmill_history SET usage_raw = usage_raw + 1 WHERE as_of = ?', END - DAY)
    place.query('DELETE FROM fairmill_history WHERE as_of = ? AND id_assoc > 3', END - 2 * DAY)
    place.query("UPDATE fairmill_association SET account = 'other' WHERE since = ? AND id_assoc = 4", END - 3 * DAY)
    place.ends(1, 'verify finds changed points', 'verify')
    place.ends(0, 'verify --repair repairs changed points', 'verify', '--repair')
    tap.same(stored(), whole, 'repaired points equal the original ones')
    place.ends(0, 'verify finds no differences after the repair', 'verify')


def other_settings(place):
    ready(place)
    place.succeed('run', '--now', END + 9 * HOUR)
    asked = 'backfill', '--since', END - 3 * DAY, '--until', END
    place.succeed(*asked)
    mine = values(place, END + 9 * HOUR)
    place.settings(KEPT | {'fairshare.algorithm': 'classic'})
    place.succeed(*asked)
    tap.ok('4 already stored' in place.out, 'backfill keeps points that were made with other settings', place.out)
    place.ends(0, 'backfill --replace succeeds', *asked, '--replace')
    tap.same(place.query('SELECT algorithm, count(*) FROM fairmill_history_point GROUP BY 1 ORDER BY 1'),
             [('classic', 4), ('fair_tree', 1)], '--replace recomputes points of backfill but not of runs')
    tap.same(values(place, END + 9 * HOUR), mine, "--replace does not change a run's point")


def refused(place):
    ready(place)
    for every in ('0', 'x', '-1d', '1y'):
        place.ends(64, f'--every {every} is rejected', 'backfill', '--every', every)
        place.says(f'the error for --every {every} names the option', '--every')
    place.ends(64, 'backfill of an unknown cluster is rejected', 'backfill', '--clusters', 'none')
    place.change('DELETE FROM tiny_job_table')
    place.ends(0, 'backfill without jobs succeeds', 'backfill')
    tap.same(place.out, 'tiny: 0 history points computed\n', 'backfill without jobs makes no points')


def body():
    with Place() as place:
        for part in equal_to_runs, continues_after_kill, one_point_per_interval, of_an_older_release, far_east, keeps_points_of_runs, not_too_old, before_associations, repairs, other_settings, refused:
            part(place)


tap.main(body)
