#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests the settings that slurm.conf provides, their precedence, and check's output about them.

The parser of its lines is tested in t/unit/slurm_conf.c."""

import ctypes
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import tap
from place import NOW, Place
from small_disk import NEWNS

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'slurm_conf')

# The two examples of the document of 2009, as slurm.conf and as settings.
EXAMPLE_WEIGHTS = '''
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightJobSize=1000
PriorityWeightPartition=1000
PriorityWeightQOS=0 # don't use the qos factor
'''
EXAMPLES = {
    'with decay': ('''
# Activate the Multi-factor Job Priority Plugin with decay
PriorityType=priority/multifactor
# 2 week half-life
PriorityDecayHalfLife=14-0
# The larger the job, the greater its job size priority.
PriorityFavorSmall=NO
PriorityMaxAge=14-0
''' + EXAMPLE_WEIGHTS, {'usage.half_life': '14-0'}),
    'without decay': ('''
PriorityType=priority/multifactor
# apply no decay
PriorityDecayHalfLife=0
# reset usage after 28 days
PriorityUsageResetPeriod=28-0
PriorityFavorSmall=NO
PriorityMaxAge=14-0
''' + EXAMPLE_WEIGHTS, {'usage.half_life': '0', 'usage.reset_period': '28-0'}),
}
EXAMPLE_SETTINGS = {'priority.favor_small': 'no', 'priority.max_age': '14-0',
                    'priority.weight_age': '1000', 'priority.weight_fairshare': '10000',
                    'priority.weight_job_size': '1000', 'priority.weight_partition': '1000',
                    'priority.weight_qos': '0'}

# A line of slurm.conf, a setting, and the value that the line gives it.
MEANINGS = (
    ('PriorityDecayHalfLife=0-00:10:00', 'usage.half_life', '10'),
    ('PriorityDecayHalfLife=90', 'usage.half_life', '90'),
    ('PriorityDecayHalfLife=1-12', 'usage.half_life', '1-12'),
    ('PriorityDecayHalfLife=1-12:30', 'usage.half_life', '1-12:30:00'),
    ('PriorityDecayHalfLife=90:30', 'usage.half_life', '91'),
    ('PriorityDecayHalfLife=UNLIMITED', 'usage.half_life', '0'),
    ('PriorityUsageResetPeriod=None', 'usage.reset_period', 'none'),
    ('PriorityUsageResetPeriod=NOW', 'usage.reset_period', 'none'),
    ('PriorityUsageResetPeriod=WEEKLY', 'usage.reset_period', 'weekly'),
    ('PriorityUsageResetPeriod=Quarterly', 'usage.reset_period', 'quarterly'),
    ('PriorityFlags=ACCRUE_ALWAYS', 'fairshare.algorithm', 'fair_tree'),
    ('PriorityFlags=NO_FAIR_TREE', 'fairshare.algorithm', 'classic'),
    ('PriorityFlags=no_fair_tree,DEPTH_OBLIVIOUS', 'fairshare.algorithm', 'depth_oblivious'),
    ('PriorityFlags=FAIR_TREE', 'fairshare.algorithm', 'fair_tree'),
    ('PriorityFlags=DEPTH_OBLIVIOUS,MAX_TRES,NO_NORMAL_ALL', 'priority.flags',
     'MAX_TRES,NO_NORMAL_ALL'),
    ('FairShareDampeningFactor=5', 'fairshare.dampening', '5'),
    ('FairShareDampeningFactor=0', 'fairshare.dampening', '1'),
    ('PriorityDecayHalfLife=99999999', 'usage.half_life', '69444-10:39:00'),
    ('PriorityDecayHalfLife=999999999-0', 'usage.half_life', '2982616-4:15:00'),
    ('PriorityMaxAge=99999-0', 'priority.max_age', '99999-0'),
    ('PriorityWeightAge=+7', 'priority.weight_age', '7'),
    ('PriorityWeightQOS+=9', 'priority.weight_qos', '9'),
    ('PriorityWeightTRES=CPU=0x10,Mem=0.25GB,Node=+1', 'priority.weight_tres', 'CPU=0x10,Mem=0.25GB,Node=+1'),
    ('PriorityWeightAge=0x10', 'priority.weight_age', '16'),
    ('PriorityWeightAssoc=2K', 'priority.weight_assoc', '2048'),
    ('PriorityWeightTRES="CPU=1000, Mem=-5,GRES/gpu=3000"', 'priority.weight_tres',
     'CPU=1000, Mem=-5,GRES/gpu=3000'),
    ('PriorityMaxAge=1-0', 'priority.max_age', '1-0'),
    ('PriorityMaxAge=INFINITE', 'priority.max_age', 'infinite'),
    ('PriorityFavorSmall=True', 'priority.favor_small', 'yes'),
    ('PartitionName=DEFAULT PriorityJobFactor=2\nPartitionName=a\n'
     'PartitionName=b PriorityJobFactor=100', 'priority.partition_factors', 'a:2,b:100'),
)

# A wrong line, and the text of the error in addition to file and line.
MISTAKES = (
    ('PriorityDecayHalfLife=fortnight', "PriorityDecayHalfLife = 'fortnight'"),
    ('PriorityUsageResetPeriod=FORTNIGHTLY', 'MONTHLY'),
    ('PriorityUsageResetPeriod=0', 'reset_period'),
    ('PriorityMaxAge=1:2:3:4', 'PriorityMaxAge'),
    ('PriorityFavorSmall=perhaps', 'YES or NO'),
    ('PriorityWeightQOS=4294967296', 'PriorityWeightQOS'),
    ('PriorityWeightQOS=-1', 'PriorityWeightQOS'),
    ('PriorityWeightTRES=CPU', 'PriorityWeightTRES'),
    ('PriorityWeightTRES=CPU=1X', 'PriorityWeightTRES'),
    ('PriorityWeightAge=++7', 'PriorityWeightAge'),
    ('PriorityWeightAge=7 7', 'PriorityWeightAge'),
    ('Include=other.conf', 'Include'),
    ('NodeName=n Gres=:2', 'Gres'),
    ('FairShareDampeningFactor=1.5', 'FairShareDampeningFactor'),
    ('PartitionName=p PriorityJobFactor=x', "PriorityJobFactor = 'x'"),
    ('NodeName=n[1-', "NodeName = 'n[1-'"),
    ('Include nowhere.conf', 'nowhere.conf'),
    ('nonsense', 'expected KEY=VALUE'),
)


def write(place, text, name='slurm.conf', mode=0o644):
    with open(place.path(name), 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(place.path(name), mode)


def with_conf(place, text, keys=None):
    write(place, text)
    place.settings({'usage.half_life': None, 'slurm.conf': place.path('slurm.conf')} | (keys or {}))


def resolved(place):
    """Returns the settings of the last run, such as {'usage.half_life': '7-0'}."""
    place.succeed('run', '--now', NOW, '--replace')
    text = place.query('SELECT s.text FROM fairmill_settings s JOIN fairmill_run r'
                       ' ON r.settings_digest = s.digest ORDER BY r.run_id DESC LIMIT 1')[0][0]
    return dict(line.split(' = ', 1) for line in text.splitlines())


def examples(place):
    place.ready()
    for name, (conf, keys) in EXAMPLES.items():
        place.settings(EXAMPLE_SETTINGS | keys)
        as_settings, values = resolved(place), place.query('SELECT * FROM fairmill_sshare ORDER BY 1, 2')
        with_conf(place, conf)
        as_conf = resolved(place)
        tap.same(as_conf.pop('slurm.conf'), place.path('slurm.conf'), 'a run records the path of its slurm.conf')
        del as_settings['slurm.conf']
        tap.same(as_conf, as_settings,
                 f"the document's example {name} gives the same settings from slurm.conf")
        tap.same(place.query('SELECT * FROM fairmill_sshare ORDER BY 1, 2'), values,
                 f'the example {name} publishes the same values')
        tap.ok(as_conf['priority.weight_fairshare'] == '10000' and
               as_conf['usage.half_life'] == keys['usage.half_life'], f'the example {name} has the values in the document')


def meanings(place):
    place.ready()
    for line, setting, value in MEANINGS:
        with_conf(place, line + '\n')
        tap.same(resolved(place)[setting], value, f'{line.splitlines()[-1]} gives {setting} = {value}')
    with_conf(place, '')
    nothing = resolved(place)
    tap.ok(nothing['usage.half_life'] == '7-0' and nothing['fairshare.algorithm'] == 'fair_tree' and
           nothing['priority.weight_age'] == '1' and nothing['priority.partition_factors'] == '',
           'an empty slurm.conf leaves all defaults')
    place.settings({'fairshare.conformance': 'slurmctld'})
    defaults = resolved(place)
    tap.same({defaults[f'priority.weight_{factor}'] for factor in
              ('age', 'assoc', 'fairshare', 'job_size', 'partition', 'qos')}, {'0'},
             'with conformance = slurmctld weights default to 0')
    tap.same(defaults['priority.weight_tres'], '', 'with conformance = slurmctld there are no TRES weights')


def strength(place):
    place.ready()
    conf = ('PriorityDecayHalfLife=1-0\nPriorityFlags=NO_FAIR_TREE,MAX_TRES\nPriorityWeightAge=5\n'
            'PriorityMaxAge=nonsense\nPriorityMaxAge=2-0\n')
    with_conf(place, conf, {'usage.half_life': '3-0', 'priority.flags': '',
                            'fairshare.algorithm': 'pbs'})
    got = resolved(place)
    tap.ok(got['usage.half_life'] == '3-0' and got['fairshare.algorithm'] == 'pbs' and
           got['priority.flags'] == '', 'the settings override slurm.conf')
    tap.same((got['priority.weight_age'], got['priority.max_age']), ('5', '2-0'),
             'slurm.conf overrides the defaults')
    digests = place.query('SELECT count(*) FROM fairmill_settings')[0][0]
    write(place, conf.replace('Age=5', 'Age=6'))
    resolved(place)
    tap.same(place.query('SELECT count(*) FROM fairmill_settings')[0][0], digests + 1,
             'a changed slurm.conf has a different digest')
    with_conf(place, 'PriorityWeightQOS=much\n', {'priority.weight_qos': '1'})
    place.ends(0, 'an invalid value that the settings override is ignored', 'run', '--now', NOW + 1)
    place.settings({'slurm.conf': 'slurm.conf', 'usage.half_life': None})
    write(place, 'PriorityDecayHalfLife=5-0\n')
    tap.same(resolved(place)['usage.half_life'], '5-0', 'a relative path starts at the working directory')


def no_weights(place):
    place.ready()
    six = {f'priority.weight_{name}': '0' for name in ('age', 'assoc', 'fairshare', 'job_size', 'partition', 'qos')}
    nothing, zero = 'neither [slurm] conf nor a weight in [priority] is set', 'all weights in [priority] are 0'
    for keys, warned in (({}, nothing), (six, zero), (six | {'priority.weight_tres': 'CPU=10'}, None), (six | {'priority.weight_qos': '9'}, None),
                         ({'priority.weight_age': '1000'}, None), ({'slurm.conf': write(place, 'PriorityType=priority/multifactor\n') or place.path('slurm.conf')}, None),
                         ({'slurm.conf': place.path('slurm.conf')} | six, zero)):
        place.settings(keys)
        place.succeed('check')
        tap.same([said for said in (nothing, zero) if f'  warning: {said}' in place.out], [warned] if warned else [],
                 f"check warns about missing weights only ({', '.join(keys)})")


def not_kept_private(place):
    place.ready()
    accounts, partitions, others = ('the names, shares and usage of all accounts;', 'the names and waiting times of all partitions;',
                                    'the names of others;')
    for value, own, shown in (('usage,jobs', None, []), ('usage,jobs,accounts', None, [accounts]), ('user,usage', None, [others]),
                              ('users,jobs,usages', None, []), ('node,cloud,Events', None, []), ('reservation,partitions', None, [partitions]),
                              ('none', None, []), ('all', None, [accounts, partitions]), ('all', 'usage', []), ('users', 'no', [])):
        with_conf(place, f'PrivateData={value}\n', {'report.private': own} if own else None)
        place.succeed('check')
        said = [line.partition(f"PrivateData = '{value}': users of fairmill see ")[2] for line in place.out.splitlines() if 'PrivateData = ' in line]
        tap.same([line[:line.index(';') + 1] for line in said], shown,
                 f'check warns about PrivateData={value} if fairmill shows the data (private = {own})')
        tap.ok(all('[report]' in line for line in said), f'check says what to do about PrivateData={value}', said)


def mistakes(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    for line, said in MISTAKES:
        with_conf(place, '\n' + line + '\n')
        place.ends(78, f"'{line}' is rejected", 'run', '--now', NOW + 1)
        place.says(f"the error for '{line}' has file, line and reason", place.path('slurm.conf'), 'line 2', said)
    write(place, '', mode=0o646)
    place.ends(78, 'a slurm.conf that all users can write is rejected', 'run', '--now', NOW + 1)
    place.says('the error says that all users can write slurm.conf', 'all users can write')
    os.unlink(place.path('slurm.conf'))
    place.ends(78, 'a missing slurm.conf is rejected', 'run', '--now', NOW + 1)
    place.says('the error names the missing slurm.conf', place.path('slurm.conf'), '[slurm] conf')
    place.ends(0, 'show needs no slurm.conf', 'show')
    place.ends(1, 'status needs no slurm.conf and exits with status 1', 'status')
    place.says('status says that the run could not be recorded', 'could not be recorded (exit status 78)')
    tap.same(place.query('SELECT DISTINCT computed_at FROM fairmill_fairshare'), [(NOW,)],
             'runs with an invalid slurm.conf publish nothing')


def live(place):
    """Tests the slurm.conf of a real cluster."""
    place.ready()
    shutil.copy(os.path.join(DATA, 'live1.conf'), place.path('slurm.conf'))
    os.chmod(place.path('slurm.conf'), 0o644)
    place.settings({'usage.half_life': None, 'slurm.conf': place.path('slurm.conf')})
    got = resolved(place)
    expected = {'usage.half_life': '10', 'usage.reset_period': 'none',
                'fairshare.algorithm': 'fair_tree', 'priority.weight_age': '1000',
                'priority.weight_assoc': '500', 'priority.weight_fairshare': '100000',
                'priority.weight_job_size': '2000', 'priority.weight_partition': '3000',
                'priority.weight_qos': '4000', 'priority.weight_tres': 'CPU=100,Mem=50',
                'priority.max_age': '60', 'priority.favor_small': 'no', 'priority.flags': '',
                'priority.partition_factors': 'debug:10,short:50,bill:100,maxed:1'}
    tap.same({key: got[key] for key in expected}, expected, 'the slurm.conf of a real cluster is read')
    place.ends(0, 'check of a real slurm.conf succeeds', 'check')
    tap.ok(f"slurm.conf: '{place.path('slurm.conf')}', cluster 'live', partitions: 4, "
           'nodes: 1 with 8 CPUs' in place.out, 'check describes slurm.conf', place.out)
    tap.ok("slurm.conf belongs to cluster 'live'" in place.out,
           'check warns that slurm.conf is of another cluster', place.out)


def checked(place, keys, conf, statement, *said):
    with_conf(place, conf, keys)
    place.succeed('check')
    tap.ok(all(text in place.out for text in said), statement, f'wanted {said}, got:', place.out)


def check_type(place):
    """Up to 23.02 the default of PriorityType is priority/basic."""
    warning = f"  warning: '{place.path('slurm.conf')}' does not set PriorityType; up to Slurm 23.02 the default is " \
        'priority/basic, which computes no priorities\n'
    for protocol, release, basic in ((9216, '20.11', True), (9984, '23.02', True), (10240, '23.11', False),
                                     (11520, '26.05', False)):
        place.change('UPDATE cluster_table SET rpc_version = ?', protocol)
        with_conf(place, 'PriorityWeightAge=5000\n')
        place.succeed('check')
        tap.ok((warning in place.out) == basic and f'  slurmctld: {release}, as the cluster registered\n' in place.out,
               f'check says if slurm.conf of {release} without PriorityType has {"no " if basic else ""}priorities',
               place.out)
    place.change('UPDATE cluster_table SET rpc_version = 0')


def check(place):
    place.ready()
    path = place.path('slurm.conf')
    write(place, '\n\nPriorityWeightAge=5000\n', 'more.conf')
    os.utime(place.path('more.conf'), (1000000000, 1000000000))
    checked(place, {'priority.weight_qos': '7', 'usage.time_zone': 'UTC'}, 'ClusterName=Tiny\nPriorityDecayHalfLife=2-0\n'
            'Include more.conf\n', 'check prints the source of each value',
            f"slurm.conf: '{path}' and the files it includes, 2 in total, cluster 'Tiny'",
            f"  read: '{path}', modified 20", f"\n  read: '{place.path('more.conf')}', modified 2001-09-09T01:46:40\n",
            f"  usage.half_life = 2-0, from PriorityDecayHalfLife in '{path}', line 2\n",
            '  priority.weight_qos = 7, from the settings\n',
            f"  priority.weight_age = 5000, from PriorityWeightAge in '{place.path('more.conf')}', line 3\n",
            '  fairshare.algorithm = fair_tree, the default\n')
    tap.ok('warning' not in place.out, 'check has no warnings about a correct slurm.conf', place.out)
    checked(place, {}, 'PriorityDecayHalfLife=8\n', 'check prints the unit of a bare number and warns about few minutes',
            '  usage.half_life = 8 min, from PriorityDecayHalfLife in',
            '  warning: PriorityDecayHalfLife = 8 is a half-life of 8 minutes')
    checked(place, {}, 'PriorityType=priority/basic\n', 'check warns about a different priority plugin',
            f"warning: '{path}', line 1: PriorityType = 'priority/basic': Slurm computes no priorities with this plugin")
    check_type(place)
    checked(place, {}, 'PrioritySiteFactorPlugin=site_factor/lua\n',
            'check warns about a site factor plugin', "PrioritySiteFactorPlugin = 'site_factor/lua'")
    checked(place, {}, 'PriorityUsageResetPeriod=NOW\n', 'check warns about resets by NOW',
            "PriorityUsageResetPeriod = 'NOW'", 'treats it as NONE')
    checked(place, {}, 'PriorityFlags=ACCRUE_ALLWAYS\n', 'check warns about unknown flags',
            "unknown flag 'ACCRUE_ALLWAYS'")
    checked(place, {}, 'PartitionName=p Nodes=n1\n', 'check warns about unknown nodes',
            "partition 'p' contains 'n1', which is not a node")
    checked(place, {}, 'PriorityCalcPeriod=often\n', 'check warns about an invalid PriorityCalcPeriod',
            "PriorityCalcPeriod = 'often'")
    checked(place, {'priority.weight_age': '10', 'fairshare.algorithm': 'classic',
                    'priority.weight_fairshare': '999'},
            'NodeName=n[1-64]\nPartitionName=p Nodes=ALL PriorityJobFactor=500\n'
            'PriorityWeightJobSize=63\nPriorityWeightPartition=499\n',
            'check warns about weights that are too low',
            'priority.weight_age = 10 is low', 'priority.weight_fairshare = 999 is low',
            'priority.weight_job_size = 63 is low: priorities are whole numbers, and there may be 64 different',
            'priority.weight_partition = 499 is low: priorities are whole numbers, and there may be 500')
    checked(place, {}, 'PriorityWeightFairshare=2\n', 'check warns about a weight below the number of ranks',
            'priority.weight_fairshare = 2 is low: priorities are whole numbers, and there may be 3 different ranks')
    checked(place, {}, 'PriorityWeightFairshare=3\nPriorityWeightQOS=0\n', 'check accepts a weight equal to the number of ranks')
    tap.ok('low' not in place.out, 'check has no warning about that weight', place.out)
    checked(place, {}, 'PriorityWeightAge=4294967295\nPriorityWeightQOS=1000\n',
            'check warns about weights whose sum is too high', 'add up to 4294968299')


BILLED = """
tres 1001 gres/gpu
cluster tiny
root/
  a/
    ann    use 0
    bob    use 0
    cy     use 0
