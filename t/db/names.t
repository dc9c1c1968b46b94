#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests names, which are bytes that users typed.  In every database they must link, sort and be
published alike.  No name may affect a terminal, a monitor or a parser."""

import ctypes
import functools
import itertools
import json
import locale
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from compare import exact
from mariadb import Server
from postgres import Postgres
from program import FAIRMILL, write_settings

NOW = 1750500000

# Characters that quote, end, comment, escape, format or substitute in some language.
TYPED = (
    "o'neill", '"quoted"', 'back\\slash', 'ends in \\', '`tick`', 'new\nline', 'return\rhere',
    'tab\there', "x'; DROP TABLE fairmill_run; --", 'x"; DROP TABLE "fairmill_run"; --',
    '/* comment', '-- comment', '# hash', '100%', '%s%n%d', '_', 'what?', '?', '$1', ':name', '@x',
    'a|b', "perf'=1;2;3", '<script>alert(1)</script>', '&amp;', '-v', '--user', '.', '..',
    '../../etc/passwd', 'NULL', 'root ', '0', '1e5', ' ', '  two', 'trail', 'trail ', '\\x1B', '\\g')
# Characters that terminals interpret, and invisible characters.
OBEYED = (
    '\x1b]0;title\x07', '\x1b[31mred', 'del\x7f', 'csi \x9b31m', 'next\x85line', '\u202eesrever',
    'iso\u2067late', 'mark\u061c', 'zero\u200bwidth', 'join\u200ded', 'soft\u00adhyphen', '\ufeffbom',
    'tag\U000e0041', 'line\u2028end', 'none\ufffe')
# Names that are equal in some collation.
ALIKE = ('Case', 'case', 'CASE', 'ete', 'été', 'ÉTÉ', 'e\u0301te\u0301', 'straße', 'strasse',
         'ﬁsh', 'fish')
WIDE = ('日本語', 'ｗｉｄｅ', '😀', 'x' * 255, 'é' * 127, '語' * 85)
# Bytes that are not valid UTF-8, with their reading as Windows-1252.
BYTES = ((b'j\xf6rg', 'jörg'), (b'\x80uro', '€uro'), (b'\xff\xfe', 'ÿþ'), (b'\x81hole', '\x81hole'),
         (b'caf\xe9 \xe2\x82', 'café â‚'), (b'\xed\xa0\x80', 'í\xa0€'), (b'\xc0\xaf', 'À¯'),
         ('å'.encode(), 'å'), (b'\xe5', 'å'))
NAMES = [(name.encode(), name) for name in TYPED + OBEYED + ALIKE + WIDE] + list(BYTES)

# The longest cluster name whose table names fit in every database, and a name that is one character
# too long for each.
LONGEST = 'x' * 39
TOO_LONG = {'mysql': ('y' * 53, '64 characters'), 'pgsql': ('y' * 52, '63 bytes'), 'sqlite': None}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Mysql(Server):
    TEXT = 'TEXT CHARACTER SET latin1 COLLATE latin1_swedish_ci'
    driver = 'mysql'

    def script(self, text, database):
        """Adapts the SQL to the client, which recognizes backslashes in double quotes, but not in
        backticks."""
        text = re.sub('"((?:[^"]|"")*)"', lambda m: '`%s`' % m[1].replace('""', '"').replace('`', '``'),
                      text)
        self.sql(text, database)

    def source(self, name):
        return self.database(name)

    def literal(self, value):
        return f"X'{value.hex()}'"

    def hexadecimal(self, column):
        return f'hex({column})'


class Pgsql(Postgres):
    TEXT = 'TEXT'
    driver = 'pgsql'

    def script(self, text, database):
        self.sql(text, database)

    def source(self, name):
        """Creates a database that accepts any bytes."""
        self.sql(f'DROP DATABASE IF EXISTS "{name}"')
        self.sql(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'SQL_ASCII' "
                 "LC_COLLATE 'C' LC_CTYPE 'C'")
        return name

    def literal(self, value):
        return f"convert_from('\\x{value.hex()}'::bytea, 'SQL_ASCII')"

    def hexadecimal(self, column):
        return f"upper(encode(convert_to({column}, 'UTF8'), 'hex'))"


class Sqlite:
    TEXT = 'TEXT'
    driver = 'sqlite'

    def __init__(self, folder):
        self.folder = folder

    def connection(self, database):
        return dict(driver='sqlite', database=f'{self.folder}/{database}.db')

    def database(self, name):
        if os.path.exists(f'{self.folder}/{name}.db'):
            os.unlink(f'{self.folder}/{name}.db')
        return name

    source = database

    def _open(self, database):
        return sqlite3.connect(f'{self.folder}/{database}.db')

    def script(self, text, database):
        db = self._open(database)
        db.executescript('PRAGMA synchronous = OFF;\n' + text)
        db.close()

    def sql(self, text, database):
        db = self._open(database)
        rows = db.execute(text).fetchall()
        db.close()
        return [[None if cell is None else str(cell) for cell in row] for row in rows]

    def columns(self, table, database):
        return [name for name, in self.sql(f"SELECT name FROM pragma_table_info('{table}')", database)]

    def literal(self, value):
        return f"CAST(X'{value.hex()}' AS TEXT)"

    def hexadecimal(self, column):
        return f'hex({column})'


class Association:
    def __init__(self, number, account, user=b'', partition=b'', parent=b'', parent_id=0):
        self.number, self.account, self.user, self.partition = number, account, user, partition
        self.parent, self.parent_id = parent, parent_id


def tree(names):
    """Returns a tree with an account of each name below the root, and in it a user, a user with a
    partition, and an account."""
    found = [Association(1, b'root')]
    for i, name in enumerate(names):
        number = 10 * i + 10
        found += [Association(number, name, parent=b'root', parent_id=1),
                  Association(number + 1, name, name, parent_id=number),
                  Association(number + 2, name, name, name, parent_id=number),
                  Association(number + 3, b'sub %d' % number, parent=name, parent_id=number),
                  Association(number + 4, b'sub %d' % number, b'below', parent_id=number + 3)]
    return found


SPANS = ('hour', 'day', 'month')


def slurmdbd(place, clusters, qos=()):
    """Returns SQL for the tables of slurmdbd that fairmill reads: {cluster: (prefix of tables,
    associations)}, without tables if the prefix is None.  There is no id_parent, so that names
    link.  QOS are numbered from 1.  Jobs have the QOS with their user's name, in such a
    partition."""
    text = [f'CREATE TABLE cluster_table (name {place.TEXT}, deleted INTEGER)',
            f'CREATE TABLE qos_table (id INTEGER, name {place.TEXT}, usage_factor REAL, priority INTEGER, '
            'deleted INTEGER)',
            f'CREATE TABLE txn_table (id INTEGER, "timestamp" INTEGER, action INTEGER, name {place.TEXT}, '
            f'cluster {place.TEXT}, info {place.TEXT})',
            f'CREATE TABLE tres_table (id INTEGER, type {place.TEXT}, name {place.TEXT}, deleted INTEGER)']
    text += [f'INSERT INTO qos_table VALUES ({number}, {place.literal(name)}, 1, 0, 0)'
             for number, name in enumerate(qos, 1)]
    for cluster, (prefix, rows) in clusters.items():
        text.append(f'INSERT INTO cluster_table VALUES ({place.literal(cluster)}, 0)')
        if prefix is None:
            continue
        event, assoc, job, ran = (quoted(f'{prefix}_{table}_table')
                                  for table in ('event', 'assoc', 'job', 'last_ran'))
        text += [f'CREATE TABLE {ran} (hourly_rollup INTEGER, daily_rollup INTEGER, monthly_rollup INTEGER)']
        text += ['CREATE TABLE %s (id INTEGER, id_tres INTEGER, time_start INTEGER, alloc_secs INTEGER)'
                 % quoted(f'{prefix}_assoc_usage_{span}_table') for span in SPANS]
        text += ['CREATE TABLE %s (id_tres INTEGER, time_start INTEGER)' % quoted(f'{prefix}_usage_{span}_table')
                 for span in SPANS[1:]]
        text += [f'CREATE TABLE {event} (node_name {place.TEXT}, time_start INTEGER, time_end INTEGER, '
                 f'tres {place.TEXT}, cluster_nodes {place.TEXT})',
                 f'CREATE TABLE {assoc} (id_assoc INTEGER, acct {place.TEXT}, "user" {place.TEXT}, '
                 f'"partition" {place.TEXT}, parent_acct {place.TEXT}, shares INTEGER, deleted INTEGER, '
                 'priority INTEGER)',
                 f'CREATE TABLE {job} (job_db_inx INTEGER PRIMARY KEY, id_job INTEGER, id_assoc INTEGER, '
                 f'id_qos INTEGER, "partition" {place.TEXT}, time_submit INTEGER, time_eligible INTEGER, '
                 f'time_start INTEGER, time_end INTEGER, timelimit INTEGER, tres_alloc {place.TEXT}, '
                 f'account {place.TEXT}, cpus_req INTEGER, priority INTEGER, tres_req {place.TEXT}, '
                 'id_array_job INTEGER NOT NULL DEFAULT 0, array_max_tasks INTEGER NOT NULL DEFAULT 0, '
                 'array_task_pending INTEGER NOT NULL DEFAULT 0, id_array_task INTEGER, '
                 f'array_task_str {place.TEXT}, het_job_id INTEGER NOT NULL DEFAULT 0, het_job_offset INTEGER)']
        values = ', '.join('(%d, %s, 1, 0, NULL)' % (row.number, ', '.join(
            place.literal(name) for name in (row.account, row.user, row.partition, row.parent)))
            for row in rows)
        text.append(f'INSERT INTO {assoc} VALUES {values}')
        jobs = ', '.join("({0}, {0}, {0}, {1}, {2}, 1, 1, {3}, {4}, 0, '5={0}', {5}, 1, 1, '', 0, 0, 0, NULL, NULL, 0, NULL)".format(
            row.number, qos.index(row.user) + 1 if row.user in qos else 0, place.literal(row.user),
            NOW - 1, NOW, place.literal(row.account)) for row in rows if row.user)
        # A comma in the partition of a pending job separates two partitions.
        jobs += ''.join(", ({0} + 100000, {0}, {0}, 0, {1}, {3}, {3}, 0, 0, 0, '', {2}, 1, 1, '1=1', 0, 0, 0, NULL, NULL, 0, NULL)".format(
            row.number, place.literal(row.user.replace(b',', b';')), place.literal(row.account), NOW - 1)
            for row in rows if row.user)
        if jobs:
            text.append(f'INSERT INTO {job} VALUES {jobs}')
    return ';\n'.join(text) + ';\n'


def plain(place, clusters):
    """Returns SQL for the same in two relations."""
    text = [f'CREATE TABLE associations (cluster {place.TEXT}, id INTEGER, parent_id INTEGER, '
            f'account {place.TEXT}, user_name {place.TEXT}, partition_name {place.TEXT}, '
            'shares INTEGER, deleted INTEGER)',
            f'CREATE TABLE "usage" (cluster {place.TEXT}, id INTEGER, time_start INTEGER, '
            'time_end INTEGER, charge REAL)']
    for cluster, (_, rows) in clusters.items():
        name = place.literal(cluster)
        text.append('INSERT INTO associations VALUES ' + ', '.join(
            '(%s, %d, %d, %s, 1, 0)' % (name, row.number, row.parent_id, ', '.join(
                place.literal(name) for name in (row.account, row.user, row.partition)))
            for row in rows))
        text += [f'INSERT INTO "usage" VALUES ({name}, {row.number}, {NOW - 1}, {NOW}, {row.number})'
                 for row in rows if row.user]
    return ';\n'.join(text) + ';\n'


def shown_of(stored, known=dict(NAMES)):
    return known[stored] if stored in known else stored.decode()


def expected(clusters):
    """Returns {(cluster, id): (account, user, partition, usage)}."""
    found = {}
    for cluster, (_, rows) in clusters.items():
        used = dict.fromkeys((row.number for row in rows), 0)
        above = {row.number: row.parent_id for row in rows}
        for row in rows:
            number = row.number if row.user else 0
            while number:
                used[number] += row.number
                number = above[number]
        for row in rows:
            found[shown_of(cluster), row.number] = (
                shown_of(row.account), shown_of(row.user), shown_of(row.partition), used[row.number])
    return found


NAME_COLUMNS = ('cluster', 'account', 'user_name', 'partition_name')


def published(place, results):
    """Returns {(cluster, id): {column: value}} with names as bytes."""
    columns = [c for c in place.columns('fairmill_fairshare', results) if c != 'run_id']
    chosen = ', '.join(place.hexadecimal(c) if c in NAME_COLUMNS else c for c in columns)
    found = {}
    for line in place.sql(f'SELECT {chosen} FROM fairmill_fairshare', results):
        row = {c: bytes.fromhex(value or '').decode() if c in NAME_COLUMNS else exact(value)
               for c, value in zip(columns, line)}
        found[row['cluster'], int(float.fromhex(row['id_assoc']))] = row
    return found


def settings(folder, source, results, usage=None, **more):
    path = f'{folder}/f.conf'
    sections = dict(source=dict(source, **more), results=results, usage=dict(half_life=0, **(usage or {})),
                    fairshare=dict(algorithm='classic', capacity=1))
    write_settings(path, sections)
    return path


def fairmill(conf, *arguments):
    """Runs fairmill; returns (status, standard output, standard error) as bytes."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in arguments]
    done = subprocess.run([FAIRMILL.encode(), b'-c', conf.encode(), *words],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=tap.HANG, check=False)
    said = re.sub(rb"(?m)^fairmill: the results of cluster '.*' are stale: .* old\n", b'', done.stderr)
    return done.returncode, done.stdout, said


