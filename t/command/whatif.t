#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the predictions of whatif equal the values of a run after the change.

Tests 18 random sites, or 36 with FAIRMILL_LONG=1.  FAIRMILL_SITES=N sets another number, and
FAIRMILL_SEED=N selects site N."""

import csv
import io
import json
import os
import random
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import demonstration
import tap
from place import NOW, SMALL, Place
from seeds import seeds
from site_drawing import PARENT, Site, draw

DAY = 86400
ALGORITHMS = ('fair_tree', 'fair_tree', 'classic', 'linear', 'depth_oblivious', 'pbs')
VALUES = {'fairshare': 'fairshare', 'levelfs': 'level_fs', 'rawusage': 'usage_raw'}


WIDE = """
cluster tiny
root/
  a/       10
    a1      1  use 10
    a2      1  use 90
  b/       20
    b1      5  use 900
    b2      1  use 60
  c/       30
    c1      1  use 300
    c2      9  use 31
"""


def answer(place):
    """Returns the cluster in the last JSON output."""
    found, = json.loads(place.out)['clusters']
    return found


# ---- random sites ----

def random_site(r):
    site = Site()
    cluster = site.cluster('tiny')
    cluster.registered = '1=640,2=64000,4=10,5=640'
    cluster.account('root', '')
    names = ['root']
    for i in range(r.randrange(3, 16)):
        cluster.account(f'a{i:02d}', r.choice(names), r.choice((0, 1, 1, 2, 5, 70, PARENT)))
        names.append(f'a{i:02d}')
    for i in range(r.randrange(5, 50)):
        user, account = f'u{r.randrange(30):02d}', r.choice(names)
        partition = r.choice(('', '', '', 'gpu'))
        if any((row['user'], row['acct'], row['partition']) == (user, account, partition)
               for row in cluster.associations):
            continue
        cluster.user(user, account, r.choice((0, 1, 1, 1, 3, 10, r.randrange(1, 1000), PARENT)),
                     partition=partition, deleted=int(r.random() < .1))
    for row in cluster.associations:
        for _ in range(r.choice((0, 1, 2, 3)) if row['user'] else r.random() < .1):
            start = NOW - r.randrange(3600, 40 * DAY)
            cluster.job(row['id_assoc'], start, r.choice((0, start + r.randrange(1, 2 * DAY))),
                        billing=r.randrange(1, 10 ** 6))
        if row['user'] and not row['deleted'] and r.random() < .5:
            cluster.job(row['id_assoc'], 0, 0, submit=NOW - DAY, priority=r.choice((0, 9, 9, 9)),
                        time_eligible=NOW - r.randrange(1, 9 * DAY),
                        partition=r.choice(('p', 'gpu', 'p,gpu')), tres_req=f'1={r.randrange(64)},4=2')
    return site


def random_keys(r):
    return {'usage.half_life': r.choice(('0', '7-0', '1-0')),
            'fairshare.algorithm': r.choice(ALGORITHMS),
            'fairshare.conformance': r.choice(('documents', 'documents', 'slurmctld')),
            'priority.weight_fairshare': r.choice((1000, 100000)),
            'priority.weight_age': r.choice((0, 1000)),
            'priority.partition_factors': 'gpu:30, p:7',
            'fairshare.slurm_version': r.choice(('25.05', '25.11'))}


# ---- Random changes: the arguments of whatif, and the same changes to the site ----

class Changes:
    def __init__(self, r, place, settings):
        self.r, self.place = r, place
        self.arguments, self.keys = [], {}
        self.rows = {row[0]: dict(zip(('acct', 'user', 'partition'), row[1:])) for row in place._query(
            'a.db', 'SELECT id_assoc, acct, "user", "partition" FROM tiny_assoc_table WHERE deleted = 0')}
        self.removed = set()
        kinds = [self.shares, self.shares, self.shares, self.move, self.remove, self.weights, self.algorithm]
        if settings:
            kinds += [self.half_life, self.conformance]
        for _ in range(r.choice((1, 1, 2, 3, 5))):
            r.choice(kinds)()

    def name(self, number):
        row = self.rows[number]
        return f"{row['acct']}/{row['user']}" + (f"/{row['partition']}" if row['partition'] else '')

    def pick(self, users=None):
        able = [n for n, row in self.rows.items() if row['acct'] != 'root' or row['user']]
        able = [n for n in able if n not in self.removed and
                (users is None or bool(self.rows[n]['user']) == users)]
        # A user's name without a partition may mean several associations.
        whole = [n for n in able if self.rows[n]['partition'] or not self.rows[n]['user'] or
                 not any(m != n and self.rows[m]['acct'] == self.rows[n]['acct'] and
                         self.rows[m]['user'] == self.rows[n]['user'] for m in self.rows)]
        return self.r.choice(whole) if whole else None

    def shares(self):
        number, shares = self.pick(), self.r.choice((0, 1, 2, 30, 1000, 'parent'))
        if number:
            self.arguments += ['--shares', f'{self.name(number)}={shares}']
            self.place.change('UPDATE tiny_assoc_table SET shares = ? WHERE id_assoc = ?',
                              PARENT if shares == 'parent' else shares, number)

    def move(self):
        number = self.pick(users=False)
        parents = dict(self.place._query('a.db', 'SELECT acct, parent_acct FROM tiny_assoc_table WHERE "user" = ?', ''))
        if not number:
            return
        account = self.rows[number]['acct']

        def is_below(other):
            while other and other != account:
                other = parents[other]
            return other == account
        target = self.r.choice([name for name in parents if not is_below(name)])
        self.arguments += ['--move', f'{account}={target}']
        self.place.change('UPDATE tiny_assoc_table SET parent_acct = ?, id_parent = (SELECT id_assoc FROM '
                          'tiny_assoc_table WHERE acct = ? AND "user" = ?) WHERE id_assoc = ?',
                          target, target, '', number)
        renew_lineage(self.place)

    def remove(self):
        number = self.pick(users=True)
        if number:
            user, account = self.rows[number]['user'], self.rows[number]['acct']
            gone = [n for n, row in self.rows.items() if row['user'] == user]
            if self.r.random() < .5:
                gone = [n for n in gone if self.rows[n]['acct'] == account]
                user = f'{account}/{user}'
            if self.removed & set(gone):
                return
            self.removed |= set(gone)
            self.arguments += ['--remove-user', user]
            for each in gone:
                self.place.change('UPDATE tiny_assoc_table SET deleted = 1 WHERE id_assoc = ?', each)

    def setting(self, option, key, value):
        if key not in self.keys:
            self.keys[key] = value
            self.arguments += [option, str(value)]

    def weights(self):
        if 'priority.weight_fairshare' not in self.keys:
            weight = self.r.choice((0, 17, 50000))
            self.keys['priority.weight_fairshare'] = weight
            self.keys['priority.weight_job_size'] = 2000
            self.arguments += ['--weights', f'fairshare={weight},job_size=2000']

    def algorithm(self):
        self.setting('--algorithm', 'fairshare.algorithm', self.r.choice(ALGORITHMS))

    def half_life(self):
        self.setting('--half-life', 'usage.half_life', self.r.choice(('0', '2-0', '30-0')))

    def conformance(self):
        self.setting('--conformance', 'fairshare.conformance', self.r.choice(('documents', 'slurmctld')))


def renew_lineage(place):
    rows = place._query('a.db', 'SELECT id_assoc, acct, "user", "partition", parent_acct FROM tiny_assoc_table')
    above = {acct: parent for _, acct, user, _, parent in rows if not user}

    def path(account):
        return path(above[account]) + account + '/' if above[account] else '/'
    for number, acct, user, partition, _ in rows:
        lineage = path(acct) + (f'0-{user}/' if user else '') + (f'{partition}/' if partition else '')
        place.change('UPDATE tiny_assoc_table SET lineage = ? WHERE id_assoc = ?', lineage, number)


# ---- published values, by association and by job ----

def published(place):
    columns = ('id_assoc', 'fairshare', 'fair_tree_rank', 'level_fs', 'usage_raw', 'level_fs_infinite')
    rows = {row[0]: dict(zip(columns, row)) for row in
            place.query(f"SELECT {', '.join(columns)} FROM fairmill_fairshare")}
    jobs = {job: priority for job, priority in place.query(
        'SELECT id_job, priority FROM fairmill_job_priority WHERE best = 1')}
    return rows, jobs


def near(one, other, exact):
    if one is None or other is None or exact:
        return one == other
    return abs(one - other) <= 1e-11 * max(abs(one), abs(other), 1e-9)


def wrong(said, before, after, algorithm, exact):
    """Returns the differences between the answer of whatif and the run after the change."""
    found = []
    rows = {row['id_assoc']: row for row in said['associations']}
    old_rows, _ = before
    new_rows, new_jobs = after
    for number, old in old_rows.items():
        new, row = new_rows.get(number), rows.get(number)
        if row is None:
            if new is None or not near(old['fairshare'], new['fairshare'], exact):
                found.append(f'{number} is missing: {old} {new}')
            continue
        if row['removed'] != (new is None):
            found.append(f'{number} is removed on one side only')
        elif new:
            if not near(row['fairshare_after'], new['fairshare'], exact):
                found.append(f"{number}: fairshare {row['fairshare_after']}, {new['fairshare']} it is")
            if not near(row['rawusage_after'], new['usage_raw'], exact):
                found.append(f"{number}: usage {row['rawusage_after']}, {new['usage_raw']} it is")
            if algorithm == 'fair_tree' and row['rank_after'] != new['fair_tree_rank']:
                found.append(f"{number}: rank {row['rank_after']}, {new['fair_tree_rank']} it is")
            level_fs = None if new['level_fs_infinite'] else new['level_fs']
            if algorithm == 'fair_tree' and not near(row['levelfs_after'], level_fs, exact):
                found.append(f"{number}: level_fs {row['levelfs_after']}, {level_fs} it is")
    jobs = {job['id_job']: job['priority_after'] for job in said['jobs']}
    if set(jobs) != set(new_jobs):
        found.append(f'jobs {sorted(jobs)}, {sorted(new_jobs)} they are')
    for job in set(jobs) & set(new_jobs):
        if abs(jobs[job] - new_jobs[job]) > (0 if exact else 1):
            found.append(f'job {job}: priority {jobs[job]}, {new_jobs[job]} it is')
    return found


def random_sites(place):
    sites = seeds(18, 36)
    failures, idle, changed = [], [], 0
    for seed in sites:
        r = random.Random(seed)
        keys = random_keys(r)
        exact = r.random() < .5
        place.ready(keys=keys)
        os.unlink(place.path('a.db'))
        random_site(r).write(place.path('a.db'))
        place.succeed('run', '--now', NOW)
        before = published(place)
        how = ['--now', NOW] if exact else []
        place.succeed('whatif', '--json', *how)
        if answer(place)['changed'] or wrong(answer(place), before, before, None, exact):
            idle.append(seed)
        subprocess.run(['cp', place.path('a.db'), place.path('old.db')], check=True)
        changes = Changes(r, place, settings=exact)
        subprocess.run(['mv', place.path('a.db'), place.path('new.db')], check=True)
        subprocess.run(['cp', place.path('old.db'), place.path('a.db')], check=True)
        if place.run('whatif', '--json', *how, *changes.arguments):
            failures.append(f'{seed}: {changes.arguments}: {place.err}')
            continue
        said = answer(place)
        changed += said['changed'] > 0
        subprocess.run(['mv', place.path('new.db'), place.path('a.db')], check=True)
        # Remove the states of associations that the first run recorded.
        for name in os.listdir(place.folder):
            if name.startswith('r.db'):
                os.unlink(place.path(name))
        place.settings(dict(keys, **changes.keys))
        place.succeed('init')
        place.succeed('run', '--now', NOW)
        algorithm = changes.keys.get('fairshare.algorithm', keys['fairshare.algorithm'])
        found = wrong(said, before, published(place), algorithm, exact)
        failures += [f'{seed}: {keys} {changes.arguments}: {each}' for each in found]
    tap.same(idle, [], f'without a change whatif predicts no change on {len(sites)} random sites')
    tap.ok(not failures, f'the predictions for {len(sites)} random sites equal a run after the change', *failures[:12])
    tap.ok(changed > len(sites) / 3 or len(sites) < 10, 'more than a third of the changes have an effect', changed)


# ---- errors ----

def mistakes(place):
    place.ready()
    place.ends(1, 'whatif before the first run exits with status 1', 'whatif')
    place.says('the error of whatif says that there are no results', 'no results yet')
    place.succeed('run', '--now', NOW)
    for statement, words, *arguments in (
            ('shares of an unknown user', ["'nobody'"], '--shares', 'nobody=3'),
            ('negative shares', ["'bob'", 'from 0 to 2147483646'], '--shares', 'bob=-3'),
            ('shares that are not a number', ["'bob'"], '--shares', 'bob=many'),
            ("shares above Slurm's maximum", ["'bob'"], '--shares', 'bob=2147483647'),
            ('shares of the root', ['root'], '--shares', 'root=3'),
            ('shares without a number', ["'bob'"], '--shares', 'bob'),
            ('a move to itself', ["'physics'"], '--move', 'physics=physics'),
            ('a move of a user', ["'bob'"], '--move', 'bob=physics'),
            ('a move to a user', ["'bob'"], '--move', 'chemistry=bob'),
            ('a move to an unknown account', ["'nobody'"], '--move', 'chemistry=nobody'),
            ('a move of the root', ["'root'"], '--move', 'root=physics'),
            ('negative usage', ["'bob'"], '--add-usage', 'bob=-1'),
            ('usage that the ledger cannot represent', ["'bob'", 'whole number'], '--add-usage', 'bob=0.3333'),
            ('usage below one second', ["'bob'"], '--add-usage', 'bob=0.0001'),
            ('usage of 0', ["'bob'"], '--add-usage', 'bob=0'),
            ("usage above the ledger's maximum", ["'bob'"], '--add-usage', 'bob=1e17'),
            ('infinite usage', ["'bob'"], '--add-usage', 'bob=inf'),
            ('the removal of an unknown user', ["'nobody'"], '--remove-user', 'nobody'),
            ('the removal of an account', ["'physics'"], '--remove-user', 'physics'),
            ('an invalid half-life', ['-7'], '--half-life', '-7'),
            ('an unknown algorithm', ['best'], '--algorithm', 'best'),
            ('an unknown conformance', ['best'], '--conformance', 'best'),
            ('an unknown weight', ['luck'], '--weights', 'luck=3'),
            ('a negative weight', ['-3'], '--weights', 'age=-3'),
            ('an empty list of weights', ['NAME=NUMBER'], '--weights', ''),
            ('an unknown cluster', ["'there'"], '--cluster', 'there'),
            ('a limit of 0 rows', ["'0'"], '--top', 0),
            ('a missing file', ["'none'"], '--file', 'none')):
        place.ends(64, f'{statement}: whatif exits with status 64', 'whatif', *arguments)
        place.says(f'{statement}: the error names the cause', *words)
        tap.same(place.out, '', f'{statement}: nothing is printed')
    with open(place.path('plan'), 'w') as file:
        file.write('# a plan\n\nshares physics=20\n  move chemistry=physics  \nfly alice=3\n')
    place.ends(64, 'a line of a file that is not a change exits with status 64', 'whatif', '--file', place.path('plan'))
    place.says('the error names the line and the word', 'line 5', "'fly'")
    with open(place.path('plan'), 'w') as file:
        file.write('  # a plan\nremove-user bob # or not\n')
    place.ends(64, 'a comment after a change is rejected', 'whatif', '--file', place.path('plan'))
    place.says('the error names the user with the number sign', "'bob # or not'")


def cycles(place):
    place.ready('cluster tiny\nroot/\n  a/\n    b/\n      c/\n        u 1 use 5\n  d/\n')
    place.succeed('run', '--now', NOW)
    place.ends(64, 'a move below a descendant exits with status 64', 'whatif', '--move', 'a=c')
    place.says('the error names both accounts', "'a'", "'c'")
    place.ends(64, 'a cycle of two moves exits with status 64', 'whatif', '--move', 'a=d', '--move', 'd=c')


def namesakes(place):
    """Only accounts can be moved, and only to accounts."""
    place.ready('cluster tiny\nroot/\n  root 1\n  a/\n    b/\n      a 1\n      b 1 use 5\n')
    place.succeed('run', '--now', NOW)
    place.succeed('whatif', '--json', '--move', 'b=root')
    tap.same(answer(place)['commands'], ['sacctmgr modify account where name=b cluster=tiny set parent=root'],
             'a move does not mean users with the same names')
    place.ends(64, '--shares rejects a name of both an account and a user', 'whatif', '--shares', 'b=3')
    place.says('the error proposes both names', "'b' is ambiguous: it may be 'b/', 'b/b'")


def files(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    with open(place.path('plan'), 'w') as file:
        file.write('# a plan\n\nshares physics=20\n  shares chemistry=80  \n')
    place.succeed('whatif', '--file', place.path('plan'), '--shares', 'bob=3')
    by_file = place.out
    place.succeed('whatif', '--shares', 'physics=20', '--shares', 'chemistry=80', '--shares', 'bob=3')
    tap.same(by_file, place.out, 'a file has the same effect as options')


def forms(place):
    place.ready('cluster tiny\nroot/\n  a/\n    u 1 use 5\n    v 1\n    w 1 use 1\n')
    place.succeed('run', '--now', NOW)
    changes = ['--shares', 'v=3', '--remove-user', 'w']
    place.succeed('whatif', '--json', *changes)
    rows = answer(place)['associations']
    tap.same([(row['username'], row['removed']) for row in rows if row['username'] in ('v', 'w')],
             [('v', False), ('w', True)], 'JSON has the largest gain first and marks removed users')
    place.succeed('whatif', '--csv', *changes)
    lines = list(csv.DictReader(io.StringIO(place.out)))
    tap.same(place.out.splitlines()[0], 'cluster,id_assoc,account,username,partition,removed,fairshare_before,fairshare_after,'
             'rank_before,rank_after,levelfs_before,levelfs_after,normshares_before,normshares_after,rawusage_before,'
             'rawusage_after,place_before,place_after', 'CSV has exactly these headings')
    tap.same([(int(line['id_assoc']), float(line['fairshare_before'] or -1), float(line['rawusage_before'])) for line in lines],
             [(row['id_assoc'], -1 if row['fairshare_before'] is None else row['fairshare_before'], row['rawusage_before'])
              for row in rows], 'CSV has the rows of JSON with all digits')
    place.succeed('whatif', '--parsable', '--columns', 'user,removed', *changes)
    tap.same(place.out.splitlines()[0], 'User|Removed', 'columns can be selected')
    tap.ok({'v|0', 'w|1'} <= set(place.out.splitlines()), 'columns can be selected by their headings', place.out)
    place.succeed('whatif', '--noheader', '--columns', 'user', *changes)
    tap.ok('What if' not in place.out and 'sacctmgr' not in place.out, 'with selected columns only the rows are printed',
           place.out)
    place.ends(64, 'an unknown column exits with status 64', 'whatif', '--columns', 'luck')


# ---- commands that make the changes ----

def commands(place):
    awkward = ("it's", 'a b', '$(reboot)', 'x;y', '-rf', 'näher', '`id`', 'a=b', 'back\\slash', '*', '~')
    site = Site()
    cluster = site.cluster('tiny')
    cluster.account('root', '')
    cluster.account('some account', 'root')
    for name in awkward + ('a,b', 'new\nline', 'esc\x1b[2J', 'a"b'):
        cluster.user(name, 'some account')
    place.ready()
    os.unlink(place.path('a.db'))
    site.write(place.path('a.db'))
    place.succeed('run', '--now', NOW)
    for name in awkward:
        place.succeed('whatif', '--json', '--shares', f'some account/{name}=7')
        line, = answer(place)['commands']
        if name == "it's":
            tap.ok(line.startswith('#'), 'a name with a quote, which sacctmgr would remove, is in a comment', line)
            continue
        said = subprocess.run(['sh', '-c', 'sacctmgr() { printf "%s\\n" "$@"; }\n' + line],
                              capture_output=True, text=True, cwd=place.folder).stdout.splitlines()
        tap.same(said, ['modify', 'user', 'where', f'name={name}', 'account=some account', 'cluster=tiny',
                        'set', 'fairshare=7'], f'a shell passes {name!r} to sacctmgr unchanged')
    for name in ('a,b', 'new\nline', 'esc\x1b[2J', 'a"b'):
        place.succeed('whatif', '--shares', f'some account/{name}=7')
        lines = place.out.splitlines()
        tap.ok(not any(line.startswith('sacctmgr') for line in lines) and '\x1b' not in place.out,
               f'{name!r} is not in a command', place.out)


def each_command(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    place.succeed('whatif', '--json', '--shares', 'physics=parent', '--move', 'chemistry=physics', '--remove-user',
                  'carol', '--add-usage', 'bob=12.5', '--half-life', '2-0', '--weights', 'age=3')
    tap.same([shlex.split(line, comments=True) for line in answer(place)['commands'] if line[0] != '#'], [
        'sacctmgr modify account where name=physics cluster=tiny set fairshare=parent'.split(),
        'sacctmgr modify account where name=chemistry cluster=tiny set parent=physics'.split(),
        'fairmill ledger debit 12.5h --user=bob --account=physics --cluster=tiny --why'.split() + ['as in whatif'],
        'sacctmgr delete user where name=carol account=chemistry cluster=tiny'.split()],
        'each change has a command')
    tap.same([line for line in answer(place)['commands'] if line[0] == '#'],
             ['# fairmill.conf, [usage]: half_life = 2-0', '# fairmill.conf, [priority]: weight_age = 3'],
             'each setting has a comment with its section')


def slurm_conf(place):
    """With a slurm.conf, the answer uses its parameters."""
    keys = {'slurm.conf': place.path('slurm.conf'), 'usage.half_life': None, 'priority.weight_age': 7}
    with open(place.path('slurm.conf'), 'w') as file:
        file.write('ClusterName=tiny\nPriorityType=priority/multifactor\nPriorityDecayHalfLife=7-0\nPriorityWeightQOS=3\n')
    place.ready(keys=keys)
    place.succeed('run', '--now', NOW)
    for arguments, wanted in (
            (('--half-life', '4-0'), '# slurm.conf: PriorityDecayHalfLife=4-0'),
            (('--half-life', '2w'), '# slurm.conf: PriorityDecayHalfLife=14-0'),
            (('--half-life', '90m'), '# slurm.conf: PriorityDecayHalfLife=90'),
            (('--half-life', '30s'), '# fairmill.conf, [usage]: half_life = 30s'),
            (('--weights', 'qos=5'), '# slurm.conf: PriorityWeightQOS=5'),
            (('--weights', 'tres=CPU=5'), '# slurm.conf: PriorityWeightTRES=CPU=5'),
            (('--weights', 'age=5'), '# fairmill.conf, [priority]: weight_age = 5'),
            (('--algorithm', 'classic'), '# slurm.conf: PriorityFlags with NO_FAIR_TREE'),
            (('--algorithm', 'linear'), '# fairmill.conf, [fairshare]: algorithm = linear'),
            (('--conformance', 'slurmctld'), '# fairmill.conf, [fairshare]: conformance = slurmctld')):
        place.succeed('whatif', '--json', *arguments)
        tap.same(answer(place)['commands'], [wanted], f"{' '.join(arguments)} is proposed for the correct file")


def partitions(place):
    """For sacctmgr, a user's name without a partition means all of the user's partitions."""
    place.ready('cluster tiny\nroot/\n  a/\n    u 1 use 5\n    u@gpu 3\n    v 1\n')
    place.succeed('run', '--now', NOW)
    where = 'where name=u account=a'
    for arguments, wanted in (
            (('--shares', 'a/u=9'), [f'sacctmgr modify user {where} partition= cluster=tiny set fairshare=9']),
            (('--shares', 'a/u/gpu=9'), [f'sacctmgr modify user {where} partition=gpu cluster=tiny set fairshare=9']),
            (('--shares', 'v=9'), ['sacctmgr modify user where name=v account=a cluster=tiny set fairshare=9']),
            (('--remove-user', 'u'), ['sacctmgr modify user where name=u cluster=tiny set defaultaccount=a',
                                      f'sacctmgr delete user {where} cluster=tiny'])):
        place.succeed('whatif', '--json', *arguments)
        tap.same(answer(place)['commands'], wanted, f"the commands for {' '.join(arguments)} have the necessary partitions")


def default_accounts(place):
    """sacctmgr does not remove a user's default account while the user has others."""
    place.ready('cluster tiny\nroot/\n  a/\n    u 1 use 5\n    w\n  b/\n    u\n    w\n  c/\n    u\n    v\n')
    place.succeed('run', '--now', NOW)

    def chosen(user, account):
        return f'sacctmgr modify user where name={user} cluster=tiny set defaultaccount={account}'

    def deleted(user, account):
        return f'sacctmgr delete user where name={user} account={account} cluster=tiny'
    why = "# if the user's default account is removed, choose another first: "
    for statement, users, wanted in (
            ("a user's only account is removed by one command", ('v',), [deleted('v', 'c')]),
            ('the only account that is left becomes the default', ('a/w',), [chosen('w', 'b'), deleted('w', 'a')]),
            ('one of several accounts that are left is proposed as default',
             ('a/u',), [why + chosen('u', 'b'), deleted('u', 'a')]),
            ('if all accounts are removed, the default is the last',
             ('w',), [chosen('w', 'b'), deleted('w', 'a'), deleted('w', 'b')]),
            ('accounts that are removed one by one are ordered, too',
             ('a/w', 'b/w'), [chosen('w', 'b'), deleted('w', 'a'), deleted('w', 'b')])):
        place.succeed('whatif', '--json', *(word for user in users for word in ('--remove-user', user)))
        tap.same(answer(place)['commands'], wanted, statement)


