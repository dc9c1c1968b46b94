#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests which release of Slurm `conformance = slurmctld` follows, and that all commands follow
it."""

import json
import math
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

# `free`, which has the root's shares, used 300 of 1000 TRES-seconds.  `guest` below such an account
# used 100.
SITE = '''
cluster tiny
root/
  free    parent  use 300
  open/   parent
    guest parent  use 100
    few        1  use 200
  a/           3
    ann        1  use 400
job open.guest id_job=7 submit={0} time_eligible={0} partition=p tres_req=1=60 limit=60
'''.format(NOW - 100)
# Protocol versions with which slurmctld registers; 9000 and 12000 are unknown.
RELEASES = ((9000, '20.11', False), (9216, '20.11', False), (9728, '22.05', False), (9984, '23.02', False),
            (10752, '24.11', False), (11008, '25.05', False), (11264, '25.11', True), (11520, '26.05', True),
            (12000, '26.05', True))
FACTORS = ('classic_factor', 'depth_oblivious_factor')


def register(place, protocol):
    place.change('UPDATE cluster_table SET rpc_version = ?', protocol)


def run(place, **fairshare):
    place.settings({f'fairshare.{key}': value for key, value in
                    dict(dict(conformance='slurmctld', algorithm='classic'), **fairshare).items()})
    place.succeed('run', '--now', NOW, '--replace')


def version(place):
    return place.query('SELECT slurm_version FROM fairmill_run ORDER BY run_id DESC LIMIT 1')[0][0]


def factors(place, name):
    return [place.value(column, name) for column in FACTORS]


def try_release(place, protocol, release, newer):
    register(place, protocol)
    run(place, dampening=2)
    tap.same(version(place), release, f'protocol {protocol} is slurmctld {release}')
    tap.same((factors(place, 'root.free'), factors(place, 'open.guest')),
             ([2 ** -.5] * 2, [2 ** -.5] * 2) if newer else ([2 ** -.15] * 2, [2 ** -.05] * 2),
             f'in {release} `parent` directly below the root has the factor of {"the root" if newer else "its usage"}')
    # 1/4 and 3/4 of the shares, for usage of 200 and 400 of 1000.
    tap.same((factors(place, 'open.few'), factors(place, 'a'), factors(place, 'a.ann')),
             ([2 ** -.4] * 2, [None if newer else 2 ** -(.4 / .75 / 2)] * 2, [2 ** -(.4 / .75 / 2)] * 2),
             f'in {release} accounts have {"no" if newer else "a"} factor, and users the same as before')
    tap.same((place.value('pbs_factor', 'root.free'), place.value('pbs_factor', 'a')),
             (2 ** -.3, 2 ** -(.4 / .75)), f'pbs_factor does not depend on {release}')
    tap.same(place.value('classic_usage', 'root.free'), .3, f'effective usage does not depend on {release}')
    tap.same(place.query('SELECT fairshare_factor FROM fairmill_job_priority'), [(2 ** -.5,)],
             f'in {release} jobs have the factor of the root')


def try_orders(place):
    """The ratios are: guest .1, free and open .3, a and ann .533, few .8.

    By the newer rules guest and free have 1, the root's ratio, and accounts get no ratio."""
    for algorithm in ('classic', 'depth_oblivious'):
        for release, places in (('25.05', dict(guest=1, free=2, ann=4, few=6)), ('25.11', dict(ann=1, few=2, guest=3, free=3))):
            run(place, algorithm=algorithm, slurm_version=release)
            got = dict(place.query("SELECT user_name, fairshare_order FROM fairmill_fairshare WHERE user_name <> ''"))
            tap.same({user: got[user] for user in places}, places,
                     f'the order with {algorithm} uses the factors of {release}')
    tap.same(place.query("SELECT count(*) FROM fairmill_fairshare WHERE user_name = '' AND fairshare_order IS NOT NULL"),
             [(0,)], 'an account without a factor has no place')


