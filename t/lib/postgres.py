# SPDX-License-Identifier: MIT
"""Temporary servers of PostgreSQL, with slurmdbd's tables."""

import glob
import os
import re
import signal
import sqlite3

import server
import site_drawing
import tap
from protocol import Pgsql


def program(name):
    """Returns the path of a program.  Debian has a directory for each version, outside PATH; its
    psql in PATH is a script that takes ten times as long."""
    folders = glob.glob('/usr/lib/postgresql/*/bin') + glob.glob('/usr/pgsql-*/bin')
    for folder in sorted(folders, key=lambda path: int(re.search('[0-9]+', path)[0]), reverse=True):
        if os.access(f'{folder}/initdb', os.X_OK):
            return f'{folder}/{name}'
    return name


def tables(clusters):
    """Returns the statements of sql/slurmdbd/tables.sql."""
    common, each = site_drawing.slurmdbd_tables('pgsql').split('-- For each cluster.\n')
    return common + ''.join(each.replace('@CLUSTER@', c) for c in clusters)


class Postgres(server.Server):
    """A shared or temporary server.  Members of the role `locked` need a password, others do
    not."""

    PROGRAMS = tuple(map(program, ('initdb', 'pg_basebackup', 'postgres', 'psql')))
    SHARED = 'FAIRMILL_TEST_POSTGRES'
    USER = 'postgres'
    STOP = signal.SIGINT  # does not wait until sessions end
    # Data is not needed after the test, so there is no fsync.  PostgreSQL 13 uses MD5 for password
    # hashes by default.  The server has only a socket, so it can use the default port.
    OPTIONS = tuple(f'--{option}' for option in (
        'listen_addresses=', 'password_encryption=scram-sha-256', 'fsync=off', 'full_page_writes=off', 'synchronous_commit=off',
        'shared_buffers=128MB', 'max_wal_size=2GB'))
    SCHEMA = 'current_schema()'
    port = 5432
    PROTOCOL = Pgsql
    GOES_ON = ('--set=ON_ERROR_STOP=0',)
    ENDS = ()
    SAY = '\\echo {}'
    LET_GO = 'ROLLBACK'
    CASCADE = ' CASCADE'
    LENIENT = ''

    def find(self, folder):
        self.socket = folder

    def as_user(self, *command):
        """Returns the command without an intermediate process, which would receive the signals."""
        return command if os.getuid() else ('setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', *command)

    def install(self):
        self.done(self.as_user(program('initdb'), f'--pgdata={self.folder}/data', '--username=postgres', '--auth=trust',
                               '--encoding=UTF8', '--locale=C', '--no-sync'), cwd=self.folder)
        with open(f'{self.folder}/data/pg_hba.conf', 'w', encoding='ascii') as file:
            file.write('local all +locked scram-sha-256\nlocal all all trust\nlocal replication all trust\n')

    def command(self):
        return self.as_user(program('postgres'), '-D', f'{self.folder}/data', '-k', self.folder, '-p', str(self.port),
                            *self.OPTIONS, *self.options)

    def client(self, database=None, user=None):
        return [program('psql'), '--no-psqlrc', '--quiet', '--no-align', '--tuples-only',
                '--field-separator=\t', '--pset=null=NULL', '--set=ON_ERROR_STOP=1',
                f'--host={self.socket}', f'--port={self.port}', f'--username={user or "postgres"}',
                database or 'postgres']

    def database(self, name):
        self.sql(f'DROP DATABASE IF EXISTS "{name}"')
        self.sql(f'CREATE DATABASE "{name}"')
        return name

    def connection(self, database):
        port = {} if self.port == 5432 else dict(port=self.port)
        return dict(driver='pgsql', socket=self.socket, user='postgres', database=database, **port)

    def accounting(self, name, clusters):
        text = re.sub('" (BIGINT|NUMERIC.*|TEXT) NOT NULL,', lambda match:
                      match[0][:-1] + (" DEFAULT ''," if match[1] == 'TEXT' else ' DEFAULT 0,'),
                      tables(clusters))
        self.database(name)
        self.sql(text, name)
        return name

    def socket_file(self):
        return f'{self.socket}/.s.PGSQL.{self.port}'

    @staticmethod
    def numbers(count):
        return f'generate_series(1, {count}) AS numbers(n)'

    def login(self, user):
        if not self.sql(f"SELECT 1 FROM pg_roles WHERE rolname = '{user}'"):
            self.sql(f'CREATE ROLE {user} LOGIN')

    def allow(self, user, privileges, database, table=None):
        self.sql(f'GRANT {privileges} ON {table or "ALL TABLES IN SCHEMA public"} TO {user}', database)
        if not table:
            self.sql(f'ALTER DEFAULT PRIVILEGES GRANT {privileges} ON TABLES TO {user}', database)

    def deny(self, user, privileges, database):
        self.sql(f'REVOKE {privileges} ON ALL TABLES IN SCHEMA public FROM {user}; '
                 f'ALTER DEFAULT PRIVILEGES REVOKE {privileges} ON TABLES FROM {user}', database)

    def end_session(self, number):
        self.sql(f'SELECT pg_terminate_backend({number})')

    def end_statement(self, number):
        self.sql(f'SELECT pg_cancel_backend({number})')

    def tables(self, database):
        return [name for name, in self.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public' "
                                           'ORDER BY tablename', database)]

    def checksums(self, database):
        return [[name, *self.sql(f'SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text)) '
                                 f'FROM "{name}" t', database)[0]] for name in self.tables(database)]

    def copy_sqlite(self, path, name, clusters):
        """Copies an accounting database in SQLite into tables of sql/slurmdbd/tables.sql."""
        self.accounting(name, clusters)
        db = sqlite3.connect(path)
        for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[0] for row in db.execute('SELECT name FROM pragma_table_info(?)',
                                                    (table,))]
            names = ', '.join(f'"{column}"' for column in columns)
            rows = ''.join('\t'.join(map(_copied, row)) + '\n'
                           for row in db.execute(f'SELECT {names} FROM "{table}"'))
            self.sql(f'COPY "{table}" ({names}) FROM STDIN;\n{rows}\\.\n', name)
        db.close()
        return name


