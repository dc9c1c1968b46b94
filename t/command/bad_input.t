#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Rows that no accounting database should have, and what a run makes of them."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

TREE = '''
cluster tiny
root/                     id 1
  good/       3           id 2
    alice     1  use 10   id 3
  bad/        1           id 4
    bob       1  use 20   id 5
    below/    1           id 6
      eve     1  use 40   id 7
'''


def set_parent(place, number, acct, id_parent):
    """Hangs an account below another, in whichever way the tables say so."""
    columns = [c for c, in place.change("SELECT name FROM pragma_table_info('tiny_assoc_table')")]
    place.change('UPDATE tiny_assoc_table SET parent_acct = ? WHERE id_assoc = ?', acct, number)
    if 'id_parent' in columns:
        place.change('UPDATE tiny_assoc_table SET id_parent = ? WHERE id_assoc = ?', id_parent,
                     number)


def parent_missing(place):
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 4')


def lost_id(place):
    """The names still lead to the root."""
    place.change('UPDATE tiny_assoc_table SET id_parent = 77 WHERE id_assoc = 4')


def itself(place):
    set_parent(place, 4, 'bad', 4)


def cycle(place):
    set_parent(place, 4, 'below', 6)


# What breaks the tree, the ids that must be named, and what is left where bad rows are skipped.
BROKEN = (
    ('an account whose parent is missing', parent_missing, ('5', '6'), {1, 2, 3}),
    ('an account with the id of no parent', lost_id, ('4',), {1, 2, 3}),
    ('an account below itself', itself, ('4',), {1, 2, 3}),
    ('accounts in a cycle', cycle, ('4', '6'), {1, 2, 3}),
)


def trees(place):
    for what, spoil, ids, left in BROKEN:
        place.ready(TREE)
        place.succeed('run', '--now', NOW)
        kept = place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc')
        spoil(place)
        place.ends(65, f'{what} fails the cluster', 'run', '--now', NOW + 10)
        tap.ok(any(number in place.err for number in ids) and "'tiny'" in place.err,
               f'the ids are named ({what})', place.err)
        tap.same(place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc'), kept,
                 f'old results stay ({what})')
        place.ends(65, f'check finds it too ({what})', 'check')
        place.settings({'source.on_bad_rows': 'skip'})
        place.ends(0, f'on_bad_rows = skip goes on ({what})', 'run', '--now', NOW + 20)
        tap.same({number for number, in place.query('SELECT id_assoc FROM fairmill_fairshare')},
                 left, f'without the subtree ({what})')
        tap.ok(sum(place.findings().values()) > 0 and place.query(
            "SELECT count(*) FROM fairmill_finding WHERE subject IN (%s)" % ','.join('?' * len(ids)), *ids)[0][0] > 0,
            f'and with findings ({what})', place.query('SELECT * FROM fairmill_finding'))
        place.succeed('check')
        tap.ok('    what to do: set its parent with sacctmgr\n' in place.out, f'check says what to do ({what})', place.out)
        place.succeed('check', '--json')
        tap.ok({row['remedy'] for each in json.loads(place.out)['clusters'] for row in each['findings']} >= {'set its parent with sacctmgr'}, f'also to programs ({what})', place.out)
        tap.same(place.usage('good.alice'), [10.0], f'what is left has its usage ({what})')


def roots(place):
    place.ready(TREE)
    place.succeed('run', '--now', NOW)
    columns = [c for c, in place.change("SELECT name FROM pragma_table_info('tiny_assoc_table')")]
    kept = place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc')
    copied = ', '.join(f'"{c}"' for c in columns)
    changed = ', '.join("9" if c == 'id_assoc' else "'root2'" if c == 'acct' else f'"{c}"'
                        for c in columns)
    place.change(f'INSERT INTO tiny_assoc_table ({copied}) SELECT {changed} FROM tiny_assoc_table WHERE id_assoc = 1')
    place.ends(65, 'two roots fail the cluster', 'run', '--now', NOW + 10)
    tap.ok('1' in place.err and '9' in place.err, 'both are named', place.err)
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc IN (1, 9)')
    place.ends(65, 'no root fails the cluster', 'run', '--now', NOW + 10)
    place.change('DELETE FROM tiny_assoc_table')
    place.ends(65, 'no association at all fails the cluster', 'run', '--now', NOW + 10)
    tap.same(place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc'), kept,
             'old results stay')


