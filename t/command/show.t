#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the text and machine-readable output of show."""

import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

HEADER = 'Cluster|Account|User|Partition|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS'
NAMES = 'cluster account username partition rawshares normshares rawusage normusage effectvusage fairshare levelfs'.split()

# Bytewise order: a-b before aB before ab, B before a; users before the accounts on their level.
DRAWING = '''
cluster tiny
root/
  ab/       2
    zoe     1  use 1
    Zoe     1  use 2
    anna@gpu 1
    anna    1
    sub/    1
      yan   1  use 3
    B/      1
      b     1
  a-b/      3
    bob parent  use 6
  aB/   parent
    cid     0
  zed       1  use 30
cluster Other
root/
  u         1
'''

ORDER = [('Other', 'root', '', ''), ('Other', 'root', 'u', ''),
         ('tiny', 'root', '', ''), ('tiny', 'root', 'zed', ''),
         ('tiny', 'a-b', '', ''), ('tiny', 'a-b', 'bob', ''),
         ('tiny', 'aB', '', ''), ('tiny', 'aB', 'cid', ''),
         ('tiny', 'ab', '', ''), ('tiny', 'ab', 'Zoe', ''), ('tiny', 'ab', 'anna', ''),
         ('tiny', 'ab', 'anna', 'gpu'),
         ('tiny', 'ab', 'zoe', ''), ('tiny', 'B', '', ''), ('tiny', 'B', 'b', ''),
         ('tiny', 'sub', '', ''), ('tiny', 'sub', 'yan', '')]


def parsed(place, *arguments):
    place.succeed('show', '--parsable', *arguments)
    header, *lines = place.out.splitlines()
    return header, [line.split('|') for line in lines]


def number(value):
    return '' if value is None else '%.17g' % value


def parsable(place):
    header, lines = parsed(place)
    tap.same(header, HEADER, '--parsable has exactly these headings')
    tap.ok(place.out.endswith('\n') and all(len(line) == 11 for line in lines),
           'each line of --parsable has eleven fields and no trailing bar')
    tap.same([tuple(line[:4]) for line in lines], ORDER,
             'rows are depth first, users before accounts, in bytewise order')
    got = {tuple(line[:4]): line for line in lines}
    views = place.query('SELECT s.cluster, s.account, s.username, s.partition, s.rawshares, s.normshares, s.rawusage, s.normusage, '
                        's.effectvusage, s.fairshare, s.levelfs, f.level_fs_infinite FROM fairmill_sshare s '
                        'JOIN fairmill_fairshare f ON f.cluster = s.cluster AND f.id_assoc = s.id_assoc')
    wrong = []
    for row in views:
        line = got[tuple(row[:4])]
        level_fs = 'inf' if row[11] else number(row[10])
        wanted = [row[4] or '', number(row[5]), str(int(row[6])), number(row[7]), number(row[8]),
                  number(row[9]), level_fs]
        if line[4:] != wanted:
            wrong.append(f'{line} is not {wanted}')
    tap.ok(len(views) == len(ORDER) and not wrong,
           'each field equals fairmill_sshare, with all digits', *wrong)
    tap.same(got['tiny', 'a-b', 'bob', ''][4], 'parent', '`parent` shares are printed as parent')
    tap.same(got['tiny', 'root', '', ''][4], '', "the root's shares are empty")
    tap.same(got['tiny', 'a-b', 'bob', ''][10], '', 'a user with `parent` shares has no Level FS')
    tap.same(got['tiny', 'ab', 'anna', ''][10], 'inf', 'an infinite Level FS is printed as inf')
    tap.same(got['tiny', 'aB', 'cid', ''][10], '0', 'shares of 0 have Level FS 0')
    tap.same(got['tiny', 'ab', '', ''][9], '', 'with Fair Tree, an account has no FairShare')
    tap.same(got['tiny', 'ab', 'zoe', ''][8], '%.17g' % (1 / 6), 'numbers have all digits')


