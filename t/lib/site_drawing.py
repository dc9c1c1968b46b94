#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Reads the drawing of a site and creates the accounting database that slurmdbd would have for it.

    site_drawing.py FILE < drawing

A drawing is a tree by indentation.  Accounts end in a slash:

    cluster tiny
    root/
      physics/     40
        alice       1  use 20
        bob    parent
        carol@gpu   1
      old/     1  deleted
    qos 2 factor=0.5 name=low
    tres 1001 gres/gpu
    job physics.alice start=1000 end=4600 billing=4 qos=2 partition=gpu
    suspended 1200 1500
    registered 5=64,1=64

A name is followed by its shares (default 1, `parent`, `null`), `use N` for a
finished job of one second and N billing units, `deleted`, `id N`.  IDs count
from 1 in the order of the drawing.  `cluster NAME` starts the next cluster.
`suspended` belongs to the job above it; an end of 0 is open.
"""

import os
import re
import sqlite3
import subprocess
import sys

PARENT = 2147483647
TRES = {1: 'cpu', 2: 'mem', 3: 'energy', 4: 'node', 5: 'billing', 6: 'fs/disk', 7: 'vmem', 8: 'pages'}
USE_AT = 1700000000
TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))


def slurmdbd_tables(dialect):
    """Returns the statements of slurmdbd's tables, for 'pgsql' or 'sqlite', with @CLUSTER@ in place
    of a cluster's name."""
    return subprocess.run([os.path.join(TOP, 'sql', 'slurmdbd', 'tables.sh'), dialect], check=True,
                          stdout=subprocess.PIPE, encoding='utf-8').stdout


class Cluster:
    def __init__(self, name):
        self.name = name
        self.associations = []
        self.jobs = []
        self.suspends = []
        self.registered = None
        self.deleted = 0
        self.next_id = 1

    def account(self, acct, parent_acct, shares=1, deleted=0, id_assoc=None):
        return self._add(acct, '', '', parent_acct, shares, deleted, id_assoc)

    def user(self, user, acct, shares=1, partition='', deleted=0, id_assoc=None):
        return self._add(acct, user, partition, '', shares, deleted, id_assoc)

    def _add(self, acct, user, partition, parent_acct, shares, deleted, id_assoc):
        id_assoc = id_assoc or self.next_id
        self.next_id = max(self.next_id, id_assoc + 1)
        self.associations.append(dict(
            id_assoc=id_assoc, user=user, acct=acct, partition=partition,
            parent_acct=parent_acct, shares=shares, deleted=deleted))
        return id_assoc

    def job(self, id_assoc, start, end, **more):
        """Adds a job. billing= or cpu= counts, or tres= is the text of tres_alloc."""
        counts = []
        if 'cpu' in more:
            counts.append(f"1={more.pop('cpu')}")
        if 'billing' in more:
            counts.append(f"5={more.pop('billing')}")
        row = dict(id_assoc=id_assoc, time_start=start, time_end=end,
                   time_submit=start, time_eligible=start, id_qos=1, timelimit=0,
                   tres_alloc=','.join(counts),
                   state=3 if end else 1 if start else 0)
        names = dict(qos='id_qos', limit='timelimit', tres='tres_alloc', submit='time_submit')
        for key, value in more.items():
            row[names.get(key, key)] = value
        self.jobs.append(row)
        return row

    def suspend(self, job, start, end):
        self.suspends.append((job, start, end))

    def find(self, path):
        """Returns the row of 'physics.alice', 'physics.alice@gpu', or of the account 'physics'."""
        acct, _, user = path.partition('.')
        user, _, partition = user.partition('@')
        for row in self.associations:
            if (row['acct'], row['user'], row['partition']) == (acct, user, partition):
                return row
        raise ValueError(f"no association '{path}' in the drawing")


class Site:
    def __init__(self):
        self.clusters = []
        self.qos = {1: 1.0}
        self.qos_names = {}
        self.tres = dict(TRES)

    def cluster(self, name):
        self.clusters.append(Cluster(name))
        return self.clusters[-1]

    def write(self, path, order=None):
        """Writes the database. order is a function that changes the order of each table's rows."""
        db = sqlite3.connect(path)
        make_tables(db, [c.name for c in self.clusters])
        order = order or (lambda rows: rows)
        for c in self.clusters:
            insert(db, 'cluster_table', dict(
                creation_time=1, mod_time=1, deleted=c.deleted, name=c.name))
        for number, factor in self.qos.items():
            insert(db, 'qos_table', dict(
                creation_time=1, deleted=0, id=number, name=self.qos_names.get(number, f'q{number}'),
                usage_factor=factor))
        for number, name in self.tres.items():
            kind, _, name = name.partition('/')
            insert(db, 'tres_table', dict(creation_time=1, deleted=0, id=number, type=kind, name=name))
        for c in self.clusters:
            place(c.associations)
            for row in order(list(c.associations)):
                insert(db, c.name + '_assoc_table', dict(creation_time=1, mod_time=1, **row))
            numbers = {}
            for number, row in enumerate(order(list(c.jobs)), 1):
                numbers[id(row)] = number
                insert(db, c.name + '_job_table', dict(
                    dict(job_db_inx=number, mod_time=1, deleted=0, id_job=number,
                         job_name='j', partition='p', tres_req=''), **row))
            for job, start, end in order(list(c.suspends)):
                insert(db, c.name + '_suspend_table', dict(
                    job_db_inx=numbers[id(job)], id_assoc=job['id_assoc'], time_start=start,
                    time_end=end))
            if c.registered:
                insert(db, c.name + '_event_table', dict(
                    time_start=1, time_end=0, node_name='', cluster_nodes='n[1-2]',
                    reason='registered', state=0, tres=c.registered))
        db.commit()
        db.close()


