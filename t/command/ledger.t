#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill ledger`: entries and their effect on usage, the dry run, and rejected
arguments."""

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
# The ids of the jobs, in the order of the drawing.
ALICE, BOB, DORA, CAROL, RUNS = range(1, 6)
KEYS = {'usage.half_life': '7-0', 'usage.checkpoint_after': '1-0', 'usage.suspended': 'omitted'}
EVERYBODY = ('physics.alice', 'physics.bob', 'optics.dora', 'chemistry.carol', 'chemistry.alice')


class Desk(Place):
    def begin(self, keys=None, drawing=DRAWING):
        self.ready(drawing, {**KEYS, **(keys or {})})
        self.run_at(NOW)

    def run_at(self, now, *more):
        """Runs once, stores all values in `rows`, and returns (kind, why)."""
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
        """Tests that an incremental and a full run compute the same bits."""
        self.run_at(now)
        rows = self.rows
        self.run_at(now, '--full')
        return tap.ok(rows == self.rows, statement, *rows, *self.rows)


def adjustments(desk):
    desk.begin({'usage.half_life': 0})
    before = dict(zip(EVERYBODY, desk.usage(*EVERYBODY)))
    desk.enter('debit', 1000, '-u', 'alice', '-A', 'physics')
    desk.enter('credit', '0.5h', '-u', 'carol', '-A', 'chemistry')
    tap.same(desk.run_at(NOW), ('incremental', ''), 'credits and debits need no full run')
    tap.same(desk.usage('physics.alice', 'chemistry.carol', 'physics.bob'),
             [before['physics.alice'] + 1000, before['chemistry.carol'] - 1800, before['physics.bob']],
             'a debit adds usage, a credit in hours subtracts it')
    desk.run_at(NOW - 1, '--replace')
    tap.same(desk.usage('physics.alice'), [before['physics.alice']], 'an entry does not count before its time')
    desk.enter('debit', 7, '-u', 'alice', '-A', 'physics', at=NOW - DAY)
    desk.run_at(NOW - 1, '--replace')
    tap.same(desk.usage('physics.alice'), [before['physics.alice'] + 7],
             'a later entry with an earlier time counts')
    desk.enter('credit', '1000000h', '-u', 'bob', '-A', 'physics')
    desk.run_at(NOW)
    tap.same(desk.usage('physics.bob', 'physics'), [0, before['physics.alice'] + 1007 + before['optics.dora']],
             "usage is never negative, and excess credit does not reduce others' usage")
    desk.all_runs_agree('a full run with credits and debits computes the same values')
    desk.enter('debit', 3600, '-u', 'erik', '-A', 'physics', '--partition', 'gpu')
    desk.run_at(NOW)
    tap.same(desk.usage('physics.erik'), [3600], '--partition selects an association with a partition')
    desk.begin()
    before, = desk.usage('physics.bob')
    desk.enter('debit', 1000, '-u', 'bob', '-A', 'physics', at=NOW - 14 * DAY)
    desk.run_at(NOW)
    tap.ok(abs(desk.usage('physics.bob')[0] - before - 250) < .01, 'a debit decays from its time on')


def without_account(desk):
    """The account may be omitted if the user has only one association."""
    desk.begin({'usage.half_life': 0})
    before = desk.usage('optics.dora', 'chemistry.alice')
    desk.enter('debit', 1000, '-u', 'dora')
    desk.run_at(NOW)
    tap.same([desk.usage('optics.dora')[0], *desk.query('SELECT account FROM fairmill_ledger')],
             [before[0] + 1000, ('optics',)], "the account of a user's only association is found")
    desk.ends(64, 'the account of a user with two associations is required',
              'ledger', 'credit', 5, '-u', 'alice', '-w', 'x', '-y')
    desk.says('the error names both associations', "'physics/alice'", "'chemistry/alice'", '--account')
    desk.ends(64, 'an association with a partition requires --partition', 'ledger', 'credit', 5, '-u', 'erik', '-w', 'x', '-y')
    desk.says('the error names the association with a partition', "'erik' without a partition; the user has 'physics/erik/gpu'")
    desk.site(DRAWING.replace('    carol        1\n', '    carol        1\n    dora         1  deleted\n'))
    desk.enter('debit', 1, '-u', 'dora')
    tap.same(desk.query('SELECT account FROM fairmill_ledger WHERE tres_seconds = 1'), [('optics',)],
             'a removed association does not count as a second one')


def refunds(desk):
    """After a refund, usage must be the same as without the job."""
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
            tap.ok(desk.rows != without, f'{who} has usage from the job ({suspended})')
            desk.enter('refund', job)
            kind = desk.run_at(NOW)[0]
            tap.ok(kind == 'incremental' and desk.rows == without,
                   f'a refund of a job of {who} removes it exactly ({suspended})', kind)
            desk.all_runs_agree(f'a full run computes the same after the refund of {who} ({suspended})')
    desk.run_at(NOW + DAY)
    tap.same(desk.usage('chemistry.alice'), [0], 'a refunded job that still runs is not charged')
    desk.enter('refund', BOB, at=NOW - 9 * DAY)
    desk.run_at(NOW - 10 * DAY + 5000, '--replace')
    tap.ok(desk.usage('physics.bob')[0] > 0, 'before the time of the refund the job counts')
    desk.run_at(NOW - 9 * DAY, '--replace')
    tap.same(desk.usage('physics.bob'), [0], 'after the time of the refund the job does not count')
    desk.ends(64, 'a second refund is rejected', 'ledger', 'refund', BOB, '-w', 'x', '-y')
    desk.says('the error says that the job is already refunded', 'already refunded')
    desk.ends(64, 'a refund before the start of the job is rejected', 'ledger', 'refund', DORA, '--at', NOW - 6 * DAY,
              '-w', 'x', '-y')
    desk.ends(64, 'a refund of an unknown job is rejected', 'ledger', 'refund', 4711, '-w', 'x', '-y')


def resets(desk):
    desk.begin()
    desk.enter('reset', '-A', 'physics', at=NOW - HOUR)
    tap.same(desk.run_at(NOW), ('incremental', ''), 'a reset after the checkpoint time needs no full run')
    tap.same([desk.usage(name)[0] for name in EVERYBODY[:3]], [0, 0, 0],
             'a reset of an account removes the usage of all its users')
    tap.ok(desk.usage('chemistry.carol')[0] > 0, 'a reset of an account does not change other accounts')
    desk.all_runs_agree('a full run after a reset computes the same values')
    for day in (1, 2, 9):
        desk.all_runs_agree(f'incremental and full runs agree {day} days after a reset', NOW + day * DAY)
    desk.begin()
    desk.enter('reset', '-u', 'bob', '-A', 'physics', at=NOW - 9 * DAY)
    kind, why = desk.run_at(NOW)
    tap.ok(kind == 'full' and 'ledger' in why and 'reset' in why, 'a reset before the checkpoint time makes the next run full',
           why)
    tap.same(desk.run_at(NOW + 1)[0], 'incremental', 'the second run after a reset is incremental')
    half, = desk.usage('physics.bob')
    desk.enter('undo', 1, at=None)
    tap.same(desk.run_at(NOW + 2)[0], 'full', 'the undo of a reset before the checkpoint time makes the run full')
    tap.ok(half < .6 * desk.usage('physics.bob')[0], 'undoing a reset restores the earlier usage')
    desk.enter('reset', '-u', 'alice', at=NOW + 3)
    desk.run_at(NOW + 3)
    tap.same(desk.usage('physics.alice', 'chemistry.alice'), [0, 0], 'a reset of a user covers all accounts')
    desk.run_at(NOW + 10)
    tap.ok(desk.usage('chemistry.alice')[0] > 6, 'usage after the reset of a user counts')
    desk.enter('reset', '--all', at=NOW - 2 * HOUR)
    desk.all_runs_agree('incremental and full runs agree after a reset of the cluster', NOW + 10)
    tap.ok(desk.usage('physics') == [0] and desk.usage('chemistry.carol')[0] > 0,
           'a reset of the cluster removes all earlier usage')
    desk.enter('undo', desk.entries(), at=None)
    desk.all_runs_agree('incremental and full runs agree after the undo', NOW + 10)
    tap.ok(desk.usage('physics')[0] > 0, 'undoing a reset of the cluster restores the usage')
    desk.enter('reset', '-A', 'physics')
    db = sqlite3.connect(desk.path('a.db'))
    with db:
        site_drawing.insert(db, 'tiny_assoc_table', dict(
            creation_time=1, id_assoc=99, user='eve', acct='physics', shares=1, lineage='/physics/0-eve/',
            id_parent=desk.change("SELECT id_assoc FROM tiny_assoc_table WHERE acct = 'physics' AND user = ''")[0][0]))
    db.close()
    desk.enter('debit', 50, '-u', 'eve', '-A', 'physics', at=NOW - 5)
    desk.run_at(NOW + 10)
    tap.ok(desk.usage('physics.eve')[0] > 49, 'a reset covers only associations that existed when it was entered')


def sets(desk):
    """Tests `ledger set`, which sets usage to an amount."""
    desk.begin()
    before = dict(zip(EVERYBODY, desk.usage(*EVERYBODY)))
    physics, root = desk.usage('physics', 'root')
    desk.enter('set', 4711, '-u', 'bob')
    tap.same(desk.run_at(NOW), ('incremental', ''), 'a set after the checkpoint time needs no full run')
    tap.same(desk.usage('physics.bob'), [4711.0], 'usage equals the set amount exactly at its time')
    tap.same(desk.usage(*EVERYBODY[:1], *EVERYBODY[2:]), [before[name] for name in EVERYBODY if name != 'physics.bob'],
             'a set does not change the usage of others')
    tap.ok(all(abs(got - was - 4711 + before['physics.bob']) < 1e-5 for got, was in zip(desk.usage('physics', 'root'), (physics, root))),
           'a set changes the usage of ancestors by the difference', desk.usage('physics', 'root'), physics, root)
    desk.all_runs_agree('a full run after a set computes the same values')
    for day in (1, 2, 9):
        desk.all_runs_agree(f'incremental and full runs agree {day} days after a set', NOW + day * DAY)
    desk.run_at(NOW + 14 * DAY)
    tap.ok(abs(desk.usage('physics.bob')[0] - 4711 / 4) < 1e-6, 'the set usage decays from its time on',
           desk.usage('physics.bob'))
    desk.run_at(NOW - 1, '--replace')
    tap.ok(abs(desk.usage('physics.bob')[0] - before['physics.bob']) < 1, 'a set does not count before its time')
    desk.enter('undo', 1, at=None)
    desk.run_at(NOW, '--replace')
    tap.same(desk.usage(*EVERYBODY), list(before.values()), 'undoing a set restores the usage')
    desk.begin({'usage.half_life': 0})
    desk.enter('set', '2h', '-u', 'alice', '-A', 'chemistry', at=NOW - HOUR)
    desk.run_at(NOW)
    tap.same(desk.usage('chemistry.alice'), [2 * 3600 + 3600], 'a running job adds usage after the set')
    desk.enter('refund', RUNS)
    desk.run_at(NOW)
    tap.same(desk.usage('chemistry.alice'), [2 * 3600], 'a refund subtracts only usage after the set')
    desk.enter('set', 0, '-u', 'alice', '-A', 'physics', at=NOW - 9 * DAY - DAY // 2)
    desk.run_at(NOW)
    tap.same(desk.usage('physics.alice'), [4 * DAY / 2], 'usage can be set to 0')
    tap.same(desk.query("SELECT kind, tres_seconds, id_job FROM fairmill_ledger WHERE id = 3"), [('set', 0, None)],
             'a set to 0 has an amount')
    desk.enter('debit', 50, '-u', 'erik', '-A', 'physics', '--partition', 'gpu')
    desk.enter('set', 7, '-u', 'erik', '-A', 'physics', '--partition', 'gpu', at=NOW + 1)
    desk.enter('set', 8, '-u', 'erik', '-A', 'physics', '--partition', 'gpu', at=NOW + 1)
    desk.all_runs_agree('incremental and full runs agree on two sets at one time', NOW + 1)
    tap.same(desk.usage('physics.erik'), [8], 'of two sets at one time, the later entry counts')
    desk.succeed('ledger', 'list', '--json')
    last = json.loads(desk.out)['ledger'][-1]
    tap.same([last[key] for key in ('kind', 'tres_seconds', 'associations', 'username', 'counts')], ['set', 8, 1, 'erik', True],
             'list --json has a set of an association with a partition')
    desk.succeed('ledger', 'list')
    tap.ok("set user 'erik' in account 'physics', partition 'gpu' to 8 TRES-seconds" in desk.out,
           'list describes a set of an association with a partition',
           desk.out)
    desk.succeed('ledger', 'list', '--partition', 'gpu', '--json')
    tap.same({row['partition'] for row in json.loads(desk.out)['ledger']}, {'gpu'},
             'list --partition selects entries of a partition')
    desk.succeed('ledger', 'set', 12345, '-u', 'bob', '--at', NOW, '-w', 'x', '--dry-run', '--now', NOW)
    tap.ok(' 12345 ' in desk.out, 'set --dry-run shows the new usage', desk.out)
    desk.begin({'usage.half_life': 0})
    desk.succeed('explain', '--jobs', 'bob')
    tap.ok('ledger' not in desk.out, 'explain --jobs does not mention an empty ledger', desk.out)
    desk.enter('set', 4711, '-u', 'bob')
    desk.enter('debit', 10, '-u', 'erik', '-A', 'physics', '--partition', 'gpu')
    desk.run_at(NOW)
    for name, words in (('bob', 'adds 4711'), ('physics', 'adds 4721')):
        desk.succeed('explain', '--jobs', name)
        tap.ok(f'The ledger {words}.' in desk.out, f'explain --jobs of {name} says that the ledger {words}', desk.out)
    desk.enter('credit', 5, '-u', 'carol')
    desk.run_at(NOW)
    desk.succeed('explain', '--jobs', 'carol')
    tap.ok('The ledger subtracts 5.' in desk.out, 'explain --jobs says that the ledger subtracts 5', desk.out)
    desk.begin()
    desk.enter('set', 4711, '-u', 'bob', at=NOW - 9 * DAY)
    kind, why = desk.run_at(NOW)
    tap.ok(kind == 'full' and 'ledger' in why, 'a set before the checkpoint time makes the next run full', kind, why)
    tap.same(desk.run_at(NOW + 1)[0], 'incremental', 'the second run after a set is incremental')


def undos(desk):
    desk.begin({'usage.half_life': 0})
    before, = desk.usage('physics.alice')

    def now():
        desk.run_at(NOW)
        return desk.usage('physics.alice')[0] - before
    desk.enter('debit', 100, '-u', 'alice', '-A', 'physics', at=NOW - HOUR)
    desk.enter('undo', 1, at=None)
    tap.same(now(), 0, 'an undone entry does not count')
    tap.same(desk.query('SELECT instant, undoes FROM fairmill_ledger WHERE id = 2'), [(NOW - HOUR, 1)],
             'an undo has the time of the undone entry')
    desk.ends(64, 'a second undo of an entry is rejected', 'ledger', 'undo', 1, '-w', 'x', '-y')
    desk.says('the error proposes to undo the undo', 'already undone', 'undo entry 2')
    desk.enter('undo', 2, at=None)
    tap.same(now(), 100, 'an undo can be undone')
    desk.enter('undo', 1, at=None)
    tap.same([now(), desk.query('SELECT undoes FROM fairmill_ledger WHERE id = 4')], [0, [(3,)]],
             'a second undo of an entry undoes the last undo')
    desk.ends(64, 'an undo of an unknown entry is rejected', 'ledger', 'undo', 77, '-w', 'x', '-y')
    desk.ends(64, "an undo of another cluster's entry is rejected", 'ledger', 'undo', 3, '-M', 'huge', '-w', 'x', '-y')
    desk.says('the error names the cluster of the entry', "entry 3", "'tiny'")
    desk.ends(64, 'an undo with --at is rejected', 'ledger', 'undo', 3, '--at', NOW, '-w', 'x', '-y')
    try:
        desk.query("INSERT INTO fairmill_ledger SELECT 50, cluster, instant, 1, 'x', 'x', 'undo', '', '', '', NULL,"
                   " NULL, NULL, 1 FROM fairmill_ledger WHERE id = 1")
    except sqlite3.IntegrityError:
        refused = True
    tap.ok(refused, 'the table allows one undo for each row')


def slurm_note(desk):
    """Slurm's own usage stays as it is."""
    desk.begin()
    note = "Slurm schedules by its own values unless `fairmill apply` gives it fairmill's.\n"
    desk.enter('credit', 5, '-u', 'carol', at=None)
    tap.ok(desk.out.endswith(note), 'after an entry, ledger says that Slurm does not know it', desk.out)
    for who, wanted in ((['-u', 'alice', '-A', 'physics'], 'user where name=alice account=physics'),
                        (['-u', 'erik', '-A', 'physics', '--partition', 'gpu'], 'user where name=erik account=physics partition=gpu'),
                        (['-A', 'physics'], 'account where name=physics')):
        desk.enter('reset', *who, at=None)
        tap.ok(desk.out.endswith(f"{note}To reset Slurm's usage, too:\nsacctmgr modify {wanted} cluster=tiny set rawusage=0\n"),
               f"after `reset {' '.join(who)}`, ledger prints the command that resets Slurm's usage", desk.out)
    for arguments, at in ((['-u', 'carol'], NOW - DAY), (['--all'], None)):
        desk.enter('reset', *arguments, at=at)
        tap.ok(desk.out.endswith(note), 'a reset that sacctmgr cannot make has no command', desk.out)


