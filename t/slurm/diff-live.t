#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""diff explains all that the controllers of live clusters printed, each change of it is found, and the
commands that it prints have our ledger forget what they were told to forget."""

import csv
import json
import os
import random
import shlex
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from live4 import CAPTURES, Capture
from program import FAIRMILL, publish, published

# Who was told rawusage=0, and what the controllers' newest passes say.
RESET = ['-A e2', '-u irc -A z1']
NEAR = dict(alpha=.001, beta=.08)


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


def explained(settings, capture, folder):
    status, answer = diff(settings, capture, capture.path('sshare_m.psv'))
    left = [row for row in answer['differences'] if row['left'] or row['contradicts']]
    tap.same((status, left), (0, []), f'{capture.name}: all that sshare printed is explained')
    tap.same(answer['newest_step'], capture.now, f'{capture.name}: the newest pass is found')
    whose = [command.split(' -M ')[0].removeprefix('fairmill ledger reset ') for command in answer['commands']
             if ' reset ' in command]
    tap.same(whose, RESET, f'{capture.name}: and who was told to forget usage')
    path = os.path.join(folder, 'assoc_mgr')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(capture.text('assoc_mgr.txt.xz'))
    status, second = diff(settings, capture, path)
    tap.same((status, second['commands']), (0, answer['commands']),
             f'{capture.name}: all of scontrol show assoc_mgr is explained likewise, by two decimals')
    return answer['commands']


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
    tap.ok(not unfound, f'{capture.name}: of values that were changed by hand none is explained', *unfound)


def closed(settings, capture, commands):
    """With diff's own commands our usage is the controller's, and its reset no difference."""
    for command in commands:
        done = fairmill(settings, *shlex.split(command)[1:], '-y')
        if done.returncode:
            tap.ok(False, command, done.stderr)
    fairmill(settings, 'run', '--now', capture.now, '--replace')
    ours, theirs = published(capture.results, capture.cluster), capture.usages()
    off = [(row['account'], row['user_name'], row['usage_raw'], theirs[number]) for number, row in ours.items()
           if (row['account'] == 'e2' or (row['account'], row['user_name']) == ('z1', 'irc')) and
           abs(row['usage_raw'] - theirs[number]) > NEAR[capture.cluster] * theirs[number] + .005]
    tap.ok(not off, f'{capture.name}: its commands close the gap', *off)
    status, answer = diff(settings, capture, capture.path('sshare_m.psv'))
    resets = [cause for cause in answer['causes'] if cause['cause'] == 'reset' and cause['usage']]
    tap.same((status, answer['commands'], resets), (0, [], []), f'{capture.name}: and then there is no reset left')


def from_their_usage(capture, folder):
    """A job of a second for each association that has used something itself."""
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
        # Two decimals of usage are worth up to one of the last digit of a factor.
        if row['user_name'] and abs(row['fairshare'] - float(theirs)) > 1.5e-6:
            off.append((row['account'], row['user_name'], row['fairshare'], theirs))
    tap.ok(not off, f"{capture.name}: from the controller's own usage every FairShare follows", *off)


def by_documents(capture, folder):
    """Of a run by the documents, who was removed and added again is a cause besides."""
    settings = capture.load(folder, fairshare=dict(conformance='documents'))
    publish(settings, capture.now)
    status, answer = diff(settings, capture, capture.path('sshare_m.psv'))
    readded = [(row['account'], row['username']) for row in answer['differences']
               if row['value'] == 'rawusage' and row['username'] and abs(row['readded']) > 1]
    # Only on beta had the user who was removed used something.
    tap.same((status, readded), (0, [('x1a', 'uucp')] if capture.cluster == 'beta' else []),
             f'{capture.name}: of a run by the documents all is explained, too')


def body():
    for name in CAPTURES:
        capture = Capture(name)
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            settings = capture.load(folder)
            publish(settings, capture.now)
            commands = explained(settings, capture, folder)
            changed(settings, capture, folder)
            closed(settings, capture, commands)
        with tempfile.TemporaryDirectory(prefix='fm') as folder:
            by_documents(capture, folder)
        # While jobs run, these two algorithms have what was used in the midst of a pass.
        if name != 'alpha_run2':
            with tempfile.TemporaryDirectory(prefix='fm') as folder:
                from_their_usage(capture, folder)


tap.main(body)
