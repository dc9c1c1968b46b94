# SPDX-License-Identifier: MIT
"""A directory for tests of the command line: an accounting database a.db, settings fm.conf, results
r.db."""

import os
import shutil
import sqlite3
import subprocess
import tempfile

import site_drawing
import sqlite
import tap
import terminal
from program import FAIRMILL, sqlite_settings, write_settings

NOW = 1750500000  # later than the usage of `use`
# Two accounts and three users, to which tests add jobs.
TINY = '''
cluster tiny
root/
  physics/   60
    alice    10
    bob      10
  chemistry/ 40
    carol     1
'''

SMALL = '''
cluster tiny
root/
  physics/   60
    alice    10  use 300
    bob      10  use 100
  chemistry/ 40
    carol     1  use 200
'''


class Place:
    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='fm')
        self.out = self.err = ''
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def site(self, drawing=SMALL, name='a.db'):
        if os.path.exists(self.path(name)):
            os.unlink(self.path(name))
        site_drawing.draw(drawing).write(self.path(name))

    def settings(self, keys=None, name='fm.conf'):
        """Writes settings. keys: {'usage.half_life': 0}; None removes a key."""
        sections = sqlite_settings(self.path('a.db'), self.path('r.db'), dict(half_life=0))
        for key, value in (keys or {}).items():
            section, key = key.split('.', 1)
            sections.setdefault(section, {})[key] = value
            if value is None:
                del sections[section][key]
        write_settings(self.path(name), sections)

    def ready(self, drawing=SMALL, keys=None):
        """Creates a site, settings and new result tables."""
        for name in os.listdir(self.folder):
            if name.startswith('r.db'):
                os.unlink(self.path(name))
        self.site(drawing)
        self.settings(keys)
        self.succeed('init')

    def start(self, *arguments, settings='fm.conf', **more):
        more.setdefault('env', {k: v for k, v in os.environ.items() if k != 'FAIRMILL_CONF'})
        chosen = ['-c', self.path(settings)] if settings else []
        return subprocess.Popen([FAIRMILL, *chosen, *map(str, arguments)], cwd=self.folder,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run(self, *arguments, **more):
        """Runs fairmill and returns the exit status; out and err contain its output."""
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=tap.HANG)
        self.out, self.err = out.decode(errors='surrogateescape'), err.decode(errors='surrogateescape')
        return process.returncode

    def on_terminal(self, *arguments, columns=80, settings='fm.conf', **environment):
        """Returns the output on a terminal of this width, with these additional variables."""
        chosen = ['-c', self.path(settings)] if settings else []
        clean = {name: value for name, value in os.environ.items() if name not in ('NO_COLOR', 'FAIRMILL_CONF')}
        return terminal.printed([FAIRMILL, *chosen, *map(str, arguments)], self.folder, columns,
                                clean | {'TERM': 'xterm'} | environment)

    def succeed(self, *arguments, **more):
        status = self.run(*arguments, **more)
        if status:
            raise RuntimeError(f'{arguments} ended with {status}: {self.out}{self.err}')

    def ends(self, status, statement, *arguments, **more):
        got = self.run(*arguments, **more)
        return tap.ok(got == status, statement,
                      f"'{' '.join(map(str, arguments))}' ended with {got}, expected {status}",
                      self.out, self.err)

    def says(self, statement, *texts):
        """Standard error contains all of these texts."""
        return tap.ok(texts and all(text in self.err for text in texts), statement,
                      f'wanted {texts}, got:', self.err)

    def _query(self, name, sql, *arguments):
        db = sqlite3.connect(self.path(name), timeout=30)
        try:
            rows = db.execute(sql, arguments).fetchall()
            db.commit()
            return rows
        finally:
            db.close()

    def query(self, sql, *arguments):
        return self._query('r.db', sql, *arguments)

    def change(self, sql, *arguments):
        return self._query('a.db', sql, *arguments)

    def drop_column(self, name, table, column):
        """Drops a column of the database in this file."""
        db = sqlite3.connect(self.path(name), timeout=30)
        try:
            sqlite.drop_column(db, table, column)
            db.commit()
        finally:
            db.close()

    def multiply(self, table, where, count, **columns):
        """Adds this number of copies of a row in the source.  `columns` contains SQL for columns
        that differ, in which i counts from 1."""
        names = [row[1] for row in self.change(f'PRAGMA table_info("{table}")')]
        values = ', '.join(columns.get(name, f'one."{name}"') for name in names)
        self.change(f'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) '
                    f'INSERT INTO "{table}" SELECT {values} FROM n, (SELECT * FROM "{table}" WHERE {where}) one')

    def value(self, column, name, cluster='tiny'):
        """Returns one value: 'physics.alice', or 'physics' for the account."""
        account, _, user = name.partition('.')
        rows = self.query(f'SELECT "{column}" FROM fairmill_fairshare WHERE cluster = ? AND account = ? AND user_name = ?',
                          cluster, account, user)
        if len(rows) != 1:
            raise ValueError(f"{len(rows)} rows of '{name}'")
        return rows[0][0]

    def usage(self, *names):
        return [self.value('usage_raw', name) for name in names]

    def findings(self):
        """Returns {kind: count}."""
        return dict(self.query('SELECT kind, sum(count) FROM fairmill_finding GROUP BY kind'))

    def state(self):
        """Returns all published rows, for comparison with a later state."""
        return [self.query(f'SELECT * FROM {table} ORDER BY 1, 2')
                for table in ('fairmill_fairshare', 'fairmill_run', 'fairmill_finding')]
