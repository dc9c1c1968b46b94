#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql pgsql
"""The rows of fairmill_fairshare are not all written by each run.  If another program changes them,
the next run repairs them; on a large site this takes several runs."""

import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from mariadb import Server
from place import NOW, Place
from postgres import Postgres
from sqlite import Sqlite

NAME = 'tampered'
LARGE = 'cluster tiny\nroot/\n' + '\n'.join(f'  a{i}/ {i % 7 + 1}\n' + '\n'.join(f'    u{i}x{k} {k + 1}' for k in range(40)) for i in range(60)) + (
    f'\njob a3.u3x5 start={NOW - 5000} end={NOW - 1000} billing=4\njob a9.u9x1 start={NOW - 9000} end={NOW - 100} billing=2\n')
# Both clusters count their runs together.
TWO = LARGE + 'cluster other\nroot/\n  b/ 1\n    w 1\n'
DAMAGE = (
    ('shares were changed', 'UPDATE fairmill_tree SET shares = shares + 1 WHERE id_assoc = 3'),
    ('a user was renamed', "UPDATE fairmill_tree SET user_name = 'mallory' WHERE id_assoc = 4"),
    ('an association was removed', 'DELETE FROM fairmill_tree WHERE id_assoc = 5'),
    ('all associations were removed', 'DELETE FROM fairmill_tree'),
    ('an association was added', "INSERT INTO fairmill_tree SELECT cluster, 900000, parent_id, depth, account, 'ghost', partition_name, shares, shares_norm, "
     'level_shares_norm, tie_order, grp_tres_mins, pbs_own, usage_is_set FROM fairmill_tree WHERE id_assoc = 3'),
    ('the stored hash was removed', "DELETE FROM fairmill_kept WHERE table_name = 'fairmill_tree'"),
    ('PBS values were marked as changed', 'UPDATE fairmill_tree SET pbs_own = 1 - pbs_own'),
    ('a value was changed', 'UPDATE fairmill_value SET usage_raw = usage_raw + 1 WHERE id_assoc = 3'),
    ('values of an unknown association were added', "INSERT INTO fairmill_value (cluster, id_assoc, usage_raw) VALUES ('tiny', 900001, 1)"),
    ('values were removed', 'DELETE FROM fairmill_value WHERE id_assoc > 3'),
)


class InFolder(Sqlite):
    def sql(self, text, database):
        db = sqlite3.connect(f'{self.folder}/{database}.db', isolation_level=None)
        try:
            return db.execute(text).fetchall()
        finally:
            db.close()


def published(server, database):
    rows = server.sql('SELECT id_assoc, parent_id, depth, account, user_name, shares, shares_norm, usage_raw, usage_norm, level_usage, classic_factor, '
                      'level_fs, level_fs_infinite, fair_tree_rank, fair_tree_factor, pbs_tree_usage, pbs_factor, fairshare, fairshare_order, '
                      'depth_oblivious_usage, cluster FROM fairmill_fairshare ORDER BY cluster, id_assoc', database)
    return [tuple(row) for row in rows]


def try_on(place, server, kind):
    database = server.database(NAME)
    place.site()
    place.settings({f'results.{key}': value for key, value in server.connection(database).items()})
    place.succeed('init')
    now = NOW
    place.succeed('run', '--now', now)
    whole = published(server, database)
    for what, sql in DAMAGE:
        server.sql(sql, database)
        now += 10
        place.succeed('run', '--now', now, '--verbose')
        tap.ok('incremental' in place.err and published(server, database) == whole, f'{kind}: {what}, and the next run repairs it', place.err)
        tap.ok(not place.run('verify'), f'{kind}: verify finds no difference', place.out)


def large(place, server, kind):
    database = server.database(f'{NAME}_large')
    place.site(TWO)
    place.settings({f'results.{key}': value for key, value in server.connection(database).items()})
    place.succeed('init')
    now = NOW
    place.succeed('run', '--now', now)
    whole = published(server, database)
    for what, sql in DAMAGE[:3]:
        server.sql(sql.replace('= 3', '= 2000').replace('= 4', '= 1100').replace('= 5', '= 7'), database)
        damaged = published(server, database) != whole
        runs = 0
        while published(server, database) != whole and runs < 16:
            now += 10
            runs += 1
            status = place.run('run', '--now', now)
            lacks = len(published(server, database)) < len(whole)
            tap.ok(status == (65 if lacks else 0) and lacks == ('readers see' in place.err),
                   f'{kind}: run {runs} ends with 65 if readers lack rows', status, place.err)
        tap.ok(damaged and published(server, database) == whole, f'{kind}: {len(whole)} associations: {what}, and {runs} runs repair it')


def body():
    with Server() as mariadb, Postgres() as postgres, Place() as place:
        for server, kind in ((InFolder(place.folder), 'SQLite'), (mariadb, 'MariaDB'), (postgres, 'PostgreSQL')):
            try_on(place, server, kind)
            large(place, server, kind)


tap.main(body)
