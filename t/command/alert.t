#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What passes by itself is printed only once it has lasted [report] alert_after."""

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
    """A place where what is printed would be mailed; state/ is for us to remember in."""

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
        """One run; its exit status and whether it would be mailed."""
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
        """As if the spell had begun then."""
        since = int(time.time()) - seconds_ago
        with open(self.remembered(folder), 'w', encoding='ascii') as file:
            file.write(f'{since}\n')
        return time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(since))


def unavailable(place):
    place.prepare()
    place.expect(0, False, 'a run that goes well says nothing')
    tap.same(place.files(), [], 'and remembers nothing')
    place.away()
    place.expect(69, False, 'that a database is not available is not said at first')
    tap.ok(re.fullmatch('failing-since-[0-9a-f]{16}', os.path.basename(place.remembered())),
           'since when is remembered', place.files())
    tap.same(os.stat(place.remembered()).st_mode & 0o777, 0o600, 'in a file of ours')
    place.expect(69, False, 'nor by the next run')
    place.began(HOUR - 60)
    place.expect(69, False, 'nor before an hour has passed')
    date = place.began(HOUR)
    place.expect(69, True, 'after an hour it is said')
    place.says('with its reason, and since when it lasts', 'a.db',
               f'failing since {date}\n')
    place.expect(69, True, 'and from then on by every run')
    place.back()
    place.expect(0, False, 'when a run goes well again it says nothing')
    tap.same(place.files(), [], 'and nothing is remembered')
    place.away()
    place.expect(69, False, 'so that the next spell is not said at first')
    place.back()


def settings(place):
    place.prepare(keys={'report.alert_after': '2 m'})
    place.away()
    place.expect(69, False, 'alert_after may be shorter')
    place.began(60)
    place.expect(69, False, 'until then nothing is said')
    place.began(120)
    place.expect(69, True, 'then it is')
    place.settings({'report.alert_after': '0', 'source.deadline': '1 s'})
    os.unlink(place.remembered())
    place.expect(69, True, 'with alert_after = 0 it is said at once')
    tap.ok('since' not in place.err, 'of a first time no past is told', place.err)
    tap.same(place.files(), [], 'and nothing is remembered')


def asked(place):
    """Who looks is told."""
    place.prepare()
    place.away()
    place.expect(69, True, 'with -v it is said at once', '-v')
    tap.ok('since' not in place.err, 'of a first time no past is told', place.err)
    date = place.began(60)
    place.expect(69, True, 'and later too', '-v')
    place.says('then with since when', date)
    main, terminal = pty.openpty()
    process = place.start('run', env=place.environment)
    process.communicate()
    tap.same(process.returncode, 69, 'while without a terminal nobody is told')
    process = place.start('run', env=place.environment, preexec_fn=lambda: os.dup2(terminal, 2))
    process.communicate()
    os.close(terminal)
    said = os.read(main, 65536)
    os.close(main)
    tap.ok(process.returncode == 69 and b'a.db' in said, 'on a terminal it is said at once', said)
    os.unlink(place.remembered())
    place.expect(69, True, 'a dry run always says it', '--dry-run')
    tap.same(place.files(), [], 'and remembers nothing')


