# SPDX-License-Identifier: MIT
"""The servers of mariadb.sh and slurmdbd.sh, for tests in Python: MariaDB's, or MySQL's where
FAIRMILL_TEST_SERVER is `mysql`."""

import contextlib
import fcntl
import os
import re
import select
import subprocess
import threading
import time

import dump
import tap
from program import FAIRMILL
from protocol import Mysql

LIB = os.path.dirname(os.path.abspath(__file__))

# Nothing may last longer than this however it is disturbed: a hang is what we are afraid of.
# information_schema.innodb_trx stays as it was while somebody looks at it more often than ten times a second.
TRX_STALE = .2


IS_MYSQL = os.environ.get('FAIRMILL_TEST_SERVER') == 'mysql'
NAME = 'MySQL' if IS_MYSQL else 'MariaDB'
# From 11.4 on MariaDB's checks certificates, also behind a unix socket.
CLIENT = ['mysql', '--no-defaults'] if IS_MYSQL else ['mariadb', '--no-defaults', '--skip-ssl']
# The privilege to ask how far a replica lags.
MONITOR = 'REPLICATION CLIENT' if IS_MYSQL else 'SLAVE MONITOR'
GTID = ('--gtid-mode=ON', '--enforce-gtid-consistency=ON') if IS_MYSQL else ()


def library_is_mysql():
    """Whether the client library of this build is MySQL's, whoever's the server is."""
    done = subprocess.run(['ldd', FAIRMILL], stdout=subprocess.PIPE, text=True, check=True)
    return 'libmysqlclient' in done.stdout


def library_version():
    """Of MariaDB's client library that this machine builds with, such as (3, 3, 14)."""
    done = subprocess.run(['pkg-config', '--modversion', 'libmariadb'], stdout=subprocess.PIPE, text=True, check=True)
    return tuple(map(int, done.stdout.split('.')))


def numbers(count):
    """What a SELECT is from that gets `n` from 1 on."""
    if IS_MYSQL:
        return (f'(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) '
                'SELECT n FROM counted) AS numbers')
    return f'(SELECT seq AS n FROM seq_1_to_{count}) AS numbers'


def default_role(role, account):
    return f"SET DEFAULT ROLE {role} {'TO' if IS_MYSQL else 'FOR'} {account}"


def cells(lines):
    return [[None if cell == 'NULL' else cell for cell in line.split('\t')] for line in lines]


