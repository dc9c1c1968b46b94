#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that an incremental run publishes the same values as a full run.

An incremental run continues from the checkpoint of jobs that ended long ago.  If that is not
possible, a run automatically reads all jobs."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW
from sealed_site import DAY, HOUR, Site


def continues(site):
    site.begin()
    tap.same(site.latest('kind', 'why'), ('full', 'the first run'), 'the first run is full')
    tap.same(site.latest('jobs_read'), (21,), 'the first run reads each job')
    tap.same(site.run_at(300), ('incremental', ''), 'the next run is incremental')
    tap.same(site.latest('jobs_read'), (3,), 'the next run reads only jobs after the checkpoint time')
    site.is_exact('the next run publishes exact values')
    tap.same(site.latest('drift_max', 'drifted_associations'), (None, None),
             'an incremental run measures no drift')

    running = site.job('physics.bob', site.now - 10, 0)
    site.run_at(300)
    site.is_exact('a running job is charged up to the time of the run')
    tap.same(site.query('SELECT job_key FROM fairmill_seal_open'), [(running,)],
             'the key of a running job is stored')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', site.now, running)
    site.run_at(300)
    site.is_exact('a job that ended is charged once')
    tap.same(site.query('SELECT job_key FROM fairmill_seal_open'), [],
             'the key of a job that ended is removed')

    # After some days, the checkpoint includes a day that was read by each run before.
    for _ in range(3):
        site.job('chemistry.carol', site.now, site.now + DAY - 1)
        site.run_at(DAY)
        site.is_exact('a run a day later publishes exact values')
    tap.same(site.query('SELECT sealed_to FROM fairmill_seal')[0][0],
             site.latest('source_newest')[0] - DAY,
             'the checkpoint time is checkpoint_after before the newest end')
    tap.same(site.latest('kind', 'jobs_read'), ('incremental', 3),
             'a run a day later reads only jobs after the checkpoint time')


