#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that the steps of doc/operations.md upgrade the results of 0.1.0 and the privileges on them
to this release."""

import os
import re
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import names
import tap
from mariadb import Server, default_role
from place import NOW, Place
from postgres import Postgres
from program import FAIRMILL, TOP
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


def rows_of_old():
    """Returns the statements that fill the tables of 0.1.0, including the rows that its init
    created."""
    return re.findall(r'^INSERT INTO .*?\);$', release('0.1.0.sql'), re.DOTALL | re.MULTILINE)


def fill(server, before=''):
    server.sql('\n'.join([before, 'DELETE FROM fairmill_schema;', 'DELETE FROM fairmill_lock;', *rows_of_old()]), NAME)


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

    def make(self):
        for name in os.listdir(self.folder):
            if name.startswith(f'{NAME}.db'):
                os.remove(f'{self.folder}/{name}')
        db = sqlite3.connect(f'{self.folder}/{NAME}.db')
        db.executescript(fit(release('0.1.0.sql')))
        db.close()

    def counts(self):
        return {table: self.sql(f'SELECT count(*) FROM {table}', NAME)[0][0] for table in KEPT}

    def execute(self, text):
        db = sqlite3.connect(f'{self.folder}/{NAME}.db', isolation_level=None)
        db.execute(text)
        db.close()

    def columns(self, table):
        return [row[0] for row in self.sql(f"SELECT name FROM pragma_table_xinfo('{table}')", NAME)]


class OnServer(Old):
    def counts(self):
        return {table: int(self.sql(f'SELECT count(*) FROM {table}', NAME)[0][0]) for table in KEPT}

    def execute(self, text):
        self.sql(text, NAME)

    def columns(self, table):
        return super().columns(table, NAME)

    def read_as(self, user, what):
        """Returns whether the login may read the table."""
        return self.allowed(user, f'SELECT count(*) FROM {what}')


class OldMariadb(OnServer, Server):
    user = NAME

    def make(self):
        self.sql(f'DROP DATABASE IF EXISTS {NAME}')
        for login in (NAME, 'upgraded_reader', 'upgraded_grafana'):
            self.sql(f'DROP USER IF EXISTS {login}@localhost')
            self.login(login)
        # The login of this test needs no user of the host.  By default, MySQL rejects REVOKE of a
        # privilege that was not granted; an administrator skipped this line of 0.1.0.
        old = re.sub(r'.*CREATE USER.*\n', '', named(release('0.1.0-mysql.sql')))
        self.sql(re.sub('^REVOKE ', 'REVOKE /*!80030 IF EXISTS */ ', old, flags=re.MULTILINE))
        fill(self, "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES';")
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

    def make(self):
        self.sql(f'DROP DATABASE IF EXISTS {NAME}')
        self.sql(named(release('0.1.0-pgsql.sql')))
        for login in ('upgraded_reader', 'upgraded_grafana', 'upgraded_columns', 'upgraded_other'):
            self.login(login)
        fill(self)
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
    before, jobs = server.counts(), server.sql(JOBS, NAME)

    ends(78, 'a run rejects the results of 0.1.0', 'run', '--now', LATER)
    place.says(f'{kind}: the error suggests fairmill init', 'fairmill init')
    if server.user:
        ends(78, 'a writer cannot upgrade the results', 'init')
        place.says(f'{kind}: the error names the role for the upgrade', 'fairmill_owner')
        server.become_owner()
    for statement, word, mend in server.in_the_way:
        ends(1, f'init fails: {statement}', 'init')
        place.says(f'{kind}: the error names the obstacle', word)
        tap.ok(server.counts() == before and server.sql('SELECT max(version) FROM fairmill_schema', NAME) == [['3']],
               f'{kind}: the failed init changes nothing')
        server.execute(mend)
    ends(0, 'init upgrades the results', 'init')
    tap.same(server.counts(), before, f'{kind}: no row is lost')
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


def body():
    with OldMariadb() as mariadb, OldPostgres() as postgres, Place() as place:
        for server, kind in ((OldSqlite(place.folder), 'SQLite'), (mariadb, 'MariaDB'), (postgres, 'PostgreSQL')):
            upgrade(place, server, kind)
            at_once(place, server, kind)


tap.main(body)
