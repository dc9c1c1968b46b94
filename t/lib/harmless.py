# SPDX-License-Identifier: MIT
"""slurmdbd is not affected: while it writes rows and fairmill runs every two seconds, no connection
of fairmill ever blocks another.  A fairmill that is stopped during a transaction does not
delay an ALTER TABLE for longer than fairmill's time limits.

A test defines the terms of its server:

    server()      a context: the server
    LOOK          rows of locks: ('blocks', session, what) and ('holds', session,
                  what) and ('waits', session, what) for all sessions, ('is', session, user)
    UPSERT        the end of an INSERT of the key {key} that replaces {column}, or adds to it
    LOCK          blocks all writes to the job table
    ways          {connection of a stopped run to the source: arguments of Rig.disturbed()}
    amid          the message whose response contains the jobs: SQL, kind
    between       a message after whose response, or before which, no data is in transit:
                  SQL, kind, None or 0 bytes of the response"""

import signal
import subprocess
import tempfile
import threading
import time

import faults
import tap
from fault_cases import apart
from faults import LONG, NOW, Report, Rig, at_once
from mariadb import TRX_STALE
from program import FAIRMILL
from proxy import Fault, sql
from server import Session

SOURCE = 'harmless_acct'
SECONDS = 180 if LONG else 15
RUN_EVERY = 2
# On a busy host it takes longer to see this number of runs.
RUNS_AT_LEAST = 6
SAMPLE_EVERY = TRX_STALE
JOBS = {'big': 100000, 'small': 25}
BLOCKER = 'harmless_blocker'
# A session that is idle in its transaction, or does not read its rows, ends within this time or
# continues.
LIMIT = 10


class Sampler(threading.Thread):
    """Looks repeatedly for sessions that hold locks or wait for them; `user` is the suspected
    one."""

    def __init__(self, words, server, user):
        super().__init__(daemon=True)
        self.words, self.server, self.user = words, server, user
        self.over = threading.Event()
        self.samples = self.held = 0
        self.blocked, self.problems = [], []

    def run(self):
        try:
            with Session(self.server) as session:
                while not self.over.wait(SAMPLE_EVERY):
                    self.look([line.split('\t') for line in session.do(self.words.LOOK)])
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
        self.blocked += [row for row in rows if row[0] == 'blocks' and row[1] in ours]
        if holds and waits:
            self.blocked.append((holds, waits))

    def stop(self):
        self.over.set()
        self.join()
        if self.problems:
            raise self.problems[0]


class Writer(threading.Thread):
    """Writes as slurmdbd does: a job starts, an older one ends, and the hour's usage is added."""

    def __init__(self, words, server):
        super().__init__(daemon=True)
        self.words, self.server = words, server
        self.over = threading.Event()
        self.written, self.longest, self.problems = 0, 0, []

    def transaction(self, number):
        job = self.words.UPSERT.format(key='id_job, time_submit', column='time_start', table='')
        hour = self.words.UPSERT.format(key='id, id_tres, time_start', column='alloc_secs',
                                        table='big_assoc_usage_hour_table.alloc_secs + ')
        return (
            'BEGIN; INSERT INTO big_job_table (job_db_inx, id_job, id_assoc, id_qos, time_submit, time_start, tres_alloc, account) '
            f"VALUES ({number}, {number}, {2000 + number % 600}, 1, {NOW}, {NOW}, '1=1,5=2', 'a') {job}; "
            f'UPDATE big_job_table SET time_end = {NOW + 60}, state = 3 WHERE id_job = {number - 5000}; '
            'INSERT INTO big_assoc_usage_hour_table (creation_time, id, id_tres, time_start, alloc_secs) '
            f'VALUES (1, {2000 + number % 600}, 5, {NOW}, 60) {hour}; COMMIT')

    def run(self):
        with Session(self.server, SOURCE) as session:
            self.problems += session.do(self.server.LENIENT)
            number = JOBS['big']
            while not self.over.is_set():
                number += 1
                began = time.monotonic()
                self.problems += session.do(self.transaction(number))
                self.longest = max(self.longest, time.monotonic() - began)
                self.written += 1
                self.over.wait(.01)

    def stop(self):
        self.over.set()
        self.join()


