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
from commands import BUILD, Commands, configured, forget_build, read, version, write

# Files that a checkout lacks and autogen.sh creates.
MADE = ('configure', 'Makefile.in', 'aclocal.m4', 'config.h.in', 'files.am', 'src/report/page/bundled', 'build-aux/ar-lib',
        'build-aux/compile', 'build-aux/depcomp', 'build-aux/install-sh', 'build-aux/missing', 'build-aux/tap-driver.sh')


def release(place, statement, folder, umask):
    """Creates a release under this umask; returns its path."""
    place.works(statement, 'sh', '-c', f'umask {umask}; exec make -s -C "$1" dist', 'sh', BUILD)
    os.mkdir(place.path(folder))
    return shutil.move(f'{BUILD}/fairmill-{version()}.tar.gz', place.path(folder))


def page_of(place, statement, folder, *options):
    """Creates the page from the release."""
    place.works(statement, 'sh', '-c', 'mkdir "$1" && cd "$1" && release=$2 && shift 2 && '
                '"../$release/configure" --disable-dependency-tracking --disable-server-tests "$@" >configure.log 2>&1 && '
                'make -s page.c >make.log 2>&1', 'sh', folder, f'fairmill-{version()}', *options)


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
        page = f'{top}/src/report/page'
        tap.ok(filecmp.cmp(configured('CHART_JS'), f'{page}/bundled/chart.min.js', shallow=False),
               'the release contains Chart.js of this build')
        tap.ok(filecmp.cmp(configured('D3_HIERARCHY_JS'), f'{page}/bundled/d3-hierarchy.min.js', shallow=False), 'the release contains d3-hierarchy')
        for licence in ('MIT', 'BSD 3-Clause', 'ISC'):
            tap.like(read(f'{page}/NOTICES'), f'^{licence} License$', f'the release contains the {licence} License')

        # An archive of a checkout, as forges offer it, has neither .git nor the files that
        # autogen.sh creates.
        archive = shutil.copytree(top, place.path('archive'), symlinks=True)
        place.printed('rm', '-r', *(f'{archive}/{name}' for name in MADE))
        place.works('autogen.sh succeeds in an archive without .git', f'{archive}/autogen.sh')
        tap.same(read(f'{archive}/files.am'), read(f'{top}/files.am'), 'the lists in the archive name the same files')

        page_of(place, 'a build of the release creates the page', 'own')
        tap.like(read(place.path('own/configure.log')), r'for chart\.min\.js\.\.\. .*/bundled/chart\.min\.js$',
                 'the page uses the bundled scripts')
        tap.ok(filecmp.cmp(place.path('own/page.c'), f'{BUILD}/page.c', shallow=False),
               'the page is the same as in this build')
        write(place.path('other.js'), 'var other = 1;\n')
        page_of(place, 'configure accepts another CHART_JS', 'other', f"CHART_JS={place.path('other.js')}")
        tap.ok(','.join(str(byte) for byte in b'var other = 1;') in read(place.path('other/page.c')).replace('\n', ''),
               'the page contains the other script')


if not configured('CHART_JS'):
    tap.not_here('this build has no report')
tap.main(body)
