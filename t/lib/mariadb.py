# SPDX-License-Identifier: MIT
"""Temporary servers of MariaDB, or of MySQL if FAIRMILL_TEST_SERVER is `mysql`."""

import os
import signal
import subprocess

import dump
import server
from program import FAIRMILL
from protocol import Mysql

# information_schema.innodb_trx is not updated if it is read more often than ten times a second.
TRX_STALE = .2

IS_MYSQL = os.environ.get('FAIRMILL_TEST_SERVER') == 'mysql'
NAME = 'MySQL' if IS_MYSQL else 'MariaDB'
# Since 11.4, MariaDB's client verifies certificates by default; these connections need no TLS.
CLIENT = ['mysql', '--no-defaults'] if IS_MYSQL else ['mariadb', '--no-defaults', '--skip-ssl']
# The privilege to read the lag of a replica.
MONITOR = 'REPLICATION CLIENT' if IS_MYSQL else 'SLAVE MONITOR'
GTID = ('--gtid-mode=ON', '--enforce-gtid-consistency=ON') if IS_MYSQL else ()


def library_is_mysql():
    """Returns whether the client library of this build is MySQL's, regardless of the server."""
    done = subprocess.run(['ldd', FAIRMILL], stdout=subprocess.PIPE, text=True, check=True)
    return 'libmysqlclient' in done.stdout


def library_version():
    """Returns the version of MariaDB's client library on this host, such as (3, 3, 14)."""
    done = subprocess.run(['pkg-config', '--modversion', 'libmariadb'], stdout=subprocess.PIPE, text=True, check=True)
    return tuple(map(int, done.stdout.split('.')))


def numbers(count):
    """Returns a table for FROM whose column `n` counts from 1."""
    if IS_MYSQL:
        return (f'(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) '
                'SELECT n FROM counted) AS numbers')
    return f'(SELECT seq AS n FROM seq_1_to_{count}) AS numbers'


def default_role(role, account):
    return f"SET DEFAULT ROLE {role} {'TO' if IS_MYSQL else 'FOR'} {account}"


class Server(server.Server):
    """A shared or temporary server, inside the `with` block."""

    PROGRAMS = ('mysqld', 'mysql') if IS_MYSQL else ('mariadbd', 'mariadb', 'mariadb-install-db')
    SHARED = 'FAIRMILL_TEST_MARIADB'
    USER = 'mysql'
    STOP = signal.SIGTERM
    SCHEMA = 'DATABASE()'
    PROTOCOL = Mysql
    # A client for a session prints results at once.  After an error it continues, or ends.
    GOES_ON = ('--unbuffered', '--force')
    ENDS = ('--unbuffered', '--skip-reconnect')
    SAY = "SELECT '{}';"
    LET_GO = 'ROLLBACK; UNLOCK TABLES'
    CASCADE = ''

    # Options against MySQL's defaults.  Its library also encrypts connections over a unix socket,
    # which the proxy of tests must read.
    OWN = ('--innodb-redo-log-capacity=256M', '--mysqlx=OFF', '--skip-log-bin', '--tls-version=', '--secure-file-priv=',
           '--cte-max-recursion-depth=10000000') if IS_MYSQL else (
               '--innodb-log-file-size=256M',)
    PLUGINS = ('--plugin-load-add=auth_socket.so',) if IS_MYSQL else ()  # for logins by socket

    def find(self, folder):
        self.socket = f'{folder}/s'

    def install(self):
        self.port = server.held_port(self.held)
        # A server clears its directory for temporary tables at startup, so each server has its own.
        os.mkdir(f'{self.folder}/tmp')
        self.give(f'{self.folder}/tmp')
        program = ['mysqld'] if IS_MYSQL else ['mariadb-install-db']
        more = ['--initialize-insecure', '--innodb-redo-log-capacity=10M'] if IS_MYSQL else [
            '--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve',
            '--innodb-log-file-size=10M', '--innodb-flush-log-at-trx-commit=0']
        self.done([*program, *self.location(), *more])

    def location(self):
        user = [] if os.getuid() else [f'--user={self.USER}']
        return ['--no-defaults', *user, f'--datadir={self.folder}/data', f'--tmpdir={self.folder}/tmp']

    def command(self):
        """Returns the command of the server.  Data is not needed after the test, so it does not
        fsync.  The timeout for locks is that of slurmdbd."""
        return [self.PROGRAMS[0], *self.location(), f'--socket={self.socket}', f'--pid-file={self.folder}/pid',
                '--bind-address=127.0.0.1', f'--port={self.port}', '--skip-name-resolve', f'--log-error={self.folder}/error.log',
                '--character-set-server=utf8mb4', '--innodb-flush-log-at-trx-commit=0', '--innodb-flush-method=nosync',
                '--innodb-buffer-pool-size=256M', '--innodb-lock-wait-timeout=900', '--performance-schema=off',
                *self.OWN, *self.PLUGINS, *self.options]

    def client(self, database=None, user=None):
        return [*CLIENT, f'--socket={self.socket}', f'--user={user or "root"}',
                '--batch', '--skip-column-names', *([database] if database else [])]

    def database(self, name):
        """Creates an empty database of this name."""
        self.sql(f'DROP DATABASE IF EXISTS `{name}`; CREATE DATABASE `{name}`')
        return name

    def accounting(self, name, clusters):
        """Creates an accounting database without rows.  A column that a row omits is zero or
        empty."""
        known = dump.tables(dump.text_of('25.05'))
        text = [self.LENIENT, 'SET foreign_key_checks = 0;']
        for table, (statement, _) in known.items():
            if table.startswith('alpha_'):
                text += [statement.replace('`alpha_', f'`{cluster}_', 1) for cluster in clusters]
            elif not table.startswith('beta-2_'):
                text.append(statement)
        self.database(name)
        self.sql('\n'.join(text), name)
        return name

    # SQL before slurmdbd's table definitions, rows that omit columns, and names in standard quotes.
    LENIENT = "SET sql_mode = 'ANSI_QUOTES';"

    numbers = staticmethod(numbers)

    def login(self, user):
        self.sql(f'CREATE USER IF NOT EXISTS {user}@localhost')

    def allow(self, user, privileges, database, table='*'):
        self.sql(f'GRANT {privileges} ON {database}.{table} TO {user}@localhost')

    def deny(self, user, privileges, database):
        """Revokes privileges on all tables."""
        self.sql(f'REVOKE {privileges} ON {database}.* FROM {user}@localhost')

    def end_session(self, number):
        self.sql(f'KILL CONNECTION {number}')

    def end_statement(self, number):
        self.sql(f'KILL QUERY {number}')

    def tables(self, database):
        return [name for name, in self.sql(f'SHOW TABLES FROM {database}')]

    def checksums(self, database):
        """Returns checksums of every row of every table."""
        return self.sql('CHECKSUM TABLE ' + ', '.join(f'{database}.{name}' for name in self.tables(database)))

    def socket_file(self):
        return self.socket

    def connection(self, database):
        """Returns the keys of a section [source] or [results]."""
        return dict(driver='mysql', socket=self.socket, user='root', database=database)


