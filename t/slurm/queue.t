#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests places and reasons with a real slurmctld and slurmd: jobs start in the order of their places,
and jobs that cannot start have the reason that slurmctld has.

Each job of the order needs the whole node, and a first job occupies the node until all are
pending."""

import itertools
import os
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from program import publish, write_settings
from slurmctld import SLURMCTLD, SLURMD, Controller
from slurmdbd import Slurmdbd

CPUS = 8
# `main` and `urgent` share the node n1.  The nodes of `wide` have no slurmd.
PARTITIONS = '''urgent Nodes=n1 PriorityTier=9 MaxTime=60
PartitionName=off Nodes=n1 State=DOWN
NodeName=n[2-3] NodeAddr=127.0.0.1 NodeHostname=elsewhere[2-3] CPUs=4 RealMemory=16000 State=DOWN
PartitionName=wide Nodes=n[2-3] MaxNodes=1 MaxTime=60'''
QOS = {'low': 1, 'mid': 5, 'high': 9, 'lifted': 0}
LONG = 'sleep 600'
# slurmctld's reasons for each of fairmill's.
THEIRS = {'held': {'JobHeldUser', 'JobHeldAdmin'}, 'begin': {'BeginTime'}, 'dependency': {'Dependency'}, 'array_limit': {'JobArrayTaskLimit'},
          'partition_down': {'PartitionDown'}, 'too_large': {'PartitionNodeLimit', 'PartitionTimeLimit', 'PartitionConfig'}}


def make(manage):
    manage('add', 'cluster', 'mill')
    for name, priority in QOS.items():
        manage('add', 'qos', name, f'priority={priority}')
    manage('modify', 'qos', 'lifted', 'set', 'Flags=PartitionTimeLimit')
    manage('add', 'account', 'lab', 'cluster=mill')
    manage('add', 'user', 'daemon', 'account=lab', 'cluster=mill', 'qos=normal,' + ','.join(QOS), 'defaultqos=low')


class Site:
    def __init__(self, folder, server, controller):
        self.server, self.controller = server, controller
        self.settings, self.results = f'{folder}/fairmill.conf', f'{folder}/results.db'
        write_settings(self.settings, dict(
            source=dict(driver='mysql', socket=server.socket, user='root', database=server.accounting, clusters='mill'),
            results=dict(driver='sqlite', database=self.results),
            slurm=dict(conf=server.conf), fairshare=dict(conformance='slurmctld')))

    def submit(self, *options, script='sleep 1.2', cpus=CPUS):
        return int(self.controller.submit('daemon', 'lab', *(('-n', str(cpus)) if cpus else ()), '-t10', *options, script=script))

    def times(self, column, jobs):
        query = f"SELECT id_job, {column} FROM mill_job_table WHERE {column} > 0 AND id_job IN ({', '.join(map(str, jobs))})"
        return {int(job): int(when) for job, when in self.server.sql(query, self.server.accounting)}

    def wait(self, column, jobs):
        """Waits until slurmdbd has this time of all jobs, and returns the times."""
        if not tap.until(lambda: len(self.times(column, jobs)) == len(jobs), every=.3):
            raise RuntimeError(self.controller.call('squeue'))
        return self.times(column, jobs)

    def rows(self, columns, where='best = 1'):
        publish(self.settings, int(time.time()), '--replace')
        with sqlite3.connect(self.results) as db:
            rows = db.execute(f'SELECT {columns} FROM fairmill_job_priority WHERE {where}').fetchall()
        db.close()
        return rows

    def reasons(self):
        """Returns slurmctld's reason for each job or array."""
        return {int(job): reason for job, reason in (line.split() for line in self.controller.call('squeue', '-h', '-t', 'PD', '-o', '%A %r').splitlines())}


def order(site):
    """Each tuple has the jobs that share a place."""
    filler = site.submit(script=LONG)
    site.wait('time_start', [filler])
    low, high, urgent = site.submit('--qos=low'), site.submit('--qos=high'), site.submit('-p', 'urgent', '--qos=low')
    mid, first, tied = site.submit('--qos=mid'), site.submit('-p', 'urgent', '--qos=mid'), site.submit('--qos=high')
    both, lifted = site.submit('-p', 'main,urgent', '--qos=low'), site.submit('--qos=lifted', '-t', '90')
    apart = site.submit('-p', 'wide', '--qos=low', cpus=1)
    expected = [(first,), (urgent, both), (high, tied), (mid,), (low,), (lifted,)]
    jobs = [job for some in expected for job in some]
    site.wait('time_submit', jobs + [apart])
    rows = {job: (place, pool, tier) for job, place, pool, tier in site.rows('id_job, place, pool, priority_tier')}
    places, next_place = {}, 1
    for some in expected:
        places |= {job: next_place for job in some}
        next_place += len(some)
    tap.same({job: rows[job][0] for job in jobs}, places, 'places follow PriorityTier, then priority; ties share a place')
    tap.same(rows[apart], (1, 'wide', 1), 'a job of partitions without common nodes has its own pool')
    tap.same((rows[both][1:], rows[low][1:]), (('main', 9), ('main', 1)), 'a job in two partitions has the higher tier')
    site.controller.call('scancel', str(filler))
    starts = site.wait('time_start', jobs)
    started = sorted(jobs, key=starts.get)
    tap.ok(all(starts[one] < starts[other] for one, other in itertools.pairwise(started)), 'no two jobs started in the same second', starts)
    tap.same(started, sorted(jobs, key=lambda job: (places[job], job)), 'slurmctld starts the jobs in the order of their places; ties by submission')
    site.wait('time_end', jobs)
    site.controller.call('scancel', str(apart))