def late_ends(site):
    site.begin()
    running = site.job('physics.bob', NOW - 8 * DAY, 0)
    waiting = site.job('physics.alice', 0, 0)
    site.run_at(60)
    tap.same(site.query('SELECT job_key FROM fairmill_seal_open ORDER BY 1'),
             [(running,), (waiting,)], 'the keys of running and pending jobs are stored')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 5 * DAY,
                running)
    tap.same(site.run_at(60)[0], 'incremental', 'a job that ended before the checkpoint time needs no full run')
    site.is_exact('a job that ended before the checkpoint time is charged by its key')
    site.change('UPDATE tiny_job_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                NOW - 5 * DAY, NOW - 4 * DAY, waiting)
    tap.same(site.run_at(60)[0], 'incremental', 'a pending job that ended before the checkpoint time needs no full run')
    site.is_exact('a pending job that ended before the checkpoint time is charged')
    gone = site.job('physics.bob', NOW - 3 * DAY, 0)
    site.run_at(60)
    site.change('DELETE FROM tiny_job_table WHERE job_db_inx = ?', gone)
    tap.same(site.run_at(60)[0], 'incremental', 'an open job that was deleted needs no full run')
    site.is_exact('an open job that was deleted is not charged')
    site.change('UPDATE tiny_job_table SET tres_alloc = ? WHERE job_db_inx = 2', '5=wrong')
    site.run_at(60, '--full')
    site.run_at(60)
    tap.same(site.query('SELECT last_seen FROM fairmill_finding WHERE kind = ?',
                        'job_tres_unreadable'), [(site.now,)],
             'findings of checkpointed jobs are still reported')


def associations(site):
    site.begin()
    carol = site.ids['chemistry.carol']
    site.change('UPDATE tiny_assoc_table SET deleted = 1 WHERE id_assoc = ?', carol)
    site.run_at(60)
    site.is_exact('checkpointed usage of a deleted association is transferred to its account')
    site.change('UPDATE tiny_assoc_table SET deleted = 0 WHERE id_assoc = ?', carol)
    site.change("UPDATE tiny_assoc_table SET acct = 'physics' WHERE id_assoc = ?", carol)
    tap.same(site.run_at(60)[0], 'incremental', 'a moved association needs no full run')
    site.is_exact('checkpointed usage moves with the association')
    site.change('DELETE FROM tiny_assoc_table WHERE id_assoc = ?', carol)
    site.run_at(60)
    site.is_exact('checkpointed usage of a purged association is unattributed')
    tap.ok(site.latest('unattributed_usage')[0] > 0, 'unattributed usage is counted')
    tap.same(site.query('SELECT subject, last_seen FROM fairmill_finding WHERE kind = ?',
                        'job_without_association'), [(str(carol), site.now)], 'the purged association is a finding')


def causes(site):
    def full(statement, word, later=60, *arguments):
        kind, why = site.run_at(later, *arguments)
        tap.ok(kind == 'full' and word in why, statement, f"{kind}: '{why}', wanted '{word}'")
        site.is_exact(f'a full run publishes exact values: {word}')
        tap.same(site.run_at(0)[0], 'incremental', f'the run after a full run is incremental: {word}')

    site.begin()
    full('--full makes the run full', 'requested', 60, '--full')
    tap.same(site.latest('drift_max'), (None,), 'an incremental run records no drift')
    for key, value in (('half_life', '6-0'), ('charge', 'cpu')):
        site.keys[f'usage.{key}'] = value
        site.settings(site.keys)
        full(f'a changed {key} makes the run full', f'usage.{key} changed in the settings')
    site.keys['fairshare.algorithm'] = 'classic'
    site.settings(site.keys)
    tap.same(site.run_at(60)[0], 'incremental', 'a changed algorithm needs no full run')
    site.factor(NOW - 100 * DAY, 1447, 'q2', 0.5)
    site.run_at(60, '--full')
    site.factor(site.now + 30, 1451, "(name='q2')", 0.25)
    site.job('chemistry.carol', NOW - 5 * DAY, 0, qos=2)
    tap.same(site.run_at(60)[0], 'incremental', 'a changed factor with a known time needs no full run')
    site.is_exact('later usage is charged with the changed factor')
    site.change('UPDATE qos_table SET priority = 7 WHERE id = 2')
    tap.same(site.run_at(60)[0], 'incremental', 'a changed priority of a QOS needs no full run')
    for table, column in (('seal', 'sealed_to'), ('seal', 'first_charge'), ('seal', 'hash'),
                          ('seal_usage', 'sum_0'), ('seal_usage', 'id_assoc')):
        site.query(f'UPDATE fairmill_{table} SET "{column}" = "{column}" + 1000')
        full(f'a changed value of {table}.{column} makes the run full', 'not as they were stored')
    site.query("INSERT INTO fairmill_seal_open VALUES ('tiny', 77)")
    full('a changed key of an open job makes the run full', 'not as they were stored')
    site.query('DELETE FROM fairmill_seal_usage WHERE id_assoc = ?', site.ids['chemistry.carol'])
    full('a missing sum in the checkpoint makes the run full', 'not as they were stored')

    newest = site.job('physics.bob', site.now - 100, site.now)
    site.run_at(60)
    site.change('DELETE FROM tiny_job_table WHERE job_db_inx = ?', newest)
    full('an older newest end in the source makes the run full', 'restored')
    site.change('DELETE FROM tiny_job_table WHERE time_end <= ?', NOW - 9 * DAY)
    full('a purge makes the run full', 'purge')
    full('full_every makes the run full', 'full_every', 31 * DAY)
    os.rename(site.path('a.db'), site.path('b.db'))
    site.keys['source.database'] = site.path('b.db')
    site.settings(site.keys)
    real = site.change
    site.change = lambda *sql: site._query('b.db', *sql)
    full('a different accounting database makes the run full', 'a different accounting database')
    site.change = real
    tap.same(site.run('run', '--now', site.now - 600), 64, 'a run for an earlier time is rejected')
    site.succeed('run', '--now', site.now - 600, '--replace')
    tap.same(site.latest('kind'), ('full',), 'a run for an earlier time with --replace is full')
    tap.ok('earlier' in site.latest('why')[0], 'the reason names the earlier time')
    tap.same(site.run_at(60)[0], 'incremental', 'the next run continues from the checkpoint')
    full('a new decay epoch makes the run full', 'epoch', 8 * 6 * DAY)


def another_cluster(site):
    """Tests a different cluster with the same path and name.

    Its jobs ended at the same times, but belong to other associations."""
    site.begin()
    for change, told in (('creation_time = 1700000000', 'now creation_time 1700000000, id 0'),
                         ('id = 7', 'now creation_time 1700000000, id 7')):
        site.change(f'UPDATE cluster_table SET {change}')
        site.change('UPDATE tiny_job_table SET id_assoc = CASE id_assoc WHEN ? THEN ? ELSE ? END', site.ids['physics.alice'],
                    site.ids['chemistry.carol'], site.ids['physics.alice'])
        tap.same(site.run_at(60), ('full', 'the checkpoint is of a different cluster with this name'),
                 f'a cluster with another {change.split()[0]} is a different cluster')
        site.is_exact('no published value is from the former cluster')
        found = site.query("SELECT subject, last_seen, detail FROM fairmill_finding WHERE kind = 'cluster_is_another'")
        tap.same(found, [('', site.now, told)], 'a replaced cluster is a finding')
        tap.same(site.run_at(60)[0], 'incremental', 'the run after the replacement is incremental')
        tap.same(site.query("SELECT count(*) FROM fairmill_finding WHERE kind = 'cluster_is_another' AND last_seen = ?",
                            site.now), [(0,)], 'the run after the replacement has no finding')
    site.change('UPDATE cluster_table SET mod_time = 9, rpc_version = 11008')
    tap.same(site.run_at(60)[0], 'incremental', 'changes that slurmctld makes do not replace the cluster')


CHARGES = {'usage.charge': 'tres', 'usage.tres_weights': 'MAX_TRES, CPU=0.3, GRES/gpu=2',
           'usage.qos_factors': 'q2:0.7', 'usage.partition_usage_factors': 'gpu:1.5',
           'usage.suspended': 'omitted', 'usage.horizon': '6-0'}


def charges(site):
    """Tests weighted TRES, factors, suspended time and a horizon."""
    site.begin(CHARGES)
    site.change("INSERT INTO tres_table (creation_time, id, type, name) VALUES (1, 1001, 'gres', 'gpu')")
    for day in (7, 6, 5, 3):
        key = site.job('physics.bob', NOW - day * DAY - 5 * HOUR, NOW - day * DAY + 2 * HOUR,
                       more=',1001=2', partition='gpu')
        site.suspend(key, NOW - day * DAY - 4 * HOUR, NOW - day * DAY - 2 * HOUR)
        site.suspend(key, NOW - day * DAY - 3 * HOUR, NOW - day * DAY - HOUR)
    running = site.job('physics.alice', NOW - 5 * DAY, 0, qos=2, more=',1001=1')
    site.suspend(running, NOW - 4 * DAY, NOW - 3 * DAY)
    site.suspend(running, NOW - DAY, 0)
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'TRES' in why, 'a new TRES in tres_table makes the run full', why)
    site.is_exact('values with a new TRES are exact')
    for hours in (1, 20, 30):
        tap.same(site.run_at(hours * HOUR)[0], 'incremental', f'the next run is incremental ({hours} h later)')
        site.is_exact(f'suspended time is not charged ({hours} h later)')
    site.change('UPDATE tiny_suspend_table SET time_end = ? WHERE job_db_inx = ? AND time_end = 0',
                NOW - HOUR, running)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 1800, running)
    tap.same(site.run_at(60)[0], 'incremental', 'a suspended job that ended before the checkpoint time needs no full run')
    site.is_exact('a suspended job that ended is charged without the suspended time')
    tap.ok(site.latest('jobs_read')[0] < 5, 'usage before the horizon is subtracted without reading all jobs',
           site.latest('jobs_read'))
    site.run_at(DAY, '--full')
    site.is_exact('a full run publishes the same values')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0),
             'usage that passed the horizon is not drift')
    site.run_at(10 * DAY)
    site.is_exact('all usage may pass the horizon')

    site.begin({'usage.suspended': 'omitted'})
    late = site.job('physics.bob', NOW - 6 * DAY, 0)
    site.suspend(late, NOW - 5 * DAY - HOUR, NOW - 5 * DAY)
    site.run_at(60)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 4 * DAY, late)
    site.run_at(60, '--full')
    site.is_exact('suspended time of a late end is subtracted once')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'suspended time of a late end is not drift')
    site.begin(CHARGES)
    for key, value in (('tres_weights', 'CPU=0.3, GRES/gpu=3'), ('qos_factors', 'q2:0.8'),
                       ('partition_usage_factors', ''), ('suspended', 'charged'), ('horizon', '20-0'),
                       ('horizon', 'none')):
        site.keys[f'usage.{key}'] = value
        site.settings(site.keys)
        kind, why = site.run_at(60)
        tap.ok(kind == 'full' and f'usage.{key} changed' in why,
               f'{key} = {value} makes the run full', kind, why)
        site.is_exact(f'values with {key} = {value} are exact')
        tap.same(site.run_at(0)[0], 'incremental', f'the run after {key} = {value} is incremental')
    site.change("UPDATE qos_table SET name = 'other' WHERE id = 2")
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'factor' in why, 'a renamed QOS with a factor makes the run full', why)


