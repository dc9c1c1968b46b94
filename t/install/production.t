#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests the script of `fairmill setup` in a system of its own, with the servers at their default
sockets: with results in MariaDB or MySQL, in PostgreSQL and in SQLite, without systemd and with a
program in its place.  Each script runs twice, and the second time changes nothing."""

import contextlib
import ctypes
import fcntl
import glob
import os
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import mariadb
import postgres
import tap
from commands import TOP, read, write
from own_system import OwnSystem
from program import copy_program

NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
# The server identifies clients of its socket through the system in which it runs.  It loads no
# plugin that the script does not load.
HOLD = '''
import sys
sys.path.insert(0, '/run/lib')
from {module} import {kind}
class Held({kind}):
    PLUGINS = ()
    def install(self):
        super().install()
        self.accept()
    def accept(self):
        pass
{more}
with Held({options}) as server:
    print(server.socket_file(), flush=True)
    sys.stdin.read()
'''
# The rules of Debian.
PEER = '''    def accept(self):
        with open(self.folder + '/data/pg_hba.conf', 'w') as file:
            file.write('local all postgres trust\\nlocal all all peer\\nhost all all 127.0.0.1/32 scram-sha-256\\n')
'''
# Starts and enables units, as far as the script and `check` see it.
SYSTEMCTL = '''#!/bin/sh
for unit; do :; done
wanted=/etc/systemd/system/timers.target.wants/$unit
case $1 in
is-enabled) [ -e "$wanted" ] ;;
enable) mkdir -p "${wanted%/*}" && touch "$wanted" ;;
is-active) [ -e "/run/units/$unit" ] ;;
try-reload-or-restart) echo "systemctl $*" >>/run/apache ;;
start) mkdir -p /run/units && echo "$unit" >>"/run/units/$unit"
    case $unit in fairmill-report.service)
        runuser -u fairmill -- env FAIRMILL_CONF=/etc/fairmill/fairmill.conf fairmill report --output /var/lib/fairmill-report/index.html ;;
    esac ;;
esac
'''
CONF = '/etc/fairmill/fairmill.conf'
READER = '/etc/fairmill/reader.conf'
SLURMDBD = '''StorageType=accounting_storage/mysql
StorageHost=localhost
StoragePass=of-slurmdbd
StorageUser=slurm
StorageLoc=slurm_acct_db
'''
SAYING = '^  warning: |^  finding |^next: '


class Held:
    """A server that runs in the overlay inside the `with` block; its socket also has this path."""

    def __init__(self, there, usual, module, kind, more='', options=''):
        self.there, self.usual = there, usual
        code = HOLD.format(module=module, kind=kind, more=more, options=options)
        self.process = subprocess.Popen(
            ['chroot', there.root, '/usr/bin/env', 'TMPDIR=/tmp', 'FAIRMILL=/usr/bin/fairmill', '/usr/bin/python3', '-B', '-c', code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.socket = self.process.stdout.readline().strip()
        if not self.socket.startswith('/'):
            raise RuntimeError(f'no server starts there: {self.socket}{self.process.stdout.read()}')
        # Inside the overlay, because /var/run is a link to /run.
        if self.there.status(*self.there.inside('sh', '-c', 'mkdir -p "${2%/*}" && ln -sf "$1" "$2"', 'sh', self.socket, self.usual)):
            raise RuntimeError(f'{self.usual}: {self.there.place.err}')
        return self

    def __exit__(self, *_):
        self.process.communicate()


class Site:
    """A host with slurmdbd's database, and a script that sets up fairmill there."""

    def __init__(self, there, server):
        self.there, self.server = there, server

    def sql(self, *arguments, **more):
        self.there.place.command('chroot', self.there.root, *mariadb.CLIENT, f'--socket={self.server.socket}',
                                 '--batch', '--skip-column-names', *arguments, **more)
        return self.there.place.out.strip()

    def by(self, user, *command):
        """Returns the output of a command in the overlay, run by that user."""
        return self.there.printed(*self.there.inside('runuser', '-u', user, '--', 'env', f'FAIRMILL_CONF={CONF}', *command))

    def make(self):
        self.sql('-e', 'CREATE DATABASE slurm_acct_db')
        self.sql('slurm_acct_db', input=dump.text_of('25.05'))
        self.sql('slurm_acct_db', '-e', "DELETE FROM cluster_table WHERE name <> 'alpha'")
        # The jobs ended a month ago.  Rows that `check` would report are removed.
        self.sql('slurm_acct_db', '-e', '''DELETE FROM alpha_job_table WHERE time_end = 0 OR time_end > time_start + 86400;
            UPDATE alpha_assoc_table SET shares = 1 WHERE shares = 0;
            SELECT UNIX_TIMESTAMP() - 30 * 86400 - max(time_end) INTO @later FROM alpha_job_table;
            UPDATE alpha_job_table SET time_submit = time_submit + @later, time_eligible = time_eligible + @later,
                time_start = time_start + @later, time_end = time_end + @later WHERE time_start > 0''')
        os.makedirs(self.there.path('etc/slurm'), exist_ok=True)
        write(self.there.path('etc/slurm/slurm.conf'), 'ClusterName=alpha\n')
        write(self.there.path('etc/slurm/slurmdbd.conf'), SLURMDBD)
        os.chmod(self.there.path('etc/slurm/slurmdbd.conf'), 0o600)

    def setup(self, *options):
        """Returns the script, and writes it to setup.sh."""
        script = self.there.printed(*self.there.inside('env', f'FAIRMILL_CONF={CONF}', 'fairmill', 'setup', *options))
        write(self.there.path('run/setup.sh'), script + '\n')
        return script

    def script(self):
        return self.there.status(*self.there.inside('sh', '/run/setup.sh'))

    def state(self):
        """Returns everything that a script may change, as a set of lines."""
        inside = self.there.inside
        lines = []
        for folder in ('etc', 'var/lib/fairmill', 'var/lib/fairmill-report', 'var/lib/fairmill-metrics', 'run/units'):
            lines += self.there.printed(*inside('find', f'/{folder}', '!', '-name', '*.db-*', '-printf', '%p %m %u %g %l\n')).splitlines()
            lines += self.there.printed(*inside('find', f'/{folder}', '-type', 'f', '!', '-name', 'results.db*', '-exec', 'sha256sum', '{}', '+')).splitlines()
        return {*lines, *self.mysql_state(), *self.pgsql_state(), *self.sqlite_state()}

    def mysql_state(self):
        accounts = self.sql('-e', "SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user ORDER BY 1").splitlines()
        lines = [line for account in accounts for line in self.sql('-e', f'SHOW GRANTS FOR {account}').splitlines()]
        tables = self.sql('-e', "SELECT table_name FROM information_schema.tables WHERE table_schema = 'fairmill'").split()
        if tables:
            lines += self.sql('fairmill', '-e', '; '.join(f'CHECKSUM TABLE {name}' for name in tables)).splitlines()
        return [*accounts, *lines]

    def pgsql_state(self):
        if not os.path.exists(self.there.path('run/postgresql')):
            return []
        return [line for query in (
            'SELECT rolname, rolconnlimit, rolcanlogin FROM pg_roles', 'SELECT roleid, member FROM pg_auth_members',
            "SELECT relname, relacl FROM pg_class WHERE relname LIKE 'fairmill%'",
            'SELECT * FROM fairmill_run', 'SELECT * FROM fairmill_fairshare', 'SELECT * FROM fairmill_history',
        ) for line in self.psql(query).splitlines()]

    def psql(self, statement):
        return self.by('postgres', 'psql', '-h', '/run/postgresql', '-Atqc', statement, 'fairmill')

    def sqlite_state(self):
        path = self.there.path('var/lib/fairmill/results.db')
        if not os.path.exists(path):
            return []
        with contextlib.closing(sqlite3.connect(path)) as db:
            return list(db.iterdump())

    def check_is_silent(self):
        said = self.by('fairmill', 'fairmill', 'check')
        tap.unlike(said + self.there.place.err, f'(?m){SAYING}', 'afterwards, check has nothing to say')

    def works_twice(self, what):
        tap.ok(not self.script(), f'the script succeeds with {what}', self.there.place.out, self.there.place.err)
        first = self.there.place.out
        self.check_is_silent()
        before = self.state()
        tap.ok(not self.script(), f'with {what}, the script succeeds again', self.there.place.out, self.there.place.err)
        tap.unlike(self.there.place.out, 'Done:', f'with {what}, the second time does nothing')
        tap.empty(self.state() ^ before, f'with {what}, the second time changes nothing')
        return first + self.there.place.out

    def users_ask(self, what):
        """Tests that a user who cannot read the settings gets values through the socket."""
        path = self.there.path('run/fairmill/socket')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            os.chmod(path, 0o666)
            listener.listen(8)
            code = f'exec 3<&{listener.fileno()}; LISTEN_PID=$$; export LISTEN_PID; exec fairmill answer'
            service = subprocess.Popen(self.there.as_user('env', f'FAIRMILL_CONF={CONF}', 'LISTEN_FDS=1', 'sh', '-c', code),
                                       pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL)
            shown = self.by('games', 'fairmill', 'show', '--parsable')
            tap.ok(shown.count('\n') > 10, f'with {what}, users ask through the socket', shown, self.there.place.err)
            service.kill()
            service.wait()
        os.unlink(path)

    def passwords(self):
        """Returns the generated passwords, and tests that only root and fairmill can read them."""
        found = []
        for path in ('/etc/fairmill/fairmill.cnf', '/etc/fairmill/reader.cnf', '/var/lib/fairmill/.pg_service.conf'):
            if os.path.exists(self.there.path(path)):
                tap.same(self.there.owner(path), 'root:fairmill 640', f'only root and fairmill can read {path}')
                found += re.findall('Fm-[0-9a-f]{48}', read(self.there.path(path)))
        return found

    def works(self, what, *options):
        """Runs the script twice, asks as a user, and looks for passwords in the output."""
        script = self.setup(*options)
        said = self.works_twice(what)
        self.users_ask(what)
        secrets = [*self.passwords(), 'of-slurmdbd']
        tap.empty((secret for secret in secrets if secret in script + said), f'with {what}, neither script nor output has a password')

    def forget(self, units=False):
        """Removes what a script made, except in the databases, and chooses systemd or cron."""
        self.there.forget_fairmill('var/lib/fairmill-report', 'var/lib/fairmill-metrics', 'run/units', 'run/systemd')
        for name in glob.glob(self.there.path('etc/cron.d/fairmill*')) + glob.glob(self.there.path('etc/systemd/system/*/fairmill*')):
            os.unlink(name)
        if units:
            os.makedirs(self.there.path('run/systemd/system'))


