#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What a run does when MariaDB, or the way to it, fails: at every step of a run, to either
database.  Whatever happens, it ends in time with the right status, results are the old ones or
the new ones and whole, fairmill_run is true, and the next run is right without help.

A few dozen steps; every step with FAIRMILL_LONG=1.  FAIRMILL_RELIABILITY=FILE adds the rows of
doc/reliability.md to a file."""

import os
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import tap
from faults import LONG, OwnServer, Report, Rig, at_once
from mariadb import Server, Session
from proxy import Fault, always, no_fault, same_as, sql

DEADLINE = 2
# What is stalled is given up within twice the deadline, for each of two databases; and machines
# that test are slow.
IN_TIME = 20
RIGS = 16

JOBS = r'FROM "big_job_table"'
ASSOCIATIONS = r'FROM "big_assoc_table"'
WRITE = r'INSERT INTO "fairmill_fairshare"'
CLEAR = r'DELETE FROM "fairmill_fairshare"'
FENCE = r'SET "run_id" = \?'
COUNTER = r'SET "run_id" = "run_id" \+ 1'
RECORD = r'INSERT INTO "fairmill_run"'
UNLOCK = r'RELEASE_LOCK'

# Steps of the short form: kind, SQL, and which of several; and whether they are worth every fault.
SHORT = {
    'source': (('connect', None, 0, True), ('login', None, 0, True), ('query', 'SET NAMES', 0, False),
               ('execute', 'lock_wait_timeout', 0, False), ('execute', '@@datadir', 0, True),
               ('execute', 'cluster_table', 0, False), ('query', 'START TRANSACTION', 0, False),
               ('execute', 'column_name', 2, False), ('execute', 'qos_table', 0, False),
               ('execute', ASSOCIATIONS, 0, False), ('prepare', JOBS, 0, False),
               ('execute', JOBS, 0, True), ('query', 'COMMIT', 0, False), ('quit', None, 0, False)),
    'results': (('connect', None, 0, True), ('login', None, 0, False),
                ('execute', 'fairmill_schema', 0, False), ('execute', 'GET_LOCK', 0, True),
                ('execute', COUNTER, 0, False), ('query', 'COMMIT', 0, False),
                ('execute', FENCE, 0, False), ('execute', CLEAR, 0, False),
                ('prepare', WRITE, 0, False), ('bulk', WRITE, 0, True), ('bulk', RECORD, 0, False),
                ('query', 'COMMIT', 1, True), ('execute', UNLOCK, 0, True), ('quit', None, 0, False)),
}

report = Report()


class Case:
    """One test: a run that is disturbed, then one that is not."""

    def __init__(self, statement, piece, good, fault, where, most=IN_TIME, first=False):
        self.statement, self.piece, self.good = statement, piece, good
        self.fault, self.where, self.most = fault, where, most
        self.first = first  # to be begun before others, since it lasts

    def __call__(self, rig):
        outcome = self.piece(rig)
        outcome.wrong += rig.next_run()
        return outcome

    def judge(self, outcome):
        if isinstance(outcome, Exception):
            return tap.ok(False, self.statement, repr(outcome))
        report.note(self.fault, self.where, outcome)
        return tap.ok(not outcome.wrong and outcome.fired and all(outcome.fired)
                      and outcome.seconds < self.most and self.good(outcome),
                      self.statement, outcome, f'the faults happened {outcome.fired} times', *outcome.wrong)


def ends(status, results=None, *texts):
    """A check of an outcome."""
    return lambda outcome: (outcome.status == status and results in (None, outcome.results)
                            and all(text in outcome.said for text in texts))


DONE = ends(0, 'new')


def database_of(side):
    return "database 'faults_" + ('acct' if side == 'source' else 'res_')


def on(side, fault, deadline=DEADLINE, **more):
    """A run with this on the way to one database."""
    return lambda rig: rig.disturbed(**{side: [fault]}, deadline=deadline, **more)


def chosen(side, steps):
    """(step, whether every fault is tried there) of those that the short form takes, or of all."""
    if LONG:
        # Nothing answers a `close`; what happens to it happens to the step behind it.
        return [(step, True) for step in steps if step.kind != 'close']
    found = []
    for kind, pattern, which, thorough in SHORT[side]:
        fits = sql(pattern, kind) if pattern else (lambda step, kind=kind: step.kind == kind)
        found.append(([step for step in steps if fits(step)][which], thorough))
    return found


def at_each_step(side, steps):
    """One fault at one step; the connection after it is good."""
    cases = []

    def add(action, step, answer, place, where):
        # By then the run has done its work.
        late = step.kind == 'quit' or UNLOCK in step.sql
        words = dict(cut='connection cut', reset='connection reset', stall='nothing passes any more')
        stalls = action == 'stall'
        good = DONE
        if stalls:
            good = ends(0 if late else 69, 'new' if late else None, '' if late else database_of(side))
        cases.append(Case(
            f"{side}, {words[action]} {place}: "
            + ('69 in time, which names the database' if stalls and not late else 'new results all the same'),
            on(side, Fault(action, same_as(step), answer=answer)), good, words[action],
            f'{side}, {where}', first=stalls))

    for step, thorough in chosen(side, steps):
        answered = step.kind not in ('connect', 'quit')
        for action in ('cut', 'reset', 'stall') if thorough else ('cut',):
            add(action, step, None, f'before {step}', 'before a message')
            if answered and (action != 'stall' or LONG or 'COMMIT' in step.sql):
                add(action, step, 0, f'with the answer to {step} lost', 'answer lost')
    if side == 'source':
        jobs = next(step for step in steps if sql(JOBS, 'execute')(step))
        for action in ('cut', 'reset', 'stall'):
            for length in (1, 20000, 100000) if LONG else (20000,):
                add(action, jobs, length, f'{length} bytes into the answer to {jobs}', 'amid the jobs')
    return cases


def since(pattern):
    """From this step on, and then every connection."""
    reached = threading.Event()

    def at(step):
        if not reached.is_set() and sql(pattern)(step):
            reached.set()
            return True
        return reached.is_set() and always(step)
    return at


def for_good():
    """The way to a database is gone, and stays so."""
    cases = []
    for side, patterns in (('source', (ASSOCIATIONS, JOBS)), ('results', (COUNTER, CLEAR, WRITE))):
        for pattern in patterns if LONG else patterns[-1:]:
            for action in ('cut', 'reset', 'stall'):
                cases.append(Case(
                    f'{side}, {action} for good from {pattern} on: 69 in time, which names the database, and old results',
                    on(side, Fault(action, since(pattern), for_good=True)), ends(69, 'old', database_of(side)),
                    f'{action} for good', f'{side}, amid a run', first=True))
    return cases


def lost_commits():
    """The COMMIT that publishes reaches the server, its answer does not reach us."""
    cases = []
    # Of the COMMITs of a cluster the first takes a run_id, the second publishes.
    for number, cluster in ((1, 'big'), (3, 'small')) * (10 if LONG else 1):
        for action in ('cut', 'reset'):
            def at(step, number=number):
                return (step.connection, step.sql, step.repeat) == (1, 'COMMIT', number)
            cases.append(Case(
                f'{action} after the COMMIT that publishes {cluster}, whose answer is lost: it is found, and published once',
                on('results', Fault(action, at, answer=0)), DONE,
                'answer to the publishing COMMIT lost', 'results'))
    return cases


def killed(side, what, pattern, answer=None):
    def piece(rig):
        def kill():
            rig.server.sql(f'KILL {what} {fault.link.framing.session}')
            time.sleep(.1)
        fault = Fault('hold', sql(pattern), answer=answer, meanwhile=kill)
        return rig.disturbed(**{side: [fault]}, deadline=20)
    return piece


def locked(hold, release_after=None, deadline=DEADLINE):
    """Somebody else holds what the run is going to write."""
    def piece(rig):
        with Session(rig.server, rig.results) as session:
            session.do(hold)

            def release():
                session.do('ROLLBACK; UNLOCK TABLES')
            timer = threading.Timer(release_after or 0, release)
            if release_after:
                timer.start()
            return rig.disturbed(results=[no_fault()], deadline=deadline,
                                 after=timer.join if release_after else release)
    return piece


def deadlocked(rig):
    """We have the fence and want the rows; the other has the rows, and much to lose, and wants
    the fence: the server sends us back."""
    def deadlocks():
        return int(rig.server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")[0][1])
    rig.server.sql('CREATE OR REPLACE TABLE heavy (n INT PRIMARY KEY) ENGINE=InnoDB', rig.results)
    with Session(rig.server, rig.results) as session:
        session.do('SET innodb_lock_wait_timeout = 30; BEGIN; '
                   'INSERT INTO heavy SELECT seq FROM seq_1_to_20000; '
                   "SELECT count(*) FROM fairmill_fairshare WHERE cluster = 'big' FOR UPDATE")

        def cross():
            session.send("UPDATE fairmill_lock SET run_id = run_id WHERE cluster = 'big'; ROLLBACK")
            time.sleep(.4)
        before = deadlocks()
        outcome = rig.disturbed(results=[Fault('hold', sql(CLEAR), meanwhile=cross)], deadline=20)
        session.wait()
    if deadlocks() == before:
        outcome.wrong.append('there was no deadlock')
    rig.server.sql('DROP TABLE heavy', rig.results)
    return outcome


def altered(text, back):
    """What slurmdbd's upgrade does, after we have looked at the table's columns and before we read
    it.  On a source of its own."""
    def piece(rig):
        usual, rig.source = rig.source, faults.draw(rig.server, f'{faults.SOURCE}_{rig.name}')
        try:
            outcome = rig.disturbed(source=[Fault('hold', sql(JOBS, 'prepare'), meanwhile=lambda:
                                                  rig.server.sql(text, rig.source))], deadline=DEADLINE)
            if back:
                rig.server.sql(back, rig.source)
        finally:
            rig.source = usual
        return outcome
    return piece


def other_sessions():
    """What other sessions of the server do to ours."""
    hold = 'BEGIN; SELECT count(*) FROM fairmill_fairshare FOR UPDATE'
    waited = ends(69, 'old', 'Lock wait timeout')

    def altered_away(outcome):
        return outcome.status == 69 and 'big_job_table' in outcome.said and outcome.published['big'] == 'old'
    table = [
        ('KILL CONNECTION amid the jobs', 'source', 'tried again', killed('source', 'CONNECTION', JOBS, 20000), DONE),
        ('KILL QUERY amid the jobs', 'source', 'tried again', killed('source', 'QUERY', JOBS, 20000), DONE),
        ('KILL CONNECTION before a run_id is taken', 'results', 'tried again', killed('results', 'CONNECTION', COUNTER), DONE),
        ('KILL CONNECTION before the rows are written', 'results', 'tried again', killed('results', 'CONNECTION', WRITE), DONE),
        ('KILL CONNECTION before COMMIT', 'results', 'tried again', killed('results', 'CONNECTION', '^COMMIT'), DONE),
        ('deadlock of which we are the victim', 'results', 'tried again', deadlocked, DONE),
        ('rows held for a second by another session', 'results', 'waited for', locked(hold, 1.2, 20), DONE),
        ('rows held by another session', 'results', '69 in time', locked(hold), waited),
        ('the row that counts runs held by another session', 'results', '69 in time',
         locked("BEGIN; SELECT * FROM fairmill_lock WHERE cluster = '' FOR UPDATE"), waited),
        ('LOCK TABLES of another session', 'results', '69 in time', locked('LOCK TABLES fairmill_fairshare WRITE'), waited),
        ('job table altered between look and read', 'source', 'tried again',
         altered('ALTER TABLE big_job_table ADD COLUMN fresh INT, ALGORITHM=COPY', ''), DONE),
        ('column gone between look and read', 'source', '69 for that cluster, which names the table',
         altered('ALTER TABLE big_job_table RENAME COLUMN tres_alloc TO other',
                 'ALTER TABLE big_job_table RENAME COLUMN other TO tres_alloc'), altered_away),
        ('job table gone between look and read', 'source', '69 for that cluster, which names the table',
         altered('RENAME TABLE big_job_table TO away', 'RENAME TABLE away TO big_job_table'), altered_away),
    ]
    return [Case(f'{what}: {how}', piece, good, what, where, most=40, first=True)
            for what, where, how, piece, good in table]


def taken_away():
    """What somebody takes away between two runs, and gives back."""
    def between(take, give_back, judge):
        def piece(rig):
            take(rig)
            outcome = rig.disturbed(results=[no_fault()], deadline=DEADLINE, judge=judge)
            give_back(rig)
            return outcome
        return piece
    writer = f'{faults.WRITER}@localhost'
    cases = [Case('INSERT on the results revoked: 78 and the GRANT to give',
                  between(lambda rig: rig.server.sql(f'REVOKE INSERT ON {rig.results}.* FROM {writer}'),
                          lambda rig: rig.server.sql(f'GRANT INSERT ON {rig.results}.* TO {writer}'), True),
                  ends(78, 'old', 'GRANT SELECT, INSERT, UPDATE, DELETE ON'),
                  'INSERT revoked', 'results, between runs')]
    for table in ('fairmill_fairshare', 'fairmill_run', 'fairmill_lock', 'fairmill_finding',
                  'fairmill_settings', 'fairmill_schema'):
        cases.append(Case(f'{table} dropped: 78 and what to do; init makes it again',
                          between(lambda rig, t=table: rig.server.sql(f'DROP TABLE {t}', rig.results),
                                  lambda rig: rig.command('init', settings=rig.owner), False),
                          ends(78, '', 'fairmill init'), 'a table dropped', 'results, between runs'))
    return cases


def slow_way():
    return [Case('a slow way to the source only takes its time',
                 on('source', Fault('slow', sql(JOBS, 'execute'), rate=150000), deadline=20),
                 lambda outcome: DONE(outcome) and outcome.seconds > 1.5, '150 kB/s', 'source, amid the jobs',
                 most=30, first=True)]


def source_grants(rig):
    """Alone, since all rigs read one source."""
    reader = f'{faults.READER}@localhost'

    def piece(rig):
        rig.server.sql(f'REVOKE SELECT ON {faults.SOURCE}.* FROM {reader}')
        for name, in rig.server.sql(f'SHOW TABLES FROM {faults.SOURCE}'):
            if name != 'big_job_table':
                rig.server.sql(f'GRANT SELECT ON {faults.SOURCE}.{name} TO {reader}')
        outcome = rig.disturbed(source=[no_fault()], deadline=DEADLINE)
        rig.server.sql(f'GRANT SELECT ON {faults.SOURCE}.* TO {reader}')
        return outcome
    case = Case('SELECT on one job table revoked: 78 and the GRANT to give, and the other cluster is done', piece,
                lambda outcome: ends(78, None, 'GRANT SELECT', 'big_job_table')(outcome)
                and outcome.published == dict(big='old', small='new'),
                'SELECT on a job table revoked', 'source, between runs')
    case.judge(case(rig))


def whole_server(folder):
    """Cases with a server of their own, which is killed, stopped, set otherwise and filled, and
    their outcomes."""
    with OwnServer() as server:
        faults.draw(server)
        rig = Rig(server, folder, 'own')
        points = [('source', JOBS, 20000), ('results', WRITE, 0), ('results', '^COMMIT', None)]
        if LONG:
            points += [('source', ASSOCIATIONS, None), ('results', FENCE, 0), ('results', CLEAR, None),
                       ('results', '^COMMIT', 0), ('results', 'GET_LOCK', 0), ('results', COUNTER, 0),
                       ('results', RECORD, 0)]
        cases = []
        for number, (side, pattern, answer) in enumerate(points):
            where = f'{side}, amid a run'
            cases.append(Case(f'server killed at {pattern} and started again: the same run publishes',
                              server_killed(server, side, pattern, answer, True), DONE,
                              'server killed (SIGKILL), started again', where, most=60))
            if LONG or number == 1:
                cases.append(Case(f'server killed at {pattern} and away: 69 in time',
                                  server_killed(server, side, pattern, answer, False),
                                  ends(69, 'old', database_of(side)), 'server killed (SIGKILL), away', where))
            if LONG or number == 2:
                cases.append(Case(f'server stopped at {pattern}: 69 soon after the deadline',
                                  server_stopped(server, side, pattern, answer),
                                  ends(69, None if answer == 0 else 'old', database_of(side)),
                                  'server stopped (SIGSTOP) beyond the deadline', where))
        for name, value, usual, status, said in (
                ('max_allowed_packet', 16384, 16777216, 0, ''), ('max_allowed_packet', 1024, 16777216, 0, ''),
                ('read_only', 1, 0, 69, 'read-only')):
            cases.append(Case(f'{name} = {value}: ' + ('69' if status else 'only smaller batches'),
                              server_set(server, name, value, usual),
                              ends(status, 'old' if status else 'new', said), f'{name} = {value}', 'server'))
        cases.append(Case('no connection to spare: 69', crowded(server), ends(69, '', 'onnections'),
                          'max_connections reached', 'server'))
        cases.append(Case('no room for the results: 69, which says so', filled(server), ends(69, 'old', 'full'),
                          'no room in the data file', 'results'))
        return [(case, case(rig)) for case in cases]


def server_killed(server, side, pattern, answer, again):
    def piece(rig):
        back = threading.Event()

        def start():
            server.start()
            back.set()

        def kill():
            server.signal(signal.SIGKILL)
            if again:
                threading.Thread(target=start).start()
        return rig.disturbed(**{side: [Fault('hold', sql(pattern), answer=answer, meanwhile=kill)]},
                             deadline=40 if again else DEADLINE, after=back.wait if again else start)
    return piece


def server_stopped(server, side, pattern, answer):
    def stop():
        server.signal(signal.SIGSTOP)
    return on(side, Fault('hold', sql(pattern), answer=answer, meanwhile=stop),
              after=lambda: server.signal(signal.SIGCONT))


def server_set(server, name, value, usual):
    def piece(rig):
        server.sql(f'SET GLOBAL {name} = {value}')
        outcome = rig.disturbed(results=[no_fault()], deadline=DEADLINE)
        server.sql(f'SET GLOBAL {name} = {usual}')
        return outcome
    return piece


def crowded(server):
    def piece(rig):
        server.sql('SET GLOBAL max_connections = 10')
        others = [Session(server) for _ in range(10)]
        for session in others:
            session.do('DO 0')
        outcome = rig.disturbed(source=[no_fault()], deadline=DEADLINE, judge=False)
        for session in others:
            session.close()
        server.sql('SET GLOBAL max_connections = 151')
        return outcome
    return piece


def filled(server):
    def piece(rig):
        server.sql('CREATE TABLE filler (id INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB) ENGINE=InnoDB', rig.results)
        for size in (1000000, 100000, 10000, 1000):
            try:
                for _ in range(200):
                    server.sql(f"INSERT INTO filler (b) VALUES (REPEAT('x', {size}))", rig.results)
                raise ValueError('there is no end of room')
            except RuntimeError as full:
                if 'is full' not in str(full):
                    raise
        outcome = rig.disturbed(results=[no_fault()], deadline=DEADLINE)
        # What is quite full cannot even be emptied; the administrator gives it more room.
        server.signal(signal.SIGKILL)
        server.start(server.more_room)
        return outcome
    return piece


def checksums(server):
    tables = [name for (name,) in server.sql(f'SHOW TABLES FROM {faults.SOURCE}')]
    rows = server.sql('CHECKSUM TABLE ' + ', '.join(f'{faults.SOURCE}.{name}' for name in tables))
    if len(rows) < 10 or all(row[1] == '0' for row in rows):
        raise RuntimeError(rows)
    return rows


def never_written(server, before, rigs):
    tap.same(checksums(server), before, 'no row of the source has changed')
    seen = set().union(*(rig.seen_sql for rig in rigs))
    harmless = ('SELECT', 'SET', 'START', 'COMMIT', 'ROLLBACK', 'KILL')
    tap.ok(len(seen) > 10 and all(text.split()[0] in harmless for text in seen),
           'no statement that a run sends to the source could write', *seen)


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Server() as server:
        apart = []
        own = threading.Thread(target=lambda: apart.append(at_once([lambda _: whole_server(folder)], [None])[0]))
        own.start()
        faults.draw(server)
        before = checksums(server)
        first = Rig(server, folder, '0')
        rigs = [first] + at_once([lambda _, n=number: Rig(server, folder, str(n)) for number in range(1, RIGS)],
                                 [None] * 4)
        outcome = first.disturbed(source=[no_fault()], results=[no_fault()])
        tap.ok(DONE(outcome) and not outcome.wrong and all(outcome.fired),
               'a run by the way of the proxy is like any other', outcome, *outcome.wrong)
        cases = at_each_step('source', first.steps[0]) + at_each_step('results', first.steps[1])
        cases += for_good() + lost_commits() + other_sessions() + taken_away() + slow_way()
        cases.sort(key=lambda case: not case.first)
        for case, outcome in zip(cases, at_once(cases, rigs)):
            case.judge(outcome)
        source_grants(first)
        own.join()
        if isinstance(apart[0], Exception):
            raise apart[0]
        for case, outcome in apart[0]:
            case.judge(outcome)
        never_written(server, before, rigs)
    report.write()


tap.main(body)
