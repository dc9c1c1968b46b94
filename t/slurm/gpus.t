#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests two clusters with GPUs, and the output of sprio for queues with jobs of every shape.

Cluster gpua has typed GPUs, licenses, a node that is down and ACCRUE_ALWAYS. Cluster gpub has
shards, MAX_TRES, SMALL_RELATIVE_TO_TIME, CALCULATE_RUNNING and NO_FAIR_TREE. Values that follow
from the accounting database and slurm.conf must agree to the last digit.  The other differences are
listed here, job by job."""

import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import dump
import tap
from program import fairmill, publish, sqlite_settings, write_settings

DATA = os.path.join(dump.DATA, 'gpus')
PASS = 1795337540  # decay cycle of both controllers
WEIGHTED = '%i|%u|%r|%Y|%A|%B|%F|%J|%P|%Q|%S|%T|%N'
NORMALISED = '%i|%u|%r|%y|%a|%b|%f|%j|%p|%q|%t'

# Facts that no accounting database contains.  sprio has no factors for a job with a priority set by
# hand.
GIVEN = dict(gpua={60, 63}, gpub={61, 64})
# slurmctld counts the CPUs that it last planned to allocate: whole nodes, whole cores.
PLANNED = dict(gpua={18, 28, 30, 31, 35, 44, 46, 48, 72, 79, 84, 90, 91, 92, 94, 97, 100, 111},
               gpub={32, 49, 92, 93})
# Jobs that are held; or, with CALCULATE_RUNNING and without ACCRUE_ALWAYS, jobs that depend on
# others or begin later.
NOT_LISTED = dict(gpua={33, 34, 36, 67, 109, 110, 113}, gpub={34, 35, 37, 39, 40, 41, 42, 68})
# With CALCULATE_RUNNING, sprio lists jobs that have ended, and all requested partitions.
ENDED = dict(gpua=set(), gpub={1, 2, 3, 4, 5, 6, 7, 8, 9, 22, 36, 102})
STARTED = dict(gpua=set(), gpub={(23, 'all'), (23, 'cpu')})
# These jobs were held and released.  The first still has a held job's priority in the database.
RELEASED = {35, 108, 111, 112}


def table(lines, letters):
    """Returns {(job, partition): {letter: cell}}."""
    rows = (dict(zip(letters, (cell.strip() for cell in line.split('|')))) for line in lines)
    return {(int(row['i']), row['r']): row for row in rows}


def compare(conf, cluster, name, columns, open_columns):
    letters = columns.replace('%', '').split('|')
    with open(os.path.join(DATA, f'{cluster}_{name}.psv'), encoding='utf-8') as file:
        wanted = table(file.read().splitlines(), letters)
    status, out, err = fairmill(conf, 'prio', '-o', columns)
    if status:
        raise RuntimeError(out + err)
    got = table(out.splitlines()[1:], letters)
    about = f'{cluster}, {name}'
    tap.same({job for job, _ in set(got) - set(wanted)}, NOT_LISTED[cluster],
             f'{about}: the only additional jobs are those that sprio omits')
    tap.same({key for key in set(wanted) - set(got) if key[0] not in ENDED[cluster]}, STARTED[cluster],
             f'{about}: no pending or running job is missing')
    both = [key for key in wanted if key in got and key[0] not in GIVEN[cluster]]
    size = letters[columns.upper().replace('%', '').split('|').index('J')]
    tap.same({key[0] for key in both if got[key][size] != wanted[key][size]}, PLANNED[cluster],
             f'{about}: only jobs with other planned CPUs differ in job size')
    compared = [letter for letter in letters if letter not in open_columns + size]
    wrong = [(key, letter, got[key][letter], wanted[key][letter])
             for key in both for letter in compared if got[key][letter] != wanted[key][letter]]
    tap.ok(len(both) > 80 and not wrong,
           f"{about}: {len(both)} lines agree with sprio in {' '.join(compared)}", *wrong[:5])
    return {key: (got[key], wanted[key]) for key in both if key[0] not in PLANNED[cluster]}


def sums(pairs):
    """The priority is sprio's, without the nice value."""
    wrong = [key for key, (got, wanted) in pairs.items()
             if int(got['Y']) - int(wanted['N']) != int(wanted['Y'])]
    tap.ok(len(pairs) > 60 and not wrong,
           f'gpua: {len(pairs)} priorities agree with sprio, without the nice value', *wrong)


def released(results):
    with sqlite3.connect(results) as db:
        rows = dict(db.execute('SELECT id_job, max(priority) FROM fairmill_job_priority GROUP BY id_job'))
    db.close()
    tap.ok(all(rows[job] > 80000 for job in RELEASED), 'gpua: held and released jobs have a priority',
           *[(job, rows[job]) for job in RELEASED])


def body():
    with tempfile.TemporaryDirectory(prefix='fm') as folder:
        dump.to_sqlite(dump.read('gpus', 'accounting.sql.xz'), f'{folder}/a.db', ('gpua', 'gpub'))
        # Under the classic algorithm, fairshare depends on usage, which slurmctld computes in
        # steps.
        for cluster, weighted, factors in (('gpua', 'YN', 'y'), ('gpub', 'YNF', 'yf')):
            conf, results = f'{folder}/{cluster}.conf', f'{folder}/{cluster}.db'
            place = sqlite_settings(f'{folder}/a.db', results)
            place['source']['clusters'] = cluster
            write_settings(conf, dict(place, fairshare=dict(conformance='slurmctld'), slurm=dict(
                conf=os.path.join(dump.DATA, 'slurm_conf', f'{cluster}.conf'))))
            publish(conf, PASS)
            pairs = compare(conf, cluster, 'sprio', WEIGHTED, weighted)
            compare(conf, cluster, 'sprio_normalised', NORMALISED, factors)
            if cluster == 'gpua':
                sums(pairs)
                released(results)


tap.main(body)