def unfit(text):
    """Returns the characters that a terminal would not display in their width."""
    return sorted({c for c in set(text) if c != '\n' and (
        unicodedata.category(c) in ('Cc', 'Cf', 'Cs', 'Cn', 'Zl', 'Zp') or wcwidth(c) < 0)})


_libc = ctypes.CDLL(None)


@functools.cache
def wcwidth(character):
    return _libc.wcwidth(ctypes.c_wchar(character))


def width(text):
    return sum(map(wcwidth, text))


def place_of(column, line):
    """Returns the index of the character that begins in this column."""
    ends = itertools.accumulate(map(wcwidth, line), initial=0)
    return next((i for i, end in enumerate(ends) if end >= column), len(line))


def unescaped(text):
    """Returns a name without the escapes for output."""
    return re.sub(rb'\\x([0-9A-F]{2})', lambda m: bytes.fromhex(m[1].decode()), text.encode()).decode()


def fit(out, statement):
    try:
        text = out.decode()
    except UnicodeDecodeError as problem:
        tap.ok(False, statement, problem)
        return ''
    tap.ok(text and not unfit(text), statement, repr(unfit(text)), repr(text[:500]))
    return text


# Clusters whose tables are possible in every database.
CLUSTERS = [(stored, shown) for stored, shown in NAMES
            if len(shown.encode()) <= 39 and max(shown) < '\U00010000' and shown not in ('CASE', 'Case')]
