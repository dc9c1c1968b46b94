#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests runs on rows that a valid accounting database does not contain."""

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
    """Moves an account to another parent, with the columns that the tables have."""
    columns = [c for c, in place.change("SELECT name FROM pragma_table_info('tiny_assoc_table')")]
    place.change('UPDATE tiny_assoc_table SET parent_acct = ? WHERE id_assoc = ?', acct, number)
    if 'id_parent' in columns:
        place.change('UPDATE tiny_assoc_table SET id_parent = ? WHERE id_assoc = ?', id_parent,
                     number)


def parent_missing(place):
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 4')


def parent_id_missing(place):
    """Removes the id of the parent.  The names still lead to the root."""
    place.change('UPDATE tiny_assoc_table SET id_parent = 77 WHERE id_assoc = 4')


def itself(place):
    set_parent(place, 4, 'bad', 4)


def cycle(place):
    set_parent(place, 4, 'below', 6)


# Each fault has a name, a function that makes it, association ids, and the ids that are left if bad
# rows are skipped.  The error must name one of the association ids.
BROKEN = (
    ('an account whose parent is missing', parent_missing, ('5', '6'), {1, 2, 3}),
    ('an account whose parent id is unknown', parent_id_missing, ('4',), {1, 2, 3}),
    ('an account that is its own parent', itself, ('4',), {1, 2, 3}),
    ('a cycle of accounts', cycle, ('4', '6'), {1, 2, 3}),
)


def trees(place):
    for what, spoil, ids, left in BROKEN:
        place.ready(TREE)
        place.succeed('run', '--now', NOW)
        kept = place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc')
        spoil(place)
        place.ends(65, f'{what} makes the run of the cluster fail', 'run', '--now', NOW + 10)
        tap.ok(any(number in place.err for number in ids) and "'tiny'" in place.err,
               f'the error names the cluster and an association ({what})', place.err)
        tap.same(place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc'), kept,
                 f'the old results stay after the error ({what})')
        place.ends(65, f'check reports the error ({what})', 'check')
        place.settings({'source.on_bad_rows': 'skip'})
        place.ends(0, f'with on_bad_rows = skip the run succeeds ({what})', 'run', '--now', NOW + 20)
        tap.same({number for number, in place.query('SELECT id_assoc FROM fairmill_fairshare')},
                 left, f'the results leave out the subtree ({what})')
        tap.ok(sum(place.findings().values()) > 0 and place.query(
            "SELECT count(*) FROM fairmill_finding WHERE subject IN (%s)" % ','.join('?' * len(ids)), *ids)[0][0] > 0,
            f'a finding reports the association ({what})', place.query('SELECT * FROM fairmill_finding'))
        place.succeed('check')
        tap.ok('    what to do: set its parent with sacctmgr\n' in place.out, f'check prints the remedy ({what})', place.out)
        place.succeed('check', '--json')
        tap.ok({row['remedy'] for each in json.loads(place.out)['clusters'] for row in each['findings']} >= {'set its parent with sacctmgr'},
               f'check --json contains the remedy ({what})',
               place.out)
        tap.same(place.usage('good.alice'), [10.0], f'the other associations keep their usage ({what})')


def roots(place):
    place.ready(TREE)
    place.succeed('run', '--now', NOW)
    columns = [c for c, in place.change("SELECT name FROM pragma_table_info('tiny_assoc_table')")]
    kept = place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc')
    copied = ', '.join(f'"{c}"' for c in columns)
    changed = ', '.join("9" if c == 'id_assoc' else "'root2'" if c == 'acct' else f'"{c}"'
                        for c in columns)
    place.change(f'INSERT INTO tiny_assoc_table ({copied}) SELECT {changed} FROM tiny_assoc_table WHERE id_assoc = 1')
    place.ends(65, 'two roots make the run of the cluster fail', 'run', '--now', NOW + 10)
    tap.ok('1' in place.err and '9' in place.err, 'the error names both roots', place.err)
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc IN (1, 9)')
    place.ends(65, 'a missing root makes the run of the cluster fail', 'run', '--now', NOW + 10)
    place.change('DELETE FROM tiny_assoc_table')
    place.ends(65, 'an empty association table makes the run of the cluster fail', 'run', '--now', NOW + 10)
    tap.same(place.query('SELECT * FROM fairmill_fairshare ORDER BY id_assoc'), kept,
             'the old results stay after errors about roots')