# ---- permissions, and several clusters ----

def readers(place):
    place.ready()
    place.succeed('run', '--now', NOW)
    os.rename(place.path('fm.conf'), place.path('all.conf'))
    with open(place.path('reader.conf'), 'w') as file:
        file.write(f"[results]\ndriver = sqlite\ndatabase = {place.path('r.db')}\n")
    place.ends(0, 'whatif works with settings that have only the results', 'whatif', '--shares', 'physics=200',
               settings='reader.conf')
    tap.ok('would gain' in place.out, 'whatif with these settings prints gains', place.out)
    place.ends(78, 'another half-life needs the accounting database', 'whatif', '--half-life', '2-0', settings='reader.conf')
    place.says('the error names the section of the accounting database', '[source]')
    os.rename(place.path('all.conf'), place.path('fm.conf'))


def clusters(place):
    place.ready('cluster one\nroot/\n  a/\n    u 1 use 5\n    v\ncluster two\nroot/\n  a/\n    u 1 use 5\n')
    place.succeed('run', '--now', NOW)
    place.ends(64, 'with two clusters --clusters is required', 'whatif', '--shares', 'u=3')
    place.succeed('whatif', '--cluster', 'one', '--json', '--shares', 'v=3')
    tap.same(answer(place)['cluster'], 'one', '--cluster selects the cluster')


