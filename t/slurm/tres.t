#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Compares usage by TRES with live clusters: with the minutes that slurmctld counted for GrpTRESMins,
which sshare prints as GrpTRESRaw.

slurmctld decays usage in steps of PriorityCalcPeriod.  A step treats the time since the step before
as if all of it were a whole period old, and the end of a job decays for up to another period.  So
its minutes are lower, by at most the decay of one and a half periods.  Without decay, each minute
agrees."""

import collections
import csv
import math
import os
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import stepping
import tap
from live4 import CAPTURES, CAPTURES_5, Capture
from program import publish, sqlite_settings, write_settings
from reference import tres_count

PERIOD, DAY = 60, 86400
HALF_LIFE = dict(alpha=0, beta=480, gamma=1200, delta=7 * DAY, zeta=7 * DAY, theta=7 * DAY, iota=DAY)
NEWEST_STEP = 1795229968  # of live1
TRES = ('cpu', 'mem', 'node', 'billing', 'gres/gpu', 'license/matlab')

# A reconfiguration and the end of a job were within one period.
OTHER = {'delta_run2': {'het/', 'het/u25'}}


def counts(text):
    """Returns {TRES: number} of a list such as `cpu=20(14),mem=N(0)`: the numbers in parentheses."""
    return {name: int(number) for name, number in re.findall(r'([^=,]+)=[^(,]*\((\d+)\)', text)}


class Minutes:
    """The used and running minutes that slurmctld printed for associations and QOS."""

    def __init__(self, capture):
        text = capture.text('assoc_mgr.txt.xz')
        lists = r'(?:.*\n)*? +GrpTRESMins=(.*)\n +GrpTRESRunMins=(.*)$'
        found = re.findall(r'^ClusterName=.*\bID=(\d+)\n' + lists, text, re.MULTILINE)
        self.associations = {int(number): (counts(used), counts(running)) for number, used, running in found}
        found = re.findall(r'^QOS=([^(]+)\(.*\n' + lists, text, re.MULTILINE)
        self.qos = {name: (counts(used), counts(running)) for name, used, running in found}


def step_of(half_life):
    """Returns the part by which slurmctld's usage may be lower."""
    return 1.5 * math.log(2) * PERIOD / half_life if half_life else 0


def agree(seconds, minutes, step):
    """Returns whether the minutes of each TRES agree; `seconds` lacks TRES without usage."""
    return all(int(seconds.get(tres, 0) / 60 * (1 - step)) <= minutes[tres] <= int(seconds.get(tres, 0) / 60)
               for tres in TRES if tres in minutes)


def read_seconds(db):
    """Returns {id_assoc: {TRES: seconds}}."""
    found = collections.defaultdict(dict)
    for number, tres, seconds in db.execute('SELECT id_assoc, tres, usage_raw FROM fairmill_tres'):
        found[number][tres] = seconds
    return found


class Ours:
    def __init__(self, capture, folder):
        self.capture = capture
        usage = dict(tres=', '.join(TRES))
        if capture.cluster == 'iota':
            usage['time_zone'] = 'America/Phoenix'
        publish(capture.load(folder, usage=usage), capture.now)
        with sqlite3.connect(capture.results) as db:
            db.row_factory = sqlite3.Row
            self.rows = {row['id_assoc']: row for row in db.execute('SELECT * FROM fairmill_fairshare')}
            self.budgets = db.execute('SELECT * FROM fairmill_budget').fetchall()
            self.seconds = read_seconds(db)
        db.close()
        self.step = step_of(HALF_LIFE[capture.cluster])

    def name(self, number):
        return f"{self.rows[number]['account']}/{self.rows[number]['user_name']}"

    def differs_in_all(self):
        """Returns the users whose RawUsage differs (live4.t, live5.t and diff-live.t explain why), and
        all accounts above them."""
        theirs, found = self.capture.usages(), set()
        for number, row in self.rows.items():
            ours = row['usage_raw']
            if row['user_name'] and not ours * (1 - self.step) - .01 <= theirs[number] <= ours + .01:
                while number:
                    found.add(number)
                    number = self.rows[number]['parent_id']
        return found


def associations(ours, theirs):
    """Compares all associations except the users whose RawUsage differs and the accounts above them."""
    name, other = ours.capture.name, ours.differs_in_all()
    wrong = {number for number, (used, _) in theirs.associations.items() if not agree(ours.seconds[number], used, ours.step)}
    tap.same({ours.name(number) for number in wrong - other}, OTHER.get(name, set()),
             f"{name}: {len(ours.rows) - len(wrong)} of {len(ours.rows)} associations have slurmctld's minutes of all TRES, and "
             'the others have another RawUsage')


