#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests runs while MariaDB, or the connection to it, fails at every step of a run, for either
database.  Each run ends in time with the right status.  Results are complete old or new ones, and
fairmill_run is correct.  The next run succeeds without help.

By default it tests a few dozen steps, and with FAIRMILL_LONG=1 every step.
FAIRMILL_RELIABILITY=FILE appends the rows of doc/reliability.md to a file."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import tap
from fault_cases import (DEADLINE, DONE, PATIENT, Case, EveryStep, altered, apart, between, big_fails, database_of,
                         ended, ends, for_good, ledger_commits, locked, lost_commits, never_written, on, tables_dropped,
                         try_all, verifications, waits_in_vain, whole_server)
from faults import RIGS, Report, Rig, at_once
from mariadb import IS_MYSQL, NewServer, Server
from protocol import Mysql
from proxy import Fault, no_fault, sql
from server import Session

# The first read of the table, which locks its definition from then on, and the query of running
# jobs.  All jobs here still run.
JOB_TABLE = r'FROM "big_job_table"'
JOBS = r'"partition", j\."time_eligible" FROM "big_job_table"'
ASSOCIATIONS = r'FROM "big_assoc_table"'
WRITE = r'INSERT INTO "fairmill_value"'
CLEAR = r'DELETE .*FROM "fairmill_value"'
FENCE = r'SET "run_id" = \?'
COUNTER = r'SET "run_id" = "run_id" \+ 1'
SETTINGS = r'FROM "fairmill_settings"'
RECORD = r'INSERT INTO "fairmill_run"'
PRUNE = r'MIN\("as_of"\) FROM "fairmill_history_point"'
UNLOCK = r'RELEASE_LOCK'

# The kind of message that contains rows: MariaDB's library sends arrays to MariaDB.  Other
# combinations do not.
ROWS = 'bulk'
# Steps of the short form: kind, SQL, number among several, and whether every fault is tested.
SHORT = {
    'source': (('connect', None, 0, True), ('login', None, 0, True), ('query', 'SET NAMES', 0, False),
               ('execute', 'lock_wait_timeout', 0, False), ('execute', '@@datadir', 0, True),
               ('execute', 'cluster_table', 0, False), ('query', 'START TRANSACTION', 0, False),
               ('execute', 'column_name', 2, False), ('execute', 'qos_table', 0, False),
               ('execute', ASSOCIATIONS, 0, False), ('prepare', JOBS, 0, False),
               ('execute', JOBS, 0, True), ('query', 'COMMIT', 0, False), ('quit', None, 0, False)),
    'results': (('connect', None, 0, True), ('login', None, 0, False),
                ('execute', 'fairmill_schema', 0, False), ('execute', 'GET_LOCK', 0, True),
                ('execute', COUNTER, 0, False), ('execute', SETTINGS, 0, False),
                ('execute', FENCE, 0, False), ('execute', CLEAR, 0, False),
                ('prepare', WRITE, 0, False), (ROWS, WRITE, 0, True), (ROWS, RECORD, 0, False),
                ('query', 'COMMIT', 0, True), ('execute', PRUNE, 0, True), ('execute', UNLOCK, 0, True), ('quit', None, 0, False)),
}

report = Report()


def deadlocked(rig):
    """fairmill has the fence and waits for the rows.  The other session has the rows, more to undo,
    and waits for the fence.  The server aborts fairmill's transaction."""
    def last_deadlock():
        """Returns the time and place of the last deadlock, which MariaDB 10.5 does not count."""
        status, = [row[-1] for row in rig.server.sql('SHOW ENGINE INNODB STATUS')]
        return status.partition('LATEST DETECTED DEADLOCK')[2].partition('*** (1)')[0]
    rig.server.sql('DROP TABLE IF EXISTS heavy; CREATE TABLE heavy (n INT PRIMARY KEY) ENGINE=InnoDB', rig.results)
    with Session(rig.server, rig.results) as session:
        session.do('SET innodb_lock_wait_timeout = 30; BEGIN; '
                   f'INSERT INTO heavy SELECT n FROM {rig.server.numbers(20000)}; '
                   "SELECT count(*) FROM fairmill_value WHERE cluster = 'big' FOR UPDATE")

        def cross():
            session.send("UPDATE fairmill_lock SET run_id = run_id WHERE cluster = 'big'; ROLLBACK")
            time.sleep(.4)
        before = last_deadlock()
        outcome = rig.disturbed(results=[Fault('hold', sql(CLEAR), meanwhile=cross)], deadline=PATIENT)
        session.wait()
    if last_deadlock() == before:
        outcome.wrong.append('there was no deadlock')
    rig.server.sql('DROP TABLE heavy', rig.results)
    return outcome


def nobody_lets_in():
    """A library may wait for the greeting only as long as for a connection."""
    return Case('source, no response to the login: 69 after the deadline',
                on('source', Fault('stall', lambda step: step.kind == 'login', for_good=True), 10),
                ends(69, 'old', database_of('source')), 'connection stalled', 'source, before a message',
                most=14, first=True)


