#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""The results of 0.1.0, with what was granted on them, go on under this release by the steps of
doc/operations.md."""

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
NAME = 'upgraded'  # of the database, and of the login
LATER = NOW + 20000
# Tables whose rows nobody can compute again.
KEPT = ('fairmill_ledger', 'fairmill_history', 'fairmill_history_point', 'fairmill_association', 'fairmill_share_change',
        'fairmill_run', 'fairmill_settings', 'fairmill_finding')
OWN_VIEW = 'CREATE VIEW site_view AS SELECT account, username, fairshare FROM fairmill_sshare'
JOBS = ('SELECT id_job, user_name, account, partition_name, qos, age_factor, age_weighted, tres_weighted, priority, priority_norm, best '
        'FROM fairmill_job_priority ORDER BY job_db_inx, partition_name, qos')
OWN_DIRECT = 'CREATE VIEW site_direct AS SELECT account, user_name, fairshare, level_fs_infinite FROM fairmill_fairshare'
OWN_JOBS = 'CREATE VIEW site_jobs AS SELECT user_name, priority, priority_norm FROM fairmill_job_priority'
# Its site had no job that waited.
PARTS = ('age', 'fairshare', 'job_size', 'partition', 'qos', 'assoc')
OLD_JOB = ('INSERT INTO fairmill_job_priority (cluster, job_db_inx, partition_name, qos, id_job, user_name, account, best, '
           + ', '.join(f'{part}_factor, {part}_weighted' for part in PARTS) + ', tres_factors, tres_weighted, priority, priority_norm, run_id, computed_at) '
           "VALUES ('old', '18446744073709551615', 'short', 'normal', 7, 'alice', 'physics', 1, " + '0.25, 250, ' * len(PARTS) + "'cpu=0.12', 'cpu=12', "
           '4294967295, 0.5, 1, 1)')
# Of OpenPBS's jobs, which 0.1.0 did not know.
NO_PRIORITY = ("INSERT INTO fairmill_job_priority (cluster, job_db_inx, partition_name, qos, id_job, user_name, account, best, run_id, computed_at, job_id) "
               "VALUES ('x', '7', 'workq', '', 7, 'eve', 'a', 1, 1, 1, '7.pbs')")


def release(name):
    return names.text_of(RELEASES, name)


def rows_of_old():
    """The statements that fill the tables of 0.1.0, those included that its init made rows in."""
    return re.findall(r'^INSERT INTO .*?\);$', release('0.1.0.sql'), re.DOTALL | re.MULTILINE)


def fill(server, before=''):
    server.sql('\n'.join([before, 'DELETE FROM fairmill_schema;', 'DELETE FROM fairmill_lock;', *rows_of_old()]), NAME)


def named(script):
    return re.sub(r'''(["'`])fairmill\1''', rf'\1{NAME}\1', script)


class Old:
    in_the_way = ()  # of the upgrade: what it is, a word of the message, what mends it

    def build_on(self):
        """Others do, and on the tables they have."""

    def goes_on(self):
        """What they have built."""


class OldSqlite(Old, Sqlite):
    """Files have no roles."""
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
        """Whether the login may read it."""
        return self.allowed(user, f'SELECT count(*) FROM {what}')


class OldMariadb(OnServer, Server):
    user = NAME

    def make(self):
        self.sql(f'DROP DATABASE IF EXISTS {NAME}')
        for login in (NAME, 'upgraded_reader', 'upgraded_grafana'):
            self.sql(f'DROP USER IF EXISTS {login}@localhost')
            self.login(login)
        # A login of this test's needs no user of the machine.  MySQL refuses to take away what nobody has, unless it is told:
        # there an administrator passed that line of 0.1.0's over.
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
                  ("somebody else's view", 'on fairmill_fairshare belongs to "upgraded_other"', f'GRANT upgraded_other TO {NAME}'))

    def goes_on(self):
        tap.same(self.sql("SELECT pg_get_userbyid(relowner), reloptions FROM pg_class WHERE relname = 'other_view'", NAME),
                 [['upgraded_other', '{security_barrier=true}']], "PostgreSQL: a view of somebody else's has its owner and its options")
        tap.ok(self.read_as('upgraded_reader', 'other_second'), 'PostgreSQL: views over it go on')
        tap.ok(self.allowed('upgraded_columns', 'SELECT account, fairshare FROM fairmill_fairshare')
               and not self.allowed('upgraded_columns', 'SELECT user_name FROM fairmill_fairshare'),
               'PostgreSQL: who was granted columns reads these, and no others')
        tap.same(self.sql("SELECT count(*) FROM pg_class WHERE relname IN ('fairmill_former', 'fairmill_moved')", NAME), [['0']],
                 'PostgreSQL: nothing of the upgrade stays behind')

    def become_owner(self):
        self.sql(f'GRANT fairmill_owner TO {NAME}')

    def become_writer(self):
        self.sql(f'REVOKE fairmill_owner FROM {NAME}')

    def print_again(self, text):
        self.sql('SET client_min_messages = warning;\n' + text)
        tap.same(self.sql("SELECT DISTINCT tableowner FROM pg_tables WHERE tablename LIKE 'fairmill%'", NAME),
                 [['fairmill_owner']], 'PostgreSQL: what init has added belongs to the owner of all, not to the login')


def promised():
    """{table: columns} of 0.1.0."""
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

    ends(78, 'a run refuses the results of 0.1.0', 'run', '--now', LATER)
    place.says(f'{kind}: and says to run init', 'fairmill init')
    if server.user:
        ends(78, 'who may write only cannot upgrade them', 'init')
        place.says(f'{kind}: and is told which role does', 'fairmill_owner')
        server.become_owner()
    for statement, word, mend in server.in_the_way:
        ends(1, f'init refuses: {statement}', 'init')
        place.says(f'{kind}: and says so', word)
        tap.ok(server.counts() == before and server.sql('SELECT max(version) FROM fairmill_schema', NAME) == [['3']],
               f'{kind}: and changes nothing')
        server.execute(mend)
    ends(0, 'init does', 'init')
    tap.same(server.counts(), before, f'{kind}: no row is lost')
    tap.ok(jobs and server.sql(JOBS, NAME) == jobs, f'{kind}: the jobs that waited are as they were', jobs, server.sql(JOBS, NAME))
    server.execute(NO_PRIORITY)
    tap.same(len(server.sql("SELECT user_name FROM site_jobs WHERE priority IS NULL", NAME)), 1,
             f'{kind}: a job may have no priority, and what only jobs of Slurm have, which a view that is there sees')
    server.execute("DELETE FROM fairmill_job_priority WHERE cluster IN ('old', 'x')")
    tap.same({table: sorted(columns - set(server.columns(table))) for table, columns in promised().items()},
             {table: [] for table in promised()}, f'{kind}: nor a column that readers had')
    # Published by 0.1.0 at its last run; t/data/releases/0.1.0.sql has alice's 3.33333333333333314829e-01.
    tap.same(printed_fairshare(place), [',200,', ',350,', ',550,', 'alice,250,0.33333333333333331',
                                        'bob,100,0.66666666666666663', 'carol,200,1'],
             f'{kind}: what 0.1.0 published is shown')
    if server.user:
        server.become_writer()
        place.succeed('init', '--print')
        server.print_again(place.out)
    ends(78, 'verify before the next run compares history only', 'verify')
    place.says(f'{kind}: and says what to do', 'only history was compared', '`fairmill run`')
    ends(0, 'the next run goes on', 'run', '--now', LATER)
    tap.same(printed_fairshare(place)[3:], ['alice,250,0.33333333333333331', 'bob,100,0.66666666666666663', 'carol,200,1'],
             f'{kind}: with the same site it publishes the same values')
    ends(0, 'verify finds nothing', 'verify')
    ends(0, 'the entry of the ledger is there', 'ledger', 'list', '--csv', '--noheader')
    tap.ok('a node failed' in place.out, f'{kind}: with its reason', place.out)
    ends(0, 'so are the points of history', 'history', 'alice', '--csv', '--noheader')
    tap.same(sum(f',{instant},' in place.out for instant in (NOW, NOW + 7200, LATER)), 3,
             f'{kind}: those of 0.1.0, and a new one')
    rows = server.sql('SELECT username, fairshare FROM site_view WHERE username = \'alice\'', NAME)
    tap.ok([(name, f'{float(value):.6f}') for name, value in rows] == [('alice', '0.333333')],
           f"{kind}: a site's own view over ours goes on", rows)
    rows = server.sql("SELECT fairshare, level_fs_infinite FROM site_direct WHERE user_name = 'alice'", NAME)
    tap.ok([(f'{float(value):.6f}', str(infinite)) for value, infinite in rows] == [('0.333333', '0')],
           f'{kind}: so does one over a table that is a view now', rows)
    server.goes_on()
    if server.user:
        tap.ok(server.read_as('upgraded_reader', 'fairmill_sshare') and server.read_as('upgraded_reader', 'fairmill_account'),
               f'{kind}: who has the role of readers reads on')
        tap.ok(server.read_as('upgraded_grafana', 'fairmill_fairshare') and not server.read_as('upgraded_grafana', 'fairmill_run'),
               f'{kind}: who was granted one table reads that one on, and no other')
        for verb, text in (('change', "UPDATE fairmill_ledger SET why = ''"), ('delete', 'DELETE FROM fairmill_ledger_chain'),
                           ('delete', 'DELETE FROM fairmill_ledger_counted')):
            tap.ok(not server.allowed(NAME, text), f'{kind}: a writer may not {verb} in the ledger, new or old: {text}')
    server.execute('INSERT INTO fairmill_schema (version, made_at) VALUES (99, 1)')
    ends(78, 'tables of a later release are refused', 'run', '--now', LATER + 1)
    place.says(f'{kind}: with what to do', 'newer fairmill', 'restore the backup')


def at_once(place, server, kind):
    """Several hosts are upgraded in one moment."""
    wrong = []
    for _ in range(6):
        server.make()
        if server.user:
            server.become_owner()
        inits = [subprocess.Popen([FAIRMILL, '-c', place.path('fm.conf'), 'init'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(4)]
        wrong += [(init.returncode, text) for init in inits for text in [init.communicate(timeout=tap.HANG)[0].decode()] if init.returncode or text]
    newest = server.sql('SELECT version, count(*) FROM fairmill_schema GROUP BY version ORDER BY version DESC', NAME)
    tap.ok(not wrong and int(newest[0][1]) == 1 and len(newest) == 2, f'{kind}: of four init at once each ends well', newest, *wrong[:4])
    if server.user:
        server.become_writer()


def body():
    with OldMariadb() as mariadb, OldPostgres() as postgres, Place() as place:
        for server, kind in ((OldSqlite(place.folder), 'SQLite'), (mariadb, 'MariaDB'), (postgres, 'PostgreSQL')):
            upgrade(place, server, kind)
            at_once(place, server, kind)


tap.main(body)
