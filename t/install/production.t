#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""The commands of doc/production.md for MariaDB, MySQL and PostgreSQL do what it says, as they stand there: in a
system of its own, with the server at its usual socket.  What systemd does is left out."""

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
from program import FAIRMILL

PAGE = read(f'{TOP}/doc/production.md')
SUDO = '''#!/bin/sh
case $1 in -u | -iu) user=$2; shift 2; exec runuser -u "$user" -- "$@" ;; esac
exec "$@"
'''
# The server asks the system that it runs in who comes through its socket.  It has no plugin that the page does not load.
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
    """A server that runs there, as long as the `with` lasts; its socket is at that path, too."""

    def __init__(self, there, module, kind, usual):
        self.there, self.usual = there, usual
        self.process = subprocess.Popen(
            ['chroot', there.root, '/usr/bin/env', 'TMPDIR=/tmp', 'FAIRMILL=/usr/bin/fairmill', '/usr/bin/python3', '-B', '-c',
             HOLD.format(module=module, kind=kind)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.socket = self.process.stdout.readline().strip()
        if not self.socket.startswith('/'):
            raise RuntimeError(f'no server starts there: {self.socket}{self.process.stdout.read()}')
        # There, since /var/run is a link to /run.
        if self.there.status(*self.there.inside('sh', '-c', 'mkdir -p "${2%/*}" && ln -s "$1" "$2"', 'sh', self.socket, self.usual)):
            raise RuntimeError(f'{self.usual}: {self.there.place.err}')
        return self

    def __exit__(self, *_):
        self.process.communicate()


def usual_socket():
    """Where such a server listens, and its clients look for it, unless they are told."""
    said = subprocess.run([mariadb.Server.PROGRAMS[0], '--no-defaults', '--verbose', '--help'], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return re.search('^socket +(.*)$', said, re.M)[1]


def commands_of(heading):
    """The commands of a step of the page, from its heading to the next; one may go on in the next line."""
    text = re.search(rf'^\*\*{heading}\b.*\n((?:(?!\*\*|## ).*\n)*)', PAGE, re.M)[1]
    return [line for line in indented(text) if not re.search('systemctl|INSTALL PLUGIN', line)]


def commands_of_part(heading):
    """Those of a part of that name, without its settings, which are those above."""
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
        """What a command prints there, run by that user."""
        return self.there.printed('chroot', self.there.root, 'runuser', '-u', user, '--', *command)

    def make(self):
        self.sql('-e', 'CREATE DATABASE slurm_acct_db')
        self.sql('slurm_acct_db', input=dump.text_of('25.05'))
        self.sql('slurm_acct_db', '-e', "DELETE FROM cluster_table WHERE name <> 'alpha'")

    def roles(self):
        return sorted(set(re.findall('fairmill_(?:owner|writer|reader)', self.sql('-e', 'SHOW GRANTS FOR fairmill@localhost'))))

    def follow(self, commands):
        """All of them in one shell, as root; the first that fails ends it.  Step 2 says what the client is.  A build of
        ours may look for its settings below another prefix than a package."""
        client = re.search('^    (client=.*)$', PAGE, re.M)[1]
        write(self.there.path('work/commands'), '\n'.join(['set -e', client, *commands]) + '\n')
        return self.there.status(*self.there.inside('env', f'FAIRMILL_CONF={CONF}', 'bash', '-c', 'cd /work && exec bash commands'))

    def step(self, heading, word, statement, commands=None):
        """Its commands, one of which has this word, work."""
        commands = commands or commands_of(heading)
        tap.ok(word in '\n'.join(commands), f'the page has step {heading}')
        tap.ok(not self.follow(commands), statement, self.there.place.out, self.there.place.err)

    def settings(self):
        return read(self.there.path(CONF))

    def userdel(self):
        self.there.status(*self.there.inside('userdel', 'fairmill'))

    def first_steps(self):
        self.step('1', 'useradd', 'a user and settings')
        tap.like(self.settings(), '^#conf =', 'without a slurm.conf, the settings name none')
        for folder in ('run/slurm/conf', 'etc/slurm'):
            self.userdel()
            os.makedirs(self.there.path(folder), exist_ok=True)
            write(self.there.path(f'{folder}/slurm.conf'), 'ClusterName=alpha\n')
            self.step('1', 'useradd', f'the same with /{folder}/slurm.conf')
            tap.like(self.settings(), '^conf = auto', 'after which the settings name it')
            os.unlink(self.there.path(f'{folder}/slurm.conf'))
        self.userdel()
        examples = self.there.path('usr/share/doc/fairmill/examples')
        os.makedirs(examples, exist_ok=True)
        write(f'{examples}/fairmill.conf', read(f'{TOP}/etc/fairmill.conf') + '# from the package\n')
        self.step('1', 'useradd', 'a user and settings from the package')
        tap.like(self.settings(), '^# from the package', 'which are those that the package has installed')

    def load_plugin(self):
        self.follow(commands_of('2'))
        tap.like(self.there.place.err, "Plugin 'auth_socket' is not loaded", 'MySQL says that its plugin is not loaded')
        command, = (line for line in indented(PAGE) if re.match('sudo .*INSTALL PLUGIN', line))
        self.there.status('chroot', self.there.root, 'bash', '-c', command)
        tap.empty(self.there.place.err, "the page's command loads it")

    def to_results(self):
        if mariadb.IS_MYSQL:
            self.load_plugin()
        self.step('2', 'init --print', 'a login, tables, and privileges')
        self.step('3', 'check', 'nothing is left for init to make, and check finds all that a run needs')
        self.step('4', 'run -v', 'a run, and its results')
        shown = self.there.place.out
        account = self.sql('slurm_acct_db', '-e', "SELECT max(acct) FROM alpha_assoc_table WHERE deleted = 0 AND acct <> 'root'")
        tap.like(shown, rf'\b{re.escape(account)}\b', 'which are there')
        self.step('5', 'fairmill.cron', 'a line for cron')
        tap.same(self.roles(), ROLES, 'who runs has the role of a writer only')
        return account

    def readers(self, account):
        self.step('7', 'fairmill_reader', 'a reader')
        tap.same(self.sql('fairmill', '-e', 'SELECT count(*) > 0 FROM fairmill_fairshare', user=('--user=portal', '--password=secret')),
                 '1', 'who can read the results at once')
        self.step('8', 'reader.conf', 'a login for the socket')

        def shown(conf):
            out = self.there_by('fairmill', 'fairmill', '-c', conf, 'show', '--parsable')
            return sum(f'|{account}|' in f'|{line}' for line in out.splitlines())
        tap.same(shown('/etc/fairmill/reader.conf'), shown(CONF), 'which reads results with a password')
        self.there_by('nobody', 'fairmill', '-c', CONF, 'show')
        tap.like(self.there.place.out + self.there.place.err, 'Permission denied', 'and nobody else may read the settings')

    def upgrade(self):
        self.step('After an upgrade', 'fairmill_owner', 'an upgrade')
        tap.same(self.roles(), ROLES, 'after which who runs is a writer only again')
        self.step('4', 'run -v', 'and runs go on')

    def in_postgres(self):
        write(self.there.path(CONF), re.sub(r'(?s)(^\[results\].*?^)driver = mysql', r'\1driver = pgsql', self.settings(), flags=re.M))
        self.step('Results in PostgreSQL', 'psql -v', 'the commands for PostgreSQL', commands_of_part('Results in PostgreSQL'))
        tap.same(self.there_by('postgres', 'psql', '-Atqc', "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'fairmill_reader_login'"),
                 '64', 'a login for the socket has its limit')
        self.there.works('then a run', 'chroot', self.there.root, 'runuser', '-u', 'fairmill', '--', 'fairmill', '-c', CONF, 'run')
        rows = self.there_by('postgres', 'psql', '-U', 'portal', '-Atqc', 'SELECT count(*) FROM fairmill_fairshare', 'fairmill')
        tap.ok(rows.isdigit() and int(rows) > 1, 'publishes there', rows)


def prepare(there):
    """Our program, and a sudo, in a system that has no fairmill."""
    shutil.copytree(f'{TOP}/t/lib', there.path('run/lib'))
    there.forget_fairmill()
    shutil.copy(FAIRMILL, there.path('usr/bin/fairmill'))
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
