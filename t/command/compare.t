#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests `fairmill compare` with every algorithm and both conformance modes.

Its values are compared with published values, its correlations with a count pair by pair."""

import csv
import io
import itertools
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
from place import NOW, Place

# Tied accounts, for which the conformance modes differ; tied users; a user without shares.
TIED = '''
cluster tiny
root/
  a/        1
    a1      1  use 10
    a2      1  use 90
  b/        1
    b1      1  use 40
    b2      1  use 60
  c/        2
    c1      1  use 30
    c2      1  use 30
    c3@gpu  2
    c4      0  use 5
'''
ALGORITHMS = ['fair_tree', 'depth_oblivious', 'classic', 'linear', 'pbs']
WAYS = [(algorithm, conformance) for conformance in ('documents', 'slurmctld')
        for algorithm in ALGORITHMS]


def rank(values, user):
    return sum(value <= values[user] for value in values.values())


def place_of(values, user):
    """Returns the user's place.  1 is next, and equal values share a place."""
    return 1 + sum(value > values[user] for value in values.values())


def mean_rank(values, user):
    lower = sum(value < values[user] for value in values.values())
    same = sum(value == values[user] for value in values.values())
    return lower + (same + 1) / 2


def sign(number):
    return (number > 0) - (number < 0)


def spearman(a, b):
    x, y = ([mean_rank(values, user) for user in a] for values in (a, b))
    mean = (len(a) + 1) / 2
    return (sum((p - mean) * (q - mean) for p, q in zip(x, y)) /
            math.sqrt(sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y)))


def kendall(a, b):
    pairs = [(sign(a[i] - a[j]), sign(b[i] - b[j])) for i, j in itertools.combinations(a, 2)]
    return (sum(p * q for p, q in pairs) /
            math.sqrt(sum(bool(p) for p, _ in pairs) * sum(bool(q) for _, q in pairs)))


def published(place, results):
    """Returns {algorithm: {id: factor}} of the users."""
    return {algorithm: dict(place._query(
        results, f"SELECT id_assoc, {algorithm}_factor FROM fairmill_fairshare WHERE user_name <> ''"))
        for algorithm in ALGORITHMS}


def compared(place, *arguments):
    place.succeed('compare', '--json', *arguments)
    cluster, = json.loads(place.out)['clusters']
    cluster['associations'] = associations = {}
    for row in cluster['factors']:
        associations.setdefault(row['id_assoc'], []).append(row)
    return cluster


def check_ways(place, what, cluster, wanted):
    """`wanted` is {(algorithm, conformance): {id: factor}}."""
    wrong = []
    for association, rows in cluster['associations'].items():
        ways = {(row['algorithm'], row['conformance']): row for row in rows}
        for way, values in wanted.items():
            got, factor = ways[way], values[association]
            if got['rank'] != rank(values, association) or not math.isclose(
                    got['factor'], factor, rel_tol=1e-12):
                wrong.append(f"{way}: {got}, wanted {factor}")
        ranks = [row['rank'] for row in rows]
        if {row['spread'] for row in rows} != {max(ranks) - min(ranks)}:
            wrong.append(f"{rows[0]}: ranks {ranks}")
    tap.ok(len(cluster['associations']) == cluster['users'] > 3 and not wrong,
           f'{what}: each user has the correct factor and rank for each algorithm and conformance', *wrong)


def check_correlations(what, cluster, wanted):
    wrong, seen = [], 0
    for pair in cluster['correlations']:
        one, other = (wanted[way] for way in zip(pair['algorithms'], pair['conformances']))
        seen += 1
        for name, function in (('spearman', spearman), ('kendall', kendall)):
            if not math.isclose(pair[name], function(one, other), abs_tol=1e-12):
                wrong.append(f'{pair}: {name} is {function(one, other)}')
    tap.ok(seen == 45 and not wrong, f'{what}: the correlations of all pairs equal a count pair by pair',
           *wrong)