def renumbered(place):
    """With fewer users, ranks have other numbers.  A user who stays first has lost nothing."""
    place.ready('cluster one\nroot/\n  a/\n    u 1 use 5\n    v\n    w\n')
    place.succeed('run', '--now', NOW)
    place.succeed('whatif', '--remove-user', 'w')
    tap.ok('\n1 would gain and 1 lose.' in place.out and '\na       v' not in place.out,
           'a rank that changes with fewer users is neither gain nor loss', place.out)


def counted(place):
    """Returns the numbers of gains and losses in the text output."""
    found = re.search(r'^(\d+) would gain and (\d+) lose', place.out, re.MULTILINE)
    return tuple(map(int, found.groups())) if found else (0, 0)


def other_algorithm(place):
    """Factors of different algorithms have different scales, so that places are compared."""
    for algorithm in sorted(set(ALGORITHMS)):
        place.ready(WIDE, {'fairshare.algorithm': algorithm, 'fairshare.capacity': 1000})
        place.succeed('run', '--now', NOW)
        for other in sorted(set(ALGORITHMS)):
            what = f'from {algorithm} to {other}'
            place.succeed('whatif', '--json', '--algorithm', other)
            changes = [row['place_before'] - row['place_after'] for row in answer(place)['associations']
                       if row['username']]
            climbs = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
            place.succeed('whatif', '--algorithm', other, '--top', 50)
            tap.same(counted(place), climbs, f'{what}: gains and losses equal the changes of places')
            tap.ok('Change' not in place.out or algorithm == other, f'{what}: no change of factors is shown', place.out)
            named = {line.split()[1] for line in place.out.splitlines() if re.match(r'[abc]\d? +[a-z]\d ', line)}
            tap.same(len(named), sum(climbs), f'{what}: the rows are the users whose places changed')
    place.ready(WIDE, {'fairshare.algorithm': 'classic'})
    place.succeed('run', '--now', NOW)
    place.succeed('whatif', '--shares', 'a/=70')
    tap.ok(0 < sum(counted(place)) <= 6, 'accounts are not counted as gains or losses', place.out)


