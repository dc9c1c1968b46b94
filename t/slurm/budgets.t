#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests budgets with a real slurmctld and slurmd: `fairmill budget` shows the minutes that slurmctld
counts, and nothing is left where slurmctld holds a job.

Slurm enforces limits and `safe`: a job starts only if it can run until its time limit.  A time limit
is at least a minute, so the jobs have many CPUs.  Every job here has a time limit of one minute."""

import math
import os
import re
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from program import fairmill, publish, write_settings
from slurmctld import SLURMCTLD, SLURMD, Controller
from slurmdbd import Slurmdbd

HALF_LIFE, PERIOD = 6 * 3600, 60
# By this part, slurmctld's steps can change usage (t/slurm/tres.t).
STEP = 1.5 * math.log(2) * PERIOD / HALF_LIFE
# The limits: kind, account or QOS, TRES.
LIMITS = {('association', 'lab', 'cpu'): 100, ('association', 'vision', 'gres/gpu'): 4,
          ('qos', 'capped', 'cpu'): 30, ('qos', 'keep', 'cpu'): 10000}
REASONS = {'lab': 'AssocGrpCPUMinutesLimit', 'vision': 'AssocGrpGRESMinutes', 'capped': 'QOSGrpCPUMinutesLimit',
           'keep': 'QOSGrpCPUMinutesLimit'}
# Runs until its time limit, and five seconds longer.
LONG = "trap 'sleep 5; exit' TERM; sleep 600 & wait"


def make(manage):
    manage('add', 'cluster', 'mill')
    for name, *more in (('capped', 'GrpTRESMins=cpu=30'), ('keep', 'GrpTRESMins=cpu=10000', 'Flags=NoDecay')):
        manage('add', 'qos', name)
        manage('modify', 'qos', name, 'set', *more)
    for name in ('lab', 'vision', 'free'):
        manage('add', 'account', name, 'cluster=mill')
        manage('add', 'user', 'daemon', f'account={name}', 'cluster=mill', 'qos=normal,capped,keep', 'defaultqos=normal')
    manage('modify', 'account', 'lab', 'set', 'GrpTRESMins=cpu=100')


def counts(text):
    """Returns {TRES: number} of a list such as `cpu=100(14),mem=N(0)`: the numbers in parentheses."""
    return {name: int(number) for name, number in re.findall(r'([^=,]+)=[^(,]*\((\d+)\)', text)}


def theirs(controller):
    """Returns slurmctld's used and running minutes of each account and QOS: {name: (used, running)}."""
    found, text = {}, controller.call('scontrol', 'show', 'assoc_mgr', 'flags=assoc,qos')
    records = re.findall(r'(?:Account=(\S+) UserName= |^QOS=([^(]+)).*?^ +GrpTRESMins=(\S+).*?^ +GrpTRESRunMins=(\S+)', text,
                         re.MULTILINE | re.DOTALL)
    for account, qos, used, running in records:
        found[account or qos] = counts(used), counts(running)
    return found


