# SPDX-License-Identifier: MIT
"""The exit status of a run and the state of monitors after it, for each fault and each database.
The table CASES contains the steps, which run on a ground for each kind of database."""

import contextlib
import json
import os
import re
import resource
import shutil
import sqlite3
import time

import clock
import preload
import tap
from fault_cases import Since
from place import TINY, Place
from program import write_settings
from proxy import Fault, Proxy
from server import Session

DAY = 86400
LEVELS = ['ok', 'warning', 'critical']
DRAWING = TINY + '''job physics.alice start={0} end={1} billing=4
job physics.bob start={2} end={3} billing=2
job physics.bob start={4} end={5} billing=2
job chemistry.carol start={6} end=0 billing=3
'''


class Ground(Place):
    """A ground in SQLite."""

    def __enter__(self):
        super().__enter__()
        clock.make(self.folder)
        return self

    # The databases.

    def make_source(self, drawing):
        self.site(drawing)

    def make_results(self):
        """Creates new tables, if there are settings."""
        for name in os.listdir(self.folder):
            if name.startswith('r.db'):
                os.unlink(self.path(name))
        self.succeed('init')

    def sections(self):
        return dict(source=dict(driver='sqlite', database=self.path('a.db')),
                    results=dict(driver='sqlite', database=self.path('r.db')))

    def source(self, text):
        return self.change(text)

    def results(self, text):
        return self.query(text)

    def save(self, which):
        with contextlib.closing(sqlite3.connect(self.path(f'{which}.db'))) as db:
            with contextlib.closing(sqlite3.connect(self.path(f'{which}-saved'))) as saved:
                db.backup(saved)

    def restore(self, which):
        with contextlib.closing(sqlite3.connect(self.path(f'{which}-saved'))) as saved:
            with contextlib.closing(sqlite3.connect(self.path(f'{which}.db'))) as db:
                saved.backup(db)

    # Faults, for as long as a `with` lasts.

    @contextlib.contextmanager
    def writer(self):
        """Another program writes the results, and does not end."""
        db = sqlite3.connect(self.path('r.db'), isolation_level=None)
        db.execute('BEGIN IMMEDIATE')
        yield {}
        db.close()

    @contextlib.contextmanager
    def ends_amid(self):
        """The source ends after some of its rows."""
        shutil.copy(self.path('a.db'), self.path('whole'))
        os.truncate(self.path('a.db'), os.path.getsize(self.path('a.db')) // 2 // 4096 * 4096)
        yield {}
        shutil.copy(self.path('whole'), self.path('a.db'))

    @contextlib.contextmanager
    def full(self):
        """The results have no space left."""
        yield dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))

    ended_amid = 1  # a truncated file is damaged
    denied = None  # root may read every file

    # Commands.

    def configure(self, **usage):
        sections = self.sections()
        sections['source']['deadline'] = '3 s'
        write_settings(self.path('fm.conf'), sections | dict(usage=dict(half_life=0) | usage))

    def begin(self, at=None, **usage):
        """Creates a site whose last job started an hour before, and runs once."""
        at = at or int(time.time())
        self.make_source(DRAWING.format(at - 6 * DAY, at - 5 * DAY, at - 4 * DAY, at - 3 * DAY, at - 3000,
                                        at - 2000, at - 3600))
        self.configure(**usage)
        self.make_results()

    def clocked(self, ahead, *arguments, **more):
        if ahead:
            more['env'] = clock.environment(self.path('clock.so'), ahead)
        return self.run(*arguments, **more)

    def monitors(self, ahead):
        """Returns {cluster: {problem}}, the level, and the contradictions."""
        status = self.clocked(ahead, 'status', '--json')
        clusters = json.loads(self.out)['clusters'] if self.out else []
        problems = {each['cluster']: set(filter(None, each['problems'].split(','))) for each in clusters}
        level = max((each['health'] for each in clusters), key=LEVELS.index, default='critical')
        wrong = [f'status ends with {status}'] if bool(status) != (level != 'ok') else []
        nagios = self.clocked(ahead, 'status', '--nagios', '--max-age', '1d')
        if nagios != LEVELS.index(level) or not self.out.startswith(f'FAIRMILL {level.upper()} - '):
            wrong.append(f'status --nagios ends with {nagios}: {self.out}')
        self.clocked(ahead, 'metrics')
        named = {each: set() for each in problems}
        for cluster, problem in re.findall(r'^fairmill_problem\{cluster="(.*?)",problem="(.*?)"\} 1$', self.out, re.M):
            named[cluster].add(problem)
        if named != problems:
            wrong.append(f'the metrics have {named}')
        return problems, level, wrong


