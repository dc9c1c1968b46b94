#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests a source whose job table is distributed over three PostgreSQL servers, as in
doc/scaling.md: one local partition, and two that postgres_fdw reads.  The results must be identical
to the results of a single server."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from compare import differences, from_sqlite
from postgres import NewPostgres, program
from program import FAIRMILL, TOP, fairmill, write_settings

NOW = 1750500000
HOUR = 3600
JOBS = 3000
READER = 'fairmill_reader'


def blocks():
    """Returns the blocks of SQL in doc/scaling.md.  The first is for the other servers, the second
    for the server that fairmill reads."""
    with open(os.path.join(TOP, 'doc', 'scaling.md'), encoding='utf-8') as file:
        return re.findall(r'^```sql\n(.*?)^```$', file.read(), re.DOTALL | re.MULTILINE)


def draw(path):
    """Draws a few users.  Most of their jobs ended long ago, some recently, and some are still
    running."""
    site = site_drawing.Site()
    cluster = site.cluster('c1')
    cluster.account('root', '')
    users = []
    for account in ('physics', 'chemistry', 'biology'):
        cluster.account(account, 'root', shares=len(account))
        users += [cluster.user(f'{account}{n}', account, shares=n + 1) for n in range(5)]
    for n in range(JOBS):
        start = NOW - (JOBS - n) * HOUR // 2
        end = 0 if n % 97 == 5 else start + 600 + n * 37 % 30000
        job = cluster.job(users[n % len(users)], start, 0 if end >= NOW else end, billing=n % 11, cpu=n % 7)
        if n % 50 == 0:
            cluster.suspend(job, start + 10, start + 300)
    site.write(path)


class Servers:
    """On the first server, the database `whole` contains all jobs.  Its database `acct` contains a
    third of the jobs, and reads the others from the other servers."""

    def __init__(self, *parts):
        self.parts = parts

    def fill(self, path):
        head = self.parts[0]
        for name in ('whole', 'acct'):
            head.copy_sqlite(path, name, ['c1'])
        on_other, on_head = blocks()[:2]
        if int(head.sql('SHOW server_version_num', 'acct')[0][0]) < 140000:
            on_head = on_head.replace(", async_capable 'true'", '')
        for number, other in enumerate(self.parts[1:], 2):
            other.database('acct')
            other.sql(self.table(head), 'acct')
            other.sql(on_other, 'acct')
            # pg_hba.conf requires a password from members of this role.  postgres_fdw needs a
            # server that asks for one.
            other.sql(f'CREATE ROLE locked; GRANT locked TO {READER}', 'acct')
            on_head = on_head.replace(f'db{number}.example.org', other.socket)
        head.sql(f'CREATE ROLE {READER} LOGIN', 'acct')
        head.sql(on_head, 'acct')
        head.sql(f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}', 'acct')

    @staticmethod
    def table(head):
        """Returns the SQL that creates the job table, without its rows."""
        dump = program('pg_dump')
        return subprocess.run([dump, f'--host={head.socket}', f'--port={head.port}', '--username=postgres',
                               '--schema-only', '--no-owner', '--table=c1_job_table', 'acct'],
                              stdout=subprocess.PIPE, text=True, check=True).stdout

    def everywhere(self, text):
        """Executes SQL in both databases."""
        for name in ('whole', 'acct'):
            self.parts[0].sql(text, name)


class Rig:
    def __init__(self, folder, servers):
        self.folder, self.servers = folder, servers
        self.write('one', 'whole')
        self.write('parts', 'acct', user=READER)

    def write(self, name, database, **more):
        source = dict(self.servers.parts[0].connection(database), **more)
        write_settings(f'{self.folder}/{name}.conf', dict(
            source=source, results=dict(driver='sqlite', database=f'{self.folder}/{name}.db'),
            usage=dict(half_life='7-0', suspended='omitted')))

    def run(self, name, *arguments):
        return fairmill(f'{self.folder}/{name}.conf', *arguments)

    def kind(self, name):
        db = sqlite3.connect(f'{self.folder}/{name}.db')
        try:
            return db.execute('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1').fetchone()[0]
        finally:
            db.close()

    def same(self, now, kind, statement, *arguments):
        said = [self.run(name, 'run', '--now', now, *arguments) for name in ('one', 'parts')]
        tap.ok([status for status, _, _ in said] == [0, 0], f'{statement}: both runs succeed', *said)
        tap.same([self.kind(name) for name in ('one', 'parts')], [kind, kind], f'{statement}: both runs are {kind}')
        wrong, compared = differences(from_sqlite(f'{self.folder}/parts.db'), from_sqlite(f'{self.folder}/one.db'))
        tap.ok(not wrong and compared > 300, f'{statement}: all {compared} values are identical', *wrong[:5])


