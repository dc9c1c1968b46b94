#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill verify`: it must report each published or stored cell that another program
changed.

It must distinguish this from a source that has changed since the run.  --repair recomputes the
rows."""

import csv
import io
import json
import os
import random
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW
from sealed_site import DAY, HOUR, Site
from seeds import seeds

PUBLISHED = 'fairmill_tree', 'fairmill_value', 'fairmill_job_priority', 'fairmill_budget'
KEPT = ('fairmill_seal', 'fairmill_seal_usage', 'fairmill_seal_open', 'fairmill_seal_odd', 'fairmill_seal_slice',
        'fairmill_usage_day', 'fairmill_usage_open', 'fairmill_usage_span', 'fairmill_kept')
RECORDS = 'fairmill_history', 'fairmill_association', 'fairmill_share_change', 'fairmill_share_past', 'fairmill_share_state', 'fairmill_fairness'


def begin(site, keys=None):
    """Makes a site with rows in each table."""
    site.begin(dict({'priority.weight_age': 1000, 'priority.weight_fairshare': 10000, 'retention.history_interval': 0}, **(keys or {})))
    site.change("UPDATE tiny_assoc_table SET grp_tres_mins = '1=1000,4=0' WHERE id_assoc = 2")
    site.change("UPDATE qos_table SET grp_tres_mins = '1=1000'")
    site.job('physics.bob', site.now - 3 * DAY, 0)
    site.job('physics.alice', site.now - 9 * DAY, site.now - 9 * DAY - 5)
    for later in (60, 120):
        waiting = site.job('chemistry.carol', 0, 0)
        site.change('UPDATE tiny_job_table SET state = 0, time_submit = ?, time_eligible = ? WHERE job_db_inx = ?',
                    site.now - later, site.now - later, waiting)
    site.run_at(300, '--full')
    for later in (HOUR, 300):
        site.run_at(later)


class Saved:
    """A copy of the results that can be restored."""

    def __init__(self, site):
        self.site = site
        shutil.copy(site.path('r.db'), site.path('saved.db'))

    def back(self):
        for end in ('-wal', '-shm'):
            if os.path.exists(self.site.path('r.db' + end)):
                os.unlink(self.site.path('r.db' + end))
        shutil.copy(self.site.path('saved.db'), self.site.path('r.db'))


def rows_of(site):
    return list(csv.DictReader(io.StringIO(site.out)))


def causes_of(site):
    return {(row['table'], row['cause']) for row in rows_of(site) if not row['more']}


def used(site, columns):
    """Returns names and types of columns, without the columns of numbers that no TRES has."""
    numbers = {str(number) for number, in site.query('SELECT number FROM fairmill_tres_name')}
    return [(column[1], column[2]) for column in columns
            if not (match := re.match(r'(?:tres|running)_([0-9]+)$', column[1])) or match[1] in numbers]


def mutants(site, tables):
    """Yields one change of each column, in a random row."""
    r = random.Random(4)
    for table in tables:
        columns = site.query(f'PRAGMA table_info({table})')
        rows = site.query(f'SELECT * FROM {table}')
        # The first time without its hash looks like a row of an older release, which stored none.
        if table == 'fairmill_kept':
            rows = [row for row in rows if row[1] not in (*RECORDS, 'fairmill_history_point') or row[1] == 'fairmill_share_state'
                    or any(row[:2] == other[:2] and row[2] > other[2] for other in rows)]
        if not rows:
            raise RuntimeError(f'{table} is empty')
        keys = [column[1] for column in columns if column[5]]
        names = [column[1] for column in columns]
        for name, kind in used(site, columns):
            row = dict(zip(names, r.choice(rows)))
            old = row[name]
            new = 1
            if kind == 'TEXT':
                new = (old or '') + 'x'
            elif old is not None:
                new = old * 1.5 + 1 if kind == 'REAL' else old + (10 ** 6 if name in keys else 1)
            where = ' AND '.join(f'"{key}" = ?' for key in keys)
            yield table, name, f'UPDATE {table} SET "{name}" = ? WHERE {where}', (new, *(row[key] for key in keys))


# Columns that describe how or where something was done, which cannot be computed again; rows that a
# run merges with earlier ones; and messages that were sent.
NOT_VERIFIED = {
    'fairmill_schema.made_at', 'fairmill_lock.source', 'fairmill_finding', 'fairmill_notice',
    *(f'fairmill_run.{name}' for name in ('started_at', 'duration_ms', 'kind', 'why', 'jobs_read', 'source_newest', 'source_lag', 'drift_max',
                                          'drifted_associations', 'version', 'host', 'os_user', 'message')),
}


def covered_or_listed(site):
    """Each column of each table of sql/schema/tables.sql is compared, or is in NOT_VERIFIED."""
    begin(site, {'report.private': 'usage', 'retention.history_days': 3650})
    site.ends(0, 'a ledger entry is added',
              'ledger', 'credit', '5', '-u', 'bob', '--why', 'test', '--at', site.now - DAY, '--yes')
    site.succeed('ledger', 'reset', '-u', 'alice', '--why', 'test', '--at', site.now - DAY, '--yes')
    site.succeed('backfill', '--since', site.now - 3 * DAY, '--until', site.now - DAY)
    site.change("INSERT INTO user_table (creation_time, mod_time, deleted, name, admin_level) VALUES (1, 1, 0, 'carol', 3)")
    site.run_at(300)
    site.query("INSERT INTO fairmill_notice VALUES ('tiny', 'share', 1, '', 'bob', 1)")
    whole = Saved(site)
    site.ends(0, 'verify finds no differences before the changes', 'verify')
    tables = [name for name, in site.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    unseen, empty = set(), set()
    for table in tables:
        columns = site.query(f'PRAGMA table_info({table})')
        keys = ', '.join(column[1] for column in columns if column[5])
        mine = "cluster = 'tiny' AND " if any(column[1] == 'cluster' for column in columns) else ''
        newest = ' DESC, '.join(column[1] for column in columns if column[5]) + ' DESC'
        rows = site.query(f'SELECT count(*) FROM {table} WHERE {mine} 1')[0][0]
        if not rows:
            empty.add(table)
            continue
        for name, kind in used(site, columns):
            new = f"'z' || substr(COALESCE({name}, ''), 1, 31)" if kind == 'TEXT' else f'COALESCE({name} + 1, 1)'
            site.query(f'UPDATE {table} SET {name} = {new} WHERE {mine}({keys}) = '
                       f'(SELECT {keys} FROM {table} WHERE {mine} 1 ORDER BY {newest} LIMIT 1)')
            if not site.run('verify'):
                unseen |= {table, f'{table}.{name}'} & NOT_VERIFIED or {f'{table}.{name}'}
            whole.back()
        site.query(f'DELETE FROM {table} WHERE {mine}({keys}) = (SELECT {keys} FROM {table} WHERE {mine} 1 ORDER BY {newest} LIMIT 1)')
        if not site.run('verify'):
            unseen |= {table} & NOT_VERIFIED or {f'{table}: a row'}
        whole.back()
    tap.same(sorted(unseen), sorted(NOT_VERIFIED), 'verify compares all columns and rows except the listed ones')
    tap.same(empty, {'fairmill_job_term'}, 'all tables have rows except the terms of formulas')


def settings_and_privileges(site):
    """Permissions depend on the recorded settings and privileges."""
    begin(site, {'report.private': 'usage, jobs'})
    for what, sql, named in (
            ('changed settings',
             "UPDATE fairmill_settings SET text = replace(text, 'report.private = usage, jobs', 'report.private = no')",
             'fairmill_settings'),
            ('deleted settings', 'DELETE FROM fairmill_settings', 'fairmill_settings'),
            ('an added privilege',
             "INSERT INTO fairmill_privilege VALUES ('tiny', 'bob', '', 'administrator')", 'fairmill_privilege'),
            ('a changed run', 'UPDATE fairmill_run SET half_life = half_life + 1', 'fairmill_run')):
        before = site.query('SELECT * FROM fairmill_settings'), site.query('SELECT * FROM fairmill_privilege')
        site.query(sql)
        site.ends(1, f'{what}: verify exits with status 1', 'verify', '--csv')
        tap.ok(named in site.out + site.err, f'{what}: verify names the table', site.out, site.err)
        site.run_at(60)
        site.ends(0, f'{what}: verify finds no differences after the next run', 'verify')
        tap.same((site.query('SELECT * FROM fairmill_settings'), site.query('SELECT * FROM fairmill_privilege')), before,
                 f'{what}: the next run restores the rows')


def every_cell(site):
    begin(site)
    saved = Saved(site)
    site.ends(0, 'verify without changes exits with status 0', 'verify')
    tap.same(site.out, 'cluster tiny: 6 rows of 2025-06-21T11:10:00, as computed\n',
             'verify prints the number of rows that it compared')
    before = open(site.path('r.db'), 'rb').read()
    site.run('verify', '--json')
    tap.same(json.loads(site.out), {'differences': []}, 'verify --json has an empty list')
    tap.ok(open(site.path('r.db'), 'rb').read() == before, 'verify writes nothing')
    unnamed = []
    mended = set()
    for table, column, sql, arguments in list(mutants(site, PUBLISHED + KEPT + RECORDS)):
        saved.back()
        site.query(sql, *arguments)
        status = site.run('verify', '--csv')
        named = [row for row in rows_of(site) if row['table'] == table or table == 'fairmill_kept' and row['table'] in (*RECORDS, 'fairmill_history_point', 'fairmill_tres_name')]
        if status != 1 or not named or any(row['cause'] != 'rows changed' for row in named):
            unnamed.append((table, column, arguments, status, site.out, site.err))
        elif table not in mended or column in ('sum_0', 'hash'):
            mended.add(table)
            site.ends(0, f'{table}.{column}: --repair repairs the change', 'verify', '--repair')
            site.ends(0, f'{table}.{column}: verify finds no differences after the repair', 'verify')
    tap.ok(not unnamed, 'verify reports each changed cell of each table, with the cause', len(unnamed), *unnamed[:5])
    saved.back()
    site.query("UPDATE fairmill_history_point SET algorithm = 'linear' WHERE as_of = (SELECT min(as_of) FROM fairmill_history_point)")
    site.ends(1, 'verify reports a changed algorithm of a history point', 'verify', '--csv')
    tap.same({row['table'] for row in rows_of(site)}, {'fairmill_history', 'fairmill_history_point'},
             'the changed algorithm is reported as a change of history')
    for table in PUBLISHED + KEPT[1:8] + RECORDS:
        saved.back()
        site.query(f'DELETE FROM {table}')
        site.ends(1, f'{table} without rows is reported', 'verify', '--csv')
        tap.ok(any(row['table'] == table for row in rows_of(site)), f'verify names the table {table} without rows', site.out)
    saved.back()


def output(site):
    begin(site)
    site.query('UPDATE fairmill_usage_day SET tres_seconds = tres_seconds + 1')
    (count,), = site.query('SELECT count(*) FROM fairmill_usage_day')
    site.ends(1, 'verify reports changed days', 'verify', '--csv')
    rows = rows_of(site)
    tap.same([len(rows), rows[-1]['more'], rows[0]['column'], rows[0]['cause']], [11, str(count - 10), 'tres_seconds', 'rows changed'],
             'the first ten differences are listed, the others counted')
    tap.same(float(rows[0]['stored']), float(rows[0]['computed']) + 1, 'a difference has the stored and the computed value')
    site.ends(1, 'verify reports changed days as text', 'verify')
    tap.ok(f'differences: {count} in fairmill_usage_day; another program changed stored rows' in site.out,
           'the text output names the table and the cause',
           site.out)
    site.ends(64, 'an unknown cluster is rejected', 'verify', '--cluster', 'none')


def source_changed(site):
    for what, sql in (('moved', 'UPDATE tiny_job_table SET time_end = time_end - 1000 WHERE job_db_inx = 5'),
                      ('deleted', 'DELETE FROM tiny_job_table WHERE job_db_inx = 7')):
        begin(site)
        site.change(sql)
        site.ends(1, f'a job that is {what} is a difference', 'verify', '--csv')
        rows = rows_of(site)
        tap.same({cause for _, cause in causes_of(site)}, {'source changed'},
                 f'{what}: the cause is the source, not a changed row')
        tap.ok({'fairmill_value', 'fairmill_seal_usage', 'fairmill_usage_day'} <= {row['table'] for row in rows},
               f"{what}: each table with the job's usage is named", site.out)
        site.query('UPDATE fairmill_job_priority SET priority = priority + 1')
        site.run('verify', '--csv')
        causes = causes_of(site)
        tap.ok({('fairmill_value', 'source changed'), ('fairmill_job_priority', 'rows changed')} <= causes,
               f'{what}: the two causes are distinguished', causes)
        site.ends(0, f'{what}: --repair publishes again', 'verify', '--repair')


def later_changes(site):
    """Changes after the run are not differences."""
    begin(site)
    running = site.query('SELECT job_key FROM fairmill_seal_open ORDER BY 1')
    site.change('UPDATE tiny_job_table SET time_end = ?, state = 3 WHERE job_db_inx = ?', site.now + 100, running[0][0])
    site.job('physics.alice', site.now + 50, site.now + 90)
    site.ends(0, 'jobs that ended or began after the run are not differences', 'verify')
    site.succeed('ledger', 'credit', 5, '-u', 'alice', '-A', 'physics', '--at', site.now - HOUR, '-w', 'late', '-y')
    site.ends(0, 'a ledger entry made after the run is not a difference', 'verify')
    site.run_at(300)
    site.ends(0, 'a ledger entry is not a difference after the next run', 'verify')
    site.change('UPDATE tiny_assoc_table SET shares = 77, mod_time = ? WHERE id_assoc = 3', int(time.time()))
    site.ends(0, 'shares that were set after the run are not a difference', 'verify')
    site.query('DELETE FROM fairmill_ledger')
    site.ends(1, 'a lost ledger entry is a difference', 'verify')
    site.says('the error names the lost entry', 'entry 1 is lost')


def purged(site):
    """A day whose jobs were purged can be compared only with its hash."""
    begin(site)
    site.change('DELETE FROM tiny_job_table WHERE job_db_inx < 9')
    site.run_at(300)
    site.ends(0, 'a purge is not a difference after the next run', 'verify')
    site.query('UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1 WHERE day = (SELECT min(day) FROM fairmill_usage_day)')
    site.ends(1, 'a day that was changed after the purge is a difference', 'verify', '--csv')
    tap.same([(row['table'], row['key'], row['cause']) for row in rows_of(site)],
             [('fairmill_usage_day', 'day 2025-06-11', 'rows changed')], 'the difference names the day')
    site.run_at(300, '--full')
    tap.ok('days_changed_after_purge' in site.findings(), 'a full run reports the changed day in a finding', site.findings())
    site.ends(0, 'the changed day is not a difference after the finding', 'verify')


def ahead(site):
    """A run for a future time saw the associations of its start."""
    site.begin()
    site.now = int(time.time()) + DAY
    site.run_at()
    time.sleep(1.1)
    site.ends(0, 'results for tomorrow are not a difference', 'verify')


def other_settings(site):
    begin(site)
    site.settings(dict(site.keys, **{'usage.half_life': '3-0'}))
    site.ends(78, 'results of other settings cannot be compared', 'verify')
    site.says('the error names the cluster and the settings', "cluster 'tiny'", 'other settings')
    site.ends(0, '--repair publishes with the current settings', 'verify', '--repair')
    site.ends(0, 'verify finds no differences after the repair', 'verify')


def by_check(site):
    """check also compares the published rows, in one line."""
    site.begin()
    site.succeed('check')
    tap.ok('cluster tiny: published: 6 rows of 2025-06-21T10:00:00, as computed\n' in site.out,
           'check says that the rows are as computed',
           site.out)
    site.query('UPDATE fairmill_value SET usage_raw = usage_raw + 1 WHERE id_assoc = 3')
    site.succeed('check')
    tap.ok('  warning: cluster tiny: published: 6 rows of 2025-06-21T10:00:00; differences: 1 in fairmill_value;'
           ' another program changed stored rows; run `fairmill verify` to list them\n' in site.out, 'check reports the difference and its cause',
           site.out)
    site.query('UPDATE fairmill_lock SET run_id = 0, source = ?', '')
    site.succeed('check')
    tap.ok('cluster tiny: published: nothing yet\n' in site.out, 'check says that nothing is published', site.out)


def recorded_states(site):
    """Recorded states of associations are used only if they were not changed."""
    for what, sql in (('a changed state', 'UPDATE fairmill_share_change SET shares = shares + 1 WHERE id_assoc = 3'),
                      ('a deleted state', 'DELETE FROM fairmill_share_change WHERE id_assoc = 3'),
                      ('a changed time', 'UPDATE fairmill_share_state SET last_as_of = last_as_of + 1000000')):
        begin(site)
        look = ('run', '--dry-run', '--verbose', '--now', site.now - HOUR)
        site.succeed(*look)
        tap.ok('records_changed' not in site.err, f'{what}: a run for a past time uses the states before the change')
        site.query(sql)
        site.succeed(*look)
        tap.ok('records_changed' in site.err, f'{what}: a run for a past time reports damaged states', site.err)
        site.run_at(300, '--full')
        site.ends(0, f'{what}: verify finds no differences after a full run', 'verify')
        if what != 'a changed time':
            tap.same(site.query('SELECT DISTINCT as_of FROM fairmill_share_change'), [(site.now,)],
                     f'{what}: --full records all associations again')
            tap.ok('records_changed' in site.findings(), f'{what}: a finding reports the damaged states')
        site.succeed('run', '--dry-run', '--verbose', '--now', site.now)
        tap.ok('records_changed' not in site.err, f'{what}: states recorded later are used', site.err)


def random_sites(site):
    for seed in seeds(6, 40):
        r = random.Random(seed)
        begin(site, {'usage.half_life': r.choice(('0', '1-0', '7-0')), 'usage.checkpoint_after': r.choice(('1-0', '5-0')),
                     'fairshare.algorithm': r.choice(('fair_tree', 'classic', 'depth_oblivious'))})
        for _ in range(6):
            for _ in range(r.randrange(4)):
                start = site.now - r.randrange(12 * HOUR)
                site.job(r.choice(list(site.ids)), start, r.choice((0, start + r.randrange(DAY))), qos=r.choice((1, 2)))
            site.run_at(r.choice((1, 300, HOUR, 2 * DAY)), *r.choice(((), (), ('--full',))))
            site.ends(0, f'site {seed}: verify finds no differences after a run', 'verify')


def body():
    for part in (every_cell, covered_or_listed, settings_and_privileges, output, source_changed, later_changes, purged, ahead, other_settings, by_check, recorded_states, random_sites):
        with Site() as site:
            part(site)


tap.main(body)
