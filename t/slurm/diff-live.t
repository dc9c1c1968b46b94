#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests diff with the output of live controllers. diff explains everything except usage that was
reset with sacctmgr.  For a reset it prints a guess and no command.  Each value that the test
changes in the output is reported.  Once the ledger contains the resets, everything is explained."""

import csv
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from live4 import CAPTURES, Capture
from program import FAIRMILL, publish, published

# Users whose rawusage was set to 0, and the times.  The accounting database does not record it.
RESETS = {'alpha': [(('-A', 'e2'), 1795362503), (('-u', 'irc', '-A', 'z1'), 1795362443)],
          'beta': [(('-A', 'e2'), 1795362503), (('-u', 'irc', '-A', 'z1'), 1795362439)]}


def fairmill(settings, *arguments):
    return subprocess.run([FAIRMILL, '-c', settings, *map(str, arguments)], capture_output=True, text=True)


def diff(settings, capture, path):
    done = fairmill(settings, 'diff', '--json', '--at', capture.now, path)
    return done.returncode, json.loads(done.stdout)['clusters'][0] if done.stdout else done.stderr


def write(path, rows):
    with open(path, 'w', encoding='utf-8', newline='') as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter='|', quoting=csv.QUOTE_NONE, quotechar=None,
                                lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)
    return path


def is_reset(row):
    return row['account'] == 'e2' or (row['account'], row['username']) == ('z1', 'irc')


def without_ledger(settings, capture, folder):
    path = os.path.join(folder, 'assoc_mgr')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(capture.text('assoc_mgr.txt.xz'))
    for name, file in (('sshare', capture.path('sshare_m.psv')), ('scontrol show assoc_mgr', path)):
        status, answer = diff(settings, capture, file)
        left = [row for row in answer['differences'] if row['username'] and row['value'] == 'rawusage' and row['left']]
        what = f'{capture.name}, {name}'
        tap.ok(status == 1 and left and all(map(is_reset, left)), f'{what}: only reset usage is left over', *left)
        tap.same(answer['newest_step'], capture.now, f'{what}: diff finds the newest decay cycle')
        guessed = [f"{row['account']}/{row['username']}" for row in left if row['left'] < 0]
        tap.ok(all(any(note.startswith('guess: ') and name in note for note in answer['notes']) for name in guessed),
               f'{what}: diff guesses the cause of each reset', guessed, answer['notes'])
        reset = [cause for cause in answer['causes'] if cause['cause'] == 'reset']
        tap.same((answer['commands'], reset[0]['usage']), ([], 0), f'{what}: a guess is not a cause and has no command')
        done = fairmill(settings, 'diff', '--at', capture.now, file)
        tap.ok('guess: ' in done.stdout and 'fairmill ' not in done.stdout,
               f'{what}: the text output has the guess', done.stdout)
        tap.same(done.stderr, '', f'{what}: there is no warning about the age of the results')


def changes(row, users):
    yield 'RawUsage', str(int(row['RawUsage']) + 3)
    yield 'NormShares', f"{float(row['NormShares']) + .001:.6f}"
    if row['FairShare']:
        one = float(row['FairShare'])
        yield 'FairShare', f'{(round(one * users) % users + 1) / users:.6f}' if users else f'{abs(one - .01):.6f}'
    if row['EffectvUsage'] and float(row['EffectvUsage']) > .001:
        yield 'EffectvUsage', f"{float(row['EffectvUsage']) + .001:.6f}"
    if row.get('LevelFS') and row['LevelFS'] != 'inf':
        yield 'LevelFS', f"{float(row['LevelFS']) + .01:.6f}"


def changed(settings, capture, folder):
    with open(capture.path('sshare_m.psv'), encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    users = sum(row['User'] != '' for row in rows) if 'LevelFS' in rows[0] else 0
    cells = [(row, column, value) for row in rows[1:] for column, value in changes(row, users)]
    unfound = []
    for row, column, value in random.Random(capture.name).sample(cells, 30):
        path = write(os.path.join(folder, 'p'), [row | {column: value} if each is row else each for each in rows])
        if diff(settings, capture, path)[0] != 1:
            unfound.append((row['Account'], row['User'], row['Partition'], column, row[column], value))
    tap.ok(not unfound, f'{capture.name}: no changed value is explained', *unfound)


def with_ledger(settings, capture, folder):
    """A reset in the ledger at the controller's time removes the difference."""
    for whose, instant in RESETS[capture.cluster]:
        done = fairmill(settings, 'ledger', 'reset', *whose, '--at', instant, '-w', 'rawusage=0', '-y')
        if done.returncode:
            tap.ok(False, 'the ledger has the reset', done.stderr)
    fairmill(settings, 'run', '--now', capture.now, '--replace')
    status, answer = diff(settings, capture, capture.path('sshare_m.psv'))
    left = [row for row in answer['differences'] if row['left'] or row['contradicts']]
    tap.same((status, left), (0, []), f'{capture.name}: with the resets in the ledger all usage is explained')
    by_ledger = [cause for cause in answer['causes'] if cause['cause'] in ('ledger', 'reset') and cause['usage'] > .01]
    tap.same(by_ledger, [], f'{capture.name}: the ledger is not a cause of differences')
    tap.same([note for note in answer['notes'] if 'guess' in note], [], f'{capture.name}: there is no guess')
    status, answer = diff(settings, capture, os.path.join(folder, 'assoc_mgr'))
    tap.same(status, 0, f'{capture.name}: with two decimals all of scontrol show assoc_mgr is explained')