def cut(place):
    place.site('root/\n  u\nqos 2 factor=0.3\njob root.u start=1000 end=1001 billing=9 qos=2\n',
               name='cut.db')
    place.settings({'source.database': place.path('cut.db'),
                    'results.database': place.path('cut-r.db')}, name='cut.conf')
    place.succeed('init', settings='cut.conf')
    place.succeed('run', '--now', NOW, settings='cut.conf')
    place.succeed('show', '--parsable', settings='cut.conf')
    tap.same([line.split('|')[6] for line in place.out.splitlines()[1:]], ['2', '2'],
             'RawUsage 2.7 is truncated to 2')


def filters(place):
    _, lines = parsed(place, '--user', 'zoe')
    tap.same([tuple(line[:4]) for line in lines if line[2]], [('tiny', 'ab', 'zoe', '')],
             '--user selects a user')
    _, lines = parsed(place, '--user', 'anna')
    tap.same([line[3] for line in lines if line[2]], ['', 'gpu'],
             '--user shows all partitions of the user')
    tap.same(parsed(place, '--all', '--user', 'anna'), parsed(place), '--all shows all users and overrides --user')
    _, lines = parsed(place, '--account', 'sub')
    tap.same({tuple(line[:3]) for line in lines} & {('tiny', 'sub', ''), ('tiny', 'sub', 'yan'),
                                                    ('tiny', 'ab', 'zoe')},
             {('tiny', 'sub', ''), ('tiny', 'sub', 'yan')}, '--account selects an account')
    _, lines = parsed(place, '--cluster', 'Other')
    tap.same([tuple(line[:3]) for line in lines], [('Other', 'root', ''), ('Other', 'root', 'u')],
             '--cluster selects a cluster')


def as_json(place):
    place.succeed('show', '--json')
    document = json.loads(place.out)
    rows = [row for row in walk(document)]
    tap.same(len(rows), len(ORDER), 'JSON has all rows')
    by_name = {(row['cluster'], row['account'], row['username']): row for row in rows
               if not row.get('partition')}
    infinite = by_name['tiny', 'ab', 'anna']
    tap.ok([v for k, v in infinite.items() if 'level' in k.lower()
            and 'fs' in k.lower()][0] is None,
           'an infinite Level FS is null in JSON', infinite)
    tap.ok('NaN' not in place.out and 'Infinity' not in place.out and '1e+100' not in place.out,
           'JSON has no number that JSON does not allow')
    zoe = by_name['tiny', 'ab', 'zoe']
    tap.ok(1 / 6 in zoe.values(), 'numbers in JSON have all digits', zoe)


def as_slurm_json(place):
    """t/slurm/json.t compares the document with sshare's."""
    place.ends(64, '--json=slurm rejects several clusters', 'show', '--json=slurm')
    place.says('the error names the option that selects one', '--cluster')
    tap.same(place.out, '', 'the error has no output')
    place.succeed('show', '--json=slurm', '-M', 'tiny')
    rows = json.loads(place.out)['shares']['shares']
    tap.same([('tiny', *((row['parent'], row['name']) if row['type'] == ['USER'] else (row['name'], '')), row['partition']) for row in rows],
             ORDER[2:], '--json=slurm has the rows of --parsable')
    place.ends(64, '--json and --json=slurm are mutually exclusive', 'show', '--json', '--json=slurm')
    place.ends(64, '--json=slurm rejects --columns', 'show', '--json=slurm', '-M', 'tiny', '-o', 'user')
    place.ends(64, '--json rejects other values', 'show', '--json=v0.0.42')
    place.says('the error names the value and the valid one', "'v0.0.42'", "'slurm'")
    place.ends(64, 'other commands reject --json=slurm', 'budget', '--json=slurm')
    place.says('their error names the option', "option '--json' does not take a value")
    place.succeed('show', '--js', '-M', 'tiny')
    tap.ok('clusters' in json.loads(place.out), '--json can still be abbreviated')


