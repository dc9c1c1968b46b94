#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""A run goes on from what earlier ones kept of jobs that ended long ago, and gives the same as one
that reads all; and reads all by itself where that would not be so."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW
from sealed_site import DAY, HOUR, Site


def goes_on(site):
    site.begin()
    tap.same(site.latest('kind', 'why'), ('full', 'the first run'), 'the first run reads all')
    tap.same(site.latest('jobs_read'), (21,), 'every job')
    tap.same(site.run_at(300), ('incremental', ''), 'the next one goes on from there')
    tap.same(site.latest('jobs_read'), (3,), 'and reads those that ended since the seal')
    site.is_exact('with the values of a full one')
    tap.same(site.latest('drift_max', 'drifted_associations'), (None, None),
             'it does not look for drift')

    running = site.job('physics.bob', site.now - 10, 0)
    site.run_at(300)
    site.is_exact('a job that runs is charged up to now')
    tap.same(site.query('SELECT job_key FROM fairmill_seal_open'), [(running,)],
             'and its key is kept')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', site.now, running)
    site.run_at(300)
    site.is_exact('one that ended is charged once')
    tap.same(site.query('SELECT job_key FROM fairmill_seal_open'), [],
             'and its key is forgotten')

    # Days pass; the seal moves over the day that was read again and again.
    for _ in range(3):
        site.job('chemistry.carol', site.now, site.now + DAY - 1)
        site.run_at(DAY)
        site.is_exact('another day on it is exact')
    tap.same(site.query('SELECT sealed_to FROM fairmill_seal')[0][0],
             site.latest('source_newest')[0] - DAY,
             'the seal follows the newest end at a distance of checkpoint_after')
    tap.same(site.latest('kind', 'jobs_read'), ('incremental', 3),
             'and only jobs behind it are read')


