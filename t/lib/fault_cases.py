# SPDX-License-Identifier: MIT
"""Tests of disturbed runs that apply to every server.  Each step of a run is cut, reset and
stalled, a database is lost permanently, and responses to COMMITs are lost."""

import concurrent.futures
import contextlib
import os
import subprocess
import threading
import time

import tap
from faults import LONG, SOURCE, at_once, draw
from program import FAIRMILL
from proxy import Fault, Proxy, always, no_fault, same_as, sql
from server import Session

# The deadline for runs that must fail, and the deadline for runs that must recover.
DEADLINE = 2
PATIENT = 20
# A stalled run fails within twice the deadline for each of two databases.  Test hosts may be slow.
IN_TIME = 20

WORDS = dict(cut='connection cut', reset='connection reset', stall='connection stalled')


class Case:
    """One test: a disturbed run, and then an undisturbed run."""

    def __init__(self, statement, piece, good, fault, where, most=IN_TIME, first=False):
        self.statement, self.piece, self.good = statement, piece, good
        self.fault, self.where, self.most = fault, where, most
        self.first = first  # to be started before others, because it takes long

    def __call__(self, rig):
        outcome = self._once(rig)
        if outcome.wrong or self._is_good(outcome):
            return outcome
        # On a busy host, a run may fail before it reaches the step or at another statement, or may
        # end late.
        print('# retry:', self.statement, *str(outcome).split(), flush=True)
        return self._once(rig)

    def _is_good(self, outcome):
        return outcome.fired and all(outcome.fired) and outcome.seconds < self.most and self.good(outcome)

    def _once(self, rig):
        outcome = self.piece(rig)
        outcome.wrong += rig.next_run()
        return outcome

    def judge(self, outcome, report):
        if isinstance(outcome, Exception):
            return tap.ok(False, self.statement, repr(outcome))
        report.note(self.fault, self.where, outcome)
        return tap.ok(not outcome.wrong and self._is_good(outcome), self.statement,
                      outcome, f'the faults happened {outcome.fired} times', *outcome.wrong)


def try_all(cases, rigs, report):
    """Runs the cases that wait for long first.  Then runs two of the others at a time for each
    processor, because a slow server is treated as dead."""
    few = rigs[:2 * os.cpu_count()]
    for first, at_work in ((True, rigs), (False, few)):
        some = [case for case in cases if case.first == first]
        for case, outcome in zip(some, at_once(some, at_work)):
            case.judge(outcome, report)


def ends(status, results=None, *texts):
    """Returns a check of an outcome."""
    return lambda outcome: (outcome.status == status and results in (None, outcome.results)
                            and all(text in outcome.said for text in texts))


def waits_in_vain(*limits):
    """Returns a check of two limits of the same length, either of which may be reached first."""
    return lambda outcome: ends(69, 'old')(outcome) and any(text in outcome.said for text in limits)


DONE = ends(0, 'new')


def big_fails(status, *texts):
    """The cluster `big` fails, and the other one is done."""
    return lambda outcome: (ends(status, None, *texts)(outcome)
                            and outcome.published == dict(big='old', small='new'))


def database_of(side):
    return "database 'faults_" + ('acct' if side == 'source' else 'res_')


def on(side, fault, deadline=DEADLINE, **more):
    """Returns a run with this fault on the way to one database."""
    return lambda rig: rig.disturbed(**{side: [fault]}, deadline=deadline, **more)


def amid(side, pattern, meanwhile, deadline=PATIENT, kind=None, **more):
    """Returns a run that waits at a step while meanwhile(rig, number of the session) runs."""
    def piece(rig):
        fault = Fault('hold', sql(pattern, kind), meanwhile=lambda: meanwhile(rig, fault.link.protocol.session),
                      **more)
        return rig.disturbed(**{side: [fault]}, deadline=deadline)
    return piece


def between(take, give_back, side='results', judge=True):
    """Returns a run while something is removed."""
    def piece(rig):
        take(rig)
        outcome = rig.disturbed(**{side: [no_fault()]}, deadline=DEADLINE, judge=judge)
        give_back(rig)
        return outcome
    return piece


def locked(hold, release_after=None, deadline=DEADLINE):
    """Another session locks the rows that the run is going to write."""
    def piece(rig):
        with Session(rig.server, rig.results) as session:
            session.do(hold)

            def release():
                session.do(rig.server.LET_GO)
            timer = threading.Timer(release_after or 0, release)
            if release_after:
                timer.start()
            return rig.disturbed(results=[no_fault()], deadline=deadline,
                                 after=timer.join if release_after else release)
    return piece