def prepare(there):
    """Installs the program into a system without fairmill."""
    shutil.copytree(f'{TOP}/t/lib', there.path('run/lib'))
    there.forget_fairmill()
    copy_program(there.path('usr/bin'))
    write(there.path('usr/bin/systemctl'), SYSTEMCTL)
    for name in ('fairmill', 'systemctl'):
        os.chmod(there.path(f'usr/bin/{name}'), 0o755)
    os.makedirs(there.path('etc/cron.d'), exist_ok=True)


def edited(site):
    """Tests that the script does not change files of the administrator."""
    path = site.there.path(CONF)
    mine = read(path) + '[retention]\nhistory_days = 30\n'
    write(path, mine)
    write(site.there.path('etc/cron.d/fairmill-page'), '# mine\n')
    tap.ok(not site.script(), 'with edited files, the script succeeds', site.there.place.err)
    tap.like(site.there.place.out, 'Left alone.*\n(.*\n)*.*cron.d/fairmill-page, which differs', 'the script names an edited file')
    tap.same(read(path), mine, 'the script does not change edited settings')
    tap.same(read(site.there.path('etc/cron.d/fairmill-page')), '# mine\n', 'the script does not change an edited cron table')


def read_first(site):
    """Tests that an administrator can read the SQL before the script executes it."""
    path = site.there.path('run/setup.sh')
    write(path, re.sub('(?m)^read_first=no', 'read_first=yes', site.setup()))
    tap.same(site.script(), 1, 'with read_first, the script stops')
    tap.like(site.there.place.err, 'read the SQL in /etc/fairmill/fairmill-setup.sql', 'it says where the SQL is')
    tap.like(read(site.there.path('etc/fairmill/fairmill-setup.sql')), 'CREATE ROLE.*fairmill_writer', 'the file has the SQL')
    tap.unlike(site.sql('-e', 'SHOW DATABASES'), '(?m)^fairmill$', 'the SQL was not executed')
    os.unlink(site.there.path('etc/fairmill/fairmill-setup.sql'))


