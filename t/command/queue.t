#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the places of pending jobs in their pools, the reasons of jobs that cannot start, and the
ids of jobs as squeue prints them."""

import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, TINY, Place

HOUR, DAY = 3600, 86400
AT_LIMIT = 0xffffffff
# The pool `cpu` has three partitions: `long` shares nodes with `cpu`, and `urgent` only with `long`.
CONF = '''ClusterName=tiny
PriorityType=priority/multifactor
PriorityWeightAge=1000
NodeName=n[1-8] CPUs=192 RealMemory=1000 Gres=gpu:2
NodeName=m[1-4] CPUs=64
NodeName=g[1-2] CPUs=16 Gres=gpu:a100:4
NodeSet=big Nodes=n[7-8],m1
PartitionName=DEFAULT MaxTime=2-0 PriorityTier=2
PartitionName=cpu Nodes=n[1-8] MaxNodes=6 Default=YES
PartitionName=long Nodes=big MaxTime=UNLIMITED
PartitionName=urgent Nodes=m[1-4] PriorityTier=9
PartitionName=gpu Nodes=g[1-2] PriorityTier=1
PartitionName=old Nodes=n1 State=DOWN
PartitionName=drained Nodes=g1 State=DRAIN
'''


def job(number, partition='cpu', tres='1=1,2=10,4=1', **more):
    """A pending job; the age of job N is N hours, so that a higher number has a higher priority."""
    values = dict(id_job=number, submit=NOW - DAY, time_eligible=NOW - number * HOUR, partition=partition, tres_req=tres, limit=60, priority=9) | more
    return 'job physics.alice ' + ' '.join(f'{name}={value}' for name, value in values.items()) + '\n'


class Queue(Place):
    def begin(self, *jobs, conf=CONF, keys=None):
        with open(self.path('slurm.conf'), 'w', encoding='ascii') as file:
            file.write(conf or '')
        self.ready(TINY + ''.join(jobs), ({'slurm.conf': self.path('slurm.conf')} if conf else {'priority.weight_age': 1000}) | (keys or {}))
        self.change("REPLACE INTO tres_table (creation_time, id, type, name) VALUES (1, 1, 'cpu', ''), (1, 2, 'mem', ''), "
                    "(1, 4, 'node', ''), (1, 1001, 'gres', 'gpu'), (1, 1002, 'gres', 'gpu:a100'), (1, 1003, 'gres', 'shard')")
        self.again()

    def again(self):
        self.succeed('run', '--now', NOW, '--replace')

    def rows(self, *columns, where='1'):
        return self.query(f"SELECT {', '.join(columns)} FROM fairmill_job_priority WHERE {where} ORDER BY id_job, partition_name, qos")

    def places(self):
        """Returns {job: place} of the best rows."""
        return dict(self.rows('id_job', 'place', where='best = 1'))

    def prio(self, *arguments):
        self.succeed('prio', *arguments)
        return self.out


def pools(place):
    place.begin(job(1), job(2, 'long'), job(3, 'urgent'), job(4, 'gpu'), job(5, 'drained'), job(6, 'cpu,gpu'), job(7, 'cpu,urgent'))
    tap.same(place.rows('id_job', 'partition_name', 'pool', 'priority_tier', 'place', 'best'), [
        (1, 'cpu', 'cpu', 2, 5, 1), (2, 'long', 'cpu', 2, 4, 1), (3, 'urgent', 'cpu', 9, 2, 1), (4, 'gpu', 'drained', 1, 3, 1),
        (5, 'drained', 'drained', 2, 1, 1), (6, 'cpu', 'cpu', 2, 3, 1), (6, 'gpu', 'drained', 1, 2, 0), (7, 'cpu', 'cpu', 2, 1, 0),
        (7, 'urgent', 'cpu', 9, 1, 1)], 'jobs are placed in the pool of their partition, by PriorityTier, then by priority')
    tap.same({row[0] for row in place.rows('reason')}, {''}, 'jobs that can start have no reason')
    place.begin(*(job(number, time_eligible=NOW - age * HOUR) for number, age in ((1, 1), (2, 5), (3, 5), (4, 2))))
    tap.same(place.places(), {1: 4, 2: 1, 3: 1, 4: 3}, 'ties share a place, and the next place counts both')
    place.begin(job(1), job(2, 'gpu'), job(3, 'other'), conf=None)
    tap.same(place.rows('id_job', 'pool', 'priority_tier', 'place', 'reason'), [(1, '', None, 3, ''), (2, '', None, 2, ''), (3, '', None, 1, '')],
             'without a slurm.conf, all jobs are in one pool')
    place.begin(job(1), job(2, priority=0, time_eligible=0), job(3, start=NOW - HOUR, tres='1=1'), keys={'priority.flags': 'CALCULATE_RUNNING'})
    tap.same(place.places(), {1: 1, 2: None, 3: None}, 'held and running jobs have no place')
    place.succeed('verify')


# Job: (reason, detail).
BLOCKED = {
    11: ('held', 'held by its user or an administrator'),
    12: ('begin', 'waits until 2025-06-21T11:00:00, its begin time'),
    13: ('dependency', 'waits for another job'),
    14: ('too_large', 'asks for 2,048 CPUs, partition cpu has 1,536'),
    15: ('too_large', 'asks for 9 nodes, partition cpu has 8'),
    16: ('too_large', 'asks for 7 nodes, partition cpu allows 6'),
    17: ('too_large', 'asks for 10,000 MB of memory, partition cpu has 8,000'),
    18: ('too_large', 'asks for 17 GPUs, partition cpu has 16'),
    19: ('too_large', 'asks for 3-00:00:00, partition cpu allows 2-00:00:00'),
    20: ('partition_unknown', 'slurm.conf has no partition gone'),
    21: ('partition_down', 'partition old has State=DOWN'),
    22: ('lost', 'pending since 2022-09-25T10:00:00'),
    23: ('array_limit', 'its array may run 2 tasks at a time'),
    24: ('too_large', 'asks for 9 a100 GPUs, partition gpu has 8'),
    25: ('held', 'held by its user or an administrator'),
}


def reasons(place):
    place.begin(
        job(11, priority=0, time_eligible=0), job(12, time_eligible=NOW + HOUR), job(13, time_eligible=0), job(14, tres='1=2048,4=2'),
        job(15, tres='1=9,4=9'), job(16, tres='1=7,4=7'), job(17, tres='1=1,2=10000,4=1'), job(18, tres='1=1,4=1,1001=17'),
        job(19, limit=3 * 1440), job(20, 'gone'), job(21, 'old'), job(22, time_eligible=NOW - 1000 * DAY, submit=NOW - 1000 * DAY),
        job(23, id_array_job=23, array_task_str='0x6', array_max_tasks=2, array_task_pending=2, time_eligible=AT_LIMIT),
        job(24, 'gpu', '1=1,4=1,1001=8,1002=9'), job(25, 'old', '1=2048', priority=0, time_eligible=0), job(30))
    rows = place.rows('id_job', 'reason', 'reason_detail', 'place')
    tap.same({number: (reason, detail) for number, reason, detail, _ in rows if number in BLOCKED}, BLOCKED, 'a job that cannot start has a reason')
    tap.same({number: spot for number, _, _, spot in rows if spot}, {30: 1}, 'jobs that cannot start have no place')
    tap.same(place.query('SELECT jobs, startable FROM fairmill_waiting WHERE "partition" = \'cpu\''), [(12, 1)],
             'fairmill_waiting counts the jobs that can start')
    tap.same(place.query('SELECT jobs, startable FROM fairmill_account_waiting'), [(16, 1)],
             'fairmill_account_waiting counts the jobs that can start')

    place.begin(job(1, 'old,gone'), job(2, 'old,gpu'), job(3, 'urgent,cpu', '1=300,4=3'), job(4, 'gpu', '1=1,4=1,1003=1'), job(5, 'cpu', '4=6'),
                job(6, 'long', limit=99 * 1440), job(7, 'cpu,gone', '1=1,2=9000,4=1'))
    tap.same(place.rows('id_job', 'partition_name', 'reason', 'best'), [
        (1, 'gone', 'partition_unknown', 0), (1, 'old', 'partition_down', 1), (2, 'gpu', '', 1), (2, 'old', 'partition_down', 0),
        (3, 'cpu', '', 1), (3, 'urgent', 'too_large', 0), (4, 'gpu', '', 1), (5, 'cpu', '', 1), (6, 'long', '', 1), (7, 'cpu', '', 1),
        (7, 'gone', 'partition_unknown', 0)],
        'the best row is one in which the job can start; a job that may fit has no reason')
    place.begin(job(1, tres='4=7'), job(2, limit=9 * 1440), job(3, tres='4=7', qos=2), job(4, limit=9 * 1440, qos=3), 'qos 2 factor=1\nqos 3 factor=1\n')
    place.change('UPDATE qos_table SET flags = CASE id WHEN 2 THEN 2 WHEN 3 THEN 4 ELSE 0 END')
    place.again()
    tap.same([row[0] for row in place.rows('reason')], ['too_large', 'too_large', '', ''],
             'a QOS with PartitionMaxNodes or PartitionTimeLimit lifts the limit of the partition')
    place.begin(job(1, tres='1=2048,4=99', limit=9 * 1440), conf=None)
    tap.same(place.rows('reason', 'reason_detail', 'place'), [('', None, 1)], 'without a slurm.conf, no job is too large')
    large = job(1, tres='1=2048,4=2') + job(2, tres='4=7') + job(3, 'dynamic', '1=2048,4=9')
    place.begin(large, conf=CONF + 'PartitionName=dynamic Nodes=n1,d[1-9]\nMaxNodeCount=14\n')
    tap.same([row[0] for row in place.rows('reason')], ['too_large', 'too_large', ''],
             'no job is too large for a partition with a node that slurm.conf does not define')
    place.begin(large, conf=CONF + 'PartitionName=dynamic Nodes=ALL\nMaxNodeCount=15\n')
    tap.same([row[0] for row in place.rows('reason')], ['', 'too_large', ''],
             'if slurmctld accepts dynamic nodes, the size of each partition is unknown, but MaxNodes applies')


def ids(place):
    place.begin(job(90, id_array_job=90, array_task_str='0x1FFFE', array_task_pending=16),
                job(91, id_array_job=91, array_task_str='3,5-9%2', array_task_pending=6), job(92, id_array_job=92, array_task_pending=6),
                job(40, het_job_id=40, het_job_offset=0), job(41, het_job_id=40, het_job_offset=1), job(50),
                job(1, id_array_job=90, id_array_task=12))
    tap.same(place.rows('id_job', 'job_id', 'id_array_job', 'id_array_task', 'id_het_job', 'het_job_offset'), [
        (1, '90_12', 90, 12, None, None), (40, '40+0', None, None, 40, 0), (41, '40+1', None, None, 40, 1), (50, '50', None, None, None, None),
        (90, '90_[1-16]', 90, None, None, None), (91, '91_[3,5-9]', 91, None, None, None), (92, '92', 92, None, None, None)],
        'job_id is the id that squeue prints')

    def found(asked):
        return [int(line.split()[0]) for line in place.prio('-h', '-j', asked).splitlines()]

    tap.same({asked: found(asked) for asked in ('90', '90_3', '91_5', '92_7', '40+1', '41', '50')},
             {'90': [90], '90_3': [90], '91_5': [91], '92_7': [92], '40+1': [41], '41': [41], '50': [50]}, 'prio finds jobs by the ids of squeue')
    tap.same(found('90_12'), [1, 90], 'prio finds a task with its own row; its array may have it, too')
    for asked in '91_4', '50_1', '90_', '40+2':
        place.ends(64, f'prio rejects {asked}, which is not pending', 'prio', '-j', asked)
    place.succeed('explain', 'job', '90_12', '--json')
    tap.same(json.loads(place.out)['clusters'][0]['a']['id_job'], 1, 'explain job prefers the task with its own row to its array')
    place.drop_column('a.db', 'tiny_job_table', 'array_task_str')
    place.again()
    tap.same(place.rows('job_id', where='id_job = 90'), [('90',)], 'without the list of tasks, job_id is the number')


def columns(place):
    place.begin(job(1), job(2, 'gone', id_array_job=2, id_array_task=7), job(3, 'urgent'))
    place.succeed('prio', '--json')
    got = json.loads(place.out)['clusters'][0]['jobs']
    names = ('priority_tier', 'pool', 'place', 'reason', 'reason_detail', 'job_id', 'id_array_job', 'id_array_task', 'id_het_job', 'het_job_offset')
    tap.same([tuple(row[name] for name in names) for row in got], [tuple(value if name != 'reason_detail' else value or '' for name, value in zip(names, row)) for row in place.rows(*names)],
             '--json has the columns of the table')
    rows = list(csv.DictReader(io.StringIO(place.prio('--csv'))))
    tap.same([tuple(row[name] for name in names[:4]) for row in rows],
             [('2', 'cpu', '2', ''), ('', '', '', 'partition_unknown'), ('9', 'cpu', '1', '')], '--csv has tier, pool, place and reason')
    tap.same(place.prio('-h', '-S', 'z', '-o', '%z|%i').split(), ['|2', '1|3', '2|1'], '--sort z orders by pool and place')
    tap.same(place.prio('-h', '-S', '-z', '-o', '%i').split(), ['1', '3', '2'], '--sort -z reverses this order')


def facts(place):
    names = 'id_job', 'cpus', 'gpus', 'limit_seconds', 'eligible_at'
    place.begin(
        job(1, tres='1=4,2=10,4=1', limit=90), job(2, tres='1=8,4=2,1001=3,1002=2'), job(3, tres='1=2,1002=2'), job(4, tres='', cpus_req=6),
        job(5, limit=0), job(6, limit=0xffffffff), job(7, time_eligible=0), job(8, time_eligible=NOW + HOUR), job(9, priority=0, time_eligible=0),
        job(10, id_array_job=10, array_task_str='0x6', array_max_tasks=2, array_task_pending=2, submit=NOW - HOUR, time_eligible=AT_LIMIT, tres='1=3'))
    hours = [NOW - number * HOUR for number in range(11)]
    tap.same(place.rows(*names), [
        (1, 4, 0, 5400, hours[1]), (2, 8, 3, 3600, hours[2]), (3, 2, 2, 3600, hours[3]), (4, 6, None, 3600, hours[4]), (5, 1, 0, None, hours[5]),
        (6, 1, 0, None, hours[6]), (7, 1, 0, 3600, None), (8, 1, 0, 3600, None), (9, 1, 0, 3600, None), (10, 3, 0, 3600, hours[1])],
        'a job has its CPUs, GPUs, time limit and eligible time')
    place.succeed('prio', '--json')
    got = json.loads(place.out)['clusters'][0]['jobs']
    tap.same([tuple(row['jobid' if name == 'id_job' else name] for name in names) for row in got], place.rows(*names), '--json has these columns')
    place.begin(job(1, 'cpu,gpu', tres='1=4,1001=2', start=NOW - HOUR), conf=None, keys={'priority.flags': 'CALCULATE_RUNNING'})
    tap.same(place.rows(*names), [(1, 4, 2, 3600, hours[1])] * 2, 'a job has the same values in each partition, and while it runs')
    place.begin(job(1, tres='1=4,1001=2'), conf=None, keys={'usage.tres': 'none'})
    tap.same(place.rows(*names), [(1, 4, None, 3600, hours[1])], 'without the names of TRES, the number of GPUs is unknown')
    place.succeed('verify')


def new_jobs(place):
    place.begin(job(1), job(3, 'urgent'), job(5), job(6, 'gpu'))
    before = place.places()
    place.site(TINY + job(1) + job(2, submit=NOW + 60) + job(3, 'urgent') + job(4, 'gpu', submit=NOW + 60) + job(5) + job(6, 'gpu')
               + job(7, 'gone', submit=NOW + 60))
    place.change("REPLACE INTO tres_table (creation_time, id, type, name) VALUES (1, 1, 'cpu', '')")
    # The rows of published jobs keep their keys.
    keys = dict(place.rows('id_job', 'job_db_inx'))
    for number in range(1, 8):
        place.change('UPDATE tiny_job_table SET job_db_inx = ? WHERE id_job = ?', -number, number)
    for number in range(1, 8):
        place.change('UPDATE tiny_job_table SET job_db_inx = ? WHERE id_job = ?', keys.get(number, 100 + number), number)
    place.succeed('prio', '--json')
    got = {row['jobid']: (row['place'], row['reason']) for row in json.loads(place.out)['clusters'][0]['jobs']}
    tap.same(before, {1: 3, 3: 1, 5: 2, 6: 1}, 'the run publishes places')
    tap.same(got, {1: (4, ''), 2: (3, ''), 3: (1, ''), 4: (2, ''), 5: (2, ''), 6: (1, ''), 7: (None, 'partition_unknown')},
             'prio places jobs that were submitted after the run among the others')


def predictions(place):
    """Without a change, whatif has the places and the best rows that the run published."""
    conf = CONF.replace('State=DRAIN', 'PriorityJobFactor=100') + 'PriorityWeightPartition=1000\n'
    place.begin(job(1, 'cpu,urgent'), job(2, 'drained,gpu', '1=20,4=2'), job(3, 'gpu,cpu'), job(4, priority=0, time_eligible=0),
                job(5, start=NOW - HOUR, tres='1=1'), job(6), conf=conf, keys={'priority.flags': 'CALCULATE_RUNNING'})
    rows = place.rows('id_job', 'partition_name', 'pool', 'place', where='best = 1')
    for how in ([], ['--now', NOW]):
        place.succeed('whatif', '--json', *how)
        jobs = sorted(json.loads(place.out)['clusters'][0]['jobs'], key=lambda job: job['id_job'])
        for side in 'before', 'after':
            tap.same([(job['id_job'], *(job[f'{name}_{side}'] for name in ('partition', 'pool', 'place'))) for job in jobs], rows,
                     f"whatif has the published places {side} no change{' by the source' if how else ''}")
    place.succeed('explain', 'job', '5')
    tap.ok("Job '5' of 'alice' has no place: it runs, or" in ' '.join(place.out.split()), 'explain job says that a running job has no place', place.out)


def body():
    with Queue() as place:
        for test in pools, reasons, ids, columns, facts, new_jobs, predictions:
            test(place)


tap.main(body)
