#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that doc/plain.md works as described on every database, and also the example views of
sql/site."""

import os
import re
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Server
from postgres import Postgres
from program import TOP, fairmill


def read(name):
    with open(os.path.join(TOP, name), encoding='utf-8') as file:
        return file.read()


PAGE = read('doc/plain.md')

CLOUD = '''
CREATE TABLE project (id INTEGER PRIMARY KEY, name VARCHAR(64) NOT NULL, shares INTEGER NOT NULL);
CREATE TABLE meter (project_id INTEGER NOT NULL, hour INTEGER NOT NULL, cpu_seconds INTEGER NOT NULL);
INSERT INTO project VALUES (2, 'weather', 3), (3, 'genes', 1);
INSERT INTO meter VALUES (2, 3600, 900), (2, 7200, 2700), (3, 7200, 360);
'''


def block(kind):
    found = re.findall(rf'^```{kind}\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f'{len(found)} blocks of {kind}')
    return found[0]


def follow(place, make, ask, source, results):
    """Follows the page. make runs SQL in the site's database, and ask returns rows of the results;
    source and results are lines of settings."""
    make(block('sql') + ';\n' + read(block('view').strip()))
    path = os.path.join(place, 'fm.conf')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f"[source]\n{source}{block('ini')}\n[results]\n{results}\n{block('settings')}")
    commands = block('run').splitlines()
    for command in ('init', 'check', *commands):
        status, out, err = fairmill(path, *command.split())
        tap.ok(status == 0, f'`{command}` succeeds', out, err)
    tap.same(out, block('answer'), "the page shows the command's output")
    rows = ask('SELECT id_assoc, tres, SUM(seconds) FROM fairmill_tres_day GROUP BY id_assoc, tres ORDER BY id_assoc')
    tap.same([[str(cell) for cell in row] for row in rows], [['13', 'ncpus', '100'], ['14', 'ncpus', '100'], ['16', 'ncpus', '1000']],
             'the usage by TRES is in the results')


def meter(place, make, source, results):
    make(CLOUD + read('sql/site/hours.sql'))
    path = os.path.join(place, 'hours.conf')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f"[source]\n{source}layout = plain\nassociations = metered_projects\nusage = metered_hours\n"
                   f"[results]\n{results}\n[usage]\nhalf_life = 0\n")
    for command in (('init',), ('run', '--now', 20000), ('show', '--parsable')):
        status, out, err = fairmill(path, *command)
        tap.ok(status == 0, f"with the meter's views `{command[0]}` succeeds", out, err)
    rows = {tuple(line.split('|')[1:3]): line.split('|') for line in out.splitlines()}
    tap.same([rows[name, name][6] for name in ('weather', 'genes')], ['3600', '360'],
             'the usage is the metered usage of every hour')
    tap.same([rows[name, name][9] for name in ('genes', 'weather')], ['1', '0.5'],
             'the project with the least usage of its share is next')


def on_sqlite(place):
    database, results = os.path.join(place, 'site.db'), os.path.join(place, 'results.db')

    def make(sql):
        db = sqlite3.connect(database)
        db.executescript(sql)
        db.close()

    def ask(sql):
        db = sqlite3.connect(results)
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()
    lines = f'driver = sqlite\ndatabase = {database}\n', f'driver = sqlite\ndatabase = {results}\n'
    follow(place, make, ask, *lines)
    os.unlink(results)
    meter(place, make, *lines)


def on_server(place, server):
    names = [server.database(f'tutorial_{os.getpid()}_{part}') for part in ('site', 'results')]
    lines = [''.join(f'{key} = {value}\n' for key, value in server.connection(name).items())
             for name in names]
    follow(place, lambda sql: server.sql(sql, names[0]), lambda sql: server.sql(sql, names[1]), *lines)
    server.database(names[1])
    meter(place, lambda sql: server.sql(sql, names[0]), *lines)
    for name in names:
        server.sql(f'DROP DATABASE {name}')


def body():
    with Server() as mariadb, Postgres() as postgres:
        for part in (on_sqlite, lambda place: on_server(place, mariadb),
                     lambda place: on_server(place, postgres)):
            with tempfile.TemporaryDirectory(prefix='fm') as place:
                part(place)


tap.main(body)
