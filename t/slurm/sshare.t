#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests with sshare and sprio of the installed Slurm.  Its slurmctld has the usage of slurmdbd's
jobs.  Under each algorithm, every printed value agrees with the published one, and diff finds no
difference.  From Slurm 24.11 on, show --json=slurm is also compared with sshare --json."""

import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import FAIRMILL, publish, write_settings
from slurmctld import SLURMCTLD, Controller, leave_usage
from sshare_json import TRES, unexpected

# Settings of slurm.conf by algorithm.  Depth-oblivious uses siblings' values from the last decay
# cycle, and users' values from the last sshare.  It is therefore correct in the second cycle, a
# minute later.
FLAGS = dict(fair_tree={}, classic=dict(PriorityFlags='NO_FAIR_TREE'),
             depth_oblivious=dict(PriorityFlags='DEPTH_OBLIVIOUS', PriorityCalcPeriod=1))
# Number of algorithms to test.
ALGORITHMS = int(os.environ.get('FAIRMILL_SITES') or len(FLAGS))
PRIORITY = dict(PriorityDecayHalfLife=0, PriorityUsageResetPeriod='NONE', PriorityWeightFairshare=100000,
                PriorityWeightQOS=3000, PriorityWeightPartition=2000, PriorityWeightJobSize=1000)

# Account, parent, shares.  Two pairs are tied, and there are no shares for `none` and no usage for `idle`.
ACCOUNTS = (('physics', 'root', 60), ('optics', 'physics', 'parent'), ('lasers', 'optics', 3), ('astro', 'physics', 20),
            ('chemistry', 'root', 40), ('east', 'chemistry', 5), ('west', 'chemistry', 5), ('idle', 'root', 10),
            ('none', 'root', 0), ('twin', 'root', 7), ('win', 'root', 7))
# User, account, shares, seconds of one processor, and further properties of the association.
USERS = (('daemon', 'physics', 10, 40000), ('bin', 'optics', 'parent', 3000), ('sys', 'lasers', 1, 777), ('games', 'lasers', 2, 0),
         ('daemon', 'astro', 4, 12345), ('bin', 'astro', 'parent', 1), ('sys', 'east', 1, 5000), ('sys', 'west', 1, 5000),
         ('games', 'chemistry', 3, 60000), ('games', 'chemistry', 2, 9, 'partition=main'), ('bin', 'idle', 1, 0),
         ('daemon', 'idle', 1, 0), ('bin', 'none', 0, 250), ('daemon', 'none', 5, 0), ('mail', 'twin', 1, 600),
         ('mail', 'win', 1, 600), ('news', 'twin', 1, 0), ('news', 'win', 1, 0))


def make(server):
    server.sacctmgr('add', 'cluster', 'mill')
    server.sacctmgr('modify', 'qos', 'normal', 'set', 'priority=30')
    for name, parent, shares in ACCOUNTS:
        server.sacctmgr('add', 'account', name, 'cluster=mill', f'parent={parent}', f'fairshare={shares}')
    for user, account, shares, _, *more in USERS:
        server.sacctmgr('add', 'user', user, f'account={account}', 'cluster=mill', f'fairshare={shares}', *more)
    start = int(time.time()) - 100000
    for user, account, _, seconds, *more in USERS:
        if seconds:
            partition = more[0].partition('=')[2] if more else ''
            server.job('mill', f"user = '{user}' AND acct = '{account}' AND `partition` = '{partition}'", start, seconds, 1)
    return {int(number): int(seconds) for number, seconds in server.sql(
        'SELECT id_assoc, sum(time_end - time_start) FROM mill_job_table GROUP BY id_assoc', server.accounting)}


def sshare(controller):
    """Returns sshare's output, as text and as rows."""
    text = controller.call('sshare', '-alPm')
    return text, list(csv.DictReader(text.splitlines(), delimiter='|', quoting=csv.QUOTE_NONE))


def computed(controller, before=None):
    """Returns sshare's output once the controller has computed it and it differs from `before`."""
    def said():
        text, rows = sshare(controller)
        new = text != before and any(float(row['EffectvUsage'] or 0) and float(row['FairShare'] or 0)
                                     for row in rows if row.get('User'))
        return (text, rows) if new else None
    return tap.until(said, every=.2) or sshare(controller)


def as_printed(value):
    """Formats a value with the digits that sshare prints."""
    if value is None:
        return ''
    return 'inf' if value >= 1e100 else f'{value:.6f}'


def ours(results):
    """Returns {(account, user, partition): {heading: text}}."""
    with sqlite3.connect(results) as db:
        db.row_factory = sqlite3.Row
        rows = db.execute('SELECT s.*, f.partition_name FROM fairmill_sshare s JOIN fairmill_fairshare f '
                          'USING (cluster, id_assoc)').fetchall()
    db.close()
    found = {}
    for row in rows:
        found[row['account'], row['username'] or '', row['partition_name'] or ''] = dict(
            RawShares=str(row['rawshares']), RawUsage=str(int(row['rawusage'])),
            **{heading: as_printed(row[heading.lower()]) for heading in ('NormShares', 'NormUsage', 'EffectvUsage', 'FairShare',
                                                                          'LevelFS')})
    return found


