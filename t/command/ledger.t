#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""`fairmill ledger` enters what it should, says what that does, refuses the rest, and every run
counts it."""

import csv
import io
import json
import os
import pty
import pwd
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import site_drawing
import tap
from place import NOW, Place

DAY, HOUR = 86400, 3600
DRAWING = f'''
cluster tiny
root/
  physics/      60
    alice       10
    bob         10
    erik@gpu     5
    optics/      3
      dora       1
  chemistry/    40
    carol        1
    alice        1
job physics.alice start={NOW - 10 * DAY} end={NOW - 9 * DAY} billing=4
job physics.bob start={NOW - 10 * DAY} end={NOW - 8 * DAY} billing=2
job optics.dora start={NOW - 5 * DAY} end={NOW - 4 * DAY} billing=2
suspended {NOW - 5 * DAY + 100} {NOW - 5 * DAY + 5000}
job chemistry.carol start={NOW - 3 * HOUR} end={NOW - HOUR} billing=2
suspended {NOW - 3 * HOUR + 10} {NOW - 2 * HOUR}
job chemistry.alice start={NOW - 3 * HOUR} end=0 billing=1
registered 5=64,1=64
'''
# Ids of the jobs, in the order of the drawing.
ALICE, BOB, DORA, CAROL, RUNS = range(1, 6)
KEYS = {'usage.half_life': '7-0', 'usage.checkpoint_after': '1-0', 'usage.suspended': 'omitted'}
EVERYBODY = ('physics.alice', 'physics.bob', 'optics.dora', 'chemistry.carol', 'chemistry.alice')


class Desk(Place):
    def begin(self, keys=None, drawing=DRAWING):
        self.ready(drawing, {**KEYS, **(keys or {})})
        self.run_at(NOW)

    def run_at(self, now, *more):
        """(kind, why), and all values are kept in `rows`."""
        self.succeed('run', '--now', now, *more)
        names = [row[1] for row in self.query('PRAGMA table_info(fairmill_fairshare)')]
        wanted = ', '.join(name for name in names if name not in ('run_id', 'id_assoc', 'parent_id'))
        self.rows = self.query(f'SELECT {wanted} FROM fairmill_fairshare ORDER BY account, user_name, partition_name')
        return self.query('SELECT kind, why FROM fairmill_run ORDER BY run_id DESC LIMIT 1')[0]

    def enter(self, *arguments, at=NOW):
        self.succeed('ledger', *arguments, *(['--at', at] if at else []), '-w', 'a test', '-y')

    def entries(self):
        return self.query('SELECT count(*) FROM fairmill_ledger')[0][0]

    def all_runs_agree(self, statement, now=NOW):
        """Incremental and full give the same bits."""
        self.run_at(now)
        rows = self.rows
        self.run_at(now, '--full')
        return tap.ok(rows == self.rows, statement, *rows, *self.rows)


def adjustments(desk):
    desk.begin({'usage.half_life': 0})
    before = dict(zip(EVERYBODY, desk.usage(*EVERYBODY)))
    desk.enter('debit', 1000, '-u', 'alice', '-A', 'physics')
    desk.enter('credit', '0.5h', '-u', 'carol', '-A', 'chemistry')
    tap.same(desk.run_at(NOW), ('incremental', ''), 'credits and debits leave a run incremental')
    tap.same(desk.usage('physics.alice', 'chemistry.carol', 'physics.bob'),
             [before['physics.alice'] + 1000, before['chemistry.carol'] - 1800, before['physics.bob']],
             'a debit is added, a credit in hours taken off, and others stay')
    desk.run_at(NOW - 1, '--replace')
    tap.same(desk.usage('physics.alice'), [before['physics.alice']], 'before their instant they do not count')
    desk.enter('debit', 7, '-u', 'alice', '-A', 'physics', at=NOW - DAY)
    desk.run_at(NOW - 1, '--replace')
    tap.same(desk.usage('physics.alice'), [before['physics.alice'] + 7],
             'one that was entered later with an earlier instant does')
    desk.enter('credit', '1000000h', '-u', 'bob', '-A', 'physics')
    desk.run_at(NOW)
    tap.same(desk.usage('physics.bob', 'physics'), [0, before['physics.alice'] + 1007 + before['optics.dora']],
             'usage is never below 0, and what is too much is no credit to others')
    desk.all_runs_agree('and full runs say so too')
    desk.enter('debit', 3600, '-u', 'erik', '-A', 'physics', '--partition', 'gpu')
    desk.run_at(NOW)
    tap.same(desk.usage('physics.erik'), [3600], 'an association with a partition is found by it')
    desk.begin()
    before, = desk.usage('physics.bob')
    desk.enter('debit', 1000, '-u', 'bob', '-A', 'physics', at=NOW - 14 * DAY)
    desk.run_at(NOW)
    tap.ok(abs(desk.usage('physics.bob')[0] - before - 250) < .01, 'it decays from its instant on')


def without_account(desk):
    """The account is found where it can be no other."""
    desk.begin({'usage.half_life': 0})
    before = desk.usage('optics.dora', 'chemistry.alice')
    desk.enter('debit', 1000, '-u', 'dora')
    desk.run_at(NOW)
    tap.same([desk.usage('optics.dora')[0], *desk.query('SELECT account FROM fairmill_ledger')],
             [before[0] + 1000, ('optics',)], 'the only association of a user is found without the account')
    desk.ends(64, 'of two none is taken', 'ledger', 'credit', 5, '-u', 'alice', '-w', 'x', '-y')
    desk.says('and both are named', "'physics/alice'", "'chemistry/alice'", '--account')
    desk.ends(64, 'one with a partition is not taken without it', 'ledger', 'credit', 5, '-u', 'erik', '-w', 'x', '-y')
    desk.says('but named', "'erik' without a partition; the user has 'physics/erik/gpu'")
    desk.site(DRAWING.replace('    carol        1\n', '    carol        1\n    dora         1  deleted\n'))
    desk.enter('debit', 1, '-u', 'dora')
    tap.same(desk.query('SELECT account FROM fairmill_ledger WHERE tres_seconds = 1'), [('optics',)],
             'one that the user has left does not count')


def refunds(desk):
    """As if the job had not run."""
    for suspended in ('omitted', 'charged'):
        for job, who, line in ((ALICE, 'physics.alice', 'job physics.alice'), (DORA, 'optics.dora', 'job optics'),
                               (CAROL, 'chemistry.carol', 'job chemistry.carol'),
                               (RUNS, 'chemistry.alice', 'job chemistry.alice')):
            lines = DRAWING.splitlines()
            at = next(i for i, text in enumerate(lines) if text.startswith(line))
            lines[at:at + 1 + lines[at + 1].startswith('suspended')] = []
            desk.begin({'usage.suspended': suspended}, '\n'.join(lines))
            without = desk.rows
            desk.begin({'usage.suspended': suspended})
            tap.ok(desk.rows != without, f'{who} has used something')
            desk.enter('refund', job)
            kind = desk.run_at(NOW)[0]
            tap.ok(kind == 'incremental' and desk.rows == without,
                   f'a refund of a job of {who} is as if it had not run, to the last bit ({suspended})', kind)
            desk.all_runs_agree('in a full run too')
    desk.run_at(NOW + DAY)
    tap.same(desk.usage('chemistry.alice'), [0], 'nor does it charge while it goes on running')
    desk.enter('refund', BOB, at=NOW - 9 * DAY)
    desk.run_at(NOW - 10 * DAY + 5000, '--replace')
    tap.ok(desk.usage('physics.bob')[0] > 0, 'before the instant it has run')
    desk.run_at(NOW - 9 * DAY, '--replace')
    tap.same(desk.usage('physics.bob'), [0], 'after it, not')
    desk.ends(64, 'a second refund is refused', 'ledger', 'refund', BOB, '-w', 'x', '-y')
    desk.says('with the reason', 'already refunded')
    desk.ends(64, 'a job that began later cannot be refunded', 'ledger', 'refund', DORA, '--at', NOW - 6 * DAY,
              '-w', 'x', '-y')
    desk.ends(64, 'nor one that is not there', 'ledger', 'refund', 4711, '-w', 'x', '-y')


def resets(desk):
    desk.begin()
    desk.enter('reset', '-A', 'physics', at=NOW - HOUR)
    tap.same(desk.run_at(NOW), ('incremental', ''), 'a reset above the seal leaves a run incremental')
    tap.same([desk.usage(name)[0] for name in EVERYBODY[:3]], [0, 0, 0], 'nothing below the account counts')
    tap.ok(desk.usage('chemistry.carol')[0] > 0, 'all else does')
    desk.all_runs_agree('in a full run too')
    for day in (1, 2, 9):
        desk.all_runs_agree(f'and when the seal moves past it, {day} days later', NOW + day * DAY)
    desk.begin()
    desk.enter('reset', '-u', 'bob', '-A', 'physics', at=NOW - 9 * DAY)
    kind, why = desk.run_at(NOW)
    tap.ok(kind == 'full' and 'ledger' in why and 'reset' in why, 'one below the seal makes the next run full', why)
    tap.same(desk.run_at(NOW + 1)[0], 'incremental', 'and only that one')
    half, = desk.usage('physics.bob')
    desk.enter('undo', 1, at=None)
    tap.same(desk.run_at(NOW + 2)[0], 'full', 'so does undoing it')
    tap.ok(half < .6 * desk.usage('physics.bob')[0], 'what was used after it had counted all the time')
    desk.enter('reset', '-u', 'alice', at=NOW + 3)
    desk.run_at(NOW + 3)
    tap.same(desk.usage('physics.alice', 'chemistry.alice'), [0, 0], 'a user is reset in all accounts')
    desk.run_at(NOW + 10)
    tap.ok(desk.usage('chemistry.alice')[0] > 6, 'and what is used from then on counts')
    desk.enter('reset', '--all', at=NOW - 2 * HOUR)
    desk.all_runs_agree('a reset of the cluster is the same in any run', NOW + 10)
    tap.ok(desk.usage('physics') == [0] and desk.usage('chemistry.carol')[0] > 0,
           'nothing from before it counts, for nobody')
    desk.enter('undo', desk.entries(), at=None)
    desk.all_runs_agree('it can be undone', NOW + 10)
    tap.ok(desk.usage('physics')[0] > 0, 'which brings back what it took')
    desk.enter('reset', '-A', 'physics')
    db = sqlite3.connect(desk.path('a.db'))
    with db:
        site_drawing.insert(db, 'tiny_assoc_table', dict(
            creation_time=1, id_assoc=99, user='eve', acct='physics', shares=1, lineage='/physics/0-eve/',
            id_parent=desk.change("SELECT id_assoc FROM tiny_assoc_table WHERE acct = 'physics' AND user = ''")[0][0]))
    db.close()
    desk.enter('debit', 50, '-u', 'eve', '-A', 'physics', at=NOW - 5)
    desk.run_at(NOW + 10)
    tap.ok(desk.usage('physics.eve')[0] > 49, 'an account is reset with what was below it then')


def sets(desk):
    """A reset to an amount."""
    desk.begin()
    before = dict(zip(EVERYBODY, desk.usage(*EVERYBODY)))
    physics, root = desk.usage('physics', 'root')
    desk.enter('set', 4711, '-u', 'bob')
    tap.same(desk.run_at(NOW), ('incremental', ''), 'a set above the seal leaves a run incremental')
    tap.same(desk.usage('physics.bob'), [4711.0], 'at its instant the usage is what it was set to, to the last bit')
    tap.same(desk.usage(*EVERYBODY[:1], *EVERYBODY[2:]), [before[name] for name in EVERYBODY if name != 'physics.bob'], 'nobody else has other usage')
    tap.ok(all(abs(got - was - 4711 + before['physics.bob']) < 1e-5 for got, was in zip(desk.usage('physics', 'root'), (physics, root))),
           'those above have what is more or less', desk.usage('physics', 'root'), physics, root)
    desk.all_runs_agree('in a full run too')
    for day in (1, 2, 9):
        desk.all_runs_agree(f'and when the seal moves past it, {day} days later', NOW + day * DAY)
    desk.run_at(NOW + 14 * DAY)
    tap.ok(abs(desk.usage('physics.bob')[0] - 4711 / 4) < 1e-6, 'it decays from then on', desk.usage('physics.bob'))
    desk.run_at(NOW - 1, '--replace')
    tap.ok(abs(desk.usage('physics.bob')[0] - before['physics.bob']) < 1, 'before its instant nothing was set')
    desk.enter('undo', 1, at=None)
    desk.run_at(NOW, '--replace')
    tap.same(desk.usage(*EVERYBODY), list(before.values()), 'undone, it never was')
    desk.begin({'usage.half_life': 0})
    desk.enter('set', '2h', '-u', 'alice', '-A', 'chemistry', at=NOW - HOUR)
    desk.run_at(NOW)
    tap.same(desk.usage('chemistry.alice'), [2 * 3600 + 3600], 'a job that runs at its instant adds what it used since')
    desk.enter('refund', RUNS)
    desk.run_at(NOW)
    tap.same(desk.usage('chemistry.alice'), [2 * 3600], 'and a refund of it takes off that only')
    desk.enter('set', 0, '-u', 'alice', '-A', 'physics', at=NOW - 9 * DAY - DAY // 2)
    desk.run_at(NOW)
    tap.same(desk.usage('physics.alice'), [4 * DAY / 2], 'usage may be set to nothing')
    tap.same(desk.query("SELECT kind, tres_seconds, id_job FROM fairmill_ledger WHERE id = 3"), [('set', 0, None)], 'which is an amount')
    desk.enter('debit', 50, '-u', 'erik', '-A', 'physics', '--partition', 'gpu')
    desk.enter('set', 7, '-u', 'erik', '-A', 'physics', '--partition', 'gpu', at=NOW + 1)
    desk.enter('set', 8, '-u', 'erik', '-A', 'physics', '--partition', 'gpu', at=NOW + 1)
    desk.all_runs_agree('of two at one instant the later entry counts', NOW + 1)
    tap.same(desk.usage('physics.erik'), [8], 'of an association with a partition, too')
    desk.succeed('ledger', 'list', '--json')
    last = json.loads(desk.out)['ledger'][-1]
    tap.same([last[key] for key in ('kind', 'tres_seconds', 'associations', 'username', 'counts')], ['set', 8, 1, 'erik', True], 'list has it')
    desk.succeed('ledger', 'list')
    tap.ok("set user 'erik' in account 'physics', partition 'gpu' to 8 TRES-seconds" in desk.out, 'and says it', desk.out)
    desk.succeed('ledger', 'list', '--partition', 'gpu', '--json')
    tap.same({row['partition'] for row in json.loads(desk.out)['ledger']}, {'gpu'}, 'list takes those of a partition')
    desk.succeed('ledger', 'set', 12345, '-u', 'bob', '--at', NOW, '-w', 'x', '--dry-run', '--now', NOW)
    tap.ok(' 12345 ' in desk.out, '--dry-run shows what it would do', desk.out)
    desk.begin({'usage.half_life': 0})
    desk.succeed('explain', '--jobs', 'bob')
    tap.ok('ledger' not in desk.out, 'explain --jobs tells of no ledger where that has nothing', desk.out)
    desk.enter('set', 4711, '-u', 'bob')
    desk.enter('debit', 10, '-u', 'erik', '-A', 'physics', '--partition', 'gpu')
    desk.run_at(NOW)
    for name, words in (('bob', 'adds 4711'), ('physics', 'adds 4721')):
        desk.succeed('explain', '--jobs', name)
        tap.ok(f'The ledger {words}.' in desk.out, f'of {name} it says what that {words}', desk.out)
    desk.enter('credit', 5, '-u', 'carol')
    desk.run_at(NOW)
    desk.succeed('explain', '--jobs', 'carol')
    tap.ok('The ledger takes off 5.' in desk.out, 'or takes off', desk.out)
    desk.begin()
    desk.enter('set', 4711, '-u', 'bob', at=NOW - 9 * DAY)
    kind, why = desk.run_at(NOW)
    tap.ok(kind == 'full' and 'ledger' in why, 'one below the seal makes the next run full', kind, why)
    tap.same(desk.run_at(NOW + 1)[0], 'incremental', 'and only that one')


def undos(desk):
    desk.begin({'usage.half_life': 0})
    before, = desk.usage('physics.alice')

    def now():
        desk.run_at(NOW)
        return desk.usage('physics.alice')[0] - before
    desk.enter('debit', 100, '-u', 'alice', '-A', 'physics', at=NOW - HOUR)
    desk.enter('undo', 1, at=None)
    tap.same(now(), 0, 'what was undone does not count')
    tap.same(desk.query('SELECT instant, undoes FROM fairmill_ledger WHERE id = 2'), [(NOW - HOUR, 1)],
             'an undo is a row with the instant of what it undoes')
    desk.ends(64, 'nobody undoes twice', 'ledger', 'undo', 1, '-w', 'x', '-y')
    desk.says('and is told what to do', 'already undone', 'undo entry 2')
    desk.enter('undo', 2, at=None)
    tap.same(now(), 100, 'an undo can be undone')
    desk.enter('undo', 1, at=None)
    tap.same([now(), desk.query('SELECT undoes FROM fairmill_ledger WHERE id = 4')], [0, [(3,)]],
             'and the entry once more, by undoing the last undo')
    desk.ends(64, 'an entry that is not there cannot be undone', 'ledger', 'undo', 77, '-w', 'x', '-y')
    desk.ends(64, 'nor one of another cluster than is named', 'ledger', 'undo', 3, '-M', 'huge', '-w', 'x', '-y')
    desk.says('and the message says where it is', "entry 3", "'tiny'")
    desk.ends(64, 'nor with an instant of its own', 'ledger', 'undo', 3, '--at', NOW, '-w', 'x', '-y')
    try:
        desk.query("INSERT INTO fairmill_ledger SELECT 50, cluster, instant, 1, 'x', 'x', 'undo', '', '', '', NULL,"
                   " NULL, NULL, 1 FROM fairmill_ledger WHERE id = 1")
    except sqlite3.IntegrityError:
        refused = True
    tap.ok(refused, 'the table itself has each row undone once at most')


def dry_runs(desk):
    desk.begin({'usage.half_life': 0})
    before, = desk.usage('physics.alice')
    desk.succeed('ledger', 'debit', 12345, '-u', 'alice', '-A', 'physics', '--at', NOW, '-w', 'x', '--dry-run', '--now', NOW)
    line, = [line for line in desk.out.splitlines() if 'alice' in line and 'physics' in line and 'debit' not in line]
    tap.same(line.split()[2:4], [f'{before:.0f}', f'{before + 12345:.0f}'],
             '--dry-run shows usage before and after')
    tap.ok('chemistry' not in desk.out and 'root' in desk.out, 'of what changes')
    tap.ok(all(len(line) <= 80 for line in desk.out.splitlines()), 'in 80 columns', desk.out)
    tap.same(desk.entries(), 0, 'and enters nothing')
    desk.succeed('ledger', 'debit', 1, '-u', 'alice', '-A', 'physics', '--at', NOW + 1, '-w', 'x', '--dry-run', '--now', NOW)
    tap.ok('no usage would change' in desk.out, 'what is to come changes nothing yet', desk.out)
    desk.enter('refund', ALICE)
    desk.succeed('run', '--now', NOW, '--dry-run')
    shown = [line.split() for line in desk.out.splitlines() if 'alice' in line]
    tap.same([words[4] for words in shown if words[0] == 'physics'], ['0'], 'a dry run counts the ledger')


def questions(desk):
    desk.begin()
    desk.ends(64, 'without --yes and a terminal nothing is entered', 'ledger', 'debit', 5, '-u', 'alice', '-A',
              'physics', '-w', 'x')
    desk.says('which is said', '--yes')
    for answer, entered in (('n', 0), ('', 0), ('y', 1)):
        ours, theirs = pty.openpty()
        os.write(ours, f'{answer}\n'.encode())
        done = subprocess.run([os.environ['FAIRMILL'], '-c', desk.path('fm.conf'), 'ledger', 'debit', '5', '-u',
                               'alice', '-A', 'physics', '--at', str(NOW), '-w', 'x'], stdin=theirs,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        os.close(ours)
        os.close(theirs)
        tap.same([desk.entries(), done.returncode], [entered, 1 - entered],
                 f"on a terminal '{answer}' enters {entered} after what it does was shown")
        tap.ok('Enter this?' in done.stdout and 'as of' in done.stdout, 'and the question was asked', done.stdout)


def refusals(desk):
    desk.begin()
    alice = ('-u', 'alice', '-A', 'physics')
    for what, *arguments in (
            ('no action',), ('an unknown one', 'credits', 5), ('no amount', 'credit', *alice),
            ('an amount of 0', 'credit', 0, *alice), ('a negative one', 'debit', -5, *alice),
            ('a part of a TRES-second', 'credit', '0.5', *alice), ('a word', 'credit', 'much', *alice),
            ('too much', 'credit', 2 ** 63, *alice), ('too many hours', 'credit', '1e18h', *alice),
            ('no user', 'credit', 5, '-A', 'physics'), ('a user of two accounts', 'credit', 5, '-u', 'alice'),
            ('a user that is not there', 'credit', 5, '-u', 'eve', '-A', 'physics'),
            ('a user of another account', 'credit', 5, '-u', 'carol', '-A', 'physics'),
            ('a partition without association', 'credit', 5, *alice, '--partition', 'gpu'),
            ('a cluster that is not there', 'credit', 5, *alice, '-M', 'huge'),
            ('an instant that is none', 'credit', 5, *alice, '--at', 'soon'),
            ('an instant before 1970', 'credit', 5, *alice, '--at', '-5'),
            ('a job that is no number', 'refund', 'x'), ('a refund of a user', 'refund', 1, '-u', 'alice'),
            ('a reset of nobody', 'reset'), ('of all and somebody', 'reset', '--all', '-u', 'alice'),
            ('of an unknown account', 'reset', '-A', 'biology'), ('of an unknown user', 'reset', '-u', 'eve'),
            ('of a partition alone', 'reset', '-A', 'physics', '--partition', 'gpu'), ('a set of nobody', 'set', 5),
            ('of an account', 'set', 5, '-A', 'physics'), ('of all', 'set', 5, '--all'), ('of a user of two', 'set', 5, '-u', 'alice'),
            ('undone at an instant', 'undo', 1, '--at', NOW), ('nodes of a credit', 'credit', 5, *alice, '--node', 'n1'),
            ('to no amount', 'set', *alice), ('to less than nothing', 'set', -1, *alice), ('to a word', 'set', 'much', *alice)):
        desk.ends(64, f'{what}: refused', 'ledger', *arguments, '-w', 'x', '-y')
    for action, option in (('list', ('--at', NOW)), ('list', ('--all',)), ('list', ('-w', 'x')), ('list', ('--dry-run',)),
                           ('list', ('-y',)), ('list', ('--node', 'n1')), ('list', ('--now', NOW)), ('export', ('--now', NOW)), ('export', ('--dry-run',)),
                           ('import', ('-u', 'alice')), ('import', ('--csv',))):
        desk.ends(64, f'{action} does not take {option[0]}', 'ledger', action, *option)
        desk.says('and says for what it is', f'ledger {action}: does not accept --', ', which is for ')
    for why in ((), ('-w', ''), ('-w', ' '), ('-w', 'two\nlines'), ('-w', 'x' * 251)):
        desk.ends(64, f'a reason like {why}: refused', 'ledger', 'credit', 5, *alice, '-y', *why)
    tap.same(desk.entries(), 0, 'nothing of this was entered')
    desk.site(DRAWING + DRAWING.replace('tiny', 'huge'))
    desk.ends(64, 'with two clusters one must be named', 'ledger', 'credit', 5, *alice, '-w', 'x', '-y')
    desk.enter('credit', 5, *alice, '-M', 'huge')
    tap.same(desk.query('SELECT cluster FROM fairmill_ledger'), [('huge',)], 'as here')
    desk.settings({'usage.source': 'rollup', 'usage.suspended': 'charged'})
    desk.ends(64, 'rollups have no jobs to refund', 'ledger', 'refund', 1, '-M', 'tiny', '-w', 'x', '-y')


def lists(desk):
    desk.begin()
    desk.succeed('ledger', 'list', '-M', 'tiny')
    tap.same(desk.out, '', 'an empty ledger lists nothing')
    desk.enter('credit', '2h', '-u', 'alice', '-A', 'physics')
    desk.enter('reset', '-A', 'physics', at='2025-01-01')
    desk.enter('undo', 1, at=None)
    desk.succeed('ledger', 'list', '--json')
    first, second, third = json.loads(desk.out)['ledger']
    tap.same([first[key] for key in ('id', 'cluster', 'kind', 'tres_seconds', 'username', 'account', 'instant', 'why',
                                     'undone_by', 'counts')],
             [1, 'tiny', 'credit', 7200, 'alice', 'physics', NOW, 'a test', 3, False], 'a credit in JSON')
    tap.same([second[key] for key in ('kind', 'account', 'username', 'associations', 'undone_by', 'counts')],
             ['reset', 'physics', '', 6, None, True], 'a reset')
    tap.same([third[key] for key in ('kind', 'undoes', 'counts')], ['undo', 1, True], 'an undo')
    desk.succeed('ledger', 'list')
    tap.ok('undone by entry 3' in desk.out and 'a test' in desk.out and desk.out.count('\n') == 4
           and time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(NOW)) in desk.out, 'and for people', desk.out)
    desk.succeed('ledger', 'list', '--csv')
    rows = list(csv.DictReader(io.StringIO(desk.out, newline='')))
    tap.same((list(rows[0]), rows[0]['instant'], rows[1]['tres_seconds'], rows[2]['undoes']),
             (list(first), str(NOW), '', '1'), '--csv has the same columns as JSON')
    desk.succeed('ledger', 'list', '-P', '-o', 'id,kind,user,counts')
    tap.same(desk.out, 'ID|Kind|User|Counts\n1|credit|alice|0\n2|reset||1\n3|undo||1\n', 'columns can be chosen')
    desk.ends(64, 'other actions print no table', 'ledger', 'credit', '1', '-u', 'alice', '--why', 'x', '--csv')
    desk.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    desk.ends(0, 'who only reads results may list it', 'ledger', 'list', settings='reader.conf')
    desk.ends(64, 'a cluster that is not there has no ledger', 'ledger', 'list', '-M', 'huge')
    desk.says('and is named', "'huge'")


def who(desk):
    """loginuid if the kernel has one, else what sudo says, else the user."""
    desk.begin()
    own = pwd.getpwuid(os.getuid()).pw_name
    try:
        with open('/proc/self/loginuid', encoding='ascii') as file:
            audited = int(file.read())
    except OSError:
        audited = 2 ** 32 - 1
    if audited < 2 ** 32 - 1:
        own = pwd.getpwuid(audited).pw_name
    for sudo, wanted in ((None, own), ('nobody', own if audited < 2 ** 32 - 1 else 'nobody'), ('no-such-login', own)):
        env = {k: v for k, v in os.environ.items() if k not in ('FAIRMILL_CONF', 'SUDO_USER')}
        if sudo:
            env['SUDO_USER'] = sudo
        desk.succeed('ledger', 'debit', 1, '-u', 'alice', '-A', 'physics', '-w', 'x', '-y', env=env)
        tap.same(desk.query('SELECT who FROM fairmill_ledger ORDER BY id DESC LIMIT 1'), [(wanted,)],
                 f'the login is entered, with SUDO_USER {sudo}')


def at_once(desk):
    desk.begin()
    started = [desk.start('ledger', 'debit', i + 1, '-u', 'alice', '-A', 'physics', '-w', 'x', '-y') for i in range(8)]
    ended = [process.communicate() and process.returncode for process in started]
    tap.same([ended, [row[0] for row in desk.query('SELECT id FROM fairmill_ledger ORDER BY id')]],
             [[0] * 8, list(range(1, 9))], 'eight at once each get a row')
    desk.ends(0, 'and each follows from those before it', 'ledger', 'list')


def body():
    with Place() as place:
        place.__class__ = Desk
        for part in (adjustments, without_account, refunds, resets, sets, undos, dry_runs, questions, refusals, lists, who, at_once):
            part(place)


tap.main(body)