job a.ann start=900 end=910 partition=gpu tres=1=4,2=2048,4=1,1001=2
job a.bob start=900 end=910 partition=batch tres=1=4,2=2048,4=1,1001=2
job a.cy  start=900 end=910 partition=other tres=1=4,2=2048,4=1,1001=2
"""
BILLING = """
NodeName=n[1-2] CPUs=8
PartitionName=batch Nodes=n1
PartitionName=gpu Nodes=n2 TRESBillingWeights="CPU=1.5,Mem=0.25G,GRES/gpu=7.3"
"""

# Commands that read results.
READING = (('show',), ('explain', 'ann'), ('prio',), ('status',), ('history', 'ann'), ('compare',), ('metrics',),
           ('report', '-o', 'page.html'), ('ledger', 'list'), ('whatif', '--shares', 'ann=5'))


def used(place):
    place.succeed('run', '--now', 1000, '--replace', '--full')
    return {user: usage for user, usage in place.query(
        "SELECT user_name, usage_raw FROM fairmill_fairshare WHERE user_name <> ''")}


def billing(place):
    """Tests the weights of partitions from slurm.conf and from the settings."""
    none = {'usage.half_life': '0', 'usage.charge': 'tres'}
    place.ready(BILLED, none | {'usage.tres_weights': 'CPU=1'})
    write(place, BILLING)
    for flags, gpu in (('', 4 * 1.5 + 2 * 0.25 + 2 * 7.3), ('MAX_TRES', 2 * 7.3),
                       ('MAX_TRES_GRES', 4 * 1.5 + 2 * 7.3), ('MAX_TRES,MAX_TRES_GRES', 4 * 1.5 + 2 * 7.3)):
        write(place, BILLING + f'PriorityFlags={flags}\n')
        place.settings(none | {'slurm.conf': place.path('slurm.conf')})
        tap.same(used(place), {'ann': 10 * gpu, 'bob': 40, 'cy': 40},
                 f"TRESBillingWeights are charged, or CPUs in partitions without weights ({flags or 'no flag'})")
        place.settings(none | {'usage.tres_weights': 'CPU=1', 'priority.flags': flags,
                               'usage.partition_tres_weights': 'gpu:CPU=1.5 Mem=0.25G GRES/gpu=7.3'})
        tap.same(used(place), {'ann': 10 * gpu, 'bob': 40, 'cy': 40},
                 f"the same weights in the settings give the same usage ({flags or 'no flag'})")
    place.settings(none | {'slurm.conf': place.path('slurm.conf'), 'usage.tres_weights': 'Mem=1G'})
    tap.same(used(place), {'ann': 20, 'bob': 20, 'cy': 20}, 'tres_weights in the settings override slurm.conf in all partitions')
    place.settings(none | {'usage.charge': 'billing', 'slurm.conf': place.path('slurm.conf')})
    tap.same(used(place), {'ann': 0, 'bob': 0, 'cy': 0}, 'with charge = billing, a job without billing is free')
    place.settings({'usage.half_life': '0', 'slurm.conf': place.path('slurm.conf')})
    tap.same(used(place), {'ann': 0, 'bob': 0, 'cy': 0}, 'by default a job without billing is free, if there are weights')
    place.settings(none | {'slurm.conf': place.path('slurm.conf')})
    place.succeed('run', '--now', 1000, '--replace')
    place.succeed('run', '--now', 1001)
    write(place, BILLING.replace('CPU=1.5', 'CPU=2'))
    place.succeed('run', '--now', 1002)
    tap.same(place.query('SELECT kind, why FROM fairmill_run ORDER BY run_id DESC LIMIT 1'),
             [('full', 'usage.partition_tres_weights changed in the settings')], 'a changed weight makes the run full, with the reason')
    write(place, BILLING.replace('CPU=1.5', 'CPU=much'))
    place.ends(78, 'a weight that is not a number is rejected', 'run', '--now', 1003)
    place.says('the error names the weight', 'slurm.conf', 'TRESBillingWeights', "'CPU'")
    for command in READING:
        place.ends(1 if command == ('status',) else 0, f"{' '.join(command)} needs no weights", *command)
    write(place, BILLING)
    place.ends(0, 'whatif --now uses the weights of slurm.conf', 'whatif', '--now', 1003, '--shares', 'ann=5')
    write(place, 'PartitionName=batch Nodes=n1\n')
    for command in (('run', '--now', 1003), ('whatif', '--now', 1003, '--shares', 'ann=5')):
        place.ends(78, f'with charge = tres, {command[0]} fails without weights', *command)
        place.says(f'the error of {command[0]} names the possible sources of weights', 'TRESBillingWeights', 'tres_weights')


# With the weights below, a second costs 8.75 in `gpu`, and 0.6 or 0.9 in `tiny`.  `plain` is
# without weights, and the weights of `gone` are unknown.
VERIFIED = """
tres 1001 gres/gpu
qos 2 factor=0.5
root/
  a/
    right  use 0
    cut    use 0
    other  use 0
    old    use 0
    plain  use 0
    gone   use 0
