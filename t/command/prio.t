#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the priorities of pending jobs: the values that a run publishes, and the output of prio."""

import csv
import io
import json
import math
import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
import terminal
from place import NOW, Place

HOUR = 3600
DAY = 24 * HOUR
NO_LIMIT = 0xffffffff

# A cluster of 4 nodes and 32 CPUs, chosen so that the numbers below are simple.
DRAWING = f'''
cluster tiny
registered 1=32,2=64000,4=4,5=32,1001=4
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
job physics.alice   id_job=11 submit={NOW - 2 * DAY} time_eligible={NOW - DAY} partition=short priority=9 tres_req=1=8,2=16000,4=1,1001=1 limit=60
job physics.bob     id_job=12 submit={NOW - DAY} time_eligible={NOW - DAY} partition=long,short priority=9 tres_req=1=32,4=4 limit=60
job chemistry.carol id_job=13 submit={NOW - DAY} time_eligible={NOW - DAY} partition=short priority=0 tres_req=1=1,4=1 limit=60
job chemistry.carol id_job=14 submit={NOW - DAY} time_eligible=0 partition=short priority=9 tres_req=1=1,4=1 limit=60 qos=2
job physics.bob     id_job=15 start={NOW - HOUR} submit={NOW - DAY} time_eligible={NOW - DAY} partition=short priority=9 tres_req=1=4,4=1 tres=1=4,4=1,5=4 limit=60
job physics.bob     id_job=16 start={NOW - 2 * HOUR} end={NOW - HOUR} time_eligible={NOW - DAY} partition=short priority=9 tres_req=1=4,4=1 tres=1=4,4=1,5=4 limit=60
qos 2 factor=1
'''

KEYS = {
    'priority.weight_age': 1000, 'priority.weight_assoc': 100, 'priority.weight_fairshare': 10000,
    'priority.weight_job_size': 400, 'priority.weight_partition': 100, 'priority.weight_qos': 10,
    'priority.weight_tres': 'CPU=100,GRES/gpu=40', 'priority.max_age': '2-0',
    'priority.partition_factors': 'short:20, long:40',
}


class Queue(Place):
    def begin(self, keys=None, drawing=DRAWING):
        self.ready(drawing, dict(KEYS, **(keys or {})))
        self.change("UPDATE qos_table SET priority = id * 5, name = CASE id WHEN 1 THEN 'normal' ELSE 'high' END")
        self.change("REPLACE INTO tres_table (creation_time, id, type, name) VALUES (1, 1, 'cpu', ''), "
                    "(1, 2, 'mem', ''), (1, 4, 'node', ''), (1, 1001, 'gres', 'gpu')")
        self.change("UPDATE tiny_assoc_table SET priority = 8 WHERE acct = 'physics' AND user = ''")
        self.change("UPDATE tiny_assoc_table SET priority = 4 WHERE user = 'bob'")
        self.succeed('run', '--now', NOW)

    def row(self, job, partition='short', qos=None):
        """Returns {column: value} of a row in fairmill_job_priority."""
        names = [row[1] for row in self.query('PRAGMA table_info(fairmill_job_priority)')]
        rows = self.query('SELECT * FROM fairmill_job_priority WHERE id_job = ? AND partition_name = ?'
                          + (' AND qos = ?' if qos else ''), *[job, partition] + ([qos] if qos else []))
        if len(rows) != 1:
            raise ValueError(f'{len(rows)} rows of job {job} in {partition}')
        return dict(zip(names, rows[0]))

    def jobs(self):
        return [row[0] for row in self.query('SELECT DISTINCT id_job FROM fairmill_job_priority ORDER BY 1')]

    def text(self, *arguments):
        self.succeed(*arguments)
        return self.out

    def lines(self, *arguments):
        self.succeed('prio', *arguments)
        return self.out.splitlines()


def published(place):
    place.begin()
    tap.same(place.jobs(), [11, 12, 13, 14], 'a run publishes pending jobs only')
    fairshare = {name: place.value('fairshare', name)
                 for name in ('physics.alice', 'physics.bob', 'chemistry.carol')}
    tap.same(fairshare, {'physics.alice': 2 / 3, 'physics.bob': 1 / 3, 'chemistry.carol': 1.0},
             "the test's fairshare values are as expected")
    row = place.row(11)
    tap.same([row[f'{name}_factor'] for name in ('age', 'fairshare', 'job_size', 'partition', 'qos', 'assoc')],
             [0.5, 2 / 3, 0.25, 0.5, 0.5, 1.0], 'each factor is published')
    tap.same([row[f'{name}_weighted'] for name in ('age', 'fairshare', 'job_size', 'partition', 'qos', 'assoc')],
             [500.0, 2 / 3 * 10000, 100.0, 50.0, 5.0, 100.0], 'each weighted value is published')
    tap.same((row['tres_factors'], row['tres_weighted']), ('cpu=0.25,gres/gpu=0.25', 'cpu=25,gres/gpu=10'),
             'TRES are published as sprio prints them')
    total = 500 + 20000 / 3 + 100 + 50 + 5 + 100 + 25 + 10
    tap.same(row['priority'], int(total), 'the priority is the sum, truncated to an integer')
    tap.ok(abs(row['priority_norm'] * 4294967295 - total) < 1e-6, 'the normalized priority is not truncated')
    tap.same((row['user_name'], row['account'], row['qos'], row['site'], row['nice'], row['computed_at']),
             ('alice', 'physics', 'normal', None, None, NOW), 'names are published; site and nice are unknown')
    tap.same(type(row['job_db_inx']), str, 'job keys are text in SQLite')
    tap.same(place.row(12)['assoc_factor'], 0.5, "an association's own priority overrides its account's")
    tap.same(place.row(13)['assoc_factor'], 0.0, 'without a priority the association factor is 0')
    rows = place.query('SELECT partition_name, partition_factor, best FROM fairmill_job_priority '
                       'WHERE id_job = 12 ORDER BY 1')
    tap.same(rows, [('long', 1.0, 1), ('short', 0.5, 0)],
             'a job in two partitions has two rows, the best is marked')
    held = place.row(13)
    tap.same((held['priority'], held['priority_norm'], held['age_factor'], held['best']), (0, 0.0, 0.0, 1),
             'a held job has priority 0')
    tap.same((place.row(14)['age_factor'], place.row(14)['qos_factor']), (0.0, 1.0),
             'a job with a dependency does not age')
    tap.same(place.query('SELECT count(*) FROM fairmill_sprio')[0][0], 5, 'fairmill_sprio has all rows')
    view = place.query('SELECT jobid, "partition", username, priority, age, assoc, fairshare, jobsize, '
                       'partition_priority, qos, tres FROM fairmill_sprio WHERE jobid = 11')[0]
    tap.same(view, (11, 'short', 'alice', row['priority'], 500.0, 100.0, 2 / 3 * 10000, 100.0, 50.0, 5.0,
                    'cpu=25,gres/gpu=10'), 'fairmill_sprio has the columns of sprio')


