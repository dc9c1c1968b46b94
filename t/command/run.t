#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""What a run publishes, when it refuses to, and what it leaves alone."""

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
        place.ends(78, f'{command} without result tables is a matter of settings', command)
        place.says(f'{command} without result tables says to run init', 'fairmill init')
    place.ends(0, 'init makes the tables', 'init')
    tap.same((place.out, place.err), ('', ''), 'init is silent')
    place.ends(1, 'show before any run fails', 'show')
    place.says('show before any run says so', 'no results yet')
    place.ends(0, 'init can be run again', 'init')
    place.ends(0, 'a run ends well', 'run', '--now', NOW)
    tap.same((place.out, place.err), ('', ''), 'a run that ends well is silent')
    place.ends(0, 'init with results leaves them', 'init')
    tap.same(place.query('SELECT count(*) FROM fairmill_fairshare'), [(6,)],
             'every living association has a row')
    place.ends(0, 'run -v ends well', 'run', '-v', '--now', NOW)
    tap.ok('tiny' in place.out + place.err, 'run -v says what was done', place.out, place.err)


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
             'the run row says what was computed')
    tap.same((associations, users, jobs, unattributed), (6, 3, 3, 0),
             'the run row counts associations, users and jobs')
    tap.ok(began <= started <= time.time() and 0 <= duration < 60000,
           'started_at and duration_ms are of the wall clock', started, duration)
    tap.same(place.query('SELECT DISTINCT run_id, computed_at, cluster FROM fairmill_fairshare'),
             [(run_id, NOW, 'tiny')],
             'every row has the run, the instant and the cluster')
    tree = place.query('SELECT account, user_name, depth, shares, usage_raw, parent_id, partition_name FROM fairmill_fairshare ORDER BY id_assoc')
    tap.same(tree, [('root', '', 0, 1, 600.0, None, ''), ('physics', '', 1, 60, 400.0, 1, ''),
                    ('physics', 'alice', 2, 10, 300.0, 2, ''),
                    ('physics', 'bob', 2, 10, 100.0, 2, ''), ('chemistry', '', 1, 40, 200.0, 1, ''),
                    ('chemistry', 'carol', 2, 1, 200.0, 5, '')],
             'names, depth, shares and usage are those of the tree')
    place.succeed('run', '--now', NOW)
    (again,), = place.query('SELECT DISTINCT run_id FROM fairmill_fairshare')
    tap.ok(again > run_id, 'run_id grows from run to run')
    tap.same(place.query('SELECT count(*) FROM fairmill_run'), [(2,)], 'both runs are on record')
    (digest,), = place.query('SELECT DISTINCT settings_digest FROM fairmill_run')
    (text,), = place.query('SELECT text FROM fairmill_settings WHERE digest = ?', digest)
    tap.ok('half_life' in text, 'the settings of a run can be looked up', text)
    place.change('UPDATE tiny_assoc_table SET shares = 30 WHERE "user" = \'bob\'')
    before = place.value('level_shares_norm', 'physics.bob')
    place.succeed('run', '--now', NOW + 300)
    tap.same((before, place.value('level_shares_norm', 'physics.bob')), (.5, .75),
             'the next run has the new shares')
    place.change('DELETE FROM tiny_job_table')
    place.succeed('run', '--now', NOW + 600)
    tap.same(place.query('SELECT DISTINCT usage_raw, usage_norm FROM fairmill_fairshare'),
             [(0.0, 0.0)], 'without jobs there is no usage')
    tap.same(place.query('SELECT DISTINCT level_fs, level_fs_infinite FROM fairmill_fairshare WHERE depth > 0'), [(1e100, 1)],
             'without usage every Level FS is infinite')


def instants(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    kept = place.state()
    place.ends(64, 'an older --now is refused', 'run', '--now', NOW - 1)
    place.says('and the message tells of --replace', '--replace')
    fairshare, runs, findings = place.state()
    tap.same([fairshare, runs[:-1], findings], kept, 'a refused run has published nothing')
    tap.same(place.query('SELECT as_of, status FROM fairmill_run ORDER BY run_id')[1:], [(NOW - 1, 'failed')],
             'and leaves its row')
    place.ends(0, 'the same --now is not older', 'run', '--now', NOW)
    place.ends(0, 'with --replace an older --now is published', 'run', '--now', NOW - 1,
               '--replace')
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW - 1,)],
             'and is what readers see')
    place.ends(0, 'a later one needs no --replace', 'run', '--now', NOW + 5)


def dry(place):
    place.ready()
    place.ends(0, 'a dry run before any other ends well', 'run', '--now', NOW, '--dry-run')
    first = place.out
    tap.same([len(t) for t in place.state()], [0, 0, 0], 'a dry run writes nothing')
    place.ends(1, 'after a dry run there are no results yet', 'show')
    place.succeed('run', '--now', NOW)
    place.succeed('show')
    tap.ok(first and first == place.out, 'a dry run prints what show prints after the run', first,
           place.out)
    kept = place.state()
    place.change('UPDATE tiny_assoc_table SET shares = 99 WHERE "user" = \'bob\'')
    place.ends(0, 'a dry run after another ends well', 'run', '--now', NOW + 100, '--dry-run')
    tap.ok('99' in place.out, 'and prints the new values', place.out)
    tap.same(place.state(), kept, 'and leaves the old results')


