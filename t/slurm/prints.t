#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests how diff reads the output of sshare, scontrol and sprio of live clusters.  It compares the
values to all printed digits."""

import contextlib
import csv
import json
import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from live4 import Capture
from program import fairmill, publish, sqlite_settings, write_settings

LIVE1 = os.path.join(dump.DATA, 'live1')
PASS = 1795229968  # the controller's decay cycle that live1's sprio shows
NICE = {144: 100., 163: 100., 166: 100.}  # not recorded in any accounting database


class Printed:
    """A published capture, and its output as files."""

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
        """Returns the exit status, and the JSON object of the cluster or the message."""
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
        tap.same(set(got), set(theirs), f'{capture.name}: {what} has only associations of the cluster')
        off = {number: row['sshare'] for number, row in got.items()
               if not abs(row['sshare'] - theirs[number]) <= .0050001}
        tap.same(off, {}, 'the printed usage is read with both decimals')
    for file in ('sshare.psv', 'sshare_m.psv'):
        _, answer = printed.diff(capture.path(file))
        got = rows(answer, 'rawusage')
        tap.same(set(got), set(theirs), f'{file} has only associations of the cluster')
        off = {number: row['sshare'] for number, row in got.items()
               if not int(theirs[number]) <= row['sshare'] <= int(theirs[number]) + 1}
        tap.same(off, {}, 'usage that sshare truncated to an integer is read')


def columns(printed):
    """Tests sshare's columns in any order."""
    with open(printed.capture.path('sshare_m.psv'), encoding='utf-8', newline='') as file:
        lines = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    theirs = {(row['Account'].strip(), row['User'], row['Partition']): row for row in lines}
    for names in (['TRESRunMins', 'FairShare', 'Partition', 'User', 'GrpTRESMins', 'Account'],
                  ['RawUsage', 'User', 'Partition', 'Account', 'TRESRunMins']):
        _, answer = printed.diff('\n'.join('|'.join(row[name] for name in names)
                                           for row in [dict(zip(names, names)), *lines]) + '\n')
        tap.same(len(rows(answer, 'rawusage')), len(lines), f"{', '.join(names)} are enough to compare")
        name, value, within = ('RawUsage', 'rawusage', 1) if 'RawUsage' in names else ('FairShare', 'fairshare', 1e-6)
        off = [row for row in rows(answer, value).values()
               if row['username'] and not abs(row['sshare'] - float(theirs[
                   row['account'], row['username'], row['partition'] or ''][name])) <= within + 1e-9]
        tap.same(off, [], 'the values in these columns are read')


def comments(printed):
    """Tests comments of administrators, after all values that are compared."""
    text = printed.capture.text('assoc_mgr.txt.xz')
    plain = printed.diff(text)
    for comment in ('grant ID=4711 of 2026', 'moved from ClusterName=old Account=x', 'UsageRaw/Norm/Efctv=x',
                    'SharesRaw/Norm/Level/Factor=7/x', 'QOS Records', 'Comment=ID=1', '', '=', 'Account=root UserName='):
        for what, form in (('scontrol', text), ('scontrol -o', text.replace('\n    ', ' '))):
            records = form.split('ClusterName=')
            last, end, rest = records[-1].partition('\n\n')
            with_comments = [part.rstrip('\n') + f'\n    Comment={comment}\n\n' for part in records[1:-1]]
            with_comments.append(f'{last}\n    Comment={comment}{end}{rest}')
            if what.endswith('-o'):
                with_comments = [part.replace('\n    Comment', ' Comment') for part in with_comments]
            tap.same(printed.diff('ClusterName='.join([records[0], *with_comments])), plain,
                     f'{what}: Comment={comment} is read as text')


