#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What show prints, for people and for programs."""

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

# Bytewise: a-b before aB before ab, B before a; users before the accounts beside them.
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
    tap.same(header, HEADER, 'the header is exact')
    tap.ok(place.out.endswith('\n') and all(len(line) == 11 for line in lines),
           'each line has eleven fields and no bar at its end')
    tap.same([tuple(line[:4]) for line in lines], ORDER,
             'rows come depth first, users before accounts, bytewise, without indent')
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
           'each field is the one of fairmill_sshare, with every digit', *wrong)
    tap.same(got['tiny', 'a-b', 'bob', ''][4], 'parent', 'parent shares are printed as parent')
    tap.same(got['tiny', 'root', '', ''][4], '', "the root's shares are blank")
    tap.same(got['tiny', 'a-b', 'bob', ''][10], '', 'and have no Level FS')
    tap.same(got['tiny', 'ab', 'anna', ''][10], 'inf', 'an infinite Level FS is inf')
    tap.same(got['tiny', 'aB', 'cid', ''][10], '0', 'a zero share has Level FS 0')
    tap.same(got['tiny', 'ab', '', ''][9], '', 'an account has no FairShare under Fair Tree')
    tap.same(got['tiny', 'ab', 'zoe', ''][8], '%.17g' % (1 / 6), 'numbers have all their digits')


def cut(place):
    place.site('root/\n  u\nqos 2 factor=0.3\njob root.u start=1000 end=1001 billing=9 qos=2\n',
               name='cut.db')
    place.settings({'source.database': place.path('cut.db'),
                    'results.database': place.path('cut-r.db')}, name='cut.conf')
    place.succeed('init', settings='cut.conf')
    place.succeed('run', '--now', NOW, settings='cut.conf')
    place.succeed('show', '--parsable', settings='cut.conf')
    tap.same([line.split('|')[6] for line in place.out.splitlines()[1:]], ['2', '2'],
             'RawUsage 2.7 is cut to 2')


def filters(place):
    _, lines = parsed(place, '--user', 'zoe')
    tap.same([tuple(line[:4]) for line in lines if line[2]], [('tiny', 'ab', 'zoe', '')],
             '--user shows that user')
    _, lines = parsed(place, '--user', 'anna')
    tap.same([line[3] for line in lines if line[2]], ['', 'gpu'],
             '--user shows every partition of the user')
    _, lines = parsed(place, '--account', 'sub')
    tap.same({tuple(line[:3]) for line in lines} & {('tiny', 'sub', ''), ('tiny', 'sub', 'yan'),
                                                    ('tiny', 'ab', 'zoe')},
             {('tiny', 'sub', ''), ('tiny', 'sub', 'yan')}, '--account shows that account')
    _, lines = parsed(place, '--cluster', 'Other')
    tap.same([tuple(line[:3]) for line in lines], [('Other', 'root', ''), ('Other', 'root', 'u')],
             '--cluster shows that cluster')


def as_json(place):
    place.succeed('show', '--json')
    document = json.loads(place.out)
    rows = [row for row in walk(document)]
    tap.same(len(rows), len(ORDER), 'the JSON has every row')
    by_name = {(row['cluster'], row['account'], row['username']): row for row in rows
               if not row.get('partition')}
    infinite = by_name['tiny', 'ab', 'anna']
    tap.ok([v for k, v in infinite.items() if 'level' in k.lower()
            and 'fs' in k.lower()][0] is None,
           'an infinite Level FS is null', infinite)
    tap.ok('NaN' not in place.out and 'Infinity' not in place.out and '1e+100' not in place.out,
           'no number is one that JSON has not')
    zoe = by_name['tiny', 'ab', 'zoe']
    tap.ok(1 / 6 in zoe.values(), 'numbers have all their digits', zoe)


def as_csv(place):
    """RFC 4180: what a reader of it finds is what --parsable prints."""
    _, lines = parsed(place)
    place.succeed('show', '--csv')
    rows = list(csv.reader(io.StringIO(place.out, newline='')))
    tap.same(rows, [NAMES] + lines, '--csv has the fields of --parsable, under the names of fairmill_sshare')
    tap.same(place.out.count('\r\n'), len(rows), 'lines end with CR LF')
    place.change("UPDATE tiny_assoc_table SET \"user\" = 'a \"b\", c' WHERE \"user\" = 'zed'")
    place.succeed('run')
    place.succeed('show', '--csv')
    tap.ok('tiny,root,"a ""b"", c",,' in place.out, 'a name with a comma and quotes is in quotes', place.out)
    place.change("UPDATE tiny_assoc_table SET \"user\" = 'zed' WHERE \"user\" = 'a \"b\", c'")
    place.succeed('run', '--now', NOW, '--replace')
    for other in ('--json', '--parsable'):
        place.ends(64, f'--csv and {other} exclude each other', 'show', '--csv', other)


def chosen(place):
    """-o, -n and -p, as sshare has them."""
    place.succeed('show', '-M', 'tiny', '-u', 'zoe', '-n', '-P', '-o', 'User,rawshares,ACCOUNT,Cluster')
    tap.same(place.out.splitlines(), ['||root|tiny', '|2|ab|tiny', 'zoe|1|ab|tiny'], 'columns are chosen by their names, in any order')
    place.succeed('show', '-M', 'tiny', '-u', 'zoe', '-p', '-o', 'username,levelfs')
    tap.same(place.out.splitlines()[0::3], ['User|LevelFS|', 'zoe|%s|' % number(place.value('level_fs', 'ab.zoe'))], '-p ends each line with a bar')
    place.succeed('show', '-M', 'tiny', '-u', 'zoe', '-n', '-o', 'user%-5,id%4')
    tap.same(place.out.splitlines()[-1][:5], 'zoe  ', 'with a width')
    place.succeed('show', '--csv', '-M', 'tiny', '-u', 'zoe', '-o', 'id,User')
    tap.same(place.out.splitlines()[0], 'id_assoc,username', 'CSV has the names of the view')
    place.succeed('show', '--json', '-M', 'tiny', '-u', 'zoe', '-o', 'id,User')
    tap.same([list(row) for row in json.loads(place.out)['clusters'][0]['associations']], [['id_assoc', 'username']] * 3, 'so has JSON')
    place.ends(64, 'a column that is not there is refused', 'show', '-o', 'acount')
    place.says('with the nearest one', "there is no column 'acount', did you mean 'account'?")


def walk(node):
    """Every object that has a user and an account, wherever it is."""
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
        tap.ok(word in place.out, f'the table for people has {word}', place.out)


def algorithms(place):
    """Which values the columns hold."""
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
               f'under {algorithm} the columns are {norm}, {effective} and {factor}', set(rows))


def body():
    with Place() as place:
        place.ready(DRAWING)
        place.succeed('run', '--now', NOW)
        for part in (parsable, cut, filters, as_csv, as_json, chosen, for_people, algorithms):
            part(place)


tap.main(body)
