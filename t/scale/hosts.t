#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Several hosts that run fairmill for different clusters of one database at the same time: each has
its own lock and its own rows, and none waits for another, whatever that has locked.  And a replica as the source of results
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
from mariadb import TRX_STALE, Primary, Replica
from program import FAIRMILL, fairmill, write_settings
from proxy import Fault, Proxy
from server import Session

AT_ONCE = 5
CLUSTERS = list(faults.USERS)


class Rig:
    """Runs with one source and one database of results."""

    def __init__(self, folder, source, server, results, retention=None, **more):
        self.conf, self.server, self.results = f'{folder}/{results}.conf', server, server.database(results)
        # Machines that test are slow, and what waits here waits for what it never gets.
        self.settings = dict(source=dict(source.connection(faults.SOURCE), deadline='120 s', **more),
                             results=server.connection(results), usage=dict(half_life=0), retention=retention or {})
        write_settings(self.conf, self.settings)
        fairmill(self.conf, 'init')

    def start(self, *arguments, conf=None):
        """One host's run."""
        return subprocess.Popen([FAIRMILL, '-c', conf or self.conf, 'run', *map(str, arguments)], text=True,
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
            time.sleep(TRX_STALE)
        other = rig.start('--cluster', 'small', '--now', now)
        said = other.communicate()[0]
        tap.ok(other.returncode == 0 and held.poll() is None, 'a run does not wait for one of another cluster that waits', said)
        again = rig.start('--cluster', 'big', '--now', now)
        said = again.communicate()[0]
        tap.ok(again.returncode == 75 and 'another run of this cluster is in progress' in said,
               'a second host with the same cluster ends with 75 at once', again.returncode, said)
        session.do('ROLLBACK')
    said = held.communicate()[0]
    tap.ok(held.returncode == 0 and not rig.wrong(now), 'and the first publishes when it can', said, *rig.wrong(now))


def run_beside(rig, held, other, number, now, *options):
    """What is wrong with a run of `other` while one of `held` stands still before this COMMIT of its own,
    with all that it has locked; and with that one.  None where it has no such COMMIT."""
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
        # Both have the same settings.
        results = dict(rig.settings['results'], host='127.0.0.1', port=proxy.port)
        write_settings(conf, dict(rig.settings, results={key: results[key] for key in results if key != 'socket'}))
        ends(rig.start('-v', '--cluster', held, '--now', now, *options, conf=conf))
        return wrong + rig.wrong(now) if proxy.fired else None


def make_old(rig):
    """All runs were long ago, and each had settings of its own."""
    rig.server.sql("UPDATE fairmill_run SET started_at = 1, settings_digest = CONCAT('old ', run_id); "
                   "INSERT IGNORE INTO fairmill_settings SELECT settings_digest, '' FROM fairmill_run", rig.results)


def beside_each_commit(rig, held, other, now, *options):
    """The instant after; how many COMMITs a run has; and what is wrong with what another one did meanwhile."""
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
    """By turns, as locks reach the row behind those that are meant."""
    for held, other in (CLUSTERS, CLUSTERS[::-1]):
        rig = Rig(folder, primary, primary, f'beside_{held}', retention=dict(history_days=1, run_days=1))
        wrong = run_beside(rig, held, other, 0, NOW)
        tap.ok(wrong == [], f'{other} publishes its first run beside the first one of {held}, which stands still before COMMIT',
               wrong)
        now = NOW
        for kind, options in (('incremental', ()), ('full', ('--full',))):
            now, commits, wrong = beside_each_commit(rig, held, other, now, *options)
            tap.ok(not wrong and commits >= 5,
                   f'and {kind} runs beside one that stands still before any COMMIT, with much to remove', commits, *wrong[:9])


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
               f'a run that reads a replica, {kind}: every value is that of one that reads the primary', said, kinds, *wrong[:5])
    replica.catch_up()
    wrong, _ = differences(from_server(replica, spread.results), rows[1])
    tap.same(wrong, [], 'and the replica has the results too, for those who read them')


def body():
    # MariaDB's default from 11.6 on, under which an UPDATE of a range waits for the row behind it.
    with Primary('--loose-innodb-snapshot-isolation=ON') as primary, Replica(primary) as replica, tempfile.TemporaryDirectory(prefix='fm') as folder:
        faults.draw(primary)
        rig = Rig(folder, primary, primary, 'hosts')
        before = deadlocks(primary)
        clusters_at_once(rig)
        one_does_not_wait(rig)
        none_waits(folder, primary)
        tap.same(deadlocks(primary), before, 'in all of that there was no deadlock')
        a_replica_is_read(folder, primary, replica, rig)


tap.main(body)