def as_json(printed, release):
    """Returns the output of sshare --json for sshare.psv, with all digits and the infinity of each
    release."""
    def number(value, known=True):
        return dict(set=known, infinite=False, number=value)

    def level(text):
        if text == 'inf':
            return number(1.8446744073709552e+19) if release == '26.05' else dict(set=False, infinite=True, number=0.0)
        return number(float(text or 0), text != '')

    found, accounts = [], ['']
    with open(printed.capture.path('sshare_m.psv'), encoding='utf-8', newline='') as file:
        lines = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    by_name = {(row['account'], row['username'], row['partition'] or ''): row['id_assoc'] for row in rows(
        printed.diff(printed.capture.path('sshare_m.psv'))[1], 'rawusage').values()}
    for line in lines:
        depth = len(line['Account']) - len(line['Account'].lstrip(' '))
        account, user = line['Account'].strip(), line['User']
        if not user:
            accounts[depth + 1:] = [account]
        found.append(dict(
            id=by_name[account, user, line['Partition']], cluster=printed.capture.cluster, name=user or account,
            parent=account if user else accounts[depth], partition=line['Partition'],
            shares_normalized=number(float(line['NormShares'])),
            shares=number(2147483647 if line['RawShares'] == 'parent' else int(line['RawShares'] or 0),
                          line['RawShares'] != ''),
            effective_usage=number(float(line['EffectvUsage'] or 0), line['EffectvUsage'] != ''),
            usage_normalized=number(float(line['NormUsage'] or 0), line['NormUsage'] != ''),
            usage=int(line['RawUsage']),
            fairshare=dict(factor=number(float(line['FairShare'] or 0)), level=level(line.get('LevelFS', ''))),
            type=['USER' if user else 'ASSOCIATION']))
    return dict(shares=dict(shares=found, total_shares=0), errors=[], warnings=[])


def json_of_sshare(printed):
    _, plain = printed.diff(printed.capture.path('sshare_m.psv'))
    for release in ('24.11', '26.05'):
        print_of = as_json(printed, release)
        other = [row | dict(cluster='other') for row in print_of['shares']['shares']]
        print_of['shares']['shares'] += other
        _, answer = printed.diff(json.dumps(print_of, indent=2))
        tap.same(len(rows(answer, 'rawusage')), len(rows(plain, 'rawusage')), f'{release}: each row of JSON is read')
        off = [number for number, row in rows(answer, 'rawusage').items()
               if abs(row['sshare'] - rows(plain, 'rawusage')[number]['sshare']) > 1]
        tap.same(off, [], 'JSON and table have the same usage')
        off = [number for number, row in rows(answer, 'fairshare').items() if row['username'] and
               abs(row['sshare'] - rows(plain, 'fairshare')[number]['sshare']) > 1e-6]
        tap.same(off, [], 'JSON and table have the same FairShare')
    for what, bad, said in (
            ('JSON of something else', '{"jobs": []}', 'shares.shares'),
            ('broken JSON', '{"shares": {"shares": [', 'JSON'),
            ('a list', '[1, 2]', 'shares.shares'),
            ('YAML', '---\nshares:\n  shares:\n  - id: 1\n', 'YAML'),
            ('a row without an id', '{"shares":{"shares":[{"cluster":"beta","name":"root"}]}}', 'shares.shares[0]'),
            ('usage that is text', json.dumps(dict(shares=dict(shares=[dict(
                other[0], cluster='beta', usage='x')]))), 'usage'),
            ('JSON of another cluster', json.dumps(dict(shares=dict(shares=other))), "cluster 'beta'")):
        status, message = printed.diff(bad)
        tap.ok(status == 65 and said in message, f'the message explains {what}', message)


def run_minutes(printed, at_least):
    """slurmctld keeps the remaining time of requeued jobs, and of jobs that started since the last
    decay cycle.  The other values are the same."""
    _, out, _ = fairmill(printed.settings, 'show', '-l', '-m', '-P')
    ours = {(row['Account'], row['User'], row['Partition']): row for row in csv.DictReader(
        out.splitlines(), delimiter='|', quoting=csv.QUOTE_NONE)}
    theirs = printed.capture.sshare()
    tap.same(set(ours), set(theirs), f'{printed.capture.name}: show and sshare have the same rows')
    tap.same({row['GrpTRESMins'] for row in ours.values()}, {row['GrpTRESMins'] for row in theirs.values()},
             'no association has a limit')
    same = [name for name, row in theirs.items() if ours[name]['TRESRunMins'] == row['TRESRunMins']]
    tap.ok(len(same) >= at_least, f'{len(same)} of {len(theirs)} TRESRunMins agree with sshare -m', *theirs)
    running = [name for name in same if 'cpu=0,' not in theirs[name]['TRESRunMins']]
    print(f"# {printed.capture.name}: of {len(running)} of them jobs run")