CLUSTERS = [pair for pair in CLUSTERS if pair[0] != b'\xe5'] + [(LONGEST.encode(), LONGEST)]
LONG = os.environ.get('FAIRMILL_LONG') == '1'
# Names that databases treat differently.
DIFFER = {shown for _, shown in BYTES}.union(ALIKE)
# Each cluster takes time, and characters of names are also tested in users and accounts.
CLUSTERS = [pair for i, pair in enumerate(CLUSTERS) if LONG or i % 2 == 0 or pair[1] in DIFFER or pair[1] == LONGEST]


def sites():
    """Returns {cluster: (prefix, rows)}: one cluster with every name, and one cluster for each
    short name."""
    small = tree([b'only'])
    return {b'main': ('main', tree([stored for stored, _ in NAMES])),
            **{stored: (shown, small) for stored, shown in CLUSTERS}}


def body_of_pair(places, folder, pair, clusters, first):
    """Publishes every cluster in the database of its source, and the cluster with every name in the
    other databases."""
    source, results = pair
    name = f'from {source} to {results}'
    chosen = []
    if source != results:
        chosen = ['--cluster=main']
        clusters = {b'main': clusters[b'main']}
        first = {key: row for key, row in first.items() if key[0] == 'main'}
    database = places[results].database(f'names_{source}')
    conf = settings(folder, places[source].connection('names'), places[results].connection(database))
    for command in (('init',), ('run', '--now', NOW, *chosen)):
        status, out, err = fairmill(conf, *command)
        tap.ok((status, out, err) == (0, b'', b''), f'{command[0]} succeeds {name}', status, out, err)
    got = published(places[results], database)
    if results == 'mysql':
        tap.same(places[results].sql(
            "SELECT c.table_name, c.column_name FROM information_schema.columns c "
            "JOIN information_schema.tables t USING (table_schema, table_name) "
            f"WHERE t.table_type = 'BASE TABLE' AND c.table_schema = '{database}' "
            "AND c.column_name IN ('cluster', 'account', 'user_name', 'partition_name') "
            "AND c.collation_name NOT LIKE '%nopad%' AND c.collation_name <> 'utf8mb4_0900_bin'"), [],
            f'every column of names distinguishes trailing blanks {name}')
    wanted = expected(clusters)
    wrong = [(key, got.get(key, {}).get('account'), wanted.get(key)) for key in set(got) | set(wanted)
             if key not in got or key not in wanted or wanted[key] != (
                 got[key]['account'], got[key]['user_name'], got[key]['partition_name'],
                 float.fromhex(got[key]['usage_raw']))]
    tap.ok(len(got) > 300 and not wrong, f'every name and its usage are correct {name}',
           f'{len(wrong)} of {len(got)}', *wrong[:5])
    tap.ok(first is None or got == first, f'every value is the same {name}')
    if source != results:
        return conf, got
    # The second run replaces rows, and must not confuse clusters.
    status, out, err = fairmill(conf, 'run', '--now', NOW, '--replace')
    tap.ok((status, out, err) == (0, b'', b'') and published(places[results], database) == got,
           f'a second run replaces each cluster separately {name}', status, out, err)
    return conf, got


