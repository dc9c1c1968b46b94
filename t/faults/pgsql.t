#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite pgsql
"""Tests runs while PostgreSQL, or the connection to it, fails at every message of a run, for either
database, over TCP and a unix socket.  Each run ends in time with the right status.  Results are
complete old or new ones, and fairmill_run is correct.  The next run succeeds without help.

By default it tests a few dozen messages, and with FAIRMILL_LONG=1 every message.
FAIRMILL_RELIABILITY=FILE appends the rows of doc/reliability.md to a file."""

import os
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import tap
from fault_cases import (DEADLINE, DONE, PATIENT, Case, EveryStep, altered, amid, apart, between, big_fails, ended,
                         ends, for_good, ledger_commits, locked, lost_commits, never_written, own_source,
                         publishing_commit, tables_dropped, try_all, verifications, waits_in_vain, whole_server)
from faults import LONG, READER, RIGS, SOURCE, WRITER, Report, Rig, at_once
from postgres import NewPostgres, Postgres, Standby
from protocol import Pgsql
from proxy import Fault, no_fault, sql
from server import Session
from small_disk import leave_room, small_disk

# Full runs, which read jobs with COPY.
faults.RUN.append('--full')

# The first read of the table, which locks its definition from then on, and the reading of jobs.
JOB_TABLE = r'FROM "big_job_table"'
JOBS = r'COPY .*"partition", j\."time_eligible" FROM "big_job_table"'
ASSOCIATIONS = r'FROM "big_assoc_table"'
WRITE = r'COPY "fairmill_seal_open"'
UPDATE = r'UPDATE "fairmill_value"'
FENCE = r'SET "run_id" = \$1'
COUNTER = r'SET "run_id" = "run_id" \+ 1'
SETTINGS = r'FROM "fairmill_settings"'
RECORD = r'INSERT INTO "fairmill_run"'
LOCK = r'pg_try_advisory_lock'
PRUNE = r'MIN\("as_of"\) FROM "fairmill_history_point"'
UNLOCK = r'pg_advisory_unlock'

# Steps of the short form: kind, SQL, number among several, and whether every fault is tested.
SHORT = {
    'source': (('connect', None, 0, True), ('tls', None, 0, True), ('login', None, 0, True),
               ('parse', 'set_config', 0, False), ('sync', 'statement_timeout', 0, False),
               ('sync', 'pg_control_system', 0, False), ('bind', 'cluster_table', 0, False),
               ('query', '^BEGIN', 0, True), ('query', '^SAVEPOINT', 1, False),
               ('describe', 'attname', 2, False), ('sync', 'qos_table', 0, False),
               ('sync', ASSOCIATIONS, 0, False), ('execute', JOBS, 0, False), ('sync', JOBS, 0, True),
               ('sync', 'pg_locks', 0, False), ('query', '^COMMIT', 0, False), ('quit', None, 0, False)),
    'results': (('connect', None, 0, True), ('login', None, 0, False), ('sync', 'fairmill_schema', 0, False),
                ('sync', LOCK, 0, True), ('sync', COUNTER, 0, False), ('sync', SETTINGS, 0, False),
                ('parse', FENCE, 0, False), ('sync', UPDATE, 0, False), ('query', WRITE, 0, False),
                ('copy data', WRITE, 1, True), ('copy done', WRITE, 0, True), ('bind', RECORD, 0, False),
                ('query', '^COMMIT', 0, True), ('sync', PRUNE, 0, True), ('sync', UNLOCK, 0, True), ('quit', None, 0, False)),
}

report = Report()


def triggered(body, deadline=PATIENT, when='BEFORE INSERT ON fairmill_run FOR EACH ROW', disturb=None):
    """Returns a run with a trigger in the results, which has privileges of its own."""
    def piece(rig):
        kind = 'CONSTRAINT TRIGGER' if 'DEFERRABLE' in when else 'TRIGGER'
        rig.server.sql('CREATE SEQUENCE times; CREATE FUNCTION disturb() RETURNS trigger '
                       f'LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN {body}; RETURN NEW; END $$; '
                       f'CREATE {kind} disturb {when} EXECUTE FUNCTION disturb()', rig.results)
        outcome = rig.disturbed(results=disturb(rig) if disturb else [no_fault()], deadline=deadline)
        rig.server.sql('DROP FUNCTION disturb CASCADE; DROP SEQUENCE times', rig.results)
        return outcome
    return piece


