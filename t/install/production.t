#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests the commands of doc/production.md for MariaDB, MySQL and PostgreSQL unchanged, in a system
of their own, with the server at its default socket.  The commands of systemd are omitted."""

import os
import re
import shutil
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

PAGE = read(f'{TOP}/doc/production.md')
SUDO = '''#!/bin/sh
case $1 in -u | -iu) user=$2; shift 2; exec runuser -u "$user" -- "$@" ;; esac
exec "$@"
'''
# The server identifies clients of its socket through the system in which it runs.  It loads no
# plugin that the page does not load.
HOLD = '''
import sys
sys.path.insert(0, '/run/lib')
from {module} import {kind}
{kind}.PLUGINS = ()
with {kind}() as server:
    print(server.socket_file(), flush=True)
    sys.stdin.read()
'''
CONF = '/etc/fairmill/fairmill.conf'
ROLES = ['fairmill_writer']


class Held:
    """A server that runs in the overlay inside the `with` block; its socket also has this path."""

    def __init__(self, there, module, kind, usual):
        self.there, self.usual = there, usual
        self.process = subprocess.Popen(
            ['chroot', there.root, '/usr/bin/env', 'TMPDIR=/tmp', 'FAIRMILL=/usr/bin/fairmill', '/usr/bin/python3', '-B', '-c',
             HOLD.format(module=module, kind=kind)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.socket = self.process.stdout.readline().strip()
        if not self.socket.startswith('/'):
            raise RuntimeError(f'no server starts there: {self.socket}{self.process.stdout.read()}')
        # Inside the overlay, because /var/run is a link to /run.
        if self.there.status(*self.there.inside('sh', '-c', 'mkdir -p "${2%/*}" && ln -s "$1" "$2"', 'sh', self.socket, self.usual)):
            raise RuntimeError(f'{self.usual}: {self.there.place.err}')
        return self

    def __exit__(self, *_):
        self.process.communicate()


def usual_socket():
    """Returns the default path of the socket for such a server and its clients."""
    said = subprocess.run([mariadb.Server.PROGRAMS[0], '--no-defaults', '--verbose', '--help'], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return re.search('^socket +(.*)$', said, re.M)[1]


def commands_of(heading):
    """Returns the commands of a step of the page, up to the next heading; a command may have
    several lines."""
    text = re.search(rf'^\*\*{heading}\b.*\n((?:(?!\*\*|## ).*\n)*)', PAGE, re.M)[1]
    return [line for line in indented(text) if not re.search('systemctl|INSTALL PLUGIN', line)]


def commands_of_part(heading):
    """Returns the commands of a part, without its settings, which are the ones above."""
    text = re.search(rf'^## {heading}.*\n((?:(?!## ).*\n?)*)', PAGE, re.M)[1]
    return re.sub(r'^\[results\]\n(?:.*\n)*?database.*\n', '', '\n'.join(indented(text)) + '\n', flags=re.M).splitlines()


def indented(text):
    return re.findall('^    (.*)$', text, re.M)


class Site:
    def __init__(self, there, server):
        self.there, self.server = there, server

    def sql(self, *arguments, user=(), **more):
        self.there.place.command('chroot', self.there.root, *mariadb.CLIENT, f'--socket={self.server.socket}', *user,
                                 '--batch', '--skip-column-names', *arguments, **more)
        return self.there.place.out.strip()

    def there_by(self, user, *command):
        """Returns the output of a command in the overlay, run by that user."""
        return self.there.printed('chroot', self.there.root, 'runuser', '-u', user, '--', *command)

    def make(self):
        self.sql('-e', 'CREATE DATABASE slurm_acct_db')
        self.sql('slurm_acct_db', input=dump.text_of('25.05'))
        self.sql('slurm_acct_db', '-e', "DELETE FROM cluster_table WHERE name <> 'alpha'")

    def roles(self):
        return sorted(set(re.findall('fairmill_(?:owner|writer|reader)', self.sql('-e', 'SHOW GRANTS FOR fairmill@localhost'))))

    def follow(self, commands):
        """Runs all commands in one shell as root, until one fails.  Step 2 defines the client.  A
        build may have another prefix for its settings than a package."""
        client = re.search('^    (client=.*)$', PAGE, re.M)[1]
        write(self.there.path('work/commands'), '\n'.join(['set -e', client, *commands]) + '\n')
        return self.there.status(*self.there.inside('env', f'FAIRMILL_CONF={CONF}', 'bash', '-c', 'cd /work && exec bash commands'))

    def step(self, heading, word, statement, commands=None):
        """Tests that the commands of a step succeed, and that one of them contains this word."""
        commands = commands or commands_of(heading)
        tap.ok(word in '\n'.join(commands), f'the page has step {heading}')
        tap.ok(not self.follow(commands), statement, self.there.place.out, self.there.place.err)

    def settings(self):
        return read(self.there.path(CONF))

    def userdel(self):
        self.there.status(*self.there.inside('userdel', 'fairmill'))

    def first_steps(self):
        self.step('1', 'useradd', 'step 1 creates a user and settings')
        tap.like(self.settings(), '^#conf =', 'without a slurm.conf the settings name none')
        for folder in ('run/slurm/conf', 'etc/slurm'):
            self.userdel()
            os.makedirs(self.there.path(folder), exist_ok=True)
            write(self.there.path(f'{folder}/slurm.conf'), 'ClusterName=alpha\n')
            self.step('1', 'useradd', f'step 1 works with /{folder}/slurm.conf')
            tap.like(self.settings(), '^conf = auto', 'the settings use the slurm.conf')
            os.unlink(self.there.path(f'{folder}/slurm.conf'))
        self.userdel()
        examples = self.there.path('usr/share/doc/fairmill/examples')
        os.makedirs(examples, exist_ok=True)
        write(f'{examples}/fairmill.conf', read(f'{TOP}/etc/fairmill.conf') + '# from the package\n')
        self.step('1', 'useradd', 'step 1 creates settings from the package')
        tap.like(self.settings(), '^# from the package', "the settings are a copy of the package's")

    def load_plugin(self):
        self.follow(commands_of('2'))
        tap.like(self.there.place.err, "Plugin 'auth_socket' is not loaded",
                 'MySQL reports that its plugin is not loaded')
        command, = (line for line in indented(PAGE) if re.match('sudo .*INSTALL PLUGIN', line))
        self.there.status('chroot', self.there.root, 'bash', '-c', command)
        tap.empty(self.there.place.err, "the page's command loads the plugin")

    def to_results(self):
        if mariadb.IS_MYSQL:
            self.load_plugin()
        self.step('2', 'init --print', 'step 2 creates a login, tables, and privileges')
        self.step('3', 'check', 'step 3: init has nothing to do, and check succeeds')
        self.step('4', 'run -v', 'step 4 runs and prints the results')
        shown = self.there.place.out
        account = self.sql('slurm_acct_db', '-e', "SELECT max(acct) FROM alpha_assoc_table WHERE deleted = 0 AND acct <> 'root'")
        tap.like(shown, rf'\b{re.escape(account)}\b', 'the results contain an account')
        self.step('5', 'fairmill.cron', 'step 5 installs a crontab line')
        tap.same(self.roles(), ROLES, 'the login of runs has only the role of a writer')
        return account

    def readers(self, account):
        self.step('7', 'fairmill_reader', 'step 7 creates a reader')
        tap.same(self.sql('fairmill', '-e', 'SELECT count(*) > 0 FROM fairmill_fairshare', user=('--user=portal', '--password=secret')),
                 '1', 'the reader can read the results')
        self.step('8', 'reader.conf', 'step 8 creates a login for the socket')

        def shown(conf):
            out = self.there_by('fairmill', 'fairmill', '-c', conf, 'show', '--parsable')
            return sum(f'|{account}|' in f'|{line}' for line in out.splitlines())
        tap.same(shown('/etc/fairmill/reader.conf'), shown(CONF),
                 'the login for the socket reads the results with a password')
        self.there_by('nobody', 'fairmill', '-c', CONF, 'show')
        tap.like(self.there.place.out + self.there.place.err, 'Permission denied',
                 'other users cannot read the settings')

    def upgrade(self):
        self.step('After an upgrade', 'fairmill_owner', 'the commands for an upgrade succeed')
        tap.same(self.roles(), ROLES, 'after the upgrade the login has only the role of a writer')
        self.step('4', 'run -v', 'a run after the upgrade succeeds')

    def in_postgres(self):
        write(self.there.path(CONF), re.sub(r'(?s)(^\[results\].*?^)driver = mysql', r'\1driver = pgsql', self.settings(), flags=re.M))
        self.step('Results in PostgreSQL', 'psql -v', 'the commands for PostgreSQL succeed',
                  commands_of_part('Results in PostgreSQL'))
        tap.same(self.there_by('postgres', 'psql', '-Atqc', "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'fairmill_reader_login'"),
                 '64', 'the login for the socket has a connection limit')
        self.there.works('a run with results in PostgreSQL succeeds',
                         'chroot', self.there.root, 'runuser', '-u', 'fairmill', '--', 'fairmill', '-c', CONF, 'run')
        rows = self.there_by('postgres', 'psql', '-U', 'portal', '-Atqc', 'SELECT count(*) FROM fairmill_fairshare', 'fairmill')
        tap.ok(rows.isdigit() and int(rows) > 1, 'the results are published in PostgreSQL', rows)


def prepare(there):
    """Installs the program and a sudo into a system without fairmill."""
    shutil.copytree(f'{TOP}/t/lib', there.path('run/lib'))
    there.forget_fairmill()
    copy_program(there.path('usr/bin'))
    write(there.path('usr/bin/sudo'), SUDO)
    for name in ('fairmill', 'sudo'):
        os.chmod(there.path(f'usr/bin/{name}'), 0o755)
    os.makedirs(there.path('etc/cron.d'), exist_ok=True)
    for name in ('etc', 'cron'):
        shutil.copytree(f'{TOP}/{name}', there.path(f'work/{name}'))


def body():
    os.umask(0o022)
    with OwnSystem() as there:
        prepare(there)
        with Held(there, 'mariadb', 'NewServer', usual_socket()) as server:
            site = Site(there, server)
            site.make()
            site.first_steps()
            account = site.to_results()
            site.readers(account)
            site.upgrade()
            with Held(there, 'postgres', 'NewPostgres', '/run/postgresql/.s.PGSQL.5432'):
                site.in_postgres()


tap.needs(*mariadb.Server.PROGRAMS, *postgres.Postgres.PROGRAMS)
tap.main(body)
