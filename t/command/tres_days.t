#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the daily usage by TRES: which jobs and TRES count, the settings, and days that no longer
change.  The random histories (t/lib/history.py) compare it with a second implementation."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY
from sealed_site import Site

DAY, HOUR = 86400, 3600
START = NOW - NOW % DAY  # midnight in UTC
ALICE, BOB, CAROL = 'physics.alice', 'physics.bob', 'chemistry.carol'
DRAWING = TINY + '''qos 2 factor=0
qos 3 factor=0.5
tres 1001 gres/gpu
tres 1002 gres/gpu:a100
tres 1003 license/matlab
'''
KEYS = {'usage.time_zone': 'UTC', 'usage.half_life': '7-0', 'usage.checkpoint_after': '1-0', 'usage.full_every': '30-0'}


def begin(site, keys=None, drawing=DRAWING):
    site.now = START + 6 * HOUR
    site.keys = KEYS | (keys or {})
    site.ready(drawing, site.keys)
    site.ids = {f'{account}.{user}': number for account, user, number in
                site.change('SELECT acct, "user", id_assoc FROM tiny_assoc_table WHERE "user" <> \'\'')}


def stored(site, database='r.db'):
    return {(day, account + '.' + user, tres): seconds for day, account, user, tres, seconds in site._query(
        database, 'SELECT d.day, t.account, t.user_name, d.tres, d.seconds FROM fairmill_tres_day d'
        ' JOIN fairmill_tree t ON t.id_assoc = d.id_assoc')}


def rows(site, database='r.db'):
    tables = 'fairmill_usage_day', 'fairmill_usage_open', 'fairmill_usage_span'
    hashes = "SELECT part, row_count, hash FROM fairmill_kept WHERE table_name = '{}' ORDER BY part"
    return [(site._query(database, f'SELECT * FROM {table} ORDER BY 1, 2, 3'), site._query(database, hashes.format(table)))
            for table in tables]


def is_exact(site, statement):
    """The days, open usage and hashes agree with a run without stored state."""
    got = rows(site)
    for name in os.listdir(site.folder):
        if name.startswith('other.db'):
            os.unlink(site.path(name))
    site.settings(site.keys | {'results.database': site.path('other.db')}, 'other.conf')
    site.succeed('init', settings='other.conf')
    site.succeed('run', '--now', site.now, settings='other.conf')
    other = rows(site, 'other.db')
    tap.ok(got[0] == other[0] and got[0][0], statement, 'got', *got[0], 'expected', *other[0])


def which_count(site):
    begin(site)
    day = START - 2 * DAY
    site.job(ALICE, day + HOUR, day + 3 * HOUR, qos=3, charge=4, more=',2=4096,4=2,1001=3,1002=3,1003=7')
    site.job(BOB, day + HOUR, day + 2 * HOUR, qos=2, charge=8, more=',1001=1')
    site.job(CAROL, day - HOUR, day + HOUR, charge=1, more=f',1001={1 << 36},4={(1 << 36) - 1}')
    site.job(CAROL, day + 4 * HOUR, day + 5 * HOUR, charge=1, more=',4=junk,1001=18446744073709551614')
    site.run_at()
    wanted = {(day, ALICE, 'cpu'): 8 * HOUR, (day, ALICE, 'node'): 4 * HOUR, (day, ALICE, 'gres/gpu'): 6 * HOUR,
              (day, ALICE, 'gres/gpu:a100'): 6 * HOUR, (day, BOB, 'cpu'): 8 * HOUR, (day, BOB, 'gres/gpu'): HOUR,
              (day - DAY, CAROL, 'cpu'): HOUR, (day, CAROL, 'cpu'): 2 * HOUR,
              (day - DAY, CAROL, 'node'): ((1 << 36) - 1) * HOUR, (day, CAROL, 'node'): ((1 << 36) - 1) * HOUR}
    tap.same(stored(site), wanted, 'a day has the count of each kept TRES times seconds, without usage factors')
    tap.same(site.query('SELECT tres_seconds FROM fairmill_usage_day WHERE id_assoc = ?', site.ids[BOB]), [(0,)],
             'a job that is charged nothing has a row')
    tap.same(site.query('SELECT tres_seconds FROM fairmill_usage_day WHERE id_assoc = ?', site.ids[ALICE]), [(4 * HOUR,)],
             'the billed usage includes the factor')
    for command in (['history', '--usage', 'bob', '--since', day], ['statement', 'bob'], ['explain', 'bob'], ['forecast', 'bob'], ['report'],
                    ['verify']):
        site.ends(0, f'{command[0]} accepts a day without billed usage', *command)
    begin(site, {'usage.tres': 'license/matlab, CPU'})
    site.job(ALICE, day + HOUR, day + 3 * HOUR, more=',1001=3,1003=7')
    site.run_at()
    tap.same(stored(site), {(day, ALICE, 'cpu'): 8 * HOUR, (day, ALICE, 'license/matlab'): 14 * HOUR},
             'the setting names the TRES that are kept')
    begin(site, {'usage.tres': 'none'})
    site.job(ALICE, day + HOUR, day + 3 * HOUR, more=',1001=3')
    site.job(BOB, day + HOUR, day + 3 * HOUR, qos=2)
    site.run_at()
    tap.same((stored(site), len(site.query('SELECT * FROM fairmill_usage_day'))), ({}, 1), 'without kept TRES, days have only billed usage')