def only_in_ledger(settings, capture):
    """A reset that is only in the ledger is a difference with the cause ledger."""
    fairmill(settings, 'ledger', 'reset', '-A', 'd2', '--at', capture.now - 90, '-w', 'ours alone', '-y')
    fairmill(settings, 'run', '--now', capture.now, '--replace')
    status, answer = diff(settings, capture, capture.path('sshare_m.psv'))
    by_ledger = {row['username'] for row in answer['differences']
                 if row['value'] == 'rawusage' and row['username'] and abs(row['ledger']) > 1}
    used = {row['username'] for row in answer['differences'] if row['value'] == 'rawusage' and
            row['account'] == 'd2' and row['username'] and row['sshare'] > 100}
    tap.ok(status == 0 and used and used <= by_ledger,
           f'{capture.name}: a reset only in the ledger has the cause ledger',
           status, by_ledger, used)


def from_their_usage(capture, folder):
    """Runs with one job of one second for each association that has usage of its own."""
    theirs = capture.usages()
    settings = capture.load(folder, usage=dict(charge='billing', half_life='0', reset_period='none'))
    db = sqlite3.connect(f'{folder}/{capture.name}.source')
    name = f'{capture.cluster}_job_table'
    rows = list(db.execute(f'SELECT id_assoc, acct, user, parent_acct FROM {capture.cluster}_assoc_table '
                           'WHERE deleted = 0'))
    account = {acct: number for number, acct, user, _ in rows if not user}
    own = dict(theirs)
    for number, acct, user, above in rows:
        parent = account[acct] if user else account.get(above)
        if parent and parent != number:
            own[parent] -= theirs[number]
    model = db.execute(f'SELECT * FROM {name} WHERE time_end > 0 LIMIT 1')
    columns = [column[0] for column in model.description]
    values = dict(zip(columns, model.fetchone()))
    db.execute(f'DELETE FROM {name}')
    for number, usage in own.items():
        if round(usage * 100) > 0:
            values |= dict(job_db_inx=number, id_job=number, id_assoc=number, time_submit=capture.now - 9000,
                           time_eligible=capture.now - 9000, time_start=capture.now - 9000, id_qos=1, state=3,
                           time_end=capture.now - 8999, tres_alloc=f'1=1,5={round(usage * 100)}')
            db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})",
                       [values[column] for column in columns])
    db.commit()
    db.close()
    publish(settings, capture.now)
    printed, off = capture.sshare(), []
    for row in published(capture.results, capture.cluster).values():
        theirs = printed[row['account'], row['user_name'], row['partition_name']]['FairShare']
        # Two decimals of usage can change a factor by up to one unit of its last digit.
        if row['user_name'] and abs(row['fairshare'] - float(theirs)) > 1.5e-6:
            off.append((row['account'], row['user_name'], row['fairshare'], theirs))
    tap.ok(not off, f"{capture.name}: the controller's own usage gives every FairShare", *off)


def by_documents(capture, folder):
    """With conformance = documents, a removed and added user is an additional cause."""
    settings = capture.load(folder, fairshare=dict(conformance='documents'))
    publish(settings, capture.now)
    status, answer = diff(settings, capture, capture.path('sshare_m.psv'))
    left = [row for row in answer['differences'] if row['username'] and row['value'] == 'rawusage' and row['left'] and
            not is_reset(row)]
    readded = [(row['account'], row['username']) for row in answer['differences']
               if row['value'] == 'rawusage' and row['username'] and abs(row['readded']) > 1]
    # The removed user had usage only on beta.
    tap.same((left, readded), ([], [('x1a', 'uucp')] if capture.cluster == 'beta' else []),
             f'{capture.name}: with conformance = documents everything is explained')


def body():
    for name in CAPTURES:
        capture = Capture(name)
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            settings = capture.load(folder)
            publish(settings, capture.now)
            without_ledger(settings, capture, folder)
            with_ledger(settings, capture, folder)
            changed(settings, capture, folder)
            only_in_ledger(settings, capture)
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            by_documents(capture, folder)
        # While jobs run, these two algorithms use values from the middle of a decay cycle.
        if name != 'alpha_run2':
            with tempfile.TemporaryDirectory(prefix='fm') as folder:
                from_their_usage(capture, folder)


tap.main(body)
