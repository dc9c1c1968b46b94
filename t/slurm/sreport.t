#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests statement --tres with a real slurmdbd, which rolls up the same jobs.  Without suspended jobs
and reservations, every cell agrees with `sreport cluster AccountUtilizationByUser'."""

import csv
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

os.environ['TZ'] = 'Europe/Berlin'  # slurmdbd uses it, too, for local days and months
time.tzset()
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from slurmdbd import Slurmdbd
from program import FAIRMILL, write_settings

RESULTS = 'fairmill_results'
# From a Monday before the end of a month to one after the end of daylight saving time on 26 October
# 2025.
FROM, TO = '2025-09-22', '2025-11-03'
ACCOUNTS = (('physics', 'root', 60), ('optics', 'physics', 'parent'), ('lasers', 'optics', 5), ('chemistry', 'root', 40),
            ('gone', 'chemistry', 3), ('wanders', 'physics', 7))
USERS = (('alice', 'physics', ''), ('alice', 'lasers', ''), ('bob', 'optics', ''), ('bob', 'optics', 'gpu'), ('carol', 'chemistry', ''),
         ('dora', 'gone', ''), ('eve', 'wanders', ''), ('finn', 'chemistry', ''), ('idle', 'lasers', ''))
TRES = '1=512,2=2000000,4=16,5=512,1001=32'


def instant(text):
    """Returns the epoch time of a local date, or date and time."""
    return int(time.mktime(time.strptime(text, '%Y-%m-%dT%H:%M' if 'T' in text else '%Y-%m-%d')))


class Site:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.conf = f'{folder}/fairmill.conf'
        self.random = random.Random(7)
        self.jobs = 0
        usage = dict(time_zone='Europe/Berlin', tres='cpu, mem, node, billing, gres/gpu')
        write_settings(self.conf, server.settings(server.accounting, RESULTS, usage))

    def sql(self, text):
        return self.server.sql(f'{self.server.LENIENT} {text}', self.server.accounting)

    def make(self):
        manage = self.server.sacctmgr
        manage('add', 'cluster', 'mill')
        for account, parent, shares in ACCOUNTS:
            manage('add', 'account', account, 'cluster=mill', f'parent={parent}', f'fairshare={shares}')
        for user, account, partition in USERS:
            manage('add', 'user', user, f'account={account}', 'cluster=mill', *([f'partition={partition}'] if partition else []))
        self.sql(f"INSERT INTO tres_table (id, type, name, creation_time) VALUES (1001, 'gres', 'gpu', 1);"
                 f'UPDATE mill_assoc_table SET creation_time = {instant(FROM)};'
                 'INSERT INTO qos_table (name, usage_factor, creation_time, description) '
                 "SELECT 'costly', 4, 1, '' FROM (SELECT 1) one WHERE NOT EXISTS (SELECT 1 FROM qos_table WHERE name = 'costly');"
                 'INSERT INTO mill_event_table (time_start, time_end, node_name, cluster_nodes, reason, reason_uid, state, tres) '
                 f"VALUES ({instant(FROM)}, 0, '', 'n[1-16]', '', 0, 0, '{TRES}')")
        self.lineage = bool(self.sql("SHOW COLUMNS FROM mill_assoc_table LIKE 'lineage'"))
        self.associations = [int(row[0]) for row in self.sql("SELECT id_assoc FROM mill_assoc_table WHERE user NOT IN ('', 'idle', 'root')")]

    def job(self, association, start, end):
        """Inserts a job as the controller would have reported it."""
        r = self.random
        self.jobs += 1
        cpus = r.choice((1, 2, 8, 16))
        gpus = r.choice(('', '', f',1001={r.randint(1, 4)}'))
        self.sql('INSERT INTO mill_job_table (job_db_inx, job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, id_group, het_job_id, '
                 'het_job_offset, cpus_req, nodes_alloc, `partition`, priority, state, state_reason_prev, time_submit, time_eligible, '
                 f"time_start, time_end, time_suspended, tres_alloc) VALUES ({self.jobs}, 'j', {association}, {self.jobs}, {r.choice((1, 2))}, "
                 f"0, 0, 0, 0, 0, 0, 1, 1, 'p', 1, 3, 0, {start - 60}, {start - 60}, {start}, {end}, "
                 f"0, '1={cpus},2={cpus * 1000},4=1,5={cpus + 3}{gpus}')")

    def use(self):
        r = self.random
        first, last = instant(FROM), instant(TO)
        for association in self.associations:
            for _ in range(25):
                start = r.randint(first, last - 3600)
                self.job(association, start, min(last + 7200, start + r.choice((30, 5000, 40000, 200000))))

    def roll_up(self):
        """Rolls up like slurmdbd does every hour, and records the time, which slurmdbd does only
        for its own rollups."""
        self.server.sacctmgr('rollup', f'{FROM}T00:00:00', f'{TO}T05:00:00', '0')
        self.sql(f"DELETE FROM mill_last_ran_table; INSERT INTO mill_last_ran_table VALUES ({instant(TO + 'T05:00')}, {instant(TO)}, "
                 f"{instant('2025-11-01')})")

    def fairmill(self, *arguments):
        done = subprocess.run([FAIRMILL, '-c', self.conf, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, cwd=self.folder, check=False)
        return done.returncode, done.stdout, done.stderr

    def stated(self, *arguments):
        status, out, err = self.fairmill('statement', '--csv', *arguments)
        if status:
            raise RuntimeError(f'{arguments}: {status} {err}')
        return list(csv.DictReader(io.StringIO(out)))

    def reported(self, since, until, *arguments):
        done = subprocess.run(['sreport', '-P', '-n', '-t', 'seconds', '-T', 'ALL', 'cluster', 'AccountUtilizationByUser', 'cluster=mill',
                               f'start={since}', f'end={until}', *arguments], env=dict(os.environ, SLURM_CONF=self.server.conf),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
        return [line.split('|') for line in done.stdout.splitlines() if line.strip()]


def cells(site, since, until, tres, *who):
    """Returns TRES-seconds of fairmill and of sreport by account and user, summed over periods and
    partitions, which sreport does not print. It prints a row for each association of a user
    with partitions. Since associations have a lineage, the first of these rows has the usage of the
    whole account."""
    ours, theirs = {}, {}
    for row in site.stated('--since', since, '--until', until, '--tres', tres, '--time', 'seconds', *who):
        key = row['account'], row['username']
        ours[key] = ours.get(key, 0) + float(row['used'])
    for _, account, user, _, name, used in site.reported(since, until, *(f'{key[2:]}={value}' for key, value in zip(who[::2], who[1::2]))):
        if name == tres:
            key = account.strip(), user
            theirs[key] = theirs.get(key, 0) + (int(used) if key not in theirs or not site.lineage else 0)
    return {key: used for key, used in ours.items() if used}, {key: used for key, used in theirs.items() if used}


def agree(site, since, until, tres, *who, least=8):
    ours, theirs = cells(site, since, until, tres, *who)
    tap.ok(len(theirs) >= least and ours == theirs, f"{since} to {until}, {tres}{''.join(' ' + word for word in who)}: every cell is sreport's",
           ours, theirs)


def body():
    if not shutil.which('sreport'):
        tap.skip_all('sreport is not installed')
    with Slurmdbd() as server, tempfile.TemporaryDirectory(prefix='fm') as folder:
        server.sql(f'CREATE DATABASE IF NOT EXISTS {RESULTS}')
        site = Site(server, folder)
        try:
            site.make()
            site.use()
            site.roll_up()
            for command in (('init',), ('run', '--cluster', 'mill', '--now', f'{TO}T05:00')):
                status, _, err = site.fairmill(*command)
                tap.ok(status == 0, f"{' '.join(command)} succeeds", status, err)
            for tres in ('cpu', 'mem', 'node', 'billing', 'gres/gpu'):
                agree(site, '2025-10-01', '2025-11-01', tres)
            for since, until in ((FROM, TO), ('2025-10-20', '2025-10-27'), ('2025-10-26', '2025-10-27')):
                agree(site, since, until, 'gres/gpu', least=4)
            agree(site, '2025-10-01', '2025-11-01', 'gres/gpu', '--accounts', 'optics,gone', least=5)
        finally:
            server.sql(f'DROP DATABASE IF EXISTS {RESULTS}')


tap.main(body)
