#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests changes to stored state and to its source, the jobs.

No published value may become wrong.  The run recomputes the stored state and reports the change."""

import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW
from sealed_site import DAY, HOUR, Site

LARGE, SMALL = 2 ** 63 - 1, -2 ** 63
RUNS, STEP = 23, HOUR  # within less than a day, and the time between them
DAY_TABLES = ('fairmill_usage_day', 'fairmill_usage_open', 'fairmill_usage_span')


def copy(site, source, target):
    for name in os.listdir(site.path(source)):
        if name.startswith(('a.db', 'r.db')):
            shutil.copy(os.path.join(site.path(source), name), site.path(target))


def begin(site, **keys):
    """Makes a site with jobs of ten days, one running job, one finding and some runs.

    The first call saves the site; later calls copy it."""
    saved = 'saved' + '-'.join(keys.values())
    if os.path.exists(site.path(saved)):
        for name in [name for name in os.listdir(site.folder) if name.startswith(('a.db', 'r.db'))]:
            os.unlink(site.path(name))
        copy(site, saved, '.')
        site.now = NOW + 600 + HOUR
        return
    site.begin(keys)
    site.job('physics.bob', site.now - 3 * DAY, 0)
    site.job('physics.alice', site.now - 9 * DAY, site.now - 9 * DAY - 5)
    site.run_at(300, '--full')
    for later in (HOUR, 0):
        site.run_at(later)
    site.now += 300
    os.mkdir(site.path(saved))
    copy(site, '.', saved)


def tables(site, name='r.db'):
    db = sqlite3.connect(site.path(name))
    found = {table: db.execute(f'SELECT * FROM {table} ORDER BY 1, 2, 3').fetchall() for table in DAY_TABLES}
    db.close()
    return found


def is_recomputed(site, statement):
    """Tests that values and stored days equal the ones of a run without stored state."""
    site.is_exact(f'{statement}: values are exact')
    tap.same(tables(site)['fairmill_usage_day'], tables(site, 'other.db')['fairmill_usage_day'],
             f'{statement}: the usage of days is exact')


def says(site, statement):
    kinds = site.query('SELECT kind FROM fairmill_finding WHERE last_seen = ?', site.now)
    tap.ok(('kept_rows_changed',) in kinds, f'{statement}: a finding reports the change', kinds)


def recovers(site, statement, *sql):
    begin(site)
    for each in sql:
        site.query(each)
    site.job('chemistry.carol', site.now - HOUR, site.now)
    got = site.run_at(300)
    is_recomputed(site, statement)
    tap.ok(got[0] == 'full' and got[1], f'{statement}: the run is full and has a reason', got)
    says(site, statement)
    tap.same(site.run_at(300), ('incremental', ''), f'{statement}: the next run is incremental')


def changed(site):
    """Tests changes of each table."""
    for table, column in (('usage_open', 'sum_0'), ('usage_span', 'as_of'), ('usage_span', 'final_to'),
                          ('seal', 'checked_to'), ('seal_usage', 'sum_1'), ('seal_slice', 'row_count'),
                          ('seal_slice', 'hash')):
        recovers(site, f'a changed {table}.{column}', f'UPDATE fairmill_{table} SET {column} = {column} + 1')
    recovers(site, 'words above and below the range', f'UPDATE fairmill_usage_open SET sum_2 = {LARGE}, sum_1 = {SMALL}')
    recovers(site, 'negative words', f'UPDATE fairmill_usage_open SET sum_2 = {SMALL}')
    recovers(site, 'sums above the range', f'UPDATE fairmill_seal_usage SET sum_3 = {LARGE}')
    recovers(site, 'a checkpoint of the future', 'UPDATE fairmill_seal SET as_of = 4294967296')
    recovers(site, 'a changed detail', "UPDATE fairmill_seal_odd SET detail = 'x'")
    recovers(site, 'a row of an invalid day',
             'INSERT INTO fairmill_usage_open (cluster, day, id_assoc, sum_2, sum_1, sum_0)'
             ' SELECT cluster, day + 1, id_assoc, sum_2, sum_1, sum_0 FROM fairmill_usage_open LIMIT 1')
    for table in ('usage_open', 'usage_span', 'seal_usage', 'seal_odd', 'seal_slice'):
        recovers(site, f'{table} without rows', f'DELETE FROM fairmill_{table}')
    recovers(site, 'a missing day', 'DELETE FROM fairmill_usage_day WHERE day = (SELECT max(day) FROM fairmill_usage_day)')


def forgotten(site):
    """Without a checkpoint or without hashes, a run cannot use wrong values."""
    for table in ('seal', 'kept'):
        begin(site)
        site.query(f'DELETE FROM fairmill_{table}')
        tap.same(site.run_at(300)[0], 'full', f'a run without rows in {table} is full')
        is_recomputed(site, table)


def wrong_types(site):
    """Tests values with a type that the column does not allow."""
    for table, column in (('usage_day', 'sum_0'), ('usage_open', 'sum_1'), ('seal_usage', 'sum_0'), ('seal', 'cutoff'),
                          ('usage_span', 'as_of')):
        begin(site)
        db = sqlite3.connect(site.path('r.db'))
        with db:
            (sql,), = db.execute('SELECT sql FROM sqlite_master WHERE name = ?', (f'fairmill_{table}',))
            db.execute(f'CREATE TABLE t AS SELECT * FROM fairmill_{table}')
            db.execute(f'DROP TABLE fairmill_{table}')
            db.execute(f"UPDATE t SET {column} = 'many'")
            db.execute(sql.replace('STRICT, ', '').replace('INTEGER', '').replace('REAL', ''))
            db.execute(f'INSERT INTO fairmill_{table} SELECT * FROM t')
        db.close()
        site.run_at(300)
        is_recomputed(site, f'a word in {table}.{column}')


def old_day(site):
    """Tests a row of an old day, which a run would not read otherwise."""
    for what, sql in (('tres_seconds', 'UPDATE fairmill_usage_day SET tres_seconds = tres_seconds + 1000 WHERE day = ?'),
                      ('sum_0', 'UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1048576000000 WHERE day = ? AND id_assoc = 3'),
                      ('a row', 'DELETE FROM fairmill_usage_day WHERE day = ? AND id_assoc = 3')):
        begin(site, **{'usage.full_every': '7-0'})
        (day,), = site.query('SELECT min(day) + 86400 FROM fairmill_usage_day')
        site.query(sql, day)
        full = []
        for _ in range(RUNS):
            if site.run_at(STEP)[0] == 'full':
                full.append(site.latest('message', 'drift_max'))
                says(site, what)
        tap.same(len(full), 1, f'a change of {what} on an old day is found within a day, once')
        message, drift = full[0]
        tap.ok('recomputed the usage of 1 day,' in message, f'{what}: the message of the run reports one day', message)
        tap.ok(drift > 0 or what == 'tres_seconds', f'{what}: the run records the drift', drift)
        is_recomputed(site, what)
        site.query(sql, day)
        site.run_at(300, '--full')
        is_recomputed(site, f'{what}, by --full')


def checkpointed_jobs(site):
    """Tests jobs that change long after they ended."""
    for what, sql in (('moved', 'UPDATE tiny_job_table SET time_end = time_end + 1000 WHERE job_db_inx = 5'),
                      ('charged differently', "UPDATE tiny_job_table SET tres_alloc = '1=9,5=9' WHERE job_db_inx = 6"),
                      ('of another association', 'UPDATE tiny_job_table SET id_assoc = 4 WHERE job_db_inx = 7'),
                      ('deleted', 'DELETE FROM tiny_job_table WHERE job_db_inx = 8'),
                      ('new', None)):
        begin(site, **{'usage.full_every': '7-0'})
        if sql:
            site.change(sql)
        else:
            site.job('physics.bob', NOW - 7 * DAY - HOUR, NOW - 7 * DAY)
        seen = []
        for _ in range(RUNS):
            kind, why = site.run_at(STEP)
            if kind == 'full' and not seen:
                seen = [(why, *site.latest('drift_max', 'drifted_associations'))]
                kinds = site.query('SELECT kind FROM fairmill_finding WHERE last_seen = ?', site.now)
        tap.ok(seen and 'have changed since they were checkpointed' in seen[0][0],
               f'a job that is {what} is found within a day', seen)
        tap.ok(('sealed_jobs_changed',) in kinds, f'a job that is {what}: a finding reports it', kinds)
        tap.ok(seen[0][1] > 0 and seen[0][2] > 0, f'a job that is {what}: the run records the drift', seen)
        is_recomputed(site, what)
    begin(site, **{'usage.full_every': '7-0'})
    tap.same({site.run_at(STEP)[0] for _ in range(RUNS)}, {'incremental'}, 'without changes all runs are incremental')
    is_recomputed(site, 'nothing changed')


def finds(site, what, sql, reason='have changed since they were checkpointed', step=STEP):
    """Changes rows that a run has read, and tests that a run of the next day finds the change."""
    tap.same(site.run_at(300)[0], 'incremental', f'{what}: the run before the change is incremental')
    site.change(sql)
    runs = [site.run_at(step) for _ in range(RUNS * HOUR // step)]
    full = [why for kind, why in runs if kind == 'full']
    tap.ok(len(full) == 1 and reason in full[0], f'{what} is found within a day, once', full)
    is_recomputed(site, what)


def at_the_ends(site):
    """Tests jobs on the first and last day of the checkpoint, which are only partly in it."""
    anchored = {'usage.reset_period': '30-0', 'usage.reset_anchor': '2025-06-15T06:00:00', 'usage.time_zone': 'UTC'}
    for what, keys, end, step in (('a job that ended just before the checkpoint time', {}, NOW - DAY - HOUR, STEP),
                                  ('a job that ended soon after the reset', anchored, NOW - 6 * DAY - HOUR, STEP),
                                  ('a job, with a run every ten minutes,', {}, NOW - 5 * DAY - HOUR, 600)):
        site.begin({'usage.full_every': '7-0', **keys})
        key = site.job('physics.bob', end - HOUR, end)
        site.run_at(0, '--full')
        finds(site, what, f"UPDATE tiny_job_table SET tres_alloc = '1=9,5=9' WHERE job_db_inx = {key}", step=step)


def rollup(site, start, seconds, span='day'):
    site.change(f'INSERT INTO tiny_assoc_usage_{span}_table (creation_time, mod_time, deleted, id, id_tres, time_start, alloc_secs)'
                f' VALUES ({start}, {start}, 0, 3, 5, {start}, {seconds})')


def of_rollups(site):
    """Tests rollups that replace purged jobs."""
    first = NOW // DAY * DAY - 40 * DAY
    reason = 'rollups have changed since they were checkpointed'
    table = 'tiny_assoc_usage_day_table'
    for what, sql in (('a doubled rollup', f'UPDATE {table} SET alloc_secs = 2 * alloc_secs WHERE time_start = {first + DAY}'),
                      ('a deleted rollup', f'DELETE FROM {table} WHERE time_start = {first + 2 * DAY}'),
                      ('a rollup of another association', f'UPDATE {table} SET id = 4 WHERE time_start = {first}'),
                      ('a job older than all others', None)):
        site.begin({'usage.full_every': '7-0'})
        for day in range(28):
            rollup(site, first + day * DAY, 5000)
        site.change('DELETE FROM tiny_last_ran_table')
        site.change(f'INSERT INTO tiny_last_ran_table VALUES ({NOW - HOUR}, {NOW - DAY}, {first})')
        tap.same(site.run_at(0, '--full')[0], 'full', f'{what}: the run before uses rollups')
        tap.ok(site.query('SELECT sum(usage_raw) FROM fairmill_fairshare WHERE id_assoc = 3')[0][0] > 5 * 5000,
               f'{what}: rollups count')
        sql = sql or ('INSERT INTO tiny_job_table SELECT * FROM old')
        if 'old' in sql:
            site.change('CREATE TABLE old AS SELECT * FROM tiny_job_table WHERE job_db_inx = 1')
            site.change(f'UPDATE old SET job_db_inx = 99, id_job = 99, time_start = {first + 5 * DAY}, time_end = {first + 5 * DAY + HOUR}')
        finds(site, what, sql, reason if 'old' not in sql else '')
    tap.same(site.run_at(DAY)[0], 'incremental', 'unchanged rollups need no full run')


def purged(site):
    """A day whose jobs were purged cannot be repaired.  A finding reports it, and it stays."""
    begin(site)
    site.change('DELETE FROM tiny_job_table WHERE job_db_inx < 9')
    site.run_at(300)
    (day,), = site.query('SELECT min(day) + 86400 FROM fairmill_usage_day')
    site.query('UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1 WHERE day = ?', day)
    broken = tables(site)['fairmill_usage_day']
    site.run_at(300, '--full')
    tap.same([row for row in tables(site)['fairmill_usage_day'] if row[1] == day], [row for row in broken if row[1] == day],
             'a changed day without jobs stays as it is')
    tap.same(site.query("SELECT detail FROM fairmill_finding WHERE kind = 'days_changed_after_purge' AND last_seen = ?", site.now)[0][0][:6],
             '1 day,', 'a changed day without jobs is a finding')
    site.run_at(300, '--full')
    tap.same(site.query("SELECT count(*) FROM fairmill_finding WHERE kind = 'days_changed_after_purge' AND last_seen = ?", site.now),
             [(0,)], 'the next run does not repeat the finding')


def without_a_checkpoint(site):
    """Without a checkpoint, as for usage from rollups, days are checked in turn."""
    begin(site)
    site.settings(dict(site.keys, **{'usage.full_every': '7-0', 'usage.source': 'rollup'}))
    site.run_at(300, '--full')
    (day,), = site.query('SELECT min(day) + 86400 FROM fairmill_usage_day')
    wanted = [row for row in tables(site)['fairmill_usage_day'] if row[1] == day]
    site.query('UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1 WHERE day = ?', day)
    for _ in range(RUNS):
        site.run_at(STEP)
    tap.same([row for row in tables(site)['fairmill_usage_day'] if row[1] == day], wanted,
             'a changed day is repaired without a checkpoint')
    tap.same(site.query("SELECT detail FROM fairmill_finding WHERE kind = 'kept_rows_changed'"),
             [('usage of 1 day, in which 2 rows differed',)], 'a finding reports the changed day without a checkpoint')


def before_the_reset(site):
    """Runs do not recompute days before a reset."""
    begin(site)
    site.settings(dict(site.keys, **{'usage.full_every': '7-0', 'usage.reset_period': 'daily'}))
    site.run_at(300)
    (day,), = site.query('SELECT min(day) + 86400 FROM fairmill_usage_day')
    site.query('UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1 WHERE day = ?', day)
    site.run_at(300, '--full')
    tap.same(site.query("SELECT substr(detail, 1, 6) FROM fairmill_finding WHERE kind = 'days_changed_after_purge'"),
             [('1 day,',)], 'a changed day before the last reset is a finding')


def invalid_segments(site):
    """A hash of a segment that the table cannot have is removed by a full run."""
    begin(site)
    whole = site.query('SELECT DISTINCT table_name FROM fairmill_kept WHERE part = 0')
    kept = "SELECT table_name, part FROM fairmill_kept WHERE part = 1749427200 AND table_name <> 'fairmill_usage_day'"
    for (table,) in whole:
        site.query("INSERT INTO fairmill_kept VALUES ('tiny', ?, 1749427200, 6, 7)", table)
    tap.ok(len(site.query(kept)) == len(whole) > 3, 'tables with one hash segment get another one', whole)
    site.run_at(300, '--full')
    tap.same(site.query(kept), [], 'a full run removes the added hash segments')
    is_recomputed(site, 'invalid hash segments')


def body():
    for part in (changed, forgotten, wrong_types, invalid_segments, old_day, checkpointed_jobs, at_the_ends, of_rollups, purged, without_a_checkpoint, before_the_reset):
        with Site() as site:
            part(site)


tap.main(body)