def ended(side, end, pattern, **more):
    """Another session ends the run's session or statement; `end` is a method of the server."""
    def meanwhile(rig, number):
        getattr(rig.server, end)(number)
        time.sleep(.1)
    return amid(side, pattern, meanwhile, **more)


@contextlib.contextmanager
def own_source(rig, change=''):
    """Creates a separate source for a rig, which can be altered."""
    usual, rig.source = rig.source, draw(rig.server, f'{SOURCE}_{rig.name}')
    try:
        if change:
            rig.server.sql(change, rig.source)
        yield
    finally:
        rig.source = usual


def altered(text, pattern, kind, back='', deadline=DEADLINE):
    """Alters tables as slurmdbd's upgrade does, after the run has looked at their columns and
    before it reads them."""
    def piece(rig):
        with own_source(rig):
            outcome = amid('source', pattern, lambda *_: rig.server.sql(text, rig.source), kind=kind,
                           deadline=deadline)(rig)
            if back:
                rig.server.sql(back, rig.source)
            return outcome
    return piece


def killed(server, side, pattern, answer, kill, again):
    """Kills the server during a run.  The server starts again immediately, or after the run has
    failed."""
    def piece(rig):
        starting = []

        def end():
            kill()
            if again:
                starting.append(pool.submit(server.start))

        def come_back():
            if not again:
                server.start()
            for start in starting:
                start.result()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return rig.disturbed(**{side: [Fault('hold', sql(pattern), answer=answer, meanwhile=end)]},
                                 deadline=40 if again else DEADLINE, after=come_back)
    return piece


def whole_server(server, points, more=()):
    """Kills and stops a server that only this test uses.  `points` is [(side, SQL, bytes of the
    response)]; the short form uses three of them.  `more` is (event, function that causes it)."""
    cases = []
    for number, (side, pattern, answer) in enumerate(points if LONG else points[:3]):
        where = f'{side}, during a run'
        for what, kill in (('killed (SIGKILL)', server.kill), *more):
            cases.append(Case(f'server {what} at {pattern} and started again: the same run publishes',
                              killed(server, side, pattern, answer, kill, True), DONE,
                              f'server {what}, started again', where, most=60))
        if LONG or number == 1:
            # A COMMIT that the server has answered has published one cluster.
            published = 'new/old' if answer == 0 and 'COMMIT' in pattern else 'old'
            cases.append(Case(f'server killed at {pattern} and away: 69 in time',
                              killed(server, side, pattern, answer, server.kill, False),
                              ends(69, published, database_of(side)), 'server killed (SIGKILL), not started again', where))
        if LONG or number == 2:
            # A COMMIT that waits for a server to go on is done then.
            either = answer == 0 or 'COMMIT' in pattern
            # The server may have sent the rest of its response before it stops.  Then the next
            # query waits, in either database.
            named = "database 'faults_" if answer else database_of(side)
            cases.append(Case(f'server stopped at {pattern}: 69 soon after the deadline',
                              on(side, Fault('hold', sql(pattern), answer=answer, meanwhile=server.stop),
                                 after=server.go_on),
                              ends(69, None if either else 'old', named),
                              'server stopped (SIGSTOP) for longer than the deadline', where))
    return cases


class Since:
    """Matches every connection from a step with this SQL on."""

    def __init__(self, pattern):
        self.at = sql(pattern)
        self.begin()

    def begin(self):
        self.reached = False

    def __call__(self, step):
        if not self.reached and self.at(step):
            self.reached = True
            return True
        return self.reached and always(step)