def other_sessions():
    """Returns cases in which other sessions of the server disturb fairmill's sessions."""
    hold = 'BEGIN; SELECT count(*) FROM fairmill_value FOR UPDATE'
    waited = waits_in_vain('Lock wait timeout', 'max_statement_time')

    def altered_away(outcome):
        return outcome.status == 69 and 'big_job_table' in outcome.said and outcome.published['big'] == 'old'

    def change(text, back='', deadline=DEADLINE):
        return altered(text, JOB_TABLE, 'prepare', back, deadline)
    table = [
        ('KILL CONNECTION while jobs are read', 'source', 'retried', ended('source', 'end_session', JOBS, answer=20000), DONE),
        ('KILL QUERY while jobs are read', 'source', 'retried', ended('source', 'end_statement', JOBS, answer=20000), DONE),
        ('KILL CONNECTION before a run_id is taken', 'results', 'retried', ended('results', 'end_session', COUNTER), DONE),
        ('KILL CONNECTION before the rows are written', 'results', 'retried', ended('results', 'end_session', WRITE), DONE),
        ('KILL CONNECTION before COMMIT', 'results', 'retried', ended('results', 'end_session', '^COMMIT'), DONE),
        ('deadlock, fairmill is the victim', 'results', 'retried', deadlocked, DONE),
        ('rows locked for a second by another session', 'results', 'waited for', locked(hold, 1.2, PATIENT), DONE),
        ('rows locked by another session', 'results', '69 in time', locked(hold), waited),
        ('row of the run counter locked by another session', 'results', '69 in time',
         locked("BEGIN; SELECT * FROM fairmill_lock WHERE cluster = '' FOR UPDATE"), waited),
        ('LOCK TABLES of another session', 'results', '69 in time', locked('LOCK TABLES fairmill_value WRITE'), waited),
        ('job table altered between check and read', 'source', 'retried',
         change('ALTER TABLE big_job_table ADD COLUMN fresh INT, ALGORITHM=COPY', deadline=PATIENT), DONE),
        ('column removed between check and read', 'source', '69 for that cluster, with the name of the table',
         change('ALTER TABLE big_job_table RENAME COLUMN tres_alloc TO other',
                'ALTER TABLE big_job_table RENAME COLUMN other TO tres_alloc'), altered_away),
        ('job table removed between check and read', 'source', '69 for that cluster, with the name of the table',
         change('RENAME TABLE big_job_table TO away', 'RENAME TABLE away TO big_job_table'), altered_away),
    ]
    return [Case(f'{what}: {how}', piece, good, what, where, most=40, first=True)
            for what, where, how, piece, good in table]


def taken_away():
    """Returns cases in which something is removed between two runs, and restored."""
    return [Case('INSERT on the results revoked: 78 with the missing GRANT',
                 between(lambda rig: rig.server.deny(faults.WRITER, 'INSERT', rig.results),
                         lambda rig: rig.server.allow(faults.WRITER, 'INSERT', rig.results)),
                 ends(78, 'old', 'GRANT SELECT, INSERT, UPDATE, DELETE ON'),
                 'INSERT revoked', 'results, between runs')] + tables_dropped()


def source_grants(rig):
    """Tests the source's privileges alone, because all rigs read one source."""
    def take(_):
        rig.server.deny(faults.READER, 'SELECT', faults.SOURCE)
        for name in rig.server.tables(faults.SOURCE):
            if name != 'big_job_table':
                rig.server.allow(faults.READER, 'SELECT', faults.SOURCE, name)
    case = Case('SELECT on one job table revoked: 78 with the missing GRANT, and the other cluster succeeds',
                between(take, lambda _: rig.server.allow(faults.READER, 'SELECT', faults.SOURCE), 'source'),
                big_fails(78, 'GRANT SELECT', 'big_job_table'),
                'SELECT on a job table revoked', 'source, between runs')
    case.judge(case(rig), report)


class OwnMariadb(NewServer):
    """A server whose data has no space to grow.  A commit is passed to the operating system before
    the response, so that it survives a kill."""

    def __init__(self):
        # The undo log needs space in the same file, too.  From MariaDB 11.0 on, it has its own
        # files by default.
        undo = () if IS_MYSQL else ('--innodb-undo-tablespaces=0',)
        super().__init__('--innodb-file-per-table=0', '--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=64M', *undo)

    def __enter__(self):
        """Limits the initial file to its size; a second file provides all available space."""
        super().__enter__()
        self.end()
        size = os.path.getsize(f'{self.folder}/data/ibdata1') >> 20
        self.files = f'--innodb-data-file-path=ibdata1:{size}M;ibdata2:64M'
        self.options += (self.files,)
        self.start()
        return self

    def start_with_room(self):
        self.options += (f'{self.files}:autoextend',)
        self.start()