def at_first(count, what):
    """Returns SQL that acts only for the first calls.  A sequence is not reset when a transaction
    is rolled back."""
    return f"IF nextval('times') <= {count} THEN {what}; END IF"


def fail(state):
    return f"RAISE EXCEPTION 'disturbed' USING ERRCODE = '{state}'"


AT_COMMIT = ('AFTER INSERT ON fairmill_run DEFERRABLE INITIALLY DEFERRED FOR EACH ROW '
             "WHEN (NEW.cluster = 'big' AND NEW.status = 'done')")


def cut_behind_commit(body, wait, and_then):
    """Cuts the connection after the publishing COMMIT has reached the server, which takes some time
    for it.  Before fairmill takes the lock again, a second passes."""
    def disturb(rig):
        def meanwhile():
            time.sleep(wait)
            and_then(rig, cut.link.protocol.session)

        def lock_again(step):
            return step.connection == 2 and step.kind == 'parse' and LOCK in step.sql
        cut = Fault('cut', publishing_commit(0), behind=True, meanwhile=meanwhile)
        return [cut, Fault('hold', lock_again, meanwhile=lambda: time.sleep(1.2))]
    return triggered(body, when=AT_COMMIT, disturb=disturb)


def commits():
    """Returns cases for a COMMIT, besides a lost response."""
    return [
        Case('the publishing COMMIT still runs at the check: the run waits, and publishes once',
             cut_behind_commit('PERFORM pg_sleep(1)', 0, lambda *_: None), DONE,
             'connection cut after the publishing COMMIT was sent, which takes a second', 'results', first=True),
        Case('the session ends during the publishing COMMIT with a lost response: the COMMIT is repeated',
             cut_behind_commit(at_first(1, 'PERFORM pg_sleep(5)'), .3,
                               lambda rig, number: rig.server.end_session(number)), DONE,
             'pg_terminate_backend during the publishing COMMIT, response lost', 'results', first=True),
        Case('the publishing COMMIT fails twice (40001): it is repeated',
             triggered(at_first(2, fail('40001')), when=AT_COMMIT), DONE,
             'serialization failure (40001) of the publishing COMMIT, twice', 'results', first=True),
        Case('the publishing COMMIT always fails (40001): 69 in time',
             triggered(fail('40001'), DEADLINE, AT_COMMIT), big_fails(69, 'disturbed (40001)'),
             'serialization failure (40001) of every COMMIT that publishes one cluster', 'results', first=True),
    ]


def deadlocked(victim):
    """fairmill has the fence and waits for the rows.  The other session has the rows and waits for
    the fence.  PostgreSQL aborts the session that checks for deadlocks during the deadlock."""
    def deadlocks(rig):
        return rig.rows('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')

    def piece(rig):
        before = deadlocks(rig)
        patience = '60s' if victim == 'we' else '500ms'
        with Session(rig.server, rig.results) as session:
            session.do(f"SET deadlock_timeout = '{patience}'; BEGIN; "
                       "SELECT count(*) FROM (SELECT FROM fairmill_value WHERE cluster = 'big' FOR UPDATE) t")

            def cross():
                session.send("UPDATE fairmill_lock SET run_id = run_id WHERE cluster = 'big'; ROLLBACK")
                time.sleep(.2)
            outcome = rig.disturbed(results=[Fault('hold', sql(UPDATE, 'parse'), meanwhile=cross)], deadline=PATIENT)
            said = session.wait()
        if (victim == 'other') != any('deadlock detected' in line for line in said):
            outcome.wrong.append(f'the other session received {said}')
        # A session reports its statistics when it ends.
        if not tap.until(lambda: deadlocks(rig) != before, every=.1):
            outcome.wrong.append('there was no deadlock')
        return outcome
    return piece