def stops_before_a_change(site, statement, message, *options):
    """Tests that the script stops with this message and changes nothing."""
    before = site.state()
    site.setup(*options)
    tap.same(site.script(), 1, statement)
    tap.like(site.there.place.err, message, 'the script says what to do')
    tap.empty(site.state() ^ before, 'a script that stops so early changes nothing')


def without_server(site):
    path = site.there.path('run/mysqld/mysqld.sock')
    os.rename(path, path + '.away')
    stops_before_a_change(site, 'the script stops if no server answers', 'start the server, then print this script again')
    os.rename(path + '.away', path)


def upgraded(site, drop, roles):
    """Tests the script with tables that `init` must upgrade: one table is missing."""
    drop('DROP TABLE fairmill_job_term')
    write(site.there.path(CONF), read(site.there.path(CONF)) + '[usage]\nhalf_life = 3-0\n')
    tap.ok(not site.script(), 'the script upgrades the tables', site.there.place.out, site.there.place.err)
    tap.like(site.there.place.out, 'upgraded the tables\n(.*\n)*.*computed and published the values', 'after an upgrade, the script starts a run')
    site.check_is_silent()
    tap.same(roles(), 'fairmill_writer', 'after an upgrade, the login has only the role of a writer')


def add_services(there):
    """Installs a web server and the directory of node_exporter, as far as the script sees them."""
    for name in ('apache2', 'a2enconf', 'apachectl'):
        write(there.path(f'usr/sbin/{name}'), f'#!/bin/sh\necho "$0 $*" >>/run/apache\n[ {name} != a2enconf ] || '
              'touch "/etc/apache2/conf-enabled/$2.conf"\n')
        os.chmod(there.path(f'usr/sbin/{name}'), 0o755)
    for path in ('etc/apache2/conf-available', 'etc/apache2/conf-enabled', 'var/lib/prometheus/node-exporter'):
        os.makedirs(there.path(path), exist_ok=True)
    there.status(*there.inside('groupadd', '--force', 'prometheus'))