def table(conf, name, *command):
    _, out, err = fairmill(conf, *command)
    text = fit(out, f"'{command[0]}' prints no control characters {name}")
    tap.same(err, b'', f"'{command[0]}' prints no messages {name}")
    wrong = []
    for block in text.split('\n\n'):
        _, header, root, *lines = block.rstrip('\n').split('\n')
        wrong += [line for line in lines if width(line) != width(header)]
        wrong += [root] if width(root) > width(header) else []
    tap.ok(len(text) > 5000 and not wrong, f"columns of '{command[0]}' are aligned {name}", len(wrong),
           *map(repr, wrong[:3]))


def parsable(conf, name, got):
    _, out, _ = fairmill(conf, 'show', '--parsable')
    text = fit(out, f"'show --parsable' prints no control characters {name}")
    lines = [line.split('|') for line in text.rstrip('\n').split('\n')[1:]]
    tap.ok({len(line) for line in lines} == {11}, f'each line has eleven fields {name}')
    names = sorted(tuple(unescaped(field) for field in line[:4]) for line in lines)
    tap.ok(names == sorted((row['cluster'], row['account'], row['user_name'], row['partition_name'])
                           for row in got.values()), f'each name can be restored from the fields {name}')
    tap.ok(len({tuple(line[:4]) for line in lines}) == len(set(names)),
           f'no two names are printed alike {name}')
    # The rows of an account's children are in byte order.
    accounts = [unescaped(line[1]) for line in lines
                if line[0] == 'main' and line[2] == '' and not line[1].startswith('sub ')][1:]
    tap.ok(accounts == sorted(accounts, key=str.encode), f'names are sorted bytewise {name}')


def as_json(conf, name, got):
    _, out, _ = fairmill(conf, 'show', '--json')
    fit(out, f"'show --json' prints no control characters {name}")
    clusters = json.loads(out)['clusters']
    rows = [(row['cluster'], row['id_assoc'], row['account'], row['username'], row['partition'])
            for cluster in clusters for row in cluster['associations']]
    tap.ok(sorted(rows) == sorted((cluster, number, row['account'], row['user_name'],
                                   row['partition_name']) for (cluster, number), row in got.items()),
           f"'show --json' prints every name unchanged {name}")
    tap.ok('日本語' in out.decode() and 'été' in out.decode(), f"'show --json' prints letters unescaped {name}")