def jobs_behind(function, held_for=None, deadline=DEADLINE):
    """Makes the job table a view that calls this function for its first row.  If it must fail, it
    does so while another session holds a lock.  Unlike rows, locks are visible beyond a
    snapshot."""
    def piece(rig):
        with own_source(rig, f'''
                CREATE FUNCTION disturb() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN {function} RETURN true; END $$;
                ALTER TABLE big_job_table RENAME TO jobs;
                CREATE VIEW big_job_table AS SELECT * FROM jobs WHERE (SELECT disturb());
                GRANT SELECT ON big_job_table TO {READER};'''), Session(rig.server, rig.source) as session:
            if not held_for:
                return rig.disturbed(source=[no_fault()], deadline=deadline)
            session.do('SELECT pg_advisory_lock(4711)')
            timer = threading.Timer(held_for, session.do, ('SELECT pg_advisory_unlock_all()',))
            timer.start()
            return rig.disturbed(source=[no_fault()], deadline=deadline, after=timer.join)
    return piece


FAILS_WHILE_LOCKED = (
    "IF EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND database = "
    f"(SELECT oid FROM pg_database WHERE datname = current_database())) THEN {fail('40001')}; END IF;")


def backend_stopped(side, pattern, by_path, **more):
    """Stops the server's process of fairmill's session, while the network works."""
    def piece(rig):
        fault = Fault('hold', sql(pattern), meanwhile=lambda:
                      os.kill(fault.link.protocol.session, signal.SIGSTOP), **more)

        def go_on():
            if fault.link:  # or the run never reached this step
                os.kill(fault.link.protocol.session, signal.SIGCONT)
        return rig.disturbed(**{side: [fault]}, deadline=DEADLINE, by_path=by_path, after=go_on)
    return piece


def idle(side, pattern, seconds):
    return amid(side, pattern, lambda *_: time.sleep(seconds), deadline=100)


def source_locked(rig):
    with own_source(rig), Session(rig.server, rig.source) as session:
        session.do('BEGIN; LOCK TABLE big_job_table IN ACCESS EXCLUSIVE MODE')
        return rig.disturbed(source=[no_fault()], deadline=DEADLINE)


def renamed_and_back(rig):
    with own_source(rig):
        back = threading.Timer(1, rig.server.sql, (
            'ALTER TABLE big_job_table RENAME COLUMN other TO tres_alloc', rig.source))

        def rename(*_):
            rig.server.sql('ALTER TABLE big_job_table RENAME COLUMN tres_alloc TO other', rig.source)
            back.start()
        outcome = amid('source', JOB_TABLE, rename, kind='parse')(rig)
        back.join()
        return outcome


