#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Passwords stay in the files of database clients.  No file, table or output of fairmill contains
one."""

import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
import mariadb
from mariadb import Server
from postgres import NewPostgres
from program import FAIRMILL, write_settings

SOURCE, RESULTS, WRONG = 'S0urce-s3cret', 'R3sults-s3cret', 'Wr0ng-s3cret'
SECRETS = (SOURCE, RESULTS, WRONG)
READER, WRITER = 'secrets_reader', 'secrets_writer'
ACCOUNTING, PUBLISHED = 'secrets_acct', 'secrets_res'

SITE = '''
CREATE TABLE associations (cluster VARCHAR(64), id INTEGER, parent_id INTEGER, account VARCHAR(64),
    user_name VARCHAR(64), partition_name VARCHAR(64), shares INTEGER, deleted INTEGER);
CREATE TABLE used (cluster VARCHAR(64), id INTEGER, time_start BIGINT, time_end BIGINT, charge INTEGER);
INSERT INTO associations VALUES ('c', 1, NULL, 'root', '', '', 1, 0), ('c', 2, 1, 'root', 'u', '', 1, 0);
INSERT INTO used VALUES ('c', 2, 3600, 7200, 1);
'''


class Rig:
    """Starts runs that log in with passwords, and inspects everything that other users can see of
    them."""

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        self.conf = f'{folder}/f.conf'
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(('PG', 'MYSQL', 'FAIRMILL'))}
        self.runs, self.looked_at, self.leaks, self.strange = 0, 0, [], []

    def file(self, name, text, mode=0o600):
        path = f'{self.folder}/{name}'
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def write(self, source=None, results=None):
        sections = dict(source=dict(self.login('source'), database=ACCOUNTING, layout='plain', usage='used',
                                    deadline='60 s'),
                        results=dict(self.login('results'), database=PUBLISHED), usage=dict(half_life=0))
        sections['source'].update(source or {})
        sections['results'].update(results or {})
        write_settings(self.conf, sections)

    def run(self, *arguments, **environment):
        """Runs a command and returns the exit status.  The process must show only its arguments and
        environment.  On a busy host it may end before it is inspected."""
        command = [FAIRMILL, '-c', self.conf, *map(str, arguments)]
        given = dict(self.environment, **environment)
        process = subprocess.Popen(command, env=given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        looks = 0
        while process.poll() is None:
            looks += self.look(process.pid, command, given)
            time.sleep(.001)
        self.out, self.err = process.communicate(timeout=tap.HANG)
        self.runs += 1
        self.looked_at += looks > 0
        for name, text in (('standard output', self.out), ('standard error', self.err)):
            self.leaks += [f'{arguments}: {name}' for secret in SECRETS if secret in text]
        return process.returncode

    def look(self, pid, command, given):
        try:
            with open(f'/proc/{pid}/cmdline', encoding='utf-8') as file:
                shown = file.read().split('\0')[:-1]
            with open(f'/proc/{pid}/environ', encoding='utf-8') as file:
                around = file.read().split('\0')[:-1]
        except OSError:
            return 0
        if not shown or not around:
            return 0  # it has just ended
        if shown != command or sorted(around) != sorted(f'{k}={v}' for k, v in given.items()):
            self.strange.append(f'{command} showed {shown} and {around}')
        return 1

    def ends(self, status, statement, *arguments, **environment):
        got = self.run(*arguments, **environment)
        tap.ok(got == status, f'{self.server_name}: {statement}', got, self.out, self.err)

    def published(self):
        """Returns the rows of all tables of fairmill in the results, as text."""
        names = [name for name, in self.server.sql(
            "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'fairmill%'", PUBLISHED)]
        return {name: str(self.server.sql(f'SELECT * FROM {name}', PUBLISHED)) for name in sorted(set(names))}

    def judge(self, kept):
        tap.ok(self.runs > 10 and not self.leaks, f'{self.server_name}: no password was printed in {self.runs} runs',
               *self.leaks)
        tap.same(self.strange, [], f'{self.server_name}: processes show only their arguments and environment')
        tap.ok(self.looked_at > self.runs / 2, f'{self.server_name}: most processes were inspected',
               f'{self.looked_at} of {self.runs}')
        tables = self.published()
        tap.ok('failed' in tables['fairmill_run'] and self.conf_is_published(tables),
               f'{self.server_name}: the results contain settings and failures', tables)
        tap.ok(len(tables) > 6 and not any(secret in text for text in tables.values() for secret in SECRETS),
               f'{self.server_name}: no password is in any table', tables)
        left = set(os.listdir(self.folder)) - kept - {os.path.basename(self.conf)}
        tap.same(left, set(), f'{self.server_name}: no files are left over')

    def conf_is_published(self, tables):
        return READER in tables['fairmill_settings']


class OnMariadb(Rig):
    server_name = mariadb.NAME

    def prepare(self):
        for name in (ACCOUNTING, PUBLISHED):
            self.server.database(name)
        self.server.sql(SITE, ACCOUNTING)
        self.server.sql(f'DROP USER IF EXISTS {READER}@localhost, {WRITER}@localhost; '
                        f"CREATE USER {READER}@localhost IDENTIFIED BY '{SOURCE}'; "
                        f"CREATE USER {WRITER}@localhost IDENTIFIED BY '{RESULTS}'; "
                        f"GRANT SELECT ON {ACCOUNTING}.* TO {READER}@localhost; "
                        f"GRANT ALL ON {PUBLISHED}.* TO {WRITER}@localhost")
        self.files = {side: self.file(f'{side}.cnf', f'[client]\npassword = "{secret}"\n')
                      for side, secret in (('source', SOURCE), ('results', RESULTS), ('wrong', WRONG))}

    def login(self, side):
        return dict(driver='mysql', socket=self.server.socket, user=READER if side == 'source' else WRITER,
                    option_file=self.files[side])

    def wrong(self):
        return dict(option_file=self.files['wrong'])

    def by_environment(self):
        self.write(source=dict(option_file=''))
        self.ends(0, 'a password may be in the environment', 'check', MYSQL_PWD=SOURCE)
        self.ends(78, 'a wrong password in the environment ends with 78', 'run', '-v', MYSQL_PWD=WRONG)


class OnPostgres(Rig):
    server_name = 'PostgreSQL'

    def prepare(self):
        for name in (ACCOUNTING, PUBLISHED):
            self.server.database(name)
        self.server.sql(SITE, ACCOUNTING)
        self.server.sql(f"CREATE ROLE locked; CREATE ROLE {READER} LOGIN PASSWORD '{SOURCE}' IN ROLE locked; "
                        f"CREATE ROLE {WRITER} LOGIN PASSWORD '{RESULTS}' IN ROLE locked; "
                        f'ALTER DATABASE {PUBLISHED} OWNER TO {WRITER}')
        self.server.sql(f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}', ACCOUNTING)
        services = ''.join(f'[{name}]\nhost={self.server.socket}\nuser={READER}\npassword={secret}\n'
                           for name, secret in (('accounting', SOURCE), ('wrong', WRONG)))
        self.files = dict(source=self.file('services', services), results=self.file(
            'passwords', f'*:*:*:{WRITER}:{RESULTS}\n'), wrong=self.file('wrong', f'*:*:*:*:{WRONG}\n'))
        self.environment.update(PGSERVICEFILE=self.files['source'], PGPASSFILE=self.files['results'])

    def login(self, side):
        if side == 'source':
            return dict(driver='pgsql', service='accounting')
        return dict(driver='pgsql', socket=self.server.socket, user=WRITER)

    def wrong(self):
        return dict(service='wrong')

    def conf_is_published(self, tables):
        return 'accounting' in tables['fairmill_settings']

    def by_environment(self):
        # One password for both databases.  The service has its own, which takes precedence.
        self.write()
        self.ends(0, 'a password may be in the environment', 'run', '-v', PGPASSWORD=RESULTS, PGPASSFILE='')
        self.ends(78, 'a wrong password file ends with 78', 'run', '-v', PGPASSFILE=self.files['wrong'])
        self.ends(78, 'a missing password file ends with 78', 'run', '-v', PGPASSFILE=f'{self.folder}/nowhere')


def runs(rig):
    rig.write()
    for command in (('init', '--print'), ('init', '-v'), ('check',), ('run', '-v'), ('run', '-v', '--dry-run'),
                    ('show', '--json'), ('status',)):
        rig.ends(0, f"'{' '.join(command)}' logs in", *command)
    rig.write(source=rig.wrong())
    for command in (('run', '-v'), ('check',)):
        rig.ends(78, f"'{command[0]}' with a wrong password ends with 78", *command)
        tap.ok('rejected this login or its password' in (rig.out + rig.err) and 'GRANT' not in (rig.out + rig.err) and 'init --print' not in (rig.out + rig.err),
               'the message says that the server rejected the login, and has no GRANT', (rig.out + rig.err))
    rig.write(source=dict(host='127.0.0.1', port=1, deadline='2 s'))
    rig.ends(69, 'a server that is down ends with 69', 'run', '-v')
    rig.write(source=dict(usage='nowhere'))
    rig.ends(78, 'a missing table ends with 78', 'run', '-v')
    rig.write(source=dict(database='secrets_nowhere'))
    rig.run('run', '-v')
    rig.write(results=dict(database='secrets_nowhere'))
    rig.run('run', '-v')
    rig.by_environment()
    rig.write(source=dict(password=WRONG))
    rig.ends(78, 'a password in the settings is rejected', 'run', '-v')
    rig.write(source=dict(password=f'#{WRONG}'))
    rig.ends(78, 'a password with a leading hash sign is rejected', 'run', '-v')


def modes(rig):
    """Login files must be private."""
    path = rig.files['source']
    rig.write()
    rig.ends(0, 'check succeeds with a private login file', 'check')
    tap.ok('all users' not in rig.out, 'check does not warn of a private login file', rig.out)
    os.chmod(path, 0o640)
    rig.run('check')
    tap.ok('all users' not in rig.out, 'check does not warn of a login file readable by its group', rig.out)
    os.chmod(path, 0o644)
    rig.ends(0, 'check succeeds if a run would', 'check')
    tap.ok(rig.out.count(f"warning: all users can read '{path}'") == 1,
           'check warns of a login file that all users can read', rig.out)
    for mode in (0o620, 0o602):
        os.chmod(path, mode)
        rig.ends(78, f'a login file of mode {mode:o} is rejected', 'run', '-v')
        tap.ok(path in rig.err and 'chmod' in rig.err, 'the error names the login file', rig.err)
    os.chmod(path, 0o600)


def body():
    for server, kind in ((Server(), OnMariadb), (NewPostgres(), OnPostgres)):
        with server, tempfile.TemporaryDirectory(prefix='fm') as folder:
            rig = kind(folder, server)
            rig.prepare()
            kept = set(os.listdir(folder))
            runs(rig)
            modes(rig)
            rig.judge(kept)


tap.main(body)
