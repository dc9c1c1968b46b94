#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests fairmill_fairness, which describes the fairness of usage as a whole.

A second implementation computes its rows from the published values of each run.  Rows are stored
and removed in the same way as history."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

DAY = 86400
SITE = '''
cluster tiny
root/
  physics/   60
    alice    10  use 300
    bob      30  use 100
    sub/     parent
      eve    20  use 50
  chemistry/ 40
    carol    1   use 200
    dora     parent use 20
  idle/      5
    finn     2
'''
COLUMNS = 'members, jain, use_over, share_over, use_under, share_under'


def second_opinion(rows):
    """Returns the columns for (use, share) pairs."""
    if not rows or not any(use for use, _ in rows):
        return (len(rows),) + (None,) * 5
    x = [use / share for use, share in rows]
    over = [(use, share) for use, share in rows if use > share]
    under = [(use, share) for use, share in rows if use < share]
    return (len(rows), math.fsum(x) ** 2 / (len(x) * math.fsum(each * each for each in x)),
            math.fsum(use for use, _ in over), math.fsum(share for _, share in over),
            math.fsum(use for use, _ in under), math.fsum(share for _, share in under))


def expected(place):
    """Returns the rows for the published values, by scope."""
    of = {'accounts': "user_name = '' AND depth = 1", 'users': "user_name <> ''"}
    return {scope: second_opinion(place.query('SELECT usage_norm, shares_norm FROM fairmill_fairshare WHERE cluster = ? AND '
                                              f'shares_norm > 0 AND shares IS NOT NULL AND {where}', 'tiny'))
            for scope, where in of.items()}


def stored(place, at):
    return {row[0]: row[1:] for row in place.query(f'SELECT scope, {COLUMNS} FROM fairmill_fairness WHERE cluster = ? AND as_of = ?',
                                                   'tiny', at)}


def near(got, wanted):
    return got is wanted if wanted is None else math.isclose(got, wanted, rel_tol=1e-12, abs_tol=1e-15)


def agree(place, at, statement):
    got, wanted = stored(place, at), expected(place)
    tap.ok(set(got) == set(wanted) and all(near(*pair) for scope in wanted for pair in zip(got[scope], wanted[scope])),
           statement, got, wanted)


def instants(place):
    return [at for at, in place.query('SELECT DISTINCT as_of FROM fairmill_fairness ORDER BY 1')]


def each_run(place):
    for algorithm in ('fair_tree', 'classic'):
        place.ready(SITE, {'fairshare.algorithm': algorithm})
        place.succeed('run', '--now', NOW)
        agree(place, NOW, f'a run with {algorithm} stores the correct fairness')
    tap.same([members for members, *_ in map(stored(place, NOW).get, ('accounts', 'users'))], [3, 5],
             'three accounts and five users count, without `parent` shares')
    place.change('UPDATE tiny_assoc_table SET shares = 500 WHERE acct = ? AND user = ?', 'chemistry', '')
    before = stored(place, NOW)
    place.succeed('run', '--now', NOW + 300)
    agree(place, NOW + 300, 'a later run with other shares stores the correct fairness')
    tap.ok(stored(place, NOW) == before != stored(place, NOW + 300), 'a later run does not change earlier rows', before)
    place.succeed('run', '--now', NOW + 300, '--full', '--replace')
    agree(place, NOW + 300, 'a repeated run stores the correct fairness')
    tap.same(instants(place), [NOW, NOW + 300], 'a repeated run replaces its rows')
    place.ends(0, 'verify finds no differences', 'verify')
    place.succeed('metrics')
    rows = stored(place, NOW + 300)
    for name, column in (('jain', 1), ('use_over', 2), ('use_under', 4)):
        for scope in rows:
            tap.ok(f'fairmill_fairness_{name}{{cluster="tiny",scope="{scope}"}} {rows[scope][column]:.17g}\n' in place.out,
                   f'{name} of {scope} is a metric', place.out)


def on_the_page(place):
    """Tests the page with thousands of rows, so that a thread reads them ahead."""
    place.ready(SITE, {'retention.history_interval': '0s'})
    for at in (NOW - 7200, NOW - 3600, NOW):
        place.succeed('run', '--now', at)
    place.succeed('report')
    before = place.out
    place.query('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)'
                f' INSERT INTO fairmill_fairness (cluster, as_of, scope, members, {COLUMNS.partition(", ")[2]})'
                f' SELECT f.cluster, ? - i, f.scope, f.members, {COLUMNS.partition(", ")[2]} FROM fairmill_fairness f, n WHERE f.as_of = ?',
                NOW - 7200, NOW)
    place.succeed('report')
    tap.ok('Fairness' in before and place.out == before,
           'thousands of rows between the drawn ones do not change the page',
           len(before), len(place.out))


def nothing_used(place):
    place.ready('cluster tiny\nroot/\n  physics/ 1\n    alice 1\n')
    place.succeed('run', '--now', NOW)
    tap.same(stored(place, NOW), {scope: (1,) + (None,) * 5 for scope in ('accounts', 'users')},
             'without usage the columns are NULL')
    place.succeed('metrics')
    tap.ok('fairmill_fairness' not in place.out, 'without usage there are no metrics', place.out)


def retention(place):
    place.ready(SITE, {'retention.history_days': 10, 'retention.history_interval': 3600})
    for later in (0, 300, 9 * DAY):
        place.succeed('run', '--now', NOW + later)
    tap.same(instants(place), [NOW, NOW + 300, NOW + 9 * DAY], 'rows are stored also for runs without a history point')
    place.succeed('run', '--now', NOW + 10 * DAY + 1)
    tap.same(instants(place), [NOW + 300, NOW + 9 * DAY, NOW + 10 * DAY + 1], 'rows are stored for history_days, to the second')
    tap.same(place.query("SELECT part, row_count FROM fairmill_kept WHERE table_name = 'fairmill_fairness' ORDER BY part"),
             [(at, 2) for at in instants(place)], 'the row hashes are stored as long as the rows')
    place.query('UPDATE fairmill_fairness SET jain = 1 WHERE as_of = ?', NOW + 300)
    place.succeed('run', '--now', NOW + 10 * DAY + 2, '--full')
    tap.same(place.query("SELECT subject, detail LIKE 'fairmill_fairness of%' FROM fairmill_finding WHERE kind = 'records_changed'"),
             [(str(NOW + 300), 1)], 'a changed row is a finding')
    place.ready(SITE, {'retention.history_days': 0})
    for later in (0, 60):
        place.succeed('run', '--now', NOW + later)
    tap.same(instants(place), [NOW + 60], "without history only the last run's rows are stored")


def future_rows(place):
    place.ready(SITE)
    place.succeed('run', '--now', 4000000000)
    place.succeed('run', '--now', NOW, '--replace')
    tap.same(instants(place), [NOW], 'rows of the future are removed after the clock was ahead')
    tap.same(place.query("SELECT part FROM fairmill_kept WHERE table_name = 'fairmill_fairness'"), [(NOW,)],
             'the row hashes of the future are removed')


def body():
    with Place() as place:
        for part in (each_run, on_the_page, nothing_used, retention, future_rows):
            part(place)


tap.main(body)