class NewPostgres(Postgres):
    """A server for this test only, with further arguments."""

    alone = True

    def __init__(self, *options, port=5432):
        super().__init__()
        self.options, self.port = options, port


class Standby(NewPostgres):
    """A standby with all data of another server."""

    def __init__(self, primary, *options):
        super().__init__(*options, port=primary.port)
        self.primary = primary

    def install(self):
        self.done(self.as_user(program('pg_basebackup'), f'--pgdata={self.folder}/data', f'--host={self.primary.socket}',
                               f'--port={self.port}', '--username=postgres', '--write-recovery-conf', '--checkpoint=fast', '--no-sync'),
                  cwd=self.folder)

    def configure(self, name, value):
        """Changes a setting of the server at once."""
        self.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        self.sql('SELECT pg_reload_conf()')

    def catch_up(self):
        """Waits until the standby shows all current data of the primary."""
        self._reach('pg_last_wal_replay_lsn()')

    def receive_all(self):
        """Waits until the standby has received all data, although it may not show it yet."""
        self._reach('pg_last_wal_receive_lsn()')

    def _reach(self, place):
        (position,), = self.primary.sql('SELECT pg_current_wal_lsn()')
        if not tap.until(lambda: self.sql(f"SELECT {place} >= '{position}'") == [['t']], every=.05):
            raise RuntimeError(f"no catching up: {self.sql('SELECT * FROM pg_stat_wal_receiver')}")


def _copied(value):
    """Returns a value in the format of COPY."""
    if value is None:
        return '\\N'
    if isinstance(value, bytes):
        value = value.decode()
    text = str(value)
    for raw, escaped in (('\\', '\\\\'), ('\t', '\\t'), ('\n', '\\n'), ('\r', '\\r')):
        text = text.replace(raw, escaped)
    return text