def refused(printed):
    text = printed.capture.text('assoc_mgr.txt.xz')
    usage = text.index('UsageRaw/Norm/Efctv=')
    line = text[:usage].count('\n') + 1
    for what, bad, said in (
            ('a usage that is not a number', text.replace('UsageRaw/Norm/Efctv=', 'UsageRaw/Norm/Efctv=x', 1),
             f"line {line}: 'x"),
            ('a truncated association', text[:usage], f'line {line}'),
            ('another cluster', text.replace('ClusterName=', 'ClusterName=x'), "no associations of cluster 'beta'"),
            ('a list without associations', 'Current Association Manager state\n\nUser Records\n\nUserName=a(1)\n'
             '\nNo associations currently cached in Slurm.\n', "no associations of cluster 'beta'"),
            ('headings', 'Account|User|RawUsage|FairShare\n', "no associations of cluster 'beta'"),
            ('headings above dashes', 'Account User RawUsage\n------- ---- --------\n',
             "no associations of cluster 'beta'"),
            ('no column that can be compared', 'Account|User|GrpTRESMins\nroot||\n', 'line 1'),
            ('a number wider than its column', 'Account User RawUsage FairShare\n------- ---- -------- ---------\n'
             'root         1234567890 1.0\n', 'line 3')):
        status, message = printed.diff(bad)
        tap.ok(status == 65 and said in message and "print'" in message,
               f'{what} is rejected, with its file and line', message)


class Queue:
    """live1, published as of its controller's decay cycle."""

    def __init__(self, folder):
        self.folder, self.settings = folder, os.path.join(folder, 'live1.conf')
        dump.to_sqlite(dump.read('live1', 'accounting.sql.xz'), f'{folder}/a.db', ('live',))
        self.place = dict(sqlite_settings(f'{folder}/a.db', f'{folder}/r.db'),
                          slurm=dict(conf=os.path.join(dump.DATA, 'slurm_conf', 'live1.conf')))
        self.publish('slurmctld')

    def publish(self, conformance):
        write_settings(self.settings, dict(self.place, fairshare=dict(conformance=conformance)))
        publish(self.settings, PASS)

    def read(self, name):
        with open(os.path.join(LIVE1, name), encoding='utf-8') as file:
            return file.read()

    def diff(self, text, at=PASS, *options):
        path = os.path.join(self.folder, 'sprio')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        status, out, err = fairmill(self.settings, 'diff', '--at', at, *(options or ('--json',)), path)
        return status, json.loads(out)['clusters'][0] if out and not options else out + err


def found(answer, *names):
    return [tuple(row[name] for name in names) for row in answer['differences']]


def queue_as_printed(queue):
    bars, table = queue.read('sprio.psv'), queue.read('sprio_long.txt')
    no_heading = [line.split('|') for line in bars.splitlines()[1:]]
    partitions = [line.split()[1] for line in table.splitlines()[1:]]
    # Columns %i|%u|%r|%Y|%A|%B|%F|%J|%P|%Q|%S|%T|%N without headings, as some sites print them.
    forms = dict(bars=bars, table=table,
                 headless=''.join('|'.join([*line[:2], partition, *line[2:]]) + '\n'
                                  for line, partition in zip(no_heading, partitions)))
    for name, text in forms.items():
        status, answer = queue.diff(text)
        tap.same((status, answer['explained'], answer['only_printed'], answer['compared']),
                 (0, True, 0, len(no_heading)), f'{name}: all values of the queue are explained')
        tap.same(set(found(answer, 'jobid', 'factor', 'difference', 'why')),
                 {(job, 'nice', nice, 'nice') for job, nice in NICE.items()},
                 f'{name}: the only differences are facts that no accounting database has')
        tap.same(answer['only_ours'], 4, f'{name}: jobs that depend on others are not in the output')
    status, answer = queue.diff(queue.read('sprio_normalised.psv'))
    tap.same((status, set(found(answer, 'jobid', 'factor'))), (1, {(job, 'priority') for job in NICE}),
             'normalized factors are compared even if a lower priority is unexplained')
    status, out = queue.diff(queue.read('sprio_normalised.psv'), PASS, '-o', 'jobid,factor,ours')
    tap.ok(status == 1 and '144 priority' in out and 'stale' not in out, '--columns selects columns of priorities', out)
    for what, text in (('headings', table.splitlines()[0] + '\n'), ('headings between bars', bars.splitlines()[0]),
                       ('headings of one of two clusters', 'CLUSTER: live\n' + table.splitlines()[0] +
                        '\nCLUSTER: other\n' + table)):
        status, message = queue.diff(text)
        tap.ok(status == 65 and "no jobs of cluster 'live'" in message, f'{what} alone cannot be compared', message)
    status, answer = queue.diff('CLUSTER: other\n' + table + '\nCLUSTER: live\n' + table)
    tap.same((status, answer['compared']), (0, len(no_heading)), 'one of several clusters is compared')