def unknown_capacity(place):
    """Linear needs a capacity.  Missing values are not a loss."""
    for algorithm, other in (('classic', 'linear'), ('linear', 'classic'), ('fair_tree', 'linear'), ('linear', 'linear')):
        place.ready(WIDE, {'fairshare.algorithm': algorithm})
        place.succeed('run', '--now', NOW)
        for change in (['--algorithm', other], ['--algorithm', other, '--shares', 'a1=7']):
            place.succeed('whatif', *change)
            tap.ok('linear cannot be computed, because the cluster\'s capacity is unknown' in place.out and counted(place) == (0, 0),
                   f"from {algorithm} {' '.join(change)}: no gains and losses, with the reason", place.out)
        place.succeed('whatif', '--json', '--algorithm', other)
        tap.ok(all(row['place_after'] is None or row['place_before'] is None for row in answer(place)['associations']),
               f'from {algorithm} to {other}: no places without values', place.out)


def named(place):
    """Users named in a change are always shown."""
    place.ready(WIDE)
    place.succeed('run', '--now', NOW)
    for change in (('--add-usage', 'b2=5000'), ('--add-usage', 'c2=0.01'), ('--shares', 'a2=1'), ('--remove-user', 'c1'),
                   ('--algorithm', 'classic', '--add-usage', 'b1=1')):
        user = change[-1].partition('=')[0]
        place.succeed('whatif', *change, '--top', 1)
        rows = [line for line in place.out.split('What if:')[1].splitlines() if re.match(rf'[abc] +{user} ', line)]
        tap.same(len(rows), 1, f"{' '.join(change)}: {user} is in the rows")
        place.succeed('whatif', '--json', *change, '--top', 1)
        tap.ok(user in {row['username'] for row in answer(place)['associations']}, f"{' '.join(change)}: {user} is in the JSON",
               place.out)
    place.succeed('whatif', '--shares', 'a2=1')
    tap.ok("No fairshare would change" in place.out, 'whatif says that no fairshare would change', place.out)


