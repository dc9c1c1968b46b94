#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that `fairmill backfill` fills the usage by TRES of days whose jobs were purged, from
slurmdbd's rollups."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY, Place
from sealed_site import Site

DAY, HOUR = 86400, 3600
START = NOW - NOW % DAY  # midnight in UTC
ALICE, BOB, CAROL = 'physics.alice', 'physics.bob', 'chemistry.carol'
CPU, GPU = 1, 1001
KEYS = {'usage.time_zone': 'UTC', 'usage.half_life': 0, 'retention.history_days': 3650}


def rollup(site, span, start, name, tres, seconds):
    site.change(f'INSERT INTO tiny_assoc_usage_{span}_table (creation_time, mod_time, deleted, id, id_tres, time_start, alloc_secs)'
                f' VALUES ({start}, {start}, 0, {site.ids[name]}, {tres}, {start}, {seconds})')


def rolled(site, until):
    site.change('DELETE FROM tiny_last_ran_table')
    site.change(f'INSERT INTO tiny_last_ran_table VALUES ({until}, {until}, 0)')


def started(site, keys=None):
    """Makes a site whose days have no usage by TRES, because no TRES was kept.  Alice used each."""
    site.now = START + HOUR
    site.keys = KEYS | {'usage.tres': 'none'} | (keys or {})
    site.ready(TINY + 'tres 1001 gres/gpu\n', site.keys)
    site.ids = {f'{account}.{user}': number for account, user, number in
                site.change('SELECT acct, "user", id_assoc FROM tiny_assoc_table WHERE "user" <> \'\'')}
    for day in range(12, 0, -1):
        site.job(ALICE, START - day * DAY + HOUR, START - day * DAY + 2 * HOUR, more=',1001=2')
    site.succeed('run', '--now', site.now)


def purged(site):
    """Purges the jobs, so that the days up to two days ago are final, and keeps TRES from now on."""
    site.change('DELETE FROM tiny_job_table WHERE time_end < ?', START - 2 * DAY)
    site.keys['usage.tres'] = 'cpu,gres/gpu'
    site.settings(site.keys)
    site.succeed('run', '--now', site.now + 60)


def stored(site):
    return {(day, user, tres): seconds for day, user, tres, seconds in site.query(
        'SELECT d.day, t.user_name, d.tres, d.seconds FROM fairmill_tres_day d'
        ' JOIN fairmill_tree t ON t.id_assoc = d.id_assoc')}


def billed(site):
    return site.query('SELECT day, id_assoc, sum_0, tres_seconds FROM fairmill_usage_day WHERE sum_0 <> 0 ORDER BY 1, 2')


def by_day(site):
    started(site)
    before = billed(site)
    for day in range(12, 1, -1):
        rollup(site, 'day', START - day * DAY, ALICE, CPU, 4 * HOUR)
        rollup(site, 'day', START - day * DAY, ALICE, GPU, 2 * HOUR)
        rollup(site, 'hour', START - day * DAY + HOUR, ALICE, CPU, 1)
    rollup(site, 'day', START - 5 * DAY, BOB, CPU, 77)
    rollup(site, 'day', START - DAY, ALICE, CPU, 123456)
    rolled(site, START)
    purged(site)
    kept = stored(site)
    tap.same(kept, {(START - DAY, 'alice', 'cpu'): 4 * HOUR, (START - DAY, 'alice', 'gres/gpu'): 2 * HOUR},
             'days whose jobs were purged before TRES were kept have no usage by TRES')
    since = '--since', START - 8 * DAY, '--until', START
    site.ends(0, 'a dry run of backfill succeeds', 'backfill', *since, '--dry-run')
    tap.ok('usage by TRES of 7 days to be filled' in site.out, 'the dry run counts the days', site.out)
    tap.same(stored(site), kept, 'the dry run writes nothing')
    site.ends(0, 'backfill succeeds', 'backfill', *since)
    tap.ok('usage by TRES of 7 days filled from the rollups of slurmdbd' in site.out, 'backfill prints the number of days', site.out)
    wanted = {(START - day * DAY, 'alice', tres): seconds * HOUR for day in range(8, 1, -1)
              for tres, seconds in (('cpu', 4), ('gres/gpu', 2))}
    wanted[START - 5 * DAY, 'bob', 'cpu'] = 77
    tap.same(stored(site), kept | wanted, 'backfill fills the days from daily rollups, and no other day')
    tap.same(billed(site), before, 'the billed usage does not change')
    site.ends(0, 'verify accepts the filled days', 'verify')
    site.succeed('run', '--now', site.now + 120, '--full')
    tap.same(stored(site), kept | wanted, 'a full run keeps the filled days')
    tap.same(site.query("SELECT count(*) FROM fairmill_finding WHERE kind LIKE 'kept%'"), [(0,)], 'the filled days match their hashes')
    rollup(site, 'day', START - 4 * DAY, CAROL, CPU, 5)
    site.ends(0, 'a second backfill succeeds', 'backfill')
    tap.ok('usage by TRES of 4 days filled' in site.out, 'a second backfill fills the days that are still without usage by TRES', site.out)
    tap.ok((START - 4 * DAY, 'carol', 'cpu') not in stored(site), 'a day with usage by TRES is not filled again')
    site.succeed('backfill')
    tap.ok('TRES' not in site.out, 'a third backfill has nothing to fill', site.out)


