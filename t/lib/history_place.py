# SPDX-License-Identifier: MIT
"""Databases for a history of t/lib/history.py: an accounting database in SQLite, which the
reference reads, its copy on a server, and results."""

import sqlite3

import site_drawing
from books import ASSOCIATIONS, CLUSTER, KEYS, changes
from compare import from_rows, from_sqlite
from happenings import REGISTERED
from server import Session, cells



class SqlitePlace:
    """The accounting database is the file that the reference reads."""
    driver, largest_sluid = 'sqlite', 0x7ff

    def __init__(self, folder):
        self.folder = folder
        self.results = {}

    def accounting(self, mirror):
        return dict(driver='sqlite', database=mirror)

    def fresh(self, name, number):
        self.results[name] = f'{self.folder}/{name}-{number}.db'
        return dict(driver='sqlite', database=self.results[name])

    def write(self, changes):
        pass

    def rows(self, name):
        return {number: row for (_, number), row in from_sqlite(self.results[name]).items()}

    def ask(self, name, sql):
        db = sqlite3.connect(self.results[name])
        try:
            rows = db.execute(sql).fetchall()
            db.commit()
            return rows
        finally:
            db.close()

    def close(self):
        pass


class ServerPlace:
    """A server with a copy, and permanent sessions, since a client for each step would be too
    slow."""
    largest_sluid = 0xfff

    def __init__(self, server):
        self.server = server
        self.driver = server.connection('')['driver']
        self.source = server.accounting('history_acct', [CLUSTER])
        self.books = self.session(self.source)
        self.sessions, self.columns = {}, None

    def session(self, database):
        session = Session(self.server, database)
        session.do(self.server.LENIENT)
        return session

    def accounting(self, _):
        return self.server.connection(self.source)

    def fresh(self, name, _):
        if name in self.sessions:
            self.sessions.pop(name).close()
        database = self.server.database(f'history_{name}')
        self.sessions[name] = self.session(database)
        return self.server.connection(database)

    def write(self, changes):
        text = ['BEGIN']
        for table, gone, new in changes:
            if gone:
                text.append(f'DELETE FROM "{table}" WHERE "{KEYS[table]}" IN ({", ".join(map(str, gone))})')
            if new:
                names = list(new[0])
                rows = ',\n'.join(f'({", ".join(_quoted(row[name]) for name in names)})' for row in new)
                text.append(f'INSERT INTO "{table}" ({", ".join(map(_identifier, names))}) VALUES\n{rows}')
        text.append('COMMIT')
        said = self.books.do(';\n'.join(text))
        if said:
            raise RuntimeError('; '.join(said))

    def ask(self, name, sql):
        return cells(self.sessions[name].do(sql))

    def rows(self, name):
        if self.columns is None:
            self.columns = self.server.columns('fairmill_fairshare', f'history_{name}')
        rows = from_rows(self.columns, self.ask(name, 'SELECT * FROM fairmill_fairshare'))
        return {number: row for (_, number), row in rows.items()}

    def close(self):
        for session in (self.books, *self.sessions.values()):
            session.close()


def _identifier(name):
    return f'"{name}"'


def _quoted(value):
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return 'NULL' if value is None else str(value)


class Mirror:
    """The accounting database that the reference reads.  Changes are forwarded to a place."""

    def __init__(self, folder, place):
        self.path, self.place, self.written = f'{folder}/accounting.db', place, {}
        self.db = sqlite3.connect(self.path)
        self.db.execute('PRAGMA synchronous = OFF')
        site_drawing.make_tables(self.db, [CLUSTER])
        constant = {'cluster_table': [dict(name=CLUSTER, creation_time=1, mod_time=1, deleted=0,
                                           federation='', fed_state=0)],
                    f'{CLUSTER}_event_table': [dict(time_start=1, time_end=0, node_name='', cluster_nodes='n1',
                                                    reason='', state=0, tres=REGISTERED)]}
        constant['tres_table'] = [dict(id=number, creation_time=1, deleted=0, type=name.partition('/')[0],
                                       name=name.partition('/')[2])
                                  for number, name in site_drawing.TRES.items()]
        for table, rows in constant.items():
            for row in rows:
                site_drawing.insert(self.db, table, row)
        place.write([(table, [], rows) for table, rows in constant.items()])

    def of(self, books):
        """Returns a file with other associations, for the reference only."""
        path = self.path + '-then'
        with sqlite3.connect(path) as then:
            self.db.backup(then)
            then.execute(f'DELETE FROM {ASSOCIATIONS}')
            for rows in books.tables()[ASSOCIATIONS].values():
                for row in rows:
                    site_drawing.insert(then, ASSOCIATIONS, row)
        then.close()
        return path

    def write(self, books):
        tables = books.tables()
        found = changes(self.written, tables)
        for table, gone, new in found:
            self.db.executemany(f'DELETE FROM "{table}" WHERE "{KEYS[table]}" = ?',
                                [(_signed(key),) for key in gone])
            for row in new:
                site_drawing.insert(self.db, table, {name: _signed(value) for name, value in row.items()})
        self.db.commit()
        self.place.write(found)
        self.written = {table: dict(rows) for table, rows in tables.items()}


def _signed(value):
    """Returns keys without the highest bit, which SQLite cannot store.  The reference ignores
    keys."""
    return value - 2 ** 64 if isinstance(value, int) and value >= 2 ** 63 else value