def usage_added(place):
    place.ready(keys={'usage.half_life': '7-0'})
    place.succeed('run', '--now', NOW)
    before = place.usage('physics.bob', 'physics', 'root')
    place.succeed('whatif', '--json', '--add-usage', 'bob=2')
    rows = {(row['account'], row['username']): row for row in answer(place)['associations']}
    tap.ok(abs(rows['physics', 'bob']['rawusage_after'] - before[0] - 7200) < 1e-6,
           'added usage counts like usage at the present', rows['physics', 'bob'])


    for hours in ('12.5', '0.0025', '123456789012.25', '1e9'):
        place.succeed('whatif', '--json', '--add-usage', f'bob={hours}')
        line, = answer(place)['commands']
        place.succeed(*shlex.split(line)[1:], '--at', NOW, '--now', NOW, '--yes')
        place.succeed('ledger', 'list', '--json')
        tap.same(json.loads(place.out)['ledger'][-1]['tres_seconds'], round(float(hours) * 3600),
                 f'the ledger accepts {hours} hours in the proposed command')
    place.succeed('whatif', '--json', '--add-usage', 'physics=100')
    tap.same(answer(place)['commands'], ['# the ledger can debit only users: --add-usage physics=100'],
             'added usage of an account has no command')


def corrected(place):
    """Tests ledger entries in predictions from the results and from the accounting database."""
    place.ready(keys={'usage.half_life': '7-0'})
    place.succeed('ledger', 'debit', '50h', '--user', 'bob', '--account', 'physics', '--at', NOW - DAY, '--why', 'test',
                  '--yes')
    place.succeed('run', '--now', NOW)
    wanted = place.usage('physics.bob')[0]
    for how in ([], ['--now', NOW]):
        place.succeed('whatif', '--json', '--shares', 'bob=200', *how)
        rows = {row['username']: row for row in answer(place)['associations']}
        tap.same([rows['bob'][f'rawusage_{side}'] for side in ('before', 'after')], [wanted, wanted],
                 f"entries count {'in the accounting database' if how else 'in the results'}")