def duplicates(place):
    """The tables of slurmdbd cannot hold two rows of one name; other copies of them can."""
    place.ready(TREE)
    place.succeed('run', '--now', NOW)
    for index, in place.change("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'tiny_assoc_table' AND sql IS NOT NULL"):
        place.change(f'DROP INDEX "{index}"')
    columns = [c for c, in place.change("SELECT name FROM pragma_table_info('tiny_assoc_table')")]
    # A table without its constraints.
    place.change('ALTER TABLE tiny_assoc_table RENAME TO old')
    place.change('CREATE TABLE tiny_assoc_table AS SELECT * FROM old')
    place.change('DROP TABLE old')
    copied = ', '.join(f'"{c}"' for c in columns)
    changed = ', '.join('8' if c == 'id_assoc' else f'"{c}"' for c in columns)
    place.change(f'INSERT INTO tiny_assoc_table ({copied}) SELECT {changed} FROM tiny_assoc_table WHERE id_assoc = 5')
    place.ends(65, 'the same user twice in an account fails the cluster', 'run', '--now', NOW + 10)
    place.says('and both rows are named', 'association 5', 'association 8')
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 8')
    place.change(f'INSERT INTO tiny_assoc_table ({copied}) SELECT {copied} FROM tiny_assoc_table WHERE id_assoc = 5')
    place.ends(65, 'the same id twice fails the cluster', 'run', '--now', NOW + 10)
    tap.ok('5' in place.err, 'and is named too', place.err)
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW,)],
             'old results stay')


def qos_gone(place):
    """Somebody removed a row of qos_table by hand."""
    place.ready('root/\n  u\nqos 2 factor=3\njob root.u start=1000 end=1100 billing=1 qos=2\njob root.u start=1500 end=1600 billing=1 qos=2\n'
                'job root.u start=2000 end=2100 billing=1\n', {'fairshare.capacity': 1})
    place.succeed('check', '--csv', '--noheader')
    tap.same(place.out, '', 'a QOS that is there is no finding')
    place.change('DELETE FROM qos_table WHERE id = 2')
    place.change('UPDATE tiny_job_table SET id_qos = 0 WHERE time_start = 2000')
    place.succeed('check', '--json')
    found = [row for each in json.loads(place.out)['clusters'] for row in each['findings']]
    tap.same([(row['kind'], row['subject'], row['seen'], row['detail']) for row in found],
             [('qos_unknown', '2', 2, 'jobs: 2, the first started 1000, the last 1500; QOS')], 'of jobs whose QOS is gone check tells, and of none that have none')
    place.succeed('check')
    tap.ok('(QOS of jobs is missing in qos_table; charged with usage factor 1), first 2: jobs: 2' in place.out, 'in words, too', place.out)
    place.succeed('run', '--now', NOW)
    tap.same((place.usage('root.u'), place.findings()), ([300.0], {}), 'they are charged with factor 1')