def ends_before_the_cutoff(site):
    """Tests open jobs that turn out to have ended before the cutoff."""
    site.begin({'usage.horizon': '6-0'})
    late = site.job('physics.bob', NOW - 7 * DAY, 0)
    pending = site.job('physics.bob', 0, 0)
    site.run_at(60)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 5 * DAY - HOUR, late)
    site.change('UPDATE tiny_job_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                NOW - 9 * DAY, NOW - 8 * DAY, pending)
    tap.same(site.run_at(DAY)[0], 'incremental', 'an open job that ended before the horizon needs no full run')
    site.is_exact('usage that was never checkpointed is not subtracted')
    days = site.days()
    site.run_at(0, '--full')
    tap.same(days, site.days(), 'the usage of days equals a full run')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'the full run after the horizon finds no drift')

    site.begin({'usage.reset_period': 'daily', 'usage.time_zone': 'UTC', 'usage.checkpoint_after': '0:10:00'})
    pending = site.job('physics.bob', 0, 0)
    site.run_at(60)
    before = site.days()
    site.change('UPDATE tiny_job_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                NOW - NOW % DAY - 9 * HOUR, NOW - NOW % DAY - 8 * HOUR, pending)
    tap.same(site.run_at(60)[0], 'incremental', 'an open job that ended before a reset needs no full run')
    days = site.days()
    site.run_at(0, '--full')
    tap.ok(before != days == site.days(), 'the day before the reset has the usage of the job', len(days), len(site.days()))


def text_of(instant):
    """Returns a time as findings show it."""
    return time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(instant))


