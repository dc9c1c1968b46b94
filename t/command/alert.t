#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that a temporary failure is printed only after it has lasted for [report] alert_after."""

import fcntl
import os
import pty
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, SMALL, Place

ROOT = os.geteuid() == 0
HOUR = 3600


class Mail(Place):
    """A place in which output of a run would be mailed.  state/ is the state directory."""

    def __init__(self):
        self.now = NOW
        self.environment = {}

    def prepare(self, drawing=SMALL, keys=None):
        os.mkdir(self.path('state'), 0o700)
        self.environment = {k: v for k, v in os.environ.items()
                            if k not in ('FAIRMILL_CONF', 'XDG_RUNTIME_DIR', 'TMPDIR')}
        self.environment['STATE_DIRECTORY'] = self.path('state')
        self.ready(drawing, {'report.alert_after': None, 'source.deadline': '1 s', **(keys or {})})

    def go(self, *options):
        """Runs once and returns the exit status and whether anything would be mailed."""
        self.now += 1
        status = self.run('run', '--now', self.now, *options, env=self.environment)
        return status, bool(self.out + self.err)

    def expect(self, status, printed, statement, *options):
        return tap.ok(self.go(*options) == (status, printed), statement, self.out, self.err)

    def away(self):
        os.rename(self.path('a.db'), self.path('away.db'))

    def back(self):
        os.rename(self.path('away.db'), self.path('a.db'))

    def files(self, folder='state'):
        return sorted(name for name in os.listdir(self.path(folder)) if not name.startswith('unrecorded-'))

    def remembered(self, folder='state'):
        name, = self.files(folder)
        return self.path(os.path.join(folder, name))

    def began(self, seconds_ago, folder='state'):
        """Changes the remembered start of the failure to `seconds_ago` and returns that time as
        text."""
        since = int(time.time()) - seconds_ago
        with open(self.remembered(folder), 'w', encoding='ascii') as file:
            file.write(f'{since}\n')
        return time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(since))


def unavailable(place):
    place.prepare()
    place.expect(0, False, 'a successful run prints nothing')
    tap.same(place.files(), [], 'a successful run remembers nothing')
    place.away()
    place.expect(69, False, 'the first failure to reach a database is not printed')
    tap.ok(re.fullmatch('failing-since-[0-9a-f]{16}', os.path.basename(place.remembered())),
           'the start of the failure is remembered', place.files())
    tap.same(os.stat(place.remembered()).st_mode & 0o777, 0o600, 'only the owner can read the file with the start')
    place.expect(69, False, 'the next failed run prints nothing')
    place.began(HOUR - 60)
    place.expect(69, False, 'a failed run prints nothing before an hour has passed')
    date = place.began(HOUR)
    place.expect(69, True, 'a failure that has lasted an hour is printed')
    place.says('the error names the database and the start of the failure', 'a.db',
               f'failing since {date}\n')
    place.expect(69, True, 'the next failed run prints the failure, too')
    place.back()
    place.expect(0, False, 'a run that succeeds again prints nothing')
    tap.same(place.files(), [], 'a run that succeeds again forgets the start of the failure')
    place.away()
    place.expect(69, False, 'the first failure after a success is not printed')
    place.back()


def settings(place):
    place.prepare(keys={'report.alert_after': '2 m'})
    place.away()
    place.expect(69, False, 'a shorter alert_after is accepted')
    place.began(60)
    place.expect(69, False, 'nothing is printed before alert_after has passed')
    place.began(120)
    place.expect(69, True, 'the failure is printed after alert_after has passed')
    place.settings({'report.alert_after': '0', 'source.deadline': '1 s'})
    os.unlink(place.remembered())
    place.expect(69, True, 'with alert_after = 0 a failure is printed at once')
    tap.ok('since' not in place.err, 'the error of a first failure has no start time', place.err)
    tap.same(place.files(), [], 'with alert_after = 0 nothing is remembered')


def by_request(place):
    """A failure is printed at once if the user asks for it or uses a terminal."""
    place.prepare()
    place.away()
    place.expect(69, True, 'with -v a failure is printed at once', '-v')
    tap.ok('since' not in place.err, 'with -v the error of a first failure has no start time', place.err)
    date = place.began(60)
    place.expect(69, True, 'with -v a later failure is printed, too', '-v')
    place.says('with -v the error names the start of the failure', date)
    main, terminal = pty.openpty()
    process = place.start('run', env=place.environment)
    process.communicate()
    tap.same(process.returncode, 69, 'a failed run without a terminal exits with status 69')
    process = place.start('run', env=place.environment, preexec_fn=lambda: os.dup2(terminal, 2))
    process.communicate()
    os.close(terminal)
    said = os.read(main, 65536)
    os.close(main)
    tap.ok(process.returncode == 69 and b'a.db' in said, 'a failure is printed at once on a terminal', said)
    os.unlink(place.remembered())
    place.expect(69, True, 'a dry run prints a failure at once', '--dry-run')
    tap.same(place.files(), [], 'a dry run remembers nothing')


