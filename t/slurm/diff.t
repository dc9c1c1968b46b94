#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests diff with the output of sshare from a real Slurm (a live cluster and static clusters) and
from a simple simulation of slurmctld's decay cycles.  It explains every difference in them.  It
does not explain values that are wrong in the output."""

import contextlib
import csv
import json
import math
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import reference
import site_drawing
import stepping
import tap
from place import Place
from program import write_settings

LIVE = os.path.join(dump.DATA, 'live1', 'sshare.psv')
SLURM_CONF = os.path.join(dump.DATA, 'slurm_conf', 'live1.conf')
ORACLE = os.path.join(dump.DATA, 'oracle')
LONG = os.environ.get('FAIRMILL_LONG') == '1'  # change more values
CAPTURED, LAST_STEP = 1795229969, 1795229968
NOW = 1800000000


def diff(place, statement, status, *arguments, **more):
    """Runs `diff --json`, expects this exit status, and returns the JSON object of the cluster."""
    place.ends(status, statement, 'diff', '--json', *arguments, **more)
    return json.loads(place.out)['clusters'][0] if place.out else {}


def rows_of(answer, value):
    """Returns the differences of `rawusage` or of `fairshare`."""
    return [row for row in answer['differences'] if row['value'] == value]


def causes(answer, value='usage'):
    return {cause['cause'] for cause in answer['causes']
            if (cause['usage'] > .0005 if value == 'usage' else cause['fairshares'])}


def sums_up(answer, statement):
    wrong = []
    for row in answer['differences']:
        if row['ours'] is None or row['sshare'] is None:
            continue
        total = row['ours'] + sum(row[cause['cause']] for cause in answer['causes']) + row['left']
        if not math.isclose(total, row['sshare'], rel_tol=1e-9, abs_tol=1e-6):
            wrong.append(f'{total} of {row}')
    tap.ok(len(answer['differences']) > 4 and not wrong, statement, *wrong)


class Live(Place):
    def load(self, name='accounting'):
        if os.path.exists(self.path('a.db')):
            os.unlink(self.path('a.db'))
        dump.to_sqlite(dump.read('live1', f'{name}.sql.xz'), self.path('a.db'), ['live'])

    def publish(self, keys=None, now=CAPTURED):
        for name in os.listdir(self.folder):
            if name.startswith('r.db'):
                os.unlink(self.path(name))
        self.settings({'slurm.conf': SLURM_CONF, 'usage.half_life': None, 'usage.charge': 'billing'} | (keys or {}))
        self.succeed('init')
        self.succeed('run', '--now', now)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)


def live(place):
    place.load()
    place.publish()
    answer = diff(place, 'all values that sshare printed on a live cluster are explained', 0,
                  '--at', CAPTURED, LIVE)
    tap.same((answer['explained'], answer['usage_left'], answer['only_printed'], answer['only_ours']),
             (True, 0.0, 0, 0), 'the JSON output says that everything is explained')
    tap.same((answer['period'], answer['newest_step']), (60, LAST_STEP),
             'diff finds the second of the minute at which usage was decayed')
    tap.same(causes(answer) - {'second'}, {'billing', 'steps'}, 'the causes are truncated billing and steps')
    tap.same(causes(answer, 'fairshare') - {'second'}, {'billing'}, 'truncated billing has changed ranks')
    tap.ok(len(rows_of(answer, 'rawusage')) == 14, 'all associations are compared')
    sums_up(answer, 'the sum of the causes is the difference')
    printed = stepping.Printed(LIVE)
    wrong = [row for row in rows_of(answer, 'rawusage')
             if not printed.miss(row['id_assoc'], row['sshare']) < 1e-6]
    tap.ok(not wrong, 'usage plus the causes gives all printed digits', *wrong)
    moved = {row['username'] for row in rows_of(answer, 'fairshare') if row['billing']}
    tap.same(moved, {'erin', 'root'}, 'two users have changed ranks')
    tap.ok(all(abs(row['second']) < 1 for row in rows_of(answer, 'rawusage')),
           'rounding times to seconds explains less than one CPU second')
    place.succeed('diff', '--at', CAPTURED, LIVE)
    tap.ok('left unexplained: nothing' in place.out and max(map(len, place.out.splitlines())) <= 80,
           'the text output fits into 80 columns', place.out)


def as_people_see(place):
    """The same output with sshare's own six digits, with -p, and as a table with truncated
    names."""
    with open(LIVE, encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    columns = ['Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'NormUsage', 'EffectvUsage',
               'FairShare', 'LevelFS']
    for row in rows:
        for column in columns[3:]:
            if column != 'RawUsage' and row[column] not in ('', 'inf'):
                row[column] = f'{float(row[column]):.6f}'
    bars = ['|'.join(columns), *('|'.join(row[column] for column in columns) for row in rows)]
    diff(place, 'output with six digits is explained', 0, '--at', CAPTURED, place.write('bars', '\n'.join(bars) + '\n'))
    diff(place, 'output with a bar after each line is explained', 0, '--at', CAPTURED,
         place.write('bars', '\n'.join(line + '|' for line in bars) + '\n'))
    diff(place, 'output of two clusters is explained', 0, '--at', CAPTURED,
         place.write('bars', 'CLUSTER: other\n' + bars[0] + '\nroot|x|1||7||||\n\nCLUSTER: live\n' +
                     '\n'.join(bars) + '\n'))
    table = [' '.join(f'{name:>12}' if i else f'{name:<7}' for i, name in enumerate(columns)) + ' ',
             ' '.join('-' * (12 if i else 7) for i in range(len(columns))) + ' ']
    for row in rows:
        cells = [row[column] for column in columns]
        cells[0] = cells[0] if len(cells[0]) <= 7 else cells[0][:6] + '+'
        table.append(' '.join(f'{cell:>12}' if i else f'{cell:<7}' for i, cell in enumerate(cells)))
    tap.ok(any('+' in line[:7] for line in table), 'the test truncates names in the table')
    answer = diff(place, 'a table with truncated names is explained', 0, '--at', CAPTURED,
                  place.write('table', '\n'.join(table) + '\n'))
    tap.same(len(rows_of(answer, 'rawusage')), 14, 'no association with a truncated name is missed')
    os.utime(place.path('table'), (CAPTURED, CAPTURED))
    answer = diff(place, 'the default of --at is the time of the file', 0, place.path('table'))
    tap.same(answer['printed_at'], CAPTURED, 'the JSON output contains the time of the file')


def forms(place):
    """The same rows in each output format, and the text output by default."""
    place.succeed('diff', '--at', CAPTURED, LIVE)
    tap.ok('Association     ours billing  steps second left sshare\n' in place.out and
           'bio/erin/bill    4      -1    .      3\n' in place.out, 'the text output has two tables', place.out)
    answer = diff(place, 'diff --json succeeds', 0, '--at', CAPTURED, LIVE)
    wanted = [(str(row['id_assoc']), row['username'], row['value'], row['ours'], row['steps'])
              for row in answer['differences']]
    for option, separator, names in (('--csv', ',', ('id_assoc', 'username', 'value', 'ours', 'steps')),
                                     ('--parsable', '|', ('ID', 'User', 'Value', 'ours', 'steps'))):
        place.succeed('diff', '--at', CAPTURED, option, LIVE)
        rows = list(csv.DictReader(place.out.splitlines(), delimiter=separator))
        tap.same([tuple(float(cell) if name in names[3:] and cell else cell or ('' if name == 'User' else None)
                        for name, cell in ((name, row[name]) for name in names)) for row in rows],
                 [(number, user or ('' if option == '--parsable' else None), *others)
                  for number, user, *others in wanted], f'{option} prints the same rows as --json')
    place.succeed('diff', '--at', CAPTURED, '-n', '-o', 'username,value,left', LIVE)
    tap.ok('erin' in place.out and 'RawUsage' not in place.out,
           '--columns selects columns of the text output', place.out)
    place.ends(64, 'an unknown column is rejected', 'diff', '-o', 'nothing', LIVE)


def changed(place, name, column, line, value):
    with open(LIVE, encoding='utf-8') as file:
        lines = [text.split('|') for text in file.read().splitlines()]
    for fields in lines:
        if fields[0] == line:
            fields[lines[0].index(column)] = value
    return place.write(name, '\n'.join('|'.join(fields) for fields in lines) + '\n')


def wrong_prints(place):
    answer = diff(place, 'a changed FairShare is not explained', 1, '--at', CAPTURED,
                  changed(place, 'p', 'FairShare', '11', '0.2222222222222222'))
    tap.same([(row['username'], round(row['left'] * 9)) for row in rows_of(answer, 'fairshare')
              if row['left']], [('dave', 1)], 'the changed FairShare is reported for its user')
    answer = diff(place, 'a changed LevelFS is not explained', 1, '--at', CAPTURED,
                  changed(place, 'p', 'LevelFS', '11', '0.76441264206390102'))
    tap.same([row['username'] for row in rows_of(answer, 'fairshare') if row['levelfs_differs']], ['dave'],
             'the changed LevelFS is reported for its user')
    answer = diff(place, 'a changed RawUsage is not explained', 1, '--at', CAPTURED, '--step', LAST_STEP,
                  changed(place, 'p', 'RawUsage', '9', '1646'))
    left = {row['username']: row['left'] for row in rows_of(answer, 'rawusage') if abs(row['left']) > 2}
    tap.ok(set(left) == {'carol'} and 97 < left['carol'] < 100,
           'a hundred additional seconds are left unexplained', left)
    answer = diff(place, 'an unknown association is not explained', 1, '--at', CAPTURED,
                  changed(place, 'p', 'ID', '11', '99'))
    tap.same((answer['only_printed'], answer['only_ours']), (1, 1), 'the unknown association is counted')
    diff(place, 'with steps at the wrong second the output is not explained', 1, '--at', CAPTURED,
         '--step', LAST_STEP - 30, LIVE)
    diff(place, 'an earlier step gives the same explanation as the last', 0, '--at', CAPTURED, '--step',
         LAST_STEP - 600, LIVE)
    diff(place, 'with the wrong period the output is not explained', 1, '--at', CAPTURED,
         '--period', 300, LIVE)
    diff(place, 'the output is not explained two minutes later', 1, '--at', CAPTURED + 120, LIVE)
    for bad, said in (('Account|User\na|b\n', 'line 1'), ('Account|User|RawUsage\na|b|x\n', "line 2: 'x'"),
                      ('Account|User|RawUsage\na|b|inf\n', "'inf' is not a valid RawUsage"),
                      ('Account User RawUsage\nnothing\n', 'line 2'), ('', "'live'"), ('\n\n', "'live'")):
        place.ends(65, f'{bad!r} is rejected as output of sshare', 'diff', '--at', CAPTURED, place.write('p', bad))
        place.says('the message names the error in the output', said)
    for wish, said in (((), 'missing FILE'), ((LIVE, LIVE), 'unexpected'), (('--at', 'x', LIVE), "'x'"),
                       (('--period', '0', LIVE), "'0'"), (('--step', 'x', LIVE), "'x'"),
                       (('--at', CAPTURED, '--step', CAPTURED + 1, LIVE), 'later'),
                       (('-M', 'a', '-M', 'b', LIVE), 'accepts one name')):
        place.ends(64, f"the arguments {' '.join(map(str, wish))} are rejected", 'diff', *wish)
        place.says('the message names the error in the arguments', said)
    place.ends(1, 'a missing file is an error', 'diff', place.path('none'))


def other_settings(place):
    """Tests settings of fairmill that slurmctld does not have."""
    for keys, cause in (({'usage.charge': 'cpu'}, 'billing'),
                        ({'usage.qos_factors': 'normal:3'}, 'factors'),
                        ({'usage.partition_usage_factors': 'bill:3'}, 'factors'),
                        ({'usage.suspended': 'omitted'}, 'suspended'),
                        ({'usage.open_job_cap': '0', 'usage.horizon': '5'}, 'caps')):
        place.publish(keys)
        answer = diff(place, f'with {keys} everything is explained', 0, '--at', CAPTURED, LIVE)
        tap.ok(cause in causes(answer), f'the causes include {cause}', causes(answer))
        sums_up(answer, 'the sum of the causes is the difference')
    place.publish()
    place.succeed('ledger', 'credit', '50', '-u', 'bob', '-A', 'theory', '--at', CAPTURED - 60, '-w', 'a test', '-y')
    place.succeed('run', '--now', CAPTURED + 1)
    answer = diff(place, 'with a credit in the ledger everything is explained', 0, '--at', CAPTURED, LIVE)
    tap.same({row['username'] for row in rows_of(answer, 'rawusage') if row['ledger'] > 1},
             {'', 'bob'}, 'the ledger is the cause for the credited user')
    for charge in 'tres', None:
        place.publish({'usage.charge': charge})
        answer = diff(place,
                      "with the weights of slurm.conf everything is explained "
                      f"({charge or 'by default'})", 0, '--at', CAPTURED, LIVE)
        tap.same(causes(answer) - {'second'}, {'steps'}, 'steps are the only cause')
    place.publish(now=CAPTURED - 300)
    answer = diff(place, 'with a run from five minutes before everything is explained', 0, '--at', CAPTURED, LIVE)
    tap.ok('age' in causes(answer), 'the age of the run is a cause')
    place.publish()
    place.change('UPDATE live_assoc_table SET shares = 7 WHERE id_assoc = 11')
    place.succeed('run', '--now', CAPTURED + 1)
    answer = diff(place, 'with shares changed since then everything is explained', 0, '--at', CAPTURED, LIVE)
    tap.ok('shares' in causes(answer, 'fairshare'), 'the changed shares are a cause')
    place.publish({'slurm.conf': None, 'usage.half_life': 10})
    answer = diff(place, 'without a slurm.conf the billing is not explained', 1, '--at', CAPTURED, '--period', 60, LIVE)
    tap.ok('billing' not in causes(answer) and any('billing' in note for note in answer['notes']),
           'a note says that the billing is unknown', answer['notes'])


def reader(place):
    place.load()
    place.publish()
    write_settings(place.path('reader.conf'), dict(results=dict(driver='sqlite', database=place.path('r.db'))))
    answer = diff(place, 'without the accounting database differences are left', 1, '--at', CAPTURED, LIVE,
                  settings='reader.conf')
    tap.ok('cannot be distinguished' in answer['notes'][0] and not causes(answer) and answer['usage_left'] > 100,
           'a note names the causes that cannot be distinguished', answer['notes'])
    tap.ok(not any(row['levelfs_differs'] for row in answer['differences']),
           'the printed usage gives the printed LevelFS', answer)


def static_case(place, case):
    """Creates one job of one second for each usage, without decay."""
    for name in os.listdir(place.folder):
        os.unlink(place.path(name))
    with open(os.path.join(ORACLE, case, 'associations.tsv'), encoding='utf-8', newline='') as file:
        associations = list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))
    with open(os.path.join(ORACLE, case, 'usage.tsv'), encoding='utf-8', newline='') as file:
        usage = list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))
    db = sqlite3.connect(place.path('a.db'))
    site_drawing.make_tables(db, ['oracle'])
    known = {row[1] for row in db.execute('PRAGMA table_info(oracle_assoc_table)')}
    site_drawing.insert(db, 'cluster_table', dict(creation_time=1, mod_time=1, deleted=0, name='oracle'))
    for row in associations:
        site_drawing.insert(db, 'oracle_assoc_table', {
            column: value for column, value in row.items() if column in known} |
            ({'lineage': f"/{int(row['lft']):08}/"} if 'lineage' in known else {}))
    deleted = {row['id_assoc'] for row in associations if row['deleted'] == '1'}
    for number, row in enumerate(usage, 1):
        if row['id_assoc'] not in deleted:
            site_drawing.insert(db, 'oracle_job_table', dict(
                job_db_inx=number, id_job=number, id_assoc=row['id_assoc'], time_submit=NOW - 9000,
                time_eligible=NOW - 9000, time_start=NOW - 9000, time_end=NOW - 8999, id_qos=1, state=3,
                tres_alloc=f"1=1,5={int(float(row['usage_raw']))}"))
    db.commit()
    db.close()


def static(place):
    """On static clusters, the only causes are ties and the usage of deleted users."""
    for number, case in enumerate(sorted(os.listdir(ORACLE))):
        static_case(place, case)
        for turn, (algorithm, file) in enumerate((('fair_tree', 'fairtree.psv'), ('classic', 'classic.psv'),
                                                  ('depth_oblivious', 'depth_oblivious.psv'))):
            place.settings({'usage.half_life': '0', 'fairshare.algorithm': algorithm,
                            'usage.reset_period': 'none'})
            if not turn:
                place.succeed('init')
            place.succeed('run', '--now', NOW, '--replace')
            answer = diff(place, f'{case}: all values of {algorithm} are explained', 0, '--at', NOW,
                          os.path.join(ORACLE, case, file))
            # Each case usually tests one of the three algorithms.
            if LONG or number % 3 == turn:
                each_changed(place, f'{case}, {algorithm}', os.path.join(ORACLE, case, file),
                             random.Random(f'{case} {algorithm}'), 4 if LONG else 2, '--at', NOW)
            expected = {('r11_acct_ties', 'fair_tree'): {'ties'}, ('r03_zero_shares', 'fair_tree'): {'ties'}}
            if (case, algorithm) in expected:
                tap.ok('ties' in causes(answer, 'fairshare'), f'{case}: ties are a cause', causes(answer, 'fairshare'))


def other(column, text, users):
    """Returns a value that differs from the printed one, or None if the column has no meaning
    there."""
    if column == 'RawUsage':
        return str(int(text) + max(3, int(text) // 10 ** 9))
    if text == '' or text == 'parent':
        return None
    number = float(text)
    if column == 'FairShare' and users:
        return repr((round(number * users) % users + 1) / users)
    if number < 1e-9:
        return '0.25' if number == 0 else None
    return '3' if number == math.inf else repr(number * .9999 if number else .25)


CHECKED = 'NormShares', 'RawUsage', 'NormUsage', 'EffectvUsage', 'FairShare', 'LevelFS'


def is_left(answer, number):
    return any(row['id_assoc'] == number and (row['left'] or row['contradicts'])
               for row in answer['differences'])


def each_changed(place, what, file, draw, count, *arguments):
    """Changes one cell after another, or swaps all numbers of two users. diff must report each
    change."""
    with open(file, encoding='utf-8', newline='') as stream:
        rows = list(csv.DictReader(stream, delimiter='|', quoting=csv.QUOTE_NONE))
    ranked = any(row['LevelFS'] not in ('', '0') for row in rows)
    users = sum(row['User'] != '' for row in rows) if ranked else 0
    columns = [column for column in CHECKED if ranked or column != 'LevelFS']
    # There are no values for the root and no ranks for accounts.
    cells = [(row, column) for row in rows[1:] for column in columns
             if other(column, row[column], users) is not None]
    unfound = []

    def tell(lines):
        with open(place.path('p'), 'w', encoding='utf-8', newline='') as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter='|', quoting=csv.QUOTE_NONE,
                                    quotechar=None, lineterminator='\n')
            writer.writeheader()
            writer.writerows(lines)
        place.run('diff', '--json', *arguments, place.path('p'))
        return json.loads(place.out)['clusters'][0]

    for row, column in draw.sample(cells, min(count, len(cells))):
        changed_row = row | {column: other(column, row[column], users)}
        answer = tell([changed_row if line is row else line for line in rows])
        if not is_left(answer, int(row['ID'])) or answer['explained']:
            unfound.append((row['ID'], column, row[column], changed_row[column]))
    for _ in range(4 if LONG else 1):
        one, second = draw.sample([row for row in rows if row['User']], 2)
        names = {'ID', 'Account', 'User', 'Partition', 'RawShares'}
        if all(one[column] == second[column] for column in CHECKED):
            continue
        swapped = {one['ID']: {k: one[k] if k in names else second[k] for k in one},
                   second['ID']: {k: second[k] if k in names else one[k] for k in one}}
        answer = tell([swapped.get(line['ID'], line) for line in rows])
        if answer['explained'] or not (is_left(answer, int(one['ID'])) or is_left(answer, int(second['ID']))):
            unfound.append((one['ID'], second['ID'], 'swapped'))
    tap.ok(not unfound, f'{what}: no changed value is explained', *unfound)


def changed_live(place):
    place.load()
    place.publish()
    each_changed(place, 'live1', LIVE, random.Random(1), 60 if LONG else 20, '--at', CAPTURED)


def without_usage(place):
    """Tests the output of plain `sshare -a -P`."""
    static_case(place, 'a1_doc')
    place.settings({'usage.half_life': '0', 'fairshare.algorithm': 'classic', 'usage.reset_period': 'none'})
    place.succeed('init')
    place.succeed('run', '--now', NOW)
    with open(os.path.join(ORACLE, 'a1_doc', 'classic.psv'), encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    columns = ['Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'EffectvUsage', 'FairShare']

    def write(lines):
        text = ['|'.join(columns), *('|'.join(line[column] for column in columns) for line in lines)]
        with open(place.path('p'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(text) + '\n')
        return place.path('p')

    diff(place, 'all values of sshare without -l are explained', 0, '--at', NOW, write(rows))
    changed_rows = [row | {'FairShare': '0.250000'} if row['User'] == 'root' else row for row in rows]
    answer = diff(place, 'a changed FairShare of a user without usage is not explained', 1, '--at', NOW,
                  write(changed_rows))
    tap.same([(row['username'], round(row['left'], 5)) for row in rows_of(answer, 'fairshare') if row['left']],
             [('root', -.75)], 'the changed FairShare is reported for its user')
    answer = diff(place, 'an association missing from the output is a difference', 1, '--at', NOW, write(rows[:-1]))
    tap.same((answer['only_ours'], answer['explained']), (1, False), 'the missing association is counted')
    place.ends(1, 'the text output reports the missing association', 'diff', '--at', NOW, place.path('p'))
    tap.ok(f"not in the output: 1 association, first {rows[-1]['Account'].strip()}" in place.out,
           'the text output names the missing association', place.out)


def unasked(place):
    """With depth_oblivious, siblings that slurmctld has not computed yet have NO_VAL as their
    usage."""
    static_case(place, 'a1_doc')
    place.settings({'usage.half_life': '0', 'fairshare.algorithm': 'depth_oblivious', 'usage.reset_period': 'none',
                    'fairshare.conformance': 'slurmctld'})
    place.succeed('init')
    place.succeed('run', '--now', NOW)
    with open(os.path.join(ORACLE, 'a1_doc', 'depth_oblivious.psv'), encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file, delimiter='|', quoting=csv.QUOTE_NONE))
    columns = ['Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'NormUsage', 'EffectvUsage', 'FairShare']
    # Below their shares, users have a ratio that falls as the siblings' usage grows.
    users = [row for row in rows if row['User'] and 1e-3 < float(row['EffectvUsage']) < float(row['NormShares'])]
    for row in users:
        for effective, factor, status, what in ((0, 1, 0, 'no'), (.6, .5, 1, 'another')):
            changed_row = row | {
                'EffectvUsage': f"{float(row['EffectvUsage']) * effective:.6f}", 'FairShare': f'{factor:.6f}'}
            text = ['|'.join(columns)] + ['|'.join((changed_row if line is row else line)[column] for column in columns)
                                          for line in rows]
            with open(place.path('p'), 'w', encoding='utf-8') as file:
                file.write('\n'.join(text) + '\n')
            answer = diff(place, f"{what} EffectvUsage of {row['User']} is {'no contradiction' if not status else 'one'}",
                          status, '--at', NOW, place.path('p'))
            named = [line['username'] for line in answer['differences'] if line['contradicts']]
            tap.same(set(named), {row['User']} if status else set(), 'a contradiction is reported for its user only')
    tap.ok(users, 'the test has such a user')


SITE = '''
cluster tiny
root/
  physics/     60
    alice      10
    bob         5
    gone        5 deleted
  chemistry/   40
    carol       1
    dave    parent
    fluids/     2
      erin      1
'''
USERS = ['physics.alice', 'physics.bob', 'physics.gone', 'chemistry.carol', 'chemistry.dave', 'fluids.erin']


def simulated(place, seed, half_life, reset, ends_free=False, forgets=None, away=None):
    """Simulates a month of a site with stepping.py."""
    draw = random.Random(seed)
    now, period = 1750500000, 300
    lines = [SITE, 'qos 2 factor=0.5 name=half\n']
    for number in range(60):
        start = now - draw.randrange(1, 30 * 86400)
        end = 0 if number % 9 == 0 else start + draw.choice([1, 17, 299, 300, 301, 4000, 90000])
        lines.append(f'job {draw.choice(USERS)} start={start} end={0 if end > now else end} '
                     f'billing={draw.randrange(1, 500)} qos={draw.choice([1, 2])}\n')
    place.site(''.join(lines))
    place.settings({'usage.half_life': half_life // 60, 'usage.reset_period': reset,
                    'usage.time_zone': 'UTC', 'usage.open_job_cap': '100-0'})
    place.succeed('init')
    place.succeed('run', '--now', now, '--replace')
    columns = 'id_assoc', 'time_start', 'time_end', 'tres_alloc', 'id_qos'
    jobs = [dict(zip(columns, row)) for row in
            place.change(f"SELECT {', '.join(columns)} FROM tiny_job_table")]
    newest = now - draw.randrange(period)
    resets = [reference.reset_boundary(dict(reference.DEFAULTS, reset_period=reset, now=newest))] \
        if reset != 'none' else []
    usage = stepping.stepped(jobs, lambda job: reference.tres_count(job['tres_alloc'], 5) *
                             (.5 if job['id_qos'] == 2 else 1.), half_life, period, newest, now, resets, ends_free, forgets(place, jobs, newest) if forgets else (),
                             (newest - away[0], newest - away[1], away[2]) if away else None)
    return usage, newest, now


def print_of(place, usage):
    """Returns the output that sshare would print for the same tree with this usage; reference.py
    ranks it."""
    unit = 2 ** 20
    second = Place()
    second.__enter__()
    try:
        names = {f'{acct}.{user}': number for number, acct, user in place.change(
            "SELECT id_assoc, acct, user FROM tiny_assoc_table WHERE user <> ''")}
        second.site(SITE + ''.join(f'job {name} start=1000 end=1001 billing={round(usage.get(number, 0) * unit)}\n'
                                   for name, number in names.items()))
        values, _ = reference.expected(second.path('a.db'), 'tiny', dict(
            half_life=0, now=2000, conformance='slurmctld'))
    finally:
        second.__exit__()
    lines = ['ID|Account|User|RawShares|RawUsage|NormUsage|FairShare|LevelFS']
    for number, acct, user, shares in place.change(
            'SELECT id_assoc, acct, user, shares FROM tiny_assoc_table WHERE deleted = 0 ORDER BY id_assoc'):
        row = values[number]
        level = '' if row['level_fs'] is None else 'inf' if row['level_fs_infinite'] else repr(row['level_fs'])
        lines.append('|'.join([str(number), acct, user, 'parent' if shares == site_drawing.PARENT else str(shares),
                               str(int(row['usage_raw'] / unit)), repr(row['usage_norm']),
                               '' if row['fair_tree_factor'] is None else repr(row['fair_tree_factor']), level]))
    return '\n'.join(lines) + '\n'


def simulations(place):
    for seed, half_life, reset in ((1, 7 * 86400, 'none'), (2, 86400, 'none'), (3, 7 * 86400, 'weekly'),
                                   (4, 0, 'monthly'), (5, 3600, 'daily')):
        usage, newest, now = simulated(place, seed, half_life, reset)
        with open(place.path('p'), 'w', encoding='utf-8') as file:
            file.write(print_of(place, usage))
        what = f'half-life {half_life}, reset {reset}'
        answer = diff(place, f'{what}: all values of a simulated slurmctld are explained', 0, '--at', now,
                      place.path('p'))
        if seed <= 3:
            tap.same(answer['newest_step'], newest, f'{what}: diff finds the newest step')
        tap.ok(causes(answer) <= {'steps'}, f'{what}: steps are the only cause', causes(answer))
        sums_up(answer, f'{what}: the sum of the causes is the difference')


def free_ends(place):
    """If limits are not enforced, a job's last seconds are never charged."""
    for seed, lines, status in ((7, '', 0), (8, 'AccountingStorageEnforce=associations,qos\n', 0),
                                (9, 'AccountingStorageEnforce=Safe\n', 1)):
        usage, newest, now = simulated(place, seed, 86400, 'none', ends_free=True)
        with open(place.path('p'), 'w', encoding='utf-8') as file:
            file.write(print_of(place, usage))
        with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
            file.write(lines)
        place.settings({'slurm.conf': place.path('slurm.conf'), 'usage.half_life': 1440,
                        'usage.time_zone': 'UTC', 'usage.open_job_cap': '100-0'})
        place.succeed('run', '--now', now, '--replace')
        answer = diff(place, f"{lines.strip() or 'by default'}: jobs are {'' if status else 'not '}charged when "
                      'they end', status, '--at', now, place.path('p'))
        tap.same([note for note in answer['notes'] if 'limits' in note and 'restart' in note] != [], not status,
                 'a note explains uncharged ends, also before a restart')
        if not status:
            tap.same(answer['newest_step'], newest, 'diff finds the newest step')


