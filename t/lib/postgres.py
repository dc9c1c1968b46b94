# SPDX-License-Identifier: MIT
"""The server of postgres.sh, for tests in Python; and slurmdbd's tables in it."""

import os
import sqlite3

import mariadb
import site_drawing

DDL = os.path.join(site_drawing.TOP, 'sql', 'slurmdbd', 'pgsql.sql')


class Postgres(mariadb.Server):
    SHELL = ('. "$1/postgres.sh"; postgres_shared; '
             'echo "ready $POSTGRES_SOCKET $(command -v psql)"; read -r')
    SCHEMA = 'current_schema()'

    def client(self, database=None):
        return [self.said[0], '--no-psqlrc', '--quiet', '--no-align', '--tuples-only',
                '--field-separator=\t', '--pset=null=NULL', '--set=ON_ERROR_STOP=1',
                f'--host={self.socket}', '--username=postgres', database or 'postgres']

    def database(self, name):
        self.sql(f'DROP DATABASE IF EXISTS "{name}"')
        self.sql(f'CREATE DATABASE "{name}"')
        return name

    def connection(self, database):
        return dict(driver='pgsql', socket=self.socket, user='postgres', database=database)

    def copy_sqlite(self, path, name, clusters):
        """An accounting database in SQLite, in the tables that sql/slurmdbd/pgsql.sql makes."""
        with open(DDL, encoding='utf-8') as file:
            common, each = file.read().split('-- For each cluster.\n')
        self.database(name)
        self.sql(common + ''.join(each.replace('@CLUSTER@', c) for c in clusters), name)
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


def _copied(value):
    """A value as COPY reads it."""
    if value is None:
        return '\\N'
    if isinstance(value, bytes):
        value = value.decode()
    text = str(value)
    for raw, escaped in (('\\', '\\\\'), ('\t', '\\t'), ('\n', '\\n'), ('\r', '\\r')):
        text = text.replace(raw, escaped)
    return text
