#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the sessions in README, doc/questions.md and the manual print the output shown.

Commands without output must succeed.  With FAIRMILL_GOLDEN in the environment, the pages are
updated."""

import calendar
import glob
import os
import subprocess
import re
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
import terminal
from place import NOW, Place
from program import FAIRMILL, TOP

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

    def typed(self, folder, columns=None, **environment):
        """Returns the session as it looks in the folder; on a terminal if `columns` is given."""
        shown = ''
        for command in self.commands():
            run = printed_on_terminal if columns else printed
            shown += f'$ {command}\n' + run(command, folder, columns, os.environ | environment)
        return shown


def printed(command, folder, _, environment):
    return terminal.without_age(
        subprocess.run(['sh', '-c', command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout)


def printed_on_terminal(command, folder, columns, environment):
    return terminal.printed(['sh', '-c', command], folder, columns, environment | {'TERM': 'dumb'})


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


MANUAL = sorted(os.path.relpath(page, TOP) for page in glob.glob(f'{TOP}/man/*.pod'))
# Pages, and the width of the terminal on which their sessions were typed.  In the manual, 69
# columns fit on a terminal of 80 columns with the margin of the page.
PAGES = (('README.md', None), ('doc/questions.md', None), *((page, 69) for page in MANUAL))
# Commands that read the clock get the time of the demonstration.
ON_PATH = '''#!/bin/sh
case $1 in
run | forecast | ledger) command=$1; shift; set -- "$command" --now {now} "$@" ;;
esac
exec '{program}' "$@"
'''


def read(name):
    with open(os.path.join(TOP, name), encoding='utf-8') as file:
        return file.read()


def shell_of(place, now=NOW):
    """The environment of a user who has the demonstration's settings and fairmill in the path."""
    os.mkdir(place.path('bin'))
    with open(place.path('bin/fairmill'), 'w', encoding='utf-8') as file:
        file.write(ON_PATH.format(now=now, program=FAIRMILL))
    os.chmod(place.path('bin/fairmill'), 0o755)
    return dict(PATH=place.path('bin') + ':' + os.environ['PATH'], FAIRMILL_CONF=place.path('fm.conf'),
                LC_ALL='C.UTF-8', USER='chidi')


def as_shown(place, shell):
    for page, columns in PAGES:
        text = read(page)
        shown = sessions(text)
        for session in reversed(shown):
            typed = session.typed(place.folder, columns, **shell).rstrip('\n') + '\n'
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
    found = [''.join(lines) for _, lines in blocks(read('doc/questions.md')) if lines[0].strip().startswith('SELECT')]
    db = sqlite3.connect(place.path('r.db'))
    for query in found:
        tap.ok(db.execute(query).fetchall(), f"doc/questions.md: `{' '.join(query.split())[:60]}' has rows")
    db.close()
    tap.ok(len(found) >= 5, 'doc/questions.md has queries')


def for_users(place, shell):
    """The pages for users also contain commands without their output."""
    commands = [(page, ''.join(line.removeprefix(INDENT) for line in lines))
                for page in MANUAL if page.endswith('.1.pod')
                for _, lines in blocks(read(page)) if lines[0].startswith(f'{INDENT}fairmill ')]
    for page, command in commands:
        run = subprocess.run(['sh', '-c', command], cwd=place.folder, env=os.environ | shell, text=True, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # `status` exits with 1 or 2, because the results of the demonstration are old.
        tap.ok(run.returncode < 3 and run.stdout, f"{page}: `{' '.join(command.split())}` succeeds", run.stdout)
    tap.ok(len(commands) >= 20, 'the pages for users have commands')


def at_other_times():
    """The demonstration has the same properties at any time of the year and of the day."""
    for text in ('2024-08-16T04:00', '2025-01-01T12:00', '2025-03-31T23:30'):
        now = calendar.timegm(time.strptime(text, '%Y-%m-%dT%H:%M'))
        with Place() as place:
            demonstration.publish(place, now)
            is_a_demonstration(place, text, now)
            questions_can_be_typed(place, text, shell_of(place, now))


def questions_can_be_typed(place, when, shell):
    for session in sessions(read('doc/questions.md')):
        for command in session.commands():
            run = subprocess.run(['sh', '-c', command], cwd=place.folder, env=os.environ | shell, text=True, check=False,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            tap.ok(run.returncode == 0 and run.stdout, f"{when}: doc/questions.md: `{' '.join(command.split())}` succeeds", run.stdout)


def is_a_demonstration(place, when, now):
    waiting, = place.query('SELECT count(DISTINCT job_db_inx) FROM fairmill_job_priority')[0]
    held, = place.query('SELECT count(*) FROM fairmill_job_priority WHERE priority = 0')[0]
    tap.ok(30 <= waiting < 40 and held == 1, f'{when}: 30 to 39 jobs are pending, and one of them is held', waiting, held)
    places = place.query("SELECT fairshare_factor, age_factor, priority FROM fairmill_job_priority "
                         "WHERE partition_name = 'cpu' AND priority > 0 AND qos = 'normal'")
    by_fairshare = [priority for *_, priority in sorted(places)]
    tap.ok(len({row[0] for row in places}) > 8 and by_fairshare == sorted(by_fairshare),
           f'{when}: fairshare decides the order within a partition and a QOS', sorted(places))
    tap.same(place.query('SELECT count(*) FROM fairmill_finding')[0][0], 0, f'{when}: there are no findings')
    db = sqlite3.connect(place.path(demonstration.ACCOUNTING))
    changed, = db.execute('SELECT timestamp FROM txn_table WHERE action = 1429').fetchone()
    first, = db.execute('SELECT min(time_start) FROM demo_job_table WHERE time_start > 0').fetchone()
    db.close()
    tap.ok(time.gmtime(changed).tm_mon in (3, 4, 5) and first < changed < now - 30 * 86400, f'{when}: shares changed in spring')
    tap.ok(363 * 86400 < now - first < 367 * 86400, f'{when}: jobs cover one year', now - first)
    for days in (360, 200, 100, 10, 1):
        place.succeed('run', '--now', now - days * 86400, '--dry-run', '-v')
        tap.ok('uncertain: 0' in place.err or 'associations at this time' not in place.err,
               f'{when}: {days} days before, all associations are certain', place.err)


def body():
    with Place() as place:
        demonstration.publish(place, keys={'retention.history_days': 36500})
        place.succeed('backfill', '--until', NOW)
        shell = shell_of(place)
        as_shown(place, shell)
        queries(place)
        for_users(place, shell)
    at_other_times()


tap.main(body)