def changing(place):
    place.begin()
    place.change('UPDATE tiny_job_table SET time_start = ? WHERE id_job = 11', NOW)
    place.change('UPDATE tiny_job_table SET priority = 1 WHERE id_job = 13')
    place.succeed('run', '--now', NOW + HOUR)
    tap.same(place.jobs(), [12, 13, 14], 'a started job is not pending')
    tap.same(place.row(13)['age_factor'], 25 / 48, 'a released job ages')
    tap.same(place.query('SELECT DISTINCT run_id, computed_at FROM fairmill_job_priority'),
             place.query('SELECT DISTINCT run_id, computed_at FROM fairmill_fairshare'),
             'priorities and fairshare are from the same run')
    place.succeed('run', '--now', NOW - HOUR - 1, '--replace')
    tap.same(place.jobs(), [11, 12, 13, 14, 15],
             'a run for an earlier time has the jobs pending then')
    place.succeed('run', '--now', NOW - DAY - 1, '--replace')
    tap.same(place.jobs(), [11], 'a run for an earlier time has no later submissions')
    place.change('UPDATE cluster_table SET deleted = 1')
    place.run('run', '--now', NOW + 2 * HOUR)
    tap.same(place.jobs(), [], 'a retired cluster has no queue')


def odd_rows(place):
    place.begin()
    for column, value, seen in (('id_assoc', 77, ('', 'theirs', 0.0)), ('id_assoc', 2, ('', 'physics', 0.0))):
        place.change(f"UPDATE tiny_job_table SET {column} = ?, account = 'theirs' WHERE id_job = 11", value)
        place.succeed('run', '--now', NOW)
        row = place.row(11)
        tap.same((row['user_name'], row['account'], row['fairshare_factor']), seen,
                 f'a job with {column} {value} keeps its known values')
    place.change("UPDATE tiny_assoc_table SET deleted = 1 WHERE user = 'bob'")
    place.succeed('run', '--now', NOW)
    tap.same(place.row(12)['fairshare_factor'], 0.0, 'a deleted association has no fairshare')
    for value in ('', 'nonsense', '1=,4=x', '1=18446744073709551614', None):
        place.change('UPDATE tiny_job_table SET tres_req = ?, cpus_req = 16 WHERE id_job = 13', value or '')
        place.succeed('run', '--now', NOW)
        tap.same(place.row(13)['job_size_factor'], 0.25, f"a job with tres_req '{value}' has the size of one node")
    place.change('UPDATE tiny_job_table SET job_db_inx = ? WHERE id_job = 13', 2 ** 63 - 1)
    place.change("UPDATE tiny_job_table SET \"partition\" = '' WHERE id_job = 13")
    place.succeed('run', '--now', NOW)
    tap.same(place.row(13, '')['job_db_inx'], '9223372036854775807', 'a job key may be large and a partition empty')
    place.change("UPDATE tiny_job_table SET qos_req = 'high,normal,unheard' WHERE id_job = 11")
    place.succeed('run', '--now', NOW)
    tap.same([place.row(11, qos=qos)['qos_factor'] for qos in ('normal', 'high')], [0.5, 1.0],
             'a job that requested several QOS has a row for each')
    tap.same([place.row(11, qos=qos)['best'] for qos in ('normal', 'high')], [0, 1], 'one of the rows is the best')
    place.settings(dict(KEYS, **{'priority.weight_tres': 'CPU=1,GRES/tpu=5'}))
    place.succeed('run', '--now', NOW)
    tap.same(place.findings().get('priority_tres_unknown'), 1, 'an unknown TRES is a finding')
    place.change("UPDATE tiny_event_table SET tres = '1=32'")
    place.succeed('run', '--now', NOW)
    tap.same(place.row(12)['job_size_factor'], 1.0, 'nodes in a registration without a count are counted by name')
    place.change('DELETE FROM tiny_event_table')
    place.succeed('run', '--now', NOW)
    tap.same(place.row(12)['job_size_factor'], 0.0, 'without a registration a job has size 0')


def arrays(place):
    """Tests pending tasks of an array that has reached its limit of running tasks."""
    at_limit = f'id_array_job=31 array_max_tasks=1 time_eligible={NO_LIMIT} submit={NOW - 20 * HOUR}'
    running = f'id_array_job=31 array_max_tasks=1 submit={NOW - 20 * HOUR} start={NOW - HOUR} end=0'
    place.begin(drawing=DRAWING + f'''
job physics.alice id_job=32 {running} time_eligible={NOW - 12 * HOUR} partition=short priority=9 tres_req=1=8,4=1 tres=1=8,4=1 limit=600
job physics.alice id_job=31 {at_limit} array_task_pending=3 partition=short priority=9 tres_req=1=8,4=1 limit=60
job physics.bob   id_job=41 {at_limit.replace('=31', '=41')} partition=short priority=9 tres_req=1=8,4=1 limit=60
job physics.bob   id_job=42 {at_limit.replace('=31', '=0')} partition=short priority=9 tres_req=1=8,4=1 limit=60
''')
    tap.same(place.row(31)['age_factor'], 12 / 48,
             "a task at the array's limit ages since a running task was eligible")
    tap.same(place.row(41)['age_factor'], 20 / 48, 'without a started task, it ages since its submission')
    tap.same(place.row(42)['age_factor'], 0.0, 'a job outside of arrays has no array limit')
    place.change('UPDATE tiny_job_table SET time_eligible = ? WHERE id_job = 31', NOW - HOUR)
    place.succeed('run', '--now', NOW)
    tap.same(place.row(31)['age_factor'], 12 / 48, 'a task keeps its age when it may run again')
    place.drop_column('a.db', 'tiny_job_table', 'array_max_tasks')
    place.succeed('run', '--now', NOW)
    tap.same(place.row(31)['age_factor'], 1 / 48, 'without the columns of array limits, the eligible time counts')


