# SPDX-License-Identifier: MIT
"""A system for installing packages: this host, seen through an overlay that discards all
changes."""

import ctypes
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time

import tap
from commands import TOP, Commands, write

NEWNS = 0x00020000
# The devices that packages use, instead of the host's own /dev.
DEVICES = {'null': (1, 3), 'zero': (1, 5), 'full': (1, 7), 'random': (1, 8), 'urandom': (1, 9), 'tty': (5, 0)}
CLEAN = ('env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive')
SETTINGS = """[source]
driver = sqlite
database = /var/lib/fairmill/accounting.db
[results]
driver = sqlite
database = /var/lib/fairmill/results.db
"""


def of_few(*command):
    """Returns a command that builds a package with its quick tests only, or with few cases in each
    test if FAIRMILL_LONG is set.  The purpose is to see that a package's own tests run, with its
    flags and paths.  Other tests find other errors."""
    quick = [] if os.environ.get('FAIRMILL_LONG') else ['MAKEFLAGS=TESTS=$(QUICK_TESTS)']
    return 'env', '-u', 'FAIRMILL_LONG', *quick, 'FAIRMILL_PAIRS=4', 'FAIRMILL_SITES=1', *command


class OwnSystem:
    """The overlay.  If it cannot be created, the test ends with the results so far; if CI is
    `true`, this is a failure for root."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix='fm-system.', dir='/tmp')
        self.root = f'{self.folder}/root'
        self.place = Commands()
        self.place.folder = '/'
        problem = self.mount()
        if problem:
            os.rmdir(self.folder)
            if os.environ.get('CI') == 'true' and not os.getuid():
                tap.ok(False, 'root can mount an overlay for the installation', problem)
            else:
                tap.diag('not installed: this needs root and an overlay', problem)
            tap.done()
        return self

    def __exit__(self, *_):
        """Unmounts before it removes the folder, and never removes recursively."""
        subprocess.run(['umount', '-R', self.folder], check=False)
        os.rmdir(self.folder)

    def mount(self):
        """Returns the reason of a failure, or ''."""
        if os.getuid():
            return 'not root'
        if ctypes.CDLL(None, use_errno=True).unshare(NEWNS):
            return 'unshare --mount is not permitted'

        def mount(*arguments):
            subprocess.run(['mount', *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        mounted = False
        try:
            mount('--make-rprivate', '/')
            mount('-t', 'tmpfs', 'tmpfs', self.folder)
            mounted = True
            for name in ('upper', 'work', 'root'):
                os.mkdir(f'{self.folder}/{name}')
            mount('-t', 'overlay', '-o', f'lowerdir=/,upperdir={self.folder}/upper,workdir={self.folder}/work', 'overlay', self.root)
            mount('-t', 'proc', 'proc', f'{self.root}/proc')
            self.make_devices(mount)
            mount('-t', 'tmpfs', 'tmpfs', f'{self.root}/run')
            mount('-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', f'{self.root}/tmp')
        except (subprocess.CalledProcessError, OSError) as failed:
            if mounted:
                subprocess.run(['umount', '-R', self.folder], check=False)
            return f"{failed} {getattr(failed, 'stderr', '')}"
        return ''

    def make_devices(self, mount):
        folder = f'{self.root}/dev'
        mount('-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', folder)
        for name, numbers in DEVICES.items():
            os.mknod(f'{folder}/{name}', stat.S_IFCHR | 0o666, os.makedev(*numbers))
            os.chmod(f'{folder}/{name}', 0o666)
        os.symlink('/proc/self/fd', f'{folder}/fd')
        os.mkdir(f'{folder}/shm')
        os.chmod(f'{folder}/shm', 0o1777)

    def path(self, name):
        """Returns the path of a file in the overlay, as seen from outside."""
        return f"{self.root}/{name.lstrip('/')}"

    def inside(self, *command):
        """Returns a command that runs in the overlay as root."""
        return 'chroot', self.root, *CLEAN, *command

    def as_user(self, *command, user='fairmill', home='/var/lib/fairmill'):
        """Returns a command that runs in the overlay as the package's user."""
        return self.inside('setpriv', '--reuid', user, '--regid', user, '--init-groups', 'env', f'HOME={home}', *command)

    # These functions have the interface of commands.Commands.

    def status(self, *command):
        return self.place.command(*command)

    def works(self, statement, *command):
        return self.place.works(statement, *command)

    def works_quietly(self, works, says_nothing, *command):
        self.place.works(works, *command)
        tap.empty(self.place.err, says_nothing)

    def printed(self, *command):
        """Returns the output of a command, whatever its exit status."""
        self.place.command(*command)
        return self.place.out.removesuffix('\n')

    def owner(self, path):
        return self.printed(*self.inside('stat', '-c', '%U:%G %a', path))

    def files(self, *folders, skip='^$'):
        """Returns the files with fairmill's name in these folders, on the system's own file
        system."""
        names = self.printed('find', *(f'{self.root}/{folder}' for folder in folders), '-xdev', '-name', '*fairmill*').splitlines()
        names = (os.path.relpath(name, self.root) for name in names)
        return sorted(name for name in names if not re.search(skip, name))

    def forget_fairmill(self, *more):
        """Removes an installed fairmill of the host from the overlay."""
        self.status(*self.inside('dpkg', '--purge', 'fairmill-mysql', 'fairmill-pgsql', 'fairmill'))
        for path in ('etc/fairmill', 'var/lib/fairmill', *more):
            shutil.rmtree(self.path(path), ignore_errors=True)
        self.status(*self.inside('userdel', 'fairmill'))

    def make_demonstration(self):
        """Creates settings, and the demonstration site in SQLite.  Existing settings keep their
        owner and mode."""
        with Commands() as scratch:
            scratch.printed(f'{TOP}/sql/demo/make-demo.py', scratch.path('accounting.db'), str(int(time.time())))
            shutil.copyfile(scratch.path('accounting.db'), self.path('var/lib/fairmill/accounting.db'))
        os.chmod(self.path('var/lib/fairmill/accounting.db'), 0o644)
        write(self.path('etc/fairmill/fairmill.conf'), SETTINGS)
        self.printed(*self.inside('chown', '-R', 'fairmill:', '/var/lib/fairmill'))

    def shown(self):
        """Returns the number of rows of the demonstration's physics that show prints."""
        return sum('|physics|' in line for line in self.printed(*self.as_user('fairmill', 'show', '--parsable')).splitlines())