def other_weights(site):
    """Tests findings about the weights of partitions, which are verified by the stored billing."""
    found = "SELECT subject, detail FROM fairmill_finding WHERE kind = 'other_weights' AND last_seen = "
    for horizon in ('none', '6-0'):
        site.begin({'usage.partition_tres_weights': 'p:CPU=0.75, q:CPU=0.3', 'usage.horizon': horizon})
        for later in (60, HOUR, DAY, 2 * DAY, 3 * DAY):
            site.job('physics.bob', site.now - HOUR, site.now - 60)
            site.job('physics.bob', site.now - 30, site.now - 10, partition='q')
            fits = site.job('physics.alice', site.now - 30, site.now - 10, partition='q')
            site.change("UPDATE tiny_job_table SET tres_alloc = '1=5,5=1' WHERE job_db_inx = ?", fits)
            tap.same(site.run_at(later)[0], 'incremental', f'runs with verified weights are incremental (horizon {horizon})')
            site.is_exact(f'values with verified weights are exact (horizon {horizon})')
            now = str(site.now)
            said = site.query(found + now)
            tap.ok(said == site._query('other.db', found + now) and len(said) == 2,
                   f'the findings about weights equal a full run (horizon {horizon})', said)
            site.ends(0, f'verify finds no differences (horizon {horizon})', 'verify')
        if horizon == 'none':
            drawn = {partition: f"{count} jobs started between {text_of(first)} and {text_of(last)}; partition '{partition}'"
                     for partition, count, first, last in site.change(
                         "SELECT \"partition\", count(*), min(time_start), max(time_start) FROM tiny_job_table"
                         " WHERE tres_alloc <> '1=5,5=1' GROUP BY 1")}
            tap.same(said, [('1', drawn['p']), ('2', drawn['q'])],
                     'the findings have the number of jobs and their first and last start')
    site.keys['usage.partition_tres_weights'] = 'p:CPU=1, q:CPU=0.3'
    site.settings(site.keys)
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'partition_tres_weights changed' in why, 'changed weights in the settings make the run full',
           kind, why)
    site.is_exact('values with changed weights are exact')
    tap.same(len(site.query(found + str(site.now))), 1, 'weights that match the stored billing cause no finding')


