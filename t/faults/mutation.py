# SPDX-License-Identifier: MIT
"""Sites whose databases are damaged at random by a seed: cells, rows, columns and tables of the
accounting database and of the results.  The accounting database is created without constraints, so
that a cell accepts every value that SQLite can store."""

import os
import random
import re
import shutil
import sqlite3

import site_drawing
import sqlite
from place import NOW
from program import fairmill, sqlite_settings, write_settings

HOUR, DAY = 3600, 86400
# Times of the runs before the damage, and of the runs after it.
BEFORE = NOW - 2 * DAY, NOW - DAY, NOW
AFTER = NOW + 300, NOW + 2 * HOUR

OLDEST = NOW - 20 * DAY  # no job is older

CLUSTERS = 'alpha', 'beta'
DRAWING = ''.join(f'''
cluster {cluster}
root/
  physics/ 60
    alice     10
    bob       20
    theory/   parent
      dora     3
      erik     parent
  chemistry/ 40
    carol      1
    carol@gpu  2
    gone       5 deleted
  idle/        5
    zoe        0
    yan        2
  old/         1 deleted
registered 1=64,2=1000,4=7,5=100
''' for cluster in CLUSTERS) + '''
qos 2 factor=0.5 name=low
tres 1001 gres/gpu
'''

INTEGERS = (-1, 0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 53 + 1, 2 ** 63 - 1,
            -2 ** 63, -2 ** 63 + 1, 4102444800)
REALS = (1e308, -1e308, float('inf'), float('-inf'), float('nan'), 0.5, -0.0, 5e-324, 1e19, 1e100)
TEXTS = (b'', b'0', b'-1', b'12abc', b' 7', b'1e308', b'inf', b'18446744073709551615', b'root', b'alice', b'physics', b'beta',
         b'5=18446744073709551614,1=2', b'5=', b'1=1,1=2', b'=,=', b'5=1e9', b'\xff\xfe', b'caf\xc3', b'a\x1b[31m\nb',
         b"'; \"--", b'\xc3\x9cn\xc3\xaf', b'x' * 300, b'y' * 100000, b'a\x00b')
BLOBS = (b'', b'\x00\x01', b'\xff' * 9)


class Damage:
    """A damage: `what` in words, the clusters and associations that it can affect (None: any), and
    the names that a message may use for it."""

    def __init__(self, side):
        self.side = side
        self.what, self.names = [], set()
        self.clusters, self.associations = set(), set()
        self.tables = set()
        self.lost = False  # a table, view or column is missing
        self.retires = False  # the list of clusters may mark one as removed

    def touches(self, cluster, associations=None):
        self.clusters = None if cluster is None or self.clusters is None else self.clusters | {cluster}
        self.associations = (None if associations is None or self.associations is None
                             else self.associations | set(associations))

    def named(self, *names):
        self.names.update(str(name) for name in names if name not in (None, ''))

    def __str__(self):
        return '; '.join(self.what)


# ---- sites ----