class Site:
    def __init__(self, folder, server, controller):
        self.server, self.controller = server, controller
        self.settings, self.results = f'{folder}/fairmill.conf', f'{folder}/results.db'
        write_settings(self.settings, dict(
            source=dict(driver='mysql', socket=server.socket, user='root', database=server.accounting, clusters='mill'),
            results=dict(driver='sqlite', database=self.results),
            slurm=dict(conf=server.conf), fairshare=dict(conformance='slurmctld')))

    def submit(self, account, *options, script='true'):
        return self.controller.submit('daemon', account, '-t1', *options, script=script)

    def wait(self, column, jobs):
        """Waits until slurmdbd has the start or the end of these jobs."""
        query = f"SELECT count(*) FROM mill_job_table WHERE {column} > 0 AND id_job IN ({', '.join(jobs)})"
        if not tap.until(lambda: int(self.server.sql(query, self.server.accounting)[0][0]) == len(jobs), every=.3):
            raise RuntimeError(self.controller.call('squeue'))

    def wait_for_reasons(self, jobs):
        """Waits until slurmctld holds jobs for these reasons; `jobs` is {job: reason}."""
        def reasons():
            return dict(line.split() for line in self.controller.call('squeue', '-h', '-o', '%i %r').splitlines())
        tap.until(lambda: jobs.items() <= reasons().items(), every=.3)
        tap.same({job: reason for job, reason in reasons().items() if job in jobs}, jobs, 'slurmctld holds jobs by their limits')

    def ours(self):
        """Returns the rows of fairmill_budget as {(kind, account or QOS, TRES): row}."""
        publish(self.settings, int(time.time()), '--replace')
        with sqlite3.connect(self.results) as db:
            db.row_factory = sqlite3.Row
            rows = db.execute('SELECT * FROM fairmill_budget').fetchall()
        db.close()
        return {(row['kind'], row['account'] or row['qos'], row['tres']): row for row in rows}

    def unlike(self):
        """Compares the rows with slurmctld's.  Only used + running agrees while a job runs, because
        slurmctld moves minutes from one to the other once every decay cycle.  Returns the
        differences, the rows and slurmctld's counts."""
        ours, counted = self.ours(), theirs(self.controller)
        wrong = []
        for (kind, name, tres), row in ours.items():
            used, running = (counts[tres] for counts in counted[name])
            both, allowed = row['used_minutes'] + row['running_minutes'], 1 + STEP * row['limit_minutes']
            moved = row['used_minutes'] - used
            if abs(both - used - running) > allowed or moved < -allowed or moved > running + allowed:
                wrong.append(f"{kind} {name}: {row['used_minutes']} used, {row['running_minutes']} running, not {used}, {running}")
            if row['left_minutes'] != row['limit_minutes'] - both:
                wrong.append(f"{kind} {name}: {row['left_minutes']} left")
        return wrong, ours, counted

    def compare(self, when):
        """The accounting database is behind slurmctld, so waits until both agree."""
        last = []

        def agree():
            last[:] = self.unlike()
            return not last[0]

        tap.until(agree, every=1)
        wrong, ours, counted = last
        tap.same({key: row['limit_minutes'] for key, row in ours.items()}, LIMITS, f'{when}: there is a budget for each limit')
        tap.ok(not wrong, f"{when}: the used and running minutes are slurmctld's", *wrong,
               *(self.server.sql('SELECT * FROM mill_job_table', self.server.accounting) if wrong else ()))
        return {name: row['left_minutes'] for (_, name, _), row in ours.items()}, counted

    def lines(self):
        status, out, err = fairmill(self.settings, 'budget', '--parsable')
        if status:
            raise RuntimeError(out + err)
        heading, *rows = (line.split('|') for line in out.splitlines())
        return [dict(zip(heading, row)) for row in rows]


def free_minutes(site):
    """Nothing has run."""
    left, _ = site.compare('before any job')
    tap.same(left, dict(lab=100, vision=4, capped=30, keep=10000), 'before any job the whole budgets are left')


def running_jobs(site):
    """These jobs may use the whole budgets, except 40 CPU minutes of lab."""
    jobs = dict(lab=site.submit('lab', '-n60', script='sleep 12'), vision=site.submit('vision', '-n1', '--gres=gpu:4', script=LONG),
                capped=site.submit('free', '-n30', '--qos=capped', script=LONG),
                keep=site.submit('free', '-n10000', '--qos=keep', script=LONG))
    site.wait('time_start', jobs.values())
    more = site.submit('lab', '-n84', script=LONG)
    left, _ = site.compare('while jobs run')
    tap.ok(39 <= left['lab'] <= 42, 'minutes that a running job may still use are not left', left)
    tap.ok(all(left[name] <= 2 + STEP * LIMITS['qos', 'keep', 'cpu'] for name in ('vision', 'capped', 'keep')),
           'jobs that may use the whole budget leave nothing', left)
    site.wait_for_reasons({more: REASONS['lab']})
    site.wait('time_end', [jobs['lab']])
    site.wait('time_start', [more])
    tap.ok(True, 'the job starts when the minutes that the first job did not need are returned')
    return [*jobs.values(), more]