def accrue_limits(place):
    """Tests the limits on jobs that accrue age, and which jobs have the slots."""
    def job(number, user, eligible, more='', qos=2, priority=9):
        return (f'job {user} id_job={number} submit={NOW - 40 * HOUR} time_eligible={NOW - eligible * HOUR} '
                f'partition=short priority={priority} tres_req=1=8,4=1 limit=6000 qos={qos} {more}\n')
    drawing = DRAWING + ''.join((
        job(31, 'physics.alice', 30, f'start={NOW - 20 * HOUR}'),
        job(32, 'physics.alice', 29, f'end={NOW - 16 * HOUR}'),
        job(33, 'physics.alice', 28), job(34, 'physics.alice', 27), job(35, 'physics.bob', 26),
        job(36, 'physics.bob', 25, qos=1), job(37, 'chemistry.carol', 40, priority=0),
        job(38, 'chemistry.carol', -1), job(39, 'chemistry.carol', 2)))

    def ages(**keys):
        place.settings(dict(KEYS, **{'slurm.conf': place.path('slurm.conf'), 'fairshare.conformance': 'slurmctld',
                                   'fairshare.slurm_version': '23.11'}) |
                       {name.replace('_', '.', 1): value for name, value in keys.items()})
        place.succeed('run', '--now', NOW)
        return [round(place.row(number)['age_factor'] * 48, 6) for number in (33, 34, 35, 36, 37, 38, 39)]

    def slurm_conf(text):
        with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
            file.write('NodeName=n[1-4] CPUs=8\nPartitionName=short Nodes=n[1-4]\nPartitionName=long Nodes=n[1-4]\n' + text)

    slurm_conf('AccountingStorageEnforce=2\n')
    place.begin(drawing=drawing)
    place.change('DELETE FROM tiny_job_table WHERE id_job < 31')
    free = [28, 27, 26, 25, 0, 0, 2]
    tap.same(ages(), free, 'without limits all jobs age since they were eligible')
    place.change('UPDATE qos_table SET max_jobs_accrue_pu = 1 WHERE id = 2')
    tap.same(ages(), [16, 0, 26, 25, 0, 0, 2],
             "a user's slot is free again when a job starts or is cancelled")
    tap.same(ages(fairshare_conformance='documents'), free, 'conformance = documents ignores accrue limits')
    tap.same(ages(priority_flags='ACCRUE_ALWAYS'), [40] * 7, 'ACCRUE_ALWAYS ignores accrue limits')
    slurm_conf('AccountingStorageEnforce=associations,qos\n')
    tap.same(ages(), free, 'accrue limits are ignored if the controller does not enforce limits')
    slurm_conf('AccountingStorageEnforce=safe\n')
    tap.same(ages(), [16, 0, 26, 25, 0, 0, 2], 'AccountingStorageEnforce=safe implies limits')
    place.change('UPDATE qos_table SET grp_jobs_accrue = 2 WHERE id = 2')
    tap.same(ages(), [20, 16, 0, 25, 0, 0, 0], "a QOS's own limit precedes the limit of its users")
    tap.same(ages(fairshare_slurm_version='24.05'), [16, 0, 26, 25, 0, 0, 2], 'since 24.05 the smallest limit applies')
    place.change('UPDATE qos_table SET grp_jobs_accrue = NULL, max_jobs_accrue_pu = NULL')
    place.change("UPDATE tiny_assoc_table SET grp_jobs_accrue = 3 WHERE acct = 'physics' AND user = ''")
    tap.same(ages(), [28, 20, 16, 0, 0, 0, 2], 'a limit of an account applies to all jobs below it')
    place.change("UPDATE tiny_assoc_table SET max_jobs_accrue = 1, grp_jobs_accrue = NULL WHERE acct = 'physics' AND user = ''")
    tap.same(ages(), [16, 0, 26, 0, 0, 0, 2], "an account's limit can apply to each user, like a user's own")
    place.change('UPDATE tiny_assoc_table SET max_jobs_accrue = 4294967295')
    tap.same(ages(), free, 'INFINITE is not a limit')
    place.change('UPDATE tiny_assoc_table SET max_jobs_accrue = 1')
    tap.same(ages(priority_max_age='0-10'), [48, 0, 48, 0, 0, 0, 9.6], 'an age above max_age counts as max_age')
    for column in ('max_jobs_accrue', 'grp_jobs_accrue'):
        place.drop_column('a.db', 'tiny_assoc_table', column)
    tap.same(ages(), free, 'without the columns of accrue limits there are no limits')


# Job 15 was requeued after a first run, started again an hour ago with 16 CPUs, and was resized
# twice.
RESIZED = 'job physics.bob id_job=15 {times} partition=short priority=9 tres_req={tres} tres={tres},5=4 limit=60\n'