def late_ends(site):
    site.begin()
    running = site.job('physics.bob', NOW - 8 * DAY, 0)
    waiting = site.job('physics.alice', 0, 0)
    site.run_at(60)
    tap.same(site.query('SELECT job_key FROM fairmill_seal_open ORDER BY 1'),
             [(running,), (waiting,)], 'keys of jobs that run and that wait are kept')
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 5 * DAY,
                running)
    tap.same(site.run_at(60)[0], 'incremental', 'a job that ended days below the seal is no trouble')
    site.is_exact('it is fetched by its key and charged')
    site.change('UPDATE tiny_job_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                NOW - 5 * DAY, NOW - 4 * DAY, waiting)
    tap.same(site.run_at(60)[0], 'incremental', 'nor one that was only known to wait')
    site.is_exact('it is charged too')
    gone = site.job('physics.bob', NOW - 3 * DAY, 0)
    site.run_at(60)
    site.change('DELETE FROM tiny_job_table WHERE job_db_inx = ?', gone)
    tap.same(site.run_at(60)[0], 'incremental', 'nor an open one that was deleted')
    site.is_exact('it is charged no more')
    site.change('UPDATE tiny_job_table SET tres_alloc = ? WHERE job_db_inx = 2', '5=wrong')
    site.run_at(60, '--full')
    site.run_at(60)
    tap.same(site.query('SELECT last_seen FROM fairmill_finding WHERE kind = ?',
                        'job_tres_unreadable'), [(site.now,)],
             'what was odd about a job below the seal is still told')


def associations(site):
    site.begin()
    carol = site.ids['chemistry.carol']
    site.change('UPDATE tiny_assoc_table SET deleted = 1 WHERE id_assoc = ?', carol)
    site.run_at(60)
    site.is_exact("a deleted association's kept usage goes to its account")
    site.change('UPDATE tiny_assoc_table SET deleted = 0 WHERE id_assoc = ?', carol)
    site.change("UPDATE tiny_assoc_table SET acct = 'physics' WHERE id_assoc = ?", carol)
    tap.same(site.run_at(60)[0], 'incremental', 'moving an association needs no full run')
    site.is_exact('its kept usage moves with it')
    site.change('DELETE FROM tiny_assoc_table WHERE id_assoc = ?', carol)
    site.run_at(60)
    site.is_exact('that of one which is gone is unattributed')
    tap.ok(site.latest('unattributed_usage')[0] > 0, 'and counted')
    tap.same(site.query('SELECT subject, last_seen FROM fairmill_finding WHERE kind = ?',
                        'job_without_association'), [(str(carol), site.now)], 'and found')


def causes(site):
    def full(statement, word, later=60, *arguments):
        kind, why = site.run_at(later, *arguments)
        tap.ok(kind == 'full' and word in why, statement, f"{kind}: '{why}', wanted '{word}'")
        site.is_exact(f'and is exact: {word}')
        tap.same(site.run_at(0)[0], 'incremental', 'after which it goes on')

    site.begin()
    full('a run with --full reads all', 'requested', 60, '--full')
    tap.same(site.latest('drift_max'), (None,), 'an incremental run tells no drift')
    for key, value in (('half_life', '6-0'), ('charge', 'cpu')):
        site.keys[f'usage.{key}'] = value
        site.settings(site.keys)
        full(f'another {key} makes the run full', f'usage.{key} changed in the settings')
    site.keys['fairshare.algorithm'] = 'classic'
    site.settings(site.keys)
    tap.same(site.run_at(60)[0], 'incremental', 'another algorithm does not')
    site.factor(NOW - 100 * DAY, 1447, 'q2', 0.5)
    site.run_at(60, '--full')
    site.factor(site.now + 30, 1451, "(name='q2')", 0.25)
    site.job('chemistry.carol', NOW - 5 * DAY, 0, qos=2)
    tap.same(site.run_at(60)[0], 'incremental', 'nor does another factor of a QOS whose instant is told')
    site.is_exact('what comes after that is charged with it')
    site.change('UPDATE qos_table SET priority = 7 WHERE id = 2')
    tap.same(site.run_at(60)[0], 'incremental', 'another priority of a QOS does not')
    for table, column in (('seal', 'sealed_to'), ('seal', 'first_charge'), ('seal', 'hash'),
                          ('seal_usage', 'sum_0'), ('seal_usage', 'id_assoc')):
        site.query(f'UPDATE fairmill_{table} SET "{column}" = "{column}" + 1000')
        full(f'a seal with another {table}.{column} makes it full', 'not as they were stored')
    site.query("INSERT INTO fairmill_seal_open VALUES ('tiny', 77)")
    full('so does one with another open key', 'not as they were stored')
    site.query('DELETE FROM fairmill_seal_usage WHERE id_assoc = ?', site.ids['chemistry.carol'])
    full('and one that lacks a sum', 'not as they were stored')

    newest = site.job('physics.bob', site.now - 100, site.now)
    site.run_at(60)
    site.change('DELETE FROM tiny_job_table WHERE job_db_inx = ?', newest)
    full('a source whose newest end goes back makes it full', 'restored')
    site.change('DELETE FROM tiny_job_table WHERE time_end <= ?', NOW - 9 * DAY)
    full('a purge makes it full', 'purge')
    full('full_every makes it full', 'full_every', 31 * DAY)
    os.rename(site.path('a.db'), site.path('b.db'))
    site.keys['source.database'] = site.path('b.db')
    site.settings(site.keys)
    real = site.change
    site.change = lambda *sql: site._query('b.db', *sql)
    full('another source makes it full', 'a different accounting database')
    site.change = real
    tap.same(site.run('run', '--now', site.now - 600), 64, 'an older instant is refused')
    site.succeed('run', '--now', site.now - 600, '--replace')
    tap.same(site.latest('kind'), ('full',), 'with --replace it is computed in full')
    tap.ok('earlier' in site.latest('why')[0], 'since the clock is back')
    tap.same(site.run_at(60)[0], 'incremental', 'and the seal is none the worse')
    full('a step of the grid makes it full', 'epoch', 8 * 6 * DAY)


def another_cluster(site):
    """Under the same path and name: as old, with jobs that ended at the same times, but by others."""
    site.begin()
    for change, told in (('creation_time = 1700000000', 'now creation_time 1700000000, id 0'),
                         ('id = 7', 'now creation_time 1700000000, id 7')):
        site.change(f'UPDATE cluster_table SET {change}')
        site.change('UPDATE tiny_job_table SET id_assoc = CASE id_assoc WHEN ? THEN ? ELSE ? END', site.ids['physics.alice'],
                    site.ids['chemistry.carol'], site.ids['physics.alice'])
        tap.same(site.run_at(60), ('full', 'the checkpoint is of a different cluster with this name'),
                 f'a cluster with another {change.split()[0]} is another one')
        site.is_exact('nothing that is published is of the one before')
        found = site.query("SELECT subject, last_seen, detail FROM fairmill_finding WHERE kind = 'cluster_is_another'")
        tap.same(found, [('', site.now, told)], 'and it is a finding')
        tap.same(site.run_at(60)[0], 'incremental', 'the next run goes on')
        tap.same(site.query("SELECT count(*) FROM fairmill_finding WHERE kind = 'cluster_is_another' AND last_seen = ?",
                            site.now), [(0,)], 'and finds it no more')
    site.change('UPDATE cluster_table SET mod_time = 9, rpc_version = 11008')
    tap.same(site.run_at(60)[0], 'incremental', 'what slurmctld tells of itself makes it no other')


CHARGES = {'usage.charge': 'tres', 'usage.tres_weights': 'MAX_TRES, CPU=0.3, GRES/gpu=2',
           'usage.qos_factors': 'q2:0.7', 'usage.partition_usage_factors': 'gpu:1.5',
           'usage.suspended': 'omitted', 'usage.horizon': '6-0'}


def charges(site):
    """Weighted TRES, factors, suspended time and a horizon."""
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
    tap.ok(kind == 'full' and 'factor' in why, 'a TRES that is there now makes the run full', why)
    site.is_exact('and exact')
    for hours in (1, 20, 30):
        tap.same(site.run_at(hours * HOUR)[0], 'incremental', 'then it goes on')
        site.is_exact(f'suspended time is left out of what is kept and what is read ({hours} h)')
    site.change('UPDATE tiny_suspend_table SET time_end = ? WHERE job_db_inx = ? AND time_end = 0',
                NOW - HOUR, running)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 1800, running)
    tap.same(site.run_at(60)[0], 'incremental', 'a job that was suspended may end below the seal')
    site.is_exact('it is charged without that time')
    tap.ok(site.latest('jobs_read')[0] < 5, 'and what the horizon has passed is taken out of what was kept',
           site.latest('jobs_read'))
    site.run_at(DAY, '--full')
    site.is_exact('a full run agrees')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0),
             'and what the horizon has passed meanwhile is no drift')
    site.run_at(10 * DAY)
    site.is_exact('all of it may pass')

    site.begin({'usage.suspended': 'omitted'})
    late = site.job('physics.bob', NOW - 6 * DAY, 0)
    site.suspend(late, NOW - 5 * DAY - HOUR, NOW - 5 * DAY)
    site.run_at(60)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 4 * DAY, late)
    site.run_at(60, '--full')
    site.is_exact('what was suspended of a job that ended late is taken off once')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'and is no drift either')
    site.begin(CHARGES)
    for key, value in (('tres_weights', 'CPU=0.3, GRES/gpu=3'), ('qos_factors', 'q2:0.8'),
                       ('partition_usage_factors', ''), ('suspended', 'charged'), ('horizon', '20-0'),
                       ('horizon', 'none')):
        site.keys[f'usage.{key}'] = value
        site.settings(site.keys)
        kind, why = site.run_at(60)
        tap.ok(kind == 'full' and f'usage.{key} changed' in why,
               f'{key} = {value} makes the run full', kind, why)
        site.is_exact(f'and exact ({key} = {value})')
        tap.same(site.run_at(0)[0], 'incremental', 'after which it goes on')
    site.change("UPDATE qos_table SET name = 'other' WHERE id = 2")
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'factor' in why, 'so does a QOS that has another name now', why)