def by_hour(site):
    """Daily rollups of another time zone are not used.  In India, days begin at half past."""
    for zone in 'America/Chicago', 'Asia/Kolkata':
        started(site, {'usage.time_zone': zone})
        hours = range(START - 12 * DAY, START, HOUR)
        for day in range(12, 0, -1):
            rollup(site, 'day', START - day * DAY, ALICE, CPU, 999999)
        for hour in hours:
            rollup(site, 'hour', hour, ALICE, CPU, (hour - START) // HOUR + 1000)
        rolled(site, START)
        purged(site)
        kept, (final_to,) = stored(site), site.query('SELECT final_to FROM fairmill_usage_span')[0]
        site.ends(0, f'{zone}: backfill succeeds', 'backfill')
        wanted = {}
        for day, in site.query('SELECT DISTINCT day FROM fairmill_usage_day WHERE day >= ? AND day < ?', hours[0], final_to):
            shares = [((hour - START) // HOUR + 1000, min(hour + HOUR, day + DAY) - max(hour, day)) for hour in hours]
            wanted[day, 'alice', 'cpu'] = sum(amount * seconds // HOUR for amount, seconds in shares if seconds > 0)
        got = {key: seconds for key, seconds in stored(site).items() if key not in kept}
        unlike = {key: (got.get(key), seconds) for key, seconds in wanted.items() if abs(got.get(key, 0) - seconds) > 1}
        tap.ok(len(wanted) >= 9 and not unlike and set(got) == set(wanted), f'{zone}: days are filled from hourly rollups', unlike,
               sorted(got.items()), sorted(wanted.items()))
        site.ends(0, f'{zone}: verify accepts the filled days', 'verify')


def not_filled(site):
    started(site)
    purged(site)
    site.ends(0, 'without rollups, backfill succeeds', 'backfill')
    tap.ok('no usage by TRES of 11 days' in site.out, 'backfill reports the days without rollups', site.out)
    for day in range(12, 1, -1):
        rollup(site, 'day', START - day * DAY, ALICE, CPU, 4)
        rollup(site, 'day', START - day * DAY, BOB, GPU, 1 << 60)
    rolled(site, START - 5 * DAY)
    site.query('UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1 WHERE day = ?', START - 7 * DAY)
    site.succeed('backfill')
    tap.same({day for (day, _, _) in stored(site) if day < START - DAY},
             {START - day * DAY for day in range(12, 5, -1) if day != 7},
             'days that the rollups do not cover, and damaged days, are not filled')
    tap.ok(not any(tres == 'gres/gpu' for day, _, tres in stored(site) if day < START - DAY), 'a sum that no cluster has is ignored')
    started(site)
    rollup(site, 'day', START - 7 * DAY, ALICE, CPU, 4)
    rolled(site, START)
    site.change('DELETE FROM tiny_job_table WHERE time_end < ?', START - 2 * DAY)
    site.succeed('run', '--now', site.now + 60)
    site.succeed('backfill')
    tap.ok('TRES' not in site.out, 'without kept TRES, backfill fills no days', site.out)


def before_reset(site):
    """Runs do not read jobs before a reset again, although these jobs exist."""
    started(site)
    for day in range(12, 0, -1):
        rollup(site, 'day', START - day * DAY, ALICE, CPU, 4 * HOUR)
    rolled(site, START)
    site.keys |= {'usage.tres': 'cpu', 'usage.reset_period': 'weekly'}
    site.settings(site.keys)
    site.succeed('run', '--now', site.now + 60)
    kept = stored(site)
    first = min(day for day, _, _ in kept)
    site.succeed('backfill')
    wanted = {(START - day * DAY, 'alice', 'cpu'): 4 * HOUR for day in range(12, 0, -1)}
    tap.ok(first > START - 12 * DAY and kept == {key: seconds for key, seconds in wanted.items() if key[0] >= first},
           'a run computes the days since the day before the reset', kept)
    tap.same(stored(site), wanted, 'backfill fills the days before, whose jobs runs no longer read')
    site.succeed('run', '--now', site.now + 120, '--full')
    tap.same(stored(site), wanted, 'a full run keeps these days')


def body():
    for part in (by_day, by_hour, not_filled, before_reset):
        with Site() as site:
            part(site)


tap.main(body)
