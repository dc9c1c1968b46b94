#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `show --pbs` and the view fairmill_pbsfs: the values of OpenPBS in pbsfs's formats."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

# 4130 TRES-seconds; an account and a user with no shares, and users in such an account.
DRAWING = '''
cluster tiny
root/
  TREE/    60
    Bob    40  use 125
    Suzy   20  use 1000
  late/    40
    Scott   1  use 3000
    none    0
    void    0  use 5
  same/     0
    one     1
    two     2
'''

# 20 / 60 x 60 / 100 in single precision, as in OpenPBS.
ENTITY = '''fairshare entity: Suzy
Resgroup		: 2
cresgroup		: 4
Shares			: 20
Percentage		: 20.000002%
fairshare_tree_usage	: {tree_usage:.6f}
usage			: 1000 (TRES-seconds)
usage/perc		: 5000
Path from root: 
root      :     1       4130 / 1.000 = 4130
TREE      :     2       1125 / 0.600 = 1875
Suzy      :     4       1000 / 0.200 = 5000
'''

TREE = ''' root(1)
     TREE(2)
          Bob(3)
          Suzy(4)
     late(5)
          Scott(6)
          none(7)
          void(8)
     same(9)
          one(10)
          two(11)
'''


def entity(place):
    place.succeed('show', '--pbs', 'Suzy')
    whole, own = 1125 / 4130, 1000 / 4130
    tap.same(place.out, ENTITY.format(tree_usage=own + (whole - own) * 20 / 60),
             'an entity is printed as by pbsfs -g')
    place.succeed('show', '--pbs', 'root')
    tap.ok('Resgroup\t\t: -1\n' in place.out and 'Shares\t\t\t: -1\n' in place.out,
           'the root has neither group nor shares', place.out)
    place.succeed('show', '--pbs', 'none')
    tap.ok('usage/perc\t\t: -1\n' in place.out and '= -1\n' in place.out,
           'an entity without shares has usage/perc -1', place.out)


def compare(place):
    for one, other, wanted in (('Bob', 'Suzy', 'Bob'), ('Suzy', 'Bob', 'Bob'),
                               ('Suzy', 'Scott', 'Suzy'), ('none', 'Bob', 'Bob'),
                               ('none', 'Scott', 'Scott'), ('none', 'void', 'none == void'),
                               ('one', 'two', 'one == two'), ('TREE/', 'late', 'TREE'),
                               ('root', 'Bob', 'root == Bob')):
        place.succeed('show', '--pbs', one, other)
        tap.same(place.out, wanted + '\n', f'show --pbs {one} {other} prints {wanted}, as pbsfs -c')


def view(place):
    rows = place.query('SELECT * FROM fairmill_pbsfs ORDER BY id_assoc')
    columns = [name for name, in place.query("SELECT name FROM pragma_table_info('fairmill_pbsfs')")]
    tap.same(columns, ['cluster', 'id_assoc', 'name', 'resgroup', 'cresgroup', 'shares', 'percentage',
                       'fairshare_perc', 'fair_share_perc', 'fairshare_tree_usage',
                       'fairshare_factor', 'usage', 'usage_perc', 'pbs_order'], 'the view has the columns of pbsfs')
    tap.same(rows[0][:9], ('tiny', 1, 'root', -1, 1, None, 100, 1, 1), 'the view has no group for the root')
    bob = rows[2]
    tap.same((bob[2], bob[3], bob[4], bob[5], bob[6], bob[11]), ('Bob', 2, 3, 40, 40, 125),
             'the view has the shares and usage of a user')
    tap.ok(abs(bob[10] - 2 ** -(bob[9] / .4)) < 1e-15 and abs(bob[12] - 125 / .4) < 1e-9,
           'fairshare_factor and usage_perc match the other columns', bob)
    tap.same([row[12] for row in rows if row[2] in ('none', 'void', 'one')], [-1, -1, -1],
             'usage_perc is -1 without a share')


def wrong(place):
    for arguments, what in ((('nobody',), 'an unknown entity'), (('Bob', 'nobody'), 'an unknown second entity'),
                            (('--json',), '--json'), (('--parsable',), '--parsable'),
                            (('Bob', 'Suzy', 'Scott'), 'a third name'),
                            (('Bob', '--user', 'Bob'), 'a name with --user'),
                            (('--entity', 'Bob', '--user', 'Bob'), '--entity with --user'),
                            (('--compare', 'Bob,Suzy', '-A', 'grp1'), '--compare with -A'),
                            (('-o', 'user'), 'a selection of columns'), (('--entity', 'Bob', '-o', 'nosuch'),
                                                                      '--entity with a selection of columns'),
                            (('-n',), '--noheader'), (('-l',), '--long'), (('-m',), '--partition')):
        place.ends(64, f'show --pbs rejects {what}', 'show', '--pbs', *arguments)
        tap.ok(place.err and not place.out, f'the error for {what} is on standard error only', place.out)
    place.succeed('show', 'Bob')
    tap.like(place.out, 'Bob', 'without --pbs a name selects rows of the table')


def body():
    with Place() as place:
        place.ready(DRAWING, {'fairshare.algorithm': 'pbs'})
        place.succeed('run', '--now', NOW)
        place.succeed('show', '--pbs')
        tap.same(place.out, TREE, 'the tree is printed as by pbsfs -t')
        place.succeed('show', '--pbs', '--account', 'late')
        tap.same(place.out, ''.join(line + '\n' for line in TREE.splitlines()[4:8]),
                 '--account selects a part of the tree')
        for part in (entity, compare, view, wrong):
            part(place)
        place.settings({'fairshare.algorithm': 'pbs', 'fairshare.pbs_minimum_usage': 1})
        place.succeed('run', '--now', NOW, '--replace')
        place.succeed('show', '--pbs', 'one')
        tap.ok('usage\t\t\t: 1 (TRES' in place.out and
               'root      :     1       4135 / 1.000 = 4135\n' in place.out,
               'each entity with usage adds its minimum usage to its groups', place.out)
        place.succeed('show', '--pbs', 'Suzy')
        tap.ok('usage\t\t\t: 1001 (TRES' in place.out, 'usage is added to the minimum usage', place.out)
        place.succeed('ledger', 'set', '1000', '--user', 'Suzy', '--at', NOW - 1, '--why', 'pbsfs -s', '--yes')
        place.succeed('run', '--now', NOW, '--replace')
        place.succeed('show', '--pbs', 'Suzy')
        tap.ok('usage\t\t\t: 1000 (TRES' in place.out and ' 4134 / ' in place.out, 'the set usage includes the minimum usage',
               place.out)
        place.succeed('whatif', '--shares', 'Suzy=20', '--json')
        tap.ok('"changed": 0,' in place.out, 'whatif with the same shares changes no entity', place.out)
        place.succeed('ledger', 'set', '0', '--user', 'Suzy', '--at', NOW, '--why', 'pbsfs -s', '--yes')
        place.succeed('run', '--now', NOW, '--replace')
        place.succeed('show', '--pbs', 'Suzy')
        tap.ok('usage\t\t\t: 1 (TRES' in place.out and ' 3134 / ' in place.out, 'set usage below the minimum is raised to it',
               place.out)
        place.succeed('verify')


tap.main(body)