def told_to_forget(place):
    """sacctmgr modify user (or account) set rawusage=0, which the database does not record."""
    names = {}

    def of_account(place, jobs, newest):
        names.update({(acct, user): number for number, acct, user in place.change(
            "SELECT id_assoc, acct, user FROM tiny_assoc_table WHERE user <> ''")})
        return [(newest - 7 * 86400 - 100, [names['physics', 'alice'], names['physics', 'bob'],
                                            names['physics', 'gone']])]

    def of_user(place, jobs, newest):
        names.update({(acct, user): number for number, acct, user in place.change(
            "SELECT id_assoc, acct, user FROM tiny_assoc_table WHERE user <> ''")})
        # The reset is during one of her jobs, and just after another one has ended between two
        # steps.
        ends = [job['time_end'] for job in jobs if job['id_assoc'] == names['chemistry', 'carol'] and
                0 < job['time_end'] < newest]
        return [(max(ends) + 2, [names['chemistry', 'carol']])]

    for seed, half_life, forgets, whose in ((11, 0, of_account, ('-A', 'physics')),
                                            (12, 0, of_user, ('-u', 'carol', '-A', 'chemistry')),
                                            (13, 86400 * 7, of_account, ('-A', 'physics')),
                                            (14, 86400 * 7, of_user, ('-u', 'carol', '-A', 'chemistry'))):
        at = []
        usage, newest, now = simulated(place, seed, half_life, 'none' if half_life else 'monthly',
                                       forgets=lambda *site: at.extend(forgets(*site)) or at)
        with open(place.path('p'), 'w', encoding='utf-8') as file:
            file.write(print_of(place, usage))
        what = f"half-life {half_life}, {whose[-1]}"
        answer = diff(place,
                      f'{what}: a reset is not assumed without '
                      'proof', 1, '--at', now, '--step', newest, place.path('p'))
        left = {row['id_assoc'] for row in rows_of(answer, 'rawusage') if row['username'] and row['left'] < -1}
        tap.ok(left and left <= set(at[0][1]), f'{what}: the reset usage is left unexplained', left, at)
        tap.same((answer['commands'], 'reset' in causes(answer)), ([], False), f'{what}: there is no command')
        tap.ok(any(note.startswith('guess: ') for note in answer['notes']),
               f'{what}: there is a guess', answer['notes'])
        sums_up(answer, f'{what}: the sum of the causes is the difference')
        place.succeed('ledger', 'reset', *whose, '--at', at[0][0], '-w', 'rawusage=0', '-y')
        place.succeed('run', '--now', now, '--replace')
        answer = diff(place, f'{what}: with the reset in the ledger everything is explained', 0, '--at', now,
                      place.path('p'))
        tap.same((causes(answer) - {'steps', 'second'}, [note for note in answer['notes'] if 'guess' in note]),
                 (set(), []), f'{what}: the reset is no longer a cause or a guess')
        place.succeed('ledger', 'undo', 1, '-w', 'the next case', '-y')
        for name in os.listdir(place.folder):
            if name.startswith('r.db'):
                os.unlink(place.path(name))


