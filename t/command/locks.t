#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the lock file of SQLite results: only users who can write the results may lock it."""

import os
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from program import FAIRMILL

NOBODY = 65534
ROOT = os.geteuid() == 0


def results(place):
    return [place.path(name) for name in sorted(os.listdir(place.folder)) if name.startswith('r.db')]


def lock(place):
    path, = [path for path in results(place) if path.endswith('.lock')]
    return path


def kept(path):
    """Returns (owner, group, mode)."""
    status = os.stat(path)
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


def modes(place):
    """Tests the mode of a new lock file, and of one that an older release left."""
    for of_database, wanted in ((0o644, 0o600), (0o600, 0o600), (0o664, 0o660), (0o666, 0o660)):
        for older in (None, 0o640, 0o644):
            place.ready()
            for path in results(place):
                os.chmod(path, of_database)
            if older:
                place.succeed('run', '--now', NOW)
                os.chmod(lock(place), older)
            place.succeed('run', '--now', NOW + 1)
            tap.same(kept(lock(place))[2], wanted, f'for a database of mode {of_database:o} the lock file has mode {wanted:o}'
                     + (f', instead of {older:o}' if older else ''))


def owners(place):
    """Root made the lock file, and the owner of the results runs after it."""
    somebody = dict(user=NOBODY, group=NOBODY, extra_groups=[], executable=shutil.copy(FAIRMILL, place.path('fairmill')))
    place.ready()
    os.chmod(place.folder, 0o755)
    for path in results(place) + [place.folder]:
        os.chown(path, NOBODY, NOBODY)
    os.chmod(place.path('a.db'), 0o644)
    place.succeed('run', '--now', NOW)
    tap.same(kept(lock(place)), (NOBODY, NOBODY, 0o600), "a lock file that root makes belongs to the database's owner")
    place.ends(0, 'the owner can run after root', 'run', '--now', NOW + 1, **somebody)
    # The state that an older release left.
    os.chown(lock(place), 0, 0)
    os.chmod(lock(place), 0o640)
    place.ends(78, 'a run exits with status 78 if root owns the lock file', 'run', '--now', NOW + 2, **somebody)
    place.says('the error names the lock file and its owner', lock(place), 'it belongs to user 0')
    place.succeed('run', '--now', NOW + 2)
    tap.same(kept(lock(place)), (NOBODY, NOBODY, 0o600), 'a run of root gives the lock file to the owner')
    place.ends(0, 'the owner can run after the lock file was given to them', 'run', '--now', NOW + 3, **somebody)


def traps(place):
    """The owner of the directory has put something else in place of the lock file."""
    place.ready()
    place.succeed('run', '--now', NOW)
    path, precious = lock(place), place.path('precious')
    with open(precious, 'w', encoding='utf-8'):
        pass
    before = kept(precious)
    os.chown(place.path('r.db'), NOBODY, NOBODY)
    os.unlink(path)
    os.symlink(precious, path)
    place.ends(1, 'a symbolic link in place of the lock file is rejected', 'run', '--now', NOW + 1)
    place.says('the error names the symbolic link', path)
    os.unlink(path)
    os.link(precious, path)
    place.run('run', '--now', NOW + 1)
    tap.same(kept(precious), before, 'the owner of a hard-linked file is not changed')


def body():
    with Place() as place:
        modes(place)
        if ROOT:
            owners(place)
            traps(place)
        else:
            tap.diag('only root can make files of other users')


tap.main(body)