def reasons(site):
    array = site.submit('--array=0-3%1', script=LONG, cpus=1)
    site.wait('time_start', [int(site.controller.jobs('R')[0])] if tap.until(lambda: site.controller.jobs('R'), every=.2) else [])
    filler = site.submit(script=LONG, cpus=CPUS - 1)
    site.wait('time_start', [filler])
    expected = {
        site.submit('-H'): 'held', site.submit('--begin=now+1hour'): 'begin', site.submit(f'--dependency=afterok:{filler}'): 'dependency',
        array: 'array_limit', site.submit('-p', 'off'): 'partition_down', site.submit('-N2', '-p', 'wide', cpus=2): 'too_large',
        site.submit('-t', '120'): 'too_large', site.submit(): '', site.submit('-p', 'off,main'): ''}
    for options, cpus in (('-N3', '-p', 'wide'), 3), (('-N2',), 2), (('-p', 'wide'), 99):
        try:
            expected[site.submit(*options, cpus=cpus)] = 'too_large'
        except RuntimeError as said:  # newer releases do not accept a job that is larger than the partition
            tap.ok('node configuration is not available' in str(said), f'slurmctld rejects {" ".join(options)}', said)

    def agree():
        found = site.reasons()
        return all(not reason or found.get(job) in THEIRS[reason] for job, reason in expected.items())

    tap.until(agree, every=.5)
    theirs = site.reasons()
    tap.same({job: reason if not reason or theirs.get(job) in THEIRS[reason] else theirs.get(job) for job, reason in expected.items()}, expected,
             'slurmctld has these reasons')
    last = {}

    def ours():
        last.clear()
        last.update(dict(site.rows('id_array_job + 0 * id_job, reason', 'best = 1 AND id_array_job > 0 AND id_array_task IS NULL')))
        last.update(dict(site.rows('id_job, reason', 'best = 1 AND id_array_job IS NULL')))
        return last == expected

    tap.until(ours, every=1)  # slurmdbd gets changes with a delay
    tap.same(last, expected, 'fairmill has the same reasons')
    asked = {}
    for line in site.controller.call('squeue', '-h', '-t', 'PD', '-o', '%A %C %l').splitlines():
        job, cpus, limit = line.split()
        asked[int(job)] = (int(cpus), sum(int(part) * unit for part, unit in zip(reversed(limit.split(':')), (1, 60, 3600))))
    rows = site.rows('CASE WHEN id_array_job > 0 THEN id_array_job ELSE id_job END, cpus, limit_seconds, gpus, eligible_at')
    tap.same({job: values for job, *values, _, _ in rows}, {job: list(values) for job, values in asked.items()},
             'jobs have the CPUs and the time limit that squeue prints')
    now = time.time()
    tap.same({job: (gpus, 'waits' if eligible and now - 600 < eligible <= now else eligible) for job, _, _, gpus, eligible in rows},
             {job: (0, None if expected[job] in ('held', 'begin', 'dependency') else 'waits') for job in asked},
             'jobs are eligible unless they are held, or have a later begin time or a dependency')
    ids = dict(site.rows('id_array_job, job_id', 'id_array_job > 0'))
    tap.same(ids, {array: f'{array}_[1-3]'}, "the array's remaining tasks have squeue's id")
    tap.same(site.controller.call('squeue', '-h', '-t', 'PD', '-j', str(array), '-o', '%i').strip(), f'{array}_[1-3%1]',
             'squeue adds only the limit of running tasks')


def body():
    if not SLURMCTLD or not SLURMD or os.geteuid():
        tap.skip_all('only root can submit jobs for other users' if SLURMCTLD and SLURMD else 'slurmctld or slurmd is not installed')
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Slurmdbd() as server:
        make(server.sacctmgr)
        with Controller(server, folder, node=f'CPUs={CPUS}', SlurmdParameters='config_overrides', JobAcctGatherType='jobacct_gather/none',
                        SchedulerParameters='sched_interval=2,sched_min_interval=0', PriorityWeightQOS=1000, EnforcePartLimits='NO',
                        PartitionName=PARTITIONS) as controller, controller.node():
            site = Site(folder, server, controller)
            try:
                order(site)
                reasons(site)
            finally:
                controller.call('scancel', '--user=daemon')  # otherwise, the array's next task starts


tap.main(body)
