#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Which release of Slurm `conformance = slurmctld` follows, who says so, and that every command knows."""

import json
import math
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place

# Of 1000 in all `free`, whose shares are the root's, used 300, and `guest` below such an account 100.
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
# What slurmctld registers with; of 9000 and 12000 nobody has heard.
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
    tap.same(version(place), release, f'a slurmctld that registered with {protocol} is of {release}')
    tap.same((factors(place, 'root.free'), factors(place, 'open.guest')),
             ([2 ** -.5] * 2, [2 ** -.5] * 2) if newer else ([2 ** -.15] * 2, [2 ** -.05] * 2),
             f'in {release} `parent` right below the root has the factor of {"the root" if newer else "its usage"}')
    # 1/4 and 3/4 of the shares, for 200 and 400 of 1000.
    tap.same((factors(place, 'open.few'), factors(place, 'a'), factors(place, 'a.ann')),
             ([2 ** -.4] * 2, [None if newer else 2 ** -(.4 / .75 / 2)] * 2, [2 ** -(.4 / .75 / 2)] * 2),
             f'in {release} accounts have {"no" if newer else "a"} factor, and others what they always had')
    tap.same((place.value('pbs_factor', 'root.free'), place.value('pbs_factor', 'a')),
             (2 ** -.3, 2 ** -(.4 / .75)), 'which is nothing to OpenPBS')
    tap.same(place.value('classic_usage', 'root.free'), .3, 'and effective usage is its own')
    tap.same(place.query('SELECT fairshare_factor FROM fairmill_job_priority'), [(2 ** -.5,)],
             f'in {release} jobs have the factor of the root, whatever sshare says')


def try_orders(place):
    """Ratios: guest .1, free and open .3, a and ann .533, few .8; by the newer rules guest and free have 1, the root's,
    and accounts none."""
    for algorithm in ('classic', 'depth_oblivious'):
        for release, places in (('25.05', dict(guest=1, free=2, ann=4, few=6)), ('25.11', dict(ann=1, few=2, guest=3, free=3))):
            run(place, algorithm=algorithm, slurm_version=release)
            got = dict(place.query("SELECT user_name, fairshare_order FROM fairmill_fairshare WHERE user_name <> ''"))
            tap.same({user: got[user] for user in places}, places,
                     f'who is ahead under {algorithm} is by the factors of {release}')
    tap.same(place.query("SELECT count(*) FROM fairmill_fairshare WHERE user_name = '' AND fairshare_order IS NOT NULL"),
             [(0,)], 'who has no factor has no place')


def try_spec_cpus(place):
    """Of 10 nodes with 64 CPUs four cores each are kept from jobs, which leaves 600."""
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
             'where nobody has used anything, the root has its factor all the same')


def try_choice(place):
    register(place, 11520)
    run(place, slurm_version='25.05.3')
    tap.same((version(place), factors(place, 'a')[0] is None), ('25.05', False),
             'slurm_version counts more than what slurmctld registered with')
    place.succeed('check')
    tap.ok('  slurmctld: 25.05, set by slurm_version; the cluster registered as 26.05\n' in place.out, 'check says so', place.out)
    for protocol, said in ((11520, '26.05, as the cluster registered'),
                           (0, '25.05, the oldest release with these tables'),
                           (12000, '26.05: the cluster registered with protocol 12000, which is newer'),
                           (9000, '20.11: the cluster registered with protocol 9000, which is older than all')):
        register(place, protocol)
        run(place)
        place.succeed('check')
        tap.ok(f'  slurmctld: {said}' in place.out, f'check tells of protocol {protocol}: {said}', place.out)
    run(place, conformance='documents', slurm_version='25.11')
    tap.same((version(place), factors(place, 'root.free')), ('25.11', [2 ** -.3] * 2), 'documents know no releases')
    place.settings({'fairshare.slurm_version': '19.05'})
    place.ends(78, 'a release that nobody knows is refused', 'run')
    place.says('by the names of those that are known', "slurm_version = '19.05'", 'auto', '20.11', '26.05')


