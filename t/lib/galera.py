# SPDX-License-Identifier: MIT
"""A Galera cluster of MariaDB servers of mariadb.sh, on this machine."""

import glob
import shutil
import socket
import time

import tap
from mariadb import NewServer

PROVIDERS = '/usr/lib/galera*/libgalera_smm.so', '/usr/lib*/galera*/libgalera_smm.so', '/usr/lib/libgalera_smm.so'
# A node that is gone is given up after a second, not after several.
PATIENCE = ('evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;evs.suspect_timeout=PT1S;'
            'evs.inactive_timeout=PT3S')


def _provider():
    for pattern in PROVIDERS:
        for path in glob.glob(pattern):
            return path
    return tap.skip_all('galera-4 is not there')


def _free_port():
    with socket.socket() as place:
        place.bind(('127.0.0.1', 0))
        return place.getsockname()[1]


class Node(NewServer):
    """One more of the cluster that `others` are, or the first of a new one."""

    def __init__(self, others, *options):
        self.group_port = _free_port()
        address = ','.join(f'127.0.0.1:{node.group_port}' for node in others)
        super().__init__(
            '--wsrep-on=ON', f'--wsrep-provider={_provider()}', '--wsrep-cluster-name=fairmill',
            f'--wsrep-cluster-address=gcomm://{address}', '--wsrep-node-address=127.0.0.1',
            '--wsrep-sst-method=rsync', f'--wsrep-sst-receive-address=127.0.0.1:{_free_port()}',
            f'--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{self.group_port};'
            f'ist.recv_addr=127.0.0.1:{_free_port()};gcache.size=16M;pc.recovery=no;{PATIENCE}',
            '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--innodb-log-file-size=16M',
            '--innodb-buffer-pool-size=64M', *options)

    def state(self, name):
        return self.sql(f"SHOW STATUS LIKE 'wsrep_{name}'")[0][1]

    def wait(self, name, value):
        end = time.monotonic() + 60
        while self.state(name) != value:
            if time.monotonic() > end:
                raise RuntimeError(f'wsrep_{name} is {self.state(name)}, not {value}')
            time.sleep(.1)


class Galera:
    """So many nodes; what is written to one is on all."""

    def __init__(self, count):
        self.count, self.nodes = count, []

    def __enter__(self):
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
