# SPDX-License-Identifier: MIT
"""A temporary slurmdbd with its munged, on a shared or temporary server of MariaDB."""

import contextlib
import fcntl
import os
import pwd
import signal
import subprocess

import mariadb
import tap
from server import Folder, held_port, reason_in, lives

DATABASE = 'slurmdbd_acct'
DROP = f'DROP DATABASE IF EXISTS {DATABASE}; DROP USER IF EXISTS slurmdbd@localhost;'
# slurmdbd would create the database, but this fails with MariaDB's client library 11.8.9 (3.4.9).
# There, a session whose first login was rejected, because the database was missing, receives no
# results.
ACCOUNT = f"""{DROP} CREATE DATABASE {DATABASE};
    CREATE USER slurmdbd@localhost IDENTIFIED BY 'throw-away';
    GRANT ALL ON {DATABASE}.* TO slurmdbd@localhost;"""

SLURMDBD_CONF = """AuthType=auth/munge
AuthInfo=socket={folder}/m
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurmdbd
StoragePass=throw-away
StorageLoc={database}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
"""
SLURM_CONF = """ClusterName=unused
SlurmUser={user}
SlurmctldHost=localhost(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/m
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass=socket={folder}/m
"""


def write_private(path, data):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 'wb') as file:
        file.write(data)


def started(command, log, **more):
    """Starts a program that becomes a daemon."""
    with open(log, 'ab') as file:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False, **more)
    if done.returncode:
        raise RuntimeError(f'{command[0]}: {reason_in(log)}')


def ended(path):
    """Returns whether the process of that file has ended or never existed."""
    with contextlib.suppress(OSError, ValueError):
        with open(path, encoding='ascii') as file:
            process = int(file.read())
        os.kill(process, signal.SIGTERM)
        if not tap.until(lambda: not lives(process), every=.05):
            os.kill(process, signal.SIGKILL)


class Slurmdbd(mariadb.Server):
    """A slurmdbd.  `conf` is the slurm.conf with which sacctmgr finds it, `accounting` its
    database."""

    PROGRAMS = (*mariadb.Server.PROGRAMS, 'munged', 'slurmdbd', 'sacctmgr')
    accounting = DATABASE

    def __enter__(self):
        # Tests that start a slurmdbd at the same time disturb each other, so only one starts at a
        # time.
        self.turn = open(f'/tmp/fairmill-slurmdbd-{os.getuid()}', 'wb')
        fcntl.flock(self.turn, fcntl.LOCK_EX)
        super().__enter__()
        self.of_slurmdbd = Folder()
        self.conf = f'{self.of_slurmdbd.path}/slurm.conf'
        self.sql(ACCOUNT)
        self.start_slurmdbd(self.of_slurmdbd.path)
        return self

    def __exit__(self, *what):
        ended(f'{self.of_slurmdbd.path}/slurmdbd.pid')
        ended(f'{self.of_slurmdbd.path}/munged.pid')
        self.of_slurmdbd.remove()
        self.sql(DROP)
        super().__exit__(*what)
        self.turn.close()

    def start_slurmdbd(self, folder):
        write_private(f'{folder}/key', os.urandom(1024))
        started(['munged', '--force', f'--key-file={folder}/key', f'--socket={folder}/m', f'--pid-file={folder}/munged.pid',
                 f'--log-file={folder}/munged.log', f'--seed-file={folder}/seed'], f'{folder}/munged.log')
        words = dict(folder=folder, port=held_port(self.held), user=pwd.getpwuid(os.getuid()).pw_name, database=DATABASE)
        write_private(f'{folder}/slurmdbd.conf', SLURMDBD_CONF.format(**words).encode())
        write_private(self.conf, SLURM_CONF.format(**words).encode())
        # From Slurm 24.11 on, a slurmdbd that does not listen at all addresses listens at the
        # address of the host's name, which may not exist or may belong to others.
        command = ['slurmdbd'] if os.getuid() else ['unshare', '--uts', 'sh', '-c', 'hostname localhost && exec slurmdbd']
        # A socket is not possible in slurmdbd.conf; the client library takes it from this variable.
        started(command, f'{folder}/slurmdbd.log', env=dict(os.environ, SLURM_CONF=self.conf, MYSQL_UNIX_PORT=self.socket))
        if not tap.until(self.slurmdbd_answers, every=.1):
            raise RuntimeError(f"slurmdbd does not answer: {reason_in(f'{folder}/slurmdbd.log')}")

    def slurmdbd_answers(self):
        with contextlib.suppress(RuntimeError):
            self.sacctmgr('-n', 'show', 'cluster')
            return True

    def sacctmgr(self, *arguments):
        done = subprocess.run(['sacctmgr', '-i', '-Q', *arguments],
                              env=dict(os.environ, SLURM_CONF=self.conf),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"sacctmgr {' '.join(arguments)}: {done.stdout}")
        return done.stdout

    def job(self, cluster, whose, start, seconds, billing):
        """Inserts an ended job as the controller would have reported it.  With a job, the
        association's row is kept when it is deleted.  `whose` is SQL that finds its association."""
        self.sql(f'{self.LENIENT} INSERT INTO {cluster}_job_table (job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, '
                 'id_group, het_job_id, het_job_offset, cpus_req, nodes_alloc, `partition`, priority, state, state_reason_prev, '
                 f"time_submit, time_eligible, time_start, time_end, tres_alloc) SELECT 'j', id_assoc, {start} % 1000000 + id_assoc, "
                 f"1, 0, 0, 0, 0, 0, 0, 1, 1, 'p', 1, 3, 0, {start}, {start}, {start}, {start + seconds}, "
                 f"'1={billing},5={billing}' FROM {cluster}_assoc_table WHERE {whose}", self.accounting)