def jobs(place):
    plain = 'root/\n  u\njob root.u start=1000 end=1100 billing=1\n'
    wrong = (('job root.u start=2000 end=1999 billing=5', 'a job that ends before it starts'),
             ('job root.u start=1000 end=1001 tres=5=x', 'a count that is no number'),
             ('job root.u start=1000 end=1001 tres=1=3,5=', 'an empty count'),
             ('job root.u start=1000 end=1001 tres=5=-7', 'a negative count'),
             ('job root.u start=1000 end=1001 tres=5=1.5', 'a count with a fraction'),
             ('job root.u start=1000 end=1001 tres=5=18446744073709551616',
              'a count beyond 64 bits'),
             ('job root.u start=1000 end=1001 tres=5=18446744073709551614', 'NO_VAL'),
             ('job root.u start=1000 end=1001 tres=5=18446744073709551615', 'INFINITE'),
             ('qos 2 factor=1e30\njob root.u start=1000 end=1001 billing=18446744073709551613 qos=2', "a charge beyond the integers' range"))
    for line, what in wrong:
        place.ready(plain + line + '\n', {'fairshare.capacity': 1})
        place.ends(0, f'{what} does not stop a run', 'run', '--now', NOW, '--replace')
        tap.same(place.usage('root.u'), [100.0], f'{what} charges nothing')
        tap.same(sum(place.findings().values()), 1, f'{what} is a finding')
        tap.same(place.out + place.err, '', f'but makes no noise ({what})')
    for line, charged, what in (('tres=2=junk,5=3', 3.0, 'what is not charged is not judged'),
                                ('tres=1=junk,5=3', 3.0,
                                 'CPUs are not charged where there is billing'),
                                ('tres=1=2,3=18446744073709551614,4=1,5=3', 3.0,
                                 'energy without a value is common'),
                                ('tres=15=9,5=3', 3.0, 'TRES 15 is not TRES 5')):
        place.ready(plain + f'job root.u start=1000 end=1001 {line}\n', {'fairshare.capacity': 1})
        place.succeed('run', '--now', NOW, '--replace')
        tap.same((place.usage('root.u'), place.findings()), ([100.0 + charged], {}), what)
    weighed = {'fairshare.capacity': 1, 'usage.charge': 'tres', 'usage.tres_weights': 'cpu=1,mem=1,node=0'}
    tree = 'root/\n  u\njob root.u start=1000 end=1100 tres=1=1\n'
    for line, charged, found, what in (
            ('1=3,2=x', 0.0, 1, 'one charged TRES that is no number'),
            ('1=3,2=18446744073709551614', 0.0, 1, 'a charged TRES without a value'),
            ('1=18446744073709551613,2=18446744073709551613', 0.0, 1, 'a sum beyond the range'),
            ('1=3,4=x,5=x,1001=x', 3.0, 0, 'what has no weight'),
            ('1=3,1=x', 3.0, 0, 'a TRES that is there a second time')):
        place.ready(tree + f'job root.u start=1000 end=1001 tres={line}\n', weighed)
        place.ends(0, f'{what} does not stop a run that charges TRES', 'run', '--now', NOW, '--replace')
        tap.same((place.usage('root.u'), sum(place.findings().values())), ([100.0 + charged], found),
                 f'{what} {"spoils the charge, and is a finding" if found else "is not judged"}')
    ahead = int(time.time())
    place.ready(plain + f'job root.u start={ahead + 4000} billing=5\n', {'fairshare.capacity': 1})
    place.ends(0, 'a job that starts in the future does not stop a run', 'run', '--replace')
    tap.same((place.usage('root.u'), sum(place.findings().values())), ([100.0], 1),
             'it charges nothing and is a finding')
    place.ready(plain + f'job root.u start={ahead + 4000} billing=5\n', {'fairshare.capacity': 1})
    place.succeed('run', '--now', NOW)
    tap.same((place.usage('root.u'), place.findings()), ([100.0], {}),
             'for an instant in the past what starts after it is no finding')
    place.ready(plain + f'job root.u start={ahead + 200} billing=5\n', {'fairshare.capacity': 1})
    place.succeed('run', '--replace')
    tap.same(place.findings(), {}, 'clocks may differ by five minutes')
    many = ''.join(f'job root.u start=2000 end={1000 + i} billing=5\n' for i in range(150))
    place.ready(plain + many, {'fairshare.capacity': 1})
    place.succeed('run', '--now', NOW, '--replace')
    (kept, counted), = place.query('SELECT count(*), sum(count) FROM fairmill_finding')
    tap.ok(kept <= 100, 'at most a hundred findings of a kind are kept', kept, counted)
    tap.same(kept, 100, 'and these are kept')
    place.change('UPDATE tiny_job_table SET time_end = 3000 WHERE job_db_inx BETWEEN 51 AND 100')
    place.change('UPDATE tiny_job_table SET id_assoc = 77, time_end = 3000 WHERE job_db_inx = 150')
    place.query('DELETE FROM fairmill_finding')
    place.succeed('run', '--now', NOW, '--full')
    place.change('UPDATE tiny_job_table SET time_end = CASE WHEN job_db_inx BETWEEN 51 AND 100 THEN 1000 ELSE 3000 END')
    place.succeed('run', '--now', NOW + 60, '--full')
    found = place.query('SELECT kind, last_seen, count(*) FROM fairmill_finding GROUP BY 1, 2 ORDER BY 1, 2')
    tap.same(found, [('job_ends_before_start', NOW, 50), ('job_ends_before_start', NOW + 60, 50),
                     ('job_without_association', NOW + 60, 1)],
             'of findings of several runs the newest hundred of each kind are')
    place.ready(plain, {'fairshare.capacity': 1})
    place.change('UPDATE tiny_job_table SET id_assoc = 0')
    place.succeed('run', '--now', NOW)
    tap.same(place.query('SELECT kind, subject FROM fairmill_finding'), [('job_without_association', '0')],
             'jobs without any association are a finding with the id that they have')