def duplicates(place):
    """slurmdbd's own tables cannot contain two rows of one name, but copies without keys can."""
    place.ready(TREE)
    place.succeed('run', '--now', NOW)
    for index, in place.change("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'tiny_assoc_table' AND sql IS NOT NULL"):
        place.change(f'DROP INDEX "{index}"')
    columns = [c for c, in place.change("SELECT name FROM pragma_table_info('tiny_assoc_table')")]
    # Recreate the table without its constraints.
    place.change('ALTER TABLE tiny_assoc_table RENAME TO old')
    place.change('CREATE TABLE tiny_assoc_table AS SELECT * FROM old')
    place.change('DROP TABLE old')
    copied = ', '.join(f'"{c}"' for c in columns)
    changed = ', '.join('8' if c == 'id_assoc' else f'"{c}"' for c in columns)
    place.change(f'INSERT INTO tiny_assoc_table ({copied}) SELECT {changed} FROM tiny_assoc_table WHERE id_assoc = 5')
    place.ends(65, 'two rows for one user in an account make the run fail', 'run', '--now', NOW + 10)
    place.says('the error names both rows of the user', 'association 5', 'association 8')
    place.change('DELETE FROM tiny_assoc_table WHERE id_assoc = 8')
    place.change(f'INSERT INTO tiny_assoc_table ({copied}) SELECT {copied} FROM tiny_assoc_table WHERE id_assoc = 5')
    place.ends(65, 'two rows with one id make the run fail', 'run', '--now', NOW + 10)
    tap.ok('5' in place.err, 'the error names the duplicate id', place.err)
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW,)],
             'the old results stay after errors about duplicates')


def qos_missing(place):
    """Tests jobs with a QOS whose row was deleted from qos_table by hand."""
    place.ready('root/\n  u\nqos 2 factor=3\njob root.u start=1000 end=1100 billing=1 qos=2\njob root.u start=1500 end=1600 billing=1 qos=2\n'
                'job root.u start=2000 end=2100 billing=1\n', {'fairshare.capacity': 1})
    place.succeed('check', '--csv', '--noheader')
    tap.same(place.out, '', 'check has no finding for an existing QOS')
    place.change('DELETE FROM qos_table WHERE id = 2')
    place.change('UPDATE tiny_job_table SET id_qos = 0 WHERE time_start = 2000')
    place.succeed('check', '--json')
    found = [row for each in json.loads(place.out)['clusters'] for row in each['findings']]
    tap.same([(row['kind'], row['subject'], row['seen'], row['detail']) for row in found],
             [('qos_unknown', '2', 2, '2 jobs started between 1970-01-01T00:16:40 and 1970-01-01T00:25:00; QOS')], 'check reports jobs with a missing QOS, but not jobs without one')
    place.succeed('check')
    tap.ok('(QOS of jobs is missing in qos_table; charged with usage factor 1), first 2: 2 jobs' in place.out,
           'check describes the missing QOS in its text output',
           place.out)
    place.succeed('run', '--now', NOW)
    tap.same((place.usage('root.u'), place.findings()), ([300.0], {}), 'jobs with a missing QOS are charged with factor 1')


