#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Runs the commands of doc/pbs.md unchanged, on the demonstration's site, which is the example of
PP-718."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, '..', '..')
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import tap
from program import FAIRMILL
from terminal import without_age

NOW = 1795449600
# Values of the document for this tree. fairmill counts like pbsfs, which adds 1 for each entity.
SAID = dict(bob=(.2, .125, .648), suzy=(.36, .5, .382), scott=(.24, .833, .090))


def blocks():
    with open(f'{TOP}/doc/pbs.md', encoding='utf-8') as file:
        text = file.read()
    return [re.sub('^    ', '', block, flags=re.M) for block in re.findall(r'(?:^    .*\n(?:\n(?=    ))?)+', text, re.M)]


def shell(folder, text, **more):
    return subprocess.run(['sh', '-euc', text], cwd=folder, check=False, capture_output=True, text=True, env=dict(
        os.environ, PATH=f'{folder}/bin:' + os.environ['PATH'], **more))


def site(folder):
    """Creates a path with the program, a qstat and a qmgr, and the files of the server."""
    os.mkdir(f'{folder}/bin')
    os.symlink(os.path.abspath(FAIRMILL), f'{folder}/bin/fairmill')
    made = shell(folder, f'{TOP}/sql/demo/make-pbs-demo.py . {NOW}')
    tap.same((made.returncode, made.stderr), (0, ''), 'the site is created')
    with open(f'{folder}/qstat.json', encoding='ascii') as file:
        jobs, queues, server = re.split(r'^(?=\{$)', file.read(), flags=re.M)[1:]
    for name, text in (('-f', jobs), ('-Qf', queues), ('-Bf', server)):
        with open(f'{folder}/qstat{name}', 'w', encoding='ascii') as file:
            file.write(text)
    os.remove(f'{folder}/qstat.json')
    with open(f'{folder}/bin/qstat', 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\ntest "$2 $3" = "-F json" && cat "qstat$1"\n')
    with open(f'{folder}/bin/qmgr', 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\ntest "$1 $2" = "-c list sched" && printf "Sched default\\n    job_sort_formula_threshold = -1\\n\\n"\n')
    for name in ('qstat', 'qmgr'):
        os.chmod(f'{folder}/bin/{name}', 0o755)


def published(folder):
    with sqlite3.connect(f'{folder}/results.db') as db:
        return {row[0]: row[1:] for row in db.execute('SELECT name, fairshare_perc, fairshare_tree_usage, fairshare_factor FROM fairmill_pbsfs')}


def follow(folder):
    way_in, every, queue, query, compare = blocks()
    done = shell(folder, way_in.replace('fairmill.conf run', f'fairmill.conf run --now {NOW}'))
    tap.same((done.returncode, without_age(done.stderr)), (0, ''), 'the first commands work unchanged')
    tap.ok(done.stdout.startswith('Fairshare usage units are in: cput\nTREEROOT  : Grp: -1 '), 'the last command prints output like pbsfs', done.stdout)
    got = published(folder)
    tap.ok(all(abs(got[name][0] - perc) < 1e-12 and abs(got[name][1] - tree) < 4e-4 and abs(got[name][2] - factor) < 6e-4
               for name, (perc, tree, factor) in SAID.items()),
           'bob, suzy and scott have the values of the document', got)
    for what, text in (('the crontab line', every.replace('fairmill.conf run', f'fairmill.conf run --now {NOW + 300}')), ('the import of pending jobs', queue)):
        done = shell(folder, text)
        tap.same((done.returncode, done.stdout, done.stderr), (0, '', ''), f'{what} works unchanged')
    with sqlite3.connect(f'{folder}/results.db') as db:
        names = [name for name, factor in db.execute(query) if name in SAID]
    tap.same(names, ['bob', 'suzy', 'scott'], 'the query gives the order of the document')
    with sqlite3.connect(f'{folder}/accounting.db') as db:
        tap.same(sorted(db.execute('SELECT job_id, euser FROM pbs_queued')),
                 [('903.pbs', 'scott'), ('904.pbs', 'eve'), ('905.pbs', 'suzy'), ('906.pbs', 'cathy'), ('907.pbs', 'bob')], 'pending jobs are imported')
        tap.same(db.execute("SELECT value FROM pbs_setting WHERE name = 'job_sort_formula'").fetchall(),
                 [('pow(2, -(fairshare_tree_usage/fairshare_perc))',)], 'the formula of the document is imported')
    compared(folder, compare.replace('diff pbsfs.txt', f'diff pbsfs.txt --at {NOW + 300}'))


def compared(folder, text):
    """Compares output of pbsfs with fairmill's values, and then with less usage for bob."""
    shown = shell(folder, 'fairmill -c fairmill.conf show --pbs --list').stdout
    for change, status, words in ((shown, 0, 'left unexplained: nothing'), (re.sub('^(bob .*Usage: )\\d+', r'\g<1>3', shown, flags=re.M), 1, 'left unexplained: 1 value')):
        with open(f'{folder}/printed', 'w', encoding='ascii') as file:
            file.write(change)
        with open(f'{folder}/bin/pbsfs', 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\ntest "$*" = -p && cat printed\n')
        os.chmod(f'{folder}/bin/pbsfs', 0o755)
        done = shell(folder, text)
        tap.ok((done.returncode, done.stderr) == (status, '') and words in done.stdout,
               f'the comparison works unchanged: {words}', done)


def forms(folder):
    """Tests the document's own example of pbsfs."""
    scott = shell(folder, 'fairmill -c fairmill.conf show --pbs scott').stdout
    tap.ok(re.match('fairshare entity: scott\nResgroup\t\t: 12\ncresgroup\t\t: 16\nShares\t\t\t: 40\nPercentage\t\t: 24.00000[01]%\nfairshare_tree_usage\t: 0.83', scott),
           'an entity is printed like pbsfs -g', scott)
    with sqlite3.connect(f'{folder}/results.db') as db:
        tap.same(db.execute("SELECT resgroup, cresgroup FROM fairmill_pbsfs WHERE name IN ('TREEROOT', 'group1') ORDER BY cresgroup").fetchall(), [(-1, 0), (0, 11)],
                 'the root has the number 0')
    for options, expected in ((('--compare', 'bob,suzy'), 'bob\n'), (('--compare', 'bob,cathy'), 'bob == cathy\n')):
        tap.same(shell(folder, 'fairmill -c fairmill.conf show --pbs ' + ' '.join(options)).stdout, expected,
                 f"{' '.join(options)} prints {expected.strip()}")


def body():
    folder = tempfile.mkdtemp(prefix='fm')
    try:
        site(folder)
        follow(folder)
        forms(folder)
    finally:
        shutil.rmtree(folder)


tap.main(body)