def resized(place):
    for newer in True, False:
        start = '' if newer else f'start={NOW - HOUR} '
        rows = ((f'submit={NOW - 3 * DAY} start={NOW - 3 * DAY} end={NOW - 2 * DAY} state=8192', '1=30,4=3'),
                (f'submit={NOW - 2 * DAY} start={NOW - 2 * DAY} end={NOW - DAY} state=1024', '1=31,4=3'),
                (f'submit={NOW - DAY} start={NOW - HOUR} end={NOW - 1800} state=8192', '1=16,4=2'),
                (f'submit={NOW - 1800} {start or f"start={NOW - 1800}"} end={NOW - 900} state=8192', '1=8,4=1'),
                (f'submit={NOW - 900} {start or f"start={NOW - 900}"}', '1=2,4=1'))
        drawing = '\n'.join(line for line in DRAWING.splitlines() if 'id_job=15' not in line) + '\n' + ''.join(
            RESIZED.format(times=f'{times} time_eligible={times.split()[0].removeprefix("submit=")}', tres=tres) for times, tres in rows)
        for flags, age in ('', .5), (', ACCRUE_ALWAYS', .5):
            place.begin({'priority.flags': f'CALCULATE_RUNNING{flags}', 'fairshare.conformance': 'slurmctld'}, drawing)
            row = place.row(15)
            tap.same((row['age_factor'], row['job_size_factor'], row['tres_factors']), (age, (2 / 4 + 16 / 32) / 2, 'cpu=0.06'),
                     f'a resized job has the age and size of its first row ({newer}{flags})')
        place.drop_column('a.db', 'tiny_job_table', 'state')
        place.succeed('run', '--now', NOW, '--replace')
        tap.same(place.row(15)['age_factor'], 900 / 2 / DAY, "without the column of states, the last row's values count")


def held_later(place):
    """Tests the changes that `scontrol hold` makes to a row: the priority stays."""
    def priority(reason, eligible=0, priority=9):
        place.change('UPDATE tiny_job_table SET priority = ?, time_eligible = ?, state_reason_prev = ? WHERE id_job = 14',
                     priority, eligible, reason)
        place.succeed('run', '--now', NOW, '--replace')
        return place.row(14)['priority'] > 0

    place.begin()
    for reason, name in (6, 'a partition that was down'), (8, 'another hold'), (9, 'a begin time'), (16, 'its user'), (72,
                                                                                                                       "its array's limit"):
        tap.same(priority(reason), False, f'a job that waited for {name} and has no eligible time is held')
        tap.same(priority(reason, NOW - HOUR), True, f'a job that waited for {name} is released by an eligible time')
    for reason in 0, 2, 39:
        tap.same(priority(reason), True, f'a job that waited only for a dependency is not held ({reason})')
        tap.same(priority(reason, 0, 0), False, f'a job that was submitted on hold is held ({reason})')
    place.drop_column('a.db', 'tiny_job_table', 'state_reason_prev')
    place.change('UPDATE tiny_job_table SET priority = 9, time_eligible = 0 WHERE id_job = 14')
    place.succeed('run', '--now', NOW, '--replace')
    tap.ok(place.row(14)['priority'] > 0, 'without the column of reasons, later holds are unknown')


def lost(place):
    """Tests rows that stay pending although slurmctld has lost the job."""
    limit = 60 * 60
    place.begin({'fairshare.conformance': 'slurmctld'})
    change = 'UPDATE tiny_job_table SET time_submit = ?, time_eligible = ? WHERE id_job = 11'

    def run_with(age, eligible=True):
        place.change(change, NOW - age, NOW - age if eligible else 0)
        place.query('DELETE FROM fairmill_finding')
        place.succeed('run', '--now', NOW, '--replace')
        row = place.row(11)
        return row['priority'], row['priority_norm'], row['reason'], place.findings().get('job_lost')

    for days in 1, 30, 180:
        tap.same(run_with(days * DAY + limit)[2:], ('', None), f'a job pending for {days} days plus its limit is not lost')
    for age in 180 * DAY + limit + 1, 800 * DAY:
        tap.same(run_with(age), (None, None, 'lost', 1), f'a job pending for {age} s is lost: without priority, and a finding')
    tap.same(place.query('SELECT subject FROM fairmill_finding WHERE kind = \'job_lost\''), [('11',)],
             'the finding names the lost job')
    place.succeed('explain', 'job', '11')
    said = ' '.join(place.out.split())
    tap.ok('no priority' in said and 'cannot start: it has been pending since' in said and 'longer than any limit allows' in said,
           'explain says why the lost job has no priority',
           place.out)
    place.succeed('explain', 'job', '12')
    tap.ok('place 1 of 1.' in ' '.join(place.out.split()), 'the places of other jobs do not count the lost one', place.out)
    place.succeed('prio', '--json')
    rows = {row['jobid']: row for row in json.loads(place.out)['clusters'][0]['jobs']}
    tap.same((rows[11]['priority'], rows[11].get('reason')), (None, 'lost'), 'prio shows the lost job without a priority')
    place.succeed('prio', '-l')
    place.succeed('verify')
    tap.same(run_with(800 * DAY, False)[2:], ('dependency', None), 'a job with a dependency is never lost')
    place.change('UPDATE tiny_job_table SET priority = 0 WHERE id_job = 11')
    tap.same(run_with(800 * DAY, False)[2:], ('held', None), 'a held job is never lost')
    place.change('UPDATE tiny_job_table SET priority = 9, timelimit = ? WHERE id_job = 11', NO_LIMIT)
    tap.same(run_with(180 * DAY)[2:], ('', None), 'without a time limit only the pending time counts')
    tap.same(run_with(180 * DAY + 1)[2:], ('lost', 1), 'a job is lost one second later')