job a.right start=100 end=110 partition=gpu  tres=1=1,2=1024,4=1,5=8,1001=1
job a.right start=900 end=910 partition=gpu  tres=1=1,2=1024,4=1,5=8,1001=1 qos=2
job a.cut   start=100 end=110 partition=tiny tres=1=2,4=1
job a.cut   start=900 end=910 partition=tiny tres=1=3,4=1,5=0
job a.other start=200 end=210 partition=gpu  tres=1=1,2=1024,4=1,5=7,1001=1
job a.other start=300 end=310 partition=gpu  tres=1=1,2=1024,4=1,5=9,1001=1
job a.other start=700 end=710 partition=tiny tres=1=2,4=1,5=2
job a.old   start=100 end=110 partition=gpu  tres=1=4,4=1
job a.plain start=900 end=910 partition=plain tres=1=4,2=1024,5=3
job a.plain start=910 end=920 partition=plain tres=1=4,2=1024
job a.gone  start=900 end=910 partition=gone tres=1=4,2=1024,5=5
"""
WEIGHTS = """
NodeName=n[1-2] CPUs=8
PartitionName=gpu Nodes=n1 TRESBillingWeights="CPU=1.5,Mem=0.25G,GRES/gpu=7"
PartitionName=plain Nodes=n2
PartitionName=tiny Nodes=n2 TRESBillingWeights="CPU=0.3"
"""


def any_names(place):
    """The name of a partition may have any character that slurm.conf allows."""
    names = ('a', 'a:b', 'a,b', 'b', 'c=d', 'gpu:CPU=1', 'über')
    place.ready('root/\n  a/\n' + ''.join(f'    u{i} use 0\n' for i in range(len(names)))
                + ''.join(f'job a.u{i} start=900 end=910 partition={name} tres=1=2,4=1\n' for i, name in enumerate(names)))
    write(place, 'NodeName=n[1-2] CPUs=8\n' + ''.join(
        f'PartitionName={name} Nodes=ALL PriorityJobFactor={10 + i} TRESBillingWeights=CPU={i}.5\n' for i, name in enumerate(names)))
    place.settings({'usage.half_life': '0', 'usage.charge': 'tres', 'slurm.conf': place.path('slurm.conf')})
    tap.same(used(place), {f'u{i}': 20 * (i + .5) for i in range(len(names))},
             'jobs are charged by the weights of their own partition')
    tap.same(place.query("SELECT count(*) FROM fairmill_finding WHERE kind = 'tres_unknown'"), [(0,)],
             'no part of a name is read as a TRES')
    place.ready('root/\n  a/\n    u use 0\n' + ''.join(
        f'job a.u id_job={i + 1} submit=900 time_eligible=900 partition={name} tres_req=1=1 limit=60\n' for i, name in enumerate(names)))
    place.settings({'priority.weight_partition': '1600', 'slurm.conf': place.path('slurm.conf')})
    place.succeed('run', '--now', 1000)
    tap.same(dict(place.query('SELECT partition_name, round(partition_weighted) FROM fairmill_job_priority')),
             {name: 100 * (10 + i) for i, name in enumerate(names)}, 'pending jobs have the factor of their own partition')
    place.settings({'slurm.conf': place.path('slurm.conf'), 'priority.weight_partition': '100', 'priority.partition_factors': 'b:5'})
    place.succeed('run', '--now', 1001)
    tap.same({name for name, in place.query('SELECT partition_name FROM fairmill_job_priority WHERE partition_weighted > 0')}, {'b'},
             'partition factors of the settings override slurm.conf')


def number_forms(place):
    """Weights are read as by strtod(), with the first letter of a unit."""
    def charged(weights, tres='1=3,2=4096,4=1'):
        place.ready('root/\n  a/\n    u use 0\n' + f'job a.u start=900 end=910 partition=p tres={tres}\n')
        write(place, f'NodeName=n1 CPUs=8\nPartitionName=p Nodes=ALL TRESBillingWeights={weights}\n')
        place.settings({'usage.half_life': '0', 'usage.charge': 'tres', 'slurm.conf': place.path('slurm.conf')})
        return used(place)['u']
    for weights, one_second in (
            ('CPU=+1', 3), ('CPU=0x10', 48), ('CPU=0x1.8p1', 9), ('CPU=1e1', 30), ('CPU=.5', 1.5), ('CPU=5.', 15), ('CPU=-0', 0),
            ('CPU=0.333333333333333333333', 1), ('CPU=1.00000000000000000000000', 3), ('CPU=3,CPU=2', 6), ('CPU=1,,Node=2', 5),
            ('CPU=0,Mem=0.25GB', 1), ('CPU=0,Mem=0.25gib', 1), ('CPU=0,Mem=1T', 4 / 1024), ('CPU=1K', 3 / 1024)):
        got = charged(weights)
        tap.ok(abs(got - 10 * one_second) < 1e-5, f'TRESBillingWeights={weights} charges {one_second} for a second', got)


def large_files(place):
    """`make bench-growth` measures the time."""
    place.ready()
    place.settings({'slurm.conf': place.path('slurm.conf')})
    for what, line in (
            ('names of nodes in a list', lambda n: 'NodeName=' + ','.join(f'n{i}x' for i in range(n)) + ' CPUs=1\n'),
            ('lines of nodes with the feature of a set',
             lambda n: ''.join(f'NodeName=n{i} CPUs=1 Feature=f\n' for i in range(n // 2))
             + 'NodeSet=s Feature=f\nPartitionName=p Nodes=s\n'),
            ('node sets of node sets',
             lambda n: 'NodeName=n CPUs=1\n' + ''.join(f'NodeSet=s{i} Nodes=s{i + 1},n\n' for i in range(n // 2))
             + 'PartitionName=p Nodes=s0\n')):
        write(place, line(60000))
        place.ends(0, f'a slurm.conf may have tens of thousands of {what}', 'check')


def verified(place):
    """By default the weights of slurm.conf apply to jobs whose stored billing they reproduce."""
    expected = {'right': 87.5 + 43.75, 'cut': 6 + 9, 'other': 70 + 90 + 20, 'old': 0, 'plain': 30 + 0, 'gone': 50}
    said = [('1', "2 jobs started between 1970-01-01T00:03:20 and 1970-01-01T00:05:00; partition 'gpu'"),
            ('2', "1 job started 1970-01-01T00:11:40; partition 'tiny'")]
    found = "SELECT subject, detail FROM fairmill_finding WHERE kind = 'other_weights' ORDER BY subject"
    place.ready(VERIFIED)
    write(place, WEIGHTS)
    mine = {'usage.partition_tres_weights': 'gpu:CPU=1.5 Mem=0.25G GRES/gpu=7, tiny:CPU=0.3'}
    for keys, where in (({'slurm.conf': place.path('slurm.conf')}, 'of slurm.conf'), (mine, 'of the settings')):
        place.settings(keys)
        place.query('DELETE FROM fairmill_finding')
        tap.same(used(place), expected, f'weights {where} apply if they reproduce the billing, otherwise the billing applies')
        tap.same(place.query(found), said, f'findings count the jobs with different weights {where} by partition')
        place.succeed('check')
        tap.ok("charge auto: unrounded weighted TRES in partitions 'gpu', 'tiny' if" in place.out and
               'finding other_weights, 3x' in place.out, f'check describes how usage is charged by weights {where}', place.out)
    place.settings({'usage.tres_weights': 'CPU=0.8'})
    tap.same(used(place), expected | {'right': 80 + 40, 'cut': 0 + 0, 'plain': 32 + 0}, 'tres_weights apply in all partitions')
    place.settings({'slurm.conf': place.path('slurm.conf'), 'usage.tres_weights': 'CPU=9'})
    place.succeed('check')
    tap.ok("charge auto: unrounded weighted TRES by tres_weights if" in place.out, 'tres_weights override slurm.conf', place.out)
    place.settings()
    place.succeed('check')
    tap.ok('charge auto: the stored billing\n' in place.out,
           'without weights the stored billing is charged', place.out)


def free_ends(place):
    """slurmctld charges the last part of a job's last decay cycle only if limits are enforced."""
    place.ready()
    for line, said in (('', 'AccountingStorageEnforce does not include'), ('AccountingStorageEnforce=associations,qos', "= 'associations,qos' does not include"),
                       ('AccountingStorageEnforce=limits', None), ('AccountingStorageEnforce=safe', None),
                       ('AccountingStorageEnforce=all', None)):
        with_conf(place, f'PriorityCalcPeriod=2\n{line}\n')
        place.succeed('check')
        tap.ok(('does not charge a job for' in place.out) == bool(said) and (not said or said in place.out and ' 60 s (half' in place.out),
               f"check {'says' if said else 'does not say'} that ends of jobs are free ({line or 'by default'})", place.out)


