#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""diff reads what sshare, scontrol and sprio of live clusters printed, each to the digits that it has."""

import csv
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from live4 import Capture
from program import fairmill


class Printed:
    """A capture that is published, and its prints as files."""

    def __init__(self, name, folder):
        self.capture, self.folder = Capture(name), folder
        self.capture.publish(folder)
        self.settings = os.path.join(folder, f'{name}.conf')

    def write(self, text, name='print'):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def diff(self, text, *options):
        """The exit status, and what --json says of the cluster, or the message."""
        path = text if text.startswith('/') else self.write(text)
        status, out, err = fairmill(self.settings, 'diff', '--at', self.capture.now, '--json', *options, path)
        return status, json.loads(out)['clusters'][0] if out else err


def rows(answer, value):
    return {row['id_assoc']: row for row in answer['differences'] if row['value'] == value}


def usages(printed):
    capture = printed.capture
    theirs = capture.usages()
    text = capture.text('assoc_mgr.txt.xz')
    for what, form in (('assoc_mgr', text),
                       ('scontrol -o', text.replace('\n    ', ' '))):
        _, answer = printed.diff(form)
        got = rows(answer, 'rawusage')
        tap.same(set(got), set(theirs), f'{capture.name}: each association of {what} is one of ours')
        off = {number: row['sshare'] for number, row in got.items()
               if not abs(row['sshare'] - theirs[number]) <= .0050001}
        tap.same(off, {}, 'and has the usage that was printed, in both decimals')
    for file in ('sshare.psv', 'sshare_m.psv'):
        _, answer = printed.diff(capture.path(file))
        got = rows(answer, 'rawusage')
        tap.same(set(got), set(theirs), f'so is each of {file}')
        off = {number: row['sshare'] for number, row in got.items()
               if not int(theirs[number]) <= row['sshare'] <= int(theirs[number]) + 1}
        tap.same(off, {}, 'whose usage is cut to an integer')


def columns(printed):
    """Any of sshare's columns in any order."""
    with open(printed.capture.path('sshare_m.psv'), encoding='utf-8', newline='') as file:
        lines = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    theirs = {(row['Account'].strip(), row['User'], row['Partition']): row for row in lines}
    for names in (['TRESRunMins', 'FairShare', 'Partition', 'User', 'GrpTRESMins', 'Account'],
                  ['RawUsage', 'User', 'Partition', 'Account', 'TRESRunMins']):
        _, answer = printed.diff('\n'.join('|'.join(row[name] for name in names)
                                           for row in [dict(zip(names, names)), *lines]) + '\n')
        tap.same(len(rows(answer, 'rawusage')), len(lines), f"{', '.join(names)} are enough")
        name, value, within = ('RawUsage', 'rawusage', 1) if 'RawUsage' in names else ('FairShare', 'fairshare', 1e-6)
        off = [row for row in rows(answer, value).values()
               if row['username'] and not abs(row['sshare'] - float(theirs[
                   row['account'], row['username'], row['partition'] or ''][name])) <= within + 1e-9]
        tap.same(off, [], 'and are read')


def refused(printed):
    text = printed.capture.text('assoc_mgr.txt.xz')
    usage = text.index('UsageRaw/Norm/Efctv=')
    line = text[:usage].count('\n') + 1
    for what, bad, said in (
            ('a usage that is none', text.replace('UsageRaw/Norm/Efctv=', 'UsageRaw/Norm/Efctv=x', 1),
             f"line {line}: 'x"),
            ('a broken-off association', text[:usage], f'line {line}'),
            ('another cluster', text.replace('ClusterName=', 'ClusterName=x'), "no association of cluster 'beta'"),
            ('no column that can be compared', 'Account|User|GrpTRESMins\nroot||\n', 'line 1'),
            ('a number wider than its column', 'Account User RawUsage FairShare\n------- ---- -------- ---------\n'
             'root         1234567890 1.0\n', 'line 3')):
        status, message = printed.diff(bad)
        tap.ok(status == 65 and said in message and "print'" in message,
               f'{what} is refused, with its file and line', message)


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        printed = Printed('beta_run2', folder)
        usages(printed)
        columns(printed)
        refused(printed)
        usages(Printed('alpha_susp', folder))


tap.main(body)
