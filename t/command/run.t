#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the values that a run publishes, the errors that prevent it, and the data that it does not
change."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, SMALL, Place

TWO = SMALL + '''
cluster other
root/
  zoo/
    dora  1 use 5
    emil  1 use 10
'''

THREE = TWO + '''
cluster zzz
root/
  x 1 use 1
'''


def before_and_after_init(place):
    place.site()
    place.settings()
    for command in ('run', 'show'):
        place.ends(78, f'{command} without result tables exits with status 78', command)
        place.says(f'{command} without result tables proposes init', 'fairmill init')
    place.ends(0, 'init creates the tables', 'init')
    tap.same((place.out, place.err), ('', ''), 'init prints nothing')
    place.ends(1, 'show before the first run exits with status 1', 'show')
    place.says('show before the first run says that there are no results', 'no results yet')
    place.ends(0, 'init can be repeated', 'init')
    place.ends(0, 'a run succeeds', 'run', '--now', NOW)
    tap.same((place.out, place.err), ('', ''), 'a run that succeeds prints nothing')
    place.ends(0, 'init succeeds if there are results', 'init')
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(6,)],
             'each existing association has a row after init')
    place.ends(0, 'run -v succeeds', 'run', '-v', '--now', NOW)
    tap.ok('tiny' in place.out + place.err, 'run -v describes the run', place.out, place.err)


def rows(place):
    began = int(time.time())
    place.ready()
    place.succeed('run', '--now', NOW)
    (run_id, as_of, started, duration, kind, status, algorithm, conformance, half_life,
     associations, users, jobs, unattributed), = \
        place.query('SELECT run_id, as_of, started_at, duration_ms, kind, status, algorithm, conformance, half_life, associations, '
                    'users, jobs_read, unattributed_usage FROM fairmill_run')
    tap.same((as_of, kind, status, algorithm, conformance, half_life),
             (NOW, 'full', 'done', 'fair_tree', 'documents', 0),
             'the row of the run has the settings and the time')
    tap.same((associations, users, jobs, unattributed), (6, 3, 3, 0),
             'the row of the run counts associations, users and jobs')
    tap.ok(began <= started <= time.time() and 0 <= duration < 60000,
           'started_at and duration_ms are measured by the clock', started, duration)
    tap.same(place.query('SELECT DISTINCT run_id, computed_at, cluster FROM fairmill_fairshare'),
             [(run_id, NOW, 'tiny')],
             'each published row has the run, the time and the cluster')
    tree = place.query('SELECT account, user_name, depth, shares, usage_raw, parent_id, partition_name FROM fairmill_fairshare ORDER BY id_assoc')
    tap.same(tree, [('root', '', 0, 1, 600.0, None, ''), ('physics', '', 1, 60, 400.0, 1, ''),
                    ('physics', 'alice', 2, 10, 300.0, 2, ''),
                    ('physics', 'bob', 2, 10, 100.0, 2, ''), ('chemistry', '', 1, 40, 200.0, 1, ''),
                    ('chemistry', 'carol', 2, 1, 200.0, 5, '')],
             'each published row has its name, depth, shares and usage')
    place.succeed('run', '--now', NOW)
    (again,), = place.query('SELECT DISTINCT run_id FROM fairmill_fairshare')
    tap.ok(again > run_id, 'run_id increases with each run')
    tap.same(place.query('SELECT count(*) FROM fairmill_run'), [(2,)], 'both runs have a row')
    (digest,), = place.query('SELECT DISTINCT settings_digest FROM fairmill_run')
    (text,), = place.query('SELECT text FROM fairmill_settings WHERE digest = ?', digest)
    tap.ok('half_life' in text, 'the settings of a run are stored', text)
    place.change('UPDATE tiny_assoc_table SET shares = 30 WHERE "user" = \'bob\'')
    before = place.value('level_shares_norm', 'physics.bob')
    place.succeed('run', '--now', NOW + 300)
    tap.same((before, place.value('level_shares_norm', 'physics.bob')), (.5, .75),
             'the next run uses the new shares')
    place.change('DELETE FROM tiny_job_table')
    place.succeed('run', '--now', NOW + 600)
    tap.same(place.query('SELECT DISTINCT usage_raw, usage_norm FROM fairmill_fairshare'),
             [(0.0, 0.0)], 'without jobs usage is 0')
    tap.same(place.query('SELECT DISTINCT level_fs, level_fs_infinite FROM fairmill_fairshare WHERE depth > 0'), [(1e100, 1)],
             'without usage each Level FS is infinite')