def many_in_slurm_json(place):
    """The document is printed in parts of a megabyte."""
    place.ready('cluster tiny\nroot/\n  a/ 1\n    u 1 use 5\n')
    place.change("""UPDATE tiny_assoc_table SET acct = 'a "b" \\ c' WHERE acct = 'a'""")
    place.multiply('tiny_assoc_table', "user = 'u'", 5000, id_assoc='100 + i', user="'more' || i")
    place.succeed('run', '--now', NOW)
    place.succeed('show', '--json=slurm')
    rows = json.loads(place.out)['shares']['shares']
    tap.ok(len(place.out) > 3 << 20 and len({row['id'] for row in rows}) == len(rows) == 5003, 'a long document has each row once',
           len(place.out), len(rows))
    tap.same({row['parent'] for row in rows if row['type'] == ['USER']}, {'a "b" \\ c'}, 'quotes and backslashes in names are escaped')


def large_in_slurm_json(place):
    """Weights of TRES can make usage that large."""
    place.query('UPDATE fairmill_value SET usage_raw = 6e29')
    place.succeed('show', '--json=slurm')
    tap.same({row['usage'] for row in json.loads(place.out)['shares']['shares']}, {2 ** 64 - 2 ** 11},
             'usage that does not fit into 64 bits is the largest such number, not 0')


def as_csv(place):
    """A reader of RFC 4180 must get the values of --parsable."""
    _, lines = parsed(place)
    place.succeed('show', '--csv')
    rows = list(csv.reader(io.StringIO(place.out, newline='')))
    tap.same(rows, [NAMES] + lines, '--csv has the fields of --parsable and the names of fairmill_sshare')
    tap.same(place.out.count('\r\n'), len(rows), 'CSV lines end with CR LF')
    place.change("UPDATE tiny_assoc_table SET \"user\" = 'a \"b\", c' WHERE \"user\" = 'zed'")
    place.succeed('run')
    place.succeed('show', '--csv')
    tap.ok('tiny,root,"a ""b"", c",,' in place.out, 'a name with a comma and quotes is quoted', place.out)
    place.change("UPDATE tiny_assoc_table SET \"user\" = 'zed' WHERE \"user\" = 'a \"b\", c'")
    place.succeed('run', '--now', NOW, '--replace')
    for other in ('--json', '--parsable'):
        place.ends(64, f'--csv and {other} are mutually exclusive', 'show', '--csv', other)


def chosen(place):
    """Tests -o, -n and -p, which are the same as in sshare."""
    place.succeed('show', '-M', 'tiny', '-u', 'zoe', '-n', '-P', '-o', 'User,rawshares,ACCOUNT,Cluster')
    tap.same(place.out.splitlines(), ['||root|tiny', '|2|ab|tiny', 'zoe|1|ab|tiny'], '-o selects columns by name, in any order')
    place.succeed('show', '-M', 'tiny', '-u', 'zoe', '-p', '-o', 'username,levelfs')
    tap.same(place.out.splitlines()[0::3], ['User|LevelFS|', 'zoe|%s|' % number(place.value('level_fs', 'ab.zoe'))],
             '-p ends each line with a bar')
    place.succeed('show', '-M', 'tiny', '-u', 'zoe', '-n', '-o', 'user%-5,id%4')
    tap.same(place.out.splitlines()[-1][:5], 'zoe  ', '-o accepts a width')
    place.succeed('show', '--csv', '-M', 'tiny', '-u', 'zoe', '-o', 'id,User')
    tap.same(place.out.splitlines()[0], 'id_assoc,username', 'CSV has the column names of the view')
    place.succeed('show', '--json', '-M', 'tiny', '-u', 'zoe', '-o', 'id,User')
    tap.same([list(row) for row in json.loads(place.out)['clusters'][0]['associations']], [['id_assoc', 'username']] * 3,
             'JSON has the column names of the view')
    place.ends(64, 'an unknown column is rejected', 'show', '-o', 'acount')
    place.says('the error for an unknown column proposes the nearest one', "unknown column 'acount'; did you mean 'account'?")