def waiting(conf, name, got):
    _, out, err = fairmill(conf, 'prio', '--long')
    text = fit(out, f'prio prints no control characters {name}')
    wrong = []
    for block in text.split('\n\n'):
        _, header, *lines = block.rstrip('\n').split('\n')
        column = header.index('PRIORITY') + len('PRIORITY')
        for line in lines:
            at = place_of(column, line)
            wrong += [] if re.search(' [0-9]+$', line[:at]) and line[at:at + 1] == ' ' else [line]
    tap.ok(len(text) > 5000 and not err and not wrong, f'columns of prio are aligned {name}', err, *wrong[:3])
    _, out, _ = fairmill(conf, 'prio', '--parsable')
    lines = [line.split('|') for line in fit(out,
                                             f"'prio --parsable' prints no control characters {name}").rstrip('\n').split('\n')]
    place = {field: i for i, field in enumerate(lines[0])}
    tap.ok({len(line) for line in lines} == {len(place)}, f'each line has all fields {name}')
    asked = sorted((row['cluster'], row['user_name'], row['account'], row['user_name'].replace(',', ';'))
                   for row in got.values() if row['user_name'])
    tap.same(sorted(tuple(unescaped(line[place[field]]) for field in ('Cluster', 'User', 'Account', 'Partition'))
                    for line in lines[1:]), asked, f'the names of each job can be restored from the fields {name}')
    _, out, _ = fairmill(conf, 'prio', '--json')
    fit(out, f"'prio --json' prints no control characters {name}")
    tap.same(sorted((cluster['cluster'], job['username'], job['account'], job['partition'])
                    for cluster in json.loads(out)['clusters'] for job in cluster['jobs']), asked,
             f"'prio --json' prints every name unchanged {name}")


def monitored_values(conf, name, got):
    _, out, err = fairmill(conf, 'metrics')
    text = fit(out, f'metrics print no control characters {name}')
    found = re.findall(r'^slurm_user_fairshare_raw_usage_cpu_seconds\{cluster="((?:[^"\\]|\\.)*)",account="((?:[^"\\]|\\.)*)",'
                       r'user="((?:[^"\\]|\\.)*)"(?:,partition="((?:[^"\\]|\\.)*)")?\} [0-9.e+]+$', text, re.M)
    tap.same(sorted(tuple(unescaped(re.sub(r'\\(.)', r'\1', word)) for word in words) for words in found),
             sorted((row['cluster'], row['account'], row['user_name'], row['partition_name'])
                    for row in got.values() if row['user_name']), f'each name can be restored from its labels {name}')
    tap.same(err, b'', f'metrics print no messages {name}')


def as_slurm_json(conf, name, got):
    _, out, _ = fairmill(conf, 'show', '--json=slurm', '--cluster=main')
    fit(out, f"'show --json=slurm' prints no control characters {name}")
    rows = {row['id']: (row['name'], row['partition']) for row in json.loads(out)['shares']['shares']}
    tap.ok(rows == {number: (row['user_name'] or row['account'], row['partition_name'])
                    for (cluster, number), row in got.items() if cluster == 'main'},
           f"'show --json=slurm' prints every name unchanged {name}", rows)


def other_forms(conf, name):
    _, told, _ = fairmill(conf, 'show', '--help')
    for form in (form for form in ('csv',) if f'--{form}'.encode() in told):
        _, out, _ = fairmill(conf, 'show', f'--{form}')
        # RFC 4180 ends a line with CR and LF.
        fit(out.replace(b'\r\n', b'\n'), f"'show --{form}' prints no control characters {name}")


def some(pairs, driver):
    """Returns the names to test separately.  For servers, these are the names that databases treat
    differently and a fifth of the others; for SQLite and with FAIRMILL_LONG=1, all names."""
    if driver == 'sqlite' or LONG:
        return pairs
    return [pair for i, pair in enumerate(pairs) if pair[1] in DIFFER or i % 5 == 0]


def filters(conf, name, driver):
    wrong = []
    for stored, shown in some(NAMES, driver):
        # The name as the database stores it, and as readers see it.
        for word in {stored, shown.encode()}:
            status, out, err = fairmill(conf, 'show', '--parsable', '--cluster=main',
                                        b'--account=' + word, b'--user=' + word)
            rows = [line.split('|') for line in out.decode().splitlines()[2:]]  # after the root
            if status or not rows or len(rows) % 3 or any(
                    unescaped(row[1]) != shown or unescaped(row[2]) not in ('', shown) for row in rows):
                wrong.append((word, status, err, rows[:3]))
    tap.ok(not wrong, f'--user and --account find each name and no other {name}', len(wrong), *wrong[:5])
    chosen = [b'--cluster=' + stored for stored, _ in CLUSTERS]
    status, out, err = fairmill(conf, 'run', '--now', NOW, '--replace', *chosen)
    tap.ok((status, out, err) == (0, b'', b''), f'--cluster accepts each name as stored {name}', err)
    wrong = []
    for _, shown in some(CLUSTERS, driver):
        status, out, err = fairmill(conf, 'show', '--parsable', b'--cluster=' + shown.encode())
        if status or {unescaped(line.split('|')[0]) for line in out.decode().splitlines()[1:]} != {shown}:
            wrong.append((shown, status, err))
    tap.ok(not wrong, f'--cluster accepts each name as shown {name}', *wrong[:5])
    for option in ('--user', '--account', '--cluster'):
        status, out, err = fairmill(conf, 'show', f'{option}=\x1b[31m\nno|body\u202e')
        tap.ok(status == 64 and not out and err.count(b'\n') == 1,
               f'a name that {option} does not find is a usage error {name}', status, out, err)
        fit(err, f'the message about {option} has no control characters ({name})')