def try_spec_cpus(place):
    """Each of 10 nodes with 64 CPUs reserves four cores, which leaves 600 CPUs for jobs."""
    with open(place.path('slurm.conf'), 'w', encoding='ascii') as file:
        file.write('ClusterName=tiny\nPriorityType=priority/multifactor\nPriorityFlags=NO_FAIR_TREE\nPriorityWeightTRES=CPU=1000\n'
                   'NodeName=n[0-9] CPUs=64 CoreSpecCount=4\nPartitionName=p Nodes=ALL\n')
    place.change("REPLACE INTO tres_table (creation_time, id, type, name) VALUES (1, 1, 'cpu', '')")
    for release, cpus in (('21.08', 640), ('22.05', 600), ('26.05', 600)):
        place.settings({'slurm.conf': place.path('slurm.conf'), 'fairshare.conformance': 'slurmctld', 'fairshare.slurm_version': release})
        place.succeed('run', '--now', NOW, '--replace')
        tap.same(place.query('SELECT tres_weighted FROM fairmill_job_priority'), [(f'cpu={60000 / cpus:.0f}',)],
                 f'in {release} a partition has {cpus} of 640 CPUs')
    place.settings({})


def try_unused(place):
    place.change('DELETE FROM tiny_job_table')
    run(place, slurm_version='25.11')
    tap.same(place.query("SELECT user_name, classic_factor, depth_oblivious_factor, fairshare_order FROM fairmill_fairshare"
                         " WHERE user_name IN ('ann', 'free') ORDER BY 1"), [('ann', 1, 1, 1), ('free', .5, .5, 3)],
             'without usage the root keeps its factor')


def try_choice(place):
    register(place, 11520)
    run(place, slurm_version='25.05.3')
    tap.same((version(place), factors(place, 'a')[0] is None), ('25.05', False),
             'slurm_version overrides the registered protocol')
    place.succeed('check')
    tap.ok('  slurmctld: 25.05, set by slurm_version; the cluster registered as 26.05\n' in place.out,
           'check says that slurm_version overrides the protocol',
           place.out)
    for protocol, said in ((11520, '26.05, as the cluster registered'),
                           (0, '25.05, the oldest release with these tables'),
                           (12000, '26.05: the cluster registered with protocol 12000, which is newer'),
                           (9000, '20.11: the cluster registered with protocol 9000, which is older than all')):
        register(place, protocol)
        run(place)
        place.succeed('check')
        tap.ok(f'  slurmctld: {said}' in place.out, f'check reports protocol {protocol} as {said}', place.out)
    run(place, conformance='documents', slurm_version='25.11')
    tap.same((version(place), factors(place, 'root.free')), ('25.11', [2 ** -.3] * 2),
             'conformance = documents does not depend on the release')
    place.settings({'fairshare.slurm_version': '19.05'})
    place.ends(78, 'an unknown release is rejected', 'run')
    place.says('the error lists the known releases', "slurm_version = '19.05'", 'auto', '20.11', '26.05')


def try_commands(place):
    """Commands follow the release of the published run, whatever slurmctld is now."""
    register(place, 11264)
    run(place)
    place.succeed('verify')
    tap.ok(True, 'verify computes the same factors')
    register(place, 11008)
    place.succeed('verify')
    tap.ok(True, 'verify computes the same factors after slurmctld was upgraded')
    place.succeed('compare', '--json')
    rows = {(row['username'], row['algorithm'], row['conformance']): row['factor']
            for row in json.loads(place.out)['clusters'][0]['factors']}
    tap.same((rows['free', 'classic', 'slurmctld'], rows['free', 'classic', 'documents']), (.5, 2 ** -.3),
             'compare uses the release of the run')
    place.succeed('explain', 'free', 'ann')
    tap.ok('In Slurm 25.11 `parent` directly below the root has F = 2^-(1 / 1)' in place.out.replace('\n  ', ' '),
           'explain describes the factor of the release', place.out)
    tap.ok("ranks lower than user 'ann' of account 'a': fairshare 0.5 (the root's) versus 0.690956" in ' '.join(place.out.split()),
           'explain compares with the factor of the release', place.out)
    place.succeed('explain', 'a')
    tap.ok("Account 'a' has no fairshare value: in Slurm 25.11 only users have one." in place.out,
           'explain says that an account has no fairshare',
           place.out)
    register(place, 11264)
    place.succeed('forecast', 'a', '--days', 1, '--now', NOW, '--json')
    tap.same({point['levelfs'] for point in json.loads(place.out)['clusters'][0]['points']}, {.75 / .4},
             'forecast prints the LevelFS of an account')
    for protocol, before, after in ((11264, .5, .5), (11008, 2 ** -.3, 2 ** -(300 / 4600))):
        register(place, protocol)
        run(place)
        place.succeed('whatif', '--add-usage', 'ann=1', '--json')
        free, = (row for row in json.loads(place.out)['clusters'][0]['associations'] if row['username'] == 'free')
        tap.ok(math.isclose(free['fairshare_before'], before) and math.isclose(free['fairshare_after'], after),
               f'whatif follows the rules of {version(place)}', free, before, after)
        place.succeed('forecast', 'free', '--days', 1, '--now', NOW, '--json')
        points = json.loads(place.out)['clusters'][0]['points']
        tap.ok(all(math.isclose(point['fairshare'], before) for point in points),
               f'forecast follows the rules of {version(place)}', *points)