def started_again(place):
    """After a restart or a reconfiguration, slurmctld's decay cycles begin at other seconds."""
    for seed, half_life, away in ((21, 1200, (900, 900, 140)), (22, 3600, (5000, 4900, 200)), (23, 86400, (86000, 85000, 10)),
                                  (24, 7 * 86400, (3600, 3500, 290))):
        usage, _, now = simulated(place, seed, half_life, 'none', away=away)
        with open(place.path('p'), 'w', encoding='utf-8') as file:
            file.write(print_of(place, usage))
        what = f'half-life {half_life}, started again {away[1]} s before'
        place.run('diff', '--json', '--at', now, place.path('p'))
        answer = json.loads(place.out)['clusters'][0]
        tap.same((answer['commands'], 'reset' in causes(answer)), ([], False), f'{what}: no reset is reported')
        left = [f"{row['account']}/{row['username']}" for row in rows_of(answer, 'rawusage')
                if row['username'] and abs(row['left']) > 1e-3]
        guesses = [note for note in answer['notes'] if note.startswith('guess: ')]
        tap.ok(all(name in ''.join(guesses) for name in left), f'{what}: each difference has a guess', left, guesses)
        tap.ok(not any('forgotten' in guess for guess in guesses),
               f'{what}: the guess is that decay cycles moved', guesses)