def flags(place):
    place.begin({'priority.flags': 'CALCULATE_RUNNING'})
    tap.same(place.jobs(), [11, 12, 13, 14, 15], 'CALCULATE_RUNNING includes running jobs')
    tap.same(place.row(15)['age_factor'], 0.5, 'running jobs continue to age')
    sizes = []
    for asked, held in ((1, 1), (1, 4), (2, 4)):
        place.change('UPDATE tiny_job_table SET tres_req = ?, tres_alloc = ? WHERE id_job = 15', f'1=8,4={asked}', f'1=8,4={held}')
        place.succeed('run', '--now', NOW, '--replace')
        sizes.append(place.row(15)['job_size_factor'])
    tap.ok(sizes[0] == sizes[1] < sizes[2], 'the size of running jobs counts the requested nodes', sizes)
    place.begin({'priority.flags': 'ACCRUE_ALWAYS'})
    tap.same([place.row(job)['age_factor'] for job in (11, 14)], [1.0, 0.5],
             'ACCRUE_ALWAYS counts age from the submission')
    place.begin({'priority.flags': 'NO_NORMAL_ALL', 'fairshare.conformance': 'slurmctld'})
    row = place.row(11)
    tap.same((row['partition_weighted'], row['qos_weighted'], row['assoc_weighted'], row['tres_weighted']),
             (2000.0, 50.0, 800.0, 'cpu=800,gres/gpu=40'), 'NO_NORMAL_ALL multiplies values that are not normalized')
    place.begin({'fairshare.conformance': 'slurmctld'})
    tap.same(place.row(11)['job_size_factor'], 0.25, 'with slurmctld the job size counts nodes and CPUs')
    place.begin({'fairshare.conformance': 'slurmctld', 'priority.partition_factors': 'long:40'})
    tap.same(place.row(11)['partition_factor'], 1 / 40, 'with slurmctld a partition without a factor has 1')
    place.begin({'priority.partition_factors': 'short:0.5, long:0.75', 'priority.qos_factors': 'high:0.3'})
    tap.same([place.row(job)['partition_factor'] for job in (11, 13)] + [place.row(12, 'long')['partition_factor']],
             [.5, .5, .75], 'partition factors from 0.0 to 1.0 are not normalized')
    tap.same([(place.row(job)['qos'], place.row(job)['qos_factor'], place.row(job)['qos_weighted'])
              for job in (11, 14)], [('normal', .5, 5.0), ('high', .3, 3.0)],
             'QOS factors from 0.0 to 1.0 are not normalized, others use priorities')
    place.begin({'priority.partition_factors': 'long:40'})
    tap.same(place.row(11)['partition_factor'], 0.0, 'with documents a partition without a factor has 0')
    with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
        file.write('NodeName=n[1-4] CPUs=8 RealMemory=16000 Gres=gpu:1\nPartitionName=short Nodes=n[1-2] MaxTime=30 '
                   'PriorityJobFactor=3\nPartitionName=long Nodes=n[1-4]\n')
    place.begin({'slurm.conf': place.path('slurm.conf'), 'priority.partition_factors': None})
    row = place.row(11)
    tap.same((row['partition_factor'], row['tres_factors']), (1.0, 'cpu=0.50,gres/gpu=0.50'),
             "slurm.conf provides a partition's factor and node resources")
    tap.same((row['age_factor'], place.row(12, 'long')['age_factor'], place.row(12)['age_factor']),
             (0.0, 0.5, 0.0), "a job that exceeds a partition's limits does not age there")


def printed(place):
    place.begin()
    header, *lines = place.lines()
    tap.same(header.split(), ['JOBID', 'PARTITION', 'PRIORITY', 'SITE', 'AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE',
                              'PARTITION', 'QOS', 'TRES'], 'prio has the columns of sprio')
    tap.same([line.split()[:3] for line in lines],
             [['11', 'short', '7456'], ['12', 'long', '4488'], ['12', 'short', '4438'], ['13', 'short', '0'],
              ['14', 'short', '10163']], 'jobs are ordered by id, with the best row first')
    tap.same(header.index('SITE'), 43, 'the columns are at the same positions as in sprio')
    tap.ok('USER' in place.lines('-l')[0] and 'NICE' in place.lines('-l')[0], '-l has the columns USER and NICE')
    tap.ok('USER' in place.lines('-u', 'alice')[0], '-u adds the column USER')
    tap.same(place.lines('-n')[1].split()[:4], ['11', 'short', '0.00000173', '0.5000000'],
             '-n prints factors')
    tap.same([line.split() for line in place.lines('-w')[1:]],
             [['Weights', '1', '1000', '100', '10000', '400', '100', '10', 'CPU=100,GRES/gpu=40']],
             '-w prints the weights of the run')
    place.settings(dict(KEYS, **{'priority.weight_age': 5, 'priority.weight_qos': 0}))
    tap.same(place.lines('-w')[1].split()[2], '1000', '-w does not print weights of later settings')
    place.succeed('run', '--now', NOW)
    tap.ok(' QOS ' not in place.lines()[0] and ' QOS ' in place.lines('-l')[0],
           'a column without a weight is printed only with -l')
    tap.same(place.lines('-o', '%q', '-j', '14'), ['QOS', '0.0000000'], 'a factor without a weight is 0, as in sprio')
    place.begin()
    tap.same(place.lines('-o', '[%i] %6r|%.8u|%n:%o;%c', '-j', '11'),
             ['[JOBID] PARTIT|    USER|QOSNAME:ACCOUNT;CLUSTER', '[11] short |   alice|normal:physics;tiny'],
             '-o accepts widths, alignment and text')
    tap.same(place.lines('-o', '%.3u|%3u|', '-j', '11')[1], 'ali|ali|', '-o truncates values that are too wide')
    tap.same(place.lines('--noheader', '-o', '%i', '-S', '-y'), ['14', '11', '12', '12', '13'], '-S sorts the rows')
    tap.same(place.lines('--noheader', '-o', '%i', '-S', 'u,-i'), ['11', '12', '12', '14', '13'],
             '-S sorts by several columns')
    tap.same(place.lines('--noheader', '-o', '%i%r', '-S', 'r,+i'), ['12long', '11short', '12short', '13short', '14short'],
             '-S sorts by names')
    tap.same([place.lines('--noheader', '-o', '%i%r', *wish) for wish in
              (('-u', 'alice,carol'), ('-u', 'carol', '-u', 'alice'), ('-p', 'long'), ('-j', '13,11'), ('-j13', '-u', 'carol'))],
             [['11short', '13short', '14short']] * 2 + [['12long'], ['11short', '13short'], ['13short']],
             '-u, -p and -j select jobs')
    place.ends(64, 'an unknown user is rejected', 'prio', '-u', 'nobody')
    place.says('the error names the unknown user', "there is no user 'nobody'")
    place.ends(64, 'an unknown job is rejected', 'prio', '-j', '15')
    place.says('the error names the unknown job', "'15'")
    for wish, said in ((('-o', '%x'), '%x'), (('-o', '%'), 'ends'), (('-o', '%2000i'), '1000'), (('-S', 'x'), "'x'"),
                       (('-j', '1x'), "'1x'"), (('-l', '-o', '%i'), 'long'), (('-P', '--json'), '--json'),
                       (('-M', 'none'), "'none'"), (('--csv', '--json'), '--csv'),
                       (('--columns', 'usernane'), "'username'"),
                       (('-o', '%i', '--columns', 'jobid'), '--columns')):
        place.ends(64, f"prio {' '.join(wish)} is rejected", 'prio', *wish)
        place.says(f"the error for prio {' '.join(wish)} names the cause", said)


