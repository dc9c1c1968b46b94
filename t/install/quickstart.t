#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""quickstart.sh, as README has it, goes from a checkout to answers, and what it proposes works."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from commands import BUILD, TOP, Commands, forget_build, has_text, read
from program import DRIVERS, HAS_REPORT, has_sanitizers

# What is installed stays as it is; drivers are those of this build.
PACKAGES = """
packages_install() {{
    case "$*" in
    *mariadb* | *mysql*) {mysql} ;;
    *libpq*) {pgsql} ;;
    esac
}}
"""


def copied(place):
    """A copy of the sources, in which a build begins."""
    copy = place.path('fairmill')
    os.mkdir(copy)
    place.printed('sh', '-c', "tar -C \"$1\" --exclude=./build --exclude='./build-[!a]*' --exclude=./.git -cf - . | tar -C \"$2\" -xf -",
                  'sh', TOP, copy)
    # A package may be built among its sources, where no other build can begin.
    place.printed('sh', '-c', "rm -f config.status config.cache Makefile && find . -name '*.o' -delete", cwd=copy)
    # A folder of a build may be a release's, whose sources cannot be changed.
    place.printed('chmod', '-R', 'u+w', copy)
    with open(f'{copy}/build-aux/packages.sh', 'a', encoding='utf-8') as file:
        file.write(PACKAGES.format(**{driver: str(driver in DRIVERS).lower() for driver in ('mysql', 'pgsql')}))
    return copy


def typed(place, readme, command):
    """README has it, and it ends well."""
    tap.ok(f'    {command}\n' in readme or f'`{command}`' in readme, f"README has `{command}'")
    place.works(f"`{command}' ends well", 'bash', '-c', command)
    tap.empty((line for line in place.err.splitlines() if not re.match('fairmill: ([a-z]*: |[0-9]+ )', line)), 'and does not complain')
    return place.out


def body():
    forget_build()
    os.environ.update(CC='ccache gcc' if shutil.which('ccache') else 'gcc', CCACHE_DIR=f'{BUILD}/ccache', CCACHE_NOHASHDIR='1')
    with Commands() as scratch:
        place = Commands()
        place.folder = copied(scratch)
        readme = read(place.path('README.md'))
        out = typed(place, readme, './quickstart.sh')
        tap.like(out, '^[0-9]+ jobs of a year, [0-9]+ running, 3[0-9] pending$', 'a year of jobs is made')
        tap.like(out, '^[0-9]+ of [0-9]+ pending jobs would change places', 'other shares change the queue')
        tap.like(out, "^entry 1, demo: credit 21600000 TRES-seconds to user 'ines'", 'what the ledger gives back is there')
        # In a file show has all its columns.
        words = [line for line in out.splitlines() if not re.search('^[$]|^ *[a-z]+ .*[0-9]{6}|FairShare +LevelFS', line)]
        tap.empty((line for line in words if len(line) > 80), 'no line of words or of the queue is wider than a terminal')
        tap.ok(has_text(place.path('build/demo/fairshare.html')), 'the page is there')

        setting = re.search('^    (cd build/demo .*)$', out, re.M)
        tap.ok(setting, 'it says how to ask more')
        question = re.search('^    [$] (fairmill .*)$', readme, re.M)
        tap.ok(question, 'README has a question')
        place.works('which works then', 'bash', '-c', f'set -e; {setting[1]}; {question[1]}')
        tap.like(place.out, 'would rank higher than', 'and is answered')

        tap.like(typed(place, readme, './quickstart.sh pbs'), '^fairshare entity: scott', 'it tells of the jobs of OpenPBS')


if has_sanitizers():
    tap.not_here('another build will do')
if 'sqlite' not in DRIVERS:
    tap.not_here('built without SQLite, which quickstart.sh uses')
if not HAS_REPORT:
    tap.not_here('built without the page, which quickstart.sh makes')
tap.main(body)
