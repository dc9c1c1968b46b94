# SPDX-License-Identifier: MIT
"""A file system that can become full."""

import contextlib
import ctypes
import os
import subprocess

NEWNS = 0x00020000


@contextlib.contextmanager
def small_disk(folder, megabytes):
    """Yields a file system that only this thread and its children see, or None if it cannot be
    created."""
    path = os.path.join(folder, 'small')
    os.mkdir(path)
    mounted = not os.geteuid() and not ctypes.CDLL(None, use_errno=True).unshare(NEWNS)
    if mounted:
        subprocess.run(['mount', '--make-rprivate', '/'], check=False, stderr=subprocess.DEVNULL)
        mounted = not subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={megabytes}m,mode=1777', 'none', path],
                                     check=False, stderr=subprocess.DEVNULL).returncode
    try:
        yield path if mounted else None
    finally:
        if mounted:
            subprocess.run(['umount', path], check=True)


@contextlib.contextmanager
def leave_room(path, left):
    """Leaves this number of bytes free inside the `with` block."""
    filler = os.path.join(path, 'filler')
    room = os.statvfs(path).f_bavail * os.statvfs(path).f_frsize
    with open(filler, 'wb') as file:
        file.write(b'x' * max(0, room - left))
    try:
        yield
    finally:
        os.unlink(filler)