def cancelled(site):
    """Tests charges that slurmctld made after the end of a job that was cancelled while
    suspended."""
    site.begin({'fairshare.conformance': 'slurmctld'})
    for days in (5, 3, 1):
        key = site.job('physics.bob', site.now - days * DAY - HOUR, site.now - days * DAY)
        site.suspend(key, site.now - days * DAY, site.now - days * DAY)
        step = 'INSERT INTO tiny_step_table (job_db_inx, id_step, time_end) VALUES (?, -5, ?)'
        site.change(step, key, site.now - days * DAY + 7000)
        late = site.job('physics.bob', site.now - days * DAY - HOUR, 0)
        site.suspend(late, site.now - days * DAY, 0)
        site.run_at(60, '--full')
        site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', site.now - days * DAY, late)
        site.change(step, late, site.now - 1000)
        site.change('UPDATE tiny_suspend_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                    site.now - days * DAY, site.now - days * DAY, late)
        for later in (60, 3 * HOUR):
            tap.same(site.run_at(later)[0], 'incremental', f'a job cancelled while suspended needs no full run after {days} days')
            site.is_exact(f'{days} days later, a cancelled job is charged up to the last decay cycle')
            site.ends(0, f'verify finds no differences after {days} days', 'verify')
    tap.same(site.run_at(0, '--full'), ('full', 'requested with --full'), 'a run with --full is full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'a full run finds no drift for cancelled jobs')


def resized(site):
    """Tests charges that slurmctld repeated for a resized job."""
    site.begin({'fairshare.conformance': 'slurmctld'})
    for days in (5, 3, 1):
        at = site.now - days * DAY
        first, later = site.job('physics.bob', at - HOUR, at, charge=3), site.job('physics.bob', at, at + HOUR, charge=7)
        site.change('UPDATE tiny_job_table SET id_job = ?, state = 8192 WHERE job_db_inx = ?', later, first)
        site.run_at(60, '--full')
        first, later = site.job('physics.bob', site.now - HOUR, site.now - 400), site.job('physics.bob', site.now - 400, 0, charge=9)
        site.change('UPDATE tiny_job_table SET id_job = ?, state = 8192 WHERE job_db_inx = ?', later, first)
        for after in (60, 3 * HOUR, 20 * HOUR, 2 * DAY):
            kind = site.run_at(after)[0]
            site.is_exact(f'{days} days and {after} s later, a resized job is exact ({kind})')
            site.ends(0, f'{days} days and {after} s later, verify finds no differences ({kind})', 'verify')
    tap.same(site.run_at(0, '--full'), ('full', 'requested with --full'), 'a run of resized jobs with --full is full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'a full run finds no drift for resized jobs')
    site.settings(site.keys | {'usage.checkpoint_after': '2-0'})
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'resized' in why, 'a larger checkpoint_after makes the run full if a job was resized', kind, why)


def resets(site):
    site.begin({'usage.reset_period': 'daily', 'usage.time_zone': 'UTC'})
    midnight = NOW - NOW % DAY
    site.job('physics.bob', midnight + DAY - HOUR, midnight + DAY + HOUR)
    site.now = midnight + DAY - 60
    site.run_at()
    kind, _ = site.run_at(2 * HOUR)
    tap.same(kind, 'incremental', 'a reset after the checkpoint time needs no full run')
    site.is_exact('checkpointed usage before the reset does not count')
    site.begin({'usage.reset_period': 'daily', 'usage.time_zone': 'UTC', 'usage.checkpoint_after': '0:10:00'})
    site.job('physics.bob', midnight + DAY - HOUR, midnight + DAY + HOUR)
    site.now = midnight + DAY - 60
    site.run_at()
    site.now = midnight + DAY + 2 * HOUR
    site.run_at()
    site.is_exact('values after a reset near the checkpoint time are exact')
    site.keys['usage.reset_period'] = '12:00:00'
    site.keys['usage.reset_anchor'] = midnight + DAY + HOUR - 1800
    site.settings(site.keys)
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'reset' in why, 'a reset before the checkpoint time makes the run full', why)
    site.is_exact('values after a reset before the checkpoint time are exact')


def drift(site):
    site.begin()
    site.run_at(60)
    site.job('physics.alice', NOW - 5 * DAY, NOW - 5 * DAY + 100, charge=3)
    site.change('UPDATE tiny_job_table SET tres_alloc = ? WHERE job_db_inx = 1', '5=1')
    tap.same(site.run_at(60)[0], 'incremental', 'a late-arriving job does not make the run full')
    before = site.usage('physics')[0]
    site.run_at(60, '--full')
    site.is_exact('a full run counts the late-arriving job')
    most, count = site.latest('drift_max', 'drifted_associations')
    tap.same(count, 1, 'a full run records the number of drifted associations')
    lost = 3 * HOUR * 2 ** -((10 * DAY + 180 + HOUR / 2) / (7 * DAY))
    won = 300 * 2 ** -((5 * DAY + 80) / (7 * DAY))
    tap.ok(abs(most - (lost - won)) < 0.01 * most, 'a full run records the largest drift', f'{most}, about {lost - won}')
    tap.ok(site.usage('physics')[0] < before, 'a full run corrects the usage')
    site.run_at(60, '--full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'the next full run finds no drift')
    late = site.job('physics.bob', NOW - 6 * DAY, 0)
    site.run_at(60)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 5 * DAY, late)
    site.run_at(60, '--full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0),
             'the end of an open job before the checkpoint time is not drift')


def clusters(site):
    site.begin()
    site.change("UPDATE cluster_table SET deleted = 1")
    site.run('run', '--now', site.now)
    for table in ('seal', 'seal_usage', 'seal_open', 'seal_odd'):
        tap.same(site.query(f'SELECT count(*) FROM fairmill_{table}'), [(0,)],
                 f'a retired cluster has no rows in fairmill_{table}')
    site.change("UPDATE cluster_table SET deleted = 0")
    tap.same(site.run_at(60)[0], 'full', 'a cluster that returns has a full run')


def zones(site):
    """Tests another time zone of the host, or of a user who starts a run."""
    site.begin({'usage.time_zone': 'system'})
    in_zone = {zone: {'env': dict(os.environ, TZ=zone)} for zone in ('UTC', 'Asia/Tokyo')}
    site.succeed('run', '--now', site.now, '--full', **in_zone['UTC'])
    days, used = site.days(), site.query('SELECT SUM(tres_seconds) FROM fairmill_usage_day')
    site.succeed('run', '--now', site.now + 60, **in_zone['UTC'])
    tap.same(site.latest('kind')[0], 'incremental', 'a run in the same time zone is incremental')
    site.succeed('run', '--now', site.now + 60, **in_zone['Asia/Tokyo'])
    kind, why = site.latest('kind', 'why')
    tap.ok(kind == 'full' and 'time_zone' in why, 'a run in another time zone is full', kind, why)
    tap.same(site.query('SELECT SUM(tres_seconds) FROM fairmill_usage_day'), used,
             'no day is counted twice in another time zone')
    site.succeed('run', '--now', site.now + 60, **in_zone['UTC'])
    tap.same(site.days(), days, 'a run in the first time zone restores the days')


def read_only_commands(site):
    """Commands that publish nothing also continue from the checkpoint.

    A job that was deleted after the checkpoint was made shows this, because runs notice it only
    later."""
    asked = (('forecast', 'alice', '--days', 3, '--csv'),
             ('whatif', '--half-life', '1-0', '--csv', '-o', 'account,username,rawusage_before'),
             ('ledger', 'credit', 100, '-u', 'alice', '-A', 'physics', '--at', NOW - DAY, '-w', 'x', '--dry-run'))
    site.begin()
    site.job('physics.bob', site.now + 10, 0)
    site.now += 600

    def answers():
        given = []
        for words in asked:
            site.succeed(*words, '--now', site.now)
            given.append(sorted(site.out.splitlines()))
        return given

    kept = answers()
    seal = {table: site.query(f'SELECT * FROM {table}') for table in ('fairmill_seal', 'fairmill_seal_usage')}
    site.query('DELETE FROM fairmill_seal')
    tap.same(answers(), kept, 'forecast, whatif and ledger compute the same with and without a checkpoint')
    site.change('DELETE FROM tiny_job_table WHERE time_end = ?', NOW - 9 * DAY)
    read = answers()
    tap.ok(all(one != other for one, other in zip(read, kept)), 'these commands compute other values without the deleted job', read, kept)
    for table, rows in seal.items():
        site.query(f'DELETE FROM {table}')
        for row in rows:
            site.query(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
    tap.same(answers(), kept, 'these commands continue from the checkpoint with the deleted job')
    site.query("UPDATE fairmill_seal_usage SET sum_0 = sum_0 + 1")
    tap.same(answers(), read, 'these commands do not use a damaged checkpoint')


with Site() as site:
    for test in (read_only_commands, continues, late_ends, associations, causes, another_cluster, charges, ends_before_the_cutoff, other_weights, cancelled, resized, resets, drift, clusters, zones):
        test(site)
    site.begin()
    site.succeed('run', '--dry-run', '--full', '--now', site.now + 60)
    tap.same(site.run_at(60)[0], 'incremental', 'a dry run does not change the checkpoint')
tap.done()
