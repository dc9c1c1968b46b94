#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that the scripts of doc/operations.md move results from one kind of database to another,
and that the next run continues there."""

import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from compare import exact
from mariadb import CLIENT, IS_MYSQL, Server
from place import NOW, TINY, Place
from postgres import Postgres
from program import fairmill, write_settings
from site_drawing import TOP
from sqlite import Sqlite

DAY = 86400
ODD = 'o"d\\d, it\'s'  # the name of a user
LONG = (('fairmill_settings', 'text'), ('fairmill_seal', 'basis'))
DRAWING = TINY + f'''job physics.alice start={NOW - 10 * DAY} end={NOW - 9 * DAY} billing=4
job physics.bob start={NOW - 10 * DAY} end={NOW - 8 * DAY} billing=2
job chemistry.carol start={NOW - 3 * DAY} end={NOW - 2 * DAY} billing=2
job chemistry.carol start={NOW - 3000} end=0 billing=2
'''


def scripts():
    """Returns the scripts of the page by source and target."""
    with open(os.path.join(TOP, 'doc', 'operations.md'), encoding='utf-8') as file:
        found = dict(re.findall(r'^From ([^\n]*):\n\n((?:    [^\n]*\n)+)', file.read(), re.MULTILINE))
    names = {'MariaDB or MySQL': 'mysql', 'PostgreSQL': 'pgsql', 'SQLite': 'sqlite'}
    told = {}
    for title, text in found.items():
        title = title.removesuffix(', use the script for PostgreSQL with this last command')
        source, target = title.split(' to ')
        told[names[source], names[target]] = text
    told['sqlite', 'mysql'] = re.sub(r'^ *psql .*\n', lambda _: told['sqlite', 'mysql'], told['sqlite', 'pgsql'], flags=re.MULTILINE)
    return told


def clients(place, servers):
    """Creates programs with the names that the scripts call, which connect to the servers of this
    test."""
    programs = dict(
        psql=[servers['pgsql'].client()[0], '--no-psqlrc', f"--host={servers['pgsql'].socket}",
              f"--port={servers['pgsql'].port}", '--username=postgres'],
        mariadb=[shutil.which(CLIENT[0]), *CLIENT[1:], f"--socket={servers['mysql'].socket}", '--user=root'],
        sqlite3=[shutil.which('sqlite3') or 'sqlite3'])
    os.mkdir(place.path('bin'))
    for name, command in programs.items():
        with open(place.path(f'bin/{name}'), 'w', encoding='utf-8') as file:
            file.write('#!/bin/bash\nwords=()\nfor word; do\n'
                       '  [ "$word" = fairmill ] && word=$THE_DATABASE\n'
                       '  [ "$word" = /var/lib/fairmill/results.db ] && word=$THE_FILE\n'
                       f'  words+=("$word")\ndone\nexec {shlex.join(command)} "${{words[@]}}"\n')
        os.chmod(place.path(f'bin/{name}'), 0o755)


def spelled(value):
    """Returns one spelling for the output of all clients, with every digit of integers and every
    bit of reals."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2 ** 53:
        value = int(value)
    try:
        return str(int(str(value)))
    except ValueError:
        return exact(value)


def contents(server, database, tables):
    """Returns {table: rows}, with the columns by name, and only the length of multi-line texts."""
    is_mysql = type(server) is Server
    found = {}
    for table, columns in tables.items():
        names = ', '.join(f'length("{column}")' if (table, column) in LONG else f'"{column}"' for column in columns)
        rows = server.sql(f"{Server.LENIENT if is_mysql else ''} SELECT {names} FROM {table}", database)
        found[table] = sorted(([spelled(value.replace('\\\\', '\\') if is_mysql and value else value) for value in row]
                               for row in rows), key=str)
    return found


def command(place, *arguments):
    status, out, err = fairmill(place.path('now.conf'), *arguments)
    if status:
        raise RuntimeError(f'{arguments} ended with {status}: {out}{err}')
    return out


