#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests usage from slurmdbd's rollups by hour, day and month.  Each row counts its TRES-seconds,
spread over its period.  Jobs give the usage after the last rollup, and rollups replace purged
jobs."""

import calendar
import math
import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from place import Place
from program import sqlite_settings, write_settings

CLUSTER = 'alpha'
NOW = 1750500000
HOUR, DAY = 3600, 86400
HALF_LIFE = 7 * DAY
SPANS = ('hour', 'day', 'month')


def next_month(start):
    date = time.gmtime(start)
    return calendar.timegm((date.tm_year + date.tm_mon // 12, date.tm_mon % 12 + 1, 1, 0, 0, 0))


def end_of(span, start):
    return {'hour': start + HOUR, 'day': start + DAY}.get(span) or next_month(start)


def weight(half_life, begin, end, now):
    """Returns the decayed seconds of [begin, end) at `now`."""
    end = min(end, now)
    if begin >= end:
        return 0
    if not half_life:
        return end - begin
    scale = half_life / math.log(2)
    return scale * (2 ** ((end - now) / half_life) - 2 ** ((begin - now) / half_life))


class Accounting:
    """Reads the database independently of fairmill."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)

    def one(self, sql):
        return self.db.execute(sql).fetchone()

    def oldest(self, what, span):
        there = self.one("SELECT 1 FROM sqlite_master WHERE name = "
                         f"'{CLUSTER}_{what}_usage_{span}_table'")
        return there and self.one(f'SELECT MIN(time_start) FROM "{CLUSTER}_{what}_usage_{span}_table"')[0]

    def rows(self, tres, until):
        """Yields (association, span, start, TRES-seconds, QOS or None) for the rows that count."""
        hourly, daily, monthly = self.one(
            f'SELECT hourly_rollup, daily_rollup, monthly_rollup FROM "{CLUSTER}_last_ran_table"')
        first = {span: self.oldest('assoc', span) for span in SPANS}
        hours = first['hour'] or daily
        if first['hour'] and first['day'] and first['day'] < hours:
            hours = min(-(-hours // DAY) * DAY, daily)
        days = first['day'] or monthly
        if first['day'] and first['month'] and first['month'] < days:
            days = min(days if time.gmtime(days).tm_mday == 1 else next_month(days), monthly)
        days = min(days, hours)
        for span, begin, end in (('hour', hours, min(hourly, until)), ('day', days, hours),
                                 ('month', 0, days)):
            by_qos = self.oldest('qos', span) or 1 << 60
            for what, low, high, qos in (('assoc', begin, min(end, by_qos), 'NULL'),
                                         ('qos', max(begin, by_qos), end, 'id_alt')):
                if low < high:
                    for row in self.db.execute(
                            f'SELECT id, time_start, alloc_secs, {qos} FROM'
                            f' "{CLUSTER}_{what}_usage_{span}_table" WHERE id_tres = {tres}'
                            f' AND time_start >= {low} AND time_start < {high}'):
                        yield row[0], span, row[1], row[2], row[3]

    def factors(self):
        return dict(self.db.execute('SELECT id, usage_factor FROM qos_table'))

    def expected(self, tres, half_life, now, until, rollups=True, cutoff=0):
        """Returns {association: usage} without the usage below it: rows that ended after the
        cutoff, from rollups up to `until`, and from jobs after it."""
        factors, usage = self.factors(), {}
        for association, span, start, seconds, qos in self.rows(tres, until) if rollups else ():
            end = end_of(span, start)
            if end <= cutoff:
                continue
            part = weight(half_life, start, min(end, until), now) / (end - start)
            usage[association] = (usage.get(association, 0)
                                  + seconds * part * factors.get(qos, 1))
        for association, qos, submit, start, end, limit, text in self.db.execute(
                'SELECT id_assoc, id_qos, time_submit, time_start, time_end, timelimit, tres_alloc'
                f' FROM "{CLUSTER}_job_table" WHERE time_start > 0'):
            if 0 < end <= cutoff:
                continue
            counts = dict(pair.split('=') for pair in (text or '').split(',') if pair)
            if not end:
                end = min(now, start + limit * 60 + DAY) if 0 < limit < 0xfffffffe else now
            usage[association] = (usage.get(association, 0) + int(counts.get(str(tres), 0))
                                  * factors.get(qos, 1)
                                  * weight(half_life, max(start, submit, until), end, now))
        return usage


def published(place):
    """Returns {association: usage_raw} of users."""
    return dict(place.query("SELECT id_assoc, usage_raw FROM fairmill_fairshare"
                            " WHERE cluster = ? AND user_name <> ''", CLUSTER))


def days_of(place):
    """Returns {association: TRES-seconds} of all days."""
    return dict(place.query('SELECT id_assoc, sum(tres_seconds) FROM fairmill_usage_day WHERE cluster = ?'
                            ' GROUP BY id_assoc', CLUSTER))


def run(place, now=NOW, **usage):
    usage.setdefault('charge', 'cpu')
    sections = sqlite_settings(place.path('a.db'), place.path('r.db'),
                               dict(time_zone='UTC', **usage))
    sections['retention'] = dict(history_days=4000)
    write_settings(place.path('fm.conf'), sections)
    place.succeed('init')
    place.succeed('run', '--full', '--now', now, '--cluster', CLUSTER, '--replace')
    return published(place)


def agree(got, wanted, statement, tolerance=1e-9):
    wrong = {each: (got[each], wanted.get(each, 0)) for each in got
             if abs(got[each] - wanted.get(each, 0)) > tolerance * abs(wanted.get(each, 0)) + 1e-3}
    tap.ok(len(got) > 20 and sum(map(bool, got.values())) > 10 and not wrong, statement,
           f'{len(wrong)} of {len(got)} differ: {dict(list(wrong.items())[:5])}')


def load(place, release='25.05'):
    for name in os.listdir(place.folder):
        os.unlink(place.path(name))
    dump.to_sqlite(dump.text_of(release), place.path('a.db'), (CLUSTER, 'beta-2'))
    return Accounting(place.path('a.db'))


def rollups(place):
    accounting = load(place)
    until, = accounting.one(f'SELECT hourly_rollup FROM "{CLUSTER}_last_ran_table"')
    for half_life, text in ((0, '0'), (HALF_LIFE, '7-0')):
        for tres, charge in ((1, 'cpu'), (5, 'billing')):
            agree(run(place, source='rollup', half_life=text, charge=charge),
                  accounting.expected(tres, half_life, NOW, until),
                  f'rollups and later jobs are added up: half-life {text}, {charge}')
            if not half_life:
                agree({each: days_of(place).get(each, 0) for each in published(place)}, published(place),
                      f'daily usage adds up to the usage of rollups and jobs: {charge}')
    tap.same(place.query('SELECT kind, why FROM fairmill_run ORDER BY run_id DESC LIMIT 1'),
             [('full', 'requested with --full; slurmdbd may recompute rollups')], 'a run with rollups is always full')
    agree(run(place, source='rollup', half_life='7-0', charge='tres',
              tres_weights='"cpu=2, mem=0.5G"'),
          {each: 2 * cpus + 0.5 / 1024 * memory for (each, cpus), memory in zip(
              sorted(accounting.expected(1, HALF_LIFE, NOW, until).items()),
              [memory for _, memory in sorted(accounting.expected(2, HALF_LIFE, NOW, until).items())])},
          'weights apply to each TRES separately')
    accounting.db.executescript(f'DELETE FROM "{CLUSTER}_job_table" WHERE time_end > {until - DAY} OR time_end = 0')
    run(place, source='rollup')
    tap.same(place.query('SELECT source_newest FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [(until,)],
             'source_newest is the newest rollup if jobs are older')
    past = until - 30 * HOUR - 900
    agree(run(place, now=past, source='rollup', half_life='7-0'),
          accounting.expected(1, HALF_LIFE, past, past),
          'for a time before the last rollup its hour counts in part')

    accounting.db.executescript(f'''
        DELETE FROM "{CLUSTER}_assoc_usage_hour_table" WHERE time_start < {until - 5 * DAY + 7200};
        DELETE FROM "{CLUSTER}_assoc_usage_day_table" WHERE time_start < {until - 9 * DAY};''')
    agree(run(place, source='rollup', half_life='7-0'),
          accounting.expected(1, HALF_LIFE, NOW, until),
          'days replace purged hours')


def by_qos(place):
    accounting = load(place, '24.11')
    if not accounting.oldest('qos', 'hour'):
        for span in SPANS:
            accounting.db.executescript(
                f'CREATE TABLE IF NOT EXISTS "{CLUSTER}_qos_usage_{span}_table" AS'
                f' SELECT * FROM "{CLUSTER}_assoc_usage_{span}_table";'
                f'UPDATE "{CLUSTER}_qos_usage_{span}_table" SET id_alt = 1 + id % 2;')
    accounting.db.executescript(
        'UPDATE qos_table SET usage_factor = 0.25 WHERE id = 1;'
        'INSERT OR REPLACE INTO qos_table (id, name, usage_factor, deleted, creation_time,'
        " description, priority) VALUES (2, 'half', 0.5, 0, 0, '', 0)")
    until, = accounting.one(f'SELECT hourly_rollup FROM "{CLUSTER}_last_ran_table"')
    agree(run(place, source='rollup', half_life='7-0'),
          accounting.expected(1, HALF_LIFE, NOW, until), 'if QOS have rollups, their factors count')
    accounting.db.executescript(
        f'DELETE FROM "{CLUSTER}_qos_usage_hour_table" WHERE time_start < {until - 3 * DAY}')
    agree(run(place, source='rollup', half_life='7-0'),
          accounting.expected(1, HALF_LIFE, NOW, until),
          'without QOS rollups for earlier hours, rollups of associations count')


def purge(accounting):
    """Purges jobs; returns the time up to which rollups replace them."""
    accounting.db.executescript(f'DELETE FROM "{CLUSTER}_job_table" WHERE time_submit < {NOW - 8 * DAY}')
    oldest, = accounting.one(f'SELECT MIN(time_end) FROM "{CLUSTER}_job_table" WHERE time_end > 0'
                             ' AND time_start > 0')
    return oldest // HOUR * HOUR + HOUR


def purged(place):
    accounting = load(place)
    exact = run(place, source='jobs', half_life='7-0')
    agree(exact, accounting.expected(1, HALF_LIFE, NOW, 0), 'without purged jobs, jobs give all usage')
    until = purge(accounting)
    wanted = accounting.expected(1, HALF_LIFE, NOW, until)
    agree(run(place, source='jobs', half_life='7-0'), wanted,
          'rollups replace purged job rows')
    place.succeed('run', '--now', NOW + 60, '--cluster', CLUSTER)
    got = published(place)
    tap.same(place.query('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1'),
             [('incremental',)], 'a run after the purge is incremental')
    place.succeed('run', '--full', '--now', NOW + 60, '--cluster', CLUSTER)
    tap.same(got, published(place), 'the incremental run has the values of a full run')
    tap.same(place.query('SELECT drift_max FROM fairmill_run ORDER BY run_id DESC LIMIT 1'),
             [(0.0,)], 'the full run has no drift')
    accounting.db.executescript(f'DROP TABLE "{CLUSTER}_last_ran_table"')
    agree(run(place, source='jobs', half_life='7-0'), accounting.expected(1, HALF_LIFE, NOW, 0, rollups=False),
          'without rollups only the remaining jobs count')


def asked_first(place):
    """The rollups of the cluster, which are few, show that no rollup is old enough."""
    accounting = load(place)
    for span in SPANS:
        oldest = [accounting.one(f'SELECT MIN(time_start) FROM "{CLUSTER}_{what}usage_{span}_table"')[0] for what in ('', 'assoc_')]
        tap.ok(oldest[0] and oldest[0] <= oldest[1], f"slurmdbd's rollups by {span} of the cluster begin before those of associations", oldest)
    exact = run(place, source='jobs', half_life='7-0')
    for span in SPANS:
        name = f'"{CLUSTER}_assoc_usage_{span}_table"'
        accounting.db.executescript(
            f'ALTER TABLE {name} RENAME TO "{span}s"; CREATE VIEW {name} AS SELECT id, id_tres, time_start, alloc_secs, id_alt FROM "{span}s"'
            ' WHERE abs(-9223372036854775807 - (time_start > 0)) > 0')
    eligible, = accounting.one(f'SELECT MIN(time_eligible) FROM "{CLUSTER}_job_table" WHERE time_end > 0')
    accounting.db.executescript(f'DELETE FROM "{CLUSTER}_usage_day_table" WHERE time_start < {eligible // DAY * DAY}')
    tap.same(run(place, source='jobs', half_life='7-0'), exact, 'rollups of associations are not read if those of the cluster are too new')
    accounting.db.executescript(f'DELETE FROM "{CLUSTER}_usage_day_table"')
    place.ends(1, 'without rollups of the cluster, those of associations are read', 'run', '--full', '--now', NOW + 60, '--cluster', CLUSTER)
    place.says('the message names the table', f'{CLUSTER}_assoc_usage_day_table')


def behind_horizon(place):
    """Purges jobs, with a horizon in the first minutes of a day."""
    accounting = load(place)
    until = purge(accounting)
    cutoff = (NOW - 20 * DAY) // DAY * DAY + 600
    reach = NOW - cutoff - 1
    usage = dict(source='jobs', half_life='7-0', horizon=f'{reach}s')
    got = run(place, **usage)
    agree(got, accounting.expected(1, HALF_LIFE, NOW, until, cutoff=cutoff),
          'rollups that ended before the horizon do not count')
    accounting.db.executescript(
        f'CREATE TEMP TABLE one AS SELECT * FROM "{CLUSTER}_job_table" LIMIT 1;'
        f"UPDATE one SET job_db_inx = 1, id_job = 1, time_end = 0, timelimit = 10, tres_alloc = '', time_submit = {NOW - 90 * DAY},"
        f' time_eligible = {NOW - 90 * DAY}, time_start = {NOW - 90 * DAY};'
        f'INSERT INTO "{CLUSTER}_job_table" SELECT * FROM one')
    tap.same(run(place, **usage), got, 'an old job that never ended does not hide the purge')
    for later, kind in ((300, 'incremental'), (DAY, 'full')):
        place.succeed('run', '--now', NOW + later, '--cluster', CLUSTER)
        got = published(place)
        tap.same(place.query('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [(kind,)],
                 f'a run {later} s later is {kind}')
        place.succeed('run', '--full', '--now', NOW + later, '--cluster', CLUSTER, '--replace')
        tap.same(got, published(place), 'the run has the values of a full run')


def needed(place):
    """With source = rollup, jobs must not replace missing rollups."""
    load(place)
    run(place, source='rollup', half_life='7-0')
    kept = published(place)
    accounting = Accounting(place.path('a.db'))
    for table in ('last_ran_table', 'assoc_usage_hour_table', 'assoc_usage_month_table'):
        accounting.db.executescript(f'ALTER TABLE "{CLUSTER}_{table}" RENAME TO hidden')
        place.ends(78, f'with source = rollup a run needs {table}', 'run', '--now', NOW + 60, '--cluster', CLUSTER)
        place.says('the message names the missing table', f"'{CLUSTER}_{table}'")
        place.run('check')
        place.says('check names the missing table', f"'{CLUSTER}_{table}'")
        accounting.db.executescript(f'ALTER TABLE hidden RENAME TO "{CLUSTER}_{table}"')
    tap.same(published(place), kept, 'a failed run keeps the old results')
    run(place, source='rollup', half_life='7-0')
    tap.same(published(place), kept, 'a run with all tables succeeds again')


def checks(place):
    accounting = load(place)
    run(place, source='jobs', half_life='0')
    place.succeed('check')
    tap.ok('  usage from jobs: ' in place.out and 'from rollups: ' in place.out
           and 'idle time of reservations' in place.out,
           'check compares both sources and explains possible differences', place.out)
    run(place, source='rollup', half_life='7-0', charge='billing')
    by_billing = published(place)
    run(place, source='rollup', half_life='7-0', charge='auto', partition_tres_weights='nowhere:CPU=1')
    tap.same(published(place), by_billing, 'rollups count by billing if partition weights are set')
    for span in SPANS:
        accounting.db.executescript(f'DELETE FROM "{CLUSTER}_assoc_usage_{span}_table" WHERE id_tres = 5; DELETE FROM "{CLUSTER}_job_table"')
    run(place, source='rollup', half_life='0', charge='billing')
    tap.same({*published(place).values()}, {0.0}, 'rollups without billing are from free jobs')
    for keys, word in ((dict(charge='tres', tres_weights='"MAX_TRES, cpu=1, mem=1"'), 'MAX_TRES'),
                       (dict(partition_usage_factors='gpu:2'), 'partition')):
        write_settings(place.path('fm.conf'), sqlite_settings(
            place.path('a.db'), place.path('r.db'), dict(source='rollup', **keys)))
        place.ends(78, f'a setting that rollups cannot support is rejected: {word}', 'run')
        place.says('the message names the unsupported setting', word, 'rollup')


def body():
    with Place() as place:
        for test in (rollups, by_qos, purged, asked_first, behind_horizon, needed, checks):
            test(place)


tap.main(body)