def instants(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    kept = place.state()
    place.ends(64, 'an earlier --now is rejected', 'run', '--now', NOW - 1)
    place.says('the error for an earlier --now proposes --replace', '--replace')
    fairshare, runs, findings = place.state()
    tap.same([fairshare, runs[:-1], findings], kept, 'a rejected run publishes nothing')
    tap.same(place.query('SELECT as_of, status FROM fairmill_run ORDER BY run_id')[1:], [(NOW - 1, 'failed')],
             'a rejected run has a row')
    place.ends(0, 'the same --now is accepted', 'run', '--now', NOW)
    place.ends(0, 'an earlier --now is accepted with --replace', 'run', '--now', NOW - 1,
               '--replace')
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW - 1,)],
             'the results are the ones of the earlier --now')
    place.ends(0, 'a later --now needs no --replace', 'run', '--now', NOW + 5)


def dry(place):
    place.ready()
    place.ends(0, 'a dry run before the first run succeeds', 'run', '--now', NOW, '--dry-run')
    first = place.out
    tap.same([len(t) for t in place.state()], [0, 0, 0], 'a dry run writes nothing')
    place.ends(1, 'show after a dry run exits with status 1', 'show')
    place.succeed('run', '--now', NOW)
    place.succeed('show')
    tap.ok(first and first == place.out, 'a dry run prints the same as show after a run', first,
           place.out)
    kept = place.state()
    place.change('UPDATE tiny_assoc_table SET shares = 99 WHERE "user" = \'bob\'')
    place.ends(0, 'a dry run after a run succeeds', 'run', '--now', NOW + 100, '--dry-run')
    tap.ok('99' in place.out, 'a dry run prints the new values', place.out)
    tap.same(place.state(), kept, 'a dry run does not change the results')


def clusters(place):
    place.ready(THREE)
    place.succeed('run', '--now', NOW)
    tap.same(place.query('SELECT cluster, count(*) FROM fairmill_fairshare GROUP BY 1 ORDER BY 1'),
             [('other', 4), ('tiny', 6), ('zzz', 2)], 'a run computes all clusters')
    place.succeed('run', '--now', NOW + 10, '--cluster', 'other')
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('other', NOW + 10), ('tiny', NOW), ('zzz', NOW)], '--cluster selects a cluster')
    place.succeed('run', '--now', NOW + 20, '--cluster', 'zzz', '--cluster', 'other')
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('other', NOW + 20), ('tiny', NOW), ('zzz', NOW + 20)],
             '--cluster can be repeated')

    # Break the tree of cluster other: zoo becomes its own parent.
    break_tree(place, 'other')
    place.ends(65, 'a cluster that fails sets the exit status', 'run', '--now', NOW + 30)
    place.says('the error names the failed cluster', "'other'")
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('other', NOW + 20), ('tiny', NOW + 30), ('zzz', NOW + 30)],
             'other clusters are published, and the failed one keeps its results')
    tap.same(place.query("SELECT status FROM fairmill_run WHERE cluster = 'other' ORDER BY run_id DESC LIMIT 1"), [('failed',)],
             'the row of the run says that it failed')
    place.settings({'source.clusters': 'tiny, zzz'})
    place.ends(0, 'a broken cluster that is not selected causes no error', 'run', '--now', NOW + 40)

    place.settings()
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.ends(0, 'a deleted cluster causes no error', 'run', '--now', NOW + 50)
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('tiny', NOW + 50), ('zzz', NOW + 50)], 'the rows of a deleted cluster are removed')
    tap.ok(place.query("SELECT count(*) FROM fairmill_run WHERE cluster = 'other'")[0][0] >= 3,
           'the runs of a deleted cluster keep their rows')
    place.change("DELETE FROM cluster_table WHERE name = 'zzz'")
    place.ends(65, 'a missing cluster sets the exit status 65', 'run', '--now', NOW + 60)
    place.says('the error names the missing cluster', "'zzz'")
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('tiny', NOW + 60), ('zzz', NOW + 50)], 'the rows of the missing cluster stay')
    place.succeed('forget', '--cluster', 'zzz', '--yes')
    place.settings({'source.clusters': 'tiny,other'})
    place.ends(65, 'a missing cluster of the settings sets the exit status 65', 'run', '--now', NOW + 70)
    place.says('the error names the missing cluster of the settings', "'other'")
    place.settings()
    place.change("UPDATE cluster_table SET deleted = 0 WHERE name = 'other'")
    mend_tree(place, 'other')
    place.ends(0, 'a run computes a cluster that returned', 'run', '--now', NOW + 80)
    tap.same(place.query('SELECT DISTINCT cluster FROM fairmill_fairshare ORDER BY 1'),
             [('other',), ('tiny',)], 'a cluster that returned is published')
    place.change('UPDATE cluster_table SET deleted = 1')
    place.ends(65, 'a run without clusters exits with status 65', 'run', '--now', NOW + 90)