def both(place, what, drawn):
    """Tests that the values for the other conformance equal the published values of a run with
    it."""
    wanted = {}
    for conformance in ('slurmctld', 'documents'):
        drawn(conformance)
        wanted |= {(algorithm, conformance): values
                   for algorithm, values in published(place, 'r.db').items()}
    for conformance in ('slurmctld', 'documents'):
        drawn(conformance)
        cluster = compared(place)
        tap.same((cluster['conformance'], cluster['as_of']), (conformance, NOW),
                 f'{what}: compare reads a run with conformance {conformance}')
        check_ways(place, what, cluster, wanted)
        check_correlations(what, cluster, wanted)
    return wanted


def tied(place):
    def drawn(conformance):
        place.ready(TIED, {'fairshare.conformance': conformance, 'fairshare.capacity': 1000})
        place.succeed('run', '--now', NOW)

    wanted = both(place, 'tied accounts', drawn)
    tap.ok(wanted['fair_tree', 'documents'] != wanted['fair_tree', 'slurmctld'],
           'tied accounts: the conformance modes differ')
    place.succeed('compare')
    tap.ok('fair_tree has 2 different places under slurmctld (*) than under documents' in place.out and
           ' fair_tree*' in place.out and 'classic*' not in place.out,
           'the table shows the other conformance if places differ, and their number', place.out)
    header, *lines = csv.reader(io.StringIO((place.succeed('compare', '--csv'), place.out)[1], newline=''))
    tap.same(header, ['cluster', 'id_assoc', 'account', 'username', 'partition', 'spread', 'algorithm',
                      'conformance', 'factor', 'rank', 'place'], 'compare --csv has exactly these headings')
    wrong = [line for line in lines if float(line[8]) != wanted[line[6], line[7]][int(line[1])] or
             int(line[9]) != rank(wanted[line[6], line[7]], int(line[1])) or
             int(line[10]) != place_of(wanted[line[6], line[7]], int(line[1]))]
    tap.ok(len(lines) == 80 and not wrong, 'compare --csv has the factor, rank and place in each line', *wrong)


def demo(place):
    demonstration.make(place)

    def drawn(conformance):
        for name in os.listdir(place.folder):
            if name.startswith('r.db'):
                os.unlink(place.path(name))
        place.settings({'source.database': place.path(demonstration.ACCOUNTING), 'usage.half_life': '7-0',
                        'usage.time_zone': 'UTC', 'fairshare.conformance': conformance})
        place.succeed('init')
        place.succeed('run', '--now', NOW)

    wanted = both(place, 'the demonstration', drawn)
    rows = place.query("SELECT id_assoc, account, user_name, partition_name FROM fairmill_fairshare "
                       "WHERE user_name <> ''")
    spread = {row[0]: [rank(wanted[way], row[0]) for way in WAYS] for row in rows}
    rows.sort(key=lambda row: (min(spread[row[0]]) - max(spread[row[0]]), row[1:]))
    place.succeed('compare')
    lines = place.out.splitlines()
    tap.same(lines[0], f'demo, as of 2025-06-21T10:00:00: places of {len(rows)} users, and factors',
             'the first line of compare has the number of users and the time')
    tap.same(lines[2].split(), ['User', 'fair_tree', 'depth-obl', 'classic', 'linear', 'pbs'],
             'compare has a column for each algorithm')
    tap.same([line.split() for line in lines[3:3 + len(rows)]],
             [['/'.join(filter(None, row[1:])), *itertools.chain.from_iterable(
                 (str(place_of(wanted[way], row[0])), f'{wanted[way][row[0]]:.3f}')
                 for way in WAYS[:5])] for row in rows],
             'compare sorts users by the spread of their ranks')
    matrix = [line.split()[1:] for line in lines[-5:]]
    tap.same(matrix, [['.' if i == j else '%.4f' % (spearman if i < j else kendall)(
        wanted[WAYS[i]], wanted[WAYS[j]]) for j in range(5)] for i in range(5)],
             "Spearman's rho is above the diagonal, Kendall's tau-b below")
    tap.ok(max(map(len, lines)) <= 80, 'no line of compare is wider than 80 columns',
           *(line for line in lines if len(line) > 80))
    place.succeed('compare', '--top', 3)
    tap.same([line.split() for line in place.out.splitlines()[3:6]], [line.split() for line in lines[3:6]],
             '--top prints the users with the largest spread')
    tap.ok(f'... and {len(rows) - 3} with smaller changes' in place.out.splitlines()[6:],
           '--top prints the number of omitted users', place.out)