def upgrade(site):
    """Days that no run computes again keep the hashes of an earlier release."""
    begin(site, {'usage.tres': 'none'}, TINY)
    site.now = START
    site.job(ALICE, START - DAY, START - DAY + HOUR)
    site.run_at()
    tap.same(site.query("SELECT part, row_count, hash FROM fairmill_kept WHERE table_name = 'fairmill_usage_day'"),
             [(START - DAY, 1, -3403475317735054176)], 'a row without usage by TRES has the hash that release 0.3.0 stored')


def over_time(site):
    """Jobs that run, end, are suspended and turn out to have ended earlier."""
    begin(site, {'usage.suspended': 'omitted'})
    site.job(BOB, START - 40 * DAY, START - 39 * DAY)
    long = site.job(ALICE, START - 30 * DAY, 0, charge=2, more=',1001=1')
    free = site.job(CAROL, START - 20 * DAY, 0, qos=2, charge=3, more=',1001=5')
    site.suspend(long, START - 10 * DAY, START - 9 * DAY)
    site.suspend(free, START - 10 * DAY + HOUR, START - 10 * DAY + 2 * HOUR)
    site.run_at()
    got = stored(site)
    tap.same([got.get((START - day * DAY, ALICE, 'cpu')) for day in (30, 20, 10, 9)], [2 * DAY, 2 * DAY, None, 2 * DAY],
             'a long job counts on each day, except while it is suspended')
    tap.same([got.get((START - day * DAY, CAROL, 'gres/gpu')) for day in (21, 20, 10, 0)], [None, 5 * DAY, 5 * 23 * HOUR, 5 * 6 * HOUR],
             'a running job that is charged nothing counts up to the time of the run')
    is_exact(site, 'a first run is exact')
    tap.same(site.run_at(DAY)[0], 'incremental', 'the next run is incremental')
    is_exact(site, 'an incremental run adds the time since')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', START - 15 * DAY, free)
    site.job(BOB, START - 12 * HOUR, START + HOUR, more=',4=1')
    tap.same(site.run_at(300)[0], 'incremental', 'the run after a repair is incremental')
    is_exact(site, 'an incremental run subtracts the usage of a job that turns out to have ended earlier')
    tap.ok((START - 14 * DAY, CAROL, 'gres/gpu') not in stored(site), 'the row of such a day is removed')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', site.now, long)
    for seconds in DAY, 3 * DAY, 2 * DAY:
        tap.same(site.run_at(seconds)[0], 'incremental', f'the run after {seconds} seconds is incremental')
        is_exact(site, f'an incremental run after {seconds} seconds is exact')


def of_rollups(site):
    """With rollups, the kept TRES count even if they are not charged."""
    begin(site, {'usage.source': 'rollup', 'usage.tres': 'cpu, gres/gpu', 'usage.time_zone': 'Asia/Kolkata', 'usage.half_life': 0})
    first = START - 5 * DAY
    for name, tres, start, seconds in ((ALICE, 1, first, 10 ** 6 + 1), (ALICE, 1001, first, 777), (ALICE, 4, first, 999),
                                       (BOB, 1, first, 1 << 62), (CAROL, 5, first, 4800)):
        site.change('INSERT INTO tiny_assoc_usage_hour_table (creation_time, mod_time, deleted, id, id_tres, time_start, alloc_secs)'
                    ' VALUES (1, 1, 0, ?, ?, ?, ?)', site.ids[name], tres, start + 18 * HOUR, seconds)
    site.change('INSERT INTO tiny_last_ran_table VALUES (?, 0, 0)', START)
    site.run_at()
    midnight = first + 18 * HOUR + 1800
    tap.same(stored(site), {(midnight - DAY, ALICE, 'cpu'): 500000, (midnight, ALICE, 'cpu'): 500001,
                            (midnight - DAY, ALICE, 'gres/gpu'): 388, (midnight, ALICE, 'gres/gpu'): 389},
             'the usage of a rollup is spread over its days without a remainder, and a sum that no cluster has is ignored')
    tap.same(site.query('SELECT sum(tres_seconds) FROM fairmill_usage_day WHERE id_assoc <> ?', site.ids[CAROL]), [(0,)],
             'TRES that are not charged add nothing to the billed usage')
    tap.same(site.query('SELECT day, tres_seconds FROM fairmill_usage_day WHERE id_assoc = ? ORDER BY 1', site.ids[CAROL]),
             [(midnight - DAY, 2400), (midnight, 2400)], 'the billed usage of a rollup does not change')
    is_exact(site, 'days of rollups are exact')


