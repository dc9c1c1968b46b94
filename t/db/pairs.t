#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Source and results are any two drivers: whatever the pair, every value is the same, bit for bit."""

import os
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from compare import differences, exact, from_server, from_sqlite
from mariadb import Server
from postgres import Postgres
from program import fairmill, publish, write_settings

CLUSTERS = ('alpha', 'beta-2')
RELEASE = '25.05'
NOW = 1750500000
USAGE = dict(half_life='1-0', open_job_cap='30')  # so short that there are findings
RUN = ('cluster, as_of, kind, status, algorithm, associations, users, jobs_read, '
       'unattributed_usage, truncation_bound, source_newest, source_lag, settings_digest <> \'\'')
FINDING = 'cluster, kind, subject, first_seen, last_seen, count, detail'


class Sqlite:
    """As the servers are."""

    def __init__(self, folder):
        self.folder = folder

    def connection(self, database):
        return dict(driver='sqlite', database=f'{self.folder}/{database}.db')

    def database(self, name):
        return name

    def sql(self, text, database):
        db = sqlite3.connect(f'{self.folder}/{database}.db')
        try:
            return db.execute(text).fetchall()
        finally:
            db.close()


def load(mariadb, postgres, sqlite):
    """The same accounting database in each."""
    text = dump.text_of(RELEASE)
    copied = dump.to_sqlite(text, sqlite.connection('pairs')['database'], CLUSTERS)
    tap.ok(copied > 400, f'{copied} rows were copied to SQLite')
    postgres.copy_sqlite(sqlite.connection('pairs')['database'], 'pairs', CLUSTERS)
    subprocess.run(mariadb.client(mariadb.database('pairs')), input=text, text=True, check=True)


def others(server, results):
    """Runs and findings."""
    rows = [tuple(exact(value) for value in row) for table, columns in (
        ('run', RUN), ('finding', FINDING))
        for row in server.sql(f'SELECT {columns} FROM fairmill_{table}', results)]
    # MariaDB's and SQLite's booleans are 1, PostgreSQL's is t.
    return sorted(tuple(exact('1') if value == 't' else value for value in row) for row in rows)


def body():
    with Server() as mariadb, Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        places = dict(mysql=mariadb, pgsql=postgres, sqlite=Sqlite(folder))
        load(mariadb, postgres, places['sqlite'])
        first = None
        for source in places:
            for results in places:
                pair = f'from {source} to {results}'
                database = places[results].database(f'pairs_{source}')
                write_settings(f'{folder}/f.conf', dict(
                    source=places[source].connection('pairs'),
                    results=places[results].connection(database), usage=USAGE))
                publish(f'{folder}/f.conf', NOW)
                if results == 'sqlite':
                    rows = from_sqlite(places[results].connection(database)['database'])
                else:
                    rows = from_server(places[results], database)
                got = rows, others(places[results], database), shown(f'{folder}/f.conf')
                first = first or got
                wrong, compared = differences(rows, first[0])
                tap.ok(compared > 1000 and not wrong, f'every value is the same {pair}',
                       f'{len(wrong)} of {compared} differ', *wrong[:10])
                tap.same(got[1], first[1], f'so are runs and findings {pair}')
                tap.ok(got[2] == first[2], f'and what show prints {pair}')
                check(f'{folder}/f.conf', pair)
        tap.ok(len(first[1]) > 4, 'there were findings to compare', first[1])


def shown(settings):
    status, out, err = fairmill(settings, 'show', '--parsable')
    if status or out.count('\n') < 50:
        raise RuntimeError(f'show ended with {status}: {out}{err}')
    return out


def check(settings, pair):
    for command in (('check',), ('status', '--max-age', '3650 d'), ('run', '--now', NOW + 1),
                    ('run', '--now', NOW, '--replace')):
        status, out, err = fairmill(settings, *command)
        tap.ok(status == 0, f"'{' '.join(map(str, command))}' goes well {pair}", out, err)


tap.main(body)
