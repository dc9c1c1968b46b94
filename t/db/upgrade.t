#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that the steps of doc/operations.md upgrade the results of 0.1.0 and 0.2.0, and the
privileges on them, to this release."""

import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import names
import tap
from mariadb import Server, default_role
from place import NOW, Place
from postgres import Postgres
from program import FAIRMILL, TOP
from proxy import Fault, Proxy
from server import Session
from sqlite import Sqlite, fit

RELEASES = os.path.join(TOP, 't', 'data', 'releases')
NAME = 'upgraded'  # name of the database and of the login
LATER = NOW + 20000
# Tables whose rows cannot be computed again.
KEPT = ('fairmill_ledger', 'fairmill_history', 'fairmill_history_point', 'fairmill_association', 'fairmill_share_change',
        'fairmill_run', 'fairmill_settings', 'fairmill_finding')
OWN_VIEW = 'CREATE VIEW site_view AS SELECT account, username, fairshare FROM fairmill_sshare'
JOBS = ('SELECT id_job, user_name, account, partition_name, qos, age_factor, age_weighted, tres_weighted, priority, priority_norm, best '
        'FROM fairmill_job_priority ORDER BY job_db_inx, partition_name, qos')
OWN_DIRECT = 'CREATE VIEW site_direct AS SELECT account, user_name, fairshare, level_fs_infinite FROM fairmill_fairshare'
OWN_JOBS = 'CREATE VIEW site_jobs AS SELECT user_name, priority, priority_norm FROM fairmill_job_priority'
# The site of 0.1.0 had no pending job.
PARTS = ('age', 'fairshare', 'job_size', 'partition', 'qos', 'assoc')
OLD_JOB = ('INSERT INTO fairmill_job_priority (cluster, job_db_inx, partition_name, qos, id_job, user_name, account, best, '
           + ', '.join(f'{part}_factor, {part}_weighted' for part in PARTS) + ', tres_factors, tres_weighted, priority, priority_norm, run_id, computed_at) '
           "VALUES ('old', '18446744073709551615', 'short', 'normal', 7, 'alice', 'physics', 1, " + '0.25, 250, ' * len(PARTS) + "'cpu=0.12', 'cpu=12', "
           '4294967295, 0.5, 1, 1)')
# A job of OpenPBS, which 0.1.0 did not support.
NO_PRIORITY = ("INSERT INTO fairmill_job_priority (cluster, job_db_inx, partition_name, qos, id_job, user_name, account, best, run_id, computed_at, job_id) "
               "VALUES ('x', '7', 'workq', '', 7, 'eve', 'a', 1, 1, 1, '7.pbs')")


def release(name):
    return names.text_of(RELEASES, name)


def rows_of(version):
    """Returns the statements that fill the tables of a release, including the rows that its init
    created."""
    return re.findall(r'^INSERT INTO .*?\);$', release(f'{version}.sql'), re.DOTALL | re.MULTILINE)


def fill(server, version, before=''):
    server.sql('\n'.join([before, 'DELETE FROM fairmill_schema;', 'DELETE FROM fairmill_lock;', *rows_of(version)]), NAME)


def named(script):
    return re.sub(r'''(["'`])fairmill\1''', rf'\1{NAME}\1', script)


class Old:
    in_the_way = ()  # obstacles to the upgrade: the obstacle, a word of the message, the repair

    def build_on(self):
        """Creates objects that depend on the tables; servers override it."""

    def goes_on(self):
        """Tests the objects of build_on()."""


class OldSqlite(Old, Sqlite):
    """SQLite knows no roles."""
    user = None

    def make(self, version='0.1.0'):
        for name in os.listdir(self.folder):
            if name.startswith(f'{NAME}.db'):
                os.remove(f'{self.folder}/{name}')
        db = sqlite3.connect(f'{self.folder}/{NAME}.db')
        db.executescript(fit(release(f'{version}.sql')))
        db.execute('PRAGMA journal_mode = WAL')
        db.close()

    def execute(self, text):
        db = sqlite3.connect(f'{self.folder}/{NAME}.db', isolation_level=None)
        db.execute(text)
        db.close()

    def columns(self, table):
        return [row[0] for row in self.sql(f"SELECT name FROM pragma_table_xinfo('{table}')", NAME)]

    def reader(self):
        """Returns a function that reads as a dashboard does, and a function that ends it."""
        db = sqlite3.connect(f'{self.folder}/{NAME}.db', timeout=30, check_same_thread=False)
        return lambda text: db.execute(text).fetchall(), db.close

    @staticmethod
    def interrupted_inits(place):
        """Yields after each init that failed because the disk was full, later each time."""
        size = 0
        while size < 100:
            size += 4
            def limit(size=size):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size * 4096,) * 2)
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            if not place.run('init', preexec_fn=limit):
                return
            yield


class OnServer(Old):
    def execute(self, text):
        self.sql(text, NAME)

    def columns(self, table):
        return super().columns(table, NAME)

    def reader(self):
        session = Session(self, NAME, 'upgraded_reader')
        return session.do, session.close

    def interrupted_inits(self, place):
        """Yields after each init whose connection was cut, later each time."""
        for number in range(4, 10000, 4):
            with Proxy(self, Fault('cut', lambda step, number=number: step.number == number)) as proxy:
                place.cut(proxy)
                place.run('init', settings='cut.conf')
                if not proxy.fired:
                    return
            yield

    def read_as(self, user, what):
        """Returns whether the login may read the table."""
        return self.allowed(user, f'SELECT count(*) FROM {what}')


class OldMariadb(OnServer, Server):
    user = NAME

    def make(self, version='0.1.0'):
        self.sql(f'DROP DATABASE IF EXISTS {NAME}')
        for login in (NAME, 'upgraded_reader', 'upgraded_grafana'):
            self.sql(f'DROP USER IF EXISTS {login}@localhost')
            self.login(login)
        # The login of this test needs no user of the host.  By default, MySQL rejects REVOKE of a
        # privilege that was not granted; an administrator skipped this line of 0.1.0.
        old = re.sub(r'.*CREATE USER.*\n', '', named(release(f'{version}-mysql.sql')))
        self.sql(re.sub('^REVOKE (?!/)', 'REVOKE /*!80030 IF EXISTS */ ', old, flags=re.MULTILINE))
        fill(self, version, "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES';")
        self.sql(f"GRANT fairmill_reader TO upgraded_reader@localhost; {default_role('fairmill_reader', 'upgraded_reader@localhost')}; "
                 f'GRANT SELECT ON {NAME}.fairmill_fairshare TO upgraded_grafana@localhost')

    def become_owner(self):
        self.sql(f"GRANT fairmill_owner TO {NAME}@localhost; {default_role('fairmill_owner', f'{NAME}@localhost')}")

    def become_writer(self):
        self.sql(f"REVOKE fairmill_owner FROM {NAME}@localhost; {default_role('fairmill_writer', f'{NAME}@localhost')}")

    def print_again(self, text):
        self.sql(re.sub(r'.*CREATE USER.*\n', '', text))

    def allowed(self, user, text):
        try:
            self.sql(text, NAME, user)
        except RuntimeError as error:
            if 'denied' in str(error):
                return False
            raise
        return True


class OldPostgres(OnServer, Postgres):
    user = NAME
    allowed = OldMariadb.allowed

    def make(self, version='0.1.0'):
        self.sql(f'DROP DATABASE IF EXISTS {NAME}')
        self.sql(named(release(f'{version}-pgsql.sql')))
        for login in ('upgraded_reader', 'upgraded_grafana', 'upgraded_columns', 'upgraded_other'):
            self.login(login)
        fill(self, version)
        self.sql('GRANT fairmill_reader TO upgraded_reader; GRANT SELECT ON fairmill_fairshare TO upgraded_grafana', NAME)

    def build_on(self):
        self.sql('GRANT SELECT (account, fairshare) ON fairmill_fairshare TO upgraded_columns; '
                 'GRANT SELECT ON fairmill_fairshare TO upgraded_other; GRANT CREATE ON SCHEMA public TO upgraded_other; '
                 'ALTER VIEW site_direct OWNER TO upgraded_other; CREATE MATERIALIZED VIEW site_copy AS SELECT account FROM fairmill_fairshare', NAME)
        self.sql('CREATE VIEW other_view WITH (security_barrier = true) AS SELECT account, user_name, fairshare FROM fairmill_fairshare; '
                 'CREATE VIEW other_second AS SELECT account, fairshare FROM other_view; GRANT SELECT ON other_second TO upgraded_reader', NAME, 'upgraded_other')

    in_the_way = (('a copy of the table', '"site_copy" depends on fairmill_fairshare: drop it', 'DROP MATERIALIZED VIEW site_copy'),
                  ('a view of another user', 'on fairmill_fairshare belongs to "upgraded_other"', f'GRANT upgraded_other TO {NAME}'))

    def goes_on(self):
        tap.same(self.sql("SELECT pg_get_userbyid(relowner), reloptions FROM pg_class WHERE relname = 'other_view'", NAME),
                 [['upgraded_other', '{security_barrier=true}']],
                 'PostgreSQL: the view of another user keeps its owner and its options')
        tap.ok(self.read_as('upgraded_reader', 'other_second'), 'PostgreSQL: views over that view keep working')
        tap.ok(self.allowed('upgraded_columns', 'SELECT account, fairshare FROM fairmill_fairshare')
               and not self.allowed('upgraded_columns', 'SELECT user_name FROM fairmill_fairshare'),
               'PostgreSQL: privileges on columns are kept')
        tap.same(self.sql("SELECT count(*) FROM pg_class WHERE relname IN ('fairmill_former', 'fairmill_moved')", NAME), [['0']],
                 'PostgreSQL: the upgrade leaves no temporary tables')

    def become_owner(self):
        self.sql(f'GRANT fairmill_owner TO {NAME}')

    def become_writer(self):
        self.sql(f'REVOKE fairmill_owner FROM {NAME}')

    def print_again(self, text):
        self.sql('SET client_min_messages = warning;\n' + text)
        tap.same(self.sql("SELECT DISTINCT tableowner FROM pg_tables WHERE tablename LIKE 'fairmill%'", NAME),
                 [['fairmill_owner']], 'PostgreSQL: objects that init added belong to the common owner')


def counts(server, tables=KEPT):
    return {table: int(server.sql(f'SELECT count(*) FROM {table}', NAME)[0][0]) for table in tables}


def promised():
    """Returns {table: columns} of 0.1.0."""
    found = {}
    for line in release('0.1.0-names').splitlines():
        if line.startswith('column '):
            _, table, column = line.split()
            found.setdefault(table, set()).add(column)
    return found


def printed_fairshare(place):
    place.succeed('show', '--csv', '--columns', 'username,rawusage,fairshare', '--noheader')
    return sorted(place.out.split())


def upgrade(place, server, kind):
    def ends(status, statement, *arguments):
        return place.ends(status, f'{kind}: {statement}', *arguments)
    server.make()
    place.site()
    keys = {f'results.{key}': value for key, value in server.connection(NAME).items()}
    place.settings(keys | ({'results.user': server.user} if server.user else {}))
    server.execute(OWN_VIEW)
    server.execute(OWN_DIRECT)
    server.build_on()
    server.execute(OWN_JOBS)
    server.execute(OLD_JOB)
    before, jobs = counts(server), server.sql(JOBS, NAME)

    ends(78, 'a run rejects the results of 0.1.0', 'run', '--now', LATER)
    place.says(f'{kind}: the error suggests fairmill init', 'fairmill init')
    if server.user:
        ends(78, 'a writer cannot upgrade the results', 'init')
        place.says(f'{kind}: the error names the role for the upgrade', 'fairmill_owner')
        server.become_owner()
    for statement, word, mend in server.in_the_way:
        ends(1, f'init fails: {statement}', 'init')
        place.says(f'{kind}: the error names the obstacle', word)
        tap.ok(counts(server) == before and server.sql('SELECT max(version) FROM fairmill_schema', NAME) == [['3']],
               f'{kind}: the failed init changes nothing')
        server.execute(mend)
    ends(0, 'init upgrades the results', 'init')
    tap.same(counts(server), before, f'{kind}: no row is lost')
    tap.ok(jobs and server.sql(JOBS, NAME) == jobs,
           f'{kind}: rows of pending jobs are unchanged', jobs, server.sql(JOBS, NAME))
    server.execute(NO_PRIORITY)
    tap.same(len(server.sql("SELECT user_name FROM site_jobs WHERE priority IS NULL", NAME)), 1,
             f"{kind}: an existing view shows jobs without priority and Slurm's columns")
    server.execute("DELETE FROM fairmill_job_priority WHERE cluster IN ('old', 'x')")
    tap.same({table: sorted(columns - set(server.columns(table))) for table, columns in promised().items()},
             {table: [] for table in promised()}, f'{kind}: no promised column is lost')
    # The values that 0.1.0 published in its last run; t/data/releases/0.1.0.sql has alice's
    # 3.33333333333333314829e-01.
    tap.same(printed_fairshare(place), [',200,', ',350,', ',550,', 'alice,250,0.33333333333333331',
                                        'bob,100,0.66666666666666663', 'carol,200,1'],
             f'{kind}: show prints the results of 0.1.0')
    if server.user:
        server.become_writer()
        place.succeed('init', '--print')
        server.print_again(place.out)
    ends(78, 'verify before the next run compares only history', 'verify')
    place.says(f'{kind}: verify suggests a run', 'only history was compared', '`fairmill run`')
    ends(0, 'the next run succeeds', 'run', '--now', LATER)
    tap.same(printed_fairshare(place)[3:], ['alice,250,0.33333333333333331', 'bob,100,0.66666666666666663', 'carol,200,1'],
             f'{kind}: the run publishes the same values for the same site')
    ends(0, 'verify finds no difference', 'verify')
    ends(0, 'the entry of the ledger is kept', 'ledger', 'list', '--csv', '--noheader')
    tap.ok('a node failed' in place.out, f'{kind}: the entry has its reason', place.out)
    ends(0, 'the history points are kept', 'history', 'alice', '--csv', '--noheader')
    tap.same(sum(f',{instant},' in place.out for instant in (NOW, NOW + 7200, LATER)), 3,
             f'{kind}: history has the points of 0.1.0 and a new one')
    rows = server.sql('SELECT username, fairshare FROM site_view WHERE username = \'alice\'', NAME)
    tap.ok([(name, f'{float(value):.6f}') for name, value in rows] == [('alice', '0.333333')],
           f"{kind}: a site's own view over fairmill_sshare keeps working", rows)
    rows = server.sql("SELECT fairshare, level_fs_infinite FROM site_direct WHERE user_name = 'alice'", NAME)
    tap.ok([(f'{float(value):.6f}', str(infinite)) for value, infinite in rows] == [('0.333333', '0')],
           f"{kind}: a site's own view over fairmill_fairshare keeps working", rows)
    server.goes_on()
    if server.user:
        tap.ok(server.read_as('upgraded_reader', 'fairmill_sshare') and server.read_as('upgraded_reader', 'fairmill_account'),
               f'{kind}: the role of readers can still read')
        tap.ok(server.read_as('upgraded_grafana', 'fairmill_fairshare') and not server.read_as('upgraded_grafana', 'fairmill_run'),
               f'{kind}: a privilege on one table is kept')
        for verb, text in (('change', "UPDATE fairmill_ledger SET why = ''"), ('delete', 'DELETE FROM fairmill_ledger_chain'),
                           ('delete', 'DELETE FROM fairmill_ledger_counted')):
            tap.ok(not server.allowed(NAME, text), f'{kind}: a writer may not {verb} in the ledger, new or old: {text}')
    server.execute('INSERT INTO fairmill_schema (version, made_at) VALUES (99, 1)')
    ends(78, 'tables of a later release are rejected', 'run', '--now', LATER + 1)
    place.says(f'{kind}: the error suggests the next steps', 'newer fairmill', 'restore the backup')


def at_once(place, server, kind):
    """Several hosts are upgraded at the same time."""
    wrong = []
    for _ in range(6):
        server.make()
        if server.user:
            server.become_owner()
        inits = [subprocess.Popen([FAIRMILL, '-c', place.path('fm.conf'), 'init'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(4)]
        wrong += [(init.returncode, text) for init in inits for text in [init.communicate(timeout=tap.HANG)[0].decode()] if init.returncode or text]
    newest = server.sql('SELECT version, count(*) FROM fairmill_schema GROUP BY version ORDER BY version DESC', NAME)
    tap.ok(not wrong and int(newest[0][1]) == 1 and len(newest) == 2,
           f'{kind}: four concurrent init succeed', newest, *wrong[:4])
    if server.user:
        server.become_writer()


# ---- 0.2.0 ----

SITE = f'''
cluster tiny
root/
  physics/   60
    alice    10  use 300
    bob      20  use 100
  chemistry/ 40
    carol     1  use 200
qos 2 factor=1.5 name=low
qos 3 factor=1 name=high
job physics.alice start=1750400000 end=1750403600 billing=4 qos=2
job chemistry.carol start={NOW - 100} end=0 billing=1 limit=1000
job physics.bob id_job=7 submit={NOW - 100} time_eligible={NOW - 100} partition=p tres_req=1=60 limit=60
job physics.bob id_job=8 start=1750460000 end=1750460010 billing=1
'''
# The settings of the runs of 0.2.0.
RECORDED = {'usage.time_zone': 'UTC', 'report.private': 'usage,jobs', 'priority.weight_fairshare': 1000, 'priority.weight_age': 100,
            'retention.history_days': 9999}
FRESH = 'upgraded_fresh'
# Tables and views that a run computes.
COMPUTED = ('fairmill_fairshare', 'fairmill_job_priority', 'fairmill_tres', 'fairmill_budget', 'fairmill_usage_day', 'fairmill_tres_day',
            'fairmill_wait_day', 'fairmill_privilege', 'fairmill_account', 'fairmill_waiting')


class Site(Place):
    """The site whose results 0.2.0 published."""

    def begin(self, server):
        self.site(SITE)
        self.change('UPDATE tiny_job_table SET id_assoc = 99 WHERE id_job = 8')
        self.change("UPDATE tiny_assoc_table SET mod_time = ? WHERE user = 'bob'", NOW + 60)
        self.change("INSERT INTO acct_coord_table (creation_time, deleted, acct, user) VALUES (1, 0, 'physics', 'alice')")
        self.connect = lambda keys, name='fm.conf': self.settings(RECORDED | {f'results.{key}': value for key, value in keys.items()}, name)
        self.keys = server.connection(NAME) | ({'user': server.user} if server.user else {})
        self.connect(self.keys)

    def cut(self, proxy):
        """Writes settings that connect through the proxy."""
        self.connect(self.keys | {'socket': proxy.socket}, 'cut.conf')


class Reader(threading.Thread):
    """Reads the values all the time until it is stopped."""

    QUERY = 'SELECT account, username, fairshare FROM fairmill_sshare ORDER BY 1, 2'

    def __init__(self, server):
        super().__init__(daemon=True)
        self.ask, self.close = server.reader()
        self.first = self.ask(self.QUERY)
        self.count, self.wrong, self.stopping = 0, [], False
        self.start()

    def run(self):
        while not self.stopping:
            try:
                answer = self.ask(self.QUERY)
            except (sqlite3.Error, RuntimeError) as error:
                answer = error
            self.count += 1
            if answer != self.first:
                self.wrong.append(answer)

    def stop(self):
        enough = self.count + 2
        tap.until(lambda: self.count >= enough or not self.is_alive())
        self.stopping = True
        self.join()
        self.close()


def init_while_read(place, server, kind):
    """Interrupts init again and again, later each time, while a dashboard reads."""
    tables = [table for table in dict.fromkeys(re.findall('^INSERT INTO "(.*?)"', release('0.2.0.sql'), re.MULTILINE))
              if table not in ('fairmill_schema', 'fairmill_lock')]
    before, wrong, times = counts(server, tables), [], 0
    tap.ok(len(before) > 25 and all(before.values()), f'{kind}: each table of 0.2.0 has rows', before)
    reader = Reader(server)
    for _ in server.interrupted_inits(place):
        times += 1
        complete = server.sql('SELECT max(version) FROM fairmill_schema', NAME) != [['8']] and place.run('show') == 0
        if not complete and (place.run('show') != 78 or 'fairmill init' not in place.err):
            wrong.append(f'show after {times} interruptions: {place.err}')
        if counts(server, tables) != before:
            wrong.append(f'rows after {times} interruptions: {counts(server, tables)}')
    place.ends(0, f'{kind}: init completes an upgrade that was interrupted several times', 'init')
    reader.stop()
    tap.ok(times > 3 and not wrong, f'{kind}: until then, no row is lost and commands ask for init', times, *wrong[:4])
    tap.ok(len(reader.first) > 5 and not reader.wrong, f'{kind}: a dashboard reads the same values during the upgrade',
           f'{len(reader.wrong)} of {reader.count}', *reader.wrong[:2])
    tap.same(counts(server, tables), before, f'{kind}: the upgrade of 0.2.0 loses no row')


def computed(server, database):
    rows = {}
    for table in COMPUTED:
        columns = ', '.join(f'"{name}"' for name in server.columns(table) if name not in ('run_id', 'computed_at', 'first_seen', 'last_seen'))
        ansi = "SET sql_mode = 'ANSI_QUOTES'; " if isinstance(server, OldMariadb) else ''
        rows[table] = sorted(map(str, server.sql(f'{ansi}SELECT {columns} FROM {table}', database)))
    return rows


def upgrade_with_data(place, server, kind):
    server.make('0.2.0')
    place.begin(server)
    if server.user:
        server.become_owner()
    init_while_read(place, server, kind)
    place.ends(0, f'{kind}: budget exits with status 0 before the next run', 'budget')
    place.says(f'{kind}: it says that the results are of the earlier release', 'from fairmill 0.2.0; until the next run')
    if server.user:
        server.become_writer()
        place.succeed('init', '--print')
        server.print_again(place.out)
    place.ends(0, f'{kind}: the run after the upgrade succeeds', 'run', '--now', LATER)
    place.ends(0, f'{kind}: verify finds no difference to what 0.2.0 kept', 'verify')
    if server.user:
        tap.ok(all(server.read_as('upgraded_reader', name) for name in ('fairmill_sshare', 'fairmill_tres_day', 'fairmill_budget')),
               f'{kind}: the role of readers can read what this release adds')
    place.succeed('history', 'alice', '--csv', '--noheader')
    tap.same([instant for instant in (1750291200, 1750377600, 1750464000, NOW, NOW + 7200, LATER) if f',{instant},' not in place.out], [],
             f'{kind}: history has the points of the backfill and of each run')
    place.succeed('ledger', 'export', place.path('ledger.json'))
    server.database(FRESH)
    place.connect(server.connection(FRESH))
    place.succeed('init')
    place.succeed('ledger', 'import', place.path('ledger.json'))
    place.succeed('run', '--now', LATER)
    upgraded, fresh = computed(server, NAME), computed(server, FRESH)
    tap.same([table for table in COMPUTED if upgraded[table] != fresh[table]], [], f'{kind}: a fresh site with this ledger has the same values')
    tap.same([table for table in COMPUTED if not fresh[table] and table not in ('fairmill_tres', 'fairmill_budget', 'fairmill_tres_day')], [],
             f'{kind}: these tables have rows')


def body():
    with OldMariadb() as mariadb, OldPostgres() as postgres, Site() as place:
        for server, kind in ((OldSqlite(place.folder), 'SQLite'), (mariadb, 'MariaDB'), (postgres, 'PostgreSQL')):
            upgrade_with_data(place, server, kind)
        for server, kind in ((OldSqlite(place.folder), 'SQLite'), (mariadb, 'MariaDB'), (postgres, 'PostgreSQL')):
            upgrade(place, server, kind)
            at_once(place, server, kind)


tap.main(body)