def formula_values(place):
    """Compares --formula with values that Python computes from the published columns."""
    place.begin()
    names = [f'{part}_{kind}' for part in ('age', 'assoc', 'fairshare', 'job_size', 'partition', 'qos') for kind in ('factor', 'weighted')]
    formula = 'sqrt(fairshare_factor)*1000 + max(age_factor, .25) - qos_weighted/3 if priority else -1'
    rows = place.query(f"SELECT id_job, partition_name, priority, {', '.join(names)} FROM fairmill_job_priority")
    expected = {}
    for job, partition, priority, *values in rows:
        expected[job, partition] = priority, eval(formula, {'sqrt': math.sqrt, 'max': max, 'priority': priority} | dict(zip(names, values)))
    before = '\n'.join(sqlite3.connect(place.path('r.db')).iterdump())
    place.succeed('prio', '--formula', formula, '--csv', '--columns', 'jobid,partition,priority,what_if', '--noheader')
    got = [line.split(',') for line in place.out.splitlines()]
    tap.ok(len(got) == len(expected) == 5 and {(int(job), partition): (int(priority), float(wish)) for job, partition, priority, wish in got} == expected,
           "--formula shows each job's value next to the priority", got, expected)
    tap.same([float(row[3]) for row in got], sorted((wish for _, wish in expected.values()), reverse=True),
             '--formula sorts by descending value')
    tap.same('\n'.join(sqlite3.connect(place.path('r.db')).iterdump()), before, '--formula writes nothing to the results')
    header, *lines = (line.split() for line in place.lines('--formula', 'priority // 1000 + tres_weighted*0', '-j', '11,14'))
    tap.same((header, [(line[0], line[-1]) for line in lines]),
             (['JobID', 'Partition', 'QOS', 'User', 'Account', 'Priority', 'WhatIf'], [('14', '10.000000'), ('11', '7.000000')]), '--formula prints a table as text')
    tap.same([line.split()[0] for line in place.lines('--noheader', '--formula', 'priority', '-S', 'i', '-j', '14,11')], ['11', '14'],
             '-S sorts the rows of --formula')
    for wish, said in ((('--formula', 'fairshare'), "'fairshare'"), (('--formula', '1 +'), '1 +'), (('--formula', 'os.exit()'), 'os'),
                       (('--formula', '1', '-w'), '--weights'), (('--formula', '1', '-o', '%i'), '--format')):
        place.ends(64, f"prio {' '.join(wish)} is rejected", 'prio', *wish)
        place.says(f"the error for prio {' '.join(wish)} names the cause", said)


# sprio's formats of all columns since Slurm 23.02.  The width is negative if the column is
# left-aligned.
LONG = {'JOBID': 15, 'PARTITION': -9, 'USER': 8, 'ACCOUNT': 8, 'PRIORITY': 10, 'SITE': 10, 'AGE': 10, 'ASSOC': 10, 'FAIRSHARE': 10,
        'JOBSIZE': 10, 'partition': 10, 'QOSNAME': 10, 'QOS': 10, 'NICE': 11, 'TRES': 20}
FACTORS = {'JOBID': 15, 'PARTITION': -9, 'USER': 8, 'ACCOUNT': 8, 'PRIORITY': -10, 'AGE': -10, 'ASSOC': -10, 'FAIRSHARE': -10,
           'JOBSIZE': -10, 'partition': -10, 'QOSNAME': -10, 'QOS': -10, 'TRES': -20}


def as_sprio(columns, *rows):
    """Returns sprio's output.  Each field is truncated to its width."""
    return ''.join(' '.join(f'{text[:-width]:{-width}}' if width < 0 else f'{text:>{width}}'[:width]
                            for text, width in zip(row, columns.values())) + '\n'
                   for row in ([name.upper() for name in columns], *(row.split('|') for row in rows)))


# Job 11 may use two partitions and two QOS.  Job 12 is without a QOS, for which sprio prints
# (null).
OF_11 = [f'11|{partition}|alice|physics|{priority}|0|500|100|6667|100|{factor}|{qos}|{of_qos}|0|cpu=25,gres/gpu=10'
         for partition, qos, priority, factor, of_qos in
         (('long', 'high', 7511, 100, 10), ('long', 'highest', 7506, 100, 5), ('short', 'high', 7461, 50, 10),
          ('short', 'highest', 7456, 50, 5))]
OF_12 = ['12|long|bob|physics|4483|0|500|50|3333|400|100|(null)|0|0|cpu=100',
         '12|short|bob|physics|4433|0|500|50|3333|400|50|(null)|0|0|cpu=100']
# A priority is 7511.67 / 4294967295 and so on.  The column shows eight decimals.
FACTORS_OF_11 = [f'11|{partition}|alice|physics|{priority}|0.5000000|1.0000000|0.6666667|0.2500000|{factor}|{qos}|{of_qos}|'
                 'cpu=0.25,gres/gpu=0.25' for partition, qos, priority, factor, of_qos in
                 (('long', 'high', '0.00000174', '1.0000000', '1.0000000'), ('long', 'highest', '0.00000174', '1.0000000', '0.5000000'),
                  ('short', 'high', '0.00000173', '0.5000000', '1.0000000'),
                  ('short', 'highest', '0.00000173', '0.5000000', '0.5000000'))]