def cadence(place):
    """Tests the interval between runs against slurmctld's decay cycle."""
    place.ready()
    for i in range(6):
        place.succeed('run', '--now', NOW + i)
    for minutes, calc, warns in ((5, 5, False), (9, 5, False), (15, 5, True), (5, 20, True)):
        place.query('UPDATE fairmill_run SET started_at = ? + run_id * ?', NOW, minutes * 60)
        with_conf(place, f'PriorityCalcPeriod={calc}\n')
        place.succeed('check')
        said = (f"runs of cluster 'tiny' are {minutes * 60} s apart, but slurmctld computes "
                f'every {calc * 60} s')
        tap.ok((said in place.out) == warns,
               f"check {'does not warn' if not warns else 'warns'} about runs every {minutes} minutes with PriorityCalcPeriod = {calc}",
               place.out)


def mount_run(place, etc):
    """Mounts the directories of a configless host, and optionally a slurm.conf in /etc.

    Call it in the child process before it executes a program."""
    libc = ctypes.CDLL(None, use_errno=True)
    private, recursive = 1 << 18, 1 << 14
    for result in (libc.unshare(NEWNS), libc.mount(b'none', b'/', None, private | recursive, None),
                   libc.mount(b'none', b'/run', b'tmpfs', 0, None), libc.mount(b'none', b'/etc', b'tmpfs', 0, None)):
        if result:
            raise OSError(ctypes.get_errno(), 'mount')
    os.mkdir('/run/slurm')
    os.symlink(place.path('conf-cache'), '/run/slurm/conf')
    if etc:
        os.mkdir('/etc/slurm')
        shutil.copy(place.path('etc.conf'), '/etc/slurm/slurm.conf')