def checked(conf, name):
    status, out, err = fairmill(conf, 'check')
    tap.ok(status == 0, f'check succeeds {name}', err)
    text = fit(out, f'check prints no control characters {name}')
    found = [unescaped(match) for match in re.findall('^cluster (.*): [0-9]+ associations', text, re.M)]
    tap.ok(sorted(found) == sorted(['main'] + [shown for _, shown in CLUSTERS]),
           f'check prints each cluster in its own line {name}')
    status, out, err = fairmill(conf, 'run', '--now', NOW, '--replace', '-v')
    fit(err, f'run -v prints no control characters {name}')
    tap.ok(status == 0 and err.count(b'\n') >= len(CLUSTERS) and
           all(line.startswith(b'fairmill: ') for line in err.splitlines()),
           f'run -v prints only its own lines {name}')


PERFORMANCE = re.compile(r"'([^'=|]*) (age|findings|lag)'=(U|[0-9.]+s?);[0-9]*;[0-9]*(?: |$)")


def monitored(conf, name, clusters, verdict):
    status, out, _ = fairmill(conf, 'status', '--max-age', '36500d')
    text = fit(out, f'status prints no control characters {name}')
    header, *lines = text.rstrip('\n').split('\n')
    column = header.index('Age')

    def cut(line):
        """Returns the text left and right of that column."""
        at = place_of(column, line)
        return line[:at], line[at:]
    tap.ok(status == (1 if verdict else 0) and len(lines) == len(clusters) and all(
        width(left) == column and left.endswith(' ') and re.match('[0-9]+ (s|min|h|d) |never ', right)
        for left, right in map(cut, lines)), f'columns of status are aligned {name}', *map(repr, lines[:4]))
    tap.same(sorted(unescaped(cut(line)[0][:-1]).rstrip() for line in lines),
             sorted(cluster.rstrip() for cluster in clusters), f'status lists each cluster {name}')
    status, out, _ = fairmill(conf, 'status', '--nagios', '--max-age', '36500d')
    text = fit(out, f'status --nagios prints no control characters {name}')
    tap.ok(status == verdict and text.count('\n') == 1 and text.count('|') == 1,
           f'status --nagios prints one line with one bar {name}', status, repr(text))
    figures = text.rstrip('\n').partition('|')[2].lstrip(' ')
    tap.ok(not PERFORMANCE.sub('', figures), f'performance data has only figures {name}',
           repr(PERFORMANCE.sub('', figures)))
    tap.same(sorted({unescaped(match[0]) for match in PERFORMANCE.findall(figures)}), sorted(clusters),
             f'performance data has every cluster {name}')


def forms(conf, pair, got):
    name = f'from {pair[0]} to {pair[1]}'
    table(conf, name, 'show')
    table(conf, name, 'run', '--dry-run', '--now', NOW)
    parsable(conf, name, got)
    as_json(conf, name, got)
    as_slurm_json(conf, name, got)
    waiting(conf, name, got)
    monitored_values(conf, name, got)
    other_forms(conf, name)
    filters(conf, name, pair[0])
    checked(conf, name)
    monitored(conf, name, ['main'] + [shown for _, shown in CLUSTERS], 0)