def settings_change(site):
    begin(site, {'usage.tres': 'cpu, gres/gpu'})
    for day in range(6, 0, -1):
        site.job(ALICE, START - day * DAY + HOUR, START - day * DAY + 2 * HOUR, more=',4=1,1001=2')
    site.run_at()
    site.change('DELETE FROM tiny_job_table WHERE time_end < ?', START - 4 * DAY)
    site.run_at(60)
    (final_to,), = site.query('SELECT final_to FROM fairmill_usage_span')
    final = {key: seconds for key, seconds in stored(site).items() if key[0] < final_to}
    tap.ok(len(final) == 6, 'days whose jobs were purged keep their usage by TRES', final)
    for wanted in ('node', 'gres/gpu, node', 'none', 'auto'):
        site.keys['usage.tres'] = wanted
        site.settings(site.keys)
        kind, _ = site.run_at(60)
        tap.same(kind, 'full', f'{wanted}: the run after the change is full')
        names = {'auto': ['cpu', 'node', 'gres/gpu'], 'none': []}.get(wanted, wanted.split(', '))
        tap.same(stored(site), final | {(START - day * DAY, ALICE, name): {'cpu': 4, 'node': 1, 'gres/gpu': 2}[name] * HOUR
                                        for day in range(6, 0, -1) if START - day * DAY >= final_to for name in names},
                 f'{wanted}: usage of other TRES stays in final days, and is removed from the others')
        tap.same(site.query("SELECT count(*) FROM fairmill_finding WHERE kind LIKE 'kept%'"), [(0,)], f'{wanted}: there is no finding')
        site.ends(0, f'{wanted}: verify finds no differences', 'verify')
        tap.same(site.run_at(60)[0], 'incremental', f'{wanted}: the next run is incremental')
    tap.same(site.query('SELECT tres FROM fairmill_tres_name ORDER BY number'), [('cpu',), ('gres/gpu',), ('node',), ('gres/gpu:a100',)],
             'a TRES keeps its number')


def damaged(site):
    begin(site, {'retention.history_days': 3650, 'usage.half_life': 0})
    for day in range(6, 0, -1):
        site.job(ALICE, START - day * DAY + HOUR, START - day * DAY + 2 * HOUR, more=',4=1,1001=2')
    open_job = site.job(BOB, START - DAY, 0, more=',1001=1')
    site.run_at()
    number = dict(site.query('SELECT tres, number FROM fairmill_tres_name'))['gres/gpu']
    for what, sql in (('a changed amount', f'UPDATE fairmill_usage_day SET tres_{number} = tres_{number} + 1'),
                      ('a missing amount', f'UPDATE fairmill_usage_day SET tres_{number} = NULL'),
                      ('a negative amount', f'UPDATE fairmill_usage_day SET tres_{number} = -1'),
                      ('a changed amount of open jobs', f'UPDATE fairmill_usage_open SET tres_{number} = 7')):
        site.query(sql)
        site.ends(1, f'{what}: verify exits with status 1', 'verify', '--csv')
        tap.ok('rows changed' in site.out, f'{what}: verify reports the cells', site.out)
        site.job(ALICE, site.now - HOUR, site.now, more=',1001=1')
        kind, why = site.run_at(60)
        tap.ok(kind == 'full' and 'do not match their stored hash' in why, f'{what}: the next run reads all jobs', kind, why)
        is_exact(site, f'{what}: the run repairs the days')
    site.change('UPDATE tiny_job_table SET tres_alloc = ? WHERE job_db_inx = ?', f'1=1,5=1,1001={(1 << 36) - 1}', open_job)
    key = site.job(BOB, START - DAY, START, more=f',1001={(1 << 36) - 1}')
    site.multiply('tiny_job_table', f'job_db_inx = {key}', 1600, job_db_inx='1000 + i', id_job='1000 + i')
    site.ends(0, 'a run whose amounts are too large for a day succeeds', 'run', '--now', site.now + 60, '--full')
    tap.ok('on one day is out of range' in site.query("SELECT detail FROM fairmill_finding WHERE kind = 'days_incomplete'")[0][0],
           'a finding reports that the days are not stored')
    site.change('UPDATE tiny_job_table SET tres_alloc = ?', '1=1,5=1')
    site.run_at(120, '--full')
    is_exact(site, 'a run with amounts in range stores the days again')
    site.query('UPDATE fairmill_usage_day SET tres_16 = 5')
    site.ends(1, 'an amount of a number that no TRES has: verify exits with status 1', 'verify', '--csv')
    tap.ok('tres_16' in site.out, 'an amount of a number that no TRES has: verify names the column', site.out)
    site.ends(0, 'verify --repair succeeds', 'verify', '--repair')
    tap.same(site.query('SELECT count(tres_16) FROM fairmill_usage_day'), [(0,)], 'verify --repair removes amounts of a number that no TRES has')


def body():
    for part in (which_count, upgrade, over_time, of_rollups, settings_change, damaged):
        with Site() as site:
            part(site)


tap.main(body)
