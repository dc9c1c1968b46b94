#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""slurmdbd does not feel us: while its rows are written and fairmill runs every two seconds, none of
our connections ever blocks another; and a fairmill that is stopped amid a transaction does not
hold up an ALTER TABLE for longer than our time limits.

15 seconds; ten minutes with FAIRMILL_LONG=1."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import tap
from faults import LONG, NOW, Report, Rig, at_once
from mariadb import Server, Session
from program import FAIRMILL
from proxy import Fault, sql

SOURCE = 'harmless_acct'
SECONDS = 600 if LONG else 15
RUN_EVERY = 2
SAMPLE_EVERY = .1
JOBS = {'big': 100000, 'small': 25}
MANY = {'big': 100000, 'small': 25}
BLOCKER = 'harmless_blocker'
# net_write_timeout and idle_readonly_transaction_timeout of our sessions are 10 seconds.
LIMIT = 10

report = Report()


class Sampler(threading.Thread):
    """Looks again and again who holds and who waits; `user` is whom we suspect."""

    LOOK = f"""
        SELECT 'blocks', b.trx_mysql_thread_id, ''
        FROM information_schema.innodb_lock_waits w
        JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
        UNION ALL
        SELECT 'holds', thread_id, CONCAT(lock_mode, ' ', table_name)
        FROM information_schema.metadata_lock_info WHERE table_schema = '{SOURCE}'
        UNION ALL
        SELECT 'waits', id, CONCAT(user, ' ', state)
        FROM information_schema.processlist
        WHERE state LIKE 'Waiting for%' AND db = '{SOURCE}'
        UNION ALL
        SELECT 'is', id, user FROM information_schema.processlist WHERE db = '{SOURCE}'"""

    def __init__(self, server, user):
        super().__init__(daemon=True)
        self.server, self.user = server, user
        self.over = threading.Event()
        self.samples = self.held = 0
        self.blocked_rows, self.blocked_tables, self.problems = [], [], []

    def run(self):
        try:
            with Session(self.server) as session:
                while not self.over.wait(SAMPLE_EVERY):
                    self.look([line.split('\t') for line in session.do(self.LOOK)])
        except Exception as problem:  # pylint: disable=broad-except
            self.problems.append(problem)

    def look(self, rows):
        if any(len(row) != 3 for row in rows):
            raise ValueError(rows)
        ours = {row[1] for row in rows if row[0] == 'is' and row[2] == self.user}
        holds = [row for row in rows if row[0] == 'holds' and row[1] in ours]
        waits = [row for row in rows if row[0] == 'waits' and row[1] not in ours]
        self.samples += 1
        self.held += bool(holds)
        self.blocked_rows += [row for row in rows if row[0] == 'blocks' and row[1] in ours]
        if holds and waits:
            self.blocked_tables.append((holds, waits))

    def stop(self):
        self.over.set()
        self.join()
        if self.problems:
            raise self.problems[0]


