#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Several hosts that run fairmill for different clusters of one database at the same time: each has
its own lock and its own rows, and none waits for another.  And a replica as the source of results
that are on its primary: what comes out is what the primary alone would give."""

import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import tap
from compare import differences, from_server
from faults import NOW, POLL
from mariadb import Primary, Replica, Session
from program import FAIRMILL, fairmill, write_settings

AT_ONCE = 5
CLUSTERS = list(faults.USERS)


class Rig:
    """Runs with one source and one database of results."""

    def __init__(self, folder, source, server, results, **more):
        self.conf, self.server, self.results = f'{folder}/{results}.conf', server, server.database(results)
        write_settings(self.conf, dict(source=dict(source.connection(faults.SOURCE), deadline='20 s', **more),
                                       results=server.connection(results), usage=dict(half_life=0)))
        fairmill(self.conf, 'init')

    def start(self, *arguments):
        """One host's run."""
        return subprocess.Popen([FAIRMILL, '-c', self.conf, 'run', *map(str, arguments)], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wrong(self, now):
        """What is not whole or not of this instant."""
        rows = self.server.sql(POLL, self.results)
        right = [[cluster, str(faults.associations(cluster)), '1', '1', str(now), str(faults.associations(cluster)),
                  str(now)] for cluster in CLUSTERS]
        wrong = [] if [row[:7] for row in rows] == right else [f'{rows} is not {right}']
        return wrong + [f'{row} has another sum' for row in rows
                        if not float(row[7]) == float(row[8]) == faults.wanted(row[0], now)]


def clusters_at_once(rig):
    wrong = []
    for now in range(NOW, NOW + AT_ONCE):
        runs = [rig.start('--cluster', cluster, '--now', now) for cluster in CLUSTERS]
        said = [run.communicate()[0] for run in runs]
        if [run.returncode for run in runs] != [0, 0] or any(said):
            wrong.append(f'{[run.returncode for run in runs]}: {said}')
        wrong += rig.wrong(now)
    tap.ok(not wrong, 'two runs for two clusters at once both publish, without a word', *wrong)
    ids = rig.server.sql("SELECT count(*), count(DISTINCT run_id) FROM fairmill_run WHERE status = 'done'", rig.results)
    tap.same(ids, [[str(2 * AT_ONCE)] * 2], 'every run has a run_id of its own')
    tap.same(rig.server.sql('SELECT DISTINCT host FROM fairmill_run', rig.results), [[socket.gethostname()]],
             'and fairmill_run has the host that it ran on')


def one_does_not_wait(rig):
    """Somebody holds what one run needs to publish; the other cluster's run does not care."""
    now = NOW + 100
    with Session(rig.server, rig.results) as session:
        session.do("BEGIN; SELECT * FROM fairmill_lock WHERE cluster = 'big' FOR UPDATE")
        held = rig.start('--cluster', 'big', '--now', now)
        while held.poll() is None and rig.server.sql(
                "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'") == [['0']]:
            time.sleep(.05)
        other = rig.start('--cluster', 'small', '--now', now)
        said = other.communicate()[0]
        tap.ok(other.returncode == 0 and held.poll() is None, 'a run does not wait for one of another cluster that waits', said)
        again = rig.start('--cluster', 'big', '--now', now)
        said = again.communicate()[0]
        tap.ok(again.returncode == 75 and 'another run is at work' in said,
               'a second host with the same cluster ends with 75 at once', again.returncode, said)
        session.do('ROLLBACK')
    said = held.communicate()[0]
    tap.ok(held.returncode == 0 and not rig.wrong(now), 'and the first publishes when it can', said, *rig.wrong(now))


def a_replica_is_read(folder, primary, replica, alone):
    spread = Rig(folder, replica, primary, 'spread', max_lag='30 s')
    now, rows = NOW + 200, []
    for kind, change in (('full', ''), ('incremental', 'UPDATE big_job_table SET time_end = %d WHERE job_db_inx %% 7 = 0')):
        now += 10
        primary.sql(change and change % (now - 5), faults.SOURCE)
        replica.catch_up()
        said = [fairmill(rig.conf, 'run', '--now', now) for rig in (alone, spread)]
        rows = [from_server(primary, rig.results) for rig in (alone, spread)]
        wrong, compared = differences(*rows)
        kinds = primary.sql('SELECT DISTINCT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1', spread.results)
        tap.ok([status for status, _, _ in said] == [0, 0] and kinds == [[kind]] and not wrong and compared > 10000,
               f'a run that reads a replica, {kind}: every value is that of one that reads the primary', said, kinds, *wrong[:5])
    replica.catch_up()
    wrong, _ = differences(from_server(replica, spread.results), rows[1])
    tap.same(wrong, [], 'and the replica has the results too, for those who read them')


def body():
    with Primary() as primary, Replica(primary) as replica, tempfile.TemporaryDirectory(prefix='fm') as folder:
        faults.draw(primary)
        rig = Rig(folder, primary, primary, 'hosts')
        clusters_at_once(rig)
        one_does_not_wait(rig)
        a_replica_is_read(folder, primary, replica, rig)


# Beside other tests it fails now and then, which is to be looked into.
if os.environ.get('FAIRMILL_LONG') == '1':
    tap.main(body)
else:
    print('1..0 # SKIP the long form has it (FAIRMILL_LONG=1)')