def own_server(folder):
    """Returns cases with a server of their own, which is killed, stopped, reconfigured and filled,
    and their outcomes."""
    with OwnMariadb() as server:
        faults.draw(server)
        rig = Rig(server, folder, 'own')
        cases = whole_server(server, [
            ('source', JOBS, 20000), ('results', WRITE, 0), ('results', '^COMMIT', None),
            ('source', ASSOCIATIONS, None), ('results', FENCE, 0), ('results', CLEAR, None),
            ('results', '^COMMIT', 0), ('results', 'GET_LOCK', 0), ('results', COUNTER, 0),
            ('results', RECORD, 0)])
        for name, value, usual, status, said in (
                ('max_allowed_packet', 16384, 16777216, 0, ''), ('max_allowed_packet', 1024, 16777216, 0, ''),
                ('read_only', 1, 0, 69, 'read-only')):
            cases.append(Case(f'{name} = {value}: ' + ('69' if status else 'smaller batches succeed'),
                              server_set(server, name, value, usual),
                              ends(status, 'old' if status else 'new', said), f'{name} = {value}', 'server'))
        cases.append(Case('no free connection: 69', crowded(server), ends(69, '', 'onnections'),
                          'max_connections reached', 'server'))
        # One of the clusters may find space in existing pages.
        cases.append(Case('no space for the results: 69 with the reason', filled(server),
                          lambda outcome: ends(69, None, 'full')(outcome) and 'old' in outcome.published.values(),
                          'no space in the data file', 'results'))
        return [(case, case(rig)) for case in cases]


def server_set(server, name, value, usual):
    return between(lambda _: server.sql(f'SET GLOBAL {name} = {value}'),
                   lambda _: server.sql(f'SET GLOBAL {name} = {usual}'))


def crowded(server):
    def piece(rig):
        server.sql('SET GLOBAL max_connections = 10')
        others = [Session(server) for _ in range(10)]
        for session in others:
            session.do('DO 0')
        outcome = rig.disturbed(results=[no_fault()], deadline=DEADLINE, judge=False)
        for session in others:
            session.close()
        server.sql('SET GLOBAL max_connections = 151')
        return outcome
    return piece


def fits(server, database, rows, size):
    """Fills the space with rows of this size; returns whether there was space for any.  Rows fit
    into a page, because MariaDB 11.8 stops itself if it has no space for larger values."""
    for count in range(200):
        try:
            server.sql(f"INSERT INTO filler (b) SELECT REPEAT('x', {size}) FROM {server.numbers(rows)}", database)
        except RuntimeError as full:
            if 'is full' not in str(full):
                raise
            return count > 0
    raise ValueError('the space does not end')


def filled(server):
    def piece(rig):
        server.sql('CREATE TABLE filler (id INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB) ENGINE=InnoDB', rig.results)
        # Space that the server purges later would be available to the run.
        while True:
            if IS_MYSQL: # MySQL does not report when it is done
                time.sleep(2)
            else:
                server.sql('SET GLOBAL innodb_max_purge_lag_wait = 0')
            if not any([fits(server, rig.results, *rows) for rows in ((100, 7000), (10, 7000), (1, 7000), (1, 1000))]):
                break
        # A new day needs rows of its own.  Rows of the day before would fit into the space of the
        # old rows.
        rig.now += 86400
        outcome = rig.disturbed(results=[no_fault()], deadline=DEADLINE)
        # A completely full file cannot be emptied, so the administrator adds space.
        server.kill()
        server.start_with_room()
        return outcome
    return piece


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Server() as server:
        of_own_server = apart(lambda: own_server(folder))
        faults.draw(server)
        before = server.checksums(faults.SOURCE)
        if len(before) < 10 or all(row[1] == '0' for row in before):
            raise RuntimeError(before)
        first = Rig(server, folder, '0')
        rigs = [first] + at_once([lambda _, n=number: Rig(server, folder, str(n)) for number in range(1, RIGS)],
                                 [None] * 4)
        outcome = first.disturbed(source=[no_fault()], results=[no_fault()])
        tap.ok(DONE(outcome) and not outcome.wrong and all(outcome.fired),
               'a run through the proxy is like any other', outcome, *outcome.wrong)
        if not any(step.kind == ROWS for step in first.steps[1]):
            SHORT['results'] = tuple(('execute' if kind == ROWS else kind, *rest) for kind, *rest in SHORT['results'])
        each = EveryStep(Mysql, SHORT, (JOBS, 'execute'), RECORD, UNLOCK, unanswered=('close',))
        cases = each.at_steps('source', first.steps[0]) + each.amid_jobs(first.steps[0])
        cases += each.at_steps('results', first.steps[1])
        cases += for_good(dict(source=(ASSOCIATIONS, JOBS), results=(COUNTER, CLEAR, WRITE)))
        cases += lost_commits() + other_sessions() + taken_away() + [nobody_lets_in()]
        try_all(cases, rigs, report)
        source_grants(first)
        verifications(first)
        ledger_commits(first)
        for case, outcome in of_own_server():
            case.judge(outcome, report)
        never_written(server, faults.SOURCE, before, rigs,
                      ('SELECT', 'SET', 'SHOW', 'START', 'COMMIT', 'ROLLBACK', 'KILL'))
    report.write()


tap.main(body)