def pairs_of(queue, naming='{}'):
    """Returns rows of `sprio -o '%i|%r|%y|%Y|%a|%A...'`, with each factor next to its weighted
    value."""
    weighted = [line.split('|') for line in queue.read('sprio.psv').splitlines()]
    factors = [line.split('|') for line in queue.read('sprio_normalised.psv').splitlines()]
    names = ['PARTITION', *(naming.format(line.split()[1]) for line in queue.read('sprio_long.txt').splitlines()[1:])]
    both = ('PRIORITY', 'AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'PARTITION', 'QOS', 'TRES')
    return [[one[0], name, *(cell for heading in both for cell in (other[factors[0].index(heading)],
                                                                  one[weighted[0].index(heading)])), one[-1]]
            for one, other, name in zip(weighted, factors, names)]


def pairs(queue):
    wanted = {(job, 'nice') for job in NICE}
    rows_of = pairs_of(queue)
    place = [i for i, heading in enumerate(rows_of[0]) if heading == 'PARTITION']
    without_tres = [i for i, heading in enumerate(rows_of[0]) if heading != 'TRES']
    forms = {'bars': range(len(rows_of[0])), 'bars without a name': [i for i in range(len(rows_of[0])) if i != place[0]],
             'the name last': [i for i in range(len(rows_of[0])) if i != place[0]] + [place[0]],
             'only partitions': [0, *place], 'only partitions, no name': [0, *place[1:]],
             'a name and a factor': [0, *place[:2]], 'a name and a weighted value': [0, place[0], place[2]]}
    for name, columns in forms.items():
        text = ''.join('|'.join(row[i] for i in columns) + '\n' for row in rows_of)
        status, answer = queue.diff(text)
        tap.same((status, answer['compared'], answer['only_printed'],
                  set(found(answer, 'jobid', 'factor')) - wanted), (0, len(rows_of) - 1, 0, set()),
                 f'factors next to weighted values are compared: {name}')
    table = ''.join(' '.join(f'{row[i]:>16}' for i in without_tres) + '\n' for row in rows_of)
    status, answer = queue.diff(table)
    tap.same((status, answer['compared']), (0, len(rows_of) - 1),
             'factors next to weighted values are compared in a table')
    for column in place[1:]:
        row = [line for line in rows_of[1:] if line[0] == '26'][0]
        other = [line if line is not row else line[:column] + [str(float(line[column]) + 40) if '.' in line[column]
                                                              else str(int(line[column]) + 40)] + line[column + 1:]
                 for line in rows_of]
        status, answer = queue.diff(''.join('|'.join(line) + '\n' for line in other))
        tap.same((status, set(found(answer, 'jobid', 'factor')) - wanted), (1, {(26, 'partition')}),
                 'a difference in a factor or its weighted value is found')
    status, answer = queue.diff(''.join('|'.join(row) + '\n' for row in pairs_of(queue, '20')))
    tap.same((status, answer['compared']), (1, 0), 'a partition with a numeric name is read as a name')


def weights(queue):
    lines = queue.read('sprio_weights.txt').splitlines()
    for what, text in (('sprio -w', '\n'.join(lines)), ('sprio -hw', lines[-1] + '\n'),
                       ('sprio -w with bars', 'JOBID|USER|AGE\nWeights||1000\n'),
                       ('sprio -hw with bars', 'Weights|1000\n'),
                       ('sprio -w with another first column', 'USER|JOBID|AGE\n|Weights|1000\n')):
        status, message = queue.diff(text)
        tap.ok(status == 65 and 'weights' in message and 'sprio -l' in message,
               f'the message for {what} names sprio -l', message)


def headless(queue):
    """From Slurm 24.11 on, sites also print the QOS, as the last column or after the partition."""
    bars, table = queue.read('sprio.psv'), queue.read('sprio_long.txt')
    rows_of = [line.split('|') for line in bars.splitlines()[1:]]
    names = [line.split()[1] for line in table.splitlines()[1:]]
    with contextlib.closing(sqlite3.connect(os.path.join(queue.folder, 'r.db'))) as db:
        names_of = {(job, name): qos for job, name, qos in db.execute(
            'SELECT id_job, partition_name, qos FROM fairmill_job_priority')}
    qos = [names_of[int(row[0]), name] for row, name in zip(rows_of, names)]
    for what, form in (('last', lambda row, name, each: [*row[:2], name, *row[2:], each]),
                       ('after the partition', lambda row, name, each: [*row[:2], name, each, *row[2:]])):
        text = ''.join('|'.join(form(*each)) + '\n' for each in zip(rows_of, names, qos))
        status, answer = queue.diff(text)
        tap.same((status, answer['compared'], answer['only_printed']), (0, len(rows_of), 0),
                 f'without headings the QOS may be {what}')
        other = text.replace(f'|{qos[0]}', '|other')
        status, answer = queue.diff(other)
        tap.ok(status == 1 and answer['only_printed'], 'the QOS is compared', status)
    status, message = queue.diff('JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n'
                                 '26 short a bob PD 0:00 1 (Priority)\n')
    tap.ok(status == 65 and 'squeue' in message, "the message for squeue's output names squeue", message)


def changed(text, job, column, value):
    lines = [line.split('|') for line in text.splitlines()]
    for line in lines[1:]:
        if line[0] == str(job):
            line[lines[0].index(column)] = value(line[lines[0].index(column)])
    return '\n'.join('|'.join(line) for line in lines) + '\n'


def wrong_queues(queue):
    bars = queue.read('sprio.psv')
    for column, factor in (('AGE', 'age'), ('ASSOC', 'assoc'), ('FAIRSHARE', 'fairshare'), ('JOBSIZE', 'job_size'),
                           ('PARTITION', 'partition'), ('QOS', 'qos'), ('PRIORITY', 'priority')):
        status, answer = queue.diff(changed(bars, 26, column, lambda text: str(int(text) + 40)))
        tap.same((status, [row for row in found(answer, 'jobid', 'factor', 'why') if row[0] == 26]),
                 (1, [(26, factor, None)]), f'a changed {column} is a difference of its job')
        by = [row['difference'] for row in answer['differences'] if row['jobid'] == 26][0]
        tap.ok(abs(by - 40) <= 1, 'the difference is the changed amount', by)
    status, answer = queue.diff(changed(bars, 26, 'TRES', lambda _: 'cpu=49,gres/gpu=7'))
    tap.same((status, [row for row in found(answer, 'factor', 'difference', 'jobid') if row[2] == 26]),
             (1, [('tres cpu', -1, 26), ('tres mem', -3, 26), ('tres gres/gpu', 7, 26)]), 'each TRES is compared')
    status, answer = queue.diff(changed(bars, 26, 'JOBID', lambda _: '26000'))
    tap.same((status, answer['only_printed'], answer['only_ours']), (1, 1, 5),
             'an unknown job is a difference')
    by_hand = bars
    for column in ('AGE', 'ASSOC', 'FAIRSHARE', 'JOBSIZE', 'PARTITION', 'QOS'):
        by_hand = changed(by_hand, 26, column, lambda _: '0')
    status, answer = queue.diff(changed(by_hand, 26, 'TRES', lambda _: ''))
    tap.same((status, [row for row in found(answer, 'jobid', 'factor', 'why') if row[0] == 26]),
             (0, [(26, 'priority', 'by hand')]), 'a priority without factors was set by hand')
    status, answer = queue.diff(bars, PASS + 31)
    tap.same((status, {row['factor'] for row in answer['differences'] if row['why'] == 'pass'}), (0, {'age'}),
             'half a minute later ages may be from the last decay cycle')
    status, answer = queue.diff(bars, PASS + 200)
    tap.ok(status == 1 and 'age' in {row['factor'] for row in answer['differences'] if not row['why']},
           'three minutes later ages may not be from the last decay cycle', status)
    for what, bad, said in (('no JOBID', 'USER|AGE|JOBID2\nbob|1|2\n', 'line 1'),
                            ('a field too many', bars + '1|2|3\n', f'line {len(bars.splitlines()) + 1}'),
                            ('a bad age', changed(bars, 26, 'AGE', lambda _: 'x'), "line 3: 'x' is not a valid AGE"),
                            ('unknown columns without headings', '21|bob|7\n', 'line 1: unknown columns')):
        status, message = queue.diff(bad)
        tap.ok(status == 65 and said in message and "sprio'" in message,
               f'{what} is rejected, with its file and line', message)
    queue.publish('documents')
    status, answer = queue.diff(bars)
    tap.same((status, {row['why'] for row in answer['differences']}), (0, {'nice', 'conformance'}),
             'the other conformance is given as the reason')


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        printed = Printed('beta_run2', folder)
        usages(printed)
        columns(printed)
        comments(printed)
        json_of_sshare(printed)
        refused(printed)
        run_minutes(printed, 32)
        printed = Printed('alpha_susp', folder)
        usages(printed)
        run_minutes(printed, 31)
        run_minutes(Printed('alpha_run2', folder), 22)
        queue = Queue(folder)
        queue_as_printed(queue)
        pairs(queue)
        weights(queue)
        headless(queue)
        wrong_queues(queue)


tap.main(body)
