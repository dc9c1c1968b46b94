#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Points of history of the past: what they are, what stays as it is, and where it goes on."""

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


def named(place, as_of):
    """How each association was called at a point."""
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
           'with the first and the last instant', place.out)
    tap.same(points(place), days + [END + 9 * HOUR], 'they are at midnight')
    tap.same(place.state(), before, 'what is published stays as it is')
    made = {at: values(place, at) for at in days}
    place.ends(0, 'backfill again makes none', 'backfill', '--since', END - 5 * DAY, '--until', END)
    tap.ok(place.out.startswith('tiny: 0 history points computed') and '6 already stored' in place.out, 'and says so', place.out)
    place.succeed('backfill', '--since', END - 2 * DAY, '--until', END - DAY, '--every', '6h', '--dry-run')
    tap.ok('3 history points to be computed' in place.out, '--dry-run says what would be made', place.out)
    tap.same(points(place), days + [END + 9 * HOUR], 'and makes nothing')
    place.succeed('verify')
    for at in days:
        place.succeed('run', '--now', at, '--replace', '--full')
        tap.same(made[at], published(place), f'the point of {at} is what a run of then computes')
    tap.ok(len({str(rows) for rows in made.values()}) == 6 and all(rows[0][2] > 0 for rows in made.values()), 'and no two are the same')