def reads(rig, servers):
    for name in ('one', 'parts'):
        rig.run(name, 'init')
    counts = [part.sql(f'SELECT count(*) FROM {table}', 'acct')[0][0] for part, table in
              zip(servers.parts, ('c1_job_1', 'c1_job_table', 'c1_job_table'))]
    tap.same(counts, ['999', '1000', '1001'], 'each server contains a third of the jobs')
    rig.same(NOW, 'full', 'the first run')
    rig.same(NOW + 10, 'incremental', 'the second run')
    servers.everywhere(
        f"UPDATE c1_job_table SET time_end = {NOW + 20} WHERE job_db_inx IN (6, 1170, 2916);"
        'INSERT INTO c1_job_table SELECT (jsonb_populate_record(j, jsonb_build_object('
        f"'job_db_inx', {JOBS} + n, 'id_job', {JOBS} + n, 'time_start', {NOW} + n, 'time_end', 0, "
        "'tres_alloc', '5=' || n))).* FROM c1_job_table j, generate_series(1, 3) n WHERE j.job_db_inx = 11")
    rig.same(NOW + HOUR, 'incremental', 'a run after changes on each of the servers')
    rig.same(NOW + HOUR, 'full', 'a full run of the same jobs', '--full')
    status, out, err = rig.run('parts', 'check')
    tap.ok(status == 0, '`fairmill check` reports no problem', out, err)


def writes_nothing(rig, servers):
    head, other = servers.parts[:2]
    changes = 'SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables'
    before = other.sql(changes, 'acct')
    rig.run('parts', 'run', '--now', NOW + HOUR, '--full')
    tap.same(other.sql(changes, 'acct'), before, 'a run changes no rows on the other servers')
    try:
        head.sql('SET ROLE ' + READER + '; UPDATE c1_job_2 SET time_end = 1', 'acct')
        said = 'the UPDATE succeeded'
    except RuntimeError as refusal:
        said = str(refusal)
    tap.ok('permission denied' in said or 'read-only' in said, 'the role of the runs may not write on the other servers', said)


def ends_in_time(rig, servers):
    """A run does not wait for a locked table of another server longer than its deadline."""
    other = servers.parts[2]
    rig.write('late', 'acct', user=READER, deadline='2 s')
    rig.run('late', 'init')
    holder = subprocess.Popen(other.client('acct'), stdin=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL)
    holder.stdin.write('BEGIN; LOCK TABLE c1_job_table; SELECT 1;\n')
    holder.stdin.flush()
    while other.sql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted", 'acct') == [['0']]:
        time.sleep(.05)
    began = time.monotonic()
    status, _, err = rig.run('late', 'run')
    tap.ok(status == 69 and time.monotonic() - began < 30, 'a table locked on another server: the run exits with 69 in time', status, err,
           time.monotonic() - began)
    holder.stdin.close()
    holder.wait()
    status, _, err = rig.run('late', 'run')
    tap.ok(status == 0, 'the next run publishes', err)


def server_dies(rig, servers):
    os.kill(servers.parts[2].pid, 2)
    status, _, err = rig.run('late', 'run')
    tap.ok(status == 69 and 'could not connect to server' in err, 'a run without one of the servers exits with 69', status, err)


def body():
    with NewPostgres() as head, NewPostgres() as second, NewPostgres() as third, \
            tempfile.TemporaryDirectory(prefix='fm') as folder:
        servers = Servers(head, second, third)
        draw(f'{folder}/a.db')
        servers.fill(f'{folder}/a.db')
        rig = Rig(folder, servers)
        reads(rig, servers)
        writes_nothing(rig, servers)
        ends_in_time(rig, servers)
        server_dies(rig, servers)


tap.main(body)
