#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Tests that quickstart.sh works as README describes, from a checkout to query results, and that
the commands that it suggests work."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, forget_build, has_text, read
from program import DRIVERS, has_sanitizers

# Installed packages are not changed, and the drivers are the same as in this build.
PACKAGES = """
packages_install() {{
    case "$*" in
    *mariadb* | *mysql*) {mysql} ;;
    *libpq*) {pgsql} ;;
    esac
}}
"""


def copied(place):
    """Copies the sources for a new build."""
    copy = place.path('fairmill')
    os.mkdir(copy)
    place.printed('sh', '-c', "tar -C \"$1\" --exclude=./build --exclude='./build-[!a]*' --exclude=./.git -cf - . | tar -C \"$2\" -xf -",
                  'sh', TOP, copy)
    # A package may be built inside its sources, which prevents another build.
    place.printed('sh', '-c', "rm -f config.status config.cache Makefile && find . -name '*.o' -delete", cwd=copy)
    # The sources may come from a release, in which files are read-only.
    place.printed('chmod', '-R', 'u+w', copy)
    with open(f'{copy}/build-aux/packages.sh', 'a', encoding='utf-8') as file:
        file.write(PACKAGES.format(**{driver: str(driver in DRIVERS).lower() for driver in ('mysql', 'pgsql')}))
    return copy


def typed(place, readme, command):
    """Runs a command that README contains, which must succeed."""
    tap.ok(f'    {command}\n' in readme or f'`{command}`' in readme, f"README contains `{command}'")
    place.works(f"`{command}' succeeds", 'bash', '-c', command)
    tap.empty((line for line in place.err.splitlines() if not re.match('fairmill: ([a-z]*: |[0-9]+ )', line)),
              'the command prints no error')
    return place.out


def answers(place, readme):
    """The session in README prints what it shows, in a shell that has read the file `env`."""
    session, = re.findall(r'^    \$ .*\n(?:(?:    .*)?\n)+', readme, re.M)
    command, _, shown = re.sub('^    ', '', session, flags=re.M).strip().removeprefix('$ ').partition('\n')
    tap.ok('    . build/demo/env\n' in readme, 'README names the file to read')
    place.works(f"`{command}' succeeds", 'bash', '-c', f'set -e\n. build/demo/env\n{command}')
    tap.same(place.out.strip(), shown, f"`{command}' prints the output that README shows")


def body():
    forget_build()
    os.environ.update(CC='ccache gcc' if shutil.which('ccache') else 'gcc', CCACHE_DIR=f'{BUILD}/ccache', CCACHE_NOHASHDIR='1')
    with Commands() as scratch:
        place = Commands()
        place.folder = copied(scratch)
        readme = read(place.path('README.md'))
        out = typed(place, readme, './quickstart.sh')
        tap.like(out, '^[0-9]+ jobs of a year, [0-9]+ running, 3[0-9] pending$', 'a year of jobs is created')
        tap.ok(has_text(place.path('build/demo/fairshare.html')), 'the report page is written')
        answers(place, readme)

        out = typed(place, readme, './quickstart.sh pbs')
        place.works('fairmill answers for OpenPBS', 'bash', '-c', '. build/demo-pbs/env; fairmill show --pbs scott')
        tap.like(place.out, '^fairshare entity: scott', 'the site of OpenPBS has the entities of its resource_group')

        place.works('quickstart.sh makes a site with a given number of users', './quickstart.sh', 'site', '60')
        place.works('fairmill answers for both clusters', 'bash', '-c', '. build/demo-site/env; fairmill status --csv -o cluster,findings,health')
        tap.same(place.out, 'cluster,findings,health\nalder,0,ok\nbirch,0,ok\n', 'both clusters have current results and no findings')
        tap.ok(has_text(place.path('build/demo-site/fairshare.html')), 'the page of the site is written')
        for wrong in (['site', 'many'], ['pbs', '60'], ['plain']):
            place.command_ends(64, f"quickstart.sh rejects `{' '.join(wrong)}'", './quickstart.sh', *wrong)


if has_sanitizers():
    tap.not_here('another build is sufficient')
if 'sqlite' not in DRIVERS:
    tap.not_here('built without SQLite, which quickstart.sh uses')
tap.main(body)
