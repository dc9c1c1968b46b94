#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that `fairmill forget` removes a retired cluster and no other."""

import os
import pty
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

TWO = '''
cluster tiny
root/
  u 1 use 100
cluster old
root/
  v 1 use 200
'''


def left(place, cluster):
    """Returns the number of a cluster's rows in each table."""
    tables = [name for (name,) in place.query("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for table in tables:
        columns = [row[1] for row in place.query(f'SELECT * FROM pragma_table_info(?)', table)]
        if 'cluster' in columns:
            (count,), = place.query(f'SELECT count(*) FROM "{table}" WHERE cluster = ?', cluster)
            if count:
                found[table] = count
    return found


def retired(place):
    place.ready(TWO, {'retention.history_days': 1000, 'retention.history_interval': 0})
    for step in range(3):
        place.succeed('run', '--now', NOW + step)
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'old'")
    place.succeed('run', '--now', NOW + 10)


def refused(place):
    retired(place)
    before = left(place, 'tiny')
    place.ends(64, 'a cluster that is not retired cannot be forgotten', 'forget', '--cluster', 'tiny', '--yes')
    place.says('the error says that the cluster is not retired', "'tiny'", 'is not retired')
    tap.same(left(place, 'tiny'), before, 'the rejected command removes no rows')
    place.ends(64, 'an unknown cluster cannot be forgotten', 'forget', '--cluster', 'none', '--yes')
    place.ends(64, 'the empty cluster name is rejected', 'forget', '--cluster', '', '--yes')
    place.ends(64, 'forget without --cluster is rejected', 'forget', '--yes')
    place.ends(64, 'forget needs --yes or a terminal', 'forget', '--cluster', 'old')
    tap.ok({'fairmill_history', 'fairmill_usage_day', 'fairmill_run'} <= set(left(place, 'old')),
           'a retired cluster keeps its history', left(place, 'old'))


def forgotten(place):
    retired(place)
    tiny = left(place, 'tiny')
    place.ends(0, 'a retired cluster can be forgotten', 'forget', '--cluster', 'old', '--yes')
    tap.same((place.out, place.err), ('', ''), 'forget prints nothing')
    tap.same(left(place, 'old'), {}, 'no table has rows of the forgotten cluster')
    tap.same(left(place, 'tiny'), tiny, 'the other cluster keeps all its rows')
    place.ends(64, 'a forgotten cluster cannot be forgotten again', 'forget', '--cluster', 'old', '--yes')
    place.ends(0, 'the next run succeeds', 'run', '--now', NOW + 20)
    place.change("UPDATE cluster_table SET deleted = 0 WHERE name = 'old'")
    place.ends(0, 'a run succeeds if the forgotten cluster returns', 'run', '--now', NOW + 30)
    tap.ok(place.value('usage_raw', 'root.v', 'old') > 0, 'a cluster that returns has its usage')


def settings_go(place):
    retired(place)
    place.query("INSERT INTO fairmill_settings VALUES ('its own', '')")
    place.query("UPDATE fairmill_run SET settings_digest = 'its own' WHERE cluster = 'old'")
    place.succeed('forget', '--cluster', 'old', '--yes')
    tap.same(place.query('SELECT count(*) FROM fairmill_settings'), [(1,)],
             'forget removes settings that no other run used')


def asked(place, answer):
    """Runs forget on a terminal and returns the exit status and the output."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(place.folder)
        os.execv(os.environ['FAIRMILL'], ['fairmill', '-c', place.path('fm.conf'), 'forget', '--cluster', 'old'])
    os.write(terminal, answer)
    said = b''
    try:
        while part := os.read(terminal, 1000):
            said += part
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.decode()


def questions(place):
    retired(place)
    status, said = asked(place, b'\n')
    tap.ok(status == 1 and "'old'? [y/N]" in said, 'on a terminal forget asks, and an empty answer means no', status, said)
    tap.ok(left(place, 'old'), 'the answer no removes no rows')
    status, said = asked(place, b'y\n')
    tap.ok(status == 0 and not left(place, 'old'), 'the answer yes removes the cluster', status, said)


def body():
    with Place() as place:
        for part in (refused, forgotten, settings_go, questions):
            part(place)


tap.main(body)