def granted(place, folder):
    """An administrator runs the output of init --print."""
    name = f'with {place.driver}'
    conf = settings(folder, dict(place.connection('names'), user='names_reader'),
                    place.connection('names_granted'))
    chosen = [b'--cluster=' + shown.encode() for _, shown in CLUSTERS]
    _, out, _ = fairmill(conf, 'init', '--print', *chosen)
    done = subprocess.run(place.client('names'), input=out[out.index(b'-- Privileges to read'):],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    tap.ok((done.returncode, done.stdout) == (0, b''), f'the GRANTs that init prints are valid SQL {name}',
           done.stdout)
    whole = ['assoc', 'event', 'last_ran'] + [f'assoc_usage_{span}' for span in SPANS] + [f'usage_{span}' for span in SPANS[1:]]
    for kind, tables in (('table', whole), ('column', ['job'])):
        may_read = {row[0] for row in place.sql(
            f"SELECT DISTINCT {place.hexadecimal('table_name')} FROM information_schema.{kind}_privileges "
            f"WHERE grantee LIKE '%names_reader%'", 'names')}
        wanted = {f'{shown}_{table}_table' for _, shown in CLUSTERS for table in tables}
        found = {bytes.fromhex(each).decode() for each in may_read}
        tap.ok(wanted <= found and found - wanted <= {'cluster_table', 'qos_table', 'tres_table', 'txn_table'} | {
            f'{shown}_{table}_table' for _, shown in CLUSTERS for table in whole},
            f'the GRANTs allow reading each intended {kind} and no other {name}', found ^ wanted)


def failing(place, folder, first):
    """Tests clusters that fail, with every name in the message."""
    name = f'with {place.driver}'
    clusters = {}
    # The output does not depend on the database, and each cluster takes time.
    chosen = CLUSTERS if place.driver == 'sqlite' else CLUSTERS[::5]
    for stored, shown in chosen:
        rows = [Association(1, b'root'), Association(2, b'lost', stored), Association(3, b'lost', parent=stored)]
        clusters[stored] = shown, rows
    place.script(slurmdbd(place, clusters), place.source('names_bad'))
    conf = settings(folder, place.connection('names_bad'), place.connection(place.database('names_worse')))
    status, out, err = fairmill(conf, 'init')
    status, out, err = fairmill(conf, 'run', '--now', NOW)
    tap.ok(status == 65 and not out and err.count(b'\n') == len(clusters) and
           all(line.startswith(b'fairmill: cluster ') for line in err.splitlines()),
           f'each cluster with bad rows has one line {name}', status, err[:1000])
    fit(err, f'the messages have no control characters {name}')
    fit(fairmill(conf, 'check')[2], f'the messages of check have no control characters {name}')
    monitored(conf, name, [shown for _, shown in chosen], 2)
    told = sorted(place.sql(f"SELECT {place.hexadecimal('cluster')}, {place.hexadecimal('message')} "
                            "FROM fairmill_run WHERE status = 'failed'", 'names_worse'))
    tap.ok(len(told) == len(clusters) and (first is None or all(row in told for row in first)),
           f'the recorded messages of failed clusters are the same {name}', *told[:3])
    conf = settings(folder, place.connection('names_bad'), place.connection('names_worse'),
                    on_bad_rows='skip')
    status, out, err = fairmill(conf, 'run', '--now', NOW)
    tap.ok(status == 0, f'with on_bad_rows = skip all clusters succeed {name}', err)
    fit(fairmill(conf, 'check')[1], f'check prints skipped rows without control characters {name}')
    return told


def impossible(place, folder):
    """Tests clusters whose tables cannot exist."""
    small = tree([b'only'])
    clusters = {b'good': ('good', small)}
    reasons = {}
    if TOO_LONG[place.driver]:
        name, reasons[name] = TOO_LONG[place.driver]
    if place.driver == 'mysql':
        reasons['face 😀'] = 'U+FFFF'
    if place.driver == 'sqlite':
        # Names of the same table in SQLite.
        clusters[b'Good'] = None, []
        reasons['Good'] = 'missing'
    for name in reasons:
        clusters[name.encode()] = None, []
    clusters[b'zoo'] = 'zoo', small
    place.script(slurmdbd(place, clusters), place.source('names_impossible'))
    conf = settings(folder, place.connection('names_impossible'),
                    place.connection(place.database('names_possible')))
    status, _, err = fairmill(conf, 'init')
    status, _, err = fairmill(conf, 'run', '--now', NOW)
    lines = err.decode().splitlines()
    tap.ok(status in (65, 78) and len(lines) == len(reasons) and all(
        any(f"cluster '{name}'" in line and reason in line for line in lines)
        for name, reason in reasons.items()),
        f'a cluster without possible tables in {place.driver} fails with the reason', status, err)
    tap.same(sorted({cluster for cluster, _ in published(place, 'names_possible')}), ['good', 'zoo'],
             f'the other clusters are published ({place.driver})')


def unpublishable(place, folder, results):
    """Tests names that some databases cannot store."""
    name = f'with {place.driver}'
    rows = tree([b'fine'])
    bad = rows + [Association(7, b'nul\0l', parent=b'root', parent_id=1),
                  Association(8, b'nul\0l', b'user', parent_id=7)]
    long = rows + [Association(7, b'fine', b'u' * 256, parent_id=10)]
    wide = rows + [Association(7, b'fine', 'é'.encode() * 255, parent_id=10)]
    root = [Association(1, b'root\0')]
    clusters = {b'good': ('good', rows), b'bad': ('bad', bad), b'long': ('long', long),
                b'wide': ('wide', wide), b'root': ('root', root), b'nul\0': ('nul', rows)}
    if place.driver == 'pgsql':
        # PostgreSQL cannot store NUL bytes.
        for cluster in (b'bad', b'root', b'nul\0'):
            del clusters[cluster]
    for layout, make in (('slurmdbd', slurmdbd), ('plain', plain)):
        database = results.database('names_published')
        place.script(make(place, clusters), place.source('names_unpublishable'))
        conf = settings(folder, place.connection('names_unpublishable'), results.connection(database),
                        layout=layout)
        fairmill(conf, 'init')
        status, _, err = fairmill(conf, 'run', '--now', NOW)
        lines = err.decode().splitlines()
        said = {'long': 'association 7 (user', 'bad': 'association 7 (account', 'root': 'the root, association 1',
                'nul': 'contains a NUL byte'}
        said = {cluster: text for cluster, text in said.items()
                if any(stored.rstrip(b'\0') == cluster.encode() for stored in clusters)}
        tap.ok(status == 65 and len(lines) == len(said) and all(
            any(f"cluster '{cluster}'" in line and text in line for line in lines)
            for cluster, text in said.items()),
            f'a name that cannot be published fails its cluster with the reason ({layout}, {name})', status, *lines)
        tap.same(sorted({cluster for cluster, _ in published(results, database)}), ['good', 'wide'],
                 f'the other clusters are published ({layout}, {name})')
        conf = settings(folder, place.connection('names_unpublishable'), results.connection(database),
                        layout=layout, on_bad_rows='skip')
        status, _, err = fairmill(conf, 'run', '--now', NOW, '--replace')
        left = {cluster: sorted(number for c, number in published(results, database) if c == cluster)
                for cluster in ('bad', 'long') if cluster.encode() in clusters}
        tap.ok(all(numbers == sorted(row.number for row in rows) for numbers in left.values()),
               f'with on_bad_rows = skip the name is omitted ({layout}, {name})', left, err)


# Names that a list in the settings can contain; a backslash in quotes is rejected.
FACTORS = [(stored, shown) for stored, shown in NAMES
           if not set(shown) & set('"\\,\n\r\x85\u2028') and shown == shown.strip() and len(stored) < 60
           and stored != b'\xe5']


def factors(places, folder, results):
    """Tests QOS and partitions with factors in the settings."""
    rows = [Association(1, b'root')] + [Association(10 + i, b'root', stored, parent_id=1)
                                        for i, (stored, _) in enumerate(FACTORS)]
    first = None
    for source in places.values():
        name = f'from {source.driver}'
        source.script(slurmdbd(source, {b'main': ('main', rows)}, [stored for stored, _ in FACTORS]),
                      source.source('names_factors'))
        for key in ('qos_factors', 'partition_usage_factors'):
            database = results.database('names_charged')
            wanted = {}
            # A line has at most a thousand bytes, so the names are split into several lists.
            for start in range(0, len(FACTORS), 12):
                some = FACTORS[start:start + 12]
                listed = ', '.join(f'{shown}:{i + 2}' for i, (_, shown) in enumerate(some))
                conf = settings(folder, source.connection('names_factors'), results.connection(database),
                                {key: f'"{listed}"'})
                fairmill(conf, 'init')
                status, out, err = fairmill(conf, 'run', '--now', NOW, '--replace')
                used = {number: float.fromhex(row['usage_raw'])
                        for (_, number), row in published(results, database).items()}
                wrong = [(FACTORS[number - 10], value) for number, value in used.items() if number > 1
                         and value != number * (number - 8 - start if start <= number - 10 < start + 12 else 1)]
                tap.ok((status, out, err) == (0, b'', b'') and not wrong and len(used) == len(rows),
                       f'{key} finds each name from {start + 1} on {name}', status, err, *wrong[:5])
                wanted.update(used)
            first = first or wanted
            tap.ok(first == wanted, f'{key} charges the same {name}')
    conf = settings(folder, places['sqlite'].connection('names_factors'), results.connection('names_charged'),
                    dict(qos_factors='"\x1b[31m:2, no\u202ebody:3"', partition_usage_factors='"\x9b31m:2"'))
    status, out, _ = fairmill(conf, 'check')
    fit(out, 'check prints unknown names without control characters')
    tap.ok(status == 0 and out.count(b'warning: qos_factors') == 2, 'check names the unknown QOS', out)


def relations(places, folder, results):
    """Tests layout plain.  The cluster is a column, in whose collation a database may find other
    clusters."""
    small = tree([b'only', 'été'.encode()])
    clusters = {stored: (None, small) for stored, _ in NAMES if stored != b'\xe5'}
    wanted = expected(clusters)
    for source in places.values():
        name = f'from {source.driver} in layout plain'
        source.script(plain(source, clusters), source.source('names_plain'))
        database = results.database('names_related')
        conf = settings(folder, source.connection('names_plain'), results.connection(database),
                        layout='plain')
        fairmill(conf, 'init')
        status, out, err = fairmill(conf, 'run', '--now', NOW)
        tap.ok((status, out, err) == (0, b'', b''), f'run succeeds {name}', status, out, err[:2000])
        got = {key: (row['account'], row['user_name'], row['partition_name'],
                     float.fromhex(row['usage_raw'])) for key, row in published(results, database).items()}
        wrong = [key for key in set(got) | set(wanted) if got.get(key) != wanted.get(key)]
        tap.ok(len(got) > 500 and not wrong, f'every cluster has its own rows {name}', len(wrong), *wrong[:5])


def body():
    locale.setlocale(locale.LC_CTYPE, 'C.UTF-8')
    clusters = sites()
    with Mysql() as mysql, Pgsql() as pgsql, tempfile.TemporaryDirectory(prefix='fm') as folder:
        places = {place.driver: place for place in (mysql, pgsql, Sqlite(folder))}
        for place in places.values():
            place.script(slurmdbd(place, clusters), place.source('names'))
        first = None
        for pair in itertools.product(places, places):
            conf, got = body_of_pair(places, folder, pair, clusters, first)
            first = first or got
            if pair[0] == pair[1]:
                forms(conf, pair, got)
        told = None
        for place in places.values():
            told = failing(place, folder, told)
            if place.driver != 'sqlite':
                granted(place, folder)
            impossible(place, folder)
            unpublishable(place, folder, pgsql)
        relations(places, folder, mysql)
        factors(places, folder, pgsql)


tap.main(body)