def locked(place):
    place.prepare(SMALL + 'cluster other\nroot/\n  x use 1\n')
    place.expect(0, False, 'a run of two clusters succeeds')
    lock = min(name for name in os.listdir(place.folder) if name.endswith('.lock'))
    with open(place.path(lock), 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place.expect(75, False, 'the first failure because of a running run is not printed')
        tap.same(len(place.query('SELECT DISTINCT cluster FROM fairmill_fairshare WHERE computed_at = ?',
                                 place.now)), 1, 'the other cluster is computed while one is locked')
        place.began(HOUR)
        place.expect(75, True, 'a lock that has lasted an hour is printed')
        place.says('the error says that another run is in progress', 'another run of this cluster is in progress')
        place.away()
        place.expect(69, True, 'a different failure that follows directly counts as the same period')
        place.back()
    place.expect(0, False, 'a run prints nothing once the lock is free')
    tap.same(place.files(), [], 'a run remembers nothing once the lock is free')


BROKEN = 'cluster broken\nroot/\n  x use 1\n'


def permanent_failures(place):
    """A failure that needs an administrator is printed at once."""
    place.prepare(SMALL + BROKEN)
    place.change("UPDATE broken_assoc_table SET parent_acct = 'nobody', id_parent = 99 WHERE id_assoc > 1")
    place.change("UPDATE broken_assoc_table SET acct = 'lost' WHERE id_assoc > 1")
    place.expect(65, True, 'a failure because of bad rows is printed at once')
    tap.same(place.files(), [], 'a failure because of bad rows is not remembered')
    place.away()
    place.expect(69, False, 'a missing database is not printed after bad rows were')
    place.began(HOUR - 60)
    place.back()
    place.expect(65, True, 'a second failure because of bad rows is printed')
    tap.same(place.files(), [], 'a failure because of bad rows ends the period without a database')
    locks = {name for name in os.listdir(place.folder) if name.endswith('.lock')}
    held = [open(place.path(name), 'r+b') for name in locks]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_EX)
    place.expect(75, False, 'a lock on both clusters is not printed at first')
    for file in held:
        file.close()
    place.began(60)
    place.settings({'report.alert_after': None, 'source.driver': 'nonsense'})
    place.expect(78, True, 'a failure because of bad settings is printed at once')
    tap.same(len(place.files()), 1, 'a failure because of bad settings does not end the period')
    os.unlink(place.remembered())
    place.expect(78, True, 'each failure because of bad settings is printed')
    tap.same(place.files(), [], 'a failure because of bad settings begins no period')


def mixed(place):
    """Two clusters fail in different ways."""
    place.prepare(SMALL + BROKEN)
    place.expect(0, False, 'a run of both clusters succeeds')
    locks = [name for name in os.listdir(place.folder) if name.endswith('.lock')]
    for name in locks:
        with open(place.path(name), 'r+b') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            place.change("UPDATE broken_assoc_table SET parent_acct = 'nobody', acct = 'lost', id_parent = 99 WHERE id_assoc > 1")
            status, printed = place.go()
            if "cluster 'broken'" in place.err:
                tap.ok(printed and status == 65 and 'tiny' not in place.err,
                       'of two failures, only the permanent one is printed', status, place.err)
                tap.same(len(place.files()), 1, 'of two failures, the temporary one is remembered')
                return
    tap.ok(False, 'one of the two locks belongs to the valid cluster', locks)


