#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: packages
"""Tests that a release is reproducible byte for byte, and contains everything for a build except
libraries."""

import filecmp
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, Commands, forget_build, read, version

# Files that a checkout lacks and autogen.sh creates.
MADE = ('configure', 'Makefile.in', 'aclocal.m4', 'config.h.in', 'files.am', 'build-aux/ar-lib',
        'build-aux/compile', 'build-aux/depcomp', 'build-aux/install-sh', 'build-aux/missing', 'build-aux/tap-driver.sh')


def release(place, statement, folder, umask):
    """Creates a release under this umask; returns its path."""
    place.works(statement, 'sh', '-c', f'umask {umask}; exec make -s -C "$1" dist', 'sh', BUILD)
    os.mkdir(place.path(folder))
    return shutil.move(f'{BUILD}/fairmill-{version()}.tar.gz', place.path(folder))


def page_of(place, statement, folder):
    """Creates the page from the release."""
    place.works(statement, 'sh', '-c', 'mkdir "$1" && cd "$1" && '
                '"../$2/configure" --disable-dependency-tracking --disable-server-tests >configure.log 2>&1 && '
                'make -s page.c >make.log 2>&1', 'sh', folder, f'fairmill-{version()}')


def body():
    forget_build()
    with Commands() as place:
        first = release(place, 'a release is created', 'first', '022')
        made = int(time.time())
        tap.until(lambda: int(time.time()) > made)
        second = release(place, 'a second release is created later under another umask', 'second', '027')
        tap.ok(filecmp.cmp(first, second, shallow=False), 'both releases are equal bit for bit')

        place.printed('tar', 'xzf', first)
        top = place.path(f'fairmill-{version()}')

        # An archive of a checkout, as forges offer it, has neither .git nor the files that
        # autogen.sh creates.
        archive = shutil.copytree(top, place.path('archive'), symlinks=True)
        place.printed('rm', '-r', *(f'{archive}/{name}' for name in MADE))
        place.works('autogen.sh succeeds in an archive without .git', f'{archive}/autogen.sh')
        tap.same(read(f'{archive}/files.am'), read(f'{top}/files.am'), 'the lists in the archive name the same files')

        page_of(place, 'a build of the release creates the page', 'own')
        tap.ok(filecmp.cmp(place.path('own/page.c'), f'{BUILD}/page.c', shallow=False),
               'the page is the same as in this build')


tap.main(body)