def add_jobs(site, r):
    for cluster in site.clusters:
        users = [row['id_assoc'] for row in cluster.associations if row['user']]
        for _ in range(40):
            start = NOW - r.randrange(14 * DAY)
            job = cluster.job(r.choice(users), start, min(NOW - 60, start + r.randrange(2 * DAY)), billing=r.randrange(1, 9),
                              qos=r.choice((1, 2)), partition=r.choice(('p', 'gpu')), limit=r.choice((0, 60, 6000)))
            if r.random() < .2:
                cluster.suspend(job, start + 10, start + 500)
        for open_for in (DAY // 2, 9 * DAY):
            cluster.job(r.choice(users), NOW - open_for, 0, billing=2, limit=600, state=1)
        for _ in range(3):
            cluster.job(r.choice(users), 0, 0, submit=NOW - 5 * HOUR, time_eligible=NOW - 4 * HOUR, state=0, cpus_req=4,
                        tres_req='1=4,2=100,4=1', partition='p,gpu', limit=600, priority=100)
        # A job that was resized has two records.
        first = cluster.job(users[0], NOW - 6 * HOUR, NOW - 5 * HOUR, billing=1, state=12)
        cluster.job(users[0], NOW - 6 * HOUR, NOW - 4 * HOUR, billing=3, submit=NOW - 5 * HOUR, id_job=len(cluster.jobs))
        first['id_job'] = len(cluster.jobs) - 1


def add_rollups(db, r):
    for cluster in CLUSTERS:
        for span, length, first in (('hour', HOUR, NOW - NOW % DAY - 2 * DAY), ('day', DAY, NOW - NOW % DAY - 9 * DAY)):
            for number in range(5, 9):
                for start in range(first, first + 5 * length, length):
                    site_drawing.insert(db, f'{cluster}_assoc_usage_{span}_table', dict(
                        id=number, id_tres=5, time_start=start, alloc_secs=r.randrange(length * 8)))
        site_drawing.insert(db, f'{cluster}_last_ran_table', dict(
            hourly_rollup=NOW - NOW % HOUR, daily_rollup=NOW - NOW % DAY, monthly_rollup=1748736000))


def add_transactions(db):
    for cluster in CLUSTERS:
        for at, action, name, info in (
                (BEFORE[0] + HOUR, 1429, 'id_assoc=3', 'shares=10'), (BEFORE[0] + 2 * HOUR, 1429, '(id_assoc=3 || id_assoc=4)', 'shares=10'),
                (BEFORE[0] + 3 * HOUR, 1437, 'id_assoc=4 || id_assoc=6', ''),
                (BEFORE[0] + 3 * HOUR, 1435, "name='chemistry'", ''),
                (BEFORE[0] + 4 * HOUR, 1404, 'id_assoc=4', "acct='physics', user='bob', `partition`='', shares=10"),
                (NOW + HOUR, 1429, 'id_assoc=7', 'shares=7'),
                (1, 1404, 'id_assoc=9', "acct='chemistry', user='carol', `partition`='gpu', shares=2")):
            site_drawing.insert(db, 'txn_table', {'timestamp': at, 'action': action, 'name': name, 'actor': 'root',
                                                  'cluster': cluster, 'info': info})


def make_plain(db):
    """Creates the same site in two relations."""
    parts = [], []
    for cluster in CLUSTERS:
        parts[0].append(f"SELECT '{cluster}' AS cluster, id_assoc AS id, id_parent AS parent_id, acct AS account, \"user\" AS user_name, "
                        f'"partition" AS partition_name, shares, deleted FROM "{cluster}_assoc_table"')
        parts[1].append(f"SELECT '{cluster}' AS cluster, id_assoc AS id, time_start, time_end, id_qos + 0.5 AS charge "
                        f'FROM "{cluster}_job_table" WHERE time_start > 0')
    db.execute('CREATE TABLE associations AS ' + ' UNION ALL '.join(parts[0]))
    db.execute('CREATE TABLE usage AS ' + ' UNION ALL '.join(parts[1]))
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%table'").fetchall():
        db.execute(f'DROP TABLE "{name}"')


def text_of(value):
    return value.decode(errors='replace') if isinstance(value, bytes) else value


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def tables_of(db):
    return [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def columns_of(db, table):
    return [name for (name,) in db.execute('SELECT name FROM pragma_table_info(?)', (table,))]


def rebuild(db, table, change):
    """Creates the table with change(its CREATE TABLE), and with the same rows; raises an exception
    if that is impossible."""
    (sql,), = db.execute('SELECT sql FROM sqlite_master WHERE name = ?', (table,)).fetchall()
    rows = db.execute(f'SELECT * FROM {quoted(table)}').fetchall()
    db.execute(f'DROP TABLE {quoted(table)}')
    db.execute(change(sql))
    if rows:
        db.executemany(f'INSERT INTO {quoted(table)} VALUES ({", ".join("?" * len(rows[0]))})', rows)


def without_constraints(sql):
    sql = re.sub(r',\s*(PRIMARY KEY|UNIQUE) \([^)]*\)', '', sql)
    return re.sub(r' NOT NULL| PRIMARY KEY', '', sql)


def without_types(sql):
    return re.sub(r'" (INTEGER|TEXT|REAL|BLOB)', '"', sql)


def not_strict(sql):
    """A column of the key is never NULL WITHOUT ROWID."""
    return re.sub(r' NOT NULL|STRICT, ', '', sql)


class Base:
    """A site after some runs, and the results of two more runs without damage."""

    def __init__(self, folder, name, keys, typeless=False, plain=False):
        self.folder, self.name, self.keys = os.path.join(folder, name), name, keys
        # the same path for every trial, because a checkpoint contains the path of its source
        self.place = os.path.join(folder, 'place')
        os.mkdir(self.place)
        r = random.Random(name)
        self.seals = name in ('fair-tree', 'slurmctld')
        self.site = site_drawing.draw(DRAWING)
        add_jobs(self.site, r)
        self.site.write(os.path.join(self.place, 'a.db'))
        db = sqlite3.connect(os.path.join(self.place, 'a.db'))
        add_rollups(db, r)
        add_transactions(db)
        if plain:
            make_plain(db)
        else:
            for table in tables_of(db):
                rebuild(db, table, lambda sql: (without_types if typeless else str)(without_constraints(sql)))
        self.ids = {cluster: {row[0] for row in db.execute(
            f"SELECT id FROM associations WHERE cluster = '{cluster}'" if plain else f'SELECT id_assoc FROM "{cluster}_assoc_table"')}
            for cluster in CLUSTERS}
        db.commit()
        db.close()
        self.write_settings()
        self.do('init')
        self.do('run', '--now', BEFORE[0])
        entry = '--clusters', 'alpha', '--why', 'a test', '--yes', '--at'
        self.do('ledger', 'credit', '5h', '--user', 'alice', *entry, BEFORE[0])
        self.do('ledger', 'reset', '--user', 'dora', *entry, BEFORE[0])
        self.do('run', '--now', BEFORE[1])
        if self.seals:
            self.do('ledger', 'refund', '3', *entry, NOW)
        self.do('run', '--now', BEFORE[2])
        with open(os.path.join(self.place, 'printed'), 'w', encoding='utf-8') as file:
            file.write(self.do('show', '--parsable'))
        settle(os.path.join(self.place, 'r.db'))
        os.rename(self.place, self.folder)
        self.before = snapshot(self.path('r.db'))
        self.after = []
        self.copy()
        for instant in AFTER:
            self.do('run', '--now', instant)
            self.after.append(snapshot(os.path.join(self.place, 'r.db')))
        shutil.rmtree(self.place)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_settings(self):
        sections = sqlite_settings(os.path.join(self.place, 'a.db'), os.path.join(self.place, 'r.db'))
        for key, value in self.keys.items():
            section, key = key.split('.')
            sections.setdefault(section, {})[key] = value
        write_settings(os.path.join(self.place, 'fm.conf'), sections)

    def do(self, *arguments):
        status, out, err = fairmill(os.path.join(self.place, 'fm.conf'), *arguments)
        if status:
            raise RuntimeError(f"{self.name}: '{' '.join(map(str, arguments))}' ended with {status}: {out}{err}")
        return out

    def copy(self):
        """Copies the site to the place of one trial."""
        shutil.copytree(self.folder, self.place)


def bases(folder):
    weights = {'priority.weight_age': 1000, 'priority.weight_fairshare': 100000, 'priority.weight_qos': 10,
               'priority.weight_tres': 'CPU=100,Mem=5', 'priority.partition_factors': 'p:3, gpu:1'}
    return [Base(folder, 'fair-tree', dict(weights)),
            Base(folder, 'slurmctld', {**weights, 'fairshare.conformance': 'slurmctld', 'fairshare.algorithm': 'classic',
                                       'usage.half_life': 0, 'usage.reset_period': 'monthly', 'usage.suspended': 'omitted',
                                       'source.on_bad_rows': 'skip', 'usage.charge': 'cpu'}, typeless=True),
            Base(folder, 'rollup', {'usage.source': 'rollup', 'fairshare.algorithm': 'linear', 'fairshare.capacity': 64}),
            Base(folder, 'plain', {'source.layout': 'plain', 'fairshare.algorithm': 'pbs', 'usage.half_life': '1-0'}, plain=True)]


# ---- contents of the results ----

# Tables that no run can compute again, or that describe runs and not the site.
NOT_DERIVED = {'fairmill_schema', 'fairmill_lock', 'fairmill_settings', 'fairmill_run', 'fairmill_finding', 'fairmill_ledger',
               'fairmill_ledger_reset', 'fairmill_ledger_chain', 'fairmill_ledger_counted', 'fairmill_share_change', 'fairmill_qos_change',
               'fairmill_association', 'fairmill_history', 'fairmill_history_point', 'fairmill_share_state', 'fairmill_share_past',
               'fairmill_fairness'}
# Columns that differ between two runs with the same results.  After damage to a span, a run cannot
# know whether the first day still has all jobs, so `final_to` may differ.
OF_RUNS = {'run_id', 'full_as_of', 'checked_to', 'sums_hash', 'final_to'}


def settle(path):
    """Writes the log of the file into the file, which is copied without its log."""
    db = sqlite3.connect(path)
    db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()


def snapshot(path):
    """Returns {table: {(cluster, ...): [rows]}} of derived tables, without columns that describe
    runs."""
    db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    db.text_factory = bytes
    found = {}
    try:
        told = {name for name in tables_of(db) if name.decode() not in NOT_DERIVED
                and not re.match(b'fairmill_(seal|seal_usage|usage_span)$', name)}
        tables = tables_of(db)
        try:
            db.execute('SELECT 1 FROM fairmill_fairshare')
            tables = [*tables, b'fairmill_fairshare']
        except sqlite3.OperationalError:
            pass  # a view with a missing table or column
        for table in tables:
            table = table.decode()
            if table in NOT_DERIVED or not table.startswith('fairmill_'):
                continue
            columns = [name.decode() for name in columns_of(db, table)]
            places = [i for i, name in enumerate(columns) if name not in OF_RUNS and (table, name) != ('fairmill_seal', 'hash')]
            places.sort(key=lambda i: (not re.match('id|day|job|as_of|cluster', columns[i]), columns[i]))
            rows = {}
            for row in db.execute(f'SELECT * FROM {quoted(table)} ORDER BY 1, 2'):
                cluster = row[columns.index('cluster')] if 'cluster' in columns else b''
                if table == 'fairmill_seal_usage' and not any(row[2:]):
                    continue  # the rest of a stored sum after a reset
                if table == 'fairmill_kept' and (row[columns.index('table_name')] not in told or row[columns.index('part')] < OLDEST):
                    continue  # of a missing table or day, or with columns that describe runs
                rows.setdefault(cluster, []).append(tuple((columns[i], row[i]) for i in places))
            found[table] = rows
    finally:
        db.close()
    return found


def of_cluster(snapshot_, cluster):
    return {table: rows.get(cluster.encode(), []) for table, rows in snapshot_.items()}


def difference(got, expected):
    """Returns the first difference between two snapshots of the same cluster in words, or ''."""
    for table in sorted(set(got) | set(expected), key=lambda name: (name == 'fairmill_kept', name)):
        mine, theirs = got.get(table), expected.get(table)
        if mine == theirs:
            continue
        if mine is None or theirs is None:
            return f'{table} is {"lost" if mine is None else "new"}'
        for row, other in zip(mine, theirs):
            cells = [f'{name} {value!r}, expected {wanted!r}' for (name, value), (_, wanted) in zip(row, other) if value != wanted]
            if cells:
                return f'{table} {dict(row[:4])}: ' + ', '.join(cells)[:300]
        return f'{table} has {len(mine)} rows, expected {len(theirs)}'
    return ''


# ---- damage ----

class Surgeon:
    """Applies one damage to a copy of a base."""

    def __init__(self, base, side, seed):
        self.base, self.side, self.r = base, side, random.Random(seed)
        self.damage = Damage(side)
        self.db = sqlite3.connect(os.path.join(base.place, 'a.db' if side == 'source' else 'r.db'))
        self.db.text_factory = bytes
        self.full = [t.decode() for t in tables_of(self.db)]
        self.full = [t for t in self.full if self.db.execute(f'SELECT 1 FROM {quoted(t)}').fetchone()]

    def operate(self):
        r = self.r
        kinds = [(self.cell, 70), (self.lose_rows, 8), (self.double_rows, 6), (self.lose_table, 4), (self.lose_column, 4),
                 (self.empty_table, 3)]
        kinds += [(self.cycle, 6)] if self.side == 'source' else [(self.loose_cell, 12), (self.lose_view, 1)]
        for _ in range(r.choice((1, 1, 1, 2, 4))):
            for _ in range(20):
                if r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]() is not False:
                    break
        self.db.commit()
        self.db.close()
        return self.damage

    # Tables and columns that are read once for all clusters.
    SHARED = 'txn_table', ('associations', 'deleted')
    # The names of tables in messages.
    OTHER_NAMES = {'fairmill_schema': ('result tables', 'version'), 'cluster_table': ('cluster',), 'associations': ('no cluster',)}

    def note(self, table, words, columns=(), row=None):
        """Records the damage of a table, its possible names, and the affected objects."""
        damage = self.damage
        damage.what.append(f'{table}: {words}')
        damage.tables.add(table)
        damage.named(*self.OTHER_NAMES.get(table, ()))
        damage.named(table, *columns, *(text_of(v) for k, v in (row or {}).items() if k.startswith('id') or k == 'job_db_inx'))
        cluster = next((c for c in CLUSTERS if table.startswith(c + '_')), None)
        if row is not None and 'cluster' in row:
            cluster = row['cluster'].decode(errors='replace') if isinstance(row['cluster'], bytes) else None
        if cluster not in CLUSTERS or 'cluster' in columns or table in self.SHARED or (table, *columns) in self.SHARED:
            cluster = None
        damage.retires |= table in ('cluster_table', 'associations') and 'deleted' in columns
        damage.touches(cluster, self.associations(table, cluster, row))

    def associations(self, table, cluster, row):
        """Returns the associations whose usage these rows affect, or None if this is unknown."""
        if self.side != 'source' or row is None or cluster is None:
            return None
        if table.endswith(('_job_table', '_suspend_table')) and 'id_assoc' in row:
            return [row['id_assoc']]
        if table == 'usage' or '_assoc_usage_' in table:
            return [row['id']]
        return None

    def table(self):
        return self.r.choice(self.full) if self.full else None

    def rows(self, table):
        columns = [c.decode() for c in columns_of(self.db, table)]
        return [dict(zip(columns, row)) for row in self.db.execute(f'SELECT * FROM {quoted(table)}')]

    def value(self, old, others):
        """Returns (SQL, value) for a cell."""
        r = self.r
        kind = r.random()
        if kind < .15:
            return 'NULL', ()
        if kind < .30 and others:
            return self.typed(r.choice(others))
        if kind < .38 and isinstance(old, int):
            return '?', (max(-2 ** 63, min(2 ** 63 - 1, old + r.choice((-1, 1, 86400, -86400, 2 ** 40, old)))),)
        if kind < .42 and isinstance(old, (int, float)):
            return '?', (-old if old != -2 ** 63 else 0,)
        if kind < .70:
            return '?', (r.choice(INTEGERS),)
        if kind < .80:
            return '?', (r.choice(REALS),)
        if kind < .95:
            return 'CAST(? AS TEXT)', (r.choice(TEXTS),)
        return '?', (r.choice(BLOBS),)

    @staticmethod
    def typed(value):
        return ('CAST(? AS TEXT)', (value,)) if isinstance(value, bytes) else ('?', (value,))

    def cell(self):
        table = self.table()
        if not table:
            return False
        rows = self.rows(table)
        if not rows:
            return False
        row = self.r.choice(rows)
        # Only `verify` reads columns of days that belong to no TRES.
        unused = {f'tres_{number}' for number in range(1, 17) if table in ('fairmill_usage_day', 'fairmill_usage_open')
                  and all(other.get(f'tres_{number}') is None for other in rows)}
        for _ in range(10):
            column = self.r.choice([name for name in row if name not in unused])
            sql, value = self.value(row[column], [other[column] for other in rows])
            condition, arguments = self.condition(row)
            try:
                changed = self.db.execute(f'UPDATE {quoted(table)} SET {quoted(column)} = {sql} WHERE {condition}',
                                          (*value, *arguments)).rowcount
            except sqlite3.Error:
                continue  # the table rejects the value
            if changed:
                shown = repr(value[0] if value else None)
                self.note(table, f'{column} of {self.brief(row)} is {shown[:60]}', (column,), row)
                self.note_new(table, row, column, value[0] if value else None)
                return True
        return False

    def note_new(self, table, row, column, value):
        """Records the association to which a changed row belongs."""
        self.note(table, 'now', (column,), dict(row, **{column: value}))
        self.damage.what.pop()

    @staticmethod
    def brief(row):
        return ', '.join(f'{name} {value!r}' for name, value in row.items() if value not in (None, b''))[:120]

    def condition(self, row):
        parts, arguments = [], []
        for name, value in row.items():
            sql, bound = self.typed(value)
            parts.append(f'{quoted(name)} IS {sql}')
            arguments += bound
        return ' AND '.join(parts), arguments

    def loose_cell(self):
        """Damages a cell in a table without types, as if an administrator had created it again."""
        table = self.table()
        views = self.db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'").fetchall()
        for name, _ in views:
            self.db.execute(f'DROP VIEW {quoted(name.decode())}')
        rebuild_bytes(self.db, table, not_strict)
        done = self.cell()
        for _, sql in views:
            self.db.execute(sql.decode())
        return done

    def some(self):
        table = self.table()
        rows = self.rows(table) if table else []
        return table, self.r.sample(rows, min(len(rows), self.r.choice((1, 1, 2, 5))))

    def lose_rows(self):
        table, rows = self.some()
        for row in rows:
            condition, arguments = self.condition(row)
            self.db.execute(f'DELETE FROM {quoted(table)} WHERE {condition}', arguments)
            self.note(table, f'lost {self.brief(row)}', (), row)
        return bool(rows)

    def double_rows(self):
        """Doubles rows, with another value in one column if the table has a key."""
        table, rows = self.some()
        done = False
        for row in rows:
            row = dict(row)
            for _ in range(6):
                cells = [self.typed(value) for value in row.values()]
                try:
                    self.db.execute(f'INSERT INTO {quoted(table)} VALUES ({", ".join(sql for sql, _ in cells)})',
                                    [value for _, bound in cells for value in bound])
                    done = True
                    self.note(table, f'doubled {self.brief(row)}', (), row)
                    break
                except sqlite3.Error:
                    column = self.r.choice(list(row))
                    if isinstance(row[column], int):
                        row[column] = (row[column] + self.r.choice((1, 7, 86400))) % 2 ** 62
        return done

    def empty_table(self):
        table = self.table()
        if not table:
            return False
        rows = self.rows(table)
        self.db.execute(f'DELETE FROM {quoted(table)}')
        for row in rows:
            self.note(table, 'emptied', (), row)
        self.damage.named(table.partition('_')[0])
        self.damage.what[len(self.damage.what) - len(rows) + 1:] = []
        return bool(rows)

    def lose_table(self):
        table = self.table()
        if not table:
            return False
        self.db.execute(f'DROP TABLE {quoted(table)}')
        self.full.remove(table)
        self.note(table, 'is lost')
        self.damage.lost = True
        return True

    def lose_column(self):
        table = self.table()
        if not table:
            return False
        column = self.r.choice([c.decode() for c in columns_of(self.db, table)])
        views = self.db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'").fetchall()
        for name, _ in views:
            self.db.execute(f'DROP VIEW {quoted(name.decode())}')
        try:
            sqlite.drop_column(self.db, table, column)
            self.note(table, f'column {column} is lost', (column,))
            self.damage.lost = done = True
        except sqlite3.Error:
            done = False  # the column is part of the key
        for _, sql in views:
            self.db.execute(sql.decode())
        return done

    def lose_view(self):
        views = self.db.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
        view = self.r.choice(views)[0].decode()
        self.db.execute(f'DROP VIEW {quoted(view)}')
        self.note(view, 'is lost')
        self.damage.lost = True

    def cycle(self):
        """Moves an account below itself, below its own descendant, or below no account, or creates
        a second root."""
        cluster = self.r.choice(CLUSTERS)
        plain = 'associations' in self.full
        table = 'associations' if plain else f'{cluster}_assoc_table'
        if table not in self.full:
            return False
        number, account, user = ('id', 'account', 'user_name') if plain else ('id_assoc', 'acct', 'user')
        rows = [row for row in self.rows(table) if not row.get(user) and row.get('cluster', cluster.encode()) == cluster.encode()]
        if len(rows) < 2 or account not in rows[0] or number not in rows[0]:
            return False
        mine, other = self.r.sample(rows, 2)
        new = {'parent_id': other[number]} if plain else {'parent_acct': other[account], 'id_parent': other[number]}
        if self.r.random() < .3:
            new = {name: mine[number if 'id' in name else account] for name in new}
        new = {name: value for name, value in new.items() if name in mine}
        condition, arguments = self.condition(mine)
        cells = {name: self.typed(value) for name, value in new.items()}
        if not cells:
            return False
        self.db.execute(f'UPDATE {quoted(table)} SET {", ".join(f"{quoted(n)} = {sql}" for n, (sql, _) in cells.items())} '
                        f'WHERE {condition}', [v for _, bound in cells.values() for v in bound] + arguments)
        self.note(table, f'{self.brief(mine)} below {new}', tuple(new), mine)
        self.damage.named(mine[number], other[number], cluster)
        return True


def rebuild_bytes(db, table, change):
    """Works like rebuild(), if texts are read as bytes."""
    (sql,), = db.execute('SELECT sql FROM sqlite_master WHERE name = ?', (table,)).fetchall()
    db.execute('CREATE TEMPORARY TABLE held AS SELECT * FROM ' + quoted(table))
    db.execute(f'DROP TABLE {quoted(table)}')
    db.execute(change(sql.decode()))
    db.execute(f'INSERT INTO {quoted(table)} SELECT * FROM held')
    db.execute('DROP TABLE held')
