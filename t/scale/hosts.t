#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests several hosts that run fairmill at the same time for different clusters of one database.
Each run has its own lock and its own rows, and no run waits for a lock of another one.

Also tests a source on a replica with results on its primary.  The results must equal the results
with a source on the primary."""

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
from mariadb import TRX_STALE, Primary, Replica
from program import FAIRMILL, fairmill, write_settings
from proxy import Fault, Proxy
from server import Session

AT_ONCE = 5
CLUSTERS = list(faults.USERS)


class Rig:
    """Runs with one source and one results database."""

    def __init__(self, folder, source, server, results, retention=None, **more):
        self.conf, self.server, self.results = f'{folder}/{results}.conf', server, server.database(results)
        # Use a long deadline, because test machines are slow.  A run that waits here would wait
        # forever.
        self.settings = dict(source=dict(source.connection(faults.SOURCE), deadline='120 s', **more),
                             results=server.connection(results), usage=dict(half_life=0), retention=retention or {})
        write_settings(self.conf, self.settings)
        fairmill(self.conf, 'init')

    def start(self, *arguments, conf=None):
        """Starts a run of one host."""
        return subprocess.Popen([FAIRMILL, '-c', conf or self.conf, 'run', *map(str, arguments)], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wrong(self, now):
        """Returns a list of errors in the results: incomplete, or of another time than `now`."""
        rows = self.server.sql(POLL, self.results)
        right = [[cluster, str(faults.associations(cluster)), '1', '1', str(now), str(faults.associations(cluster)),
                  str(now)] for cluster in CLUSTERS]
        wrong = [] if [row[:7] for row in rows] == right else [f'{rows} is not {right}']
        return wrong + [f'{row} has a wrong sum' for row in rows
                        if not float(row[7]) == float(row[8]) == faults.wanted(row[0], now)]


def clusters_at_once(rig):
    wrong = []
    for now in range(NOW, NOW + AT_ONCE):
        runs = [rig.start('--cluster', cluster, '--now', now) for cluster in CLUSTERS]
        said = [run.communicate()[0] for run in runs]
        if [run.returncode for run in runs] != [0, 0] or any(said):
            wrong.append(f'{[run.returncode for run in runs]}: {said}')
        wrong += rig.wrong(now)
    tap.ok(not wrong, 'simultaneous runs for two clusters publish and print nothing', *wrong)
    ids = rig.server.sql("SELECT count(*), count(DISTINCT run_id) FROM fairmill_run WHERE status = 'done'", rig.results)
    tap.same(ids, [[str(2 * AT_ONCE)] * 2], 'every run has its own run_id')
    tap.same(rig.server.sql('SELECT DISTINCT host FROM fairmill_run', rig.results), [[socket.gethostname()]],
             'fairmill_run contains the host of the run')


def one_does_not_wait(rig):
    """A session locks a row that the run of one cluster needs.  The run of the other cluster does
    not wait."""
    now = NOW + 100
    with Session(rig.server, rig.results) as session:
        session.do("BEGIN; SELECT * FROM fairmill_lock WHERE cluster = 'big' FOR UPDATE")
        held = rig.start('--cluster', 'big', '--now', now)
        while held.poll() is None and rig.server.sql(
                "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'") == [['0']]:
            time.sleep(TRX_STALE)
        other = rig.start('--cluster', 'small', '--now', now)
        said = other.communicate()[0]
        tap.ok(other.returncode == 0 and held.poll() is None, 'a run does not wait for the waiting run of another cluster', said)
        again = rig.start('--cluster', 'big', '--now', now)
        said = again.communicate()[0]
        tap.ok(again.returncode == 75 and 'another run of this cluster is in progress' in said,
               'a second host with the same cluster exits with 75 at once', again.returncode, said)
        session.do('ROLLBACK')
    said = held.communicate()[0]
    tap.ok(held.returncode == 0 and not rig.wrong(now), 'the first run publishes after the lock is released', said, *rig.wrong(now))


def run_beside(rig, held, other, number, now, *options):
    """Stops a run of the cluster `held` before its COMMIT with this number, while it holds all its
    locks, and does a run of the cluster `other`.  Returns a list of errors of both runs, or None if
    there is no such COMMIT."""
    wrong = []

    def ends(process):
        said = process.communicate(timeout=tap.HANG)[0]
        if process.returncode or 'trying again' in said or 'cannot delete old rows' in said:
            wrong.append(f'{other} beside {held} before COMMIT {number + 1}: {process.returncode}, {said}')

    def at(step):
        return (step.connection, step.sql, step.repeat) == (1, 'COMMIT', number)
    conf = rig.conf + '-held'
    with Proxy(rig.server, Fault('hold', at, meanwhile=lambda: ends(
            rig.start('-v', '--cluster', other, '--now', now, *options, conf=conf)))) as proxy:
        # Both runs use the same settings.
        results = dict(rig.settings['results'], host='127.0.0.1', port=proxy.port)
        write_settings(conf, dict(rig.settings, results={key: results[key] for key in results if key != 'socket'}))
        ends(rig.start('-v', '--cluster', held, '--now', now, *options, conf=conf))
        return wrong + rig.wrong(now) if proxy.fired else None


def make_old(rig):
    """Makes all runs old, and gives each its own settings, so that the next run has much to
    delete."""
    rig.server.sql("UPDATE fairmill_run SET started_at = 1, settings_digest = CONCAT('old ', run_id); "
                   "INSERT IGNORE INTO fairmill_settings SELECT settings_digest, '' FROM fairmill_run", rig.results)


def beside_each_commit(rig, held, other, now, *options):
    """Calls run_beside() for each COMMIT.  Returns the time of the last run, the number of COMMITs
    of a run, and the list of errors."""
    number, wrong = 0, []
    while True:
        make_old(rig)
        now += 100000
        more = run_beside(rig, held, other, number, now, *options)
        if more is None:
            return now, number, wrong
        wrong += more
        number += 1


def none_waits(folder, primary):
    """Tests both orders of the clusters, because a range lock includes the row after the range."""
    for held, other in (CLUSTERS, CLUSTERS[::-1]):
        rig = Rig(folder, primary, primary, f'beside_{held}', retention=dict(history_days=1, run_days=1))
        wrong = run_beside(rig, held, other, 0, NOW)
        tap.ok(wrong == [], f'the first run of {other} publishes while that of {held} is before its COMMIT',
               wrong)
        now = NOW
        for kind, options in (('incremental', ()), ('full', ('--full',))):
            now, commits, wrong = beside_each_commit(rig, held, other, now, *options)
            tap.ok(not wrong and commits >= 5,
                   f'{kind} runs of {other} publish while a run of {held} is before any COMMIT', commits, *wrong[:9])


def deadlocks(server):
    return server.sql("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")


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
        kinds = primary.sql('SELECT kind FROM fairmill_run ORDER BY run_id DESC LIMIT 1', spread.results)
        tap.ok([status for status, _, _ in said] == [0, 0] and kinds == [[kind]] and not wrong and compared > 10000,
               f'{kind}: all values from a replica equal those from its primary', said, kinds, *wrong[:5])
    replica.catch_up()
    wrong, _ = differences(from_server(replica, spread.results), rows[1])
    tap.same(wrong, [], 'the replica contains the results')


def body():
    # The default since MariaDB 11.6.  With it, an UPDATE of a range waits for the row after the
    # range.
    with Primary('--loose-innodb-snapshot-isolation=ON') as primary, Replica(primary) as replica, tempfile.TemporaryDirectory(prefix='fm') as folder:
        faults.draw(primary)
        rig = Rig(folder, primary, primary, 'hosts')
        before = deadlocks(primary)
        clusters_at_once(rig)
        one_does_not_wait(rig)
        none_waits(folder, primary)
        tap.same(deadlocks(primary), before, 'none of these runs caused a deadlock')
        a_replica_is_read(folder, primary, replica, rig)


tap.main(body)