def make_tables(db, clusters):
    common, each = [], []
    for statement in _statements(slurmdbd_tables('sqlite')):
        (each if '@CLUSTER@' in statement else common).append(statement)
    for statement in common:
        db.execute(statement)
    for name in clusters:
        for statement in each:
            db.execute(statement.replace('@CLUSTER@', name))


def _statements(text):
    held = ''
    for line in text.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            yield held
            held = ''


NEEDED = {'id_assoc', 'time_start', 'time_end', 'tres_alloc', 'shares', 'user', 'acct',
          'usage_factor', 'name'}


def insert(db, table, row):
    """Inserts a row without columns that the table lacks, and with defaults for required
    columns."""
    names, values = [], []
    for name, kind, not_null, default in db.execute(
            'SELECT name, type, "notnull", dflt_value FROM pragma_table_info(?)', (table,)):
        if name in row:
            names.append(name)
            values.append(row[name])
        elif not_null and default is None:
            names.append(name)
            values.append('' if 'TEXT' in kind.upper() or 'BLOB' in kind.upper() else 0)
    missing = (set(row) & NEEDED) - set(names)
    if missing:
        raise ValueError(f"'{table}' has no column {sorted(missing)}")
    db.execute('INSERT INTO "%s" (%s) VALUES (%s)' % (
        table, ', '.join(f'"{n}"' for n in names), ', '.join('?' * len(names))), values)


def place(rows):
    """Adds lft, rgt, id_parent and lineage, as slurmdbd stores them."""
    accounts = {r['acct']: r for r in rows if not r['user']}
    children = {}
    for row in rows:
        above = accounts.get(row['acct'] if row['user'] else row['parent_acct'])
        row['_above'] = above
        row.setdefault('id_parent', above['id_assoc'] if above and above is not row else 0)
        if above is not None and above is not row:
            children.setdefault(above['id_assoc'], []).append(row)
    count = 0
    for top in [r for r in rows if r['_above'] is None]:
        todo = [(top, '/', False)]
        while todo:
            row, lineage, leaving = todo.pop()
            count += 1
            if leaving:
                row['rgt'] = count
                continue
            row.setdefault('lft', count)
            row.setdefault('lineage', lineage)
            todo.append((row, lineage, True))
            for child in reversed(children.get(row['id_assoc'], [])):
                name = f"0-{child['user']}" if child['user'] else child['acct']
                below = f'{lineage}{name}/'
                if child['partition']:
                    below += child['partition'] + '/'
                todo.append((child, below, False))
    for row in rows:
        del row['_above']
        row.setdefault('lft', 0)
        row.setdefault('rgt', 0)
        row.setdefault('lineage', '')


def draw(text):
    site = Site()
    cluster = None
    stack = []
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r'\s+#.*|^#.*', '', line).rstrip()
        words = line.split()
        if not words:
            continue
        try:
            if words[0] == 'cluster':
                cluster, stack = site.cluster(words[1]), []
                cluster.deleted = int('deleted' in words[2:])
            elif words[0] == 'qos':
                factor = words[2].split('=')[1]
                site.qos[int(words[1])] = None if factor == 'null' else float(factor)
                if words[3:]:
                    site.qos_names[int(words[1])] = words[3].split('=')[1]
            elif words[0] == 'tres':
                site.tres[int(words[1])] = words[2]
            elif words[0] == 'suspended':
                cluster.suspend(cluster.jobs[-1], int(words[1]), int(words[2]))
            elif words[0] == 'registered':
                cluster.registered = words[1]
            elif words[0] == 'job':
                pairs = dict(w.split('=', 1) for w in words[2:])
                pairs = {k: int(v) if re.fullmatch(r'-?\d+', v) and k not in ('tres', 'partition')
                         else v for k, v in pairs.items()}
                start, end = pairs.pop('start', 0), pairs.pop('end', 0)
                who = words[1]
                who = int(who) if who.isdigit() else cluster.find(who)['id_assoc']
                cluster.job(who, start, end, **pairs)
            else:
                if cluster is None:
                    cluster = site.cluster('tiny')
                _draw_association(cluster, stack, len(line) - len(line.lstrip()), words)
        except (IndexError, KeyError, ValueError) as error:
            raise SystemExit(f'drawing, line {number}: {error}: {line}')
    return site


def _draw_association(cluster, stack, indent, words):
    while stack and stack[-1][0] >= indent:
        stack.pop()
    above = stack[-1][1] if stack else ''
    name, rest = words[0], words[1:]
    shares, deleted, use, id_assoc = 1, 0, None, None
    if rest and re.fullmatch(r'-?\d+|parent|null', rest[0]):
        word = rest.pop(0)
        shares = PARENT if word == 'parent' else None if word == 'null' else int(word)
    while rest:
        word = rest.pop(0)
        if word == 'use':
            use = int(rest.pop(0))
        elif word == 'deleted':
            deleted = 1
        elif word == 'id':
            id_assoc = int(rest.pop(0))
        else:
            raise ValueError(f"unknown word '{word}'")
    if name.endswith('/'):
        id_assoc = cluster.account(name[:-1], above, shares, deleted, id_assoc)
        stack.append((indent, name[:-1]))
    else:
        user, _, partition = name.partition('@')
        id_assoc = cluster.user(user, above, shares, partition, deleted, id_assoc)
    if use is not None:
        cluster.job(id_assoc, USE_AT, USE_AT + 1, billing=use)


if __name__ == '__main__':
    if os.path.exists(sys.argv[1]):
        os.unlink(sys.argv[1])
    draw(sys.stdin.read()).write(sys.argv[1])