def other_sessions():
    """Returns cases in which other sessions and time limits of the server disturb fairmill's
    sessions."""
    hold = 'BEGIN; SELECT count(*) FROM (SELECT FROM fairmill_value FOR UPDATE) t'
    waited = waits_in_vain('lock timeout', 'statement timeout')
    altered_away = big_fails(69, 'big_job_table')

    def change(text, deadline=DEADLINE):
        return altered(text, JOB_TABLE, 'parse', deadline=deadline)
    table = [
        ('pg_terminate_backend while jobs are read', 'source', 'retried', ended('source', 'end_session', JOBS, kind='sync', answer=20000), DONE),
        ('pg_cancel_backend while jobs are read', 'source', 'retried', ended('source', 'end_statement', JOBS, kind='sync', answer=20000), DONE),
        ('pg_terminate_backend before a run_id is taken', 'results', 'retried', ended('results', 'end_session', COUNTER), DONE),
        ('pg_terminate_backend before the rows are written', 'results', 'retried', ended('results', 'end_session', WRITE), DONE),
        ('pg_terminate_backend while rows are written', 'results', 'retried', ended('results', 'end_session', WRITE, kind='copy done'), DONE),
        ('pg_terminate_backend before COMMIT', 'results', 'retried', ended('results', 'end_session', '^COMMIT'), DONE),
        ("fairmill's backend stopped (SIGSTOP) for longer than the deadline", 'source', '69 in time', backend_stopped('source', JOBS, False), big_fails(69)),
        ("fairmill's backend stopped (SIGSTOP) for longer than the deadline (unix socket)", 'source', '69 in time', backend_stopped('source', JOBS, True), big_fails(69)),
        ("fairmill's backend stopped (SIGSTOP) for longer than the deadline", 'results', '69 in time', backend_stopped('results', WRITE, False), ends(69)),
        ("fairmill's backend stopped (SIGSTOP) for longer than the deadline (unix socket)", 'results', '69 in time', backend_stopped('results', WRITE, True), ends(69)),
        ('deadlock, fairmill is the victim', 'results', 'retried', deadlocked('we'), DONE),
        ('deadlock, the other session is the victim', 'results', 'waited for', deadlocked('other'), DONE),
        ('serialization failure (40001), twice', 'results', 'retried', triggered(at_first(2, fail('40001'))), DONE),
        ('serialization failure (40001), always', 'results', '69 in time', triggered(fail('40001'), DEADLINE), ends(69, 'old', 'disturbed (40001)')),
        ('serialization failure (40001) for a second', 'source', 'retried', jobs_behind(FAILS_WHILE_LOCKED, held_for=1, deadline=PATIENT), DONE),
        ('serialization failure (40001), always', 'source', '69 in time', jobs_behind(fail('40001') + ';'), big_fails(69, 'disturbed (40001)')),
        ('statement_timeout', 'results', '69 in time', triggered('PERFORM pg_sleep(30)', DEADLINE), ends(69, 'old', 'statement timeout')),
        ('statement_timeout', 'source', '69 in time', jobs_behind('PERFORM pg_sleep(30);'), big_fails(69, 'statement timeout')),
        ('idle in its transaction for 11 seconds', 'source', 'ended by its time limit, and retried', idle('source', ASSOCIATIONS, 11.5), DONE),
        ('rows locked for a second by another session', 'results', 'waited for', locked(hold, 1.2, PATIENT), DONE),
        ('rows locked by another session', 'results', '69 in time', locked(hold), waited),
        ('row of the run counter locked by another session', 'results', '69 in time',
         locked("BEGIN; SELECT * FROM fairmill_lock WHERE cluster = '' FOR UPDATE"), waited),
        ('LOCK TABLE of another session', 'results', '69 in time',
         locked('BEGIN; LOCK TABLE fairmill_value IN ACCESS EXCLUSIVE MODE'), waited),
        ('LOCK TABLE of another session', 'source', '69 in time', source_locked, big_fails(69, 'lock timeout')),
        ('column added to the job table between check and read', 'source', 'no effect',
         change('ALTER TABLE big_job_table ADD COLUMN fresh INT', PATIENT), DONE),
        ('job table rewritten between check and read', 'source', 'retried',
         change('ALTER TABLE big_job_table ALTER id_qos TYPE NUMERIC(20)', PATIENT), DONE),
        ('job table replaced by another table between check and read', 'source', 'retried',
         change('CREATE TABLE copy AS TABLE big_job_table; DROP TABLE big_job_table; '
                f'ALTER TABLE copy RENAME TO big_job_table; GRANT SELECT ON big_job_table TO {READER}', PATIENT), DONE),
        ('column dropped between check and read', 'source', '69 for that cluster, with the name of the table',
         change('ALTER TABLE big_job_table DROP COLUMN tres_alloc'), altered_away),
        ('column renamed between check and read', 'source', '69 for that cluster, with the name of the table',
         change('ALTER TABLE big_job_table RENAME COLUMN tres_alloc TO other'), altered_away),
        ('column renamed for a second between check and read', 'source', 'retried', renamed_and_back, DONE),
        ('job table removed between check and read', 'source', '69 for that cluster, with the name of the table',
         change('ALTER TABLE big_job_table RENAME TO away'), altered_away),
    ]
    if LONG:
        table.append(('idle in its transaction for 61 seconds', 'results', 'ended by its time limit, and retried',
                      idle('results', UPDATE, 61.5), DONE))
    return [Case(f'{side}, {what}: {how}', piece, good, what, side, most=80 if 'idle' in what else 40, first=True)
            for what, side, how, piece, good in table]