def values(controller, folder, settings, algorithm):
    text, theirs = computed(controller)
    if algorithm == 'depth_oblivious':
        text, theirs = computed(controller, before=text)
    publish(settings, int(time.time()), '--replace')
    mine = ours(f'{folder}/results.db')
    names = {(row['Account'].strip(), row['User'], row['Partition']) for row in theirs}
    tap.same(set(mine), names, f'{algorithm}: sshare lists every association')
    wrong, compared = [], 0
    for row in theirs:
        whose = row['Account'].strip(), row['User'], row['Partition']
        for heading, value in mine.get(whose, {}).items():
            # sshare prints almost no values for root.
            if row.get(heading) and (heading == 'RawUsage' or whose[0] != 'root'):
                compared += 1
                if row[heading] != value:
                    wrong.append(f'{whose}: {heading} is {row[heading]}, ours {value}')
    tap.ok(not wrong and compared >= 5 * len(theirs),
           f'{algorithm}: {compared} values of sshare agree with the published ones',
           *wrong)
    no_difference(settings, text, f'{folder}/print', f'{algorithm}: diff finds no difference to sshare')
    if controller.release >= (24, 11):
        as_json(controller, settings, algorithm)


def as_json(controller, settings, algorithm):
    """Compares all keys, except that leave_usage() leaves no usage by TRES."""
    theirs = json.loads(controller.call('sshare', '-a', '--json=v0.0.42'))
    done = subprocess.run([FAIRMILL, '-c', settings, 'show', '-a', '--json=slurm'], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    known = list(TRES)
    # Slurm 24.11 writes 0 for each factor without Fair Tree.
    if not any(row['fairshare']['factor']['number'] for row in theirs['shares']['shares']):
        known.append('shares.shares[].fairshare.factor.number')
    tap.same(len(known) > len(TRES), algorithm != 'fair_tree' and controller.release == (24, 11),
             f'{algorithm}: sshare --json has factors, except for a fault of 24.11')
    found = unexpected(theirs, json.loads(done.stdout), 1e-9, known)
    tap.ok(not found and len(theirs['shares']['shares']) == len(ACCOUNTS) + len(USERS) + 2,
           f'{algorithm}: show --json=slurm has the keys, types, values and order of sshare --json', done.stderr, *found)


def no_difference(settings, text, path, statement):
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    done = subprocess.run([FAIRMILL, '-c', settings, 'diff', '--json', path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    causes = json.loads(done.stdout)['clusters'][0]['causes'] if not done.returncode else []
    tap.ok(causes and not any(value for cause in causes for name, value in cause.items() if name not in ('cause', 'meaning')),
           statement, done.stdout, text)


def submit(controller):
    """Submits a pending job of each user in each account."""
    for user, account, *_ in USERS:
        controller.submit(user, account, '-n', '2')
    tap.until(lambda: controller.server.sql('SELECT count(*) FROM mill_job_table WHERE time_end = 0',
                                            controller.server.accounting) == [[str(len(USERS))]], every=.2)


def priorities(controller, folder, settings, algorithm):
    publish(settings, int(time.time()), '--replace')
    time.sleep(1)  # a decay cycle updates jobs after associations
    text = controller.call('sprio', '-l')
    tap.same(len(text.splitlines()), 1 + len(USERS), f'{algorithm}: sprio lists all jobs')
    no_difference(settings, text, f'{folder}/print', f'{algorithm}: diff finds no difference to sprio')


def body():
    if not SLURMCTLD or os.geteuid():
        tap.skip_all('only root can submit jobs for other users' if SLURMCTLD else 'slurmctld is not installed')
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Slurmdbd() as server:
        usage = make(server)
        settings = f'{folder}/fairmill.conf'
        write_settings(settings, dict(
            source=dict(driver='mysql', socket=server.socket, user='root', database=server.accounting, clusters='mill'),
            results=dict(driver='sqlite', database=f'{folder}/results.db'),
            usage=dict(tres='cpu, mem, energy, node, billing, fs/disk, vmem, pages'),
            slurm=dict(conf=server.conf), fairshare=dict(conformance='slurmctld')))
        with Controller(server, folder, **PRIORITY):
            pass
        leave_usage(folder, usage)
        for algorithm, flags in list(FLAGS.items())[:ALGORITHMS]:
            with Controller(server, folder, **PRIORITY | flags) as controller:
                values(controller, folder, settings, algorithm)
                if algorithm == 'fair_tree':
                    submit(controller)
                priorities(controller, folder, settings, algorithm)


tap.main(body)