class OnServer(Ground):
    """A ground on a server, with databases for this test only, whose tables are created once."""

    ended_amid = 69

    def __init__(self, server, hold):
        self.server, self.hold = server, hold
        self.names = dict(a='matrix_a', r='matrix_r')
        self.made = False
        server.login('matrix_reader')
        server.accounting(self.names['a'], ['tiny'])
        server.allow('matrix_reader', 'SELECT', self.names['a'])

    def make_source(self, drawing):
        """Creates the drawn site on the server."""
        self.site(drawing)
        tables = self.server.tables(self.names['a'])
        text = [self.server.LENIENT]
        for table, in self._query('a.db', "SELECT name FROM sqlite_master WHERE type = 'table'"):
            if table not in tables:
                continue
            there = self.server.columns(table, self.names['a'])
            columns = [row[1] for row in self._query('a.db', f'PRAGMA table_info("{table}")') if row[1] in there]
            quoted = ', '.join(f'"{name}"' for name in columns)
            text.append(f'DELETE FROM "{table}";')
            for row in self._query('a.db', f'SELECT {quoted} FROM "{table}"'):
                values = ', '.join('NULL' if value is None else "'%s'" % str(value).replace("'", "''") for value in row)
                text.append(f'INSERT INTO "{table}" ({quoted}) VALUES ({values});')
        self.server.sql('\n'.join(text), self.names['a'])

    def make_results(self):
        if self.made:
            self.restore('r', 'empty')
            return
        self.server.database(self.names['r'])
        self.succeed('init')
        self.save('r', 'empty')
        self.made = True

    def sections(self):
        return dict(source=self.server.connection(self.names['a']) | dict(user='matrix_reader'),
                    results=self.server.connection(self.names['r']))

    def source(self, text):
        return self.server.sql(self.server.LENIENT + text, self.names['a'])

    def results(self, text):
        return [tuple(row) for row in self.server.sql(self.server.LENIENT + text, self.names['r'])]

    def copy(self, which, pairs, end):
        tables = self.server.sql(f'SELECT table_name FROM information_schema.tables WHERE table_schema = {self.server.SCHEMA} '
                                 "AND table_type = 'BASE TABLE'", self.names[which])
        statements = [pairs.format(table, f'{table}_{end}') for table, in tables if not table.endswith(('_saved', '_empty'))]
        self.server.sql(self.server.LENIENT + '\n'.join(statements), self.names[which])

    def save(self, which, end='saved'):
        self.copy(which, 'DROP TABLE IF EXISTS "{1}"; CREATE TABLE "{1}" AS SELECT * FROM "{0}";', end)

    def restore(self, which, end='saved'):
        self.copy(which, 'DELETE FROM "{0}"; INSERT INTO "{0}" SELECT * FROM "{1}";', end)

    @contextlib.contextmanager
    def writer(self):
        with Session(self.server, self.names['r']) as session:
            session.do(self.hold)
            yield {}
            session.do(self.server.LET_GO)

    @contextlib.contextmanager
    def ends_amid(self):
        with Proxy(self.server, Fault('cut', Since(r'FROM "tiny_job_table"'), for_good=True)) as proxy:
            usual = self.sections()
            self.sections = lambda: usual | dict(source=dict(
                driver=usual['source']['driver'], database=self.names['a'], user='matrix_reader', host='127.0.0.1',
                port=proxy.port))
            self.configure()
            yield {}
        del self.sections
        self.configure()

    @contextlib.contextmanager
    def denied(self):
        """The login may not read the source."""
        self.server.deny('matrix_reader', 'SELECT', self.names['a'])
        yield {}
        self.server.allow('matrix_reader', 'SELECT', self.names['a'])

    full = None  # t/faults/mysql.t and pgsql.t have servers with a full disk