# Users whose usage is far above their shares, so that their factors underflow.  Two of them tie.
UNDERFLOWN = """
cluster tiny
root/
  a/        1
    a1      1  use 100000
    a2      1  use 300000
    a3      1  use 300000
    a4      1  use 500000
    a5      0  use 5
    a6      0  use 50
  b/        100000000
    b1      1  use 1
    b2      3
"""


def ranks_of_runs(place, what, drawn, users):
    """Tests that the ranks for each algorithm equal the published ranks of a run with it.

    This must hold for each run that compare reads."""
    decided, compared_ranks = {}, {}
    for algorithm, conformance in WAYS:
        drawn({'fairshare.algorithm': algorithm, 'fairshare.conformance': conformance})
        orders = dict(place.query("SELECT id_assoc, fairshare_order FROM fairmill_fairshare WHERE user_name <> ''"))
        decided[algorithm, conformance] = {user: users - sum(other < order for other in orders.values())
                                           for user, order in orders.items()}
        compared_ranks[algorithm, conformance] = {
            (row['algorithm'], row['conformance'], row['id_assoc']): row['rank'] for row in compared(place)['factors']}
    wanted = {(*way, user): rank for way, ranks in decided.items() for user, rank in ranks.items()}
    for way, got in compared_ranks.items():
        wrong = [(key, wanted[key], got.get(key)) for key in wanted if got.get(key) != wanted[key]]
        tap.ok(not wrong, f"{what}: in a run of {' under '.join(way)} all ranks equal published ranks", *wrong)
    return decided


def underflown(place):
    def drawn(keys):
        place.ready(UNDERFLOWN, keys | {'fairshare.capacity': 1000000000})
        place.succeed('run', '--now', NOW)

    decided = ranks_of_runs(place, 'factors that underflow', drawn, 8)
    names = {user: number for number, user in place.query('SELECT id_assoc, user_name FROM fairmill_fairshare')}
    ranks = decided['classic', 'slurmctld']
    tap.ok(ranks[names['a1']] > ranks[names['a2']] == ranks[names['a3']] > ranks[names['a4']],
           'users whose factors all underflow to 0 do not tie', ranks)
    drawn({})
    factors = {row['factor'] for row in compared(place)['factors']
               if row['algorithm'] == 'classic' and row['id_assoc'] in (names['a1'], names['a4'])}
    tap.same(factors, {0}, 'the factors of these users are 0')


def every_run(place):
    demonstration.make(place)

    def drawn(keys):
        for name in os.listdir(place.folder):
            if name.startswith('r.db'):
                os.unlink(place.path(name))
        place.settings({'source.database': place.path(demonstration.ACCOUNTING), 'usage.half_life': '7-0',
                        'usage.time_zone': 'UTC'} | keys)
        place.succeed('init')
        place.succeed('run', '--now', NOW)

    drawn({})
    ranks_of_runs(place, 'the demonstration', drawn, compared(place)['users'])


def unused(place):
    """Without usage, linear factors depend on the shares only."""
    place.ready('cluster tiny\nroot/\n  u 1\n  v 2\n  w 3\n  x 3\n', {'fairshare.capacity': 1000})
    place.succeed('run', '--now', NOW)
    ranks = {way: sorted(row['rank'] for row in compared(place)['factors']
                         if (row['algorithm'], row['conformance']) == way)
             for way in (('linear', 'documents'), ('linear', 'slurmctld'))}
    tap.same(ranks, {way: [1, 2, 4, 4] for way in ranks}, 'without usage, linear ranks by shares')