def dry_runs(desk):
    desk.begin({'usage.half_life': 0})
    before, = desk.usage('physics.alice')
    desk.succeed('ledger', 'debit', 12345, '-u', 'alice', '-A', 'physics', '--at', NOW, '-w', 'x', '--dry-run', '--now', NOW)
    line, = [line for line in desk.out.splitlines() if 'alice' in line and 'physics' in line and 'debit' not in line]
    tap.same(line.split()[2:4], [f'{before:.0f}', f'{before + 12345:.0f}'],
             '--dry-run shows usage before and after')
    tap.ok('chemistry' not in desk.out and 'root' in desk.out, '--dry-run shows only associations that change')
    tap.ok(all(len(line) <= 80 for line in desk.out.splitlines()), '--dry-run output fits into 80 columns', desk.out)
    tap.same(desk.entries(), 0, '--dry-run makes no entry')
    desk.succeed('ledger', 'debit', 1, '-u', 'alice', '-A', 'physics', '--at', NOW + 1, '-w', 'x', '--dry-run', '--now', NOW)
    tap.ok('no usage would change' in desk.out, '--dry-run of a future entry says that usage does not change', desk.out)
    desk.enter('refund', ALICE)
    desk.succeed('run', '--now', NOW, '--dry-run')
    shown = [line.split() for line in desk.out.splitlines() if 'alice' in line]
    tap.same([words[4] for words in shown if words[0] == 'physics'], ['0'], 'run --dry-run counts the ledger')