class NewServer(Server):
    """A server for this test only, with further options; its port is at 127.0.0.1."""

    alone = True

    def __init__(self, *options):
        super().__init__()
        self.options = options


class Primary(NewServer):
    """A server that can be replicated."""

    def __init__(self, *options):
        super().__init__('--server-id=1', '--log-bin=log', *GTID, *options)

    def __enter__(self):
        super().__enter__()
        self.sql('CREATE USER replica@127.0.0.1; GRANT REPLICATION SLAVE ON *.* TO replica@127.0.0.1')
        return self


class Replica(NewServer):
    """A replica of a Primary from its beginning.  Several replicas need different numbers."""

    def __init__(self, primary, *options, number=2):
        super().__init__(f'--server-id={number}', *GTID, *options)
        self.primary = primary

    def __enter__(self):
        super().__enter__()
        self.change(HOST="'127.0.0.1'", PORT=self.primary.port, USER="'replica'", CONNECT_RETRY=1,
                    **dict(AUTO_POSITION=1, SSL=0) if IS_MYSQL else dict(USE_GTID='slave_pos'))
        self.catch_up()
        return self

    def change(self, **options):
        """Restarts replication with other options of CHANGE MASTER, such as DELAY = 5."""
        start, command, prefix = (('START REPLICA', 'CHANGE REPLICATION SOURCE TO', 'SOURCE_') if IS_MYSQL else
                                  ('START SLAVE', 'CHANGE MASTER TO', 'MASTER_'))
        self.stop()
        self.sql(f"{command} {', '.join(f'{prefix}{name} = {value}' for name, value in options.items())}; {start}")

    def stop(self):
        self.sql('STOP REPLICA' if IS_MYSQL else 'STOP SLAVE')

    def catch_up(self):
        """Waits until the replica has all current data of the primary."""
        position, wait = (('@@GLOBAL.gtid_executed', 'WAIT_FOR_EXECUTED_GTID_SET') if IS_MYSQL else
                          ('@@gtid_binlog_pos', 'MASTER_GTID_WAIT'))
        (position,), = self.primary.sql(f"SELECT REPLACE({position}, '\\n', '')")
        if self.sql(f"SELECT {wait}('{position}', 60)") != [['0']]:
            raise RuntimeError(f"no catching up: {self.sql('SHOW REPLICA STATUS' if IS_MYSQL else 'SHOW SLAVE STATUS')}")