def walk(node):
    """Yields all objects with a user and an account, at any depth."""
    if isinstance(node, list):
        for item in node:
            yield from walk(item)
    elif isinstance(node, dict):
        if 'account' in node and 'username' in node:
            yield node
        for value in node.values():
            yield from walk(value) if isinstance(value, (dict, list)) else ()


def for_people(place):
    place.succeed('show')
    for word in ('Account', 'User', 'RawShares', 'NormShares', 'RawUsage', 'EffectvUsage',
                 'FairShare', 'parent', 'inf', 'zoe', 'tiny'):
        tap.ok(word in place.out, f'the text output contains {word}', place.out)


def algorithms(place):
    """Tests the values of the columns for each algorithm."""
    columns = dict(fair_tree=('level_shares_norm', 'level_usage', 'fair_tree_factor'),
                   classic=('shares_norm', 'classic_usage', 'classic_factor'),
                   linear=('shares_norm', 'linear_usage', 'linear_factor'),
                   pbs=('pbs_target', 'pbs_tree_usage', 'pbs_factor'),
                   depth_oblivious=('shares_norm', 'depth_oblivious_usage',
                                    'depth_oblivious_factor'))
    for algorithm, (norm, effective, factor) in columns.items():
        place.settings({'fairshare.algorithm': algorithm, 'fairshare.capacity': '4'})
        place.succeed('run', '--now', NOW, '--replace')
        rows = place.query(
            f'SELECT s.normshares IS {norm}, s.effectvusage IS {effective}, s.fairshare IS {factor}, f.fairshare IS {factor}, '
            f"s.levelfs IS CASE WHEN '{algorithm}' = 'fair_tree' THEN f.level_fs END, s.rawusage IS f.usage_raw, "
            's.normusage IS f.usage_norm FROM fairmill_sshare s '
            'JOIN fairmill_fairshare f ON f.cluster = s.cluster AND f.id_assoc = s.id_assoc WHERE f.depth > 0 AND f.shares_norm > 0')
        tap.ok(len(rows) > 10 and set(rows) == {(1,) * 7},
               f'with {algorithm} the columns are {norm}, {effective} and {factor}', set(rows))


LIMITED = f'''
cluster tiny
root/
  physics/  1
    alice   1
    bob     1
  empty/    1
    eve     1
job physics.alice start={NOW - 100} limit=10 tres=1=3,2=700,3=18446744073709551614,4=1,5=4
job physics.alice start={NOW - 59} limit=1 tres=1=100,2=59,4=1,5=4,1001=2
job physics.bob start={NOW - 601} limit=10 tres=1=7,4=1
job physics.bob start={NOW - 10} limit=4294967295 tres=1=7,4=1
job physics.bob start={NOW - 500} end={NOW - 1} limit=10 tres=1=7,4=1
job physics.bob submit={NOW - 500} limit=10 tres_req=1=7,4=1
'''