def taken_away():
    """Returns cases in which something is removed, and restored."""
    grant = 'GRANT SELECT, INSERT, UPDATE, DELETE ON'

    def deny(rig, *_):
        rig.server.deny(WRITER, 'INSERT', rig.results)

    def allow(rig):
        rig.server.allow(WRITER, 'INSERT', rig.results)

    def amid_results(rig):
        outcome = amid('results', WRITE, deny, kind='query')(rig)
        allow(rig)
        return outcome

    def amid_source(rig):
        with own_source(rig):
            return amid('source', JOBS, lambda rig, _: rig.server.deny(READER, 'SELECT', rig.source),
                        kind='parse')(rig)
    return [
        Case('INSERT on the results revoked: 78 with the missing GRANT', between(deny, allow),
             ends(78, 'old', grant), 'INSERT revoked', 'results, between runs'),
        Case('INSERT on the results revoked during a run: 78 with the missing GRANT', amid_results,
             ends(78, 'old', grant), 'INSERT revoked', 'results, during a run'),
        Case('SELECT on the source revoked during a run: 78 with the missing GRANT', amid_source,
             ends(78, 'old', 'GRANT SELECT', 'big_job_table'), 'SELECT revoked', 'source, during a run'),
    ] + tables_dropped()


class OwnPostgres(NewPostgres):
    """A server whose commits are passed to the operating system before the response."""

    CONNECTIONS = 12

    def __init__(self):
        super().__init__('-c', 'synchronous_commit=on', '-c', f'max_connections={self.CONNECTIONS}', '-c', 'autovacuum=off')


def own_server(folder):
    """Returns cases with a server of their own, which is killed, shut down, stopped, crowded and
    copied, and whose disk is full; and their outcomes."""
    with small_disk(folder, 64) as disk, OwnPostgres() as server:
        faults.draw(server)
        rig = Rig(server, folder, 'own')
        cases = whole_server(server, [
            ('source', JOBS, 20000), ('results', WRITE, 0), ('results', '^COMMIT', None),
            ('source', ASSOCIATIONS, None), ('results', FENCE, None), ('results', UPDATE, None),
            ('results', '^COMMIT', 0), ('results', LOCK, None), ('results', COUNTER, None),
            ('results', RECORD, None)],
            [('shut down (SIGINT, fast)', lambda: server.end(signal.SIGINT)),
             ('shut down (SIGQUIT, immediate)', lambda: server.end(signal.SIGQUIT))])
        cases.append(Case('no free connection: 69', crowded(server), ends(69, '', '53300'),
                          'max_connections reached', 'server'))
        outcomes = [(case, case(rig)) for case in cases]
        with Standby(server, *server.options, '-c', 'max_standby_streaming_delay=0') as standby:
            outcomes += [(case, case(rig)) for case in on_standby(rig, standby)]
        if disk:
            outcomes += [(case, case(rig)) for case in full_disk(rig, disk)]
        elif os.environ.get('CI') == 'true':
            raise RuntimeError('cannot create a file system to fill')
        else:
            tap.diag('cannot create a file system: a full disk is not tested')
        return outcomes


def crowded(server):
    def piece(rig):
        server.login('crowd')
        server.readers.close()
        # Three connections are reserved for the administrator.
        others = [Session(server, user='crowd') for _ in range(server.CONNECTIONS - 3)]
        for session in others:
            session.do('SELECT 1')
        outcome = rig.disturbed(results=[no_fault()], deadline=DEADLINE, judge=False)
        for session in others:
            session.close()
        return outcome
    return piece