class Writer(threading.Thread):
    """Writes as slurmdbd does: a job starts, an older one ends, the hour's use is added up."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.over = threading.Event()
        self.written, self.longest, self.problems = 0, 0, []

    def run(self):
        with Session(self.server, SOURCE) as session:
            session.do("SET sql_mode = ''")
            number = JOBS['big']
            while not self.over.is_set():
                number += 1
                began = time.monotonic()
                said = session.do(
                    'BEGIN; INSERT INTO big_job_table (id_job, id_assoc, id_qos, time_submit, time_start, tres_alloc, account) '
                    f"VALUES ({number}, {2000 + number % 600}, 1, {NOW}, {NOW}, '1=1,5=2', 'a') "
                    'ON DUPLICATE KEY UPDATE time_start = VALUES(time_start); '
                    f'UPDATE big_job_table SET time_end = {NOW + 60}, state = 3 WHERE id_job = {number - 5000}; '
                    'INSERT INTO big_assoc_usage_hour_table (creation_time, id, id_tres, time_start, alloc_secs) '
                    f'VALUES (1, {2000 + number % 600}, 5, {NOW}, 60) '
                    'ON DUPLICATE KEY UPDATE alloc_secs = alloc_secs + VALUES(alloc_secs); COMMIT')
                self.longest = max(self.longest, time.monotonic() - began)
                self.written += 1
                if said:
                    self.problems += said
                self.over.wait(.01)

    def stop(self):
        self.over.set()
        self.join()


def sampler_sees(server):
    """What we look for would be found: another session that does block is named."""
    server.sql(f'CREATE OR REPLACE USER {BLOCKER}@localhost; GRANT ALL ON {SOURCE}.* TO {BLOCKER}@localhost')
    sampler, writer = Sampler(server, BLOCKER), Writer(server)
    sampler.start()
    writer.start()
    as_blocker = [f'--user={BLOCKER}' if word.startswith('--user=') else word for word in server.client(SOURCE)]

    class Blocking(Server):
        @staticmethod
        def client(_):
            return as_blocker
    with Session(Blocking) as session:
        session.do('BEGIN; UPDATE big_job_table SET state = 3 WHERE id_job > 90000')
        time.sleep(.5)
        session.do('ROLLBACK; LOCK TABLES big_job_table READ')
        time.sleep(.5)
        session.do('UNLOCK TABLES')
    writer.stop()
    sampler.stop()
    tap.ok(sampler.blocked_rows and sampler.blocked_tables,
           'a session that blocks rows, and one that blocks a table, is found by looking',
           sampler.samples, len(sampler.blocked_rows), len(sampler.blocked_tables), *writer.problems)


def never_blocks(server, rig):
    sampler, writer = Sampler(server, faults.READER), Writer(server)
    sampler.start()
    writer.start()
    end = time.monotonic() + SECONDS
    runs, wrong = 0, []
    while time.monotonic() < end:
        next_one = time.monotonic() + RUN_EVERY
        done = subprocess.run([FAIRMILL, '-c', rig.conf, 'run'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        runs += 1
        if done.returncode or done.stdout:
            wrong.append(f'run {runs} ended with {done.returncode}: {done.stdout.decode()}')
        time.sleep(max(0, next_one - time.monotonic()))
    writer.stop()
    sampler.stop()
    tap.ok(not wrong and runs >= SECONDS // RUN_EVERY // 2, f'{runs} runs beside a busy writer end well', *wrong)
    tap.ok(not writer.problems and writer.written > 10 * SECONDS and writer.longest < 5,
           f'{writer.written} transactions were written meanwhile, and none waited long',
           f'the longest took {writer.longest:.3f} s', *writer.problems[:5])
    tap.ok(sampler.samples > 5 * SECONDS and sampler.held >= runs // 3,
           f'{sampler.samples} looks at the locks caught us reading', sampler.held)
    tap.ok(not sampler.blocked_rows and not sampler.blocked_tables,
           'and in none of them one of our connections blocked another', *sampler.blocked_rows[:5], *sampler.blocked_tables[:5])
    report.rows['run beside a busy writer', 'source'] = {
        f'0, new; of {sampler.samples} looks at the locks none found us blocking': runs}


def stopped(at, table, answer=None):
    """fairmill stands still amid its transaction, and somebody alters a table that it has read."""
    def piece(rig):
        process = []

        def stop():
            process[0].send_signal(signal.SIGSTOP)
            alter.start()

        def altering():
            began = time.monotonic()
            try:
                rig.server.sql(f'ALTER TABLE {table} ADD COLUMN fresh INT', rig.source)
                waited.append(time.monotonic() - began)
            finally:
                process[0].send_signal(signal.SIGCONT)
        waited = []
        alter = threading.Thread(target=altering)
        outcome = rig.disturbed(source=[Fault('hold', at, answer=answer, meanwhile=stop)], by_path=True,
                                deadline=60, started=process.append, after=alter.join)
        outcome.wrong += rig.next_run()
        return outcome, waited
    return piece


def alters_pass(rigs):
    """Begins, and goes on where it is asked for its results."""
    cases = (('amid the jobs', stopped(sql('FROM "big_job_table"', 'execute'), 'big_job_table', 200000)),
             ('between two statements', stopped(sql('FROM "big_job_table"', 'prepare'), 'big_assoc_table')))
    results = []
    thread = threading.Thread(target=lambda: results.extend(at_once([piece for _, piece in cases], rigs)))
    thread.start()
    yield
    thread.join()
    for (where, _), result in zip(cases, results):
        if isinstance(result, Exception):
            raise result
        outcome, waited = result
        tap.ok(waited and 1 < waited[0] < LIMIT + 5,
               f'an ALTER TABLE behind a run that stands still {where} passes once our session has been ended',
               waited, outcome)
        tap.ok(outcome.status == 0 and not outcome.wrong and all(outcome.fired),
               f'a run that stood still {where} reads again when it goes on, and publishes', outcome, *outcome.wrong)
        report.note(f'we are stopped (SIGSTOP) {where}, and a table is altered', 'source', outcome)


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Server() as server:
        try:
            server.sql("INSTALL SONAME 'metadata_lock_info'")
        except RuntimeError as problem:
            if 'already' not in str(problem):
                tap.skip_all('the server has no plugin metadata_lock_info')
        faults.draw(server, SOURCE, JOBS)
        still = []
        for number in range(2):
            name = faults.draw(server, f'harmless_still{number}', MANY)
            still.append(Rig(server, folder, f'still{number}', name, MANY))
        rig = Rig(server, folder, 'harmless', SOURCE, JOBS)
        altering = alters_pass(still)
        next(altering)
        sampler_sees(server)
        never_blocks(server, rig)
        next(altering, None)
    report.write()


tap.main(body)