def services(site):
    """Tests the files for the web server and node_exporter."""
    there = site.there
    tap.like(read(there.path('etc/apache2/conf-available/fairmill.conf')), 'Alias /fairmill /var/lib/fairmill-report\n(.*\n)*.*Require local',
             'Apache shows the page to this host only')
    tap.same(read(there.path('run/apache')), '/usr/sbin/a2enconf -q fairmill\nsystemctl try-reload-or-restart apache2.service\n', 'Apache is reloaded once')
    tap.same(there.owner('/var/lib/fairmill-metrics'), 'fairmill:prometheus 2750', 'only node_exporter can read the metrics')
    tap.like(read(there.path('var/lib/fairmill-metrics/fairmill.prom')), 'fairmill_', 'the metrics exist from the start')
    tap.same(os.readlink(there.path('var/lib/prometheus/node-exporter/fairmill.prom')), '/var/lib/fairmill-metrics/fairmill.prom',
             'node_exporter finds the metrics')
    tap.like(read(there.path('etc/systemd/system/fairmill.service.d/metrics.conf')), 'ExecStopPost=/usr/bin/fairmill metrics -o /var/lib',
             'each run writes metrics')
    tap.ok('</html>' in read(there.path('var/lib/fairmill-report/index.html')), 'the page exists')


def cron(site):
    """Runs the commands of the cron tables as cron does."""
    for name in ('fairmill', 'fairmill-page'):
        for user, command in re.findall(r'^[*0-9](?:\S*\s+){5}(\S+) (.*)$', read(site.there.path(f'etc/cron.d/{name}')), re.M):
            site.there.works_quietly(f'cron can run `{command}`', f'`{command}` prints no errors',
                                     *site.there.as_user('env', f'FAIRMILL_CONF={CONF}', '/bin/sh', '-c', command, user=user))


def other_names(site):
    """Tests the script with settings of an administrator, who chose another database."""
    write(site.there.path(CONF), re.sub('(?m)^database = fairmill$', 'database = fair_values', read(site.there.path(CONF))))
    os.unlink(site.there.path(READER))
    tap.ok(not site.script(), 'with another database in the settings, the script succeeds', site.there.place.out, site.there.place.err)
    site.check_is_silent()
    tap.like(read(site.there.path(READER)), '(?m)^database = fair_values$', 'reader.conf has the database of the settings')
    site.sql('-e', 'DROP DATABASE fair_values')


