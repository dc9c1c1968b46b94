#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the sessions in README, doc/questions.md and the manual print the output shown.

They are typed in the site that quickstart.sh makes.  Commands without output must succeed.  With
FAIRMILL_GOLDEN in the environment, the pages are updated."""

import glob
import os
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
import terminal
from commands import TOP, Commands
from place import NOW

INDENT = '    '


class Session:
    """An indented block of a page that begins with `$ '.  `first` and `end` are its lines in the
    page."""

    def __init__(self, first, lines):
        self.first, self.end = first, first + len(lines)
        self.shown = ''.join(line.removeprefix(INDENT) for line in lines)

    def __str__(self):
        return self.shown.partition('\n')[0]

    def commands(self):
        """Returns each command with its continuation lines."""
        return re.findall(r'^\$ ((?:.*\\\n)*.*)\n', self.shown, re.M)

    def typed(self, folder, columns):
        """Returns the session as it looks in the folder on a terminal of this width."""
        return ''.join(f'$ {command}\n' + terminal.printed(shell(command), folder, columns, ENVIRONMENT | {'TERM': 'dumb'})
                       for command in self.commands())


def shell(command):
    """Returns the command line of a shell that uses the demonstration."""
    return ['sh', '-c', f'. build/demo/env; {command}']


def blocks(text):
    """Yields (first line, lines) of each indented block, with blank lines between its lines."""
    lines, first = text.splitlines(True), None
    for number, line in enumerate(lines + ['end\n']):
        if line.startswith(INDENT) and first is None:
            first = number
        elif first is not None and line.strip() and not line.startswith(INDENT):
            end = number
            while not lines[end - 1].strip():
                end -= 1
            yield first, lines[first:end]
            first = None


def sessions(text):
    return [Session(first, lines) for first, lines in blocks(text) if lines[0].startswith(INDENT + '$ ')]


def retyped(text, session, shown):
    """Returns the page with new contents of a session."""
    lines = text.splitlines(True)
    lines[session.first:session.end] = [INDENT * bool(line.strip()) + line for line in shown.splitlines(True)]
    return ''.join(lines)


ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith('FAIRMILL')} | dict(LC_ALL='C.UTF-8', USER='chidi')
MANUAL = sorted(os.path.relpath(page, TOP) for page in glob.glob(f'{TOP}/man/*.pod'))
# Pages, and the width of the terminal on which their sessions were typed.  In the manual, 69
# columns fit on a terminal of 80 columns with the margin of the page.
PAGES = (('README.md', 80), ('doc/questions.md', 80), *((page, 69) for page in MANUAL))


def read(name):
    with open(os.path.join(TOP, name), encoding='utf-8') as file:
        return file.read()


def as_shown(place):
    for page, columns in PAGES:
        text = read(page)
        shown = sessions(text)
        for session in reversed(shown):
            typed = session.typed(place.folder, columns).rstrip('\n') + '\n'
            if demonstration.is_wanted_anew():
                text = retyped(text, session, typed)
                session.shown = typed
            tap.same(session.shown, typed, f'{page}: `{session}` prints the output shown')
            tap.ok(all(len(line) <= 80 for line in session.shown.splitlines() if not line.startswith(('sacctmgr', '$ '))),
                   f'{page}: `{session}` fits into 80 columns', session.shown)
        if not page.startswith('man/'):
            tap.ok(shown, f'{page} has sessions of the demonstration')
        if demonstration.is_wanted_anew():
            with open(os.path.join(TOP, page), 'w', encoding='utf-8') as file:
                file.write(text)


def queries(place):
    found = [block for block in commands_of('doc/questions.md') if block.startswith('SELECT')]
    db = sqlite3.connect(place.path('build/demo/results.db'))
    for query in found:
        tap.ok(db.execute(query).fetchall(), f"doc/questions.md: `{' '.join(query.split())[:60]}' has rows")
    db.close()
    tap.ok(len(found) >= 5, 'doc/questions.md has queries')


def commands_of(page):
    """Returns the blocks of a page that show no output."""
    found = (''.join(line.removeprefix(INDENT) for line in lines) for _, lines in blocks(read(page)))
    return [block for block in found if not block.startswith('$ ')]


def without_output(place):
    """Pages also contain commands without their output."""
    questions = commands_of('doc/questions.md')
    tap.empty((block for block in questions if not block.startswith(('fairmill ', 'SELECT'))),
              'doc/questions.md has only commands and queries that this test types')
    commands = [('doc/questions.md', block) for block in questions]
    commands += [(page, block) for page in MANUAL if page.endswith('.1.pod') for block in commands_of(page)]
    commands = [(page, block) for page, block in commands if block.startswith('fairmill ')]
    for page, command in commands:
        run = subprocess.run(shell(f'set -e; {command}'), cwd=place.folder, env=ENVIRONMENT, text=True, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # `report --output` prints nothing, and status 1 means that there is no such row.
        tap.ok(run.returncode < 2 and (run.stdout or 'report' in command), f"{page}: `{' '.join(command.split())}` succeeds", run.stdout)
    tap.ok(len(commands) >= 20, 'the pages have commands without output')


def shells(place):
    for name in ('dash', 'bash', 'zsh'):
        if shutil.which(name):
            run = subprocess.run([name, '-c', '. build/demo/env; fairmill status'], cwd=place.folder, env=ENVIRONMENT, text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            tap.ok(run.returncode == 0 and ' ok ' in run.stdout, f'{name} reads build/demo/env', run.stdout)


def is_a_demonstration(place):
    db = sqlite3.connect(place.path('build/demo/results.db'))
    waiting, held = db.execute('SELECT count(DISTINCT job_db_inx), sum(priority = 0) FROM fairmill_job_priority').fetchone()
    tap.ok(30 <= waiting < 40 and held == 1, '30 to 39 jobs are pending, and one of them is held', waiting, held)
    places = db.execute("SELECT fairshare_factor, age_factor, priority FROM fairmill_job_priority "
                        "WHERE partition_name = 'cpu' AND priority > 0 AND qos = 'normal'").fetchall()
    by_fairshare = [priority for *_, priority in sorted(places)]
    tap.ok(len({row[0] for row in places}) > 8 and by_fairshare == sorted(by_fairshare),
           'fairshare decides the order within a partition and a QOS', sorted(places))
    tap.same(db.execute('SELECT count(*) FROM fairmill_finding').fetchone()[0], 0, 'there are no findings')
    db.close()
    db = sqlite3.connect(place.path('build/demo/accounting.db'))
    first, = db.execute('SELECT min(time_start) FROM demo_job_table WHERE time_start > 0').fetchone()
    db.close()
    tap.ok(363 * 86400 < NOW - first < 367 * 86400, 'jobs cover one year', NOW - first)
    for days in (360, 200, 100, 10, 1):
        run = subprocess.run(shell(f'fairmill run --now now-{days}days --dry-run -v'), cwd=place.folder, env=ENVIRONMENT, text=True,
                             check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        tap.ok(run.returncode == 0 and ('uncertain: 0' in run.stderr or 'associations at this time' not in run.stderr),
               f'{days} days before, all associations are certain', run.stderr)


def body():
    with Commands() as place:
        demonstration.make_site(place.folder)
        is_a_demonstration(place)
        shells(place)
        as_shown(place)
        queries(place)
        without_output(place)


tap.main(body)