def clusters(place):
    place.prepare(SMALL + BROKEN)
    lock = {}
    for name in ('tiny', 'broken'):
        before = set(os.listdir(place.folder))
        place.expect(0, False, f'a run of cluster {name} alone succeeds', '--cluster', name)
        lock[name], = [n for n in set(os.listdir(place.folder)) - before if n.endswith('.lock')]
    with open(place.path(lock['broken']), 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place.expect(75, False, 'a run of the locked cluster prints no first failure', '--cluster', 'broken')
        place.expect(0, False, 'a run of the other cluster succeeds', '--cluster', 'tiny')
        tap.same(len(place.files()), 1, "a success of one cluster does not end the other's period")
        place.began(HOUR)
        place.expect(75, True, "the locked cluster's failure is printed after an hour", '--cluster', 'broken')


def clock(place):
    place.prepare()
    place.away()
    place.expect(69, False, 'the first failure begins a period')
    place.began(-86400)
    place.expect(69, False, 'a start in the future is replaced by the current time')
    with open(place.remembered(), encoding='ascii') as file:
        since = int(file.read())
    tap.ok(abs(since - time.time()) < 60, 'the remembered start is the current time after the clock went back', since)
    for text in ('', 'soon\n', '12', '-', f'{2 ** 70}\n', f'{int(time.time())} x\n', '0' * 500):
        with open(place.remembered(), 'w', encoding='ascii') as file:
            file.write(text)
        place.expect(69, False, f'a start file that contains {text[:24]!r} is replaced')
        with open(place.remembered(), encoding='ascii') as file:
            tap.ok(re.fullmatch(r'1\d{9}\n', file.read()), f'a replaced start file is valid (instead of {text[:24]!r})')


def folders(place):
    place.prepare()
    place.away()
    own = f'fairmill-{os.geteuid()}'
    place.environment['STATE_DIRECTORY'] = f"{place.path('state')}:/nonexistent"
    place.expect(69, False, 'with several state directories the first failure is not printed')
    tap.same(len(place.files()), 1, 'the first of several state directories contains the file')
    for variable in ('XDG_RUNTIME_DIR', 'TMPDIR'):
        os.mkdir(place.path(variable))
        os.chmod(place.path(variable), 0o1777)
        place.environment = {k: v for k, v in place.environment.items()
                             if k not in ('STATE_DIRECTORY', 'XDG_RUNTIME_DIR')}
        place.environment[variable] = place.path(variable)
        place.expect(69, False, f'without a state directory {variable} is used')
        folder = place.path(os.path.join(variable, own))
        tap.ok(os.path.isdir(folder) and os.stat(folder).st_mode & 0o7777 == 0o755,
               f'fairmill creates its own directory in {variable}', os.listdir(place.path(variable)))
        place.began(HOUR, os.path.join(variable, own))
        place.expect(69, True, f'a run finds the start of the failure in {variable}')
    place.back()
    place.expect(0, False, 'a run succeeds after the database is back')
    tap.same(place.files(os.path.join('TMPDIR', own)), [], 'a run that succeeds removes the file in TMPDIR')
    os.rmdir(place.path(os.path.join('TMPDIR', own)))
    place.expect(0, False, 'another run succeeds without the directory in TMPDIR')
    tap.same(place.files('TMPDIR'), [], 'a run that succeeds creates no directory in TMPDIR')
    place.away()
    for wrong in ('/nonexistent/folder', 'relative'):
        place.environment['TMPDIR'] = wrong
        place.expect(69, True, f'a failure is printed at once if {wrong} cannot store its start')
    tap.ok('since' not in place.err, 'the error has no start time if no start can be stored', place.err)


def strangers(place):
    """Files, links and pipes that another user may have put in place of fairmill's."""
    place.prepare()
    place.away()
    own = place.path(os.path.join('TMPDIR', f'fairmill-{os.geteuid()}'))
    place.expect(69, False, 'the first failure of a safe directory is not printed')
    name = os.path.basename(place.remembered())
    victim = place.path('victim')
    os.mkdir(place.path('elsewhere'), 0o700)
    del place.environment['STATE_DIRECTORY']
    os.mkdir(place.path('TMPDIR'))
    os.chmod(place.path('TMPDIR'), 0o1777)
    place.environment['TMPDIR'] = place.path('TMPDIR')

    def refused(what, make, undo=None):
        with open(victim, 'w', encoding='ascii') as file:
            file.write('precious\n')
        make()
        place.expect(69, True, f'{what} is not used')
        with open(victim, encoding='ascii') as file:
            tap.same(file.read(), 'precious\n', f'{what} does not damage other files')
        tap.same(place.files('elsewhere'), [], f'nothing is written elsewhere ({what})')
        place.back()
        place.expect(0, False, f'a run that succeeds ignores {what}')
        place.away()
        if undo:
            undo()
        if os.path.islink(own):
            os.unlink(own)
        elif os.path.isdir(own):
            for entry in os.listdir(own):
                os.unlink(os.path.join(own, entry))
            os.rmdir(own)
        elif os.path.exists(own):
            os.unlink(own)

    refused('a link in place of the directory', lambda: os.symlink(place.path('elsewhere'), own))
    refused('a file in place of the directory', lambda: os.close(os.open(own, os.O_CREAT)))
    refused('a pipe in place of the directory', lambda: os.mkfifo(own))

    def open_to_others():
        os.mkdir(own)
        os.chmod(own, 0o777)
    refused('a directory that others may write', open_to_others)

    def within(make):
        os.mkdir(own, 0o700)
        make(os.path.join(own, name))
    refused('a link in place of the start file', lambda: within(lambda at: os.symlink(victim, at)))
    refused('a second hard link to a file', lambda: within(lambda at: os.link(victim, at)))
    refused('a pipe in place of the start file', lambda: within(os.mkfifo))

    def writable(at):
        os.close(os.open(at, os.O_CREAT))
        os.chmod(at, 0o666)
    refused('a start file that others may write', lambda: within(writable))
    if not ROOT:
        tap.diag('tests with files of other users need root')
        return

    def foreign_folder():
        os.mkdir(own, 0o700)
        os.chown(own, 65534, 65534)
    refused("another user's directory", foreign_folder)

    def foreign_file(at):
        with open(at, 'w', encoding='ascii') as file:
            file.write(f'{int(time.time())}\n')
        os.chown(at, 65534, 65534)
    refused("another user's start file", lambda: within(foreign_file))


def body():
    for part in (unavailable, settings, by_request, locked, permanent_failures, mixed, clusters, clock, folders,
                 strangers):
        with Mail() as place:
            part(place)


tap.main(body)