def locked(place):
    place.prepare(SMALL + 'cluster other\nroot/\n  x use 1\n')
    place.expect(0, False, 'a run goes well')
    lock = min(name for name in os.listdir(place.folder) if name.endswith('.lock'))
    with open(place.path(lock), 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place.expect(75, False, 'that another run is at work is not said at first')
        tap.same(len(place.query('SELECT DISTINCT cluster FROM fairmill_fairshare WHERE computed_at = ?',
                                 place.now)), 1, 'the other cluster is done')
        place.began(HOUR)
        place.expect(75, True, 'after an hour it is')
        place.says('with its reason', 'another run of this cluster is in progress')
        place.away()
        place.expect(69, True, 'one kind of failure goes on where the other one ends')
        place.back()
    place.expect(0, False, 'when the lock is free nothing is said')
    tap.same(place.files(), [], 'nor remembered')


BROKEN = 'cluster broken\nroot/\n  x use 1\n'


def others(place):
    """What does not pass by itself."""
    place.prepare(SMALL + BROKEN)
    place.change("UPDATE broken_assoc_table SET parent_acct = 'nobody', id_parent = 99 WHERE id_assoc > 1")
    place.change("UPDATE broken_assoc_table SET acct = 'lost' WHERE id_assoc > 1")
    place.expect(65, True, 'bad rows are said at once')
    tap.same(place.files(), [], 'and remembered nowhere')
    place.away()
    place.expect(69, False, 'a database that is away is not')
    place.began(HOUR - 60)
    place.back()
    place.expect(65, True, 'bad rows again are said again')
    tap.same(place.files(), [], 'and end the spell: the database was there')
    locks = {name for name in os.listdir(place.folder) if name.endswith('.lock')}
    held = [open(place.path(name), 'r+b') for name in locks]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_EX)
    place.expect(75, False, 'both clusters locked is not said')
    for file in held:
        file.close()
    place.began(60)
    place.settings({'report.alert_after': None, 'source.driver': 'nonsense'})
    place.expect(78, True, 'bad settings are said at once')
    tap.same(len(place.files()), 1, 'and end no spell')
    os.unlink(place.remembered())
    place.expect(78, True, 'as often as they are met')
    tap.same(place.files(), [], 'and begin none')


def mixed(place):
    """Two clusters fail in two ways."""
    place.prepare(SMALL + BROKEN)
    place.expect(0, False, 'both are well')
    locks = [name for name in os.listdir(place.folder) if name.endswith('.lock')]
    for name in locks:
        with open(place.path(name), 'r+b') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            place.change("UPDATE broken_assoc_table SET parent_acct = 'nobody', acct = 'lost', id_parent = 99 WHERE id_assoc > 1")
            status, printed = place.go()
            if "cluster 'broken'" in place.err:
                tap.ok(printed and status == 65 and 'tiny' not in place.err,
                       'of two failures the one that does not pass is said', status, place.err)
                tap.same(len(place.files()), 1, 'and the other one remembered')
                return
    tap.ok(False, 'one of two locks was that of the sound cluster', locks)


