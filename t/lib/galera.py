# SPDX-License-Identifier: MIT
"""A Galera cluster of MariaDB servers of mariadb.sh, on this machine."""

import glob
import shutil
import socket

import tap
from mariadb import IS_MYSQL, NewServer

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


def _held_port(held):
    """Nobody's until a program asks for it by its number: the socket, one more of those held, keeps
    the system from giving it to others, and lets in who sets SO_REUSEADDR, as servers do."""
    place = socket.socket()
    held.append(place)
    place.bind(('127.0.0.1', 0))  # alone, as SO_REUSEADDR is not set yet
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return place.getsockname()[1]


class Node(NewServer):
    """One more of the cluster that `others` are, or the first of a new one."""

    def __init__(self, others, *options):
        self.held = []
        self.group_port = _held_port(self.held)
        address = ','.join(f'127.0.0.1:{node.group_port}' for node in others)
        super().__init__(
            '--wsrep-on=ON', f'--wsrep-provider={_provider()}', '--wsrep-cluster-name=fairmill',
            f'--wsrep-cluster-address=gcomm://{address}', '--wsrep-node-address=127.0.0.1',
            '--wsrep-sst-method=rsync', f'--wsrep-sst-receive-address=127.0.0.1:{_held_port(self.held)}',
            f'--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{self.group_port};'
            f'ist.recv_addr=127.0.0.1:{_held_port(self.held)};gcache.size=16M;pc.recovery=no;{PATIENT}',
            # A plugin of MariaDB 11 that would make each of these options a variable, so that hurry() could not set them.
            '--loose-plugin-wsrep-provider=OFF',
            '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--innodb-log-file-size=16M',
            '--innodb-buffer-pool-size=64M', *options)

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        for place in self.held:
            place.close()

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
        if not shutil.which('rsync'):
            tap.skip_all('rsync is not there')
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