def try_ties(place):
    """Two accounts tie.  The users of the account that is visited first rank higher."""
    place.ready('''
cluster tiny
root/
  b/   1
    x  1  use 1
    y  1  use 2
  A/   1
    v  1  use 1
    w  1  use 2
''')
    def ranks(**fairshare):
        run(place, algorithm='fair_tree', **fairshare)
        return {user: place.query('SELECT fair_tree_rank FROM fairmill_fairshare WHERE user_name = ?', user)[0][0]
                for user in 'vwxy'}
    # In an account that ties with the one before, the first user has the rank of the user before.
    first, second = dict(v=4, w=3, x=3, y=1), dict(x=4, y=3, v=3, w=1)
    tap.same((ranks(), ranks(ties='bytes')), (first, first), 'with SQLite, accounts are visited bytewise')
    db = sqlite3.connect(place.path('a.db'))
    # The names are reversed, so that the order is not accidental.  SQLite has no other suitable
    # collation.
    db.execute("UPDATE tiny_assoc_table SET lineage = replace(lineage, '/A/', '/B/') WHERE acct = 'A'")
    db.execute("UPDATE tiny_assoc_table SET lineage = replace(lineage, '/b/', '/a/') WHERE acct = 'b'")
    db.execute('PRAGMA writable_schema = ON')
    db.execute("""UPDATE sqlite_master SET sql = replace(sql, '"lineage" TEXT', '"lineage" TEXT COLLATE NOCASE')""")
    db.commit()
    db.close()
    tap.same((ranks(), ranks(ties='bytes')), (second, first), 'ties = collation uses the collation of the column')
    tap.same(place.query('SELECT tie_order FROM fairmill_fairshare WHERE depth < 2 ORDER BY id_assoc'), [(0,), (4,), (1,)],
             'the tie order is published')
    run(place, conformance='documents')
    tap.same(place.query('SELECT DISTINCT tie_order FROM fairmill_fairshare'), [(None,)],
             'conformance = documents has no tie order')
    place.drop_column('a.db', 'tiny_assoc_table', 'lineage')
    place.change('ALTER TABLE tiny_assoc_table ADD COLUMN lft')
    place.change('UPDATE tiny_assoc_table SET lft = id_assoc')
    tap.same((ranks(), ranks(ties='collation'), ranks(ties='bytes')), (second,) * 3,
             'without lineage, accounts are visited by lft')
    place.settings({'source.layout': 'plain', 'fairshare.ties': 'collation', 'fairshare.conformance': 'slurmctld'})
    place.ends(78, 'source type plain rejects ties = collation', 'run')
    place.says('the error says that plain has no lineage',
               "[fairshare] ties = 'collation': layout 'plain' has no column 'lineage'")


def body():
    with Place() as place:
        place.ready(SITE)
        for protocol, release, newer in RELEASES:
            try_release(place, protocol, release, newer)
        try_orders(place)
        try_choice(place)
        try_commands(place)
        try_spec_cpus(place)
        try_unused(place)
        try_ties(place)


tap.main(body)
