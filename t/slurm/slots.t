#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests accrue limits with a real slurmctld.  After slots were handed over, each pending job ages
since the AccrueTime that scontrol shows.  No slurmd runs, so that no job starts."""

import collections
import os
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import publish, write_settings
from slurmctld import SLURMCTLD, Controller

DAY = 86400
# A decay cycle every two seconds, and time for its computation.
PASS = 4


class Waiting:
    def __init__(self, fields):
        since = fields['AccrueTime']
        # Time since when the job ages, or 0 if it does not age.
        self.since = 0 if since == 'Unknown' else int(time.mktime(time.strptime(since, '%Y-%m-%dT%H:%M:%S')))
        # The number of tasks that are not split off an array, or whether this job is a split task.
        ranges = [part.partition('-') for part in fields.get('ArrayTaskId', '').split('%')[0].split(',')]
        tasks = sum(int(last or first) - int(first) + 1 for first, _, last in ranges if first)
        self.tasks = tasks if tasks > 1 else 0
        self.was_split_off = fields.get('ArrayJobId', fields['JobId']) != fields['JobId']


def waiting(controller):
    """Returns the pending jobs of slurmctld by number."""
    found = {}
    for line in controller.call('scontrol', '-o', 'show', 'job').splitlines():
        fields = dict(field.partition('=')[::2] for field in line.split())
        if fields.get('JobState') == 'PENDING':
            found[int(fields['JobId'])] = Waiting(fields)
    return found


def make(manage):
    """Creates QOS and accounts with each kind of limit."""
    manage('add', 'cluster', 'mill')
    for name, limit in (('user', 'MaxJobsAccruePerUser=1'), ('account', 'MaxJobsAccruePerAccount=2'),
                        ('group', 'GrpJobsAccrue=2')):
        manage('add', 'qos', name)
        manage('modify', 'qos', name, 'set', limit)  # 20.11 ignores most limits in `add`
    for name, *limit in (('free', ), ('lab', 'GrpJobsAccrue=3'), ('each', 'MaxJobsAccrue=2')):
        manage('add', 'account', name, 'cluster=mill', *limit)
    manage('add', 'account', 'below', 'parent=lab', 'cluster=mill')
    for name in ('free', 'below', 'each'):
        for user in ('daemon', 'bin', 'sys'):
            manage('add', 'user', user, f'account={name}', 'cluster=mill', 'qos=normal,user,account,group',
                   'defaultqos=normal')


def ours(settings, results, now):
    publish(settings, now)
    with sqlite3.connect(results) as db:
        rows = db.execute("SELECT id_job, age_factor FROM fairmill_job_priority").fetchall()
    db.close()
    return {job: round(now - factor * DAY) if factor else 0 for job, factor in rows}


def settled(controller):
    """Returns the AccrueTime of the jobs that slurmctld reports to slurmdbd, once decay cycles
    change nothing more. From 24.11 on, slurmctld does not report a task split off an array before
    it starts. It does not always report the number of remaining tasks of an array."""
    hides, before, same = controller.release >= (24, 11), None, 0
    for _ in range(20):
        theirs = {job: waits for job, waits in waiting(controller).items() if not (hides and waits.was_split_off)}
        known = {int(job): int(tasks) for job, tasks in controller.server.sql(
            'SELECT id_job, array_task_pending FROM mill_job_table WHERE time_end = 0', controller.server.accounting)}
        wanted = {job: waits.tasks for job, waits in theirs.items()}
        since = {job: waits.since for job, waits in theirs.items()}
        same = same + 1 if before == (since, known) else 0
        if same >= (1 if known == wanted else 3):
            break
        before = since, known
        time.sleep(PASS)
    return since


def compare(controller, settings, what):
    theirs = settled(controller)
    got = ours(settings, f'{controller.folder}/results.db', int(time.time()))
    tap.same(set(got), set(theirs), f"{what}: the pending jobs are the controller's")
    wrong = [f'job {job}: {got[job]}, not {since}' for job, since in sorted(theirs.items())
             if job in got and (bool(since) != bool(got[job]) or abs(since - got[job]) > PASS)]
    kinds = collections.Counter('ages' if since else 'does not age' for since in theirs.values())
    tap.ok(not wrong, f"{what}: {dict(kinds)}, with the controller's times", *wrong)
    return theirs


def slots(controller, settings):
    first = {}
    for user in ('daemon', 'bin'):
        for number in range(3):
            first[user, number] = controller.submit(user, 'free', '--qos=user')
    in_account = [controller.submit(user, 'free', '--qos=account') for user in ('sys', 'bin', 'sys', 'daemon')]
    in_group = [controller.submit('sys', account, '--qos=group') for account in ('free', 'each', 'free')]
    in_lab = [controller.submit(user, 'below') for user in ('bin', 'sys', 'sys', 'bin', 'sys')]
    each = [controller.submit('daemon', 'each') for _ in range(3)]
    array = controller.submit('bin', 'each', '--array=0-4')
    # The cycle that makes an array eligible may give it no slots.  Jobs submitted before the next
    # cycle then get them.
    time.sleep(2 * PASS)
    after = controller.submit('bin', 'each')
    controller.submit('sys', 'each', '--begin=now+1hour')
    controller.submit('sys', 'each', '--hold')
    controller.submit('sys', 'free', '--array=0-3', '--qos=user')
    theirs = compare(controller, settings, 'after submission')
    tap.ok(sum(map(bool, theirs.values())) >= 10 and not all(theirs.values()), 'some jobs wait for slots')

    time.sleep(2 * PASS)
    controller.call('scancel', first['daemon', 0], in_account[1], in_group[0], in_lab[0], in_lab[4], each[1],
                    f'{array}_0', after)
    theirs = compare(controller, settings, 'after some jobs were cancelled')
    tap.ok(theirs[int(first['daemon', 1])] > theirs[int(first['bin', 0])] + PASS, 'a slot was handed over')
    time.sleep(2 * PASS)
    controller.call('scancel', first['daemon', 1], in_account[0], f'{array}_1', in_lab[1], in_lab[2])
    for user in ('daemon', 'bin'):
        controller.submit(user, 'below')
    compare(controller, settings, 'after more jobs were cancelled')


def body():
    if not SLURMCTLD or os.geteuid():
        tap.skip_all('only root can submit jobs for other users' if SLURMCTLD else 'slurmctld is not installed')
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Slurmdbd() as server:
        make(server.sacctmgr)
        settings = f'{folder}/fairmill.conf'
        write_settings(settings, dict(
            source=dict(driver='mysql', socket=server.socket, user='root', database=server.accounting, clusters='mill'),
            results=dict(driver='sqlite', database=f'{folder}/results.db'),
            slurm=dict(conf=server.conf), fairshare=dict(conformance='slurmctld')))
        with Controller(server, folder, SchedulerParameters='sched_interval=2,sched_min_interval=0', PriorityMaxAge='1-0',
                        PriorityWeightAge=1000) as controller:
            slots(controller, settings)


tap.main(body)