class EveryStep:
    """Chooses faults for every step, or for the steps of a short list, in terms of a server:

    protocol    of protocol.py
    short       {side: [(kind, SQL, number among several, whether every fault is tested)]}
    jobs        SQL of the jobs' query, and the kind of message after which its rows follow
    record      SQL of the row that records the run of a cluster.  After its COMMIT the work is done, and the
                removal of old rows does not change the exit status
    unlock      SQL that releases the lock of the cluster
    unanswered  kinds of messages whose faults have the same effect at the next message"""

    def __init__(self, protocol, short, jobs, record, unlock, unanswered=()):
        self.protocol, self.short, self.jobs, self.unanswered = protocol, short, jobs, unanswered
        self.record, self.unlock = sql(record), sql(unlock)

    def chosen(self, side, steps, without=()):
        """Returns (step, whether every fault is tested) for the steps of the short form, or for all
        steps."""
        if LONG:
            return [(step, True) for step in steps if step.kind not in self.unanswered]
        found = []
        for kind, pattern, which, thorough in self.short[side]:
            if kind in without:
                continue
            fits = sql(pattern, kind) if pattern else (lambda step, kind=kind: step.kind == kind)
            found.append(([step for step in steps if fits(step)][which], thorough))
        return found

    def late(self, steps):
        """Returns the steps at which the work on a cluster was already done."""
        found, at = [], 'work'
        for step in steps:
            if at == 'unlock' and not self.unlock(step):
                at = 'work'  # on the next cluster
            if at in ('prune', 'unlock') or step.kind == 'quit':
                found.append(step)
                at = 'unlock' if self.unlock(step) else at
            elif self.record(step):
                at = 'record'
            elif at == 'record' and 'COMMIT' in step.sql:
                at = 'prune'
        return found

    def case(self, side, action, step, answer, place, where, late=False, by_path=False):
        stalls = action == 'stall'
        good = DONE
        if stalls:
            good = ends(0 if late else 69, 'new' if late else None, '' if late else database_of(side))
        return Case(f"{side}, {WORDS[action]} {place}{' (unix socket)' if by_path else ''}: "
                    + ('69 in time, which names the database' if stalls and not late
                       else 'new results all the same'),
                    on(side, Fault(action, same_as(step), answer=answer), DEADLINE if stalls else PATIENT,
                       by_path=by_path), good, WORDS[action],
                    f"{side}, {where}{' (unix socket)' if by_path else ''}", first=stalls)

    def goes_on(self, step):
        """Returns whether other messages are sent after this one before a response is awaited."""
        return step.kind not in self.protocol.ANSWERED and step.kind not in ('connect', 'quit')

    def actions(self, number, step, thorough):
        """For most of a library, a reset is the same as a cut.  The long form tests a reset at
        every step.  In a group of messages, the last has every fault, and each other has one in
        turn."""
        if not thorough:
            return ('cut',)
        if LONG and self.goes_on(step):
            return (('cut', 'reset', 'stall')[number % 3],)
        return ('cut', 'reset', 'stall') if LONG or 'COMMIT' in step.sql else ('cut', 'stall')

    def at_steps(self, side, steps):
        """Returns cases with one fault at one step; the connection after it works."""
        cases, late = [], self.late(steps)
        for number, (step, thorough) in enumerate(self.chosen(side, steps)):
            answered = step.kind in self.protocol.ANSWERED
            for action in self.actions(number, step, thorough):
                cases.append(self.case(side, action, step, None, f'before {step}', 'before a message', step in late))
                if answered and (action != 'stall' or LONG or 'COMMIT' in step.sql):
                    cases.append(self.case(side, action, step, 0, f'with the answer to {step} lost',
                                           'response lost', step in late))
        return cases

    def by_path(self, side, steps):
        """Returns cases for a unix socket, on which no network reports the loss of the other end."""
        cases, late = [], self.late(steps)
        for number, (step, thorough) in enumerate(self.chosen(side, steps, ('tls',))):
            if LONG and self.goes_on(step) and number % 4:
                continue
            if thorough:
                cases.append(self.case(side, 'stall', step, None, f'before {step}', 'before a message', step in late, True))
                if step.kind in self.protocol.ANSWERED and (LONG or 'COMMIT' in step.sql):
                    cases.append(self.case(side, 'stall', step, 0, f'with the answer to {step} lost',
                                           'response lost', step in late, True))
        return cases

    def amid_jobs(self, steps):
        pattern, kind = self.jobs
        jobs = next(step for step in steps if sql(pattern, kind)(step))
        cases = [self.case('source', action, jobs, length, f'{length} bytes into the answer to {jobs}',
                           'while jobs are read')
                 for action in ('cut', 'reset', 'stall')
                 for length in ((1, 20000, 100000) if LONG else (20000,))]
        cases.append(Case('a slow connection to the source only takes longer',
                          on('source', Fault('slow', same_as(jobs), rate=150000), PATIENT),
                          lambda outcome: DONE(outcome) and outcome.seconds > 1.5, '150 kB/s',
                          'source, while jobs are read', most=60, first=True))
        return cases


def for_good(patterns):
    """Returns cases in which a database is lost permanently: {side: [SQL]}, with the last in the
    short form."""
    cases = []
    for side, of_side in patterns.items():
        for pattern in of_side if LONG else of_side[-1:]:
            for action in ('cut', 'reset', 'stall'):
                cases.append(Case(
                    f"{side}, {action} for good from {pattern} on: 69 in time with the database's name, and old "
                    "results",
                    on(side, Fault(action, Since(pattern), for_good=True)), ends(69, 'old', database_of(side)),
                    f'{WORDS[action]} permanently', f'{side}, during a run', first=True))
    return cases