# Steps: functions of a ground and the case's name.

def run(wanted, *arguments, ahead=0, says='', amid=None):
    def step(ground, name):
        status = getattr(ground, wanted) if isinstance(wanted, str) else wanted
        with getattr(ground, amid)() if amid else contextlib.nullcontext({}) as more:
            got = ground.clocked(ahead, 'run', *arguments, **more)
        tap.ok(got == status and says in ground.err and bool(ground.err) == bool(status),
               f'{name}: a run ends with {status}{f", says {says!r}" if says else ""}', got, ground.err)
    return step


def told(*problems, level=None, ahead=0, others=None):
    """Returns a step that compares the monitors' problems of the only cluster."""
    level = level or ('warning' if problems else 'ok')

    def step(ground, name):
        got, its_level, wrong = ground.monitors(ahead)
        wanted = {'tiny': set(problems)} | (others or {})
        tap.ok((got, its_level, wrong) == (wanted, level, []),
               f"{name}: monitors report {', '.join(problems) or 'no problem'}", got, its_level, *wrong)
    return step


def do(action):
    def step(ground, _):
        action(ground)
    return step


def source(text):
    return do(lambda ground: ground.source(text))


def right():
    """Returns a step that compares the results with an integral over the source that uses no code
    of fairmill."""
    def step(ground, name):
        (now, got), = ground.results("SELECT computed_at, usage_raw FROM fairmill_fairshare WHERE parent_id IS NULL")
        wanted = 0
        for start, end, tres in ground.source('SELECT time_start, time_end, tres_alloc FROM tiny_job_table'):
            billing = int(re.search(r'\b5=(\d+)', tres)[1])
            wanted += billing * max(0, min(int(end) or int(now), int(now)) - int(start))
        tap.same(float(got), float(wanted), f'{name}: the results are those of the source')
    return step


def drifted(wanted):
    def step(ground, name):
        ground.run('metrics')
        tap.same([float(value) for value in re.findall(r'^fairmill_drift_tres_seconds\{.*\} (.*)$', ground.out, re.M)], [wanted],
                 f'{name}: the metrics contain the drift')
    return step


def at_work(ground, name):
    """Two hosts start a run at the same time."""
    both = [ground.start('run') for _ in range(2)]
    said = [process.communicate(timeout=tap.HANG)[1].decode() for process in both]
    ended = sorted(process.returncode for process in both)
    tap.ok(ended in ([0, 0], [0, 75]) and all('another run' in text for text, process in zip(said, both) if process.returncode),
           f'{name}: one run publishes, the other publishes or ends with 75', ended, said)


def at_switches(ground, name):
    """Tests the hour that Berlin has twice, 2026-10-25 02:00 to 03:00; the day began at 22:00
    UTC."""
    midnight = 1792879200  # 2026-10-24 22:00:00 UTC
    ground.begin(at=midnight - 3600, time_zone='Europe/Berlin', reset_period='daily')
    for hours in (-.5, 2.5, 3.5, 25.5):
        ahead = int(midnight + hours * 3600 - time.time())
        run(0, ahead=ahead)(ground, f'{name}, {hours} h after midnight')
        told(ahead=ahead)(ground, f'{name}, {hours} h after midnight')
        (now, got), = ground.results("SELECT computed_at, usage_raw FROM fairmill_fairshare WHERE user_name = 'carol'")
        # The job began two hours before that midnight.  This day has 25 hours.
        since_reset = int(now) - (midnight - 7200 if hours < 0 else midnight if hours < 25 else midnight + 25 * 3600)
        tap.same(float(got), 3.0 * since_reset, f'{name}, {hours} h after midnight: the usage of the day is right')