def ends_behind_the_cutoff(site):
    """Rows that were open and turn out to have ended before what counts begins."""
    site.begin({'usage.horizon': '6-0'})
    late = site.job('physics.bob', NOW - 7 * DAY, 0)
    pending = site.job('physics.bob', 0, 0)
    site.run_at(60)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 5 * DAY - HOUR, late)
    site.change('UPDATE tiny_job_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                NOW - 9 * DAY, NOW - 8 * DAY, pending)
    tap.same(site.run_at(DAY)[0], 'incremental', 'rows may end where the horizon has passed meanwhile')
    site.is_exact('they are not taken out of what never had them')
    days = site.days()
    site.run_at(0, '--full')
    tap.same(days, site.days(), 'and their days are those of a full run')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'which finds no drift')

    site.begin({'usage.reset_period': 'daily', 'usage.time_zone': 'UTC', 'usage.checkpoint_after': '0:10:00'})
    pending = site.job('physics.bob', 0, 0)
    site.run_at(60)
    before = site.days()
    site.change('UPDATE tiny_job_table SET time_start = ?, time_end = ? WHERE job_db_inx = ?',
                NOW - NOW % DAY - 9 * HOUR, NOW - NOW % DAY - 8 * HOUR, pending)
    tap.same(site.run_at(60)[0], 'incremental', 'so it is before a reset')
    days = site.days()
    site.run_at(0, '--full')
    tap.ok(before != days == site.days(), 'where the day before has it', len(days), len(site.days()))


