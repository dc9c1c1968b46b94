# SPDX-License-Identifier: MIT
"""Reads the accounting databases of t/data, which are dumps of MariaDB with one row a line."""

import lzma
import os
import re
import sqlite3

import site_drawing

DATA = os.path.join(site_drawing.TOP, 't', 'data')

ROLLUPS = [f'{what}usage_{span}' for what in ('assoc_', 'qos_', '') for span in ('hour', 'day', 'month')]

_value = re.compile(r"""\s*(?:'((?:[^'\\]|\\.|'')*)'|(NULL)|(-?[0-9][0-9.e+-]*))\s*([,)])""",
                    re.DOTALL)
_escapes = {'n': '\n', 'r': '\r', 't': '\t', '0': '\0', 'Z': '\x1a'}


def text_of(release):
    return read('layouts', f'slurmdbd-{release}.sql.xz')


def read(*path):
    """Returns the text of a compressed dump in t/data."""
    with lzma.open(os.path.join(DATA, *path), 'rt', encoding='utf-8') as file:
        return file.read()


def releases():
    return sorted(name[len('slurmdbd-'):-len('.sql.xz')]
                  for name in os.listdir(os.path.join(DATA, 'layouts'))
                  if name.startswith('slurmdbd-'))


def tables(dump):
    """Returns {table: (CREATE TABLE statement, [column])}."""
    found = {}
    for match in re.finditer(r'^CREATE TABLE `([^`]+)` \(\n(.*?)^\).*?;$', dump,
                             re.DOTALL | re.MULTILINE):
        found[match[1]] = match[0], re.findall(r'^  `([^`]+)`', match[2], re.MULTILINE)
    return found


def rows(dump, table):
    start = dump.find(f'INSERT INTO `{table}` VALUES\n')
    if start < 0:
        return
    at = dump.index('\n', start) + 1
    while True:
        if dump[at] != '(':
            raise ValueError(f"'{table}': no row at {dump[at:at + 40]!r}")
        row, end = [], ','
        at += 1
        while end == ',':
            match = _value.match(dump, at)
            if not match:
                raise ValueError(f"'{table}': no value at {dump[at:at + 40]!r}")
            quoted, null, number, end = match.groups()
            if quoted is not None:
                row.append(re.sub(r"\\(.)|''", lambda m: _escapes.get(m[1], m[1]) if m[1] else "'",
                                  quoted))
            else:
                row.append(None if null else float(number) if re.search('[.e]', number)
                           else int(number))
            at = match.end()
        yield row
        if dump[at] == ';':
            return
        at = dump.index('\n', at) + 1


def to_sqlite(dump, path, clusters):
    """Copies the tables that fairmill reads from a dump into tables of sql/slurmdbd/tables.sql.
    Returns the number of rows."""
    wanted = ['cluster_table', 'qos_table', 'tres_table', 'txn_table']
    wanted += [f'{c}_{t}_table' for c in clusters
               for t in ('assoc', 'job', 'step', 'suspend', 'event', 'last_ran', *ROLLUPS)]
    known = tables(dump)
    db = sqlite3.connect(path)
    site_drawing.make_tables(db, clusters)
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    count = 0
    for table in wanted:
        if table not in there or table not in known:
            continue
        for row in rows(dump, table):
            # SQLite's integers have no room for the highest bit of mem_req, which means "per CPU".
            # Keys lose their highest bit.
            values = {name: value % 2 ** 63 if name == 'job_db_inx' else value for name, value in zip(known[table][1], row)}
            site_drawing.insert(db, table, {name: value for name, value in values.items()
                                            if not isinstance(value, int) or value < 2 ** 63})
            count += 1
    db.commit()
    db.close()
    return count