def begin(place):
    """Creates results in SQLite with rows in most tables."""
    place.site(DRAWING)
    place.change("UPDATE tiny_assoc_table SET user = ? WHERE user = 'bob'", ODD)
    settle(place, Sqlite(place.folder), 'moved_sqlite')
    for day in (9, 5, 1):
        command(place, 'run', '--now', NOW - day * DAY)
    place.change("UPDATE tiny_assoc_table SET shares = 7, mod_time = ? WHERE user = 'alice'", NOW - DAY + 5)
    command(place, 'ledger', 'credit', 500, '-u', 'alice', '--at', NOW - 4 * DAY, '-w', f'a "test"\\, {ODD}', '-y')
    command(place, 'ledger', 'reset', '-A', 'chemistry', '--at', NOW - 5 * DAY, '-w', 'new', '-y')
    command(place, 'run', '--now', NOW)


def settle(place, server, database):
    write_settings(place.path('now.conf'), dict(
        source=dict(driver='sqlite', database=place.path('a.db')), results=server.connection(database),
        usage=dict(half_life='7-0', checkpoint_after='1-0')))
    command(place, 'init')


def told(place):
    """Returns the output of commands for readers."""
    return [command(place, *words) for words in (
        ('show', '--parsable'), ('history', 'root', '--json'), ('history', 'root', '--usage', '--csv'), ('ledger', 'export'),
        ('run', '--now', NOW - 5 * DAY, '--dry-run'))]


def move(place, servers, way, script):
    source, target = way
    before = told(place)
    there, database = servers[target], servers[target].database(f'moved_{target}')
    tables = {table: [row[1] for row in place.columns(table)] for table, in place.tables()}
    kept = contents(servers[source], f'moved_{source}', tables)
    settle(place, there, database)
    # Each client gets its own database.
    for client, name in (('psql', 'moved_pgsql'), ('mariadb', 'moved_mysql')):
        script = re.sub(rf'\b{client} (?=-|fairmill)', f'THE_DATABASE={name} {client} ', script)
    done = subprocess.run(['bash', '-c', script], cwd=place.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, 'PATH': f"{place.path('bin')}:{os.environ['PATH']}",
                               'THE_FILE': place.path('moved_sqlite.db')})
    tap.ok(done.returncode == 0 and not done.stdout,
           f'from {source} to {target} the script succeeds', done.stdout, script)
    got = contents(there, database, tables)
    wrong = [(table, got[table], rows) for table, rows in kept.items() if got[table] != rows]
    tap.ok(len(kept) > 20 and sum(map(bool, kept.values())) > 12 and not wrong,
           'every row of every table is moved', *wrong)
    tap.same(told(place), before, 'commands print the same after the move')
    tap.ok(command(place, 'ledger', 'list').count('\n') == 3, 'no entry of the ledger is lost')


class Desk(Place):
    def tables(self):
        return self._query('moved_sqlite.db', "SELECT name FROM sqlite_master WHERE type = 'table'")

    def columns(self, table):
        return self._query('moved_sqlite.db', f'PRAGMA table_info({table})')


def body():
    script = scripts()
    with Server() as mariadb, Postgres() as postgres, Desk() as place:
        servers = dict(mysql=mariadb, pgsql=postgres, sqlite=Sqlite(place.folder))
        clients(place, servers)
        if IS_MYSQL:
            mariadb.sql('SET GLOBAL local_infile = ON')
        begin(place)
        for way in (('sqlite', 'mysql'), ('mysql', 'pgsql'), ('pgsql', 'mysql')):
            move(place, servers, way, script[way])
        settle(place, servers['sqlite'], 'moved_sqlite')
        move(place, servers, ('sqlite', 'pgsql'), script['sqlite', 'pgsql'])
        command(place, 'run', '--now', NOW + 60)
        rows = command(place, 'show', '--parsable')
        kind = postgres.sql('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1', 'moved_pgsql')
        tap.same(kind, [['incremental']], 'the next run continues from the last one')
        command(place, 'run', '--now', NOW + 60, '--full')
        tap.same(command(place, 'show', '--parsable'), rows, 'the next run gives the values of a full run')


tap.main(body)