def on_standby(rig, standby):
    """Returns cases with a replica as source, whose recovery conflicts with fairmill's queries."""
    def conflict(text, pattern, **more):
        def happen(*_):
            standby.primary.sql(text, SOURCE)
            standby.receive_all()
            # From PostgreSQL 17 on, a session ends itself only after all of its data was sent.
            time.sleep(.5)

        def conflicts():
            return standby.sql('SELECT sum(confl_snapshot + confl_lock) FROM pg_stat_database_conflicts')

        def piece(rig):
            before = conflicts()
            rig.source_server = standby
            try:
                outcome = amid('source', pattern, happen, **more)(rig)
            finally:
                rig.source_server = rig.server
            if conflicts() == before:
                outcome.wrong.append('there was no conflict')
            return outcome
        return piece

    def results_there(rig):
        rig.results_server = standby
        try:
            return rig.disturbed(results=[no_fault()], deadline=DEADLINE)
        finally:
            rig.results_server = rig.server
    clean = 'INSERT INTO txn_table SELECT 0, n, 0, 0 FROM generate_series(1, 1000) n; DELETE FROM txn_table; VACUUM txn_table'
    alter = 'ALTER TABLE big_assoc_table ADD COLUMN fresh INT; ALTER TABLE big_assoc_table DROP COLUMN fresh'
    return [
        Case('rows in the snapshot are cleaned up while jobs are read: retried',
             conflict(clean, JOBS, kind='sync', answer=20000), DONE,
             "conflict with a replica's recovery (rows cleaned up)", 'source, while jobs are read'),
        Case('rows in the snapshot are cleaned up between two statements: retried',
             conflict(clean, JOBS, kind='parse'), DONE,
             "conflict with a replica's recovery (rows cleaned up)", 'source, between statements'),
        Case('a table that was read is altered: retried', conflict(alter, JOBS, kind='parse'), DONE,
             "conflict with a replica's recovery (table altered)", 'source, between statements'),
        Case('results on a replica: 69', results_there, ends(69, 'old', 'read-only'),
             'server is a replica', 'results'),
    ]


def full_disk(rig, disk):
    """Moves the results to a tablespace that can be full."""
    if os.geteuid() == 0:
        shutil.chown(disk, 'postgres')
    rig.server.sql(f"CREATE TABLESPACE small LOCATION '{disk}'")
    rig.server.sql(f'ALTER DATABASE {rig.results} SET TABLESPACE small')
    rig.next_run()

    def filled(left):
        def piece(rig):
            # The space used by earlier runs would fill the disk over time.  Then a session starts,
            # which writes the file that each session reads at its start.
            for text in ('VACUUM FULL', 'BEGIN; COMMIT'):
                rig.server.sql(text, rig.results)
            with leave_room(disk, left):
                return rig.disturbed(results=[no_fault()], deadline=DEADLINE)
        return piece
    either = [Case(f'{left} kB of space for the results: 69 with the reason, or new results', filled(left * 1024),
                   lambda outcome: ends(69, None, '(53100)')(outcome) or DONE(outcome), 'disk full', 'results')
              for left in (range(8, 1600, 32) if LONG else (100, 200, 300))]
    return [Case('no space for the results: 69 with the reason', filled(0), ends(69, None, 'No space left'),
                 'disk full', 'results')] + either


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder, Postgres() as server:
        os.chmod(folder, 0o755)
        of_own_server = apart(lambda: own_server(folder))
        faults.draw(server)
        before = server.checksums(SOURCE)
        if len(before) < 10 or all(row[1] == '0' for row in before):
            raise RuntimeError(before)
        first = Rig(server, folder, '0')
        rigs = [first] + at_once([lambda _, n=number: Rig(server, folder, str(n)) for number in range(1, RIGS)],
                                 [None] * 4)
        outcome = first.disturbed(source=[no_fault()], results=[no_fault()])
        tap.ok(DONE(outcome) and not outcome.wrong and all(outcome.fired),
               'a run through the proxy is like any other', outcome, *outcome.wrong)
        steps = dict(zip(('source', 'results'), first.steps))
        first.disturbed(source=[no_fault()], results=[no_fault()], by_path=True)
        local = dict(zip(('source', 'results'), first.steps))
        each = EveryStep(Pgsql, SHORT, (JOBS, 'sync'), RECORD, UNLOCK)
        cases = each.amid_jobs(steps['source'])
        for side in ('source', 'results'):
            cases += each.at_steps(side, steps[side]) + each.by_path(side, local[side])
        cases += for_good(dict(source=(ASSOCIATIONS, JOBS), results=(COUNTER, UPDATE, WRITE)))
        cases += lost_commits() + commits() + other_sessions() + taken_away()
        try_all(cases, rigs, report)
        verifications(first)
        ledger_commits(first)
        for case, outcome in of_own_server():
            case.judge(outcome, report)
        never_written(server, SOURCE, before, rigs, ('SELECT', 'COPY (SELECT ', 'BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT', 'RELEASE'))
    report.write()


tap.main(body)
