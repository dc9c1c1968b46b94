# SPDX-License-Identifier: MIT
"""Servers that a test may kill, stop and start again."""

import os
import signal
import time

from mariadb import Server
from postgres import Postgres


def wait_for(processes):
    """Until they have ended."""
    while any(os.path.exists(f'/proc/{process}') for process in processes):
        time.sleep(.01)


def state_and_parent(process):
    with open(f'/proc/{process}/stat', encoding='utf-8') as file:
        # The second field is a name, in brackets.
        state, parent = file.read().rpartition(')')[2].split()[:2]
    return state, int(parent)


class Own:
    """After the usual words the shell says the server's process id."""

    def __enter__(self):
        super().__enter__()
        self.pid = int(self.said.pop())
        return self

    def processes(self):
        return [self.pid]

    def signal(self, number):
        """To each of its processes, which are returned.  The first stands still before the others are looked for: it
        makes no more of them, and they are still its children."""
        os.kill(self.pid, signal.SIGSTOP)
        while state_and_parent(self.pid)[0] not in 'TZ':
            time.sleep(.001)
        processes = list(self.processes())
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        return processes

    def kill(self):
        wait_for(self.signal(signal.SIGKILL))

    def stop(self):
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.signal(signal.SIGCONT)

    def start(self, option=''):
        """After it has ended; waits until it answers."""
        self.shell.stdin.write(option + '\n')
        self.shell.stdin.flush()
        said = self.shell.stdout.readline()
        if not said.startswith('ready '):
            raise OSError(f'the server does not start again: {said}')
        self.pid = int(said.split()[-1])


class OwnMariadb(Own, Server):
    """Its data have no room to grow, and a commit is with the system when it is answered, so that it
    outlives a kill."""

    # What the server made at first stays as large as it is; a second file is all the room there is.
    SHELL = '''
        . "$1/mariadb.sh"
        unset FAIRMILL_TEST_MARIADB
        MARIADB_OPTIONS=(--innodb-file-per-table=0 --innodb-flush-log-at-trx-commit=2
                         --innodb-buffer-pool-size=64M)
        # What undoes a change needs room there, too; from 11.0 on it has files of its own unless it is told.
        mariadb_is_mysql || MARIADB_OPTIONS+=(--innodb-undo-tablespaces=0)
        start_again() {
            mariadb_launch "$MARIADB_DIRECTORY"
            until mariadb_answers || ! kill -0 "$MARIADB_PID"; do sleep .05; done
            echo "ready $MARIADB_SOCKET $files $MARIADB_PID"
        }
        mariadb_shared
        mariadb_stop
        files="ibdata1:$(($(stat -c %s "$MARIADB_DIRECTORY/data/ibdata1") >> 20))M;ibdata2:64M"
        MARIADB_OPTIONS+=("--innodb-data-file-path=$files")
        start_again
        while read -r option; do
            [ -z "$option" ] || MARIADB_OPTIONS+=("$option")
            start_again
        done'''

    def __enter__(self):
        super().__enter__()
        self.more_room = f'--innodb-data-file-path={self.said[0]}:autoextend'
        return self


class OwnPostgres(Own, Postgres):
    """A commit is with the system when it is answered."""

    CONNECTIONS = 12
    OPTIONS = f'-c synchronous_commit=on -c max_connections={CONNECTIONS} -c autovacuum=off'
    SHELL = f'''
        . "$1/postgres.sh"
        unset FAIRMILL_TEST_POSTGRES
        POSTGRES_OPTIONS=({OPTIONS})
        say() {{ echo "ready $POSTGRES_SOCKET $(command -v psql) $POSTGRES_PID"; }}
        postgres_shared
        say
        while read -r _; do
            postgres_launch_and_wait "$POSTGRES_DIRECTORY"
            say
        done'''

    def processes(self):
        """Its first one, and its children."""
        yield self.pid
        for name in filter(str.isdigit, os.listdir('/proc')):
            try:
                if state_and_parent(name)[1] == self.pid:
                    yield int(name)
            except OSError:
                pass

    def end(self, number):
        """SIGINT, without waiting for clients, or SIGQUIT, at once."""
        os.kill(self.pid, number)
        wait_for([self.pid])