def other_weights(site):
    """What is found of the weights of partitions, where jobs are verified by the billing that is stored."""
    found = "SELECT subject, detail FROM fairmill_finding WHERE kind = 'other_weights' AND last_seen = "
    for horizon in ('none', '6-0'):
        site.begin({'usage.partition_tres_weights': 'p:CPU=0.75, q:CPU=0.3', 'usage.horizon': horizon})
        for later in (60, HOUR, DAY, 2 * DAY, 3 * DAY):
            site.job('physics.bob', site.now - HOUR, site.now - 60)
            site.job('physics.bob', site.now - 30, site.now - 10, partition='q')
            fits = site.job('physics.alice', site.now - 30, site.now - 10, partition='q')
            site.change("UPDATE tiny_job_table SET tres_alloc = '1=5,5=1' WHERE job_db_inx = ?", fits)
            tap.same(site.run_at(later)[0], 'incremental', f'weights are verified while runs go on (horizon {horizon})')
            site.is_exact('and all is exact')
            now = str(site.now)
            said = site.query(found + now)
            tap.ok(said == site._query('other.db', found + now) and len(said) == 2,
                   'what other weights there were is told as by a run that starts anew', said)
            site.ends(0, 'and kept so that verify finds nothing', 'verify')
        if horizon == 'none':
            drawn = {partition: f"jobs: {count}, the first started {first}, the last {last}; partition '{partition}'"
                     for partition, count, first, last in site.change(
                         "SELECT \"partition\", count(*), min(time_start), max(time_start) FROM tiny_job_table"
                         " WHERE tres_alloc <> '1=5,5=1' GROUP BY 1")}
            tap.same(said, [('1', drawn['p']), ('2', drawn['q'])], 'with the number of all such jobs, and when they started')
    site.keys['usage.partition_tres_weights'] = 'p:CPU=1, q:CPU=0.3'
    site.settings(site.keys)
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'partition_tres_weights changed' in why, 'other weights in the settings make the run full', kind, why)
    site.is_exact('and it is exact')
    tap.same(len(site.query(found + str(site.now))), 1, 'and weights that make what is stored are no finding any more')


def cancelled(site):
    """What slurmctld has charged behind the end of a job that was cancelled while suspended."""
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
            tap.same(site.run_at(later)[0], 'incremental', f'a job that was cancelled while suspended, {days} days later')
            site.is_exact('is charged up to the last pass by every run')
            site.ends(0, 'and verify finds nothing', 'verify')
    tap.same(site.run_at(0, '--full'), ('full', 'requested with --full'), 'a full run reads it')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'and finds no drift')


def resized(site):
    """What slurmctld has charged again of a job that was resized."""
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
            site.is_exact(f'a job that was resized, {days} days and {after} s later ({kind})')
            site.ends(0, 'and verify finds nothing', 'verify')
    tap.same(site.run_at(0, '--full'), ('full', 'requested with --full'), 'a full run reads it')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'and finds no drift')
    site.settings(site.keys | {'usage.checkpoint_after': '2-0'})
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'resized' in why, 'where passes are known for longer the next run is full', kind, why)


def resets(site):
    site.begin({'usage.reset_period': 'daily', 'usage.time_zone': 'UTC'})
    midnight = NOW - NOW % DAY
    site.job('physics.bob', midnight + DAY - HOUR, midnight + DAY + HOUR)
    site.now = midnight + DAY - 60
    site.run_at()
    kind, _ = site.run_at(2 * HOUR)
    tap.same(kind, 'incremental', 'a reset after the seal needs no full run')
    site.is_exact('what was kept counts no more')
    site.begin({'usage.reset_period': 'daily', 'usage.time_zone': 'UTC', 'usage.checkpoint_after': '0:10:00'})
    site.job('physics.bob', midnight + DAY - HOUR, midnight + DAY + HOUR)
    site.now = midnight + DAY - 60
    site.run_at()
    site.now = midnight + DAY + 2 * HOUR
    site.run_at()
    site.is_exact('nor where the seal was near')
    site.keys['usage.reset_period'] = '12:00:00'
    site.keys['usage.reset_anchor'] = midnight + DAY + HOUR - 1800
    site.settings(site.keys)
    kind, why = site.run_at(60)
    tap.ok(kind == 'full' and 'reset' in why, 'a reset below the seal makes the run full', why)
    site.is_exact('and exact')


