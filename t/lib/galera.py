# SPDX-License-Identifier: MIT
"""A Galera cluster of MariaDB servers, on this machine."""

import glob

import tap
from mariadb import IS_MYSQL, NewServer
from server import held_port

PROVIDERS = '/usr/lib/galera*/libgalera_smm.so', '/usr/lib*/galera*/libgalera_smm.so', '/usr/lib/libgalera_smm.so'
# Nodes that share a busy machine may be silent for long, and are not to be given up for that ...
PATIENT = 'evs.suspect_timeout=PT30S;evs.inactive_timeout=PT60S'
# ... but a test that kills one does not want to wait.
IMPATIENT = 'evs.suspect_timeout=PT3S;evs.inactive_timeout=PT9S'


def _provider():
    for pattern in PROVIDERS:
        for path in glob.glob(pattern):
            return path
    return tap.skip_all('galera-4 is not there')


class Node(NewServer):
    """One more of the cluster that `others` are, or the first of a new one."""

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
            # A plugin of MariaDB 11 that would make each of these options a variable, so that hurry() could not set them.
            '--loose-plugin-wsrep-provider=OFF',
            '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--innodb-log-file-size=16M',
            '--innodb-buffer-pool-size=64M', *options)

    def hurry(self):
        """Give up others soon."""
        self.sql(f"SET GLOBAL wsrep_provider_options = '{IMPATIENT}'")

    def state(self, name):
        return self.sql(f"SHOW STATUS LIKE 'wsrep_{name}'")[0][1]

    def wait(self, name, value):
        if not tap.until(lambda: self.state(name) == value, every=.1):
            raise RuntimeError(f'wsrep_{name} is {self.state(name)}, not {value}')


class Galera:
    """So many nodes; what is written to one is on all."""

    def __init__(self, count):
        self.count, self.nodes = count, []

    def __enter__(self):
        if IS_MYSQL:
            tap.not_here('Galera is no part of MySQL')
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