def unprivileged(site):
    """Tests what the command prints for a user who cannot read slurmdbd.conf."""
    before = site.state()
    script = site.by('nobody', 'fairmill', 'setup')
    tap.like(script, "cannot read '/etc/slurm/slurmdbd.conf': Permission denied", 'the script names a file that cannot be read')
    tap.like(script, 'sudo fairmill setup', 'the script says how to read the file')
    tap.empty(site.state() ^ before, 'the command itself changes nothing')


def on_another_host(site):
    """Tests a server that only a port leads to."""
    os.unlink(site.there.path('run/mysqld/mysqld.sock'))
    port = site.sql('-e', 'SELECT @@port')
    write(site.there.path('etc/slurm/slurmdbd.conf'), f'StorageHost=127.0.0.1\nStoragePort={port}\nStorageLoc=slurm_acct_db\n')
    site.setup()
    tap.same(site.script(), 1, 'without a login on the other host, the script stops')
    tap.like(site.there.place.err, 'copy /etc/fairmill/fairmill-setup.sql to 127.0.0.1', 'the script says what to do on the other host')
    order = site.there.path('etc/fairmill/fairmill-setup.sql')
    tap.same(site.there.owner('/etc/fairmill/fairmill-setup.sql'), 'root:root 600', 'only root can read the SQL for the other host')
    tap.ok(not os.path.exists(site.there.path(CONF)), 'no settings are in place yet')
    site.sql(input=read(order))
    tap.empty(site.there.place.err, 'the SQL for the other host succeeds')
    site.works('a server on another host')
    tap.ok(not os.path.exists(order), 'the script deletes the SQL for the other host')


def enter_network():
    """Moves this process to a network of its own, in which PostgreSQL can use its default port."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEWNET):
        tap.not_here('no permission for a network of its own')
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack('16sh', b'lo', IFF_UP))


def body():
    os.umask(0o022)
    enter_network()
    with OwnSystem() as there:
        prepare(there)
        # MySQL's passwords need TLS on a port.
        options = "'--tls-version=TLSv1.2,TLSv1.3'" if mariadb.IS_MYSQL else ''
        with Held(there, '/run/mysqld/mysqld.sock', 'mariadb', 'NewServer', options=options) as server:
            site = Site(there, server)
            site.make()
            site.forget()
            unprivileged(site)
            without_server(site)
            read_first(site)
            site.works(f'results in {mariadb.NAME}')
            stops_before_a_change(site, 'the script stops if settings publish elsewhere', 'print this script with --results mysql',
                                  '--results', 'sqlite')
            tap.like(site.setup(), "(?m)^results='mysql'", 'existing settings choose the database system of the results')
            upgraded(site, lambda statement: site.sql('fairmill', '-e', statement), lambda: ' '.join(sorted(set(
                re.findall('fairmill_(?:owner|writer|reader)', site.sql('-e', 'SHOW GRANTS FOR fairmill@localhost'))))))
            cron(site)
            edited(site)
            other_names(site)
            site.forget(units=True)
            add_services(there)
            site.works('results in SQLite, and systemd', '--results', 'sqlite')
            services(site)
            site.forget(units=True)
            with Held(there, '/run/postgresql/.s.PGSQL.5432', 'postgres', 'NewPostgres', PEER, "'-c', 'listen_addresses=127.0.0.1'"):
                site.works('results in PostgreSQL', '--results', 'pgsql')
                upgraded(site, lambda statement: site.psql(statement), lambda: site.psql(
                    "SELECT string_agg(roleid::regrole::text, ' ') FROM pg_auth_members WHERE member = 'fairmill'::regrole"))
            shutil.rmtree(there.path('run/postgresql'))
            site.forget()
            site.sql('-e', 'DROP DATABASE fairmill; DROP USER fairmill@localhost, fairmill_reader_login@localhost')
            on_another_host(site)


tap.needs(*mariadb.Server.PROGRAMS, *postgres.Postgres.PROGRAMS)
tap.main(body)