def goes_on(place):
    """Killed on its way, it leaves whole points, and the next time makes the others."""
    ready(place, retention__history_interval='60')
    place.succeed('run', '--now', END + 9 * HOUR)
    asked = 'backfill', '--since', END - 20 * DAY, '--until', END, '--every', '10m'
    process = place.start(*asked)
    tap.until(lambda: len(points(place)) > 20 or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = len(points(place)) - 1
    tap.ok(0 < there < 2880, f'it was ended after some points: {there}')
    sizes = place.query('SELECT count(*) FROM fairmill_history GROUP BY as_of')
    tap.same(set(sizes), {(7,)}, 'each of which is whole')
    place.succeed(*asked)
    tap.ok(f'{there} already stored' in place.out, 'the next one goes on', place.out)
    tap.same(len(points(place)), 2880 + 1 + 1, 'and all are there')
    tap.same(set(place.query('SELECT count(*) FROM fairmill_history GROUP BY as_of')), {(7,)}, 'whole')
    place.ends(0, 'nothing is not as it was stored', 'verify')


def one_of_an_interval(place):
    ready(place)
    asked = 'backfill', '--since', END - DAY, '--until', END - 1, '--every', '10m'
    place.succeed('run', '--now', END + 9 * HOUR)
    place.succeed(*asked, '--dry-run')
    tap.ok('24 history points to be computed' in place.out, 'no more points are to be made than history_interval has room for', place.out)
    place.succeed(*asked)
    tap.ok(place.out.startswith('tiny: 24 history points') and len(points(place)) == 25, 'and those are made', place.out, points(place))


def of_an_older_release(place):
    """It kept no hash of its points."""
    ready(place, retention__history_interval='60')
    for at in (END - 9 * HOUR, END - 6 * HOUR):
        place.succeed('run', '--now', at)
    theirs = values(place, END - 9 * HOUR)
    place.query("DELETE FROM fairmill_kept WHERE table_name IN ('fairmill_history', 'fairmill_association')")
    place.succeed('run', '--now', END)
    place.ends(0, 'what an older release wrote is not damaged', 'verify')
    place.query('UPDATE fairmill_history SET usage_raw = usage_raw + 1 WHERE as_of = ?', END - 9 * HOUR)
    theirs = values(place, END - 9 * HOUR)
    place.succeed('backfill', '--since', END - 3 * DAY, '--until', END - 2 * DAY)
    place.ends(0, 'nor is it once there are points from before it', 'verify')
    place.ends(0, 'so that it is not made anew', 'verify', '--repair')
    tap.same(values(place, END - 9 * HOUR), theirs, 'and stays')
    place.query('UPDATE fairmill_history SET usage_raw = usage_raw + 1 WHERE as_of = ?', END - 9 * HOUR)
    place.ends(1, 'what is changed from then on is found', 'verify')


def far_east(place):
    """Midnight is more than twelve hours before that of UTC in summer, and less in winter."""
    ready(place, usage__time_zone='Pacific/Auckland')
    place.succeed('run', '--now', END + 9 * HOUR)
    place.succeed('backfill', '--since', END - 300 * DAY, '--until', END, '--every', '7d')
    at = points(place)[:-1]
    tap.ok(len(at) >= 42 and {round((b - a) / DAY) for a, b in zip(at, at[1:])} == {7}, 'points of each week are a week apart',
           [(b - a) / DAY for a, b in zip(at, at[1:])])


def own_points_stay(place):
    """A run's point, and what associations were called at it."""
    ready(place)
    ran = END - 2 * DAY + 600
    place.succeed('run', '--now', ran)
    mine, names = values(place, ran), named(place, ran)
    place.change("UPDATE tiny_assoc_table SET acct = 'chemistry', lineage = '/chemistry/0-bob/' WHERE \"user\" = 'bob'")
    place.change('UPDATE tiny_assoc_table SET creation_time = 1, mod_time = 1')
    place.succeed('run', '--now', END + 9 * HOUR)
    later = named(place, END + 9 * HOUR)
    place.succeed('backfill', '--since', END - 5 * DAY, '--until', END)
    tap.ok(END - 2 * DAY not in points(place), 'a span that has a point of a run gets none')
    tap.same(values(place, ran), mine, "a run's point stays")
    tap.same(named(place, ran), names, 'with its names')
    tap.same(named(place, END + 9 * HOUR), later, 'and so do those of later ones')
    tap.ok(('bob' in str(names)) and names != later, 'which are others')


def not_too_old(place):
    ready(place, retention__history_days='10')
    now = int(time.time())
    place.change('UPDATE tiny_job_table SET time_submit = ?, time_eligible = ?, time_start = ?, time_end = ?',
                 *[now - 30 * DAY] * 3, now - 5 * DAY)
    place.change('UPDATE tiny_job_table SET time_end = ? WHERE id_assoc = (SELECT id_assoc FROM tiny_assoc_table WHERE "user" = ?)',
                 now - 29 * DAY, 'alice')
    place.succeed('run')
    place.succeed('check')
    tap.ok('next: run `fairmill backfill`' in place.out, 'check proposes backfill where jobs are older than history', place.out)
    place.succeed('backfill')
    made = points(place)
    place.succeed('check')
    tap.ok('`fairmill backfill`' not in place.out, 'and no more once it is there', place.out)
    tap.ok(9 <= len(made) <= 12 and made[0] >= now - 10 * DAY, 'none is made behind history_days', made)
    place.settings(KEPT | {'retention.history_days': 0})
    place.ends(64, 'where no history is kept none is made', 'backfill')
    place.says('and it says why', 'history_days')


def none_there(place):
    """Before there was any association there is no point; where one came later, it is in none before."""
    ready(place)
    place.change('UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ?', *[END - 3 * DAY] * 2)
    place.change("UPDATE tiny_assoc_table SET creation_time = ?, mod_time = ? WHERE \"user\" = 'bob'", *[END - DAY - 60] * 2)
    place.ends(0, 'backfill before there was a cluster', 'backfill', '--since', END - 5 * DAY, '--until', END)
    tap.ok('skipped 2 times; the first: 2025-06-16T00:00:00: no associations existed' in place.out, 'says so', place.out)
    tap.same([len(values(place, END - k * DAY)) for k in (3, 2, 1, 0)], [6, 6, 7, 7], 'an association is there from then on')
    tap.same(place.query('SELECT as_of, truncation_bound IS NOT NULL, in_doubt FROM fairmill_backfill ORDER BY 1'),
             [(END - k * DAY, 1, doubt) for k, doubt in ((3, 0), (2, 0), (1, 0), (0, 0))],
             'each says how much what was purged can matter, and who is in doubt')


def mends(place):
    """verify --repair makes points anew that somebody changed."""
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
    place.ends(1, 'verify sees points that were changed', 'verify')
    place.ends(0, '--repair mends them', 'verify', '--repair')
    tap.same(stored(), whole, 'so that they are as before')
    place.ends(0, 'and nothing differs', 'verify')


def other_settings(place):
    ready(place)
    place.succeed('run', '--now', END + 9 * HOUR)
    asked = 'backfill', '--since', END - 3 * DAY, '--until', END
    place.succeed(*asked)
    mine = values(place, END + 9 * HOUR)
    place.settings(KEPT | {'fairshare.algorithm': 'classic'})
    place.succeed(*asked)
    tap.ok('4 already stored' in place.out, 'points of other settings stay', place.out)
    place.ends(0, '--replace makes them anew', *asked, '--replace')
    tap.same(place.query('SELECT algorithm, count(*) FROM fairmill_history_point GROUP BY 1 ORDER BY 1'),
             [('classic', 4), ('fair_tree', 1)], 'but not those of runs')
    tap.same(values(place, END + 9 * HOUR), mine, 'which stay')


def refused(place):
    ready(place)
    for every in ('0', 'x', '-1d', '1y'):
        place.ends(64, f'--every {every} is refused', 'backfill', '--every', every)
        place.says('by its name', '--every')
    place.ends(64, 'a cluster that is not there is refused', 'backfill', '--clusters', 'none')
    place.change('DELETE FROM tiny_job_table')
    place.ends(0, 'where there are no jobs, nothing is made', 'backfill')
    tap.same(place.out, 'tiny: 0 history points computed\n', 'and it says so')


def body():
    with Place() as place:
        for part in equal_to_runs, goes_on, one_of_an_interval, of_an_older_release, far_east, own_points_stay, not_too_old, none_there, mends, other_settings, refused:
            part(place)


tap.main(body)
