#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Who may hold the lock of results in SQLite: whoever may write them, and nobody else."""

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
    """(owner, group, mode)"""
    status = os.stat(path)
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


def modes(place):
    """Of the lock that a run makes, and of one that an older release has left."""
    for of_database, wanted in ((0o644, 0o600), (0o600, 0o600), (0o664, 0o660), (0o666, 0o660)):
        for older in (None, 0o640, 0o644):
            place.ready()
            for path in results(place):
                os.chmod(path, of_database)
            if older:
                place.succeed('run', '--now', NOW)
                os.chmod(lock(place), older)
            place.succeed('run', '--now', NOW + 1)
            tap.same(kept(lock(place))[2], wanted, f'beside a database of mode {of_database:o} the lock has mode {wanted:o}'
                     + (f', which had {older:o}' if older else ''))


def owners(place):
    """Root made the results' lock; who owns the results runs after it."""
    somebody = dict(user=NOBODY, group=NOBODY, extra_groups=[], executable=shutil.copy(FAIRMILL, place.path('fairmill')))
    place.ready()
    os.chmod(place.folder, 0o755)
    for path in results(place) + [place.folder]:
        os.chown(path, NOBODY, NOBODY)
    os.chmod(place.path('a.db'), 0o644)
    place.succeed('run', '--now', NOW)
    tap.same(kept(lock(place)), (NOBODY, NOBODY, 0o600), "a lock that root makes belongs to the database's owner")
    place.ends(0, "who runs after root, as cron does", 'run', '--now', NOW + 1, **somebody)
    # As an older release left it.
    os.chown(lock(place), 0, 0)
    os.chmod(lock(place), 0o640)
    place.ends(78, "a lock of root's may not be opened by others", 'run', '--now', NOW + 2, **somebody)
    place.says('which says whose it is', lock(place), 'it belongs to user 0')
    place.succeed('run', '--now', NOW + 2)
    tap.same(kept(lock(place)), (NOBODY, NOBODY, 0o600), "root's next run gives it to the owner")
    place.ends(0, 'who can run again', 'run', '--now', NOW + 3, **somebody)


def traps(place):
    """The owner of the folder has put something else where the lock is to be."""
    place.ready()
    place.succeed('run', '--now', NOW)
    path, precious = lock(place), place.path('precious')
    with open(precious, 'w', encoding='utf-8'):
        pass
    before = kept(precious)
    os.chown(place.path('r.db'), NOBODY, NOBODY)
    os.unlink(path)
    os.symlink(precious, path)
    place.ends(1, 'a symbolic link is no lock', 'run', '--now', NOW + 1)
    place.says('and is named', path)
    os.unlink(path)
    os.link(precious, path)
    place.run('run', '--now', NOW + 1)
    tap.same(kept(precious), before, 'a file that has other names is given to nobody')


def body():
    with Place() as place:
        modes(place)
        if ROOT:
            owners(place)
            traps(place)
        else:
            tap.diag('only root can make what is somebody else\'s')


tap.main(body)