def sampler_sees(words, server):
    """The sampler works: it finds another session that does block."""
    server.login(BLOCKER)
    server.allow(BLOCKER, words.ALL, SOURCE)
    for what, hold in (('rows', 'BEGIN; UPDATE big_job_table SET state = 3 WHERE id_job > 90000'),
                       ('a table', words.LOCK)):
        sampler, writer = Sampler(words, server, BLOCKER), Writer(words, server)
        sampler.start()
        writer.start()
        with Session(server, SOURCE, BLOCKER) as session:
            session.do(hold)
            tap.until(lambda: sampler.blocked, every=SAMPLE_EVERY)
            session.do(server.LET_GO)
        writer.stop()
        sampler.stop()
        tap.ok(sampler.blocked, f'sampling finds a session that blocks {what}', sampler.samples, *writer.problems)


def never_blocks(words, server, rig, report):
    sampler, writer = Sampler(words, server, faults.READER), Writer(words, server)
    sampler.start()
    writer.start()
    end = time.monotonic() + SECONDS
    runs, wrong = 0, []
    while time.monotonic() < end or runs < RUNS_AT_LEAST:
        next_one = time.monotonic() + RUN_EVERY
        done = subprocess.run([FAIRMILL, '-c', rig.conf, 'run'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=tap.HANG, check=False)
        runs += 1
        if done.returncode or done.stdout:
            wrong.append(f'run {runs} ended with {done.returncode}: {done.stdout.decode()}')
        time.sleep(max(0, next_one - time.monotonic()))
    writer.stop()
    sampler.stop()
    tap.ok(not wrong, f'{runs} runs next to a busy writer succeed', *wrong)
    tap.ok(not writer.problems and writer.written > runs,
           f'{writer.written} concurrent transactions succeeded', *writer.problems[:5])
    tap.diag(f'the longest took {writer.longest:.3f} s')
    tap.ok(sampler.samples > runs and sampler.held,
           f'{sampler.samples} samples of the locks include reads by fairmill', sampler.held)
    tap.ok(not sampler.blocked, 'fairmill blocked no connection in any sample', *sampler.blocked[:5])
    report.rows['run next to a busy writer', 'source'] = {
        f'0, new; fairmill blocked no session in {sampler.samples} checks of the locks': runs}


def stopped(at, table, way, answer=None):
    """Stops fairmill during its transaction, while another session alters a table that it has
    read."""
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
        outcome = rig.disturbed(source=[Fault('hold', at, answer=answer, meanwhile=stop)],
                                deadline=60, started=process.append, after=alter.join, **way)
        outcome.wrong += rig.next_run()
        return outcome, waited
    return piece


def stops(words):
    """Returns [(place, number of jobs, function of a rig)]; the jobs exceed the buffers of the
    connection."""
    *between, answer = words.between
    cases = []
    for name, way in words.ways.items():
        cases.append((f'while jobs are read{name}', JOBS, stopped(sql(*words.amid), 'big_job_table', way, 200000)))
        cases.append((f'between two statements{name}', faults.JOBS, stopped(sql(*between), 'big_assoc_table', way, answer)))
    return cases


def alters_pass(cases, rigs, report):
    """Starts the cases, and continues when it is asked for the results."""
    pieces = [lambda _, piece=piece, rig=rig: piece(rig) for (_, _, piece), rig in zip(cases, rigs)]
    results = apart(lambda: at_once(pieces, [None] * len(pieces)))
    yield
    for (where, *_), result in zip(cases, results()):
        if isinstance(result, Exception):
            raise result
        outcome, waited = result
        tap.ok(waited and 1 < waited[0] < LIMIT + 30,
               f'an ALTER TABLE after a run stopped {where} succeeds within the time limit',
               waited, outcome)
        tap.ok(outcome.status == 0 and not outcome.wrong and all(outcome.fired),
               f'a run stopped {where} publishes when it continues', outcome, *outcome.wrong)
        report.note(f'fairmill stopped (SIGSTOP) {where}, and a table altered', 'source', outcome)


def main(words):
    def body():
        report = Report()
        with tempfile.TemporaryDirectory(prefix='fm') as folder, words.server() as server:
            faults.draw(server, SOURCE, JOBS)
            cases, still = stops(words), []
            for number, (_, jobs, _) in enumerate(cases):
                name = faults.draw(server, f'harmless_still{number}', jobs)
                still.append(Rig(server, folder, f'still{number}', name, jobs))
            rig = Rig(server, folder, 'harmless', SOURCE, JOBS)
            altering = alters_pass(cases, still, report)
            next(altering)
            sampler_sees(words, server)
            never_blocks(words, server, rig, report)
            next(altering, None)
        report.write()
    tap.main(body)
