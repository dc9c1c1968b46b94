#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the numbers of started jobs by waiting time, fairmill_wait_day, against an own count of the
job rows.  Random histories compare incremental runs with that count and with a run without stored
state.  FAIRMILL_SEED=N tries only history N, and FAIRMILL_SITES=N tries N histories."""

import os
import random
import sqlite3
import sys
import time
from collections import Counter
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from place import TINY
from seeds import seeds
from sealed_site import Site

DAY, HOUR, MINUTE = 86400, 3600, 60
TODAY = int(time.time()) // DAY * DAY
START = TODAY - 60 * DAY  # midnight in UTC, in the time for which days are kept
ALICE, BOB, CAROL = 'physics.alice', 'physics.bob', 'chemistry.carol'
NAMES = ALICE, BOB, CAROL
DRAWING = TINY + '''qos 2 factor=0.5 name=low
qos 3 factor=1 name=old
'''
KEYS = {'usage.time_zone': 'UTC', 'usage.half_life': '7-0', 'usage.checkpoint_after': '1-0', 'usage.full_every': '30-0'}
BOUNDS = 60, 300, 900, 3600, 14400, 43200, 86400, 259200, 604800
TABLES = 'fairmill_wait_final', 'fairmill_wait_open'


def begin(site, keys=None, drawing=DRAWING):
    site.now = START + 6 * HOUR
    site.keys = KEYS | (keys or {})
    site.ready(drawing, site.keys)
    site.ids = {f'{account}.{user}': number for account, user, number in
                site.change('SELECT acct, "user", id_assoc FROM tiny_assoc_table WHERE "user" <> \'\'')}


def start(site, name, at, waited=0, end=None, **columns):
    """Adds a job that had waited for so many seconds when it started.  Returns its key."""
    key = site.change('SELECT COALESCE(MAX(job_db_inx), 0) + 1 FROM tiny_job_table')[0][0]
    row = dict(job_db_inx=key, id_job=key, id_assoc=site.ids.get(name, name), id_qos=1, time_submit=at - waited,
               time_eligible=at - waited, time_start=at, time_end=at + 60 if end is None else end, timelimit=0,
               tres_alloc='1=1,5=1', state=1 if end == 0 else 3, account='', job_name='', cpus_req=1, exit_code=0, id_array_job=0,
               id_array_task=0xfffffffe, id_user=0, id_group=0, het_job_id=0, het_job_offset=0, mem_req=0, nodes_alloc=1,
               partition='p', priority=0, mod_time=at)
    db = sqlite3.connect(site.path('a.db'))
    with db:
        site_drawing.insert(db, 'tiny_job_table', row | columns)
    db.close()
    return key


def midnight(at, zone):
    local = datetime.fromtimestamp(at, zone)
    return int(local.replace(hour=0, minute=0, second=0).timestamp())


def counted(site, zone='UTC'):
    """Returns the number of jobs in the accounting database, by key."""
    counts = Counter()
    qos = dict(site.change('SELECT id, name FROM qos_table'))
    for association, partition, number, submit, eligible, begun in site.change(
            'SELECT id_assoc, "partition", id_qos, time_submit, time_eligible, time_start FROM tiny_job_table'
            ' WHERE time_start > 0 AND time_start <= ? AND tres_alloc <> \'\' AND (time_end = 0 OR time_end >= time_start)', site.now):
        resized = submit > begun or (submit == begun and 0 < eligible < submit)
        if not resized:
            waited = begun - max(submit, eligible)
            bucket = next((bound for bound in BOUNDS if waited <= bound), -1)
            counts[midnight(begun, ZoneInfo(zone)), association, partition, qos.get(number, ''), bucket] += 1
    return counts


def stored(site, database='r.db'):
    return {row[:5]: row[5] for row in site._query(
        database, 'SELECT day, id_assoc, partition_name, qos, bucket_s, jobs FROM fairmill_wait_day')}


def rows(site, database='r.db'):
    return [site._query(database, f'SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 5, 6') for table in TABLES] + [site._query(
        database, 'SELECT table_name, part, row_count, hash FROM fairmill_kept WHERE table_name IN (?, ?) ORDER BY 1, 2', *TABLES)]


def is_right(site, statement, zone='UTC'):
    got, wanted = stored(site), counted(site, zone)
    return tap.ok(got == wanted and got, statement, 'got', sorted(got.items() - wanted.items()), 'expected', sorted(wanted.items() - got.items()))


def is_exact(site, statement):
    """The counts and their hashes agree with a run without stored state."""
    got = rows(site)
    for name in os.listdir(site.folder):
        if name.startswith('other.db'):
            os.unlink(site.path(name))
    site.settings(site.keys | {'results.database': site.path('other.db')}, 'other.conf')
    site.succeed('init', settings='other.conf')
    site.succeed('run', '--now', site.now, settings='other.conf')
    tap.same(got, rows(site, 'other.db'), statement)


def which_count(site):
    begin(site)
    day = START - 3 * DAY
    at = day + 12 * HOUR
    for waited in (0, 60, 61, 300, 301, 900, 3600, 14400, 43200, 86400, 259200, 259201, 604800, 604801, 40 * DAY):
        start(site, ALICE, at, waited)
    site.run_at()
    got = {bucket: jobs for (start_of_day, *_, bucket), jobs in stored(site).items() if start_of_day == day}
    tap.same(got, {60: 2, 300: 2, 900: 2, 3600: 1, 14400: 1, 43200: 1, 86400: 1, 259200: 1, 604800: 2, -1: 2},
             'a bucket has the jobs that waited up to its upper bound')
    begin(site)
    for columns, key in (
            ({}, (ALICE, 'p', 'q1', 300)),
            (dict(partition='gpu', id_qos=2), (ALICE, 'gpu', 'low', 300)),
            (dict(id_qos=77), (ALICE, 'p', '', 300)),
            (dict(time_eligible=at - 30), (ALICE, 'p', 'q1', 60)),
            (dict(time_eligible=at - 900), (ALICE, 'p', 'q1', 300)),
            (dict(time_eligible=0), (ALICE, 'p', 'q1', 300)),
            (dict(time_eligible=at + 10), (ALICE, 'p', 'q1', 60)),
            (dict(id_array_job=9, id_array_task=4), (ALICE, 'p', 'q1', 300)),
            (dict(het_job_id=9, het_job_offset=1), (ALICE, 'p', 'q1', 300)),
            (dict(id_job=1, time_submit=at - 298), (ALICE, 'p', 'q1', 300)),  # another start of a requeued job
            (dict(time_end=0), (ALICE, 'p', 'q1', 300)),
            (dict(time_end=at), (ALICE, 'p', 'q1', 300)),
            (dict(time_submit=at, time_eligible=at - 900), None),  # the second row of a resized job
            (dict(time_submit=at + 20, time_eligible=at - 900), None),  # the same in other releases of Slurm
            (dict(time_start=0, time_end=0), None),
            (dict(time_start=0), None),
            (dict(time_end=at - 1), None),
            (dict(tres_alloc='', time_end=at), None),  # cancelled when it was about to start
            (dict(id_assoc=4711), (4711, 'p', 'q1', 300)),  # of no association, or one whose row was removed
            (dict(time_start=site.now + DAY, time_end=0), None)):
        before = Counter(stored(site))
        start(site, ALICE, at, 299, **columns)
        site.run_at(0, '--full')
        added = Counter(stored(site)) - before
        wanted = Counter({(day, site.ids.get(key[0], key[0]), *key[1:]): 1} if key else {})
        tap.same(added, wanted, f'a job with {columns or "no special columns"} counts {"once" if key else "not"}')
    is_right(site, 'all agree with the rows of the accounting database')
    for zone in 'Europe/Berlin', 'America/St_Johns':
        begin(site, {'usage.time_zone': zone})
        for hour in range(2 * 24):
            start(site, BOB, day + hour * HOUR + 1800, hour)
        site.run_at()
        is_right(site, f'days begin at midnight in {zone}', zone)


def over_time(site):
    """Jobs that run, end, appear late, are purged and are pruned."""
    begin(site)
    long = start(site, BOB, START - 20 * DAY, 7 * HOUR, 0)
    for day in range(30, 0, -1):
        start(site, ALICE, START - day * DAY + HOUR, day * MINUTE, id_qos=2)
        start(site, CAROL, START - day * DAY + 2 * HOUR, 0)
    new = start(site, ALICE, START + HOUR, 5, 0)
    site.run_at()
    is_right(site, 'a first run counts all jobs')
    tap.same(site.query('SELECT day, id_assoc FROM fairmill_wait_open WHERE id_assoc = ?', site.ids[BOB]), [(START - 20 * DAY, site.ids[BOB])],
             'a running job is not final')
    start(site, CAROL, START + 6 * HOUR, 100, 0)
    for seconds in 600, DAY, 3 * DAY:
        tap.same(site.run_at(seconds)[0], 'incremental', f'the run after {seconds} s is incremental')
        is_right(site, f'an incremental run after {seconds} s counts each job once')
        is_exact(site, f'an incremental run after {seconds} s stores the same rows and hashes as a first run')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx IN (?, ?)', START + 2 * HOUR, long, new)
    tap.same(site.run_at(60)[0], 'incremental', 'the run after jobs turn out to have ended is incremental')
    is_right(site, 'jobs whose end appears late count once')
    is_exact(site, 'rows of jobs whose end appears late are those of a first run')
    start(site, BOB, site.now + 4 * DAY)
    site.run_at(5 * DAY)
    tap.same(site.query('SELECT count(*) FROM fairmill_wait_open'), [(2,)], 'only the jobs that run or ended lately are not final')
    site.run_at(60, '--full')
    is_right(site, 'a full run counts each job once')
    before = site.query('SELECT * FROM fairmill_wait_final ORDER BY 1, 2, 3, 4, 5, 6')
    site.change('DELETE FROM tiny_job_table WHERE time_end > 0 AND time_end < ?', START - 10 * DAY)
    start(site, CAROL, START + 9 * DAY, 30)
    tap.same(site.run_at(60), ('full', 'the oldest jobs were purged'), 'a purge causes a full run')
    after = site.query('SELECT * FROM fairmill_wait_final ORDER BY 1, 2, 3, 4, 5, 6')
    tap.ok(set(before) <= set(after), 'days whose jobs were purged keep their counts', set(before) - set(after))
    tap.same(site.run_at(60, '--full')[0], 'full', 'another full run')
    tap.same(site.query('SELECT * FROM fairmill_wait_final ORDER BY 1, 2, 3, 4, 5, 6'), after, 'a later full run keeps them, too')
    site.ends(0, 'verify accepts days whose jobs were purged', 'verify')
    site.settings(site.keys | {'retention.history_days': 15})
    site.run_at(60)
    site.run_at(60)
    oldest, = site.query('SELECT MIN(day) FROM fairmill_wait_final')[0]
    tap.ok(START - 7 * DAY <= oldest <= START - 5 * DAY, 'history_days removes old days', (oldest - START) / DAY)
    tap.same(site.query("SELECT MIN(part) FROM fairmill_kept WHERE table_name = 'fairmill_wait_final'"), [(oldest,)], 'and their hashes')


def ends_before_start(site):
    """Jobs with an end before a start in the future, as a wrong clock gives them."""
    begin(site)
    for hour in range(5):
        start(site, ALICE, START + hour * HOUR)
        start(site, BOB, START + (9 + hour) * HOUR, 10, START - 2 * DAY + hour * HOUR)
    for seconds in 0, DAY, DAY:
        site.run_at(seconds)
        is_right(site, f'jobs that end before they start do not count {seconds} s later')
        is_exact(site, f'the rows {seconds} s later are those of a first run')
        start(site, CAROL, site.now)
    tap.same(site.run_at(60)[0], 'incremental', 'the run after their start is incremental')
    site.ends(0, 'verify accepts the counts after the start of jobs that ended before', 'verify')


def resets(site):
    begin(site, {'usage.reset_period': 'MONTHLY'})
    site.now = int(datetime(2025, 6, 30, 12, tzinfo=ZoneInfo('UTC')).timestamp())
    for day in range(20):
        start(site, ALICE, site.now - day * DAY, 10)
    start(site, BOB, site.now - 9 * DAY, 400, 0)
    site.run_at()
    is_right(site, 'a run before a reset counts all jobs')
    start(site, CAROL, site.now, 10)
    site.run_at(DAY)
    is_right(site, 'a run after a reset keeps the counts of earlier days')
    start(site, CAROL, site.now, 10)
    tap.same(site.run_at(DAY)[0], 'incremental', 'the next run is incremental')
    is_right(site, 'a job that has run since before the reset counts once')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE time_end = 0', site.now)
    site.run_at(3 * DAY)
    is_right(site, 'and it still counts when it has ended')
    site.ends(0, 'verify accepts days before a reset', 'verify')
    site.settings(site.keys | {'usage.reset_period': 'NONE', 'usage.time_zone': 'Asia/Tokyo'})
    site.run_at(60)
    is_right(site, 'after a change of the time zone, a full run counts each day again', 'Asia/Tokyo')


def zone_after_purge(site):
    """Days whose jobs were purged remain days of the previous time zone."""
    begin(site)
    for day in range(30, 0, -1):
        for hour in 1, 9, 17:
            start(site, CAROL, START - day * DAY + hour * HOUR, 10)
    for day in (25, 11, 10, 9, 1):
        for hour in range(0, 24, 5):
            start(site, BOB, START - day * DAY + hour * HOUR, 400, 0)
    site.run_at()
    before = sum(stored(site).values())
    site.change('DELETE FROM tiny_job_table WHERE time_end > 0 AND time_end < ?', START - 10 * DAY)
    site.run_at(60)
    for zone, hour in ('Asia/Tokyo', 5), ('America/St_Johns', 15):
        site.settings(site.keys | {'usage.time_zone': zone})
        for arguments in (), ('--full',), ():
            site.run_at(60, *arguments)
            tap.same(sum(stored(site).values()), before, f'jobs that run while the time zone becomes {zone} count once')
            site.ends(0, f'verify accepts the counts after the time zone became {zone}', 'verify')
            # The run after the change summed only a part of the day on which this job started.
            site.change('UPDATE tiny_job_table SET time_end = ? WHERE time_end = 0 AND time_start = ?', START - 7 * DAY,
                        START - 9 * DAY + hour * HOUR)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE time_end = 0', site.now)
    site.run_at(3 * DAY)
    tap.same(sum(stored(site).values()), before, 'and they still count once when they have ended')


def changed_names(site):
    """Running jobs that started before the usage window, and get another QOS before a full run."""
    begin(site, {'usage.horizon': '10-0'})
    ids = [start(site, BOB, START - 20 * DAY + hour * HOUR, 77, 0) for hour in range(4)]
    start(site, CAROL, START, 10)
    site.run_at()
    site.change('UPDATE tiny_job_table SET id_qos = 2 WHERE job_db_inx = ?', ids[0])
    site.run_at(60, '--full')
    is_right(site, 'a running job with another QOS counts once')
    site.change('UPDATE tiny_job_table SET id_qos = 2 WHERE job_db_inx = ?', ids[1])
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', site.now, ids[2])
    start(site, CAROL, site.now + 3 * DAY, 10)
    site.run_at(3 * DAY, '--full')
    tap.same(sum(stored(site).values()), 6, 'and each job counts once if another job ends at the same time')


def short_window(site):
    """A usage window in which no day begins."""
    begin(site, {'usage.horizon': '0-5'})
    for hour in range(-30, 6, 7):
        start(site, BOB, START + hour * HOUR, 77, 0)
    start(site, CAROL, START + 4 * HOUR, 10)
    for seconds, *arguments in (0,), (60, '--full'), (60,), (20 * HOUR,), (60, '--full'), (6 * HOUR, '--full'):
        site.run_at(seconds, *arguments)
        is_right(site, f'a run {seconds} s later counts each job once with a usage window in which no day begins')
        site.ends(0, 'verify accepts these counts', 'verify')


def not_counted(site):
    for keys in {'retention.history_days': 0}, {'usage.source': 'rollup'}:
        begin(site, keys)
        site.change('INSERT INTO tiny_last_ran_table VALUES (?, 0, 0)', START)
        site.change('INSERT INTO tiny_assoc_usage_hour_table (creation_time, mod_time, deleted, id, id_tres, time_start, alloc_secs)'
                    ' VALUES (1, 1, 0, ?, 5, ?, 60)', site.ids[ALICE], START - DAY)
        start(site, ALICE, START + HOUR, 10)
        site.run_at()
        tap.same(stored(site), {}, f'nothing is counted with {keys}')


def changed_rows(site):
    """Rows that another program changed."""
    change = 'UPDATE fairmill_wait_final SET jobs = jobs + 1 WHERE day = (SELECT min(day) + 86400 FROM fairmill_wait_final)'
    for what, sql in (('a number', change),
                      ('a missing row', 'DELETE FROM fairmill_wait_final WHERE day = (SELECT max(day) FROM fairmill_wait_final)'),
                      ('another partition', "UPDATE fairmill_wait_final SET partition_name = 'x'"),
                      ('a bucket that does not exist', 'UPDATE fairmill_wait_final SET bucket_s = 61'),
                      ('a negative number', 'UPDATE fairmill_wait_final SET jobs = -1'),
                      ('a number of other jobs', 'UPDATE fairmill_wait_open SET jobs = 9')):
        begin(site)
        for day in range(9, 0, -1):
            start(site, ALICE, START - day * DAY, 10)
        start(site, BOB, START, 10, 0)
        site.run_at()
        site.query(sql)
        site.ends(1, f'verify finds {what}', 'verify')
        tap.ok('fairmill_wait_' in site.out + site.err, f'verify names the table of {what}', site.out, site.err)
        site.succeed('verify', '--repair')
        is_right(site, f'verify --repair repairs {what}')
        tap.same(site.findings().get('kept_rows_changed'), 1, f'the repair of {what} is a finding')
        site.ends(0, f'verify accepts the repair of {what}', 'verify')
    begin(site)
    for day in range(9, 0, -1):
        start(site, ALICE, START - day * DAY, 10)
    site.run_at()
    site.query(change)
    kinds = [site.run_at(4 * HOUR)[0] for _ in range(6)]
    tap.ok('full' in kinds, 'incremental runs find a changed row within a day', kinds)
    is_right(site, 'the run that finds it counts all jobs again')
    site.query('DELETE FROM fairmill_wait_final')
    site.query("DELETE FROM fairmill_kept WHERE table_name = 'fairmill_wait_final'")
    site.run_at(60, '--full')
    is_right(site, 'a full run fills empty tables, as after an upgrade')


def upgrade(site):
    """A run that continues from an earlier release must count all jobs, not only new ones."""
    begin(site)
    start(site, ALICE, START - 5 * DAY, 10)
    site.run_at()
    (basis,), = site.query('SELECT basis FROM fairmill_seal')
    tap.ok(basis.startswith('format 5\n'), 'the format of checkpoints differs from that of releases without waiting times', basis)


def step(site, r, keys):
    """Changes the accounting database at random, and lets some time pass."""
    for _ in range(r.randrange(6)):
        at = site.now - r.choice((r.randrange(3 * HOUR), r.randrange(2 * DAY), r.randrange(20 * DAY) if r.random() < 0.1 else 0))
        end = r.choice((0, min(site.now, at + r.randrange(2 * DAY))))
        start(site, r.choice(NAMES), at, r.choice((0, 59, 61, r.randrange(HOUR), r.randrange(9 * DAY))), end, partition=r.choice('pqr'),
              id_qos=r.choice((1, 1, 2, 3, 77)))
    running = [key for key, in site.change('SELECT job_db_inx FROM tiny_job_table WHERE time_end = 0')]
    for key in r.sample(running, len(running) // 3):
        begun, = site.change('SELECT time_start FROM tiny_job_table WHERE job_db_inx = ?', key)[0]
        late = site.now - r.choice((0, 60, HOUR, 3 * DAY))
        resized = r.random() < 0.3
        site.change('UPDATE tiny_job_table SET time_end = ?, state = ? WHERE job_db_inx = ?', max(begun, late), 8192 if resized else 3, key)
        if resized:
            start(site, r.choice(NAMES), max(begun, late), 0, 0, time_eligible=begun - 10)
    # Few rows of a checkpointed job change, so most runs remain incremental.
    if r.random() < 0.03:
        site.change('DELETE FROM tiny_job_table WHERE job_db_inx = (SELECT max(job_db_inx) FROM tiny_job_table WHERE time_end > 0)')
    site.now += r.choice((60, HOUR, 5 * HOUR, DAY, 4 * DAY))


def history(site, seed):
    r = random.Random(seed)
    keys = {'usage.time_zone': r.choice(('UTC', 'Europe/Berlin', 'Asia/Kolkata')), 'usage.checkpoint_after': r.choice(('1h', '1-0', '3-0')),
            'usage.half_life': r.choice(('7-0', '0')), 'usage.full_every': r.choice(('2-0', '30-0'))}
    begin(site, keys)
    wrong, kinds = [], Counter()
    for number in range(25):
        step(site, r, keys)
        kinds[site.run_at(0, *['--full'] * (r.random() < 0.1))[0]] += 1
        got, wanted = stored(site), counted(site, keys['usage.time_zone'])
        if got != wanted and not was_missed(site):
            wrong = [f'step {number}: {kinds}', sorted(got.items() - wanted.items()), sorted(wanted.items() - got.items())]
            break
        if site.run('verify') and not was_missed(site):
            wrong = [f'step {number}: verify: {site.out}{site.err}']
            break
    return wrong, kinds


def was_missed(site):
    """Returns true if a full run differs: an incremental run may notice a change of checkpointed
    jobs later."""
    return site.run_at(0, '--full')[0] == 'full' and stored(site) == counted(site, site.keys['usage.time_zone'])


def histories(site):
    all_kinds = Counter()
    for seed in seeds(12, 60):
        wrong, kinds = history(site, seed)
        all_kinds += kinds
        tap.ok(not wrong, f'history {seed}: runs count each job once', *wrong)
    tap.ok(all_kinds['incremental'] > all_kinds['full'], 'most of these runs are incremental', dict(all_kinds))


def main():
    with Site() as site:
        for part in which_count, over_time, ends_before_start, resets, zone_after_purge, changed_names, short_window, not_counted, changed_rows, upgrade, histories:
            part(site)
    tap.done()


main()