def clusters(place):
    place.prepare(SMALL + BROKEN)
    lock = {}
    for name in ('tiny', 'broken'):
        before = set(os.listdir(place.folder))
        place.expect(0, False, f'a run for {name} alone goes well', '--cluster', name)
        lock[name], = [n for n in set(os.listdir(place.folder)) - before if n.endswith('.lock')]
    with open(place.path(lock['broken']), 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        place.expect(75, False, 'one for the other fails', '--cluster', 'broken')
        place.expect(0, False, 'the first one goes on well', '--cluster', 'tiny')
        tap.same(len(place.files()), 1, "which is not the end of the other one's spell")
        place.began(HOUR)
        place.expect(75, True, 'so that this is said in time', '--cluster', 'broken')


def clock(place):
    place.prepare()
    place.away()
    place.expect(69, False, 'a spell begins')
    place.began(-86400)
    place.expect(69, False, 'one that is still to come begins now')
    with open(place.remembered(), encoding='ascii') as file:
        since = int(file.read())
    tap.ok(abs(since - time.time()) < 60, 'so that a clock that was set back silences for no longer', since)
    for text in ('', 'soon\n', '12', '-', f'{2 ** 70}\n', f'{int(time.time())} x\n', '0' * 500):
        with open(place.remembered(), 'w', encoding='ascii') as file:
            file.write(text)
        place.expect(69, False, f'a file with {text[:24]!r} in it begins now')
        with open(place.remembered(), encoding='ascii') as file:
            tap.ok(re.fullmatch(r'1\d{9}\n', file.read()), f'and is whole again ({text[:24]!r})')


def folders(place):
    place.prepare()
    place.away()
    own = f'fairmill-{os.geteuid()}'
    place.environment['STATE_DIRECTORY'] = f"{place.path('state')}:/nonexistent"
    place.expect(69, False, 'of several state directories the first is used')
    tap.same(len(place.files()), 1, 'that has the file')
    for variable in ('XDG_RUNTIME_DIR', 'TMPDIR'):
        os.mkdir(place.path(variable))
        os.chmod(place.path(variable), 0o1777)
        place.environment = {k: v for k, v in place.environment.items()
                             if k not in ('STATE_DIRECTORY', 'XDG_RUNTIME_DIR')}
        place.environment[variable] = place.path(variable)
        place.expect(69, False, f'without a state directory {variable} is used')
        folder = place.path(os.path.join(variable, own))
        tap.ok(os.path.isdir(folder) and os.stat(folder).st_mode & 0o7777 == 0o755,
               f'where a folder of our own is made ({variable})', os.listdir(place.path(variable)))
        place.began(HOUR, os.path.join(variable, own))
        place.expect(69, True, f'and what it holds is found again ({variable})')
    place.back()
    place.expect(0, False, 'a run goes well')
    tap.same(place.files(os.path.join('TMPDIR', own)), [], 'and forgets')
    os.rmdir(place.path(os.path.join('TMPDIR', own)))
    place.expect(0, False, 'another one goes well')
    tap.same(place.files('TMPDIR'), [], 'and makes no folder')
    place.away()
    for wrong in ('/nonexistent/folder', 'relative'):
        place.environment['TMPDIR'] = wrong
        place.expect(69, True, f'with nowhere to remember it is said at once ({wrong})')
    tap.ok('since' not in place.err, 'without a past', place.err)


def strangers(place):
    """Whatever somebody else may have put there."""
    place.prepare()
    place.away()
    own = place.path(os.path.join('TMPDIR', f'fairmill-{os.geteuid()}'))
    place.expect(69, False, 'a spell begins')
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
            tap.same(file.read(), 'precious\n', f'{what} leads to no harm')
        tap.same(place.files('elsewhere'), [], f'nothing is written elsewhere ({what})')
        place.back()
        place.expect(0, False, f'nor does {what} trouble a run that goes well')
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

    refused('a link in the place of our folder', lambda: os.symlink(place.path('elsewhere'), own))
    refused('a file in the place of our folder', lambda: os.close(os.open(own, os.O_CREAT)))
    refused('a pipe in the place of our folder', lambda: os.mkfifo(own))

    def open_to_others():
        os.mkdir(own)
        os.chmod(own, 0o777)
    refused('a folder that others may write', open_to_others)

    def within(make):
        os.mkdir(own, 0o700)
        make(os.path.join(own, name))
    refused('a link in the place of our file', lambda: within(lambda at: os.symlink(victim, at)))
    refused('a second name of a file', lambda: within(lambda at: os.link(victim, at)))
    refused('a pipe in the place of our file', lambda: within(os.mkfifo))

    def writable(at):
        os.close(os.open(at, os.O_CREAT))
        os.chmod(at, 0o666)
    refused('a file that others may write', lambda: within(writable))
    if not ROOT:
        tap.diag('only root can try what others own')
        return

    def foreign_folder():
        os.mkdir(own, 0o700)
        os.chown(own, 65534, 65534)
    refused("another user's folder", foreign_folder)

    def foreign_file(at):
        with open(at, 'w', encoding='ascii') as file:
            file.write(f'{int(time.time())}\n')
        os.chown(at, 65534, 65534)
    refused("another user's file", lambda: within(foreign_file))


def body():
    for part in (unavailable, settings, asked, locked, others, mixed, clusters, clock, folders,
                 strangers):
        with Mail() as place:
            part(place)


tap.main(body)