def shares(place):
    place.ready('root/\n  a -5 use 1\n  b 5 use 1\n', {'fairshare.capacity': 1})
    place.ends(0, 'negative shares do not stop a run', 'run', '--now', NOW)
    tap.same((place.value('shares', 'root.a'), place.value('shares_norm', 'root.a'),
              place.value('shares_norm', 'root.b')), (0, 0.0, 1.0),
             'they count as 0')
    tap.same(sum(place.findings().values()), 1, 'and are a finding')
    place.ready('root/\n  a 0 use 1\n  b 0 use 2\n  A/ 0\n    c 1 use 4\n',
                {'fairshare.capacity': 1})
    place.ends(0, 'a level without any shares does not stop a run', 'run', '--now', NOW,
               '--replace')
    rows = place.query('SELECT DISTINCT shares_norm, level_shares_norm, level_fs, classic_factor, linear_factor, depth_oblivious_factor, '
                       "pbs_factor, depth_oblivious_ratio FROM fairmill_fairshare WHERE depth = 1")
    tap.same(rows, [(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None)], 'its factors are 0')
    tap.same(place.query("SELECT DISTINCT fair_tree_rank FROM fairmill_fairshare WHERE user_name <> ''"), [(3,)], 'and its users tie')


def null_shares(place):
    place.ready('root/\n  a 1\n  b 3\n', {'fairshare.capacity': 1})
    place.change('ALTER TABLE tiny_assoc_table RENAME TO old')
    place.change('CREATE TABLE tiny_assoc_table AS SELECT * FROM old')
    place.change("UPDATE tiny_assoc_table SET shares = NULL WHERE \"user\" = 'a'")
    place.ends(0, 'shares that are NULL do not stop a run', 'run', '--now', NOW)
    tap.same((place.value('shares', 'root.a'), place.value('shares_norm', 'root.a')), (1, .25),
             'they are 1')


def rollups(place):
    """slurmdbd's sums may be any 63 bits; times a weight that is too much for our integers."""
    hour = NOW - NOW % 3600 - 7200
    keys = {'fairshare.capacity': 1, 'usage.source': 'rollup', 'usage.charge': 'tres', 'usage.tres_weights': 'cpu=1000000000'}
    place.ready('root/\n  u\n', keys)
    place.change('INSERT INTO tiny_last_ran_table VALUES (?, ?, ?)', hour + 3600, 0, 0)
    place.change('INSERT INTO tiny_assoc_usage_hour_table (creation_time, id, id_tres, time_start, alloc_secs) VALUES (1, 2, 1, ?, 36)', hour)
    place.succeed('run', '--now', NOW)
    used = place.usage('root.u', 'root')
    tap.same(used, [36e9, 36e9], 'a sum of slurmdbd is charged by its weight')
    place.change('UPDATE tiny_assoc_usage_hour_table SET alloc_secs = ?', 2 ** 63 - 1)
    for days in ('400', '0'):
        place.settings(dict(keys, **{'retention.history_days': days}))
        place.ends(65, f'one beyond the range of our integers fails the cluster, with days of {days}', 'run', '--now', NOW + 10)
        place.says('and its association is named', 'the usage of association 2 is beyond the range')
    tap.same((place.usage('root.u', 'root'), place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare')), (used, [(NOW,)]),
             'old results stay')
    place.change('UPDATE tiny_assoc_usage_hour_table SET alloc_secs = 72')
    place.succeed('run', '--now', NOW + 20)
    tap.same(place.usage('root.u'), [72e9], 'and the next run that can goes on')


def body():
    for part in (trees, roots, duplicates, qos_gone, jobs, rollups, shares, null_shares):
        with Place() as place:
            part(place)


tap.main(body)
