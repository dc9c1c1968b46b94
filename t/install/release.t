#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: packages
"""A release is the same bytes whoever makes it, and holds all that a build needs but libraries."""

import filecmp
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, Commands, configured, forget_build, read, version, write

# What a checkout has not, but autogen.sh makes.
MADE = ('configure', 'Makefile.in', 'aclocal.m4', 'config.h.in', 'files.am', 'src/report/page/bundled', 'build-aux/ar-lib',
        'build-aux/compile', 'build-aux/depcomp', 'build-aux/install-sh', 'build-aux/missing', 'build-aux/tap-driver.sh')


def release(place, statement, folder, umask):
    """The path of a release that is made under this umask."""
    place.works(statement, 'sh', '-c', f'umask {umask}; exec make -s -C "$1" dist', 'sh', BUILD)
    os.mkdir(place.path(folder))
    return shutil.move(f'{BUILD}/fairmill-{version()}.tar.gz', place.path(folder))


def page_of(place, statement, folder, *options):
    """A page made from the release."""
    place.works(statement, 'sh', '-c', 'mkdir "$1" && cd "$1" && release=$2 && shift 2 && '
                '"../$release/configure" --disable-dependency-tracking --disable-server-tests "$@" >configure.log 2>&1 && '
                'make -s page.c >make.log 2>&1', 'sh', folder, f'fairmill-{version()}', *options)


def body():
    forget_build()
    with Commands() as place:
        first = release(place, 'a release is made', 'first', '022')
        made = int(time.time())
        tap.until(lambda: int(time.time()) > made)
        second = release(place, 'another one is made later, under another umask', 'second', '027')
        tap.ok(filecmp.cmp(first, second, shallow=False), 'they are the same, bit for bit')

        place.printed('tar', 'xzf', first)
        top = place.path(f'fairmill-{version()}')
        page = f'{top}/src/report/page'
        tap.ok(filecmp.cmp(configured('CHART_JS'), f'{page}/bundled/chart.min.js', shallow=False),
               'it holds Chart.js as this build has it')
        tap.ok(filecmp.cmp(configured('D3_HIERARCHY_JS'), f'{page}/bundled/d3-hierarchy.min.js', shallow=False), 'and d3-hierarchy')
        for licence in ('MIT', 'BSD 3-Clause', 'ISC'):
            tap.like(read(f'{page}/NOTICES'), f'^{licence} License$', f'and the {licence} License')

        # An archive of a checkout, as forges offer it, has neither .git nor what autogen.sh makes.
        archive = shutil.copytree(top, place.path('archive'), symlinks=True)
        place.printed('rm', '-r', *(f'{archive}/{name}' for name in MADE))
        place.works('autogen.sh succeeds in an archive without .git', f'{archive}/autogen.sh')
        tap.same(read(f'{archive}/files.am'), read(f'{top}/files.am'), 'and its lists name the same files')

        page_of(place, 'a build of it makes the page', 'own')
        tap.like(read(place.path('own/configure.log')), r'for chart\.min\.js\.\.\. .*/bundled/chart\.min\.js$', 'of its own scripts')
        tap.ok(filecmp.cmp(place.path('own/page.c'), f'{BUILD}/page.c', shallow=False), 'which is that of this build')
        write(place.path('other.js'), 'var other = 1;\n')
        page_of(place, 'CHART_JS comes before them', 'other', f"CHART_JS={place.path('other.js')}")
        tap.ok(','.join(str(byte) for byte in b'var other = 1;') in read(place.path('other/page.c')).replace('\n', ''),
               'for the page, too')


if not configured('CHART_JS'):
    tap.not_here('built without the page')
tap.main(body)