def clusters(place):
    place.ready(THREE)
    place.succeed('run', '--now', NOW)
    tap.same(place.query('SELECT cluster, count(*) FROM fairmill_fairshare GROUP BY 1 ORDER BY 1'),
             [('other', 4), ('tiny', 6), ('zzz', 2)], 'every cluster is computed')
    place.succeed('run', '--now', NOW + 10, '--cluster', 'other')
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('other', NOW + 10), ('tiny', NOW), ('zzz', NOW)], '--cluster computes only that one')
    place.succeed('run', '--now', NOW + 20, '--cluster', 'zzz', '--cluster', 'other')
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('other', NOW + 20), ('tiny', NOW), ('zzz', NOW + 20)],
             '--cluster may be given several times')

    # other's tree breaks: zoo hangs below itself.
    break_tree(place, 'other')
    place.ends(65, 'a cluster that fails gives the status', 'run', '--now', NOW + 30)
    place.says('the failing cluster is named', "'other'")
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('other', NOW + 20), ('tiny', NOW + 30), ('zzz', NOW + 30)],
             'the others are done, its old results stay')
    tap.same(place.query("SELECT status FROM fairmill_run WHERE cluster = 'other' ORDER BY run_id DESC LIMIT 1"), [('failed',)],
             'its failed run is on record')
    place.settings({'source.clusters': 'tiny, zzz'})
    place.ends(0, 'a broken cluster that is not wanted is no matter', 'run', '--now', NOW + 40)

    place.settings()
    place.change("UPDATE cluster_table SET deleted = 1 WHERE name = 'other'")
    place.ends(0, 'a deleted cluster is no failure', 'run', '--now', NOW + 50)
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('tiny', NOW + 50), ('zzz', NOW + 50)], "a deleted cluster's rows go")
    tap.ok(place.query("SELECT count(*) FROM fairmill_run WHERE cluster = 'other'")[0][0] >= 3,
           'its runs stay on record')
    place.change("DELETE FROM cluster_table WHERE name = 'zzz'")
    place.ends(65, 'one that is merely not there is bad data', 'run', '--now', NOW + 60)
    place.says('it is named', "'zzz'")
    tap.same(place.query('SELECT DISTINCT cluster, computed_at FROM fairmill_fairshare ORDER BY 1'),
             [('tiny', NOW + 60), ('zzz', NOW + 50)], 'and its rows stay')
    place.succeed('forget', '--cluster', 'zzz', '--yes')
    place.settings({'source.clusters': 'tiny,other'})
    place.ends(65, 'a configured cluster that is missing is bad data', 'run', '--now', NOW + 70)
    place.says('and named', "'other'")
    place.settings()
    place.change("UPDATE cluster_table SET deleted = 0 WHERE name = 'other'")
    mend_tree(place, 'other')
    place.ends(0, 'a cluster that is back is computed again', 'run', '--now', NOW + 80)
    tap.same(place.query('SELECT DISTINCT cluster FROM fairmill_fairshare ORDER BY 1'),
             [('other',), ('tiny',)], 'and published')
    place.change('UPDATE cluster_table SET deleted = 1')
    place.ends(65, 'no living cluster at all is bad data', 'run', '--now', NOW + 90)


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
    """other fails for its tree, tiny after it for an older --now: the first failure's status counts."""
    place.ready(TWO)
    place.succeed('run', '--now', NOW)
    place.succeed('run', '--now', NOW + 100, '--cluster', 'tiny')
    break_tree(place, 'other')
    place.ends(65, 'of several failures the first one gives the status', 'run', '--now', NOW + 50)
    tap.ok("'other'" in place.err and '--replace' in place.err, 'and both are told', place.err)


def sharing(place):
    place.site()
    place.settings({'results.database': place.path('a.db')})
    place.ends(78, 'the accounting database is refused for results', 'init')
    place.says('and the message tells of share_database', 'share_database')
    os.symlink(place.path('a.db'), place.path('link.db'))
    place.settings({'results.database': place.path('link.db')})
    place.ends(78, 'also under another name', 'init')
    tables = place.change("SELECT count(*) FROM sqlite_master WHERE name LIKE 'fairmill%'")
    tap.same(tables, [(0,)], 'nothing was made in it')
    place.settings({'results.database': place.path('a.db'), 'results.share_database': 'yes'})
    place.ends(0, 'share_database = yes allows it', 'init')
    place.ends(0, 'and then a run publishes there', 'run', '--now', NOW)
    tap.same(place.change('SELECT count(*) FROM fairmill_fairshare'), [(6,)],
             'with a row for each association')


def body():
    for part in (before_and_after_init, rows, instants, dry, clusters, first_status, sharing):
        with Place() as place:
            part(place)


tap.main(body)
