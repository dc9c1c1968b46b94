#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite mysql
"""Tests a source and results on a Galera cluster of three nodes.

Other nodes do not see an advisory lock, so only the fence separates runs that use several nodes at
the same time.  One of them publishes, the others exit with status 75, and the results are complete
on every node."""

import glob
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import faults
import tap
from compare import differences, from_server
from faults import LONG, NOW, POLL, Rig
from mariadb import IS_MYSQL, TRX_STALE, NewServer, library_version
from program import FAIRMILL, fairmill, write_settings
from proxy import Fault, sql
from server import Session, held_port

PROVIDERS = '/usr/lib/galera*/libgalera_smm.so', '/usr/lib*/galera*/libgalera_smm.so', '/usr/lib/libgalera_smm.so'
# On a busy machine, a node may be silent for a long time.  The others must not exclude it ...
PATIENT = 'evs.suspect_timeout=PT30S;evs.inactive_timeout=PT60S'
# ... except in the test that kills a node, which should not wait for so long.
IMPATIENT = 'evs.suspect_timeout=PT3S;evs.inactive_timeout=PT9S'


def _provider():
    for pattern in PROVIDERS:
        for path in glob.glob(pattern):
            return path
    return tap.skip_all('galera-4 is not installed')


class Node(NewServer):
    """A new node of the cluster of the nodes `others`.  Without others, the first node of a new
    cluster."""

    def __init__(self, others, *options):
        super().__init__()
        self.group_port = held_port(self.held)
        address = ','.join(f'127.0.0.1:{node.group_port}' for node in others)
        self.options = (
            '--wsrep-on=ON', f'--wsrep-provider={_provider()}', '--wsrep-cluster-name=fairmill',
            f'--wsrep-cluster-address=gcomm://{address}', '--wsrep-node-address=127.0.0.1',
            '--wsrep-sst-method=rsync', f'--wsrep-sst-receive-address=127.0.0.1:{held_port(self.held)}',
            f'--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{self.group_port};'
            f'ist.recv_addr=127.0.0.1:{held_port(self.held)};gcache.size=16M;pc.recovery=no;{PATIENT}',
            # With this plugin of MariaDB 11, hurry() could not set wsrep_provider_options.
            '--loose-plugin-wsrep-provider=OFF',
            '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--innodb-log-file-size=16M',
            '--innodb-buffer-pool-size=64M', *options)

    def hurry(self):
        """Makes this node exclude silent nodes after a few seconds."""
        self.sql(f"SET GLOBAL wsrep_provider_options = '{IMPATIENT}'")

    def state(self, name):
        """Returns the value of the status variable wsrep_NAME."""
        return self.sql(f"SHOW STATUS LIKE 'wsrep_{name}'")[0][1]

    def wait(self, name, value):
        if not tap.until(lambda: self.state(name) == value, every=.1):
            raise RuntimeError(f'wsrep_{name} is {self.state(name)}, not {value}')


class Galera:
    """A cluster of `count` nodes.  Each node has all data."""

    def __init__(self, count):
        self.count, self.nodes = count, []

    def __enter__(self):
        if IS_MYSQL:
            tap.not_here('MySQL does not contain Galera')
        tap.needs('rsync')
        try:
            while len(self.nodes) < self.count:
                node = Node(self.nodes)
                node.__enter__()
                self.nodes.append(node)
                node.wait('local_state_comment', 'Synced')
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in reversed(self.nodes):
            node.__exit__()


ROUNDS = 60 if LONG else 6
CLUSTERS = ('big', 'small')