def forgotten_by_hand(place):
    """Usage that is missing from a user but not from the accounts above was changed in the
    output."""
    usage, _, now = simulated(place, 15, 0, 'monthly')
    lines = print_of(place, usage).splitlines()
    column = lines[0].split('|').index('RawUsage')
    fields = [line.split('|') for line in lines]
    for line in fields[1:]:
        if line[2] == 'alice':
            line[column] = str(int(line[column]) // 2)
    with open(place.path('p'), 'w', encoding='utf-8') as file:
        file.write('\n'.join('|'.join(line) for line in fields) + '\n')
    answer = diff(place, "an account whose usage is not its users' sum is a difference", 1, '--at', now,
                  place.path('p'))
    tap.same((answer['commands'], 'reset' in causes(answer)), ([], False), 'the wrong sum has no command')


def rolled_up(place):
    """Tests usage from slurmdbd's rollups, which spread jobs over hours and before 24.11 ignore
    QOS."""
    usage, _, now = simulated(place, 6, 86400, 'none')
    with open(place.path('p'), 'w', encoding='utf-8') as file:
        file.write(print_of(place, usage))
    hours = {}
    for number, start, end, tres in place.change(
            'SELECT id_assoc, time_start, time_end, tres_alloc FROM tiny_job_table'):
        end = end or now
        for hour in range(start // 3600 * 3600, end, 3600):
            seconds = min(end, hour + 3600) - max(start, hour)
            hours[number, hour] = hours.get((number, hour), 0) + seconds * reference.tres_count(tres, 5)
    db = sqlite3.connect(place.path('a.db'))
    for (number, hour), seconds in hours.items():
        if hour + 3600 <= now:
            site_drawing.insert(db, 'tiny_assoc_usage_hour_table', dict(
                id=number, id_tres=5, time_start=hour, alloc_secs=seconds))
    site_drawing.insert(db, 'tiny_last_ran_table', dict(
        hourly_rollup=now // 3600 * 3600, daily_rollup=now // 86400 * 86400, monthly_rollup=0))
    db.commit()
    db.close()
    place.settings({'usage.half_life': 1440, 'usage.source': 'rollup', 'usage.time_zone': 'UTC',
                    'usage.open_job_cap': '100-0'})
    place.succeed('run', '--now', now, '--replace')
    answer = diff(place, 'usage from rollups is explained', 0, '--at', now, place.path('p'))
    tap.same(causes(answer) - {'second'}, {'rollup', 'steps'}, 'rollup is a cause')
    sums_up(answer, 'the sum of the causes is the difference')


def several(place):
    place.ready(SITE + 'cluster other\nroot/\n  u 1 use 5\n')
    place.succeed('run', '--now', NOW)
    with open(place.path('p'), 'w', encoding='utf-8') as file:
        file.write('Account|User|RawShares|RawUsage|FairShare\nroot|||5|\n root|u|1|5|1.000000\n')
    place.ends(64, 'with several clusters --cluster is required', 'diff', '--at', NOW, place.path('p'))
    place.says('the message names --cluster', '--cluster')
    answer = diff(place, 'output of a selected cluster is explained', 0, '--at', NOW, '-M', 'other',
                  place.path('p'))
    tap.same((answer['cluster'], len(answer['differences'])), ('other', 4), 'the selected cluster is compared')


def one_second(place):
    """A user has one job of one second, which the controller has not charged."""
    place.ready(f"""
cluster tiny
root/
  u 1
  v 1
job root.u start={NOW - 4000} end={NOW - 3999} billing=100
job root.v start={NOW - 9000} end={NOW - 5000} billing=1
""", {'usage.half_life': 1440})
    place.succeed('run', '--now', NOW)
    place.succeed('show', '--parsable')
    lines = place.out.splitlines()
    with open(place.path('p'), 'w', encoding='utf-8') as file:
        for line in lines:
            fields = line.split('|')
            if fields[2] == 'u':
                fields[6] = '0'
            elif fields[1] == 'root' and fields[2] == '':
                sums = str(int(fields[6]) - 97), fields[6]
                fields[6] = sums[0]
            file.write('|'.join([fields[1], fields[2], fields[6]]) + '\n')
    answer = diff(place, 'missing usage of a user and the accounts above is unexplained', 1, '--at', NOW,
                  place.path('p'))
    tap.ok(any('guess' in note and 'root/u' in note for note in answer['notes']) and
           all(abs(row['second']) < 1 for row in rows_of(answer, 'rawusage')),
           'a guess names the user, and no second of a job is a cause', answer['causes'])
    with open(place.path('p'), encoding='utf-8') as file:
        lines = [line if line.split('|')[1] or line.startswith('Account') else line.replace(sums[0], sums[1])
                 for line in file]
    with open(place.path('p'), 'w', encoding='utf-8') as file:
        file.writelines(lines)
    answer = diff(place, 'usage missing only from the user is not explained', 1, '--at', NOW, place.path('p'))
    left = {row['username']: round(row['left']) for row in rows_of(answer, 'rawusage') if abs(row['left']) > 1}
    tap.ok(left.get('u', 0) < -90, 'all of the missing usage is unexplained', left)


def cancelled_later(place):
    """A job was suspended, and was cancelled after the output was printed."""
    place.ready(f"""
cluster tiny
root/
  u 1
  v 1
job root.u start={NOW - 4000} end={NOW + 100} billing=100
job root.v start={NOW - 9000} end={NOW - 5000} billing=1
""", {'usage.half_life': '36500-0', 'fairshare.conformance': 'slurmctld'})
    with contextlib.closing(sqlite3.connect(place.path('a.db'))) as db, db:
        db.execute('INSERT INTO tiny_step_table (job_db_inx, id_step, time_end)'
                   f' SELECT job_db_inx, -5, {NOW + 200} FROM tiny_job_table WHERE time_end > {NOW}')
        db.execute('INSERT INTO tiny_suspend_table (job_db_inx, id_assoc, time_start, time_end)'
                   f' SELECT job_db_inx, id_assoc, time_end, time_end FROM tiny_job_table WHERE time_end > {NOW}')
    place.succeed('run', '--now', NOW)
    place.succeed('show', '--parsable')
    with open(place.path('p'), 'w', encoding='utf-8') as file:
        file.writelines(line + '\n' for line in place.out.splitlines())
    answer = diff(place, 'a suspended job cancelled later counts until its cancellation', 0, '--at', NOW,
                  place.path('p'))
    tap.ok(answer.get('newest_step', 0) <= NOW and round(answer.get('usage_left', 1)) == 0,
           'no usage is left unexplained', answer)


def body():
    with Live() as place:
        for part in (live, as_people_see, forms, wrong_prints, changed_live, other_settings, reader):
            part(place)
    for part in (static, without_usage, unasked, simulations, free_ends, told_to_forget, started_again, forgotten_by_hand, rolled_up, several, one_second, cancelled_later):
        with Place() as place:
            part(place)


tap.main(body)