def exhausted(site, jobs):
    site.wait('time_end', jobs)
    left, _ = site.compare('after the jobs')
    tap.ok(all(minutes <= 0 for minutes in left.values()), 'nothing is left of any budget', left)
    held = {site.submit('lab', '-n1'): REASONS['lab'], site.submit('vision', '-n1', '--gres=gpu:1'): REASONS['vision'],
            site.submit('free', '-n1', '--qos=capped'): REASONS['capped'], site.submit('free', '-n1', '--qos=keep'): REASONS['keep']}
    site.wait_for_reasons(held)


def decay(site):
    """The usage of a QOS with NoDecay stays, and that of the association decays."""
    before = theirs(site.controller)
    tap.until(lambda: theirs(site.controller)['free'][0]['cpu'] < before['free'][0]['cpu'], every=1)
    _, counted = site.compare('a decay cycle later')
    tap.same(counted['keep'], before['keep'], 'slurmctld does not decay the usage of a QOS with NoDecay')
    rows = {(row['kind'], row['account'] or row['qos'], row['tres']): row for row in site.ours().values()}
    tap.same(rows['qos', 'keep', 'cpu']['used_minutes'], counted['keep'][0]['cpu'], 'fairmill has exactly its minutes')


def shown(site):
    """Compares GrpTRESRaw with sshare's."""
    site.ours()
    names, printed, wrong = 'Account,User,GrpTRESRaw%200', {}, []
    for line in site.controller.call('sshare', '-a', '-n', '-P', '-o', names).splitlines():
        account, user, raw = line.split('|')
        printed[account.strip(), user] = dict(item.split('=') for item in raw.split(','))
    status, out, err = fairmill(site.settings, 'show', '-l', '--parsable')
    heading, *rows = (line.split('|') for line in out.splitlines())
    for row in (dict(zip(heading, row)) for row in rows):
        theirs_raw = printed.get((row['Account'], row['User']), {})
        for item in row['GrpTRESRaw'].split(','):
            tres, number = item.split('=')
            if abs(int(number) - int(theirs_raw[tres])) > 1 + STEP * int(number):
                wrong.append(f"{row['Account']}/{row['User']}: {item}, not {theirs_raw[tres]}")
    tap.ok(status == 0 and len(rows) == len(printed) and not wrong, "GrpTRESRaw has sshare's minutes", err, *wrong)


def body():
    if not SLURMCTLD or not SLURMD or os.geteuid():
        tap.skip_all('only root can submit jobs for other users' if SLURMCTLD and SLURMD else 'slurmctld or slurmd is not installed')
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Slurmdbd() as server:
        make(server.sacctmgr)
        with Controller(server, folder, node='CPUs=10300', gpus=4, GresTypes='gpu', AccountingStorageTRES='gres/gpu',
                        AccountingStorageEnforce='associations,limits,qos,safe', SlurmdParameters='config_overrides',
                        JobAcctGatherType='jobacct_gather/none', SchedulerParameters='sched_interval=2,sched_min_interval=0',
                        PriorityCalcPeriod=1, PriorityDecayHalfLife='06:00:00') as controller, controller.node():
            # The TRES gres/gpu exists since the controller's start.
            server.sacctmgr('modify', 'account', 'vision', 'set', 'GrpTRESMins=gres/gpu=4')
            site = Site(folder, server, controller)
            free_minutes(site)
            exhausted(site, running_jobs(site))
            shown(site)
            decay(site)
            tap.same([int(row['Left']) > 0 for row in site.lines()], [False] * len(LIMITS),
                     '`fairmill budget` shows that nothing is left')


tap.main(body)