def jobs(place):
    plain = 'root/\n  u\njob root.u start=1000 end=1100 billing=1\n'
    wrong = (('job root.u start=2000 end=1999 billing=5', 'a job that ends before it starts'),
             ('job root.u start=1000 end=1001 tres=5=x', 'a TRES count that is not a number'),
             ('job root.u start=1000 end=1001 tres=1=3,5=', 'an empty TRES count'),
             ('job root.u start=1000 end=1001 tres=5=-7', 'a negative TRES count'),
             ('job root.u start=1000 end=1001 tres=5=1.5', 'a TRES count with a fraction'),
             ('job root.u start=1000 end=1001 tres=5=18446744073709551616',
              'a TRES count above 64 bits'),
             ('job root.u start=1000 end=1001 tres=5=18446744073709551614', 'NO_VAL'),
             ('job root.u start=1000 end=1001 tres=5=18446744073709551615', 'INFINITE'),
             ('qos 2 factor=1e30\njob root.u start=1000 end=1001 billing=18446744073709551613 qos=2',
              'a charge above the integer range'))
    for line, what in wrong:
        place.ready(plain + line + '\n', {'fairshare.capacity': 1})
        place.ends(0, f'{what} does not stop a run', 'run', '--now', NOW, '--replace')
        tap.same(place.usage('root.u'), [100.0], f'{what} is charged nothing')
        tap.same(sum(place.findings().values()), 1, f'{what} is a finding')
        tap.same(place.out + place.err, '', f'{what} causes no output')
    for line, charged, what in (('tres=2=junk,5=3', 3.0, 'a TRES that is not charged is not checked'),
                                ('tres=1=junk,5=3', 3.0,
                                 'CPUs are not charged if the job has a billing'),
                                ('tres=1=2,3=18446744073709551614,4=1,5=3', 3.0,
                                 'energy without a value is not a finding'),
                                ('tres=15=9,5=3', 3.0, 'TRES 15 is not read as TRES 5')):
        place.ready(plain + f'job root.u start=1000 end=1001 {line}\n', {'fairshare.capacity': 1})
        place.succeed('run', '--now', NOW, '--replace')
        tap.same((place.usage('root.u'), place.findings()), ([100.0 + charged], {}), what)
    weighed = {'fairshare.capacity': 1, 'usage.charge': 'tres', 'usage.tres_weights': 'cpu=1,mem=1,node=0'}
    tree = 'root/\n  u\njob root.u start=1000 end=1100 tres=1=1\n'
    for line, charged, found, what in (
            ('1=3,2=x', 0.0, 1, 'a charged TRES that is not a number'),
            ('1=3,2=18446744073709551614', 0.0, 1, 'a charged TRES without a value'),
            ('1=18446744073709551613,2=18446744073709551613', 0.0, 1, 'a sum above the integer range'),
            ('1=3,4=x,5=x,1001=x', 3.0, 0, 'an invalid TRES without a weight'),
            ('1=3,1=x', 3.0, 0, 'a TRES that occurs twice')):
        place.ready(tree + f'job root.u start=1000 end=1001 tres={line}\n', weighed)
        place.ends(0, f'{what} does not stop a run that charges TRES', 'run', '--now', NOW, '--replace')
        tap.same((place.usage('root.u'), sum(place.findings().values())), ([100.0 + charged], found),
                 f'{what} {"makes the charge 0 and is a finding" if found else "is not checked"}')
    ahead = int(time.time())
    place.ready(plain + f'job root.u start={ahead + 4000} billing=5\n', {'fairshare.capacity': 1})
    place.ends(0, 'a job that starts in the future does not stop a run', 'run', '--replace')
    tap.same((place.usage('root.u'), sum(place.findings().values())), ([100.0], 1),
             'a job that starts in the future is a finding without a charge')
    place.ready(plain + f'job root.u start={ahead + 4000} billing=5\n', {'fairshare.capacity': 1})
    place.succeed('run', '--now', NOW)
    tap.same((place.usage('root.u'), place.findings()), ([100.0], {}),
             'in a run for a past time, a later job is not a finding')
    place.ready(plain + f'job root.u start={ahead + 200} billing=5\n', {'fairshare.capacity': 1})
    place.succeed('run', '--replace')
    tap.same(place.findings(), {}, 'a job may start up to five minutes in the future')
    many = ''.join(f'job root.u start=2000 end={1000 + i} billing=5\n' for i in range(150))
    place.ready(plain + many, {'fairshare.capacity': 1})
    place.succeed('run', '--now', NOW, '--replace')
    (kept, counted), = place.query('SELECT count(*), sum(count) FROM fairmill_finding')
    tap.ok(kept <= 100, 'at most 100 findings of a kind are stored', kept, counted)
    tap.same(kept, 100, 'of 150 findings of a kind, 100 are stored')
    place.change('UPDATE tiny_job_table SET time_end = 3000 WHERE job_db_inx BETWEEN 51 AND 100')
    place.change('UPDATE tiny_job_table SET id_assoc = 77, time_end = 3000 WHERE job_db_inx = 150')
    place.query('DELETE FROM fairmill_finding')
    place.succeed('run', '--now', NOW, '--full')
    place.change('UPDATE tiny_job_table SET time_end = CASE WHEN job_db_inx BETWEEN 51 AND 100 THEN 1000 ELSE 3000 END')
    place.succeed('run', '--now', NOW + 60, '--full')
    found = place.query('SELECT kind, last_seen, count(*) FROM fairmill_finding GROUP BY 1, 2 ORDER BY 1, 2')
    tap.same(found, [('job_ends_before_start', NOW, 50), ('job_ends_before_start', NOW + 60, 50),
                     ('job_without_association', NOW + 60, 1)],
             'the newest 100 findings of each kind are stored')
    place.ready(plain, {'fairshare.capacity': 1})
    place.change('UPDATE tiny_job_table SET id_assoc = 0')
    place.succeed('run', '--now', NOW)
    tap.same(place.query('SELECT kind, subject FROM fairmill_finding'), [('job_without_association', '0')],
             'a job with association id 0 is a finding')


