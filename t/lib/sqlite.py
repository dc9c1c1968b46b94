# SPDX-License-Identifier: MIT
"""SQLite databases in a folder, with the interface of a server's databases."""

import re
import sqlite3


class Sqlite:
    def __init__(self, folder):
        self.folder = folder

    def connection(self, database):
        return dict(driver='sqlite', database=f'{self.folder}/{database}.db')

    def database(self, name):
        return name

    def sql(self, text, database):
        db = sqlite3.connect(f'{self.folder}/{database}.db')
        try:
            rows = db.execute(text).fetchall()
            db.commit()
            return rows
        finally:
            db.close()


def fit(sql):
    """Returns a script of tables in the form for this SQLite; STRICT exists from 3.37 on."""
    return sql if sqlite3.sqlite_version_info >= (3, 37) else sql.replace(') STRICT, ', ') ')


def drop_column(db, table, column):
    """Drops a column like ALTER TABLE DROP COLUMN, which SQLite supports from 3.35 on.  Older
    versions create the table again, for which each column must be on a line of its own."""
    if sqlite3.sqlite_version_info >= (3, 35):
        db.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        return
    (sql,), = db.execute('SELECT CAST(sql AS TEXT) FROM sqlite_master WHERE name = ?', (table,))
    sql = (sql.decode() if isinstance(sql, bytes) else sql).replace('`', '"')
    rest = re.sub(f'\n *"{column}" [^\n]*', '', sql)
    if rest == sql or f'"{column}"' in rest:
        raise sqlite3.OperationalError(f'cannot drop column "{column}"')
    db.execute(f'CREATE TEMP TABLE kept AS SELECT * FROM "{table}"')
    db.execute(f'DROP TABLE "{table}"')
    db.execute(rest)
    names = ', '.join(f'"{row[0]}"' for row in db.execute(f'SELECT * FROM "{table}"').description)
    db.execute(f'INSERT INTO "{table}" SELECT {names} FROM kept')
    db.execute('DROP TABLE kept')