def limits(place):
    """Tests sshare's TRES columns: the remaining seconds of running jobs, truncated to minutes for
    each association."""
    place.ready(LIMITED)
    with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
        file.write('AccountingStorageEnforce=associations,limits\n')
    place.change("DELETE FROM tres_table")
    place.change("INSERT INTO tres_table (creation_time, id, type, name) VALUES (1, 1, 'cpu', ''), (1, 2, 'mem', ''), "
                 "(1, 3, 'energy', ''), (1, 4, 'node', ''), (1, 5, 'billing', ''), (1, 1001, 'gres', 'gpu'), "
                 "(1, 1002, 'license', 'of another cluster')")
    place.change("UPDATE tiny_event_table SET time_end = 1 WHERE node_name = ''")
    place.change("INSERT INTO tiny_event_table (node_name, time_start, time_end, cluster_nodes, tres, reason, state) "
                 "VALUES ('', 1, 0, 'n1', '1=64,2=9000,3=0,4=2,5=64,1001=4', '', 0)")
    place.change("UPDATE tiny_assoc_table SET grp_tres_mins = '1=600,1001=20' WHERE acct = 'physics' AND user = ''")
    settings = {'slurm.conf': place.path('slurm.conf')}
    place.settings(settings)
    place.succeed('run', '--now', NOW)
    # alice has 500 s of 3 CPUs and 1 s of 100 left; bob's jobs are beyond their limit or without
    # one.  alice used 100 s of 3 CPUs and 59 s of 100 CPUs and 2 GPUs.  bob used 601 s, 10 s and
    # 499 s of 7 CPUs.
    left = 'cpu=26,mem=5834,energy=0,node=8,billing=33,gres/gpu=0'
    nothing = 'cpu=0,mem=0,energy=0,node=0,billing=0,gres/gpu=0'
    used, alice, bob, unused = ('cpu=232,node=21,gres/gpu=1', 'cpu=103,node=2,gres/gpu=1', 'cpu=129,node=18',
                                'cpu=0,node=0,gres/gpu=0')
    place.succeed('show', '--parsable', '-l')
    header, *lines = place.out.splitlines()
    tap.same(header, HEADER + '|GrpTRESMins|TRESRunMins|GrpTRESRaw', 'show -l has the TRES columns')
    tap.same({tuple(line.split('|')[1:3]): tuple(line.split('|')[-3:]) for line in lines},
             {('root', ''): ('', left, used), ('physics', ''): ('cpu=600,gres/gpu=20', left, used),
              ('physics', 'alice'): ('', left, alice), ('physics', 'bob'): ('', nothing, bob + ',gres/gpu=0'),
              ('empty', ''): ('', nothing, unused), ('empty', 'eve'): ('', nothing, unused)},
             'limits are per association, TRESRunMins and GrpTRESRaw include all below')
    tap.same(set(place.query('SELECT account, username, grptresmins, tresrunmins, grptresraw FROM fairmill_sshare')),
             {('root', '', None, left, used), ('physics', '', 'cpu=600,gres/gpu=20', left, used),
              ('physics', 'alice', None, left, alice), ('physics', 'bob', None, None, bob), ('empty', '', None, None, None),
              ('empty', 'eve', None, None, None)}, 'the view has values only if there are limits, running jobs or usage')
    place.succeed('show', '--parsable')
    tap.same(place.out.splitlines()[0], HEADER, 'without -l there are the usual columns')
    place.succeed('show', '--json')
    tap.same([(row['tresrunmins'], row['grptresraw']) for row in walk(json.loads(place.out)) if row['account'] == 'empty'],
             [(nothing, unused)] * 2,
             'JSON always has the TRES columns')
    place.succeed('show', '-n', '-o', 'grptresraw', '-A', 'physics', '-u', 'alice')
    tap.same(place.out.split()[-1], alice, 'a column that -o chooses is read')
    place.settings(settings | {'usage.tres': 'none'})
    place.succeed('run', '--now', NOW + 1)
    place.succeed('show', '-l', '--parsable')
    tap.same({line.rpartition('|')[2] for line in place.out.splitlines()}, {'GrpTRESRaw', ''},
             'without kept TRES, GrpTRESRaw is empty')
    place.settings(settings | {'slurm.conf': None})
    place.succeed('run', '--now', NOW + 2)
    tap.same(place.query("SELECT count(*), count(tresrunmins), count(grptresmins) FROM fairmill_sshare"), [(6, 0, 1)],
             'without a slurm.conf that enforces limits, TRESRunMins are NULL')
    place.succeed('show')
    tap.ok('Partition' not in place.out, 'without partitions there is no column for them')
    place.succeed('show', '-m')
    tap.ok(place.out.splitlines()[1].split()[:3] == ['Account', 'User', 'Partition'],
           '-m always adds the column of partitions', place.out)


def body():
    with Place() as place:
        place.ready(DRAWING)
        place.succeed('run', '--now', NOW)
        for part in (parsable, cut, filters, as_csv, as_json, as_slurm_json, chosen, for_people, algorithms, limits, many_in_slurm_json,
                     large_in_slurm_json):
            part(place)


tap.main(body)