FUTURE = ('in_future', 'last_run_failed')
MORE = ("INSERT INTO tiny_job_table (job_db_inx, id_job, id_assoc, id_qos, time_submit, time_start, time_end, tres_alloc, account, "
        "cpus_req, job_name, id_resv, id_wckey, id_user, id_group, het_job_id, het_job_offset, state_reason_prev, nodes_alloc, "
        '"partition", priority, state) SELECT 77, 77, id_assoc, id_qos, time_submit, time_start, time_start + 900, tres_alloc, account, '
        "cpus_req, job_name, id_resv, id_wckey, id_user, id_group, het_job_id, het_job_offset, state_reason_prev, nodes_alloc, "
        '"partition", priority, state FROM tiny_job_table WHERE time_end = 0')
# Deleting the oldest job would be a purge, after which nothing is compared.
LOST = 'DELETE FROM tiny_job_table WHERE job_db_inx = 2'

# Name, fault of the ground, and steps; each case begins with a successful run.
CASES = [
    ('no fault', None, [told(), right()]),
    ('a clock two days ahead', None, [
        run(0, ahead=2 * DAY), told('in_future', 'clock', level='critical'),
        run(1, says='before the published values'), told(*FUTURE, level='critical'),
        run(0, '--replace'), told(), right()]),
    ('a clock that is a day slow', None, [
        told('in_future', 'clock', level='critical', ahead=-DAY),
        run(1, ahead=-DAY, says='before the published values'), told(*FUTURE, level='critical', ahead=-DAY),
        told('last_run_failed'), run(0), told(), right()]),
    ('jobs are lost', None, [
        source(LOST), run(0, '--full'), told(), right(), drifted(2. * DAY)]),
    ('all associations are lost', None, [
        do(lambda ground: ground.save('a')), source('DELETE FROM tiny_assoc_table'), run(65), told('last_run_failed'),
        do(lambda ground: ground.restore('a')), run(0), told(), right()]),
    ('the cluster is lost', None, [
        do(lambda ground: ground.save('a')), source('DELETE FROM cluster_table'), run(65), told('vanished', 'last_run_failed'),
        do(lambda ground: ground.restore('a')), run(0), told(), right()]),
    ('the source is restored from an older backup', None, [
        do(lambda ground: ground.save('a')), source(MORE), run(0), right(),
        do(lambda ground: ground.restore('a')), run(0), told(), right()]),
    ('the results are restored from an older backup', None, [
        do(lambda ground: ground.save('r')), source(MORE), run(0), run(0, '--full'), right(),
        do(lambda ground: ground.restore('r')), told(), run(0), told(), right()]),
    # A run cannot record a row in this case, so it leaves a file.
    ('another program writes the results', 'writer', [
        run(69, amid='writer'), told('unrecorded'), run(0), told(), right()]),
    ('the source ends within its rows', 'ends_amid', [
        run('ended_amid', amid='ends_amid'), told('last_run_failed'), run(0), told(), right()]),
    ('the login may not read the source', 'denied', [
        run(78, says='GRANT', amid='denied'), told('last_run_failed'), run(0), told(), right()]),
    ('the results have no space left', 'full', [
        run(69, amid='full', says='r.db'), told('unrecorded'), run(0), told(), right()]),
    ('two hosts', None, [at_work, told(), right()]),
    ('summer time ends', None, [at_switches]),
]


def try_all(ground):
    if not preload.compiler():
        tap.skip_all('no compiler for a library with another clock')
    with ground:
        for name, fault, steps in CASES:
            if fault and not getattr(ground, fault):
                continue
            ground.begin()
            run(0)(ground, name)
            for step in steps:
                step(ground, name)