class Server:
    """A shared or throw-away server, for as long as the `with` lasts."""

    SHELL = '. "$1/mariadb.sh"; mariadb_shared; echo "ready $MARIADB_SOCKET"; read -r'
    SCHEMA = 'DATABASE()'
    arguments = ()
    PROTOCOL = Mysql
    # A client that stays answers at once.  After an error it goes on, or ends.
    GOES_ON = ('--unbuffered', '--force')
    ENDS = ('--unbuffered', '--skip-reconnect')
    SAY = "SELECT '{}';"
    LET_GO = 'ROLLBACK; UNLOCK TABLES'
    CASCADE = ''

    def __enter__(self):
        self.readers = Readers(self)
        self.shell = subprocess.Popen(['bash', '-c', self.SHELL, 'bash', LIB, *self.arguments],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.shell.stdout.readline().strip()
        if 'SKIP' in line:
            tap.skip_all(line.split('SKIP ', 1)[1])
        word, _, rest = line.partition(' ')
        if word != 'ready':
            raise RuntimeError(f'{line}\n{self.shell.stdout.read()}' if line else 'the server said nothing')
        self.socket, *self.said = rest.split(' ')
        return self

    def __exit__(self, *_):
        self.readers.close()
        self.shell.stdin.close()
        self.shell.wait()

    def client(self, database=None, user=None):
        return [*CLIENT, f'--socket={self.socket}', f'--user={user or "root"}',
                '--batch', '--skip-column-names', *([database] if database else [])]

    def sql(self, text, database=None, user=None):
        """Rows as lists of text; NULL as None.  A double comes with every digit it needs."""
        if not user and self.readers.suit(text):
            return self.readers.ask(text, database)
        if re.search('DATABASE|GLOBAL', text):
            self.readers.close()  # PostgreSQL drops none that somebody has open; what is set is for new sessions
        done = subprocess.run(self.client(database, user), input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode:
            raise RuntimeError(f'{os.path.basename(self.client()[0])}: {done.stderr.strip()}')
        return cells(done.stdout.splitlines())

    def database(self, name):
        """An empty one of this name."""
        self.sql(f'DROP DATABASE IF EXISTS `{name}`; CREATE DATABASE `{name}`')
        return name

    def accounting(self, name, clusters):
        """An accounting database without rows; a column that a row leaves out is zero or empty."""
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

    # Before tables as slurmdbd makes them, rows that leave out columns, and names that are quoted as
    # others do.
    LENIENT = "SET sql_mode = 'ANSI_QUOTES';"

    numbers = staticmethod(numbers)

    def login(self, user):
        self.sql(f'CREATE USER IF NOT EXISTS {user}@localhost')

    def allow(self, user, privileges, database, table='*'):
        self.sql(f'GRANT {privileges} ON {database}.{table} TO {user}@localhost')

    def deny(self, user, privileges, database):
        """What was allowed on all tables."""
        self.sql(f'REVOKE {privileges} ON {database}.* FROM {user}@localhost')

    def end_session(self, number):
        self.sql(f'KILL CONNECTION {number}')

    def end_statement(self, number):
        self.sql(f'KILL QUERY {number}')

    def tables(self, database):
        return [name for name, in self.sql(f'SHOW TABLES FROM {database}')]

    def checksums(self, database):
        """Of every row of every table."""
        return self.sql('CHECKSUM TABLE ' + ', '.join(f'{database}.{name}' for name in self.tables(database)))

    def socket_file(self):
        return self.socket

    def columns(self, table, database):
        return [name for name, in self.sql(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' "
            f'AND table_schema = {self.SCHEMA} ORDER BY ordinal_position', database)]

    def connection(self, database):
        """The keys of a section [source] or [results]."""
        return dict(driver='mysql', socket=self.socket, user='root', database=database)

    def settings(self, source, results, usage=None, fairshare=None, **more):
        """Sections for program.write_settings()."""
        return dict(source=dict(self.connection(source), **more), results=self.connection(results),
                    usage=usage or {}, fairshare=fairshare or {})


class Session:
    """A client that stays."""

    def __init__(self, server, database=None, user=None, goes_on=True):
        self.server = server
        self.process = subprocess.Popen([*server.client(database, user), *(server.GOES_ON if goes_on else server.ENDS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, bufsize=0)
        self.count = 0

    def send(self, text):
        """Returns at once."""
        self.count += 1
        end = self.server.SAY.format(f'answer {self.count} ends')
        self.process.stdin.write(f'{text};\n{end}\n'.encode())

    def wait(self):
        """Lines of the last answer.  A client whose server is gone says nothing at all."""
        answer, last, end = b'', f'answer {self.count} ends\n'.encode(), time.monotonic() + tap.HANG
        while not answer.endswith(last):
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, end - time.monotonic()))
            more = self.process.stdout.read(65536) if ready else b''
            if not more:
                raise RuntimeError(f"the session {'has ended' if ready else 'does not answer'}: {answer.decode()}")
            answer += more
        return answer[:-len(last)].decode().splitlines()

    def do(self, text):
        self.send(text)
        return self.wait()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=tap.HANG)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Readers:
    """Clients that stay, for what only reads: to start one takes a hundred times as long as to ask it."""

    MOST = 8

    def __init__(self, server):
        self.server, self.idle, self.guard = server, [], threading.Lock()

    @staticmethod
    def suit(text):
        """Whether this is one statement that reads, and that leaves nothing to its session."""
        return re.match(r'\s*(SELECT|SHOW|CHECKSUM|EXPLAIN)\b', text) and not re.search(r';\s*\S|lock|config|into', text, re.I)

    def ask(self, text, database):
        """A client may be gone with its server or its database: then another one is asked."""
        text = text.rstrip().rstrip(';')
        with self.guard:
            kept = next((one for one in self.idle if one[0] == database), None)
            if kept:
                self.idle.remove(kept)
        if kept:
            with contextlib.suppress(RuntimeError, OSError):
                return self._ask(kept[1], text, database)
        return self._ask(Session(self.server, database, goes_on=False), text, database)

    def _ask(self, session, text, database):
        try:
            lines = session.do(text)
        except (RuntimeError, OSError):
            session.close()
            raise
        with self.guard:
            self.idle.append((database, session))
            left = self.idle.pop(0)[1] if len(self.idle) > self.MOST else None
        if left:
            left.close()
        return cells(lines)

    def close(self):
        with self.guard:
            for _, session in self.idle:
                session.close()
            self.idle = []


class NewServer(Server):
    """A server of this test's own, with further options; its port is at 127.0.0.1."""

    SHELL = ('. "$1/mariadb.sh"; unset FAIRMILL_TEST_MARIADB; MARIADB_OPTIONS=("${@:2}"); '
             'mariadb_shared; echo "ready $MARIADB_SOCKET $MARIADB_PORT $MARIADB_PID"; read -r')

    def __init__(self, *options):
        self.arguments = options

    def __enter__(self):
        super().__enter__()
        self.port, self.pid = map(int, self.said)
        return self


class Primary(NewServer):
    """One that can be replicated."""

    def __init__(self, *options):
        super().__init__('--server-id=1', '--log-bin=log', *GTID, *options)

    def __enter__(self):
        super().__enter__()
        self.sql('CREATE USER replica@127.0.0.1; GRANT REPLICATION SLAVE ON *.* TO replica@127.0.0.1')
        return self


class Replica(NewServer):
    """Has all that a Primary has done from its beginning.  Several need numbers of their own."""

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
        """Start again with other options of CHANGE MASTER, such as DELAY = 5."""
        start, command, prefix = (('START REPLICA', 'CHANGE REPLICATION SOURCE TO', 'SOURCE_') if IS_MYSQL else
                                  ('START SLAVE', 'CHANGE MASTER TO', 'MASTER_'))
        self.stop()
        self.sql(f"{command} {', '.join(f'{prefix}{name} = {value}' for name, value in options.items())}; {start}")

    def stop(self):
        self.sql('STOP REPLICA' if IS_MYSQL else 'STOP SLAVE')

    def catch_up(self):
        """Wait until it has all that the primary has now."""
        position, wait = (('@@GLOBAL.gtid_executed', 'WAIT_FOR_EXECUTED_GTID_SET') if IS_MYSQL else
                          ('@@gtid_binlog_pos', 'MASTER_GTID_WAIT'))
        (position,), = self.primary.sql(f"SELECT REPLACE({position}, '\\n', '')")
        if self.sql(f"SELECT {wait}('{position}', 60)") != [['0']]:
            raise RuntimeError(f"no catching up: {self.sql('SHOW REPLICA STATUS' if IS_MYSQL else 'SHOW SLAVE STATUS')}")


class Slurmdbd(Server):
    """The same with a slurmdbd on it."""

    SHELL = ('. "$1/mariadb.sh"; . "$1/slurmdbd.sh"; slurmdbd_require; mariadb_shared; '
             'directory=$(mktemp -d "${TMPDIR:-/tmp}/fm.XXXXXX"); slurmdbd_start "$directory/d"; '
             'echo "ready $MARIADB_SOCKET $SLURM_CONF $SLURMDBD_DATABASE"; read -r; slurmdbd_stop; rm -rf "$directory"')

    def __enter__(self):
        # One at a time: two tests that start one at the same time trouble each other.
        self.turn = open(f'/tmp/fairmill-slurmdbd-{os.getuid()}', 'wb')
        fcntl.flock(self.turn, fcntl.LOCK_EX)
        super().__enter__()
        self.conf, self.accounting = self.said
        return self

    def __exit__(self, *what):
        super().__exit__(*what)
        self.turn.close()

    def sacctmgr(self, *arguments):
        done = subprocess.run(['sacctmgr', '-i', '-Q', *arguments],
                              env=dict(os.environ, SLURM_CONF=self.conf),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"sacctmgr {' '.join(arguments)}: {done.stdout}")
        return done.stdout

    def job(self, cluster, whose, start, seconds, billing):
        """What a controller would have sent of a job that has ended, which keeps the association's row when that is deleted;
        `whose` is SQL that finds its association."""
        self.sql(f'{self.LENIENT} INSERT INTO {cluster}_job_table (job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, '
                 'id_group, het_job_id, het_job_offset, cpus_req, nodes_alloc, `partition`, priority, state, state_reason_prev, '
                 f"time_submit, time_eligible, time_start, time_end, tres_alloc) SELECT 'j', id_assoc, {start} % 1000000 + id_assoc, "
                 f"1, 0, 0, 0, 0, 0, 0, 1, 1, 'p', 1, 3, 0, {start}, {start}, {start}, {start + seconds}, "
                 f"'1={billing},5={billing}' FROM {cluster}_assoc_table WHERE {whose}", self.accounting)