def several(place, release):
    """Publishes jobs of several partitions and QOS, for a cluster with this release."""
    place.begin({'fairshare.slurm_version': release})
    place.change("UPDATE qos_table SET name = 'highest' WHERE name = 'normal'")
    place.change("UPDATE tiny_job_table SET \"partition\" = 'long,short', qos_req = 'high,highest' WHERE id_job = 11")
    place.change('UPDATE tiny_job_table SET id_qos = 0 WHERE id_job = 12')
    place.succeed('run', '--now', NOW, '--replace')


def columns_of_release(place):
    for release, columns in (('22.05', [name for name in LONG if name not in ('ACCOUNT', 'QOSNAME')]), ('23.02', LONG), ('26.05', LONG)):
        several(place, release)
        tap.same(place.lines('-l')[0].split(), [name.upper() for name in columns], f'-l has the columns of sprio -l of {release}')
    tap.same('\n'.join(place.lines('-l', '-j', '11')) + '\n', as_sprio(LONG, *OF_11),
             '-l has a row for each partition and QOS, as sprio -l')
    tap.same(place.lines('-l', '-n')[0].split(), [name.upper() for name in FACTORS], '-l -n has the columns of sprio -l -n')
    tap.same(place.lines('-l', '-w')[1].split(), ['Weights', '1', '1000', '100', '10000', '400', '100', '10', 'CPU=100,GRES/gpu=40'],
             'weights have no account and no QOS')
    place.change("UPDATE qos_table SET priority = 0 WHERE name = 'highest'")
    # sprio of 24.11 and 26.05 prints 0 in the row of such a QOS.  The priority does not include the
    # other QOS.
    for conformance in 'slurmctld', 'documents':
        place.settings(dict(KEYS, **{'fairshare.conformance': conformance, 'fairshare.slurm_version': '24.11'}))
        place.succeed('run', '--now', NOW, '--replace')
        tap.same(place.query('SELECT qos, qos_weighted, best FROM fairmill_job_priority WHERE id_job = 11'
                             " AND partition_name = 'long' ORDER BY qos"),
                 [('high', 10, 1), ('highest', 0, 0)], f'a QOS of priority 0 is not the best ({conformance})')
    place.change("UPDATE qos_table SET priority = 0")
    place.succeed('run', '--now', NOW, '--replace')
    tap.same(place.query('SELECT sum(qos_factor), sum(best) FROM fairmill_job_priority WHERE id_job = 11'), [(0, 1)],
             'if all QOS have priority 0, one row is still best')


def newer_prints(place):
    """Tests diff with the output of sprio -l since 23.02."""
    several(place, '26.05')

    def diff(columns, *rows):
        with open(place.path('sprio'), 'w', encoding='ascii') as file:
            file.write(as_sprio(columns, *rows))
        status = place.run('diff', '--at', NOW, '--json', 'sprio')
        answer = json.loads(place.out)['clusters'][0] if place.out else {}
        return (status, answer.get('compared'), answer.get('only_printed'), [
            tuple(row[name] for name in ('jobid', 'partition', 'qos_name', 'factor', 'sprio'))
            for row in answer.get('differences', ())])

    for order in (1, -1):
        tap.same(diff(LONG, *(OF_11 + OF_12)[::order]), (0, 6, 0, []),
                 'diff matches rows by partition and QOS, also without a QOS')
    tap.same(diff(FACTORS, *FACTORS_OF_11), (0, 4, 0, []), 'diff compares factors with the digits that sprio prints')
    wrong = OF_11[2].replace('|high|10|', '|high|5|')
    tap.same(diff(LONG, *OF_11[:2], wrong, OF_11[3]), (1, 4, 0, [(11, 'short', 'high', 'qos', 5.)]),
             'diff matches a QOS whose name is the start of another name')
    wrong = FACTORS_OF_11[0].replace('0.00000174', '0.00000175')
    status, compared, missing, differences = diff(FACTORS, wrong, *FACTORS_OF_11[1:])
    tap.same((status, compared, missing, [row[:4] for row in differences]), (1, 4, 0, [(11, 'long', 'high', 'priority')]),
             'diff reports a priority that differs in the last digit')
    long_name = 'highest_of_all'
    place.change("UPDATE qos_table SET name = ? WHERE name = 'highest'", long_name)
    place.change("UPDATE tiny_job_table SET qos_req = 'high,' || ? WHERE id_job = 11", long_name)
    place.succeed('run', '--now', NOW, '--replace')
    tap.same(diff(LONG, *(row.replace('highest', long_name) for row in OF_11)), (0, 4, 0, []),
             'diff matches a truncated QOS name')


