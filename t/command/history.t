#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests which results of earlier runs are stored, for how long, and how `fairmill history` shows
them."""

import calendar
import csv
import io
import json
import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from place import NOW, SMALL, Place

DAY = 86400
HOUR = 3600
UNIT = 10 ** 6 * 2 ** 20
BILLING = '5=1'
START = NOW - NOW % DAY  # midnight in UTC


def ready(place, drawing=SMALL, **keys):
    place.ready(drawing, {'usage.time_zone': 'UTC', **{name.replace('__', '.'): value for name, value in keys.items()}})


def points(place, cluster='tiny'):
    found = [at for (at,) in place.query(
        'SELECT DISTINCT as_of FROM fairmill_history WHERE cluster = ? ORDER BY 1', cluster)]
    listed = [at for (at,) in place.query(
        'SELECT as_of FROM fairmill_history_point WHERE cluster = ? ORDER BY 1', cluster)]
    return found if found == listed else (found, listed)


def id_of(place, name, table='fairmill_fairshare'):
    account, _, user = name.partition('.')
    return place.query(f'SELECT id_assoc FROM {table} WHERE account = ? AND user_name = ?', account, user)[0][0]


def job(place, name, start, end, tres=BILLING):
    """Adds a job of an association and returns the key of its row."""
    account, _, user = name.partition('.')
    (id_assoc,), = place.change('SELECT id_assoc FROM tiny_assoc_table WHERE acct = ? AND "user" = ?', account, user)
    (key,), = place.change('SELECT coalesce(max(job_db_inx), 0) + 1 FROM tiny_job_table')
    db = sqlite3.connect(place.path('a.db'))
    with db:
        site_drawing.insert(db, 'tiny_job_table', dict(
            job_db_inx=key, id_job=1000 + key, id_assoc=id_assoc, id_qos=1, partition='p', time_submit=start,
            time_eligible=start, time_start=start, time_end=end, timelimit=0, tres_alloc=tres, state=3 if end else 1))
    db.close()
    return key


def days_of(place, name):
    """Returns {day: TRES-seconds}, or both values if the stored integers differ."""
    found = {}
    for day, seconds, high, middle, low in place.query(
            'SELECT day, tres_seconds, sum_2, sum_1, sum_0 FROM fairmill_usage_day WHERE id_assoc = ?',
            id_of(place, name)):
        units = high << 128 | middle % 2 ** 64 << 64 | low % 2 ** 64
        found[day] = seconds if units == seconds * UNIT else (seconds, units)
    return found


def intervals(place):
    ready(place)
    at = NOW - NOW % HOUR
    for seconds in (0, 300, 3599, 3600, 3900, 7200):
        place.succeed('run', '--now', at + seconds)
    tap.same(points(place), [at, at + 3600, at + 7200], 'the first run of each interval makes a history point')
    (count,), = place.query('SELECT count(*) FROM fairmill_history')
    tap.same(count, 3 * 6, 'a point has a row for each association')
    published = place.query('SELECT id_assoc, computed_at, fairshare, usage_raw, level_fs FROM fairmill_fairshare ORDER BY 1')
    tap.same(place.query('SELECT id_assoc, as_of, fairshare, usage_raw, level_fs FROM fairmill_history'
                         ' WHERE as_of = ? ORDER BY 1', at + 7200), published, 'a point equals the published values')
    place.ends(0, 'a run for an earlier time succeeds', 'run', '--now', at - 7000, '--replace')
    tap.same(points(place), [at - 7000, at, at + 3600, at + 7200], 'a run for an earlier time makes its own point')
    place.change('DELETE FROM tiny_job_table')
    before = place.query('SELECT * FROM fairmill_history WHERE as_of <> ? ORDER BY 1, 2, 3', at + 3600)
    place.succeed('run', '--now', at + 3600, '--replace')
    tap.same(place.query('SELECT * FROM fairmill_history WHERE as_of <> ? ORDER BY 1, 2, 3', at + 3600), before,
             'a repeated run replaces only its own point')
    tap.same(place.query('SELECT sum(usage_raw) FROM fairmill_history WHERE as_of = ?', at + 3600), [(0,)],
             'the replaced point has the new values')
    place.succeed('run', '--now', at + 3900, '--replace')
    tap.same(points(place), [at - 7000, at, at + 3600, at + 7200], 'a run in an interval with a point makes no other')
    ready(place, retention__history_interval='0')
    for seconds in (0, 1, 2):
        place.succeed('run', '--now', at + seconds)
    tap.same(points(place), [at, at + 1, at + 2], 'with an interval of 0 each run makes a point')


def no_history(place):
    ready(place, retention__history_days=0)
    place.succeed('run', '--now', NOW)
    counts = [place.query(f'SELECT count(*) FROM fairmill_{table}')[0][0]
              for table in ('history', 'history_point', 'usage_day', 'usage_open', 'usage_span')]
    tap.same(counts, [0] * 5, 'with history_days = 0 no history is stored')
    place.ends(1, 'without history, the history command exits with status 1', 'history', 'alice')
    place.says('the error of history says that there are no results', 'no results yet')


def edges(place):
    ready(place, retention__history_interval='0', retention__history_days=10)
    first = NOW
    place.succeed('run', '--now', first)
    place.succeed('run', '--now', first + 10 * DAY)
    tap.same(points(place), [first, first + 10 * DAY], 'a point is stored for history_days, to the second')
    place.succeed('run', '--now', first + 10 * DAY + 1)
    tap.same(points(place), [first + 10 * DAY, first + 10 * DAY + 1], 'a point older than history_days is removed')
    place.succeed('run', '--now', first - DAY, '--replace')
    tap.same(points(place), [first - DAY, first + 10 * DAY, first + 10 * DAY + 1],
             'a run for an earlier time removes no later points')
    place.succeed('run', '--now', int(time.time()) + 3650 * DAY)
    tap.same(points(place)[-1] > time.time(), True, 'a run for a future time makes a point')
    job(place, 'physics.alice', START - 5 * DAY, START - 5 * DAY + 10)
    ready(place, retention__history_days=10)
    for back in (12, 10, 9):
        job(place, 'physics.alice', START - back * DAY, START - back * DAY + 10)
    place.succeed('run', '--now', START)
    tap.same(sorted(days_of(place, 'physics.alice')), [START - 10 * DAY, START - 9 * DAY], 'a day is stored for history_days')
    place.succeed('run', '--now', START + 1)
    tap.same(sorted(days_of(place, 'physics.alice')), [START - 9 * DAY],
             'a day is removed when its start is older than history_days')


def old_runs(place):
    ready(place, retention__run_days=90)
    for second in range(4):
        place.succeed('run', '--now', NOW + second)
    runs = [run for (run,) in place.query('SELECT run_id FROM fairmill_run ORDER BY 1')]
    now = int(time.time())
    age = {runs[0]: 90 * DAY + 60, runs[1]: 90 * DAY - 600}
    for run, seconds in age.items():
        place.query('UPDATE fairmill_run SET started_at = ?, settings_digest = run_id WHERE run_id = ?', now - seconds, run)
        place.query("INSERT INTO fairmill_settings VALUES (?, '')", str(run))
    place.succeed('run', '--now', NOW + 4)
    left = [run for (run,) in place.query('SELECT run_id FROM fairmill_run ORDER BY 1')]
    tap.same(left[:2], runs[1:3], 'a run is removed after run_days and no earlier')
    tap.same({digest for (digest,) in place.query('SELECT digest FROM fairmill_settings')} & set(map(str, runs)),
             {str(runs[1])}, 'settings that no other run used are removed with it')
    tap.ok(len(left) == 4, 'a run that is no longer published stays until run_days', left)
    (last,), = place.query('SELECT max(run_id) FROM fairmill_run')
    place.query('UPDATE fairmill_run SET started_at = 5')
    place.succeed('run', '--now', NOW + 5)
    tap.same(place.query('SELECT count(*) FROM fairmill_run WHERE run_id <= ?', last), [(0,)], 'all old runs are removed')
    tap.same(place.query('SELECT count(*) FROM fairmill_run'), [(1,)], 'the published run is never removed')
    place.query('UPDATE fairmill_run SET started_at = ? + 300 * 86400', now)
    place.succeed('run', '--now', NOW + 5, '--replace')
    place.query('UPDATE fairmill_run SET started_at = 5 WHERE started_at < ? + 86400', now)
    place.succeed('run', '--now', NOW + 5, '--replace')
    tap.same(place.query('SELECT count(*) FROM fairmill_run WHERE started_at = 5'), [(0,)],
             'a run with a clock ahead does not keep earlier runs')
    place.change('UPDATE tiny_assoc_table SET id_parent = 77, parent_acct = \'gone\' WHERE id_assoc = 3')
    place.query('UPDATE fairmill_run SET started_at = 5 WHERE status = \'done\'')
    place.run('run', '--now', NOW + 6)
    place.query('UPDATE fairmill_run SET started_at = 5 WHERE status = \'failed\'')
    place.run('run', '--now', NOW + 6)
    tap.same(place.query("SELECT status, started_at > 5 FROM fairmill_run WHERE started_at <= ? + 86400 ORDER BY run_id", now),
             [('done', 0), ('failed', 1)], 'a failed run removes old rows but not the published run')
    place.change('UPDATE tiny_assoc_table SET id_parent = 2, parent_acct = \'physics\' WHERE id_assoc = 3')
    place.query('DELETE FROM fairmill_run WHERE started_at > ? + 86400', now)
    place.query("INSERT INTO fairmill_finding VALUES ('tiny', 'x', 'old', 1, ?, 1, ''), ('tiny', 'x', 'young', 1, ?, 1, '')",
                NOW + 6 - 90 * DAY - 1, NOW + 6 - 90 * DAY)
    place.succeed('run', '--now', NOW + 6)
    tap.same(place.query("SELECT subject FROM fairmill_finding WHERE kind = 'x'"), [('young',)],
             'a run removes findings that no recent run had')
    place.settings({'retention.run_days': 0})
    place.query('UPDATE fairmill_run SET started_at = 5')
    place.succeed('run', '--now', NOW + 7)
    tap.same(place.query('SELECT count(*) FROM fairmill_run WHERE started_at = 5'), [(2,)],
             'with run_days = 0 all runs are stored')


def clock_ahead(place):
    """The clock is later than all data in the source, as on a host whose clock is ahead."""
    keys = dict(retention__history_interval='0', retention__history_days=10, retention__run_days=1)
    day = START - 5 * DAY

    def left():
        return [place.query(sql)[0][0] for sql in (
            f'SELECT count(*) FROM fairmill_history_point WHERE as_of <= {NOW}', f'SELECT count(*) FROM fairmill_fairness WHERE as_of <= {NOW}',
            f'SELECT count(*) FROM fairmill_usage_day WHERE day = {day}', "SELECT count(*) FROM fairmill_finding WHERE kind = 'x'",
            f'SELECT count(*) FROM fairmill_run WHERE started_at = {NOW}')]

    def age():
        place.query('UPDATE fairmill_run SET started_at = ?', NOW)
        place.query("INSERT OR IGNORE INTO fairmill_finding VALUES ('tiny', 'x', 'old', 1, ?, 1, '')", NOW)

    ready(place, **keys)
    place.change('DELETE FROM tiny_job_table')
    place.succeed('run')
    age()
    place.succeed('run')
    tap.same(left()[3:], [1, 1], 'nothing is removed if no job ever ran')
    ready(place, **keys)
    job(place, 'physics.alice', day, day + 10)
    place.succeed('run', '--now', NOW)
    age()
    before = left()
    tap.same(before[0] > 0 and before[2:4], [1, 1], 'there is history before the clock is ahead')
    for _ in range(3):
        place.succeed('run')
    tap.same(left(), before, 'nothing is removed because of the clock alone')
    place.change("UPDATE tiny_assoc_table SET id_parent = 77, parent_acct = 'gone' WHERE id_assoc = 3")
    tap.same((place.run('run'), left()), (65, before), 'a failed run with a clock ahead removes nothing')
    place.change("UPDATE tiny_assoc_table SET id_parent = 2, parent_acct = 'physics' WHERE id_assoc = 3")
    now = int(time.time())
    job(place, 'physics.alice', now - 100, now - 60)
    place.succeed('run')
    place.succeed('run')
    tap.same(left(), [0] * 5, 'old rows are removed once a job has ended that late')


def clock_behind(place):
    """The source has jobs that ended later than the current time of the clock."""
    ready(place, retention__history_interval='0')
    later = int(time.time()) + 20 * DAY
    day = (later - 2 * DAY) // DAY * DAY
    job(place, 'physics.alice', day + 10, day + 20)
    for at in later - DAY, later:
        place.succeed('run', '--now', at)
    place.ends(1, 'a run whose clock is late is rejected', 'run')
    for _ in range(2):
        place.succeed('run', '--replace')
    tap.same((points(place)[-1] > day + 20, days_of(place, 'physics.alice').get(day)), (False, 10.0),
             '--replace removes no day of an ended job')
    place.succeed('run', '--now', day + 10)
    place.succeed('run', '--replace')
    tap.same(points(place)[-1], day + 10, '--replace removes no point before the end of a job')
    place.succeed('run', '--now', later)
    tap.same(days_of(place, 'physics.alice').get(day), 10.0, 'days are stored again when the clock is right')


def day_by_day(place):
    ready(place)
    start = START - 3 * DAY
    job(place, 'physics.alice', start + 100, start + 3 * DAY + 50, '5=3')
    job(place, 'physics.alice', start + DAY, start + DAY, '5=7')
    place.succeed('run', '--now', NOW)
    tap.same(days_of(place, 'physics.alice'),
             {start: 3.0 * (DAY - 100), start + DAY: 3.0 * DAY, start + 2 * DAY: 3.0 * DAY, start + 3 * DAY: 150.0},
             'a job is split at the start of each day')
    open_job = job(place, 'chemistry.carol', NOW - 100, 0)
    place.succeed('run', '--now', NOW)
    tap.same(days_of(place, 'chemistry.carol'), {START: 100.0}, 'a running job counts up to the time of the run')
    place.succeed('run', '--now', NOW + 50)
    tap.same(days_of(place, 'chemistry.carol'), {START: 150.0}, 'the next run adds the time since')
    place.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 60, open_job)
    place.succeed('run', '--now', NOW + 60)
    tap.same(days_of(place, 'chemistry.carol'), {START: 40.0}, 'the day is reduced when the job turns out to have ended')
    place.change('DELETE FROM tiny_job_table WHERE job_db_inx = ?', open_job)
    place.succeed('run', '--now', NOW + 70)
    tap.same(days_of(place, 'chemistry.carol'), {}, 'a removed job is removed from its day')
    before = place.query('SELECT * FROM fairmill_usage_day ORDER BY 1, 2, 3')
    job(place, 'physics.alice', start, start + 10, '5=1000')
    place.succeed('run', '--now', start + 2 * DAY, '--replace')
    tap.same(place.query('SELECT * FROM fairmill_usage_day ORDER BY 1, 2, 3'), before, 'a run for an earlier time changes no day')
    place.succeed('run', '--now', NOW + 80, '--full')
    tap.same(days_of(place, 'physics.alice')[start], 3.0 * (DAY - 100) + 10000, 'a full run adds a late-arriving job to its day')


def days_with_hashes(place):
    """Tests that rows of days with a correct hash are read in turn and not by each run."""
    ready(place, usage__full_every='0')
    start = START - 40 * DAY

    job(place, 'physics.alice', start, start + 10)
    place.succeed('run', '--now', NOW)
    tap.same(days_of(place, 'physics.alice')[start], 10.0, 'an old day has its usage')
    place.query('UPDATE fairmill_usage_day SET sum_0 = sum_0 + 1 WHERE day = ?', start)
    at = NOW
    at += DAY
    place.succeed('run', '--now', at)
    tap.same(days_of(place, 'physics.alice')[start], 10.0, 'a changed row of a day is repaired')
    job(place, 'physics.alice', start + 20, start + 25)
    place.succeed('run', '--now', at)
    tap.same(days_of(place, 'physics.alice')[start], 15.0, 'a late-arriving job is in its day at once')
    place.query('DELETE FROM fairmill_kept WHERE part = ?', start)
    place.query('DELETE FROM fairmill_usage_day WHERE day = ?', start)
    place.succeed('run', '--now', at)
    tap.same(days_of(place, 'physics.alice')[start], 15.0, 'a day without a hash is read and repaired')
    kept = place.query("SELECT part FROM fairmill_kept WHERE table_name = 'fairmill_usage_day' ORDER BY 1")
    tap.same(kept, place.query('SELECT DISTINCT day FROM fairmill_usage_day ORDER BY 1'), 'each day with rows has a hash')


def clocks_change(place):
    """In Berlin, 30 March and 26 October 2025 have 23 and 25 hours."""
    for date, hours in (((2025, 3, 30), 23), ((2025, 10, 26), 25), ((2025, 6, 1), 24)):
        place.ready(keys={'usage.time_zone': 'Europe/Berlin'})
        midday = calendar.timegm((*date, 12, 0, 0))
        job(place, 'physics.alice', midday - 3 * DAY, midday + 3 * DAY)
        place.succeed('run', '--now', midday + 4 * DAY)
        found = sorted(days_of(place, 'physics.alice').items())
        tap.same([seconds for _, seconds in found][1:-1], [24.0 * HOUR] * 2 + [hours * 3600.0] + [24.0 * HOUR] * 2,
                 f'{date} has {hours} hours')
        tap.same([later[0] - one[0] for one, later in zip(found, found[1:])][1:-1],
                 [24 * HOUR, 24 * HOUR, hours * HOUR, 24 * HOUR], f'the days around {date} begin at midnight')


def resets_and_days(place):
    """Usage that a reset removes still counts for its day."""
    ready(place, usage__reset_period='daily')
    job(place, 'physics.alice', START - 100, START - 50)
    job(place, 'physics.bob', START - 100, START + 30)
    place.succeed('run', '--now', START + 60)
    tap.same(place.usage('physics.alice', 'physics.bob'), [0, 30], 'usage is reset at midnight')
    tap.same([days_of(place, f'physics.{name}') for name in ('alice', 'bob')],
             [{START - DAY: 50.0}, {START - DAY: 100.0, START: 30.0}], 'the day before the reset keeps its usage')
    place.succeed('run', '--now', START + 2 * DAY)
    tap.same(days_of(place, 'physics.alice'), {START - DAY: 50.0}, 'the day keeps its usage two days after the reset')


def purged(place):
    """Tests that days stay after their jobs were purged."""
    ready(place)
    old = job(place, 'physics.alice', START - 5 * DAY, START - 5 * DAY + 100)
    job(place, 'physics.alice', START - 3 * DAY, START - 3 * DAY + 100)
    place.change('DELETE FROM tiny_job_table WHERE job_db_inx < ?', old)
    place.succeed('run', '--now', NOW)
    place.change('DELETE FROM tiny_job_table WHERE job_db_inx = ?', old)
    place.succeed('run', '--now', NOW + 10)
    tap.same(place.query('SELECT why FROM fairmill_run ORDER BY run_id DESC LIMIT 1'),
             [('the oldest jobs were purged',)], 'a purge causes a full run')
    tap.same(days_of(place, 'physics.alice'), {START - 5 * DAY: 100.0, START - 3 * DAY: 100.0},
             'a purge does not change days without jobs')
    place.succeed('run', '--now', NOW + 20, '--full')
    tap.same(days_of(place, 'physics.alice'), {START - 5 * DAY: 100.0, START - 3 * DAY: 100.0},
             'a later full run does not change days without jobs')


def emptied(place):
    """While a dump is restored, the tables have no jobs for a time."""
    ready(place)
    late = job(place, 'physics.alice', START - 5 * DAY, START - 5 * DAY + 100)
    place.succeed('run', '--now', NOW)
    place.change('CREATE TABLE away AS SELECT * FROM tiny_job_table')
    place.change('DELETE FROM tiny_job_table')
    for later in (10, 20):
        place.succeed('run', '--now', NOW + later)
        tap.same(days_of(place, 'physics.alice')[START - 5 * DAY], 100.0, 'the days stay if all jobs are missing')
    place.succeed('verify')
    tap.ok(True, 'verify finds no differences without jobs')
    place.change('INSERT INTO tiny_job_table SELECT * FROM away')
    place.change('UPDATE tiny_job_table SET time_end = time_end + 50 WHERE job_db_inx = ?', late)
    place.succeed('run', '--now', NOW + 30, '--full')
    tap.same(days_of(place, 'physics.alice')[START - 5 * DAY], 150.0, 'the days are computed again when the jobs are back')


def zone(place):
    ready(place)
    job(place, 'physics.alice', START - DAY, START)
    place.succeed('run', '--now', NOW)
    place.settings({'usage.time_zone': 'Asia/Kolkata'})
    place.succeed('run', '--now', NOW + 10)
    begin = START - DAY - 5 * HOUR - 1800
    tap.same(days_of(place, 'physics.alice'), {begin: DAY - 5 * HOUR - 1800.0, begin + DAY: 5 * HOUR + 1800.0},
             'a different time zone splits days again')


def zones(place):
    """Tests a run in another time zone after jobs were purged."""
    def env(zone):
        return {'env': os.environ | {'TZ': zone}}

    def total():
        return place.query('SELECT sum(tres_seconds) FROM fairmill_usage_day')[0][0]

    system = {'usage__time_zone': 'system', 'retention__history_interval': '60'}
    for start, zone, border in ((9, 'Asia/Tokyo', START - 9 * DAY), (9, 'America/New_York', START - 9 * DAY), (None, 'Asia/Tokyo', START - 10 * DAY)):
        ready(place, **system)
        place.change('DELETE FROM tiny_job_table')
        for back in range(20, 0, -1):
            job(place, 'physics.alice', START - back * DAY + 10 * HOUR, START - back * DAY + 12 * HOUR)
            job(place, 'physics.bob', START - back * DAY + 20 * HOUR, START - back * DAY + 26 * HOUR)
        place.succeed('run', '--now', NOW, **env('UTC'))
        before = total()
        place.change('DELETE FROM tiny_job_table WHERE time_end < ?', START - 10 * DAY)
        at = NOW
        if start:
            at += 60
            place.succeed('run', '--now', at, **env('UTC'))
        what = f'{zone} {"after" if start else "in"} the run that sees the purge'
        place.succeed('run', '--now', at + 60, **env(zone))
        tap.same(total(), before, f'{what}: the usage of all days stays the same')
        place.says(f'{what}: the run reports the changed time zone', 'the time zone differs from the last run', 'days before')
        (why, message), = place.query('SELECT why, message FROM fairmill_run ORDER BY run_id DESC LIMIT 1')
        tap.ok(why == 'time_zone changed' and 'the time zone changed: usage of days before' in message,
               f'{what}: the row of the run has the reason',
               why, message)
        starts = [day for (day,) in place.query('SELECT DISTINCT day FROM fairmill_usage_day ORDER BY 1')]
        tap.same(([day for day in starts if day < border], any((day - START) % DAY == 0 for day in starts if day > border + DAY)),
                 ([START - back * DAY for back in range(20, 0, -1) if START - back * DAY < border], False),
                 f'{what}: only days without jobs keep their zone')
        place.succeed('run', '--now', at + 120, **env(zone))
        tap.same((place.query('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), place.err, total()), ([('incremental',)], '', before),
                 f'{what}: the next run is incremental')
        place.succeed('run', '--now', at + 180, '--full', **env(zone))
        tap.same(total(), before, f'{what}: a full run computes the same days')
        place.ends(0, f'{what}: verify finds no differences', 'verify', **env(zone))
        place.ends(78, f'{what}: verify in the old zone is rejected', 'verify', **env('UTC'))
        place.says(f'{what}: the error of verify names the settings', 'with other settings')
        place.ends(78, f'{what}: backfill in the old zone is rejected',
                   'backfill', '--since', NOW - DAY, '--every', '1h', **env('UTC'))
        place.says(f'{what}: the error of backfill names the time zone', 'the published run used a different time zone')
        place.succeed('run', '--now', at + 240, **env('UTC'))
        tap.same(total(), before, f'{what}: a run in the old zone keeps the sum')
        place.ends(0, f'{what}: backfill succeeds after a run in the old zone',
                   'backfill', '--since', NOW - DAY, '--every', '1h', **env('UTC'))
    ready(place, **system)
    place.succeed('run', '--now', NOW, **env('UTC'))
    place.succeed('run', '--now', NOW + 60, **env('Etc/UTC'))
    tap.same(place.query('SELECT kind FROM fairmill_run ORDER BY run_id'), [('full',), ('incremental',)],
             'another name of the same zone causes no full run')
    place.settings({'usage.time_zone': 'UTC', 'retention.history_interval': '60'})
    place.succeed('run', '--now', NOW + 120, **env('Asia/Tokyo'))
    tap.same(place.query('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [('incremental',)],
             'TZ has no effect if the settings name the zone')


def zone_with_open_usage(place):
    """Tests a change of the zone on a day with usage of a running job."""
    def env(zone):
        return {'env': os.environ | {'TZ': zone}}

    ready(place, usage__time_zone='system', usage__checkpoint_after='1h')
    place.change('DELETE FROM tiny_job_table')
    for back in range(10, 0, -1):
        job(place, 'physics.bob', START - back * DAY + 10 * HOUR, START - back * DAY + 12 * HOUR)
    job(place, 'physics.alice', START - 6 * DAY, 0)
    place.succeed('run', '--now', NOW, **env('UTC'))
    place.change('DELETE FROM tiny_job_table WHERE time_end > 0 AND time_end < ?', START - 4 * DAY)
    place.succeed('run', '--now', NOW + 60, **env('Asia/Kolkata'))
    place.says('the run warns of the changed zone', 'the time zone differs from the last run')
    place.ends(0, 'verify finds no difference after the zone changed', 'verify', **env('Asia/Kolkata'))
    place.succeed('run', '--now', NOW + 120, **env('Asia/Kolkata'))
    tap.same(place.query('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1'), [('incremental',)],
             'the next run continues from the checkpoint')
    place.ends(0, 'verify finds no difference then', 'verify', **env('Asia/Kolkata'))


def many(place):
    """Tests more days and associations than memory holds at once."""
    ready(place)
    db = sqlite3.connect(place.path('a.db'))
    with db:
        db.execute('DELETE FROM tiny_job_table')
    site_drawing.insert(db, 'tiny_job_table', dict(
        job_db_inx=1, id_job=1, id_assoc=1000, id_qos=1, partition='p', time_submit=1, time_eligible=1,
        time_start=START - 300 * DAY, time_end=START - 300 * DAY + 1, timelimit=0, tres_alloc=BILLING, state=3))
    columns = ['"%s"' % name for (name,) in db.execute("SELECT name FROM pragma_table_info('tiny_job_table')")]
    made = dict(job_db_inx='n + 1', id_job='n + 1', id_assoc='1000 + n % 500',
                time_start='time_start + n / 500 % 300 * 86400', time_end='time_end + n / 500 % 300 * 86400')
    with db:
        db.execute(f"INSERT INTO tiny_job_table ({', '.join(columns)}) "
                   'WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 7 FROM numbers WHERE n < 2100000) '
                   f"SELECT {', '.join(made.get(name[1:-1], name) for name in columns)} FROM tiny_job_table, numbers")
    wanted = db.execute('SELECT time_start, id_assoc, count(*) FROM tiny_job_table GROUP BY 1, 2 ORDER BY 1, 2').fetchall()
    db.close()
    place.succeed('run', '--now', NOW)
    found = place.query('SELECT day, id_assoc, tres_seconds FROM fairmill_usage_day ORDER BY 1, 2')
    tap.ok(len(wanted) == 150000 and max(count for *_, count in wanted) > 1 and found == wanted,
           f'all {len(wanted)} sums are stored although memory holds only a part', len(found))
    place.succeed('run', '--now', NOW + 1, '--full')
    tap.ok(place.query('SELECT day, id_assoc, tres_seconds FROM fairmill_usage_day ORDER BY 1, 2') == wanted,
           'a second full run stores the same sums')


MOVED = '''
cluster tiny
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    alice     1  use 200
  empty/     1
'''


def shown(place):
    ready(place, MOVED, retention__history_interval='0')
    job(place, 'physics.alice', START - DAY, START - DAY + 100)
    job(place, 'physics.bob', START - 3 * DAY, START - 3 * DAY + 10)
    at = [NOW, NOW + 10, NOW + 40 * DAY]
    for instant in at:
        place.succeed('run', '--now', instant)
    place.succeed('history', 'bob', '--json', '--since', 0)
    (bob,) = json.loads(place.out)['associations']
    tap.same([point['as_of'] for point in bob['points']], at, 'history has each point')
    tap.same((bob['cluster'], bob['account'], bob['username'], bob['partition'], bob['id_assoc']),
             ('tiny', 'physics', 'bob', '', id_of(place, 'physics.bob')), 'history names the association')
    wanted = place.query('SELECT fairshare, usage_raw, level_fs FROM fairmill_history WHERE id_assoc = ? ORDER BY as_of',
                         bob['id_assoc'])
    tap.same([(point['fairshare'], point['usage_raw'], point['level_fs']) for point in bob['points']], wanted,
             'history has the published values')
    place.succeed('history', 'bob', '--json')
    tap.same([point['as_of'] for point in json.loads(place.out)['associations'][0]['points']], at[2:],
             'without a range, history shows the last 30 days')
    place.succeed('history', 'bob', '--json', '--days', 40)
    tap.same([p['as_of'] for p in json.loads(place.out)['associations'][0]['points']], at,
             '--days counts from the latest point')
    place.succeed('history', 'bob', '--json', '--from', NOW + 1, '--to', NOW + 10)
    tap.same([p['as_of'] for p in json.loads(place.out)['associations'][0]['points']], [NOW + 10],
             '--from and --to include the points at their times')
    place.succeed('history', 'alice', '--csv', '--from', 0)
    rows = list(csv.DictReader(io.StringIO(place.out, newline='')))
    tap.same([(row['account'], int(row['as_of'])) for row in rows],
             [(account, instant) for account in ('physics', 'chemistry') for instant in at],
             'a user of two accounts is shown in both')
    tap.ok(place.out.endswith('\r\n') and place.out.count('\r\n') == place.out.count('\n') == 7,
           'CSV has the line ends of RFC 4180')
    place.succeed('history', 'chemistry/alice', '--csv', '--from', 0)
    tap.same({row['account'] for row in csv.DictReader(io.StringIO(place.out))}, {'chemistry'},
             'account/user selects one association')
    place.succeed('history', 'physics', '--usage', '--csv', '--to', NOW)
    tap.same([(int(row['day']), float(row['tres_seconds'])) for row in csv.DictReader(io.StringIO(place.out))],
             [(START - 3 * DAY, 10), (START - 2 * DAY, 0), (START - DAY, 100)],
             "an account's days include all users and days without usage")
    place.succeed('history', 'alice', '--usage', '--json', '--to', NOW)
    (alice,) = json.loads(place.out)['associations']
    tap.same(alice['days'], [dict(day=START - DAY, tres_seconds=100)], "a user's days have only their own usage")
    place.succeed('history', 'alice', '--usage', '--parsable', '--to', NOW, '-o', 'user,day,tresseconds')
    tap.same(place.out, f'User|Day|TRESSeconds\nalice|{START - DAY}|100\n', 'columns can be selected')
    place.succeed('history', 'bob', '--noheader', '-o', 'as_of,algorithm')
    tap.same(place.out, time.strftime('%Y-%m-%dT%H:%M:%S fair_tree\n', time.localtime(at[2])), '--noheader omits the headings')
    place.ends(64, 'an unknown column is rejected', 'history', 'bob', '-o', 'as_off')


def of_a_tres(place):
    ready(place, MOVED + 'tres 1001 gres/gpu\n', retention__history_interval='0')
    for name, day, gpus in (('alice', START - 2 * DAY, 2), ('bob', START - 3 * DAY, 1), ('bob', START - DAY, 4), ('alice', START - 4 * DAY, 0)):
        job(place, f'physics.{name}', day, day + HOUR, f'1=8,5=8,1001={gpus}' if gpus else '1=8,5=8')
    place.succeed('run', '--now', NOW)
    place.succeed('history', 'physics', '--tres', 'gres/gpu', '--csv')
    tap.same([(int(row['day']), row['tres'], float(row['tres_seconds'])) for row in csv.DictReader(io.StringIO(place.out))],
             [(START - 3 * DAY, 'gres/gpu', HOUR), (START - 2 * DAY, 'gres/gpu', 2 * HOUR), (START - DAY, 'gres/gpu', 4 * HOUR)],
             "an account's usage of a TRES includes all users")
    place.succeed('history', 'bob', '--tres', 'gres/gpu', '--json')
    (bob,) = json.loads(place.out)['associations']
    tap.same((bob['tres'], bob['days']), ('gres/gpu', [dict(day=day, tres_seconds=seconds) for day, seconds in
                                                       ((START - 3 * DAY, HOUR), (START - 2 * DAY, 0), (START - DAY, 4 * HOUR))]),
             "a user's usage of a TRES includes days without usage")
    out = place.on_terminal('history', 'bob', '-T', 'gres/gpu', LC_ALL='C', NO_COLOR='1')
    lines = out.splitlines()
    tap.same(lines[:3], [f"Cluster tiny, user bob of physics (association {id_of(place, 'physics.bob')}), GPU-hours",
                         f"No usage of gres/gpu is recorded before {time.strftime('%Y-%m-%d', time.gmtime(START - 3 * DAY))}.",
                         '       Day Hours'], 'the text output names the unit and the first day with usage')
    tap.ok([line.split()[1] for line in lines[3:]] == ['1.0', '0.0', '4.0'] and lines[5].count('#') > 3 * lines[3].count('#') > 0,
           'the text output has hours and bars', *lines)
    place.succeed('history', 'bob', '--tres', 'gres/gpu', '--since', START - 3 * DAY)
    tap.ok('recorded before' not in place.out, 'a period with recorded usage needs no note', place.out)
    place.ends(1, 'a period without usage of the TRES exits with status 1', 'history', 'bob', '--tres', 'gres/gpu', '--until', START - 4 * DAY)
    place.says('the error names the TRES and the user', "no recorded usage of gres/gpu by 'bob'")
    place.ends(64, 'an unknown TRES is rejected', 'history', 'bob', '--tres', 'gpu')
    place.says('the error names the kept TRES', "the usage of TRES 'gpu' is not kept, only that of cpu, gres/gpu")


def removed_and_moved(place):
    ready(place, MOVED, retention__history_interval='0')
    place.succeed('run', '--now', NOW)
    bob = id_of(place, 'physics.bob')
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE \"user\" = 'bob'")
    place.succeed('run', '--now', NOW + 10)
    place.succeed('history', 'bob', '--csv')
    tap.same([int(row['as_of']) for row in csv.DictReader(io.StringIO(place.out))], [NOW],
             'a removed user has a history')
    place.change("UPDATE tiny_assoc_table SET deleted = 0 WHERE \"user\" = 'bob'")
    place.change("UPDATE tiny_assoc_table SET acct = 'chemistry', lineage = '/chemistry/0-bob/' WHERE id_assoc = ?", bob)
    place.succeed('run', '--now', NOW + 20)
    for name in ('bob', 'physics/bob', 'chemistry/bob'):
        place.succeed('history', name, '--csv')
        tap.same([(row['account'], int(row['as_of'])) for row in csv.DictReader(io.StringIO(place.out))],
                 [('chemistry', NOW), ('chemistry', NOW + 20)], f'a user who was re-added and moved has one history: {name}')
    place.change("UPDATE cluster_table SET deleted = 1")
    place.change("INSERT INTO cluster_table (name, creation_time, mod_time, deleted, federation, fed_state)"
                 " SELECT 'next', 1, 1, 0, '', 0")
    place.run('run')
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(0,)], 'a retired cluster has no published rows')
    place.ends(0, 'a retired cluster has its history', 'history', 'bob')


def accounts_of_points(place):
    """Tests fairmill_association, which has the account of each association from a point on."""
    ready(place, MOVED, retention__history_interval='0')

    def ran(seconds, account=None):
        if account:
            place.change('UPDATE tiny_assoc_table SET acct = ?, lineage = ? WHERE "user" = \'bob\'', account,
                         f'/{account}/0-bob/')
        place.succeed('run', '--now', ahead + seconds, '--replace')
        return [(since - ahead, of) for since, of in place.query(
            'SELECT since, account FROM fairmill_association WHERE id_assoc = ? ORDER BY 1', bob)]

    ahead = int(time.time()) + DAY  # a run does not restore associations for a future time
    place.succeed('run', '--now', ahead)
    bob = id_of(place, 'physics.bob')
    (count,), = place.query('SELECT count(*) FROM fairmill_association')
    tap.same(count, 7, 'the first point has the account of each association')
    tap.same(ran(10), [(0, 'physics')], 'the next point has no rows without a change')
    tap.same(ran(20, 'chemistry'), [(0, 'physics'), (20, 'chemistry')], 'a moved association has a row')
    tap.same(ran(30, 'physics'), [(0, 'physics'), (20, 'chemistry'), (30, 'physics')], 'an association that moved back has a row')
    tap.same(ran(30, 'chemistry'), [(0, 'physics'), (20, 'chemistry')], 'a replaced point has new rows')
    tap.same(ran(40, 'chemistry'), [(0, 'physics'), (20, 'chemistry')], 'the rows apply to the next point')
    between = [(0, 'physics'), (5, 'empty'), (10, 'physics'), (20, 'chemistry')]
    tap.same(ran(5, 'empty'), between, 'a point in between has the change, and the next one the old account')
    between += [(25, 'empty'), (30, 'chemistry')]
    tap.same(ran(25, 'empty'), between, 'a second point in between has the change')
    tap.same(ran(50, 'chemistry'), between, 'a last point without a change has no row')
    tap.same(ran(60, 'empty'), between + [(60, 'empty')], 'a last point with a change has a row')


def infinite_number(place):
    """A value that no run can have written is reported with its row.  All others are shown."""
    ready(place, retention__history_interval='0')
    for later in (0, HOUR, 2 * HOUR):
        place.succeed('run', '--now', START + later)
    alice = id_of(place, 'physics.alice')
    place.query('UPDATE fairmill_history SET usage_raw = 9e999 WHERE id_assoc = ? AND as_of = ?', alice, START + HOUR)
    place.ends(65, 'history with an infinite number exits with status 65', 'history', 'alice', '--csv')
    place.says('the error names the row and the column', "cluster 'tiny'", f'association {alice}',
               time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(START + HOUR)), "'usage_raw'")
    rows = list(csv.DictReader(io.StringIO(place.out)))
    tap.same([row['usage_raw'] == '' for row in rows], [False, True, False], 'history omits only the infinite number')
    place.ends(0, 'history of another association succeeds', 'history', 'bob')


def damaged_points(place):
    """A point cannot be computed again, so --full compares it with its stored hash."""
    points = "SELECT part FROM fairmill_kept WHERE table_name = 'fairmill_history' ORDER BY part"
    for what, sql in (('a changed value',
                       'UPDATE fairmill_history SET fairshare = fairshare / 2 WHERE id_assoc = 3 AND as_of = ?'),
                      ('NULL', 'UPDATE fairmill_history SET level_fs = NULL WHERE id_assoc = 3 AND as_of = ?'),
                      ('a missing row', 'DELETE FROM fairmill_history WHERE id_assoc = 3 AND as_of = ?'),
                      ('a changed algorithm', "UPDATE fairmill_history_point SET algorithm = 'linear' WHERE as_of = ?"),
                      ('a changed name',
                       "UPDATE fairmill_association SET user_name = 'eve' WHERE user_name = 'alice' AND since <= ?")):
        ready(place, retention__history_interval='0')
        for later in (0, HOUR, 2 * HOUR):
            place.succeed('run', '--now', START + later, '--full')
        tap.same(place.query(points), [(START,), (START + HOUR,), (START + 2 * HOUR,)], 'each point has a hash')
        tap.ok('records_changed' not in place.findings(), 'unchanged points cause no finding')
        place.query(sql, START + HOUR)
        broken = place.query('SELECT * FROM fairmill_history WHERE as_of = ? ORDER BY id_assoc', START + HOUR)
        place.succeed('run', '--now', START + 3 * HOUR, '--full')
        wanted = START if what == 'a changed name' else START + HOUR
        tap.same(place.query("SELECT subject FROM fairmill_finding WHERE kind = 'records_changed'"), [(str(wanted),)],
                 f'{what}: a finding names the time of the point')
        tap.same(place.query('SELECT * FROM fairmill_history WHERE as_of = ? ORDER BY id_assoc', START + HOUR), broken,
                 f'{what}: the point stays')
        place.succeed('run', '--now', START + 4 * HOUR, '--full')
        tap.same(place.query("SELECT count FROM fairmill_finding WHERE kind = 'records_changed'"), [(1,)],
                 f'{what}: the finding is counted once')
    ready(place, retention__history_interval='0', retention__history_days='1')
    for later in (0, DAY, 3 * DAY):
        place.succeed('run', '--now', START + later)
    tap.same(place.query(points), [(START + 3 * DAY,)], 'the hash of a point is removed with the point')


def wrong(place):
    ready(place)
    place.succeed('run', '--now', NOW)
    for arguments, why in ((('history',), 'history without a name is rejected'),
                           (('history', 'a', 'b'), 'two unknown names are rejected'),
                           (('history', 'nobody'), 'an unknown name is rejected'),
                           (('history', 'bob', '--since', 'then'), '--since must be a time'),
                           (('history', 'bob', '--until', 'soon'), '--until must be a time'),
                           (('history', 'bob', '--days', '0'), '--days must be a positive number'),
                           (('history', 'bob', '--days', '2', '--since', '5'), '--since and --days are mutually exclusive'),
                           (('history', 'bob', '--csv', '--json'), '--csv and --json are mutually exclusive'),
                           (('history', 'bob', '--cluster', 'none'), 'an unknown cluster is rejected')):
        place.ends(64, why, *arguments)
    place.says('the error of history names the unknown cluster', "cluster 'none'")
    place.ends(1, 'a range without points exits with status 1', 'history', 'bob', '--until', 5)
    place.says('the error for a range without points names the user', "'bob'")


def plotted(place):
    ready(place, retention__history_interval='0')
    for hour in range(70):
        place.succeed('run', '--now', START + hour * HOUR)
    out = place.on_terminal('history', 'alice', LC_ALL='de_DE.UTF-8', NO_COLOR='1')
    lines = out.splitlines()
    tap.same(lines[0], f"Cluster tiny, user alice of physics (association {id_of(place, 'physics.alice')})",
             'the title names the association')
    tap.same(lines[1].split(), ['AsOf', 'FairShare', 'RawUsage', 'LevelFS'], 'the curve has the columns of history')
    tap.same([line.split('T')[0] for line in lines[2:]],
             [time.strftime('%Y-%m-%d', time.gmtime(START + day * DAY)) for day in range(3)],
             'the curve shows the last of many points of each day')
    bars = [line.split()[-1] for line in lines[2:]]
    tap.ok(all(set(bar) <= set('█▏▎▍▌▋▊▉') for bar in bars) and max(map(len, lines)) <= 80,
           'the curve has bars within 80 columns',
           *lines)
    share = place.value('fairshare', 'physics.alice')
    tap.ok(abs(len(bars[-1]) - share * (80 - 56)) <= 1, f'the last bar is as long as {share}', *bars)
    plain = place.on_terminal('history', 'alice', LC_ALL='C')
    tap.ok('#' in plain and plain.isascii(), 'bars are ASCII in an ASCII locale', plain)


def readers(place):
    """Users with reader.conf use the days of the runs."""
    ready(place, usage__time_zone='Pacific/Auckland')
    job(place, 'physics.alice', START - 3 * DAY + 11 * HOUR, START - 3 * DAY + 13 * HOUR)
    place.succeed('run', '--now', NOW)
    place.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    place.settings({'source.driver': None, 'source.database': None, 'usage.time_zone': 'UTC'}, name='own.conf')
    for command in (('history', 'alice', '--usage', '--to', NOW), ('statement', '--since', '2025-06-10', '--until', '2025-06-19')):
        told = []
        for name in ('fm.conf', 'reader.conf', 'own.conf'):
            place.succeed(*command, settings=name, env=os.environ | {'TZ': 'UTC'})
            told.append(place.out)
        tap.same(told[1], told[0], f'{command[0]} with reader.conf uses the days of the runs')
        tap.ok(told[2] != told[0], f'{command[0]} with another time zone uses other days', *told)


def many_partitions(place):
    """A user may have an association in each of thousands of partitions.  `make bench-growth`
    measures the time."""
    count = 2000
    place.ready('root/\n  a/\n' + ''.join(f'    ann@p{i}\n' for i in range(count))
                + ''.join(f'job a.ann@p{i} start={NOW - DAY * (i % 3 + 1)} end={NOW - DAY * (i % 3 + 1) + 60} billing={i + 1}\n'
                          for i in range(count)))
    place.succeed('run', '--now', NOW - 5)
    place.succeed('run', '--now', NOW)
    for arguments in ((), ('--usage',)):
        place.succeed('history', 'ann', '--csv', *arguments)
        lines = [line.split(',') for line in place.out.splitlines()[1:]]
        tap.same(len({line[3] for line in lines}), count, f'history {arguments} has each partition')
    used = {line[3]: line[6] for line in lines if line[-1] != '0'}
    tap.same([float(used[f'p{i}']) for i in (0, 1, 7, 1999)], [60.0 * (i + 1) for i in (0, 1, 7, 1999)],
             'each partition has the days of its own jobs')


def body():
    with Place() as place:
        many_partitions(place)
    with Place() as place:
        for part in (intervals, no_history, edges, old_runs, clock_ahead, clock_behind, day_by_day, days_with_hashes, clocks_change, resets_and_days, purged, emptied, zone, zones,
                     zone_with_open_usage, many,
                     shown, of_a_tres, readers, removed_and_moved, accounts_of_points, infinite_number, damaged_points, wrong, plotted):
            part(place)


tap.main(body)
