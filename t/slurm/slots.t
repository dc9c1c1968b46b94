#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Accrue limits under a real slurmctld: since when each job that waits ages, after slots were handed
over, is what scontrol shows as its AccrueTime.  No slurmd is there, so that nothing starts."""

import collections
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Slurmdbd
from program import publish, write_settings

SLURMCTLD = shutil.which('slurmctld', path=os.environ['PATH'] + ':/usr/sbin')
DAY = 86400
# A pass every two seconds, and a moment for what it takes.
PASS = 4

CONF = '''
ClusterName=mill
SlurmctldPort={port}
SlurmdPort={slurmd}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
AccountingStorageEnforce=associations,limits,qos
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
PriorityType=priority/multifactor
SchedulerParameters=sched_interval=2,sched_min_interval=0
PriorityMaxAge=1-0
PriorityWeightAge=1000
NodeName=n1 NodeAddr=127.0.0.1 CPUs=8 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=n1 Default=YES MaxTime=60
'''


def free_port():
    """Of a socket that was just closed."""
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return found.getsockname()[1]


class Controller:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        with open(server.conf, encoding='ascii') as file:
            text = file.read().replace('ClusterName=unused\n', '')
        with open(server.conf, 'w', encoding='ascii') as file:
            file.write(text + CONF.format(folder=folder, port=free_port(), slurmd=free_port()))
        os.makedirs(f'{folder}/state')
        self.environment = dict(os.environ, SLURM_CONF=server.conf)
        self.release = tuple(map(int, re.findall(r'\d+', self.call(SLURMCTLD, '-V'))[:2]))

    def call(self, *command):
        return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False).stdout

    def __enter__(self):
        with open(f'{self.folder}/err', 'wb') as err:
            # From 24.11 on it listens where the machine's name leads, which may be nowhere.
            self.process = subprocess.Popen(['unshare', '--uts', 'sh', '-c', 'hostname localhost && exec "$0" -D', SLURMCTLD],
                                            env=self.environment, stdin=subprocess.DEVNULL, stdout=err, stderr=err)
        for _ in range(100):
            if ' UP' in self.call('scontrol', 'ping'):
                return self
            time.sleep(.2)
        self.__exit__()
        said = ''
        for name in ('err', 'slurmctld.log'):
            with open(f'{self.folder}/{name}', encoding='utf-8', errors='replace') as file:
                said += file.read()
        raise RuntimeError('slurmctld does not answer\n' + said[-3000:])

    def __exit__(self, *what):
        self.process.terminate()
        self.process.wait(60)

    def submit(self, user, account, *options):
        said = self.call('sbatch', f'--uid={user}', f'--gid={user}', '-A', account, '-D', '/', '-o', '/dev/null', *options,
                         '--wrap=true')
        number = re.search(r'Submitted batch job (\d+)', said)
        if not number:
            raise RuntimeError(said)
        return number[1]

    def waiting(self):
        """What of each job that waits is known here, by its number."""
        found = {}
        for line in self.call('scontrol', '-o', 'show', 'job').splitlines():
            fields = dict(field.partition('=')[::2] for field in line.split())
            if fields.get('JobState') == 'PENDING':
                found[int(fields['JobId'])] = Waiting(fields)
        return found


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
        theirs = {job: waits for job, waits in controller.waiting().items() if not (hides and waits.was_split_off)}
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
        with Controller(server, folder) as controller:
            slots(controller, settings)


tap.main(body)
