# SPDX-License-Identifier: MIT
"""A slurmctld on a Slurmdbd.  Without a slurmd, jobs are pending, and none starts."""

import contextlib
import os
import re
import shutil
import socket
import struct
import subprocess

import tap
from server import reason_in

SLURMCTLD, SLURMD = (shutil.which(name, path=os.environ['PATH'] + ':/usr/sbin') for name in ('slurmctld', 'slurmd'))

# Lines that are added to the file of slurmdbd's test.  The first line marks the end of the
# original.
CONF = '''
# for slurmctld
ClusterName=mill
SlurmctldPort={port}
SlurmdPort={slurmd}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd.pid
SlurmdLogFile={folder}/slurmd.log
SlurmdSpoolDir={folder}/spool
AccountingStorageEnforce=associations,limits,qos
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
PriorityType=priority/multifactor
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=localhost {node} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=n1 Default=YES MaxTime=60
{more}
'''


def free_port():
    """Returns the port of a socket that was just closed."""
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return found.getsockname()[1]


class Controller:
    """A controller with its state in the folder, for the next controller; `node` describes its node,
    which has `gpus` GPUs, and `parameters` are additional settings of slurm.conf."""

    def __init__(self, server, folder, node='CPUs=8', gpus=0, **parameters):
        self.server, self.folder = server, folder
        with open(server.conf, encoding='ascii') as file:
            text = file.read().replace('ClusterName=unused\n', '').partition('\n# for slurmctld')[0]
        with open(server.conf, 'w', encoding='ascii') as file:
            more = '\n'.join(f'{name}={value}' for name, value in parameters.items())
            file.write(text + CONF.format(folder=folder, port=free_port(), slurmd=free_port(), node=node + f' Gres=gpu:{gpus}' * bool(gpus), more=more))
        for name in ('state', 'spool'):
            os.makedirs(f'{folder}/{name}', exist_ok=True)
        if gpus:
            self.make_gpus(os.path.dirname(server.conf), gpus)
        self.environment = dict(os.environ, SLURM_CONF=server.conf)
        self.release = tuple(map(int, re.findall(r'\d+', self.call(SLURMCTLD, '-V'))[:2]))

    @staticmethod
    def make_gpus(folder, count):
        """Creates a gres.conf with devices that exist on each host."""
        for number in range(count):
            os.symlink('/dev/null', f'{folder}/gpu{number}')
        with open(f'{folder}/gres.conf', 'w', encoding='ascii') as file:
            file.write(f'Name=gpu File={folder}/gpu[0-{count - 1}]\n')

    def call(self, *command):
        return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False).stdout

    def daemon(self, program, err):
        # From 24.11 on, it listens at the address of the host's name, which may not exist.
        return subprocess.Popen(['unshare', '--uts', 'sh', '-c', 'hostname localhost && exec "$0" -D', program],
                                env=self.environment, stdin=subprocess.DEVNULL, stdout=err, stderr=err)

    def __enter__(self):
        with open(f'{self.folder}/err', 'wb') as err:
            self.process = self.daemon(SLURMCTLD, err)
        ended = self.process.poll
        if tap.until(lambda: ended() is not None or ' UP' in self.call('scontrol', 'ping'), every=.2) and ended() is None:
            return self
        self.__exit__()
        said = ''
        for name in ('err', 'slurmctld.log'):
            with open(f'{self.folder}/{name}', encoding='utf-8', errors='replace') as file:
                said += file.read()
        raise RuntimeError('slurmctld does not answer\n' + said[-3000:])

    def __exit__(self, *what):
        self.process.terminate()
        self.process.wait(60)

    @contextlib.contextmanager
    def node(self):
        """Starts the slurmd of the node, so that jobs run."""
        os.chmod(self.folder, 0o755)  # a user's job reads its script in the spool directory
        if self.release >= (23, 11):
            # No job is in a cgroup, but slurmd would need their file system.
            with open(f'{os.path.dirname(self.server.conf)}/cgroup.conf', 'w', encoding='ascii') as file:
                file.write('CgroupPlugin=disabled\n')
        with open(f'{self.folder}/slurmd.err', 'wb') as err:
            process = self.daemon(SLURMD, err)
        try:
            tap.until(lambda: 'idle' in self.call('sinfo', '-h', '-o', '%T') or process.poll() is not None, every=.2)
            if process.poll() is not None:
                raise RuntimeError(f'slurmd does not answer: {reason_in(f"{self.folder}/slurmd.err")}')
            yield
        finally:
            self.call('scancel', '--signal=KILL', '--full', *self.jobs('R'))
            tap.until(lambda: not self.jobs('R,CG'), every=.2)
            process.terminate()
            process.wait(60)

    def jobs(self, states):
        """Returns the numbers of the jobs in these states of squeue."""
        return re.findall(r'^\d+$', self.call('squeue', '-h', '-t', states, '-o', '%A'), re.MULTILINE)

    def submit(self, user, account, *options, script='true'):
        said = self.call('sbatch', f'--uid={user}', f'--gid={user}', '-A', account, '-D', '/', '-o', '/dev/null', *options,
                         f'--wrap={script}')
        number = re.search(r'Submitted batch job (\d+)', said)
        if not number:
            raise RuntimeError(said)
        return number[1]


def packed(text):
    """Returns a string as Slurm packs it; an empty string takes no bytes."""
    data = text.encode() + b'\0' if text else b''
    return struct.pack('>I', len(data)) + data


def leave_usage(folder, usage):
    """Writes the usage that the next controller of this directory reads for each association's own
    usage, by its number.  The file is the one of the last controller, with other records after its
    release and time."""
    path = f'{folder}/state/assoc_usage'
    with open(path, 'rb') as file:
        head = file.read(10)
    with open(path, 'wb') as file:
        file.write(head)
        for number, value in usage.items():
            file.write(struct.pack('>I', number) + packed(f'{value:f}') + packed('') + struct.pack('>I', 0))