def removed_with_jobs(place):
    """Pending jobs of a removed user lose their fairshare.

    The values are from the results or from the accounting database."""
    for algorithm in sorted(set(ALGORITHMS)):
        site = draw('cluster tiny\nroot/\n  a/\n    u 1\n    v 1 use 5\n')
        cluster = site.clusters[0]
        user = next(row['id_assoc'] for row in cluster.associations if row['user'] == 'u')
        cluster.job(user, 0, 0, submit=NOW - DAY, priority=9, time_eligible=NOW - DAY)
        place.ready(keys={'priority.weight_fairshare': 100000, 'fairshare.algorithm': algorithm,
                          'fairshare.capacity': 1000})
        os.unlink(place.path('a.db'))
        site.write(place.path('a.db'))
        place.succeed('run', '--now', NOW)
        for how in ([], ['--now', NOW]):
            place.succeed('whatif', '--json', '--remove-user', 'u', *how)
            job, = answer(place)['jobs']
            tap.ok(job['priority_before'] > 1 == job['priority_after'],
                   f"with {algorithm}, jobs of a removed user have no fairshare{' by the source' if how else ''}", job)


def places_of_jobs(place):
    """Jobs are ordered by tier and then priority in the pool of their partition."""
    pending = f'submit={NOW - DAY} time_eligible={NOW - DAY} limit=60 tres_req=1=1,4=1 priority=9'
    place.ready(SMALL + f'''job physics.alice id_job=21 partition=normal {pending}
job physics.bob     id_job=22 partition=normal {pending}
job physics.bob     id_job=23 partition=normal {pending}
job chemistry.carol id_job=24 partition=normal,urgent {pending}
job chemistry.carol id_job=25 partition=gpu {pending}
job chemistry.carol id_job=26 partition=gpu priority=0 submit={NOW - DAY} limit=60 tres_req=1=1,4=1
job physics.alice   id_job=27 partition=normal,gpu {pending}
''', {'priority.weight_fairshare': 1000})
    place.succeed('run', '--now', NOW)
    place.query("""UPDATE fairmill_job_priority SET pool = CASE partition_name WHEN 'gpu' THEN 'gpu' ELSE 'normal' END,
        priority_tier = CASE partition_name WHEN 'urgent' THEN 1000 WHEN 'gpu' THEN 0 ELSE 1 END, best = id_job <> 24 AND partition_name <> 'gpu'
        OR partition_name = 'urgent' OR id_job IN (25, 26), reason = CASE id_job WHEN 26 THEN 'held' ELSE '' END""")
    place.succeed('whatif', '--json', '--shares', 'alice=1000')
    jobs = {job['id_job']: job for job in answer(place)['jobs']}
    tap.same({job: (row['pool_before'], row['place_before'], row['place_after']) for job, row in jobs.items()},
             {24: ('normal', 1, 1), 22: ('normal', 2, 4), 23: ('normal', 2, 4), 21: ('normal', 4, 2), 27: ('normal', 4, 2),
              25: ('gpu', 1, 1), 26: ('gpu', None, None)},
             'a higher tier comes first, tied jobs share a place, a job in two pools counts in both, and a held job has no place')
    tap.same((jobs[24]['partition_after'], jobs[26]['reason']), ('urgent', 'held'), 'JSON has the partition with the highest tier and the reason')
    place.succeed('whatif', '--shares', 'alice=1000')
    tap.ok(re.search(r'^22 +bob +physics +normal +normal .* 2 +4$', place.out, re.M) and '4 of 7 pending jobs would change places' in place.out,
           'the text shows the pool of each job that moves', place.out)