def break_tree(place, cluster):
    columns = [c for c, in place.change('SELECT name FROM pragma_table_info(?)',
                                        f'{cluster}_assoc_table')]
    place.change(f"UPDATE {cluster}_assoc_table SET parent_acct = acct WHERE acct = 'zoo' AND \"user\" = ''")
    if 'id_parent' in columns:
        place.change(f"UPDATE {cluster}_assoc_table SET id_parent = id_assoc WHERE acct = 'zoo' AND \"user\" = ''")


def mend_tree(place, cluster):
    columns = [c for c, in place.change('SELECT name FROM pragma_table_info(?)',
                                        f'{cluster}_assoc_table')]
    place.change(f"UPDATE {cluster}_assoc_table SET parent_acct = 'root' WHERE acct = 'zoo' AND \"user\" = ''")
    if 'id_parent' in columns:
        place.change(f"UPDATE {cluster}_assoc_table SET id_parent = 1 WHERE acct = 'zoo' AND \"user\" = ''")


def first_status(place):
    """Cluster other fails because of its tree, then tiny because of an earlier --now.  The first
    failure sets the exit status."""
    place.ready(TWO)
    place.succeed('run', '--now', NOW)
    place.succeed('run', '--now', NOW + 100, '--cluster', 'tiny')
    break_tree(place, 'other')
    place.ends(65, 'the first of several failures sets the exit status', 'run', '--now', NOW + 50)
    tap.ok("'other'" in place.err and '--replace' in place.err, 'both failures are reported', place.err)


def sharing(place):
    place.site()
    place.settings({'results.database': place.path('a.db')})
    place.ends(78, 'the accounting database is rejected as results database', 'init')
    place.says('the error for a shared database names share_database', 'share_database')
    os.symlink(place.path('a.db'), place.path('link.db'))
    place.settings({'results.database': place.path('link.db')})
    place.ends(78, 'a link to the accounting database is rejected, too', 'init')
    tables = place.change("SELECT count(*) FROM sqlite_master WHERE name LIKE 'fairmill%'")
    tap.same(tables, [(0,)], 'the rejected commands created no tables')
    place.settings({'results.database': place.path('a.db'), 'results.share_database': 'yes'})
    place.ends(0, 'share_database = yes allows the accounting database', 'init')
    place.ends(0, 'a run publishes to the shared database', 'run', '--now', NOW)
    tap.same(place.change('SELECT count(*) FROM fairmill_fairshare'), [(6,)],
             'each association has a row in the shared database')


def body():
    for part in (before_and_after_init, rows, instants, dry, clusters, first_status, sharing):
        with Place() as place:
            part(place)


tap.main(body)