def budgets(ours, theirs):
    wrong = []
    for row in ours.budgets:
        used, running = theirs.qos[row['qos']] if row['kind'] == 'qos' else theirs.associations[row['id']]
        used, running = used[row['tres']], running[row['tres']]
        if not int(row['used_minutes'] * (1 - ours.step)) <= used <= row['used_minutes'] or running != row['running_minutes']:
            wrong.append(f"{row['kind']} {row['account']} {row['qos']}: {used} {running}, {dict(row)}")
    tap.ok(len(ours.budgets) == 3 and not wrong,
           f"{ours.capture.name}: each limit has slurmctld's used and running minutes", len(ours.budgets), *wrong)


def steps(ours, theirs):
    """Simulates the steps of slurmctld on a cluster on which nothing was reset, resized or restarted."""
    db = sqlite3.connect(ours.capture.source)
    db.row_factory = sqlite3.Row
    jobs = [dict(row) for row in db.execute(f'SELECT * FROM {ours.capture.cluster}_job_table WHERE time_start > 0')]
    numbers = {row['type'] + '/' * bool(row['name']) + row['name']: row['id'] for row in db.execute('SELECT * FROM tres_table')}
    factors = {row['id']: row['usage_factor'] for row in db.execute('SELECT * FROM qos_table')}
    db.close()
    users, wrong = [number for number, row in ours.rows.items() if row['user_name']], set()
    for tres in TRES:
        usage = stepping.stepped(jobs, lambda job: (tres_count(job['tres_alloc'], numbers[tres]) or 0) * factors[job['id_qos']],
                                 HALF_LIFE[ours.capture.cluster], PERIOD, ours.capture.now, ours.capture.now)
        wrong |= {ours.name(number) for number in users
                  if int(usage.get(number, 0) / 60) != theirs.associations[number][0][tres]}
    # A second passed between the end of a job and its record.
    tap.same(wrong, {'time/u29'}, f"{ours.capture.name}: with the steps of slurmctld, {len(users) - 1} users have the printed "
             'minutes of all TRES')


def without_limits(ours, theirs):
    counted = {number for used, running in theirs.associations.values() for number in (*used.values(), *running.values())}
    tap.same(counted, {0}, f'{ours.capture.name}: slurmctld counts no TRES, because it enforces no limits')
    tap.ok(len(ours.budgets) == 3 and ours.seconds[min(ours.rows)]['cpu'] > 60000,
           f'{ours.capture.name}: fairmill counts the usage of each TRES all the same')


def printed_by_sshare(folder):
    """Compares GrpTRESRaw of sshare on the cluster of live1.t, whose last step was at NEWEST_STEP."""
    settings, results = f'{folder}/live.conf', f'{folder}/results.db'
    dump.to_sqlite(dump.read('live1', 'accounting.sql.xz'), f'{folder}/live.db', ['live'])
    write_settings(settings, sqlite_settings(f'{folder}/live.db', results, dict(tres='cpu, mem, node, billing'), dict(
        conformance='slurmctld')) | dict(slurm=dict(conf=os.path.join(dump.DATA, 'slurm_conf', 'live1.conf'))))
    publish(settings, NEWEST_STEP)
    with sqlite3.connect(results) as db:
        seconds = read_seconds(db)
    db.close()
    with open(os.path.join(dump.DATA, 'live1', 'sshare.psv'), encoding='utf-8', newline='') as file:
        rows = {int(row['ID']): row for row in csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE)}
    minutes = {number: {name: int(count) for name, count in re.findall(r'([^=,]+)=(\d+)', row['GrpTRESRaw'])}
               for number, row in rows.items()}
    wrong = [(rows[number], seconds[number]) for number in rows if not agree(seconds[number], minutes[number], step_of(600))]
    tap.ok(len(rows) == 14 and not wrong, 'live1: GrpTRESRaw of sshare has the minutes of each TRES', *wrong)


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        printed_by_sshare(folder)
    for name in (*CAPTURES, *CAPTURES_5):
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            capture = Capture(name)
            ours, theirs = Ours(capture, folder), Minutes(capture)
            if capture.cluster == 'zeta':
                without_limits(ours, theirs)
                continue
            associations(ours, theirs)
            if name in CAPTURES_5:
                budgets(ours, theirs)
            if capture.cluster == 'theta':
                steps(ours, theirs)


tap.main(body)