def drift(site):
    site.begin()
    site.run_at(60)
    site.job('physics.alice', NOW - 5 * DAY, NOW - 5 * DAY + 100, charge=3)
    site.change('UPDATE tiny_job_table SET tres_alloc = ? WHERE job_db_inx = 1', '5=1')
    tap.same(site.run_at(60)[0], 'incremental', 'a row that comes below the seal is not seen')
    before = site.usage('physics')[0]
    site.run_at(60, '--full')
    site.is_exact('until a full run')
    most, count = site.latest('drift_max', 'drifted_associations')
    tap.same(count, 1, 'which tells how many associations were off')
    lost = 3 * HOUR * 2 ** -((10 * DAY + 180 + HOUR / 2) / (7 * DAY))
    won = 300 * 2 ** -((5 * DAY + 80) / (7 * DAY))
    tap.ok(abs(most - (lost - won)) < 0.01 * most, 'and how far', f'{most}, about {lost - won}')
    tap.ok(site.usage('physics')[0] < before, 'the values are mended')
    site.run_at(60, '--full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0), 'once')
    late = site.job('physics.bob', NOW - 6 * DAY, 0)
    site.run_at(60)
    site.change('UPDATE tiny_job_table SET time_end = ? WHERE job_db_inx = ?', NOW - 5 * DAY, late)
    site.run_at(60, '--full')
    tap.same(site.latest('drift_max', 'drifted_associations'), (0.0, 0),
             'a late end, which an incremental run would have seen, is no drift')


def clusters(site):
    site.begin()
    site.change("UPDATE cluster_table SET deleted = 1")
    site.run('run', '--now', site.now)
    for table in ('seal', 'seal_usage', 'seal_open', 'seal_odd'):
        tap.same(site.query(f'SELECT count(*) FROM fairmill_{table}'), [(0,)],
                 f'a retired cluster leaves nothing in fairmill_{table}')
    site.change("UPDATE cluster_table SET deleted = 0")
    tap.same(site.run_at(60)[0], 'full', 'one that comes back is read in full')


def zones(site):
    """The machine's time zone may be changed, or a user with another one run fairmill."""
    site.begin({'usage.time_zone': 'system'})
    in_zone = {zone: {'env': dict(os.environ, TZ=zone)} for zone in ('UTC', 'Asia/Tokyo')}
    site.succeed('run', '--now', site.now, '--full', **in_zone['UTC'])
    days, used = site.days(), site.query('SELECT SUM(tres_seconds) FROM fairmill_usage_day')
    site.succeed('run', '--now', site.now + 60, **in_zone['UTC'])
    tap.same(site.latest('kind')[0], 'incremental', 'in the same time zone a run goes on')
    site.succeed('run', '--now', site.now + 60, **in_zone['Asia/Tokyo'])
    kind, why = site.latest('kind', 'why')
    tap.ok(kind == 'full' and 'time_zone' in why, 'in another one it is full', kind, why)
    tap.same(site.query('SELECT SUM(tres_seconds) FROM fairmill_usage_day'), used,
             'and no day counts twice')
    site.succeed('run', '--now', site.now + 60, **in_zone['UTC'])
    tap.same(site.days(), days, 'back again the days are those of before')


def questions(site):
    """What publishes nothing begins from the kept sums, too.  A job in them that is gone since, which no run looks for
    before its turn comes, shows it."""
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
    tap.same(answers(), kept, 'forecast, whatif and an entry of the ledger say the same of all jobs as of kept sums')
    site.change('DELETE FROM tiny_job_table WHERE time_end = ?', NOW - 9 * DAY)
    read = answers()
    tap.ok(all(one != other for one, other in zip(read, kept)), 'and something else of fewer jobs', read, kept)
    for table, rows in seal.items():
        site.query(f'DELETE FROM {table}')
        for row in rows:
            site.query(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", *row)
    tap.same(answers(), kept, 'so the kept sums are what they begin from')
    site.query("UPDATE fairmill_seal_usage SET sum_0 = sum_0 + 1")
    tap.same(answers(), read, 'but not where these are not as they were stored')


with Site() as site:
    for test in (questions, goes_on, late_ends, associations, causes, another_cluster, charges, ends_behind_the_cutoff, other_weights, cancelled, resized, resets, drift, clusters, zones):
        test(site)
    site.begin()
    site.succeed('run', '--dry-run', '--full', '--now', site.now + 60)
    tap.same(site.run_at(60)[0], 'incremental', 'a dry run leaves the seal alone')
tap.done()