def golden(place):
    """Tests the demonstration, whose queue depends on fairshare."""
    demonstration.publish(place)
    for name, *arguments in (('shares', '--shares', 'physics=80'),
                             ('several', '--move', 'chemistry=medicine', '--remove-user', 'anders', '--add-usage',
                              'hanna=100000', '--weights', 'age=1000,fairshare=5000', '--top', 5),
                             ('half_life', '--half-life', '30-0')):
        place.succeed('whatif', *arguments)
        demonstration.is_as_known(place.out, 'whatif', f'{name}.txt', f'whatif of the demonstration equals whatif/{name}.txt')
        tap.ok(all(len(line) <= 80 for line in place.out.splitlines() if not line.startswith(('sacctmgr', 'fairmill'))),
               f'whatif/{name}.txt fits into 80 columns', place.out)


def body():
    with Place() as place:
        mistakes(place)
        cycles(place)
        namesakes(place)
        files(place)
        forms(place)
        commands(place)
        each_command(place)
        partitions(place)
        default_accounts(place)
        slurm_conf(place)
        readers(place)
        clusters(place)
        renumbered(place)
        other_algorithm(place)
        unknown_capacity(place)
        named(place)
        usage_added(place)
        corrected(place)
        removed_with_jobs(place)
        places_of_jobs(place)
        golden(place)
        random_sites(place)


tap.main(body)
