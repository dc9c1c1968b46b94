#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""Tests that questions about names read only the rows that they need in every database, and that the
answers have the same rows as the output about all associations."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import program
import tap
from mariadb import IS_MYSQL, NewServer, Server
from place import NOW, Place
from postgres import Postgres

CROWD, MANY = 6000, 600  # users of one account, and accounts with one user each
DRAWING = '\n'.join(f"""
cluster {cluster}
root/
  physics/ 60
    alice      10  use 300
    dual       10
    sp'ace     5
    optics/    parent
      alice    10  use 20
      bob@gpu  3   use 7
      bob      3
      u/v      2
      café     4
  dual/        parent
    carol      1   use 5
  a/b/         7
    dave       1
    c/         1
      dave     1   use 9
  crowd/       1
    {inner.join(f'x{i} 1' for i in range(crowd))}
  many/        1
    {inner.join(f'm{i}/ 1{inner}  y{i} 1' for i in range(many))}
""" for cluster, crowd, many, inner in (('one', CROWD, MANY, '\n    '), ('two', 3, 2, '\n    ')))
CAFE = os.fsdecode('café'.encode('latin1'))  # converted to UTF-8, as names from the database
NAMES = (('alice',), ('optics/alice',), ('bob',), ('optics/bob/gpu',), ('optics/',), ('dual',), ('dual/',), ('physics/dual',),
         ("sp'ace",), ('u/v',), ('optics/u/v',), ('café',), (CAFE,), ('optics/' + CAFE,), ('a/b',), ('a/b/',), ('a/b/dave',), ('c', 'carol'),
         ('root',), ('many',), ('crowd',), ('-u', 'alice'), ('-u', 'dave,alice', '-A', 'a/b'), ('-A', 'optics,c'), ('physics', '-A', 'optics'),
         ('physics', '-u', 'bob'), ('-u', CAFE), ('-M', 'two', 'crowd'), ('x17', '-M', 'one'), ('-A', 'many', '-u', 'y3'))
UNKNOWN = ('nosuch', 'alice ', 'ALICE', 'a/b/c/dave', 'physics/carol', 'cafe', 'u', '/' * 40, '%', "' OR 1=1")


def means(name, row):
    """Returns whether a NAME means an association."""
    name = os.fsencode(name)
    try:
        name = name.decode()
    except UnicodeDecodeError:
        name = name.decode('latin1')
    pair = f"{row['account']}/{row['username']}"
    return name in (row['username'] or row['account'], pair, *([f"{pair}/{row['partition']}"] if row['partition'] else []))


def options_of(arguments):
    """Returns the values of the options -u, -A and -M, and the other arguments."""
    lists, rest = {'-u': [], '-A': [], '-M': []}, list(arguments)
    for option, values in lists.items():
        while option in rest:
            at = rest.index(option)
            values += rest[at + 1].split(',')
            del rest[at:at + 2]
    return *lists.values(), rest


def expected(everything, arguments):
    """Returns the associations of the output about all associations that `show` selects."""
    users, accounts, clusters, names = options_of(arguments)
    chosen = []
    for rows in everything:
        if clusters and rows[0]['cluster'] not in clusters:
            continue
        by_id = {row['id_assoc']: row for row in rows}

        def way(row, by_id=by_id):
            while row:
                yield row
                row = by_id.get(row['parent_id'])

        shown = [row for row in rows
                 if (not names or any(means(name, each) for name in names for each in way(row)))
                 and (not accounts or any(each['account'] in accounts and not each['username'] for each in way(row)))
                 and (not users or any(row['username'] and means(f"{row['account']}/{row['username']}", row)
                                       and means(user, {**row, 'account': '', 'partition': ''}) for user in users))]
        ids = {each['id_assoc'] for row in shown for each in (way(row) if names or users else (row,))}
        if ids:
            chosen.append([row for row in rows if row['id_assoc'] in ids])
    return chosen


def show(place, *arguments):
    place.succeed('show', '--json', *arguments)
    return [cluster['associations'] for cluster in json.loads(place.out)['clusters']]


def answers(place, driver):
    everything = show(place)
    for arguments in NAMES:
        tap.ok(show(place, *arguments) == expected(everything, arguments),
               f"{driver}: show {os.fsencode(' '.join(arguments))} shows the same rows as show")
    for name in UNKNOWN:
        place.ends(64, f'{driver}: {name} is unknown', 'show', name)
        place.says(f'{driver}: the message names {name}', f"there is no user or account '{name}'")
        place.ends(64, f'{driver}: history knows no {name}', 'history', name)
    place.ends(64, f'{driver}: an account is not a user', 'show', '-u', 'optics')
    place.ends(64, f'{driver}: a user is not an account', 'show', '-A', 'alice')


QUESTIONS = ((('show', 'x17'), ('show', '-u', 'alice'), ('show', '-l', 'optics'), ('prio', '-u', 'bob'), ('history', 'alice'),
              ('forecast', 'alice', '--now', NOW)))


def rows(place, driver, touched):
    """touched() returns a counter of what was read from the associations and their values."""
    before = touched()
    place.succeed('show')
    everything = touched() - before
    tap.ok(everything >= 2 * (CROWD + MANY), f'{driver}: show reads all rows', everything)
    for question in QUESTIONS:
        if driver == 'sqlite' and question[0] == 'forecast':
            continue  # also reads the accounting database
        before = touched()
        place.succeed(*question, '-M', 'one')
        some = touched() - before
        tap.ok(some < everything // 8, f"{driver}: {' '.join(map(str, question))} reads few rows", some, everything)


def try_driver(driver, results, touched):
    with Place() as place:
        place.site(DRAWING)
        place.settings({f'results.{key}': value for key, value in results.items()})
        place.succeed('init')
        place.succeed('run', '--now', NOW)
        answers(place, driver)
        rows(place, driver, touched)


TABLES = ('fairmill_tree', 'fairmill_value', 'fairmill_association')


def characters_read():
    """Returns the characters read by this process and the children that it waited for."""
    with open('/proc/self/io', encoding='ascii') as file:
        return int(file.readline().split()[1])


def try_mariadb():
    # MySQL counts reads of all tables together, so this test needs a server of its own.
    with NewServer() if IS_MYSQL else Server() as server:
        name = server.database('questions')
        if not IS_MYSQL:
            server.sql('SET GLOBAL userstat = 1')

        def rows_read():
            if IS_MYSQL:
                return int(server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_rows_read'")[0][1])
            return int(server.sql('SELECT COALESCE(SUM(ROWS_READ), 0) FROM information_schema.TABLE_STATISTICS WHERE'
                                  f" TABLE_SCHEMA = '{name}' AND TABLE_NAME IN {TABLES}")[0][0])

        try_driver('mysql', server.connection(name), rows_read)


def try_postgres():
    with Postgres() as server:
        name = server.database('questions')

        def rows_read():
            """Statistics are updated a moment after a session's end."""
            time.sleep(1)
            return int(server.sql('SELECT SUM(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE'
                                  f' relname IN {TABLES}', name)[0][0])

        try_driver('pgsql', server.connection(name), rows_read)


def body():
    if 'sqlite' in program.DRIVERS:
        try_driver('sqlite', {}, characters_read)
    try_mariadb()
    try_postgres()


tap.main(body)
