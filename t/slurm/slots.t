#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Accrue limits under a real slurmctld: since when each job that waits ages, after slots were handed
over, is what scontrol shows as its AccrueTime.  No slurmd is there, so that nothing starts."""

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
# A pass every two seconds, and a moment for what it takes.
PASS = 4


class Waiting:
    def __init__(self, fields):
        since = fields['AccrueTime']
        # Since when it ages, 0 where it does not.
        self.since = 0 if since == 'Unknown' else int(time.mktime(time.strptime(since, '%Y-%m-%dT%H:%M:%S')))
        # Of an array, how many tasks have not been split off; or whether this is one that has.
        ranges = [part.partition('-') for part in fields.get('ArrayTaskId', '').split('%')[0].split(',')]
        tasks = sum(int(last or first) - int(first) + 1 for first, _, last in ranges if first)
        self.tasks = tasks if tasks > 1 else 0
        self.was_split_off = fields.get('ArrayJobId', fields['JobId']) != fields['JobId']


def waiting(controller):
    """What of each job that waits is known there, by its number."""
    found = {}
    for line in controller.call('scontrol', '-o', 'show', 'job').splitlines():
        fields = dict(field.partition('=')[::2] for field in line.split())
        if fields.get('JobState') == 'PENDING':
            found[int(fields['JobId'])] = Waiting(fields)
    return found


def make(manage):
    """QOS and accounts with each kind of limit."""
    manage('add', 'cluster', 'mill')
    for name, limit in (('user', 'MaxJobsAccruePerUser=1'), ('account', 'MaxJobsAccruePerAccount=2'),
                        ('group', 'GrpJobsAccrue=2')):
        manage('add', 'qos', name)
        manage('modify', 'qos', name, 'set', limit)  # 20.11 forgets most limits of one that is added
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
    """Since when each job ages of which slurmctld tells slurmdbd, which from 24.11 on it does not of a task that
    was split off an array before it starts: once a pass changes nothing more, here or there.  Of the tasks that
    are left in an array slurmdbd is not always told in the end."""
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
    tap.same(set(got), set(theirs), f'{what}: the jobs that wait are the controller\'s')
    wrong = [f'job {job}: {got[job]}, not {since}' for job, since in sorted(theirs.items())
             if job in got and (bool(since) != bool(got[job]) or abs(since - got[job]) > PASS)]
    kinds = collections.Counter('ages' if since else 'does not age' for since in theirs.values())
    tap.ok(not wrong, f'{what}: {dict(kinds)}, each since when the controller says', *wrong)
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
    # The pass that makes an array eligible may give it no slots, and then whoever comes before the next one has them.
    time.sleep(2 * PASS)
    after = controller.submit('bin', 'each')
    controller.submit('sys', 'each', '--begin=now+1hour')
    controller.submit('sys', 'each', '--hold')
    controller.submit('sys', 'free', '--array=0-3', '--qos=user')
    theirs = compare(controller, settings, 'as they came')
    tap.ok(sum(map(bool, theirs.values())) >= 10 and not all(theirs.values()), 'of which some wait for slots')

    time.sleep(2 * PASS)
    controller.call('scancel', first['daemon', 0], in_account[1], in_group[0], in_lab[0], in_lab[4], each[1],
                    f'{array}_0', after)
    theirs = compare(controller, settings, 'after some were cancelled')
    tap.ok(theirs[int(first['daemon', 1])] > theirs[int(first['bin', 0])] + PASS, 'a slot was handed over')
    time.sleep(2 * PASS)
    controller.call('scancel', first['daemon', 1], in_account[0], f'{array}_1', in_lab[1], in_lab[2])
    for user in ('daemon', 'bin'):
        controller.submit(user, 'below')
    compare(controller, settings, 'and once more')


def body():
    if not SLURMCTLD or os.geteuid():
        tap.skip_all('only root submits for others' if SLURMCTLD else 'slurmctld is not there')
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