def may_mount(place):
    try:
        place.run('--version', preexec_fn=lambda: mount_run(place, False))
    except subprocess.SubprocessError:
        return False
    return True


def found(place):
    """Tests conf = auto, which finds the file that Slurm's commands use."""
    environment = {name: value for name, value in os.environ.items() if name != 'FAIRMILL_CONF'}
    named = dict(environment, SLURM_CONF=place.path('named.conf'))
    environment.pop('SLURM_CONF', None)
    place.ready()
    os.mkdir(place.path('conf-cache'))
    write(place, 'PriorityWeightAge=1\n', 'named.conf')
    write(place, 'PriorityWeightAge=2\n', 'etc.conf')
    write(place, 'Include weights.conf\n', 'conf-cache/slurm.conf')
    write(place, 'PriorityWeightAge=3\n', 'conf-cache/weights.conf')
    place.settings({'slurm.conf': 'auto'})
    place.succeed('check', env=named)
    tap.ok(f"slurm.conf: '{place.path('named.conf')}'" in place.out and 'priority.weight_age = 1,' in place.out,
           'conf = auto finds the slurm.conf that SLURM_CONF names', place.out)
    place.succeed('run', '--now', NOW, env=named)
    (text,), = place.query('SELECT text FROM fairmill_settings')
    tap.ok(f"\nslurm.conf = {place.path('named.conf')}\n" in text, 'a run records the path that it found', text)
    place.ends(0, 'show does not search for slurm.conf', 'show', env=dict(environment, SLURM_CONF='/nowhere/slurm.conf'))
    place.ends(78, 'a missing file in SLURM_CONF is an error', 'check',
               env=dict(environment, SLURM_CONF='/nowhere/slurm.conf'))
    place.says('the error has the path in SLURM_CONF', "[slurm] conf: cannot read '/nowhere/slurm.conf'")
    place.settings({'slurm.conf': place.path('etc.conf')})
    place.succeed('check', env=named)
    tap.ok('priority.weight_age = 2,' in place.out, 'a path in the settings overrides SLURM_CONF', place.out)
    place.settings({'slurm.conf': 'AUTO', 'usage.time_zone': 'UTC'})
    if not may_mount(place):
        tap.ok(True, 'a configless slurm.conf is found # SKIP nothing can be mounted here')
        return
    place.succeed('check', env=environment, preexec_fn=lambda: mount_run(place, False))
    tap.ok("slurm.conf: '/run/slurm/conf/slurm.conf' and the files it includes, 2 in total" in place.out and
           'priority.weight_age = 3, from PriorityWeightAge in \'/run/slurm/conf/weights.conf\', line 1' in place.out,
           'without SLURM_CONF the configless file and its Include are found', place.out)
    place.succeed('check', env=environment, preexec_fn=lambda: mount_run(place, True))
    tap.ok("slurm.conf: '/etc/slurm/slurm.conf'" in place.out, '/etc/slurm/slurm.conf precedes the configless file', place.out)
    os.remove(place.path('conf-cache/slurm.conf'))
    place.ends(78, 'if no slurm.conf exists, conf = auto is an error', 'check', env=environment,
               preexec_fn=lambda: mount_run(place, False))
    place.says('the error lists the places where conf = auto searches', 'SLURM_CONF', "'/etc/slurm/slurm.conf'",
               "'/run/slurm/conf/slurm.conf'")


def body():
    for part in (examples, meanings, strength, no_weights, not_kept_private, mistakes, live, check, found, billing, any_names, number_forms, large_files, verified, free_ends, cadence):
        with Place() as place:
            part(place)


tap.main(body)
