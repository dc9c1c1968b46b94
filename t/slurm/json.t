#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Compares `show --json=slurm` with `sshare -a -l --json` of a live cluster of Slurm 24.11.5, key by
key.  t/slurm/sshare.t does so with the installed Slurm."""

import copy
import json
import lzma
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from program import FAIRMILL, TOP, publish, published, sqlite_settings, write_settings
from sshare_json import TRES, differences, unexpected

DATA = os.path.join(dump.DATA, 'sshare-json')
NOW = 1795764753  # the controller's newest decay cycle
# slurmctld decays usage in steps of a minute.  A step treats the time since the step before as if
# all of it were a whole period old, and the end of a job decays for up to another period.
NEAR = 1.5 * math.log(2) * 60 / (7 * 86400)
# Each TRES that Slurm has without configuration.
ALL = 'cpu mem energy node billing fs/disk vmem pages'.split()


def captured():
    with lzma.open(os.path.join(DATA, 'sshare.json.xz'), 'rt', encoding='utf-8') as file:
        return json.load(file)


class Site:
    def __init__(self, folder):
        self.folder, self.source = folder, f'{folder}/source'
        dump.to_sqlite(dump.read('sshare-json', 'accounting.sql.xz'), self.source, ['a24'])

    def publish(self, name, tres=', '.join(ALL), **fairshare):
        """Publishes with settings of this name; returns the path of the results."""
        results = f'{self.folder}/{name}.results'
        wanted = sqlite_settings(self.source, results, usage=dict(tres=tres), fairshare=dict(conformance='slurmctld') | fairshare)
        wanted['slurm'] = dict(conf=os.path.join(DATA, 'slurm.conf'))
        wanted['source']['clusters'] = 'a24'
        write_settings(f'{self.folder}/{name}', wanted)
        publish(f'{self.folder}/{name}', NOW)
        return results

    def show(self, name, *arguments):
        return subprocess.run([FAIRMILL, '-c', f'{self.folder}/{name}', 'show', '--json=slurm', *arguments], capture_output=True,
                              text=True, check=False)

    def read(self, name, *arguments):
        return json.loads(self.show(name, *arguments).stdout)


def compared(site, theirs):
    """Each key, type and value, and the order of keys and rows."""
    site.publish('all')
    ours = site.read('all', '-a', '-l')
    found = unexpected(theirs, ours, NEAR)
    tap.ok(len(theirs['shares']['shares']) == 34 and not found, 'all keys, types and values of 34 rows are those of sshare, in its order',
           *found)
    meta = ours['meta']
    tap.ok(meta['client']['source'].startswith('fairmill ') and meta['command'] == ['fairmill', 'show', '--json=slurm', '-a', '-l'],
           'meta names fairmill as the client, and the command', meta)
    tap.same((meta['slurm']['release'], meta['slurm']['version']), ('24.11', dict(major='24', micro='', minor='11')),
             "meta has Slurm's release without the patch level, which no database has")
    tap.same([list(warning) for warning in ours['warnings']], [['description', 'source']], 'stale results are a warning in the document')
    tap.same(site.show('all', '-a').stderr, '', 'stale results are no warning on standard error, which programs may mix with the document')
    tap.same([row['name'] for row in ours['shares']['shares'] if row['type'] == ['ASSOCIATION']],
             'root bio zerosub chem chem1 idle par parsub phys phys1 phys2'.split(), "accounts are in sshare's order")


def finds(theirs):
    """The comparison finds one wrong key, type, value or order."""
    def changed(change):
        wrong = copy.deepcopy(theirs)
        change(wrong['shares']['shares'][3])
        return len(list(differences(theirs, wrong, NEAR)))
    changes = dict(value=lambda row: row['fairshare']['factor'].update(number=.5), key=lambda row: row.pop('partition'),
                   type=lambda row: row.update(usage=1.0), order=lambda row: row.update(id=row.pop('id')))
    tap.same({name: changed(change) for name, change in changes.items()}, dict.fromkeys(changes, 1), 'the comparison finds each kind of difference')


def kept(site, theirs):
    """With the default, usage of cpu and node is kept, because there are no gres and the limits name
    only cpu."""
    site.publish('auto', tres='auto')
    names = lambda document: {name['name'] for row in document['shares']['shares'] for part in row['tres'].values() for name in part}
    ours = site.read('auto')
    tap.same(names(ours), {'cpu', 'node'}, 'a TRES that is not kept is missing')
    for row in theirs['shares']['shares']:
        for part, values in row['tres'].items():
            row['tres'][part] = [value for value in values if value['name'] in ('cpu', 'node')]
    tap.same(unexpected(theirs, ours, NEAR), [], 'the values of the kept TRES are those of sshare')


def classic(site, theirs):
    """slurmctld 24.11 writes 0 for each factor without Fair Tree."""
    results = site.publish('classic', algorithm='classic')
    rows = site.read('classic')['shares']['shares']
    stored = published(results, 'a24')
    same = [row for row in rows if row['fairshare']['factor'] == dict(set=True, infinite=False, number=stored[row['id']]['fairshare'] or 0)]
    tap.ok(len(same) == len(stored) == 34 and len({row['fairshare']['factor']['number'] for row in rows}) > 10,
           'without Fair Tree, the factor is the published one', *(row['fairshare'] for row in rows), *stored.values())
    tap.ok(all(row['fairshare']['level'] == dict(set=True, infinite=False, number=0.0) for row in rows),
           'without Fair Tree, each level is set and 0')
    by_name = {row['name']: row for row in rows if row['parent'] == 'root' or not row['parent']}
    tap.same([by_name[name]['shares_normalized']['number'] for name in ('par', 'phys')], [1.0, 40 / 87],
             'without Fair Tree, an account with `parent` shares below the root has NormShares 1')
    kinds = {path for path, _ in differences(theirs, site.read('classic'), NEAR) if path.endswith(']') or path.endswith('set')}
    tap.same(kinds - {'shares.shares[].fairshare.level.set', 'meta.command[]', 'meta.command', *TRES}, set(),
             'without Fair Tree, the document has the same shape')


def selected(site):
    rows = lambda *arguments: [(row['parent'], row['name']) for row in site.read('all', *arguments)['shares']['shares']]
    tap.same(rows('-u', 'u06'), [('', 'root'), ('root', 'chem'), ('chem', 'u06')], '-u selects a user and the accounts above them')
    tap.same(rows('-A', 'phys2'), [('phys', 'phys2'), ('phys2', 'u04'), ('phys2', 'u05')],
             '-A selects an account; the parent of its row is an account that is not selected')
    tap.same(rows('-a', '-u', 'u06'), rows(), '-a selects all users')
    tap.same(rows('-U', '-u', 'u06'), [('chem', 'u06')], '-U omits the accounts above a user')
    tap.same(rows('-m', '-n'), rows('-l'), '-l, -m and -n change no row, as in sshare')
    done = site.show('all', '-u', 'nobody')
    tap.ok(done.returncode == 64 and not done.stdout and "'nobody'" in done.stderr, 'an unknown user is an error without output', done)


def replaced(site):
    """The script in the manual replaces sshare."""
    with open(os.path.join(TOP, 'man', 'fairmill-show.1.pod'), encoding='utf-8') as file:
        script = textwrap.dedent(re.search(r'^    #!/bin/sh\n(?:    .*\n)+', file.read(), re.M)[0])
    with open(f'{site.folder}/sshare', 'w', encoding='utf-8') as file:
        file.write(script)
    environment = dict(os.environ, FAIRMILL_CONF=f'{site.folder}/all', PATH=f"{os.path.dirname(FAIRMILL)}:{os.environ['PATH']}")
    for options in (['--json', '-a'], ['-u', 'u06', '--json=v0.0.42']):
        done = subprocess.run(['sh', f'{site.folder}/sshare', *options], env=environment, capture_output=True, text=True, check=False)
        ours = json.loads(done.stdout)
        words = ['--json=slurm' if word.startswith('--json') else word for word in options]
        tap.same((ours['meta']['command'], ours['shares'], done.stderr),
                 (['fairmill', 'show', *words], site.read('all', *words)['shares'], ''),
                 f"the script of the manual replaces sshare {' '.join(options)}")


def body():
    theirs = captured()
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        site = Site(folder)
        finds(theirs)
        compared(site, theirs)
        selected(site)
        replaced(site)
        classic(site, theirs)
        kept(site, theirs)


tap.main(body)