def publishing_commit(number):
    """Matches the COMMIT after the row of a run: for the first cluster (0), or for the next one."""
    rows = []

    def at(step):
        if step.connection != 1 or step.sql != 'COMMIT':
            if 'INSERT INTO "fairmill_run"' in step.sql and rows[-1:] != [True]:
                rows.append(True)
            return False
        publishes = rows[-1:] == [True]
        if publishes:
            rows[-1] = False
        return publishes and len(rows) == number + 1
    return at


def lost_commits():
    """Returns cases in which the publishing COMMIT reaches the server, but its response is lost."""
    cases = []
    for number, cluster in ((0, 'big'), (1, 'small')) * (10 if LONG else 1):
        for action in ('cut', 'reset'):
            cases.append(Case(
                f'{action} after the COMMIT that publishes {cluster}: the lost response is resolved, and results are '
                'published once',
                on('results', Fault(action, publishing_commit(number), answer=0), PATIENT), DONE,
                'response to the publishing COMMIT lost', 'results'))
    return cases


def ledger_commits(rig):
    """Tests COMMITs of ledger entries, at the end, because an entry changes the results of runs."""
    def credit(fault):
        with Proxy(rig.results_server, fault) as proxy:
            conf = rig.conf + '-ledger'
            rig.write(conf, {}, dict(host='127.0.0.1', port=proxy.port), PATIENT)
            done = subprocess.run([FAIRMILL, '-c', conf, 'ledger', 'credit', '5', '-u', 'u1', '-A', 'a0', '-M', 'big',
                                   '-w', 'a test', '-y'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=tap.HANG, check=False)
            count = int(rig.rows('SELECT count(*) FROM fairmill_ledger')[0][0])
            return fault.happened, done.returncode, count, done.stdout
    happened, status, count, said = credit(Fault('cut', sql('^COMMIT'), answer=0))
    tap.ok((happened, status, count) == (1, 0, 1) and said.startswith('entry 1, '),
           'an entry whose COMMIT reached the server is found after a lost response', happened, status, count, said)
    happened, status, count, said = credit(Fault('cut', sql('^COMMIT')))
    tap.ok((happened, status, count) == (1, 69, 1) and 'cannot tell whether entry 2 was entered' in said,
           'if the COMMIT may not have arrived, the message says so', happened, status, count, said)


def verifications(rig):
    """Tests results that become unavailable while they are read or compared."""
    conf = rig.conf + '-verify'

    def call(*arguments):
        return subprocess.run([FAIRMILL, '-c', conf, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=tap.HANG, check=False)
    for action in ('cut', 'reset'):
        for table in ('fairmill_seal', 'fairmill_value', 'fairmill_kept'):
            published, meant = [], sql(f'SELECT[^;]* FROM "{table}"')
            fault = Fault(action, lambda step, done=published, at=meant: bool(done) and at(step))
            with Proxy(rig.results_server, fault) as proxy:
                rig.write(conf, {}, dict(host='127.0.0.1', port=proxy.port), PATIENT)
                call('run', '--replace', '--now', str(rig.now))
                published.append(True)
                done = call('verify')
            tap.ok((fault.happened, done.returncode) == (1, 69) and rig.results in done.stdout,
                   f'verify, {action} from {table} on: 69 with the name of the database',
                   fault.happened, done.returncode, done.stdout)


def tables_dropped():
    cases = []
    for table in ('fairmill_tree', 'fairmill_value', 'fairmill_run', 'fairmill_lock', 'fairmill_finding',
                  'fairmill_settings', 'fairmill_schema'):
        cases.append(Case(f'{table} dropped: 78 with advice, and init creates it again',
                          between(lambda rig, t=table: rig.server.sql(f'DROP TABLE {t}{rig.server.CASCADE}', rig.results),
                                  lambda rig: rig.command('init', settings=rig.owner), judge=False),
                          ends(78, '', 'fairmill init'), 'a table dropped', 'results, between runs'))
    return cases


def never_written(server, database, before, rigs, harmless):
    """Runs change nothing in the source."""
    tap.same(server.checksums(database), before, 'no row of the source has changed')
    seen = set().union(*(rig.seen_sql for rig in rigs))
    tap.ok(len(seen) > 10 and all(text.startswith(harmless) for text in seen),
           'no statement that a run sends to the source can write', *seen)


def apart(work):
    """Starts this work in a thread; returns a function that waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.extend(at_once([lambda _: work()], [None])))
    thread.start()

    def wait():
        thread.join()
        if isinstance(results[0], Exception):
            raise results[0]
        return results[0]
    return wait