def shares(place):
    place.ready('root/\n  a -5 use 1\n  b 5 use 1\n', {'fairshare.capacity': 1})
    place.ends(0, 'negative shares do not stop a run', 'run', '--now', NOW)
    tap.same((place.value('shares', 'root.a'), place.value('shares_norm', 'root.a'),
              place.value('shares_norm', 'root.b')), (0, 0.0, 1.0),
             'negative shares count as 0')
    tap.same(sum(place.findings().values()), 1, 'negative shares are a finding')
    place.ready('root/\n  a 0 use 1\n  b 0 use 2\n  A/ 0\n    c 1 use 4\n',
                {'fairshare.capacity': 1})
    place.ends(0, 'a level with only 0 shares does not stop a run', 'run', '--now', NOW,
               '--replace')
    rows = place.query('SELECT DISTINCT shares_norm, level_shares_norm, level_fs, classic_factor, linear_factor, depth_oblivious_factor, '
                       "pbs_factor, depth_oblivious_ratio FROM fairmill_fairshare WHERE depth = 1")
    tap.same(rows, [(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None)], 'the factors of a level with only 0 shares are 0')
    tap.same(place.query("SELECT DISTINCT fair_tree_rank FROM fairmill_fairshare WHERE user_name <> ''"), [(3,)],
             'the users of a level with only 0 shares tie')


def null_shares(place):
    place.ready('root/\n  a 1\n  b 3\n', {'fairshare.capacity': 1})
    place.change('ALTER TABLE tiny_assoc_table RENAME TO old')
    place.change('CREATE TABLE tiny_assoc_table AS SELECT * FROM old')
    place.change("UPDATE tiny_assoc_table SET shares = NULL WHERE \"user\" = 'a'")
    place.ends(0, 'shares that are NULL do not stop a run', 'run', '--now', NOW)
    tap.same((place.value('shares', 'root.a'), place.value('shares_norm', 'root.a')), (1, .25),
             'shares that are NULL count as 1')


def rollups(place):
    """slurmdbd's sums have up to 63 bits.  Multiplied by a weight they may exceed fairmill's
    integers."""
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
        place.ends(65, f'a charge above the integer range makes the run fail (history_days {days})', 'run', '--now', NOW + 10)
        place.says(f'the error names the association (history_days {days})', 'the usage of association 2 is beyond the range')
    tap.same((place.usage('root.u', 'root'), place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare')), (used, [(NOW,)]),
             'the old results stay after an error about the range')
    place.change('UPDATE tiny_assoc_usage_hour_table SET alloc_secs = 72')
    place.succeed('run', '--now', NOW + 20)
    tap.same(place.usage('root.u'), [72e9], 'the next run with a valid sum succeeds')


def body():
    for part in (trees, roots, duplicates, qos_missing, jobs, rollups, shares, null_shares):
        with Place() as place:
            part(place)


tap.main(body)
