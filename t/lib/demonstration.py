# SPDX-License-Identifier: MIT
"""Creates the sites of quickstart.sh, and compares the output of commands."""

import os
import subprocess

import tap
from place import NOW
from program import FAIRMILL, TOP

ACCOUNTING, SLURM_CONF = 'demo/accounting.db', 'demo/slurm.conf'


def make_site(folder, kind='slurm'):
    """Makes a site in build/demo below the folder, by the same steps as quickstart.sh."""
    os.mkdir(f'{folder}/build')
    path = os.path.dirname(FAIRMILL) + ':' + os.environ['PATH']
    subprocess.run([f'{TOP}/sql/demo/make.sh', kind, 'build/demo'], cwd=folder, env=os.environ | {'PATH': path}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make(place, now=NOW):
    """Creates the demonstration's accounting database and slurm.conf."""
    os.mkdir(place.path('demo'))
    subprocess.run([os.path.join(TOP, 'sql', 'demo', 'make-demo.py'), place.path(ACCOUNTING), str(now)],
                   check=True, stdout=subprocess.DEVNULL)


def publish(place, now=NOW, keys=None):
    """Publishes the demonstration with these additional settings."""
    make(place, now)
    place.ready(keys={'usage.half_life': None, 'usage.time_zone': 'UTC', 'source.database': place.path(ACCOUNTING),
                      'slurm.conf': place.path(SLURM_CONF)} | (keys or {}))
    place.succeed('ledger', 'credit', '6000h', '--user', 'ines', '--at', now - 2 * 86400, '--why', 'c05 and c06 failed', '--yes')
    place.succeed('run', '--now', now)


def is_wanted_anew():
    """Returns whether to replace the expected output with the current output."""
    return bool(os.environ.get('FAIRMILL_GOLDEN'))


def is_as_known(got, folder, name, statement):
    """The output is t/data/FOLDER/NAME; with FAIRMILL_GOLDEN that file is written first."""
    path = os.path.join(TOP, 't', 'data', folder, name)
    if is_wanted_anew():
        with open(path, 'w', encoding='utf-8') as file:
            file.write(got)
    with open(path, encoding='utf-8') as file:
        tap.same(got, file.read(), statement)