def questions(desk):
    desk.begin()
    desk.ends(64, 'without --yes and a terminal an entry is rejected', 'ledger', 'debit', 5, '-u', 'alice', '-A',
              'physics', '-w', 'x')
    desk.says('the error without a terminal names --yes', '--yes')
    for answer, entered in (('n', 0), ('', 0), ('y', 1)):
        ours, theirs = pty.openpty()
        os.write(ours, f'{answer}\n'.encode())
        done = subprocess.run([os.environ['FAIRMILL'], '-c', desk.path('fm.conf'), 'ledger', 'debit', '5', '-u',
                               'alice', '-A', 'physics', '--at', str(NOW), '-w', 'x'], stdin=theirs,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        os.close(ours)
        os.close(theirs)
        tap.same([desk.entries(), done.returncode], [entered, 1 - entered],
                 f"the answer '{answer}' on a terminal makes {entered} entries")
        tap.ok('Enter this?' in done.stdout and 'as of' in done.stdout,
               f"the question after the preview is printed (answer '{answer}')",
               done.stdout)


def refusals(desk):
    desk.begin()
    alice = ('-u', 'alice', '-A', 'physics')
    for what, *arguments in (
            ('no action',), ('an unknown action', 'credits', 5), ('no amount', 'credit', *alice),
            ('an amount of 0', 'credit', 0, *alice), ('a negative amount', 'debit', -5, *alice),
            ('a fraction of a TRES-second', 'credit', '0.5', *alice), ('a word as amount', 'credit', 'much', *alice),
            ('a too large amount', 'credit', 2 ** 63, *alice), ('too many hours', 'credit', '1e18h', *alice),
            ('no user', 'credit', 5, '-A', 'physics'), ('a user of two accounts', 'credit', 5, '-u', 'alice'),
            ('an unknown user', 'credit', 5, '-u', 'eve', '-A', 'physics'),
            ('a user of another account', 'credit', 5, '-u', 'carol', '-A', 'physics'),
            ('a partition without association', 'credit', 5, *alice, '--partition', 'gpu'),
            ('an unknown cluster', 'credit', 5, *alice, '-M', 'huge'),
            ('an invalid time', 'credit', 5, *alice, '--at', 'soon'),
            ('a time before 1970', 'credit', 5, *alice, '--at', '-5'),
            ('a job that is not a number', 'refund', 'x'), ('a refund with a user', 'refund', 1, '-u', 'alice'),
            ('a reset without target', 'reset'), ('a reset of all and of a user', 'reset', '--all', '-u', 'alice'),
            ('a reset of an unknown account', 'reset', '-A', 'biology'), ('a reset of an unknown user', 'reset', '-u', 'eve'),
            ('a reset of a partition without user',
             'reset', '-A', 'physics', '--partition', 'gpu'), ('a set without user', 'set', 5),
            ('a set of an account',
             'set', 5, '-A', 'physics'), ('a set of all', 'set', 5, '--all'), ('a set of a user of two accounts',
                                                                                          'set', 5, '-u', 'alice'),
            ('an undo with a time', 'undo', 1, '--at', NOW), ('a credit with a node', 'credit', 5, *alice, '--node', 'n1'),
            ('a set without amount', 'set', *alice), ('a set to a negative amount', 'set', -1, *alice), ('a set to a word',
                                                                                           'set', 'much', *alice)):
        desk.ends(64, f'{what} is rejected', 'ledger', *arguments, '-w', 'x', '-y')
    for action, option in (('list', ('--at', NOW)), ('list', ('--all',)), ('list', ('-w', 'x')), ('list', ('--dry-run',)),
                           ('list', ('-y',)), ('list', ('--node', 'n1')), ('list', ('--now', NOW)), ('export', ('--now', NOW)), ('export', ('--dry-run',)),
                           ('import', ('-u', 'alice')), ('import', ('--csv',))):
        desk.ends(64, f'{action} rejects {option[0]}', 'ledger', action, *option)
        desk.says(f'the error says which actions accept {option[0]}, but not {action}',
                  f'ledger {action}: does not accept --', ', which is for ')
    for why in ((), ('-w', ''), ('-w', ' '), ('-w', 'two\nlines'), ('-w', 'x' * 251)):
        desk.ends(64, f'the reason {why} is rejected', 'ledger', 'credit', 5, *alice, '-y', *why)
    tap.same(desk.entries(), 0, 'none of the rejected commands made an entry')
    desk.site(DRAWING + DRAWING.replace('tiny', 'huge'))
    desk.ends(64, 'with two clusters --clusters is required', 'ledger', 'credit', 5, *alice, '-w', 'x', '-y')
    desk.enter('credit', 5, *alice, '-M', 'huge')
    tap.same(desk.query('SELECT cluster FROM fairmill_ledger'), [('huge',)], '--clusters selects the cluster')
    desk.settings({'usage.source': 'rollup', 'usage.suspended': 'charged'})
    desk.ends(64, 'a refund is rejected if usage comes from rollups', 'ledger', 'refund', 1, '-M', 'tiny', '-w', 'x', '-y')


def lists(desk):
    desk.begin()
    desk.succeed('ledger', 'list', '-M', 'tiny')
    tap.same(desk.out, '', 'list prints nothing if the ledger is empty')
    desk.enter('credit', '2h', '-u', 'alice', '-A', 'physics')
    desk.enter('reset', '-A', 'physics', at='2025-01-01')
    desk.enter('undo', 1, at=None)
    desk.succeed('ledger', 'list', '--json')
    first, second, third = json.loads(desk.out)['ledger']
    tap.same([first[key] for key in ('id', 'cluster', 'kind', 'tres_seconds', 'username', 'account', 'instant', 'why',
                                     'undone_by', 'counts')],
             [1, 'tiny', 'credit', 7200, 'alice', 'physics', NOW, 'a test', 3, False], 'list --json has a credit')
    tap.same([second[key] for key in ('kind', 'account', 'username', 'associations', 'undone_by', 'counts')],
             ['reset', 'physics', '', 6, None, True], 'list --json has a reset')
    tap.same([third[key] for key in ('kind', 'undoes', 'counts')], ['undo', 1, True], 'list --json has an undo')
    desk.succeed('ledger', 'list')
    tap.ok('undone by entry 3' in desk.out and 'a test' in desk.out and desk.out.count('\n') == 4
           and time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(NOW)) in desk.out, 'list prints entries as text', desk.out)
    desk.succeed('ledger', 'list', '--csv')
    rows = list(csv.DictReader(io.StringIO(desk.out, newline='')))
    tap.same((list(rows[0]), rows[0]['instant'], rows[1]['tres_seconds'], rows[2]['undoes']),
             (list(first), str(NOW), '', '1'), 'list --csv has the columns of JSON')
    desk.succeed('ledger', 'list', '-P', '-o', 'id,kind,user,counts')
    tap.same(desk.out, 'ID|Kind|User|Counts\n1|credit|alice|0\n2|reset||1\n3|undo||1\n', 'columns can be selected')
    desk.ends(64, 'credit rejects --csv', 'ledger', 'credit', '1', '-u', 'alice', '--why', 'x', '--csv')
    desk.settings({'source.driver': None, 'source.database': None}, name='reader.conf')
    desk.ends(0, 'list works with settings that have only the results', 'ledger', 'list', settings='reader.conf')
    desk.ends(64, 'list of an unknown cluster is rejected', 'ledger', 'list', '-M', 'huge')
    desk.says('the error of list names the unknown cluster', "'huge'")


def who(desk):
    """The author of an entry is the kernel's loginuid, or SUDO_USER, or the user."""
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
                 f'the entry has the login with SUDO_USER {sudo}')


def at_once(desk):
    desk.begin()
    started = [desk.start('ledger', 'debit', i + 1, '-u', 'alice', '-A', 'physics', '-w', 'x', '-y') for i in range(8)]
    ended = [process.communicate() and process.returncode for process in started]
    tap.same([ended, [row[0] for row in desk.query('SELECT id FROM fairmill_ledger ORDER BY id')]],
             [[0] * 8, list(range(1, 9))], 'eight commands at once make one entry each')
    desk.ends(0, 'the hash chain is correct after eight commands at once', 'ledger', 'list')


def body():
    with Place() as place:
        place.__class__ = Desk
        for part in (adjustments, without_account, refunds, resets, sets, undos, slurm_note, dry_runs, questions, refusals, lists, who, at_once):
            part(place)


tap.main(body)