def special_cases(place):
    place.ready()
    place.ends(1, 'before the first run, compare exits with status 1', 'compare')
    for wish, said in ((('--top', '0'), "'0'"), (('--top', 'x'), "'x'"), (('--csv', '--json'), '--json')):
        place.ends(64, f"compare {' '.join(wish)} is rejected", 'compare', *wish)
        place.says(f"the error for compare {' '.join(wish)} names the cause", said)
    place.ready(TIED)
    place.succeed('run', '--now', NOW)
    cluster = compared(place)
    tap.same({(row['factor'], row['rank']) for row in cluster['factors'] if row['algorithm'] == 'linear'}, {(None, None)},
             'without a capacity, linear has no values')
    place.succeed('compare')
    tap.ok('linear cannot be computed' in place.out and place.out.splitlines()[2].count('linear') == 0,
           'the table says that linear has no values', place.out)
    place.ready('cluster tiny\nroot/\n  u 1\n')
    place.succeed('run', '--now', NOW)
    place.ends(64, 'compare of an unknown cluster is rejected', 'compare', '--cluster', 'none')
    tap.ok(all(pair['spearman'] is None and pair['kendall'] is None
               for pair in compared(place)['correlations']), 'correlations of one user are null')
    place.succeed('compare')
    tap.ok("no user changes places" in place.out, 'compare of one user says that no place differs', place.out)
    place.ready('cluster tiny\nroot/\n  a/ 1\n    ' + '\n    '.join(
        f'{"user" * 8}{i} {i}  use 10' for i in range(1200)) + '\n', {'fairshare.capacity': 1000})
    place.succeed('run', '--now', NOW)
    place.succeed('compare')
    tap.ok(max(map(len, place.out.splitlines())) <= 80 and 'user1+ ' in place.out, 'long names are cut', place.out[:400])
    tap.same([line.split() for line in place.out.splitlines() if line.startswith('User')],
             [['User', 'fair_tree', 'depth-obl', 'classic', 'linear'], ['User', 'pbs']], 'a table that is too wide is split')
    place.ready('cluster tiny\nroot/\n  u 1\n  v 1\n')
    place.change("UPDATE tiny_assoc_table SET user = ? WHERE user = 'u'", 'x"\x1b,y')
    place.succeed('run', '--now', NOW)
    for arguments in ((), ('--csv',), ('--json',)):
        place.succeed('compare', *arguments)
        tap.ok('\x1b' not in place.out, f"compare {' '.join(arguments)} prints no control character")
    place.succeed('compare')
    tap.ok('root/x"\\x1B,y ' in place.out, 'a control character in a name is escaped', place.out)
    place.succeed('compare', '--csv')
    tap.ok('"x""\\x1B,y"' in place.out, 'a comma in a name is quoted in CSV', place.out)


def chosen(place):
    place.ready(TIED)
    place.succeed('run', '--now', NOW)
    everybody = {row['username']: row['rank'] for row in compared(place)['factors'] if row['algorithm'] == 'classic'}
    for arguments, users in ((('-u', 'a1'), {'a1'}), (('a1',), {'a1'}), (('a/a1', 'b1'), {'a1', 'b1'}), (('-A', 'b'), {'b1', 'b2'}),
                             (('b',), {'b1', 'b2'}), (('-A', 'a,b', '-u', 'b1'), {'b1'}), (('-M', 'tiny', 'c/c3/gpu'), {'c3'}),
                             (('-A', 'root'), set(everybody)), (('b', '-u', 'a1'), set())):
        ranks = {row['username']: row['rank'] for row in compared(place, *arguments)['factors'] if row['algorithm'] == 'classic'}
        tap.same(ranks, {user: everybody[user] for user in users},
                 f"compare {' '.join(arguments)} lists these users with their ranks")
    for arguments in (('nobody',), ('-u', 'nobody'), ('-A', 'a1')):
        place.ends(64, f"compare {' '.join(arguments)} is rejected", 'compare', *arguments)


def body():
    for part in (tied, demo, underflown, every_run, unused, special_cases, chosen):
        with Place() as place:
            part(place)


tap.main(body)