class Site:
    """One results database.  The settings file N.conf connects to node N."""

    def __init__(self, folder, nodes):
        self.folder, self.nodes = folder, nodes
        self.rig = Rig(nodes[0], folder, 'galera')
        self.results = self.rig.results
        for number, node in enumerate(nodes):
            self.write(number, dict(socket=node.socket))

    def write(self, name, at):
        at = dict(driver='mysql', user='root', **at)
        write_settings(self.conf(name), dict(source=dict(at, database=faults.SOURCE, deadline='15 s'), usage=dict(half_life=0),
                                             results=dict(at, database=self.results)))

    def conf(self, name):
        return f'{self.folder}/{name}.conf'

    def start(self, name, *arguments):
        return subprocess.Popen([FAIRMILL, '-c', self.conf(name), 'run', *map(str, arguments)], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def wrong(self, instants, nodes=None):
        """Returns a list of errors in the results: incomplete, different on another node, or of
        another time than `instants`.  Checks all nodes unless `nodes` is given."""
        found, first = [], None
        for node in nodes or self.nodes:
            rows = node.sql('SET SESSION wsrep_sync_wait = 1; ' + POLL, self.results)
            first = first or rows
            if rows != first or [row[0] for row in rows] != list(CLUSTERS):
                found.append(f'{rows} is not {first}')
        for cluster, count, runs, times, at, recorded, as_of, of_users, of_root in first:
            if (int(count), runs, times, recorded, at) != (faults.associations(cluster), '1', '1', count, as_of):
                found.append(f'{cluster} is not complete: {first}')
            if not float(of_users) == float(of_root) == faults.wanted(cluster, int(at)):
                found.append(f'{cluster} has {of_users} and {of_root}')
            if int(at) not in instants:
                found.append(f'{cluster} is of {at}')
        return found


def every_node_gives_the_same(site):
    """A full run through each node gives the same results.  Reads them from the same node.  wrong()
    checks the sums."""
    now = NOW + 10
    rows = []
    for number, node in enumerate(site.nodes):
        status, _, err = fairmill(site.conf(number), 'run', '--now', now, '--full')
        tap.ok(status == 0, f'a run through node {number + 1} publishes', err)
        rows.append(from_server(node, site.results))
    for number, other in enumerate(rows[1:], 2):
        wrong, compared = differences(other, rows[0])
        tap.ok(not wrong and compared > 10000, f'every value of node {number} equals that of node 1', *wrong[:5])
    site.rig.last = dict.fromkeys(CLUSTERS, now)
    site.rig.now = now


def runs_on_all_nodes_at_once(site):
    statuses, wrong = set(), []
    for number in range(ROUNDS):
        now = NOW + 20 + 10 * number
        runs = [site.start(node, '--now', now + node) for node in range(len(site.nodes))]
        said = [run.communicate()[0] for run in runs]
        for run, text in zip(runs, said):
            statuses.add(run.returncode)
            # The last run may find that a run with a later time has published.
            if run.returncode and not ('another run published' in text or 'is before the published values' in text):
                wrong.append(f'{run.returncode}: {text}')
        if 0 not in [run.returncode for run in runs] and len(set(said)) == 1:
            wrong.append(f'no run published: {said}')
        wrong += site.wrong(range(now, now + len(site.nodes)))
    tap.ok(not wrong, f'{ROUNDS} times three simultaneous runs leave complete and equal results', *wrong)
    tap.ok(statuses <= {0, 64, 75} and {0, 75} <= statuses, 'some of these runs publish, the others exit with 75', statuses)
    site.rig.now = now + 10
    site.rig.last = {row[0]: int(row[4]) for row in site.nodes[0].sql(POLL, site.results)}


def the_other_publishes_first(site, step, statement):
    """While a run stops before `step` of its transaction, another run publishes the cluster through
    another node."""
    other = []

    def publish():
        other.append(fairmill(site.conf(1), 'run', '--cluster', 'big', '--now', site.rig.now))
        site.nodes[0].sql('SET SESSION wsrep_sync_wait = 1; SELECT 1')
    outcome = site.rig.disturbed(results=[Fault('hold', step, meanwhile=publish)], deadline=20)
    tap.ok(other and other[0][0] == 0 and outcome.status == 75 and not outcome.wrong
           and "cluster 'big': another run published this cluster" in outcome.said and outcome.results == 'new', statement,
           other, outcome, *outcome.wrong)


def publishing_commit(step):
    return (step.connection, step.sql, step.repeat) == (1, 'COMMIT', 0)


def a_node_that_is_behind(site):
    now = site.rig.now = site.rig.now + 10
    with Session(site.nodes[2], site.results) as session:
        session.do('FLUSH TABLES WITH READ LOCK')  # this node does not apply changes
        status, _, err = fairmill(site.conf(0), 'run', '--now', now)
        old = site.nodes[2].sql('SELECT max(computed_at) FROM fairmill_fairshare', site.results)
        timer = threading.Timer(1, lambda: session.do('UNLOCK TABLES'))
        timer.start()
        shown, out, more = fairmill(site.conf(2), 'show', '--json')
        timer.join()
    tap.ok(status == 0 and old != [[str(now)]] and shown == 0 and str(now) in out,
           'a node that lags shows the results of another node without delay', err, old, more)
    site.rig.last = dict.fromkeys(CLUSTERS, now)


def a_node_dies(site):
    """Kills the third node.  The other nodes continue after they have excluded it.  MariaDB's
    client library accepts a list of hosts since release 3.3."""
    dying, alive = site.nodes[2], site.nodes[:2]
    for node in site.nodes:
        node.hurry()
    lists = library_version() >= (3, 3)
    site.write('list', dict(host=f'127.0.0.1:{dying.port},127.0.0.1:{alive[1].port}') if lists else dict(host='127.0.0.1', port=dying.port))
    now = site.rig.now + 10
    with Session(dying, site.results) as session:
        session.do('BEGIN; SELECT count(*) FROM fairmill_value FOR UPDATE')
        alone = site.start(2, '--cluster', 'small', '--now', now)
        listed = site.start('list', '--cluster', 'big', '--now', now)
        while dying.sql("SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'") != [['2']]:
            if alone.poll() is not None or listed.poll() is not None:
                raise RuntimeError(f'{alone.communicate()} {listed.communicate()}')
            time.sleep(TRX_STALE)
        os.kill(dying.pid, signal.SIGKILL)
        said = [run.communicate()[0] for run in (listed, alone)]
    tap.same(listed.returncode, 0 if lists else 69,
             f"a run whose node dies {'continues on the next host of its list' if lists else 'without a list of hosts exits with 69'}")
    tap.ok(alone.returncode == 69, 'a run with only the host that died exits with 69', alone.returncode, *said)
    alive[0].wait('cluster_size', '2')
    tap.same(site.wrong((now if lists else site.rig.now, site.rig.now), alive), [], 'the results are complete on the remaining nodes')
    status, _, err = fairmill(site.conf(0), 'run', '--now', now + 10)
    tap.ok(status == 0 and not site.wrong((now + 10,), alive), 'the next run publishes through another node', err)


def large_results_are_too_large(site):
    """A node rejects a write set that is larger than wsrep_max_ws_size."""
    site.nodes[0].sql('SET GLOBAL wsrep_max_ws_size = 20000')
    last = site.nodes[0].sql(POLL, site.results)
    status, _, err = fairmill(site.conf(0), 'run', '--cluster', 'big', '--now', int(last[0][4]) + 10)
    site.nodes[0].sql('SET GLOBAL wsrep_max_ws_size = 2147483647')
    tap.ok(status not in (0, 75) and site.nodes[0].sql(POLL, site.results) == last,
           'a run that exceeds wsrep_max_ws_size fails and keeps the old results', status, err)
    tap.diag(f'status {status}: {err.strip()}')


def body():
    with Galera(3) as galera, tempfile.TemporaryDirectory(prefix='fm') as folder:
        faults.draw(galera.nodes[0])
        site = Site(folder, galera.nodes)
        every_node_gives_the_same(site)
        runs_on_all_nodes_at_once(site)
        the_other_publishes_first(site, sql(r'INSERT INTO "fairmill_value"', 'bulk'),
                                  'a run whose transaction another node aborts repeats it and exits with 75')
        the_other_publishes_first(site, publishing_commit,
                                  'a run whose COMMIT fails the certification exits with 75')
        a_node_that_is_behind(site)
        large_results_are_too_large(site)
        a_node_dies(site)


tap.main(body)