def try_commands(place):
    """Of what is published, whatever slurmctld is now."""
    register(place, 11264)
    run(place)
    place.succeed('verify')
    tap.ok(True, 'verify has the same factors')
    register(place, 11008)
    place.succeed('verify')
    tap.ok(True, 'also when slurmctld is of another release by then')
    place.succeed('compare', '--json')
    rows = {(row['username'], row['algorithm'], row['conformance']): row['factor']
            for row in json.loads(place.out)['clusters'][0]['factors']}
    tap.same((rows['free', 'classic', 'slurmctld'], rows['free', 'classic', 'documents']), (.5, 2 ** -.3),
             'compare has the factors of the release that the run followed')
    place.succeed('explain', 'free', 'ann')
    tap.ok('In Slurm 25.11 `parent` right below the root has F = 2^-(1 / 1)' in place.out.replace('\n  ', ' '),
           'explain says which factor is by the release', place.out)
    tap.ok("is behind user 'ann' of account 'a': fairshare 0.5 (the root's) against 0.690956" in ' '.join(place.out.split()),
           'and follows it', place.out)
    place.succeed('explain', 'a')
    tap.ok("Account 'a' has no fairshare, only users have in Slurm 25.11." in place.out, 'an account has none', place.out)
    register(place, 11264)
    place.succeed('forecast', 'a', '--days', 1, '--now', NOW, '--json')
    tap.same({point['levelfs'] for point in json.loads(place.out)['clusters'][0]['points']}, {.75 / .4},
             'and forecast tells its LevelFS')
    for protocol, before, after in ((11264, .5, .5), (11008, 2 ** -.3, 2 ** -(300 / 4600))):
        register(place, protocol)
        run(place)
        place.succeed('whatif', '--add-usage', 'ann=1', '--json')
        free, = (row for row in json.loads(place.out)['clusters'][0]['associations'] if row['username'] == 'free')
        tap.ok(math.isclose(free['fairshare_before'], before) and math.isclose(free['fairshare_after'], after),
               f'whatif computes before and after by the rules of {version(place)}', free, before, after)
        place.succeed('forecast', 'free', '--days', 1, '--now', NOW, '--json')
        points = json.loads(place.out)['clusters'][0]['points']
        tap.ok(all(math.isclose(point['fairshare'], before) for point in points),
               'and forecast what will be', *points)


def try_ties(place):
    """Two accounts tie; the one that is visited first has its users in front."""
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
    # The first of an account that ties with the one before has the rank of the user before.
    first, second = dict(v=4, w=3, x=3, y=1), dict(x=4, y=3, v=3, w=1)
    tap.same((ranks(), ranks(ties='bytes')), (first, first), 'SQLite visits accounts bytewise')
    db = sqlite3.connect(place.path('a.db'))
    # Turned around, so that it is not by chance; SQLite has no other collation at hand.
    db.execute("UPDATE tiny_assoc_table SET lineage = replace(lineage, '/A/', '/B/') WHERE acct = 'A'")
    db.execute("UPDATE tiny_assoc_table SET lineage = replace(lineage, '/b/', '/a/') WHERE acct = 'b'")
    db.execute('PRAGMA writable_schema = ON')
    db.execute("""UPDATE sqlite_master SET sql = replace(sql, '"lineage" TEXT', '"lineage" TEXT COLLATE NOCASE')""")
    db.commit()
    db.close()
    tap.same((ranks(), ranks(ties='bytes')), (second, first), "or as the column's own collation says")
    tap.same(place.query('SELECT tie_order FROM fairmill_fairshare WHERE depth < 2 ORDER BY id_assoc'), [(0,), (4,), (1,)],
             'the order is published')
    run(place, conformance='documents')
    tap.same(place.query('SELECT DISTINCT tie_order FROM fairmill_fairshare'), [(None,)], 'documents need none')
    place.drop_column('a.db', 'tiny_assoc_table', 'lineage')
    place.change('ALTER TABLE tiny_assoc_table ADD COLUMN lft')
    place.change('UPDATE tiny_assoc_table SET lft = id_assoc')
    tap.same((ranks(), ranks(ties='collation'), ranks(ties='bytes')), (second,) * 3,
             'before there were lineages accounts were visited by lft')
    place.settings({'source.layout': 'plain', 'fairshare.ties': 'collation', 'fairshare.conformance': 'slurmctld'})
    place.ends(78, 'the layout plain has nothing that has a collation', 'run')
    place.says('which is said', "[fairshare] ties = 'collation': layout 'plain' has no column 'lineage'")


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