def for_programs(place):
    place.begin()
    header, *lines = [line.split('|') for line in place.lines('--parsable')]
    tap.same(header, ['Cluster', 'JobID', 'Partition', 'QOSName', 'User', 'Account', 'Priority', 'Site', 'Age',
                      'Assoc', 'FairShare', 'JobSize', 'PartitionPriority', 'QOS', 'Nice', 'TRES', 'Best',
                      'Tier', 'Pool', 'Place', 'Reason'],
             '--parsable has exactly these headings')
    tap.same(lines[0], ['tiny', '11', 'short', 'normal', 'alice', 'physics', '7456', '', '500', '100',
                        '%.17g' % (2 / 3 * 10000), '100', '50', '5', '', 'cpu=25,gres/gpu=10', '1', '', '', '1', ''],
             '--parsable has all digits')
    tap.same(place.lines('-Pn')[1].split('|')[8:14], ['0.5', '1', '%.17g' % (2 / 3), '0.25', '0.5', '0.5'],
             '--parsable -n has factors')
    tap.same(place.lines('-Pw')[1], 'tiny|Weights||||||1|1000|100|10000|400|100|10||CPU=100,GRES/gpu=40|||||',
             '--parsable -w has weights')
    place.succeed('prio', '--json')
    clusters = json.loads(place.out)['clusters']
    tap.same([(c['cluster'], c['as_of'], c['weights']['fairshare'], len(c['jobs'])) for c in clusters],
             [('tiny', NOW, 10000, 5)], '--json has clusters, weights and jobs')
    job = clusters[0]['jobs'][0]
    tap.same((job['jobid'], job['fairshare_factor'], job['age'], job['best'], job['nice'], job['username']),
             (11, 2 / 3, 500.0, True, None, 'alice'), '--json has all columns of a job')
    names = [row[1] for row in place.query('PRAGMA table_info(fairmill_sprio)')]
    first, *_ = rows = list(csv.DictReader(io.StringIO(place.text('prio', '--csv'), newline='')))
    tap.same((len(rows), sorted(first)), (5, sorted(names)), '--csv has the columns of fairmill_sprio')
    tap.same([first[name] for name in ('jobid', 'username', 'age', 'fairshare', 'nice', 'best')],
             ['11', 'alice', '500', '%.17g' % (2 / 3 * 10000), '', '1'], '--csv has all digits')
    first = next(csv.DictReader(io.StringIO(place.text('prio', '--csv', '-n'), newline='')))
    tap.same((first['age_factor'], first['tres_factors'], 'age' in first), ('0.5', 'cpu=0.25,gres/gpu=0.25', False),
             '--csv -n has factors with their own column names')
    tap.same([place.lines('--columns', 'jobid,username,age', '-j', '11', *form) for form in ((), ('-P',))],
             [['JobID User         Age', '   11 alice 500.000000'], ['JobID|User|Age', '11|alice|500']],
             '--columns selects columns by name')
    place.change("UPDATE tiny_assoc_table SET user = ? WHERE user = 'alice'", 'al\x1b[31m|ice')
    place.change("UPDATE tiny_job_table SET \"partition\" = ? WHERE id_job = 11", 'sh\x9bort\x7f')
    place.succeed('run', '--now', NOW + 1)
    for arguments in ((), ('-l',), ('-P',), ('--json',), ('-o', '%u%r'), ('--columns', 'username,partition')):
        place.succeed('prio', *arguments)
        tap.ok(not re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f]', place.out) and '\x1b' not in place.out,
               f"prio {' '.join(arguments)} prints no control character", place.out)
    tap.ok('al\\x1B[31m\\x7Cice' in place.lines('-P')[1], 'a bar in a name is escaped', place.out)


def clusters(place):
    place.begin(drawing=DRAWING + 'cluster Other\nroot/\n  u 1\n'
                f'job root.u id_job=11 submit={NOW - DAY} time_eligible={NOW - DAY} partition=short priority=9 limit=60\n')
    lines = place.lines('-j', '11')
    tap.same([line for line in lines if line.startswith('CLUSTER')], ['CLUSTER: Other', 'CLUSTER: tiny'],
             'each cluster has a heading')
    tap.same(len([line for line in place.lines('-M', 'Other') if 'CLUSTER' in line]), 0,
             'a single cluster has no heading')


def new_jobs(place):
    place.begin()
    key = place.change('SELECT max(job_db_inx) + 1 FROM tiny_job_table')[0][0]
    columns = [row[1] for row in place.change('PRAGMA table_info(tiny_job_table)')]
    picked = ', '.join(dict(job_db_inx=str(key), id_job='99', time_submit=str(NOW + 60),
                            time_eligible=str(NOW + 60)).get(name, f'"{name}"') for name in columns)
    place.change(f'INSERT INTO tiny_job_table SELECT {picked} FROM tiny_job_table WHERE id_job = 12')
    wanted = place.lines('--noheader', '-o', '%r %u %B %F %J %P %Q %T', '-j', '12')
    tap.same(place.lines('--noheader', '-o', '%r %u %B %F %J %P %Q %T', '-j', '99'), wanted,
             'a job submitted after the run has the same factors')
    tap.same(place.lines('--noheader', '-o', '%A %Y', '-j', '99')[0].split(), ['0', '3988'],
             'a job submitted after the run has its own age')
    place.succeed('prio', '--json', '-j', '99')
    tap.same([(job['job_db_inx'], job['best']) for job in json.loads(place.out)['clusters'][0]['jobs']],
             [(str(key), True), (str(key), False)], '--json includes the job submitted after the run')
    tap.same(place.query('SELECT count(*) FROM fairmill_job_priority WHERE id_job = 99'), [(0,)],
             'prio publishes no rows')
    before = place.lines()
    os.rename(place.path('a.db'), place.path('gone.db'))
    tap.same([line for line in before if not line.split()[0] == '99'], place.lines(),
             'without the accounting database, prio shows published rows')
    tap.same(terminal.without_age(place.err), '', 'without the accounting database, prio prints no error')
    os.rename(place.path('gone.db'), place.path('a.db'))
    with open(place.path('reader.conf'), 'w', encoding='ascii') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    os.chmod(place.path('reader.conf'), 0o644)
    place.succeed('prio', settings='reader.conf')
    tap.same(place.out.splitlines(), place.lines()[:1] + [line for line in place.lines()[1:]
                                                          if line.split()[0] != '99'],
             'reader.conf shows published rows')


def empty(place):
    place.ready()
    place.ends(1, 'prio before the first run exits with status 1', 'prio')
    place.succeed('run', '--now', NOW)
    tap.same(len(place.lines()), 1, 'an empty queue prints only headings')
    tap.same(place.lines('--noheader'), [], 'an empty queue with --noheader prints nothing')
    place.succeed('prio', '--json')
    tap.same(json.loads(place.out)['clusters'][0]['jobs'], [], 'an empty queue is an empty list in JSON')


def body():
    for part in (published, changing, odd_rows, arrays, accrue_limits, held_later, resized, lost, flags, printed, formula_values, columns_of_release, newer_prints, for_programs, clusters, new_jobs, empty):
        with Queue() as place:
            part(place)


tap.main(body)
